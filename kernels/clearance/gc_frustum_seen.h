/* gc_frustum_seen.h: what of a cylinder or a cone lies across a normal, and the corners that it has in common with faces, edges and others.
 * needs: clearance/gc_patch.h narrow_phase/contact/gc_frustum.h
 *
 * All is seen along a normal n from M to K, in M's coordinates: x and y across it, z along it. Of K its lower disc counts, its lowest line
 * along the side, and the lowest point of each end. Numbers of features: vertices 0 and 1 are the ends, 2 + 8 end + k eight points of a rim
 * that are fixed on the body; edge 0 is the side, 1 + 2 end + s where a border crosses a rim, s = 0 where it enters. Source:
 * docs/decisions/0146.
 */
#ifndef GC_FRUSTUM_SEEN_H
#define GC_FRUSTUM_SEEN_H

#define GC_FRUSTUM_MARKS 8 /* points of a rim */
/* deeper than anything */
#define GC_FRUSTUM_FAR GC_R(1e30)

/* a place of a pair with a frustum: M's feature and K's, on both, n from M to K */
#define GC_FRUSTUM_INT_STRIDE 4
#define GC_FRUSTUM_INT_COLUMNS(ONE, MANY, X) \
    ONE(X, kind) /* as A and B have it in the end */ \
    ONE(X, m)    /* features; of a normal that has no place of its own: a face, an edge, a vertex */ \
    ONE(X, k) \
    ONE(X, state)
GC_RECORD(GC_FRUSTUM_INT)
#define GC_FRUSTUM_REAL_STRIDE 10
#define GC_FRUSTUM_REAL_COLUMNS(ONE, MANY, X) \
    ONE(X, distance) \
    MANY(X, on_m, 3) \
    MANY(X, on_k, 3) \
    MANY(X, normal, 3)
GC_RECORD(GC_FRUSTUM_REAL)

/* what a place is: dropped; told; a normal that counts, with its place; without */
#define GC_FRUSTUM_DROPPED 0
#define GC_FRUSTUM_TOLD 1
#define GC_FRUSTUM_LEADS 2
#define GC_FRUSTUM_ALONG 3

typedef struct {
    gc_frustum f;
    gc_vec marks[2]; /* across its axis and each other, fixed on the body */
} gc_posed_frustum;

/* where places are put */
typedef struct {
    GC_GLOBAL int *ints;
    GC_GLOBAL gc_real *reals;
    int room, n;          /* n: with those that there is no room for */
    gc_real size, margin; /* how near is near */
    gc_real floor;        /* deeper is none */
    gc_real least;        /* of the corners that were seen */
    int dry;              /* they are only looked at */
    gc_vec axes[3];
} gc_frustum_list;

typedef struct {
    const gc_posed_frustum *frustum;
    int end, line, disc; /* the lower end; do line and disc lie across? */
    gc_vec p[2];         /* lowest of each end */
    gc_vec middle, up;   /* of the disc; its axis */
    gc_real radius;
} gc_frustum_view;

GC_FN gc_vec gc_frustum_see(const gc_frustum_list *q, gc_vec p)
{
    return gc_make(gc_dot(q->axes[0], p), gc_dot(q->axes[1], p), gc_dot(q->axes[2], p));
}

GC_FN void gc_frustum_look(gc_frustum_list *q, gc_vec n) { gc_patch_axes(n, q->axes); }

/* K as it is seen; up -1: what is highest of it, for the body that n leads away from */
GC_FN gc_frustum_view gc_frustum_view_of(const gc_frustum_list *q, const gc_posed_frustum *frustum, gc_real up)
{
    gc_frustum_view v;
    gc_vec n = gc_scale(q->axes[2], up), way;
    v.frustum = frustum;
    v.end = gc_frustum_depth(&frustum->f, 1, n) < gc_frustum_depth(&frustum->f, 0, n);
    for (int e = 0; e < 2; ++e) v.p[e] = gc_frustum_see(q, gc_frustum_lowest(&frustum->f, e, n));
    way = gc_sub(v.p[1], v.p[0]);
    v.line = way.z * way.z <= (GC_R(1.0) - GC_PATCH_ALIGNED * GC_PATCH_ALIGNED) * gc_dot(way, way);
    v.up = gc_frustum_see(q, frustum->f.axis);
    v.middle = gc_frustum_see(q, gc_frustum_end(&frustum->f, v.end));
    v.radius = frustum->f.radius[v.end];
    v.disc = v.radius > GC_R(0.0) && v.up.z * up * (v.end ? GC_R(1.0) : GC_R(-1.0)) <= -GC_PATCH_ALIGNED;
    return v;
}

