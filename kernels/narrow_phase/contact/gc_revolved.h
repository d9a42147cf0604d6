/* gc_revolved.h: a pair with a cylinder or a cone at one time: its nearest features, and the contact they make.
 * needs: narrow_phase/contact/gc_closest.h narrow_phase/contact/gc_frusta.h
 *
 * Compiled only where GC_AT_DISTANCE is 1, but for the last functions. All is seen from the other body, M, in its axes from its centre, in
 * scaled lengths: there the frustum K moves by its middle and its axis, so that a turn about the axis is nothing. Features of K are those of
 * the mesh that it is for culling: vertices 0 and 1 its ends, disc and rim, and edge 0 its side. Source: docs/decisions/0144.
 */
#ifndef GC_REVOLVED_H
#define GC_REVOLVED_H
#if GC_AT_DISTANCE

/* is either body of a pair one? */
GC_FN int gc_is_revolved(const gc_pair *p)
{
    return gc_at_distance(p) && (gc_is_frustum(p->ends_a) || gc_is_frustum(p->ends_b));
}

/* A pair with a frustum: which body it is (of two B), and the distance from it at which it is in contact. */
typedef struct {
    int of_b;
    const gc_mesh *m, *k;
    const gc_real *ends;   /* radii of K's */
    const gc_real *ends_m; /* of M's, if that is one as well */
    gc_real r;
} gc_revolved;

GC_FN gc_revolved gc_revolved_of(const gc_pair *p)
{
    gc_revolved q;
    q.of_b = gc_is_frustum(p->ends_b);
    q.m = q.of_b ? gc_mesh_a(p) : gc_mesh_b(p);
    q.k = q.of_b ? gc_mesh_b(p) : gc_mesh_a(p);
    q.ends = q.of_b ? p->ends_b : p->ends_a;
    q.ends_m = gc_is_frustum(p->ends_a) && gc_is_frustum(p->ends_b) ? p->ends_a : 0;
    q.r = p->bodies.distance - GC_MAX(q.ends[0], q.ends[1]);
    if (q.ends_m) q.r -= GC_MAX(q.ends_m[0], q.ends_m[1]);
    return q;
}

/* K at a time, and how its middle and its axis change */
typedef struct {
    gc_frustum f;
    gc_vec velocity, tilting;
} gc_revolved_state;

GC_FN gc_frustum gc_frustum_of(const gc_tables *t, const gc_mesh *m, const gc_real *ends, gc_real shrink)
{
    gc_frustum f;
    gc_vec low = gc_scaled_vertex(t, m, 0, shrink), way = gc_sub(gc_scaled_vertex(t, m, 1, shrink), low);
    f.low = low;
    f.length = gc_norm(way);
    f.axis = gc_scale(way, GC_R(1.0) / f.length);
    f.radius[0] = ends[0];
    f.radius[1] = ends[1];
    return f;
}

GC_FN gc_revolved_state gc_revolved_at(const gc_tables *t, const gc_pair *p, const gc_revolved *q, const gc_body_state *now)
{
    gc_revolved_state to;
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    to.f = gc_frustum_of(t, q->k, q->ends, p->bodies.shrink);
    if (q->of_b) {
        to.f.low = gc_add(now->q, gc_rotate(now->m, to.f.low));
        to.f.axis = gc_rotate(now->m, to.f.axis);
        to.velocity = now->v;
        to.tilting = gc_cross(now->omega, to.f.axis);
    } else {
        to.velocity = gc_rotate_back(now->m, gc_sub(none, gc_velocity_at(now, none)));
        to.tilting = gc_rotate_back(now->m, gc_cross(to.f.axis, now->omega));
        to.f.low = gc_rotate_back(now->m, gc_sub(to.f.low, now->q));
        to.f.axis = gc_rotate_back(now->m, to.f.axis);
    }
    return to;
}

/* the nearest features of M's part and of K: n leads from M to K */
#define GC_SORT_FACE 0
#define GC_SORT_EDGE 1
#define GC_SORT_VERTEX 2
typedef struct {
    gc_real d; /* signed */
    gc_vec n, on_m, on_k;
    gc_real held;     /* M's part reaches so high along n */
    int sort, number; /* M's feature */
    int part;         /* K's: an end, or GC_PART_SIDE */
    int rim;          /* K's end at whose rim or apex it is, if it is in touch; else -1 */
    int flat;         /* M's edge is as near all along: the number of its other end, or -1 */
} gc_revolved_gap;

