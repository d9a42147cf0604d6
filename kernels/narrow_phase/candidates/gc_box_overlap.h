/* gc_box_overlap.h: boxes of one list against those of another, by a group of many work-items (s05 and s06 without rows).
 * needs: narrow_phase/candidates/gc_emit.h
 *
 * Few of the tested boxes overlap, and what follows an overlap takes a hundred times longer than the test: lanes of a GPU
 * that each find an overlap, at different boxes, would wait for each other. So overlaps are recorded first, and then each
 * work-item takes one.
 *
 * Long lists are not tested box by box. The ranges of rho, eta and lambda are divided into GC_BINS bins each. For each bin,
 * one row of bits says which boxes begin in it or before, and another which end in it or after; a box overlaps at most those
 * that are in all of six such rows. The bin of a number rises with the number, rounding included, so none is lost; false
 * positives are removed by the test itself.
 */
#ifndef GC_BOX_OVERLAP_H
#define GC_BOX_OVERLAP_H

/* how many meetings a group notes before it looks at them */
#define GC_MET_ROOM 1024
/* boxes that a work-item tests before what met is noted: one by one, or by so many words of 32 bits; and how many words with a bit a
 * group keeps before it looks into them: what 256 work-items find at a time, and more */
#define GC_TILE 32
#define GC_WORDS 4
#define GC_WORD_ROOM 2048
#define GC_BINS 32
/* boxes that there are bits for at most; and from how many tests on making them pays */
#define GC_MASK_ROOM 1024
#define GC_MASKED_TESTS 2048
/* boxes that are looked for at most: a note of one and of one found is an int */
#define GC_MASKED_ROWS (1 << 20)

/* words of a row of bits, one for each of n boxes */
GC_FN int gc_mask_words(int n) { return (n + 32 * GC_WORDS - 1) / (32 * GC_WORDS) * GC_WORDS; }

/* scratch for them; a group of one has none */
GC_FN void gc_take_met(gc_scratch *s, gc_search *q)
{
    int longest;
    if (GC_SERIAL) return;
    longest = GC_MAX(GC_MAX(q->fa.room, q->fb.room), q->eb.room);
    q->met = gc_take_ints(s, 3 * GC_MET_ROOM + 2 * GC_WORD_ROOM);
    q->n_met = gc_take_ints(s, 3);
    q->masks = (GC_GLOBAL gc_uint *)gc_take_ints(s, 6 * GC_BINS * gc_mask_words(GC_MIN(longest, GC_MASK_ROOM)));
}

GC_FN int gc_range_meets(gc_range a, gc_four place, gc_four time)
{
    return (place.a <= a.r1) & (place.b >= a.r0) & (place.c <= a.h1) & (place.d >= a.h0) & (time.a <= a.l1)
           & (time.b >= a.l0);
}

/* which of the n <= GC_TILE boxes of l from `at` on meet a, as bits; from the last box on, so that bits are only moved up */
GC_FN gc_uint gc_tile_meets(const gc_list *l, int at, int n, gc_range a)
{
    gc_uint bits = 0;
    int j;
    for (j = n - 1; j >= 0; --j)
        bits = bits << 1 | (gc_uint)gc_range_meets(a, gc_entry_place(l, at + j), gc_entry_time(l, at + j));
    return bits;
}

/* the bins of a hull: where they begin, and how many a unit has, of rho, eta, lambda */
typedef struct {
    gc_raster lo[3], per[3];
} gc_bins;

GC_FN gc_bins gc_bins_of(GC_GLOBAL const gc_raster *hull)
{
    gc_bins b;
    int d;
    for (d = 0; d < 3; ++d) {
        gc_raster wide = hull[2 * d + 1] - hull[2 * d];
        b.lo[d] = hull[2 * d];
        b.per[d] = wide > GC_F(0.0) ? (gc_raster)GC_BINS / wide : GC_F(0.0);
    }
    return b;
}

GC_FN int gc_bin(const gc_bins *b, int d, gc_raster x)
{
    gc_raster at = (x - b->lo[d]) * b->per[d], most = (gc_raster)(GC_BINS - 1);
    at = GC_MAX(at, GC_F(0.0)); /* what is no number is in the first */
    return (int)GC_MIN(at, most);
}

