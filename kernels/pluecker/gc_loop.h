/* gc_loop.h: the corners of a face, and what passes or turns over them.
 * needs: common/gc_motion.h pluecker/gc_found.h
 *
 * A face of the obstacle, of the mover, or a strip across the plane of one at its border, in the frame of the obstacle's mesh.
 */
#ifndef GC_LOOP_H
#define GC_LOOP_H

/* the corners of a face: of the obstacle, of the mover, or about a border (gc_loop_of_border) */
typedef struct {
    const gc_mover_at *q;
    int of_mover, begin, end;
    int source;     /* number of the face in its mesh */
    int border;     /* 1: these are the corners */
    gc_vec a, b, h; /* ends of the border, half the height */
} gc_loop;

GC_FN gc_loop gc_loop_of(const gc_mover_at *q, int of_mover, int face)
{
    const gc_forms *t = of_mover ? &q->forms : &q->walk->world->forms;
    const gc_form *form = of_mover ? &q->form : &q->walk->form;
    gc_loop l;
    l.q = q;
    l.of_mover = of_mover;
    l.begin = gc_form_begin(t, form, face, GC_FORM_FACE_corner);
    l.end = gc_form_begin(t, form, face + 1, GC_FORM_FACE_corner);
    l.source = t->ints[form->source + face];
    l.border = 0;
    l.a = l.b = l.h = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    return l;
}

/* What touches a face within its own plane comes at a border that the mesh has there: it is a narrow strip across the plane, as high as
 * movers come near borders, on each side. n: normal of the face to the left of a-b. The strip is seen along n x (b - a), turned round. */
GC_FN gc_loop gc_loop_of_border(const gc_mover_at *q, int of_mover, gc_vec a, gc_vec b, gc_vec n, int source)
{
    gc_loop l;
    l.q = q;
    l.of_mover = of_mover;
    l.begin = 0;
    l.end = 4;
    l.source = source;
    l.border = 1;
    l.a = a;
    l.b = b;
    l.h = gc_scale(n, q->zone.lateral);
    return l;
}

GC_FN gc_vec gc_loop_corner(const gc_loop *l, int k)
{
    const gc_trip *w = l->q->walk;
    if (l->border) {
        gc_vec x = k == 0 || k == 3 ? l->a : l->b;
        return k < 2 ? gc_sub(x, l->h) : gc_add(x, l->h);
    }
    if (l->of_mover) return gc_first_place(l->q, l->q->forms.ints[l->q->form.corner + k]);
    return gc_form_place(&w->world->forms, &w->form, w->world->forms.ints[w->form.corner + k]);
}

/* the outward normal of the face behind the border that begins at corner k, if its plane has all of this face on its back, as seen from
 * where `way` says */
GC_FN int gc_loop_across(const gc_loop *l, int k, gc_real way, gc_vec *n)
{
    const gc_trip *w = l->q->walk;
    const gc_forms *t = l->of_mover ? &l->q->forms : &w->world->forms;
    const gc_form *form = l->of_mover ? &l->q->form : &w->form;
    int face = l->border ? 0 : t->ints[form->across + k];
    if (way < GC_R(0.0)) face = -face;
    if (face <= 0) return 0;
    *n = gc_scale(gc_load_vec(t->reals + form->plane, face - 1), way);
    if (l->of_mover) *n = gc_rotate(w->here.rot, *n);
    return 1;
}

/* Does the path of x along v come over a loop of corners, and if it does, no earlier than at f? n leads to where it comes from;
 * way: 1 if that is the front of the face, else -1. */
GC_FN int gc_loop_within(const gc_loop *l, gc_vec x, gc_vec v, gc_vec n, gc_real way, gc_real *f)
{
    const gc_zone *zone = &l->q->zone;
    gc_passing passing = gc_passing_whole();
    gc_vec last = gc_loop_corner(l, l->end - 1);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        if (!gc_swept_volume_within(x, v, last, next, way, zone->lateral)) return 0;
        last = next;
    }
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        gc_passing_cut(&passing, x, v, n, last, next, way, zone->expel, zone->lateral);
        last = next;
    }
    return gc_passing_stop(&passing, f);
}

/* Is there, at the start, a face behind a border of the loop, over which x goes out or slides? Then it does not meet the loop. */
GC_FN int gc_loop_parts(const gc_loop *l, gc_vec x, gc_vec v, gc_real way, gc_real least)
{
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec n;
        if (gc_loop_across(l, k, way, &n) && gc_dot(n, v) >= GC_R(0.0)
            && gc_dot(n, gc_sub(x, gc_loop_corner(l, k))) >= least)
            return 1;
    }
    return 0;
}

GC_FN int gc_loop_parts_turning(
    const gc_loop *l,
    const gc_pivot *pivot,
    gc_vec x,
    const gc_arrival *arrival,
    gc_real way,
    gc_real least)
{
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec n;
        if (gc_loop_across(l, k, way, &n) && gc_plane_parts_turning(pivot, x, n, gc_loop_corner(l, k), arrival->met, least))
            return 1;
    }
    return 0;
}

/* is a place to which something turned within a loop? */
GC_FN int gc_loop_holds(const gc_loop *l, const gc_arrival *arrival, gc_real way)
{
    gc_vec last = gc_loop_corner(l, l->end - 1);
    for (int k = l->begin; k < l->end; ++k) {
        gc_vec next = gc_loop_corner(l, k);
        if (!(way > GC_R(0.0) ? gc_arrival_within(arrival, last, next, l->q->zone.lateral)
                              : gc_arrival_within(arrival, next, last, l->q->zone.lateral)))
            return 0;
        last = next;
    }
    return 1;
}

/* From r on, when is x, which turns, over the loop, or beside it by no more than `beside`? 0: never within half a turn. Each border
 * lets it in once, so that it ends. */
GC_FN int gc_loop_awaits(
    const gc_loop *l,
    const gc_pivot *pivot,
    gc_vec x,
    gc_vec n,
    gc_real way,
    gc_real beside,
    gc_real *r)
{
    gc_real slack = GC_R(0.5) * l->q->zone.lateral;
    int waits;
    do {
        gc_vec last = gc_loop_corner(l, l->end - 1);
        waits = 0;
        for (int k = l->begin; k < l->end; ++k) {
            gc_vec next = gc_loop_corner(l, k);
            int how = gc_border_awaits(pivot, x, n, last, next, way, beside, slack, r);
            if (!how) return 0;
            waits |= how == 2;
            last = next;
        }
    } while (waits);
    return 1;
}

#endif
