/* gc_cast_mesh.h: what spheres are swept against: features of meshes, bodies with their motion, trees over both.
 * needs: common/gc_math.h common/gc_types.h
 *
 * Features are in the order of the mesh's tree of faces (gpu_collide/geometry/preparation/cast_features.py): the faces of a
 * leaf are a range, and so are the edges and vertices that they own. Lengths of a mesh are centred on it and divided by its
 * scale, a power of two.
 */
#ifndef GC_CAST_MESH_H
#define GC_CAST_MESH_H

/* Ints of a mesh: places count from the start of the ints, reals or nodes of all meshes. */
#define GC_CAST_MESH_STRIDE 12
#define GC_CAST_MESH_COLUMNS(ONE, MANY, X) \
    ONE(X, face)   /* ints: (faces + 1, GC_CAST_MESH_FACE_STRIDE) */ \
    ONE(X, source) /* ints: (faces,) number in the mesh */ \
    ONE(X, edge)   /* ints: (edges + 1, GC_CAST_MESH_EDGE_STRIDE) */ \
    ONE(X, vertex) /* ints: the same of vertices */ \
    ONE(X, around) /* ints: faces at edges and vertices, by their number in the mesh */ \
    ONE(X, loop)   /* reals: (rows, 3) of each face its outward normal, then its corners */ \
    ONE(X, side)   /* reals: (edges, 6) both ends */ \
    ONE(X, tip)    /* reals: (vertices, 3) */ \
    ONE(X, node)   /* nodes: (nodes, GC_BVH8_STRIDE), the first is the root */ \
    ONE(X, kid)    /* ints: (nodes, GC_BVH8_KIDS) */ \
    ONE(X, two_sided) \
    ONE(X, faces)
GC_RECORD(GC_CAST_MESH)

#define GC_CAST_MESH_FACE_STRIDE 3
#define GC_CAST_MESH_FACE_COLUMNS(ONE, MANY, X) \
    ONE(X, loop) /* row of its normal; that of the next face ends its corners */ \
    ONE(X, edge) \
    ONE(X, vertex)
GC_RECORD(GC_CAST_MESH_FACE)

#define GC_CAST_MESH_EDGE_STRIDE 2
#define GC_CAST_MESH_EDGE_COLUMNS(ONE, MANY, X) \
    ONE(X, source) /* number in the mesh */ \
    ONE(X, around) /* where its faces begin */
GC_RECORD(GC_CAST_MESH_EDGE)

/* size of a mesh: reals, user units; the box is in those of the mesh */
#define GC_CAST_MESH_SIZE_STRIDE 11
#define GC_CAST_MESH_SIZE_COLUMNS(ONE, MANY, X) \
    MANY(X, centre, 3) \
    ONE(X, scale) /* user length = scale * length */ \
    ONE(X, shrink) \
    MANY(X, low, 3) \
    MANY(X, high, 3)
GC_RECORD(GC_CAST_MESH_SIZE)

/* a body of the world: reals */
#define GC_OBSTACLE_STRIDE 20
#define GC_OBSTACLE_COLUMNS(ONE, MANY, X) \
    MANY(X, start, 3) /* position, and quaternion wxyz, a unit */ \
    MANY(X, quat, 4) \
    MANY(X, way, 3)   /* its origin's, over the whole path; of one that spins, its pivot's */ \
    MANY(X, end, 4)   /* quaternion at the end, a unit */ \
    MANY(X, spin, 3)  /* its turn over the whole path: a vector along the axis */ \
    MANY(X, pivot, 3) /* of one that spins, the point that goes straight on, in its own coordinates */
GC_RECORD(GC_OBSTACLE)

/* ints of it */
#define GC_OBSTACLE_INT_STRIDE 4
#define GC_OBSTACLE_INT_COLUMNS(ONE, MANY, X) \
    ONE(X, shape) \
    ONE(X, turns) /* 0: it does not; GC_OBSTACLE_SPINS; else from pose to pose */ \
    ONE(X, group) /* bits, as in gpu_collide/bodies/rules.py */ \
    ONE(X, mask)
GC_RECORD(GC_OBSTACLE_INT)
#define GC_OBSTACLE_SPINS 2

