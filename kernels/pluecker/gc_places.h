/* gc_places.h: the places where a mover at rest is near an obstacle.
 * needs: pluecker/gc_query.h
 *
 * A place is a pair of features, one of each body, whose shortest way from one to the other ends inside both: a vertex over a face,
 * two edges that cross, a vertex beside an edge or before a vertex. What has a vertex or an edge for its nearest lies where no face about
 * it is nearer: beyond the border of each face at the edge, beyond the ends of all edges at the vertex. Each bound is closed and padded
 * by rounding, so that no place falls between two kinds; of one that two kinds tell the host keeps the larger features. Within
 * the zone a vertex and a face, or two edges, count as far beside each other as what they stop may stand.
 * All of it in the frame of the obstacle's mesh; docs/pluecker.md has the rules.
 */
#ifndef GC_PLACES_H
#define GC_PLACES_H

/* a vertex of a body: number `at` of those that may touch */
typedef struct {
    int of_mover, at, vertex;
    gc_vec x;
} gc_tip;

GC_FN gc_vec gc_place_of_feature(const gc_mover_at *q, int of_mover, int vertex)
{
    return of_mover ? gc_first_place(q, vertex) : gc_form_place(&q->walk->world->forms, &q->walk->form, vertex);
}

GC_FN gc_tip gc_tip_of(const gc_mover_at *q, int of_mover, int at)
{
    gc_tip p;
    p.of_mover = of_mover;
    p.at = at;
    p.vertex = of_mover ? q->forms.ints[q->form.vertex + at] : q->walk->world->forms.ints[q->walk->form.vertex + at];
    p.x = gc_place_of_feature(q, of_mover, p.vertex);
    return p;
}

/* Do all edges at the vertex lead away from what lies at x + d, or is its foot on them within rounding of the vertex? */
GC_LARGE int gc_tip_leads(const gc_mover_at *q, const gc_tip *p, gc_vec d)
{
    const gc_forms *t = p->of_mover ? &q->forms : &q->walk->world->forms;
    const gc_form *form = p->of_mover ? &q->form : &q->walk->form;
    int end = t->ints[form->fan + p->at + 1];
    for (int k = t->ints[form->fan + p->at]; k < end; ++k) {
        gc_vec edge = gc_sub(gc_place_of_feature(q, p->of_mover, t->ints[form->spoke + k]), p->x);
        if (gc_dot(edge, d) > q->points->beside * gc_norm(edge)) return 0;
    }
    return 1;
}

/* a kind, and whether its place is out of reach */
GC_FN int gc_place_kind(const gc_mover_at *q, int kind, gc_real distance)
{
    return distance <= q->points->reach ? kind : kind + GC_TOUCH_BEYOND;
}

/* a place of a vertex and something of the other body, whose number is `other`; n leads to the vertex */
GC_FN void gc_tip_take(const gc_mover_at *q, const gc_tip *p, int kind, int other, gc_vec n, gc_real distance)
{
    if (p->of_mover) gc_point_add(q, kind, p->vertex, other, p->x, n, distance);
    else gc_point_add(q, kind, other, p->vertex, p->x, gc_scale(n, GC_R(-1.0)), distance);
}

/* the shortest way from the segment c-d to x */
GC_FN gc_vec gc_way_from(gc_vec c, gc_vec d, gc_vec x)
{
    gc_vec w = gc_sub(d, c), from = gc_sub(x, c);
    gc_real k = gc_dot(from, w) / gc_dot(w, w);
    return gc_sub(from, gc_scale(w, GC_MIN(GC_MAX(k, GC_R(0.0)), GC_R(1.0))));
}

/* the shorter one of two ways */
GC_FN gc_vec gc_shorter(gc_vec a, gc_vec b) { return gc_dot(b, b) < gc_dot(a, a) ? b : a; }

/* Is x over a loop in the plane through its first corner across n? 1: `high` above it; 2: within the zone of it, but beside a border, and
 * *d is the shortest way there. way: 1 if n is the loop's front, else -1. */
