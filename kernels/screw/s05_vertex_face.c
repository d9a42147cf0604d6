/* s05_vertex_face: vertices of one body inside faces of the other.
 *
 * in:  s02's boxes (all pairs), or s04's sorted face spans (rows)
 * out: FV and VF candidates; with refine = segments or pixels the time as well
 * One work-item per vertex. Source: Buss, section 9, step 5 (scanline). In a row the spans are sorted by where they
 * begin, so the scan for a vertex stops at the first that begins behind it.
 */

/* append in the order A, B whichever body has the vertex */
GC_FN void gc_emit_vertex(const gc_search *q, int kind, const gc_list *vertices, int i, const gc_list *faces, int j)
{
    if (kind == GC_VF) gc_emit(q, kind, vertices, i, faces, j);
    else gc_emit(q, kind, faces, j, vertices, i);
}

GC_LARGE void s05_pairs(const gc_search *q, int kind, const gc_list *vertices, const gc_list *faces)
{
    int i, j, at, nv = *vertices->count, nf = *faces->count;
    for (i = GC_LOCAL_ID; i < nv; i += GC_GROUP_SIZE) {
        gc_range v = gc_range_of(vertices, i, q->view.window);
        for (at = 0; at < nf; at += GC_BLOCK) {
            int n = GC_MIN(nf - at, GC_BLOCK), meets[GC_BLOCK];
            if (!gc_block_meets(faces, at, n, v, meets)) continue;
            for (j = 0; j < n; ++j)
                if (meets[j]) gc_emit_vertex(q, kind, vertices, i, faces, at + j);
        }
    }
}

/* Where the facing boundary of face entry j crosses radius rho: hull of the crossings in eta, lambda at both ends.
 * Each record is taken as the straight segment between its ends inside the row. */
GC_LARGE int gc_face_crossings(const gc_search *q, const gc_body *b, const gc_mesh *m, const gc_list *faces, int j, int row,
                            gc_raster rho, gc_spot *first, gc_spot *last)
{
    const gc_view *w = &q->view;
    gc_boundary walk;
    gc_segment s;
    gc_raster lo = q->rows.base + (gc_raster)row * q->rows.height, hi = lo + q->rows.height;
    int found = 0, which;
    first->rho = rho;
    first->h = GC_F(0.0);
    first->l = GC_F(0.0);
    *last = *first;
    gc_boundary_start(w, b, m, q->topology, faces, j, &walk);
    while (gc_boundary_next(w, b, m, q->topology, faces->id[j], &walk, &s)) {
        if (s.u0 > s.u1) continue;
        for (which = 0; which < 2; ++which) {
            gc_branch r;
            gc_raster ua, ub, f;
            gc_spot p0, p1, at;
            if (!gc_branch_make(w, &q->rows, &s, which, &r)) continue;
            if (rho < r.rho_lo - w->pad || rho > r.rho_hi + w->pad) continue;
            gc_branch_part(w, &s, &r, lo, hi, &ua, &ub);
            p0 = gc_spot_at(w, &s, ua);
            p1 = gc_spot_at(w, &s, ub);
            f = p1.rho != p0.rho ? (rho - p0.rho) / (p1.rho - p0.rho) : GC_F(0.5);
            f = f < GC_F(0.0) ? GC_F(0.0) : (f > GC_F(1.0) ? GC_F(1.0) : f);
            at.rho = rho;
            at.h = p0.h + f * (p1.h - p0.h);
            at.l = p0.l + f * (p1.l - p0.l);
            if (r.flat) {
                /* an edge at constant radius: both its ends bound the span */
                if (!found || p0.h < first->h) *first = p0;
                if (!found || p0.h > last->h) *last = p0;
                found = 1;
                at = p1;
            }
            if (!found || at.h < first->h) *first = at;
            if (!found || at.h > last->h) *last = at;
            found = 1;
        }
    }
    return found;
}

/* factor from eta to arc length along the screen at radius rho (the paper's h) */
GC_FN gc_raster gc_arc_factor(const gc_view *w, gc_raster rho)
{
    gc_raster k = GC_F(1.0) + w->kappa * rho;
    gc_raster d = GC_SQRT_R(w->gn * w->gn + w->wn * w->wn * k * k);
    return d > GC_F(0.0) ? GC_ABS_R(k) / d : GC_F(0.0);
}

