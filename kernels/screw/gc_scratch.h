/* gc_scratch.h: what a group of work-items shares while it looks for the candidates of one pair (s02 to s06).
 *
 * Scratch is two blocks of global memory per group, one of gc_raster and one of int, cut up by gc_take. If a pair
 * needs more than there is, nothing is written: the need is reported and the host runs that pair again with more.
 */
#ifndef GC_SCRATCH_H
#define GC_SCRATCH_H

/* rows of the screen: row k holds rho in [base + k height, base + (k + 1) height) */
typedef struct {
    gc_raster base, height;
    int n;
} gc_rows;

/* a body in the screw frame */
typedef struct {
    GC_GLOBAL gc_raster *x, *y, *z, *rho, *psi; /* (nv,) */
    GC_GLOBAL gc_raster *nx, *ny, *nz;          /* (nf,) face normals */
    GC_GLOBAL gc_raster *f0, *fx, *fz;          /* (nf,) facing at a point is f0 + fx x + fz z, >= 0 where it matters */
    GC_GLOBAL gc_raster *least;                 /* (ne,) least rho on each edge */
    GC_GLOBAL int *faces;                       /* (nf,) faces the right way: 0 nowhere, 1 in part, 2 everywhere */
    gc_raster way;                              /* -1 backward faces matter (A), +1 forward ones (B) */
} gc_body;

/* fields of a box list: ranges of rho, eta, lambda, psi, and of the edge parameter that faces the right way */
#define GC_R0 0
#define GC_R1 1
#define GC_H0 2
#define GC_H1 3
#define GC_L0 4
#define GC_L1 5
#define GC_P0 6
#define GC_P1 7
#define GC_U0 8
#define GC_U1 9
#define GC_BOX_FIELDS 10

typedef struct {
    GC_GLOBAL gc_raster *box; /* (GC_BOX_FIELDS, room) */
    GC_GLOBAL int *id;        /* (room,) feature number */
    GC_GLOBAL int *copy;      /* (room,) doppel number k: psi shifted by k turns */
    GC_GLOBAL int *count;
    int room;
} gc_list;

typedef struct {
    GC_GLOBAL gc_raster *reals;
    GC_GLOBAL int *ints;
    int reals_used, ints_used;
} gc_scratch;

/* records of a list in rows (s03): dense per branch, so that row k of branch c is record start[c] + k - row_lo[c] */
typedef struct {
    GC_GLOBAL gc_raster *h0, *h1, *l0, *l1;     /* (n,) padded ranges of eta and lambda within the row */
    GC_GLOBAL int *branch;                      /* (n,) 2 * list entry + branch; for faces the list entry */
    GC_GLOBAL int *row_lo, *row_hi, *start;     /* (branches,) row_hi < row_lo: none */
    GC_GLOBAL int *row_start;                   /* (rows + 1,) after s04 */
    GC_GLOBAL int *order;                       /* (n,) record numbers by row, then h0 */
    GC_GLOBAL gc_raster *sh0, *sh1, *sl0, *sl1; /* (n,) the ranges in that order */
    int n;
} gc_records;

/* used + n in whole cache lines; more than an int holds stays at GC_NO_SUCH_ROOM, which no scratch has */
#define GC_NO_SUCH_ROOM 2147483647
GC_FN int gc_grown(int used, int n)
{
    if (n < 0 || n > GC_NO_SUCH_ROOM - 16 || used > GC_NO_SUCH_ROOM - 16 - n) return GC_NO_SUCH_ROOM;
    return used + ((n + 15) & ~15);
}

GC_FN GC_GLOBAL gc_raster *gc_take_reals(gc_scratch *s, int n)
{
    GC_GLOBAL gc_raster *p = s->reals + s->reals_used;
    s->reals_used = gc_grown(s->reals_used, n);
    return p;
}

GC_FN GC_GLOBAL int *gc_take_ints(gc_scratch *s, int n)
{
    GC_GLOBAL int *p = s->ints + s->ints_used;
    s->ints_used = gc_grown(s->ints_used, n);
    return p;
}

GC_FN gc_list gc_take_list(gc_scratch *s, int room)
{
    gc_list l;
    l.room = (room + 15) & ~15;
    l.box = gc_take_reals(s, GC_BOX_FIELDS * l.room);
    l.id = gc_take_ints(s, l.room);
    l.copy = gc_take_ints(s, l.room);
    l.count = gc_take_ints(s, 1);
    return l;
}

GC_FN gc_body gc_take_body(gc_scratch *s, const gc_mesh *m, gc_raster way)
{
    gc_body b;
    b.x = gc_take_reals(s, m->nv);
    b.y = gc_take_reals(s, m->nv);
    b.z = gc_take_reals(s, m->nv);
    b.rho = gc_take_reals(s, m->nv);
    b.psi = gc_take_reals(s, m->nv);
    b.nx = gc_take_reals(s, m->nf);
    b.ny = gc_take_reals(s, m->nf);
    b.nz = gc_take_reals(s, m->nf);
    b.f0 = gc_take_reals(s, m->nf);
    b.fx = gc_take_reals(s, m->nf);
    b.fz = gc_take_reals(s, m->nf);
    b.least = gc_take_reals(s, m->ne);
    b.faces = gc_take_ints(s, m->nf);
    b.way = way;
    return b;
}

#endif
