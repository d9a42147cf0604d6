/* gc_chords.h: edges on the screen, and when two of them can meet there (s06 without rows, long lists, exact answers).
 * needs: narrow_phase/candidates/gc_emit.h
 *
 * In (rho, eta, lambda) an edge is a curve near the chord between its ends: eta and lambda deviate from it by what psi
 * deviates, rho by less than its sag. Two edges meet only where both have the same (rho, eta), so their chords, widened by
 * that, must cross there; and the part of each that comes so near the other bounds the time far more tightly than whole
 * boxes do (docs/decisions/0069). Whole edges are used, whatever part faces the right way.
 */
#ifndef GC_CHORDS_H
#define GC_CHORDS_H

/* An edge of a list: a point of its chord, the way to the other end, how deep rho dips below it half way, and how far all of it may be
 * off, pads included. An edge whose er is below 0 has no chord: it comes too near the axis. */
#define GC_CHORD_STRIDE 10
#define GC_CHORD_COLUMNS(ONE, MANY, X) \
    ONE(X, r) /* rho */ \
    ONE(X, h) /* eta */ \
    ONE(X, l) /* lambda */ \
    ONE(X, dr) \
    ONE(X, dh) \
    ONE(X, dl) \
    ONE(X, dip) \
    ONE(X, er) /* of rho from the parabola with this dip */ \
    ONE(X, eh) \
    ONE(X, el)
GC_RECORD(GC_CHORD)
typedef struct {
    GC_FIELDS(GC_CHORD, gc_raster)
} gc_chord;

/* edges that come so near the axis are clipped to where the other body is, as a share of the radius of the frame; and by how much less, as a share
 * of the edge */
#define GC_CHORD_SPOKE GC_F(0.25)
#define GC_CHORD_SLACK GC_F(1e-3)
/* rounding of what is computed of chords, as a share of its terms: some units of float32 */
#define GC_CHORD_ROUNDING GC_F(1e-6)

/* scratch for them, where lists can be so long */
GC_FN void gc_take_chords(gc_scratch *s, gc_search *q, int refine)
{
    q->exact = refine == GC_REFINE_EXACT;
    q->chords_a = 0;
    q->chords_b = 0;
    if (!GC_SERIAL || !q->exact || q->mesh_a.ne <= GC_TILED || q->mesh_b.ne <= GC_TILED) return;
    q->chords_a = gc_take_reals(s, (gc_long)GC_CHORD_STRIDE * q->ea.room);
    q->chords_b = gc_take_reals(s, (gc_long)GC_CHORD_STRIDE * q->eb.room);
}

/* least rho of the edges of a body */
GC_FN gc_raster gc_edges_least(const gc_body *b, int n)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT r = b->least;
    gc_raster least = GC_CULL_FAR;
    for (int i = 0; i < n; ++i) least = r[i] < least ? r[i] : least;
    return least;
}

/* Of kept edges that come near the axis only the part where the other body has edges: spokes of a body that turns about its own
 * line have an azimuth there. */
GC_LARGE void gc_chords_clip(const gc_search *q, const gc_body *b, const gc_mesh *m, gc_raster rho, const gc_list *l)
{
    const gc_view *w = &q->view;
    int n = *l->count, i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int e = l->id[i];
        gc_four x0, x1;
        gc_raster dx, dz, c, slope, out, far, u0, u1, d;
        if (b->least[e] >= rho || GC_F(1.0) + w->kappa * b->least[e] > GC_CHORD_SPOKE) continue;
        x0 = gc_vertex_of(b, q->topology[m->edges + 2 * e]);
        x1 = gc_vertex_of(b, q->topology[m->edges + 2 * e + 1]);
        dx = x1.a - x0.a;
        dz = x1.c - x0.c;
        /* kappa (x^2 + z^2) + 2 z is c u^2 + 2 slope u + what it is at x0; rho grows with it */
        slope = w->kappa * (x0.a * dx + x0.c * dz) + dz;
        c = w->kappa * (dx * dx + dz * dz);
        out = w->kappa * (x0.a * x0.a + x0.c * x0.c);
        far = rho * (GC_F(2.0) + w->kappa * rho);
        d = slope * slope - c * (out + GC_F(2.0) * x0.c - far);
        /* Of these terms little is left near the axis. An edge that barely comes within rho is cut there where it comes back out of it: by
         * rounding alone that was 0.05 of an azimuth too far, more than the pads of either body. */
        d -= GC_CHORD_ROUNDING * (slope * slope + c * (out + GC_F(2.0) * GC_ABS_R(x0.c) + GC_ABS_R(far)));
        if (!(d > GC_F(0.0)) || !(c > GC_F(1e-6) * w->kappa)) continue;
        d = GC_SQRT_R(d);
        u0 = (d - slope) / c - GC_CHORD_SLACK;
        u1 = (-d - slope) / c + GC_CHORD_SLACK;
        /* behind u0 and before u1: one of them, or both are left as one */
        if (u1 < GC_OF_ENTRY(l, u0, i))
            GC_OF_ENTRY(l, u0, i) = GC_MIN(GC_MAX(u0, GC_OF_ENTRY(l, u0, i)), GC_OF_ENTRY(l, u1, i));
        else if (u0 > GC_OF_ENTRY(l, u1, i))
            GC_OF_ENTRY(l, u1, i) = GC_MAX(GC_MIN(u1, GC_OF_ENTRY(l, u1, i)), GC_OF_ENTRY(l, u0, i));
    }
}

