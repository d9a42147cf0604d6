/* gc_relative.h: poses of B as A sees them, and what is done with a pair that moves too far for the digits there are.
 * needs: broad_phase/gc_swept_volume.h
 */
#ifndef GC_RELATIVE_H
#define GC_RELATIVE_H

typedef struct {
    gc_quat q0, q1;
    gc_vec p0, p1; /* B's centre in A's axes, from A's centre */
} gc_relative;

/* B's pose seen from A, centre to centre */
GC_FN void gc_relative_pose(gc_vec pa, gc_quat qa, gc_vec pb, gc_quat qb, gc_vec ca, gc_vec cb, gc_quat *q, gc_vec *p)
{
    gc_quat back = gc_quat_conj(qa);
    *q = gc_quat_mul(back, qb);
    *p = gc_sub(gc_add(gc_quat_rotate(back, gc_sub(pb, pa)), gc_quat_rotate(*q, cb)), ca);
}

/* one body of the pair as the broad phase sees it */
GC_FN gc_moving s01_moving(
    GC_GLOBAL const gc_real *mesh,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    int body)
{
    return gc_moving_make(
        gc_load_vec(mesh + GC_MESH_REAL_centre, 0), mesh[GC_MESH_REAL_radius], gc_load_vec(mesh + GC_MESH_REAL_sides, 0),
        gc_load_vec(start, body), gc_load_quat(start_quat, body), gc_load_vec(end, body), gc_load_quat(end_quat, body));
}

/* may the bodies of a pair meet for all that the broad phase can tell */
GC_RARE int s01_sweeps_meet(
    GC_GLOBAL const gc_real *mesh_a,
    GC_GLOBAL const gc_real *mesh_b,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *start_quat,
    GC_GLOBAL const gc_real *end,
    GC_GLOBAL const gc_real *end_quat,
    int a,
    int b)
{
    gc_moving move_a = s01_moving(mesh_a, start, start_quat, end, end_quat, a);
    gc_moving move_b = s01_moving(mesh_b, start, start_quat, end, end_quat, b);
    return gc_sweeps_meet(&move_a, &move_b);
}

/* The motion of a pair about which all is said: bodies at rest, far apart. The numbers of its true motion mean nothing, and
 * no stage behind should spend time on them, or find contacts among them. */
GC_FN gc_relative s01_settled(gc_real size)
{
    gc_relative r;
    r.q0 = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    r.q1 = r.q0;
    r.p0 = gc_make(GC_R(8.0) * size, GC_R(0.0), GC_R(0.0));
    r.p1 = r.p0;
    return r;
}

#endif
