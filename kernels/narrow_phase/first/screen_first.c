/* screen_first: the first contact alone, for pairs of large meshes, from s01 to hits (s02 to s07 in one).
 * needs: narrow_phase/near/gc_node_distance.h narrow_phase/near/gc_node_pairs.h narrow_phase/solve/gc_solve.h
 *
 * in:  screw records (s01), the meshes' trees of faces
 * out: hits: all that a pair has up to its first contact and a little longer, and some of the later ones
 * One group per pair. Both trees are traversed by pairs of nodes, the earliest first (by a single work-item; among many,
 * several at a time, the most recent first). For two faces that meet, the features that they own are solved: each edge and
 * each vertex belongs to the first face in its list. A hit closes the time window of its pair: what begins later is dropped.
 * Which hits are found after the first contact depends on the order; which are found up to it does not, nor does what s08
 * makes of them (docs/decisions/0061).
 * Degenerate: without any contact the traversal continues as long as nodes come near, as b05; where it has cost more than
 * the screen would, as for a bolt in its nut, the pair is left to the screen, which finds again what was found
 * (docs/decisions/0075).
 */

/* pairs of nodes beside those of the heap, for what is below one of them: seven for every third level of two trees */
#define GC_FIRST_RESERVE 160

/* what a walk knows of its pair */
typedef struct {
    gc_node_distance near;
    gc_pair pair;
    gc_tree_side a, b;
    gc_node_pairs todo;
    gc_raster margin; /* how much longer than to a hit the window is open */
    int number;
    int most; /* pairs of nodes that it looks at before it is left to the screen; 0: as many as there are */
} gc_first;

/* How many pairs of nodes are looked at of two meshes before they are left to the screen; 0: as many as there are. */
GC_FN int gc_first_most(int faces_a, int faces_b, int given_up)
{
    if (GC_MAX(faces_a, faces_b) > given_up) return 0;
    return (int)(GC_FIRST_LOOKS * (gc_raster)(faces_a + faces_b));
}

/* until when the window of the pair is open */
GC_FN gc_raster gc_first_until(const gc_first *f, GC_GLOBAL const int *shut)
{
    int code = shut[f->number];
    return code > 0 ? gc_hit_late(code) + f->margin : GC_F(1.0);
}

/* the face of a leaf */
GC_FN int gc_leaf_face(const gc_tables *parts, const gc_tree_side *t, int leaf)
{
    int patch = t->tree[GC_TREE_patch] + (leaf >> GC_PATCH_LEVEL), within = leaf & ((1 << GC_PATCH_LEVEL) - 1);
    return parts->topology[parts->headers[GC_MESH_STRIDE * patch + GC_MESH_source_faces] + within];
}

GC_FN int gc_owns_vertex(const gc_tables *t, const gc_mesh *m, int f, int v)
{
    return t->topology[m->vertex_faces + t->topology[m->vertex_face_start + v]] == f;
}

GC_FN int gc_owns_edge(const gc_tables *t, const gc_mesh *m, int f, int e)
{
    return t->topology[m->edge_faces + t->topology[m->edge_face_start + e]] >> 1 == f;
}

/* all features of face fa against all of fb */
GC_LARGE void gc_solve_faces(
    const gc_first *f,
    const gc_tables *t,
    const gc_hits *o,
    int fa,
    int fb,
    gc_real s0,
    gc_real s1,
    GC_GLOBAL int *state_out)
{
    const gc_pair *p = &f->pair;
    const gc_mesh *a = gc_mesh_a(p), *b = gc_mesh_b(p);
    int a0 = t->topology[a->face_start + fa], a1 = t->topology[a->face_start + fa + 1];
    int b0 = t->topology[b->face_start + fb], b1 = t->topology[b->face_start + fb + 1], i, j, good = 1;
    for (i = a0; i < a1; ++i) {
        int v = t->topology[a->face_vertices + i];
        if (gc_owns_vertex(t, a, fa, v)) good &= gc_solve_exact(t, p, o, f->number, GC_VF, v, fb, s0, s1);
    }
    for (j = b0; j < b1; ++j) {
        int v = t->topology[b->face_vertices + j];
        if (gc_owns_vertex(t, b, fb, v)) good &= gc_solve_exact(t, p, o, f->number, GC_FV, fa, v, s0, s1);
    }
    for (i = a0; i < a1; ++i) {
        int ea = t->topology[a->face_edges + i];
        if (!gc_owns_edge(t, a, fa, ea)) continue;
        for (j = b0; j < b1; ++j) {
            int eb = t->topology[b->face_edges + j];
            if (gc_owns_edge(t, b, fb, eb)) good &= gc_solve_exact(t, p, o, f->number, GC_EE, ea, eb, s0, s1);
        }
    }
    if (!good) GC_ATOMIC_MAX(state_out + f->number, GC_PAIR_UNRESOLVED);
}

