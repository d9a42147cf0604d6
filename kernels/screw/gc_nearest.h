/* gc_nearest.h: two nodes of meshes' trees and when they can meet; pairs of nodes still to be looked at, the earliest first.
 * needs: bvh/gc_near.h screw/gc_solve.h
 *
 * The search for a pair's first contact (screen_first) goes down both trees at once, by pairs of nodes. A pair has a window in time that
 * holds all meetings of what is in one with what is in the other; children are in their parents, and pairs whose window
 * begins behind a contact that was found are dropped (docs/decisions/0061).
 */
#ifndef GC_NEAREST_H
#define GC_NEAREST_H

/* a node as one number: its level above, its place in the level below */
#define GC_NODE_BITS 26
GC_FN int gc_node_level(int node) { return node >> GC_NODE_BITS; }
GC_FN int gc_node_place(int node) { return node & ((1 << GC_NODE_BITS) - 1); }
GC_FN int gc_node_of(int level, int place) { return level << GC_NODE_BITS | place; }

/* ---- a node, and when two meet ------------------------------------------------------------------------------- */

/* A node in the screen frame, of B half way: raster numbers. Beside its extent the ball about its box, and a slab. */
#define GC_SEEN_OWN_COLUMNS(ONE, MANY, X) \
    ONE(X, x) /* middle of the box */ \
    ONE(X, y) \
    ONE(X, z) \
    ONE(X, radius) \
    ONE(X, bend) /* how much the motion bends there: its acceleration */ \
    ONE(X, nx)   /* slab: d0 <= n.x <= d1 */ \
    ONE(X, ny) \
    ONE(X, nz) \
    ONE(X, d0) \
    ONE(X, d1) \
    ONE(X, e0) /* the same from the middle */ \
    ONE(X, e1) \
    ONE(X, hx) /* half the sides of the box in the frame of the body's own mesh */ \
    ONE(X, hy) \
    ONE(X, hz) \
    ONE(X, cone) /* cosine and sine of the half angle of the double cone about n of its contact normals; 0: all */ \
    ONE(X, sine)
#define GC_SEEN_STRIDE 28
#define GC_SEEN_COLUMNS(ONE, MANY, X) GC_EXTENT_COLUMNS(ONE, MANY, X) GC_SEEN_OWN_COLUMNS(ONE, MANY, X)
GC_RECORD(GC_SEEN)
typedef struct {
    gc_extent box;
    GC_FIELDS(GC_SEEN_OWN, gc_raster)
} gc_seen;

/* what all nodes of a pair share, in the type that culls */
typedef struct {
    gc_near_pair near;
    gc_raster ra[9], rb[9]; /* mesh -> screen frame */
    gc_raster w, g, theta;
} gc_nearest;

GC_LARGE void gc_nearest_make(GC_GLOBAL const gc_real *screw, gc_real min_properness, gc_nearest *p)
{
    int i;
    gc_near_pair_make(screw, min_properness, &p->near);
    for (i = 0; i < 9; ++i) {
        p->ra[i] = (gc_raster)p->near.screw.ra[i];
        p->rb[i] = (gc_raster)p->near.screw.rb[i];
    }
    p->w = (gc_raster)p->near.screw.w;
    p->g = (gc_raster)p->near.screw.g;
    p->theta = (gc_raster)p->near.screw.theta;
}

GC_FN void gc_seen_load(GC_GLOBAL const gc_raster *from, gc_seen *a)
{
    gc_extent *to = &a->box;
    GC_LOAD(GC_EXTENT, GC_SEEN);
    {
        gc_seen *to = a;
        GC_LOAD(GC_SEEN_OWN, GC_SEEN);
    }
}

GC_FN void gc_seen_store(const gc_seen *a, GC_GLOBAL gc_raster *to)
{
    const gc_extent *from = &a->box;
    GC_STORE(GC_EXTENT, GC_SEEN);
    {
        const gc_seen *from = a;
        GC_STORE(GC_SEEN_OWN, GC_SEEN);
    }
}

