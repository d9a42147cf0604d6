/* gc_contact.h: a pair of features at one time: place, normal, properness, and whether it is a contact.
 * needs: narrow_phase/contact/gc_equations.h narrow_phase/contact/gc_properness.h
 */
#ifndef GC_CONTACT_H
#define GC_CONTACT_H

typedef struct {
    gc_vec point;  /* on A, screw frame, scaled */
    gc_vec normal; /* from A to B, screw frame */
#if GC_AT_DISTANCE
    gc_vec normal_b; /* the same in B's axes, where they are at a distance */
#endif
    gc_vec local_a; /* centred mesh coordinates of A, user units */
    gc_vec local_b;
    gc_real properness;
    gc_real speed;  /* normal . omega, scaled: negative approaches */
    gc_real inside; /* least distance inside the features' borders, scaled; negative is outside */
    gc_real doubt;  /* what rounding leaves in doubt of that: gc_place_doubt */
    gc_real sine;   /* of the angle between two edges; 1 for a vertex */
    int facing;     /* both features face each other's way */
    int flags;      /* GC_HIT_* bits */
} gc_contact;

/* properness as it is compared and reported (GC_PROPERNESS_STEPS) */
GC_FN gc_real gc_in_steps(gc_real properness)
{
    return GC_FLOOR(properness * GC_PROPERNESS_STEPS + GC_R(0.5)) / GC_PROPERNESS_STEPS;
}

/* How far off its true place a meeting at x may be found, scaled. An equation is good to a rounding; divided by the
 * rate at which the features come together (n . omega) that is a doubt of time, and divided by the sine of the edges'
 * angle (1 for a vertex and a face) a doubt along the edges. */
GC_FN gc_real gc_place_doubt(const gc_screw *k, gc_vec x, gc_real rate, gc_real sine)
{
    gc_real unit = k->size + k->speed, r = GC_PLACE_ROUNDING * unit / sine, a = GC_ABS(rate), doubt;
    gc_real late = a * k->tau > r ? r / a : k->tau;
    doubt = r + late * gc_norm(gc_make(k->w + k->theta * x.z, k->g, k->theta * x.x));
    return GC_MIN(doubt, GC_PLACE_DOUBT * unit);
}

/* which body holds the face, which the vertex */
typedef struct {
    const gc_mesh *mesh_f, *mesh_v;
    const gc_real *rf, *tf, *rv, *tv;
    gc_real way;
    int face, vertex;
} gc_sides;

GC_FN gc_sides gc_sides_of(const gc_pair *p, int kind, int fa, int fb)
{
    gc_sides r;
    int fv = kind == GC_FV;
    r.mesh_f = fv ? gc_mesh_a(p) : gc_mesh_b(p);
    r.mesh_v = fv ? gc_mesh_b(p) : gc_mesh_a(p);
    r.rf = fv ? gc_screw_of(p)->ra : gc_screw_of(p)->rb;
    r.tf = fv ? gc_screw_of(p)->ta : gc_screw_of(p)->tb;
    r.rv = fv ? gc_screw_of(p)->rb : gc_screw_of(p)->ra;
    r.tv = fv ? gc_screw_of(p)->tb : gc_screw_of(p)->ta;
    r.way = fv ? GC_R(1.0) : GC_R(-1.0);
    r.face = fv ? fa : fb;
    r.vertex = fv ? fb : fa;
    return r;
}

/* Does a face of a sheet turn its normal n against vertex q.vertex? A sheet has no outer side, so its winding must not
 * matter: the normal is the one against the approach. Where there is none (sliding, rest, a graze) it is the one
 * that makes the vertex more proper, and where that is tied the one towards the vertex's body. All in the frame of the
 * face at s; n_vertex is n in the vertex's mesh axes, `to` carries the vertex's body there, x is the vertex. */
GC_FN int gc_sheet_turns(
    const gc_tables *t,
    const gc_screw *k,
    const gc_sides *q,
    gc_turn to,
    gc_vec x,
    gc_vec n,
    gc_vec n_vertex)
{
    gc_real rate = q->way * gc_facing(k, n, x), one, other;
    if (GC_ABS(rate) > GC_TOL_FACING * k->speed) return rate > GC_R(0.0);
    one = gc_vertex_properness(t, q->mesh_v, q->vertex, n_vertex);
    other = gc_vertex_properness(t, q->mesh_v, q->vertex, gc_scale(n_vertex, GC_R(-1.0)));
    if (GC_ABS(one - other) > GC_TOL_TIE) return other > one;
    return gc_dot(n, gc_sub(gc_flow(k, to, gc_make(q->tv[0], q->tv[1], q->tv[2])), x)) < GC_R(0.0);
}

