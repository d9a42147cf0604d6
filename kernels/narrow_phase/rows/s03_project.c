/* s03_project: edges to row records, faces to row spans.
 * needs: narrow_phase/rows/gc_segment.h
 *
 * in:  box lists of s02
 * out: one record per (edge branch, row): the hull of the branch inside the row in eta and lambda; one span per (face,
 *      row): the hull over the face's facing boundary there, its virtual silhouette edge included; one record per vertex.
 *      With refine = pixels edges and faces are wider by a pixel
 * One work-item per edge or face. Source: Buss, sections 7 and 9, step 3; docs/decisions/0004.
 * A row holds rho in [base + k height, base + (k + 1) height); records are padded over both ends, vertices are not, so
 * that two points that meet always share a row.
 */

/* entry i of an edge list as a segment, on its own branch and copy */
GC_LARGE gc_segment gc_entry_segment(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    int i)
{
    int e = l->id[i], v0 = topology[m->edges + 2 * e], v1 = topology[m->edges + 2 * e + 1];
    gc_raster u0 = GC_OF_ENTRY(l, u0, i), dx, dz, arc, psi;
    gc_four p = gc_vertex_of(b, v0), r = gc_vertex_of(b, v1);
    gc_segment s = gc_segment_make(w, p.a, p.b, p.c, r.a, r.b, r.c, p.d, p.d);
    /* s02 unwraps from the kept part's first point, so the copy number counts from there */
    dx = s.x + u0 * s.dx;
    dz = s.z + u0 * s.dz;
    arc = gc_arc(dx, dz, w->kappa, w->inv_kappa);
    psi = arc + (l->copy[i] ? (gc_raster)l->copy[i] * w->period : GC_F(0.0));
    s.arc_ref = arc;
    s.psi_ref = psi;
    s.u0 = u0;
    s.u1 = GC_OF_ENTRY(l, u1, i);
    return s;
}

GC_FN int gc_entry_full(const gc_view *w, const gc_list *l, int i)
{
    return GC_OF_ENTRY(l, p1, i) - GC_OF_ENTRY(l, p0, i) > GC_F(2.0) * w->period;
}

/* Add to a count of records, but no further than to where it cannot fit anyway: it must not wrap round. */
GC_FN int gc_count_on(GC_GLOBAL int *count, int n)
{
    int now = GC_GROUP_ADD(count, 0);
    return now > (1 << 29) ? now : GC_GROUP_ADD(count, n);
}

/* rows of every branch; count[0] grows by the number of records */
GC_LARGE void s03_edges_count(
    const gc_view *w,
    const gc_rows *rows,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    const gc_records *o,
    GC_GLOBAL int *count)
{
    int i, which, n = *l->count;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_segment s = gc_entry_segment(w, b, m, topology, l, i);
        for (which = 0; which < 2; ++which) {
            gc_branch r;
            int at = 2 * i + which;
            o->row_lo[at] = 0;
            o->row_hi[at] = -1;
            if (gc_entry_full(w, l, i)) {
                if (which == 1) continue;
                r.row_lo = GC_MAX(gc_row(rows, GC_OF_ENTRY(l, r0, i) - w->pixel), 0);
                r.row_hi = GC_MIN(gc_row(rows, GC_OF_ENTRY(l, r1, i) + w->pixel), rows->n - 1);
            } else if (!gc_branch_make(w, rows, &s, which, &r)) {
                continue;
            }
            if (r.row_hi < r.row_lo) continue;
            o->row_lo[at] = r.row_lo;
            o->row_hi[at] = r.row_hi;
            o->start[at] = gc_count_on(count, r.row_hi - r.row_lo + 1);
        }
    }
}

GC_LARGE void s03_edges_fill(
    const gc_view *w,
    const gc_rows *rows,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    const gc_records *o)
{
    int i, which, row, n = *l->count;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_segment s = gc_entry_segment(w, b, m, topology, l, i);
        int full = gc_entry_full(w, l, i);
        for (which = 0; which < 2; ++which) {
            gc_branch r;
            int at = 2 * i + which;
            if (o->row_hi[at] < o->row_lo[at]) continue;
            if (!full) gc_branch_make(w, rows, &s, which, &r);
            for (row = o->row_lo[at]; row <= o->row_hi[at]; ++row) {
                int k = o->start[at] + row - o->row_lo[at];
                gc_span p;
                if (full) {
                    p.h0 = GC_OF_ENTRY(l, h0, i);
                    p.h1 = GC_OF_ENTRY(l, h1, i);
                    p.l0 = GC_OF_ENTRY(l, l0, i);
                    p.l1 = GC_OF_ENTRY(l, l1, i);
                } else {
                    p = gc_branch_span(w, rows, &s, &r, row);
                }
                o->h0[k] = p.h0;
                o->h1[k] = p.h1;
                o->l0[k] = p.l0;
                o->l1[k] = p.l1;
                o->branch[k] = at;
            }
        }
    }
}

GC_LARGE void s03_faces_count(
    const gc_view *w,
    const gc_rows *rows,
    const gc_list *l,
    const gc_records *o,
    GC_GLOBAL int *count)
{
    int i, n = *l->count;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int lo = GC_MAX(gc_row(rows, GC_OF_ENTRY(l, r0, i) - w->pixel), 0);
        int hi = GC_MIN(gc_row(rows, GC_OF_ENTRY(l, r1, i) + w->pixel), rows->n - 1);
        o->row_lo[i] = lo;
        o->row_hi[i] = hi;
        if (hi >= lo) o->start[i] = gc_count_on(count, hi - lo + 1);
    }
}

