/* gc_body_moment.h: two bodies that move each by itself, as the screw that they are on at one moment.
 * needs: narrow_phase/frame/gc_screw.h narrow_phase/frame/gc_body_motion.h
 *
 * Place, normal, facing and properness of a contact depend on the poses and the velocities of its
 * moment alone, and there a pair is one that is on a screw half-way through its step.
 */
#ifndef GC_BODY_MOMENT_H
#define GC_BODY_MOMENT_H
#if GC_BODY_MOTION

/* The pair at s, to be looked at half-way. Tolerances stay those of the whole step: where all stands still for a moment a share of the
 * speed there would be none. */
GC_LARGE void gc_pair_at(const gc_pair *p, gc_real s, gc_pair *at)
{
    gc_body_state t;
    gc_screw *k = &at->screw;
    gc_real wc, fast;
    gc_vec axis, along;
    *at = *p;
    gc_bodies_at(&p->bodies, s, &t);
    fast = gc_length(t.v);
    k->theta = gc_length(t.omega);
    if (k->theta > GC_R(0.0)) {
        axis = gc_direction(t.omega, t.omega);
        along = gc_across_axis(axis, t.v, fast, &k->g, &wc);
    } else {
        k->g = GC_R(0.0);
        wc = fast;
        along = gc_direction(t.v, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0)));
        axis = gc_across(along);
    }
    gc_screw_still(p->bodies.size, &wc, k);
    gc_screw_frame(axis, along, wc, t.q, GC_R(0.0), GC_R(1.0), t.turned, p->bodies.size, k);
    k->speed = p->bodies.speed;
    k->tau = p->bodies.tau;
    at->bodies.pieces = GC_R(0.0);
}

#endif

/* A contact of a body that goes straight on and spins, from its own axes, as a mesh has them, to where it is at a time (step units); 0: the
 * body does not spin. spin: (bodies, 9) as s01_bodies has them; p0, q0: its pose at the start. */
GC_FN int gc_spun_to_world(
    GC_GLOBAL const gc_uchar *spins,
    GC_GLOBAL const gc_real *spin,
    int body,
    gc_vec p0,
    gc_quat q0,
    gc_real time,
    gc_vec *place,
    gc_vec *normal)
{
    GC_GLOBAL const gc_real *own = spin + 9 * body;
    gc_vec turn, pivot, at;
    gc_quat q;
    if (!GC_BODY_MOTION || !spins[body]) return 0;
    turn = gc_load_vec(own, 1);
    pivot = gc_load_vec(own, 2);
    q = gc_quat_unit(gc_quat_mul(gc_half_turn_quat(gc_half_turn_at(gc_length(turn), time), turn), q0));
    at = gc_add(gc_add(p0, gc_scale(gc_load_vec(own, 0), time)), gc_quat_rotate(q0, pivot));
    *place = gc_add(at, gc_quat_rotate(q, gc_sub(*place, pivot)));
    *normal = gc_quat_rotate(q, *normal);
    return 1;
}

#endif
