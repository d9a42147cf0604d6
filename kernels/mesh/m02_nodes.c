/* m02_nodes: nodes of the tree of a mesh's faces, level by level from the faces up.
 * needs: mesh/gc_prepare.h common/gc_constants.h
 *
 * in:  faces in the order of the leaves, vertices centred on the mesh, the patches' vertices (m01)
 * out: a level's nodes (GC_NODE): box, slab, reach, cone, ring; user units
 * One work-item per node, one launch per level. Up to the level of the patches a node looks at the corners of its faces, from
 * there on at each vertex once a patch. Sums go from level to level, so that the order of additions is that of the tree:
 * the bits of gpu_collide/geometry/nodes.py.
 * Degenerate: normals that nearly cancel give no slab, that is, n = 0 and a range of 0.
 */

/* what is found while a node's points are looked at */
typedef struct {
    gc_real low, high, reach; /* along the normal; square of the distance from the middle */
} gc_limits;

GC_FN gc_real gc_height_on(GC_GLOBAL const gc_real *p, const gc_real *normal)
{
    return (p[0] * normal[0] + p[2] * normal[2]) + p[1] * normal[1];
}

GC_FN gc_limits gc_limits_from(GC_GLOBAL const gc_real *first, const gc_real *normal)
{
    gc_limits s;
    s.low = s.high = gc_height_on(first, normal);
    s.reach = GC_R(0.0);
    return s;
}

GC_FN void gc_limits_point(gc_limits *s, GC_GLOBAL const gc_real *p, const gc_real *middle, const gc_real *normal)
{
    gc_real x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2], square = (x * x + y * y) + z * z;
    gc_real along = gc_height_on(p, normal);
    s->low = GC_MIN(s->low, along);
    s->high = GC_MAX(s->high, along);
    s->reach = GC_MAX(s->reach, square);
}

/* The double cones about a unit normal, or about none, that hold those of the leaves first..last, of both kinds: cosines of their half
 * angles, or 0 where they are everything. The angle between the axes and a face's own half angle are added as cosines. */
GC_FN void gc_cones_of(
    const gc_real *normal,
    int first,
    int last,
    int n_faces,
    GC_GLOBAL const int *order,
    GC_GLOBAL const gc_real *planes,
    GC_GLOBAL const gc_real *cones,
    GC_GLOBAL gc_raster *to)
{
    gc_real least[2] = {GC_R(1.0), GC_R(1.0)};
    int k;
    /* what is everything stays that */
    for (; first < last && (least[0] > GC_R(0.0) || least[1] > GC_R(0.0)); ++first) {
        GC_GLOBAL const gc_real *n = planes + 4 * order[first];
        gc_real off = (n[0] * normal[0] + n[2] * normal[2]) + n[1] * normal[1], root;
        off = GC_MIN(GC_MAX(off, GC_R(0.0)), GC_R(1.0));
        root = GC_SQRT(GC_R(1.0) - off * off);
        for (k = 0; k < 2; ++k) {
            gc_real own = cones[n_faces * k + order[first]], both = off * own - root * GC_SQRT(GC_R(1.0) - own * own);
            least[k] = GC_MIN(least[k], both);
        }
    }
    for (k = 0; k < 2; ++k) to[k] = (gc_raster)GC_MAX(least[k] * GC_CONE_ROUNDED, GC_R(0.0));
}

/* box and normal of a face */
GC_FN void gc_rise_face(
    GC_GLOBAL gc_real *to,
    GC_GLOBAL const gc_real *vertices,
    GC_GLOBAL const int *corners,
    int n,
    GC_GLOBAL const gc_real *plane)
{
    for (int k = 0; k < 3; ++k) {
        gc_real low = vertices[3 * corners[0] + k], high = low;
        for (int c = 1; c < n; ++c) {
            gc_real x = vertices[3 * corners[c] + k];
            low = GC_MIN(low, x);
            high = GC_MAX(high, x);
        }
        to[GC_RISE_low + k] = low;
        to[GC_RISE_high + k] = high;
        to[GC_RISE_normal + k] = plane[k];
    }
}

