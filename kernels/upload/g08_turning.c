/* g08_turning: bounds over all queries that rotating bodies need, and the paths of characters that they carry.
 * needs: common/gc_math.h common/gc_types.h upload/gc_import.h
 *
 * in:  queries as given, and what g06_casts made of them; how the bodies rotate
 * out: how far all of them reach, how fast and how large they are, and how far ellipsoids deviate from ones that rotate with
 *      a body: the maximum of each part, of which the host takes the maximum; paths of characters carried by rotating bodies
 * One work-item per part of the queries (every n-th), per body and part, and per character. For arrays that never were on
 * the host: the operations, and so the bits, of gpu_collide.queries.sweep.turning. Degenerate: what is not swept is at 0.
 */

/* what is told of a part: all are such that the largest counts */
#define G08_EXTENT_STRIDE 10

GC_KERNEL void g08_extent(
    int n, /* parts */
    int total,
    int width, /* radii of each: 3, 1, or 0 of clusters */
    int walks, /* characters: a fall that is no number, or a length without digits, is no input */
    int n_bodies,
    int start_step, /* numbers from one row to the next, or 0 */
    int path_step,
    int fall_step,
    int rides,
    gc_real lowest,                        /* what none of them is below: minus infinity */
    GC_GLOBAL const gc_real *start_given,  /* (total, 3) or (3,) world */
    GC_GLOBAL const gc_real *path_given,   /* (total, 3) or (3,) */
    GC_GLOBAL const gc_real *radius_in,    /* (total, width) those of g06_casts, or none */
    GC_GLOBAL const gc_real *fall_given,   /* (total, 3) or (3,), or none */
    GC_GLOBAL const gc_long *riding_given, /* (total,) body or -1, or none */
    GC_GLOBAL gc_uchar *state,             /* (total,) of g06_casts; of characters what falls from nowhere is added */
    GC_GLOBAL gc_real *extent_out, /* (n, G08_EXTENT_STRIDE) -low, high, speed, radius, -least radius swept, riding */
    GC_GLOBAL int *wrong_out)      /* (1,) bodies that there are not, only ever raised */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL gc_real *out = extent_out + G08_EXTENT_STRIDE * (gc_long)i;
        for (int c = 0; c < G08_EXTENT_STRIDE - 1; ++c) out[c] = lowest;
        out[6] = out[7] = out[9] = GC_R(0.0);
        for (int k = i; k < total; k += n) {
            GC_GLOBAL const gc_real *start = start_given + start_step * (gc_long)k,
                                    *path = path_given + path_step * (gc_long)k;
            gc_long on = rides ? riding_given[k] : -1;
            int good;
            if (on < -1 || on >= n_bodies) GC_ATOMIC_ADD(wrong_out, 1);
            if (walks && !(state[k] == GC_STATUS_MISS && gc_finite_3(fall_given + fall_step * (gc_long)k)))
                state[k] = GC_STATUS_INVALID_INPUT;
            good = state[k] == GC_STATUS_MISS;
            for (int c = 0; c < 3; ++c) {
                gc_real from = good ? start[c] : GC_R(0.0), to = good ? start[c] + path[c] : GC_R(0.0);
                out[c] = GC_MAX(out[c], -GC_MIN(from, to));
                out[3 + c] = GC_MAX(out[3 + c], GC_MAX(from, to));
            }
            if (good) out[6] = GC_MAX(out[6], GC_SQRT(path[0] * path[0] + path[1] * path[1] + path[2] * path[2]));
            for (int c = 0; c < width; ++c) {
                gc_real radius = radius_in[width * (gc_long)k + c];
                out[7] = GC_MAX(out[7], radius);
                if (good) out[8] = GC_MAX(out[8], -radius);
            }
            if (good && on >= 0) out[9] = GC_R(1.0);
        }
    }
}

/* The square of how far the surface of an ellipsoid is from one that turns: the norm of D S - S D, with D the ellipsoid's
 * matrix and S x = x cross spin. */
