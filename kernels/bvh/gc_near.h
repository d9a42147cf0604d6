/* gc_near.h: a node of a mesh's tree as the other body sees it during the step.
 *
 * Three bounds, each of the whole arc: the box's ranges on the screen; a slab that holds the node (a patch of a road is
 * flat) against the other node, which goes from one place to another; and the same the other way round. A node's middle
 * leaves the chord between its places by at most an eighth of its greatest acceleration, and reaches from there as far as
 * its ball, or as its box does along the slab's normal half way, and a little farther for the half turn to either side
 * (docs/decisions/0011).
 */
#ifndef GC_NEAR_H
#define GC_NEAR_H

/* The pair's motion n as the smaller body sees it: the same screw, with the frame's origin at that body's centre half way
 * (or as far from the axis as its radius) and its size as the unit. The solver's frame is as large as the larger body, and
 * rounding to float32 there would make boxes padded for it larger than a small body (docs/decisions/0011). Places far from
 * the origin are rounded more: gc_near_view pads for how far the listed faces reach. */
GC_LARGE void gc_screw_near(const gc_screw *k, gc_screw *n)
{
    gc_real small = GC_MIN(k->radius_a, k->radius_b), m = GC_R(1.0), ux = GC_R(0.0), uz = GC_R(1.0), sx, q, far;
    const gc_real *t = k->radius_a < k->radius_b ? k->ta : k->tb;
    gc_real cx = t[0], cy = t[1], cz = t[2], x = k->kappa * cx, z = GC_R(1.0) + k->kappa * cz, kr = GC_SQRT(x * x + z * z);
    int i;
    *n = *k;
    for (i = 0; i < GC_NEAR_SCALES && small > GC_R(0.0) && small * m <= GC_R(0.5); ++i) m = m * GC_R(2.0);
    /* A body smaller than the unit can be has the unit's size: an origin as near to the axis as its own radius would take
     * kappa, and the larger body's places with it, out of float32. */
    small = GC_MAX(small, GC_R(0.5) / m);
    if (k->kappa > GC_R(0.0)) {
        if (kr > GC_R(1e-9)) {
            ux = x / kr;
            uz = z / kr;
            sx = cx / kr;
            q = -(z * cz + x * cx) / kr;
        } else {
            kr = GC_R(0.0);
            sx = GC_R(0.0);
            q = GC_R(1.0) / k->kappa;
        }
        far = GC_MAX(kr, k->kappa * small);
        /* the frame's origin is at least the body's radius from the axis */
        q -= (far - kr) / k->kappa;
        n->w = k->w * far * m;
        n->kappa = k->kappa / (far * m);
    } else {
        sx = cx;
        q = -cz;
        n->w = k->w * m;
    }
    n->g = k->g * m;
    n->speed = GC_SQRT(n->w * n->w + n->g * n->g);
    n->size = small * m;
    n->scale = k->scale / m;
    n->shrink = k->shrink * m;
    n->radius_a = k->radius_a * m;
    n->radius_b = k->radius_b * m;
    for (i = 0; i < 3; ++i) {
        n->ra[i] = uz * k->ra[i] - ux * k->ra[6 + i];
        n->ra[6 + i] = ux * k->ra[i] + uz * k->ra[6 + i];
        n->rb[i] = uz * k->rb[i] - ux * k->rb[6 + i];
        n->rb[6 + i] = ux * k->rb[i] + uz * k->rb[6 + i];
    }
    n->ta[0] = (uz * k->ta[0] - ux * k->ta[2] - sx) * m;
    n->ta[1] = (k->ta[1] - cy) * m;
    n->ta[2] = (ux * k->ta[0] + uz * k->ta[2] + q) * m;
    n->tb[0] = (uz * k->tb[0] - ux * k->tb[2] - sx) * m;
    n->tb[1] = (k->tb[1] - cy) * m;
    n->tb[2] = (ux * k->tb[0] + uz * k->tb[2] + q) * m;
}

/* The origin of the near frame in the coordinates of a body's centred mesh, user units. Vertices told from there lose no
 * digits to a large mesh; the body's shift is then what is left, nearly nothing. */
GC_FN gc_vec gc_near_origin(const gc_screw *n, const gc_real *rot, const gc_real *shift)
{
    return gc_scale(gc_rotate_back(rot, gc_make(shift[0], shift[1], shift[2])), -n->scale);
}

