/* gc_gap_curve.h: functions of time that fall through 0 where two features come within a distance r, with slopes and bounds.
 * needs: narrow_phase/contact/gc_closest.h narrow_phase/contact/gc_feature_distance.h
 *
 * Compiled only where GC_AT_DISTANCE is 1. P leads from A's feature to B's, w is B's velocity there (gc_closest.h):
 *     FV, VF   s (n . y + d) - r                  s = -1 as well for a sheet
 *     EE       s P . c - r |c|                    c = eA x eB, s = 1 and -1; never squared, which loses roots as r falls
 *     EV, VE   |P across e|^2 - r^2               one smooth function; its two roots are r / speed apart
 *     VV       |P|^2 - r^2
 * Source: docs/decisions/0113.
 */
#ifndef GC_GAP_CURVE_H
#define GC_GAP_CURVE_H
#if GC_AT_DISTANCE

typedef struct {
    const gc_pair *pair;
    gc_features f;
    gc_real r, sign;
    gc_real unit;           /* a bound of what |f| has to be compared with to be a length */
    gc_real rounding;       /* of f, for the whole step */
    gc_real touch;          /* how far off r is r */
    gc_real slack;          /* ... and to spare */
    gc_real most_a, most_b; /* bounds of the acceleration of B's points as A sees them, of A's as B sees them */
} gc_gap_curve;

typedef struct {
    gc_real f, df;
    gc_real bend;   /* bound of |f''| within `arm` of the time */
    gc_real scale;  /* |f| over this is a length, there */
    gc_real widest; /* and at most within `arm` */
    int apart;      /* the points stay farther apart than r within `arm`, or nearer than it */
} gc_gap_value;

GC_FN gc_gap_curve gc_gap_curve_of(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real sign)
{
    gc_gap_curve c;
    gc_real length = GC_BODY_ROUNDING * GC_CURVE_ROUNDING * (p->bodies.size + p->bodies.way + p->bodies.distance);
    c.pair = p;
    c.f = gc_features_load(t, p, kind, fa, fb);
    c.r = p->bodies.distance;
    c.sign = sign;
    c.unit = kind == GC_EE ? c.f.length_a * c.f.length_b : (kind >= GC_EV ? GC_R(2.0) * c.r : GC_R(1.0));
    c.rounding = length * c.unit;
    c.touch = GC_TOL_TOUCH * p->bodies.size;
    c.slack = GC_R(2.0) * (c.touch + length);
    c.most_a = p->bounds.point_a;
    c.most_b = p->bounds.point_b;
    return c;
}

/* of the squares: p leads from A's point to B's, of velocity w and an acceleration of at most `most` */
GC_FN void gc_gap_square(gc_vec p, gc_vec w, gc_real most, gc_real r, gc_real slack, gc_real arm, gc_gap_value *v)
{
    gc_real d = gc_norm(p), speed = gc_norm(w), fast = speed + most * arm, stray = GC_R(0.5) * most * arm * arm, s, near,
            far;
    v->f = (d - r) * (d + r);
    v->df = GC_R(2.0) * gc_dot(p, w);
    v->bend = GC_R(2.0) * (fast * fast + (d + fast * arm) * most);
    v->scale = GC_R(2.0) * r;
    /* nearest and farthest of p + s w, |s| <= arm */
    s = speed > GC_R(0.0) ? -gc_dot(p, w) / (speed * speed) : GC_R(0.0);
    s = GC_MIN(GC_MAX(s, -arm), arm);
    near = gc_norm(gc_add(p, gc_scale(w, s))) - stray;
    s = gc_dot(p, w) > GC_R(0.0) ? arm : -arm;
    far = gc_norm(gc_add(p, gc_scale(w, s))) + stray;
    v->apart = near > r + slack || far < r - slack;
}

