/* gc_types.h: records that stages exchange, and their layout in memory.
 * needs: common/gc_platform.h
 *
 * All lengths after s01 are scaled by 1/scale, a power of two near the pair's size, so that the pair is about one unit large
 * whatever the user's unit is; the scaling is exact.
 */
#ifndef GC_TYPES_H
#define GC_TYPES_H

#define GC_FV 0
#define GC_VF 1
#define GC_EE 2

/* nearest features, and contacts at a distance, beside those that meet: an edge of A and a vertex of B, the reverse, two vertices; none; in the search: an edge
 * that goes through a face */
#define GC_EV 3
#define GC_VE 4
#define GC_VV 5
#define GC_NO_PLACE (-1)
#define GC_CLEAR_CROSSED (-2)

#define GC_STATUS_MISS 0
#define GC_STATUS_HIT 1
#define GC_STATUS_INITIAL_OVERLAP 2
#define GC_STATUS_INVALID_INPUT 3
#define GC_STATUS_UNRESOLVED 4

#define GC_REFINE_EXACT 0
#define GC_REFINE_SEGMENTS 1
#define GC_REFINE_PIXELS 2

/* which bounds part two bodies in the broad phase: those of one screw a pair, none, or the boxes that each sweeps by itself */
#define GC_BOUNDS_SCREW 0
#define GC_BOUNDS_NONE 1
#define GC_BOUNDS_SWEPT 2

#define GC_CANDIDATES_AUTO 0
#define GC_CANDIDATES_RASTER 1
#define GC_CANDIDATES_PAIRS 2

/* bits of a pair's state while it is worked on */
#define GC_PAIR_INVALID 1
#define GC_PAIR_UNRESOLVED 2
#define GC_PAIR_OVERLAP 4
#define GC_PAIR_LONG 8   /* motion too long for the digits, and nobody has asked yet whether the sweeps meet: s01_long */
#define GC_PAIR_APART 16 /* they stay farther apart than anybody asks about */

/* what says of a mesh whether a pair with it looks at near faces only: in any case, or beside a mesh that is far smaller; the bits
 * above are the halvings between it and the narrowest mesh of the query */
#define GC_LOOK_NEAR 1
#define GC_LOOK_WIDE 2
#define GC_LOOK_STEP 4

/* bits of edge_flags and vertex_flags in the mesh tables */
#define GC_EDGE_REFLEX 1
#define GC_VERTEX_REFLEX 1

/* hit_kind = kind + these bits */
#define GC_HIT_KIND_MASK 7
#define GC_HIT_SUSTAINED 8
#define GC_HIT_A_END 16 /* edge-edge: at an end of A's edge */
#define GC_HIT_B_END 32
#define GC_HIT_BORDER 64                                            /* vertex-face: on the border of the face */
#define GC_HIT_MARGIN (GC_HIT_A_END | GC_HIT_B_END | GC_HIT_BORDER) /* any of these: it may be one meeting with others */
/* with refine = pixels: of that edge the end with the higher vertex number; reported as it is */
#define GC_HIT_A_HIGH 128
#define GC_HIT_B_HIGH 256
#define GC_HIT_KEPT 512
#define GC_HIT_UNTESTED 1024 /* a time at which the features may meet: s07_find */

/* in place of the pair of a hit: no entry, nor any behind it; one that is no hit */
#define GC_HIT_NONE (-1)
#define GC_HIT_NO_HIT (-2)

/* ---- records ------------------------------------------------------------------------------------------------ */

/* What a record in memory holds is written once, as a list of its columns: ONE(X, name), or MANY(X, name, n) for n of them.
 * From the list come its places (GC_SCREW_theta), and where a stage wants them a struct, loading and storing; Python reads
 * the same lists (sources.record). GC_RECORD declares the places of one that has GC_..._COLUMNS and GC_..._STRIDE, and does
 * not compile if its columns are more than its stride. */
