/* gc_clear_features.h: a vertex and a face, and two edges: how near they are at a time, and how near they can come within h of it.
 * needs: clearance/gc_clear_pair.h
 *
 * Bounds of second order, for a direction n that points from A to B (docs/decisions/0112):
 *   held by A     min over B's points x of (n.x - h |n.w(x)|) - max over A's points a of n.a - what B's ways bend along n
 *   held by B     min n.x - max (n.a + h |n.w(a)|) - what A's ways bend along n
 *   held by both  of two edges, with n1 such that n + s n1 stays across both to first order
 * They hold for any n, and are as good as the distance if n is its direction and the features come no nearer to first order.
 */
#ifndef GC_CLEAR_FEATURES_H
#define GC_CLEAR_FEATURES_H

/* a distance, and what holds it */
typedef struct {
    gc_real distance, bound;
    gc_vec on_a, on_b; /* nearest points, in A's axes */
    gc_vec normal;     /* from A to B */
    int end_a,
        end_b; /* of a face: 0 within, 1 + k on side k, -1 - k at corner k; of an edge: 0 within, 1 and 2 at its ends */
} gc_clear_near;

/* n without what is along the edge e, to rounding: then both ends of the edge are as far along n */
GC_FN gc_vec gc_clear_across(gc_vec n, gc_vec e, gc_real square)
{
    n = gc_sub(n, gc_scale(e, gc_dot(n, e) / square));
    n = gc_sub(n, gc_scale(e, gc_dot(n, e) / square));
    return gc_unit(n, n);
}

/* corner j of face f, moved into the face's plane */
GC_FN gc_vec gc_clear_corner(const gc_clear *q, const gc_clear_side *s, int j, gc_vec n, gc_real offset)
{
    gc_vec x = gc_scale(gc_vertex(&q->t, &s->mesh, q->t.topology[s->mesh.face_vertices + j]), q->shrink);
    return gc_sub(x, gc_scale(n, gc_dot(n, x) + offset));
}

/* Vertex v of the other body and face f of A (side 0) or B, at q's time. All is done in the axes of the face's body. */
GC_LARGE void gc_clear_vertex_face(const gc_clear *q, int side, int f, int v, gc_real h, gc_real limit, gc_clear_near *o)
{
    const gc_clear_side *s = side ? &q->b : &q->a;
    gc_vec z = side ? gc_clear_vertex_a(q, v) : gc_clear_vertex_b(q, v), x = z, w = gc_clear_velocity(q, z), near, n, u,
           normal, bend;
    GC_GLOBAL const gc_real *plane = q->t.planes + 4 * (s->mesh.face0 + f);
    gc_real offset = plane[3] * q->shrink, height, third, best = GC_BVH_FAR, most = -GC_BVH_FAR;
    int first = q->t.topology[s->mesh.face_start + f], end = q->t.topology[s->mesh.face_start + f + 1], j, at = 0;
    if (side) {
        x = gc_rotate_back(q->now.m, gc_sub(z, q->now.q));
        w = gc_rotate_back(q->now.m, w);
    }
    normal = gc_make(plane[0], plane[1], plane[2]);
    height = gc_dot(normal, x) + offset;
    near = gc_sub(x, gc_scale(normal, height));
    n = height < GC_R(0.0) ? gc_scale(normal, GC_R(-1.0)) : normal;
    u = gc_clear_corner(q, s, end - 1, normal, offset);
    for (j = first; j < end; ++j) {
        gc_vec next = gc_clear_corner(q, s, j, normal, offset), e = gc_sub(next, u);
        if (gc_dot(gc_cross(e, gc_sub(x, u)), normal) < GC_R(0.0)) {
            gc_real square = gc_dot(e, e), t = gc_dot(gc_sub(x, u), e), far;
            gc_vec foot = t <= GC_R(0.0) ? u : (t >= square ? next : gc_add(u, gc_scale(e, t / square))),
                   away = gc_sub(x, foot);
            far = gc_dot(away, away);
            if (far < best) {
                int side_of = j > first ? j - 1 - first : end - 1 - first;
                best = far;
                near = foot;
                n = gc_unit(away, normal);
                at = 1 + side_of;
                if (t <= GC_R(0.0)) at = -1 - side_of;
                else if (t >= square) at = -1 - (j - first);
                else n = gc_clear_across(n, e, square);
            }
        }
        u = next;
    }
    o->distance = at ? GC_SQRT(best) : GC_ABS(height);
    bend = side ? gc_clear_bend_a(q, z) : gc_clear_bend_b(q, z);
    third = side ? q->third_a : q->third_b;
    if (side) bend = gc_rotate_back(q->now.m, bend);
    o->bound = o->distance - gc_clear_way(q, gc_clear_far(w), bend, GC_R(0.0), h);
    if (o->bound < limit && h > GC_R(0.0)) {
        gc_real held = o->distance;
        gc_vec omega = side ? gc_rotate_back(q->now.m, q->now.omega) : q->now.omega;
        for (j = first; j < end && at; ++j) most = GC_MAX(most, gc_dot(n, gc_clear_corner(q, s, j, normal, offset)));
        if (at) held = gc_dot(n, x) - most;
        held -= h * GC_ABS(gc_dot(n, w)) + gc_clear_loss(q, n, gc_cross(n, omega), bend, GC_R(0.0), third, h);
        o->bound = GC_MAX(o->bound, held);
    }
    o->bound -= q->rough;
    o->end_a = side ? 0 : at;
    o->end_b = side ? at : 0;
    o->on_a = side ? z : near;
    o->on_b = side ? gc_add(gc_rotate(q->now.m, near), q->now.q) : z;
    o->normal = side ? gc_scale(gc_rotate(q->now.m, n), GC_R(-1.0)) : n;
}

