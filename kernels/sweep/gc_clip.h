/* gc_clip.h: the velocity nearest to a given one that leads into none of some planes.
 * needs: common/gc_constants.h common/gc_math.h
 *
 * Planes are added one at a time. While the result so far is on the right side of the next plane, it stays; otherwise the
 * result lies in this plane, where the earlier planes are lines, and among lines in the same way on one of them, where they
 * are end points. So a crease of two planes and a corner of three come out exactly, without iteration.
 */
#ifndef GC_CLIP_H
#define GC_CLIP_H

typedef struct {
    gc_vec normal; /* unit */
    gc_real push;  /* how fast the plane itself comes along it: the least that is allowed */
} gc_plane;

/* the k-th of a list in memory: (planes, 4), normal and push */
GC_FN gc_plane gc_plane_at(GC_GLOBAL const gc_real *planes, int k)
{
    gc_plane p;
    p.normal = gc_make(planes[4 * k], planes[4 * k + 1], planes[4 * k + 2]);
    p.push = planes[4 * k + 3];
    return p;
}

GC_FN void gc_plane_put(GC_GLOBAL gc_real *planes, int k, gc_plane p)
{
    planes[4 * k] = p.normal.x;
    planes[4 * k + 1] = p.normal.y;
    planes[4 * k + 2] = p.normal.z;
    planes[4 * k + 3] = p.push;
}

/* the place on the crease of two planes nearest to v; d is its direction, s2 the square of the sine between them. Nothing
 * is added to v where the planes stand still, so that it never becomes longer. */
GC_FN gc_vec gc_clip_crease(gc_vec v, const gc_plane *a, const gc_plane *b, gc_vec d, gc_real s2)
{
    gc_real c = gc_dot(a->normal, b->normal);
    gc_vec x = gc_scale(d, gc_dot(d, v));
    x = gc_add(x, gc_scale(a->normal, (a->push - c * b->push) / s2));
    return gc_add(x, gc_scale(b->normal, (b->push - c * a->push) / s2));
}

/* Along the crease of the planes i and j, from x, as little as need be to satisfy the planes before j; 0: they leave
 * nothing. */
GC_FN int gc_clip_corner(GC_GLOBAL const gc_real *planes, int j, gc_vec d, gc_real nothing, gc_vec *x)
{
    gc_real lo = -GC_CLIP_FAR, hi = GC_CLIP_FAR, go;
    int good = 1;
    for (int k = 0; k < j; ++k) {
        gc_plane p = gc_plane_at(planes, k);
        gc_real rate = gc_dot(p.normal, d), have = gc_dot(p.normal, *x) - p.push;
        if (rate > GC_CLIP_PARALLEL) {
            lo = GC_MAX(lo, -have / rate);
        } else if (rate < -GC_CLIP_PARALLEL) {
            hi = GC_MIN(hi, -have / rate);
        } else if (have < -nothing) {
            good = 0;
        }
    }
    if (lo > hi) {
        if ((lo - hi) * GC_CLIP_PARALLEL > nothing) good = 0;
        go = GC_R(0.5) * (lo + hi);
    } else {
        go = GC_MAX(lo, GC_MIN(hi, GC_R(0.0)));
    }
    *x = gc_add(*x, gc_scale(d, go));
    return good;
}

/* Within plane i, the planes before it: 0 if they leave nothing. */
GC_FN int gc_clip_within(gc_vec v, GC_GLOBAL const gc_real *planes, int i, gc_real nothing, gc_vec *x, int *active)
{
    gc_plane a = gc_plane_at(planes, i);
    int good = 1;
    *x = gc_add(v, gc_scale(a.normal, a.push - gc_dot(a.normal, v)));
    *active = 1;
    for (int j = 0; j < i; ++j) {
        gc_plane b = gc_plane_at(planes, j);
        gc_vec d = gc_cross(a.normal, b.normal), on;
        gc_real s2 = gc_dot(d, d), over = b.push - gc_dot(b.normal, *x);
        if (over <= nothing) continue;
        if (s2 <= GC_CLIP_PARALLEL * GC_CLIP_PARALLEL) {
            /* the same plane as far as can be told, or two that face each other */
            if (over > nothing + GC_CLIP_PARALLEL * gc_norm(*x)) good = 0;
            continue;
        }
        d = gc_scale(d, GC_R(1.0) / GC_SQRT(s2));
        on = gc_clip_crease(v, &a, &b, d, s2);
        *x = on;
        if (!gc_clip_corner(planes, j, d, nothing, x)) good = 0;
        on = gc_sub(*x, on);
        *active = gc_dot(on, on) > GC_R(0.0) ? 3 : 2;
    }
    return good;
}

/* what is no length beside a velocity and its planes */
GC_FN gc_real gc_clip_nothing(gc_vec v, GC_GLOBAL const gc_real *planes, int count)
{
    gc_real most = gc_norm(v);
    for (int i = 0; i < count; ++i) most = GC_MAX(most, GC_ABS(gc_plane_at(planes, i).push));
    return most * (GC_CLIP_ROUNDING * GC_ROUNDING);
}

/* Does none of the planes come? */
GC_FN int gc_clip_still(GC_GLOBAL const gc_real *planes, int count)
{
    for (int i = 0; i < count; ++i)
        if (gc_plane_at(planes, i).push > GC_R(0.0)) return 0;
    return 1;
}

/* The answer in *out; in how many planes it lies: 0 none, 1 to 3, or -1 if there is none (planes that come together), *out
 * is what is left then. */
GC_FN int gc_clip(gc_vec v, GC_GLOBAL const gc_real *planes, int count, gc_vec *out)
{
    gc_real nothing = gc_clip_nothing(v, planes, count);
    gc_vec x = v;
    int active = 0, good = 1;
    for (int i = 0; i < count; ++i) {
        gc_plane a = gc_plane_at(planes, i);
        if (gc_dot(a.normal, x) >= a.push - nothing) continue;
        if (!gc_clip_within(v, planes, i, nothing, &x, &active)) good = 0;
    }
    /* Planes that hardly differ from facing each other may leave nothing as far as can be told; standing still is never into
     * planes that do not come. */
    if (!good && gc_clip_still(planes, count)) {
        x = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        active = 3;
        good = 1;
    }
    /* What is nothing here may be more than a cast takes for going along (GC_SWEEP_ALONG), which then stops again at what
     * this lets be, for ever. Against the normal x becomes shorter only. */
    for (int i = 0; i < count; ++i) {
        gc_plane a = gc_plane_at(planes, i);
        gc_real over = a.push - gc_dot(a.normal, x);
        if (over > GC_R(0.0) && over <= nothing) x = gc_add(x, gc_scale(a.normal, over));
    }
    *out = x;
    return good ? active : -1;
}

#endif
