/* s09_overlap: do the solids of a pair overlap at one time of the step? check_start=True asks about the start,
 * baselines.bisection about one time after the other.
 *
 * in:  screw records, both meshes, a time of each pair
 * out: GC_PAIR_OVERLAP in the pair's state
 * One group per pair, work-items share the features. Touch is not overlap: one solid is shrunk by GC_OVERLAP_DEPTH, each
 * vertex inwards through all of its faces, each face's middle against its normal. They overlap if a shrunk edge
 * passes through a face of the other, or a shrunk point lies inside the other solid, by its winding number; in turn for
 * both. Inside is asked of closed meshes only. Boxes in the bodies' own axes answer what lies clearly apart.
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
    gc_turn turn;   /* from half-way to that time */
    gc_vec centre;
    gc_vec axis[3]; /* of the mesh, and half the sides of its box along them */
    gc_real box[3];
    GC_GLOBAL const int *tree;         /* of the mesh's faces (GC_TREE_STRIDE), or of none */
    GC_GLOBAL const gc_raster *nodes;
} gc_solid;

/* added to what decides that boxes are apart: shrunk features may stand out of a box by GC_OVERLAP_DEPTH, and rounding is
 * far below that */
#define GC_BOX_SLACK (GC_R(2.0) * GC_OVERLAP_DEPTH)

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

/* Against which direction vertex v moves inwards, in the mesh's frame: the sum of its faces' normals, to which normals are
 * added again while it would lead out through one of them (a sharp tip; this is the perceptron's rule, which ends). None for a vertex without faces, and whatever
 * comes out at last where no direction leads in through all of them. */
GC_LARGE gc_vec gc_outward(const gc_tables *t, const gc_mesh *m, int v)
{
    int first = t->topology[m->vertex_face_start + v], end = t->topology[m->vertex_face_start + v + 1], j, round, out = 1;
    gc_vec zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), u = zero;
    for (j = first; j < end; ++j) u = gc_add(u, gc_normal(t, m, t->topology[m->vertex_faces + j]));
    for (round = 0; round < GC_MAX_TIP && out; ++round) {
        out = 0;
        for (j = first; j < end; ++j) {
            gc_vec n = gc_normal(t, m, t->topology[m->vertex_faces + j]);
            if (gc_dot(n, u) > GC_R(0.0)) continue;
            u = gc_add(u, n);
            out = 1;
        }
    }
    return gc_unit(u, zero);
}

/* vertex v moved inwards; a vertex without faces stays */
GC_LARGE gc_vec gc_shrunk_vertex(const gc_tables *t, const gc_screw *k, const gc_solid *b, int v)
{
    gc_vec out = gc_solid_direction(k, b, gc_outward(t, b->mesh, v));
    return gc_sub(gc_solid_vertex(t, k, b, v), gc_scale(out, GC_OVERLAP_DEPTH * k->size));
}

