/* m04_order: faces in the order of the leaves of their tree, with each node divided along its longest side.
 * needs: common/gc_platform.h
 *
 * in:  centres of the faces' boxes, in the order of the faces
 * out: the faces in the order of the leaves
 * One launch for each level from the root down, one work-item per node: in a node of level l, the 2^(l - 1) faces that are
 * lowest along the axis on which its centres spread most go to the first child, the others to the second. The last launch
 * continues down to the leaves. Faces at equal places are ordered by number, so there is one answer, that of
 * gpu_collide/geometry/preparation/order.py, however it is found. Only the spread is rounded.
 * Degenerate: if all centres coincide, the faces' numbers divide them.
 */

/* Of runs longer than this so many faces are looked at for a pivot, which is taken so many beyond the cut. */
#define GC_RUN_LONG 256
#define GC_RUN_SAMPLE 31
#define GC_RUN_BEYOND 2
/* So many times all faces of a run are held against pivots; two to three times is usual. */
#define GC_RUN_PASSES 8

/* a run of faces: their middles and numbers, which change places together */
typedef struct {
    GC_GLOBAL gc_real *middles; /* (n, 3) */
    GC_GLOBAL int *faces;       /* (n,) */
} gc_run;

GC_FN void gc_run_swap(const gc_run *r, int i, int j)
{
    int face = r->faces[i];
    for (int k = 0; k < 3; ++k) {
        gc_real x = r->middles[3 * i + k];
        r->middles[3 * i + k] = r->middles[3 * j + k];
        r->middles[3 * j + k] = x;
    }
    r->faces[i] = r->faces[j];
    r->faces[j] = face;
}

/* Does (x, face) come before (y, other)? No two faces are equal. */
GC_FN int gc_run_before(gc_real x, int face, gc_real y, int other) { return x < y || (x == y && face < other); }

/* the axis along which faces first.. last spread most, the first of equal ones */
GC_FN int gc_run_axis(const gc_run *r, int first, int last)
{
    GC_GLOBAL const gc_real *m = r->middles;
    gc_real x0 = m[3 * first], y0 = m[3 * first + 1], z0 = m[3 * first + 2], x1 = x0, y1 = y0, z1 = z0;
    for (int i = first + 1; i <= last; ++i) {
        gc_real x = m[3 * i], y = m[3 * i + 1], z = m[3 * i + 2];
        x0 = x < x0 ? x : x0;
        x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0;
        y1 = y > y1 ? y : y1;
        z0 = z < z0 ? z : z0;
        z1 = z > z1 ? z : z1;
    }
    x1 -= x0;
    y1 -= y0;
    z1 -= z0;
    if (z1 > x1 && z1 > y1) return 2;
    return y1 > x1;
}

/* A face of first.. last for others to be held against, of a sample the one that comes just beyond place `cut`, on the side that is
 * longer: what is left is the short side, as a rule. `draw`: places that no order of the faces was made for. */
GC_FN int gc_run_pivot(const gc_run *r, int axis, int first, int last, int cut, gc_uint *draw)
{
    int size = last - first + 1, n = size > GC_RUN_LONG ? GC_RUN_SAMPLE : 3, at[GC_RUN_SAMPLE], rank;
    gc_real x[GC_RUN_SAMPLE];
    for (int i = 0; i < n; ++i) {
        int here, j = i;
        gc_real y;
        *draw = *draw * 1664525u + 1013904223u;
        here = first + (int)((*draw >> 4) % (gc_uint)size);
        y = r->middles[3 * here + axis];
        for (; j > 0 && gc_run_before(y, r->faces[here], x[j - 1], r->faces[at[j - 1]]); --j) {
            x[j] = x[j - 1];
            at[j] = at[j - 1];
        }
        x[j] = y;
        at[j] = here;
    }
    if (n == 3) return at[1];
    rank = (int)((gc_real)(cut - first) / (gc_real)size * (gc_real)n);
    rank += cut - first < size / 2 ? GC_RUN_BEYOND : -GC_RUN_BEYOND;
    return at[GC_MIN(GC_MAX(rank, 0), n - 1)];
}

