/* gc_first.h: the first touch of a feature of a mover and one of an obstacle.
 * needs: common/gc_motion.h pluecker/gc_crossing.h pluecker/gc_trip.h
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

/* A mover that stands is looked at as if it went this far against a normal; of that, `most` counts. */
GC_FN gc_real gc_points_way(const gc_mover_at *q, gc_real *most)
{
    gc_real way = q->points->distance + q->zone.expel;
    *most = q->points->distance / way;
    return way;
}

/* ---- a vertex and a face ---- */

/* the corners of a face: of the obstacle, of the mover, or about a border (gc_loop_of_border) */
typedef struct {
    const gc_mover_at *q;
    int of_mover, begin, end;
    int source;     /* number of the face in its mesh */
    int border;     /* 1: these are the corners */
    gc_vec a, b, h; /* ends of the border, half the height */
} gc_loop;

GC_FN gc_loop gc_loop_of(const gc_mover_at *q, int of_mover, int face)
{
    const gc_forms *t = of_mover ? &q->forms : &q->walk->world->forms;
    const gc_form *form = of_mover ? &q->form : &q->walk->form;
    gc_loop l;
    l.q = q;
    l.of_mover = of_mover;
    l.begin = gc_form_begin(t, form, face, GC_FORM_FACE_corner);
    l.end = gc_form_begin(t, form, face + 1, GC_FORM_FACE_corner);
    l.source = t->ints[form->source + face];
    l.border = 0;
    l.a = l.b = l.h = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    return l;
}

/* What touches a face within its own plane comes at a border that the mesh has there: it is a narrow strip across the plane, as high as
 * movers come near borders, on each side. n: normal of the face to the left of a-b. The strip is seen along n x (b - a), turned round. */
GC_FN gc_loop gc_loop_of_border(const gc_mover_at *q, int of_mover, gc_vec a, gc_vec b, gc_vec n, int source)
{
    gc_loop l;
    l.q = q;
    l.of_mover = of_mover;
    l.begin = 0;
    l.end = 4;
    l.source = source;
    l.border = 1;
    l.a = a;
    l.b = b;
    l.h = gc_scale(n, q->zone.lateral);
    return l;
}

GC_FN gc_vec gc_loop_corner(const gc_loop *l, int k)
{
    const gc_trip *w = l->q->walk;
    if (l->border) {
        gc_vec x = k == 0 || k == 3 ? l->a : l->b;
        return k < 2 ? gc_sub(x, l->h) : gc_add(x, l->h);
    }
    if (l->of_mover) return gc_first_place(l->q, l->q->forms.ints[l->q->form.corner + k]);
    return gc_form_place(&w->world->forms, &w->form, w->world->forms.ints[w->form.corner + k]);
}

/* the outward normal of the face behind the border that begins at corner k, if its plane has all of this face on its back, as seen from
 * where `way` says */
GC_FN int gc_loop_across(const gc_loop *l, int k, gc_real way, gc_vec *n)
{
    const gc_trip *w = l->q->walk;
    const gc_forms *t = l->of_mover ? &l->q->forms : &w->world->forms;
    const gc_form *form = l->of_mover ? &l->q->form : &w->form;
    int face = l->border ? 0 : t->ints[form->across + k];
    if (way < GC_R(0.0)) face = -face;
    if (face <= 0) return 0;
    *n = gc_scale(gc_load_vec(t->reals + form->plane, face - 1), way);
    if (l->of_mover) *n = gc_rotate(w->here.rot, *n);
    return 1;
}

/* Does the path of x along v come over a loop of corners, and if it does, no earlier than at f? n leads to where it comes from;
 * way: 1 if that is the front of the face, else -1. */
GC_FN int gc_loop_within(const gc_loop *l, gc_vec x, gc_vec v, gc_vec n, gc_real way, gc_real *f)
{
    const gc_zone *zone = &l->q->zone;
    gc_passing passing = gc_passing_whole();
    gc_vec last = gc_loop_corner(l, l->end - 1);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        if (!gc_path_within(x, v, last, next, way, zone->lateral)) return 0;
        last = next;
    }
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        gc_passing_cut(&passing, x, v, n, last, next, way, zone->expel, zone->lateral);
        last = next;
    }
    return gc_passing_stop(&passing, f);
}

/* Is there, at the start, a face behind a border of the loop, over which x goes out or slides? Then it does not meet the loop. */
GC_FN int gc_loop_parts(const gc_loop *l, gc_vec x, gc_vec v, gc_real way, gc_real least)
{
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec n;
        if (gc_loop_across(l, k, way, &n) && gc_dot(n, v) >= GC_R(0.0)
            && gc_dot(n, gc_sub(x, gc_loop_corner(l, k))) >= least)
            return 1;
    }
    return 0;
}