GC_FN int gc_faceless(const gc_tables *t, const gc_mesh *m, int v)
{
    return t->topology[m->vertex_face_start + v] == t->topology[m->vertex_face_start + v + 1];
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

/* x as seen along the axes of a body */
GC_FN gc_vec gc_solid_local(const gc_solid *b, gc_vec x)
{
    gc_vec d = gc_sub(x, b->centre);
    return gc_make(gc_dot(d, b->axis[0]), gc_dot(d, b->axis[1]), gc_dot(d, b->axis[2]));
}

/* does the box of the segment p q, both seen along the axes, meet the body's box? */
GC_FN int gc_meets_box(const gc_solid *b, gc_vec p, gc_vec q, gc_real slack)
{
    return GC_MIN(p.x, q.x) <= b->box[0] + slack && GC_MAX(p.x, q.x) >= -b->box[0] - slack
        && GC_MIN(p.y, q.y) <= b->box[1] + slack && GC_MAX(p.y, q.y) >= -b->box[1] - slack
        && GC_MIN(p.z, q.z) <= b->box[2] + slack && GC_MAX(p.z, q.z) >= -b->box[2] - slack;
}

/* does the box of the segment p q, both seen along the axes, meet a node of the tree? */
GC_FN int gc_meets_node(GC_GLOBAL const gc_raster *n, gc_vec p, gc_vec q, gc_real shrink, gc_real slack)
{
    return GC_MIN(p.x, q.x) <= n[3] * shrink + slack && GC_MAX(p.x, q.x) >= n[0] * shrink - slack
        && GC_MIN(p.y, q.y) <= n[4] * shrink + slack && GC_MAX(p.y, q.y) >= n[1] * shrink - slack
        && GC_MIN(p.z, q.z) <= n[5] * shrink + slack && GC_MAX(p.z, q.z) >= n[2] * shrink - slack;
}

/* Does the segment p q pass through any face of b? y, z: its ends along b's axes. With a tree only the faces whose boxes
 * it meets are looked at; these are padded for being float32. */
GC_LARGE int gc_pierces_any(const gc_tables *t, const gc_screw *k, const gc_solid *b, gc_vec p, gc_vec q, gc_vec y, gc_vec z,
                            gc_real slack)
{
    int f, n = b->tree[0];
    gc_visit w;
    if (n == 0) {
        for (f = 0; f < b->mesh->nf; ++f)
            if (gc_pierces(t, k, b, f, p, q)) return 1;
        return 0;
    }
    slack += GC_OVERLAP_NODE * k->size;
    w = gc_visit_begin(n, 0, 0, n);
    while (!gc_visit_done(&w)) {
        if (gc_meets_node(b->nodes + GC_PATCH_NODE * (b->tree[1] + gc_visit_node(&w)), y, z, k->shrink, slack)) {
            GC_GLOBAL const int *patch;
            if (w.level > 0) {
                gc_visit_down(&w);
                continue;
            }
            patch = t->headers + GC_MESH_STRIDE * (b->tree[2] + (w.node >> GC_PATCH_LEVEL));
            f = t->topology[patch[GC_MESH_SOURCE_FACES] + (w.node & ((1 << GC_PATCH_LEVEL) - 1))];
            if (gc_pierces(t, k, b, f, p, q)) return 1;
        }
        gc_visit_next(&w);
    }
    return 0;
}

/* Are the boxes of two bodies apart along a side of one of them or along a cross product of two sides? (Gottschalk, Lin,
 * Manocha, "OBBTree", section 5) */
GC_LARGE int gc_boxes_apart(const gc_solid *a, const gc_solid *b, gc_real slack)
{
    gc_vec d = gc_sub(b->centre, a->centre);
    gc_real along[3], r[9], f[9];
    int i, j;
    for (i = 0; i < 3; ++i) {
        along[i] = gc_dot(d, a->axis[i]);
        for (j = 0; j < 3; ++j) {
            r[3 * i + j] = gc_dot(a->axis[i], b->axis[j]);
            /* the slack also keeps sides that are nearly parallel, whose cross product is rounding, from deciding */
            f[3 * i + j] = GC_ABS(r[3 * i + j]) + slack;
        }
    }
    for (i = 0; i < 3; ++i) {
        gc_real reach_b = b->box[0] * f[3 * i] + b->box[1] * f[3 * i + 1] + b->box[2] * f[3 * i + 2];
        gc_real reach_a = a->box[0] * f[i] + a->box[1] * f[3 + i] + a->box[2] * f[6 + i];
        if (GC_ABS(along[i]) > a->box[i] + reach_b + slack) return 1;
        if (GC_ABS(gc_dot(d, b->axis[i])) > b->box[i] + reach_a + slack) return 1;
    }
    for (i = 0; i < 3; ++i) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (j = 0; j < 3; ++j) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            gc_real reach = a->box[i1] * f[3 * i2 + j] + a->box[i2] * f[3 * i1 + j]
                + b->box[j1] * f[3 * i + j2] + b->box[j2] * f[3 * i + j1];
            if (GC_ABS(along[i2] * r[3 * i1 + j] - along[i1] * r[3 * i2 + j]) > reach + slack) return 1;
        }
    }
    return 0;
}

/* does the shrunk body enter the whole one? The work-items of a group share the features of the shrunk one. */
GC_LARGE int gc_enters(const gc_tables *t, const gc_screw *k, const gc_solid *shrunk, const gc_solid *whole, gc_real slack)
{
    int i, n = shrunk->mesh->nv + shrunk->mesh->nf;
    for (i = GC_LOCAL_ID; i < shrunk->mesh->ne; i += GC_GROUP_SIZE) {
        gc_vec p = gc_shrunk_vertex(t, k, shrunk, t->topology[shrunk->mesh->edges + 2 * i]);
        gc_vec q = gc_shrunk_vertex(t, k, shrunk, t->topology[shrunk->mesh->edges + 2 * i + 1]);
        gc_vec y = gc_solid_local(whole, p), z = gc_solid_local(whole, q);
        if (!gc_meets_box(whole, y, z, slack)) continue;
        if (gc_pierces_any(t, k, whole, p, q, y, z, slack)) return 1;
    }
    if (!whole->mesh->closed) return 0;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int v = i < shrunk->mesh->nv ? i : -1;
        gc_vec x, y;
        if (v >= 0 && gc_faceless(t, shrunk->mesh, v)) continue;
        x = v >= 0 ? gc_shrunk_vertex(t, k, shrunk, v) : gc_shrunk_middle(t, k, shrunk, i - shrunk->mesh->nv);
        y = gc_solid_local(whole, x);
        if (gc_meets_box(whole, y, y, slack) && gc_inside_solid(t, k, whole, x)) return 1;
    }
    return 0;
}

