/* What a walk over a range of leaves does if no node of level `deny` passes: leaves it hands out, nodes it looks at.
 * needs: tree/gc_bvh.h
 */
GC_KERNEL void b99_visit(
    int n_walks,
    int n,
    int low,
    int deny,
    GC_GLOBAL const int *ranges_in, /* (n_walks, 2) first and end */
    GC_GLOBAL int *leaves_out,      /* (n_walks, n) times that each leaf came */
    GC_GLOBAL int *nodes_out,       /* (n_walks,) nodes with boxes looked at */
    GC_GLOBAL int *wrong_out)       /* (n_walks,) nodes outside the range, or out of order */
{
    for (int i = GC_ITEM_LO(n_walks); i < GC_ITEM_HI(n_walks); i += GC_ITEM_STEP(n_walks)) {
        int first = ranges_in[2 * i], end = ranges_in[2 * i + 1], before = first;
        gc_visit v = gc_visit_begin(n, low, first, end);
        while (!gc_visit_done(&v)) {
            if (gc_visit_first(&v) != before || gc_visit_first(&v) >= end) wrong_out[i] += 1;
            if (gc_visit_last(&v) < ((v.node + 1) << v.level) && end != n) wrong_out[i] += 1;
            if (v.level >= low) {
                int start = 0, level;
                for (level = low; level < v.level; ++level) start += gc_level_nodes(n, level);
                if (gc_visit_node(&v) != start + v.node) wrong_out[i] += 1;
                nodes_out[i] += 1;
                if (v.level == deny) {
                    before = gc_visit_last(&v);
                    gc_visit_next(&v);
                    continue;
                }
            }
            if (v.level > low) {
                gc_visit_down(&v);
                continue;
            }
            before = gc_visit_last(&v);
            for (int k = gc_visit_first(&v); k < gc_visit_last(&v); ++k) leaves_out[i * n + k] += 1;
            gc_visit_next(&v);
        }
        if (before != end) wrong_out[i] += 1;
    }
}
