/* gc_raster_crossings.h: where two edges cross on the rows of the screen (refine = segments and pixels).
 * needs: narrow_phase/contact/gc_equations.h narrow_phase/raster/gc_grid.h
 *
 * in:  two edges that were proposed, the height of the rows
 * out: times, without a search for roots of their contact equation
 * Segments: a limb is straight between the borders of the rows, and in between where it bends (near the axis, or where it
 * turns back). Pixels: a limb fills the pixels between its ends in a row (Buss, section 9). Rows of two limbs are bisected;
 * what their hulls exclude is not drawn (docs/decisions/0015).
 */
#ifndef GC_RASTER_CROSSINGS_H
#define GC_RASTER_CROSSINGS_H

/* Meetings of two edges: s in half-way time, flags GC_HIT_* of the ends whose pixels are shared. */
#define GC_MAX_CROSSINGS 16
typedef struct {
    gc_real s[GC_MAX_CROSSINGS];
    int n, flags, rank, capped;
} gc_dedup_sorted;

GC_FN void gc_dedup_sorted_add(gc_dedup_sorted *o, gc_real s)
{
    if (o->n >= GC_MAX_CROSSINGS) {
        o->capped = 1;
        return;
    }
    o->s[o->n] = s;
    o->n += 1;
}

/* the pieces crossed as straight segments of the (rho, eta) screen; dh, dl: what A's copy adds */
GC_FN void gc_stretches_cross(
    const gc_grid *g,
    const gc_stretch *a,
    const gc_stretch *b,
    gc_real dh,
    gc_real dl,
    gc_dedup_sorted *o)
{
    gc_real ar = a->out.rho - a->in.rho, ah = a->out.h - a->in.h, br = b->out.rho - b->in.rho, bh = b->out.h - b->in.h;
    gc_real det = ar * bh - ah * br, gr = b->in.rho - a->in.rho, gh = b->in.h - a->in.h - dh, u, v, way;
    gc_real la = GC_SQRT(ar * ar + ah * ah), lb = GC_SQRT(br * br + bh * bh);
    if (GC_ABS(det) <= GC_TOL_PARALLEL * la * lb) return;
    u = (gr * bh - gh * br) / det;
    v = (gr * ah - gh * ar) / det;
    if (u * la < -g->tol || (u - GC_R(1.0)) * la > g->tol || v * lb < -g->tol || (v - GC_R(1.0)) * lb > g->tol) return;
    way = a->in.l + u * (a->out.l - a->in.l) + dl - (b->in.l + v * (b->out.l - b->in.l));
    if (way < -g->window || way > g->window) return;
    gc_dedup_sorted_add(o, way / g->speed);
}

/* the part of a row's record inside h0..h1: its range in time, as ways */
GC_FN void gc_record_part(
    const gc_grid *g,
    const gc_stretch *p,
    gc_real row,
    gc_real h0,
    gc_real h1,
    gc_real *l0,
    gc_real *l1)
{
    gc_real in = gc_row_way(g, row, p->in.h, p->in.l), dh = p->out.h - p->in.h, f0, f1;
    gc_real dl = gc_row_way(g, row, p->out.h, p->out.l) - in;
    if (dh == GC_R(0.0)) {
        f0 = GC_R(0.0);
        f1 = GC_R(1.0);
    } else {
        f0 = (h0 - p->in.h) / dh;
        f1 = (h1 - p->in.h) / dh;
        f0 = GC_MIN(GC_MAX(f0, GC_R(0.0)), GC_R(1.0));
        f1 = GC_MIN(GC_MAX(f1, GC_R(0.0)), GC_R(1.0));
    }
    f0 = in + f0 * dl;
    f1 = in + f1 * dl;
    *l0 = GC_MIN(f0, f1);
    *l1 = GC_MAX(f0, f1);
}

/* Which end of the limb's edge has its pixel in this row inside p0..p1: 0 none, 1 the low one, 2 the high one. Of two, the
 * nearer to the middle of the range. */
GC_LARGE int gc_end_pixel(
    const gc_grid *g,
    const gc_limb *m,
    gc_real row,
    gc_real scale,
    gc_real dh,
    gc_real p0,
    gc_real p1,
    gc_mark *at)
{
    gc_real best = (gc_real)GC_CULL_FAR, middle = GC_R(0.5) * (p0 + p1 + GC_R(1.0)) - GC_PIXEL_ORIGIN;
    int end, found = 0;
    for (end = 0; end < 2; ++end) {
        gc_real u = (gc_real)end, pixel, off;
        gc_mark v;
        if (m->inner != u && m->outer != u) continue;
        v = gc_mark_at(g, m, u);
        pixel = gc_grid_pixel(v.h + dh, scale);
        off = GC_ABS((v.h + dh) * scale - middle);
        if (gc_grid_row(g, v.rho) != row || pixel < p0 || pixel > p1 || off >= best) continue;
        best = off;
        found = end + 1;
        *at = v;
    }
    return found;
}

