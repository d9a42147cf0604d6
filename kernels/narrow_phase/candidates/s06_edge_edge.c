/* s06_edge_edge: edges of A that cross edges of B on the screen.
 * needs: narrow_phase/candidates/gc_box_overlap.h narrow_phase/candidates/gc_tiles.h
 *
 * in:  s02's boxes (all pairs), or s04's sorted records (rows)
 * out: EE candidates
 * One work-item per record. Source: Buss, section 9, step 6. As in s05, no state is carried along a row: of two ranges that
 * overlap, one begins inside the other. Edges that share several consecutive rows are taken once: at the first.
 */

/* hull: of B's edges */
GC_FN void s06_pairs(const gc_search *q, const gc_list *la, const gc_list *lb, GC_GLOBAL const gc_raster *hull)
{
    if (GC_SERIAL) gc_search_alone(q, GC_EE, la, lb, &q->all_eb);
    else gc_search_lists(q, GC_EE, la, lb, hull);
}

/* do records i of A and j of B overlap in eta and in time */
GC_FN int gc_records_meet(const gc_search *q, const gc_records *ra, int i, const gc_records *rb, int j)
{
    return ra->h0[i] <= rb->h1[j] && ra->h1[i] >= rb->h0[j] && ra->l0[i] - q->view.window <= rb->l1[j]
           && ra->l1[i] + q->view.window >= rb->l0[j];
}

/* Records i of A and j of B overlap in eta in this row: take the edges if they meet in time, and did not in the row before.
 * The same comparison here and there, or rounding could lose them between two rows. */
GC_FN void gc_records_take(const gc_search *q, const gc_records *ra, int i, const gc_records *rb, int j, int row)
{
    int ba = ra->branch[i], bb = rb->branch[j];
    if (!gc_records_meet(q, ra, i, rb, j)) return;
    if (row > ra->row_lo[ba] && row > rb->row_lo[bb] && gc_records_meet(q, ra, i - 1, rb, j - 1)) return;
    gc_emit(q, GC_EE, &q->ea, ba >> 1, &q->eb, bb >> 1);
}

GC_LARGE void s06_rows(const gc_search *q, const gc_records *ra, const gc_records *rb)
{
    int i, k;
    for (i = GC_LOCAL_ID; i < ra->n; i += GC_GROUP_SIZE) {
        int row = gc_record_row(ra, ra->order[i]), end = rb->row_start[row + 1];
        for (k = gc_first_from(rb->sh0, rb->row_start[row], end, ra->sh0[i]); k < end && rb->sh0[k] <= ra->sh1[i]; ++k)
            gc_records_take(q, ra, ra->order[i], rb, rb->order[k], row);
    }
    for (i = GC_LOCAL_ID; i < rb->n; i += GC_GROUP_SIZE) {
        int row = gc_record_row(rb, rb->order[i]), end = ra->row_start[row + 1];
        for (k = gc_first_above(ra->sh0, ra->row_start[row], end, rb->sh0[i]); k < end && ra->sh0[k] <= rb->sh1[i]; ++k)
            gc_records_take(q, ra, ra->order[k], rb, rb->order[i], row);
    }
}
