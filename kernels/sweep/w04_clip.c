/* w04_clip: velocities that lead into none of their planes.
 * needs: sweep/gc_clip.h
 *
 * in:  a velocity each, and its planes as unit normals with their speeds along them
 * out: the nearest allowed velocity, and in how many planes it lies; world frame
 * One work-item per velocity. Degenerate: planes that close in leave none (-1).
 */

GC_KERNEL void w04_clip(
    int n,
    GC_GLOBAL const gc_real *velocity_in, /* (n, 3) */
    GC_GLOBAL const int *begin_in,        /* (n + 1,) planes of each */
    GC_GLOBAL const gc_real *planes_in,   /* (planes, 4) normals, and how fast each comes */
    GC_GLOBAL gc_real *velocity_out,      /* (n, 3) */
    GC_GLOBAL int *active_out)            /* (n,) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *planes = planes_in + 4 * (gc_long)begin_in[i];
        gc_vec out;
        active_out[i] = gc_clip(gc_load_vec(velocity_in, i), planes, begin_in[i + 1] - begin_in[i], &out);
        gc_store_vec(velocity_out, i, out);
    }
}
