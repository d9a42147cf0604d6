/* gc_small.h: the screen of two small meshes among many work-items: what faces the right way as bits, all against all (s02 to s06).
 * needs: screw/gc_met.h
 *
 * A mesh of up to GC_SMALL_VERTICES, GC_SMALL_EDGES and GC_SMALL_FACES has a bit for each feature and a fixed place for its box, so that
 * nothing is counted, copied or laid out. Boxes are those of whole features: an edge is not cut down to the part of it that faces
 * the right way, so its ends are those of its vertices. What that lets through more, s07 leaves out.
 */
#ifndef GC_SMALL_H
#define GC_SMALL_H

/* words of bits of a body: vertices, edges, faces */
#define GC_SMALL_WORDS 4
/* ... of both, then those of B that come near; behind them how many rows there are; how many pairs of edges, and of a vertex and a face,
 * are noted; how many of all became candidates, and where in the launch's list they begin */
#define GC_SMALL_NEAR (2 * GC_SMALL_WORDS)
#define GC_SMALL_N_ROWS (3 * GC_SMALL_WORDS)
#define GC_SMALL_N_EDGES (GC_SMALL_N_ROWS + 1)
#define GC_SMALL_N_POINTS (GC_SMALL_N_ROWS + 2)
#define GC_SMALL_N_FOUND (GC_SMALL_N_ROWS + 3)
#define GC_SMALL_BEGIN (GC_SMALL_N_ROWS + 4)
#define GC_SMALL_COUNTS 32
/* how many meetings of each sort are noted before they are looked at */
#define GC_SMALL_NOTES 256
/* a feature of A that has all of B to be tested against: its kind, copy and number in one */
#define GC_SMALL_ROWS (GC_MAX_COPIES * (GC_SMALL_VERTICES + GC_SMALL_EDGES + GC_SMALL_FACES))

/* numbers of scratch: placed, turned, rho, least of a body; the boxes of a list; two for each candidate */
#define GC_SMALL_PLACED 0
#define GC_SMALL_TURNED (GC_SMALL_PLACED + GC_CELLS(GC_PLACED_STRIDE, GC_SMALL_VERTICES))
#define GC_SMALL_RHO (GC_SMALL_TURNED + GC_CELLS(GC_TURNED_STRIDE, GC_SMALL_FACES))
#define GC_SMALL_LEAST (GC_SMALL_RHO + GC_SMALL_VERTICES)
#define GC_SMALL_BODY (GC_SMALL_LEAST + GC_SMALL_EDGES)
#define GC_SMALL_BOXES GC_CELLS(GC_LIST_STRIDE, GC_SMALL_EDGES)
#define GC_SMALL_TIMES (2 * GC_SMALL_BODY + 6 * GC_SMALL_BOXES)
#define GC_SMALL_HULLS (GC_SMALL_TIMES + 4 * GC_SMALL_NOTES)
#define GC_SMALL_REALS (GC_SMALL_HULLS + 16 + 16 * GC_SMALL_FACES)
#define GC_SMALL_INTS (GC_SMALL_COUNTS + GC_SMALL_ROWS + 4 * GC_SMALL_NOTES)

/* what is shared beside the search; see above */
typedef struct {
    GC_GLOBAL int *counts; /* (GC_SMALL_COUNTS,) */
    GC_GLOBAL int *rows;   /* (GC_SMALL_ROWS,) */
    GC_GLOBAL int *edges;  /* (GC_SMALL_NOTES,) noted: row, and B's feature above it */
    GC_GLOBAL int *points;
    GC_GLOBAL int *found;       /* (2 GC_SMALL_NOTES,) the same of candidates */
    GC_GLOBAL gc_raster *times; /* (2 GC_SMALL_NOTES, 2) their brackets */
    GC_GLOBAL gc_raster *hulls; /* (2, 8) of what faces the right way: r0 h0 l0 p0, and -r1 -h1 -l1 -p1 */
    GC_GLOBAL gc_raster *parts; /* (GC_SMALL_FACES, 2, 8) the same of what each work-item of a side looked at */
} gc_small;

