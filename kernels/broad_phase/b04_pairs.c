/* b04_pairs: pairs of bodies that may meet during the step.
 * needs: broad_phase/gc_swept_volume.h
 *
 * in:  leaves and nodes of b03, segments of the worlds, ignored pairs
 * out: for each body a, the bodies b > a that it may meet, in rising order
 * b04_count: one work-item per leaf tests the later leaves of its world, and those that are in every world; each pair found
 * is assigned to its lower body. After a scan, b04_fill: one work-item per body sorts what b04_count kept, or, if there was
 * no room for everything, traverses again. b04_row marks the partners of a body that has very many. A pair is decided at the
 * leaf alone, by gc_pair_passes, from the two bodies, whichever asks: a node only skips what would fail there, so neither
 * the tree nor its age affects the result.
 * Bounds: where each body has its own motion, the boxes that they sweep must meet. Else, with one body at rest, the other
 * moves by its own screw, and the swept boxes must meet; with both moving, the relative motion counts, and gc_cull bounds how near the straight paths of the centres must come.
 * Degenerate: a NaN never separates a pair.
 */

/* the body that asks */
typedef struct {
    gc_real start[3], end[3], box[6];
    gc_real radius, angle;
    gc_quat turn;
    int body, still, rank, group, mask;
    /* the same for nodes: from the tree's origin, rounded outwards */
    gc_raster low_start[3], high_start[3], low_end[3], high_end[3], node_box[6];
    gc_raster node_radius, node_angle, node_way, rounding;
} gc_asker;

/* what all searches of a launch share */
typedef struct {
    GC_GLOBAL const gc_real *leaves;
    GC_GLOBAL const int *leaf_ints;
    GC_GLOBAL const gc_raster *nodes;
    GC_GLOBAL const gc_long *ignored; /* (n_ignored,) a * n_bodies + b, a < b, rising */
    int n, n_bodies, n_ignored;
    int still_pairs; /* are two bodies that stand still a pair? */
    int bounds;      /* GC_BOUNDS_*: what has to meet */
} gc_broad;

GC_FN gc_quat gc_leaf_turn(GC_GLOBAL const gc_real *leaf)
{
    GC_GLOBAL const gc_real *turn = leaf + GC_LEAF_turn;
    return gc_quat_make(turn[0], turn[1], turn[2], turn[3]);
}

GC_FN void gc_asker_load(const gc_broad *s, int leaf, const gc_real *origin, gc_asker *q)
{
    GC_GLOBAL const gc_real *p = s->leaves + GC_LEAF_STRIDE * leaf;
    GC_GLOBAL const gc_real *start = p + GC_LEAF_start, *end = p + GC_LEAF_end;
    GC_GLOBAL const int *ints = s->leaf_ints + GC_LEAF_INT_STRIDE * leaf;
    gc_raster size = GC_F(0.0);
    for (int k = 0; k < 3; ++k) {
        q->start[k] = start[k];
        q->end[k] = end[k];
        q->box[k] = p[GC_LEAF_low + k];
        q->box[3 + k] = p[GC_LEAF_high + k];
        q->low_start[k] = gc_below(start[k] - origin[k]);
        q->high_start[k] = gc_above(start[k] - origin[k]);
        q->low_end[k] = gc_below(end[k] - origin[k]);
        q->high_end[k] = gc_above(end[k] - origin[k]);
        q->node_box[k] = gc_below(q->box[k] - origin[k]);
        q->node_box[3 + k] = gc_above(q->box[3 + k] - origin[k]);
        size = GC_MAX(size, GC_MAX(GC_ABS_R(q->low_start[k]), GC_ABS_R(q->high_start[k])));
        size = GC_MAX(size, GC_MAX(GC_ABS_R(q->low_end[k]), GC_ABS_R(q->high_end[k])));
    }
    q->radius = p[GC_LEAF_radius];
    q->angle = p[GC_LEAF_angle];
    q->turn = gc_leaf_turn(p);
    q->node_radius = gc_above(q->radius);
    q->node_angle = gc_above(q->angle);
    q->node_way = gc_above(gc_norm(gc_make(end[0] - start[0], end[1] - start[1], end[2] - start[2])));
    q->rounding = GC_CROWD_ROUNDING * size;
    q->body = ints[GC_LEAF_INT_body];
    q->still = ints[GC_LEAF_INT_rank] & 1;
    q->rank = ints[GC_LEAF_INT_rank] >> 1;
    q->group = ints[GC_LEAF_INT_group];
    q->mask = ints[GC_LEAF_INT_mask];
}

