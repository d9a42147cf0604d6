/* gc_ellipsoid_space.h: a sphere or an ellipsoid on its path, as a body of the world sees it.
 * needs: common/gc_constants.h sweep/gc_cast_mesh.h
 *
 * Everything is in the frame of the body's mesh, relative to the start of the centre: it moves from 0 by `way`. For an
 * ellipsoid, lengths along each of its axes are multiplied by the greatest radius over that axis's radius, which makes it a
 * sphere. A body that moves without rotating is at rest once its displacement is subtracted from the path. For one that
 * rotates, the path of the centre as the body sees it is taken for straight (docs/sweep.md has the error).
 */
#ifndef GC_ELLIPSOID_SPACE_H
#define GC_ELLIPSOID_SPACE_H

/* what is swept, in the world */
typedef struct {
    gc_vec start, path; /* of the centre */
    gc_real radius;     /* greatest */
    gc_vec radii;       /* of an ellipsoid, along its axes */
    gc_quat quat;       /* its orientation */
    int round;          /* it is a sphere */
    gc_real buffer;
    gc_real since, share; /* the path takes this share of the bodies' own motion, from then on; usually 0 and 1 */
} gc_ball;

typedef struct {
    gc_vec centre; /* at the start, in the mesh's frame and unit */
    gc_vec line;   /* its way there */
    gc_vec way;    /* the same, stretched */
    gc_real radius;
    gc_real slack;  /* lengths up to this are nothing */
    gc_real onto;   /* what is sunk by up to this touches faces and edges that it comes onto; the radius: by whatever */
    gc_real least;  /* square of a share of lengths: ways that lead to a feature by less go along it */
    gc_real square; /* of the way's length */
    int round;
    int thin;                  /* it is a point, or hardly more: faces are tested exactly */
    int kx, ky, kz;            /* axes, the last the one along which the way is longest; mirrored if it goes backwards */
    gc_real sx, sy;            /* shear that turns the way into it */
    gc_real lens[9];           /* rows: mesh to stretched */
    gc_real normal[9];         /* the same of normals, whose length it changes */
    gc_vec sides;              /* half the sides of the box about it */
    gc_quat quat;              /* of the body at the start of the path */
    GC_OF_BODIES(gc_vec from;) /* where the centre was when the step began, from where it is */
} gc_ellipsoid_space;

GC_FN gc_vec gc_by_rows(const gc_real *r, gc_vec x)
{
    return gc_make(
        r[0] * x.x + r[1] * x.y + r[2] * x.z, r[3] * x.x + r[4] * x.y + r[5] * x.z, r[6] * x.x + r[7] * x.y + r[8] * x.z);
}

/* a row made from a vector: the axis of an ellipsoid as seen from the mesh, times f */
GC_FN void gc_row_set(gc_real *r, gc_vec x, gc_real f)
{
    r[0] = x.x * f;
    r[1] = x.y * f;
    r[2] = x.z * f;
}

/* half the sides of the box about a ball turned by `axes` (rows: its axes in the frame of the box) */
GC_FN gc_vec gc_ball_sides(const gc_ball *b, const gc_real *axes)
{
    gc_vec s = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_real r[3], out[3];
    if (b->round) return gc_make(b->radius, b->radius, b->radius);
    r[0] = b->radii.x;
    r[1] = b->radii.y;
    r[2] = b->radii.z;
    for (int k = 0; k < 3; ++k) {
        gc_real u = r[0] * axes[k], v = r[1] * axes[3 + k], w = r[2] * axes[6 + k];
        out[k] = GC_SQRT(u * u + v * v + w * w);
    }
    s.x = out[0];
    s.y = out[1];
    s.z = out[2];
    return s;
}

/* rows: the axes of an ellipsoid in the frame of a body with this quaternion */
GC_FN void gc_ball_axes(const gc_ball *b, gc_quat back, gc_real *axes)
{
    for (int k = 0; k < 3; ++k) {
        gc_vec e = gc_make(k == 0 ? GC_R(1.0) : GC_R(0.0), k == 1 ? GC_R(1.0) : GC_R(0.0), k == 2 ? GC_R(1.0) : GC_R(0.0));
        gc_row_set(axes + 3 * k, gc_quat_rotate(back, gc_quat_rotate(b->quat, e)), GC_R(1.0));
    }
}