/* where all lies in a group's scratch; by those who fill it, once */
GC_FN void gc_small_layout(GC_GLOBAL gc_raster *reals, GC_GLOBAL int *ints, gc_search *q, gc_small *t)
{
    int i;
    GC_ROLLED
    for (i = GC_FILL_LO; i < 6; i += GC_FILL_STEP) {
        gc_list *l = &q->all_va + i; /* va ea fa vb eb fb */
        l->room = GC_SMALL_EDGES;
        l->box = reals + 2 * GC_SMALL_BODY + i * GC_SMALL_BOXES;
    }
    GC_ROLLED
    for (i = GC_FILL_LO; i < 2; i += GC_FILL_STEP) {
        gc_body *b = &q->a + i;
        GC_GLOBAL gc_raster *own = reals + i * GC_SMALL_BODY;
        b->placed = own + GC_SMALL_PLACED;
        b->placed_room = GC_SMALL_VERTICES;
        b->turned = own + GC_SMALL_TURNED;
        b->turned_room = GC_SMALL_FACES;
        b->rho = own + GC_SMALL_RHO;
        b->least = own + GC_SMALL_LEAST;
        b->way = i ? GC_F(1.0) : GC_F(-1.0);
    }
    if (GC_FILLS) {
        t->counts = ints;
        t->rows = ints + GC_SMALL_COUNTS;
        t->edges = t->rows + GC_SMALL_ROWS;
        t->points = t->edges + GC_SMALL_NOTES;
        t->found = t->points + GC_SMALL_NOTES;
        t->times = reals + GC_SMALL_TIMES;
        t->hulls = reals + GC_SMALL_HULLS;
        t->parts = t->hulls + 16;
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* least rho and boxes of all edges, whole: see s02_edges_box */
GC_FN void gc_small_edges(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l)
{
    int e;
    GC_ROLLED
    for (e = GC_SIDE_ID; e < m->ne; e += GC_SIDE_SIZE) {
        int v0 = topology[m->edges + 2 * e], v1 = topology[m->edges + 2 * e + 1];
        gc_four x0 = gc_vertex_of(b, v0), x1 = gc_vertex_of(b, v1);
        gc_raster kappa = w->kappa, period = w->period, wn = w->wn, gn = w->gn;
        gc_raster least = gc_least_rho(kappa, x0.a, x0.c, x1.a, x1.c), most = GC_MAX(b->rho[v0], b->rho[v1]),
                  turn = gc_short_way(x1.d - x0.d, period);
        gc_raster k0 = GC_F(1.0) + kappa * least, k1 = GC_F(1.0) + kappa * most, pa = x0.d, pb = x0.d + turn;
        gc_raster area = GC_ABS_R(x0.a * (GC_F(1.0) + kappa * x1.c) - x1.a * (GC_F(1.0) + kappa * x0.c));
        gc_raster kk = GC_MAX(k0, GC_F(1e-6)), stray = GC_F(0.25) * area * (GC_F(1.0) / (kk * kk) - GC_F(1.0) / (k1 * k1));
        gc_raster p0 = GC_MIN(pa, pb), p1 = GC_MAX(pa, pb), y0 = GC_MIN(x0.b, x1.b), y1 = GC_MAX(x0.b, x1.b), h0, h1, l0, l1,
                  c;
        gc_raster gp0, gp1, gy0, gy1, ha = wn * x0.b - gn * pa, hb = wn * x1.b - gn * pb;
        gc_raster la = wn * pa + gn * x0.b, lb = wn * pb + gn * x1.b;
        stray = GC_MIN(stray, GC_ABS_R(turn));
        if (k0 < w->axis) {
            p0 = GC_F(-2.0) * period;
            p1 = GC_F(2.0) * period;
            stray = GC_F(4.0) * period;
        }
        gp0 = gn * p0;
        gp1 = gn * p1;
        gy0 = gn * y0;
        gy1 = gn * y1;
        h0 = GC_MAX(wn * y0 - GC_MAX(gp0, gp1), GC_MIN(ha, hb) - GC_ABS_R(gn) * stray);
        h1 = GC_MIN(wn * y1 - GC_MIN(gp0, gp1), GC_MAX(ha, hb) + GC_ABS_R(gn) * stray);
        l0 = GC_MAX(wn * p0 + GC_MIN(gy0, gy1), GC_MIN(la, lb) - wn * stray);
        l1 = GC_MIN(wn * p1 + GC_MAX(gy0, gy1), GC_MAX(la, lb) + wn * stray);
        c = gc_pad_near(w, k0);
        b->least[e] = least;
        gc_four_put(&GC_OF_ENTRY(l, r0, e), l->room, least - w->pad, most + w->pad, h0 - c, h1 + c);
        gc_four_put(&GC_OF_ENTRY(l, l0, e), l->room, l0 - c, l1 + c, p0, p1);
    }
}

/* Boxes of all faces: see s02_faces. A face that faces the right way at a corner has this face, the corner and both edges there take part:
 * bits of them in kept_out. The hull of their boxes goes to part_out; it holds the boxes of those edges and corners too, wherever
 * their psi is counted from. */
GC_FN void gc_small_faces(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    GC_GLOBAL int *kept_out,
    GC_GLOBAL gc_raster *part_out) /* (GC_SMALL_FACES, 2, 8), see gc_small */
{
    gc_raster far = GC_CULL_FAR, hr0 = far, hr1 = far, hh0 = far, hh1 = far, hl0 = far, hl1 = far, hp0 = far, hp1 = far;
    int f;
    GC_ROLLED
    for (f = GC_SIDE_ID; f < m->nf; f += GC_SIDE_SIZE) {
        int j = topology[m->face_start + f], end = topology[m->face_start + f + 1], from = end - 1;
        gc_four facing = gc_four_at(&GC_OF_FACE(b, f0, f), b->turned_room);
        gc_four x = gc_vertex_of(b, topology[m->face_vertices + from]);
        int before = m->two_sided || facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
        gc_raster r0 = GC_CULL_FAR, r1 = -GC_CULL_FAR, y0 = GC_CULL_FAR, y1 = -GC_CULL_FAR;
        gc_raster first = x.d, last = x.d, p = x.d, p0 = x.d, p1 = x.d;
        gc_uint vertices = 0, low = 0, high = 0;
        for (; j < end; ++j) {
            int v = topology[m->face_vertices + j], e = topology[m->face_edges + from], right;
            gc_uint bit = (gc_uint)1 << (e & 31);
            x = gc_vertex_of(b, v);
            right = m->two_sided || facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
            if (right) vertices |= (gc_uint)1 << v;
            if (right | before) {
                if (e < 32) low |= bit;
                else high |= bit;
            }
            p += gc_short_way(x.d - last, w->period);
            p0 = GC_MIN(p, p0);
            p1 = GC_MAX(p, p1);
            r0 = GC_MIN(b->least[e], r0);
            r1 = GC_MAX(b->rho[v], r1);
            y0 = GC_MIN(x.b, y0);
            y1 = GC_MAX(x.b, y1);
            last = x.d;
            before = right;
            from = j;
        }
        if (!vertices) continue;
        GC_GROUP_OR(kept_out, (int)vertices);
        if (low) GC_GROUP_OR(kept_out + 1, (int)low);
        if (high) GC_GROUP_OR(kept_out + 2, (int)high);
        GC_GROUP_OR(kept_out + 3, (int)((gc_uint)1 << f));
        /* a loop that does not close in psi goes round the axis: the axis pierces the face */
        if (GC_ABS_R(p - first) > GC_F(0.5) * w->period) r0 = -w->inv_kappa;
        if (GC_F(1.0) + w->kappa * r0 < w->axis) {
            p0 = GC_F(-2.0) * w->period;
            p1 = GC_F(2.0) * w->period;
        }
        gc_box_corners(w, l, f, r0 - w->pad, r1 + w->pad, p0, p1, y0, y1, gc_pad_near(w, GC_F(1.0) + w->kappa * r0));
        {
            gc_four place = gc_entry_place(l, f), time = gc_entry_time(l, f);
            if (time.c < GC_F(-0.5) * w->period || time.d > GC_F(0.5) * w->period) {
                /* it goes over the cut in psi, or round the axis: its edges and corners may be a turn away */
                place.c -= GC_ABS_R(w->gn) * w->period;
                place.d += GC_ABS_R(w->gn) * w->period;
                time.a -= w->wn * w->period;
                time.b += w->wn * w->period;
                time.c = GC_MIN(time.c, -w->period);
                time.d = GC_MAX(time.d, w->period);
            }
            hr0 = GC_MIN(place.a, hr0);
            hr1 = GC_MIN(-place.b, hr1);
            hh0 = GC_MIN(place.c, hh0);
            hh1 = GC_MIN(-place.d, hh1);
            hl0 = GC_MIN(time.a, hl0);
            hl1 = GC_MIN(-time.b, hl1);
            hp0 = GC_MIN(time.c, hp0);
            hp1 = GC_MIN(-time.d, hp1);
        }
    }
    if (GC_SIDE_ID >= GC_SMALL_FACES) return; /* it had no face */
    part_out += 16 * GC_SIDE_ID;
    part_out[0] = hr0;
    part_out[1] = hh0;
    part_out[2] = hl0;
    part_out[3] = hp0;
    part_out[4] = hr1;
    part_out[5] = hh1;
    part_out[6] = hl1;
    part_out[7] = hp1;
}

/* boxes of all vertices: see s02_vertices */
GC_FN void gc_small_vertices(const gc_view *w, const gc_body *b, const gc_mesh *m, const gc_list *l)
{
    int v;
    GC_ROLLED
    for (v = GC_SIDE_ID; v < m->nv; v += GC_SIDE_SIZE) {
        gc_four x = gc_vertex_of(b, v);
        gc_raster kr = gc_kappa_r(w->kappa, x.a, x.c), p0 = x.d, p1 = x.d;
        if (kr < w->axis) {
            p0 = GC_F(-2.0) * w->period;
            p1 = GC_F(2.0) * w->period;
        }
        gc_box_corners(w, l, v, b->rho[v] - w->pad, b->rho[v] + w->pad, p0, p1, x.b, x.b, gc_pad_near(w, kr));
    }
}

/* ---- rows: features of A and their copies ----------------------------------------------------------------------- */

/* kind, copy and number of a row */
GC_FN int gc_small_row(int kind, int copy, int feature) { return feature | (copy + 2) << 8 | kind << 12; }
GC_FN int gc_row_feature(int row) { return row & 255; }
GC_FN int gc_row_copy(int row) { return (row >> 8 & 15) - 2; }
GC_FN int gc_row_kind(int row) { return row >> 12 & 3; }
/* A's list for a kind; B's */
GC_FN const gc_list *gc_small_list_a(const gc_search *q, int kind)
{
    return kind == GC_EE ? &q->all_ea : (kind == GC_VF ? &q->all_va : &q->all_fa);
}
GC_FN const gc_list *gc_small_list_b(const gc_search *q, int kind)
{
    return kind == GC_EE ? &q->all_eb : (kind == GC_VF ? &q->all_fb : &q->all_vb);
}

/* Hulls of both bodies from the parts that their work-items left: r0 h0 l0 p0 and, with the sign changed, r1 h1 l1 p1, least of each. All
 * work-items of the group take part. */
GC_FN void gc_small_hulls(const gc_search *q, const gc_small *t)
{
    int task, i;
    GC_ROLLED
    for (task = GC_LOCAL_ID; task < 16; task += GC_GROUP_SIZE) {
        int side = task >> 3, faces = side ? q->mesh_b.nf : q->mesh_a.nf,
            items = GC_SERIAL ? 1 : (GC_GROUP_SIZE - side + 1) >> 1;
        int n = GC_MIN(faces, items);
        GC_GLOBAL const gc_raster *from = t->parts + 8 * side + (task & 7);
        gc_raster least = *from;
        for (i = 1; i < n; ++i) least = GC_MIN(from[16 * i], least);
        t->hulls[task] = least;
    }
}

/* Does a box, with eta and lambda shifted, meet the hull of which least has r0 h0 l0, most -r1 -h1 -l1? `window`: of times */
GC_FN int gc_small_near(
    gc_four place,
    gc_four time,
    gc_raster dh,
    gc_raster dl,
    gc_four least,
    gc_four most,
    gc_raster window)
{
    return (place.a <= -most.a) & (place.b >= least.a) & (place.c + dh <= -most.b) & (place.d + dh >= least.b)
           & (time.a + dl - window <= -most.c) & (time.b + dl + window >= least.c);
}

/* what psi and a turn are rounded by, and more, in turns */
#define GC_SMALL_TURN GC_F(1e-3)
/* how far from B's features in psi others of A may be */
GC_FN gc_raster gc_small_reach(const gc_view *w)
{
    return w->wn * w->speed * GC_F(0.5) + w->window + GC_SMALL_TURN * w->period;
}

/* Which copies of a feature of A, beside copy 0, come into B's window (see s02_select): those whose psi does. */
GC_FN void gc_small_copies(const gc_view *w, gc_four time, gc_four least, gc_four most, int *first, int *last)
{
    gc_raster reach = gc_small_reach(w);
    *first = 0;
    *last = 0;
    if (time.d - time.c > GC_F(2.0) * w->period) return;
    /* clamped before they are ints, which may not hold them */
    *first = (int)GC_MAX(GC_MIN(-GC_FLOOR_R((time.d - least.d + reach) / w->period), GC_F(0.0)), GC_F(-2.0));
    *last = (int)GC_MAX(GC_MIN(GC_FLOOR_R((reach - most.d - time.c) / w->period), GC_F(2.0)), GC_F(0.0));
}

/* the lists of a side by part: edges first, then vertices and faces; where the words of bits of each begin, and what A's are tested for */
GC_FN int gc_small_place(int part) { return part == 0 ? 1 : (part == 1 ? 0 : 2); }
GC_FN int gc_small_word(int part) { return part == 0 ? 1 : (part == 1 ? 0 : 3); }
GC_FN int gc_small_kind(int part) { return part == 0 ? GC_EE : (part == 1 ? GC_VF : GC_FV); }

/* Rows of copies of A's features that come into B's window. */
GC_FN void gc_small_turned(const gc_search *q, const gc_small *t, gc_four least, gc_four most)
{
    const gc_view *w = &q->view;
    int part, i, k;
    for (part = 0; part < 3; ++part) {
        const gc_list *l = &q->all_va + gc_small_place(part);
        int n = part == 0 ? q->mesh_a.ne : (part == 1 ? q->mesh_a.nv : q->mesh_a.nf);
        GC_ROLLED
        for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
            int first, last;
            gc_four place, time;
            if (!(t->counts[gc_small_word(part) + (i >> 5)] >> (i & 31) & 1)) continue;
            place = gc_entry_place(l, i);
            time = gc_entry_time(l, i);
            gc_small_copies(w, time, least, most, &first, &last);
            for (k = first; k <= last; ++k) {
                gc_raster turn = (gc_raster)k * w->period;
                if (k != 0 && gc_small_near(place, time, -w->gn * turn, w->wn * turn, least, most, w->window))
                    t->rows[GC_GROUP_ADD(t->counts + GC_SMALL_N_ROWS, 1)] = gc_small_row(gc_small_kind(part), k, i);
            }
        }
    }
}

/* Of what faces the right way what is near enough: rows of A's features, edges first, and new bits of B's; and rows of copies of A. Where
 * there are copies, all of B's is near. */
GC_FN void gc_small_rows(const gc_search *q, const gc_small *t)
{
    const gc_view *w = &q->view;
    int part, side, i, copies = 0;
    if (w->wraps) {
        gc_four least = gc_four_at(t->hulls + 8, 1), most = gc_four_at(t->hulls + 12, 1);
        gc_raster rest = w->period - gc_small_reach(w);
        copies = -t->hulls[7] - least.d >= rest || -most.d - t->hulls[3] >= rest;
        if (copies) gc_small_turned(q, t, least, most);
    }
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) {
        GC_GLOBAL int *rows = t->rows, *n_rows = t->counts + GC_SMALL_N_ROWS, *near = t->counts + GC_SMALL_NEAR;
        GC_GLOBAL const int *kept = t->counts + GC_SMALL_WORDS * side;
        gc_four least = gc_four_at(t->hulls + (side ? 0 : 8), 1), most = gc_four_at(t->hulls + (side ? 4 : 12), 1);
        for (part = 0; part < 3; ++part) {
            int n = (&q->mesh_a + side)->nv, word = gc_small_word(part);
            const gc_list *l = &q->all_va + 3 * side + gc_small_place(part);
            if (part == 0) n = (&q->mesh_a + side)->ne;
            if (part == 2) n = (&q->mesh_a + side)->nf;
            GC_ROLLED
            for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
                int own = part == 0 ? word + (i >> 5) : word, bit = (int)((gc_uint)1 << (i & 31));
                if (!(kept[own] & bit)) continue;
                if (!(side & copies)
                    && !gc_small_near(
                        gc_entry_place(l, i), gc_entry_time(l, i), GC_F(0.0), GC_F(0.0), least, most, w->window))
                    continue;
                if (side) GC_GROUP_OR(near + own, bit);
                else rows[GC_GROUP_ADD(n_rows, 1)] = gc_small_row(gc_small_kind(part), 0, i);
            }
        }
    }
}

