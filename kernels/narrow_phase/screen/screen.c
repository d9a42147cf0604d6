/* screen: stages s02 to s06 for one item after another, in the order of their names.
 * needs: narrow_phase/near/gc_near.h narrow_phase/candidates/gc_cull.h narrow_phase/candidates/gc_select.h narrow_phase/candidates/s02_facing.c narrow_phase/rows/s03_project.c narrow_phase/rows/s04_sort.c narrow_phase/candidates/s05_vertex_face.c narrow_phase/candidates/s06_edge_edge.c
 *
 * in:  screw records (s01), mesh tables, items: a pair and a part of each of its meshes (the whole, or a patch)
 * out: candidates of all items in one list, in no particular order; with refine = pixels also those a pixel apart
 * One group per item; its work-items share scratch. An item that needs more scratch than there is is marked in no_room_out
 * and emits nothing; the need is in need_out, and the host runs the item again. By single work-items, without rows, an item
 * can be shared: one launch makes its lists, which stay in scratch of their own, and the next one searches shares of them,
 * one group each (docs/decisions/0083).
 */

/* What a search takes of the scratch before it knows how much it finds; by those who fill it. */
GC_FN void gc_search_take(gc_search *q, gc_scratch *s)
{
    gc_long copies = q->view.wraps ? GC_MAX_COPIES : 1;
    gc_take_body(s, &q->mesh_a, GC_F(-1.0), q->view.thetan, &q->a);
    gc_take_body(s, &q->mesh_b, GC_F(1.0), q->view.thetan, &q->b);
    gc_take_list(s, q->mesh_a.nv, &q->all_va);
    gc_take_list(s, q->mesh_a.ne, &q->all_ea);
    gc_take_list(s, q->mesh_a.nf, &q->all_fa);
    gc_take_list(s, q->mesh_b.nv, &q->all_vb);
    gc_take_list(s, q->mesh_b.ne, &q->all_eb);
    gc_take_list(s, q->mesh_b.nf, &q->all_fb);
    gc_take_list(s, q->mesh_a.nv * copies, &q->va);
    gc_take_list(s, q->mesh_a.ne * copies, &q->ea);
    gc_take_list(s, q->mesh_a.nf * copies, &q->fa);
    gc_take_list(s, q->mesh_b.nv, &q->vb);
    gc_take_list(s, q->mesh_b.ne, &q->eb);
    gc_take_list(s, q->mesh_b.nf, &q->fb);
    q->hulls = gc_take_reals(s, 6 * GC_HULL_STRIDE + (GC_SERIAL ? 0 : 2 * GC_GROUP_SIZE));
    q->hull_parts = q->hulls + 6 * GC_HULL_STRIDE;
    gc_take_met(s, q);
    gc_cull_take(s, q);
}

/* which share of an item is looked at, and room for what those who look at others' lists have to know of them */
GC_FN void gc_take_share(gc_scratch *s, gc_search *q, int shares, int share)
{
    if (!GC_SERIAL) return;
    q->lists = shares <= 0;
    q->share = shares > 0 ? share : 0;
    q->shares = shares > 0 ? shares : shares + 1;
    if (shares) q->kept = gc_take_ints(s, 1);
}

