/* gc_bvh.h: walking the implicit tree of the broad phase.
 * needs: common/gc_types.h
 *
 * The tree stands over n leaves in a fixed order (by world, then along a Morton curve). Node j of level l covers leaves
 * [j << l, (j + 1) << l); level l has ceil(n / 2^l) nodes; there are no child pointers. All levels lie in one table, the
 * lowest kept one first. A walk visits nodes from the first leaf of a range to its last, without a stack: behind a
 * node comes the largest node that begins where it ends and stays inside the range.
 *
 *   gc_visit w = gc_visit_begin(n, low, first, end);
 *   while (!gc_visit_done(&w)) {
 *       if (w.level >= low && <box number gc_visit_node(&w) fails>) { gc_visit_next(&w); continue; }
 *       if (w.level > low) { gc_visit_down(&w); continue; }
 *       for (leaf = gc_visit_first(&w); leaf < gc_visit_last(&w); ++leaf) <leaf passes>;
 *       gc_visit_next(&w);
 *   }
 */
#ifndef GC_BVH_H
#define GC_BVH_H

/* a box that holds nothing is (GC_BVH_FAR, -GC_BVH_FAR) on each axis, one that holds everything the other way round */
#if GC_PRECISION == 2
#define GC_BVH_FAR GC_R(3e38)
#else
#define GC_BVH_FAR GC_R(1e308)
#endif

/* a node as one number: its level above, its place in the level below */
#define GC_NODE_BITS 26
GC_FN int gc_node_level(int node) { return node >> GC_NODE_BITS; }
GC_FN int gc_node_place(int node) { return node & ((1 << GC_NODE_BITS) - 1); }
GC_FN int gc_node_of(int level, int place) { return level << GC_NODE_BITS | place; }

/* ---- bodies: what b01 writes, b03 gathers and b04 asks ---- */

/* what b01 needs of a mesh, user units: reals */
#define GC_BALL_STRIDE 7
#define GC_BALL_COLUMNS(ONE, MANY, X) \
    MANY(X, centre, 3) \
    ONE(X, radius) \
    MANY(X, sides, 3) /* half the sides of the box about the centre */
GC_RECORD(GC_BALL)

/* bounds of a body: reals */
#define GC_BOUND_STRIDE 12
#define GC_BOUND_COLUMNS(ONE, MANY, X) \
    MANY(X, start, 3) /* its centre at the start */ \
    MANY(X, end, 3)   /* and at the end */ \
    ONE(X, radius)    /* padded */ \
    ONE(X, angle)     /* of its own turn, 0..pi */ \
    MANY(X, turn, 4)  /* the turn as a quaternion wxyz */
GC_RECORD(GC_BOUND)

/* a leaf: those, and the box that the body sweeps by its own screw */
#define GC_LEAF_STRIDE 18
#define GC_LEAF_COLUMNS(ONE, MANY, X) GC_BOUND_COLUMNS(ONE, MANY, X) GC_BOX_COLUMNS(ONE, MANY, X)
GC_RECORD(GC_LEAF)

/* ints of a leaf */
#define GC_LEAF_INT_STRIDE 4
#define GC_LEAF_INT_COLUMNS(ONE, MANY, X) \
    ONE(X, body) \
    ONE(X, rank)  /* 2 * rank of its world + (1 if it stands still) */ \
    ONE(X, group) /* bits */ \
    ONE(X, mask)
GC_RECORD(GC_LEAF_INT)

