/* gc_internal_edges.h: whether a sphere that touches an edge or a vertex is over an adjacent face or edge, and so nearer to
 * that.
 * needs: sweep/gc_ellipsoid_space.h
 *
 * A sphere that lies on a floor, sunk in, is within its radius of the seams ahead before it reaches them. It slides along,
 * and nothing of the floor is in its way: an edge counts only if it is nearer than the faces there, a vertex only if it is
 * nearer than the faces and edges there. Two depths are distinguished:
 *  - by rounding (GC_SWEEP_SUNK slacks): faces and edges are then touched by a sphere that comes onto them sunk in as deep
 *    as that, so that it does not slide into the next one (gc_touch_face, gc_touch_edge);
 *  - any depth, on a face or an edge that is not approached and that the centre was in front of from the start: the body is
 *    then traversed once more, for faces and edges that the sphere comes onto at any depth from that time on
 *    (gc_traverse_sunk). What is approached was touched before.
 */
#ifndef GC_INTERNAL_EDGES_H
#define GC_INTERNAL_EDGES_H

#define GC_LIES_NOT 0
#define GC_LIES_ON 1   /* sunk by rounding */
#define GC_LIES_SUNK 2 /* by more */

GC_FN int gc_internal_edges_same(gc_vec a, gc_vec b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* a distance at which one lies on something, and no more than rounding sunk into it */
GC_FN int gc_internal_edges_lies(const gc_ellipsoid_space *v, gc_real square)
{
    gc_real near = GC_MAX(v->radius - GC_SWEEP_SUNK * v->slack, GC_R(0.0));
    return square >= near * near;
}

/* Is the centre `at` over the inner side of the border of a face from corner x to y, by more than rounding? */
GC_FN int gc_internal_edges_over(const gc_ellipsoid_space *v, gc_vec normal, gc_vec x, gc_vec y, gc_vec at)
{
    gc_vec side = gc_cross(normal, gc_ellipsoid_space_vector(v, gc_sub(y, x)));
    gc_real beside = gc_dot(side, gc_sub(at, gc_ellipsoid_space_point(v, x)));
    return beside > GC_R(0.0) && beside * beside > GC_R(16.0) * v->slack * v->slack * gc_dot(side, side);
}

/* Is the centre `at` beside corner x of an edge to y, over the edge, and how does it lie on it? */
GC_FN int gc_internal_edges_along(const gc_ellipsoid_space *v, gc_vec x, gc_vec y, gc_vec at)
{
    gc_vec e = gc_ellipsoid_space_vector(v, gc_sub(y, x)), way;
    gc_real along, ee = gc_dot(e, e), falls, square;
    at = gc_sub(at, gc_ellipsoid_space_point(v, x));
    along = gc_dot(e, at);
    if (!(along > GC_R(0.0) && along * along > GC_R(16.0) * v->slack * v->slack * ee)) return GC_LIES_NOT;
    square = gc_dot(at, at) - along * along / ee;
    if (gc_internal_edges_lies(v, square)) return GC_LIES_ON;
    way = gc_sub(v->way, gc_scale(e, gc_dot(e, v->way) / ee));
    falls = gc_dot(at, way);
    at = gc_sub(at, gc_scale(e, along / ee));
    if (gc_dot(at, at) <= v->slack * v->slack) return GC_LIES_SUNK; /* on it: nothing comes nearer */
    return falls < GC_R(0.0) && falls * falls > v->least * square * gc_dot(way, way) ? GC_LIES_NOT : GC_LIES_SUNK;
}

/* How does the centre `at`, so far ahead of the face whose corners are from `corner` to `last`, lie on it or on what is beyond
 * another of its sides? Not at all if it is over it, by more than rounding, and approaches it. (Where sides meet at a right
 * angle, the foot comes onto the face at the moment at which it comes alongside the next side: that is the face's touch.) */
GC_FN int gc_internal_edges_on(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec n,
    gc_vec at,
    gc_real ahead,
    int corner,
    int last)
{
    gc_real nearer = -gc_dot(n, v->way);
    gc_vec x = gc_cast_mesh_corner(w, g, last - 1);
    if (gc_internal_edges_lies(v, ahead * ahead)) return GC_LIES_ON;
    if (ahead < GC_R(0.0)) nearer = -nearer;
    if (!(nearer > GC_R(0.0)) || nearer * nearer <= v->least * v->square) return GC_LIES_SUNK;
    for (int j = corner; j < last; ++j) {
        gc_vec y = gc_cast_mesh_corner(w, g, j);
        if (!gc_internal_edges_over(v, n, x, y, at)) return GC_LIES_SUNK;
        x = y;
    }
    return GC_LIES_NOT;
}

/* How does a sphere whose centre is `at` lie on these faces, those around the edge from a to b, or around vertex a = b, or on an
 * edge of theirs that ends at it? If it does, what was touched is not the nearest. */
GC_LARGE int gc_on_internal_edge(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec a,
    gc_vec b,
    gc_vec at,
    int begin,
    int end)
{
    int tip = gc_internal_edges_same(a, b), found = GC_LIES_NOT;
    if (v->thin) return found;
    for (int k = begin; k < end; ++k) {
        int face = w->ints[g->around + k], lies = GC_LIES_NOT, over = 0;
        int corner = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
        int last = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
        gc_vec n = gc_ellipsoid_space_normal(v, gc_cast_mesh_plane(w, g, face)), x = gc_cast_mesh_corner(w, g, last - 1);
        gc_real ahead = gc_dot(n, gc_sub(at, gc_ellipsoid_space_point(v, x))),
                start = -gc_dot(n, gc_ellipsoid_space_point(v, x));
        int same;
        GC_OF_BODIES(start += gc_dot(n, v->from);)
        same = (g->two_sided && ahead < GC_R(0.0) ? -start : start) >= -v->slack; /* side as at the start */
        if (!g->two_sided && ahead < -v->slack) continue;
        for (int j = corner; j < last; ++j) {
            gc_vec y = gc_cast_mesh_corner(w, g, j);
            if (tip) {
                int from = gc_internal_edges_same(x, a), to = gc_internal_edges_same(y, a);
                if (from || to) {
                    ahead = gc_dot(n, gc_sub(at, gc_ellipsoid_space_point(v, a)));
                    lies = gc_internal_edges_along(v, a, from ? y : x, at);
                    if (lies == GC_LIES_ON) return lies;
                    if (lies == GC_LIES_SUNK && same) found = lies;
                    over += gc_internal_edges_over(v, n, x, y, at);
                }
            } else if (
                (gc_internal_edges_same(x, a) && gc_internal_edges_same(y, b))
                || (gc_internal_edges_same(x, b) && gc_internal_edges_same(y, a))) {
                ahead = gc_dot(n, gc_sub(at, gc_ellipsoid_space_point(v, x)));
                over += 2 * gc_internal_edges_over(v, n, x, y, at);
            }
            x = y;
        }
        if (over < 2) continue; /* of a vertex's two sides both */
        lies = gc_internal_edges_on(w, g, v, n, at, ahead, corner, last);
        if (lies == GC_LIES_ON && !tip) return lies;
        if (lies == GC_LIES_SUNK && same) found = lies;
    }
    return found;
}

#endif
