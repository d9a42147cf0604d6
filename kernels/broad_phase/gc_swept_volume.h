/* gc_swept_volume.h: the volume that a body sweeps in its own screw motion, and whether two bodies may meet at all.
 * needs: common/gc_math.h tree/gc_bvh.h
 *
 * b01 makes the boxes of the broad phase from it; b04 uses it for two moving bodies, and s01 for pairs whose relative motion
 * is too long for the available digits: without pads, so that whatever may meet here also passes in the tree.
 */
#ifndef GC_SWEPT_VOLUME_H
#define GC_SWEPT_VOLUME_H

/* the path of a body's own screw: where its centre and its box are at times k/pieces */
typedef struct {
    gc_vec start, along, across, aside; /* centre at the start; ways along the axis, across it, and their normal */
    gc_vec axis;
    gc_real cosine[GC_BVH_PIECES + 1], sine[GC_BVH_PIECES + 1]; /* of half the angle up to each time */
    gc_real strays;                                             /* arc from chord within a piece, per unit of radius */
    gc_real radius;                                             /* of the centre's arc */
    int pieces;
} gc_swept_volume;

GC_FN gc_swept_volume gc_swept_volume_make(gc_vec start, gc_vec way, gc_quat turn, gc_real angle)
{
    gc_swept_volume p;
    gc_real d, c, s, g;
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    p.start = start;
    p.axis = gc_unit(gc_make(turn.x, turn.y, turn.z), none);
    g = gc_dot(way, p.axis);
    p.along = gc_scale(p.axis, g);
    p.across = gc_sub(way, p.along);
    p.aside = gc_cross(p.axis, p.across);
    p.pieces = 1 + (int)(angle * GC_R(2.5));
    if (p.pieces > GC_BVH_PIECES) p.pieces = GC_BVH_PIECES;
    d = GC_R(0.5) * angle / (gc_real)p.pieces;
    c = GC_R(1.0) - d * d * gc_verc(d * d);
    s = d * gc_sinc(d * d);
    p.cosine[0] = GC_R(1.0);
    p.sine[0] = GC_R(0.0);
    for (int k = 0; k < p.pieces; ++k) {
        p.cosine[k + 1] = p.cosine[k] * c - p.sine[k] * s;
        p.sine[k + 1] = p.sine[k] * c + p.cosine[k] * s;
    }
    p.strays = d * d * gc_verc(d * d);
    p.radius = GC_R(0.5) * gc_norm(p.across) / p.sine[p.pieces];
    return p;
}

/* the centre at time k/pieces: the chord of the arc so far is shorter than the whole one and turned back */
GC_FN gc_vec gc_swept_volume_centre(const gc_swept_volume *p, int k)
{
    gc_real share = p->sine[k] / p->sine[p->pieces];
    gc_vec chord = gc_sub(gc_scale(p->across, p->cosine[p->pieces - k]), gc_scale(p->aside, p->sine[p->pieces - k]));
    return gc_add(gc_add(p->start, gc_scale(p->along, (gc_real)k / (gc_real)p->pieces)), gc_scale(chord, share));
}

/* half the sides of the world box of a box of half sides h turned by q */
GC_FN gc_vec gc_turned_half(gc_quat q, gc_vec h)
{
    gc_vec x = gc_quat_rotate(q, gc_make(h.x, GC_R(0.0), GC_R(0.0)));
    gc_vec y = gc_quat_rotate(q, gc_make(GC_R(0.0), h.y, GC_R(0.0)));
    gc_vec z = gc_quat_rotate(q, gc_make(GC_R(0.0), GC_R(0.0), h.z));
    return gc_make(
        GC_ABS(x.x) + GC_ABS(y.x) + GC_ABS(z.x), GC_ABS(x.y) + GC_ABS(y.y) + GC_ABS(z.y),
        GC_ABS(x.z) + GC_ABS(y.z) + GC_ABS(z.z));
}

/* what is known of a body before its box is made */
typedef struct {
    gc_vec c0, c1, sides;
    gc_quat q0, q1, turn;
    gc_real radius, angle, way, pad;
} gc_moving;