/* the same for both bodies, between what is kept and its boxes */
GC_FN void gc_chords_clip_both(const gc_search *q)
{
    gc_raster a = gc_edges_least(&q->a, q->mesh_a.ne), b = gc_edges_least(&q->b, q->mesh_b.ne),
              off = GC_F(4.0) * q->view.pad;
    gc_chords_clip(q, &q->a, &q->mesh_a, b - off, &q->all_ea);
    gc_chords_clip(q, &q->b, &q->mesh_b, a - off, &q->all_eb);
}

/* an end of a part of an edge: x y z psi, and its rho */
GC_FN gc_raster
gc_chord_end(const gc_view *w, gc_four from, gc_four to, gc_raster u, gc_raster rho0, gc_raster rho1, gc_four *end)
{
    *end = u > GC_F(0.0) ? to : from;
    if (u == GC_F(0.0)) return rho0;
    if (u == GC_F(1.0)) return rho1;
    end->a = from.a + u * (to.a - from.a);
    end->b = from.b + u * (to.b - from.b);
    end->c = from.c + u * (to.c - from.c);
    end->d = gc_arc(end->a, end->c, w->kappa, w->inv_kappa);
    return gc_rho(w->kappa, end->a, end->c);
}

/* chords of all edges of a list, copies of A where these are */
GC_LARGE void gc_chords_make(
    const gc_search *q,
    const gc_body *b,
    const gc_mesh *m,
    const gc_list *l,
    GC_GLOBAL gc_raster *out)
{
    const gc_view *w = &q->view;
    int n = *l->count, i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL gc_raster *to = out + GC_CHORD_STRIDE * i;
        int e = l->id[i], v0 = q->topology[m->edges + 2 * e], v1 = q->topology[m->edges + 2 * e + 1];
        gc_four from = gc_vertex_of(b, v0), till = gc_vertex_of(b, v1), x0, x1;
        gc_raster r0 = gc_chord_end(w, from, till, GC_OF_ENTRY(l, u0, i), b->rho[v0], b->rho[v1], &x0);
        gc_raster r1 = gc_chord_end(w, from, till, GC_OF_ENTRY(l, u1, i), b->rho[v0], b->rho[v1], &x1);
        gc_raster k0 = GC_F(1.0) + w->kappa * gc_least_rho(w->kappa, x0.a, x0.c, x1.a, x1.c);
        gc_raster k1 = GC_F(1.0) + w->kappa * GC_MAX(r0, r1), turn = (gc_raster)l->copy[i] * w->period;
        gc_raster dx = x1.a - x0.a, dy = x1.b - x0.b, dz = x1.c - x0.c, dp = gc_short_way(x1.d - x0.d, w->period);
        gc_raster pad = gc_pad_near(w, k0), way = dx * dx + dz * dz, area, stray, s0, s1, low, high;
        to[GC_CHORD_er] = GC_F(-1.0);
        if (k0 < w->axis || k0 < GC_F(1e-3)) continue;
        if (l->copy[i] == 0) turn = GC_F(0.0);
        /* as s02_edges_box has it: the slope of psi lies between D/k1^2 and D/k0^2 */
        area = GC_ABS_R(x0.a * (GC_F(1.0) + w->kappa * x1.c) - x1.a * (GC_F(1.0) + w->kappa * x0.c));
        stray = GC_F(0.25) * area * (GC_F(1.0) / (k0 * k0) - GC_F(1.0) / (k1 * k1));
        stray = GC_MIN(stray, GC_ABS_R(dp));
        /* rho'' = kappa (|d|^2 - rho'^2) / k, and rho' is greatest at an end */
        s0 = (w->kappa * (x0.a * dx + x0.c * dz) + dz) / (GC_F(1.0) + w->kappa * r0);
        s1 = (w->kappa * (x1.a * dx + x1.c * dz) + dz) / (GC_F(1.0) + w->kappa * r1);
        high = w->kappa * way / k0;
        low = w->kappa * GC_MAX(way - GC_MAX(s0 * s0, s1 * s1), GC_F(0.0)) / k1;
        to[GC_CHORD_r] = r0;
        to[GC_CHORD_h] = w->wn * x0.b - w->gn * (x0.d + turn);
        to[GC_CHORD_l] = w->gn * x0.b + w->wn * (x0.d + turn);
        to[GC_CHORD_dr] = r1 - r0;
        to[GC_CHORD_dh] = w->wn * dy - w->gn * dp;
        to[GC_CHORD_dl] = w->gn * dy + w->wn * dp;
        to[GC_CHORD_dip] = GC_F(0.0625) * (high + low);
        to[GC_CHORD_er] = GC_F(0.0625) * (high - low) + GC_F(1e-4) * high + w->pad;
        to[GC_CHORD_eh] = GC_ABS_R(w->gn) * stray + pad;
        to[GC_CHORD_el] = w->wn * stray + pad;
    }
}

