/* gc_body_curve.h: the contact equations of two bodies that move each by itself, with two derivatives and bounds.
 * needs: common/gc_constants.h narrow_phase/frame/gc_body_motion.h
 *
 * Compiled only where GC_BODY_MOTION is 1; gc_roots.h finds the roots as it does of one screw. Source: docs/decisions/0108.
 */
#ifndef GC_BODY_CURVE_H
#define GC_BODY_CURVE_H
#if GC_BODY_MOTION

#define GC_CURVE_SCREW 0   /* of one screw: gc_roots.h */
#define GC_CURVE_PLANE_A 1 /* distance of the point x of B from the plane n . p + d = 0 of A */
#define GC_CURVE_PLANE_B 2 /* of the point x of A from a plane of B */
#define GC_CURVE_LINES 3   /* (x - y) . (n x e): the line of A through x along n, that of B through y along e */

typedef struct {
    int form;
    const gc_bodies *bodies;
    gc_vec n, x, y, e;     /* each in the axes of the body that has it */
    gc_real d, unit;       /* unit: |n| |e| */
    const gc_real *bounds; /* of the derivatives, (3,), times unit */
} gc_body_curve;

typedef struct {
    gc_real f, df, ddf;
} gc_body_value;

GC_FN gc_body_curve gc_body_curve_of(const gc_pair *p, int form, gc_vec n, gc_vec x, gc_vec y, gc_vec e)
{
    gc_body_curve c;
    c.form = form;
    c.bodies = &p->bodies;
    c.n = n;
    c.x = x;
    c.y = y;
    c.e = e;
    c.d = GC_R(0.0);
    c.unit = GC_R(1.0);
    c.bounds = form == GC_CURVE_PLANE_A ? p->bounds.plane_a
                                        : (form == GC_CURVE_PLANE_B ? p->bounds.plane_b : p->bounds.lines);
    return c;
}

/* t: B as A sees it then */
GC_FN gc_body_value gc_body_curve_then(const gc_body_curve *c, const gc_body_state *t)
{
    gc_body_value r;
    gc_vec n, at, y1, y2, u, v, v1, v2;
    if (c->form == GC_CURVE_PLANE_A) {
        at = gc_rotate(t->m, c->x);
        r.f = gc_dot(c->n, gc_add(t->q, at)) + c->d;
        r.df = gc_dot(c->n, gc_state_velocity(t, at));
        r.ddf = gc_dot(c->n, gc_state_acceleration(t, at));
    } else if (c->form == GC_CURVE_PLANE_B) {
        n = gc_rotate(t->m, c->n);
        at = gc_sub(c->x, t->q);
        y1 = gc_state_velocity(t, at);
        y2 = gc_sub(gc_add(gc_cross(t->omega, gc_add(y1, t->v)), gc_cross(t->xi, at)), t->a);
        r.f = gc_dot(n, at) + c->d;
        r.df = -gc_dot(n, y1);
        r.ddf = gc_dot(n, y2);
    } else {
        at = gc_rotate(t->m, c->y);
        v = gc_rotate(t->m, c->e);
        v1 = gc_cross(t->omega, v);
        v2 = gc_sub(gc_cross(t->omega, v1), gc_cross(t->xi, v));
        y1 = gc_state_velocity(t, at);
        y2 = gc_state_acceleration(t, at);
        u = gc_sub(c->x, gc_add(t->q, at));
        v = gc_cross(c->n, v);
        v1 = gc_cross(c->n, v1);
        v2 = gc_cross(c->n, v2);
        r.f = gc_dot(u, v);
        r.df = gc_dot(u, v1) - gc_dot(y1, v);
        r.ddf = gc_dot(u, v2) - GC_R(2.0) * gc_dot(y1, v1) - gc_dot(y2, v);
    }
    return r;
}

GC_LARGE gc_body_value gc_body_curve_at(const gc_body_curve *c, gc_real s)
{
    gc_body_state t;
    gc_bodies_at(c->bodies, s, &t);
    return gc_body_curve_then(c, &t);
}

/* what the rounding of f is measured by */
GC_FN gc_real gc_body_curve_rounding(const gc_body_curve *c)
{
    return GC_BODY_ROUNDING * (c->bodies->size + c->bodies->way) * c->unit;
}

/* bound of a derivative for the whole step, the first to the third */
GC_FN gc_real gc_body_curve_bound(const gc_body_curve *c, int derivative) { return c->unit * c->bounds[derivative - 1]; }

/* The largest |f| at nodes that lie close enough to tell a function that vanishes from one that does not, and closer at the ends of the
 * step, as those of Chebyshev do; the first that is beyond the limit is enough. */
GC_LARGE gc_real gc_body_curve_most(const gc_body_curve *c, gc_real limit)
{
    int n = 12 + (int)(GC_R(4.0) * (c->bodies->angle_a + c->bodies->angle_b)), i;
    gc_real most = GC_ABS(gc_body_curve_at(c, GC_R(0.0)).f);
    for (i = 0; i < n && most <= limit; ++i) {
        gc_real x = GC_R(1.0) - (GC_R(2.0) * (gc_real)i + GC_R(1.0)) / (gc_real)n;
        most = GC_MAX(GC_ABS(gc_body_curve_at(c, GC_R(0.25) * x * (GC_R(3.0) - x * x)).f), most);
    }
    return most;
}

#endif
#endif
