/* Where the points of two bodies are while each moves on a motion of its own, in extended precision.

   A motion is p(t) = p0 + t w + sin(a t)/a e + (1 - cos(a t))/a k x e for the place of the reference point and Rot(k, a t) R0
   for the axes: with e = 0 a spin, with w along k a screw. Read by body_motion_first.c and body_motion_contacts.c; the meshes come
   from tests/oracle/body_motion.py. */
#ifndef BODY_MOTION_H
#define BODY_MOTION_H

#include <math.h>
#include <stdlib.h>

typedef long double real;
typedef struct {
    real x, y, z;
} vec;

typedef struct {
    int vertices, edges, faces, two_sided, closed;
    const double *vertex;
    const int *edge, *face_start, *loop;
    const int *vertex_face_start, *vertex_face, *vertex_other_start, *vertex_other, *edge_face_start, *edge_face;
    const unsigned char *reflex, *vertex_reflex;
} Mesh;

typedef struct {
    int mesh, spin;
    double place[3], quat[4]; /* at t = 0; quaternions are w, x, y, z */
    double to[3], turn[4];    /* the pose at t = 1, or the velocities */
    double reference[3];      /* in the mesh's coordinates: what moves straight in a spin */
} Body;

typedef struct {
    vec p0, w, e, k, r0[3]; /* r0: columns */
    real a;
} Motion;

typedef struct {
    vec p, v, omega, turning, r[3];
} State;

/* What a body's features are in the pair at hand; points count from the reference. */
typedef struct {
    const Mesh *mesh;
    Motion motion;
    vec *vertex, *face_mid, *face_normal, *edge_mid;
    real *vertex_bend, *face_bend, *face_reach, *edge_bend, *edge_reach;
    real radius, speed; /* bounds from the reference point */
    vec middle;         /* all is within `extent` of it */
    real extent, middle_bend;
} Actor;

