/* All contacts of two bodies by brute force: every pair of features, the times at which its signed distance vanishes, isolated by
   bounds on speed and acceleration alone, and for each how far every decision (inside, facing, properness) is from its border. */
#include "body_motion.h"
#include "body_motion_sides.h"
#include <string.h>

enum { ROOT, DOUBLE, LASTING, LOST };

typedef struct {
    int pair, kind, feature_a, feature_b, what;
    int doubtful; /* properness at a reflex corner */
    double time, time_end;
    double inside; /* signed distance from the features' borders, lengths */
    double facing; /* least of both sides' normal speed, in lengths a step: negative where a side turns away */
    double properness, slope, sine, normal_speed, place[3], normal[3];
} Contact;

typedef struct {
    const Actor *a, *b;
    real size, speed, tau;
    int pair, kind, fa, fb;
    vec origin;
    Contact *out;
    long count, room;
    long pieces, most;
    State *known; /* of A and B at the middles of pieces of the first levels */
    unsigned char *there, *apart[2];
} Search;

enum { KNOWN_LEVELS = 10, KNOWN = 1 << KNOWN_LEVELS };

typedef struct {
    real f, slope, bend, apart, fast; /* bend bounds f'' within the arm, apart and fast are of the reference points */
} Value;

static Value value_of(const Search *s, const State *at_a, const State *at_b, real arm)
{
    Value out;
    const Actor *a = s->a, *b = s->b;
    State sa = *at_a, sb = *at_b;
    real turn_a = a->motion.a, turn_b = b->motion.a, acc;
    vec xa, xb;
    if (s->kind == 2) {
        xa = placed(&sa, a->edge_mid[s->fa]);
        xb = placed(&sb, b->edge_mid[s->fb]);
        acc = a->edge_bend[s->fa] + b->edge_bend[s->fb];
    } else if (s->kind == 0) {
        xa = placed(&sa, a->face_mid[s->fa]);
        xb = placed(&sb, b->vertex[s->fb]);
        acc = a->face_bend[s->fa] + b->vertex_bend[s->fb];
    } else {
        xa = placed(&sa, a->vertex[s->fa]);
        xb = placed(&sb, b->face_mid[s->fb]);
        acc = a->vertex_bend[s->fa] + b->face_bend[s->fb];
    }
    vec y = sub(xb, xa), pace = sub(velocity(&sb, xb), velocity(&sa, xa));
    out.apart = len(y);
    out.fast = len(pace) + acc * arm;
    real far = out.apart + out.fast * arm;
    if (s->kind == 2) {
        const int *ea = a->mesh->edge + 2 * s->fa, *eb = b->mesh->edge + 2 * s->fb;
        vec u = unit(turned(sa.r, sub(a->vertex[ea[1]], a->vertex[ea[0]])));
        vec v = unit(turned(sb.r, sub(b->vertex[eb[1]], b->vertex[eb[0]])));
        vec n = cross(u, v);
        out.f = dot(y, n);
        out.slope = dot(pace, n) + dot(y, add(cross(cross(sa.omega, u), v), cross(u, cross(sb.omega, v))));
        real turn = turn_a + turn_b;
        out.bend = acc + 2 * turn * out.fast + turn * turn * far;
    } else {
        vec n = s->kind == 0 ? turned(sa.r, a->face_normal[s->fa]) : turned(sb.r, b->face_normal[s->fb]);
        vec omega = s->kind == 0 ? sa.omega : sb.omega;
        real turn = s->kind == 0 ? turn_a : turn_b;
        out.f = dot(n, y);
        out.slope = dot(n, pace) + dot(cross(omega, n), y);
        out.bend = acc + 2 * turn * out.fast + turn * turn * far;
    }
    return out;
}

static Value value(const Search *s, real t, real arm)
{
    State sa = state_at(&s->a->motion, t), sb = state_at(&s->b->motion, t);
    return value_of(s, &sa, &sb, arm);
}

