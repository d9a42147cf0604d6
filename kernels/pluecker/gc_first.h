/* gc_first.h: the first touch of a mover and the faces of a leaf.
 * needs: common/gc_motion.h pluecker/gc_turning.h pluecker/gc_walk.h
 *
 * All of it in the frame of the obstacle's mesh. The mover's vertices are carried there by one function, whoever asks, so that
 * features which share a vertex see the same numbers; the first ones are kept in scratch.
 */
#ifndef GC_FIRST_H
#define GC_FIRST_H

/* kinds of a touch: the mover's feature first */
#define GC_TOUCH_NONE 0
#define GC_TOUCH_VF 1
#define GC_TOUCH_FV 2
#define GC_TOUCH_EE 3

/* what a work-item has found: the least in this order */
typedef struct {
    gc_real time;
    int kind, a, body, b;
    gc_vec point, normal; /* in the world */
} gc_touch;

/* a mover and a mesh that it may touch */
typedef struct {
    const gc_walk *walk;
    gc_forms forms; /* of the movers */
    gc_form form;
    gc_real zone, lateral; /* its thickness; how far beside a border a touch still counts */
    GC_GLOBAL gc_real *kept; /* (n_kept, 3) its first vertices in the obstacle's frame */
    int n_kept;
} gc_meeting_of;

GC_FN gc_vec gc_first_place(const gc_meeting_of *q, int vertex)
{
    if (vertex < q->n_kept) return gc_make(q->kept[3 * vertex], q->kept[3 * vertex + 1], q->kept[3 * vertex + 2]);
    return gc_stand_over(&q->walk->here, gc_form_place(&q->forms, &q->form, vertex));
}

/* may a face with this outward normal be touched from its front? */
GC_FN int gc_first_faces(const gc_walk *w, gc_vec n)
{
    return w->motion->mode != GC_GOES || gc_dot(n, w->here.way) < GC_R(0.0);
}

GC_FN gc_pivot gc_first_pivot(const gc_walk *w)
{
    gc_pivot p;
    p.axis = w->here.axis;
    p.origin = w->here.pivot;
    return p;
}

GC_FN int gc_touch_before(const gc_touch *t, gc_real time, int kind, int a, int body, int b)
{
    if (time != t->time) return time < t->time;
    if (kind != t->kind) return kind < t->kind;
    if (a != t->a) return a < t->a;
    if (body != t->body) return body < t->body;
    return b < t->b;
}

/* a touch at a point of the obstacle's frame with a normal there */
GC_LARGE void gc_touch_take(const gc_meeting_of *q, gc_touch *t, gc_real time, int kind, int a, int b, gc_vec point, gc_vec normal)
{
    const gc_walk *w = q->walk;
    gc_quat turn;
    GC_GLOBAL const gc_real *size;
    if (!gc_touch_before(t, time, kind, a, w->now, b)) return;
    turn = gc_load_quat(w->world->quat, w->now);
    size = gc_form_size(&w->world->forms, &w->form);
    t->time = time;
    t->kind = kind;
    t->a = a;
    t->body = w->now;
    t->b = b;
    t->point = gc_add(gc_quat_rotate(turn, gc_add(point, gc_load_vec(size, 0))), gc_load_vec(w->world->position, w->now));
    t->normal = gc_quat_rotate(turn, normal);
}

/* ---- one pair of features ---- */

