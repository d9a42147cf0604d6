/* m01_patches: a mesh divided into patches, which are runs of faces in the order of its tree.
 * needs: mesh/gc_prepare.h
 *
 * in:  index tables of the mesh, the order of its faces
 * out: tables of the patches, laid out like those of meshes (gc_types.h), with what leads from them to the mesh and to other
 *      patches
 * m01_owners, one work-item per edge or vertex: the first patch that has a face there. m01_count, one work-item per patch:
 * its vertices and edges, each once in rising order, and the sizes of its tables. The host sums these; m01_fill, one
 * work-item per patch, writes the tables. Integers alone: the same as those of gpu_collide/geometry/preparation/patches.py.
 * Degenerate: a vertex without faces has no owner and is in no patch. Sorting has no bad worst case: a face may have any
 * number of corners.
 */

/* so many numbers are sorted by counting what is less than each: n^2 comparisons, but without a branch and in vectors */
#define GC_FEW_NUMBERS 128

/* 5/11 of a gap, and 1 at the end, then 0; without a product that an int might not hold */
GC_FN int gc_next_gap(int gap) { return gap < 3 ? gap - 1 : gap / 11 * 5 + gap % 11 * 5 / 11; }

/* Rising order, by Shell's method with the gaps of Gonnet and Baeza-Yates. */
GC_FN void gc_sort_ints(GC_GLOBAL int *x, int n)
{
    for (int gap = gc_next_gap(n); gap > 0; gap = gc_next_gap(gap)) {
        for (int i = gap; i < n; ++i) {
            int value = x[i], k = i;
            for (; k >= gap && x[k - gap] > value; k -= gap) x[k] = x[k - gap];
            x[k] = value;
        }
    }
}

/* Rising order, each number once, of at most GC_FEW_NUMBERS numbers from 0 up; how many are left. */
GC_FN int gc_few_unique(GC_GLOBAL int *x, int n)
{
    int given[GC_FEW_NUMBERS], less[GC_FEW_NUMBERS], placed[GC_FEW_NUMBERS], left = 0;
    for (int i = 0; i < n; ++i) {
        given[i] = x[i];
        less[i] = 0;
        placed[i] = -1;
    }
    for (int j = 0; j < n; ++j) {
        int value = given[j];
        for (int i = 0; i < n; ++i) less[i] += value < given[i];
    }
    for (int i = 0; i < n; ++i) placed[less[i]] = given[i]; /* equal ones in one place */
    for (int i = 0; i < n; ++i) {
        x[left] = placed[i];
        left += placed[i] >= 0;
    }
    return left;
}

/* Rising order, each number once; how many are left. */
GC_FN int gc_sort_unique(GC_GLOBAL int *x, int n)
{
    int left = 0;
    if (n <= GC_FEW_NUMBERS) return gc_few_unique(x, n);
    gc_sort_ints(x, n);
    for (int i = 0; i < n; ++i)
        if (i == 0 || x[i] != x[i - 1]) x[left++] = x[i];
    return left;
}

/* Place of a value among n rising numbers, or -1. Without a branch on what is compared: nobody could foresee it. */
GC_FN int gc_place_of(GC_GLOBAL const int *x, int n, int value)
{
    int low = 0;
    while (n > 1) {
        int middle = n >> 1;
        low += (x[low + middle - 1] < value) * middle;
        n -= middle;
    }
    return n > 0 && x[low] == value ? low : -1;
}

/* Place of an item among the n of a patch, which begin at `first` in the list of all patches; -1 where it is not. `home` is the
 * item's place in that list where its owner has it: most are asked for by their owner, and need not be searched for. */
GC_FN int gc_place_in(GC_GLOBAL const int *list, int first, int n, GC_GLOBAL const int *home, int item)
{
    int place = home[item] - first;
    return place >= 0 && place < n ? place : gc_place_of(list + first, n, item);
}

GC_KERNEL void m01_owners(
    int n,
    int size,                        /* faces of a patch */
    int shift,                       /* an entry is a face << shift */
    GC_GLOBAL const int *start_in,   /* (n + 1,) */
    GC_GLOBAL const int *entries_in, /* around each edge or vertex */
    GC_GLOBAL const int *place_in,   /* (faces,) of each in the order */
    GC_GLOBAL int *owner_out)        /* (n,) patch, or -1 */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        int first = -1;
        for (int k = start_in[i]; k < start_in[i + 1]; ++k) {
            int place = place_in[entries_in[k] >> shift];
            if (first < 0 || place < first) first = place;
        }
        owner_out[i] = first < 0 ? -1 : first / size;
    }
}

