/* gc_answer.h: candidates to hits with refine = segments and pixels, by the screen.
 * needs: narrow_phase/raster/gc_cover.h narrow_phase/raster/gc_raster_crossings.h narrow_phase/solve/gc_solve.h
 *
 * Edges have the screen's time (gc_raster_crossings.h). With pixels, a vertex meets a face if its pixel is one of those that
 * the face covers (gc_cover.h), at the time at which the plane of the face is there.
 */
#ifndef GC_ANSWER_H
#define GC_ANSWER_H

/* The paper's Newton iteration (end of section 9) for a vertex and a face: the point of the face's plane that projects to
 * the vertex's place on the screen, and so their time. Returns whether it settled. */
GC_FN int gc_newton_on_screen(const gc_curve *f, gc_real *s)
{
    gc_real change = GC_R(1.0);
    int i;
    for (i = 0; i < 20 && GC_ABS(change) > GC_R(1e-13); ++i) {
        gc_value v = gc_curve_at(f, *s);
        change = v.df != GC_R(0.0) ? v.f / v.df : GC_R(0.0);
        change = GC_MIN(GC_MAX(change, GC_R(-0.5)), GC_R(0.5));
        *s = GC_MIN(GC_MAX(*s - change, GC_R(-2.0)), GC_R(2.0));
    }
    return GC_ABS(change) <= GC_R(1e-6);
}

GC_FN int gc_in_step(const gc_screw *k, gc_real s) { return s >= GC_R(-0.5) - k->tau && s <= GC_R(0.5) + k->tau; }

/* refine = pixels, next to the axis: all times at which the vertex is on the face; a pixel from its border counts as on it */
GC_LARGE int gc_answer_axis(
    const gc_tables *t,
    const gc_pair *p,
    const gc_grid *g,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    const gc_curve *f)
{
    gc_real edge = GC_R(0.5) + gc_screw_of(p)->tau, root;
    gc_root_search w;
    gc_root_search_start(&w, f, -edge, edge, GC_TOL_TOUCH * gc_screw_of(p)->size);
    while (gc_root_search_next(&w, f, &root)) {
        gc_real s = gc_clamp_time(root);
        gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
        if (!(c.inside >= -g->tol) || !c.facing || !(c.properness >= o->min_properness)) continue;
        gc_hit_append(o, pair, kind | (c.inside <= g->height ? GC_HIT_BORDER : 0), fa, fb, s, s, c.properness);
    }
    return !w.capped;
}

/* refine = pixels: is the vertex's pixel one of the face's, and when. On the border's own pixels the time stays within what
 * the face's records there tell, since the plane may lead far from them. */
