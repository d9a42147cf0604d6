/* gc_slab.h: features of two separated bodies that can meet within a short time: those that reach into a slab about the
 * separating plane.
 * needs: narrow_phase/first/gc_hull_separation.h narrow_phase/solve/gc_solve.h
 *
 * While s goes from s0 to s1, each vertex of B is at least as high over the plane as the lower of its heights at both ends,
 * less the sag of its path between them; and so is each point of an edge or a face, by its vertices. What of A stays below
 * all of B, or of B above all of A, meets nothing in that time. Of an edge only the part in the slab counts, of a face the
 * parts of its edges: the corners of what the slab cuts out of a face lie on edges, or are corners of the face. The boxes of
 * the remaining parts are compared, those of B widened by their motion (docs/decisions/0058).
 */
#ifndef GC_SLAB_H
#define GC_SLAB_H

/* windows tried for a pair */
#define GC_SLAB_TRIES 3

/* ints of a group: counts, numbers of the six lists, of each pair that was met its kind, features, and how often it was hit */
#define GC_SLAB_INTS (GC_SLAB_COUNTS + 6 * GC_SLAB_ROOM + 4 * GC_SLAB_MET)
/* raster numbers: boxes of the lists */
#define GC_SLAB_REALS (36 * GC_SLAB_ROOM)

/* counts: lengths of the six lists, and */
#define GC_SLAB_N_MET 6
#define GC_SLAB_SHUT 7   /* as gc_hits.shut */
#define GC_SLAB_CAPPED 8 /* a walk in search of roots reached its cap */

/* the lists of a side: vertices, edges, faces; B's are behind A's */
#define GC_SLAB_VERTICES 0
#define GC_SLAB_EDGES 1
#define GC_SLAB_FACES 2

/* a body as the slab has it: a vertex is in it if the lower of two levels, less a sag, is not above the limit */
typedef struct {
    GC_GLOBAL const gc_raster *v;
    const gc_mesh *mesh;
    gc_level first, last;
    gc_raster sag, limit;
    gc_raster rot[9], shift[3], reach; /* where its vertices are, half way in the window; how far from there they come */
} gc_slab_side;

typedef struct {
    gc_slab_side a, b;
    GC_GLOBAL int *counts, *ids, *met;
    GC_GLOBAL gc_raster *boxes;
    gc_real s0, s1;
} gc_slab;

typedef struct {
    gc_raster x0, x1, y0, y1, z0, z1;
} gc_block_box;

GC_FN gc_block_box gc_no_box(void)
{
    gc_block_box b;
    b.x0 = b.y0 = b.z0 = GC_CULL_FAR;
    b.x1 = b.y1 = b.z1 = -GC_CULL_FAR;
    return b;
}

GC_FN void gc_box_take(gc_block_box *b, gc_raster x, gc_raster y, gc_raster z)
{
    b->x0 = GC_MIN(x, b->x0);
    b->x1 = GC_MAX(x, b->x1);
    b->y0 = GC_MIN(y, b->y0);
    b->y1 = GC_MAX(y, b->y1);
    b->z0 = GC_MIN(z, b->z0);
    b->z1 = GC_MAX(z, b->z1);
}

/* a vertex: where it is, and how high */
typedef struct {
    gc_raster x, y, z, h;
} gc_slab_corner;

GC_INLINE gc_raster gc_slab_height(const gc_slab_side *b, gc_raster x, gc_raster y, gc_raster z)
{
    gc_raster first = gc_level_at(b->first, x, y, z), last = gc_level_at(b->last, x, y, z);
    return (first < last ? first : last) - b->sag;
}

GC_FN gc_slab_corner gc_slab_spot(const gc_slab_side *b, int i)
{
    int n = b->mesh->nv;
    gc_raster x = b->v[i], y = b->v[n + i], z = b->v[2 * n + i];
    gc_slab_corner p;
    p.x = b->rot[0] * x + b->rot[1] * y + b->rot[2] * z + b->shift[0];
    p.y = b->rot[3] * x + b->rot[4] * y + b->rot[5] * z + b->shift[1];
    p.z = b->rot[6] * x + b->rot[7] * y + b->rot[8] * z + b->shift[2];
    p.h = gc_slab_height(b, x, y, z);
    return p;
}

/* the part in the slab of the edge between two vertices, to a box */
GC_FN void gc_slab_take(const gc_slab_side *b, gc_slab_corner u, gc_slab_corner v, gc_block_box *box)
{
    int in_u = u.h <= b->limit, in_v = v.h <= b->limit;
    if (in_u) gc_box_take(box, u.x, u.y, u.z);
    if (in_v) gc_box_take(box, v.x, v.y, v.z);
    if (in_u != in_v) {
        gc_raster rise = in_u ? v.h - u.h : u.h - v.h, room = b->limit - (in_u ? u.h : v.h), f;
        f = rise > GC_F(0.0) ? room / rise * GC_F(1.0001) + GC_F(1e-6) : GC_F(1.0);
        f = f < GC_F(1.0) ? f : GC_F(1.0);
        if (!in_u) f = GC_F(1.0) - f;
        gc_box_take(box, u.x + f * (v.x - u.x), u.y + f * (v.y - u.y), u.z + f * (v.z - u.z));
    }
}

