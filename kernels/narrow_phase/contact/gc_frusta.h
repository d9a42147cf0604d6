/* gc_frusta.h: two cylinders or cones at one time: the gap between both, and where it is.
 * needs: narrow_phase/contact/gc_frustum.h
 *
 * The gap of two convex bodies is the largest distance between parallel planes with both bodies on either side: max over unit n of
 *     G(n) = n . (lowest point of F along n) - n . (highest point of E along n),
 * negative where they overlap. Any n bounds the gap, so what is found is never too large. GJK tells n to some digits, or that of the moment
 * before is taken; then the greatest G is looked for on each stratum of directions on which G is smooth: across a disc, beside both sides,
 * beside one side and a rim (Newton along a circle), beside both rims (Newton on the sphere). There grad G = p - q, the points of both, and
 * the second derivative is -(r t t' / sine + r t t' / sine + G), t the rims' tangents, so G keeps its digits through 0.
 * Source: E. G. Gilbert, D. W. Johnson, S. S. Keerthi, A fast procedure for computing the distance between complex objects in
 * three-dimensional space, IEEE J. Robotics and Automation 4 (1988); docs/decisions/0144.
 */
#ifndef GC_FRUSTA_H
#define GC_FRUSTA_H

typedef struct {
    const gc_frustum *e, *f;
} gc_frusta;

/* of two ends the one that is lower along n */
GC_FN int gc_frustum_lower(const gc_frustum *f, gc_vec n) { return gc_frustum_depth(f, 1, n) < gc_frustum_depth(f, 0, n); }

GC_FN gc_vec gc_opposite(gc_vec n) { return gc_scale(n, GC_R(-1.0)); }

GC_FN gc_real gc_frusta_gap(const gc_frusta *q, gc_vec n)
{
    gc_vec back = gc_opposite(n);
    return GC_MIN(gc_frustum_depth(q->f, 0, n), gc_frustum_depth(q->f, 1, n))
           + GC_MIN(gc_frustum_depth(q->e, 0, back), gc_frustum_depth(q->e, 1, back));
}

/* from E's highest point along n to F's lowest */
GC_FN gc_vec gc_frusta_way(const gc_frusta *q, gc_vec n)
{
    gc_vec back = gc_opposite(n);
    return gc_sub(
        gc_frustum_lowest(q->f, gc_frustum_lower(q->f, n), n), gc_frustum_lowest(q->e, gc_frustum_lower(q->e, back), back));
}

/* ---- GJK ------------------------------------------------------------------------------------------------------------- */

/* The point of the simplex of some of four points that is nearest to the origin, if it lies inside of that; `some`: bits. */
GC_LARGE int gc_frusta_nearest(const gc_vec *y, int some, gc_vec *v)
{
    gc_vec d[3], base = y[0];
    gc_real l[3], det, g00, g01, g11, b0, b1;
    int i, n = -1;
    for (i = 0; i < 4; ++i) {
        if (!(some >> i & 1)) continue;
        if (n < 0) base = y[i];
        else d[n] = gc_sub(y[i], base);
        ++n;
    }
    *v = base;
    if (n == 0) return 1;
    b0 = -gc_dot(base, d[0]);
    g00 = gc_dot(d[0], d[0]);
    l[1] = l[2] = GC_R(0.0);
    if (n == 1) {
        if (!(g00 > GC_R(0.0))) return 0;
        l[0] = b0 / g00;
    } else if (n == 2) {
        g01 = gc_dot(d[0], d[1]);
        g11 = gc_dot(d[1], d[1]);
        b1 = -gc_dot(base, d[1]);
        det = g00 * g11 - g01 * g01;
        if (!(det > GC_R(1e-20) * g00 * g11)) return 0;
        l[0] = (b0 * g11 - b1 * g01) / det;
        l[1] = (g00 * b1 - g01 * b0) / det;
    } else {
        gc_vec back = gc_opposite(base);
        det = gc_dot(d[0], gc_cross(d[1], d[2]));
        if (!(GC_ABS(det) > GC_R(0.0))) return 0;
        l[0] = gc_dot(back, gc_cross(d[1], d[2])) / det;
        l[1] = gc_dot(back, gc_cross(d[2], d[0])) / det;
        l[2] = gc_dot(back, gc_cross(d[0], d[1])) / det;
    }
    for (i = 0; i < n; ++i)
        if (!(l[i] > GC_R(0.0))) return 0;
    if (!(l[0] + l[1] + l[2] < GC_R(1.0))) return 0;
    for (i = 0; i < n; ++i) *v = gc_add(*v, gc_scale(d[i], l[i]));
    return 1;
}

