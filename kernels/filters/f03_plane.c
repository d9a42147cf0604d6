/* f03_plane: pairs that a plane of the collision screen separates during the whole step.
 * needs: common/gc_motion.h narrow_phase/frame/gc_screen.h
 *
 * in:  screw records (s01), state bits, meshes, which pairs to test
 * out: keep_out (n_todo,) 0 where a plane in (rho, psi, y) was found with all of A on one side and all of B, wherever it is
 *      shifted to during the step, on the other
 * One group per pair. Source: Blow, "plane divides entities"; the plane is searched for as in Chung and Wang (1996): reflect
 * the normal at the direction between the two extreme points, until it separates or the limit of rounds is reached.
 *
 * Faces are curved in these coordinates, so vertices alone are not enough. A point of a face is a weighted mean of its
 * corners; rho, which is convex, lies at most q below the same mean of theirs, psi at most s to either side: half the
 * greatest second derivative (kappa/(kappa r), kappa/(kappa r)^2) times the mean square distance to the corners, which is at
 * most that from the middle of the face. Bodies near the axis, and pairs for which no plane is found, are kept.
 */
/* of what many tries divide, 2 find nine in ten pairs, 8 all but three in a hundred */
#define GC_PLANE_TRIES 8

/* a body's vertices as (rho, psi, y), each less by the half of q, and what to add on every side */
typedef struct {
    GC_GLOBAL gc_raster *rho, *psi, *y, *k; /* (nv,), k is kappa r measured along the middle's radius */
    gc_raster middle[3], around[3];
    int nv;
} gc_cloud;

/* the group's shared words: GC_GROUP_SIZE of each */
typedef struct {
    GC_GLOBAL gc_raster *value_a, *value_b;
    GC_GLOBAL int *at_a, *at_b;
} gc_shared;

/* vertices of a body; returns the least k that this work-item saw (apart, so that the loop before it vectorises) */
GC_LARGE gc_raster f03_place(
    const gc_view *w,
    const gc_mesh *m,
    GC_GLOBAL const gc_raster *vertices_in,
    const gc_real *rot,
    const gc_real *shift,
    gc_real shrink,
    gc_cloud *c)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT vx = vertices_in + 3 * m->vertex0;
    GC_GLOBAL gc_raster *GC_RESTRICT rho = c->rho, *GC_RESTRICT psi = c->psi, *GC_RESTRICT y = c->y,
                                     *GC_RESTRICT along = c->k;
    gc_raster m0 = (gc_raster)(rot[0] * shrink), m1 = (gc_raster)(rot[1] * shrink), m2 = (gc_raster)(rot[2] * shrink);
    gc_raster m3 = (gc_raster)(rot[3] * shrink), m4 = (gc_raster)(rot[4] * shrink), m5 = (gc_raster)(rot[5] * shrink);
    gc_raster m6 = (gc_raster)(rot[6] * shrink), m7 = (gc_raster)(rot[7] * shrink), m8 = (gc_raster)(rot[8] * shrink);
    gc_raster t0 = (gc_raster)shift[0], t1 = (gc_raster)shift[1], t2 = (gc_raster)shift[2];
    gc_raster kappa = w->kappa, inv_kappa = w->inv_kappa, kc = gc_kappa_r(kappa, t0, t2), least = kc, middle;
    gc_raster sn = kc > w->axis ? kappa * t0 / kc : GC_F(0.0);
    gc_raster cs = kc > w->axis ? (GC_F(1.0) + kappa * t2) / kc : GC_F(1.0);
    int nv = m->nv, i;
    c->nv = nv;
    c->middle[0] = gc_rho(kappa, t0, t2);
    c->middle[1] = gc_arc(t0, t2, kappa, inv_kappa);
    c->middle[2] = t1;
    middle = c->middle[1];
    GC_INDEPENDENT
    for (i = GC_LOCAL_ID; i < nv; i += GC_GROUP_SIZE) {
        gc_raster px = vx[i], py = vx[nv + i], pz = vx[2 * nv + i];
        gc_raster dx = m0 * px + m1 * py + m2 * pz, dz = m6 * px + m7 * py + m8 * pz;
        gc_raster k = kc + kappa * (sn * dx + cs * dz);
        gc_raster kk = k > GC_F(1e-6) ? k : GC_F(1e-6);
        rho[i] = gc_rho(kappa, dx + t0, dz + t2);
        psi[i] = gc_arc((cs * dx - sn * dz) / kk, GC_F(0.0), kappa, inv_kappa) + middle;
        y[i] = m3 * px + m4 * py + m5 * pz + t1;
        along[i] = k;
    }
    for (i = GC_LOCAL_ID; i < nv; i += GC_GROUP_SIZE) least = along[i] < least ? along[i] : least;
    return least;
}

