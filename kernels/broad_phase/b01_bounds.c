/* b01_bounds: bounds of what the tree is to find.
 * needs: broad_phase/gc_swept_volume.h
 *
 * b01_bodies: poses and meshes of the bodies -> centre, radius and rotation of each, and the world box of everything it
 * sweeps in its own screw motion; world frame, user units. One work-item per body. The box contains the arcs of the mesh's
 * bounding ball and of the corners of its box: chords over at most GC_BVH_PIECES pieces, plus the deviation of an arc from
 * its chord.
 * Degenerate: near half a turn the motion may go either way round, and the box contains both; a body with an invalid pose
 * has an empty box; one with coordinates beyond GC_BVH_WILD has the box that contains everything.
 */

/* greatest coordinate without sign; GC_BVH_FAR if one is no number */
GC_FN gc_real gc_largest(gc_vec v)
{
    gc_real x = GC_ABS(v.x), y = GC_ABS(v.y), z = GC_ABS(v.z), xy = GC_MAX(x, y);
    return gc_is_finite(x) && gc_is_finite(y) && gc_is_finite(z) ? GC_MAX(xy, z) : GC_BVH_FAR;
}

GC_KERNEL void b01_bodies(
    int n,
    GC_GLOBAL const int *shape_in,              /* (n,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in,         /* (n,) both poses usable */
    GC_GLOBAL const gc_real *start_position_in, /* (n, 3) world */
    GC_GLOBAL const gc_real *start_quat_in,     /* (n, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    int spinning,                            /* do some bodies spin? Else both of these are not read */
    GC_GLOBAL const gc_uchar *spins_in,      /* (n,) 1: this one */
    GC_GLOBAL const gc_real *spin_in,        /* (n, 9) way, turn, and pivot in mesh coordinates */
    GC_GLOBAL const gc_real *mesh_bounds_in, /* (meshes, GC_BALL_STRIDE) */
    GC_GLOBAL gc_real *bounds_out,           /* (n, GC_BOUND_STRIDE) */
    GC_GLOBAL gc_real *boxes_out)            /* (n, GC_BOX_STRIDE) swept by the own screw; least > greatest: invalid */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *mesh = mesh_bounds_in + GC_BALL_STRIDE * shape_in[i];
        GC_GLOBAL gc_real *bound = bounds_out + GC_BOUND_STRIDE * i, *box = boxes_out + GC_BOX_STRIDE * i;
        gc_vec centre = gc_load_vec(mesh + GC_BALL_centre, 0);
        gc_moving m;
        gc_vec start = gc_load_vec(start_position_in, i), end = gc_load_vec(end_position_in, i);
        GC_GLOBAL const gc_real *own = spin_in + (spinning ? 9 * i : 0);
        gc_real far0, far1, far, swept[GC_BOX_STRIDE];
        int spun;
        m = gc_moving_make(
            centre, mesh[GC_BALL_radius], gc_load_vec(mesh + GC_BALL_sides, 0), start, gc_load_quat(start_quat_in, i), end,
            gc_load_quat(end_quat_in, i));
        far0 = gc_largest(start);
        far1 = gc_largest(end);
        far = GC_MAX(far0, far1) + gc_largest(centre);
        spun = spinning && spins_in[i];
        if (spun) m.way = gc_norm(gc_load_vec(own, 0)) + gc_norm(gc_sub(centre, gc_load_vec(own, 2)));
        m.pad = GC_BVH_PAD * (m.radius + m.way) + GC_BVH_ROUNDING * far;
        gc_store_vec(bound + GC_BOUND_start, 0, m.c0);
        gc_store_vec(bound + GC_BOUND_end, 0, m.c1);
        bound[GC_BOUND_radius] = m.radius + m.pad;
        bound[GC_BOUND_angle] = m.angle;
        bound[GC_BOUND_turn] = m.turn.w;
        gc_store_vec(bound + GC_BOUND_turn + 1, 0, gc_make(m.turn.x, m.turn.y, m.turn.z));
        if (spun) gc_spun_box(&m, gc_load_vec(own, 0), gc_load_vec(own, 1), gc_load_vec(own, 2), centre, swept);
        else gc_swept_box(&m, swept);
        for (int k = 0; k < GC_BOX_STRIDE; ++k) box[k] = swept[k];
        if (valid_in[i] && far <= GC_BVH_WILD && m.way <= GC_BVH_WILD) continue;
        for (int k = GC_BOUND_start; k < GC_BOUND_radius; ++k) bound[k] = GC_R(0.0);
        bound[GC_BOUND_radius] = GC_BVH_FAR;
        bound[GC_BOUND_angle] = GC_R(0.0);
        for (int k = 0; k < 3; ++k) {
            box[k] = valid_in[i] ? -GC_BVH_FAR : GC_BVH_FAR;
            box[3 + k] = -box[k];
        }
    }
}