GC_FN void gc_zero_counts(const gc_search *q)
{
    if (GC_LOCAL_ID != 0) return;
    if (!GC_SERIAL) {
        q->n_met[0] = 0;
        q->n_met[1] = 0;
        q->n_met[2] = 0;
    }
    *q->all_va.count = 0;
    *q->all_ea.count = 0;
    *q->all_fa.count = 0;
    *q->all_vb.count = 0;
    *q->all_eb.count = 0;
    *q->all_fb.count = 0;
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

/* A step of s02 on one body. The step is a literal, and alone the side as well: what is left then is a call. */
#define GC_S02_PLACE 0
#define GC_S02_FACES_EDGES 1
#define GC_S02_FACES 2
#define GC_S02_KEEP 3
#define GC_S02_BOX 4
#define GC_S02_TURN 5
GC_INLINE void gc_search_body(
    const gc_search *q,
    int step,
    int side,
    GC_GLOBAL const gc_raster *vertices_in,
    GC_GLOBAL const gc_raster *normals_in)
{
    const gc_view *w = &q->view;
    const gc_body *body = side ? &q->b : &q->a;
    const gc_mesh *mesh = side ? &q->mesh_b : &q->mesh_a;
    const gc_list *edges = side ? &q->all_eb : &q->all_ea;
    if (step == GC_S02_PLACE) s02_place(w, body, mesh, vertices_in);
    if (step == GC_S02_TURN) s02_turn(w, body, mesh, normals_in);
    if (step == GC_S02_FACES_EDGES) s02_faces_edges(w, body, mesh, q->topology, normals_in);
    if (step == GC_S02_FACES) s02_faces(w, body, mesh, q->topology, side ? &q->all_fb : &q->all_fa);
    if (step == GC_S02_KEEP) {
        s02_vertices(w, body, mesh, q->topology, side ? &q->all_vb : &q->all_va);
        s02_edges_keep(body, mesh, q->topology, edges);
    }
    if (step == GC_S02_BOX) s02_edges_box(w, body, mesh, q->topology, edges);
}

GC_INLINE void gc_search_bodies(
    const gc_search *q,
    int step,
    GC_GLOBAL const gc_raster *vertices_in,
    GC_GLOBAL const gc_raster *normals_in)
{
    int side;
    if (GC_SERIAL) {
        gc_search_body(q, step, 0, vertices_in, normals_in);
        gc_search_body(q, step, 1, vertices_in, normals_in);
    } else {
        GC_ROLLED
        for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP) gc_search_body(q, step, side, vertices_in, normals_in);
    }
}

/* nothing is left out of the lists */
GC_FN void gc_same_lists(gc_search *q)
{
    gc_same_list(&q->all_va, &q->va);
    gc_same_list(&q->all_ea, &q->ea);
    gc_same_list(&q->all_fa, &q->fa);
    gc_same_list(&q->all_vb, &q->vb);
    gc_same_list(&q->all_eb, &q->eb);
    gc_same_list(&q->all_fb, &q->fb);
}

/* The lists that another launch has made. */
GC_FN void gc_search_kept(gc_search *q)
{
    q->has_hulls = *q->kept;
    if (!q->has_hulls) gc_same_lists(q);
}

