/* gc_first.h: the first touch of a mover and the faces of a leaf.
 * needs: common/gc_motion.h pluecker/gc_turning.h pluecker/gc_trip.h
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
    gc_real distance; /* beyond the zone, that still counts */
} gc_points;

/* a mover and a mesh that it may touch */
typedef struct {
    const gc_trip *walk;
    const gc_points *points; /* of a mover that stands */
    gc_forms forms;          /* of the movers */
    gc_form form;
    gc_real zone, lateral;   /* its thickness; how far beside a border a touch still counts */
    GC_GLOBAL gc_real *kept; /* (n_kept, 3) its first vertices in the obstacle's frame */
    int n_kept;
} gc_mover_at;

GC_FN gc_vec gc_first_place(const gc_mover_at *q, int vertex)
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

/* A mover that stands is looked at as if it went this far against a normal; of that, `most` counts. */
GC_FN gc_real gc_points_way(const gc_mover_at *q, gc_real *most)
{
    gc_real way = q->points->distance + q->zone;
    *most = q->points->distance / way;
    return way;
}

/* ---- one pair of features ---- */

/* Does the path of x along v go through a loop of corners, and if it does, no earlier than at f? n leads to where it comes from;
 * way: 1 if that is the front of the face, else -1. */
GC_FN int gc_first_within_obstacle(const gc_mover_at *q, int face, gc_vec x, gc_vec v, gc_vec n, gc_real way, gc_real *f)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms;
    int k = gc_form_begin(t, &w->form, face, GC_FORM_FACE_corner),
        end = gc_form_begin(t, &w->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_form_place(t, &w->form, t->ints[w->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_form_place(t, &w->form, t->ints[w->form.corner + k]);
        gc_real enters;
        if (!gc_path_within(x, v, last, next, way, q->lateral)) return 0;
        enters = gc_path_enters(x, v, n, last, next, way, q->zone);
        *f = GC_MAX(*f, enters);
        last = next;
    }
    return 1;
}

GC_FN int gc_first_within_mover(const gc_mover_at *q, int face, gc_vec x, gc_vec v, gc_vec n, gc_real way, gc_real *f)
{
    const gc_forms *s = &q->forms;
    int k = gc_form_begin(s, &q->form, face, GC_FORM_FACE_corner),
        end = gc_form_begin(s, &q->form, face + 1, GC_FORM_FACE_corner);
    gc_vec last = gc_first_place(q, s->ints[q->form.corner + end - 1]);
    for (; k < end; ++k) {
        gc_vec next = gc_first_place(q, s->ints[q->form.corner + k]);
        gc_real enters;
        if (!gc_path_within(x, v, last, next, way, q->lateral)) return 0;
        enters = gc_path_enters(x, v, n, last, next, way, q->zone);
        *f = GC_MAX(*f, enters);
        last = next;
    }
    return 1;
}

/* A plane is looked at from its front, or if both its sides count, from where x is. Then a turn may lead through it beside the
 * face and back: so it is also looked at from the other side (`side` 1), 0 if that is in the zone, which x may leave. */
GC_FN gc_real gc_first_side(int two_sided, int side, gc_vec n, gc_vec x, gc_vec corner, gc_real zone)
{
    gc_real height = gc_dot(n, gc_sub(x, corner)), way = two_sided && height < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    if (!side) return way;
    return GC_ABS(height) > zone ? -way : GC_R(0.0);
}

/* the same of a place to which something turned */
GC_FN int gc_first_arrives_obstacle(const gc_mover_at *q, int face, const gc_arrival *arrival, gc_real way)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms;
    int k = gc_form_begin(t, &w->form, face, GC_FORM_FACE_corner),
        end = gc_form_begin(t, &w->form, face + 1, GC_FORM_FACE_corner);
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

GC_FN int gc_first_arrives_mover(const gc_mover_at *q, int face, const gc_arrival *arrival, gc_real way)
{
    const gc_forms *s = &q->forms;
    int k = gc_form_begin(s, &q->form, face, GC_FORM_FACE_corner),
        end = gc_form_begin(s, &q->form, face + 1, GC_FORM_FACE_corner);
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
GC_FN void gc_first_vf(const gc_mover_at *q, int mode, int side, gc_found *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    const gc_trip *w = q->walk;
    gc_vec x = gc_first_place(q, vertex), v = w->here.way;
    gc_real way = gc_first_side(w->form.two_sided, side, n, x, corner, q->zone), f;
    if (way == GC_R(0.0)) return;
    n = gc_scale(n, way);
    if (mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(w);
        gc_arrival arrival;
        if (!gc_vertex_plane_rotation(&pivot, x, n, corner, q->zone, q->lateral, best->time, &f, &arrival)) return;
        if (!gc_first_arrives_obstacle(q, i, &arrival, way)) return;
        gc_found_take(q, best, f, GC_TOUCH_VF, vertex, w->world->forms.ints[w->form.source + i], arrival.point, n);
        return;
    }
    if (mode == GC_STANDS) {
        gc_real most, far = gc_points_way(q, &most);
        v = gc_scale(n, -far);
        if (gc_vertex_plane_translation(x, v, n, corner, q->zone, most, &f)
            && gc_first_within_obstacle(q, i, x, v, n, way, &f))
            gc_point_add(
                q, GC_TOUCH_VF, vertex, w->world->forms.ints[w->form.source + i], x, n, gc_dot(n, gc_sub(x, corner)));
        return;
    }
    if (!gc_vertex_plane_translation(x, v, n, corner, q->zone, best->time, &f)) return;
    if (!gc_first_within_obstacle(q, i, x, v, n, way, &f)) return;
    gc_found_take(q, best, f, GC_TOUCH_VF, vertex, w->world->forms.ints[w->form.source + i], gc_add(x, gc_scale(v, f)), n);
}

/* a vertex of the obstacle against face i of the mover */
GC_FN void gc_first_fv(const gc_mover_at *q, int mode, int side, gc_found *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    const gc_trip *w = q->walk;
    gc_vec y = gc_form_place(&w->world->forms, &w->form, vertex), v = gc_scale(w->here.way, GC_R(-1.0));
    gc_real way = gc_first_side(q->form.two_sided, side, n, y, corner, q->zone), f;
    if (way == GC_R(0.0)) return;
    n = gc_scale(n, way);
    if (mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(w), back = pivot;
        gc_arrival arrival;
        back.axis = gc_scale(pivot.axis, GC_R(-1.0));
        if (!gc_vertex_plane_rotation(&back, y, n, corner, q->zone, q->lateral, best->time, &f, &arrival)) return;
        if (!gc_first_arrives_mover(q, i, &arrival, way)) return;
        n = gc_turned_vector(&pivot, gc_scale(n, GC_R(-1.0)), f);
        gc_found_take(q, best, f, GC_TOUCH_FV, q->forms.ints[q->form.source + i], vertex, y, n);
        return;
    }
    if (mode == GC_STANDS) {
        gc_real most, far = gc_points_way(q, &most);
        v = gc_scale(n, -far);
        if (gc_vertex_plane_translation(y, v, n, corner, q->zone, most, &f) && gc_first_within_mover(q, i, y, v, n, way, &f))
            gc_point_add(
                q, GC_TOUCH_FV, q->forms.ints[q->form.source + i], vertex, y, gc_scale(n, GC_R(-1.0)),
                gc_dot(n, gc_sub(y, corner)));
        return;
    }
    if (!gc_vertex_plane_translation(y, v, n, corner, q->zone, best->time, &f)) return;
    if (!gc_first_within_mover(q, i, y, v, n, way, &f)) return;
    gc_found_take(q, best, f, GC_TOUCH_FV, q->forms.ints[q->form.source + i], vertex, y, gc_scale(n, GC_R(-1.0)));
}

/* an edge of a body in the obstacle's frame */
typedef struct {
    gc_vec a, b;
    gc_wedge wedge;
    int source;
} gc_ridge;

/* the place on the obstacle's edge next to the mover's, which has gone by v, n being the normal of both */
GC_FN gc_vec gc_ridge_next(const gc_ridge *p, const gc_ridge *r, gc_vec v, gc_vec n)
{
    gc_vec w = gc_sub(r->b, r->a), across = gc_cross(gc_sub(p->b, p->a), n);
    gc_real k = gc_dot(across, gc_sub(gc_add(p->a, v), r->a)) / gc_dot(across, w);
    k = GC_MIN(GC_MAX(k, GC_R(0.0)), GC_R(1.0));
    return gc_add(r->a, gc_scale(w, k));
}

GC_LARGE void gc_first_ee_near(const gc_mover_at *q, const gc_ridge *p, const gc_ridge *r)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)),
           n = gc_unit(gc_cross(gc_sub(p->b, p->a), gc_sub(r->b, r->a)), none);
    gc_real most, far = gc_points_way(q, &most), f, gap = gc_dot(n, gc_sub(p->a, r->a));
    if (!(GC_ABS(gap) <= far + far)) return;
    for (int side = 0; side < 2; ++side) {
        gc_vec normal, v = gc_scale(n, side ? far : -far);
        if (!gc_edge_edge_translation(
                p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, q->zone, q->lateral, most, &f, &normal))
            continue;
        gc_point_add(
            q, GC_TOUCH_EE, p->source, r->source, gc_ridge_next(p, r, none, normal), normal,
            gc_dot(normal, gc_sub(p->a, r->a)));
        return;
    }
}

