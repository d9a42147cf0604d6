/* gc_deep_features.h: a vertex behind a face, and two edges that are past each other: how deep, at q's time.
 * needs: clearance/gc_clear_features.h narrow_phase/contact/gc_properness.h
 *
 * Such a pair counts if it is proper: all edges at the vertex leave to the outside of the face, or the normal leads out of both bodies
 * at both edges; and if its points are in both features (docs/decisions/0114). Of two convex bodies the least of these depths is the least
 * translation that takes them apart.
 */
#ifndef GC_DEEP_FEATURES_H
#define GC_DEEP_FEATURES_H

typedef struct {
    gc_real depth;      /* length between both points */
    gc_real at_a, at_b; /* of edges: how far along them the points are, 0 to 1 */
    gc_vec on_a, on_b;  /* in A's axes */
    gc_vec normal;      /* from A to B: moved by the depth along it B only touches there */
    gc_real limit;      /* of a region: two features that are deeper are none of it */
} gc_deep;

/* Vertex v of the other body behind face f of A (side 0) or B, by no more than `most`? */
GC_LARGE int gc_deep_vertex_face(const gc_clear *q, int side, int f, int v, gc_real most, gc_deep *o)
{
    const gc_clear_side *s = side ? &q->b : &q->a, *other = side ? &q->a : &q->b;
    gc_vec z = side ? gc_clear_vertex_a(q, v) : gc_clear_vertex_b(q, v), x = z, u, n;
    GC_GLOBAL const gc_real *plane = q->t.planes + 4 * (s->mesh.face0 + f);
    gc_real height, give = GC_TOL_INSIDE * q->size;
    int j = q->t.topology[s->mesh.face_start + f], end = q->t.topology[s->mesh.face_start + f + 1];
    if (side) x = gc_rotate_back(q->now.m, gc_sub(z, q->now.q));
    n = gc_make(plane[0], plane[1], plane[2]);
    height = gc_dot(n, x) + plane[3] * q->shrink;
    if (height > q->touch || -height > most) return 0;
    u = gc_clear_corner(q, s, end - 1, n, plane[3] * q->shrink);
    for (; j < end; ++j) {
        gc_vec next = gc_clear_corner(q, s, j, n, plane[3] * q->shrink), e = gc_sub(next, u);
        if (gc_dot(gc_cross(e, gc_sub(x, u)), n) < -give * gc_clear_far(e)) return 0;
        u = next;
    }
    u = side ? gc_rotate(q->now.m, n) : gc_rotate_back(q->now.m, n);
    if (!gc_is_point(&other->mesh) && gc_vertex_properness(&q->t, &other->mesh, v, u) < -GC_TOL_INSIDE) return 0;
    x = gc_sub(x, gc_scale(n, height));
    o->depth = GC_MAX(-height, GC_R(0.0));
    o->at_a = o->at_b = o->limit = GC_R(0.0);
    o->on_a = side ? z : x;
    o->on_b = side ? gc_add(gc_rotate(q->now.m, x), q->now.q) : z;
    o->normal = side ? gc_scale(u, GC_R(-1.0)) : n;
    return 1;
}

