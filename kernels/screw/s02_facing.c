/* s02_facing: which parts of which features can meet, and where they lie on the collision screen.
 * needs: screw/gc_scratch.h
 *
 * in:  the pair's screw record, both meshes
 * out: for each body three lists of boxes (vertices, edges, faces): ranges of rho, eta, lambda that hold the feature, on
 *      every doppel copy of A that can matter; for edges also the part that faces the right way
 * One group per pair; up to the boxes half of it on each body (GC_SIDE_ID). Source: Buss, sections 4.2 and 8; docs/decisions/0002. Every box is padded: a box may be too
 * large, never too small. Features through or near the axis have no azimuth and take all of it.
 */

/* how a body lies, in the type that culls */
GC_FN void gc_body_fill(const gc_real *rot, const gc_real *shift, gc_real shrink, gc_body *to)
{
    int k;
    for (k = GC_FILL_LO; k < 9; k += GC_FILL_STEP) {
        to->rot[k] = (gc_raster)rot[k];
        to->scaled[k] = (gc_raster)(rot[k] * shrink);
    }
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
    GC_GLOBAL gc_raster *GC_RESTRICT x = b->x, *GC_RESTRICT y = b->y, *GC_RESTRICT z = b->z;
    GC_GLOBAL gc_raster *GC_RESTRICT rho = b->rho, *GC_RESTRICT psi = b->psi;
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < nv; i += GC_SIDE_SIZE) {
        gc_raster px = vx[i], py = vx[nv + i], pz = vx[2 * nv + i];
        gc_raster ax = m0 * px + m1 * py + m2 * pz + t0;
        gc_raster az = m6 * px + m7 * py + m8 * pz + t2;
        x[i] = ax;
        y[i] = m3 * px + m4 * py + m5 * pz + t1;
        z[i] = az;
        rho[i] = gc_rho(kappa, ax, az);
        psi[i] = gc_arc(ax, az, kappa, inv_kappa);
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
    int nf = mesh->nf, ne = mesh->ne, i;
    GC_GLOBAL const gc_raster *GC_RESTRICT px = normals_in + 3 * mesh->face0;
    GC_GLOBAL const gc_raster *GC_RESTRICT x = b->x, *GC_RESTRICT z = b->z;
    GC_GLOBAL const int *GC_RESTRICT edges = topology + mesh->edges;
    GC_GLOBAL gc_raster *GC_RESTRICT nx = b->nx, *GC_RESTRICT ny = b->ny, *GC_RESTRICT nz = b->nz;
    GC_GLOBAL gc_raster *GC_RESTRICT f0 = b->f0, *GC_RESTRICT fx = b->fx, *GC_RESTRICT fz = b->fz;
    GC_GLOBAL gc_raster *GC_RESTRICT least = b->least;
    gc_raster m0 = b->rot[0], m1 = b->rot[1], m2 = b->rot[2], m3 = b->rot[3], m4 = b->rot[4];
    gc_raster m5 = b->rot[5], m6 = b->rot[6], m7 = b->rot[7], m8 = b->rot[8];
    gc_raster wn = b->way * w->wn, gn = b->way * w->gn, turn = b->way * w->thetan, slack = w->facing, kappa = w->kappa;
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < nf; i += GC_SIDE_SIZE) {
        gc_raster ax = px[i], ay = px[nf + i], az = px[2 * nf + i];
        gc_raster tx = m0 * ax + m1 * ay + m2 * az, ty = m3 * ax + m4 * ay + m5 * az, tz = m6 * ax + m7 * ay + m8 * az;
        nx[i] = tx;
        ny[i] = ty;
        nz[i] = tz;
        f0[i] = tx * wn + ty * gn + slack;
        fx[i] = -turn * tz;
        fz[i] = turn * tx;
    }
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < ne; i += GC_SIDE_SIZE) {
        int u = edges[2 * i], v = edges[2 * i + 1];
        least[i] = gc_least_rho(kappa, x[u], z[u], x[v], z[v]);
    }
}

