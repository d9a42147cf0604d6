/* gc_near.h: the frame in which near faces are looked for, and what of a node can be told without the other body's.
 * needs: common/gc_motion.h narrow_phase/frame/gc_screen.h
 *
 * The frame is that of the smaller body (docs/decisions/0011). In it: when the boxes of two nodes meet on the screen, and whether
 * a node's faces come against the motion anywhere (docs/decisions/0049). gc_node_distance.h has the rest.
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
    n->pad = k->pad * m;
    n->slip = k->slip * m;
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

/* The origin of the near frame in the coordinates of a body's centred mesh, user units. Vertices measured from there lose no
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

/* How far an edge strays from its chords in rho and in psi (gc_grid_make), in units of the pair's frame. */
GC_FN gc_real gc_chords_bend(const gc_screw *k, gc_real height)
{
    gc_real row = GC_MAX(height * k->shrink, GC_R(8.0) * (gc_real)GC_CULL_PAD * (GC_R(1.0) + k->speed));
    return GC_MAX(row * row / k->size, GC_TOL_INSIDE * k->size);
}

/* The view n of refine = segments or pixels, of the pair's motion k: parts of features are drawn that face away a little
 * (gc_raster_crossings.h, gc_cover.h), and pixels are those of the pair's own grid (gc_grid_make). height: user units. In the pair's own
 * frame n is k. */
GC_FN void gc_view_draws(const gc_screw *k, const gc_screw *n, int refine, gc_real height, gc_view *w)
{
    gc_real unit = k->scale / n->scale, least = GC_R(8.0) * (gc_real)GC_CULL_PAD * (GC_R(1.0) + k->speed) * unit;
    gc_real facing = n->speed > GC_R(0.0) ? GC_DRAWN_FACING * k->speed * unit / n->speed : GC_R(0.0);
    if (refine == GC_REFINE_EXACT) return;
    w->facing = GC_MAX((gc_raster)facing, w->facing);
    if (refine == GC_REFINE_SEGMENTS) w->bend = (gc_raster)GC_MIN(gc_chords_bend(k, height) * unit, (gc_real)GC_CULL_FAR);
    else w->pixel = GC_MAX((gc_raster)GC_MAX(height * n->shrink, least), GC_F(8.0) * w->pad);
}

/* How far apart, in units of the near frame n, two edges may be at the time at which their chords cross (refine = segments):
 * each chord strays by at most `bend` in rho and in psi (docs/decisions/0079). */
GC_FN gc_raster gc_chords_apart(const gc_screw *k, const gc_screw *n, gc_real height)
{
    gc_real bend = gc_chords_bend(k, height), apart;
    gc_real far = GC_MAX(
        k->radius_a + GC_ABS(k->ta[0]) + GC_ABS(k->ta[1]) + GC_ABS(k->ta[2]),
        k->radius_b + GC_ABS(k->tb[0]) + GC_ABS(k->tb[1]) + GC_ABS(k->tb[2]));
    apart = GC_R(4.0) * bend * (GC_R(2.0) + k->kappa * far) * k->scale / n->scale;
    return (gc_raster)GC_MIN(apart, (gc_real)GC_CULL_FAR);
}

/* what all nodes of a pair share */
typedef struct {
    gc_screw screw; /* in the near frame */
    gc_view view;
    int cones;       /* are only contacts asked for whose normals lie in the nodes' double cones? */
    gc_raster apart; /* what meets is not farther apart in space, beyond rounding */
} gc_near_pair;

