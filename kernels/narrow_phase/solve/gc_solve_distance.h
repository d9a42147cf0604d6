/* gc_solve_distance.h: one candidate of bodies at a distance to its hits.
 * needs: narrow_phase/solve/gc_gap_roots.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. A candidate of two edges stands for these, and for their ends, each of which belongs to one
 * edge. Roots are looked for in the piece of the motion for which the candidate was proposed, in nodes of it, of which those outside its
 * bracket are left out: so no bits hang on how wide a box was.
 * Candidates of a piece are solved side by side, one node of time after the other: none in which the boxes of both meshes stay apart, and
 * none behind the first hit where that is all that is asked for.
 */
#ifndef GC_SOLVE_DISTANCE_H
#define GC_SOLVE_DISTANCE_H
/* a motion begins with so many nodes, and each piece of one with so many of them as make that of all */
#define GC_GAP_NODES 16
/* candidates that a work-item alone solves side by side */
#define GC_GAP_SIDE_BY_SIDE (GC_SERIAL ? 64 : 1)

#if GC_AT_DISTANCE

/* what was told of the functions of a candidate */
#define GC_GAP_FUNCTIONS 10
typedef struct {
    int settled; /* bits of those of which nothing is left to tell */
    gc_real touched[GC_GAP_FUNCTIONS];
} gc_gap_told;

/* One function of a candidate in a node from `lo` on of length h, with the state in its middle. */
GC_LARGE int gc_gap_node(
    const gc_tables *t,
    const gc_hits *o,
    int pair,
    int fa,
    int fb,
    const gc_gap_curve *c,
    gc_real lo,
    gc_real h,
    const gc_body_state *middle,
    int number,
    gc_gap_told *told)
{
    gc_real arm = GC_R(0.5) * h;
    int kind = c->f.kind;
    gc_gap_value v;
    gc_body_state now;
    if (told->settled >> number & 1) return 1;
    v = gc_gap_at(c, middle, arm);
    if (GC_ABS(v.f) <= c->touch * v.scale + c->rounding) {
        if (kind == GC_EE && gc_gap_parallel(c)) told->settled |= 1 << number;
        else if (gc_gap_vanishes(c)) {
            gc_gap_lasting(t, c->pair, o, pair, kind, fa, fb);
            told->settled |= 1 << number;
        }
        if (told->settled >> number & 1) return 1;
    }
    if (gc_gap_empty(c, &v, arm) || !gc_gap_possible(t, c, fa, fb, middle, arm)) return 1;
    if (lo <= GC_R(-0.5)) gc_gap_begins(t, o, pair, kind, fa, fb, c);
    now = *middle;
    return gc_gap_solve(t, o, pair, fa, fb, c, lo, h, &now, v, told->touched + number);
}

/* Is it the edge that stands for the vertex v at its end: the first of those that leave v of which a face faces the way of the approach
 * there, so that it is a candidate wherever the vertex can be in contact? If there is none at the middle of a node each of them does.
 * w: velocity of B's place there, in the axes of the mesh; way: -1 for A, whose faces are backward, 1 for B. */
GC_FN int gc_stands_for(const gc_tables *t, const gc_mesh *m, int edge, int v, gc_vec w, gc_real way, gc_real slack)
{
    int i = t->topology[m->vertex_edge_start + v], end = t->topology[m->vertex_edge_start + v + 1], j, last;
    for (; i < end; ++i) {
        int e = t->topology[m->vertex_edges + i] >> 1;
        j = t->topology[m->edge_face_start + e];
        last = t->topology[m->edge_face_start + e + 1];
        for (; j < last; ++j)
            if (m->two_sided || way * gc_dot(gc_normal(t, m, t->topology[m->edge_faces + j] >> 1), w) >= -slack)
                return e == edge;
    }
    return 1;
}

/* the vertices at the ends of an edge for which it stands; -1: not for this one */
GC_FN void gc_ends_of(
    const gc_tables *t,
    const gc_pair *p,
    const gc_mesh *m,
    int edge,
    int of_b,
    const gc_body_state *now,
    int *ends)
{
    gc_real slack = GC_TOL_FACING * p->bodies.speed;
    int i;
    for (i = 0; i < 2; ++i) {
        int v = t->topology[m->edges + 2 * edge + i];
        gc_vec x = gc_scaled_vertex(t, m, v, p->bodies.shrink), w;
        if (of_b) w = gc_rotate_back(now->m, gc_state_velocity(now, gc_rotate(now->m, x)));
        else w = gc_velocity_at(now, x);
        ends[i] = gc_stands_for(t, m, edge, v, w, of_b ? GC_R(1.0) : GC_R(-1.0), slack) ? v : -1;
    }
}

