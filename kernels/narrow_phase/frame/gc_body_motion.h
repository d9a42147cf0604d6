/* gc_body_motion.h: two bodies each on its own motion, and what one sees of the other at a time.
 * needs: common/gc_motion.h
 *
 * A body's centre is at  c + s drift + sigma swing + nu turn x swing  and the body is turned by s turn about it, s from -1/2 to 1/2,
 * sigma = sin(angle s)/angle, nu = (1 - cos(angle s))/angle^2. With the drift along the axis and the swing across it that is the screw
 * between two poses, without a swing a straight way with a constant spin (docs/decisions/0108). Everything is seen in A's axes at half-way,
 * counted from A's centre there, in scaled lengths; a `gc_body_state` is seen in the axes that A has at that time.
 */
#ifndef GC_BODY_MOTION_H
#define GC_BODY_MOTION_H

/* Is a mesh one vertex, of which a rounding radius makes a sphere? */
GC_FN int gc_is_ball(GC_GLOBAL const int *headers, int mesh) { return headers[GC_MESH_STRIDE * mesh + GC_MESH_nv] == 1; }

/* cosine and sine over angle of half the turn to s */
typedef struct {
    gc_real w, k;
} gc_half_turn;

/* Series reach to half angles of 1.58; beyond it a part of the turn is doubled. */
GC_FN gc_half_turn gc_half_turn_at(gc_real angle, gc_real s)
{
    gc_half_turn r;
    gc_real part = GC_R(0.5) * s, a, w;
    int doubled = 0;
    while (GC_ABS(angle * part) > GC_R(1.58) && doubled < 60) {
        part *= GC_R(0.5);
        ++doubled;
    }
    a = angle * part;
    r.k = part * gc_sinc(a * a);
    r.w = GC_R(1.0) - a * a * gc_verc(a * a);
    for (; doubled > 0; --doubled) {
        w = r.w;
        r.w = GC_R(1.0) - GC_R(2.0) * (angle * r.k) * (angle * r.k);
        r.k = GC_R(2.0) * w * r.k;
    }
    return r;
}

GC_FN gc_quat gc_half_turn_quat(gc_half_turn r, gc_vec turn)
{
    return gc_quat_make(r.w, turn.x * r.k, turn.y * r.k, turn.z * r.k);
}

GC_FN void gc_to_three(gc_vec v, gc_real *to)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

/* how far the swing has moved the centre */
GC_FN gc_vec gc_swung(gc_half_turn r, gc_vec turn, gc_vec swing)
{
    gc_real sigma = GC_R(2.0) * r.k * r.w, nu = GC_R(2.0) * r.k * r.k;
    return gc_add(gc_scale(swing, sigma), gc_scale(gc_cross(turn, swing), nu));
}

/* B as A sees it at a time: its orientation, its centre q, and of a point q + r that goes with it
 *     velocity      v + omega x r
 *     acceleration  a + omega x (omega x r) - xi x r      (of A's axes, that is, what A's clock and ruler say) */
typedef struct {
    gc_quat turned;
    gc_real m[9]; /* B's axes to A's */
    gc_vec q, v, a, omega, xi;
} gc_body_state;

/* rows of the rotation of a unit quaternion */
GC_FN void gc_quat_rows(gc_quat q, gc_real *m)
{
    gc_real x = q.x + q.x, y = q.y + q.y, z = q.z + q.z;
    gc_real xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, xz = x * q.z, yz = y * q.z;
    gc_real wx = x * q.w, wy = y * q.w, wz = z * q.w;
    m[0] = GC_R(1.0) - (yy + zz);
    m[1] = xy - wz;
    m[2] = xz + wy;
    m[3] = xy + wz;
    m[4] = GC_R(1.0) - (xx + zz);
    m[5] = yz - wx;
    m[6] = xz - wy;
    m[7] = yz + wx;
    m[8] = GC_R(1.0) - (xx + yy);
}

GC_LARGE void gc_bodies_at(const gc_bodies *b, gc_real s, gc_body_state *to)
{
    gc_vec ta = gc_of_three(b->turn_a), tb = gc_of_three(b->turn_b), sa = gc_of_three(b->swing_a),
           sb = gc_of_three(b->swing_b);
    gc_vec drift = gc_of_three(b->drift), p, p1, p2, va, vb, x;
    gc_half_turn ha = gc_half_turn_at(b->angle_a, s), hb = gc_half_turn_at(b->angle_b, s);
    gc_quat qa = gc_half_turn_quat(ha, ta), qb = gc_half_turn_quat(hb, tb);
    gc_real a[9];
    /* in A's half-way axes: the centre, and its first two derivatives */
    va = gc_quat_rotate(qa, sa);
    vb = gc_quat_rotate(qb, sb);
    p = gc_add(gc_of_three(b->apart), gc_scale(drift, s));
    p = gc_add(p, gc_sub(gc_swung(hb, tb, sb), gc_swung(ha, ta, sa)));
    p1 = gc_add(drift, gc_sub(vb, va));
    p2 = gc_sub(gc_cross(tb, vb), gc_cross(ta, va));
    /* in the axes that turn with A */
    gc_quat_rows(qa, a);
    x = gc_cross(ta, p);
    to->q = gc_rotate_back(a, p);
    to->v = gc_rotate_back(a, gc_sub(p1, x));
    to->a = gc_rotate_back(a, gc_add(gc_sub(p2, gc_scale(gc_cross(ta, p1), GC_R(2.0))), gc_cross(ta, x)));
    to->omega = gc_rotate_back(a, gc_sub(tb, ta));
    to->xi = gc_rotate_back(a, gc_cross(ta, tb));
    to->turned = gc_quat_mul(
        gc_quat_conj(qa), gc_quat_mul(qb, gc_quat_make(b->quat[0], b->quat[1], b->quat[2], b->quat[3])));
    gc_quat_rows(to->turned, to->m);
}

/* velocity and acceleration of what of B is at q + r */
GC_FN gc_vec gc_state_velocity(const gc_body_state *t, gc_vec r) { return gc_add(t->v, gc_cross(t->omega, r)); }

GC_FN gc_vec gc_state_acceleration(const gc_body_state *t, gc_vec r)
{
    return gc_add(t->a, gc_sub(gc_cross(t->omega, gc_cross(t->omega, r)), gc_cross(t->xi, r)));
}

#endif
