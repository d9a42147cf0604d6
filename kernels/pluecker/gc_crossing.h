/* gc_crossing.h: the rotation of an edge towards an edge.
 * needs: pluecker/gc_turning.h pluecker/gc_pluecker.h
 *
 * Source: seed 2.5, 3.4, with corrections; docs/pluecker.md. Frame and arguments as in gc_turning.h. A query calls
 * gc_edge_edge_rotation.
 */
#ifndef GC_CROSSING_H
#define GC_CROSSING_H

/* the side of the turning line at a along u and the still line at c along w, as a swing */
GC_FN gc_swing gc_edge_swing(const gc_pivot *pivot, gc_vec a, gc_vec u, gc_vec c, gc_vec w)
{
    gc_vec axis = pivot->axis, from = gc_sub(a, pivot->origin);
    gc_vec p = gc_cross(from, u), q = gc_cross(gc_sub(c, pivot->origin), w);
    gc_swing s;
    s.start = gc_side(a, u, c, w);
    s.slope = -(gc_dot(gc_cross(axis, u), q) + gc_dot(gc_cross(axis, p), w));
    s.cosine = s.start + (gc_dot(axis, u) * gc_dot(axis, q) + gc_dot(axis, p) * gc_dot(axis, w));
    return s;
}

/* how far the turning direction u reaches along h, as a swing */
GC_FN gc_swing gc_direction_swing(const gc_pivot *pivot, gc_vec u, gc_vec h)
{
    gc_swing s;
    s.start = gc_dot(u, h);
    s.slope = gc_dot(gc_cross(pivot->axis, u), h);
    s.cosine = s.start - gc_dot(pivot->axis, u) * gc_dot(pivot->axis, h);
    return s;
}

/* gc_wedge_parts for an edge a-b that turns and would meet the other at `met`; an end that is out of the zone of a face's plane may sink */
GC_FN int gc_wedge_parts_turning(
    const gc_pivot *pivot,
    const gc_wedge *wedge,
    gc_vec c,
    gc_vec a,
    gc_vec b,
    gc_real met,
    gc_real least,
    gc_real expel)
{
    for (int k = 0; k < wedge->faces + (wedge->faces == 1); ++k) {
        gc_vec n = k == 0 ? wedge->first : (wedge->faces == 1 ? gc_scale(wedge->first, GC_R(-1.0)) : wedge->second);
        int ends = 0;
        for (int end = 0; end < 2; ++end) {
            gc_swing s = gc_vertex_swing(pivot, end ? b : a, n, c);
            ends += s.start >= least && gc_swing_at(s, met) >= least && (s.start >= expel || gc_swing_sinks(s) <= 0);
        }
        if (ends == 2) return 1;
    }
    return 0;
}

/* gc_edge_swing in twice the digits, about the exact unit vector along the axis */
GC_LARGE gc_two_swing gc_edge_swing_twofold(const gc_pivot *pivot, gc_vec a, gc_vec b, gc_vec c, gc_vec d)
{
    gc_two_vec axis = gc_two_unit(pivot->axis), u = gc_two_from_to(a, b), w = gc_two_from_to(c, d);
    gc_two_vec p = gc_two_cross(gc_two_from_to(pivot->origin, a), u);
    gc_two_vec q = gc_two_cross(gc_two_from_to(pivot->origin, c), w);
    gc_two still = gc_two_add(
        gc_two_mul(gc_two_dot(axis, u), gc_two_dot(axis, q)), gc_two_mul(gc_two_dot(axis, p), gc_two_dot(axis, w)));
    gc_two_swing s;
    s.start = gc_two_dot(gc_two_from_to(a, c), gc_two_cross(u, w));
    s.slope = gc_two_negative(gc_two_add(gc_two_dot(gc_two_cross(axis, u), q), gc_two_dot(gc_two_cross(axis, p), w)));
    s.cosine = gc_two_add(s.start, still);
    return s;
}

