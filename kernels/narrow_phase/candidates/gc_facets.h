/* gc_facets.h: triangles on the screen, and where a vertex can meet them (s05 without rows, long lists, exact answers).
 * needs: narrow_phase/candidates/gc_chords.h
 *
 * A vertex keeps its (rho, eta) while it moves, so it meets a face only where the face covers that place on the screen. The
 * image of a triangle is curved; but for a point x with barycentric coordinates u_j, rho, eta and lambda are near the means
 * of the corners' values with the same weights. By Taylor's theorem such a mean is off f(x) by at most half the largest
 * |f''| times the sum of u_j |x_j - x|^2, which is the sum over pairs of u_i u_j |x_i - x_j|^2, and that is at most a third
 * of the longest side squared. Across the axis
 *     0 <= rho'' <= kappa |v|^2 / k        |psi''| <= kappa |v|^2 / k^2        k = 1 + kappa rho
 * and k is least on a side, unless the axis passes through. So the barycentric coordinates of a vertex's (rho, eta) in the
 * corners are known up to these bounds: if one is negative beyond that, the two do not meet; if not, they say when
 * (docs/decisions/0080).
 */
#ifndef GC_FACETS_H
#define GC_FACETS_H

/* a triangle: a corner, the ways to both others, and how far a point may be off what they make of it, pads included */
typedef struct {
    gc_raster r, h, l, r1, h1, l1, r2, h2, l2, er, eh, el;
} gc_facet;

/* nearer to the axis than this share of the frame's radius a face is looked at as a box */
#define GC_FACET_AXIS GC_F(0.1)
/* an area is known to twice this share where it is more than so much of its terms: GC_CHORD_ROUNDING over this */
#define GC_FACET_THIN GC_F(1e-3)

/* facet of entry i of a list of faces, a copy of A where that is one; 0 if it has none */
GC_LARGE int gc_facet_make(const gc_search *q, const gc_body *b, const gc_mesh *m, const gc_list *l, int i, gc_facet *to)
{
    const gc_view *w = &q->view;
    int start = q->topology[m->face_start + l->id[i]], v0, v1, v2;
    gc_raster k0 = GC_F(1.0) + w->kappa * GC_OF_ENTRY(l, r0, i), pad = gc_pad_near(w, k0);
    gc_raster turn = l->copy[i] == 0 ? GC_F(0.0) : (gc_raster)l->copy[i] * w->period;
    gc_four x0, x1, x2;
    gc_raster p1, p2, side, sag, stray;
    if (!(k0 > GC_FACET_AXIS) || q->topology[m->face_start + l->id[i] + 1] - start != 3) return 0;
    v1 = q->topology[m->face_vertices + start];
    v2 = q->topology[m->face_vertices + start + 1];
    v0 = q->topology[m->face_vertices + start + 2]; /* the box's psi is counted from it (s02_faces) */
    x0 = gc_vertex_of(b, v0);
    x1 = gc_vertex_of(b, v1);
    x2 = gc_vertex_of(b, v2);
    p1 = gc_short_way(x1.d - x0.d, w->period);
    p2 = gc_short_way(x2.d - x0.d, w->period);
    side = (x1.a - x0.a) * (x1.a - x0.a) + (x1.c - x0.c) * (x1.c - x0.c);
    side = GC_MAX((x2.a - x0.a) * (x2.a - x0.a) + (x2.c - x0.c) * (x2.c - x0.c), side);
    side = GC_MAX((x2.a - x1.a) * (x2.a - x1.a) + (x2.c - x1.c) * (x2.c - x1.c), side);
    sag = GC_F(0.16667) * w->kappa * side / k0;
    stray = sag / k0;
    to->r = b->rho[v0] - GC_F(0.5) * sag;
    to->h = w->wn * x0.b - w->gn * (x0.d + turn);
    to->l = w->gn * x0.b + w->wn * (x0.d + turn);
    to->r1 = b->rho[v1] - b->rho[v0];
    to->h1 = w->wn * (x1.b - x0.b) - w->gn * p1;
    to->l1 = w->gn * (x1.b - x0.b) + w->wn * p1;
    to->r2 = b->rho[v2] - b->rho[v0];
    to->h2 = w->wn * (x2.b - x0.b) - w->gn * p2;
    to->l2 = w->gn * (x2.b - x0.b) + w->wn * p2;
    to->er = GC_F(0.5) * sag + w->pad;
    to->eh = GC_ABS_R(w->gn) * stray + pad;
    to->el = GC_ABS_R(w->wn) * stray + pad;
    return 1;
}

/* how far a share times the area may be off: of (gr, gh) and the side (r, h) that it is counted from */
GC_FN gc_raster gc_facet_off(gc_raster er, gc_raster eh, gc_raster gr, gc_raster gh, gc_raster r, gc_raster h)
{
    return (er + GC_CHORD_ROUNDING * GC_ABS_R(gr)) * GC_ABS_R(h) + (eh + GC_CHORD_ROUNDING * GC_ABS_R(gh)) * GC_ABS_R(r);
}

