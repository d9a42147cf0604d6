/* gc_rest.h: whether a sphere that touches an edge or a vertex lies on a face or an edge there.
 * needs: sweep/gc_lens.h
 *
 * What lies on a floor, sunk in by rounding, is within its radius of the floor's seams before it comes to them. It goes along, and
 * nothing of the floor is before it: an edge counts only for whom it is the nearest of the faces there, a vertex of the
 * edges there. That is asked of who lies on such a face or edge, sunk by GC_SWEEP_SUNK slacks at most: all others touch what is
 * nearest first anyway. Faces and edges are touched by who comes onto them sunk as far as that, so that nobody slides into
 * the next one (gc_touch_face, gc_touch_edge).
 */
#ifndef GC_REST_H
#define GC_REST_H

GC_FN int gc_rest_same(gc_vec a, gc_vec b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* a distance at which one lies on something, and no more than rounding sunk into it */
GC_FN int gc_rest_lies(const gc_lens *v, gc_real square)
{
    gc_real near = GC_MAX(v->radius - GC_SWEEP_SUNK * v->slack, GC_R(0.0));
    return square >= near * near;
}

/* Is the centre `at` over the inner side of the border of a face from corner x to y, and lies on the face? */
GC_FN int gc_rest_over(const gc_lens *v, gc_vec normal, gc_vec x, gc_vec y, gc_vec at)
{
    gc_vec side = gc_cross(normal, gc_lens_vector(v, gc_sub(y, x)));
    gc_real beside, d;
    at = gc_sub(at, gc_lens_point(v, x));
    beside = gc_dot(side, at);
    d = gc_dot(normal, at);
    return beside > GC_R(0.0) && beside * beside > GC_R(16.0) * v->slack * v->slack * gc_dot(side, side)
           && gc_rest_lies(v, d * d);
}

/* Is the centre `at` beside corner x of an edge to y, over the edge, and lies on it? */
GC_FN int gc_rest_along(const gc_lens *v, gc_vec x, gc_vec y, gc_vec at)
{
    gc_vec e = gc_lens_vector(v, gc_sub(y, x));
    gc_real along, ee = gc_dot(e, e);
    at = gc_sub(at, gc_lens_point(v, x));
    along = gc_dot(e, at);
    return along > GC_R(0.0) && along * along > GC_R(16.0) * v->slack * v->slack * ee
           && gc_rest_lies(v, gc_dot(at, at) - along * along / ee);
}

/* Does a sphere whose centre is `at` lie on one of these faces, those around the edge from a to b, or on an edge of theirs that ends at
 * vertex a = b? Then what was touched is not the nearest. */
GC_LARGE int gc_rests(
    const gc_course *w,
    const gc_ground *g,
    const gc_lens *v,
    gc_vec a,
    gc_vec b,
    gc_vec at,
    int begin,
    int end)
{
    int tip = gc_rest_same(a, b);
    if (v->thin) return 0;
    for (int k = begin; k < end; ++k) {
        int face = w->ints[g->around + k];
        int corner = gc_ground_begin(w, g, face, GC_GROUND_FACE_loop) + 1;
        int last = gc_ground_begin(w, g, face + 1, GC_GROUND_FACE_loop);
        gc_vec n = gc_lens_normal(v, gc_ground_plane(w, g, face)), x = gc_ground_corner(w, g, last - 1);
        if (!g->two_sided && gc_dot(n, gc_sub(at, gc_lens_point(v, x))) < -v->slack) continue;
        for (int j = corner; j < last; ++j) {
            gc_vec y = gc_ground_corner(w, g, j);
            if (tip) {
                if (gc_rest_same(x, a) && gc_rest_along(v, x, y, at)) return 1;
                if (gc_rest_same(y, a) && gc_rest_along(v, y, x, at)) return 1;
            } else if ((gc_rest_same(x, a) && gc_rest_same(y, b)) || (gc_rest_same(x, b) && gc_rest_same(y, a))) {
                if (gc_rest_over(v, n, x, y, at)) return 1;
            }
            x = y;
        }
    }
    return 0;
}

#endif
