/* gc_feature_bounds.h: boxes of whole features and their hulls, among many work-items (s02 of small meshes, and without
 * rows).
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * An edge is not reduced to the part that faces the right way, so its ends are vertices, whose places are known. Whatever
 * passes because of that, s07 removes. A hull is that of the faces that face the right way. It contains every feature that
 * matters: an edge or a vertex takes part only through an adjacent face that does, and lies in that face's box, wherever its
 * own psi is counted from (gc_bounds_add).
 */
#ifndef GC_FEATURE_BOUNDS_H
#define GC_FEATURE_BOUNDS_H

/* A bound of how small rho gets where it is r0 at least at the ends, and q = kappa (x^2 + z^2) + 2 z, of which kr^2 = 1 + kappa q, falls
 * by `sag` at most: sag / (kr + sqrt(kr^2 - kappa sag)), whose root is at least kr - kappa sag / kr and 0. */
GC_FN gc_raster gc_sagged(const gc_view *w, gc_raster r0, gc_raster sag)
{
    gc_raster kr = GC_MAX(GC_F(1.0) + w->kappa * r0, GC_F(1e-6)), square = kr * kr;
    return r0 - sag * kr / (square + GC_MAX(square - w->kappa * sag, GC_F(0.0)));
}

/* q of a point of which rho is known */
GC_FN gc_raster gc_square_rho(gc_raster kappa, gc_raster rho) { return rho * (GC_F(2.0) + kappa * rho); }

/* How small rho gets along an edge, exactly but for rounding and what is added to how q falls: between its ends q falls by c - |rise|
 * at first, and comes to that squared over 4 c, with c = kappa (dx^2 + dz^2). As gc_sagged, multiplied by 4 c, so by one division. */
GC_FN gc_raster gc_sagged_edge(const gc_view *w, gc_raster r0, gc_raster dx, gc_raster dz, gc_raster rise, gc_raster more)
{
    gc_raster c = w->kappa * (dx * dx + dz * dz), over = GC_MAX(c - GC_ABS_R(rise), GC_F(0.0));
    gc_raster kr = GC_MAX(GC_F(1.0) + w->kappa * r0, GC_F(1e-6)), four = GC_F(4.0) * GC_MAX(c, GC_F(1e-20));
    gc_raster sag = over * over + four * more, square = four * kr * kr;
    return r0 - sag * kr / (square + GC_MAX(square - w->kappa * sag, GC_F(0.0)));
}

/* Box of an edge and a bound of the least rho on it: see s02_edges_box. */
GC_FN gc_box
gc_box_edge(const gc_view *w, const gc_body *b, const gc_mesh *m, GC_GLOBAL const int *topology, int e, gc_raster *least_out)
{
    int v0 = topology[m->edges + 2 * e], v1 = topology[m->edges + 2 * e + 1];
    gc_four x0 = gc_vertex_of(b, v0), x1 = gc_vertex_of(b, v1);
    gc_raster kappa = w->kappa, period = w->period, wn = w->wn, gn = w->gn;
    gc_raster rho0 = b->rho[v0], rho1 = b->rho[v1], most = GC_MAX(rho0, rho1), turn = gc_short_way(x1.d - x0.d, period);
    /* the pad is more than what q is rounded by: gc_cull_box */
    gc_raster least = gc_sagged_edge(
        w, GC_MIN(rho0, rho1), x1.a - x0.a, x1.c - x0.c, gc_square_rho(kappa, rho1) - gc_square_rho(kappa, rho0),
        w->pad * (GC_F(1.0) + kappa * GC_MAX(most, GC_F(0.0))));
    /* on the axis the ends are 0 but for rounding, of either sign */
    gc_raster k0 = GC_F(1.0) + kappa * least, kk = GC_MAX(k0, GC_F(1e-6)), k1 = GC_MAX(GC_F(1.0) + kappa * most, kk);
    gc_raster area = GC_ABS_R(x0.a * (GC_F(1.0) + kappa * x1.c) - x1.a * (GC_F(1.0) + kappa * x0.c));
    /* 1/kk^2 - 1/k1^2 by one division; twice as far as psi strays from the chord between its ends */
    gc_raster inv = GC_F(1.0) / (kk * k1), stray = GC_F(0.5) * area * ((k1 - kk) * inv) * ((k1 + kk) * inv);
    gc_raster y = GC_F(0.5) * (x0.b + x1.b), p = x0.d + GC_F(0.5) * turn, wide = GC_ABS_R(turn);
    gc_raster wy, gp, gy, wp, h, l, c;
    gc_box box;
    if (k0 < w->axis) {
        p = GC_F(0.0);
        turn = wide = stray = GC_F(4.0) * period;
    }
    /* Half of what eta and lambda span about their middles, by two bounds: the corners of the (psi, y) box, and the chord widened by the
     * stray. */
    wy = wn * (x1.b - x0.b);
    gp = gn * turn;
    gy = gn * (x1.b - x0.b);
    wp = wn * turn;
    h = GC_F(0.5) * GC_MIN(GC_ABS_R(wy - gp) + GC_ABS_R(gn) * stray, GC_ABS_R(wy) + GC_ABS_R(gp));
    l = GC_F(0.5) * GC_MIN(GC_ABS_R(wp + gy) + wn * stray, GC_ABS_R(wp) + GC_ABS_R(gy));
    c = k0 < GC_F(1.0) ? w->pad * (k1 * inv) : w->pad; /* gc_pad_near */
    h += c;
    l += c;
    wide *= GC_F(0.5);
    box.place.a = least - w->pad;
    box.place.b = most + w->pad;
    c = wn * y - gn * p;
    box.place.c = c - h;
    box.place.d = c + h;
    c = wn * p + gn * y;
    box.time.a = c - l;
    box.time.b = c + l;
    box.time.c = p - wide;
    box.time.d = p + wide;
    *least_out = least;
    return box;
}