/* node of A (side 0) or B; returns whether it may make a contact at all */
GC_LARGE int gc_seen_make(const gc_nearest *p, int side, GC_GLOBAL const gc_raster *node, gc_seen *a)
{
    const gc_near_pair *q = &p->near;
    const gc_screw *k = &q->screw;
    const gc_real *rot = side ? k->rb : k->ra, *shift = side ? k->tb : k->ta;
    GC_GLOBAL const gc_raster *low = node + GC_NODE_low, *high = node + GC_NODE_high, *normal = node + GC_NODE_normal;
    gc_real unit = GC_R(0.5) * k->shrink, offset;
    gc_raster pad = GC_F(4.0) * q->view.pad, f = GC_F(0.5) * (gc_raster)k->shrink;
    gc_vec c = gc_make(
               unit * (gc_real)(low[0] + high[0]), unit * (gc_real)(low[1] + high[1]), unit * (gc_real)(low[2] + high[2])),
           n;
    n = gc_rotate(rot, gc_make((gc_real)normal[0], (gc_real)normal[1], (gc_real)normal[2]));
    c = gc_add(gc_rotate(rot, c), gc_make(shift[0], shift[1], shift[2]));
    a->radius = node[GC_NODE_reach] * (gc_raster)k->shrink;
    if (!gc_near_faces(q, n, c, a->radius, node[GC_NODE_ring], side ? GC_F(1.0) : GC_F(-1.0))) return 0;
    gc_box_extent(&q->view, rot, shift, k->shrink, low, high, &a->box);
    a->x = (gc_raster)c.x;
    a->y = (gc_raster)c.y;
    a->z = (gc_raster)c.z;
    a->bend = p->theta * p->w * gc_kappa_r(q->view.kappa, a->x, a->z);
    offset = n.x * shift[0] + n.y * shift[1] + n.z * shift[2];
    a->nx = (gc_raster)n.x;
    a->ny = (gc_raster)n.y;
    a->nz = (gc_raster)n.z;
    a->d0 = (gc_raster)((gc_real)node[GC_NODE_least] * k->shrink + offset) - pad;
    a->d1 = (gc_raster)((gc_real)node[GC_NODE_most] * k->shrink + offset) + pad;
    offset = n.x * c.x + n.y * c.y + n.z * c.z;
    a->e0 = a->d0 - (gc_raster)offset;
    a->e1 = a->d1 - (gc_raster)offset;
    a->hx = f * (high[0] - low[0]);
    a->hy = f * (high[1] - low[1]);
    a->hz = f * (high[2] - low[2]);
    a->cone = node[GC_NODE_cone];
    a->sine = GC_SQRT_R(GC_F(1.0) - a->cone * a->cone);
    return 1;
}

