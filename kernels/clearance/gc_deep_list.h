/* gc_deep_list.h: a pair at a time at which it overlaps, and the list of its pairs of features that are past each other.
 * needs: clearance/gc_deep_features.h narrow_phase/contact/gc_world.h narrow_phase/contact/gc_body_moment.h
 */
#ifndef GC_DEEP_LIST_H
#define GC_DEEP_LIST_H

/* a pair at a time */
GC_FN void gc_deep_load(
    gc_clear *q,
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    GC_GLOBAL const int *trees,
    GC_GLOBAL const gc_raster *nodes,
    int pair,
    gc_real moment)
{
    gc_clear_motion_load(screw + GC_SCREW_STRIDE * pair, q);
    gc_clear_side_make(&q->a, q->t.headers, trees, nodes, shape[pairs[2 * pair]], q->screw.radius_a);
    gc_clear_side_make(&q->b, q->t.headers, trees, nodes, shape[pairs[2 * pair + 1]], q->screw.radius_b);
    gc_clear_begin(q, GC_R(0.0), GC_BVH_FAR, GC_R(-1.0));
    gc_clear_to(q, moment);
}

/* the least depth that is an overlap, as s09 has it */
GC_FN gc_real gc_deep_overlap(const gc_clear *q) { return GC_MAX(GC_OVERLAP_DEPTH * q->size, GC_OVERLAP_SPECK * q->rough); }

/* moves B a little, in a direction that no shape has */
GC_FN void gc_deep_nudge(gc_clear *q)
{
    gc_real by = GC_DEEP_NUDGE * gc_deep_overlap(q);
    q->now.q = gc_add(q->now.q, gc_scale(gc_make(GC_R(0.5139748), GC_R(0.7471233), GC_R(0.4214561)), by));
}

/* from A's axes, as q has them, to the world */
typedef struct {
    gc_vec centre, p0;
    gc_quat q0;
    gc_world world;
    gc_turn turn;
    gc_real time, scale;
    int body;
} gc_deep_world;

GC_FN gc_deep_world gc_deep_world_of(
    const gc_clear *q,
    GC_GLOBAL const gc_real *p0,
    GC_GLOBAL const gc_real *q0,
    GC_GLOBAL const gc_real *p1,
    GC_GLOBAL const gc_real *q1,
    GC_GLOBAL const gc_real *reals,
    int body,
    gc_real moment)
{
    gc_deep_world w;
    w.centre = gc_load_vec(reals + GC_MESH_REAL_centre, 0);
    w.p0 = gc_load_vec(p0, body);
    w.q0 = gc_load_quat(q0, body);
    gc_world_make(
        w.p0, w.q0, gc_load_vec(p1, body), gc_load_quat(q1, body), reals[GC_MESH_REAL_radius], reals[GC_MESH_REAL_scale],
        &w.world);
    w.turn = gc_turn_at(w.world.screw.theta, moment);
    w.time = moment + GC_R(0.5);
    w.scale = q->screw.scale;
    w.body = body;
    return w;
}

/* two places and a direction there */
GC_FN void gc_deep_to_world(
    const gc_deep_world *w,
    GC_GLOBAL const gc_uchar *spins,
    GC_GLOBAL const gc_real *spin,
    gc_vec *a,
    gc_vec *b,
    gc_vec *n)
{
    gc_vec other = *n;
    *a = gc_add(gc_scale(*a, w->scale), w->centre);
    *b = gc_add(gc_scale(*b, w->scale), w->centre);
    if (gc_spun_to_world(spins, spin, w->body, w->p0, w->q0, w->time, b, &other)) {
        gc_spun_to_world(spins, spin, w->body, w->p0, w->q0, w->time, a, n);
        return;
    }
    *a = gc_world_point(&w->world, w->turn, *a);
    *b = gc_world_point(&w->world, w->turn, *b);
    *n = gc_world_direction(&w->world, w->turn, *n);
}

/* a list of pairs of features */
typedef struct {
    GC_GLOBAL int *deep, *count;
    GC_GLOBAL gc_real *place;
    GC_GLOBAL const gc_uchar *spins;
    GC_GLOBAL const gc_real *spin;
    gc_deep_world world;
    int capacity, pair;
    int convex;          /* are both bodies? Then only the least counts */
    gc_real least, most; /* nothing that is less deep does, nor what is deeper */
    gc_real best;        /* of two convex bodies: the least found */
} gc_deep_list;

GC_LARGE void gc_deep_store(
    const gc_clear *q,
    const gc_deep_list *l,
    int kind,
    int a,
    int b,
    gc_deep *o,
    GC_GLOBAL int *deep,
    GC_GLOBAL gc_real *place)
{
    gc_deep_to_world(&l->world, l->spins, l->spin, &o->on_a, &o->on_b, &o->normal);
    deep[GC_CANDIDATE_pair] = l->pair;
    deep[GC_CANDIDATE_kind] = kind;
    deep[GC_CANDIDATE_a] = a;
    deep[GC_CANDIDATE_b] = b;
    place[GC_DEEP_depth] = o->depth * q->screw.scale;
    place[GC_DEEP_at_a] = o->at_a;
    place[GC_DEEP_at_b] = o->at_b;
    gc_store_vec(place + GC_DEEP_point_a, 0, o->on_a);
    gc_store_vec(place + GC_DEEP_point_b, 0, o->on_b);
    gc_store_vec(place + GC_DEEP_normal, 0, o->normal);
    place[GC_DEEP_limit] = o->limit * q->screw.scale;
}

GC_FN void gc_deep_add(const gc_clear *q, gc_deep_list *l, int kind, int a, int b, gc_deep *o)
{
    int at;
    if (o->depth > l->most || o->depth <= l->least) return;
    if (l->convex) {
        l->best = GC_MIN(l->best, o->depth);
        l->most = GC_MIN(l->most, o->depth + GC_TOL_TOUCH * q->size);
    }
    at = GC_ATOMIC_ADD(l->count, 1);
    if (at >= 0 && at < l->capacity)
        gc_deep_store(
            q, l, kind, a, b, o, l->deep + GC_CANDIDATE_STRIDE * (gc_long)at, l->place + GC_DEEP_STRIDE * (gc_long)at);
}

#endif
