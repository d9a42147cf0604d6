/* p02_translate: how far each mover may go along a straight way through a still world, and what it touches first.
 * needs: pluecker/gc_query.h
 *
 * in:  movers with their meshes and ways, the world's bodies with their meshes and trees
 * out: the fraction of the way, the features that touch, the point, the normal there, and the place reached
 * One group per mover. Source: van Waveren, sections 2.2, 2.3, 3.1, 3.2. Degenerate: no way at all touches nothing.
 */

GC_KERNEL void p02_translate(
    int n_movers,
    GC_STILL_WORLD_ARGS,
    GC_GLOBAL const gc_real *start_in,  /* (n_movers, 3) */
    GC_GLOBAL const gc_real *turned_in, /* (n_movers, 4) */
    GC_GLOBAL const gc_real *way_in,    /* (n_movers, 3) */
    GC_WORKSPACE_ARGS,
    GC_GLOBAL int *hit_out,          /* (n_movers, GC_FOUND_INT_STRIDE); kind 0: none */
    GC_GLOBAL gc_real *fraction_out, /* (n_movers,) */
    GC_GLOBAL gc_real *point_out,    /* (n_movers, 3) */
    GC_GLOBAL gc_real *normal_out,   /* (n_movers, 3) */
    GC_GLOBAL gc_real *reached_out)  /* (n_movers, 3) */
{
    gc_still_world world;
    gc_workspace desk;
    gc_mover_at q;
    gc_motion motion = gc_motion_straight(GC_GOES);
    gc_trip w;
    int i = GC_GROUP_LO(n_movers);
    GC_STILL_WORLD_SET(world, q, desk);
    q.points = 0;
    if (i >= GC_GROUP_HI(n_movers)) return;
    do {
        gc_found best;
        gc_mover_load(&q, &w, mover_in, start_in, turned_in, zone_in, i);
        w.world = &world;
        w.motion = &motion;
        w.way = gc_load_vec(way_in, i);
        w.axis = w.pivot = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        gc_query_first(&w, GC_GOES, &q, &desk, &best);
        if (GC_LOCAL_ID == 0) {
            gc_found_write(&best, i, hit_out, point_out, normal_out);
            fraction_out[i] = best.time;
            gc_store_vec(reached_out, i, gc_add(w.position, gc_scale(w.way, best.time)));
        }
        i += GC_GROUP_STEP(n_movers);
    } while (i < GC_GROUP_HI(n_movers));
}
