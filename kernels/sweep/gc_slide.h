/* gc_slide.h: a step of a character: it is cast, stops before what it meets, gathers the contact planes near it, and goes on
 * along them.
 * needs: sweep/gc_contact_planes.h sweep/gc_cast.h sweep/gc_clip.h
 *
 * It is at a safe place at every moment: each move ends before what a cast has found, and nothing else moves it. The skin is
 * the distance that it keeps from what it meets. Source: K. Fauerby, with sliding in the world along the tangent plane in
 * the world; the three operations are those of Box3D's mover.
 */
#ifndef GC_SLIDE_H
#define GC_SLIDE_H

/* planes that a character is clipped by at most: what it met and what it is near, those that lean twice */
#define GC_CHARACTER_PLANES (2 * (GC_CONTACT_PLANES_MOST + 1))

/* what all characters of a launch have in common */
typedef struct {
    const gc_cast_scene *world;
    const gc_cast *cast;
    gc_real skin;   /* least distance kept */
    gc_vec up;      /* unit */
    gc_real ground; /* least cosine between up and the normal of ground */
    gc_real step;   /* height that is climbed */
    int most;       /* casts of a pass */
    int falls;      /* there is gravity: what is steeper than ground is a wall for who walks */
} gc_rules;

/* one character */
typedef struct {
    int query;
    GC_GLOBAL gc_real *planes; /* room for GC_CHARACTER_PLANES */
    GC_GLOBAL int *ints;       /* its row of results; nothing else is written there meanwhile */
    gc_vec place;
    gc_vec velocity;      /* what is left of it */
    gc_real since, share; /* of the bodies' own motion: how much has passed, how much will */
    int casts, status;
    int met;    /* something */
    int barred; /* by something too steep to walk on */
    int climbs; /* over a step: its edge holds it meanwhile */
    int ground; /* body, or -1 */
    gc_vec normal;
} gc_character;

GC_FN void gc_character_ball(const gc_rules *r, const gc_character *s, gc_vec way, gc_ball *b)
{
    gc_cast_ball(r->cast, s->query, 0, b);
    b->start = s->place;
    b->path = way;
    b->buffer = r->skin;
    b->since = s->since;
    b->share = s->share;
}

GC_FN int gc_is_ground(const gc_rules *r, gc_vec normal) { return gc_dot(normal, r->up) >= r->ground; }

/* Is one of the faces ground, at a moment, that share what was touched? */
GC_FN int gc_touch_is_ground(const gc_rules *r, const gc_cast_hit *c, gc_real moment)
{
    const gc_cast_scene *w = r->world;
    gc_quat quat = gc_obstacle_at(w, c->body, moment);
    gc_cast_mesh g;
    int first, last;
    gc_cast_mesh_load(w, w->body_ints[GC_OBSTACLE_INT_STRIDE * c->body + GC_OBSTACLE_INT_shape], &g);
    if (c->kind == GC_FEATURE_FACE) return gc_is_ground(r, gc_quat_rotate(quat, gc_cast_mesh_plane(w, &g, c->at)));
    first = (c->kind == GC_FEATURE_EDGE ? g.edge : g.vertex) + GC_CAST_MESH_EDGE_STRIDE * c->at + GC_CAST_MESH_EDGE_around;
    last = w->ints[first + GC_CAST_MESH_EDGE_STRIDE];
    for (int k = w->ints[first]; k < last; ++k) {
        if (gc_is_ground(r, gc_quat_rotate(quat, gc_cast_mesh_plane(w, &g, w->ints[g.around + k])))) return 1;
    }
    return 0;
}

/* Cast: what comes first on the way; goes there, less the skin. 0: nothing. What was met goes to `hit`. */
GC_LARGE int gc_character_go(const gc_rules *r, gc_character *s, gc_vec *way, gc_nearby *hit)
{
    gc_real told[GC_CAST_HIT_REAL_STRIDE], time = GC_R(1.0), moment;
    gc_ball b;
    gc_cast_collector net;
    gc_character_ball(r, s, *way, &b);
    gc_collector_begin(&net, GC_COLLECT_FIRST, s->query, s->ints, s->planes);
    net.ball = &b;
    gc_traverse_world(r->world, &b, 0, &net);
    s->casts += 1;
    if (net.best.kind != GC_FEATURE_NONE) {
        gc_cast_hit_tell(r->world, &b, &net.best, told);
        time = told[GC_CAST_HIT_REAL_time];
        hit->normal = gc_make(
            told[GC_CAST_HIT_REAL_normal], told[GC_CAST_HIT_REAL_normal + 1], told[GC_CAST_HIT_REAL_normal + 2]);
        hit->point = gc_make(
            told[GC_CAST_HIT_REAL_point], told[GC_CAST_HIT_REAL_point + 1], told[GC_CAST_HIT_REAL_point + 2]);
        hit->body = net.best.body;
        moment = s->since + time * s->share;
        hit->kind = gc_touch_is_ground(r, &net.best, moment); /* of what was met: may one stand on it */
        hit->motion = gc_obstacle_motion(r->world, net.best.body, moment, hit->point);
    }
    s->place = gc_add(s->place, gc_scale(*way, time));
    s->since += time * s->share;
    s->share -= time * s->share;
    *way = gc_scale(*way, GC_R(1.0) - time);
    return net.best.kind != GC_FEATURE_NONE;
}

