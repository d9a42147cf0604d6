/* gc_bvh8.h: trees with eight children per node, and the straight path of a box through one.
 * needs: common/gc_constants.h common/gc_math.h
 *
 * The boxes of a node's eight children lie side by side, axis by axis, so that one loop of eight tests all of them; `kids`
 * are numbers of nodes, or of the contents of a leaf (below 0). A missing child has an inverted box. Times are fractions of
 * the path; everything is padded for rounding in the type used for culling.
 */
#ifndef GC_BVH8_H
#define GC_BVH8_H

#define GC_BVH8_KIDS 8
/* raster numbers of a node: the lower borders in x of all children, then in y and z, then the upper ones */
#define GC_BVH8_STRIDE 48
#define GC_BVH8_UPPER 24
/* levels that a tree may have, and what its walk leaves behind on a stack */
#define GC_BVH8_LEVELS 14
#define GC_BVH8_STACK 100
/* what a leaf holds: first << 3 | (how many - 1), in the bits of -1 - kid */
#define GC_BVH8_LEAF 3

/* later than any time */
#define GC_BVH8_NEVER GC_F(3e38)
/* slower than this per path, an axis counts as not moved along; nothing moves by more than the pad then */
#define GC_BVH8_SLOW GC_R(1e-18)

typedef struct {
    gc_raster enter[3], leave[3]; /* of each axis: what is taken off the border before and behind */
    gc_raster per[3];             /* one over the way along it */
    int border[3];                /* where the borders stand that are met first */
    gc_real begin;                /* when the raster's times begin */
} gc_ray_box;

/* Path from c by v, of a box of half the sides `sides` (which takes in what features may be off by), through the box
 * from low to high: 0 if it does not come there before `last`. */
GC_FN int gc_ray_box_make(
    gc_vec c,
    gc_vec v,
    gc_vec sides,
    const gc_real *low,
    const gc_real *high,
    gc_real last,
    gc_ray_box *d)
{
    gc_real at[3], way[3], side[3], per[3], first = GC_R(0.0), until = last;
    at[0] = c.x;
    at[1] = c.y;
    at[2] = c.z;
    way[0] = v.x;
    way[1] = v.y;
    way[2] = v.z;
    side[0] = sides.x;
    side[1] = sides.y;
    side[2] = sides.z;
    for (int k = 0; k < 3; ++k) {
        gc_real pad = side[k] + GC_BVH8_PAD * (GC_R(1.0) + side[k]) + GC_R(4.0) * GC_ROUNDING * GC_ABS(at[k]), a, b;
        gc_real enter, leave;
        per[k] = GC_R(1.0) / (GC_ABS(way[k]) < GC_BVH8_SLOW ? (way[k] < GC_R(0.0) ? -GC_BVH8_SLOW : GC_BVH8_SLOW) : way[k]);
        a = (low[k] - pad - at[k]) * per[k];
        b = (high[k] + pad - at[k]) * per[k];
        enter = GC_MIN(a, b);
        leave = GC_MAX(a, b);
        if (enter > first) first = enter;
        if (leave < until) until = leave;
    }
    if (first > until) return 0;
    first = first > GC_R(0.0) ? first - GC_BVH8_PAD * first : GC_R(0.0);
    d->begin = first;
    for (int k = 0; k < 3; ++k) {
        gc_real o = at[k] + first * way[k];
        gc_real pad = side[k] + GC_R(2.0) * GC_BVH8_PAD * (GC_R(1.0) + side[k] + GC_ABS(o)), sign;
        int back = way[k] < GC_R(0.0);
        sign = back ? GC_R(-1.0) : GC_R(1.0);
        d->enter[k] = (gc_raster)(o + sign * pad);
        d->leave[k] = (gc_raster)(o - sign * pad);
        d->per[k] = (gc_raster)per[k];
        d->border[k] = (back ? GC_BVH8_UPPER : 0) + GC_BVH8_KIDS * k;
    }
    return 1;
}

/* a time as the raster has it, not sooner */
GC_FN gc_raster gc_ray_box_time(const gc_ray_box *d, gc_real time)
{
    gc_raster t = (gc_raster)(time - d->begin);
    return t + GC_BVH8_MARGIN * GC_ABS_R(t) + GC_F(1e-37);
}

/* when the path comes to each of a node's boxes: times, or GC_BVH8_NEVER; a bit of each to which it comes */
GC_FN int gc_ray_box_look(const gc_ray_box *d, GC_GLOBAL const gc_raster *node, gc_raster last, gc_raster *times)
{
    GC_GLOBAL const gc_raster *x = node + d->border[0], *y = node + d->border[1], *z = node + d->border[2];
    GC_GLOBAL const gc_raster *x1 = node + (GC_BVH8_UPPER - d->border[0]);
    GC_GLOBAL const gc_raster *y1 = node + (GC_BVH8_UPPER + 2 * GC_BVH8_KIDS - d->border[1]);
    GC_GLOBAL const gc_raster *z1 = node + (GC_BVH8_UPPER + 4 * GC_BVH8_KIDS - d->border[2]);
    gc_raster ex = d->enter[0], ey = d->enter[1], ez = d->enter[2], lx = d->leave[0], ly = d->leave[1], lz = d->leave[2];
    gc_raster px = d->per[0], py = d->per[1], pz = d->per[2];
    int some = 0;
    GC_INDEPENDENT
    for (int k = 0; k < GC_BVH8_KIDS; ++k) {
        gc_raster a = (x[k] - ex) * px, b = (y[k] - ey) * py, c = (z[k] - ez) * pz;
        gc_raster e = (x1[k] - lx) * px, f = (y1[k] - ly) * py, g = (z1[k] - lz) * pz;
        gc_raster first = GC_MAX(a, b), until = GC_MIN(e, f);
        first = GC_MAX(first, c);
        until = GC_MIN(until, g);
        first = GC_MAX(first, GC_F(0.0));
        until = GC_MIN(until, last);
        first = first - GC_BVH8_MARGIN * first;
        until = until + GC_BVH8_MARGIN * GC_ABS_R(until);
        times[k] = first <= until ? first : GC_BVH8_NEVER;
        some |= first <= until ? 1 << k : 0;
    }
    return some;
}

/* children that may be met, those with a bit, onto a stack, the earliest on top; how high it is then */
GC_FN int gc_bvh8_pile(GC_GLOBAL const int *kids, const gc_raster *times, int some, int *stack, gc_raster *when, int n)
{
    int base = n;
    while (some != 0) {
        int k = 31 - GC_LEADING_ZEROS((gc_uint)some), i = n, kid = kids[k];
        gc_raster t = times[k];
        some ^= 1 << k;
        while (i > base && when[i - 1] < t) {
            when[i] = when[i - 1];
            stack[i] = stack[i - 1];
            --i;
        }
        when[i] = t;
        stack[i] = kid;
        ++n;
    }
    return n;
}

/* the same of all that are not GC_BVH8_NEVER */
GC_FN int gc_bvh8_push(GC_GLOBAL const int *kids, const gc_raster *times, int *stack, gc_raster *when, int n)
{
    int some = 0;
    for (int k = 0; k < GC_BVH8_KIDS; ++k) some |= times[k] < GC_BVH8_NEVER ? 1 << k : 0;
    return gc_bvh8_pile(kids, times, some, stack, when, n);
}

#endif
