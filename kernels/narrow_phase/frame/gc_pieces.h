/* gc_pieces.h: the motions of two bodies from their poses, and the screws that stand for pieces of them where culling asks for one.
 * needs: narrow_phase/frame/gc_body_motion.h narrow_phase/frame/gc_screw.h
 *
 * A piece's screw leads from B's true pose at its beginning to that at its end, and is padded by a proved bound of how far B's points are
 * off it in between (docs/decisions/0108). So pieces only propose; what is solved are the true motions.
 */
#ifndef GC_PIECES_H
#define GC_PIECES_H

/* a body's own motion, in world axes */
typedef struct {
    gc_vec drift, swing, turn; /* as gc_body_motion.h has them; its angle */
    gc_real angle;
    gc_vec to_half; /* from the centre at the start to that half-way */
    gc_quat midway; /* orientation half-way */
} gc_own_motion;

/* The screw between two poses; chord: the centre's; relative: as another body sees it, whose axes then choose between the two screws of a
 * half turn. */
GC_FN gc_own_motion gc_own_screw(gc_quat q0, gc_quat q1, gc_vec chord, int relative)
{
    gc_own_motion o;
    gc_quat d = gc_quat_unit(gc_quat_mul(q1, gc_quat_conj(q0)));
    gc_vec v, t;
    gc_real sine = gc_axis_angle(&d, &v, &o.angle), along, across, none = GC_R(0.0);
    o.drift = chord;
    o.swing = gc_make(none, none, none);
    o.turn = o.swing;
    o.to_half = gc_scale(chord, GC_R(0.5));
    o.midway = q0;
    if (!(o.angle > GC_R(0.0))) return o;
    /* of a half turn, which two screws fit, the one whose axis has its first component positive in the body's own axes */
    if (!relative && d.w < GC_OWN_HALF_TURN) {
        gc_vec own = gc_quat_rotate(gc_quat_conj(q0), v);
        gc_real lead = GC_ABS(own.x) > GC_AXIS_COMPONENT ? own.x : (GC_ABS(own.y) > GC_AXIS_COMPONENT ? own.y : own.z);
        if (lead < GC_R(0.0)) {
            v = gc_scale(v, GC_R(-1.0));
            d = gc_quat_make(d.w, -d.x, -d.y, -d.z);
        }
    }
    t = gc_across_axis(v, chord, gc_length(chord), &along, &across);
    across = across * GC_R(0.5) * o.angle / sine;
    o.drift = gc_scale(v, along);
    o.swing = gc_scale(t, across);
    o.turn = gc_scale(v, o.angle);
    o.to_half = gc_add(o.to_half, gc_scale(gc_cross(t, v), across * sine * sine / ((GC_R(1.0) + d.w) * o.angle)));
    o.midway = gc_quat_unit(gc_quat_mul(gc_quat_unit(gc_quat_make(GC_R(1.0) + d.w, d.x, d.y, d.z)), q0));
    return o;
}

/* a straight way of the pivot and a constant turn about it; arm: from the pivot to the centre, in the body's axes */
GC_FN gc_own_motion gc_own_spin(gc_quat q0, gc_vec way, gc_vec turn, gc_vec arm)
{
    gc_own_motion o;
    gc_half_turn r;
    o.angle = gc_length(turn);
    r = gc_half_turn_at(o.angle, GC_R(0.5));
    o.midway = gc_quat_unit(gc_quat_mul(gc_half_turn_quat(r, turn), q0));
    o.turn = turn;
    o.drift = way;
    o.swing = gc_cross(turn, gc_quat_rotate(o.midway, arm));
    o.to_half = gc_add(gc_scale(way, GC_R(0.5)), gc_sub(gc_quat_rotate(o.midway, arm), gc_quat_rotate(q0, arm)));
    return o;
}

GC_FN void gc_bodies_store(const gc_bodies *from, GC_GLOBAL gc_real *to) { GC_STORE(GC_BODIES, GC_BODIES); }

/* Both motions as A sees them half-way, and the state there. apart: from A's centre to B's at the start, world; shrink, size, scale, radii
 * are there. */