/* two edges that may turn towards each other, and what a look at them needs */
typedef struct {
    gc_vec a, b, u; /* the mover's edge at its start, u from a to b */
    gc_vec c, d, w; /* the still edge */
    gc_wedge of_mover, of_still;
    gc_swing side; /* of the one's line and the other's */
    gc_real wide;  /* |u| |w|, of which side is distance times sine */
    gc_real doubt; /* bound on the error of side */
    gc_zone zone;
} gc_edge_pair;

/* How they meet at r, outwards being sign times the normal: 1 if that leads away from both wedges there, within `slack`, and
 * the crossing is within both edges or beyond their ends by no more than `lateral`; 2 if the opposite normal would do as well.
 * length: the sine between them, times `wide`. */
GC_FN int gc_edge_pair_meet(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    gc_real lateral,
    gc_real slack,
    gc_real r,
    gc_real *length,
    gc_arrival *arrival)
{
    gc_vec u = gc_turned_vector(pivot, e->u, r), back = gc_turned_vector(pivot, e->w, -r), n = gc_cross(u, e->w), from;
    gc_real along, reach, over;
    int signs = gc_wedge_signs_within(&e->of_still, u, slack) & gc_wedge_signs_within(&e->of_mover, back, slack);
    *length = gc_norm(n);
    if (!(*length > GC_ZONE_PARALLEL * e->zone.expel * GC_MAX(gc_most(u), gc_most(e->w)))) return 0;
    if (!(signs & (sign > GC_R(0.0) ? 1 : 2))) return 0;
    n = gc_scale(n, GC_R(1.0) / *length);
    from = gc_sub(e->c, gc_turned(pivot, e->a, r));
    along = gc_dot(gc_cross(from, e->w), n);
    reach = GC_MIN(GC_MAX(along / *length, GC_R(0.0)), GC_R(1.0));
    *arrival = gc_arrival_at(pivot, gc_add(gc_sub(e->c, from), gc_scale(u, reach)), gc_scale(n, sign), r, lateral);
    over = gc_arrival_slack(arrival, e->w, lateral);
    if (!(along >= -over && along - *length <= over)) return 0;
    over = gc_arrival_slack(arrival, u, lateral);
    along = gc_dot(gc_cross(from, u), n);
    return along >= -over && along - *length <= over ? (signs == 3 ? 2 : 1) : 0;
}

/* The last moment up to `met` until which sign times the normal leads away from both wedges, as far as faces that turn past the other
 * edge until then take it away; `met` if none does. */
GC_FN gc_real gc_edge_pair_leads(const gc_pivot *pivot, const gc_edge_pair *e, gc_real sign, gc_real slack, gc_real met)
{
    gc_real last = met, until;
    for (int k = 0; k < 4; ++k) {
        const gc_wedge *wedge = k < 2 ? &e->of_still : &e->of_mover;
        gc_vec n = k & 1 ? wedge->second : wedge->first;
        gc_swing s;
        if ((k & 1) >= wedge->faces) continue;
        s = k < 2 ? gc_direction_swing(pivot, e->u, n) : gc_direction_swing(pivot, n, e->w);
        s = gc_swing_times(s, k & 1 ? sign : -sign);
        if (gc_swing_at(s, met) < -slack * gc_most(k < 2 ? e->u : e->w) && gc_swing_falls(s, &until) && until >= GC_R(0.0)
            && (until < last || last < GC_R(0.0)))
            last = until;
    }
    return last;
}

/* gc_edge_pair_meet before `met`, at which they do not: a face of the one comes flat onto the other edge while the two are already within `near` of
 * each other, `real` being their distance times the sine. From then on their neighbours take over, which are no nearer. */
