/* probe_roots: gc_root_search_next on given curves, one walk each.
 * needs: narrow_phase/contact/gc_roots.h
 */

GC_KERNEL void probe_roots(
    int n,
    GC_GLOBAL const gc_real *curve_in, /* (n, 7) theta p0 p1 p2 p3 q1 q2 */
    GC_GLOBAL const gc_real *range_in, /* (n, 3) from, to, |f| that counts as a touch */
    int room,
    GC_GLOBAL int *count_out,    /* (n,) */
    GC_GLOBAL int *capped_out,   /* (n,) */
    GC_GLOBAL gc_real *root_out) /* (n, room) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_curve c;
        gc_root_search w;
        gc_real root;
        int found = 0;
        c.theta = curve_in[7 * i];
        c.p0 = curve_in[7 * i + 1];
        c.p1 = curve_in[7 * i + 2];
        c.p2 = curve_in[7 * i + 3];
        c.p3 = curve_in[7 * i + 4];
        c.q1 = curve_in[7 * i + 5];
        c.q2 = curve_in[7 * i + 6];
        gc_root_search_start(&w, &c, range_in[3 * i], range_in[3 * i + 1], range_in[3 * i + 2]);
        while (gc_root_search_next(&w, &c, &root)) {
            if (found < room) root_out[room * i + found] = root;
            found += 1;
        }
        count_out[i] = found;
        capped_out[i] = w.capped;
    }
}
