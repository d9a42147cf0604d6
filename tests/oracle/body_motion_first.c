/* First touch of two surfaces by steps of which none can go too far: every pair of features has a time before which it cannot
   meet, from its distance, its speed along that distance and bounds on the accelerations; the pair whose time is the earliest is
   looked at again, until one touches. No facing, no properness, no sampling: what touches first is known but for grazes. */
#include "body_motion.h"
#include "body_motion_nearest.h"

enum { MISSES, TOUCHES, OVERLAPS, GRAZES, TOUCHES_AT_START, GIVEN_UP };

typedef struct {
    int status, kind, feature_a, feature_b; /* 0: face of A, vertex of B; 1: vertex of A, face of B; 2: edges */
    double time, gap, approach, margin, size, speed;
    double depth, least; /* deepest cut at the start (0: none), least gap that was looked at, in lengths */
    int looks, inside;
} First;

typedef struct {
    real gap, margin, next;
    vec normal, at; /* from A to B */
} Near;

typedef struct {
    const Actor *a, *b;
    real size;
    int vf, fv, ee;
} Pair;

static void which(const Pair *p, int id, int *kind, int *fa, int *fb)
{
    *kind = id < p->fv ? 0 : id < p->fv + p->vf ? 1 : 2;
    int rest = id - (*kind > 0) * p->fv - (*kind > 1) * p->vf;
    int wide = *kind == 0 ? p->b->mesh->vertices : *kind == 1 ? p->b->mesh->faces : p->b->mesh->edges;
    *fa = rest / wide;
    *fb = rest % wide;
}

