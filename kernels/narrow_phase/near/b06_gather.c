/* b06_gather: the patches listed for each side of each pair, put together into one mesh.
 * needs: narrow_phase/near/gc_near.h
 *
 * in:  the list (b05) in order of side, each patch once, with where it begins in its mesh; tables of all parts
 * out: tables of the joined meshes, laid out like those of parts; their headers come from the host
 * One group per entry of the list; its work-items share the features. Numbers within a patch are raised by what lies before
 * it. What is around a feature on a border may lie in other patches: if one is not listed, no contact can be there, and an
 * entry of the patch itself, or none of use, stands in for it.
 */

/* into what the group shares, by all its work-items */
GC_FN void gc_gather_fill(GC_GLOBAL const int *from, gc_gather *to)
{
    int *field = &to->part, k;
    for (k = GC_FILL_LO; k < GC_GATHER_WIDTH; k += GC_FILL_STEP) field[k] = from[k];
}

/* n entries of a table, raised by `add` */
GC_FN void gc_copy_ints(GC_GLOBAL const int *from, GC_GLOBAL int *to, int n, int add)
{
    int i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) to[i] = from[i] + add;
}

/* the entry of the list in first..end that is `part`, or -1 */
GC_FN int gc_listed(GC_GLOBAL const int *entries, int first, int end, int part)
{
    while (first < end) {
        int middle = (first + end) >> 1, found = entries[GC_GATHER_STRIDE * middle + GC_GATHER_part];
        if (found == part) return middle;
        if (found < part) first = middle + 1;
        else end = middle;
    }
    return -1;
}

/* A CSR table of what is around features, whose entries count in other patches by `away`: value * scale + low bits, value a
 * face or an edge, as the `column` of an entry says what to add; -1 for those that are not listed. A work-item takes an entry: of
 * a row some are in other patches, which takes longer to find. */
GC_FN void gc_gather_around(
    GC_GLOBAL const int *t,
    int start,
    int rows,
    int values,
    int away,
    GC_GLOBAL const int *entries,
    int g,
    int first,
    int end,
    int column,
    int scale,
    GC_GLOBAL int *to)
{
    int k, stop = t[start + rows], part = entries[GC_GATHER_STRIDE * g + GC_GATHER_part];
    for (k = t[start] + GC_LOCAL_ID; k < stop; k += GC_GROUP_SIZE) {
        int d = t[away + k], at = d == 0 ? g : gc_listed(entries, first, end, part + d);
        to[k] = at < 0 ? -1 : t[values + k] + scale * entries[GC_GATHER_STRIDE * at + column];
    }
}

/* The first entry of a row that is listed stands in for those that are not; rows without any keep what they have, and belong to
 * features that cannot meet anything. */
GC_FN void gc_gather_stand_in(GC_GLOBAL const int *t, int start, int rows, GC_GLOBAL int *to)
{
    int r;
    for (r = GC_LOCAL_ID; r < rows; r += GC_GROUP_SIZE) {
        int first = t[start + r], stop = t[start + r + 1], some = -1, missing = 0, k;
        for (k = first; k < stop; ++k) {
            int found = to[k];
            missing += found < 0;
            some = some < 0 ? found : some;
        }
        for (k = first; missing > 0 && k < stop; ++k)
            if (to[k] < 0) to[k] = some;
    }
}

/* Vertices of a patch relative to the near frame's origin, and how far they are from there at most, in whole units. */
GC_FN void gc_gather_vertices(
    GC_GLOBAL const gc_real *vertices,
    GC_GLOBAL const int *source,
    int n,
    gc_vec origin,
    gc_real shrink,
    GC_GLOBAL gc_raster *to,
    int all,
    GC_GLOBAL int *reach_out)
{
    gc_real far = GC_R(0.0);
    int i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        GC_GLOBAL const gc_real *v = vertices + 4 * source[i];
        gc_vec x = gc_make(v[0] - origin.x, v[1] - origin.y, v[2] - origin.z);
        /* in single precision the vertex itself is rounded, however near */
        far = GC_MAX(gc_norm(x) + GC_NEAR_ROUNDED * (GC_ABS(v[0]) + GC_ABS(v[1]) + GC_ABS(v[2])), far);
        to[i] = (gc_raster)x.x;
        to[all + i] = (gc_raster)x.y;
        to[2 * all + i] = (gc_raster)x.z;
    }
    far = far * shrink;
    GC_ATOMIC_MAX(reach_out, far < GC_R(1e9) ? (int)far + 1 : 1000000000);
}

