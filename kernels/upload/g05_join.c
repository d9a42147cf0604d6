/* g05_join: which patches are joined to which mesh, without the host reading the list of near patches.
 * needs: common/gc_types.h common/gc_constants.h
 *
 * in:  the list of b05, in any order, and sizes of all parts
 * out: what b06 and the screen read: entries in order of side and patch, each once; headers of the joined meshes; items
 * Between b05 and b06, one launch after the other: g05_near (one work-item per remaining pair) decides which pairs use near
 * faces, and which of the others are of small meshes; g05_count and g05_place (one per row of the list) bring the rows of a
 * side together, g05_order (one per place) sorts them by patch; g05_measure (one per pair) adds up the sizes of the patches
 * of each side, g05_headers (one per pair) lays out the meshes. Where the host reads the list it sorts it itself
 * (gpu_collide/pipeline/narrow_phase/near_faces.py); nothing depends on the order of the list. A pair for which there is no
 * room, or of which the list has one side only, is left out: the host finds the counts too large, and runs everything again.
 */
#define G05_MOST 2147483647

/* does mesh a make a pair with b look at near faces? As near_pairs in gpu_collide/pipeline/narrow_phase/plan.py */
GC_FN int g05_looks_near(int a, int b)
{
    return (a & GC_LOOK_NEAR) || ((a & GC_LOOK_WIDE) && a / GC_LOOK_STEP >= b / GC_LOOK_STEP + GC_AUTO_NEAR_WIDER);
}

/* which numbers of a list are of pairs with a mesh that makes them look at near faces, and of the others which are of two
 * small meshes, and which are not */
GC_KERNEL void g05_near(
    int n_todo,
    GC_GLOBAL const int *todo_in,       /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *items_in,      /* (n_pairs, GC_ITEM_STRIDE) */
    GC_GLOBAL const gc_uchar *near_in,  /* (meshes,) GC_LOOK_* */
    GC_GLOBAL const gc_uchar *small_in, /* (meshes,) */
    GC_GLOBAL gc_uchar *near_out,       /* (n_todo,) */
    GC_GLOBAL gc_uchar *small_out,      /* (n_todo,) */
    GC_GLOBAL gc_uchar *whole_out)      /* (n_todo,) */
{
    for (int i = GC_ITEM_LO(n_todo); i < GC_ITEM_HI(n_todo); i += GC_ITEM_STEP(n_todo)) {
        int pair = todo_in[i], near = 0, small = 0;
        if (pair >= 0) {
            GC_GLOBAL const int *item = items_in + GC_ITEM_STRIDE * pair;
            int ma = item[GC_ITEM_part_a], mb = item[GC_ITEM_part_b], a = near_in[ma], b = near_in[mb];
            near = g05_looks_near(a, b) || g05_looks_near(b, a);
            small = !near && small_in[ma] && small_in[mb];
        }
        near_out[i] = (gc_uchar)near;
        small_out[i] = (gc_uchar)small;
        whole_out[i] = (gc_uchar)(pair >= 0 && !near && !small);
    }
}

GC_KERNEL void g05_count(
    int n_listed,
    GC_GLOBAL const int *list_in, /* (n_listed, GC_LISTED_STRIDE), a side below 0: none */
    GC_GLOBAL int *count_out)     /* (2 n_pairs,) rows of each side, zero before */
{
    for (int i = GC_ITEM_LO(n_listed); i < GC_ITEM_HI(n_listed); i += GC_ITEM_STEP(n_listed)) {
        int side = list_in[GC_LISTED_STRIDE * i + GC_LISTED_side];
        if (side >= 0) GC_ATOMIC_ADD(count_out + side, 1);
    }
}

