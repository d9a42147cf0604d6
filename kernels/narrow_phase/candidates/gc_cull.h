/* gc_cull.h: which features of two whole meshes can reach each other, among many work-items without rows (s02).
 * needs: narrow_phase/candidates/gc_feature_bounds.h narrow_phase/candidates/gc_emit.h
 *
 * in:  vertices of both bodies in the screw frame
 * out: six lists of boxes: features that face the right way and may overlap the other body's hull, and copies of A's around
 *      the axis
 * Cheapest work first: which faces face the right way, their boxes, their hull; the hull again of those that overlap the
 * other body's hull; and only for the faces that remain, their edges and vertices. What is removed meets nothing that
 * matters of the other body: a hull contains all remaining faces of a body, and these the edges and vertices that take part
 * (gc_feature_bounds.h); whatever two features form a contact, each has an adjacent face that faces the right way, and the
 * boxes of these two faces overlap, so neither hull removes them.
 */
#ifndef GC_CULL_H
#define GC_CULL_H

/* Is a pair looked at this way? Not joined patches, where a vertex or an edge on a border is one of several patches and belongs to one. */
GC_FN int gc_cull_suits(const gc_search *q)
{
    return !GC_SERIAL && !(q->view.pixel > GC_F(0.0)) && q->mesh_a.near_faces < 0;
}

/* words of bits for the vertices and the edges of a body: which were taken */
GC_FN int gc_cull_words(int n) { return (n + 31) >> 5; }

/* scratch for bits and hulls; a group of one has none */
GC_FN void gc_cull_take(gc_scratch *s, gc_search *q)
{
    int side;
    if (GC_SERIAL) return;
    for (side = 0; side < 2; ++side) {
        const gc_mesh *m = &q->mesh_a + side;
        (&q->a + side)->taken = gc_take_ints(s, gc_cull_words(m->nv) + gc_cull_words(m->ne));
    }
    q->bounds = gc_take_reals(s, 2 * GC_BOUNDS_SIZE * (1 + gc_side_items(0)));
}

/* no vertex and no edge is taken yet */
GC_FN void gc_cull_clear(const gc_search *q)
{
    int side, i;
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) {
        const gc_mesh *m = &q->mesh_a + side;
        int words = gc_cull_words(m->nv) + gc_cull_words(m->ne);
        GC_ROLLED
        for (i = GC_SIDE_ID; i < words; i += GC_SIDE_SIZE) (&q->a + side)->taken[i] = 0;
    }
}

/* a list of numbers without boxes gets another */
GC_FN void gc_cull_note(const gc_list *l, int feature) { l->id[GC_GROUP_ADD(l->count, 1)] = feature; }

/* does a face face the right way at the corner that the topology has at `at`? */
GC_FN int gc_cull_corner(const gc_body *b, GC_GLOBAL const int *topology, int at, gc_four facing)
{
    gc_four x = gc_vertex_of(b, topology[at]);
    return facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
}

/* faces that face the right way at a corner: see s02_faces */
GC_LARGE void gc_cull_facing(const gc_body *b, const gc_mesh *m, GC_GLOBAL const int *topology, const gc_list *l)
{
    int f;
    GC_ROLLED
    for (f = GC_SIDE_ID; f < m->nf; f += GC_SIDE_SIZE) {
        int j = topology[m->face_start + f], end = topology[m->face_start + f + 1], some = m->two_sided;
        gc_four facing = gc_facing_of(b, f);
        /* three corners each face has */
        some |= gc_cull_corner(b, topology, m->face_vertices + j, facing);
        some |= gc_cull_corner(b, topology, m->face_vertices + j + 1, facing);
        some |= gc_cull_corner(b, topology, m->face_vertices + j + 2, facing);
        GC_ROLLED
        for (j += 3; j < end; ++j) some |= gc_cull_corner(b, topology, m->face_vertices + j, facing);
        if (some) gc_cull_note(l, f);
    }
}

/* what a way along a face's sides has come by: its last corner, q and psi there, the ranges of rho, psi and y, four times the most that a
 * side's q may fall below its lower end */
typedef struct {
    gc_four x;
    gc_raster q, p, r0, r1, p0, p1, y0, y1, sag;
} gc_outline;