/* which bodies a query meets: ints */
#define GC_CAST_RULE_STRIDE 4
#define GC_CAST_RULE_COLUMNS(ONE, MANY, X) \
    ONE(X, group) \
    ONE(X, mask) \
    ONE(X, ignore) /* body that it passes, or -1 */ \
    ONE(X, world)  /* rank of the world that it is in; 0: in all */
GC_RECORD(GC_CAST_RULE)

/* the world of a launch: every pointer is global */
typedef struct {
    GC_GLOBAL const int *heads;     /* (meshes, GC_CAST_MESH_STRIDE) */
    GC_GLOBAL const gc_real *sizes; /* (meshes, GC_CAST_MESH_SIZE_STRIDE) */
    GC_GLOBAL const int *ints;
    GC_GLOBAL const gc_real *reals;
    GC_GLOBAL const gc_raster *nodes;
    GC_GLOBAL const gc_real *bodies;   /* (bodies, GC_OBSTACLE_STRIDE) */
    GC_GLOBAL const int *body_ints;    /* (bodies, GC_OBSTACLE_INT_STRIDE) */
    GC_GLOBAL const gc_raster *crowds; /* (nodes, GC_BVH8_STRIDE) of the tree over the bodies, the first is the root */
    GC_GLOBAL const int *crowd_kids;   /* (nodes, GC_BVH8_KIDS) */
    GC_GLOBAL const int *order;        /* (leaves, 2) body of each, and the rank of the world of its cell; -1: all */
    GC_GLOBAL const gc_real *frame;    /* (GC_CAST_SCENE_STRIDE,) */
    int two_sided;                     /* all of it */
    GC_GLOBAL const int *rules;        /* (n, GC_CAST_RULE_STRIDE), or 0: each query meets all bodies */
} gc_cast_scene;

/* frame of the tree over the bodies: reals; its lengths count from the middle, divided by the scale */
#define GC_CAST_SCENE_STRIDE 14
#define GC_CAST_SCENE_COLUMNS(ONE, MANY, X) \
    MANY(X, middle, 3) \
    ONE(X, shrink) \
    MANY(X, low, 3) \
    MANY(X, high, 3) \
    ONE(X, alone)     /* not 0: the world has one body, the first in its order */ \
    MANY(X, apart, 2) /* from one cell to the next along x and y, user units: the tree has each world in a cell */ \
    ONE(X, cells)     /* along x; 0: worlds do not count */
GC_RECORD(GC_CAST_SCENE)

/* what w01, w02, w03 and w05 are all given: what is swept against */
/* clang-format off */
#define GC_CAST_SCENE_ARGS \
    int two_sided,                        /* back faces count */ \
    int ruled,                            /* 0: there are no rules */ \
    GC_GLOBAL const int *rules_in,        /* (n, GC_CAST_RULE_STRIDE) or none */ \
    GC_GLOBAL const int *heads_in,        /* (meshes, GC_CAST_MESH_STRIDE) */ \
    GC_GLOBAL const gc_real *sizes_in,    /* (meshes, GC_CAST_MESH_SIZE_STRIDE) */ \
    GC_GLOBAL const int *ints_in,         /* what the heads lead to */ \
    GC_GLOBAL const gc_real *reals_in, \
    GC_GLOBAL const gc_raster *nodes_in, \
    GC_GLOBAL const gc_real *bodies_in,   /* (bodies, GC_OBSTACLE_STRIDE) */ \
    GC_GLOBAL const int *body_ints_in,    /* (bodies, GC_OBSTACLE_INT_STRIDE) */ \
    GC_GLOBAL const gc_raster *crowds_in, /* (nodes, GC_BVH8_STRIDE) */ \
    GC_GLOBAL const int *crowd_kids_in,   /* (nodes, GC_BVH8_KIDS) */ \
    GC_GLOBAL const int *order_in,        /* (leaves, 2) body of each, and the rank of the world of its cell; -1: all */ \
    GC_GLOBAL const gc_real *frame_in     /* (GC_CAST_SCENE_STRIDE,) */
/* clang-format on */

