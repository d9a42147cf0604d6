/* s07_answer: candidates to hits with refine = segments or pixels, in place of s07_solve.
 * needs: narrow_phase/raster/gc_answer.h
 *
 * in:  as s07_solve, and the height of the rows of each pair
 * out: hits, where edges get their times from the screen, without a search for roots (gc_answer.h)
 * One work-item per candidate. See docs/decisions/0004, 0015.
 */

GC_KERNEL void s07_answer(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, GC_BRACKET_STRIDE) */
    GC_PAIR_ARGS,
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) user units */
    gc_real min_properness,
    int refine,
    GC_HITS_ARGS)
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
    for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
        gc_candidate c;
        gc_pair p;
        if (candidates_in[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] < 0) continue;
        c = gc_candidate_load(candidates_in, brackets_in, i);
        gc_pair_load(pairs_in, shape_in, screw_in, &t, c.pair, &p);
        if (!gc_answer(
                &t, &p, &o, c.pair, c.kind, c.a, c.b, c.first, c.last, refine == GC_REFINE_PIXELS,
                row_height_in[c.pair] * gc_screw_of(&p)->shrink))
            GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_UNRESOLVED);
    }
}
