/* gc_dedup.h: which hits of a pair are the same meeting, and which one is reported.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/contact/gc_revolved.h
 *
 * A vertex on the border of a face, or at the end of an edge, meets several features at once (VV, EV, VE): all of them are
 * hits. Hit j *covers* hit i if j lasts at least as long, both are at an end or on a border, and both are at the same place
 * of A and at the same place of B all the while. A hit is dropped if another one that covers it also outranks it: by greater
 * properness, or by equal properness and an earlier position in a fixed order. This depends on the two hits alone, and what
 * drops a hit passes every threshold that the hit passes: so applying a threshold before or after leaves the same contacts,
 * and the best hit of a meeting always stays (docs/decisions/0016).
 */
#ifndef GC_DEDUP_H
#define GC_DEDUP_H

/* the hits of a pair while they are settled */
typedef struct {
    GC_GLOBAL int *hit;
    GC_GLOBAL const gc_real *value;
    GC_GLOBAL int *order; /* (n,) by time, see gc_hit_before */
    int n;
    int first_lasting; /* place in the order of the first that lasts, or n */
    gc_real same_time;
} gc_pair_hits;

GC_FN gc_hit gc_hit_at(const gc_pair_hits *h, int i) { return gc_hit_load(h->hit, i); }

GC_FN gc_hit_reals gc_reals_at(const gc_pair_hits *h, int i) { return gc_reals_load(h->value, i); }

/* the order in which contacts are reported */
GC_FN int gc_hit_before(const gc_pair_hits *h, int a, int b)
{
    gc_hit x = gc_hit_at(h, a), y = gc_hit_at(h, b);
    /* as they will be written: s + 1/2 may round two times to one */
    gc_real ta = gc_reals_at(h, a).s + GC_R(0.5), tb = gc_reals_at(h, b).s + GC_R(0.5);
    int ka = x.kind & GC_HIT_KIND_MASK, kb = y.kind & GC_HIT_KIND_MASK;
    if (ta != tb) return ta < tb;
    if (ka != kb) return ka < kb;
    if (x.a != y.a) return x.a < y.a;
    if (x.b != y.b) return x.b < y.b;
    if (gc_reals_at(h, a).end != gc_reals_at(h, b).end) return gc_reals_at(h, a).end > gc_reals_at(h, b).end;
    return x.kind < y.kind;
}

#define GC_BY_TIME 0
#define GC_BY_FEATURES 1
#define GC_BY_KEY 2 /* gc_dedup_sorted.h */

GC_FN int gc_hit_sorted(const gc_pair_hits *h, int by, int a, int b)
{
    if (by == GC_BY_KEY) return h->hit[GC_HIT_STRIDE * a + GC_HIT_pair] < h->hit[GC_HIT_STRIDE * b + GC_HIT_pair];
    if (by == GC_BY_FEATURES) {
        gc_hit x = gc_hit_at(h, a), y = gc_hit_at(h, b);
        int kx = x.kind & GC_HIT_KIND_MASK, ky = y.kind & GC_HIT_KIND_MASK;
        if (kx != ky) return kx < ky;
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    }
    return gc_hit_before(h, a, b);
}

GC_LARGE void gc_hits_sort(const gc_pair_hits *h, int by)
{
    int gap = 1, i;
    while (gap < h->n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (i = gap; i < h->n; ++i) {
            int item = h->order[i], j = i;
            for (; j >= gap && gc_hit_sorted(h, by, item, h->order[j - gap]); j -= gap) h->order[j] = h->order[j - gap];
            h->order[j] = item;
        }
    }
}

/* Does the hit at place `one` of the order stand above the one at `two`: greater properness, then the one that lasts, then
 * vertices before edges, then lower numbers, then the earlier. Strict and total. */
