/* What tests/oracle/round_shapes.py says of one pair of round shapes, for many: closed forms of the distances of points, segments and boxes, at
 * dense times, halving where they fall below both radii. In double; nothing here is of the library. */
#include "vectors.h"

/* kind 0: a sphere, 1: a capsule along z of half length half[2], 2: a box of half sides; its motion: from p and q (w first) on, about an axis at a
 * place by an angle and along it, or, where the angle is 0, by the axis times the time */
typedef struct {
    double kind, half[3], radius, p[3], q[4], axis[3], angle, place[3], along;
} body;

typedef struct {
    vec p;
    double q[4];
} pose;

enum { TIMES = 257, HALVINGS = 60, THIRDS = 70, ROUGH = 45 };

static double norm(vec a) { return sqrt(dot(a, a)); }
static double clamp(double x) { return x < 0 ? 0 : (x > 1 ? 1 : x); }
static double above(double x) { return x > 0 ? x : 0; }

static vec turn(const double *q, vec x)
{
    vec u = at(q + 1), t = mul(2, cross(u, x));
    return add(add(x, mul(q[0], t)), cross(u, t));
}

static vec turn_back(const double *q, vec x)
{
    double back[4] = {q[0], -q[1], -q[2], -q[3]};
    return turn(back, x);
}

static pose pose_at(const body *b, double t)
{
    pose r;
    vec axis = at(b->axis), place = at(b->place), p = at(b->p), v, u = at(b->q + 1), w;
    double c = cos(b->angle * t / 2), s = sin(b->angle * t / 2), turned[4] = {c, s * axis.x, s * axis.y, s * axis.z};
    if (!(b->angle > 0)) {
        r.p = add(p, mul(t, axis));
        for (int i = 0; i < 4; ++i) r.q[i] = b->q[i];
        return r;
    }
    r.p = add(add(place, turn(turned, sub(p, place))), mul(b->along * t, axis));
    v = at(turned + 1);
    w = add(add(mul(c, u), mul(b->q[0], v)), cross(v, u));
    r.q[0] = c * b->q[0] - dot(v, u);
    r.q[1] = w.x, r.q[2] = w.y, r.q[3] = w.z;
    return r;
}

static double point_segment(vec x, vec a, vec b)
{
    vec e = sub(b, a), d = sub(x, a);
    double ee = dot(e, e);
    return norm(sub(d, mul(clamp(dot(d, e) / (ee > 1e-300 ? ee : 1e-300)), e)));
}

static double segment_segment(vec a, vec b, vec c, vec d)
{
    vec e = sub(b, a), f = sub(d, c), r = sub(c, a), n = cross(e, f);
    double n2 = dot(n, n), s, t,
           least = fmin(
               fmin(point_segment(c, a, b), point_segment(d, a, b)), fmin(point_segment(a, c, d), point_segment(b, c, d)));
    if (!(n2 > 1e-14 * dot(e, e) * dot(f, f))) return least;
    s = dot(cross(r, f), n) / n2;
    t = dot(cross(r, e), n) / n2;
    return s >= 0 && s <= 1 && t >= 0 && t <= 1 ? fmin(fabs(dot(r, n)) / sqrt(n2), least) : least;
}

/* below 0 inside */
static double point_box(vec x, const double *half)
{
    double a = fabs(x.x) - half[0], b = fabs(x.y) - half[1], c = fabs(x.z) - half[2];
    return norm((vec){above(a), above(b), above(c)}) + fmin(fmax(a, fmax(b, c)), 0);
}

/* by thirds: along a line it is convex */
static double segment_box(vec a, vec b, const double *half, int thirds)
{
    double low = 0, high = 1;
    vec e = sub(b, a);
    for (int i = 0; i < thirds; ++i) {
        double one = low + (high - low) / 3, two = high - (high - low) / 3;
        if (point_box(add(a, mul(one, e)), half) <= point_box(add(a, mul(two, e)), half)) high = two;
        else low = one;
    }
    return point_box(add(a, mul((low + high) / 2, e)), half);
}

/* of the surfaces */
static double gap(const body *a, const body *b, double t, int thirds)
{
    pose pa, pb;
    vec up_a, up_b, x;
    double core;
    if (a->kind > b->kind) return gap(b, a, t, thirds);
    pa = pose_at(a, t);
    pb = pose_at(b, t);
    up_a = turn(pa.q, (vec){0, 0, a->half[2]});
    up_b = turn(pb.q, (vec){0, 0, b->half[2]});
    if (b->kind == 0) core = norm(sub(pb.p, pa.p));
    else if (b->kind == 1 && a->kind == 0) core = point_segment(pa.p, sub(pb.p, up_b), add(pb.p, up_b));
    else if (b->kind == 1) core = segment_segment(sub(pa.p, up_a), add(pa.p, up_a), sub(pb.p, up_b), add(pb.p, up_b));
    else {
        x = turn_back(pb.q, sub(pa.p, pb.p));
        up_a = turn_back(pb.q, up_a);
        core = a->kind == 0 ? point_box(x, b->half) : segment_box(sub(x, up_a), add(x, up_a), b->half, thirds);
    }
    return core - (a->radius + b->radius);
}

/* of pairs begin to end: gaps at one time each */
void round_gap(int begin, int end, const body *bodies, const double *time, double *out)
{
    for (int i = begin; i < end; ++i) out[i] = gap(bodies + 2 * i, bodies + 2 * i + 1, time[i], THIRDS);
}

/* out (n, 3): the first time at which the gap falls to 0, infinity for none; the least gap; and that at the start */
void round_first(int begin, int end, const body *bodies, double *out)
{
    for (int i = begin; i < end; ++i) {
        const body *a = bodies + 2 * i, *b = a + 1;
        double least = INFINITY, low, high, bottom, g, *to = out + 3 * i;
        int lowest = 0, first = -1, k;
        for (k = 0; k < TIMES; ++k) {
            g = gap(a, b, k / (TIMES - 1.0), ROUGH);
            if (g < least) least = g, lowest = k;
            if (g <= 0 && first < 0) first = k;
        }
        low = (lowest > 0 ? lowest - 1 : 0) / (TIMES - 1.0);
        high = (lowest < TIMES - 1 ? lowest + 1 : lowest) / (TIMES - 1.0);
        for (k = 0; k < THIRDS; ++k) {
            double one = low + (high - low) / 3, two = high - (high - low) / 3;
            if (gap(a, b, one, THIRDS) <= gap(a, b, two, THIRDS)) high = two;
            else low = one;
        }
        bottom = (low + high) / 2;
        least = fmin(gap(a, b, bottom, THIRDS), least);
        to[0] = INFINITY;
        to[1] = least;
        to[2] = gap(a, b, 0, THIRDS);
        if (least > 0) continue;
        low = (first > 0 ? first - 1 : first < 0 && lowest > 0 ? lowest - 1 : 0) / (TIMES - 1.0);
        high = first < 0 ? bottom : first / (TIMES - 1.0);
        for (k = 0; k < HALVINGS; ++k) {
            double mid = (low + high) / 2;
            if (gap(a, b, mid, THIRDS) <= 0) high = mid;
            else low = mid;
        }
        to[0] = high;
    }
}