/* refine = segments, and the start of refine = pixels: is the vertex between the crossings, and when */
GC_LARGE void gc_vertex_on_screen(const gc_search *q, int kind, const gc_list *vertices, int i, const gc_list *faces, int j,
                               int row, gc_raster rho)
{
    const gc_view *w = &q->view;
    int fv = kind == GC_FV, v = vertices->id[i];
    const gc_body *bf = fv ? &q->a : &q->b, *bv = fv ? &q->b : &q->a;
    const gc_mesh *mf = fv ? &q->mesh_a : &q->mesh_b;
    gc_raster psi = bv->psi[v] + (vertices->copy[i] ? (gc_raster)vertices->copy[i] * w->period : GC_F(0.0));
    gc_raster h = w->wn * bv->y[v] - w->gn * psi, l = w->gn * bv->y[v] + w->wn * psi, slack, f, at, s;
    gc_spot first, last;
    if (gc_entry_full(w, faces, j) || gc_entry_full(w, vertices, i)) {
        /* the axis goes through: no place on the screen to compare; the solver looks whether the point is on the face */
        if (fv) gc_append(q, kind, faces->id[j], v, GC_F(0.0), GC_ASK_SOLVER);
        else gc_append(q, kind, v, faces->id[j], GC_F(0.0), GC_ASK_SOLVER);
        return;
    }
    if (!gc_face_crossings(q, bf, mf, faces, j, row, rho, &first, &last)) return;
    if (q->refine == GC_REFINE_PIXELS) {
        gc_raster scale = gc_arc_factor(w, rho) / q->rows.height;
        gc_raster pixel = GC_FLOOR_R(h * scale);
        if (pixel < GC_FLOOR_R(first.h * scale) || pixel > GC_FLOOR_R(last.h * scale)) return;
    } else {
        slack = GC_F(4.0) * w->pad;
        if (h < first.h - slack || h > last.h + slack) return;
    }
    f = last.h > first.h ? (h - first.h) / (last.h - first.h) : GC_F(0.5);
    f = f < GC_F(0.0) ? GC_F(0.0) : (f > GC_F(1.0) ? GC_F(1.0) : f);
    at = first.l + f * (last.l - first.l);
    s = fv ? at - l : l - at;
    /* between far apart ends the time is rough; s07's iteration decides whether it is in the step */
    slack = GC_ABS_R(last.l - first.l) + q->rows.height;
    if (s < -w->window - slack || s > w->window + slack) return;
    s = w->speed > GC_F(0.0) ? s / w->speed : GC_F(-0.5);
    s = s < GC_F(-0.5) ? GC_F(-0.5) : (s > GC_F(0.5) ? GC_F(0.5) : s);
    if (fv) gc_append(q, kind, faces->id[j], v, s, s);
    else gc_append(q, kind, v, faces->id[j], s, s);
}

/* spans: the faces' records after s04 */
GC_LARGE void s05_rows(const gc_search *q, int kind, const gc_list *vertices, const gc_list *faces, const gc_records *spans)
{
    int i, k, n = *vertices->count;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL const gc_raster *v = vertices->box + i;
        gc_raster rho = GC_F(0.5) * (v[GC_R0 * vertices->room] + v[GC_R1 * vertices->room]);
        gc_raster h0 = v[GC_H0 * vertices->room], h1 = v[GC_H1 * vertices->room];
        gc_raster l0 = v[GC_L0 * vertices->room] - q->view.window, l1 = v[GC_L1 * vertices->room] + q->view.window;
        gc_raster wide = q->refine == GC_REFINE_PIXELS ? q->rows.height : GC_F(0.0);
        int row = gc_row(&q->rows, rho), end;
        if (row < 0) row = 0;
        if (row >= q->rows.n) row = q->rows.n - 1;
        if (wide > GC_F(0.0)) {
            gc_raster factor = gc_arc_factor(&q->view, rho);
            wide = factor > GC_F(1e-6) ? wide / factor : GC_CULL_FAR;
        }
        end = gc_first_above(spans->sh0, spans->row_start[row], spans->row_start[row + 1], h1 + wide);
        for (k = spans->row_start[row]; k < end; ++k) {
            int j;
            if (spans->sh1[k] < h0 - wide || spans->sl0[k] > l1 + wide || spans->sl1[k] < l0 - wide) continue;
            j = spans->branch[spans->order[k]];
            if (q->refine == GC_REFINE_EXACT) gc_emit_vertex(q, kind, vertices, i, faces, j);
            else gc_vertex_on_screen(q, kind, vertices, i, faces, j, row, rho);
        }
    }
}
