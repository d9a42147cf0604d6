/* gc_separating.h: two bodies that touch at a place: does a plane separate all that they have there, as the one goes or turns?
 * needs: pluecker/gc_loop.h
 *
 * A corner that stands exactly at a corner is at the borders of several faces of both, and the path by which it leaves goes behind some of
 * their planes. One plane proves for all of these faces at once that they do not meet: the still ones lie on its back, the mover's on its
 * front, and the mover does not go down to it. If there is one, there is one through two directions from the place to corners of these faces.
 * All in the frame of the obstacle's mesh. Asked of starts in touch alone: where features are parted by more than rounding, each pair
 * of them decides for itself.
 */
#ifndef GC_SEPARATING_H
#define GC_SEPARATING_H

/* directions that are looked at; those of faces with more corners are left out, and the mover may be held */
#define GC_RAYS_MOST 24

/* from the place to corners of the faces there: those of the mover's, and of the still ones' turned round */
typedef struct {
    gc_vec place, ray[GC_RAYS_MOST];
    gc_real near; /* what rounding may put beside it */
    gc_vec plane; /* a separating one, if it is to be checked */
    int n, check;
    int off; /* is something clearly off the plane? */
} gc_rays;

/* Ray `ray` of the one body or the other: 0, if it is on the wrong side of the plane. */
GC_FN int gc_rays_add(gc_rays *to, gc_vec ray)
{
    if (to->check) {
        gc_real rise = gc_dot(to->plane, ray), least = to->near * gc_norm(to->plane);
        to->off |= rise > GC_R(4.0) * least;
        return rise >= -least;
    }
    for (int k = 0; k < to->n; ++k)
        if (ray.x == to->ray[k].x && ray.y == to->ray[k].y && ray.z == to->ray[k].z) return 1;
    if (to->n < GC_RAYS_MOST && gc_most(ray) > to->near) to->ray[to->n++] = ray;
    return 1;
}

/* is the place at a face, within `reach`? */
GC_FN int gc_rays_at(const gc_rays *to, const gc_loop *l, gc_vec n, gc_real reach)
{
    gc_vec last = gc_loop_corner(l, l->end - 1);
    if (GC_ABS(gc_dot(n, gc_sub(to->place, last))) > reach) return 0;
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k), inward = gc_cross(n, gc_sub(next, last));
        if (gc_dot(inward, gc_sub(to->place, last)) < -reach * gc_norm(inward)) return 0;
        last = next;
    }
    return 1;
}

/* the rays of a face; where the place is one of its corners, the two sides there bound all of them */
GC_FN int gc_rays_of_face(gc_rays *to, const gc_loop *l)
{
    gc_real sign = l->of_mover ? GC_R(1.0) : GC_R(-1.0);
    int corner = -1, n = l->end - l->begin;
    for (int k = 0; k < n; ++k)
        if (gc_most(gc_sub(gc_loop_corner(l, l->begin + k), to->place)) <= to->near) corner = k;
    for (int k = 0; k < n; ++k) {
        int beside = corner < 0 || k == (corner + 1) % n || k == (corner + n - 1) % n;
        if ((beside || to->check) && !gc_rays_add(to, gc_scale(gc_sub(gc_loop_corner(l, l->begin + k), to->place), sign)))
            return 0;
    }
    return 1;
}

