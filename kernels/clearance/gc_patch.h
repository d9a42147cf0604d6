/* gc_patch.h: meshes as manifolds are cut from them, and what two of their faces have in common as seen along a normal.
 * needs: common/gc_math.h common/gc_types.h
 *
 * A loop is the border of a face, or an edge as a loop of two corners: loops of a mesh are its faces, then its edges. A sheet is
 * what flat edges join. Source: docs/decisions/0145.
 */
#ifndef GC_PATCH_H
#define GC_PATCH_H

/* cosine of 15 degrees: what lies across a normal, and normals of one region */
#define GC_PATCH_ALIGNED GC_R(0.9659258262890683)
/* what a corner may be outside, in sizes; worst rounding seen 3e-16 */
#define GC_PATCH_WITHIN GC_R(1e-11)
/* sine of the angle below which edges are parallel */
#define GC_PATCH_PARALLEL GC_R(1e-6)
/* lengths that differ by less are equal where one is chosen, in sizes */
#define GC_PATCH_TIE GC_R(1e-6)
/* corners of a loop that are seen once; others whenever they are needed */
#define GC_PATCH_KEPT 8
/* pairs of sheets of a region that are remembered; others may be cut again */
#define GC_PATCH_SEEDS 8
/* what a feature is */
#define GC_PATCH_FACE 0
#define GC_PATCH_EDGE 1
#define GC_PATCH_VERTEX 2

/* where each array of a mesh begins */
#define GC_PATCH_MESH_STRIDE 18
#define GC_PATCH_MESH_COLUMNS(ONE, MANY, X) \
    ONE(X, faces)      /* how many */ \
    ONE(X, face_start) /* of the corners of each face */ \
    ONE(X, corner)     /* vertices */ \
    ONE(X, side)       /* edges from each corner to the next */ \
    ONE(X, ends)       /* two vertices of each edge */ \
    ONE(X, flat)       /* of each edge, 1 if it is flat */ \
    ONE(X, edge_start) \
    ONE(X, edge_face) /* faces of an edge */ \
    ONE(X, fan_start) \
    ONE(X, fan) /* faces of a vertex */ \
    ONE(X, spoke_start) \
    ONE(X, spoke) /* edges of a vertex */ \
    ONE(X, sheet) /* of each face the lowest of those that flat edges join with it */ \
    ONE(X, member_start) \
    ONE(X, member)   /* faces of a sheet */ \
    ONE(X, vertex)   /* reals, three for each vertex */ \
    ONE(X, normal)   /* reals of each face: normal, middle of the corners */ \
    ONE(X, vertices) /* how many */
GC_RECORD(GC_PATCH_MESH)

/* a corner of a patch, or a contact */
#define GC_PATCH_POINT_STRIDE 6
#define GC_PATCH_POINT_COLUMNS(ONE, MANY, X) \
    ONE(X, region) /* of its pair */ \
    ONE(X, kind) \
    ONE(X, a) /* features */ \
    ONE(X, b) \
    ONE(X, low) /* halves of its key */ \
    ONE(X, high)
GC_RECORD(GC_PATCH_POINT)

#define GC_PATCH_PLACE_STRIDE 12
#define GC_PATCH_PLACE_COLUMNS(ONE, MANY, X) \
    ONE(X, distance) \
    MANY(X, on_a, 3) /* relative to A's position */ \
    MANY(X, on_b, 3) \
    MANY(X, normal, 3) \
    ONE(X, x) /* across the normal */ \
    ONE(X, y)
GC_RECORD(GC_PATCH_PLACE)

/* a body: its mesh, and its axes in the world; `at` from A's position to its own */
typedef struct {
    GC_GLOBAL const int *ints;
    GC_GLOBAL const gc_real *reals;
    GC_GLOBAL const int *form; /* GC_PATCH_MESH */
    gc_vec rows[3];            /* of the matrix that turns to the world */
    gc_vec at;
} gc_patch_body;

/* how a body is seen: along a normal, with two axes across */
typedef struct {
    gc_vec x, y, z, shift;
} gc_patch_view;

typedef struct {
    const gc_patch_body *body;
    const gc_patch_view *view;
    int number, is_face, begin, n;
    gc_vec up; /* of a face, its normal as it is seen */
    gc_vec kept[GC_PATCH_KEPT];
} gc_patch_loop;

GC_FN int gc_flat_at(const gc_patch_body *b, int column, int i) { return b->ints[b->form[column] + i]; }

GC_FN gc_vec gc_flat_vertex(const gc_patch_body *b, int i)
{
    return gc_load_vec(b->reals + b->form[GC_PATCH_MESH_vertex], i);
}

GC_FN gc_vec gc_flat_normal(const gc_patch_body *b, int face)
{
    return gc_load_vec(b->reals + b->form[GC_PATCH_MESH_normal], 2 * face);
}

GC_FN gc_vec gc_flat_middle(const gc_patch_body *b, int face)
{
    return gc_load_vec(b->reals + b->form[GC_PATCH_MESH_normal], 2 * face + 1);
}

GC_FN void gc_patch_body_load(
    gc_patch_body *b,
    GC_GLOBAL const int *forms,
    GC_GLOBAL const int *ints,
    GC_GLOBAL const gc_real *reals,
    GC_GLOBAL const gc_real *turn,
    int shape,
    gc_vec at)
{
    b->form = forms + GC_PATCH_MESH_STRIDE * shape;
    b->ints = ints;
    b->reals = reals;
    b->at = at;
    for (int k = 0; k < 3; ++k) b->rows[k] = gc_load_vec(turn, k);
}