GC_FN gc_chord gc_chord_load(GC_GLOBAL const gc_raster *from)
{
    gc_chord chord, *to = &chord;
    GC_LOAD(GC_CHORD, GC_CHORD);
    return chord;
}

/* The part of `of` that comes as near to the line of `to` as both may be off: its parameter, from *u0 to *u1; 0 if none does. */
GC_FN int gc_chord_part(const gc_chord *of, const gc_chord *to, gc_raster *u0, gc_raster *u1)
{
    gc_raster mine = GC_F(0.5) * of->dip, its = GC_F(0.5) * to->dip; /* chords are taken half the dip lower */
    gc_raster gr = of->r - mine - (to->r - its), gh = of->h - to->h, ar = GC_ABS_R(to->dr), ah = GC_ABS_R(to->dh);
    gc_raster from = to->dr * gh - to->dh * gr, way = to->dr * of->dh - to->dh * of->dr, a, b;
    gc_raster off = ah * (mine + its + of->er + to->er) + ar * (of->eh + to->eh)
                    + GC_CHORD_ROUNDING * (ah * (GC_ABS_R(gr) + GC_ABS_R(of->dr)) + ar * (GC_ABS_R(gh) + GC_ABS_R(of->dh)));
    *u0 = GC_F(0.0);
    *u1 = GC_F(1.0);
    if (GC_MIN(from, from + way) > off || GC_MAX(from, from + way) < -off) return 0;
    if (!(GC_ABS_R(way) > GC_F(0.01) * off)) return 1;
    a = (-off - from) / way;
    b = (off - from) / way;
    *u0 = GC_MAX(GC_MIN(a, b) - GC_CHORD_ROUNDING, GC_F(0.0));
    *u1 = GC_MIN(GC_MAX(a, b) + GC_CHORD_ROUNDING, GC_F(1.0));
    return 1;
}

/* The parts of both that come near each other, closer: at the same eta the difference of rho is a parabola, and where that is farther
 * from 0 than both may be off they do not meet. For edges along the flow, whose chords are short beside their dips. As
 * gc_chord_part, of parts that are known. */
#define GC_CHORD_CUTS 4
GC_FN int gc_chord_follow(const gc_chord *of, const gc_chord *to, gc_raster *u0, gc_raster *u1, gc_raster *v0, gc_raster *v1)
{
    gc_raster gh = of->h - to->h, near = of->eh + to->eh + GC_CHORD_ROUNDING * (GC_ABS_R(gh) + GC_ABS_R(of->dh));
    gc_raster inv, from, way, ev, off, c0, c1, c2, a, b;
    int i;
    if (!(GC_ABS_R(to->dh) > GC_F(4.0) * near)) return 1;
    /* v = from + way u, good to ev */
    inv = GC_F(1.0) / to->dh;
    from = gh * inv;
    way = of->dh * inv;
    ev = near * GC_ABS_R(inv) + GC_CHORD_ROUNDING * (GC_F(1.0) + GC_ABS_R(from) + GC_ABS_R(way));
    if (GC_ABS_R(way) > GC_F(1e-3)) {
        a = (*v0 - ev - from) / way;
        b = (*v1 + ev - from) / way;
        *u0 = GC_MAX(GC_MIN(a, b) - GC_CHORD_ROUNDING, *u0);
        *u1 = GC_MIN(GC_MAX(a, b) + GC_CHORD_ROUNDING, *u1);
        if (*u0 > *u1) return 0;
    }
    /* rho of `of` less that of `to`: c0 + c1 u + c2 u^2 */
    a = to->dr - GC_F(4.0) * to->dip;
    b = GC_F(4.0) * to->dip;
    c0 = of->r - to->r - from * (a + b * from);
    c1 = of->dr - GC_F(4.0) * of->dip - way * (a + GC_F(2.0) * b * from);
    c2 = GC_F(4.0) * of->dip - b * way * way;
    off = of->er + to->er + (GC_ABS_R(to->dr) + b * (GC_F(1.0) + GC_F(2.0) * ev)) * ev;
    off += GC_CHORD_ROUNDING
           * (GC_ABS_R(of->r - to->r) + GC_ABS_R(from * a) + GC_ABS_R(b * from * from) + GC_ABS_R(of->dr) + GC_ABS_R(way * a)
              + GC_F(2.0) * GC_ABS_R(b * way * from) + b * way * way + GC_F(8.0) * of->dip);
    for (i = 0; i < GC_CHORD_CUTS; ++i) {
        gc_raster x0 = c0 + *u0 * (c1 + *u0 * c2), x1 = c0 + *u1 * (c1 + *u1 * c2);
        gc_raster steep = GC_MAX(GC_ABS_R(c1 + GC_F(2.0) * c2 * *u0), GC_ABS_R(c1 + GC_F(2.0) * c2 * *u1));
        x0 = GC_ABS_R(x0) - off;
        x1 = GC_ABS_R(x1) - off;
        steep = steep * GC_F(1.00001) + GC_CHORD_ROUNDING * off;
        if (x0 > steep * (*u1 - *u0) || x1 > steep * (*u1 - *u0)) return 0;
        if (x0 > GC_F(0.0)) *u0 = *u0 + x0 / steep * GC_F(0.99999);
        if (x1 > GC_F(0.0)) *u1 = *u1 - x1 / steep * GC_F(0.99999);
        if (*u0 > *u1) return 0;
    }
    a = from + way * *u0;
    b = from + way * *u1;
    *v0 = GC_MAX(GC_MIN(a, b) - ev, *v0);
    *v1 = GC_MIN(GC_MAX(a, b) + ev, *v1);
    return *v0 <= *v1;
}

