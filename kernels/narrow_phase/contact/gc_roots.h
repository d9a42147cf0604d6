/* gc_roots.h: all roots of the contact equations on an interval, in rising order.
 * needs: narrow_phase/contact/gc_body_curve.h
 *
 * f(s) = p0 + p1 sigma + p2 nu + p3 s + s (q1 sigma + q2 nu), sigma = sin(theta s)/theta, nu = (1 - cos(theta s))/theta^2.
 * Vertex-face has q = 0 (docs/decisions/0003). The interval is bisected, left to right. A piece is settled as soon as a
 * bound decides it: no root (value against slope and curvature), or a single one (slope against curvature), which Newton's
 * method finds, kept inside its bracket. The curvature is bounded for the whole interval first; where that does not settle a
 * piece, by its value in the middle and a bound of the third derivative: terms that cancel over the whole interval (nearly
 * parallel features, a long path with a tiny rotation) would otherwise divide it into thousands. What remains shrinks to a
 * double root, and is a touch if the extremum there is within the touch tolerance; two single roots that rounding cannot
 * distinguish are one as well (gc_join_double). The position in the tree of pieces is two numbers, so there is no stack.
 * After GC_MAX_VISITS pieces the search stops and reports it.
 */
#ifndef GC_ROOTS_H
#define GC_ROOTS_H

typedef struct {
    gc_real theta, p0, p1, p2, p3, q1, q2;
    GC_OF_BODIES(gc_body_curve own;) /* in place of these, unless own.form is GC_CURVE_SCREW */
} gc_curve;

typedef struct {
    gc_real f, df;
    GC_OF_BODIES(gc_real ddf;)
} gc_value;

#if GC_BODY_MOTION
GC_FN gc_value gc_value_of(gc_body_value v)
{
    gc_value r;
    r.f = v.f;
    r.df = v.df;
    r.ddf = v.ddf;
    return r;
}
#endif

GC_FN gc_value gc_curve_at(const gc_curve *c, gc_real s)
{
    gc_value r;
    gc_turn t;
    gc_real cosine, q;
#if GC_BODY_MOTION
    if (c->own.form) return gc_value_of(gc_body_curve_at(&c->own, s));
#endif
    t = gc_turn_at(c->theta, s);
    cosine = GC_R(1.0) - c->theta * c->theta * t.nu;
    q = c->q1 * t.sigma + c->q2 * t.nu;
    r.f = c->p0 + c->p1 * t.sigma + c->p2 * t.nu + c->p3 * s + s * q;
    r.df = c->p1 * cosine + c->p2 * t.sigma + c->p3 + q + s * (c->q1 * cosine + c->q2 * t.sigma);
    return r;
}

/* second derivative, for the extremum of a touch */
GC_FN gc_real gc_curve_bend(const gc_curve *c, gc_real s)
{
    gc_turn t;
    gc_real th2 = c->theta * c->theta, cosine;
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_at(&c->own, s).ddf;)
    t = gc_turn_at(c->theta, s);
    cosine = GC_R(1.0) - th2 * t.nu;
    return c->p2 * cosine - th2 * c->p1 * t.sigma + GC_R(2.0) * (c->q1 * cosine + c->q2 * t.sigma)
           + s * (c->q2 * cosine - th2 * c->q1 * t.sigma);
}

/* bound of |f''| for |s| <= reach */
GC_FN gc_real gc_curve_bend_bound(const gc_curve *c, gc_real reach)
{
    gc_real th2 = c->theta * c->theta;
    gc_real a = GC_ABS(c->q1), b = GC_ABS(c->q2);
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_bound(&c->own, 2);)
    return th2 * GC_ABS(c->p1) * reach + GC_ABS(c->p2) + GC_R(2.0) * (a + b * reach) + reach * (th2 * a * reach + b);
}

/* bound of |f'''| for |s| <= reach: where turns are small it is far below that of |f''|, whose terms may cancel */
GC_FN gc_real gc_curve_third_bound(const gc_curve *c, gc_real reach)
{
    gc_real th2 = c->theta * c->theta, a = GC_ABS(c->q1), b = GC_ABS(c->q2);
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_bound(&c->own, 3);)
    return th2 * (GC_ABS(c->p1) + reach * (GC_ABS(c->p2) + a + reach * b)) + GC_R(3.0) * (b + th2 * a * reach);
}

