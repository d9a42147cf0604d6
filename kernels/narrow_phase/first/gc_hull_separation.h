/* gc_hull_separation.h: until when the hulls of two bodies are certainly separated, by planes between their vertices.
 * needs: common/gc_constants.h common/gc_motion.h
 *
 * A plane across n that is fixed in A's frame separates the bodies while all vertices of A are below it and all of B above.
 * Along n, a vertex of B moves as h + h' u, with an error of half the greatest acceleration times u^2: so one pass over all
 * vertices bounds the time until which this plane separates them. At that time the next plane is taken, across the shortest
 * vector between the hulls as far as it is known (Gilbert, Johnson and Keerthi 1988: a simplex of differences of vertices).
 * Whatever plane is taken, its answer is true: a face or an edge lies in the hull of its vertices, whether the mesh is
 * convex or not (docs/decisions/0058). All work-items of the group take part, and compute the same numbers.
 */
#ifndef GC_HULL_SEPARATION_H
#define GC_HULL_SEPARATION_H

/* vertices looked at side by side by a work-item alone */
#define GC_LANES 16
/* planes tried at most */
#define GC_PLANES 48
/* the shortest way between hulls, in scaled lengths, from which on features beside it are looked at */
#define GC_CLOSE GC_R(1e-3)

/* what is above a plane: c + x vx + y vy + z vz of a vertex in the mesh's own frame */
typedef struct {
    gc_raster x, y, z, c;
} gc_level;

/* what all looks at a pair share */
typedef struct {
    gc_pair pair;
    GC_GLOBAL const gc_raster *va, *vb; /* vertices, x, y, z blocks, user units */
    GC_GLOBAL gc_raster *parts;         /* (GC_GROUP_SIZE, 2) of many work-items */
    GC_GLOBAL int *places;              /* (GC_GROUP_SIZE,) */
    gc_raster pad;                      /* rounding of a height, and what a face may be off its plane */
    gc_raster close;                    /* hulls so near the distance are told to be, with the plane between them */
    gc_raster distance;                 /* they are apart if they are farther apart than that: the pad of the motion */
    gc_raster bend;                     /* bound of the acceleration of B's vertices */
    gc_raster fast;                     /* and of their speed */
} gc_hulls;

/* Are pairs of these meshes looked at so? */
GC_FN int gc_looks_at_hulls(int least_product, int most_vertices, GC_GLOBAL const int *mesh_a, GC_GLOBAL const int *mesh_b)
{
    int a = mesh_a[GC_MESH_nv], b = mesh_b[GC_MESH_nv], more = GC_MAX(a, b), fewer = GC_MIN(a, b);
    return (gc_long)mesh_a[GC_MESH_nf] * mesh_b[GC_MESH_nf] >= least_product && more <= most_vertices
           && more <= GC_HULLS_TIMES * (gc_long)fewer + GC_HULLS_SOME;
}

/* h for a pair; among many work-items it needs h->parts and h->places besides */
GC_FN void gc_hulls_load(
    GC_GLOBAL const int *pairs,
    GC_GLOBAL const int *shape,
    GC_GLOBAL const gc_real *screw,
    const gc_tables *t,
    int pair,
    GC_GLOBAL const gc_raster *columns,
    gc_hulls *h)
{
    const gc_screw *k;
    gc_real far;
    gc_pair_load(pairs, shape, screw, t, pair, &h->pair);
    k = gc_screw_of(&h->pair);
    h->va = columns + 3 * gc_mesh_a(&h->pair)->vertex0;
    h->vb = columns + 3 * gc_mesh_b(&h->pair)->vertex0;
    h->distance = (gc_raster)k->pad;
    h->pad = (gc_raster)(GC_CULL_PAD * (GC_R(1.0) + k->speed + k->pad)) * GC_F(4.0) + GC_FILTER_FLAT
             + (gc_raster)(GC_R(4.0) * GC_PLACE_DOUBT * (k->size + k->speed));
    h->close = (gc_raster)GC_CLOSE + GC_F(4.0) * h->pad;
    /* w is the speed where the frame begins, tb.z how much farther from the axis B's middle is */
    far = GC_ABS(k->w + k->theta * k->tb[2]) + k->theta * (k->radius_b + GC_ABS(k->tb[0]));
    h->fast = (gc_raster)((GC_ABS(k->g) + far) * GC_R(1.001));
    h->bend = (gc_raster)(k->theta * far * GC_R(1.001));
}

