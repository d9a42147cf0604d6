/* p04_contacts: all places where movers at rest are near a still world.
 * needs: pluecker/gc_places.h
 *
 * in:  movers with their meshes and poses, how near is near, the world's bodies as in p02
 * out: a list of points in any order, and how many there are, written or not; of kind GC_TOUCH_NONE: a body whose box comes near
 * One group per mover. Source: van Waveren, section 2.6: features are moved outwards along their normals.
 */

GC_KERNEL void p04_contacts(
    int n_movers,
    int capacity, /* points that there is room for */
    GC_STILL_WORLD_ARGS,
    GC_GLOBAL const gc_real *start_in,
    GC_GLOBAL const gc_real *turned_in,
    GC_GLOBAL const gc_real *distance_in, /* (n_movers, 2) beyond the zone; how deep is still touch */
    GC_WORKSPACE_ARGS,
    GC_GLOBAL int *points_out,     /* (capacity, GC_POINT_STRIDE) */
    GC_GLOBAL gc_real *places_out, /* (capacity, GC_POINT_REAL_STRIDE) */
    GC_GLOBAL int *count_out)      /* (1,) zero before */
{
    gc_still_world world;
    gc_workspace desk;
    gc_mover_at q;
    gc_motion motion = gc_motion_straight(GC_STANDS);
    gc_trip w;
    gc_points points;
    int i = GC_GROUP_LO(n_movers);
    GC_STILL_WORLD_SET(world, q, desk);
    q.points = &points;
    points.ints = points_out;
    points.count = count_out;
    points.reals = places_out;
    points.capacity = capacity;
    if (i >= GC_GROUP_HI(n_movers)) return;
    do {
        int step;
        gc_mover_load(&q, &w, mover_in, start_in, turned_in, zone_in, i);
        gc_places_of(&points, &q, &w, i, distance_in[2 * i], distance_in[2 * i + 1]);
        w.world = &world;
        w.motion = &motion;
        w.way = w.axis = w.pivot = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        q.walk = &w;
        q.kept = desk.kept;
        gc_trip_begin(&w);
        do {
            step = gc_trip_next(&w, motion.end);
            if (step == GC_TRIP_BODY) {
                gc_query_keep(&q, &desk);
                gc_places_body(&q);
            } else if (step == GC_TRIP_LEAF) {
                gc_places_pieces(&q);
            }
            if (GC_GROUP_SIZE > 1) GC_BARRIER();
        } while (step != GC_TRIP_END);
        i += GC_GROUP_STEP(n_movers);
    } while (i < GC_GROUP_HI(n_movers));
}