/* from the world's axes to the body's */
GC_FN gc_vec gc_patch_local(const gc_patch_body *b, gc_vec v)
{
    return gc_add(gc_add(gc_scale(b->rows[0], v.x), gc_scale(b->rows[1], v.y)), gc_scale(b->rows[2], v.z));
}

GC_FN gc_patch_view gc_patch_view_of(const gc_patch_body *b, const gc_vec *axes)
{
    gc_patch_view v;
    v.x = gc_patch_local(b, axes[0]);
    v.y = gc_patch_local(b, axes[1]);
    v.z = gc_patch_local(b, axes[2]);
    v.shift = gc_make(gc_dot(axes[0], b->at), gc_dot(axes[1], b->at), gc_dot(axes[2], b->at));
    return v;
}

/* Two unit vectors across n, as `tangents` of the results has them */
GC_FN void gc_patch_axes(gc_vec n, gc_vec *axes)
{
    gc_vec t = gc_make(
        n.y * GC_R(0.5657) - n.z * GC_R(0.3111), n.z * GC_R(0.7637) - n.x * GC_R(0.5657),
        n.x * GC_R(0.3111) - n.y * GC_R(0.7637));
    gc_real length = GC_SQRT(gc_dot(t, t));
    t = length > GC_R(1e-12) ? gc_make(t.x / length, t.y / length, t.z / length)
                             : gc_make(GC_R(0.37739), GC_R(-0.92605), GC_R(0.0));
    axes[0] = t;
    axes[1] = gc_cross(n, t);
    axes[2] = n;
}

GC_FN int gc_patch_vertex(const gc_patch_loop *l, int k)
{
    return l->is_face ? gc_flat_at(l->body, GC_PATCH_MESH_corner, l->begin + k)
                      : gc_flat_at(l->body, GC_PATCH_MESH_ends, 2 * l->number + k);
}

GC_FN gc_vec gc_patch_see(const gc_patch_loop *l, int k)
{
    gc_vec p = gc_flat_vertex(l->body, gc_patch_vertex(l, k));
    const gc_patch_view *v = l->view;
    return gc_make(gc_dot(v->x, p) + v->shift.x, gc_dot(v->y, p) + v->shift.y, gc_dot(v->z, p) + v->shift.z);
}

GC_FN gc_vec gc_patch_corner(const gc_patch_loop *l, int k) { return k < GC_PATCH_KEPT ? l->kept[k] : gc_patch_see(l, k); }

/* loop `number` of a body, as it is seen */
GC_FN void gc_patch_loop_of(const gc_patch_body *b, const gc_patch_view *v, int number, gc_patch_loop *l)
{
    int faces = b->form[GC_PATCH_MESH_faces];
    l->body = b;
    l->view = v;
    l->is_face = number < faces;
    l->number = l->is_face ? number : number - faces;
    l->begin = 0;
    l->n = 2;
    l->up = gc_make(GC_R(0.0), GC_R(0.0), GC_R(1.0));
    if (l->is_face) {
        gc_vec n = gc_flat_normal(b, number);
        l->begin = gc_flat_at(b, GC_PATCH_MESH_face_start, number);
        l->n = gc_flat_at(b, GC_PATCH_MESH_face_start, number + 1) - l->begin;
        l->up = gc_make(gc_dot(v->x, n), gc_dot(v->y, n), gc_dot(v->z, n));
    }
    for (int k = 0; k < l->n && k < GC_PATCH_KEPT; ++k) l->kept[k] = gc_patch_see(l, k);
}

/* the border from corner k to the next: its edge, or -1 if it makes no corners */
GC_FN int gc_patch_border(const gc_patch_loop *l, int k)
{
    int edge;
    if (!l->is_face) return k == 0 ? l->number : -1;
    edge = gc_flat_at(l->body, GC_PATCH_MESH_side, l->begin + k);
    return gc_flat_at(l->body, GC_PATCH_MESH_flat, edge) ? -1 : edge;
}

/* how far corners of a loop are from `from` along an axis of the view */
GC_FN gc_real gc_patch_extent(const gc_patch_loop *l, gc_vec from)
{
    gc_real most = GC_R(0.0);
    for (int k = 0; k < l->n; ++k) most = GC_MAX(most, gc_most(gc_sub(gc_patch_corner(l, k), from)));
    return most;
}

/* is a place within a face, or outside by no more than `within`? */
GC_FN int gc_patch_inside(const gc_patch_loop *l, gc_vec p, gc_real within)
{
    gc_real turn = l->up.z < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    gc_vec last = gc_patch_corner(l, l->n - 1);
    for (int k = 0; k < l->n; ++k) {
        gc_vec next = gc_patch_corner(l, k);
        gc_real x = next.x - last.x, y = next.y - last.y, left = (x * (p.y - last.y) - y * (p.x - last.x)) * turn;
        /* left < -within * length, without the root where it is on the inner side */
        if (left < GC_R(0.0) && left < -(within * GC_SQRT(x * x + y * y))) return 0;
        last = next;
    }
    return 1;
}

/* how high the plane of a face is at a place */
GC_FN gc_real gc_patch_height(const gc_patch_loop *l, gc_vec p)
{
    gc_vec c = l->kept[0];
    return c.z - (l->up.x * (p.x - c.x) + l->up.y * (p.y - c.y)) / l->up.z;
}

#endif