/* bound of |f'| for |s| <= reach, term by term: what its rounding is measured by */
GC_FN gc_real gc_curve_slope_bound(const gc_curve *c, gc_real reach)
{
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_rounding(&c->own) + gc_body_curve_bound(&c->own, 1);)
    return GC_ABS(c->p1) + GC_ABS(c->p3)
           + reach * (GC_ABS(c->p2) + GC_R(2.0) * GC_ABS(c->q1) + GC_R(1.5) * reach * GC_ABS(c->q2));
}

/* bound of |f| for |s| <= reach */
GC_FN gc_real gc_curve_bound(const gc_curve *c, gc_real reach)
{
    GC_OF_BODIES(if (c->own.form) return gc_body_curve_rounding(&c->own);)
    return GC_ABS(c->p0)
           + reach * (GC_ABS(c->p1) + GC_ABS(c->p3) + reach * (GC_ABS(c->p2) + GC_ABS(c->q1) + reach * GC_ABS(c->q2)));
}

/* The same, much closer where the terms cancel (sigma is nearly s, nu nearly s^2/2): a slide whose step carries a turn of
 * rounding size has p1 = -p3 of the size of the slide, and stays on its plane. */
GC_FN gc_real gc_curve_bound_near(const gc_curve *c, gc_real r)
{
    gc_real th2 = c->theta * c->theta, sixth = GC_R(0.166666666666666667), third = GC_R(0.25) * sixth * th2;
    gc_real fourth = sixth * th2 * GC_ABS(c->q1) + third * GC_ABS(c->p2) + r * third * GC_ABS(c->q2);
    gc_real cubic = sixth * th2 * GC_ABS(c->p1) + GC_R(0.5) * GC_ABS(c->q2) + r * fourth;
    return GC_ABS(c->p0) + r * (GC_ABS(c->p1 + c->p3) + r * (GC_ABS(c->q1 + GC_R(0.5) * c->p2) + r * cubic));
}

/* an extremum of f near s: Newton on f', kept within s +- reach */
GC_LARGE gc_real gc_extremum(const gc_curve *c, gc_real s, gc_real reach)
{
    gc_real x = s;
    int i;
    for (i = 0; i < 6; ++i) {
        gc_real bend = gc_curve_bend(c, x);
        gc_real step = bend != GC_R(0.0) ? gc_curve_at(c, x).df / bend : GC_R(0.0);
        x = x - step;
        x = x < s - reach ? s - reach : x;
        x = x > s + reach ? s + reach : x;
    }
    return x;
}

/* the single root of f in [a, b], whose values fa and fb have different signs; *capped is set if the cap was hit */
GC_LARGE gc_real gc_bracketed(const gc_curve *c, gc_real a, gc_real b, gc_real fa, gc_real settled, int *capped)
{
    gc_real x = GC_R(0.5) * (a + b);
    int rising = fa < GC_R(0.0), i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_value v = gc_curve_at(c, x);
        gc_real next;
        if (GC_ABS(v.f) <= settled) return x;
        if ((v.f < GC_R(0.0)) == rising) a = x;
        else b = x;
        next = v.df != GC_R(0.0) ? x - v.f / v.df : a;
        if (!(next > a && next < b)) next = GC_R(0.5) * (a + b);
        if (next == x || next <= a || next >= b) return x;
        x = next;
    }
    *capped = 1;
    return x;
}

#if GC_BODY_MOTION
/* A bound of |f'''|, for m +- arm alone, of bodies that move each by itself: that of f through nodes of Chebyshev, where f is known within
 * `rounding`, and of what is left. Where f hardly changes it is far below that of the whole step (docs/decisions/0126). */
GC_LARGE gc_real gc_curve_third_near(const gc_curve *c, gc_real m, gc_real arm, gc_real rounding)
{
    const gc_bodies *b = c->own.bodies;
    gc_real turn = GC_R(2.0) * (b->angle_a + b->angle_b), sum = GC_R(0.0), rest, part[GC_THIRD_NODES];
    int i, k;
    for (k = 0; k < GC_THIRD_NODES; ++k) part[k] = GC_R(0.0);
    for (i = 0; i < GC_THIRD_NODES; ++i) {
        gc_real x = gc_half_turn_at(GC_R(6.283185307179586), ((gc_real)i + GC_R(0.5)) / (gc_real)GC_THIRD_NODES).w;
        gc_real f = gc_curve_at(c, m + arm * x).f, now = x, before = GC_R(1.0);
        for (k = 1; k < GC_THIRD_NODES; ++k) {
            gc_real next = (x + x) * now - before;
            part[k] += f * now;
            before = now;
            now = next;
        }
    }
    for (k = 3; k < GC_THIRD_NODES; ++k) {
        gc_real k2 = (gc_real)(k * k), most = k2 * (k2 - GC_R(1.0)) * (k2 - GC_R(4.0)) / GC_R(15.0); /* of T_k''' */
        sum += GC_R(2.0) * most * (GC_ABS(part[k]) / (gc_real)GC_THIRD_NODES + rounding);
    }
    /* f''' of that is a polynomial through three fewer values of f''', which is off by the next derivative there is */
    rest = c->own.unit * (turn * (b->most + b->radius_a + b->radius_b) + (gc_real)GC_THIRD_NODES * b->way) * turn * turn;
    for (k = 1; k <= GC_THIRD_NODES - 3; ++k) rest *= turn * (arm + arm) / (gc_real)k;
    return sum / (arm * arm * arm) + rest;
}
#endif