/* States at the middle of a piece, by its number: 1 is all, 2 and 3 its halves. */
static const State *known_in(const Search *s, unsigned piece, real t)
{
    State *known = s->known + 2 * piece;
    if (!s->there[piece]) {
        known[0] = state_at(&s->a->motion, t);
        known[1] = state_at(&s->b->motion, t);
        s->there[piece] = 1;
    }
    return known;
}

static Value value_in(const Search *s, unsigned piece, real t, real arm)
{
    if (piece >= KNOWN) return value(s, t, arm);
    const State *known = known_in(s, piece, t);
    return value_of(s, known, known + 1, arm);
}

/* Are balls around a feature and around the whole other body apart during a piece? Told once for each feature. */
static int one_apart(const Search *s, int side, int feature, unsigned piece, real t, real arm)
{
    unsigned char *told = s->apart[side] + (long)feature * KNOWN + piece;
    if (!*told) {
        const Actor *x = side ? s->b : s->a, *y = side ? s->a : s->b;
        const State *known = known_in(s, piece, t), *sx = known + side, *sy = known + 1 - side;
        real reach, bend;
        vec px = placed(sx, feature_of(x, feature, &reach, &bend)), py = placed(sy, y->middle);
        real pace = len(sub(velocity(sy, py), velocity(sx, px))) + (bend + y->middle_bend) * arm;
        *told = 1 + (len(sub(py, px)) - pace * arm > reach + y->extent + 1e-9L * s->size);
    }
    return *told == 2;
}

static int balls_apart(const Search *s, unsigned piece, real t, real arm)
{
    int nva = s->a->mesh->vertices, nvb = s->b->mesh->vertices;
    int fa = s->kind == 0 ? nva + s->fa : s->kind == 1 ? s->fa : nva + s->a->mesh->faces + s->fa;
    int fb = s->kind == 0 ? s->fb : s->kind == 1 ? nvb + s->fb : nvb + s->b->mesh->faces + s->fb;
    return piece < KNOWN && (one_apart(s, 0, fa, piece, t, arm) || one_apart(s, 1, fb, piece, t, arm));
}

/* Where the features meet at a time, if they do: how far inside both, the place, the normal up to its sign. */
static real meeting(const Search *s, const State *sa, const State *sb, vec *x, vec *n, real *sine)
{
    const Actor *a = s->a, *b = s->b;
    *sine = 1;
    if (s->kind == 0) {
        *x = placed(sb, b->vertex[s->fb]);
        *n = turned(sa->r, a->face_normal[s->fa]);
        return within_face(a, s->fa, back(sa, *x));
    }
    if (s->kind == 1) {
        *x = placed(sa, a->vertex[s->fa]);
        *n = mul(-1, turned(sb->r, b->face_normal[s->fb]));
        return within_face(b, s->fb, back(sb, *x));
    }
    const int *ea = a->mesh->edge + 2 * s->fa, *eb = b->mesh->edge + 2 * s->fb;
    vec xa = placed(sa, a->edge_mid[s->fa]), y = sub(placed(sb, b->edge_mid[s->fb]), xa);
    vec u = unit(turned(sa->r, sub(a->vertex[ea[1]], a->vertex[ea[0]])));
    vec v = unit(turned(sb->r, sub(b->vertex[eb[1]], b->vertex[eb[0]])));
    vec k = cross(u, v);
    real kk = dot(k, k);
    *sine = sqrtl(kk);
    *x = xa;
    *n = k;
    if (kk < 1e-24L) return -1e300L;
    real pa = dot(cross(y, v), k) / kk, pb = dot(cross(y, u), k) / kk;
    real ia = a->edge_reach[s->fa] - fabsl(pa), ib = b->edge_reach[s->fb] - fabsl(pb);
    *x = add(xa, mul(pa, u));
    *n = unit(k);
    return ia < ib ? ia : ib;
}

