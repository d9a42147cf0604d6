/* g06_casts: casts and characters as given, checked, and what the stages of sweeps read of them.
 * needs: common/gc_types.h upload/gc_import.h
 *
 * in:  starts, paths, radii, orientations, numbers of clusters and rules, not checked yet; gravity, what characters ride on
 * out: a checked copy for each query, relative to the origin of positions; whether each is swept; in wrong_out how many have
 *      a radius or a number that raises an error. What is not swept stays at 0.
 * One work-item per query, for arrays that never were on the host: the operations, and so the bits, of
 * gpu_collide.queries.sweep.arguments. Built for mixed precision, whatever that of the query. A step of 0 uses the first row
 * of an array for all. Degenerate: invalid values are made harmless (radius 1, cluster 0, no body), and the host raises when
 * it reads the count.
 */

/* forms, as sweep/gc_cast.h numbers them */
#define G06_ELLIPSOIDS 1
#define G06_CLUSTERS 2

GC_FN gc_real g06_largest(GC_GLOBAL const gc_real *x) { return GC_MAX(GC_MAX(GC_ABS(x[0]), GC_ABS(x[1])), GC_ABS(x[2])); }

/* The radii of a query to `out`, 1 where they are not finite; returns whether they are. `wrong`: no radius at all. */
GC_FN int g06_radii(GC_GLOBAL const gc_real *radius, int width, int step, GC_GLOBAL gc_real *out, int *wrong)
{
    int good = 1;
    for (int k = 0; k < width; ++k) {
        good = good && gc_finite(radius[k]);
        if (width == 3 ? radius[k] <= GC_R(0.0) : radius[k] < GC_R(0.0)) *wrong = 1;
    }
    if (!good && step == 0) *wrong = 1; /* of all of them */
    good = good && !*wrong;
    for (int k = 0; k < width; ++k) out[k] = good ? radius[k] : GC_R(1.0);
    return good;
}

GC_KERNEL void g06_casts(
    int n,
    int form,       /* GC_CAST_* */
    int start_step, /* numbers from one row to the next, or 0 */
    int path_step,
    int radius_step,
    int quat_step,
    int turned,   /* orientations are given */
    int out_step, /* of start_out and path_out */
    int n_clusters,
    gc_real tolerance, /* of a quaternion's length */
    gc_real limit,     /* lengths beyond are none that the query's precision can multiply */
    gc_real ball,      /* of all clusters, the largest coordinate of a centre */
    gc_real fat,       /* and the largest radius */
    gc_real shift_x,   /* what positions count from */
    gc_real shift_y,
    gc_real shift_z,
    GC_GLOBAL const gc_real *start_given,   /* (n, 3) or (3,) world */
    GC_GLOBAL const gc_real *path_given,    /* (n, 3) or (3,) */
    GC_GLOBAL const gc_real *radius_given,  /* spheres (n,) or (1,), ellipsoids (n, 3) or (3,), clusters none */
    GC_GLOBAL const gc_real *quat_given,    /* (n, 4) or (4,) wxyz, or none */
    GC_GLOBAL const gc_long *cluster_given, /* clusters (n,), else none */
    GC_GLOBAL gc_real *start_out,
    GC_GLOBAL gc_real *path_out,
    GC_GLOBAL gc_real *radius_out, /* (n,) or (n, 3), clusters none */
    GC_GLOBAL gc_real *quat_out,   /* (n, 4), spheres none */
    GC_GLOBAL int *cluster_out,    /* clusters (n,), else none */
    GC_GLOBAL gc_uchar *state_out, /* (n,) GC_STATUS_MISS, INVALID_INPUT or UNRESOLVED: what is said of those not swept */
    GC_GLOBAL int *wrong_out)      /* (1,) only ever raised */
{
    int width = form == G06_ELLIPSOIDS ? 3 : 1;
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *start = start_given + start_step * (gc_long)i, *path = path_given + path_step * (gc_long)i;
        GC_GLOBAL gc_real *from = start_out + out_step * (gc_long)i, *way = path_out + out_step * (gc_long)i;
        int good = gc_finite_3(start) && gc_finite_3(path), wrong = 0, within;
        gc_real reach = g06_largest(start) + g06_largest(path);
        if (form == G06_CLUSTERS) {
            gc_long which = cluster_given[i];
            wrong = which < 0 || which >= n_clusters;
            cluster_out[i] = wrong ? 0 : (int)which;
            reach = reach + ball + fat;
        } else {
            GC_GLOBAL gc_real *radius = radius_out + width * (gc_long)i;
            int right = g06_radii(radius_given + radius_step * (gc_long)i, width, radius_step, radius, &wrong);
            if (good && !right) good = 0;
            else if (!good)
                for (int k = 0; k < width; ++k) radius[k] = GC_R(1.0);
            if (form == G06_ELLIPSOIDS) {
                gc_real most = GC_MAX(GC_MAX(radius[0], radius[1]), radius[2]);
                reach = (reach + most) * (most / GC_MIN(GC_MIN(radius[0], radius[1]), radius[2]));
            } else {
                reach = reach + radius[0];
            }
        }
        if (wrong) GC_ATOMIC_ADD(wrong_out, 1);
        within = !good || reach <= limit;
        if (form != 0) {
            GC_GLOBAL gc_real *quat = quat_out + 4 * (gc_long)i;
            if (turned) {
                good = gc_take_quat(quat_given + quat_step * (gc_long)i, tolerance, 1, quat) && good;
            } else {
                quat[0] = GC_R(1.0);
                quat[1] = quat[2] = quat[3] = GC_R(0.0);
            }
        }
        state_out[i] = (gc_uchar)(!good ? GC_STATUS_INVALID_INPUT : within ? GC_STATUS_MISS : GC_STATUS_UNRESOLVED);
        good = good && within;
        from[0] = (good ? start[0] : GC_R(0.0)) - shift_x;
        from[1] = (good ? start[1] : GC_R(0.0)) - shift_y;
        from[2] = (good ? start[2] : GC_R(0.0)) - shift_z;
        for (int k = 0; k < 3; ++k) way[k] = good ? path[k] : GC_R(0.0);
    }
}