/* a plane that divides the hulls from s on, until it does not any more */
typedef struct {
    gc_real s;
    gc_vec n;
    gc_raster closing; /* how fast the lowest of B comes to it */
    int known;
} gc_divide;

/* n.x + c of a body's vertices, placed by (rot, shift) */
GC_FN gc_level gc_level_of(const gc_screw *k, const gc_real *rot, const gc_real *shift, gc_vec n, gc_real c)
{
    gc_vec m = gc_scale(gc_rotate_back(rot, n), k->shrink);
    gc_level l;
    l.x = (gc_raster)m.x;
    l.y = (gc_raster)m.y;
    l.z = (gc_raster)m.z;
    l.c = (gc_raster)(c + n.x * shift[0] + n.y * shift[1] + n.z * shift[2]);
    return l;
}

/* n.x of A's, downwards */
GC_FN gc_level gc_level_a(const gc_screw *k, gc_vec n)
{
    return gc_level_of(k, k->ra, k->ta, gc_scale(n, GC_R(-1.0)), GC_R(0.0));
}

/* n.x of B's as the flow has carried them, and how fast it grows */
GC_FN gc_level gc_level_b(const gc_screw *k, gc_turn t, gc_vec n)
{
    gc_real a = k->theta * t.sigma, b = k->theta * k->theta * t.nu;
    gc_vec m = gc_make(n.x - a * n.z - b * n.x, n.y, n.z + a * n.x - b * n.z);
    return gc_level_of(k, k->rb, k->tb, m, k->w * (t.sigma * n.x - k->theta * t.nu * n.z) + n.y * k->g * t.s);
}

GC_FN gc_level gc_rate_b(const gc_screw *k, gc_turn t, gc_vec n)
{
    gc_real a = k->theta * (GC_R(1.0) - k->theta * k->theta * t.nu), b = k->theta * k->theta * t.sigma;
    gc_vec m = gc_make(-a * n.z - b * n.x, GC_R(0.0), a * n.x - b * n.z);
    gc_real cosine = GC_R(1.0) - k->theta * k->theta * t.nu;
    return gc_level_of(k, k->rb, k->tb, m, k->w * (cosine * n.x - k->theta * t.sigma * n.z) + n.y * k->g);
}

GC_INLINE gc_raster gc_level_at(gc_level l, gc_raster x, gc_raster y, gc_raster z)
{
    return l.c + l.x * x + l.y * y + l.z * z;
}

/* ---- looks at all vertices ------------------------------------------------------------------------------------ */

/* the lowest of some vertices, and the least time that one of them takes to the plane */
typedef struct {
    gc_raster low, least;
    int at;
} gc_look;

GC_FN gc_look gc_look_none(void)
{
    gc_look r;
    r.low = GC_CULL_FAR;
    r.least = GC_CULL_FAR;
    r.at = 0;
    return r;
}

/* Of equally low ones the first, however many work-items look. */
GC_INLINE void gc_look_take(gc_look *r, gc_raster low, int at)
{
    if (low < r->low || (low == r->low && at < r->at)) {
        r->low = low;
        r->at = at;
    }
}

/* At least so long a vertex takes that is d above a plane and moves by v along it: down to -v u = d + bend u^2 / 2. One that is
 * not above takes no time. */
GC_INLINE gc_raster gc_time_above(gc_raster d, gc_raster v, gc_raster bend)
{
    gc_raster down = v < GC_F(0.0) ? -v : GC_F(0.0), above = d > GC_F(0.0) ? d : GC_F(0.0);
    gc_raster rate = down + GC_SQRT_R(down * down + GC_F(2.0) * bend * above);
    return GC_F(2.0) * above / (rate > GC_F(1e-15) ? rate : GC_F(1e-15));
}