static Near look(const Pair *p, int id, const State *sa, const State *sb)
{
    Near out;
    int kind, fa, fb;
    which(p, id, &kind, &fa, &fb);
    const Actor *a = p->a, *b = p->b;
    vec ra = kind == 0 ? a->face_mid[fa] : kind == 1 ? a->vertex[fa] : a->edge_mid[fa];
    vec rb = kind == 0 ? b->vertex[fb] : kind == 1 ? b->face_mid[fb] : b->edge_mid[fb];
    real bend = (kind == 0   ? a->face_bend[fa]
                 : kind == 1 ? a->vertex_bend[fa]
                             : a->edge_bend[fa])
                + (kind == 0   ? b->vertex_bend[fb]
                   : kind == 1 ? b->face_bend[fb]
                               : b->edge_bend[fb]);
    real reach = (kind == 0   ? a->face_reach[fa]
                  : kind == 1 ? 0
                              : a->edge_reach[fa])
                 + (kind == 0   ? 0
                    : kind == 1 ? b->face_reach[fb]
                                : b->edge_reach[fb]);
    vec xa = placed(sa, ra), xb = placed(sb, rb), y = sub(xb, xa);
    real apart = len(y);
    if (apart > 1.25L * reach + 1e-3L * p->size) { /* as spheres */
        vec n = mul(1 / apart, y);
        out.gap = apart - reach;
        out.margin = 0;
        out.normal = n;
        out.at = xa;
        out.next = no_sooner(out.gap, dot(n, sub(velocity(sb, xb), velocity(sa, xa))), bend);
        return out;
    }
    int ca[64], cb[64], na = 0, nb = 0;
    vec pa, pb;
    if (kind == 2) {
        for (int i = 0; i < 2; i++) {
            ca[na++] = a->mesh->edge[2 * fa + i];
            cb[nb++] = b->mesh->edge[2 * fb + i];
        }
        out.gap = between(
            placed(sa, a->vertex[ca[0]]), placed(sa, a->vertex[ca[1]]), placed(sb, b->vertex[cb[0]]),
            placed(sb, b->vertex[cb[1]]), &pa, &pb, &out.margin);
        out.normal = unit(sub(pb, pa));
        if (out.gap < 1e-13L * p->size && out.margin > 1e-9L * p->size) {
            vec n = unit(cross(
                sub(placed(sa, a->vertex[ca[1]]), placed(sa, a->vertex[ca[0]])),
                sub(placed(sb, b->vertex[cb[1]]), placed(sb, b->vertex[cb[0]]))));
            out.normal = dot(n, out.normal) < 0 ? mul(-1, n) : n;
        }
    } else {
        const Actor *f = kind == 0 ? a : b;
        const State *sf = kind == 0 ? sa : sb, *sv = kind == 0 ? sb : sa;
        int face = kind == 0 ? fa : fb, vertex = kind == 0 ? fb : fa, *cf = kind == 0 ? ca : cb;
        vec x = placed(sv, kind == 0 ? b->vertex[vertex] : a->vertex[vertex]), in = back(sf, x);
        const int *loop = f->mesh->loop + f->mesh->face_start[face];
        int n = f->mesh->face_start[face + 1] - f->mesh->face_start[face];
        for (int i = 0; i < n; i++) cf[i] = loop[i];
        real height = dot(f->face_normal[face], sub(in, f->face_mid[face])), within = within_face(f, face, in);
        vec q, normal;
        out.margin = within;
        if (within >= 0) {
            normal = turned(sf->r, f->face_normal[face]);
            q = sub(x, mul(height, normal));
            out.gap = fabsl(height);
            normal = mul(height < 0 ? -1 : 1, normal);
        } else {
            out.gap = 1e300L;
            q = x;
            for (int i = 0; i < n; i++) {
                vec s = f->vertex[loop[i]], u = sub(f->vertex[loop[(i + 1) % n]], s);
                vec c = add(s, mul(clamp(dot(u, sub(in, s)) / dot(u, u)), u));
                real g = len(sub(in, c));
                if (g < out.gap) {
                    out.gap = g;
                    q = placed(sf, c);
                }
            }
            normal = unit(sub(x, q));
        }
        if (kind == 0) {
            pa = q, pb = x, ca[0] = loop[0], na = n, cb[0] = vertex, nb = 1, out.normal = normal;
        } else {
            pa = x, pb = q, ca[0] = vertex, na = 1, nb = n, out.normal = mul(-1, normal);
        }
    }
    out.at = pa;
    out.next = 1e30L;
    if (out.gap <= 0) return out;
    real doubt = 1e-17L * p->size * (p->size + p->a->speed + p->b->speed) / out.gap; /* of the normal, over the size */
    real high[64], fast[64];
    for (int i = 0; i < na; i++) {
        vec x = placed(sa, a->vertex[ca[i]]);
        high[i] = dot(out.normal, sub(x, pa));
        fast[i] = dot(out.normal, velocity(sa, x));
    }
    for (int j = 0; j < nb; j++) {
        vec x = placed(sb, b->vertex[cb[j]]);
        real top = dot(out.normal, sub(x, pa)), pace = dot(out.normal, velocity(sb, x));
        for (int i = 0; i < na; i++) {
            real c = top - high[i] - doubt;
            real t = no_sooner(c > out.gap ? c : out.gap, pace - fast[i], a->vertex_bend[ca[i]] + b->vertex_bend[cb[j]]);
            if (t < out.next) out.next = t;
        }
    }
    return out;
}

/* A feature of A against a ball around all of B: 0 if they are too near each other for balls. */
static int look_at_all(const Pair *p, int feature, const State *sa, const State *sb, Near *out)
{
    real reach, bend;
    vec xa = placed(sa, feature_of(p->a, feature, &reach, &bend)), xb = placed(sb, p->b->middle), y = sub(xb, xa);
    real apart = len(y);
    reach += p->b->extent;
    out->gap = apart - reach;
    if (out->gap < 0.1L * reach + 1e-3L * p->size) return 0;
    vec pace = sub(velocity(sb, xb), velocity(sa, xa));
    out->next = no_sooner(out->gap, dot(pace, mul(1 / apart, y)), bend + p->b->middle_bend);
    return 1;
}