GC_RARE int gc_edge_pair_met_before(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_swing real,
    gc_real sign,
    gc_real near,
    gc_real *met,
    gc_real *length,
    gc_arrival *arrival)
{
    gc_real slack = GC_R(4.0) * GC_FACING_ROUNDING, before = gc_edge_pair_leads(pivot, e, sign, slack, *met);
    int how = before == *met ? 0 : gc_edge_pair_meet(pivot, e, sign, near, slack, before, length, arrival);
    if (!how || !(real.start > near * *length) || gc_swing_at(real, before) > near * *length) return 0;
    *met = before;
    return how;
}

/* Does a first look, with the errors of the plain swing allowed for, leave it possible that they meet about `met`, in whose zone they are from
 * `stop` on? And are twice the digits wanted (twice)? */
GC_FN int gc_edge_pair_may_meet(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_swing real,
    gc_real sign,
    gc_real lateral,
    gc_real stop,
    gc_real met,
    int *twice)
{
    gc_real length = gc_norm(gc_cross(gc_turned_vector(pivot, e->u, met), e->w)), middle = real.start - real.cosine;
    gc_real reach = gc_swing_amplitude(real), rate = GC_SQRT(GC_MAX((reach - middle) * (reach + middle), GC_R(0.0)));
    gc_real between = (met - stop)
                      / (GC_R(1.0) + met * stop); /* of these two the tangent of half the angle, which is above that */
    gc_arrival arrival;
    *twice = !(e->doubt <= GC_ZONE_SURE * e->zone.expel * length);
    if (!(rate * length > GC_R(8.0) * e->doubt * e->wide)) { /* the angle itself is in doubt */
        *twice = 1;
        return 1;
    }
    between = between >= GC_R(0.0) ? GC_R(2.0) * between : GC_R(8.0);
    /* how far the crossing goes between them: no farther than it is from the axis, and the edges are long */
    lateral += GC_R(4.0) * e->doubt / length
               + between * (e->doubt / GC_SWING_ROUNDING + e->wide * (gc_most(e->u) + gc_most(e->w))) / length;
    return gc_edge_pair_meet(
        pivot, e, sign, lateral, GC_R(4.0) * (GC_FACING_ROUNDING + e->doubt / rate) + between, met, &length, &arrival);
}

/* From r on, when do they cross, or part by no more than `beside` along the plane of contact? 0: never within half a turn. The
 * plane is that of their meeting; while the one lies wholly on one side of the other in it, they do not touch. */
GC_FN int gc_edge_pair_awaits(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    const gc_arrival *arrival,
    gc_real beside,
    gc_real *r)
{
    gc_vec n = arrival->normal, back = gc_turned_vector(pivot, n, -arrival->met);
    gc_real slack = GC_R(0.5) * e->zone.lateral;
    gc_pivot round = *pivot;
    gc_swing ends[4];
    int waits;
    round.axis = gc_scale(round.axis, GC_R(-1.0));
    ends[0] = gc_border_swing(pivot, e->a, n, e->c, e->d, sign, beside);
    ends[1] = gc_border_swing(pivot, e->b, n, e->c, e->d, -sign, beside);
    ends[2] = gc_border_swing(&round, e->c, back, e->a, e->b, -sign, beside);
    ends[3] = gc_border_swing(&round, e->d, back, e->a, e->b, sign, beside);
    do {
        waits = 0;
        for (int k = 0; k < 4; ++k) {
            gc_real before = *r;
            int how = gc_swing_awaits(ends[k], slack, r);
            /* the other end lies on the same side all the while, or they may cross the other way round */
            if (how != 1 && (gc_swing_at(ends[k ^ 1], before) < beside || (how && gc_swing_at(ends[k ^ 1], *r) < beside))) {
                *r = before;
                how = 1;
            }
            if (!how) return 0;
            waits |= how == 2;
        }
    } while (waits);
    return 1;
}

/* A stop at r, before which `real` swings, `length` times the distance: 1, and later if they come near each other later; 0 if they do not, or
 * only behind, or if from the start the one goes out over a face at the other. */