/* least of the group's values in both arrays, then both free again */
GC_FN void gc_group_least(const gc_shared *g, gc_raster *a, gc_raster *b)
{
    int i;
    g->value_a[GC_LOCAL_ID] = *a;
    g->value_b[GC_LOCAL_ID] = *b;
    GC_BARRIER();
    for (i = 0; i < GC_GROUP_SIZE; ++i) {
        *a = GC_MIN(g->value_a[i], *a);
        *b = GC_MIN(g->value_b[i], *b);
    }
    GC_BARRIER();
}

/* the vertex farthest along n among this work-item's; of equal ones the first */
GC_FN int f03_farthest(const gc_cloud *c, gc_raster n0, gc_raster n1, gc_raster n2, gc_raster *most)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT rho = c->rho, *GC_RESTRICT psi = c->psi, *GC_RESTRICT y = c->y;
    int nv = c->nv, at = -1, i;
    gc_raster best = GC_F(-3e38);
    for (i = GC_LOCAL_ID; i < nv; i += GC_GROUP_SIZE) {
        gc_raster f = n0 * rho[i] + n1 * psi[i] + n2 * y[i];
        if (f > best) {
            best = f;
            at = i;
        }
    }
    *most = best;
    return at;
}

/* the same among all work-items, for A along n and for B against it; 0 if there is none (no number at all) */
GC_LARGE int f03_supports(const gc_cloud *a, const gc_cloud *b, const gc_raster *n, const gc_shared *g, int *at_a, int *at_b)
{
    gc_raster va, vb;
    int i;
    g->at_a[GC_LOCAL_ID] = f03_farthest(a, n[0], n[1], n[2], &va);
    g->at_b[GC_LOCAL_ID] = f03_farthest(b, -n[0], -n[1], -n[2], &vb);
    g->value_a[GC_LOCAL_ID] = va;
    g->value_b[GC_LOCAL_ID] = vb;
    GC_BARRIER();
    *at_a = -1;
    *at_b = -1;
    for (i = 0; i < GC_GROUP_SIZE; ++i) {
        if (g->at_a[i] >= 0 && (*at_a < 0 || g->value_a[i] > va || (g->value_a[i] == va && g->at_a[i] < *at_a))) {
            va = g->value_a[i];
            *at_a = g->at_a[i];
        }
        if (g->at_b[i] >= 0 && (*at_b < 0 || g->value_b[i] > vb || (g->value_b[i] == vb && g->at_b[i] < *at_b))) {
            vb = g->value_b[i];
            *at_b = g->at_b[i];
        }
    }
    GC_BARRIER();
    return *at_a >= 0 && *at_b >= 0;
}

