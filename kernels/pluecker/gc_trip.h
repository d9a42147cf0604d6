/* gc_trip.h: the faces of a world that a mover may come to, nearest first.
 * needs: tree/gc_bvh.h pluecker/gc_form.h pluecker/gc_mover.h
 *
 * Two trees, one above the other: over the bodies of the world, and in each over the faces of its mesh. Both are walked
 * with a stack, the child that may be met earlier first, and what cannot be met before the best hit so far is left out:
 * only if it is later, so that ties are never lost and no order shows in a result.
 *
 *   gc_trip_begin(...);
 *   do {
 *       step = gc_trip_next(&w, bound);
 *       GC_TRIP_BODY: the mover in the frame of another body is w.here; GC_TRIP_LEAF: faces w.first to w.last of it
 *   } while (step != GC_TRIP_END);
 */
#ifndef GC_TRIP_H
#define GC_TRIP_H

#define GC_TRIP_END 0
#define GC_TRIP_BODY 1
#define GC_TRIP_LEAF 2

/* deeper than any tree: a level leaves one node behind */
#define GC_TRIP_STACK 32
/* a node of the tree over the bodies: its level above this bit */
#define GC_TRIP_LEVEL 26

/* what a mover is in; all of it global, or of the launch */
typedef struct {
    gc_forms forms;
    GC_GLOBAL const gc_real *leaves; /* (n, GC_LEAF_STRIDE) */
    GC_GLOBAL const int *leaf_ints;  /* (n, GC_LEAF_INT_STRIDE) */
    GC_GLOBAL const gc_raster *crowds;
    GC_GLOBAL const gc_real *position; /* of the bodies */
    GC_GLOBAL const gc_real *quat;
    GC_GLOBAL const int *shape;
    gc_real origin[3];                /* of the nodes' coordinates */
    int n;                            /* leaves */
    int top;                          /* level of the root */
    GC_GLOBAL const gc_long *ignored; /* keys of pairs of bodies, as gc_is_ignored takes them */
    int n_ignored, n_bodies;
} gc_still_world;

/* one mover */
typedef struct {
    const gc_still_world *world;
    const gc_motion *motion;
    gc_vec position;
    gc_quat quat;
    gc_vec centre, sides;    /* of its mesh's box, in the mesh's frame */
    gc_vec way, axis, pivot; /* in the world */
    gc_real grown;           /* boxes are grown by it */
    int body;                /* the one to look at, or -1: all */
    int own;                 /* the one to leave out, which it is, or -1 */
    int rank, group, mask;   /* as a leaf has them; rank 0: in every world */
    int skip;                /* there is nothing to look at */
    gc_stand there;          /* in the world, its nodes' origin taken for the middle */
    gc_swept swept;          /* in the world */
    int crowd[GC_TRIP_STACK];
    gc_real crowd_time[GC_TRIP_STACK];
    int crowds;         /* on the stack */
    int leaf, leaf_end; /* bodies of the node that was taken last */
    int now;            /* body */
    gc_form form;       /* its mesh */
    gc_stand here;      /* the mover in its frame */
    gc_swept seen;
    int node[GC_TRIP_STACK];
    gc_real time[GC_TRIP_STACK];
    int nodes;
    int first, last; /* faces of the leaf */
} gc_trip;

GC_FN void gc_quat_matrix(gc_quat q, gc_real *r)
{
    for (int j = 0; j < 3; ++j) {
        gc_vec x = gc_quat_rotate(
            q, gc_make(j == 0 ? GC_R(1.0) : GC_R(0.0), j == 1 ? GC_R(1.0) : GC_R(0.0), j == 2 ? GC_R(1.0) : GC_R(0.0)));
        r[j] = x.x;
        r[3 + j] = x.y;
        r[6 + j] = x.z;
    }
}