GC_FN void gc_bodies_make(const gc_own_motion *a, const gc_own_motion *b, gc_vec apart, gc_bodies *o, gc_body_state *t)
{
    gc_quat back = gc_quat_conj(a->midway), q = gc_quat_unit(gc_quat_mul(back, b->midway));
    gc_vec ta = gc_quat_rotate(back, a->turn), tb = gc_quat_rotate(back, b->turn);
    gc_vec sa = gc_scale(gc_quat_rotate(back, a->swing), o->shrink),
           sb = gc_scale(gc_quat_rotate(back, b->swing), o->shrink);
    gc_vec drift = gc_scale(gc_quat_rotate(back, gc_sub(b->drift, a->drift)), o->shrink);
    gc_vec u = gc_scale(gc_quat_rotate(back, gc_add(apart, gc_sub(b->to_half, a->to_half))), o->shrink);
    o->angle_a = a->angle;
    o->angle_b = b->angle;
    o->angle = gc_length(gc_sub(tb, ta));
    o->chi = gc_length(gc_cross(ta, tb));
    gc_to_three(u, o->apart);
    gc_to_three(drift, o->drift);
    gc_to_three(sa, o->swing_a);
    gc_to_three(sb, o->swing_b);
    gc_to_three(ta, o->turn_a);
    gc_to_three(tb, o->turn_b);
    o->quat[0] = q.w;
    o->quat[1] = q.x;
    o->quat[2] = q.y;
    o->quat[3] = q.z;
    o->way = gc_length(drift) + gc_length(sa) + gc_length(sb);
    o->most = gc_length(u) + GC_R(0.5) * o->way;
    gc_bodies_at(o, GC_R(0.0), t);
    /* where they meet nothing of them is faster than both move it, however fast A's axes sweep by */
    o->speed = GC_MIN(gc_length(t->v) + GC_R(0.5) * gc_length(t->a), o->way + (o->angle_a + o->angle_b) * o->size);
    o->speed = GC_MAX(o->angle * o->size, o->speed);
    o->tau = o->speed > GC_R(0.0) ? GC_TAU_TIME + GC_TAU_LENGTH * o->size / o->speed : GC_R(1.0);
    if (o->tau > GC_R(1.0)) o->tau = GC_R(1.0);
    o->pad = GC_R(0.0);
    o->slip = GC_R(0.0);
    o->tilt = GC_R(0.0);
    o->distance = GC_R(0.0);
}

/* How fast B moves at most for h / 2 beside the middle t of a piece: its centre, as A sees it. */
GC_FN gc_real gc_piece_fastest(const gc_body_bounds *bound, const gc_body_state *t, gc_real h)
{
    gc_real arm = GC_R(0.5) * h;
    return gc_length(t->v) + arm * (gc_length(t->a) + arm * bound->y3);
}

/* How far the turn of a screw that lasts h is from the true one of the state t, and its flow at B's centre from the true velocity there,
 * per step of the pair. */
GC_FN void gc_screw_apart(const gc_screw *k, const gc_body_state *t, gc_real h, gc_real *turn, gc_real *flow)
{
    gc_real step = GC_R(1.0) / h;
    gc_vec axis = gc_make(k->ra[3], k->ra[4], k->ra[5]), at = gc_rotate(k->ra, t->q), v;
    at = gc_make(at.x + k->ta[0], at.y + k->ta[1], at.z + k->ta[2]);
    v = gc_make(k->w + k->theta * at.z, k->g, -(k->theta * at.x));
    *flow = gc_length(gc_sub(t->v, gc_scale(gc_rotate_back(k->ra, v), step)));
    *turn = gc_length(gc_sub(t->omega, gc_scale(axis, k->theta * step)));
}

/* Moves B on a screw as it is there half-way: by a way, and about its centre by a small turn, in A's axes. */
GC_FN void gc_screw_moved(gc_vec way, gc_vec turn, gc_screw *k)
{
    gc_vec at = gc_rotate(k->ra, way);
    gc_real m[9];
    int i;
    k->tb[0] += at.x;
    k->tb[1] += at.y;
    k->tb[2] += at.z;
    turn = gc_scale(gc_rotate(k->ra, turn), GC_R(0.5));
    gc_quat_rows(gc_quat_unit(gc_quat_make(GC_R(1.0), turn.x, turn.y, turn.z)), m);
    for (i = 0; i < 3; ++i) {
        at = gc_rotate(m, gc_make(k->rb[i], k->rb[3 + i], k->rb[6 + i]));
        k->rb[i] = at.x;
        k->rb[3 + i] = at.y;
        k->rb[6 + i] = at.z;
    }
}