/* The function at the state `now`, and what is known of it within `arm`. */
GC_LARGE gc_gap_value gc_gap_at(const gc_gap_curve *c, const gc_body_state *now, gc_real arm)
{
    const gc_features *f = &c->f;
    const gc_body_bounds *o = &c->pair->bounds;
    gc_gap_value v;
    gc_vec y = gc_add(now->q, gc_rotate(now->m, f->xb)), w = gc_velocity_at(now, y), at, n, e;
    v.apart = 0;
    v.scale = GC_R(1.0);
    v.widest = c->unit;
    if (f->kind == GC_FV) {
        v.f = c->sign * (gc_dot(f->n, y) + f->d) - c->r;
        v.df = c->sign * gc_dot(f->n, w);
        v.bend = c->most_a;
    } else if (f->kind == GC_VF) {
        n = gc_rotate(now->m, f->n);
        at = gc_sub(f->xa, now->q);
        v.f = c->sign * (gc_dot(n, at) + f->d) - c->r;
        v.df = -c->sign * gc_dot(n, gc_state_velocity(now, at));
        v.bend = c->most_b;
    } else if (f->kind == GC_EE) {
        gc_vec d = f->ea, e1, c0, c1;
        gc_real length = f->length_a * f->length_b, most = c->most_a, fast = gc_norm(w) + most * arm, far, least, turn;
        gc_real sine, stray, even, low;
        gc_vec rise;
        e = gc_rotate(now->m, f->eb);
        e1 = gc_cross(now->omega, e);
        c0 = gc_cross(d, e);
        c1 = gc_cross(d, e1);
        at = gc_sub(y, f->xa);
        sine = gc_norm(c0);
        turn = gc_norm(c1) + o->d2 * length * arm;
        least = sine - turn * arm;
        far = gc_norm(at) + fast * arm;
        v.scale = sine;
        v.widest = GC_MIN(length, sine + turn * arm);
        v.f = c->sign * gc_dot(at, c0) - c->r * sine;
        v.df = c->sign * (gc_dot(w, c0) + gc_dot(at, c1));
        if (sine > GC_R(0.0)) v.df -= c->r * (gc_dot(c0, c1) / sine);
        v.bend = most * v.widest + GC_R(2.0) * fast * turn + far * o->d2 * length;
        v.bend += c->r * o->d2 * length;
        /* but for this much, P . c is even and -|c| concave: so f is above its least end, and below its tangent, near parallel edges too */
        stray = GC_R(0.5) * v.bend * arm * arm + c->touch * v.widest + c->rounding;
        rise = gc_scale(c1, arm);
        even = c->sign * (gc_dot(w, c0) + gc_dot(at, c1)) * arm;
        low = c->sign * gc_dot(at, c0);
        low = GC_MIN(low + even - c->r * gc_norm(gc_add(c0, rise)), low - even - c->r * gc_norm(gc_sub(c0, rise)));
        v.apart = low > stray || v.f + GC_ABS(v.df) * arm < -stray || v.widest < GC_TOL_PARALLEL * length;
        v.bend += least > GC_R(0.0) ? c->r * turn * turn / least : GC_R(1e30);
    } else if (f->kind == GC_EV) {
        e = gc_scale(f->ea, GC_R(1.0) / f->length_a);
        at = gc_across_part(gc_sub(y, f->xa), e);
        gc_gap_square(at, gc_across_part(w, e), c->most_a, c->r, c->slack, arm, &v);
    } else if (f->kind == GC_VE) {
        /* as B sees A's vertex, whose velocity there is that of what of B is there, turned round */
        e = gc_scale(gc_rotate(now->m, f->eb), GC_R(1.0) / f->length_b);
        at = gc_across_part(gc_sub(y, f->xa), e);
        gc_gap_square(at, gc_across_part(gc_velocity_at(now, f->xa), e), c->most_b, c->r, c->slack, arm, &v);
    } else gc_gap_square(gc_sub(y, f->xa), w, c->most_a, c->r, c->slack, arm, &v);
    return v;
}

