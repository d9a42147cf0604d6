/* s09_overlap: do the solids of a pair overlap at a given time of the step? check_start asks about the start,
 * baselines.bisection about one time after another.
 * needs: narrow_phase/overlap/gc_pierce.h narrow_phase/overlap/gc_relative_at.h
 *
 * in:  screw records, both meshes, their trees of faces, components and insets, a time of each pair
 * out: GC_PAIR_OVERLAP in the pair's state
 * s09_near, one work-item per pair, keeps the pairs whose boxes overlap; s09_overlap tests those, one group per pair. Touch
 * is not overlap: one solid is shrunk (gc_solid.h). The solids overlap if a shrunk edge of one passes through a face of the
 * other; if none does, every component lies inside the other body or outside, and one shrunk vertex decides which, by its
 * winding number. Only closed components have an inside. Only faces of the larger mesh near the other's box are tested,
 * found by its tree and shared by the work-items of a group. A pair that is already marked stays as it is.
 */

/* Are two boxes apart along a side of one of them or along a cross product of two sides? The first is `half_a` about the
 * origin, the other `half_b`, turned by r (its sides as columns) about `shift`. (Gottschalk, Lin, Manocha, "OBBTree",
 * section 5) */
GC_LARGE int gc_boxes_apart(
    const gc_real *half_a,
    const gc_real *half_b,
    const gc_real *r,
    const gc_real *shift,
    gc_real slack)
{
    gc_real f[9];
    int i, j;
    /* the slack also keeps sides that are nearly parallel, whose cross product is rounding, from deciding */
    for (i = 0; i < 9; ++i) f[i] = GC_ABS(r[i]) + slack;
    for (i = 0; i < 3; ++i) {
        gc_real reach_b = half_b[0] * f[3 * i] + half_b[1] * f[3 * i + 1] + half_b[2] * f[3 * i + 2];
        gc_real reach_a = half_a[0] * f[i] + half_a[1] * f[3 + i] + half_a[2] * f[6 + i];
        gc_real along = shift[0] * r[i] + shift[1] * r[3 + i] + shift[2] * r[6 + i];
        if (GC_ABS(shift[i]) > half_a[i] + reach_b + slack) return 1;
        if (GC_ABS(along) > half_b[i] + reach_a + slack) return 1;
    }
    for (i = 0; i < 3; ++i) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (j = 0; j < 3; ++j) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            gc_real reach = half_a[i1] * f[3 * i2 + j] + half_a[i2] * f[3 * i1 + j] + half_b[j1] * f[3 * i + j2]
                            + half_b[j2] * f[3 * i + j1];
            if (GC_ABS(shift[i2] * r[3 * i1 + j] - shift[i1] * r[3 * i2 + j]) > reach + slack) return 1;
        }
    }
    return 0;
}

/* rounding of a place in a pair, and the least depth that counts: what moves far was carried from half-way */
GC_FN gc_real gc_overlap_rough(const gc_screw *k) { return GC_OVERLAP_ROUNDING * (k->size + k->speed); }

GC_FN gc_real gc_overlap_depth(const gc_screw *k)
{
    return GC_MAX(GC_OVERLAP_DEPTH * k->size, GC_OVERLAP_SPECK * gc_overlap_rough(k));
}

GC_KERNEL void s09_near(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const gc_real *mesh_reals_in,
    GC_GLOBAL const gc_real *when_in, /* (n_pairs,) s in [-1/2, 1/2]; above 1/2: not asked */
    GC_GLOBAL const int *state_in,    /* (n_pairs,) pairs that have any bit are not asked */
    GC_GLOBAL gc_uchar *near_out)     /* (n_todo,) 1 where the boxes meet */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int pair = todo_in[i], j;
        GC_GLOBAL const gc_real *ma, *mb;
        gc_screw k;
        gc_real r[9], shift[3], half_a[3], half_b[3], reach;
        near_out[i] = 0;
        if (pair < 0 || state_in[pair] || when_in[pair] > GC_R(0.5)) continue;
        ma = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * pair]];
        mb = mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[pairs_in[2 * pair + 1]];
        gc_screw_load(screw_in + GC_SCREW_STRIDE * pair, &k);
        gc_relative_at(&k, screw_in + GC_SCREW_STRIDE * pair, when_in[pair], r, shift);
        reach = k.radius_a + k.radius_b;
        if (shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2] > reach * reach) continue;
        for (j = 0; j < 3; ++j) {
            half_a[j] = ma[GC_MESH_REAL_sides + j] * k.shrink;
            half_b[j] = mb[GC_MESH_REAL_sides + j] * k.shrink;
        }
        near_out[i] = !gc_boxes_apart(half_a, half_b, r, shift, GC_R(2.0) * gc_overlap_depth(&k));
    }
}