/* a point of the disc's plane over a place */
GC_FN gc_vec gc_frustum_over(const gc_frustum_view *v, gc_real x, gc_real y)
{
    return gc_make(x, y, v->middle.z - (v->up.x * (x - v->middle.x) + v->up.y * (y - v->middle.y)) / v->up.z);
}

GC_FN int gc_frustum_within(const gc_frustum_view *v, gc_vec p, gc_real within)
{
    gc_vec off = gc_sub(gc_frustum_over(v, p.x, p.y), v->middle);
    return gc_dot(off, off) <= (v->radius + within) * (v->radius + within);
}

GC_FN gc_vec gc_frustum_mark(const gc_frustum_list *q, const gc_frustum_view *v, int k)
{
    /* cosines of whole eighths of a turn; the others by symmetry */
    gc_real root = GC_R(0.70710678118654752), c, s;
    c = k == 0 ? GC_R(1.0) : k == 1 || k == 7 ? root : k == 2 || k == 6 ? GC_R(0.0) : k == 4 ? GC_R(-1.0) : -root;
    s = k == 2 ? GC_R(1.0) : k == 1 || k == 3 ? root : k == 0 || k == 4 ? GC_R(0.0) : k == 6 ? GC_R(-1.0) : -root;
    return gc_frustum_see(
        q, gc_add(
               gc_frustum_end(&v->frustum->f, v->end),
               gc_scale(gc_add(gc_scale(v->frustum->marks[0], c), gc_scale(v->frustum->marks[1], s)), v->radius)));
}

GC_FN int gc_frustum_mark_number(const gc_frustum_view *v, int k) { return 2 + GC_FRUSTUM_MARKS * v->end + k; }

GC_FN void gc_frustum_store(
    gc_frustum_list *q,
    int state,
    int kind,
    int m,
    int k,
    gc_real gap,
    gc_vec on_m,
    gc_vec on_k,
    gc_vec n)
{
    GC_GLOBAL gc_real *r;
    GC_GLOBAL int *p;
    int at = q->n++;
    if (at >= q->room) return;
    p = q->ints + GC_FRUSTUM_INT_STRIDE * at;
    r = q->reals + GC_FRUSTUM_REAL_STRIDE * at;
    p[GC_FRUSTUM_INT_kind] = kind;
    p[GC_FRUSTUM_INT_m] = m;
    p[GC_FRUSTUM_INT_k] = k;
    p[GC_FRUSTUM_INT_state] = state;
    r[GC_FRUSTUM_REAL_distance] = gap;
    gc_store_vec(r + GC_FRUSTUM_REAL_on_m, 0, on_m);
    gc_store_vec(r + GC_FRUSTUM_REAL_on_k, 0, on_k);
    gc_store_vec(r + GC_FRUSTUM_REAL_normal, 0, n);
}

/* a corner at x, y with heights on both; within the limits? */
GC_FN void gc_frustum_corner(
    gc_frustum_list *q,
    int kind,
    int m,
    int k,
    gc_real x,
    gc_real y,
    gc_real high_m,
    gc_real high_k)
{
    gc_real gap = high_k - high_m;
    gc_vec across = gc_add(gc_scale(q->axes[0], x), gc_scale(q->axes[1], y)), n = q->axes[2];
    if (!(gap <= q->margin && gap >= q->floor)) return;
    q->least = GC_MIN(q->least, gap);
    if (q->dry) return;
    gc_frustum_store(
        q, GC_FRUSTUM_TOLD, kind, m, k, gap, gc_add(across, gc_scale(n, high_m)), gc_add(across, gc_scale(n, high_k)), n);
}