/* the same as a course */
#define GC_CAST_SCENE_GIVEN() \
    gc_cast_scene_of( \
        heads_in, sizes_in, ints_in, reals_in, nodes_in, bodies_in, body_ints_in, crowds_in, crowd_kids_in, order_in, \
        frame_in, two_sided, ruled ? rules_in : 0)

GC_FN gc_cast_scene gc_cast_scene_of(
    GC_GLOBAL const int *heads,
    GC_GLOBAL const gc_real *sizes,
    GC_GLOBAL const int *ints,
    GC_GLOBAL const gc_real *reals,
    GC_GLOBAL const gc_raster *nodes,
    GC_GLOBAL const gc_real *bodies,
    GC_GLOBAL const int *body_ints,
    GC_GLOBAL const gc_raster *crowds,
    GC_GLOBAL const int *crowd_kids,
    GC_GLOBAL const int *order,
    GC_GLOBAL const gc_real *frame,
    int two_sided,
    GC_GLOBAL const int *rules)
{
    gc_cast_scene w;
    w.heads = heads;
    w.sizes = sizes;
    w.ints = ints;
    w.reals = reals;
    w.nodes = nodes;
    w.bodies = bodies;
    w.body_ints = body_ints;
    w.crowds = crowds;
    w.crowd_kids = crowd_kids;
    w.order = order;
    w.frame = frame;
    w.two_sided = two_sided;
    w.rules = rules;
    return w;
}

/* Do the rules let a query meet the body of a leaf: do both allow the other, in one world? */
GC_FN int gc_cast_meets(const gc_cast_scene *w, int query, int leaf)
{
    GC_GLOBAL const int *own = w->rules + GC_CAST_RULE_STRIDE * (gc_long)query;
    int body = w->order[2 * leaf], rank = w->order[2 * leaf + 1];
    GC_GLOBAL const int *other = w->body_ints + GC_OBSTACLE_INT_STRIDE * body;
    return body != own[GC_CAST_RULE_ignore] && (own[GC_CAST_RULE_group] & other[GC_OBSTACLE_INT_mask])
           && (own[GC_CAST_RULE_mask] & other[GC_OBSTACLE_INT_group]) && (rank < 0 || own[GC_CAST_RULE_world] == rank);
}

/* where the tree over the bodies has a place that a query comes to: in the cell of its world */
GC_FN gc_vec gc_cast_in_tree(const gc_cast_scene *w, int query, gc_vec place)
{
    int cells = (int)w->frame[GC_CAST_SCENE_cells];
    place = gc_sub(place, gc_load_vec(w->frame + GC_CAST_SCENE_middle, 0));
    if (cells > 0 && w->rules) {
        int rank = w->rules[GC_CAST_RULE_STRIDE * (gc_long)query + GC_CAST_RULE_world];
        place.x += (gc_real)(rank % cells) * w->frame[GC_CAST_SCENE_apart];
        place.y += (gc_real)(rank / cells) * w->frame[GC_CAST_SCENE_apart + 1];
    }
    return gc_scale(place, w->frame[GC_CAST_SCENE_shrink]);
}

typedef struct {
    GC_FIELDS(GC_CAST_MESH, int)
    int mesh;
} gc_cast_mesh;

GC_FN void gc_cast_mesh_load(const gc_cast_scene *w, int mesh, gc_cast_mesh *to)
{
    GC_GLOBAL const int *from = w->heads + GC_CAST_MESH_STRIDE * mesh;
    GC_LOAD(GC_CAST_MESH, GC_CAST_MESH)
    to->mesh = mesh;
    to->two_sided |= w->two_sided;
}

/* features of faces from this one on of a kind (GC_CAST_MESH_FACE_edge, ...): where they begin */
GC_FN int gc_cast_mesh_begin(const gc_cast_scene *w, const gc_cast_mesh *g, int face, int kind)
{
    return w->ints[g->face + GC_CAST_MESH_FACE_STRIDE * face + kind];
}

GC_FN gc_vec gc_cast_mesh_corner(const gc_cast_scene *w, const gc_cast_mesh *g, int row)
{
    return gc_load_vec(w->reals + g->loop, row);
}

GC_FN gc_vec gc_cast_mesh_plane(const gc_cast_scene *w, const gc_cast_mesh *g, int face)
{
    return gc_load_vec(w->reals + g->loop, gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop));
}

#endif