/* A pair of nodes to those to be looked at: alone to the heap, or behind it where it is full. */
GC_FN void gc_first_add(const gc_first *f, gc_node_pair p)
{
    int i = GC_GROUP_ADD(f->todo.count, 1);
    if (i >= f->todo.room) return;
    if (GC_SERIAL && i < f->todo.room - GC_FIRST_RESERVE) gc_heap_push(&f->todo, i, p);
    else gc_node_pair_put(&f->todo, i, p);
}

/* the children of the larger node of a pair, against the other */
GC_LARGE void gc_first_split(const gc_first *f, const gc_node_pair *p, gc_raster until)
{
    int la = gc_node_level(p->a), lb = gc_node_level(p->b);
    int side = la == 0 || (lb > 0 && f->b.least * (gc_raster)(1 << lb) > f->a.least * (gc_raster)(1 << la));
    const gc_tree_side *t = side ? &f->b : &f->a;
    int from = side ? p->b : p->a, level = gc_level_below(gc_node_level(from)), up = gc_node_level(from) - level;
    int begin = gc_node_place(from) << up, n = GC_MIN(gc_side_size(t, level) - begin, 1 << up), j;
    gc_seen one;
    gc_node_pair q = *p;
    if (!gc_side_node(&f->near, side ? &f->a : &f->b, side ? p->a : p->b, &one)) return;
    if (GC_SERIAL) {
        gc_raster first[GC_PAGE], last[GC_PAGE];
        int slot = gc_side_page(&f->near, t, from), may = t->tags[2 * slot + 1];
        gc_page_when(&f->near, &one, t->pages + GC_PAGE_STRIDE * slot, side, until, first, last);
        for (j = 0; j < n; ++j) {
            if (!(may >> j & 1) || !(first[j] <= last[j])) continue;
            q.first = first[j];
            q.last = last[j];
            if (side) q.b = gc_node_of(level, begin + j);
            else q.a = gc_node_of(level, begin + j);
            gc_first_add(f, q);
        }
    } else {
        for (j = 0; j < n; ++j) {
            gc_seen child;
            int node = gc_node_of(level, begin + j);
            if (!gc_side_node(&f->near, t, node, &child)) continue;
            if (!gc_seen_when(&f->near, side ? &one : &child, side ? &child : &one, until, &q.first, &q.last)) continue;
            if (side) q.b = node;
            else q.a = node;
            gc_first_add(f, q);
        }
    }
}

/* one pair of nodes */
GC_LARGE void gc_first_look(
    const gc_first *f,
    const gc_tables *t,
    const gc_tables *parts,
    const gc_hits *o,
    const gc_node_pair *p,
    gc_raster until,
    GC_GLOBAL int *state_out)
{
    if (p->first > until) return;
    if (gc_node_level(p->a) + gc_node_level(p->b) > 0) gc_first_split(f, p, until);
    else
        gc_solve_faces(
            f, t, o, gc_leaf_face(parts, &f->a, gc_node_place(p->a)), gc_leaf_face(parts, &f->b, gc_node_place(p->b)),
            (gc_real)p->first, (gc_real)p->last, state_out);
}

/* The walk; 1 where it was given up. What has a state (a cap of the solver) the screen would not look at, so it goes on. All work-items of the group
 * take part. */
GC_FN int gc_first_walk(
    const gc_first *f,
    const gc_tables *t,
    const gc_tables *parts,
    const gc_hits *o,
    GC_GLOBAL int *state_out)
{
    int n = *f->todo.count, most = f->todo.room - GC_FIRST_RESERVE, looked = 0, settled;
    if (n > 0) do {
            gc_node_pair p;
            /* read here, where nobody writes it */
            gc_raster until = gc_first_until(f, o->shut);
            /* each taken leaves a page at most; where there is no room for that one after the other is, which leaves few */
            int take = GC_SERIAL ? 1 : GC_MAX(GC_MIN(GC_MIN(n, GC_GROUP_SIZE), (most - n) / (GC_PAGE - 1)), 1),
                mine = GC_LOCAL_ID < take;
            if (mine) {
                if (GC_SERIAL && n <= most) {
                    if (f->todo.when[0] > until) return 0; /* what is left is too late */
                    p = gc_heap_pop(&f->todo, n);
                } else p = gc_node_pair_at(&f->todo, n - 1 - GC_LOCAL_ID);
            }
            GC_BARRIER(); /* all have theirs */
            if (GC_LOCAL_ID == 0) *f->todo.count = n - take;
            GC_BARRIER();
            if (mine) gc_first_look(f, t, parts, o, &p, until, state_out);
            GC_BARRIER();
            n = *f->todo.count;
            settled = state_out[f->number];
            looked += take;
            GC_BARRIER(); /* all have read it */
            if (f->most > 0 && looked >= f->most && n > 0 && !settled) return 1;
        } while (n > 0);
    return 0;
}

