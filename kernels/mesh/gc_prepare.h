/* gc_prepare.h: records for the preparation of a mesh.
 * needs: common/gc_types.h
 */
#ifndef GC_PREPARE_H
#define GC_PREPARE_H

/* where a patch begins in each of its tables, in the flat array that holds them all: ints */
#define GC_CUT_STRIDE 18
#define GC_CUT_COLUMNS(ONE, MANY, X) \
    ONE(X, face_start) \
    ONE(X, face_vertices) \
    ONE(X, face_edges) \
    ONE(X, edges) \
    ONE(X, edge_face_start) \
    ONE(X, edge_faces) \
    ONE(X, vertex_edge_start) \
    ONE(X, vertex_edges) \
    ONE(X, vertex_face_start) \
    ONE(X, vertex_faces) \
    ONE(X, edge_flags) \
    ONE(X, vertex_flags) \
    ONE(X, source_vertices) \
    ONE(X, source_edges) \
    ONE(X, source_faces) \
    ONE(X, edge_faces_away) \
    ONE(X, vertex_edges_away) \
    ONE(X, vertex_faces_away)
GC_RECORD(GC_CUT)

/* what is counted of a patch: ints */
#define GC_PART_STRIDE 5
#define GC_PART_COLUMNS(ONE, MANY, X) \
    ONE(X, vertices) \
    ONE(X, edges) \
    ONE(X, edge_faces)   /* entries around the edges that it owns */ \
    ONE(X, vertex_edges) /* around the vertices that it owns */ \
    ONE(X, vertex_faces)
GC_RECORD(GC_PART)

/* what goes up from level to level of a tree: reals */
#define GC_RISE_STRIDE 9
#define GC_RISE_COLUMNS(ONE, MANY, X) \
    GC_BOX_COLUMNS(ONE, MANY, X) \
    MANY(X, normal, 3) /* sum over the faces */
GC_RECORD(GC_RISE)

/* a face in the order of the leaves, as its nodes' cones read it: reals */
#define GC_TILT_STRIDE 7
#define GC_TILT_COLUMNS(ONE, MANY, X) \
    MANY(X, normal, 3) \
    MANY(X, cosine, 2) /* of its double cone and its ring; 0: everything */ \
    MANY(X, sine, 2)
GC_RECORD(GC_TILT)

/* an edge and the contact normals it allows: reals */
#define GC_LEAN_STRIDE 5
#define GC_LEAN_COLUMNS(ONE, MANY, X) \
    MANY(X, unit, 3) /* its direction */ \
    ONE(X, slope)    /* sine by which it may rise over the plane of contact; 1 if it leaves the normal free */ \
    ONE(X, cone)     /* cosine of the half angle about its faces' normals; 0: free */
GC_RECORD(GC_LEAN)

/* a vertex and the contact normals it allows: reals */
#define GC_SPIKE_STRIDE 5
#define GC_SPIKE_COLUMNS(ONE, MANY, X) \
    MANY(X, axis, 3) /* mean normal of its faces */ \
    ONE(X, cone)     /* cosine of the half angle of the double cone about it; 0: free */ \
    ONE(X, about)    /* of the angle about it that holds its faces' normals */
GC_RECORD(GC_SPIKE)

#endif
