/* gc_turning.h: the rotation of a vertex towards a polygon.
 * needs: pluecker/gc_swing.h
 *
 * Source: seed 2.4, 2.5, 3.3, 3.4, with corrections; mathematics and error bounds in docs/pluecker.md. Frame and arguments as
 * in gc_pluecker.h; in place of the vector stands a gc_pivot: a unit axis, about which features turn by the right-hand rule,
 * and a point on it. Angles are half-angle tangents, r = tan(angle/2), 0 to GC_TURN_MOST (half a turn), which order as the
 * angles do; gc_half_tangent and gc_turn_fraction go from and to angles, once a query.
 *
 * How a query uses it. A vertex x of the mover against a polygon of the obstacle:
 *     if (!gc_vertex_plane_rotation(&pivot, x, n, corner, expel, behind, lateral, most, &r, &arrival)) continue;
 *     for each side (c, d) of the polygon: if (!gc_arrival_within(&arrival, c, d, lateral)) break;
 *     until none asks for more: for each side: if (!gc_border_awaits(&pivot, x, n, c, d, GC_R(1.0), beside, slack, &r)) break;
 *     if none broke: a hit at r, normal n, contact at arrival.point.
 * A polygon of the mover against a still vertex y is the same with the axis turned round, y in the place of x, all of the
 * mover at its start; the normal is then -n, turned by r: gc_turned_vector. An edge and an edge: gc_crossing.h.
 */
#ifndef GC_TURNING_H
#define GC_TURNING_H

typedef struct {
    gc_vec axis, origin;
} gc_pivot;

/* a vector after the turn; one along the axis stays as it is */
GC_FN gc_vec gc_turned_vector(const gc_pivot *pivot, gc_vec v, gc_real r)
{
    gc_vec ahead = gc_cross(pivot->axis, v);
    gc_real sine, versine;
    gc_turn_parts(r, &sine, &versine);
    return gc_sub(gc_add(v, gc_scale(ahead, sine)), gc_scale(gc_cross(ahead, pivot->axis), versine));
}

/* a point after the turn */
GC_FN gc_vec gc_turned(const gc_pivot *pivot, gc_vec x, gc_real r)
{
    return gc_add(pivot->origin, gc_turned_vector(pivot, gc_sub(x, pivot->origin), r));
}

/* ---- a vertex and a polygon ----------------------------------------------------------------------------------- */

/* a feature where it meets what stops it: when, the point, how it moves there per radian against what is still, the normal, and
 * its approach along that, at least what its curve makes of it within `lateral` */
typedef struct {
    gc_vec point, motion, normal;
    gc_real approach, met;
} gc_arrival;

GC_FN gc_arrival gc_arrival_at(const gc_pivot *pivot, gc_vec point, gc_vec normal, gc_real met, gc_real lateral)
{
    gc_arrival m;
    gc_real along, least;
    m.met = met;
    m.point = point;
    m.motion = gc_cross(pivot->axis, gc_sub(point, pivot->origin));
    m.normal = normal;
    along = GC_ABS(gc_dot(m.motion, normal));
    least = GC_SQRT(lateral * gc_norm(m.motion));
    m.approach = GC_MAX(along, least);
    return m;
}

/* the distance in the plane of contact from a border along w, times |w|, that is `lateral` between path and border */
GC_FN gc_real gc_arrival_slack(const gc_arrival *m, gc_vec w, gc_real lateral)
{
    gc_real over;
    if (!(lateral > GC_R(0.0)) || !(m->approach > GC_R(0.0))) return GC_R(0.0);
    over = gc_dot(m->motion, gc_cross(m->normal, w)) / m->approach;
    return lateral * GC_SQRT(over * over + gc_dot(w, w));
}

/* does it meet the plane inside the border c-d, or outside by no more than `lateral`? */
GC_FN int gc_arrival_within(const gc_arrival *m, gc_vec c, gc_vec d, gc_real lateral)
{
    gc_vec w = gc_sub(d, c);
    gc_real inside = gc_dot(gc_cross(m->normal, w), gc_sub(m->point, c));
    return inside >= GC_R(0.0) || inside >= -gc_arrival_slack(m, w, lateral);
}

/* the distance of x from the plane through `corner` with the unit normal n, as x turns */
GC_FN gc_swing gc_vertex_swing(const gc_pivot *pivot, gc_vec x, gc_vec n, gc_vec corner)
{
    gc_vec ahead = gc_cross(pivot->axis, gc_sub(x, pivot->origin));
    gc_swing s;
    s.start = gc_dot(n, gc_sub(x, corner));
    s.slope = gc_dot(n, ahead);
    s.cosine = gc_dot(n, gc_cross(ahead, pivot->axis));
    return s;
}

/* does it stay out of the zone until half-angle tangent `most`? */
GC_FN int gc_vertex_swing_far(gc_swing s, gc_real zone, gc_real most) { return s.start - zone > gc_swing_drop(s, most); }

/* The vertex x, turned about the pivot, and the plane through `corner` across n, which is `length` long: 1, the half-angle
 * tangent r at which it must stop, and how it meets the plane; 0 if that is not within `most`. */
GC_FN int gc_vertex_area_rotation(
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_real length,
    gc_vec corner,
    gc_real expel,
    gc_real behind,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_swing real = gc_vertex_swing(pivot, x, n, corner);
    gc_real met, zone = expel * length;
    if (gc_vertex_swing_far(real, zone, most)) return 0;
    if (!gc_swing_stop(real, gc_swing_less(real, zone), behind * length, lateral * length, r, &met) || !(*r <= most))
        return 0;
    *arrival = gc_arrival_at(pivot, gc_turned(pivot, x, met), gc_scale(n, GC_R(1.0) / length), met, lateral);
    return 1;
}

/* the same with a unit normal */
GC_FN int gc_vertex_plane_rotation(
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_vec corner,
    gc_real expel,
    gc_real behind,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    return gc_vertex_area_rotation(pivot, x, n, GC_R(1.0), corner, expel, behind, lateral, most, r, arrival);
}

/* how far x is inside the border c-d, and `more`, in the plane across n, as it turns; way as in gc_swept_volume_within, seen against n */
GC_FN gc_swing gc_border_swing(const gc_pivot *pivot, gc_vec x, gc_vec n, gc_vec c, gc_vec d, gc_real way, gc_real more)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_vec inward = gc_unit(gc_scale(gc_cross(n, gc_sub(d, c)), way), none);
    return gc_swing_less(gc_vertex_swing(pivot, x, inward, c), -more);
}

/* From r on, when is x beside the border by no more than `beside`? As gc_swing_awaits. */
GC_FN int gc_border_awaits(
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_vec c,
    gc_vec d,
    gc_real way,
    gc_real beside,
    gc_real slack,
    gc_real *r)
{
    return gc_swing_awaits(gc_border_swing(pivot, x, n, c, d, way, beside), slack, r);
}

/* Does x, which turns through another plane at `met`, stay before the plane through `corner` across n by at least `least`
 * until then, and not sink towards it at the start? */
GC_FN int gc_plane_parts_turning(const gc_pivot *pivot, gc_vec x, gc_vec n, gc_vec corner, gc_real met, gc_real least)
{
    gc_swing s = gc_vertex_swing(pivot, x, n, corner);
    return s.start >= least && gc_swing_sinks(s) <= 0 && gc_swing_at(s, met) >= least;
}

#endif