/* Is it too steep to walk on, and has it an upper side: is it upright for who walks? */
GC_FN int gc_plane_leans(const gc_rules *r, const gc_nearby *from)
{
    gc_real high = gc_dot(from->normal, r->up);
    return r->falls && high > GC_R(0.0) && high < r->ground;
}

/* a plane as one who walks has it: what is too steep is upright, so that nobody climbs it */
GC_FN gc_plane gc_plane_of(const gc_rules *r, const gc_nearby *from, gc_real share, int walks)
{
    gc_real high = gc_dot(from->normal, r->up);
    gc_plane p;
    p.normal = from->normal;
    p.push = GC_R(0.0);
    if (walks && gc_plane_leans(r, from)) {
        gc_real rise = gc_dot(from->motion, r->up), level;
        p.normal = gc_sub(p.normal, gc_scale(r->up, high));
        level = gc_norm(p.normal);
        p.normal = gc_unit(p.normal, from->normal);
        /* what rises comes from the side: as fast as the plane would have to go level to be as far ahead */
        if (rise > GC_R(0.0) && level > GC_R(0.0)) p.push = rise * high / level * share;
    }
    p.push += gc_dot(p.normal, from->motion) * share;
    p.push += gc_obstacle_swing(r->world, from->body, from->point, p.normal) * share * share;
    return p;
}

/* Gather: what it met, and what it is near; returns how many planes. */
GC_LARGE int gc_character_planes(const gc_rules *r, gc_character *s, const gc_nearby *hit, gc_nearby *list)
{
    gc_vec still = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_plane_list near;
    gc_ball b;
    gc_character_ball(r, s, still, &b);
    near.count = near.all = near.room = 0;
    near.ints = s->ints;
    near.reals = s->planes;
    near.keep = GC_CONTACT_PLANES_MOST;
    near.reach = GC_R(2.0) * r->skin;
    near.list = list + 1;
    gc_contact_planes_world(r->world, &b, s->query, &near);
    list[0] = *hit;
    return near.count + 1;
}

/* Clip: `v` by planes, as one who walks has them. That may lead down, along an overhang or ground, into what leans, which no cast
 * lets it: then what leans is a wall twice, upright and as it is, and nobody climbs it either. As `gc_clip`. */
GC_FN int gc_character_clip(
    const gc_rules *r,
    const gc_character *s,
    const gc_nearby *list,
    int count,
    gc_real share,
    int walks,
    gc_vec v,
    gc_vec *out)
{
    int all = count, active, into = 0;
    gc_real nothing;
    for (int j = 0; j < count; ++j) gc_plane_put(s->planes, j, gc_plane_of(r, &list[j], share, walks));
    active = gc_clip(v, s->planes, count, out);
    if (!walks) return active;
    nothing = gc_clip_nothing(v, s->planes, count);
    for (int j = 0; j < count; ++j) {
        if (gc_plane_leans(r, &list[j])) {
            gc_plane p = gc_plane_of(r, &list[j], share, 0);
            into = into || gc_dot(p.normal, *out) < p.push - nothing;
        }
    }
    if (!into) return active;
    for (int j = 0; j < count; ++j) {
        if (gc_plane_leans(r, &list[j])) { /* where both are one plane as far as can be told, it is as it is */
            int one = gc_dot(list[j].normal, r->up) <= GC_CLIP_PARALLEL;
            gc_plane_put(s->planes, one ? j : all, gc_plane_of(r, &list[j], share, 0));
            all += !one;
        }
    }
    return gc_clip(v, s->planes, all, out);
}