GC_FN int gc_outranks(const gc_pair_hits *h, int one, int two)
{
    int i = h->order[one], j = h->order[two];
    gc_hit x = gc_hit_at(h, i), y = gc_hit_at(h, j);
    gc_real a = gc_reals_at(h, i).properness, b = gc_reals_at(h, j).properness;
    int kx = x.kind & GC_HIT_KIND_MASK, ky = y.kind & GC_HIT_KIND_MASK;
    if (a != b) return a > b;
    if ((x.kind ^ y.kind) & GC_HIT_SUSTAINED) return (x.kind & GC_HIT_SUSTAINED) != 0;
    if (kx != ky) return kx < ky;
    if (x.a != y.a) return x.a < y.a;
    if (x.b != y.b) return x.b < y.b;
    if (gc_hit_before(h, i, j)) return 1;
    return !gc_hit_before(h, j, i) && i < j; /* twice the same: either */
}

/* where features that touch do so at s, on either body (centred mesh coordinates, user units); meant only at the margin
 * of one of them, whose corner then gives both places: those of nearly parallel edges are worth little by themselves */
typedef struct {
    gc_vec on_a, on_b;
    gc_real doubt; /* of these places, scaled */
    int margin;
} gc_touch;

/* the end of an edge that is within tolerance of the place `along` it, or -1 */
GC_FN int gc_end_at(const gc_tables *t, const gc_mesh *m, int edge, gc_real along, gc_real length, gc_real tol)
{
    gc_real rest = length - along;
    if (!(GC_MIN(along, rest) <= tol)) return -1;
    return t->topology[m->edges + 2 * edge + (rest < along ? 1 : 0)];
}

/* lasting: found by its borders, not by the time at which it comes about, so that nothing of it is in doubt */
GC_LARGE gc_touch gc_touch_on_screw(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s, int lasting)
{
    const gc_screw *k = gc_screw_of(p);
    gc_turn to = gc_turn_at(k->theta, s), back = gc_turn_back(to);
    gc_real tol = GC_TOL_INSIDE * k->size;
    int va = kind == GC_VF ? fa : -1, vb = kind == GC_FV ? fb : -1;
    gc_vec on_a, on_b; /* screw frame, B's half-way */
    gc_touch r;
    r.on_a = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    r.on_b = r.on_a;
    r.doubt = GC_R(0.0);
    r.margin = 0;
    if (kind == GC_EE) {
        gc_edges x = gc_edges_load(t, p, fa, fb);
        gc_crossing c = gc_cross_at(k, &x, to);
        if (c.sine < GC_TOL_PARALLEL) return r;
        on_a = gc_add(x.p, gc_scale(x.d, c.alpha));
        if (!lasting) r.doubt = gc_place_doubt(k, on_a, gc_facing(k, gc_unit(c.cross, r.on_a), on_a), c.sine);
        va = gc_end_at(t, gc_mesh_a(p), fa, c.alpha * x.length_a, x.length_a, tol + r.doubt);
        vb = gc_end_at(t, gc_mesh_b(p), fb, c.beta * x.length_b, x.length_b, tol + r.doubt);
        if (va < 0 && vb < 0) return r;
        r.margin = 1;
    }
    if (vb >= 0) {
        r.on_b = gc_vertex(t, gc_mesh_b(p), vb);
        on_b = gc_place(k, k->rb, k->tb, r.on_b);
        on_a = gc_flow(k, to, on_b);
        r.on_a = gc_unplace(k, k->ra, k->ta, on_a);
    }
    if (va >= 0) {
        r.on_a = gc_vertex(t, gc_mesh_a(p), va);
        on_a = gc_place(k, k->ra, k->ta, r.on_a);
        on_b = gc_flow(k, back, on_a);
        if (vb < 0) r.on_b = gc_unplace(k, k->rb, k->tb, on_b);
    }
    if (kind == GC_FV) {
        gc_vec n = gc_rotate(k->ra, gc_normal(t, gc_mesh_a(p), fa));
        if (!lasting) r.doubt = gc_place_doubt(k, on_a, gc_facing(k, n, on_a), GC_R(1.0));
        r.margin = gc_inside_face(t, gc_mesh_a(p), fa, r.on_a, k->shrink) <= tol + r.doubt;
    }
    if (kind == GC_VF) {
        gc_vec n = gc_rotate(k->rb, gc_normal(t, gc_mesh_b(p), fb));
        if (!lasting) r.doubt = gc_place_doubt(k, on_b, gc_facing(k, n, on_b), GC_R(1.0));
        r.margin = gc_inside_face(t, gc_mesh_b(p), fb, r.on_b, k->shrink) <= tol + r.doubt;
    }
    return r;
}

