/* gc_leaf.h: all features of some faces of a mover against those of a leaf of an obstacle's tree.
 * needs: pluecker/gc_first.h
 *
 * In the frame of the obstacle's mesh. Pairs of features are shared between the work-items of a group.
 */
#ifndef GC_LEAF_H
#define GC_LEAF_H

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

/* one vertex against the border r of a face, whose number is `source` */
GC_LARGE void gc_first_border(
    const gc_mover_at *q,
    int mode,
    gc_found *best,
    int of_mover,
    const gc_ridge *r,
    int source,
    int vertex,
    gc_vec x)
{
    gc_vertex_at p;
    p.loop = gc_loop_of_border(q, of_mover, r->a, r->b, r->wedge.first, source);
    p.vertex = vertex;
    p.side = 0;
    p.x = x;
    p.n = gc_direction(gc_cross(gc_sub(r->b, r->a), r->wedge.first), r->wedge.first);
    p.corner = r->a;
    p.way = GC_R(1.0);
    gc_first_vertex(q, mode, best, of_mover, -1, &p);
}

/* vertices of faces [first, last) of the mover against the borders of the leaf */
GC_LARGE void gc_first_borders(const gc_mover_at *q, int mode, gc_found *best, int first, int last)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    int begin = gc_form_begin(s, &q->form, first, GC_FORM_FACE_vertex),
        end = gc_form_begin(s, &q->form, last, GC_FORM_FACE_vertex);
    for (int face = w->first; face < w->last; ++face) {
        int stop = gc_form_begin(t, &w->form, face + 1, GC_FORM_FACE_border);
        for (int i = gc_form_begin(t, &w->form, face, GC_FORM_FACE_border); i < stop; ++i) {
            gc_ridge r;
            gc_ridge_of_obstacle(q, t->ints[w->form.border + i], &r);
            if (!gc_first_near(w, best, gc_least(r.a, r.b), gc_greatest(r.a, r.b))) continue;
            for (int k = begin + GC_LOCAL_ID; k < end; k += GC_GROUP_SIZE) {
                int vertex = s->ints[q->form.vertex + k];
                gc_first_border(q, mode, best, 0, &r, t->ints[w->form.source + face], vertex, gc_first_place(q, vertex));
            }
        }
    }
}

/* borders of faces [first, last) of the mover against the vertices of the leaf */
GC_LARGE void gc_first_borders_of_mover(const gc_mover_at *q, int mode, gc_found *best, int first, int last)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    int begin = gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_vertex),
        end = gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_vertex);
    for (int k = begin + GC_LOCAL_ID; k < end; k += GC_GROUP_SIZE) {
        int vertex = t->ints[w->form.vertex + k];
        gc_vec y = gc_form_place(t, &w->form, vertex);
        if (!gc_first_near(w, best, y, y)) continue;
        for (int face = first; face < last; ++face) {
            int stop = gc_form_begin(s, &q->form, face + 1, GC_FORM_FACE_border);
            for (int i = gc_form_begin(s, &q->form, face, GC_FORM_FACE_border); i < stop; ++i) {
                int edge = s->ints[q->form.border + i];
                GC_GLOBAL const int *ends = s->ints + q->form.edge + GC_FORM_EDGE_STRIDE * edge;
                gc_ridge r;
                r.wedge.first = gc_rotate(w->here.rot, gc_load_vec(s->reals + q->form.wedge + 6 * edge, 0));
                r.a = gc_first_place(q, ends[GC_FORM_EDGE_first]);
                r.b = gc_first_place(q, ends[GC_FORM_EDGE_second]);
                gc_first_border(q, mode, best, 1, &r, s->ints[q->form.source + face], vertex, y);
            }
        }
    }
}

GC_FN void gc_first_leaf(const gc_mover_at *q, int mode, gc_found *best, int first, int last)
{
    const gc_trip *w = q->walk;
    const gc_forms *t = &w->world->forms, *s = &q->forms;
    gc_first_vertices(
        q, mode, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_vertex),
        gc_form_begin(s, &q->form, last, GC_FORM_FACE_vertex));
    if (gc_form_begin(s, &q->form, last, GC_FORM_FACE_corner) > gc_form_begin(s, &q->form, first, GC_FORM_FACE_corner))
        gc_first_polygons(q, mode, best, first, last); /* a point has none */
    gc_first_edges(
        q, mode, best, gc_form_begin(s, &q->form, first, GC_FORM_FACE_edge),
        gc_form_begin(s, &q->form, last, GC_FORM_FACE_edge));
    if (gc_form_begin(t, &w->form, w->last, GC_FORM_FACE_border) > gc_form_begin(t, &w->form, w->first, GC_FORM_FACE_border))
        gc_first_borders(q, mode, best, first, last);
    if (gc_form_begin(s, &q->form, last, GC_FORM_FACE_border) > gc_form_begin(s, &q->form, first, GC_FORM_FACE_border))
        gc_first_borders_of_mover(q, mode, best, first, last);
}

#endif
