/* gc_bvh.h: walking the implicit tree of the broad phase.
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

/* reals of a plain box: least x y z, greatest x y z */
#define GC_BOX_STRIDE 6

typedef struct {
    int level, node;
    int start;  /* place of the level's first node in the table */
    int n;      /* leaves of the tree */
    int low;    /* lowest level that has boxes; below it nodes are only ranges of leaves */
    int top;    /* level of the root */
    int end;    /* the walk ends before this leaf */
    int room;   /* as end, but a node may reach beyond the last leaf of the tree */
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

/* Do two boxes of GC_BOX_STRIDE reals meet? So written that a NaN does not part them. */
GC_FN int gc_boxes_meet(const gc_real *a, GC_GLOBAL const gc_real *b)
{
    return !(a[0] > b[3] || b[0] > a[3] || a[1] > b[4] || b[1] > a[4] || a[2] > b[5] || b[2] > a[5]);
}

#endif