/* The direction along which both are as far apart as GJK can tell; and that of the shortest way it knows, which is another one where discs of
 * one plane come together. */
GC_LARGE gc_vec gc_frusta_direction(const gc_frusta *q, gc_vec *shortest)
{
    gc_vec y[4], v, n, best = gc_across(q->e->axis);
    gc_real most = GC_R(-1e30), length, low;
    int held = 0, i, k;
    *shortest = best;
    v = gc_sub(
        gc_add(q->f->low, gc_scale(q->f->axis, GC_R(0.5) * q->f->length)),
        gc_add(q->e->low, gc_scale(q->e->axis, GC_R(0.5) * q->e->length)));
    for (i = 0; i < 64; ++i) {
        gc_vec nearest = v, at;
        gc_real least = GC_R(1e30);
        int some = 0;
        length = gc_norm(v);
        if (!(length > GC_TOL_TOUCH * (q->e->length + q->f->length))) break;
        n = gc_scale(v, GC_R(1.0) / length);
        *shortest = n;
        low = gc_frusta_gap(q, n);
        if (low > most) {
            most = low;
            best = n;
        }
        if (length - low <= GC_R(1e-9) * length) break;
        for (k = 0; k < 4; ++k)
            if (!(held >> k & 1)) break;
        if (k == 4) break;
        y[k] = gc_frusta_way(q, n);
        held |= 1 << k;
        for (k = 1; k < 16; ++k) {
            if ((k & held) != k || !gc_frusta_nearest(y, k, &at)) continue;
            low = k == 15 ? GC_R(0.0) : gc_dot(at, at);
            if (low < least) {
                least = low;
                nearest = at;
                some = k;
            }
        }
        if (some == 15) break;
        held = some;
        v = nearest;
    }
    return best;
}

/* ---- the greatest gap beside a direction --------------------------------------------------------------------------------- */

/* of the rim of an end: its unit direction out of the axis along n, its tangent there, and the sine of n's angle with the axis */
GC_FN int gc_rim_along(const gc_frustum *f, gc_vec n, gc_vec *out, gc_vec *tangent, gc_real *sine)
{
    *out = gc_sub(n, gc_scale(f->axis, gc_dot(n, f->axis)));
    *sine = gc_norm(*out);
    if (!(*sine > GC_TOL_PARALLEL)) return 0;
    *out = gc_scale(*out, GC_R(1.0) / *sine);
    *tangent = gc_cross(f->axis, *out);
    return 1;
}

/* what rounding leaves of a gap */
GC_FN gc_real gc_frusta_rounding(const gc_frusta *q)
{
    return GC_PLACE_ROUNDING
           * (q->e->length + q->e->radius[0] + q->e->radius[1] + q->f->length + q->f->radius[0] + q->f->radius[1]);
}

/* Of directions that are as good the later: those of fewer freedoms come later, and have more digits. */
GC_FN void gc_frusta_take(const gc_frusta *q, gc_vec n, gc_vec *best, gc_real *most)
{
    gc_real gap = gc_frusta_gap(q, n);
    if (gap >= *most - gc_frusta_rounding(q)) {
        *most = GC_MAX(gap, *most);
        *best = n;
    }
}

/* rim beside rim, from n on */
GC_LARGE void gc_frusta_rims(const gc_frusta *q, gc_vec n, gc_vec *best, gc_real *most)
{
    int i;
    gc_real last = gc_frusta_gap(q, n);
    for (i = 0; i < 24; ++i) {
        gc_vec me, te, mf, tf, u, v, grad, next;
        gc_real se, sf, re, rf, g, guu, guv, gvv, gu, gv, det, a, b, gap, share = GC_R(1.0);
        int j;
        if (!gc_rim_along(q->e, n, &me, &te, &se) || !gc_rim_along(q->f, n, &mf, &tf, &sf)) return;
        grad = gc_frusta_way(q, n);
        re = q->e->radius[gc_frustum_lower(q->e, gc_opposite(n))] / se;
        rf = q->f->radius[gc_frustum_lower(q->f, n)] / sf;
        u = te;
        v = gc_cross(n, u);
        g = GC_MAX(gc_dot(grad, n), GC_R(1e-9) * (re + rf));
        a = gc_dot(tf, u);
        b = gc_dot(tf, v);
        guu = g + re + rf * a * a;
        guv = rf * a * b;
        gvv = g + rf * b * b;
        gu = gc_dot(grad, u);
        gv = gc_dot(grad, v);
        det = guu * gvv - guv * guv;
        if (!(det > GC_R(0.0))) return;
        a = (gu * gvv - gv * guv) / det;
        b = (guu * gv - guv * gu) / det;
        g = GC_SQRT(a * a + b * b);
        if (g > GC_R(0.5)) share = GC_R(0.5) / g;
        for (j = 0; j < 12; ++j, share *= GC_R(0.25)) {
            next = gc_add(n, gc_add(gc_scale(u, a * share), gc_scale(v, b * share)));
            next = gc_unit(next, n);
            gap = gc_frusta_gap(q, next);
            if (gap >= last - gc_frusta_rounding(q)) break;
        }
        if (j == 12) break;
        last = GC_MAX(gap, last);
        n = next;
        if (g <= GC_R(1e-15)) break;
    }
    gc_frusta_take(q, n, best, most);
}