static Contact describe(const Search *s, real t)
{
    Contact c = {0};
    const Actor *a = s->a, *b = s->b;
    State sa = state_at(&a->motion, t), sb = state_at(&b->motion, t);
    vec x, n;
    real sine;
    c.pair = s->pair;
    c.kind = s->kind;
    c.feature_a = s->fa;
    c.feature_b = s->fb;
    c.time = c.time_end = (double)t;
    const Mesh *ma = a->mesh, *mb = b->mesh;
    c.inside = (double)meeting(s, &sa, &sb, &x, &n, &sine);
    c.sine = (double)sine;
    if (c.inside < -1e200) return c;
    vec flow = sub(velocity(&sb, x), velocity(&sa, x));
    const int *fa = s->kind == 0   ? &s->fa
                    : s->kind == 1 ? ma->vertex_face + ma->vertex_face_start[s->fa]
                                   : ma->edge_face + ma->edge_face_start[s->fa];
    const int *fb = s->kind == 0   ? mb->vertex_face + mb->vertex_face_start[s->fb]
                    : s->kind == 1 ? &s->fb
                                   : mb->edge_face + mb->edge_face_start[s->fb];
    int na = s->kind == 0   ? 1
             : s->kind == 1 ? ma->vertex_face_start[s->fa + 1] - ma->vertex_face_start[s->fa]
                            : ma->edge_face_start[s->fa + 1] - ma->edge_face_start[s->fa];
    int nb = s->kind == 1   ? 1
             : s->kind == 0 ? mb->vertex_face_start[s->fb + 1] - mb->vertex_face_start[s->fb]
                            : mb->edge_face_start[s->fb + 1] - mb->edge_face_start[s->fb];
    real back_a = facing_of(a, &sa, fa, na, flow, -1), forth_b = facing_of(b, &sb, fb, nb, flow, 1);
    c.facing = (double)(back_a < forth_b ? back_a : forth_b);
    int two = ma->two_sided || mb->two_sided;
    if (s->kind == 2) {
        vec m = mul(-1, n);
        real pa = side_terms(a, &sa, s->fa, m), pb = side_terms(b, &sb, s->fb, n), plus = pa < pb ? pa : pb;
        real qa = side_terms(a, &sa, s->fa, n), qb = side_terms(b, &sb, s->fb, m), minus = qa < qb ? qa : qb;
        int take = two ? dot(n, flow) < 0 : plus > minus;
        real p = take ? plus : minus;
        if (!take) n = m;
        c.properness = (double)(ma->reflex[s->fa] || mb->reflex[s->fb] ? -fabsl(p) : p);
    } else {
        const Mesh *face = s->kind == 0 ? ma : mb;
        const Actor *corner = s->kind == 0 ? b : a;
        int v = s->kind == 0 ? s->fb : s->fa;
        if (face->two_sided && dot(n, flow) > 0) n = mul(-1, n);
        c.properness = (double)leaving(corner, s->kind == 0 ? &sb : &sa, v, s->kind == 0 ? n : mul(-1, n));
        c.doubtful = corner->mesh->vertex_reflex[v];
    }
    c.normal_speed = (double)dot(n, flow);
    x = add(x, s->origin);
    c.place[0] = (double)x.x, c.place[1] = (double)x.y, c.place[2] = (double)x.z;
    c.normal[0] = (double)n.x, c.normal[1] = (double)n.y, c.normal[2] = (double)n.z;
    return c;
}

static void keep(Search *s, Contact c, int what, real slope)
{
    c.what = what;
    c.slope = (double)slope;
    if (s->count < s->room) s->out[s->count] = c;
    s->count++;
}

static real reach_of(const Search *s)
{
    if (s->kind == 2) return s->a->edge_reach[s->fa] + s->b->edge_reach[s->fb];
    return s->kind == 0 ? s->a->face_reach[s->fa] : s->b->face_reach[s->fb];
}

static void found(Search *s, real t, int what, real slope)
{
    Contact c = describe(s, t);
    if (c.inside > -1e-6L * s->size) keep(s, c, what, slope);
}

