/* gc_deep_hull.h: the only normals that the least depth of two convex bodies may have, by a polytope within their difference.
 * needs: clearance/gc_deep_list.h
 *
 * The depth along n is how far A less B reaches along it. A polytope of points of that difference grows where a facet of it is nearest to the
 * origin, by the point that is outermost along the facet's normal, until there is none beyond it: its distance is the least depth (the expanding
 * polytope of G. van den Bergen, 2001). It also bounds the depth along every direction. Those along which it is no more than m are the points of its dual, whose
 * corners are the normals of its facets over their distances, that lie beyond the sphere of radius 1 / m: what the corners beyond it
 * cut off, where edges from them to others go through the sphere. Source: docs/decisions/0140.
 */
#ifndef GC_DEEP_HULL_H
#define GC_DEEP_HULL_H

/* corners and facets at most; facets that one point may do away with */
#define GC_HULL_POINTS 130
#define GC_HULL_FACETS 256
#define GC_HULL_SEEN 40
/* what is no higher over a facet, in touch tolerances, is in it; and the sine below which one has no normal */
#define GC_HULL_FLAT GC_R(0.0078125)
#define GC_HULL_THIN GC_R(1e-7)
/* all vertices of so few are looked at, instead of climbing */
#define GC_HULL_FEW 12
/* cosine of the widest cone that is worth it */
#define GC_HULL_WIDE GC_R(0.5)

typedef struct {
    gc_vec n;
    gc_real d;
    int corners; /* three of a byte, counter-clockwise from outside */
} gc_hull_facet;

typedef struct {
    gc_vec p[GC_HULL_POINTS];
    gc_hull_facet f[GC_HULL_FACETS];
    int points, facets;
} gc_hull;

/* what leaves normals out: where climbs along edges begin and end, and a cone with all normals that count, if it is known */
typedef struct {
    gc_vec n;
    gc_real cos, sin;
    int known, at[2];
} gc_deep_normals;

/* A vertex of a body from which no edge leads farther along n, of its own axes: from v along edges, each step of which is farther, so that
 * it ends; of few vertices the farthest. */
GC_FN int gc_deep_climb(const gc_clear *q, const gc_mesh *m, gc_vec n, int v)
{
    gc_real far = gc_dot(n, gc_vertex(&q->t, m, v));
    int next = v;
    if (m->nv <= GC_HULL_FEW) {
        for (v = 0; v < m->nv; ++v) {
            gc_real x = gc_dot(n, gc_vertex(&q->t, m, v));
            if (x > far) {
                far = x;
                next = v;
            }
        }
        return next;
    }
    do {
        int i = q->t.topology[m->vertex_edge_start + next], end = q->t.topology[m->vertex_edge_start + next + 1];
        v = next;
        for (; i < end; ++i) {
            int edge = q->t.topology[m->vertex_edges + i] >> 1;
            int other = q->t.topology[m->edges + 2 * edge + 1 - (q->t.topology[m->vertex_edges + i] & 1)];
            gc_real x = gc_dot(n, gc_vertex(&q->t, m, other));
            if (x > far) {
                far = x;
                next = other;
            }
        }
    } while (next != v);
    return v;
}

/* The way from B's outermost point against n to A's along it. How far it leads along n is an upper bound of the least depth, if no climb ends
 * early; which is seen at the end. */
GC_FN gc_vec gc_deep_outermost(const gc_clear *q, gc_deep_list *l, gc_vec n, int *at)
{
    gc_vec p;
    at[0] = gc_deep_climb(q, &q->a.mesh, n, at[0]);
    at[1] = gc_deep_climb(q, &q->b.mesh, gc_rotate_back(q->now.m, gc_scale(n, GC_R(-1.0))), at[1]);
    p = gc_sub(gc_clear_vertex_a(q, at[0]), gc_clear_vertex_b(q, at[1]));
    l->most = GC_MIN(l->most, GC_MAX(gc_dot(n, p), GC_R(0.0)) + q->touch);
    return p;
}

GC_FN int gc_hull_corner(const gc_hull_facet *f, int k) { return f->corners >> (8 * k) & 255; }

/* a facet of three points; 0: they lie on a line */
GC_FN int gc_hull_facet_of(const gc_hull *h, int i, int j, int k, gc_hull_facet *f)
{
    gc_vec e = gc_sub(h->p[j], h->p[i]), g = gc_sub(h->p[k], h->p[i]), n = gc_cross(e, g);
    gc_real length = gc_norm(n);
    if (!(length > GC_HULL_THIN * (gc_norm(e) * gc_norm(g)))) return 0;
    f->n = gc_scale(n, GC_R(1.0) / length);
    f->d = gc_dot(f->n, h->p[i]);
    f->corners = i | j << 8 | k << 16;
    return 1;
}

/* Is there a facet among those with the edge from one corner to another? Its number, or -1. */
GC_FN int gc_hull_beside(const gc_hull *h, const int *some, int n, int from, int to)
{
    int i, k;
    for (i = 0; i < n; ++i) {
        int f = some ? some[i] : i;
        for (k = 0; k < 3; ++k)
            if (gc_hull_corner(&h->f[f], k) == from && gc_hull_corner(&h->f[f], k == 2 ? 0 : k + 1) == to) return f;
    }
    return -1;
}

