/* gc_solve_bodies.h: one candidate of bodies that move each by itself to its hits.
 * needs: narrow_phase/solve/gc_solve.h narrow_phase/solve/gc_solve_distance.h narrow_phase/solve/gc_solve_revolved.h
 *
 * A candidate of bodies that move each by itself was proposed for a piece of the motion, and there its roots are isolated, with little
 * of the neighbouring pieces: what both find is one (s08_resolve). Its bracket only excludes.
 */
#ifndef GC_SOLVE_BODIES_H
#define GC_SOLVE_BODIES_H
#if GC_BODY_MOTION

/* the piece that is on at s; when its middle is; and half of its length, with what is searched beyond it */
GC_FN int gc_piece_when(const gc_bodies *b, gc_real s)
{
    return (int)GC_MIN(GC_MAX((s + GC_R(0.5)) * b->pieces, GC_R(0.0)), b->pieces - GC_R(1.0));
}

GC_FN gc_real gc_piece_middle(const gc_bodies *b, int piece) { return ((gc_real)piece + GC_R(0.5)) / b->pieces - GC_R(0.5); }

GC_FN gc_real gc_piece_arm(const gc_bodies *b) { return GC_R(0.5) / b->pieces + GC_MAX(b->tau, GC_PIECE_OVERLAP); }

/* Can features that meet within `off` of now, for all that their equation says, be inside each other's borders then? To well more than what
 * is in doubt of it. */
GC_LARGE int gc_may_be_inside(
    const gc_tables *t,
    const gc_pair *p,
    const gc_body_curve *c,
    int kind,
    int fa,
    int fb,
    const gc_body_state *now,
    gc_real off)
{
    gc_real tol = GC_R(4.0) * GC_PLACE_DOUBT * (p->bodies.size + p->bodies.speed)
                  + GC_R(4.0) * GC_TOL_INSIDE * p->bodies.size;
    tol += off * p->bounds.lines[0];
    if (kind == GC_FV) {
        gc_vec x = gc_add(now->q, gc_rotate(now->m, c->x));
        return gc_inside_face(t, gc_mesh_a(p), fa, gc_scale(x, p->bodies.scale), p->bodies.shrink) >= -tol;
    }
    if (kind == GC_VF) {
        gc_vec x = gc_rotate_back(now->m, gc_sub(c->x, now->q));
        return gc_inside_face(t, gc_mesh_b(p), fb, gc_scale(x, p->bodies.scale), p->bodies.shrink) >= -tol;
    }
    {
        gc_vec d = c->n, e = gc_rotate(now->m, c->e), n = gc_cross(d, e);
        gc_vec gap = gc_sub(gc_add(now->q, gc_rotate(now->m, c->y)), c->x);
        gc_real n2 = gc_dot(n, n), alpha = gc_dot(gc_cross(gap, e), n), beta = gc_dot(gc_cross(gap, d), n), slack;
        if (!(n2 > GC_R(1e-6) * c->unit * c->unit)) return 1; /* nearly parallel: places are worth little */
        slack = n2 * GC_R(1e3) * tol / GC_MIN(gc_norm(d), gc_norm(e));
        return alpha >= -slack && alpha <= n2 + slack && beta >= -slack && beta <= n2 + slack;
    }
}

/* where Halley's method goes from s: to a root by the third power of how far it is */
GC_FN gc_real gc_halley(gc_real s, gc_value v)
{
    gc_real step = v.f / v.df;
    return s - step / (GC_R(1.0) - GC_R(0.5) * step * v.ddf / v.df);
}

/* what there is in a piece */
#define GC_LONE_NONE 0 /* no root that matters */
#define GC_LONE_ROOT 1 /* one, and `now` is the state beside it */
#define GC_LONE_ASK 2  /* not told so soon: the walk says */

/* A piece on which f is monotone far beyond its rounding, as most are, by few evaluations: v is f in its middle, and only a root from first
 * to last matters. */