/* ---- all against all -------------------------------------------------------------------------------------------- */

/* ranges of a row: see gc_range_of; pixels are none here */
GC_FN gc_range gc_small_range(const gc_search *q, int row)
{
    const gc_view *w = &q->view;
    const gc_list *l = gc_small_list_a(q, gc_row_kind(row));
    gc_four place = gc_entry_place(l, gc_row_feature(row)), time = gc_entry_time(l, gc_row_feature(row));
    gc_raster turn = (gc_raster)gc_row_copy(row) * w->period, dh = -w->gn * turn, dl = w->wn * turn;
    gc_range r;
    r.r0 = place.a;
    r.r1 = place.b;
    r.h0 = place.c + dh;
    r.h1 = place.d + dh;
    r.l0 = time.a + dl - w->window;
    r.l1 = time.b + dl + w->window;
    return r;
}

/* which of l's boxes, of those set in `mask`, meet a; l begins at its box 0 or 32 */
GC_FN gc_uint gc_small_meets(const gc_list *l, int begin, gc_uint mask, gc_range a)
{
    gc_uint met = 0;
    while (mask) {
        int j = 31 - GC_LEADING_ZEROS(mask);
        gc_uint bit = (gc_uint)1 << j;
        mask ^= bit;
        if (gc_range_meets(a, gc_entry_place(l, begin + j), gc_entry_time(l, begin + j))) met |= bit;
    }
    return met;
}