/* Can a vertex at (r, h), good to vr and vh, meet the facet? Then the lambda of the facet there is between *first and *last, which are
 * known bounds before. */
GC_FN int gc_facet_meets(
    const gc_facet *f,
    gc_raster r,
    gc_raster h,
    gc_raster vr,
    gc_raster vh,
    gc_raster *first,
    gc_raster *last)
{
    gc_raster gr = r - f->r, gh = h - f->h, er = f->er + vr, eh = f->eh + vh, r3 = f->r2 - f->r1, h3 = f->h2 - f->h1;
    gc_raster area = f->r1 * f->h2 - f->r2 * f->h1, one = gr * f->h2 - gh * f->r2, two = f->r1 * gh - f->h1 * gr;
    gc_raster off1 = gc_facet_off(er, eh, gr, gh, f->r2, f->h2), off2 = gc_facet_off(er, eh, gr, gh, f->r1, f->h1);
    /* the third from its own side: the rounding of the area is that of the ways to its ends */
    gc_raster none = (f->r1 - gr) * h3 - (f->h1 - gh) * r3;
    gc_raster off0 = gc_facet_off(er, eh, GC_ABS_R(gr) + GC_ABS_R(f->r1), GC_ABS_R(gh) + GC_ABS_R(f->h1), r3, h3);
    gc_raster u0, u1, v0, v1, per, a, b;
    /* rounding of the sides themselves, as a share of all that they are multiplied with */
    off0 += GC_CHORD_ROUNDING
            * ((GC_ABS_R(f->r1) + GC_ABS_R(gr)) * (GC_ABS_R(f->h1) + GC_ABS_R(f->h2))
               + (GC_ABS_R(f->h1) + GC_ABS_R(gh)) * (GC_ABS_R(f->r1) + GC_ABS_R(f->r2)));
    if (area < GC_F(0.0)) {
        one = -one;
        two = -two;
        none = -none;
    }
    if (one < -off1 || two < -off2 || none < -off0) return 0;
    /* shares are worth something where the area is well known */
    area = GC_ABS_R(area);
    if (!(area > GC_FACET_THIN * (GC_ABS_R(f->r1 * f->h2) + GC_ABS_R(f->r2 * f->h1)))) return 1;
    per = GC_F(1.0) / area;
    u0 = GC_MAX((one - off1) * per * GC_F(0.997), GC_F(0.0));
    u1 = GC_MIN((one + off1) * per * GC_F(1.003), GC_F(1.0));
    v0 = GC_MAX((two - off2) * per * GC_F(0.997), GC_F(0.0));
    v1 = GC_MIN((two + off2) * per * GC_F(1.003), GC_F(1.0));
    a = GC_MIN(u0 * f->l1, u1 * f->l1) + GC_MIN(v0 * f->l2, v1 * f->l2);
    b = GC_MAX(u0 * f->l1, u1 * f->l1) + GC_MAX(v0 * f->l2, v1 * f->l2);
    u1 = f->el + GC_CHORD_ROUNDING * (GC_ABS_R(f->l1) + GC_ABS_R(f->l2));
    *first = GC_MAX(f->l + a - u1, *first);
    *last = GC_MIN(f->l + b + u1, *last);
    return *first <= *last;
}

/* Entry i of a list of vertices and j of one of faces, whose boxes meet; kind: whose they are. First whether they can be proper while their
 * boxes meet, which is sooner told. A vertex' box is its place and the pads. */
GC_LARGE void gc_emit_facet(const gc_search *q, int kind, const gc_list *vertices, int i, const gc_list *faces, int j)
{
    const gc_view *w = &q->view;
    int of_b = kind == GC_VF, v = vertices->id[i], face = faces->id[j];
    gc_four place, time = gc_entry_time(vertices, i), when = gc_entry_time(faces, j);
    gc_raster first = when.a, last = when.b, mid = GC_F(0.5), s0, s1;
    gc_facet f;
    if (of_b) gc_bracket(w, time.a, time.b, first, last, &s0, &s1);
    else gc_bracket(w, first, last, time.a, time.b, &s0, &s1);
    if (!gc_may_be_proper(q, kind, of_b ? v : face, of_b ? face : v, s0, s1)) return;
    if (gc_facet_make(q, of_b ? &q->b : &q->a, of_b ? &q->mesh_b : &q->mesh_a, faces, j, &f)) {
        place = gc_entry_place(vertices, i);
        if (!gc_facet_meets(
                &f, mid * (place.a + place.b), mid * (place.c + place.d), mid * (place.b - place.a),
                mid * (place.d - place.c), &first, &last))
            return;
        if (time.a - w->window > last || time.b + w->window < first) return;
    }
    if (of_b) gc_emit_meeting(q, kind, v, face, time.a, time.b, first, last);
    else gc_emit_meeting(q, kind, face, v, first, last, time.a, time.b);
}

#endif
