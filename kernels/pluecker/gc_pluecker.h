/* gc_pluecker.h: lines, sides, and the translation of a vertex towards a polygon and of an edge towards an edge.
 * needs: pluecker/gc_twofold.h common/gc_constants.h
 *
 * Source: seed 2.1 to 2.3 and 3.1, 3.2; mathematics and error bounds in docs/pluecker.md. All in one frame, that of the
 * obstacle: the mover's features at their start, the obstacle's as they stand. Lengths are best about one.
 *
 * How a query uses it. A vertex x of the mover against a polygon of the obstacle, corners in counter-clockwise order:
 *     if (!gc_vertex_plane_translation(x, v, n, corner, expel, behind, most, &f)) continue;
 *     passing = gc_passing_whole();
 *     for each side (c, d) of the polygon: {
 *         if (!gc_swept_volume_within(x, v, c, d, GC_R(1.0), lateral)) break;
 *         gc_passing_cut(&passing, x, v, n, c, d, GC_R(1.0), expel, lateral);
 *     }
 *     if none broke, and gc_passing_stop(&passing, &f), and f <= most: a hit at f, normal n.
 * A polygon of the mover against a still vertex y is the same with -v, y in the place of x, and the normal turned round.
 * An edge of the mover against one of the obstacle: gc_edge_edge_translation. What bends inwards, or not at all, and what
 * has no faces for its wedge, is the caller's to leave out.
 *
 * expel, behind and lateral are those of gc_zone. most is the largest fraction of interest, at most 1; a hit at most itself is
 * reported, so that ties can be told. `corner` is the polygon's outermost corner along n
 * (gc_outermost), if it has more than three: one that is not quite plane is then hit early, never late.
 */
#ifndef GC_PLUECKER_H
#define GC_PLUECKER_H

/* in the place of a fraction: infinity */
GC_FN gc_real gc_infinity(void) { return GC_TURN_MOST * GC_TURN_MOST; }

/* ---- lines, as the source has them ---------------------------------------------------------------------------- */

typedef struct {
    gc_real p0, p1, p2, p3, p4, p5;
} gc_line;

/* through a, then b */
GC_FN gc_line gc_line_through(gc_vec a, gc_vec b)
{
    gc_line p;
    p.p0 = a.x * b.y - b.x * a.y;
    p.p1 = a.x * b.z - b.x * a.z;
    p.p2 = a.x - b.x;
    p.p3 = a.y * b.z - b.y * a.z;
    p.p4 = a.z - b.z;
    p.p5 = b.y - a.y;
    return p;
}

/* the permuted inner product: six times the signed volume of the tetrahedron of both lines' points */
GC_FN gc_real gc_line_side(gc_line p, gc_line q)
{
    return p.p0 * q.p4 + p.p1 * q.p5 + p.p2 * q.p3 + p.p4 * q.p0 + p.p5 * q.p1 + p.p3 * q.p2;
}

/* The same number from differences, which keeps its digits far from the origin: side of the line at a along u and the line
 * at c along w. */
GC_FN gc_real gc_side(gc_vec a, gc_vec u, gc_vec c, gc_vec w) { return gc_dot(gc_sub(c, a), gc_cross(u, w)); }

/* bound on the error of gc_side, with u and w as differences, reach the largest coordinate of c - a */
GC_FN gc_real gc_side_doubt(gc_real reach, gc_vec u, gc_vec w) { return GC_SIDE_ROUNDING * reach * gc_most(u) * gc_most(w); }

/* the one of a polygon's corners that lies furthest along n so far: `best` or c */
GC_FN gc_vec gc_outermost(gc_vec n, gc_vec best, gc_vec c) { return gc_dot(n, gc_sub(c, best)) > GC_R(0.0) ? c : best; }

/* the unit normal of the plane through three points, counter-clockwise seen from its tip, to the last digit even for a
 * sliver; zero if they lie in a line */
GC_FN gc_vec gc_normal_of(gc_vec a, gc_vec b, gc_vec c)
{
    gc_vec n = gc_two_rounded(gc_two_cross(gc_two_from_to(a, b), gc_two_from_to(a, c)));
    return gc_direction(n, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)));
}

/* What is to be kept: the thickness of the zone along the normal of contact, and the most that a start may be behind what it
 * meets; how far beside a border (measured between path and border, as lines) a hit still counts; and how far off a
 * place may be by rounding. */
typedef struct {
    gc_real expel, behind, lateral, doubt;
} gc_zone;

