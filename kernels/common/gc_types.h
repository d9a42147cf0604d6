/* gc_types.h: records that pass between stages, and how they lie in memory.
 *
 * All lengths behind s01 are scaled by 1/scale, a power of two near the pair's size, so that the pair is about one
 * unit large whatever the user's unit is; the scaling is exact.
 */
#ifndef GC_TYPES_H
#define GC_TYPES_H

#define GC_FV 0
#define GC_VF 1
#define GC_EE 2

#define GC_STATUS_MISS 0
#define GC_STATUS_HIT 1
#define GC_STATUS_INITIAL_OVERLAP 2
#define GC_STATUS_INVALID_INPUT 3
#define GC_STATUS_UNRESOLVED 4

#define GC_REFINE_EXACT 0
#define GC_REFINE_SEGMENTS 1
#define GC_REFINE_PIXELS 2

#define GC_CANDIDATES_AUTO 0
#define GC_CANDIDATES_RASTER 1
#define GC_CANDIDATES_PAIRS 2

/* bits of a pair's state while it is worked on */
#define GC_PAIR_INVALID 1
#define GC_PAIR_UNRESOLVED 2
#define GC_PAIR_OVERLAP 4

/* bits of edge_flags and vertex_flags in the mesh tables */
#define GC_EDGE_REFLEX 1
#define GC_VERTEX_REFLEX 1

/* hit_kind = kind + these bits */
#define GC_HIT_KIND_MASK 3
#define GC_HIT_SUSTAINED 4
#define GC_HIT_A_END 8 /* edge-edge: at an end of A's edge */
#define GC_HIT_B_END 16
#define GC_HIT_BORDER 32                                            /* vertex-face: on the border of the face */
#define GC_HIT_MARGIN (GC_HIT_A_END | GC_HIT_B_END | GC_HIT_BORDER) /* any of these: it may be one meeting with others */
/* with refine = pixels: of that edge the end with the higher vertex number; told as it is */
#define GC_HIT_A_HIGH 64
#define GC_HIT_B_HIGH 128
#define GC_HIT_KEPT 256

/* Header of a mesh, or of a patch of one: GC_MESH_STRIDE ints; the offsets count from the start of the table they name. A
 * patch is laid out like a mesh, with tables that lead from its numbers to the mesh's and to other patches; whole meshes
 * have -1 there. */
#define GC_MESH_STRIDE 28
/* where in it source_faces stands */
#define GC_MESH_SOURCE_FACES 21
typedef struct {
    int nv, ne, nf;
    int vertex0, face0;
    int face_start, face_vertices, face_edges;
    int edges, edge_face_start, edge_faces;
    int vertex_edge_start, vertex_edges, vertex_face_start, vertex_faces;
    int edge_flags, vertex_flags;
    int two_sided, closed;
    int source_vertices, source_edges, source_faces;
    int near_faces;                                            /* 0 for faces to be left out, or -1 */
    int edge_faces_away, vertex_edges_away, vertex_faces_away; /* of patches: how many patches on an entry counts in */
} gc_mesh;

/* Tree of a mesh's faces: GC_TREE_STRIDE ints a mesh: faces, first node, header of the first patch, height. Level l has
 * ceil(faces / 2^l) nodes, the levels follow each other, single faces first; node j of level l holds faces j 2^l to
 * (j + 1) 2^l in the order of the leaves, and those of level GC_PATCH_LEVEL are the patches. A node is GC_PATCH_NODE raster
 * numbers, centred on the mesh, in user units: low corner, high corner, a unit normal n and the range of n.x over the
 * node's points (n = 0: none), and the greatest distance of a point from the box's middle. */
#define GC_PATCH_LEVEL 5
#define GC_TREE_STRIDE 4
/* numbers of a node as the other body sees it (gc_near.h) */
#define GC_NEAR_FIELDS 28
#define GC_PATCH_NODE 12

/* Components of meshes (gc_solid.h). Ints: GC_SOLID_STRIDE a mesh: where the vertices that tell its components stand, how many,
 * is one closed, where the codes of its faces stand; behind all of these, the vertices and codes. A component is told by one
 * vertex; the code of a face is 2 (vertex + 1) if it is the face that tells a component, else 0, and 1 more if its component
 * is closed. Reals: GC_INSET_STRIDE a vertex: outward unit vector, and the greatest depth by which it may be moved against
 * it (user units; negative: its component is open). */
#define GC_SOLID_STRIDE 4
#define GC_INSET_STRIDE 4

/* mesh_reals: GC_MESH_REALS per mesh: centre x y z (of the bounding box), radius, scale (power of two >= radius), half
 * the sides of the box, greatest distance of a face's corner from the mean of its corners */
#define GC_MESH_REALS 12

/* Screw record of a pair: GC_SCREW_STRIDE reals (docs/decisions/0002). The screw frame has x tangential,
 * y along the axis, z radial; the axis is x = 0, z = -1/kappa. a is still in it, b is at its half-way pose.
 * s = t - 1/2 runs over [-1/2, 1/2]. */
#define GC_SCREW_STRIDE 40
typedef struct {
    gc_real theta;              /* angle, radians in [0, pi] */
    gc_real w;                  /* tangential speed at the origin of the frame, theta / kappa */
    gc_real g;                  /* speed along the axis */
    gc_real kappa;              /* curvature of the flow, 1 / (distance of the origin from the axis); 0 = translation */
    gc_real speed;              /* hypot(w, g) */
    gc_real size;               /* larger bounding radius, about 1 */
    gc_real tau;                /* how far outside [0, 1] roots are looked for */
    gc_real scale;              /* user length = scale * scaled length */
    gc_real ra[9], ta[3];       /* a: mesh (centred, scaled) -> screw frame, row major */
    gc_real rb[9], tb[3];       /* b at half-way */
    gc_real shrink;             /* 1 / scale, a power of two as well */
    gc_real radius_a, radius_b; /* bounding radii about the meshes' centres */
} gc_screw;

/* What is common to a pair while it is solved. */
typedef struct {
    gc_mesh mesh_a, mesh_b;
    gc_screw screw;
} gc_pair;

/* All mesh tables of a launch (see gpu_collide/pipeline/tables.py). Passed on by value; every pointer is global. */
typedef struct {
    GC_GLOBAL const int *headers;      /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology;     /* all index tables one after another */
    GC_GLOBAL const gc_real *reals;    /* (meshes, GC_MESH_REALS) */
    GC_GLOBAL const gc_real *vertices; /* (vertices, 4), centred on the mesh's centre, user units */
    GC_GLOBAL const gc_real *planes;   /* (faces, 4), unit outward normal, offset in the centred frame */
} gc_tables;

#endif