GC_FN gc_touch gc_touch_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s, int lasting)
{
#if GC_BODY_MOTION
    if (gc_each_moves(p)) {
        gc_pair at;
        gc_pair_at(p, s, &at);
        return gc_touch_on_screw(t, &at, kind, fa, fb, GC_R(0.0), lasting);
    }
#endif
    return gc_touch_on_screw(t, p, kind, fa, fb, s, lasting);
}

/* Edges that stay on each other and are parallel at s, where their contact begins or ends: they touch at the corner near which they cross
 * at `beside`, a little within their contact. */
GC_LARGE gc_touch gc_touch_beside(const gc_tables *t, const gc_pair *p, int ea, int eb, gc_real s, gc_real beside)
{
    const gc_screw *k = gc_screw_of(p);
    gc_edges x = gc_edges_load(t, p, ea, eb);
    gc_crossing c = gc_cross_when(t, p, &x, ea, eb, beside);
    gc_touch r;
    gc_real tol = GC_TOL_INSIDE * k->size + GC_R(4.0) * GC_ABS(beside - s) * k->speed;
    int va, vb;
    r.margin = 0;
    if (!(gc_cross_when(t, p, &x, ea, eb, s).sine < GC_NEARLY_PARALLEL) || c.sine < GC_TOL_PARALLEL) return r;
    tol += GC_PLACE_ROUNDING * (k->size + k->speed) / c.sine;
    va = gc_end_at(t, gc_mesh_a(p), ea, c.alpha * x.length_a, x.length_a, tol);
    vb = gc_end_at(t, gc_mesh_b(p), eb, c.beta * x.length_b, x.length_b, tol);
    if (va < 0 && vb < 0) return r;
    /* of a corner and any face the places are those of the corner */
    r = vb >= 0 ? gc_touch_at(t, p, GC_FV, 0, vb, s, 1) : gc_touch_at(t, p, GC_VF, va, 0, s, 1);
    r.margin = 1;
    return r;
}

/* the moments at which hit i is looked at: its own, or two odd ones of those that it lasts */
GC_FN gc_real gc_moment(const gc_pair_hits *h, int i, int which)
{
    gc_real s = gc_reals_at(h, i).s, share = which == 0 ? GC_R(0.37) : GC_R(0.73);
    return gc_hit_at(h, i).kind & GC_HIT_SUSTAINED ? s + share * (gc_reals_at(h, i).end - s) : s;
}

/* is x within `reach` of an end of an edge, coordinate by coordinate */
GC_FN int gc_near_end(const gc_tables *t, const gc_mesh *m, int edge, gc_vec x, gc_real reach)
{
    gc_vec u = gc_vertex(t, m, t->topology[m->edges + 2 * edge]), v = gc_vertex(t, m, t->topology[m->edges + 2 * edge + 1]);
    return gc_most(gc_sub(u, x)) <= reach || gc_most(gc_sub(v, x)) <= reach;
}

/* May a hit be at these places at any time? On its own body a vertex stays where it is, and so do the ends of an edge, one of which
 * is the place of edges at their margin. Asked of many before their places are computed. */
