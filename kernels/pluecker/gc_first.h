/* gc_first.h: the first touch of a feature of a mover and one of an obstacle.
 * needs: pluecker/gc_separating.h pluecker/gc_crossing.h
 *
 * All of it in the frame of the obstacle's mesh.
 */
#ifndef GC_FIRST_H
#define GC_FIRST_H

/* ---- a vertex and a face ---- */

/* A plane is looked at from its front, or if both its sides count, from where x is. Then a turn may lead through it beside the
 * face and back: so it is also looked at from the other side (`side` 1). */
GC_FN gc_real gc_first_side(int two_sided, int side, gc_vec n, gc_vec x, gc_vec corner)
{
    gc_real way = two_sided && gc_dot(n, gc_sub(x, corner)) < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    return side ? -way : way;
}

/* Does x, which swings so about the plane, come to its other side? What stands in the zone and leaves it on its own side does not, though
 * it is hardly behind. */
GC_FN int gc_first_comes_through(gc_swing s, gc_real zone)
{
    if (s.start < -zone) return 1;
    return gc_swing_sinks(s) == 0 && s.start - s.cosine + gc_swing_amplitude(s) >= GC_R(0.0);
}

/* Does x keep its distance from the plane but for rounding, as what is on the axis, or turns along the plane? Then it does not come through;
 * what is behind by more is not let deeper. */