GC_KERNEL void g05_place(
    int n_listed,
    GC_GLOBAL const int *list_in,
    GC_GLOBAL const gc_long *start_in, /* (2 n_pairs + 1,) sums of the counts */
    GC_GLOBAL int *cursor,             /* (2 n_pairs,) zero before */
    GC_GLOBAL int *order_out)          /* (n_listed,) row of the list at each place, sides together */
{
    for (int i = GC_ITEM_LO(n_listed); i < GC_ITEM_HI(n_listed); i += GC_ITEM_STEP(n_listed)) {
        int side = list_in[GC_LISTED_STRIDE * i + GC_LISTED_side];
        if (side >= 0) order_out[start_in[side] + GC_ATOMIC_ADD(cursor + side, 1)] = i;
    }
}

/* each row to its place in order of patch; the first of equal ones gets the faces of all */
GC_KERNEL void g05_order(
    int n_places,
    int n_sides,
    GC_GLOBAL const int *list_in,
    GC_GLOBAL const gc_long *start_in, /* (n_sides + 1,) */
    GC_GLOBAL const int *order_in,     /* (n_places,) */
    GC_GLOBAL int *part_out,           /* (n_places,) */
    GC_GLOBAL int *faces_out,          /* (n_places,) bits */
    GC_GLOBAL int *first_out)          /* (n_places,) 1 for the first of equal ones, 0 behind the list too */
{
    for (int q = GC_ITEM_LO(n_places); q < GC_ITEM_HI(n_places); q += GC_ITEM_STEP(n_places)) {
        if (q >= start_in[n_sides]) {
            first_out[q] = 0;
        } else {
            GC_GLOBAL const int *row = list_in + GC_LISTED_STRIDE * order_in[q];
            int part = row[GC_LISTED_patch], faces = 0, before = 0, equal = 0, at = (int)start_in[row[GC_LISTED_side]], k;
            int end = (int)start_in[row[GC_LISTED_side] + 1];
            for (k = at; k < end; ++k) {
                GC_GLOBAL const int *other = list_in + GC_LISTED_STRIDE * order_in[k];
                if (other[GC_LISTED_patch] == part) {
                    faces |= other[GC_LISTED_faces];
                    equal += k < q;
                } else before += other[GC_LISTED_patch] < part;
            }
            at += before + equal;
            part_out[at] = part;
            faces_out[at] = faces;
            first_out[at] = equal == 0;
        }
    }
}

/* one side of a pair: its entries, and what they have in all */
GC_FN void g05_side(
    int first,
    int end,
    GC_GLOBAL const int *sizes_in,
    GC_GLOBAL const gc_long *unique_in,
    GC_GLOBAL const int *part_in,
    GC_GLOBAL const int *faces_in,
    GC_GLOBAL int *entries_out,
    gc_long *sum)
{
    int q, k;
    for (k = 0; k < GC_TALLY_STRIDE; ++k) sum[k] = 0;
    for (q = first; q < end; ++q) {
        GC_GLOBAL int *entry = entries_out + GC_GATHER_STRIDE * unique_in[q];
        if (unique_in[q + 1] == unique_in[q]) continue;
        entry[GC_GATHER_part] = part_in[q];
        entry[GC_GATHER_near] = faces_in[q];
        for (k = 0; k < GC_TALLY_STRIDE; ++k) {
            entry[GC_GATHER_vertices + k] = (int)GC_MIN(sum[k], G05_MOST);
            sum[k] += sizes_in[GC_TALLY_STRIDE * part_in[q] + k];
        }
    }
}

GC_FN int g05_clamped(gc_long n) { return (int)GC_MIN(n, G05_MOST); }

/* what the index tables of a joined mesh take, in the order of g05_header */
GC_FN gc_long g05_topology(const gc_long *sum)
{
    gc_long around = sum[GC_TALLY_edge_faces] + sum[GC_TALLY_vertex_edges] + sum[GC_TALLY_vertex_faces];
    return 2 * sum[GC_TALLY_corners] + around + 4 + 4 * sum[GC_TALLY_vertices] + 5 * sum[GC_TALLY_edges]
           + 3 * sum[GC_TALLY_faces];
}

