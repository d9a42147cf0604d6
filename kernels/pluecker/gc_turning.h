/* gc_turning.h: the rotation of a vertex towards a polygon and of an edge towards an edge.
 * needs: pluecker/gc_pluecker.h
 *
 * Source: seed 2.4, 2.5, 3.3, 3.4, with corrections; mathematics and error bounds in docs/pluecker.md. Frame and arguments as
 * in gc_pluecker.h; in place of the vector stands a gc_pivot: a unit axis, about which features turn by the right-hand rule,
 * and a point on it. Angles are half-angle tangents, r = tan(angle/2), 0 to GC_TURN_MOST (half a turn), which order as the
 * angles do; gc_half_tangent and gc_turn_fraction go from and to angles, once a query.
 *
 * How a query uses it. A vertex x of the mover against a polygon of the obstacle:
 *     if (!gc_vertex_plane_rotation(&pivot, x, n, corner, expel, lateral, most, &r, &arrival)) continue;
 *     for each side (c, d) of the polygon: if (!gc_arrival_within(&arrival, c, d, lateral)) break;
 *     if none broke: a hit at r, normal n, contact at arrival.point.
 * A polygon of the mover against a still vertex y is the same with the axis turned round, y in the place of x, all of the
 * mover at its start; the normal is then -n, turned by r: gc_turned_vector. An edge and an edge: gc_edge_edge_rotation.
 */
#ifndef GC_TURNING_H
#define GC_TURNING_H

typedef struct {
    gc_vec axis, origin;
} gc_pivot;

/* tan(angle/2) for an angle from 0 to pi */
GC_FN gc_real gc_half_tangent(gc_real angle)
{
    gc_real h = GC_R(0.5) * angle, u = h * h, sine = h * gc_sinc(u), cosine = GC_R(1.0) - u * gc_verc(u);
    return cosine > GC_ROUNDING ? sine / cosine : GC_TURN_MOST;
}

/* the share of a turn by `angle` > 0 that is done at half-angle tangent r >= 0, at most 1 */
GC_FN gc_real gc_turn_fraction(gc_real r, gc_real angle)
{
    gc_real one = GC_R(1.0), part = GC_R(2.0) * (r > one ? gc_angle(one, one / r) : gc_angle(r, one)) / angle;
    return part < one ? part : one;
}

/* sine and 1 - cosine of the angle with half-angle tangent r, of either sign: those below zero are beyond half a turn */
GC_FN void gc_turn_parts(gc_real r, gc_real *sine, gc_real *versine)
{
    gc_real one = GC_R(1.0), two = GC_R(2.0);
    if (GC_ABS(r) <= one) {
        gc_real f = two * r / (one + r * r);
        *sine = f;
        *versine = f * r;
    } else {
        gc_real t = one / r, f = two / (one + t * t);
        *sine = f * t;
        *versine = f;
    }
}

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

/* ---- what swings: s(angle) = (start - cosine) + slope sin(angle) + cosine cos(angle) ----------------------------- */

typedef struct {
    gc_real start, slope, cosine; /* s, its derivative, and less its second derivative, at angle 0 */
} gc_swing;

/* Where s falls through zero: r, below zero if that is beyond half a turn. 0 if it never does. */
GC_FN int gc_swing_falls(gc_swing s, gc_real *r)
{
    gc_real a = s.start - GC_R(2.0) * s.cosine, b = s.slope, c = s.start, square = b * b - a * c, root;
    if (!(square >= GC_R(0.0))) return 0;
    root = GC_SQRT(square);
    if (b > GC_R(0.0)) *r = a != GC_R(0.0) ? -(b + root) / a : GC_TURN_MOST;
    else if (root - b > GC_R(0.0)) *r = c / (root - b);
    else if (a < GC_R(0.0)) *r = GC_R(0.0);
    else return 0;
    return 1;
}

GC_FN gc_real gc_swing_amplitude(gc_swing s) { return GC_SQRT(s.slope * s.slope + s.cosine * s.cosine); }

/* where s is greatest, and where least: r, below zero if that is beyond half a turn */
GC_FN gc_real gc_swing_top(gc_swing s)
{
    gc_real reach = gc_swing_amplitude(s);
    if (s.cosine >= GC_R(0.0)) return reach > GC_R(0.0) ? s.slope / (reach + s.cosine) : GC_R(0.0);
    return s.slope != GC_R(0.0) ? (reach - s.cosine) / s.slope : GC_TURN_MOST;
}

