/* gc_relative_at.h: where B is as A sees it, at any time of the step.
 * needs: narrow_phase/frame/gc_body_motion.h
 */
#ifndef GC_RELATIVE_AT_H
#define GC_RELATIVE_AT_H

/* B's mesh into A's, both centred, at s: a turn r (row major) and a shift; record: what k was loaded from */
GC_FN void gc_relative_at(const gc_screw *k, GC_GLOBAL const gc_real *record, gc_real s, gc_real *r, gc_real *shift)
{
    gc_turn turn;
    gc_vec c;
    int j;
#if GC_BODY_MOTION
    if (k->pieces > GC_R(0.0)) {
        gc_bodies b;
        gc_body_state t;
        gc_bodies_load(record, &b);
        gc_bodies_at(&b, s, &t);
        gc_to_three(t.q, shift);
        for (j = 0; j < 9; ++j) r[j] = t.m[j];
        return;
    }
#endif
    (void)record;
    turn = gc_turn_at(k->theta, s);
    c = gc_flow(k, turn, gc_make(k->tb[0], k->tb[1], k->tb[2]));
    c = gc_rotate_back(k->ra, gc_make(c.x - k->ta[0], c.y - k->ta[1], c.z - k->ta[2]));
    shift[0] = c.x;
    shift[1] = c.y;
    shift[2] = c.z;
    for (j = 0; j < 3; ++j) {
        gc_vec side = gc_rotate_back(k->ra, gc_turn_vec(k, turn, gc_make(k->rb[j], k->rb[3 + j], k->rb[6 + j])));
        r[j] = side.x;
        r[3 + j] = side.y;
        r[6 + j] = side.z;
    }
}

#endif
