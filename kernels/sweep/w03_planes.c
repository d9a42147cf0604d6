/* w03_planes: the contact planes of each ellipsoid at rest.
 * needs: sweep/gc_contact_planes.h sweep/gc_cast.h
 *
 * in:  places, radii and orientations of ellipsoids; the world's meshes, bodies and trees; the reach
 * out: planes: counted first, then written, in any order, which the host sorts; world frame
 * One work-item per ellipsoid. Degenerate: an ellipsoid whose centre lies on a face has no plane for it.
 */

GC_KERNEL void w03_planes(
    int n,
    int fill, /* 0: they are only counted */
    gc_real reach,
    gc_real since, /* where the bodies are: 0 at their start, 1 at their end */
    GC_CAST_SCENE_ARGS,
    GC_GLOBAL const gc_real *start_in,  /* (n, 3) */
    GC_GLOBAL const gc_real *radius_in, /* (n, 3) */
    GC_GLOBAL const gc_real *turned_in, /* (n, 4) */
    GC_GLOBAL const gc_long *begin_in,  /* (n + 1,) where the planes of each go */
    GC_GLOBAL int *near_out,            /* (planes, GC_NEARBY_STRIDE) */
    GC_GLOBAL gc_real *told_out,        /* (planes, GC_NEARBY_REAL_STRIDE) */
    GC_GLOBAL int *count_out)           /* (n,) */
{
    gc_cast_scene w = GC_CAST_SCENE_GIVEN();
    gc_cast q = gc_cast_of(
        GC_CAST_ELLIPSOIDS, start_in, start_in, radius_in, turned_in, radius_in, order_in, order_in, GC_R(0.0));
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_ball b;
        gc_nearby none[1];
        gc_plane_list to;
        gc_cast_ball(&q, i, 0, &b);
        b.path = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        b.since = since;
        b.share = GC_R(0.0);
        to.count = to.all = to.keep = to.room = 0;
        to.reach = reach;
        to.list = none;
        to.ints = near_out;
        to.reals = told_out;
        if (fill) {
            to.room = (int)(begin_in[i + 1] - begin_in[i]);
            to.ints = near_out + GC_NEARBY_STRIDE * begin_in[i];
            to.reals = told_out + GC_NEARBY_REAL_STRIDE * begin_in[i];
        }
        gc_contact_planes_world(&w, &b, i, &to);
        count_out[i] = to.all;
    }
}