/* a body whose map into the other's frame is not known yet */
GC_FN void gc_solid_make(
    const gc_overlap *o,
    const gc_mesh *m,
    int mesh,
    GC_GLOBAL const int *trees,
    GC_GLOBAL const gc_raster *nodes,
    GC_GLOBAL const int *solids,
    gc_real radius,
    gc_solid *s)
{
    GC_GLOBAL const gc_real *reals = o->t.reals + GC_MESH_REAL_STRIDE * mesh;
    GC_GLOBAL const int *ints = solids + GC_SOLID_STRIDE * mesh;
    s->mesh = m;
    s->tree = trees + GC_TREE_STRIDE * mesh;
    s->nodes = nodes;
    s->witnesses = solids + ints[GC_SOLID_witnesses];
    s->components = ints[GC_SOLID_components];
    s->closed = ints[GC_SOLID_closed];
    s->codes = solids + ints[GC_SOLID_codes];
    s->radius = radius;
    s->extent = gc_scale(gc_load_vec(reals + GC_MESH_REAL_sides, 0), o->shrink);
}

/* the box of face f of s as the other body sees it; does it meet the other's box, and its plane? */
GC_FN int gc_face_near(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int f, gc_vec *low, gc_vec *high)
{
    int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1];
    gc_vec x = gc_solid_corner(o, s, j), n = gc_normal(&o->t, s->mesh, f), turned = gc_rotate_back(other->rot, n);
    gc_real reach = GC_ABS(turned.x) * other->extent.x + GC_ABS(turned.y) * other->extent.y
                    + GC_ABS(turned.z) * other->extent.z;
    if (GC_ABS(gc_dot(n, gc_sub(other->shift, x))) > reach + o->slack + GC_OVERLAP_FLAT * s->radius) return 0;
    x = gc_solid_over(s, x);
    *low = x;
    *high = x;
    for (++j; j < end; ++j) {
        x = gc_solid_over(s, gc_solid_corner(o, s, j));
        *low = gc_make(GC_MIN(low->x, x.x), GC_MIN(low->y, x.y), GC_MIN(low->z, x.z));
        *high = gc_make(GC_MAX(high->x, x.x), GC_MAX(high->y, x.y), GC_MAX(high->z, x.z));
    }
    return gc_meets_box(other, *low, *high, o->slack);
}

/* Is edge e one that face f is to look at? Each edge is looked at by its first face, which is near where the edge is. */
GC_FN int gc_first_face(const gc_overlap *o, const gc_solid *s, int e, int f)
{
    return o->t.topology[s->mesh->edge_faces + o->t.topology[s->mesh->edge_face_start + e]] >> 1 == f;
}

/* do the edges that face g of `other` looks at, shrunk, pass through face f of s? */
GC_FN int gc_edges_pierce(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int f, int g)
{
    int j = o->t.topology[other->mesh->face_start + g], end = o->t.topology[other->mesh->face_start + g + 1];
    for (; j < end; ++j) {
        int e = o->t.topology[other->mesh->face_edges + j];
        gc_vec p, q;
        gc_real through;
        if (!gc_first_face(o, other, e, g)) continue;
        through = gc_shrunk_edge(o, other, e, &p, &q);
        if (gc_passes(o, s, other, f, e, p, q, through)) return 1;
    }
    return 0;
}

/* does a node of the tree of a body come up to the plane n.x = offset? */
GC_FN int gc_node_at_plane(GC_GLOBAL const gc_raster *p, gc_vec n, gc_real offset, gc_real shrink, gc_real pad)
{
    gc_real unit = GC_R(0.5) * shrink;
    gc_real at = n.x * (unit * (gc_real)(p[0] + p[3])) + n.y * (unit * (gc_real)(p[1] + p[4]))
                 + n.z * (unit * (gc_real)(p[2] + p[5]));
    gc_real reach = GC_ABS(n.x) * (unit * (gc_real)(p[3] - p[0])) + GC_ABS(n.y) * (unit * (gc_real)(p[4] - p[1]))
                    + GC_ABS(n.z) * (unit * (gc_real)(p[5] - p[2]));
    return GC_ABS(at - offset) <= reach + pad;
}

