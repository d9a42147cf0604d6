/* gc_scratch.h: the state that a group shares while it searches for the candidates of one pair (s02 to s06).
 * needs: narrow_phase/frame/gc_screen.h common/gc_cells.h
 *
 * Scratch is two blocks of global memory per group, one of gc_raster and one of int, divided by gc_take. If a pair needs
 * more than there is, nothing is written: the need is reported and the host runs that pair again with more.
 */
#ifndef GC_SCRATCH_H
#define GC_SCRATCH_H

/* a struct's pointer to an array of T */
#define GC_ARRAY(T, name) GC_GLOBAL T *name;

/* what screen and screen_small are given: items, and the tables of the parts of meshes that these name */
/* clang-format off */
#define GC_SCREEN_ARGS \
    GC_GLOBAL const int *todo_in,                 /* (n_todo,) item numbers, below 0: none */ \
    GC_GLOBAL const int *items_in,                /* (n_items, GC_ITEM_STRIDE) */ \
    GC_GLOBAL const gc_real *screw_in,            /* (n_pairs, GC_SCREW_STRIDE) */ \
    GC_GLOBAL const int *headers_in,              /* (parts, GC_MESH_STRIDE) */ \
    GC_GLOBAL const int *topology_in,             /* what the headers lead to */ \
    GC_GLOBAL const gc_raster *vertices_in,       /* of each part blocks of x, y, z, centred */ \
    GC_GLOBAL const gc_raster *normals_in,        /* of each part blocks of x, y, z */ \
    GC_GLOBAL const gc_raster *inverse_length_in, /* (edges,) 1 / length */ \
    GC_GLOBAL const int *edge0_in                 /* (parts,) where the edges of a part begin there */
/* and what they write, with the scratch of their groups */
#define GC_SCREEN_LIST_ARGS \
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, reals_per_group) */ \
    GC_GLOBAL int *scratch_ints,        /* (groups, ints_per_group) */ \
    int reals_per_group, \
    int ints_per_group, \
    int capacity, \
    GC_GLOBAL const int *state_in,      /* (n_pairs,) GC_PAIR_* bits */ \
    GC_GLOBAL int *no_room_out,         /* (n_items,) set to 1 where the scratch was too small */ \
    GC_GLOBAL int *need_out,            /* (2,) scratch that would have been needed */ \
    GC_GLOBAL int *n_candidates_out,    /* (1,) */ \
    GC_GLOBAL int *candidates_out,      /* (capacity, GC_CANDIDATE_STRIDE) */ \
    GC_GLOBAL gc_raster *brackets_out   /* (capacity, GC_BRACKET_STRIDE) */
/* clang-format on */

/* rows of the screen: row k holds rho in [base + k height, base + (k + 1) height) */
typedef struct {
    gc_raster base, height;
    int n;
} gc_rows;

/* A body in the screw frame. Of its vertices: place and psi. Of its faces: facing at a point is f0 + fx x + fz z, >= 0 where it
 * matters; and the normal. */
#define GC_PLACED_STRIDE 4
#define GC_PLACED_COLUMNS(ONE, MANY, X) \
    ONE(X, x) \
    ONE(X, y) \
    ONE(X, z) \
    ONE(X, psi)
GC_RECORD(GC_PLACED)
#define GC_TURNED_STRIDE 8
#define GC_TURNED_COLUMNS(ONE, MANY, X) \
    ONE(X, f0) \
    ONE(X, fx) \
    ONE(X, fz) \
    ONE(X, none) /* so that the normal begins a four */ \
    ONE(X, nx) \
    ONE(X, ny) \
    ONE(X, nz)
GC_RECORD(GC_TURNED)
/* Among many only this: fx and fz are the normal's z and x, times the rate of the turn. */
#define GC_FACED_STRIDE 4
#define GC_FACED_COLUMNS(ONE, MANY, X) \
    ONE(X, f0) \
    ONE(X, nx) \
    ONE(X, ny) \
    ONE(X, nz)
GC_RECORD(GC_FACED)
#define GC_FACE_CELLS(room) (GC_SERIAL ? GC_TURNED_STRIDE * (room) : GC_FACED_STRIDE * (room))
typedef struct {
    GC_GLOBAL gc_raster *placed, *rho; /* of each vertex: a record, and rho */
    GC_GLOBAL gc_raster *turned;       /* of each face: a record */
    GC_GLOBAL gc_raster *least;        /* (ne,) least rho on each edge */
    GC_GLOBAL int *faces;              /* (nf,) faces the right way: 0 nowhere, 1 in part, 2 everywhere */
    GC_GLOBAL int *taken;              /* bits of vertices and edges, of many work-items: gc_cull.h */
    int placed_room, turned_room;
    gc_raster way;    /* -1 backward faces matter (A), +1 forward ones (B) */
    gc_raster turn;   /* and so many times the turn for each unit of the flow */
    gc_raster rot[9]; /* mesh -> screw frame, row major: of directions; of points, scaled; and the shift of these */
    gc_raster scaled[9], shift[3];
} gc_body;

