/* s07_find: candidates to hits among many work-items, in place of s07_solve.
 * needs: narrow_phase/solve/gc_solve.h
 *
 * in, out: as s07_solve
 * Three launches: together they need so many registers that a GPU holds an eighth of the work-items it has room for, and
 * each by itself needs a third of them (docs/decisions/0076). s07_find appends the times at which features may meet to the
 * list of hits, untested; s07_test tests them in place, and marks those that are no hits; s07_last solves the few candidates
 * that are sustained contacts.
 */

/* candidates of which a group sifts one each before it solves what is left */
#define GC_SOLVE_ROOM 256

/* Numbers that are kept of a candidate that is sifted: its equation but for the turn, and its scale. They stand in columns. */
#define GC_SIFTED 7

/* Sift a candidate: can it have a meeting in its bracket? */
GC_FN int s07_stays(
    const gc_tables *t,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    const gc_candidate *c,
    gc_curve *curve,
    gc_real *scale)
{
    gc_pair p;
    gc_root_search w;
    gc_pair_load(pairs_in, shape_in, screw_in, t, c->pair, &p);
    return gc_solve_begin(t, &p, c->kind, c->a, c->b, c->first, c->last, curve, &w, scale);
}

/* Append a time at which the features of a candidate may meet. */
GC_FN void s07_append(const gc_hits *o, const gc_candidate *c, gc_real s)
{
    int i = GC_ATOMIC_ADD(o->n_hits, 1);
    if (i >= o->capacity || i < 0) return;
    o->hit[GC_HIT_STRIDE * i + GC_HIT_pair] = c->pair;
    o->hit[GC_HIT_STRIDE * i + GC_HIT_kind] = c->kind | GC_HIT_UNTESTED;
    o->hit[GC_HIT_STRIDE * i + GC_HIT_a] = c->a;
    o->hit[GC_HIT_STRIDE * i + GC_HIT_b] = c->b;
    o->value[GC_HIT_REAL_STRIDE * i + GC_HIT_REAL_s] = s;
}

/* the i-th candidate: its times, or its number in the list of what lasts */
GC_FN void s07_one(
    const gc_tables *t,
    const gc_hits *o,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    const gc_candidate *c,
    int i,
    gc_curve *curve,
    gc_real scale,
    GC_GLOBAL int *state_out,
    GC_GLOBAL int *n_lasting_out,
    GC_GLOBAL int *lasting_out)
{
    gc_pair p;
    gc_root_search w;
    gc_real root, edge;
    int todo;
    gc_pair_load(pairs_in, shape_in, screw_in, t, c->pair, &p);
    curve->theta = gc_screw_of(&p)->theta;
    edge = GC_R(0.5) + gc_screw_of(&p)->tau;
    if (c->kind != GC_EE) gc_root_search_start(&w, curve, -edge, edge, GC_TOL_TOUCH * gc_screw_of(&p)->size * scale);
    todo = gc_solve_todo(t, &p, c->kind, c->a, c->b, curve, scale, &w);
    if (todo == GC_SOLVE_LASTING) lasting_out[GC_ATOMIC_ADD(n_lasting_out, 1)] = i;
    if (todo != GC_SOLVE_ROOTS) return;
    while (gc_root_search_next(&w, curve, &root)) s07_append(o, c, gc_clamp_time(root));
    if (w.capped) GC_ATOMIC_MAX(state_out + c->pair, GC_PAIR_UNRESOLVED);
}

/* One candidate per work-item: a group sifts one each, then those that are left are solved side by side, by the first of its work-items
 * the edges, by the last the vertices, so that lanes beside each other do the same. */
