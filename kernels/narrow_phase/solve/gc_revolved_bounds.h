/* gc_revolved_bounds.h: how long a feature and a cylinder or a cone stay farther apart, or nearer, than the distance of contact.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/contact/gc_revolved.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. The gap of a feature of M and K is convex in place. Above the distance: along the direction n
 * of two closest points M's part stays below a plane, and K's ends come down to it no faster than
 *     n . (C + t C') - radius |n x (k + t k')| - (A + (length / 2 + radius) B) t^2 / 2,
 * concave in t, so that there is no contact before its root; A and B bound the second derivatives of K's middle and axis. It is the gap
 * itself at t = 0, with its slope. Below the distance: so long as the point of M that is deepest is, as K sees it, which moves along a line
 * but for F t^2 / 2. Source: docs/decisions/0144, 0147.
 */
#ifndef GC_REVOLVED_BOUNDS_H
#define GC_REVOLVED_BOUNDS_H
#if GC_AT_DISTANCE

/* a search for the contacts of M's part and K */
typedef struct {
    const gc_tables *t;
    const gc_pair *p;
    gc_revolved q;
    int kind, number, end; /* of the candidate: a face and an end of K, or an edge of M (GC_EE) */
    gc_real bend, tilt;    /* bounds of the second derivatives of K's middle and of its axis, as M sees them */
    gc_vec about;          /* the difference of both turns in M's axes, if only one turns: along it nothing bends */
    gc_real bent;          /* and so often the sine to it the middle does along a direction */
    gc_real settled, touch;
    gc_real side; /* of a face: 1, or -1 for its back */
    gc_vec along; /* of two frusta that are near: their direction a moment before */
    gc_frustum e; /* M, if that is one */
} gc_revolved_search;

/* Returns 0 for a candidate of what is none: what stands for the face of an axis, a point or a line. */
GC_FN int gc_revolved_begin(const gc_tables *t, const gc_pair *p, const gc_candidate *c, gc_revolved_search *q)
{
    q->t = t;
    q->p = p;
    q->q = gc_revolved_of(p);
    q->kind = c->kind;
    q->number = q->q.of_b ? c->a : c->b;
    q->end = q->q.of_b ? c->b : c->a;
    q->along = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    q->side = GC_R(1.0);
    if (q->q.ends_m) q->e = gc_frustum_of(t, q->q.m, q->q.ends_m, p->bodies.shrink);
    q->settled = GC_PLACE_ROUNDING * (p->bodies.size + p->bodies.speed);
    q->touch = GC_MAX(GC_TOL_TOUCH * p->bodies.size, GC_R(2.0) * q->settled);
    return c->kind == GC_EE || (c->kind == (q->q.of_b ? GC_FV : GC_VF) && !gc_is_thin(q->q.m));
}

/* Bounds for the whole step. With D the difference of both turns, pK the swing of K, w the drift and y = p' - TM x p, all in world axes,
 *     c'' = RM^T (D x RK pK - TM x w - TM x y),   y' = D x RK pK - TM x w,   k'' = RM^T (D x (D x k) + (D x TM) x k)
 * so a turn about K's axis in place is nothing. */
GC_FN void gc_revolved_bounds(gc_revolved_search *q, const gc_frustum *f)
{
    const gc_bodies *b = &q->p->bodies;
    int of_b = q->q.of_b;
    gc_vec tk = gc_of_three(of_b ? b->turn_b : b->turn_a), tm = gc_of_three(of_b ? b->turn_a : b->turn_b),
           d = gc_sub(tk, tm);
    gc_vec pk = gc_of_three(of_b ? b->swing_b : b->swing_a), w = gc_of_three(b->drift), y, k = f->axis;
    gc_real m = gc_norm(tm), change, rows[9];
    int both = b->angle_a * b->angle_b > GC_R(0.0);
    y = gc_add(w, gc_sub(gc_of_three(b->swing_b), gc_of_three(b->swing_a)));
    y = gc_sub(y, gc_cross(tm, gc_of_three(b->apart)));
    change = gc_norm(d) * gc_norm(pk) + gc_norm(gc_cross(tm, w));
    q->bend = change * (GC_R(1.0) + GC_R(0.5) * m) + gc_norm(gc_cross(tm, y));
    gc_quat_rows(gc_quat_make(b->quat[0], b->quat[1], b->quat[2], b->quat[3]), rows);
    if (of_b) k = gc_rotate(rows, k);
    /* n . (D x p) = (n x D) . p; and neither that sine nor |D x k| change where one of both does not turn */
    q->about = of_b ? d : gc_rotate_back(rows, d);
    q->bent = gc_norm(pk);
    if (m > GC_R(0.0)) q->bent += gc_norm(w) + gc_norm(y) + GC_R(0.5) * change;
    if (both) q->bent = GC_R(1e30);
    q->bent *= GC_R(1.00001);
    q->tilt = both ? b->angle * b->angle + b->chi : b->angle * gc_norm(gc_cross(d, k));
    q->bend *= GC_R(1.00001);
    q->tilt *= GC_R(1.00001);
}

