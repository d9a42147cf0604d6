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

GC_FN void gc_pair_load(
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
}

GC_INLINE const gc_screw *gc_screw_of(const gc_pair *p) { return GC_SEEN_AT(p->screw); }
GC_INLINE const gc_mesh *gc_mesh_a(const gc_pair *p) { return GC_SEEN_AT(p->mesh_a); }
GC_INLINE const gc_mesh *gc_mesh_b(const gc_pair *p) { return GC_SEEN_AT(p->mesh_b); }

GC_FN gc_vec gc_vertex(const gc_tables *t, const gc_mesh *m, int v)
{
    GC_GLOBAL const gc_real *p = t->vertices + 4 * (m->vertex0 + v);
    return gc_make(p[0], p[1], p[2]);
}

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
