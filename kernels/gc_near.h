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

#define GC_NEAR_FIELDS 28
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
    gc_screw screw;
    gc_view view;
    gc_turn before, behind; /* half a step back and on */
} gc_near_pair;

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
GC_LARGE void gc_near_make(const gc_near_pair *p, const gc_real *rot, const gc_real *shift, const gc_real *other,
                           GC_GLOBAL const gc_raster *node, gc_near *a)
{
    const gc_screw *k = &p->screw;
    gc_real unit = GC_R(0.5) * k->shrink, offset;
    gc_vec c = gc_make(unit * (gc_real)(node[0] + node[3]), unit * (gc_real)(node[1] + node[4]),
                       unit * (gc_real)(node[2] + node[5])), n, at;
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