static inline vec V(real x, real y, real z) { return (vec){x, y, z}; }
static inline vec add(vec a, vec b) { return V(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline vec sub(vec a, vec b) { return V(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline vec mul(real s, vec a) { return V(s * a.x, s * a.y, s * a.z); }
static inline real dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec cross(vec a, vec b) { return V(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
static inline real len(vec a) { return sqrtl(dot(a, a)); }
static inline vec unit(vec a)
{
    real n = len(a);
    return n > 0 ? mul(1 / n, a) : a;
}
static inline vec of(const double *x) { return V(x[0], x[1], x[2]); }
static inline vec turned(const vec *r, vec x) { return add(add(mul(x.x, r[0]), mul(x.y, r[1])), mul(x.z, r[2])); }

static inline void axes_of(const double *given, real *q, vec *r)
{
    real n = sqrtl(
        (real)given[0] * given[0] + (real)given[1] * given[1] + (real)given[2] * given[2] + (real)given[3] * given[3]);
    for (int i = 0; i < 4; i++) q[i] = given[i] / n;
    vec k = V(q[1], q[2], q[3]);
    vec base[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        vec kx = cross(k, base[i]);
        r[i] = add(base[i], mul(2, add(mul(q[0], kx), cross(k, kx))));
    }
}

/* The turn from q0 to q1 about k by an angle in [0, pi]; of a half turn the axis whose first component that is not 0 in the body's
   own axes r0 is positive. */
static inline real turn_between(const real *q0, const real *q1, const vec *r0, vec *k)
{
    vec a = V(q0[1], q0[2], q0[3]), b = V(q1[1], q1[2], q1[3]);
    real w = q1[0] * q0[0] + dot(a, b);
    vec v = sub(sub(mul(q0[0], b), mul(q1[0], a)), cross(b, a));
    int flip = w < 0;
    if (fabsl(w) < 1e-15L) {
        vec own = V(dot(r0[0], v), dot(r0[1], v), dot(r0[2], v));
        flip = fabsl(own.x) > 1e-9L ? own.x < 0 : fabsl(own.y) > 1e-9L ? own.y < 0 : own.z < 0;
    }
    if (flip) {
        w = -w;
        v = mul(-1, v);
    }
    real s = len(v);
    *k = s > 0 ? mul(1 / s, v) : V(1, 0, 0);
    return 2 * atan2l(s, w);
}

static inline Motion motion_of(const Body *b)
{
    Motion m;
    real q0[4], q1[4];
    vec r1[3], ref = of(b->reference);
    axes_of(b->quat, q0, m.r0);
    m.p0 = add(of(b->place), turned(m.r0, ref));
    m.e = V(0, 0, 0);
    if (b->spin) {
        vec omega = of(b->turn);
        m.a = len(omega);
        m.k = m.a > 0 ? mul(1 / m.a, omega) : V(1, 0, 0);
        m.w = of(b->to);
        return m;
    }
    axes_of(b->turn, q1, r1);
    m.a = turn_between(q0, q1, m.r0, &m.k);
    vec way = add(sub(of(b->to), of(b->place)), sub(turned(r1, ref), turned(m.r0, ref)));
    if (m.a == 0) {
        m.w = way;
        return m;
    }
    m.w = mul(dot(way, m.k), m.k);
    vec across = sub(way, m.w);
    /* (e^(ia) - 1)/(ia) takes e to the way across, k x being i */
    real h = m.a / 2;
    m.e = mul(h / sinl(h), sub(mul(cosl(h), across), mul(sinl(h), cross(m.k, across))));
    return m;
}

static inline State state_at(const Motion *m, real t)
{
    State s;
    vec ke = cross(m->k, m->e);
    real half = sinl(m->a * t / 2), n = 2 * half * cosl(m->a * t / 2), c = 1 - 2 * half * half;
    real along = m->a > 0 ? n / m->a : t, aside = m->a > 0 ? 2 * half * half / m->a : 0;
    s.p = add(add(m->p0, mul(t, m->w)), add(mul(along, m->e), mul(aside, ke)));
    s.turning = add(mul(c, m->e), mul(n, ke));
    s.v = add(m->w, s.turning);
    s.omega = mul(m->a, m->k);
    for (int i = 0; i < 3; i++) {
        vec x = m->r0[i], kx = cross(m->k, x);
        s.r[i] = add(x, add(mul(n, kx), mul(2 * half * half, cross(m->k, kx))));
    }
    return s;
}

static inline vec placed(const State *s, vec local) { return add(s->p, turned(s->r, local)); }
static inline vec velocity(const State *s, vec x) { return add(s->v, cross(s->omega, sub(x, s->p))); }

/* |acceleration| of a material point, the same at all times: omega x (turning velocity of the reference + omega x arm). */
static inline real bend_of(const State *s, vec local)
{
    return len(cross(s->omega, add(s->turning, cross(s->omega, turned(s->r, local)))));
}

/* Places count from `origin`, so that those far from the world's cost no digits. */
static inline Actor actor_of(const Mesh *mesh, const Body *b, vec origin)
{
    Actor a = {0};
    vec ref = of(b->reference);
    a.mesh = mesh;
    a.motion = motion_of(b);
    a.motion.p0 = sub(a.motion.p0, origin);
    State s = state_at(&a.motion, 0);
    int nv = mesh->vertices, ne = mesh->edges, nf = mesh->faces;
    a.vertex = malloc(sizeof(vec) * (nv + 2 * nf + ne));
    a.face_mid = a.vertex + nv;
    a.face_normal = a.face_mid + nf;
    a.edge_mid = a.face_normal + nf;
    a.vertex_bend = malloc(sizeof(real) * (nv + 2 * nf + 2 * ne));
    a.face_bend = a.vertex_bend + nv;
    a.face_reach = a.face_bend + nf;
    a.edge_bend = a.face_reach + nf;
    a.edge_reach = a.edge_bend + ne;
    for (int i = 0; i < nv; i++) {
        a.vertex[i] = sub(of(mesh->vertex + 3 * i), ref);
        a.vertex_bend[i] = bend_of(&s, a.vertex[i]);
        if (len(a.vertex[i]) > a.radius) a.radius = len(a.vertex[i]);
    }
    for (int f = 0; f < nf; f++) {
        const int *c = mesh->loop + mesh->face_start[f];
        int n = mesh->face_start[f + 1] - mesh->face_start[f];
        vec mid = V(0, 0, 0), normal = V(0, 0, 0);
        for (int i = 0; i < n; i++) mid = add(mid, mul((real)1 / n, a.vertex[c[i]]));
        a.face_reach[f] = 0;
        for (int i = 0; i < n; i++) {
            vec x = sub(a.vertex[c[i]], mid), y = sub(a.vertex[c[(i + 1) % n]], mid);
            normal = add(normal, cross(x, y));
            if (len(x) > a.face_reach[f]) a.face_reach[f] = len(x);
        }
        a.face_mid[f] = mid;
        a.face_normal[f] = unit(normal);
        a.face_bend[f] = bend_of(&s, mid);
    }
    for (int e = 0; e < ne; e++) {
        vec x = a.vertex[mesh->edge[2 * e]], y = a.vertex[mesh->edge[2 * e + 1]];
        a.edge_mid[e] = mul(0.5L, add(x, y));
        a.edge_reach[e] = len(sub(y, x)) / 2;
        a.edge_bend[e] = bend_of(&s, a.edge_mid[e]);
    }
    for (int i = 0; i < nv; i++) a.middle = add(a.middle, mul((real)1 / nv, a.vertex[i]));
    for (int i = 0; i < nv; i++) a.extent = fmaxl(a.extent, len(sub(a.vertex[i], a.middle)));
    a.middle_bend = bend_of(&s, a.middle);
    a.speed = len(a.motion.w) + len(a.motion.e) + a.motion.a * a.radius;
    return a;
}

static inline void drop_actor(Actor *a)
{
    free(a->vertex);
    free(a->vertex_bend);
}

/* A feature of any kind by its number: vertices, then faces, then edges. */
static inline int features_of(const Actor *a) { return a->mesh->vertices + a->mesh->faces + a->mesh->edges; }

static inline vec feature_of(const Actor *a, int i, real *reach, real *bend)
{
    int nv = a->mesh->vertices, nf = a->mesh->faces, f = i - nv, e = f - nf;
    *reach = f < 0 ? 0 : e < 0 ? a->face_reach[f] : a->edge_reach[e];
    *bend = f < 0 ? a->vertex_bend[i] : e < 0 ? a->face_bend[f] : a->edge_bend[e];
    return f < 0 ? a->vertex[i] : e < 0 ? a->face_mid[f] : a->edge_mid[e];
}

/* Least signed distance of x, in the face's plane, from its sides; positive inside. Local coordinates. */
static inline real within_face(const Actor *a, int face, vec x)
{
    const int *c = a->mesh->loop + a->mesh->face_start[face];
    int n = a->mesh->face_start[face + 1] - a->mesh->face_start[face];
    real least = 1e300L;
    for (int i = 0; i < n; i++) {
        vec p = a->vertex[c[i]], side = unit(sub(a->vertex[c[(i + 1) % n]], p));
        real d = dot(cross(a->face_normal[face], side), sub(x, p));
        if (d < least) least = d;
    }
    return least;
}

static inline vec back(const State *s, vec world)
{
    vec x = sub(world, s->p);
    return V(dot(s->r[0], x), dot(s->r[1], x), dot(s->r[2], x));
}

#endif