GC_LARGE void gc_near_pair_make(
    GC_GLOBAL const gc_real *screw,
    gc_real min_properness,
    int refine,
    gc_real height,
    gc_near_pair *p)
{
    GC_SEEN(gc_screw, seen);
    const gc_screw *k;
    gc_raster reach;
    GC_SEEN_LOAD(gc_screw, gc_screw_load, screw, seen);
    k = GC_SEEN_AT(seen);
    gc_screw_near(k, &p->screw);
    /* nodes are measured from the meshes' centres */
    reach = (gc_raster)(GC_MAX(
        p->screw.radius_a + GC_ABS(p->screw.ta[0]) + GC_ABS(p->screw.ta[1]) + GC_ABS(p->screw.ta[2]),
        p->screw.radius_b + GC_ABS(p->screw.tb[0]) + GC_ABS(p->screw.tb[1]) + GC_ABS(p->screw.tb[2])));
    p->view = gc_near_view(k, &p->screw, GC_R(-1.0), reach);
    gc_view_draws(k, &p->screw, refine, height, &p->view);
    p->apart = GC_F(0.0);
    if (refine == GC_REFINE_SEGMENTS) p->apart = gc_chords_apart(k, &p->screw, height);
    /* the time of a shared pixel is no time at which the features need be near each other */
    if (refine == GC_REFINE_PIXELS) p->apart = GC_CULL_FAR;
    p->cones = min_properness >= GC_CONE_PROPERNESS;
}

/* Can a feature of the node make a contact, as far as facing goes? A contact needs a face around the feature that the motion
 * comes against: way n . omega >= 0 within the tolerance, way +1 for B, -1 for A; omega at a point of the node is that at its
 * middle c within theta times the radius. n: the node's axis in the screen frame */
GC_FN int gc_near_faces(const gc_near_pair *p, gc_vec n, gc_vec c, gc_raster radius, gc_raster ring, gc_raster way)
{
    const gc_screw *k = &p->screw;
    gc_raster ox = (gc_raster)(k->w + k->theta * c.z), oy = (gc_raster)k->g, oz = -(gc_raster)(k->theta * c.x);
    gc_raster speed = GC_SQRT_R(ox * ox + oy * oy + oz * oz), along, across, most;
    if (!p->cones || ring <= GC_F(0.0)) return 1;
    along = way * ((gc_raster)n.x * ox + (gc_raster)n.y * oy + (gc_raster)n.z * oz);
    across = GC_SQRT_R(GC_MAX(speed * speed - along * along, GC_F(0.0)));
    /* along a normal at the ring's rim */
    most = along * ring + across * GC_SQRT_R(GC_F(1.0) - ring * ring);
    return most >= -(p->view.theta * radius + GC_F(2.0) * p->view.facing * p->view.speed + GC_CONE_SLACK * speed);
}

/* Can what lies in the extents a (at rest) and b (moving) meet during the step, on any copy of A round the axis, and when, s from
 * first to last? */
GC_FN int gc_extents_when(const gc_view *w, const gc_extent *a, const gc_extent *b, gc_raster *first, gc_raster *last)
{
    int from = 0, to = 0, k, some = 0;
    gc_raster s0 = GC_F(0.5), s1 = GC_F(-0.5), inv;
    *first = GC_F(-0.5);
    *last = GC_F(0.5);
    if (a->r0 > b->r1 || a->r1 < b->r0) return 0;
    if (w->period < GC_CULL_FAR) {
        gc_raster reach = w->wn * w->speed * GC_F(0.5) + w->window, low, high;
        if (a->full + b->full > GC_F(0.0)) return 1;
        low = GC_FLOOR_R((b->p0 - reach - a->p1) / w->period);
        high = GC_FLOOR_R((b->p1 + reach - a->p0) / w->period) + GC_F(1.0);
        from = (int)GC_MAX(GC_MIN(low, GC_F(0.0)), GC_F(-2.0));
        to = (int)GC_MAX(GC_MIN(high, GC_F(2.0)), GC_F(0.0));
    }
    inv = w->speed > GC_F(0.0) ? GC_F(1.0) / w->speed : GC_F(0.0);
    for (k = from; k <= to; ++k) {
        gc_raster turn = k == 0 ? GC_F(0.0) : (gc_raster)k * w->period, dh = -w->gn * turn, dl = w->wn * turn;
        if (a->h0 + dh > b->h1 || a->h1 + dh < b->h0 || a->l0 + dl > b->l1 + w->window || a->l1 + dl < b->l0 - w->window)
            continue;
        some = 1;
        s0 = GC_MIN((a->l0 + dl - b->l1) * inv, s0);
        s1 = GC_MAX((a->l1 + dl - b->l0) * inv, s1);
    }
    if (inv > GC_F(0.0)) {
        *first = GC_MAX(s0, GC_F(-0.5));
        *last = GC_MIN(s1, GC_F(0.5));
    }
    return some;
}

#endif
