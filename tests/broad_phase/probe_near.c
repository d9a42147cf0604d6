/* probe_near: nodes and times as gc_node_distance.h sees them, which no buffer of the pipeline shows.
 * needs: narrow_phase/near/gc_node_distance.h
 */

GC_KERNEL void probe_near(
    int n,
    GC_GLOBAL const int *item_in,        /* (n, 4) pair, side, node, node of the other side */
    GC_GLOBAL const gc_raster *times_in, /* (n, 2) s from first to last */
    GC_GLOBAL const gc_real *screw_in,   /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    GC_GLOBAL gc_real *screw_out,        /* (n, GC_SCREW_STRIDE) the near frame's */
    GC_GLOBAL gc_raster *near_out,       /* (n, GC_SEEN_STRIDE) */
    GC_GLOBAL gc_raster *view_out,       /* (n, 4) wn gn kappa period */
    GC_GLOBAL gc_raster *times_out)      /* (n, 2) when the other node is in the slab of the node */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int side = item_in[4 * i + 1];
        gc_node_distance p;
        gc_seen a, b;
        gc_raster first = times_in[2 * i], last = times_in[2 * i + 1];
        gc_node_distance_make(screw_in + GC_SCREW_STRIDE * item_in[4 * i], GC_R(-1.0), GC_REFINE_EXACT, GC_R(0.0), &p);
        gc_seen_make(&p, side, nodes_in + GC_NODE_STRIDE * item_in[4 * i + 2], &a);
        gc_seen_make(&p, !side, nodes_in + GC_NODE_STRIDE * item_in[4 * i + 3], &b);
        gc_screw_store(&p.near.screw, screw_out + GC_SCREW_STRIDE * i);
        {
            GC_GLOBAL gc_raster *to = near_out + GC_SEEN_STRIDE * i;
            const gc_extent *from = &a.box;
            GC_STORE(GC_EXTENT, GC_SEEN);
            {
                const gc_seen *from = &a;
                GC_STORE(GC_SEEN_OWN, GC_SEEN);
            }
        }
        view_out[4 * i] = p.near.view.wn;
        view_out[4 * i + 1] = p.near.view.gn;
        view_out[4 * i + 2] = p.near.view.kappa;
        view_out[4 * i + 3] = p.near.view.period;
        gc_slab_when(&p, &a, &b, side ? p.ra : p.rb, side ? GC_F(-1.0) : GC_F(1.0), &first, &last);
        times_out[2 * i] = first;
        times_out[2 * i + 1] = last;
    }
}
