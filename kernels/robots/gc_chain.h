/* gc_chain.h: joints that carry each other and links, and their values, which are cubic in time.
 * needs: common/gc_math.h common/gc_types.h
 *
 * The numbers of a joint and of a link, edges in joint space at a time, and the frame that a joint carries.
 */
#ifndef GC_CHAIN_H
#define GC_CHAIN_H

#define GC_CHAIN_JOINT_STRIDE 12
#define GC_CHAIN_JOINT_COLUMNS(ONE, MANY, X) \
    MANY(X, offset, 3) /* where its frame is in that of its parent, at value 0 */ \
    MANY(X, turn, 4)   /* unit quaternion */ \
    MANY(X, axis, 3)   /* unit vector in its own frame */ \
    ONE(X, length)     /* of the offset */ \
    ONE(X, slides)     /* 1: along the axis; 0: it turns about it */
GC_RECORD(GC_CHAIN_JOINT)

#define GC_CHAIN_LINK_STRIDE 14
#define GC_CHAIN_LINK_COLUMNS(ONE, MANY, X) \
    MANY(X, place, 3)  /* where it is in the frame of the joint that carries it */ \
    MANY(X, rest, 4)   /* unit quaternion */ \
    MANY(X, middle, 3) /* of the box of its points, in its own frame */ \
    MANY(X, extent, 3) /* sides */ \
    ONE(X, reach)      /* greatest distance of a point from the origin of the frame that carries it */
GC_RECORD(GC_CHAIN_LINK)

/* a place and an orientation */
typedef struct {
    gc_vec at;
    gc_quat quat;
} gc_frame;

GC_FN gc_frame gc_frame_load(GC_GLOBAL const gc_real *p)
{
    gc_frame f;
    f.at = gc_load_vec(p, 0);
    f.quat = gc_quat_make(p[3], p[4], p[5], p[6]);
    return f;
}

GC_FN void gc_frame_store(GC_GLOBAL gc_real *p, gc_frame f)
{
    gc_store_vec(p, 0, f.at);
    p[3] = f.quat.w;
    p[4] = f.quat.x;
    p[5] = f.quat.y;
    p[6] = f.quat.z;
}

/* a place and an orientation that are given in a frame, outside of it */
GC_FN gc_frame gc_frame_of(gc_frame f, gc_vec at, gc_quat quat)
{
    f.at = gc_add(f.at, gc_quat_rotate(f.quat, at));
    f.quat = gc_quat_mul(f.quat, quat);
    return f;
}

GC_FN gc_quat gc_quat_at(GC_GLOBAL const gc_real *p) { return gc_quat_make(p[0], p[1], p[2], p[3]); }

/* the frame of a link in that which `carrier` is in */
GC_FN gc_frame gc_frame_of_link(gc_frame carrier, GC_GLOBAL const gc_real *link)
{
    return gc_frame_of(carrier, gc_load_vec(link + GC_CHAIN_LINK_place, 0), gc_quat_at(link + GC_CHAIN_LINK_rest));
}

/* Sine and cosine of an angle up to 1.6 million radians, of which what is left beside quarters of a turn is taken exactly in
 * three parts; Taylor series to an eighth of a turn. No numbers beyond. The operations of geometry/arrays/angles.py. */
GC_FN void gc_sine_cosine(gc_real x, gc_real *sine, gc_real *cosine)
{
    gc_real quarters = GC_RINT(x * GC_R(0.63661977236758134308));
    gc_real one = x - quarters * GC_R(1.5707963267341256), two = quarters * GC_R(6.077100506303966e-11);
    gc_real left = one - two, lost = ((one - left) - two) - quarters * GC_R(2.0222662487959506e-21);
    gc_real r = left + lost, low = (left - r) + lost, u = r * r, second = GC_R(0.5) * u, p, q, rest;
    int turned;
    if (!(GC_ABS(x) < GC_R(1.6e6))) {
        *sine = *cosine = x - x + GC_R(0.0) / (x - x);
        return;
    }
    p = GC_R(2.8114572543455208e-15);
    p = p * u - GC_R(7.6471637318198164e-13);
    p = p * u + GC_R(1.6059043836821613e-10);
    p = p * u - GC_R(2.505210838544172e-08);
    p = p * u + GC_R(2.7557319223985893e-06);
    p = p * u - GC_R(0.0001984126984126984);
    p = p * u + GC_R(0.008333333333333333);
    p = p * u - GC_R(0.16666666666666666);
    p = r + (r * u * p + low * (GC_R(1.0) - second));
    q = GC_R(-1.5619206968586225e-16);
    q = q * u + GC_R(4.779477332387385e-14);
    q = q * u - GC_R(1.1470745597729725e-11);
    q = q * u + GC_R(2.08767569878681e-09);
    q = q * u - GC_R(2.755731922398589e-07);
    q = q * u + GC_R(2.48015873015873e-05);
    q = q * u - GC_R(0.001388888888888889);
    q = q * u + GC_R(0.041666666666666664);
    rest = GC_R(1.0) - second;
    q = rest + ((((GC_R(1.0) - rest) - second) + u * u * q) - r * low);
    turned = (int)quarters & 3;
    *sine = turned & 1 ? q : p;
    *cosine = turned & 1 ? p : q;
    if (turned >= 2) *sine = -*sine;
    if (turned == 1 || turned == 2) *cosine = -*cosine;
}

/* The value of a joint at a time; `curve`: coefficients of start + t (rate + t (square + t cube)), `step` numbers apart. */
GC_FN gc_real gc_joint_value(GC_GLOBAL const gc_real *curve, int step, gc_real t)
{
    return curve[0] + t * (curve[step] + t * (curve[2 * step] + t * curve[3 * step]));
}

/* the frame of a joint at a value, in that which the frame of its parent is in */
GC_FN gc_frame gc_frame_of_joint(gc_frame parent, GC_GLOBAL const gc_real *joint, gc_real value)
{
    gc_vec way = gc_load_vec(joint + GC_CHAIN_JOINT_offset, 0), axis = gc_load_vec(joint + GC_CHAIN_JOINT_axis, 0);
    gc_quat turn = gc_quat_at(joint + GC_CHAIN_JOINT_turn);
    gc_frame f;
    gc_real sine, cosine;
    if (joint[GC_CHAIN_JOINT_slides] > GC_R(0.0)) {
        way = gc_add(way, gc_scale(gc_quat_rotate(turn, axis), value));
        return gc_frame_of(parent, way, turn);
    }
    gc_sine_cosine(GC_R(0.5) * value, &sine, &cosine);
    f = gc_frame_of(parent, way, turn);
    f.quat = gc_quat_mul(f.quat, gc_quat_make(cosine, sine * axis.x, sine * axis.y, sine * axis.z));
    return f;
}

#endif