/* The second derivative, and a bound of the third within `arm`: what stays all but level for long is told apart from r by these. */
GC_LARGE gc_real gc_gap_bend(const gc_gap_curve *c, const gc_body_state *now, gc_real arm)
{
    const gc_features *f = &c->f;
    const gc_body_bounds *o = &c->pair->bounds;
    gc_vec r = gc_rotate(now->m, f->xb), y = gc_add(now->q, r), at = gc_sub(y, f->xa), a = gc_state_acceleration(now, r), w,
           e;
    gc_real bend, most = c->most_a, third = o->plane_a[2], fast, far;
    if (f->kind == GC_VF || f->kind == GC_VE) {
        /* as B sees A's point, turned round */
        gc_vec x = gc_sub(f->xa, now->q);
        w = gc_state_velocity(now, x);
        a = gc_sub(now->a, gc_add(gc_cross(now->omega, gc_add(w, now->v)), gc_cross(now->xi, x)));
        most = c->most_b;
        third = o->plane_b[2];
    } else w = gc_velocity_at(now, y);
    fast = gc_norm(w) + most * arm;
    far = gc_norm(at) + fast * arm;
    if (f->kind == GC_FV) return GC_ABS(gc_dot(f->n, a)) + third * arm;
    if (f->kind == GC_VF) return GC_ABS(gc_dot(gc_rotate(now->m, f->n), a)) + third * arm;
    if (f->kind == GC_EE) {
        gc_vec e1, e2, c0, c1, c2;
        gc_real length = f->length_a * f->length_b, sine, slope, turn, turn2 = o->d2 * length, least;
        e = gc_rotate(now->m, f->eb);
        e1 = gc_cross(now->omega, e);
        e2 = gc_sub(gc_cross(now->omega, e1), gc_cross(now->xi, e));
        c0 = gc_cross(f->ea, e);
        c1 = gc_cross(f->ea, e1);
        c2 = gc_cross(f->ea, e2);
        sine = gc_norm(c0);
        turn = gc_norm(c1) + turn2 * arm;
        least = sine - turn * arm;
        if (!(least > GC_R(0.0))) return GC_R(1e30);
        slope = gc_dot(c0, c1) / sine;
        bend = c->sign * (gc_dot(a, c0) + GC_R(2.0) * gc_dot(w, c1) + gc_dot(at, c2));
        bend -= c->r * ((gc_dot(c1, c1) - slope * slope + gc_dot(c0, c2)) / sine);
        third = third * length + GC_R(3.0) * (most * turn + fast * turn2) + far * o->d3 * length;
        third += c->r * (o->d3 * length + GC_R(3.0) * turn * (turn2 + turn * turn / least) / least);
        return GC_ABS(bend) + third * arm;
    }
    if (f->kind != GC_VV) {
        e = f->kind == GC_EV ? gc_scale(f->ea, GC_R(1.0) / f->length_a)
                             : gc_scale(gc_rotate(now->m, f->eb), GC_R(1.0) / f->length_b);
        at = gc_across_part(at, e);
        w = gc_across_part(w, e);
        fast = gc_norm(w) + most * arm;
        far = gc_norm(at) + fast * arm;
    }
    bend = GC_R(2.0) * (gc_dot(w, w) + gc_dot(at, a));
    return GC_ABS(bend) + GC_R(2.0) * (GC_R(3.0) * fast * most + far * third) * arm;
}

/* Do the edges of two bodies, or their ends, come as near as r within `arm` of the state? Else nothing of them does. */
GC_FN int gc_edges_may_be_near(const gc_gap_curve *c, const gc_body_state *now, gc_real arm)
{
    gc_vec y = gc_add(now->q, gc_rotate(now->m, c->f.xb)), e = gc_rotate(now->m, c->f.eb), apart = gc_sub(y, c->f.xa);
    gc_real mean = GC_R(0.5), fast, near;
    apart = gc_add(apart, gc_scale(gc_sub(e, c->f.ea), mean));
    fast = GC_MAX(gc_norm(gc_velocity_at(now, y)), gc_norm(gc_velocity_at(now, gc_add(y, e))));
    fast += c->most_a * arm;
    near = c->r + fast * arm + GC_R(1e-9) * (c->pair->bodies.size + c->r);
    return gc_norm(apart) <= near + mean * (c->f.length_a + c->f.length_b)
           && gc_edges_apart(c->f.ea, gc_sub(y, c->f.xa), e) <= near;
}

/* ---- what else a contact takes, as far as one state can tell ------------------------------------------------------- */

/* Do all edges that leave a vertex lead to the side of u, or may they within `room`? u in the body's axes. */
GC_FN int gc_leaves_along(const gc_tables *t, const gc_mesh *m, int vertex, gc_vec u, gc_real room)
{
    int i = t->topology[m->vertex_edge_start + vertex], end = t->topology[m->vertex_edge_start + vertex + 1];
    gc_vec x = gc_vertex(t, m, vertex);
    for (; i < end; ++i) {
        int entry = t->topology[m->vertex_edges + i], edge = entry >> 1;
        gc_vec d = gc_sub(gc_vertex(t, m, t->topology[m->edges + 2 * edge + 1 - (entry & 1)]), x);
        if (gc_dot(d, u) < -room * gc_norm(d)) return 0;
    }
    return 1;
}