GC_FN gc_real gc_swing_low(gc_swing s)
{
    s.slope = -s.slope;
    s.cosine = -s.cosine;
    return gc_swing_top(s);
}

/* is s falling at the start? -1: it never changes */
GC_FN int gc_swing_sinks(gc_swing s)
{
    if (s.slope != GC_R(0.0)) return s.slope < GC_R(0.0);
    return s.cosine != GC_R(0.0) ? s.cosine > GC_R(0.0) : -1;
}

/* How far a turn may go, and where what stops it is met. `real` is the distance (times what it is scaled with), `outer` less
 * the zone, `behind` the most that the start may be behind, `near` a distance that counts as met although it is not zero.
 * stop: where `outer` falls to zero; at once, if it starts below and the distance sinks; the top, if it rises and never comes
 * out of the zone. met: where `real` then falls to zero, or else is least; below zero if that is beyond half a turn. 0 if
 * nothing is met, or nothing stops within half a turn.
 *
 * gc_swing_order takes in stop and met where both fall, if they do (leaves and falls); gc_swing_stop solves for that. */
GC_FN int gc_swing_order(
    gc_swing real,
    gc_swing outer,
    gc_real behind,
    gc_real near,
    int leaves,
    int falls,
    gc_real *stop,
    gc_real *met)
{
    gc_real reach = gc_swing_amplitude(real), middle = real.start - real.cosine;
    int sinks = gc_swing_sinks(real), in_zone = outer.start <= GC_R(0.0);
    if (in_zone && sinks > 0) { /* or behind it, and going deeper */
        *stop = GC_R(0.0);
        if (real.start < GC_R(0.0)) {
            *met = GC_R(0.0);
            return real.start >= -behind;
        }
    } else if (in_zone && (sinks < 0 || real.slope == GC_R(0.0))) {
        return 0;                                       /* stays as it is, or is at its lowest */
    } else if (in_zone && middle + reach < GC_R(0.0)) { /* comes nearer to the front, never through it */
        *stop = gc_swing_top(real);
        *met = *stop;
        return real.start >= -behind;
    } else {
        if (in_zone && (!leaves || (*stop < GC_R(0.0) && falls && *met >= GC_R(0.0)))) *stop = gc_swing_top(real);
        else if (!leaves) return 0;
        if (!(*stop >= GC_R(0.0))) return 0;
    }
    if (falls) return 1;
    *met = gc_swing_low(real);
    return middle - reach <= near;
}

GC_FN int gc_swing_stop(gc_swing real, gc_swing outer, gc_real behind, gc_real near, gc_real *stop, gc_real *met)
{
    int falls = gc_swing_falls(real, met), leaves = gc_swing_falls(outer, stop);
    return gc_swing_order(real, outer, behind, near, leaves, falls, stop, met);
}

/* a bound, with room for its rounding, on how far s falls below its start until half-angle tangent `most` */
GC_FN gc_real gc_swing_drop(gc_swing s, gc_real most)
{
    gc_real sine, versine, zero = GC_R(0.0);
    gc_turn_parts(most, &sine, &versine);
    if (most > GC_R(1.0)) sine = GC_R(1.0);
    return (GC_MAX(-s.slope, zero) * sine + GC_MAX(s.cosine, zero) * versine) * GC_R(1.000001);
}

GC_FN gc_swing gc_swing_less(gc_swing s, gc_real level)
{
    s.start -= level;
    return s;
}

/* ---- a vertex and a polygon ----------------------------------------------------------------------------------- */

/* a feature where it meets what stops it: the point, how it moves there per radian against what is still, the normal, and
 * its approach along that, at least what its curve makes of it within `lateral` */
typedef struct {
    gc_vec point, motion, normal;
    gc_real approach;
} gc_arrival;