GC_FN int gc_edge_pair_stops(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    gc_swing real,
    gc_real length,
    gc_real most,
    gc_real *r,
    const gc_arrival *arrival)
{
    const gc_zone *zone = &e->zone;
    gc_real first = *r, over;
    if (!gc_edge_pair_awaits(pivot, e, sign, arrival, GC_ZONE_BESIDE * zone->expel, r) || !(*r <= most)) return 0;
    if (*r > first && gc_swing_at(real, *r) < -zone->behind * length) return 0;
    over = *r;
    if (!gc_edge_pair_awaits(pivot, e, sign, arrival, zone->lateral, &over)) return 0;
    if (*r == GC_R(0.0)) {
        gc_real least = gc_clear_by(real.start / length, zone->lateral, zone->doubt);
        gc_pivot back = *pivot;
        back.axis = gc_scale(back.axis, GC_R(-1.0));
        if (gc_wedge_parts_turning(pivot, &e->of_still, e->c, e->a, e->b, arrival->met, least, zone->expel)) return 0;
        if (gc_wedge_parts_turning(&back, &e->of_mover, e->a, e->c, e->d, arrival->met, least, zone->expel)) return 0;
    }
    return 1;
}

/* Do the lines of two edges of solids cross all the while, but for the rounding of where they stand? Then they meet at no angle in
 * particular. What comes first is an end of the one over the other, which the faces at both tell. */
GC_FN int gc_edge_pair_crosses_always(const gc_edge_pair *e, gc_swing real, gc_real doubt, gc_real length)
{
    return e->of_mover.faces == 2 && e->of_still.faces == 2
           && GC_ABS(real.start - real.cosine) + gc_swing_amplitude(real) <= e->zone.doubt * length + doubt;
}

/* One of the two ways round: the mover's edge comes against sign times the normal. */
GC_FN int gc_edge_pair_turn(
    const gc_pivot *pivot,
    const gc_edge_pair *e,
    gc_real sign,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_real lateral = e->zone.lateral;
    gc_swing real = gc_swing_times(e->side, -sign), zone = gc_swing_times(real, GC_R(0.0)), outer;
    gc_real thick = e->zone.expel * e->wide + e->doubt, doubt = e->doubt, met, length, stop, most_behind;
    gc_two_swing plain, sure;
    int twice, falls, leaves, how;
    /* against the thickest zone there may be: few edges come so near; then whether they do within their ends */
    if (real.start - thick > gc_swing_drop(real, most)) return 0;
    if (!gc_swing_stop(real, gc_swing_less(real, thick), thick, thick, &stop, &met) || !(stop <= most)) return 0;
    if (!gc_edge_pair_may_meet(pivot, e, real, sign, lateral, stop, met, &twice)) return 0;
    if (twice) {
        doubt = GC_R(0.0);
        plain = gc_edge_swing_twofold(pivot, e->a, e->b, e->c, e->d);
        sure = gc_two_swing_less(&plain, -sign, zone);
        real = gc_swing_rounded(&sure);
        outer = gc_swing_less(real, thick);
        leaves = gc_swing_falls(outer, &stop);
        falls = gc_swing_falls_twofold(&sure, &met);
        if (!gc_swing_order(real, outer, thick, thick, leaves, falls, &stop, &met)) return 0;
    } else {
        falls = gc_swing_falls(real, &stop);
    }
    how = gc_edge_pair_meet(pivot, e, sign, lateral, GC_R(4.0) * GC_FACING_ROUNDING, met, &length, arrival);
    if (!how) how = gc_edge_pair_met_before(pivot, e, real, sign, lateral, &met, &length, arrival);
    if (!how || gc_edge_pair_crosses_always(e, real, doubt, length)) return 0;
    if (!falls && real.start - real.cosine - gc_swing_amplitude(real) > lateral * length + doubt) return 0;
    /* the zone ends at the still line, moved outwards along the normal of the meeting */
    zone = gc_swing_times(gc_direction_swing(pivot, e->u, gc_cross(e->w, arrival->normal)), sign * e->zone.expel);
    outer = gc_swing_minus(real, zone);
    leaves = gc_swing_falls(outer, r);
    if (twice) {
        sure = gc_two_swing_less(&plain, -sign, zone);
        leaves = gc_swing_falls_twofold(&sure, r);
    }
    most_behind = how == 2 ? doubt : e->zone.behind * length + doubt;
    if (!gc_swing_order(real, outer, most_behind, thick, leaves, falls, r, &met)) return 0;
    if (!(*r >= GC_R(0.0) && *r <= most)) return 0;
    return !(e->zone.expel > GC_R(0.0)) || gc_edge_pair_stops(pivot, e, sign, real, length, most, r, arrival);
}

