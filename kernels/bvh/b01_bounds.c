/* b01_bounds: where the things may be that the tree is to find.
 *
 * b01_faces: box of each face of a mesh, in its centred frame, user units. One work-item per face.
 * b01_bodies: poses and meshes of the bodies -> centres, radius and turn of each, and the world box of all that it sweeps by
 * its own screw motion; world frame, user units. One work-item per body. The box holds the arcs of the mesh's ball and of the
 * corners of its box: chords over at most GC_BVH_PIECES pieces, and how far an arc strays from its chord.
 * Degenerate: near half a turn the motion may go round either side, and the box holds both; a body whose pose is not valid
 * has an empty box; one with coordinates beyond GC_BVH_WILD has the box that holds everything.
 */

GC_KERNEL void b01_faces(
    int n_faces,                          /* of the mesh */
    int mesh,                             /* which of the meshes in the tables */
    GC_GLOBAL const int *headers_in,      /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 4) */
    GC_GLOBAL gc_real *boxes_out)         /* (n_faces, GC_BOX_STRIDE) */
{
    gc_mesh m;
    gc_mesh_load(headers_in + GC_MESH_STRIDE * mesh, &m);
    for (int f = GC_ITEM_LO(n_faces); f < GC_ITEM_HI(n_faces); f += GC_ITEM_STEP(n_faces)) {
        int corner = topology_in[m.face_start + f], last = topology_in[m.face_start + f + 1];
        gc_real box[GC_BOX_STRIDE];
        for (int k = 0; k < 3; ++k) {
            box[k] = GC_BVH_FAR;
            box[3 + k] = -GC_BVH_FAR;
        }
        for (; corner < last; ++corner) {
            GC_GLOBAL const gc_real *v = vertices_in + 4 * (m.vertex0 + topology_in[m.face_vertices + corner]);
            for (int k = 0; k < 3; ++k) {
                box[k] = GC_MIN(box[k], v[k]);
                box[3 + k] = GC_MAX(box[3 + k], v[k]);
            }
        }
        for (int k = 0; k < GC_BOX_STRIDE; ++k) boxes_out[GC_BOX_STRIDE * f + k] = box[k];
    }
}

/* the path of a body's own screw: where its centre and its box are at times k/pieces */
typedef struct {
    gc_vec start, along, across, aside; /* centre at the start; ways along the axis, across it, and their normal */
    gc_vec axis;
    gc_real cosine[GC_BVH_PIECES + 1], sine[GC_BVH_PIECES + 1]; /* of half the angle up to each time */
    gc_real strays;                     /* arc from chord within a piece, per unit of radius */
    gc_real radius;                     /* of the centre's arc */
    int pieces;
} gc_path;

GC_FN gc_path gc_path_make(gc_vec start, gc_vec way, gc_quat turn, gc_real angle)
{
    gc_path p;
    gc_real d, c, s, g;
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    p.start = start;
    p.axis = gc_unit(gc_make(turn.x, turn.y, turn.z), none);
    g = gc_dot(way, p.axis);
    p.along = gc_scale(p.axis, g);
    p.across = gc_sub(way, p.along);
    p.aside = gc_cross(p.axis, p.across);
    p.pieces = 1 + (int)(angle * GC_R(2.5));
    if (p.pieces > GC_BVH_PIECES) p.pieces = GC_BVH_PIECES;
    d = GC_R(0.5) * angle / (gc_real)p.pieces;
    c = GC_R(1.0) - d * d * gc_verc(d * d);
    s = d * gc_sinc(d * d);
    p.cosine[0] = GC_R(1.0);
    p.sine[0] = GC_R(0.0);
    for (int k = 0; k < p.pieces; ++k) {
        p.cosine[k + 1] = p.cosine[k] * c - p.sine[k] * s;
        p.sine[k + 1] = p.sine[k] * c + p.cosine[k] * s;
    }
    p.strays = d * d * gc_verc(d * d);
    p.radius = GC_R(0.5) * gc_norm(p.across) / p.sine[p.pieces];
    return p;
}

