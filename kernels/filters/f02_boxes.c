/* f02_boxes: pairs whose oriented boxes, moved along with them, do not meet during the step.
 * needs: common/gc_motion.h narrow_phase/frame/gc_screen.h
 *
 * in:  screw records (s01), state bits, half the sides of the meshes' boxes, which pairs to test
 * out: keep_out (n_todo,) 0 where the boxes cannot meet
 * One work-item per pair. Source: Blow, "bounding box safety", with the separating directions of oriented boxes, in (rho,
 * psi, y), where B is only shifted along (0, w, g). There a box is curved: it is its linear image about its middle, plus a
 * bound on the curvature. First the ranges of rho, psi and y are compared, then the normals of all pairs of the seven
 * directions in which A, B and the shift extend: if any of these separates the linear images by more than the bounds,
 * nothing meets. A box near the axis takes every azimuth and is tested by rho and y alone.
 */
typedef struct {
    gc_raster gen[3][3];   /* half sides as (rho, psi, y) */
    gc_raster rho, psi, y; /* middle of the linear image */
    gc_raster stray_rho, stray_psi;
    gc_raster r0, r1, p0, p1, dy; /* ranges of rho and psi, half the range of y */
    gc_raster least;              /* bound of kappa r from below */
    int full;
} gc_bent_box;

/* sides: (3,) half the sides in user units */
GC_LARGE void f02_place(
    const gc_view *w,
    GC_GLOBAL const gc_real *sides,
    gc_real shrink,
    const gc_real *rot,
    const gc_real *shift,
    gc_bent_box *b)
{
    gc_raster kappa = w->kappa, x = (gc_raster)shift[0], z = (gc_raster)shift[2];
    gc_raster kc = gc_kappa_r(kappa, x, z), out = GC_F(0.0), along = GC_F(0.0), q = -GC_CULL_FAR, sn, cs;
    gc_raster lo_t = GC_F(0.0), lo_a = GC_F(1.0), hi_t = GC_F(0.0), hi_a = GC_F(1.0);
    gc_raster rad[3], tang[3], far_x = GC_F(0.0), far_z = GC_F(0.0), bx, bz;
    int i, there = kc > w->axis;
    /* out and along at the middle's azimuth; the middle is (bx, bz) in these axes */
    sn = there ? kappa * x / kc : GC_F(0.0);
    cs = there ? (GC_F(1.0) + kappa * z) / kc : GC_F(1.0);
    b->rho = gc_rho(kappa, x, z);
    bx = there ? GC_F(0.0) : x;
    bz = there ? b->rho : z;
    b->psi = gc_arc(x, z, kappa, w->inv_kappa);
    b->y = (gc_raster)shift[1];
    b->dy = GC_F(0.0);
    for (i = 0; i < 3; ++i) {
        gc_real h = sides[i] * shrink;
        gc_raster ex = (gc_raster)(rot[i] * h), ey = (gc_raster)(rot[3 + i] * h), ez = (gc_raster)(rot[6 + i] * h);
        rad[i] = sn * ex + cs * ez;
        tang[i] = cs * ex - sn * ez;
        b->gen[i][0] = rad[i];
        b->gen[i][1] = there ? tang[i] / kc : GC_F(0.0);
        b->gen[i][2] = ey;
        out += GC_ABS_R(rad[i]);
        along += GC_ABS_R(tang[i]);
        b->dy += GC_ABS_R(ey);
    }
    b->least = kc - kappa * out;
    b->full = !(b->least > GC_F(2.0) * w->axis);
    /* corners, in the axes of the middle: the farthest from the axis, and those of least and greatest azimuth */
    for (i = 0; i < 8; ++i) {
        gc_raster a = (i & 1 ? rad[0] : -rad[0]) + (i & 2 ? rad[1] : -rad[1]) + (i & 4 ? rad[2] : -rad[2]);
        gc_raster t = (i & 1 ? tang[0] : -tang[0]) + (i & 2 ? tang[1] : -tang[1]) + (i & 4 ? tang[2] : -tang[2]);
        gc_raster k = kc + kappa * a, cx = bx + t, cz = bz + a, far = kappa * (cx * cx + cz * cz) + GC_F(2.0) * cz;
        if (far > q) {
            q = far;
            far_x = cx;
            far_z = cz;
        }
        if (t * lo_a < lo_t * k) {
            lo_t = t;
            lo_a = k;
        }
        if (t * hi_a > hi_t * k) {
            hi_t = t;
            hi_a = k;
        }
    }
    b->r0 = b->full ? -w->inv_kappa : b->rho - out;
    b->r1 = gc_rho(kappa, far_x, far_z);
    if (b->full) return;
    b->p0 = b->psi + gc_arc(lo_t / lo_a, GC_F(0.0), kappa, w->inv_kappa);
    b->p1 = b->psi + gc_arc(hi_t / hi_a, GC_F(0.0), kappa, w->inv_kappa);
    /* r - (r_c + a) = t^2 / (r + r_c + a); psi - t/k_c from arctan(u) - u and 1/k - 1/k_c */
    b->stray_rho = GC_F(0.25) * kappa * along * along / b->least;
    b->rho += b->stray_rho;
    b->stray_psi = kappa * along / b->least * (out / kc + kappa * along * along / (GC_F(3.0) * b->least * b->least));
}