#define GC_OF_VERTEX(b, name, i) (b)->placed[GC_CELL(GC_PLACED_STRIDE, (b)->placed_room, GC_PLACED_##name, i)]
#define GC_OF_FACE(b, name, i) (b)->turned[GC_CELL(GC_TURNED_STRIDE, (b)->turned_room, GC_TURNED_##name, i)]

/* facing of a face: f0 fx fz; and its normal, in three */
GC_INLINE gc_four gc_facing_of(const gc_body *b, int f)
{
    gc_four r, n;
    if (GC_SERIAL) return gc_four_at(&GC_OF_FACE(b, f0, f), b->turned_room);
    n = gc_four_at(b->turned + GC_FACED_STRIDE * f, 1);
    r.a = n.a;
    r.b = -b->turn * n.d;
    r.c = b->turn * n.b;
    r.d = GC_F(0.0);
    return r;
}

GC_INLINE gc_four gc_turned_normal(const gc_body *b, int f)
{
    gc_four n, r;
    if (GC_SERIAL) return gc_four_at(&GC_OF_FACE(b, nx, f), b->turned_room);
    n = gc_four_at(b->turned + GC_FACED_STRIDE * f, 1);
    r.a = n.b;
    r.b = n.c;
    r.c = n.d;
    r.d = GC_F(0.0);
    return r;
}

/* x y z psi of a vertex */
GC_INLINE gc_four gc_vertex_of(const gc_body *b, int v) { return gc_four_at(&GC_OF_VERTEX(b, x, v), b->placed_room); }

/* a box of a list: its ranges, and of an edge the part that faces the right way, as a parameter */
#define GC_LIST_STRIDE 10
#define GC_LIST_COLUMNS(ONE, MANY, X) \
    GC_HULL_COLUMNS(ONE, MANY, X) \
    ONE(X, u0) \
    ONE(X, u1)
GC_RECORD(GC_LIST)

typedef struct {
    GC_GLOBAL gc_raster *box; /* records of GC_LIST */
    GC_GLOBAL int *id;        /* (room,) feature number */
    GC_GLOBAL int *copy;      /* (room,) doppel number k: psi shifted by k turns */
    GC_GLOBAL int *count;
    int room;
} gc_list;

#define GC_OF_ENTRY(l, name, i) (l)->box[GC_CELL(GC_LIST_STRIDE, (l)->room, GC_LIST_##name, i)]

/* r0 r1 h0 h1 of an entry, and l0 l1 p0 p1 */
GC_INLINE gc_four gc_entry_place(const gc_list *l, int i) { return gc_four_at(&GC_OF_ENTRY(l, r0, i), l->room); }
GC_INLINE gc_four gc_entry_time(const gc_list *l, int i) { return gc_four_at(&GC_OF_ENTRY(l, l0, i), l->room); }

/* a box as a feature has it: r0 r1 h0 h1, and l0 l1 p0 p1 */
typedef struct {
    gc_four place, time;
} gc_box;

GC_FN gc_box gc_box_of(const gc_list *l, int i)
{
    gc_box b;
    b.place = gc_entry_place(l, i);
    b.time = gc_entry_time(l, i);
    return b;
}

GC_FN void gc_box_put(const gc_list *l, int i, gc_box b)
{
    gc_four_put(&GC_OF_ENTRY(l, r0, i), l->room, b.place.a, b.place.b, b.place.c, b.place.d);
    gc_four_put(&GC_OF_ENTRY(l, l0, i), l->room, b.time.a, b.time.b, b.time.c, b.time.d);
}

/* ranges that a (rho, psi, y) box has */
GC_FN gc_box gc_box_corners(
    const gc_view *w,
    gc_raster r0,
    gc_raster r1,
    gc_raster p0,
    gc_raster p1,
    gc_raster y0,
    gc_raster y1,
    gc_raster pad)
{
    gc_raster gp0 = w->gn * p0, gp1 = w->gn * p1, gy0 = w->gn * y0, gy1 = w->gn * y1;
    gc_box b;
    b.place.a = r0;
    b.place.b = r1;
    b.place.c = w->wn * y0 - GC_MAX(gp0, gp1) - pad;
    b.place.d = w->wn * y1 - GC_MIN(gp0, gp1) + pad;
    b.time.a = GC_MIN(gy0, gy1) + w->wn * p0 - pad;
    b.time.b = GC_MAX(gy0, gy1) + w->wn * p1 + pad;
    b.time.c = p0;
    b.time.d = p1;
    return b;
}