GC_KERNEL void m02_level(
    int n_nodes,    /* of this level */
    int n_children, /* of the level below */
    int level,
    int first, /* place of this level's first node */
    int n_faces,
    GC_GLOBAL const int *order_in, /* (n_faces,) face of each leaf */
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_vertices_in,
    GC_GLOBAL const gc_real *face_planes_in, /* (n_faces, 4) */
    GC_GLOBAL const gc_real *vertices_in,    /* (vertices, 3) centred */
    GC_GLOBAL const gc_real *cones_in,       /* (2, n_faces) of the faces' double cones and rings, as cosines */
    GC_GLOBAL const int *point0_in,          /* (patches + 1,) where each patch begins in points_in */
    GC_GLOBAL const int *points_in,          /* vertices of all patches */
    GC_GLOBAL const gc_real *children_in,    /* (n_children, GC_RISE_STRIDE); of leaves not read */
    GC_GLOBAL gc_real *rises_out,            /* (n_nodes, GC_RISE_STRIDE) */
    GC_GLOBAL gc_raster *nodes_out)          /* (nodes, GC_NODE_STRIDE) of all levels */
{
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        GC_GLOBAL gc_real *rise = rises_out + GC_RISE_STRIDE * j;
        GC_GLOBAL gc_raster *node = nodes_out + GC_NODE_STRIDE * (first + j);
        gc_real middle[3], normal[3], length;
        gc_limits span;
        if (level == 0) {
            int face = order_in[j], corner = face_start_in[face];
            gc_rise_face(
                rise, vertices_in, face_vertices_in + corner, face_start_in[face + 1] - corner, face_planes_in + 4 * face);
        } else {
            GC_GLOBAL const gc_real *a = children_in + 2 * GC_RISE_STRIDE * j, *b = a + GC_RISE_STRIDE;
            int alone = 2 * j + 1 == n_children;
            for (int k = 0; k < GC_RISE_STRIDE; ++k) {
                if (alone) rise[k] = a[k];
                else if (k < GC_RISE_high) rise[k] = GC_MIN(a[k], b[k]);
                else rise[k] = k < GC_RISE_normal ? GC_MAX(a[k], b[k]) : a[k] + b[k];
            }
        }
        for (int k = 0; k < 3; ++k) {
            middle[k] = GC_R(0.5) * (rise[GC_RISE_low + k] + rise[GC_RISE_high + k]);
            normal[k] = rise[GC_RISE_normal + k];
        }
        length = GC_SQRT((normal[0] * normal[0] + normal[1] * normal[1]) + normal[2] * normal[2]);
        for (int k = 0; k < 3; ++k) normal[k] = length > GC_R(1e-3) ? normal[k] / length : GC_R(0.0);
        if (level < GC_PATCH_LEVEL) {
            int leaf = j << level, last = (j + 1) << level;
            if (last > n_faces) last = n_faces;
            span = gc_limits_from(vertices_in + 3 * face_vertices_in[face_start_in[order_in[leaf]]], normal);
            for (; leaf < last; ++leaf) {
                int face = order_in[leaf];
                for (int c = face_start_in[face]; c < face_start_in[face + 1]; ++c)
                    gc_limits_point(&span, vertices_in + 3 * face_vertices_in[c], middle, normal);
            }
        } else {
            int patch = j << (level - GC_PATCH_LEVEL), last = (j + 1) << (level - GC_PATCH_LEVEL);
            int patches = (n_faces + (1 << GC_PATCH_LEVEL) - 1) >> GC_PATCH_LEVEL;
            if (last > patches) last = patches;
            span = gc_limits_from(vertices_in + 3 * points_in[point0_in[patch]], normal);
            for (int k = point0_in[patch]; k < point0_in[last]; ++k)
                gc_limits_point(&span, vertices_in + 3 * points_in[k], middle, normal);
        }
        for (int k = 0; k < 3; ++k) {
            node[GC_NODE_low + k] = (gc_raster)rise[GC_RISE_low + k];
            node[GC_NODE_high + k] = (gc_raster)rise[GC_RISE_high + k];
            node[GC_NODE_normal + k] = (gc_raster)normal[k];
        }
        node[GC_NODE_least] = (gc_raster)span.low;
        node[GC_NODE_most] = (gc_raster)span.high;
        node[GC_NODE_reach] = (gc_raster)GC_SQRT(span.reach);
        gc_cones_of(
            normal, j << level, GC_MIN((j + 1) << level, n_faces), n_faces, order_in, face_planes_in, cones_in,
            node + GC_NODE_cone);
    }
}
