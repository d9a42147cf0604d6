/* gc_math.h: small vectors, quaternions, and the elementary functions whose bits must agree on every target.
 * needs: common/gc_platform.h
 *
 * Only + - * / and sqrt are used: those are correctly rounded everywhere, so the same text gives the same bits. The
 * polynomials are Chebyshev fits (arctangent) and Taylor series (the others) on the interval named beside each.
 */
#ifndef GC_MATH_H
#define GC_MATH_H

typedef struct {
    gc_real x, y, z;
} gc_vec;

GC_FN gc_vec gc_make(gc_real x, gc_real y, gc_real z)
{
    gc_vec r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}

GC_FN gc_vec gc_add(gc_vec a, gc_vec b) { return gc_make(a.x + b.x, a.y + b.y, a.z + b.z); }
GC_FN gc_vec gc_sub(gc_vec a, gc_vec b) { return gc_make(a.x - b.x, a.y - b.y, a.z - b.z); }
GC_FN gc_vec gc_scale(gc_vec a, gc_real f) { return gc_make(a.x * f, a.y * f, a.z * f); }
GC_FN gc_real gc_dot(gc_vec a, gc_vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
GC_FN gc_vec gc_cross(gc_vec a, gc_vec b)
{
    return gc_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* the i-th vector of a list in memory */
GC_FN gc_vec gc_load_vec(GC_GLOBAL const gc_real *p, gc_long i) { return gc_make(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }

GC_FN void gc_store_vec(GC_GLOBAL gc_real *p, gc_long i, gc_vec v)
{
    p[3 * i] = v.x;
    p[3 * i + 1] = v.y;
    p[3 * i + 2] = v.z;
}

/* greatest component without sign; no number if one is infinite or none */
GC_FN gc_real gc_most(gc_vec a)
{
    gc_real x = GC_ABS(a.x), y = GC_ABS(a.y), z = GC_ABS(a.z), most = x > y ? x : y;
    most = z > most ? z : most;
    return most + (x - x) + (y - y) + (z - z);
}

/* A power of two by which a vector is to be multiplied so that its square neither overflows nor loses digits below the
 * smallest normal number; 1 for all but extreme lengths, whose results keep their bits. */
GC_FN gc_real gc_balance(gc_vec a)
{
    gc_real most = gc_most(a);
#if GC_PRECISION == 2
    return most > GC_R(1e12) ? GC_R(8.0779356694631609e-28) : (most < GC_R(1e-12) ? GC_R(1.2379400392853803e27) : GC_R(1.0));
#else
    return most > GC_R(1e100) ? GC_R(2.4099198651028841e-181)
                              : (most < GC_R(1e-100) ? GC_R(4.1495155688809930e180) : GC_R(1.0));
#endif
}

/* Length, and unit vector along a, for vectors of any size: motions, which may be anything. Elsewhere lengths are scaled, and
 * gc_norm and gc_unit do. */
GC_FN gc_real gc_length(gc_vec a)
{
    gc_real f = gc_balance(a);
    a = gc_scale(a, f);
    return GC_SQRT(gc_dot(a, a)) / f;
}

GC_FN gc_vec gc_direction(gc_vec a, gc_vec fallback)
{
    gc_real n;
    a = gc_scale(a, gc_balance(a));
    n = GC_SQRT(gc_dot(a, a));
    return n > GC_R(0.0) ? gc_scale(a, GC_R(1.0) / n) : fallback;
}

#if GC_PRECISION == 2
/* vertices in the user's units may be 1e-18 or 1e18: too much for float32 to square */
GC_FN gc_real gc_norm(gc_vec a) { return gc_length(a); }
#else
GC_FN gc_real gc_norm(gc_vec a) { return GC_SQRT(gc_dot(a, a)); }
#endif

/* unit vector along a, or the fallback if a has no length */
GC_FN gc_vec gc_unit(gc_vec a, gc_vec fallback)
{
    gc_real n = gc_norm(a);
    return n > GC_R(0.0) ? gc_scale(a, GC_R(1.0) / n) : fallback;
}

/* a unit vector across v */
GC_FN gc_vec gc_across(gc_vec v)
{
    gc_real ax = GC_ABS(v.x), ay = GC_ABS(v.y), az = GC_ABS(v.z);
    gc_vec e = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    if (ax <= ay && ax <= az) e.x = GC_R(1.0);
    else if (ay <= az) e.y = GC_R(1.0);
    else e.z = GC_R(1.0);
    return gc_unit(gc_cross(v, e), e);
}

typedef struct {
    gc_real w, x, y, z;
} gc_quat;

GC_FN gc_quat gc_quat_make(gc_real w, gc_real x, gc_real y, gc_real z)
{
    gc_quat q;
    q.w = w;
    q.x = x;
    q.y = y;
    q.z = z;
    return q;
}

GC_FN gc_quat gc_quat_mul(gc_quat a, gc_quat b)
{
    return gc_quat_make(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

GC_FN gc_quat gc_quat_conj(gc_quat q) { return gc_quat_make(q.w, -q.x, -q.y, -q.z); }

GC_FN gc_quat gc_quat_unit(gc_quat q)
{
    gc_real f = GC_R(1.0) / GC_SQRT(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return gc_quat_make(q.w * f, q.x * f, q.y * f, q.z * f);
}

/* the i-th quaternion of a list in memory, made a unit */
GC_FN gc_quat gc_load_quat(GC_GLOBAL const gc_real *p, gc_long i)
{
    return gc_quat_unit(gc_quat_make(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]));
}

GC_FN gc_vec gc_quat_rotate(gc_quat q, gc_vec v)
{
    gc_vec u = gc_make(q.x, q.y, q.z);
    gc_vec t = gc_scale(gc_cross(u, v), GC_R(2.0));
    return gc_add(gc_add(v, gc_scale(t, q.w)), gc_cross(u, t));
}

/* sin(a)/a as a series in u = a^2, |a| <= 1.58 (half a turn of theta and a little) */
GC_FN gc_real gc_sinc(gc_real u)
{
    gc_real p = GC_R(1.95729410633912612e-20);
    p = p * u - GC_R(8.22063524662432972e-18);
    p = p * u + GC_R(2.81145725434552076e-15);
    p = p * u - GC_R(7.64716373181981648e-13);
    p = p * u + GC_R(1.60590438368216146e-10);
    p = p * u - GC_R(2.50521083854417188e-8);
    p = p * u + GC_R(2.75573192239858907e-6);
    p = p * u - GC_R(1.98412698412698413e-4);
    p = p * u + GC_R(8.33333333333333333e-3);
    p = p * u - GC_R(0.166666666666666667);
    return p * u + GC_R(1.0);
}

/* (1 - cos(a))/a^2 as a series in u = a^2, |a| <= 1.58 */
GC_FN gc_real gc_verc(gc_real u)
{
    gc_real p = GC_R(8.89679139245057329e-22);
    p = p * u - GC_R(4.11031762331216486e-19);
    p = p * u + GC_R(1.56192069685862265e-16);
    p = p * u - GC_R(4.77947733238738530e-14);
    p = p * u + GC_R(1.14707455977297247e-11);
    p = p * u - GC_R(2.08767569878680990e-9);
    p = p * u + GC_R(2.75573192239858907e-7);
    p = p * u - GC_R(2.48015873015873016e-5);
    p = p * u + GC_R(1.38888888888888889e-3);
    p = p * u - GC_R(4.16666666666666667e-2);
    return p * u + GC_R(0.5);
}

/* the angle in [0, pi/2] whose sine is s and cosine c, both >= 0, not both 0: the half angle by one square root,
 * then a Chebyshev fit of arctan(r)/r on r <= tan(pi/8), relative error 1.3e-18 before rounding */
GC_FN gc_real gc_angle(gc_real s, gc_real c)
{
    gc_real t = s / (c + GC_SQRT(s * s + c * c));
    gc_real r = t / (GC_R(1.0) + GC_SQRT(GC_R(1.0) + t * t));
    gc_real u = r * r;
    gc_real p = GC_R(-0.0178038963948125632);
    p = p * u + GC_R(0.037963903161110833);
    p = p * u - GC_R(0.0503504979531243932);
    p = p * u + GC_R(0.0584686675227513898);
    p = p * u - GC_R(0.0666295024603679127);
    p = p * u + GC_R(0.0769204519456148147);
    p = p * u - GC_R(0.0909089680147281344);
    p = p * u + GC_R(0.111111107446570996);
    p = p * u - GC_R(0.142857142792449685);
    p = p * u + GC_R(0.199999999999408373);
    p = p * u - GC_R(0.333333333333331209);
    p = p * u + GC_R(0.999999999999999999);
    return GC_R(4.0) * r * p;
}

/* arctan(r)/r on 0 <= r <= 1 for culling, u = r^2; error 9e-8 (float32, about a rounding) or 2e-12, inside the culling pad */
GC_INLINE gc_raster gc_atan_ratio(gc_raster u)
{
#if GC_PRECISION == 1
    gc_raster p = GC_F(-0.000266601967192674233);
    p = p * u + GC_F(0.00216279442215647912);
    p = p * u - GC_F(0.0082418998939968132);
    p = p * u + GC_F(0.0199374428362561726);
    p = p * u - GC_F(0.0352677208694224381);
    p = p * u + GC_F(0.0504555775284161429);
    p = p * u - GC_F(0.0636609223609682661);
    p = p * u + GC_F(0.0761425019900312141);
    p = p * u - GC_F(0.0907679887665047737);
    p = p * u + GC_F(0.111094283643305057);
    p = p * u - GC_F(0.142855923942825275);
    p = p * u + GC_F(0.199999953403850623);
    p = p * u - GC_F(0.333333332624796955);
    return p * u + GC_F(0.99999999999819672);
#else
    gc_raster p = GC_F(-0.00478045690236);
    p = p * u + GC_F(0.0245571317242);
    p = p * u - GC_F(0.0599047284957);
    p = p * u + GC_F(0.0994276022776);
    p = p * u - GC_F(0.140294202645);
    p = p * u + GC_F(0.199713752693);
    p = p * u - GC_F(0.333320935254);
    return p * u + GC_F(0.999999911417);
#endif
}

/* gc_arc from the ratio of the sine s and the cosine c: the cotangent where steep, or the tangent times 1/kappa, which is no larger than
 * that */
GC_INLINE gc_raster gc_arc_of(gc_raster s, gc_raster c, int steep, gc_raster ratio, gc_raster kappa, gc_raster inv_kappa)
{
    gc_raster r = GC_ABS_R(steep ? ratio : kappa * ratio);
    gc_raster p = gc_atan_ratio(r * r);
    gc_raster angle = steep ? GC_F(1.57079632679489662) - r * p : r * p;
    angle = c < GC_F(0.0) ? GC_F(3.14159265358979324) - angle : angle;
    angle = s < GC_F(0.0) ? -angle : angle;
    return steep || c <= GC_F(0.0) ? angle * inv_kappa : ratio * p;
}

/* azimuth about the axis times 1/kappa, the arc at the frame's origin: atan2(kappa x, 1 + kappa z)/kappa.
 * kappa = 0 gives x. inv_kappa is 1/kappa, or 0 for kappa = 0 (then only the first branch is taken). */
GC_INLINE gc_raster gc_arc(gc_raster x, gc_raster z, gc_raster kappa, gc_raster inv_kappa)
{
    gc_raster s = kappa * x, c = GC_F(1.0) + kappa * z;
    int steep = GC_ABS_R(s) > GC_ABS_R(c);
    gc_raster over = steep ? c : x, under = steep ? s : c;
    return gc_arc_of(s, c, steep, under != GC_F(0.0) ? over / under : GC_F(0.0), kappa, inv_kappa);
}

/* The same, and rho, with one division: on the axis, where there is no azimuth, any. */
GC_INLINE gc_raster gc_arc_rho(gc_raster x, gc_raster z, gc_raster kappa, gc_raster inv_kappa, gc_raster *rho)
{
    gc_raster s = kappa * x, c = GC_F(1.0) + kappa * z, below = GC_F(1.0) + GC_SQRT_R(c * c + s * s), inv;
    int steep = GC_ABS_R(s) > GC_ABS_R(c);
    gc_raster over = steep ? c : x, under = steep ? s : c;
    under = GC_ABS_R(under) > GC_F(1e-30) ? under : GC_F(1e-30);
    inv = GC_F(1.0) / (under * below);
    *rho = (kappa * (x * x + z * z) + GC_F(2.0) * z) * (under * inv);
    return gc_arc_of(s, c, steep, over * (below * inv), kappa, inv_kappa);
}

#endif
