/* gc_solve_revolved.h: one candidate with a cylinder or a cone to its contacts in a piece of the motion.
 * needs: narrow_phase/contact/gc_hits.h narrow_phase/contact/gc_revolved.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. The gap of a feature of M and K is convex in place, and each of its falls to the distance of
 * contact is a contact. From the beginning of the piece on, time is advanced by bounds of the gap. Above the distance: along the direction n
 * of two closest points M's part stays below a plane, and K's ends come down to it no faster than
 *     n . (C + t C') - radius |n x (k + t k')| - (A + (length / 2 + radius) B) t^2 / 2,
 * concave in t, so that there is no contact before its root; A and B bound the second derivatives of K's middle and axis. It is the gap
 * itself at t = 0, with its slope, so steps shrink by the square (conservative advancement of second order). Below the distance: so long as
 * the point of M that is deepest is, as K sees it, which moves along a line but for F t^2 / 2. Source: docs/decisions/0144, 0147.
 * Degenerate: what begins in touch and parts is left until it is apart; contact that lasts is told once.
 */
#ifndef GC_SOLVE_REVOLVED_H
#define GC_SOLVE_REVOLVED_H
#if GC_AT_DISTANCE

/* a feature is in contact if the normal lies no more than so far outside of its cone: of the first contact it lies inside */
#define GC_REVOLVED_CONE GC_R(1e-6)

/* a search for the contacts of M's part and K */
typedef struct {
    const gc_tables *t;
    const gc_pair *p;
    gc_revolved q;
    int kind, number, end; /* of the candidate: a face and an end of K, or an edge of M (GC_EE) */
    gc_real bend, tilt;    /* bounds of the second derivatives of K's middle and of its axis, as M sees them */
    gc_real settled, touch;
    gc_real side; /* of a face: 1, or -1 for its back */
    gc_vec along; /* of two frusta that are near: their direction a moment before */
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
    gc_real m = gc_norm(tm), change;
    y = gc_add(w, gc_sub(gc_of_three(b->swing_b), gc_of_three(b->swing_a)));
    y = gc_sub(y, gc_cross(tm, gc_of_three(b->apart)));
    change = gc_norm(d) * gc_norm(pk) + gc_norm(gc_cross(tm, w));
    q->bend = change * (GC_R(1.0) + GC_R(0.5) * m) + gc_norm(gc_cross(tm, y));
    if (of_b) {
        gc_real rows[9];
        gc_quat_rows(gc_quat_make(b->quat[0], b->quat[1], b->quat[2], b->quat[3]), rows);
        k = gc_rotate(rows, k);
    }
    /* |D x k| does not change where one of both does not turn */
    q->tilt = b->angle_a * b->angle_b > GC_R(0.0) ? b->angle * b->angle + b->chi : b->angle * gc_norm(gc_cross(d, k));
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

/* An end of K over the plane through a point of M that goes by n + t turn: its slope at t = 0 */
GC_FN gc_real gc_revolved_slope(const gc_revolved_state *k, const gc_revolved_gap *g, gc_vec turn, int end)
{
    gc_real arm = end ? GC_R(0.5) * k->f.length : GC_R(-0.5) * k->f.length;
    gc_vec at = gc_sub(gc_frustum_end(&k->f, end), g->on_m), a = gc_cross(g->n, k->f.axis);
    gc_vec b = gc_add(gc_cross(g->n, k->tilting), gc_cross(turn, k->f.axis));
    gc_real sine = gc_norm(a), slope = gc_dot(g->n, gc_add(k->velocity, gc_scale(k->tilting, arm))) + gc_dot(turn, at);
    return sine > GC_R(0.0) ? slope - k->f.radius[end] * gc_dot(a, b) / sine : slope;
}

/* How n may turn about M's edge so that both ends of K's side come down alike; none where something else is nearest */
GC_FN gc_vec gc_revolved_turn(const gc_revolved_search *q, const gc_revolved_state *k, const gc_revolved_gap *g)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), x, e = g->n, m;
    gc_real length, differs, by;
    if (g->sort != GC_SORT_EDGE || g->part != GC_PART_SIDE || q->q.ends_m) return none;
    gc_feature_load(q->t, q->q.m, 1, g->number, q->p->bodies.shrink, &x, &e, &length);
    m = gc_scale(gc_cross(g->n, e), GC_R(1.0) / gc_norm(e));
    differs = gc_revolved_slope(k, g, none, 1) - gc_revolved_slope(k, g, none, 0);
    by = gc_revolved_slope(k, g, m, 1) - gc_revolved_slope(k, g, m, 0) - differs;
    if (!(GC_ABS(by) > GC_R(1e-3) * k->f.length)) return none;
    return gc_scale(m, -differs / by);
}

