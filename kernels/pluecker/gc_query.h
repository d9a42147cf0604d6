/* gc_query.h: one mover through the world, by the work-items of a group.
 * needs: pluecker/gc_leaf.h
 *
 * All items walk the trees alike; the pairs of features of a leaf are shared between them. After each leaf they agree on
 * the best time so far, rounded up, beyond which nothing is looked at. At the end the least of what they found is the answer.
 */
#ifndef GC_QUERY_H
#define GC_QUERY_H

/* what an item of a group leaves in scratch */
#define GC_FOUND_STRIDE 7
#define GC_FOUND_COLUMNS(ONE, MANY, X) \
    ONE(X, time) \
    MANY(X, point, 3) \
    MANY(X, normal, 3)
GC_RECORD(GC_FOUND)
#define GC_FOUND_INT_STRIDE 4
#define GC_FOUND_INT_COLUMNS(ONE, MANY, X) \
    ONE(X, kind) \
    ONE(X, a) \
    ONE(X, body) \
    ONE(X, b)
GC_RECORD(GC_FOUND_INT)
/* a kind behind all others: nothing was found */
#define GC_TOUCH_LAST 127

/* scratch of a group */
typedef struct {
    GC_GLOBAL gc_real *kept;  /* (n_kept, 3) vertices of the mover as the body sees them */
    GC_GLOBAL gc_real *reals; /* (items, GC_FOUND_STRIDE) */
    GC_GLOBAL int *ints;      /* (items, GC_FOUND_INT_STRIDE) */
    GC_GLOBAL int *bound;     /* how much earlier than never, GC_BOUND_STEPS for at once */
    int n_kept;
} gc_workspace;

#define GC_BOUND_STEPS 1073741824

/* times from 0 to never as steps that rise with them, rounded down; and a time not before all of a step */
GC_FN int gc_bound_step(gc_real time) { return (int)(time / (GC_R(1.0) + time) * GC_R(1073741824.0)); }

GC_FN gc_real gc_bound_time(int step)
{
    gc_real f = ((gc_real)step + GC_R(256.0)) / GC_R(1073741824.0);
    return f < GC_R(0.9999) ? f / (GC_R(1.0) - f) : GC_NEVER;
}

GC_FN void gc_found_store(const gc_found *t, GC_GLOBAL gc_real *reals, GC_GLOBAL int *ints)
{
    reals[GC_FOUND_time] = t->time;
    gc_store_vec(reals + GC_FOUND_point, 0, t->point);
    gc_store_vec(reals + GC_FOUND_normal, 0, t->normal);
    ints[GC_FOUND_INT_kind] = t->kind;
    ints[GC_FOUND_INT_a] = t->a;
    ints[GC_FOUND_INT_body] = t->body;
    ints[GC_FOUND_INT_b] = t->b;
}

GC_FN void gc_found_least(gc_found *t, GC_GLOBAL const gc_real *reals, GC_GLOBAL const int *ints)
{
    if (!gc_found_before(
            t, reals[GC_FOUND_time], ints[GC_FOUND_INT_kind], ints[GC_FOUND_INT_a], ints[GC_FOUND_INT_body],
            ints[GC_FOUND_INT_b]))
        return;
    t->time = reals[GC_FOUND_time];
    t->point = gc_load_vec(reals + GC_FOUND_point, 0);
    t->normal = gc_load_vec(reals + GC_FOUND_normal, 0);
    t->kind = ints[GC_FOUND_INT_kind];
    t->a = ints[GC_FOUND_INT_a];
    t->body = ints[GC_FOUND_INT_body];
    t->b = ints[GC_FOUND_INT_b];
}

/* A ball that turns: how high along the axis it is, and how far from it, which both stay. Its path is a ring. */
typedef struct {
    gc_real high, far, radius;
    gc_vec at;
} gc_ring;