GC_FN void gc_first_ee(const gc_mover_at *q, int mode, gc_found *best, const gc_ridge *p, const gc_ridge *r)
{
    gc_vec v = q->walk->here.way, n;
    gc_real f;
    if (mode == GC_STANDS) {
        gc_first_ee_near(q, p, r);
    } else if (mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(q->walk);
        gc_arrival arrival;
        if (gc_edge_edge_rotation(
                &pivot, p->a, p->b, r->a, r->b, &p->wedge, &r->wedge, q->zone, q->lateral, best->time, &f, &arrival))
            gc_found_take(q, best, f, GC_TOUCH_EE, p->source, r->source, arrival.point, arrival.normal);
    } else if (gc_edge_edge_translation(
                   p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, q->zone, q->lateral, best->time, &f, &n))
        gc_found_take(q, best, f, GC_TOUCH_EE, p->source, r->source, gc_ridge_next(p, r, gc_scale(v, f), n), n);
}

/* ---- all features of some faces of the mover against those of a leaf ---- */

/* Both faces at an edge of the obstacle look along the way, or both of one of the mover against it: then no normal between
 * them is approached. */
GC_FN int gc_first_away(const gc_wedge *wedge, gc_vec way)
{
    gc_real slack = GC_R(64.0) * GC_FACING_ROUNDING * gc_most(way);
    return wedge->faces == 2 && gc_dot(wedge->first, way) > slack && gc_dot(wedge->second, way) > slack;
}

