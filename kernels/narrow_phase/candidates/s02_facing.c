/* s02_facing: which parts of which features can meet, and where they are on the collision screen.
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * in:  the pair's screw record, both meshes
 * out: for each body three lists of boxes (vertices, edges, faces): ranges of rho, eta, lambda that contain the feature, on
 *      every doppel copy of A that can matter; for edges also the part that faces the right way
 * One group per pair; up to the boxes, half of it works on each body (GC_SIDE_ID). Source: Buss, sections 4.2 and 8;
 * docs/decisions/0002. Every box is padded: a box may be too large, never too small. Features through or near the axis have
 * no azimuth and take the full range. The last part, hulls and the rest of each list, is in gc_select.h.
 */

/* how a body lies, in the type that culls */
GC_FN void gc_body_fill(const gc_real *rot, const gc_real *shift, gc_real shrink, gc_body *to)
{
    int k;
    GC_ROLLED
    for (k = GC_FILL_LO; k < 9; k += GC_FILL_STEP) {
        to->rot[k] = (gc_raster)rot[k];
        to->scaled[k] = (gc_raster)(rot[k] * shrink);
    }
    GC_ROLLED
    for (k = GC_FILL_LO; k < 3; k += GC_FILL_STEP) to->shift[k] = (gc_raster)shift[k];
}

/* vertices of one body in the screw frame */
GC_LARGE void s02_place(const gc_view *w, const gc_body *b, const gc_mesh *mesh, GC_GLOBAL const gc_raster *vertices_in)
{
    GC_GLOBAL const gc_raster *GC_RESTRICT vx = vertices_in + 3 * mesh->vertex0;
    int nv = mesh->nv, i;
    gc_raster m0 = b->scaled[0], m1 = b->scaled[1], m2 = b->scaled[2], m3 = b->scaled[3], m4 = b->scaled[4];
    gc_raster m5 = b->scaled[5], m6 = b->scaled[6], m7 = b->scaled[7], m8 = b->scaled[8];
    gc_raster t0 = b->shift[0], t1 = b->shift[1], t2 = b->shift[2];
    gc_raster kappa = w->kappa, inv_kappa = w->inv_kappa;
    GC_GLOBAL gc_raster *GC_RESTRICT placed = b->placed, *GC_RESTRICT rho = b->rho;
    int room = b->placed_room;
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < nv; i += GC_SIDE_SIZE) {
        gc_raster px = vx[i], py = vx[nv + i], pz = vx[2 * nv + i];
        gc_raster ax = m0 * px + m1 * py + m2 * pz + t0;
        gc_raster ay = m3 * px + m4 * py + m5 * pz + t1;
        gc_raster az = m6 * px + m7 * py + m8 * pz + t2, r, arc = gc_arc_rho(ax, az, kappa, inv_kappa, &r);
        gc_four_put(placed + GC_CELL(GC_PLACED_STRIDE, room, GC_PLACED_x, i), room, ax, ay, az, arc);
        rho[i] = r;
    }
}

/* face normals and facing */
GC_INLINE void s02_turn(const gc_view *w, const gc_body *b, const gc_mesh *mesh, GC_GLOBAL const gc_raster *normals_in)
{
    int nf = mesh->nf, i;
    GC_GLOBAL const gc_raster *GC_RESTRICT px = normals_in + 3 * mesh->face0;
    GC_GLOBAL gc_raster *GC_RESTRICT turned = b->turned;
    int room = b->turned_room;
    gc_raster m0 = b->rot[0], m1 = b->rot[1], m2 = b->rot[2], m3 = b->rot[3], m4 = b->rot[4];
    gc_raster m5 = b->rot[5], m6 = b->rot[6], m7 = b->rot[7], m8 = b->rot[8];
    gc_raster wn = b->way * w->wn, gn = b->way * w->gn, turn = b->way * w->thetan, slack = w->facing;
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < nf; i += GC_SIDE_SIZE) {
        gc_raster ax = px[i], ay = px[nf + i], az = px[2 * nf + i];
        gc_raster tx = m0 * ax + m1 * ay + m2 * az, ty = m3 * ax + m4 * ay + m5 * az, tz = m6 * ax + m7 * ay + m8 * az;
        gc_raster f0 = tx * wn + ty * gn + slack;
        if (GC_SERIAL) {
            GC_GLOBAL gc_raster *out = turned + room * GC_TURNED_f0 + i;
            gc_three_put(out, room, f0, -turn * tz, turn * tx);
            out = turned + room * GC_TURNED_nx + i;
            gc_three_put(out, room, tx, ty, tz);
        } else {
            gc_four_put(turned + GC_FACED_STRIDE * i, 1, f0, tx, ty, tz);
        }
    }
}

