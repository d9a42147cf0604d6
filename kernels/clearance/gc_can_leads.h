/* gc_can_leads.h: the directions along which a cylinder or a cone K is nearest to features of a mesh M, or overlaps them the least.
 * needs: clearance/gc_can_seen.h narrow_phase/contact/gc_frusta.h
 *
 * Along n from M to K the gap is G(n) = n . (lowest point of K) - n . (feature of M). Of a face n is its normal. Of an edge n goes around it,
 * between the normals of its faces: G is greatest where its slope changes sign. Of a vertex n is that of K's signed distance, inside of K that
 * of a disc or of the side. A feature counts if K's lowest point is over it. Source: docs/decisions/0146.
 */
#ifndef GC_CAN_LEADS_H
#define GC_CAN_LEADS_H

/* a mesh beside what gc_patch.h has of it: where the numbers of its tree begin */
#define GC_CAN_MESH_STRIDE 6
#define GC_CAN_MESH_COLUMNS(ONE, MANY, X) \
    ONE(X, kind)    /* GC_CAN_CONVEX or GC_CAN_SOLID, GC_CAN_TWO_SIDED, GC_CAN_THIN */ \
    ONE(X, edges)   /* how many */ \
    ONE(X, order)   /* ints: faces of the leaves */ \
    ONE(X, reflex)  /* ints: of each edge, 1 if it is */ \
    ONE(X, nodes)   /* reals: boxes, six numbers each, level by level from the leaves up */ \
    ONE(X, top)     /* level of the root */
GC_RECORD(GC_CAN_MESH)
#define GC_CAN_CONVEX 3
#define GC_CAN_SOLID 1
#define GC_CAN_TWO_SIDED 4
#define GC_CAN_THIN 8 /* a point or a line, without faces */

/* in sizes: places and directions beside a border count for what is smaller than this; the larger feature takes them */
#define GC_CAN_BESIDE GC_R(1e-9)
/* ... what is as near is looked at at once; of what is deeper in M more */
#define GC_CAN_SLACK GC_R(0.01)

typedef struct {
    const gc_patch_body *body;
    GC_GLOBAL const int *form; /* GC_CAN_MESH */
    gc_can can;
    gc_can_list list;
    gc_vec box[2];  /* around K and what is near it */
    gc_real within; /* beside borders */
    gc_real slack;  /* how far from K the box is */
    int all;        /* whatever is far is looked at as well */
    int fine;       /* what is deep in each other has more directions that are the best of theirs */
    int apart;      /* is there a direction along which they are farther apart than is asked? */
} gc_can_query;

GC_FN int gc_can_faces(const gc_can_query *q)
{
    return q->form[GC_CAN_MESH_kind] & GC_CAN_THIN ? 0 : q->body->form[GC_PATCH_MESH_faces];
}

/* ---- what is near ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    int level, at;
} gc_can_walk;

/* the next leaf whose box meets K's; -1: no more */
GC_FN int gc_can_next(const gc_can_query *q, gc_can_walk *w)
{
    int faces = gc_can_faces(q), top = q->form[GC_CAN_MESH_top];
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
            b = q->body->reals + q->form[GC_CAN_MESH_nodes] + 6 * (gc_long)(begin + w->at);
            meets = q->all
                    || (b[0] <= q->box[1].x && b[1] <= q->box[1].y && b[2] <= q->box[1].z && b[3] >= q->box[0].x
                        && b[4] >= q->box[0].y && b[5] >= q->box[0].z);
            if (!meets) break;
            if (w->level == 0) return q->body->ints[q->form[GC_CAN_MESH_order] + w->at];
            w->level -= 1;
            w->at *= 2;
        }
    }
}

GC_FN gc_can_walk gc_can_walk_from(void)
{
    gc_can_walk w;
    w.level = 0;
    w.at = -1;
    return w;
}