/* Where a line from a to b is on the rim as it is seen: shares of it, entering and leaving; 0: nowhere */
GC_FN int gc_frustum_rim_crossings(const gc_frustum_view *v, gc_vec a, gc_vec b, gc_real *share)
{
    gc_vec from = gc_frustum_over(v, a.x, a.y), way = gc_sub(gc_frustum_over(v, b.x, b.y), from),
           off = gc_sub(from, v->middle);
    gc_real w2 = gc_dot(way, way), s = w2 > GC_R(0.0) ? -gc_dot(off, way) / w2 : GC_R(0.0), rest;
    gc_vec near = gc_add(off, gc_scale(way, s));
    rest = v->radius * v->radius - gc_dot(near, near);
    if (!(w2 > GC_R(0.0)) || !(rest > GC_R(0.0))) return 0;
    rest = GC_SQRT(rest / w2);
    share[0] = s - rest;
    share[1] = s + rest;
    return 1;
}

GC_FN gc_vec gc_frustum_along(gc_vec a, gc_vec b, gc_real s) { return gc_add(a, gc_scale(gc_sub(b, a), s)); }

/* is a place that of a lowest point, which is told by itself? */
GC_FN int gc_frustum_is_lowest(const gc_frustum_view *v, gc_vec p, gc_real within)
{
    int found = 0;
    for (int e = 0; e < 2; ++e)
        found |= GC_ABS(p.x - v->p[e].x) <= within && GC_ABS(p.y - v->p[e].y) <= within && (e == v->end || v->line);
    return found;
}

/* a border of M with disc and line */
GC_FN void gc_frustum_border(gc_frustum_list *q, const gc_frustum_view *v, int edge, gc_vec a, gc_vec b, gc_real within)
{
    gc_vec way = gc_sub(b, a), side = gc_sub(v->p[1], v->p[0]), off = gc_sub(v->p[0], a);
    gc_real length = GC_SQRT(way.x * way.x + way.y * way.y), long_k, turn, share[2], s, u;
    if (v->disc && gc_frustum_rim_crossings(v, a, b, share))
        for (int k = 0; k < 2; ++k) {
            gc_vec p = gc_frustum_along(a, b, share[k]);
            if (!(GC_ABS(share[k] - GC_R(0.5)) * length <= GC_R(0.5) * length + within)) continue;
            if (gc_frustum_is_lowest(v, p, within)) continue;
            gc_frustum_corner(q, GC_EE, edge, 1 + 2 * v->end + k, p.x, p.y, p.z, gc_frustum_over(v, p.x, p.y).z);
        }
    if (!v->line) return;
    long_k = GC_SQRT(side.x * side.x + side.y * side.y);
    turn = way.x * side.y - way.y * side.x;
    if (!(GC_ABS(turn) > GC_PATCH_PARALLEL * length * long_k)) return;
    s = (off.x * side.y - off.y * side.x) / turn;
    u = (off.x * way.y - off.y * way.x) / turn;
    if (!(GC_ABS(s - GC_R(0.5)) * length <= GC_R(0.5) * length + within)) return;
    if (!(GC_ABS(u - GC_R(0.5)) * long_k <= GC_R(0.5) * long_k + within)) return;
    way = gc_frustum_along(a, b, s);
    if (gc_frustum_is_lowest(v, way, within)) return;
    side = gc_frustum_along(v->p[0], v->p[1], u);
    gc_frustum_corner(q, GC_EE, edge, 0, way.x, way.y, way.z, side.z);
}

/* the corners that K and a face of M have in common */
GC_FN void gc_frustum_face(gc_frustum_list *q, const gc_frustum_view *v, const gc_patch_loop *l, gc_real within)
{
    for (int e = 0; e < 2; ++e)
        if ((e == v->end || v->line) && gc_patch_inside(l, v->p[e], within))
            gc_frustum_corner(q, GC_FV, l->number, e, v->p[e].x, v->p[e].y, gc_patch_height(l, v->p[e]), v->p[e].z);
    for (int k = 0; k < GC_FRUSTUM_MARKS && v->disc; ++k) {
        gc_vec p = gc_frustum_mark(q, v, k);
        if (gc_patch_inside(l, p, within))
            gc_frustum_corner(q, GC_FV, l->number, gc_frustum_mark_number(v, k), p.x, p.y, gc_patch_height(l, p), p.z);
    }
    for (int k = 0; k < l->n; ++k) {
        gc_vec p = gc_patch_corner(l, k);
        int edge = gc_patch_border(l, k);
        if (v->disc && gc_frustum_within(v, p, within))
            gc_frustum_corner(q, GC_VV, gc_patch_vertex(l, k), v->end, p.x, p.y, p.z, gc_frustum_over(v, p.x, p.y).z);
        if (edge >= 0) gc_frustum_border(q, v, edge, p, gc_patch_corner(l, k + 1 < l->n ? k + 1 : 0), within);
    }
}

