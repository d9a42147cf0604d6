/* screen: stages s02 to s06 of one item after another, in the order of their names.
 * needs: bvh/gc_near.h screw/s02_facing.c screw/s03_project.c screw/s04_sort.c screw/s05_vertex_face.c screw/s06_edge_edge.c
 *
 * in:  screw records (s01), mesh tables, items: a pair and a part of each of its meshes (the whole, or a patch)
 * out: candidates of all items in one list, order of no meaning; with refine = pixels those a pixel apart as well
 * One group per item; its work-items share scratch. An item that needs more scratch than there is is marked in
 * no_room_out and emits nothing; the need is in need_out and the host runs it again.
 */

GC_FN void gc_zero_counts(const gc_search *q)
{
    if (GC_LOCAL_ID != 0) return;
    *q->va.count = 0;
    *q->ea.count = 0;
    *q->fa.count = 0;
    *q->vb.count = 0;
    *q->eb.count = 0;
    *q->fb.count = 0;
}

/* rows that both bodies reach; hulls: six hulls, in the order va ea fa vb eb fb */
GC_FN gc_rows gc_rows_make(const gc_view *w, GC_GLOBAL const gc_raster *hulls, gc_raster height)
{
    gc_rows r;
    gc_raster a0 = GC_CULL_FAR, a1 = -GC_CULL_FAR, b0 = GC_CULL_FAR, b1 = -GC_CULL_FAR, lo, hi, n;
    int i;
    for (i = 0; i < 3; ++i) {
        a0 = GC_MIN(hulls[GC_HULL_STRIDE * i + GC_HULL_r0], a0);
        a1 = GC_MAX(hulls[GC_HULL_STRIDE * i + GC_HULL_r1], a1);
        b0 = GC_MIN(hulls[GC_HULL_STRIDE * (3 + i) + GC_HULL_r0], b0);
        b1 = GC_MAX(hulls[GC_HULL_STRIDE * (3 + i) + GC_HULL_r1], b1);
    }
    lo = GC_MAX(a0, b0) - w->pad;
    hi = GC_MIN(a1, b1) + w->pad;
    r.base = lo;
    r.height = GC_MAX(height, GC_F(8.0) * w->pad);
    n = GC_FLOOR_R((hi - lo) / r.height) + GC_F(1.0);
    r.n = n < GC_F(0.0) ? 0 : (n > (gc_raster)GC_MAX_ROWS ? GC_MAX_ROWS + 1 : (int)n);
    return r;
}