GC_FN gc_ring gc_ring_of(const gc_stand *here, gc_vec at, gc_vec sides)
{
    gc_vec from = gc_sub(at, here->pivot), off;
    gc_ring b;
    b.high = gc_dot(here->axis, from);
    off = gc_sub(from, gc_scale(here->axis, b.high));
    b.far = GC_SQRT(gc_dot(off, off));
    b.radius = GC_SQRT(gc_dot(sides, sides));
    b.at = at;
    return b;
}

/* May a ball that turns up to the tangent `last` of half the angle come as near as `grown` to one that stands? Much cheaper than the
 * boxes that a turn sweeps. */
GC_FN int gc_ring_comes(const gc_ring *b, const gc_ring *other, gc_real grown, gc_real last)
{
    gc_real reach = b->radius + other->radius + grown, chord;
    gc_vec apart = gc_sub(b->at, other->at);
    if (GC_ABS(b->high - other->high) > reach || GC_ABS(b->far - other->far) > reach) return 0;
    chord = GC_R(2.0) * b->far * (last / GC_SQRT(GC_R(1.0) + last * last));
    reach += chord * GC_R(1.0001);
    return !(gc_dot(apart, apart) > reach * reach * GC_R(1.0001));
}

/* The pieces of a large mover that may come to a leaf, one after the other; a small mover is one piece, and needs no walk. */
typedef struct {
    int node, pieces;
    gc_vec low, high; /* box of the leaf */
    gc_ring leaf;
} gc_pieces;

GC_FN int gc_query_whole(const gc_mover_at *q) { return q->form.height <= GC_FORM_PIECE - GC_FORM_LEAF; }

/* the box of the leaf that the walk has come to */
GC_FN void gc_leaf_box(const gc_trip *w, gc_vec *low, gc_vec *high)
{
    GC_GLOBAL const gc_raster *box = w->world->forms.nodes + w->form.node
                                     + GC_BOX_STRIDE * ((w->first >> GC_FORM_LEAF) + (1 << w->form.height));
    *low = gc_make((gc_real)box[0], (gc_real)box[1], (gc_real)box[2]);
    *high = gc_make((gc_real)box[3], (gc_real)box[4], (gc_real)box[5]);
}

GC_FN void gc_pieces_begin(const gc_mover_at *q, gc_pieces *p)
{
    const gc_trip *w = q->walk;
    p->node = 1;
    p->pieces = 1 << (q->form.height - (GC_FORM_PIECE - GC_FORM_LEAF));
    gc_leaf_box(w, &p->low, &p->high);
    p->leaf = gc_ring_of(
        &w->here, gc_scale(gc_add(p->low, p->high), GC_R(0.5)), gc_scale(gc_sub(p->high, p->low), GC_R(0.5)));
}

/* 1: faces [*first, *end) are such a piece. A walk without a stack: behind a node comes its neighbour to the right, or that of the first
 * ancestor that has one. */
GC_FN int gc_pieces_next(gc_pieces *p, const gc_mover_at *q, int mode, gc_real last, int *first, int *end)
{
    const gc_trip *w = q->walk;
    while (p->node > 0) {
        int node = p->node, comes = 0;
        GC_GLOBAL const gc_raster *box = q->forms.nodes + q->form.node + GC_BOX_STRIDE * node;
        if (box[0] <= box[3]) {
            gc_swept part;
            gc_vec at = gc_make(
                GC_R(0.5) * ((gc_real)box[0] + (gc_real)box[3]), GC_R(0.5) * ((gc_real)box[1] + (gc_real)box[4]),
                GC_R(0.5) * ((gc_real)box[2] + (gc_real)box[5]));
            gc_vec sides = gc_make((gc_real)box[3] - at.x, (gc_real)box[4] - at.y, (gc_real)box[5] - at.z);
            if (mode == GC_TURNS) {
                gc_ring ring = gc_ring_of(&w->here, gc_stand_over(&w->here, at), sides);
                comes = gc_ring_comes(&ring, &p->leaf, w->grown, last);
            } else comes = 1;
            if (comes) {
                gc_swept_make(&w->here, w->motion, at, sides, w->grown, &part);
                comes = gc_swept_comes(&part, w->motion, p->low, p->high, last) < GC_NEVER;
            }
        }
        if (comes && node < p->pieces) {
            p->node = 2 * node;
            continue;
        }
        *first = (node - p->pieces) << GC_FORM_PIECE;
        *end = GC_MIN(*first + (1 << GC_FORM_PIECE), q->form.faces);
        while (node & 1 && node > 1) node >>= 1;
        p->node = node > 1 ? node + 1 : 0;
        if (comes) return 1;
    }
    return 0;
}

