/* gc_node_distance.h: two nodes of meshes' trees, and when they can meet.
 * needs: tree/gc_bvh.h narrow_phase/near/gc_near.h narrow_phase/candidates/gc_emit.h
 *
 * The search for a pair's first contact (screen_first) goes down both trees at once, by pairs of nodes. A pair has a window in time that
 * holds all meetings of what is in one with what is in the other; children are in their parents, and pairs whose window
 * begins behind a contact that was found are dropped (docs/decisions/0061).
 */
#ifndef GC_NODE_DISTANCE_H
#define GC_NODE_DISTANCE_H

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
    gc_raster slack; /* what meets is this far apart at most, in space */
    gc_raster every; /* 1: contacts are asked for whose normals may be anything; 0: those in double cones */
} gc_node_distance;

GC_LARGE void gc_node_distance_make(
    GC_GLOBAL const gc_real *screw,
    gc_real min_properness,
    int refine,
    gc_real height,
    gc_node_distance *p)
{
    int i;
    gc_near_pair_make(screw, min_properness, refine, height, &p->near);
    p->slack = GC_F(4.0) * p->near.view.pad + p->near.apart;
    for (i = 0; i < 9; ++i) {
        p->ra[i] = (gc_raster)p->near.screw.ra[i];
        p->rb[i] = (gc_raster)p->near.screw.rb[i];
    }
    /* by pixels a vertex has the time of a face's plane, which may be any of the step where the plane leads off the face */
    p->every = p->near.cones && refine != GC_REFINE_PIXELS ? GC_F(0.0) : GC_F(1.0);
    p->w = (gc_raster)p->near.screw.w;
    p->g = (gc_raster)p->near.screw.g;
    p->theta = (gc_raster)p->near.screw.theta;
}

/* node of A (side 0) or B; returns whether it may make a contact at all */
GC_LARGE int gc_seen_make(const gc_node_distance *p, int side, GC_GLOBAL const gc_raster *node, gc_seen *a)
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
    if (side == 0 && q->view.pixel > GC_F(0.0)) gc_extent_widen(&q->view, &a->box);
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

/* When does b pass through the slab of a? rot: b's; it moves by the flow times way. Known: s is from first to last; what is left of it,
 * nothing if last < first. No branches and no whole numbers here and below, so that loops over a page vectorise. */