GC_FN int gc_can_near(const gc_can_query *q, gc_vec a, gc_vec b)
{
    return q->all
           || (GC_MIN(a.x, b.x) <= q->box[1].x && GC_MAX(a.x, b.x) >= q->box[0].x && GC_MIN(a.y, b.y) <= q->box[1].y
               && GC_MAX(a.y, b.y) >= q->box[0].y && GC_MIN(a.z, b.z) <= q->box[1].z && GC_MAX(a.z, b.z) >= q->box[0].z);
}

GC_FN int gc_can_end(const gc_can_query *q, int edge, int k)
{
    return gc_flat_at(q->body, GC_PATCH_MESH_ends, 2 * edge + k);
}

/* a loop of M as it is seen along the list's axes */
GC_FN void gc_can_loop(const gc_can_query *q, int number, gc_patch_view *view, gc_patch_loop *l)
{
    view->x = q->list.axes[0];
    view->y = q->list.axes[1];
    view->z = q->list.axes[2];
    view->shift = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_patch_loop_of(q->body, view, number, l);
}

/* ---- do K and a feature meet? ------------------------------------------------------------------------------------------------ */

GC_LARGE int gc_can_meets(const gc_can_query *q, const gc_frustum *f, int what, int number, gc_real tol)
{
    gc_real share;
    int flat;
    if (what == GC_PATCH_VERTEX) return gc_frustum_point(f, gc_flat_vertex(q->body, number)).d < -tol;
    if (what == GC_PATCH_EDGE) {
        gc_vec a = gc_flat_vertex(q->body, gc_can_end(q, number, 0));
        return gc_frustum_segment(f, a, gc_sub(gc_flat_vertex(q->body, gc_can_end(q, number, 1)), a), &share, &flat).d
               < -tol;
    } else {
        gc_vec n = gc_flat_normal(q->body, number), back = gc_opposite(n);
        int begin = gc_flat_at(q->body, GC_PATCH_MESH_face_start, number);
        int end = gc_flat_at(q->body, GC_PATCH_MESH_face_start, number + 1), inside = 1;
        gc_vec low = gc_frustum_lowest(f, gc_frustum_lower(f, n), n), high = gc_frustum_lowest(f, gc_frustum_lower(f, back), back);
        gc_vec corner = gc_flat_vertex(q->body, gc_flat_at(q->body, GC_PATCH_MESH_corner, begin)), p;
        gc_real below = gc_dot(n, gc_sub(low, corner)), above = gc_dot(n, gc_sub(high, corner));
        if (!(below < -tol && above > tol)) return 0;
        p = gc_can_along(low, high, below / (below - above));
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

/* ---- directions of features -------------------------------------------------------------------------------------------------- */

/* A normal that may count, with its place (kind GC_NO_PLACE: it is all along; then m is what | number << 2) */
GC_FN void gc_can_lead(gc_can_query *q, int kind, int m, int k, gc_real gap, gc_vec on_m, gc_vec on_k, gc_vec n)
{
    gc_can_store(&q->list, kind == GC_NO_PLACE ? GC_CAN_ALONG : GC_CAN_LEADS, kind, m, k, gap, on_m, on_k, n);
}

/* how the corners of a loop of M are, as they are seen along n: the least gap of those from `floor` to the margin */
GC_LARGE gc_real gc_can_least(gc_can_query *q, gc_vec n, int loop, gc_real floor)
{
    gc_patch_view view;
    gc_patch_loop l;
    gc_can_view v;
    gc_can_look(&q->list, n);
    gc_can_loop(q, loop, &view, &l);
    v = gc_can_view_of(&q->list, &q->can, GC_R(1.0));
    q->list.dry = 1;
    q->list.floor = floor;
    q->list.least = GC_R(1e300);
    if (l.is_face) gc_can_face(&q->list, &v, &l, q->within);
    else gc_can_edge(&q->list, &v, &l, q->within);
    q->list.dry = 0;
    return q->list.least;
}

/* of a face, from the side that n leads out of */
GC_FN void gc_can_of_face(gc_can_query *q, int face, gc_vec n, gc_real deep)
{
    const gc_frustum *f = &q->can.f;
    gc_vec corner = gc_flat_vertex(
        q->body,
        gc_flat_at(q->body, GC_PATCH_MESH_corner, gc_flat_at(q->body, GC_PATCH_MESH_face_start, face)));
    gc_vec low = gc_frustum_lowest(f, gc_frustum_lower(f, n), n);
    gc_real gap = gc_dot(n, gc_sub(low, corner));
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin && gap >= -deep)) return;
    if (gc_can_least(q, n, face, GC_R(-1e300)) > gap + GC_CAN_BESIDE * q->list.size) return;
    gc_can_lead(q, GC_NO_PLACE, GC_PATCH_FACE | face << 2, 0, gap, low, low, n);
}