/* Is a * n + b, a < b, among these keys, which rise? */
GC_FN int gc_is_ignored(GC_GLOBAL const gc_long *ignored, int n_ignored, int n, int a, int b)
{
    gc_long key = (gc_long)a * n + b;
    int low = 0, high = n_ignored;
    while (low < high) {
        int middle = low + ((high - low) >> 1);
        if (ignored[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < n_ignored && ignored[low] == key;
}

/* A node: raster numbers, lengths from the tree's origin. */
#define GC_CROWD_STRIDE 27
#define GC_CROWD_COLUMNS(ONE, MANY, X) \
    MANY(X, still, 6) /* box of what its still bodies fill */ \
    MANY(X, swept, 6) /* ... of what its moving ones sweep */ \
    MANY(X, start, 6) /* ... of their centres at the start */ \
    MANY(X, end, 6)   /* ... and at the end */ \
    ONE(X, radius)    /* their greatest radius (-1: there are none), angle and way */ \
    ONE(X, angle) \
    ONE(X, way)
GC_RECORD(GC_CROWD)
#define GC_CROWD_FAR GC_F(3e38)
/* lowest level with boxes: below it a walk asks the leaves; higher saves memory, lower saves pairs tested */
#define GC_BVH_LOW 2
/* found bodies that the count hands on to the fill, for bodies that have no more */
#define GC_BVH_KEEP 8
/* pieces that a turn is cut into for its box: at most 0.4 radians each, so that an arc leaves its chord by at most 2 % of
 * its radius */
#define GC_BVH_PIECES 8

#if GC_PRECISION == 2
#define GC_BVH_PAD GC_R(5e-5)
#define GC_BVH_ROUNDING GC_R(2e-6)
#define GC_BVH_ANGLE_PAD GC_R(1e-5)
#define GC_BVH_STRAIGHT GC_R(1e-6)
#define GC_BVH_HALF_TURN GC_R(1e-5)
#define GC_BVH_WILD GC_R(1e15)
#define GC_BVH_SINE_PAD GC_R(1e-3)
#define GC_CROWD_ANGLE_PAD GC_F(2e-3)
#else
/* bounds grow by this share of radius and way: above the tolerances of contacts, which are 1e-9 of them at most */
#define GC_BVH_PAD GC_R(1e-7)
/* ... and by this share of the coordinates, for their rounding (16 times that of one operation) */
#define GC_BVH_ROUNDING GC_R(4e-15)
/* angles in the bound for two moving bodies grow by this */
#define GC_BVH_ANGLE_PAD GC_R(1e-9)
/* a body that turns by less moves straight: with two such, the swept boxes count as well */
#define GC_BVH_STRAIGHT GC_R(1e-9)
/* cosine of half the angle below which the motion may go round either side */
#define GC_BVH_HALF_TURN GC_R(1e-6)
/* bodies with a coordinate beyond this, or one that is no number, may meet any other */
#define GC_BVH_WILD GC_R(1e30)
/* the sine of half the relative turn of two bodies grows by this, as it comes from its cosine */
#define GC_BVH_SINE_PAD GC_R(1e-7)
/* nodes are asked with bounds wider than the leaves' by this angle (more than what the pads above can make), ... */
#define GC_CROWD_ANGLE_PAD GC_F(1e-5)
#endif
/* ... and by these shares of the reach and of the coordinates */
#define GC_CROWD_PAD GC_F(1e-5)
#define GC_CROWD_ROUNDING GC_F(2e-6)

typedef struct {
    int level, node;
    int start; /* place of the level's first node in the table */
    int n;     /* leaves of the tree */
    int low;   /* lowest level that has boxes; below it nodes are only ranges of leaves */
    int top;   /* level of the root */
    int end;   /* the walk ends before this leaf */
    int room;  /* as end, but a node may reach beyond the last leaf of the tree */
} gc_visit;

/* nodes of a level, n > 0 */
GC_FN int gc_level_nodes(int n, int level) { return ((n - 1) >> level) + 1; }

/* go up while the node begins where its parent begins and the parent ends inside the range */
GC_FN void gc_visit_rise(gc_visit *w)
{
    while (!(w->node & 1) && w->level < w->top && (w->node >> 1) + 1 <= (w->room >> (w->level + 1))) {
        if (w->level >= w->low) w->start += gc_level_nodes(w->n, w->level);
        w->node >>= 1;
        w->level += 1;
    }
}

/* walk over leaves [first, end) of a tree of n <= 2^30 leaves */
GC_FN gc_visit gc_visit_begin(int n, int low, int first, int end)
{
    gc_visit w;
    w.level = 0;
    w.node = first;
    w.start = 0;
    w.n = n;
    w.low = low;
    w.top = 0;
    while (((n - 1) >> w.top) > 0) w.top += 1;
    w.end = end;
    w.room = end == n ? 1 << w.top : end;
    if (first < end) gc_visit_rise(&w);
    return w;
}

GC_FN int gc_visit_done(const gc_visit *w) { return (w->node << w->level) >= w->end; }

/* place of the node in the table, for levels from low */
GC_FN int gc_visit_node(const gc_visit *w) { return w->start + w->node; }

/* leaves of the node: [first, last) */
GC_FN int gc_visit_first(const gc_visit *w) { return w->node << w->level; }
GC_FN int gc_visit_last(const gc_visit *w)
{
    int last = (w->node + 1) << w->level;
    return last < w->end ? last : w->end;
}

/* to the first child; only above level 0 */
GC_FN void gc_visit_down(gc_visit *w)
{
    w->level -= 1;
    w->node <<= 1;
    if (w->level >= w->low) w->start -= gc_level_nodes(w->n, w->level);
}

/* past the node and all below it */
GC_FN void gc_visit_next(gc_visit *w)
{
    w->node += 1;
    gc_visit_rise(w);
    while (w->level > 0 && w->node + 1 > (w->room >> w->level)) gc_visit_down(w);
}

GC_FN int gc_is_finite(gc_real x) { return x >= -GC_BVH_FAR && x <= GC_BVH_FAR; }

/* a bound from below, and from above, in the type that culls; what is beyond it stays at its border */
GC_FN gc_raster gc_below(gc_real x)
{
    gc_raster f;
    if (!(x > -GC_R(3e38))) return -GC_CROWD_FAR;
    if (x > GC_R(3e38)) return GC_CROWD_FAR;
    f = (gc_raster)x;
    return f - GC_ABS_R(f) * GC_F(1.2e-7) - GC_F(1e-37);
}

GC_FN gc_raster gc_above(gc_real x) { return -gc_below(-x); }

/* How near the centres of two moving bodies must come for the bodies to meet, at some time of the step and measured between
 * the straight paths of the centres (reference/broad_phase/b04_pairs.py has the proof). size: sum of the radii; way: length of the
 * relative way, angle: the lesser of both turns, turn: angle of the relative turn. Every argument may be replaced by
 * a greater one. Negative: no distance is too far. */
GC_FN gc_real gc_cull(gc_real size, gc_real way, gc_real angle, gc_real turn)
{
    gc_real x = GC_R(0.5) * angle + GC_R(0.25) * turn + GC_BVH_ANGLE_PAD, u = x * x;
    /* below cos(x) up to half a turn */
    gc_real c = GC_R(1.0) - u * GC_R(0.5) * (GC_R(1.0) - u / GC_R(12.0) * (GC_R(1.0) - u / GC_R(30.0)));
    if (!(c > GC_R(1e-4)) || x > GC_R(1.5707)) return GC_R(-1.0);
    return (size + GC_R(0.5) * x * way) / c;
}

/* Do two boxes of GC_BOX_STRIDE reals meet? So written that a NaN does not part them. */
GC_FN int gc_boxes_meet(const gc_real *a, GC_GLOBAL const gc_real *b)
{
    return !(a[0] > b[3] || b[0] > a[3] || a[1] > b[4] || b[1] > a[4] || a[2] > b[5] || b[2] > a[5]);
}

#endif
