/* gc_pixels.h: coincidences with refine = pixels: hits that share the pixel of a vertex (Buss, end of section 5).
 * needs: narrow_phase/contact/gc_dedup.h
 *
 * in:  hits with GC_HIT_* flags that say whose pixels are shared: ends of edges, borders of faces
 * out: for each coincidence the hit of greatest properness, marked GC_HIT_KEPT; the others get -1 for their pair
 * Kept from the best downwards, so that a threshold before or after leaves the same contacts (docs/decisions/0015).
 */
#ifndef GC_PIXELS_H
#define GC_PIXELS_H

/* is vertex v a corner of face f */
GC_FN int gc_has_corner(const gc_tables *t, const gc_mesh *m, int f, int v)
{
    int j = t->topology[m->face_start + f], end = t->topology[m->face_start + f + 1];
    for (; j < end; ++j)
        if (t->topology[m->face_vertices + j] == v) return 1;
    return 0;
}

GC_FN int gc_share_corner(const gc_tables *t, const gc_mesh *m, int f, int g)
{
    int j = t->topology[m->face_start + f], end = t->topology[m->face_start + f + 1];
    for (; j < end; ++j)
        if (gc_has_corner(t, m, g, t->topology[m->face_vertices + j])) return 1;
    return 0;
}

/* vertex of the edge hit's edge whose pixel was shared, or -1 */
GC_FN int gc_end_vertex(const gc_tables *t, const gc_mesh *m, int edge, int flags, int end, int high)
{
    return flags & end ? t->topology[m->edges + 2 * edge + (flags & high ? 1 : 0)] : -1;
}

/* is edge e a side of face f, or vertex v (if not -1) a corner of it */
GC_FN int gc_borders(const gc_tables *t, const gc_mesh *m, int f, int e, int v)
{
    int i = t->topology[m->edge_face_start + e], end = t->topology[m->edge_face_start + e + 1];
    for (; i < end; ++i)
        if (t->topology[m->edge_faces + i] >> 1 == f) return 1;
    return v >= 0 && gc_has_corner(t, m, f, v);
}

/* Do hits i and j tell of one coincidence? A vertex that shares its pixel with an edge is on it: all edges of the vertex meet
 * it there, and the vertex meets the faces at that edge; of two vertices in one pixel all edges and faces meet. */
GC_LARGE int gc_same_pixel(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, int j)
{
    gc_hit x = gc_hit_at(h, i), y = gc_hit_at(h, j);
    int kx = x.kind & GC_HIT_KIND_MASK, ky = y.kind & GC_HIT_KIND_MASK, va, vb;
    if ((x.kind | y.kind) & GC_HIT_SUSTAINED) return 0; /* what lasts is no pixel */
    if (kx != GC_EE && ky != GC_EE) {
        if (!(x.kind & y.kind & GC_HIT_BORDER)) return 0;
        if (kx == ky)
            return kx == GC_FV ? x.b == y.b && gc_share_corner(t, gc_mesh_a(p), x.a, y.a)
                               : x.a == y.a && gc_share_corner(t, gc_mesh_b(p), x.b, y.b);
        if (kx == GC_VF) return gc_has_corner(t, gc_mesh_a(p), y.a, x.a) && gc_has_corner(t, gc_mesh_b(p), x.b, y.b);
        return gc_has_corner(t, gc_mesh_a(p), x.a, y.a) && gc_has_corner(t, gc_mesh_b(p), y.b, x.b);
    }
    if (kx != GC_EE) {
        gc_hit swap = x;
        x = y;
        y = swap;
        ky = kx;
    }
    va = gc_end_vertex(t, gc_mesh_a(p), x.a, x.kind, GC_HIT_A_END, GC_HIT_A_HIGH);
    vb = gc_end_vertex(t, gc_mesh_b(p), x.b, x.kind, GC_HIT_B_END, GC_HIT_B_HIGH);
    if (ky == GC_EE) {
        int wa = gc_end_vertex(t, gc_mesh_a(p), y.a, y.kind, GC_HIT_A_END, GC_HIT_A_HIGH);
        int wb = gc_end_vertex(t, gc_mesh_b(p), y.b, y.kind, GC_HIT_B_END, GC_HIT_B_HIGH);
        return (va >= 0 && va == wa && (x.b == y.b || (vb >= 0 && vb == wb))) || (vb >= 0 && vb == wb && x.a == y.a);
    }
    if (!(y.kind & GC_HIT_BORDER)) return 0;
    if (ky == GC_VF) return va >= 0 && va == y.a && gc_borders(t, gc_mesh_b(p), y.b, x.b, vb);
    return vb >= 0 && vb == y.b && gc_borders(t, gc_mesh_a(p), y.a, x.a, va);
}

/* Of each coincidence the contact of greatest properness stays: the best of all first, then the best that none of those kept
 * stands for. */
GC_LARGE void gc_resolve_pixels(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h)
{
    int changed, at, j, step;
    do {
        changed = 0;
        for (at = 0; at < h->n; ++at) {
            int i = h->order[at], beaten = 0, covered = 0;
            if (gc_hit_at(h, i).pair < 0 || (gc_hit_at(h, i).kind & GC_HIT_KEPT)) continue;
            for (step = -1; step <= 1; step += 2) {
                for (j = at + step; j >= 0 && j < h->n; j += step) {
                    int o = h->order[j];
                    if (GC_ABS(gc_reals_at(h, o).s - gc_reals_at(h, i).s) > h->same_time) break;
                    if (gc_hit_at(h, o).pair < 0 || !gc_same_pixel(t, p, h, i, o)) continue;
                    covered = covered || (gc_hit_at(h, o).kind & GC_HIT_KEPT);
                    beaten = beaten || gc_outranks(h, j, at);
                }
            }
            if (covered) h->hit[GC_HIT_STRIDE * i + GC_HIT_pair] = -1;
            else if (!beaten) h->hit[GC_HIT_STRIDE * i + GC_HIT_kind] |= GC_HIT_KEPT;
            changed = changed || covered || !beaten;
        }
    } while (changed);
}

#endif