/* the copies of A, a whole turn back, none, one on, whose range of (psi, y) B's sweeps over: a bit each */
GC_FN int f02_copies(const gc_view *w, const gc_bent_box *a, const gc_bent_box *b, gc_raster way_w, gc_raster pad)
{
    gc_raster dy = b->y - a->y, sy = a->dy + b->dy + GC_F(4.0) * w->pad;
    gc_raster dp = GC_F(0.5) * (b->p0 + b->p1 - a->p0 - a->p1), sp = GC_F(0.5) * (a->p1 - a->p0 + b->p1 - b->p0) + pad;
    int copies = 0, turn, reach = w->wraps ? 1 : 0;
    for (turn = -reach; turn <= reach; ++turn) {
        gc_raster d = turn == 0 ? dp : dp - (gc_raster)turn * w->period;
        if (GC_ABS_R(d) > sp + way_w) continue;
        if (GC_ABS_R(w->wn * dy - w->gn * d) > w->wn * sy + GC_ABS_R(w->gn) * sp) continue;
        copies |= 1 << (turn + 1);
    }
    return copies;
}

GC_LARGE int f02_boxes_meet(const gc_view *w, const gc_bent_box *a, const gc_bent_box *b, gc_raster way_w, gc_raster way_g)
{
    gc_raster g[7][3], pad;
    int copies, i, j, k, turn;
    if (a->r0 > b->r1 + GC_F(4.0) * w->pad || b->r0 > a->r1 + GC_F(4.0) * w->pad) return 0;
    if (GC_ABS_R(a->y - b->y) > a->dy + b->dy + GC_ABS_R(way_g) + GC_F(4.0) * w->pad) return 0;
    if (a->full || b->full) return 1;
    pad = GC_F(4.0) * gc_pad_near(w, GC_MIN(a->least, b->least));
    copies = f02_copies(w, a, b, way_w, pad);
    for (i = 0; i < 3; ++i)
        for (k = 0; k < 3; ++k) {
            g[i][k] = a->gen[i][k];
            g[3 + i][k] = b->gen[i][k];
        }
    g[6][0] = GC_F(0.0);
    g[6][1] = way_w;
    g[6][2] = way_g;
    for (i = 0; i < 6 && copies; ++i)
        for (j = i + 1; j < 7 && copies; ++j) {
            gc_raster n0 = g[i][1] * g[j][2] - g[i][2] * g[j][1];
            gc_raster n1 = g[i][2] * g[j][0] - g[i][0] * g[j][2];
            gc_raster n2 = g[i][0] * g[j][1] - g[i][1] * g[j][0];
            gc_raster a0 = GC_ABS_R(n0), a1 = GC_ABS_R(n1), a2 = GC_ABS_R(n2);
            gc_raster reach = a0 * (a->stray_rho + b->stray_rho) + a1 * (a->stray_psi + b->stray_psi) + (a0 + a1 + a2) * pad;
            gc_raster apart;
            /* boxes of 1e-20 sizes: their products, and what the pad makes of them, are no numbers of float32 any more */
            if (!(a0 + a1 + a2 > GC_F(1e-25))) continue;
            apart = n0 * (b->rho - a->rho) + n1 * (b->psi - a->psi) + n2 * (b->y - a->y);
            for (k = 0; k < 7; ++k) reach += GC_ABS_R(n0 * g[k][0] + n1 * g[k][1] + n2 * g[k][2]);
            for (turn = -1; turn <= 1; ++turn)
                if (copies >> (turn + 1) & 1) {
                    gc_raster d = turn == 0 ? apart : apart - n1 * (gc_raster)turn * w->period;
                    if (GC_ABS_R(d) > reach) copies &= ~(1 << (turn + 1));
                }
        }
    return copies != 0;
}

GC_KERNEL void f02_boxes(
    int n_todo,
    GC_GLOBAL const int *todo_in,           /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *pairs_in,          /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,          /* (bodies,) mesh of each body */
    GC_GLOBAL const gc_real *screw_in,      /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,          /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL const gc_real *mesh_reals_in, /* (meshes, GC_MESH_REAL_STRIDE) */
    GC_GLOBAL gc_uchar *keep_out)           /* (n_todo,) */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int pair = todo_in[i], ma, mb;
        GC_SEEN(gc_screw, seen);
        const gc_screw *k;
        gc_view w;
        gc_bent_box a, b;
        gc_real until;
        keep_out[i] = pair >= 0;
        if (pair < 0 || state_in[pair]) continue;
        ma = shape_in[pairs_in[2 * pair]];
        mb = shape_in[pairs_in[2 * pair + 1]];
        GC_SEEN_LOAD(gc_screw, gc_screw_load, screw_in + GC_SCREW_STRIDE * pair, seen);
        k = GC_SEEN_AT(seen);
        w = gc_view_make(k, GC_R(-1.0));
        w.pad += GC_FILTER_FLAT;
        f02_place(&w, mesh_reals_in + GC_MESH_REAL_STRIDE * ma + GC_MESH_REAL_sides, k->shrink, k->ra, k->ta, &a);
        f02_place(&w, mesh_reals_in + GC_MESH_REAL_STRIDE * mb + GC_MESH_REAL_sides, k->shrink, k->rb, k->tb, &b);
        until = GC_R(0.5) + k->tau;
        keep_out[i] = (gc_uchar)f02_boxes_meet(&w, &a, &b, (gc_raster)(until * k->w), (gc_raster)(until * k->g));
    }
}