/* the mover in the frame of a mesh (centred on it) of a body at this place */
GC_LARGE void gc_stand_make(const gc_trip *w, gc_vec position, gc_quat quat, gc_vec centre, gc_stand *to)
{
    gc_quat back = gc_quat_conj(quat);
    gc_vec turned = gc_quat_rotate(w->quat, w->centre);
    gc_quat_matrix(gc_quat_unit(gc_quat_mul(back, w->quat)), to->rot);
    to->shift = gc_sub(gc_quat_rotate(back, gc_add(gc_sub(w->position, position), turned)), centre);
    to->way = gc_quat_rotate(back, w->way);
    to->axis = gc_quat_rotate(back, w->axis);
    to->pivot = gc_sub(gc_quat_rotate(back, gc_sub(w->pivot, position)), centre);
}

GC_FN gc_real gc_trip_crowd(const gc_trip *w, int level, int at, gc_real last)
{
    GC_GLOBAL const gc_raster *box = w->world->crowds + GC_CROWD_STRIDE * (gc_long)at + GC_CROWD_still;
    (void)level;
    return gc_swept_comes(
        &w->swept, w->motion, gc_make((gc_real)box[0], (gc_real)box[1], (gc_real)box[2]),
        gc_make((gc_real)box[3], (gc_real)box[4], (gc_real)box[5]), last);
}

/* where the nodes of a level begin in the table */
GC_FN int gc_trip_start(int n, int level)
{
    int start = 0;
    for (int k = GC_BVH_LOW; k < level; ++k) start += gc_level_nodes(n, k);
    return start;
}

GC_LARGE void gc_trip_begin(gc_trip *w)
{
    w->nodes = w->crowds = 0;
    w->leaf = w->leaf_end = 0;
    w->now = -1;
    if (w->body >= 0 || w->skip) return;
    gc_stand_make(
        w, gc_make(w->world->origin[0], w->world->origin[1], w->world->origin[2]),
        gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0)), gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), &w->there);
    gc_swept_make(&w->there, w->motion, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), w->sides, w->grown, &w->swept);
    if (w->world->n > 0) {
        w->crowd[0] = w->world->top << GC_TRIP_LEVEL;
        w->crowd_time[0] = GC_R(0.0);
        w->crowds = 1;
    }
}

/* two children onto a stack, the earlier one on top */
GC_FN int gc_trip_push(int *stack, gc_real *times, int n, int a, gc_real at_a, int b, gc_real at_b)
{
    if (at_b < at_a) {
        int other = a;
        gc_real time = at_a;
        a = b;
        at_a = at_b;
        b = other;
        at_b = time;
    }
    if (at_b < GC_NEVER) {
        stack[n] = b;
        times[n++] = at_b;
    }
    if (at_a < GC_NEVER) {
        stack[n] = a;
        times[n++] = at_a;
    }
    return n;
}

/* do the rules of the world let the mover meet the body of a leaf? */
GC_FN int gc_trip_meets(const gc_trip *w, GC_GLOBAL const int *leaf)
{
    const gc_still_world *s = w->world;
    int body = leaf[GC_LEAF_INT_body], rank = leaf[GC_LEAF_INT_rank] >> 1;
    if (body == w->own || (rank != w->rank && rank != 0 && w->rank != 0)) return 0;
    if (!(w->group & leaf[GC_LEAF_INT_mask]) || !(w->mask & leaf[GC_LEAF_INT_group])) return 0;
    return s->n_ignored == 0 || w->own < 0
           || !gc_is_ignored(s->ignored, s->n_ignored, s->n_bodies, GC_MIN(w->own, body), GC_MAX(w->own, body));
}