/* One more corner in place of the facets that it is above. Returns 0 if it cannot be: too many, or rounding spoils the shape. */
GC_LARGE int gc_hull_grow(gc_hull *h, gc_vec p, gc_real flat)
{
    int seen[GC_HULL_SEEN], from[GC_HULL_SEEN + 2], to[GC_HULL_SEEN + 2], n = 0, edges = 0, i, k, at, count = 1;
    for (i = 0; i < h->facets; ++i) {
        if (!(gc_dot(h->f[i].n, p) - h->f[i].d > flat)) continue;
        if (n == GC_HULL_SEEN) return 0;
        seen[n++] = i;
    }
    for (i = 0; i < n; ++i)
        for (k = 0; k < 3; ++k) {
            int a = gc_hull_corner(&h->f[seen[i]], k), b = gc_hull_corner(&h->f[seen[i]], k == 2 ? 0 : k + 1);
            if (gc_hull_beside(h, seen, n, b, a) >= 0) continue;
            if (edges == GC_HULL_SEEN + 2) return 0;
            from[edges] = a;
            to[edges++] = b;
        }
    /* the border of what is seen is one closed line */
    for (at = edges ? to[0] : -1; edges && at != from[0]; ++count) {
        for (i = 0; i < edges && from[i] != at; ++i) {
        }
        if (i == edges || count > edges) return 0;
        at = to[i];
    }
    if (count != edges || h->points == GC_HULL_POINTS || h->facets + edges - n > GC_HULL_FACETS) return 0;
    h->p[h->points] = p;
    for (i = 0; i < edges; ++i)
        if (!gc_hull_facet_of(h, from[i], to[i], h->points, &h->f[i < n ? seen[i] : h->facets++])) return 0;
    for (i = n; i-- > edges;) h->f[seen[i]] = h->f[--h->facets];
    h->points += 1;
    return 1;
}

/* four corners; 0: they lie in a plane */
GC_FN int gc_hull_begin(const gc_clear *q, gc_deep_list *l, gc_hull *h, int *at)
{
    gc_real third = GC_R(0.57735026918962576);
    int i, turned;
    for (i = 0; i < 4; ++i) {
        gc_vec n = gc_make(i < 2 ? third : -third, i & 1 ? -third : third, i == 1 || i == 2 ? -third : third);
        h->p[i] = gc_deep_outermost(q, l, n, at);
    }
    h->points = h->facets = 4;
    turned = gc_dot(gc_cross(gc_sub(h->p[1], h->p[0]), gc_sub(h->p[2], h->p[0])), gc_sub(h->p[3], h->p[0])) > GC_R(0.0);
    return gc_hull_facet_of(h, 0, turned ? 2 : 1, turned ? 1 : 2, &h->f[0])
           && gc_hull_facet_of(h, 0, turned ? 1 : 3, turned ? 3 : 1, &h->f[1])
           && gc_hull_facet_of(h, 0, turned ? 3 : 2, turned ? 2 : 3, &h->f[2])
           && gc_hull_facet_of(h, 1, turned ? 2 : 3, turned ? 3 : 2, &h->f[3]);
}

/* A cone about n with all directions along which the polytope, and so the difference of the bodies, reaches no farther than m; its cosine, or 0 if
 * it is wide. Along n it reaches as far as `least`, and nowhere less. */
GC_LARGE gc_real gc_hull_cone(const gc_hull *h, gc_vec n, gc_real least, gc_real m)
{
    gc_real low = GC_R(2.0);
    int i, k;
    for (i = 0; i < h->facets; ++i)
        for (k = 0; k < 3 && h->f[i].d <= m; ++k) {
            const gc_hull_facet *f = &h->f[i], *g;
            gc_vec a = gc_scale(f->n, m / f->d), e;
            gc_real square, slope, over = gc_dot(a, a) - GC_R(1.0), root;
            int other = gc_hull_beside(h, 0, h->facets, gc_hull_corner(f, k == 2 ? 0 : k + 1), gc_hull_corner(f, k));
            if (other < 0) return GC_R(0.0);
            g = &h->f[other];
            if (g->d <= m) continue;
            e = gc_sub(gc_scale(g->n, m / g->d), a);
            square = gc_dot(e, e);
            slope = gc_dot(a, e);
            root = GC_SQRT(GC_MAX(slope * slope - square * over, GC_R(0.0))) - slope;
            if (!(root > GC_R(0.0))) return GC_R(0.0);
            low = GC_MIN(low, gc_dot(n, gc_add(a, gc_scale(e, over / root))));
        }
    low = low * least / m;
    return low > GC_HULL_WIDE && low <= GC_R(1.0) ? low : GC_R(0.0);
}

/* The cone of the normals that the least depth may have, and an upper bound of it; s->known: is it certain? */
GC_LARGE void gc_deep_hull(const gc_clear *q, gc_deep_list *l, gc_deep_normals *s)
{
    gc_hull h;
    gc_real flat = GC_HULL_FLAT * q->touch;
    s->known = s->at[0] = s->at[1] = 0;
    if (!gc_hull_begin(q, l, &h, s->at)) return;
    while (1) {
        int i, least = 0;
        gc_vec p;
        for (i = 1; i < h.facets; ++i)
            if (h.f[i].d < h.f[least].d) least = i;
        p = gc_deep_outermost(q, l, h.f[least].n, s->at);
        if (gc_dot(h.f[least].n, p) - h.f[least].d > flat) {
            if (!gc_hull_grow(&h, p, flat)) return;
            continue;
        }
        if (!(h.f[least].d > q->touch)) return;
        s->n = h.f[least].n;
        s->cos = gc_hull_cone(&h, s->n, h.f[least].d, l->most + q->touch);
        s->sin = GC_SQRT(GC_R(1.0) - s->cos * s->cos);
        s->known = s->cos > GC_R(0.0);
        return;
    }
}

#endif