/* the centre at time k/pieces: the chord of the arc so far is shorter than the whole one and turned back */
GC_FN gc_vec gc_path_centre(const gc_path *p, int k)
{
    gc_real share = p->sine[k] / p->sine[p->pieces];
    gc_vec chord = gc_sub(gc_scale(p->across, p->cosine[p->pieces - k]), gc_scale(p->aside, p->sine[p->pieces - k]));
    return gc_add(gc_add(p->start, gc_scale(p->along, (gc_real)k / (gc_real)p->pieces)), gc_scale(chord, share));
}

/* half the sides of the world box of a box of half sides h turned by q */
GC_FN gc_vec gc_turned_half(gc_quat q, gc_vec h)
{
    gc_vec x = gc_quat_rotate(q, gc_make(h.x, GC_R(0.0), GC_R(0.0)));
    gc_vec y = gc_quat_rotate(q, gc_make(GC_R(0.0), h.y, GC_R(0.0)));
    gc_vec z = gc_quat_rotate(q, gc_make(GC_R(0.0), GC_R(0.0), h.z));
    return gc_make(GC_ABS(x.x) + GC_ABS(y.x) + GC_ABS(z.x), GC_ABS(x.y) + GC_ABS(y.y) + GC_ABS(z.y),
                   GC_ABS(x.z) + GC_ABS(y.z) + GC_ABS(z.z));
}

/* what is known of a body before its box is made */
typedef struct {
    gc_vec c0, c1, sides;
    gc_quat q0, q1, turn;
    gc_real radius, angle, way, pad;
} gc_moving;

/* grow box (least, greatest) to the ball and the box of half sides h about c; on each axis the lesser of both counts, so
 * both are kept: [0..5] of the ball's centre, [6..11] of the box */
GC_FN void gc_swept_add(gc_real *box, gc_vec c, gc_vec h)
{
    gc_real at[3], sides[3];
    at[0] = c.x; at[1] = c.y; at[2] = c.z;
    sides[0] = h.x; sides[1] = h.y; sides[2] = h.z;
    for (int k = 0; k < 3; ++k) {
        box[k] = GC_MIN(box[k], at[k]);
        box[3 + k] = GC_MAX(box[3 + k], at[k]);
        box[6 + k] = GC_MIN(box[6 + k], at[k] - sides[k]);
        box[9 + k] = GC_MAX(box[9 + k], at[k] + sides[k]);
    }
}

/* world box of all that the body fills while it moves by its own screw */
GC_LARGE void gc_swept_box(const gc_moving *m, GC_GLOBAL gc_real *out)
{
    gc_real box[12], ball = m->radius + m->pad, corner = m->pad;
    for (int k = 0; k < 3; ++k) {
        box[k] = box[6 + k] = GC_BVH_FAR;
        box[3 + k] = box[9 + k] = -GC_BVH_FAR;
    }
    if (GC_ABS(m->turn.w) <= GC_BVH_HALF_TURN) {
        /* two screws fit: both stay in the ball over the way */
        gc_vec all = gc_make(m->radius, m->radius, m->radius);
        gc_swept_add(box, gc_scale(gc_add(m->c0, m->c1), GC_R(0.5)), all);
        ball += GC_R(0.5) * m->way * (GC_R(1.0) + GC_R(4.0) * GC_BVH_HALF_TURN);
        corner = ball - m->radius;
    } else {
        gc_swept_add(box, m->c0, gc_turned_half(m->q0, m->sides));
        gc_swept_add(box, m->c1, gc_turned_half(m->q1, m->sides));
        if (m->angle > GC_BVH_STRAIGHT) {
            gc_path p = gc_path_make(m->c0, gc_sub(m->c1, m->c0), m->turn, m->angle);
            for (int k = 1; k < p.pieces; ++k) {
                gc_quat part = gc_quat_make(p.cosine[k], p.axis.x * p.sine[k], p.axis.y * p.sine[k], p.axis.z * p.sine[k]);
                gc_swept_add(box, gc_path_centre(&p, k), gc_turned_half(gc_quat_mul(part, m->q0), m->sides));
            }
            ball += p.strays * p.radius;
            corner += p.strays * (p.radius + gc_norm(m->sides));
        }
    }
    for (int k = 0; k < 3; ++k) {
        out[k] = GC_MAX(box[k] - ball, box[6 + k] - corner);
        out[3 + k] = GC_MIN(box[3 + k] + ball, box[9 + k] + corner);
    }
}