GC_FN void gc_revolved_near(const gc_frustum_near *near, gc_vec at, gc_revolved_gap *to)
{
    to->d = near->d;
    to->n = gc_scale(near->n, GC_R(-1.0));
    to->on_m = at;
    to->on_k = near->on;
    to->part = near->part;
    to->rim = near->rim;
}

GC_LARGE void gc_revolved_vertex(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int vertex,
    gc_revolved_gap *to)
{
    gc_vec x = gc_scaled_vertex(t, q->m, vertex, p->bodies.shrink);
    gc_frustum_near near = gc_frustum_point(f, x);
    gc_revolved_near(&near, x, to);
    to->held = gc_dot(to->n, x);
    to->sort = GC_SORT_VERTEX;
    to->number = vertex;
    to->flat = -1;
}

GC_LARGE void gc_revolved_edge(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int edge,
    gc_revolved_gap *to)
{
    gc_vec x, e = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_real share, length;
    gc_frustum_near near;
    int flat, end;
    gc_feature_load(t, q->m, 1, edge, p->bodies.shrink, &x, &e, &length);
    near = gc_frustum_segment(f, x, e, &share, &flat);
    gc_revolved_near(&near, gc_add(x, gc_scale(e, share)), to);
    to->held = gc_dot(to->n, x) + GC_MAX(gc_dot(to->n, e), GC_R(0.0));
    end = share <= GC_R(0.0) ? 0 : share >= GC_R(1.0) ? 1 : -1;
    to->sort = end < 0 ? GC_SORT_EDGE : GC_SORT_VERTEX;
    to->number = end < 0 ? edge : t->topology[q->m->edges + 2 * edge + end];
    to->flat = flat ? t->topology[q->m->edges + 2 * edge + 1] : -1;
}

/* how far inside a face's borders a point of M is */
GC_FN gc_real gc_revolved_inside(const gc_tables *t, const gc_pair *p, const gc_revolved *q, int face, gc_vec x)
{
    return gc_inside_face(t, q->m, face, gc_scale(x, p->bodies.scale), p->bodies.shrink);
}

/* An end of K above the plane of a face, whose normal times `sign` leads to it */
GC_LARGE void gc_revolved_plane(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int face,
    int end,
    gc_real sign,
    gc_revolved_gap *to)
{
    gc_vec level;
    to->n = gc_scale(gc_normal(t, q->m, face), sign);
    to->held = -t->planes[4 * (q->m->face0 + face) + 3] * p->bodies.shrink * sign;
    to->d = gc_frustum_depth(f, end, to->n) - to->held;
    to->on_k = gc_frustum_lowest(f, end, to->n);
    to->on_m = gc_sub(to->on_k, gc_scale(to->n, to->d));
    level = gc_sub(to->n, gc_scale(f->axis, gc_dot(to->n, f->axis)));
    if (gc_norm(level) <= GC_TOL_PARALLEL && gc_revolved_inside(t, p, q, face, to->on_m) < GC_R(0.0)) {
        /* of a level disc whose middle is not over the face the point that is lowest by what can be told */
        gc_vec aside = gc_across(f->axis);
        if (gc_norm(level) > GC_R(1e-5) * GC_TOL_PARALLEL) aside = gc_unit(level, aside);
        aside = gc_unit(gc_sub(aside, gc_scale(f->axis, gc_dot(aside, f->axis))), aside);
        aside = gc_scale(aside, -f->radius[end]);
        if (gc_revolved_inside(t, p, q, face, gc_add(to->on_m, aside)) >= GC_R(0.0)) {
            to->on_k = gc_add(to->on_k, aside);
            to->on_m = gc_add(to->on_m, aside);
        }
    }
    to->sort = GC_SORT_FACE;
    to->number = face;
    to->part = end;
    to->flat = to->rim = -1;
}

