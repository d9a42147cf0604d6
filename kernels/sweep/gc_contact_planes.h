/* gc_contact_planes.h: contact planes around a sphere or an ellipsoid at rest.
 * needs: sweep/gc_touch.h sweep/gc_bvh8.h
 *
 * Of each face the point nearest to the centre counts, whether it is inside the face, on an edge or at a vertex, and once
 * for all faces that share it. An edge does not count if one of its faces has its nearest point elsewhere, so that a
 * triangulated face is as smooth as a polygon. The plane is tangent to the surface of the ellipsoid.
 */
#ifndef GC_CONTACT_PLANES_H
#define GC_CONTACT_PLANES_H

/* a plane of contact: ints */
#define GC_NEARBY_STRIDE 5
#define GC_NEARBY_COLUMNS(ONE, MANY, X) \
    ONE(X, query) \
    ONE(X, kind) /* GC_FEATURE_* */ \
    ONE(X, body) \
    ONE(X, face) \
    ONE(X, number)
GC_RECORD(GC_NEARBY)

/* reals of it */
#define GC_NEARBY_REAL_STRIDE 10
#define GC_NEARBY_REAL_COLUMNS(ONE, MANY, X) \
    MANY(X, normal, 3) /* unit, towards the centre; world, as all here */ \
    ONE(X, gap)        /* between surface and ellipsoid along it, below 0 within */ \
    MANY(X, point, 3) \
    MANY(X, body_displacement, 3) /* over the whole step */
GC_RECORD(GC_NEARBY_REAL)

typedef struct {
    GC_FIELDS(GC_NEARBY, int)
    gc_vec normal, point, motion;
    gc_real gap;
} gc_nearby;

/* where planes go: the nearest so many, in order; or all, into memory */
#define GC_CONTACT_PLANES_MOST 16
typedef struct {
    gc_nearby *list;
    int count; /* in the list */
    int all;   /* found */
    int keep;  /* in the list at most */
    int room;  /* how many may be written */
    GC_GLOBAL int *ints;
    GC_GLOBAL gc_real *reals;
    gc_real reach;
} gc_plane_list;

GC_FN int gc_nearby_before(const gc_nearby *a, const gc_nearby *b)
{
    if (a->gap != b->gap) return a->gap < b->gap;
    if (a->kind != b->kind) return a->kind < b->kind;
    if (a->body != b->body) return a->body < b->body;
    return a->number < b->number;
}

GC_FN void gc_crowd_write(gc_plane_list *to, const gc_nearby *from)
{
    GC_GLOBAL int *ints = to->ints + GC_NEARBY_STRIDE * (gc_long)to->all;
    GC_GLOBAL gc_real *reals = to->reals + GC_NEARBY_REAL_STRIDE * (gc_long)to->all;
    ints[GC_NEARBY_query] = from->query;
    ints[GC_NEARBY_kind] = from->kind;
    ints[GC_NEARBY_body] = from->body;
    ints[GC_NEARBY_face] = from->face;
    ints[GC_NEARBY_number] = from->number;
    gc_store_vec(reals + GC_NEARBY_REAL_normal, 0, from->normal);
    gc_store_vec(reals + GC_NEARBY_REAL_point, 0, from->point);
    gc_store_vec(reals + GC_NEARBY_REAL_body_displacement, 0, from->motion);
    reals[GC_NEARBY_REAL_gap] = from->gap;
}

GC_FN void gc_crowd_add(gc_plane_list *to, const gc_nearby *p)
{
    int i = to->count;
    if (to->all < to->room) gc_crowd_write(to, p);
    to->all += 1;
    if (i == to->keep && (i == 0 || !gc_nearby_before(p, &to->list[i - 1]))) return;
    if (i == to->keep) i -= 1;
    while (i > 0 && gc_nearby_before(p, &to->list[i - 1])) {
        to->list[i] = to->list[i - 1];
        --i;
    }
    to->list[i] = *p;
    if (to->count < to->keep) to->count += 1;
}