/* the pieces of the mover that may come to the leaf, each against it */
GC_FN void gc_query_leaf(gc_mover_at *q, int mode, gc_found *best, gc_real last)
{
    gc_pieces p;
    int first, end;
    if (gc_query_whole(q)) {
        gc_first_leaf(q, mode, best, 0, q->form.faces);
        return;
    }
    gc_pieces_begin(q, &p);
    while (gc_pieces_next(&p, q, mode, last, &first, &end)) gc_first_leaf(q, mode, best, first, end);
}

/* the mover's first vertices in the frame of the body that the walk has come to, by all items of the group */
GC_FN void gc_query_keep(gc_mover_at *q, const gc_workspace *desk)
{
    int n = GC_MIN(q->form.vertices, desk->n_kept);
    q->n_kept = 0;
    for (int k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) gc_store_vec(desk->kept, k, gc_first_place(q, k));
    q->n_kept = n;
}

/* The first touch of a mover up to the end of its motion; all items of the group return the same. `w` has its pose, motion and
 * what to look at. */
GC_LARGE void gc_query_first(gc_trip *w, int mode, gc_mover_at *q, const gc_workspace *desk, gc_found *best)
{
    gc_real last = w->motion->end;
    int step;
    best->time = last;
    best->kind = GC_TOUCH_LAST;
    best->a = best->body = best->b = 0;
    best->point = best->normal = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    q->walk = w;
    q->kept = desk->kept;
    if (GC_GROUP_SIZE > 1) {
        if (GC_LOCAL_ID == 0) *desk->bound = 0;
        GC_BARRIER();
    }
    gc_trip_begin(w);
    do {
        step = gc_trip_next(w, last);
        if (step == GC_TRIP_BODY) gc_query_keep(q, desk);
        else if (step == GC_TRIP_LEAF) gc_query_leaf(q, mode, best, last);
        if (GC_GROUP_SIZE > 1) {
            if (step == GC_TRIP_LEAF && best->kind != GC_TOUCH_LAST)
                GC_ATOMIC_MAX(desk->bound, GC_BOUND_STEPS - gc_bound_step(best->time));
            GC_BARRIER();
            if (*desk->bound > 0) last = GC_MIN(w->motion->end, gc_bound_time(GC_BOUND_STEPS - *desk->bound));
            GC_BARRIER();
        } else last = best->time;
    } while (step != GC_TRIP_END);
    if (GC_GROUP_SIZE > 1) {
        gc_found_store(best, desk->reals + GC_FOUND_STRIDE * GC_LOCAL_ID, desk->ints + GC_FOUND_INT_STRIDE * GC_LOCAL_ID);
        GC_BARRIER();
        for (int k = 0; k < GC_GROUP_SIZE; ++k)
            gc_found_least(best, desk->reals + GC_FOUND_STRIDE * k, desk->ints + GC_FOUND_INT_STRIDE * k);
        GC_BARRIER();
    }
}