/* One solid of a pair at s: a mesh whose reals are m, and its pose half-way. */
GC_FN void gc_solid_make(const gc_screw *k, GC_GLOBAL const gc_real *m, gc_real s, gc_solid *b)
{
    gc_real one = GC_R(1.0), none = GC_R(0.0);
    int i;
    b->turn = gc_turn_at(k->theta, s);
    b->centre = gc_solid_place(k, b, gc_make(none, none, none));
    b->axis[0] = gc_solid_direction(k, b, gc_make(one, none, none));
    b->axis[1] = gc_solid_direction(k, b, gc_make(none, one, none));
    b->axis[2] = gc_solid_direction(k, b, gc_make(none, none, one));
    for (i = 0; i < 3; ++i) b->box[i] = m[5 + i] * k->shrink;
}

GC_FN void gc_solids_at(const gc_pair *p, GC_GLOBAL const gc_real *ma, GC_GLOBAL const gc_real *mb, gc_real s, gc_solid *a,
                        gc_solid *b)
{
    a->mesh = &p->mesh_a;
    a->rot = p->screw.ra;
    a->shift = p->screw.ta;
    a->moves = 0;
    b->mesh = &p->mesh_b;
    b->rot = p->screw.rb;
    b->shift = p->screw.tb;
    b->moves = 1;
    gc_solid_make(&p->screw, ma, s, a);
    gc_solid_make(&p->screw, mb, s, b);
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
    GC_GLOBAL const int *trees_in,             /* (meshes, GC_TREE_STRIDE), no faces: no tree */
    GC_GLOBAL const gc_raster *nodes_in,       /* (nodes, GC_PATCH_NODE) */
    GC_GLOBAL const gc_real *when_in,          /* (n_pairs,) s in [-1/2, 1/2]; above 1/2: not asked */
    GC_GLOBAL int *state_out)                  /* (n_pairs,) */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    for (int i = GC_GROUP_LO(n_pairs); i < GC_GROUP_HI(n_pairs); i += GC_GROUP_STEP(n_pairs)) {
        gc_pair p;
        gc_solid a, b;
        gc_real slack, reach;
        if ((state_out[i] & GC_PAIR_INVALID) || when_in[i] > GC_R(0.5)) continue;
        gc_pair_load(pairs_in, shape_in, screw_in, &t, i, &p);
        gc_solids_at(&p, mesh_reals_in + GC_MESH_REALS * shape_in[pairs_in[2 * i]],
                     mesh_reals_in + GC_MESH_REALS * shape_in[pairs_in[2 * i + 1]], when_in[i], &a, &b);
        a.tree = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * i]];
        b.tree = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * i + 1]];
        a.nodes = nodes_in;
        b.nodes = nodes_in;
        slack = GC_BOX_SLACK * p.screw.size;
        reach = p.screw.radius_a + p.screw.radius_b;
        if (gc_norm(gc_sub(a.centre, b.centre)) > reach || gc_boxes_apart(&a, &b, slack)) continue;
        /* the bit is the highest there is, so that the maximum sets it */
        if (gc_enters(&t, &p.screw, &a, &b, slack) || gc_enters(&t, &p.screw, &b, &a, slack))
            GC_ATOMIC_MAX(state_out + i, GC_PAIR_OVERLAP);
    }
}

/* s09_step: what one overlap test says about the time of a pair's first overlap, and when to look next.
 *
 * As long as no overlap is known the pair looks at the next sample; after that, half-way between the last time apart
 * and the first overlap known. A pair found at its first time (the start) is finished, and so is one whose two times
 * have no number left between them.
 */
GC_KERNEL void s09_step(
    int n_pairs,
    gc_real next,                 /* the next sample; above 1/2: no more samples, now the halvings */
    GC_GLOBAL gc_real *when_out,  /* (n_pairs,) the time looked at, then the time to look at; above 1/2: none */
    GC_GLOBAL gc_real *apart_out, /* (n_pairs,) last time apart before the overlap; the start to begin with */
    GC_GLOBAL gc_real *meet_out,  /* (n_pairs,) first overlap known; above 1/2: none */
    GC_GLOBAL int *tests_out,     /* (n_pairs,) overlap tests made */
    GC_GLOBAL int *state_out)     /* (n_pairs,) GC_PAIR_OVERLAP is taken back */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        gc_real when = when_out[i], apart = apart_out[i], meet = meet_out[i], wait = GC_R(2.0), half_way;
        if (when <= GC_R(0.5)) {
            if (state_out[i] & GC_PAIR_OVERLAP) meet = when;
            else apart = when;
            state_out[i] = 0;
            apart_out[i] = apart;
            meet_out[i] = meet;
            tests_out[i] += 1;
        } else if (state_out[i]) continue; /* no motion to look at */
        half_way = GC_R(0.5) * (apart + meet);
        if (next <= GC_R(0.5)) when_out[i] = meet > GC_R(0.5) ? next : wait;
        else when_out[i] = meet <= GC_R(0.5) && half_way > apart && half_way < meet ? half_way : wait;
    }
}
