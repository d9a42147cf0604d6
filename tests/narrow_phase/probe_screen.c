/* probe_screen: what s02 and s03 hand on, which no buffer of the pipeline shows.
 * needs: narrow_phase/screen/screen.c
 */

/* the six lists of boxes of each pair, in the order va ea fa vb eb fb; one group per pair */
GC_KERNEL void probe_boxes(
    int n_pairs,
    GC_GLOBAL const int *pairs_in,
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *screw_in,
    GC_GLOBAL const int *headers_in,
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_raster *vertices_in,
    GC_GLOBAL const gc_raster *normals_in,
    gc_real min_properness,
    GC_GLOBAL gc_raster *scratch_reals,
    GC_GLOBAL int *scratch_ints,
    int reals_per_group,
    int ints_per_group,
    int room,
    GC_GLOBAL int *need_out,
    GC_GLOBAL int *state_out,
    GC_GLOBAL gc_raster *view_out, /* (n_pairs, 8) wn gn kappa period speed window pad axis */
    GC_GLOBAL int *count_out,      /* (n_pairs, 6) */
    GC_GLOBAL int *id_out,         /* (n_pairs, 6, room) */
    GC_GLOBAL int *copy_out,       /* (n_pairs, 6, room) */
    GC_GLOBAL gc_raster *box_out)  /* (n_pairs, 6, room, GC_LIST_STRIDE) */
{
    int g = GC_GROUP_LO(n_pairs);
    if (g < GC_GROUP_HI(n_pairs)) do {
            GC_SHARED gc_screw k;
            GC_SHARED gc_search q;
            GC_SHARED gc_scratch s;
            gc_list lists[6];
            int c, i, f;
            gc_screw_fill(screw_in + GC_SCREW_STRIDE * g, &k);
            gc_mesh_fill(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * g]], &q.mesh_a);
            gc_mesh_fill(headers_in + GC_MESH_STRIDE * shape_in[pairs_in[2 * g + 1]], &q.mesh_b);
            GC_BARRIER();
            if (GC_FILLS) {
                q.view = gc_view_make(&k, min_properness);
                q.topology = topology_in;
                s = gc_scratch_of(
                    GC_SCRATCH_ID, scratch_reals, scratch_ints, reals_per_group, ints_per_group, need_out, state_out + g);
                gc_search_take(&q, &s);
            }
            GC_BARRIER();
            if (gc_fits(&s)) {
                gc_body_fill(k.ra, k.ta, k.shrink, &q.a);
                gc_body_fill(k.rb, k.tb, k.shrink, &q.b);
                GC_BARRIER();
                gc_search_features(&q, vertices_in, normals_in, 1);
                gc_same_list(&q.va, &lists[0]);
                gc_same_list(&q.ea, &lists[1]);
                gc_same_list(&q.fa, &lists[2]);
                gc_same_list(&q.vb, &lists[3]);
                gc_same_list(&q.eb, &lists[4]);
                gc_same_list(&q.fb, &lists[5]);
                for (c = 0; c < 6; ++c) {
                    int at = (6 * g + c) * room;
                    /* only edges have what part of theirs is in sight */
                    int fields = c % 3 == 1 ? GC_LIST_STRIDE : GC_LIST_u0;
                    for (i = GC_LOCAL_ID; i < GC_MIN(*lists[c].count, room); i += GC_GROUP_SIZE) {
                        id_out[at + i] = lists[c].id[i];
                        copy_out[at + i] = lists[c].copy[i];
                        for (f = 0; f < fields; ++f)
                            box_out[GC_LIST_STRIDE * (at + i) + f] =
                                lists[c].box[GC_CELL(GC_LIST_STRIDE, lists[c].room, f, i)];
                    }
                    if (GC_LOCAL_ID == 0) count_out[6 * g + c] = *lists[c].count;
                }
            }
            if (GC_LOCAL_ID == 0) {
                GC_GLOBAL gc_raster *v = view_out + 8 * g;
                v[0] = q.view.wn;
                v[1] = q.view.gn;
                v[2] = q.view.kappa;
                v[3] = q.view.period;
                v[4] = q.view.speed;
                v[5] = q.view.window;
                v[6] = q.view.pad;
                v[7] = q.view.axis;
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_pairs);
        } while (g < GC_GROUP_HI(n_pairs));
}

