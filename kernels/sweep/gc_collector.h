/* gc_collector.h: the touches of a swept sphere: which of two comes first, what is reported of one, and where they go.
 * needs: sweep/gc_touch.h sweep/gc_curved_path.h
 */
#ifndef GC_CAST_HIT_H
#define GC_CAST_HIT_H

/* a touch: ints */
#define GC_CAST_HIT_STRIDE 6
#define GC_CAST_HIT_COLUMNS(ONE, MANY, X) \
    ONE(X, query) \
    ONE(X, kind) /* GC_FEATURE_*; none: GC_FEATURE_NONE */ \
    ONE(X, body) \
    ONE(X, face)   /* number in the mesh: of an edge or a vertex, the first one that it is touched in front of */ \
    ONE(X, number) /* of the face, edge or vertex in the mesh */ \
    ONE(X, ball)   /* of a cluster */
GC_RECORD(GC_CAST_HIT)

/* reals of it */
#define GC_CAST_HIT_REAL_STRIDE 8
#define GC_CAST_HIT_REAL_COLUMNS(ONE, MANY, X) \
    ONE(X, time)      /* less what keeps the buffer */ \
    MANY(X, point, 3) /* world */ \
    MANY(X, normal, 3) \
    ONE(X, touch) /* the time itself, by which touches are in order */
GC_RECORD(GC_CAST_HIT_REAL)

typedef struct {
    GC_FIELDS(GC_CAST_HIT, int)
    int at; /* place among the features of its kind */
    gc_real time;
} gc_cast_hit;

/* Is a touch of these before the one that was caught? By time, kind, body, number, ball; never by what was found first. */
GC_FN int gc_cast_hit_before(const gc_cast_hit *a, const gc_cast_hit *b)
{
    if (a->time != b->time) return a->time < b->time;
    if (b->kind == GC_FEATURE_NONE) return 1;
    if (a->kind != b->kind) return a->kind < b->kind;
    if (a->body != b->body) return a->body < b->body;
    if (a->number != b->number) return a->number < b->number;
    return a->ball < b->ball;
}

/* Point and unit normal of a touch in the stretched frame of the body, from the centre at the start. */
GC_FN void gc_cast_hit_where(
    const gc_cast_scene *w,
    const gc_cast_mesh *g,
    const gc_ellipsoid_space *v,
    const gc_cast_hit *c,
    gc_vec *point,
    gc_vec *normal)
{
    gc_vec centre = gc_scale(v->way, c->time);
    if (c->kind == GC_FEATURE_FACE) {
        gc_vec n = gc_ellipsoid_space_normal(v, gc_cast_mesh_plane(w, g, c->at));
        gc_vec y = gc_ellipsoid_space_point(
            v, gc_cast_mesh_corner(w, g, gc_cast_mesh_begin(w, g, c->at, GC_CAST_MESH_FACE_loop) + 1));
        if (g->two_sided && gc_dot(n, y) > GC_R(0.0)) n = gc_scale(n, GC_R(-1.0));
        *normal = n;
        *point = gc_sub(centre, gc_scale(n, gc_dot(n, gc_sub(centre, y))));
        return;
    }
    if (c->kind == GC_FEATURE_EDGE) {
        gc_vec a = gc_load_vec(w->reals + g->side, 2 * c->at), b = gc_load_vec(w->reals + g->side, 2 * c->at + 1);
        gc_vec y = gc_ellipsoid_space_point(v, a), e = gc_ellipsoid_space_vector(v, gc_sub(b, a));
        gc_real f = gc_dot(gc_sub(centre, y), e) / gc_dot(e, e);
        *point = gc_add(y, gc_scale(e, GC_MIN(GC_MAX(f, GC_R(0.0)), GC_R(1.0))));
    } else {
        *point = gc_ellipsoid_space_point(v, gc_load_vec(w->reals + g->tip, c->at));
    }
    *normal = gc_sub(centre, *point);
    /* it is approached, whatever rounding says of a centre that is hardly beside it */
    if (!(gc_dot(*normal, v->way) < GC_R(0.0))) *normal = gc_scale(v->way, GC_R(-1.0));
    *normal = gc_unit(*normal, gc_unit(gc_scale(v->way, GC_R(-1.0)), *normal));
}