/* K and the gap at a time, less the distance of contact; of a face that of an end above its plane */
GC_LARGE void gc_revolved_look(const gc_revolved_search *q, gc_real s, gc_revolved_state *k, gc_revolved_gap *g)
{
    gc_body_state now;
    gc_bodies_at(&q->p->bodies, s, &now);
    *k = gc_revolved_at(q->t, q->p, &q->q, &now);
    if (q->q.ends_m) gc_revolved_both(q->t, q->p, &q->q, &k->f, q->along, g);
    else if (q->kind == GC_EE) gc_revolved_edge(q->t, q->p, &q->q, &k->f, q->number, g);
    else gc_revolved_plane(q->t, q->p, &q->q, &k->f, q->number, q->end, q->side, g);
    g->d -= q->q.r;
}

/* a bound of the second derivative of K's middle along n */
GC_FN gc_real gc_revolved_bend(const gc_revolved_search *q, gc_vec n)
{
    gc_real sine = gc_norm(gc_cross(n, q->about));
    return GC_MIN(q->bend, sine * q->bent);
}

/* An end of K over the plane through a point of M that goes by n + t turn: its slope at t = 0 */
GC_FN gc_real gc_revolved_slope(const gc_revolved_state *k, const gc_revolved_gap *g, gc_vec turn, int end)
{
    gc_real arm = end ? GC_R(0.5) * k->f.length : GC_R(-0.5) * k->f.length;
    gc_vec at = gc_sub(gc_frustum_end(&k->f, end), g->on_m), a = gc_cross(g->n, k->f.axis);
    gc_vec b = gc_add(gc_cross(g->n, k->tilting), gc_cross(turn, k->f.axis));
    gc_real sine = gc_norm(a), slope = gc_dot(g->n, gc_add(k->velocity, gc_scale(k->tilting, arm))) + gc_dot(turn, at);
    return sine > GC_R(0.0) ? slope - k->f.radius[end] * gc_dot(a, b) / sine : slope;
}

/* How n may turn, for no longer than `until`: with K's disc, or about M's edge or side so that both ends of K's side come down alike; none
 * where something else is nearest. */
GC_LARGE gc_vec
gc_revolved_turn(const gc_revolved_search *q, const gc_revolved_state *k, const gc_revolved_gap *g, gc_real *until)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), x, e, m;
    gc_real length, differs, by, along = gc_dot(g->n, k->f.axis);
    if (g->sort == GC_SORT_FACE) return none;
    if (q->q.ends_m) e = gc_sub(q->e.axis, gc_scale(g->n, gc_dot(q->e.axis, g->n)));
    else gc_feature_load(q->t, q->q.m, 1, q->number, q->p->bodies.shrink, &x, &e, &length);
    if (g->part != GC_PART_SIDE) {
        if (!(gc_norm(gc_cross(g->n, k->f.axis)) <= GC_TOL_PARALLEL) || (g->sort == GC_SORT_EDGE && !q->q.ends_m))
            return none;
        m = gc_scale(k->tilting, along < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0));
        if (q->q.ends_m) return m;
        /* until M's edge would go through the plane */
        if (g->number == q->t->topology[q->q.m->edges + 2 * q->number + 1]) e = gc_opposite(e);
        by = gc_dot(m, e);
        if (by > GC_R(0.0)) *until = GC_MIN(*until, GC_MAX(-gc_dot(g->n, e), GC_R(0.0)) / by);
        return m;
    }
    if (g->sort != GC_SORT_EDGE) return none;
    m = gc_unit(gc_cross(g->n, e), none);
    differs = gc_revolved_slope(k, g, none, 1) - gc_revolved_slope(k, g, none, 0);
    by = gc_revolved_slope(k, g, m, 1) - gc_revolved_slope(k, g, m, 0) - differs;
    if (!(GC_ABS(by) > GC_R(1e-3) * k->f.length)) return none;
    return gc_scale(m, -differs / by);
}

