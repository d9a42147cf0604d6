/* gc_frustum_near.h: a mesh M and a cylinder or a cone K: what of M is near, and whether K meets it.
 * needs: clearance/gc_frustum_seen.h narrow_phase/contact/gc_frusta.h
 *
 * All is in M's coordinates. The tree of M's faces is implicit: node j of a level is above nodes 2 j and 2 j + 1. Source: docs/decisions/0146.
 */
#ifndef GC_FRUSTUM_NEAR_H
#define GC_FRUSTUM_NEAR_H

/* a mesh beside what gc_patch.h has of it: where the numbers of its tree begin */
#define GC_FRUSTUM_MESH_STRIDE 6
#define GC_FRUSTUM_MESH_COLUMNS(ONE, MANY, X) \
    ONE(X, kind)   /* GC_FRUSTUM_CONVEX or GC_FRUSTUM_SOLID, GC_FRUSTUM_TWO_SIDED, GC_FRUSTUM_THIN */ \
    ONE(X, edges)  /* how many */ \
    ONE(X, order)  /* ints: faces of the leaves */ \
    ONE(X, reflex) /* ints: of each edge, 1 if it is */ \
    ONE(X, nodes)  /* reals: boxes, six numbers each, level by level from the leaves up */ \
    ONE(X, top)    /* level of the root */
GC_RECORD(GC_FRUSTUM_MESH)
#define GC_FRUSTUM_CONVEX 3
#define GC_FRUSTUM_SOLID 1
#define GC_FRUSTUM_TWO_SIDED 4
#define GC_FRUSTUM_THIN 8 /* a point or a line, without faces */

/* in sizes: places and directions beside a border count for what is smaller than this; the larger feature takes them */
#define GC_FRUSTUM_BESIDE GC_R(1e-9)
/* in sizes of K: what is as near is looked at at once; of what is deeper in M more */
#define GC_FRUSTUM_SLACK GC_R(0.01)

typedef struct {
    const gc_patch_body *body;
    GC_GLOBAL const int *form; /* GC_FRUSTUM_MESH */
    gc_posed_frustum frustum;
    gc_frustum_list list;
    gc_vec box[2];  /* around K and what is near it */
    gc_real within; /* beside borders */
    gc_real slack;  /* how far from K the box is */
    int all;        /* whatever is far is looked at as well */
    int fine;       /* what is deep in each other has more directions that are the best of theirs */
    int apart;      /* is there a direction along which they are farther apart than is asked? */
} gc_frustum_query;

GC_FN int gc_frustum_faces(const gc_frustum_query *q)
{
    return q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_THIN ? 0 : q->body->form[GC_PATCH_MESH_faces];
}

/* ---- what is near ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    int level, at;
} gc_frustum_walk;

/* the next leaf whose box meets K's; -1: no more */
GC_FN int gc_frustum_next(const gc_frustum_query *q, gc_frustum_walk *w)
{
    int faces = gc_frustum_faces(q), top = q->form[GC_FRUSTUM_MESH_top];
    for (;;) {
        int begin = 0, meets = 1;
        GC_GLOBAL const gc_real *b;
        if (w->at < 0) { /* behind the last one */
            w->level = top;
            w->at = 0;
        } else {
            while (w->level < top && (w->at & 1)) {
                w->at >>= 1;
                w->level += 1;
            }
            if (w->level >= top) return -1;
            w->at += 1;
        }
        for (;;) {
            int count = (faces + (1 << w->level) - 1) >> w->level;
            if (w->at >= count) break;
            begin = 0;
            for (int l = 0; l < w->level; ++l) begin += (faces + (1 << l) - 1) >> l;
            b = q->body->reals + q->form[GC_FRUSTUM_MESH_nodes] + 6 * (gc_long)(begin + w->at);
            meets = q->all
                    || (b[0] <= q->box[1].x && b[1] <= q->box[1].y && b[2] <= q->box[1].z && b[3] >= q->box[0].x
                        && b[4] >= q->box[0].y && b[5] >= q->box[0].z);
            if (!meets) break;
            if (w->level == 0) return q->body->ints[q->form[GC_FRUSTUM_MESH_order] + w->at];
            w->level -= 1;
            w->at *= 2;
        }
    }
}

