/* probe_facets: single triangles as they lie on the screen, and whether a point of theirs is on them there.
 * needs: narrow_phase/screen/screen.c
 */
GC_KERNEL void probe_facets(
    int n,
    GC_GLOBAL const gc_real *screw_in,     /* (1, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *corners_in, /* (n, 12) three corners and a point, screen frame */
    GC_GLOBAL const int *topology_in,      /* (5,) where the face begins and ends, its corners */
    GC_GLOBAL int *id,                     /* (n, 3) 0: face number and copy; 1: how many */
    GC_GLOBAL gc_raster *box,              /* (n, GC_LIST_STRIDE) */
    GC_GLOBAL gc_raster *placed,           /* (n, 4, 4) */
    GC_GLOBAL gc_raster *rho,              /* (n, 4) */
    GC_GLOBAL gc_raster *found_out)        /* (n, 4) has a facet, meets it, from where, to where */
{
    gc_search q;
    gc_screw k;
    gc_screw_load(screw_in, &k);
    q.view = gc_view_make(&k, GC_R(-1.0));
    q.topology = topology_in;
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL gc_raster *out = found_out + 4 * i;
        gc_raster kappa = q.view.kappa, least = GC_CULL_FAR;
        gc_facet f;
        gc_body b;
        gc_mesh m;
        gc_list l;
        int v;
        b.placed = placed + 16 * i;
        b.placed_room = 4;
        b.rho = rho + 4 * i;
        m.face_start = 0;
        m.face_vertices = 2;
        l.box = box + GC_LIST_STRIDE * i;
        l.room = 1;
        l.id = id + 3 * i;
        l.copy = l.id + 1;
        l.count = l.id + 2;
        for (v = 0; v < 4; ++v) {
            GC_GLOBAL const gc_raster *x = corners_in + 12 * i + 3 * v;
            gc_raster r, arc = gc_arc_rho(x[0], x[2], kappa, q.view.inv_kappa, &r);
            gc_four_put(&GC_OF_VERTEX(&b, x, v), 4, x[0], x[1], x[2], arc);
            b.rho[v] = r;
        }
        for (v = 0; v < 3; ++v) {
            gc_four x = gc_vertex_of(&b, v), y = gc_vertex_of(&b, v < 2 ? v + 1 : 0);
            least = GC_MIN(gc_least_rho(kappa, x.a, x.c, y.a, y.c), least);
        }
        GC_OF_ENTRY(&l, r0, 0) = least - q.view.pad;
        out[0] = (gc_raster)gc_facet_make(&q, &b, &m, &l, 0, &f);
        if (out[0] != GC_F(0.0)) {
            gc_four p = gc_vertex_of(&b, 3);
            gc_raster psi = GC_OF_VERTEX(&b, psi, 2), first = -GC_CULL_FAR, last = GC_CULL_FAR;
            psi += gc_short_way(p.d - psi, q.view.period);
            out[1] = (gc_raster)gc_facet_meets(
                &f, b.rho[3], q.view.wn * p.b - q.view.gn * psi, GC_F(0.0), GC_F(0.0), &first, &last);
            out[2] = (q.view.gn * p.b + q.view.wn * psi) - first;
            out[3] = last - (q.view.gn * p.b + q.view.wn * psi);
        }
    }
}
