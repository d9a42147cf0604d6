/* s01_bodies: the motions of pairs whose bodies move each on its own, and pieces of them for what culls.
 * needs: narrow_phase/frame/gc_relative.h narrow_phase/frame/gc_pieces.h
 *
 * in:  as s01_screw, and which bodies have a straight way and a constant spin in place of the screw between their poses
 * out: motion_out of every pair: both motions (GC_BODIES), or, where they are one screw, that (GC_SCREW) with the numbers of s01_screw;
 *      settled_out as state_out there; a list of pieces, each with its pair, the time it takes, its bodies, and a screw with pads. What culls
 *      works on pieces as on pairs. A pair whose motions are one screw is one piece; pieces in which the balls about both bodies stay apart
 *      are left out. Spheres have none: s07_spheres takes them as they are.
 * s01_gather: what was found out of pieces goes to their pairs. s01_candidates: candidates of pieces become candidates of pairs.
 * Source: docs/decisions/0108. Degenerate: as s01_screw.
 */
GC_FN gc_own_motion s01_own(
    GC_GLOBAL const gc_uchar *spins,
    GC_GLOBAL const gc_real *spin, /* (bodies, 9) */
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *end,
    int body,
    gc_quat q0,
    gc_quat q1,
    gc_vec centre)
{
    gc_vec way;
    if (spins[body]) {
        GC_GLOBAL const gc_real *own = spin + 9 * body;
        return gc_own_spin(q0, gc_load_vec(own, 0), gc_load_vec(own, 1), gc_sub(centre, gc_load_vec(own, 2)));
    }
    way = gc_sub(gc_load_vec(end, body), gc_load_vec(start, body));
    return gc_own_screw(q0, q1, gc_add(way, gc_sub(gc_quat_rotate(q1, centre), gc_quat_rotate(q0, centre))), 0);
}

/* box of all that a body sweeps by its own motion, without a pad */
GC_FN void s01_swept(
    GC_GLOBAL const gc_real *mesh,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    GC_GLOBAL const gc_uchar *spins,
    GC_GLOBAL const gc_real *spin,
    int body,
    gc_real *box)
{
    gc_moving m = s01_moving(mesh, start, start_quat, end, end_quat, body);
    GC_GLOBAL const gc_real *own = spin + 9 * body;
    if (!spins[body]) gc_swept_box(&m, box);
    else
        gc_spun_box(
            &m, gc_load_vec(own, 0), gc_load_vec(own, 1), gc_load_vec(own, 2), gc_load_vec(mesh + GC_MESH_REAL_centre, 0),
            box);
}

/* May two bodies come within a distance for all that the broad phase can tell of own motions? So written that a NaN parts nothing. */
GC_RARE int s01_boxes_meet(
    GC_GLOBAL const gc_real *meshes,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    GC_GLOBAL const gc_uchar *spins,
    GC_GLOBAL const gc_real *spin,
    int a,
    int b,
    gc_real distance)
{
    gc_real one[GC_BOX_STRIDE], other[GC_BOX_STRIDE];
    int k;
    s01_swept(meshes + GC_MESH_REAL_STRIDE * shape[a], start, start_quat, end, end_quat, spins, spin, a, one);
    s01_swept(meshes + GC_MESH_REAL_STRIDE * shape[b], start, start_quat, end, end_quat, spins, spin, b, other);
    for (k = 0; k < 3; ++k)
        if (one[k] > other[3 + k] + distance || other[k] > one[3 + k] + distance) return 0;
    return 1;
}

/* the same of a pair on the screw of its relative poses, on which bodies may pass through places that neither sweeps by itself */
GC_RARE int s01_relative_sweeps_meet(
    GC_GLOBAL const gc_real *mesh_a,
    GC_GLOBAL const gc_real *mesh_b,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    int a,
    int b,
    gc_real distance)
{
    gc_moving move_a = s01_moving(mesh_a, start, start_quat, end, end_quat, a);
    gc_moving move_b = s01_moving(mesh_b, start, start_quat, end, end_quat, b);
    move_a.radius += distance;
    move_a.sides = gc_add(move_a.sides, gc_make(distance, distance, distance));
    return gc_sweeps_meet(&move_a, &move_b);
}

