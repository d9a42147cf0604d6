/* gc_motion.h: the relative motion of a pair: loading it, the flow of a point, facing.
 * needs: common/gc_types.h common/gc_math.h
 */
#ifndef GC_MOTION_H
#define GC_MOTION_H

/* these are inlined by force: GCC stops when a stage more calls them, and all solving is a quarter slower */
GC_INLINE gc_vec gc_rotate(const gc_real *m, gc_vec v)
{
    return gc_make(
        m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z, m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

GC_INLINE gc_vec gc_rotate_back(const gc_real *m, gc_vec v)
{
    return gc_make(
        m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z, m[2] * v.x + m[5] * v.y + m[8] * v.z);
}

GC_INLINE void gc_screw_load(GC_GLOBAL const gc_real *from, gc_screw *to) { GC_LOAD(GC_SCREW, GC_SCREW); }

GC_FN void gc_screw_store(const gc_screw *from, GC_GLOBAL gc_real *to) { GC_STORE(GC_SCREW, GC_SCREW); }

GC_FN void gc_mesh_load(GC_GLOBAL const int *from, gc_mesh *to) { GC_LOAD(GC_MESH, GC_MESH); }

/* the same into what a group shares, by all its work-items: the fields of these structs are their columns */
GC_FN void gc_screw_fill(GC_GLOBAL const gc_real *from, gc_screw *to)
{
    gc_real *field = &to->theta;
    int k;
    GC_ROLLED
    for (k = GC_FILL_LO; k < GC_SCREW_WIDTH; k += GC_FILL_STEP) field[k] = from[k];
}

GC_FN void gc_mesh_fill(GC_GLOBAL const int *from, gc_mesh *to)
{
    int *field = &to->nv, k;
    GC_ROLLED
    for (k = GC_FILL_LO; k < GC_MESH_WIDTH; k += GC_FILL_STEP) field[k] = from[k];
}

/* what kernels that look at pairs of whole meshes are all given */
/* clang-format off */
#define GC_PAIR_ARGS \
    GC_GLOBAL const int *pairs_in,          /* (n_pairs, 2) its bodies */ \
    GC_GLOBAL const int *shape_in,          /* (bodies,) mesh of each body */ \
    GC_GLOBAL const gc_real *screw_in,      /* (n_pairs, GC_SCREW_STRIDE) */ \
    GC_GLOBAL const int *headers_in,        /* (meshes, GC_MESH_STRIDE) */ \
    GC_GLOBAL const int *topology_in,       /* what the headers lead to */ \
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REAL_STRIDE) */ \
    GC_GLOBAL const gc_real *vertices_in,   /* (vertices, 4) centred */ \
    GC_GLOBAL const gc_real *planes_in      /* (faces, 4) */
/* clang-format on */

GC_FN gc_tables gc_tables_of(
    GC_GLOBAL const int *headers,
    GC_GLOBAL const int *topology,
    GC_GLOBAL const gc_real *reals,
    GC_GLOBAL const gc_real *vertices,
    GC_GLOBAL const gc_real *planes)
{
    gc_tables t;
    t.headers = headers;
    t.topology = topology;
    t.reals = reals;
    t.vertices = vertices;
    t.planes = planes;
    return t;
}

GC_FN gc_vec gc_of_three(const gc_real *v) { return gc_make(v[0], v[1], v[2]); }

/* bounds of a plane of one body, of whose other one points are so far at most */
GC_FN void gc_plane_bounds(const gc_body_bounds *o, gc_real turn, gc_real far, gc_real *to)
{
    to[0] = o->y1 + turn * far;
    to[1] = o->y2 + o->d2 * far;
    to[2] = o->y3 + o->d3 * far;
}

GC_LARGE gc_body_bounds gc_bodies_bounds(const gc_bodies *b)
{
    gc_body_bounds o;
    gc_real turn = GC_MAX(b->angle_a, b->angle_b), d = b->angle, chi = b->chi, l0 = b->most + b->radius_a + b->radius_b;
    gc_real drift = gc_length(gc_of_three(b->drift)), l[3];
    gc_real swing = GC_MAX(gc_length(gc_of_three(b->swing_a)), gc_length(gc_of_three(b->swing_b)));
    o.d2 = chi + d * d;
    o.d3 = turn * chi + GC_R(3.0) * chi * d + d * d * d;
    o.y1 = b->way + turn * b->most;
    o.y2 = turn * drift + d * swing + turn * o.y1;
    o.y3 = turn * turn * drift + o.d2 * swing + turn * o.y2;
    gc_plane_bounds(&o, d, b->radius_b, o.plane_a);
    gc_plane_bounds(&o, d, b->radius_a, o.plane_b);
    gc_plane_bounds(&o, d, b->radius_b, l);
    /* that of both centres, what an observer adds who turns himself, and the other's turn */
    l0 = b->angle_a * gc_length(gc_of_three(b->swing_a)) + b->angle_b * gc_length(gc_of_three(b->swing_b));
    o.point_a = l0 + b->angle_a * (GC_R(2.0) * b->way + b->angle_a * b->most) + o.d2 * b->radius_b;
    o.point_b = l0 + b->angle_b * (GC_R(2.0) * b->way + b->angle_b * b->most) + o.d2 * b->radius_a;
    o.point_a = GC_MIN(o.plane_a[1], o.point_a);
    o.point_b = GC_MIN(o.plane_b[1], o.point_b);
    l0 = b->most + b->radius_a + b->radius_b;
    o.lines[0] = l[0] + l0 * d;
    o.lines[1] = l[1] + GC_R(2.0) * l[0] * d + l0 * o.d2;
    o.lines[2] = l[2] + GC_R(3.0) * (l[1] * d + l[0] * o.d2) + l0 * o.d3;
    return o;
}

GC_FN void gc_bodies_load(GC_GLOBAL const gc_real *from, gc_bodies *to) { GC_LOAD(GC_BODIES, GC_BODIES); }

#if GC_BODY_MOTION
/* does each body of a pair move by itself, not B by one screw as A sees it? */
GC_FN int gc_each_moves(const gc_pair *p) { return p->bodies.pieces > GC_R(0.0); }

/* radii of flat ends of a mesh, below 0 for none */
GC_FN void gc_ends_load(const gc_tables *t, int mesh, gc_real shrink, gc_real *ends)
{
    GC_GLOBAL const gc_real *from = t->reals + GC_MESH_REAL_STRIDE * mesh + GC_MESH_REAL_ends;
    int i;
    for (i = 0; i < 2; ++i) ends[i] = from[i] * shrink;
}

/* the frame of a pair each of whose bodies moves by itself: what is A's in A's axes, what is B's in B's */
GC_FN void gc_axes_of_bodies(gc_screw *k)
{
    int i;
    for (i = 0; i < 9; ++i) k->ra[i] = k->rb[i] = i % 4 == 0 ? GC_R(1.0) : GC_R(0.0);
    for (i = 0; i < 3; ++i) k->ta[i] = k->tb[i] = GC_R(0.0);
    k->theta = k->w = k->g = k->kappa = GC_R(0.0);
}
#endif

/* what is to be known of a pair to look at it at a time; gc_pair_load: and bounds for the whole step */
GC_FN void gc_pair_load_poses(
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    const gc_tables *t,
    int pair,
    gc_pair *p)
{
    GC_SEEN_LOAD(gc_screw, gc_screw_load, screw + GC_SCREW_STRIDE * pair, p->screw);
    GC_SEEN_LOAD(gc_mesh, gc_mesh_load, t->headers + GC_MESH_STRIDE * shape[pairs[2 * pair]], p->mesh_a);
    GC_SEEN_LOAD(gc_mesh, gc_mesh_load, t->headers + GC_MESH_STRIDE * shape[pairs[2 * pair + 1]], p->mesh_b);
#if GC_BODY_MOTION
    gc_bodies_load(screw + GC_SCREW_STRIDE * pair, &p->bodies);
    if (gc_each_moves(p)) gc_axes_of_bodies(&p->screw);
#endif
#if GC_AT_DISTANCE
    gc_ends_load(t, shape[pairs[2 * pair]], p->bodies.shrink, p->ends_a);
    gc_ends_load(t, shape[pairs[2 * pair + 1]], p->bodies.shrink, p->ends_b);
#endif
}

GC_FN void gc_pair_load(
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    const gc_tables *t,
    int pair,
    gc_pair *p)
{
    gc_pair_load_poses(pairs, shape, screw, t, pair, p);
    GC_OF_BODIES(if (gc_each_moves(p)) p->bounds = gc_bodies_bounds(&p->bodies);)
}

GC_INLINE const gc_screw *gc_screw_of(const gc_pair *p) { return GC_SEEN_AT(p->screw); }
GC_INLINE const gc_mesh *gc_mesh_a(const gc_pair *p) { return GC_SEEN_AT(p->mesh_a); }
GC_INLINE const gc_mesh *gc_mesh_b(const gc_pair *p) { return GC_SEEN_AT(p->mesh_b); }

GC_FN gc_vec gc_vertex(const gc_tables *t, const gc_mesh *m, int v)
{
    GC_GLOBAL const gc_real *p = t->vertices + 4 * (m->vertex0 + v);
    return gc_make(p[0], p[1], p[2]);
}

/* Is a mesh one vertex, with an edge of no length; is it a vertex or an edge, with a face of no area that stands for it? */
GC_FN int gc_is_point(const gc_mesh *m) { return m->nv == 1; }
GC_FN int gc_is_thin(const gc_mesh *m) { return m->nv < 3; }

GC_FN gc_vec gc_normal(const gc_tables *t, const gc_mesh *m, int f)
{
    GC_GLOBAL const gc_real *p = t->planes + 4 * (m->face0 + f);
    return gc_make(p[0], p[1], p[2]);
}

/* sigma = sin(theta s)/theta and nu = (1 - cos(theta s))/theta^2, smooth through theta = 0 */
typedef struct {
    gc_real s, sigma, nu;
} gc_turn;

GC_FN gc_turn gc_turn_at(gc_real theta, gc_real s)
{
    gc_turn r;
    gc_real a = theta * s, u = a * a;
    r.s = s;
    r.sigma = s * gc_sinc(u);
    r.nu = s * s * gc_verc(u);
    return r;
}

/* the turn to -s from that to s: the same bits, without the series */
GC_FN gc_turn gc_turn_back(gc_turn r)
{
    r.s = -r.s;
    r.sigma = -r.sigma;
    return r;
}

/* a point carried by the flow from half-way (s = 0) to s */
GC_FN gc_vec gc_flow(const gc_screw *k, gc_turn r, gc_vec x)
{
    gc_real out = k->w + k->theta * x.z, in = k->theta * x.x;
    return gc_make(x.x + out * r.sigma - k->theta * in * r.nu, x.y + k->g * r.s, x.z - in * r.sigma - k->theta * out * r.nu);
}

/* a direction turned by the flow from half-way to s */
GC_FN gc_vec gc_turn_vec(const gc_screw *k, gc_turn r, gc_vec d)
{
    gc_real a = k->theta * r.sigma, b = k->theta * k->theta * r.nu;
    return gc_make(d.x + d.z * a - d.x * b, d.y, d.z - d.x * a - d.z * b);
}

/* n . omega(x): rate at which the flow leaves the plane with normal n at x; constant along the motion */
GC_FN gc_real gc_facing(const gc_screw *k, gc_vec n, gc_vec x)
{
    return n.x * (k->w + k->theta * x.z) + n.y * k->g - n.z * (k->theta * x.x);
}

/* vertex v of A, or of B half-way, in the screw frame */
GC_FN gc_vec gc_place(const gc_screw *k, const gc_real *m, const gc_real *t, gc_vec v)
{
    gc_vec r = gc_rotate(m, gc_scale(v, k->shrink));
    return gc_make(r.x + t[0], r.y + t[1], r.z + t[2]);
}

/* and back: screw frame to centred mesh coordinates in user units */
GC_FN gc_vec gc_unplace(const gc_screw *k, const gc_real *m, const gc_real *t, gc_vec x)
{
    return gc_scale(gc_rotate_back(m, gc_make(x.x - t[0], x.y - t[1], x.z - t[2])), k->scale);
}

#endif