GC_LARGE int gc_answer_pixel(
    const gc_tables *t,
    const gc_pair *p,
    const gc_grid *g,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb)
{
    const gc_screw *k = gc_screw_of(p);
    gc_sides q = gc_sides_of(p, kind, fa, fb);
    gc_real spans[2 * GC_ANSWER_SIDES], h, l, row, scale, size, first = GC_R(0.0), last = GC_R(0.0), psi, lo, hi;
    gc_vec x = gc_place(k, q.rv, q.tv, gc_vertex(t, q.mesh_v, q.vertex));
    int fv = kind == GC_FV, n_spans = 0, i;
    gc_cover c;
    gc_curve f;
    row = gc_grid_row(g, gc_rho_of(g, x));
    c = gc_face_cover(t, q.mesh_f, k, g, q.rf, q.tf, q.face, fv ? GC_R(-1.0) : GC_R(1.0), row, spans, &n_spans);
    f = gc_candidate_curve(t, p, kind, fa, fb, &size);
    if (gc_curve_bound_near(&f, GC_R(0.5)) <= GC_TOL_TOUCH * k->size * size)
        return gc_solve_lasting(t, p, o, pair, kind, fa, fb);
    /* next to the axis there is no place on the screen to compare */
    if (c.ask || gc_rho_of(g, x) < g->axis + GC_R(1e-3) * g->size) return gc_answer_axis(t, p, g, o, pair, kind, fa, fb, &f);
    if (!c.found) return 1;
    psi = gc_arc_to(x.x, GC_R(1.0) + g->kappa * x.z, g->kappa);
    h = g->wn * x.y - g->gn * psi;
    l = gc_row_way(g, row, h, g->gn * x.y + g->wn * psi);
    lo = fv ? c.l0 - l : l - c.l1;
    hi = fv ? c.l1 - l : l - c.l0;
    scale = gc_grid_scale(g, row);
    if (g->period < (gc_real)GC_CULL_FAR) {
        gc_real per_turn = gc_row_way(g, row, -g->gn * g->period, g->wn * g->period);
        /* in a row that holds the axis a turn takes no time; no copy is farther than two turns */
        first = GC_MAX(-GC_FLOOR((g->window + hi) / per_turn + GC_R(0.5)), GC_R(-2.0));
        last = GC_MIN(GC_FLOOR((g->window - lo) / per_turn + GC_R(0.5)), GC_R(2.0));
    }
    for (; first <= last; first += GC_R(1.0)) {
        gc_real turn = first == GC_R(0.0) ? GC_R(0.0) : first * g->period, dh = -g->gn * turn;
        gc_real dl = gc_row_way(g, row, dh, g->wn * turn), s;
        gc_real at = gc_grid_pixel(fv ? h : h + dh, scale), df = fv ? dh : GC_R(0.0);
        gc_contact m;
        int border = 0, settled;
        if (at < gc_grid_pixel(c.h0 + df, scale) || at > gc_grid_pixel(c.h1 + df, scale)) continue;
        for (i = 0; i < n_spans; ++i)
            border |= at >= gc_grid_pixel(spans[2 * i] + df, scale) && at <= gc_grid_pixel(spans[2 * i + 1] + df, scale);
        s = (GC_R(0.5) * (lo + hi) + dl) / g->speed;
        settled = gc_newton_on_screen(&f, &s);
        if (border) s = GC_MIN(GC_MAX(s, (lo + dl) / g->speed), (hi + dl) / g->speed);
        else if (!settled) continue;
        if (!gc_in_step(k, s)) continue;
        s = gc_clamp_time(s);
        m = gc_contact_at(t, p, kind, fa, fb, s);
        if (m.facing && m.properness >= o->min_properness)
            gc_hit_append(o, pair, kind | (border ? GC_HIT_BORDER : 0), fa, fb, s, s, m.properness);
    }
    return 1;
}

/* refine = segments or pixels; returns 0 if a cap was hit. Edges have the screen's time. A vertex has one place on the screen
 * and a face is flat, so segments solves those; without motion there is no screen. */
GC_LARGE int gc_answer(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real s0,
    gc_real s1,
    int pixels,
    gc_real height)
{
    gc_grid g;
    gc_dedup_sorted found;
    int i;
    if (!(gc_screw_of(p)->speed > GC_R(0.0)) || (kind != GC_EE && !pixels))
        return gc_solve_exact(t, p, o, pair, kind, fa, fb, s0, s1);
    g = gc_grid_make(gc_screw_of(p), height);
    if (kind != GC_EE) return gc_answer_pixel(t, p, &g, o, pair, kind, fa, fb);
    gc_edges_on_screen(t, p, &g, fa, fb, pixels, &found);
    for (i = 0; i < found.n; ++i) {
        gc_real s = gc_clamp_time(found.s[i]);
        gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
        /* only parts that face the right way were drawn; the place at a rough time may lie elsewhere */
        if (c.sine >= GC_TOL_PARALLEL && c.properness >= o->min_properness)
            gc_hit_append(o, pair, kind | (pixels ? found.flags : c.flags), fa, fb, s, s, c.properness);
    }
    return !found.capped;
}

#endif