/* Of the vertices of a body the lowest; and with a rate how long they all stay above `top`. */
GC_INLINE gc_look gc_look_alone(
    GC_GLOBAL const gc_raster *GC_RESTRICT v,
    int n,
    gc_level l,
    gc_level rate,
    gc_raster top,
    gc_raster bend,
    int timed)
{
    gc_look r = gc_look_none();
    GC_GLOBAL const gc_raster *GC_RESTRICT vy = v + n, *GC_RESTRICT vz = v + 2 * n;
    int i, j;
    if (n >= GC_LANES) {
        gc_raster low[GC_LANES], least[GC_LANES];
        int at[GC_LANES];
        for (j = 0; j < GC_LANES; ++j) {
            low[j] = GC_CULL_FAR;
            least[j] = GC_CULL_FAR;
            at[j] = 0;
        }
        for (i = 0; i < n; i += GC_LANES) {
            int from = i + GC_LANES <= n ? i : n - GC_LANES; /* the last ones look at some again */
            GC_INDEPENDENT
            for (j = 0; j < GC_LANES; ++j) {
                gc_raster x = v[from + j], y = vy[from + j], z = vz[from + j], h = gc_level_at(l, x, y, z);
                int lower = h < low[j];
                low[j] = lower ? h : low[j];
                at[j] = lower ? from : at[j];
                if (timed) {
                    gc_raster u = gc_time_above(h - top, gc_level_at(rate, x, y, z), bend);
                    least[j] = u < least[j] ? u : least[j];
                }
            }
        }
        for (j = 0; j < GC_LANES; ++j) {
            gc_look_take(&r, low[j], at[j] + j);
            r.least = least[j] < r.least ? least[j] : r.least;
        }
        return r;
    }
    for (i = 0; i < n; ++i) {
        gc_raster h = gc_level_at(l, v[i], vy[i], vz[i]), u;
        if (h < r.low) {
            r.low = h;
            r.at = i;
        }
        u = gc_time_above(h - top, gc_level_at(rate, v[i], vy[i], vz[i]), bend);
        r.least = GC_MIN(u, r.least);
    }
    return r;
}

/* The same by all work-items of the group. */
GC_FN gc_look gc_look_many(
    const gc_hulls *h,
    GC_GLOBAL const gc_raster *v,
    int n,
    gc_level l,
    gc_level rate,
    gc_raster top,
    gc_raster bend)
{
    gc_look r = gc_look_none();
    int i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_raster x = v[i], y = v[n + i], z = v[2 * n + i], low = gc_level_at(l, x, y, z);
        gc_raster u = gc_time_above(low - top, gc_level_at(rate, x, y, z), bend);
        if (low < r.low) {
            r.low = low;
            r.at = i;
        }
        r.least = GC_MIN(u, r.least);
    }
    h->parts[2 * GC_LOCAL_ID] = r.low;
    h->parts[2 * GC_LOCAL_ID + 1] = r.least;
    h->places[GC_LOCAL_ID] = r.at;
    GC_BARRIER();
    r = gc_look_none();
    for (i = 0; i < GC_GROUP_SIZE; ++i) {
        gc_look_take(&r, h->parts[2 * i], h->places[i]);
        r.least = GC_MIN(h->parts[2 * i + 1], r.least);
    }
    GC_BARRIER(); /* all have read it */
    return r;
}

GC_LARGE gc_look gc_look_low(const gc_hulls *h, GC_GLOBAL const gc_raster *v, int n, gc_level l)
{
    if (GC_SERIAL) return gc_look_alone(v, n, l, l, GC_F(0.0), GC_F(0.0), 0);
    return gc_look_many(h, v, n, l, l, GC_F(0.0), GC_F(0.0));
}

GC_LARGE gc_look gc_look_timed(
    const gc_hulls *h,
    GC_GLOBAL const gc_raster *v,
    int n,
    gc_level l,
    gc_level rate,
    gc_raster top,
    gc_raster bend)
{
    if (GC_SERIAL) return gc_look_alone(v, n, l, rate, top, bend, 1);
    return gc_look_many(h, v, n, l, rate, top, bend);
}

/* ---- the shortest way between the hulls ------------------------------------------------------------------------ */

/* corners of the difference of the hulls: a vertex of A, one of B half-way, and the way from one to the other at s */
typedef struct {
    gc_vec a[4], b[4], way[4];
    int ia[4], ib[4], n;
} gc_simplex;

