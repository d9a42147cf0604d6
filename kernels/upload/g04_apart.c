/* g04_apart: for precision="single", poses of each pair's two bodies as bodies of their own, relative to where A starts.
 * needs: common/gc_platform.h
 *
 * in:  poses of all bodies in double, pairs
 * out: poses of 2 n_pairs bodies, float where gc_raster is, meshes and validity of each; pairs (0, 1), (2, 3), ...
 * One work-item per pair. Built for mixed precision, whatever that of the query: what is far from the world's origin keeps
 * its digits in the difference alone. What a float cannot hold becomes infinite, and s01 makes its pair unresolved. The
 * place of a body without poses is 0.
 */

/* position and quaternion of one body */
GC_FN void g04_pose(
    GC_GLOBAL const gc_real *position,
    GC_GLOBAL const gc_real *quat,
    GC_GLOBAL const gc_real *origin,
    int valid,
    GC_GLOBAL gc_raster *position_out,
    GC_GLOBAL gc_raster *quat_out)
{
    int k;
    for (k = 0; k < 3; ++k) position_out[k] = valid ? (gc_raster)(position[k] - origin[k]) : GC_F(0.0);
    for (k = 0; k < 4; ++k) quat_out[k] = (gc_raster)quat[k];
}

GC_KERNEL void g04_apart(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,              /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,              /* (n_bodies,) */
    GC_GLOBAL const gc_uchar *valid_in,         /* (n_bodies,) */
    GC_GLOBAL const gc_real *start_position_in, /* (n_bodies, 3) world */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *start_quat_in, /* (n_bodies, 4) wxyz */
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL int *pairs_out, /* (n_pairs, 2) */
    GC_GLOBAL int *shape_out, /* (2 n_pairs,) */
    GC_GLOBAL gc_uchar *valid_out,
    GC_GLOBAL gc_raster *start_position_out, /* (2 n_pairs, 3) from A's start */
    GC_GLOBAL gc_raster *end_position_out,
    GC_GLOBAL gc_raster *start_quat_out,
    GC_GLOBAL gc_raster *end_quat_out)
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int j;
        for (j = 2 * i; j < 2 * i + 2; ++j) {
            int body = pairs_in[j], valid = valid_in[body];
            GC_GLOBAL const gc_real *origin = start_position_in + 3 * pairs_in[2 * i];
            pairs_out[j] = j;
            shape_out[j] = shape_in[body];
            valid_out[j] = (gc_uchar)valid;
            g04_pose(
                start_position_in + 3 * body, start_quat_in + 4 * body, origin, valid, start_position_out + 3 * j,
                start_quat_out + 4 * j);
            g04_pose(
                end_position_in + 3 * body, end_quat_in + 4 * body, origin, valid, end_position_out + 3 * j,
                end_quat_out + 4 * j);
        }
    }
}