static void bracket(Search *s, real lo, real flo, real hi, real fhi)
{
    real slope = 0, t = (lo + hi) / 2;
    if (flo == 0) hi = lo;
    if (fhi == 0) lo = hi;
    for (int i = 0; i < 200 && hi - lo > 1e-19L; i++) {
        Value v = value(s, t, 0);
        slope = v.slope;
        if (v.f == 0) break;
        if ((v.f > 0) == (fhi > 0)) hi = t;
        else lo = t;
        real next = v.slope != 0 ? t - v.f / v.slope : lo;
        if (fabsl(next - t) < 1e-19L && next >= lo && next <= hi) {
            t = next;
            break;
        }
        t = next > lo && next < hi ? next : (lo + hi) / 2;
    }
    if (lo == hi) t = lo;
    slope = value(s, t, 0).slope;
    found(s, t, ROOT, slope);
}

static real inside_at(const Search *s, real t)
{
    State sa = state_at(&s->a->motion, t), sb = state_at(&s->b->motion, t);
    vec x, n;
    real sine, inside = meeting(s, &sa, &sb, &x, &n, &sine);
    return sine < 1e-9L ? -1e300L : inside;
}

static void keep_lasting(Search *s, real began, real ended, real deepest)
{
    Contact c = describe(s, began);
    c.time_end = (double)ended;
    c.inside = (double)deepest;
    keep(s, c, LASTING, 0);
}

/* Where a function that vanishes throughout is inside: between samples the borders by halving. */
static void lasting(Search *s)
{
    enum { SAMPLES = 128 };
    real began = -1, last = 0, deepest = 0;
    for (int i = -1; i <= SAMPLES; i++) {
        real t = i < 0 ? 0 : i == SAMPLES ? 1 : (i + 0.5L) / SAMPLES, inside;
        if (i < 0 || i == SAMPLES) {
            inside = inside_at(s, t);
        } else if (balls_apart(s, SAMPLES + i, t, (0.5L + 1e-9L) / SAMPLES)) {
            inside = -1e300L;
        } else {
            vec x, n;
            real sine;
            const State *known = known_in(s, SAMPLES + i, t);
            inside = meeting(s, known, known + 1, &x, &n, &sine);
            if (sine < 1e-9L) inside = -1e300L;
        }
        int in = inside >= 0;
        if (i >= 0 && in != (began >= 0)) {
            real lo = last, hi = t;
            for (int k = 0; k < 40; k++) { /* to 1e-14 of the step */
                real mid = (lo + hi) / 2;
                if ((inside_at(s, mid) >= 0) == (began >= 0)) lo = mid;
                else hi = mid;
            }
            if (!in) keep_lasting(s, began, lo, deepest);
            began = in ? hi : -1;
            deepest = inside;
        } else if (in && i < 0) {
            began = 0;
            deepest = inside;
        }
        if (inside > deepest) deepest = inside;
        last = t;
    }
    if (began >= 0) keep_lasting(s, began, 1, deepest);
}

static void search(Search *s, real lo, real hi, int level, unsigned piece)
{
    real mid = (lo + hi) / 2, arm = (hi - lo) / 2;
    if (++s->pieces > s->most) {
        if (s->pieces == s->most + 1) found(s, mid, LOST, 0);
        return;
    }
    if (balls_apart(s, piece, mid, arm)) return;
    Value v = value_in(s, piece, mid, arm);
    if (v.apart - v.fast * arm > reach_of(s) + 1e-9L * s->size) return;
    if (fabsl(v.f) > fabsl(v.slope) * arm + v.bend * arm * arm / 2 + 1e-18L * s->size) return;
    if (fabsl(v.slope) > v.bend * arm) {
        Value x = value(s, lo, 0), y = value(s, hi, 0);
        if ((x.f > 0) != (y.f > 0) || x.f == 0 || y.f == 0) bracket(s, lo, x.f, hi, y.f);
        return;
    }
    if (level > 30 || (fabsl(v.f) < 1e-13L * s->size && arm < 1e-7L)) {
        found(s, mid, DOUBLE, v.slope);
        return;
    }
    unsigned half = piece < KNOWN ? 2 * piece : KNOWN;
    search(s, lo, mid, level + 1, half);
    search(s, mid, hi, level + 1, half + (half < KNOWN));
}