/* One pass: along `way` and what it becomes. `walks`: by its own will; else it falls, and ground holds it. */
GC_LARGE void gc_character_pass(const gc_rules *r, gc_character *s, gc_vec way, int walks)
{
    gc_nearby list[GC_CONTACT_PLANES_MOST + 1];
    gc_vec first = way;
    for (int k = 0; k < r->most; ++k) {
        gc_nearby hit;
        gc_vec left;
        int count, active;
        if (!(gc_dot(way, way) > GC_R(0.0)) && !(s->share > GC_R(0.0))) return;
        if (!gc_character_go(r, s, &way, &hit)) return;
        s->met = 1;
        count = gc_character_planes(r, s, &hit, list);
        for (int j = 0; j < count; ++j) {
            int ground = gc_is_ground(r, list[j].normal) || (j == 0 && !walks && s->climbs && hit.kind);
            if (walks && !ground && gc_dot(list[j].normal, way) < GC_R(0.0)) s->barred = 1;
            if (!walks && ground && s->ground < 0) {
                s->ground = list[j].body;
                s->normal = list[j].normal;
            }
        }
        if (!walks && s->ground >= 0) {
            s->velocity = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
            return;
        }
        active = gc_character_clip(r, s, list, count, s->share, walks, way, &left);
        if (active < 0) {
            s->status = GC_STATUS_UNRESOLVED;
            return;
        }
        (void)gc_character_clip(r, s, list, count, GC_R(1.0), walks, s->velocity, &s->velocity);
        way = left;
        if (!walks && gc_dot(way, way) <= GC_R(1e-18) * gc_dot(first, first)) {
            s->ground = hit.body; /* held by several that are each too steep */
            s->normal = hit.normal;
            return;
        }
        if (gc_dot(way, first) <= GC_R(0.0) && !(s->share > GC_R(0.0))) return;
    }
    s->status = GC_STATUS_UNRESOLVED;
}

/* The same over a step: up, along, and down onto ground, or onto the edge of what is ground, no higher than a step is. 0: there is
 * no way, or no ground. */
GC_FN int gc_character_climb(const gc_rules *r, gc_character *s, gc_vec way)
{
    gc_vec up = gc_scale(r->up, r->step), low = s->place, down;
    gc_nearby hit;
    gc_real share = s->share, foot, sides[9];
    gc_ball b;
    s->share = GC_R(0.0);
    (void)gc_character_go(r, s, &up, &hit);
    down = gc_scale(r->up, -gc_dot(gc_sub(s->place, low), r->up));
    s->share = share;
    gc_character_pass(r, s, way, 1);
    if (!gc_character_go(r, s, &down, &hit) || s->status == GC_STATUS_UNRESOLVED) return 0;
    s->climbs = 1;
    if (gc_is_ground(r, hit.normal)) return 1;
    gc_character_ball(r, s, down, &b);
    gc_ball_axes(&b, gc_quat_make(GC_R(1.0), GC_R(0.0), GC_R(0.0), GC_R(0.0)), sides);
    up = gc_make(
        gc_dot(r->up, gc_make(sides[0], sides[1], sides[2])), gc_dot(r->up, gc_make(sides[3], sides[4], sides[5])),
        gc_dot(r->up, gc_make(sides[6], sides[7], sides[8])));
    foot = gc_norm(gc_make(up.x * b.radii.x, up.y * b.radii.y, up.z * b.radii.z));
    return hit.kind && gc_dot(gc_sub(hit.point, low), r->up) + foot <= r->step;
}

/* how far two places are from each other, seen from above */
GC_FN gc_real gc_level_square(const gc_rules *r, gc_vec a, gc_vec b)
{
    gc_vec d = gc_sub(b, a);
    d = gc_sub(d, gc_scale(r->up, gc_dot(d, r->up)));
    return gc_dot(d, d);
}

/* One step of a character: its way, then its fall. */
GC_FN void gc_character_step(const gc_rules *r, gc_character *s, gc_vec way, gc_vec fall, gc_vec *fell)
{
    gc_character start = *s, other;
    gc_vec kept;
    gc_character_pass(r, s, way, 1);
    if (s->barred && r->step > GC_R(0.0)) {
        other = start;
        if (gc_character_climb(r, &other, way)
            && gc_level_square(r, start.place, other.place) > gc_level_square(r, start.place, s->place)) {
            other.casts += s->casts;
            *s = other;
        } else {
            s->casts += other.casts;
        }
    }
    kept = s->velocity;
    s->since = GC_R(1.0);
    s->share = GC_R(0.0);
    s->velocity = fall;
    s->ground = -1;
    if (gc_dot(fall, fall) > GC_R(0.0)) gc_character_pass(r, s, fall, 0);
    *fell = s->velocity;
    s->velocity = kept;
}

#endif
