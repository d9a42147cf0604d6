/* s09_overlap: do the solids of a pair overlap at one time of the step? check_start=True asks about the start,
 * baselines.bisection about one time after the other.
 *
 * in:  screw records, both meshes, a time of each pair
 * out: GC_PAIR_OVERLAP in the pair's state
 * One group per pair, work-items share the features. Touch is not overlap: one solid is shrunk by GC_OVERLAP_DEPTH, each
 * vertex against the sum of its faces' normals, each face's middle against its normal. They overlap if a shrunk edge
 * passes through a face of the other, or a shrunk point lies inside the other solid, by its winding number; in turn for
 * both. Inside is asked of closed meshes only.
 */

/* atan2(y, x) in (-pi, pi]; 0 for (0, 0) */
GC_FN gc_real gc_azimuth(gc_real y, gc_real x)
{
    gc_real ay = GC_ABS(y), ax = GC_ABS(x), angle;
    if (ay == GC_R(0.0) && ax == GC_R(0.0)) return GC_R(0.0);
    angle = gc_angle(ay, ax);
    if (x < GC_R(0.0)) angle = GC_R(3.14159265358979324) - angle;
    return y < GC_R(0.0) ? -angle : angle;
}

/* One body at the time asked about, in the screw frame. */
typedef struct {
    const gc_mesh *mesh;
    const gc_real *rot, *shift;
    int moves;
    gc_turn turn; /* from half-way to that time */
} gc_solid;

GC_FN gc_vec gc_solid_place(const gc_screw *k, const gc_solid *b, gc_vec v)
{
    gc_vec x = gc_place(k, b->rot, b->shift, v);
    return b->moves ? gc_flow(k, b->turn, x) : x;
}

GC_LARGE gc_vec gc_solid_vertex(const gc_tables *t, const gc_screw *k, const gc_solid *b, int v)
{
    return gc_solid_place(k, b, gc_vertex(t, b->mesh, v));
}

GC_FN gc_vec gc_solid_direction(const gc_screw *k, const gc_solid *b, gc_vec d)
{
    gc_vec x = gc_rotate(b->rot, d);
    return b->moves ? gc_turn_vec(k, b->turn, x) : x;
}

/* vertex v moved inwards; a vertex without faces stays */
GC_LARGE gc_vec gc_shrunk_vertex(const gc_tables *t, const gc_screw *k, const gc_solid *b, int v)
{
    int j = t->topology[b->mesh->vertex_face_start + v], end = t->topology[b->mesh->vertex_face_start + v + 1];
    gc_vec sum = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), zero = sum;
    for (; j < end; ++j) sum = gc_add(sum, gc_normal(t, b->mesh, t->topology[b->mesh->vertex_faces + j]));
    sum = gc_solid_direction(k, b, gc_unit(sum, zero));
    return gc_sub(gc_solid_vertex(t, k, b, v), gc_scale(sum, GC_OVERLAP_DEPTH * k->size));
}

/* the middle of face f, moved inwards */
GC_FN gc_vec gc_shrunk_middle(const gc_tables *t, const gc_screw *k, const gc_solid *b, int f)
{
    int start = t->topology[b->mesh->face_start + f], end = t->topology[b->mesh->face_start + f + 1], j;
    gc_vec sum = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    for (j = start; j < end; ++j) sum = gc_add(sum, gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + j]));
    sum = gc_scale(sum, GC_R(1.0) / (gc_real)(end - start));
    return gc_sub(sum, gc_scale(gc_solid_direction(k, b, gc_normal(t, b->mesh, f)), GC_OVERLAP_DEPTH * k->size));
}

/* does the segment p q pass through face f of b? */
GC_LARGE int gc_pierces(const gc_tables *t, const gc_screw *k, const gc_solid *b, int f, gc_vec p, gc_vec q)
{
    int start = t->topology[b->mesh->face_start + f], end = t->topology[b->mesh->face_start + f + 1], j;
    gc_vec n = gc_solid_direction(k, b, gc_normal(t, b->mesh, f)), x, u;
    gc_vec first = gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + start]);
    gc_real dp = gc_dot(n, gc_sub(p, first)), dq = gc_dot(n, gc_sub(q, first));
    if (!((dp < GC_R(0.0) && dq > GC_R(0.0)) || (dp > GC_R(0.0) && dq < GC_R(0.0)))) return 0;
    x = gc_add(p, gc_scale(gc_sub(q, p), dp / (dp - dq)));
    u = gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + end - 1]);
    for (j = start; j < end; ++j) {
        gc_vec v = gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + j]);
        if (gc_dot(gc_cross(gc_sub(v, u), gc_sub(x, u)), n) < GC_R(0.0)) return 0;
        u = v;
    }
    return 1;
}

