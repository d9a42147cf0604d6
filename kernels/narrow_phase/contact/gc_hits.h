/* gc_hits.h: hits in memory, and how a candidate becomes one: the contact equation, the test at a time, the list.
 * needs: narrow_phase/contact/gc_contact.h
 *
 * A hit is a pair of features at a time, or over an interval, at which they meet, face each other and are proper enough.
 */
#ifndef GC_HITS_H
#define GC_HITS_H

typedef struct {
    GC_FIELDS(GC_HIT, int)
} gc_hit;

typedef struct {
    GC_FIELDS(GC_HIT_REAL, gc_real)
} gc_hit_reals;

/* the i-th hit of a list */
GC_FN gc_hit gc_hit_load(GC_GLOBAL const int *hits, int i)
{
    GC_GLOBAL const int *from = hits + GC_HIT_STRIDE * i;
    gc_hit hit, *to = &hit;
    GC_LOAD(GC_HIT, GC_HIT);
    return hit;
}

GC_FN gc_hit_reals gc_reals_load(GC_GLOBAL const gc_real *values, int i)
{
    GC_GLOBAL const gc_real *from = values + GC_HIT_REAL_STRIDE * i;
    gc_hit_reals reals, *to = &reals;
    GC_LOAD(GC_HIT_REAL, GC_HIT_REAL);
    return reals;
}

/* a candidate and its bracket */
typedef struct {
    GC_FIELDS(GC_CANDIDATE, int)
    GC_FIELDS(GC_BRACKET, gc_real)
} gc_candidate;

GC_FN gc_candidate gc_candidate_load(GC_GLOBAL const int *candidates, GC_GLOBAL const gc_raster *brackets, int i)
{
    gc_candidate c, *to = &c;
    {
        GC_GLOBAL const int *from = candidates + GC_CANDIDATE_STRIDE * i;
        GC_LOAD(GC_CANDIDATE, GC_CANDIDATE);
    }
    {
        GC_GLOBAL const gc_raster *from = brackets + GC_BRACKET_STRIDE * i;
        GC_LOAD(GC_BRACKET, GC_BRACKET);
    }
    return c;
}

/* where a launch puts its hits */
typedef struct {
    GC_GLOBAL int *pair_hits; /* (n_pairs,) counts */
    GC_GLOBAL int *n_hits;    /* (1,) */
    GC_GLOBAL int *hit;       /* (capacity, GC_HIT_STRIDE) */
    GC_GLOBAL gc_real *value; /* (capacity, GC_HIT_REAL_STRIDE) */
    int capacity;
    gc_real min_properness;
    GC_GLOBAL int *shut; /* (n_pairs,) how early the first hit is (gc_hit_early); or none */
} gc_hits;

/* the same as arguments of kernels, and the states of pairs */
/* clang-format off */
#define GC_HITS_ARGS \
    int capacity, \
    GC_GLOBAL int *state_out,     /* (n_pairs,) GC_PAIR_* bits */ \
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */ \
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */ \
    GC_GLOBAL int *hit_out,       /* (capacity, GC_HIT_STRIDE) */ \
    GC_GLOBAL gc_real *value_out  /* (capacity, GC_HIT_REAL_STRIDE) */
/* clang-format on */

GC_FN gc_hits gc_hits_of(
    GC_GLOBAL int *pair_hits,
    GC_GLOBAL int *n_hits,
    GC_GLOBAL int *hit,
    GC_GLOBAL gc_real *value,
    int capacity,
    gc_real min_properness)
{
    gc_hits o;
    o.pair_hits = pair_hits;
    o.n_hits = n_hits;
    o.hit = hit;
    o.value = value;
    o.capacity = capacity;
    o.min_properness = min_properness;
    o.shut = 0;
    return o;
}

/* How early s is, as a whole number that grows towards the start of the step, and is 0 for its end: rounded so that it never says
 * earlier. gc_hit_late: back. */
#define GC_EARLY_STEPS 268435456
GC_FN int gc_hit_early(gc_real s) { return (int)GC_FLOOR((GC_R(0.5) - s) * (gc_real)GC_EARLY_STEPS); }
GC_FN gc_raster gc_hit_late(int early) { return GC_F(0.5) - (gc_raster)early / (gc_raster)GC_EARLY_STEPS; }