/* ---- a vertex and a polygon ----------------------------------------------------------------------------------- */

/* The vertex x, moved by v, and the plane through `corner` with the unit normal n, approached from its tip: 1 and the
 * fraction at which it is `expel` before the plane; 0 if that is not within `most`, if it is not approached, or if x is
 * further behind than `behind`. */
GC_FN int gc_vertex_plane_translation(
    gc_vec x,
    gc_vec v,
    gc_vec n,
    gc_vec corner,
    gc_real expel,
    gc_real behind,
    gc_real most,
    gc_real *fraction)
{
    gc_real k = -gc_dot(n, v), distance = gc_dot(n, gc_sub(x, corner)), left = distance - expel;
    /* one branch for all, which most vertices take: the last is the quotient's, with room for its rounding */
    if (!((k > GC_R(0.0)) & (distance >= -behind) & (left <= k * most * GC_R(1.000001)))) return 0;
    *fraction = left > GC_R(0.0) ? left / k : GC_R(0.0);
    return *fraction <= most;
}

/* gc_swept_volume_within where rounding decides: in twice the digits, and the same number for (c, d) as for (d, c) */
GC_LARGE int gc_swept_volume_within_twofold(gc_vec x, gc_vec v, gc_vec c, gc_vec d, gc_real way, gc_real lateral)
{
    int swap = c.x != d.x ? c.x > d.x : (c.y != d.y ? c.y > d.y : c.z > d.z);
    gc_vec from = swap ? d : c, to = swap ? c : d, width;
    gc_two_vec across = gc_two_cross(gc_two_vec_of(v), gc_two_from_to(from, to));
    gc_two side = gc_two_dot(gc_two_from_to(x, from), across);
    gc_real inward = swap ? -way : way;
    width = gc_two_rounded(across);
    side = gc_two_add(inward > GC_R(0.0) ? side : gc_two_negative(side), gc_two_of(lateral * gc_norm(width)));
    return side.hi >= GC_R(0.0);
}

/* Does the path of x along v pass the border c-d on the inner side, or outside by no more than `lateral` (as lines)? way 1:
 * the inner side is that of a polygon whose corners go from c to d, seen by what comes towards its front; -1: the other. */
GC_FN int gc_swept_volume_within(gc_vec x, gc_vec v, gc_vec c, gc_vec d, gc_real way, gc_real lateral)
{
    gc_vec r = gc_sub(c, x), w = gc_sub(d, c), across = gc_cross(v, w);
    gc_real side = way * gc_dot(r, across), doubt = gc_side_doubt(gc_most(r) + lateral, v, w);
    if (side > doubt) return 1;
    side += lateral * gc_norm(across);
    if (side > doubt) return 1;
    if (side < -doubt) return 0;
    return gc_swept_volume_within_twofold(x, v, c, d, way, lateral);
}

/* A path that is flat against a plane is in its zone long before it comes to the polygon, if it ever does. By fractions, of
 * the place in the plane: `near`, from where on it is beside no border by more than GC_ZONE_BESIDE of the zone; `over`, by no
 * more than `lateral`; `leaves`, until when. Without a zone nothing is known, and nothing asked. */
typedef struct {
    gc_real near, over, leaves;
} gc_passing;

GC_FN gc_passing gc_passing_whole(void)
{
    gc_passing s;
    s.near = s.over = GC_R(0.0);
    s.leaves = gc_infinity();
    return s;
}

/* the same at the border c-d too; way as in gc_swept_volume_within, seen against n, the normal of the plane */
GC_FN void gc_passing_cut(
    gc_passing *s,
    gc_vec x,
    gc_vec v,
    gc_vec n,
    gc_vec c,
    gc_vec d,
    gc_real way,
    gc_real expel,
    gc_real lateral)
{
    gc_vec w = gc_sub(d, c), inward = gc_scale(gc_cross(n, w), way);
    gc_real out = -gc_dot(inward, gc_sub(x, c)), rate = gc_dot(inward, v), length = gc_norm(inward);
    gc_real beside = out - lateral * length, far = out - GC_ZONE_BESIDE * expel * length;
    if (!(expel > GC_R(0.0))) return;
    if (far > GC_R(0.0) && rate > GC_R(0.0)) s->near = GC_MAX(s->near, far / rate);
    if (beside > GC_R(0.0)) s->over = rate > GC_R(0.0) ? GC_MAX(s->over, beside / rate) : gc_infinity();
    else if (rate < GC_R(0.0)) s->leaves = GC_MIN(s->leaves, beside / rate);
}