GC_INLINE void gc_slab_when(
    const gc_node_distance *p,
    const gc_seen *a,
    const gc_seen *b,
    const gc_raster *rot,
    gc_raster way,
    gc_raster *first,
    gc_raster *last)
{
    gc_raster middle = GC_F(0.5) * (*first + *last), arm = GC_F(0.5) * (*last - *first), s = way * middle;
    gc_raster angle = p->theta * s, out = p->w + p->theta * b->z, in = p->theta * b->x, u = angle * angle;
    /* sine over angle, and 1 - cosine over its square */
    gc_raster sn = GC_F(1.0)
                   + u
                         * (GC_F(-0.16666667)
                            + u
                                  * (GC_F(8.3333333e-3)
                                     + u * (GC_F(-1.98412698e-4) + u * (GC_F(2.75573192e-6) - u * GC_F(2.5052108e-8)))));
    gc_raster vs = GC_F(0.5)
                   + u
                         * (GC_F(-4.1666667e-2)
                            + u
                                  * (GC_F(1.38888889e-3)
                                     + u * (GC_F(-2.48015873e-5) + u * (GC_F(2.75573192e-7) - u * GC_F(2.08767570e-9)))));
    gc_raster sigma = s * sn, nu = s * s * vs, turn = angle * sn, less = u * vs;
    /* b's middle at that time; the slab's normal as b's half-way frame has it then */
    gc_raster x = b->x + out * sigma - p->theta * in * nu, y = b->y + p->g * s, z = b->z - in * sigma - p->theta * out * nu;
    gc_raster nx = a->nx - a->nz * turn - a->nx * less, ny = a->ny, nz = a->nz + a->nx * turn - a->nz * less;
    /* b within its own slab and its ball, and within its box, along that normal */
    gc_raster along = nx * b->nx + ny * b->ny + nz * b->nz, rest = GC_F(1.0) - along * along;
    gc_raster across = b->radius * GC_SQRT_R((rest > GC_F(0.0) ? rest : GC_F(0.0)) + GC_F(1e-6));
    gc_raster e0 = along * b->e0, e1 = along * b->e1, below = (e0 < e1 ? e0 : e1) - across,
              above = (e0 < e1 ? e1 : e0) + across;
    gc_raster reach = GC_ABS_R(rot[0] * nx + rot[3] * ny + rot[6] * nz) * b->hx
                      + GC_ABS_R(rot[1] * nx + rot[4] * ny + rot[7] * nz) * b->hy
                      + GC_ABS_R(rot[2] * nx + rot[5] * ny + rot[8] * nz) * b->hz;
    gc_raster slack = p->theta * arm * b->radius + GC_F(0.5) * b->bend * arm * arm + p->slack;
    gc_raster at = a->nx * x + a->ny * y + a->nz * z;
    gc_raster rate = way * (a->nx * (p->w + p->theta * z) + a->ny * p->g - a->nz * p->theta * x), inv, lo, hi, t0, t1,
              out_of;
    reach = reach < b->radius ? reach : b->radius;
    above = above < reach ? above : reach;
    below = below > -reach ? below : -reach;
    lo = a->d0 - above - slack - at;
    hi = a->d1 - below + slack - at;
    inv = GC_F(1.0) / (GC_ABS_R(rate) <= GC_F(1e-6) ? GC_F(1.0) : rate);
    t0 = lo * inv;
    t1 = hi * inv;
    /* one that goes along the slab is in it all the time, or never */
    out_of = lo > GC_F(1e-6) ? GC_CULL_FAR : (hi < GC_F(-1e-6) ? GC_CULL_FAR : -GC_CULL_FAR);
    lo = middle + (t0 < t1 ? t0 : t1) - GC_NEAREST_SLACK;
    hi = middle + (t0 < t1 ? t1 : t0) + GC_NEAREST_SLACK;
    lo = GC_ABS_R(rate) <= GC_F(1e-6) ? out_of : lo;
    hi = GC_ABS_R(rate) <= GC_F(1e-6) ? GC_CULL_FAR : hi;
    *first = lo > *first ? lo : *first;
    *last = hi < *last ? hi : *last;
}

/* as gc_cones_meet: not below 0 if they may */
GC_INLINE gc_raster gc_seen_cones(const gc_seen *a, const gc_seen *b, gc_raster angle, gc_raster spread)
{
    gc_raster cosine = a->cone * b->cone - a->sine * b->sine, sine = a->sine * b->cone + a->cone * b->sine;
    gc_raster wide = spread + GC_CONE_SLACK;
    gc_raster limit = cosine * (GC_F(1.0) - GC_F(0.5) * wide * wide) - sine * wide - GC_CONE_SLACK, rest;
    gc_dir n = gc_dir_make(b->nx, b->ny, b->nz);
    gc_turn_dir(angle, &n);
    rest = GC_ABS_R(a->nx * n.x + a->ny * n.y + a->nz * n.z) - limit;
    rest = limit <= GC_F(0.0) ? GC_F(1.0) : rest;
    rest = cosine <= GC_F(0.0) ? GC_F(1.0) : rest;
    rest = b->cone <= GC_F(0.0) ? GC_F(1.0) : rest;
    return a->cone <= GC_F(0.0) ? GC_F(1.0) : rest;
}

/* Of two nodes in whose extents something may meet from first to last: what slabs and cones leave of that. */
GC_INLINE void gc_seen_meet(const gc_node_distance *p, const gc_seen *a, const gc_seen *b, gc_raster *first, gc_raster *last)
{
    gc_raster lines;
    gc_slab_when(p, a, b, p->rb, GC_F(1.0), first, last);
    gc_slab_when(p, b, a, p->ra, GC_F(-1.0), first, last);
    lines = gc_seen_cones(
        a, b, GC_F(0.5) * (*first + *last) * p->theta, GC_F(0.5) * GC_ABS_R(*last - *first) * p->theta + p->near.view.tilt);
    lines = p->every > GC_F(0.0) ? GC_F(1.0) : lines;
    *last = lines >= GC_F(0.0) ? *last : -GC_CULL_FAR;
}