GC_FN void gc_hit_append(const gc_hits *o, int pair, int kind, int fa, int fb, gc_real s, gc_real end, gc_real properness)
{
    GC_GLOBAL int *hit;
    GC_GLOBAL gc_real *value;
    int i = GC_ATOMIC_ADD(o->n_hits, 1);
    if (o->shut) GC_ATOMIC_MAX(o->shut + pair, gc_hit_early(s));
    if (i >= o->capacity || i < 0) return;
    GC_ATOMIC_ADD(o->pair_hits + pair, 1);
    hit = o->hit + GC_HIT_STRIDE * i;
    hit[GC_HIT_pair] = pair;
    hit[GC_HIT_kind] = kind;
    hit[GC_HIT_a] = fa;
    hit[GC_HIT_b] = fb;
    value = o->value + GC_HIT_REAL_STRIDE * i;
    value[GC_HIT_REAL_s] = s;
    value[GC_HIT_REAL_end] = end;
    value[GC_HIT_REAL_properness] = properness;
}

/* Is a hit at s later than one that is known, by more than by which two may be one? Then it is not the first, if that is all that matters. */
GC_FN int gc_comes_late(const gc_hits *o, int pair, gc_real s, gc_real tau)
{
    return o->shut && s > (gc_real)gc_hit_late(o->shut[pair]) + GC_R(8.0) * tau + GC_PIECE_OVERLAP;
}

GC_FN gc_real gc_clamp_time(gc_real s) { return GC_MIN(GC_MAX(s, GC_R(-0.5)), GC_R(0.5)); }

/* Does a meeting lie inside the borders of both features? */
GC_FN int gc_hit_inside(const gc_contact *c, const gc_pair *p)
{
    return c->inside >= -(GC_TOL_INSIDE * gc_screw_of(p)->size + c->doubt);
}

GC_FN int gc_hit_proper(const gc_contact *c, gc_real min_properness) { return c->facing && c->properness >= min_properness; }

/* Test the pair at s and append it if it is a contact. What lasts no longer than times can be resolved does not last, but half
 * the step always does, so that a body at rest stays at rest however little it turns. */
GC_LARGE void gc_hit_test(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    int pair,
    int kind,
    int fa,
    int fb,
    gc_real s,
    gc_real end,
    int sustained)
{
    gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
    /* what lasts is inside by the construction of its interval */
    if (!sustained && !gc_hit_inside(&c, p)) return;
    if (!gc_hit_proper(&c, o->min_properness)) return;
    if (gc_screw_of(p)->speed > GC_R(0.0) && !(end - s > GC_MIN(GC_R(2.0) * gc_screw_of(p)->tau, GC_R(0.5)))) sustained = 0;
    if (!sustained) end = s;
    gc_hit_append(o, pair, kind | c.flags | (sustained ? GC_HIT_SUSTAINED : 0), fa, fb, s, end, c.properness);
}

/* The contact equation of a candidate; *scale: a bound of what |f| has to be compared with to be a length (for edges
 * the sine of their angle is still missing: gc_most_sine). */
GC_LARGE gc_curve gc_candidate_curve(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real *scale)
{
    const gc_screw *k = gc_screw_of(p);
    if (kind == GC_EE) {
        gc_edges x = gc_edges_load(t, p, fa, fb);
        *scale = x.length_a * x.length_b;
        return gc_line_line(p, x.d, x.p, x.q, x.e);
    } else {
        gc_sides q = gc_sides_of(p, kind, fa, fb);
        gc_vec n = gc_rotate(q.rf, gc_normal(t, q.mesh_f, q.face));
        gc_real d = t->planes[4 * (q.mesh_f->face0 + q.face) + 3] * k->shrink
                    - (n.x * q.tf[0] + n.y * q.tf[1] + n.z * q.tf[2]);
        *scale = GC_R(1.0);
        return gc_point_plane(p, n, d, gc_place(k, q.rv, q.tv, gc_vertex(t, q.mesh_v, q.vertex)), q.way);
    }
}

#endif