/* An end of K above a face, whose normal leads to K's side; returns how far inside the face's borders that is. */
GC_FN gc_real gc_revolved_above(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int face,
    int end,
    gc_revolved_gap *to)
{
    gc_real d = t->planes[4 * (q->m->face0 + face) + 3] * p->bodies.shrink;
    gc_vec middle = gc_add(f->low, gc_scale(f->axis, GC_R(0.5) * f->length));
    gc_real sign = gc_dot(gc_normal(t, q->m, face), middle) + d < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0);
    gc_revolved_plane(t, p, q, f, face, end, sign, to);
    return gc_revolved_inside(t, p, q, face, to->on_m);
}

/* A face: by what of K is lowest above it, or else by its borders. */
GC_LARGE void gc_revolved_face(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int face,
    gc_revolved_gap *to)
{
    gc_revolved_gap other;
    gc_real tol = GC_TOL_INSIDE * p->bodies.size, inside, far;
    int j = t->topology[q->m->face_start + face], end = t->topology[q->m->face_start + face + 1], first = j;
    inside = gc_revolved_above(t, p, q, f, face, 0, to);
    far = gc_revolved_above(t, p, q, f, face, 1, &other);
    /* of ends that are as low the one that is above the face */
    if (other.d < to->d - tol || (other.d <= to->d + tol && far > inside)) {
        *to = other;
        inside = far;
    }
    if (to->d < GC_R(0.0)) {
        /* K is on both sides: where the way from its middle to its lowest point goes through the plane */
        gc_vec middle = gc_add(f->low, gc_scale(f->axis, GC_R(0.5) * f->length)), way = gc_sub(to->on_k, middle);
        gc_real height = gc_dot(to->n, middle) - to->held;
        inside = gc_revolved_inside(t, p, q, face, gc_add(middle, gc_scale(way, height / (height - to->d))));
    }
    if (inside >= -tol || to->d > q->r + GC_R(0.25) * (f->length + f->radius[0] + f->radius[1])) return;
    to->d = GC_R(1e30);
    for (; j < end; ++j) {
        gc_revolved_edge(t, p, q, f, t->topology[q->m->face_edges + j], &other);
        if (other.d < to->d) *to = other;
    }
    to->held = GC_R(-1e30);
    for (j = first; j < end; ++j)
        to->held = GC_MAX(
            to->held, gc_dot(to->n, gc_scaled_vertex(t, q->m, t->topology[q->m->face_vertices + j], p->bodies.shrink)));
}

/* M that is a frustum itself; `from`: a direction to begin with, or none */
GC_LARGE void gc_revolved_both(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    gc_vec from,
    gc_revolved_gap *to)
{
    gc_frustum e = gc_frustum_of(t, q->m, q->ends_m, p->bodies.shrink);
    gc_frusta both;
    gc_vec back;
    int part;
    both.e = &e;
    both.f = f;
    to->d = gc_frusta_apart(&both, from, &to->n);
    gc_frusta_place(&both, to->n, to->d, &to->on_m, &to->on_k, &part, &to->part);
    if (gc_dot(from, from) > GC_R(0.0)) {
        /* a direction that was good a moment before may part no longer where both come together aside */
        gc_frustum_near on_e = gc_frustum_point(&e, to->on_m), on_f = gc_frustum_point(f, to->on_k);
        if (GC_MAX(GC_ABS(on_e.d), GC_ABS(on_f.d)) > GC_TOL_TOUCH * p->bodies.size) {
            to->d = gc_frusta_apart(&both, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), &to->n);
            gc_frusta_place(&both, to->n, to->d, &to->on_m, &to->on_k, &part, &to->part);
        }
    }
    back = gc_opposite(to->n);
    to->held = -GC_MIN(gc_frustum_depth(&e, 0, back), gc_frustum_depth(&e, 1, back));
    to->sort = part == GC_PART_SIDE ? GC_SORT_EDGE : GC_SORT_VERTEX;
    to->number = part == GC_PART_SIDE ? 0 : part;
    to->flat = to->rim = -1;
}

/* ---- directions at a rim --------------------------------------------------------------------------------------------- */

/* Directions n + share * turn, of which some lead out of a body: from low to high. Takes off those that lead into it, along d. */
GC_FN void gc_revolved_without(gc_vec n, gc_vec turn, gc_vec d, gc_real *low, gc_real *high)
{
    gc_real a = gc_dot(n, d), by = gc_dot(turn, d);
    if (a > GC_R(0.0) && by < GC_R(0.0)) *low = GC_MAX(*low, -a / by);
    if (a + by > GC_R(0.0) && by > GC_R(0.0)) *high = GC_MIN(*high, -a / by);
}