GC_LARGE int gc_place_over(const gc_loop *l, gc_vec x, gc_vec n, gc_real way, gc_real *high, gc_vec *d)
{
    const gc_points *p = l->q->points;
    gc_vec last;
    gc_real least;
    *high = gc_dot(n, gc_sub(x, gc_loop_corner(l, l->begin)));
    if (!(*high >= -p->deep && *high <= p->limit)) return 0;
    least = GC_ABS(*high) <= p->aside ? -p->aside : -p->beside;
    last = gc_loop_corner(l, l->end - 1);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k), inward = gc_scale(gc_cross(n, gc_sub(next, last)), way);
        if (gc_dot(inward, gc_sub(x, last)) < least * gc_norm(inward)) return 0;
        last = next;
    }
    if (least == -p->beside) return 1;
    least = GC_R(0.0);
    *d = gc_sub(x, last);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k), inward = gc_scale(gc_cross(n, gc_sub(next, last)), way);
        least = GC_MIN(least, gc_dot(inward, gc_sub(x, last)) + p->beside * gc_norm(inward));
        *d = gc_shorter(*d, gc_way_from(last, next, x));
        last = next;
    }
    return least < GC_R(0.0) ? 2 : 1;
}

/* a vertex and a face of the other body */
GC_LARGE void gc_place_face(const gc_mover_at *q, const gc_tip *p, int face)
{
    int of_mover = !p->of_mover, over, kind;
    gc_loop l = gc_loop_of(q, of_mover, face);
    const gc_form *form = of_mover ? &q->form : &q->walk->form;
    gc_vec n = gc_load_vec((of_mover ? q->forms.reals : q->walk->world->forms.reals) + form->plane, face), d;
    gc_real way, high;
    if (l.begin == l.end || !(gc_most(n) > GC_R(0.0))) return; /* a point has no face, a face without area no front */
    if (of_mover) n = gc_rotate(q->walk->here.rot, n);
    way = gc_first_side(form->two_sided, 0, n, p->x, gc_loop_corner(&l, l.begin));
    n = gc_scale(n, way);
    kind = of_mover ? GC_TOUCH_FV : GC_TOUCH_VF;
    over = gc_place_over(&l, p->x, n, way, &high, &d);
    if (over == 1) gc_tip_take(q, p, gc_place_kind(q, kind, high), l.source, n, high);
    if (over == 2) gc_tip_take(q, p, kind + GC_TOUCH_ASIDE, l.source, gc_unit(d, n), gc_norm(d));
}

/* do the boxes about a-b and c-d come within `limit` of each other? */
GC_FN int gc_place_boxes(gc_vec a, gc_vec b, gc_vec c, gc_vec d, gc_real limit)
{
    return GC_MIN(a.x, b.x) <= GC_MAX(c.x, d.x) + limit && GC_MAX(a.x, b.x) >= GC_MIN(c.x, d.x) - limit
           && GC_MIN(a.y, b.y) <= GC_MAX(c.y, d.y) + limit && GC_MAX(a.y, b.y) >= GC_MIN(c.y, d.y) - limit
           && GC_MIN(a.z, b.z) <= GC_MAX(c.z, d.z) + limit && GC_MAX(a.z, b.z) >= GC_MIN(c.z, d.z) - limit;
}

/* a vertex and an edge of the other body, out of the zone */
GC_LARGE void gc_place_edge(const gc_mover_at *q, const gc_tip *p, const gc_ridge *r)
{
    const gc_points *near = q->points;
    gc_vec w = gc_sub(r->b, r->a), from = gc_sub(p->x, r->a), d;
    gc_real length, along, gap;
    if (!gc_place_boxes(r->a, r->b, p->x, p->x, near->limit)) return;
    length = gc_norm(w);
    along = gc_dot(from, w) / length;
    if (!(along >= -near->beside && along <= length + near->beside)) return;
    d = gc_sub(from, gc_scale(w, GC_MIN(GC_MAX(along, GC_R(0.0)), length) / length));
    gap = gc_norm(d);
    if (!(gap > near->stands && gap <= near->limit)) return;
    for (int k = 0; k < r->wedge.faces; ++k) {
        gc_vec into = k ? gc_cross(w, r->wedge.second) : gc_cross(r->wedge.first, w);
        if (gc_dot(into, d) > near->beside * length) return;
    }
    if (gc_tip_leads(q, p, gc_scale(d, GC_R(-1.0))))
        gc_tip_take(
            q, p, gc_place_kind(q, p->of_mover ? GC_TOUCH_VE : GC_TOUCH_EV, gap), r->source, gc_scale(d, GC_R(1.0) / gap),
            gap);
}

