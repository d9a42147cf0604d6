/* gc_screen.h: the collision screen of a pair in the type that culls: its constants, places of points on it, pads.
 *
 * Everything that culls (s02 to s06, the filters, the search for near features) shares these, so that what one lets through
 * the next one does not lose for another reason. Source: Buss, section 4.2; docs/decisions/0002, 0004.
 */
#ifndef GC_SCREEN_H
#define GC_SCREEN_H

/* the pair's motion in the type that culls; lengths along the screen in scaled units (docs/decisions/0004). The flow
 * moves every point by the same (w, g) in (psi, y), whatever its radius, so that eta = wn y - gn psi is kept and
 * lambda = gn y + wn psi grows by `speed` in a step. */
typedef struct {
    gc_raster theta, wn, gn, kappa, inv_kappa, period, speed, thetan;
    gc_raster window;  /* half a step's way along the flow, and a little */
    gc_raster pad;     /* added to every box on every side */
    gc_raster axis;    /* kappa times the radius below which a feature has no azimuth */
    gc_raster facing;  /* culling tolerance of n . omega / speed */
    gc_raster min_properness;
    int cull_properness;
    int wraps;         /* can a copy of A shifted by a whole turn come into B's window? */
} gc_view;

GC_FN gc_view gc_view_make(const gc_screw *k, gc_real min_properness)
{
    gc_view v;
    gc_real inv = k->speed > GC_R(0.0) ? GC_R(1.0) / k->speed : GC_R(0.0);
    v.theta = (gc_raster)k->theta;
    v.wn = k->speed > GC_R(0.0) ? (gc_raster)(k->w * inv) : GC_F(1.0);
    v.gn = (gc_raster)(k->g * inv);
    v.kappa = (gc_raster)k->kappa;
    v.inv_kappa = k->kappa > GC_R(0.0) ? (gc_raster)(GC_R(1.0) / k->kappa) : GC_F(0.0);
    /* a turn farther round than anything reaches is no turn at all */
    v.period = k->kappa > GC_R(1e-14) ? (gc_raster)(GC_R(6.28318530717958648) / k->kappa) : GC_CULL_FAR;
    v.speed = (gc_raster)k->speed;
    v.thetan = (gc_raster)(k->theta * inv);
    v.pad = (gc_raster)(GC_CULL_PAD * (GC_R(1.0) + k->speed));
    v.window = (gc_raster)(k->speed * (GC_R(0.5) + k->tau)) + v.pad;
    v.axis = v.kappa * GC_CULL_AXIS;
    v.facing = k->speed > GC_R(0.0) ? GC_CULL_FACING : GC_F(2.0);
    v.min_properness = (gc_raster)min_properness;
    v.cull_properness = min_properness > GC_R(-1.0);
    /* No copy is needed if half a period holds half a step and the arcs 2 hA + hB of the bodies (A's edges unwrap from its
     * rim). With the axis R0 sizes away hA <= R0 asin(1/(R0 - 2)), hB <= R0 asin(1/R0): at R0 = 3.25 twice their sum is
     * 14.1 and the period 20.4; nearer, a body can reach round the axis. So 20.5 would do, 12 did not. */
    v.wraps = v.period < v.speed + GC_F(24.0);
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

/* Can the bounding balls meet at all? Ranges of rho and y hold for any motion, those of eta and lambda if no whole turn
 * comes in: a ball of radius b at distance r from the axis spans at most atan(b / sqrt(r^2 - b^2)) to either side. */
GC_FN int gc_balls_meet(const gc_view *w, const gc_screw *k)
{
    gc_raster ax = (gc_raster)k->ta[0], ay = (gc_raster)k->ta[1], az = (gc_raster)k->ta[2], bz = (gc_raster)k->tb[2];
    gc_raster ra = (gc_raster)k->radius_a, rb = (gc_raster)k->radius_b, both = ra + rb + GC_F(4.0) * w->pad;
    gc_raster ka, kb, da, db, psi, wide;
    if (GC_ABS_R(gc_rho(w->kappa, ax, az) - gc_rho(w->kappa, GC_F(0.0), bz)) > both) return 0;
    if (GC_ABS_R(ay) > both + GC_F(0.5) * w->speed * GC_ABS_R(w->gn)) return 0;
    if (w->wraps) return 1;
    ka = gc_kappa_r(w->kappa, ax, az);
    kb = gc_kappa_r(w->kappa, GC_F(0.0), bz);
    da = ka * ka - w->kappa * w->kappa * ra * ra;
    db = kb * kb - w->kappa * w->kappa * rb * rb;
    if (da < GC_F(0.01) || db < GC_F(0.01)) return 1;
    psi = gc_arc(ax, az, w->kappa, w->inv_kappa);
    wide = ra / GC_SQRT_R(da) + rb / GC_SQRT_R(db) + GC_F(8.0) * w->pad;
    if (GC_ABS_R(w->wn * ay - w->gn * psi) > w->wn * both + GC_ABS_R(w->gn) * wide) return 0;
    return GC_ABS_R(w->gn * ay + w->wn * psi) <= GC_ABS_R(w->gn) * both + w->wn * wide + w->window;
}

#endif