GC_FN void gc_ridge_of_obstacle(const gc_mover_at *q, int i, gc_ridge *to)
{
    const gc_trip *w = q->walk;
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

/* 0: it goes away from all that it might touch; `back` is the way, turned round, in the mover's own frame */
GC_FN int gc_ridge_of_mover(const gc_mover_at *q, int mode, int i, gc_vec back, gc_ridge *to)
{
    const gc_forms *s = &q->forms;
    GC_GLOBAL const int *edge = s->ints + q->form.edge + GC_FORM_EDGE_STRIDE * i;
    GC_GLOBAL const gc_real *wedge = s->reals + q->form.wedge + 6 * i;
    to->wedge.first = gc_load_vec(wedge, 0);
    to->wedge.second = gc_load_vec(wedge, 1);
    to->wedge.faces = edge[GC_FORM_EDGE_faces];
    if (mode == GC_GOES && gc_first_away(&to->wedge, back)) return 0;
    to->wedge.first = gc_rotate(q->walk->here.rot, to->wedge.first);
    to->wedge.second = gc_rotate(q->walk->here.rot, to->wedge.second);
    to->a = gc_first_place(q, edge[GC_FORM_EDGE_first]);
    to->b = gc_first_place(q, edge[GC_FORM_EDGE_second]);
    to->source = edge[GC_FORM_EDGE_source];
    return 1;
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

/* the last of the pairs of this thing that an item looks at: none of them matters */
GC_FN int gc_pairs_rest(const gc_pairs_of *p) { return p->in + (p->inner - 1 - p->in) / GC_GROUP_SIZE * GC_GROUP_SIZE; }

/* may the mover come to a box of the obstacle's frame in time? */
GC_FN int gc_first_near(const gc_trip *w, const gc_found *best, gc_vec low, gc_vec high)
{
    return gc_swept_comes(&w->seen, w->motion, low, high, best->time) < GC_NEVER;
}

GC_FN gc_vec gc_least(gc_vec a, gc_vec b) { return gc_make(GC_MIN(a.x, b.x), GC_MIN(a.y, b.y), GC_MIN(a.z, b.z)); }
GC_FN gc_vec gc_greatest(gc_vec a, gc_vec b) { return gc_make(GC_MAX(a.x, b.x), GC_MAX(a.y, b.y), GC_MAX(a.z, b.z)); }

/* does the mover come to face i of the obstacle? */
GC_FN int gc_first_face_near(const gc_trip *w, const gc_found *best, int i)
{
    const gc_forms *t = &w->world->forms;
    int k = gc_form_begin(t, &w->form, i, GC_FORM_FACE_corner), end = gc_form_begin(t, &w->form, i + 1, GC_FORM_FACE_corner);
    gc_vec low = gc_form_place(t, &w->form, t->ints[w->form.corner + k]), high = low;
    for (++k; k < end; ++k) {
        gc_vec x = gc_form_place(t, &w->form, t->ints[w->form.corner + k]);
        low = gc_least(low, x);
        high = gc_greatest(high, x);
    }
    return gc_first_near(w, best, low, high);
}

/* mover's vertices [v0, v1) of its list against the faces of the leaf */
GC_LARGE void gc_first_vertices(const gc_mover_at *q, int mode, gc_found *best, int v0, int v1)
{
    const gc_trip *w = q->walk;
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
            live = (w->form.two_sided || gc_first_faces(w, mode, n)) && gc_first_face_near(w, best, p.at);
        }
        if (live) {
            int vertex = q->forms.ints[q->form.vertex + v0 + p.in];
            for (int side = 0; side <= (mode == GC_TURNS && w->form.two_sided); ++side)
                gc_first_vf(q, mode, side, best, p.at, vertex, n, corner);
        } else p.in = gc_pairs_rest(&p);
    }
}