GC_LARGE void gc_ellipsoid_space_stretch(const gc_ball *b, gc_quat back, gc_real shrink, gc_ellipsoid_space *v)
{
    gc_real axes[9], f[3];
    gc_ball_axes(b, back, axes);
    f[0] = b->radius / b->radii.x;
    f[1] = b->radius / b->radii.y;
    f[2] = b->radius / b->radii.z;
    for (int k = 0; k < 3; ++k) {
        gc_vec axis = gc_make(axes[3 * k], axes[3 * k + 1], axes[3 * k + 2]);
        gc_row_set(v->lens + 3 * k, axis, f[k]);
        gc_row_set(v->normal + 3 * k, axis, GC_R(1.0) / f[k]);
    }
    v->sides = gc_scale(gc_ball_sides(b, axes), shrink);
    v->way = gc_by_rows(v->lens, v->line);
    v->slack *= GC_MAX(GC_MAX(f[0], f[1]), f[2]);
}

GC_FN gc_real gc_axis(gc_vec a, int k) { return k == 0 ? a.x : (k == 1 ? a.y : a.z); }

/* the way becomes an axis, so that what lies beside it is seen in a plane */
GC_FN void gc_ellipsoid_space_shear(gc_ellipsoid_space *v)
{
    gc_real ax = GC_ABS(v->way.x), ay = GC_ABS(v->way.y), az = GC_ABS(v->way.z), along;
    int k = ax >= ay && ax >= az ? 0 : (ay >= az ? 1 : 2), a = k == 2 ? 0 : k + 1, b = k == 0 ? 2 : k - 1;
    along = gc_axis(v->way, k);
    v->kz = k;
    v->kx = along < GC_R(0.0) ? b : a;
    v->ky = along < GC_R(0.0) ? a : b;
    v->sx = gc_axis(v->way, v->kx) / along;
    v->sy = gc_axis(v->way, v->ky) / along;
}

/* the orientation of a body at the start of the path or at its end; a unit already */
GC_FN gc_quat gc_obstacle_quat(const gc_cast_scene *w, int body, int which)
{
    GC_GLOBAL const gc_real *p = w->bodies + GC_OBSTACLE_STRIDE * body + which;
    return gc_quat_make(p[0], p[1], p[2], p[3]);
}

/* the orientation of a body at a time: between start and end the short way, by their mean if it turns */
GC_FN gc_quat gc_obstacle_turned(const gc_cast_scene *w, int body, gc_real time)
{
    gc_quat a = gc_obstacle_quat(w, body, GC_OBSTACLE_quat), b;
    gc_real f;
    if (!w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_turns]) return a;
    b = gc_obstacle_quat(w, body, GC_OBSTACLE_end);
    f = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < GC_R(0.0) ? -time : time;
    time = GC_R(1.0) - time;
    return gc_quat_unit(
        gc_quat_make(a.w * time + b.w * f, a.x * time + b.x * f, a.y * time + b.y * f, a.z * time + b.z * f));
}

/* the same, of which the ends are those given to the last bit */
GC_FN gc_quat gc_obstacle_at(const gc_cast_scene *w, int body, gc_real time)
{
    if (!(time > GC_R(0.0))) return gc_obstacle_quat(w, body, GC_OBSTACLE_quat);
    if (!(time < GC_R(1.0))) return gc_obstacle_quat(w, body, GC_OBSTACLE_end);
    return gc_obstacle_turned(w, body, time);
}

/* how a point of a body moves that is at `place` at a time: over the whole path, if it went on so */
GC_FN gc_vec gc_obstacle_motion(const gc_cast_scene *w, int body, gc_real time, gc_vec place)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * body;
    gc_vec way = gc_load_vec(at + GC_OBSTACLE_way, 0), origin;
    if (!w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_turns]) return way;
    origin = gc_add(gc_load_vec(at + GC_OBSTACLE_start, 0), gc_scale(way, time));
    return gc_add(way, gc_cross(gc_load_vec(at + GC_OBSTACLE_spin, 0), gc_sub(place, origin)));
}

