/* gc_small.h: the screen of two small meshes among many work-items: facing as bits, and every feature against every other
 * (s02 to s06).
 * needs: narrow_phase/candidates/gc_box_overlap.h narrow_phase/candidates/gc_feature_bounds.h
 *
 * A mesh of up to GC_SMALL_VERTICES, GC_SMALL_EDGES and GC_SMALL_FACES has a bit for each feature and a fixed place for its
 * box, so nothing is counted, copied or laid out. Boxes are those of whole features (gc_feature_bounds.h).
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
#define GC_SMALL_RHO (GC_SMALL_TURNED + GC_FACE_CELLS(GC_SMALL_FACES))
#define GC_SMALL_LEAST (GC_SMALL_RHO + GC_SMALL_VERTICES)
#define GC_SMALL_BODY (GC_SMALL_LEAST + GC_SMALL_EDGES)
#define GC_SMALL_BOXES GC_CELLS(GC_LIST_STRIDE, GC_SMALL_EDGES)
#define GC_SMALL_TIMES (2 * GC_SMALL_BODY + 6 * GC_SMALL_BOXES)
#define GC_SMALL_HULLS (GC_SMALL_TIMES + 4 * GC_SMALL_NOTES)
#define GC_SMALL_REALS (GC_SMALL_HULLS + 2 * GC_BOUNDS_SIZE * (1 + GC_SMALL_FACES))
#define GC_SMALL_INTS (GC_SMALL_COUNTS + GC_SMALL_ROWS + 4 * GC_SMALL_NOTES)

/* what is shared beside the search; see above */
typedef struct {
    GC_GLOBAL int *counts; /* (GC_SMALL_COUNTS,) */
    GC_GLOBAL int *rows;   /* (GC_SMALL_ROWS,) */
    GC_GLOBAL int *edges;  /* (GC_SMALL_NOTES,) noted: row, and B's feature above it */
    GC_GLOBAL int *points;
    GC_GLOBAL int *found;       /* (2 GC_SMALL_NOTES,) the same of candidates */
    GC_GLOBAL gc_raster *times; /* (2 GC_SMALL_NOTES, 2) their brackets */
    GC_GLOBAL gc_raster *hulls; /* (2, GC_BOUNDS_SIZE) of what faces the right way */
    GC_GLOBAL gc_raster *parts; /* (GC_SMALL_FACES, 2, GC_BOUNDS_SIZE) the same of what each work-item of a side looked at */
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
        t->parts = t->hulls + 2 * GC_BOUNDS_SIZE;
    }
}

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* least rho and boxes of all edges */
GC_FN void gc_small_edges(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l)
{
    int e;
    GC_ROLLED
    for (e = GC_SIDE_ID; e < m->ne; e += GC_SIDE_SIZE) gc_box_put(l, e, gc_box_edge(w, b, m, topology, e, b->least + e));
}

/* Boxes of all faces: see s02_faces. A face that faces the right way at a corner has this face, the corner and both edges there take part:
 * bits of them in kept_out. The hull of their boxes goes to part_out. */
GC_FN void gc_small_faces(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l,
    GC_GLOBAL int *kept_out,
    GC_GLOBAL gc_raster *part_out) /* (GC_SMALL_FACES, 2, GC_BOUNDS_SIZE), see gc_small */
{
    gc_bounds hull = gc_bounds_none();
    int f;
    GC_ROLLED
    for (f = GC_SIDE_ID; f < m->nf; f += GC_SIDE_SIZE) {
        int j = topology[m->face_start + f], end = topology[m->face_start + f + 1], from = end - 1;
        gc_four facing = gc_facing_of(b, f);
        gc_four x = gc_vertex_of(b, topology[m->face_vertices + from]);
        int before = m->two_sided || facing.a + facing.b * x.a + facing.c * x.c >= GC_F(0.0);
        gc_raster r0 = GC_CULL_FAR, r1 = -GC_CULL_FAR, y0 = GC_CULL_FAR, y1 = -GC_CULL_FAR;
        gc_raster first = x.d, last = x.d, p = x.d, p0 = x.d, p1 = x.d;
        gc_uint vertices = 0, low = 0, high = 0;
        gc_box box;
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
        box = gc_box_face(w, GC_ABS_R(p - first) > GC_F(0.5) * w->period, r0, r1, p0, p1, y0, y1);
        gc_box_put(l, f, box);
        gc_bounds_add(w, box, &hull);
    }
    if (GC_SIDE_ID < GC_SMALL_FACES)
        gc_bounds_put(part_out + 2 * GC_BOUNDS_SIZE * GC_SIDE_ID, hull); /* others had no face */
}

