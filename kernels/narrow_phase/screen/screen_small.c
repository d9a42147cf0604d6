/* screen_small: the screen of pairs of small meshes, stages s02 to s06 with every feature tested against every other.
 * needs: common/gc_motion.h narrow_phase/screen/gc_small.h narrow_phase/candidates/s02_facing.c
 *
 * in:  screw records (s01), mesh tables, items: a pair and its two meshes, both whole and small (GC_SMALL_VERTICES and so
 *      on)
 * out: candidates of all items in one list, in no particular order
 * One group per item, preferably of as many work-items as a warp has; they share scratch. It does what `screen` does,
 * without rows and pixels, for many work-items with little to do: scratch has a fixed layout, and a few steps replace the
 * lists and hulls. The candidates differ, the contacts are the same.
 */

GC_KERNEL void screen_small(
    int n_todo,
    GC_SCREEN_ARGS,
    gc_real min_properness,
    int refine, /* exact or segments */
    GC_SCREEN_LIST_ARGS)
{
    int g = GC_GROUP_LO(n_todo);
    GC_SHARED gc_screw k;
    GC_SHARED gc_search q;
    GC_SHARED gc_small t;
    gc_scratch s = gc_scratch_of(
        GC_SCRATCH_ID, scratch_reals, scratch_ints, reals_per_group, ints_per_group, need_out, no_room_out);
    s.reals_used = GC_SMALL_REALS;
    s.ints_used = GC_SMALL_INTS;
    if (g < GC_GROUP_HI(n_todo)) {
        gc_small_layout(s.reals, s.ints, &q, &t);
        if (GC_FILLS) {
            q.topology = topology_in;
            q.candidates = candidates_out;
            q.brackets = brackets_out;
            q.n_candidates = n_candidates_out;
            q.capacity = capacity;
        }
    }
    if (g < GC_GROUP_HI(n_todo)) do {
            int item = todo_in[g];
            GC_GLOBAL const int *parts = items_in + GC_ITEM_STRIDE * GC_MAX(item, 0);
            int pair = parts[GC_ITEM_pair], ma = parts[GC_ITEM_part_a], mb = parts[GC_ITEM_part_b];
            s.no_room_out = no_room_out + GC_MAX(item, 0);
            if (item >= 0 && !state_in[pair] && gc_fits(&s)) { /* s01 may have settled it */
                int i, side;
                gc_mesh_fill(headers_in + GC_MESH_STRIDE * ma, &q.mesh_a);
                gc_mesh_fill(headers_in + GC_MESH_STRIDE * mb, &q.mesh_b);
                gc_screw_fill(screw_in + GC_SCREW_STRIDE * pair, &k);
                GC_BARRIER();
                GC_ROLLED
                for (i = GC_LOCAL_ID; i < GC_SMALL_COUNTS; i += GC_GROUP_SIZE) t.counts[i] = 0;
                gc_body_fill(k.ra, k.ta, k.shrink, &q.a);
                gc_body_fill(k.rb, k.tb, k.shrink, &q.b);
                if (GC_FILLS) {
                    q.view = gc_view_make(&k, min_properness);
                    if (refine == GC_REFINE_SEGMENTS) q.view.facing = GC_MAX((gc_raster)GC_DRAWN_FACING, q.view.facing);
                    q.a.turn = -q.view.thetan;
                    q.b.turn = q.view.thetan;
                    q.inverse_length_a = inverse_length_in + edge0_in[ma];
                    q.inverse_length_b = inverse_length_in + edge0_in[mb];
                    q.scale = (gc_raster)k.scale;
                    q.pair = pair;
                }
                GC_BARRIER();
                GC_ROLLED
                for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
                    s02_place(&q.view, &q.a + side, &q.mesh_a + side, vertices_in);
                GC_BARRIER();
                GC_ROLLED
                for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) {
                    s02_turn(&q.view, &q.a + side, &q.mesh_a + side, normals_in);
                    gc_small_edges(&q.view, &q.a + side, &q.mesh_a + side, topology_in, &q.all_ea + 3 * side);
                }
                GC_BARRIER();
                GC_ROLLED
                for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) {
                    const gc_body *body = &q.a + side;
                    const gc_mesh *mesh = &q.mesh_a + side;
                    const gc_list *lists = &q.all_va + 3 * side;
                    gc_small_faces(
                        &q.view, body, mesh, topology_in, lists + 2, t.counts + GC_SMALL_WORDS * side,
                        t.parts + GC_BOUNDS_SIZE * side);
                    gc_small_vertices(&q.view, body, mesh, lists);
                }
                GC_BARRIER();
                gc_bounds_join(
                    t.parts, GC_MIN(q.mesh_a.nf, gc_side_items(0)), GC_MIN(q.mesh_b.nf, gc_side_items(1)), t.hulls);
                GC_BARRIER();
                gc_small_rows(&q, &t);
                GC_BARRIER();
                gc_small_search(&q, &t, t.counts[GC_SMALL_N_ROWS]);
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