/* ---- the lists --------------------------------------------------------------------------------------------------- */

GC_FN void gc_slab_add(const gc_slab *w, const gc_slab_side *b, int list, int id, gc_block_box box)
{
    int i = GC_GROUP_ADD(w->counts + list, 1);
    GC_GLOBAL gc_raster *to = w->boxes + 6 * GC_SLAB_ROOM * list + i;
    if (i >= GC_SLAB_ROOM) return;
    w->ids[GC_SLAB_ROOM * list + i] = id;
    to[0] = box.x0 - b->reach;
    to[GC_SLAB_ROOM] = box.x1 + b->reach;
    to[2 * GC_SLAB_ROOM] = box.y0 - b->reach;
    to[3 * GC_SLAB_ROOM] = box.y1 + b->reach;
    to[4 * GC_SLAB_ROOM] = box.z0 - b->reach;
    to[5 * GC_SLAB_ROOM] = box.z1 + b->reach;
}

GC_FN void gc_slab_add_vertex(const gc_slab *w, const gc_slab_side *b, int list, int i)
{
    gc_slab_corner p = gc_slab_spot(b, i);
    gc_block_box box = gc_no_box();
    gc_box_take(&box, p.x, p.y, p.z);
    gc_slab_add(w, b, list, i, box);
}

/* vertices in the slab; side: 0 A, 3 B */
GC_LARGE void gc_slab_vertices(const gc_slab *w, const gc_slab_side *b, int side)
{
    int n = b->mesh->nv, i, j;
    GC_GLOBAL const gc_raster *GC_RESTRICT x = b->v, *GC_RESTRICT y = x + n, *GC_RESTRICT z = y + n;
    if (GC_SERIAL) {
        int whole = n / GC_LANES * GC_LANES;
        for (i = 0; i < whole; i += GC_LANES) {
            gc_raster h[GC_LANES];
            int some = 0;
            GC_INDEPENDENT
            for (j = 0; j < GC_LANES; ++j) h[j] = gc_slab_height(b, x[i + j], y[i + j], z[i + j]);
            for (j = 0; j < GC_LANES; ++j) some |= h[j] <= b->limit;
            if (!some) continue;
            for (j = 0; j < GC_LANES; ++j)
                if (h[j] <= b->limit) gc_slab_add_vertex(w, b, side, i + j);
        }
        for (i = whole; i < n; ++i)
            if (gc_slab_height(b, x[i], y[i], z[i]) <= b->limit) gc_slab_add_vertex(w, b, side, i);
    } else {
        for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE)
            if (gc_slab_height(b, x[i], y[i], z[i]) <= b->limit) gc_slab_add_vertex(w, b, side, i);
    }
}

/* Edges and faces at these vertices, each once: at its first corner in the slab. */
GC_LARGE void gc_slab_around(const gc_slab *w, const gc_slab_side *b, GC_GLOBAL const int *topology, int side)
{
    const gc_mesh *m = b->mesh;
    int n = GC_MIN(w->counts[side], GC_SLAB_ROOM), k, j;
    for (k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) {
        int v = w->ids[GC_SLAB_ROOM * side + k], end = topology[m->vertex_edge_start + v + 1];
        gc_slab_corner here = gc_slab_spot(b, v);
        for (j = topology[m->vertex_edge_start + v]; j < end; ++j) {
            int entry = topology[m->vertex_edges + j], e = entry >> 1;
            int u = topology[m->edges + 2 * e + 1 - (entry & 1)];
            gc_slab_corner there = gc_slab_spot(b, u);
            gc_block_box box = gc_no_box();
            if (u < v && there.h <= b->limit) continue;
            gc_slab_take(b, here, there, &box);
            gc_slab_add(w, b, side + GC_SLAB_EDGES, e, box);
        }
        end = topology[m->vertex_face_start + v + 1];
        for (j = topology[m->vertex_face_start + v]; j < end; ++j) {
            int f = topology[m->vertex_faces + j], c = topology[m->face_start + f], last = topology[m->face_start + f + 1];
            int first = -1, corner = c;
            gc_block_box box = gc_no_box();
            gc_slab_corner before = gc_slab_spot(b, topology[m->face_vertices + last - 1]);
            for (; corner < last; ++corner) {
                int u = topology[m->face_vertices + corner];
                gc_slab_corner to = gc_slab_spot(b, u);
                if (first < 0 && to.h <= b->limit) first = u;
                if (first >= 0 && first != v) break;
                gc_slab_take(b, before, to, &box);
                before = to;
            }
            if (first == v) gc_slab_add(w, b, side + GC_SLAB_FACES, f, box);
        }
    }
}

