/* What tests/oracle/clearance.py says of one pair, for many: distances of two meshes by all their features, poses on a motion of each body,
 * the least over a step by samples and golden section. In double; nothing here is of the library. */
#include "vectors.h"

typedef struct {
    int vertices, edges, triangles;
    const double *vertex; /* used ones alone, by themselves */
    const double *edge;   /* two points each */
    const double *triangle;
} mesh;

/* kind 0: the screw with velocity v along the turn w; 1: straight on by v, and a turn w about a centre */
typedef struct {
    double r[9], p[3], w[3], v[3], centre[3], kind;
} motion;

typedef struct {
    double r[9];
    vec p;
} pose;

static double unit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static vec turned(const double *r, vec x)
{
    return (vec){r[0] * x.x + r[1] * x.y + r[2] * x.z, r[3] * x.x + r[4] * x.y + r[5] * x.z,
                 r[6] * x.x + r[7] * x.y + r[8] * x.z};
}

static vec turned_back(const double *r, vec x)
{
    return (vec){r[0] * x.x + r[3] * x.y + r[6] * x.z, r[1] * x.x + r[4] * x.y + r[7] * x.z,
                 r[2] * x.x + r[5] * x.y + r[8] * x.z};
}

/* a x + b (w x x) + c (w x (w x x)), w of length 1 */
static vec series(double a, double b, double c, vec w, vec x)
{
    vec once = cross(w, x);
    return add(mul(a, x), add(mul(b, once), mul(c, cross(w, once))));
}

static pose pose_at(const motion *m, double t)
{
    vec w = at(m->w), v = at(m->v), p = at(m->p);
    double angle = sqrt(dot(w, w)), a = angle * t, one = 2 * sin(0.5 * a) * sin(0.5 * a);
    pose q;
    if (angle > 0) w = mul(1 / angle, w);
    for (int k = 0; k < 3; k++) {
        vec column = series(1, sin(a), one, w, (vec){m->r[k], m->r[3 + k], m->r[6 + k]});
        q.r[k] = column.x, q.r[3 + k] = column.y, q.r[6 + k] = column.z;
    }
    if (m->kind > 0) q.p = add(add(p, turned(m->r, at(m->centre))), sub(mul(t, v), turned(q.r, at(m->centre))));
    else if (angle > 0) q.p = add(series(1, sin(a), one, w, p), series(t, one / angle, t - sin(a) / angle, w, v));
    else q.p = add(p, mul(t, v));
    return q;
}

static pose seen(const motion *a, const motion *b, double t)
{
    pose one = pose_at(a, t), two = pose_at(b, t), q;
    for (int k = 0; k < 3; k++) {
        vec column = turned_back(one.r, (vec){two.r[k], two.r[3 + k], two.r[6 + k]});
        q.r[k] = column.x, q.r[3 + k] = column.y, q.r[6 + k] = column.z;
    }
    q.p = turned_back(one.r, sub(two.p, one.p));
    return q;
}

/* a point of B in the frame of A, or, if back, one of A in that of B */
static vec carried(const pose *q, int back, const double *x)
{
    return back ? turned_back(q->r, sub(at(x), q->p)) : add(turned(q->r, at(x)), q->p);
}

/* squares of distances */
static double point_triangle(vec x, const vec *abc)
{
    vec u = sub(abc[1], abc[0]), v = sub(abc[2], abc[0]), w = sub(x, abc[0]), n = cross(u, v);
    double area = dot(n, n), beta = dot(cross(w, v), n), gamma = dot(cross(u, w), n), height = dot(w, n);
    return beta >= 0 && gamma >= 0 && beta + gamma <= area ? height * height / area : INFINITY;
}

static double point_segment(vec x, vec p, vec d)
{
    vec away = sub(add(p, mul(unit(dot(sub(x, p), d) / dot(d, d)), d)), x);
    return dot(away, away);
}

static double segment_segment(vec p, vec d, vec r, vec e)
{
    vec c = cross(d, e), rp = sub(r, p);
    double square = dot(c, c);
    double ends = fmin(
        fmin(point_segment(p, r, e), point_segment(add(p, d), r, e)),
        fmin(point_segment(r, p, d), point_segment(add(r, e), p, d)));
    if (square > 0) {
        double s = dot(cross(rp, e), c) / square, t = dot(cross(rp, d), c) / square, h = dot(rp, c);
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) ends = fmin(ends, h * h / square);
    }
    return ends;
}

