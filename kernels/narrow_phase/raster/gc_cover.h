/* gc_cover.h: the pixels that a face covers in a row of the screen (refine = pixels): the hull of its facing boundary there.
 * needs: common/gc_motion.h narrow_phase/raster/gc_grid.h
 */
#ifndef GC_COVER_H
#define GC_COVER_H

/* What a face covers of a row: range of eta and of the row's ways, and whether its pixels there are those of a real edge. `ask`: the axis
 * comes too near for places on the screen. */
typedef struct {
    gc_real h0, h1, l0, l1;
    int found, border, ask;
} gc_cover;

/* one side of the face's facing boundary: widen, and see whether it fills the vertex's pixel; psi: azimuth of a on the face's
 * branch; dh: what the vertex's copy adds to its eta */
GC_LARGE void gc_cover_side(
    const gc_grid *g,
    gc_vec a,
    gc_vec d,
    gc_real psi,
    gc_real u0,
    gc_real u1,
    gc_real row,
    gc_cover *o,
    gc_real *spans,
    int *n_spans)
{
    gc_real low = gc_grid_border(g, row), high = gc_grid_border(g, row + GC_R(1.0));
    int which;
    for (which = 0; which < 2; ++which) {
        gc_limb m;
        gc_stretch p;
        gc_real turns, in, out;
        if (!gc_limb_make(g, a, d, u0, u1, which, &m)) continue;
        if (m.lo < g->axis + GC_R(1e-3) * g->size) {
            o->ask = 1;
            return;
        }
        if (m.lo >= high || m.hi < low) continue;
        turns = GC_R(0.0);
        if (g->period < (gc_real)GC_CULL_FAR) turns = GC_RINT((psi + gc_arc_from(g, a, m.rim) - m.psi) / g->period);
        m.psi += turns * g->period;
        p = gc_stretch_make(g, &m, low, high);
        o->h0 = GC_MIN(o->h0, GC_MIN(p.in.h, p.out.h));
        o->h1 = GC_MAX(o->h1, GC_MAX(p.in.h, p.out.h));
        in = gc_row_way(g, row, p.in.h, p.in.l);
        out = gc_row_way(g, row, p.out.h, p.out.l);
        o->l0 = GC_MIN(o->l0, GC_MIN(in, out));
        o->l1 = GC_MAX(o->l1, GC_MAX(in, out));
        o->found = 1;
        if (*n_spans < GC_ANSWER_SIDES) {
            spans[2 * *n_spans] = GC_MIN(p.in.h, p.out.h);
            spans[2 * *n_spans + 1] = GC_MAX(p.in.h, p.out.h);
            *n_spans += 1;
        }
    }
}

/* The facing part of a face in a row. spans: ranges of eta of its real sides there. */
GC_LARGE gc_cover gc_face_cover(
    const gc_tables *t,
    const gc_mesh *m,
    const gc_screw *k,
    const gc_grid *g,
    const gc_real *rot,
    const gc_real *shift,
    int face,
    gc_real way,
    gc_real row,
    gc_real *spans,
    int *n_spans)
{
    int start = t->topology[m->face_start + face], end = t->topology[m->face_start + face + 1], j, cuts = 0;
    int none = 2 * GC_ANSWER_SIDES;
    gc_vec n = gc_rotate(rot, gc_normal(t, m, face)), cut[2];
    gc_vec a = gc_place(k, rot, shift, gc_vertex(t, m, t->topology[m->face_vertices + end - 1]));
    gc_real limit = GC_R(-100.0) * GC_TOL_FACING * k->speed, g0 = way * gc_facing(k, n, a), cut_psi = GC_R(0.0);
    gc_real psi = gc_arc_to(a.x, GC_R(1.0) + g->kappa * a.z, g->kappa), first = psi;
    gc_cover o;
    o.h0 = (gc_real)GC_CULL_FAR;
    o.h1 = -(gc_real)GC_CULL_FAR;
    o.l0 = o.h0;
    o.l1 = o.h1;
    o.found = 0;
    o.border = 0;
    o.ask = 0;
    cut[0] = a;
    cut[1] = a;
    for (j = start; j < end && !o.ask; ++j) {
        gc_vec b = gc_place(k, rot, shift, gc_vertex(t, m, t->topology[m->face_vertices + j])), d = gc_sub(b, a);
        gc_real g1 = way * gc_facing(k, n, b), u0 = GC_R(0.0), u1 = GC_R(1.0);
        int in0 = m->two_sided || g0 >= limit, in1 = m->two_sided || g1 >= limit;
        if (in0 != in1) {
            gc_real u = (limit - g0) / (g1 - g0);
            if (cuts == 0) cut_psi = psi + gc_arc_from(g, a, gc_along(a, d, u));
            if (cuts < 2) cut[cuts] = gc_along(a, d, u);
            cuts += 1;
            if (in0) u1 = u;
            else u0 = u;
        }
        if (in0 || in1) gc_cover_side(g, a, d, psi, u0, u1, row, &o, spans, n_spans);
        psi += gc_arc_from(g, a, b);
        a = b;
        g0 = g1;
    }
    /* the virtual edge where the face turns away is a border of it, but no side that anything meets */
    if (cuts >= 2 && !o.ask)
        gc_cover_side(g, cut[0], gc_sub(cut[1], cut[0]), cut_psi, GC_R(0.0), GC_R(1.0), row, &o, spans, &none);
    /* a loop that does not close goes round the axis */
    if (g->period < (gc_real)GC_CULL_FAR && GC_ABS(psi - first) > GC_R(0.5) * g->period) o.ask = 1;
    return o;
}

#endif
