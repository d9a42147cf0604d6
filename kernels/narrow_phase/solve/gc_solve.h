/* gc_solve.h: one candidate to its hits, by all roots of its contact equation.
 * needs: narrow_phase/solve/gc_sustained.h
 *
 * The bracket only excludes (one evaluation and a bound of the derivative); roots are then isolated on the whole step, so
 * that the bits of a hit do not depend on how it was proposed. An equation that vanishes for the whole step is a sustained
 * contact.
 */
#ifndef GC_SOLVE_H
#define GC_SOLVE_H

/* the largest sine of the angle between two edges during the step, or 0 if they stay parallel */
GC_FN gc_real gc_most_sine(const gc_tables *t, const gc_pair *p, int ea, int eb)
{
    const gc_screw *k = gc_screw_of(p);
    gc_edges x = gc_edges_load(t, p, ea, eb);
    gc_turn to_end = gc_turn_at(k->theta, GC_R(0.5));
    gc_real early = gc_cross_at(k, &x, gc_turn_back(to_end)).sine;
    gc_real middle = gc_cross_at(k, &x, gc_turn_at(k->theta, GC_R(0.0))).sine;
    gc_real late = gc_cross_at(k, &x, to_end).sine;
    gc_real most = GC_MAX(middle, GC_MAX(early, late));
#if GC_BODY_MOTION
    if (gc_each_moves(p)) {
        /* edges that are parallel at some moments need not be so in between if both bodies turn */
        int i, n = 8 + 4 * (int)(p->bodies.angle_a + p->bodies.angle_b);
        most = GC_R(0.0);
        for (i = 0; most < GC_TOL_PARALLEL && i <= n; ++i)
            most = gc_cross_when(t, p, &x, ea, eb, (gc_real)i / (gc_real)n - GC_R(0.5)).sine;
    }
#endif
    return most < GC_TOL_PARALLEL ? GC_R(0.0) : most;
}

/* Can a candidate have a meeting in its bracket, by one evaluation and a bound of the derivative? Its equation, what makes |f| a length,
 * and the walk over the step begun. */
GC_FN int gc_solve_begin(
    const gc_tables *t,
    const gc_pair *p,
    int kind,
    int fa,
    int fb,
    gc_real s0,
    gc_real s1,
    gc_curve *c,
    gc_root_search *w,
    gc_real *scale)
{
    const gc_screw *k = gc_screw_of(p);
    /* the bracket ends with the step, roots may lie tau beyond it */
    gc_real touch, mid = GC_R(0.5) * (s0 + s1), arm = GC_R(0.5) * (s1 - s0) + k->tau, edge = GC_R(0.5) + k->tau;
    gc_value v;
    *c = gc_candidate_curve(t, p, kind, fa, fb, scale);
    touch = GC_TOL_TOUCH * k->size * *scale;
    v = gc_curve_at(c, mid);
    gc_root_search_start(w, c, -edge, edge, touch);
    return !(GC_ABS(v.f) > GC_ABS(v.df) * arm + GC_R(0.5) * w->bend * arm * arm + w->rounding + touch);
}

/* what is to be done with a candidate */
#define GC_SOLVE_NOTHING 0
#define GC_SOLVE_ROOTS 1   /* its features meet at the roots that the walk finds */
#define GC_SOLVE_LASTING 2 /* they stay on each other */

/* `scale` is that of gc_solve_begin; edges begin their walk anew, as what is a touch hangs on their angle. */
GC_FN int gc_solve_todo(
    const gc_tables *t,
    const gc_pair *p,
    int kind,
    int fa,
    int fb,
    const gc_curve *c,
    gc_real scale,
    gc_root_search *w)
{
    const gc_screw *k = gc_screw_of(p);
    gc_real touch, edge = GC_R(0.5) + k->tau;
    if (kind == GC_EE) scale = scale * gc_most_sine(t, p, fa, fb);
    if (!(scale > GC_R(0.0))) return GC_SOLVE_NOTHING;
    touch = GC_TOL_TOUCH * k->size * scale;
    if (kind == GC_EE) gc_root_search_start(w, c, -edge, edge, touch);
    if (gc_curve_bound_near(c, GC_R(0.5)) <= touch) return GC_SOLVE_LASTING;
    return k->speed > GC_R(0.0) ? GC_SOLVE_ROOTS : GC_SOLVE_NOTHING;
}

/* returns 0 if a cap was hit */
GC_LARGE int gc_solve_exact(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real s0,
    gc_real s1)
{
    gc_real scale, root;
    gc_curve c;
    gc_root_search w;
    int todo;
    if (!gc_solve_begin(t, p, kind, fa, fb, s0, s1, &c, &w, &scale)) return 1;
    todo = gc_solve_todo(t, p, kind, fa, fb, &c, scale, &w);
    if (todo == GC_SOLVE_LASTING) return gc_solve_lasting(t, p, o, pair, kind, fa, fb);
    if (todo == GC_SOLVE_NOTHING) return 1;
    while (gc_root_search_next(&w, &c, &root)) {
        gc_real s = gc_clamp_time(root);
        gc_hit_test(t, p, o, pair, kind, fa, fb, s, s, 0);
    }
    return !w.capped;
}

#endif
