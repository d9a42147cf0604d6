/* gc_clear_boxes.h: how near two nodes of the trees of faces can come within h of a time.
 * needs: clearance/gc_clear_pair.h
 */
#ifndef GC_CLEAR_BOXES_H
#define GC_CLEAR_BOXES_H

/* a node in its body's axes: middle of its box, half the sides, the distance of its points from the middle, and its slab */
typedef struct {
    gc_vec c;
    gc_real sides[3], reach;
    gc_vec normal;     /* of its slab, or 0 */
    gc_real low, high; /* along it, from the middle */
} gc_clear_box;

GC_FN gc_clear_box gc_clear_box_of(const gc_clear *q, const gc_clear_side *s, int node)
{
    GC_GLOBAL const gc_raster *from = s->nodes + GC_NODE_STRIDE * (s->start[gc_node_level(node)] + gc_node_place(node));
    gc_clear_box b;
    gc_real unit = GC_R(0.5) * q->shrink, middle;
    int k;
    b.c = gc_make(
        unit * ((gc_real)from[GC_NODE_low] + (gc_real)from[GC_NODE_high]),
        unit * ((gc_real)from[GC_NODE_low + 1] + (gc_real)from[GC_NODE_high + 1]),
        unit * ((gc_real)from[GC_NODE_low + 2] + (gc_real)from[GC_NODE_high + 2]));
    for (k = 0; k < 3; ++k) b.sides[k] = unit * ((gc_real)from[GC_NODE_high + k] - (gc_real)from[GC_NODE_low + k]) + s->pad;
    b.reach = (gc_real)from[GC_NODE_reach] * q->shrink + s->pad;
    b.normal = gc_make((gc_real)from[GC_NODE_normal], (gc_real)from[GC_NODE_normal + 1], (gc_real)from[GC_NODE_normal + 2]);
    b.normal = gc_unit(b.normal, b.normal); /* it is float32 */
    middle = gc_dot(b.normal, b.c);
    b.low = (gc_real)from[GC_NODE_least] * q->shrink - middle - s->pad;
    b.high = (gc_real)from[GC_NODE_most] * q->shrink - middle + s->pad;
    return b;
}

/* how far the points of a node are from its middle along y at most, a vector of its own axes: within its box, and within its slab and ball */
GC_FN gc_real gc_clear_reach(const gc_clear_box *b, gc_vec y)
{
    gc_real box = GC_ABS(y.x) * b->sides[0] + GC_ABS(y.y) * b->sides[1] + GC_ABS(y.z) * b->sides[2];
    gc_real along = gc_dot(y, b->normal), square = gc_dot(y, y), rest = square - along * along;
    gc_real slab = GC_MAX(along * b->low, along * b->high);
    /* what rounding leaves of a rest of nothing has a root of its own */
    slab += b->reach * GC_SQRT(GC_MAX(rest, GC_R(0.0)) + GC_R(16.0) * GC_ROUNDING * square);
    return GC_MIN(box, slab);
}

/* the bound by a direction n that one of the two holds; moves: the other's box, in whose axes n is turned by m (0: not at all), with velocity w and
 * acceleration bend at its middle; rests: how far the holder's box reaches along n; d: from the middle of A's box to that of B's; sign: 1 if B
 * moves, -1 if A does; way: what the time costs */
GC_FN gc_real gc_clear_box_held(
    const gc_clear *q,
    const gc_clear_box *moves,
    const gc_real *m,
    gc_real rests,
    gc_vec d,
    gc_vec w,
    gc_vec bend,
    gc_vec n,
    gc_real sign,
    gc_real h,
    gc_real *way)
{
    gc_vec turn = gc_cross(n, q->now.omega), p = gc_scale(turn, h), back = gc_scale(n, -sign), one, two;
    gc_real along = gc_dot(n, d), rate = h * gc_dot(n, w), loss, first, second;
    if (h == GC_R(0.0)) {
        *way = GC_R(0.0);
        return along - gc_clear_reach(moves, m ? gc_rotate_back(m, back) : back) - rests;
    }
    loss = gc_clear_loss(q, n, turn, bend, moves->reach, sign > GC_R(0.0) ? q->third_b : q->third_a, h);
    one = gc_sub(back, p);
    two = gc_add(back, p);
    if (m) {
        one = gc_rotate_back(m, one);
        two = gc_rotate_back(m, two);
    }
    first = rate - gc_clear_reach(moves, one);
    second = -rate - gc_clear_reach(moves, two);
    *way = GC_ABS(rate) + gc_clear_far(p) * moves->reach + loss;
    return along + GC_MIN(first, second) - rests - loss;
}

GC_FN gc_real gc_clear_outside(gc_real x, gc_real reach)
{
    return x > reach ? x - reach : (x < -reach ? x + reach : GC_R(0.0));
}

/* The bound by the directions of the slabs of both, where these are flat: of ground that is inclined the box is as high as it is long. */
GC_FN gc_real
gc_clear_slabs(const gc_clear *q, const gc_clear_box *a, const gc_clear_box *b, gc_vec d, gc_vec c, gc_real h, gc_real *way)
{
    gc_real bound = -GC_BVH_FAR, other, cost;
    if (GC_CLEAR_FLAT * (a->high - a->low) < a->reach && gc_dot(d, d) < GC_R(4.0) * a->reach * a->reach) {
        gc_vec n = gc_dot(a->normal, d) < GC_R(0.0) ? gc_scale(a->normal, GC_R(-1.0)) : a->normal;
        bound = gc_clear_box_held(
            q, b, q->now.m, gc_clear_reach(a, n), d, gc_clear_velocity(q, c), gc_clear_bend_b(q, c), n, GC_R(1.0), h, way);
    }
    if (GC_CLEAR_FLAT * (b->high - b->low) < b->reach && gc_dot(d, d) < GC_R(4.0) * b->reach * b->reach) {
        gc_vec n = gc_rotate(q->now.m, b->normal), back = gc_scale(b->normal, GC_R(-1.0));
        if (gc_dot(n, d) < GC_R(0.0)) {
            n = gc_scale(n, GC_R(-1.0));
            back = b->normal;
        }
        other = gc_clear_box_held(
            q, a, (const gc_real *)0, gc_clear_reach(b, back), d, gc_clear_velocity(q, a->c), gc_clear_bend_a(q, a->c), n,
            GC_R(-1.0), h, &cost);
        if (other > bound) {
            bound = other;
            *way = cost;
        }
    }
    return bound;
}

