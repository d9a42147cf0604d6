/* s04_sort: records grouped by row, and ordered by their lower eta within a row.
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * in:  records of s03 in any order
 * out: row_start (rows + 1,), order (n,), and the ranges copied into that order, so that a scan reads forward
 * Counting by row, then a sort inside each row (Buss, section 9, step 4), one work-item per row: a Shell sort, or a heap
 * sort for long rows, whose n log n does not grow to n^(4/3). Ties are broken by the record's number, so that both give one
 * order; the result of the pipeline does not depend on it.
 */
GC_FN int gc_before(GC_GLOBAL const gc_raster *key, int a, int b) { return key[a] < key[b] || (key[a] == key[b] && a < b); }

/* item sinks from place i of the heap order[0..n), whose largest is on top */
GC_FN void gc_heap_sink(GC_GLOBAL const gc_raster *key, GC_GLOBAL int *order, int n, int i, int item)
{
    int child;
    while ((child = 2 * i + 1) < n) {
        if (child + 1 < n && gc_before(key, order[child], order[child + 1])) child += 1;
        if (!gc_before(key, item, order[child])) break;
        order[i] = order[child];
        i = child;
    }
    order[i] = item;
}

GC_FN void gc_sort_row(GC_GLOBAL const gc_raster *key, GC_GLOBAL int *order, int n)
{
    int gap = 1, i;
    if (n > GC_SORT_BY_HEAP) {
        for (i = n / 2 - 1; i >= 0; --i) gc_heap_sink(key, order, n, i, order[i]);
        for (i = n - 1; i > 0; --i) {
            int item = order[i];
            order[i] = order[0];
            gc_heap_sink(key, order, i, 0, item);
        }
        return;
    }
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (i = gap; i < n; ++i) {
            int item = order[i], j = i;
            for (; j >= gap && gc_before(key, item, order[j - gap]); j -= gap) order[j] = order[j - gap];
            order[j] = item;
        }
    }
}

/* branches: how many entries row_lo, row_hi and start have. All work-items of the group take part. */
GC_LARGE void s04_sort(const gc_rows *rows, const gc_records *o, int branches)
{
    int i, row;
    for (i = GC_LOCAL_ID; i <= rows->n; i += GC_GROUP_SIZE) o->row_start[i] = 0;
    GC_BARRIER();
    for (i = GC_LOCAL_ID; i < branches; i += GC_GROUP_SIZE)
        for (row = o->row_lo[i]; row <= o->row_hi[i]; ++row) GC_GROUP_ADD(o->row_start + row, 1);
    GC_BARRIER();
    if (GC_LOCAL_ID == 0) {
        int sum = 0;
        for (i = 0; i <= rows->n; ++i) {
            sum += o->row_start[i];
            o->row_start[i] = sum;
        }
    }
    GC_BARRIER();
    /* row_start[row] is now the end of the row; filling from the back leaves it at the row's start */
    for (i = GC_LOCAL_ID; i < branches; i += GC_GROUP_SIZE)
        for (row = o->row_lo[i]; row <= o->row_hi[i]; ++row)
            o->order[GC_GROUP_ADD(o->row_start + row, -1) - 1] = o->start[i] + row - o->row_lo[i];
    GC_BARRIER();
    for (i = GC_LOCAL_ID; i < rows->n; i += GC_GROUP_SIZE)
        gc_sort_row(o->h0, o->order + o->row_start[i], o->row_start[i + 1] - o->row_start[i]);
    GC_BARRIER();
    for (i = GC_LOCAL_ID; i < o->n; i += GC_GROUP_SIZE) {
        int k = o->order[i];
        o->sh0[i] = o->h0[k];
        o->sh1[i] = o->h1[k];
        o->sl0[i] = o->l0[k];
        o->sl1[i] = o->l1[k];
    }
    GC_BARRIER();
}
