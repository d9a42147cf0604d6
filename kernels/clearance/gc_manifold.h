/* gc_manifold.h: the corners of the patches of a region, and the few of them that are kept.
 * needs: clearance/gc_patch.h
 *
 * The points of a pair stand in a list of its own: those that are kept of regions before, then those of this one.
 */
#ifndef GC_MANIFOLD_H
#define GC_MANIFOLD_H

typedef struct {
    gc_patch_body a, b;
    gc_patch_view view_a, view_b;
    gc_vec axes[3];
    gc_real size, round_a, round_b, least, margin; /* both limits of what is between the meshes */
    int body_a, body_b, shape_a, shape_b;
    GC_GLOBAL int *ints;      /* (room, GC_PATCH_POINT_STRIDE) */
    GC_GLOBAL gc_real *reals; /* (room, GC_PATCH_PLACE_STRIDE) */
    int room, region, kept;   /* points of regions before */
    int n;                    /* and with those of this region, written or not */
} gc_manifold;

/* the finalizer of splitmix64 (Steele, Lea, Flood 2014) */
GC_FN gc_ulong gc_point_key_mixed(gc_ulong x)
{
    x += GC_ULONG(0x9E3779B9u, 0x7F4A7C15u);
    x = (x ^ (x >> 30)) * GC_ULONG(0xBF58476Du, 0x1CE4E5B9u);
    x = (x ^ (x >> 27)) * GC_ULONG(0x94D049BBu, 0x133111EBu);
    return x ^ (x >> 31);
}

GC_FN gc_ulong gc_point_key(const gc_manifold *m, int kind, int a, int b)
{
    int turned = m->body_a > m->body_b;
    gc_uint k = (gc_uint)kind;
    gc_ulong key;
    if (turned) { /* the same kind, seen from the other body */
        if (kind == GC_FV) k = (gc_uint)GC_VF;
        else if (kind == GC_VF) k = (gc_uint)GC_FV;
        else if (kind == GC_EV) k = (gc_uint)GC_VE;
        else if (kind == GC_VE) k = (gc_uint)GC_EV;
    }
    key = gc_point_key_mixed(turned ? GC_ULONG(m->body_a, m->body_b) : GC_ULONG(m->body_b, m->body_a));
    key = gc_point_key_mixed(key ^ (turned ? GC_ULONG(m->shape_a, m->shape_b) : GC_ULONG(m->shape_b, m->shape_a)));
    key = gc_point_key_mixed(key ^ (turned ? GC_ULONG(a, b) : GC_ULONG(b, a)));
    return gc_point_key_mixed(key ^ (gc_ulong)(k & 255u));
}

/* A point of the region. One of the same features is there once: `over` says that this is the better one. */
GC_FN void gc_manifold_add(
    gc_manifold *m,
    int kind,
    int a,
    int b,
    gc_real distance,
    gc_vec on_a,
    gc_vec on_b,
    gc_vec normal,
    int over)
{
    GC_GLOBAL int *p;
    GC_GLOBAL gc_real *r;
    gc_vec middle = gc_scale(gc_add(on_a, on_b), GC_R(0.5));
    int at = m->kept, end = GC_MIN(m->n, m->room);
    for (; at < end; ++at) {
        p = m->ints + GC_PATCH_POINT_STRIDE * at;
        if (p[GC_PATCH_POINT_kind] != kind || p[GC_PATCH_POINT_a] != a || p[GC_PATCH_POINT_b] != b) continue;
        if (!over) return;
        break;
    }
    if (at == end) {
        gc_ulong key;
        m->n += 1;
        if (end == m->room) return;
        key = gc_point_key(m, kind, a, b);
        p = m->ints + GC_PATCH_POINT_STRIDE * at;
        p[GC_PATCH_POINT_region] = m->region;
        p[GC_PATCH_POINT_kind] = kind;
        p[GC_PATCH_POINT_a] = a;
        p[GC_PATCH_POINT_b] = b;
        p[GC_PATCH_POINT_low] = (int)(gc_uint)(key & GC_ULONG(0, 0xFFFFFFFFu));
        p[GC_PATCH_POINT_high] = (int)(gc_uint)(key >> 32);
    }
    r = m->reals + GC_PATCH_PLACE_STRIDE * at;
    r[GC_PATCH_PLACE_distance] = distance;
    gc_store_vec(r + GC_PATCH_PLACE_on_a, 0, on_a);
    gc_store_vec(r + GC_PATCH_PLACE_on_b, 0, on_b);
    gc_store_vec(r + GC_PATCH_PLACE_normal, 0, normal);
    r[GC_PATCH_PLACE_x] = gc_dot(middle, m->axes[0]);
    r[GC_PATCH_PLACE_y] = gc_dot(middle, m->axes[1]);
}