/* A bound on the distance of face f of A (side 0) or B and face g of the other body within h of q's time, by the direction of f, which its body
 * holds. Nodes are float32: of faces that are all as near, above level ground, only this tells that they are no nearer. */
GC_LARGE gc_real gc_clear_faces(const gc_clear *q, int side, int f, int g, gc_real h)
{
    const gc_clear_side *s = side ? &q->b : &q->a, *other = side ? &q->a : &q->b;
    gc_vec own = gc_normal(&q->t, &s->mesh, f), n = side ? gc_rotate(q->now.m, own) : own, z0 = n, bend;
    gc_real least = GC_BVH_FAR, most = -GC_BVH_FAR, low = GC_BVH_FAR, high = -GC_BVH_FAR, reach = GC_R(0.0), base, loss;
    int j = q->t.topology[s->mesh.face_start + f], end = q->t.topology[s->mesh.face_start + f + 1], first;
    base = side ? gc_dot(n, q->now.q) : GC_R(0.0);
    for (; j < end; ++j) {
        gc_real x = base + gc_dot(own, gc_vertex(&q->t, &s->mesh, q->t.topology[s->mesh.face_vertices + j])) * q->shrink;
        least = GC_MIN(least, x);
        most = GC_MAX(most, x);
    }
    first = j = q->t.topology[other->mesh.face_start + g];
    end = q->t.topology[other->mesh.face_start + g + 1];
    for (; j < end; ++j) {
        int v = q->t.topology[other->mesh.face_vertices + j];
        gc_vec z = side ? gc_clear_vertex_a(q, v) : gc_clear_vertex_b(q, v);
        gc_real x = gc_dot(n, z), drift = h * GC_ABS(gc_dot(n, gc_clear_velocity(q, z)));
        if (j == first) z0 = z;
        reach = GC_MAX(reach, gc_clear_far(gc_sub(z, z0)));
        low = GC_MIN(low, x - drift);
        high = GC_MAX(high, x + drift);
    }
    bend = side ? gc_clear_bend_a(q, z0) : gc_clear_bend_b(q, z0);
    loss = gc_clear_loss(q, n, gc_cross(n, q->now.omega), bend, reach, side ? q->third_a : q->third_b, h);
    return GC_MAX(low - most, least - high) - loss - q->rough;
}

/* the nearest point to x on the edge from p, e long; which: 0 within, 1 or 2 at an end */
GC_FN gc_vec gc_clear_on_edge(gc_vec x, gc_vec p, gc_vec e, int *which)
{
    gc_real square = gc_dot(e, e), t = gc_dot(gc_sub(x, p), e);
    *which = t <= GC_R(0.0) ? 1 : (t >= square ? 2 : 0);
    return *which == 1 ? p : (*which == 2 ? gc_add(p, e) : gc_add(p, gc_scale(e, t / square)));
}

GC_FN void gc_clear_nearer(gc_clear_near *o, gc_vec a, gc_vec b, int end_a, int end_b)
{
    gc_vec way = gc_sub(b, a);
    gc_real far = gc_dot(way, way);
    if (far >= o->distance) return;
    o->distance = far;
    o->on_a = a;
    o->on_b = b;
    o->normal = way;
    o->end_a = end_a;
    o->end_b = end_b;
}

/* Of the edges p + a d and r + b e the nearest points; c = d x e, and its square. Where the lines cross within both, the normal
 * is across them, which is exact however near they are. */
