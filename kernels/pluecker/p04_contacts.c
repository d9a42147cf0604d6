/* p04_contacts: all places where movers at rest are near a still world.
 * needs: pluecker/gc_query.h
 *
 * in:  movers with their meshes and poses, how near is near, the world's bodies as in p02
 * out: a list of points in any order, and how many there are, written or not
 * One group per mover. Source: van Waveren, section 2.6: features are moved outwards along their normals.
 */

GC_KERNEL void p04_contacts(
    int n_movers,
    int n_leaves,
    int n_bodies,
    int n_ignored,
    int top,
    int n_kept,
    int capacity, /* points that there is room for */
    gc_real origin_x,
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const int *mover_forms_in, /* as in p02 */
    GC_GLOBAL const gc_real *mover_sizes_in,
    GC_GLOBAL const int *mover_ints_in,
    GC_GLOBAL const gc_real *mover_reals_in,
    GC_GLOBAL const gc_raster *mover_nodes_in,
    GC_GLOBAL const int *forms_in,
    GC_GLOBAL const gc_real *sizes_in,
    GC_GLOBAL const int *ints_in,
    GC_GLOBAL const gc_real *reals_in,
    GC_GLOBAL const gc_raster *form_nodes_in,
    GC_GLOBAL const gc_real *leaves_in,
    GC_GLOBAL const int *leaf_ints_in,
    GC_GLOBAL const gc_raster *crowds_in,
    GC_GLOBAL const gc_real *position_in,
    GC_GLOBAL const gc_real *quat_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_long *ignored_in,
    GC_GLOBAL const int *mover_in,
    GC_GLOBAL const gc_real *start_in,
    GC_GLOBAL const gc_real *turned_in,
    GC_GLOBAL const gc_real *distance_in, /* (n_movers,) beyond the zone */
    GC_GLOBAL const gc_real *zone_in,     /* as in p02 */
    GC_GLOBAL gc_real *kept_scratch,
    GC_GLOBAL gc_real *found_scratch,
    GC_GLOBAL int *found_ints_scratch,
    GC_GLOBAL int *bound_scratch,
    GC_GLOBAL int *points_out,     /* (capacity, GC_POINT_STRIDE) */
    GC_GLOBAL gc_real *places_out, /* (capacity, GC_POINT_REAL_STRIDE) */
    GC_GLOBAL int *count_out)      /* (1,) zero before */
{
    gc_still_world world;
    gc_desk desk;
    gc_mover_at q;
    gc_motion motion = gc_motion_straight(GC_STANDS);
    gc_trip w;
    gc_points points;
    int i = GC_GROUP_LO(n_movers);
    world.forms = gc_forms_of(forms_in, sizes_in, ints_in, reals_in, form_nodes_in);
    gc_still_world_of(
        &world, leaves_in, leaf_ints_in, crowds_in, position_in, quat_in, shape_in, ignored_in, n_ignored, n_bodies,
        origin_x, origin_y, origin_z, n_leaves, top);
    gc_desk_of(&desk, kept_scratch, found_scratch, found_ints_scratch, bound_scratch, n_kept);
    q.forms = gc_forms_of(mover_forms_in, mover_sizes_in, mover_ints_in, mover_reals_in, mover_nodes_in);
    q.points = &points;
    points.ints = points_out;
    points.count = count_out;
    points.reals = places_out;
    points.capacity = capacity;
    if (i >= GC_GROUP_HI(n_movers)) return;
    do {
        gc_found best;
        gc_mover_load(&q, &w, mover_in, start_in, turned_in, zone_in, i);
        points.mover = i;
        points.distance = distance_in[i];
        w.world = &world;
        w.motion = &motion;
        w.way = w.axis = w.pivot = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        w.grown += points.distance;
        gc_query_first(&w, GC_STANDS, &q, &desk, &best);
        i += GC_GROUP_STEP(n_movers);
    } while (i < GC_GROUP_HI(n_movers));
}
