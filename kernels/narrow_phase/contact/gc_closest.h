/* gc_closest.h: a pair of features of bodies at a distance, at one time: their closest points, and whether these are the bodies'.
 * needs: narrow_phase/contact/gc_contact.h
 *
 * Compiled only where GC_AT_DISTANCE is 1, but for the last functions. Everything is seen in A's axes at the time, from A's centre, in scaled lengths; U is the unit
 * direction from A's point to B's. Two points are the closest of both bodies nearby if each lies inside its feature and U lies in the
 * closed cone of A's feature, -U in that of B's: for a vertex e . U >= 0 over the edges that leave it (of A: -e . U), for an edge m . U >= 0
 * over its faces, m into the face across the edge (of A: -m . U). The least of these numbers is the properness. Source: Buss, section 10;
 * docs/decisions/0113.
 */
#ifndef GC_CLOSEST_H
#define GC_CLOSEST_H
#if GC_AT_DISTANCE

/* is a pair looked at at a distance? */
GC_FN int gc_at_distance(const gc_pair *p) { return p->bodies.distance > GC_R(0.0); }

/* are these the radii of a frustum's ends? */
GC_FN int gc_is_frustum(const gc_real *ends) { return ends[0] >= GC_R(0.0); }

/* The features of a pair, A's in A's axes from its centre, B's in B's: a point of each (of an edge its low end), the way along an edge,
 * and the plane n . x + d = 0 of a face. */
typedef struct {
    int kind;
    gc_vec xa, xb, ea, eb, n;
    gc_real d;
    gc_real length_a, length_b; /* of edges; else 1 */
} gc_features;

GC_FN int gc_has_edge_a(int kind) { return kind == GC_EE || kind == GC_EV; }
GC_FN int gc_has_edge_b(int kind) { return kind == GC_EE || kind == GC_VE; }

GC_FN gc_vec gc_scaled_vertex(const gc_tables *t, const gc_mesh *m, int v, gc_real shrink)
{
    return gc_scale(gc_vertex(t, m, v), shrink);
}

/* one body's part: a vertex, or an edge */
GC_FN void gc_feature_load(
    const gc_tables *t,
    const gc_mesh *m,
    int edge,
    int feature,
    gc_real shrink,
    gc_vec *x,
    gc_vec *e,
    gc_real *length)
{
    gc_vec high;
    *x = gc_scaled_vertex(t, m, edge ? t->topology[m->edges + 2 * feature] : feature, shrink);
    *length = GC_R(1.0);
    if (!edge) return;
    high = gc_scaled_vertex(t, m, t->topology[m->edges + 2 * feature + 1], shrink);
    *e = gc_sub(high, *x);
    *length = gc_norm(*e);
}

GC_FN gc_features gc_features_load(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb)
{
    gc_features f;
    gc_real shrink = p->bodies.shrink;
    f.kind = kind;
    f.d = GC_R(0.0);
    f.ea = f.eb = f.n = f.xa = f.xb = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    f.length_a = f.length_b = GC_R(1.0);
    if (kind == GC_FV || kind == GC_VF) {
        const gc_mesh *m = kind == GC_FV ? gc_mesh_a(p) : gc_mesh_b(p);
        int face = kind == GC_FV ? fa : fb;
        f.n = gc_normal(t, m, face);
        f.d = t->planes[4 * (m->face0 + face) + 3] * shrink;
    }
    if (kind != GC_FV) gc_feature_load(t, gc_mesh_a(p), gc_has_edge_a(kind), fa, shrink, &f.xa, &f.ea, &f.length_a);
    if (kind != GC_VF) gc_feature_load(t, gc_mesh_b(p), gc_has_edge_b(kind), fb, shrink, &f.xb, &f.eb, &f.length_b);
    return f;
}

/* the velocity of what of B is at y, as A sees it */
GC_FN gc_vec gc_velocity_at(const gc_body_state *now, gc_vec y) { return gc_state_velocity(now, gc_sub(y, now->q)); }

/* the part of x across a unit direction */
GC_FN gc_vec gc_across_part(gc_vec x, gc_vec u) { return gc_sub(x, gc_scale(u, gc_dot(x, u))); }

/* May the solid's outside at a vertex or an edge lie along u, or nearly? Some face there looks that way; but a border and a sheet have no
 * inside. list..end: of faces, their numbers shifted right by `shift`. */
GC_FN int gc_looks_along(const gc_tables *t, const gc_mesh *m, int list, int end, int shift, gc_vec u)
{
    for (; list < end; ++list)
        if (gc_dot(gc_normal(t, m, t->topology[list] >> shift), u) >= -GC_TOL_CONE) return 1;
    return 0;
}

GC_FN int gc_is_border(const gc_tables *t, const gc_mesh *m, int edge)
{
    return t->topology[m->edge_face_start + edge + 1] - t->topology[m->edge_face_start + edge] != 2;
}