/* FV: vertex of B at s against A's face. VF: A's vertex carried back by s against B's face at half-way. */
GC_FN gc_contact gc_vertex_contact(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_contact c;
    const gc_screw *k = gc_screw_of(p);
    gc_sides q = gc_sides_of(p, kind, fa, fb);
    gc_turn to = gc_turn_at(k->theta, q.way * s), back = gc_turn_back(to);
    gc_vec v = gc_vertex(t, q.mesh_v, q.vertex);
    gc_vec x0 = gc_place(k, q.rv, q.tv, v), x = gc_flow(k, to, x0);
    gc_vec n_local = gc_normal(t, q.mesh_f, q.face), n = gc_rotate(q.rf, n_local);
    gc_vec on_face = gc_unplace(k, q.rf, q.tf, x), n_vertex;
    gc_real rate = gc_facing(k, n, x);
    c.sine = GC_R(1.0);
    c.inside = gc_inside_face(t, q.mesh_f, q.face, on_face, k->shrink);
    c.doubt = gc_place_doubt(k, x, rate, GC_R(1.0));
    c.flags = c.inside <= GC_TOL_INSIDE * k->size + c.doubt ? GC_HIT_BORDER : 0;
    c.facing = (q.mesh_f->two_sided || q.way * rate <= GC_TOL_FACING * k->speed)
               && gc_vertex_faces(t, q.mesh_v, k, q.rv, x0, q.vertex, q.way);
    n_vertex = gc_rotate_back(q.rv, gc_turn_vec(k, back, n));
    if (q.mesh_f->two_sided && gc_sheet_turns(t, k, &q, to, x, n, n_vertex)) {
        n = gc_scale(n, GC_R(-1.0));
        n_vertex = gc_scale(n_vertex, GC_R(-1.0));
    }
    c.properness = gc_in_steps(gc_vertex_properness(t, q.mesh_v, q.vertex, n_vertex));
    /* into the frame where A rests, from A to B */
    if (kind == GC_FV) {
        c.point = x;
        c.normal = n;
        c.local_a = on_face;
        c.local_b = v;
    } else {
        c.point = x0;
        c.normal = gc_scale(gc_turn_vec(k, back, n), GC_R(-1.0));
        c.local_a = v;
        c.local_b = on_face;
    }
    c.speed = gc_facing(k, c.normal, c.point);
    return c;
}

