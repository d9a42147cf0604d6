/* s08_contacts: hits to contacts.
 *
 * in:  hits of all pairs in any order
 * out: per pair: status, time of impact, and its contacts in the order (time, kind, features), coincidences resolved
 * Three launches: s08_place puts hits into their pair's range, s08_resolve sorts and thins them (one work-item a pair),
 * s08_contacts writes the result (one work-item a contact's pair). Source: Buss, section 5 (VV, EV, VE), and
 * docs/decisions/0006. The result is independent of how hits were proposed: a vertex contact found by its own
 * equation is preferred to one converted from edges; among equals the order is total; equal hits are one.
 */

GC_KERNEL void s08_place(
    int n_hits,
    GC_GLOBAL const int *hit_in,               /* (n_hits, 4) */
    GC_GLOBAL const gc_long *hit_start_in,     /* (n_pairs + 1,) */
    GC_GLOBAL int *cursor,                     /* (n_pairs,) zero before */
    GC_GLOBAL int *order_out)                  /* (n_hits,) hit numbers by pair */
{
    for (int i = GC_ITEM_LO(n_hits); i < GC_ITEM_HI(n_hits); i += GC_ITEM_STEP(n_hits)) {
        int pair = hit_in[4 * i];
        order_out[hit_start_in[pair] + GC_ATOMIC_ADD(cursor + pair, 1)] = i;
    }
}

/* the pair's hits while they are resolved */
typedef struct {
    GC_GLOBAL int *hit;
    GC_GLOBAL gc_real *value;
    GC_GLOBAL int *order;
    int n;
    gc_real same_time;
} gc_pair_hits;

GC_FN int gc_hit_before(const gc_pair_hits *h, int a, int b)
{
    GC_GLOBAL const int *x = h->hit + 4 * a, *y = h->hit + 4 * b;
    /* as they will be written: s + 1/2 may round two times to one */
    gc_real ta = h->value[3 * a] + GC_R(0.5), tb = h->value[3 * b] + GC_R(0.5);
    int ka = x[1] & GC_HIT_KIND_MASK, kb = y[1] & GC_HIT_KIND_MASK;
    if (ta != tb) return ta < tb;
    if (ka != kb) return ka < kb;
    if (x[2] != y[2]) return x[2] < y[2];
    if (x[3] != y[3]) return x[3] < y[3];
    if (h->value[3 * a + 1] != h->value[3 * b + 1]) return h->value[3 * a + 1] > h->value[3 * b + 1];
    return x[1] < y[1];
}

GC_LARGE void gc_hits_sort(const gc_pair_hits *h)
{
    int gap = 1, i;
    while (gap < h->n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (i = gap; i < h->n; ++i) {
            int item = h->order[i], j = i;
            for (; j >= gap && gc_hit_before(h, item, h->order[j - gap]); j -= gap) h->order[j] = h->order[j - gap];
            h->order[j] = item;
        }
    }
}

/* is vertex v a corner of face f */
GC_FN int gc_has_corner(const gc_tables *t, const gc_mesh *m, int f, int v)
{
    int j = t->topology[m->face_start + f], end = t->topology[m->face_start + f + 1];
    for (; j < end; ++j)
        if (t->topology[m->face_vertices + j] == v) return 1;
    return 0;
}

GC_FN int gc_share_corner(const gc_tables *t, const gc_mesh *m, int f, int g)
{
    int j = t->topology[m->face_start + f], end = t->topology[m->face_start + f + 1];
    for (; j < end; ++j)
        if (gc_has_corner(t, m, g, t->topology[m->face_vertices + j])) return 1;
    return 0;
}

