/* gc_swing.h: half-angle tangents, and what a turn makes of a distance: a constant, a sine and a cosine.
 * needs: pluecker/gc_twofold.h common/gc_constants.h
 *
 * Source: seed 2.4, 3.3, with corrections; docs/pluecker.md. Angles are half-angle tangents, r = tan(angle/2), 0 to
 * GC_TURN_MOST (half a turn), which order as the angles do.
 */
#ifndef GC_SWING_H
#define GC_SWING_H

/* tan(angle/2) for an angle from 0 to pi */
GC_FN gc_real gc_half_tangent(gc_real angle)
{
    gc_real h = GC_R(0.5) * angle, u = h * h, sine = h * gc_sinc(u), cosine = GC_R(1.0) - u * gc_verc(u);
    return cosine > GC_ROUNDING ? sine / cosine : GC_TURN_MOST;
}

/* the share of a turn by `angle` > 0 that is done at half-angle tangent r >= 0, at most 1 */
GC_FN gc_real gc_turn_fraction(gc_real r, gc_real angle)
{
    gc_real one = GC_R(1.0), part = GC_R(2.0) * (r > one ? gc_angle(one, one / r) : gc_angle(r, one)) / angle;
    return part < one ? part : one;
}

/* sine and 1 - cosine of the angle with half-angle tangent r, of either sign: those below zero are beyond half a turn */
GC_FN void gc_turn_parts(gc_real r, gc_real *sine, gc_real *versine)
{
    gc_real one = GC_R(1.0), two = GC_R(2.0);
    if (GC_ABS(r) <= one) {
        gc_real f = two * r / (one + r * r);
        *sine = f;
        *versine = f * r;
    } else {
        gc_real t = one / r, f = two / (one + t * t);
        *sine = f * t;
        *versine = f;
    }
}

/* ---- what swings: s(angle) = (start - cosine) + slope sin(angle) + cosine cos(angle) ----------------------------- */

typedef struct {
    gc_real start, slope, cosine; /* s, its derivative, and less its second derivative, at angle 0 */
} gc_swing;

GC_FN gc_swing gc_swing_times(gc_swing s, gc_real f)
{
    s.start *= f;
    s.slope *= f;
    s.cosine *= f;
    return s;
}

/* a power of two by which a swing is to be multiplied before it is squared: that of two edges is three lengths, and float32 does
 * not hold six of them if they are small */
#if GC_PRECISION == 2
GC_FN gc_real gc_swing_balance(gc_swing s) { return gc_balance(gc_make(s.start, s.slope, s.cosine)); }
#else
GC_FN gc_real gc_swing_balance(gc_swing s)
{
    (void)s;
    return GC_R(1.0);
}
#endif

/* Where s falls through zero: r, below zero if that is beyond half a turn. 0 if it never does. */
GC_FN int gc_swing_falls(gc_swing s, gc_real *r)
{
    gc_real a, b, c, square, root;
    s = gc_swing_times(s, gc_swing_balance(s));
    a = s.start - GC_R(2.0) * s.cosine;
    b = s.slope;
    c = s.start;
    square = b * b - a * c;
    if (!(square >= GC_R(0.0))) return 0;
    root = GC_SQRT(square);
    if (b > GC_R(0.0)) *r = a != GC_R(0.0) ? -(b + root) / a : GC_TURN_MOST;
    else if (root - b > GC_R(0.0)) *r = c / (root - b);
    else if (a < GC_R(0.0)) *r = GC_R(0.0);
    else return 0;
    return 1;
}

GC_FN gc_real gc_swing_amplitude(gc_swing s)
{
    gc_real f = gc_swing_balance(s);
    s = gc_swing_times(s, f);
    return GC_SQRT(s.slope * s.slope + s.cosine * s.cosine) / f;
}

/* where s is greatest, and where least: r, below zero if that is beyond half a turn */
GC_FN gc_real gc_swing_top(gc_swing s)
{
    gc_real reach = gc_swing_amplitude(s);
    if (s.cosine >= GC_R(0.0)) return reach > GC_R(0.0) ? s.slope / (reach + s.cosine) : GC_R(0.0);
    return s.slope != GC_R(0.0) ? (reach - s.cosine) / s.slope : GC_TURN_MOST;
}

GC_FN gc_real gc_swing_low(gc_swing s)
{
    s.slope = -s.slope;
    s.cosine = -s.cosine;
    return gc_swing_top(s);
}

/* is s falling at the start? -1: it never changes */
GC_FN int gc_swing_sinks(gc_swing s)
{
    if (s.slope != GC_R(0.0)) return s.slope < GC_R(0.0);
    return s.cosine != GC_R(0.0) ? s.cosine > GC_R(0.0) : -1;
}

/* How far a turn may go, and where what stops it is met. `real` is the distance (times what it is scaled with), `outer` less
 * the zone, `behind` the most that the start may be behind, `near` a distance that counts as met although it is not zero.
 * stop: where `outer` falls to zero; at once, if it starts below and the distance sinks; the top, if it rises and never comes
 * out of the zone. met: where `real` then falls to zero, or else is least; below zero if that is beyond half a turn. 0 if
 * nothing is met, or nothing stops within half a turn.
 *
 * gc_swing_order takes in stop and met where both fall, if they do (leaves and falls); gc_swing_stop solves for that. */
