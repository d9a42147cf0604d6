/* gc_deep_convex.h: the least depth of two convex bodies, by the normals that it may have.
 * needs: clearance/gc_deep_hull.h
 *
 * The depth along a direction n is the difference of the outermost vertices along it, which climbs along edges find. The least is along the normal
 * of a face of either or of an edge of both. So the faces of B, then those of A with the edges that they own, are gone through by
 * their trees; a node is left out if the depth along all directions of its cone is above one that is known. What is left is
 * paired with the features of the other body that have its direction in their cones. Source: docs/decisions/0120.
 */
#ifndef GC_DEEP_CONVEX_H
#define GC_DEEP_CONVEX_H

/* The depth along any unit vector within a cone about n is no less than this, and that along n is `along`, or more. It is that of two points,
 * vertices of both bodies, whatever they are: p, the way from B's to A's, along n at an angle. */
GC_FN gc_real gc_deep_of_points(const gc_clear *q, gc_vec n, gc_real cos, const int *at, gc_real *along)
{
    gc_vec p = gc_sub(gc_clear_vertex_a(q, at[0]), gc_clear_vertex_b(q, at[1]));
    gc_real rest;
    *along = gc_dot(n, p);
    if (!(*along > GC_R(0.0))) return GC_R(0.0);
    rest = GC_SQRT(GC_MAX(gc_dot(p, p) - *along * *along, GC_R(0.0)) * GC_MAX(GC_R(1.0) - cos * cos, GC_R(0.0)));
    return *along * cos - rest - q->touch;
}

/* No pair of features whose normal is in a cone is less deep than this. at: the vertices where climbs begin and end, often enough to leave
 * a cone out as they are; give: the cosine of the cone is less by this. */
GC_FN gc_real gc_deep_bound(const gc_clear *q, gc_deep_list *l, const gc_deep_node *o, gc_real give, gc_deep_normals *s)
{
    gc_real along, bound, cos = o->cos - give;
    gc_vec n;
    if (!(cos > GC_R(0.0))) return GC_R(0.0);
    if (s->known) return gc_deep_within(o, gc_dot(o->n, s->n), GC_R(1.0), s->cos, s->sin) ? GC_R(0.0) : GC_BVH_FAR;
    n = gc_unit(o->n, o->n); /* a node's is float32 */
    bound = gc_deep_of_points(q, n, cos, s->at, &along);
    if (bound > l->most) return bound;
    gc_deep_outermost(q, l, n, s->at);
    return gc_deep_of_points(q, n, cos, s->at, &along);
}

/* a face of A (GC_FV) or of B (GC_VF), or an edge of A (GC_EE), with the features of the other body; one: its ball and cone */
GC_LARGE void gc_deep_beside(const gc_clear *q, gc_deep_list *l, int kind, int feature, const gc_deep_node *one)
{
    int side = kind == GC_VF, n = 1, j, k, stack[GC_CLEAR_HEIGHT + 1];
    const gc_clear_side *s = side ? &q->a : &q->b;
    gc_deep o;
    stack[0] = gc_node_of(s->height, 0);
    while (n > 0) {
        int node = stack[--n], level = gc_node_level(node), face, end;
        gc_deep_node other = gc_deep_node_of(q, !side, node, 1);
        gc_real least;
        if (!gc_deep_may(side ? &other : one, side ? one : &other, l->most, &least) || least > l->most) continue;
        for (k = 1; level && k >= 0; --k) {
            int place = 2 * gc_node_place(node) + k;
            if (place < (s->faces + (1 << (level - 1)) - 1) >> (level - 1)) stack[n++] = gc_node_of(level - 1, place);
        }
        if (level) continue;
        face = gc_clear_face(q, s, gc_node_place(node));
        j = q->t.topology[s->mesh.face_start + face];
        end = q->t.topology[s->mesh.face_start + face + 1];
        end = j + (kind == GC_EE ? gc_clear_sides(&s->mesh, end - j) : gc_clear_vertices(&s->mesh, end - j));
        for (; j < end; ++j) {
            int to = q->t.topology[(kind == GC_EE ? s->mesh.face_edges : s->mesh.face_vertices) + j];
            if (kind == GC_EE) {
                if (gc_clear_owns_edge(q, &s->mesh, face, to) && gc_deep_edges(q, feature, to, l->most, &o))
                    gc_deep_add(q, l, kind, feature, to, &o);
            } else if (gc_clear_owns_vertex(q, &s->mesh, face, to) && gc_deep_vertex_face(q, side, feature, to, l->most, &o))
                gc_deep_add(q, l, kind, side ? to : feature, side ? feature : to, &o);
        }
    }
}

/* a face, and of A the edges that it owns; one: its node */
GC_LARGE void gc_deep_face(const gc_clear *q, gc_deep_list *l, int side, int face, gc_deep_node one, gc_deep_normals *s)
{
    const gc_mesh *m = side ? &q->b.mesh : &q->a.mesh;
    int j = q->t.topology[m->face_start + face], end = q->t.topology[m->face_start + face + 1];
    one.n = gc_normal(&q->t, m, face);
    if (side) one.n = gc_rotate(q->now.m, gc_scale(one.n, GC_R(-1.0)));
    one.cos = GC_R(1.0);
    one.sin = GC_R(0.0);
    if (gc_is_thin(m)) { /* no face; an edge has normals all around */
        one.cos = GC_R(0.0);
        if (!side) gc_deep_beside(q, l, GC_EE, 0, &one);
        return;
    }
    if (gc_deep_bound(q, l, &one, GC_R(0.0), s) <= l->most) gc_deep_beside(q, l, side ? GC_VF : GC_FV, face, &one);
    for (; !side && j < end; ++j) {
        int e = q->t.topology[m->face_edges + j], first;
        gc_vec n;
        if (!gc_clear_owns_edge(q, m, face, e)) continue;
        first = m->edge_faces + q->t.topology[m->edge_face_start + e];
        n = gc_normal(&q->t, m, q->t.topology[first] >> 1);
        one.n = gc_add(n, gc_normal(&q->t, m, q->t.topology[first + 1] >> 1));
        one.n = gc_unit(one.n, one.n);
        one.cos = GC_MIN(gc_dot(one.n, n), GC_R(1.0)); /* of faces back to back it is 0, or noise: everything */
        if (one.cos < GC_DEEP_CONE) one.cos = GC_R(0.0);
        one.sin = one.cos > GC_R(0.0) ? GC_SQRT(GC_R(1.0) - one.cos * one.cos) : GC_R(0.0);
        if (gc_deep_bound(q, l, &one, GC_DEEP_CONE, s) <= l->most) gc_deep_beside(q, l, GC_EE, e, &one);
    }
}