/* a body between two poses, of a mesh with this centre, radius and half the sides of its box; no pad yet */
GC_FN gc_moving gc_moving_make(gc_vec centre, gc_real radius, gc_vec sides, gc_vec start, gc_quat q0, gc_vec end, gc_quat q1)
{
    gc_moving m;
    m.q0 = q0;
    m.q1 = q1;
    m.c0 = gc_add(start, gc_quat_rotate(q0, centre));
    m.c1 = gc_add(end, gc_quat_rotate(q1, centre));
    m.radius = radius;
    m.sides = sides;
    m.turn = gc_quat_unit(gc_quat_mul(q1, gc_quat_conj(q0)));
    if (m.turn.w < GC_R(0.0)) m.turn = gc_quat_make(-m.turn.w, -m.turn.x, -m.turn.y, -m.turn.z);
    m.angle = GC_R(2.0) * gc_angle(gc_norm(gc_make(m.turn.x, m.turn.y, m.turn.z)), m.turn.w);
    m.way = gc_norm(gc_sub(m.c1, m.c0));
    m.pad = GC_R(0.0);
    return m;
}

/* grow box (least, greatest) to the ball and the box of half sides h about c; on each axis the lesser of both counts, so
 * both are kept: [0..5] of the ball's centre, [6..11] of the box */
GC_FN void gc_swept_add(gc_real *box, gc_vec c, gc_vec h)
{
    gc_real at[3], sides[3];
    at[0] = c.x;
    at[1] = c.y;
    at[2] = c.z;
    sides[0] = h.x;
    sides[1] = h.y;
    sides[2] = h.z;
    for (int k = 0; k < 3; ++k) {
        box[k] = GC_MIN(box[k], at[k]);
        box[3 + k] = GC_MAX(box[3 + k], at[k]);
        box[6 + k] = GC_MIN(box[6 + k], at[k] - sides[k]);
        box[9 + k] = GC_MAX(box[9 + k], at[k] + sides[k]);
    }
}

/* world box of all that the body fills while it moves by its own screw: GC_BOX_STRIDE reals */
GC_LARGE void gc_swept_box(const gc_moving *m, gc_real *out)
{
    gc_real box[12], ball = m->radius + m->pad, corner = m->pad;
    for (int k = 0; k < 3; ++k) {
        box[k] = box[6 + k] = GC_BVH_FAR;
        box[3 + k] = box[9 + k] = -GC_BVH_FAR;
    }
    if (GC_ABS(m->turn.w) <= GC_BVH_HALF_TURN) {
        /* two screws fit: both stay in the ball over the way */
        gc_vec all = gc_make(m->radius, m->radius, m->radius);
        gc_swept_add(box, gc_scale(gc_add(m->c0, m->c1), GC_R(0.5)), all);
        ball += GC_R(0.5) * m->way * (GC_R(1.0) + GC_R(4.0) * GC_BVH_HALF_TURN);
        corner = ball - m->radius;
    } else {
        gc_swept_add(box, m->c0, gc_turned_half(m->q0, m->sides));
        gc_swept_add(box, m->c1, gc_turned_half(m->q1, m->sides));
        if (m->angle > GC_BVH_STRAIGHT) {
            gc_swept_volume p = gc_swept_volume_make(m->c0, gc_sub(m->c1, m->c0), m->turn, m->angle);
            for (int k = 1; k < p.pieces; ++k) {
                gc_quat part = gc_quat_make(p.cosine[k], p.axis.x * p.sine[k], p.axis.y * p.sine[k], p.axis.z * p.sine[k]);
                gc_swept_add(box, gc_swept_volume_centre(&p, k), gc_turned_half(gc_quat_mul(part, m->q0), m->sides));
            }
            ball += p.strays * p.radius;
            corner += p.strays * (p.radius + gc_norm(m->sides));
        }
    }
    for (int k = 0; k < 3; ++k) {
        out[k] = GC_MAX(box[k] - ball, box[6 + k] - corner);
        out[3 + k] = GC_MIN(box[3 + k] + ball, box[9 + k] + corner);
    }
}

GC_FN void gc_to_nine(gc_vec a, gc_vec b, gc_vec c, gc_real *to)
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
    to[3] = b.x;
    to[4] = b.y;
    to[5] = b.z;
    to[6] = c.x;
    to[7] = c.y;
    to[8] = c.z;
}

/* The same of a body that goes straight on and spins: the least of three boxes (reference/broad_phase/b01_bounds.py has the proof): the
 * ball about its pivot; the chord of its centre, with its ball; boxes at both ends; each grown by how far what turns leaves its chord. */