/* what of x is across w: the rounding of the normal of nearly parallel edges is along them */
GC_FN gc_vec gc_contact_planes(gc_vec x, gc_vec w) { return gc_sub(x, gc_scale(w, gc_dot(x, w) / gc_dot(w, w))); }

/* Edges that are on one line and lie across the axis stay across it: the normal of both is the axis, along which nothing moves. For such that
 * are nearly across, from r up to the last tangent looked at: what they lean, over the sine between them, is how far their normal leans off the
 * axis, and nothing moves by more than a chord. 1: the distance along that normal changes by less than half the margin. (The sine is
 * at least half of what it were for parallel edges, since r is twice the angle between them at the start.) */
GC_FN int gc_edge_pair_level(const gc_pivot *pivot, const gc_edge_pair *e, gc_real r, gc_real most, gc_real margin)
{
    gc_real last = GC_MIN(GC_R(4.0) * GC_MAX(most, r), GC_R(4096.0)), lean;
    if (!(r * (GC_R(1.0) + last * last) <= last)) return 0;
    lean = GC_ABS(gc_dot(pivot->axis, e->u)) / gc_most(e->u) + GC_ABS(gc_dot(pivot->axis, e->w)) / gc_most(e->w);
    /* no coordinate is more than a length, and no length 1.75 of them */
    return lean * (gc_most(gc_sub(e->a, pivot->origin)) + gc_most(e->u)) * (GC_R(1.0) + last) < margin * GC_R(0.14);
}

/* Edges that are on one line at the start, but for a zone, part as they turn, and cross where the one goes by the other.
 * Neither their ends tell (each may leave over a face of its own, while what is between them goes in) nor a root: distance and
 * sine vanish together, their quotient does not. So this looks at where they have parted, and then ever further on, until the distance
 * along the normal of both has changed by more than rounding. It changes one way only: of two lines that begin on one, side over sine is a constant
 * and a multiple of the half-angle tangent. 1, and the crossing then: they go into each other, and stop at the start. */