/* E's side beside a rim of F, from n on, or (turned) the reverse with n from F to E: along the circle of E's directions */
GC_LARGE void gc_frusta_circle(const gc_frusta *q, int turned, gc_vec n, gc_vec *best, gc_real *most)
{
    const gc_frustum *e = turned ? q->f : q->e, *f = turned ? q->e : q->f;
    gc_real dr = e->radius[1] - e->radius[0], slant = GC_SQRT(e->length * e->length + dr * dr), level = -dr / slant, s, sine;
    gc_vec m, t;
    int i;
    s = e->length / slant;
    if (turned) n = gc_opposite(n);
    if (!gc_rim_along(e, n, &m, &t, &sine)) return;
    for (i = 0; i < 24; ++i) {
        gc_vec out, tangent, way;
        gc_real bend, slope, step;
        int end;
        t = gc_cross(e->axis, m);
        n = gc_add(gc_scale(e->axis, level), gc_scale(m, s));
        end = gc_frustum_lower(f, n);
        if (!gc_rim_along(f, n, &out, &tangent, &sine)) break;
        way = gc_sub(gc_frustum_lowest(f, end, n), e->low);
        slope = gc_dot(t, way);
        bend = gc_dot(m, way);
        bend = GC_MAX(bend, GC_R(0.01) * gc_norm(way))
               + s * (f->radius[end] / sine) * gc_dot(t, tangent) * gc_dot(t, tangent);
        step = slope / bend;
        step = GC_MIN(GC_MAX(step, GC_R(-0.5)), GC_R(0.5));
        m = gc_unit(gc_add(m, gc_scale(t, step)), m);
        if (GC_ABS(step) <= GC_R(1e-15)) break;
    }
    gc_frusta_take(q, turned ? gc_opposite(n) : n, best, most);
}

/* both sides: the two directions that are on both circles */
GC_LARGE void gc_frusta_sides(const gc_frusta *q, gc_vec *best, gc_real *most)
{
    gc_real le[2], c = -gc_dot(q->e->axis, q->f->axis), det, a, b, rest;
    gc_vec k = gc_cross(q->f->axis, q->e->axis), n;
    int i;
    for (i = 0; i < 2; ++i) {
        const gc_frustum *x = i ? q->f : q->e;
        gc_real dr = x->radius[1] - x->radius[0];
        le[i] = -dr / GC_SQRT(x->length * x->length + dr * dr);
    }
    det = gc_dot(k, k);
    if (!(det > GC_TOL_PARALLEL * GC_TOL_PARALLEL)) return;
    /* n . axis of E is le[0], of F -le[1] */
    a = (le[0] - c * le[1]) / det;
    b = (le[1] - c * le[0]) / det;
    n = gc_sub(gc_scale(q->e->axis, a), gc_scale(q->f->axis, b));
    rest = (GC_R(1.0) - gc_dot(n, n)) / det;
    if (!(rest >= GC_R(0.0))) return;
    rest = GC_SQRT(rest);
    gc_frusta_take(q, gc_unit(gc_add(n, gc_scale(k, rest)), q->e->axis), best, most);
    gc_frusta_take(q, gc_unit(gc_sub(n, gc_scale(k, rest)), q->e->axis), best, most);
}

/* The gap, and its direction from E to F. `from`: one to begin with; no length: none. */
GC_LARGE gc_real gc_frusta_apart(const gc_frusta *q, gc_vec from, gc_vec *n)
{
    gc_real most = GC_R(-1e30);
    gc_vec seeds[2];
    int i, known = gc_dot(from, from) > GC_R(0.0);
    seeds[0] = from;
    if (!known) seeds[0] = gc_frusta_direction(q, seeds + 1);
    *n = seeds[0];
    for (i = known ? 0 : 1; i >= 0; --i) {
        gc_frusta_take(q, seeds[i], n, &most);
        gc_frusta_rims(q, seeds[i], n, &most);
    }
    for (i = known ? 0 : 1; i >= 0; --i) {
        gc_frusta_circle(q, 0, seeds[i], n, &most);
        gc_frusta_circle(q, 1, seeds[i], n, &most);
    }
    gc_frusta_sides(q, n, &most);
    gc_frusta_take(q, q->e->axis, n, &most);
    gc_frusta_take(q, gc_opposite(q->e->axis), n, &most);
    gc_frusta_take(q, q->f->axis, n, &most);
    gc_frusta_take(q, gc_opposite(q->f->axis), n, &most);
    return most;
}