GC_FN int gc_crowd_box_meets(const gc_raster *a, GC_GLOBAL const gc_raster *b)
{
    return !(a[0] > b[3] || b[0] > a[3] || a[1] > b[4] || b[1] > a[4] || a[2] > b[5] || b[2] > a[5]);
}

/* gc_cull for a node, in the type that culls and a little wider; arguments as there */
GC_FN gc_raster gc_crowd_reach(gc_raster size, gc_raster way, gc_raster angle, gc_raster turn)
{
    gc_raster x = GC_F(0.5) * angle + GC_F(0.25) * GC_MIN(turn, GC_F(3.1416)) + GC_CROWD_ANGLE_PAD, u = x * x;
    gc_raster c = GC_F(1.0) - u * GC_F(0.5) * (GC_F(1.0) - u * GC_F(0.083333) * (GC_F(1.0) - u * GC_F(0.033334)));
    return x < GC_F(1.56) ? (size + GC_F(0.5) * x * way) / c : GC_F(-1.0);
}

/* may a moving body of the node meet the asker, which moves? Between the start and the end centres lie evenly between their
 * places, and so do the sides of a box around several. */
GC_FN int gc_crowd_moving(const gc_asker *q, GC_GLOBAL const gc_raster *node)
{
    gc_raster at0[6], at1[6], t0 = GC_F(0.0), t1 = GC_F(1.0);
    gc_raster angle = GC_MIN(q->node_angle, node[GC_CROWD_angle]);
    gc_raster reach = gc_crowd_reach(
        q->node_radius + node[GC_CROWD_radius], q->node_way + node[GC_CROWD_way], angle,
        q->node_angle + node[GC_CROWD_angle]);
    int apart = node[GC_CROWD_radius] < GC_F(0.0);
    if (apart | (reach < GC_F(0.0))) return !apart;
    reach = reach + GC_CROWD_PAD * reach + q->rounding;
    for (int k = 0; k < 3; ++k) {
        at0[k] = q->high_start[k] - node[GC_CROWD_start + k] + reach;
        at1[k] = q->high_end[k] - node[GC_CROWD_end + k] + reach;
        at0[3 + k] = node[GC_CROWD_start + 3 + k] - q->low_start[k] + reach;
        at1[3 + k] = node[GC_CROWD_end + 3 + k] - q->low_end[k] + reach;
    }
    for (int k = 0; k < 6; ++k) apart |= (at0[k] < GC_F(0.0)) & (at1[k] < GC_F(0.0));
    if (apart) return 0;
    for (int k = 0; k < 6; ++k) {
        gc_raster t = at0[k] / (at0[k] - at1[k]);
        if (at0[k] < GC_F(0.0)) t0 = GC_MAX(t, t0);
        if (at1[k] < GC_F(0.0)) t1 = GC_MIN(t, t1);
    }
    if (t0 > t1 + GC_CROWD_PAD) return 0;
    /* two that move straight must also sweep places that meet */
    if (q->node_angle <= GC_BVH_STRAIGHT && node[GC_CROWD_angle] <= GC_BVH_STRAIGHT)
        return gc_crowd_box_meets(q->node_box, node + GC_CROWD_swept);
    return 1;
}