/* Pairs of a feature of A with all of B that it can meet: how many from which. */
static int with_all(const Pair *p, int feature, int *from)
{
    const Mesh *a = p->a->mesh, *b = p->b->mesh;
    int face = feature - a->vertices, edge = face - a->faces;
    *from = face < 0 ? p->fv + feature * b->faces : edge < 0 ? face * b->vertices : p->fv + p->vf + edge * b->edges;
    return face < 0 ? b->faces : edge < 0 ? b->vertices : b->edges;
}

/* How far the line through x0 and x1 passes from the lines of a face's sides: so far edges are moved to part them. */
static real passes(const Actor *f, int face, vec x0, vec x1)
{
    const int *c = f->mesh->loop + f->mesh->face_start[face];
    int n = f->mesh->face_start[face + 1] - f->mesh->face_start[face];
    real least = 1e300L;
    for (int i = 0; i < n; i++) {
        vec p = f->vertex[c[i]], across = cross(sub(f->vertex[c[(i + 1) % n]], p), sub(x1, x0));
        real d = fabsl(dot(unit(across), sub(x0, p)));
        if (len(across) > 0 && d < least) least = d;
    }
    return least;
}

/* The deepest that an edge of one goes through a face of the other: past the plane at both ends, within the sides, and past the
   edges there. */
static real cut(const Actor *e, const State *se, const Actor *f, const State *sf)
{
    real deepest = 0;
    for (int i = 0; i < e->mesh->edges; i++) {
        vec x0 = back(sf, placed(se, e->vertex[e->mesh->edge[2 * i]]));
        vec x1 = back(sf, placed(se, e->vertex[e->mesh->edge[2 * i + 1]]));
        if (len(sub(mul(0.5L, add(x0, x1)), f->middle)) > 1.000001L * (e->edge_reach[i] + f->extent)) continue;
        for (int j = 0; j < f->mesh->faces; j++) {
            vec n = f->face_normal[j], mid = f->face_mid[j];
            real h0 = dot(n, sub(x0, mid)), h1 = dot(n, sub(x1, mid));
            if (!((h0 > 0) != (h1 > 0))) continue;
            real depth = fabsl(h0) < fabsl(h1) ? fabsl(h0) : fabsl(h1);
            if (depth <= deepest) continue;
            real within = within_face(f, j, add(x0, mul(h0 / (h0 - h1), sub(x1, x0))));
            if (within < depth) depth = within;
            if (depth > deepest) depth = fminl(depth, passes(f, j, x0, x1));
            if (depth > deepest) deepest = depth;
        }
    }
    return deepest;
}

static real cut_at(const Pair *p, real t)
{
    State sa = state_at(&p->a->motion, t), sb = state_at(&p->b->motion, t);
    real x = cut(p->a, &sa, p->b, &sb), y = cut(p->b, &sb, p->a, &sa);
    return x > y ? x : y;
}

/* Windings of a closed surface around a point in its own coordinates. */
static int winds(const Actor *a, vec x)
{
    real total = 0;
    for (int f = 0; f < a->mesh->faces; f++) {
        const int *c = a->mesh->loop + a->mesh->face_start[f];
        int n = a->mesh->face_start[f + 1] - a->mesh->face_start[f];
        for (int i = 1; i + 1 < n; i++) {
            vec p = sub(a->vertex[c[0]], x), q = sub(a->vertex[c[i]], x), r = sub(a->vertex[c[i + 1]], x);
            real lp = len(p), lq = len(q), lr = len(r);
            total += 2 * atan2l(dot(p, cross(q, r)), lp * lq * lr + dot(p, q) * lr + dot(q, r) * lp + dot(r, p) * lq);
        }
    }
    return fabsl(total) > 6;
}