/* the side from the last corner to one with this q */
GC_FN void gc_outline_side(const gc_view *w, gc_four to, gc_raster q, gc_outline *o)
{
    gc_raster dx = to.a - o->x.a, dz = to.c - o->x.c;
    o->sag = GC_MAX(w->kappa * (dx * dx + dz * dz) - GC_ABS_R(q - o->q), o->sag);
    o->p += gc_short_way(to.d - o->x.d, w->period);
}

GC_FN void gc_outline_on(const gc_view *w, const gc_body *b, int v, gc_outline *o)
{
    gc_four to = gc_vertex_of(b, v);
    gc_raster rho = b->rho[v], q = gc_square_rho(w->kappa, rho);
    gc_outline_side(w, to, q, o);
    o->q = q;
    o->p0 = GC_MIN(o->p, o->p0);
    o->p1 = GC_MAX(o->p, o->p1);
    o->r0 = GC_MIN(rho, o->r0);
    o->r1 = GC_MAX(rho, o->r1);
    o->y0 = GC_MIN(to.b, o->y0);
    o->y1 = GC_MAX(to.b, o->y1);
    o->x = to;
}

/* Box of a face. How far a side comes nearer to the axis than its ends is bounded without a root: with q = kappa (x^2 + z^2) + 2 z,
 * of which kr^2 = 1 + kappa q, c = kappa (dx^2 + dz^2) and D the difference of q between the ends, q is a parabola along the side whose
 * least is (c - |D|)^2 / 4c below its lower end if |D| < c, and that end otherwise; at most (c - |D|)/4. */
GC_FN gc_box gc_cull_box(const gc_view *w, const gc_body *b, const gc_mesh *m, GC_GLOBAL const int *topology, int f)
{
    int j = topology[m->face_start + f], end = topology[m->face_start + f + 1], v = topology[m->face_vertices + j];
    gc_four first = gc_vertex_of(b, v);
    gc_raster q;
    gc_outline o;
    o.x = first;
    o.r0 = o.r1 = b->rho[v];
    o.y0 = o.y1 = first.b;
    o.p = o.p0 = o.p1 = first.d;
    o.sag = GC_F(0.0);
    o.q = q = gc_square_rho(w->kappa, o.r0);
    /* two more corners each face has */
    gc_outline_on(w, b, topology[m->face_vertices + j + 1], &o);
    gc_outline_on(w, b, topology[m->face_vertices + j + 2], &o);
    GC_ROLLED
    for (j += 3; j < end; ++j) gc_outline_on(w, b, topology[m->face_vertices + j], &o);
    gc_outline_side(w, first, q, &o);
    /* the pad is more than what q is rounded by, some float roundings of rho (1 + kr) */
    o.sag = GC_F(0.25) * o.sag + w->pad * (GC_F(1.0) + w->kappa * GC_MAX(o.r1, GC_F(0.0)));
    o.r0 = gc_sagged(w, o.r0, o.sag);
    return gc_box_face(w, GC_ABS_R(o.p - first.d) > GC_F(0.5) * w->period, o.r0, o.r1, o.p0, o.p1, o.y0, o.y1);
}

/* boxes of the faces of a list, and the hull of those that a work-item made */
GC_LARGE void gc_cull_boxes(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    GC_GLOBAL gc_raster *part_out)
{
    gc_bounds hull = gc_bounds_none();
    int n = *l->count, i;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
        gc_box box = gc_cull_box(w, b, m, topology, l->id[i]);
        gc_box_put(l, i, box);
        gc_bounds_add(w, box, &hull);
    }
    gc_bounds_put(part_out + 2 * GC_BOUNDS_SIZE * GC_SIDE_ID, hull);
}

/* which copies of A as a whole come into B's window */
typedef struct {
    int first, last;
} gc_turns;

GC_FN gc_turns gc_cull_turns(const gc_view *w, gc_bounds a, gc_bounds b)
{
    gc_turns t;
    t.first = 0;
    t.last = 0;
    if (w->wraps) gc_feature_bounds_copies(w, a.least.d, -a.most.d, b, &t.first, &t.last);
    return t;
}