/* the slope of G as n turns about the unit e, towards e x n */
GC_FN gc_real gc_can_slope(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec n)
{
    return gc_dot(gc_cross(e, n), gc_sub(gc_frustum_lowest(f, gc_frustum_lower(f, n), n), a));
}

/* Two directions around an edge at which a flat part of K is across n, its side (0) or a disc (1); how many */
GC_LARGE int gc_can_flats(const gc_frustum *f, gc_vec e, int disc, gc_vec *n)
{
    gc_real dr = f->radius[1] - f->radius[0], along = gc_dot(e, f->axis), slant, c, rest;
    gc_vec flat = gc_sub(e, gc_scale(f->axis, along)), beside;
    gc_real wide = gc_norm(flat);
    if (disc) {
        if (!(GC_ABS(along) <= GC_TOL_PARALLEL)) return 0;
        n[0] = gc_unit(gc_sub(f->axis, gc_scale(e, along)), f->axis);
        n[1] = gc_opposite(n[0]);
        return 2;
    }
    if (!(wide > GC_TOL_PARALLEL)) return 0;
    slant = GC_SQRT(f->length * f->length + dr * dr);
    c = dr * along / (f->length * wide);
    rest = GC_R(1.0) - c * c;
    if (!(rest >= GC_R(0.0))) return 0;
    rest = GC_SQRT(rest);
    flat = gc_scale(flat, GC_R(1.0) / wide);
    beside = gc_cross(f->axis, flat);
    for (int k = 0; k < 2; ++k) {
        gc_vec out = gc_add(gc_scale(flat, c), gc_scale(beside, k ? -rest : rest));
        out = gc_sub(gc_scale(f->axis, dr / slant), gc_scale(out, f->length / slant));
        n[k] = gc_unit(gc_sub(out, gc_scale(e, gc_dot(out, e))), f->axis);
    }
    return 2;
}

/* the slopes of G on either side of such a direction */
GC_FN void gc_can_slopes(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec n, int disc, gc_real *before, gc_real *behind)
{
    gc_vec way = gc_cross(e, n);
    gc_real s;
    if (disc) {
        int end = gc_frustum_lower(f, n);
        s = gc_dot(way, gc_sub(gc_frustum_end(f, end), a));
        *before = s + f->radius[end];
        *behind = s - f->radius[end];
    } else {
        *before = gc_dot(way, gc_sub(gc_frustum_lowest(f, 0, n), a));
        s = gc_dot(way, gc_sub(gc_frustum_lowest(f, 1, n), a));
        *behind = GC_MIN(*before, s);
        *before = GC_MAX(*before, s);
    }
}

/* Where G is greatest between two directions at which its slope has different signs, by regula falsi with halves, and an end that is kept
 * twice at half of its weight */
GC_LARGE gc_vec gc_can_between(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec lo, gc_vec hi, gc_real s_lo, gc_real s_hi)
{
    gc_vec n = lo;
    gc_real x = GC_R(0.0), y = GC_R(1.0), s;
    int kept = 0;
    for (int i = 0; i < 100; ++i) {
        gc_real mid = i % 3 == 2 ? GC_R(0.5) * (x + y) : x + (y - x) * (s_lo / (s_lo - s_hi));
        if (!(mid > x && mid < y)) mid = GC_R(0.5) * (x + y);
        if (mid <= x || mid >= y) break;
        n = gc_unit(gc_can_along(lo, hi, mid), lo);
        s = gc_can_slope(f, a, e, n);
        if (s == GC_R(0.0) || y - x <= GC_R(1e-16)) break;
        if (s > GC_R(0.0)) {
            x = mid;
            s_lo = s;
            if (kept > 0) s_hi *= GC_R(0.5);
            kept = 1;
        } else {
            y = mid;
            s_hi = s;
            if (kept < 0) s_lo *= GC_R(0.5);
            kept = -1;
        }
    }
    return n;
}

