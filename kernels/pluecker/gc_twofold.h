/* gc_twofold.h: numbers as a sum of two, hi + lo, with about twice the digits.
 * needs: common/gc_math.h
 *
 * Knuth's sum and Dekker's product are exact without a fused multiply-add, which the kernels do not use; what is built on
 * them errs by some 2^-104 (single: 2^-46) of its operands. Slow, so only asked where the plain result is in doubt.
 * Valid while products stay within the range of gc_real: lengths between 1e-40 and 1e40 (single: 1e-6 and 1e6).
 */
#ifndef GC_TWOFOLD_H
#define GC_TWOFOLD_H

#if GC_PRECISION == 2
#define GC_SPLITTER GC_R(4097.0) /* 2^12 + 1 */
#else
#define GC_SPLITTER GC_R(134217729.0) /* 2^27 + 1 */
#endif

typedef struct {
    gc_real hi, lo;
} gc_two;

typedef struct {
    gc_two x, y, z;
} gc_two_vec;

GC_FN gc_two gc_two_of(gc_real a)
{
    gc_two r;
    r.hi = a;
    r.lo = GC_R(0.0);
    return r;
}

/* a + b where |a| >= |b| or a = 0: exact */
GC_FN gc_two gc_two_tidy(gc_real a, gc_real b)
{
    gc_two r;
    r.hi = a + b;
    r.lo = b - (r.hi - a);
    return r;
}

/* a + b: exact */
GC_FN gc_two gc_two_sum(gc_real a, gc_real b)
{
    gc_two r;
    gc_real part;
    r.hi = a + b;
    part = r.hi - a;
    r.lo = (a - (r.hi - part)) + (b - part);
    return r;
}

/* a b: exact */
GC_FN gc_two gc_two_product(gc_real a, gc_real b)
{
    gc_real big = GC_SPLITTER * a, a1 = big - (big - a), a0 = a - a1;
    gc_real large = GC_SPLITTER * b, b1 = large - (large - b), b0 = b - b1;
    gc_two r;
    r.hi = a * b;
    r.lo = ((a1 * b1 - r.hi) + a1 * b0 + a0 * b1) + a0 * b0;
    return r;
}

GC_FN gc_two gc_two_negative(gc_two a)
{
    a.hi = -a.hi;
    a.lo = -a.lo;
    return a;
}

GC_FN gc_two gc_two_add(gc_two a, gc_two b)
{
    gc_two s = gc_two_sum(a.hi, b.hi), t = gc_two_sum(a.lo, b.lo);
    s = gc_two_tidy(s.hi, s.lo + t.hi);
    return gc_two_tidy(s.hi, s.lo + t.lo);
}

GC_FN gc_two gc_two_sub(gc_two a, gc_two b) { return gc_two_add(a, gc_two_negative(b)); }

GC_FN gc_two gc_two_mul(gc_two a, gc_two b)
{
    gc_two p = gc_two_product(a.hi, b.hi);
    return gc_two_tidy(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* a / b, rounded */
GC_FN gc_real gc_two_ratio(gc_two a, gc_two b)
{
    gc_real q = a.hi / b.hi;
    gc_two rest = gc_two_sub(a, gc_two_mul(b, gc_two_of(q)));
    return q + rest.hi / b.hi;
}

/* the root of a >= 0: one step of Newton's */
GC_FN gc_two gc_two_root(gc_two a)
{
    gc_real r = GC_SQRT(a.hi);
    gc_two rest = gc_two_sub(a, gc_two_product(r, r));
    return r > GC_R(0.0) ? gc_two_tidy(r, GC_R(0.5) * rest.hi / r) : gc_two_of(r);
}

GC_FN gc_two_vec gc_two_vec_make(gc_two x, gc_two y, gc_two z)
{
    gc_two_vec r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}

GC_FN gc_two_vec gc_two_vec_of(gc_vec a) { return gc_two_vec_make(gc_two_of(a.x), gc_two_of(a.y), gc_two_of(a.z)); }

/* b - a: exact */
GC_FN gc_two_vec gc_two_from_to(gc_vec a, gc_vec b)
{
    return gc_two_vec_make(gc_two_sum(b.x, -a.x), gc_two_sum(b.y, -a.y), gc_two_sum(b.z, -a.z));
}

GC_FN gc_two gc_two_dot(gc_two_vec a, gc_two_vec b)
{
    return gc_two_add(gc_two_add(gc_two_mul(a.x, b.x), gc_two_mul(a.y, b.y)), gc_two_mul(a.z, b.z));
}

GC_FN gc_two_vec gc_two_cross(gc_two_vec a, gc_two_vec b)
{
    return gc_two_vec_make(
        gc_two_sub(gc_two_mul(a.y, b.z), gc_two_mul(a.z, b.y)), gc_two_sub(gc_two_mul(a.z, b.x), gc_two_mul(a.x, b.z)),
        gc_two_sub(gc_two_mul(a.x, b.y), gc_two_mul(a.y, b.x)));
}

GC_FN gc_two_vec gc_two_scale(gc_two_vec a, gc_two f)
{
    return gc_two_vec_make(gc_two_mul(a.x, f), gc_two_mul(a.y, f), gc_two_mul(a.z, f));
}

GC_FN gc_two_vec gc_two_vec_sum(gc_two_vec a, gc_two_vec b)
{
    return gc_two_vec_make(gc_two_add(a.x, b.x), gc_two_add(a.y, b.y), gc_two_add(a.z, b.z));
}

/* a of about unit length, made a unit: one step of Newton's for 1/|a| */
GC_FN gc_two_vec gc_two_unit(gc_vec a)
{
    gc_two_vec t = gc_two_vec_of(a);
    gc_real f = GC_R(1.0) / GC_SQRT(gc_dot(a, a));
    gc_two square = gc_two_mul(gc_two_dot(t, t), gc_two_product(f, f));
    gc_real rest = (GC_R(1.0) - square.hi) - square.lo;
    return gc_two_scale(t, gc_two_tidy(f, GC_R(0.5) * f * rest));
}

GC_FN gc_vec gc_two_rounded(gc_two_vec a) { return gc_make(a.x.hi, a.y.hi, a.z.hi); }

#endif
