/* w02_all: all touches along the path of each swept sphere, as if nothing stopped it.
 * needs: sweep/gc_cast.h
 *
 * in:  as w01_first; where the touches of each query go, from counting them before
 * out: their number, and those that there is room for, in any order, which the host sorts
 * One work-item per query. Degenerate: a path of length zero touches nothing.
 */

GC_KERNEL void w02_all(
    int n,
    int form,  /* GC_CAST_* */
    int apart, /* 0: one radius for all spheres */
    int fill,  /* 0: they are only counted */
    gc_real buffer,
    GC_CAST_SCENE_ARGS,
    GC_GLOBAL const int *todo_in,          /* (n,) queries in the order in which they are worked off */
    GC_GLOBAL const gc_real *ways_in,      /* (n, 6) start and path */
    GC_GLOBAL const gc_real *radius_in,    /* as gc_cast has it */
    GC_GLOBAL const gc_real *turned_in,    /* (n, 4) or none */
    GC_GLOBAL const gc_real *balls_in,     /* (balls, 3) or none */
    GC_GLOBAL const int *cluster_in,       /* (n,) or none */
    GC_GLOBAL const int *cluster_start_in, /* (clusters + 1,) or none */
    GC_GLOBAL const gc_long *begin_in,     /* (n + 1,) where the touches of each query go */
    GC_GLOBAL int *caught_out,             /* (touches, GC_CAST_HIT_STRIDE) */
    GC_GLOBAL gc_real *told_out,           /* (touches, GC_CAST_HIT_REAL_STRIDE) */
    GC_GLOBAL int *count_out)              /* (n,) */
{
    gc_cast_scene w = GC_CAST_SCENE_GIVEN();
    gc_cast q = gc_cast_of_ways(form, apart, ways_in, radius_in, turned_in, balls_in, cluster_in, cluster_start_in, buffer);
    for (int j = GC_ITEM_LO(n); j < GC_ITEM_HI(n); j += GC_ITEM_STEP(n)) {
        int i = todo_in[j];
        gc_cast_collector net;
        gc_collector_begin(&net, GC_COLLECT_ALL, i, caught_out, told_out);
        if (fill) {
            net.room = (int)(begin_in[i + 1] - begin_in[i]);
            net.ints = caught_out + GC_CAST_HIT_STRIDE * begin_in[i];
            net.reals = told_out + GC_CAST_HIT_REAL_STRIDE * begin_in[i];
        }
        gc_cast_through(&w, &q, i, &net);
        count_out[i] = net.found;
    }
}
