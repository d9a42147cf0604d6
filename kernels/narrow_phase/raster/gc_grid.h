/* gc_grid.h: the screen of refine = segments and pixels, in gc_real: its rows and pixels, and straight edges drawn on it.
 * needs: common/gc_constants.h common/gc_types.h common/gc_math.h
 *
 * A row holds rho in [(j - 0.37) height, (j + 0.63) height): counted from the origin of the frame, so that an answer depends
 * on the pair and its features alone, and shifted off the places where whole numbers put vertices. An edge is one or two
 * limbs monotone in rho. Sources: Buss, sections 7 and 9; docs/decisions/0004, 0015.
 */
#ifndef GC_GRID_H
#define GC_GRID_H

#define GC_PIXEL_ORIGIN GC_R(0.37)

typedef struct {
    gc_real kappa, wn, gn, speed, size, period;
    gc_real window; /* half a step's way along the flow, and a little */
    gc_real tol;    /* closed ends */
    gc_real height; /* of a row */
    gc_real bend;   /* a piece that strays farther from its chord is halved */
    gc_real axis;   /* rho below which a point is on the axis */
} gc_grid;

GC_FN gc_grid gc_grid_make(const gc_screw *k, gc_real height)
{
    gc_grid g;
    gc_real inv = GC_R(1.0) / k->speed;
    g.kappa = k->kappa;
    g.wn = k->w * inv;
    g.gn = k->g * inv;
    g.speed = k->speed;
    g.size = k->size;
    g.period = k->kappa > GC_R(1e-14) ? GC_R(6.28318530717958648) / k->kappa : (gc_real)GC_CULL_FAR;
    g.window = k->speed * (GC_R(0.5) + k->tau);
    g.tol = GC_TOL_INSIDE * k->size;
    g.height = GC_MAX(height, GC_R(8.0) * (gc_real)GC_CULL_PAD * (GC_R(1.0) + k->speed));
    g.bend = GC_MAX(g.height * g.height / k->size, g.tol);
    g.axis = k->kappa > GC_R(0.0) ? GC_ANSWER_AXIS * k->size - GC_R(1.0) / k->kappa : -(gc_real)GC_CULL_FAR;
    return g;
}

GC_FN gc_real gc_grid_row(const gc_grid *g, gc_real rho) { return GC_FLOOR(rho / g->height + GC_PIXEL_ORIGIN); }

GC_FN gc_real gc_grid_border(const gc_grid *g, gc_real row) { return (row - GC_PIXEL_ORIGIN) * g->height; }

/* kappa r in the middle of a row; any positive number serves for one that reaches below the axis */
GC_FN gc_real gc_grid_middle(const gc_grid *g, gc_real row)
{
    gc_real k = GC_R(1.0) + g->kappa * (gc_grid_border(g, row) + GC_R(0.5) * g->height);
    return GC_MAX(k, GC_R(1e-3) * g->height * g->kappa);
}

/* from eta to pixels in a row: the paper's h, measured with the row's middle radius */
GC_FN gc_real gc_grid_scale(const gc_grid *g, gc_real row)
{
    gc_real k = gc_grid_middle(g, row);
    return k / (GC_SQRT(g->gn * g->gn + g->wn * g->wn * k * k) * g->height);
}

/* The paper's time in a row, as a way along the flow: measured along the flow at the row's middle radius. For points that meet
 * it differs as lambda does; for those that only share a pixel it is the better one, and does not ask for an azimuth on the
 * axis. */
GC_FN gc_real gc_row_way(const gc_grid *g, gc_real row, gc_real h, gc_real l)
{
    gc_real k = gc_grid_middle(g, row), y = g->wn * h + g->gn * l, psi = g->wn * l - g->gn * h;
    return (g->gn * y + g->wn * k * k * psi) / (g->gn * g->gn + g->wn * g->wn * k * k);
}

GC_FN gc_real gc_grid_pixel(gc_real h, gc_real scale) { return GC_FLOOR(h * scale + GC_PIXEL_ORIGIN); }

