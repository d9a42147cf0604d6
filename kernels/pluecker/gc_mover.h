/* gc_mover.h: a mover as others see it, and when it may come to a box.
 * needs: common/gc_constants.h common/gc_math.h
 *
 * A mover goes a straight way (GC_GOES), turns about an axis (GC_TURNS), or stands still (GC_STANDS). A turn is cut into
 * pieces of at most an eighth of pi; in each the mover stays in the box about its two ends, grown by how far an arc leaves its
 * chord. Times are fractions of a way, and of a turn the tangents of half its angle, which rise with it.
 */
#ifndef GC_MOVER_H
#define GC_MOVER_H

#define GC_GOES 0
#define GC_TURNS 1
#define GC_STANDS 2

#define GC_TURN_PIECES 8
/* boxes of such sizes hold everything */
#define GC_WIDE GC_R(1e30)
/* what no way divides by: zero components are taken for this small a part of a length */
#define GC_NO_WAY GC_R(1e-30)
/* times at which the pieces of a turn begin are so much earlier, beyond their rounding */
#if GC_PRECISION == 2
#define GC_TURN_PAD GC_R(1e-4)
/* more than any time */
#define GC_NEVER GC_R(1e35)
#else
#define GC_TURN_PAD GC_R(1e-9)
#define GC_NEVER GC_R(1e305)
#endif

/* the mover's mesh (centred) in some frame at the start, and its motion there */
typedef struct {
    gc_real rot[9];
    gc_vec shift;
    gc_vec way;         /* GC_GOES */
    gc_vec axis, pivot; /* GC_TURNS: unit vector, right-handed; a point of the axis */
} gc_stand;

/* a motion in times, the same in each frame */
typedef struct {
    int mode;
    int pieces;
    gc_real end;                                                        /* last time: 1, or the tangent of half the angle */
    gc_real cosine[GC_TURN_PIECES + 1], sine[GC_TURN_PIECES + 1];       /* of the angle where each piece begins */
    gc_real middle_cosine[GC_TURN_PIECES], middle_sine[GC_TURN_PIECES]; /* half way through each */
    gc_real begin[GC_TURN_PIECES + 1];                                  /* its time, a little less */
    gc_real bow; /* arc from chord within a piece, per unit of radius */
} gc_motion;

GC_FN gc_motion gc_motion_straight(int mode)
{
    gc_motion m;
    m.mode = mode;
    m.pieces = 0;
    m.end = GC_R(1.0);
    m.bow = GC_R(0.0);
    return m;
}

/* a turn by an angle in [0, pi] given by sine and cosine of its half */
GC_LARGE void gc_motion_turn(gc_real s, gc_real c, gc_motion *m)
{
    gc_real angle = GC_R(2.0) * gc_angle(s, c), d, sd, cd;
    m->mode = GC_TURNS;
    m->end = s < c * GC_TURN_MOST ? s / c : GC_TURN_MOST;
    m->pieces = 1 + (int)(angle * GC_R(2.5464));
    if (m->pieces > GC_TURN_PIECES) m->pieces = GC_TURN_PIECES;
    d = GC_R(0.5) * angle / (gc_real)m->pieces;
    sd = d * gc_sinc(d * d);
    m->bow = d * d * gc_verc(d * d);
    cd = GC_R(1.0) - m->bow;
    m->cosine[0] = GC_R(1.0);
    m->sine[0] = GC_R(0.0);
    m->begin[0] = GC_R(0.0);
    for (int k = 0; k < m->pieces; ++k) {
        /* twice by half a piece */
        gc_real x = m->cosine[k] * cd - m->sine[k] * sd, y = m->sine[k] * cd + m->cosine[k] * sd;
        m->middle_cosine[k] = x;
        m->middle_sine[k] = y;
        m->cosine[k + 1] = x * cd - y * sd;
        m->sine[k + 1] = y * cd + x * sd;
        x = GC_R(1.0) + m->cosine[k + 1];
        m->begin[k + 1] = x > GC_TURN_PAD ? m->sine[k + 1] / x * (GC_R(1.0) - GC_TURN_PAD) - GC_TURN_PAD : m->begin[k];
    }
}

/* v turned about the axis by the angle of this cosine and sine */
GC_FN gc_vec gc_spun(gc_vec v, gc_vec axis, gc_real c, gc_real s)
{
    gc_vec along = gc_scale(axis, gc_dot(axis, v)), off = gc_sub(v, along);
    return gc_add(gc_add(along, gc_scale(off, c)), gc_scale(gc_cross(axis, off), s));
}

GC_FN gc_vec gc_stand_over(const gc_stand *p, gc_vec x)
{
    const gc_real *m = p->rot;
    return gc_make(
        m[0] * x.x + m[1] * x.y + m[2] * x.z + p->shift.x, m[3] * x.x + m[4] * x.y + m[5] * x.z + p->shift.y,
        m[6] * x.x + m[7] * x.y + m[8] * x.z + p->shift.z);
}