/* face normals and facing, and the least rho of every edge; needs the vertices */
GC_LARGE void s02_faces_edges(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *mesh,
    GC_GLOBAL const int *topology,
    GC_GLOBAL const gc_raster *normals_in)
{
    int ne = mesh->ne, i;
    GC_GLOBAL const gc_raster *GC_RESTRICT placed = b->placed;
    GC_GLOBAL const int *GC_RESTRICT edges = topology + mesh->edges;
    int placed_room = b->placed_room;
    GC_GLOBAL gc_raster *GC_RESTRICT least = b->least;
    gc_raster kappa = w->kappa;
    s02_turn(w, b, mesh, normals_in);
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < ne; i += GC_SIDE_SIZE) {
        gc_four u = gc_four_at(placed + GC_CELL(GC_PLACED_STRIDE, placed_room, GC_PLACED_x, edges[2 * i]), placed_room);
        gc_four v = gc_four_at(placed + GC_CELL(GC_PLACED_STRIDE, placed_room, GC_PLACED_x, edges[2 * i + 1]), placed_room);
        least[i] = gc_least_rho(kappa, u.a, u.c, v.a, v.c);
    }
}

/* vertices with a face that faces the right way */
GC_LARGE void s02_vertices(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l)
{
    int v;
    for (v = GC_SIDE_ID; v < m->nv; v += GC_SIDE_SIZE) {
        int j = topology[m->vertex_face_start + v], end = topology[m->vertex_face_start + v + 1], keep = 0, i;
        for (; j < end && !keep; ++j) {
            int f = topology[m->vertex_faces + j], how = b->faces[f];
            keep = how == 2 || (how == 1 && gc_faces(b, f, v) >= GC_F(0.0));
        }
        if (!keep) continue;
        i = GC_GROUP_ADD(l->count, 1);
        l->id[i] = v;
        gc_box_put(l, i, gc_box_vertex(w, b, v));
    }
}

/* faces with a corner that faces the right way: the box of the whole face */
GC_LARGE void s02_faces(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l)
{
    int f;
    for (f = GC_SIDE_ID; f < m->nf; f += GC_SIDE_SIZE) {
        int start = topology[m->face_start + f], end = topology[m->face_start + f + 1], j, i;
        int some = 0, all = 1;
        gc_raster r0 = GC_CULL_FAR, r1 = -GC_CULL_FAR, y0 = GC_CULL_FAR, y1 = -GC_CULL_FAR, p, p0, p1, first, last;
        if (m->near_faces >= 0 && !topology[m->near_faces + f]) {
            b->faces[f] = 0;
            continue;
        }
        for (j = start; j < end; ++j) {
            int right = m->two_sided || gc_faces(b, f, topology[m->face_vertices + j]) >= GC_F(0.0);
            some |= right;
            all &= right;
        }
        b->faces[f] = some + all;
        if (!some) continue;
        first = GC_OF_VERTEX(b, psi, topology[m->face_vertices + end - 1]);
        last = first;
        p = first;
        p0 = p;
        p1 = p;
        for (j = start; j < end; ++j) {
            int v = topology[m->face_vertices + j];
            gc_raster least = b->least[topology[m->face_edges + (j > start ? j - 1 : end - 1)]];
            gc_four x = gc_vertex_of(b, v);
            p += gc_short_way(x.d - last, w->period);
            p0 = GC_MIN(p, p0);
            p1 = GC_MAX(p, p1);
            r0 = GC_MIN(least, r0);
            r1 = GC_MAX(b->rho[v], r1);
            y0 = GC_MIN(x.b, y0);
            y1 = GC_MAX(x.b, y1);
            last = x.d;
        }
        i = GC_GROUP_ADD(l->count, 1);
        l->id[i] = f;
        gc_box_put(l, i, gc_box_face(w, GC_ABS_R(p - first) > GC_F(0.5) * w->period, r0, r1, p0, p1, y0, y1));
    }
}

