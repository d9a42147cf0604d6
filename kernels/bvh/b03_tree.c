/* b03_tree: boxes of all nodes, level by level from the leaves (gc_bvh.h has the layout).
 *
 * in:  boxes, and the order of the leaves from sorting the keys of b02
 * out: node table; each node's box is the union of its children's
 * One work-item per node, one launch per level. A refit is the same launches with the old order.
 * Degenerate: a side that is no finite number is taken to be as far out as can be.
 */

GC_KERNEL void b03_leaves(
    int n,
    GC_GLOBAL const int *order_in,      /* (n,) box of each leaf */
    GC_GLOBAL const gc_real *boxes_in,  /* (., GC_BOX_STRIDE) */
    GC_GLOBAL gc_real *nodes_out)       /* (nodes, GC_BOX_STRIDE): the first n are written */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *box = boxes_in + GC_BOX_STRIDE * order_in[i];
        for (int k = 0; k < 3; ++k) {
            nodes_out[GC_BOX_STRIDE * i + k] = gc_is_finite(box[k]) ? box[k] : -GC_BVH_FAR;
            nodes_out[GC_BOX_STRIDE * i + 3 + k] = gc_is_finite(box[k + 3]) ? box[k + 3] : GC_BVH_FAR;
        }
    }
}

GC_KERNEL void b03_level(
    int n_nodes,                  /* nodes of this level */
    int n_children,               /* nodes of the level below */
    int start,                    /* place of this level's first node in the table */
    int child_start,              /* ... of the level below */
    GC_GLOBAL gc_real *nodes_out) /* (nodes, GC_BOX_STRIDE) */
{
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        GC_GLOBAL const gc_real *a = nodes_out + GC_BOX_STRIDE * (child_start + 2 * j);
        GC_GLOBAL const gc_real *b = 2 * j + 1 < n_children ? a + GC_BOX_STRIDE : a;
        GC_GLOBAL gc_real *node = nodes_out + GC_BOX_STRIDE * (start + j);
        for (int k = 0; k < 3; ++k) {
            node[k] = GC_MIN(a[k], b[k]);
            node[3 + k] = GC_MAX(a[3 + k], b[3 + k]);
        }
    }
}