/* ranges of a (rho, psi, y) box into entry i */
GC_FN void gc_box_corners(
    const gc_view *w,
    const gc_list *l,
    int i,
    gc_raster r0,
    gc_raster r1,
    gc_raster p0,
    gc_raster p1,
    gc_raster y0,
    gc_raster y1,
    gc_raster pad)
{
    gc_raster gp0 = w->gn * p0, gp1 = w->gn * p1, gy0 = w->gn * y0, gy1 = w->gn * y1;
    GC_GLOBAL gc_raster *out = l->box + i;
    int room = l->room;
    out[GC_LIST_r0 * room] = r0;
    out[GC_LIST_r1 * room] = r1;
    out[GC_LIST_h0 * room] = w->wn * y0 - GC_MAX(gp0, gp1) - pad;
    out[GC_LIST_h1 * room] = w->wn * y1 - GC_MIN(gp0, gp1) + pad;
    out[GC_LIST_l0 * room] = GC_MIN(gy0, gy1) + w->wn * p0 - pad;
    out[GC_LIST_l1 * room] = GC_MAX(gy0, gy1) + w->wn * p1 + pad;
    out[GC_LIST_p0 * room] = p0;
    out[GC_LIST_p1 * room] = p1;
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
        gc_raster p0, p1, kr;
        for (; j < end && !keep; ++j) {
            int f = topology[m->vertex_faces + j], how = b->faces[f];
            keep = how == 2 || (how == 1 && gc_faces(b, f, v) >= GC_F(0.0));
        }
        if (!keep) continue;
        i = GC_GROUP_ADD(l->count, 1);
        p0 = b->psi[v];
        p1 = p0;
        kr = gc_kappa_r(w->kappa, b->x[v], b->z[v]);
        if (kr < w->axis) {
            p0 = GC_F(-2.0) * w->period;
            p1 = GC_F(2.0) * w->period;
        }
        l->id[i] = v;
        gc_box_corners(w, l, i, b->rho[v] - w->pad, b->rho[v] + w->pad, p0, p1, b->y[v], b->y[v], gc_pad_near(w, kr));
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
        int start = topology[m->face_start + f], end = topology[m->face_start + f + 1], j, i, u;
        int some = 0, all = 1;
        gc_raster r0 = GC_CULL_FAR, r1 = -GC_CULL_FAR, y0 = GC_CULL_FAR, y1 = -GC_CULL_FAR, p, p0, p1, first;
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
        u = topology[m->face_vertices + end - 1];
        first = b->psi[u];
        p = first;
        p0 = p;
        p1 = p;
        for (j = start; j < end; ++j) {
            int v = topology[m->face_vertices + j];
            gc_raster least = b->least[topology[m->face_edges + (j > start ? j - 1 : end - 1)]];
            p += gc_short_way(b->psi[v] - b->psi[u], w->period);
            p0 = GC_MIN(p, p0);
            p1 = GC_MAX(p, p1);
            r0 = GC_MIN(least, r0);
            r1 = GC_MAX(b->rho[v], r1);
            y0 = GC_MIN(b->y[v], y0);
            y1 = GC_MAX(b->y[v], y1);
            u = v;
        }
        i = GC_GROUP_ADD(l->count, 1);
        /* a loop that does not close in psi goes round the axis: the axis pierces the face */
        if (GC_ABS_R(p - first) > GC_F(0.5) * w->period) r0 = -w->inv_kappa;
        if (GC_F(1.0) + w->kappa * r0 < w->axis) {
            p0 = GC_F(-2.0) * w->period;
            p1 = GC_F(2.0) * w->period;
        }
        l->id[i] = f;
        gc_box_corners(w, l, i, r0 - w->pad, r1 + w->pad, p0, p1, y0, y1, gc_pad_near(w, GC_F(1.0) + w->kappa * r0));
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
            l->box[GC_LIST_u0 * l->room + i] = u0;
            l->box[GC_LIST_u1 * l->room + i] = u1;
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
    int n = *l->count, room = l->room, i;
    GC_GLOBAL const int *GC_RESTRICT edges = topology + m->edges, *GC_RESTRICT id = l->id;
    GC_GLOBAL const gc_raster *GC_RESTRICT x = b->x, *GC_RESTRICT y = b->y, *GC_RESTRICT z = b->z;
    GC_GLOBAL const gc_raster *GC_RESTRICT part0 = l->box + GC_LIST_u0 * room, *GC_RESTRICT part1 = l->box
                                                                                                    + GC_LIST_u1 * room;
    GC_GLOBAL gc_raster *GC_RESTRICT br0 = l->box + GC_LIST_r0 * room, *GC_RESTRICT br1 = l->box + GC_LIST_r1 * room;
    GC_GLOBAL gc_raster *GC_RESTRICT bh0 = l->box + GC_LIST_h0 * room, *GC_RESTRICT bh1 = l->box + GC_LIST_h1 * room;
    GC_GLOBAL gc_raster *GC_RESTRICT bl0 = l->box + GC_LIST_l0 * room, *GC_RESTRICT bl1 = l->box + GC_LIST_l1 * room;
    GC_GLOBAL gc_raster *GC_RESTRICT bp0 = l->box + GC_LIST_p0 * room, *GC_RESTRICT bp1 = l->box + GC_LIST_p1 * room;
    gc_raster kappa = w->kappa, inv_kappa = w->inv_kappa, period = w->period, wn = w->wn, gn = w->gn, pad = w->pad;
    gc_raster axis = w->axis, agn = GC_ABS_R(gn);
    GC_INDEPENDENT
    for (i = GC_SIDE_ID; i < n; i += GC_SIDE_SIZE) {
        int e = id[i], v0 = edges[2 * e], v1 = edges[2 * e + 1];
        gc_raster u0 = part0[i], u1 = part1[i];
        gc_raster dx = x[v1] - x[v0], dy = y[v1] - y[v0], dz = z[v1] - z[v0];
        gc_raster xa = x[v0] + u0 * dx, ya = y[v0] + u0 * dy, za = z[v0] + u0 * dz;
        gc_raster xb = x[v0] + u1 * dx, yb = y[v0] + u1 * dy, zb = z[v0] + u1 * dz;
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
        br0[i] = least - pad;
        br1[i] = most + pad;
        bh0[i] = h0 - c;
        bh1[i] = h1 + c;
        bl0[i] = l0 - c;
        bl1[i] = l1 + c;
        bp0[i] = p0;
        bp1[i] = p1;
    }
}