/* s02: place, keep, box, select. Returns 0 if nothing can meet or the scratch is too small. */
GC_LARGE int gc_search_features(
    gc_search *q,
    const gc_screw *k,
    gc_scratch *s,
    GC_GLOBAL const gc_raster *vertices_in,
    GC_GLOBAL const gc_raster *normals_in,
    GC_GLOBAL gc_raster **hulls_out,
    int rows)
{
    gc_list va, ea, fa, vb, eb, fb;
    GC_GLOBAL gc_raster *hulls;
    gc_real shrink = k->shrink;
    const gc_view *w = &q->view;
    int copies = w->wraps ? GC_MAX_COPIES : 1, fields = rows ? GC_LIST_u0 : GC_LIST_p0;
    /* psi is asked of B's hulls alone, and only where A has copies; what part of an edge is left, of edges */
    int bounded = w->wraps ? GC_HULL_STRIDE : GC_LIST_p0, of_edges = rows ? GC_LIST_STRIDE : GC_LIST_p0;
    gc_take_body(s, &q->mesh_a, GC_F(-1.0), &q->a);
    gc_take_body(s, &q->mesh_b, GC_F(1.0), &q->b);
    va = gc_take_list(s, q->mesh_a.nv);
    ea = gc_take_list(s, q->mesh_a.ne);
    fa = gc_take_list(s, q->mesh_a.nf);
    vb = gc_take_list(s, q->mesh_b.nv);
    eb = gc_take_list(s, q->mesh_b.ne);
    fb = gc_take_list(s, q->mesh_b.nf);
    q->va = gc_take_list(s, q->mesh_a.nv * copies);
    q->ea = gc_take_list(s, q->mesh_a.ne * copies);
    q->fa = gc_take_list(s, q->mesh_a.nf * copies);
    q->vb = gc_take_list(s, q->mesh_b.nv);
    q->eb = gc_take_list(s, q->mesh_b.ne);
    q->fb = gc_take_list(s, q->mesh_b.nf);
    hulls = gc_take_reals(s, 6 * GC_HULL_STRIDE);
    *hulls_out = hulls;
    if (!gc_fits(s)) return 0;
    gc_zero_counts(q);
    if (GC_LOCAL_ID == 0) {
        *va.count = 0;
        *ea.count = 0;
        *fa.count = 0;
        *vb.count = 0;
        *eb.count = 0;
        *fb.count = 0;
    }
    s02_place(w, &q->a, &q->mesh_a, vertices_in, k->ra, k->ta, shrink);
    s02_place(w, &q->b, &q->mesh_b, vertices_in, k->rb, k->tb, shrink);
    GC_BARRIER();
    s02_faces_edges(w, &q->a, &q->mesh_a, q->topology, normals_in, k->ra);
    s02_faces_edges(w, &q->b, &q->mesh_b, q->topology, normals_in, k->rb);
    GC_BARRIER();
    s02_faces(w, &q->a, &q->mesh_a, q->topology, &fa);
    s02_faces(w, &q->b, &q->mesh_b, q->topology, &fb);
    GC_BARRIER();
    s02_vertices(w, &q->a, &q->mesh_a, q->topology, &va);
    s02_vertices(w, &q->b, &q->mesh_b, q->topology, &vb);
    s02_edges_keep(&q->a, &q->mesh_a, q->topology, &ea);
    s02_edges_keep(&q->b, &q->mesh_b, q->topology, &eb);
    GC_BARRIER();
    s02_edges_box(w, &q->a, &q->mesh_a, q->topology, &ea);
    s02_edges_box(w, &q->b, &q->mesh_b, q->topology, &eb);
    GC_BARRIER();
    /* a few vector instructions test all of a small body's boxes: sooner done than sorted out what can be left away */
    if (!rows && !w->wraps && q->mesh_a.ne <= GC_BLOCK && q->mesh_b.ne <= GC_BLOCK) {
        q->va = va;
        q->ea = ea;
        q->fa = fa;
        q->vb = vb;
        q->eb = eb;
        q->fb = fb;
        return 1;
    }
    s02_hull(w, &vb, bounded, hulls + 3 * GC_HULL_STRIDE);
    s02_hull(w, &eb, bounded, hulls + 4 * GC_HULL_STRIDE);
    s02_hull(w, &fb, bounded, hulls + 5 * GC_HULL_STRIDE);
    GC_BARRIER();
    /* vertices against faces, edges against edges, faces against vertices */
    s02_select(w, &va, hulls + 5 * GC_HULL_STRIDE, &q->va, 1, fields);
    s02_select(w, &ea, hulls + 4 * GC_HULL_STRIDE, &q->ea, 1, of_edges);
    s02_select(w, &fa, hulls + 3 * GC_HULL_STRIDE, &q->fa, 1, fields);
    GC_BARRIER();
    s02_hull(w, &q->va, GC_LIST_p0, hulls);
    s02_hull(w, &q->ea, GC_LIST_p0, hulls + GC_HULL_STRIDE);
    s02_hull(w, &q->fa, GC_LIST_p0, hulls + 2 * GC_HULL_STRIDE);
    GC_BARRIER();
    s02_select(w, &vb, hulls + 2 * GC_HULL_STRIDE, &q->vb, 0, fields);
    s02_select(w, &eb, hulls + GC_HULL_STRIDE, &q->eb, 0, of_edges);
    s02_select(w, &fb, hulls, &q->fb, 0, fields);
    GC_BARRIER();
    return 1;
}

/* Counts of s03 for rows of the given height; returns 0 if the scratch is too small. counts: records of A's and B's edges,
 * spans of A's and B's faces. */