GC_FN int gc_swing_order(
    gc_swing real,
    gc_swing outer,
    gc_real behind,
    gc_real near,
    int leaves,
    int falls,
    gc_real *stop,
    gc_real *met)
{
    gc_real reach = gc_swing_amplitude(real), middle = real.start - real.cosine;
    int sinks = gc_swing_sinks(real), in_zone = outer.start <= GC_R(0.0);
    if (in_zone && sinks > 0) { /* or behind it, and going deeper */
        *stop = GC_R(0.0);
        if (real.start < GC_R(0.0)) {
            *met = GC_R(0.0);
            return real.start >= -behind;
        }
    } else if (in_zone && (sinks < 0 || real.slope == GC_R(0.0))) {
        return 0; /* stays as it is, or is at its lowest */
    } else if (in_zone && (middle + reach < GC_R(0.0) || (real.start < GC_R(0.0) && !falls))) {
        /* comes nearer to the front, never through it; a rounding behind, that sum has no digits left */
        *stop = gc_swing_top(real);
        *met = *stop;
        return real.start >= -behind;
    } else {
        if (in_zone && (!leaves || (*stop < GC_R(0.0) && falls && *met >= GC_R(0.0)))) *stop = gc_swing_top(real);
        else if (!leaves) return 0;
        if (!(*stop >= GC_R(0.0))) return 0;
    }
    if (falls) return 1;
    *met = gc_swing_low(real);
    return middle - reach <= near;
}

GC_FN int gc_swing_stop(gc_swing real, gc_swing outer, gc_real behind, gc_real near, gc_real *stop, gc_real *met)
{
    int falls = gc_swing_falls(real, met), leaves = gc_swing_falls(outer, stop);
    return gc_swing_order(real, outer, behind, near, leaves, falls, stop, met);
}

/* a bound, with room for its rounding, on how far s falls below its start until half-angle tangent `most` */
GC_FN gc_real gc_swing_drop(gc_swing s, gc_real most)
{
    gc_real sine, versine, zero = GC_R(0.0);
    gc_turn_parts(most, &sine, &versine);
    if (most > GC_R(1.0)) sine = GC_R(1.0);
    return (GC_MAX(-s.slope, zero) * sine + GC_MAX(s.cosine, zero) * versine) * GC_R(1.000001);
}

GC_FN gc_swing gc_swing_less(gc_swing s, gc_real level)
{
    s.start -= level;
    return s;
}

GC_FN gc_swing gc_swing_minus(gc_swing s, gc_swing t)
{
    s.start -= t.start;
    s.slope -= t.slope;
    s.cosine -= t.cosine;
    return s;
}

GC_FN gc_real gc_swing_at(gc_swing s, gc_real r)
{
    gc_real sine, versine;
    gc_turn_parts(r, &sine, &versine);
    return s.start + s.slope * sine - s.cosine * versine;
}

/* From r on, when is s at least zero? 1: then, or so nearly (`slack`) that rounding may decide; 2: later, where it rises to
 * it, which r now is; 0: never within half a turn. */
GC_FN int gc_swing_awaits(gc_swing s, gc_real slack, gc_real *r)
{
    gc_real t;
    if (gc_swing_at(s, *r) >= -slack) return 1;
    if (!gc_swing_falls(gc_swing_times(s, GC_R(-1.0)), &t) || !(t > *r)) return 0;
    *r = t;
    return 2;
}

/* ---- the same in twice the digits ------------------------------------------------------------------------------ */

typedef struct {
    gc_two start, slope, cosine;
} gc_two_swing;

GC_FN gc_swing gc_swing_rounded(const gc_two_swing *t)
{
    gc_swing s;
    s.start = t->start.hi;
    s.slope = t->slope.hi;
    s.cosine = t->cosine.hi;
    return s;
}

/* sign * t - less */
GC_FN gc_two_swing gc_two_swing_less(const gc_two_swing *t, gc_real sign, gc_swing less)
{
    gc_two way = gc_two_of(sign);
    gc_two_swing s;
    s.start = gc_two_add(gc_two_mul(t->start, way), gc_two_of(-less.start));
    s.slope = gc_two_add(gc_two_mul(t->slope, way), gc_two_of(-less.slope));
    s.cosine = gc_two_add(gc_two_mul(t->cosine, way), gc_two_of(-less.cosine));
    return s;
}

/* gc_swing_falls in twice the digits */
GC_LARGE int gc_swing_falls_twofold(const gc_two_swing *s, gc_real *r)
{
    gc_two f = gc_two_of(gc_swing_balance(gc_swing_rounded(s)));
    gc_two c = gc_two_mul(s->start, f), b = gc_two_mul(s->slope, f), root, square;
    gc_two a = gc_two_add(c, gc_two_mul(s->cosine, gc_two_mul(f, gc_two_of(GC_R(-2.0)))));
    square = gc_two_sub(gc_two_mul(b, b), gc_two_mul(a, c));
    if (!(square.hi >= GC_R(0.0))) return 0;
    root = gc_two_root(square);
    if (b.hi > GC_R(0.0)) *r = a.hi != GC_R(0.0) ? -gc_two_ratio(gc_two_add(b, root), a) : GC_TURN_MOST;
    else if (root.hi - b.hi > GC_R(0.0)) *r = gc_two_ratio(c, gc_two_sub(root, b));
    else if (a.hi < GC_R(0.0)) *r = GC_R(0.0);
    else return 0;
    return 1;
}

#endif