/* a candidate, its own function, which is made when it is first asked for, and what was told of all */
typedef struct {
    gc_candidate c;
    int made;
    gc_gap_curve curve;
    gc_gap_told told;
} gc_gap_work;

/* Do the features of a candidate mean anything? A point or a line has a face of no area, which stands for it where faces are looked for. */
GC_FN int gc_gap_is_one(const gc_pair *p, const gc_candidate *c)
{
    return c->kind == GC_EE || !gc_is_thin(c->kind == GC_FV ? gc_mesh_a(p) : gc_mesh_b(p));
}

GC_FN void gc_gap_work_make(const gc_tables *t, const gc_pair *p, gc_gap_work *w)
{
    int k;
    w->made = 1;
    w->curve = gc_gap_curve_of(t, p, w->c.kind, w->c.a, w->c.b, GC_R(1.0));
    w->told.settled = 0;
    for (k = 0; k < GC_GAP_FUNCTIONS; ++k) w->told.touched[k] = GC_R(-100.0);
}

/* Is the distance of two vertices another one than that of contact while B's moves no farther than `reach`? */
GC_FN int gc_vertices_keep_away(
    const gc_tables *t,
    const gc_pair *p,
    int va,
    int vb,
    const gc_body_state *now,
    gc_real reach)
{
    gc_vec x = gc_scaled_vertex(t, gc_mesh_a(p), va, p->bodies.shrink);
    gc_vec y = gc_add(now->q, gc_rotate(now->m, gc_scaled_vertex(t, gc_mesh_b(p), vb, p->bodies.shrink)));
    gc_real off = gc_norm(gc_sub(y, x)) - p->bodies.distance;
    return GC_ABS(off) > reach + GC_R(1e-6) * (p->bodies.size + p->bodies.distance);
}

/* All functions of a candidate in a node, in which no point of B moves farther from where it is in the middle than `reach`. */
GC_LARGE int gc_gap_functions(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    gc_gap_work *w,
    gc_real lo,
    gc_real h,
    const gc_body_state *middle,
    gc_real reach)
{
    const gc_mesh *a = gc_mesh_a(p), *b = gc_mesh_b(p);
    const gc_candidate *c = &w->c;
    int ends_a[2], ends_b[2], i, good = 1, both = c->kind == GC_EE || (c->kind == GC_FV ? a->two_sided : b->two_sided);
    int point_a = gc_is_point(a), point_b = gc_is_point(b);
    if (c->kind == GC_EE && !gc_edges_may_be_near(&w->curve, middle, GC_R(0.5) * h)) return 1;
    for (i = 0; i <= both && !(c->kind == GC_EE && (point_a || point_b)); ++i) {
        w->curve.sign = i ? GC_R(-1.0) : GC_R(1.0);
        good &= gc_gap_node(t, o, c->pair, c->a, c->b, &w->curve, lo, h, middle, i, &w->told);
    }
    if (c->kind != GC_EE) return good;
    gc_ends_of(t, p, a, c->a, 0, middle, ends_a);
    gc_ends_of(t, p, b, c->b, 1, middle, ends_b);
    for (i = 0; i < 8; ++i) {
        /* the first four: an end of each; then an end of A's and B's edge, and the reverse */
        int end_a = i >> 1 & 1, end_b = i & 1, va, vb, kind;
        va = i < 4 ? ends_a[end_a] : (i < 6 ? ends_a[end_b] : c->a);
        vb = i < 4 ? ends_b[end_b] : (i < 6 ? c->b : ends_b[end_b]);
        kind = i < 4 ? GC_VV : (i < 6 ? GC_VE : GC_EV);
        /* the edge of a point has one end, and is none */
        if (point_a && (kind == GC_EV || (kind == GC_VV ? end_a : end_b))) continue;
        if (point_b && (kind == GC_VE || end_b)) continue;
        if (va >= 0 && vb >= 0 && !(kind == GC_VV && gc_vertices_keep_away(t, p, va, vb, middle, reach))) {
            gc_gap_curve f = gc_gap_curve_of(t, p, kind, va, vb, GC_R(1.0));
            good &= gc_gap_node(t, o, c->pair, va, vb, &f, lo, h, middle, 2 + i, &w->told);
        }
    }
    return good;
}

