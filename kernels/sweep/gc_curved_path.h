/* gc_curved_path.h: the path of a swept sphere's centre as a body that turns sees it, and how far the body's features are off it.
 * needs: sweep/gc_ellipsoid_space.h sweep/gc_bvh8.h narrow_phase/frame/gc_pieces.h
 *
 * Times run from 0 to 1 over the step; lengths are those of the body's mesh, centred. The path is that of a point beside a body on its own
 * motion (docs/decisions/0108, with the body as A), so bounds of three derivatives are known. It is cut into pieces, halves of halves, of
 * each of which the tangent in the middle, padded by how far the curve may leave it, is led through the tree. At the faces, edges and
 * vertices found there all times are found at which a *gap*, distance less radius, falls through zero (docs/decisions/0110).
 */
#ifndef GC_CURVED_PATH_H
#define GC_CURVED_PATH_H
#if GC_BODY_MOTION

typedef struct {
    gc_bodies bodies; /* the body, and the centre of the sphere */
    gc_body_bounds bound;
    gc_body_state start;
    gc_quat midway; /* of the body, half-way */
    gc_vec axis;    /* of its turn, in its own axes */
    gc_real unit;   /* what places and velocities are rounded by, in units of rounding */
    gc_real along;  /* what approaches by less goes along */
    gc_real slack;  /* lengths up to this are nothing */
    gc_real radius;
    int index, level;          /* the piece: of 2^level */
    gc_real from, length, pad; /* pad: how far the curve may be off the tangent in the middle */
    gc_real roam;              /* and off where it is there, twice, and by what rounding may hide of a time */
    gc_body_state middle;
} gc_curved;

GC_FN void gc_curved_at(const gc_curved *o, gc_real time, gc_body_state *to)
{
    gc_bodies_at(&o->bodies, time - GC_R(0.5), to);
}

GC_LARGE void gc_curved_make(const gc_cast_scene *w, const gc_ball *b, int body, gc_curved *o)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * body;
    GC_GLOBAL const int *ints = w->body_ints + GC_OBSTACLE_INT_STRIDE * body;
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * ints[GC_OBSTACLE_INT_shape];
    gc_quat q0 = gc_obstacle_quat(w, body, GC_OBSTACLE_quat), q1 = gc_obstacle_quat(w, body, GC_OBSTACLE_end);
    gc_vec centre = gc_load_vec(size, 0), way = gc_load_vec(at + GC_OBSTACLE_way, 0), turned = gc_quat_rotate(q0, centre);
    gc_own_motion own, point;
    if (ints[GC_OBSTACLE_INT_turns] == GC_OBSTACLE_SPINS) {
        gc_vec arm = gc_sub(centre, gc_load_vec(at + GC_OBSTACLE_pivot, 0));
        own = gc_own_spin(q0, way, gc_load_vec(at + GC_OBSTACLE_spin, 0), arm);
    } else own = gc_own_screw(q0, q1, gc_add(way, gc_sub(gc_quat_rotate(q1, centre), turned)), 0);
    point = own;
    point.drift = b->path;
    point.swing = point.turn = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    point.angle = GC_R(0.0);
    point.to_half = gc_scale(b->path, GC_R(0.5));
    point.midway = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    o->bodies.size = o->bodies.radius_a = GC_R(1.0);
    o->bodies.radius_b = GC_R(0.0);
    o->bodies.shrink = size[GC_CAST_MESH_SIZE_shrink];
    o->bodies.scale = size[GC_CAST_MESH_SIZE_scale];
    gc_bodies_make(
        &own, &point, gc_sub(gc_sub(b->start, gc_load_vec(at + GC_OBSTACLE_start, 0)), turned), &o->bodies, &o->middle);
    o->bound = gc_bodies_bounds(&o->bodies);
    gc_curved_at(o, GC_R(0.0), &o->start);
    o->midway = own.midway;
    o->axis = own.angle > GC_R(0.0) ? gc_scale(gc_of_three(o->bodies.turn_a), GC_R(1.0) / own.angle) : point.turn;
    o->unit = (GC_R(1.0) + o->bodies.way) * (GC_R(1.0) + own.angle);
    o->along = GC_SWEEP_CURVED * GC_ROUNDING * o->unit;
    o->slack = GC_SWEEP_SLACK * GC_ROUNDING * (GC_R(1.0) + o->unit);
    o->radius = b->radius * o->bodies.shrink;
}

/* the orientation of the body then */
GC_FN gc_quat gc_curved_turned(const gc_curved *o, gc_real time)
{
    gc_half_turn part = gc_half_turn_at(o->bodies.angle_a, time - GC_R(0.5));
    return gc_quat_mul(o->midway, gc_half_turn_quat(part, gc_of_three(o->bodies.turn_a)));
}

