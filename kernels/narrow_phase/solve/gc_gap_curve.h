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
    gc_real unit;     /* a bound of what |f| has to be compared with to be a length */
    gc_real rounding; /* of f, for the whole step */
    gc_real touch;    /* how far off r is r */
    gc_real slack;    /* ... and to spare */
} gc_gap_curve;

typedef struct {
    gc_real f, df;
    gc_real bend;  /* bound of |f''| within `arm` of the time */
    gc_real scale; /* |f| over this is a length, there */
    int apart;     /* the points stay farther apart than r within `arm`, or nearer than it */
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
    return c;
}

/* of the squares: p leads from A's point to B's, of velocity w and an acceleration of at most `most` */
GC_FN void gc_gap_square(gc_vec p, gc_vec w, gc_real most, gc_real r, gc_real slack, gc_real arm, gc_gap_value *v)
{
    gc_real d = gc_norm(p), speed = gc_norm(w), fast = speed + most * arm, stray = GC_R(0.5) * most * arm * arm, s, near, far;
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
    if (f->kind == GC_FV) {
        v.f = c->sign * (gc_dot(f->n, y) + f->d) - c->r;
        v.df = c->sign * gc_dot(f->n, w);
        v.bend = o->plane_a[1];
    } else if (f->kind == GC_VF) {
        n = gc_rotate(now->m, f->n);
        at = gc_sub(f->xa, now->q);
        v.f = c->sign * (gc_dot(n, at) + f->d) - c->r;
        v.df = -c->sign * gc_dot(n, gc_state_velocity(now, at));
        v.bend = o->plane_b[1];
    } else if (f->kind == GC_EE) {
        gc_vec d = f->ea, e1, c0, c1;
        gc_real length = f->length_a * f->length_b, most = o->plane_a[1], fast = gc_norm(w) + most * arm, far, least, turn;
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
        v.f = c->sign * gc_dot(at, c0) - c->r * sine;
        v.df = c->sign * (gc_dot(w, c0) + gc_dot(at, c1));
        if (sine > GC_R(0.0)) v.df -= c->r * (gc_dot(c0, c1) / sine);
        v.bend = most * GC_MIN(length, sine + turn * arm) + GC_R(2.0) * fast * turn + far * o->d2 * length;
        v.bend += c->r * o->d2 * length;
        /* but for this much, P . c is even and -|c| concave: so f is above its least end, and below its tangent, near parallel edges too */
        stray = GC_R(0.5) * v.bend * arm * arm + c->touch * length + c->rounding;
        rise = gc_scale(c1, arm);
        even = c->sign * (gc_dot(w, c0) + gc_dot(at, c1)) * arm;
        low = c->sign * gc_dot(at, c0);
        low = GC_MIN(low + even - c->r * gc_norm(gc_add(c0, rise)), low - even - c->r * gc_norm(gc_sub(c0, rise)));
        v.apart = low > stray || v.f + GC_ABS(v.df) * arm < -stray;
        v.bend += least > GC_R(0.0) ? c->r * turn * turn / least : GC_R(1e30);
    } else if (f->kind == GC_EV) {
        e = gc_scale(f->ea, GC_R(1.0) / f->length_a);
        at = gc_across_part(gc_sub(y, f->xa), e);
        gc_gap_square(at, gc_across_part(w, e), o->plane_a[1], c->r, c->slack, arm, &v);
    } else if (f->kind == GC_VE) {
        /* as B sees A's vertex, whose velocity there is that of what of B is there, turned round */
        e = gc_scale(gc_rotate(now->m, f->eb), GC_R(1.0) / f->length_b);
        at = gc_across_part(gc_sub(y, f->xa), e);
        gc_gap_square(at, gc_across_part(gc_velocity_at(now, f->xa), e), o->plane_b[1], c->r, c->slack, arm, &v);
    } else gc_gap_square(gc_sub(y, f->xa), w, o->plane_a[1], c->r, c->slack, arm, &v);
    return v;
}

/* Do the edges of two bodies, or their ends, come as near as r within `arm` of the state? Else nothing of them does. */
GC_FN int gc_edges_may_be_near(const gc_gap_curve *c, const gc_body_state *now, gc_real arm)
{
    gc_vec y = gc_add(now->q, gc_rotate(now->m, c->f.xb)), e = gc_rotate(now->m, c->f.eb);
    gc_real fast = GC_MAX(gc_norm(gc_velocity_at(now, y)), gc_norm(gc_velocity_at(now, gc_add(y, e))));
    fast += c->pair->bounds.plane_a[1] * arm;
    return gc_edges_apart(c->f.ea, gc_sub(y, c->f.xa), e)
           <= c->r + fast * arm + GC_R(1e-9) * (c->pair->bodies.size + c->r);
}

#endif
#endif