/* Can what is in node a of A meet what is in b of B; and when: s from first to last? Not behind `until`. */
GC_FN int gc_seen_when(
    const gc_node_distance *p,
    const gc_seen *a,
    const gc_seen *b,
    gc_raster until,
    gc_raster *first,
    gc_raster *last)
{
    if (!gc_extents_when(&p->near.view, &a->box, &b->box, first, last) || *first > until) return 0;
    *last = GC_MIN(until, *last);
    gc_seen_meet(p, a, b, first, last);
    return *first <= *last;
}

/* ---- pages: the children of a node, side by side ---------------------------------------------------------------- */

#define GC_PAGE 8
/* numbers of a page: columns of a gc_seen, of all children; and behind them ranges of eta and lambda that hold all: h0 h1 l0 l1 */
#define GC_PAGE_HULL (GC_PAGE * GC_SEEN_WIDTH)
#define GC_PAGE_STRIDE (GC_PAGE * GC_SEEN_STRIDE)
#define GC_OF_LANE(R, name) to->name = from[GC_PAGE * GC_SEEN_##name];

/* child j of a page */
GC_INLINE void gc_lane_load(GC_GLOBAL const gc_raster *page, int j, gc_seen *a)
{
    GC_GLOBAL const gc_raster *from = page + j;
    {
        gc_extent *to = &a->box;
        GC_EXTENT_COLUMNS(GC_OF_LANE, GC_OF_LANE, GC_SEEN)
    }
    {
        gc_seen *to = a;
        GC_SEEN_OWN_COLUMNS(GC_OF_LANE, GC_OF_LANE, GC_SEEN)
    }
}

#define GC_TO_LANE(R, name) to[GC_PAGE * GC_SEEN_##name] = from->name;
GC_FN void gc_lane_store(const gc_seen *a, GC_GLOBAL gc_raster *page, int j)
{
    GC_GLOBAL gc_raster *to = page + j;
    {
        const gc_extent *from = &a->box;
        GC_EXTENT_COLUMNS(GC_TO_LANE, GC_TO_LANE, GC_SEEN)
    }
    {
        const gc_seen *from = a;
        GC_SEEN_OWN_COLUMNS(GC_TO_LANE, GC_TO_LANE, GC_SEEN)
    }
}

/* A page without children: what is not there is a number all the same. */
GC_FN void gc_page_clear(GC_GLOBAL gc_raster *page)
{
    for (int k = 0; k < GC_PAGE_HULL; ++k) page[k] = GC_F(0.0);
    for (int k = 0; k < 4; ++k) page[GC_PAGE_HULL + k] = k & 1 ? -GC_CULL_FAR : GC_CULL_FAR;
}

GC_FN void gc_page_put(const gc_seen *a, GC_GLOBAL gc_raster *page, int j)
{
    GC_GLOBAL gc_raster *hull = page + GC_PAGE_HULL;
    gc_lane_store(a, page, j);
    hull[0] = GC_MIN(a->box.h0, hull[0]);
    hull[1] = GC_MAX(a->box.h1, hull[1]);
    hull[2] = GC_MIN(a->box.l0, hull[2]);
    hull[3] = GC_MAX(a->box.l1, hull[3]);
}

/* A node against all of a page, of B's nodes if side is 1; as gc_seen_when. Copies of A round the axis that are out of reach widen a
 * window at most. */