GC_FN int gc_loop_parts_turning(
    const gc_loop *l,
    const gc_pivot *pivot,
    gc_vec x,
    const gc_arrival *arrival,
    gc_real way,
    gc_real least)
{
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec n;
        if (gc_loop_across(l, k, way, &n) && gc_plane_parts_turning(pivot, x, n, gc_loop_corner(l, k), arrival->met, least))
            return 1;
    }
    return 0;
}

/* is a place to which something turned within a loop? */
GC_FN int gc_loop_holds(const gc_loop *l, const gc_arrival *arrival, gc_real way)
{
    gc_vec last = gc_loop_corner(l, l->end - 1);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        if (!(way > GC_R(0.0) ? gc_arrival_within(arrival, last, next, l->q->zone.lateral)
                              : gc_arrival_within(arrival, next, last, l->q->zone.lateral)))
            return 0;
        last = next;
    }
    return 1;
}

/* From r on, when is x, which turns, over the loop, or beside it by no more than `beside`? 0: never within half a turn. Each border
 * lets it in once, so that it ends. */
GC_FN int gc_loop_awaits(
    const gc_loop *l,
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_real way,
    gc_real beside,
    gc_real *r)
{
    gc_real slack = GC_R(0.5) * l->q->zone.lateral;
    int waits;
    do {
        gc_vec last = gc_loop_corner(l, l->end - 1);
        waits = 0;
        for (int k = l->begin; k < l->end; ++k) {
            gc_vec next = gc_loop_corner(l, k);
            int how = gc_border_awaits(pivot, x, n, last, next, way, beside, slack, r);
            if (!how) return 0;
            waits |= how == 2;
            last = next;
        }
    } while (waits);
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

/* Vertex x turns towards the loop in the plane through `corner` across n: may it, and up to where? */
GC_FN int gc_first_turn(
    const gc_loop *l,
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_vec corner,
    gc_real way,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    const gc_zone *zone = &l->q->zone;
    gc_real stop, over;
    if (!gc_vertex_plane_rotation(pivot, x, n, corner, zone->expel, zone->behind, zone->lateral, most, &stop, arrival))
        return 0;
    *r = stop;
    if (!gc_loop_holds(l, arrival, way)) return 0;
    if (!gc_loop_awaits(l, pivot, x, n, way, GC_ZONE_BESIDE * zone->expel, r) || !(*r <= most)) return 0;
    if (*r > stop && gc_swing_at(gc_vertex_swing(pivot, x, n, corner), *r) < -zone->behind) return 0;
    over = *r;
    if (!gc_loop_awaits(l, pivot, x, n, way, zone->lateral, &over)) return 0;
    return *r > GC_R(0.0)
           || !gc_loop_parts_turning(
               l, pivot, x, arrival, way, gc_clear_by(gc_dot(n, gc_sub(x, corner)), zone->lateral, zone->doubt));
}

/* A vertex, which is at x, and a loop in the plane through `corner` across n, which leads to where it comes from; way: 1 if that is
 * the front. */
typedef struct {
    gc_loop loop;
    int vertex;
    gc_vec x, n, corner;
    gc_real way;
} gc_vertex_at;

GC_FN void gc_first_take(const gc_vertex_at *p, gc_found *best, gc_real time, gc_vec point, gc_vec normal)
{
    const gc_loop *l = &p->loop;
    gc_found_take(
        l->q, best, time, l->of_mover ? GC_TOUCH_FV : GC_TOUCH_VF, l->of_mover ? l->source : p->vertex,
        l->of_mover ? p->vertex : l->source, point, normal);
}

/* the vertex goes by v, and is in the zone of the plane at f */
GC_FN void gc_first_goes(const gc_vertex_at *p, gc_found *best, gc_vec v, gc_real f)
{
    const gc_loop *l = &p->loop;
    const gc_zone *zone = &l->q->zone;
    if (!gc_loop_within(l, p->x, v, p->n, p->way, &f)) return;
    if (f == GC_R(0.0)
        && gc_loop_parts(l, p->x, v, p->way, gc_clear_by(gc_dot(p->n, gc_sub(p->x, p->corner)), zone->lateral, zone->doubt)))
        return;
    if (l->of_mover) gc_first_take(p, best, f, p->x, gc_scale(p->n, GC_R(-1.0)));
    else gc_first_take(p, best, f, gc_add(p->x, gc_scale(v, f)), p->n);
}

GC_FN void gc_first_turns(const gc_vertex_at *p, gc_found *best)
{
    const gc_loop *l = &p->loop;
    gc_pivot pivot = gc_first_pivot(l->q->walk), seen = pivot;
    gc_arrival arrival;
    gc_real r;
    if (l->of_mover) seen.axis = gc_scale(seen.axis, GC_R(-1.0));
    if (!gc_first_turn(l, &seen, p->x, p->n, p->corner, p->way, best->time, &r, &arrival)) return;
    if (l->of_mover) gc_first_take(p, best, r, p->x, gc_turned_vector(&pivot, gc_scale(p->n, GC_R(-1.0)), r));
    else gc_first_take(p, best, r, arrival.point, p->n);
}

GC_FN void gc_first_stands(const gc_vertex_at *p)
{
    const gc_loop *l = &p->loop;
    const gc_zone *zone = &l->q->zone;
    gc_real most, far = gc_points_way(l->q, &most), f;
    gc_vec v = gc_scale(p->n, -far);
    if (!gc_vertex_plane_translation(p->x, v, p->n, p->corner, zone->expel, zone->expel, most, &f)) return;
    if (!gc_loop_within(l, p->x, v, p->n, p->way, &f)) return;
    gc_point_add(
        l->q, l->of_mover ? GC_TOUCH_FV : GC_TOUCH_VF, l->of_mover ? l->source : p->vertex,
        l->of_mover ? p->vertex : l->source, p->x, l->of_mover ? gc_scale(p->n, GC_R(-1.0)) : p->n,
        gc_dot(p->n, gc_sub(p->x, p->corner)));
}

/* All but the loop is in p: it is that of a face, or if this is below zero the one that is there. What settles most comes before anything
 * is known of the face but its plane. */
GC_INLINE void gc_first_vertex(const gc_mover_at *q, int mode, gc_found *best, int of_mover, int face, gc_vertex_at *p)
{
    gc_vec v = of_mover ? gc_scale(q->walk->here.way, GC_R(-1.0)) : q->walk->here.way;
    gc_real f = GC_R(0.0);
    if (mode == GC_GOES) {
        if (!gc_vertex_plane_translation(p->x, v, p->n, p->corner, q->zone.expel, q->zone.behind, best->time, &f)) return;
    } else if (mode == GC_TURNS) {
        gc_pivot seen = gc_first_pivot(q->walk);
        if (of_mover) seen.axis = gc_scale(seen.axis, GC_R(-1.0));
        if (gc_vertex_swing_far(gc_vertex_swing(&seen, p->x, p->n, p->corner), q->zone.expel, best->time)) return;
    }
    if (face >= 0) p->loop = gc_loop_of(q, of_mover, face);
    if (mode == GC_GOES) gc_first_goes(p, best, v, f);
    else if (mode == GC_TURNS) gc_first_turns(p, best);
    else gc_first_stands(p);
}

/* vertex `vertex` of the mover against face i of the obstacle */
GC_FN void gc_first_vf(const gc_mover_at *q, int mode, int side, gc_found *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    gc_vertex_at p;
    p.x = gc_first_place(q, vertex);
    p.way = gc_first_side(q->walk->form.two_sided, side, n, p.x, corner, q->zone.expel);
    if (p.way == GC_R(0.0)) return;
    p.n = gc_scale(n, p.way);
    p.corner = corner;
    p.vertex = vertex;
    gc_first_vertex(q, mode, best, 0, i, &p);
}

/* a vertex of the obstacle against face i of the mover */
GC_FN void gc_first_fv(const gc_mover_at *q, int mode, int side, gc_found *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    gc_vertex_at p;
    p.x = gc_form_place(&q->walk->world->forms, &q->walk->form, vertex);
    p.way = gc_first_side(q->form.two_sided, side, n, p.x, corner, q->zone.expel);
    if (p.way == GC_R(0.0)) return;
    p.n = gc_scale(n, p.way);
    p.corner = corner;
    p.vertex = vertex;
    gc_first_vertex(q, mode, best, 1, i, &p);
}

/* ---- an edge and an edge ---- */

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
    gc_zone zone = q->zone;
    zone.behind = zone.expel;
    zone.doubt = -GC_NEVER; /* all places count, where a mover could slide too */
    if (!(GC_ABS(gap) <= far + far)) return;
    for (int side = 0; side < 2; ++side) {
        gc_vec normal, v = gc_scale(n, side ? far : -far);
        if (!gc_edge_edge_translation(p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, &zone, most, &f, &normal)) continue;
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
        if (gc_edge_edge_rotation(&pivot, p->a, p->b, r->a, r->b, &p->wedge, &r->wedge, &q->zone, best->time, &f, &arrival))
            gc_found_take(q, best, f, GC_TOUCH_EE, p->source, r->source, arrival.point, arrival.normal);
    } else if (gc_edge_edge_translation(p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, &q->zone, best->time, &f, &n))
        gc_found_take(q, best, f, GC_TOUCH_EE, p->source, r->source, gc_ridge_next(p, r, gc_scale(v, f), n), n);
}

#endif