/* A bound on the distance of two boxes within h of q's time; way: about how much of it the time costs, and not the boxes. Nobody asks how far it
 * is above `limit`. */
GC_LARGE gc_real
gc_clear_boxes(const gc_clear *q, const gc_clear_box *a, const gc_clear_box *b, gc_real h, gc_real limit, gc_real *way)
{
    const gc_real *m = q->now.m;
    gc_vec c = gc_add(gc_rotate(m, b->c), q->now.q), d = gc_sub(c, a->c), e = gc_rotate_back(m, d),
           w = gc_clear_velocity(q, c), gap_a, gap_b;
    gc_vec bend = gc_clear_bend_b(q, c);
    gc_real by_a, by_b, by_slab, bound, length, cost;
    *way = gc_clear_way(q, gc_clear_far(w) + q->spin * b->reach, bend, b->reach, h);
    length = gc_clear_far(d);
    bound = length - a->reach - b->reach - *way - q->rough;
    if (bound >= limit) return bound;
    gap_a = gc_make(
        gc_clear_outside(
            d.x, a->sides[0] + GC_ABS(m[0]) * b->sides[0] + GC_ABS(m[1]) * b->sides[1] + GC_ABS(m[2]) * b->sides[2]),
        gc_clear_outside(
            d.y, a->sides[1] + GC_ABS(m[3]) * b->sides[0] + GC_ABS(m[4]) * b->sides[1] + GC_ABS(m[5]) * b->sides[2]),
        gc_clear_outside(
            d.z, a->sides[2] + GC_ABS(m[6]) * b->sides[0] + GC_ABS(m[7]) * b->sides[1] + GC_ABS(m[8]) * b->sides[2]));
    gap_b = gc_make(
        gc_clear_outside(
            e.x, b->sides[0] + GC_ABS(m[0]) * a->sides[0] + GC_ABS(m[3]) * a->sides[1] + GC_ABS(m[6]) * a->sides[2]),
        gc_clear_outside(
            e.y, b->sides[1] + GC_ABS(m[1]) * a->sides[0] + GC_ABS(m[4]) * a->sides[1] + GC_ABS(m[7]) * a->sides[2]),
        gc_clear_outside(
            e.z, b->sides[2] + GC_ABS(m[2]) * a->sides[0] + GC_ABS(m[5]) * a->sides[1] + GC_ABS(m[8]) * a->sides[2]));
    by_a = gc_clear_far(gap_a);
    by_b = gc_clear_far(gap_b);
    bound = GC_MAX(bound, GC_MAX(by_a, by_b) - *way - q->rough);
    if (bound >= limit) return bound;
    if (length > GC_R(0.0)) {
        gc_vec n = gc_scale(d, GC_R(1.0) / length);
        gc_real reach = gc_clear_reach(a, n);
        bound = GC_MAX(bound, gc_clear_box_held(q, b, m, reach, d, w, bend, n, GC_R(1.0), h, &cost) - q->rough);
        if (bound >= limit) return bound;
        if (h > GC_R(0.0) && length > GC_CLEAR_APART * (a->reach + b->reach)) {
            gc_real other;
            reach = gc_clear_reach(b, gc_scale(gc_rotate_back(m, n), GC_R(-1.0)));
            w = gc_clear_velocity(q, a->c);
            bound = GC_MAX(
                bound,
                gc_clear_box_held(q, a, (const gc_real *)0, reach, d, w, gc_clear_bend_a(q, a->c), n, GC_R(-1.0), h, &other)
                    - q->rough);
            *way = GC_MIN(*way, GC_MIN(cost, other));
            w = gc_clear_velocity(q, c);
        }
    }
    if (bound >= limit) return bound;
    by_slab = gc_clear_slabs(q, a, b, d, c, h, &cost) - q->rough;
    if (by_slab > bound) {
        bound = by_slab;
        *way = GC_MIN(*way, cost);
    }
    if (h == GC_R(0.0) || bound >= limit) return bound;
    if (by_a > GC_R(0.0)) {
        gc_vec n = gc_scale(gap_a, GC_R(1.0) / by_a);
        bound = GC_MAX(
            bound, gc_clear_box_held(q, b, m, gc_clear_reach(a, n), d, w, bend, n, GC_R(1.0), h, &cost) - q->rough);
    }
    if (by_b > GC_R(0.0) && bound < limit) {
        gc_vec n = gc_rotate(m, gc_scale(gap_b, GC_R(1.0) / by_b));
        bound = GC_MAX(
            bound, gc_clear_box_held(q, b, m, gc_clear_reach(a, n), d, w, bend, n, GC_R(1.0), h, &cost) - q->rough);
    }
    if (GC_MAX(GC_MAX(by_a, by_b), length - a->reach - b->reach) >= limit) *way = GC_BVH_FAR;
    return bound;
}

#endif