GC_FN int gc_crowd_passes(const gc_broad *s, const gc_asker *q, GC_GLOBAL const gc_raster *node)
{
    if (s->bounds == GC_BOUNDS_NONE) return 1;
    if (s->bounds == GC_BOUNDS_SWEPT)
        return gc_crowd_box_meets(q->node_box, node + GC_CROWD_swept)
               || gc_crowd_box_meets(q->node_box, node + GC_CROWD_still);
    if (q->still)
        return gc_crowd_box_meets(q->node_box, node + GC_CROWD_swept)
               || (s->still_pairs && gc_crowd_box_meets(q->node_box, node + GC_CROWD_still));
    return gc_crowd_box_meets(q->node_box, node + GC_CROWD_still) || gc_crowd_moving(q, node);
}

/* may two moving bodies meet? The same bits whichever asks. */
GC_FN int gc_moving_meet(const gc_asker *q, GC_GLOBAL const gc_real *p)
{
    GC_GLOBAL const gc_real *start = p + GC_LEAF_start, *end = p + GC_LEAF_end;
    gc_vec d0 = gc_make(start[0] - q->start[0], start[1] - q->start[1], start[2] - q->start[2]);
    gc_vec d1 = gc_make(end[0] - q->end[0], end[1] - q->end[1], end[2] - q->end[2]);
    gc_real angle = p[GC_LEAF_angle];
    if (!gc_swept_volumes_meet(d0, d1, q->radius + p[GC_LEAF_radius], q->angle, angle, q->turn, gc_leaf_turn(p))) return 0;
    if (q->angle <= GC_BVH_STRAIGHT && angle <= GC_BVH_STRAIGHT) return gc_boxes_meet(q->box, p + GC_LEAF_low);
    return 1;
}

/* the decision: is the body of the leaf the asker's partner? (Neither asks whether it is the asker.) */
GC_FN int gc_pair_passes(const gc_broad *s, const gc_asker *q, int leaf)
{
    GC_GLOBAL const int *ints = s->leaf_ints + GC_LEAF_INT_STRIDE * leaf;
    GC_GLOBAL const gc_real *p = s->leaves + GC_LEAF_STRIDE * leaf;
    int still = ints[GC_LEAF_INT_rank] & 1;
    if (still && q->still && !s->still_pairs) return 0;
    if (!(q->group & ints[GC_LEAF_INT_mask]) || !(q->mask & ints[GC_LEAF_INT_group])) return 0;
    if (s->bounds != GC_BOUNDS_NONE
        && !(
            s->bounds == GC_BOUNDS_SWEPT || still || q->still ? gc_boxes_meet(q->box, p + GC_LEAF_low)
                                                              : gc_moving_meet(q, p)))
        return 0;
    return s->n_ignored == 0
           || !gc_is_ignored(
               s->ignored, s->n_ignored, s->n_bodies, GC_MIN(q->body, ints[GC_LEAF_INT_body]),
               GC_MAX(q->body, ints[GC_LEAF_INT_body]));
}

GC_FN gc_broad gc_broad_of(
    int n,
    int n_bodies,
    int n_ignored,
    int still_pairs,
    int bounds,
    GC_GLOBAL const gc_real *leaves,
    GC_GLOBAL const int *leaf_ints,
    GC_GLOBAL const gc_raster *nodes,
    GC_GLOBAL const gc_long *ignored)
{
    gc_broad s;
    s.leaves = leaves;
    s.leaf_ints = leaf_ints;
    s.nodes = nodes;
    s.ignored = ignored;
    s.n = n;
    s.n_bodies = n_bodies;
    s.n_ignored = n_ignored;
    s.still_pairs = still_pairs;
    s.bounds = bounds;
    return s;
}

/* a search among leaves [first, end) that stands before leaf `at` of a node whose last is before `last` */
typedef struct {
    gc_visit visit;
    int at, last, tests;
} gc_hunt;

GC_FN gc_hunt gc_hunt_begin(const gc_broad *s, int first, int end)
{
    gc_hunt h;
    h.visit = gc_visit_begin(s->n, GC_BVH_LOW, first, end);
    h.at = h.last = h.tests = 0;
    return h;
}