/* does a shrunk edge of `other` pass through face f of s, whose box the other sees from `low` to `high`? */
GC_LARGE int gc_face_pierced(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int f, gc_vec low, gc_vec high)
{
    int e, n = other->tree[0];
    gc_real pad = gc_node_pad(o, other), flat = pad + pad + GC_OVERLAP_FLAT * s->radius, offset;
    gc_vec normal = gc_rotate(s->rot, gc_normal(&o->t, s->mesh, f));
    gc_visit w;
    if (n == 0) {
        for (e = 0; e < other->mesh->ne; ++e) {
            gc_vec p, q;
            gc_real through = gc_shrunk_edge(o, other, e, &p, &q);
            if (gc_passes(o, s, other, f, e, p, q, through)) return 1;
        }
        return 0;
    }
    offset = gc_dot(normal, gc_solid_over(s, gc_solid_corner(o, s, o->t.topology[s->mesh->face_start + f])));
    w = gc_visit_begin(n, 0, 0, n);
    while (!gc_visit_done(&w)) {
        GC_GLOBAL const gc_raster *node = other->nodes + GC_NODE_STRIDE * (other->tree[1] + gc_visit_node(&w));
        if (gc_meets_node(node, low, high, o->shrink, pad) && gc_node_at_plane(node, normal, offset, o->shrink, flat)) {
            if (w.level > 0) {
                gc_visit_down(&w);
                continue;
            }
            if (gc_edges_pierce(o, s, other, f, gc_solid_leaf(o, other, w.node))) return 1;
        }
        gc_visit_next(&w);
    }
    return 0;
}

/* what one face of s has to say: a component that it tells, its shrunk edges, and the other's */
GC_LARGE int gc_face_overlaps(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int f)
{
    int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1];
    gc_vec low, high;
    if (!gc_face_near(o, s, other, f, &low, &high)) return 0;
    if (other->closed && s->codes[f] > 1 && gc_component_inside(o, s, other, s->codes[f] / 2 - 1)) return 1;
    for (; j < end; ++j) {
        int e = o->t.topology[s->mesh->face_edges + j];
        gc_vec p, q;
        gc_real through;
        if (!gc_first_face(o, s, e, f)) continue;
        through = gc_shrunk_edge(o, s, e, &p, &q);
        if (gc_meets_box(other, p, q, o->slack) && gc_pierces_any(o, other, s, e, p, q, through)) return 1;
    }
    return gc_face_pierced(o, s, other, f, low, high);
}

/* does a node of the tree of s meet the other's box, which s sees from `low` to `high`, by its own box and its slab? */
GC_FN int gc_node_near(
    const gc_overlap *o,
    GC_GLOBAL const gc_raster *n,
    const gc_solid *other,
    gc_vec low,
    gc_vec high,
    gc_real pad)
{
    gc_vec normal = gc_make((gc_real)n[6], (gc_real)n[7], (gc_real)n[8]), turned;
    gc_real along, reach;
    if (!gc_meets_node(n, low, high, o->shrink, pad)) return 0;
    turned = gc_rotate_back(other->rot, normal);
    reach = GC_ABS(turned.x) * other->extent.x + GC_ABS(turned.y) * other->extent.y + GC_ABS(turned.z) * other->extent.z
            + pad;
    along = gc_dot(normal, other->shift);
    return along - reach <= n[10] * o->shrink && along + reach >= n[9] * o->shrink;
}

/* has another work-item of the group found the pair to overlap? */
GC_FN int gc_overlap_known(GC_GLOBAL int *state) { return GC_GROUP_SIZE > 1 && GC_ATOMIC_MAX(state, 0) >= GC_PAIR_OVERLAP; }

