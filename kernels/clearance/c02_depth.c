/* c02_depth: how deep the bodies of a pair are in each other at a time.
 * needs: clearance/gc_deep_convex.h clearance/gc_deep_regions.h clearance/gc_clear_boxes.h
 *
 * in:  screw records (s01), both meshes with their trees of faces, pairs that overlap (s09, c01), both closed
 * out: pairs of features that overlap, in any order; and of pairs that are not both convex where edges go through faces, what of
 *      the overlap hangs together, and how deep what has no such pair is
 * One work-item per pair. Source: docs/decisions/0114. c02_depth lists pairs of features, c02_cuts edges through faces; the host
 * puts both in order, c02_regions and c02_own tell what belongs to what, c02_reach how far a region reaches. Degenerate: what is at the limit of being
 * proper, or of a face, counts; regions are those of B moved by a share of the least depth, so that nothing touches exactly.
 */

/* two faces, with the vertices and edges that they own */
GC_LARGE void gc_deep_leaf(const gc_clear *q, gc_deep_list *l, int a, int b)
{
    const gc_mesh *ma = &q->a.mesh, *mb = &q->b.mesh;
    int a0 = q->t.topology[ma->face_start + a], a1 = q->t.topology[ma->face_start + a + 1], i, j;
    int b0 = q->t.topology[mb->face_start + b], b1 = q->t.topology[mb->face_start + b + 1];
    gc_deep o;
    for (j = b0; j < b0 + gc_clear_vertices(mb, b1 - b0) && !gc_is_thin(ma); ++j) {
        int v = q->t.topology[mb->face_vertices + j];
        if (gc_clear_owns_vertex(q, mb, b, v) && gc_deep_vertex_face(q, 0, a, v, l->most, &o))
            gc_deep_add(q, l, GC_FV, a, v, &o);
    }
    for (i = a0; i < a0 + gc_clear_vertices(ma, a1 - a0) && !gc_is_thin(mb); ++i) {
        int v = q->t.topology[ma->face_vertices + i];
        if (gc_clear_owns_vertex(q, ma, a, v) && gc_deep_vertex_face(q, 1, b, v, l->most, &o))
            gc_deep_add(q, l, GC_VF, v, b, &o);
    }
    for (i = a0; i < a0 + gc_clear_sides(ma, a1 - a0); ++i) {
        int e = q->t.topology[ma->face_edges + i];
        if (!gc_clear_owns_edge(q, ma, a, e)) continue;
        for (j = b0; j < b0 + gc_clear_sides(mb, b1 - b0); ++j) {
            int f = q->t.topology[mb->face_edges + j];
            if (gc_clear_owns_edge(q, mb, b, f) && gc_deep_edges(q, e, f, l->most, &o)) gc_deep_add(q, l, GC_EE, e, f, &o);
        }
    }
}

GC_KERNEL void c02_depth(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers */
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,
    GC_GLOBAL const gc_raster *nodes_in,
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_uchar *spins_in, /* as s08_contacts; read where GC_BODY_MOTION is 1 */
    GC_GLOBAL const gc_real *spin_in,
    GC_GLOBAL const gc_real *most_in, /* (n_pairs,) nothing deeper is asked for; below 0: the least, of two convex bodies */
    gc_real moment,                   /* s in [-1/2, 1/2] */
    int capacity,
    GC_GLOBAL int *deep_out,      /* (capacity, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL gc_real *place_out, /* (capacity, GC_DEEP_STRIDE) */
    GC_GLOBAL int *n_deep_out)    /* (1,) zero before */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        gc_clear q;
        gc_deep_list l;
        gc_deep whole;
        gc_deep_two stack[GC_CLEAR_STACK];
        int n, body = pairs_in[2 * todo_in[i]];
        l.pair = todo_in[i];
        l.deep = deep_out;
        l.place = place_out;
        l.count = n_deep_out;
        l.capacity = capacity;
        l.spins = spins_in;
        l.spin = spin_in;
        l.convex = most_in[l.pair] < GC_R(0.0);
        q.t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_deep_load(&q, pairs_in, shape_in, screw_in, trees_in, nodes_in, l.pair, moment);
        l.least = l.convex ? GC_R(-1.0) : gc_deep_overlap(&q);
        l.most = most_in[l.pair] * q.shrink;
        l.world = gc_deep_world_of(
            &q, start_position_in, start_quat_in, end_position_in, end_quat_in,
            mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[body], body, moment);
        if (l.convex) {
            if (gc_deep_convex(&q, &l)) continue;
            gc_whole_apart(&q, &whole);
            l.most = whole.depth + GC_TOL_TOUCH * q.size;
        }
        stack[0].a = gc_node_of(q.a.height, 0);
        stack[0].b = gc_node_of(q.b.height, 0);
        stack[0].reach_a = q.screw.radius_a;
        stack[0].reach_b = q.screw.radius_b;
        stack[0].least = GC_R(0.0);
        n = 1;
        while (n > 0) {
            gc_deep_two o = stack[--n];
            if (o.least > l.most) continue;
            if (gc_node_level(o.a) || gc_node_level(o.b)) n = gc_deep_divide(&q, &o, l.convex, l.most, stack, n);
            else
                gc_deep_leaf(
                    &q, &l, gc_clear_face(&q, &q.a, gc_node_place(o.a)), gc_clear_face(&q, &q.b, gc_node_place(o.b)));
        }
    }
}

