/* gc_screw.h: the one screw motion between two poses, and the frame in which all else is computed.
 * needs: common/gc_constants.h common/gc_motion.h
 *
 * Source: Buss, section 4.1, docs/decisions/0002 (one frame for turn, screw, translation).
 */
#ifndef GC_SCREW_H
#define GC_SCREW_H

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

/* The frame of a screw with axis v, tangential direction t, and speed wc along t at the middle, B's centre; its angle and g are
 * there. size: see GC_SCREW. `sagitta` over `below`: how far the middle lies inside the arc. q: B's orientation half-way. */
GC_FN void gc_screw_frame(
    gc_vec v,
    gc_vec t,
    gc_real wc,
    gc_vec middle,
    gc_real sagitta,
    gc_real below,
    gc_quat q,
    gc_real size,
    gc_screw *k)
{
    gc_vec n = gc_cross(t, v), origin, e;
    gc_real off = GC_R(0.0);
    k->w = GC_MAX(wc, k->theta * size);
    k->kappa = k->theta > GC_R(0.0) ? k->theta / k->w : GC_R(0.0);
    if (k->theta > GC_R(0.0)) {
        middle = gc_add(middle, gc_scale(n, sagitta / (below * k->theta)));
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
    e = gc_rotate(k->ra, gc_quat_rotate(q, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0))));
    k->rb[0] = e.x;
    k->rb[3] = e.y;
    k->rb[6] = e.z;
    e = gc_rotate(k->ra, gc_quat_rotate(q, gc_make(GC_R(0.0), GC_R(1.0), GC_R(0.0))));
    k->rb[1] = e.x;
    k->rb[4] = e.y;
    k->rb[7] = e.z;
    e = gc_rotate(k->ra, gc_quat_rotate(q, gc_make(GC_R(0.0), GC_R(0.0), GC_R(1.0))));
    k->rb[2] = e.x;
    k->rb[5] = e.y;
    k->rb[8] = e.z;
    k->tb[0] = GC_R(0.0);
    k->tb[1] = GC_R(0.0);
    k->tb[2] = -off;
    k->pad = GC_R(0.0);
    k->slip = GC_R(0.0);
    k->tilt = GC_R(0.0);
    k->pieces = GC_R(0.0);
    k->distance = GC_R(0.0);
}

/* What of a velocity, or of a way, is across axis v, its direction and its length; along: what is along it. A drill's is 0: what is
 * left there carries the rounding of the whole, and may even point along the axis. */
GC_FN gc_vec gc_across_axis(gc_vec v, gc_vec way, gc_real length, gc_real *along, gc_real *across)
{
    gc_vec perp, t, none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    *along = gc_dot(way, v);
    perp = gc_sub(way, gc_scale(v, *along));
    perp = gc_sub(perp, gc_scale(v, gc_dot(perp, v)));
    *across = gc_length(perp);
    if (*across <= GC_AXIAL * length) {
        *across = GC_R(0.0);
        return gc_across(v);
    }
    t = gc_direction(perp, none);
    return gc_unit(gc_sub(t, gc_scale(v, gc_dot(t, v))), t);
}

/* does the motion move nothing? */
GC_FN void gc_screw_still(gc_real size, gc_real *wc, gc_screw *k)
{
    if (gc_length(gc_make(*wc, k->g, GC_R(0.0))) + k->theta * size <= GC_NO_MOTION * size) {
        k->theta = GC_R(0.0);
        k->g = GC_R(0.0);
        *wc = GC_R(0.0);
    }
}

/* d: rotation of the step, q0: B's orientation at its start, p0 p1: B's centre before and after, all in A's axes */
GC_FN void gc_screw_make(gc_quat d, gc_quat q0, gc_vec p0, gc_vec p1, gc_real size, gc_screw *k)
{
    gc_vec v, t, chord = gc_sub(p1, p0), middle = gc_scale(gc_add(p0, p1), GC_R(0.5));
    gc_real sine = gc_axis_angle(&d, &v, &k->theta), wc, length = gc_length(chord);
    gc_quat midway = gc_quat_unit(gc_quat_make(GC_R(1.0) + d.w, d.x, d.y, d.z));
    if (k->theta > GC_R(0.0)) {
        t = gc_across_axis(v, chord, length, &k->g, &wc);
        wc = wc * GC_R(0.5) * k->theta / sine;
    } else {
        k->g = GC_R(0.0);
        wc = length;
        t = gc_direction(chord, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0)));
        v = gc_across(t);
    }
    gc_screw_still(size, &wc, k);
    /* sagitta of the arc of B's centre: radius times (1 - cos(theta/2)) = wc/theta * sine^2/(1 + cos) */
    gc_screw_frame(v, t, wc, middle, wc * sine * sine, GC_R(1.0) + d.w, gc_quat_unit(gc_quat_mul(midway, q0)), size, k);
}

#endif