/* The face at place `at` of a heap of `size` faces from `first` on, the highest on top, goes down to where it belongs. */
GC_FN void gc_run_sift(const gc_run *r, int axis, int first, int size, int at)
{
    GC_GLOBAL const gc_real *x = r->middles + axis;
    int next = 2 * at + 1;
    while (next < size) {
        int i = first + at, j = first + next;
        if (next + 1 < size && gc_run_before(x[3 * j], r->faces[j], x[3 * (j + 1)], r->faces[j + 1])) {
            ++next;
            ++j;
        }
        if (!gc_run_before(x[3 * i], r->faces[i], x[3 * j], r->faces[j])) return;
        gc_run_swap(r, i, j);
        at = next;
        next = 2 * at + 1;
    }
}

/* gc_run_cut, whatever the faces are: those before `cut` are a heap, whose highest change places with lower ones behind it. */
GC_LARGE void gc_run_cut_by_heap(const gc_run *r, int axis, int first, int last, int cut)
{
    GC_GLOBAL const gc_real *x = r->middles + axis;
    int size = cut - first, i;
    if (size < 1) return;
    for (i = size / 2; i-- > 0;) gc_run_sift(r, axis, first, size, i);
    for (i = cut; i <= last; ++i) {
        if (!gc_run_before(x[3 * i], r->faces[i], x[3 * first], r->faces[first])) continue;
        gc_run_swap(r, i, first);
        gc_run_sift(r, axis, first, size, 0);
    }
}

/* Faces first.. last so that the lowest come before place `cut`, and the others from there on: quickselect (Hoare 1961), with pivots
 * from samples (Floyd and Rivest 1975). Places are drawn alike for all meshes, so that one may be made for which all pivots are bad:
 * then by a heap. */
GC_LARGE void gc_run_cut(const gc_run *r, int axis, int first, int last, int cut)
{
    gc_uint draw = 1u;
    int spare = GC_RUN_PASSES * (last - first + 1);
    while (first < last) {
        int i = first, j = last, at = gc_run_pivot(r, axis, first, last, cut, &draw), face = r->faces[at];
        gc_real x = r->middles[3 * at + axis];
        spare -= last - first + 1;
        if (spare < 0) {
            gc_run_cut_by_heap(r, axis, first, last, cut);
            return;
        }
        while (i <= j) {
            while (gc_run_before(r->middles[3 * i + axis], r->faces[i], x, face)) ++i;
            while (gc_run_before(x, face, r->middles[3 * j + axis], r->faces[j])) --j;
            if (i <= j) {
                gc_run_swap(r, i, j);
                ++i;
                --j;
            }
        }
        if (cut <= j) last = j;
        else if (cut >= i) first = i;
        else return;
    }
}

GC_KERNEL void m04_order(
    int n_nodes, /* of the level */
    int level,   /* above the leaves: 1 and more */
    int deep,    /* 1: down to the leaves, 0: this level alone */
    int n_faces,
    GC_GLOBAL gc_real *middles_out, /* (n_faces, 3) read and put in order */
    GC_GLOBAL int *order_out)       /* (n_faces,) face numbers, read and put in order */
{
    gc_run run;
    run.middles = middles_out;
    run.faces = order_out;
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        int begin = j << level, end = GC_MIN((j + 1) << level, n_faces);
        for (int l = level; l > (deep ? 0 : level - 1); --l) {
            int lower = 1 << (l - 1);
            for (int first = begin; first + lower < end; first += 2 * lower) {
                int last = GC_MIN(first + 2 * lower, end) - 1;
                gc_run_cut(&run, gc_run_axis(&run, first, last), first, last, first + lower);
            }
        }
    }
}
