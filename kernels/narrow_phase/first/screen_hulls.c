/* screen_hulls: the first contact alone, for pairs where it is found beside a plane between their hulls.
 * needs: narrow_phase/first/gc_slab.h
 *
 * in:  screw records (s01), mesh tables
 * out: candidates of the pairs that are settled here, with keep_out 0: pairs whose hulls stay apart, which have none, and
 *      pairs for which all hits up to the first, and a margin after it, are among the candidates. The others are left to the
 *      screen.
 * One group per pair. First planes that separate the hulls, and until when (gc_hull_separation.h); from there on a short
 * time window, with the features that reach through the plane in it (gc_slab.h), whose meetings are solved at once: a hit
 * closes the window. Each is solved again in s07, as a candidate of the screen, so a hit has the same bits as among all
 * (docs/decisions/0058, 0061).
 * Degenerate: hulls that overlap at the start, hulls that meet long before the bodies do, too many features in the slab, or
 * a cap of the solver -> the pair is left to the screen.
 */
GC_FN void gc_hulls_emit(
    const gc_slab *w,
    int pair,
    int capacity,
    GC_GLOBAL int *n_candidates,
    GC_GLOBAL int *candidates,
    GC_GLOBAL gc_raster *brackets)
{
    int n = w->counts[GC_SLAB_N_MET], i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL const int *met = w->met + 4 * i;
        GC_GLOBAL int *candidate;
        int k;
        if (met[3] == 0) continue;
        k = GC_ATOMIC_ADD(n_candidates, 1);
        if (k >= capacity || k < 0) continue;
        candidate = candidates + GC_CANDIDATE_STRIDE * k;
        candidate[GC_CANDIDATE_pair] = pair;
        candidate[GC_CANDIDATE_kind] = met[0];
        candidate[GC_CANDIDATE_a] = met[1];
        candidate[GC_CANDIDATE_b] = met[2];
        brackets[GC_BRACKET_STRIDE * k + GC_BRACKET_first] = gc_slab_first(w);
        brackets[GC_BRACKET_STRIDE * k + GC_BRACKET_last] = gc_slab_last(w);
    }
}

GC_KERNEL void screen_hulls(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers, below 0: none */
    GC_PAIR_ARGS,
    GC_GLOBAL const gc_raster *columns_in, /* per part x, y, z blocks, centred: vertices for culling */
    gc_real min_properness,
    int least_product,                  /* smallest product of face counts for which hulls are looked at */
    int most_vertices,                  /* and largest number of vertices */
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, GC_SLAB_REALS + 2 work-items) */
    GC_GLOBAL int *scratch_ints,        /* (groups, GC_SLAB_INTS + work-items) */
    int capacity,
    GC_GLOBAL const int *state_in,     /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL gc_uchar *keep_out,      /* (n_todo,) 0: the pair is settled, all its candidates are here */
    GC_GLOBAL int *n_candidates_out,   /* (1,) */
    GC_GLOBAL int *candidates_out,     /* (capacity, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL gc_raster *brackets_out) /* (capacity, GC_BRACKET_STRIDE) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[g], settled = 0;
            GC_GLOBAL gc_raster *reals = scratch_reals + (gc_long)GC_SCRATCH_ID * (GC_SLAB_REALS + 2 * GC_GROUP_SIZE);
            GC_GLOBAL int *ints = scratch_ints + (gc_long)GC_SCRATCH_ID * (GC_SLAB_INTS + GC_GROUP_SIZE);
            GC_SHARED gc_hulls h;
            if (pair >= 0 && !state_in[pair]) { /* s01 may have settled it */
                GC_GLOBAL const int *ma = headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair]];
                GC_GLOBAL const int *mb = headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair + 1]];
                if (gc_looks_at_hulls(least_product, most_vertices, ma, mb)) {
                    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                    gc_divide d;
                    if (GC_FILLS) gc_hulls_load(pairs_in, shape_in, screw_in, &t, pair, columns_in, &h);
                    if (GC_FILLS) {
                        h.parts = reals + GC_SLAB_REALS;
                        h.places = ints + GC_SLAB_INTS;
                    }
                    GC_BARRIER();
                    settled = gc_hulls_apart(&h, &d);
                    if (!settled && d.known) {
                        gc_slab w;
                        gc_real margin = GC_R(2e-6) + (gc_real)GC_FIRST_CHAIN * gc_screw_of(&h.pair)->tau;
                        w.counts = ints;
                        w.ids = ints + GC_SLAB_COUNTS;
                        w.met = w.ids + 6 * GC_SLAB_ROOM;
                        w.boxes = reals;
                        settled = gc_slab_search(&h, &d, &t, margin, min_properness, &w);
                        if (settled) gc_hulls_emit(&w, pair, capacity, n_candidates_out, candidates_out, brackets_out);
                    }
                }
            }
            if (GC_LOCAL_ID == 0) keep_out[g] = (gc_uchar)(pair >= 0 && !settled);
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
