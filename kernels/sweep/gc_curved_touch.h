/* gc_curved_touch.h: what of a body that turns is touched in a piece of the path that it sees.
 * needs: sweep/gc_collector.h sweep/gc_internal_edges.h
 *
 * Gaps (gc_curved_path.h) say when; whether it is a touch then, the tests of straight paths decide on the tangent of the moment, from that
 * moment on, so that the rules at starts, borders, seams and for one who is sunk in are theirs. Where these tests say that it is touched
 * a little later, the moment moves on.
 */
#ifndef GC_CURVED_TOUCH_H
#define GC_CURVED_TOUCH_H
#if GC_BODY_MOTION

/* a feature as the tests take it: a face with the side that its normal is on, an edge from a to b or a vertex a = b */
typedef struct {
    int kind, at, begin, end; /* begin, end: of its faces in their list */
    gc_real side;             /* 1, or -1 for the back of a face */
    gc_vec a, b, e;           /* e: from a to b; of a face its normal, a is a corner */
} gc_curved_feature;

/* A point, or a sphere that is hardly more, on the plane of a face: when is its foot on the face, within what rounding leaves open of the
 * time and of the borders? */
GC_LARGE gc_real gc_curved_thin(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int face,
    gc_real which,
    gc_real *time)
{
    int corner = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
    int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
    gc_vec n = gc_cast_mesh_corner(w, g, corner - 1), x = gc_cast_mesh_corner(w, g, corner);
    gc_vec y = gc_ellipsoid_space_point(v, x), foot;
    gc_real d = -which * gc_dot(n, y), k = -which * gc_dot(n, v->way), in, out;
    if (!(k > GC_R(0.0)) || k * k <= v->least * v->square || d < -v->slack) return GC_SWEEP_NEVER;
    in = -GC_R(4.0) * v->slack / k;
    out = -in;
    for (int j = corner; j < end; ++j) {
        gc_vec next = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : corner), side = gc_cross(n, gc_sub(next, x));
        gc_real rate = gc_dot(side, v->way), at = gc_dot(side, y) - GC_R(2.0) * v->slack * gc_norm(side);
        if (rate > GC_R(0.0)) in = GC_MAX(in, at / rate);
        else if (rate < GC_R(0.0)) out = GC_MIN(out, at / rate);
        else if (at > GC_R(0.0)) return GC_SWEEP_NEVER;
        x = next;
        y = gc_ellipsoid_space_point(v, x);
    }
    if (!(in <= out)) return GC_SWEEP_NEVER;
    in = GC_MIN(GC_MAX(GC_R(0.0), in), out);
    foot = gc_scale(v->way, in);
    foot = gc_sub(foot, gc_scale(n, gc_dot(n, gc_sub(foot, y))));
    if (!gc_touch_along(w, g, v, corner, end, foot)) return GC_SWEEP_NEVER;
    *time = GC_MAX(*time + in, GC_R(0.0));
    return GC_R(0.0);
}

/* How long after a moment it is touched, if the path went straight on; late: at whatever depth below what touches it otherwise. */
GC_LARGE gc_real gc_curved_after(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    gc_ellipsoid_space *v,
    const gc_curved_feature *f,
    int late,
    gc_real *time)
{
    gc_vec y = gc_ellipsoid_space_point(v, f->a), e = f->e;
    gc_real near = GC_MAX(v->radius - v->onto, GC_R(0.0)), ahead = -f->side * gc_dot(e, y);
    if (f->kind == GC_FEATURE_VERTEX) return gc_touch_vertex(v, y);
    if (f->kind == GC_FEATURE_EDGE) {
        gc_vec across = gc_cross(y, e);
        if (late && gc_dot(across, across) >= near * near * gc_dot(e, e)) return GC_SWEEP_NEVER;
        if (late) v->onto = v->radius;
        return gc_touch_edge(v, y, e, GC_R(1.0));
    }
    if (v->thin) return gc_curved_thin(w, g, v, f->at, f->side, time);
    /* of a face seen from both sides the side where the centre is */
    if (f->side < GC_R(0.0) ? !(ahead > GC_R(0.0)) : g->two_sided && ahead < GC_R(0.0)) return GC_SWEEP_NEVER;
    if (late && ahead >= near) return GC_SWEEP_NEVER;
    if (late) v->onto = v->radius;
    return gc_touch_face(w, g, v, f->at, GC_R(1.0));
}

