/* probe_math: the elementary functions of gc_math.h and gc_motion.h, one value each.
 * needs: narrow_phase/candidates/gc_emit.h
 */

GC_KERNEL void probe_real(
    int n,
    GC_GLOBAL const gc_real *a_in, /* (n,) */
    GC_GLOBAL const gc_real *b_in, /* (n,) */
    GC_GLOBAL gc_real *sinc_out,   /* (n,) of a = u */
    GC_GLOBAL gc_real *verc_out,
    GC_GLOBAL gc_real *angle_out) /* (n,) of a = sine, b = cosine */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        sinc_out[i] = gc_sinc(a_in[i]);
        verc_out[i] = gc_verc(a_in[i]);
        angle_out[i] = gc_angle(a_in[i], b_in[i]);
    }
}

GC_KERNEL void probe_raster(
    int n,
    GC_GLOBAL const gc_raster *x_in,     /* (n,) */
    GC_GLOBAL const gc_raster *z_in,     /* (n,) */
    GC_GLOBAL const gc_raster *kappa_in, /* (n,) */
    GC_GLOBAL gc_raster *arc_out,
    GC_GLOBAL gc_raster *rho_out,
    GC_GLOBAL gc_raster *both_out, /* (n, 2) arc and rho by gc_arc_rho */
    GC_GLOBAL gc_raster *turn_out) /* (n, 2) (1, 0) turned by the angle x */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_raster k = kappa_in[i];
        gc_dir d = gc_dir_make(GC_F(1.0), GC_F(0.0), GC_F(0.0));
        gc_raster inv = k > GC_F(0.0) ? GC_F(1.0) / k : GC_F(0.0), arc, rho;
        arc_out[i] = gc_arc(x_in[i], z_in[i], k, inv);
        rho_out[i] = gc_rho(k, x_in[i], z_in[i]);
        arc = gc_arc_rho(x_in[i], z_in[i], k, inv, &rho);
        both_out[2 * i] = arc;
        both_out[2 * i + 1] = rho;
        gc_turn_dir(x_in[i], &d);
        turn_out[2 * i] = d.x;
        turn_out[2 * i + 1] = d.z;
    }
}
