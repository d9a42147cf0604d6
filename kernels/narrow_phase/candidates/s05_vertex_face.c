/* s05_vertex_face: vertices of one body inside faces of the other.
 * needs: narrow_phase/candidates/gc_box_overlap.h narrow_phase/candidates/gc_tiles.h
 *
 * in:  s02's boxes (all pairs), or s04's sorted face spans and vertices (rows)
 * out: FV and VF candidates
 * One work-item per vertex and per span. Source: Buss, section 9, step 5. The paper sweeps a row once with a list of open
 * faces; here no state is carried along: of two ranges that overlap, one begins inside the other, so every vertex tests the
 * spans that begin inside its range, and every span the vertices that begin inside it, both found by bisection.
 */

/* append in the order A, B whichever body has the vertex */
GC_FN void gc_emit_vertex(const gc_search *q, int kind, const gc_list *vertices, int i, const gc_list *faces, int j)
{
    if (kind == GC_VF) gc_emit(q, kind, vertices, i, faces, j);
    else gc_emit(q, kind, faces, j, vertices, i);
}

/* hull: of the faces */
GC_FN void s05_pairs(
    const gc_search *q,
    int kind,
    const gc_list *vertices,
    const gc_list *faces,
    GC_GLOBAL const gc_raster *hull)
{
    if (GC_SERIAL) gc_search_alone(q, kind, vertices, faces, kind == GC_VF ? &q->all_fb : &q->all_fa);
    else gc_search_lists(q, kind, vertices, faces, hull);
}

/* spans, dots: the faces' and the vertices' records after s04 */
GC_LARGE void s05_rows(
    const gc_search *q,
    int kind,
    const gc_list *vertices,
    const gc_list *faces,
    const gc_records *spans,
    const gc_records *dots)
{
    gc_raster window = q->view.window;
    int i, k;
    for (i = GC_LOCAL_ID; i < dots->n; i += GC_GROUP_SIZE) {
        int row = gc_record_row(dots, dots->order[i]), end = spans->row_start[row + 1];
        gc_raster h0 = dots->sh0[i], h1 = dots->sh1[i], l0 = dots->sl0[i] - window, l1 = dots->sl1[i] + window;
        for (k = gc_first_from(spans->sh0, spans->row_start[row], end, h0); k < end && spans->sh0[k] <= h1; ++k)
            if (spans->sl0[k] <= l1 && spans->sl1[k] >= l0)
                gc_emit_vertex(q, kind, vertices, dots->branch[dots->order[i]], faces, spans->branch[spans->order[k]]);
    }
    for (i = GC_LOCAL_ID; i < spans->n; i += GC_GROUP_SIZE) {
        int row = gc_record_row(spans, spans->order[i]), end = dots->row_start[row + 1];
        gc_raster h0 = spans->sh0[i], h1 = spans->sh1[i], l0 = spans->sl0[i] - window, l1 = spans->sl1[i] + window;
        for (k = gc_first_above(dots->sh0, dots->row_start[row], end, h0); k < end && dots->sh0[k] <= h1; ++k)
            if (dots->sl0[k] <= l1 && dots->sl1[k] >= l0)
                gc_emit_vertex(q, kind, vertices, dots->branch[dots->order[k]], faces, spans->branch[spans->order[i]]);
    }
}