/* A place y of a feature (from the centre; of a face the foot, with its normal m): is it near, and then what is told. */
GC_FN void gc_contact_planes_tell(
    const gc_cast_scene *w,
    const gc_ball *b,
    const gc_ellipsoid_space *v,
    const gc_cast_mesh *g,
    gc_vec y,
    gc_vec m,
    gc_real gap,
    gc_nearby *p,
    gc_plane_list *to)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * p->body;
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * g->mesh;
    gc_real scale = size[GC_CAST_MESH_SIZE_scale], length = GC_R(1.0);
    gc_vec away, n = m;
    if (!v->round) {
        n = gc_make(
            v->lens[0] * m.x + v->lens[3] * m.y + v->lens[6] * m.z, v->lens[1] * m.x + v->lens[4] * m.y + v->lens[7] * m.z,
            v->lens[2] * m.x + v->lens[5] * m.y + v->lens[8] * m.z);
        length = gc_norm(n);
        n = gc_scale(n, GC_R(1.0) / length);
        y = gc_make(
            v->normal[0] * y.x + v->normal[3] * y.y + v->normal[6] * y.z,
            v->normal[1] * y.x + v->normal[4] * y.y + v->normal[7] * y.z,
            v->normal[2] * y.x + v->normal[5] * y.y + v->normal[8] * y.z);
    }
    p->gap = gap / length * scale;
    if (p->gap > to->reach) return;
    p->normal = gc_quat_rotate(v->quat, n);
    away = gc_quat_rotate(v->quat, gc_add(gc_scale(gc_add(y, v->centre), scale), gc_load_vec(size, 0)));
    p->point = gc_scale(gc_load_vec(at + GC_OBSTACLE_way, 0), b->since);
    p->point = gc_add(gc_load_vec(at + GC_OBSTACLE_start, 0), p->point);
    p->point = gc_add(p->point, away);
    p->motion = gc_obstacle_motion(w, p->body, b->since, p->point);
    gc_crowd_add(to, p);
}

GC_FN int gc_same_place(gc_vec a, gc_vec b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Has this face its place nearest to the centre on the edge from a to b, or (`one`) at a? Of those that it does not
 * have in front of it: yes. */
GC_FN int gc_contact_planes_of(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int face,
    gc_vec a,
    gc_vec b,
    int one)
{
    int first = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
    int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
    gc_vec n = gc_ellipsoid_space_normal(v, gc_cast_mesh_plane(w, g, face)), y = gc_ellipsoid_space_point(v, a);
    gc_real d = -gc_dot(n, y);
    if (!g->two_sided && d < -v->slack) return 1;
    for (int j = first; j < end; ++j) {
        gc_vec x = gc_cast_mesh_corner(w, g, j), next = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : first);
        if (one) {
            if (gc_same_place(x, a) && -gc_dot(gc_ellipsoid_space_vector(v, gc_sub(next, a)), y) > GC_R(0.0)) return 0;
            if (gc_same_place(next, a) && -gc_dot(gc_ellipsoid_space_vector(v, gc_sub(x, a)), y) > GC_R(0.0)) return 0;
        } else if ((gc_same_place(x, a) && gc_same_place(next, b)) || (gc_same_place(x, b) && gc_same_place(next, a))) {
            gc_vec side = gc_cross(n, gc_ellipsoid_space_vector(v, gc_sub(next, x)));
            if (-gc_dot(side, y) > GC_R(0.0)) return 0;
        }
    }
    return 1;
}

/* faces of a list around an edge or a vertex: the first with the centre in front of it, -1 if none has; -2 if one has
 * its nearest place elsewhere */
GC_FN int gc_contact_planes_around(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec a,
    gc_vec b,
    int one,
    int begin,
    int end)
{
    for (int k = begin; k < end; ++k) {
        if (!gc_contact_planes_of(w, g, v, w->ints[g->around + k], a, b, one)) return -2;
    }
    return gc_touch_front(w, g, v, gc_ellipsoid_space_point(v, a), GC_R(0.0), begin, end);
}