/* box of a vertex: see s02_vertices */
GC_FN gc_box gc_box_vertex(const gc_view *w, const gc_body *b, int v)
{
    gc_four x = gc_vertex_of(b, v);
    gc_raster rho = b->rho[v], kr = GC_F(1.0) + w->kappa * rho, p0 = x.d, p1 = x.d;
    if (kr < w->axis) {
        p0 = GC_F(-2.0) * w->period;
        p1 = GC_F(2.0) * w->period;
    }
    return gc_box_corners(w, rho - w->pad, rho + w->pad, p0, p1, x.b, x.b, gc_pad_near(w, kr));
}

/* Box of a face, from the ranges of its corners and sides. `pierced`: a loop that does not close in psi goes round the axis: the
 * axis pierces the face. */
GC_FN gc_box gc_box_face(
    const gc_view *w,
    int pierced,
    gc_raster r0,
    gc_raster r1,
    gc_raster p0,
    gc_raster p1,
    gc_raster y0,
    gc_raster y1)
{
    if (pierced) r0 = -w->inv_kappa;
    if (GC_F(1.0) + w->kappa * r0 < w->axis) {
        p0 = GC_F(-2.0) * w->period;
        p1 = GC_F(2.0) * w->period;
    }
    return gc_box_corners(w, r0 - w->pad, r1 + w->pad, p0, p1, y0, y1, gc_pad_near(w, GC_F(1.0) + w->kappa * r0));
}

/* Records of a list in rows (s03): dense per branch, so that row k of branch c is record start[c] + k - row_lo[c]. Arrays of the
 * records, of the branches, and where each row begins. */
#define GC_ROWS_REALS(ARRAY, X) \
    ARRAY(X, h0) /* padded ranges of eta and lambda within the row */ \
    ARRAY(X, h1) \
    ARRAY(X, l0) \
    ARRAY(X, l1) \
    ARRAY(X, sh0) /* the ranges in order */ \
    ARRAY(X, sh1) \
    ARRAY(X, sl0) \
    ARRAY(X, sl1)
#define GC_ROWS_INTS(ARRAY, X) \
    ARRAY(X, branch) /* 2 * list entry + branch; for faces the list entry */ \
    ARRAY(X, order)  /* record numbers by row, then h0 */
#define GC_ROWS_BRANCHES(ARRAY, X) \
    ARRAY(X, row_lo) \
    ARRAY(X, row_hi) /* < row_lo: none */ \
    ARRAY(X, start)
typedef struct {
    GC_ROWS_REALS(GC_ARRAY, gc_raster)
    GC_ROWS_INTS(GC_ARRAY, int)
    GC_ROWS_BRANCHES(GC_ARRAY, int)
    GC_GLOBAL int *row_start; /* (rows + 1,) after s04 */
    int n;
} gc_records;

/* n . omega(x) / speed in the direction that matters for the body; >= 0 faces the right way, tolerance included */
GC_FN gc_raster gc_faces(const gc_body *b, int f, int v)
{
    gc_four facing = gc_facing_of(b, f), x = gc_vertex_of(b, v);
    return facing.a + facing.b * x.a + facing.c * x.c;
}