/* boxes of all vertices */
GC_FN void gc_small_vertices(const gc_view *w, const gc_body *b, const gc_mesh *m, const gc_list *l)
{
    int v;
    GC_ROLLED
    for (v = GC_SIDE_ID; v < m->nv; v += GC_SIDE_SIZE) gc_box_put(l, v, gc_box_vertex(w, b, v));
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

/* the lists of a side by part: edges first, then vertices and faces; where the words of bits of each begin, and what A's are tested for */
GC_FN int gc_small_place(int part) { return part == 0 ? 1 : (part == 1 ? 0 : 2); }
GC_FN int gc_small_word(int part) { return part == 0 ? 1 : (part == 1 ? 0 : 3); }
GC_FN int gc_small_kind(int part) { return part == 0 ? GC_EE : (part == 1 ? GC_VF : GC_FV); }

/* Rows of copies of A's features that come into B's window. */
GC_FN void gc_small_turned(const gc_search *q, const gc_small *t, gc_bounds hull)
{
    const gc_view *w = &q->view;
    int part, i, k;
    for (part = 0; part < 3; ++part) {
        const gc_list *l = &q->all_va + gc_small_place(part);
        int n = part == 0 ? q->mesh_a.ne : (part == 1 ? q->mesh_a.nv : q->mesh_a.nf);
        GC_ROLLED
        for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
            int first, last;
            gc_box box;
            if (!(t->counts[gc_small_word(part) + (i >> 5)] >> (i & 31) & 1)) continue;
            box = gc_box_of(l, i);
            if (box.time.d - box.time.c > GC_F(2.0) * w->period) continue; /* no azimuth, no copies */
            gc_feature_bounds_copies(w, box.time.c, box.time.d, hull, &first, &last);
            for (k = first; k <= last; ++k) {
                gc_raster turn = (gc_raster)k * w->period;
                if (k != 0 && gc_bounds_meet(w, box, -w->gn * turn, w->wn * turn, hull))
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
        gc_bounds a = gc_bounds_at(t->hulls), b = gc_bounds_at(t->hulls + GC_BOUNDS_SIZE);
        gc_raster rest = w->period - gc_feature_bounds_reach(w);
        copies = -a.most.d - b.least.d >= rest || -b.most.d - a.least.d >= rest;
        if (copies) gc_small_turned(q, t, b);
    }
    GC_ROLLED
    for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) {
        GC_GLOBAL int *rows = t->rows, *n_rows = t->counts + GC_SMALL_N_ROWS, *near = t->counts + GC_SMALL_NEAR;
        GC_GLOBAL const int *kept = t->counts + GC_SMALL_WORDS * side;
        gc_bounds hull = gc_bounds_at(t->hulls + (side ? 0 : GC_BOUNDS_SIZE));
        for (part = 0; part < 3; ++part) {
            int n = (&q->mesh_a + side)->nv, word = gc_small_word(part);
            const gc_list *l = &q->all_va + 3 * side + gc_small_place(part);
            if (part == 0) n = (&q->mesh_a + side)->ne;
            if (part == 2) n = (&q->mesh_a + side)->nf;
            GC_ROLLED
            for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
                int own = part == 0 ? word + (i >> 5) : word, bit = (int)((gc_uint)1 << (i & 31));
                if (!(kept[own] & bit)) continue;
                if (!(side & copies) && !gc_bounds_meet(w, gc_box_of(l, i), GC_F(0.0), GC_F(0.0), hull)) continue;
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
    GC_ROLLED
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
            s0 = (a.a + dl - b.b) * w->inv_speed;
            s1 = (a.b + dl - b.a) * w->inv_speed;
            s0 = s0 > GC_F(-0.5) ? GC_MIN(s0, GC_F(0.5)) : GC_F(-0.5);
            s1 = s1 < GC_F(0.5) ? GC_MAX(s1, GC_F(-0.5)) : GC_F(0.5);
        }
        if (w->cull_properness) {
            gc_raster angle = GC_F(0.5) * (s0 + s1) * w->theta,
                      spread = GC_F(0.5) * (s1 - s0) * w->theta + (GC_CULL_PROPERNESS + w->tilt);
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
