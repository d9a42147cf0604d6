/* p02_translate: how far each mover may go along a straight way through a still world, and what it touches first.
 * needs: pluecker/gc_query.h
 *
 * in:  movers with their meshes and ways, the world's bodies with their meshes and trees
 * out: the fraction of the way, the features that touch, the point, the normal there, and the place reached
 * One group per mover. Source: van Waveren, sections 2.2, 2.3, 3.1, 3.2. Degenerate: no way at all touches nothing.
 */

GC_KERNEL void p02_translate(
    int n_movers,
    int n_leaves,
    int n_bodies,
    int n_ignored,
    int top, /* level of the root of the tree over the bodies */
    int n_kept,
    gc_real origin_x, /* what the nodes of that tree count from */
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const int *mover_forms_in,     /* (meshes, GC_FORM_STRIDE) */
    GC_GLOBAL const gc_real *mover_sizes_in, /* (meshes, GC_FORM_SIZE_STRIDE) */
    GC_GLOBAL const int *mover_ints_in,      /* what the forms lead to */
    GC_GLOBAL const gc_real *mover_reals_in,
    GC_GLOBAL const gc_raster *mover_nodes_in,
    GC_GLOBAL const int *forms_in, /* the same of the world */
    GC_GLOBAL const gc_real *sizes_in,
    GC_GLOBAL const int *ints_in,
    GC_GLOBAL const gc_real *reals_in,
    GC_GLOBAL const gc_raster *form_nodes_in,
    GC_GLOBAL const gc_real *leaves_in,   /* (n_leaves, GC_LEAF_STRIDE) */
    GC_GLOBAL const int *leaf_ints_in,    /* (n_leaves, GC_LEAF_INT_STRIDE) */
    GC_GLOBAL const gc_raster *crowds_in, /* (nodes, GC_CROWD_STRIDE) */
    GC_GLOBAL const gc_real *position_in, /* (bodies, 3) */
    GC_GLOBAL const gc_real *quat_in,     /* (bodies, 4) */
    GC_GLOBAL const int *shape_in,        /* (bodies,) */
    GC_GLOBAL const gc_long *ignored_in,  /* (n_ignored,) keys of pairs of bodies that do not meet */
    GC_GLOBAL const int *mover_in,        /* (n_movers, GC_MOVER_STRIDE) */
    GC_GLOBAL const gc_real *start_in,    /* (n_movers, 3) */
    GC_GLOBAL const gc_real *turned_in,   /* (n_movers, 4) */
    GC_GLOBAL const gc_real *way_in,      /* (n_movers, 3) */
    GC_GLOBAL const gc_real *zone_in,     /* (n_movers, 2) its thickness; how far off a place may be */
    GC_GLOBAL gc_real *kept_scratch,      /* (groups, n_kept, 3) */
    GC_GLOBAL gc_real *found_scratch,     /* (groups, items, GC_FOUND_STRIDE) */
    GC_GLOBAL int *found_ints_scratch,    /* (groups, items, GC_FOUND_INT_STRIDE) */
    GC_GLOBAL int *bound_scratch,         /* (groups,) */
    GC_GLOBAL int *hit_out,               /* (n_movers, GC_FOUND_INT_STRIDE); kind 0: none */
    GC_GLOBAL gc_real *fraction_out,      /* (n_movers,) */
    GC_GLOBAL gc_real *point_out,         /* (n_movers, 3) */
    GC_GLOBAL gc_real *normal_out,        /* (n_movers, 3) */
    GC_GLOBAL gc_real *reached_out)       /* (n_movers, 3) */
{
    gc_still_world world;
    gc_desk desk;
    gc_mover_at q;
    gc_motion motion = gc_motion_straight(GC_GOES);
    gc_trip w;
    int i = GC_GROUP_LO(n_movers);
    world.forms = gc_forms_of(forms_in, sizes_in, ints_in, reals_in, form_nodes_in);
    gc_still_world_of(
        &world, leaves_in, leaf_ints_in, crowds_in, position_in, quat_in, shape_in, ignored_in, n_ignored, n_bodies,
        origin_x, origin_y, origin_z, n_leaves, top);
    gc_desk_of(&desk, kept_scratch, found_scratch, found_ints_scratch, bound_scratch, n_kept);
    q.forms = gc_forms_of(mover_forms_in, mover_sizes_in, mover_ints_in, mover_reals_in, mover_nodes_in);
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