/* When does b pass through the slab of a? rot: b's; it moves by the flow times way. Known: s is from first to last; what is left of it. */
GC_FN int gc_slab_when(
    const gc_nearest *p,
    const gc_seen *a,
    const gc_seen *b,
    const gc_raster *rot,
    gc_raster way,
    gc_raster *first,
    gc_raster *last)
{
    gc_raster middle = GC_F(0.5) * (*first + *last), arm = GC_F(0.5) * (*last - *first), s = way * middle;
    gc_raster angle = p->theta * s, out = p->w + p->theta * b->z, in = p->theta * b->x, x, y, z, at, rate, reach, lo, hi;
    gc_raster along, across, below, above, slack;
    gc_raster u = angle * angle;
    /* sine over angle, and 1 - cosine over its square */
    gc_raster sn
        = GC_F(1.0)
          + u * (GC_F(-0.16666667) + u * (GC_F(8.3333333e-3) + u * (GC_F(-1.98412698e-4) + u * (GC_F(2.75573192e-6) - u * GC_F(2.5052108e-8)))));
    gc_raster vs = GC_F(0.5)
                   + u
                         * (GC_F(-4.1666667e-2)
                            + u * (GC_F(1.38888889e-3) + u * (GC_F(-2.48015873e-5) + u * (GC_F(2.75573192e-7) - u * GC_F(2.08767570e-9)))));
    gc_raster sigma = s * sn, nu = s * s * vs, turn = angle * sn, less = u * vs;
    gc_dir n;
    /* the middle at that time; the slab's normal in the frame of b's mesh then */
    x = b->x + out * sigma - p->theta * in * nu;
    y = b->y + p->g * s;
    z = b->z - in * sigma - p->theta * out * nu;
    n = gc_dir_make(a->nx - a->nz * turn - a->nx * less, a->ny, a->nz + a->nx * turn - a->nz * less);
    /* b within its own slab and its ball, along that normal */
    along = n.x * b->nx + n.y * b->ny + n.z * b->nz;
    across = b->radius * GC_SQRT_R(GC_MAX(GC_F(1.0) - along * along, GC_F(0.0)) + GC_F(1e-6));
    below = GC_MIN(along * b->e0, along * b->e1) - across;
    above = GC_MAX(along * b->e0, along * b->e1) + across;
    reach = GC_ABS_R(rot[0] * n.x + rot[3] * n.y + rot[6] * n.z) * b->hx
            + GC_ABS_R(rot[1] * n.x + rot[4] * n.y + rot[7] * n.z) * b->hy
            + GC_ABS_R(rot[2] * n.x + rot[5] * n.y + rot[8] * n.z) * b->hz;
    reach = GC_MIN(reach, b->radius);
    slack = p->theta * arm * b->radius + GC_F(0.5) * b->bend * arm * arm + GC_F(4.0) * p->near.view.pad;
    at = a->nx * x + a->ny * y + a->nz * z;
    rate = way * (a->nx * (p->w + p->theta * z) + a->ny * p->g - a->nz * p->theta * x);
    lo = a->d0 - GC_MIN(above, reach) - slack - at;
    hi = a->d1 - GC_MAX(below, -reach) + slack - at;
    if (GC_ABS_R(rate) <= GC_F(1e-6)) return lo <= GC_F(1e-6) && hi >= GC_F(-1e-6);
    rate = GC_F(1.0) / rate;
    *first = GC_MAX(middle + GC_MIN(lo * rate, hi * rate) - GC_NEAREST_SLACK, *first);
    *last = GC_MIN(middle + GC_MAX(lo * rate, hi * rate) + GC_NEAREST_SLACK, *last);
    return *first <= *last;
}

/* as gc_cones_meet */
GC_FN int gc_seen_cones(const gc_seen *a, const gc_seen *b, gc_raster angle, gc_raster spread)
{
    gc_raster cosine = a->cone * b->cone - a->sine * b->sine, sine = a->sine * b->cone + a->cone * b->sine, limit;
    gc_dir n = gc_dir_make(b->nx, b->ny, b->nz);
    if (a->cone <= GC_F(0.0) || b->cone <= GC_F(0.0) || cosine <= GC_F(0.0)) return 1;
    spread += GC_CONE_SLACK;
    limit = cosine * (GC_F(1.0) - GC_F(0.5) * spread * spread) - sine * spread - GC_CONE_SLACK;
    if (limit <= GC_F(0.0)) return 1;
    gc_turn_dir(angle, &n);
    return GC_ABS_R(a->nx * n.x + a->ny * n.y + a->nz * n.z) >= limit;
}

/* Can what is in node a of A meet what is in b of B, as gc_near_meet; and when: s from first to last? Not behind `until`. */
GC_LARGE int gc_seen_when(
    const gc_nearest *p,
    const gc_seen *a,
    const gc_seen *b,
    gc_raster until,
    gc_raster *first,
    gc_raster *last)
{
    const gc_view *w = &p->near.view;
    if (!gc_extents_when(w, &a->box, &b->box, first, last) || *first > until) return 0;
    *last = GC_MIN(until, *last);
    if (!gc_slab_when(p, a, b, p->rb, GC_F(1.0), first, last)) return 0;
    if (!gc_slab_when(p, b, a, p->ra, GC_F(-1.0), first, last)) return 0;
    return !p->near.cones
           || gc_seen_cones(a, b, GC_F(0.5) * (*first + *last) * w->theta, GC_F(0.5) * (*last - *first) * w->theta);
}