GC_KERNEL void m01_count(
    int n_patches,
    int n_faces,
    int size,
    GC_GLOBAL const int *order_in, /* (n_faces,) */
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_vertices_in,
    GC_GLOBAL const int *face_edges_in,
    GC_GLOBAL const int *edge_face_start_in,
    GC_GLOBAL const int *vertex_edge_start_in,
    GC_GLOBAL const int *vertex_face_start_in,
    GC_GLOBAL const int *edge_owner_in,
    GC_GLOBAL const int *vertex_owner_in,
    GC_GLOBAL const int *corner0_in, /* (n_patches,) corners of the faces before each patch, in the order */
    GC_GLOBAL int *vertices_out,     /* (corners,) from corner0 on those of each patch */
    GC_GLOBAL int *edges_out,        /* (corners,) */
    GC_GLOBAL int *vertex_home_out,  /* (vertices,) place of each in vertices_out, where its owner has it */
    GC_GLOBAL int *edge_home_out,    /* (edges,) */
    GC_GLOBAL int *parts_out)        /* (n_patches, GC_PART_STRIDE) */
{
    for (int p = GC_ITEM_LO(n_patches); p < GC_ITEM_HI(n_patches); p += GC_ITEM_STEP(n_patches)) {
        int first = p * size, last = n_faces - first < size ? n_faces : first + size, n = 0;
        GC_GLOBAL int *vertices = vertices_out + corner0_in[p], *edges = edges_out + corner0_in[p];
        GC_GLOBAL int *part = parts_out + GC_PART_STRIDE * p;
        for (int k = first; k < last; ++k) GC_FETCH(face_start_in + order_in[k]);
        for (int k = first; k < last; ++k) { /* what lies anywhere in memory is asked for ahead, all at once */
            GC_FETCH(face_vertices_in + face_start_in[order_in[k]]);
            GC_FETCH(face_edges_in + face_start_in[order_in[k]]);
        }
        for (int k = first; k < last; ++k) {
            int face = order_in[k];
            for (int c = face_start_in[face]; c < face_start_in[face + 1]; ++c, ++n) {
                vertices[n] = face_vertices_in[c];
                edges[n] = face_edges_in[c];
            }
        }
        for (int k = 0; k < GC_PART_STRIDE; ++k) part[k] = 0;
        part[GC_PART_vertices] = gc_sort_unique(vertices, n);
        part[GC_PART_edges] = gc_sort_unique(edges, n);
        for (int k = 0; k < part[GC_PART_edges]; ++k) {
            GC_FETCH(edge_owner_in + edges[k]);
            GC_FETCH(edge_face_start_in + edges[k]);
            GC_FETCH(edge_home_out + edges[k]);
        }
        for (int k = 0; k < part[GC_PART_edges]; ++k) {
            int e = edges[k];
            if (edge_owner_in[e] != p) continue;
            edge_home_out[e] = corner0_in[p] + k;
            part[GC_PART_edge_faces] += edge_face_start_in[e + 1] - edge_face_start_in[e];
        }
        for (int k = 0; k < part[GC_PART_vertices]; ++k) {
            int v = vertices[k];
            if (vertex_owner_in[v] != p) continue;
            vertex_home_out[v] = corner0_in[p] + k;
            part[GC_PART_vertex_edges] += vertex_edge_start_in[v + 1] - vertex_edge_start_in[v];
            part[GC_PART_vertex_faces] += vertex_face_start_in[v + 1] - vertex_face_start_in[v];
        }
    }
}

