/* gc_dedup_sorted.h: which hits of a pair are dropped, where it has many.
 * needs: narrow_phase/contact/gc_dedup.h
 *
 * Bodies that lie flush on each other have thousands of hits at one time, or that all last. Comparing each with each takes
 * the square of their number. Hits are the same meeting only at the same place of A, so here they are sorted along A, and
 * compared with those that are near enough along it. The rule is that of gc_dedup.h, and so are the bits.
 *
 * Meanwhile, the pair of a hit is its key: twice its position in the order, plus 1 if it is dropped.
 */
#ifndef GC_DEDUP_SORTED_H
#define GC_DEDUP_SORTED_H

#define GC_KEYS 536870912 /* places in the order along A */
#define GC_KEY_NONE (GC_KEYS + 1)

/* Along which of A's axes hits are ordered, from where, and what makes a place of a length. */
typedef struct {
    int axis;
    gc_real low, per_length;
} gc_key_line;

/* an interval of each of A's coordinates (centred mesh coordinates, user units) */
typedef struct {
    gc_vec low, high;
    int some;
} gc_passed;

GC_FN void gc_pass(gc_passed *e, gc_vec x, gc_real more)
{
    if (!e->some) {
        e->low = x;
        e->high = x;
        e->some = 1;
    }
    e->low = gc_make(GC_MIN(e->low.x, x.x - more), GC_MIN(e->low.y, x.y - more), GC_MIN(e->low.z, x.z - more));
    e->high = gc_make(GC_MAX(e->high.x, x.x + more), GC_MAX(e->high.y, x.y + more), GC_MAX(e->high.z, x.z + more));
}

/* B's vertex v as A sees it from s to `end`: a helix is no farther from the even way between its ends than an eighth of its
 * acceleration times the square of the time */
GC_FN void gc_pass_along(const gc_tables *t, const gc_pair *p, int v, gc_real s, gc_real end, gc_passed *e)
{
    const gc_screw *k = gc_screw_of(p);
    gc_vec x = gc_place(k, k->rb, k->tb, gc_vertex(t, gc_mesh_b(p), v));
    gc_real out = k->w + k->theta * x.z, in = k->theta * x.x, time = end - s;
    gc_real bulge = GC_R(0.125) * k->scale * GC_ABS(k->theta) * time * time * (GC_ABS(out) + GC_ABS(in));
    gc_pass(e, gc_unplace(k, k->ra, k->ta, gc_flow(k, gc_turn_at(k->theta, s), x)), bulge);
    if (time > GC_R(0.0)) gc_pass(e, gc_unplace(k, k->ra, k->ta, gc_flow(k, gc_turn_at(k->theta, end), x)), bulge);
}

/* Where on A a hit can be one with others, at any time at which it is asked; 0 if nowhere. A moment is asked at itself. What
 * lasts is where A's vertex is, where B's comes by, or at an end of either edge. */
GC_LARGE int gc_passed_by(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, gc_passed *e)
{
    gc_hit x = gc_hit_at(h, i);
    gc_real s = gc_reals_at(h, i).s, end = gc_reals_at(h, i).end;
    int kind = x.kind & GC_HIT_KIND_MASK, j;
    e->some = 0;
    if (!(x.kind & GC_HIT_SUSTAINED)) {
        gc_touch at = gc_touch_at(t, p, kind, x.a, x.b, s, 0);
        if (at.margin) gc_pass(e, at.on_a, GC_R(0.0));
        return e->some;
    }
    if (kind == GC_VF) gc_pass(e, gc_vertex(t, gc_mesh_a(p), x.a), GC_R(0.0));
    if (kind == GC_FV) gc_pass_along(t, p, x.b, s, end, e);
    if (kind == GC_EE) {
        for (j = 0; j < 2; ++j) {
            gc_pass(e, gc_vertex(t, gc_mesh_a(p), t->topology[gc_mesh_a(p)->edges + 2 * x.a + j]), GC_R(0.0));
            gc_pass_along(t, p, t->topology[gc_mesh_b(p)->edges + 2 * x.b + j], s, end, e);
        }
    }
    return 1;
}

GC_FN gc_real gc_coordinate(gc_vec x, int axis) { return axis == 0 ? x.x : axis == 1 ? x.y : x.z; }

/* rounded down, and kept within the keys: numbers that are none go to the first */
GC_FN int gc_key_at(const gc_key_line *line, gc_vec x)
{
    gc_real key = GC_FLOOR((gc_coordinate(x, line->axis) - line->low) * line->per_length);
    return key >= GC_R(0.0) ? (int)GC_MIN(key, (gc_real)(GC_KEYS - 1)) : 0;
}