/* When two records can meet in the pixels p0 to p1 they share: *lo, *hi as ways; with `ends` those of the ends there alone (see
 * gc_end_pixel), whose flags are returned. */
GC_LARGE int gc_pixel_ways(
    const gc_grid *g,
    const gc_limb *ma,
    const gc_limb *mb,
    const gc_stretch *a,
    const gc_stretch *b,
    gc_real row,
    gc_real turn,
    gc_real p0,
    gc_real p1,
    int ends,
    gc_real *lo,
    gc_real *hi)
{
    gc_real dh = -g->gn * turn, dl = gc_row_way(g, row, dh, g->wn * turn), scale = gc_grid_scale(g, row), a0, a1, b0, b1;
    gc_mark va = a->in, vb = b->in;
    int end_a = ends ? gc_end_pixel(g, ma, row, scale, dh, p0, p1, &va) : 0, end_b;
    if (end_a) {
        p0 = gc_grid_pixel(va.h + dh, scale);
        p1 = p0;
    }
    end_b = ends ? gc_end_pixel(g, mb, row, scale, GC_R(0.0), p0, p1, &vb) : 0;
    if (end_b) {
        p0 = gc_grid_pixel(vb.h, scale);
        p1 = p0;
    }
    p0 = (p0 - GC_PIXEL_ORIGIN) / scale;
    p1 = (p1 + GC_R(1.0) - GC_PIXEL_ORIGIN) / scale;
    gc_record_part(g, a, row, p0 - dh, p1 - dh, &a0, &a1);
    gc_record_part(g, b, row, p0, p1, &b0, &b1);
    if (end_a) {
        a0 = gc_row_way(g, row, va.h, va.l);
        a1 = a0;
    }
    if (end_b) {
        b0 = gc_row_way(g, row, vb.h, vb.l);
        b1 = b0;
    }
    *lo = a0 + dl - b1;
    *hi = a1 + dl - b0;
    return (end_a ? GC_HIT_A_END : 0) | (end_a == 2 ? GC_HIT_A_HIGH : 0) | (end_b ? GC_HIT_B_END : 0)
           | (end_b == 2 ? GC_HIT_B_HIGH : 0);
}

/* Do two records share pixels of a row? An edge pair has one answer: of the pixels it shares during the step those that hold
 * ends of both come first, then those with one, and among equals the earliest (Buss, section 9, step 6). */
GC_LARGE void gc_pixels_meet(
    const gc_grid *g,
    const gc_limb *ma,
    const gc_limb *mb,
    const gc_stretch *a,
    const gc_stretch *b,
    gc_real row,
    gc_real turn,
    gc_dedup_sorted *o)
{
    gc_real dh = -g->gn * turn, scale = gc_grid_scale(g, row), lo, hi, s;
    gc_real pa0 = gc_grid_pixel(GC_MIN(a->in.h, a->out.h) + dh, scale),
            pa1 = gc_grid_pixel(GC_MAX(a->in.h, a->out.h) + dh, scale);
    gc_real pb0 = gc_grid_pixel(GC_MIN(b->in.h, b->out.h), scale), pb1 = gc_grid_pixel(GC_MAX(b->in.h, b->out.h), scale);
    int flags, rank;
    if (pa0 > pb1 || pb0 > pa1) return;
    flags = gc_pixel_ways(g, ma, mb, a, b, row, turn, GC_MAX(pa0, pb0), GC_MIN(pa1, pb1), 1, &lo, &hi);
    if (flags && (lo > g->window || hi < -g->window))
        flags = gc_pixel_ways(g, ma, mb, a, b, row, turn, GC_MAX(pa0, pb0), GC_MIN(pa1, pb1), 0, &lo, &hi);
    if (lo > g->window || hi < -g->window) return;
    s = GC_R(0.5) * (lo + hi) / g->speed;
    s = GC_MIN(GC_MAX(s, GC_R(-0.5)), GC_R(0.5));
    rank = ((flags & GC_HIT_A_END) != 0) + ((flags & GC_HIT_B_END) != 0);
    if (o->n > 0 && (rank < o->rank || (rank == o->rank && s >= o->s[0]))) return;
    o->n = 1;
    o->s[0] = s;
    o->flags = flags;
    o->rank = rank;
}