/* the directions of M's feature into M: along the edges of a vertex, or into the faces of an edge, which goes `along` */
GC_FN gc_vec gc_revolved_into(const gc_tables *t, const gc_mesh *m, int edge, int number, int i, gc_vec along)
{
    int entry = t->topology[(edge ? m->edge_faces : m->vertex_edges) + i], far;
    if (edge) return gc_scale(gc_cross(gc_normal(t, m, entry >> 1), along), entry & 1 ? GC_R(-1.0) : GC_R(1.0));
    far = t->topology[m->edges + 2 * (entry >> 1) + 1 - (entry & 1)];
    return gc_unit(gc_sub(gc_vertex(t, m, far), gc_vertex(t, m, number)), along);
}

/* A vertex or an edge of M in touch with a rim or an apex of K may be parted by any direction that leads out of both, and g->n is but one of
 * K's. Sets it to the middle of those of M between K's end's and K's side's; at an apex, on the side that M needs most. */
GC_LARGE void gc_revolved_parts(
    const gc_tables *t,
    const gc_revolved *q,
    const gc_frustum *f,
    gc_real gap,
    gc_revolved_gap *g)
{
    const gc_mesh *m = q->m;
    int edge = g->sort == GC_SORT_EDGE, i, end;
    gc_real rho, z, dr = f->radius[1] - f->radius[0], slant = GC_SQRT(f->length * f->length + dr * dr);
    gc_real low = GC_R(0.0), high = GC_R(1.0), most = GC_R(-1e30), cosine;
    gc_vec n, out, turn, along = f->axis;
    if (g->rim < 0 || g->sort == GC_SORT_FACE || (edge && gc_is_thin(m))) return;
    if (!(GC_ABS(gap) <= GC_TOL_TOUCH * (f->length + f->radius[0] + f->radius[1]))) return;
    n = gc_scale(f->axis, g->rim ? GC_R(-1.0) : GC_R(1.0));
    out = gc_frustum_out(f, g->on_k, &rho, &z);
    if (edge) {
        int from = t->topology[m->edges + 2 * g->number], to = t->topology[m->edges + 2 * g->number + 1];
        along = gc_unit(gc_sub(gc_vertex(t, m, to), gc_vertex(t, m, from)), along);
    }
    i = edge ? m->edge_face_start + g->number : m->vertex_edge_start + g->number;
    end = t->topology[i + 1];
    i = t->topology[i];
    turn = gc_sub(gc_sub(gc_scale(f->axis, dr / slant), gc_scale(out, f->length / slant)), n);
    if (f->radius[g->rim] > GC_R(0.0)) {
        /* across both the edge and the rim there is only one */
        if (edge && gc_norm(gc_cross(along, gc_cross(f->axis, out))) > GC_R(1e-6)) return;
    } else {
        int j;
        gc_vec middle = n;
        if (edge) n = gc_unit(gc_sub(n, gc_scale(along, gc_dot(n, along))), gc_across(along));
        for (j = i; j < end; ++j) {
            gc_vec d = gc_revolved_into(t, m, edge, g->number, j, along);
            if (gc_dot(d, n) <= most) continue;
            most = gc_dot(d, n);
            out = d;
        }
        out = gc_unit(gc_sub(out, gc_scale(n, gc_dot(out, n))), gc_across(n));
        cosine = GC_ABS(dr) / slant / GC_MAX(gc_dot(n, middle), GC_TOL_PARALLEL);
        cosine = GC_MIN(cosine, GC_R(1.0));
        turn = gc_sub(gc_scale(n, cosine - GC_R(1.0)), gc_scale(out, GC_SQRT(GC_R(1.0) - cosine * cosine)));
    }
    for (; i < end; ++i) gc_revolved_without(n, turn, gc_revolved_into(t, m, edge, g->number, i, along), &low, &high);
    low = GC_MIN(GC_MAX(GC_R(0.5) * (low + high), GC_R(0.0)), GC_R(1.0));
    g->n = gc_unit(gc_add(n, gc_scale(turn, low)), n);
}

/* ---- as a contact ---------------------------------------------------------------------------------------------------- */

