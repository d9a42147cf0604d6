/* s06_edge_edge: edges of A that cross edges of B on the screen.
 *
 * in:  s02's boxes (all pairs), or s04's sorted records (rows)
 * out: EE candidates; with refine = segments or pixels the time as well
 * One work-item per record of A. Source: Buss, section 9, step 6. Two edges that share several rows are taken once:
 * at the first row where their records overlap.
 */

GC_FN void s06_pairs(const gc_search *q, const gc_list *la, const gc_list *lb)
{
    int na = *la->count, nb = *lb->count, i, j, at;
    for (i = GC_LOCAL_ID; i < na; i += GC_GROUP_SIZE) {
        gc_range a = gc_range_of(la, i, q->view.window);
        for (at = 0; at < nb; at += GC_BLOCK) {
            int n = GC_MIN(nb - at, GC_BLOCK), meets[GC_BLOCK];
            if (!gc_block_meets(lb, at, n, a, meets)) continue;
            for (j = 0; j < n; ++j)
                if (meets[j]) gc_emit(q, GC_EE, la, i, lb, at + j);
        }
    }
}

/* do records i of A and j of B overlap in eta and in time */
GC_FN int gc_records_meet(const gc_search *q, const gc_records *ra, int i, const gc_records *rb, int j)
{
    return ra->h0[i] <= rb->h1[j] && ra->h1[i] >= rb->h0[j] && ra->l0[i] - q->view.window <= rb->l1[j]
        && ra->l1[i] + q->view.window >= rb->l0[j];
}

/* the ends of a record inside its row, towards the axis first */
GC_LARGE int gc_record_ends(const gc_search *q, const gc_body *b, const gc_mesh *m, const gc_list *l, int branch, int row,
                         gc_spot *lo, gc_spot *hi)
{
    const gc_view *w = &q->view;
    gc_segment s;
    gc_branch r;
    gc_raster base = q->rows.base + (gc_raster)row * q->rows.height, ua, ub;
    gc_spot p0, p1;
    if (gc_entry_full(w, l, branch >> 1)) return 0;
    s = gc_entry_segment(w, b, m, q->topology, l, branch >> 1);
    if (!gc_branch_make(w, &q->rows, &s, branch & 1, &r)) return 0;
    gc_branch_part(w, &s, &r, base, base + q->rows.height, &ua, &ub);
    p0 = gc_spot_at(w, &s, ua);
    p1 = gc_spot_at(w, &s, ub);
    *lo = p0.rho <= p1.rho ? p0 : p1;
    *hi = p0.rho <= p1.rho ? p1 : p0;
    return 1;
}

/* refine = segments: the two records crossed as straight segments of the (rho, eta) screen */
GC_FN int gc_segments_cross(const gc_spot *a0, const gc_spot *a1, const gc_spot *b0, const gc_spot *b1, gc_raster pad,
                            gc_raster *way)
{
    gc_raster ar = a1->rho - a0->rho, ah = a1->h - a0->h, br = b1->rho - b0->rho, bh = b1->h - b0->h;
    gc_raster det = ar * bh - ah * br, gr = b0->rho - a0->rho, gh = b0->h - a0->h, u, v, slack_a, slack_b;
    gc_raster la = GC_SQRT_R(ar * ar + ah * ah), lb = GC_SQRT_R(br * br + bh * bh);
    if (GC_ABS_R(det) <= GC_F(1e-7) * la * lb) return 0;
    u = (gr * bh - gh * br) / det;
    v = (gr * ah - gh * ar) / det;
    slack_a = GC_F(4.0) * pad / la;
    slack_b = GC_F(4.0) * pad / lb;
    if (u < -slack_a || u > GC_F(1.0) + slack_a || v < -slack_b || v > GC_F(1.0) + slack_b) return 0;
    *way = a0->l + u * (a1->l - a0->l) - (b0->l + v * (b1->l - b0->l));
    return 1;
}

/* refine = pixels: do the pixel ranges overlap; how far apart the records' middles are, and the time between them */
GC_FN int gc_pixels_meet(const gc_search *q, const gc_spot *a0, const gc_spot *a1, const gc_spot *b0, const gc_spot *b1,
                         gc_raster rho, gc_raster *apart, gc_raster *way)
{
    gc_raster scale = gc_arc_factor(&q->view, rho) / q->rows.height;
    gc_raster pa0 = GC_FLOOR_R(GC_MIN(a0->h, a1->h) * scale), pa1 = GC_FLOOR_R(GC_MAX(a0->h, a1->h) * scale);
    gc_raster pb0 = GC_FLOOR_R(GC_MIN(b0->h, b1->h) * scale), pb1 = GC_FLOOR_R(GC_MAX(b0->h, b1->h) * scale);
    if (pa0 > pb1 || pb0 > pa1) return 0;
    *apart = GC_ABS_R(GC_F(0.5) * (a0->h + a1->h - b0->h - b1->h));
    *way = GC_F(0.5) * (a0->l + a1->l - b0->l - b1->l);
    return 1;
}