/* Does the path come over what the borders hold? Then a stop at *fraction is no earlier than it is near that. */
GC_FN int gc_passing_stop(const gc_passing *s, gc_real *fraction)
{
    *fraction = GC_MAX(*fraction, s->near);
    return s->over <= s->leaves && s->over < gc_infinity() && *fraction <= s->leaves;
}

/* How far in front of a plane next to it something must stand to keep clear of a feature that it is `distance` before, so that
 * it comes no nearer than it is, or than movers come beside borders; doubt: the rounding of where it stands. */
GC_FN gc_real gc_clear_by(gc_real distance, gc_real lateral, gc_real doubt)
{
    return GC_MIN(GC_MAX(distance, GC_R(0.0)), lateral) - doubt;
}

/* ---- an edge and an edge -------------------------------------------------------------------------------------- */

/* The faces at an edge from its first end to its second: first has its corners in this order (the face is to the left, seen
 * from its front), second in the other. faces: 2; 1, a border: first alone; 0, none: the edge is a line, hit from all
 * around. For an edge with more faces, each wedge of free space between two is a wedge of its own. The normals are those of the
 * faces, the very same at each edge of a face: then one sign decides at which of its borders an edge is met that lies along it. */
typedef struct {
    gc_vec first, second;
    int faces;
} gc_wedge;

/* signs, as bits 1 (plus) and 2 (minus), with which the normal u x w leads away from the wedge of an edge, `other` being the
 * direction of the edge that crosses it; within the angle `slack` of a face both do */
GC_FN int gc_wedge_signs_within(const gc_wedge *wedge, gc_vec other, gc_real slack)
{
    int signs = 3;
    slack *= gc_most(other);
    if (wedge->faces > 0) {
        gc_real rise = gc_dot(other, wedge->first);
        signs &= (rise <= slack ? 1 : 0) | (rise >= -slack ? 2 : 0);
    }
    if (wedge->faces > 1) {
        gc_real rise = gc_dot(other, wedge->second);
        signs &= (rise >= -slack ? 1 : 0) | (rise <= slack ? 2 : 0);
    }
    return signs;
}

GC_FN int gc_wedge_signs(const gc_wedge *wedge, gc_vec other)
{
    return gc_wedge_signs_within(wedge, other, GC_FACING_ROUNDING);
}

/* Does the plane of a face at an edge through c stand between it and the edge a-b that moves by v, at least `least` before that plane and
 * not towards it? Then the two never meet. */
GC_FN int gc_wedge_parts(const gc_wedge *wedge, gc_vec c, gc_vec a, gc_vec b, gc_vec v, gc_real least)
{
    for (int k = 0; k < wedge->faces; ++k) {
        gc_vec n = k ? wedge->second : wedge->first;
        gc_real at_a = gc_dot(n, gc_sub(a, c)), at_b = gc_dot(n, gc_sub(b, c)), rise = gc_dot(n, v);
        if (rise >= GC_R(0.0) && at_a >= least && at_b >= least) return 1;
        if (wedge->faces == 1 && rise <= GC_R(0.0) && at_a <= -least && at_b <= -least) return 1; /* behind a sheet */
    }
    return 0;
}

/* What two crossing edges are to each other, along u and w: n = u x w, side of the mover's and the still edge's line, and how
 * fast the translation v carries the first along n. */
typedef struct {
    gc_vec n;
    gc_real side, rate;
} gc_crossed;

GC_FN gc_crossed gc_crossed_of(gc_vec a, gc_vec u, gc_vec v, gc_vec c, gc_vec w)
{
    gc_crossed x;
    x.n = gc_cross(u, w);
    x.side = gc_dot(gc_sub(c, a), x.n);
    x.rate = gc_dot(v, x.n);
    return x;
}

/* the same in twice the digits, rounded at the end */
GC_LARGE gc_crossed gc_crossed_twofold(gc_vec a, gc_vec b, gc_vec v, gc_vec c, gc_vec d)
{
    gc_two_vec n = gc_two_cross(gc_two_from_to(a, b), gc_two_from_to(c, d));
    gc_crossed x;
    x.n = gc_two_rounded(n);
    x.side = gc_two_dot(gc_two_from_to(a, c), n).hi;
    x.rate = gc_two_dot(gc_two_vec_of(v), n).hi;
    return x;
}

/* outwards as a sign of n: the only one of `signs`, or of both the one that is approached */
GC_FN gc_real gc_crossed_sign(gc_crossed x, int signs)
{
    if (signs == 3) return x.rate > GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    return signs == 1 ? GC_R(1.0) : GC_R(-1.0);
}