GC_FN void gc_contact_planes_face(
    const gc_cast_scene *w,
    const gc_ball *b,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int face,
    gc_nearby *p,
    gc_plane_list *to)
{
    gc_vec n = gc_ellipsoid_space_normal(v, gc_cast_mesh_plane(w, g, face));
    int first = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
    int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
    gc_vec x = gc_cast_mesh_corner(w, g, first), y = gc_ellipsoid_space_point(v, x), m = n;
    gc_real d = -gc_dot(n, y);
    if (g->two_sided && d < GC_R(0.0)) {
        d = -d;
        m = gc_scale(n, GC_R(-1.0));
    }
    if (d < -v->slack) return;
    for (int j = first; j < end; ++j) {
        gc_vec next = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : first);
        gc_vec side = gc_cross(n, gc_ellipsoid_space_vector(v, gc_sub(next, x)));
        if (gc_dot(side, y) > GC_R(0.0)) return;
        x = next;
        y = gc_ellipsoid_space_point(v, x);
    }
    p->kind = GC_FEATURE_FACE;
    p->face = p->number = w->ints[g->source + face];
    gc_contact_planes_tell(w, b, v, g, gc_scale(m, -d), m, d - v->radius, p, to);
}

/* an edge from a to c, or (`one`) a vertex, owned by a face */
GC_FN void gc_contact_planes_rim(
    const gc_cast_scene *w,
    const gc_ball *b,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec a,
    gc_vec c,
    int one,
    GC_GLOBAL const int *own,
    gc_nearby *p,
    gc_plane_list *to)
{
    gc_vec y = gc_ellipsoid_space_point(v, a), e = gc_ellipsoid_space_vector(v, gc_sub(c, a));
    gc_real ee = gc_dot(e, e), away, most;
    if (!one) {
        gc_real f = -gc_dot(y, e) / ee;
        if (f <= GC_R(0.0) || f >= GC_R(1.0)) return;
        y = gc_add(y, gc_scale(e, f));
    }
    away = gc_norm(y);
    if (away <= v->slack) return;
    most = to->reach * w->sizes[GC_CAST_MESH_SIZE_STRIDE * g->mesh + GC_CAST_MESH_SIZE_shrink] + v->slack;
    if (!b->round) most *= b->radius / GC_MIN(GC_MIN(b->radii.x, b->radii.y), b->radii.z);
    if (away - v->radius > most) return;
    p->face = gc_contact_planes_around(
        w, g, v, a, c, one, own[GC_CAST_MESH_EDGE_around], own[GC_CAST_MESH_EDGE_STRIDE + GC_CAST_MESH_EDGE_around]);
    if (p->face < 0) return;
    p->kind = one ? GC_FEATURE_VERTEX : GC_FEATURE_EDGE;
    p->number = own[GC_CAST_MESH_EDGE_source];
    gc_contact_planes_tell(w, b, v, g, y, gc_scale(y, GC_R(-1.0) / away), away - v->radius, p, to);
}

GC_FN void gc_contact_planes_leaf(
    const gc_cast_scene *w,
    const gc_ball *b,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int first,
    int last,
    gc_nearby *p,
    gc_plane_list *to)
{
    int end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_edge);
    for (int face = first; face < last; ++face) gc_contact_planes_face(w, b, g, v, face, p, to);
    for (int k = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_edge); k < end; ++k) {
        gc_vec a = gc_load_vec(w->reals + g->side, 2 * k), c = gc_load_vec(w->reals + g->side, 2 * k + 1);
        gc_contact_planes_rim(w, b, g, v, a, c, 0, w->ints + g->edge + GC_CAST_MESH_EDGE_STRIDE * k, p, to);
    }
    end = gc_cast_mesh_begin(w, g, last, GC_CAST_MESH_FACE_vertex);
    for (int k = gc_cast_mesh_begin(w, g, first, GC_CAST_MESH_FACE_vertex); k < end; ++k) {
        gc_vec a = gc_load_vec(w->reals + g->tip, k);
        gc_contact_planes_rim(w, b, g, v, a, a, 1, w->ints + g->vertex + GC_CAST_MESH_EDGE_STRIDE * k, p, to);
    }
}

/* How much larger the ellipsoid is that holds all places whose planes are within reach: along its shortest axis the plane is
 * as far as the place, along the others nearer. */
GC_FN gc_real gc_contact_planes_grown(const gc_ball *b, gc_real reach)
{
    return GC_R(1.0) + reach / (b->round ? b->radius : GC_MIN(GC_MIN(b->radii.x, b->radii.y), b->radii.z));
}

