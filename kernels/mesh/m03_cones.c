/* m03_cones: how far contact normals may deviate from the normals of a mesh's faces; m02_nodes reads it.
 * needs: mesh/gc_prepare.h
 *
 * in:  vertices, loops, edges, normals of the faces
 * out: for each face, as cosines, the half angle of its double cone and the angle that contains its neighbours' normals
 * m03_corners, one work-item in all: the corners at each vertex, in rising order. m03_edges, one per edge; m03_vertices, one
 * per vertex; m03_faces, one per face. Double precision, with sums in the order of
 * gpu_collide/geometry/preparation/cones.py, whose bits it has. Meaning, and proof that nothing proper is lost:
 * docs/decisions/0049.
 * Degenerate: borders, edges of more than two faces, edges of length zero and sharp corners leave the normal free, 0.
 */

/* An edge that leaves its face's plane by more leaves the normal free: faces are planar within a share of the size only. */
#define GC_CONE_FLAT GC_R(1e-3)
/* What lies anywhere in memory is asked for so many items ahead; where the way there is asked for, half as many. */
#define GC_CONES_AHEAD 16

GC_FN gc_real gc_cone_dot(const gc_real *a, const gc_real *b) { return (a[0] * b[0] + a[2] * b[2]) + a[1] * b[1]; }

GC_FN gc_real gc_cone_length(const gc_real *a) { return GC_SQRT((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]); }

GC_FN void gc_cone_cross(const gc_real *a, const gc_real *b, gc_real *to)
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

/* cosine of the sum of two angles given by their cosines; 0 where it is not below a right angle */
GC_FN gc_real gc_cone_sum(gc_real a, gc_real b)
{
    if (!(a > GC_R(0.0)) || !(b > GC_R(0.0))) return GC_R(0.0);
    a = GC_MIN(a, GC_R(1.0));
    b = GC_MIN(b, GC_R(1.0));
    return GC_MAX(a * b - GC_SQRT(GC_R(1.0) - a * a) * GC_SQRT(GC_R(1.0) - b * b), GC_R(0.0));
}

GC_KERNEL void m03_corners(
    int n_items, /* 1: one after the other is as fast as memory */
    int n_vertices,
    int n_corners,
    GC_GLOBAL const int *face_vertices_in, /* (n_corners,) */
    GC_GLOBAL int *start_out,              /* (n_vertices + 1,) */
    GC_GLOBAL int *corners_out)            /* (n_corners,) of the first vertex, then of the next */
{
    for (int item = GC_ITEM_LO(n_items); item < GC_ITEM_HI(n_items); item += GC_ITEM_STEP(n_items)) {
        int sum = 0;
        for (int v = 0; v <= n_vertices; ++v) start_out[v] = 0;
        for (int c = 0; c < n_corners; ++c) start_out[face_vertices_in[c]] += 1;
        for (int v = 0; v <= n_vertices; ++v) { /* where each ends */
            sum += start_out[v];
            start_out[v] = sum;
        }
        for (int c = n_corners; c-- > 0;) corners_out[start_out[face_vertices_in[c]] -= 1] = c;
    }
}