GC_KERNEL void s01_bodies(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,              /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,              /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in,         /* (bodies,) both poses usable */
    GC_GLOBAL const gc_real *start_position_in, /* (bodies, 3) world */
    GC_GLOBAL const gc_real *start_quat_in,     /* (bodies, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_uchar *spins_in,     /* (bodies,) 1: a spin */
    GC_GLOBAL const gc_real *spin_in,       /* (bodies, 9) way, turn, and pivot in mesh coordinates; of spins alone */
    GC_GLOBAL const int *headers_in,        /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REAL_STRIDE) */
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) */
    GC_GLOBAL const gc_real *distance_in,   /* (n_pairs,) user units: from which on its bodies are in contact */
    int relative,                           /* 1: A stands, B moves on the screw of the relative poses */
    int closed,                             /* 1: no mesh has a border, at which no face says what can be approached */
    int beyond, /* 1: contact is where they touch, and beyond the distance is what nobody asks about */
    int apart,  /* 1: pairs on one screw that are in contact where they touch have no pieces */
    int capacity,
    GC_GLOBAL gc_real *motion_out,     /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL int *settled_out,        /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL gc_uchar *touching_out,  /* (n_pairs,) 1: such a pair; where apart is 0 it is not written */
    GC_GLOBAL gc_real *when_out,       /* (n_pairs,) -1/2 where the balls meet when the step begins, for s09; else 1 */
    GC_GLOBAL int *n_pieces_out,       /* (1,) may pass the capacity */
    GC_GLOBAL int *todo_out,           /* (capacity,) number of the piece */
    GC_GLOBAL int *piece_out,          /* (capacity,) pair of each */
    GC_GLOBAL gc_raster *span_out,     /* (capacity, 2) when it begins and ends, s */
    GC_GLOBAL int *pairs_out,          /* (capacity, 2) its bodies */
    GC_GLOBAL int *items_out,          /* (capacity, GC_ITEM_STRIDE) */
    GC_GLOBAL gc_real *screw_out,      /* (capacity, GC_SCREW_STRIDE) */
    GC_GLOBAL int *state_out,          /* (capacity,) 0 */
    GC_GLOBAL gc_real *row_height_out) /* (capacity,) */
{
    GC_ROLLED
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = pairs_in[2 * i], b = pairs_in[2 * i + 1], one, n, j, at, balls, touches;
        GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a];
        GC_GLOBAL const gc_real *mb = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[b];
        gc_vec ca = gc_load_vec(ma + GC_MESH_REAL_centre, 0), cb = gc_load_vec(mb + GC_MESH_REAL_centre, 0), pa, pb;
        gc_vec apart_at_start;
        gc_vec half_apart, chord;
        gc_quat qa0, qa1, qb0, qb1, unit = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
        gc_own_motion own_a, own_b;
        gc_relative r;
        gc_screw k;
        gc_bodies o;
        gc_body_bounds bound;
        gc_body_state from, middle, to, half_way;
        gc_real way, own, size, h, near;
        settled_out[i] = 0;
        when_out[i] = GC_R(1.0);
        if (apart) touching_out[i] = 0;
        if (!valid_in[a] || !valid_in[b]) {
            settled_out[i] = GC_PAIR_INVALID;
            continue;
        }
        k.scale = GC_MAX(ma[GC_MESH_REAL_scale], mb[GC_MESH_REAL_scale]);
        k.shrink = GC_R(1.0) / k.scale;
        k.radius_a = ma[GC_MESH_REAL_radius] * k.shrink;
        k.radius_b = mb[GC_MESH_REAL_radius] * k.shrink;
        pa = gc_load_vec(start_position_in, a);
        pb = gc_load_vec(start_position_in, b);
        qa0 = gc_load_quat(start_quat_in, a);
        qa1 = gc_load_quat(end_quat_in, a);
        qb0 = gc_load_quat(start_quat_in, b);
        qb1 = gc_load_quat(end_quat_in, b);
        gc_relative_pose(pa, qa0, pb, qb0, ca, cb, &r.q0, &r.p0);
        gc_relative_pose(gc_load_vec(end_position_in, a), qa1, gc_load_vec(end_position_in, b), qb1, ca, cb, &r.q1, &r.p1);
        size = GC_MAX(ma[GC_MESH_REAL_radius], mb[GC_MESH_REAL_radius]) * k.shrink;
        chord = gc_sub(r.p1, r.p0);
        way = gc_length(gc_scale(chord, k.shrink));
        apart_at_start = r.p0;
        r.p0 = gc_scale(r.p0, k.shrink);
        r.p1 = gc_scale(r.p1, k.shrink);
        near = (distance_in[i] + (ma[GC_MESH_REAL_rounding] + mb[GC_MESH_REAL_rounding])) * k.shrink;
        if (!(near > GC_TOL_TOUCH * size)) near = GC_R(0.0);
        balls = !beyond && near > GC_R(0.0) && gc_is_ball(headers_in, shape_in[a]) && gc_is_ball(headers_in, shape_in[b]);
        own = gc_most(gc_sub(gc_load_vec(end_position_in, a), pa));
        touches = apart && relative && !(near > GC_R(0.0));
        o.scale = k.scale;
        o.shrink = k.shrink;
        o.radius_a = k.radius_a;
        o.radius_b = k.radius_b;
        o.size = size;
        o.way = way;
        o.angle_a = o.angle_b = GC_R(0.0);
        bound.y3 = GC_R(0.0);
        if (!touches) {
            if (relative) {
                own_a = gc_own_screw(unit, unit, gc_sub(pa, pa), 1);
                own_b = gc_own_screw(r.q0, r.q1, chord, 1);
            } else {
                own_a = s01_own(spins_in, spin_in, start_position_in, end_position_in, a, qa0, qa1, ca);
                own_b = s01_own(spins_in, spin_in, start_position_in, end_position_in, b, qb0, qb1, cb);
                apart_at_start = gc_add(gc_sub(pb, pa), gc_sub(gc_quat_rotate(qb0, cb), gc_quat_rotate(qa0, ca)));
            }
            half_apart = gc_scale(gc_add(apart_at_start, gc_sub(own_b.to_half, own_a.to_half)), k.shrink);
            gc_bodies_make(&own_a, &own_b, apart_at_start, &o, &half_way);
        }
        /* so written that it is also false of what overflowed to infinity or to no number at all */
        n = 0;
        one = 0;
        if (GC_MAX(way, o.way) <= GC_MAX_MOTION * size && own <= GC_MAX_OWN_WAY && own <= GC_MAX_OWN_SIZES * (size * k.scale)
            && GC_MAX(o.angle_a, o.angle_b) <= GC_MOST_TURN) {
            one = relative;
            n = 1;
            if (!balls) gc_screw_make(gc_quat_unit(gc_quat_mul(r.q1, gc_quat_conj(r.q0))), r.q0, r.p0, r.p1, size, &k);
            if (!balls && !touches) {
                bound = gc_bodies_bounds(&o);
                one = one || gc_bodies_commute(&o, &own_a, &own_b, half_apart, &half_way, &k);
                n = one ? 1 : gc_bodies_pieces(&o, &bound, &half_way);
            }
            /* places of motions that are no one screw carry the rounding of all that either body moves */
            if (!one
                && !(o.way <= GC_MAX_OWN_MOTION * size && o.way * GC_MAX(o.angle_a, o.angle_b) <= GC_MAX_OWN_BEND * size))
                n = 0;
        }
        if (n == 0) {
            int meet = relative ? s01_relative_sweeps_meet(
                                      ma, mb, start_position_in, start_quat_in, end_position_in, end_quat_in, a, b,
                                      distance_in[i])
                                : s01_boxes_meet(
                                      mesh_reals_in, shape_in, start_position_in, start_quat_in, end_position_in,
                                      end_quat_in, spins_in, spin_in, a, b, distance_in[i]);
            if (meet || beyond) settled_out[i] = GC_PAIR_UNRESOLVED;
            r = s01_settled(size);
            gc_screw_make(r.q0, r.q0, r.p0, r.p1, size, &k);
            k.pieces = GC_R(-1.0);
            gc_screw_store(&k, motion_out + GC_SCREW_STRIDE * i);
            continue;
        }
        o.pieces = (gc_real)n;
        o.distance = beyond ? GC_R(0.0) : near;
        if (one && !(o.distance > GC_R(0.0))) gc_screw_store(&k, motion_out + GC_SCREW_STRIDE * i);
        else gc_bodies_store(&o, motion_out + GC_SCREW_STRIDE * i);
        if (touches) touching_out[i] = 1;
        if (balls || touches) continue;
        h = GC_R(1.0) / (gc_real)n;
        if (n > 1) gc_bodies_at(&o, GC_R(-0.5), &to);
        for (j = 0; j < n; ++j) {
            gc_raster first = (gc_raster)((gc_real)j / (gc_real)n - GC_R(0.5));
            gc_raster last = (gc_raster)((gc_real)(j + 1) / (gc_real)n - GC_R(0.5));
            if (!one) {
                gc_real nearest;
                middle = half_way;
                if (n > 1) {
                    from = to;
                    gc_bodies_at(&o, (gc_real)(j + 1) / (gc_real)n - GC_R(0.5), &to);
                    gc_bodies_at(&o, ((gc_real)j + GC_R(0.5)) / (gc_real)n - GC_R(0.5), &middle);
                }
                nearest = gc_length(middle.q) - GC_R(0.5) * h * gc_piece_fastest(&bound, &middle, h);
                if (nearest > (o.radius_a + o.radius_b) + near + GC_R(1e-5) * size) continue;
                if (n > 1)
                    gc_screw_make(
                        gc_quat_unit(gc_quat_mul(to.turned, gc_quat_conj(from.turned))), from.turned, from.q, to.q, size,
                        &k);
                gc_piece_fit(&o, &bound, &middle, h, &k);
            }
            if (near > GC_R(0.0)) gc_piece_widen(near, closed, &k);
            at = GC_ATOMIC_ADD(n_pieces_out, 1);
            if (at >= capacity || at < 0) continue;
            todo_out[at] = at;
            piece_out[at] = i;
            span_out[2 * at] = first;
            span_out[2 * at + 1] = last;
            pairs_out[2 * at] = a;
            pairs_out[2 * at + 1] = b;
            items_out[GC_ITEM_STRIDE * at + GC_ITEM_pair] = at;
            items_out[GC_ITEM_STRIDE * at + GC_ITEM_part_a] = shape_in[a];
            items_out[GC_ITEM_STRIDE * at + GC_ITEM_part_b] = shape_in[b];
            gc_screw_store(&k, screw_out + GC_SCREW_STRIDE * at);
            state_out[at] = 0;
            row_height_out[at] = row_height_in[i];
            if (j == 0) when_out[i] = GC_R(-0.5);
        }
    }
}