/* Walk over the pieces of [lo, lo + span]: piece number `index` of 2^level, of width `h`. */
typedef struct {
    gc_real lo, h, reach, bend, rounding, settled, touch, last_touch;
    gc_long index;
    int level, visits, done, capped;
    /* parts outside of from and until are passed over; touched_to: where the last flat part that touches ends */
    GC_OF_BODIES(gc_real third; gc_real slope_rounding; gc_real from; gc_real until; gc_real touched_to;)
} gc_root_search;

/* touch: |f| that counts as zero at an extremum */
GC_FN void gc_root_search_start(gc_root_search *w, const gc_curve *c, gc_real lo, gc_real hi, gc_real touch)
{
    gc_real reach = GC_MAX(GC_ABS(lo), GC_ABS(hi));
    w->lo = lo;
    w->h = hi - lo;
    w->reach = reach;
    w->bend = gc_curve_bend_bound(c, reach);
    w->rounding = GC_CURVE_ROUNDING * gc_curve_bound(c, reach);
    w->settled = GC_R(0.25) * w->rounding;
    w->touch = GC_MAX(touch, GC_R(4.0) * w->rounding);
    w->last_touch = GC_R(-100.0);
    w->index = 0;
    w->level = 0;
    w->visits = 0;
    w->done = 0;
    w->capped = 0;
#if GC_BODY_MOTION
    w->third = c->own.form ? gc_body_curve_bound(&c->own, 3) : GC_R(0.0);
    w->slope_rounding = c->own.form ? GC_CURVE_ROUNDING * gc_curve_slope_bound(c, reach) : GC_R(0.0);
    w->from = lo;
    w->until = hi;
    w->touched_to = GC_R(-100.0);
#endif
}

/* What the coefficients were computed from may be larger than they are: `rounding` is then more than theirs. Roots are found as
 * closely as before; it only says which of them are one. */
GC_FN void gc_root_search_rounding(gc_root_search *w, gc_real rounding)
{
    w->rounding = GC_MAX(w->rounding, rounding);
    w->touch = GC_MAX(w->touch, GC_R(4.0) * w->rounding);
}

GC_FN void gc_root_search_advance(gc_root_search *w)
{
    w->index += 1;
    while (w->level > 0 && (w->index & 1) == 0) {
        w->index /= 2;
        w->level -= 1;
        w->h *= GC_R(2.0);
    }
    if (w->level == 0 && w->index > 0) w->done = 1;
}

/* what the bounds say of a piece */
#define GC_PIECE_EMPTY 0
#define GC_PIECE_MONOTONE 1
#define GC_PIECE_FLAT 2 /* f stays within half the touch tolerance of its extremum */
#define GC_PIECE_OPEN 3

/* `bend` bounds |f''| on the piece, `slope_rounding` the error of v.df */
GC_FN int gc_piece(const gc_root_search *w, gc_value v, gc_real bend, gc_real slope_rounding, gc_real arm)
{
    gc_real slope = GC_ABS(v.df), value = GC_ABS(v.f);
    if (value > (slope + slope_rounding) * arm + GC_R(0.5) * bend * arm * arm + w->rounding + w->touch)
        return GC_PIECE_EMPTY;
    /* An extremum on the border of two pieces belongs to both: by its rounding alone a piece must not be monotone, or a touch
     * there is a root of neither. */
    if (slope > GC_R(1.00001) * bend * arm + slope_rounding) return GC_PIECE_MONOTONE;
    return bend * arm * arm <= GC_R(0.5) * w->touch ? GC_PIECE_FLAT : GC_PIECE_OPEN;
}