/* How far boxes of half sides a and b are apart at least; b's centre at q, its axes the columns of m. */
GC_FN gc_real gc_cores_apart(gc_vec a, gc_vec b, gc_vec q, const gc_real *m)
{
    gc_vec back = gc_rotate_back(m, q), one, other;
    gc_real none = GC_R(0.0);
    one.x = GC_MAX(GC_ABS(q.x) - a.x - (GC_ABS(m[0]) * b.x + GC_ABS(m[1]) * b.y + GC_ABS(m[2]) * b.z), none);
    one.y = GC_MAX(GC_ABS(q.y) - a.y - (GC_ABS(m[3]) * b.x + GC_ABS(m[4]) * b.y + GC_ABS(m[5]) * b.z), none);
    one.z = GC_MAX(GC_ABS(q.z) - a.z - (GC_ABS(m[6]) * b.x + GC_ABS(m[7]) * b.y + GC_ABS(m[8]) * b.z), none);
    other.x = GC_MAX(GC_ABS(back.x) - b.x - (GC_ABS(m[0]) * a.x + GC_ABS(m[3]) * a.y + GC_ABS(m[6]) * a.z), none);
    other.y = GC_MAX(GC_ABS(back.y) - b.y - (GC_ABS(m[1]) * a.x + GC_ABS(m[4]) * a.y + GC_ABS(m[7]) * a.z), none);
    other.z = GC_MAX(GC_ABS(back.z) - b.z - (GC_ABS(m[2]) * a.x + GC_ABS(m[5]) * a.y + GC_ABS(m[8]) * a.z), none);
    return GC_MAX(gc_norm(one), gc_norm(other));
}

/* How far the boxes of both meshes are apart beyond the distance of contact; a, b: half their sides. */
GC_FN gc_real gc_boxes_room(const gc_pair *p, gc_vec a, gc_vec b, const gc_body_state *now)
{
    gc_real near = p->bodies.distance + GC_R(1e-6) * (p->bodies.size + p->bodies.distance);
    return gc_cores_apart(a, b, now->q, now->m) - near;
}

/* How far a point of B moves at most within `arm` of a state; b: half the sides of its box */
GC_FN gc_real gc_box_reach(const gc_pair *p, gc_vec b, const gc_body_state *now, gc_real arm)
{
    return GC_R(1.001) * arm * (gc_norm(now->v) + p->bodies.angle * gc_norm(b) + p->bounds.point_a * arm);
}

/* Half the sides of the box of a mesh without its rounding radius, scaled. */
GC_FN gc_vec gc_core_sides(GC_GLOBAL const gc_real *mesh, gc_real shrink)
{
    gc_real round = mesh[GC_MESH_REAL_rounding] * (GC_R(1.0) - GC_R(1e-9));
    gc_vec sides = gc_load_vec(mesh + GC_MESH_REAL_sides, 0);
    return gc_scale(gc_sub(sides, gc_make(round, round, round)), shrink);
}

/* Candidates of one piece to their hits; returns 0 if a cap was hit. middle, arm: of the piece; a, b: beside the sides of both meshes' boxes */
GC_LARGE int gc_solve_at_distance(
    const gc_tables *t,
    const gc_pair *p,
    const gc_hits *o,
    gc_gap_work *work,
    int n,
    gc_real middle,
    gc_real arm,
    gc_vec a,
    gc_vec b)
{
    gc_real slack = GC_MAX(p->bodies.tau, GC_PIECE_OVERLAP), h, apart_until = GC_R(-100.0);
    gc_real lo = GC_MAX(middle - arm, GC_R(-0.5) - p->bodies.tau), hi = GC_MIN(middle + arm, GC_R(0.5) + p->bodies.tau);
    int j, k, good = 1, nodes = GC_GAP_NODES;
    while (nodes > 1 && (gc_real)nodes * p->bodies.pieces > (gc_real)GC_GAP_NODES) nodes /= 2;
    h = (hi - lo) / (gc_real)nodes;
    for (k = 0; k < nodes; ++k) {
        gc_real from = lo + (gc_real)k * h, beside = GC_R(0.5) * h, reach = GC_R(0.0);
        gc_body_state now;
        int known = 0;
        if (from + h <= apart_until) continue;
        if (gc_comes_late(o, work->c.pair, from, p->bodies.tau)) break;
        for (j = 0; j < n; ++j) {
            gc_gap_work *w = work + j;
            if (from > w->c.last + slack || from + h < w->c.first - slack) continue;
            if (!known) {
                gc_real room;
                gc_bodies_at(&p->bodies, from + beside, &now);
                reach = gc_box_reach(p, b, &now, beside);
                room = gc_boxes_room(p, a, b, &now);
                if (room > reach) {
                    /* and so long as nothing moves by as much */
                    gc_real speed = gc_box_reach(p, b, &now, GC_R(1.0));
                    apart_until = from + beside + GC_MIN(room / speed, GC_R(1.0));
                    break;
                }
            }
            known = 1;
            if (!w->made) gc_gap_work_make(t, p, w);
            good &= gc_gap_functions(t, p, o, w, from, h, &now, reach);
        }
    }
    return good;
}

#endif
#endif