GC_FN int gc_first_level(gc_swing s, gc_real doubt)
{
    return s.start >= -doubt && gc_swing_amplitude(s) <= GC_R(0.25) * doubt;
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
 * the front; side: 1 if it is not where x stands. */
typedef struct {
    gc_loop loop;
    int vertex, side;
    gc_vec x, n, corner;
    gc_real way;
} gc_vertex_at;

/* Has a place gone no farther than rounding by then? What turns along a plane may rise by that before it sinks. */
GC_FN int gc_first_at_start(const gc_mover_at *q, int mode, gc_real time, gc_vec place)
{
    const gc_stand *here = &q->walk->here;
    if (time == GC_R(0.0) || mode == GC_GOES) return time == GC_R(0.0);
    return GC_R(2.0) * time * gc_norm(gc_cross(here->axis, gc_sub(place, here->pivot))) <= q->zone.doubt;
}

/* What stops a mover at `time`, which began so far from it, and touches it at `place` if it did: it does not, if a plane separates all about the
 * place. */
GC_FN void gc_first_stops(
    const gc_mover_at *q,
    int mode,
    gc_found *best,
    gc_real time,
    gc_real distance,
    gc_vec place,
    int kind,
    int a,
    int b,
    gc_vec point,
    gc_vec normal)
{
    if (gc_first_at_start(q, mode, time, place) && GC_ABS(distance) <= q->zone.doubt
        && gc_found_before(best, time, kind, a, q->walk->now, b) && gc_separated_at(q, mode, place))
        return;
    gc_found_take(q, best, time, kind, a, b, point, normal);
}

GC_FN void gc_first_take(const gc_vertex_at *p, int mode, gc_found *best, gc_real time, gc_vec point, gc_vec normal)
{
    const gc_loop *l = &p->loop;
    gc_first_stops(
        l->q, mode, best, time, gc_dot(p->n, gc_sub(p->x, p->corner)), p->x, l->of_mover ? GC_TOUCH_FV : GC_TOUCH_VF,
        l->of_mover ? l->source : p->vertex, l->of_mover ? p->vertex : l->source, point, normal);
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
    if (l->of_mover) gc_first_take(p, GC_GOES, best, f, p->x, gc_scale(p->n, GC_R(-1.0)));
    else gc_first_take(p, GC_GOES, best, f, gc_add(p->x, gc_scale(v, f)), p->n);
}

GC_FN void gc_first_turns(const gc_vertex_at *p, gc_found *best)
{
    const gc_loop *l = &p->loop;
    gc_pivot pivot = gc_first_pivot(l->q->walk), seen = pivot;
    gc_arrival arrival;
    gc_real r;
    if (l->of_mover) seen.axis = gc_scale(seen.axis, GC_R(-1.0));
    if (!gc_first_turn(l, &seen, p->x, p->n, p->corner, p->way, best->time, &r, &arrival)) return;
    if (l->of_mover) gc_first_take(p, GC_TURNS, best, r, p->x, gc_turned_vector(&pivot, gc_scale(p->n, GC_R(-1.0)), r));
    else gc_first_take(p, GC_TURNS, best, r, arrival.point, p->n);
}

/* All but the loop is in p: it is that of a face, or if this is below zero the one that is there. What settles most comes before anything
 * is known of the face but its plane. */
GC_INLINE void gc_first_vertex(const gc_mover_at *q, int mode, gc_found *best, int of_mover, int face, gc_vertex_at *p)
{
    gc_vec v = of_mover ? gc_scale(q->walk->here.way, GC_R(-1.0)) : q->walk->here.way;
    gc_real f = GC_R(0.0);
    if (mode == GC_GOES) {
        if (!gc_vertex_plane_translation(p->x, v, p->n, p->corner, q->zone.expel, q->zone.behind, best->time, &f)) return;
    } else {
        gc_pivot seen = gc_first_pivot(q->walk);
        gc_swing swing;
        if (of_mover) seen.axis = gc_scale(seen.axis, GC_R(-1.0));
        swing = gc_vertex_swing(&seen, p->x, p->n, p->corner);
        if (gc_vertex_swing_far(swing, q->zone.expel, best->time) || gc_first_level(swing, q->zone.doubt)) return;
        if (p->side && !gc_first_comes_through(swing, q->zone.expel)) return;
    }
    if (face >= 0) p->loop = gc_loop_of(q, of_mover, face);
    if (mode == GC_GOES) gc_first_goes(p, best, v, f);
    else gc_first_turns(p, best);
}

/* vertex `vertex` of the mover against face i of the obstacle */
GC_FN void gc_first_vf(const gc_mover_at *q, int mode, int side, gc_found *best, int i, int vertex, gc_vec n, gc_vec corner)
{
    gc_vertex_at p;
    p.x = gc_first_place(q, vertex);
    p.way = gc_first_side(q->walk->form.two_sided, side, n, p.x, corner);
    p.side = side;
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
    p.way = gc_first_side(q->form.two_sided, side, n, p.x, corner);
    p.side = side;
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

GC_FN void gc_first_ee(const gc_mover_at *q, int mode, gc_found *best, const gc_ridge *p, const gc_ridge *r)
{
    gc_vec v = q->walk->here.way, u = gc_sub(p->b, p->a), w = gc_sub(r->b, r->a), across, n, point;
    gc_real f, length, distance;
    if (mode == GC_TURNS) {
        gc_pivot pivot = gc_first_pivot(q->walk);
        gc_arrival arrival;
        if (!gc_edge_edge_rotation(&pivot, p->a, p->b, r->a, r->b, &p->wedge, &r->wedge, &q->zone, best->time, &f, &arrival))
            return;
        n = arrival.normal;
        point = arrival.point;
    } else {
        if (!gc_edge_edge_translation(p->a, p->b, v, r->a, r->b, &p->wedge, &r->wedge, &q->zone, best->time, &f, &n)) return;
        point = gc_ridge_next(p, r, gc_scale(v, f), n);
    }
    if (!gc_first_at_start(q, mode, f, point)) {
        gc_found_take(q, best, f, GC_TOUCH_EE, p->source, r->source, point, n);
        return;
    }
    /* nearly parallel edges touch at no place in particular */
    across = gc_cross(u, w);
    length = gc_norm(across);
    distance = length > GC_TOUCH_STEEP * gc_norm(u) * gc_norm(w) ? gc_dot(across, gc_sub(p->a, r->a)) / length : GC_NEVER;
    gc_first_stops(
        q, mode, best, f, distance, gc_ridge_next(p, r, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), across), GC_TOUCH_EE,
        p->source, r->source, point, n);
}

#endif
