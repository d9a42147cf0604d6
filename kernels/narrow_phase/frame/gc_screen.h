/* gc_screen.h: the collision screen of a pair in the type that culls: its constants, places of points on it, pads.
 * needs: common/gc_constants.h common/gc_types.h common/gc_math.h
 *
 * Everything that culls (s02 to s06, the filters, the search for near features) shares these, so that what one lets through
 * the next one does not lose for another reason. Source: Buss, section 4.2; docs/decisions/0002, 0004.
 */
#ifndef GC_SCREEN_H
#define GC_SCREEN_H

/* Where only first contacts are asked for, does screen_first look for those of two meshes of so many faces? Smaller ones are sooner
 * tested all against all. limit: of the product; 0: all contacts are asked for. */
GC_FN int gc_goes_down(int limit, int faces_a, int faces_b) { return limit > 0 && (gc_long)faces_a * faces_b > limit; }

/* Ranges of rho, eta, lambda and psi that hold a feature, or many: raster numbers. */
#define GC_HULL_STRIDE 8
#define GC_HULL_COLUMNS(ONE, MANY, X) \
    ONE(X, r0) \
    ONE(X, r1) \
    ONE(X, h0) \
    ONE(X, h1) \
    ONE(X, l0) \
    ONE(X, l1) \
    ONE(X, p0) \
    ONE(X, p1)
GC_RECORD(GC_HULL)

/* the pair's motion in the type that culls; lengths along the screen in scaled units (docs/decisions/0004). The flow
 * moves every point by the same (w, g) in (psi, y), whatever its radius, so that eta = wn y - gn psi is kept and
 * lambda = gn y + wn psi grows by `speed` in a step. */
typedef struct {
    gc_raster theta, wn, gn, kappa, inv_kappa, period, speed, inv_speed, thetan;
    gc_raster window; /* half a step's way along the flow, and a little */
    gc_raster pad;    /* added to every box on every side */
    gc_raster axis;   /* kappa times the radius below which a feature has no azimuth */
    gc_raster facing; /* culling tolerance of n . omega / speed */
    gc_raster tilt;   /* how far a direction may be off, radians: of the screw of a piece (gc_pieces.h); else 0 */
    gc_raster min_properness;
    int cull_properness;
    int wraps;       /* can a copy of A shifted by a whole turn come into B's window? */
    gc_raster pixel; /* refine = pixels: features this far apart may share a pixel; else 0 */
    gc_raster bend;  /* refine = segments: edges stray this far from the chords that stand for them; else 0 */
} gc_view;

GC_FN gc_view gc_view_make(const gc_screw *k, gc_real min_properness)
{
    gc_view v;
    gc_real inv = k->speed > GC_R(0.0) ? GC_R(1.0) / k->speed : GC_R(0.0);
    gc_real inv_kappa = k->kappa > GC_R(0.0) ? GC_R(1.0) / k->kappa : GC_R(0.0);
    v.theta = (gc_raster)k->theta;
    v.wn = k->speed > GC_R(0.0) ? (gc_raster)(k->w * inv) : GC_F(1.0);
    v.gn = (gc_raster)(k->g * inv);
    v.kappa = (gc_raster)k->kappa;
    v.inv_kappa = (gc_raster)inv_kappa;
    /* a turn farther round than anything reaches is no turn at all */
    v.period = k->kappa > GC_R(1e-14) ? (gc_raster)(GC_R(6.28318530717958648) * inv_kappa) : GC_CULL_FAR;
    v.speed = (gc_raster)k->speed;
    v.inv_speed = (gc_raster)inv;
    v.thetan = (gc_raster)(k->theta * inv);
    /* The boxes of both bodies are padded: half of how far B may be off its screw each. Near the axis that is an angle, and a little more
     * (arcsine), at twice as far from the axis or beyond. */
    v.pad = (gc_raster)(GC_CULL_PAD * (GC_R(1.0) + k->speed)) + GC_F(0.525) * (gc_raster)k->pad;
    v.window = (gc_raster)(k->speed * (GC_R(0.5) + k->tau)) + v.pad;
    v.axis = v.kappa * GC_MAX(GC_CULL_AXIS, GC_F(2.0) * (gc_raster)k->pad);
    v.facing = k->speed > GC_R(0.0) ? GC_CULL_FACING + (gc_raster)(k->slip * inv) * GC_F(1.0001) : GC_F(2.0);
    v.tilt = (gc_raster)k->tilt * GC_F(1.0001);
    v.min_properness = (gc_raster)min_properness;
    v.cull_properness = min_properness > GC_R(-1.0);
    /* No copy is needed if half a period holds half a step and the arcs 2 hA + hB of the bodies (A's edges unwrap from its
     * rim). With the axis R0 sizes away hA <= R0 asin(1/(R0 - 2)), hB <= R0 asin(1/R0): at R0 = 3.25 twice their sum is
     * 14.1 and the period 20.4; nearer, a body can reach round the axis. So 20.5 would do, 12 did not. A pad p
     * lets A come nearer to the axis by as much, and widens arcs: with 4 p more for R0 by no more than R0 in all. */
    v.wraps = v.period < v.speed + GC_F(24.0) + GC_F(26.0) * (gc_raster)k->pad;
    v.pixel = GC_F(0.0);
    v.bend = GC_F(0.0);
    return v;
}