GC_KERNEL void m03_edges(
    int n_edges,
    gc_real radius,                       /* of the mesh */
    gc_real rise,                         /* sine by which an edge may rise over the plane of contact */
    gc_real rounded,                      /* the same for rounding, in radii over the length of an edge */
    GC_GLOBAL const gc_real *vertices_in, /* (vertices, 3) */
    GC_GLOBAL const int *edges_in,        /* (n_edges, 2) */
    GC_GLOBAL const int *edge_face_start_in,
    GC_GLOBAL const int *edge_faces_in,
    GC_GLOBAL const gc_real *face_planes_in, /* (faces, 4) */
    GC_GLOBAL gc_real *lean_out)             /* (n_edges, GC_LEAN_STRIDE) */
{
    for (int e = GC_ITEM_LO(n_edges); e < GC_ITEM_HI(n_edges); e += GC_ITEM_STEP(n_edges)) {
        GC_GLOBAL gc_real *lean = lean_out + GC_LEAN_STRIDE * e;
        int entry = edge_face_start_in[e], two = edge_face_start_in[e + 1] - entry == 2;
        int soon = GC_MIN(e + GC_CONES_AHEAD, n_edges - 1);
        gc_real unit[3], m[3], n[3], across[3], other[3], slope, cosine = GC_R(0.0), length;
        GC_FETCH(vertices_in + 3 * edges_in[2 * soon + 1]);
        for (int k = edge_face_start_in[soon]; k < edge_face_start_in[soon + 1]; ++k)
            GC_FETCH(face_planes_in + 4 * (edge_faces_in[k] >> 1));
        for (int k = 0; k < 3; ++k)
            unit[k] = vertices_in[3 * edges_in[2 * e + 1] + k] - vertices_in[3 * edges_in[2 * e] + k];
        length = gc_cone_length(unit);
        for (int k = 0; k < 3; ++k) unit[k] = length > GC_R(0.0) ? unit[k] / length : GC_R(0.0);
        slope = length > GC_R(0.0) ? rise + rounded * (radius / length) : GC_R(1.0);
        if (!(slope < GC_R(1.0)) || !two || !((edge_faces_in[entry] ^ edge_faces_in[entry + 1]) & 1)) slope = GC_R(1.0);
        else {
            for (int k = 0; k < 3; ++k) {
                m[k] = face_planes_in[4 * (edge_faces_in[entry] >> 1) + k];
                n[k] = face_planes_in[4 * (edge_faces_in[entry + 1] >> 1) + k];
            }
            if (!(GC_ABS(gc_cone_dot(m, unit)) < GC_CONE_FLAT && GC_ABS(gc_cone_dot(n, unit)) < GC_CONE_FLAT))
                slope = GC_R(1.0);
            else { /* across the edge, so that what is left of the plane's error does not count */
                gc_cone_cross(unit, m, across);
                gc_cone_cross(unit, n, other);
                cosine = gc_cone_dot(across, other) / (gc_cone_length(across) * gc_cone_length(other));
            }
        }
        for (int k = 0; k < 3; ++k) lean[GC_LEAN_unit + k] = unit[k];
        lean[GC_LEAN_slope] = slope;
        lean[GC_LEAN_cone] = gc_cone_sum(cosine, GC_SQRT(GC_R(1.0) - slope * slope));
    }
}

/* direction of an edge away from its end v, and how it rises along an axis; what is left of it across, as a unit vector */
GC_FN gc_real gc_cone_leave(
    GC_GLOBAL const gc_real *lean,
    int away, /* does it begin at v? */
    const gc_real *up,
    gc_real *flat)
{
    gc_real rise, length, sign = away ? GC_R(1.0) : GC_R(-1.0);
    for (int k = 0; k < 3; ++k) flat[k] = sign * lean[GC_LEAN_unit + k];
    rise = gc_cone_dot(flat, up);
    for (int k = 0; k < 3; ++k) flat[k] = flat[k] - rise * up[k];
    length = gc_cone_length(flat);
    for (int k = 0; k < 3; ++k) flat[k] = flat[k] / length;
    return GC_ABS(rise);
}