/* the place of an edge along n, if K's lowest point is beside it */
GC_LARGE void gc_can_edge_place(gc_can_query *q, int edge, gc_vec a, gc_vec e, gc_real length, gc_vec n, gc_real deep)
{
    const gc_frustum *f = &q->can.f;
    gc_real d0 = gc_frustum_depth(f, 0, n), d1 = gc_frustum_depth(f, 1, n), gap, s, tie = GC_CAN_BESIDE * q->list.size;
    int end = d1 < d0, level = GC_ABS(d1 - d0) <= tie;
    gc_vec p = gc_frustum_lowest(f, end, n);
    gap = gc_dot(n, gc_sub(p, a));
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin && gap >= -deep)) return;
    if (level || gc_norm(gc_cross(n, f->axis)) <= GC_TOL_PARALLEL) {
        int faces = q->body->form[GC_PATCH_MESH_faces];
        if (gc_can_least(q, n, faces + edge, gap - tie) <= gap + tie) {
            gc_can_lead(q, GC_NO_PLACE, GC_PATCH_EDGE | edge << 2, 0, gap, p, p, n);
            return;
        }
        if (level) return;
    }
    s = gc_dot(gc_sub(p, a), e);
    if (!(s >= -q->within && s <= length + q->within)) return;
    gc_can_lead(q, GC_EV, edge, end, gap, gc_add(a, gc_scale(e, s)), gc_add(gc_add(a, gc_scale(e, s)), gc_scale(n, gap)), n);
}

/* Does n lead out of a feature: away from all that is around it? An edge: u across it into its faces; a vertex: along its edges */
GC_LARGE int gc_can_leads_out(const gc_can_query *q, int what, int number, gc_vec n)
{
    const gc_patch_body *b = q->body;
    int column = what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_spoke_start, out = 0;
    int first = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_fan_start, number);
    int last = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_fan_start, number + 1);
    if (what == GC_PATCH_EDGE && !gc_can_faces(q)) return 1;
    for (int k = gc_flat_at(b, column, number); k < gc_flat_at(b, column, number + 1); ++k) {
        gc_vec way;
        if (what == GC_PATCH_EDGE) {
            gc_vec begin = gc_flat_vertex(b, gc_can_end(q, number, 0));
            gc_vec along = gc_sub(gc_flat_vertex(b, gc_can_end(q, number, 1)), begin);
            way = gc_sub(gc_flat_middle(b, gc_flat_at(b, GC_PATCH_MESH_edge_face, k)), begin);
            way = gc_sub(way, gc_scale(along, gc_dot(way, along) / gc_dot(along, along)));
        } else {
            int edge = gc_flat_at(b, GC_PATCH_MESH_spoke, k), far = gc_can_end(q, edge, 0);
            if (far == number) far = gc_can_end(q, edge, 1);
            way = gc_sub(gc_flat_vertex(b, far), gc_flat_vertex(b, number));
        }
        if (!(gc_dot(way, n) <= -GC_CAN_BESIDE * gc_norm(way))) return 0;
    }
    /* in a valley all leads away into the solid */
    if (last - first < 2) return 1;
    for (int k = first; k < last; ++k)
        out |= gc_dot(n, gc_flat_normal(b, gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_face : GC_PATCH_MESH_fan, k)))
               > GC_R(0.0);
    return out;
}

