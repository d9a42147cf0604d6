/* gc_sustained.h: sustained contacts: the intervals in which features that stay on each other are within each other's
 * borders.
 * needs: narrow_phase/contact/gc_hits.h
 *
 * in:  two features whose contact equation vanishes for the whole step
 * out: one hit per interval. Borders are crossed where a function of time changes its sign; the pieces in between are inside
 *      or outside as a whole.
 */
#ifndef GC_SUSTAINED_H
#define GC_SUSTAINED_H

/* Normal of the plane in which two edges slide, from the moment of three at which they are least parallel: half-way they may
 * be parallel, and what is left of the cross product then points anywhere. */
GC_FN gc_vec gc_slide_normal(const gc_tables *t, const gc_pair *p, const gc_edges *x, int ea, int eb)
{
    gc_vec best = gc_cross_when(t, p, x, ea, eb, GC_R(0.0)).cross;
    int i;
    for (i = -1; i <= 1; i += 2) {
        gc_vec n = gc_cross_when(t, p, x, ea, eb, GC_R(0.5) * (gc_real)i).cross;
        if (gc_norm(n) > gc_norm(best)) best = n;
    }
    return gc_unit(best, gc_across(x->d));
}

/* The j-th function whose sign change may end or begin a lasting contact; returns 0 past the last. *scale: what makes a length
 * a value of it. */
GC_LARGE int gc_border_curve(
    const gc_tables *t,
    const gc_pair *p,
    int kind,
    int fa,
    int fb,
    int j,
    gc_curve *c,
    gc_real *scale)
{
    const gc_screw *k = gc_screw_of(p);
    if (kind == GC_EE) {
        gc_edges x = gc_edges_load(t, p, fa, fb);
        gc_vec n;
        if (j >= 4) return 0;
        n = gc_slide_normal(t, p, &x, fa, fb);
        if (j < 2) {
            /* side of A's end j as B's line sees it, in the plane with normal n */
            gc_vec end = gc_add(x.p, gc_scale(x.d, (gc_real)j));
            *c = gc_line_line(p, gc_scale(n, GC_R(-1.0)), end, x.q, x.e);
            *scale = x.length_b;
        } else {
            gc_vec side = gc_cross(x.d, n), end = gc_add(x.q, gc_scale(x.e, (gc_real)(j - 2)));
            *c = gc_point_plane(p, side, -gc_dot(side, x.p), end, GC_R(1.0));
            *scale = x.length_a;
        }
        return 1;
    } else {
        gc_sides q = gc_sides_of(p, kind, fa, fb);
        int start = t->topology[q.mesh_f->face_start + q.face], end = t->topology[q.mesh_f->face_start + q.face + 1];
        gc_vec u, v, n, side;
        if (j >= end - start) return 0;
        u = gc_vertex(t, q.mesh_f, t->topology[q.mesh_f->face_vertices + start + j]);
        v = gc_vertex(t, q.mesh_f, t->topology[q.mesh_f->face_vertices + (start + j + 1 < end ? start + j + 1 : start)]);
        n = gc_normal(t, q.mesh_f, q.face);
        side = gc_rotate(q.rf, gc_unit(gc_cross(n, gc_sub(v, u)), n));
        u = gc_place(k, q.rf, q.tf, u);
        *c = gc_point_plane(p, side, -gc_dot(side, u), gc_place(k, q.rv, q.tv, gc_vertex(t, q.mesh_v, q.vertex)), q.way);
        *scale = GC_R(1.0);
        return 1;
    }
}

/* Is a border function zero, for all that rounding can tell, for the whole step? */
GC_FN int gc_border_vanishes(const gc_curve *c, gc_real limit)
{
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_most(&c->own, limit) <= limit;)
    return gc_curve_bound_near(c, GC_R(0.5)) <= limit;
}

#if GC_BODY_MOTION
/* Does f stay zero, for all that rounding can tell, from `from` to `to`? By Taylor's theorem from the middle. */
GC_LARGE int gc_stays_zero(const gc_root_search *w, const gc_curve *c, gc_real from, gc_real to)
{
    gc_real arm = GC_R(0.5) * (to - from);
    gc_value v = gc_curve_at(c, from + arm);
    gc_real most = w->third * arm * arm * arm * GC_R(0.166666666666666667);
    most += GC_ABS(v.f) + (GC_ABS(v.df) + GC_R(0.5) * GC_ABS(v.ddf) * arm) * arm;
    return most <= GC_R(2.0) * w->touch;
}
#endif

/* Earliest sign change of any border function after `from`, or 1/2. Edges that turn out of one line may leave an end of one of
 * them by a double root; the rounding of places, not that of what is left of them, says whether two roots are one. A function that
 * vanishes for the whole step, or that stays within its rounding since `from` (a fourfold root), changes its sign by rounding alone: it
 * ends nothing. *capped is set if a cap was hit. */
GC_LARGE gc_real gc_next_border(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real from, int *capped)
{
    gc_real least = GC_R(0.5), scale;
    gc_curve c;
    int j;
    for (j = 0; gc_border_curve(t, p, kind, fa, fb, j, &c, &scale); ++j) {
        gc_root_search w;
        gc_real root;
        GC_OF_BODIES(gc_real zero_until = from;)
        gc_root_search_start(&w, &c, from, GC_R(0.5), GC_R(0.0));
        gc_root_search_rounding(&w, GC_PLACE_ROUNDING * (gc_screw_of(p)->size + gc_screw_of(p)->speed) * scale);
        if (gc_border_vanishes(&c, w.touch)) continue;
        while (gc_root_search_next(&w, &c, &root)) {
            if (root <= from + GC_R(1e-12)) continue;
#if GC_BODY_MOTION
            if (c.own.form && gc_stays_zero(&w, &c, zero_until, root)) {
                zero_until = root;
                continue;
            }
#endif
            least = root < least ? root : least;
            break;
        }
        *capped |= w.capped;
    }
    return least;
}

