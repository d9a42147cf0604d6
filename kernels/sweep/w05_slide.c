/* w05_slide: one step of each character: it walks, slides along what it meets, and falls.
 * needs: sweep/gc_slide.h sweep/gc_character_result.h
 *
 * in:  places, paths and falls of ellipsoids; the world's meshes, bodies and trees
 * out: where each ends, what is left of its velocity and of its fall, what it stands on; world frame
 * One work-item per character. Degenerate: bodies that close in from two sides hold it where it was safe.
 */

GC_KERNEL void w05_slide(
    int n,
    int most,     /* casts of a pass */
    int falls,    /* there is gravity */
    gc_real skin, /* below 0: that share of each one's least radius */
    gc_real step,
    gc_real ground, /* least cosine between up and the normal of ground */
    gc_real up_x,
    gc_real up_y,
    gc_real up_z,
    GC_CAST_SCENE_ARGS,
    GC_GLOBAL const gc_real *start_in,    /* (n, 3) */
    GC_GLOBAL const gc_real *path_in,     /* (n, 3) the velocity, and what carries it */
    GC_GLOBAL const gc_real *velocity_in, /* (n, 3) */
    GC_GLOBAL const gc_real *fall_in,     /* (n, 3) */
    GC_GLOBAL const gc_real *radius_in,   /* (n, 3) */
    GC_GLOBAL const gc_real *turned_in,   /* (n, 4) */
    GC_GLOBAL gc_real *planes_scratch,    /* (n, GC_CHARACTER_PLANES, 4) */
    GC_GLOBAL gc_real *told_out,          /* (n, GC_CHARACTER_RESULT_REAL_STRIDE) */
    GC_GLOBAL int *walked_out)            /* (n, GC_CHARACTER_RESULT_STRIDE) */
{
    gc_cast_scene w = GC_CAST_SCENE_GIVEN();
    gc_cast q = gc_cast_of(GC_CAST_ELLIPSOIDS, start_in, path_in, radius_in, turned_in, radius_in, order_in, order_in, skin);
    gc_rules r;
    r.world = &w;
    r.cast = &q;
    r.up = gc_make(up_x, up_y, up_z);
    r.ground = ground;
    r.step = step;
    r.most = most;
    r.falls = falls;
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL gc_real *told = told_out + GC_CHARACTER_RESULT_REAL_STRIDE * (gc_long)i;
        GC_GLOBAL int *to = walked_out + GC_CHARACTER_RESULT_STRIDE * (gc_long)i;
        gc_character s;
        gc_vec fell, radii = gc_load_vec(radius_in, i);
        r.skin = skin < GC_R(0.0) ? -skin * GC_MIN(GC_MIN(radii.x, radii.y), radii.z) : skin;
        s.query = i;
        s.ints = to;
        s.planes = planes_scratch + 4 * GC_CHARACTER_PLANES * (gc_long)i;
        s.place = gc_load_vec(start_in, i);
        s.velocity = gc_load_vec(velocity_in, i);
        s.since = GC_R(0.0);
        s.share = GC_R(1.0);
        s.casts = s.met = s.barred = s.climbs = 0;
        s.status = GC_STATUS_MISS;
        s.ground = -1;
        s.normal = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        gc_character_step(&r, &s, gc_load_vec(path_in, i), gc_load_vec(fall_in, i), &fell);
        if (s.status == GC_STATUS_MISS && s.met) s.status = GC_STATUS_HIT;
        gc_store_vec(told + GC_CHARACTER_RESULT_REAL_position, 0, s.place);
        gc_store_vec(told + GC_CHARACTER_RESULT_REAL_velocity, 0, s.velocity);
        gc_store_vec(told + GC_CHARACTER_RESULT_REAL_fall_velocity, 0, fell);
        gc_store_vec(told + GC_CHARACTER_RESULT_REAL_ground_normal, 0, s.normal);
        to[GC_CHARACTER_RESULT_status] = s.status;
        to[GC_CHARACTER_RESULT_ground] = s.ground;
        to[GC_CHARACTER_RESULT_casts] = s.casts;
    }
}