/* edge a of A and edge b of B past each other, by no more than `most`? */
GC_LARGE int gc_deep_edges(const gc_clear *q, int a, int b, gc_real most, gc_deep *o)
{
    const gc_mesh *ma = &q->a.mesh, *mb = &q->b.mesh;
    GC_GLOBAL const int *ends_a = q->t.topology + ma->edges + 2 * a, *ends_b = q->t.topology + mb->edges + 2 * b;
    gc_vec p = gc_clear_vertex_a(q, ends_a[0]), d = gc_sub(gc_clear_vertex_a(q, ends_a[1]), p);
    gc_vec r = gc_clear_vertex_b(q, ends_b[0]), e = gc_sub(gc_clear_vertex_b(q, ends_b[1]), r), c = gc_cross(d, e),
           way = gc_sub(r, p), n;
    gc_real square = gc_dot(c, c), past = gc_dot(c, way), give = GC_TOL_INSIDE * q->size, far_d = gc_clear_far(d),
            far_e = gc_clear_far(e), t, u, gap, plus = GC_R(2.0), minus = GC_R(2.0);
    if (past * past > most * most * square) return 0;
    if (square <= GC_TOL_PARALLEL * GC_TOL_PARALLEL * (far_d * far_d) * (far_e * far_e)) return 0;
    t = gc_dot(gc_cross(way, e), c) / square;
    u = gc_dot(gc_cross(way, d), c) / square;
    if (t < -(give / far_d) || t > GC_R(1.0) + give / far_d) return 0;
    if (u < -(give / far_e) || u > GC_R(1.0) + give / far_e) return 0;
    if ((q->t.topology[ma->edge_flags + a] | q->t.topology[mb->edge_flags + b]) & GC_EDGE_REFLEX) return 0;
    n = gc_scale(c, GC_R(1.0) / GC_SQRT(square));
    gap = past / GC_SQRT(square);
    gc_edge_terms(&q->t, ma, a, n, gc_scale(d, GC_R(1.0) / far_d), GC_R(1.0), &plus, &minus);
    gc_edge_terms(
        &q->t, mb, b, gc_rotate_back(q->now.m, n), gc_rotate_back(q->now.m, gc_scale(e, GC_R(1.0) / far_e)), GC_R(-1.0),
        &plus, &minus);
    if (gap <= q->touch && plus >= -GC_TOL_INSIDE) o->normal = n;
    else if (gap >= -q->touch && minus >= -GC_TOL_INSIDE) {
        o->normal = gc_scale(n, GC_R(-1.0));
        gap = -gap;
    } else return 0;
    o->depth = GC_MAX(-gap, GC_R(0.0));
    o->limit = GC_R(0.0);
    o->at_a = GC_MIN(GC_MAX(t, GC_R(0.0)), GC_R(1.0));
    o->at_b = GC_MIN(GC_MAX(u, GC_R(0.0)), GC_R(1.0));
    o->on_a = gc_add(p, gc_scale(d, o->at_a));
    o->on_b = gc_add(r, gc_scale(e, o->at_b));
    return 1;
}

/* ---- nodes ---- */

/* a node: the ball about it, its normal, in A's axes and leading from A to B, and the cone about it of the normals that a pair may
 * have */
typedef struct {
    gc_vec c, n;
    gc_real reach;
    gc_real cos, sin; /* of the cone's half angle; 0: it is everything */
} gc_deep_node;

/* convex: a normal is between those of the faces there */
GC_FN gc_deep_node gc_deep_node_of(const gc_clear *q, int side, int node, int convex)
{
    const gc_clear_side *s = side ? &q->b : &q->a;
    GC_GLOBAL const gc_raster *from = s->nodes + GC_NODE_STRIDE * (s->start[gc_node_level(node)] + gc_node_place(node));
    gc_real unit = GC_R(0.5) * q->shrink;
    gc_deep_node o;
    o.c = gc_make(
        unit * ((gc_real)from[GC_NODE_low] + (gc_real)from[GC_NODE_high]),
        unit * ((gc_real)from[GC_NODE_low + 1] + (gc_real)from[GC_NODE_high + 1]),
        unit * ((gc_real)from[GC_NODE_low + 2] + (gc_real)from[GC_NODE_high + 2]));
    o.n = gc_make((gc_real)from[GC_NODE_normal], (gc_real)from[GC_NODE_normal + 1], (gc_real)from[GC_NODE_normal + 2]);
    o.reach = (gc_real)from[GC_NODE_reach] * q->shrink + s->pad;
    o.cos = (gc_real)from[convex ? GC_NODE_ring : GC_NODE_cone];
    o.sin = o.cos > GC_R(0.0) ? GC_SQRT(GC_R(1.0) - o.cos * o.cos) : GC_R(0.0);
    if (side) {
        o.c = gc_add(gc_rotate(q->now.m, o.c), q->now.q);
        o.n = gc_rotate(q->now.m, gc_scale(o.n, GC_R(-1.0)));
    }
    return o;
}

/* Is a direction within a node's cone, widened by an angle? It is `far` long and leads so far along the node's normal. */
GC_FN int gc_deep_within(const gc_deep_node *o, gc_real along, gc_real far, gc_real cos, gc_real sin)
{
    return !(o->cos > GC_R(0.0)) || along >= far * (o->cos * cos - o->sin * sin - GC_DEEP_CONE);
}

/* Can what is in two nodes be such a pair, and no deeper than `most`? least: no such pair of them is less deep. A pair's normal is within
 * the cones of both (docs/decisions/0049), and its points are apart against it, by its depth. */
GC_FN int gc_deep_may(const gc_deep_node *x, const gc_deep_node *y, gc_real most, gc_real *least)
{
    gc_vec way = gc_sub(x->c, y->c);
    gc_real reach = x->reach + y->reach, square = gc_dot(way, way), limit = most + reach, far, s, c;
    *least = GC_R(0.0);
    if (square > limit * limit) return 0;
    if (x->cos > GC_R(0.0) && !gc_deep_within(y, gc_dot(x->n, y->n), GC_R(1.0), x->cos, x->sin)) return 0;
    if (square <= reach * reach) return 1;
    far = GC_SQRT(square);
    *least = far - reach;
    s = reach / far;
    c = GC_SQRT(GC_R(1.0) - s * s);
    return gc_deep_within(x, gc_dot(x->n, way), far, c, s) && gc_deep_within(y, gc_dot(y->n, way), far, c, s);
}

