/* gc_properness.h: how properly two features face each other (Buss, section 5; reflex edges: docs/conventions.md).
 * needs: common/gc_motion.h
 */
#ifndef GC_PROPERNESS_H
#define GC_PROPERNESS_H

/* Is direction p (across the edge e_m, pointing away from n) inside the solid at edge `edge`? Convex or border: behind
 * all faces; reflex: behind any. */
GC_FN int gc_behind_edge(const gc_tables *t, const gc_mesh *m, int edge, gc_vec p)
{
    int i = t->topology[m->edge_face_start + edge], end = t->topology[m->edge_face_start + edge + 1];
    int reflex = t->topology[m->edge_flags + edge] & GC_EDGE_REFLEX;
    int any = 0, all = i < end;
    for (; i < end; ++i) {
        int behind = gc_dot(gc_normal(t, m, t->topology[m->edge_faces + i] >> 1), p) < GC_R(0.0);
        any = any || behind;
        all = all && behind;
    }
    return reflex ? any : all;
}

/* min(e_i . n) over the unit edges leaving the vertex; n is in the vertex's own mesh axes and points to its far side.
 * A pit (the solid fills the near side although all edges leave to the far side) gets the value's negative. */
GC_FN gc_real gc_vertex_properness(const gc_tables *t, const gc_mesh *m, int vertex, gc_vec n)
{
    int i = t->topology[m->vertex_edge_start + vertex], end = t->topology[m->vertex_edge_start + vertex + 1];
    gc_vec x = gc_vertex(t, m, vertex), least_dir = n;
    gc_real least = GC_R(2.0);
    int least_edge = -1;
    for (; i < end; ++i) {
        int edge = t->topology[m->vertex_edges + i] >> 1;
        int other = t->topology[m->edges + 2 * edge + 1 - (t->topology[m->vertex_edges + i] & 1)];
        gc_vec d = gc_sub(gc_vertex(t, m, other), x);
        gc_real value;
        d = gc_scale(d, GC_R(1.0) / gc_norm(d));
        value = gc_dot(d, n);
        if (value < least) {
            least = value;
            least_dir = d;
            least_edge = edge;
        }
    }
    if (least_edge < 0 || least < GC_R(-1.0)) return GC_R(-1.0); /* not beyond -1 by rounding: -1 reports all */
    if (least > GC_R(0.0) && (t->topology[m->vertex_flags + vertex] & GC_VERTEX_REFLEX)
        && gc_behind_edge(t, m, least_edge, gc_sub(gc_scale(least_dir, least), n)))
        return -least;
    return least;
}

/* Least term of formula (7) for one edge and both signs of n = d x other: for the left face of an edge d,
 * (n x d) . normal = other_across . normal. `sign` is +1 for A's edge, -1 for B's. Directions are unit, in mesh axes. */
GC_FN void gc_edge_terms(
    const gc_tables *t,
    const gc_mesh *m,
    int edge,
    gc_vec n,
    gc_vec d,
    gc_real sign,
    gc_real *plus,
    gc_real *minus)
{
    int i = t->topology[m->edge_face_start + edge], end = t->topology[m->edge_face_start + edge + 1];
    gc_vec side = gc_cross(n, d);
    for (; i < end; ++i) {
        int entry = t->topology[m->edge_faces + i];
        gc_real value = gc_dot(side, gc_normal(t, m, entry >> 1)) * sign;
        if (entry & 1) value = -value;
        *plus = value < *plus ? value : *plus;
        *minus = -value < *minus ? -value : *minus;
    }
}

#endif
