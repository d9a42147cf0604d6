/* gc_segment.h: a straight edge on the collision screen: its branches, and the part of a row that each covers.
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * rho^2 is quadratic along an edge, so an edge has at most two branches monotone in rho, and its part inside a row has a
 * closed form. Source: Buss, sections 7 and 9, step 3; docs/decisions/0004.
 */
#ifndef GC_SEGMENT_H
#define GC_SEGMENT_H

/* a straight segment: point 0 + u (dx, dy, dz), u in [u0, u1]; q = kappa (x^2 + z^2) + 2 z = q0 + b u + c u^2 */
typedef struct {
    gc_raster x, y, z, dx, dy, dz, u0, u1, q0, b, c;
    gc_raster arc_ref, psi_ref; /* arc of point 0, and its psi on this feature's branch and copy */
    gc_raster area;             /* |dpsi/du| = area / (kappa r)^2 */
} gc_segment;

typedef struct {
    gc_raster ua, ub, rho_lo, rho_hi;
    int rising, flat, row_lo, row_hi;
} gc_branch;

typedef struct {
    gc_raster h0, h1, l0, l1;
} gc_span;

/* a point of the screen */
typedef struct {
    gc_raster rho, h, l;
} gc_spot;

GC_FN gc_segment gc_segment_make(
    const gc_view *w,
    gc_raster x0,
    gc_raster y0,
    gc_raster z0,
    gc_raster x1,
    gc_raster y1,
    gc_raster z1,
    gc_raster arc_ref,
    gc_raster psi_ref)
{
    gc_segment s;
    s.x = x0;
    s.y = y0;
    s.z = z0;
    s.dx = x1 - x0;
    s.dy = y1 - y0;
    s.dz = z1 - z0;
    s.u0 = GC_F(0.0);
    s.u1 = GC_F(1.0);
    s.q0 = w->kappa * (x0 * x0 + z0 * z0) + GC_F(2.0) * z0;
    s.b = GC_F(2.0) * (w->kappa * (x0 * s.dx + z0 * s.dz) + s.dz);
    s.c = w->kappa * (s.dx * s.dx + s.dz * s.dz);
    s.arc_ref = arc_ref;
    s.psi_ref = psi_ref;
    s.area = GC_ABS_R(x0 * (GC_F(1.0) + w->kappa * z1) - x1 * (GC_F(1.0) + w->kappa * z0));
    return s;
}

GC_FN gc_spot gc_spot_at(const gc_view *w, const gc_segment *s, gc_raster u)
{
    gc_spot r;
    gc_raster x = s->x + u * s->dx, y = s->y + u * s->dy, z = s->z + u * s->dz;
    gc_raster psi = s->psi_ref + gc_short_way(gc_arc(x, z, w->kappa, w->inv_kappa) - s->arc_ref, w->period);
    r.rho = gc_rho(w->kappa, x, z);
    r.h = w->wn * y - w->gn * psi;
    r.l = w->gn * y + w->wn * psi;
    return r;
}

/* row of a radius, clamped into [-1, n] so that it can be compared */
GC_FN int gc_row(const gc_rows *rows, gc_raster rho)
{
    gc_raster k = GC_FLOOR_R((rho - rows->base) / rows->height);
    return k < GC_F(0.0) ? -1 : (k >= (gc_raster)rows->n ? rows->n : (int)k);
}

/* branch 0 or 1 of the segment; returns 0 if there is none or it reaches no row */
GC_LARGE int gc_branch_make(const gc_view *w, const gc_rows *rows, const gc_segment *s, int which, gc_branch *r)
{
    gc_raster split = s->c > GC_F(0.0) ? -s->b / (GC_F(2.0) * s->c) : (s->b < GC_F(0.0) ? GC_CULL_FAR : -GC_CULL_FAR);
    gc_raster ra, rb;
    int inside = split > s->u0 && split < s->u1;
    if (which == 1 && !inside) return 0;
    r->ua = which == 1 ? split : s->u0;
    r->ub = which == 0 && inside ? split : s->u1;
    r->rising = which == 1 || split <= s->u0;
    ra = gc_rho(w->kappa, s->x + r->ua * s->dx, s->z + r->ua * s->dz);
    rb = gc_rho(w->kappa, s->x + r->ub * s->dx, s->z + r->ub * s->dz);
    r->rho_lo = GC_MIN(ra, rb);
    r->rho_hi = GC_MAX(ra, rb);
    r->flat = r->rho_hi - r->rho_lo <= GC_F(4.0) * w->pad;
    r->row_lo = gc_row(rows, r->rho_lo - w->pad - w->pixel);
    r->row_hi = gc_row(rows, r->rho_hi + w->pad + w->pixel);
    if (r->row_hi < 0 || r->row_lo >= rows->n) return 0;
    r->row_lo = GC_MAX(r->row_lo, 0);
    r->row_hi = GC_MIN(r->row_hi, rows->n - 1);
    return 1;
}

