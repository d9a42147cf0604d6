/* gc_equations.h: the contact equations of pairs of features, and the tests at a given time.
 * needs: narrow_phase/contact/gc_roots.h narrow_phase/contact/gc_body_moment.h
 *
 * Vertex-face has one form for FV and VF: the face's body is held at its half-way pose and the vertex flows, forwards for a
 * vertex of B (way = +1), backwards for a vertex of A (way = -1). Edge-edge is the product of the two Pluecker lines, (P -
 * Q(s)) . (d x e(s)) with A's edge P, d and B's Q, e. Everything is in the screw frame, in scaled lengths.
 */
#ifndef GC_EQUATIONS_H
#define GC_EQUATIONS_H

/* ---- vertex-face -------------------------------------------------------------------------------------------- */

/* distance of the moving point x (half-way position) from the plane n.p + d = 0 at time way*s */
GC_FN gc_curve gc_point_plane(const gc_pair *p, gc_vec n, gc_real d, gc_vec x, gc_real way)
{
    gc_curve c;
    const gc_screw *k = gc_screw_of(p);
    gc_real out = k->w + k->theta * x.z, in = k->theta * x.x;
    c.theta = k->theta;
    c.p0 = gc_dot(n, x) + d;
    c.p1 = way * (n.x * out - n.z * in);
    c.p2 = -k->theta * (n.x * in + n.z * out);
    c.p3 = way * n.y * k->g;
    c.q1 = GC_R(0.0);
    c.q2 = GC_R(0.0);
#if GC_BODY_MOTION
    c.own.form = GC_CURVE_SCREW;
    if (gc_each_moves(p)) {
        c.own = gc_body_curve_of(p, way > GC_R(0.0) ? GC_CURVE_PLANE_A : GC_CURVE_PLANE_B, n, x, x, n);
        c.own.d = d;
    }
#endif
    return c;
}

/* Least signed distance of x (centred mesh coordinates) from the borders of face f, inside positive, in units of 1/shrink. */
GC_FN gc_real gc_inside_face(const gc_tables *t, const gc_mesh *m, int f, gc_vec x, gc_real shrink)
{
    int j = t->topology[m->face_start + f], end = t->topology[m->face_start + f + 1];
    gc_vec n = gc_normal(t, m, f);
    gc_vec a = gc_vertex(t, m, t->topology[m->face_vertices + end - 1]);
    gc_real least = GC_R(1e30);
    for (; j < end; ++j) {
        gc_vec b = gc_vertex(t, m, t->topology[m->face_vertices + j]);
        gc_vec side = gc_scale(gc_sub(b, a), shrink);
        gc_real dist = gc_dot(gc_cross(side, gc_scale(gc_sub(x, a), shrink)), n) / gc_norm(side);
        least = dist < least ? dist : least;
        a = b;
    }
    return least;
}

/* ---- edge-edge ---------------------------------------------------------------------------------------------- */

/* (p - q(s)) . (d x e(s)): A's line through p along d, B's through q along e at half-way. All terms without a turn in them
 * take the same d x e: where the edges are nearly parallel its rounding is large beside it, but tilts the plane in which
 * they are compared only, and that does not move the root. (Each moment with a rounding of its own moved it by 1e-8
 * lengths over a way of 150, tilted by 5e-7.) */
GC_FN gc_curve gc_line_line(const gc_pair *of, gc_vec d, gc_vec p, gc_vec q, gc_vec e)
{
    gc_curve c;
    const gc_screw *k = gc_screw_of(of);
    gc_real th = k->theta, w = k->w, g = k->g;
    gc_vec m = gc_cross(q, e), moment_a = gc_cross(p, d), n = gc_cross(d, e);
    c.theta = th;
    c.p0 = gc_dot(gc_sub(p, q), n);
    c.p1 = th * (d.x * m.z - d.z * m.x + e.z * moment_a.x - e.x * moment_a.z) - w * n.x;
    c.p2 = th * (w * (d.x * e.y + d.y * e.x) - th * (d.x * m.x + d.z * m.z + e.x * moment_a.x + e.z * moment_a.z));
    c.p3 = -g * n.y;
    c.q1 = -g * th * (d.x * e.x + d.z * e.z);
    c.q2 = g * th * th * (d.z * e.x - d.x * e.z);
#if GC_BODY_MOTION
    c.own.form = GC_CURVE_SCREW;
    if (gc_each_moves(of)) {
        c.own = gc_body_curve_of(of, GC_CURVE_LINES, d, p, q, e);
        c.own.unit = gc_norm(d) * gc_norm(e);
    }
#endif
    return c;
}

/* A's edge p + alpha d, B's edge q + beta e at half-way, lengths |d|, |e| */
typedef struct {
    gc_vec p, d, q, e;
    gc_real length_a, length_b;
} gc_edges;

GC_FN void gc_edge_load(const gc_tables *t, const gc_mesh *m, int edge, gc_vec *low, gc_vec *high)
{
    *low = gc_vertex(t, m, t->topology[m->edges + 2 * edge]);
    *high = gc_vertex(t, m, t->topology[m->edges + 2 * edge + 1]);
}

