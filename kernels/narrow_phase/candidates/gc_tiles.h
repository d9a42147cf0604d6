/* gc_tiles.h: boxes of one list against those of another, by a single work-item (s05 and s06 without rows).
 * needs: narrow_phase/candidates/gc_facets.h
 *
 * One list is sorted along a curve through the screen, and blocks of it are tested first, the hull of a block against the
 * boxes of the other list: most boxes miss most hulls. Both tests are vector loops. A pair is accepted by the test of its
 * two boxes alone; that of the hull is wider, and the order changes nothing but the time (docs/decisions/0080).
 */
#ifndef GC_TILES_H
#define GC_TILES_H

/* boxes of a block, as many as bits of a word */
#define GC_TILE_BOXES 32
/* cells of the screen that a list is sorted into, at most */
#define GC_TILE_CELLS (1 << GC_TILE_SPLITS)

/* scratch to sort a long list in: where cells begin, what a place gives to its cell's number, cells and entries in order */
GC_FN void gc_take_cells(gc_scratch *s, gc_search *q)
{
    gc_long longest = GC_MAX(GC_MAX(q->fa.room, q->fb.room), q->eb.room);
    if (GC_SERIAL && longest > GC_TILED) q->cells = gc_take_ints(s, 3 * GC_TILE_CELLS + 16 + 2 * longest);
}

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

/* in the place of a kind: edges that have chords, faces that have facets */
#define GC_CHORDS (-1)
#define GC_VF_FACETS (-2)
#define GC_FV_FACETS (-3)

GC_INLINE void gc_tile_emit(const gc_search *q, int kind, const gc_list *of, int i, const gc_list *with, int j)
{
    if (kind == GC_CHORDS) gc_emit_chords(q, of, i, with, j);
    else if (kind == GC_VF_FACETS) gc_emit_facet(q, GC_VF, of, i, with, j);
    else if (kind == GC_FV_FACETS) gc_emit_facet(q, GC_FV, of, i, with, j);
    else if (kind == GC_FV) gc_emit(q, kind, with, j, of, i);
    else gc_emit(q, kind, of, i, with, j);
}

/* Behind a list, up to whole lines of memory, boxes that meet nothing: loops over boxes have no odd ends. */
GC_FN void gc_list_fill(const gc_list *l)
{
    int n = *l->count, end = (int)gc_in_lines(n);
    for (; n < end; ++n) GC_OF_ENTRY(l, r0, n) = GC_F(4.0) * GC_CULL_FAR;
}