/* The fraction of a crossing, outwards being sign * n: 1 if it is approached and reached within `most`. zone and behind:
 * thickness of the zone and the most that the start may be behind, times the length of n. */
GC_FN int gc_crossed_reached(gc_crossed x, gc_real sign, gc_real zone, gc_real behind, gc_real most, gc_real *fraction)
{
    gc_real k = -sign * x.rate, distance = -sign * x.side, left = distance - zone;
    if (!(k > GC_R(0.0)) || !(distance >= -behind)) return 0;
    *fraction = left > GC_R(0.0) ? left / k : GC_R(0.0);
    return *fraction <= most;
}

/* The mover's edge a-b, moved by v, and the still edge c-d: 1, the fraction at which their lines are `expel` apart along the
 * normal of both, and that normal (unit, from the still edge to the mover's). 0: not within `most`, not approached, behind,
 * beside each other's ends, or such that no normal leads away from both wedges. Edges that part by less than
 * GC_ZONE_PARALLEL of the zone over their length are parallel: what they hit, their ends hit. Edges that both signs would do
 * for, such as rods, have no behind: once past each other they part. Nor does a start in the zone count from which the one slides or
 * goes out over a face at the other (gc_wedge_parts). */
GC_FN int gc_edge_edge_translation(
    gc_vec a,
    gc_vec b,
    gc_vec v,
    gc_vec c,
    gc_vec d,
    const gc_wedge *of_mover,
    const gc_wedge *of_still,
    const gc_zone *zone,
    gc_real most,
    gc_real *fraction,
    gc_vec *normal)
{
    gc_vec u = gc_sub(b, a), w = gc_sub(d, c), back = gc_scale(v, GC_R(-1.0));
    int signs = gc_wedge_signs(of_still, u) & gc_wedge_signs(of_mover, w);
    gc_real sign, length, doubt, thick, lateral = zone->lateral;
    gc_crossed x;
    gc_passing passing;
    if (!signs) return 0;
    x = gc_crossed_of(a, u, v, c, w);
    length = gc_norm(x.n);
    doubt = gc_side_doubt(gc_most(gc_sub(c, a)) + gc_most(v), u, w);
    sign = gc_crossed_sign(x, signs);
    thick = zone->expel * length;
    if (signs != 3 || GC_ABS(x.rate) > doubt) {
        if (-sign * x.rate < -doubt || sign * x.side > thick + doubt) return 0;
        if (-sign * x.side - thick > -sign * x.rate * most + doubt + doubt) return 0;
    }
    if (!(doubt <= GC_ZONE_SURE * thick)) {
        x = gc_crossed_twofold(a, b, v, c, d);
        length = gc_norm(x.n);
        sign = gc_crossed_sign(x, signs);
        thick = zone->expel * length;
        doubt = GC_R(0.0);
    }
    if (!(length > GC_ZONE_PARALLEL * zone->expel * GC_MAX(gc_most(u), gc_most(w)))) return 0;
    if (!gc_crossed_reached(x, sign, thick, signs == 3 ? doubt : zone->behind * length, most, fraction)) return 0;
    *normal = gc_scale(x.n, sign / length);
    if (!gc_swept_volume_within(a, v, c, d, sign, lateral) || !gc_swept_volume_within(b, v, c, d, -sign, lateral)) return 0;
    if (!gc_swept_volume_within(c, back, a, b, sign, lateral) || !gc_swept_volume_within(d, back, a, b, -sign, lateral))
        return 0;
    passing = gc_passing_whole();
    gc_passing_cut(&passing, a, v, *normal, c, d, sign, zone->expel, lateral);
    gc_passing_cut(&passing, b, v, *normal, c, d, -sign, zone->expel, lateral);
    gc_passing_cut(&passing, c, back, *normal, a, b, -sign, zone->expel, lateral);
    gc_passing_cut(&passing, d, back, *normal, a, b, sign, zone->expel, lateral);
    if (!gc_passing_stop(&passing, fraction) || !(*fraction <= most)) return 0;
    if (*fraction == GC_R(0.0) && zone->expel > GC_R(0.0)) {
        gc_real least = gc_clear_by(-sign * x.side / length, lateral, zone->doubt);
        if (gc_wedge_parts(of_still, c, a, b, v, least) || gc_wedge_parts(of_mover, a, c, d, back, least)) return 0;
    }
    return 1;
}

#endif