GC_INLINE void gc_page_side(
    const gc_node_distance *p,
    const gc_seen *one,
    GC_GLOBAL const gc_raster *page,
    int side,
    gc_raster until,
    gc_raster *first,
    gc_raster *last)
{
    const gc_view *w = &p->near.view;
    gc_raster inv = w->speed > GC_F(0.0) ? GC_F(1.0) / w->speed : GC_F(0.0), open = GC_F(0.5) < until ? GC_F(0.5) : until;
    int turns = w->period < GC_CULL_FAR && w->wraps ? 2 : 0, j, k;
    /* what has no azimuth meets all that is as far from the axis */
    gc_raster all = w->period < GC_CULL_FAR ? one->box.full : GC_F(0.0),
              any = w->period < GC_CULL_FAR ? GC_F(1.0) : GC_F(0.0);
    gc_raster still = inv > GC_F(0.0) ? GC_F(0.0) : GC_F(1.0);
    const gc_seen me = *one;
    for (j = 0; j < GC_PAGE; ++j) {
        first[j] = GC_CULL_FAR;
        last[j] = -GC_CULL_FAR;
    }
    for (k = -turns; k <= turns; ++k) {
        gc_raster turn = k == 0 ? GC_F(0.0) : (gc_raster)k * w->period, dh = -w->gn * turn, dl = w->wn * turn;
        /* a copy that none of them comes near; what has no azimuth is met by every copy, this one too */
        gc_raster th = side ? dh : -dh, tl = side ? dl : -dl;
        if (k != 0
            && (me.box.h0 + th > page[GC_PAGE_HULL + 1] || me.box.h1 + th < page[GC_PAGE_HULL]
                || me.box.l0 + tl > page[GC_PAGE_HULL + 3] + w->window
                || me.box.l1 + tl < page[GC_PAGE_HULL + 2] - w->window))
            continue;
        GC_INDEPENDENT
        for (j = 0; j < GC_PAGE; ++j) {
            gc_raster r0 = page[GC_PAGE * GC_SEEN_r0 + j], r1 = page[GC_PAGE * GC_SEEN_r1 + j];
            gc_raster h0 = page[GC_PAGE * GC_SEEN_h0 + j], h1 = page[GC_PAGE * GC_SEEN_h1 + j];
            gc_raster l0 = page[GC_PAGE * GC_SEEN_l0 + j], l1 = page[GC_PAGE * GC_SEEN_l1 + j];
            gc_raster full = page[GC_PAGE * GC_SEEN_full + j];
            gc_raster ah0 = side ? me.box.h0 : h0, ah1 = side ? me.box.h1 : h1, bh0 = side ? h0 : me.box.h0,
                      bh1 = side ? h1 : me.box.h1;
            gc_raster al0 = side ? me.box.l0 : l0, al1 = side ? me.box.l1 : l1, bl0 = side ? l0 : me.box.l0,
                      bl1 = side ? l1 : me.box.l1;
            /* how much they overlap in eta and lambda, and in rho */
            gc_raster d0 = bh1 - (ah0 + dh), d1 = ah1 + dh - bh0, d2 = bl1 + w->window - (al0 + dl),
                      d3 = al1 + dl - (bl0 - w->window);
            gc_raster e0 = me.box.r1 - r0, e1 = r1 - me.box.r0, s0 = (al0 + dl - bl1) * inv, s1 = (al1 + dl - bl0) * inv;
            gc_raster over = d0 < d1 ? d0 : d1, free = full * any + all;
            over = d2 < over ? d2 : over;
            over = d3 < over ? d3 : over;
            over = free > GC_F(0.0) ? GC_F(1.0) : over;
            over = e0 < over ? e0 : over;
            over = e1 < over ? e1 : over;
            s0 = free + still > GC_F(0.0) ? GC_F(-0.5) : s0;
            s1 = free + still > GC_F(0.0) ? GC_F(0.5) : s1;
            s0 = over >= GC_F(0.0) ? s0 : GC_CULL_FAR;
            s1 = over >= GC_F(0.0) ? s1 : -GC_CULL_FAR;
            first[j] = s0 < first[j] ? s0 : first[j];
            last[j] = s1 > last[j] ? s1 : last[j];
        }
    }
    GC_INDEPENDENT
    for (j = 0; j < GC_PAGE; ++j) {
        gc_seen other;
        gc_raster s0 = first[j] > GC_F(-0.5) ? first[j] : GC_F(-0.5), s1 = last[j] < open ? last[j] : open;
        gc_lane_load(page, j, &other);
        gc_seen_meet(p, side ? &me : &other, side ? &other : &me, &s0, &s1);
        first[j] = s0;
        last[j] = s1;
    }
}

