/* s07_start: pairs whose bodies are nearer to each other at the start than the distance at which they are in contact.
 * needs: narrow_phase/contact/gc_feature_distance.h narrow_phase/solve/gc_solve_revolved.h
 *
 * in:  candidates at a distance, with brackets; motions of both bodies of their pairs
 * out: GC_PAIR_OVERLAP in the state of such a pair
 * One work-item per candidate. The closest points of two bodies lie on a face and a vertex or on two edges, ends included, and all that
 * come so near are candidates.
 */

/* the distance of a vertex at x from a face over which it lies, else a large number; scaled, x in the axes of the face's body */
GC_FN gc_real s07_above(const gc_tables *t, const gc_mesh *m, int face, gc_vec x, gc_real shrink, gc_real scale)
{
    gc_real d = t->planes[4 * (m->face0 + face) + 3] * shrink;
    if (!(gc_inside_face(t, m, face, gc_scale(x, scale), shrink) >= GC_R(0.0))) return GC_R(1e30);
    return GC_ABS(gc_dot(gc_normal(t, m, face), x) + d);
}

GC_KERNEL void s07_start(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, GC_CANDIDATE_STRIDE), a pair below 0: none */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, GC_BRACKET_STRIDE) */
    GC_PAIR_ARGS,
    GC_GLOBAL int *state_out) /* (n_pairs,) */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        gc_candidate c;
        gc_mesh a, b;
        gc_bodies o;
        gc_body_state now;
        gc_real near;
        gc_vec x;
        int nearer;
        if (candidates_in[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] < 0) continue;
        c = gc_candidate_load(candidates_in, brackets_in, i);
        if (c.first > GC_R(-0.5) + GC_PIECE_OVERLAP) continue;
        gc_bodies_load(screw_in + GC_SCREW_STRIDE * c.pair, &o);
        if (!(o.distance > GC_R(0.0))) continue;
        if (gc_revolved_start(pairs_in, shape_in, screw_in, &t, &c, &nearer)) {
            if (nearer) GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_OVERLAP);
            continue;
        }
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * c.pair]], &a);
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * c.pair + 1]], &b);
        if (c.kind != GC_EE && (c.kind == GC_FV ? a.nv : b.nv) < 3)
            continue; /* what stands for the face of a point or a line */
        gc_bodies_at(&o, GC_R(-0.5), &now);
        if (c.kind == GC_FV) {
            x = gc_add(now.q, gc_rotate(now.m, gc_scale(gc_vertex(&t, &b, c.b), o.shrink)));
            near = s07_above(&t, &a, c.a, x, o.shrink, o.scale);
        } else if (c.kind == GC_VF) {
            x = gc_rotate_back(now.m, gc_sub(gc_scale(gc_vertex(&t, &a, c.a), o.shrink), now.q));
            near = s07_above(&t, &b, c.b, x, o.shrink, o.scale);
        } else {
            gc_vec p, q, low, high;
            gc_edge_load(&t, &a, c.a, &p, &q);
            gc_edge_load(&t, &b, c.b, &low, &high);
            x = gc_add(now.q, gc_rotate(now.m, gc_scale(low, o.shrink)));
            near = gc_edges_apart(
                gc_scale(gc_sub(q, p), o.shrink), gc_sub(x, gc_scale(p, o.shrink)),
                gc_rotate(now.m, gc_scale(gc_sub(high, low), o.shrink)));
        }
        /* less is what s07 takes for the distance itself */
        if (near < o.distance - GC_TOL_TOUCH * o.size) GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_OVERLAP);
    }
}