GC_LARGE void gc_can_of_edge(gc_can_query *q, int edge, gc_real deep)
{
    const gc_patch_body *b = q->body;
    gc_vec a = gc_flat_vertex(b, gc_can_end(q, edge, 0)), to = gc_flat_vertex(b, gc_can_end(q, edge, 1)), e, x, n, last, flats[8];
    gc_real length, s_last = GC_R(0.0), before[8], behind[8];
    int n_flats, sides, hard, fine = q->fine;
    int first = gc_flat_at(b, GC_PATCH_MESH_edge_start, edge);
    int faces = gc_flat_at(b, GC_PATCH_MESH_edge_start, edge + 1) - first;
    if (gc_flat_at(b, GC_PATCH_MESH_flat, edge) || !gc_can_near(q, a, to)) return;
    if (b->ints[q->form[GC_CAN_MESH_reflex] + edge]) return;
    e = gc_sub(to, a);
    length = gc_norm(e);
    if (!(length > GC_R(0.0))) return;
    e = gc_scale(e, GC_R(1.0) / length);
    x = faces ? gc_flat_normal(b, gc_flat_at(b, GC_PATCH_MESH_edge_face, first)) : gc_across(e);
    x = gc_unit(gc_sub(x, gc_scale(e, gc_dot(e, x))), gc_across(e));
    /* where a flat part of K is across, its slope jumps */
    n_flats = gc_can_flats(&q->can.f, e, 0, flats);
    sides = n_flats;
    n_flats += gc_can_flats(&q->can.f, e, 1, flats + n_flats);
    hard = n_flats;
    if (hard == sides) { /* beside a disc that is nearly across it falls fast */
        gc_real along = gc_dot(e, q->can.f.axis), wide;
        n = gc_sub(q->can.f.axis, gc_scale(e, along));
        wide = gc_norm(n);
        n = wide > GC_TOL_PARALLEL ? gc_scale(n, GC_R(1.0) / wide) : x;
        for (int k = 0; k < 6 && wide > GC_TOL_PARALLEL; ++k) {
            gc_vec m = gc_add(n, gc_scale(gc_cross(e, n), (gc_real)(k % 3 - 1) * GC_R(3.0) * along / wide));
            m = gc_unit(k < 3 ? m : gc_opposite(m), n);
            flats[n_flats] = m;
            before[n_flats] = behind[n_flats] = gc_can_slope(&q->can.f, a, e, m);
            n_flats += 1;
        }
    }
    for (int k = 0; k < hard; ++k) {
        gc_can_slopes(&q->can.f, a, e, flats[k], k >= sides, &before[k], &behind[k]);
        if (behind[k] <= GC_R(0.0) && before[k] >= GC_R(0.0) && gc_can_leads_out(q, GC_PATCH_EDGE, edge, flats[k]))
            gc_can_edge_place(q, edge, a, e, length, flats[k], deep);
    }
    last = x;
    n = x;
    for (int k = 0; k <= (fine ? 64 : 16); ++k) {
        gc_real s = gc_can_slope(&q->can.f, a, e, n);
        if (k > 0) {
            /* the pieces between flat parts are smooth */
            gc_vec low = last;
            gc_real s_low = s_last;
            for (;;) {
                gc_vec high = n, found;
                gc_real s_high = s;
                int next = -1;
                for (int j = 0; j < n_flats; ++j)
                    if (gc_dot(gc_cross(low, flats[j]), e) > GC_R(0.0) && gc_dot(gc_cross(flats[j], high), e) > GC_R(0.0)) {
                        high = flats[j];
                        s_high = before[j];
                        next = j;
                    }
                if (s_low > GC_R(0.0) && s_high <= GC_R(0.0)) {
                    found = gc_can_between(&q->can.f, a, e, low, high, s_low, s_high);
                    if (gc_can_leads_out(q, GC_PATCH_EDGE, edge, found)) gc_can_edge_place(q, edge, a, e, length, found, deep);
                }
                if (next < 0) break;
                low = flats[next];
                s_low = behind[next];
            }
        }
        last = n;
        s_last = s;
        /* on by a 16th, or a 64th, of a turn */
        n = fine ? gc_add(gc_scale(last, GC_R(0.99518472667219689)), gc_scale(gc_cross(e, last), GC_R(0.098017140329560602)))
                 : gc_add(gc_scale(last, GC_R(0.92387953251128674)), gc_scale(gc_cross(e, last), GC_R(0.38268343236508977)));
    }
}

