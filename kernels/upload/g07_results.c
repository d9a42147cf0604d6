/* g07_results: results of casts and characters, as the public results have them.
 * needs: upload/gc_import.h sweep/gc_character_result.h
 *
 * in:  what w01 to w05 wrote, reals as float64; what g06 says of each query
 * out: status, and places in the world
 * One work-item per query, for results that stay on the device: the operations, and so the bits, of the host's. Built for
 * mixed precision, whatever that of the query. Degenerate: a character that was not moved stays where it was given, and its
 * numbers that are not finite become 0.
 */

GC_KERNEL void g07_hits(
    int n,
    int shifted, /* positions do not count from the world's origin */
    gc_real shift_x,
    gc_real shift_y,
    gc_real shift_z,
    GC_GLOBAL const gc_uchar *state_in,   /* (n,) */
    GC_GLOBAL const gc_uchar *touched_in, /* (n,) 0: nothing */
    GC_GLOBAL gc_real *point,             /* (n, 3) moved where there is one; read if shifted */
    GC_GLOBAL gc_uchar *status_out)       /* (n,) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int touched = touched_in[i] != 0;
        status_out[i] = state_in[i] != GC_STATUS_MISS ? state_in[i] : (gc_uchar)(touched ? GC_STATUS_HIT : GC_STATUS_MISS);
        if (shifted && touched) {
            point[3 * i] += shift_x;
            point[3 * i + 1] += shift_y;
            point[3 * i + 2] += shift_z;
        }
    }
}

/* Of queries that are not swept nothing is told, as w01_first tells of what touches nothing: they stood at 0, where a body may
 * have come by. */
GC_KERNEL void g07_unsaid(
    int n,
    GC_GLOBAL const gc_uchar *state_in, /* (n,) */
    GC_GLOBAL gc_uchar *feature,        /* (n,) these three as w01_first writes them */
    GC_GLOBAL int *caught,              /* (4, n) */
    GC_GLOBAL gc_real *told)            /* (7, n) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        if (state_in[i] == GC_STATUS_MISS) continue;
        feature[i] = 0;
        for (int k = 0; k < 4; ++k) caught[k * (gc_long)n + i] = -1;
        told[i] = GC_R(1.0);
        for (int k = 0; k < 3; ++k) told[n + 3 * (gc_long)i + k] = told[4 * (gc_long)n + 3 * (gc_long)i + k] = GC_R(0.0);
    }
}

GC_KERNEL void g07_slides(
    int n,
    int position_step, /* 3 or 0 */
    gc_real shift_x,
    gc_real shift_y,
    gc_real shift_z,
    GC_GLOBAL const gc_real *position_given, /* (n, 3) or (3,) */
    GC_GLOBAL const gc_uchar *state_in,      /* (n,) */
    GC_GLOBAL const gc_real *told_in,        /* (n, GC_CHARACTER_RESULT_REAL_STRIDE) */
    GC_GLOBAL const int *walked_in,          /* (n, GC_CHARACTER_RESULT_STRIDE) */
    GC_GLOBAL gc_uchar *status_out,          /* (n,) */
    GC_GLOBAL gc_real *position_out,         /* (n, 3) */
    GC_GLOBAL gc_real *velocity_out,
    GC_GLOBAL gc_real *fall_velocity_out,
    GC_GLOBAL int *ground_body_out, /* (n,) */
    GC_GLOBAL gc_real *ground_normal_out,
    GC_GLOBAL int *casts_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *given = position_given + position_step * (gc_long)i;
        GC_GLOBAL const gc_real *told = told_in + GC_CHARACTER_RESULT_REAL_STRIDE * (gc_long)i;
        GC_GLOBAL const int *walked = walked_in + GC_CHARACTER_RESULT_STRIDE * (gc_long)i;
        int lost = state_in[i] != GC_STATUS_MISS, ground = lost ? -1 : walked[GC_CHARACTER_RESULT_ground];
        status_out[i] = (gc_uchar)(lost ? GC_STATUS_INVALID_INPUT : walked[GC_CHARACTER_RESULT_status]);
        ground_body_out[i] = ground;
        casts_out[i] = walked[GC_CHARACTER_RESULT_casts];
        for (int k = 0; k < 3; ++k) {
            gc_real shift = k == 0 ? shift_x : k == 1 ? shift_y : shift_z;
            gc_real place = told[GC_CHARACTER_RESULT_REAL_position + k] + shift;
            position_out[3 * i + k] = !lost ? place : gc_finite(given[k]) ? given[k] : GC_R(0.0);
            velocity_out[3 * i + k] = told[GC_CHARACTER_RESULT_REAL_velocity + k];
            fall_velocity_out[3 * i + k] = told[GC_CHARACTER_RESULT_REAL_fall_velocity + k];
            ground_normal_out[3 * i + k] = ground < 0 ? GC_R(0.0) : told[GC_CHARACTER_RESULT_REAL_ground_normal + k];
        }
    }
}
