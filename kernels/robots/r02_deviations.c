/* r02_deviations: how far links of a chain may be from the screws between their poses.
 * needs: robots/gc_chain.h
 *
 * in:  edges in joint space, pieces of them with the links' frames at both ends, the joints and links
 * out: of each row a bound, world units, or -1: none; and the frames of the link at both ends in that of another
 * One work-item per row: a piece, a link, and what it moves relative to, the world or a link whose joint carries it. Source:
 * docs/decisions/0122. Degenerate: a link that may turn by extent a turn has no bound, nor one whose frames are no numbers.
 */

/* a link that may turn farther has no bound: screws turn by less than extent a turn; radians */
#define R02_WIDEST GC_R(3.0)
/* rounding of frames, twists and bounds, as a share of the lengths they are made of: ninety roundings */
#define R02_ROUNDING GC_R(2e-14)
/* below this the series of the coefficient is exact to rounding; above it the closed form loses no more; radians */
#define R02_SMALL GC_R(0.25)

/* a field of velocity: turn x y + shift at the point y */
typedef struct {
    gc_vec turn, shift;
} r02_twist;

/* What is known of a joint's frame at the middle of a piece, its number of a turn and its change; and sums over the joints up to
 * it, of turning joints or of all with the distance from each: of speeds (turned, moved), and of what derivatives are bounded
 * by, as decision 0122 has it. */
typedef struct {
    gc_frame frame;
    r02_twist velocity, change;
    gc_real turned, moved;        /* speed */
    gc_real bent;                 /* change, and speed times what carries it turns */
    gc_real swung, swung_far;     /* change, and speed times what it turns itself */
    gc_real twisted, twisted_far; /* speed times what carries it turns */
    gc_real slid;                 /* the same of joints that slide */
    gc_real arm, arm_far, origin; /* of the second derivative: by the arm, by the origin */
} r02_walk;

GC_FN gc_vec r02_at(r02_twist t, gc_vec y) { return gc_add(gc_cross(t.turn, y), t.shift); }

/* values of a joint on a piece from `begin` to `end`, as functions of a time from 0 to 1 on it: at the middle, derivatives there,
 * and most that these and the values are anywhere on it */
typedef struct {
    gc_real middle, first, second, speed, change, third, travel;
} r02_rates;

GC_FN r02_rates r02_rates_of(GC_GLOBAL const gc_real *curve, int step, gc_real begin, gc_real end)
{
    gc_real t = GC_R(0.5) * (begin + end), h = end - begin;
    gc_real rate = curve[step], square = curve[2 * step], cube = curve[3 * step];
    r02_rates r;
    r.middle = gc_joint_value(curve, step, t);
    r.first = h * (rate + t * (GC_R(2.0) * square + GC_R(3.0) * t * cube));
    r.second = h * h * (GC_R(2.0) * square + GC_R(6.0) * t * cube);
    r.third = GC_ABS(GC_R(6.0) * h * h * h * cube);
    r.change = GC_ABS(r.second) + GC_R(0.5) * r.third;
    r.speed = GC_ABS(r.first) + GC_R(0.5) * GC_ABS(r.second) + GC_R(0.125) * r.third;
    r.travel = GC_ABS(r.middle) + GC_R(0.5) * r.speed;
    return r;
}

GC_FN r02_walk r02_begun(gc_frame base)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    r02_walk w;
    w.frame = base;
    w.velocity.turn = w.velocity.shift = w.change.turn = w.change.shift = none;
    w.turned = w.moved = w.bent = w.swung = w.swung_far = w.twisted = w.twisted_far = w.slid = GC_R(0.0);
    w.arm = w.arm_far = w.origin = GC_R(0.0);
    return w;
}

/* one joint farther */
GC_FN void r02_step(r02_walk *w, GC_GLOBAL const gc_real *joint, r02_rates r)
{
    int slides = joint[GC_CHAIN_JOINT_slides] > GC_R(0.0);
    gc_real step = joint[GC_CHAIN_JOINT_length] + (slides ? r.travel : GC_R(0.0)), d = r.speed, theta = w->turned;
    gc_real bent = w->bent + theta * theta, moved = w->moved + step * theta;
    gc_real swing = r.change + d * (slides ? theta : theta + d), by_arm, by_origin, alpha;
    gc_vec axis, turn = w->velocity.turn, shift = w->velocity.shift;
    w->frame = gc_frame_of_joint(w->frame, joint, r.middle);
    axis = gc_quat_rotate(w->frame.quat, gc_load_vec(joint + GC_CHAIN_JOINT_axis, 0));
    if (slides) {
        w->velocity.shift = gc_add(shift, gc_scale(axis, r.first));
        w->change.shift = gc_add(w->change.shift, gc_add(gc_scale(axis, r.second), gc_scale(gc_cross(turn, axis), r.first)));
    } else {
        gc_vec arm = gc_cross(w->frame.at, axis);
        w->velocity.turn = gc_add(turn, gc_scale(axis, r.first));
        w->velocity.shift = gc_add(shift, gc_scale(arm, r.first));
        w->change.turn = gc_add(w->change.turn, gc_add(gc_scale(axis, r.second), gc_scale(gc_cross(turn, axis), r.first)));
        w->change.shift = gc_add(
            w->change.shift,
            gc_add(gc_scale(arm, r.second), gc_scale(gc_add(gc_cross(turn, arm), gc_cross(shift, axis)), r.first)));
    }
    w->swung_far += step * w->swung;
    w->twisted_far += step * w->twisted;
    w->arm_far += step * w->arm;
    alpha = w->swung_far + GC_R(2.0) * w->twisted_far + w->slid;
    by_arm = r.third + GC_R(2.0) * r.change * theta + d * bent;
    by_origin = GC_R(2.0) * r.change * moved + d * (GC_R(2.0) * theta * moved + alpha);
    w->moved = moved;
    if (slides) {
        w->moved += d;
        w->swung_far += swing;
        w->slid += d * theta;
        w->arm_far += by_arm;
    } else {
        w->turned += d;
        w->bent += r.change + d * theta;
        w->swung += swing;
        w->twisted += d * theta;
        w->arm += by_arm;
        w->origin += by_origin;
    }
}