static int through(vec p, vec q, const vec *abc)
{
    vec n = cross(sub(abc[1], abc[0]), sub(abc[2], abc[0]));
    double hp = dot(sub(p, abc[0]), n), hq = dot(sub(q, abc[0]), n);
    vec x;
    if (!(hp * hq < 0)) return 0;
    x = add(p, mul(hp / (hp - hq), sub(q, p)));
    for (int k = 0; k < 3; k++)
        if (!(dot(cross(sub(abc[(k + 1) % 3], abc[k]), sub(x, abc[k])), n) >= 0)) return 0;
    return 1;
}

enum { MOST = 4096 };

/* Triangles stay in the frame of their mesh: of slivers that are moved rounding leaves no normal. */
static double distance(const mesh *a, const mesh *b, const pose *q)
{
    static _Thread_local vec edge[MOST];
    double least = INFINITY;
    for (int i = 0; i < 2 * b->edges; i++) edge[i] = add(turned(q->r, at(b->edge + 3 * i)), q->p);
    for (int side = 0; side < 2; side++) {
        const mesh *flat = side ? b : a, *other = side ? a : b;
        for (int j = 0; j < flat->triangles; j++) {
            vec abc[3] = {at(flat->triangle + 9 * j), at(flat->triangle + 9 * j + 3), at(flat->triangle + 9 * j + 6)};
            for (int i = 0; i < other->edges; i++)
                if (through(carried(q, side, other->edge + 6 * i), carried(q, side, other->edge + 6 * i + 3), abc)) return 0;
            for (int i = 0; i < other->vertices; i++)
                least = fmin(least, point_triangle(carried(q, side, other->vertex + 3 * i), abc));
        }
    }
    for (int i = 0; i < a->edges; i++) {
        vec p = at(a->edge + 6 * i), d = sub(at(a->edge + 6 * i + 3), p);
        for (int j = 0; j < b->edges; j++)
            least = fmin(least, segment_segment(p, d, edge[2 * j], sub(edge[2 * j + 1], edge[2 * j])));
    }
    return sqrt(least);
}

typedef struct {
    const mesh *a, *b;
    const motion *of_a, *of_b;
} passage;

static double gap(const passage *x, double t)
{
    pose q = seen(x->of_a, x->of_b, t);
    return distance(x->a, x->b, &q);
}

static double golden(const passage *x, double a, double b)
{
    double ratio = 0.5 * (sqrt(5.0) - 1), c = b - ratio * (b - a), d = a + ratio * (b - a), fc = gap(x, c), fd = gap(x, d);
    for (int k = 0; k < 50; k++) {
        if (fc <= fd) {
            b = d, d = c, fd = fc;
            c = b - ratio * (b - a), fc = gap(x, c);
        } else {
            a = c, c = d, fc = fd;
            d = a + ratio * (b - a), fd = gap(x, d);
        }
    }
    return fmin(fmin(fc, fd), fmin(gap(x, a), gap(x, b)));
}

/* Of pairs begin to end: the distance at one time each. */
void nearest_at(
    int begin,
    int end,
    const mesh *meshes,
    const int *shape,
    const motion *motions,
    const double *time,
    double *out)
{
    for (int i = begin; i < end; i++) {
        passage x = {meshes + shape[2 * i], meshes + shape[2 * i + 1], motions + 2 * i, motions + 2 * i + 1};
        out[i] = gap(&x, time[i]);
    }
}

/* Of pairs begin to end: the least of samples, and of golden section about the lowest `refine` of them. */
void nearest_least(
    int begin,
    int end,
    const mesh *meshes,
    const int *shape,
    const motion *motions,
    int samples,
    int refine,
    double *out)
{
    for (int i = begin; i < end; i++) {
        passage x = {meshes + shape[2 * i], meshes + shape[2 * i + 1], motions + 2 * i, motions + 2 * i + 1};
        double d[MOST], best = INFINITY;
        int low[MOST], n = 0;
        for (int k = 0; k <= samples; k++) best = fmin(best, d[k] = gap(&x, (double)k / samples));
        for (int k = 0; k <= samples; k++)
            if ((k == 0 || d[k] <= d[k - 1]) && (k == samples || d[k] <= d[k + 1])) low[n++] = k;
        for (int round = 0; round < refine && n > 0 && best > 0; round++) {
            int first = 0, k;
            for (int j = 1; j < n; j++)
                if (d[low[j]] < d[low[first]]) first = j;
            k = low[first];
            low[first] = low[--n];
            best = fmin(best, golden(&x, fmax(k - 1.0, 0) / samples, fmin(k + 1.0, samples) / samples));
        }
        out[i] = best;
    }
}