GC_RARE int gc_edge_pair_along(const gc_pivot *pivot, const gc_edge_pair *e, gc_real most, gc_arrival *arrival)
{
    gc_real near = GC_ZONE_ALONG * e->zone.lateral, longer = GC_MAX(gc_most(e->u), gc_most(e->w));
    gc_real margin = GC_MAX(e->zone.doubt, GC_R(0.125) * e->doubt / e->wide), r;
    /* half the chord of the turn by which they part by some zones over their length */
    r = GC_ZONE_ALONG * near * longer / (GC_R(2.0) * gc_norm(gc_cross(pivot->axis, e->u)) * gc_norm(e->w));
    if (!(r > GC_R(0.0) && r < GC_R(0.7))) return 0; /* the axis is along them */
    if (gc_edge_pair_level(pivot, e, r, most, margin)) return 0;
    for (r = r / GC_SQRT(GC_R(1.0) - r * r);; r *= GC_R(4.0)) {
        gc_vec u = gc_turned_vector(pivot, e->u, r), n = gc_cross(u, e->w), from = gc_sub(gc_turned(pivot, e->a, r), e->c);
        gc_real length = gc_norm(n), along, start, now, sign;
        n = gc_scale(n, GC_R(1.0) / length);
        along = GC_MIN(GC_MAX(gc_dot(gc_cross(e->w, from), n) / length, GC_R(0.0)), GC_R(1.0));
        start = gc_dot(n, gc_contact_planes(gc_add(gc_sub(e->a, e->c), gc_scale(e->u, along)), e->w));
        now = gc_dot(n, gc_contact_planes(gc_add(from, gc_scale(u, along)), e->w));
        sign = now < start ? GC_R(1.0) : GC_R(-1.0);
        start *= sign;
        now *= sign;
        if (now < GC_MIN(start, GC_R(0.0)) - margin)
            return start >= -GC_MAX(e->zone.behind, margin) && start <= near
                   && gc_edge_pair_meet(pivot, e, sign, e->zone.lateral, GC_R(4.0) * GC_FACING_ROUNDING, r, &length, arrival)
                          == 1;
        if (!(r < most && r < GC_R(1024.0))) return 0;
    }
}

/* are two edges on one line at the start, but for a zone? Then side is no more than the product of both. */
GC_FN int gc_edge_pair_on_one_line(const gc_edge_pair *e)
{
    gc_real near = GC_ZONE_ALONG * e->zone.lateral, longer = GC_MAX(gc_most(e->u), gc_most(e->w));
    if (GC_ABS(e->side.start) > near * near * longer + e->doubt) return 0;
    return gc_norm(gc_cross(e->u, e->w)) <= near * longer
           && gc_norm(gc_cross(gc_sub(e->c, e->a), e->w)) <= near * gc_norm(e->w);
}

/* The mover's edge a-b, turned about the pivot, and the still edge c-d: 1, the half-angle tangent at which they must stop,
 * `expel` apart along the normal of both as they would meet, and how they would. 0: not within `most`, or as in
 * gc_edge_edge_translation. */
GC_FN int gc_edge_edge_rotation(
    const gc_pivot *pivot,
    gc_vec a,
    gc_vec b,
    gc_vec c,
    gc_vec d,
    const gc_wedge *of_mover,
    const gc_wedge *of_still,
    const gc_zone *zone,
    gc_real most,
    gc_real *r,
    gc_arrival *arrival)
{
    gc_edge_pair e;
    gc_swing near;
    gc_arrival other;
    gc_vec from, to;
    gc_real later;
    int hit;
    e.a = a;
    e.b = b;
    e.c = c;
    e.d = d;
    e.u = gc_sub(b, a);
    e.w = gc_sub(d, c);
    e.of_mover = *of_mover;
    e.of_still = *of_still;
    e.zone = *zone;
    e.side = gc_edge_swing(pivot, a, e.u, c, e.w);
    from = gc_sub(a, pivot->origin);
    to = gc_sub(c, pivot->origin);
    e.wide = GC_SQRT(gc_dot(e.u, e.u) * gc_dot(e.w, e.w));
    e.doubt = GC_SWING_ROUNDING * GC_SQRT(GC_R(2.0) * (gc_dot(from, from) + gc_dot(to, to))) * e.wide;
    /* most stay far from each other, on either side */
    near = gc_swing_times(e.side, e.side.start < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0));
    if (near.start - zone->expel * e.wide - e.doubt > gc_swing_drop(near, most)) return 0;
    if (gc_edge_pair_on_one_line(&e) && gc_edge_pair_along(pivot, &e, most, arrival)) {
        *r = GC_R(0.0);
        return 1;
    }
    hit = gc_edge_pair_turn(pivot, &e, GC_R(1.0), most, r, arrival);
    if (!gc_edge_pair_turn(pivot, &e, GC_R(-1.0), hit ? *r : most, &later, &other)) return hit;
    *r = later;
    *arrival = other;
    return 1;
}

#endif