/* The bound of the gap after a while dt, at most `most`, along n + dt turn, which is across M's edge: what is not along n + dt turn but
 * of the second order is taken off whole, so it is concave. */
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
    gc_real wide = GC_R(1.0) + gc_norm(turn) * most, more = gc_norm(gc_cross(turn, k->tilting));
    int i;
    for (i = 0; i < 2; ++i) {
        gc_real r = k->f.radius[i], loss = wide * (q->bend + (arm + r) * q->tilt), at;
        gc_vec end = gc_frustum_end(&k->f, i), velocity = gc_add(k->velocity, gc_scale(k->tilting, i ? arm : -arm));
        if (g->sort == GC_SORT_FACE && i != q->end) continue;
        at = gc_dot(n, end) - g->held + dt * (gc_dot(n, velocity) + gc_dot(turn, gc_sub(end, g->on_m))) - r * sine;
        at -= (r * more + GC_ABS(gc_dot(turn, velocity)) + GC_R(0.5) * loss) * dt * dt;
        least = GC_MIN(at, least);
    }
    return least - q->q.r * gc_norm(gc_add(n, gc_scale(turn, dt)));
}

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
        x = GC_R(0.5) * (a + b);
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
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), turn = gc_revolved_turn(q, k, g);
    gc_real step = gc_revolved_free_along(q, k, g, none, most), size = gc_norm(turn), until;
    if (!(size > GC_R(0.0)) || step >= most) return step;
    /* a direction that turns for less than a quarter */
    until = GC_MIN(most, GC_R(1.0) / size);
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
        else if (i % 2) at = GC_R(0.5) * (ends[0] + ends[1]);
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
        gc_real loss = q->bend + (GC_R(0.5) * k->f.length + k->f.radius[q->end]) * q->tilt;
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
        if (GC_ABS(along) > GC_R(1e-3) * gc_norm(e)) {
            rate = rate / along;
            share = gc_dot(gc_sub(g->on_m, x), e) / gc_dot(e, e);
            if (rate > GC_R(0.0)) until = (GC_R(1.0) - share) / rate;
            if (rate < GC_R(0.0)) until = share / -rate;
            step = GC_MAX(step, gc_revolved_deep(q, k, g->on_m, gc_scale(e, rate), GC_MIN(until, most)));
        }
    }
    return step;
}

/* ---- what is told ---------------------------------------------------------------------------------------------------- */

/* Is a feature of M in touch with a part of K, and not leaving it? */
GC_FN int gc_revolved_holds(const gc_revolved_search *q, int sort, int number, int part, gc_real s)
{
    gc_body_state now;
    gc_revolved_state k;
    gc_revolved_gap g;
    gc_bodies_at(&q->p->bodies, s, &now);
    k = gc_revolved_at(q->t, q->p, &q->q, &now);
    gc_revolved_between(q->t, q->p, &q->q, &k.f, sort, number, part, &g);
    if (!(GC_ABS(g.d - q->q.r) <= q->touch)) return 0;
    if (sort == GC_SORT_FACE)
        return gc_revolved_inside(q->t, q->p, &q->q, number, g.on_m) >= -GC_TOL_INSIDE * q->p->bodies.size;
    return g.part == part && g.sort == sort && g.number == number;
}

