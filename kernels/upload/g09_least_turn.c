/* g09_least_turn: end poses of shapes of revolution, without the spin about their own axis.
 * needs: common/gc_math.h
 *
 * in:  poses as g01_poses left them, the mesh of each body, which meshes are of revolution and about what
 * out: the same end poses; of bodies with such a mesh those in which the body is in the same place, turned from the
 *      start as little as possible
 * One work-item per body. The operations, and so the bits, of gpu_collide.bodies.least_turn, which says what they are.
 */

GC_KERNEL void g09_least_turn(
    int n,
    gc_real no_turn,                        /* sines of half turns up to this are rounding */
    GC_GLOBAL const int *shape_in,          /* (n,) */
    GC_GLOBAL const gc_real *revolution_in, /* (meshes, 7) 1 ball, 2 axis, 0 neither; a point of the axis; its direction */
    GC_GLOBAL const gc_uchar *valid_in,     /* (n,) */
    GC_GLOBAL const gc_real *start_quat_in, /* (n, 4) wxyz */
    GC_GLOBAL gc_real *end_position_out,    /* (n, 3) world, read and written */
    GC_GLOBAL gc_real *end_quat_out)        /* (n, 4), read and written */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *r = revolution_in + 7 * shape_in[i], *s = start_quat_in + 4 * i;
        GC_GLOBAL gc_real *e = end_quat_out + 4 * i;
        gc_quat first = gc_quat_make(s[0], s[1], s[2], s[3]), last = gc_quat_make(e[0], e[1], e[2], e[3]);
        gc_quat turn = gc_quat_mul(gc_quat_conj(first), last), unit;
        gc_vec center = gc_make(r[1], r[2], r[3]), axis = gc_make(r[4], r[5], r[6]);
        gc_real along = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z, length;
        gc_vec across = gc_sub(gc_make(turn.x, turn.y, turn.z), gc_scale(axis, along));
        gc_real sine = GC_SQRT(gc_dot(across, across));
        if (r[0] == GC_R(0.0) || !valid_in[i]) continue;
        if (first.w == last.w && first.x == last.x && first.y == last.y && first.z == last.z) continue;
        if (r[0] == GC_R(1.0) || sine <= no_turn) {
            unit = first;
        } else {
            gc_quat back;
            if (GC_ABS(along) <= no_turn) continue;
            length = GC_SQRT(turn.w * turn.w + along * along);
            back = gc_quat_make(
                turn.w / length, -along * axis.x / length, -along * axis.y / length, -along * axis.z / length);
            unit = gc_quat_mul(last, back);
            length = GC_SQRT(unit.w * unit.w + unit.x * unit.x + unit.y * unit.y + unit.z * unit.z);
            unit = gc_quat_make(unit.w / length, unit.x / length, unit.y / length, unit.z / length);
        }
        e[0] = unit.w;
        e[1] = unit.x;
        e[2] = unit.y;
        e[3] = unit.z;
        if (center.x != GC_R(0.0) || center.y != GC_R(0.0) || center.z != GC_R(0.0)) {
            gc_vec arm = gc_sub(gc_quat_rotate(last, center), gc_quat_rotate(unit, center));
            gc_store_vec(end_position_out, i, gc_add(gc_load_vec(end_position_out, i), arm));
        }
    }
}