/* Are hits i and j the same meeting of a vertex with a corner or border, seen from two faces? */
GC_LARGE int gc_same_meeting(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int i, int j)
{
    GC_GLOBAL const int *x = h->hit + 4 * i, *y = h->hit + 4 * j;
    int kx = x[1] & GC_HIT_KIND_MASK, ky = y[1] & GC_HIT_KIND_MASK;
    if (kx == GC_EE || ky == GC_EE || !(x[1] & y[1] & GC_HIT_BORDER)) return 0;
    if ((x[1] & GC_HIT_SUSTAINED) != (y[1] & GC_HIT_SUSTAINED)) return 0;
    if ((x[1] & GC_HIT_SUSTAINED) && GC_ABS(h->value[3 * i + 1] - h->value[3 * j + 1]) > h->same_time) return 0;
    if (kx == ky)
        return kx == GC_FV ? x[3] == y[3] && x[2] != y[2] && gc_share_corner(t, &p->mesh_a, x[2], y[2])
                           : x[2] == y[2] && x[3] != y[3] && gc_share_corner(t, &p->mesh_b, x[3], y[3]);
    if (kx == GC_VF) {
        GC_GLOBAL const int *swap = x;
        x = y;
        y = swap;
        i = j;
    }
    /* x is FV (face of A, vertex of B), y is VF (vertex of A, face of B) */
    if (!gc_has_corner(t, &p->mesh_a, x[2], y[2]) || !gc_has_corner(t, &p->mesh_b, y[3], x[3])) return 0;
    {
        /* a lasting meeting of two vertices stays one: look at it half way, not where it begins */
        gc_real s = GC_R(0.5) * (h->value[3 * i] + h->value[3 * i + 1]);
        gc_vec at = gc_contact_at(t, p, GC_FV, x[2], x[3], s).local_a;
        gc_vec corner = gc_vertex(t, &p->mesh_a, y[2]);
        return gc_norm(gc_sub(at, corner)) <= GC_R(4.0) * GC_TOL_INSIDE * p->screw.size * p->screw.scale;
    }
}

/* does j win over i: greater properness, then lower kind, then lower numbers */
GC_FN int gc_wins(const gc_pair_hits *h, int j, int i)
{
    gc_real a = h->value[3 * j + 2], b = h->value[3 * i + 2];
    GC_GLOBAL const int *x = h->hit + 4 * j, *y = h->hit + 4 * i;
    int kx = x[1] & GC_HIT_KIND_MASK, ky = y[1] & GC_HIT_KIND_MASK;
    if (a != b) return a > b;
    if (kx != ky) return kx < ky;
    return x[2] != y[2] ? x[2] < y[2] : x[3] < y[3];
}

/* the better of two vertex contacts while edges are resolved into them */
typedef struct {
    int kind, fa, fb;
    gc_real properness;
} gc_best;

GC_FN void gc_best_of(const gc_tables *t, const gc_pair *p, int kind, int fa, int fb, gc_real s, gc_best *best)
{
    gc_contact c = gc_contact_at(t, p, kind, fa, fb, s);
    if (!c.facing || !(c.properness > best->properness)) return;
    best->kind = kind;
    best->fa = fa;
    best->fb = fb;
    best->properness = c.properness;
}

/* An edge-edge hit at an end of an edge is a vertex contact: returns 1 if that was found by itself (so that this one can
 * go), else turns the hit into one if that can be, and keeps it. */
GC_LARGE int gc_resolve_end(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int at, gc_real min_properness)
{
    int i = h->order[at], j, step, flags = h->hit[4 * i + 1], ea = h->hit[4 * i + 2], eb = h->hit[4 * i + 3];
    int va = -1, vb = -1;
    gc_real s = h->value[3 * i];
    gc_best best;
    if (flags & GC_HIT_A_END) va = t->topology[p->mesh_a.edges + 2 * ea + (flags & GC_HIT_A_HIGH ? 1 : 0)];
    if (flags & GC_HIT_B_END) vb = t->topology[p->mesh_b.edges + 2 * eb + (flags & GC_HIT_B_HIGH ? 1 : 0)];
    for (step = -1; step <= 1; step += 2) {
        for (j = at + step; j >= 0 && j < h->n; j += step) {
            int o = h->order[j], kind = h->hit[4 * o + 1];
            if (GC_ABS(h->value[3 * o] - s) > h->same_time) break;
            if (kind & GC_HIT_CONVERTED) continue;
            if ((kind & GC_HIT_KIND_MASK) == GC_VF && h->hit[4 * o + 2] == va) return 1;
            if ((kind & GC_HIT_KIND_MASK) == GC_FV && h->hit[4 * o + 3] == vb) return 1;
        }
    }
    best.kind = -1;
    best.properness = GC_R(-2.0);
    if (va >= 0) {
        int list = vb >= 0 ? p->mesh_b.vertex_faces + t->topology[p->mesh_b.vertex_face_start + vb]
                           : p->mesh_b.edge_faces + t->topology[p->mesh_b.edge_face_start + eb];
        int end = vb >= 0 ? p->mesh_b.vertex_faces + t->topology[p->mesh_b.vertex_face_start + vb + 1]
                          : p->mesh_b.edge_faces + t->topology[p->mesh_b.edge_face_start + eb + 1];
        for (; list < end; ++list) gc_best_of(t, p, GC_VF, va, t->topology[list] >> (vb >= 0 ? 0 : 1), s, &best);
    }
    if (vb >= 0) {
        int list = va >= 0 ? p->mesh_a.vertex_faces + t->topology[p->mesh_a.vertex_face_start + va]
                           : p->mesh_a.edge_faces + t->topology[p->mesh_a.edge_face_start + ea];
        int end = va >= 0 ? p->mesh_a.vertex_faces + t->topology[p->mesh_a.vertex_face_start + va + 1]
                          : p->mesh_a.edge_faces + t->topology[p->mesh_a.edge_face_start + ea + 1];
        for (; list < end; ++list) gc_best_of(t, p, GC_FV, t->topology[list] >> (va >= 0 ? 0 : 1), vb, s, &best);
    }
    if (best.kind < 0 || !(best.properness >= min_properness)) return 0;
    h->hit[4 * i + 1] = best.kind | (flags & GC_HIT_SUSTAINED) | GC_HIT_BORDER | GC_HIT_CONVERTED;
    h->hit[4 * i + 2] = best.fa;
    h->hit[4 * i + 3] = best.fb;
    h->value[3 * i + 2] = best.properness;
    return 0;
}

