/* p03_rotate: how far each mover may turn about an axis in a still world, and what it touches first.
 * needs: pluecker/gc_query.h
 *
 * in:  movers with their meshes, where they are, their axes and half the angles, the world's bodies as in p02
 * out: the fraction of the angle, the features that touch, the point, the normal there, and the pose reached
 * One group per mover. Source: van Waveren, sections 2.4, 2.5, 3.3, 3.4. A mover that was stopped before does not turn: what is
 * known of it stays. Degenerate: no angle touches nothing.
 */

GC_KERNEL void p03_rotate(
    int n_movers,
    int about_itself, /* 1: the axis goes through the body's origin where it is now; pivot_in is not read */
    GC_STILL_WORLD_ARGS,
    GC_GLOBAL const gc_real *axis_in,  /* (n_movers, 3) unit vectors */
    GC_GLOBAL const gc_real *pivot_in, /* (n_movers, 3) a point of each axis */
    GC_GLOBAL const gc_real *sine_in,  /* (n_movers, 2) sine and cosine of half the angle, in [0, pi] */
    GC_WORKSPACE_ARGS,
    GC_GLOBAL int *hit_out,          /* (n_movers, GC_FOUND_INT_STRIDE) of what came before; kind 0: nothing is touched */
    GC_GLOBAL gc_real *fraction_out, /* (n_movers,) */
    GC_GLOBAL gc_real *point_out,    /* (n_movers, 3) */
    GC_GLOBAL gc_real *normal_out,   /* (n_movers, 3) */
    GC_GLOBAL gc_real *reached_out,  /* (n_movers, 3) where each is, then where it comes to */
    GC_GLOBAL gc_real *turned_out,   /* (n_movers, 4) */
    GC_GLOBAL int *parts_out)        /* (n_movers,) counts the parts of the motion that were begun */
{
    gc_still_world world;
    gc_workspace desk;
    gc_mover_at q;
    gc_motion motion;
    gc_trip w;
    int i = GC_GROUP_LO(n_movers);
    GC_STILL_WORLD_SET(world, q, desk);
    q.points = 0;
    if (i >= GC_GROUP_HI(n_movers)) return;
    do {
        gc_found best;
        /* written at the end of this item's turn only, behind the group's last barrier */
        int stopped = hit_out[GC_FOUND_INT_STRIDE * i + GC_FOUND_INT_kind] != GC_TOUCH_NONE;
        gc_real s = sine_in[2 * i], c = sine_in[2 * i + 1];
        gc_mover_load(&q, &w, mover_in, reached_out, turned_out, zone_in, i);
        w.world = &world;
        w.motion = &motion;
        w.way = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        w.axis = gc_load_vec(axis_in, i);
        w.pivot = about_itself ? w.position : gc_load_vec(pivot_in, i);
        w.skip |= stopped;
        gc_motion_turn(s, c, &motion);
        gc_query_first(&w, GC_TURNS, &q, &desk, &best);
        if (GC_LOCAL_ID == 0 && !w.skip) {
            gc_found_write(&best, i, hit_out, point_out, normal_out);
            parts_out[i] += 1;
            if (best.kind == GC_TOUCH_LAST) {
                fraction_out[i] = GC_R(1.0);
            } else {
                gc_real r = best.time, most = motion.end;
                gc_real scale = GC_R(1.0) / GC_SQRT(GC_R(1.0) + r * r);
                fraction_out[i] = r < most ? gc_turn_fraction(r, GC_R(2.0) * gc_angle(s, c)) : GC_R(1.0);
                s = r < most ? r * scale : s;
                c = r < most ? scale : c;
            }
            {
                gc_quat turn = gc_quat_make(c, w.axis.x * s, w.axis.y * s, w.axis.z * s), q1;
                gc_vec from = gc_sub(w.position, w.pivot);
                turn = gc_quat_unit(turn);
                q1 = gc_quat_unit(gc_quat_mul(turn, w.quat));
                if (!about_itself) gc_store_vec(reached_out, i, gc_add(w.pivot, gc_quat_rotate(turn, from)));
                turned_out[4 * i] = q1.w;
                turned_out[4 * i + 1] = q1.x;
                turned_out[4 * i + 2] = q1.y;
                turned_out[4 * i + 3] = q1.z;
            }
        }
        i += GC_GROUP_STEP(n_movers);
    } while (i < GC_GROUP_HI(n_movers));
}