/* next leaf that passes, or -1; counts the nodes and leaves looked at */
GC_FN int gc_hunt_next(const gc_broad *s, const gc_asker *q, gc_hunt *h)
{
    for (;;) {
        while (h->at < h->last) {
            int leaf = h->at++;
            h->tests += 1;
            if (gc_pair_passes(s, q, leaf)) return leaf;
        }
        for (;;) {
            gc_visit *v = &h->visit;
            if (gc_visit_done(v)) return -1;
            if (v->level >= GC_BVH_LOW) {
                h->tests += 1;
                if (!gc_crowd_passes(s, q, s->nodes + GC_CROWD_STRIDE * (gc_long)gc_visit_node(v))) {
                    gc_visit_next(v);
                    continue;
                }
                if (v->level > GC_BVH_LOW) {
                    gc_visit_down(v);
                    continue;
                }
            }
            h->at = gc_visit_first(v);
            h->last = gc_visit_last(v);
            gc_visit_next(v);
            break;
        }
    }
}

/* shell sort of n ints `stride` apart */
GC_FN void gc_sort_partners(GC_GLOBAL int *row, int n, int stride)
{
    int gap = 1, i;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (i = gap; i < n; ++i) {
            int item = row[stride * i], j = i;
            for (; j >= gap && row[stride * (j - gap)] > item; j -= gap) row[stride * j] = row[stride * (j - gap)];
            row[stride * j] = item;
        }
    }
}

GC_CROWDED_KERNEL void b04_count(
    int n_askers, /* leaves that ask now: */
    int first,    /* ... from this one */
    int n,        /* leaves */
    int n_bodies,
    int n_ignored,
    int still_pairs,
    int bounds,
    gc_real origin_x,
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const gc_real *leaves_in,  /* (n, GC_LEAF_STRIDE) */
    GC_GLOBAL const int *leaf_ints_in,   /* (n, GC_LEAF_INT_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_CROWD_STRIDE) */
    GC_GLOBAL const int *segments_in,    /* (ranks + 1,) first leaf of each */
    GC_GLOBAL const gc_long *ignored_in, /* (n_ignored,) */
    GC_GLOBAL int *kept_out,             /* (n_bodies, GC_BVH_KEEP) as many partners of each body, in any order */
    GC_GLOBAL int *counts_out,           /* (n_bodies,) zero before: partners of higher number of each body */
    GC_GLOBAL int *tests_out)            /* (n,) nodes and leaves that each leaf looked at */
{
    gc_broad s = gc_broad_of(n, n_bodies, n_ignored, still_pairs, bounds, leaves_in, leaf_ints_in, nodes_in, ignored_in);
    gc_real origin[3];
    origin[0] = origin_x;
    origin[1] = origin_y;
    origin[2] = origin_z;
    for (int k = GC_ITEM_LO(n_askers); k < GC_ITEM_HI(n_askers); k += GC_ITEM_STEP(n_askers)) {
        gc_asker q;
        int i = first + k, part, tests = 0;
        gc_asker_load(&s, i, origin, &q);
        /* behind it in its own world; and, from a world, all that are in every world */
        for (part = 0; part < (q.rank > 0 ? 2 : 1); ++part) {
            gc_hunt h = gc_hunt_begin(&s, part == 0 ? i + 1 : 0, segments_in[part == 0 ? q.rank + 1 : 1]);
            for (int leaf = gc_hunt_next(&s, &q, &h); leaf >= 0; leaf = gc_hunt_next(&s, &q, &h)) {
                int other = leaf_ints_in[GC_LEAF_INT_STRIDE * leaf + GC_LEAF_INT_body], a = GC_MIN(q.body, other),
                    b = GC_MAX(q.body, other);
                int place = GC_ATOMIC_ADD(counts_out + a, 1);
                if (place < GC_BVH_KEEP) kept_out[GC_BVH_KEEP * a + place] = b;
            }
            tests += h.tests;
        }
        tests_out[i] = tests;
    }
}