/* ints of a mover */
#define GC_MOVER_STRIDE 7
#define GC_MOVER_COLUMNS(ONE, MANY, X) \
    ONE(X, shape) \
    ONE(X, body) /* of the world, the only one to look at; -1: all */ \
    ONE(X, own)  /* ... that it passes through; -1: none */ \
    ONE(X, skip) /* 1: it does not move */ \
    ONE(X, rank) /* of its world, and bits, as a leaf of the tree over bodies has them; 0: in every world */ \
    ONE(X, group) \
    ONE(X, mask)
GC_RECORD(GC_MOVER)

/* what p02 to p04 are all given: the still world, the movers and their meshes */
/* clang-format off */
#define GC_STILL_WORLD_ARGS \
    int n_leaves, \
    int n_bodies, \
    int n_ignored, \
    int top,          /* level of the root of the tree over the bodies */ \
    int n_kept,       /* vertices of a mover that a group keeps */ \
    gc_real origin_x, /* what the nodes of that tree count from */ \
    gc_real origin_y, \
    gc_real origin_z, \
    GC_GLOBAL const int *mover_forms_in,     /* (meshes, GC_FORM_STRIDE) */ \
    GC_GLOBAL const gc_real *mover_sizes_in, /* (meshes, GC_FORM_SIZE_STRIDE) */ \
    GC_GLOBAL const int *mover_ints_in,      /* what the forms lead to */ \
    GC_GLOBAL const gc_real *mover_reals_in, \
    GC_GLOBAL const gc_raster *mover_nodes_in, \
    GC_GLOBAL const int *forms_in,           /* the same of the world */ \
    GC_GLOBAL const gc_real *sizes_in, \
    GC_GLOBAL const int *ints_in, \
    GC_GLOBAL const gc_real *reals_in, \
    GC_GLOBAL const gc_raster *form_nodes_in, \
    GC_GLOBAL const gc_real *leaves_in,      /* (n_leaves, GC_LEAF_STRIDE) */ \
    GC_GLOBAL const int *leaf_ints_in,       /* (n_leaves, GC_LEAF_INT_STRIDE) */ \
    GC_GLOBAL const gc_raster *crowds_in,    /* (nodes, GC_CROWD_STRIDE) */ \
    GC_GLOBAL const gc_real *position_in,    /* (bodies, 3) */ \
    GC_GLOBAL const gc_real *quat_in,        /* (bodies, 4) */ \
    GC_GLOBAL const int *shape_in,           /* (bodies,) */ \
    GC_GLOBAL const gc_long *ignored_in,     /* (n_ignored,) keys of pairs of bodies that do not meet */ \
    GC_GLOBAL const int *mover_in,           /* (n_movers, GC_MOVER_STRIDE) */ \
    GC_GLOBAL const gc_real *zone_in         /* (n_movers, 2) its thickness; how far off a place may be */
/* and what their groups keep for themselves */
#define GC_WORKSPACE_ARGS \
    GC_GLOBAL gc_real *kept_scratch,   /* (groups, n_kept, 3) */ \
    GC_GLOBAL gc_real *found_scratch,  /* (groups, items, GC_FOUND_STRIDE) */ \
    GC_GLOBAL int *found_ints_scratch, /* (groups, items, GC_FOUND_INT_STRIDE) */ \
    GC_GLOBAL int *bound_scratch       /* (groups,) */
/* clang-format on */

/* the same as a world, a mover's forms and a desk */
#define GC_STILL_WORLD_SET(world, q, desk) \
    world.forms = gc_forms_of(forms_in, sizes_in, ints_in, reals_in, form_nodes_in); \
    gc_still_world_of( \
        &world, leaves_in, leaf_ints_in, crowds_in, position_in, quat_in, shape_in, ignored_in, n_ignored, n_bodies, \
        origin_x, origin_y, origin_z, n_leaves, top); \
    gc_workspace_of(&desk, kept_scratch, found_scratch, found_ints_scratch, bound_scratch, n_kept); \
    q.forms = gc_forms_of(mover_forms_in, mover_sizes_in, mover_ints_in, mover_reals_in, mover_nodes_in)