/* ---- hulls ------------------------------------------------------------------------------------------------------ */

/* hull of boxes: least r0 h0 l0 p0, and least of -r1 -h1 -l1 -p1 */
typedef struct {
    gc_four least, most;
} gc_bounds;
/* numbers of one, in scratch */
#define GC_BOUNDS_SIZE 8

GC_FN gc_bounds gc_bounds_none(void)
{
    gc_bounds h;
    h.least.a = h.least.b = h.least.c = h.least.d = GC_CULL_FAR;
    h.most = h.least;
    return h;
}

/* The hull with the box of a face, and those of its edges and corners. A face that goes over the cut in psi, or round the axis, may have
 * edges and corners a turn away, whose psi is counted from another side: within a turn of the cut's middle. */
GC_FN void gc_bounds_add(const gc_view *w, gc_box b, gc_bounds *h)
{
    if (b.time.c < GC_F(-0.5) * w->period || b.time.d > GC_F(0.5) * w->period) {
        b.place.c -= GC_ABS_R(w->gn) * w->period;
        b.place.d += GC_ABS_R(w->gn) * w->period;
        b.time.a -= w->wn * w->period;
        b.time.b += w->wn * w->period;
        b.time.c = GC_MIN(b.time.c, -w->period);
        b.time.d = GC_MAX(b.time.d, w->period);
    }
    h->least.a = GC_MIN(b.place.a, h->least.a);
    h->least.b = GC_MIN(b.place.c, h->least.b);
    h->least.c = GC_MIN(b.time.a, h->least.c);
    h->least.d = GC_MIN(b.time.c, h->least.d);
    h->most.a = GC_MIN(-b.place.b, h->most.a);
    h->most.b = GC_MIN(-b.place.d, h->most.b);
    h->most.c = GC_MIN(-b.time.b, h->most.c);
    h->most.d = GC_MIN(-b.time.d, h->most.d);
}

GC_FN gc_bounds gc_bounds_at(GC_GLOBAL const gc_raster *from)
{
    gc_bounds h;
    h.least = gc_four_at(from, 1);
    h.most = gc_four_at(from + 4, 1);
    return h;
}

GC_FN void gc_bounds_put(GC_GLOBAL gc_raster *to, gc_bounds h)
{
    gc_four_put(to, 1, h.least.a, h.least.b, h.least.c, h.least.d);
    gc_four_put(to + 4, 1, h.most.a, h.most.b, h.most.c, h.most.d);
}

/* Hulls of both bodies, least of those that n work-items of each side left in parts: those of A's and B's by turns. All work-items of the
 * group take part. */
GC_FN void gc_bounds_join(GC_GLOBAL const gc_raster *parts, int n_a, int n_b, GC_GLOBAL gc_raster *hulls_out)
{
    int task, i;
    GC_ROLLED
    for (task = GC_LOCAL_ID; task < 2 * GC_BOUNDS_SIZE; task += GC_GROUP_SIZE) {
        int n = task < GC_BOUNDS_SIZE ? n_a : n_b;
        GC_GLOBAL const gc_raster *from = parts + task;
        gc_raster least = *from;
        for (i = 1; i < n; ++i) least = GC_MIN(from[2 * GC_BOUNDS_SIZE * i], least);
        hulls_out[task] = least;
    }
}

/* how many work-items are on a side */
GC_FN int gc_side_items(int side) { return GC_SERIAL ? 1 : (GC_GROUP_SIZE - side + 1) >> 1; }

/* Does a box, with eta and lambda shifted, meet the hull? */
GC_FN int gc_bounds_meet(const gc_view *w, gc_box b, gc_raster dh, gc_raster dl, gc_bounds h)
{
    return (b.place.a <= -h.most.a) & (b.place.b >= h.least.a) & (b.place.c + dh <= -h.most.b)
           & (b.place.d + dh >= h.least.b) & (b.time.a + dl - w->window <= -h.most.c)
           & (b.time.b + dl + w->window >= h.least.c);
}

/* ---- copies of A round the axis ----------------------------------------------------------------------------------- */

/* what psi and a turn are rounded by, and more, in turns */
#define GC_WHOLE_TURN GC_F(1e-3)
/* how far from B's features in psi others of A may be */
GC_FN gc_raster gc_feature_bounds_reach(const gc_view *w)
{
    return w->wn * w->speed * GC_F(0.5) + w->window + GC_WHOLE_TURN * w->period;
}

/* Which copies of what has psi from p0 to p1, beside copy 0, come into the window of B, of which h is the hull (see s02_select). */
GC_FN void gc_feature_bounds_copies(const gc_view *w, gc_raster p0, gc_raster p1, gc_bounds h, int *first, int *last)
{
    gc_raster reach = gc_feature_bounds_reach(w);
    /* clamped before they are ints, which may not hold them */
    *first = (int)GC_MAX(GC_MIN(-GC_FLOOR_R((p1 - h.least.d + reach) / w->period), GC_F(0.0)), GC_F(-2.0));
    *last = (int)GC_MAX(GC_MIN(GC_FLOOR_R((reach - h.most.d - p0) / w->period), GC_F(2.0)), GC_F(0.0));
}

#endif