/* Is it touched at this time, or a little later? v: the tangent then */
GC_LARGE int gc_curved_touches(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_curved *o,
    const gc_path_gap *gap,
    const gc_curved_feature *f,
    int late,
    gc_real last,
    gc_real *time,
    gc_body_state *now,
    gc_ellipsoid_space *v)
{
    for (int i = 0; i < 8 && *time <= last; ++i) {
        gc_real after, own;
        gc_curved_moment(o, now, v);
        own = v->radius;
        v->radius += GC_R(0.125) * v->slack; /* what rounding left of the gap is closed */
        after = gc_curved_after(w, g, v, f, late, time);
        v->radius = own;
        v->onto = GC_SWEEP_ONTO * v->slack;
        if (!(after <= GC_R(1.0))) return 0;
        if (after * after * v->square <= v->slack * v->slack) break;
        *time += after;
        gc_curved_at(o, *time, now);
        /* who has sunk in by more than rounding comes onto it at a time of its own, which this is not */
        if (after * after * v->square > GC_R(1e10) * v->slack * v->slack
            && (late || gc_path_gap_at(o, gap, 0, now).f < GC_R(-2.0) * v->onto))
            return 0;
    }
    return *time <= last;
}

/* Is the foot on what lies between two borders beside it all through the piece? n: inwards from the border through x; square: of its
 * length. */
GC_FN int gc_curved_beside(const gc_curved *o, gc_vec n, gc_real square, gc_vec x)
{
    gc_real off = gc_dot(n, gc_sub(o->middle.q, x));
    return off < GC_R(0.0) && off * off > o->roam * o->roam * square;
}

/* Does what goes along a plane by so little that the foot may come onto the face much later? */
GC_FN int gc_curved_steep(const gc_curved *o, gc_vec n)
{
    return GC_ABS(gc_dot(n, o->middle.v)) * o->length > GC_R(1e-4) * o->roam + o->pad + o->pad;
}

/* all touches in the piece that one gap tells of; late: from `since` on */
GC_LARGE void gc_curved_feature_times(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_path_gap *gap,
    int which,
    const gc_curved_feature *f,
    int late,
    gc_real since,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    const gc_curved *o = net->curved;
    gc_body_state now;
    gc_ellipsoid_space v;
    gc_falls walk;
    gc_real time;
    if (!gc_path_gap_begin(o, gap, gc_collector_last(net), &walk)) return;
    while (gc_path_gap_next(o, gap, which, &walk, &time, &now)) {
        if (!gc_curved_touches(w, g, o, gap, f, late, gc_collector_last(net), &time, &now, &v) || (late && time < since))
            continue;
        c->time = time;
        if (f->kind != GC_FEATURE_FACE) {
            int lies;
            c->face = gc_touch_front(w, g, &v, gc_ellipsoid_space_point(&v, f->a), GC_R(0.0), f->begin, f->end);
            if (c->face < 0) continue;
            lies = gc_on_internal_edge(w, g, &v, f->a, f->b, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), f->begin, f->end);
            if (lies == GC_LIES_SUNK) net->sunk = GC_MIN(net->sunk, time);
            if (lies != GC_LIES_NOT) continue;
        }
        gc_collector_add(w, net, c);
    }
}

