/* gc_ball_path.h: two spheres: when the distance of their centres falls to the sum of their radii.
 * needs: common/gc_constants.h narrow_phase/frame/gc_body_motion.h
 *
 * P leads from A's centre to B's, in axes that do not turn, so that a turn about a centre is none:
 *     f = |P|^2 - r^2,  f' = 2 P . P',  f'' = 2 (P' . P' + P . P''),  |f'''| <= 6 |P'| |P''| + 2 |P| |P'''|
 * From a time at which f is above a level it stays so as long as f + f' h + f''/2 h^2 less F h^3/6 does, F the bound of f''': as h^3 <= w^2 h up
 * to w, that is the first root of a quadratic. Where the centres move straight, F is 0 and one such step ends beside the root; else steps
 * converge by the third power. Source: docs/decisions/0143.
 */
#ifndef GC_BALL_PATH_H
#define GC_BALL_PATH_H

typedef struct {
    gc_vec apart, drift, swing_a, swing_b, lift_a, lift_b; /* lift: turn x swing */
    gc_real angle_a, angle_b;
    gc_real r;        /* the distance of contact */
    gc_real tol;      /* what |f| may be where they touch */
    gc_real rounding; /* of f near 0 */
    gc_real third;    /* bound of |f'''| */
    gc_real facing;   /* f' of what does not part */
} gc_ball_path;

typedef struct {
    gc_real f, df, ddf;
} gc_ball_value;

GC_FN gc_ball_path gc_ball_path_of(const gc_bodies *b)
{
    gc_ball_path c;
    gc_real twice = GC_R(2.0) * b->distance, a, s, bend;
    c.apart = gc_of_three(b->apart);
    c.drift = gc_of_three(b->drift);
    c.swing_a = gc_of_three(b->swing_a);
    c.swing_b = gc_of_three(b->swing_b);
    c.lift_a = gc_cross(gc_of_three(b->turn_a), c.swing_a);
    c.lift_b = gc_cross(gc_of_three(b->turn_b), c.swing_b);
    a = gc_norm(c.swing_a);
    s = gc_norm(c.swing_b);
    /* what does not swing does not turn */
    c.angle_a = a > GC_R(0.0) ? b->angle_a : GC_R(0.0);
    c.angle_b = s > GC_R(0.0) ? b->angle_b : GC_R(0.0);
    bend = c.angle_a * a + c.angle_b * s;
    c.third = GC_R(6.0) * b->way * bend + GC_R(2.0) * b->most * (c.angle_a * c.angle_a * a + c.angle_b * c.angle_b * s);
    c.r = b->distance;
    c.rounding = GC_BODY_ROUNDING * GC_CURVE_ROUNDING * (b->size + b->way + b->distance) * twice;
    c.tol = GC_TOL_TOUCH * b->size * twice + c.rounding;
    c.facing = GC_TOL_FACING * b->speed * twice;
    return c;
}

/* adds to place, velocity and acceleration what a centre swings by, times `sign` */
GC_FN void gc_ball_swing(gc_real angle, gc_vec swing, gc_vec lift, gc_real s, gc_real sign, gc_vec *p, gc_vec *v, gc_vec *a)
{
    gc_half_turn h = gc_half_turn_at(angle, s);
    gc_real twice = GC_R(2.0) * sign, sigma = twice * h.k * h.w, nu = twice * h.k * h.k, square = angle * angle,
            cosine = sign - square * nu;
    *p = gc_add(*p, gc_add(gc_scale(swing, sigma), gc_scale(lift, nu)));
    *v = gc_add(*v, gc_add(gc_scale(swing, cosine), gc_scale(lift, sigma)));
    *a = gc_add(*a, gc_sub(gc_scale(lift, cosine), gc_scale(swing, square * sigma)));
}

GC_FN gc_ball_value gc_ball_at(const gc_ball_path *c, gc_real s)
{
    gc_ball_value r;
    gc_vec p = gc_add(c->apart, gc_scale(c->drift, s)), v = c->drift, a = gc_sub(v, v);
    gc_real d;
    if (c->angle_a > GC_R(0.0)) gc_ball_swing(c->angle_a, c->swing_a, c->lift_a, s, GC_R(-1.0), &p, &v, &a);
    if (c->angle_b > GC_R(0.0)) gc_ball_swing(c->angle_b, c->swing_b, c->lift_b, s, GC_R(1.0), &p, &v, &a);
    d = gc_norm(p);
    r.f = (d - c->r) * (d + c->r);
    r.df = GC_R(2.0) * gc_dot(p, v);
    r.ddf = GC_R(2.0) * (gc_dot(v, v) + gc_dot(p, a));
    return r;
}