/* s02: place, keep, box, select. */
GC_LARGE void gc_search_features(
    gc_search *q,
    GC_GLOBAL const gc_raster *vertices_in,
    GC_GLOBAL const gc_raster *normals_in,
    int rows)
{
    GC_GLOBAL gc_raster *hulls = q->hulls;
    const gc_view *w = &q->view;
    /* fields that the next step reads: psi only for rows (of B's hulls, and only where A has copies), what part of an edge is
     * left only of edges */
    int fields = rows ? GC_LIST_u0 : GC_LIST_p0, of_edges = rows || (GC_SERIAL && q->chords_a) ? GC_LIST_STRIDE : GC_LIST_p0;
    gc_zero_counts(q);
    gc_search_bodies(q, GC_S02_PLACE, vertices_in, normals_in);
    if (!rows && gc_cull_suits(q)) {
        gc_search_bodies(q, GC_S02_TURN, vertices_in, normals_in);
        gc_cull_clear(q);
        if (GC_FILLS) q->has_hulls = 1;
        GC_BARRIER();
        gc_cull_lists(q);
        return;
    }
    GC_BARRIER();
    gc_search_bodies(q, GC_S02_FACES_EDGES, vertices_in, normals_in);
    GC_BARRIER();
    gc_search_bodies(q, GC_S02_FACES, vertices_in, normals_in);
    GC_BARRIER();
    gc_search_bodies(q, GC_S02_KEEP, vertices_in, normals_in);
    if (GC_SERIAL && !rows && q->chords_a) gc_chords_clip_both(q);
    GC_BARRIER();
    gc_search_bodies(q, GC_S02_BOX, vertices_in, normals_in);
    GC_BARRIER();
    /* a few vector instructions test all of a small body's boxes: sooner done than sorted out what can be left away */
    if (!rows && !w->wraps && q->mesh_a.ne <= GC_BLOCK && q->mesh_b.ne <= GC_BLOCK) {
        if (GC_FILLS) {
            gc_same_lists(q);
            q->has_hulls = 0;
        }
        GC_BARRIER();
        return;
    }
    if (GC_FILLS) q->has_hulls = 1;
    s02_hulls(w, &q->all_vb, &q->all_eb, &q->all_fb, w->wraps ? 4 : 3, q->hull_parts, hulls + 3 * GC_HULL_STRIDE);
    GC_BARRIER();
    /* vertices against faces, edges against edges, faces against vertices */
    s02_select(w, &q->all_va, hulls + 5 * GC_HULL_STRIDE, &q->va, 1, fields);
    s02_select(w, &q->all_ea, hulls + 4 * GC_HULL_STRIDE, &q->ea, 1, of_edges);
    s02_select(w, &q->all_fa, hulls + 3 * GC_HULL_STRIDE, &q->fa, 1, fields);
    GC_BARRIER();
    s02_hulls(w, &q->va, &q->ea, &q->fa, 3, q->hull_parts, hulls);
    GC_BARRIER();
    s02_select(w, &q->all_vb, hulls + 2 * GC_HULL_STRIDE, &q->vb, 0, fields);
    s02_select(w, &q->all_eb, hulls + GC_HULL_STRIDE, &q->eb, 0, of_edges);
    s02_select(w, &q->all_fb, hulls, &q->fb, 0, fields);
    GC_BARRIER();
}

/* rows of the given height, and what of the scratch their branches take; by those who fill it */
GC_FN void gc_take_rows(gc_search *q, gc_scratch *s, gc_raster height)
{
    q->rows = gc_rows_make(&q->view, q->hulls, height);
    if (q->rows.n > GC_MAX_ROWS) s->reals_used = GC_NO_SUCH_ROOM;
    else {
        gc_take_branches(s, 2 * *q->ea.count, q->rows.n, &q->ra);
        gc_take_branches(s, 2 * *q->eb.count, q->rows.n, &q->rb);
        gc_take_branches(s, *q->fa.count, q->rows.n, &q->sa);
        gc_take_branches(s, *q->fb.count, q->rows.n, &q->sb);
        gc_take_branches(s, *q->va.count, q->rows.n, &q->da);
        gc_take_branches(s, *q->vb.count, q->rows.n, &q->db);
    }
}

/* counts of s03 in these rows */
GC_FN void gc_count_rows(const gc_search *q)
{
    const gc_view *w = &q->view;
    GC_GLOBAL int *counts = q->row_counts;
    if (GC_LOCAL_ID == 0) {
        counts[0] = 0;
        counts[1] = 0;
        counts[2] = 0;
        counts[3] = 0;
    }
    GC_BARRIER();
    s03_edges_count(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->ea, &q->ra, counts);
    s03_edges_count(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->eb, &q->rb, counts + 1);
    s03_faces_count(w, &q->rows, &q->fa, &q->sa, counts + 2);
    s03_faces_count(w, &q->rows, &q->fb, &q->sb, counts + 3);
    GC_BARRIER();
}