GC_KERNEL void g05_measure(
    int n_pairs,
    GC_GLOBAL const int *part_sizes_in, /* (parts, GC_TALLY_STRIDE) */
    GC_GLOBAL const gc_long *start_in,  /* (2 n_pairs + 1,) places of each side */
    GC_GLOBAL const gc_long *unique_in, /* (places + 1,) entries before each place */
    GC_GLOBAL const int *part_in,       /* (places,) */
    GC_GLOBAL const int *faces_in,      /* (places,) */
    GC_GLOBAL int *entries_out,         /* (places, GC_GATHER_STRIDE) */
    GC_GLOBAL int *sums_out) /* (9 n_pairs,) is the pair an item; vertices, edges, faces, index entries of both sides */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int a = (int)start_in[2 * i], b = (int)start_in[2 * i + 1], end = (int)start_in[2 * i + 2], side, k;
        int whole = a < b && b < end;
        gc_long sum[GC_TALLY_STRIDE];
        sums_out[i] = whole;
        for (side = 2 * i; side < 2 * i + 2; ++side) {
            g05_side(
                side == 2 * i ? a : b, side == 2 * i ? b : end, part_sizes_in, unique_in, part_in, faces_in, entries_out,
                sum);
            for (k = 0; k < 3; ++k) sums_out[n_pairs + 2 * n_pairs * k + side] = whole ? g05_clamped(sum[k]) : 0;
            sums_out[7 * n_pairs + side] = whole ? g05_clamped(g05_topology(sum)) : 0;
        }
    }
}

/* n entries of an index table from `at` on; where the next one begins */
GC_FN int g05_take(GC_GLOBAL int *column, int at, int n)
{
    *column = at;
    return at + n;
}

GC_FN void g05_header(const int *sum, int vertex0, int face0, int at, GC_GLOBAL const int *part, GC_GLOBAL int *h)
{
    int nv = sum[GC_TALLY_vertices], ne = sum[GC_TALLY_edges], nf = sum[GC_TALLY_faces], k;
    for (k = 0; k < GC_MESH_STRIDE; ++k) h[k] = -1;
    h[GC_MESH_nv] = nv;
    h[GC_MESH_ne] = ne;
    h[GC_MESH_nf] = nf;
    h[GC_MESH_vertex0] = vertex0;
    h[GC_MESH_face0] = face0;
    at = g05_take(h + GC_MESH_face_start, at, nf + 1);
    at = g05_take(h + GC_MESH_face_vertices, at, sum[GC_TALLY_corners]);
    at = g05_take(h + GC_MESH_face_edges, at, sum[GC_TALLY_corners]);
    at = g05_take(h + GC_MESH_edges, at, 2 * ne);
    at = g05_take(h + GC_MESH_edge_face_start, at, ne + 1);
    at = g05_take(h + GC_MESH_edge_faces, at, sum[GC_TALLY_edge_faces]);
    at = g05_take(h + GC_MESH_vertex_edge_start, at, nv + 1);
    at = g05_take(h + GC_MESH_vertex_edges, at, sum[GC_TALLY_vertex_edges]);
    at = g05_take(h + GC_MESH_vertex_face_start, at, nv + 1);
    at = g05_take(h + GC_MESH_vertex_faces, at, sum[GC_TALLY_vertex_faces]);
    at = g05_take(h + GC_MESH_edge_flags, at, ne);
    at = g05_take(h + GC_MESH_vertex_flags, at, nv);
    at = g05_take(h + GC_MESH_source_vertices, at, nv);
    at = g05_take(h + GC_MESH_source_edges, at, ne);
    at = g05_take(h + GC_MESH_source_faces, at, nf);
    g05_take(h + GC_MESH_near_faces, at, nf);
    h[GC_MESH_two_sided] = part[GC_MESH_two_sided];
    h[GC_MESH_closed] = part[GC_MESH_closed];
}