/* The tangent of a moment as a straight path that begins there: what decides of touches on such paths decides of this one's. */
GC_LARGE void gc_curved_moment(const gc_curved *o, const gc_body_state *t, gc_ellipsoid_space *v)
{
    gc_real most = GC_MAX(GC_MAX(GC_ABS(t->q.x), GC_ABS(t->q.y)), GC_ABS(t->q.z));
    v->centre = t->q;
    v->line = v->way = t->v;
    v->radius = o->radius;
    v->round = 1;
    v->sides = gc_make(o->radius, o->radius, o->radius);
    v->square = gc_dot(t->v, t->v);
    v->slack = GC_SWEEP_SLACK * GC_ROUNDING * GC_MAX(GC_R(1.0) + most, o->unit);
    v->least = GC_SWEEP_ALONG * GC_ROUNDING * (GC_SWEEP_ALONG * GC_ROUNDING);
    if (v->square > GC_R(0.0)) v->least = GC_MAX(v->least, o->along * o->along / v->square);
    v->onto = GC_SWEEP_ONTO * v->slack;
    v->thin = v->radius <= GC_SWEEP_THIN * GC_ROUNDING * (GC_R(1.0) + most);
    v->quat = o->midway;
    v->from = gc_sub(o->start.q, t->q);
}

/* ---- gaps ------------------------------------------------------------------------------------------------------ */

/* Distance less `far`: from the plane through x with the unit normal n, or from the line through x along the unit vector n, or, without n,
 * from the point x. Distances from lines and points come as (distance^2 - far^2) / (2 far), which has the same zeros and slopes there. */
typedef struct {
    int round;
    gc_vec n, x;
    gc_real far, sign; /* -1: less that, so that it falls where the distance rises */
} gc_path_gap;

typedef struct {
    gc_real f, df, ddf;
} gc_path_gap_value;

GC_FN gc_path_gap gc_path_gap_of(int round, gc_vec n, gc_vec x, gc_real far)
{
    gc_path_gap g;
    g.round = round;
    g.n = n;
    g.x = x;
    g.far = far;
    g.sign = GC_R(1.0);
    return g;
}

/* at the state t; slope: its derivative in place of it, and `along` on top of that */
GC_FN gc_path_gap_value gc_path_gap_at(const gc_curved *o, const gc_path_gap *g, int slope, const gc_body_state *t)
{
    gc_vec p = gc_sub(t->q, g->x);
    gc_path_gap_value r;
    if (g->round) {
        gc_vec v = gc_sub(t->v, gc_scale(g->n, gc_dot(g->n, t->v)));
        gc_real per = GC_R(1.0) / g->far;
        p = gc_sub(p, gc_scale(g->n, gc_dot(g->n, p)));
        r.f = GC_R(0.5) * per * (gc_dot(p, p) - g->far * g->far);
        r.df = per * gc_dot(p, v);
        r.ddf = per * (gc_dot(v, v) + gc_dot(p, t->a));
    } else {
        r.f = gc_dot(g->n, p) - g->far;
        r.df = gc_dot(g->n, t->v);
        r.ddf = gc_dot(g->n, t->a);
    }
    r.f *= g->sign;
    r.df *= g->sign;
    r.ddf *= g->sign;
    if (slope) {
        r.f = r.df + GC_R(2.0) * o->along;
        r.df = r.ddf;
    }
    return r;
}

/* Bound of the third derivative within `arm` of a time at which the state is t. Of a plane only what is across the axis of n turns; so of
 * the floor of a turntable it is none. */
GC_FN gc_real gc_path_gap_third(const gc_curved *o, const gc_path_gap *g, const gc_body_state *t, gc_real arm)
{
    gc_real turn = o->bodies.angle_a, bend = GC_MIN(gc_norm(t->a) + arm * o->bound.y3, o->bound.y2);
    gc_real fast = GC_MIN(gc_norm(t->v) + arm * bend, o->bound.y1);
    if (g->round) return (GC_R(3.0) * fast * bend + (gc_norm(gc_sub(t->q, g->x)) + arm * fast) * o->bound.y3) / g->far;
    return gc_norm(gc_cross(g->n, o->axis)) * turn * turn
           * (turn * (gc_norm(t->q) + arm * fast) + GC_R(4.0) * o->bodies.way);
}

/* how far it may come within `arm` of where it is v */
GC_FN gc_real gc_path_gap_reach(gc_path_gap_value v, int slope, gc_real third, gc_real arm)
{
    gc_real bend = slope ? third : GC_ABS(v.ddf) + GC_R(0.33333334) * arm * third;
    return arm * (GC_ABS(v.df) + GC_R(0.5) * arm * bend);
}

/* where a walk in search of times at which a gap falls is */
typedef struct {
    gc_real lo, h;
    gc_long index;
    int level, visits, stage;
} gc_falls;