/* solid angle of triangle a b c seen from the origin, over two (van Oosterom and Strackee) */
GC_FN gc_real gc_half_solid_angle(gc_vec a, gc_vec b, gc_vec c)
{
    gc_real la = gc_norm(a), lb = gc_norm(b), lc = gc_norm(c);
    gc_real den = la * lb * lc + gc_dot(a, b) * lc + gc_dot(b, c) * la + gc_dot(c, a) * lb;
    return gc_azimuth(gc_dot(a, gc_cross(b, c)), den);
}

GC_LARGE int gc_inside_solid(const gc_tables *t, const gc_screw *k, const gc_solid *b, gc_vec x)
{
    gc_real sum = GC_R(0.0);
    int f, j;
    for (f = 0; f < b->mesh->nf; ++f) {
        int start = t->topology[b->mesh->face_start + f], end = t->topology[b->mesh->face_start + f + 1];
        gc_vec a = gc_sub(gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + start]), x);
        gc_vec u = gc_sub(gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + start + 1]), x);
        for (j = start + 2; j < end; ++j) {
            gc_vec v = gc_sub(gc_solid_vertex(t, k, b, t->topology[b->mesh->face_vertices + j]), x);
            sum += gc_half_solid_angle(a, u, v);
            u = v;
        }
    }
    /* the winding number is sum / (2 pi) */
    return GC_ABS(sum) > GC_R(3.14159265358979324);
}

/* does the shrunk body enter the whole one? The work-items of a group share the features of the shrunk one. */
GC_LARGE int gc_enters(const gc_tables *t, const gc_screw *k, const gc_solid *shrunk, const gc_solid *whole,
                    gc_vec middle, gc_real radius)
{
    int i, f, n = shrunk->mesh->nv + shrunk->mesh->nf;
    for (i = GC_LOCAL_ID; i < shrunk->mesh->ne; i += GC_GROUP_SIZE) {
        gc_vec p = gc_shrunk_vertex(t, k, shrunk, t->topology[shrunk->mesh->edges + 2 * i]);
        gc_vec q = gc_shrunk_vertex(t, k, shrunk, t->topology[shrunk->mesh->edges + 2 * i + 1]);
        gc_vec half_way = gc_scale(gc_add(p, q), GC_R(0.5));
        if (gc_norm(gc_sub(half_way, middle)) > radius + gc_norm(gc_sub(half_way, p))) continue;
        for (f = 0; f < whole->mesh->nf; ++f)
            if (gc_pierces(t, k, whole, f, p, q)) return 1;
    }
    if (!whole->mesh->closed) return 0;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int v = i < shrunk->mesh->nv ? i : -1;
        gc_vec x;
        if (v >= 0 && t->topology[shrunk->mesh->vertex_face_start + v] == t->topology[shrunk->mesh->vertex_face_start + v + 1])
            continue;
        x = v >= 0 ? gc_shrunk_vertex(t, k, shrunk, v) : gc_shrunk_middle(t, k, shrunk, i - shrunk->mesh->nv);
        if (gc_norm(gc_sub(x, middle)) <= radius && gc_inside_solid(t, k, whole, x)) return 1;
    }
    return 0;
}

/* both solids of a pair at s */
GC_FN void gc_solids_at(const gc_pair *p, gc_real s, gc_solid *a, gc_solid *b)
{
    a->mesh = &p->mesh_a;
    a->rot = p->screw.ra;
    a->shift = p->screw.ta;
    a->moves = 0;
    b->mesh = &p->mesh_b;
    b->rot = p->screw.rb;
    b->shift = p->screw.tb;
    b->moves = 1;
    a->turn = b->turn = gc_turn_at(p->screw.theta, s);
}

GC_KERNEL void s09_overlap(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in,
    GC_GLOBAL const gc_real *planes_in,
    GC_GLOBAL const gc_real *when_in,          /* (n_pairs,) s in [-1/2, 1/2]; above 1/2: not asked */
    GC_GLOBAL int *state_out)                  /* (n_pairs,) */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    for (int i = GC_GROUP_LO(n_pairs); i < GC_GROUP_HI(n_pairs); i += GC_GROUP_STEP(n_pairs)) {
        gc_pair p;
        gc_solid a, b;
        gc_vec ca, cb, zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        if ((state_out[i] & GC_PAIR_INVALID) || when_in[i] > GC_R(0.5)) continue;
        gc_pair_load(pairs_in, shape_in, screw_in, &t, i, &p);
        gc_solids_at(&p, when_in[i], &a, &b);
        ca = gc_solid_place(&p.screw, &a, zero);
        cb = gc_solid_place(&p.screw, &b, zero);
        if (gc_norm(gc_sub(ca, cb)) > p.screw.radius_a + p.screw.radius_b) continue;
        /* the bit is the highest there is, so that the maximum sets it */
        if (gc_enters(&t, &p.screw, &a, &b, cb, p.screw.radius_b) || gc_enters(&t, &p.screw, &b, &a, ca, p.screw.radius_a))
            GC_ATOMIC_MAX(state_out + i, GC_PAIR_OVERLAP);
    }
}