/* ---- what may meet ----------------------------------------------------------------------------------------------- */

/* entries of list la of A and lb of B whose boxes meet */
GC_LARGE void gc_slab_meet(const gc_slab *w, int kind, int la, int lb)
{
    int na = GC_MIN(w->counts[la], GC_SLAB_ROOM), nb = GC_MIN(w->counts[lb], GC_SLAB_ROOM), i, j;
    GC_GLOBAL const gc_raster *p = w->boxes + 6 * GC_SLAB_ROOM * la, *q = w->boxes + 6 * GC_SLAB_ROOM * lb;
    for (i = GC_LOCAL_ID; i < na; i += GC_GROUP_SIZE) {
        gc_raster x0 = p[i], x1 = p[GC_SLAB_ROOM + i], y0 = p[2 * GC_SLAB_ROOM + i], y1 = p[3 * GC_SLAB_ROOM + i];
        gc_raster z0 = p[4 * GC_SLAB_ROOM + i], z1 = p[5 * GC_SLAB_ROOM + i];
        for (j = 0; j < nb; ++j) {
            int k;
            if (x0 > q[GC_SLAB_ROOM + j] || x1 < q[j] || y0 > q[3 * GC_SLAB_ROOM + j] || y1 < q[2 * GC_SLAB_ROOM + j]
                || z0 > q[5 * GC_SLAB_ROOM + j] || z1 < q[4 * GC_SLAB_ROOM + j])
                continue;
            k = GC_GROUP_ADD(w->counts + GC_SLAB_N_MET, 1);
            if (k >= GC_SLAB_MET) continue;
            w->met[4 * k] = kind;
            w->met[4 * k + 1] = w->ids[GC_SLAB_ROOM * la + i];
            w->met[4 * k + 2] = w->ids[GC_SLAB_ROOM * lb + j];
            w->met[4 * k + 3] = 0;
        }
    }
}

/* ---- a window ------------------------------------------------------------------------------------------------------ */

/* Where the vertices of B are at s, or of A at any time. */
GC_FN void gc_slab_place(const gc_screw *k, int moves, gc_real s, gc_slab_side *b)
{
    const gc_real *rot = moves ? k->rb : k->ra, *shift = moves ? k->tb : k->ta;
    gc_turn t = gc_turn_at(k->theta, s);
    gc_vec at = gc_make(shift[0], shift[1], shift[2]);
    int i;
    if (moves) at = gc_flow(k, t, at);
    b->shift[0] = (gc_raster)at.x;
    b->shift[1] = (gc_raster)at.y;
    b->shift[2] = (gc_raster)at.z;
    for (i = 0; i < 3; ++i) {
        gc_vec column = gc_make(rot[i] * k->shrink, rot[3 + i] * k->shrink, rot[6 + i] * k->shrink);
        if (moves) column = gc_turn_vec(k, t, column);
        b->rot[i] = (gc_raster)column.x;
        b->rot[3 + i] = (gc_raster)column.y;
        b->rot[6 + i] = (gc_raster)column.z;
    }
}