/* Is any of some places around a point of A, up to `far` from it, inside both solids? */
static int both_hold(const Pair *p, real t, vec on_a, real far)
{
    State sa = state_at(&p->a->motion, t), sb = state_at(&p->b->motion, t);
    unsigned long seed = 12345;
    for (int i = 0; i < 200; i++) {
        real x[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            x[k] = far * ((real)(seed >> 33) / 1073741824.0L - 1);
        }
        vec at = add(on_a, V(x[0], x[1], x[2]));
        if (len(sub(back(&sb, placed(&sa, at)), p->b->middle)) > p->b->extent) continue;
        if (winds(p->a, at) && winds(p->b, back(&sb, placed(&sa, at)))) return 1;
    }
    return 0;
}

static void first_of(const Pair *p, First *out, int most)
{
    const Actor *a = p->a, *b = p->b;
    State sa = state_at(&a->motion, 0), sb = state_at(&b->motion, 0);
    real enough = 1e-14L * p->size + 2e-17L * (a->speed + b->speed);
    out->size = p->size;
    out->speed = a->speed + b->speed;
    out->time = INFINITY;
    out->status = MISSES;
    out->depth = cut_at(p, 0);
    if (out->depth > 1e-6L * p->size) {
        out->status = OVERLAPS;
        return;
    }
    int n = p->fv + p->vf + p->ee, features = features_of(a), waiting = 0, from;
    real *key = malloc(sizeof(real) * (n + features));
    int *heap = malloc(sizeof(int) * (n + features)); /* pairs, then features of A that are still far from all of B */
    out->least = INFINITY;
    for (int f = 0; f < features; f++) {
        Near near;
        int far = look_at_all(p, f, &sa, &sb, &near), many = far ? 1 : with_all(p, f, &from);
        for (int i = 0; i < many; i++) {
            int id = far ? n + f : from + i;
            if (!far) near = look(p, id, &sa, &sb);
            key[id] = near.next;
            heap[waiting++] = id;
            if (near.gap < out->least) out->least = (double)near.gap;
            out->looks++;
        }
    }
    if (out->least <= 1e-9L * p->size || out->depth > 0) {
        /* faces in one plane cut nothing, however deep */
        out->inside = a->mesh->closed && b->mesh->closed && both_hold(p, 0, a->middle, a->extent);
        out->status = out->inside ? OVERLAPS : TOUCHES_AT_START;
    } else if (
        (b->mesh->closed && winds(b, back(&sb, placed(&sa, a->vertex[a->mesh->loop[0]]))))
        || (a->mesh->closed && winds(a, back(&sa, placed(&sb, b->vertex[b->mesh->loop[0]]))))) {
        out->status = OVERLAPS;
        out->inside = 1;
    } else {
        for (int i = waiting / 2; i >= 0; i--) sift(key, heap, waiting, i);
        out->status = GIVEN_UP;
        while (out->looks++ < most + 2 * n) {
            int id = heap[0];
            real t = key[id];
            out->time = (double)t;
            if (t > 1 + 1e-8L) {
                out->status = MISSES;
                out->time = INFINITY;
                break;
            }
            sa = state_at(&a->motion, t);
            sb = state_at(&b->motion, t);
            if (id >= n) {
                Near near;
                int far = look_at_all(p, id - n, &sa, &sb, &near), many = far ? 1 : with_all(p, id - n, &from);
                if (!far) heap[0] = from;
                for (int i = 0; i < many; i++) {
                    if (!far) near = look(p, from + i, &sa, &sb);
                    key[far ? id : from + i] = t + (far || near.gap > enough ? near.next : 0);
                    if (i == 0) sift(key, heap, waiting, 0);
                    else {
                        heap[waiting++] = from + i;
                        rise(key, heap, waiting - 1);
                    }
                }
                out->looks += many - 1;
                continue;
            }
            Near near = look(p, id, &sa, &sb);
            if (near.gap < out->least) out->least = (double)near.gap;
            if (near.gap <= enough) {
                which(p, id, &out->kind, &out->feature_a, &out->feature_b);
                out->gap = (double)near.gap;
                out->margin = (double)near.margin;
                if (near.gap < 1e-16L * p->size && near.margin <= 1e-9L * p->size) {
                    /* nothing is left to tell the direction by, but a moment ago there was */
                    State xa = state_at(&a->motion, t - 1e-8L), xb = state_at(&b->motion, t - 1e-8L);
                    near.normal = look(p, id, &xa, &xb).normal;
                }
                real pace = -fabsl(dot(near.normal, sub(velocity(&sb, near.at), velocity(&sa, near.at))));
                out->approach = (double)pace;
                out->status = GRAZES;
                int clear = near.margin > 1e-9L * p->size;
                if (pace < -1e-6L * out->speed) {
                    out->time = (double)(t + near.gap / -pace);
                    if (clear) out->status = TOUCHES;
                }
                vec on_a = back(&sa, near.at);
                for (real on = 1e-7L; on < 0.02L && out->status == GRAZES; on *= 10) {
                    if (t + on >= 1) break;
                    if (cut_at(p, t + on) > 1e-10L * p->size) out->status = TOUCHES;
                    else if (on > 5e-6L && pace < -1e-6L * out->speed && a->mesh->closed && b->mesh->closed)
                        out->status = both_hold(p, t + on, on_a, -pace * on) ? TOUCHES : GRAZES;
                }
                if (out->time > 1 - 1e-8) /* before the end or after it */
                    out->status = GRAZES;
                break;
            }
            key[id] = t + near.next;
            sift(key, heap, waiting, 0);
        }
    }
    free(key);
    free(heap);
}