/* (1 - (t / 2) cot(t / 2)) / t^2, of an angle t whose extent has this sine and cosine */
GC_FN gc_real r02_coefficient(gc_real turn, gc_real sine, gc_real cosine)
{
    gc_real u = turn * turn;
    if (turn > R02_SMALL) return (GC_R(1.0) - GC_R(0.5) * turn * cosine / sine) / u;
    return GC_R(0.083333333333333333)
           + u
                 * (GC_R(1.3888888888888889e-3)
                    + u
                          * (GC_R(3.3068783068783069e-5)
                             + u * (GC_R(8.2671957671957672e-7) + u * GC_R(2.0876756987868099e-8))));
}

/* the twist of the screw from one frame to another by less than extent a turn */
GC_FN r02_twist r02_screw(gc_frame begin, gc_frame end)
{
    gc_quat q = gc_quat_mul(end.quat, gc_quat_conj(begin.quat));
    gc_vec v = gc_make(q.x, q.y, q.z), way = gc_sub(end.at, begin.at), once;
    gc_real sine = GC_SQRT(gc_dot(v, v)), w = GC_ABS(q.w),
            angle = sine > GC_R(0.0) ? GC_R(2.0) * gc_angle(sine, w) : GC_R(0.0);
    gc_real scale = sine > GC_R(0.0) ? angle / sine : GC_R(2.0);
    r02_twist t;
    t.turn = gc_scale(v, q.w < GC_R(0.0) ? -scale : scale);
    once = gc_cross(t.turn, way);
    t.shift = gc_add(
        gc_sub(way, gc_scale(once, GC_R(0.5))), gc_scale(gc_cross(t.turn, once), r02_coefficient(angle, sine, w)));
    t.shift = gc_sub(t.shift, gc_cross(t.turn, begin.at));
    return t;
}

/* the longest vector of a field in the box of a link, from above: component by component in the link's axes */
GC_FN gc_real r02_most(r02_twist t, gc_vec middle, gc_quat quat, gc_vec extent)
{
    gc_quat back = gc_quat_conj(quat);
    gc_vec turn = gc_quat_rotate(back, t.turn), at = gc_quat_rotate(back, r02_at(t, middle));
    gc_real x = GC_ABS(turn.x), y = GC_ABS(turn.y), z = GC_ABS(turn.z);
    return gc_norm(gc_make(
        GC_ABS(at.x) + y * extent.z + z * extent.y, GC_ABS(at.y) + z * extent.x + x * extent.z,
        GC_ABS(at.z) + x * extent.y + y * extent.x));
}

/* The bound of a link that w carries; `far`: lengths that its frames at both ends were made of. */
GC_FN gc_real r02_bound(const r02_walk *w, GC_GLOBAL const gc_real *link, gc_frame begin, gc_frame end, gc_real far)
{
    gc_frame f = gc_frame_of_link(w->frame, link);
    gc_vec middle = gc_add(f.at, gc_quat_rotate(f.quat, gc_load_vec(link + GC_CHAIN_LINK_middle, 0)));
    gc_vec extent = gc_load_vec(link + GC_CHAIN_LINK_extent, 0);
    gc_real reach = link[GC_CHAIN_LINK_reach], speed = w->moved + reach * w->turned, third, bound;
    r02_twist off = r02_screw(begin, end);
    off.turn = gc_sub(w->velocity.turn, off.turn);
    off.shift = gc_sub(w->velocity.shift, off.shift);
    third = w->arm_far + (reach + GC_R(0.5) * speed) * w->arm + w->origin;
    bound = r02_most(off, middle, f.quat, extent) / GC_R(2.0) + gc_norm(off.turn) * speed / GC_R(8.0)
            + r02_most(w->change, middle, f.quat, extent) / GC_R(8.0) + gc_norm(w->change.turn) * speed / GC_R(24.0)
            + third / GC_R(48.0);
    bound = bound * (GC_R(1.0) + R02_ROUNDING) + R02_ROUNDING * (gc_norm(middle) + far + speed + reach);
    return w->turned < R02_WIDEST && bound >= GC_R(0.0) ? bound : GC_R(-1.0);
}