GC_FN void gc_can_vertex_place(gc_can_query *q, int vertex, gc_vec n, gc_real gap, int part, gc_real deep)
{
    gc_vec at = gc_flat_vertex(q->body, vertex);
    if (!(gap >= -deep) || !gc_can_leads_out(q, GC_PATCH_VERTEX, vertex, n)) return;
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin)) return;
    gc_can_lead(
        q, part == GC_PART_SIDE ? GC_VE : GC_VV, vertex, part == GC_PART_SIDE ? 0 : part, gap, at, gc_add(at, gc_scale(n, gap)), n);
}

GC_LARGE void gc_can_of_vertex(gc_can_query *q, int vertex, gc_real deep)
{
    const gc_frustum *f = &q->can.f;
    gc_vec at = gc_flat_vertex(q->body, vertex), out;
    gc_frustum_near to;
    gc_real rho, z, dr = f->radius[1] - f->radius[0], slant = GC_SQRT(f->length * f->length + dr * dr), side, along;
    if (!gc_can_near(q, at, at)) return;
    to = gc_frustum_point(f, at);
    if (to.d > GC_R(0.0)) {
        gc_can_vertex_place(q, vertex, gc_opposite(to.n), to.d, to.part, deep);
    }
    /* behind each end, and the side */
    out = gc_frustum_out(f, at, &rho, &z);
    if (!(rho > GC_TOL_TOUCH * q->list.size)) out = gc_across(f->axis); /* what is left of it is rounding */
    side = ((rho - f->radius[0]) * f->length - z * dr) / slant;
    along = (rho - f->radius[0]) * dr + z * f->length;
    if (rho <= f->radius[0] && z >= GC_R(0.0)) gc_can_vertex_place(q, vertex, f->axis, -z, 0, deep);
    if (rho <= f->radius[1] && z <= f->length) gc_can_vertex_place(q, vertex, gc_opposite(f->axis), z - f->length, 1, deep);
    if (side <= GC_R(0.0) && along >= GC_R(0.0) && along <= slant * slant)
        gc_can_vertex_place(
            q, vertex, gc_sub(gc_scale(f->axis, dr / slant), gc_scale(out, f->length / slant)), side, GC_PART_SIDE, deep);
}

/* all that count, at most so deep */
GC_LARGE void gc_can_find(gc_can_query *q, gc_real deep)
{
    const gc_patch_body *b = q->body;
    int faces = gc_can_faces(q), face;
    gc_can_walk w = gc_can_walk_from();
    if (faces == 0) {
        for (int k = 0; k < q->form[GC_CAN_MESH_edges]; ++k) gc_can_of_edge(q, k, deep);
        for (int k = 0; k < b->form[GC_PATCH_MESH_vertices]; ++k) gc_can_of_vertex(q, k, deep);
        return;
    }
    for (face = gc_can_next(q, &w); face >= 0; face = gc_can_next(q, &w)) {
        gc_vec n = gc_flat_normal(b, face);
        gc_can_of_face(q, face, n, deep);
        if (q->form[GC_CAN_MESH_kind] & GC_CAN_TWO_SIDED)
            gc_can_of_face(q, face, gc_opposite(n), GC_OVERLAP_DEPTH * q->list.size);
        /* edges and vertices with the first of their faces */
        for (int k = gc_flat_at(b, GC_PATCH_MESH_face_start, face); k < gc_flat_at(b, GC_PATCH_MESH_face_start, face + 1); ++k) {
            int edge = gc_flat_at(b, GC_PATCH_MESH_side, k), vertex = gc_flat_at(b, GC_PATCH_MESH_corner, k);
            if (gc_flat_at(b, GC_PATCH_MESH_edge_face, gc_flat_at(b, GC_PATCH_MESH_edge_start, edge)) == face)
                gc_can_of_edge(q, edge, deep);
            if (gc_flat_at(b, GC_PATCH_MESH_fan, gc_flat_at(b, GC_PATCH_MESH_fan_start, vertex)) == face)
                gc_can_of_vertex(q, vertex, deep);
        }
    }
}

#endif