/* The bound of the gap after a while dt, at most `most`, along n + dt turn, by which M reaches no farther than g->on_m, or as far as it does
 * if it is a frustum: what is not along n + dt turn but of the second order is taken off whole, so it is concave. */
GC_FN gc_real gc_revolved_bound(
    const gc_revolved_search *q,
    const gc_revolved_state *k,
    const gc_revolved_gap *g,
    gc_vec turn,
    gc_real most,
    gc_real dt)
{
    gc_vec n = g->n, a = gc_cross(n, k->f.axis), b = gc_add(gc_cross(n, k->tilting), gc_cross(turn, k->f.axis));
    gc_real least = GC_R(1e30), sine = gc_norm(gc_add(a, gc_scale(b, dt))), arm = GC_R(0.5) * k->f.length;
    gc_real wide = GC_R(1.0) + gc_norm(turn) * most, more = gc_norm(gc_cross(turn, k->tilting)), held = g->held;
    gc_real bend = wide > GC_R(1.0) ? q->bend : gc_revolved_bend(q, n);
    int i;
    if (q->q.ends_m) {
        gc_vec back = gc_opposite(gc_add(n, gc_scale(turn, dt)));
        held = -GC_MIN(gc_frustum_depth(&q->e, 0, back), gc_frustum_depth(&q->e, 1, back));
    } else held += dt * gc_dot(turn, g->on_m);
    for (i = 0; i < 2; ++i) {
        gc_real r = k->f.radius[i], loss = wide * (bend + (arm + r) * q->tilt), at;
        gc_vec end = gc_frustum_end(&k->f, i), velocity = gc_add(k->velocity, gc_scale(k->tilting, i ? arm : -arm));
        if (g->sort == GC_SORT_FACE && i != q->end) continue;
        at = gc_dot(n, end) - held + dt * (gc_dot(n, velocity) + gc_dot(turn, end)) - r * sine;
        at -= (r * more + GC_ABS(gc_dot(turn, velocity)) + GC_R(0.5) * loss) * dt * dt;
        least = GC_MIN(at, least);
    }
    return least - q->q.r * gc_norm(gc_add(n, gc_scale(turn, dt)));
}

/* between two times: as a root may be far below the end of a step, the middle of their digits where they differ */
GC_FN gc_real gc_revolved_middle(gc_real a, gc_real b) { return b > GC_R(4.0) * a ? GC_SQRT(a * b) : GC_R(0.5) * (a + b); }

/* How long there is no contact, at most `most`. */
GC_LARGE gc_real gc_revolved_free_along(
    const gc_revolved_search *q,
    const gc_revolved_state *k,
    const gc_revolved_gap *g,
    gc_vec turn,
    gc_real most)
{
    gc_real a = GC_R(0.0), b = most, fa = gc_revolved_bound(q, k, g, turn, most, a),
            fb = gc_revolved_bound(q, k, g, turn, most, b), x, f;
    int i;
    if (!(fa > GC_R(0.0))) return a;
    if (fb > GC_R(0.0)) return most;
    for (i = 0; i < 16 && b - a > GC_R(1e-3) * b; ++i) {
        x = gc_revolved_middle(a, b);
        if (i % 2 == 0) {
            /* concave: the chord lies below, so there is nothing before its root either, but for rounding */
            x = a + (b - a) * (fa / (fa - fb));
            if (!(x < b)) return x;
        }
        if (!(x > a)) break;
        f = gc_revolved_bound(q, k, g, turn, most, x);
        if (i % 2 == 0 && !(f > GC_R(0.0))) return x;
        if (f > GC_R(0.0)) {
            a = x;
            fa = f;
        } else {
            b = x;
            fb = f;
        }
    }
    return a;
}

GC_FN gc_real
gc_revolved_free(const gc_revolved_search *q, const gc_revolved_state *k, const gc_revolved_gap *g, gc_real most)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), turn;
    gc_real step = gc_revolved_free_along(q, k, g, none, most), size, until = most;
    if (step >= most) return step;
    turn = gc_revolved_turn(q, k, g, &until);
    size = gc_norm(turn);
    if (!(size > GC_R(0.0))) return step;
    /* a direction that turns for less than a quarter */
    until = GC_MIN(until, GC_R(1.0) / size);
    return GC_MAX(step, gc_revolved_free_along(q, k, g, turn, until));
}

