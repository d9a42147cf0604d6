/* c01_clearance: how near the bodies of a pair come, when, and where.
 * needs: clearance/gc_clear_search.h narrow_phase/contact/gc_world.h narrow_phase/contact/gc_body_moment.h
 *
 * in:  screw records (s01), state of the pairs, both meshes with their trees of faces
 * out: of each pair the time, the least distance and a bound from below, features, points and normal in the world, status
 * One work-item per pair, in a fixed order: what is found first of equals is told. Over the whole step, or at a time. Pairs that are settled
 * already (state_in) have no place, and no pair of a limit below 0: only whether it overlaps is asked (of rounded bodies also whether the meshes
 * touch or cross, by less than s09 takes for it). Source: docs/decisions/0112, 0139.
 * Degenerate: faces count as flat, edges that are parallel to 1e-9 have their ends looked at; a pair whose surfaces cross without a known
 * overlap is a HIT without a place.
 */

/* features, points and normal as they are told */
typedef struct {
    int kind, a, b;
    gc_vec on_a, on_b, normal;
} gc_clear_place;

/* what the best features are at q's time */
GC_FN void gc_clear_again(const gc_clear *q, gc_clear_near *o)
{
    const gc_clear_best *best = &q->best;
    if (best->kind == GC_EE) gc_clear_edges(q, best->a, best->b, GC_R(0.0), GC_BVH_FAR, o);
    else if (best->kind == GC_FV) gc_clear_vertex_face(q, 0, best->a, best->b, GC_R(0.0), GC_BVH_FAR, o);
    else gc_clear_vertex_face(q, 1, best->b, best->a, GC_R(0.0), GC_BVH_FAR, o);
}

/* the rate at which they part, at s; they are taken if they are nearer than ever */
GC_FN gc_real gc_clear_rate(gc_clear *q, gc_real s)
{
    gc_clear_near o;
    gc_clear_to(q, s);
    gc_clear_again(q, &o);
    gc_clear_take(q, o.distance, q->best.kind, q->best.a, q->best.b);
    return gc_dot(o.normal, gc_clear_velocity(q, o.on_b));
}

/* The search ends within the margin; the best features are nearest where they neither close nor part. */
GC_LARGE void gc_clear_refine(gc_clear *q)
{
    gc_real low = q->best.s, rate = gc_clear_rate(q, low), high = low, other = rate, step = GC_R(1e-7),
            way = rate < GC_R(0.0) ? GC_R(1.0) : GC_R(-1.0);
    int k, side = 0;
    for (k = 0; k < GC_CLEAR_STEPS && rate * other > GC_R(0.0); ++k) {
        if (high * way >= GC_R(0.5)) return;
        low = high;
        rate = other;
        high = GC_MIN(GC_MAX(high + way * step, GC_R(-0.5)), GC_R(0.5));
        step *= GC_R(2.0);
        other = gc_clear_rate(q, high);
    }
    for (; k < GC_CLEAR_STEPS && rate != GC_R(0.0) && other != GC_R(0.0); ++k) {
        gc_real s = (low * other - high * rate) / (other - rate), now;
        if (!(s > GC_MIN(low, high) && s < GC_MAX(low, high))) return;
        now = gc_clear_rate(q, s);
        if (now * other < GC_R(0.0)) {
            low = high;
            rate = other;
            side = 0;
        } else if (side++) rate *= GC_R(0.5);
        high = s;
        other = now;
    }
}

/* sum of the outward normals of the faces at a feature, in its body's axes; corners: is it a vertex, an edge, a face */
GC_FN gc_vec gc_clear_outward(const gc_clear *q, const gc_mesh *m, int corners, int feature)
{
    gc_vec sum = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    GC_GLOBAL const int *starts = q->t.topology + (corners == 1 ? m->vertex_face_start : m->edge_face_start) + feature;
    int j;
    if (corners == 3) return gc_normal(&q->t, m, feature);
    for (j = starts[0]; j < starts[1]; ++j) {
        int f = corners == 1 ? q->t.topology[m->vertex_faces + j] : q->t.topology[m->edge_faces + j] >> 1;
        sum = gc_add(sum, gc_normal(&q->t, m, f));
    }
    return sum;
}

