/* gc_tiles.h: boxes of one list against those of another, by a work-item alone (s05 and s06 without rows).
 * needs: screw/gc_chords.h
 *
 * A block of one list is tested as a whole first, its hull against the boxes of the other: what neighbours in a list are
 * neighbours in space where patches are joined, and most boxes miss most hulls. Both tests are vector loops. Which pairs are
 * taken is the test of the two boxes alone, the hull's is wider.
 */
#ifndef GC_TILES_H
#define GC_TILES_H

/* hull of the n entries of l from `at` on, in ranges that hold the window in time and its rounding */
GC_FN gc_range gc_tile_range(const gc_view *w, const gc_list *l, int at, int n)
{
    gc_raster way = w->window + w->pad;
    gc_range r;
    int j;
    GC_GLOBAL const gc_raster *GC_RESTRICT r0 = &GC_OF_ENTRY(l, r0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT r1 = &GC_OF_ENTRY(l, r1, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT h0 = &GC_OF_ENTRY(l, h0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT h1 = &GC_OF_ENTRY(l, h1, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT l0 = &GC_OF_ENTRY(l, l0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT l1 = &GC_OF_ENTRY(l, l1, at);
    r.r0 = r.h0 = r.l0 = GC_CULL_FAR;
    r.r1 = r.h1 = r.l1 = -GC_CULL_FAR;
    for (j = 0; j < n; ++j) {
        r.r0 = GC_MIN(r0[j], r.r0);
        r.r1 = GC_MAX(r1[j], r.r1);
        r.h0 = GC_MIN(h0[j], r.h0);
        r.h1 = GC_MAX(h1[j], r.h1);
        r.l0 = GC_MIN(l0[j], r.l0);
        r.l1 = GC_MAX(l1[j], r.l1);
    }
    r.l0 -= way;
    r.l1 += way;
    return r;
}

/* in the place of a kind: edges that have chords */
#define GC_CHORDS (-1)

/* one box against the n <= GC_BLOCK boxes of `with` from `at` on; kind is GC_FV if it is B's */
GC_FN void gc_block_emit(
    const gc_search *q,
    int kind,
    const gc_list *of,
    int i,
    gc_range range,
    const gc_list *with,
    int at,
    int n)
{
    int meets[GC_BLOCK], j;
    if (!gc_block_meets(with, at, n, range, meets)) return;
    for (j = 0; j < n; ++j) {
        if (!meets[j]) continue;
        if (kind == GC_CHORDS) gc_emit_chords(q, of, i, with, at + j);
        else if (kind == GC_FV) gc_emit(q, kind, with, at + j, of, i);
        else gc_emit(q, kind, of, i, with, at + j);
    }
}

GC_LARGE void gc_search_tiled(const gc_search *q, int kind, const gc_list *of, const gc_list *with)
{
    int n_of = *of->count, n_with = *with->count, at, i, j;
    for (at = 0; at < n_with; at += GC_BLOCK) {
        int n = GC_MIN(n_with - at, GC_BLOCK), meets[GC_BLOCK];
        gc_range hull = gc_tile_range(&q->view, with, at, n);
        for (i = GC_BLOCK * GC_LOCAL_ID; i < n_of; i += GC_BLOCK * GC_GROUP_SIZE) {
            int m = GC_MIN(n_of - i, GC_BLOCK);
            if (!gc_block_meets(of, i, m, hull, meets)) continue;
            for (j = 0; j < m; ++j)
                if (meets[j]) gc_block_emit(q, kind, of, i + j, gc_range_of(&q->view, of, i + j), with, at, n);
        }
    }
}

/* all of `of` against all of `with` */
GC_LARGE void gc_search_alone(const gc_search *q, int kind, const gc_list *of, const gc_list *with)
{
    int n_of = *of->count, n_with = *with->count, at, i;
    /* pixels are wider than boxes by what depends on the box */
    if (n_with > GC_TILED && n_of > GC_TILED && !(q->view.pixel > GC_F(0.0))) {
        if (kind == GC_EE && q->chords_a && (gc_long)n_of * n_with > GC_CHORDED) {
            gc_chords_make(q, &q->a, &q->mesh_a, of, q->chords_a);
            gc_chords_make(q, &q->b, &q->mesh_b, with, q->chords_b);
            kind = GC_CHORDS;
        }
        gc_search_tiled(q, kind, of, with);
        return;
    }
    for (i = GC_LOCAL_ID; i < n_of; i += GC_GROUP_SIZE) {
        gc_range range = gc_range_of(&q->view, of, i);
        for (at = 0; at < n_with; at += GC_BLOCK)
            gc_block_emit(q, kind, of, i, range, with, at, GC_MIN(n_with - at, GC_BLOCK));
    }
}

#endif