/* One work-item per piece. */
GC_KERNEL void s01_gather(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) numbers of pieces, below 0: none */
    GC_GLOBAL const int *piece_in,
    GC_GLOBAL const int *state_in, /* (n_pieces,) */
    GC_GLOBAL int *settled_out)    /* (n_pairs,) */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int piece = todo_in[i];
        if (piece >= 0 && state_in[piece]) GC_ATOMIC_MAX(settled_out + piece_in[piece], state_in[piece]);
    }
}

/* One work-item per candidate. The bracket is in the time of the piece, and becomes one in that of the pair. */
GC_KERNEL void s01_candidates(
    int n_candidates,
    GC_GLOBAL const int *piece_in,
    GC_GLOBAL const gc_raster *span_in,
    GC_GLOBAL int *candidates_out,
    GC_GLOBAL gc_raster *brackets_out)
{
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        int piece = candidates_out[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair];
        GC_GLOBAL gc_raster *bracket = brackets_out + GC_BRACKET_STRIDE * i;
        gc_raster first, last;
        if (piece < 0) continue;
        candidates_out[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] = piece_in[piece];
        first = span_in[2 * piece];
        last = span_in[2 * piece + 1];
        bracket[GC_BRACKET_first] = first + (last - first) * (bracket[GC_BRACKET_first] + GC_F(0.5));
        bracket[GC_BRACKET_last] = first + (last - first) * (bracket[GC_BRACKET_last] + GC_F(0.5));
    }
}