/* a corner at a place across the normal, with heights on A and B; is it within the limits? */
GC_FN int gc_manifold_corner(gc_manifold *m, int kind, int a, int b, gc_real x, gc_real y, gc_real high_a, gc_real high_b)
{
    gc_real gap = high_b - high_a;
    gc_vec across = gc_add(gc_scale(m->axes[0], x), gc_scale(m->axes[1], y));
    if (!(gap >= m->least && gap <= m->margin)) return 0;
    gc_manifold_add(
        m, kind, a, b, gap, gc_add(across, gc_scale(m->axes[2], high_a)), gc_add(across, gc_scale(m->axes[2], high_b)),
        m->axes[2], 0);
    return 1;
}

/* corners of `top` within the face `low`; of_a: top is A's */
GC_FN int gc_manifold_vertices(gc_manifold *m, const gc_patch_loop *top, const gc_patch_loop *low, int of_a, gc_real within)
{
    int any = 0;
    if (!low->is_face) return 0;
    for (int k = 0; k < top->n; ++k) {
        gc_vec p = gc_patch_corner(top, k);
        gc_real plane;
        int vertex;
        if (!gc_patch_inside(low, p, within)) continue;
        plane = gc_patch_height(low, p);
        vertex = gc_patch_vertex(top, k);
        any |= of_a ? gc_manifold_corner(m, GC_VF, vertex, low->number, p.x, p.y, p.z, plane)
                    : gc_manifold_corner(m, GC_FV, low->number, vertex, p.x, p.y, plane, p.z);
    }
    return any;
}

/* where two borders cross; da and db lead along them */
GC_FN int gc_manifold_crossing(
    gc_manifold *m,
    int edge_a,
    int edge_b,
    gc_vec pa,
    gc_vec da,
    gc_real la,
    gc_vec pb,
    gc_vec db,
    gc_real within)
{
    gc_real lb = GC_SQRT(db.x * db.x + db.y * db.y), turn = da.x * db.y - da.y * db.x, x = pb.x - pa.x, y = pb.y - pa.y, s,
            u;
    gc_vec on_a, on_b;
    if (!(GC_ABS(turn) > GC_PATCH_PARALLEL * la * lb)) return 0;
    s = (x * db.y - y * db.x) / turn;
    u = (x * da.y - y * da.x) / turn;
    if (!(GC_ABS(s - GC_R(0.5)) * la <= GC_R(0.5) * la + within)) return 0;
    if (!(GC_ABS(u - GC_R(0.5)) * lb <= GC_R(0.5) * lb + within)) return 0;
    on_a = gc_add(pa, gc_scale(da, GC_MIN(GC_MAX(s, GC_R(0.0)), GC_R(1.0))));
    on_b = gc_add(pb, gc_scale(db, GC_MIN(GC_MAX(u, GC_R(0.0)), GC_R(1.0))));
    return gc_manifold_corner(
        m, GC_EE, edge_a, edge_b, GC_R(0.5) * (on_a.x + on_b.x), GC_R(0.5) * (on_a.y + on_b.y), on_a.z, on_b.z);
}

/* the corners that two loops have in common: are there any? */
GC_LARGE int gc_manifold_cut(gc_manifold *m, int loop_a, int loop_b)
{
    gc_patch_loop a, b;
    gc_real within;
    int any;
    gc_patch_loop_of(&m->a, &m->view_a, loop_a, &a);
    gc_patch_loop_of(&m->b, &m->view_b, loop_b, &b);
    within = GC_PATCH_WITHIN * GC_MAX(gc_patch_extent(&a, a.kept[0]), gc_patch_extent(&b, a.kept[0]));
    any = gc_manifold_vertices(m, &a, &b, 1, within);
    any |= gc_manifold_vertices(m, &b, &a, 0, within);
    for (int i = 0; i < a.n; ++i) {
        int edge_a = gc_patch_border(&a, i);
        gc_vec pa = gc_patch_corner(&a, i), da = gc_sub(gc_patch_corner(&a, i + 1 < a.n ? i + 1 : 0), pa), pb;
        gc_real la = GC_SQRT(da.x * da.x + da.y * da.y);
        if (edge_a < 0) continue;
        pb = gc_patch_corner(&b, 0);
        for (int j = 0; j < b.n; ++j) {
            int edge_b = gc_patch_border(&b, j);
            gc_vec next = gc_patch_corner(&b, j + 1 < b.n ? j + 1 : 0);
            if (edge_b >= 0) any |= gc_manifold_crossing(m, edge_a, edge_b, pa, da, la, pb, gc_sub(next, pb), within);
            pb = next;
        }
    }
    return any;
}

