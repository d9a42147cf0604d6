/* gc_traverse.h: a swept sphere through both trees, nearest first.
 * needs: sweep/gc_curved_touch.h
 *
 * Without recursion: one stack for the tree over the bodies and, above its entries, for the tree over a body's faces. What
 * can only be met later than the best touch so far is skipped; what may be equally early is not, so neither trees nor order
 * affect a result. GC_COLLECT_FIRST keeps the best touch, GC_COLLECT_ANY ends at the first one found, and GC_COLLECT_ALL
 * counts each, and writes it if there is room.
 */
#ifndef GC_TRAVERSE_H
#define GC_TRAVERSE_H

/* Does an edge or a vertex from a to b, whose faces are from `begin` to `end` of their list, count when it is touched? */
GC_FN int gc_touch_counts(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec a,
    gc_vec b,
    int begin,
    int end,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    int rests;
    c->face = gc_touch_front(w, g, v, gc_ellipsoid_space_point(v, a), c->time, begin, end);
    if (c->face < 0) return 0;
    rests = gc_on_internal_edge(w, g, v, a, b, gc_scale(v->way, c->time), begin, end);
    if (rests == GC_LIES_SUNK) net->sunk = GC_MIN(net->sunk, c->time);
    return rests == GC_LIES_NOT;
}

/* edges and vertices that the faces from `first` to `last` own */
GC_FN void gc_traverse_rim(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int first,
    int last,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    GC_GLOBAL const int *ints = w->ints + g->edge;
    int end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_edge);
    for (c->at = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_edge); c->at < end; c->at += 1) {
        gc_vec a = gc_load_vec(w->reals + g->side, 2 * c->at), b = gc_load_vec(w->reals + g->side, 2 * c->at + 1);
        gc_vec y = gc_ellipsoid_space_point(v, a);
        GC_GLOBAL const int *own = ints + GC_CAST_MESH_EDGE_STRIDE * c->at;
        c->time = gc_touch_edge(v, y, gc_ellipsoid_space_vector(v, gc_sub(b, a)), gc_collector_last(net));
        if (c->time > gc_collector_last(net)) continue;
        if (!gc_touch_counts(
                w, g, v, a, b, own[GC_CAST_MESH_EDGE_around], own[GC_CAST_MESH_EDGE_STRIDE + GC_CAST_MESH_EDGE_around], c,
                net))
            continue;
        c->kind = GC_FEATURE_EDGE;
        c->number = own[GC_CAST_MESH_EDGE_source];
        gc_collector_add(w, net, c);
    }
    ints = w->ints + g->vertex;
    end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_vertex);
    for (c->at = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_vertex); c->at < end; c->at += 1) {
        gc_vec a = gc_load_vec(w->reals + g->tip, c->at), y = gc_ellipsoid_space_point(v, a);
        GC_GLOBAL const int *own = ints + GC_CAST_MESH_EDGE_STRIDE * c->at;
        c->time = gc_touch_vertex(v, y);
        if (c->time > gc_collector_last(net)) continue;
        if (!gc_touch_counts(
                w, g, v, a, a, own[GC_CAST_MESH_EDGE_around], own[GC_CAST_MESH_EDGE_STRIDE + GC_CAST_MESH_EDGE_around], c,
                net))
            continue;
        c->kind = GC_FEATURE_VERTEX;
        c->number = own[GC_CAST_MESH_EDGE_source];
        gc_collector_add(w, net, c);
    }
}

/* the faces of a leaf, and what they own; a point touches faces only */
GC_FN void gc_traverse_leaf(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int first,
    int last,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    for (int face = first; face < last; ++face) {
        c->time = gc_touch_face(w, g, v, face, gc_collector_last(net));
        if (c->time <= gc_collector_last(net)) {
            c->kind = GC_FEATURE_FACE;
            c->at = face;
            c->face = c->number = w->ints[g->source + face];
            gc_collector_add(w, net, c);
        }
    }
    if (v->radius > GC_SWEEP_POINT * v->slack) gc_traverse_rim(w, g, v, first, last, c, net);
}

/* The same for one who is sunk in, from `since` on: faces and edges that it comes onto at whatever depth, and that are not
 * touched as such. Before such a one there is nothing that these miss: who is within its radius of a face that it approaches
 * was within it of an edge or a vertex there before, which was touched or did not count for one who was sunk in beside it. */
