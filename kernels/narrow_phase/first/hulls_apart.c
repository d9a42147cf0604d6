/* hulls_apart: which pairs a plane after the other keeps apart all along, farther than the pads of their motions.
 * needs: narrow_phase/first/gc_hull_separation.h
 *
 * in:  screw records (s01), mesh tables
 * out: keep_out 0 where the hulls of both bodies stay apart
 * One group per pair (gc_hull_separation.h). A pad holds the distance that is asked about (docs/decisions/0112); the planes taken, and so
 * what is kept, are the same for any number of work-items. Degenerate: hulls that come nearer, and meshes of which one has many
 * vertices or far more than the other -> the pair is kept.
 */
GC_KERNEL void hulls_apart(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers, below 0: none */
    GC_PAIR_ARGS,
    GC_GLOBAL const gc_raster *columns_in, /* per part x, y, z blocks, centred: vertices for culling */
    int least_product,                     /* as screen_hulls */
    int most_vertices,
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, 2 work-items) */
    GC_GLOBAL int *scratch_ints,        /* (groups, work-items) */
    GC_GLOBAL const int *state_in,      /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL gc_uchar *keep_out)       /* (n_todo,) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[g], apart = 0;
            GC_SHARED gc_hulls h;
            if (pair >= 0 && !state_in[pair]) {
                GC_GLOBAL const int *ma = headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair]];
                GC_GLOBAL const int *mb = headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair + 1]];
                if (gc_looks_at_hulls(least_product, most_vertices, ma, mb)) {
                    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                    gc_divide d;
                    if (GC_FILLS) gc_hulls_load(pairs_in, shape_in, screw_in, &t, pair, columns_in, &h);
                    if (GC_FILLS) {
                        h.parts = scratch_reals + (gc_long)GC_SCRATCH_ID * (2 * GC_GROUP_SIZE);
                        h.places = scratch_ints + (gc_long)GC_SCRATCH_ID * GC_GROUP_SIZE;
                        h.close = GC_F(0.0); /* nobody looks at features beside the plane */
                    }
                    GC_BARRIER();
                    apart = gc_hulls_apart(&h, &d);
                }
            }
            if (GC_LOCAL_ID == 0) keep_out[g] = (gc_uchar)(pair >= 0 && !apart);
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
