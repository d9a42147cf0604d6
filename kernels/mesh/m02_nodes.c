/* m02_nodes: nodes of the tree of a mesh's faces, level by level from the faces up.
 * needs: mesh/gc_prepare.h common/gc_constants.h
 *
 * in:  faces in the order of the leaves, vertices centred on the mesh, the patches' vertices (m01), the faces' cones (m03)
 * out: the nodes of a level (GC_NODE): box, slab, reach, cone, ring; user units
 * m02_patches, one work-item per patch: its leaves and all nodes up to its own, which read the same few faces repeatedly.
 * m02_level, one launch for each level above, one work-item per node. Below the patch a node reads the corners of its faces,
 * from the patch on each vertex once per patch. Sums are passed from level to level, so that additions have the order of the
 * tree: the bits of gpu_collide/geometry/preparation/nodes.py.
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

/* A leaf's normal and the cones of its face. */
GC_FN void gc_leaf_of(GC_GLOBAL gc_real *to, GC_GLOBAL const gc_real *plane, gc_real cone, gc_real ring)
{
    for (int k = 0; k < 3; ++k) to[GC_TILT_normal + k] = plane[k];
    to[GC_TILT_cosine] = cone;
    to[GC_TILT_cosine + 1] = ring;
    for (int k = 0; k < 2; ++k) to[GC_TILT_sine + k] = GC_SQRT(GC_R(1.0) - to[GC_TILT_cosine + k] * to[GC_TILT_cosine + k]);
}

/* The double cones about a unit normal, or about none, that hold those of n leaves, of both kinds: cosines of their half angles, or
 * 0 where they are everything. The angle between the axes and a face's own half angle are added as cosines. */
GC_FN void gc_cones_of(const gc_real *normal, GC_GLOBAL const gc_real *leaf, int n, GC_GLOBAL gc_raster *to)
{
    gc_real least[2] = {GC_R(1.0), GC_R(1.0)};
    /* what is everything stays that */
    for (; n > 0 && (least[0] > GC_R(0.0) || least[1] > GC_R(0.0)); --n, leaf += GC_TILT_STRIDE) {
        gc_real off = gc_height_on(leaf + GC_TILT_normal, normal), root;
        off = GC_MIN(GC_MAX(off, GC_R(0.0)), GC_R(1.0));
        root = GC_SQRT(GC_R(1.0) - off * off);
        for (int k = 0; k < 2; ++k) {
            gc_real both = off * leaf[GC_TILT_cosine + k] - root * leaf[GC_TILT_sine + k];
            least[k] = GC_MIN(least[k], both);
        }
    }
    for (int k = 0; k < 2; ++k) to[k] = (gc_raster)GC_MAX(least[k] * GC_CONE_ROUNDED, GC_R(0.0));
}