/* the point of a triangle nearest to the origin, and which corners it needs, as bits (Ericson 2005, 5.1.5) */
GC_LARGE gc_vec gc_node_distance_of_three(gc_vec a, gc_vec b, gc_vec c, int *corners)
{
    gc_vec ab = gc_sub(b, a), ac = gc_sub(c, a);
    gc_real d1 = -gc_dot(ab, a), d2 = -gc_dot(ac, a), d3 = -gc_dot(ab, b), d4 = -gc_dot(ac, b), d5 = -gc_dot(ab, c);
    gc_real d6 = -gc_dot(ac, c), va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2, all = va + vb + vc;
    *corners = 1;
    if (d1 <= GC_R(0.0) && d2 <= GC_R(0.0)) return a;
    *corners = 2;
    if (d3 >= GC_R(0.0) && d4 <= d3) return b;
    if (vc <= GC_R(0.0) && d1 >= GC_R(0.0) && d3 <= GC_R(0.0) && d1 - d3 > GC_R(0.0)) {
        *corners = 3;
        return gc_add(a, gc_scale(ab, d1 / (d1 - d3)));
    }
    *corners = 4;
    if (d6 >= GC_R(0.0) && d5 <= d6) return c;
    if (vb <= GC_R(0.0) && d2 >= GC_R(0.0) && d6 <= GC_R(0.0) && d2 - d6 > GC_R(0.0)) {
        *corners = 5;
        return gc_add(a, gc_scale(ac, d2 / (d2 - d6)));
    }
    if (va <= GC_R(0.0) && d4 - d3 >= GC_R(0.0) && d5 - d6 >= GC_R(0.0) && (d4 - d3) + (d5 - d6) > GC_R(0.0)) {
        *corners = 6;
        return gc_add(b, gc_scale(gc_sub(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6))));
    }
    *corners = 7;
    if (!(all > GC_R(0.0))) return a;
    return gc_add(a, gc_add(gc_scale(ab, vb / all), gc_scale(ac, vc / all)));
}

GC_FN gc_vec gc_node_distance_of_two(gc_vec a, gc_vec b, int *corners)
{
    gc_vec ab = gc_sub(b, a);
    gc_real along = -gc_dot(ab, a), length = gc_dot(ab, ab);
    *corners = along <= GC_R(0.0) ? 1 : (along >= length ? 2 : 3);
    return *corners == 1 ? a : (*corners == 2 ? b : gc_add(a, gc_scale(ab, along / length)));
}

GC_FN void gc_simplex_keep(gc_simplex *q, int corners)
{
    int i, n = 0;
    for (i = 0; i < q->n; ++i) {
        if (!(corners >> i & 1)) continue;
        q->a[n] = q->a[i];
        q->b[n] = q->b[i];
        q->way[n] = q->way[i];
        q->ia[n] = q->ia[i];
        q->ib[n] = q->ib[i];
        n += 1;
    }
    q->n = n;
}

/* The point of the simplex nearest to the origin, and only those corners left that it needs; 0 if the origin is inside. */
GC_LARGE int gc_simplex_nearest(gc_simplex *q, gc_vec *way)
{
    int corners = 1, some, l, best = 0;
    gc_real least = GC_R(0.0);
    *way = q->way[0];
    if (q->n == 2) *way = gc_node_distance_of_two(q->way[0], q->way[1], &corners);
    if (q->n == 3) *way = gc_node_distance_of_three(q->way[0], q->way[1], q->way[2], &corners);
    for (l = 0; l < 4 && q->n == 4; ++l) {
        /* the side across from corner l, if the origin is on the other side of it */
        int i = l == 0 ? 1 : 0, j = l <= 1 ? 2 : 1, k = l <= 2 ? 3 : 2;
        gc_vec n = gc_cross(gc_sub(q->way[j], q->way[i]), gc_sub(q->way[k], q->way[i])), x;
        gc_real origin = -gc_dot(n, q->way[i]), other = gc_dot(n, gc_sub(q->way[l], q->way[i])), length;
        if (origin * other > GC_R(0.0)) continue;
        x = gc_node_distance_of_three(q->way[i], q->way[j], q->way[k], &some);
        length = gc_dot(x, x);
        if (best && length >= least) continue;
        best = 1;
        least = length;
        *way = x;
        corners = (some & 1) << i | (some >> 1 & 1) << j | (some >> 2 & 1) << k;
    }
    if (q->n == 4 && !best) return 0;
    gc_simplex_keep(q, corners);
    return 1;
}