/* parameter where the branch reaches radius rho, clamped to the branch */
GC_FN gc_raster gc_branch_reach(const gc_view *w, const gc_segment *s, const gc_branch *r, gc_raster rho)
{
    /* there is nothing beyond the axis: q would fold back */
    gc_raster at = rho > -w->inv_kappa || w->kappa == GC_F(0.0) ? rho : -w->inv_kappa;
    gc_raster q = at * (GC_F(2.0) + w->kappa * at) - s->q0, disc = s->b * s->b + GC_F(4.0) * s->c * q, root, u;
    root = GC_SQRT_R(disc > GC_F(0.0) ? disc : GC_F(0.0));
    if (r->rising)
        u = s->b > GC_F(0.0) ? GC_F(2.0) * q / (s->b + root)
                             : (s->c > GC_F(0.0) ? (root - s->b) / (GC_F(2.0) * s->c) : r->ub);
    else u = s->b < GC_F(0.0) ? GC_F(2.0) * q / (s->b - root) : r->ua;
    return u < r->ua ? r->ua : (u > r->ub ? r->ub : u);
}

/* the part of the branch between two radii, as parameters ua <= ub */
GC_FN void gc_branch_part(
    const gc_view *w,
    const gc_segment *s,
    const gc_branch *r,
    gc_raster lo,
    gc_raster hi,
    gc_raster *ua,
    gc_raster *ub)
{
    gc_raster a = gc_branch_reach(w, s, r, lo), b = gc_branch_reach(w, s, r, hi);
    *ua = r->flat ? r->ua : GC_MIN(a, b);
    *ub = r->flat ? r->ub : GC_MAX(a, b);
}

/* hull of the branch inside a row */
GC_LARGE gc_span gc_branch_span(const gc_view *w, const gc_rows *rows, const gc_segment *s, const gc_branch *r, int row)
{
    gc_span o;
    gc_raster lo = rows->base + (gc_raster)row * rows->height, hi = lo + rows->height;
    /* the parameter of a radius comes through its square: near the axis its rounding grows as 1/r */
    gc_raster pad = gc_pad_near(w, GC_F(1.0) + w->kappa * GC_MAX(lo, r->rho_lo)) + w->bend;
    gc_raster ua, ub, k0, k1, stray, turn, h0, h1, l0, l1, agn = GC_ABS_R(w->gn);
    gc_spot a, b;
    gc_branch_part(w, s, r, lo - pad - w->pixel, hi + pad + w->pixel, &ua, &ub);
    a = gc_spot_at(w, s, ua);
    b = gc_spot_at(w, s, ub);
    k0 = GC_F(1.0) + w->kappa * (GC_MIN(a.rho, b.rho) - w->pad);
    k1 = GC_F(1.0) + w->kappa * (GC_MAX(a.rho, b.rho) + w->pad);
    k0 = k0 > GC_F(1e-6) ? k0 : GC_F(1e-6);
    stray = GC_F(0.25) * s->area * (ub - ua) * (GC_F(1.0) / (k0 * k0) - GC_F(1.0) / (k1 * k1));
    /* psi differs between the ends by wn dl - gn dh, and runs monotonously between them */
    turn = GC_ABS_R(w->wn * (b.l - a.l) - w->gn * (b.h - a.h));
    stray = stray < turn ? stray : turn;
    h0 = GC_MIN(a.h, b.h);
    h1 = GC_MAX(a.h, b.h);
    l0 = GC_MIN(a.l, b.l);
    l1 = GC_MAX(a.l, b.l);
    if (w->pixel > GC_F(0.0)) {
        gc_raster r0 = GC_MIN(a.rho, b.rho), way = gc_pixel_way(w, r0, GC_MAX(a.rho, b.rho));
        pad += gc_pixel_rim(w, r0);
        l0 -= way;
        l1 += way;
    }
    o.h0 = h0 - agn * stray - pad;
    o.h1 = h1 + agn * stray + pad;
    o.l0 = l0 - w->wn * stray - pad;
    o.l1 = l1 + w->wn * stray + pad;
    return o;
}

#endif