/* one body, with a stack from n on */
GC_FN void gc_contact_planes_body(
    const gc_cast_scene *w,
    const gc_ball *b,
    int body,
    int *stack,
    gc_raster *when,
    int n,
    gc_nearby *p,
    gc_plane_list *to)
{
    int base = n, shape = w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_shape];
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * shape;
    gc_vec still = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_real low[3], high[3], more;
    gc_cast_mesh g;
    gc_ellipsoid_space v;
    gc_ray_box d;
    gc_ellipsoid_space_make(w, b, body, &v);
    for (int k = 0; k < 3; ++k) {
        low[k] = size[GC_CAST_MESH_SIZE_low + k];
        high[k] = size[GC_CAST_MESH_SIZE_high + k];
    }
    more = gc_contact_planes_grown(b, to->reach);
    v.sides = gc_make(v.sides.x * more + v.slack, v.sides.y * more + v.slack, v.sides.z * more + v.slack);
    if (!gc_ray_box_make(v.centre, still, v.sides, low, high, GC_R(1.0), &d)) return;
    gc_cast_mesh_load(w, shape, &g);
    p->body = body;
    stack[n] = 0;
    when[n++] = GC_F(0.0);
    while (n > base) {
        gc_raster times[GC_BVH8_KIDS];
        int kid = 0, leaf, first;
        while (n > base) { /* nodes until a leaf is next, so that lanes have leaves together */
            kid = stack[--n];
            if (kid < 0) break;
            gc_ray_box_look(&d, w->nodes + g.node + GC_BVH8_STRIDE * kid, gc_ray_box_time(&d, GC_R(1.0)), times);
            n = gc_bvh8_push(w->ints + g.kid + GC_BVH8_KIDS * kid, times, stack, when, n);
        }
        if (kid >= 0) return;
        leaf = -1 - kid;
        first = leaf >> GC_BVH8_LEAF;
        gc_contact_planes_leaf(w, b, &g, &v, first, first + (leaf & ((1 << GC_BVH8_LEAF) - 1)) + 1, p, to);
    }
}

/* all bodies, where they are at the ball's moment */
GC_FN void gc_contact_planes_world(const gc_cast_scene *w, const gc_ball *b, int query, gc_plane_list *to)
{
    int stack[2 * GC_BVH8_STACK];
    gc_raster when[2 * GC_BVH8_STACK];
    GC_GLOBAL const gc_real *frame = w->frame;
    gc_real low[3], high[3], shrink = frame[GC_CAST_SCENE_shrink], axes[9];
    gc_vec sides, still = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_nearby p;
    gc_ray_box d;
    int n = 0;
    p.query = query;
    for (int k = 0; k < 3; ++k) {
        low[k] = frame[GC_CAST_SCENE_low + k];
        high[k] = frame[GC_CAST_SCENE_high + k];
    }
    if (!b->round) gc_ball_axes(b, gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0)), axes);
    sides = gc_scale(gc_ball_sides(b, axes), shrink * gc_contact_planes_grown(b, to->reach));
    if (!gc_ray_box_make(gc_cast_in_tree(w, query, b->start), still, sides, low, high, GC_R(1.0), &d)) return;
    stack[0] = 0;
    when[n++] = GC_F(0.0);
    while (n > 0) {
        gc_raster times[GC_BVH8_KIDS];
        int kid = 0, leaf, first, count;
        while (n > 0) {
            kid = stack[--n];
            if (kid < 0) break;
            gc_ray_box_look(&d, w->crowds + GC_BVH8_STRIDE * kid, gc_ray_box_time(&d, GC_R(1.0)), times);
            n = gc_bvh8_push(w->crowd_kids + GC_BVH8_KIDS * kid, times, stack, when, n);
        }
        if (kid >= 0) return;
        leaf = -1 - kid;
        first = leaf >> GC_BVH8_LEAF;
        count = (leaf & ((1 << GC_BVH8_LEAF) - 1)) + 1;
        for (int k = first; k < first + count; ++k) {
            int body = w->order[2 * k];
            if (w->rules && !gc_cast_meets(w, query, k)) continue;
            gc_contact_planes_body(w, b, body, stack, when, n, &p, to);
        }
    }
}

#endif