GC_FN int gc_lasts_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    return gc_contact_at(t, p, kind, fa, fb, s).inside >= -GC_TOL_INSIDE * gc_screw_of(p)->size;
}

/* The same for all that rounding can tell: the place at which edges cross that are nearly parallel is worth a rounding over
 * their sine, and may lie outside although the contact goes on until they are parallel. */
GC_FN int gc_may_last_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
    gc_real doubt = GC_PLACE_ROUNDING * (gc_screw_of(p)->size + gc_screw_of(p)->speed) / GC_MAX(c.sine, GC_TOL_PARALLEL);
    return c.sine >= GC_TOL_PARALLEL && c.inside >= -(GC_TOL_INSIDE * gc_screw_of(p)->size + doubt);
}

/* where between `out` (not inside) and `in` (inside) the contact begins or ends; the answer is inside, or in doubt */
GC_FN gc_real gc_bisect_border(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real out, gc_real in)
{
    int i;
    for (i = 0; i < 60; ++i) {
        gc_real mid = GC_R(0.5) * (out + in);
        if (mid == out || mid == in) break;
        if (gc_may_last_at(t, p, kind, fa, fb, mid)) in = mid;
        else out = mid;
    }
    return in;
}

/* Edges that stay in contact while the plane through both turns (they meet on the screw axis): there the border
 * functions mean nothing, and the step is sampled instead. */
GC_FN int gc_plane_turns(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb)
{
    gc_edges x;
    gc_vec a, b, c;
    if (kind != GC_EE) return 0;
    if (gc_screw_of(p)->theta == GC_R(0.0) GC_OF_BODIES(&&!gc_each_moves(p))) return 0;
    x = gc_edges_load(t, p, fa, fb);
    a = gc_cross_when(t, p, &x, fa, fb, GC_R(-0.5)).cross;
    b = gc_cross_when(t, p, &x, fa, fb, GC_R(0.0)).cross;
    c = gc_cross_when(t, p, &x, fa, fb, GC_R(0.5)).cross;
    return gc_norm(gc_cross(a, b)) + gc_norm(gc_cross(b, c)) + gc_norm(gc_cross(a, c))
           > GC_TOL_PARALLEL * x.length_a * x.length_a * x.length_b * x.length_b;
}

/* The intervals in which features that stay in contact are inside each other's borders, one hit each. The pieces
 * between border roots are inside or outside as a whole, by their middle; an end that is not inside itself (parallel
 * edges at that instant, or a sampled piece) is moved in by bisection. */
GC_LARGE int gc_solve_lasting(const gc_tables *t, const gc_pair *p, const gc_hits *o, int pair, int kind, int fa, int fb)
{
    gc_real from = GC_R(-0.5), begun = GC_R(0.0), last_in = GC_R(0.0), last_out = GC_R(-0.5);
    int open = 0, sampled = gc_plane_turns(t, p, kind, fa, fb), cap = sampled ? 4 * GC_MAX_PIECES : GC_MAX_PIECES;
    int capped = 0, i;
    for (i = 0; i < cap; ++i) {
        gc_real to = GC_R(0.5), mid;
        int in;
        if (sampled) to = GC_R(-0.5) + (gc_real)(i + 1) / (gc_real)cap;
        else if (gc_screw_of(p)->speed > GC_R(0.0)) to = gc_next_border(t, p, kind, fa, fb, from, &capped);
        mid = GC_R(0.5) * (from + to);
        in = gc_lasts_at(t, p, kind, fa, fb, mid);
        /* a sample is no border: what was out in the middle of the piece before may have begun within that piece */
        if (in && !open && sampled && i > 0) begun = gc_bisect_border(t, p, kind, fa, fb, last_out, mid);
        else if (in && !open)
            begun = gc_lasts_at(t, p, kind, fa, fb, from) ? from : gc_bisect_border(t, p, kind, fa, fb, from, mid);
        if (!in && open)
            gc_hit_test(
                t, p, o, pair, kind, fa, fb, begun, sampled ? gc_bisect_border(t, p, kind, fa, fb, mid, last_in) : from, 1);
        /* a moment's touch: they leave as the step begins, or pass each other's corner (and below: arrive as it ends) */
        if (!in && !open && gc_lasts_at(t, p, kind, fa, fb, from)) gc_hit_test(t, p, o, pair, kind, fa, fb, from, from, 1);
        if (in) last_in = mid;
        else last_out = mid;
        open = in;
        from = to;
        if (to >= GC_R(0.5)) break;
    }
    if (open)
        gc_hit_test(
            t, p, o, pair, kind, fa, fb, begun,
            gc_lasts_at(t, p, kind, fa, fb, from) ? from : gc_bisect_border(t, p, kind, fa, fb, from, last_in), 1);
    else if (gc_lasts_at(t, p, kind, fa, fb, GC_R(0.5))) gc_hit_test(t, p, o, pair, kind, fa, fb, GC_R(0.5), GC_R(0.5), 1);
    return !capped && (sampled || i < cap);
}

#endif