/* The faces of s, by its tree if it has one, in blocks that the work-items share. */
GC_LARGE int gc_faces_overlap(const gc_overlap *o, const gc_solid *s, const gc_solid *other, GC_GLOBAL int *state)
{
    int i, n = s->tree[0], block = GC_GROUP_SIZE > 1 ? n / (8 * GC_GROUP_SIZE) + 1 : n;
    gc_real pad = gc_node_pad(o, s);
    gc_vec low = other->shift, high = other->shift, sides = other->extent, reach;
    const gc_real *r = other->rot;
    if (n == 0) {
        for (i = GC_LOCAL_ID; i < s->mesh->nf && !gc_overlap_known(state); i += GC_GROUP_SIZE)
            if (gc_face_overlaps(o, s, other, i)) return 1;
        return 0;
    }
    reach = gc_make(
        GC_ABS(r[0]) * sides.x + GC_ABS(r[1]) * sides.y + GC_ABS(r[2]) * sides.z,
        GC_ABS(r[3]) * sides.x + GC_ABS(r[4]) * sides.y + GC_ABS(r[5]) * sides.z,
        GC_ABS(r[6]) * sides.x + GC_ABS(r[7]) * sides.y + GC_ABS(r[8]) * sides.z);
    low = gc_sub(low, reach);
    high = gc_add(high, reach);
    for (i = GC_LOCAL_ID * block; i < n; i += GC_GROUP_SIZE * block) {
        gc_visit w = gc_visit_begin(n, 0, i, GC_MIN(i + block, n));
        while (!gc_visit_done(&w)) {
            if (gc_node_near(o, s->nodes + GC_NODE_STRIDE * (s->tree[1] + gc_visit_node(&w)), other, low, high, pad)) {
                if (w.level > 0) {
                    gc_visit_down(&w);
                    continue;
                }
                if (gc_overlap_known(state)) return 0;
                if (gc_face_overlaps(o, s, other, gc_solid_leaf(o, s, w.node))) return 1;
            }
            gc_visit_next(&w);
        }
    }
    return 0;
}

/* is a component of s inside the other body? */
GC_FN int gc_components_inside(const gc_overlap *o, const gc_solid *s, const gc_solid *other)
{
    int i;
    if (!other->closed) return 0;
    for (i = GC_LOCAL_ID; i < s->components; i += GC_GROUP_SIZE)
        if (gc_component_inside(o, s, other, s->witnesses[i])) return 1;
    return 0;
}

GC_KERNEL void s09_overlap(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers, each once, below 0: none */
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,       /* (meshes, GC_TREE_STRIDE), no faces: no tree */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    GC_GLOBAL const int *solids_in,      /* (meshes, GC_SOLID_STRIDE), and what it leads to */
    GC_GLOBAL const gc_real *insets_in,  /* (vertices, GC_INSET_STRIDE) */
    GC_GLOBAL const gc_real *when_in,    /* (n_pairs,) s in [-1/2, 1/2] */
    GC_GLOBAL int *state_out)            /* (n_pairs,) only ever raised, and read by that alone */
{
    gc_overlap o;
    for (int i = GC_GROUP_LO(n_todo); i < GC_GROUP_HI(n_todo); i += GC_GROUP_STEP(n_todo)) {
        int pair = todo_in[i], mesh_a, mesh_b, j, l;
        gc_pair p;
        gc_solid a, b;
        gc_real shift[3];
        if (pair < 0) continue;
        o.t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        o.insets = insets_in;
        mesh_a = shape_in[pairs_in[2 * pair]];
        mesh_b = shape_in[pairs_in[2 * pair + 1]];
        gc_pair_load(pairs_in, shape_in, screw_in, &o.t, pair, &p);
        o.shrink = gc_screw_of(&p)->shrink;
        o.depth = gc_overlap_depth(gc_screw_of(&p));
        o.rough = gc_overlap_rough(gc_screw_of(&p));
        o.slack = GC_R(2.0) * o.depth;
        gc_solid_make(&o, gc_mesh_a(&p), mesh_a, trees_in, nodes_in, solids_in, gc_screw_of(&p)->radius_a, &a);
        gc_solid_make(&o, gc_mesh_b(&p), mesh_b, trees_in, nodes_in, solids_in, gc_screw_of(&p)->radius_b, &b);
        gc_relative_at(gc_screw_of(&p), screw_in + GC_SCREW_STRIDE * pair, when_in[pair], b.rot, shift);
        b.shift = gc_make(shift[0], shift[1], shift[2]);
        for (j = 0; j < 3; ++j)
            for (l = 0; l < 3; ++l) a.rot[3 * j + l] = b.rot[3 * l + j];
        a.shift = gc_scale(gc_rotate(a.rot, b.shift), GC_R(-1.0));
        /* the bit is the highest there is, so that the maximum sets it */
        if (gc_mesh_b(&p)->nf > gc_mesh_a(&p)->nf
                ? gc_components_inside(&o, &a, &b) || gc_faces_overlap(&o, &b, &a, state_out + pair)
                : gc_components_inside(&o, &b, &a) || gc_faces_overlap(&o, &a, &b, state_out + pair))
            GC_ATOMIC_MAX(state_out + pair, GC_PAIR_OVERLAP);
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
