/* b03_tree: boxes of all nodes, level by level from the leaves (gc_bvh.h has the layout).
 * needs: common/gc_math.h tree/gc_bvh.h
 *
 * in:  bounds and boxes of the bodies (b01), and the order of the leaves from sorting the keys of b02
 * out: leaves, with everything that decides a pair; nodes, which bound it: each the union of its children
 * One work-item per leaf or node, one launch per level. A refit is the same launches with the old order.
 * Degenerate: a node without moving bodies, or without bodies at rest, has an empty box for them.
 */

GC_KERNEL void b03_bodies(
    int n,
    GC_GLOBAL const int *order_in,      /* (n,) body of each leaf */
    GC_GLOBAL const gc_real *bounds_in, /* (bodies, GC_BOUND_STRIDE) */
    GC_GLOBAL const gc_real *boxes_in,  /* (bodies, GC_BOX_STRIDE) */
    GC_GLOBAL const int *rank_in,       /* (bodies,) as leaves have it */
    GC_GLOBAL const int *group_in,      /* (bodies,) bits */
    GC_GLOBAL const int *mask_in,       /* (bodies,) bits */
    GC_GLOBAL gc_real *leaves_out,      /* (n, GC_LEAF_STRIDE) */
    GC_GLOBAL int *leaf_ints_out)       /* (n, GC_LEAF_INT_STRIDE) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int body = order_in[i];
        GC_GLOBAL gc_real *leaf = leaves_out + GC_LEAF_STRIDE * i;
        GC_GLOBAL int *ints = leaf_ints_out + GC_LEAF_INT_STRIDE * i;
        for (int k = 0; k < GC_BOUND_STRIDE; ++k) leaf[GC_LEAF_start + k] = bounds_in[GC_BOUND_STRIDE * body + k];
        for (int k = 0; k < GC_BOX_STRIDE; ++k) leaf[GC_LEAF_low + k] = boxes_in[GC_BOX_STRIDE * body + k];
        ints[GC_LEAF_INT_body] = body;
        ints[GC_LEAF_INT_rank] = rank_in[body];
        ints[GC_LEAF_INT_group] = group_in[body];
        ints[GC_LEAF_INT_mask] = mask_in[body];
    }
}

/* a node that holds no body */
GC_FN void gc_crowd_clear(gc_raster *node)
{
    for (int k = 0; k < GC_CROWD_STRIDE; ++k) node[k] = GC_F(0.0);
    for (int box = 0; box < GC_CROWD_radius; box += GC_BOX_STRIDE) {
        for (int k = 0; k < 3; ++k) {
            node[box + k] = GC_CROWD_FAR;
            node[box + 3 + k] = -GC_CROWD_FAR;
        }
    }
    node[GC_CROWD_radius] = GC_F(-1.0);
}

GC_FN void gc_crowd_point(gc_raster *box, int axis, gc_real low, gc_real high)
{
    gc_raster below = gc_below(low), above = gc_above(high);
    if (below < box[axis]) box[axis] = below;
    if (above > box[3 + axis]) box[3 + axis] = above;
}

GC_FN void gc_crowd_leaf(gc_raster *node, GC_GLOBAL const gc_real *leaf, int still, const gc_real *origin)
{
    GC_GLOBAL const gc_real *start = leaf + GC_LEAF_start, *end = leaf + GC_LEAF_end;
    gc_vec way = gc_make(end[0] - start[0], end[1] - start[1], end[2] - start[2]);
    gc_raster radius = gc_above(leaf[GC_LEAF_radius]), angle = gc_above(leaf[GC_LEAF_angle]);
    gc_raster length = gc_above(gc_norm(way));
    for (int k = 0; k < 3; ++k) {
        gc_crowd_point(
            node + (still ? GC_CROWD_still : GC_CROWD_swept), k, leaf[GC_LEAF_low + k] - origin[k],
            leaf[GC_LEAF_high + k] - origin[k]);
        if (still) continue;
        gc_crowd_point(node + GC_CROWD_start, k, start[k] - origin[k], start[k] - origin[k]);
        gc_crowd_point(node + GC_CROWD_end, k, end[k] - origin[k], end[k] - origin[k]);
    }
    if (still) return;
    node[GC_CROWD_radius] = GC_MAX(node[GC_CROWD_radius], radius);
    node[GC_CROWD_angle] = GC_MAX(node[GC_CROWD_angle], angle);
    node[GC_CROWD_way] = GC_MAX(node[GC_CROWD_way], length);
}

GC_KERNEL void b03_body_nodes(
    int n_nodes, /* of level GC_BVH_LOW */
    int n,       /* leaves */
    gc_real origin_x,
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const gc_real *leaves_in, /* (n, GC_LEAF_STRIDE) */
    GC_GLOBAL const int *leaf_ints_in,  /* (n, GC_LEAF_INT_STRIDE) */
    GC_GLOBAL gc_raster *nodes_out)     /* (nodes, GC_CROWD_STRIDE): the first n_nodes are written */
{
    gc_real origin[3];
    origin[0] = origin_x;
    origin[1] = origin_y;
    origin[2] = origin_z;
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        int last = (j + 1) << GC_BVH_LOW;
        gc_raster node[GC_CROWD_STRIDE];
        gc_crowd_clear(node);
        if (last > n) last = n;
        for (int i = j << GC_BVH_LOW; i < last; ++i)
            gc_crowd_leaf(
                node, leaves_in + GC_LEAF_STRIDE * i, leaf_ints_in[GC_LEAF_INT_STRIDE * i + GC_LEAF_INT_rank] & 1, origin);
        for (int k = 0; k < GC_CROWD_STRIDE; ++k) nodes_out[GC_CROWD_STRIDE * j + k] = node[k];
    }
}

GC_KERNEL void b03_body_level(
    int n_nodes,                    /* of this level */
    int n_children,                 /* of the level below */
    int start,                      /* place of this level's first node in the table */
    int child_start,                /* ... of the level below */
    GC_GLOBAL gc_raster *nodes_out) /* (nodes, GC_CROWD_STRIDE) */
{
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        GC_GLOBAL const gc_raster *a = nodes_out + GC_CROWD_STRIDE * (child_start + 2 * j);
        GC_GLOBAL const gc_raster *b = 2 * j + 1 < n_children ? a + GC_CROWD_STRIDE : a;
        GC_GLOBAL gc_raster *node = nodes_out + GC_CROWD_STRIDE * (start + j);
        for (int box = 0; box < GC_CROWD_radius; box += GC_BOX_STRIDE) {
            for (int k = box; k < box + 3; ++k) {
                node[k] = GC_MIN(a[k], b[k]);
                node[k + 3] = GC_MAX(a[k + 3], b[k + 3]);
            }
        }
        for (int k = GC_CROWD_radius; k < GC_CROWD_STRIDE; ++k) node[k] = GC_MAX(a[k], b[k]);
    }
}