/* Of features that touch, what is between them has no direction: it is that of the surfaces. */
GC_FN gc_vec gc_clear_surface_normal(const gc_clear *q, const gc_clear_place *p, gc_vec normal)
{
    int of_a = p->kind == GC_FV ? 3 : (p->kind == GC_EE || p->kind == GC_EV ? 2 : 1);
    int of_b = p->kind == GC_VF ? 3 : (p->kind == GC_EE || p->kind == GC_VE ? 2 : 1),
        edge = p->kind == GC_EV || p->kind == GC_VE;
    gc_vec out = gc_sub(
        gc_clear_outward(q, &q->a.mesh, of_a, p->a), gc_rotate(q->now.m, gc_clear_outward(q, &q->b.mesh, of_b, p->b)));
    if (p->kind == GC_VV || edge) {
        gc_vec n = gc_unit(out, normal);
        if (edge) {
            GC_GLOBAL const int *ends = q->t.topology
                                        + (p->kind == GC_EV ? q->a.mesh.edges + 2 * p->a : q->b.mesh.edges + 2 * p->b);
            gc_vec e = p->kind == GC_EV ? gc_sub(gc_clear_vertex_a(q, ends[1]), gc_clear_vertex_a(q, ends[0]))
                                        : gc_sub(gc_clear_vertex_b(q, ends[1]), gc_clear_vertex_b(q, ends[0]));
            n = gc_clear_across(n, e, gc_dot(e, e));
        }
        if (gc_dot(n, n) > GC_R(0.5)) normal = n;
    }
    return gc_dot(normal, out) < GC_R(0.0) ? gc_scale(normal, GC_R(-1.0)) : normal;
}

GC_LARGE void gc_clear_place_of(gc_clear *q, gc_clear_place *p)
{
    gc_clear_near o;
    const int *best[2];
    int k;
    gc_clear_to(q, q->best.s);
    gc_clear_again(q, &o);
    p->kind = q->best.kind;
    p->a = q->best.a;
    p->b = q->best.b;
    p->on_a = o.on_a;
    p->on_b = o.on_b;
    p->normal = o.normal;
    best[0] = &o.end_a;
    best[1] = &o.end_b;
    for (k = 0; k < 2; ++k) {
        const gc_mesh *m = k ? &q->b.mesh : &q->a.mesh;
        int end = *best[k], *feature = k ? &p->b : &p->a;
        if (q->best.kind == GC_EE) {
            if (end) *feature = q->t.topology[m->edges + 2 * *feature + end - 1];
        } else if (end > 0) *feature = q->t.topology[m->face_edges + q->t.topology[m->face_start + *feature] + end - 1];
        else if (end < 0) *feature = q->t.topology[m->face_vertices + q->t.topology[m->face_start + *feature] - end - 1];
    }
    if (q->best.kind == GC_EE) p->kind = o.end_a ? (o.end_b ? GC_VV : GC_VE) : (o.end_b ? GC_EV : GC_EE);
    if (q->best.kind == GC_FV && o.end_a) p->kind = o.end_a > 0 ? GC_EV : GC_VV;
    if (q->best.kind == GC_VF && o.end_b) p->kind = o.end_b > 0 ? GC_VE : GC_VV;
    if (o.distance <= q->touch) p->normal = gc_clear_surface_normal(q, p, o.normal);
}

/* The least over the step: first at its ends, where it often is, and half-way, so that much is too far from then on; round: both rounding radii.
 * Bodies that overlap at the start are so found there. */