/* ends of a line of K beside a line from a to b that is parallel to it, and ends of that beside it; kinds as of M and K */
GC_FN void gc_frustum_beside(
    gc_frustum_list *q,
    const gc_frustum_view *v,
    int edge,
    int vertex_a,
    int vertex_b,
    gc_vec a,
    gc_vec b,
    gc_real within)
{
    gc_vec way = gc_sub(b, a), side = gc_sub(v->p[1], v->p[0]);
    gc_real w2 = way.x * way.x + way.y * way.y, s2 = side.x * side.x + side.y * side.y;
    gc_real turn = way.x * side.y - way.y * side.x, beyond;
    if (!v->line || !(GC_ABS(turn) <= GC_PATCH_PARALLEL * GC_SQRT(w2 * s2)) || !(w2 > GC_R(0.0))) return;
    for (int k = 0; k < 2; ++k) {
        gc_vec p = v->p[k];
        gc_real s = ((p.x - a.x) * way.x + (p.y - a.y) * way.y) / w2;
        beyond = (GC_ABS(s - GC_R(0.5)) - GC_R(0.5)) * GC_SQRT(w2);
        if (beyond <= within) gc_frustum_corner(q, GC_EV, edge, k, p.x, p.y, gc_frustum_along(a, b, s).z, p.z);
        p = k ? b : a;
        s = ((p.x - v->p[0].x) * side.x + (p.y - v->p[0].y) * side.y) / s2;
        beyond = (GC_ABS(s - GC_R(0.5)) - GC_R(0.5)) * GC_SQRT(s2);
        if (beyond <= within)
            gc_frustum_corner(q, GC_VE, k ? vertex_b : vertex_a, 0, p.x, p.y, p.z, gc_frustum_along(v->p[0], v->p[1], s).z);
    }
}

/* an edge of M whose faces do not lie across */
GC_FN void gc_frustum_edge(gc_frustum_list *q, const gc_frustum_view *v, const gc_patch_loop *l, gc_real within)
{
    gc_vec a = gc_patch_corner(l, 0), b = gc_patch_corner(l, 1);
    gc_frustum_border(q, v, l->number, a, b, within);
    gc_frustum_beside(q, v, l->number, gc_patch_vertex(l, 0), gc_patch_vertex(l, 1), a, b, within);
    for (int k = 0; k < 2 && v->disc; ++k) {
        gc_vec p = k ? b : a;
        if (gc_frustum_within(v, p, within))
            gc_frustum_corner(q, GC_VV, gc_patch_vertex(l, k), v->end, p.x, p.y, p.z, gc_frustum_over(v, p.x, p.y).z);
    }
}

/* ---- two of them ---------------------------------------------------------------------------------------------------------- */

/* the kind of vertices and edges of M and K, turned if they are K's and M's */
GC_FN void gc_frustum_told(gc_frustum_list *q, int turned, int kind, int m, int k, gc_vec p, gc_real high_m, gc_real high_k)
{
    if (!turned) gc_frustum_corner(q, kind, m, k, p.x, p.y, high_m, high_k);
    else gc_frustum_corner(q, kind == GC_EV ? GC_VE : kind == GC_VE ? GC_EV : kind, k, m, p.x, p.y, high_k, high_m);
}