GC_LARGE void gc_spun_box(const gc_moving *m, gc_vec way, gc_vec turn, gc_vec pivot, gc_vec centre, gc_real *out)
{
    gc_vec arms = gc_sub(centre, pivot), p0 = gc_sub(m->c0, gc_quat_rotate(m->q0, arms)), p1 = gc_add(p0, way);
    gc_vec h0 = gc_turned_half(m->q0, m->sides), h1 = gc_turned_half(m->q1, m->sides);
    gc_real arm = gc_norm(arms), bend = GC_MIN(gc_dot(turn, turn) * GC_R(0.125), GC_R(2.0)), first[9], last[9];
    gc_real ball = arm + m->radius + m->pad, chord = m->radius + bend * arm + m->pad;
    gc_real corner = bend * (arm + gc_norm(m->sides)) + m->pad;
    gc_to_nine(p0, m->c0, h0, first);
    gc_to_nine(p1, m->c1, h1, last);
    for (int k = 0; k < 3; ++k) {
        gc_real low = GC_MIN(first[k], last[k]) - ball, high = GC_MAX(first[k], last[k]) + ball, low0, high0;
        low0 = GC_MIN(first[3 + k], last[3 + k]) - chord;
        high0 = GC_MAX(first[3 + k], last[3 + k]) + chord;
        low = GC_MAX(low, low0);
        high = GC_MIN(high, high0);
        low0 = GC_MIN(first[3 + k] - first[6 + k], last[3 + k] - last[6 + k]) - corner;
        high0 = GC_MAX(first[3 + k] + first[6 + k], last[3 + k] + last[6 + k]) + corner;
        out[k] = GC_MAX(low, low0);
        out[3 + k] = GC_MIN(high, high0);
    }
}

/* May two bodies meet whose centres are d0 apart at the start and d1 at the end? size: sum of the radii; the angles and
 * rotations of both turns. */
GC_FN int gc_swept_volumes_meet(
    gc_vec d0,
    gc_vec d1,
    gc_real size,
    gc_real angle_a,
    gc_real angle_b,
    gc_quat turn_a,
    gc_quat turn_b)
{
    gc_vec d = d0, way = gc_sub(d1, d0);
    gc_real ways = gc_dot(way, way), t = ways > GC_R(0.0) ? -gc_dot(d, way) / ways : GC_R(0.0), length = GC_SQRT(ways);
    gc_real angle = GC_MIN(angle_a, angle_b), turn = angle_a + angle_b, reach, apart, c;
    if (t < GC_R(0.0)) t = GC_R(0.0);
    if (t > GC_R(1.0)) t = GC_R(1.0);
    d = gc_add(d, gc_scale(way, t));
    apart = gc_dot(d, d);
    /* first with the sum of the turns, which is above the relative one and costs nothing */
    reach = gc_cull(size, length, angle, GC_MIN(turn, GC_R(3.1416)));
    if (reach >= GC_R(0.0) && apart > reach * reach) return 0;
    c = GC_ABS(turn_b.w * turn_a.w + turn_b.x * turn_a.x + turn_b.y * turn_a.y + turn_b.z * turn_a.z);
    if (c > GC_R(1.0)) c = GC_R(1.0);
    turn = GC_R(2.0) * gc_angle(GC_SQRT(GC_R(1.0) - c * c) + GC_BVH_SINE_PAD, c);
    reach = gc_cull(size, length, angle, turn);
    return !(reach >= GC_R(0.0) && apart > reach * reach);
}

GC_FN int gc_is_still(const gc_moving *m)
{
    gc_quat p = m->q0, q = m->q1;
    return m->way == GC_R(0.0)
           && ((p.w == q.w && p.x == q.x && p.y == q.y && p.z == q.z)
               || (p.w == -q.w && p.x == -q.x && p.y == -q.y && p.z == -q.z));
}

/* May two bodies meet during the step? Two sound bounds, without pads; a NaN parts nothing. */
GC_LARGE int gc_sweeps_meet(const gc_moving *a, const gc_moving *b)
{
    gc_real box_a[GC_BOX_STRIDE], box_b[GC_BOX_STRIDE];
    int k;
    gc_swept_box(a, box_a);
    gc_swept_box(b, box_b);
    if (gc_is_still(a) || gc_is_still(b) || GC_MAX(a->angle, b->angle) <= GC_BVH_STRAIGHT)
        for (k = 0; k < 3; ++k)
            if (box_a[k] > box_b[3 + k] || box_b[k] > box_a[3 + k]) return 0;
    return gc_swept_volumes_meet(
        gc_sub(b->c0, a->c0), gc_sub(b->c1, a->c1), a->radius + b->radius, a->angle, b->angle, a->turn, b->turn);
}

#endif
