/* g01_poses: poses as given, to poses as the kernels read them.
 * needs: upload/gc_import.h
 *
 * in:  positions and quaternions (wxyz) of all bodies at the start and at the end of the step, not checked yet
 * out: a checked copy: quaternions normalised, positions of bodies without two valid poses 0; valid_out (n,)
 * One work-item per body, for poses that never were on the host: the operations, and so the bits, of
 * gpu_collide.bodies.Poses. A pose is valid if it is finite and its quaternion's length is 1 within the tolerance; the
 * quaternion of an invalid one becomes (1, 0, 0, 0).
 */

GC_KERNEL void g01_poses(
    int n,
    gc_real tolerance,
    GC_GLOBAL const gc_real *start_position_given, /* (n, 3) world */
    GC_GLOBAL const gc_real *start_quat_given,     /* (n, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_given,
    GC_GLOBAL const gc_real *end_quat_given,
    GC_GLOBAL gc_real *start_position_out,
    GC_GLOBAL gc_real *start_quat_out,
    GC_GLOBAL gc_real *end_position_out,
    GC_GLOBAL gc_real *end_quat_out,
    GC_GLOBAL gc_uchar *valid_out) /* (n,) both poses usable */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int start = gc_take_pose(start_position_given, start_quat_given, i, tolerance, start_quat_out);
        int end = gc_take_pose(end_position_given, end_quat_given, i, tolerance, end_quat_out);
        int valid = start && end, k;
        for (k = 0; k < 3; ++k) {
            start_position_out[3 * i + k] = valid ? start_position_given[3 * i + k] : GC_R(0.0);
            end_position_out[3 * i + k] = valid ? end_position_given[3 * i + k] : GC_R(0.0);
        }
        valid_out[i] = (gc_uchar)valid;
    }
}