GC_KERNEL void screen_first(
    int n_todo,
    GC_GLOBAL const int *todo_in, /* (n_todo,) pair numbers, below 0: none */
    GC_PAIR_ARGS,
    GC_GLOBAL const int *trees_in,       /* (meshes, GC_TREE_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    gc_real min_properness,
    int walked,                         /* > 0, see gc_goes_down */
    int given_up,                       /* pairs with a mesh of more faces are walked down to the end, whatever that takes */
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, reals_per_group) */
    GC_GLOBAL int *scratch_ints,        /* (groups, ints_per_group) */
    int room,                           /* pairs of nodes that a group holds; more than GC_FIRST_RESERVE */
    int capacity,
    GC_GLOBAL int *shut_out,      /* (n_pairs,) 0 before; how early a hit of the pair is */
    GC_GLOBAL gc_uchar *keep_out, /* (n_todo,) 1: the pair is left to the screen */
    GC_GLOBAL int *state_out,     /* (n_pairs,) */
    GC_GLOBAL int *pair_hits_out, /* (n_pairs,) hits of each pair */
    GC_GLOBAL int *n_hits_out,    /* (1,) may pass the capacity */
    GC_GLOBAL int *hit_out,       /* (capacity, GC_HIT_STRIDE) */
    GC_GLOBAL gc_real *value_out) /* (capacity, GC_HIT_REAL_STRIDE) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[g], kept = GC_SERIAL ? GC_KEPT_PAGES : 0, left = 0, i;
            GC_GLOBAL gc_raster *reals = scratch_reals + (gc_long)GC_SCRATCH_ID * (2 * room + 2 * kept * GC_PAGE_STRIDE);
            GC_GLOBAL int *ints = scratch_ints + (gc_long)GC_SCRATCH_ID * (2 * room + 4 * kept + 16);
            GC_GLOBAL const int *tree_a, *tree_b;
            GC_SHARED gc_first f;
            if (pair >= 0 && !(state_out[pair] & GC_PAIR_INVALID)) {
                tree_a = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair]];
                tree_b = trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair + 1]];
                if (gc_goes_down(walked, tree_a[GC_TREE_faces], tree_b[GC_TREE_faces])) {
                    gc_tables t = gc_tables_of(headers_in, topology_in, mesh_reals_in, vertices_in, planes_in);
                    gc_hits o = gc_hits_of(pair_hits_out, n_hits_out, hit_out, value_out, capacity, min_properness);
                    o.shut = shut_out;
                    if (GC_FILLS) {
                        f.number = pair;
                        f.most = gc_first_most(tree_a[GC_TREE_faces], tree_b[GC_TREE_faces], given_up);
                        f.todo.when = reals;
                        f.todo.nodes = ints + 16;
                        f.todo.count = ints;
                        f.todo.room = room;
                        f.a.tree = tree_a;
                        f.b.tree = tree_b;
                        f.a.nodes = nodes_in + (gc_long)GC_NODE_STRIDE * tree_a[GC_TREE_node];
                        f.b.nodes = nodes_in + (gc_long)GC_NODE_STRIDE * tree_b[GC_TREE_node];
                        f.a.pages = reals + 2 * room;
                        f.b.pages = f.a.pages + kept * GC_PAGE_STRIDE;
                        f.a.tags = ints + 16 + 2 * room;
                        f.b.tags = f.a.tags + 2 * kept;
                        f.a.side = 0;
                        f.b.side = 1;
                        f.a.height = tree_a[GC_TREE_height];
                        f.b.height = tree_b[GC_TREE_height];
                        gc_pair_load(pairs_in, shape_in, screw_in, &t, pair, &f.pair);
                        gc_node_distance_make(
                            screw_in + GC_SCREW_STRIDE * pair, min_properness, GC_REFINE_EXACT, GC_R(0.0), &f.near);
                        f.a.least = (gc_raster)(gc_screw_of(&f.pair)->radius_a * gc_screw_of(&f.pair)->radius_a
                                                / (gc_real)tree_a[GC_TREE_faces]);
                        f.b.least = (gc_raster)(gc_screw_of(&f.pair)->radius_b * gc_screw_of(&f.pair)->radius_b
                                                / (gc_real)tree_b[GC_TREE_faces]);
                        f.margin = GC_F(2e-6) + GC_FIRST_CHAIN * (gc_raster)gc_screw_of(&f.pair)->tau;
                    }
                    for (i = GC_LOCAL_ID; i < 4 * kept; i += GC_GROUP_SIZE) f.a.tags[i] = 0;
                    if (GC_LOCAL_ID == 0) *ints = 0;
                    GC_BARRIER();
                    if (GC_LOCAL_ID == 0) {
                        gc_node_pair all;
                        all.first = GC_F(-0.5);
                        all.last = GC_F(0.5);
                        all.a = gc_node_of(tree_a[GC_TREE_height], 0);
                        all.b = gc_node_of(tree_b[GC_TREE_height], 0);
                        gc_first_add(&f, all);
                    }
                    GC_BARRIER();
                    left = gc_first_walk(&f, &t, &t, &o, state_out);
                }
            }
            if (GC_LOCAL_ID == 0) keep_out[g] = (gc_uchar)left;
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
