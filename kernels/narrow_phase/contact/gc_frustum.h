/* gc_frustum.h: cylinders and cones at one time: how far points and segments are, and how far they reach along a direction.
 * needs: common/gc_math.h common/gc_constants.h
 *
 * A frustum is the convex body between two discs across one axis, of which one may be a point. In the half-plane of a point and the axis it
 * is a polygon of three sides, so the signed distance of a point is closed form, and convex; along a segment it is least where its slope
 * changes sign. Where a segment is beside a rim the direction is across both the segment and the rim's tangent, and the distance is
 * measured along that: so both keep their digits down to touch. Degenerate: on the axis any direction across it is as good.
 */
#ifndef GC_FRUSTUM_H
#define GC_FRUSTUM_H

typedef struct {
    gc_vec low, axis;  /* middle of end 0; unit, from there to end 1 */
    gc_real length;    /* between both ends */
    gc_real radius[2]; /* of both */
} gc_frustum;

#define GC_PART_SIDE 2 /* beside the ends, 0 and 1: what of a frustum is nearest */

typedef struct {
    gc_real d; /* signed: below 0 inside */
    gc_vec n;  /* unit, out of the frustum */
    gc_vec on; /* its nearest point */
    int part;
    int rim; /* the end at whose rim it is, within touch; else -1 */
} gc_frustum_near;

GC_FN gc_vec gc_frustum_end(const gc_frustum *f, int end)
{
    return end ? gc_add(f->low, gc_scale(f->axis, f->length)) : f->low;
}

/* the unit direction out of the axis to x, and how far x is out there and along the axis */
GC_FN gc_vec gc_frustum_out(const gc_frustum *f, gc_vec x, gc_real *rho, gc_real *z)
{
    gc_vec v = gc_sub(x, f->low), out;
    *z = gc_dot(v, f->axis);
    out = gc_sub(v, gc_scale(f->axis, *z));
    *rho = gc_norm(out);
    return gc_unit(out, gc_across(f->axis));
}

/* What is on the rim of an end has all directions between the end's and the side's; this one is in the middle. */
GC_FN gc_vec gc_frustum_rim(const gc_frustum *f, int end, gc_vec out)
{
    gc_real dr = f->radius[1] - f->radius[0], slant = GC_SQRT(f->length * f->length + dr * dr);
    gc_vec n = gc_sub(gc_scale(out, f->length / slant), gc_scale(f->axis, dr / slant));
    return gc_unit(end ? gc_add(n, f->axis) : gc_sub(n, f->axis), out);
}

GC_LARGE gc_frustum_near gc_frustum_point(const gc_frustum *f, gc_vec x)
{
    gc_frustum_near to;
    gc_real rho, z, length = f->length, r0 = f->radius[0], dr = f->radius[1] - r0;
    gc_vec e = gc_frustum_out(f, x, &rho, &z);
    gc_real slant2 = length * length + dr * dr, slant = GC_SQRT(slant2), side, along, low = -z, high = z - length;
    gc_real a0 = rho - r0, a1 = a0 - dr, touch = GC_TOL_TOUCH * (length + r0 + f->radius[1]);
    int nearer = a0 * a0 + z * z <= a1 * a1 + high * high ? 0 : 1;
    gc_real a = nearer ? a1 : a0, b = nearer ? high : z, off = GC_SQRT(a * a + b * b);
    side = ((rho - r0) * length - z * dr) / slant;
    along = (rho - r0) * dr + z * length;
    to.rim = -1;
    if (side <= GC_R(0.0) && low <= GC_R(0.0) && high <= GC_R(0.0)) {
        to.part = side >= low && side >= high ? GC_PART_SIDE : low >= high ? 0 : 1;
    } else if (low >= GC_R(0.0) && rho <= r0) to.part = 0;
    else if (high >= GC_R(0.0) && rho <= f->radius[1]) to.part = 1;
    else if (side >= GC_R(0.0) && along >= GC_R(0.0) && along <= slant2) to.part = GC_PART_SIDE;
    else {
        to.rim = to.part = nearer;
        to.d = off;
        to.on = gc_add(gc_frustum_end(f, nearer), gc_scale(e, f->radius[nearer]));
        if (off > touch) to.n = gc_scale(gc_add(gc_scale(e, a), gc_scale(f->axis, b)), GC_R(1.0) / off);
        else to.n = gc_frustum_rim(f, nearer, e);
        return to;
    }
    /* between an end and the side it is at a rim as near as can be told */
    if (to.part == GC_PART_SIDE ? GC_MIN(along, slant2 - along) <= touch * slant : GC_ABS(rho - f->radius[to.part]) <= touch)
        to.rim = to.part == GC_PART_SIDE ? nearer : to.part;
    to.d = to.part == 0 ? low : to.part == 1 ? high : side;
    if (to.part == GC_PART_SIDE) to.n = gc_sub(gc_scale(e, length / slant), gc_scale(f->axis, dr / slant));
    else to.n = gc_scale(f->axis, to.part ? GC_R(1.0) : GC_R(-1.0));
    to.on = gc_sub(x, gc_scale(to.n, to.d));
    return to;
}

/* Where a line along e is nearest to a frustum at a place `at` of it, within: the direction across both, by what is nearest, and the distance
 * along that, which keep their digits down to touch and beside an apex. */