/* until when it does, by times so close as those at which other contacts that last are looked at */
GC_LARGE gc_real gc_revolved_until(const gc_revolved_search *q, int sort, int number, int part, gc_real s)
{
    const gc_bodies *b = &q->p->bodies;
    gc_real in = s, out;
    int n = GC_MAX_PIECES + 4 * (int)(b->angle_a + b->angle_b), i;
    if (!gc_revolved_holds(q, sort, number, part, GC_MIN(s + GC_R(4.0) * b->tau, GC_R(0.5)))) return s;
    for (i = 1; i <= n; ++i) {
        out = s + (GC_R(0.5) - s) * ((gc_real)i / (gc_real)n);
        if (!gc_revolved_holds(q, sort, number, part, out)) break;
        in = out;
    }
    if (i > n) return GC_R(0.5);
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real mid = GC_R(0.5) * (in + out);
        if (mid == in || mid == out) break;
        if (gc_revolved_holds(q, sort, number, part, mid)) in = mid;
        else out = mid;
    }
    return in;
}

/* Returns 1 if it is told; *until: when it ends. */
GC_LARGE int gc_revolved_hit(
    const gc_revolved_search *q,
    const gc_hits *o,
    int pair,
    const gc_revolved_gap *g,
    int sort,
    int number,
    int part,
    gc_real s,
    gc_real *until)
{
    const gc_bodies *b = &q->p->bodies;
    gc_real proper = GC_R(1.0), end;
    int kind = gc_revolved_kind(&q->q, sort, part), edge = sort == GC_SORT_EDGE, lasts, other = part;
    s = gc_clamp_time(s);
    if (sort != GC_SORT_FACE && !q->q.ends_m) {
        gc_vec x, e = g->n;
        gc_real length;
        gc_feature_load(q->t, q->q.m, edge, number, b->shrink, &x, &e, &length);
        proper = gc_in_cone(q->t, q->q.m, edge, number, gc_scale(e, GC_R(1.0) / length), g->n);
    } else if (sort == GC_SORT_FACE && !q->q.m->two_sided) proper = gc_dot(gc_normal(q->t, q->q.m, number), g->n);
    if (proper < -GC_REVOLVED_CONE) return 0;
    proper = gc_in_steps(GC_MIN(GC_MAX(proper, GC_R(0.0)), GC_R(1.0)));
    if (proper < o->min_properness) return 0;
    end = gc_revolved_until(q, sort, number, part, s);
    lasts = end - s > GC_MIN(GC_R(2.0) * b->tau, GC_R(0.5));
    /* the side is edge 0 of K */
    if (part == GC_PART_SIDE) other = 0;
    gc_hit_append(
        o, pair, kind | (lasts ? GC_HIT_SUSTAINED : 0), q->q.of_b ? number : other, q->q.of_b ? other : number, s,
        lasts ? end : s, proper);
    if (lasts) *until = GC_MAX(*until, end);
    return 1;
}

/* Are both nearer than the distance when the step begins? A face with all that lies within its borders. */
GC_LARGE int gc_revolved_nearer(gc_revolved_search *q)
{
    gc_revolved_state k;
    gc_revolved_gap g;
    gc_revolved_look(q, GC_R(-0.5), &k, &g);
    if (g.sort == GC_SORT_FACE) {
        gc_revolved_face(q->t, q->p, &q->q, &k.f, q->number, &g);
        g.d -= q->q.r;
    }
    return g.d < -q->touch;
}

/* Is an end of K that touches the plane of a face over that, and the other one no lower? */
GC_FN int gc_revolved_over(const gc_revolved_search *q, const gc_revolved_state *k, const gc_revolved_gap *g)
{
    if (gc_frustum_depth(&k->f, 1 - q->end, g->n) - g->held - q->q.r < -q->touch) return 0;
    return gc_revolved_inside(q->t, q->p, &q->q, q->number, g->on_m) >= -GC_TOL_INSIDE * q->p->bodies.size;
}