/* how much more than by its motion now a place of a body that turns comes along a unit normal, over the whole path, at most */
GC_FN gc_real gc_obstacle_swing(const gc_cast_scene *w, int body, gc_vec place, gc_vec normal)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * body;
    gc_vec spin, arm;
    if (!w->body_ints[GC_OBSTACLE_INT_STRIDE * body + GC_OBSTACLE_INT_turns]) return GC_R(0.0);
    spin = gc_load_vec(at + GC_OBSTACLE_spin, 0);
    arm = gc_sub(place, gc_load_vec(at + GC_OBSTACLE_start, 0));
    return GC_R(0.5) * gc_norm(gc_cross(normal, spin))
           * (gc_norm(gc_cross(spin, arm)) + gc_norm(gc_cross(spin, gc_load_vec(at + GC_OBSTACLE_way, 0))));
}

GC_FN void gc_ellipsoid_space_make(const gc_cast_scene *w, const gc_ball *b, int body, gc_ellipsoid_space *v)
{
    GC_GLOBAL const gc_real *at = w->bodies + GC_OBSTACLE_STRIDE * body;
    GC_GLOBAL const int *ints = w->body_ints + GC_OBSTACLE_INT_STRIDE * body;
    GC_GLOBAL const gc_real *size = w->sizes + GC_CAST_MESH_SIZE_STRIDE * ints[GC_OBSTACLE_INT_shape];
    gc_vec own = gc_load_vec(at + GC_OBSTACLE_way, 0);
    gc_vec from = gc_sub(gc_sub(b->start, gc_load_vec(at + GC_OBSTACLE_start, 0)), gc_scale(own, b->since));
    gc_vec path = gc_sub(b->path, gc_scale(own, b->share));
    gc_vec middle = gc_load_vec(size + GC_CAST_MESH_SIZE_centre, 0);
    gc_real shrink = size[GC_CAST_MESH_SIZE_shrink], most;
    gc_quat back;
    v->quat = ints[GC_OBSTACLE_INT_turns] ? gc_obstacle_at(w, body, b->since) : gc_obstacle_quat(w, body, GC_OBSTACLE_quat);
    back = gc_quat_conj(v->quat);
    v->centre = gc_sub(gc_quat_rotate(back, from), middle);
    if (ints[GC_OBSTACLE_INT_turns]) {
        gc_quat end = gc_quat_conj(gc_obstacle_at(w, body, b->since + b->share));
        v->line = gc_sub(gc_sub(gc_quat_rotate(end, gc_add(from, path)), middle), v->centre);
    } else {
        v->line = gc_quat_rotate(back, path);
    }
    v->centre = gc_scale(v->centre, shrink);
    v->line = gc_scale(v->line, shrink);
    v->way = v->line;
    v->radius = b->radius * shrink;
    v->round = b->round;
    v->sides = gc_make(v->radius, v->radius, v->radius);
    most = GC_MAX(GC_MAX(GC_ABS(v->centre.x), GC_ABS(v->centre.y)), GC_ABS(v->centre.z));
    v->slack = GC_SWEEP_SLACK * GC_ROUNDING * (GC_R(1.0) + most);
    v->least = GC_SWEEP_ALONG * GC_ROUNDING * (GC_SWEEP_ALONG * GC_ROUNDING);
    if (!v->round) gc_ellipsoid_space_stretch(b, back, shrink, v);
    v->onto = GC_SWEEP_ONTO * v->slack;
    v->square = gc_dot(v->way, v->way);
    GC_OF_BODIES(v->from = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));)
    v->thin = v->radius <= GC_SWEEP_THIN * GC_ROUNDING * (GC_R(1.0) + most);
    if (v->thin) gc_ellipsoid_space_shear(v);
}

/* a point of the mesh, from the centre at the start */
GC_FN gc_vec gc_ellipsoid_space_point(const gc_ellipsoid_space *v, gc_vec x)
{
    x = gc_sub(x, v->centre);
    return v->round ? x : gc_by_rows(v->lens, x);
}

/* a difference of two points of the mesh */
GC_FN gc_vec gc_ellipsoid_space_vector(const gc_ellipsoid_space *v, gc_vec x)
{
    return v->round ? x : gc_by_rows(v->lens, x);
}

/* a unit normal of the mesh */
GC_FN gc_vec gc_ellipsoid_space_normal(const gc_ellipsoid_space *v, gc_vec n)
{
    if (v->round) return n;
    n = gc_by_rows(v->normal, n);
    return gc_unit(n, n);
}

#endif