GC_LARGE void gc_frustum_across(const gc_frustum *f, gc_vec at, gc_vec e, gc_frustum_near *to)
{
    gc_real rho, z, dr = f->radius[1] - f->radius[0], slant = GC_SQRT(f->length * f->length + dr * dr);
    gc_vec out = gc_frustum_out(f, at, &rho, &z), n, on;
    if (to->rim >= 0) {
        gc_vec mean = gc_frustum_rim(f, to->rim, out);
        on = gc_add(gc_frustum_end(f, to->rim), gc_scale(out, f->radius[to->rim]));
        if (f->radius[to->rim] > GC_R(0.0)) {
            n = gc_cross(e, gc_cross(f->axis, out));
            if (!(gc_norm(n) > GC_R(1e-6) * gc_norm(e))) return;
            if (gc_dot(n, mean) < GC_R(0.0)) n = gc_scale(n, GC_R(-1.0));
        } else {
            if (to->d > GC_TOL_TOUCH * (f->length + f->radius[0] + f->radius[1])) return;
            n = gc_sub(mean, gc_scale(e, gc_dot(mean, e) / gc_dot(e, e)));
        }
        to->part = to->rim;
    } else if (to->part == GC_PART_SIDE) {
        /* of the directions out of the side those across the line: level of axis and line, and what is left */
        gc_vec flat = gc_sub(e, gc_scale(f->axis, gc_dot(e, f->axis))), beside;
        gc_real wide = gc_norm(flat), c, rest;
        if (!(wide > GC_R(1e-6) * gc_norm(e))) return;
        flat = gc_scale(flat, GC_R(1.0) / wide);
        beside = gc_cross(f->axis, flat);
        c = dr * gc_dot(e, f->axis) / (f->length * wide);
        rest = GC_R(1.0) - c * c;
        if (!(rest >= GC_R(0.0))) return;
        rest = GC_SQRT(rest);
        if (gc_dot(beside, out) < GC_R(0.0)) rest = -rest;
        out = gc_add(gc_scale(flat, c), gc_scale(beside, rest));
        n = gc_sub(gc_scale(out, f->length / slant), gc_scale(f->axis, dr / slant));
        on = gc_add(f->low, gc_scale(out, f->radius[0]));
        to->n = n;
        to->d = gc_dot(n, gc_sub(at, on));
        to->on = gc_sub(at, gc_scale(n, to->d));
        return;
    } else return;
    to->n = gc_unit(n, to->n);
    to->on = on;
    to->d = gc_dot(to->n, gc_sub(at, on));
}

/* a slope along a unit direction is none */
#define GC_FRUSTUM_FLAT GC_R(1e-14)

/* The segment from x along e: where it is nearest, as a share of it, and how; *flat: all of it is as near. */
GC_LARGE gc_frustum_near gc_frustum_segment(const gc_frustum *f, gc_vec x, gc_vec e, gc_real *share, int *flat)
{
    gc_real level = GC_FRUSTUM_FLAT * gc_norm(e), a = GC_R(0.0), b = GC_R(1.0), fa, fb, mid, slope;
    gc_frustum_near to = gc_frustum_point(f, x), end;
    int i, kept = 0;
    *share = GC_R(0.0);
    *flat = 0;
    if (!(level > GC_R(0.0))) return to;
    fa = gc_dot(to.n, e);
    end = gc_frustum_point(f, gc_add(x, e));
    fb = gc_dot(end.n, e);
    if (fa >= -level) {
        *flat = fb <= level;
        return to;
    }
    *share = GC_R(1.0);
    if (fb <= level) return end;
    for (i = 0; i < 100; ++i) {
        /* regula falsi, with an end that is kept twice at half of its weight, and halves between; halves alone where the slope jumps */
        mid = i % 4 == 3 || i >= 40 ? GC_R(0.5) * (a + b) : a + (b - a) * (fa / (fa - fb));
        if (!(mid > a && mid < b)) mid = GC_R(0.5) * (a + b);
        if (mid <= a || mid >= b) break;
        to = gc_frustum_point(f, gc_add(x, gc_scale(e, mid)));
        slope = gc_dot(to.n, e);
        *share = mid;
        if (GC_ABS(slope) <= level) break;
        if (slope < GC_R(0.0)) {
            a = mid;
            fa = slope;
            if (kept > 0) fb *= GC_R(0.5);
            kept = 1;
        } else {
            b = mid;
            fb = slope;
            if (kept < 0) fa *= GC_R(0.5);
            kept = -1;
        }
    }
    gc_frustum_across(f, gc_add(x, gc_scale(e, *share)), e, &to);
    return to;
}

/* its lowest point along n of an end: of a disc that is level its middle */
GC_FN gc_vec gc_frustum_lowest(const gc_frustum *f, int end, gc_vec n)
{
    gc_vec at = gc_frustum_end(f, end), out = gc_sub(n, gc_scale(f->axis, gc_dot(n, f->axis)));
    gc_real sine = gc_norm(out);
    if (!(sine > GC_TOL_PARALLEL)) return at;
    return gc_sub(at, gc_scale(out, f->radius[end] / sine));
}

/* how high its lowest point is along n, by its ends */
GC_FN gc_real gc_frustum_depth(const gc_frustum *f, int end, gc_vec n)
{
    return gc_dot(n, gc_frustum_end(f, end)) - f->radius[end] * gc_norm(gc_cross(n, f->axis));
}

#endif
