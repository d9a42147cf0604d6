/* w01_first: the first thing that each swept sphere touches, or any.
 * needs: sweep/gc_cast.h
 *
 * in:  starts and paths of points, spheres, ellipsoids or clusters; the world's meshes, bodies and trees
 * out: when and where each first touches something, and what; world frame
 * One work-item per query; w01_keys says in which order they are worked off, which shows in no result. Source: T. Schroeder. Degenerate: no path at all touches nothing.
 */

/* bits of a coordinate of a key */
#define GC_CAST_BITS 10

/* a cell along an axis, of what is scaled to -1..1 */
GC_FN int gc_cast_cell(gc_real x)
{
    gc_real cells = (gc_real)(1 << GC_CAST_BITS), at = (x * GC_R(0.5) + GC_R(0.5)) * cells;
    return (int)GC_MIN(GC_MAX(at, GC_R(0.0)), cells - GC_R(1.0));
}

/* Keys along a curve through where paths come into the world and where they leave it: queries next to each other in this
 * order walk through the same nodes. */
GC_KERNEL void w01_keys(
    int n,
    GC_GLOBAL const gc_real *frame_in, /* (GC_COURSE_STRIDE,) */
    GC_GLOBAL const gc_real *start_in, /* (n, 3) */
    GC_GLOBAL const gc_real *path_in,  /* (n, 3) */
    GC_GLOBAL gc_long *keys_out)       /* (n,) not negative */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_real first = GC_R(0.0), until = GC_R(1.0);
        int cells[6];
        gc_long key = 0;
        for (int k = 0; k < 3; ++k) {
            gc_real o = (start_in[3 * i + k] - frame_in[GC_COURSE_middle + k]) * frame_in[GC_COURSE_shrink];
            gc_real v = path_in[3 * i + k] * frame_in[GC_COURSE_shrink];
            gc_real a = (frame_in[GC_COURSE_low + k] - o) / v, b = (frame_in[GC_COURSE_high + k] - o) / v;
            if (!(v != GC_R(0.0))) continue;
            first = GC_MAX(GC_MIN(a, b), first);
            until = GC_MIN(GC_MAX(a, b), until);
        }
        until = GC_MAX(first, until);
        for (int k = 0; k < 3; ++k) {
            gc_real o = (start_in[3 * i + k] - frame_in[GC_COURSE_middle + k]) * frame_in[GC_COURSE_shrink];
            gc_real v = path_in[3 * i + k] * frame_in[GC_COURSE_shrink];
            cells[k] = gc_cast_cell(o + first * v);
            cells[3 + k] = gc_cast_cell(o + until * v);
        }
        for (int bit = GC_CAST_BITS - 1; bit >= 0; --bit)
            for (int k = 0; k < 6; ++k) key = key << 1 | (gc_long)(cells[k] >> bit & 1);
        keys_out[i] = key;
    }
}

GC_KERNEL void w01_first(
    int n,
    int form,      /* GC_CAST_* */
    int any,       /* whatever is found first will do */
    int two_sided, /* back faces count */
    gc_real buffer,
    GC_GLOBAL const int *heads_in,     /* (meshes, GC_GROUND_STRIDE) */
    GC_GLOBAL const gc_real *sizes_in, /* (meshes, GC_GROUND_SIZE_STRIDE) */
    GC_GLOBAL const int *ints_in,      /* what the heads lead to */
    GC_GLOBAL const gc_real *reals_in,
    GC_GLOBAL const gc_raster *nodes_in,
    GC_GLOBAL const gc_real *bodies_in,    /* (bodies, GC_OBSTACLE_STRIDE) */
    GC_GLOBAL const int *body_ints_in,     /* (bodies, GC_OBSTACLE_INT_STRIDE) */
    GC_GLOBAL const gc_raster *crowds_in,  /* (nodes, GC_WIDE_STRIDE) */
    GC_GLOBAL const int *crowd_kids_in,    /* (nodes, GC_WIDE_KIDS) */
    GC_GLOBAL const int *order_in,         /* (leaves,) body of each */
    GC_GLOBAL const gc_real *frame_in,     /* (GC_COURSE_STRIDE,) */
    GC_GLOBAL const int *todo_in,          /* (n,) queries in the order in which they are worked off */
    GC_GLOBAL const gc_real *start_in,     /* (n, 3) */
    GC_GLOBAL const gc_real *path_in,      /* (n, 3) */
    GC_GLOBAL const gc_real *radius_in,    /* as gc_cast has it */
    GC_GLOBAL const gc_real *turned_in,    /* (n, 4) or none */
    GC_GLOBAL const gc_real *balls_in,     /* (balls, 3) or none */
    GC_GLOBAL const int *cluster_in,       /* (n,) or none */
    GC_GLOBAL const int *cluster_start_in, /* (clusters + 1,) or none */
    GC_GLOBAL int *caught_out,             /* (n, GC_CATCH_STRIDE); kind GC_FEATURE_NONE: nothing */
    GC_GLOBAL gc_real *told_out)           /* (n, GC_CATCH_REAL_STRIDE) */
{
    gc_course w = gc_course_of(
        heads_in, sizes_in, ints_in, reals_in, nodes_in, bodies_in, body_ints_in, crowds_in, crowd_kids_in, order_in,
        frame_in, two_sided);
    gc_cast q = gc_cast_of(form, start_in, path_in, radius_in, turned_in, balls_in, cluster_in, cluster_start_in, buffer);
    for (int j = GC_ITEM_LO(n); j < GC_ITEM_HI(n); j += GC_ITEM_STEP(n)) {
        int i = todo_in[j];
        GC_GLOBAL int *to = caught_out + GC_CATCH_STRIDE * (gc_long)i;
        GC_GLOBAL gc_real *told = told_out + GC_CATCH_REAL_STRIDE * (gc_long)i;
        const gc_catch *from;
        gc_real out[GC_CATCH_REAL_STRIDE];
        gc_net net;
        gc_net_begin(&net, any ? GC_WALK_ANY : GC_WALK_FIRST, i, to, told);
        gc_cast_through(&w, &q, i, &net);
        from = &net.best;
        GC_STORE(GC_CATCH, GC_CATCH)
        for (int k = 0; k < GC_CATCH_REAL_STRIDE; ++k) out[k] = GC_R(0.0);
        out[GC_CATCH_REAL_time] = GC_R(1.0);
        if (net.best.kind != GC_FEATURE_NONE) {
            int begin;
            gc_ball b;
            gc_cast_balls(&q, i, &begin);
            gc_cast_ball(&q, i, begin + net.best.ball, &b);
            gc_catch_tell(&w, &b, &net.best, out);
        }
        for (int k = 0; k < GC_CATCH_REAL_STRIDE; ++k) told[k] = out[k];
    }
}