GC_FN gc_edges gc_edges_load(const gc_tables *t, const gc_pair *p, int edge_a, int edge_b)
{
    const gc_screw *k = gc_screw_of(p);
    gc_edges r;
    gc_vec low, high;
    gc_real shrink = k->shrink;
    gc_edge_load(t, gc_mesh_a(p), edge_a, &low, &high);
    r.p = gc_place(k, k->ra, k->ta, low);
    r.d = gc_rotate(k->ra, gc_scale(gc_sub(high, low), shrink));
    gc_edge_load(t, gc_mesh_b(p), edge_b, &low, &high);
    r.q = gc_place(k, k->rb, k->tb, low);
    r.e = gc_rotate(k->rb, gc_scale(gc_sub(high, low), shrink));
    r.length_a = gc_norm(r.d);
    r.length_b = gc_norm(r.e);
    return r;
}

/* where the two lines are closest at s: parameters along the edges, and sine of the angle between them */
typedef struct {
    gc_real alpha, beta, sine;
    gc_vec cross; /* d x e(s) */
} gc_crossing;

GC_FN gc_crossing gc_cross_at(const gc_screw *k, const gc_edges *x, gc_turn r)
{
    gc_crossing c;
    gc_vec q = gc_flow(k, r, x->q), e = gc_turn_vec(k, r, x->e), gap = gc_sub(q, x->p);
    gc_real n2, big = x->length_a * x->length_b;
#if GC_PRECISION == 2
    /* the square of an edge of 1e-18 sizes keeps no digits in float32 */
    gc_vec d = gc_direction(x->d, x->d), u = gc_direction(e, e);
    c.cross = gc_cross(d, u);
    n2 = gc_dot(c.cross, c.cross);
    c.sine = GC_SQRT(n2);
    c.alpha = GC_R(-1.0);
    c.beta = GC_R(-1.0);
    if (c.sine >= GC_TOL_PARALLEL) {
        c.alpha = gc_dot(gc_cross(gap, u), c.cross) / n2 / x->length_a;
        c.beta = gc_dot(gc_cross(gap, d), c.cross) / n2 / x->length_b;
    }
    c.cross = gc_scale(c.cross, big);
    return c;
#else
    c.cross = gc_cross(x->d, e);
    n2 = gc_dot(c.cross, c.cross);
    c.sine = GC_SQRT(n2) / big;
    if (c.sine < GC_TOL_PARALLEL) {
        c.alpha = GC_R(-1.0);
        c.beta = GC_R(-1.0);
        return c;
    }
    c.alpha = gc_dot(gc_cross(gap, e), c.cross) / n2;
    c.beta = gc_dot(gc_cross(gap, x->d), c.cross) / n2;
    return c;
#endif
}

/* the same at s, of a pair's edges, seen in the axes in which x was loaded */
GC_FN gc_crossing gc_cross_when(const gc_tables *t, const gc_pair *p, const gc_edges *x, int ea, int eb, gc_real s)
{
#if GC_BODY_MOTION
    if (gc_each_moves(p)) {
        gc_pair at;
        gc_edges y;
        gc_crossing c;
        gc_pair_at(p, s, &at);
        y = gc_edges_load(t, &at, ea, eb);
        c = gc_cross_at(&at.screw, &y, gc_turn_at(at.screw.theta, GC_R(0.0)));
        c.cross = gc_rotate_back(at.screw.ra, c.cross);
        return c;
    }
#endif
    (void)t;
    (void)ea;
    (void)eb;
    return gc_cross_at(gc_screw_of(p), x, gc_turn_at(gc_screw_of(p)->theta, s));
}

/* ---- facing ------------------------------------------------------------------------------------------------- */

/* Does some face at the feature face the right way? x is the point in the frame the normals are in; way = -1 asks for a
 * backward face (A), +1 for a forward one (B). list..list+count: face numbers, shifted right by `shift`. */
GC_FN int gc_some_face(
    const gc_tables *t,
    const gc_mesh *m,
    const gc_screw *k,
    const gc_real *rot,
    gc_vec x,
    int list,
    int count,
    int shift,
    gc_real way)
{
    int i;
    if (m->two_sided) return count > 0;
    for (i = 0; i < count; ++i) {
        int f = t->topology[list + i] >> shift;
        gc_vec n = gc_rotate(rot, gc_normal(t, m, f));
        if (way * gc_facing(k, n, x) >= -GC_TOL_FACING * k->speed) return 1;
    }
    return 0;
}

GC_FN int gc_edge_faces(
    const gc_tables *t,
    const gc_mesh *m,
    const gc_screw *k,
    const gc_real *rot,
    gc_vec x,
    int edge,
    gc_real way)
{
    int a = t->topology[m->edge_face_start + edge], b = t->topology[m->edge_face_start + edge + 1];
    return gc_some_face(t, m, k, rot, x, m->edge_faces + a, b - a, 1, way);
}

GC_FN int gc_vertex_faces(
    const gc_tables *t,
    const gc_mesh *m,
    const gc_screw *k,
    const gc_real *rot,
    gc_vec x,
    int vertex,
    gc_real way)
{
    int a = t->topology[m->vertex_face_start + vertex], b = t->topology[m->vertex_face_start + vertex + 1];
    return gc_some_face(t, m, k, rot, x, m->vertex_faces + a, b - a, 0, way);
}

#endif