GC_FN void gc_falls_begin(gc_falls *w, gc_real lo, gc_real length)
{
    w->lo = lo;
    w->h = length;
    w->index = 0;
    w->level = w->visits = 0;
}

/* the next part; 0 if there is none */
GC_FN int gc_falls_advance(gc_falls *w)
{
    w->index += 1;
    while (w->level > 0 && (w->index & 1) == 0) {
        w->index /= 2;
        w->level -= 1;
        w->h *= GC_R(2.0);
    }
    return w->level > 0;
}

/* the time between a and b, where the gap is not below zero and below it; v: at m, between them */
GC_LARGE gc_real gc_path_gap_root(
    const gc_curved *o,
    const gc_path_gap *g,
    int slope,
    gc_real a,
    gc_real b,
    gc_real m,
    gc_path_gap_value v,
    gc_body_state *now)
{
    gc_real x = m;
    for (int i = 0; i < GC_MAX_NEWTON; ++i) {
        gc_real next = v.df != GC_R(0.0) ? x - v.f / v.df : a;
        if (!(next > a && next < b)) next = GC_R(0.5) * (a + b);
        if (GC_ABS(next - x) <= GC_R(0.5) * GC_ROUNDING || next <= a || next >= b) break;
        x = next;
        gc_curved_at(o, x, now);
        v = gc_path_gap_at(o, g, slope, now);
        if (v.f < GC_R(0.0)) b = x;
        else a = x;
    }
    gc_curved_at(o, x, now);
    return x;
}

/* The next time at which a gap falls through zero, with the state then; 0 if there is none left. Signs are looked at where parts begin and
 * end, which are the same numbers for parts on either side: what falls there falls in one of them. middle: the state there of all of it. */
GC_LARGE int gc_path_gap_falls(
    const gc_curved *o,
    const gc_path_gap *g,
    int slope,
    gc_falls *w,
    const gc_body_state *middle,
    gc_real *time,
    gc_body_state *now)
{
    gc_real flat = GC_R(4.0) * GC_ROUNDING * o->unit;
    int more = w->level >= 0;
    while (more) {
        gc_real arm = GC_R(0.5) * w->h, a = w->lo + (gc_real)w->index * w->h, m = a + arm, b = a + w->h, x0 = a, x1 = b,
                bend, reach, third;
        gc_path_gap_value v;
        int falls = 0, sure;
        if (w->level > 0 || middle == 0) gc_curved_at(o, m, now);
        else *now = *middle;
        v = gc_path_gap_at(o, g, slope, now);
        third = gc_path_gap_third(o, g, now, arm);
        bend = slope ? third : GC_ABS(v.ddf) + third * arm;
        reach = gc_path_gap_reach(v, slope, third, arm);
        w->visits += 1;
        sure = GC_ABS(v.df) > GC_R(1.00001) * bend * arm + o->along;
        if (GC_ABS(v.f) <= reach + flat && !(sure && v.df > GC_R(0.0))) {
            if (!sure && reach > flat && w->visits < GC_CURVED_VISITS && w->h > GC_CURVED_LEAST) {
                w->level += 1;
                w->index *= 2;
                w->h = arm;
                continue;
            }
            /* one half falls through zero, or none */
            gc_curved_at(o, v.f < GC_R(0.0) ? a : b, now);
            x0 = v.f < GC_R(0.0) ? a : m;
            x1 = v.f < GC_R(0.0) ? m : b;
            bend = gc_path_gap_at(o, g, slope, now).f;
            falls = v.f < GC_R(0.0) ? !(bend < GC_R(0.0)) : bend < GC_R(0.0);
        }
        more = gc_falls_advance(w);
        if (!more) w->level = -1;
        if (falls) {
            *time = gc_path_gap_root(o, g, slope, x0, x1, m, v, now);
            return 1;
        }
    }
    return 0;
}

/* Has it been open by more than rounding, at the start or until then? */
GC_LARGE int gc_path_gap_was_open(const gc_curved *o, const gc_path_gap *g, gc_real time)
{
    gc_body_state now;
    gc_falls w;
    gc_path_gap back = *g;
    if (gc_path_gap_at(o, g, 0, &o->start).f > o->slack) return 1;
    if (!(time > GC_R(0.0))) return 0;
    back.far = g->far + o->slack;
    back.sign = -g->sign;
    gc_falls_begin(&w, GC_R(0.0), time);
    return gc_path_gap_falls(o, &back, 0, &w, 0, &time, &now);
}

/* Times at which something may be touched, in any order: */
#define GC_GAP_TOUCHES 0 /* it falls through zero; or it was never open, and begins to fall, or falls at the start */
#define GC_GAP_FALLS 1   /* it falls through zero */
#define GC_GAP_NEARS 2   /* it was open, is below zero, and begins to fall */