GC_FN void gc_clear_edges_at(gc_vec p, gc_vec d, gc_vec r, gc_vec e, gc_vec c, gc_real square, gc_clear_near *o)
{
    gc_vec way = gc_sub(r, p), x;
    gc_real t, u;
    int end;
    if (square > GC_TOL_PARALLEL * GC_TOL_PARALLEL * gc_dot(d, d) * gc_dot(e, e)) {
        t = gc_dot(gc_cross(way, e), c);
        u = gc_dot(gc_cross(way, d), c);
        if (t >= GC_R(0.0) && t <= square && u >= GC_R(0.0) && u <= square) {
            gc_real along = gc_dot(way, c), norm = GC_SQRT(square);
            o->on_a = gc_add(p, gc_scale(d, t / square));
            o->on_b = gc_add(r, gc_scale(e, u / square));
            o->distance = GC_ABS(along) / norm;
            o->normal = gc_scale(c, (along < GC_R(0.0) ? GC_R(-1.0) : GC_R(1.0)) / norm);
            o->end_a = o->end_b = 0;
            return;
        }
    }
    o->distance = GC_BVH_FAR;
    x = gc_clear_on_edge(r, p, d, &end);
    gc_clear_nearer(o, x, r, end, 1);
    x = gc_add(r, e);
    way = gc_clear_on_edge(x, p, d, &end);
    gc_clear_nearer(o, way, x, end, 2);
    x = gc_clear_on_edge(p, r, e, &end);
    gc_clear_nearer(o, p, x, 1, end);
    x = gc_add(p, d);
    way = gc_clear_on_edge(x, r, e, &end);
    gc_clear_nearer(o, x, way, 2, end);
    o->distance = GC_SQRT(o->distance);
    o->normal = gc_unit(o->normal, gc_unit(c, gc_make(GC_R(1.0), GC_R(0.0), GC_R(0.0))));
    if (o->end_a == 0) o->normal = gc_clear_across(o->normal, d, gc_dot(d, d));
    if (o->end_b == 0) o->normal = gc_clear_across(o->normal, e, gc_dot(e, e));
}

/* the direction that turns with both edges; wx, wy: velocities of B's ends x, y; loss: as far as A holds n, full: in any direction */
GC_FN gc_real gc_clear_held_by_both(
    const gc_clear *q,
    gc_vec p,
    gc_vec d,
    gc_vec x,
    gc_vec e,
    gc_vec wx,
    gc_vec wy,
    gc_vec n,
    gc_real loss,
    gc_real full,
    gc_real h)
{
    gc_vec m = gc_cross(n, d), n1, y = gc_add(x, e);
    gc_real across = gc_dot(m, e), turn, least, length;
    if (across * across <= GC_TOL_PARALLEL * GC_TOL_PARALLEL * gc_dot(d, d) * gc_dot(e, e)) return -GC_BVH_FAR;
    turn = -gc_dot(n, gc_cross(q->now.omega, e)) / across;
    n1 = gc_scale(m, turn);
    length = gc_clear_far(n1);
    {
        gc_real nx = gc_dot(n, gc_sub(x, p)), ny = gc_dot(n, gc_sub(y, p)), nd = gc_dot(n, d);
        gc_real rx = gc_dot(n1, gc_sub(x, p)) + gc_dot(n, wx), ry = gc_dot(n1, gc_sub(y, p)) + gc_dot(n, wy),
                rd = gc_dot(n1, d);
        gc_real sx = h * GC_ABS(gc_dot(n1, wx)), sy = h * GC_ABS(gc_dot(n1, wy));
        least = GC_MIN(nx - h * (GC_ABS(rx) + sx), ny - h * (GC_ABS(ry) + sy));
        least = GC_MIN(least, nx - nd - h * (GC_ABS(rx - rd) + sx));
        least = GC_MIN(least, ny - nd - h * (GC_ABS(ry - rd) + sy));
    }
    least -= loss + h * length * full;
    return least > GC_R(0.0) ? least / GC_SQRT(GC_R(1.0) + h * h * length * length) : least;
}