/* A face; late: what it, or for one who is on its plane its sides, are come onto from. */
GC_LARGE void gc_curved_face(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    int face,
    int late,
    gc_real since,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    int corner = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
    int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
    gc_vec n = gc_cast_mesh_corner(w, g, corner - 1), x = gc_cast_mesh_corner(w, g, corner);
    gc_curved_feature f;
    gc_path_gap gap;
    f.kind = c->kind = GC_FEATURE_FACE;
    f.at = c->at = face;
    f.begin = f.end = 0;
    f.a = f.b = x;
    f.e = n;
    c->face = c->number = w->ints[g->source + face];
    for (int j = corner; j < end && gc_curved_steep(net->curved, n); ++j) {
        gc_vec from = gc_cast_mesh_corner(w, g, j), to = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : corner);
        gc_vec in = gc_cross(n, gc_sub(to, from));
        if (gc_curved_beside(net->curved, in, gc_dot(in, in), from)) return;
    }
    for (int back = 0; back <= (g->two_sided != 0); ++back) {
        f.side = back ? GC_R(-1.0) : GC_R(1.0);
        gap = gc_path_gap_of(0, gc_scale(n, f.side), x, net->curved->radius);
        gc_curved_feature_times(w, g, &gap, late ? GC_GAP_NEARS : GC_GAP_TOUCHES, &f, late, since, c, net);
        for (int j = corner; late && j < end; ++j) {
            gc_vec from = gc_cast_mesh_corner(w, g, j), to = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : corner);
            gc_vec out = gc_cross(gc_sub(to, from), n);
            gap = gc_path_gap_of(0, gc_unit(out, out), from, GC_R(0.0));
            gc_curved_feature_times(w, g, &gap, GC_GAP_FALLS, &f, late, since, c, net);
        }
    }
}

/* an edge from a to b, or a vertex a = b; own: its entry and the next one in their table */
GC_LARGE void gc_curved_rim(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    GC_GLOBAL const int *own,
    gc_curved_feature *f,
    int late,
    gc_real since,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    gc_vec e;
    gc_path_gap gap;
    f->e = gc_sub(f->b, f->a);
    f->begin = own[GC_CAST_MESH_EDGE_around];
    f->end = own[GC_CAST_MESH_EDGE_STRIDE + GC_CAST_MESH_EDGE_around];
    f->side = GC_R(1.0);
    c->kind = f->kind;
    c->at = f->at;
    c->number = own[GC_CAST_MESH_EDGE_source];
    e = gc_unit(f->e, f->e);
    gap = gc_path_gap_of(1, e, f->a, net->curved->radius);
    gc_curved_feature_times(w, g, &gap, late ? GC_GAP_NEARS : GC_GAP_TOUCHES, f, late, since, c, net);
    if (!late || f->kind != GC_FEATURE_EDGE) return;
    gap = gc_path_gap_of(0, gc_scale(e, GC_R(-1.0)), f->a, GC_R(0.0));
    gc_curved_feature_times(w, g, &gap, GC_GAP_FALLS, f, late, since, c, net);
    gap = gc_path_gap_of(0, e, f->b, GC_R(0.0));
    gc_curved_feature_times(w, g, &gap, GC_GAP_FALLS, f, late, since, c, net);
}

/* the faces of a leaf in the piece that is looked at, and what they own; a point touches faces only */
GC_LARGE void gc_curved_leaf(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    int first,
    int last,
    int late,
    gc_real since,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    int end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_edge);
    gc_curved_feature f;
    for (int face = first; face < last; ++face) gc_curved_face(w, g, face, late, since, c, net);
    if (!(net->curved->radius > GC_SWEEP_POINT * net->curved->slack)) return;
    f.kind = GC_FEATURE_EDGE;
    for (f.at = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_edge); f.at < end; f.at += 1) {
        f.a = gc_load_vec(w->reals + g->side, 2 * f.at);
        f.b = gc_load_vec(w->reals + g->side, 2 * f.at + 1);
        gc_curved_rim(w, g, w->ints + g->edge + GC_CAST_MESH_EDGE_STRIDE * f.at, &f, late, since, c, net);
    }
    end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_vertex);
    f.kind = GC_FEATURE_VERTEX;
    for (f.at = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_vertex); f.at < end; f.at += 1) {
        f.a = f.b = gc_load_vec(w->reals + g->tip, f.at);
        gc_curved_rim(w, g, w->ints + g->vertex + GC_CAST_MESH_EDGE_STRIDE * f.at, &f, late, since, c, net);
    }
}

#endif
#endif