/* hull of a list's boxes widened by a pixel */
GC_FN void gc_hull_widen(const gc_view *w, GC_GLOBAL gc_raster *hull)
{
    gc_raster rim = gc_pixel_rim(w, hull[GC_HULL_r0] - w->pixel);
    gc_raster way = gc_pixel_way(w, hull[GC_HULL_r0] - w->pixel, hull[GC_HULL_r1] + w->pixel);
    hull[GC_HULL_r0] -= w->pixel;
    hull[GC_HULL_r1] += w->pixel;
    hull[GC_HULL_h0] -= rim;
    hull[GC_HULL_h1] += rim;
    hull[GC_HULL_l0] -= way;
    hull[GC_HULL_l1] += way;
}

/* Hulls of the boxes of three lists, of their first `ranges` ranges (all four, or those without psi); an empty list gives an
 * empty hull. Features without an azimuth do not count for psi: their boxes hold every copy already. A work-item takes one
 * range of one list, or a part of it, and leaves its bounds in parts_out; all work-items of the group take part. */
#define GC_HULL_RANGES 12
GC_LARGE void s02_hulls(
    const gc_view *w,
    const gc_list *v,
    const gc_list *e,
    const gc_list *f,
    int ranges,
    GC_GLOBAL gc_raster *parts_out, /* (parts, 3, GC_HULL_STRIDE) */
    GC_GLOBAL gc_raster *hulls_out) /* (3, GC_HULL_STRIDE) */
{
    int parts = GC_SERIAL ? 1 : GC_MAX(GC_GROUP_SIZE / GC_HULL_RANGES, 1), task, i;
    GC_GLOBAL gc_raster *out = parts > 1 ? parts_out : hulls_out;
    for (task = GC_LOCAL_ID; task < GC_HULL_RANGES * parts; task += GC_GROUP_SIZE) {
        int part = task / GC_HULL_RANGES, which = task - GC_HULL_RANGES * part, field = 2 * (which & 3);
        const gc_list *l = which < 4 ? v : (which < 8 ? e : f);
        GC_GLOBAL const gc_raster *lo = l->box + field * l->room, *hi = lo + l->room;
        gc_raster least = GC_CULL_FAR, most = -GC_CULL_FAR;
        int n = *l->count;
        if ((which & 3) >= ranges) continue;
        for (i = part; i < n; i += parts) {
            if (field == GC_LIST_p0 && hi[i] - lo[i] > GC_F(2.0) * w->period) continue;
            least = lo[i] < least ? lo[i] : least;
            most = hi[i] > most ? hi[i] : most;
        }
        out[2 * task] = least;
        out[2 * task + 1] = most;
    }
    if (parts > 1) {
        GC_BARRIER();
        for (task = GC_LOCAL_ID; task < GC_HULL_RANGES; task += GC_GROUP_SIZE) {
            gc_raster least = parts_out[2 * task], most = parts_out[2 * task + 1];
            if ((task & 3) >= ranges) continue;
            for (i = 1; i < parts; ++i) {
                GC_GLOBAL const gc_raster *other = parts_out + 2 * (GC_HULL_RANGES * i + task);
                least = GC_MIN(other[0], least);
                most = GC_MAX(other[1], most);
            }
            hulls_out[2 * task] = least;
            hulls_out[2 * task + 1] = most;
        }
    }
    if (w->pixel > GC_F(0.0)) {
        GC_BARRIER();
        for (i = GC_LOCAL_ID; i < 3; i += GC_GROUP_SIZE) gc_hull_widen(w, hulls_out + GC_HULL_STRIDE * i);
    }
}

