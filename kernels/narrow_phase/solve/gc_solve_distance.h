/* gc_solve_distance.h: one candidate of bodies at a distance to its hits.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/solve/gc_gap_curve.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. A candidate of two edges stands for these, and for the vertices that they own, each of which
 * belongs to one edge. Roots are looked for in the piece of the motion for which the candidate was proposed, in halves of halves, of which
 * those outside its bracket are left out: so no bits hang on how wide a box was. Only what falls through 0 counts, and what touches it.
 */
#ifndef GC_SOLVE_DISTANCE_H
#define GC_SOLVE_DISTANCE_H
#if GC_AT_DISTANCE

/* when a candidate is looked at: its piece, and of that only from first to last */
typedef struct {
    gc_real lo, hi, first, last;
} gc_gap_span;

GC_FN gc_gap_value gc_gap_when(const gc_gap_curve *c, gc_real s, gc_real arm)
{
    gc_body_state now;
    gc_bodies_at(&c->pair->bodies, s, &now);
    return gc_gap_at(c, &now, arm);
}

GC_LARGE void gc_gap_hit(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real s,
    gc_real end)
{
    gc_contact c;
    gc_real properness;
    int lasts = end - s > GC_MIN(GC_R(2.0) * p->bodies.tau, GC_R(0.5));
    s = gc_clamp_time(s);
    c = gc_closest_when(t, p, kind, fa, fb, s);
    if (!gc_is_closest(&c, p)) return;
    properness = gc_closest_properness(&c);
    if (properness < o->min_properness) return;
    gc_hit_append(o, pair, kind | (lasts ? GC_HIT_SUSTAINED : 0), fa, fb, s, lasts ? end : s, properness);
}

/* the root of a function that falls from a to b */
GC_LARGE gc_real gc_gap_root(const gc_gap_curve *c, gc_real a, gc_real b)
{
    gc_real x = GC_R(0.5) * (a + b), next;
    int i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_gap_value v = gc_gap_when(c, x, GC_R(0.0));
        if (GC_ABS(v.f) <= GC_R(0.05) * c->rounding) return x;
        if (v.f > GC_R(0.0)) a = x;
        else b = x;
        next = v.df != GC_R(0.0) ? x - v.f / v.df : a;
        if (!(next > a && next < b)) next = GC_R(0.5) * (a + b);
        if (next == x || next <= a || next >= b) return x;
        x = next;
    }
    return x;
}

/* Is the pair of features in contact all around s, for one whose distance does not change? */
GC_FN int gc_gap_lasts_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_contact c = gc_closest_when(t, p, kind, fa, fb, s);
    return gc_is_closest(&c, p);
}

/* where that begins or ends, between a time in which it is and one in which it is not */
GC_LARGE gc_real gc_gap_border(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real in, gc_real out)
{
    int i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real mid = GC_R(0.5) * (in + out);
        if (mid == in || mid == out) break;
        if (gc_gap_lasts_at(t, p, kind, fa, fb, mid)) in = mid;
        else out = mid;
    }
    return in;
}

/* the intervals in which features that keep their distance are the closest, one hit each */
GC_LARGE void gc_gap_lasting(const gc_tables *t, const gc_pair *p, const gc_hits *o, int pair, int kind, int fa, int fb)
{
    int n = GC_MAX_PIECES + 4 * (int)(p->bodies.angle_a + p->bodies.angle_b), i, was = 0;
    gc_real begun = GC_R(0.0), before = GC_R(-0.5);
    for (i = 0; i <= n; ++i) {
        gc_real s = (gc_real)i / (gc_real)n - GC_R(0.5);
        int in = gc_gap_lasts_at(t, p, kind, fa, fb, s);
        if (in && !was) begun = i ? gc_gap_border(t, p, kind, fa, fb, s, before) : s;
        if (!in && was) gc_gap_hit(t, p, o, pair, kind, fa, fb, begun, gc_gap_border(t, p, kind, fa, fb, before, s));
        was = in;
        before = s;
    }
    if (was) gc_gap_hit(t, p, o, pair, kind, fa, fb, begun, GC_R(0.5));
}

