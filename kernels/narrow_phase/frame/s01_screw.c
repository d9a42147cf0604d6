/* s01_screw: screw parameters of every pair.
 * needs: narrow_phase/frame/gc_relative.h narrow_phase/frame/gc_screw.h
 *
 * in:  poses of the bodies (world frame), which mesh each has, the pairs
 * out: screw_out (n_pairs, GC_SCREW_STRIDE), the motion of B seen from A in the screw frame, scaled lengths;
 *      state_out (n_pairs,) GC_PAIR_* bits
 * One work-item per pair. Source: Buss, section 4.1, docs/decisions/0002 (one frame for turn, screw, translation).
 * Degenerate: no rotation -> kappa = 0, x along the translation; a chord along the axis -> any direction across it; no
 * motion at all -> speed = 0; a body whose pose is not valid -> GC_PAIR_INVALID and no numbers; a motion too long for the
 * digits -> GC_PAIR_UNRESOLVED if the bodies' sweeps may meet, else a MISS, as in the broad phase, and in either case a
 * record of bodies at rest and apart (among many work-items s01_long says which). A state other than 0 settles the pair: later
 * stages leave it alone.
 */
GC_CROWDED_KERNEL void s01_screw(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,              /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,              /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in,         /* (bodies,) both poses usable */
    GC_GLOBAL const gc_real *start_position_in, /* (bodies, 3) world */
    GC_GLOBAL const gc_real *start_quat_in,     /* (bodies, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REAL_STRIDE) */
    GC_GLOBAL gc_real *screw_out,           /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL int *state_out)               /* (n_pairs,) */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = pairs_in[2 * i], b = pairs_in[2 * i + 1];
        GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a];
        GC_GLOBAL const gc_real *mb = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[b];
        gc_vec ca = gc_load_vec(ma + GC_MESH_REAL_centre, 0), cb = gc_load_vec(mb + GC_MESH_REAL_centre, 0);
        gc_relative r;
        gc_screw k;
        int settled;
        gc_real shrink, way, own, size, radius_a = ma[GC_MESH_REAL_radius], radius_b = mb[GC_MESH_REAL_radius];
        if (!valid_in[a] || !valid_in[b]) {
            state_out[i] = GC_PAIR_INVALID;
            continue;
        }
        k.scale = GC_MAX(ma[GC_MESH_REAL_scale], mb[GC_MESH_REAL_scale]);
        shrink = GC_R(1.0) / k.scale;
        k.shrink = shrink;
        k.radius_a = radius_a * shrink;
        k.radius_b = radius_b * shrink;
        gc_relative_pose(
            gc_load_vec(start_position_in, a), gc_load_quat(start_quat_in, a), gc_load_vec(start_position_in, b),
            gc_load_quat(start_quat_in, b), ca, cb, &r.q0, &r.p0);
        gc_relative_pose(
            gc_load_vec(end_position_in, a), gc_load_quat(end_quat_in, a), gc_load_vec(end_position_in, b),
            gc_load_quat(end_quat_in, b), ca, cb, &r.q1, &r.p1);
        size = GC_MAX(radius_a, radius_b) * shrink;
        way = gc_length(gc_scale(gc_sub(r.p1, r.p0), shrink));
        r.p0 = gc_scale(r.p0, shrink);
        r.p1 = gc_scale(r.p1, shrink);
        state_out[i] = 0;
        /* so written that it is also true of what overflowed to infinity or to no number at all */
        own = gc_most(gc_sub(gc_load_vec(end_position_in, a), gc_load_vec(start_position_in, a)));
        settled = !(way <= GC_MAX_MOTION * size) || !(own <= GC_MAX_OWN_WAY) || own > GC_MAX_OWN_SIZES * (size * k.scale);
        if (settled) {
            /* among many work-items s01_long asks, as it takes more registers than all else here */
            if (!GC_SERIAL) state_out[i] = GC_PAIR_LONG;
            else if (s01_sweeps_meet(ma, mb, start_position_in, start_quat_in, end_position_in, end_quat_in, a, b))
                state_out[i] = GC_PAIR_UNRESOLVED;
            r = s01_settled(size);
        }
        gc_screw_make(gc_quat_unit(gc_quat_mul(r.q1, gc_quat_conj(r.q0))), r.q0, r.p0, r.p1, size, &k);
        if (settled) k.pieces = GC_R(-1.0);
        gc_screw_store(&k, screw_out + GC_SCREW_STRIDE * i);
    }
}

/* Among many work-items: of pairs that s01_screw found to move too far for the digits, which may meet. One work-item per pair. */
GC_KERNEL void s01_long(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL int *state_out) /* (n_pairs,) GC_PAIR_LONG becomes 0 or GC_PAIR_UNRESOLVED */
{
    GC_ROLLED
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a, b, meet;
        if (state_out[i] != GC_PAIR_LONG) continue;
        a = pairs_in[2 * i];
        b = pairs_in[2 * i + 1];
        meet = s01_sweeps_meet(
            mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a], mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[b],
            start_position_in, start_quat_in, end_position_in, end_quat_in, a, b);
        state_out[i] = meet ? GC_PAIR_UNRESOLVED : 0;
    }
}

/* Pads of the screws of pairs of which nobody asks what is beyond a distance: wider by that. What moves too far for the digits is unresolved.
 * Pads are read by what culls alone. One work-item per pair. */
GC_KERNEL void s01_widen(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *distance_in, /* (n_pairs,) user units */
    GC_GLOBAL gc_real *screw_out,
    GC_GLOBAL int *state_out)
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        GC_GLOBAL gc_real *k = screw_out + GC_SCREW_STRIDE * i;
        gc_real round = mesh_reals_in[GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * i]] + GC_MESH_REAL_rounding]
                        + mesh_reals_in[GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * i + 1]] + GC_MESH_REAL_rounding];
        if (state_out[i]) continue;
        if (k[GC_SCREW_pieces] < GC_R(0.0)) state_out[i] = GC_PAIR_UNRESOLVED;
        else k[GC_SCREW_pad] = (distance_in[i] + round) * k[GC_SCREW_shrink] * GC_R(1.00001);
    }
}
