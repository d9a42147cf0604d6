/* b05_features: which patches of two meshes can meet during the step.
 *
 * in:  screw records (s01), trees of patches, a list of (pair, node of A, node of B)
 * out: the same list one step further down: for nodes whose boxes meet, the children of the larger one; two leaves that
 *      meet become an item (pair, patch of A, patch of B) for the screen
 * One work-item per entry; the host launches it until no entry is left. Boxes are compared on the collision screen, where
 * the whole step is one shift along lambda, so the bound is that of the arc (docs/decisions/0011). What does not fit in an
 * output is counted: the host repeats the launch with room. Degenerate: a mesh in one piece is its own only leaf.
 */

/* box of node (level, j) of the tree at t */
GC_FN GC_GLOBAL const gc_raster *gc_node_box(GC_GLOBAL const int *t, GC_GLOBAL const gc_raster *nodes, int level, int j)
{
    int at = t[1] + j, l;
    for (l = 0; l < level; ++l) at += (t[0] + (1 << l) - 1) >> l;
    return nodes + 6 * at;
}

/* squared diagonal: which of two nodes is the larger */
GC_FN gc_raster gc_box_size(GC_GLOBAL const gc_raster *b)
{
    gc_raster x = b[3] - b[0], y = b[4] - b[1], z = b[5] - b[2];
    return x * x + y * y + z * z;
}

/* append (pair, a, b) to a list of three ints an entry */
GC_FN void gc_push(GC_GLOBAL int *count, GC_GLOBAL int *list, int capacity, int pair, int a, int b)
{
    int i = GC_ATOMIC_ADD(count, 1);
    if (i < 0 || i >= capacity) return;
    list[3 * i] = pair;
    list[3 * i + 1] = a;
    list[3 * i + 2] = b;
}

GC_KERNEL void b05_features(
    int n_entries,
    GC_GLOBAL const int *entries_in,           /* (n_entries, 3) pair, node of A, node of B */
    GC_GLOBAL const int *pairs_in,             /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,             /* (bodies,) */
    GC_GLOBAL const gc_real *screw_in,         /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,             /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL const int *trees_in,             /* (meshes, GC_TREE_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in,       /* (nodes, 6) low, high; centred, user units */
    int capacity,
    int item_capacity,
    GC_GLOBAL int *n_next_out,                 /* (1,) may pass the capacity */
    GC_GLOBAL int *next_out,                   /* (capacity, 3) */
    GC_GLOBAL int *n_items_out,                /* (1,) goes on from the launch before */
    GC_GLOBAL int *items_out)                  /* (item_capacity, 3) */
{
    for (int i = GC_ITEM_LO(n_entries); i < GC_ITEM_HI(n_entries); i += GC_ITEM_STEP(n_entries)) {
        int pair = entries_in[3 * i], na = entries_in[3 * i + 1], nb = entries_in[3 * i + 2], mask = (1 << GC_NODE_BITS) - 1;
        int la = na >> GC_NODE_BITS, ja = na & mask, lb = nb >> GC_NODE_BITS, jb = nb & mask;
        GC_GLOBAL const int *ta = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair]];
        GC_GLOBAL const int *tb = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair + 1]];
        GC_GLOBAL const gc_raster *box_a = gc_node_box(ta, nodes_in, la, ja), *box_b = gc_node_box(tb, nodes_in, lb, jb);
        gc_screw k;
        gc_view w;
        gc_extent a, b;
        if (state_in[pair] & GC_PAIR_INVALID) continue;
        gc_screw_load(screw_in + GC_SCREW_STRIDE * pair, &k);
        w = gc_view_make(&k, GC_R(-1.0));
        gc_box_extent(&w, k.ra, k.ta, k.shrink, box_a, &a);
        gc_box_extent(&w, k.rb, k.tb, k.shrink, box_b, &b);
        if (!gc_extents_meet(&w, &a, &b)) continue;
        if (la == 0 && lb == 0) {
            gc_push(n_items_out, items_out, item_capacity, pair, ta[2] + ja, tb[2] + jb);
        } else if (lb == 0 || (la > 0 && gc_box_size(box_a) >= gc_box_size(box_b))) {
            int n = (ta[0] + (1 << (la - 1)) - 1) >> (la - 1);
            gc_push(n_next_out, next_out, capacity, pair, ((la - 1) << GC_NODE_BITS) | (2 * ja), nb);
            if (2 * ja + 1 < n) gc_push(n_next_out, next_out, capacity, pair, ((la - 1) << GC_NODE_BITS) | (2 * ja + 1), nb);
        } else {
            int n = (tb[0] + (1 << (lb - 1)) - 1) >> (lb - 1);
            gc_push(n_next_out, next_out, capacity, pair, na, ((lb - 1) << GC_NODE_BITS) | (2 * jb));
            if (2 * jb + 1 < n) gc_push(n_next_out, next_out, capacity, pair, na, ((lb - 1) << GC_NODE_BITS) | (2 * jb + 1));
        }
    }
}
