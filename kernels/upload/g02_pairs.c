/* g02_pairs: pairs as given, checked, and what the stages of the screw method read of each.
 * needs: common/gc_types.h
 *
 * in:  rows of body numbers, not checked yet; meshes and validity of the bodies
 * out: pairs, items of the screen, the pairs' numbers, heights of rows; in wrong_out how many rows are no pair, and how many
 *      pairs have a body without poses
 * One work-item per pair. A row is no pair if a number is out of range, or if both are the same; it becomes (0, 0), so that
 * no later kernel indexes by it, and the host raises when it reads the count. Needs at least one body.
 */

GC_KERNEL void g02_pairs(
    int n_pairs,
    int n_bodies,
    int n_meshes,
    int rows,                           /* heights of rows are asked for */
    GC_GLOBAL const gc_long *given_in,  /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,      /* (n_bodies,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in, /* (n_bodies,) both poses usable */
    GC_GLOBAL const gc_real *height_in, /* (n_meshes, n_meshes) height of a row for a pair of these meshes; read with rows */
    GC_GLOBAL int *pairs_out,           /* (n_pairs, 2) */
    GC_GLOBAL int *items_out,           /* (n_pairs, GC_ITEM_STRIDE) */
    GC_GLOBAL int *todo_out,            /* (n_pairs,) 0, 1, 2, ... */
    GC_GLOBAL gc_real *row_height_out,  /* (n_pairs,) user units; 0 without rows */
    GC_GLOBAL int *wrong_out)           /* (2,) only ever raised */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        gc_long first = given_in[2 * i], second = given_in[2 * i + 1];
        int good = first >= 0 && first < n_bodies && second >= 0 && second < n_bodies && first != second;
        int a = good ? (int)first : 0, b = good ? (int)second : 0;
        GC_GLOBAL int *item = items_out + GC_ITEM_STRIDE * i;
        pairs_out[2 * i] = a;
        pairs_out[2 * i + 1] = b;
        item[GC_ITEM_pair] = i;
        item[GC_ITEM_part_a] = shape_in[a];
        item[GC_ITEM_part_b] = shape_in[b];
        todo_out[i] = i;
        row_height_out[i] = rows ? height_in[n_meshes * shape_in[a] + shape_in[b]] : GC_R(0.0);
        if (!good) GC_ATOMIC_ADD(wrong_out, 1);
        else if (!valid_in[a] || !valid_in[b]) GC_ATOMIC_ADD(wrong_out + 1, 1);
    }
}