GC_FN gc_arrival gc_arrival_at(const gc_pivot *pivot, gc_vec point, gc_vec normal, gc_real lateral)
{
    gc_arrival m;
    gc_real along, least;
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

/* The vertex x, turned about the pivot, and the plane through `corner` across n, which is `length` long: 1, the half-angle
 * tangent r at which it must stop, and how it meets the plane; 0 if that is not within `most`. */
GC_FN int gc_vertex_area_rotation(
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_real length,
    gc_vec corner,
    gc_real expel,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_swing real = gc_vertex_swing(pivot, x, n, corner);
    gc_real met, zone = expel * length;
    if (real.start - zone > gc_swing_drop(real, most)) return 0;
    if (!gc_swing_stop(real, gc_swing_less(real, zone), zone, lateral * length, r, &met) || !(*r <= most)) return 0;
    *arrival = gc_arrival_at(pivot, gc_turned(pivot, x, met), gc_scale(n, GC_R(1.0) / length), lateral);
    return 1;
}

/* the same with a unit normal */
GC_FN int gc_vertex_plane_rotation(
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_vec corner,
    gc_real expel,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    return gc_vertex_area_rotation(pivot, x, n, GC_R(1.0), corner, expel, lateral, most, r, arrival);
}

/* ---- an edge and an edge -------------------------------------------------------------------------------------- */

/* the side of the turning line at a along u and the still line at c along w, as a swing */
GC_FN gc_swing gc_edge_swing(const gc_pivot *pivot, gc_vec a, gc_vec u, gc_vec c, gc_vec w)
{
    gc_vec axis = pivot->axis, from = gc_sub(a, pivot->origin);
    gc_vec p = gc_cross(from, u), q = gc_cross(gc_sub(c, pivot->origin), w);
    gc_swing s;
    s.start = gc_side(a, u, c, w);
    s.slope = -(gc_dot(gc_cross(axis, u), q) + gc_dot(gc_cross(axis, p), w));
    s.cosine = s.start + (gc_dot(axis, u) * gc_dot(axis, q) + gc_dot(axis, p) * gc_dot(axis, w));
    return s;
}

/* how far the turning direction u reaches along h, as a swing */
GC_FN gc_swing gc_direction_swing(const gc_pivot *pivot, gc_vec u, gc_vec h)
{
    gc_swing s;
    s.start = gc_dot(u, h);
    s.slope = gc_dot(gc_cross(pivot->axis, u), h);
    s.cosine = s.start - gc_dot(pivot->axis, u) * gc_dot(pivot->axis, h);
    return s;
}

GC_FN gc_swing gc_swing_times(gc_swing s, gc_real f)
{
    s.start *= f;
    s.slope *= f;
    s.cosine *= f;
    return s;
}

GC_FN gc_swing gc_swing_minus(gc_swing s, gc_swing t)
{
    s.start -= t.start;
    s.slope -= t.slope;
    s.cosine -= t.cosine;
    return s;
}

typedef struct {
    gc_two start, slope, cosine;
} gc_two_swing;

/* gc_edge_swing in twice the digits, about the exact unit vector along the axis */
GC_LARGE gc_two_swing gc_edge_swing_twofold(const gc_pivot *pivot, gc_vec a, gc_vec b, gc_vec c, gc_vec d)
{
    gc_two_vec axis = gc_two_unit(pivot->axis), u = gc_two_from_to(a, b), w = gc_two_from_to(c, d);
    gc_two_vec p = gc_two_cross(gc_two_from_to(pivot->origin, a), u);
    gc_two_vec q = gc_two_cross(gc_two_from_to(pivot->origin, c), w);
    gc_two still = gc_two_add(
        gc_two_mul(gc_two_dot(axis, u), gc_two_dot(axis, q)), gc_two_mul(gc_two_dot(axis, p), gc_two_dot(axis, w)));
    gc_two_swing s;
    s.start = gc_two_dot(gc_two_from_to(a, c), gc_two_cross(u, w));
    s.slope = gc_two_negative(gc_two_add(gc_two_dot(gc_two_cross(axis, u), q), gc_two_dot(gc_two_cross(axis, p), w)));
    s.cosine = gc_two_add(s.start, still);
    return s;
}

GC_FN gc_swing gc_swing_rounded(const gc_two_swing *t)
{
    gc_swing s;
    s.start = t->start.hi;
    s.slope = t->slope.hi;
    s.cosine = t->cosine.hi;
    return s;
}

/* sign * t - less */
GC_FN gc_two_swing gc_two_swing_less(const gc_two_swing *t, gc_real sign, gc_swing less)
{
    gc_two way = gc_two_of(sign);
    gc_two_swing s;
    s.start = gc_two_add(gc_two_mul(t->start, way), gc_two_of(-less.start));
    s.slope = gc_two_add(gc_two_mul(t->slope, way), gc_two_of(-less.slope));
    s.cosine = gc_two_add(gc_two_mul(t->cosine, way), gc_two_of(-less.cosine));
    return s;
}

/* gc_swing_falls in twice the digits */
GC_LARGE int gc_swing_falls_twofold(const gc_two_swing *s, gc_real *r)
{
    gc_two a = gc_two_add(s->start, gc_two_mul(s->cosine, gc_two_of(GC_R(-2.0)))), b = s->slope, c = s->start;
    gc_two square = gc_two_sub(gc_two_mul(b, b), gc_two_mul(a, c)), root;
    if (!(square.hi >= GC_R(0.0))) return 0;
    root = gc_two_root(square);
    if (b.hi > GC_R(0.0)) *r = a.hi != GC_R(0.0) ? -gc_two_ratio(gc_two_add(b, root), a) : GC_TURN_MOST;
    else if (root.hi - b.hi > GC_R(0.0)) *r = gc_two_ratio(c, gc_two_sub(root, b));
    else if (a.hi < GC_R(0.0)) *r = GC_R(0.0);
    else return 0;
    return 1;
}

/* two edges that may turn towards each other, and what a look at them needs */
typedef struct {
    gc_vec a, b, u; /* the mover's edge at its start, u from a to b */
    gc_vec c, d, w; /* the still edge */
    gc_wedge of_mover, of_still;
    gc_swing side; /* of the one's line and the other's */
    gc_real wide;  /* |u| |w|, of which side is distance times sine */
    gc_real doubt; /* bound on the error of side */
    gc_real expel;
} gc_edge_pair;

/* How they meet at r, outwards being sign times the normal: 1 if that leads away from both wedges there, within `slack`, and
 * the crossing is within both edges or beyond their ends by no more than `lateral`; 2 if the opposite normal would do as well.
 * length: the sine between them, times `wide`. */
GC_FN int gc_edge_pair_meet(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    gc_real lateral,
    gc_real slack,
    gc_real r,
    gc_real *length,
    gc_arrival *arrival)
{
    gc_vec u = gc_turned_vector(pivot, e->u, r), back = gc_turned_vector(pivot, e->w, -r), n = gc_cross(u, e->w), from;
    gc_real along, reach, over;
    int signs = gc_wedge_signs_within(&e->of_still, u, slack) & gc_wedge_signs_within(&e->of_mover, back, slack);
    *length = gc_norm(n);
    if (!(*length > GC_ZONE_PARALLEL * e->expel * GC_MAX(gc_most(u), gc_most(e->w)))) return 0;
    if (!(signs & (sign > GC_R(0.0) ? 1 : 2))) return 0;
    n = gc_scale(n, GC_R(1.0) / *length);
    from = gc_sub(e->c, gc_turned(pivot, e->a, r));
    along = gc_dot(gc_cross(from, e->w), n);
    reach = GC_MIN(GC_MAX(along / *length, GC_R(0.0)), GC_R(1.0));
    *arrival = gc_arrival_at(pivot, gc_add(gc_sub(e->c, from), gc_scale(u, reach)), gc_scale(n, sign), lateral);
    over = gc_arrival_slack(arrival, e->w, lateral);
    if (!(along >= -over && along - *length <= over)) return 0;
    over = gc_arrival_slack(arrival, u, lateral);
    along = gc_dot(gc_cross(from, u), n);
    return along >= -over && along - *length <= over ? (signs == 3 ? 2 : 1) : 0;
}

/* Does a first look, with the errors of the plain swing allowed for, leave it possible that they meet about `met`? And are
 * twice the digits wanted (twice)? */
GC_FN int gc_edge_pair_may_meet(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_swing real,
    gc_real sign,
    gc_real lateral,
    gc_real met,
    int *twice)
{
    gc_real length = gc_norm(gc_cross(gc_turned_vector(pivot, e->u, met), e->w)), middle = real.start - real.cosine;
    gc_real reach = gc_swing_amplitude(real), rate = GC_SQRT(GC_MAX((reach - middle) * (reach + middle), GC_R(0.0)));
    gc_arrival arrival;
    *twice = !(e->doubt <= GC_ZONE_SURE * e->expel * length);
    if (!(rate * length > GC_R(8.0) * e->doubt * e->wide)) { /* the angle itself is in doubt */
        *twice = 1;
        return 1;
    }
    return gc_edge_pair_meet(
        pivot, e, sign, lateral + GC_R(4.0) * e->doubt / length, GC_R(4.0) * (GC_FACING_ROUNDING + e->doubt / rate), met,
        &length, &arrival);
}

/* One of the two ways round: the mover's edge comes against sign times the normal. */
GC_FN int gc_edge_pair_turn(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_swing real = gc_swing_times(e->side, -sign), zone = gc_swing_times(real, GC_R(0.0)), outer;
    gc_real thick = e->expel * e->wide + e->doubt, doubt = e->doubt, met, length, stop, most_behind;
    gc_two_swing plain, sure;
    int twice, falls, leaves, how;
    /* against the thickest zone there may be: few edges come so near; then whether they do within their ends */
    if (real.start - thick > gc_swing_drop(real, most)) return 0;
    if (!gc_swing_stop(real, gc_swing_less(real, thick), thick, thick, &stop, &met) || !(stop <= most)) return 0;
    if (!gc_edge_pair_may_meet(pivot, e, real, sign, lateral, met, &twice)) return 0;
    if (twice) {
        doubt = GC_R(0.0);
        plain = gc_edge_swing_twofold(pivot, e->a, e->b, e->c, e->d);
        sure = gc_two_swing_less(&plain, -sign, zone);
        real = gc_swing_rounded(&sure);
        outer = gc_swing_less(real, thick);
        leaves = gc_swing_falls(outer, &stop);
        falls = gc_swing_falls_twofold(&sure, &met);
        if (!gc_swing_order(real, outer, thick, thick, leaves, falls, &stop, &met)) return 0;
    } else {
        falls = gc_swing_falls(real, &stop);
    }
    how = gc_edge_pair_meet(pivot, e, sign, lateral, GC_R(4.0) * GC_FACING_ROUNDING, met, &length, arrival);
    if (!how) return 0;
    if (!falls && real.start - real.cosine - gc_swing_amplitude(real) > lateral * length + doubt) return 0;
    /* the zone ends at the still line, moved outwards along the normal of the meeting */
    zone = gc_swing_times(gc_direction_swing(pivot, e->u, gc_cross(e->w, arrival->normal)), sign * e->expel);
    outer = gc_swing_minus(real, zone);
    leaves = gc_swing_falls(outer, r);
    if (twice) {
        sure = gc_two_swing_less(&plain, -sign, zone);
        leaves = gc_swing_falls_twofold(&sure, r);
    }
    most_behind = how == 2 ? doubt : e->expel * length + doubt;
    if (!gc_swing_order(real, outer, most_behind, thick, leaves, falls, r, &met)) return 0;
    return *r >= GC_R(0.0) && *r <= most;
}

/* The mover's edge a-b, turned about the pivot, and the still edge c-d: 1, the half-angle tangent at which they must stop,
 * `expel` apart along the normal of both as they would meet, and how they would. 0: not within `most`, or as in
 * gc_edge_edge_translation. */
GC_FN int gc_edge_edge_rotation(
    const gc_pivot *pivot,
    gc_vec a,
    gc_vec b,
    gc_vec c,
    gc_vec d,
    const gc_wedge *of_mover,
    const gc_wedge *of_still,
    gc_real expel,
    gc_real lateral,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_edge_pair e;
    gc_swing near;
    gc_arrival other;
    gc_vec from, to;
    gc_real later;
    int hit;
    e.a = a;
    e.b = b;
    e.c = c;
    e.d = d;
    e.u = gc_sub(b, a);
    e.w = gc_sub(d, c);
    e.of_mover = *of_mover;
    e.of_still = *of_still;
    e.expel = expel;
    e.side = gc_edge_swing(pivot, a, e.u, c, e.w);
    from = gc_sub(a, pivot->origin);
    to = gc_sub(c, pivot->origin);
    e.wide = GC_SQRT(gc_dot(e.u, e.u) * gc_dot(e.w, e.w));
    e.doubt = GC_SWING_ROUNDING * GC_SQRT(GC_R(2.0) * (gc_dot(from, from) + gc_dot(to, to))) * e.wide;
    /* most stay far from each other, on either side */
    near = gc_swing_times(e.side, e.side.start < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0));
    if (near.start - expel * e.wide - e.doubt > gc_swing_drop(near, most)) return 0;
    hit = gc_edge_pair_turn(pivot, &e, GC_R(1.0), lateral, most, r, arrival);
    if (!gc_edge_pair_turn(pivot, &e, GC_R(-1.0), lateral, hit ? *r : most, &later, &other)) return hit;
    *r = later;
    *arrival = other;
    return 1;
}

#endif