/* what a side's patches have in all: its last entry, and that entry's patch */
GC_FN void g05_total(GC_GLOBAL const int *last, GC_GLOBAL const int *sizes, int *sum)
{
    int k;
    for (k = 0; k < GC_TALLY_STRIDE; ++k)
        sum[k] = last[GC_GATHER_vertices + k] + sizes[GC_TALLY_STRIDE * last[GC_GATHER_part] + k];
}

GC_KERNEL void g05_headers(
    int n_pairs,
    int most_vertices, /* for how many there is room in all joined meshes */
    int most_edges,
    int most_faces,
    int most_topology,
    GC_GLOBAL const int *part_sizes_in,
    GC_GLOBAL const int *headers_in, /* (parts, GC_MESH_STRIDE) */
    GC_GLOBAL const gc_long *start_in,
    GC_GLOBAL const gc_long *unique_in,
    GC_GLOBAL const int *entries_in,
    GC_GLOBAL const gc_long *sums_in, /* (9 n_pairs + 1,) sums of sums_out of g05_measure */
    GC_GLOBAL int *headers_out,       /* (2 n_pairs, GC_MESH_STRIDE), as many as there are joined meshes; so the others */
    GC_GLOBAL int *edge0_out,         /* (2 n_pairs,) */
    GC_GLOBAL int *side_out,          /* (2 n_pairs,) */
    GC_GLOBAL int *mesh_start_out,    /* (2 n_pairs + 1,) first entry of each */
    GC_GLOBAL int *mesh_out,          /* (places,) joined mesh of each entry, -1 before: none */
    GC_GLOBAL int *items_out,         /* (n_pairs, GC_ITEM_STRIDE) */
    GC_GLOBAL int *todo_out)          /* (n_pairs,) numbers of the items, -1 before */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        GC_GLOBAL const gc_long *vertices = sums_in + n_pairs, *edges = sums_in + 3 * n_pairs,
                                *faces = sums_in + 5 * n_pairs;
        GC_GLOBAL const gc_long *topology = sums_in + 7 * n_pairs;
        int item = (int)sums_in[i], last = 2 * i + 2, side, u;
        if (i == 0) mesh_start_out[2 * sums_in[n_pairs]] = (int)unique_in[start_in[2 * n_pairs]];
        if (sums_in[i + 1] == sums_in[i]) continue;
        for (side = 2 * i; side < last; ++side) mesh_start_out[2 * item + side - 2 * i] = (int)unique_in[start_in[side]];
        if (vertices[last] - *vertices > most_vertices || edges[last] - *edges > most_edges
            || faces[last] - *faces > most_faces || topology[last] - *topology > most_topology)
            continue;
        items_out[GC_ITEM_STRIDE * item + GC_ITEM_pair] = i;
        items_out[GC_ITEM_STRIDE * item + GC_ITEM_part_a] = 2 * item;
        items_out[GC_ITEM_STRIDE * item + GC_ITEM_part_b] = 2 * item + 1;
        todo_out[item] = item;
        for (side = 2 * i; side < last; ++side) {
            int mesh = 2 * item + side - 2 * i, sum[GC_TALLY_STRIDE];
            int first = (int)unique_in[start_in[side]], end = (int)unique_in[start_in[side + 1]];
            GC_GLOBAL const int *entry = entries_in + GC_GATHER_STRIDE * first;
            g05_total(entries_in + GC_GATHER_STRIDE * (end - 1), part_sizes_in, sum);
            g05_header(
                sum, (int)(vertices[side] - *vertices), (int)(faces[side] - *faces), (int)(topology[side] - *topology),
                headers_in + GC_MESH_STRIDE * entry[GC_GATHER_part], headers_out + GC_MESH_STRIDE * mesh);
            edge0_out[mesh] = (int)(edges[side] - *edges);
            side_out[mesh] = side;
            for (u = first; u < end; ++u) mesh_out[u] = mesh;
        }
    }
}