#define GC_PLACE_ONE(R, name) R##_##name,
#define GC_PLACE_MANY(R, name, n) R##_##name, R##_##name##_last = R##_##name + n - 1,
#define GC_RECORD(R) \
    enum { R##_COLUMNS(GC_PLACE_ONE, GC_PLACE_MANY, R) R##_WIDTH, R##_FITS = 1 / (R##_WIDTH <= R##_STRIDE) };

/* A struct's fields; and between it and memory, called from and to. The places may be those of a record that begins with the
 * columns of L. */
#define GC_FIELDS(L, T) L##_COLUMNS(GC_FIELD_ONE, GC_FIELD_MANY, T)
#define GC_LOAD(L, R) L##_COLUMNS(GC_LOAD_ONE, GC_LOAD_MANY, R)
#define GC_STORE(L, R) L##_COLUMNS(GC_STORE_ONE, GC_STORE_MANY, R)
#define GC_FIELD_ONE(T, name) T name;
#define GC_FIELD_MANY(T, name, n) T name[n];
#define GC_LOAD_ONE(R, name) to->name = from[R##_##name];
#define GC_LOAD_MANY(R, name, n) \
    for (int k = 0; k < n; ++k) to->name[k] = from[R##_##name + k];
#define GC_STORE_ONE(R, name) to[R##_##name] = from->name;
#define GC_STORE_MANY(R, name, n) \
    for (int k = 0; k < n; ++k) to[R##_##name + k] = from->name[k];

/* Header of a mesh, or of a patch of one: ints; offsets count from the start of the table they name. A patch is laid out like
 * a mesh, with tables that lead from its numbers to the mesh's and to other patches; whole meshes have -1 there. */
#define GC_MESH_STRIDE 28
#define GC_MESH_COLUMNS(ONE, MANY, X) \
    ONE(X, nv) /* how many vertices, edges, faces */ \
    ONE(X, ne) \
    ONE(X, nf) \
    ONE(X, vertex0) /* its first one among those of all meshes */ \
    ONE(X, face0) \
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
    ONE(X, two_sided) /* 0 or 1 */ \
    ONE(X, closed) \
    ONE(X, source_vertices) \
    ONE(X, source_edges) \
    ONE(X, source_faces) \
    ONE(X, near_faces)      /* 0 for faces to be left out, or -1 */ \
    ONE(X, edge_faces_away) /* of patches: how many patches on an entry counts in */ \
    ONE(X, vertex_edges_away) \
    ONE(X, vertex_faces_away)
GC_RECORD(GC_MESH)
typedef struct {
    GC_FIELDS(GC_MESH, int)
} gc_mesh;

/* mesh_reals: numbers of a mesh, user units */
#define GC_MESH_REAL_STRIDE 12
#define GC_MESH_REAL_COLUMNS(ONE, MANY, X) \
    MANY(X, centre, 3) /* of the bounding box */ \
    ONE(X, radius)     /* about it */ \
    ONE(X, scale)      /* power of two >= radius */ \
    MANY(X, sides, 3)  /* half the sides of the box */ \
    ONE(X, face_reach) /* greatest distance of a face's corner from the mean of its corners */ \
    ONE(X, rounding)   /* how far the surface is outside the mesh; in the radius and the sides as well */ \
    MANY(X, ends, 2)   /* radii of flat ends of a shape of revolution; else -1 */
GC_RECORD(GC_MESH_REAL)

/* a plain box: reals */
#define GC_BOX_STRIDE 6
#define GC_BOX_COLUMNS(ONE, MANY, X) \
    MANY(X, low, 3) \
    MANY(X, high, 3)
GC_RECORD(GC_BOX)

/* Tree of a mesh's faces: ints a mesh. Level l has ceil(faces / 2^l) nodes, the levels follow each other, single faces first;
 * node j of level l holds faces j 2^l to (j + 1) 2^l in the order of the leaves, and those of level GC_PATCH_LEVEL are the
 * patches. */
#define GC_PATCH_LEVEL 5
#define GC_TREE_STRIDE 4
#define GC_TREE_COLUMNS(ONE, MANY, X) \
    ONE(X, faces) /* 0: there is no tree */ \
    ONE(X, node)  /* place of its first node */ \
    ONE(X, patch) /* header of its first patch */ \
    ONE(X, height)
GC_RECORD(GC_TREE)

/* a node of it: raster numbers, centred on the mesh, user units */
#define GC_NODE_STRIDE 14
#define GC_NODE_COLUMNS(ONE, MANY, X) \
    GC_BOX_COLUMNS(ONE, MANY, X) \
    MANY(X, normal, 3) /* unit vector n, or 0: none */ \
    ONE(X, least)      /* range of n.x over the node's points */ \
    ONE(X, most) \
    ONE(X, reach) /* greatest distance of a point from the box's middle */ \
    ONE(X, cone)  /* cosine of the half angle of the double cone about n of its contact normals; 0: all */ \
    ONE(X, ring)  /* cosine of the angle about n that holds the normals of its faces and their neighbours; 0: all */
GC_RECORD(GC_NODE)

/* Components of meshes (gc_solid.h): ints a mesh, and behind those of all meshes the vertices and codes. A component is told by
 * one vertex; the code of a face is 2 (vertex + 1) if it is the face that tells a component, else 0, and 1 more if its
 * component is closed. */
#define GC_SOLID_STRIDE 4
#define GC_SOLID_COLUMNS(ONE, MANY, X) \
    ONE(X, witnesses)  /* where the vertices that stand for its components begin */ \
    ONE(X, components) /* how many */ \
    ONE(X, closed)     /* is one closed */ \
    ONE(X, codes)      /* where the codes of its faces stand */
GC_RECORD(GC_SOLID)

/* how a vertex of a solid is moved inwards: reals */
#define GC_INSET_STRIDE 4
#define GC_INSET_COLUMNS(ONE, MANY, X) \
    MANY(X, outward, 3) /* unit vector */ \
    ONE(X, depth)       /* the most it may be moved against it, user units; negative: its component is open */
GC_RECORD(GC_INSET)

/* Screw record of a pair: reals (docs/decisions/0002). The screw frame has x tangential, y along the axis, z radial; the axis
 * is x = 0, z = -1/kappa. a is still in it, b is at its half-way pose. s = t - 1/2 runs over [-1/2, 1/2]. */
#define GC_SCREW_STRIDE 40
#define GC_SCREW_COLUMNS(ONE, MANY, X) \
    ONE(X, theta)  /* angle, radians in [0, pi] */ \
    ONE(X, w)      /* tangential speed at the origin of the frame, theta / kappa */ \
    ONE(X, g)      /* speed along the axis */ \
    ONE(X, kappa)  /* curvature of the flow, 1 / (distance of the origin from the axis); 0 = translation */ \
    ONE(X, speed)  /* hypot(w, g) */ \
    ONE(X, size)   /* larger bounding radius, about 1 */ \
    ONE(X, tau)    /* how far outside [0, 1] roots are looked for */ \
    ONE(X, scale)  /* user length = scale * scaled length */ \
    MANY(X, ra, 9) /* a: mesh (centred, scaled) -> screw frame, row major */ \
    MANY(X, ta, 3) \
    MANY(X, rb, 9) /* b at half-way */ \
    MANY(X, tb, 3) \
    ONE(X, shrink)   /* 1 / scale, a power of two as well */ \
    ONE(X, radius_a) /* bounding radii about the meshes' centres */ \
    ONE(X, radius_b) \
    ONE(X, pad)    /* how far B may be off this screw, for one that stands for a piece of a motion; 0: it is the motion */ \
    ONE(X, slip)   /* the same of the velocity at a place */ \
    ONE(X, tilt)   /* and of directions, radians */ \
    ONE(X, pieces) /* 0; above: no screw, but a GC_BODIES, cut into so many; below: too long a motion, and not this one */ \
    ONE(X, distance) /* 0 */
GC_RECORD(GC_SCREW)
typedef struct {
    GC_FIELDS(GC_SCREW, gc_real)
} gc_screw;

/* In place of a screw: the motions of both bodies of a pair, each on its own (gc_body_motion.h). At s both have turned about their
 * centres by s times their turns, and these have moved by s drift + (s in the turned axes) swing. All is seen in A's axes at half-way. */
#define GC_BODIES_STRIDE 40
#define GC_BODIES_COLUMNS(ONE, MANY, X) \
    ONE(X, angle_a) /* lengths of turn_a, turn_b */ \
    ONE(X, angle_b) \
    ONE(X, angle) /* of their difference */ \
    ONE(X, chi)   /* and of their cross product */ \
    ONE(X, speed) /* bound of the relative speed of their surfaces: tolerances are shares of it */ \
    ONE(X, size) \
    ONE(X, tau) \
    ONE(X, scale) \
    MANY(X, apart, 3)   /* from A's centre to B's, half-way */ \
    MANY(X, drift, 3)   /* B's less A's */ \
    MANY(X, swing_a, 3) /* velocity that turns with the body, half-way */ \
    MANY(X, swing_b, 3) \
    MANY(X, turn_a, 3) /* axis times angle of the whole step */ \
    MANY(X, turn_b, 3) \
    MANY(X, quat, 4) /* B's orientation seen from A, half-way, wxyz */ \
    ONE(X, way)      /* of drift, swing_a and swing_b, lengths added */ \
    ONE(X, most)     /* bound of the distance of the centres */ \
    ONE(X, shrink) \
    ONE(X, radius_a) \
    ONE(X, radius_b) \
    ONE(X, pad) \
    ONE(X, slip) \
    ONE(X, tilt) \
    ONE(X, pieces) \
    ONE(X, distance) /* of bodies in contact, scaled; 0: they touch */
GC_RECORD(GC_BODIES)
typedef struct {
    GC_FIELDS(GC_BODIES, gc_real)
} gc_bodies;

/* Bounds for the whole step, of either body as the other sees it: y1, y2, y3 of the derivatives of the place of a point at the other's
 * centre, to which a point at a distance r adds angle r, d2 r, d3 r; and from them those of the derivatives of the contact equations, from
 * the first on: of a plane of A, a plane of B (points of A about A's
 * centre, as B sees them), and two lines of unit directions. */
typedef struct {
    gc_real y1, y2, y3, d2, d3;
    gc_real point_a, point_b; /* closer ones of the acceleration of a point of B as A sees it, and of one of A */
    gc_real plane_a[3], plane_b[3], lines[3];
} gc_body_bounds;

/* what b05 lists: faces of a body that come near the other one of its pair */
#define GC_LISTED_STRIDE 3
#define GC_LISTED_COLUMNS(ONE, MANY, X) \
    ONE(X, side)  /* 2 pair + 0 for A, 1 for B */ \
    ONE(X, patch) /* its header */ \
    ONE(X, faces) /* of it, as bits */
GC_RECORD(GC_LISTED)

/* what is counted of a part, in the order of the columns of a gather: its features, and the entries of four tables */
#define GC_TALLY_STRIDE 7
#define GC_TALLY_COLUMNS(ONE, MANY, X) \
    ONE(X, vertices) \
    ONE(X, edges) \
    ONE(X, faces) \
    ONE(X, corners) \
    ONE(X, edge_faces) \
    ONE(X, vertex_edges) \
    ONE(X, vertex_faces)
GC_RECORD(GC_TALLY)

/* where a listed patch goes in a joined mesh (b06): what lies before it there; and which of its faces are near */
#define GC_GATHER_STRIDE 9
#define GC_GATHER_COLUMNS(ONE, MANY, X) \
    ONE(X, part) \
    GC_TALLY_COLUMNS(ONE, MANY, X) \
    ONE(X, near) /* bits */
GC_RECORD(GC_GATHER)
typedef struct {
    GC_FIELDS(GC_GATHER, int)
} gc_gather;

/* what the screen works on: a pair, and which parts of its meshes */
#define GC_ITEM_STRIDE 3
#define GC_ITEM_COLUMNS(ONE, MANY, X) \
    ONE(X, pair) \
    ONE(X, part_a) \
    ONE(X, part_b)
GC_RECORD(GC_ITEM)

/* candidates and hits: features of a pair that may meet, that meet; the kind of a hit has GC_HIT_* bits */
#define GC_CANDIDATE_STRIDE 4
#define GC_CANDIDATE_COLUMNS(ONE, MANY, X) \
    ONE(X, pair) \
    ONE(X, kind) \
    ONE(X, a) /* feature of A */ \
    ONE(X, b)
GC_RECORD(GC_CANDIDATE)

/* s between which a candidate's features may meet: raster numbers */
#define GC_BRACKET_STRIDE 2
#define GC_BRACKET_COLUMNS(ONE, MANY, X) \
    ONE(X, first) \
    ONE(X, last)
GC_RECORD(GC_BRACKET)

#define GC_HIT_STRIDE 4
#define GC_HIT_COLUMNS(ONE, MANY, X) GC_CANDIDATE_COLUMNS(ONE, MANY, X)
GC_RECORD(GC_HIT)

/* the reals of a hit */
#define GC_HIT_REAL_STRIDE 3
#define GC_HIT_REAL_COLUMNS(ONE, MANY, X) \
    ONE(X, s)   /* when it begins */ \
    ONE(X, end) /* and ends: s as well, if it does not last */ \
    ONE(X, properness)
GC_RECORD(GC_HIT_REAL)

/* the reals of two features that are past each other, or of a region of overlap */
#define GC_DEEP_STRIDE 13
#define GC_DEEP_COLUMNS(ONE, MANY, X) \
    ONE(X, depth) /* user units */ \
    ONE(X, at_a)  /* of edges: 0 to 1 along them */ \
    ONE(X, at_b) \
    MANY(X, point_a, 3) /* in the world */ \
    MANY(X, point_b, 3) \
    MANY(X, normal, 3) \
    ONE(X, limit) /* of a region: two features that are deeper are none of it */
GC_RECORD(GC_DEEP)

/* an edge of one body that goes through a face of the other */
#define GC_PASSAGE_STRIDE 5
#define GC_PASSAGE_COLUMNS(ONE, MANY, X) \
    ONE(X, pair) \
    ONE(X, of) /* whose edge: 0 A's, 1 B's */ \
    ONE(X, edge) \
    ONE(X, face) \
    ONE(X, enters) /* from its first vertex on */
GC_RECORD(GC_PASSAGE)

/* two such places on the line in which two faces meet, counted from the first of their pair */
#define GC_LINK_STRIDE 4
#define GC_LINK_COLUMNS(ONE, MANY, X) \
    ONE(X, one) \
    ONE(X, other) \
    ONE(X, face_a) \
    ONE(X, face_b)
GC_RECORD(GC_LINK)

/* a region of overlap */
#define GC_REGION_STRIDE 3
#define GC_REGION_COLUMNS(ONE, MANY, X) \
    ONE(X, pair) \
    ONE(X, place) /* of the pair in the lists of c02_regions; -1: it is in none, and all is one region */ \
    ONE(X, first) /* the first of its cuts, counted from that of its pair */
GC_RECORD(GC_REGION)

/* What is common to a pair while it is solved: gc_mesh_a, gc_mesh_b and gc_screw_of have it. */
typedef struct {
    GC_SEEN(gc_mesh, mesh_a);
    GC_SEEN(gc_mesh, mesh_b);
    GC_SEEN(gc_screw, screw);
    GC_OF_BODIES(
        gc_bodies bodies;) /* where bodies.pieces is above 0; the screw has the axes of each body then, and no motion */
    GC_OF_BODIES(gc_body_bounds bounds;)
    GC_OF_DISTANCE(gc_real ends_a[2]; gc_real ends_b[2];) /* radii of flat ends, scaled; below 0: none */
} gc_pair;

/* All mesh tables of a launch (see gpu_collide/pipeline/mesh_tables/tables.py). Passed on by value; every pointer is global. */
typedef struct {
    GC_GLOBAL const int *headers;      /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology;     /* all index tables one after another */
    GC_GLOBAL const gc_real *reals;    /* (meshes, GC_MESH_REAL_STRIDE) */
    GC_GLOBAL const gc_real *vertices; /* (vertices, 4), centred on the mesh's centre, user units */
    GC_GLOBAL const gc_real *planes;   /* (faces, 4), unit outward normal, offset in the centred frame */
} gc_tables;

#endif
