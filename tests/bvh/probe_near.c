/* probe_near: nodes as gc_near.h sees them, which no buffer of the pipeline shows.
 * needs: bvh/gc_near.h
 */

GC_KERNEL void probe_near(
    int n,
    GC_GLOBAL const int *item_in,        /* (n, 3) pair, side, node */
    GC_GLOBAL const gc_real *screw_in,   /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    GC_GLOBAL gc_real *screw_out,        /* (n, GC_SCREW_STRIDE) the near frame's */
    GC_GLOBAL gc_raster *near_out,       /* (n, GC_NEAR_STRIDE) */
    GC_GLOBAL gc_raster *view_out)       /* (n, 4) wn gn kappa period */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int side = item_in[3 * i + 1];
        gc_near_pair p;
        gc_near a;
        gc_near_pair_make(screw_in + GC_SCREW_STRIDE * item_in[3 * i], GC_R(-1.0), &p);
        gc_near_make(
            &p, side ? p.screw.rb : p.screw.ra, side ? p.screw.tb : p.screw.ta, side ? p.screw.ra : p.screw.rb,
            side ? GC_F(1.0) : GC_F(-1.0), nodes_in + GC_NODE_STRIDE * item_in[3 * i + 2], &a);
        gc_screw_store(&p.screw, screw_out + GC_SCREW_STRIDE * i);
        gc_near_store(&a, near_out + GC_NEAR_STRIDE * i);
        view_out[4 * i] = p.view.wn;
        view_out[4 * i + 1] = p.view.gn;
        view_out[4 * i + 2] = p.view.kappa;
        view_out[4 * i + 3] = p.view.period;
    }
}
