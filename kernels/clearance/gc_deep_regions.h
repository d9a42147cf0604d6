/* gc_deep_regions.h: where edges of one body go through faces of the other, and what of an overlap hangs together.
 * needs: clearance/gc_clear_features.h
 *
 * Nodes are the cuts of a pair, in the order of body, edge and place, then the vertices of A, then those of B. Each has the lowest
 * node that it is joined to above it. An edge that is not cut joins its ends, which are on the same side of the other body; one that is
 * cut joins what is on either side of a part of it that is inside. Cuts on the line of the same two faces are joined by the host's list.
 * So a vertex is inside, in the region of a cut, if it is joined to one.
 */
#ifndef GC_DEEP_REGIONS_H
#define GC_DEEP_REGIONS_H

/* Where edge e of the other body goes through face f of A (side 0) or B: 0 to 1 along it, or below 0; enters: from its first
 * vertex on. Its ends are on both sides of the plane. */
GC_LARGE gc_real gc_cut_at(const gc_clear *q, int side, int f, int e, int *enters)
{
    const gc_clear_side *s = side ? &q->b : &q->a, *other = side ? &q->a : &q->b;
    GC_GLOBAL const int *ends = q->t.topology + other->mesh.edges + 2 * e;
    gc_vec n = gc_normal(&q->t, &s->mesh, f), p, r, u;
    gc_real offset = q->t.planes[4 * (s->mesh.face0 + f) + 3] * q->shrink, hp, hr, at;
    int j = q->t.topology[s->mesh.face_start + f], end = q->t.topology[s->mesh.face_start + f + 1];
    p = side ? gc_rotate_back(q->now.m, gc_sub(gc_clear_vertex_a(q, ends[0]), q->now.q)) : gc_clear_vertex_b(q, ends[0]);
    r = side ? gc_rotate_back(q->now.m, gc_sub(gc_clear_vertex_a(q, ends[1]), q->now.q)) : gc_clear_vertex_b(q, ends[1]);
    hp = gc_dot(n, p) + offset;
    hr = gc_dot(n, r) + offset;
    if ((hp < GC_R(0.0)) == (hr < GC_R(0.0))) return GC_R(-1.0);
    at = hp / (hp - hr);
    p = gc_add(p, gc_scale(gc_sub(r, p), at));
    u = gc_clear_corner(q, s, end - 1, n, offset);
    for (; j < end; ++j) {
        gc_vec next = gc_clear_corner(q, s, j, n, offset);
        if (gc_dot(gc_cross(gc_sub(next, u), gc_sub(p, u)), n) < GC_R(0.0)) return GC_R(-1.0);
        u = next;
    }
    *enters = hp >= GC_R(0.0);
    return at;
}

/* ---- what hangs together ---- */

/* the nodes of a pair, and its cuts */
typedef struct {
    GC_GLOBAL int *up;
    GC_GLOBAL int *loops;        /* (n,) the first cut of each closed line on which the surfaces meet */
    GC_GLOBAL const int *cuts;   /* (n, GC_PASSAGE_STRIDE) */
    GC_GLOBAL const gc_real *at; /* (n,) */
    int n;
    int vertices[2]; /* the first node of A's, of B's */
} gc_deep_regions;

GC_FN int gc_region_root(const gc_deep_regions *g, int x)
{
    while (g->up[x] != x) {
        g->up[x] = g->up[g->up[x]];
        x = g->up[x];
    }
    return x;
}

GC_FN void gc_region_join(const gc_deep_regions *g, int x, int y)
{
    x = gc_region_root(g, x);
    y = gc_region_root(g, y);
    if (x < y) g->up[y] = x;
    else g->up[x] = y;
}

/* Is cut k one of an edge of a body (0: A, 1: B)? */
GC_FN int gc_cut_is_of(const gc_deep_regions *g, int k, int of, int edge)
{
    GC_GLOBAL const int *cut = g->cuts + GC_PASSAGE_STRIDE * k;
    return k >= 0 && k < g->n && cut[GC_PASSAGE_of] == of && cut[GC_PASSAGE_edge] == edge;
}

GC_FN int gc_cut_enters(const gc_deep_regions *g, int k) { return g->cuts[GC_PASSAGE_STRIDE * k + GC_PASSAGE_enters]; }

/* joins what the edges of a body join; k: the first cut of it; returns the first behind them */
GC_LARGE int gc_region_edges(const gc_deep_regions *g, GC_GLOBAL const int *topology, const gc_mesh *m, int of, int k)
{
    int e;
    for (e = 0; e < m->ne; ++e) {
        int first = g->vertices[of] + topology[m->edges + 2 * e], last = g->vertices[of] + topology[m->edges + 2 * e + 1];
        if (!gc_cut_is_of(g, k, of, e)) {
            gc_region_join(g, first, last);
            continue;
        }
        if (!gc_cut_enters(g, k)) gc_region_join(g, first, k);
        for (; gc_cut_is_of(g, k + 1, of, e); ++k)
            if (gc_cut_enters(g, k) || !gc_cut_enters(g, k + 1)) gc_region_join(g, k, k + 1);
        if (gc_cut_enters(g, k)) gc_region_join(g, k, last);
        k += 1;
    }
    return k;
}

