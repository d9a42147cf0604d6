/* gc_clear_pair.h: a pair whose clearance is looked for: how B moves as A sees it, at a time and near it.
 * needs: common/gc_constants.h tree/gc_bvh.h narrow_phase/frame/gc_body_motion.h
 *
 * All is seen in A's axes, counted from A's centre, in scaled lengths. Whatever the motion is, at a time it is a `gc_body_state`; a screw is
 * one as well, with a = omega x v and no xi. What a point does near that time is bounded by its acceleration there and by how fast that
 * changes (docs/decisions/0108), which on a screw it does not in length.
 */
#ifndef GC_CLEAR_PAIR_H
#define GC_CLEAR_PAIR_H

/* a body of the pair */
typedef struct {
    gc_mesh mesh;
    GC_GLOBAL const gc_raster *nodes; /* of its tree */
    int faces, patch, height;         /* as GC_TREE has them */
    int start[GC_CLEAR_HEIGHT];       /* where the nodes of each level begin */
    gc_real pad;                      /* nodes are widened by this: they are float32 */
} gc_clear_side;

/* features that are near each other at a time */
typedef struct {
    gc_real s, distance;
    int kind, a, b; /* GC_FV, GC_VF or GC_EE; GC_CLEAR_CROSSED: an edge goes through a face */
} gc_clear_best;

typedef struct {
    gc_tables t;
    gc_screw screw;
    GC_OF_BODIES(gc_bodies bodies;)
    gc_clear_side a, b;
    gc_real shrink, size, rough; /* rough: rounding of a distance */
    gc_real margin;              /* what a bound may be below the distance */
    gc_real touch;               /* bodies as near as this meet */
    gc_real enough;              /* of bodies as near as this nothing more is asked; below 0: of none */
    int own;                     /* does each body move on its own? Else B on a screw */
    gc_real spin, bend, third_a,
        third_b; /* length of omega; accelerations: of points at a distance of 1, how fast those of A, of B change */
    gc_real at;  /* time of */
    gc_body_state now;
    gc_clear_best best;
    gc_real below; /* the least of all bounds at which the search stopped */
    int found;     /* is there a best, or only a distance that is not to be passed? */
    int crossing;  /* are edges that go through faces looked for? */
    int looks;
} gc_clear;

GC_FN gc_real gc_clear_far(gc_vec a) { return GC_SQRT(gc_dot(a, a)); }

/* the pair at s */
GC_LARGE void gc_clear_to(gc_clear *q, gc_real s)
{
    const gc_screw *k = &q->screw;
    gc_body_state *o = &q->now;
    gc_turn turn;
    gc_vec c;
    int j;
    if (q->at == s) return;
    q->at = s;
#if GC_BODY_MOTION
    if (k->pieces > GC_R(0.0)) {
        gc_bodies_at(&q->bodies, s, o);
        return;
    }
#endif
    turn = gc_turn_at(k->theta, s);
    c = gc_flow(k, turn, gc_make(k->tb[0], k->tb[1], k->tb[2]));
    o->v = gc_rotate_back(k->ra, gc_make(k->w + k->theta * c.z, k->g, -(k->theta * c.x)));
    o->omega = gc_scale(gc_make(k->ra[3], k->ra[4], k->ra[5]), k->theta);
    o->q = gc_rotate_back(k->ra, gc_make(c.x - k->ta[0], c.y - k->ta[1], c.z - k->ta[2]));
    o->a = gc_cross(o->omega, o->v);
    o->xi = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    for (j = 0; j < 3; ++j) {
        gc_vec side = gc_rotate_back(k->ra, gc_turn_vec(k, turn, gc_make(k->rb[j], k->rb[3 + j], k->rb[6 + j])));
        o->m[j] = side.x;
        o->m[3 + j] = side.y;
        o->m[6 + j] = side.z;
    }
}

/* velocity of B's material at a place x of A, relative to A */
GC_FN gc_vec gc_clear_velocity(const gc_clear *q, gc_vec x) { return gc_state_velocity(&q->now, gc_sub(x, q->now.q)); }

/* the acceleration of a point of B at x as A sees it, and of a point of A at x as B does */
GC_FN gc_vec gc_clear_bend_b(const gc_clear *q, gc_vec x) { return gc_state_acceleration(&q->now, gc_sub(x, q->now.q)); }

GC_FN gc_vec gc_clear_bend_a(const gc_clear *q, gc_vec x)
{
    const gc_body_state *o = &q->now;
    gc_vec at = gc_sub(x, o->q), w = gc_add(gc_scale(o->v, GC_R(2.0)), gc_cross(o->omega, at));
    return gc_sub(gc_add(gc_cross(o->omega, w), gc_cross(o->xi, at)), o->a);
}

/* How far at most points whose acceleration is `bend`, or up to r from there, leave their straight ways within h, along the unit vector n; p:
 * n x omega. third: how fast accelerations change, 0 on a screw, where they only turn about the axis and stay across it. */
GC_FN gc_real gc_clear_loss(const gc_clear *q, gc_vec n, gc_vec p, gc_vec bend, gc_real r, gc_real third, gc_real h)
{
    gc_real along = GC_ABS(gc_dot(n, bend)), more = q->bend * r, square = GC_R(0.5) * h * h, share, full;
    if (q->own) return square * (along + more + third * h * GC_R(0.34));
    share = q->spin > GC_R(0.0) ? gc_clear_far(p) / q->spin : GC_R(0.0);
    full = gc_clear_far(bend) + more;
    return square * GC_MIN(share * full, along + share * (more + q->spin * full * h * GC_R(0.34)));
}