/* which of the n boxes of l from `at` on meet a, as bits */
GC_INLINE gc_uint gc_boxes_bits(const gc_list *l, int at, int n, gc_range a)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT r0 = &GC_OF_ENTRY(l, r0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT r1 = &GC_OF_ENTRY(l, r1, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT h0 = &GC_OF_ENTRY(l, h0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT h1 = &GC_OF_ENTRY(l, h1, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT l0 = &GC_OF_ENTRY(l, l0, at);
    GC_GLOBAL const gc_raster *GC_RESTRICT l1 = &GC_OF_ENTRY(l, l1, at);
    gc_uint bits = 0;
    int j;
    GC_INDEPENDENT
    for (j = 0; j < n; ++j) {
        gc_uint m = (r0[j] <= a.r1) & (r1[j] >= a.r0) & (h0[j] <= a.h1) & (h1[j] >= a.h0) & (l0[j] <= a.l1)
                    & (l1[j] >= a.l0);
        bits |= m << j;
    }
    return bits;
}

/* ... of GC_TILE_BOXES, or of the half where no more than n are left */
GC_FN gc_uint gc_boxes_met(const gc_list *l, int at, int n, gc_range a)
{
    return 2 * n > GC_TILE_BOXES ? gc_boxes_bits(l, at, GC_TILE_BOXES, a) : gc_boxes_bits(l, at, GC_TILE_BOXES / 2, a);
}

GC_LARGE void gc_search_tiled(const gc_search *q, int kind, const gc_list *of, const gc_list *with)
{
    int n_of = *of->count, n_with = *with->count, at, i;
    for (at = GC_TILE_BOXES * q->share; at < n_with; at += GC_TILE_BOXES * q->shares) {
        int n = GC_MIN(n_with - at, GC_TILE_BOXES);
        gc_range hull = gc_tile_range(&q->view, with, at, n);
        for (i = GC_TILE_BOXES * GC_LOCAL_ID; i < n_of; i += GC_TILE_BOXES * GC_GROUP_SIZE) {
            gc_uint near = gc_boxes_met(of, i, n_of - i, hull);
            while (near) {
                int j = 31 - GC_LEADING_ZEROS(near);
                gc_uint bits = gc_boxes_met(with, at, n_with - at, gc_range_of(&q->view, of, i + j));
                near ^= (gc_uint)1 << j;
                while (bits) {
                    int k = 31 - GC_LEADING_ZEROS(bits);
                    bits ^= (gc_uint)1 << k;
                    gc_tile_emit(q, kind, of, i + j, with, at + k);
                }
            }
        }
    }
}

/* What of a list is near each other on the screen stands near each other in its copy. */
typedef struct {
    gc_raster lo, per; /* where twice the middles begin, and cells a unit */
    gc_raster left;    /* cells of this width are so many times as wide as the boxes that look for them */
    int cells;
    GC_GLOBAL int *parts; /* (cells,) what a cell gives to the key */
} gc_tile_axis;

GC_FN gc_raster gc_tile_widths(const gc_list *l, int d, gc_raster most)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT lo = l->box + GC_CELL(GC_LIST_STRIDE, l->room, 2 * d, 0);
    GC_GLOBAL const gc_raster *GC_RESTRICT hi = l->box + GC_CELL(GC_LIST_STRIDE, l->room, 2 * d + 1, 0);
    gc_raster sum = GC_F(0.0);
    int n = *l->count, i;
    for (i = 0; i < n; ++i) sum += GC_MIN(hi[i] - lo[i], most);
    return sum / (gc_raster)GC_MAX(n, 1);
}

/* The axis of a list in rho, eta or lambda; way: how much wider than it is what looks for boxes. */
GC_FN gc_tile_axis gc_tile_axis_of(const gc_list *of, const gc_list *with, int d, gc_raster way)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT lo = with->box + GC_CELL(GC_LIST_STRIDE, with->room, 2 * d, 0);
    GC_GLOBAL const gc_raster *GC_RESTRICT hi = with->box + GC_CELL(GC_LIST_STRIDE, with->room, 2 * d + 1, 0);
    gc_raster least = GC_CULL_FAR, most = -GC_CULL_FAR, wide;
    gc_tile_axis x;
    int n = *with->count, i;
    for (i = 0; i < n; ++i) {
        gc_raster middle = lo[i] + hi[i];
        least = GC_MIN(middle, least);
        most = GC_MAX(middle, most);
    }
    wide = most - least;
    x.lo = least;
    x.cells = 1;
    x.per = wide > GC_F(0.0) ? GC_F(1.0) / wide : GC_F(0.0);
    way += gc_tile_widths(of, d, wide) + gc_tile_widths(with, d, wide);
    x.left = GC_F(0.5) * wide / way;
    return x;
}

GC_FN int gc_tile_cell(const gc_tile_axis *x, gc_raster lo, gc_raster hi)
{
    gc_raster at = (lo + hi - x->lo) * x->per, most = (gc_raster)(x->cells - 1);
    at = GC_MAX(at, GC_F(0.0)); /* what is no number is in the first */
    return x->parts[(int)GC_MIN(at, most)];
}

GC_FN void gc_tile_gather(const gc_list *from, const gc_list *to, int field, GC_GLOBAL const int *GC_RESTRICT order, int n)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT in = from->box + GC_CELL(GC_LIST_STRIDE, from->room, field, 0);
    GC_GLOBAL gc_raster *GC_RESTRICT out = to->box + GC_CELL(GC_LIST_STRIDE, to->room, field, 0);
    int i;
    GC_INDEPENDENT
    for (i = 0; i < n; ++i) out[i] = in[order[i]];
}

/* The entries of `with` in `to`, in the order of a curve through the screen: its range is halved again and again, where it is
 * widest beside what looks for it. */