GC_FN gc_real g08_leaning_square(gc_vec radii, gc_quat quat, gc_vec spin)
{
    gc_vec a = gc_quat_rotate(quat, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0)));
    gc_vec b = gc_quat_rotate(quat, gc_make(GC_R(0.0), GC_R(1.0), GC_R(0.0)));
    gc_vec c = gc_quat_rotate(quat, gc_make(GC_R(0.0), GC_R(0.0), GC_R(1.0)));
    gc_real xx, yy, zz, xy, xz, yz, p, q, r, s, t, u;
    if (radii.x == radii.y && radii.y == radii.z) return GC_R(0.0);
    xx = a.x * a.x * radii.x + b.x * b.x * radii.y + c.x * c.x * radii.z;
    yy = a.y * a.y * radii.x + b.y * b.y * radii.y + c.y * c.y * radii.z;
    zz = a.z * a.z * radii.x + b.z * b.z * radii.y + c.z * c.z * radii.z;
    xy = a.x * a.y * radii.x + b.x * b.y * radii.y + c.x * c.y * radii.z;
    xz = a.x * a.z * radii.x + b.x * b.z * radii.y + c.x * c.z * radii.z;
    yz = a.y * a.z * radii.x + b.y * b.z * radii.y + c.y * c.z * radii.z;
    p = GC_R(2.0) * (spin.y * xz - spin.z * xy);
    q = GC_R(2.0) * (spin.z * xy - spin.x * yz);
    r = GC_R(2.0) * (spin.x * yz - spin.y * xz);
    s = spin.z * (xx - yy) + (spin.y * yz - spin.x * xz);
    t = spin.y * (zz - xx) + (spin.x * xy - spin.z * yz);
    u = spin.x * (yy - zz) + (spin.z * xz - spin.y * xy);
    return p * p + q * q + r * r + GC_R(2.0) * (s * s + t * t + u * u);
}

GC_KERNEL void g08_leaning(
    int n, /* parts, times bodies that turn */
    int total,
    int n_turning,
    GC_GLOBAL const gc_real *radius_in, /* (total, 3) those of g06_casts */
    GC_GLOBAL const gc_real *quat_in,   /* (total, 4) */
    GC_GLOBAL const gc_real *spin_in,   /* (n_turning, 3) */
    GC_GLOBAL gc_real *leaning_out)     /* (parts, n_turning) squares */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_vec spin = gc_load_vec(spin_in, i % n_turning);
        gc_real most = GC_R(0.0);
        for (int k = i / n_turning; k < total; k += n / n_turning) {
            GC_GLOBAL const gc_real *q = quat_in + 4 * (gc_long)k;
            gc_quat quat = gc_quat_make(q[0], q[1], q[2], q[3]);
            most = GC_MAX(most, g08_leaning_square(gc_load_vec(radius_in, k), quat, spin));
        }
        leaning_out[i] = most;
    }
}

/* Behind g06_walkers: the ways of those who stand on a body that turns, along its arc. */
GC_KERNEL void g08_carried(
    int n,
    int n_bodies,
    int start_step,                        /* 3 or 0 */
    GC_GLOBAL const gc_real *start_given,  /* (n, 3) or (3,) world */
    GC_GLOBAL const gc_long *riding_given, /* (n,) body or -1 */
    GC_GLOBAL const gc_uchar *state_in,    /* (n,) */
    GC_GLOBAL const gc_real *velocity_in,  /* (n, 3) */
    GC_GLOBAL const int *turns_in,         /* (n_bodies,) */
    GC_GLOBAL const gc_real *turn_in,      /* (n_bodies, 4) from start to end */
    GC_GLOBAL const gc_real *origin_in,    /* (n_bodies, 3) at the start, world */
    GC_GLOBAL const gc_real *motion_in,    /* (n_bodies, 3) */
    GC_GLOBAL gc_real *path_out)           /* (n, 3) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_long on = riding_given[i];
        if (state_in[i] == GC_STATUS_MISS && on >= 0 && on < n_bodies && turns_in[on]) {
            GC_GLOBAL const gc_real *start = start_given + start_step * (gc_long)i, *q = turn_in + 4 * on;
            gc_vec arm = gc_sub(gc_make(start[0], start[1], start[2]), gc_load_vec(origin_in, on));
            gc_vec along = gc_sub(gc_quat_rotate(gc_quat_make(q[0], q[1], q[2], q[3]), arm), arm);
            gc_store_vec(path_out, i, gc_add(gc_load_vec(velocity_in, i), gc_add(gc_load_vec(motion_in, on), along)));
        }
    }
}
