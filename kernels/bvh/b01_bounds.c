/* b01_bounds: boxes of what is to be found.
 *
 * b01_faces: box of each face of a mesh, in its centred frame, user units. One work-item per face.
 */

GC_KERNEL void b01_faces(
    int n_faces,                          /* of the mesh */
    int mesh,                             /* which of the meshes in the tables */
    GC_GLOBAL const int *headers_in,      /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 4) */
    GC_GLOBAL gc_real *boxes_out)         /* (n_faces, GC_BOX_STRIDE) */
{
    gc_mesh m;
    gc_mesh_load(headers_in + GC_MESH_STRIDE * mesh, &m);
    for (int f = GC_ITEM_LO(n_faces); f < GC_ITEM_HI(n_faces); f += GC_ITEM_STEP(n_faces)) {
        int corner = topology_in[m.face_start + f], last = topology_in[m.face_start + f + 1];
        gc_real box[GC_BOX_STRIDE];
        for (int k = 0; k < 3; ++k) {
            box[k] = GC_BVH_FAR;
            box[3 + k] = -GC_BVH_FAR;
        }
        for (; corner < last; ++corner) {
            GC_GLOBAL const gc_real *v = vertices_in + 4 * (m.vertex0 + topology_in[m.face_vertices + corner]);
            for (int k = 0; k < 3; ++k) {
                box[k] = GC_MIN(box[k], v[k]);
                box[3 + k] = GC_MAX(box[3 + k], v[k]);
            }
        }
        for (int k = 0; k < GC_BOX_STRIDE; ++k) boxes_out[GC_BOX_STRIDE * f + k] = box[k];
    }
}