GC_LARGE void gc_traverse_sunk(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    gc_ellipsoid_space *v,
    int first,
    int last,
    gc_real since,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    gc_real own = v->onto;
    for (int face = first; face < last; ++face) {
        GC_GLOBAL const int *ints = w->ints + g->edge;
        int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_edge);
        gc_real most = gc_collector_last(net);
        v->onto = v->radius;
        c->time = gc_touch_face(w, g, v, face, most);
        v->onto = own;
        if (c->time >= since && c->time <= most && gc_touch_face(w, g, v, face, most) > GC_R(1.0)) {
            c->kind = GC_FEATURE_FACE;
            c->at = face;
            c->face = c->number = w->ints[g->source + face];
            gc_collector_add(w, net, c);
        }
        for (c->at = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_edge); c->at < end; c->at += 1) {
            gc_vec a = gc_load_vec(w->reals + g->side, 2 * c->at), b = gc_load_vec(w->reals + g->side, 2 * c->at + 1);
            gc_vec y = gc_ellipsoid_space_point(v, a), e = gc_ellipsoid_space_vector(v, gc_sub(b, a));
            GC_GLOBAL const int *around = ints + GC_CAST_MESH_EDGE_STRIDE * c->at + GC_CAST_MESH_EDGE_around;
            most = gc_collector_last(net);
            v->onto = v->radius;
            c->time = gc_touch_edge(v, y, e, most);
            v->onto = own;
            if (!(c->time >= since && c->time <= most) || gc_touch_edge(v, y, e, most) <= GC_R(1.0)) continue;
            if (!gc_touch_counts(w, g, v, a, b, around[0], around[GC_CAST_MESH_EDGE_STRIDE], c, net)) continue;
            c->kind = GC_FEATURE_EDGE;
            c->number = ints[GC_CAST_MESH_EDGE_STRIDE * c->at + GC_CAST_MESH_EDGE_source];
            gc_collector_add(w, net, c);
        }
    }
}

/* the latest time of use as a share of what is traversed now: of the path, or of a piece of it */
GC_FN gc_real gc_traverse_last(const gc_cast_collector *net)
{
    gc_real last = gc_collector_last(net);
#if GC_BODY_MOTION
    if (net->curved) last = (last - net->curved->from) / net->curved->length;
#endif
    return last;
}

/* the faces of a mesh that a path comes to, with a stack from n on; late: for one who is sunk in since then */
GC_FN void gc_traverse_faces(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    gc_ellipsoid_space *v,
    const gc_ray_box *d,
    int late,
    gc_real since,
    int *stack,
    gc_raster *when,
    int n,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    int base = n;
    stack[n] = 0;
    when[n++] = GC_F(0.0);
    while (n > base) {
        gc_raster last = gc_ray_box_time(d, gc_traverse_last(net)), times[GC_BVH8_KIDS];
        int kid = 0, leaf, first, end;
        do { /* nodes until a leaf is next, so that lanes have leaves together */
            int some;
            n -= 1;
            if (when[n] > last) continue;
            kid = stack[n];
            if (kid < 0) break;
            some = gc_ray_box_look(d, w->nodes + g->node + GC_BVH8_STRIDE * kid, last, times);
            n = gc_bvh8_pile(w->ints + g->kid + GC_BVH8_KIDS * kid, times, some, stack, when, n);
        } while (!GC_SERIAL && n > base);
        if (kid >= 0) continue;
        leaf = -1 - kid;
        first = leaf >> GC_BVH8_LEAF;
        end = first + (leaf & ((1 << GC_BVH8_LEAF) - 1)) + 1;
#if GC_BODY_MOTION
        if (net->curved) gc_curved_leaf(w, g, first, end, late, since, c, net);
        else
#endif
            if (late) {
            gc_traverse_sunk(w, g, v, first, end, since, c, net);
        } else {
            gc_traverse_leaf(w, g, v, first, end, c, net);
        }
        if (gc_collector_ends(net)) return;
    }
}

#if GC_BODY_MOTION
/* a body that turns: piece by piece of the path that it sees */
GC_LARGE void gc_traverse_turning(
    const gc_cast_scene *w,
    const gc_ball *b,
    const gc_cast_mesh *g,
    const gc_real *low,
    const gc_real *high,
    int *stack,
    gc_raster *when,
    int n,
    gc_cast_hit *c,
    gc_cast_collector *net)
{
    gc_curved o;
    gc_ellipsoid_space v;
    gc_ray_box d;
    gc_curved_make(w, b, c->body, &o);
    net->curved = &o;
    for (int late = 0; late < 2 && !gc_collector_ends(net); ++late) {
        gc_real since = net->sunk;
        int first = 1;
        if (late && since > gc_collector_last(net)) break;
        while (!gc_collector_ends(net) && gc_curved_piece(&o, first, low, high, gc_collector_last(net), &d)) {
            first = 0;
            gc_traverse_faces(w, g, &v, &d, late, since, stack, when, n, c, net);
        }
    }
    net->curved = 0;
}
#endif