/* Is u beside all faces of an edge along `along`, outwards, or may it within `room`? In the body's axes. Never at a reflex edge. */
GC_FN int gc_is_beside(const gc_tables *t, const gc_mesh *m, int edge, gc_vec along, gc_vec u, gc_real room)
{
    int i = t->topology[m->edge_face_start + edge], end = t->topology[m->edge_face_start + edge + 1];
    gc_vec side = gc_cross(u, along);
    if (!m->two_sided && (t->topology[m->edge_flags + edge] & GC_EDGE_REFLEX)) return 0;
    for (; i < end; ++i) {
        int entry = t->topology[m->edge_faces + i];
        gc_real value = gc_dot(side, gc_normal(t, m, entry >> 1));
        if ((entry & 1 ? -value : value) < -room) return 0;
    }
    return 1;
}

/* May the closest points of the features lie inside both, with a direction in both cones, within `arm` of the state? Cones are closed, and
 * directions are compared before they are divided by their lengths, so that each number changes no faster than features do. */
GC_LARGE int gc_gap_possible(
    const gc_tables *t,
    const gc_gap_curve *c,
    int fa,
    int fb,
    const gc_body_state *now,
    gc_real arm)
{
    const gc_features *f = &c->f;
    const gc_pair *p = c->pair;
    const gc_mesh *ma = gc_mesh_a(p), *mb = gc_mesh_b(p);
    gc_vec y = gc_add(now->q, gc_rotate(now->m, f->xb)), at = gc_sub(y, f->xa), e, n, none = gc_sub(y, y);
    gc_real turn = GC_R(1.001) * p->bodies.angle * arm + GC_R(1e-6), reach, along, wide;
    gc_real slack = GC_R(1e-6) * (p->bodies.size + c->r);
    if (f->kind == GC_FV) {
        reach = (gc_norm(gc_velocity_at(now, y)) + c->most_a * arm) * arm + slack;
        n = gc_scale(f->n, c->sign);
        return gc_leaves_along(t, mb, fb, gc_rotate_back(now->m, n), turn)
               && gc_inside_face(t, ma, fa, gc_scale(y, p->bodies.scale), p->bodies.shrink) >= -reach;
    }
    if (f->kind == GC_VF) {
        reach = (gc_norm(gc_velocity_at(now, f->xa)) + c->most_b * arm) * arm + slack;
        n = gc_scale(gc_rotate(now->m, f->n), c->sign);
        at = gc_rotate_back(now->m, gc_sub(f->xa, now->q));
        return gc_leaves_along(t, ma, fa, n, turn)
               && gc_inside_face(t, mb, fb, gc_scale(at, p->bodies.scale), p->bodies.shrink) >= -reach;
    }
    if (f->kind == GC_EE) {
        gc_vec d = gc_scale(f->ea, GC_R(1.0) / f->length_a), back;
        e = gc_scale(f->eb, GC_R(1.0) / f->length_b);
        n = gc_scale(gc_cross(d, gc_rotate(now->m, e)), c->sign);
        back = gc_rotate_back(now->m, gc_sub(none, n));
        return gc_is_beside(t, ma, fa, d, n, turn) && gc_is_beside(t, mb, fb, e, back, turn);
    }
    if (f->kind == GC_EV) {
        reach = (gc_norm(gc_velocity_at(now, y)) + c->most_a * arm) * arm + slack;
        e = gc_scale(f->ea, GC_R(1.0) / f->length_a);
        along = gc_dot(at, e);
        if (along < -reach || along > f->length_a + reach) return 0;
        at = gc_sub(at, gc_scale(e, along));
        if (!gc_is_beside(t, ma, fa, e, at, reach)) return 0;
        return gc_leaves_along(t, mb, fb, gc_rotate_back(now->m, at), reach + turn * (c->r + reach));
    }
    reach = (gc_norm(gc_velocity_at(now, f->xa)) + c->most_b * arm) * arm + slack;
    if (f->kind == GC_VE) {
        e = gc_scale(f->eb, GC_R(1.0) / f->length_b);
        at = gc_rotate_back(now->m, at);
        along = -gc_dot(at, e);
        if (along < -reach || along > f->length_b + reach) return 0;
        at = gc_add(at, gc_scale(e, along));
        if (!gc_is_beside(t, mb, fb, e, gc_sub(none, at), reach)) return 0;
        return gc_leaves_along(t, ma, fa, gc_rotate(now->m, gc_sub(none, at)), reach + turn * (c->r + reach));
    }
    wide = reach + turn * (c->r + reach);
    return gc_leaves_along(t, ma, fa, gc_sub(none, at), wide)
           && gc_leaves_along(t, mb, fb, gc_rotate_back(now->m, at), wide);
}

#endif
#endif