/* Resolve all of them; the dropped hits leave the list, which is sorted again. */
GC_LARGE void gc_resolve_ends(const gc_tables *t, const gc_pair *p, gc_pair_hits *h, gc_real min_properness)
{
    int at, kept = 0;
    for (at = 0; at < h->n; ++at) {
        int i = h->order[at], flags = h->hit[4 * i + 1];
        /* a lasting crossing begins where an end comes in, and is no less an edge contact for that */
        if ((flags & GC_HIT_KIND_MASK) == GC_EE && !(flags & GC_HIT_SUSTAINED)
            && (flags & (GC_HIT_A_END | GC_HIT_B_END))) {
            if (gc_resolve_end(t, p, h, at, min_properness)) h->hit[4 * i + 1] |= GC_HIT_DROPPED;
        }
    }
    /* a time past the window puts the dropped ones last; only now, since times decide which hits are looked at */
    for (at = 0; at < h->n; ++at)
        if (h->hit[4 * h->order[at] + 1] & GC_HIT_DROPPED) h->value[3 * h->order[at]] = GC_R(8.0);
    if (h->n > 0) gc_hits_sort(h);
    for (at = 0; at < h->n; ++at) kept += h->value[3 * h->order[at]] < GC_R(7.0);
    h->n = kept;
}