/* edges with a face that faces the right way somewhere, and the part of the edge (u0, u1) where one does */
GC_LARGE void s02_edges_keep(const gc_body *b, const gc_mesh *m, GC_GLOBAL const int *topology, const gc_list *l)
{
    int e;
    for (e = GC_SIDE_ID; e < m->ne; e += GC_SIDE_SIZE) {
        int v0 = topology[m->edges + 2 * e], v1 = topology[m->edges + 2 * e + 1];
        int j = topology[m->edge_face_start + e], end = topology[m->edge_face_start + e + 1];
        gc_raster u0 = GC_F(1.0), u1 = GC_F(0.0);
        for (; j < end; ++j) {
            int f = topology[m->edge_faces + j] >> 1, how = b->faces[f];
            gc_raster g0, g1;
            if (how == 0) continue;
            g0 = gc_faces(b, f, v0);
            g1 = gc_faces(b, f, v1);
            if (how == 2 || (g0 >= GC_F(0.0) && g1 >= GC_F(0.0))) {
                u0 = GC_F(0.0);
                u1 = GC_F(1.0);
            } else if (g0 >= GC_F(0.0)) {
                gc_raster cut = g0 / (g0 - g1);
                u0 = GC_F(0.0);
                u1 = GC_MAX(u1, cut);
            } else if (g1 >= GC_F(0.0)) {
                gc_raster cut = g0 / (g0 - g1);
                u0 = GC_MIN(u0, cut);
                u1 = GC_F(1.0);
            }
        }
        if (u0 <= u1) {
            int i = GC_GROUP_ADD(l->count, 1);
            l->id[i] = e;
            GC_OF_ENTRY(l, u0, i) = u0;
            GC_OF_ENTRY(l, u1, i) = u1;
        }
    }
}

