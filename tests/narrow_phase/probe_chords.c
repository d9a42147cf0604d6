/* probe_chords: chords of single edges, as those of long lists have them.
 * needs: narrow_phase/screen/screen.c
 */
GC_KERNEL void probe_chords(
    int n,
    GC_GLOBAL const gc_real *screw_in,  /* (1, GC_SCREW_STRIDE) */
    GC_GLOBAL const gc_raster *ends_in, /* (n, 6) screw frame */
    GC_GLOBAL const int *topology_in,   /* (2,) 0 1: the edge's vertices */
    GC_GLOBAL int *id,                  /* (n, 3) 0: edge number and copy; 1: how many */
    GC_GLOBAL gc_raster *box,           /* (n, GC_LIST_STRIDE) with the part in its place */
    GC_GLOBAL gc_raster *placed,        /* (n, 2, 4) */
    GC_GLOBAL gc_raster *rho,           /* (n, 2) */
    GC_GLOBAL gc_raster *chord_out)     /* (n, GC_CHORD_STRIDE) */
{
    gc_search q;
    gc_screw k;
    gc_screw_load(screw_in, &k);
    q.view = gc_view_make(&k, GC_R(-1.0));
    q.topology = topology_in;
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_body b;
        gc_mesh m;
        gc_list l;
        int v;
        b.placed = placed + 8 * i;
        b.placed_room = 2;
        b.rho = rho + 2 * i;
        m.edges = 0;
        l.box = box + GC_LIST_STRIDE * i;
        l.room = 1;
        l.id = id + 3 * i;
        l.copy = l.id + 1;
        l.count = l.id + 2;
        for (v = 0; v < 2; ++v) {
            GC_GLOBAL const gc_raster *x = ends_in + 6 * i + 3 * v;
            gc_raster r, arc = gc_arc_rho(x[0], x[2], q.view.kappa, q.view.inv_kappa, &r);
            gc_four_put(&GC_OF_VERTEX(&b, x, v), 2, x[0], x[1], x[2], arc);
            b.rho[v] = r;
        }
        gc_chords_make(&q, &b, &m, &l, chord_out + GC_CHORD_STRIDE * i);
    }
}