/* atan2(kappa x, c) / kappa, in (-period/2, period/2] */
GC_FN gc_real gc_arc_to(gc_real x, gc_real c, gc_real kappa)
{
    gc_real s = kappa * x, angle;
    if (kappa <= GC_R(0.0)) return x / c;
    if (s == GC_R(0.0) && c == GC_R(0.0)) return GC_R(0.0);
    angle = gc_angle(GC_ABS(s), GC_ABS(c));
    if (c < GC_R(0.0)) angle = GC_R(3.14159265358979324) - angle;
    return (s < GC_R(0.0) ? -angle : angle) / kappa;
}

/* azimuth of point q from point p, the short way round */
GC_FN gc_real gc_arc_from(const gc_grid *g, gc_vec p, gc_vec q)
{
    gc_real k = g->kappa, cp = GC_R(1.0) + k * p.z, cq = GC_R(1.0) + k * q.z;
    return gc_arc_to(q.x * cp - p.x * cq, cq * cp + k * k * q.x * p.x, k);
}

/* a point of a limb on the screen; kr is kappa r */
typedef struct {
    gc_real u, rho, h, l, kr;
} gc_mark;

/* the part of a straight edge a + u d between parameters inner (towards the axis) and outer, on which rho is monotone */
typedef struct {
    gc_vec a, d, rim; /* rim: the far end, from which its azimuth is measured: within a quarter turn */
    gc_real inner, outer, lo, hi, q0, b, c, area, psi, p0, p1;
    int flat;
} gc_limb;

GC_FN gc_vec gc_along(gc_vec a, gc_vec d, gc_real u) { return gc_make(a.x + u * d.x, a.y + u * d.y, a.z + u * d.z); }

GC_LARGE gc_mark gc_mark_at(const gc_grid *g, const gc_limb *m, gc_real u)
{
    gc_mark r;
    gc_vec p = gc_along(m->a, m->d, u);
    gc_real k = g->kappa, x = k * p.x, c = GC_R(1.0) + k * p.z, psi = m->psi + gc_arc_from(g, m->rim, p);
    r.u = u;
    r.kr = GC_SQRT(x * x + c * c);
    r.rho = (k * (p.x * p.x + p.z * p.z) + GC_R(2.0) * p.z) / (GC_R(1.0) + r.kr);
    r.h = g->wn * p.y - g->gn * psi;
    r.l = g->gn * p.y + g->wn * psi;
    return r;
}

/* parameter at which the limb reaches rho, clamped to the limb */
GC_FN gc_real gc_limb_reach(const gc_grid *g, const gc_limb *m, gc_real rho)
{
    gc_real q = rho * (GC_R(2.0) + g->kappa * rho) - m->q0, disc = m->b * m->b + GC_R(4.0) * m->c * q, root, u;
    gc_real least = GC_MIN(m->inner, m->outer), most = GC_MAX(m->inner, m->outer);
    if (rho <= m->lo) return m->inner;
    if (rho >= m->hi) return m->outer;
    root = GC_SQRT(disc > GC_R(0.0) ? disc : GC_R(0.0));
    if (m->outer > m->inner)
        u = m->b > GC_R(0.0) ? GC_R(2.0) * q / (m->b + root)
                             : (m->c > GC_R(0.0) ? (root - m->b) / (GC_R(2.0) * m->c) : m->outer);
    else
        u = m->b < GC_R(0.0) ? GC_R(2.0) * q / (m->b - root)
                             : (m->c > GC_R(0.0) ? -(root + m->b) / (GC_R(2.0) * m->c) : m->inner);
    return u < least ? least : (u > most ? most : u);
}

GC_FN gc_real gc_rho_of(const gc_grid *g, gc_vec p)
{
    gc_real k = g->kappa, x = k * p.x, c = GC_R(1.0) + k * p.z;
    return (k * (p.x * p.x + p.z * p.z) + GC_R(2.0) * p.z) / (GC_R(1.0) + GC_SQRT(x * x + c * c));
}