/* half the sides of the box, along a frame's axes, of a box of half sides h whose axes there are the columns of m */
GC_FN gc_vec gc_stand_half(const gc_real *m, gc_vec h)
{
    return gc_make(
        GC_ABS(m[0]) * h.x + GC_ABS(m[1]) * h.y + GC_ABS(m[2]) * h.z,
        GC_ABS(m[3]) * h.x + GC_ABS(m[4]) * h.y + GC_ABS(m[5]) * h.z,
        GC_ABS(m[6]) * h.x + GC_ABS(m[7]) * h.y + GC_ABS(m[8]) * h.z);
}

/* a vector of the frame along the mover's own axes */
GC_FN gc_vec gc_turned_back(const gc_real *m, gc_vec v)
{
    return gc_make(
        m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z, m[2] * v.x + m[5] * v.y + m[8] * v.z);
}

/* a box of the mover in a frame, and what it sweeps in the pieces of a turn */
typedef struct {
    int point; /* 1: it has no sides of its own */
    gc_vec at, sides;
    gc_vec per_way;      /* one over the way */
    gc_vec own, per_own; /* half its own sides, grown, and one over the way, along its own axes */
    const gc_real *rot;  /* which are the columns of this */
    gc_real box[GC_TURN_PIECES * 6];
    gc_real axes[GC_TURN_PIECES * 9];   /* as rot, half way through each piece */
    gc_real middle[GC_TURN_PIECES * 3]; /* where its middle is then */
} gc_swept;

GC_FN gc_real gc_per(gc_real x) { return GC_R(1.0) / (GC_ABS(x) > GC_NO_WAY ? x : GC_NO_WAY); }

GC_FN void gc_hold_box(gc_real *box, gc_vec c, gc_vec h)
{
    box[0] = GC_MIN(box[0], c.x - h.x);
    box[1] = GC_MIN(box[1], c.y - h.y);
    box[2] = GC_MIN(box[2], c.z - h.z);
    box[3] = GC_MAX(box[3], c.x + h.x);
    box[4] = GC_MAX(box[4], c.y + h.y);
    box[5] = GC_MAX(box[5], c.z + h.z);
}

/* The box of half sides h about x, in the mover's mesh, grown by `more` in the frame of p. */
GC_LARGE void gc_swept_make(const gc_stand *p, const gc_motion *m, gc_vec x, gc_vec h, gc_real more, gc_swept *to)
{
    gc_vec reach = gc_make(more, more, more);
    to->at = gc_stand_over(p, x);
    to->point = gc_most(h) == GC_R(0.0);
    to->sides = gc_add(gc_stand_half(p->rot, h), reach);
    to->per_way = gc_make(gc_per(p->way.x), gc_per(p->way.y), gc_per(p->way.z));
    if (m->mode == GC_GOES) {
        gc_vec way = gc_turned_back(p->rot, p->way);
        to->own = gc_add(h, reach);
        to->per_own = gc_make(gc_per(way.x), gc_per(way.y), gc_per(way.z));
        to->rot = p->rot;
    }
    if (m->mode == GC_TURNS) {
        gc_vec from = gc_sub(to->at, p->pivot), off = gc_sub(from, gc_scale(p->axis, gc_dot(p->axis, from))), c0 = to->at;
        gc_vec h0 = to->sides;
        gc_real reach_of_all = GC_SQRT(gc_dot(off, off)) + gc_norm(h) + more, stray = m->bow * reach_of_all;
        /* from half way through a piece nothing of the mover goes farther than this */
        gc_real half_way = reach_of_all * GC_SQRT(GC_R(2.0) * m->bow);
        to->own = gc_add(h, gc_make(more + half_way, more + half_way, more + half_way));
        for (int k = 0; k < m->pieces; ++k) {
            gc_real r[9];
            gc_vec c1 = gc_add(p->pivot, gc_spun(from, p->axis, m->cosine[k + 1], m->sine[k + 1])), h1;
            gc_real *box = to->box + 6 * k;
            gc_vec middle = gc_add(p->pivot, gc_spun(from, p->axis, m->middle_cosine[k], m->middle_sine[k]));
            to->middle[3 * k] = middle.x;
            to->middle[3 * k + 1] = middle.y;
            to->middle[3 * k + 2] = middle.z;
            for (int j = 0; j < 3; ++j) {
                gc_vec side = gc_spun(
                    gc_make(p->rot[j], p->rot[3 + j], p->rot[6 + j]), p->axis, m->middle_cosine[k], m->middle_sine[k]);
                to->axes[9 * k + j] = side.x;
                to->axes[9 * k + 3 + j] = side.y;
                to->axes[9 * k + 6 + j] = side.z;
            }
            for (int j = 0; j < 3; ++j) {
                gc_vec side = gc_spun(
                    gc_make(p->rot[j], p->rot[3 + j], p->rot[6 + j]), p->axis, m->cosine[k + 1], m->sine[k + 1]);
                r[j] = side.x;
                r[3 + j] = side.y;
                r[6 + j] = side.z;
            }
            h1 = gc_add(gc_stand_half(r, h), reach);
            box[0] = c0.x - h0.x;
            box[1] = c0.y - h0.y;
            box[2] = c0.z - h0.z;
            box[3] = c0.x + h0.x;
            box[4] = c0.y + h0.y;
            box[5] = c0.z + h0.z;
            gc_hold_box(box, c1, h1);
            for (int j = 0; j < 3; ++j) {
                box[j] -= stray;
                box[3 + j] += stray;
            }
            c0 = c1;
            h0 = h1;
        }
    }
}