/* the axis along which hits are spread most */
GC_LARGE gc_key_line gc_key_line_of(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h)
{
    gc_passed all, e;
    gc_key_line line;
    gc_vec wide;
    gc_real most;
    int at;
    all.low = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    all.high = all.low;
    all.some = 0;
    for (at = 0; at < h->n; ++at) {
        if (!gc_passed_by(t, p, h, h->order[at], &e)) continue;
        gc_pass(&all, e.low, GC_R(0.0));
        gc_pass(&all, e.high, GC_R(0.0));
    }
    wide = gc_sub(all.high, all.low);
    line.axis = wide.x >= wide.y ? (wide.x >= wide.z ? 0 : 2) : (wide.y >= wide.z ? 1 : 2);
    most = gc_coordinate(wide, line.axis);
    line.low = gc_coordinate(all.low, line.axis);
    line.per_length = most > GC_R(0.0) ? (gc_real)(GC_KEYS - 1) / most : GC_R(0.0);
    return line;
}

GC_FN int gc_key_of(const gc_pair_hits *h, int at) { return h->hit[GC_HIT_STRIDE * h->order[at] + GC_HIT_pair] >> 1; }

GC_FN void gc_goes(const gc_pair_hits *h, int at) { h->hit[GC_HIT_STRIDE * h->order[at] + GC_HIT_pair] |= 1; }

/* Those of the same features are neighbours in an order by features. */
GC_LARGE void gc_drop_repeated(const gc_pair_hits *h)
{
    int at, j, step;
    gc_hits_sort(h, GC_BY_FEATURES);
    for (at = 0; at < h->n; ++at) {
        gc_hit x = gc_hit_at(h, h->order[at]);
        for (step = -1; step <= 1; step += 2)
            for (j = at + step; j >= 0 && j < h->n && gc_same_features(x, gc_hit_at(h, h->order[j])); j += step)
                if (gc_counts(h, j, at) && gc_outlasts(h, j, at)) gc_goes(h, at);
    }
}

/* Is the hit at place `at` of the order along A at the places of another one no farther along than `apart`? */
GC_LARGE int gc_covered_near(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int at, int apart)
{
    int i = h->order[at], key = gc_key_of(h, at), j, step;
    gc_touch mine[2];
    if (!gc_at_margin(t, p, h, i, mine)) return 0;
    for (step = -1; step <= 1; step += 2)
        for (j = at + step; j >= 0 && j < h->n; j += step) {
            int off = gc_key_of(h, j) - key;
            if (off > apart || off < -apart) break;
            if (!gc_counts(h, j, at) || !gc_outlasts(h, j, at)) continue;
            if (gc_same_places(t, p, h, i, h->order[j], mine)) return 1;
        }
    return 0;
}

/* Mark the hits of a pair that go by -1 for their pair; the order is any, before and after. */
GC_LARGE void gc_resolve_many(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int refine)
{
    int at, apart = 0, number = h->hit[GC_HIT_STRIDE * h->order[0] + GC_HIT_pair];
    for (at = 0; at < h->n; ++at) h->hit[GC_HIT_STRIDE * h->order[at] + GC_HIT_pair] = 0;
    gc_drop_repeated(h);
    if (refine != GC_REFINE_PIXELS) {
        gc_key_line line = gc_key_line_of(t, p, h);
        gc_passed e;
        for (at = 0; at < h->n; ++at) {
            int some = gc_passed_by(t, p, h, h->order[at], &e), key = some ? gc_key_at(&line, e.low) : GC_KEY_NONE;
            if (some) apart = GC_MAX(apart, gc_key_at(&line, e.high) - key);
            h->hit[GC_HIT_STRIDE * h->order[at] + GC_HIT_pair] += 2 * key;
        }
        gc_hits_sort(h, GC_BY_KEY);
        apart += (int)GC_MIN(gc_widest_reach(p, h) * line.per_length, (gc_real)GC_KEYS) + 2;
        for (at = 0; at < h->n && gc_key_of(h, at) != GC_KEY_NONE; ++at)
            if (!(h->hit[GC_HIT_STRIDE * h->order[at] + GC_HIT_pair] & 1) && gc_covered_near(t, p, h, at, apart))
                gc_goes(h, at);
    }
    for (at = 0; at < h->n; ++at) {
        GC_GLOBAL int *pair = h->hit + GC_HIT_STRIDE * h->order[at] + GC_HIT_pair;
        *pair = *pair & 1 ? -1 : number;
    }
}

#endif
