/* gc_found.h: a mover and a mesh that it may touch, and what has been found.
 * needs: pluecker/gc_turning.h pluecker/gc_pluecker.h pluecker/gc_trip.h
 *
 * In the frame of the obstacle's mesh. The mover's vertices are carried there by one function, whoever asks, so that
 * features which share a vertex see the same numbers; the first ones are kept in scratch.
 */
#ifndef GC_FOUND_H
#define GC_FOUND_H

/* kinds of a touch: the mover's feature first */
#define GC_TOUCH_NONE 0
#define GC_TOUCH_VF 1
#define GC_TOUCH_FV 2
#define GC_TOUCH_EE 3
/* of movers at rest alone */
#define GC_TOUCH_VE 4
#define GC_TOUCH_EV 5
#define GC_TOUCH_VV 6
/* added to these: it is out of reach, and only tells what is not inside */
#define GC_TOUCH_BEYOND 16
/* ... or it is in the zone, and beside a border */
#define GC_TOUCH_ASIDE 32

/* what a work-item has found: the least in this order */
typedef struct {
    gc_real time;
    int kind, a, body, b;
    gc_vec point, normal; /* in the world */
} gc_found;

/* what bodies at rest touch: a list of all of it, in any order */
#define GC_POINT_STRIDE 5
#define GC_POINT_COLUMNS(ONE, MANY, X) \
    ONE(X, mover) \
    ONE(X, kind) \
    ONE(X, a) \
    ONE(X, body) \
    ONE(X, b)
GC_RECORD(GC_POINT)
#define GC_POINT_REAL_STRIDE 7
#define GC_POINT_REAL_COLUMNS(ONE, MANY, X) \
    MANY(X, point, 3) \
    MANY(X, normal, 3) \
    ONE(X, distance)
GC_RECORD(GC_POINT_REAL)
typedef struct {
    GC_GLOBAL int *ints, *count;
    GC_GLOBAL gc_real *reals;
    int capacity, mover;
    gc_real reach;  /* how far before a surface a place counts */
    gc_real limit;  /* how far it is looked for */
    gc_real deep;   /* the same behind it */
    gc_real beside; /* how much beside a border counts: rounding */
    gc_real aside;  /* how far off and beside each border what stopped may stand */
    gc_real stands; /* how far off within the borders */
    gc_real bound;  /* on the error of where the mover stands: a zone may be thicker */
} gc_points;

/* a mover and a mesh that it may touch */
typedef struct {
    const gc_trip *walk;
    const gc_points *points; /* of a mover that stands */
    gc_forms forms;          /* of the movers */
    gc_form form;
    gc_zone zone;
    GC_GLOBAL gc_real *kept; /* (n_kept, 3) its first vertices in the obstacle's frame */
    int n_kept;
} gc_mover_at;

GC_INLINE gc_vec gc_first_place(const gc_mover_at *q, int vertex)
{
    if (vertex < q->n_kept) return gc_make(q->kept[3 * vertex], q->kept[3 * vertex + 1], q->kept[3 * vertex + 2]);
    return gc_stand_over(&q->walk->here, gc_form_place(&q->forms, &q->form, vertex));
}

/* may a face with this outward normal be touched from its front? */
GC_FN int gc_first_faces(const gc_trip *w, int mode, gc_vec n)
{
    return mode != GC_GOES || gc_dot(n, w->here.way) < GC_R(0.0);
}

GC_FN gc_pivot gc_first_pivot(const gc_trip *w)
{
    gc_pivot p;
    p.axis = w->here.axis;
    p.origin = w->here.pivot;
    return p;
}

GC_FN int gc_found_before(const gc_found *t, gc_real time, int kind, int a, int body, int b)
{
    if (time != t->time) return time < t->time;
    if (kind != t->kind) return kind < t->kind;
    if (a != t->a) return a < t->a;
    if (body != t->body) return body < t->body;
    return b < t->b;
}

GC_FN gc_vec gc_found_point(const gc_trip *w, gc_quat turn, gc_vec x)
{
    gc_vec centre = gc_load_vec(gc_form_size(&w->world->forms, &w->form) + GC_FORM_SIZE_centre, 0);
    return gc_add(gc_quat_rotate(turn, gc_add(x, centre)), gc_load_vec(w->world->position, w->now));
}

/* a touch at a point of the obstacle's frame with a normal there */
GC_LARGE void gc_found_take(
    const gc_mover_at *q,
    gc_found *t,
    gc_real time,
    int kind,
    int a,
    int b,
    gc_vec point,
    gc_vec normal)
{
    const gc_trip *w = q->walk;
    gc_quat turn;
    if (!gc_found_before(t, time, kind, a, w->now, b)) return;
    turn = gc_load_quat(w->world->quat, w->now);
    t->time = time;
    t->kind = kind;
    t->a = a;
    t->body = w->now;
    t->b = b;
    t->point = gc_found_point(w, turn, point);
    t->normal = gc_quat_rotate(turn, normal);
}

/* one point more of a mover that stands */
GC_LARGE void gc_point_add(const gc_mover_at *q, int kind, int a, int b, gc_vec point, gc_vec normal, gc_real distance)
{
    const gc_points *p = q->points;
    const gc_trip *w = q->walk;
    int at = GC_ATOMIC_ADD(p->count, 1);
    GC_GLOBAL int *ints = p->ints + GC_POINT_STRIDE * (gc_long)at;
    GC_GLOBAL gc_real *reals = p->reals + GC_POINT_REAL_STRIDE * (gc_long)at;
    gc_quat turn = gc_load_quat(w->world->quat, w->now);
    if (at < 0 || at >= p->capacity) return;
    ints[GC_POINT_mover] = p->mover;
    ints[GC_POINT_kind] = kind;
    ints[GC_POINT_a] = a;
    ints[GC_POINT_body] = w->now;
    ints[GC_POINT_b] = b;
    gc_store_vec(reals + GC_POINT_REAL_point, 0, gc_found_point(w, turn, point));
    gc_store_vec(reals + GC_POINT_REAL_normal, 0, gc_quat_rotate(turn, normal));
    reals[GC_POINT_REAL_distance] = distance;
}

#endif
