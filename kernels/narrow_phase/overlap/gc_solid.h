/* gc_solid.h: bodies at one time as solids: where the features of one are in the frame of the other, and what is inside.
 * needs: common/gc_constants.h common/gc_motion.h tree/gc_bvh.h
 *
 * Each body stays in the frame of its own mesh, in scaled lengths, and has one map into the frame of the other. A mesh
 * consists of components, joined by edges; the closed ones have an inside, by their winding number. A shrunk vertex is moved
 * inwards by GC_OVERLAP_DEPTH, or by a fraction of its component's thickness if that is less
 * (geometry/preparation/solids.py). For an open component the backs of its faces count as the inside, unless it is
 * two-sided.
 */
#ifndef GC_SOLID_H
#define GC_SOLID_H

typedef struct {
    const gc_mesh *mesh;
    GC_GLOBAL const int *tree; /* of the mesh's faces, or of none */
    GC_GLOBAL const gc_raster *nodes;
    GC_GLOBAL const int *witnesses, *codes; /* a vertex of each component; codes of the faces */
    int components, closed;                 /* how many components; is one closed */
    gc_real radius;
    gc_vec extent;  /* half the sides of the box about its centre */
    gc_real rot[9]; /* into the frame of the other body */
    gc_vec shift;
} gc_solid;

/* what all features of a pair share; scaled lengths */
typedef struct {
    gc_tables t;
    GC_GLOBAL const gc_real *insets;
    gc_real shrink;
    gc_real depth; /* less is touch */
    gc_real rough; /* rounding of a place */
    gc_real slack; /* how far shrunk features may stand out of a box, with room to spare */
} gc_overlap;

GC_FN gc_vec gc_solid_vertex(const gc_overlap *o, const gc_solid *s, int v)
{
    return gc_scale(gc_vertex(&o->t, s->mesh, v), o->shrink);
}

GC_FN gc_vec gc_solid_corner(const gc_overlap *o, const gc_solid *s, int corner)
{
    return gc_solid_vertex(o, s, o->t.topology[s->mesh->face_vertices + corner]);
}

/* a point of s as the other body sees it */
GC_FN gc_vec gc_solid_over(const gc_solid *s, gc_vec x) { return gc_add(gc_rotate(s->rot, x), s->shift); }

/* what vertex v is moved inwards by, where a way leads there */
GC_FN gc_real gc_solid_depth(const gc_overlap *o, const gc_solid *s, int v)
{
    return GC_MIN(o->depth, GC_ABS(o->insets[GC_INSET_STRIDE * (s->mesh->vertex0 + v) + GC_INSET_depth]) * o->shrink);
}

/* vertex v moved inwards, as the other body sees it */
GC_FN gc_vec gc_shrunk_over(const gc_overlap *o, const gc_solid *s, int v)
{
    GC_GLOBAL const gc_real *p = o->insets + GC_INSET_STRIDE * (s->mesh->vertex0 + v);
    gc_vec by = gc_scale(gc_load_vec(p + GC_INSET_outward, 0), gc_solid_depth(o, s, v));
    return gc_solid_over(s, gc_sub(gc_solid_vertex(o, s, v), by));
}

/* How far an edge at vertex v must go through a face. Rounding, if it was shrunk by more. What was not, a speck, a two-sided
 * sheet, which has no side to be shrunk to, or a vertex that no way leads inwards from, where solids meet in an edge or a
 * corner, must go through the middle of the face, by as much as would have been shrunk. */
GC_FN gc_real gc_through(const gc_overlap *o, const gc_solid *s, int v)
{
    GC_GLOBAL const gc_real *p = o->insets + GC_INSET_STRIDE * (s->mesh->vertex0 + v);
    gc_real most = p[GC_INSET_depth] * o->shrink;
    gc_vec out = gc_load_vec(p + GC_INSET_outward, 0);
    int moved = out.x != GC_R(0.0) || out.y != GC_R(0.0) || out.z != GC_R(0.0);
    if (moved && !(s->mesh->two_sided && most < GC_R(0.0)) && GC_ABS(most) > GC_OVERLAP_SPECK * o->rough) return o->rough;
    return GC_MAX(GC_MIN(o->depth, GC_ABS(most)), GC_R(2.0) * o->rough);
}