/* note a row and B's features from `begin` on that are set in bits; what finds no room stays set */
GC_FN gc_uint gc_small_note(GC_GLOBAL int *count, GC_GLOBAL int *notes, int row, int begin, gc_uint bits)
{
    int n = GC_BIT_COUNT(bits), k;
    if (n == 0) return 0;
    k = GC_GROUP_ADD(count, n);
    n = GC_MIN(n, GC_SMALL_NOTES - k);
    for (notes += k; n > 0; --n) {
        int j = 31 - GC_LEADING_ZEROS(bits);
        bits ^= (gc_uint)1 << j;
        *notes++ = row | (begin + j) << 16;
    }
    return bits;
}

/* Look at what was noted of one sort: bracket in time and properness, see gc_emit; what is left is found. */
GC_FN void gc_small_sift(const gc_search *q, const gc_small *t, int of_edges)
{
    const gc_view *w = &q->view;
    GC_GLOBAL const int *notes = of_edges ? t->edges : t->points;
    int n = GC_MIN(t->counts[of_edges ? GC_SMALL_N_EDGES : GC_SMALL_N_POINTS], GC_SMALL_NOTES), k, at, may;
    GC_ROLLED
    for (k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) {
        int note = notes[k], i = gc_row_feature(note), j = note >> 16, kind = of_edges ? GC_EE : gc_row_kind(note),
            fv = kind == GC_FV;
        gc_four a = gc_entry_time(gc_small_list_a(q, kind), i), b = gc_entry_time(gc_small_list_b(q, kind), j);
        gc_raster dl = w->wn * ((gc_raster)gc_row_copy(note) * w->period), s0 = GC_F(-0.5), s1 = GC_F(0.5);
        if (w->speed > GC_F(0.0)) {
            s0 = (a.a + dl - b.b) / w->speed;
            s1 = (a.b + dl - b.a) / w->speed;
            s0 = s0 > GC_F(-0.5) ? GC_MIN(s0, GC_F(0.5)) : GC_F(-0.5);
            s1 = s1 < GC_F(0.5) ? GC_MAX(s1, GC_F(-0.5)) : GC_F(0.5);
        }
        if (w->cull_properness) {
            gc_raster angle = GC_F(0.5) * (s0 + s1) * w->theta,
                      spread = GC_F(0.5) * (s1 - s0) * w->theta + GC_CULL_PROPERNESS;
            if (of_edges) may = gc_edges_may_be_proper(q, i, j, angle, spread);
            else
                may = (fv ? q->mesh_a.two_sided : q->mesh_b.two_sided)
                      || gc_vertex_may_be_proper(
                          q, fv ? &q->a : &q->b, fv ? i : j, fv ? &q->b : &q->a, fv ? &q->mesh_b : &q->mesh_a,
                          fv ? q->inverse_length_b : q->inverse_length_a, fv ? j : i, fv ? -angle : angle, spread);
            if (!may) continue;
        }
        at = GC_GROUP_ADD(t->counts + GC_SMALL_N_FOUND, 1);
        t->found[at] = note;
        t->times[2 * at] = s0;
        t->times[2 * at + 1] = s1;
    }
}

