/* probe_twofold: the arithmetic of gc_twofold.h, one result each.
 * needs: pluecker/gc_pluecker.h
 */

GC_FN void probe_put(GC_GLOBAL gc_real *out, gc_two a)
{
    out[0] = a.hi;
    out[1] = a.lo;
}

GC_KERNEL void probe_twofold(
    int n,
    GC_GLOBAL const gc_real *a_in, /* (n, 2) hi and lo */
    GC_GLOBAL const gc_real *b_in,
    GC_GLOBAL gc_real *exact_out,  /* (n, 2, 2) sum and product of the first parts */
    GC_GLOBAL gc_real *result_out) /* (n, 5, 2) sum, difference, product, root of a squared, ratio (its second part 0) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_two a = gc_two_tidy(a_in[2 * i], a_in[2 * i + 1]), b = gc_two_tidy(b_in[2 * i], b_in[2 * i + 1]);
        GC_GLOBAL gc_real *out = result_out + 10 * i;
        probe_put(exact_out + 4 * i, gc_two_sum(a_in[2 * i], b_in[2 * i]));
        probe_put(exact_out + 4 * i + 2, gc_two_product(a_in[2 * i], b_in[2 * i]));
        probe_put(out, gc_two_add(a, b));
        probe_put(out + 2, gc_two_sub(a, b));
        probe_put(out + 4, gc_two_mul(a, b));
        probe_put(out + 6, gc_two_root(gc_two_mul(a, a)));
        probe_put(out + 8, gc_two_of(gc_two_ratio(a, b)));
    }
}

GC_KERNEL void probe_vectors(
    int n,
    GC_GLOBAL const gc_real *a_in, /* (n, 3) */
    GC_GLOBAL const gc_real *b_in,
    GC_GLOBAL const gc_real *c_in,
    GC_GLOBAL gc_real *side_out,   /* (n, 2) (b - a) . ((b - a) x c + a x c) */
    GC_GLOBAL gc_real *unit_out,   /* (n, 3, 2) c, which is nearly a unit vector, made one */
    GC_GLOBAL gc_real *normal_out) /* (n, 3) of the triangle a, b, c */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_vec a = gc_load_vec(a_in, i), b = gc_load_vec(b_in, i), c = gc_load_vec(c_in, i);
        gc_two_vec r = gc_two_from_to(a, b), s = gc_two_vec_of(c), u = gc_two_unit(c);
        gc_two_vec t = gc_two_vec_sum(gc_two_cross(r, s), gc_two_cross(gc_two_vec_of(a), s));
        probe_put(side_out + 2 * i, gc_two_dot(r, t));
        probe_put(unit_out + 6 * i, u.x);
        probe_put(unit_out + 6 * i + 2, u.y);
        probe_put(unit_out + 6 * i + 4, u.z);
        gc_store_vec(normal_out, i, gc_normal_of(a, b, c));
    }
}