/* How far u, out of the body, lies inside the cone of one of its edges or vertices; both in the body's axes. along: the edge's unit
 * direction. Below 0: outside. */
GC_LARGE gc_real gc_in_cone(const gc_tables *t, const gc_mesh *m, int edge, int feature, gc_vec along, gc_vec u)
{
    int i, end;
    if (edge && gc_is_thin(m)) return GC_R(1.0);
    if (edge) {
        gc_real least = GC_R(1.0), other = GC_R(1.0);
        i = t->topology[m->edge_face_start + feature];
        end = t->topology[m->edge_face_start + feature + 1];
        if (!m->two_sided && (t->topology[m->edge_flags + feature] & GC_EDGE_REFLEX)) return GC_R(-1.0);
        if (!m->two_sided && end - i == 2 && !gc_looks_along(t, m, m->edge_faces + i, m->edge_faces + end, 1, u))
            return GC_R(-1.0);
        gc_edge_terms(t, m, feature, u, along, GC_R(1.0), &least, &other);
        return least;
    }
    if (gc_is_point(m)) return GC_R(1.0);
    if (!m->two_sided) {
        int border = 0;
        i = t->topology[m->vertex_edge_start + feature];
        end = t->topology[m->vertex_edge_start + feature + 1];
        for (; i < end; ++i) border |= gc_is_border(t, m, t->topology[m->vertex_edges + i] >> 1);
        i = m->vertex_faces + t->topology[m->vertex_face_start + feature];
        end = m->vertex_faces + t->topology[m->vertex_face_start + feature + 1];
        if (!border && !gc_looks_along(t, m, i, end, 0, u)) return GC_R(-1.0);
    }
    return gc_vertex_properness(t, m, feature, gc_scale(u, GC_R(-1.0)));
}

/* Where the features are closest: y is B's point f->xb then. Sets the points, the direction, and how far inside their borders they are. */
GC_FN void gc_closest_points(
    const gc_tables *t,
    const gc_pair *p,
    const gc_features *f,
    int fa,
    int fb,
    const gc_body_state *now,
    gc_vec *on_a,
    gc_vec *on_b,
    gc_contact *c)
{
    gc_vec y = gc_add(now->q, gc_rotate(now->m, f->xb)), e = gc_rotate(now->m, f->eb), gap = gc_sub(y, f->xa), n;
    gc_real scale = p->bodies.scale, shrink = p->bodies.shrink, h, a = GC_R(0.0), b = GC_R(0.0), n2;
    *on_a = f->xa;
    *on_b = y;
    c->inside = GC_R(1e30);
    c->sine = GC_R(1.0);
    if (f->kind == GC_FV) {
        h = gc_dot(f->n, y) + f->d;
        *on_a = gc_sub(y, gc_scale(f->n, h));
        c->normal = gc_scale(f->n, h < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0));
        c->inside = gc_inside_face(t, gc_mesh_a(p), fa, gc_scale(*on_a, scale), shrink);
        return;
    }
    if (f->kind == GC_VF) {
        n = gc_rotate(now->m, f->n);
        h = gc_dot(n, gc_sub(f->xa, now->q)) + f->d;
        *on_b = gc_sub(f->xa, gc_scale(n, h));
        c->normal = gc_scale(n, h < GC_R(0.0) ? GC_R(1.0) : GC_R(-1.0));
        c->inside = gc_inside_face(
            t, gc_mesh_b(p), fb, gc_scale(gc_rotate_back(now->m, gc_sub(*on_b, now->q)), scale), shrink);
        return;
    }
    if (f->kind == GC_EE) {
        n = gc_cross(f->ea, e);
        n2 = gc_dot(n, n);
        c->sine = GC_SQRT(n2) / (f->length_a * f->length_b);
        if (!(c->sine >= GC_TOL_PARALLEL)) {
            c->normal = gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0));
            c->inside = GC_R(-1e30);
            return;
        }
        a = gc_dot(gc_cross(gap, e), n) / n2;
        b = gc_dot(gc_cross(gap, f->ea), n) / n2;
        c->normal = gc_scale(n, (gc_dot(gap, n) < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0)) / GC_SQRT(n2));
    }
    if (f->kind == GC_EV) a = gc_dot(gap, f->ea) / (f->length_a * f->length_a);
    if (f->kind == GC_VE) b = -gc_dot(gap, e) / (f->length_b * f->length_b);
    if (gc_has_edge_a(f->kind)) c->inside = GC_MIN(a, GC_R(1.0) - a) * f->length_a;
    if (gc_has_edge_b(f->kind)) c->inside = GC_MIN(GC_MIN(b, GC_R(1.0) - b) * f->length_b, c->inside);
    *on_a = gc_add(f->xa, gc_scale(f->ea, a));
    *on_b = gc_add(y, gc_scale(e, b));
    if (f->kind != GC_EE) {
        n = gc_sub(*on_b, *on_a);
        c->normal = gc_unit(n, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0)));
    }
}