/* Fits the screw k of a piece of length h with the middle t, which has B's poses at both ends: true motion bends away from it to one side,
 * so it is moved by half of that; and sets its pads. */
GC_LARGE void gc_piece_fit(const gc_bodies *b, const gc_body_bounds *bound, const gc_body_state *t, gc_real h, gc_screw *k)
{
    gc_real arm = GC_R(0.5) * h, rho = b->radius_b, chi = b->chi, fast = gc_piece_fastest(bound, t, h), rim, off, turn, k0,
            k1, q0, q1;
    gc_real spin = k->theta / h, side = GC_R(0.0625) * h * h, cube = GC_R(0.0208333333333333333) * h * h * h;
    gc_real far, astray, velocity;
    gc_vec bend = gc_sub(t->a, gc_cross(t->omega, t->v));
    gc_screw_apart(k, t, h, &turn, &off);
    rim = fast + b->angle * rho;
    k0 = gc_length(bend);
    k1 = bound->y3 + chi * fast + b->angle * (gc_length(t->a) + arm * bound->y3);
    far = k0 + arm * k1;
    q0 = turn * rim + spin * (off + turn * rho);
    q1 = k1 + chi * rim + spin * (GC_R(2.0) * far + chi * rho + (turn + chi * arm) * fast)
         + chi * rho * (b->angle_a + b->angle + spin);
    velocity = off + turn * rho + arm * (k0 + chi * rho + GC_R(0.5) * arm * k1) + (turn + GC_R(0.5) * chi * arm) * arm * rim;
    /* a turn is more than its first power, and B's points lie a little elsewhere than where they are turned from */
    astray = GC_R(1.3) * side * chi * (GC_R(2.0) * side * (chi + spin * (turn + chi * arm)));
    k->pad = side * (k0 + chi * rho) + GC_R(2.0) * side * q0 + cube * q1 + astray * rho;
    k->tilt = side * chi + GC_R(2.0) * side * spin * turn + cube * chi * (GC_R(2.0) * spin + b->angle_a) + astray;
    k->slip = h * (velocity + spin * k->pad + k->tilt * rim);
    gc_screw_moved(gc_scale(bend, -side), gc_scale(t->xi, side), k);
}

/* Pads of a screw for features that come within a distance of each other. Where they come nearer in a direction u, some face at A's
 * feature is backward facing there and some at B's forward, since u is within the normals at either, and what turns about one
 * changes none of it. At a border u may be any: none is culled for how it faces. No place where features may be moves faster than twice the
 * frame's origin, and more by as much as they are farther out. Properness is not that of touch. */
GC_FN void gc_piece_widen(gc_real distance, int closed, gc_screw *k)
{
    k->pad += distance * GC_R(1.00001);
    if (!closed) k->slip += k->speed * (GC_R(4.0) + distance / k->size);
    k->tilt += GC_R(4.0);
}

GC_FN int gc_own_stands(const gc_own_motion *o)
{
    return o->angle == GC_R(0.0) && gc_most(o->drift) == GC_R(0.0) && gc_most(o->swing) == GC_R(0.0);
}

/* Does a body move along one axis, by less than half a turn, of which two screws are good? Its drift is along the axis to the rounding of
 * the projection that made it. */
GC_FN int gc_own_is_screw(const gc_own_motion *o)
{
    gc_real across = gc_length(gc_cross(o->turn, o->drift)), along = GC_ABS(gc_dot(o->turn, o->drift));
    return o->angle < GC_R(3.1415926) && across <= GC_R(4.0) * GC_AXIAL * along;
}

/* How far B's points are off the screw k at most, where each body is on its own motion all the step. The twist of one body in the other's
 * changes at the rate K0 + t K1 - X x z at a place z, which vanishes where motions commute (reference/narrow_phase/_one_screw.py has the
 * proof). World axes, lengths times shrink; u: from A's centre to B's half-way; t: the state there. */