GC_LARGE int gc_lone_root(
    const gc_root_search *w,
    const gc_curve *c,
    gc_real mid,
    gc_real arm,
    gc_value v,
    gc_real first,
    gc_real last,
    gc_real *root,
    gc_real *off,
    gc_body_state *now)
{
    gc_real bend = GC_ABS(v.ddf) + w->third * arm, least = GC_ABS(v.df) - bend * arm, x, next, error;
    int i;
    if (!(least > GC_R(0.3) * GC_ABS(v.df)) || !(least * least > GC_R(8.0) * bend * w->rounding)) return GC_LONE_ASK;
    /* f(x) is known to the third power of how far it is from the middle, and the root is at most |f| / least away from there */
    next = gc_halley(mid, v);
    error = GC_MIN(GC_ABS(v.f) / least, arm + arm);
    error = error * error * error * (w->third + GC_R(2.0) * bend * bend / least) / least + GC_ABS(next - mid) * GC_R(1e-6);
    if (next + error < first || next - error > last) return GC_LONE_NONE;
    for (i = 0; i < 5; ++i) {
        x = next;
        if (!(GC_ABS(x - mid) <= arm + arm)) return GC_LONE_ASK;
        gc_bodies_at(c->own.bodies, x, now);
        v = gc_value_of(gc_body_curve_then(&c->own, now));
        next = gc_halley(x, v);
        *root = next;
        *off = GC_ABS(next - x);
        /* the next one would be off by the third power of this step */
        if (GC_ABS(v.f) <= w->settled || *off * c->own.bodies->pieces <= GC_R(1e-6))
            return GC_ABS(next - mid) <= arm ? GC_LONE_ROOT : GC_LONE_NONE;
    }
    return GC_LONE_ASK;
}

/* Does f stay so near to zero in a piece, as far as its middle says? */
GC_FN int gc_hardly_changes(gc_value v, gc_real arm, gc_real limit)
{
    return GC_MAX(GC_ABS(v.f), GC_MAX(GC_ABS(v.df), GC_ABS(v.ddf) * arm) * arm) <= limit;
}

/* Are edges as near to each other as what touches, by their sine then? The walk knows only the largest one. */
GC_FN int gc_edges_touch(const gc_body_curve *c, const gc_body_state *now, gc_real touch, gc_real rounding)
{
    gc_real sine = gc_norm(gc_cross(c->n, gc_rotate(now->m, c->e)));
    return GC_ABS(gc_body_curve_then(c, now).f) <= GC_MAX(touch * sine, GC_R(4.0) * rounding);
}

/* What touches at an end of the step, and comes together so slowly that its root lies farther beyond it than tau. */
GC_LARGE void gc_solve_end(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    const gc_body_curve *c,
    gc_real touch,
    gc_real end)
{
    gc_body_state now;
    gc_body_value v;
    gc_bodies_at(&p->bodies, end, &now);
    v = gc_body_curve_then(c, &now);
    if (GC_ABS(v.f) > touch || v.f * v.df * end > GC_R(0.0)) return;
    if (kind == GC_EE
        && !gc_edges_touch(c, &now, GC_TOL_TOUCH * p->bodies.size, GC_CURVE_ROUNDING * gc_body_curve_rounding(c)))
        return;
    if (gc_may_be_inside(t, p, c, kind, fa, fb, &now, GC_R(0.0))) gc_hit_test(t, p, o, pair, kind, fa, fb, end, end, 0);
}

/* middle: B as A sees it in the middle of the piece; returns 0 if a cap was hit */
GC_LARGE int gc_solve_bodies(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real first,
    gc_real last,
    int piece,
    const gc_body_state *middle)
{
    gc_real scale, root, mid = gc_piece_middle(&p->bodies, piece), arm = gc_piece_arm(&p->bodies), touch;
    gc_curve c = gc_candidate_curve(t, p, kind, fa, fb, &scale);
    gc_value v = gc_value_of(gc_body_curve_then(&c.own, middle));
    gc_root_search w;
    gc_body_state now;
    gc_real slack, off;
    int todo;
    if (kind == GC_EE) {
        /* no sine in the piece is larger */
        gc_real sine = gc_norm(gc_cross(c.own.n, gc_rotate(middle->m, c.own.e))) + scale * p->bodies.angle * arm;
        scale = GC_MIN(sine, scale);
    }
    touch = GC_TOL_TOUCH * p->bodies.size * scale;
    /* beyond the step roots are looked for as far as those of one screw are */
    gc_root_search_start(
        &w, &c, GC_MAX(mid - arm, GC_R(-0.5) - p->bodies.tau), GC_MIN(mid + arm, GC_R(0.5) + p->bodies.tau), touch);
    if (gc_piece_of_bodies(&w, v, arm) == GC_PIECE_EMPTY) return 1;
    if (GC_ABS(v.f) <= w.touch && gc_body_curve_most(&c.own, w.touch) <= w.touch) {
        if (kind == GC_EE && !(gc_most_sine(t, p, fa, fb) > GC_R(0.0))) return 1;
        return gc_solve_lasting(t, p, o, pair, kind, fa, fb);
    }
    slack = GC_MAX(p->bodies.tau, GC_PIECE_OVERLAP);
    todo = gc_lone_root(&w, &c, mid, arm, v, first - slack, last + slack, &root, &off, &now);
    if (todo != GC_LONE_ROOT || root < GC_R(-0.5) || root > GC_R(0.5)) {
        if (first - slack <= GC_R(-0.5)) gc_solve_end(t, p, o, pair, kind, fa, fb, &c.own, w.touch, GC_R(-0.5));
        if (last + slack >= GC_R(0.5)) gc_solve_end(t, p, o, pair, kind, fa, fb, &c.own, w.touch, GC_R(0.5));
    }
    if (todo == GC_LONE_NONE) return 1;
    if (todo == GC_LONE_ROOT) {
        if (root < GC_R(-0.5) - p->bodies.tau || root > GC_R(0.5) + p->bodies.tau) return 1;
        root = gc_clamp_time(root);
        if (gc_may_be_inside(t, p, &c.own, kind, fa, fb, &now, off)) gc_hit_test(t, p, o, pair, kind, fa, fb, root, root, 0);
        return 1;
    }
    if (gc_hardly_changes(v, arm, GC_FLAT * p->bodies.size * scale))
        w.third = GC_MIN(w.third, gc_curve_third_near(&c, mid, arm, w.rounding));
    /* where a root lies does not hang on what is passed over */
    w.from = first - slack;
    w.until = last + slack;
    while ((todo = gc_root_search_next(&w, &c, &root)) != 0) {
        gc_real s = gc_clamp_time(root);
        gc_bodies_at(&p->bodies, s, &now);
        if (kind == GC_EE && todo == GC_ROOT_TOUCHES
            && !gc_edges_touch(&c.own, &now, GC_TOL_TOUCH * p->bodies.size, w.rounding))
            continue;
        if (gc_may_be_inside(t, p, &c.own, kind, fa, fb, &now, GC_R(0.0))) gc_hit_test(t, p, o, pair, kind, fa, fb, s, s, 0);
    }
    return !w.capped;
}