/* May an edge have a normal that counts? It is across it, and between those of its faces. n: the direction of the cone, outwards in the
 * body's axes. */
GC_FN int gc_deep_edge_may(const gc_clear *q, const gc_mesh *m, int edge, gc_vec n, gc_real sin)
{
    GC_GLOBAL const int *ends = q->t.topology + m->edges + 2 * edge;
    gc_vec d = gc_sub(gc_vertex(&q->t, m, ends[1]), gc_vertex(&q->t, m, ends[0]));
    gc_real far = gc_clear_far(d), plus = GC_R(2.0), minus = GC_R(2.0);
    sin += GC_DEEP_ACROSS;
    if (!(GC_ABS(gc_dot(n, d)) <= sin * far)) return 0;
    gc_edge_terms(&q->t, m, edge, n, gc_scale(d, GC_R(1.0) / far), GC_R(1.0), &plus, &minus);
    return plus >= -sin;
}

/* The same of meshes of few features, whose cone is known: all of these, without the trees. */
GC_LARGE void gc_deep_few(const gc_clear *q, gc_deep_list *l, const gc_deep_normals *s)
{
    const gc_mesh *ma = &q->a.mesh, *mb = &q->b.mesh;
    gc_vec in_b = gc_rotate_back(q->now.m, gc_scale(s->n, GC_R(-1.0)));
    int side, i, k, n = 0, edges[GC_DEEP_FEW];
    gc_deep o;
    for (side = 0; side < 2; ++side) {
        const gc_mesh *m = side ? mb : ma, *other = side ? ma : mb;
        for (i = 0; i < m->nf; ++i) {
            if (gc_dot(gc_normal(&q->t, m, i), side ? in_b : s->n) < s->cos - GC_DEEP_CONE) continue;
            for (k = 0; k < other->nv; ++k)
                if (gc_deep_vertex_face(q, side, i, k, l->most, &o))
                    gc_deep_add(q, l, side ? GC_VF : GC_FV, side ? k : i, side ? i : k, &o);
        }
    }
    for (i = 0; i < mb->ne; ++i)
        if (gc_deep_edge_may(q, mb, i, in_b, s->sin)) edges[n++] = i;
    for (i = 0; i < ma->ne && n; ++i) {
        if (!gc_deep_edge_may(q, ma, i, s->n, s->sin)) continue;
        for (k = 0; k < n; ++k)
            if (gc_deep_edges(q, i, edges[k], l->most, &o)) gc_deep_add(q, l, GC_EE, i, edges[k], &o);
    }
}

/* The pairs of features of two convex bodies that may be the least deep. Is it certain? Not if a climb ended early, and led below
 * all that there are. */
GC_LARGE int gc_deep_convex(const gc_clear *q, gc_deep_list *l)
{
    int side, n, k, stack[GC_CLEAR_HEIGHT + 1];
    gc_real least[GC_CLEAR_HEIGHT + 1];
    gc_deep_normals normals;
    l->best = l->most = GC_BVH_FAR;
    gc_deep_hull(q, l, &normals);
    n = GC_MAX(q->a.mesh.ne, q->b.mesh.ne);
    if (normals.known && n <= GC_DEEP_FEW && !gc_is_thin(&q->a.mesh) && !gc_is_thin(&q->b.mesh)) {
        gc_deep_few(q, l, &normals);
        return l->best <= l->most;
    }
    for (side = 1; side >= 0; --side) {
        const gc_clear_side *s = side ? &q->b : &q->a;
        stack[0] = gc_node_of(s->height, 0);
        least[0] = GC_R(0.0);
        n = 1;
        while (n > 0) {
            int node = stack[--n], level = gc_node_level(node), before = n;
            if (least[n] > l->most) continue;
            if (!level) {
                gc_deep_face(
                    q, l, side, gc_clear_face(q, s, gc_node_place(node)), gc_deep_node_of(q, side, node, 1), &normals);
                continue;
            }
            for (k = 1; k >= 0; --k) {
                int place = 2 * gc_node_place(node) + k;
                gc_deep_node o;
                if (place >= (s->faces + (1 << (level - 1)) - 1) >> (level - 1)) continue;
                stack[n] = gc_node_of(level - 1, place);
                o = gc_deep_node_of(q, side, stack[n], 1);
                least[n] = gc_deep_bound(q, l, &o, GC_DEEP_CONE, &normals);
                n += least[n] <= l->most;
            }
            if (n == before + 2 && least[before] < least[before + 1]) {
                gc_real bound = least[before];
                int other = stack[before];
                least[before] = least[before + 1];
                stack[before] = stack[before + 1];
                least[before + 1] = bound;
                stack[before + 1] = other;
            }
        }
    }
    return l->best <= l->most;
}

#endif