/* limb 0 or 1 of the part u0..u1 of an edge; returns 0 if there is none */
GC_LARGE int gc_limb_make(const gc_grid *g, gc_vec a, gc_vec d, gc_real u0, gc_real u1, int which, gc_limb *m)
{
    gc_real k = g->kappa, split, ra, rb;
    int inside;
    m->a = a;
    m->d = d;
    m->q0 = k * (a.x * a.x + a.z * a.z) + GC_R(2.0) * a.z;
    m->b = GC_R(2.0) * (k * (a.x * d.x + a.z * d.z) + d.z);
    m->c = k * (d.x * d.x + d.z * d.z);
    split = m->c > GC_R(0.0) ? -m->b / (GC_R(2.0) * m->c) : (m->b < GC_R(0.0) ? GC_R(2.0) : GC_R(-1.0));
    inside = split > u0 && split < u1;
    if (which == 1 && !inside) return 0;
    ra = inside ? split : (split <= u0 ? u0 : u1);
    rb = inside ? (which == 0 ? u0 : u1) : (split <= u0 ? u1 : u0);
    m->inner = ra;
    m->outer = rb;
    m->rim = gc_along(a, d, rb);
    m->lo = gc_rho_of(g, gc_along(a, d, ra));
    m->hi = gc_rho_of(g, m->rim);
    m->flat = m->hi - m->lo <= g->tol;
    if (m->hi < m->lo) m->hi = m->lo;
    m->area = GC_ABS(a.x * (GC_R(1.0) + k * (a.z + d.z)) - (a.x + d.x) * (GC_R(1.0) + k * a.z));
    m->psi = gc_arc_to(m->rim.x, GC_R(1.0) + k * m->rim.z, k);
    ra = m->psi + gc_arc_from(g, m->rim, gc_along(a, d, ra));
    m->p0 = GC_MIN(ra, m->psi);
    m->p1 = GC_MAX(ra, m->psi);
    return 1;
}

/* a limb between two radii: its ends, and the hull of the curve in eta and lambda */
typedef struct {
    gc_mark in, out;
    gc_real h0, h1, l0, l1, bend;
} gc_stretch;

GC_LARGE gc_stretch gc_stretch_make(const gc_grid *g, const gc_limb *m, gc_real lo, gc_real hi)
{
    gc_stretch p;
    gc_real k0, k1, du, stray, turn, in, out, agn = GC_ABS(g->gn), low = GC_MAX(lo, g->axis);
    p.in = gc_mark_at(g, m, m->flat ? m->inner : gc_limb_reach(g, m, low));
    p.out = gc_mark_at(g, m, m->flat ? m->outer : gc_limb_reach(g, m, hi));
    du = GC_ABS(p.out.u - p.in.u);
    k0 = GC_MAX(p.in.kr, GC_R(1e-12));
    k1 = GC_MAX(p.out.kr, k0);
    stray = GC_R(0.25) * m->area * du * (GC_R(1.0) / (k0 * k0) - GC_R(1.0) / (k1 * k1));
    turn = GC_ABS(g->wn * (p.out.l - p.in.l) - g->gn * (p.out.h - p.in.h));
    stray = stray < turn ? stray : turn;
    p.h0 = GC_MIN(p.in.h, p.out.h) - agn * stray - g->tol;
    p.h1 = GC_MAX(p.in.h, p.out.h) + agn * stray + g->tol;
    p.l0 = GC_MIN(p.in.l, p.out.l) - g->wn * stray - g->tol;
    p.l1 = GC_MAX(p.in.l, p.out.l) + g->wn * stray + g->tol;
    /* rho is convex along the edge: it strays by a quarter of du times the change of its slope */
    in = (GC_R(0.5) * m->b + m->c * p.in.u) / k0;
    out = (GC_R(0.5) * m->b + m->c * p.out.u) / k1;
    p.bend = GC_MAX(stray, GC_R(0.25) * du * GC_ABS(out - in));
    return p;
}

#endif