/* How long M's point x stays nearer than the distance, at most `most`, if it goes by `glide` in M. K's axes turn without spin, by k x k'; in
 * them it has y'' = 2 (k x k') x w' - C'' - (k x k'') x w + (k x k') x ((k x k') x w), with w = x - C and |k'|^2 <= |k''|. */
GC_LARGE gc_real
gc_revolved_deep(const gc_revolved_search *q, const gc_revolved_state *k, gc_vec x, gc_vec glide, gc_real most)
{
    gc_real reach = GC_R(0.5) * k->f.length + GC_MAX(k->f.radius[0], k->f.radius[1]) + GC_MAX(q->q.r, GC_R(0.0));
    gc_real ends[2], value[2], at, bend = gc_norm(k->velocity) + gc_norm(glide) + q->bend * most;
    gc_vec w = gc_sub(x, gc_add(k->f.low, gc_scale(k->f.axis, GC_R(0.5) * k->f.length))), velocity;
    int i;
    bend = q->bend + GC_R(2.0) * GC_SQRT(q->tilt) * bend + GC_R(2.0) * q->tilt * reach;
    velocity = gc_add(k->velocity, gc_cross(gc_cross(k->f.axis, k->tilting), w));
    velocity = gc_sub(glide, velocity);
    ends[0] = GC_R(0.0);
    ends[1] = at = most;
    for (i = -2; i < 16; ++i) {
        gc_frustum_near near;
        int behind;
        /* convex: the chord lies above */
        if (i == -2) at = GC_R(0.0);
        else if (i == -1) at = most;
        else if (i % 2) at = gc_revolved_middle(ends[0], ends[1]);
        else at = ends[0] + (ends[1] - ends[0]) * (value[0] / (value[0] - value[1]));
        if (i >= 0 && !(at > ends[0] && at < ends[1])) break;
        near = gc_frustum_point(&k->f, gc_add(x, gc_scale(velocity, at)));
        near.d += GC_R(0.5000001) * bend * at * at - q->q.r;
        behind = near.d > GC_R(0.0);
        if (i == -2 && !(near.d < GC_R(0.0))) return GC_R(0.0);
        if (i == -1 && !behind) return most;
        ends[behind] = at;
        value[behind] = near.d;
        if (i >= 0 && ends[1] - ends[0] <= GC_R(1e-3) * ends[1]) break;
    }
    return ends[0];
}

/* How long what is nearer than the distance stays so, at most `most`. */
GC_LARGE gc_real
gc_revolved_stays(const gc_revolved_search *q, const gc_revolved_state *k, const gc_revolved_gap *g, gc_real most)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_real step, rate = gc_revolved_rate(k, g);
    if (g->sort == GC_SORT_FACE) {
        /* the height of its end changes no faster than by its rate and the bound of its second derivative */
        gc_real loss = gc_revolved_bend(q, g->n) + (GC_R(0.5) * k->f.length + k->f.radius[q->end]) * q->tilt;
        step = rate + GC_SQRT(rate * rate - GC_R(2.0) * loss * g->d);
        return step * most > GC_R(-2.0) * g->d ? GC_R(-2.0) * g->d / step : most;
    }
    step = gc_revolved_deep(q, k, g->on_m, none, most);
    /* nothing moves farther than by its speed */
    step = GC_MAX(step, GC_MIN(most, GC_R(-0.999) * g->d / q->p->bodies.speed));
    if (g->sort == GC_SORT_EDGE && !q->q.ends_m && step < most) {
        /* an edge through what is thin: another of its points stays within */
        gc_vec x, e = g->n;
        gc_real length, along, share, until = most;
        gc_feature_load(q->t, q->q.m, 1, g->number, q->p->bodies.shrink, &x, &e, &length);
        along = gc_dot(e, g->n);
        share = gc_dot(gc_sub(g->on_m, x), e) / gc_dot(e, e);
        /* along a surface with it */
        if (GC_ABS(along) > GC_R(1e-3) * gc_norm(e)) rate = rate / along;
        else rate = gc_dot(k->velocity, e) / gc_dot(e, e);
        if (rate > GC_R(0.0)) until = (GC_R(1.0) - share) / rate;
        if (rate < GC_R(0.0)) until = share / -rate;
        step = GC_MAX(step, gc_revolved_deep(q, k, g->on_m, gc_scale(e, rate), GC_MIN(until, most)));
    }
    return step;
}

#endif
#endif