/* a vertex of each, out of the zone */
GC_FN void gc_place_vertices(const gc_mover_at *q, const gc_tip *p, const gc_tip *y)
{
    gc_vec d = gc_sub(p->x, y->x);
    gc_real gap = gc_norm(d);
    if (!(gap > q->points->stands && gap <= q->points->limit)) return;
    if (gc_tip_leads(q, p, gc_scale(d, GC_R(-1.0))) && gc_tip_leads(q, y, d))
        gc_tip_take(q, p, gc_place_kind(q, GC_TOUCH_VV, gap), y->vertex, gc_scale(d, GC_R(1.0) / gap), gap);
}

/* how far x is on the inner side of the border through c along w, seen along n */
GC_FN gc_real gc_place_inner(gc_vec x, gc_vec c, gc_vec w, gc_vec n)
{
    gc_vec inward = gc_cross(n, w);
    return gc_dot(inward, gc_sub(x, c)) / gc_norm(inward);
}

/* the shortest way from the obstacle's edge r to the mover's p, which do not cross, or are parallel */
GC_FN gc_vec gc_way_of_ends(const gc_ridge *p, const gc_ridge *r)
{
    gc_vec d = gc_shorter(gc_way_from(r->a, r->b, p->a), gc_way_from(r->a, r->b, p->b));
    d = gc_shorter(d, gc_scale(gc_way_from(p->a, p->b, r->a), GC_R(-1.0)));
    return gc_shorter(d, gc_scale(gc_way_from(p->a, p->b, r->b), GC_R(-1.0)));
}

/* two edges in the zone of each other, at x on the obstacle's, d being the shortest way between them; n where that is none */
GC_FN void gc_place_aside(const gc_mover_at *q, const gc_ridge *p, const gc_ridge *r, gc_vec x, gc_vec d, gc_vec n)
{
    gc_point_add(q, GC_TOUCH_EE + GC_TOUCH_ASIDE, p->source, r->source, x, gc_unit(d, n), gc_norm(d));
}

/* parallel edges in the zone: where a turn begins, they may stop it */
GC_LARGE void gc_place_parallel(const gc_mover_at *q, const gc_ridge *p, const gc_ridge *r)
{
    gc_vec d = gc_way_of_ends(p, r), x = gc_scale(gc_add(p->a, p->b), GC_R(0.5));
    if (gc_norm(d) > q->points->aside) return;
    gc_place_aside(q, p, r, gc_sub(x, gc_way_from(r->a, r->b, x)), d, gc_across(gc_sub(r->b, r->a)));
}