GC_FN int gc_may_be_there(const gc_tables *t, const gc_pair *p, gc_hit y, const gc_touch *there, gc_real reach)
{
    int kind = y.kind & GC_HIT_KIND_MASK;
    if (kind == GC_VF) return gc_most(gc_sub(gc_vertex(t, gc_mesh_a(p), y.a), there->on_a)) <= reach;
    if (kind == GC_FV) return gc_most(gc_sub(gc_vertex(t, gc_mesh_b(p), y.b), there->on_b)) <= reach;
    return gc_near_end(t, gc_mesh_a(p), y.a, there->on_a, reach) || gc_near_end(t, gc_mesh_b(p), y.b, there->on_b, reach);
}

/* no two places that count as one are farther apart: twice what gc_same_places allows at most */
GC_FN gc_real gc_widest_reach(const gc_pair *p, const gc_pair_hits *h)
{
    const gc_screw *k = gc_screw_of(p);
    gc_real doubt = GC_PLACE_DOUBT * (k->size + k->speed);
    return GC_R(2.0) * k->scale
           * (GC_R(8.0) * GC_TOL_INSIDE * k->size + GC_R(4.0) * doubt + GC_R(2.0) * h->same_time * k->speed);
}

/* Is hit i, at its margin at the places `mine`, at the same places as hit j, which lasts as long? */
GC_LARGE int gc_same_places(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, int j, const gc_touch *mine)
{
    const gc_screw *k = gc_screw_of(p);
    int which, moments = gc_hit_at(h, i).kind & GC_HIT_SUSTAINED ? 2 : 1;
    if (!gc_may_be_there(t, p, gc_hit_at(h, j), mine, gc_widest_reach(p, h))) return 0;
    for (which = 0; which < moments; ++which) {
        gc_real at = gc_moment(h, i, which), s = GC_MIN(GC_MAX(at, gc_reals_at(h, j).s), gc_reals_at(h, j).end);
        gc_hit y = gc_hit_at(h, j);
        gc_touch other = gc_touch_at(t, p, y.kind & GC_HIT_KIND_MASK, y.a, y.b, s, y.kind & GC_HIT_SUSTAINED);
        gc_real reach;
        if (!other.margin && (y.kind & GC_HIT_KIND_MASK) == GC_EE && y.kind & GC_HIT_SUSTAINED) {
            gc_real from = gc_reals_at(h, j).s, to = gc_reals_at(h, j).end, off = GC_R(50.0) * h->same_time;
            off = GC_MIN(off, GC_R(0.5) * (to - from));
            other = gc_touch_beside(t, p, y.a, y.b, s, s - from < to - s ? s + off : s - off);
        }
        reach = GC_R(4.0) * GC_TOL_INSIDE * k->size + mine[which].doubt + other.doubt + GC_ABS(s - at) * k->speed;
        reach *= k->scale;
        if (!other.margin || !(gc_norm(gc_sub(other.on_a, mine[which].on_a)) <= reach)
            || !(gc_norm(gc_sub(other.on_b, mine[which].on_b)) <= reach))
            return 0;
    }
    return 1;
}

/* may hit i be one meeting with others? Then its places. */
GC_LARGE int gc_at_margin(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, gc_touch *mine)
{
    gc_hit x = gc_hit_at(h, i);
    int which, moments = x.kind & GC_HIT_SUSTAINED ? 2 : 1;
    if (moments == 1 && !(x.kind & GC_HIT_MARGIN)) return 0;
    for (which = 0; which < moments; ++which) {
        mine[which] = gc_touch_at(t, p, x.kind & GC_HIT_KIND_MASK, x.a, x.b, gc_moment(h, i, which), moments == 2);
        if (!mine[which].margin) return 0;
    }
    return 1;
}

/* Does the hit at place `j` of the order begin when the one at `at` does, or long before, and last? */
GC_FN int gc_counts(const gc_pair_hits *h, int j, int at)
{
    int o = h->order[j];
    gc_real later = gc_reals_at(h, o).s - gc_reals_at(h, h->order[at]).s;
    return GC_ABS(later) <= h->same_time || (later < GC_R(0.0) && gc_hit_at(h, o).kind & GC_HIT_SUSTAINED);
}

