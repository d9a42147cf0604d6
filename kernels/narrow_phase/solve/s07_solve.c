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
    int held = -1, good, together;
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
        together = gc_solve_together(
            &t, &p, &o, candidates_in, brackets_in, i, GC_SERIAL ? GC_ITEM_HI(n_candidates) : i + 1,
            mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * c.pair]],
            mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * c.pair + 1]], &good);
        if (together) i += together - 1;
        else
            good = gc_comes_late(&o, c.pair, c.first - GC_PIECE_OVERLAP, gc_screw_of(&p)->tau)
                   || gc_solve_candidate(&t, &p, &o, &c, &kept);
        if (!good) GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_UNRESOLVED);
    }
}