/* ---- where it is --------------------------------------------------------------------------------------------------------- */

/* What of a frustum is lowest along n, within `tol`: a disc (its middle twice, and its radius), a line, or a point. Returns the part. */
GC_FN int gc_frustum_under(const gc_frustum *f, gc_vec n, gc_real tol, gc_vec *a, gc_vec *b, gc_real *disc)
{
    gc_real low = gc_frustum_depth(f, 0, n), high = gc_frustum_depth(f, 1, n);
    int end = high < low;
    *disc = GC_R(0.0);
    *a = *b = gc_frustum_lowest(f, end, n);
    if (GC_ABS(high - low) <= tol) {
        *a = gc_frustum_lowest(f, 0, n);
        *b = gc_frustum_lowest(f, 1, n);
        return GC_PART_SIDE;
    }
    if (!(gc_norm(gc_cross(n, f->axis)) > GC_TOL_PARALLEL)) *disc = f->radius[end];
    return end;
}

/* the point of a to b that is nearest to x, seen along n */
GC_FN gc_vec gc_nearest_seen(gc_vec a, gc_vec b, gc_vec x, gc_vec n)
{
    gc_vec e = gc_sub(b, a), v = gc_sub(x, a);
    gc_real e2, u;
    e = gc_sub(e, gc_scale(n, gc_dot(e, n)));
    e2 = gc_dot(e, e);
    u = e2 > GC_R(0.0) ? gc_dot(v, e) / e2 : GC_R(0.0);
    return gc_add(a, gc_scale(gc_sub(b, a), GC_MIN(GC_MAX(u, GC_R(0.0)), GC_R(1.0))));
}

/* A place where both are nearest, on either, and the parts of both. */
GC_LARGE void gc_frusta_place(
    const gc_frusta *q,
    gc_vec n,
    gc_real gap,
    gc_vec *on_e,
    gc_vec *on_f,
    int *part_e,
    int *part_f)
{
    gc_real tol = GC_R(1e-9) * (q->e->length + q->f->length), disc_e, disc_f;
    gc_vec a, b, c, d, x;
    *part_e = gc_frustum_under(q->e, gc_opposite(n), tol, &a, &b, &disc_e);
    *part_f = gc_frustum_under(q->f, n, tol, &c, &d, &disc_f);
    if (*part_e == GC_PART_SIDE && *part_f == GC_PART_SIDE) {
        gc_vec u = gc_sub(b, a), v = gc_sub(d, c), k = gc_cross(u, v), w = gc_sub(c, a);
        gc_real k2 = gc_dot(k, k), uu = gc_dot(u, u);
        if (k2 > GC_R(1e-18) * uu * gc_dot(v, v)) x = gc_add(a, gc_scale(u, gc_dot(gc_cross(w, v), k) / k2));
        else {
            /* the middle of what lies beside each other */
            gc_real s = gc_dot(w, u) / uu, t = gc_dot(gc_sub(d, a), u) / uu, low, high;
            low = GC_MAX(GC_MIN(s, t), GC_R(0.0));
            high = GC_MIN(GC_MAX(s, t), GC_R(1.0));
            x = gc_add(a, gc_scale(u, GC_R(0.5) * (low + high)));
        }
    } else if (*part_e == GC_PART_SIDE) x = gc_nearest_seen(a, b, c, n);
    else if (*part_f == GC_PART_SIDE) x = gc_sub(gc_nearest_seen(c, d, a, n), gc_scale(n, gap));
    else if (disc_e > GC_R(0.0) && disc_f > GC_R(0.0)) {
        gc_vec across = gc_sub(c, a);
        gc_real far;
        across = gc_sub(across, gc_scale(n, gc_dot(across, n)));
        far = gc_norm(across);
        x = gc_add(a, gc_scale(across, far > disc_e ? disc_e / far : GC_R(1.0)));
    } else if (disc_e > GC_R(0.0)) x = gc_sub(c, gc_scale(n, gap));
    else x = a;
    *on_e = x;
    *on_f = gc_add(x, gc_scale(n, gap));
}

#endif