/* what a disc of M (turned: of K) has in common with rim and line of the other */
GC_FN void gc_frustum_disc(
    gc_frustum_list *q,
    const gc_frustum_view *m,
    const gc_frustum_view *k,
    int turned,
    gc_real within)
{
    gc_real share[2];
    if (!m->disc) return;
    for (int i = 0; i < GC_FRUSTUM_MARKS && k->disc; ++i) {
        gc_vec p = gc_frustum_mark(q, k, i);
        if (gc_frustum_within(m, p, within))
            gc_frustum_told(q, turned, GC_VV, m->end, gc_frustum_mark_number(k, i), p, gc_frustum_over(m, p.x, p.y).z, p.z);
    }
    for (int e = 0; e < 2; ++e) {
        gc_vec p = k->p[e];
        if ((k->line || e == k->end) && gc_frustum_within(m, p, within))
            gc_frustum_told(q, turned, GC_VV, m->end, e, p, gc_frustum_over(m, p.x, p.y).z, p.z);
    }
    if (!k->line || !gc_frustum_rim_crossings(m, k->p[0], k->p[1], share)) return;
    for (int i = 0; i < 2; ++i) {
        gc_vec p = gc_frustum_along(k->p[0], k->p[1], share[i]);
        if (share[i] >= GC_R(0.0) && share[i] <= GC_R(1.0) && !gc_frustum_is_lowest(k, p, within))
            gc_frustum_told(q, turned, GC_EE, 1 + 2 * m->end + i, 0, p, gc_frustum_over(m, p.x, p.y).z, p.z);
    }
}

/* Two rims as they are seen: from where circles of their radii cross, to where K's is on M's. */
GC_FN void gc_frustum_rims(gc_frustum_list *q, const gc_frustum_view *m, const gc_frustum_view *k)
{
    gc_vec way = gc_sub(k->middle, m->middle), x, y;
    gc_real d2 = way.x * way.x + way.y * way.y, d = GC_SQRT(d2), along, rest, r = k->radius;
    if (!m->disc || !k->disc || !(d > GC_R(0.0))) return;
    along = (d2 + r * r - m->radius * m->radius) / (GC_R(2.0) * d);
    rest = r * r - along * along;
    if (!(rest > GC_R(0.0))) return;
    rest = GC_SQRT(rest);
    /* two axes of K's disc: towards M's, and across */
    x = gc_make(-way.x, -way.y, GC_R(0.0));
    x.z = -(k->up.x * x.x + k->up.y * x.y) / k->up.z;
    x = gc_unit(x, k->up);
    y = gc_cross(k->up, x);
    for (int side = 0; side < 2; ++side) {
        gc_real c = along / r, s = (side ? -rest : rest) / r, off = GC_R(1.0);
        gc_vec p = k->middle;
        for (int i = 0; i < 12; ++i) {
            gc_vec t, from, over;
            gc_real slope, step;
            p = gc_add(k->middle, gc_scale(gc_add(gc_scale(x, c), gc_scale(y, s)), r));
            t = gc_scale(gc_sub(gc_scale(y, c), gc_scale(x, s)), r);
            from = gc_sub(gc_frustum_over(m, p.x, p.y), m->middle);
            over = gc_sub(gc_frustum_over(m, p.x + t.x, p.y + t.y), gc_frustum_over(m, p.x, p.y));
            off = gc_dot(from, from) - m->radius * m->radius;
            slope = GC_R(2.0) * gc_dot(from, over);
            if (GC_ABS(off) <= GC_R(1e-15) * m->radius * m->radius || slope == GC_R(0.0)) break;
            step = GC_MIN(GC_MAX(-off / slope, GC_R(-0.3)), GC_R(0.3));
            t = gc_unit(gc_make(c - s * step, s + c * step, GC_R(0.0)), x);
            c = t.x;
            s = t.y;
        }
        if (GC_ABS(off) <= GC_R(1e-11) * m->radius * m->radius)
            gc_frustum_corner(
                q, GC_EE, 1 + 2 * m->end + side, 1 + 2 * k->end + side, p.x, p.y, gc_frustum_over(m, p.x, p.y).z, p.z);
    }
}

GC_FN void gc_frustum_pair(gc_frustum_list *q, const gc_frustum_view *m, const gc_frustum_view *k, gc_real within)
{
    gc_frustum_disc(q, m, k, 0, within);
    gc_frustum_disc(q, k, m, 1, within);
    gc_frustum_rims(q, m, k);
    if (!m->line || !k->line) return;
    gc_frustum_beside(q, k, 0, 0, 1, m->p[0], m->p[1], within);
}

#endif