/* Does the function stay within the touch tolerance of 0 for the whole step? It is analytic, so it does then on any part of it. */
GC_LARGE int gc_gap_vanishes(const gc_gap_curve *c)
{
    int n = 12 + (int)(GC_R(4.0) * (c->pair->bodies.angle_a + c->pair->bodies.angle_b)), i;
    for (i = 0; i < n; ++i) {
        gc_real x = GC_R(1.0) - (GC_R(2.0) * (gc_real)i + GC_R(1.0)) / (gc_real)n;
        gc_gap_value v = gc_gap_when(c, GC_R(0.25) * x * (GC_R(3.0) - x * x), GC_R(0.0));
        if (!(GC_ABS(v.f) <= c->touch * v.scale + c->rounding)) return 0;
    }
    return 1;
}

/* Are two edges parallel for the whole step? */
GC_LARGE int gc_gap_parallel(const gc_gap_curve *c)
{
    int n = 8 + 4 * (int)(c->pair->bodies.angle_a + c->pair->bodies.angle_b), i;
    for (i = 0; i <= n; ++i) {
        gc_gap_value v = gc_gap_when(c, (gc_real)i / (gc_real)n - GC_R(0.5), GC_R(0.0));
        if (v.scale > GC_TOL_PARALLEL * c->unit) return 0;
    }
    return 1;
}

/* All roots of one function at which it falls. Returns 0 if a cap was hit. */
GC_LARGE int gc_gap_solve(
    const gc_tables *t,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    const gc_gap_curve *c,
    const gc_gap_span *span)
{
    const gc_pair *p = c->pair;
    gc_real h = span->hi - span->lo, touched = GC_R(-100.0);
    gc_long index = 0;
    int level = 0, visits = 0, asked = 0;
    if (kind == GC_EE && gc_gap_parallel(c)) return 1;
    do {
        gc_real arm = GC_R(0.5) * h, a = span->lo + (gc_real)index * h, m = a + arm;
        int deeper = 0;
        if (a <= span->last && a + h >= span->first) {
            gc_gap_value v = gc_gap_when(c, m, arm);
            gc_real reach = GC_ABS(v.df) * arm + GC_R(0.5) * v.bend * arm * arm, touch = c->touch * v.scale + c->rounding;
            if (++visits > GC_MAX_VISITS) return 0;
            if (!asked && GC_ABS(v.f) <= touch) {
                asked = 1;
                if (gc_gap_vanishes(c)) {
                    gc_gap_lasting(t, p, o, pair, kind, fa, fb);
                    return 1;
                }
            }
            if (v.apart || GC_ABS(v.f) > reach + c->touch * c->unit + c->rounding) deeper = 0;
            else if (GC_ABS(v.df) > GC_R(1.00001) * v.bend * arm) {
                gc_real b = span->lo + (gc_real)(index + 1) * h;
                if (v.df < GC_R(0.0) && gc_gap_when(c, a, GC_R(0.0)).f > GC_R(0.0)
                    && !(gc_gap_when(c, b, GC_R(0.0)).f > GC_R(0.0))) {
                    if (a > touched) gc_gap_hit(t, p, o, pair, kind, fa, fb, gc_gap_root(c, a, b), GC_R(-1.0));
                    touched = b;
                }
            } else if (v.bend * arm * arm <= GC_R(0.5) * c->touch * v.scale) {
                /* it touches, as near as can be told, or falls and rises again: of such pieces beside each other the first tells */
                if (GC_ABS(v.f) <= touch) {
                    if (a > touched) gc_gap_hit(t, p, o, pair, kind, fa, fb, m, GC_R(-1.0));
                    touched = a + h;
                }
            } else deeper = level < GC_MAX_LEVEL;
        }
        if (deeper) {
            level += 1;
            index *= 2;
            h = arm;
            continue;
        }
        index += 1;
        while (level > 0 && (index & 1) == 0) {
            index /= 2;
            level -= 1;
            h *= GC_R(2.0);
        }
    } while (level > 0 || index == 0);
    return 1;
}