/* the same with the curvature of the piece itself */
GC_LARGE int gc_piece_closer(const gc_root_search *w, const gc_curve *c, gc_real m, gc_value v, gc_real arm)
{
    gc_real bend = GC_ABS(gc_curve_bend(c, m)) + gc_curve_third_bound(c, w->reach) * arm + GC_CURVE_ROUNDING * w->bend;
    if (!(bend < w->bend)) return GC_PIECE_OPEN;
    return gc_piece(w, v, bend, GC_CURVE_ROUNDING * gc_curve_slope_bound(c, w->reach), arm);
}

#if GC_BODY_MOTION
/* ... of bodies that move each by itself; where value and curvature have one sign the curve comes less near than by its slope alone */
GC_FN int gc_piece_of_bodies(const gc_root_search *w, gc_value v, gc_real arm)
{
    gc_real cubic = w->third * arm * arm * arm * GC_R(0.166666666666666667), slope = GC_ABS(v.df), value = GC_ABS(v.f);
    gc_real curve = GC_ABS(v.ddf), bend = curve + w->third * arm + GC_CURVE_ROUNDING * w->bend,
            fall = slope + w->slope_rounding;
    if ((v.f < GC_R(0.0)) == (v.ddf < GC_R(0.0)) && curve > GC_R(0.0)) {
        gc_real x = GC_MIN(fall / curve, arm);
        value -= x * (fall - GC_R(0.5) * curve * x) + cubic;
    } else value -= arm * (fall + GC_R(0.5) * curve * arm) + cubic;
    if (value > GC_R(2.0) * w->rounding + w->touch) return GC_PIECE_EMPTY;
    return gc_piece(w, v, bend, w->slope_rounding, arm);
}
#endif

/* Two roots nearer to each other than rounding can tell are one touch: a root so flat that its partner lies within the
 * rounding of f goes to the extremum between them, where time, place and approach are those of the touch (a root within
 * rounding is off by its root, 1.5e-8 of a step seen, enough to face the wrong way). Returns 0 if it was reported already. */
GC_LARGE int gc_join_double(const gc_root_search *w, const gc_curve *c, gc_real *root)
{
    gc_real slope = gc_curve_at(c, *root).df, bend = GC_ABS(gc_curve_bend(c, *root)), reach;
    if (!(bend > GC_R(0.0)) || slope * slope > GC_R(8.0) * bend * w->rounding) return 1;
    reach = GC_SQRT(GC_R(8.0) * w->rounding / bend);
    *root = gc_extremum(c, *root, reach);
    return *root - w->last_touch > reach;
}

/* what comes next in a walk */
#define GC_NEXT_NONE 0
#define GC_NEXT_CROSSING 1 /* a piece where f is monotone, with different signs at its ends */
#define GC_NEXT_EXTREMUM 2 /* one that nothing is known of but that f may touch zero at an extremum */

typedef struct {
    gc_real a, b, m, fa; /* the piece, its middle, f at its beginning */
    gc_value v;          /* in the middle */
} gc_next_piece;

/* Walk on to the next piece that may have a root. All that finds roots comes behind this loop: lanes of a GPU that came to one
 * in different rounds find them together. */