#endif

/* the state in the middle of the piece that was solved last, of the same pair; piece below 0: none */
typedef struct {
    int piece;
    GC_OF_BODIES(gc_body_state middle;)
} gc_kept_piece;

/* One candidate to its hits; those of a piece stand together. Returns 0 if a cap was hit. */
GC_FN int gc_solve_candidate(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    const gc_candidate *c,
    gc_kept_piece *kept)
{
#if GC_BODY_MOTION
    if (gc_each_moves(p)) {
        int piece = gc_piece_when(&p->bodies, GC_R(0.5) * (c->first + c->last));
#if GC_AT_DISTANCE
        if (gc_is_revolved(p))
            return gc_solve_revolved(t, p, o, c, gc_piece_middle(&p->bodies, piece), gc_piece_arm(&p->bodies));
#endif
        if (piece != kept->piece) gc_bodies_at(&p->bodies, gc_piece_middle(&p->bodies, piece), &kept->middle);
        kept->piece = piece;
        return gc_solve_bodies(t, p, o, c->pair, c->kind, c->a, c->b, c->first, c->last, piece, &kept->middle);
    }
#endif
    (void)kept;
    return gc_solve_exact(t, p, o, c->pair, c->kind, c->a, c->b, c->first, c->last);
}

/* Candidates from number i on that are of one piece of a pair at a distance, together; how many, and 0 in *good if a cap was hit. 0: the
 * pair is not at a distance, or has a frustum. mesh_a, mesh_b: reals of both meshes */
GC_FN int gc_solve_together(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    GC_GLOBAL const int *candidates,
    GC_GLOBAL const gc_raster *brackets,
    int i,
    int end,
    GC_GLOBAL const gc_real *mesh_a,
    GC_GLOBAL const gc_real *mesh_b,
    int *good)
{
#if GC_AT_DISTANCE
    gc_gap_work work[GC_GAP_SIDE_BY_SIDE];
    int n = 0, taken = 0, pair = -1, piece = -1;
    if (!gc_at_distance(p) || gc_is_revolved(p)) return 0;
    for (; n < GC_GAP_SIDE_BY_SIDE && i + taken < end; ++taken) {
        gc_candidate c = gc_candidate_load(candidates, brackets, i + taken);
        int of = gc_piece_when(&p->bodies, GC_R(0.5) * (c.first + c.last));
        if (taken && (c.pair != pair || of != piece)) break;
        pair = c.pair;
        piece = of;
        if (!gc_gap_is_one(p, &c)) continue;
        work[n].c = c;
        work[n++].made = 0;
    }
    *good = !n
            || gc_solve_at_distance(
                t, p, o, work, n, gc_piece_middle(&p->bodies, piece), gc_piece_arm(&p->bodies),
                gc_core_sides(mesh_a, p->bodies.shrink), gc_core_sides(mesh_b, p->bodies.shrink));
    return taken;
#else
    (void)t, (void)p, (void)o, (void)candidates, (void)brackets, (void)i, (void)end, (void)mesh_a, (void)mesh_b, (void)good;
    return 0;
#endif
}

#endif