/* Does copy k of a box of A meet B's hull; does a box of B (way -1) meet that copy of A's hull? What has no azimuth has one copy. */
GC_FN int gc_cull_meets(const gc_view *w, gc_box box, int k, gc_raster way, gc_bounds hull)
{
    gc_raster turn = way * (gc_raster)k * w->period;
    if (k == 0) return gc_bounds_meet(w, box, GC_F(0.0), GC_F(0.0), hull);
    if (box.time.d - box.time.c > GC_F(2.0) * w->period) return 0;
    return gc_bounds_meet(w, box, -w->gn * turn, w->wn * turn, hull);
}

/* Hull of the faces of a side that meet the other's; see gc_bounds_join. */
GC_LARGE void gc_cull_narrow(
    const gc_view *w,
    const gc_list *l,
    int side,
    GC_GLOBAL const gc_raster *hulls,
    GC_GLOBAL gc_raster *part_out)
{
    gc_bounds a = gc_bounds_at(hulls), b = gc_bounds_at(hulls + GC_BOUNDS_SIZE), hull = gc_bounds_none();
    gc_turns t = gc_cull_turns(w, a, b);
    int n = *l->count, i, k;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
        gc_box box = gc_box_of(l, i);
        int meets = 0;
        for (k = t.first; k <= t.last; ++k) meets |= gc_cull_meets(w, box, k, side ? GC_F(-1.0) : GC_F(1.0), side ? a : b);
        if (meets) gc_bounds_add(w, box, &hull);
    }
    gc_bounds_put(part_out + 2 * GC_BOUNDS_SIZE * GC_SIDE_ID, hull);
}

/* A feature with this box into its list, and copies of A's, if they meet the other body's hull. */
GC_FN void gc_cull_add(const gc_view *w, gc_box box, int feature, int side, gc_turns t, gc_bounds hull, const gc_list *to)
{
    int k;
    for (k = t.first; k <= t.last; ++k) {
        gc_raster turn = side || k == 0 ? GC_F(0.0) : (gc_raster)k * w->period, dh = -w->gn * turn, dl = w->wn * turn;
        int i;
        if (!gc_cull_meets(w, box, k, side ? GC_F(-1.0) : GC_F(1.0), hull)) continue;
        i = GC_GROUP_ADD(to->count, 1);
        to->id[i] = feature;
        if (w->wraps) to->copy[i] = side ? 0 : k;
        gc_four_put(&GC_OF_ENTRY(to, r0, i), to->room, box.place.a, box.place.b, box.place.c + dh, box.place.d + dh);
        gc_four_put(
            &GC_OF_ENTRY(to, l0, i), to->room, box.time.a + dl, box.time.b + dl, box.time.c + turn, box.time.d + turn);
        if (side) break;
    }
}

/* ... all faces of a list */
GC_LARGE void gc_cull_faces(
    const gc_view *w,
    const gc_list *l,
    int side,
    GC_GLOBAL const gc_raster *hulls,
    const gc_list *to)
{
    gc_bounds a = gc_bounds_at(hulls), b = gc_bounds_at(hulls + GC_BOUNDS_SIZE);
    gc_turns t = gc_cull_turns(w, a, b);
    int n = *l->count, i;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) gc_cull_add(w, gc_box_of(l, i), l->id[i], side, t, side ? a : b, to);
}

/* Is this the first that asks for feature i? */
GC_FN int gc_cull_first(GC_GLOBAL int *taken, int i)
{
    int bit = (int)((gc_uint)1 << (i & 31));
    return !(GC_GROUP_OR(taken + (i >> 5), bit) & bit);
}

/* Edges and corners of the faces that are left, where these face the right way, each once. */
GC_LARGE void gc_cull_borders(
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *faces,
    const gc_list *vertices,
    const gc_list *edges)
{
    GC_GLOBAL int *taken_edges = b->taken + gc_cull_words(m->nv);
    int n = *faces->count, i;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
        int f = faces->id[i], j = topology[m->face_start + f], end = topology[m->face_start + f + 1], from = end - 1, before;
        gc_four facing = gc_facing_of(b, f);
        gc_four x = gc_vertex_of(b, topology[m->face_vertices + from]);
        before = m->two_sided || facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
        GC_ROLLED
        for (; j < end; ++j) {
            int v = topology[m->face_vertices + j], e = topology[m->face_edges + from], right;
            x = gc_vertex_of(b, v);
            right = m->two_sided || facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
            if (right && gc_cull_first(b->taken, v)) gc_cull_note(vertices, v);
            if ((right | before) && gc_cull_first(taken_edges, e)) gc_cull_note(edges, e);
            before = right;
            from = j;
        }
    }
}