/* May the piece have any before `until`? The tangent, which the curve is near, does not come so near otherwise. */
GC_LARGE int gc_path_gap_begin(const gc_curved *o, const gc_path_gap *g, gc_real until, gc_falls *w)
{
    gc_real arm = GC_R(0.5) * o->length, last = GC_MAX(GC_MIN(until - o->from - arm, arm), -arm), near, s;
    gc_vec p = gc_sub(o->middle.q, g->x), v = o->middle.v;
    w->stage = 0;
    gc_falls_begin(w, o->from, o->length);
    if (!g->round) {
        s = gc_dot(g->n, v);
        return gc_dot(g->n, p) + GC_MIN(-arm * s, last * s) <= g->far + o->pad + o->slack;
    }
    p = gc_sub(p, gc_scale(g->n, gc_dot(g->n, p)));
    v = gc_sub(v, gc_scale(g->n, gc_dot(g->n, v)));
    s = gc_dot(v, v);
    if (s > GC_R(0.0)) p = gc_add(p, gc_scale(v, GC_MIN(GC_MAX(-gc_dot(p, v) / s, -arm), last)));
    near = g->far + o->pad + o->slack;
    return gc_dot(p, p) <= near * near;
}

/* the next one, with the state then; 0: there is none */
GC_LARGE int gc_path_gap_next(
    const gc_curved *o,
    const gc_path_gap *g,
    int which,
    gc_falls *w,
    gc_real *time,
    gc_body_state *now)
{
    int near = gc_path_gap_at(o, g, 0, &o->start).f <= o->slack;
    if (w->stage == 0) {
        w->stage = 1;
        if (which == GC_GAP_TOUCHES && near && !(o->from > GC_R(0.0))) {
            *time = GC_R(0.0);
            *now = o->start;
            return 1;
        }
    }
    if (w->stage == 1) {
        while (which != GC_GAP_NEARS && gc_path_gap_falls(o, g, 0, w, &o->middle, time, now))
            if (which == GC_GAP_FALLS || !near || gc_path_gap_was_open(o, g, *time)) return 1;
        w->stage = 2;
        gc_falls_begin(w, o->from, o->length);
    }
    if (which == GC_GAP_FALLS || (which == GC_GAP_TOUCHES && !near)) return 0;
    while (gc_path_gap_falls(o, g, 1, w, &o->middle, time, now))
        if (gc_path_gap_at(o, g, 0, now).f <= o->slack && gc_path_gap_was_open(o, g, *time) == (which == GC_GAP_NEARS))
            return 1;
    return 0;
}

/* On to the piece that follows, or into the first half of this one; 0: there is none. */
GC_FN int gc_curved_advance(gc_curved *o, int halve)
{
    if (halve) {
        o->level += 1;
        o->index *= 2;
    } else {
        o->index += 1;
        while (o->level > 0 && (o->index & 1) == 0) {
            o->index /= 2;
            o->level -= 1;
        }
        if (o->level == 0) return 0;
    }
    o->length = GC_R(1.0) / (gc_real)(1 << o->level);
    o->from = (gc_real)o->index * o->length;
    return 1;
}

/* The next piece of those before `last` that may come to the box of the mesh, with its path there; 0: there is none. */
GC_LARGE int gc_curved_piece(gc_curved *o, int first, const gc_real *low, const gc_real *high, gc_real last, gc_ray_box *d)
{
    int halve = first, more;
    if (first) {
        o->index = 0;
        o->level = -1;
    }
    for (more = gc_curved_advance(o, halve); more && o->from <= last; more = gc_curved_advance(o, halve)) {
        gc_real arm = GC_R(0.5) * o->length, side, bend, until = GC_MIN((last - o->from) / o->length, GC_R(1.0));
        gc_curved_at(o, o->from + arm, &o->middle);
        bend = GC_MIN(gc_norm(o->middle.a) + GC_R(0.33333334) * arm * o->bound.y3, o->bound.y2);
        o->pad = GC_R(0.5) * arm * arm * bend;
        o->roam = GC_R(2.0) * (arm * gc_norm(o->middle.v) + o->pad) + GC_R(2e6) * o->slack;
        side = o->radius + o->slack + o->pad;
        halve = gc_ray_box_make(
            gc_sub(o->middle.q, gc_scale(o->middle.v, arm)), gc_scale(o->middle.v, o->length), gc_make(side, side, side),
            low, high, until, d);
        if (!halve) continue;
        halve = o->pad > GC_CURVED_PAD * GC_MAX(GC_R(1.0), GC_R(4.0) * o->radius) && o->level < GC_CURVED_LEVELS;
        if (!halve) return 1;
    }
    return 0;
}

#endif
#endif