GC_CROWDED_KERNEL void s07_find(
    int n_candidates,
    GC_GLOBAL const int *candidates_in,     /* (n_candidates, GC_CANDIDATE_STRIDE), a pair below 0: none */
    GC_GLOBAL const gc_raster *brackets_in, /* (n_candidates, GC_BRACKET_STRIDE) */
    GC_PAIR_ARGS,
    int capacity,
    GC_GLOBAL int *state_out,     /* (n_pairs,) */
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */
    GC_GLOBAL int *hit_out,       /* (capacity, GC_HIT_STRIDE) */
    GC_GLOBAL gc_real *value_out, /* (capacity, GC_HIT_REAL_STRIDE) */
    GC_GLOBAL int *n_lasting_out, /* (1,) */
    GC_GLOBAL int *lasting_out)   /* (n_candidates,) candidates that last */
{
    GC_LOCAL gc_real sifted[GC_SIFTED * GC_SOLVE_ROOM];
    GC_LOCAL int left[GC_SOLVE_ROOM], n_edges, n_points;
    int k, size = GC_MIN(GC_GROUP_SIZE, GC_SOLVE_ROOM), own = GC_LOCAL_ID, begin = GC_GROUP_ID * size;
    /* a C compiler does not see that what was not written is not read */
    if (GC_SERIAL) {
        for (k = 0; k < GC_SIFTED; ++k) sifted[k * GC_SOLVE_ROOM] = GC_R(0.0);
        left[0] = 0;
    }
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
                gc_curve e;
                gc_real scale;
                if (s07_stays(&t, pairs_in, shape_in, screw_in, &c, &e, &scale)) {
                    int at = GC_LOCAL_ADD(c.kind == GC_EE ? &n_edges : &n_points, 1);
                    at = c.kind == GC_EE ? at : size - 1 - at;
                    left[at] = i;
                    sifted[at] = e.p0;
                    sifted[at + GC_SOLVE_ROOM] = e.p1;
                    sifted[at + 2 * GC_SOLVE_ROOM] = e.p2;
                    sifted[at + 3 * GC_SOLVE_ROOM] = e.p3;
                    sifted[at + 4 * GC_SOLVE_ROOM] = e.q1;
                    sifted[at + 5 * GC_SOLVE_ROOM] = e.q2;
                    sifted[at + 6 * GC_SOLVE_ROOM] = scale;
                }
            }
            GC_BARRIER();
            if (own < n_edges || (own >= size - n_points && own < size)) {
                gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                gc_hits o = gc_hits_of(n_hits_out, n_hits_out, hit_out, value_out, capacity, GC_R(0.0));
                gc_candidate c = gc_candidate_load(candidates_in, brackets_in, left[own]);
                gc_curve e;
                e.p0 = sifted[own];
                e.p1 = sifted[own + GC_SOLVE_ROOM];
                e.p2 = sifted[own + 2 * GC_SOLVE_ROOM];
                e.p3 = sifted[own + 3 * GC_SOLVE_ROOM];
                e.q1 = sifted[own + 4 * GC_SOLVE_ROOM];
                e.q2 = sifted[own + 5 * GC_SOLVE_ROOM];
                s07_one(
                    &t, &o, pairs_in, shape_in, screw_in, &c, left[own], &e, sifted[own + 6 * GC_SOLVE_ROOM], state_out,
                    n_lasting_out, lasting_out);
            }
            GC_BARRIER();
            begin += GC_NUM_GROUPS * size;
        } while (begin < n_candidates && candidates_in[GC_CANDIDATE_STRIDE * begin + GC_CANDIDATE_pair] >= 0);
}

/* One time of the list per work-item. */
GC_CROWDED_KERNEL void s07_test(
    int n_hits,
    GC_PAIR_ARGS,
    gc_real min_properness,
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */
    GC_GLOBAL int *hit_out,       /* (n_hits, GC_HIT_STRIDE) the pair becomes GC_HIT_NO_HIT where it is none */
    GC_GLOBAL gc_real *value_out) /* (n_hits, GC_HIT_REAL_STRIDE) */
{
    for (int i = GC_ITEM_LO(n_hits); i < GC_ITEM_HI(n_hits); i += GC_ITEM_STEP(n_hits)) {
        gc_tables t;
        gc_pair p;
        gc_contact c;
        gc_hit h = gc_hit_load(hit_out, i);
        gc_real s;
        if (h.pair == GC_HIT_NONE) break; /* what is none stands behind all that are some */
        if (h.pair < 0 || !(h.kind & GC_HIT_UNTESTED)) continue;
        t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_pair_load(pairs_in, shape_in, screw_in, &t, h.pair, &p);
        s = value_out[GC_HIT_REAL_STRIDE * i + GC_HIT_REAL_s];
        c = gc_contact_alone(&t, &p, h.kind & GC_HIT_KIND_MASK, h.a, h.b, s);
        if (!gc_hit_inside(&c, &p) || !gc_hit_proper(&c, min_properness)) {
            hit_out[GC_HIT_STRIDE * i + GC_HIT_pair] = GC_HIT_NO_HIT;
            continue;
        }
        GC_ATOMIC_ADD(pair_hits_out + h.pair, 1);
        hit_out[GC_HIT_STRIDE * i + GC_HIT_kind] = (h.kind & GC_HIT_KIND_MASK) | c.flags;
        value_out[GC_HIT_REAL_STRIDE * i + GC_HIT_REAL_end] = s;
        value_out[GC_HIT_REAL_STRIDE * i + GC_HIT_REAL_properness] = c.properness;
    }
}

/* One candidate that lasts per work-item. */
GC_KERNEL void s07_last(
    int n_lasting,
    GC_GLOBAL const int *lasting_in, /* (n_lasting,) numbers of candidates, below 0: none */
    GC_GLOBAL const int *candidates_in,
    GC_GLOBAL const gc_raster *brackets_in,
    GC_PAIR_ARGS,
    gc_real min_properness,
    GC_HITS_ARGS)
{
    for (int i = GC_ITEM_LO(n_lasting); i < GC_ITEM_HI(n_lasting); i += GC_ITEM_STEP(n_lasting)) {
        gc_tables t;
        gc_hits o;
        gc_candidate c;
        gc_pair p;
        if (lasting_in[i] < 0) break; /* what is none stands behind all that are some */
        t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
        c = gc_candidate_load(candidates_in, brackets_in, lasting_in[i]);
        gc_pair_load(pairs_in, shape_in, screw_in, &t, c.pair, &p);
        if (!gc_solve_lasting(&t, &p, &o, c.pair, c.kind, c.a, c.b)) GC_ATOMIC_MAX(state_out + c.pair, GC_PAIR_UNRESOLVED);
    }
}