/* What is at r at the start and comes nearer so slowly that the root lies farther before it than is looked for. */
GC_LARGE void gc_gap_begins(
    const gc_tables *t,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    const gc_gap_curve *c)
{
    gc_gap_value v = gc_gap_when(c, GC_R(-0.5), GC_R(0.0));
    if (GC_ABS(v.f) <= c->touch * v.scale + c->rounding && v.df < GC_R(0.0))
        gc_gap_hit(t, c->pair, o, pair, kind, fa, fb, GC_R(-0.5), GC_R(-1.0));
}

GC_LARGE int gc_gap_family(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    int both,
    const gc_gap_span *span)
{
    int k, good = 1;
    for (k = 0; k <= both; ++k) {
        gc_gap_curve c = gc_gap_curve_of(t, p, kind, fa, fb, k ? GC_R(-1.0) : GC_R(1.0));
        if (!gc_gap_solve(t, o, pair, kind, fa, fb, &c, span)) good = 0;
        if (span->first <= GC_R(-0.5)) gc_gap_begins(t, o, pair, kind, fa, fb, &c);
    }
    return good;
}

/* Of a bracket, what of it is left in which two edges, or their ends, may be near. Empty: first behind last. */
GC_LARGE void gc_gap_narrow(const gc_gap_curve *c, gc_gap_span *span)
{
    gc_real h = GC_R(0.25) * (span->last - span->first), arm = GC_R(0.5) * h + GC_PIECE_OVERLAP, first = span->first;
    int k, some = 0;
    for (k = 0; k < 4; ++k) {
        gc_body_state now;
        gc_real m = first + ((gc_real)k + GC_R(0.5)) * h;
        gc_bodies_at(&c->pair->bodies, m, &now);
        if (!gc_edges_may_be_near(c, &now, arm)) continue;
        if (!some) span->first = m - arm;
        some = 1;
        span->last = m + arm;
    }
    if (!some) span->last = span->first - GC_R(1.0);
}

/* the vertex at an end of an edge, if the edge owns it, or -1: it is the first of those that leave the vertex */
GC_FN int gc_owned_end(const gc_tables *t, const gc_mesh *m, int edge, int end)
{
    int v = t->topology[m->edges + 2 * edge + end];
    int first = t->topology[m->vertex_edges + t->topology[m->vertex_edge_start + v]] >> 1;
    return first == edge ? v : -1;
}

/* Returns 0 if a cap was hit. middle, arm: of the piece */
GC_LARGE int gc_solve_at_distance(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    const gc_candidate *c,
    gc_real middle,
    gc_real arm)
{
    const gc_mesh *a = gc_mesh_a(p), *b = gc_mesh_b(p);
    gc_real slack = GC_MAX(p->bodies.tau, GC_PIECE_OVERLAP);
    gc_gap_span span;
    gc_gap_curve edges;
    int i, j, va, vb, good;
    span.lo = GC_MAX(middle - arm, GC_R(-0.5) - p->bodies.tau);
    span.hi = GC_MIN(middle + arm, GC_R(0.5) + p->bodies.tau);
    span.first = c->first - slack;
    span.last = c->last + slack;
    if (c->kind == GC_FV) return gc_gap_family(t, p, o, c->pair, c->kind, c->a, c->b, a->two_sided, &span);
    if (c->kind == GC_VF) return gc_gap_family(t, p, o, c->pair, c->kind, c->a, c->b, b->two_sided, &span);
    edges = gc_gap_curve_of(t, p, GC_EE, c->a, c->b, GC_R(1.0));
    gc_gap_narrow(&edges, &span);
    if (span.first > span.last) return 1;
    good = gc_gap_family(t, p, o, c->pair, GC_EE, c->a, c->b, 1, &span);
    for (i = 0; i < 2; ++i) {
        va = gc_owned_end(t, a, c->a, i);
        if (va >= 0) good &= gc_gap_family(t, p, o, c->pair, GC_VE, va, c->b, 0, &span);
        vb = gc_owned_end(t, b, c->b, i);
        if (vb >= 0) good &= gc_gap_family(t, p, o, c->pair, GC_EV, c->a, vb, 0, &span);
        for (j = 0; j < 2 && va >= 0; ++j) {
            vb = gc_owned_end(t, b, c->b, j);
            if (vb >= 0) good &= gc_gap_family(t, p, o, c->pair, GC_VV, va, vb, 0, &span);
        }
    }
    return good;
}

#endif
#endif
