/* gc_form.h: what of a mesh may touch, as queries about movers read it (gpu_collide/geometry/preparation/collidable_features.py).
 * needs: common/gc_math.h common/gc_types.h
 *
 * Features stand in the order of the mesh's tree of faces: a face's corners, and the edges and vertices that it owns, are
 * ranges; so are those of a node of the tree. Node 1 is the root, 2 i and 2 i + 1 are the children of node i.
 */
#ifndef GC_FORM_H
#define GC_FORM_H

/* faces of a leaf, and of the pieces that a large mover is cut into: 2 to this power */
#define GC_FORM_LEAF 2
#define GC_FORM_PIECE 4

/* Ints of a mesh: places count from the start of the ints, reals or nodes of all meshes. */
#define GC_FORM_STRIDE 17
#define GC_FORM_COLUMNS(ONE, MANY, X) \
    ONE(X, faces)  /* how many */ \
    ONE(X, face)   /* ints: (faces + 1, GC_FORM_FACE_STRIDE) */ \
    ONE(X, source) /* ints: (faces,) number in the mesh */ \
    ONE(X, corner) /* ints: vertices of the loops, each from the corner on that stands out most */ \
    ONE(X, across) /* ints: the face behind the border that begins at each corner, see gc_loop_across */ \
    ONE(X, edge)   /* ints: (edges, GC_FORM_EDGE_STRIDE) */ \
    ONE(X, vertex) /* ints: those that may touch */ \
    ONE(X, border) /* ints: which of the edges have one face */ \
    ONE(X, fan)    /* ints: of each of `vertex` where in `spoke` its edges begin; those of the next end them */ \
    ONE(X, spoke)  /* ints: vertices to which edges lead */ \
    ONE(X, plane)  /* reals: (faces, 3) outward normals */ \
    ONE(X, wedge)  /* reals: (edges, 6) outward normals of the faces to the left and to the right */ \
    ONE(X, place)  /* reals: (vertices, 3) centred */ \
    ONE(X, node)   /* nodes: (2^(height + 1), GC_BOX_STRIDE) */ \
    ONE(X, height) \
    ONE(X, vertices) /* how many there are, those that may not touch among them */ \
    ONE(X, two_sided)
GC_RECORD(GC_FORM)

#define GC_FORM_FACE_STRIDE 4
#define GC_FORM_FACE_COLUMNS(ONE, MANY, X) \
    ONE(X, corner) /* where its corners begin; those of the next face end them */ \
    ONE(X, edge) \
    ONE(X, vertex) \
    ONE(X, border)
GC_RECORD(GC_FORM_FACE)

#define GC_FORM_EDGE_STRIDE 4
#define GC_FORM_EDGE_COLUMNS(ONE, MANY, X) \
    ONE(X, first) /* vertices */ \
    ONE(X, second) \
    ONE(X, source) \
    ONE(X, faces) /* that count, as a gc_wedge has them */
GC_RECORD(GC_FORM_EDGE)

/* centre and size of a mesh: reals */
#define GC_FORM_SIZE_STRIDE 7
#define GC_FORM_SIZE_COLUMNS(ONE, MANY, X) \
    MANY(X, centre, 3) \
    ONE(X, radius) \
    MANY(X, sides, 3) /* half the sides of the box about the centre */
GC_RECORD(GC_FORM_SIZE)

/* the tables of some meshes */
typedef struct {
    GC_GLOBAL const int *heads;     /* (meshes, GC_FORM_STRIDE) */
    GC_GLOBAL const gc_real *sizes; /* (meshes, GC_FORM_SIZE_STRIDE) */
    GC_GLOBAL const int *ints;
    GC_GLOBAL const gc_real *reals;
    GC_GLOBAL const gc_raster *nodes;
} gc_forms;

typedef struct {
    GC_FIELDS(GC_FORM, int)
    int mesh;
} gc_form;

GC_FN gc_forms gc_forms_of(
    GC_GLOBAL const int *heads,
    GC_GLOBAL const gc_real *sizes,
    GC_GLOBAL const int *ints,
    GC_GLOBAL const gc_real *reals,
    GC_GLOBAL const gc_raster *nodes)
{
    gc_forms t;
    t.heads = heads;
    t.sizes = sizes;
    t.ints = ints;
    t.reals = reals;
    t.nodes = nodes;
    return t;
}

GC_FN void gc_form_load(const gc_forms *t, int mesh, gc_form *to)
{
    GC_GLOBAL const int *from = t->heads + GC_FORM_STRIDE * mesh;
    GC_LOAD(GC_FORM, GC_FORM)
    to->mesh = mesh;
}

GC_FN GC_GLOBAL const gc_real *gc_form_size(const gc_forms *t, const gc_form *f)
{
    return t->sizes + GC_FORM_SIZE_STRIDE * f->mesh;
}

GC_FN gc_vec gc_form_place(const gc_forms *t, const gc_form *f, int vertex)
{
    return gc_load_vec(t->reals + f->place, vertex);
}

/* features of a kind (GC_FORM_FACE_edge, GC_FORM_FACE_vertex ...) of the faces from this one on: where they begin */
GC_FN int gc_form_begin(const gc_forms *t, const gc_form *f, int face, int kind)
{
    return t->ints[f->face + GC_FORM_FACE_STRIDE * face + kind];
}

#endif