GC_FN int gc_root_search_piece(gc_root_search *w, const gc_curve *c, gc_next_piece *p)
{
    while (!w->done) {
        gc_real arm = GC_R(0.5) * w->h, a = w->lo + (gc_real)w->index * w->h, m = a + arm;
        gc_value v;
        int piece = GC_PIECE_OPEN;
#if GC_BODY_MOTION
        if (a + w->h < w->from || a > w->until) {
            gc_root_search_advance(w);
            continue;
        }
#endif
        v = gc_curve_at(c, m);
#if GC_BODY_MOTION
        if (c->own.form) piece = gc_piece_of_bodies(w, v, arm);
        else
#endif
            piece = gc_piece(w, v, w->bend, GC_R(0.0), arm);
        if (GC_OF_BODIES(!c->own.form &&) piece == GC_PIECE_OPEN && w->level > 0) piece = gc_piece_closer(w, c, m, v, arm);
        if (++w->visits >= GC_MAX_VISITS || (piece == GC_PIECE_OPEN && w->level >= GC_MAX_LEVEL)) w->capped = 1;
        if (w->visits > GC_MAX_VISITS) {
            w->done = 1;
            return GC_NEXT_NONE;
        }
        if (piece == GC_PIECE_OPEN && w->level < GC_MAX_LEVEL) {
            w->level += 1;
            w->index *= 2;
            w->h = arm;
            continue;
        }
        p->a = a;
        p->m = m;
        p->v = v;
#if GC_BODY_MOTION
        if (piece == GC_PIECE_MONOTONE && c->own.form) {
            /* its root lies to one side of the middle, whose other end has the other sign */
            int ahead = (v.f < GC_R(0.0)) == (v.df > GC_R(0.0));
            gc_real end = ahead ? w->lo + (gc_real)(w->index + 1) * w->h : a, fe = gc_curve_at(c, end).f;
            p->a = ahead ? m : end;
            p->b = ahead ? end : m;
            p->fa = ahead ? v.f : fe;
            if ((fe < GC_R(0.0)) != (v.f < GC_R(0.0))) return GC_NEXT_CROSSING;
        } else
#endif
            if (piece == GC_PIECE_MONOTONE) {
            gc_real b = w->lo + (gc_real)(w->index + 1) * w->h;
            gc_real fa = gc_curve_at(c, a).f, fb = gc_curve_at(c, b).f;
            p->b = b;
            p->fa = fa;
            if ((fa < GC_R(0.0)) != (fb < GC_R(0.0))) return GC_NEXT_CROSSING;
        } else if (piece != GC_PIECE_EMPTY) return GC_NEXT_EXTREMUM;
        gc_root_search_advance(w);
    }
    return GC_NEXT_NONE;
}

#if GC_BODY_MOTION
/* A root of many folds, from near it: Newton on f' comes nearer by a share each time, as long as f' is more than its rounding. The end of
 * the step, if that is not told from it. */
GC_LARGE gc_real gc_many_fold(const gc_root_search *w, const gc_curve *c, gc_real x)
{
    gc_value v = gc_curve_at(c, x);
    gc_real end;
    int i;
    for (i = 0; i < GC_MAX_NEWTON && GC_ABS(v.df) > w->slope_rounding; ++i) {
        gc_real next = x - v.df / v.ddf;
        gc_value there = gc_curve_at(c, next);
        if (!(GC_ABS(there.f) <= w->touch)) break;
        x = next;
        v = there;
    }
    end = x < GC_R(0.0) ? GC_R(-0.5) : GC_R(0.5);
    return GC_ABS(x - end) * GC_ABS(v.ddf) <= GC_R(8.0) * w->slope_rounding && GC_ABS(gc_curve_at(c, end).f) <= w->touch
               ? end
               : x;
}
#endif

/* next root in *root, or 0 when there is none left */
GC_LARGE int gc_root_search_next(gc_root_search *w, const gc_curve *c, gc_real *root)
{
    gc_next_piece p;
    int next;
    while ((next = gc_root_search_piece(w, c, &p)) != GC_NEXT_NONE) {
        gc_real h = w->h;
        gc_root_search_advance(w);
        if (next == GC_NEXT_CROSSING) {
            /* no slope of the piece is less than that of its middle by more */
            gc_real bend = w->bend, least;
            int lone;
            GC_OF_BODIES(if (c->own.form) bend = GC_ABS(p.v.ddf) + w->third * (GC_R(0.5) * h);)
            least = GC_ABS(p.v.df) - bend * (GC_R(0.5) * h);
            lone = least > GC_R(0.0) && least * least > GC_R(8.0) * bend * w->rounding;
            *root = gc_bracketed(c, p.a, p.b, p.fa, w->settled, &w->capped);
            if (lone || gc_join_double(w, c, root)) {
                w->last_touch = *root;
                return 1;
            }
        } else {
            gc_real x = gc_extremum(c, p.m, GC_R(2.0) * h);
            gc_real near = GC_MIN(GC_ABS(p.v.f), GC_ABS(gc_curve_at(c, x).f));
            /* pieces beside each other find the same extremum; so written that no bend at all leaves h */
            gc_real width = GC_SQRT(w->touch / w->bend), apart = GC_R(8.0) * (width < h ? width : h);
#if GC_BODY_MOTION
            if (c->own.form && near <= w->touch) {
                /* parts that touch one after another are one touch */
                int follows = p.a - w->touched_to < GC_R(0.5) * h;
                w->touched_to = p.a + h;
                if (follows) continue;
                x = gc_many_fold(w, c, x);
            }
#endif
            if (near <= w->touch && x - w->last_touch > apart) {
                w->last_touch = x;
                *root = x;
                return 1;
            }
        }
    }
    return 0;
}

#endif