/* Where row `bin` of one of the six tables begins, in the order begins and ends of rho, of eta, of lambda. Those of ends count
 * from the last bin, so that all grow from row to row. */
GC_FN int gc_mask_row(int table, int bin, int words)
{
    return (GC_BINS * table + (table & 1 ? GC_BINS - 1 - bin : bin)) * words;
}

/* four words of a row */
typedef struct GC_ALIGNED {
    gc_uint a, b, c, d;
} gc_words;

GC_FN gc_words gc_words_of(GC_GLOBAL const gc_uint *row) { return *(GC_GLOBAL const gc_words *)row; }
GC_FN gc_words gc_words_common(gc_words x, gc_words y)
{
    x.a &= y.a;
    x.b &= y.b;
    x.c &= y.c;
    x.d &= y.d;
    return x;
}

/* Bits of all boxes of l. All work-items of the group take part. */
GC_LARGE void gc_make_masks(const gc_search *q, const gc_list *l, GC_GLOBAL const gc_raster *hull)
{
    int n = *l->count, words = gc_mask_words(n), i, t;
    gc_bins bins = gc_bins_of(hull);
    gc_words none;
    none.a = none.b = none.c = none.d = 0;
    GC_ROLLED
    for (i = GC_LOCAL_ID; i < 6 * GC_BINS * words / GC_WORDS; i += GC_GROUP_SIZE) ((GC_GLOBAL gc_words *)q->masks)[i] = none;
    GC_BARRIER();
    GC_ROLLED
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_four place = gc_entry_place(l, i), time = gc_entry_time(l, i);
        gc_raster ends[6];
        int bit = (int)((gc_uint)1 << (i & 31));
        ends[0] = place.a;
        ends[1] = place.b;
        ends[2] = place.c;
        ends[3] = place.d;
        ends[4] = time.a;
        ends[5] = time.b;
        for (t = 0; t < 6; ++t)
            GC_GROUP_ADD((GC_GLOBAL int *)q->masks + gc_mask_row(t, gc_bin(&bins, t >> 1, ends[t]), words) + (i >> 5), bit);
    }
    GC_BARRIER();
    GC_ROLLED
    for (i = GC_LOCAL_ID; i < 6 * words; i += GC_GROUP_SIZE) {
        GC_GLOBAL gc_uint *row = q->masks + GC_BINS * words * (i / words) + i % words;
        gc_uint bits = 0;
        for (t = 0; t < GC_BINS; ++t) {
            bits |= *row;
            *row = bits;
            row += words;
        }
    }
    GC_BARRIER();
}

/* Note entry i and those from `at` on that are set in bits; what finds no room stays set. */
GC_FN gc_uint gc_note_met(const gc_search *q, int i, int at, gc_uint bits)
{
    int k;
    if (!bits) return 0;
    k = GC_GROUP_ADD(q->n_met, GC_BIT_COUNT(bits));
    while (bits && k < GC_MET_ROOM) {
        int j = 31 - GC_LEADING_ZEROS(bits);
        bits ^= (gc_uint)1 << j;
        q->met[k] = i;
        q->met[GC_MET_ROOM + k] = at + j;
        k += 1;
    }
    return bits;
}

/* The same with both in one number, where j is the lowest and of words. */
GC_FN gc_uint gc_note_bits(const gc_search *q, int entry, gc_uint bits)
{
    int n = GC_BIT_COUNT(bits), k = GC_GROUP_ADD(q->n_met, n), highest = entry + 31;
    GC_GLOBAL int *to = q->met + k, *end = q->met + GC_MIN(k + n, GC_MET_ROOM);
    GC_ROLLED
    while (to < end) {
        int above = GC_LEADING_ZEROS(bits);
        bits ^= (gc_uint)0x80000000 >> above;
        *to++ = highest - above;
    }
    return bits;
}

/* Keep a word that has bits: i GC_MASK_ROOM + the number of its first box. */
GC_FN int gc_keep_word(GC_GLOBAL int *kept, int entry, gc_uint bits)
{
    if (!bits) return 0;
    kept[0] = entry;
    kept[1] = (int)bits;
    return 2;
}

