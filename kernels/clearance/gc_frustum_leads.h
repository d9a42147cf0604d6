/* gc_frustum_leads.h: the directions along which a cylinder or a cone K is nearest to features of a mesh M, or overlaps them the least.
 * needs: clearance/gc_frustum_near.h
 *
 * Along n from M to K the gap is G(n) = n . (lowest point of K) - n . (feature of M). Of a face n is its normal. Of an edge n goes around it,
 * between the normals of its faces: G is greatest where its slope changes sign. Of a vertex n is that of K's signed distance, inside of K that
 * of a disc or of the side. A feature counts if K's lowest point is over it. Source: docs/decisions/0146.
 */
#ifndef GC_FRUSTUM_LEADS_H
#define GC_FRUSTUM_LEADS_H

/* ---- directions of features -------------------------------------------------------------------------------------------------- */

/* A normal that may count, with its place (kind GC_NO_PLACE: it is all along; then m is what | number << 2) */
GC_FN void gc_frustum_lead(gc_frustum_query *q, int kind, int m, int k, gc_real gap, gc_vec on_m, gc_vec on_k, gc_vec n)
{
    gc_frustum_store(&q->list, kind == GC_NO_PLACE ? GC_FRUSTUM_ALONG : GC_FRUSTUM_LEADS, kind, m, k, gap, on_m, on_k, n);
}

/* how the corners of a loop of M are, as they are seen along n: the least gap of those from `floor` to the margin */
GC_LARGE gc_real gc_frustum_least(gc_frustum_query *q, gc_vec n, int loop, gc_real floor)
{
    gc_patch_view view;
    gc_patch_loop l;
    gc_frustum_view v;
    gc_frustum_look(&q->list, n);
    gc_frustum_loop(q, loop, &view, &l);
    v = gc_frustum_view_of(&q->list, &q->frustum, GC_R(1.0));
    q->list.dry = 1;
    q->list.floor = floor;
    q->list.least = GC_FRUSTUM_FAR;
    if (l.is_face) gc_frustum_face(&q->list, &v, &l, q->within);
    else gc_frustum_edge(&q->list, &v, &l, q->within);
    q->list.dry = 0;
    return q->list.least;
}

/* of a face, from the side that n leads out of */
GC_FN void gc_frustum_of_face(gc_frustum_query *q, int face, gc_vec n, gc_real deep)
{
    const gc_frustum *f = &q->frustum.f;
    gc_vec corner = gc_flat_vertex(
        q->body, gc_flat_at(q->body, GC_PATCH_MESH_corner, gc_flat_at(q->body, GC_PATCH_MESH_face_start, face)));
    gc_vec low = gc_frustum_lowest(f, gc_frustum_lower(f, n), n);
    gc_real gap = gc_dot(n, gc_sub(low, corner));
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin && gap >= -deep)) return;
    if (gc_frustum_least(q, n, face, -GC_FRUSTUM_FAR) > gap + GC_FRUSTUM_BESIDE * q->list.size) return;
    gc_frustum_lead(q, GC_NO_PLACE, GC_PATCH_FACE | face << 2, 0, gap, low, low, n);
}

/* the slope of G as n turns about the unit e, towards e x n */
GC_FN gc_real gc_frustum_slope(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec n)
{
    return gc_dot(gc_cross(e, n), gc_sub(gc_frustum_lowest(f, gc_frustum_lower(f, n), n), a));
}

