/* r01_frames: where the links of a chain or tree of joints are.
 * needs: robots/gc_chain.h
 *
 * in:  edges in joint space, and of each item an edge and a time; the joints and links
 * out: frames of the joints, and of the links, in the world: places, and unit quaternions up to rounding
 * One work-item per item. Degenerate: an angle beyond 1.6 million radians makes frames that are no numbers.
 */

GC_KERNEL void r01_frames(
    int n,
    int n_joints,
    int n_links,
    GC_GLOBAL const int *motion_in,    /* (n,) edge */
    GC_GLOBAL const gc_real *time_in,  /* (n,) 0 to 1 */
    GC_GLOBAL const gc_real *curve_in, /* (edges, 4, n_joints) coefficients */
    GC_GLOBAL const int *parent_in,    /* (n_joints,) a lower number, or -1: the base */
    GC_GLOBAL const gc_real *joint_in, /* (n_joints, GC_CHAIN_JOINT_STRIDE) */
    GC_GLOBAL const int *carrier_in,   /* (n_links,) joint, or -1 */
    GC_GLOBAL const gc_real *link_in,  /* (n_links, GC_CHAIN_LINK_STRIDE) */
    GC_GLOBAL const gc_real *base_in,  /* (7,) place and quaternion */
    GC_GLOBAL gc_real *frame_out,      /* (n, n_joints, 7) of the joints */
    GC_GLOBAL gc_real *position_out,   /* (n, n_links, 3) */
    GC_GLOBAL gc_real *quat_out)       /* (n, n_links, 4) wxyz */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *curve = curve_in + 4 * n_joints * (gc_long)motion_in[i];
        GC_GLOBAL gc_real *frames = frame_out + 7 * n_joints * (gc_long)i;
        gc_frame base = gc_frame_load(base_in);
        for (int j = 0; j < n_joints; ++j) {
            gc_frame parent = base;
            if (parent_in[j] >= 0) parent = gc_frame_load(frames + 7 * parent_in[j]);
            gc_frame_store(
                frames + 7 * j,
                gc_frame_of_joint(
                    parent, joint_in + GC_CHAIN_JOINT_STRIDE * j, gc_joint_value(curve + j, n_joints, time_in[i])));
        }
        for (int l = 0; l < n_links; ++l) {
            gc_long to = n_links * (gc_long)i + l;
            gc_frame f = base;
            if (carrier_in[l] >= 0) f = gc_frame_load(frames + 7 * carrier_in[l]);
            f = gc_frame_of_link(f, link_in + GC_CHAIN_LINK_STRIDE * l);
            gc_store_vec(position_out, to, f.at);
            quat_out[4 * to] = f.quat.w;
            quat_out[4 * to + 1] = f.quat.x;
            quat_out[4 * to + 2] = f.quat.y;
            quat_out[4 * to + 3] = f.quat.z;
        }
    }
}
