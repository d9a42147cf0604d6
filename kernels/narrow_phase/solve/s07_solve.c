/* s07_solve: candidates to hits.
 * needs: narrow_phase/solve/gc_solve_bodies.h
 *
 * in:  candidates (pair, kind, features) with a bracket in time that contains all their meetings
 * out: hits: times at which the features meet, face each other and are proper enough
 * One work-item per candidate; with first_only none that begins later than a hit that is known. See docs/decisions/0003; gc_solve.h solves one candidate. Among many work-items, s07_find.c
 * does the same in three launches.
 * Degenerate: an equation that vanishes for the whole step is a sustained contact, reported once per interval
 * (gc_sustained.h).
 */

#if GC_AT_DISTANCE
/* Candidates at a distance from number i on that are of one piece, together; how many, and 0 in *good if a cap was hit. */
GC_FN int s07_together(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    GC_GLOBAL const int *candidates,
    GC_GLOBAL const gc_raster *brackets,
    int i,
    int end,
    gc_vec sides_a,
    gc_vec sides_b,
    int *good)
{
    gc_gap_work work[GC_GAP_SIDE_BY_SIDE];
    int n = 0, taken = 0, pair = -1, piece = -1;
    for (; n < GC_GAP_SIDE_BY_SIDE && i + taken < end; ++taken) {
        gc_candidate c = gc_candidate_load(candidates, brackets, i + taken);
        int of = gc_piece_when(&p->bodies, GC_R(0.5) * (c.first + c.last));
        if (taken && (c.pair != pair || of != piece)) break;
        pair = c.pair;
        piece = of;
        if (!gc_gap_is_one(p, &c)) continue;
        work[n].c = c;
        work[n++].made = 0;
    }
    *good = !n
            || gc_solve_at_distance(
                t, p, o, work, n, gc_piece_middle(&p->bodies, piece), gc_piece_arm(&p->bodies), sides_a, sides_b);
    return taken;
}
#endif

GC_KERNEL void s07_solve(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, GC_CANDIDATE_STRIDE), a pair below 0: none */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, GC_BRACKET_STRIDE) */
    GC_PAIR_ARGS,
    gc_real min_properness,
    int first_only,
    GC_GLOBAL int *shut_out, /* (n_pairs,) 0 before: how early the first hit is; none where first_only is 0 */
    GC_HITS_ARGS)
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
    gc_pair p;
    int held = -1, good;
    gc_kept_piece kept;
    if (first_only) o.shut = shut_out;
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        gc_candidate c;
        if (candidates_in[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] < 0) continue;
        c = gc_candidate_load(candidates_in, brackets_in, i);
        /* those of a pair stand together */
        if (c.pair != held) gc_pair_load(pairs_in, shape_in, screw_in, &t, c.pair, &p);
        if (c.pair != held) kept.piece = -1;
        held = c.pair;
#if GC_AT_DISTANCE
        if (gc_at_distance(&p)) {
            GC_GLOBAL const int *bodies = pairs_in + 2 * c.pair;
            i += s07_together(
                     &t, &p, &o, candidates_in, brackets_in, i, GC_SERIAL ? GC_ITEM_HI(n_candidates) : i + 1,
                     gc_core_sides(mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[bodies[0]], p.bodies.shrink),
                     gc_core_sides(mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[bodies[1]], p.bodies.shrink), &good)
                 - 1;
        } else
#endif
            good = gc_comes_late(&o, c.pair, c.first - GC_PIECE_OVERLAP, gc_screw_of(&p)->tau)
                   || gc_solve_candidate(&t, &p, &o, &c, &kept);
        if (!good) GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_UNRESOLVED);
    }
}