/* boxes of the edges and vertices noted in a list, those that meet the other body's hull into others */
GC_LARGE void gc_cull_rest(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    int side,
    GC_GLOBAL const gc_raster *hulls,
    const gc_list *vertices,
    const gc_list *edges,
    const gc_list *to_vertices,
    const gc_list *to_edges)
{
    gc_bounds hull_a = gc_bounds_at(hulls), hull_b = gc_bounds_at(hulls + GC_BOUNDS_SIZE), hull = side ? hull_a : hull_b;
    gc_turns t = gc_cull_turns(w, hull_a, hull_b);
    int n = *edges->count, i;
    gc_raster least;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE)
        gc_cull_add(w, gc_box_edge(w, b, m, topology, edges->id[i], &least), edges->id[i], side, t, hull, to_edges);
    n = *vertices->count;
    GC_ROLLED
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE)
        gc_cull_add(w, gc_box_vertex(w, b, vertices->id[i]), vertices->id[i], side, t, hull, to_vertices);
}

/* Where things can meet at all, in the order of GC_HULL, for the bins of gc_box_overlap.h: what lies outside is in the first or last. */
GC_FN void gc_cull_common(const gc_view *w, GC_GLOBAL const gc_raster *hulls, GC_GLOBAL gc_raster *hull_out)
{
    gc_bounds a = gc_bounds_at(hulls), b = gc_bounds_at(hulls + GC_BOUNDS_SIZE);
    gc_turns t = gc_cull_turns(w, a, b);
    int alone = t.first == t.last;
    hull_out[GC_HULL_r0] = GC_MAX(b.least.a, a.least.a);
    hull_out[GC_HULL_r1] = -GC_MAX(b.most.a, a.most.a);
    hull_out[GC_HULL_h0] = alone ? GC_MAX(b.least.b, a.least.b) : b.least.b;
    hull_out[GC_HULL_h1] = -(alone ? GC_MAX(b.most.b, a.most.b) : b.most.b);
    hull_out[GC_HULL_l0] = alone ? GC_MAX(b.least.c, a.least.c - w->window) : b.least.c;
    hull_out[GC_HULL_l1] = -(alone ? GC_MAX(b.most.c, a.most.c - w->window) : b.most.c);
}

/* Everything from placed vertices and turned faces to the lists. All work-items of the group take part. */
GC_LARGE void gc_cull_lists(const gc_search *q)
{
    const gc_view *w = &q->view;
    GC_GLOBAL gc_raster *hulls = q->bounds, *parts = hulls + 2 * GC_BOUNDS_SIZE;
    int side;
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_facing(&q->a + side, &q->mesh_a + side, q->topology, &q->all_fa + 3 * side);
    GC_BARRIER();
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_boxes(w, &q->a + side, &q->mesh_a + side, q->topology, &q->all_fa + 3 * side, parts + GC_BOUNDS_SIZE * side);
    GC_BARRIER();
    gc_bounds_join(parts, gc_side_items(0), gc_side_items(1), hulls);
    GC_BARRIER();
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_narrow(w, &q->all_fa + 3 * side, side, hulls, parts + GC_BOUNDS_SIZE * side);
    GC_BARRIER();
    gc_bounds_join(parts, gc_side_items(0), gc_side_items(1), hulls);
    GC_BARRIER();
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_faces(w, &q->all_fa + 3 * side, side, hulls, &q->fa + 3 * side);
    if (GC_LOCAL_ID == 0) gc_cull_common(w, hulls, q->hulls);
    GC_BARRIER();
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_borders(
            &q->a + side, &q->mesh_a + side, q->topology, &q->fa + 3 * side, &q->all_va + 3 * side, &q->all_ea + 3 * side);
    GC_BARRIER();
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
        gc_cull_rest(
            w, &q->a + side, &q->mesh_a + side, q->topology, side, hulls, &q->all_va + 3 * side, &q->all_ea + 3 * side,
            &q->va + 3 * side, &q->ea + 3 * side);
    GC_BARRIER();
}

#endif