/* Which bodies each query meets, as gpu_collide.bodies.rules checks it: bits are read as int32 or as uint32. */
GC_KERNEL void g06_rules(
    int n,
    int n_bodies,
    int group_step, /* 1 or 0 */
    int mask_step,
    int ignore_step,
    int world_step,
    GC_GLOBAL const gc_long *group_given,  /* (n,) or (1,) bits */
    GC_GLOBAL const gc_long *mask_given,   /* the same */
    GC_GLOBAL const gc_long *ignore_given, /* (n,) or (1,) body or -1 */
    GC_GLOBAL const gc_long *world_given,  /* (n,) or (1,) rank, which the host has checked */
    GC_GLOBAL int *rules_out,              /* (n, 4) group, mask, ignore, world */
    GC_GLOBAL int *wrong_out)
{
    gc_long sign = (gc_long)1 << 31; /* the bit of it in an int32 */
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL int *out = rules_out + 4 * (gc_long)i;
        gc_long bits[2], which = ignore_given[ignore_step * (gc_long)i];
        int wrong = which < -1 || which >= n_bodies;
        bits[0] = group_given[group_step * (gc_long)i];
        bits[1] = mask_given[mask_step * (gc_long)i];
        for (int k = 0; k < 2; ++k) {
            int off = bits[k] < -sign || bits[k] >= 2 * sign;
            out[k] = off ? 0 : (int)(bits[k] >= sign ? bits[k] - 2 * sign : bits[k]);
            wrong = wrong || off;
        }
        out[2] = wrong ? -1 : (int)which;
        out[3] = (int)world_given[world_step * (gc_long)i];
        if (wrong) GC_ATOMIC_ADD(wrong_out, 1);
    }
}

/* Behind g06_casts: what carries each character, and how it falls. */
GC_KERNEL void g06_walkers(
    int n,
    int n_bodies,
    int fall_step, /* 3 or 0 */
    int rides,     /* it is given what they ride on */
    gc_real shift_x,
    gc_real shift_y,
    gc_real shift_z,
    GC_GLOBAL const gc_real *fall_given,   /* (n, 3) or (3,) */
    GC_GLOBAL const gc_long *riding_given, /* (n,) body or -1, or none */
    GC_GLOBAL const gc_real *motion_in,    /* (n_bodies, 3) */
    GC_GLOBAL gc_real *start,              /* (n, 3) those of g06_casts */
    GC_GLOBAL gc_real *velocity,
    GC_GLOBAL gc_uchar *state,
    GC_GLOBAL gc_real *path_out, /* (n, 3) the velocity, and what carries it */
    GC_GLOBAL gc_real *fall_out, /* (n, 3) */
    GC_GLOBAL int *wrong_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *fall = fall_given + fall_step * (gc_long)i;
        int good = state[i] == GC_STATUS_MISS, on = -1;
        if (rides) {
            gc_long which = riding_given[i];
            if (which < -1 || which >= n_bodies) GC_ATOMIC_ADD(wrong_out, 1);
            else on = (int)which;
        }
        if (good && !gc_finite_3(fall)) {
            good = 0;
            start[3 * i] = GC_R(0.0) - shift_x;
            start[3 * i + 1] = GC_R(0.0) - shift_y;
            start[3 * i + 2] = GC_R(0.0) - shift_z;
            for (int k = 0; k < 3; ++k) velocity[3 * i + k] = GC_R(0.0);
        }
        if (!good)
            state[i] = GC_STATUS_INVALID_INPUT; /* also of lengths without digits: characters have one word for both */
        for (int k = 0; k < 3; ++k) {
            path_out[3 * i + k] = velocity[3 * i + k] + (good && on >= 0 ? motion_in[3 * on + k] : GC_R(0.0));
            fall_out[3 * i + k] = good ? fall[k] : GC_R(0.0);
        }
    }
}