/* Of what was noted by bits alone only what meets, in the second half of the room. */
GC_FN void gc_sift_met(const gc_search *q, const gc_list *of, const gc_list *with, int n)
{
    int k;
    GC_ROLLED
    for (k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) {
        gc_uint both = (gc_uint)q->met[k];
        int i = (int)(both / GC_MASK_ROOM), j = (int)(both % GC_MASK_ROOM);
        if (!gc_range_meets(gc_range_of(&q->view, of, i), gc_entry_place(with, j), gc_entry_time(with, j))) continue;
        q->met[2 * GC_MET_ROOM + GC_GROUP_ADD(q->n_met + 1, 1)] = (int)both;
    }
    GC_BARRIER();
}

/* what was noted, a work-item for each; what was sifted has both in one number */
GC_FN void gc_emit_met(const gc_search *q, int kind, const gc_list *of, const gc_list *with, int n, int sifted)
{
    GC_GLOBAL const int *met = q->met + (sifted ? 2 * GC_MET_ROOM : 0);
    /* in the order A, B whichever body has the vertex */
    const gc_list *la = kind == GC_FV ? with : of, *lb = kind == GC_FV ? of : with;
    int k;
    GC_ROLLED
    for (k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) {
        gc_uint both = (gc_uint)met[k];
        int i = sifted ? (int)(both / GC_MASK_ROOM) : met[k], j = sifted ? (int)(both % GC_MASK_ROOM) : met[GC_MET_ROOM + k];
        int a = kind == GC_FV ? j : i, b = kind == GC_FV ? i : j;
        if (q->view.pixel > GC_F(0.0)) {
            gc_emit(q, kind, la, a, lb, b);
        } else {
            gc_four ta = gc_entry_time(la, a), tb = gc_entry_time(lb, b);
            /* what has no azimuth meets every copy of A, and copy 0 is one */
            if (q->view.wraps && la->copy[a] != 0 && tb.d - tb.c > GC_F(2.0) * q->view.period) continue;
            gc_emit_meeting(q, kind, la->id[a], lb->id[b], ta.a, ta.b, tb.a, tb.b);
        }
    }
}

/* Look at what was noted, if this was the last or there is much of it; returns how much was noted. All work-items of the group
 * take part. */
GC_FN int gc_settle_met(const gc_search *q, int kind, const gc_list *of, const gc_list *with, int last)
{
    int n;
    GC_BARRIER();
    n = *q->n_met;
    GC_BARRIER(); /* all have read it */
    if (!last && n <= GC_MET_ROOM / 2) return n;
    gc_emit_met(q, kind, of, with, GC_MIN(n, GC_MET_ROOM), 0);
    if (GC_LOCAL_ID == 0) *q->n_met = 0;
    GC_BARRIER();
    return n;
}

/* Look into the words that were kept: their bits are noted, those that meet are found, and then looked at. All work-items of the group
 * take part. */
GC_FN void gc_settle_words(const gc_search *q, int kind, const gc_list *of, const gc_list *with)
{
    GC_GLOBAL int *kept = q->met + 3 * GC_MET_ROOM;
    int words, n, k;
    GC_BARRIER();
    words = q->n_met[2];
    do {
        GC_ROLLED
        for (k = GC_LOCAL_ID; k < words; k += GC_GROUP_SIZE) {
            gc_uint bits = (gc_uint)kept[2 * k + 1];
            kept[2 * k + 1] = (int)gc_note_bits(q, kept[2 * k], bits);
        }
        GC_BARRIER();
        n = q->n_met[0];
        gc_sift_met(q, of, with, GC_MIN(n, GC_MET_ROOM));
        gc_emit_met(q, kind, of, with, q->n_met[1], 1);
        GC_BARRIER();
        if (GC_LOCAL_ID == 0) {
            q->n_met[0] = 0;
            q->n_met[1] = 0;
            q->n_met[2] = 0;
        }
        GC_BARRIER();
    } while (n > GC_MET_ROOM); /* what found no room is still set */
}