void first_touches(const Mesh *meshes, const Body *bodies, const int *pairs, int count, int most, First *out)
{
    for (int i = 0; i < count; i++) {
        const Body *x = bodies + pairs[2 * i], *y = bodies + pairs[2 * i + 1];
        vec o = of(x->place);
        Actor a = actor_of(meshes + x->mesh, x, o), b = actor_of(meshes + y->mesh, y, o);
        real size = a.radius > b.radius ? a.radius : b.radius;
        const Mesh *ma = a.mesh, *mb = b.mesh;
        Pair p = {&a, &b, size, ma->vertices * mb->faces, ma->faces * mb->vertices, ma->edges * mb->edges};
        First none = {0};
        out[i] = none;
        first_of(&p, out + i, most);
        drop_actor(&a);
        drop_actor(&b);
    }
}

/* Deepest cut of each pair at a time of its own; -1 for one inside the other. */
void cuts(const Mesh *meshes, const Body *bodies, const int *pairs, const double *times, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        const Body *x = bodies + pairs[2 * i], *y = bodies + pairs[2 * i + 1];
        vec o = of(x->place);
        Actor a = actor_of(meshes + x->mesh, x, o), b = actor_of(meshes + y->mesh, y, o);
        Pair p = {&a, &b, 1, 0, 0, 0};
        out[i] = (double)cut_at(&p, times[i]);
        drop_actor(&a);
        drop_actor(&b);
    }
}

/* Axes (columns) and places of the mesh's origin at times, for pictures, scenes and other judges. */
void poses(const Body *bodies, const double *times, int count, double *place, double *axes)
{
    for (int i = 0; i < count; i++) {
        Motion m = motion_of(bodies + i);
        State s = state_at(&m, times[i]);
        vec p = placed(&s, mul(-1, of(bodies[i].reference)));
        double x[3] = {(double)p.x, (double)p.y, (double)p.z};
        for (int j = 0; j < 3; j++) {
            place[3 * i + j] = x[j];
            axes[9 * i + j] = (double)s.r[j].x;
            axes[9 * i + 3 + j] = (double)s.r[j].y;
            axes[9 * i + 6 + j] = (double)s.r[j].z;
        }
    }
}