GC_KERNEL void m01_fill(
    int n_patches,
    int n_faces,
    int size,
    GC_GLOBAL const int *order_in,
    GC_GLOBAL const int *place_in,
    GC_GLOBAL const int *face_start_in,
    GC_GLOBAL const int *face_vertices_in,
    GC_GLOBAL const int *face_edges_in,
    GC_GLOBAL const int *edges_in, /* (edges, 2) lower vertex, higher */
    GC_GLOBAL const int *edge_face_start_in,
    GC_GLOBAL const int *edge_faces_in,
    GC_GLOBAL const int *vertex_edge_start_in,
    GC_GLOBAL const int *vertex_edges_in,
    GC_GLOBAL const int *vertex_face_start_in,
    GC_GLOBAL const int *vertex_faces_in,
    GC_GLOBAL const int *edge_flags_in,
    GC_GLOBAL const int *vertex_flags_in,
    GC_GLOBAL const int *edge_owner_in,
    GC_GLOBAL const int *vertex_owner_in,
    GC_GLOBAL const int *corner0_in,
    GC_GLOBAL const int *part_vertices_in, /* as m01_count wrote them */
    GC_GLOBAL const int *part_edges_in,
    GC_GLOBAL const int *vertex_home_in,
    GC_GLOBAL const int *edge_home_in,
    GC_GLOBAL const int *parts_in,
    GC_GLOBAL const int *cuts_in, /* (n_patches, GC_CUT_STRIDE) */
    GC_GLOBAL int *tables_out)
{
    for (int p = GC_ITEM_LO(n_patches); p < GC_ITEM_HI(n_patches); p += GC_ITEM_STEP(n_patches)) {
        int first = p * size, nf = n_faces - first < size ? n_faces - first : size, n = 0, m = 0;
        int base = corner0_in[p];
        GC_GLOBAL const int *vertices = part_vertices_in + base, *edges = part_edges_in + base;
        GC_GLOBAL const int *part = parts_in + GC_PART_STRIDE * p, *cut = cuts_in + GC_CUT_STRIDE * p;
        int nv = part[GC_PART_vertices], ne = part[GC_PART_edges];
        for (int k = 0; k < ne; ++k) {
            GC_FETCH(edge_home_in + edges[k]);
            GC_FETCH(edge_flags_in + edges[k]);
            GC_FETCH(edges_in + 2 * edges[k]);
            GC_FETCH(edge_owner_in + edges[k]);
            GC_FETCH(edge_face_start_in + edges[k]);
        }
        for (int k = 0; k < nv; ++k) {
            GC_FETCH(vertex_home_in + vertices[k]);
            GC_FETCH(vertex_flags_in + vertices[k]);
            GC_FETCH(vertex_owner_in + vertices[k]);
            GC_FETCH(vertex_edge_start_in + vertices[k]);
            GC_FETCH(vertex_face_start_in + vertices[k]);
        }
        for (int k = 0; k < nf; ++k) {
            int face = order_in[first + k];
            tables_out[cut[GC_CUT_source_faces] + k] = face;
            tables_out[cut[GC_CUT_face_start] + k] = n;
            for (int c = face_start_in[face]; c < face_start_in[face + 1]; ++c, ++n) {
                tables_out[cut[GC_CUT_face_vertices] + n] = gc_place_in(
                    part_vertices_in, base, nv, vertex_home_in, face_vertices_in[c]);
                tables_out[cut[GC_CUT_face_edges] + n] = gc_place_in(
                    part_edges_in, base, ne, edge_home_in, face_edges_in[c]);
            }
        }
        tables_out[cut[GC_CUT_face_start] + nf] = n;
        n = 0;
        for (int k = 0; k < ne; ++k) GC_FETCH(edge_faces_in + edge_face_start_in[edges[k]]);
        for (int k = 0; k < nv; ++k) {
            GC_FETCH(vertex_edges_in + vertex_edge_start_in[vertices[k]]);
            GC_FETCH(vertex_faces_in + vertex_face_start_in[vertices[k]]);
        }
        for (int k = 0; k < ne; ++k) {
            int e = edges[k];
            tables_out[cut[GC_CUT_source_edges] + k] = e;
            tables_out[cut[GC_CUT_edge_flags] + k] = edge_flags_in[e];
            for (int j = 0; j < 2; ++j)
                tables_out[cut[GC_CUT_edges] + 2 * k + j] = gc_place_in(
                    part_vertices_in, base, nv, vertex_home_in, edges_in[2 * e + j]);
            tables_out[cut[GC_CUT_edge_face_start] + k] = n;
            if (edge_owner_in[e] != p) continue;
            for (int j = edge_face_start_in[e]; j < edge_face_start_in[e + 1]; ++j, ++n) {
                int place = place_in[edge_faces_in[j] >> 1];
                tables_out[cut[GC_CUT_edge_faces] + n] = 2 * (place % size) + (edge_faces_in[j] & 1);
                tables_out[cut[GC_CUT_edge_faces_away] + n] = place / size - p;
            }
        }
        tables_out[cut[GC_CUT_edge_face_start] + ne] = n;
        n = 0;
        for (int k = 0; k < nv; ++k) {
            int v = vertices[k];
            tables_out[cut[GC_CUT_source_vertices] + k] = v;
            tables_out[cut[GC_CUT_vertex_flags] + k] = vertex_flags_in[v];
            tables_out[cut[GC_CUT_vertex_edge_start] + k] = n;
            tables_out[cut[GC_CUT_vertex_face_start] + k] = m;
            if (vertex_owner_in[v] != p) continue;
            for (int j = vertex_edge_start_in[v]; j < vertex_edge_start_in[v + 1]; ++j, ++n) {
                int e = vertex_edges_in[j] >> 1, there = p, place = gc_place_in(part_edges_in, base, ne, edge_home_in, e);
                if (place < 0) { /* an edge of other faces around the vertex: as its owner has it */
                    there = edge_owner_in[e];
                    place = edge_home_in[e] - corner0_in[there];
                }
                tables_out[cut[GC_CUT_vertex_edges] + n] = 2 * place + (vertex_edges_in[j] & 1);
                tables_out[cut[GC_CUT_vertex_edges_away] + n] = there - p;
            }
            for (int j = vertex_face_start_in[v]; j < vertex_face_start_in[v + 1]; ++j, ++m) {
                int place = place_in[vertex_faces_in[j]];
                tables_out[cut[GC_CUT_vertex_faces] + m] = place % size;
                tables_out[cut[GC_CUT_vertex_faces_away] + m] = place / size - p;
            }
        }
        tables_out[cut[GC_CUT_vertex_edge_start] + nv] = n;
        tables_out[cut[GC_CUT_vertex_face_start] + nv] = m;
    }
}