/* All entries of `of`, a work-item for each, against all of `with`. */
GC_LARGE void gc_search_met(const gc_search *q, int kind, const gc_list *of, const gc_list *with)
{
    int n_of = *of->count, n_with = *with->count, first = 0, at, n;
    gc_range range;
    if (n_of == 0 || n_with == 0) return;
    do {
        int i = first + GC_LOCAL_ID;
        if (i < n_of) range = gc_range_of(&q->view, of, i);
        first += GC_GROUP_SIZE;
        at = 0;
        do {
            gc_uint bits = i < n_of ? gc_tile_meets(with, at, GC_MIN(n_with - at, GC_TILE), range) : 0;
            do {
                bits = gc_note_met(q, i, at, bits);
                n = gc_settle_met(q, kind, of, with, first >= n_of && at + GC_TILE >= n_with);
            } while (n > GC_MET_ROOM);
            at += GC_TILE;
        } while (at < n_with);
    } while (first < n_of);
}

/* The same by bits. */
GC_LARGE void gc_search_masked(
    const gc_search *q,
    int kind,
    const gc_list *of,
    const gc_list *with,
    GC_GLOBAL const gc_raster *hull)
{
    int n_of = *of->count, n_with = *with->count, words = gc_mask_words(n_with), first = 0, kept = 0, at;
    int r0 = 0, r1 = 0, h0 = 0, h1 = 0, l0 = 0, l1 = 0;
    gc_bins bins = gc_bins_of(hull);
    gc_make_masks(q, with, hull);
    do {
        int i = first + GC_LOCAL_ID;
        if (i < n_of) {
            gc_range a = gc_range_of(&q->view, of, i);
            r0 = gc_mask_row(0, gc_bin(&bins, 0, a.r1), words);
            r1 = gc_mask_row(1, gc_bin(&bins, 0, a.r0), words);
            h0 = gc_mask_row(2, gc_bin(&bins, 1, a.h1), words);
            h1 = gc_mask_row(3, gc_bin(&bins, 1, a.h0), words);
            l0 = gc_mask_row(4, gc_bin(&bins, 2, a.l1), words);
            l1 = gc_mask_row(5, gc_bin(&bins, 2, a.l0), words);
        }
        first += GC_GROUP_SIZE;
        at = 0;
        do {
            if (i < n_of) {
                GC_GLOBAL const gc_uint *m = q->masks + at;
                gc_words bits = gc_words_common(
                    gc_words_common(
                        gc_words_common(gc_words_of(m + r0), gc_words_of(m + r1)),
                        gc_words_common(gc_words_of(m + h0), gc_words_of(m + h1))),
                    gc_words_common(gc_words_of(m + l0), gc_words_of(m + l1)));
                int n = (bits.a != 0) + (bits.b != 0) + (bits.c != 0) + (bits.d != 0), entry = GC_MASK_ROOM * i + 32 * at;
                if (n) {
                    GC_GLOBAL int *to = q->met + 3 * GC_MET_ROOM + 2 * GC_GROUP_ADD(q->n_met + 2, n);
                    to += gc_keep_word(to, entry, bits.a);
                    to += gc_keep_word(to, entry + 32, bits.b);
                    to += gc_keep_word(to, entry + 64, bits.c);
                    gc_keep_word(to, entry + 96, bits.d);
                }
            }
            at += GC_WORDS;
            kept += GC_WORDS * GC_GROUP_SIZE; /* at most */
            if (kept + GC_WORDS * GC_GROUP_SIZE > GC_WORD_ROOM || (at >= words && first >= n_of)) {
                gc_settle_words(q, kind, of, with);
                kept = 0;
            }
        } while (at < words);
    } while (first < n_of);
}

/* All of `of` against all of `with`, which have this hull, one way or the other. */
GC_FN void gc_search_lists(
    const gc_search *q,
    int kind,
    const gc_list *of,
    const gc_list *with,
    GC_GLOBAL const gc_raster *hull)
{
    int n = *with->count;
    if (q->has_hulls && n <= GC_MASK_ROOM && *of->count <= GC_MASKED_ROWS && (gc_long)*of->count * n >= GC_MASKED_TESTS)
        gc_search_masked(q, kind, of, with, hull);
    else gc_search_met(q, kind, of, with);
}

#endif