/* What slides over a plane in touch: from `out`, where it is not over the face, to s, where it is: when it comes there. */
GC_LARGE gc_real
gc_revolved_enters(const gc_revolved_search *q, gc_real out, gc_real s, gc_revolved_state *k, gc_revolved_gap *g)
{
    int i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real mid = GC_R(0.5) * (out + s);
        if (mid == out || mid == s) break;
        gc_revolved_look(q, mid, k, g);
        if (gc_revolved_over(q, k, g)) s = mid;
        else out = mid;
    }
    gc_revolved_look(q, s, k, g);
    return s;
}

/* All that a candidate tells at a time of contact: of a face its own end of K, of an edge what is nearest and both ends of one that is as
 * near all along. How many; *until: when the last of them ends. */
GC_LARGE int gc_revolved_tell(
    const gc_revolved_search *q,
    const gc_hits *o,
    int pair,
    const gc_revolved_state *k,
    const gc_revolved_gap *g,
    gc_real s,
    gc_real *until)
{
    int told = gc_revolved_hit(q, o, pair, g, g->sort, g->number, g->part, s, until);
    if (g->flat >= 0 && g->flat != g->number) {
        gc_revolved_gap other;
        gc_revolved_vertex(q->t, q->p, &q->q, &k->f, g->flat, &other);
        told += gc_revolved_hit(q, o, pair, &other, GC_SORT_VERTEX, g->flat, other.part, s, until);
    }
    return told;
}

/* How long nothing is told: above the distance until it may be touched, below it until it may be left. */
GC_FN gc_real gc_revolved_step(
    const gc_revolved_search *q,
    const gc_revolved_state *k,
    const gc_revolved_gap *g,
    gc_real s,
    gc_real leave,
    gc_real most)
{
    gc_real far = GC_ABS(g->d), rate = gc_revolved_rate(k, g);
    gc_real step = g->d > GC_R(0.0) ? gc_revolved_free(q, k, g, most) : gc_revolved_stays(q, k, g, most);
    if (far > GC_R(1e-6) * q->p->bodies.size || step >= most) return step;
    /* the direction of what is so near has few digits left for a bound, but the rate has */
    if (g->d < GC_R(0.0)) rate = -rate;
    if (rate < -GC_TOL_FACING * q->p->bodies.speed) rate = far > q->touch ? GC_R(-0.9) * far / rate : far / -rate;
    else rate = leave;
    return s + step == s || step < GC_R(0.1) * rate ? GC_MIN(rate, most) : step;
}

/* What is in each other at s and was not at `before`: when it touched. */
GC_LARGE gc_real
gc_revolved_between_times(const gc_revolved_search *q, gc_real before, gc_real s, gc_revolved_state *k, gc_revolved_gap *g)
{
    gc_real mid = s;
    int i;
    for (i = 0; i < GC_MAX_NEWTON && GC_ABS(g->d) > q->settled; ++i) {
        if (g->d > GC_R(0.0)) before = mid;
        else s = mid;
        mid = GC_R(0.5) * (before + s);
        if (mid == before || mid == s) break;
        gc_revolved_look(q, mid, k, g);
    }
    return mid;
}