/* the edges that a face of the other body owns, through face f of A (side 0) or B */
GC_FN void gc_cut_face(
    const gc_clear *q,
    int pair,
    int side,
    int f,
    int g,
    int capacity,
    GC_GLOBAL int *cuts,
    GC_GLOBAL gc_real *places,
    GC_GLOBAL int *count)
{
    const gc_mesh *m = side ? &q->a.mesh : &q->b.mesh;
    int j = q->t.topology[m->face_start + g], end = q->t.topology[m->face_start + g + 1], enters = 0, at;
    end = j + gc_clear_sides(m, end - j);
    for (; j < end; ++j) {
        int e = q->t.topology[m->face_edges + j];
        gc_real along;
        GC_GLOBAL int *to;
        if (!gc_clear_owns_edge(q, m, g, e)) continue;
        along = gc_cut_at(q, side, f, e, &enters);
        if (along < GC_R(0.0)) continue;
        at = GC_ATOMIC_ADD(count, 1);
        if (at < 0 || at >= capacity) continue;
        to = cuts + GC_PASSAGE_STRIDE * (gc_long)at;
        to[GC_PASSAGE_pair] = pair;
        to[GC_PASSAGE_of] = 1 - side;
        to[GC_PASSAGE_edge] = e;
        to[GC_PASSAGE_face] = f;
        to[GC_PASSAGE_enters] = enters;
        places[at] = along;
    }
}

GC_KERNEL void c02_cuts(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers */
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,
    GC_GLOBAL const gc_raster *nodes_in,
    gc_real moment,
    int capacity,
    GC_GLOBAL int *cut_out,        /* (capacity, GC_PASSAGE_STRIDE) */
    GC_GLOBAL gc_real *cut_at_out, /* (capacity,) 0 to 1 along the edge */
    GC_GLOBAL int *n_cuts_out)     /* (1,) zero before */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        gc_clear q;
        gc_deep_two stack[GC_CLEAR_STACK];
        gc_real way;
        int n = 1, k;
        q.t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_deep_load(&q, pairs_in, shape_in, screw_in, trees_in, nodes_in, todo_in[i], moment);
        gc_deep_nudge(&q);
        stack[0].a = gc_node_of(q.a.height, 0);
        stack[0].b = gc_node_of(q.b.height, 0);
        while (n > 0) {
            gc_deep_two o = stack[--n];
            int level_a = gc_node_level(o.a), level_b = gc_node_level(o.b), of_a, level;
            gc_clear_box box_a = gc_clear_box_of(&q, &q.a, o.a), box_b = gc_clear_box_of(&q, &q.b, o.b);
            if (gc_clear_boxes(&q, &box_a, &box_b, GC_R(0.0), GC_R(0.0), &way) > GC_R(0.0)) continue;
            if (!level_a && !level_b) {
                int a = gc_clear_face(&q, &q.a, gc_node_place(o.a)), b = gc_clear_face(&q, &q.b, gc_node_place(o.b));
                gc_cut_face(&q, todo_in[i], 0, a, b, capacity, cut_out, cut_at_out, n_cuts_out);
                gc_cut_face(&q, todo_in[i], 1, b, a, capacity, cut_out, cut_at_out, n_cuts_out);
                continue;
            }
            of_a = level_a && (!level_b || box_a.reach >= box_b.reach);
            level = (of_a ? level_a : level_b) - 1;
            for (k = 1; k >= 0; --k) {
                int place = 2 * gc_node_place(of_a ? o.a : o.b) + k;
                if (place >= ((of_a ? q.a.faces : q.b.faces) + (1 << level) - 1) >> level) continue;
                stack[n] = o;
                if (of_a) stack[n].a = gc_node_of(level, place);
                else stack[n].b = gc_node_of(level, place);
                n += 1;
            }
        }
    }
}

