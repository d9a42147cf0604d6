/* gc_touch.h: when a swept sphere first touches a face, an edge or a vertex.
 * needs: sweep/gc_ellipsoid_space.h pluecker/gc_twofold.h
 *
 * All tests are relative to the centre at the start; times are fractions of the path, GC_SWEEP_NEVER if it does not touch.
 * What is within the radius at the start is touched at 0 if it is approached, and otherwise never (docs/sweep.md has the
 * formulas and explains why nothing slips through).
 * Source: T. Schroeder, with corrections to the edge's quadratic and the inside test.
 */
#ifndef GC_SWEEP_TOUCH_H
#define GC_SWEEP_TOUCH_H

#define GC_SWEEP_NEVER GC_R(2.0)

#define GC_FEATURE_NONE 0
#define GC_FEATURE_FACE 1
#define GC_FEATURE_EDGE 2
#define GC_FEATURE_VERTEX 3

/* of ax by - ay bx: its sign, exactly */
GC_FN int gc_turn_sign(gc_real ax, gc_real ay, gc_real bx, gc_real by)
{
    gc_real p = ax * by, q = ay * bx;
    if (p == q) {
        p = gc_two_product(ax, by).lo;
        q = gc_two_product(ay, bx).lo;
    }
    return p > q ? 1 : (p < q ? -1 : 0);
}

/* A corner as one sees it who looks along the way: where it is beside it, and how far along an axis. The same
 * numbers for all faces at the corner: what they share, they share exactly. */
typedef struct {
    gc_real x, y, z;
} gc_sight;

GC_FN gc_sight gc_sight_of(const gc_ellipsoid_space *v, gc_vec p)
{
    gc_sight s;
    s.z = gc_axis(p, v->kz);
    s.x = gc_axis(p, v->kx) - v->sx * s.z;
    s.y = gc_axis(p, v->ky) - v->sy * s.z;
    return s;
}

/* Which side of a polygon of so many corners the way goes through: 1 from the front to the back, -1 the other way, 0: it passes
 * beside, or lies in it. Between which times the way is level with it. Cut into triangles from its first corner; signs are exact, so that of two triangles with a common
 * edge at least one has the way, whatever rounding did to the corners. */
GC_FN int gc_sight_through(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int corner,
    int last,
    gc_real *first,
    gc_real *until)
{
    gc_sight a = gc_sight_of(v, gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, corner)));
    gc_sight b = gc_sight_of(v, gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, corner + 1)));
    int before = gc_turn_sign(a.x, a.y, b.x, b.y), found = 0;
    gc_real low = GC_MIN(a.z, b.z), high = GC_MAX(a.z, b.z), along = gc_axis(v->way, v->kz);
    for (int k = corner + 2; k < last; ++k) {
        gc_sight c = gc_sight_of(v, gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, k)));
        int across = gc_turn_sign(b.x, b.y, c.x, c.y), after = gc_turn_sign(c.x, c.y, a.x, a.y);
        int some = (before | across | after) != 0;
        if (some && before <= 0 && across <= 0 && after <= 0) found = 1;
        if (some && before >= 0 && across >= 0 && after >= 0) found = found ? found : -1;
        low = GC_MIN(low, c.z);
        high = GC_MAX(high, c.z);
        before = -after;
        b = c;
    }
    if (found != 0) {
        *first = (along > GC_R(0.0) ? low : high) / along;
        *until = (along > GC_R(0.0) ? high : low) / along;
    }
    return found;
}

/* Between which times the foot of the centre's perpendicular is on a face with normal n, or beside it by no more than rounding: of a
 * side along the way that is all of it. If the foot passes beside all sides, by more, it is level with the nearest corner. */