/* ranges of straight segments in rows */
GC_KERNEL void probe_spans(
    int n,
    GC_GLOBAL const gc_real *screw_in,     /* (1, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *segment_in, /* (n, 6) screw frame */
    gc_raster base,
    gc_raster height,
    int n_rows,
    GC_GLOBAL int *rows_out,       /* (n, 2, 2) first and last row of each branch */
    GC_GLOBAL gc_raster *span_out) /* (n, 2, n_rows, 4) h0 h1 l0 l1 */
{
    gc_screw k;
    gc_view w;
    gc_rows rows;
    gc_screw_load(screw_in, &k);
    w = gc_view_make(&k, GC_R(-1.0));
    rows.base = base;
    rows.height = height;
    rows.n = n_rows;
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_raster *p = segment_in + 6 * i;
        gc_raster arc = gc_arc(p[0], p[2], w.kappa, w.inv_kappa);
        gc_segment s = gc_segment_make(&w, p[0], p[1], p[2], p[3], p[4], p[5], arc, arc);
        int which, row;
        for (which = 0; which < 2; ++which) {
            gc_branch r;
            if (!gc_branch_make(&w, &rows, &s, which, &r)) continue;
            rows_out[4 * i + 2 * which] = r.row_lo;
            rows_out[4 * i + 2 * which + 1] = r.row_hi;
            for (row = r.row_lo; row <= r.row_hi; ++row) {
                GC_GLOBAL gc_raster *o = span_out + 4 * ((2 * i + which) * n_rows + row);
                gc_span a = gc_branch_span(&w, &rows, &s, &r, row);
                o[0] = a.h0;
                o[1] = a.h1;
                o[2] = a.l0;
                o[3] = a.l1;
            }
        }
    }
}

/* the facing boundary of single faces: one polygon per item, all of `corners` corners */
GC_KERNEL void probe_boundary(
    int n,
    int corners,
    GC_GLOBAL const gc_real *screw_in, /* (1, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *place,  /* (n, 3, corners) */
    GC_GLOBAL const gc_raster *facing, /* (n, 3) f0 fx fz */
    GC_GLOBAL gc_raster *placed,       /* (n, corners, 4) */
    GC_GLOBAL gc_raster *turned,       /* (n, GC_TURNED_STRIDE) */
    GC_GLOBAL const int *topology_in,  /* face_start, face_vertices of one face */
    int two_sided,
    GC_GLOBAL int *zero,              /* (1,) 0: face number and copy */
    GC_GLOBAL int *count_out,         /* (n,) segments walked */
    GC_GLOBAL gc_raster *segment_out) /* (n, corners + 1, 8) ends x y z, u0, u1 */
{
    gc_screw k;
    gc_view w;
    gc_screw_load(screw_in, &k);
    w = gc_view_make(&k, GC_R(-1.0));
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_body b;
        gc_mesh m;
        gc_list l;
        gc_boundary walk;
        gc_segment s;
        int v, found = 0;
        b.placed = placed + GC_PLACED_STRIDE * corners * i;
        b.placed_room = corners;
        b.turned = turned + GC_TURNED_STRIDE * i;
        b.turned_room = 1;
        for (v = 0; v < corners; ++v) {
            GC_GLOBAL const gc_raster *x = place + 3 * corners * i + v;
            gc_raster psi = gc_arc(x[0], x[2 * corners], w.kappa, w.inv_kappa);
            gc_four_put(&GC_OF_VERTEX(&b, x, v), corners, x[0], x[corners], x[2 * corners], psi);
        }
        if (GC_SERIAL)
            gc_four_put(&GC_OF_FACE(&b, f0, 0), 1, facing[3 * i], facing[3 * i + 1], facing[3 * i + 2], GC_F(0.0));
        else gc_four_put(b.turned, 1, facing[3 * i], facing[3 * i + 2], GC_F(0.0), -facing[3 * i + 1]); /* f0 and a normal */
        b.turn = GC_F(1.0);
        m.face_start = 0;
        m.face_vertices = 2;
        m.two_sided = two_sided;
        l.id = zero;
        l.copy = zero;
        gc_boundary_start(&w, &b, &m, topology_in, &l, 0, &walk);
        while (gc_boundary_next(&w, &b, &m, topology_in, 0, &walk, &s)) {
            GC_GLOBAL gc_raster *o = segment_out + 8 * ((corners + 1) * i + found);
            o[0] = s.x + s.u0 * s.dx;
            o[1] = s.y + s.u0 * s.dy;
            o[2] = s.z + s.u0 * s.dz;
            o[3] = s.x + s.u1 * s.dx;
            o[4] = s.y + s.u1 * s.dy;
            o[5] = s.z + s.u1 * s.dz;
            o[6] = s.u0;
            o[7] = s.u1;
            found += 1;
        }
        count_out[i] = found;
    }
}
