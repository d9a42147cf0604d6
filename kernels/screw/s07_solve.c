/* s07_solve: candidates to hits.
 *
 * in:  candidates (pair, kind, features) with a bracket in time that holds all their meetings
 * out: hits: times at which the features meet, face each other and are proper enough
 * One work-item per candidate. See docs/decisions/0003. The bracket only excludes (one evaluation and a bound of the
 * derivative); roots are then isolated on the whole step, so that a hit's bits do not depend on how it was proposed.
 * With refine = segments or pixels (s07_answer) edges get their times from the screen, without a search for roots.
 * Degenerate: an equation that vanishes for the whole step is a lasting contact, reported once per interval.
 */

typedef struct {
    GC_GLOBAL int *pair_hits; /* (n_pairs,) counts */
    GC_GLOBAL int *n_hits;    /* (1,) */
    GC_GLOBAL int *hit;       /* (capacity, 4) pair, kind and bits, features */
    GC_GLOBAL gc_real *value; /* (capacity, 3) s, s at the end, properness */
    int capacity;
    gc_real min_properness;
} gc_hits;

GC_FN void gc_hit_append(const gc_hits *o, int pair, int kind, int fa, int fb, gc_real s, gc_real end, gc_real properness)
{
    int i = GC_ATOMIC_ADD(o->n_hits, 1);
    if (i >= o->capacity || i < 0) return;
    GC_ATOMIC_ADD(o->pair_hits + pair, 1);
    o->hit[4 * i] = pair;
    o->hit[4 * i + 1] = kind;
    o->hit[4 * i + 2] = fa;
    o->hit[4 * i + 3] = fb;
    o->value[3 * i] = s;
    o->value[3 * i + 1] = end;
    o->value[3 * i + 2] = properness;
}

GC_FN gc_real gc_clamp_time(gc_real s) { return GC_MIN(GC_MAX(s, GC_R(-0.5)), GC_R(0.5)); }

/* Test the pair at s and append it if it is a contact. What lasts no longer than times are told apart does not last, but half
 * the step always does, so that a body at rest stays at rest however little it turns. */
GC_LARGE void gc_hit_test(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real s,
    gc_real end,
    int sustained)
{
    gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
    /* what lasts is inside by the construction of its interval */
    if (!sustained && !(c.inside >= -(GC_TOL_INSIDE * p->screw.size + c.doubt))) return;
    if (!c.facing || !(c.properness >= o->min_properness)) return;
    if (p->screw.speed > GC_R(0.0) && !(end - s > GC_MIN(GC_R(2.0) * p->screw.tau, GC_R(0.5)))) sustained = 0;
    if (!sustained) end = s;
    gc_hit_append(o, pair, kind | c.flags | (sustained ? GC_HIT_SUSTAINED : 0), fa, fb, s, end, c.properness);
}

/* The contact equation of a candidate; *scale: a bound of what |f| has to be compared with to be a length (for edges
 * the sine of their angle is still missing: gc_most_sine). */
GC_LARGE gc_curve gc_candidate_curve(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real *scale)
{
    const gc_screw *k = &p->screw;
    if (kind == GC_EE) {
        gc_edges x = gc_edges_load(t, p, fa, fb);
        *scale = x.length_a * x.length_b;
        return gc_line_line(k, x.d, x.p, x.q, x.e);
    } else {
        gc_sides q = gc_sides_of(p, kind, fa, fb);
        gc_vec n = gc_rotate(q.rf, gc_normal(t, q.mesh_f, q.face));
        gc_real d = t->planes[4 * (q.mesh_f->face0 + q.face) + 3] * k->shrink
                    - (n.x * q.tf[0] + n.y * q.tf[1] + n.z * q.tf[2]);
        *scale = GC_R(1.0);
        return gc_point_plane(k, n, d, gc_place(k, q.rv, q.tv, gc_vertex(t, q.mesh_v, q.vertex)), q.way);
    }
}

/* the largest sine of the angle between two edges during the step, or 0 if they stay parallel */
GC_FN gc_real gc_most_sine(const gc_tables *t, const gc_pair *p, int ea, int eb)
{
    const gc_screw *k = &p->screw;
    gc_edges x = gc_edges_load(t, p, ea, eb);
    gc_real early = gc_cross_at(k, &x, gc_turn_at(k->theta, GC_R(-0.5))).sine;
    gc_real middle = gc_cross_at(k, &x, gc_turn_at(k->theta, GC_R(0.0))).sine;
    gc_real late = gc_cross_at(k, &x, gc_turn_at(k->theta, GC_R(0.5))).sine;
    gc_real most = GC_MAX(middle, GC_MAX(early, late));
    return most < GC_TOL_PARALLEL ? GC_R(0.0) : most;
}

/* ---- lasting contacts --------------------------------------------------------------------------------------- */

/* Normal of the plane in which two edges slide, from the moment of three at which they are least parallel: half-way they may
 * be parallel, and what is left of the cross product then points anywhere. */