/* Time, point and normal of a touch as they are told: in the world, the time less what keeps the buffer. */
GC_FN void gc_cast_hit_put(const gc_cast_hit *c, gc_real time, gc_vec point, gc_vec normal, gc_real *told)
{
    told[GC_CAST_HIT_REAL_time] = time;
    told[GC_CAST_HIT_REAL_point] = point.x;
    told[GC_CAST_HIT_REAL_point + 1] = point.y;
    told[GC_CAST_HIT_REAL_point + 2] = point.z;
    told[GC_CAST_HIT_REAL_normal] = normal.x;
    told[GC_CAST_HIT_REAL_normal + 1] = normal.y;
    told[GC_CAST_HIT_REAL_normal + 2] = normal.z;
    told[GC_CAST_HIT_REAL_touch] = c->time;
}

#if GC_BODY_MOTION
/* The same beside a body that turns. The buffer is kept from the plane of contact, which turns with the body: the time is the last
 * one before the touch at which the centre was farther off. */
GC_LARGE void gc_curved_tell(const gc_cast_scene *w, const gc_ball *b, const gc_cast_hit *c, gc_real *told)
{
    int shape = w->body_ints[GC_OBSTACLE_INT_STRIDE * c->body + GC_OBSTACLE_INT_shape];
    gc_real time = c->time;
    gc_cast_hit now = *c;
    gc_vec point, normal;
    gc_quat turned;
    gc_cast_mesh g;
    gc_ellipsoid_space v;
    gc_curved o;
    gc_cast_mesh_load(w, shape, &g);
    gc_curved_make(w, b, c->body, &o);
    gc_curved_at(&o, c->time, &o.middle);
    gc_curved_moment(&o, &o.middle, &v);
    now.time = GC_R(0.0);
    gc_cast_hit_where(w, &g, &v, &now, &point, &normal);
    /* of a face seen from both sides the one that is approached, also by a point, which is on it */
    if (c->kind == GC_FEATURE_FACE && gc_dot(normal, v.way) > GC_R(0.0)) normal = gc_scale(normal, GC_R(-1.0));
    if (b->buffer > GC_R(0.0) && time > GC_R(0.0)) {
        gc_path_gap away = gc_path_gap_of(
            0, normal, gc_add(v.centre, gc_scale(normal, b->buffer * o.bodies.shrink)), GC_R(0.0));
        gc_body_state then;
        gc_falls walk;
        gc_real last = GC_R(0.0);
        gc_falls_begin(&walk, GC_R(0.0), c->time);
        while (gc_path_gap_falls(&o, &away, 0, &walk, 0, &time, &then)) last = time;
        time = last;
    }
    turned = gc_curved_turned(&o, c->time);
    point = gc_scale(gc_quat_rotate(turned, point), o.bodies.scale);
    point = gc_add(gc_add(b->start, gc_scale(b->path, c->time)), point);
    gc_cast_hit_put(c, time, point, gc_quat_rotate(turned, normal), told);
}
#endif

/* the same, of any; where nothing turns the path is straight */
GC_LARGE void gc_cast_hit_tell(const gc_cast_scene *w, const gc_ball *b, const gc_cast_hit *c, gc_real *told)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * c->body;
    int shape = w->body_ints[GC_OBSTACLE_INT_STRIDE * c->body + GC_OBSTACLE_INT_shape];
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * shape;
    gc_real scale = size[GC_CAST_MESH_SIZE_scale], time = c->time, speed;
    gc_quat turned = gc_obstacle_turned(w, c->body, b->since + time * b->share);
    gc_vec point, normal, away;
    gc_cast_mesh g;
    gc_ellipsoid_space v;