/* the least number by which the direction is in the cones of both features */
GC_FN gc_real gc_closest_proper(
    const gc_tables *t,
    const gc_pair *p,
    const gc_features *f,
    int fa,
    int fb,
    const gc_body_state *now,
    gc_vec u)
{
    gc_real least = GC_R(1.0);
    int k = f->kind;
    gc_vec back = gc_rotate_back(now->m, gc_scale(u, GC_R(-1.0)));
    if (k != GC_FV) least = gc_in_cone(t, gc_mesh_a(p), gc_has_edge_a(k), fa, gc_scale(f->ea, GC_R(1.0) / f->length_a), u);
    if (k != GC_VF && least > GC_R(-1.0)) {
        gc_real of_b = gc_in_cone(t, gc_mesh_b(p), gc_has_edge_b(k), fb, gc_scale(f->eb, GC_R(1.0) / f->length_b), back);
        least = GC_MIN(of_b, least);
    }
    return least;
}

/* A pair of features at one time. `doubt` is what the time of a slow approach, and so the place, is worth (gc_place_doubt). */
GC_LARGE gc_contact gc_closest_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, const gc_body_state *now)
{
    gc_contact c;
    gc_features f = gc_features_load(t, p, kind, fa, fb);
    gc_vec on_a, on_b, w;
    gc_real unit = p->bodies.size + p->bodies.speed, rounding, rate, late;
    gc_closest_points(t, p, &f, fa, fb, now, &on_a, &on_b, &c);
    w = gc_velocity_at(now, on_b);
    c.speed = gc_dot(c.normal, w);
    rounding = GC_PLACE_ROUNDING * unit / GC_MAX(c.sine, GC_TOL_PARALLEL);
    rate = GC_ABS(c.speed);
    late = rate * p->bodies.tau > rounding ? rounding / rate : p->bodies.tau;
    c.doubt = GC_MIN(rounding + late * gc_norm(w), GC_PLACE_DOUBT * unit);
    c.normal_b = gc_rotate_back(now->m, c.normal);
    c.point = on_a;
    c.local_a = gc_scale(on_a, p->bodies.scale);
    c.local_b = gc_scale(gc_rotate_back(now->m, gc_sub(on_b, now->q)), p->bodies.scale);
    c.properness = c.inside > GC_R(-1e29) ? gc_closest_proper(t, p, &f, fa, fb, now, c.normal) : GC_R(-1.0);
    c.facing = c.speed <= GC_TOL_FACING * p->bodies.speed;
    c.flags = 0;
    return c;
}

/* Is it a contact, of a body that comes nearer? Where the direction is that of two points as near as their rounding, or their place is in
 * doubt, so is the direction. */
GC_FN int gc_is_closest(const gc_contact *c, const gc_pair *p)
{
    gc_real tol = GC_TOL_INSIDE * p->bodies.size + c->doubt;
    return c->facing && c->inside >= -tol && c->properness >= -(GC_TOL_CONE + tol / p->bodies.distance);
}

/* properness as it is reported: what is in a cone within rounding is on its border */
GC_FN gc_real gc_closest_properness(const gc_contact *c)
{
    return gc_in_steps(GC_MIN(GC_MAX(c->properness, GC_R(0.0)), GC_R(1.0)));
}

GC_FN gc_contact gc_closest_when(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_body_state now;
    gc_bodies_at(&p->bodies, s, &now);
    return gc_closest_at(t, p, kind, fa, fb, &now);
}

#endif

/* Points of rounded bodies as they are reported, in mesh axes: those of the meshes, moved to the surfaces. Those of a frustum lie on it. */
GC_FN void gc_round_points(
    const gc_pair *p,
    const gc_contact *c,
    gc_real round_a,
    gc_real round_b,
    gc_vec *local_a,
    gc_vec *local_b)
{
#if GC_AT_DISTANCE
    if (!gc_at_distance(p) || !(round_a > GC_R(0.0) || round_b > GC_R(0.0))) return;
    if (!gc_is_frustum(p->ends_a)) *local_a = gc_add(*local_a, gc_scale(c->normal, round_a));
    if (!gc_is_frustum(p->ends_b)) *local_b = gc_sub(*local_b, gc_scale(c->normal_b, round_b));
#else
    (void)p, (void)c, (void)round_a, (void)round_b, (void)local_a, (void)local_b;
#endif
}

/* Is a contact at a vertex of the body? That of a frustum stands for an end of it. */
GC_FN int gc_at_vertex_a(const gc_pair *p, int kind)
{
#if GC_AT_DISTANCE
    if (gc_is_frustum(p->ends_a)) return 0;
#endif
    (void)p;
    return kind == GC_VF || kind == GC_VE || kind == GC_VV;
}

GC_FN int gc_at_vertex_b(const gc_pair *p, int kind)
{
#if GC_AT_DISTANCE
    if (gc_is_frustum(p->ends_b)) return 0;
#endif
    (void)p;
    return kind == GC_FV || kind == GC_EV || kind == GC_VV;
}

#endif