/* all faces of a body at the place; 0: one is on the wrong side of the plane */
GC_RARE int gc_rays_of_body(gc_rays *to, const gc_mover_at *q, int of_mover)
{
    const gc_forms *t = of_mover ? &q->forms : &q->walk->world->forms;
    const gc_form *form = of_mover ? &q->form : &q->walk->form;
    const gc_stand *here = &q->walk->here;
    gc_vec x = of_mover ? gc_turned_back(here->rot, gc_sub(to->place, here->shift)) : to->place;
    gc_real reach = GC_ZONE_REACH * q->zone.expel;
    int leaves = 1 << form->height, node = 1;
    do {
        GC_GLOBAL const gc_raster *box = t->nodes + form->node + GC_BOX_STRIDE * node;
        int holds = (gc_real)box[0] <= x.x + reach && (gc_real)box[3] >= x.x - reach && (gc_real)box[1] <= x.y + reach
                    && (gc_real)box[4] >= x.y - reach && (gc_real)box[2] <= x.z + reach && (gc_real)box[5] >= x.z - reach;
        if (holds && node < leaves) {
            node = 2 * node;
            continue;
        }
        if (holds) {
            int face = (node - leaves) << GC_FORM_LEAF, last = GC_MIN(face + (1 << GC_FORM_LEAF), form->faces);
            for (; face < last; ++face) {
                gc_loop l = gc_loop_of(q, of_mover, face);
                gc_vec n;
                if (l.end == l.begin) continue; /* a point has none */
                n = gc_load_vec(t->reals + form->plane, face);
                if (of_mover) n = gc_rotate(here->rot, n);
                if (gc_rays_at(to, &l, n, reach) && !gc_rays_of_face(to, &l)) return 0;
            }
        }
        while (node & 1 && node > 1) node >>= 1;
        node = node > 1 ? node + 1 : 0;
    } while (node > 0);
    return 1;
}

/* does the plane through the place across n separate them? */
GC_FN int gc_rays_separated(gc_rays *to, const gc_mover_at *q, gc_vec n)
{
    gc_real least = -to->near * gc_norm(n);
    int separated;
    for (int k = 0; k < to->n; ++k)
        if (!(gc_dot(n, to->ray[k]) >= least)) return 0;
    to->plane = n;
    to->check = 1;
    to->off = 0;
    separated = gc_rays_of_body(to, q, 0) && gc_rays_of_body(to, q, 1) && to->off;
    to->check = 0;
    return separated;
}

/* are all directions clearly on the front of a plane? Then the bodies touch at the place alone. */
GC_FN int gc_rays_clear(const gc_rays *to, gc_vec n)
{
    for (int k = 0; k < to->n; ++k)
        if (!(gc_dot(n, to->ray[k]) > GC_TOUCH_STEEP * gc_norm(n) * gc_norm(to->ray[k]))) return 0;
    return to->n < GC_RAYS_MOST;
}

/* Of a mover and an obstacle that touch at a place: is there a plane there with all of the mover's faces at the place before it, and all of the
 * obstacle's behind it, to which the mover does not go down? On a way that holds for ever. On a turn, where a pair of features meets once at
 * most within half of one, the start decides: they touch at this place alone, which leaves the plane. */
GC_RARE int gc_separated_at(const gc_mover_at *q, int mode, gc_vec place)
{
    const gc_stand *here = &q->walk->here;
    gc_vec v = mode == GC_GOES ? here->way : gc_cross(here->axis, gc_sub(place, here->pivot)), middle;
    gc_loop first = gc_loop_of(q, 1, 0);
    gc_rays rays;
    int leaves = 0;
    /* A point has no face to be before a plane: in a fold that opens inwards the solid's faces are behind one, and the solid before it. */
    if (first.end == first.begin) return 0;
    rays.place = place;
    rays.near = GC_R(0.5) * q->zone.doubt;
    rays.n = rays.check = rays.off = 0;
    rays.plane = middle = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_rays_of_body(&rays, q, 0);
    gc_rays_of_body(&rays, q, 1);
    for (int i = 0; i < rays.n; ++i) {
        for (int k = 0; k < 2 * i; ++k) {
            gc_vec n = gc_scale(gc_cross(rays.ray[i], rays.ray[k >> 1]), k & 1 ? GC_R(-1.0) : GC_R(1.0));
            gc_real rise = gc_dot(n, v), length = gc_norm(n);
            if (!(length > GC_R(0.0)) || (mode == GC_GOES && rise < GC_R(0.0)) || !gc_rays_separated(&rays, q, n)) continue;
            if (mode == GC_GOES) return 1;
            middle = gc_add(middle, gc_scale(n, GC_R(1.0) / length));
            leaves |= rise > GC_TOUCH_STEEP * length * gc_norm(v);
        }
    }
    return leaves && gc_rays_clear(&rays, middle);
}

#endif