/* The contacts from lo to hi; `last`: behind it there is none. Returns 0 if a cap was hit. */
GC_LARGE int gc_revolved_walk(gc_revolved_search *q, const gc_hits *o, int pair, gc_real lo, gc_real hi, gc_real last)
{
    const gc_bodies *b = &q->p->bodies;
    gc_revolved_state k;
    gc_revolved_gap g;
    gc_real s = lo, step, leave = b->tau, parting = GC_TOL_FACING * b->speed, out = GC_R(-1.0),
            above = GC_R(-1.0); /* when it was above the distance, at the visit before */
    gc_real often = GC_R(1.0) / (gc_real)(GC_MAX_PIECES + 4 * (int)(b->angle_a + b->angle_b));
    /* what is in touch when a later piece begins is told by the one before, which goes on a little beyond */
    int visits, told = lo > GC_R(-0.5), sort = 0, number = 0, part = 0;
    for (visits = 0; visits < GC_MAX_VISITS; ++visits) {
        gc_revolved_look(q, s, &k, &g);
        if (GC_ABS(g.d + q->q.r) <= GC_R(1e-3) * b->size) q->along = g.n;
        if (g.d < -q->touch && above >= GC_R(-0.5)) s = gc_revolved_between_times(q, above, s, &k, &g);
        above = g.d > q->touch ? s : GC_R(-1.0);
        if (GC_ABS(g.d) <= q->touch) {
            gc_real rate = gc_revolved_rate(&k, &g), until = s;
            int over = g.sort != GC_SORT_FACE || gc_revolved_over(q, &k, &g), lasts = GC_ABS(rate) <= parting, other;
            if (visits == 0) {
                told = told && over;
                sort = g.sort;
                number = g.number;
                part = g.part;
            }
            other = g.sort != sort || g.number != number || g.part != part;
            if (rate > parting) told = 1;      /* it parts */
            else if (lasts && other) told = 0; /* other features go on */
            step = GC_R(0.0);
            if (!(told || lasts || s >= hi || GC_ABS(g.d) <= q->settled))
                step = gc_revolved_step(q, &k, &g, s, leave, hi - s);
            if (step < hi - s && s + step != s) {
                s += step;
                continue;
            }
            /* it comes no nearer than this, or is there */
            if (!told && over) {
                if (out >= GC_R(-0.5)) s = until = gc_revolved_enters(q, out, s, &k, &g);
                if (gc_revolved_tell(q, o, pair, &k, &g, s, &until) && o->shut) return 1;
                sort = g.sort;
                number = g.number;
                part = g.part;
            }
            told = over || !lasts;
            out = told ? GC_R(-1.0) : s;
            if (s >= hi || until >= hi) return 1;
            if (until > s) leave = b->tau;
            s = GC_MIN(GC_MAX(s, until) + GC_MIN(leave, often), hi);
            leave *= GC_R(2.0);
            continue;
        }
        if (told) leave = b->tau;
        told = 0;
        sort = -1;
        out = GC_R(-1.0);
        if (s >= hi || s > last || gc_comes_late(o, pair, s, b->tau)) return 1;
        step = gc_revolved_step(q, &k, &g, s, leave, hi - s);
        if (s + step == s) {
            step = leave;
            leave *= GC_R(2.0);
        } else leave = b->tau;
        s = step < hi - s ? s + step : hi;
    }
    return 0;
}

/* Returns 0 if a cap was hit. middle, arm: of the piece. */
GC_LARGE int gc_solve_revolved(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    const gc_candidate *c,
    gc_real middle,
    gc_real arm)
{
    gc_revolved_search q;
    gc_frustum f;
    gc_real lo = GC_MAX(middle - arm, GC_R(-0.5)), hi = GC_MIN(middle + arm, GC_R(0.5)), last;
    int good;
    if (!gc_revolved_begin(t, p, c, &q)) return 1;
    last = c->last + GC_MAX(p->bodies.tau, GC_PIECE_OVERLAP);
    f = gc_frustum_of(t, q.q.k, q.q.ends, p->bodies.shrink);
    gc_revolved_bounds(&q, &f);
    good = gc_revolved_walk(&q, o, c->pair, lo, hi, last);
    if (c->kind == GC_EE || !q.q.m->two_sided) return good;
    q.side = GC_R(-1.0);
    return gc_revolved_walk(&q, o, c->pair, lo, hi, last) && good;
}

#endif

/* Is it a candidate of a pair with a frustum? *nearer: is what it stands for nearer at the start than the distance? */
GC_LARGE int gc_revolved_start(
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    const gc_tables *t,
    const gc_candidate *c,
    int *nearer)
{
    *nearer = 0;
#if GC_AT_DISTANCE
    {
        gc_pair p;
        gc_revolved_search q;
        gc_pair_load(pairs, shape, screw, t, c->pair, &p);
        if (!gc_is_revolved(&p)) return 0;
        if (!gc_revolved_begin(t, &p, c, &q)) return 1;
        *nearer = gc_revolved_nearer(&q);
        return 1;
    }
#else
    (void)pairs, (void)shape, (void)screw, (void)t, (void)c;
    return 0;
#endif
}

#endif