/* Copy into `to` what of `from` meets the hull of the other body's features during the step; `doppel` also adds the
 * copies of A shifted by whole turns that come into B's window (Buss, section 8). Rows need all fields, tests of all
 * pairs only the first six. */
GC_LARGE void s02_select(
    const gc_view *w,
    const gc_list *from,
    GC_GLOBAL const gc_raster *hull,
    const gc_list *to,
    int doppel,
    int all_fields)
{
    int n = *from->count, i, k;
    gc_raster reach = w->wn * w->speed * GC_F(0.5) + w->window;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL const gc_raster *b = from->box + i;
        gc_raster r0 = b[GC_LIST_r0 * from->room], r1 = b[GC_LIST_r1 * from->room];
        gc_raster h0 = b[GC_LIST_h0 * from->room], h1 = b[GC_LIST_h1 * from->room];
        gc_raster l0 = b[GC_LIST_l0 * from->room], l1 = b[GC_LIST_l1 * from->room];
        gc_raster p0 = b[GC_LIST_p0 * from->room], p1 = b[GC_LIST_p1 * from->room];
        int first = 0, last = 0;
        if (r0 > hull[GC_HULL_r1] || r1 < hull[GC_HULL_r0]) continue;
        if (doppel && w->wraps && p1 - p0 <= GC_F(2.0) * w->period && hull[GC_HULL_p0] <= hull[GC_HULL_p1]) {
            gc_raster low = GC_FLOOR_R((hull[GC_HULL_p0] - reach - p1) / w->period);
            gc_raster high = GC_FLOOR_R((hull[GC_HULL_p1] + reach - p0) / w->period) + GC_F(1.0);
            /* Copy 0 stays in any case: features of B that take every azimuth meet it, and are not in the hull. Clamped
             * before they are ints, which may not hold them. */
            first = (int)GC_MAX(GC_MIN(low, GC_F(0.0)), GC_F(-2.0));
            last = (int)GC_MAX(GC_MIN(high, GC_F(2.0)), GC_F(0.0));
        }
        for (k = first; k <= last; ++k) {
            gc_raster turn = doppel ? (gc_raster)k * w->period : GC_F(0.0);
            gc_raster dh = -w->gn * turn, dl = w->wn * turn;
            GC_GLOBAL gc_raster *out;
            int j;
            if (k == 0) {
                dh = GC_F(0.0);
                dl = GC_F(0.0);
                turn = GC_F(0.0);
            }
            if (h0 + dh > hull[GC_HULL_h1] || h1 + dh < hull[GC_HULL_h0]) continue;
            if (l0 + dl > hull[GC_HULL_l1] + w->window || l1 + dl < hull[GC_HULL_l0] - w->window) continue;
            j = GC_GROUP_ADD(to->count, 1);
            out = to->box + j;
            out[GC_LIST_r0 * to->room] = r0;
            out[GC_LIST_r1 * to->room] = r1;
            out[GC_LIST_h0 * to->room] = h0 + dh;
            out[GC_LIST_h1 * to->room] = h1 + dh;
            out[GC_LIST_l0 * to->room] = l0 + dl;
            out[GC_LIST_l1 * to->room] = l1 + dl;
            if (all_fields) {
                out[GC_LIST_p0 * to->room] = p0 + turn;
                out[GC_LIST_p1 * to->room] = p1 + turn;
                out[GC_LIST_u0 * to->room] = b[GC_LIST_u0 * from->room];
                out[GC_LIST_u1 * to->room] = b[GC_LIST_u1 * from->room];
            }
            to->id[j] = from->id[i];
            to->copy[j] = k;
        }
    }
}
