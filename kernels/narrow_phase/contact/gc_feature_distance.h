/* gc_feature_distance.h: how far apart features of two bodies are at one time.
 * needs: common/gc_math.h
 */
#ifndef GC_FEATURE_DISTANCE_H
#define GC_FEATURE_DISTANCE_H

/* of a point x, seen from the low end of an edge along e */
GC_FN gc_real gc_point_edge(gc_vec x, gc_vec e)
{
    gc_real e2 = gc_dot(e, e), u = e2 > GC_R(0.0) ? gc_dot(x, e) / e2 : e2;
    u = GC_MIN(GC_MAX(u, GC_R(0.0)), GC_R(1.0));
    return gc_norm(gc_sub(x, gc_scale(e, u)));
}

/* Of two edges, one from the origin along d, the other from x along e. Where the lines are nearest within both, or else at an end. */
GC_LARGE gc_real gc_edges_apart(gc_vec d, gc_vec x, gc_vec e)
{
    gc_vec n = gc_cross(d, e), none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), back = gc_sub(none, x);
    gc_real n2 = gc_dot(n, n), a = gc_dot(gc_cross(x, e), n), b = gc_dot(gc_cross(x, d), n), least, other;
    least = gc_point_edge(x, d);
    other = gc_point_edge(gc_add(x, e), d);
    least = GC_MIN(other, least);
    other = gc_point_edge(back, e);
    least = GC_MIN(other, least);
    other = gc_point_edge(gc_sub(d, x), e);
    least = GC_MIN(other, least);
    if (n2 > GC_R(0.0) && a >= GC_R(0.0) && a <= n2 && b >= GC_R(0.0) && b <= n2) {
        other = GC_ABS(gc_dot(x, n)) / GC_SQRT(n2);
        least = GC_MIN(other, least);
    }
    return least;
}

#endif