/* faces of a loop's sheet: how many, and the k-th; an edge is alone */
GC_FN int gc_patch_members(const gc_patch_body *b, int loop)
{
    if (loop >= b->form[GC_PATCH_MESH_faces]) return 1;
    return gc_flat_at(b, GC_PATCH_MESH_member_start, loop + 1) - gc_flat_at(b, GC_PATCH_MESH_member_start, loop);
}
GC_FN int gc_patch_member(const gc_patch_body *b, int loop, int k)
{
    if (loop >= b->form[GC_PATCH_MESH_faces]) return loop;
    return gc_flat_at(b, GC_PATCH_MESH_member, gc_flat_at(b, GC_PATCH_MESH_member_start, loop) + k);
}

GC_FN int gc_manifold_sheets(gc_manifold *m, int loop_a, int loop_b)
{
    int any = 0, na = gc_patch_members(&m->a, loop_a), nb = gc_patch_members(&m->b, loop_b);
    for (int i = 0; i < na; ++i)
        for (int j = 0; j < nb; ++j)
            any |= gc_manifold_cut(m, gc_patch_member(&m->a, loop_a, i), gc_patch_member(&m->b, loop_b, j));
    return any;
}

/* the point of index i of the region */
GC_FN GC_GLOBAL const gc_real *gc_manifold_place(const gc_manifold *m, int i)
{
    return m->reals + GC_PATCH_PLACE_STRIDE * i;
}

/* does point i stand before j: vertices before crossings, then the lesser key */
GC_FN int gc_manifold_before(const gc_manifold *m, int i, int j)
{
    GC_GLOBAL const int *p = m->ints + GC_PATCH_POINT_STRIDE * i, *q = m->ints + GC_PATCH_POINT_STRIDE * j;
    int cross_p = p[GC_PATCH_POINT_kind] == GC_EE, cross_q = q[GC_PATCH_POINT_kind] == GC_EE;
    gc_uint a = (gc_uint)p[GC_PATCH_POINT_high], b = (gc_uint)q[GC_PATCH_POINT_high];
    if (cross_p != cross_q) return cross_q;
    if (a != b) return a < b;
    return (gc_uint)p[GC_PATCH_POINT_low] < (gc_uint)q[GC_PATCH_POINT_low];
}

typedef struct {
    gc_real x, y;
} gc_flat_point;

GC_FN gc_flat_point gc_manifold_flat(const gc_manifold *m, int i)
{
    GC_GLOBAL const gc_real *r = gc_manifold_place(m, i);
    gc_flat_point p;
    p.x = r[GC_PATCH_PLACE_x];
    p.y = r[GC_PATCH_PLACE_y];
    return p;
}

GC_FN gc_real gc_flat_turn(gc_flat_point a, gc_flat_point b, gc_flat_point c, gc_flat_point d)
{
    return (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x); /* (b - a) x (d - c) */
}

/* the area of the hull of `n` points, two or three, and p */
GC_FN gc_real gc_flat_area(const gc_flat_point *q, int n, gc_flat_point p)
{
    gc_flat_point a = q[0], b = q[1], c = q[2];
    gc_real most;
    if (n == 2) return GC_R(0.5) * GC_ABS(gc_flat_turn(a, b, a, p));
    /* of a convex quadrilateral one of the first three is its area, and the largest */
    most = GC_MAX(GC_ABS(gc_flat_turn(a, b, p, c)), GC_ABS(gc_flat_turn(a, c, p, b)));
    most = GC_MAX(most, GC_MAX(GC_ABS(gc_flat_turn(a, p, b, c)), GC_ABS(gc_flat_turn(a, b, a, c))));
    most = GC_MAX(most, GC_MAX(GC_ABS(gc_flat_turn(a, b, a, p)), GC_ABS(gc_flat_turn(a, c, a, p))));
    return GC_R(0.5) * GC_MAX(most, GC_ABS(gc_flat_turn(b, c, b, p)));
}