/* range of lambda of a part */
GC_FN void gc_chord_times(const gc_chord *c, gc_raster u0, gc_raster u1, gc_raster *first, gc_raster *last)
{
    gc_raster a = c->l + u0 * c->dl, b = c->l + u1 * c->dl, off = c->el + GC_CHORD_ROUNDING * GC_ABS_R(c->dl);
    *first = GC_MIN(a, b) - off;
    *last = GC_MAX(a, b) + off;
}

/* When two edges can meet, as ranges of lambda of either; 0 if they cannot. */
GC_FN int gc_chords_meet(
    const gc_chord *a,
    const gc_chord *b,
    gc_raster window,
    gc_raster *a0,
    gc_raster *a1,
    gc_raster *b0,
    gc_raster *b1)
{
    gc_raster u0, u1, v0, v1;
    if (!gc_chord_part(a, b, &u0, &u1) || !gc_chord_part(b, a, &v0, &v1)) return 0;
    if (GC_ABS_R(a->dh) > GC_ABS_R(b->dh)) {
        if (!gc_chord_follow(b, a, &v0, &v1, &u0, &u1)) return 0;
    } else if (!gc_chord_follow(a, b, &u0, &u1, &v0, &v1)) return 0;
    gc_chord_times(a, u0, u1, a0, a1);
    gc_chord_times(b, v0, v1, b0, b1);
    return *a0 - window <= *b1 && *a1 + window >= *b0;
}

/* Entries i of A's edges and j of B's, whose boxes meet. First whether they can be proper at all while their boxes meet: of bodies that pass through
 * each other most cannot, which is sooner told. */
GC_LARGE void gc_emit_chords(const gc_search *q, const gc_list *la, int i, const gc_list *lb, int j)
{
    const gc_view *w = &q->view;
    gc_four ta = gc_entry_time(la, i), tb = gc_entry_time(lb, j);
    gc_raster a0 = ta.a, a1 = ta.b, b0 = tb.a, b1 = tb.b;
    gc_chord a, b;
    if (w->cull_properness && w->speed > GC_F(0.0)) {
        gc_raster s0 = GC_MAX((a0 - b1) * w->inv_speed, GC_F(-0.5)), s1 = GC_MIN((a1 - b0) * w->inv_speed, GC_F(0.5));
        gc_raster spread = GC_F(0.5) * GC_MAX(s1 - s0, GC_F(0.0)) * w->theta + (GC_CULL_PROPERNESS + w->tilt);
        s0 = GC_MIN(s0, GC_F(0.5));
        s1 = GC_MAX(s1, GC_F(-0.5));
        if (!gc_edges_may_be_proper(q, la->id[i], lb->id[j], GC_F(0.5) * (s0 + s1) * w->theta, spread)) return;
    }
    a = gc_chord_load(q->chords_a + GC_CHORD_STRIDE * i);
    b = gc_chord_load(q->chords_b + GC_CHORD_STRIDE * j);
    if (a.er < GC_F(0.0) || b.er < GC_F(0.0) || gc_chords_meet(&a, &b, w->window, &a0, &a1, &b0, &b1))
        gc_emit_meeting(q, GC_EE, la->id[i], lb->id[j], a0, a1, b0, b1);
}

#endif