/* box and normal of a face */
GC_FN void gc_rise_face(
    gc_real *to,
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

/* column k of the rise of two neighbours */
GC_FN gc_real gc_rise_both(int k, gc_real a, gc_real b)
{
    if (k < GC_RISE_high) return GC_MIN(a, b);
    return k < GC_RISE_normal ? GC_MAX(a, b) : a + b;
}

/* middle of the box and unit normal of a node, or 0 where the sum of the faces' normals is nearly nothing */
GC_FN void gc_stance(const gc_real *rise, gc_real *middle, gc_real *normal)
{
    gc_real length;
    for (int k = 0; k < 3; ++k) {
        middle[k] = GC_R(0.5) * (rise[GC_RISE_low + k] + rise[GC_RISE_high + k]);
        normal[k] = rise[GC_RISE_normal + k];
    }
    length = GC_SQRT((normal[0] * normal[0] + normal[1] * normal[1]) + normal[2] * normal[2]);
    for (int k = 0; k < 3; ++k) normal[k] = length > GC_R(1e-3) ? normal[k] / length : GC_R(0.0);
}

/* limits of some vertices */
GC_FN gc_limits gc_limits_of(
    GC_GLOBAL const gc_real *vertices,
    GC_GLOBAL const int *points,
    int n,
    const gc_real *middle,
    const gc_real *normal)
{
    gc_limits span = gc_limits_from(vertices + 3 * points[0], normal);
    for (int k = 0; k < n; ++k) gc_limits_point(&span, vertices + 3 * points[k], middle, normal);
    return span;
}

GC_FN void gc_node_put(GC_GLOBAL gc_raster *node, const gc_real *rise, const gc_real *normal, const gc_limits *span)
{
    for (int k = 0; k < 3; ++k) {
        node[GC_NODE_low + k] = (gc_raster)rise[GC_RISE_low + k];
        node[GC_NODE_high + k] = (gc_raster)rise[GC_RISE_high + k];
        node[GC_NODE_normal + k] = (gc_raster)normal[k];
    }
    node[GC_NODE_least] = (gc_raster)(span->low + GC_R(0.0)); /* which zero was found first shows in no bit */
    node[GC_NODE_most] = (gc_raster)(span->high + GC_R(0.0));
    node[GC_NODE_reach] = (gc_raster)GC_SQRT(span->reach);
}

GC_KERNEL void m02_patches(
    int n_patches,
    int n_faces,
    GC_GLOBAL const int *order_in, /* (n_faces,) face of each leaf */
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_vertices_in,
    GC_GLOBAL const gc_real *face_planes_in, /* (n_faces, 4) */
    GC_GLOBAL const gc_real *vertices_in,    /* (vertices, 3) centred */
    GC_GLOBAL const gc_real *cones_in,       /* (2, n_faces) of the faces' double cones and rings, as cosines */
    GC_GLOBAL const int *point0_in,          /* (n_patches + 1,) where each patch begins in points_in */
    GC_GLOBAL const int *points_in,          /* vertices of all patches */
    GC_GLOBAL gc_real *leaves_out,           /* (n_faces, GC_TILT_STRIDE) */
    GC_GLOBAL gc_real *rises_out,            /* (n_patches, GC_RISE_STRIDE) */
    GC_GLOBAL gc_raster *nodes_out)          /* (nodes, GC_NODE_STRIDE) of all levels, of which it writes the first */
{
    for (int p = GC_ITEM_LO(n_patches); p < GC_ITEM_HI(n_patches); p += GC_ITEM_STEP(n_patches)) {
        gc_real rises[GC_RISE_STRIDE << GC_PATCH_LEVEL]; /* of a level; those of the next take the first places */
        int leaf0 = p << GC_PATCH_LEVEL, n = GC_MIN(n_faces - leaf0, 1 << GC_PATCH_LEVEL);
        int whole = n_faces, first = 0; /* nodes of the level in all the mesh, and before them */
        GC_GLOBAL const int *order = order_in + leaf0;
        GC_GLOBAL gc_real *leaves = leaves_out + GC_TILT_STRIDE * leaf0;
        for (int j = 0; j < n; ++j) { /* what lies anywhere in memory is asked for ahead, all at once */
            int face = order[j];
            GC_FETCH(face_planes_in + 4 * face);
            GC_FETCH(cones_in + face);
            GC_FETCH(cones_in + n_faces + face);
            for (int c = face_start_in[face]; c < face_start_in[face + 1]; ++c)
                GC_FETCH(vertices_in + 3 * face_vertices_in[c]);
        }
        for (int j = 0; j < n; ++j) {
            int face = order[j], corner = face_start_in[face], sides = face_start_in[face + 1] - corner;
            gc_rise_face(
                rises + GC_RISE_STRIDE * j, vertices_in, face_vertices_in + corner, sides, face_planes_in + 4 * face);
            gc_leaf_of(leaves + GC_TILT_STRIDE * j, face_planes_in + 4 * face, cones_in[face], cones_in[n_faces + face]);
        }
        for (int level = 0; level <= GC_PATCH_LEVEL; ++level) {
            int count = (n + (1 << level) - 1) >> level;
            for (int j = 0; j < count; ++j) {
                gc_real *rise = rises + GC_RISE_STRIDE * j, middle[3], normal[3];
                int leaf = j << level, last = GC_MIN((j + 1) << level, n);
                GC_GLOBAL gc_raster *node = nodes_out + GC_NODE_STRIDE * (first + (leaf0 >> level) + j);
                gc_limits span;
                if (level > 0) {
                    const gc_real *a = rises + 2 * GC_RISE_STRIDE * j, *b = a + GC_RISE_STRIDE;
                    int alone = leaf + (1 << (level - 1)) >= n;
                    for (int k = 0; k < GC_RISE_STRIDE; ++k) rise[k] = alone ? a[k] : gc_rise_both(k, a[k], b[k]);
                }
                gc_stance(rise, middle, normal);
                if (level == GC_PATCH_LEVEL)
                    span = gc_limits_of(
                        vertices_in, points_in + point0_in[p], point0_in[p + 1] - point0_in[p], middle, normal);
                else {
                    span = gc_limits_from(vertices_in + 3 * face_vertices_in[face_start_in[order[leaf]]], normal);
                    for (int k = leaf; k < last; ++k) {
                        int face = order[k];
                        for (int c = face_start_in[face]; c < face_start_in[face + 1]; ++c)
                            gc_limits_point(&span, vertices_in + 3 * face_vertices_in[c], middle, normal);
                    }
                }
                gc_node_put(node, rise, normal, &span);
                gc_cones_of(normal, leaves + GC_TILT_STRIDE * leaf, last - leaf, node + GC_NODE_cone);
            }
            if (whole == 1) break; /* the root of a tree of few leaves */
            first += whole;
            whole = (whole + 1) >> 1;
        }
        for (int k = 0; k < GC_RISE_STRIDE; ++k) rises_out[GC_RISE_STRIDE * p + k] = rises[k];
    }
}

GC_KERNEL void m02_level(
    int n_nodes, /* of this level */
    int level,   /* above that of the patches */
    int first,   /* place of this level's first node */
    int n_patches,
    int n_faces,
    GC_GLOBAL const gc_real *vertices_in, /* as m02_patches has them */
    GC_GLOBAL const int *point0_in,
    GC_GLOBAL const int *points_in,
    GC_GLOBAL const gc_real *leaves_in,
    GC_GLOBAL gc_real *rises_out,   /* of the level below; a node's own takes the place of the first under it */
    GC_GLOBAL gc_raster *nodes_out) /* (nodes, GC_NODE_STRIDE) of all levels */
{
    for (int j = GC_ITEM_LO(n_nodes); j < GC_ITEM_HI(n_nodes); j += GC_ITEM_STEP(n_nodes)) {
        int up = level - GC_PATCH_LEVEL, patch = j << up, second = patch + (1 << (up - 1));
        int begin = point0_in[patch], end = point0_in[GC_MIN(patch + (1 << up), n_patches)];
        GC_GLOBAL gc_real *kept = rises_out + GC_RISE_STRIDE * patch;
        GC_GLOBAL gc_raster *node = nodes_out + GC_NODE_STRIDE * (first + j);
        gc_real rise[GC_RISE_STRIDE], middle[3], normal[3];
        gc_limits span;
        for (int k = 0; k < GC_RISE_STRIDE; ++k) {
            rise[k] = kept[k];
            if (second < n_patches) rise[k] = gc_rise_both(k, rise[k], rises_out[GC_RISE_STRIDE * second + k]);
            kept[k] = rise[k];
        }
        gc_stance(rise, middle, normal);
        span = gc_limits_of(vertices_in, points_in + begin, end - begin, middle, normal);
        gc_node_put(node, rise, normal, &span);
        gc_cones_of(
            normal, leaves_in + GC_TILT_STRIDE * (j << level), GC_MIN((j + 1) << level, n_faces) - (j << level),
            node + GC_NODE_cone);
    }
}