GC_FN gc_frame r02_given(GC_GLOBAL const gc_real *position, GC_GLOBAL const gc_real *quat, gc_long i)
{
    gc_frame f;
    f.at = gc_load_vec(position, i);
    f.quat = gc_quat_at(quat + 4 * i);
    return f;
}

GC_FN gc_frame r02_relative(gc_frame to, gc_frame f)
{
    gc_quat back = gc_quat_conj(to.quat);
    f.at = gc_quat_rotate(back, gc_sub(f.at, to.at));
    f.quat = gc_quat_mul(back, f.quat);
    return f;
}

GC_KERNEL void r02_deviations(
    int n,
    int n_joints,
    int n_links,
    int relative,                      /* 0: rows are all links of all pieces, in the world, and no list of them is read */
    GC_GLOBAL const int *piece_in,     /* (n,) */
    GC_GLOBAL const int *of_in,        /* (n,) link relative to which the other moves: it, or its joint, carries that */
    GC_GLOBAL const int *row_link_in,  /* (n,) link */
    GC_GLOBAL const int *motion_in,    /* (pieces,) edge */
    GC_GLOBAL const gc_real *begin_in, /* (pieces,) time */
    GC_GLOBAL const gc_real *end_in,
    GC_GLOBAL const gc_real *first_position_in, /* (pieces, n_links, 3) world, at the beginning */
    GC_GLOBAL const gc_real *first_quat_in,     /* (pieces, n_links, 4) wxyz */
    GC_GLOBAL const gc_real *last_position_in,
    GC_GLOBAL const gc_real *last_quat_in,
    GC_GLOBAL const gc_real *curve_in, /* (edges, 4, n_joints) coefficients */
    GC_GLOBAL const int *depth_in,     /* (n_joints,) joints that carry it, directly or not */
    GC_GLOBAL const int *path_in,      /* (n_joints, n_joints) those, the first first, and itself */
    GC_GLOBAL const gc_real *joint_in, /* (n_joints, GC_CHAIN_JOINT_STRIDE) */
    GC_GLOBAL const int *carrier_in,   /* (n_links,) joint, or -1 */
    GC_GLOBAL const gc_real *link_in,  /* (n_links, GC_CHAIN_LINK_STRIDE) */
    GC_GLOBAL const gc_real *base_in,  /* (7,) place and quaternion */
    GC_GLOBAL gc_real *bound_out,      /* (n,) or -1 */
    GC_GLOBAL gc_real *frame_out)      /* (n, 2, 7) at both ends, in the frame of the other; not without `relative` */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int piece = relative ? piece_in[i] : i / n_links, b = relative ? row_link_in[i] : i % n_links, from = 0;
        int joint = carrier_in[b];
        gc_long at = n_links * (gc_long)piece;
        GC_GLOBAL const gc_real *curve = curve_in + 4 * n_joints * (gc_long)motion_in[piece];
        gc_frame base = gc_frame_load(base_in);
        gc_frame begin = r02_given(first_position_in, first_quat_in, at + b);
        gc_frame end = r02_given(last_position_in, last_quat_in, at + b);
        gc_real far = GC_R(2.0) * gc_norm(begin.at) + GC_R(2.0) * gc_norm(end.at);
        r02_walk w;
        if (relative) {
            GC_GLOBAL const gc_real *link = link_in + GC_CHAIN_LINK_STRIDE * of_in[i];
            gc_frame a = r02_given(first_position_in, first_quat_in, at + of_in[i]);
            begin = r02_relative(a, begin);
            far += GC_R(2.0) * gc_norm(a.at);
            a = r02_given(last_position_in, last_quat_in, at + of_in[i]);
            end = r02_relative(a, end);
            far += GC_R(2.0) * gc_norm(a.at);
            gc_frame_store(frame_out + 14 * (gc_long)i, begin);
            gc_frame_store(frame_out + 14 * (gc_long)i + 7, end);
            base.quat = gc_quat_conj(gc_quat_at(link + GC_CHAIN_LINK_rest)); /* of what carries it, in its own */
            base.at = gc_quat_rotate(base.quat, gc_scale(gc_load_vec(link + GC_CHAIN_LINK_place, 0), GC_R(-1.0)));
            if (carrier_in[of_in[i]] >= 0) from = depth_in[carrier_in[of_in[i]]] + 1;
        }
        begin.at = gc_sub(begin.at, base.at);
        end.at = gc_sub(end.at, base.at);
        base.at = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        w = r02_begun(base);
        if (joint >= 0)
            for (int k = from; k <= depth_in[joint]; ++k) {
                int j = path_in[n_joints * joint + k];
                r02_step(
                    &w, joint_in + GC_CHAIN_JOINT_STRIDE * j,
                    r02_rates_of(curve + j, n_joints, begin_in[piece], end_in[piece]));
            }
        bound_out[i] = r02_bound(&w, link_in + GC_CHAIN_LINK_STRIDE * b, begin, end, far);
    }
}