GC_FN gc_raster gc_dot3(const gc_raster *a, const gc_raster *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* make n a unit vector; 0 if it has no direction */
GC_FN int gc_unit3(gc_raster *n)
{
    gc_raster length = GC_SQRT_R(gc_dot3(n, n));
    if (!(length > GC_F(1e-12) && length < GC_F(1e18))) return 0;
    n[0] /= length;
    n[1] /= length;
    n[2] /= length;
    return 1;
}

/* is there a plane between A, shifted by `turn` in psi, and B shifted by anything from -way to way? */
GC_LARGE int f03_divided(const gc_cloud *a, const gc_cloud *b, gc_raster turn, const gc_raster *way, const gc_shared *g)
{
    gc_raster n[3], d[3], s = GC_F(0.0), apart, ww = gc_dot3(way, way);
    int i, at_a, at_b, tries = 0;
    for (i = 0; i < 3; ++i) n[i] = b->middle[i] - a->middle[i];
    n[1] -= turn;
    if (ww > GC_F(0.0)) s = -gc_dot3(n, way) / ww;
    s = s < GC_F(-1.0) ? GC_F(-1.0) : (s > GC_F(1.0) ? GC_F(1.0) : s);
    for (i = 0; i < 3; ++i) n[i] += s * way[i];
    if (!gc_unit3(n)) return 0;
    do {
        if (!f03_supports(a, b, n, g, &at_a, &at_b)) return 0;
        s = gc_dot3(n, way) > GC_F(0.0) ? GC_F(-1.0) : GC_F(1.0);
        d[0] = b->rho[at_b] - a->rho[at_a];
        d[1] = b->psi[at_b] - (a->psi[at_a] + turn);
        d[2] = b->y[at_b] - a->y[at_a];
        for (i = 0; i < 3; ++i)
            d[i] += s * way[i] - (n[i] > GC_F(0.0) ? a->around[i] + b->around[i] : -a->around[i] - b->around[i]);
        apart = gc_dot3(n, d);
        if (apart > GC_F(0.0)) return 1;
        if (!gc_unit3(d)) return 0;
        apart = GC_F(2.0) * gc_dot3(n, d);
        for (i = 0; i < 3; ++i) n[i] -= apart * d[i];
        if (!gc_unit3(n)) return 0;
        tries += 1;
    } while (tries < GC_PLANE_TRIES);
    return 0;
}

/* what to add around the vertices: the bend of faces that reach so far from their middles, and the pads */
GC_FN void f03_around(const gc_view *w, gc_raster reach, gc_raster least, gc_cloud *c)
{
    gc_raster bend = GC_F(0.5) * w->kappa * reach * reach / least;
    int i;
    c->around[0] = GC_F(0.5) * bend + GC_F(4.0) * w->pad;
    c->around[1] = bend / least + GC_F(4.0) * gc_pad_near(w, least);
    c->around[2] = GC_F(4.0) * w->pad;
    for (i = GC_LOCAL_ID; i < c->nv; i += GC_GROUP_SIZE) c->rho[i] -= GC_F(0.5) * bend;
}

/* 0 if a plane divides A, with every copy of it that can matter, from B */
GC_LARGE int f03_may_meet(
    const gc_view *w,
    const gc_screw *k,
    gc_cloud *a,
    gc_cloud *b,
    gc_raster reach_a,
    gc_raster reach_b,
    gc_raster least_a,
    gc_raster least_b,
    const gc_shared *g)
{
    gc_raster way[3], until = GC_F(0.5) + (gc_raster)k->tau;
    int turn = w->wraps ? -1 : 0, last = -turn;
    gc_group_least(g, &least_a, &least_b);
    if (!(least_a > GC_F(2.0) * w->axis && least_b > GC_F(2.0) * w->axis)) return 1;
    f03_around(w, reach_a, least_a, a);
    f03_around(w, reach_b, least_b, b);
    GC_BARRIER();
    way[0] = GC_F(0.0);
    way[1] = until * (gc_raster)k->w;
    way[2] = until * (gc_raster)k->g;
    do {
        if (!f03_divided(a, b, turn == 0 ? GC_F(0.0) : (gc_raster)turn * w->period, way, g)) return 1;
        turn += 1;
    } while (turn <= last);
    return 0;
}

GC_KERNEL void f03_plane(
    int n_todo,
    GC_GLOBAL const int *todo_in,           /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *pairs_in,          /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,          /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_real *screw_in,      /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,          /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL const int *headers_in,        /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REAL_STRIDE) */
    GC_GLOBAL const gc_raster *vertices_in, /* per mesh x, y, z blocks, centred */
    GC_GLOBAL gc_raster *scratch_reals,     /* (groups, reals_per_group), 4 a vertex of both and 2 a work-item */
    GC_GLOBAL int *scratch_ints,            /* (groups, 2 a work-item) */
    int reals_per_group,
    GC_GLOBAL gc_uchar *keep_out) /* (n_todo,) */
{
    int i = GC_GROUP_LO(n_todo);
    if (i < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[i], keep = pair >= 0;
            if (pair >= 0 && !state_in[pair]) {
                int ma = shape_in[pairs_in[2 * pair]], mb = shape_in[pairs_in[2 * pair + 1]];
                gc_screw k;
                gc_view w;
                gc_mesh a, b;
                gc_cloud ca, cb;
                gc_shared g;
                gc_raster least_a, least_b;
                GC_GLOBAL gc_raster *p = scratch_reals + (gc_long)GC_SCRATCH_ID * reals_per_group;
                GC_GLOBAL int *q = scratch_ints + (gc_long)GC_SCRATCH_ID * 2 * GC_GROUP_SIZE;
                gc_screw_load(screw_in + GC_SCREW_STRIDE * pair, &k);
                w = gc_view_make(&k, GC_R(-1.0));
                w.pad += GC_FILTER_FLAT;
                gc_mesh_load(headers_in + GC_MESH_STRIDE * ma, &a);
                gc_mesh_load(headers_in + GC_MESH_STRIDE * mb, &b);
                g.value_a = p;
                g.value_b = p + GC_GROUP_SIZE;
                p += 2 * GC_GROUP_SIZE;
                g.at_a = q;
                g.at_b = q + GC_GROUP_SIZE;
                ca.rho = p;
                ca.psi = p + a.nv;
                ca.y = p + 2 * a.nv;
                ca.k = p + 3 * a.nv;
                p += 4 * a.nv;
                cb.rho = p;
                cb.psi = p + b.nv;
                cb.y = p + 2 * b.nv;
                cb.k = p + 3 * b.nv;
                least_a = f03_place(&w, &a, vertices_in, k.ra, k.ta, k.shrink, &ca);
                least_b = f03_place(&w, &b, vertices_in, k.rb, k.tb, k.shrink, &cb);
                keep = f03_may_meet(
                    &w, &k, &ca, &cb,
                    (gc_raster)(mesh_reals_in[GC_MESH_REAL_STRIDE * ma + GC_MESH_REAL_face_reach] * k.shrink),
                    (gc_raster)(mesh_reals_in[GC_MESH_REAL_STRIDE * mb + GC_MESH_REAL_face_reach] * k.shrink), least_a,
                    least_b, &g);
            }
            if (GC_LOCAL_ID == 0) keep_out[i] = (gc_uchar)keep;
            GC_BARRIER();
            i += GC_GROUP_STEP(n_todo);
        } while (i < GC_GROUP_HI(n_todo));
}