/* Edges a of A and b of B at q's time; too far apart for the limit they have no distance, only a bound. */
GC_LARGE void gc_clear_edges(const gc_clear *q, int a, int b, gc_real h, gc_real limit, gc_clear_near *o)
{
    GC_GLOBAL const int *ends_a = q->t.topology + q->a.mesh.edges + 2 * a, *ends_b = q->t.topology + q->b.mesh.edges + 2 * b;
    gc_vec p = gc_clear_vertex_a(q, ends_a[0]), d = gc_sub(gc_clear_vertex_a(q, ends_a[1]), p);
    gc_vec r = gc_clear_vertex_b(q, ends_b[0]), e = gc_sub(gc_clear_vertex_b(q, ends_b[1]), r);
    gc_vec mid_a = gc_add(p, gc_scale(d, GC_R(0.5))), mid_b = gc_add(r, gc_scale(e, GC_R(0.5))), wx, wy, way, bend;
    gc_real half_a = GC_R(0.5) * gc_clear_far(d), half_b = GC_R(0.5) * gc_clear_far(e), speed, far;
    wx = gc_clear_velocity(q, r);
    wy = gc_clear_velocity(q, gc_add(r, e));
    speed = GC_SQRT(GC_MAX(gc_dot(wx, wx), gc_dot(wy, wy)));
    bend = gc_clear_bend_b(q, mid_b);
    far = gc_clear_way(q, speed, bend, half_b, h);
    way = gc_sub(mid_b, mid_a);
    o->distance = GC_BVH_FAR;
    o->bound = gc_clear_far(way) - half_a - half_b - far - q->rough;
    if (o->bound >= limit) return;
    way = gc_cross(d, e);
    gc_clear_edges_at(p, d, r, e, way, gc_dot(way, way), o);
    o->bound = o->distance - far;
    if (o->bound < limit && h > GC_R(0.0)) {
        gc_vec n = o->normal, turn = gc_cross(n, q->now.omega);
        gc_real a0 = gc_dot(n, p), a1 = a0 + gc_dot(n, d), b0 = gc_dot(n, r), b1 = b0 + gc_dot(n, e), held, loss;
        loss = gc_clear_loss(q, n, turn, bend, half_b, q->third_b, h);
        held = GC_MIN(b0 - h * GC_ABS(gc_dot(n, wx)), b1 - h * GC_ABS(gc_dot(n, wy))) - GC_MAX(a0, a1) - loss;
        o->bound = GC_MAX(o->bound, held);
        if (o->bound < limit) {
            held = GC_MAX(
                a0 + h * GC_ABS(gc_dot(n, gc_clear_velocity(q, p))),
                a1 + h * GC_ABS(gc_dot(n, gc_clear_velocity(q, gc_add(p, d)))));
            held = GC_MIN(b0, b1) - held - gc_clear_loss(q, n, turn, gc_clear_bend_a(q, mid_a), half_a, q->third_a, h);
            o->bound = GC_MAX(o->bound, held);
        }
        if (o->bound < limit) {
            gc_real full = GC_R(0.5) * h * h * (gc_clear_far(bend) + q->bend * half_b + q->third_b * h * GC_R(0.34));
            o->bound = GC_MAX(o->bound, gc_clear_held_by_both(q, p, d, r, e, wx, wy, n, loss, full, h));
        }
    }
    o->bound -= q->rough;
}

/* Does edge e of the other body go through face f of A (side 0) or B? Its ends are on both sides of the plane. */
GC_LARGE int gc_clear_crosses(const gc_clear *q, int side, int f, int e)
{
    const gc_clear_side *s = side ? &q->b : &q->a, *other = side ? &q->a : &q->b;
    GC_GLOBAL const int *ends = q->t.topology + other->mesh.edges + 2 * e;
    gc_vec n = gc_normal(&q->t, &s->mesh, f), p, r, u;
    gc_real offset = q->t.planes[4 * (s->mesh.face0 + f) + 3] * q->shrink, hp, hr;
    int j = q->t.topology[s->mesh.face_start + f], end = q->t.topology[s->mesh.face_start + f + 1];
    p = side ? gc_rotate_back(q->now.m, gc_sub(gc_clear_vertex_a(q, ends[0]), q->now.q)) : gc_clear_vertex_b(q, ends[0]);
    r = side ? gc_rotate_back(q->now.m, gc_sub(gc_clear_vertex_a(q, ends[1]), q->now.q)) : gc_clear_vertex_b(q, ends[1]);
    hp = gc_dot(n, p) + offset;
    hr = gc_dot(n, r) + offset;
    if (!((hp < GC_R(0.0) && hr > GC_R(0.0)) || (hp > GC_R(0.0) && hr < GC_R(0.0)))) return 0;
    p = gc_add(p, gc_scale(gc_sub(r, p), hp / (hp - hr)));
    u = gc_clear_corner(q, s, end - 1, n, offset);
    for (; j < end; ++j) {
        gc_vec next = gc_clear_corner(q, s, j, n, offset);
        if (gc_dot(gc_cross(gc_sub(next, u), gc_sub(p, u)), n) < GC_R(0.0)) return 0;
        u = next;
    }
    return 1;
}

#endif