GC_RARE void gc_touch_span(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int corner,
    int end,
    gc_vec n,
    gc_real *first,
    gc_real *until)
{
    gc_vec aside = gc_cross(n, v->way), along = gc_sub(v->way, gc_scale(n, gc_dot(n, v->way)));
    gc_vec y = gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, end - 1));
    gc_real square = gc_dot(along, along), nothing = v->slack * gc_norm(aside);
    gc_real off = gc_dot(aside, y), level = gc_dot(along, y), least = GC_ABS(off), nearest = level;
    gc_real low = GC_R(0.0), high = GC_R(0.0);
    int met = 0;
    for (int j = corner; j < end; ++j) {
        gc_real from = off, at = level, in = GC_R(0.0), out = GC_R(1.0);
        y = gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, j));
        off = gc_dot(aside, y);
        level = gc_dot(along, y);
        if (GC_ABS(off) < least) {
            least = GC_ABS(off);
            nearest = level;
        }
        if ((from > nothing && off > nothing) || (from < -nothing && off < -nothing)) continue;
        /* what of the side is so near: one that is left out above never gets here, so that nothing is divided by 0 */
        if (GC_ABS(from) > nothing) in = ((from > GC_R(0.0) ? nothing : -nothing) - from) / (off - from);
        if (GC_ABS(off) > nothing) out = ((off > GC_R(0.0) ? nothing : -nothing) - from) / (off - from);
        in = at + (level - at) * in;
        out = at + (level - at) * out;
        low = met ? GC_MIN(low, GC_MIN(in, out)) : GC_MIN(in, out);
        high = met ? GC_MAX(high, GC_MAX(in, out)) : GC_MAX(in, out);
        met = 1;
    }
    *first = (met ? low : nearest) / square;
    *until = (met ? high : nearest) / square;
}

/* A point, or a sphere that is hardly more, and a face with normal n: d before its plane, k: how fast it approaches. Who goes
 * almost along the plane is level with it at a time that is rounding: it is held to when the foot is on the face. So is the touch
 * of a sphere, which comes before its centre's. */
GC_FN gc_real gc_touch_thin(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int corner,
    int end,
    gc_vec n,
    gc_real d,
    gc_real k,
    gc_real last)
{
    gc_real first, until, t;
    int through;
    /* steep enough for the plane to say so */
    if (k * k > GC_R(1e-6) * v->square) {
        if (k < GC_R(0.0) && !g->two_sided) return GC_SWEEP_NEVER;
        if (k > GC_R(0.0) && d - v->radius - GC_R(64.0) * v->slack > k * last) return GC_SWEEP_NEVER;
    }
    through = gc_sight_through(w, g, v, corner, end, &first, &until);
    if (through == 0 || (through < 0 && !g->two_sided)) return GC_SWEEP_NEVER;
    if (g->two_sided && !(k > GC_R(0.0))) return GC_SWEEP_NEVER;
    d = GC_MAX(d, GC_R(0.0));
    if (k * k <= GC_SWEEP_FLAT * v->square) {
        gc_touch_span(w, g, v, corner, end, n, &first, &until);
        t = k > GC_R(0.0) ? (d - v->radius) / k : first;
        t = GC_MIN(GC_MAX(t, first), until);
    } else {
        t = k > GC_R(0.0) ? d / k : first;
        t = GC_MIN(GC_MAX(t, first), until);
        if (v->radius > GC_R(0.0) && k > GC_R(0.0)) {
            gc_real on = -GC_SWEEP_NEVER, off;
            if (v->square - k * k > GC_ROUNDING * v->square) gc_touch_span(w, g, v, corner, end, n, &on, &off);
            t = GC_MAX(t - v->radius / k, GC_MIN(on, t));
        }
    }
    if (until * GC_ABS(gc_axis(v->way, v->kz)) < -v->slack) return GC_SWEEP_NEVER;
    return GC_MAX(t, GC_R(0.0));
}

/* Is a place within the box of a polygon's corners? Of a sliver that is thinner than rounding the sides alone do not say where along it
 * one is: they all lie on one line. */