GC_FN void gc_near_shift(const gc_screw *n, const gc_real *rot, gc_real *shift)
{
    gc_vec left = gc_rotate(rot, gc_scale(gc_near_origin(n, rot, shift), n->shrink));
    shift[0] += left.x;
    shift[1] += left.y;
    shift[2] += left.z;
}

/* The view for culling in the near frame n of k, for places at most `reach` from its origin. Coordinates are rounded by a
 * share of their reach, and so is what faces at them; the solver's tolerances are shares of its own frame's size and speed,
 * which the smaller body may see as large. */
GC_FN gc_view gc_near_view(const gc_screw *k, const gc_screw *n, gc_real min_properness, gc_raster reach)
{
    gc_view w = gc_view_make(n, min_properness);
    gc_real unit = k->scale / n->scale, touch = GC_R(2.0) * (GC_TOL_INSIDE + GC_TOL_TOUCH) * k->size * unit;
    gc_real facing = n->speed > GC_R(0.0) ? GC_NEAR_FACING * k->speed * unit / n->speed : GC_R(0.0);
    gc_raster more = GC_NEAR_PAD * reach + (gc_raster)touch;
    w.pad += more;
    w.window += more;
    w.facing = GC_MAX((gc_raster)facing, w.facing) + GC_NEAR_PAD * reach * w.thetan;
    w.wraps = w.period < w.speed + GC_F(24.0) * GC_MAX(reach, GC_F(1.0));
    return w;
}

/* GC_NEAR_FIELDS numbers */
typedef struct {
    gc_extent box;
    gc_raster x0, y0, z0, x1, y1, z1; /* middle of the ball seen from the other body, at the start and end (either order) */
    gc_raster reach;                  /* the ball's radius and how far the middle strays from the chord */
    gc_raster nx, ny, nz, d0, d1;     /* slab: d0 <= n.x <= d1 in the screen frame */
    gc_raster mx, my, mz;             /* its normal's sizes in the frame of the other body's mesh, half way */
    gc_raster hx, hy, hz;             /* half the sides of the box in the frame of the body's own mesh */
    gc_raster slack;                  /* beside the box's reach half way: half the turn, and the stray */
} gc_near;

/* what all nodes of a pair share */
typedef struct {
    gc_screw screw; /* in the near frame */
    gc_view view;
    gc_turn before, behind; /* half a step back and on */
} gc_near_pair;

GC_LARGE void gc_near_pair_make(GC_GLOBAL const gc_real *screw, gc_near_pair *p)
{
    gc_screw k;
    gc_raster reach;
    gc_screw_load(screw, &k);
    gc_screw_near(&k, &p->screw);
    /* nodes are told from the meshes' centres */
    reach = (gc_raster)(GC_MAX(
        p->screw.radius_a + GC_ABS(p->screw.ta[0]) + GC_ABS(p->screw.ta[1]) + GC_ABS(p->screw.ta[2]),
        p->screw.radius_b + GC_ABS(p->screw.tb[0]) + GC_ABS(p->screw.tb[1]) + GC_ABS(p->screw.tb[2])));
    p->view = gc_near_view(&k, &p->screw, GC_R(-1.0), reach);
    p->before = gc_turn_at(k.theta, GC_R(-0.5));
    p->behind = gc_turn_at(k.theta, GC_R(0.5));
}

GC_FN void gc_near_load(GC_GLOBAL const gc_raster *p, gc_near *a)
{
    a->box.r0 = p[0];
    a->box.r1 = p[1];
    a->box.h0 = p[2];
    a->box.h1 = p[3];
    a->box.l0 = p[4];
    a->box.l1 = p[5];
    a->box.p0 = p[6];
    a->box.p1 = p[7];
    a->box.full = p[8];
    a->x0 = p[9];
    a->y0 = p[10];
    a->z0 = p[11];
    a->x1 = p[12];
    a->y1 = p[13];
    a->z1 = p[14];
    a->reach = p[15];
    a->nx = p[16];
    a->ny = p[17];
    a->nz = p[18];
    a->d0 = p[19];
    a->d1 = p[20];
    a->mx = p[21];
    a->my = p[22];
    a->mz = p[23];
    a->hx = p[24];
    a->hy = p[25];
    a->hz = p[26];
    a->slack = p[27];
}