/* Two directions around an edge at which a flat part of K is across n, its side (0) or a disc (1); how many */
GC_LARGE int gc_frustum_flats(const gc_frustum *f, gc_vec e, int disc, gc_vec *n)
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
GC_FN void gc_frustum_slopes(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec n, int disc, gc_real *before, gc_real *behind)
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
GC_LARGE gc_vec gc_frustum_between(const gc_frustum *f, gc_vec a, gc_vec e, gc_vec lo, gc_vec hi, gc_real s_lo, gc_real s_hi)
{
    gc_vec n = lo;
    gc_real x = GC_R(0.0), y = GC_R(1.0), s;
    int kept = 0;
    for (int i = 0; i < 100; ++i) {
        gc_real mid = i % 3 == 2 ? GC_R(0.5) * (x + y) : x + (y - x) * (s_lo / (s_lo - s_hi));
        if (!(mid > x && mid < y)) mid = GC_R(0.5) * (x + y);
        if (mid <= x || mid >= y) break;
        n = gc_unit(gc_frustum_along(lo, hi, mid), lo);
        s = gc_frustum_slope(f, a, e, n);
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
GC_LARGE void gc_frustum_edge_place(
    gc_frustum_query *q,
    int edge,
    gc_vec a,
    gc_vec e,
    gc_real length,
    gc_vec n,
    gc_real deep)
{
    const gc_frustum *f = &q->frustum.f;
    gc_real d0 = gc_frustum_depth(f, 0, n), d1 = gc_frustum_depth(f, 1, n), gap, s, tie = GC_FRUSTUM_BESIDE * q->list.size;
    int end = d1 < d0, level = GC_ABS(d1 - d0) <= tie;
    gc_vec p = gc_frustum_lowest(f, end, n);
    gap = gc_dot(n, gc_sub(p, a));
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin && gap >= -deep)) return;
    if (level || gc_norm(gc_cross(n, f->axis)) <= GC_TOL_PARALLEL) {
        int faces = q->body->form[GC_PATCH_MESH_faces];
        if (gc_frustum_least(q, n, faces + edge, gap - tie) <= gap + tie) {
            gc_frustum_lead(q, GC_NO_PLACE, GC_PATCH_EDGE | edge << 2, 0, gap, p, p, n);
            return;
        }
        if (level) return;
    }
    s = gc_dot(gc_sub(p, a), e);
    if (!(s >= -q->within && s <= length + q->within)) return;
    gc_frustum_lead(
        q, GC_EV, edge, end, gap, gc_add(a, gc_scale(e, s)), gc_add(gc_add(a, gc_scale(e, s)), gc_scale(n, gap)), n);
}

/* Does n lead out of a feature: away from all that is around it? An edge: u across it into its faces; a vertex: along its edges */
GC_LARGE int gc_frustum_leads_out(const gc_frustum_query *q, int what, int number, gc_vec n)
{
    const gc_patch_body *b = q->body;
    int column = what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_spoke_start, out = 0;
    int first = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_fan_start, number);
    int last = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_fan_start, number + 1);
    if (what == GC_PATCH_EDGE && !gc_frustum_faces(q)) return 1;
    for (int k = gc_flat_at(b, column, number); k < gc_flat_at(b, column, number + 1); ++k) {
        gc_vec way;
        if (what == GC_PATCH_EDGE) {
            gc_vec begin = gc_flat_vertex(b, gc_frustum_edge_end(q, number, 0));
            gc_vec along = gc_sub(gc_flat_vertex(b, gc_frustum_edge_end(q, number, 1)), begin);
            way = gc_sub(gc_flat_middle(b, gc_flat_at(b, GC_PATCH_MESH_edge_face, k)), begin);
            way = gc_sub(way, gc_scale(along, gc_dot(way, along) / gc_dot(along, along)));
        } else {
            int edge = gc_flat_at(b, GC_PATCH_MESH_spoke, k), far = gc_frustum_edge_end(q, edge, 0);
            if (far == number) far = gc_frustum_edge_end(q, edge, 1);
            way = gc_sub(gc_flat_vertex(b, far), gc_flat_vertex(b, number));
        }
        if (!(gc_dot(way, n) <= -GC_FRUSTUM_BESIDE * gc_norm(way))) return 0;
    }
    /* in a valley all leads away into the solid */
    if (last - first < 2) return 1;
    for (int k = first; k < last; ++k)
        out |= gc_dot(
                   n,
                   gc_flat_normal(b, gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_face : GC_PATCH_MESH_fan, k)))
               > GC_R(0.0);
    return out;
}

