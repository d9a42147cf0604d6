/* s01_screw: screw parameters of every pair.
 *
 * in:  poses of the bodies (world frame), which mesh each has, the pairs
 * out: screw_out (n_pairs, GC_SCREW_STRIDE), the motion of B seen from A in the screw frame, scaled lengths;
 *      state_out (n_pairs,) GC_PAIR_* bits
 * One work-item per pair. Source: Buss, section 4.1, docs/decisions/0002 (one frame for turn, screw, translation).
 * Degenerate: no rotation -> kappa = 0, x along the translation; a chord along the axis -> any direction across it; no
 * motion at all -> speed = 0; a body whose pose is not valid -> GC_PAIR_INVALID and no numbers; a motion too long for the
 * digits -> GC_PAIR_UNRESOLVED if the bodies' sweeps may meet, else a MISS, as in the broad phase, and in either case a
 * record of bodies at rest and apart. A state other than 0 settles the pair: later stages leave it alone.
 */
typedef struct {
    gc_quat q0, q1;
    gc_vec p0, p1; /* B's centre in A's axes, from A's centre */
} gc_relative;

GC_FN gc_vec gc_load_vec(GC_GLOBAL const gc_real *p, int i) { return gc_make(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }

GC_FN gc_quat gc_load_quat(GC_GLOBAL const gc_real *p, int i)
{
    return gc_quat_unit(gc_quat_make(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]));
}

/* The rotation's unit axis and angle with the sign rule of docs/conventions.md; returns the half-angle sine. */
GC_FN gc_real gc_axis_angle(gc_quat *d, gc_vec *axis, gc_real *theta)
{
    gc_real sine, flip = d->w < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    if (GC_ABS(d->w) <= GC_HALF_TURN) {
        gc_real lead = GC_ABS(d->x) > GC_AXIS_COMPONENT ? d->x : (GC_ABS(d->y) > GC_AXIS_COMPONENT ? d->y : d->z);
        flip = lead < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    }
    *d = gc_quat_make(d->w * flip, d->x * flip, d->y * flip, d->z * flip);
    if (d->w < GC_R(0.0)) d->w = GC_R(0.0);
    sine = GC_SQRT(d->x * d->x + d->y * d->y + d->z * d->z);
    if (sine < GC_MIN_HALF_SINE) {
        *d = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
        *theta = GC_R(0.0);
        *axis = gc_make(GC_R(0.0), GC_R(1.0), GC_R(0.0));
        return GC_R(0.0);
    }
    *axis = gc_scale(gc_make(d->x, d->y, d->z), GC_R(1.0) / sine);
    *axis = gc_unit(*axis, *axis);
    *theta = GC_R(2.0) * gc_angle(sine, d->w);
    return sine;
}

/* d: rotation of the step, q0: B's orientation at its start, p0 p1: B's centre before and after, all in A's axes */
GC_LARGE void gc_screw_make(gc_quat d, gc_quat q0, gc_vec p0, gc_vec p1, gc_real size, gc_screw *k)
{
    gc_vec v, t, n, chord = gc_sub(p1, p0), perp, middle = gc_scale(gc_add(p0, p1), GC_R(0.5)), origin;
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), e;
    gc_real sine = gc_axis_angle(&d, &v, &k->theta), wc, off = GC_R(0.0), length = gc_length(chord);
    gc_quat midway = gc_quat_unit(gc_quat_make(GC_R(1.0) + d.w, d.x, d.y, d.z));
    if (k->theta > GC_R(0.0)) {
        k->g = gc_dot(chord, v);
        perp = gc_sub(chord, gc_scale(v, k->g));
        perp = gc_sub(perp, gc_scale(v, gc_dot(perp, v)));
        wc = gc_length(perp);
        /* a drill: what is left carries the rounding of the whole chord, and may even point along the axis */
        if (wc <= GC_AXIAL * length) {
            wc = GC_R(0.0);
            t = gc_across(v);
        } else {
            t = gc_direction(perp, none);
            t = gc_unit(gc_sub(t, gc_scale(v, gc_dot(t, v))), t);
        }
        wc = wc * GC_R(0.5) * k->theta / sine;
    } else {
        k->g = GC_R(0.0);
        wc = length;
        t = gc_direction(chord, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0)));
        v = gc_across(t);
    }
    if (gc_length(gc_make(wc, k->g, GC_R(0.0))) + k->theta * size <= GC_NO_MOTION * size) {
        k->theta = GC_R(0.0);
        k->g = GC_R(0.0);
        wc = GC_R(0.0);
    }
    n = gc_cross(t, v);
    k->w = GC_MAX(wc, k->theta * size);
    k->kappa = k->theta > GC_R(0.0) ? k->theta / k->w : GC_R(0.0);
    if (k->theta > GC_R(0.0)) {
        /* sagitta of the arc of B's centre: radius times (1 - cos(theta/2)) = wc/theta * sine^2/(1 + cos) */
        middle = gc_add(middle, gc_scale(n, wc * sine * sine / ((GC_R(1.0) + d.w) * k->theta)));
        off = (k->w - wc) / k->theta;
    }
    origin = gc_add(middle, gc_scale(n, off));
    k->speed = gc_length(gc_make(k->w, k->g, GC_R(0.0)));
    k->size = size;
    k->tau = k->speed > GC_R(0.0) ? GC_TAU_TIME + GC_TAU_LENGTH * size / k->speed : GC_R(1.0);
    if (k->tau > GC_R(1.0)) k->tau = GC_R(1.0);
    k->ra[0] = t.x;
    k->ra[1] = t.y;
    k->ra[2] = t.z;
    k->ra[3] = v.x;
    k->ra[4] = v.y;
    k->ra[5] = v.z;
    k->ra[6] = n.x;
    k->ra[7] = n.y;
    k->ra[8] = n.z;
    e = gc_rotate(k->ra, origin);
    k->ta[0] = -e.x;
    k->ta[1] = -e.y;
    k->ta[2] = -e.z;
    midway = gc_quat_unit(gc_quat_mul(midway, q0));
    e = gc_rotate(k->ra, gc_quat_rotate(midway, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0))));
    k->rb[0] = e.x;
    k->rb[3] = e.y;
    k->rb[6] = e.z;
    e = gc_rotate(k->ra, gc_quat_rotate(midway, gc_make(GC_R(0.0), GC_R(1.0), GC_R(0.0))));
    k->rb[1] = e.x;
    k->rb[4] = e.y;
    k->rb[7] = e.z;
    e = gc_rotate(k->ra, gc_quat_rotate(midway, gc_make(GC_R(0.0), GC_R(0.0), GC_R(1.0))));
    k->rb[2] = e.x;
    k->rb[5] = e.y;
    k->rb[8] = e.z;
    k->tb[0] = GC_R(0.0);
    k->tb[1] = GC_R(0.0);
    k->tb[2] = -off;
}

