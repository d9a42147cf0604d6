/* g03_select: the numbers of a list that have a flag, in their order, without the host reading how many there are.
 * needs: common/gc_platform.h
 *
 * in:  numbers, a flag for each, sums of the flags before each
 * out: out (n,) the numbers with a flag, and -1 after them; n_out how many there are
 * One work-item per number. Later launches work on all n, and skip what is below 0.
 */

GC_KERNEL void g03_select(
    int n,
    GC_GLOBAL const int *numbers_in,    /* (n,) */
    GC_GLOBAL const gc_uchar *flags_in, /* (n,) 0 or 1 */
    GC_GLOBAL const gc_long *starts_in, /* (n + 1,) */
    GC_GLOBAL int *out,                 /* (n,) */
    GC_GLOBAL int *n_out)               /* (1,) */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        if (flags_in[i]) out[starts_in[i]] = numbers_in[i];
        if (i >= starts_in[n]) out[i] = -1;
        if (i == 0) n_out[0] = (int)starts_in[n];
    }
}