/* the first h of ]0, most] at which c + b h + a h^2 is 0, c > 0; most if there is none */
GC_FN gc_real gc_first_fall(gc_real c, gc_real b, gc_real a, gc_real most)
{
    gc_real disc = b * b - GC_R(4.0) * a * c, h = most;
    if (!(disc >= GC_R(0.0))) return most;
    if (b < GC_R(0.0)) h = GC_R(2.0) * c / (GC_SQRT(disc) - b);
    else if (a < GC_R(0.0)) h = (b + GC_SQRT(disc)) / (GC_R(-2.0) * a);
    return GC_MIN(h, most);
}

/* How far on sign f stays above `level` for sure, at most `most`. Where f''' is bounded by more than 0, shorter parts tell more; beside a least
 * value that is all but the level, the length that tells most is found by doubling. */
GC_FN gc_real gc_ball_step(const gc_ball_path *c, gc_ball_value v, gc_real sign, gc_real level, gc_real most)
{
    gc_real f = sign * v.f - level, df = sign * v.df, bend = GC_R(0.5) * sign * v.ddf;
    gc_real sixth = c->third * GC_R(0.166666666666666667), w = most, h = gc_first_fall(f, df, bend, most), next;
    if (!(c->third > GC_R(0.0))) return h;
    if (h < most) w = GC_MIN(most, GC_R(1.25) * h);
    h = gc_first_fall(f, df - sixth * w * w, bend, w);
    if (h >= w) return w;
    w = GC_MIN(w, GC_R(1.5) * h);
    next = gc_first_fall(f, df - sixth * w * w, bend, w);
    while (next >= w && w < most) {
        h = w;
        w = GC_MIN(w + w, most);
        next = gc_first_fall(f, df - sixth * w * w, bend, w);
    }
    return GC_MAX(h, next);
}

/* where f falls through 0 between a, where it is above, and b */
GC_FN gc_real gc_ball_root(const gc_ball_path *c, gc_real a, gc_real b, gc_real x)
{
    int i;
    for (i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_ball_value v = gc_ball_at(c, x);
        gc_real next;
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

/* what becomes of f from a time on at which it is on its way down and all but there */
#define GC_BALL_PASSES 0
#define GC_BALL_FALLS 1   /* through 0, at *root */
#define GC_BALL_TOUCHES 2 /* ... at its least */

/* *x, *v: that time, and where to go on from */
GC_LARGE int gc_ball_arrives(const gc_ball_path *c, gc_real *x, gc_ball_value *v, gc_real *root)
{
    gc_real end = GC_R(0.5), from = *x, slope = GC_ABS(v->df), bend = GC_ABS(v->ddf);
    int i;
    if (v->df < GC_R(0.0) && slope * slope > GC_R(64.0) * c->tol * (bend + c->third * GC_R(16.0) * c->tol / slope)) {
        /* no way back: f falls by far more than the tolerance before its slope changes by a share of itself */
        *root = gc_ball_root(c, from - GC_R(1e-3), from + GC_R(16.0) * c->tol / slope, from - v->f / v->df);
        *x = GC_MIN(from + GC_R(16.0) * c->tol / slope, end);
        *v = gc_ball_at(c, *x);
        return GC_BALL_FALLS;
    }
    *root = from;
    for (i = 0; i < GC_MAX_NEWTON && v->f >= -c->tol; ++i) {
        gc_ball_value there;
        gc_real next = v->ddf > GC_R(0.0) ? *x - v->df / v->ddf : end;
        /* the extremum; where it bends the other way, on by what keeps f within the tolerance */
        if (!(v->ddf > GC_R(0.0))) next = *x + gc_ball_step(c, *v, GC_R(1.0), v->f - c->tol, end - *x);
        next = GC_MIN(GC_MAX(next, from), end);
        if (GC_ABS(next - *x) <= GC_R(1e-15)) break;
        there = gc_ball_at(c, next);
        if (there.f > GC_R(4.0) * c->tol) break;
        *x = next;
        *v = there;
    }
    if (v->f < -c->tol) {
        *root = gc_ball_root(c, from, *x, GC_R(0.5) * (from + *x));
        return GC_BALL_FALLS;
    }
    *root = *x;
    return v->f <= c->tol ? GC_BALL_TOUCHES : GC_BALL_PASSES;
}

#endif