/* a vertex of a body, placed; from the table that culls */
GC_FN gc_vec
gc_corner(const gc_screw *k, const gc_real *rot, const gc_real *shift, GC_GLOBAL const gc_raster *v, int n, int i)
{
    return gc_place(k, rot, shift, gc_make((gc_real)v[i], (gc_real)v[n + i], (gc_real)v[2 * n + i]));
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* 1: the hulls are apart all along, by more than a distance. 0: d has a plane that divides them from d->s on for a moment, and they are apart before; if d->known.
 * All work-items of the group take part. */
GC_LARGE int gc_hulls_apart(const gc_hulls *h, gc_divide *d)
{
    const gc_screw *k = gc_screw_of(&h->pair);
    int nva = gc_mesh_a(&h->pair)->nv, nvb = gc_mesh_b(&h->pair)->nv, planes = 0, i;
    gc_real s = GC_R(-0.5) - k->tau, until = GC_R(0.5) + k->tau;
    gc_real beyond = (gc_real)h->distance, close = (gc_real)h->close;
    gc_turn t = gc_turn_at(k->theta, s);
    gc_vec way = gc_sub(gc_flow(k, t, gc_make(k->tb[0], k->tb[1], k->tb[2])), gc_make(k->ta[0], k->ta[1], k->ta[2]));
    gc_simplex q;
    q.n = 0;
    d->known = 0;
    d->s = s;
    d->n = way;
    d->closing = GC_F(0.0);
    do {
        gc_real length = gc_norm(way), left = length - beyond;
        gc_vec n;
        gc_look a, b;
        gc_raster top, gap, across;
        int again = 0;
        if (!(left > GC_R(1e-12))) return 0; /* of a distance beyond all numbers too */
        n = gc_scale(way, GC_R(1.0) / length);
        across = GC_SQRT_R((gc_raster)(n.x * n.x + n.z * n.z));
        a = gc_look_low(h, h->va, nva, gc_level_a(k, n));
        top = h->pad + h->distance - a.low;
        b = gc_look_timed(h, h->vb, nvb, gc_level_b(k, t, n), gc_rate_b(k, t, n), top, h->bend * across);
        gap = b.low - top;
        if (gap > GC_F(0.0)) {
            s += (gc_real)b.least;
            if (s >= until) return 1;
            d->known = 1;
            d->s = s;
        }
        if (gap + h->pad > GC_F(0.0)) {
            gc_level fall = gc_rate_b(k, t, n);
            d->n = n;
            d->closing = -gc_level_at(fall, h->vb[b.at], h->vb[nvb + b.at], h->vb[2 * nvb + b.at]);
            /* near, and across the shortest way */
            if (d->known && q.n && left < close && (gc_real)(gap + h->pad) > GC_R(0.7) * left) return 0;
        }
        if (gap > GC_F(0.0)) t = gc_turn_at(k->theta, s);
        for (i = 0; i < q.n; ++i) again |= q.ia[i] == a.at && q.ib[i] == b.at;
        if (again && !(gap > GC_F(0.0) && b.least > GC_F(1e-6))) return 0;
        if (!again) {
            q.a[q.n] = gc_corner(k, k->ra, k->ta, h->va, nva, a.at);
            q.b[q.n] = gc_corner(k, k->rb, k->tb, h->vb, nvb, b.at);
            q.ia[q.n] = a.at;
            q.ib[q.n] = b.at;
            q.n += 1;
        }
        for (i = 0; i < q.n; ++i) q.way[i] = gc_sub(gc_flow(k, t, q.b[i]), q.a[i]);
        if (!gc_simplex_nearest(&q, &way)) return 0;
        planes += 1;
    } while (planes < GC_PLANES);
    return 0;
}

#endif