/* faces [first, last) of the mover against the vertices of the leaf */
GC_LARGE void gc_first_polygons(const gc_mover_at *q, int mode, gc_found *best, int first, int last)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    gc_pairs_of p = gc_pairs_begin(
        gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_vertex), gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_vertex),
        last - first);
    gc_vec back = gc_rotate_back(w->here.rot, gc_scale(w->here.way, GC_R(-1.0)));
    int was = -1, live = 0, vertex = 0;
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        int i = first + p.in, begin;
        gc_vec n;
        if (p.at != was) {
            gc_vec y;
            was = p.at;
            vertex = t->ints[w->form.vertex + p.at];
            y = gc_form_place(t, &w->form, vertex);
            live = gc_first_near(w, best, y, y);
        }
        if (!live) {
            p.in = gc_pairs_rest(&p);
            continue;
        }
        begin = gc_form_begin(s, &q->form, i, GC_FORM_FACE_corner);
        if (gc_form_begin(s, &q->form, i + 1, GC_FORM_FACE_corner) == begin) continue; /* a point has none */
        n = gc_load_vec(s->reals + q->form.plane, i);
        if (mode == GC_GOES && !q->form.two_sided && gc_dot(n, back) > GC_R(64.0) * GC_FACING_ROUNDING * gc_most(back))
            continue;
        n = gc_rotate(w->here.rot, n);
        for (int side = 0; side <= (mode == GC_TURNS && q->form.two_sided); ++side)
            gc_first_fv(q, mode, side, best, i, vertex, n, gc_first_place(q, s->ints[q->form.corner + begin]));
    }
}

/* the mover's edges [e0, e1) against those of the leaf */
GC_LARGE void gc_first_edges(const gc_mover_at *q, int mode, gc_found *best, int e0, int e1)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms;
    gc_vec back = gc_rotate_back(w->here.rot, gc_scale(w->here.way, GC_R(-1.0)));
    gc_pairs_of p = gc_pairs_begin(
        gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_edge), gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_edge),
        e1 - e0);
    gc_ridge mine, theirs;
    int was = -1, live = 0;
    theirs.source = 0;
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            was = p.at;
            gc_ridge_of_obstacle(q, p.at, &theirs);
            live = !(mode == GC_GOES && gc_first_away(&theirs.wedge, w->here.way))
                   && gc_first_near(w, best, gc_least(theirs.a, theirs.b), gc_greatest(theirs.a, theirs.b));
        }
        if (!live) {
            p.in = gc_pairs_rest(&p);
            continue;
        }
        if (!gc_ridge_of_mover(q, mode, e0 + p.in, back, &mine)) continue;
        gc_first_ee(q, mode, best, &mine, &theirs);
    }
}

GC_FN void gc_first_leaf(const gc_mover_at *q, int mode, gc_found *best, int first, int last)
{
    const gc_forms *s = &q->forms;
    gc_first_vertices(
        q, mode, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_vertex),
        gc_form_begin(s, &q->form, last, GC_FORM_FACE_vertex));
    gc_first_polygons(q, mode, best, first, last);
    gc_first_edges(
        q, mode, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_edge),
        gc_form_begin(s, &q->form, last, GC_FORM_FACE_edge));
}

#endif