static int vanishes(const Search *s)
{
    int n = 24 + 8 * (int)(s->a->motion.a + s->b->motion.a);
    for (int i = 0; i < n; i++) {
        real t = (1 - cosl((i + 0.5L) * 3.14159265358979323846L / n)) / 2;
        if (fabsl(value(s, t, 0).f) > 2e-14L * (s->size + s->speed)) return 0;
    }
    return 1;
}

/* Returns how many there are; fills at most `room`. */
long all_contacts(const Mesh *meshes, const Body *bodies, const int *pairs, int count, long most, long room, Contact *out)
{
    Search s = {0};
    s.out = out;
    s.room = room;
    s.most = most;
    s.known = malloc(2 * KNOWN * sizeof(State));
    s.there = malloc(KNOWN);
    for (int i = 0; i < count; i++) {
        const Body *x = bodies + pairs[2 * i], *y = bodies + pairs[2 * i + 1];
        vec o = of(x->place);
        Actor a = actor_of(meshes + x->mesh, x, o), b = actor_of(meshes + y->mesh, y, o);
        s.origin = o;
        s.a = &a;
        s.b = &b;
        s.pair = i;
        s.size = a.radius > b.radius ? a.radius : b.radius;
        s.speed = a.speed + b.speed;
        memset(s.there, 0, KNOWN);
        s.apart[0] = calloc(features_of(&a) + features_of(&b), KNOWN);
        s.apart[1] = s.apart[0] + (long)features_of(&a) * KNOWN;
        for (s.kind = 0; s.kind < 3; s.kind++) {
            int na = s.kind == 0 ? a.mesh->faces : s.kind == 1 ? a.mesh->vertices : a.mesh->edges;
            int nb = s.kind == 0 ? b.mesh->vertices : s.kind == 1 ? b.mesh->faces : b.mesh->edges;
            for (s.fa = 0; s.fa < na; s.fa++)
                for (s.fb = 0; s.fb < nb; s.fb++) {
                    if (balls_apart(&s, 1, 0.5L, 0.5L + 1e-9L)) continue;
                    Value v = value_in(&s, 1, 0.5L, 0.5L + 1e-9L);
                    if (v.apart - v.fast * (0.5L + 1e-9L) > reach_of(&s) + 1e-9L * s.size) continue;
                    s.pieces = 0;
                    if (fabsl(v.f) < 2e-14L * (s.size + s.speed) && vanishes(&s)) lasting(&s);
                    else search(&s, -1e-9L, 1 + 1e-9L, 0, 1);
                }
        }
        free(s.apart[0]);
        drop_actor(&a);
        drop_actor(&b);
    }
    free(s.known);
    free(s.there);
    return s.count;
}

/* What rows name, at their times: decisions as in `all_contacts`, `slope` of the distance, and the distance itself. */
void described(const Mesh *meshes, const Body *bodies, const int *pairs, int count, Contact *rows, double *distance)
{
    for (int i = 0; i < count; i++) {
        const int *pair = pairs + 2 * rows[i].pair;
        const Body *x = bodies + pair[0], *y = bodies + pair[1];
        vec o = of(x->place);
        Actor a = actor_of(meshes + x->mesh, x, o), b = actor_of(meshes + y->mesh, y, o);
        Search s = {0};
        s.origin = o;
        s.a = &a;
        s.b = &b;
        s.pair = rows[i].pair;
        s.kind = rows[i].kind;
        s.fa = rows[i].feature_a;
        s.fb = rows[i].feature_b;
        double end = rows[i].time_end;
        Value v = value(&s, rows[i].time, 0);
        rows[i] = describe(&s, rows[i].time);
        rows[i].time_end = end;
        rows[i].slope = (double)v.slope;
        distance[i] = (double)v.f;
        drop_actor(&a);
        drop_actor(&b);
    }
}