/* two nodes to be looked at, how large they are, and what their pairs are no less deep than */
typedef struct {
    int a, b;
    gc_real reach_a, reach_b, least;
} gc_deep_two;

/* Both halves of the larger go onto the stack of n, if they can hold such a pair, the one to be looked at first on top; returns how
 * many there are then. */
GC_FN int gc_deep_divide(const gc_clear *q, const gc_deep_two *o, int convex, gc_real most, gc_deep_two *stack, int n)
{
    int level_a = gc_node_level(o->a), level_b = gc_node_level(o->b), k, before = n;
    int of_a = level_a && (!level_b || o->reach_a >= o->reach_b), level = (of_a ? level_a : level_b) - 1;
    gc_deep_node whole = of_a ? gc_deep_node_of(q, 1, o->b, convex) : gc_deep_node_of(q, 0, o->a, convex);
    for (k = 1; k >= 0; --k) {
        int place = 2 * gc_node_place(of_a ? o->a : o->b) + k, child = gc_node_of(level, place);
        gc_deep_two to = *o;
        gc_deep_node part;
        if (place >= ((of_a ? q->a.faces : q->b.faces) + (1 << level) - 1) >> level) continue;
        part = gc_deep_node_of(q, !of_a, child, convex);
        if (of_a) {
            to.a = child;
            to.reach_a = part.reach;
        } else {
            to.b = child;
            to.reach_b = part.reach;
        }
        if (of_a ? gc_deep_may(&part, &whole, most, &to.least) : gc_deep_may(&whole, &part, most, &to.least))
            stack[n++] = to;
    }
    if (n == before + 2 && stack[before].least < stack[before + 1].least) {
        gc_deep_two swapped = stack[before];
        stack[before] = stack[before + 1];
        stack[before + 1] = swapped;
    }
    return n;
}

/* ---- whole bodies ---- */

/* How far B has to move along n, of A's axes, so that all of it is beyond all of A; above `most` it is not told how far. a, b: the
 * outermost vertices, first those to begin with. */
GC_LARGE gc_real gc_whole_along(const gc_clear *q, gc_vec n, gc_real most, int *a, int *b)
{
    gc_vec n_a = gc_scale(n, q->shrink), n_b = gc_scale(gc_rotate_back(q->now.m, n), q->shrink);
    gc_real off = gc_dot(n, q->now.q), top = gc_dot(n_a, gc_vertex(&q->t, &q->a.mesh, *a)),
            bottom = gc_dot(n_b, gc_vertex(&q->t, &q->b.mesh, *b));
    int v, nv = GC_MAX(q->a.mesh.nv, q->b.mesh.nv);
    for (v = 0; v < nv && top - bottom - off <= most; ++v) {
        if (v < q->a.mesh.nv) {
            gc_real x = gc_dot(n_a, gc_vertex(&q->t, &q->a.mesh, v));
            if (x > top) {
                top = x;
                *a = v;
            }
        }
        if (v < q->b.mesh.nv) {
            gc_real x = gc_dot(n_b, gc_vertex(&q->t, &q->b.mesh, v));
            if (x < bottom) {
                bottom = x;
                *b = v;
            }
        }
    }
    return top - bottom - off;
}

/* how far the bodies have to move along the normal of a face, so that they are apart whatever overlaps */
GC_LARGE void gc_whole_apart(const gc_clear *q, gc_deep *o)
{
    int best[2] = {0, 0}, side, f;
    o->depth = GC_BVH_FAR;
    o->normal = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    for (side = 0; side < 2; ++side) {
        const gc_mesh *m = side ? &q->b.mesh : &q->a.mesh;
        for (f = 0; f < m->nf && !gc_is_thin(m); ++f) {
            gc_vec n = gc_normal(&q->t, m, f);
            int a = best[0], b = best[1];
            gc_real depth;
            if (side) n = gc_rotate(q->now.m, gc_scale(n, GC_R(-1.0)));
            depth = gc_whole_along(q, n, o->depth, &a, &b);
            if (depth >= o->depth) continue;
            o->depth = depth;
            o->normal = n;
            best[0] = a;
            best[1] = b;
        }
    }
    o->on_a = gc_clear_vertex_a(q, best[0]);
    o->on_b = gc_clear_vertex_b(q, best[1]);
}

#endif