GC_FN int gc_count_rows(
    gc_search *q,
    gc_scratch *s,
    GC_GLOBAL gc_raster *hulls,
    gc_raster height,
    GC_GLOBAL int *counts,
    gc_records *ra,
    gc_records *rb,
    gc_records *sa,
    gc_records *sb,
    gc_records *da,
    gc_records *db)
{
    const gc_view *w = &q->view;
    q->rows = gc_rows_make(w, hulls, height);
    if (q->rows.n <= 0) return 0;
    if (q->rows.n > GC_MAX_ROWS) s->reals_used = GC_NO_SUCH_ROOM;
    else {
        gc_take_branches(s, 2 * *q->ea.count, q->rows.n, ra);
        gc_take_branches(s, 2 * *q->eb.count, q->rows.n, rb);
        gc_take_branches(s, *q->fa.count, q->rows.n, sa);
        gc_take_branches(s, *q->fb.count, q->rows.n, sb);
        gc_take_branches(s, *q->va.count, q->rows.n, da);
        gc_take_branches(s, *q->vb.count, q->rows.n, db);
    }
    if (!gc_fits(s)) return 0;
    if (GC_LOCAL_ID == 0) {
        counts[0] = 0;
        counts[1] = 0;
        counts[2] = 0;
        counts[3] = 0;
    }
    GC_BARRIER();
    s03_edges_count(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->ea, ra, counts);
    s03_edges_count(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->eb, rb, counts + 1);
    s03_faces_count(w, &q->rows, &q->fa, sa, counts + 2);
    s03_faces_count(w, &q->rows, &q->fb, sb, counts + 3);
    GC_BARRIER();
    return 1;
}

/* s03 to s06 through rows */
GC_LARGE void gc_search_rows(gc_search *q, gc_scratch *s, GC_GLOBAL gc_raster *hulls, gc_raster height)
{
    gc_records ra, rb, sa, sb, da, db;
    gc_scratch before;
    const gc_view *w = &q->view;
    GC_GLOBAL int *counts = gc_take_ints(s, 4);
    gc_long entries, records;
    int tries = 0;
    s02_hull(w, &q->vb, GC_LIST_p0, hulls + 3 * GC_HULL_STRIDE);
    s02_hull(w, &q->eb, GC_LIST_p0, hulls + 4 * GC_HULL_STRIDE);
    s02_hull(w, &q->fb, GC_LIST_p0, hulls + 5 * GC_HULL_STRIDE);
    GC_BARRIER();
    before = *s;
    entries = (gc_long)*q->ea.count + *q->eb.count + *q->fa.count + *q->fb.count;
    /* The height only changes the speed. Long thin faces cross every row, and rows made for the short edges then cost more
     * than they save: make them so high that there are few records an edge. */
    height = GC_MAX(
        height,
        (hulls[GC_HULL_STRIDE + GC_HULL_r1] - hulls[GC_HULL_STRIDE + GC_HULL_r0]) / (GC_F(64.0) + (gc_raster)entries));
    do {
        *s = before;
        if (!gc_count_rows(q, s, hulls, height, counts, &ra, &rb, &sa, &sb, &da, &db)) return;
        records = (gc_long)counts[0] + counts[1] + counts[2] + counts[3];
        if (records <= 8 * entries + 1024 || tries >= 4) break;
        height = height * (gc_raster)records / (gc_raster)(4 * entries + 512);
        GC_BARRIER(); /* all have read the counts */
        tries += 1;
    } while (1);
    gc_take_records(s, counts[0], &ra);
    gc_take_records(s, counts[1], &rb);
    gc_take_records(s, counts[2], &sa);
    gc_take_records(s, counts[3], &sb);
    gc_take_records(s, *q->va.count, &da);
    gc_take_records(s, *q->vb.count, &db);
    if (!gc_fits(s)) return;
    s03_edges_fill(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->ea, &ra);
    s03_edges_fill(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->eb, &rb);
    s03_faces_fill(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->fa, &sa);
    s03_faces_fill(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->fb, &sb);
    s03_vertices(&q->rows, &q->va, &da);
    s03_vertices(&q->rows, &q->vb, &db);
    GC_BARRIER();
    s04_sort(&q->rows, &ra, 2 * *q->ea.count);
    s04_sort(&q->rows, &rb, 2 * *q->eb.count);
    s04_sort(&q->rows, &sa, *q->fa.count);
    s04_sort(&q->rows, &sb, *q->fb.count);
    s04_sort(&q->rows, &da, *q->va.count);
    s04_sort(&q->rows, &db, *q->vb.count);
    s05_rows(q, GC_VF, &q->va, &q->fb, &sb, &da);
    s05_rows(q, GC_FV, &q->vb, &q->fa, &sa, &db);
    s06_rows(q, &ra, &rb);
}

/* k becomes the near frame of joined patches, whose vertices are relative to its origin */
GC_LARGE gc_view gc_near_frame(gc_screw *k, gc_real min_properness, int reach)
{
    gc_screw n;
    gc_view w;
    gc_screw_near(k, &n);
    w = gc_near_view(k, &n, min_properness, (gc_raster)reach);
    gc_near_shift(&n, n.ra, n.ta);
    gc_near_shift(&n, n.rb, n.tb);
    *k = n;
    return w;
}