GC_LARGE gc_real gc_one_screw_off(
    const gc_bodies *b,
    const gc_own_motion *own_a,
    const gc_own_motion *own_b,
    gc_vec u,
    const gc_body_state *t,
    const gc_screw *k)
{
    gc_vec ta = own_a->turn, tb = own_b->turn, wa = gc_scale(own_a->drift, b->shrink),
           wb = gc_scale(own_b->drift, b->shrink);
    gc_vec va = gc_add(wa, gc_scale(own_a->swing, b->shrink)), pb = gc_scale(own_b->swing, b->shrink), vb, k0, k1;
    gc_real fast = b->way + b->angle * b->radius_b + GC_MAX(b->angle_a, b->angle_b) * b->most, kappa, off, turn, q0, q1;
    vb = gc_sub(gc_add(wb, pb), gc_cross(tb, u));
    k0 = gc_sub(gc_cross(ta, wa), gc_cross(tb, wb));
    k0 = gc_add(k0, gc_sub(gc_cross(tb, va), gc_cross(ta, vb)));
    k1 = gc_sub(gc_cross(ta, gc_cross(tb, wb)), gc_cross(tb, gc_cross(ta, wa)));
    kappa = gc_length(k0) + GC_R(0.5) * gc_length(k1)
            + b->chi * (gc_length(u) + gc_length(wb) + gc_length(pb) + b->radius_b);
    gc_screw_apart(k, t, GC_R(1.0), &turn, &off);
    q0 = kappa + turn * fast + k->theta * (off + turn * b->radius_b);
    q1 = b->chi * fast + k->theta * (kappa + (turn + b->chi) * fast);
    return GC_R(0.125) * q0 + GC_R(0.0208333333333333333) * q1;
}

/* Are both motions one screw as A sees them? Two bodies that do not turn, or one that stands beside one on a screw, are in any case; of
 * others B's points stay by that screw to rounding then. k: it; u, t: as above */
GC_FN int gc_bodies_commute(
    const gc_bodies *b,
    const gc_own_motion *own_a,
    const gc_own_motion *own_b,
    gc_vec u,
    const gc_body_state *t,
    const gc_screw *k)
{
    gc_real unit = b->size * (GC_R(1.0) + b->angle_a + b->angle_b);
    if (own_a->angle == GC_R(0.0) && own_b->angle == GC_R(0.0)) return 1;
    if (gc_own_stands(own_a) && gc_own_is_screw(own_b)) return 1;
    if (gc_own_stands(own_b) && gc_own_is_screw(own_a)) return 1;
    if (b->angle > GC_R(3.14159265358979)) return 0;
    unit += b->shrink
            * (gc_length(own_a->drift) + gc_length(own_a->swing) + gc_length(own_b->drift) + gc_length(own_b->swing));
    return gc_one_screw_off(b, own_a, own_b, u, t, k) <= GC_ONE_SCREW * unit;
}

/* In how many pieces is the motion of a pair cut: none of them turns far, and the middle one strays little. t: half-way */
GC_FN int gc_bodies_pieces(const gc_bodies *b, const gc_body_bounds *bound, const gc_body_state *t)
{
    gc_real turns = (b->angle_a + b->angle_b) * (GC_R(1.0) / GC_PIECE_TURN), goal, h, stray;
    int n = 1 + (int)GC_MIN(turns, (gc_real)GC_MOST_PIECES);
    /* a mote beside a mountain has no features for which more pieces than this would be worth anything */
    goal = GC_PIECE_PAD * GC_MAX(GC_MIN(b->radius_a, b->radius_b), GC_PIECE_MOTE * b->size);
    h = GC_R(1.0) / (gc_real)n;
    /* without the small terms: how far from good, not whether it is */
    stray = gc_length(gc_sub(t->a, gc_cross(t->omega, t->v))) + b->chi * b->radius_b + GC_R(0.4) * h * bound->y3;
    stray = GC_R(0.0625) * h * h * stray;
    /* the ratio is kept within what an int holds before its root is taken */
    stray = GC_MIN(stray, goal * (gc_real)GC_MOST_PIECES * (gc_real)GC_MOST_PIECES);
    return stray > goal ? (int)GC_MIN((gc_real)n * GC_SQRT(stray / goal) + GC_R(0.999), (gc_real)GC_MOST_PIECES) : n;
}

#endif