/* All that can meet from w->s0 to w->s1; 0 if it is too much. All work-items of the group take part. */
GC_LARGE int gc_slab_fill(const gc_hulls *h, const gc_divide *d, GC_GLOBAL const int *topology, gc_slab *w)
{
    const gc_screw *k = gc_screw_of(&h->pair);
    gc_turn t0 = gc_turn_at(k->theta, w->s0), t1 = gc_turn_at(k->theta, w->s1);
    gc_raster wide = (gc_raster)(w->s1 - w->s0), low;
    int i, some, side;
    w->a.v = h->va;
    w->b.v = h->vb;
    w->a.mesh = gc_mesh_a(&h->pair);
    w->b.mesh = gc_mesh_b(&h->pair);
    w->a.first = gc_level_a(k, d->n);
    w->a.last = w->a.first;
    w->a.sag = GC_F(0.0);
    w->b.first = gc_level_b(k, t0, d->n);
    w->b.last = gc_level_b(k, t1, d->n);
    w->b.sag = GC_F(0.125) * h->bend * wide * wide;
    gc_slab_place(k, 0, GC_R(0.0), &w->a);
    gc_slab_place(k, 1, GC_R(0.5) * (w->s0 + w->s1), &w->b);
    w->a.reach = GC_F(0.0);
    w->b.reach = GC_F(0.5) * wide * h->fast + h->pad;
    w->b.limit = h->pad - gc_look_low(h, h->va, gc_mesh_a(&h->pair)->nv, w->a.first).low;
    low = gc_look_low(h, h->vb, gc_mesh_b(&h->pair)->nv, w->b.first).low;
    low = GC_MIN(gc_look_low(h, h->vb, gc_mesh_b(&h->pair)->nv, w->b.last).low, low);
    w->a.limit = h->pad + w->b.sag - low;
    GC_BARRIER();
    for (i = GC_LOCAL_ID; i < GC_SLAB_COUNTS; i += GC_GROUP_SIZE) w->counts[i] = 0;
    GC_BARRIER();
    for (side = 0; side < 2; ++side) gc_slab_vertices(w, side ? &w->b : &w->a, 3 * side);
    GC_BARRIER();
    some = w->counts[0] <= GC_SLAB_ROOM && w->counts[3] <= GC_SLAB_ROOM;
    GC_BARRIER();
    if (!some) return 0;
    for (side = 0; side < 2; ++side) gc_slab_around(w, side ? &w->b : &w->a, topology, 3 * side);
    GC_BARRIER();
    some = 1;
    for (i = 0; i < 6; ++i) some &= w->counts[i] <= GC_SLAB_ROOM;
    if (!some) return 0;
    gc_slab_meet(w, GC_VF, GC_SLAB_VERTICES, 3 + GC_SLAB_FACES);
    gc_slab_meet(w, GC_FV, GC_SLAB_FACES, 3 + GC_SLAB_VERTICES);
    gc_slab_meet(w, GC_EE, GC_SLAB_EDGES, 3 + GC_SLAB_EDGES);
    GC_BARRIER();
    return w->counts[GC_SLAB_N_MET] <= GC_SLAB_MET;
}

/* times between which meetings in a window are looked for, with what they are rounded by */
GC_FN gc_raster gc_slab_first(const gc_slab *w) { return GC_MAX((gc_raster)w->s0 - GC_F(1e-6), GC_F(-0.5)); }
GC_FN gc_raster gc_slab_last(const gc_slab *w) { return GC_MIN((gc_raster)w->s1 + GC_F(1e-6), GC_F(0.5)); }

/* Their times; 0 if a walk reached its cap. What is hit is counted only. All work-items of the group take part. */
GC_LARGE int gc_slab_solve(const gc_hulls *h, const gc_tables *t, const gc_slab *w, gc_real min_properness)
{
    gc_hits o = gc_hits_of(w->counts, w->counts, w->counts, 0, 0, min_properness);
    int n = w->counts[GC_SLAB_N_MET], i, good = 1;
    gc_real s0 = (gc_real)gc_slab_first(w), s1 = (gc_real)gc_slab_last(w);
    o.shut = w->counts + GC_SLAB_SHUT;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL int *met = w->met + 4 * i;
        o.n_hits = met + 3;
        good &= gc_solve_exact(t, &h->pair, &o, 0, met[0], met[1], met[2], s0, s1);
    }
    if (!good) GC_ATOMIC_MAX(w->counts + GC_SLAB_CAPPED, 1);
    GC_BARRIER();
    return !w->counts[GC_SLAB_CAPPED];
}

/* Windows one after the other until all that is up to a first contact, and margin longer, is in w; 0: it is not known. All
 * work-items of the group take part. */
GC_LARGE int gc_slab_search(
    const gc_hulls *h,
    const gc_divide *d,
    const gc_tables *t,
    gc_real margin,
    gc_real min_properness,
    gc_slab *w)
{
    gc_real until = GC_R(0.5) + gc_screw_of(&h->pair)->tau, wide, deep = GC_SLAB_DEEP;
    int tries = 0;
    /* so long that B comes so deep through the plane; not so long that it goes far along it */
    wide = GC_MIN(deep / GC_MAX((gc_real)d->closing, GC_R(1e-9)), GC_R(16.0) * deep / GC_MAX((gc_real)h->fast, GC_R(1e-9)));
    w->s0 = d->s;
    w->s1 = GC_MIN(d->s + margin + wide, until);
    do {
        int code;
        if (!gc_slab_fill(h, d, t->topology, w)) return 0;
        if (!gc_slab_solve(h, t, w, min_properness)) return 0;
        code = w->counts[GC_SLAB_SHUT];
        if (w->s1 >= until) return 1;
        if (code > 0) {
            gc_real late = (gc_real)gc_hit_late(code) + margin;
            if (late <= w->s1) return 1;
            w->s1 = GC_MIN(late, until);
        } else {
            wide *= GC_R(8.0);
            w->s0 = w->s1;
            w->s1 = GC_MIN(w->s1 + wide, until);
        }
        GC_BARRIER(); /* all have read the counts */
        tries += 1;
    } while (tries < GC_SLAB_TRIES);
    return 0;
}

#endif
