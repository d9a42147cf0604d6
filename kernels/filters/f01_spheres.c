/* f01_spheres: pairs whose bounding balls do not meet during the step.
 * needs: common/gc_motion.h narrow_phase/frame/gc_screen.h
 *
 * in:  screw records (s01), state bits, which pairs to test
 * out: keep_out (n_todo,) 0 where the balls cannot meet
 * One work-item per pair. Source: Blow, "The First Filters", extended to bodies that move along a screw.
 *
 * At equal radius differences d of the centres from the axis, with azimuths phi apart and heights y apart, the centres are
 * sqrt(d^2 + 4 r_a r_b sin^2(phi/2) + y^2) apart. During the step phi and y are affine in time. Where the balls meet,
 * |sin(phi/2)| <= m; from 0 to there the sine lies above its chord, so the middle term is at least (u psi)^2 with a constant
 * u, where psi is the arc at the origin's radius. What remains is the least distance of a point from a segment, for every
 * copy of A a whole turn apart. Exact for a translation. Numbers that overflowed keep the pair.
 */

/* does the segment through p = (a, y), from p - until v to p + until v with v = (va, vy), come within sqrt(limit) of the
 * origin? Written so that no number at all is a yes. */
GC_FN int gc_segment_meets(gc_raster a, gc_raster y, gc_raster va, gc_raster vy, gc_raster until, gc_raster limit)
{
    gc_raster vv = va * va + vy * vy, s = vv > GC_F(0.0) ? (a * va + y * vy) / vv : GC_F(0.0), da, dy;
    s = s < -until ? -until : (s > until ? until : s);
    da = a - s * va;
    dy = y - s * vy;
    return !(da * da + dy * dy > limit);
}

GC_FN int f01_balls_meet(const gc_view *w, const gc_screw *k)
{
    gc_raster ax = (gc_raster)k->ta[0], az = (gc_raster)k->ta[2], bx = (gc_raster)k->tb[0], bz = (gc_raster)k->tb[2];
    gc_raster ay = (gc_raster)k->ta[1] - (gc_raster)k->tb[1];
    gc_raster ka = gc_kappa_r(w->kappa, ax, az), kb = gc_kappa_r(w->kappa, bx, bz);
    gc_raster both = (gc_raster)k->radius_a + (gc_raster)k->radius_b + GC_F(4.0) * w->pad;
    gc_raster d = gc_rho(w->kappa, ax, az) - gc_rho(w->kappa, bx, bz);
    gc_raster until = GC_F(0.5) + (gc_raster)k->tau, product = ka * kb, limit, m, c, x, u, psi;
    gc_raster step_w = (gc_raster)k->w, step_g = (gc_raster)k->g;
    int turn;
    if (GC_ABS_R(d) > both) return 0;
    limit = both * both - d * d;
    /* near the axis the azimuth has no say */
    m = product > GC_F(1e-4) ? w->kappa * GC_SQRT_R(limit / product) * GC_F(0.5) : GC_F(1.0);
    if (!(m < GC_F(0.99))) return gc_segment_meets(GC_F(0.0), ay, GC_F(0.0), step_g, until, limit);
    /* u = sqrt(k_a k_b) m / asin(m); what rounds in psi is paid for in the limit */
    c = GC_SQRT_R(GC_F(1.0) - m * m);
    x = m / c;
    x = x <= GC_F(1.0) ? x * gc_atan_ratio(x * x) : GC_F(1.57079632679489662) - gc_atan_ratio(GC_F(1.0) / (x * x)) / x;
    u = GC_SQRT_R(product) * (m > GC_F(1e-3) ? m / x : GC_F(1.0) - GC_F(0.17) * m * m);
    both += GC_F(4.0) * u * gc_pad_near(w, GC_MIN(ka, kb));
    limit = both * both - d * d;
    psi = gc_arc(ax, az, w->kappa, w->inv_kappa);
    if (bx != GC_F(0.0)) psi -= gc_arc(bx, bz, w->kappa, w->inv_kappa); /* of a piece: gc_pieces.h */
    if (gc_segment_meets(u * psi, ay, u * step_w, step_g, until, limit)) return 1;
    if (!w->wraps) return 0;
    for (turn = -1; turn <= 1; turn += 2)
        if (gc_segment_meets(u * (psi + (gc_raster)turn * w->period), ay, u * step_w, step_g, until, limit)) return 1;
    return 0;
}

GC_KERNEL void f01_spheres(
    int n_todo,
    GC_GLOBAL const int *todo_in,      /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const gc_real *screw_in, /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,     /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL gc_uchar *keep_out)      /* (n_todo,) */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int pair = todo_in[i];
        gc_screw k;
        gc_view w;
        keep_out[i] = pair >= 0;
        if (pair < 0 || state_in[pair]) continue;
        gc_screw_load(screw_in + GC_SCREW_STRIDE * pair, &k);
        w = gc_view_make(&k, GC_R(-1.0));
        /* B may be off its screw by a pad: its ball grows, and what is left is rounding */
        w.pad = (gc_raster)(GC_CULL_PAD * (GC_R(1.0) + k.speed)) + GC_FILTER_FLAT;
        w.axis = w.kappa * GC_CULL_AXIS;
        k.radius_b += k.pad * GC_R(1.0001);
        keep_out[i] = (gc_uchar)f01_balls_meet(&w, &k);
    }
}