GC_LARGE void gc_page_when(
    const gc_node_distance *p,
    const gc_seen *one,
    GC_GLOBAL const gc_raster *page,
    int side,
    gc_raster until,
    gc_raster *first,
    gc_raster *last)
{
    if (side) gc_page_side(p, one, page, 1, until, first, last);
    else gc_page_side(p, one, page, 0, until, first, last);
}

/* ---- a side: the tree of a mesh, and its nodes as the other body sees them ------------------------------------ */

/* Levels are gone down by three, to those that are multiples of it, so that a node has GC_PAGE children or fewer. */
GC_FN int gc_level_below(int level) { return (level - 1) / 3 * 3; }

typedef struct {
    GC_GLOBAL const int *tree;        /* (GC_TREE_STRIDE,) */
    GC_GLOBAL const gc_raster *nodes; /* of the tree */
    GC_GLOBAL gc_raster *pages;       /* (GC_KEPT_PAGES, GC_PAGE_STRIDE) of a work-item alone */
    GC_GLOBAL int
        *tags; /* (GC_KEPT_PAGES, 2) number + 1 of the node whose page is kept there, 0: none; its children that may
                                         make a contact, as bits */
    int side, height;
    gc_raster least; /* about how large a leaf is, squared */
} gc_tree_side;

/* how many nodes a level has */
GC_FN int gc_side_size(const gc_tree_side *t, int level) { return (t->tree[GC_TREE_faces] + (1 << level) - 1) >> level; }

/* number of a node among those of the tree */
GC_FN int gc_side_number(const gc_tree_side *t, int node)
{
    int level = gc_node_level(node), at = gc_node_place(node), l;
    for (l = 0; l < level; ++l) at += gc_side_size(t, l);
    return at;
}

GC_FN int gc_side_make(const gc_node_distance *p, const gc_tree_side *t, int number, gc_seen *to)
{
    return gc_seen_make(p, t->side, t->nodes + GC_NODE_STRIDE * number, to);
}

/* Where the page of a node is, made if it is not there. Alone. */
GC_LARGE int gc_side_page(const gc_node_distance *p, const gc_tree_side *t, int node)
{
    int number = gc_side_number(t, node), slot = number & (GC_KEPT_PAGES - 1), mask = 0, j;
    if (t->tags[2 * slot] != number + 1) {
        int level = gc_level_below(gc_node_level(node)), up = gc_node_level(node) - level;
        int from = gc_node_place(node) << up, n = GC_MIN(gc_side_size(t, level) - from, 1 << up);
        int at = gc_side_number(t, gc_node_of(level, from));
        GC_GLOBAL gc_raster *page = t->pages + GC_PAGE_STRIDE * slot;
        gc_seen child;
        gc_page_clear(page);
        for (j = 0; j < n; ++j) {
            if (!gc_side_make(p, t, at + j, &child)) continue;
            gc_page_put(&child, page, j);
            mask |= 1 << j;
        }
        t->tags[2 * slot] = number + 1;
        t->tags[2 * slot + 1] = mask;
    }
    return slot;
}

/* Node `node` as the other body sees it; returns whether it may make a contact at all. */
GC_LARGE int gc_side_node(const gc_node_distance *p, const gc_tree_side *t, int node, gc_seen *to)
{
    int level = gc_node_level(node), above = GC_MIN(level + 3, t->height), up = above - level, slot, j;
    if (!GC_SERIAL || level == t->height) return gc_side_make(p, t, gc_side_number(t, node), to);
    slot = gc_side_page(p, t, gc_node_of(above, gc_node_place(node) >> up));
    j = gc_node_place(node) & ((1 << up) - 1);
    gc_lane_load(t->pages + GC_PAGE_STRIDE * slot, j, to);
    return t->tags[2 * slot + 1] >> j & 1;
}

#endif