/* three blocks of n numbers into blocks of `all` */
GC_FN void gc_copy_blocks(GC_GLOBAL const gc_raster *from, GC_GLOBAL gc_raster *to, int n, int all)
{
    int i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        to[i] = from[i];
        to[all + i] = from[n + i];
        to[2 * all + i] = from[2 * n + i];
    }
}

GC_FN void gc_gather_topology(
    GC_GLOBAL const int *t,
    const gc_mesh *p,
    const gc_mesh *m,
    const gc_gather *b,
    GC_GLOBAL const int *entries,
    int g,
    int first,
    int end,
    GC_GLOBAL int *out)
{
    /* the closing entry of one patch is the first of the next: only the last patch of a mesh writes it */
    int corners = t[p->face_start + p->nf], closing = g + 1 == end, i;
    gc_copy_ints(t + p->face_start, out + m->face_start + b->faces, p->nf + closing, b->corners);
    gc_copy_ints(t + p->face_vertices, out + m->face_vertices + b->corners, corners, b->vertices);
    gc_copy_ints(t + p->face_edges, out + m->face_edges + b->corners, corners, b->edges);
    gc_copy_ints(t + p->edges, out + m->edges + 2 * b->edges, 2 * p->ne, b->vertices);
    gc_copy_ints(t + p->edge_face_start, out + m->edge_face_start + b->edges, p->ne + closing, b->edge_faces);
    gc_copy_ints(t + p->vertex_edge_start, out + m->vertex_edge_start + b->vertices, p->nv + closing, b->vertex_edges);
    gc_copy_ints(t + p->vertex_face_start, out + m->vertex_face_start + b->vertices, p->nv + closing, b->vertex_faces);
    gc_gather_around(
        t, p->edge_face_start, p->ne, p->edge_faces, p->edge_faces_away, entries, g, first, end, GC_GATHER_faces, 2,
        out + m->edge_faces + b->edge_faces);
    gc_gather_around(
        t, p->vertex_edge_start, p->nv, p->vertex_edges, p->vertex_edges_away, entries, g, first, end, GC_GATHER_edges, 2,
        out + m->vertex_edges + b->vertex_edges);
    gc_gather_around(
        t, p->vertex_face_start, p->nv, p->vertex_faces, p->vertex_faces_away, entries, g, first, end, GC_GATHER_faces, 1,
        out + m->vertex_faces + b->vertex_faces);
    gc_copy_ints(t + p->edge_flags, out + m->edge_flags + b->edges, p->ne, 0);
    gc_copy_ints(t + p->vertex_flags, out + m->vertex_flags + b->vertices, p->nv, 0);
    gc_copy_ints(t + p->source_vertices, out + m->source_vertices + b->vertices, p->nv, 0);
    gc_copy_ints(t + p->source_edges, out + m->source_edges + b->edges, p->ne, 0);
    gc_copy_ints(t + p->source_faces, out + m->source_faces + b->faces, p->nf, 0);
    GC_BARRIER(); /* rows are of several work-items */
    gc_gather_stand_in(t, p->edge_face_start, p->ne, out + m->edge_faces + b->edge_faces);
    gc_gather_stand_in(t, p->vertex_edge_start, p->nv, out + m->vertex_edges + b->vertex_edges);
    gc_gather_stand_in(t, p->vertex_face_start, p->nv, out + m->vertex_faces + b->vertex_faces);
    for (i = GC_LOCAL_ID; i < p->nf; i += GC_GROUP_SIZE)
        out[m->near_faces + b->faces + i] = (int)((gc_uint)b->near >> i & 1u);
}