GC_FN void gc_clear_step(gc_clear *q, gc_real round)
{
    q->crossing = 1;
    gc_clear_search(q, GC_R(-0.5), GC_R(-0.5));
    if (q->found && q->best.distance < round - q->touch) return;
    q->meets = round + q->touch;
    if (gc_clear_behind(q, GC_R(-0.5))) return;
    q->crossing = 0;
    gc_clear_search(q, GC_R(0.5), GC_R(0.5));
    gc_clear_search(q, GC_R(0.0), GC_R(0.0));
    q->below = GC_BVH_FAR;
    gc_clear_search(q, GC_R(-0.5), GC_R(0.5));
    if (q->found && q->best.distance > GC_MAX(q->meets, q->enough)) gc_clear_refine(q);
}

GC_KERNEL void c01_clearance(
    int n_pairs,
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,       /* (meshes, GC_TREE_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_uchar *spins_in, /* as s08_contacts; read where GC_BODY_MOTION is 1 */
    GC_GLOBAL const gc_real *spin_in,
    GC_GLOBAL const int *state_in,      /* (n_pairs,) GC_PAIR_* bits */
    gc_real moment,                     /* s in [-1/2, 1/2], or above: the whole step */
    gc_real tolerance,                  /* in sizes */
    GC_GLOBAL const gc_real *limits_in, /* (n_pairs, 2) user units: how far or near a pair is beyond these, nobody asks */
    GC_GLOBAL gc_uchar *status_out,     /* (n_pairs,) */
    GC_GLOBAL gc_real *time_out,        /* 0 to 1, or -1: none, and no distance */
    GC_GLOBAL gc_real *distance_out,    /* user units; at a time less the depth where only the roundings overlap */
    GC_GLOBAL gc_real *bound_out,
    GC_GLOBAL int *kind_out,
    GC_GLOBAL int *feature_a_out,
    GC_GLOBAL int *feature_b_out,
    GC_GLOBAL gc_real *point_a_out, /* (n_pairs, 3) world */
    GC_GLOBAL gc_real *point_b_out,
    GC_GLOBAL gc_real *normal_out)
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = pairs_in[2 * i], b = pairs_in[2 * i + 1], state = state_in[i], whole = moment > GC_R(0.5), met;
        GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[a];
        GC_GLOBAL const gc_real *mb = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[b];
        gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), centre = gc_load_vec(ma + GC_MESH_REAL_centre, 0), other;
        gc_real round_a = ma[GC_MESH_REAL_rounding], round_b = mb[GC_MESH_REAL_rounding], round, far, bound;
        gc_clear q;
        gc_clear_place p;
        gc_world w;
        gc_turn turn;
        time_out[i] = distance_out[i] = GC_R(-1.0);
        bound_out[i] = GC_R(0.0);
        kind_out[i] = GC_NO_PLACE;
        feature_a_out[i] = feature_b_out[i] = -1;
        gc_store_vec(point_a_out, i, none);
        gc_store_vec(point_b_out, i, none);
        gc_store_vec(normal_out, i, none);
        status_out[i] = GC_STATUS_INVALID_INPUT;
        if (state & GC_PAIR_INVALID) continue;
        if (state & GC_PAIR_APART) {
            status_out[i] = GC_STATUS_MISS;
            bound_out[i] = GC_MAX(limits_in[2 * i], GC_R(0.0));
            continue;
        }
        gc_clear_motion_load(screw_in + GC_SCREW_STRIDE * i, &q);
        status_out[i] = GC_STATUS_UNRESOLVED;
        if (state & (GC_PAIR_UNRESOLVED | GC_PAIR_LONG) || q.screw.pieces < GC_R(0.0)) continue;
        if (state & GC_PAIR_OVERLAP) {
            status_out[i] = GC_STATUS_INITIAL_OVERLAP;
            time_out[i] = whole ? GC_R(0.0) : moment + GC_R(0.5);
            distance_out[i] = bound_out[i] = whole ? GC_R(0.0) : GC_R(0.0) - (round_a + round_b);
            continue;
        }
        status_out[i] = GC_STATUS_MISS;
        if (limits_in[2 * i] < GC_R(0.0) && !(round_a + round_b > GC_R(0.0))) continue;
        q.t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_clear_side_make(&q.a, headers_in, trees_in, nodes_in, shape_in[a], q.screw.radius_a);
        gc_clear_side_make(&q.b, headers_in, trees_in, nodes_in, shape_in[b], q.screw.radius_b);
        round = (round_a + round_b) * q.screw.shrink;
        far = limits_in[2 * i + 1] * q.screw.shrink;
        gc_clear_begin(&q, tolerance, limits_in[2 * i] * q.screw.shrink + round, far < GC_R(0.0) ? far : far + round);
        /* what touches is found whatever is asked; below 0: do the meshes touch or cross? */
        if (limits_in[2 * i] < GC_R(0.0)) q.best.distance = GC_R(2.0) * q.touch;
        else q.best.distance = GC_MAX(q.best.distance, round + GC_R(2.0) * q.touch);
        if (whole) gc_clear_step(&q, round);
        else {
            q.crossing = 1;
            gc_clear_search(&q, moment, moment);
        }
        /* from here on of the surfaces */
        far = q.best.distance - round;
        bound = GC_MAX(GC_MIN(q.below, q.best.distance), GC_R(0.0)) - round;
        if (whole) bound = GC_MAX(bound, GC_R(0.0));
        if (q.found && q.best.distance <= q.enough) bound = GC_MIN(far, GC_R(0.0));
        met = q.found && q.best.distance <= round + q.touch;
        if (!met) {
            status_out[i] = bound < far - q.margin - GC_R(2.0) * q.rough ? GC_STATUS_UNRESOLVED : GC_STATUS_MISS;
            bound_out[i] = bound * q.screw.scale;
            if (!q.found) {
                if (limits_in[2 * i] >= GC_R(0.0)) bound_out[i] = GC_MIN(bound_out[i], limits_in[2 * i]);
                continue;
            }
        } else {
            /* what is near enough may be deep in each other, but only at the start, or at the time asked, is that its status */
            int deep = q.best.distance < round - q.touch && (!whole || q.best.s == GC_R(-0.5));
            status_out[i] = deep ? GC_STATUS_INITIAL_OVERLAP : GC_STATUS_HIT;
            far = whole ? GC_R(0.0) : GC_MIN(far, GC_R(0.0));
            bound_out[i] = GC_MIN(bound, far) * q.screw.scale;
        }
        time_out[i] = q.best.s + GC_R(0.5);
        distance_out[i] = far * q.screw.scale;
        if (whole && status_out[i] == GC_STATUS_INITIAL_OVERLAP) continue;
        if (q.best.kind == GC_CLEAR_CROSSED) continue;
        gc_clear_place_of(&q, &p);
        kind_out[i] = p.kind;
        feature_a_out[i] = p.a;
        feature_b_out[i] = p.b;
        p.on_a = gc_add(gc_scale(p.on_a, q.screw.scale), centre);
        p.on_b = gc_add(gc_scale(p.on_b, q.screw.scale), centre);
        gc_world_make(
            gc_load_vec(start_position_in, a), gc_load_quat(start_quat_in, a), gc_load_vec(end_position_in, a),
            gc_load_quat(end_quat_in, a), ma[GC_MESH_REAL_radius], ma[GC_MESH_REAL_scale], &w);
        turn = gc_turn_at(w.screw.theta, q.best.s);
        other = p.normal;
        if (gc_spun_to_world(spins_in, spin_in, a, w.p0, w.q0, time_out[i], &p.on_b, &other))
            gc_spun_to_world(spins_in, spin_in, a, w.p0, w.q0, time_out[i], &p.on_a, &p.normal);
        else {
            p.on_a = gc_world_point(&w, turn, p.on_a);
            p.on_b = gc_world_point(&w, turn, p.on_b);
            p.normal = gc_world_direction(&w, turn, p.normal);
        }
        p.on_a = gc_add(p.on_a, gc_scale(p.normal, round_a));
        p.on_b = gc_sub(p.on_b, gc_scale(p.normal, round_b));
        gc_store_vec(point_a_out, i, p.on_a);
        gc_store_vec(point_b_out, i, p.on_b);
        gc_store_vec(normal_out, i, p.normal);
    }
}