/* s03 to s06 through rows */
GC_LARGE void gc_search_rows(gc_search *q, gc_scratch *s, gc_raster height)
{
    const gc_view *w = &q->view;
    gc_long entries, records, reals, ints;
    int tries = 0;
    if (GC_FILLS) q->row_counts = gc_take_ints(s, 4);
    s02_hulls(w, &q->vb, &q->eb, &q->fb, 3, q->hull_parts, q->hulls + 3 * GC_HULL_STRIDE);
    GC_BARRIER();
    reals = s->reals_used;
    ints = s->ints_used;
    entries = (gc_long)*q->ea.count + *q->eb.count + *q->fa.count + *q->fb.count;
    /* The height only changes the speed. Long thin faces cross every row, and rows made for the short edges then cost more
     * than they save: make them so high that there are few records an edge. */
    height = GC_MAX(
        height,
        (q->hulls[GC_HULL_STRIDE + GC_HULL_r1] - q->hulls[GC_HULL_STRIDE + GC_HULL_r0]) / (GC_F(64.0) + (gc_raster)entries));
    do {
        GC_BARRIER(); /* all have read what is filled anew */
        if (GC_FILLS) {
            s->reals_used = reals;
            s->ints_used = ints;
            gc_take_rows(q, s, height);
        }
        GC_BARRIER();
        if (q->rows.n <= 0 || !gc_fits(s)) return;
        gc_count_rows(q);
        records = (gc_long)q->row_counts[0] + q->row_counts[1] + q->row_counts[2] + q->row_counts[3];
        if (records <= 8 * entries + 1024 || tries >= 4) break;
        height = height * (gc_raster)records / (gc_raster)(4 * entries + 512);
        tries += 1;
    } while (1);
    GC_BARRIER(); /* all have asked whether it fits */
    if (GC_FILLS) {
        gc_take_records(s, q->row_counts[0], &q->ra);
        gc_take_records(s, q->row_counts[1], &q->rb);
        gc_take_records(s, q->row_counts[2], &q->sa);
        gc_take_records(s, q->row_counts[3], &q->sb);
        gc_take_records(s, *q->va.count, &q->da);
        gc_take_records(s, *q->vb.count, &q->db);
    }
    GC_BARRIER();
    if (!gc_fits(s)) return;
    s03_edges_fill(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->ea, &q->ra);
    s03_edges_fill(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->eb, &q->rb);
    s03_faces_fill(w, &q->rows, &q->a, &q->mesh_a, q->topology, &q->fa, &q->sa);
    s03_faces_fill(w, &q->rows, &q->b, &q->mesh_b, q->topology, &q->fb, &q->sb);
    s03_vertices(&q->rows, &q->va, &q->da);
    s03_vertices(&q->rows, &q->vb, &q->db);
    GC_BARRIER();
    s04_sort(&q->rows, &q->ra, 2 * *q->ea.count);
    s04_sort(&q->rows, &q->rb, 2 * *q->eb.count);
    s04_sort(&q->rows, &q->sa, *q->fa.count);
    s04_sort(&q->rows, &q->sb, *q->fb.count);
    s04_sort(&q->rows, &q->da, *q->va.count);
    s04_sort(&q->rows, &q->db, *q->vb.count);
    s05_rows(q, GC_VF, &q->va, &q->fb, &q->sb, &q->da);
    s05_rows(q, GC_FV, &q->vb, &q->fa, &q->sa, &q->db);
    s06_rows(q, &q->ra, &q->rb);
}

/* k becomes the near frame of joined patches, whose vertices are relative to its origin; n: room for it */
GC_LARGE void gc_near_frame(
    gc_screw *k,
    gc_screw *n,
    gc_real min_properness,
    int reach,
    int refine,
    gc_real height,
    gc_view *w)
{
    gc_screw_near(k, n);
    *w = gc_near_view(k, n, min_properness, (gc_raster)reach);
    gc_view_draws(k, n, refine, height, w);
    gc_near_shift(n, n->ra, n->ta);
    gc_near_shift(n, n->rb, n->tb);
    *k = *n;
}