/* B's pose seen from A, centre to centre */
GC_FN void gc_relative_pose(gc_vec pa, gc_quat qa, gc_vec pb, gc_quat qb, gc_vec ca, gc_vec cb, gc_quat *q, gc_vec *p)
{
    gc_quat back = gc_quat_conj(qa);
    *q = gc_quat_mul(back, qb);
    *p = gc_sub(gc_add(gc_quat_rotate(back, gc_sub(pb, pa)), gc_quat_rotate(*q, cb)), ca);
}

/* one body of the pair as the broad phase sees it */
GC_FN gc_moving s01_moving(
    GC_GLOBAL const gc_real *mesh,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    int body)
{
    return gc_moving_make(
        gc_make(mesh[0], mesh[1], mesh[2]), mesh[3], gc_make(mesh[5], mesh[6], mesh[7]), gc_load_vec(start, body),
        gc_load_quat(start_quat, body), gc_load_vec(end, body), gc_load_quat(end_quat, body));
}

/* The record of a pair about which all is said: bodies at rest, far apart. The numbers of its true motion mean nothing, and
 * no stage behind should spend time on them, or find contacts among them. */
GC_FN void s01_settled(gc_screw *k)
{
    gc_quat one = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_vec away = gc_make(GC_R(8.0) * k->size, GC_R(0.0), GC_R(0.0));
    gc_screw_make(one, one, away, away, k->size, k);
}

GC_KERNEL void s01_screw(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,              /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,              /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in,         /* (bodies,) both poses usable */
    GC_GLOBAL const gc_real *start_position_in, /* (bodies, 3) world */
    GC_GLOBAL const gc_real *start_quat_in,     /* (bodies, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REALS) */
    GC_GLOBAL gc_real *screw_out,           /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL int *state_out)               /* (n_pairs,) */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = pairs_in[2 * i], b = pairs_in[2 * i + 1];
        GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REALS * shape_in[a];
        GC_GLOBAL const gc_real *mb = mesh_reals_in + GC_MESH_REALS * shape_in[b];
        gc_vec ca = gc_make(ma[0], ma[1], ma[2]), cb = gc_make(mb[0], mb[1], mb[2]);
        gc_relative r;
        gc_screw k;
        gc_real shrink, way, own;
        if (!valid_in[a] || !valid_in[b]) {
            state_out[i] = GC_PAIR_INVALID;
            continue;
        }
        k.scale = GC_MAX(ma[4], mb[4]);
        shrink = GC_R(1.0) / k.scale;
        k.shrink = shrink;
        k.radius_a = ma[3] * shrink;
        k.radius_b = mb[3] * shrink;
        gc_relative_pose(
            gc_load_vec(start_position_in, a), gc_load_quat(start_quat_in, a), gc_load_vec(start_position_in, b),
            gc_load_quat(start_quat_in, b), ca, cb, &r.q0, &r.p0);
        gc_relative_pose(
            gc_load_vec(end_position_in, a), gc_load_quat(end_quat_in, a), gc_load_vec(end_position_in, b),
            gc_load_quat(end_quat_in, b), ca, cb, &r.q1, &r.p1);
        gc_screw_make(
            gc_quat_unit(gc_quat_mul(r.q1, gc_quat_conj(r.q0))), r.q0, gc_scale(r.p0, shrink), gc_scale(r.p1, shrink),
            GC_MAX(ma[3], mb[3]) * shrink, &k);
        way = gc_length(gc_scale(gc_sub(r.p1, r.p0), shrink));
        state_out[i] = 0;
        /* so written that it is also true of what overflowed to infinity or to no number at all */
        own = gc_most(gc_sub(gc_load_vec(end_position_in, a), gc_load_vec(start_position_in, a)));
        if (!(way <= GC_MAX_MOTION * k.size) || !(own <= GC_MAX_OWN_WAY) || own > GC_MAX_OWN_SIZES * (k.size * k.scale)) {
            gc_moving move_a = s01_moving(ma, start_position_in, start_quat_in, end_position_in, end_quat_in, a);
            gc_moving move_b = s01_moving(mb, start_position_in, start_quat_in, end_position_in, end_quat_in, b);
            state_out[i] = gc_sweeps_meet(&move_a, &move_b) ? GC_PAIR_UNRESOLVED : 0;
            s01_settled(&k);
        }
        gc_screw_store(&k, screw_out + GC_SCREW_STRIDE * i);
    }
}