GC_FN gc_frustum_walk gc_frustum_walk_from(void)
{
    gc_frustum_walk w;
    w.level = 0;
    w.at = -1;
    return w;
}

GC_FN int gc_frustum_may_near(const gc_frustum_query *q, gc_vec a, gc_vec b)
{
    return q->all
           || (GC_MIN(a.x, b.x) <= q->box[1].x && GC_MAX(a.x, b.x) >= q->box[0].x && GC_MIN(a.y, b.y) <= q->box[1].y
               && GC_MAX(a.y, b.y) >= q->box[0].y && GC_MIN(a.z, b.z) <= q->box[1].z && GC_MAX(a.z, b.z) >= q->box[0].z);
}

GC_FN int gc_frustum_edge_end(const gc_frustum_query *q, int edge, int k)
{
    return gc_flat_at(q->body, GC_PATCH_MESH_ends, 2 * edge + k);
}

/* a loop of M as it is seen along the list's axes */
GC_FN void gc_frustum_loop(const gc_frustum_query *q, int number, gc_patch_view *view, gc_patch_loop *l)
{
    view->x = q->list.axes[0];
    view->y = q->list.axes[1];
    view->z = q->list.axes[2];
    view->shift = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_patch_loop_of(q->body, view, number, l);
}

/* ---- do K and a feature meet? ------------------------------------------------------------------------------------------------ */

GC_LARGE int gc_frustum_meets(const gc_frustum_query *q, const gc_frustum *f, int what, int number, gc_real tol)
{
    gc_real share;
    int flat;
    if (what == GC_PATCH_VERTEX) return gc_frustum_point(f, gc_flat_vertex(q->body, number)).d < -tol;
    if (what == GC_PATCH_EDGE) {
        gc_vec a = gc_flat_vertex(q->body, gc_frustum_edge_end(q, number, 0)), e;
        e = gc_sub(gc_flat_vertex(q->body, gc_frustum_edge_end(q, number, 1)), a);
        if (gc_frustum_segment(f, a, e, &share, &flat).d < -tol) return 1;
        /* along the axis directions are rounding: what is nearest to the middle */
        share = gc_dot(e, gc_sub(gc_add(f->low, gc_scale(f->axis, GC_R(0.5) * f->length)), a)) / gc_dot(e, e);
        share = GC_MIN(GC_MAX(share, GC_R(0.0)), GC_R(1.0));
        return gc_frustum_point(f, gc_add(a, gc_scale(e, share))).d < -tol;
    } else {
        gc_vec n = gc_flat_normal(q->body, number), back = gc_opposite(n);
        int begin = gc_flat_at(q->body, GC_PATCH_MESH_face_start, number);
        int end = gc_flat_at(q->body, GC_PATCH_MESH_face_start, number + 1), inside = 1;
        gc_vec low = gc_frustum_lowest(f, gc_frustum_lower(f, n), n),
               high = gc_frustum_lowest(f, gc_frustum_lower(f, back), back);
        gc_vec corner = gc_flat_vertex(q->body, gc_flat_at(q->body, GC_PATCH_MESH_corner, begin)), p;
        gc_real below = gc_dot(n, gc_sub(low, corner)), above = gc_dot(n, gc_sub(high, corner));
        if (!(below < -tol && above > tol)) return 0;
        p = gc_frustum_along(low, high, below / (below - above));
        for (int k = begin; k < end; ++k) {
            gc_vec a = gc_flat_vertex(q->body, gc_flat_at(q->body, GC_PATCH_MESH_corner, k));
            gc_vec e = gc_sub(
                gc_flat_vertex(q->body, gc_flat_at(q->body, GC_PATCH_MESH_corner, k + 1 < end ? k + 1 : begin)), a);
            if (gc_dot(gc_cross(n, e), gc_sub(p, a)) < GC_R(0.0)) inside = 0;
            if (gc_frustum_segment(f, a, e, &share, &flat).d < -tol) return 1;
        }
        return inside;
    }
}

#endif