/* kappa r of a point: 1 at the frame's origin, 0 on the axis. Not by way of q, whose root loses half the digits there. */
GC_INLINE gc_raster gc_kappa_r(gc_raster kappa, gc_raster x, gc_raster z)
{
    gc_raster c = GC_F(1.0) + kappa * z, s = kappa * x;
    return GC_SQRT_R(c * c + s * s);
}

/* rho of a point, r - 1/kappa without the cancellation, smooth through kappa = 0 */
GC_INLINE gc_raster gc_rho(gc_raster kappa, gc_raster x, gc_raster z)
{
    return (kappa * (x * x + z * z) + GC_F(2.0) * z) / (GC_F(1.0) + gc_kappa_r(kappa, x, z));
}

/* least rho on the segment from (xa, za) to (xb, zb) */
GC_INLINE gc_raster gc_least_rho(gc_raster kappa, gc_raster xa, gc_raster za, gc_raster xb, gc_raster zb)
{
    gc_raster dx = xb - xa, dz = zb - za;
    gc_raster b = GC_F(2.0) * (kappa * (xa * dx + za * dz) + dz), c = kappa * (dx * dx + dz * dz);
    gc_raster s = c > GC_F(0.0) ? -b / (GC_F(2.0) * c) : (b < GC_F(0.0) ? GC_F(1.0) : GC_F(0.0));
    s = s < GC_F(0.0) ? GC_F(0.0) : (s > GC_F(1.0) ? GC_F(1.0) : s);
    return gc_rho(kappa, xa + s * dx, za + s * dz);
}

/* psi difference taken the short way round */
GC_INLINE gc_raster gc_short_way(gc_raster d, gc_raster period)
{
    gc_raster limit = GC_F(0.5) * period;
    return d > limit ? d - period : (d < -limit ? d + period : d);
}

/* The pad of psi (and so of eta and lambda) at a distance from the axis: an azimuth's rounding grows as 1/r. kr is the
 * least kappa r of the feature. */
GC_FN gc_raster gc_pad_near(const gc_view *w, gc_raster kr)
{
    gc_raster k = kr > w->axis ? kr : w->axis;
    return k < GC_F(1.0) && k > GC_F(0.0) ? w->pad / k : w->pad;
}

/* How far apart in eta the features of one pixel may be, from rho on outwards: the paper's h is measured along the screen. */
GC_FN gc_raster gc_pixel_rim(const gc_view *w, gc_raster rho)
{
    gc_raster k = GC_F(1.0) + w->kappa * (rho - w->pixel);
    if (!(w->pixel > GC_F(0.0))) return GC_F(0.0);
    if (k < GC_F(1e-6)) return GC_CULL_FAR;
    return w->pixel * (GC_SQRT_R(w->gn * w->gn / (k * k) + w->wn * w->wn) + GC_F(1e-5)) + w->pad;
}

/* ... and how far their times, as ways along the flow, may be off lambda when measured at the row's radius; between r0 and r1 */
GC_FN gc_raster gc_pixel_way(const gc_view *w, gc_raster r0, gc_raster r1)
{
    gc_raster most = GC_F(0.0), gw = GC_ABS_R(w->gn * w->wn), k, d;
    int i;
    if (!(w->pixel > GC_F(0.0))) return GC_F(0.0);
    for (i = 0; i < 2; ++i) {
        k = GC_F(1.0) + w->kappa * (i ? r1 + w->pixel : r0 - w->pixel);
        if (k < GC_F(1e-6)) return GC_CULL_FAR;
        d = GC_SQRT_R(w->gn * w->gn + w->wn * w->wn * k * k);
        if (d > GC_F(0.0)) most = GC_MAX(w->pixel * gw * GC_ABS_R(GC_F(1.0) - k * k) / (k * d), most);
    }
    return most + w->pad;
}

/* A box on the screen: ranges of rho, eta, lambda (padded) and psi that hold all of it. `full`: it reaches the axis, and
 * has no azimuth. */
#define GC_EXTENT_COLUMNS(ONE, MANY, X) GC_HULL_COLUMNS(ONE, MANY, X) ONE(X, full)
typedef struct {
    GC_FIELDS(GC_EXTENT, gc_raster)
} gc_extent;

/* The extent of a box (low, high) of the centred mesh, placed by (rot, shift) and scaled by shrink. The box is first put
 * into one along the screw frame's axes. A convex body beside the axis has its extreme azimuths at corners. */