GC_FN gc_contact gc_edges_contact(const gc_tables *t, const gc_pair *p, int ea, int eb, gc_real s)
{
    gc_contact c;
    const gc_screw *k = gc_screw_of(p);
    gc_edges x = gc_edges_load(t, p, ea, eb);
    gc_turn to = gc_turn_at(k->theta, s), back = gc_turn_back(to);
    gc_crossing cr = gc_cross_at(k, &x, to);
    gc_real a_low = cr.alpha * x.length_a, a_high = x.length_a - a_low;
    gc_real b_low = cr.beta * x.length_b, b_high = x.length_b - b_low;
    gc_real a_in = GC_MIN(a_low, a_high), b_in = GC_MIN(b_low, b_high), tol;
    gc_vec half_point = gc_add(x.q, gc_scale(x.e, cr.beta)), n, n_b, ua, ub;
    gc_real plus = GC_R(2.0), minus = GC_R(2.0), rate;
    int two_sided = gc_mesh_a(p)->two_sided || gc_mesh_b(p)->two_sided, use_plus;
    c.inside = GC_MIN(a_in, b_in);
    c.point = gc_add(x.p, gc_scale(x.d, cr.alpha));
    n = gc_unit(cr.cross, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)));
    rate = gc_facing(k, n, c.point);
    c.doubt = gc_place_doubt(k, c.point, rate, GC_MAX(cr.sine, GC_TOL_PARALLEL));
    tol = GC_TOL_INSIDE * k->size + c.doubt;
    c.flags = (a_in <= tol ? GC_HIT_A_END : 0) | (b_in <= tol ? GC_HIT_B_END : 0);
    if (c.inside < GC_R(-4.0) * tol) {
        /* no contact but at a rough time (segments, pixels), when the lines may be nearest beyond the edges */
        c.point = gc_add(x.p, gc_scale(x.d, GC_MIN(GC_MAX(cr.alpha, GC_R(0.0)), GC_R(1.0))));
        half_point = gc_add(x.q, gc_scale(x.e, GC_MIN(GC_MAX(cr.beta, GC_R(0.0)), GC_R(1.0))));
        rate = gc_facing(k, n, c.point);
    }
    c.local_a = gc_unplace(k, k->ra, k->ta, c.point);
    c.local_b = gc_unplace(k, k->rb, k->tb, half_point);
    c.sine = cr.sine;
    c.facing = cr.sine >= GC_TOL_PARALLEL && gc_edge_faces(t, gc_mesh_a(p), k, k->ra, c.point, ea, GC_R(-1.0))
               && gc_edge_faces(t, gc_mesh_b(p), k, k->rb, half_point, eb, GC_R(1.0));
    n_b = gc_turn_vec(k, back, n);
    ua = gc_rotate_back(k->ra, gc_scale(x.d, GC_R(1.0) / x.length_a));
    ub = gc_rotate_back(k->rb, gc_scale(x.e, GC_R(1.0) / x.length_b));
    gc_edge_terms(t, gc_mesh_a(p), ea, gc_rotate_back(k->ra, n), ua, GC_R(1.0), &plus, &minus);
    gc_edge_terms(t, gc_mesh_b(p), eb, gc_rotate_back(k->rb, n_b), ub, GC_R(-1.0), &plus, &minus);
    use_plus = GC_ABS(plus - minus) <= GC_TOL_TIE ? rate <= GC_R(0.0) : plus > minus;
    /* a sheet has no inside that could tell the signs apart: against the approach, if there is one */
    if (two_sided && GC_ABS(rate) > GC_TOL_FACING * k->speed) use_plus = rate < GC_R(0.0);
    c.properness = use_plus ? plus : minus;
    c.properness = c.properness < GC_R(-1.0) ? GC_R(-1.0) : c.properness;
    if ((t->topology[gc_mesh_a(p)->edge_flags + ea] | t->topology[gc_mesh_b(p)->edge_flags + eb]) & GC_EDGE_REFLEX)
        c.properness = c.properness > GC_R(0.0) ? -c.properness : c.properness;
    c.properness = gc_in_steps(c.properness);
    c.normal = use_plus ? n : gc_scale(n, GC_R(-1.0));
    c.speed = gc_facing(k, c.normal, c.point);
    return c;
}

#if GC_BODY_MOTION
/* of bodies that move each by itself; its normal and its point are in A's axes */
GC_LARGE gc_contact gc_contact_of_bodies(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    gc_pair at;
    gc_contact c;
    gc_pair_at(p, s, &at);
    c = kind == GC_EE ? gc_edges_contact(t, &at, fa, fb, GC_R(0.0)) : gc_vertex_contact(t, &at, kind, fa, fb, GC_R(0.0));
    c.normal = gc_rotate_back(at.screw.ra, c.normal);
    c.point = gc_scale(c.local_a, at.screw.shrink);
    return c;
}
#endif

/* The contact at s where a kernel asks for it in one place only: what it does not use is not computed then. */
GC_FN gc_contact gc_contact_alone(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    GC_OF_BODIES(if (gc_each_moves(p)) return gc_contact_of_bodies(t, p, kind, fa, fb, s);)
    return kind == GC_EE ? gc_edges_contact(t, p, fa, fb, s) : gc_vertex_contact(t, p, kind, fa, fb, s);
}

GC_LARGE gc_contact gc_contact_vertex(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    return gc_vertex_contact(t, p, kind, fa, fb, s);
}

GC_LARGE gc_contact gc_contact_edges(const gc_tables *t, const gc_pair *p, int ea, int eb, gc_real s)
{
    return gc_edges_contact(t, p, ea, eb, s);
}

GC_FN gc_contact gc_contact_at(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s)
{
    GC_OF_BODIES(if (gc_each_moves(p)) return gc_contact_of_bodies(t, p, kind, fa, fb, s);)
    return kind == GC_EE ? gc_contact_edges(t, p, fa, fb, s) : gc_contact_vertex(t, p, kind, fa, fb, s);
}

#endif
