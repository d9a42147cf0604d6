/* Whether two convex bodies in motion stay apart, proved by planes between them, and how near they are at a time, from
 * both sides. A body is the hull of points with a ball around each, or of two discs across the line between both of its
 * points. In double; nothing here is of the library.
 *
 * For a unit vector n, G(n) = (lowest of B along n) - (highest of A along n) is the gap between two planes across n.
 * Any G is a lower bound of the distance, so how n was found needs no trust: it is the nearest difference of points
 * (nearest), which is an upper bound, or that of bodies moved apart along n (part).
 *
 * Over a while s after a time, a point with velocity v and an acceleration that is at most `bend` long is at most
 * n . x + s n . v + bend s^2 / 2 high along n, and a disc of radius r across k is above its middle by r |n x k| at most,
 * with k' and k'' likewise. The highest of these is convex in s, so what it leaves between both planes is concave:
 * it stays above where a chord of it is. */
#include "vectors.h"

enum { MOST = 32, STEPS = 20000, IDLE = 4 };

/* from p and q (w first) on, where it has the points of `points` from `first` on: x(t) = x(0) + go t + (turn(t) - 1)(arm
 * + x(0) - p), where turn is about axis by angle t; disc: radii at both points, or below 0 for balls alone */
typedef struct {
    double first, count, ball, disc[2], p[3], q[4], go[3], axis[3], angle, arm[3];
} body;

/* a point on a turn: it starts at x, goes round by (cos - 1) g + sin h, and bends by `bend` at most */
typedef struct {
    vec x, g, h;
    double bend;
} point;

typedef struct {
    int n, discs;
    double ball, disc[2], angle;
    vec go;
    point of[MOST], k;
} track;

/* places and velocities at a time */
typedef struct {
    const track *on;
    vec x[MOST], v[MOST], k, turning;
} state;

typedef struct {
    track a, b;
    state now_a, now_b;
    double balls;
} pair;

static double norm(vec a) { return sqrt(dot(a, a)); }

static vec turn(const double *q, vec x)
{
    vec u = at(q + 1), t = mul(2, cross(u, x));
    return add(add(x, mul(q[0], t)), cross(u, t));
}

static point point_of(vec x, vec from_axis, vec axis, double angle)
{
    vec g = sub(from_axis, mul(dot(from_axis, axis), axis));
    return (point){x, g, cross(axis, g), angle * angle * norm(g)};
}

static void set_track(track *to, const body *b, const double *points)
{
    vec axis = at(b->axis), p = at(b->p);
    to->n = (int)b->count;
    to->ball = b->ball;
    to->discs = b->disc[0] >= 0;
    to->disc[0] = b->disc[0], to->disc[1] = b->disc[1];
    to->angle = b->angle;
    to->go = at(b->go);
    for (int i = 0; i < to->n; ++i) {
        vec r = turn(b->q, at(points + 3 * ((int)b->first + i)));
        to->of[i] = point_of(add(p, r), add(at(b->arm), r), axis, b->angle);
    }
    if (to->discs) {
        vec k = sub(to->of[1].x, to->of[0].x);
        k = mul(1 / norm(k), k);
        to->k = point_of(k, k, axis, b->angle);
    }
}

static void go_to(state *s, const track *on, double t)
{
    double half = sin(on->angle * t / 2), c = -2 * half * half, sine = sin(on->angle * t);
    s->on = on;
    for (int i = 0; i < on->n; ++i) {
        const point *p = on->of + i;
        s->x[i] = add(add(p->x, mul(t, on->go)), add(mul(c, p->g), mul(sine, p->h)));
        s->v[i] = add(on->go, mul(on->angle, sub(mul(1 + c, p->h), mul(sine, p->g))));
    }
    if (on->discs) {
        s->k = add(on->k.x, add(mul(c, on->k.g), mul(sine, on->k.h)));
        s->turning = mul(on->angle, sub(mul(1 + c, on->k.h), mul(sine, on->k.g)));
    }
}

static void look(pair *p, double t)
{
    go_to(&p->now_a, &p->a, t);
    go_to(&p->now_b, &p->b, t);
}

/* how high a body is along n, without its balls, and the point that is */
static double highest(const state *s, vec n, vec *where)
{
    double best = -INFINITY, across = 0;
    int top = 0;
    vec rim = {0, 0, 0};
    if (s->on->discs) {
        vec c = cross(n, s->k);
        across = norm(c);
        if (across > 1e-15) rim = mul(1 / across, cross(s->k, c));
    }
    for (int i = 0; i < s->on->n; ++i) {
        double h = dot(n, s->x[i]) + (s->on->discs ? s->on->disc[i] * across : 0);
        if (h > best) best = h, top = i;
    }
    *where = s->on->discs ? add(s->x[top], mul(s->on->disc[top], rim)) : s->x[top];
    return best;
}