GC_LARGE void gc_frustum_of_edge(gc_frustum_query *q, int edge, gc_real deep)
{
    const gc_patch_body *b = q->body;
    gc_vec a = gc_flat_vertex(b, gc_frustum_edge_end(q, edge, 0)), to = gc_flat_vertex(b, gc_frustum_edge_end(q, edge, 1)),
           e, x, n, last, flats[8];
    gc_real length, s_last = GC_R(0.0), before[8], behind[8];
    int n_flats, sides, hard, steep = 0, fine = q->fine;
    int first = gc_flat_at(b, GC_PATCH_MESH_edge_start, edge);
    int faces = gc_flat_at(b, GC_PATCH_MESH_edge_start, edge + 1) - first;
    if (gc_flat_at(b, GC_PATCH_MESH_flat, edge) || !gc_frustum_may_near(q, a, to)) return;
    if (b->ints[q->form[GC_FRUSTUM_MESH_reflex] + edge]) return;
    e = gc_sub(to, a);
    length = gc_norm(e);
    if (!(length > GC_R(0.0))) return;
    e = gc_scale(e, GC_R(1.0) / length);
    x = faces ? gc_flat_normal(b, gc_flat_at(b, GC_PATCH_MESH_edge_face, first)) : gc_across(e);
    x = gc_unit(gc_sub(x, gc_scale(e, gc_dot(e, x))), gc_across(e));
    /* where a flat part of K is across, its slope jumps */
    n_flats = gc_frustum_flats(&q->frustum.f, e, 0, flats);
    sides = n_flats;
    n_flats += gc_frustum_flats(&q->frustum.f, e, 1, flats + n_flats);
    hard = n_flats;
    if (hard == sides) { /* beside a disc that is nearly across it falls fast */
        gc_real along = gc_dot(e, q->frustum.f.axis), wide;
        n = gc_sub(q->frustum.f.axis, gc_scale(e, along));
        wide = gc_norm(n);
        n = wide > GC_TOL_PARALLEL ? gc_scale(n, GC_R(1.0) / wide) : x;
        for (int k = 0; k < 6 && wide > GC_TOL_PARALLEL; ++k) {
            gc_vec m = gc_add(n, gc_scale(gc_cross(e, n), (gc_real)(k % 3 - 1) * GC_R(3.0) * along / wide));
            m = gc_unit(k < 3 ? m : gc_opposite(m), n);
            flats[n_flats] = m;
            before[n_flats] = behind[n_flats] = gc_frustum_slope(&q->frustum.f, a, e, m);
            n_flats += 1;
        }
    }
    for (int k = 0; k < hard; ++k) {
        gc_frustum_slopes(&q->frustum.f, a, e, flats[k], k >= sides, &before[k], &behind[k]);
        if (behind[k] <= GC_R(0.0) && before[k] >= GC_R(0.0) && gc_frustum_leads_out(q, GC_PATCH_EDGE, edge, flats[k]))
            gc_frustum_edge_place(q, edge, a, e, length, flats[k], deep);
    }
    last = x;
    n = x;
    for (int k = 0; k <= (fine ? 64 : 16); ++k) {
        gc_real s = gc_frustum_slope(&q->frustum.f, a, e, n);
        steep |= GC_ABS(s) > GC_TOL_TOUCH * q->list.size;
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
                    found = gc_frustum_between(&q->frustum.f, a, e, low, high, s_low, s_high);
                    if (gc_frustum_leads_out(q, GC_PATCH_EDGE, edge, found))
                        gc_frustum_edge_place(q, edge, a, e, length, found, deep);
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
    /* of a line along K's axis each is as good */
    if (!steep && gc_frustum_leads_out(q, GC_PATCH_EDGE, edge, x)) gc_frustum_edge_place(q, edge, a, e, length, x, deep);
}

GC_FN void gc_frustum_vertex_place(gc_frustum_query *q, int vertex, gc_vec n, gc_real gap, int part, gc_real deep)
{
    gc_vec at = gc_flat_vertex(q->body, vertex);
    if (!(gap >= -deep) || !gc_frustum_leads_out(q, GC_PATCH_VERTEX, vertex, n)) return;
    if (gap > q->list.margin) q->apart = 1;
    if (!(gap <= q->list.margin)) return;
    gc_frustum_lead(
        q, part == GC_PART_SIDE ? GC_VE : GC_VV, vertex, part == GC_PART_SIDE ? 0 : part, gap, at,
        gc_add(at, gc_scale(n, gap)), n);
}

GC_LARGE void gc_frustum_of_vertex(gc_frustum_query *q, int vertex, gc_real deep)
{
    const gc_frustum *f = &q->frustum.f;
    gc_vec at = gc_flat_vertex(q->body, vertex), out;
    gc_frustum_near to;
    gc_real rho, z, dr = f->radius[1] - f->radius[0], slant = GC_SQRT(f->length * f->length + dr * dr), side, along;
    if (!gc_frustum_may_near(q, at, at)) return;
    to = gc_frustum_point(f, at);
    if (to.d > GC_R(0.0)) {
        gc_frustum_vertex_place(q, vertex, gc_opposite(to.n), to.d, to.part, deep);
    }
    /* behind each end, and the side */
    out = gc_frustum_out(f, at, &rho, &z);
    if (!(rho > GC_TOL_TOUCH * q->list.size)) out = gc_across(f->axis); /* what is left of it is rounding */
    side = ((rho - f->radius[0]) * f->length - z * dr) / slant;
    along = (rho - f->radius[0]) * dr + z * f->length;
    if (rho <= f->radius[0] && z >= GC_R(0.0)) gc_frustum_vertex_place(q, vertex, f->axis, -z, 0, deep);
    if (rho <= f->radius[1] && z <= f->length)
        gc_frustum_vertex_place(q, vertex, gc_opposite(f->axis), z - f->length, 1, deep);
    if (side <= GC_R(0.0) && along >= GC_R(0.0) && along <= slant * slant)
        gc_frustum_vertex_place(
            q, vertex, gc_sub(gc_scale(f->axis, dr / slant), gc_scale(out, f->length / slant)), side, GC_PART_SIDE, deep);
}

/* all that count, at most so deep */
GC_LARGE void gc_frustum_find(gc_frustum_query *q, gc_real deep)
{
    const gc_patch_body *b = q->body;
    int faces = gc_frustum_faces(q), face;
    gc_frustum_walk w = gc_frustum_walk_from();
    if (faces == 0) {
        for (int k = 0; k < q->form[GC_FRUSTUM_MESH_edges]; ++k) gc_frustum_of_edge(q, k, deep);
        for (int k = 0; k < b->form[GC_PATCH_MESH_vertices]; ++k) gc_frustum_of_vertex(q, k, deep);
        return;
    }
    for (face = gc_frustum_next(q, &w); face >= 0; face = gc_frustum_next(q, &w)) {
        gc_vec n = gc_flat_normal(b, face);
        gc_frustum_of_face(q, face, n, deep);
        if (q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_TWO_SIDED)
            gc_frustum_of_face(q, face, gc_opposite(n), GC_OVERLAP_DEPTH * q->list.size);
        /* edges and vertices with the first of their faces */
        for (int k = gc_flat_at(b, GC_PATCH_MESH_face_start, face); k < gc_flat_at(b, GC_PATCH_MESH_face_start, face + 1);
             ++k) {
            int edge = gc_flat_at(b, GC_PATCH_MESH_side, k), vertex = gc_flat_at(b, GC_PATCH_MESH_corner, k);
            if (gc_flat_at(b, GC_PATCH_MESH_edge_face, gc_flat_at(b, GC_PATCH_MESH_edge_start, edge)) == face)
                gc_frustum_of_edge(q, edge, deep);
            if (gc_flat_at(b, GC_PATCH_MESH_fan, gc_flat_at(b, GC_PATCH_MESH_fan_start, vertex)) == face)
                gc_frustum_of_vertex(q, vertex, deep);
        }
    }
}

#endif