GC_FN gc_vec gc_bounds_vec(GC_GLOBAL const gc_real *p, int i) { return gc_make(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }

GC_FN gc_quat gc_bounds_quat(GC_GLOBAL const gc_real *p, int i)
{
    return gc_quat_unit(gc_quat_make(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]));
}

/* greatest coordinate without sign; GC_BVH_FAR if one is no number */
GC_FN gc_real gc_largest(gc_vec v)
{
    gc_real x = GC_ABS(v.x), y = GC_ABS(v.y), z = GC_ABS(v.z), xy = GC_MAX(x, y);
    return gc_is_finite(x) && gc_is_finite(y) && gc_is_finite(z) ? GC_MAX(xy, z) : GC_BVH_FAR;
}

GC_KERNEL void b01_bodies(
    int n,
    GC_GLOBAL const int *shape_in,              /* (n,) mesh of each body */
    GC_GLOBAL const gc_uchar *valid_in,         /* (n,) both poses usable */
    GC_GLOBAL const gc_real *start_position_in, /* (n, 3) world */
    GC_GLOBAL const gc_real *start_quat_in,     /* (n, 4) wxyz */
    GC_GLOBAL const gc_real *end_position_in,
    GC_GLOBAL const gc_real *end_quat_in,
    GC_GLOBAL const gc_real *mesh_bounds_in,    /* (meshes, 7) centre, radius, half the sides of the box */
    GC_GLOBAL gc_real *bounds_out,              /* (n, GC_BOUND_STRIDE) */
    GC_GLOBAL gc_real *boxes_out)               /* (n, GC_BOX_STRIDE) swept by the own screw; least > greatest: invalid */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *mesh = mesh_bounds_in + 7 * shape_in[i];
        GC_GLOBAL gc_real *bound = bounds_out + GC_BOUND_STRIDE * i, *box = boxes_out + GC_BOX_STRIDE * i;
        gc_vec centre = gc_make(mesh[0], mesh[1], mesh[2]);
        gc_moving m;
        gc_vec start = gc_bounds_vec(start_position_in, i), end = gc_bounds_vec(end_position_in, i);
        gc_real sine, far0, far1, far;
        m.q0 = gc_bounds_quat(start_quat_in, i);
        m.q1 = gc_bounds_quat(end_quat_in, i);
        m.c0 = gc_add(start, gc_quat_rotate(m.q0, centre));
        m.c1 = gc_add(end, gc_quat_rotate(m.q1, centre));
        m.radius = mesh[3];
        m.sides = gc_make(mesh[4], mesh[5], mesh[6]);
        m.turn = gc_quat_unit(gc_quat_mul(m.q1, gc_quat_conj(m.q0)));
        if (m.turn.w < GC_R(0.0)) m.turn = gc_quat_make(-m.turn.w, -m.turn.x, -m.turn.y, -m.turn.z);
        sine = gc_norm(gc_make(m.turn.x, m.turn.y, m.turn.z));
        m.angle = GC_R(2.0) * gc_angle(sine, m.turn.w);
        far0 = gc_largest(start);
        far1 = gc_largest(end);
        far = GC_MAX(far0, far1) + gc_largest(centre);
        m.way = gc_norm(gc_sub(m.c1, m.c0));
        m.pad = GC_BVH_PAD * (m.radius + m.way) + GC_BVH_ROUNDING * far;
        bound[0] = m.c0.x; bound[1] = m.c0.y; bound[2] = m.c0.z;
        bound[3] = m.c1.x; bound[4] = m.c1.y; bound[5] = m.c1.z;
        bound[6] = m.radius + m.pad;
        bound[7] = m.angle;
        bound[8] = m.turn.w; bound[9] = m.turn.x; bound[10] = m.turn.y; bound[11] = m.turn.z;
        gc_swept_box(&m, box);
        if (valid_in[i] && far <= GC_BVH_WILD && m.way <= GC_BVH_WILD) continue;
        for (int k = 0; k < 6; ++k) bound[k] = GC_R(0.0);
        bound[6] = GC_BVH_FAR;
        bound[7] = GC_R(0.0);
        for (int k = 0; k < 3; ++k) {
            box[k] = valid_in[i] ? -GC_BVH_FAR : GC_BVH_FAR;
            box[3 + k] = -box[k];
        }
    }
}