/* refine = pixels: do the records of two branches share a pixel of this row */
GC_LARGE int gc_row_shared(const gc_search *q, int branch_a, int branch_b, int row, gc_raster *apart, gc_raster *way)
{
    gc_spot a0, a1, b0, b1;
    gc_raster rho = q->rows.base + ((gc_raster)row + GC_F(0.5)) * q->rows.height;
    if (!gc_record_ends(q, &q->a, &q->mesh_a, &q->ea, branch_a, row, &a0, &a1)) return 0;
    if (!gc_record_ends(q, &q->b, &q->mesh_b, &q->eb, branch_b, row, &b0, &b1)) return 0;
    return gc_pixels_meet(q, &a0, &a1, &b0, &b1, rho, apart, way);
}

/* Screen answers for one overlapping pair of records. Pixels: rows first..last are common to both branches; a run of
 * shared pixels is answered once, at its first row, with the time of its best centred pixel. */
GC_LARGE void gc_edges_on_screen(const gc_search *q, int branch_a, int branch_b, int row, int first, int last)
{
    gc_raster way = GC_F(0.0), best = GC_CULL_FAR, best_way = GC_F(0.0), apart, s, slack = GC_F(0.0);
    if (q->refine == GC_REFINE_SEGMENTS) {
        gc_spot a0, a1, b0, b1;
        if (!gc_record_ends(q, &q->a, &q->mesh_a, &q->ea, branch_a, row, &a0, &a1)) return;
        if (!gc_record_ends(q, &q->b, &q->mesh_b, &q->eb, branch_b, row, &b0, &b1)) return;
        if (!gc_segments_cross(&a0, &a1, &b0, &b1, q->view.pad, &best_way)) return;
    } else {
        slack = q->rows.height;
        if (row > first && gc_row_shared(q, branch_a, branch_b, row - 1, &apart, &way)) return;
        for (; row <= last && gc_row_shared(q, branch_a, branch_b, row, &apart, &way); ++row) {
            if (apart >= best) continue;
            best = apart;
            best_way = way;
        }
        if (best == GC_CULL_FAR) return;
    }
    if (best_way < -q->view.window - slack || best_way > q->view.window + slack) return;
    s = q->view.speed > GC_F(0.0) ? best_way / q->view.speed : GC_F(-0.5);
    s = s < GC_F(-0.5) ? GC_F(-0.5) : (s > GC_F(0.5) ? GC_F(0.5) : s);
    gc_append(q, GC_EE, q->ea.id[branch_a >> 1], q->eb.id[branch_b >> 1], s, s);
}

GC_LARGE void s06_rows(const gc_search *q, const gc_records *ra, const gc_records *rb)
{
    int i, k, earlier;
    gc_raster wide = q->refine == GC_REFINE_PIXELS ? q->rows.height : GC_F(0.0);
    for (i = GC_LOCAL_ID; i < ra->n; i += GC_GROUP_SIZE) {
        int ba = ra->branch[i], row = ra->row_lo[ba] + i - ra->start[ba];
        gc_raster rim = wide, h0, h1, l0 = ra->l0[i] - q->view.window, l1 = ra->l1[i] + q->view.window;
        int end;
        if (wide > GC_F(0.0)) {
            gc_raster factor = gc_arc_factor(&q->view, q->rows.base + ((gc_raster)row + GC_F(0.5)) * q->rows.height);
            rim = factor > GC_F(1e-6) ? wide / factor : GC_CULL_FAR;
        }
        h0 = ra->h0[i] - rim;
        h1 = ra->h1[i] + rim;
        end = gc_first_above(rb->sh0, rb->row_start[row], rb->row_start[row + 1], h1);
        for (k = rb->row_start[row]; k < end; ++k) {
            int j, bb, first, taken = 0;
            if (rb->sh1[k] < h0 || rb->sl0[k] > l1 + rim || rb->sl1[k] < l0 - rim) continue;
            j = rb->order[k];
            bb = rb->branch[j];
            first = GC_MAX(ra->row_lo[ba], rb->row_lo[bb]);
            if (q->refine != GC_REFINE_EXACT) {
                gc_edges_on_screen(q, ba, bb, row, first, GC_MIN(ra->row_hi[ba], rb->row_hi[bb]));
                continue;
            }
            /* the same comparison here and in the rows before, or rounding could lose the pair between two rows */
            if (!gc_records_meet(q, ra, i, rb, j)) continue;
            for (earlier = first; earlier < row && !taken; ++earlier)
                taken = gc_records_meet(q, ra, ra->start[ba] + earlier - ra->row_lo[ba], rb,
                                        rb->start[bb] + earlier - rb->row_lo[bb]);
            if (!taken) gc_emit(q, GC_EE, &q->ea, ba >> 1, &q->eb, bb >> 1);
        }
    }
}