/* What was found goes to the launch's list, in one piece. All work-items of the group take part. */
GC_FN void gc_small_hand_on(const gc_search *q, const gc_small *t)
{
    int n, k, begin;
    GC_BARRIER();
    n = t->counts[GC_SMALL_N_FOUND];
    if (GC_LOCAL_ID == 0 && n > 0) t->counts[GC_SMALL_BEGIN] = GC_ATOMIC_ADD(q->n_candidates, n);
    GC_BARRIER();
    begin = t->counts[GC_SMALL_BEGIN];
    GC_ROLLED
    for (k = GC_LOCAL_ID; k < n; k += GC_GROUP_SIZE) {
        int i = begin + k, note = t->found[k];
        GC_GLOBAL int *candidate = q->candidates + GC_CANDIDATE_STRIDE * i;
        if (i >= q->capacity || i < 0) continue;
        candidate[GC_CANDIDATE_pair] = q->pair;
        candidate[GC_CANDIDATE_kind] = gc_row_kind(note);
        candidate[GC_CANDIDATE_a] = gc_row_feature(note);
        candidate[GC_CANDIDATE_b] = note >> 16;
        q->brackets[GC_BRACKET_STRIDE * i + GC_BRACKET_first] = t->times[2 * k];
        q->brackets[GC_BRACKET_STRIDE * i + GC_BRACKET_last] = t->times[2 * k + 1];
    }
}