/* first of the sorted records i in [lo, hi) with h0 > limit */
GC_FN int gc_first_above(GC_GLOBAL const gc_raster *h0, int lo, int hi, gc_raster limit)
{
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (h0[mid] > limit) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

/* first of the sorted records i in [lo, hi) with h0 >= limit */
GC_FN int gc_first_from(GC_GLOBAL const gc_raster *h0, int lo, int hi, gc_raster limit)
{
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (h0[mid] >= limit) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

/* row of record k (its number, not its place in the order) */
GC_FN int gc_record_row(const gc_records *o, int k)
{
    int b = o->branch[k];
    return o->row_lo[b] + k - o->start[b];
}

/* ---- what a group takes of its scratch -------------------------------------------------------------------------- */

typedef struct {
    GC_GLOBAL gc_raster *reals;
    GC_GLOBAL int *ints;
    gc_long reals_used, ints_used;
    int reals_room, ints_room;  /* what the group has */
    GC_GLOBAL int *need_out;    /* (2,) most reals and ints that a pair of the launch would have needed */
    GC_GLOBAL int *no_room_out; /* set to 1 if it is not enough */
} gc_scratch;

/* a seat's part of the launch's scratch: GC_SCRATCH_ID's, or that of what others read */
GC_FN gc_scratch gc_scratch_of(
    int seat,
    GC_GLOBAL gc_raster *reals,
    GC_GLOBAL int *ints,
    int reals_per_group,
    int ints_per_group,
    GC_GLOBAL int *need_out,
    GC_GLOBAL int *no_room_out)
{
    gc_scratch s;
    reals_per_group &= ~15; /* whole cache lines, as all that is taken of it */
    ints_per_group &= ~15;
    s.reals = reals + (gc_long)seat * reals_per_group;
    s.ints = ints + (gc_long)seat * ints_per_group;
    s.reals_used = 0;
    s.ints_used = 0;
    s.reals_room = reals_per_group;
    s.ints_room = ints_per_group;
    s.need_out = need_out;
    s.no_room_out = no_room_out;
    return s;
}

/* more than any scratch has */
#define GC_NO_SUCH_ROOM 2147483647

/* n in whole cache lines; sums of what a pair takes are far from what 64 bits hold */
GC_FN gc_long gc_in_lines(gc_long n) { return (n + 15) & ~(gc_long)15; }

GC_FN GC_GLOBAL gc_raster *gc_take_reals(gc_scratch *s, gc_long n)
{
    GC_GLOBAL gc_raster *p = s->reals + s->reals_used;
    s->reals_used += gc_in_lines(n);
    return p;
}

GC_FN GC_GLOBAL int *gc_take_ints(gc_scratch *s, gc_long n)
{
    GC_GLOBAL int *p = s->ints + s->ints_used;
    s->ints_used += gc_in_lines(n);
    return p;
}

/* Does the scratch hold what was taken? If not, say so; the same answer for all work-items of the group. */
GC_FN int gc_fits(const gc_scratch *s)
{
    if (s->reals_used <= s->reals_room && s->ints_used <= s->ints_room) return 1;
    if (GC_LOCAL_ID == 0) {
        GC_ATOMIC_MAX(s->need_out, (int)GC_MIN(s->reals_used, GC_NO_SUCH_ROOM));
        GC_ATOMIC_MAX(s->need_out + 1, (int)GC_MIN(s->ints_used, GC_NO_SUCH_ROOM));
        *s->no_room_out = 1;
    }
    return 0;
}

GC_FN void gc_take_list(gc_scratch *s, gc_long entries, gc_list *to)
{
    gc_long room = gc_in_lines(entries);
    to->room = (int)room;
    to->box = gc_take_reals(s, GC_CELLS(GC_LIST_STRIDE, room));
    to->id = gc_take_ints(s, 2 * room + 1);
    to->copy = to->id + room;
    to->count = to->copy + room;
}

/* the same list under another name */
GC_FN void gc_same_list(const gc_list *l, gc_list *to)
{
    to->room = l->room;
    to->box = l->box;
    to->id = l->id;
    to->copy = l->copy;
    to->count = l->count;
}

#define GC_TAKE_REALS(n, name) to->name = gc_take_reals(s, n);
#define GC_TAKE_INTS(n, name) to->name = gc_take_ints(s, n);
GC_FN void gc_take_body(gc_scratch *s, const gc_mesh *m, gc_raster way, gc_raster turn, gc_body *to)
{
    to->placed_room = (int)gc_in_lines(m->nv);
    to->turned_room = (int)gc_in_lines(m->nf);
    to->placed = gc_take_reals(s, GC_CELLS(GC_PLACED_STRIDE, (gc_long)to->placed_room));
    to->turned = gc_take_reals(s, GC_FACE_CELLS((gc_long)to->turned_room));
    to->rho = gc_take_reals(s, m->nv);
    to->least = gc_take_reals(s, m->ne);
    to->faces = gc_take_ints(s, m->nf);
    to->way = way;
    to->turn = way * turn;
}

GC_FN void gc_take_branches(gc_scratch *s, int branches, int n_rows, gc_records *to)
{
    GC_ROWS_BRANCHES(GC_TAKE_INTS, branches);
    to->row_start = gc_take_ints(s, n_rows + 1);
    to->n = 0;
}

GC_FN void gc_take_records(gc_scratch *s, int n, gc_records *to)
{
    to->n = n;
    GC_ROWS_REALS(GC_TAKE_REALS, n);
    GC_ROWS_INTS(GC_TAKE_INTS, n);
}

#endif