/* the next body of the world that may be met up to `last`, or -1 */
GC_FN int gc_trip_body(gc_trip *w, gc_real last)
{
    const gc_still_world *s = w->world;
    if (w->skip) return -1;
    if (w->body >= 0) return w->now < 0 ? w->body : -1;
    for (;;) {
        int node, level, start;
        while (w->leaf < w->leaf_end) {
            int leaf = w->leaf++;
            GC_GLOBAL const int *ints = s->leaf_ints + GC_LEAF_INT_STRIDE * leaf;
            GC_GLOBAL const gc_real *box = s->leaves + GC_LEAF_STRIDE * (gc_long)leaf + GC_LEAF_low;
            if (!gc_trip_meets(w, ints)) continue;
            if (gc_swept_comes(
                    &w->swept, w->motion, gc_make(box[0] - s->origin[0], box[1] - s->origin[1], box[2] - s->origin[2]),
                    gc_make(box[3] - s->origin[0], box[4] - s->origin[1], box[5] - s->origin[2]), last)
                < GC_NEVER)
                return ints[GC_LEAF_INT_body];
        }
        if (w->crowds == 0) return -1;
        w->crowds -= 1;
        if (w->crowd_time[w->crowds] > last) continue;
        node = w->crowd[w->crowds] & ((1 << GC_TRIP_LEVEL) - 1);
        level = w->crowd[w->crowds] >> GC_TRIP_LEVEL;
        if (level <= GC_BVH_LOW) {
            w->leaf = node << level;
            w->leaf_end = GC_MIN((node + 1) << level, s->n);
            continue;
        }
        level -= 1;
        node <<= 1;
        start = gc_trip_start(s->n, level);
        {
            gc_real a = gc_trip_crowd(w, level, start + node, last), b = GC_NEVER;
            if (node + 1 < gc_level_nodes(s->n, level)) b = gc_trip_crowd(w, level, start + node + 1, last);
            w->crowds = gc_trip_push(
                w->crowd, w->crowd_time, w->crowds, node | level << GC_TRIP_LEVEL, a, (node + 1) | level << GC_TRIP_LEVEL,
                b);
        }
    }
}

GC_FN gc_real gc_trip_node(const gc_trip *w, int node, gc_real last)
{
    GC_GLOBAL const gc_raster *box = w->world->forms.nodes + w->form.node + GC_BOX_STRIDE * node;
    return gc_swept_comes(
        &w->seen, w->motion, gc_make((gc_real)box[0], (gc_real)box[1], (gc_real)box[2]),
        gc_make((gc_real)box[3], (gc_real)box[4], (gc_real)box[5]), last);
}

/* the next of the steps; `last`: the best time so far. Whatever happens in between, the same for all items of a group. */
GC_LARGE int gc_trip_next(gc_trip *w, gc_real last)
{
    while (w->nodes > 0) {
        int node;
        w->nodes -= 1;
        if (w->time[w->nodes] > last) continue;
        node = w->node[w->nodes];
        if (node >> w->form.height) {
            node -= 1 << w->form.height;
            w->first = node << GC_FORM_LEAF;
            w->last = GC_MIN((node + 1) << GC_FORM_LEAF, w->form.faces);
            return GC_TRIP_LEAF;
        }
        w->nodes = gc_trip_push(
            w->node, w->time, w->nodes, 2 * node, gc_trip_node(w, 2 * node, last), 2 * node + 1,
            gc_trip_node(w, 2 * node + 1, last));
    }
    {
        int body = gc_trip_body(w, last);
        GC_GLOBAL const gc_real *size;
        gc_real time;
        if (body < 0) return GC_TRIP_END;
        w->now = body;
        gc_form_load(&w->world->forms, w->world->shape[body], &w->form);
        size = gc_form_size(&w->world->forms, &w->form);
        gc_stand_make(
            w, gc_load_vec(w->world->position, body), gc_load_quat(w->world->quat, body), gc_load_vec(size, 0), &w->here);
        gc_swept_make(&w->here, w->motion, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), w->sides, w->grown, &w->seen);
        time = gc_trip_node(w, 1, last);
        if (time < GC_NEVER) {
            w->node[0] = 1;
            w->time[0] = time;
            w->nodes = 1;
        }
    }
    return GC_TRIP_BODY;
}

#endif