GC_KERNEL void m03_vertices(
    int n_vertices,
    GC_GLOBAL const int *start_in, /* as m03_corners wrote them */
    GC_GLOBAL const int *corners_in,
    GC_GLOBAL const int *face_of_in, /* (corners,) */
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_edges_in,
    GC_GLOBAL const int *edges_in,
    GC_GLOBAL const gc_real *face_planes_in,
    GC_GLOBAL const gc_real *lean_in,
    GC_GLOBAL gc_real *spike_out) /* (n_vertices, GC_SPIKE_STRIDE) */
{
    for (int v = GC_ITEM_LO(n_vertices); v < GC_ITEM_HI(n_vertices); v += GC_ITEM_STEP(n_vertices)) {
        GC_GLOBAL gc_real *spike = spike_out + GC_SPIKE_STRIDE * v;
        gc_real up[3] = {GC_R(0.0), GC_R(0.0), GC_R(0.0)}, length, near, reach, sine, cosine;
        gc_real rise = GC_R(0.0), wedge = GC_R(1.0), slope = GC_R(0.0), about = GC_R(1.0);
        int free, soon = GC_MIN(v + GC_CONES_AHEAD, n_vertices - 1), next = GC_MIN(v + GC_CONES_AHEAD / 2, n_vertices - 1);
        for (int i = start_in[soon]; i < start_in[soon + 1]; ++i) {
            GC_FETCH(face_of_in + corners_in[i]);
            GC_FETCH(face_edges_in + corners_in[i]);
        }
        for (int i = start_in[next]; i < start_in[next + 1]; ++i) {
            GC_FETCH(face_planes_in + 4 * face_of_in[corners_in[i]]);
            GC_FETCH(face_start_in + face_of_in[corners_in[i]]);
            GC_FETCH(lean_in + GC_LEAN_STRIDE * face_edges_in[corners_in[i]]);
            GC_FETCH(edges_in + 2 * face_edges_in[corners_in[i]]);
        }
        for (int i = start_in[v]; i < start_in[v + 1]; ++i)
            for (int k = 0; k < 3; ++k) up[k] += face_planes_in[4 * face_of_in[corners_in[i]] + k];
        length = gc_cone_length(up);
        free = !(length > GC_R(1e-3));
        for (int k = 0; k < 3; ++k) up[k] = free ? GC_R(0.0) : up[k] / length;
        for (int i = start_in[v]; i < start_in[v + 1]; ++i) {
            int corner = corners_in[i], face = face_of_in[corner], turns;
            int out = face_edges_in[corner]; /* and the edge on which the face comes to the corner */
            int back = face_edges_in[(corner == face_start_in[face] ? face_start_in[face + 1] : corner) - 1];
            GC_GLOBAL const gc_real *leave = lean_in + GC_LEAN_STRIDE * out, *came = lean_in + GC_LEAN_STRIDE * back;
            gc_real own[3], flat_out[3], flat_back[3], round[3];
            for (int k = 0; k < 3; ++k) own[k] = face_planes_in[4 * face + k];
            about = GC_MIN(gc_cone_dot(up, own), about);
            slope = GC_MAX(GC_MAX(leave[GC_LEAN_slope], came[GC_LEAN_slope]), slope);
            rise = GC_MAX(gc_cone_leave(leave, edges_in[2 * out] == v, up, flat_out), rise);
            rise = GC_MAX(gc_cone_leave(came, edges_in[2 * back] == v, up, flat_back), rise);
            gc_cone_cross(flat_out, flat_back, round);
            turns = gc_cone_dot(up, round) >= GC_R(0.0); /* not where an edge is along the axis, and NaN across it */
            if (!turns) wedge = GC_R(0.0);
            else wedge = GC_MIN(GC_SQRT(GC_MAX(GC_R(0.5) + GC_R(0.5) * gc_cone_dot(flat_out, flat_back), GC_R(0.0))), wedge);
        }
        near = wedge * GC_SQRT(GC_MAX(GC_R(1.0) - rise * rise, GC_R(0.0)));
        reach = GC_SQRT(near * near + rise * rise);
        if (!(slope < GC_R(1.0)) || !(wedge > GC_R(0.0) && slope < reach)) free = 1;
        if (free) cosine = GC_R(0.0);
        else {
            sine = slope / reach;
            cosine = GC_SQRT(GC_MAX(GC_R(1.0) - sine * sine, GC_R(0.0))) * (near / reach) - sine * (rise / reach);
        }
        for (int k = 0; k < 3; ++k) spike[GC_SPIKE_axis + k] = up[k];
        spike[GC_SPIKE_cone] = GC_MAX(cosine, GC_R(0.0));
        spike[GC_SPIKE_about] = GC_MAX(about, GC_R(0.0));
    }
}

GC_KERNEL void m03_faces(
    int n_faces,
    int two_sided,
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_vertices_in,
    GC_GLOBAL const int *face_edges_in,
    GC_GLOBAL const gc_real *face_planes_in,
    GC_GLOBAL const gc_real *lean_in,
    GC_GLOBAL const gc_real *spike_in,
    GC_GLOBAL gc_real *cones_out) /* (2, n_faces) */
{
    for (int f = GC_ITEM_LO(n_faces); f < GC_ITEM_HI(n_faces); f += GC_ITEM_STEP(n_faces)) {
        gc_real own[3], least = GC_R(1.0), ring = GC_R(1.0);
        int soon = GC_MIN(f + GC_CONES_AHEAD, n_faces - 1);
        for (int c = face_start_in[soon]; c < face_start_in[soon + 1]; ++c) {
            GC_FETCH(spike_in + GC_SPIKE_STRIDE * face_vertices_in[c]);
            GC_FETCH(lean_in + GC_LEAN_STRIDE * face_edges_in[c]);
        }
        for (int k = 0; k < 3; ++k) own[k] = face_planes_in[4 * f + k];
        for (int c = face_start_in[f]; c < face_start_in[f + 1]; ++c) {
            GC_GLOBAL const gc_real *spike = spike_in + GC_SPIKE_STRIDE * face_vertices_in[c];
            gc_real axis[3], off;
            for (int k = 0; k < 3; ++k) axis[k] = spike[GC_SPIKE_axis + k];
            off = gc_cone_dot(own, axis);
            least = GC_MIN(lean_in[GC_LEAN_STRIDE * face_edges_in[c] + GC_LEAN_cone], least);
            least = GC_MIN(gc_cone_sum(off, spike[GC_SPIKE_cone]), least);
            ring = GC_MIN(gc_cone_sum(off, spike[GC_SPIKE_about]), ring);
        }
        cones_out[f] = least;
        cones_out[n_faces + f] = two_sided ? GC_R(0.0) : ring;
    }
}