/* how far a row's ways may be off lambda between two points of one pixel */
GC_FN gc_real gc_row_rim(const gc_grid *g, gc_real row)
{
    gc_real k = gc_grid_middle(g, row);
    return g->height * GC_ABS(g->gn * g->wn * (GC_R(1.0) - k * k)) / (k * GC_SQRT(g->gn * g->gn + g->wn * g->wn * k * k));
}

/* All rows that two limbs share, by halves; turn: A's copy, in psi. */
GC_LARGE void gc_raster_crossings_meet(
    const gc_grid *g,
    const gc_limb *ma,
    const gc_limb *mb,
    int pixels,
    gc_real turn,
    gc_dedup_sorted *o)
{
    gc_real dh = -g->gn * turn, dl = g->wn * turn, window = g->window;
    gc_real from[GC_ANSWER_DEPTH], to[GC_ANSWER_DEPTH], lo = GC_MAX(ma->lo, mb->lo), hi = GC_MIN(ma->hi, mb->hi);
    int top = 1;
    if (!pixels) {
        /* where both come from the axis what is next to it is the meeting there */
        if (ma->lo <= g->axis && mb->lo <= g->axis) lo = GC_R(99.0) * GC_ANSWER_AXIS * g->size + g->axis;
        if (lo > hi + g->tol || hi < g->axis) return;
        if (lo > hi) lo = hi;
    }
    from[0] = gc_grid_row(g, lo);
    to[0] = gc_grid_row(g, hi);
    if (to[0] < from[0]) return;
    from[0] = gc_grid_border(g, from[0]);
    to[0] = gc_grid_border(g, to[0] + GC_R(1.0));
    while (top > 0) {
        gc_real r0 = from[top - 1], r1 = to[top - 1], rows = GC_RINT((r1 - r0) / g->height), rim = GC_R(0.0), cut;
        gc_stretch a = gc_stretch_make(g, ma, r0, r1), b = gc_stretch_make(g, mb, r0, r1);
        int single = rows <= GC_R(1.0);
        top -= 1;
        if (pixels) {
            gc_real first = gc_grid_row(g, r0 + GC_R(0.5) * g->height), last = gc_grid_row(g, r1 - GC_R(0.5) * g->height);
            rim = GC_R(1.0) / gc_grid_scale(g, first);
            window = g->window + GC_MAX(gc_row_rim(g, first), gc_row_rim(g, last));
        }
        if (a.l0 + dl - b.l1 > window || a.l1 + dl - b.l0 < -window) continue;
        if (a.h0 + dh > b.h1 + rim || a.h1 + dh < b.h0 - rim) continue;
        if (single && pixels) {
            gc_pixels_meet(g, ma, mb, &a, &b, gc_grid_row(g, GC_R(0.5) * (r0 + r1)), turn, o);
            continue;
        }
        if (single && ((a.bend <= g->bend && b.bend <= g->bend) || r1 - r0 <= g->tol || top + 2 > GC_ANSWER_DEPTH)) {
            gc_stretches_cross(g, &a, &b, dh, dl, o);
            continue;
        }
        if (single) {
            /* where both are; what lies outside crosses nothing */
            r0 = GC_MAX(r0, lo);
            r1 = GC_MIN(r1, hi);
            if (r1 - r0 <= g->tol) {
                gc_stretches_cross(g, &a, &b, dh, dl, o);
                continue;
            }
            cut = GC_R(0.5) * (r0 + r1);
        } else {
            cut = r0 + GC_FLOOR(GC_R(0.5) * rows) * g->height;
        }
        from[top] = cut;
        to[top] = r1;
        from[top + 1] = r0;
        to[top + 1] = cut;
        top += 2;
    }
}

/* Two limbs on the axis are there at the time that their heights tell (Buss, section 7: h = 0, t = y/g). */
GC_FN void gc_axis_meets(const gc_grid *g, const gc_limb *ma, const gc_limb *mb, gc_dedup_sorted *o)
{
    gc_real way = ma->a.y + ma->inner * ma->d.y - (mb->a.y + mb->inner * mb->d.y), g0 = g->gn * g->speed, s;
    if (ma->lo > g->axis || mb->lo > g->axis) return;
    if (GC_ABS(g0) <= g->tol) {
        if (GC_ABS(way) > g->tol) return;
        s = GC_R(-0.5);
    } else {
        s = way / g0;
        if (GC_ABS(s) * g->speed > g->window) return;
        s = GC_MIN(GC_MAX(s, GC_R(-0.5)), GC_R(0.5));
    }
    gc_dedup_sorted_add(o, s);
}