GC_LARGE void gc_box_extent(
    const gc_view *w,
    const gc_real *rot,
    const gc_real *shift,
    gc_real shrink,
    GC_GLOBAL const gc_raster *low,
    GC_GLOBAL const gc_raster *high,
    gc_extent *e)
{
    gc_raster f = (gc_raster)shrink, unit = GC_F(0.5);
    gc_raster mx = unit * (low[0] + high[0]) * f, my = unit * (low[1] + high[1]) * f, mz = unit * (low[2] + high[2]) * f;
    gc_raster ex = unit * (high[0] - low[0]) * f, ey = unit * (high[1] - low[1]) * f, ez = unit * (high[2] - low[2]) * f;
    gc_raster m0 = (gc_raster)rot[0], m1 = (gc_raster)rot[1], m2 = (gc_raster)rot[2];
    gc_raster m3 = (gc_raster)rot[3], m4 = (gc_raster)rot[4], m5 = (gc_raster)rot[5];
    gc_raster m6 = (gc_raster)rot[6], m7 = (gc_raster)rot[7], m8 = (gc_raster)rot[8];
    gc_raster cx = m0 * mx + m1 * my + m2 * mz + (gc_raster)shift[0];
    gc_raster cy = m3 * mx + m4 * my + m5 * mz + (gc_raster)shift[1];
    gc_raster cz = m6 * mx + m7 * my + m8 * mz + (gc_raster)shift[2];
    gc_raster hx = GC_ABS_R(m0) * ex + GC_ABS_R(m1) * ey + GC_ABS_R(m2) * ez + w->pad;
    gc_raster hy = GC_ABS_R(m3) * ex + GC_ABS_R(m4) * ey + GC_ABS_R(m5) * ez + w->pad;
    gc_raster hz = GC_ABS_R(m6) * ex + GC_ABS_R(m7) * ey + GC_ABS_R(m8) * ez + w->pad;
    gc_raster x0 = cx - hx, x1 = cx + hx, z0 = cz - hz, z1 = cz + hz, y0 = cy - hy, y1 = cy + hy, axis = -w->inv_kappa;
    /* nearest to the axis (0, -1/kappa) and farthest from it */
    gc_raster nx = x0 > GC_F(0.0) ? x0 : (x1 < GC_F(0.0) ? x1 : GC_F(0.0));
    gc_raster nz = w->kappa > GC_F(0.0) && axis > z0 ? (axis < z1 ? axis : z1) : z0;
    gc_raster fx = GC_MAX(GC_ABS_R(x0), GC_ABS_R(x1));
    gc_raster fz = w->kappa > GC_F(0.0) && axis - z0 > z1 - axis ? z0 : z1;
    gc_raster kr, pad, gp0, gp1, gy0, gy1;
    int i;
    if (w->kappa == GC_F(0.0)) {
        e->r0 = z0 - w->pad;
        e->r1 = z1 + w->pad;
        kr = GC_F(1.0);
    } else {
        e->r0 = gc_rho(w->kappa, nx, nz) - w->pad;
        e->r1 = gc_rho(w->kappa, fx, fz) + w->pad;
        kr = gc_kappa_r(w->kappa, nx, nz);
    }
    e->full = kr < GC_F(2.0) * w->axis || kr <= GC_F(1e-6) ? GC_F(1.0) : GC_F(0.0);
    if (e->full > GC_F(0.0)) {
        e->p0 = GC_F(-2.0) * w->period;
        e->p1 = GC_F(2.0) * w->period;
    } else {
        gc_raster middle = gc_arc(cx, cz, w->kappa, w->inv_kappa);
        e->p0 = middle;
        e->p1 = middle;
        for (i = 0; i < 4; ++i) {
            gc_raster p = gc_arc(i & 1 ? x1 : x0, i & 2 ? z1 : z0, w->kappa, w->inv_kappa);
            p = middle + gc_short_way(p - middle, w->period);
            e->p0 = GC_MIN(p, e->p0);
            e->p1 = GC_MAX(p, e->p1);
        }
    }
    pad = gc_pad_near(w, kr);
    gp0 = w->gn * e->p0;
    gp1 = w->gn * e->p1;
    gy0 = w->gn * y0;
    gy1 = w->gn * y1;
    e->h0 = w->wn * y0 - GC_MAX(gp0, gp1) - pad;
    e->h1 = w->wn * y1 - GC_MIN(gp0, gp1) + pad;
    e->l0 = GC_MIN(gy0, gy1) + w->wn * e->p0 - pad;
    e->l1 = GC_MAX(gy0, gy1) + w->wn * e->p1 + pad;
}

/* refine = pixels: an extent with all that may share a pixel with what is in it */
GC_FN void gc_extent_widen(const gc_view *w, gc_extent *e)
{
    gc_raster rim = gc_pixel_rim(w, e->r0), way = gc_pixel_way(w, e->r0, e->r1);
    e->r0 -= w->pixel;
    e->r1 += w->pixel;
    e->h0 -= rim;
    e->h1 += rim;
    e->l0 -= way;
    e->l1 += way;
}

#endif