#if GC_BODY_MOTION
    if (w->body_ints[GC_OBSTACLE_INT_STRIDE * c->body + GC_OBSTACLE_INT_turns]) {
        gc_curved_tell(w, b, c, told);
        return;
    }
#endif
    gc_cast_mesh_load(w, shape, &g);
    gc_ellipsoid_space_make(w, b, c->body, &v);
    gc_cast_hit_where(w, &g, &v, c, &point, &normal);
    if (!v.round) {
        /* back through the lens: its rows are axes times f, those of normals axes over f */
        point = gc_make(
            v.normal[0] * point.x + v.normal[3] * point.y + v.normal[6] * point.z,
            v.normal[1] * point.x + v.normal[4] * point.y + v.normal[7] * point.z,
            v.normal[2] * point.x + v.normal[5] * point.y + v.normal[8] * point.z);
        normal = gc_make(
            v.lens[0] * normal.x + v.lens[3] * normal.y + v.lens[6] * normal.z,
            v.lens[1] * normal.x + v.lens[4] * normal.y + v.lens[7] * normal.z,
            v.lens[2] * normal.x + v.lens[5] * normal.y + v.lens[8] * normal.z);
        normal = gc_unit(normal, normal);
    }
    speed = -gc_dot(normal, v.line) * scale;
    if (b->buffer > GC_R(0.0)) {
        time = speed > GC_R(0.0) ? GC_MAX(time - b->buffer / speed, GC_R(0.0)) : GC_R(0.0);
    }
    away = gc_quat_rotate(turned, gc_add(gc_scale(gc_add(point, v.centre), scale), gc_load_vec(size, 0)));
    point = gc_scale(gc_load_vec(at + GC_OBSTACLE_way, 0), b->since + c->time * b->share);
    point = gc_add(gc_load_vec(at + GC_OBSTACLE_start, 0), point);
    point = gc_add(point, away);
    normal = gc_quat_rotate(turned, normal);
    gc_cast_hit_put(c, time, point, normal, told);
}

#define GC_COLLECT_FIRST 0
#define GC_COLLECT_ANY 1
#define GC_COLLECT_ALL 2

/* where touches go */
typedef struct {
    int mode;
    gc_cast_hit best; /* of GC_COLLECT_FIRST and GC_COLLECT_ANY */
    int found;        /* of GC_COLLECT_ALL */
    int room;         /* how many may be written */
    GC_GLOBAL int *ints;
    GC_GLOBAL gc_real *reals;
    const gc_ball *ball;
    gc_real sunk; /* when an edge or a vertex of this body first did not count for one who is sunk in beside it */
    GC_OF_BODIES(const gc_curved *curved;) /* the path, where this body turns; else 0 */
} gc_cast_collector;

GC_FN void gc_collector_add(const gc_cast_scene *w, gc_cast_collector *net, const gc_cast_hit *c)
{
    if (net->mode != GC_COLLECT_ALL) {
        if (gc_cast_hit_before(c, &net->best)) net->best = *c;
        return;
    }
    if (net->found < net->room) {
        const gc_cast_hit *from = c;
        GC_GLOBAL int *to = net->ints + GC_CAST_HIT_STRIDE * (gc_long)net->found;
        gc_real told[GC_CAST_HIT_REAL_STRIDE];
        GC_STORE(GC_CAST_HIT, GC_CAST_HIT)
        gc_cast_hit_tell(w, net->ball, c, told);
        for (int k = 0; k < GC_CAST_HIT_REAL_STRIDE; ++k)
            net->reals[GC_CAST_HIT_REAL_STRIDE * (gc_long)net->found + k] = told[k];
    }
    net->found += 1;
}

/* latest time at which a touch is of use */
GC_FN gc_real gc_collector_last(const gc_cast_collector *net)
{
    return net->mode == GC_COLLECT_ALL ? GC_R(1.0) : net->best.time;
}

GC_FN int gc_collector_ends(const gc_cast_collector *net)
{
    return net->mode == GC_COLLECT_ANY && net->best.kind != GC_FEATURE_NONE;
}

#endif