/* narrow [first, last] down to the times at which a point on its way is between low and high on each axis */
GC_FN void gc_within_slabs(gc_vec low, gc_vec high, gc_vec per_way, gc_real *first, gc_real *last)
{
    gc_real x0 = low.x * per_way.x, x1 = high.x * per_way.x, y0 = low.y * per_way.y, y1 = high.y * per_way.y;
    gc_real z0 = low.z * per_way.z, z1 = high.z * per_way.z;
    *first = GC_MAX(*first, GC_MIN(x0, x1));
    *first = GC_MAX(*first, GC_MIN(y0, y1));
    *first = GC_MAX(*first, GC_MIN(z0, z1));
    *last = GC_MIN(*last, GC_MAX(x0, x1));
    *last = GC_MIN(*last, GC_MAX(y0, y1));
    *last = GC_MIN(*last, GC_MAX(z0, z1));
}

/* half the sides, along the axes that are the columns of r, of a box of half sides e along those of the frame */
GC_FN gc_vec gc_half_back(const gc_real *r, gc_vec e)
{
    return gc_make(
        GC_ABS(r[0]) * e.x + GC_ABS(r[3]) * e.y + GC_ABS(r[6]) * e.z,
        GC_ABS(r[1]) * e.x + GC_ABS(r[4]) * e.y + GC_ABS(r[7]) * e.z,
        GC_ABS(r[2]) * e.x + GC_ABS(r[5]) * e.y + GC_ABS(r[8]) * e.z);
}

/* may the mover meet the box in piece k of a turn, by the axes that are its own half way through? */
GC_FN int gc_swept_own(const gc_swept *w, int k, gc_vec low, gc_vec high)
{
    const gc_real *r = w->axes + 9 * k, *at = w->middle + 3 * k;
    gc_vec e = gc_scale(gc_sub(high, low), GC_R(0.5)), c;
    if (!(gc_most(e) < GC_WIDE)) return 1;
    c = gc_turned_back(r, gc_sub(gc_scale(gc_add(low, high), GC_R(0.5)), gc_make(at[0], at[1], at[2])));
    e = gc_add(gc_half_back(r, e), w->own);
    return GC_ABS(c.x) <= e.x && GC_ABS(c.y) <= e.y && GC_ABS(c.z) <= e.z;
}

/* gc_swept_comes, of the box from *from to *to: by address, since GCC copies what is handed over by value in pieces wider than
 * those it was just written in, which then waits for memory */
GC_FN gc_real gc_swept_meets(const gc_swept *w, const gc_motion *m, const gc_vec *from, const gc_vec *to, gc_real last)
{
    gc_vec low = *from, high = *to;
    if (m->mode == GC_TURNS) {
        for (int k = 0; k < m->pieces && m->begin[k] <= last; ++k) {
            const gc_real *box = w->box + 6 * k;
            if (box[0] <= high.x && box[3] >= low.x && box[1] <= high.y && box[4] >= low.y && box[2] <= high.z
                && box[5] >= low.z && gc_swept_own(w, k, low, high))
                return m->begin[k];
        }
        return GC_NEVER;
    }
    if (low.x > high.x) return GC_NEVER; /* nothing is in it */
    low = gc_sub(gc_sub(low, w->sides), w->at);
    high = gc_sub(gc_add(high, w->sides), w->at);
    if (m->mode == GC_STANDS)
        return low.x <= GC_R(0.0) && high.x >= GC_R(0.0) && low.y <= GC_R(0.0) && high.y >= GC_R(0.0) && low.z <= GC_R(0.0)
                       && high.z >= GC_R(0.0)
                   ? GC_R(0.0)
                   : GC_NEVER;
    {
        gc_real first = GC_R(0.0);
        gc_within_slabs(low, high, w->per_way, &first, &last);
        gc_vec e = gc_sub(gc_scale(gc_sub(high, low), GC_R(0.5)), w->sides);
        if (first <= last && !w->point && gc_most(e) < GC_WIDE) {
            /* the same along the mover's own axes, which bounds one that lies askew more tightly */
            gc_vec c = gc_scale(gc_add(low, high), GC_R(0.5));
            const gc_real *r = w->rot;
            c = gc_turned_back(r, c);
            e = gc_add(gc_half_back(r, e), w->own);
            gc_within_slabs(gc_sub(c, e), gc_add(c, e), w->per_own, &first, &last);
        }
        return first <= last ? first : GC_NEVER;
    }
}

/* A time not after which the box may come to the box from `low` to `high`; GC_NEVER if it does not up to `last`. */
GC_INLINE gc_real gc_swept_comes(const gc_swept *w, const gc_motion *m, gc_vec low, gc_vec high, gc_real last)
{
    return gc_swept_meets(w, m, &low, &high, last);
}

#endif