GC_FN int gc_touch_along(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    int corner,
    int end,
    gc_vec at)
{
    gc_vec x = gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, corner)), low = x, high = x;
    gc_real most = GC_R(64.0) * v->slack;
    for (int j = corner + 1; j < end; ++j) {
        x = gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, j));
        low = gc_make(GC_MIN(low.x, x.x), GC_MIN(low.y, x.y), GC_MIN(low.z, x.z));
        high = gc_make(GC_MAX(high.x, x.x), GC_MAX(high.y, x.y), GC_MAX(high.z, x.z));
    }
    return at.x >= low.x - most && at.y >= low.y - most && at.z >= low.z - most && at.x <= high.x + most
           && at.y <= high.y + most && at.z <= high.z + most;
}

/* A face: the plane comes as near as the radius, and the foot of the perpendicular is on the face then, or before the plane is
 * nearer by more than rounding. Along a border that the path crosses at a slant, that is what rounding may have taken from
 * the edge there, and what lies on the face next to it comes onto this one so (gc_internal_edges.h). */
GC_FN gc_real
gc_touch_face(const gc_cast_scene *w, const gc_cast_mesh *g, const gc_ellipsoid_space *v, int face, gc_real last)
{
    int corner = gc_cast_mesh_begin(w, g, face, GC_CAST_MESH_FACE_loop) + 1;
    int end = gc_cast_mesh_begin(w, g, face + 1, GC_CAST_MESH_FACE_loop);
    gc_vec n = gc_ellipsoid_space_normal(v, gc_cast_mesh_corner(w, g, corner - 1));
    gc_vec x = gc_cast_mesh_corner(w, g, corner), y = gc_ellipsoid_space_point(v, x);
    gc_real d = -gc_dot(n, y), k = -gc_dot(n, v->way), lo, hi, in, out;
    int on; /* the centre starts on it: at its border counts as within */
    if (g->two_sided && d < GC_R(0.0)) {
        d = -d;
        k = -k;
    }
    if (d < -v->slack) return GC_SWEEP_NEVER;
    if (v->thin) return gc_touch_thin(w, g, v, corner, end, n, d, k, last);
    if (!(k > GC_R(0.0)) || k * k <= v->least * v->square) return GC_SWEEP_NEVER;
    lo = GC_MAX((d - v->radius) / k, GC_R(0.0));
    if (lo > last) return GC_SWEEP_NEVER;
    hi = GC_MIN(lo + v->onto / k, GC_R(1.0));
    if (v->onto >= v->radius) hi = GC_MIN(hi, GC_MAX(d, GC_R(0.0)) / k);
    in = lo;
    out = hi;
    on = d <= v->slack;
    for (int j = corner; j < end; ++j) {
        gc_vec next = gc_cast_mesh_corner(w, g, j + 1 < end ? j + 1 : corner);
        gc_vec side = gc_cross(n, gc_ellipsoid_space_vector(v, gc_sub(next, x)));
        gc_real rate = gc_dot(side, v->way), at = gc_dot(side, y);
        int before = lo * rate < at, behind = hi * rate < at;
        if (on && at * at <= v->slack * v->slack * gc_dot(side, side)) before = behind = 0;
        if (before && behind) return GC_SWEEP_NEVER;
        if (before) in = GC_MAX(in, at / rate);
        if (behind) out = GC_MIN(out, at / rate);
        x = next;
        y = gc_ellipsoid_space_point(v, x);
    }
    if (!(in <= out)) return GC_SWEEP_NEVER;
    y = gc_ellipsoid_space_point(v, gc_cast_mesh_corner(w, g, corner));
    x = gc_scale(v->way, in);
    x = gc_sub(x, gc_scale(n, gc_dot(n, gc_sub(x, y))));
    return gc_touch_along(w, g, v, corner, end, x) ? in : GC_SWEEP_NEVER;
}