/* All rows, a work-item for each, against B's features that face the right way. */
GC_FN void gc_small_search(const gc_search *q, const gc_small *t, int n_rows)
{
    int first = 0, n_edges, n_points;
    GC_GLOBAL int *counts = t->counts;
    GC_GLOBAL const int *b = counts + GC_SMALL_NEAR;
    if (n_rows > 0) do {
            int r = first + GC_LOCAL_ID, row = 0;
            gc_uint met = 0, high = 0;
            first += GC_GROUP_SIZE;
            if (r < n_rows) {
                int kind;
                gc_range a;
                row = t->rows[r];
                kind = gc_row_kind(row);
                a = gc_small_range(q, row);
                met = gc_small_meets(
                    gc_small_list_b(q, kind), 0, (gc_uint)b[kind == GC_EE ? 1 : (kind == GC_VF ? 3 : 0)], a);
                if (kind == GC_EE && b[2]) high = gc_small_meets(&q->all_eb, 32, (gc_uint)b[2], a);
            }
            do {
                if (gc_row_kind(row) == GC_EE) {
                    met = gc_small_note(counts + GC_SMALL_N_EDGES, t->edges, row, 0, met);
                    high = gc_small_note(counts + GC_SMALL_N_EDGES, t->edges, row, 32, high);
                } else {
                    met = gc_small_note(counts + GC_SMALL_N_POINTS, t->points, row, 0, met);
                }
                GC_BARRIER();
                n_edges = counts[GC_SMALL_N_EDGES];
                n_points = counts[GC_SMALL_N_POINTS];
                if (first < n_rows && GC_MAX(n_edges, n_points) <= GC_SMALL_NOTES / 2) {
                    GC_BARRIER(); /* all have read them */
                    break;
                }
                gc_small_sift(q, t, 1);
                gc_small_sift(q, t, 0);
                gc_small_hand_on(q, t);
                if (first < n_rows || GC_MAX(n_edges, n_points) > GC_SMALL_NOTES) {
                    GC_BARRIER();
                    if (GC_LOCAL_ID == 0) {
                        counts[GC_SMALL_N_EDGES] = 0;
                        counts[GC_SMALL_N_POINTS] = 0;
                        counts[GC_SMALL_N_FOUND] = 0;
                    }
                }
                GC_BARRIER();
            } while (GC_MAX(n_edges, n_points) > GC_SMALL_NOTES);
        } while (first < n_rows);
}

#endif
