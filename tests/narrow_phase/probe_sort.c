/* probe_sort: the two halves of s04, alone.
 * needs: narrow_phase/rows/s04_sort.c
 */

GC_KERNEL void probe_sort_row(
    int n_rows,
    GC_GLOBAL const int *row_start_in, /* (n_rows + 1,) */
    GC_GLOBAL const gc_raster *key_in, /* (records,) */
    GC_GLOBAL int *order_out)          /* (records,) record numbers, sorted in place */
{
    for (int i = GC_ITEM_LO(n_rows); i < GC_ITEM_HI(n_rows); i += GC_ITEM_STEP(n_rows))
        gc_sort_row(key_in, order_out + row_start_in[i], row_start_in[i + 1] - row_start_in[i]);
}

/* one group does it all, the work-items share */
GC_KERNEL void probe_sort(
    int n_rows,
    int branches,
    int n_records,
    GC_GLOBAL int *row_lo, /* (branches,) */
    GC_GLOBAL int *row_hi,
    GC_GLOBAL int *start,
    GC_GLOBAL gc_raster *ranges,     /* (4, n_records) */
    GC_GLOBAL int *row_start_out,    /* (n_rows + 1,) */
    GC_GLOBAL int *order_out,        /* (n_records,) */
    GC_GLOBAL gc_raster *sorted_out) /* (4, n_records) */
{
    gc_rows rows;
    gc_records o;
    rows.base = GC_F(0.0);
    rows.height = GC_F(1.0);
    rows.n = n_rows;
    o.h0 = ranges;
    o.h1 = ranges + n_records;
    o.l0 = ranges + 2 * n_records;
    o.l1 = ranges + 3 * n_records;
    o.branch = row_lo;
    o.row_lo = row_lo;
    o.row_hi = row_hi;
    o.start = start;
    o.row_start = row_start_out;
    o.order = order_out;
    o.sh0 = sorted_out;
    o.sh1 = sorted_out + n_records;
    o.sl0 = sorted_out + 2 * n_records;
    o.sl1 = sorted_out + 3 * n_records;
    o.n = n_records;
    s04_sort(&rows, &o, branches);
}

GC_KERNEL void probe_first_above(
    int n,
    int length,
    GC_GLOBAL const gc_raster *sorted_in, /* (length,) */
    GC_GLOBAL const int *range_in,        /* (n, 2) lo, hi */
    GC_GLOBAL const gc_raster *limit_in,  /* (n,) */
    GC_GLOBAL int *first_out)             /* (n,) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n))
        first_out[i] = gc_first_above(sorted_in, range_in[2 * i], GC_MIN(range_in[2 * i + 1], length), limit_in[i]);
}