static double gap(const pair *p, vec n, vec *difference)
{
    vec a, b;
    double top = highest(&p->now_a, n, &a), low = -highest(&p->now_b, mul(-1, n), &b);
    *difference = sub(b, a);
    return low - top - p->balls;
}

/* how high a body can be along n a while later */
static double reach(const state *s, vec n, double dt)
{
    const track *on = s->on;
    double best = -INFINITY, across = 0;
    if (on->discs) across = norm(cross(n, add(s->k, mul(dt, s->turning)))) + on->k.bend * dt * dt / 2;
    for (int i = 0; i < on->n; ++i) {
        double h = dot(n, s->x[i]) + dt * dot(n, s->v[i]) + on->of[i].bend * dt * dt / 2;
        if (on->discs) h += on->disc[i] * across;
        if (h > best) best = h;
    }
    return best;
}

static double left(const pair *p, vec n, double dt)
{
    return -reach(&p->now_b, mul(-1, n), dt) - reach(&p->now_a, n, dt) - p->balls;
}

/* The nearest place to 0 of the hull of n points, of which the last is new: of all their corners, sides and faces with
 * it, the nearest place inside. Leaves those that it lies between; all four: 0 is inside. */
static vec nearest_of(vec *w, int *n)
{
    vec a = w[*n - 1], best = a, keep[4] = {a};
    double least = dot(a, a);
    int kept = 1, many = *n - 1;
    for (int i = 0; i < many; ++i) {
        vec e = sub(w[i], a);
        double s = -dot(a, e), ee = dot(e, e);
        if (!(s > 0 && s < ee)) continue;
        vec v = add(a, mul(s / ee, e));
        if (dot(v, v) < least) least = dot(v, v), best = v, kept = 2, keep[1] = w[i];
    }
    for (int i = 0; i < many; ++i)
        for (int j = i + 1; j < many; ++j) {
            vec e = sub(w[i], a), f = sub(w[j], a), across = cross(e, f);
            double s = -dot(cross(a, f), across), t = -dot(cross(e, a), across), all = dot(across, across);
            if (!(s > 0 && t > 0 && s + t < all)) continue;
            vec v = add(a, add(mul(s / all, e), mul(t / all, f)));
            if (dot(v, v) < least) least = dot(v, v), best = v, kept = 3, keep[1] = w[i], keep[2] = w[j];
        }
    if (many == 3) {
        vec e = sub(w[0], a), f = sub(w[1], a), g = sub(w[2], a);
        double all = dot(e, cross(f, g)), s = -dot(a, cross(f, g)) / all, t = -dot(e, cross(a, g)) / all,
               u = -dot(e, cross(f, a)) / all;
        if (s > 0 && t > 0 && u > 0 && s + t + u < 1) {
            *n = 4;
            return (vec){0, 0, 0};
        }
    }
    for (int i = 1; i < kept; ++i) w[i] = keep[i];
    w[0] = a;
    *n = kept;
    return best;
}

/* The shortest difference of a point of B moved by `shift` and one of A, without balls: Gilbert's search, from the
 * direction n on, until no more than `share` of it and `sure` can be left to gain. 0 where they overlap. */
static vec nearest(const pair *p, vec shift, vec n, double share, double sure)
{
    vec w[4], v, best, d;
    int many = 1, idle = 0;
    gap(p, n, &d);
    best = v = w[0] = add(d, shift);
    for (int k = 0; k < 200 && idle < IDLE; ++k) {
        double length = norm(v);
        if (!(length > 0)) return v;
        n = mul(1 / length, v);
        double low = gap(p, n, &d) + p->balls + dot(n, shift);
        if (length - low <= share * length + sure) break;
        w[many++] = add(d, shift);
        v = nearest_of(w, &many);
        ++idle; /* in flat places a step that gains nothing may lead to one that does */
        if (dot(v, v) < dot(best, best)) best = v, idle = 0;
    }
    return best;
}

/* Improves a plane's normal: the nearest difference of bodies that are moved apart along it has one that parts them
 * no less, as n . n cannot be more than 1. Returns the gap. */
static double part(const pair *p, vec *n, double apart)
{
    vec d;
    double g = gap(p, *n, &d);
    for (int k = 0; k < 100; ++k) {
        vec v = nearest(p, mul(apart, *n), *n, 0, 1e-17);
        double length = norm(v), better;
        if (!(length > 0)) break;
        v = mul(1 / length, v);
        better = gap(p, v, &d);
        if (!(better > g)) break;
        int little = better - g < 1e-16;
        g = better, *n = v;
        if (little) break;
    }
    return g;
}