/* does the path of x along v go through a loop of corners? way: 1 if it is seen from its front, else -1 */
GC_FN int gc_first_within_obstacle(const gc_meeting_of *q, int face, gc_vec x, gc_vec v, gc_real way)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms;
    int k = gc_form_begin(t, &w->form, face, GC_FORM_FACE_corner), end = gc_form_begin(t, &w->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_form_place(t, &w->form, t->ints[w->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_form_place(t, &w->form, t->ints[w->form.corner + k]);
        if (!gc_path_within(x, v, last, next, way, q->lateral)) return 0;
        last = next;
    }
    return 1;
}

GC_FN int gc_first_within_mover(const gc_meeting_of *q, int face, gc_vec x, gc_vec v, gc_real way)
{
    const gc_forms *s = &q->forms;
    int k = gc_form_begin(s, &q->form, face, GC_FORM_FACE_corner), end = gc_form_begin(s, &q->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_first_place(q, s->ints[q->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_first_place(q, s->ints[q->form.corner + k]);
        if (!gc_path_within(x, v, last, next, way, q->lateral)) return 0;
        last = next;
    }
    return 1;
}

/* a plane that is looked at from where x is, if both its sides count */
GC_FN gc_real gc_first_side(int two_sided, gc_vec n, gc_vec x, gc_vec corner)
{
    return two_sided && gc_dot(n, gc_sub(x, corner)) < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
}

/* the same of a place to which something turned */
GC_FN int gc_first_arrives_obstacle(const gc_meeting_of *q, int face, const gc_arrival *arrival, gc_real way)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms;
    int k = gc_form_begin(t, &w->form, face, GC_FORM_FACE_corner), end = gc_form_begin(t, &w->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_form_place(t, &w->form, t->ints[w->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_form_place(t, &w->form, t->ints[w->form.corner + k]);
        if (!(way > GC_R(0.0) ? gc_arrival_within(arrival, last, next, q->lateral)
                              : gc_arrival_within(arrival, next, last, q->lateral)))
            return 0;
        last = next;
    }
    return 1;
}

GC_FN int gc_first_arrives_mover(const gc_meeting_of *q, int face, const gc_arrival *arrival, gc_real way)
{
    const gc_forms *s = &q->forms;
    int k = gc_form_begin(s, &q->form, face, GC_FORM_FACE_corner), end = gc_form_begin(s, &q->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_first_place(q, s->ints[q->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_first_place(q, s->ints[q->form.corner + k]);
        if (!(way > GC_R(0.0) ? gc_arrival_within(arrival, last, next, q->lateral)
                              : gc_arrival_within(arrival, next, last, q->lateral)))
            return 0;
        last = next;
    }
    return 1;
}

/* vertex `vertex` of the mover against face i of the obstacle */
GC_FN void gc_first_vf(const gc_meeting_of *q, gc_touch *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    const gc_walk *w = q->walk;
    gc_vec x = gc_first_place(q, vertex), v = w->here.way;
    gc_real way = gc_first_side(w->form.two_sided, n, x, corner), f;
    n = gc_scale(n, way);
    if (w->motion->mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(w);
        gc_arrival arrival;
        if (!gc_vertex_plane_rotation(&pivot, x, n, corner, q->zone, q->lateral, best->time, &f, &arrival)) return;
        if (!gc_first_arrives_obstacle(q, i, &arrival, way)) return;
        gc_touch_take(q, best, f, GC_TOUCH_VF, vertex, w->world->forms.ints[w->form.source + i], arrival.point, n);
        return;
    }
    if (!gc_vertex_plane_translation(x, v, n, corner, q->zone, best->time, &f)) return;
    if (!gc_first_within_obstacle(q, i, x, v, way)) return;
    gc_touch_take(
        q, best, f, GC_TOUCH_VF, vertex, w->world->forms.ints[w->form.source + i], gc_add(x, gc_scale(v, f)), n);
}

/* a vertex of the obstacle against face i of the mover */
GC_FN void gc_first_fv(const gc_meeting_of *q, gc_touch *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    const gc_walk *w = q->walk;
    gc_vec y = gc_form_place(&w->world->forms, &w->form, vertex), v = gc_scale(w->here.way, GC_R(-1.0));
    gc_real way = gc_first_side(q->form.two_sided, n, y, corner), f;
    n = gc_scale(n, way);
    if (w->motion->mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(w), back = pivot;
        gc_arrival arrival;
        back.axis = gc_scale(pivot.axis, GC_R(-1.0));
        if (!gc_vertex_plane_rotation(&back, y, n, corner, q->zone, q->lateral, best->time, &f, &arrival)) return;
        if (!gc_first_arrives_mover(q, i, &arrival, way)) return;
        n = gc_turned_vector(&pivot, gc_scale(n, GC_R(-1.0)), f);
        gc_touch_take(q, best, f, GC_TOUCH_FV, q->forms.ints[q->form.source + i], vertex, y, n);
        return;
    }
    if (!gc_vertex_plane_translation(y, v, n, corner, q->zone, best->time, &f)) return;
    if (!gc_first_within_mover(q, i, y, v, way)) return;
    gc_touch_take(q, best, f, GC_TOUCH_FV, q->forms.ints[q->form.source + i], vertex, y, gc_scale(n, GC_R(-1.0)));
}

/* an edge of a body in the obstacle's frame */
typedef struct {
    gc_vec a, b;
    gc_wedge wedge;
    int source;
} gc_ridge;

GC_FN void gc_first_ee(const gc_meeting_of *q, gc_touch *best, const gc_ridge *p, const gc_ridge *r)
{
    gc_vec v = q->walk->here.way, n, u, w, from, across;
    gc_real f, k;
    if (q->walk->motion->mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(q->walk);
        gc_arrival arrival;
        if (gc_edge_edge_rotation(
                &pivot, p->a, p->b, r->a, r->b, &p->wedge, &r->wedge, q->zone, q->lateral, best->time, &f, &arrival))
            gc_touch_take(q, best, f, GC_TOUCH_EE, p->source, r->source, arrival.point, arrival.normal);
        return;
    }
    if (!gc_edge_edge_translation(
            p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, q->zone, q->lateral, best->time, &f, &n))
        return;
    /* on the obstacle's edge, next to the mover's */
    u = gc_sub(p->b, p->a);
    w = gc_sub(r->b, r->a);
    from = gc_sub(gc_add(p->a, gc_scale(v, f)), r->a);
    across = gc_cross(u, n);
    k = gc_dot(across, from) / gc_dot(across, w);
    k = GC_MIN(GC_MAX(k, GC_R(0.0)), GC_R(1.0));
    gc_touch_take(q, best, f, GC_TOUCH_EE, p->source, r->source, gc_add(r->a, gc_scale(w, k)), n);
}

/* ---- all features of some faces of the mover against those of a leaf ---- */

GC_FN void gc_ridge_of_obstacle(const gc_meeting_of *q, int i, gc_ridge *to)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms;
    GC_GLOBAL const int *edge = t->ints + w->form.edge + GC_FORM_EDGE_STRIDE * i;
    GC_GLOBAL const gc_real *wedge = t->reals + w->form.wedge + 6 * i;
    to->a = gc_form_place(t, &w->form, edge[GC_FORM_EDGE_first]);
    to->b = gc_form_place(t, &w->form, edge[GC_FORM_EDGE_second]);
    to->wedge.first = gc_load_vec(wedge, 0);
    to->wedge.second = gc_load_vec(wedge, 1);
    to->wedge.faces = edge[GC_FORM_EDGE_faces];
    to->source = edge[GC_FORM_EDGE_source];
}

GC_FN void gc_ridge_of_mover(const gc_meeting_of *q, int i, gc_ridge *to)
{
    const gc_forms *s = &q->forms;
    GC_GLOBAL const int *edge = s->ints + q->form.edge + GC_FORM_EDGE_STRIDE * i;
    GC_GLOBAL const gc_real *wedge = s->reals + q->form.wedge + 6 * i;
    to->a = gc_first_place(q, edge[GC_FORM_EDGE_first]);
    to->b = gc_first_place(q, edge[GC_FORM_EDGE_second]);
    to->wedge.first = gc_rotate(q->walk->here.rot, gc_load_vec(wedge, 0));
    to->wedge.second = gc_rotate(q->walk->here.rot, gc_load_vec(wedge, 1));
    to->wedge.faces = edge[GC_FORM_EDGE_faces];
    to->source = edge[GC_FORM_EDGE_source];
}

/* pairs of `inner` things within each of the things from `at` on, an item's share one after the other */
typedef struct {
    int at, in, inner, end;
} gc_pairs_of;

GC_FN gc_pairs_of gc_pairs_begin(int at, int end, int inner)
{
    gc_pairs_of p;
    p.at = inner > 0 ? at : end;
    p.end = end;
    p.inner = inner;
    p.in = GC_LOCAL_ID;
    return p;
}

GC_FN int gc_pairs_settle(gc_pairs_of *p)
{
    while (p->at < p->end && p->in >= p->inner) {
        p->in -= p->inner;
        p->at += 1;
    }
    return p->at < p->end;
}

/* mover's vertices [v0, v1) of its list against the faces of the leaf */
GC_LARGE void gc_first_vertices(const gc_meeting_of *q, gc_touch *best, int v0, int v1)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms;
    gc_pairs_of p = gc_pairs_begin(w->first, w->last, v1 - v0);
    gc_vec n, corner;
    int was = -1, live = 0;
    n = corner = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            int begin = gc_form_begin(t, &w->form, p.at, GC_FORM_FACE_corner);
            was = p.at;
            n = gc_load_vec(t->reals + w->form.plane, p.at);
            corner = gc_form_place(t, &w->form, t->ints[w->form.corner + begin]);
            live = w->form.two_sided || gc_first_faces(w, n);
        }
        if (live) gc_first_vf(q, best, p.at, q->forms.ints[q->form.vertex + v0 + p.in], n, corner);
    }
}

/* faces [first, last) of the mover against the vertices of the leaf */
GC_LARGE void gc_first_polygons(const gc_meeting_of *q, gc_touch *best, int first, int last)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    int v0 = gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_vertex);
    int v1 = gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_vertex), was = -1, live = 0;
    gc_pairs_of p = gc_pairs_begin(first, last, v1 - v0);
    gc_vec n, corner;
    n = corner = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            int begin = gc_form_begin(s, &q->form, p.at, GC_FORM_FACE_corner);
            was = p.at;
            live = gc_form_begin(s, &q->form, p.at + 1, GC_FORM_FACE_corner) > begin; /* a point has none */
            if (live) {
                n = gc_rotate(w->here.rot, gc_load_vec(s->reals + q->form.plane, p.at));
                corner = gc_first_place(q, s->ints[q->form.corner + begin]);
                live = q->form.two_sided || gc_first_faces(w, gc_scale(n, GC_R(-1.0)));
            }
        }
        if (live) gc_first_fv(q, best, p.at, t->ints[w->form.vertex + v0 + p.in], n, corner);
    }
}

/* the mover's edges [e0, e1) against those of the leaf */
GC_LARGE void gc_first_edges(const gc_meeting_of *q, gc_touch *best, int e0, int e1)
{
    const gc_walk *w = q->walk;
    const gc_forms *t = &w->world->forms;
    int was = -1;
    gc_pairs_of p = gc_pairs_begin(
        gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_edge), gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_edge),
        e1 - e0);
    gc_ridge mine, theirs;
    theirs.source = 0;
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            was = p.at;
            gc_ridge_of_obstacle(q, p.at, &theirs);
        }
        gc_ridge_of_mover(q, e0 + p.in, &mine);
        gc_first_ee(q, best, &mine, &theirs);
    }
}

GC_FN void gc_first_leaf(const gc_meeting_of *q, gc_touch *best, int first, int last)
{
    const gc_forms *s = &q->forms;
    gc_first_vertices(
        q, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_vertex), gc_form_begin(s, &q->form, last, GC_FORM_FACE_vertex));
    gc_first_polygons(q, best, first, last);
    gc_first_edges(
        q, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_edge), gc_form_begin(s, &q->form, last, GC_FORM_FACE_edge));
}

#endif