/* the one record of a vertex, in the row of its own radius */
GC_LARGE void s03_vertices(const gc_rows *rows, const gc_list *l, const gc_records *o)
{
    int i;
    for (i = GC_LOCAL_ID; i < o->n; i += GC_GROUP_SIZE) {
        int row = gc_row(rows, GC_F(0.5) * (GC_OF_ENTRY(l, r0, i) + GC_OF_ENTRY(l, r1, i)));
        o->row_lo[i] = GC_MIN(GC_MAX(row, 0), rows->n - 1);
        o->row_hi[i] = o->row_lo[i];
        o->start[i] = i;
        o->branch[i] = i;
        o->h0[i] = GC_OF_ENTRY(l, h0, i);
        o->h1[i] = GC_OF_ENTRY(l, h1, i);
        o->l0[i] = GC_OF_ENTRY(l, l0, i);
        o->l1[i] = GC_OF_ENTRY(l, l1, i);
    }
}

/* widen the spans of face entry i by one segment of its boundary */
GC_FN void gc_face_widen(const gc_view *w, const gc_rows *rows, const gc_segment *s, const gc_records *o, int i)
{
    int which, row;
    for (which = 0; which < 2; ++which) {
        gc_branch r;
        if (!gc_branch_make(w, rows, s, which, &r)) continue;
        for (row = GC_MAX(r.row_lo, o->row_lo[i]); row <= GC_MIN(r.row_hi, o->row_hi[i]); ++row) {
            int k = o->start[i] + row - o->row_lo[i];
            gc_span p = gc_branch_span(w, rows, s, &r, row);
            o->h0[k] = GC_MIN(p.h0, o->h0[k]);
            o->h1[k] = GC_MAX(p.h1, o->h1[k]);
        }
    }
}

/* Walk over the facing boundary of a face: side `at` of the loop as a segment (u0 > u1 if none of it faces the right
 * way), and the virtual edge between the two crossings of the silhouette as the last. */
typedef struct {
    int start, end, at, u, crossings;
    gc_raster psi;
    gc_raster cx[2], cy[2], cz[2], cpsi[2];
} gc_boundary;

GC_FN void gc_boundary_start(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    int i,
    gc_boundary *o)
{
    int f = l->id[i];
    o->start = topology[m->face_start + f];
    o->end = topology[m->face_start + f + 1];
    o->at = o->start;
    o->u = topology[m->face_vertices + o->end - 1];
    o->psi = GC_OF_VERTEX(b, psi, o->u) + (l->copy[i] ? (gc_raster)l->copy[i] * w->period : GC_F(0.0));
    o->crossings = 0;
}

GC_LARGE int gc_boundary_next(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    int f,
    gc_boundary *o,
    gc_segment *s)
{
    if (o->at < o->end) {
        int u = o->u, v = topology[m->face_vertices + o->at];
        gc_raster g0 = m->two_sided ? GC_F(1.0) : gc_faces(b, f, u);
        gc_raster g1 = m->two_sided ? GC_F(1.0) : gc_faces(b, f, v);
        gc_four p = gc_vertex_of(b, u), r = gc_vertex_of(b, v);
        *s = gc_segment_make(w, p.a, p.b, p.c, r.a, r.b, r.c, p.d, o->psi);
        if ((g0 >= GC_F(0.0)) != (g1 >= GC_F(0.0))) {
            gc_raster cut = g0 / (g0 - g1);
            int c = o->crossings < 2 ? o->crossings : 1;
            o->cx[c] = s->x + cut * s->dx;
            o->cy[c] = s->y + cut * s->dy;
            o->cz[c] = s->z + cut * s->dz;
            o->cpsi[c] = o->psi + gc_short_way(gc_arc(o->cx[c], o->cz[c], w->kappa, w->inv_kappa) - p.d, w->period);
            o->crossings += 1;
            if (g0 >= GC_F(0.0)) s->u1 = cut;
            else s->u0 = cut;
        } else if (g0 < GC_F(0.0)) {
            s->u0 = GC_F(2.0);
        }
        o->psi += gc_short_way(r.d - p.d, w->period);
        o->u = v;
        o->at += 1;
        return 1;
    }
    if (o->at == o->end && o->crossings >= 2) {
        *s = gc_segment_make(
            w, o->cx[0], o->cy[0], o->cz[0], o->cx[1], o->cy[1], o->cz[1],
            gc_arc(o->cx[0], o->cz[0], w->kappa, w->inv_kappa), o->cpsi[0]);
        o->at += 1;
        return 1;
    }
    return 0;
}

GC_LARGE void s03_faces_fill(
    const gc_view *w,
    const gc_rows *rows,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    const gc_records *o)
{
    int i, row, n = *l->count;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int full = gc_entry_full(w, l, i), wide = full || m->two_sided;
        gc_raster rim = gc_pixel_rim(w, GC_OF_ENTRY(l, r0, i));
        gc_raster way = gc_pixel_way(w, GC_OF_ENTRY(l, r0, i), GC_OF_ENTRY(l, r1, i));
        for (row = o->row_lo[i]; row <= o->row_hi[i]; ++row) {
            int k = o->start[i] + row - o->row_lo[i];
            o->h0[k] = wide ? GC_OF_ENTRY(l, h0, i) - rim : GC_CULL_FAR;
            o->h1[k] = wide ? GC_OF_ENTRY(l, h1, i) + rim : -GC_CULL_FAR;
            o->l0[k] = GC_OF_ENTRY(l, l0, i) - way;
            o->l1[k] = GC_OF_ENTRY(l, l1, i) + way;
            o->branch[k] = i;
        }
        if (!wide) {
            gc_boundary walk;
            gc_segment s;
            gc_boundary_start(w, b, m, topology, l, i, &walk);
            while (gc_boundary_next(w, b, m, topology, l->id[i], &walk, &s))
                if (s.u0 <= s.u1) gc_face_widen(w, rows, &s, o, i);
        }
    }
}