/* does the box of the segment p q meet the box of s, both in the frame of s? */
GC_FN int gc_meets_box(const gc_solid *s, gc_vec p, gc_vec q, gc_real slack)
{
    return GC_MIN(p.x, q.x) <= s->extent.x + slack && GC_MAX(p.x, q.x) >= -s->extent.x - slack
           && GC_MIN(p.y, q.y) <= s->extent.y + slack && GC_MAX(p.y, q.y) >= -s->extent.y - slack
           && GC_MIN(p.z, q.z) <= s->extent.z + slack && GC_MAX(p.z, q.z) >= -s->extent.z - slack;
}

/* how far the nodes of a body are widened: they are float32 */
GC_FN gc_real gc_node_pad(const gc_overlap *o, const gc_solid *s) { return o->slack + GC_OVERLAP_NODE * s->radius; }

/* does the box from `low` to `high` meet a node? */
GC_FN int gc_meets_node(GC_GLOBAL const gc_raster *n, gc_vec low, gc_vec high, gc_real shrink, gc_real pad)
{
    GC_GLOBAL const gc_raster *a = n + GC_NODE_low, *b = n + GC_NODE_high;
    return low.x <= b[0] * shrink + pad && high.x >= a[0] * shrink - pad && low.y <= b[1] * shrink + pad
           && high.y >= a[1] * shrink - pad && low.z <= b[2] * shrink + pad && high.z >= a[2] * shrink - pad;
}

/* face of a leaf of the tree */
GC_FN int gc_solid_leaf(const gc_overlap *o, const gc_solid *s, int leaf)
{
    GC_GLOBAL const int *patch = o->t.headers + GC_MESH_STRIDE * (s->tree[GC_TREE_patch] + (leaf >> GC_PATCH_LEVEL));
    return o->t.topology[patch[GC_MESH_source_faces] + (leaf & ((1 << GC_PATCH_LEVEL) - 1))];
}

GC_FN gc_real gc_l1_norm(gc_vec a) { return GC_ABS(a.x) + GC_ABS(a.y) + GC_ABS(a.z); }

/* ---- inside ---- */

/* a ray passes so near an edge, or begins so near a face, that rounding decides */
#define GC_NO_ANSWER 1000000000
/* directions to try; no component is near 0 and no two are in a ratio of small whole numbers */
#define GC_RAYS 3
GC_FN gc_vec gc_ray(int k)
{
    if (k == 0) return gc_make(GC_R(0.5139748), GC_R(0.7471233), GC_R(0.4214561));
    if (k == 1) return gc_make(GC_R(-0.3312745), GC_R(0.4817356), GC_R(0.8113223));
    return gc_make(GC_R(0.8034127), GC_R(-0.3791451), GC_R(-0.4590218));
}

/* Which side of the line through b and c does a ray along d from the origin pass on? 0: too near to say. Exactly opposite for
 * c and b, so that the two faces of an edge agree. */
GC_FN int gc_ray_side(gc_vec d, gc_vec b, gc_vec c)
{
    gc_real side = gc_dot(d, gc_cross(b, c)), doubt = GC_RAY_ROUNDING * gc_l1_norm(b) * gc_l1_norm(c);
    return side > doubt ? 1 : (side < -doubt ? -1 : 0);
}