/* boxes of the kept edges; no branches, so that the loop vectorises */
GC_LARGE void s02_edges_box(
    const gc_view *w,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const int *topology,
    const gc_list *l)
{
    int n = *l->count, i;
    GC_GLOBAL const int *GC_RESTRICT edges = topology + m->edges, *GC_RESTRICT id = l->id;
    GC_GLOBAL gc_raster *GC_RESTRICT box = l->box;
    GC_GLOBAL const gc_raster *GC_RESTRICT placed = b->placed;
    int room = l->room, placed_room = b->placed_room;
    gc_raster kappa = w->kappa, inv_kappa = w->inv_kappa, period = w->period, wn = w->wn, gn = w->gn, pad = w->pad;
    gc_raster axis = w->axis, agn = GC_ABS_R(gn);
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
        int e = id[i];
        gc_four v0 = gc_four_at(placed + GC_CELL(GC_PLACED_STRIDE, placed_room, GC_PLACED_x, edges[2 * e]), placed_room);
        gc_four v1 = gc_four_at(placed + GC_CELL(GC_PLACED_STRIDE, placed_room, GC_PLACED_x, edges[2 * e + 1]), placed_room);
        gc_raster u0 = box[GC_CELL(GC_LIST_STRIDE, room, GC_LIST_u0, i)];
        gc_raster u1 = box[GC_CELL(GC_LIST_STRIDE, room, GC_LIST_u1, i)];
        gc_raster dx = v1.a - v0.a, dy = v1.b - v0.b, dz = v1.c - v0.c;
        gc_raster xa = v0.a + u0 * dx, ya = v0.b + u0 * dy, za = v0.c + u0 * dz;
        gc_raster xb = v0.a + u1 * dx, yb = v0.b + u1 * dy, zb = v0.c + u1 * dz;
        gc_raster ra = gc_rho(kappa, xa, za), rb = gc_rho(kappa, xb, zb);
        gc_raster least = gc_least_rho(kappa, xa, za, xb, zb), most = ra > rb ? ra : rb;
        gc_raster pa = gc_arc(xa, za, kappa, inv_kappa), pb = gc_arc(xb, zb, kappa, inv_kappa);
        gc_raster turn = gc_short_way(pb - pa, period);
        gc_raster k0 = GC_F(1.0) + kappa * least, k1 = GC_F(1.0) + kappa * most;
        int full = k0 < axis;
        /* how far psi strays from the chord between its ends: its slope lies between D/k1^2 and D/k0^2 */
        gc_raster area = GC_ABS_R(xa * (GC_F(1.0) + kappa * zb) - xb * (GC_F(1.0) + kappa * za));
        gc_raster kk = k0 > GC_F(1e-6) ? k0 : GC_F(1e-6);
        gc_raster stray = GC_F(0.25) * area * (GC_F(1.0) / (kk * kk) - GC_F(1.0) / (k1 * k1));
        gc_raster p0, p1, y0, y1, ha, hb, la, lb, gp0, gp1, gy0, gy1, h0, h1, l0, l1, c;
        stray = stray < GC_ABS_R(turn) ? stray : GC_ABS_R(turn);
        pb = pa + turn;
        p0 = pa < pb ? pa : pb;
        p1 = pa < pb ? pb : pa;
        p0 = full ? GC_F(-2.0) * period : p0;
        p1 = full ? GC_F(2.0) * period : p1;
        y0 = ya < yb ? ya : yb;
        y1 = ya < yb ? yb : ya;
        /* two bounds of eta and lambda: the corners of the (psi, y) box, and the chord widened by the stray */
        gp0 = gn * p0;
        gp1 = gn * p1;
        gy0 = gn * y0;
        gy1 = gn * y1;
        h0 = wn * y0 - (gp0 > gp1 ? gp0 : gp1);
        h1 = wn * y1 - (gp0 < gp1 ? gp0 : gp1);
        l0 = wn * p0 + (gy0 < gy1 ? gy0 : gy1);
        l1 = wn * p1 + (gy0 > gy1 ? gy0 : gy1);
        ha = wn * ya - gn * pa;
        hb = wn * yb - gn * pb;
        la = wn * pa + gn * ya;
        lb = wn * pb + gn * yb;
        stray = full ? GC_F(4.0) * period : stray;
        c = (ha < hb ? ha : hb) - agn * stray;
        h0 = h0 > c ? h0 : c;
        c = (ha > hb ? ha : hb) + agn * stray;
        h1 = h1 < c ? h1 : c;
        c = (la < lb ? la : lb) - wn * stray;
        l0 = l0 > c ? l0 : c;
        c = (la > lb ? la : lb) + wn * stray;
        l1 = l1 < c ? l1 : c;
        /* gc_pad_near, written out for the vectoriser */
        c = k0 > axis ? k0 : axis;
        c = c < GC_F(1.0) && c > GC_F(0.0) ? pad / c : pad;
        gc_four_put(box + GC_CELL(GC_LIST_STRIDE, room, GC_LIST_r0, i), room, least - pad, most + pad, h0 - c, h1 + c);
        gc_four_put(box + GC_CELL(GC_LIST_STRIDE, room, GC_LIST_l0, i), room, l0 - c, l1 + c, p0, p1);
    }
}