/* the nodes and cuts of a pair, from lists; place: of the pair in them */
GC_FN gc_deep_regions gc_deep_regions_at(
    int place,
    int vertices_of_a,
    GC_GLOBAL const int *cut_start,
    GC_GLOBAL const int *cuts,
    GC_GLOBAL const gc_real *at,
    GC_GLOBAL const int *node_start,
    GC_GLOBAL int *nodes,
    GC_GLOBAL int *loops)
{
    gc_deep_regions g;
    int first = cut_start[place];
    g.up = nodes + node_start[place];
    g.loops = loops + first;
    g.cuts = cuts + GC_PASSAGE_STRIDE * first;
    g.at = at + first;
    g.n = cut_start[place + 1] - first;
    g.vertices[0] = g.n;
    g.vertices[1] = g.n + vertices_of_a;
    return g;
}

GC_KERNEL void c02_regions(
    int n_todo,
    GC_GLOBAL const int *todo_in,  /* (n_todo,) pair numbers */
    GC_GLOBAL const int *pairs_in, /* as GC_PAIR_ARGS */
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const int *cut_start_in, /* (n_todo + 1,) */
    GC_GLOBAL const int *cut_in,       /* in order of pair, body, edge, place */
    GC_GLOBAL const gc_real *cut_at_in,
    GC_GLOBAL const int *link_start_in, /* (n_todo + 1,) */
    GC_GLOBAL const int *link_in,       /* (links, GC_LINK_STRIDE) */
    GC_GLOBAL const int *node_start_in, /* (n_todo + 1,) */
    GC_GLOBAL int *loop_out,            /* of each cut the first one of its closed line */
    GC_GLOBAL int *node_out)            /* region of each node, or -1: none; a region is told by its first cut */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int pair = todo_in[i], nodes, k;
        gc_mesh a, b;
        gc_deep_regions g;
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair]], &a);
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair + 1]], &b);
        g = gc_deep_regions_at(i, a.nv, cut_start_in, cut_in, cut_at_in, node_start_in, node_out, loop_out);
        nodes = node_start_in[i + 1] - node_start_in[i];
        for (k = 0; k < nodes; ++k) g.up[k] = k;
        for (k = link_start_in[i]; k < link_start_in[i + 1]; ++k)
            gc_region_join(&g, link_in[GC_LINK_STRIDE * k + GC_LINK_one], link_in[GC_LINK_STRIDE * k + GC_LINK_other]);
        for (k = 0; k < g.n; ++k) g.loops[k] = gc_region_root(&g, k);
        k = gc_region_edges(&g, topology_in, &a, 0, 0);
        gc_region_edges(&g, topology_in, &b, 1, k);
        /* what is above a node is before it */
        for (k = 0; k < nodes; ++k) g.up[k] = g.up[k] == k ? (k < g.n ? k : -1) : g.up[g.up[k]];
    }
}

