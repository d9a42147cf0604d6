/* gc_solve_revolved.h: one candidate with a cylinder or a cone to its contacts in a piece of the motion.
 * needs: narrow_phase/solve/gc_revolved_bounds.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. Each fall of a feature's gap to the distance is a contact. From the beginning of the piece on,
 * time is advanced by bounds of the gap, above the distance and below it, whose steps shrink by the square (conservative advancement of
 * second order). Source: docs/decisions/0144, 0147.
 * Degenerate: what begins in touch and parts is left until it is apart; contact that lasts is told once.
 */
#ifndef GC_SOLVE_REVOLVED_H
#define GC_SOLVE_REVOLVED_H
#if GC_AT_DISTANCE

/* a feature is in contact if the normal lies no more than so far outside of its cone: of the first contact it lies inside */
#define GC_REVOLVED_CONE GC_R(1e-6)

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
    const gc_revolved_state *k,
    gc_revolved_gap g,
    gc_real s,
    gc_real *until)
{
    const gc_bodies *b = &q->p->bodies;
    gc_real proper = GC_R(1.0), end;
    int sort = g.sort, number = g.number, part = g.part;
    int kind = gc_revolved_kind(&q->q, sort, part), edge = sort == GC_SORT_EDGE, lasts, other = part;
    s = gc_clamp_time(s);
    gc_revolved_parts(q->t, &q->q, &k->f, g.d + q->q.r, &g);
    if (sort != GC_SORT_FACE && !q->q.ends_m) {
        gc_vec x, e = g.n;
        gc_real length;
        gc_feature_load(q->t, q->q.m, edge, number, b->shrink, &x, &e, &length);
        proper = gc_in_cone(q->t, q->q.m, edge, number, gc_scale(e, GC_R(1.0) / length), g.n);
    } else if (sort == GC_SORT_FACE && !q->q.m->two_sided) proper = gc_dot(gc_normal(q->t, q->q.m, number), g.n);
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
    return gc_revolved_inside(q->t, q->p, &q->q, q->number, g->on_m) >= -q->settled;
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
    int told = gc_revolved_hit(q, o, pair, k, *g, s, until);
    if (g->flat >= 0 && g->flat != g->number) {
        gc_revolved_gap other;
        gc_revolved_vertex(q->t, q->p, &q->q, &k->f, g->flat, &other);
        other.d -= q->q.r;
        told += gc_revolved_hit(q, o, pair, k, other, s, until);
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
            above = GC_R(-1.0); /* when it was above the distance last, or left it, if nothing was told since */
    gc_real often = GC_R(1.0) / (gc_real)(GC_MAX_PIECES + 4 * (int)(b->angle_a + b->angle_b));
    /* what is in touch when a later piece begins is told by the one before, which goes on a little beyond */
    int visits, came, told = lo > GC_R(-0.5), sort = 0, number = 0, part = 0;
    for (visits = 0; visits < GC_MAX_VISITS; ++visits) {
        gc_revolved_look(q, s, &k, &g);
        if (GC_ABS(g.d + q->q.r) <= GC_R(1e-3) * b->size) q->along = g.n;
        came = g.d < -q->touch && above >= GC_R(-0.5);
        if (came) {
            s = gc_revolved_between_times(q, above, s, &k, &g);
            told = 0;
        } else if (g.d > q->touch) above = s;
        else if (g.d < -q->touch) above = GC_R(-1.0);
        if (GC_ABS(g.d) <= q->touch || came) {
            gc_real rate = gc_revolved_rate(&k, &g), until = s;
            int over = g.sort != GC_SORT_FACE || gc_revolved_over(q, &k, &g), lasts = GC_ABS(rate) <= parting, other;
            if (visits == 0) {
                told = told && over;
                sort = g.sort;
                number = g.number;
                part = g.part;
            }
            other = g.sort != sort || g.number != number || g.part != part;
            if (rate > parting && !came) {
                /* it parts; what is below the distance next did not: another of its points came in */
                if (!told) above = s;
                told = 1;
            } else if (lasts && other) told = 0; /* other features go on */
            step = GC_R(0.0);
            /* what is below the distance within touch when the step begins comes no nearer to it */
            if (!(told || came || lasts || s >= hi || g.d <= q->settled))
                step = gc_revolved_step(q, &k, &g, s, leave, hi - s);
            if (step < hi - s && s + step != s) {
                above = s; /* a direction of so near has few digits, and the step may end within */
                s += step;
                continue;
            }
            /* it comes no nearer than this, or is there */
            if (!told) above = GC_R(-1.0);
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