GC_LARGE void gc_tile_sort(const gc_search *q, const gc_list *of, const gc_list *with, const gc_list *to, int fields)
{
    GC_GLOBAL int *starts = q->cells, *parts = starts + GC_TILE_CELLS + 1, *keys = q->cells + 3 * GC_TILE_CELLS + 16;
    GC_GLOBAL int *order = keys + with->room;
    gc_tile_axis x[3];
    int split[GC_TILE_SPLITS], n = *with->count, splits, d, i, s;
    for (d = 0; d < 3; ++d) x[d] = gc_tile_axis_of(of, with, d, d == 2 ? GC_F(2.0) * q->view.window : q->view.pad);
    for (splits = 0; splits < GC_TILE_SPLITS && (4 << splits) < n; ++splits) {
        d = x[1].left > x[0].left ? 1 : 0;
        d = x[2].left > x[d].left ? 2 : d;
        x[d].left *= GC_F(0.5);
        split[splits] = d;
    }
    for (d = 0; d < 3; ++d) {
        x[d].parts = parts;
        parts[0] = 0;
        for (s = splits - 1; s >= 0; --s) {
            if (split[s] != d) continue;
            for (i = 0; i < x[d].cells; ++i) x[d].parts[x[d].cells + i] = x[d].parts[i] | 1 << (splits - 1 - s);
            x[d].cells *= 2;
        }
        x[d].per *= (gc_raster)x[d].cells;
        parts += x[d].cells;
    }
    for (i = 0; i <= 1 << splits; ++i) starts[i] = 0;
    for (i = 0; i < n; ++i) {
        gc_four place = gc_entry_place(with, i), time = gc_entry_time(with, i);
        int key = gc_tile_cell(x, place.a, place.b) | gc_tile_cell(x + 1, place.c, place.d)
                  | gc_tile_cell(x + 2, time.a, time.b);
        keys[i] = key;
        starts[key + 1] += 1;
    }
    for (i = 0; i < 1 << splits; ++i) starts[i + 1] += starts[i];
    for (i = 0; i < n; ++i) order[starts[keys[i]]++] = i;
    for (s = 0; s < fields; ++s)
        if (s < GC_LIST_p0 || s >= GC_LIST_u0) gc_tile_gather(with, to, s, order, n);
    for (i = 0; i < n; ++i) {
        to->id[i] = with->id[order[i]];
        to->copy[i] = with->copy[order[i]];
    }
    *to->count = n;
}

/* All of `of` against all of `with`, which is sorted into a list that nobody reads any more, spare, where both are long. With q->lists that is
 * done, and what else is made of the lists; then a share of `with`, or of `of`, is looked at, if there are shares. */
GC_LARGE void gc_search_alone(const gc_search *q, int kind, const gc_list *of, const gc_list *with, const gc_list *spare)
{
    int n_of = *of->count, n_with = *with->count, at, i;
    /* pixels are wider than boxes by what depends on the box */
    if (n_with > GC_TILED && n_of > GC_TILED && !(q->view.pixel > GC_F(0.0))) {
        if (q->has_hulls && spare->room >= n_with) {
            if (q->lists) gc_tile_sort(q, of, with, spare, kind == GC_EE ? GC_LIST_STRIDE : GC_LIST_p0);
            with = spare;
        }
        if (q->exact && kind != GC_EE) {
            kind = kind == GC_VF ? GC_VF_FACETS : GC_FV_FACETS;
        } else if (kind == GC_EE && q->chords_a && (gc_long)n_of * n_with > GC_CHORDED) {
            if (q->lists) gc_chords_make(q, &q->a, &q->mesh_a, of, q->chords_a);
            if (q->lists) gc_chords_make(q, &q->b, &q->mesh_b, with, q->chords_b);
            kind = GC_CHORDS;
        }
        if (q->lists) gc_list_fill(of);
        if (q->lists) gc_list_fill(with);
        if (q->shares > 0) gc_search_tiled(q, kind, of, with);
        return;
    }
    if (q->lists) gc_list_fill(with);
    for (i = q->share; i < n_of && q->shares > 0; i += q->shares) {
        gc_range range = gc_range_of(&q->view, of, i);
        for (at = 0; at < n_with; at += GC_TILE_BOXES) {
            gc_uint bits = gc_boxes_met(with, at, n_with - at, range);
            while (bits) {
                int k = 31 - GC_LEADING_ZEROS(bits);
                bits ^= (gc_uint)1 << k;
                if (kind == GC_FV) gc_emit(q, kind, with, at + k, of, i);
                else gc_emit(q, kind, of, i, with, at + k);
            }
        }
    }
}

#endif
