/* b02_keys: sort keys for the order of the leaves.
 * needs: common/gc_types.h
 *
 * in:  boxes_in (n, GC_BOX_STRIDE), rank of each box's segment (world), the cube that the codes divide
 * out: keys_out (n,): segment in the high bits, Morton code of the box's centre in the low ones
 * One work-item per box. The host chooses the cube from a sample (b02_sample); centres outside are clamped to its border, so
 * an outlier merely gets a poor place. The order affects speed, never results.
 */

/* bits of v, at most 21, at every third place; what a shift would push out is masked before, as it must not overflow */
GC_FN gc_long gc_spread(gc_long v)
{
    v = (v | (v << 32)) & 0x1f00000000ffff;
    v = (v | ((v & 0xffff) << 16)) & 0x1f0000ff0000ff;
    v = (v | (v << 8)) & 0x100f00f00f00f00f;
    v = (v | ((v & 0xfffffffffffffff) << 4)) & 0x10c30c30c30c30c3;
    v = (v | (v << 2)) & 0x1249249249249249;
    return v;
}

/* number of the cell [0, cells) of x; what is not a number goes to the first */
GC_FN gc_long gc_cell(gc_real x, gc_real origin, gc_real per_length, gc_real cells)
{
    gc_real c = GC_FLOOR((x - origin) * per_length);
    if (!(c > GC_R(0.0))) return 0;
    if (c > cells - GC_R(1.0)) c = cells - GC_R(1.0);
    return (gc_long)c;
}

GC_FN gc_real gc_middle(GC_GLOBAL const gc_real *box, int axis) { return GC_R(0.5) * box[axis] + GC_R(0.5) * box[axis + 3]; }

GC_KERNEL void b02_sample(
    int n_sample,
    int n,
    GC_GLOBAL const gc_real *boxes_in, /* (n, GC_BOX_STRIDE) */
    GC_GLOBAL gc_real *centres_out)    /* (n_sample, 3) centres of boxes spread evenly over the list */
{
    for (int i = GC_ITEM_LO(n_sample); i < GC_ITEM_HI(n_sample); i += GC_ITEM_STEP(n_sample)) {
        int k = (int)((gc_long)i * n / n_sample);
        centres_out[3 * i] = gc_middle(boxes_in + GC_BOX_STRIDE * k, 0);
        centres_out[3 * i + 1] = gc_middle(boxes_in + GC_BOX_STRIDE * k, 1);
        centres_out[3 * i + 2] = gc_middle(boxes_in + GC_BOX_STRIDE * k, 2);
    }
}

GC_KERNEL void b02_keys(
    int n,
    int bits,         /* of the code on each axis, 1..21 */
    int ranked,       /* is there a rank_in? else it is not read */
    gc_real origin_x, /* lower corner of the cube */
    gc_real origin_y,
    gc_real origin_z,
    gc_real per_length,                /* cells per unit of length */
    GC_GLOBAL const gc_real *boxes_in, /* (n, GC_BOX_STRIDE) */
    GC_GLOBAL const int *rank_in,      /* (n,) from 0 */
    GC_GLOBAL gc_long *keys_out)       /* (n,) not negative */
{
    gc_real cells = (gc_real)((gc_long)1 << bits);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *box = boxes_in + GC_BOX_STRIDE * i;
        gc_long key = gc_spread(gc_cell(gc_middle(box, 0), origin_x, per_length, cells)) << 2
                      | gc_spread(gc_cell(gc_middle(box, 1), origin_y, per_length, cells)) << 1
                      | gc_spread(gc_cell(gc_middle(box, 2), origin_z, per_length, cells));
        if (ranked) key |= (gc_long)rank_in[i] << (3 * bits);
        keys_out[i] = key;
    }
}