/* the mover's edge p and the obstacle's r */
GC_LARGE void gc_place_edges(const gc_mover_at *q, const gc_ridge *p, const gc_ridge *r)
{
    const gc_points *near = q->points;
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), u = gc_sub(p->b, p->a), w = gc_sub(r->b, r->a), n, d;
    gc_crossed x = gc_crossed_of(p->a, u, none, r->a, w);
    gc_real length = gc_norm(x.n), doubt = gc_side_doubt(gc_most(gc_sub(r->a, p->a)), u, w), gap, least;
    int signs, wide;
    if (GC_ABS(x.side) > near->limit * length + doubt + doubt) return;
    if (!(doubt <= GC_ZONE_SURE * near->bound * length)) {
        x = gc_crossed_twofold(p->a, p->b, none, r->a, r->b);
        length = gc_norm(x.n);
    }
    if (!(length > GC_ZONE_PARALLEL * near->bound * GC_MAX(gc_most(u), gc_most(w)))) {
        gc_place_parallel(q, p, r);
        return;
    }
    n = gc_scale(x.n, GC_R(1.0) / length);
    gap = -x.side / length; /* of the mover's edge before the obstacle's, along n */
    if (!(GC_ABS(gap) <= GC_MAX(near->limit, near->deep))) return;
    least = GC_MIN(
        GC_MIN(gc_place_inner(p->a, r->a, w, n), -gc_place_inner(p->b, r->a, w, n)),
        GC_MIN(-gc_place_inner(r->a, p->a, u, n), gc_place_inner(r->b, p->a, u, n)));
    wide = GC_ABS(gap) <= near->aside;
    if (least < (wide ? -near->aside : -near->beside)) return;
    signs = gc_wedge_signs_within(&r->wedge, u, GC_FACING_ROUNDING + near->beside / gc_most(u))
            & gc_wedge_signs_within(&p->wedge, w, GC_FACING_ROUNDING + near->beside / gc_most(w));
    if (signs && least >= -near->beside) {
        gc_real sign = signs == 3 ? (gap < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0)) : (signs == 1 ? GC_R(1.0) : GC_R(-1.0));
        gap *= sign;
        n = gc_scale(n, sign);
        if (!(gap >= -near->deep && gap <= near->limit)) return;
        gc_point_add(q, gc_place_kind(q, GC_TOUCH_EE, gap), p->source, r->source, gc_ridge_next(p, r, none, n), n, gap);
        return;
    }
    if (!wide) return;
    d = least < -near->beside ? gc_way_of_ends(p, r) : gc_scale(n, gap);
    gc_place_aside(q, p, r, gc_ridge_next(p, r, none, n), d, n);
}

/* the mover's edge i, if its box comes within `limit` of that of c and d */
GC_FN int gc_place_ridge(const gc_mover_at *q, int i, gc_vec c, gc_vec d, gc_real limit, gc_ridge *mine)
{
    GC_GLOBAL const int *edge = q->forms.ints + q->form.edge + GC_FORM_EDGE_STRIDE * i;
    gc_vec a = gc_first_place(q, edge[GC_FORM_EDGE_first]), b = gc_first_place(q, edge[GC_FORM_EDGE_second]);
    if (!gc_place_boxes(a, b, c, d, limit)) return 0;
    gc_ridge_of_mover(q, GC_STANDS, i, a, mine);
    return 1;
}

/* Which of `n` edges of the mover, or of its vertices, come near the leaf, as bits; all of so few that it does not pay, of more than there
 * are bits, and where a group shares them out: an item looks at few of them. */
GC_FN gc_ulong gc_places_near(const gc_mover_at *q, int edges, int from, int n)
{
    const gc_trip *w = q->walk;
    gc_ulong near = 0, bit = 1;
    gc_vec low, high;
    if (GC_GROUP_SIZE > 1 || n < 4 || n > 64) return ~near;
    gc_leaf_box(w, &low, &high);
    for (int k = from; k < from + n; ++k, bit <<= 1) {
        GC_GLOBAL const int *edge = q->forms.ints + q->form.edge + GC_FORM_EDGE_STRIDE * k;
        gc_vec a = gc_first_place(q, edges ? edge[GC_FORM_EDGE_first] : q->forms.ints[q->form.vertex + k]),
               b = edges ? gc_first_place(q, edge[GC_FORM_EDGE_second]) : a;
        if (gc_place_boxes(a, b, low, high, w->grown)) near |= bit;
    }
    return near;
}

/* is a feature among these? */
GC_FN int gc_places_has(gc_ulong near, int k) { return k >= 64 || (near >> k & 1); }