GC_FN void gc_still_world_of(
    gc_still_world *s,
    GC_GLOBAL const gc_real *leaves,
    GC_GLOBAL const int *leaf_ints,
    GC_GLOBAL const gc_raster *crowds,
    GC_GLOBAL const gc_real *position,
    GC_GLOBAL const gc_real *quat,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_long *ignored,
    int n_ignored,
    int n_bodies,
    gc_real x,
    gc_real y,
    gc_real z,
    int n,
    int top)
{
    s->leaves = leaves;
    s->leaf_ints = leaf_ints;
    s->crowds = crowds;
    s->position = position;
    s->quat = quat;
    s->shape = shape;
    s->ignored = ignored;
    s->n_ignored = n_ignored;
    s->n_bodies = n_bodies;
    s->origin[0] = x;
    s->origin[1] = y;
    s->origin[2] = z;
    s->n = n;
    s->top = top;
}

GC_FN void gc_workspace_of(
    gc_workspace *d,
    GC_GLOBAL gc_real *kept,
    GC_GLOBAL gc_real *reals,
    GC_GLOBAL int *ints,
    GC_GLOBAL int *bound,
    int n_kept)
{
    d->kept = kept + 3 * (gc_long)n_kept * GC_GROUP_ID;
    d->reals = reals + GC_FOUND_STRIDE * (gc_long)GC_GROUP_SIZE * GC_GROUP_ID;
    d->ints = ints + GC_FOUND_INT_STRIDE * (gc_long)GC_GROUP_SIZE * GC_GROUP_ID;
    d->bound = bound + GC_GROUP_ID;
    d->n_kept = n_kept;
}

/* mover i at its pose, without a motion */
GC_FN void gc_mover_load(
    gc_mover_at *q,
    gc_trip *w,
    GC_GLOBAL const int *movers,
    GC_GLOBAL const gc_real *position,
    GC_GLOBAL const gc_real *quat,
    GC_GLOBAL const gc_real *zone,
    int i)
{
    GC_GLOBAL const int *ints = movers + GC_MOVER_STRIDE * i;
    GC_GLOBAL const gc_real *size;
    gc_form_load(&q->forms, ints[GC_MOVER_shape], &q->form);
    size = gc_form_size(&q->forms, &q->form);
    q->zone.expel = zone[2 * i];
    q->zone.lateral = q->zone.behind = GC_ZONE_LATERAL * q->zone.expel;
    q->zone.doubt = zone[2 * i + 1];
    q->n_kept = 0;
    w->position = gc_load_vec(position, i);
    w->quat = gc_load_quat(quat, i);
    w->centre = gc_load_vec(size + GC_FORM_SIZE_centre, 0);
    w->sides = gc_load_vec(size + GC_FORM_SIZE_sides, 0);
    w->grown = GC_ZONE_REACH * q->zone.expel;
    w->body = ints[GC_MOVER_body];
    w->own = ints[GC_MOVER_own];
    w->skip = ints[GC_MOVER_skip];
    w->rank = ints[GC_MOVER_rank];
    w->group = ints[GC_MOVER_group];
    w->mask = ints[GC_MOVER_mask];
}

GC_FN void gc_found_write(const gc_found *t, int i, GC_GLOBAL int *hit, GC_GLOBAL gc_real *point, GC_GLOBAL gc_real *normal)
{
    int none = t->kind == GC_TOUCH_LAST;
    GC_GLOBAL int *to = hit + GC_FOUND_INT_STRIDE * i;
    to[GC_FOUND_INT_kind] = none ? GC_TOUCH_NONE : t->kind;
    to[GC_FOUND_INT_a] = none ? -1 : t->a;
    to[GC_FOUND_INT_body] = none ? -1 : t->body;
    to[GC_FOUND_INT_b] = none ? -1 : t->b;
    gc_store_vec(point, i, t->point);
    gc_store_vec(normal, i, t->normal);
}

#endif