GC_FN void gc_near_store(const gc_near *a, GC_GLOBAL gc_raster *p)
{
    p[0] = a->box.r0;
    p[1] = a->box.r1;
    p[2] = a->box.h0;
    p[3] = a->box.h1;
    p[4] = a->box.l0;
    p[5] = a->box.l1;
    p[6] = a->box.p0;
    p[7] = a->box.p1;
    p[8] = a->box.full;
    p[9] = a->x0;
    p[10] = a->y0;
    p[11] = a->z0;
    p[12] = a->x1;
    p[13] = a->y1;
    p[14] = a->z1;
    p[15] = a->reach;
    p[16] = a->nx;
    p[17] = a->ny;
    p[18] = a->nz;
    p[19] = a->d0;
    p[20] = a->d1;
    p[21] = a->mx;
    p[22] = a->my;
    p[23] = a->mz;
    p[24] = a->hx;
    p[25] = a->hy;
    p[26] = a->hz;
    p[27] = a->slack;
}

/* node: GC_PATCH_NODE numbers; rot, shift: the body's place in the screen frame (B half way); other: the other one's
 * rotation */
GC_LARGE void gc_near_make(
    const gc_near_pair *p,
    const gc_real *rot,
    const gc_real *shift,
    const gc_real *other,
    GC_GLOBAL const gc_raster *node,
    gc_near *a)
{
    const gc_screw *k = &p->screw;
    gc_real unit = GC_R(0.5) * k->shrink, offset;
    gc_vec c = gc_make(
               unit * (gc_real)(node[0] + node[3]), unit * (gc_real)(node[1] + node[4]),
               unit * (gc_real)(node[2] + node[5])),
           n, at;
    gc_raster pad = GC_F(4.0) * p->view.pad, f = GC_F(0.5) * (gc_raster)k->shrink, radius, stray;
    gc_box_extent(&p->view, rot, shift, k->shrink, node, &a->box);
    c = gc_add(gc_rotate(rot, c), gc_make(shift[0], shift[1], shift[2]));
    at = gc_flow(k, p->before, c);
    a->x0 = (gc_raster)at.x;
    a->y0 = (gc_raster)at.y;
    a->z0 = (gc_raster)at.z;
    at = gc_flow(k, p->behind, c);
    a->x1 = (gc_raster)at.x;
    a->y1 = (gc_raster)at.y;
    a->z1 = (gc_raster)at.z;
    radius = (gc_raster)(node[11] * k->shrink);
    stray = GC_F(0.125) * (gc_raster)(k->theta * k->w) * gc_kappa_r(p->view.kappa, (gc_raster)c.x, (gc_raster)c.z) + pad;
    a->reach = radius + stray;
    a->slack = GC_F(0.5) * p->view.theta * radius + stray;
    a->hx = f * (node[3] - node[0]);
    a->hy = f * (node[4] - node[1]);
    a->hz = f * (node[5] - node[2]);
    n = gc_rotate(rot, gc_make((gc_real)node[6], (gc_real)node[7], (gc_real)node[8]));
    offset = n.x * shift[0] + n.y * shift[1] + n.z * shift[2];
    a->nx = (gc_raster)n.x;
    a->ny = (gc_raster)n.y;
    a->nz = (gc_raster)n.z;
    a->d0 = (gc_raster)((gc_real)node[9] * k->shrink + offset) - pad;
    a->d1 = (gc_raster)((gc_real)node[10] * k->shrink + offset) + pad;
    n = gc_rotate_back(other, n);
    a->mx = GC_ABS_R((gc_raster)n.x);
    a->my = GC_ABS_R((gc_raster)n.y);
    a->mz = GC_ABS_R((gc_raster)n.z);
}

/* does b pass through the slab of a? */
GC_FN int gc_slab_meets(const gc_near *a, const gc_near *b)
{
    gc_raster across = a->mx * b->hx + a->my * b->hy + a->mz * b->hz + b->slack, reach = GC_MIN(across, b->reach);
    gc_raster s = a->nx * b->x0 + a->ny * b->y0 + a->nz * b->z0, e = a->nx * b->x1 + a->ny * b->y1 + a->nz * b->z1;
    return GC_MIN(s, e) - reach <= a->d1 && GC_MAX(s, e) + reach >= a->d0;
}

/* a of A, b of B */
GC_FN int gc_near_meet(const gc_view *w, const gc_near *a, const gc_near *b)
{
    return gc_slab_meets(a, b) && gc_slab_meets(b, a) && gc_extents_meet(w, &a->box, &b->box);
}

#endif