/* what triangle a b c adds to the winding number about the origin, by a ray along d: +1 where it leaves, -1 where it enters */
GC_LARGE int gc_ray_crosses(gc_vec d, gc_vec a, gc_vec b, gc_vec c)
{
    int s0 = gc_ray_side(d, b, c), s1 = gc_ray_side(d, c, a), s2 = gc_ray_side(d, a, b);
    gc_real volume, doubt;
    if (GC_MIN(s0, GC_MIN(s1, s2)) < 0 && GC_MAX(s0, GC_MAX(s1, s2)) > 0) return 0;
    if (s0 == 0 || s1 == 0 || s2 == 0) return GC_NO_ANSWER;
    volume = gc_dot(a, gc_cross(b, c));
    doubt = GC_RAY_ROUNDING * gc_l1_norm(a) * gc_l1_norm(b) * gc_l1_norm(c);
    if (GC_ABS(volume) <= doubt) return GC_NO_ANSWER;
    return (volume > GC_R(0.0)) == (s0 > 0) ? s0 : 0;
}

/* ... of face f, about x */
GC_LARGE int gc_ray_face(const gc_overlap *o, const gc_solid *s, int f, gc_vec d, gc_vec x)
{
    int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1], sum = 0;
    gc_vec a, u;
    if (!(s->codes[f] & 1)) return 0;
    a = gc_sub(gc_solid_corner(o, s, j), x);
    u = gc_sub(gc_solid_corner(o, s, j + 1), x);
    for (j += 2; j < end; ++j) {
        gc_vec v = gc_sub(gc_solid_corner(o, s, j), x);
        int more = gc_ray_crosses(d, a, u, v);
        if (more == GC_NO_ANSWER) return GC_NO_ANSWER;
        sum += more;
        u = v;
    }
    return sum;
}

/* does the ray from x along d reach a node? `back` is 1 / d */
GC_FN int gc_ray_meets(GC_GLOBAL const gc_raster *n, gc_vec x, gc_vec back, gc_real shrink, gc_real pad)
{
    GC_GLOBAL const gc_raster *a = n + GC_NODE_low, *b = n + GC_NODE_high;
    gc_real x0 = (a[0] * shrink - pad - x.x) * back.x, x1 = (b[0] * shrink + pad - x.x) * back.x;
    gc_real y0 = (a[1] * shrink - pad - x.y) * back.y, y1 = (b[1] * shrink + pad - x.y) * back.y;
    gc_real z0 = (a[2] * shrink - pad - x.z) * back.z, z1 = (b[2] * shrink + pad - x.z) * back.z;
    gc_real in = GC_MAX(GC_MAX(GC_MIN(x0, x1), GC_MIN(y0, y1)), GC_MAX(GC_MIN(z0, z1), GC_R(0.0)));
    return in <= GC_MIN(GC_MIN(GC_MAX(x0, x1), GC_MAX(y0, y1)), GC_MAX(z0, z1));
}

/* winding number of the closed components about x by one ray, or GC_NO_ANSWER */
GC_LARGE int gc_ray_winding(const gc_overlap *o, const gc_solid *s, gc_vec d, gc_vec x)
{
    int f, n = s->tree[GC_TREE_faces], sum = 0, more;
    gc_real one = GC_R(1.0), pad = gc_node_pad(o, s);
    gc_vec back = gc_make(one / d.x, one / d.y, one / d.z);
    gc_visit w;
    if (n == 0) {
        for (f = 0; f < s->mesh->nf; ++f) {
            more = gc_ray_face(o, s, f, d, x);
            if (more == GC_NO_ANSWER) return GC_NO_ANSWER;
            sum += more;
        }
        return sum;
    }
    w = gc_visit_begin(n, 0, 0, n);
    while (!gc_visit_done(&w)) {
        if (gc_ray_meets(s->nodes + GC_NODE_STRIDE * (s->tree[GC_TREE_node] + gc_visit_node(&w)), x, back, o->shrink, pad)) {
            if (w.level > 0) {
                gc_visit_down(&w);
                continue;
            }
            more = gc_ray_face(o, s, gc_solid_leaf(o, s, w.node), d, x);
            if (more == GC_NO_ANSWER) return GC_NO_ANSWER;
            sum += more;
        }
        gc_visit_next(&w);
    }
    return sum;
}