/* how far a point of B, or those up to r from it, may go within h of the time: on a screw no faster than then */
GC_FN gc_real gc_clear_way(const gc_clear *q, gc_real speed, gc_vec bend, gc_real r, gc_real h)
{
    gc_real way = h * speed;
    if (q->own) way += GC_R(0.5) * h * h * (gc_clear_far(bend) + q->bend * r + q->third_b * h * GC_R(0.34));
    return way;
}

GC_FN gc_vec gc_clear_vertex_a(const gc_clear *q, int v) { return gc_scale(gc_vertex(&q->t, &q->a.mesh, v), q->shrink); }

GC_FN gc_vec gc_clear_vertex_b(const gc_clear *q, int v)
{
    return gc_add(gc_rotate(q->now.m, gc_scale(gc_vertex(&q->t, &q->b.mesh, v), q->shrink)), q->now.q);
}

/* What a bound has to reach for the search to stop there: of bodies that meet, that these do not, before they do. What is just beyond touch has
 * a bound that is not, by its rounding. */
GC_FN gc_real gc_clear_limit(const gc_clear *q)
{
    gc_real touch = q->touch - GC_R(2.0) * q->rough;
    if (q->found && q->best.distance <= q->touch) return touch;
    return GC_MAX(q->best.distance - q->margin, touch);
}

/* Has all from s on nothing more to say, since they meet earlier, or are near enough? */
GC_FN int gc_clear_behind(const gc_clear *q, gc_real s)
{
    return q->found && (q->best.distance <= q->enough || (q->best.distance <= q->touch && s >= q->best.s));
}

GC_FN void gc_clear_stop(gc_clear *q, gc_real bound) { q->below = GC_MIN(bound, q->below); }

/* Features at this distance at the time. Of those that meet the first counts, of others the nearest. */
GC_FN void gc_clear_take(gc_clear *q, gc_real distance, int kind, int a, int b)
{
    int meets = distance <= q->touch;
    if (meets && q->found && q->best.distance <= q->touch ? q->at >= q->best.s : distance >= q->best.distance) return;
    q->best.s = q->at;
    q->best.distance = distance;
    q->best.kind = kind;
    q->best.a = a;
    q->best.b = b;
    q->found = 1;
}

GC_FN void gc_clear_side_make(
    gc_clear_side *s,
    GC_GLOBAL const int *headers,
    GC_GLOBAL const int *trees,
    GC_GLOBAL const gc_raster *nodes,
    int mesh,
    gc_real radius)
{
    GC_GLOBAL const int *tree = trees + GC_TREE_STRIDE * mesh;
    int k, at = tree[GC_TREE_node], n = tree[GC_TREE_faces];
    gc_mesh_load(headers + GC_MESH_STRIDE * mesh, &s->mesh);
    s->nodes = nodes;
    s->faces = n;
    s->patch = tree[GC_TREE_patch];
    s->height = tree[GC_TREE_height];
    s->pad = GC_CLEAR_NODE * radius;
    for (k = 0; k < GC_CLEAR_HEIGHT && k <= s->height; ++k) {
        s->start[k] = at;
        at += (n + (1 << k) - 1) >> k;
    }
}

GC_FN void gc_clear_motion_load(GC_GLOBAL const gc_real *record, gc_clear *q)
{
    gc_screw_load(record, &q->screw);
#if GC_BODY_MOTION
    gc_bodies_load(record, &q->bodies);
#endif
}

/* nothing is known yet of a pair nearer than `most` */
GC_FN void gc_clear_begin(gc_clear *q, gc_real tolerance, gc_real most, gc_real enough)
{
    const gc_screw *k = &q->screw;
    q->shrink = k->shrink;
    q->size = k->size;
    q->rough = GC_OVERLAP_ROUNDING * (k->size + k->speed);
    q->margin = GC_MAX(tolerance * k->size, GC_CLEAR_MARGIN * q->rough);
    q->touch = GC_MAX(GC_TOL_TOUCH * k->size, GC_CLEAR_MARGIN * q->rough);
    q->own = 0;
    q->spin = k->theta;
    q->bend = k->theta * k->theta;
    q->third_a = q->third_b = GC_R(0.0);
#if GC_BODY_MOTION
    if (k->pieces > GC_R(0.0)) {
        gc_body_bounds o = gc_bodies_bounds(&q->bodies);
        q->own = 1;
        q->spin = q->bodies.angle;
        q->bend = o.d2;
        q->third_b = o.plane_a[2];
        q->third_a = o.plane_b[2];
    }
#endif
    q->enough = enough;
    q->at = GC_R(9.0);
    q->best.s = GC_R(0.0);
    q->best.distance = GC_MAX(most, GC_R(2.0) * q->touch); /* what touches is found whatever is asked */
    q->best.kind = GC_NO_PLACE;
    q->best.a = q->best.b = -1;
    q->below = GC_BVH_FAR;
    q->found = q->looks = 0;
}

GC_FN int gc_clear_face(const gc_clear *q, const gc_clear_side *s, int leaf)
{
    GC_GLOBAL const int *patch = q->t.headers + GC_MESH_STRIDE * (s->patch + (leaf >> GC_PATCH_LEVEL));
    return q->t.topology[patch[GC_MESH_source_faces] + (leaf & ((1 << GC_PATCH_LEVEL) - 1))];
}

/* Each vertex and each edge is looked at with one of its faces only. */
GC_FN int gc_clear_owns_vertex(const gc_clear *q, const gc_mesh *m, int f, int v)
{
    return q->t.topology[m->vertex_faces + q->t.topology[m->vertex_face_start + v]] == f;
}

GC_FN int gc_clear_owns_edge(const gc_clear *q, const gc_mesh *m, int f, int e)
{
    return q->t.topology[m->edge_faces + q->t.topology[m->edge_face_start + e]] >> 1 == f;
}

#endif