/* Faces [first, last) of the mover and what they own, against the leaf. Each pair of features is some item's. */
GC_LARGE void gc_places_leaf(const gc_mover_at *q, int first, int last)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    int v0 = gc_form_begin(s, &q->form, first, GC_FORM_FACE_vertex),
        e0 = gc_form_begin(s, &q->form, first, GC_FORM_FACE_edge);
    int nv = gc_form_begin(s, &q->form, last, GC_FORM_FACE_vertex) - v0,
        ne = gc_form_begin(s, &q->form, last, GC_FORM_FACE_edge) - e0;
    int was = -1, live = 0;
    gc_ulong vertices = gc_places_near(q, 0, v0, nv), edges = gc_places_near(q, 1, e0, ne);
    gc_pairs_of p = gc_pairs_begin(w->first, w->last, nv);
    gc_found any;
    gc_ridge theirs;
    gc_tip tip;
    any.time = GC_R(1.0);
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            was = p.at;
            live = gc_first_face_near(w, &any, p.at);
        }
        if (!live) p.in = gc_pairs_rest(&p);
        else if (gc_places_has(vertices, p.in)) {
            gc_tip mine = gc_tip_of(q, 1, v0 + p.in);
            gc_place_face(q, &mine, p.at);
        }
    }
    p = gc_pairs_begin(
        gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_edge), gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_edge),
        nv + ne);
    was = -1;
    theirs.source = 0;
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        if (p.at != was) {
            was = p.at;
            gc_ridge_of_obstacle(q, p.at, &theirs);
            live = gc_first_near(w, &any, gc_least(theirs.a, theirs.b), gc_greatest(theirs.a, theirs.b));
        }
        if (!live) p.in = gc_pairs_rest(&p);
        else if (p.in >= nv) {
            gc_real limit = q->points->limit + q->points->aside;
            gc_ridge mine;
            if (gc_places_has(edges, p.in - nv) && gc_place_ridge(q, e0 + p.in - nv, theirs.a, theirs.b, limit, &mine))
                gc_place_edges(q, &mine, &theirs);
        } else if (gc_places_has(vertices, p.in)) {
            gc_tip mine = gc_tip_of(q, 1, v0 + p.in);
            gc_place_edge(q, &mine, &theirs);
        }
    }
    p = gc_pairs_begin(
        gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_vertex), gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_vertex),
        last - first + ne + nv);
    was = -1;
    tip.vertex = 0;
    for (; gc_pairs_settle(&p); p.in += GC_GROUP_SIZE) {
        int in = p.in - (last - first);
        if (p.at != was) {
            was = p.at;
            tip = gc_tip_of(q, 0, p.at);
            live = gc_first_near(w, &any, tip.x, tip.x);
        }
        if (!live) p.in = gc_pairs_rest(&p);
        else if (in < 0) gc_place_face(q, &tip, first + p.in);
        else if (in < ne) {
            gc_ridge mine;
            if (gc_places_has(edges, in) && gc_place_ridge(q, e0 + in, tip.x, tip.x, q->points->limit, &mine))
                gc_place_edge(q, &tip, &mine);
        } else if (gc_places_has(vertices, in - ne)) {
            gc_tip mine = gc_tip_of(q, 1, v0 + in - ne);
            gc_place_vertices(q, &mine, &tip);
        }
    }
}

/* the pieces of the mover that are near the leaf, each against it */
GC_FN void gc_places_pieces(const gc_mover_at *q)
{
    gc_pieces p;
    int first, end;
    if (gc_query_whole(q)) {
        gc_places_leaf(q, 0, q->form.faces);
        return;
    }
    gc_pieces_begin(q, &p);
    while (gc_pieces_next(&p, q, GC_STANDS, q->walk->motion->end, &first, &end)) gc_places_leaf(q, first, end);
}

/* how near counts of mover i, which is loaded: `distance` beyond its zone, and how deep is no more than touch */
GC_FN void gc_places_of(gc_points *p, const gc_mover_at *q, gc_trip *w, int i, gc_real distance, gc_real deep)
{
    p->mover = i;
    p->bound = q->zone.doubt / GC_ZONE_SURE;
    p->stands = GC_ZONE_STANDS * q->zone.expel;
    p->aside = GC_ZONE_ASIDE * q->zone.expel;
    p->beside = GC_ZONE_LATERAL * (p->bound + GC_ZONE_DEFAULT * GC_ROUNDING * distance);
    p->reach = distance + p->stands;
    p->deep = GC_MAX(deep, p->aside);
    p->limit = GC_MAX(p->reach, p->deep);
    w->grown += p->limit;
}

/* A row that says that the walk has come to a body: who is inside whom is asked elsewhere. */
GC_FN void gc_places_body(const gc_mover_at *q)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    if (q->walk->nodes > 0 && GC_LOCAL_ID == 0) gc_point_add(q, GC_TOUCH_NONE, 0, 0, none, none, GC_R(0.0));
}

#endif