/* the first cut of an edge of a body, or of what comes behind it */
GC_FN int gc_cut_of_edge(const gc_deep_regions *g, int of, int edge)
{
    int low = 0, high = g->n;
    while (low < high) {
        int middle = low + ((high - low) >> 1);
        GC_GLOBAL const int *cut = g->cuts + GC_PASSAGE_STRIDE * middle;
        if (cut[GC_PASSAGE_of] < of || (cut[GC_PASSAGE_of] == of && cut[GC_PASSAGE_edge] < edge)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The region that a place on an edge is in; -1: none. All nodes have their region in place of the node above. */
GC_FN int gc_region_of_place(
    const gc_deep_regions *g,
    GC_GLOBAL const int *topology,
    const gc_mesh *m,
    int of,
    int edge,
    gc_real at)
{
    int k = gc_cut_of_edge(g, of, edge);
    if (!gc_cut_is_of(g, k, of, edge)) return g->up[g->vertices[of] + topology[m->edges + 2 * edge]];
    while (gc_cut_is_of(g, k, of, edge) && g->at[k] <= at) k += 1;
    if (gc_cut_is_of(g, k - 1, of, edge) && gc_cut_enters(g, k - 1)) return g->up[k - 1];
    return gc_cut_is_of(g, k, of, edge) && !gc_cut_enters(g, k) ? g->up[k] : -1;
}

/* ---- a region without a pair of features ---- */

/* how a region is seen: its closed lines, the area vector of A's surface in it, and how far it reaches along that */
typedef struct {
    int lines;
    gc_vec normal;
    gc_real top, bottom;
    gc_vec on_a, on_b; /* where it ends */
} gc_region_span;

GC_FN gc_vec gc_cut_point(const gc_clear *q, const gc_deep_regions *g, int k)
{
    GC_GLOBAL const int *cut = g->cuts + GC_PASSAGE_STRIDE * k, *ends;
    int of = cut[GC_PASSAGE_of];
    gc_vec p, r;
    ends = q->t.topology + (of ? q->b.mesh.edges : q->a.mesh.edges) + 2 * cut[GC_PASSAGE_edge];
    p = of ? gc_clear_vertex_b(q, ends[0]) : gc_clear_vertex_a(q, ends[0]);
    r = of ? gc_clear_vertex_b(q, ends[1]) : gc_clear_vertex_a(q, ends[1]);
    return gc_add(p, gc_scale(gc_sub(r, p), g->at[k]));
}

GC_FN void gc_region_reach(gc_region_span *o, gc_vec x)
{
    gc_real along = gc_dot(o->normal, x);
    if (along > o->top) {
        o->top = along;
        o->on_a = x;
    }
    if (along < o->bottom) {
        o->bottom = along;
        o->on_b = x;
    }
}

/* links: (n, GC_LINK_STRIDE) */
GC_LARGE int gc_region_span_of(
    const gc_clear *q,
    const gc_deep_regions *g,
    GC_GLOBAL const int *links,
    int n_links,
    int region,
    gc_region_span *o)
{
    gc_vec sum = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), origin = gc_cut_point(q, g, region);
    int k;
    o->lines = 0;
    o->top = o->bottom = GC_R(0.0);
    o->on_a = o->on_b = origin;
    for (k = 0; k < n_links; ++k) {
        GC_GLOBAL const int *link = links + GC_LINK_STRIDE * k;
        gc_vec p, r, across;
        if (g->up[link[GC_LINK_one]] != region) continue;
        p = gc_sub(gc_cut_point(q, g, link[GC_LINK_one]), origin);
        r = gc_sub(gc_cut_point(q, g, link[GC_LINK_other]), origin);
        across = gc_cross(
            gc_normal(&q->t, &q->a.mesh, link[GC_LINK_face_a]),
            gc_rotate(q->now.m, gc_normal(&q->t, &q->b.mesh, link[GC_LINK_face_b])));
        across = gc_scale(gc_cross(p, r), gc_dot(across, gc_sub(r, p)) < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0));
        sum = gc_add(sum, across);
    }
    for (k = 0; k < g->n; ++k) o->lines += g->up[k] == region && g->loops[k] == k;
    o->normal = gc_unit(sum, sum);
    if (o->lines != 1 || !(gc_dot(o->normal, o->normal) > GC_R(0.5))) return 0;
    o->top = -GC_BVH_FAR;
    o->bottom = GC_BVH_FAR;
    for (k = 0; k < g->n; ++k)
        if (g->up[k] == region) gc_region_reach(o, gc_cut_point(q, g, k));
    for (k = 0; k < q->a.mesh.nv; ++k)
        if (g->up[g->vertices[0] + k] == region) gc_region_reach(o, gc_clear_vertex_a(q, k));
    for (k = 0; k < q->b.mesh.nv; ++k)
        if (g->up[g->vertices[1] + k] == region) gc_region_reach(o, gc_clear_vertex_b(q, k));
    return 1;
}

#endif