/* Does the hit at place `j` of the order last as long as the one at `at`, and stand above it? */
GC_FN int gc_outlasts(const gc_pair_hits *h, int j, int at)
{
    int i = h->order[at], o = h->order[j];
    if (gc_reals_at(h, o).end < gc_reals_at(h, i).end - h->same_time) return 0;
    return gc_outranks(h, j, at);
}

GC_FN int gc_same_features(gc_hit x, gc_hit y)
{
    return ((x.kind ^ y.kind) & GC_HIT_KIND_MASK) == 0 && x.a == y.a && x.b == y.b;
}

#if GC_AT_DISTANCE
/* At a distance features meet at several places of one border at most where a closest point lies on it: is hit i at the same points of both
 * bodies as hit j, for as long as it lasts? */
GC_LARGE int gc_same_closest(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, int j)
{
    gc_hit x = gc_hit_at(h, i), y = gc_hit_at(h, j);
    int which, moments = x.kind & GC_HIT_SUSTAINED ? 2 : 1;
    for (which = 0; which < moments; ++which) {
        gc_real at = gc_moment(h, i, which), s = GC_MIN(GC_MAX(at, gc_reals_at(h, j).s), gc_reals_at(h, j).end), reach;
        gc_contact mine = gc_apart_when(t, p, x.kind & GC_HIT_KIND_MASK, x.a, x.b, at);
        gc_contact other = gc_apart_when(t, p, y.kind & GC_HIT_KIND_MASK, y.a, y.b, s);
        reach = GC_R(4.0) * GC_TOL_INSIDE * p->bodies.size + mine.doubt + other.doubt + GC_ABS(s - at) * p->bodies.speed;
        reach *= p->bodies.scale;
        if (!(gc_norm(gc_sub(other.local_a, mine.local_a)) <= reach)
            || !(gc_norm(gc_sub(other.local_b, mine.local_b)) <= reach))
            return 0;
    }
    return 1;
}
#endif

/* does a pair have so many hits that they are sorted out by place first? */
GC_FN int gc_has_many_hits(const gc_pair *p, int n)
{
#if GC_AT_DISTANCE
    if (gc_at_distance(p)) return 0;
#endif
    (void)p;
    return n > GC_MANY_HITS;
}

/* Is the hit at place `at` of the order covered by another one? Pixels are only compared with others of the same features here:
 * their places are good to a row, and gc_pixels.h settles the rest. */
GC_LARGE int gc_superseded(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int at, int refine)
{
    int i = h->order[at], j, step, margin = refine == GC_REFINE_PIXELS ? 0 : -1;
    gc_hit x = gc_hit_at(h, i);
    gc_real s = gc_reals_at(h, i).s;
    gc_touch mine[2];
    for (step = -1; step <= 1; step += 2) {
        for (j = at + step; j >= 0 && j < h->n; j += step) {
            int o = h->order[j];
            gc_hit y = gc_hit_at(h, o);
            if (GC_ABS(gc_reals_at(h, o).s - s) > h->same_time) {
                /* what began long before still counts if it lasts */
                if (step > 0 || j < h->first_lasting) break;
                if (!(y.kind & GC_HIT_SUSTAINED)) continue;
            }
            if (!gc_outlasts(h, j, at)) continue;
            if (gc_same_features(x, y)) return 1;
#if GC_AT_DISTANCE
            if (gc_at_distance(p)) {
                if (gc_same_closest(t, p, h, i, o)) return 1;
                continue;
            }
#endif
            if (margin < 0) margin = gc_at_margin(t, p, h, i, mine);
            if (margin && gc_same_places(t, p, h, i, o, mine)) return 1;
        }
    }
    return 0;
}

#endif