/* atan2(y, x) in (-pi, pi]; 0 for (0, 0) */
GC_FN gc_real gc_azimuth(gc_real y, gc_real x)
{
    gc_real ay = GC_ABS(y), ax = GC_ABS(x), angle;
    if (ay == GC_R(0.0) && ax == GC_R(0.0)) return GC_R(0.0);
    angle = gc_angle(ay, ax);
    if (x < GC_R(0.0)) angle = GC_R(3.14159265358979324) - angle;
    return y < GC_R(0.0) ? -angle : angle;
}

/* solid angle of triangle a b c seen from the origin, over two (van Oosterom and Strackee) */
GC_FN gc_real gc_half_solid_angle(gc_vec a, gc_vec b, gc_vec c)
{
    gc_real la = gc_norm(a), lb = gc_norm(b), lc = gc_norm(c);
    gc_real den = la * lb * lc + gc_dot(a, b) * lc + gc_dot(b, c) * la + gc_dot(c, a) * lb;
    return gc_azimuth(gc_dot(a, gc_cross(b, c)), den);
}

/* the same by the solid angles of all faces: where no ray has an answer */
GC_LARGE int gc_angle_winding(const gc_overlap *o, const gc_solid *s, gc_vec x)
{
    gc_real sum = GC_R(0.0);
    int f;
    for (f = 0; f < s->mesh->nf; ++f) {
        int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1];
        gc_vec a = gc_sub(gc_solid_corner(o, s, j), x), u = gc_sub(gc_solid_corner(o, s, j + 1), x);
        if (!(s->codes[f] & 1)) continue;
        for (j += 2; j < end; ++j) {
            gc_vec v = gc_sub(gc_solid_corner(o, s, j), x);
            sum += gc_half_solid_angle(a, u, v);
            u = v;
        }
    }
    return (int)GC_RINT(sum * GC_R(0.159154943091895336));
}

/* Is x inside the closed components of s? Nothing is inside a body too small for its places to be distinguished. */
GC_LARGE int gc_inside_solid(const gc_overlap *o, const gc_solid *s, gc_vec x)
{
    int k, number = GC_NO_ANSWER;
    if (!s->closed || s->radius <= GC_OVERLAP_SPECK * o->rough || !gc_meets_box(s, x, x, o->slack)) return 0;
    for (k = 0; k < GC_RAYS && number == GC_NO_ANSWER; ++k) number = gc_ray_winding(o, s, gc_ray(k), x);
    if (number == GC_NO_ANSWER) number = gc_angle_winding(o, s, x);
    return number != 0;
}

/* Is the component that vertex v of s tells inside the other body? Its surface does not cross the other's, so that one
 * point speaks for all: the shrunk vertex. A component that is open, or a speck that cannot be shrunk by more than
 * rounding, is inside if the vertex is so by the depth, on all sides. */
GC_LARGE int gc_component_inside(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int v)
{
    gc_real most = o->insets[GC_INSET_STRIDE * (s->mesh->vertex0 + v) + GC_INSET_depth] * o->shrink, none = GC_R(0.0);
    gc_vec x;
    int j;
    if (most > GC_OVERLAP_SPECK * o->rough && gc_through(o, s, v) <= o->rough)
        return gc_inside_solid(o, other, gc_shrunk_over(o, s, v));
    x = gc_solid_over(s, gc_solid_vertex(o, s, v));
    for (j = 0; j < 6; ++j) {
        gc_real step = j & 1 ? o->depth : -o->depth;
        gc_vec off = gc_make(j < 2 ? step : none, j / 2 == 1 ? step : none, j > 3 ? step : none);
        if (!gc_inside_solid(o, other, gc_add(x, off))) return 0;
    }
    return 1;
}

#endif