GC_KERNEL void b04_fill(
    int n_askers,
    int n,
    int n_bodies,
    int n_ignored,
    int still_pairs,
    int bounds,
    int longest,  /* rows of more partners are left to b04_row */
    gc_long base, /* number of the first pair in pairs_out */
    gc_real origin_x,
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const int *askers_in,     /* (n_askers,) leaves */
    GC_GLOBAL const gc_real *leaves_in, /* as in b04_count */
    GC_GLOBAL const int *leaf_ints_in,
    GC_GLOBAL const gc_raster *nodes_in,
    GC_GLOBAL const int *segments_in,
    GC_GLOBAL const gc_long *ignored_in,
    GC_GLOBAL const int *kept_in,       /* (n_bodies, GC_BVH_KEEP) of b04_count */
    GC_GLOBAL const gc_long *starts_in, /* (n_bodies + 1,) number of each body's first pair */
    GC_GLOBAL int *pairs_out)           /* (pairs, 2) */
{
    gc_broad s = gc_broad_of(n, n_bodies, n_ignored, still_pairs, bounds, leaves_in, leaf_ints_in, nodes_in, ignored_in);
    gc_real origin[3];
    origin[0] = origin_x;
    origin[1] = origin_y;
    origin[2] = origin_z;
    for (int i = GC_ITEM_LO(n_askers); i < GC_ITEM_HI(n_askers); i += GC_ITEM_STEP(n_askers)) {
        int asker = askers_in[i], body = leaf_ints_in[GC_LEAF_INT_STRIDE * asker + GC_LEAF_INT_body], found = 0;
        gc_long count = starts_in[body + 1] - starts_in[body];
        GC_GLOBAL int *row = pairs_out + 2 * (starts_in[body] - base);
        if (count == 0 || count > longest) continue;
        if (count <= GC_BVH_KEEP) {
            for (; found < count; ++found) row[2 * found + 1] = kept_in[GC_BVH_KEEP * body + found];
        } else {
            gc_asker q;
            int part;
            gc_asker_load(&s, asker, origin, &q);
            for (part = 0; part < (q.rank > 0 ? 2 : 1); ++part) {
                /* a body of every world looks at all leaves, another at those of its world and of every world */
                int first = part == 0 && q.rank > 0 ? segments_in[q.rank] : 0;
                gc_hunt h = gc_hunt_begin(&s, first, part == 1 ? segments_in[1] : q.rank > 0 ? segments_in[q.rank + 1] : n);
                for (int leaf = gc_hunt_next(&s, &q, &h); leaf >= 0; leaf = gc_hunt_next(&s, &q, &h)) {
                    int other = leaf_ints_in[GC_LEAF_INT_STRIDE * leaf + GC_LEAF_INT_body];
                    if (other > body) row[2 * found++ + 1] = other;
                }
            }
        }
        gc_sort_partners(row + 1, found, 2);
        for (int k = 0; k < found; ++k) row[2 * k] = body;
    }
}

GC_KERNEL void b04_row(
    int asker, /* leaf of the body whose partners are marked */
    int n,
    int n_bodies,
    int n_ignored,
    int still_pairs,
    int bounds,
    gc_real origin_x,
    gc_real origin_y,
    gc_real origin_z,
    GC_GLOBAL const gc_real *leaves_in, /* as in b04_count */
    GC_GLOBAL const int *leaf_ints_in,
    GC_GLOBAL const gc_raster *nodes_in,
    GC_GLOBAL const gc_long *ignored_in,
    GC_GLOBAL gc_uchar *marks_out) /* (n_bodies,) 1 for partners; zero before */
{
    gc_broad s = gc_broad_of(n, n_bodies, n_ignored, still_pairs, bounds, leaves_in, leaf_ints_in, nodes_in, ignored_in);
    gc_real origin[3];
    gc_asker q;
    origin[0] = origin_x;
    origin[1] = origin_y;
    origin[2] = origin_z;
    gc_asker_load(&s, asker, origin, &q);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const int *ints = leaf_ints_in + GC_LEAF_INT_STRIDE * i;
        int rank = ints[GC_LEAF_INT_rank] >> 1, body = ints[GC_LEAF_INT_body];
        if (q.rank != 0 && rank != 0 && rank != q.rank) continue;
        if (body <= q.body) continue;
        marks_out[body] = (gc_uchar)gc_pair_passes(&s, &q, i);
    }
}