/* all copies of A's limb round the axis that come into B's window */
GC_LARGE void gc_raster_crossings_meet_round(
    const gc_grid *g,
    const gc_limb *ma,
    const gc_limb *mb,
    int pixels,
    gc_dedup_sorted *o)
{
    gc_real first = GC_R(0.0), last = GC_R(0.0), reach = g->wn * g->window + g->tol;
    if (g->period < (gc_real)GC_CULL_FAR) {
        if (pixels) {
            /* those of one pixel are apart by so much; near the axis a pixel holds all azimuths */
            gc_real apart = GC_ABS(g->gn) / gc_grid_scale(g, gc_grid_row(g, GC_MAX(ma->lo, mb->lo)));
            reach += GC_MIN(apart, GC_R(0.5) * g->period);
        }
        first = -GC_FLOOR((ma->p1 + reach - mb->p0) / g->period);
        last = GC_FLOOR((mb->p1 + reach - ma->p0) / g->period);
    }
    for (; first <= last; first += GC_R(1.0)) {
        gc_real turn = first == GC_R(0.0) ? GC_R(0.0) : first * g->period;
        gc_raster_crossings_meet(g, ma, mb, pixels, turn, o);
    }
    if (!pixels && g->period < (gc_real)GC_CULL_FAR) gc_axis_meets(g, ma, mb, o);
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

/* Parts of an edge a + u d with a neighbour that faces the right way (way = -1 for A, +1 for B): at most two, at its ends. */
GC_LARGE int gc_facing_parts(
    const gc_tables *t,
    const gc_mesh *m,
    const gc_screw *k,
    const gc_real *rot,
    gc_vec a,
    gc_vec d,
    int edge,
    gc_real way,
    gc_real *u0,
    gc_real *u1)
{
    int j = t->topology[m->edge_face_start + edge], end = t->topology[m->edge_face_start + edge + 1], n = 0;
    gc_real low = GC_R(-1.0), high = GC_R(2.0), limit = GC_R(-100.0) * GC_TOL_FACING * k->speed;
    gc_vec b = gc_add(a, d);
    for (; j < end; ++j) {
        gc_vec n_face = gc_rotate(rot, gc_normal(t, m, t->topology[m->edge_faces + j] >> 1));
        gc_real g0 = way * gc_facing(k, n_face, a), g1 = way * gc_facing(k, n_face, b);
        if (m->two_sided) {
            g0 = GC_R(1.0);
            g1 = GC_R(1.0);
        }
        if (g0 >= limit) low = GC_MAX(low, g1 >= limit ? GC_R(1.0) : (limit - g0) / (g1 - g0));
        if (g1 >= limit) high = GC_MIN(high, g0 >= limit ? GC_R(0.0) : (limit - g0) / (g1 - g0));
    }
    if (low >= high) {
        u0[0] = GC_R(0.0);
        u1[0] = GC_R(1.0);
        return 1;
    }
    if (low >= GC_R(0.0)) {
        u0[n] = GC_R(0.0);
        u1[n] = low;
        n += 1;
    }
    if (high <= GC_R(1.0)) {
        u0[n] = high;
        u1[n] = GC_R(1.0);
        n += 1;
    }
    return n;
}

/* Meetings of edge ea of A with edge eb of B on the screen. */
GC_LARGE void gc_edges_on_screen(
    const gc_tables *t,
    const gc_pair *p,
    const gc_grid *g,
    int ea,
    int eb,
    int pixels,
    gc_dedup_sorted *o)
{
    gc_edges x = gc_edges_load(t, p, ea, eb);
    gc_real a0[2], a1[2], b0[2], b1[2];
    int na = gc_facing_parts(t, gc_mesh_a(p), gc_screw_of(p), gc_screw_of(p)->ra, x.p, x.d, ea, GC_R(-1.0), a0, a1);
    int nb = gc_facing_parts(t, gc_mesh_b(p), gc_screw_of(p), gc_screw_of(p)->rb, x.q, x.e, eb, GC_R(1.0), b0, b1), i, j;
    o->n = 0;
    o->flags = 0;
    o->rank = 0;
    o->capped = 0;
    for (i = 0; i < 2 * na; ++i) {
        gc_limb ma, mb;
        if (!gc_limb_make(g, x.p, x.d, a0[i >> 1], a1[i >> 1], i & 1, &ma)) continue;
        for (j = 0; j < 2 * nb; ++j)
            if (gc_limb_make(g, x.q, x.e, b0[j >> 1], b1[j >> 1], j & 1, &mb))
                gc_raster_crossings_meet_round(g, &ma, &mb, pixels, o);
    }
}

#endif