/* ---- a side: the tree of a mesh, and its nodes as the other body sees them ------------------------------------ */

typedef struct {
    GC_GLOBAL const int *tree;        /* (GC_TREE_STRIDE,) */
    GC_GLOBAL const gc_raster *nodes; /* of the tree */
    GC_GLOBAL gc_raster *kept;        /* (GC_KEPT_NODES, GC_SEEN_STRIDE) */
    GC_GLOBAL int *tags;              /* (GC_KEPT_NODES,) 2 number + 1 of what is kept there, or + 2 if it makes no contact; 0: nothing */
    int side, height;
} gc_tree_side;

/* Node `node` as the other body sees it; returns whether it may make a contact at all. */
GC_LARGE int gc_side_node(const gc_nearest *p, const gc_tree_side *t, int node, gc_seen *to)
{
    int level = gc_node_level(node), at = gc_node_place(node), n = t->tree[GC_TREE_faces], slot, may, l;
    for (l = 0; l < level; ++l) at += (n + (1 << l) - 1) >> l;
    slot = at & (GC_KEPT_NODES - 1);
    if (GC_SERIAL && t->tags[slot] >> 1 == at + 1) {
        if (t->tags[slot] & 1) gc_seen_load(t->kept + GC_SEEN_STRIDE * slot, to);
        return t->tags[slot] & 1;
    }
    may = gc_seen_make(p, t->side, t->nodes + GC_NODE_STRIDE * at, to);
    if (GC_SERIAL) {
        if (may) gc_seen_store(to, t->kept + GC_SEEN_STRIDE * slot);
        t->tags[slot] = 2 * (at + 1) + may;
    }
    return may;
}

/* ---- pairs of nodes ------------------------------------------------------------------------------------------ */

/* A pair of nodes and its window. Alone they are a heap, the earliest on top; among many work-items a stack. */
typedef struct {
    GC_GLOBAL gc_raster *when; /* (room, 2) */
    GC_GLOBAL int *nodes;      /* (room, 2) */
    GC_GLOBAL int *count;
    int room;
} gc_node_pairs;

typedef struct {
    gc_raster first, last;
    int a, b;
} gc_node_pair;

GC_FN gc_node_pair gc_node_pair_at(const gc_node_pairs *q, int i)
{
    gc_node_pair p;
    p.first = q->when[2 * i];
    p.last = q->when[2 * i + 1];
    p.a = q->nodes[2 * i];
    p.b = q->nodes[2 * i + 1];
    return p;
}

GC_FN void gc_node_pair_put(const gc_node_pairs *q, int i, gc_node_pair p)
{
    q->when[2 * i] = p.first;
    q->when[2 * i + 1] = p.last;
    q->nodes[2 * i] = p.a;
    q->nodes[2 * i + 1] = p.b;
}

/* add one to the heap of n */
GC_FN void gc_heap_push(const gc_node_pairs *q, int n, gc_node_pair p)
{
    int i = n;
    while (i > 0 && q->when[2 * ((i - 1) >> 1)] > p.first) {
        gc_node_pair_put(q, i, gc_node_pair_at(q, (i - 1) >> 1));
        i = (i - 1) >> 1;
    }
    gc_node_pair_put(q, i, p);
}

/* take the earliest off the heap of n */
GC_FN gc_node_pair gc_heap_pop(const gc_node_pairs *q, int n)
{
    gc_node_pair top = gc_node_pair_at(q, 0), p = gc_node_pair_at(q, n - 1);
    int i = 0, j;
    for (j = 1; j < n - 1; j = 2 * i + 1) {
        if (j + 1 < n - 1 && q->when[2 * j + 2] < q->when[2 * j]) j += 1;
        if (q->when[2 * j] >= p.first) break;
        gc_node_pair_put(q, i, gc_node_pair_at(q, j));
        i = j;
    }
    gc_node_pair_put(q, i, p);
    return top;
}

#endif
