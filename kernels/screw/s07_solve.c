/* s07_solve: candidates to hits.
 * needs: screw/gc_solve.h
 *
 * in:  candidates (pair, kind, features) with a bracket in time that holds all their meetings
 * out: hits: times at which the features meet, face each other and are proper enough
 * One work-item per candidate. See docs/decisions/0003; gc_solve.h has what is done with one. Of many work-items each sifts one candidate, then
 * those that are left are solved side by side: by the first of them the edges, by the last the vertices, so that lanes beside
 * each other do the same.
 * Degenerate: an equation that vanishes for the whole step is a lasting contact, reported once per interval (gc_lasting.h).
 */

/* candidates of which a group sifts one each before it solves what is left */
#define GC_SOLVE_ROOM 256

GC_FN void s07_one(
    const gc_tables *t,
    const gc_hits *o,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    const gc_candidate *c,
    GC_GLOBAL int *state_out)
{
    gc_pair p;
    gc_pair_load(pairs_in, shape_in, screw_in, t, c->pair, &p);
    if (!gc_solve_exact(t, &p, o, c->pair, c->kind, c->a, c->b, c->first, c->last))
        GC_ATOMIC_MAX(state_out + c->pair, GC_PAIR_UNRESOLVED);
}

GC_FN int s07_stays(
    const gc_tables *t,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    const gc_candidate *c)
{
    gc_pair p;
    gc_curve curve;
    gc_walk w;
    gc_real scale;
    gc_pair_load(pairs_in, shape_in, screw_in, t, c->pair, &p);
    return gc_solve_begin(t, &p, c->kind, c->a, c->b, c->first, c->last, &curve, &w, &scale);
}

GC_KERNEL void s07_solve(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, GC_CANDIDATE_STRIDE), a pair below 0: none */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, GC_BRACKET_STRIDE) */
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 4) centred */
    GC_GLOBAL const gc_real *planes_in,
    gc_real min_properness,
    int capacity,
    GC_GLOBAL int *state_out,     /* (n_pairs,) */
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */
    GC_GLOBAL int *hit_out,       /* (capacity, GC_HIT_STRIDE) */
    GC_GLOBAL gc_real *value_out) /* (capacity, GC_HIT_REAL_STRIDE) */
{
    GC_LOCAL int left[GC_SOLVE_ROOM], n_edges, n_points;
    if (GC_SERIAL) {
        gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
        for (int i = GC_ITEM_LO(n_candidates); i < GC_ITEM_HI(n_candidates); i += GC_ITEM_STEP(n_candidates)) {
            gc_candidate c;
            if (candidates_in[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] < 0) continue;
            c = gc_candidate_load(candidates_in, brackets_in, i);
            s07_one(&t, &o, pairs_in, shape_in, screw_in, &c, state_out);
        }
    } else {
        int size = GC_MIN(GC_GROUP_SIZE, GC_SOLVE_ROOM), own = GC_LOCAL_ID, begin = GC_GROUP_ID * size;
        /* what is none stands behind all that are some */
        if (begin < n_candidates && candidates_in[GC_CANDIDATE_STRIDE * begin + GC_CANDIDATE_pair] >= 0) do {
                int i = begin + own;
                if (own == 0) {
                    n_edges = 0;
                    n_points = 0;
                }
                GC_BARRIER();
                if (own < size && i < n_candidates && candidates_in[GC_CANDIDATE_STRIDE * i + GC_CANDIDATE_pair] >= 0) {
                    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                    gc_candidate c = gc_candidate_load(candidates_in, brackets_in, i);
                    if (s07_stays(&t, pairs_in, shape_in, screw_in, &c)) {
                        int at = GC_LOCAL_ADD(c.kind == GC_EE ? &n_edges : &n_points, 1);
                        left[c.kind == GC_EE ? at : size - 1 - at] = i;
                    }
                }
                GC_BARRIER();
                if (own < n_edges || (own >= size - n_points && own < size)) {
                    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                    gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
                    gc_candidate c = gc_candidate_load(candidates_in, brackets_in, left[own]);
                    s07_one(&t, &o, pairs_in, shape_in, screw_in, &c, state_out);
                }
                GC_BARRIER();
                begin += GC_NUM_GROUPS * size;
            } while (begin < n_candidates && candidates_in[GC_CANDIDATE_STRIDE * begin + GC_CANDIDATE_pair] >= 0);
    }
}