/* the kind of a contact, by M's sort and K's part */
GC_FN int gc_revolved_kind(const gc_revolved *q, int sort, int part)
{
    int side = part == GC_PART_SIDE;
    if (sort == GC_SORT_FACE) return q->of_b ? GC_FV : GC_VF;
    if (sort == GC_SORT_EDGE) return side ? GC_EE : q->of_b ? GC_EV : GC_VE;
    return !side ? GC_VV : q->of_b ? GC_VE : GC_EV;
}

GC_FN int gc_revolved_sort(const gc_revolved *q, int kind)
{
    if (kind == GC_FV || kind == GC_VF) return GC_SORT_FACE;
    if (kind == GC_EE || kind == (q->of_b ? GC_EV : GC_VE)) return GC_SORT_EDGE;
    return GC_SORT_VERTEX;
}

/* the gap between a feature of M and K, or an end of K above a face */
GC_FN void gc_revolved_between(
    const gc_tables *t,
    const gc_pair *p,
    const gc_revolved *q,
    const gc_frustum *f,
    int sort,
    int number,
    int part,
    gc_revolved_gap *to)
{
    if (q->ends_m) gc_revolved_both(t, p, q, f, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), to);
    else if (sort == GC_SORT_FACE) gc_revolved_above(t, p, q, f, number, part, to);
    else if (sort == GC_SORT_EDGE) gc_revolved_edge(t, p, q, f, number, to);
    else gc_revolved_vertex(t, p, q, f, number, to);
}

/* the rate at which a gap changes */
GC_FN gc_real gc_revolved_rate(const gc_revolved_state *k, const gc_revolved_gap *g)
{
    gc_vec middle = gc_add(k->f.low, gc_scale(k->f.axis, GC_R(0.5) * k->f.length)), arm = gc_sub(g->on_k, middle);
    /* the part of the arm across the axis turns against it */
    gc_real along = gc_dot(arm, k->f.axis);
    gc_vec w = gc_add(k->velocity, gc_scale(k->tilting, along));
    return gc_dot(g->n, gc_sub(w, gc_scale(k->f.axis, gc_dot(k->tilting, arm))));
}

GC_LARGE gc_contact gc_revolved_when(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_revolved q = gc_revolved_of(p);
    gc_body_state now;
    gc_revolved_state k;
    gc_revolved_gap g;
    gc_contact c;
    gc_vec n;
    gc_bodies_at(&p->bodies, s, &now);
    k = gc_revolved_at(t, p, &q, &now);
    gc_revolved_between(t, p, &q, &k.f, gc_revolved_sort(&q, kind), q.of_b ? fa : fb, q.of_b ? fb : fa, &g);
    gc_revolved_parts(t, &q, &k.f, g.d, &g);
    /* of M in its own axes, of K in A's or B's */
    n = q.of_b ? g.n : gc_scale(gc_rotate(now.m, g.n), GC_R(-1.0));
    c.normal = n;
    c.normal_b = q.of_b ? gc_rotate_back(now.m, n) : gc_scale(g.n, GC_R(-1.0));
    c.speed = gc_revolved_rate(&k, &g);
    c.local_a = q.of_b ? g.on_m : gc_add(now.q, gc_rotate(now.m, g.on_k));
    c.local_b = q.of_b ? gc_rotate_back(now.m, gc_sub(g.on_k, now.q)) : g.on_m;
    c.point = c.local_a;
    c.local_a = gc_scale(c.local_a, p->bodies.scale);
    c.local_b = gc_scale(c.local_b, p->bodies.scale);
    c.properness = c.sine = GC_R(1.0);
    c.inside = GC_R(0.0);
    c.doubt = GC_PLACE_ROUNDING * (p->bodies.size + p->bodies.speed);
    c.facing = 1;
    c.flags = 0;
    return c;
}

/* a pair of features at a distance, or of what is a frustum */
GC_FN gc_contact gc_apart_when(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    return gc_is_revolved(p) ? gc_revolved_when(t, p, kind, fa, fb, s) : gc_closest_when(t, p, kind, fa, fb, s);
}
#endif

/* a hit as it is reported */
GC_FN gc_contact gc_contact_reported(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
#if GC_AT_DISTANCE
    if (gc_at_distance(p)) return gc_apart_when(t, p, kind, fa, fb, s);
#endif
    return gc_contact_alone(t, p, kind, fa, fb, s);
}

#endif