/* is the hit at position `at` the same as, or beaten by, another one at the same time */
GC_LARGE int gc_superseded(const gc_tables *t, const gc_pair *p, const gc_pair_hits *h, int at, int refine)
{
    int i = h->order[at], j, step;
    GC_GLOBAL const int *x = h->hit + 4 * i;
    for (step = -1; step <= 1; step += 2) {
        for (j = at + step; j >= 0 && j < h->n; j += step) {
            int o = h->order[j];
            GC_GLOBAL const int *y = h->hit + 4 * o;
            if (GC_ABS(h->value[3 * o] - h->value[3 * i]) > h->same_time) break;
            if (((x[1] ^ y[1]) & GC_HIT_KIND_MASK) == 0 && x[2] == y[2] && x[3] == y[3]) {
                /* one found by its own equation beats a converted one, then the earlier */
                int cx = x[1] & GC_HIT_CONVERTED, cy = y[1] & GC_HIT_CONVERTED;
                if (cx != cy ? cx != 0 : step < 0) return 1;
            } else if (refine == GC_REFINE_EXACT && gc_same_meeting(t, p, h, i, o) && gc_wins(h, o, i)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Hits of the same features closer than this in time are one. The screen's answers come row by row: a crossing on the
 * border of two rows is found in both, to the culling type's rounding (segments) or to a pixel (pixels). */
GC_FN gc_real gc_same_time(const gc_screw *k, int refine, gc_real row_height)
{
    gc_real exact = GC_R(2.0) * k->tau, blur = GC_R(0.0);
    if (refine == GC_REFINE_SEGMENTS) blur = GC_R(64.0) * (gc_real)GC_CULL_PAD * (GC_R(1.0) + k->speed);
    if (refine == GC_REFINE_PIXELS) blur = GC_R(2.0) * row_height;
    return k->speed > GC_R(0.0) ? GC_MAX(exact, blur / k->speed) : exact;
}

GC_KERNEL void s08_resolve(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in,
    GC_GLOBAL const gc_real *planes_in,
    GC_GLOBAL const gc_long *hit_start_in,     /* (n_pairs + 1,) */
    GC_GLOBAL const int *state_in,
    GC_GLOBAL const gc_real *row_height_in,    /* (n_pairs,) user units; read where refine is not exact */
    gc_real min_properness,
    int refine,
    int first_only,
    GC_GLOBAL int *hit_out,                    /* (n_hits, 4) edge hits may be turned into vertex hits */
    GC_GLOBAL gc_real *value_out,              /* (n_hits, 3) */
    GC_GLOBAL int *order_out,                  /* (n_hits,) kept hits first */
    GC_GLOBAL int *kept_out,                   /* (n_pairs,) */
    GC_GLOBAL gc_uchar *status_out,            /* (n_pairs,) */
    GC_GLOBAL gc_real *toi_out)                /* (n_pairs,) step units; 2 stands for none */
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int n = (int)(hit_start_in[i + 1] - hit_start_in[i]), kept = 0, at, state = state_in[i];
        gc_real toi = GC_R(2.0);
        if (n > 0) {
            gc_pair p;
            gc_pair_hits h;
            GC_GLOBAL int *order = order_out + hit_start_in[i];
            gc_pair_load(pairs_in, shape_in, screw_in, &t, i, &p);
            h.hit = hit_out;
            h.value = value_out;
            h.order = order;
            h.n = n;
            h.same_time = gc_same_time(&p.screw, refine, row_height_in[i] * p.screw.shrink);
            gc_hits_sort(&h);
            if (refine == GC_REFINE_EXACT) gc_resolve_ends(&t, &p, &h, min_properness);
            /* first mark, then close the gaps: what supersedes a hit may itself be superseded */
            for (at = 0; at < h.n; ++at)
                if (gc_superseded(&t, &p, &h, at, refine)) hit_out[4 * order[at]] = -1;
            for (at = 0; at < h.n; ++at) {
                int k = order[at];
                if (hit_out[4 * k] < 0) continue;
                if (kept == 0) toi = value_out[3 * k] + GC_R(0.5);
                if (first_only && value_out[3 * k] + GC_R(0.5) != toi) break;
                order[kept++] = k;
            }
        }
        kept_out[i] = kept;
        toi_out[i] = toi;
        status_out[i] = state & GC_PAIR_INVALID ? GC_STATUS_INVALID_INPUT
            : state & GC_PAIR_OVERLAP ? GC_STATUS_INITIAL_OVERLAP
            : state & GC_PAIR_UNRESOLVED ? GC_STATUS_UNRESOLVED
            : kept > 0 ? GC_STATUS_HIT : GC_STATUS_MISS;
    }
}

/* A's own motion through the world, from its body origin (docs/conventions.md, relative motion) */
typedef struct {
    gc_screw screw;
    gc_quat q0;
    gc_vec p0;
} gc_world;

GC_FN void gc_world_make(gc_vec p0, gc_quat q0, gc_vec p1, gc_quat q1, gc_real size, gc_world *w)
{
    gc_quat back = gc_quat_conj(q0), one = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_vec zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    w->screw.scale = GC_R(1.0);
    w->screw.shrink = GC_R(1.0);
    gc_screw_make(gc_quat_unit(gc_quat_mul(back, q1)), one, zero, gc_quat_rotate(back, gc_sub(p1, p0)), size, &w->screw);
    w->q0 = q0;
    w->p0 = p0;
}

GC_FN gc_vec gc_world_point(const gc_world *w, gc_turn r, gc_vec x)
{
    const gc_screw *k = &w->screw;
    gc_vec y = gc_unplace(k, k->ra, k->ta, gc_flow(k, r, gc_place(k, k->rb, k->tb, x)));
    return gc_add(w->p0, gc_quat_rotate(w->q0, y));
}

GC_FN gc_vec gc_world_direction(const gc_world *w, gc_turn r, gc_vec d)
{
    const gc_screw *k = &w->screw;
    return gc_quat_rotate(w->q0, gc_rotate_back(k->ra, gc_turn_vec(k, r, gc_rotate(k->rb, d))));
}

GC_FN void gc_store_vec(GC_GLOBAL gc_real *p, gc_long i, gc_vec v)
{
    p[3 * i] = v.x;
    p[3 * i + 1] = v.y;
    p[3 * i + 2] = v.z;
}

GC_KERNEL void s08_contacts(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *vertices_in,
    GC_GLOBAL const gc_real *planes_in,
    GC_GLOBAL const gc_real *corners_in,       /* (vertices, 3) as the caller gave them */
    GC_GLOBAL const gc_long *hit_start_in,
    GC_GLOBAL const gc_long *contact_start_in, /* (n_pairs + 1,) */
    GC_GLOBAL const int *hit_in,
    GC_GLOBAL const gc_real *value_in,
    GC_GLOBAL const int *order_in,
    int first_pair,                            /* added to the pair numbers written */
    GC_GLOBAL int *pair_out,                   /* (contacts,) */
    GC_GLOBAL gc_uchar *kind_out,
    GC_GLOBAL int *feature_a_out,
    GC_GLOBAL int *feature_b_out,
    GC_GLOBAL gc_real *time_out,
    GC_GLOBAL gc_real *position_out,           /* (contacts, 3) world */
    GC_GLOBAL gc_real *normal_out,             /* (contacts, 3) world, from A to B */
    GC_GLOBAL gc_real *properness_out,
    GC_GLOBAL gc_real *local_a_out,            /* (contacts, 3) mesh coordinates */
    GC_GLOBAL gc_real *local_b_out,
    GC_GLOBAL gc_real *normal_speed_out,       /* user length per step */
    GC_GLOBAL gc_uchar *sustained_out,
    GC_GLOBAL gc_real *time_end_out)
{
    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        gc_long o = contact_start_in[i], end = contact_start_in[i + 1];
        GC_GLOBAL const int *order = order_in + hit_start_in[i];
        int a = pairs_in[2 * i], b = pairs_in[2 * i + 1];
        GC_GLOBAL const gc_real *ma = mesh_reals_in + GC_MESH_REALS * shape_in[a];
        GC_GLOBAL const gc_real *mb = mesh_reals_in + GC_MESH_REALS * shape_in[b];
        gc_vec ca = gc_make(ma[0], ma[1], ma[2]), cb = gc_make(mb[0], mb[1], mb[2]);
        gc_pair p;
        gc_world w;
        if (o == end) continue;
        gc_pair_load(pairs_in, shape_in, screw_in, &t, i, &p);
        gc_world_make(gc_load_vec(start_position_in, a), gc_load_quat(start_quat_in, a), gc_load_vec(end_position_in, a),
                      gc_load_quat(end_quat_in, a), ma[3], &w);
        for (; o < end; ++o, ++order) {
            GC_GLOBAL const int *h = hit_in + 4 * *order;
            GC_GLOBAL const gc_real *v = value_in + 3 * *order;
            int kind = h[1] & GC_HIT_KIND_MASK;
            gc_contact c = gc_contact_at(&t, &p, kind, h[2], h[3], v[0]);
            gc_turn r = gc_turn_at(w.screw.theta, v[0]);
            gc_vec la = gc_add(c.local_a, ca), lb = gc_add(c.local_b, cb);
            if (kind == GC_VF) la = gc_load_vec(corners_in, p.mesh_a.vertex0 + h[2]);
            if (kind == GC_FV) lb = gc_load_vec(corners_in, p.mesh_b.vertex0 + h[3]);
            pair_out[o] = i + first_pair;
            kind_out[o] = (gc_uchar)kind;
            feature_a_out[o] = h[2];
            feature_b_out[o] = h[3];
            time_out[o] = v[0] + GC_R(0.5);
            time_end_out[o] = v[1] + GC_R(0.5);
            properness_out[o] = v[2];
            sustained_out[o] = (gc_uchar)(h[1] & GC_HIT_SUSTAINED ? 1 : 0);
            normal_speed_out[o] = c.speed * p.screw.scale;
            gc_store_vec(local_a_out, o, la);
            gc_store_vec(local_b_out, o, lb);
            gc_store_vec(position_out, o, gc_world_point(&w, r, la));
            gc_store_vec(normal_out, o, gc_world_direction(&w, r, gc_rotate_back(p.screw.ra, c.normal)));
        }
    }
}
