/* w01_first: the first touch of each swept sphere, or any touch.
 * needs: sweep/gc_cast.h
 *
 * in:  starts and paths of points, spheres, ellipsoids or clusters; the world's meshes, bodies and trees
 * out: when and where each first touches something, and what; world frame
 * One work-item per query; w01_keys chooses the order of processing, which affects no result. Source: T. Schroeder.
 * Degenerate: a path of length zero touches nothing.
 */

/* cells of a key along an axis */
#define GC_CAST_CELLS 1024

/* Keys along a curve through the middles of what paths do within the world: queries next to each other in this order walk through
 * the same nodes. */
GC_KERNEL void w01_keys(
    int n,
    GC_GLOBAL const gc_real *frame_in, /* (GC_CAST_SCENE_STRIDE,) */
    GC_GLOBAL const gc_real *cells_in, /* (9,) borders of the cells, least and greatest, and cells per length of each axis */
    GC_GLOBAL const int *spread_in,    /* (3, GC_CAST_CELLS) what each cell of an axis is in a key */
    GC_GLOBAL const gc_real *ways_in,  /* (n, 6) start and path */
    GC_GLOBAL int *keys_out)           /* (n,) not negative */
{
    gc_real shrink = frame_in[GC_CAST_SCENE_shrink];
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_real first = GC_R(0.0), until = GC_R(1.0), o[3], v[3];
        int key = 0;
        for (int k = 0; k < 3; ++k) {
            gc_real low = cells_in[k], high = cells_in[3 + k], per;
            o[k] = (ways_in[6 * i + k] - frame_in[GC_CAST_SCENE_middle + k]) * shrink;
            v[k] = ways_in[6 * i + 3 + k] * shrink;
            per = GC_R(1.0) / (v[k] != GC_R(0.0) ? v[k] : GC_R(1e-30));
            low = (low - o[k]) * per;
            high = (high - o[k]) * per;
            first = GC_MAX(GC_MIN(low, high), first);
            until = GC_MIN(GC_MAX(low, high), until);
        }
        first = GC_R(0.5) * (first + GC_MAX(first, until));
        for (int k = 0; k < 3; ++k) {
            gc_real cell = (o[k] + first * v[k] - cells_in[k]) * cells_in[6 + k];
            key |= spread_in[GC_CAST_CELLS * k + (int)GC_MIN(GC_MAX(cell, GC_R(0.0)), GC_R(1023.0))];
        }
        keys_out[i] = key;
    }
}

GC_KERNEL void w01_first(
    int n,
    int form,  /* GC_CAST_* */
    int apart, /* 0: one radius for all spheres */
    int any,   /* whatever is found first will do */
    gc_real buffer,
    GC_CAST_SCENE_ARGS,
    GC_GLOBAL const int *todo_in,          /* (n,) queries in the order in which they are worked off */
    GC_GLOBAL const gc_real *ways_in,      /* (n, 6) start and path */
    GC_GLOBAL const gc_real *radius_in,    /* as gc_cast has it */
    GC_GLOBAL const gc_real *turned_in,    /* (n, 4) or none */
    GC_GLOBAL const gc_real *balls_in,     /* (balls, 3) or none */
    GC_GLOBAL const int *cluster_in,       /* (n,) or none */
    GC_GLOBAL const int *cluster_start_in, /* (clusters + 1,) or none */
    GC_GLOBAL gc_uchar *feature_out,       /* (n,) GC_FEATURE_* */
    GC_GLOBAL int *caught_out,             /* (4, n) body, face, number and ball of all; -1 where nothing is touched */
    GC_GLOBAL gc_real *told_out)           /* (7, n) times, points (n, 3), normals (n, 3); there 1 and 0 */
{
    gc_cast_scene w = GC_CAST_SCENE_GIVEN();
    gc_cast q = gc_cast_of_ways(form, apart, ways_in, radius_in, turned_in, balls_in, cluster_in, cluster_start_in, buffer);
    for (int j = GC_ITEM_LO(n); j < GC_ITEM_HI(n); j += GC_ITEM_STEP(n)) {
        int i = todo_in[j];
        gc_real told[GC_CAST_HIT_REAL_STRIDE];
        gc_cast_collector net;
        int soon = todo_in[j + 8 < n ? j + 8 : j];
        GC_FETCH(ways_in + 6 * soon);
        GC_FETCH(feature_out + soon);
        for (int k = 0; k < 4; ++k) GC_FETCH(caught_out + k * n + soon);
        for (int k = 0; k < 3; ++k) GC_FETCH(told_out + (k > 0 ? (3 * k - 2) * n + 3 * soon : soon));
        /* what a net is given room for is not used: the best touch alone is told */
        gc_collector_begin(&net, any ? GC_COLLECT_ANY : GC_COLLECT_FIRST, i, caught_out, told_out);
        gc_cast_through(&w, &q, i, &net);
        for (int k = 0; k < GC_CAST_HIT_REAL_STRIDE; ++k) told[k] = GC_R(0.0); /* the touch itself is not told */
        told[GC_CAST_HIT_REAL_time] = GC_R(1.0);
        if (net.best.kind != GC_FEATURE_NONE) {
            int begin;
            gc_ball b;
            gc_cast_balls(&q, i, &begin);
            gc_cast_ball(&q, i, begin + net.best.ball, &b);
            gc_cast_hit_tell(&w, &b, &net.best, told);
        }
        feature_out[i] = (gc_uchar)net.best.kind;
        caught_out[i] = net.best.body;
        caught_out[n + i] = net.best.face;
        caught_out[2 * n + i] = net.best.number;
        caught_out[3 * n + i] = net.best.ball;
        told_out[i] = told[GC_CAST_HIT_REAL_time];
        for (int k = 0; k < 3; ++k) {
            told_out[n + 3 * i + k] = told[GC_CAST_HIT_REAL_point + k];
            told_out[4 * n + 3 * i + k] = told[GC_CAST_HIT_REAL_normal + k];
        }
    }
}