GC_CROWDED_KERNEL void screen(
    int n_todo, /* times the shares */
    GC_SCREEN_ARGS,
    GC_GLOBAL const int *reach_in,          /* (parts,) of joined patches, see b06_gather */
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) user units */
    gc_real min_properness,
    int refine,
    int candidates,
    int walked, /* which pairs are left to screen_first, see gc_goes_down */
    int shares, /* 0: whole items; serially -1: lists alone, above 0: shares of each item, one scratch for each in todo */
    GC_SCREEN_LIST_ARGS)
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int place = GC_SERIAL && shares > 0 ? g / shares : g, item = todo_in[place];
            GC_GLOBAL const int *with = items_in + GC_ITEM_STRIDE * GC_MAX(item, 0);
            int pair = with[GC_ITEM_pair], ma = with[GC_ITEM_part_a], mb = with[GC_ITEM_part_b];
            GC_SHARED gc_screw k, near;
            GC_SHARED gc_search q;
            GC_SHARED gc_scratch s;
            if (item >= 0 && !state_in[pair] /* s01 may have settled it */
                && !gc_goes_down(
                    walked, headers_in[GC_MESH_STRIDE * ma + GC_MESH_nf], headers_in[GC_MESH_STRIDE * mb + GC_MESH_nf])) {
                gc_mesh_fill(headers_in + GC_MESH_STRIDE * ma, &q.mesh_a);
                gc_mesh_fill(headers_in + GC_MESH_STRIDE * mb, &q.mesh_b);
                gc_screw_fill(screw_in + GC_SCREW_STRIDE * pair, &k);
                GC_BARRIER();
                if (GC_FILLS) {
                    if (q.mesh_a.near_faces < 0) {
                        q.view = gc_view_make(&k, min_properness);
                        gc_view_draws(&k, &k, refine, row_height_in[pair], &q.view);
                    } else
                        gc_near_frame(
                            &k, &near, min_properness, GC_MAX(reach_in[ma], reach_in[mb]), refine, row_height_in[pair],
                            &q.view);
                    q.topology = topology_in;
                    q.inverse_length_a = inverse_length_in + edge0_in[ma];
                    q.inverse_length_b = inverse_length_in + edge0_in[mb];
                    q.scale = (gc_raster)k.scale;
                    q.candidates = candidates_out;
                    q.brackets = brackets_out;
                    q.n_candidates = n_candidates_out;
                    q.capacity = capacity;
                    q.pair = pair;
                    s = gc_scratch_of(
                        GC_SERIAL && shares ? place : GC_SCRATCH_ID, scratch_reals, scratch_ints, reals_per_group,
                        ints_per_group, need_out, no_room_out + item);
                    gc_search_take(&q, &s);
                    gc_take_cells(&s, &q);
                    gc_take_chords(&s, &q, refine);
                    gc_take_share(&s, &q, shares, g - place * shares);
                }
                GC_BARRIER();
                if (gc_fits(&s)) {
                    /* joined patches have no whole faces' surroundings for rows to follow */
                    int rows = q.mesh_a.near_faces < 0 && candidates == GC_CANDIDATES_RASTER;
                    gc_body_fill(k.ra, k.ta, k.shrink, &q.a);
                    gc_body_fill(k.rb, k.tb, k.shrink, &q.b);
                    GC_BARRIER();
                    if (!GC_SERIAL || q.lists) gc_search_features(&q, vertices_in, normals_in, rows);
                    if (GC_SERIAL && shares < 0) *q.kept = q.has_hulls;
                    if (GC_SERIAL && shares > 0) gc_search_kept(&q);
                    if (rows) {
                        gc_search_rows(&q, &s, (gc_raster)(row_height_in[pair] * k.shrink));
                    } else {
                        /* one hull for all lists, or one for each */
                        int own = gc_cull_suits(&q) ? 0 : GC_HULL_STRIDE;
                        s05_pairs(&q, GC_VF, &q.va, &q.fb, q.hulls + 5 * own);
                        s05_pairs(&q, GC_FV, &q.vb, &q.fa, q.hulls + 2 * own);
                        s06_pairs(&q, &q.ea, &q.eb, q.hulls + 4 * own);
                    }
                }
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