GC_KERNEL void c02_own(
    int n_deep,
    GC_GLOBAL const int *deep_in, /* (n_deep, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL const gc_real *place_in,
    GC_GLOBAL const int *listed_in, /* (n_deep,) place of the pair in the lists, or -1 */
    GC_GLOBAL const int *pairs_in,  /* as GC_PAIR_ARGS */
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const int *cut_start_in, /* as c02_regions */
    GC_GLOBAL const int *cut_in,
    GC_GLOBAL const gc_real *cut_at_in,
    GC_GLOBAL const int *node_start_in,
    GC_GLOBAL int *loop_in,
    GC_GLOBAL int *node_in,
    GC_GLOBAL int *region_out) /* (n_deep,) region of each pair of features; -1: none; 0 of a pair in no list */
{
    for (int i = GC_ITEM_LO(n_deep); i < GC_ITEM_HI(n_deep); i += GC_ITEM_STEP(n_deep)) {
        GC_GLOBAL const int *o = deep_in + GC_CANDIDATE_STRIDE * i;
        GC_GLOBAL const gc_real *place = place_in + GC_DEEP_STRIDE * i;
        int kind = o[GC_CANDIDATE_kind], pair = o[GC_CANDIDATE_pair], in_a = -1, in_b = -1;
        gc_mesh a, b;
        gc_deep_regions g;
        region_out[i] = 0;
        if (listed_in[i] < 0) continue;
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair]], &a);
        gc_mesh_load(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * pair + 1]], &b);
        g = gc_deep_regions_at(listed_in[i], a.nv, cut_start_in, cut_in, cut_at_in, node_start_in, node_in, loop_in);
        if (kind == GC_FV) in_b = g.up[g.vertices[1] + o[GC_CANDIDATE_b]];
        else if (kind == GC_VF) in_a = g.up[g.vertices[0] + o[GC_CANDIDATE_a]];
        else {
            in_a = gc_region_of_place(&g, topology_in, &a, 0, o[GC_CANDIDATE_a], place[GC_DEEP_at_a]);
            in_b = gc_region_of_place(&g, topology_in, &b, 1, o[GC_CANDIDATE_b], place[GC_DEEP_at_b]);
        }
        region_out[i] = in_a < 0 ? in_b : (in_b < 0 || in_b == in_a ? in_a : -1);
    }
}

GC_KERNEL void c02_reach(
    int n_items,
    GC_GLOBAL const int *item_in, /* (n_items, GC_REGION_STRIDE) */
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,
    GC_GLOBAL const gc_raster *nodes_in,
    GC_GLOBAL const gc_real *start_position_in,
    GC_GLOBAL const gc_real *start_quat_in,
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_uchar *spins_in,
    GC_GLOBAL const gc_real *spin_in,
    gc_real moment,
    GC_GLOBAL const int *cut_start_in, /* as c02_regions */
    GC_GLOBAL const int *cut_in,
    GC_GLOBAL const gc_real *cut_at_in,
    GC_GLOBAL const int *link_start_in,
    GC_GLOBAL const int *link_in,
    GC_GLOBAL const int *node_start_in,
    GC_GLOBAL int *loop_in,
    GC_GLOBAL int *node_in,
    GC_GLOBAL int *deep_out,      /* (n_items, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL gc_real *place_out) /* (n_items, GC_DEEP_STRIDE) */
{
    for (int i = GC_ITEM_LO(n_items); i < GC_ITEM_HI(n_items); i += GC_ITEM_STEP(n_items)) {
        GC_GLOBAL const int *item = item_in + GC_REGION_STRIDE * i;
        int pair = item[GC_REGION_pair], at = item[GC_REGION_place], body = pairs_in[2 * pair], apart = 1;
        gc_clear q;
        gc_deep_list l;
        gc_deep o;
        q.t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
        gc_deep_load(&q, pairs_in, shape_in, screw_in, trees_in, nodes_in, pair, moment);
        o.at_a = o.at_b = GC_R(0.0);
        if (at >= 0) {
            int link = link_start_in[at];
            gc_clear moved = q;
            gc_region_span span;
            gc_deep_regions g = gc_deep_regions_at(
                at, q.a.mesh.nv, cut_start_in, cut_in, cut_at_in, node_start_in, node_in, loop_in);
            gc_deep_nudge(&moved);
            apart = !gc_region_span_of(
                &moved, &g, link_in + GC_LINK_STRIDE * link, link_start_in[at + 1] - link, item[GC_REGION_first], &span);
            o.depth = span.top - span.bottom;
            o.normal = span.normal;
            o.on_a = span.on_a;
            o.on_b = span.on_b;
            o.limit = GC_DEEP_PAIR * o.depth;
        }
        if (apart) {
            gc_whole_apart(&q, &o);
            o.limit = o.depth;
        }
        l.world = gc_deep_world_of(
            &q, start_position_in, start_quat_in, end_position_in, end_quat_in,
            mesh_reals_in + GC_MESH_REAL_STRIDE * shape_in[body], body, moment);
        l.spins = spins_in;
        l.spin = spin_in;
        l.pair = pair;
        gc_deep_store(&q, &l, GC_NO_PLACE, -1, -1, &o, deep_out + GC_CANDIDATE_STRIDE * i, place_out + GC_DEEP_STRIDE * i);
    }
}
