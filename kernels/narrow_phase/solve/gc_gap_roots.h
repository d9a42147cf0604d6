/* gc_gap_roots.h: when two features at a distance are in contact: the roots of one function of theirs.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/solve/gc_gap_curve.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. Roots are looked for in halves of halves of a node of time. Only what falls through 0 counts, and
 * what touches it. Source: docs/decisions/0113.
 */
#ifndef GC_GAP_ROOTS_H
#define GC_GAP_ROOTS_H
#if GC_AT_DISTANCE

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

/* Where a function is least that touches 0 between a and b; its middle, if it only falls or rises there. A graze is none a little later, when
 * the bodies part. */
GC_LARGE gc_real gc_gap_least(const gc_gap_curve *c, gc_real a, gc_real b)
{
    gc_real x = GC_R(0.5) * (a + b);
    int i;
    if (!(gc_gap_when(c, a, GC_R(0.0)).df < GC_R(0.0) && gc_gap_when(c, b, GC_R(0.0)).df > GC_R(0.0))) return x;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real slope = gc_gap_when(c, x, GC_R(0.0)).df, next;
        if (slope == GC_R(0.0)) break;
        if (slope < GC_R(0.0)) a = x;
        else b = x;
        next = GC_R(0.5) * (a + b);
        if (next == x || next <= a || next >= b) break;
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

/* Is there no root within `arm`? */
GC_FN int gc_gap_empty(const gc_gap_curve *c, const gc_gap_value *v, gc_real arm)
{
    gc_real reach = GC_ABS(v->df) * arm + GC_R(0.5) * v->bend * arm * arm;
    return v->apart || GC_ABS(v->f) > reach + c->touch * v->widest + c->rounding;
}

/* Does the function stay within the touch tolerance of 0 for the whole step? It is analytic, so it does then on any part of it; that of
 * edges is with its other sign, which it changes where they are parallel for a moment. */
GC_LARGE int gc_gap_vanishes(const gc_gap_curve *c)
{
    int n = 12 + (int)(GC_R(4.0) * (c->pair->bodies.angle_a + c->pair->bodies.angle_b)), i;
    for (i = 0; i < n; ++i) {
        gc_real x = GC_R(1.0) - (GC_R(2.0) * (gc_real)i + GC_R(1.0)) / (gc_real)n;
        gc_gap_value v = gc_gap_when(c, GC_R(0.25) * x * (GC_R(3.0) - x * x), GC_R(0.0));
        gc_real f = c->f.kind == GC_EE ? GC_ABS(v.f + c->r * v.scale) - c->r * v.scale : v.f;
        if (!(GC_ABS(f) <= c->touch * v.scale + c->rounding)) return 0;
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

/* All roots at which a function falls within a node, of which `v` is known in its middle. *touched: where what was told last ends; returns 0
 * if a cap was hit. */
GC_LARGE int gc_gap_solve(
    const gc_tables *t,
    const gc_hits *o,
    int pair,
    int fa,
    int fb,
    const gc_gap_curve *c,
    gc_real lo,
    gc_real h,
    gc_body_state *now,
    gc_gap_value v,
    gc_real *touched)
{
    const gc_pair *p = c->pair;
    gc_long index = 0;
    int level = 0, visits = 0, kind = c->f.kind;
    do {
        gc_real arm = GC_R(0.5) * h, a = lo + (gc_real)index * h, m = a + arm, b = lo + (gc_real)(index + 1) * h;
        int deeper = 0;
        if (++visits > GC_MAX_VISITS) return 0;
        if (visits > 1) {
            gc_bodies_at(&p->bodies, m, now);
            v = gc_gap_at(c, now, arm);
        }
        if (gc_gap_empty(c, &v, arm)) v.apart = 1;
        else {
            gc_real bend = gc_gap_bend(c, now, arm);
            v.bend = GC_MIN(bend, v.bend);
        }
        if (!gc_gap_empty(c, &v, arm) && gc_gap_possible(t, c, fa, fb, now, arm)) {
            if (GC_ABS(v.df) > GC_R(1.00001) * v.bend * arm) {
                if (v.df < GC_R(0.0) && gc_gap_when(c, a, GC_R(0.0)).f > GC_R(0.0)
                    && !(gc_gap_when(c, b, GC_R(0.0)).f > GC_R(0.0))) {
                    if (a > *touched + GC_R(1e-12))
                        gc_gap_hit(t, p, o, pair, kind, fa, fb, gc_gap_root(c, a, b), GC_R(-1.0));
                    *touched = b;
                }
            } else if (v.bend * arm * arm <= GC_R(0.5) * c->touch * v.scale) {
                /* it touches, as near as can be told, or falls and rises again: of such pieces beside each other the first tells */
                if (GC_ABS(v.f) <= c->touch * v.scale + c->rounding) {
                    if (a > *touched + GC_R(1e-12))
                        gc_gap_hit(t, p, o, pair, kind, fa, fb, gc_gap_least(c, a, b), GC_R(-1.0));
                    *touched = b;
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
GC_LARGE void gc_gap_begins(const gc_tables *t, const gc_hits *o, int pair, int kind, int fa, int fb, const gc_gap_curve *c)
{
    gc_gap_value v = gc_gap_when(c, GC_R(-0.5), GC_R(0.0));
    if (GC_ABS(v.f) <= c->touch * v.scale + c->rounding && v.df < GC_R(0.0))
        gc_gap_hit(t, c->pair, o, pair, kind, fa, fb, GC_R(-0.5), GC_R(-1.0));
}

#endif
#endif