/* one body, with a stack from n on */
GC_FN void gc_traverse_body(
    const gc_cast_scene *w,
    const gc_ball *b,
    int body,
    int ball,
    int *stack,
    gc_raster *when,
    int n,
    gc_cast_collector *net)
{
    int shape = w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_shape];
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * shape;
    gc_real low[3], high[3], since;
    gc_cast_hit c;
    gc_cast_mesh g;
    gc_ellipsoid_space v;
    gc_ray_box d;
    for (int k = 0; k < 3; ++k) {
        low[k] = size[GC_CAST_MESH_SIZE_low + k];
        high[k] = size[GC_CAST_MESH_SIZE_high + k];
    }
    c.query = net->best.query;
    c.body = body;
    c.ball = ball;
    net->sunk = since = GC_SWEEP_NEVER;
#if GC_BODY_MOTION
    if (w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_turns]) {
        gc_cast_mesh_load(w, shape, &g);
        gc_traverse_turning(w, b, &g, low, high, stack, when, n, &c, net);
        return;
    }
#endif
    gc_ellipsoid_space_make(w, b, body, &v);
    if (!(v.square > GC_R(0.0))) return;
    v.sides = gc_make(v.sides.x + v.slack, v.sides.y + v.slack, v.sides.z + v.slack);
    if (!gc_ray_box_make(v.centre, v.line, v.sides, low, high, gc_collector_last(net), &d)) return;
    gc_cast_mesh_load(w, shape, &g);
    for (int late = 0; late < 2; ++late) {
        if (late && net->sunk > gc_collector_last(net)) return;
        since = net->sunk;
        gc_traverse_faces(w, &g, &v, &d, late, since, stack, when, n, &c, net);
        if (gc_collector_ends(net)) return;
    }
}

/* all bodies */
GC_FN void gc_traverse_world(const gc_cast_scene *w, const gc_ball *b, int ball, gc_cast_collector *net)
{
    int stack[2 * GC_BVH8_STACK];
    gc_raster when[2 * GC_BVH8_STACK];
    GC_GLOBAL const gc_real *frame = w->frame;
    gc_real low[3], high[3], shrink = frame[GC_CAST_SCENE_shrink], axes[9];
    gc_vec sides;
    gc_ray_box d;
    int n = 0, next = 0, behind = frame[GC_CAST_SCENE_alone] > GC_R(0.0);
    for (int k = 0; k < 3; ++k) {
        low[k] = frame[GC_CAST_SCENE_low + k];
        high[k] = frame[GC_CAST_SCENE_high + k];
    }
    if (!b->round) gc_ball_axes(b, gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0)), axes);
    sides = gc_scale(gc_ball_sides(b, axes), shrink);
    if (!behind) {
        if (!gc_ray_box_make(
                gc_cast_in_tree(w, net->best.query, b->start), gc_scale(b->path, shrink), sides, low, high,
                gc_collector_last(net), &d))
            return;
        stack[0] = 0;
        when[n++] = GC_F(0.0);
    }
    while (n > 0 || next < behind) {
        int body, here;
        while (next >= behind && n > 0) { /* nodes until there are bodies, for the same reason */
            gc_raster last = gc_ray_box_time(&d, gc_collector_last(net)), times[GC_BVH8_KIDS];
            int kid, leaf, some;
            n -= 1;
            if (when[n] > last) continue;
            kid = stack[n];
            if (kid < 0) {
                leaf = -1 - kid;
                next = leaf >> GC_BVH8_LEAF;
                behind = next + (leaf & ((1 << GC_BVH8_LEAF) - 1)) + 1;
                break;
            }
            some = gc_ray_box_look(&d, w->crowds + GC_BVH8_STRIDE * kid, last, times);
            n = gc_bvh8_pile(w->crowd_kids + GC_BVH8_KIDS * kid, times, some, stack, when, n);
        }
        if (next >= behind) return;
        here = next++;
        body = w->order[2 * here];
        if (w->rules && !gc_cast_meets(w, net->best.query, here)) continue;
        gc_traverse_body(w, b, body, ball, stack, when, n, net);
        if (gc_collector_ends(net)) return;
    }
}

#endif
