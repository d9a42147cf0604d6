/* gc_cast.h: the queries of casts, and the cast of each through the world.
 * needs: sweep/gc_traverse.h
 */
#ifndef GC_CAST_H
#define GC_CAST_H

/* what is swept: spheres (points among them), ellipsoids, clusters of spheres */
#define GC_CAST_SPHERES 0
#define GC_CAST_ELLIPSOIDS 1
#define GC_CAST_CLUSTERS 2

/* all queries of a launch; arrays that a form does not have are empty */
typedef struct {
    int form;
    GC_GLOBAL const gc_real *start;  /* (n, 3) world */
    GC_GLOBAL const gc_real *path;   /* (n, 3) */
    GC_GLOBAL const gc_real *radius; /* spheres (n,), ellipsoids (n, 3), clusters: of all balls */
    GC_GLOBAL const gc_real *quat;   /* ellipsoids, clusters (n, 4) */
    GC_GLOBAL const gc_real *balls;  /* clusters: (balls, 3) centres */
    GC_GLOBAL const int *cluster;    /* (n,) */
    GC_GLOBAL const int *begin;      /* (clusters + 1,) first ball of each */
    int step;                        /* numbers from one start to the next, and from one path */
    int apart;                       /* 0: all spheres have the first one's radius */
    gc_real buffer;
} gc_cast;

GC_FN gc_cast gc_cast_of(
    int form,
    GC_GLOBAL const gc_real *start,
    GC_GLOBAL const gc_real *path,
    GC_GLOBAL const gc_real *radius,
    GC_GLOBAL const gc_real *quat,
    GC_GLOBAL const gc_real *balls,
    GC_GLOBAL const int *cluster,
    GC_GLOBAL const int *begin,
    gc_real buffer)
{
    gc_cast q;
    q.form = form;
    q.start = start;
    q.path = path;
    q.radius = radius;
    q.quat = quat;
    q.balls = balls;
    q.cluster = cluster;
    q.begin = begin;
    q.step = 3;
    q.apart = 1;
    q.buffer = buffer;
    return q;
}

/* the same of starts and paths side by side, (n, 6), as w01 and w02 have them */
GC_FN gc_cast gc_cast_of_ways(
    int form,
    int apart,
    GC_GLOBAL const gc_real *ways,
    GC_GLOBAL const gc_real *radius,
    GC_GLOBAL const gc_real *quat,
    GC_GLOBAL const gc_real *balls,
    GC_GLOBAL const int *cluster,
    GC_GLOBAL const int *begin,
    gc_real buffer)
{
    gc_cast q = gc_cast_of(form, ways, ways + 3, radius, quat, balls, cluster, begin, buffer);
    q.step = 6;
    q.apart = apart;
    return q;
}

/* balls of a query: how many, and where they begin */
GC_FN int gc_cast_balls(const gc_cast *q, int i, int *begin)
{
    int which;
    *begin = 0;
    if (q->form != GC_CAST_CLUSTERS) return 1;
    which = q->cluster[i];
    *begin = q->begin[which];
    return q->begin[which + 1] - *begin;
}

GC_FN void gc_cast_ball(const gc_cast *q, int i, int ball, gc_ball *b)
{
    b->start = gc_load_vec(q->start + q->step * (gc_long)i, 0);
    b->path = gc_load_vec(q->path + q->step * (gc_long)i, 0);
    b->buffer = q->buffer;
    b->since = GC_R(0.0);
    b->share = GC_R(1.0);
    b->round = q->form != GC_CAST_ELLIPSOIDS;
    b->radii = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    b->quat = gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0));
    if (q->form != GC_CAST_SPHERES) b->quat = gc_load_quat(q->quat, i);
    if (b->round) {
        b->radius = q->radius[q->form == GC_CAST_CLUSTERS ? ball : i * q->apart];
    } else {
        b->radii = gc_load_vec(q->radius, i);
        b->radius = GC_MAX(GC_MAX(b->radii.x, b->radii.y), b->radii.z);
    }
    if (q->form == GC_CAST_CLUSTERS) b->start = gc_add(b->start, gc_quat_rotate(b->quat, gc_load_vec(q->balls, ball)));
}

/* a net for a query that writes to these arrays, if it is given room */
GC_FN void gc_collector_begin(gc_cast_collector *net, int mode, int query, GC_GLOBAL int *ints, GC_GLOBAL gc_real *reals)
{
    net->ints = ints;
    net->reals = reals;
    net->mode = mode;
    net->found = net->room = 0;
    GC_OF_BODIES(net->curved = 0;)
    net->best.query = query;
    net->best.kind = GC_FEATURE_NONE;
    net->best.body = net->best.face = net->best.number = net->best.ball = -1;
    net->best.at = -1;
    net->best.time = GC_R(1.0);
}

/* one query through the world */
GC_FN void gc_cast_through(const gc_cast_scene *w, const gc_cast *q, int i, gc_cast_collector *net)
{
    int begin, count = gc_cast_balls(q, i, &begin);
    for (int k = 0; k < count && !gc_collector_ends(net); ++k) {
        gc_ball b;
        gc_cast_ball(q, i, begin + k, &b);
        net->ball = &b;
        gc_traverse_world(w, &b, k, net);
    }
}

#endif
