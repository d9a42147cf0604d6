/* gc_import.h: numbers and poses that have not been checked, as they are imported.
 * needs: common/gc_platform.h
 *
 * The operations, and so the bits, of gpu_collide.bodies.Poses.
 */
#ifndef GC_IMPORT_H
#define GC_IMPORT_H

GC_FN int gc_finite(gc_real x) { return x - x == GC_R(0.0); }

/* three numbers in a row */
GC_FN int gc_finite_3(GC_GLOBAL const gc_real *x) { return gc_finite(x[0]) && gc_finite(x[1]) && gc_finite(x[2]); }

/* a quaternion divided by its length, if that is 1 within the tolerance and `good` so far, else (1, 0, 0, 0); returns which */
GC_FN int gc_take_quat(GC_GLOBAL const gc_real *quat, gc_real tolerance, int good, GC_GLOBAL gc_real *quat_out)
{
    gc_real w = quat[0], x = quat[1], y = quat[2], z = quat[3];
    gc_real length = GC_SQRT(w * w + x * x + y * y + z * z);
    good = GC_ABS(length - GC_R(1.0)) <= tolerance && good;
    quat_out[0] = good ? w / length : GC_R(1.0);
    quat_out[1] = good ? x / length : GC_R(0.0);
    quat_out[2] = good ? y / length : GC_R(0.0);
    quat_out[3] = good ? z / length : GC_R(0.0);
    return good;
}

/* the unit quaternion of one pose; returns whether the pose is good */
GC_FN int gc_take_pose(
    GC_GLOBAL const gc_real *position,
    GC_GLOBAL const gc_real *quat,
    int i,
    gc_real tolerance,
    GC_GLOBAL gc_real *quat_out)
{
    return gc_take_quat(quat + 4 * i, tolerance, gc_finite_3(position + 3 * i), quat_out + 4 * i);
}

#endif