static vec unit(vec x)
{
    double length = norm(x);
    return length > 0 ? mul(1 / length, x) : (vec){0, 0, 1};
}

static vec middle(const state *s)
{
    vec sum = {0, 0, 0};
    for (int i = 0; i < s->on->n; ++i) sum = add(sum, s->x[i]);
    return mul(1.0 / s->on->n, sum);
}

static const double APART[] = {3, 1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-5};

/* The greatest gap that is found from several directions on, until it is `enough`. */
static double search(const pair *p, vec *n, double enough)
{
    vec d, from[8] = {*n};
    int many = 1;
    double best = gap(p, *n, &d);
    from[many++] = unit(nearest(p, (vec){0, 0, 0}, *n, 0, 1e-17));
    from[many++] = unit(sub(middle(&p->now_b), middle(&p->now_a)));
    if (p->a.discs) from[many++] = p->now_a.k, from[many++] = mul(-1, p->now_a.k);
    if (p->b.discs) from[many++] = p->now_b.k, from[many++] = mul(-1, p->now_b.k);
    for (int i = 0; i < many && best < enough; ++i) {
        vec m = from[i];
        double g = gap(p, m, &d);
        for (int k = 0; k < (int)(sizeof APART / sizeof *APART); ++k)
            if (APART[k] + g > 0) g = part(p, &m, APART[k]);
        if (g > best) best = g, *n = m;
    }
    return best;
}

/* Near enough to the greatest gap: at once from afar, by `part` where directions have few digits. */
static double plane(const pair *p, vec *n, double enough)
{
    vec d, v = nearest(p, (vec){0, 0, 0}, *n, 1e-3, 0);
    double length = norm(v), g = gap(p, *n, &d), h;
    if (length > 0) {
        h = gap(p, mul(1 / length, v), &d);
        if (h > g) g = h, *n = mul(1 / length, v);
    }
    if (g < 1e-2) g = part(p, n, 1e-3);
    return g < enough ? search(p, n, enough) : g;
}

/* At most how far apart they are, by points of both: the nearest ones, and those that are of bodies moved apart along n */
static double between(const pair *p, vec n)
{
    double least = norm(nearest(p, (vec){0, 0, 0}, n, 0, 1e-17));
    for (double apart = 1e-2; apart > 1e-12; apart /= 3) {
        vec shift = mul(apart, n), v = nearest(p, shift, n, 0, 1e-17);
        least = fmin(least, norm(sub(v, shift)));
        if (apart > 1e-6 && norm(v) > 0.5 * apart) n = unit(v);
    }
    return fmax(least - p->balls, 0);
}

/* By planes from time 0 on: the time up to which no gap is below -tol. */
static double free_until(pair *p, double until, double tol, vec *n, double *planes)
{
    double t = 0;
    for (*planes = 0; *planes < STEPS; ++*planes) {
        double rest = until - t, low = 0, high = rest, at_low, at_high;
        look(p, t);
        at_low = plane(p, n, -0.9 * tol);
        if (at_low < -0.95 * tol || !(rest > 0)) break; /* or it would come to -tol by ever smaller steps */
        at_high = left(p, *n, rest);
        if (at_high >= -tol) low = rest;
        for (int m = 0; m < 12 && high - low > 1e-3 * high; ++m) {
            low += (high - low) * (at_low + tol) / (at_low - at_high) * (1 - 1e-9);
            double mid = (low + high) / 2, there = left(p, *n, mid);
            at_low = left(p, *n, low);
            if (there >= -tol) low = mid, at_low = there;
            else high = mid, at_high = there;
        }
        t = low < rest ? t + low : until;
    }
    return t;
}

/* out (n, 4): the time up to which planes prove that no gap is below -tol (`until`: all of it), how many planes that
 * took, and bounds of the distance at `until`; the lower one is below 0 where no plane parts them */
void first_contact(
    int begin,
    int end,
    const body *bodies,
    const double *points,
    const double *until,
    double tol,
    double *out)
{
    for (int i = begin; i < end; ++i) {
        double *to = out + 4 * i;
        pair p;
        vec n = {0, 0, 1};
        set_track(&p.a, bodies + 2 * i, points);
        set_track(&p.b, bodies + 2 * i + 1, points);
        p.balls = bodies[2 * i].ball + bodies[2 * i + 1].ball;
        to[0] = free_until(&p, until[i], tol, &n, to + 1);
        look(&p, until[i]);
        to[2] = search(&p, &n, INFINITY);
        to[3] = between(&p, n);
    }
}