GC_KERNEL void screen(
    int n_todo,
    GC_GLOBAL const int *todo_in,      /* (n_todo,) item numbers, below 0: none */
    GC_GLOBAL const int *items_in,     /* (n_items, GC_ITEM_STRIDE) */
    GC_GLOBAL const gc_real *screw_in, /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *headers_in,   /* (parts, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_raster *vertices_in,       /* per part x, y, z blocks, centred */
    GC_GLOBAL const gc_raster *normals_in,        /* per part x, y, z blocks */
    GC_GLOBAL const gc_raster *inverse_length_in, /* (edges,) 1 / length */
    GC_GLOBAL const int *edge0_in,                /* (parts,) where a part's edges begin there */
    GC_GLOBAL const int *reach_in,                /* (parts,) of joined patches, see b06_gather */
    GC_GLOBAL const gc_real *row_height_in,       /* (n_pairs,) user units */
    gc_real min_properness,
    int refine,
    int candidates,
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, reals_per_group) */
    GC_GLOBAL int *scratch_ints,        /* (groups, ints_per_group) */
    int reals_per_group,
    int ints_per_group,
    int capacity,
    GC_GLOBAL const int *state_in,     /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL int *no_room_out,        /* (n_items,) set to 1 where the scratch was too small */
    GC_GLOBAL int *need_out,           /* (2,) scratch that would have been needed */
    GC_GLOBAL int *n_candidates_out,   /* (1,) */
    GC_GLOBAL int *candidates_out,     /* (capacity, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL gc_raster *brackets_out) /* (capacity, GC_BRACKET_STRIDE) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int item = todo_in[g];
            GC_GLOBAL const int *parts = items_in + GC_ITEM_STRIDE * GC_MAX(item, 0);
            int pair = parts[GC_ITEM_pair], ma = parts[GC_ITEM_part_a], mb = parts[GC_ITEM_part_b];
            gc_screw k;
            gc_search q;
            gc_scratch s;
            GC_GLOBAL gc_raster *hulls;
            int usable = item >= 0 && !state_in[pair], rows; /* s01 may have settled it */
            if (usable) {
                gc_mesh_load(headers_in + GC_MESH_STRIDE * ma, &q.mesh_a);
                gc_mesh_load(headers_in + GC_MESH_STRIDE * mb, &q.mesh_b);
                gc_screw_load(screw_in + GC_SCREW_STRIDE * pair, &k);
                if (q.mesh_a.near_faces < 0) q.view = gc_view_make(&k, min_properness);
                else q.view = gc_near_frame(&k, min_properness, GC_MAX(reach_in[ma], reach_in[mb]));
                q.topology = topology_in;
                q.inverse_length_a = inverse_length_in + edge0_in[ma];
                q.inverse_length_b = inverse_length_in + edge0_in[mb];
                q.scale = (gc_raster)k.scale;
                q.candidates = candidates_out;
                q.brackets = brackets_out;
                q.n_candidates = n_candidates_out;
                q.capacity = capacity;
                q.pair = pair;
                if (refine == GC_REFINE_PIXELS)
                    q.view.pixel = GC_MAX((gc_raster)(row_height_in[pair] * k.shrink), GC_F(8.0) * q.view.pad);
                s = gc_scratch_of(
                    scratch_reals, scratch_ints, reals_per_group, ints_per_group, need_out, no_room_out + item);
                /* joined patches have no whole faces' surroundings for rows to follow */
                rows = q.mesh_a.near_faces < 0
                       && (candidates == GC_CANDIDATES_RASTER
                           || (candidates == GC_CANDIDATES_AUTO
                               && (gc_long)q.mesh_a.ne * q.mesh_b.ne > GC_AUTO_EDGE_PRODUCT));
                if (gc_search_features(&q, &k, &s, vertices_in, normals_in, &hulls, rows)) {
                    if (rows) {
                        gc_search_rows(&q, &s, hulls, (gc_raster)(row_height_in[pair] * k.shrink));
                    } else {
                        s05_pairs(&q, GC_VF, &q.va, &q.fb);
                        s05_pairs(&q, GC_FV, &q.vb, &q.fa);
                        s06_pairs(&q, &q.ea, &q.eb);
                    }
                }
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