/* When |m + t v| falls to the root of `square`, and when it is least. Written so that nothing nearly equal is subtracted but
 * the distance and the radius themselves. What is no further away than the root of `nothing` at the start comes no nearer: which
 * way it is off is up to rounding. */
GC_FN gc_real gc_touch_root(gc_vec m, gc_vec v, gc_real square, gc_real least, gc_real nothing, gc_real *nearest)
{
    gc_real mm = gc_dot(m, m), vv = gc_dot(v, v), b = gc_dot(m, v), c = mm - square, rest;
    gc_vec h;
    *nearest = GC_R(0.0);
    if (!(b < GC_R(0.0)) || b * b <= least * mm * vv) return GC_SWEEP_NEVER;
    *nearest = -b / vv;
    if (c <= GC_R(0.0)) return mm > nothing ? GC_R(0.0) : GC_SWEEP_NEVER;
    h = gc_add(m, gc_scale(v, *nearest));
    rest = square - gc_dot(h, h);
    if (!(rest > GC_R(0.0))) return GC_SWEEP_NEVER;
    return c / (GC_SQRT(vv * rest) - b);
}

/* A vertex at y. */
GC_FN gc_real gc_touch_vertex(const gc_ellipsoid_space *v, gc_vec y)
{
    gc_real nearest;
    return gc_touch_root(gc_scale(y, GC_R(-1.0)), v->way, v->radius * v->radius, v->least, v->slack * v->slack, &nearest);
}

/* An edge from y along e: as a vertex, seen along the edge. Where the foot is beside the edge when the line is touched,
 * its ends are touched first, unless the foot comes onto it before the line is nearer by more than rounding. */
GC_FN gc_real gc_touch_edge(const gc_ellipsoid_space *v, gc_vec y, gc_vec e, gc_real last)
{
    gc_vec m = gc_scale(y, GC_R(-1.0)), across = gc_cross(m, e), way = gc_cross(v->way, e);
    gc_real ee = gc_dot(e, e), nearest, t, at, rate, near;
    t = gc_touch_root(across, way, v->radius * v->radius * ee, v->least, v->slack * v->slack * ee, &nearest);
    if (t > last) return GC_SWEEP_NEVER;
    rate = gc_dot(v->way, e);
    at = gc_dot(m, e) + t * rate;
    if (at >= GC_R(0.0) && at <= ee) return t;
    if (at < GC_R(0.0)) {
        if (!(rate > GC_R(0.0))) return GC_SWEEP_NEVER;
        t -= at / rate;
    } else {
        if (!(rate < GC_R(0.0))) return GC_SWEEP_NEVER;
        t += (ee - at) / rate;
    }
    if (!(t < nearest)) return GC_SWEEP_NEVER;
    across = gc_add(across, gc_scale(way, t));
    if (v->onto >= v->radius) { /* and nearer by more than nothing */
        at = gc_dot(across, way);
        if (at * at <= GC_R(16.0) * v->slack * v->slack * ee * gc_dot(way, way)) return GC_SWEEP_NEVER;
    }
    near = GC_MAX(v->radius - v->onto, GC_R(0.0));
    return gc_dot(across, across) >= near * near * ee ? t : GC_SWEEP_NEVER;
}

/* Of the faces around an edge or a vertex at y, those from `begin` to `end` of a list, the one that counts when it is touched:
 * the first in the mesh that has the centre in front of it; -1: none has. */
GC_FN int gc_touch_front(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    gc_vec y,
    gc_real time,
    int begin,
    int end)
{
    gc_vec at = gc_sub(gc_scale(v->way, time), y);
    for (int k = begin; k < end; ++k) {
        int face = w->ints[g->around + k];
        if (g->two_sided || gc_dot(gc_ellipsoid_space_normal(v, gc_cast_mesh_plane(w, g, face)), at) >= -v->slack)
            return w->ints[g->source + face];
    }
    return -1;
}

#endif
