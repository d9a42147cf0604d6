/* gc_world.h: from a body's own axes to the world, while it moves along the screw between its two poses.
 * needs: narrow_phase/frame/gc_screw.h
 */
#ifndef GC_WORLD_H
#define GC_WORLD_H

/* A's own motion through the world, from its body origin (docs/conventions.md, relative motion) */
typedef struct {
    gc_screw screw;
    gc_quat q0;
    gc_vec p0;
} gc_world;

/* size and scale: those of A's mesh; its unit keeps squares within the numbers there are, unless it is so small that the way
 * itself would leave them */
GC_FN void gc_world_make(gc_vec p0, gc_quat q0, gc_vec p1, gc_quat q1, gc_real size, gc_real scale, gc_world *w)
{
    gc_quat back = gc_quat_conj(q0), one = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_vec zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    if (!(gc_most(gc_sub(p1, p0)) / scale <= GC_R(1e30))) scale = GC_R(1.0);
    w->screw.scale = scale;
    w->screw.shrink = GC_R(1.0) / scale;
    gc_screw_make(
        gc_quat_unit(gc_quat_mul(back, q1)), one, zero, gc_scale(gc_quat_rotate(back, gc_sub(p1, p0)), w->screw.shrink),
        size * w->screw.shrink, &w->screw);
    w->q0 = q0;
    w->p0 = p0;
}

GC_FN gc_vec gc_world_point(const gc_world *w, gc_turn r, gc_vec x)
{
    const gc_screw *k = &w->screw;
    gc_vec y = gc_unplace(k, k->ra, k->ta, gc_flow(k, r, gc_place(k, k->rb, k->tb, x)));
    return gc_add(w->p0, gc_quat_rotate(w->q0, y));
}

GC_FN gc_vec gc_world_direction(const gc_world *w, gc_turn r, gc_vec d)
{
    const gc_screw *k = &w->screw;
    return gc_quat_rotate(w->q0, gc_rotate_back(k->ra, gc_turn_vec(k, r, gc_rotate(k->rb, d))));
}

#endif