GC_FN gc_vec gc_slide_normal(const gc_screw *k, const gc_edges *x)
{
    gc_vec best = gc_cross_at(k, x, gc_turn_at(k->theta, GC_R(0.0))).cross;
    int i;
    for (i = -1; i <= 1; i += 2) {
        gc_vec n = gc_cross_at(k, x, gc_turn_at(k->theta, GC_R(0.5) * (gc_real)i)).cross;
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
    const gc_screw *k = &p->screw;
    if (kind == GC_EE) {
        gc_edges x = gc_edges_load(t, p, fa, fb);
        gc_vec n;
        if (j >= 4) return 0;
        n = gc_slide_normal(k, &x);
        if (j < 2) {
            /* side of A's end j as B's line sees it, in the plane with normal n */
            gc_vec end = gc_add(x.p, gc_scale(x.d, (gc_real)j));
            *c = gc_line_line(k, gc_scale(n, GC_R(-1.0)), end, x.q, x.e);
            *scale = x.length_b;
        } else {
            gc_vec side = gc_cross(x.d, n), end = gc_add(x.q, gc_scale(x.e, (gc_real)(j - 2)));
            *c = gc_point_plane(k, side, -gc_dot(side, x.p), end, GC_R(1.0));
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
        *c = gc_point_plane(k, side, -gc_dot(side, u), gc_place(k, q.rv, q.tv, gc_vertex(t, q.mesh_v, q.vertex)), q.way);
        *scale = GC_R(1.0);
        return 1;
    }
}

/* Earliest sign change of any border function after `from`, or 1/2. Edges that turn out of one line may leave an end of one of
 * them by a double root; the rounding of places, not that of what is left of them, says whether two roots are one. */
GC_LARGE gc_real gc_next_border(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real from)
{
    gc_real least = GC_R(0.5), scale;
    gc_curve c;
    int j;
    for (j = 0; gc_border_curve(t, p, kind, fa, fb, j, &c, &scale); ++j) {
        gc_walk w;
        gc_real root;
        gc_walk_start(&w, &c, from, GC_R(0.5), GC_R(0.0));
        gc_walk_rounding(&w, GC_PLACE_ROUNDING * (p->screw.size + p->screw.speed) * scale);
        while (gc_walk_next(&w, &c, &root)) {
            if (root <= from + GC_R(1e-12)) continue;
            least = root < least ? root : least;
            break;
        }
    }
    return least;
}

GC_FN int gc_lasts_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    return gc_contact_at(t, p, kind, fa, fb, s).inside >= -GC_TOL_INSIDE * p->screw.size;
}

/* The same for all that rounding can tell: the place at which edges cross that are nearly parallel is worth a rounding over
 * their sine, and may lie outside although the contact goes on until they are parallel. */
GC_FN int gc_may_last_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
    gc_real doubt = GC_PLACE_ROUNDING * (p->screw.size + p->screw.speed) / GC_MAX(c.sine, GC_TOL_PARALLEL);
    return c.sine >= GC_TOL_PARALLEL && c.inside >= -(GC_TOL_INSIDE * p->screw.size + doubt);
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
    if (kind != GC_EE || p->screw.theta == GC_R(0.0)) return 0;
    x = gc_edges_load(t, p, fa, fb);
    a = gc_cross_at(&p->screw, &x, gc_turn_at(p->screw.theta, GC_R(-0.5))).cross;
    b = gc_cross_at(&p->screw, &x, gc_turn_at(p->screw.theta, GC_R(0.0))).cross;
    c = gc_cross_at(&p->screw, &x, gc_turn_at(p->screw.theta, GC_R(0.5))).cross;
    return gc_norm(gc_cross(a, b)) + gc_norm(gc_cross(b, c)) + gc_norm(gc_cross(a, c))
           > GC_TOL_PARALLEL * x.length_a * x.length_a * x.length_b * x.length_b;
}

/* The intervals in which features that stay in contact are inside each other's borders, one hit each. The pieces
 * between border roots are inside or outside as a whole, by their middle; an end that is not inside itself (parallel
 * edges at that instant, or a sampled piece) is moved in by bisection. */