/* How much point i is worth beside n that are taken: none: its distance from the middle, if it is among the deepest */
GC_FN gc_real
gc_manifold_worth(const gc_manifold *m, int i, int n, const gc_flat_point *taken, gc_flat_point middle, gc_real deep)
{
    gc_flat_point p = gc_manifold_flat(m, i);
    gc_real x, y;
    if (n >= 2) return gc_flat_area(taken, n, p);
    if (n == 0 && gc_manifold_place(m, i)[GC_PATCH_PLACE_distance] > deep) return GC_R(-1.0);
    x = p.x - (n ? taken[0].x : middle.x);
    y = p.y - (n ? taken[0].y : middle.y);
    return GC_SQRT(x * x + y * y);
}

/* the first of the points that are worth the most, but for a tie, and how much that is */
GC_FN int gc_manifold_best(
    const gc_manifold *m,
    int n,
    const gc_flat_point *taken,
    gc_flat_point middle,
    gc_real deep,
    gc_real tie,
    gc_real *most)
{
    int found = -1;
    *most = GC_R(-1.0);
    for (int i = m->kept; i < m->n; ++i) {
        gc_real worth = gc_manifold_worth(m, i, n, taken, middle, deep);
        m->reals[GC_PATCH_PLACE_STRIDE * i + GC_PATCH_PLACE_worth] = worth;
        *most = GC_MAX(*most, worth);
    }
    for (int i = m->kept; i < m->n; ++i) {
        gc_real worth = gc_manifold_place(m, i)[GC_PATCH_PLACE_worth];
        if (worth < GC_R(0.0) || !(worth >= *most - tie)) continue;
        if (found < 0 || gc_manifold_before(m, i, found)) found = i;
    }
    return found;
}

/* keeps at most `most` of the points of this region, the deepest first */
GC_LARGE void gc_manifold_choose(gc_manifold *m, int most)
{
    gc_flat_point middle, at[4], others[3];
    gc_real deep = gc_manifold_place(m, m->kept)[GC_PATCH_PLACE_distance], count = (gc_real)(m->n - m->kept), worth;
    int slot[4], n = 0, ints[4][GC_PATCH_POINT_STRIDE];
    gc_real reals[4][GC_PATCH_PLACE_STRIDE];
    middle.x = middle.y = GC_R(0.0);
    for (int i = m->kept; i < m->n; ++i) {
        gc_flat_point p = gc_manifold_flat(m, i);
        middle.x += p.x;
        middle.y += p.y;
        deep = GC_MIN(deep, gc_manifold_place(m, i)[GC_PATCH_PLACE_distance]);
    }
    middle.x /= count;
    middle.y /= count;
    deep += GC_PATCH_TIE * m->size;
    for (; n < most; ++n) {
        gc_real tie = GC_PATCH_TIE * m->size * (n < 2 ? GC_R(1.0) : m->size), base = GC_R(0.0);
        int best = gc_manifold_best(m, n, at, middle, deep, tie, &worth);
        if (n == 3) base = GC_R(0.5) * GC_ABS(gc_flat_turn(at[0], at[1], at[0], at[2]));
        if (n > 0 && !(worth > base + tie)) break;
        slot[n] = best;
        at[n] = gc_manifold_flat(m, best);
    }
    if (n == 4) {
        for (int turn = 0, same = 0; turn < 6 && same < 3; ++turn) {
            int k = 1 + turn % 3, best;
            gc_real tie = GC_PATCH_TIE * m->size * m->size;
            others[0] = at[0];
            others[1] = at[k == 1 ? 2 : 1];
            others[2] = at[k == 3 ? 2 : 3];
            best = gc_manifold_best(m, 3, others, middle, deep, tie, &worth);
            same += 1;
            if (!(worth > gc_flat_area(others, 3, at[k]) + tie)) continue;
            same = 0;
            slot[k] = best;
            at[k] = gc_manifold_flat(m, best);
        }
    }
    for (int k = 0; k < n; ++k) {
        for (int c = 0; c < GC_PATCH_POINT_STRIDE; ++c) ints[k][c] = m->ints[GC_PATCH_POINT_STRIDE * slot[k] + c];
        for (int c = 0; c < GC_PATCH_PLACE_STRIDE; ++c) reals[k][c] = m->reals[GC_PATCH_PLACE_STRIDE * slot[k] + c];
    }
    for (int k = 0; k < n; ++k) {
        for (int c = 0; c < GC_PATCH_POINT_STRIDE; ++c) m->ints[GC_PATCH_POINT_STRIDE * (m->kept + k) + c] = ints[k][c];
        for (int c = 0; c < GC_PATCH_PLACE_STRIDE; ++c) m->reals[GC_PATCH_PLACE_STRIDE * (m->kept + k) + c] = reals[k][c];
    }
    m->kept += n;
    m->n = m->kept;
}

#endif