GC_KERNEL void b06_gather(
    int n_entries,
    GC_GLOBAL const int *entries_in,    /* (n_entries, GC_GATHER_STRIDE) */
    GC_GLOBAL const int *mesh_in,       /* (n_entries,) joined mesh of each entry, below 0: none */
    GC_GLOBAL const int *mesh_start_in, /* (meshes + 1,) first entry of each joined mesh */
    GC_GLOBAL const int *headers_in,    /* (parts, GC_MESH_STRIDE) */
    GC_GLOBAL const int *topology_in,
    GC_GLOBAL const gc_real *vertices_in,  /* (vertices, 4) of whole meshes, centred */
    GC_GLOBAL const gc_raster *normals_in, /* per part x, y, z blocks */
    GC_GLOBAL const gc_raster *inverse_length_in,
    GC_GLOBAL const int *edge0_in,          /* (parts,) */
    GC_GLOBAL const int *joined_headers_in, /* (meshes, GC_MESH_STRIDE) */
    GC_GLOBAL const int *joined_edge0_in,   /* (meshes,) */
    GC_GLOBAL const int *side_in,           /* (meshes,) 2 pair + side of each joined mesh */
    GC_GLOBAL const int *pairs_in,          /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,          /* (bodies,) */
    GC_GLOBAL const gc_real *screw_in,      /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL int *topology_out,
    GC_GLOBAL int *reach_out,          /* (meshes,) zero before; see gc_gather_vertices */
    GC_GLOBAL gc_raster *vertices_out, /* per joined mesh x, y, z blocks from the near frame's origin, user units */
    GC_GLOBAL gc_raster *normals_out,
    GC_GLOBAL gc_raster *inverse_length_out)
{
    int g = GC_GROUP_LO(n_entries);
    if (g < GC_GROUP_HI(n_entries)) do {
            int mesh = mesh_in[g];
            GC_SHARED gc_screw k, n;
            GC_SHARED gc_vec origin;
            GC_SHARED gc_gather b;
            GC_SHARED gc_mesh p, m;
            if (mesh >= 0) {
                int side = side_in[mesh], part = entries_in[GC_GATHER_STRIDE * g + GC_GATHER_part], whole, i;
                gc_gather_fill(entries_in + GC_GATHER_STRIDE * g, &b);
                gc_mesh_fill(headers_in + GC_MESH_STRIDE * part, &p);
                gc_mesh_fill(joined_headers_in + GC_MESH_STRIDE * mesh, &m);
                gc_screw_fill(screw_in + GC_SCREW_STRIDE * (side >> 1), &k);
                GC_BARRIER();
                if (GC_FILLS) {
                    gc_screw_near(&k, &n);
                    origin = side & 1 ? gc_near_origin(&n, n.rb, n.tb) : gc_near_origin(&n, n.ra, n.ta);
                }
                gc_gather_topology(
                    topology_in, &p, &m, &b, entries_in, g, mesh_start_in[mesh], mesh_start_in[mesh + 1], topology_out);
                GC_BARRIER();
                whole = headers_in[GC_MESH_STRIDE * shape_in[pairs_in[side]] + GC_MESH_vertex0];
                gc_gather_vertices(
                    vertices_in + 4 * whole, topology_in + p.source_vertices, p.nv, origin, n.shrink,
                    vertices_out + 3 * m.vertex0 + b.vertices, m.nv, reach_out + mesh);
                gc_copy_blocks(normals_in + 3 * p.face0, normals_out + 3 * m.face0 + b.faces, p.nf, m.nf);
                for (i = GC_LOCAL_ID; i < p.ne; i += GC_GROUP_SIZE)
                    inverse_length_out[joined_edge0_in[mesh] + b.edges + i] = inverse_length_in[edge0_in[part] + i];
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_entries);
        } while (g < GC_GROUP_HI(n_entries));
}