GC_LARGE int gc_solve_lasting(const gc_tables *t, const gc_pair *p, const gc_hits *o, int pair, int kind, int fa, int fb)
{
    gc_real from = GC_R(-0.5), begun = GC_R(0.0), last_in = GC_R(0.0), last_out = GC_R(-0.5);
    int open = 0, sampled = gc_plane_turns(t, p, kind, fa, fb), cap = sampled ? 4 * GC_MAX_PIECES : GC_MAX_PIECES, i;
    for (i = 0; i < cap; ++i) {
        gc_real to = GC_R(0.5), mid;
        int in;
        if (sampled) to = GC_R(-0.5) + (gc_real)(i + 1) / (gc_real)cap;
        else if (p->screw.speed > GC_R(0.0)) to = gc_next_border(t, p, kind, fa, fb, from);
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
    return sampled || i < cap;
}

/* ---- one candidate ------------------------------------------------------------------------------------------ */

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
    const gc_screw *k = &p->screw;
    gc_real scale, touch, root, mid = GC_R(0.5) * (s0 + s1), edge = GC_R(0.5) + k->tau;
    /* the bracket ends with the step, roots may lie tau beyond it */
    gc_real arm = GC_R(0.5) * (s1 - s0) + k->tau;
    gc_curve c = gc_candidate_curve(t, p, kind, fa, fb, &scale);
    gc_walk w;
    gc_value v = gc_curve_at(&c, mid);
    touch = GC_TOL_TOUCH * k->size * scale;
    gc_walk_start(&w, &c, -edge, edge, touch);
    if (GC_ABS(v.f) > GC_ABS(v.df) * arm + GC_R(0.5) * w.bend * arm * arm + w.rounding + touch) return 1;
    if (kind == GC_EE) {
        scale = scale * gc_most_sine(t, p, fa, fb);
        if (!(scale > GC_R(0.0))) return 1;
        touch = GC_TOL_TOUCH * k->size * scale;
        gc_walk_start(&w, &c, -edge, edge, touch);
    }
    if (gc_curve_bound_near(&c, GC_R(0.5)) <= touch) return gc_solve_lasting(t, p, o, pair, kind, fa, fb);
    if (!(k->speed > GC_R(0.0))) return 1;
    while (gc_walk_next(&w, &c, &root)) {
        gc_real s = gc_clamp_time(root);
        gc_hit_test(t, p, o, pair, kind, fa, fb, s, s, 0);
    }
    return !w.capped;
}

/* ---- answers of the screen ---------------------------------------------------------------------------------- */

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
    gc_real edge = GC_R(0.5) + p->screw.tau, root;
    gc_walk w;
    gc_walk_start(&w, f, -edge, edge, GC_TOL_TOUCH * p->screw.size);
    while (gc_walk_next(&w, f, &root)) {
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
    const gc_screw *k = &p->screw;
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
    gc_meetings found;
    int i;
    if (!(p->screw.speed > GC_R(0.0)) || (kind != GC_EE && !pixels))
        return gc_solve_exact(t, p, o, pair, kind, fa, fb, s0, s1);
    g = gc_grid_make(&p->screw, height);
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

GC_FN void gc_pair_load(
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    const gc_tables *t,
    int pair,
    gc_pair *p)
{
    gc_screw_load(screw + GC_SCREW_STRIDE * pair, &p->screw);
    gc_mesh_load(t->headers + GC_MESH_STRIDE * shape[pairs[2 * pair]], &p->mesh_a);
    gc_mesh_load(t->headers + GC_MESH_STRIDE * shape[pairs[2 * pair + 1]], &p->mesh_b);
}

GC_KERNEL void s07_solve(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, 4) */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, 2) */
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 4) centred */
    GC_GLOBAL const gc_real *planes_in,
    gc_real min_properness,
    int capacity,
    GC_GLOBAL int *state_out,     /* (n_pairs,) */
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */
    GC_GLOBAL int *hit_out,       /* (capacity, 4) */
    GC_GLOBAL gc_real *value_out) /* (capacity, 3) */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    gc_hits o;
    o.pair_hits = pair_hits_out;
    o.n_hits = n_hits_out;
    o.hit = hit_out;
    o.value = value_out;
    o.capacity = capacity;
    o.min_properness = min_properness;
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        int pair = candidates_in[4 * i], kind = candidates_in[4 * i + 1];
        int fa = candidates_in[4 * i + 2], fb = candidates_in[4 * i + 3];
        gc_pair p;
        gc_pair_load(pairs_in, shape_in, screw_in, &t, pair, &p);
        if (!gc_solve_exact(&t, &p, &o, pair, kind, fa, fb, (gc_real)brackets_in[2 * i], (gc_real)brackets_in[2 * i + 1]))
            GC_ATOMIC_MAX(state_out + pair, GC_PAIR_UNRESOLVED);
    }
}

GC_KERNEL void s07_answer(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, 4) */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, 2) */
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 4) centred */
    GC_GLOBAL const gc_real *planes_in,
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) user units */
    gc_real min_properness,
    int refine,
    int capacity,
    GC_GLOBAL int *state_out,     /* (n_pairs,) */
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */
    GC_GLOBAL int *hit_out,       /* (capacity, 4) */
    GC_GLOBAL gc_real *value_out) /* (capacity, 3) */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    gc_hits o;
    o.pair_hits = pair_hits_out;
    o.n_hits = n_hits_out;
    o.hit = hit_out;
    o.value = value_out;
    o.capacity = capacity;
    o.min_properness = min_properness;
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        int pair = candidates_in[4 * i], kind = candidates_in[4 * i + 1];
        int fa = candidates_in[4 * i + 2], fb = candidates_in[4 * i + 3];
        gc_pair p;
        gc_pair_load(pairs_in, shape_in, screw_in, &t, pair, &p);
        if (!gc_answer(
                &t, &p, &o, pair, kind, fa, fb, (gc_real)brackets_in[2 * i], (gc_real)brackets_in[2 * i + 1],
                refine == GC_REFINE_PIXELS, row_height_in[pair] * p.screw.shrink))
            GC_ATOMIC_MAX(state_out + pair, GC_PAIR_UNRESOLVED);
    }
}
