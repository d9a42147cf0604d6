/* every_macro.c: uses every macro of gc_platform.h. The parts check each other and NumPy checks the whole. */

GC_CONSTANT gc_real gc_test_table[4] = {GC_R(0.5), GC_R(-1.25), GC_R(2.0), GC_R(1e-3)};

GC_RARE gc_real gc_test_blend_rare(gc_real a, gc_real b) { return GC_MIN(a, b); }
GC_LARGE gc_real gc_test_blend(gc_real a, gc_real b)
{
    return GC_ABS(a) * GC_R(0.75) + GC_SQRT(GC_MAX(a, b)) + GC_R(0.0) * gc_test_blend_rare(a, b);
}

GC_FN gc_real gc_test_product(gc_real a, gc_real b) { return a * b; }

GC_INLINE gc_real gc_test_scale(gc_real a, gc_real b) { return gc_test_product(a, b); }

/* a record that is read where it lies, or copied */
typedef struct {
    gc_real value;
} gc_test_one;

typedef struct {
    GC_SEEN(gc_test_one, one);
    GC_OF_BODIES(gc_real none;) /* GC_BODY_MOTION and GC_AT_DISTANCE are 0 here */
    GC_OF_DISTANCE(gc_real apart;)
} gc_test_seen;

GC_FN void gc_test_load(GC_GLOBAL const gc_real *from, gc_test_one *to) { to->value = *from; }

/* One work-item per i: reals_out[i], rasters_out[i], bytes_out[i], longs_out[i]. */
GC_KERNEL void t01_items(
    int n,
    gc_long offset,
    gc_real factor,
    gc_raster shift,
    gc_uchar byte,
    GC_GLOBAL const gc_real *GC_RESTRICT x_in,    /* (n,) */
    GC_GLOBAL gc_real *GC_RESTRICT reals_out,     /* (n,) */
    GC_GLOBAL gc_raster *GC_RESTRICT rasters_out, /* (4 n,) */
    GC_GLOBAL gc_uchar *bytes_out,
    GC_GLOBAL gc_long *longs_out,
    GC_GLOBAL gc_uint *uints_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_test_seen seen;
        gc_real x;
        GC_FETCH(x_in + i);
        GC_SEEN_LOAD(gc_test_one, gc_test_load, x_in + i, seen.one);
        x = GC_SEEN_AT(seen.one)->value;
        gc_raster y = (gc_raster)x + shift;
        gc_int whole = (gc_int)GC_FLOOR(x);
        reals_out[i] = gc_test_scale(gc_test_blend(x, factor), gc_test_table[i & 3]) + GC_RINT(x) + GC_MIN(x, factor);
        rasters_out[4 * i] = GC_SQRT_R(GC_ABS_R(y));
        rasters_out[4 * i + 1] = GC_FLOOR_R(y);
        rasters_out[4 * i + 2] = GC_RINT_R(y * GC_F(0.5));
        rasters_out[4 * i + 3] = y / GC_F(3.0);
        bytes_out[i] = (gc_uchar)(byte + whole);
        longs_out[i] = offset * (gc_long)3 + whole;
        uints_out[i] = (gc_uint)(GC_ULONG(i, 7) >> 32) * 2654435769u;
    }
}

#ifdef GC_SERIAL_GROUPS
#define GC_TEST_SERIAL 1
#else
#define GC_TEST_SERIAL 0
#endif

/* One group per row: the row's sum by a tree with a barrier on each level, its length a power of two. */
GC_KERNEL void t02_rows(
    int n_rows,
    int n_columns,
    GC_GLOBAL const int *in,   /* (n_rows, n_columns) */
    GC_GLOBAL int *scratch,    /* (n_rows, n_columns) */
    GC_GLOBAL int *sums_out,   /* (n_rows,) */
    GC_GLOBAL int *total_out,  /* (2,) sum and maximum */
    GC_GLOBAL int *visits_out) /* (groups + 1,) zero before */
{
    int row = GC_GROUP_LO(n_rows);
    if (GC_GROUP_ID == 0 && GC_LOCAL_ID == 0) {
        visits_out[GC_NUM_GROUPS] = GC_TEST_SERIAL;
    }
    GC_BARRIER();
    if (row < GC_GROUP_HI(n_rows)) {
        do {
            GC_GLOBAL int *work = scratch + row * n_columns;
            int width = n_columns;
            GC_INDEPENDENT
            for (int k = GC_LOCAL_ID; k < width; k += GC_GROUP_SIZE) {
                work[k] = in[row * n_columns + k];
            }
            GC_BARRIER();
            do {
                width /= 2;
                for (int k = GC_LOCAL_ID; k < width; k += GC_GROUP_SIZE) {
                    work[k] += work[k + width];
                }
                GC_BARRIER();
            } while (width > 1);
            if (GC_LOCAL_ID == 0) {
                sums_out[row] = work[0];
                GC_ATOMIC_ADD(total_out, work[0]);
                GC_ATOMIC_MAX(total_out + 1, work[0]);
            }
            /* every work-item counts, in memory that only this group touches */
            GC_GROUP_ADD(visits_out + GC_GROUP_ID, GC_SCRATCH_ID < GC_NUM_GROUPS ? GC_NUM_GROUPS : 0);
            row += GC_GROUP_STEP(n_rows);
        } while (row < GC_GROUP_HI(n_rows));
    }
}

/* Slots by atomics: old values of an atomic add are all different. */
GC_CROWDED_KERNEL void t03_slots(int n, GC_GLOBAL int *next, GC_GLOBAL int *slots_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        slots_out[GC_ATOMIC_ADD(next, 1)] = i;
    }
}

/* What a group has in common, both sides of a row, bits: a group for each row of twice 32 numbers. */
GC_KERNEL void t04_sides(
    int n_rows,
    GC_GLOBAL const int *in, /* (n_rows, 2, 32) */
    GC_GLOBAL int *sums_out, /* (n_rows, 2) zero before: of each side, less the row's first number each time */
    GC_GLOBAL int *bits_out, /* (n_rows, 3) */
    GC_GLOBAL int *any_out,  /* (n_rows,) zero before: of each number a bit, by its lowest five */
    GC_GLOBAL int *seen_out) /* (n_rows,) even numbers of the row */
{
    int row = GC_GROUP_LO(n_rows);
    GC_LOCAL int seen;
    if (row < GC_GROUP_HI(n_rows)) {
        do {
            GC_SHARED int kept[64];
            GC_SHARED int first;
            int k, side;
            for (k = GC_FILL_LO; k < 64; k += GC_FILL_STEP) kept[k] = in[64 * row + k];
            if (GC_FILLS) first = in[64 * row];
            if (GC_LOCAL_ID == 0) seen = 0;
            GC_BARRIER();
            GC_ROLLED
            for (k = GC_LOCAL_ID; k < 64; k += GC_GROUP_SIZE) {
                GC_GROUP_OR(any_out + row, (int)((gc_uint)1 << (kept[k] & 31)));
                if (!(kept[k] & 1)) GC_LOCAL_ADD(&seen, 1);
            }
            GC_BARRIER();
            if (GC_LOCAL_ID == 0) seen_out[row] = seen;
            for (side = GC_SIDE_LO; side < 2; side += GC_SIDE_STEP)
                for (k = GC_SIDE_ID; k < 32; k += GC_SIDE_SIZE)
                    GC_GROUP_ADD(sums_out + 2 * row + side, kept[32 * side + k] - first);
            if (GC_LOCAL_ID == 0) {
                bits_out[3 * row] = GC_BIT_COUNT((gc_uint)kept[1]);
                bits_out[3 * row + 1] = GC_LEADING_ZEROS((gc_uint)kept[2] | 1u);
                bits_out[3 * row + 2] = GC_SERIAL;
            }
            GC_BARRIER();
            row += GC_GROUP_STEP(n_rows);
        } while (row < GC_GROUP_HI(n_rows));
    }
}

/* Records of six numbers in a table of a group's own: written as a four and two numbers, summed column by column. */
GC_KERNEL void t05_records(
    int n_rows,
    int n,                        /* records of a row */
    GC_GLOBAL gc_raster *scratch, /* (n_rows, GC_IN_FOURS(6) n) */
    GC_GLOBAL gc_raster *sums_out /* (n_rows, 6) */)
{
    int row = GC_GROUP_LO(n_rows);
    if (row < GC_GROUP_HI(n_rows)) do {
            GC_GLOBAL gc_raster *table = scratch + GC_IN_FOURS(6) * n * row;
            int i, k;
            for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
                gc_raster x = (gc_raster)(6 * i + row);
                gc_four_put(table + GC_CELL(6, n, 0, i), n, x, x + GC_F(1.0), x + GC_F(2.0), x + GC_F(3.0));
                table[GC_CELL(6, n, 4, i)] = x + GC_F(4.0);
                table[GC_CELL(6, n, 5, i)] = x + GC_F(5.0);
            }
            GC_BARRIER();
            for (k = GC_LOCAL_ID; k < 6; k += GC_GROUP_SIZE) {
                gc_raster sum = GC_F(0.0);
                for (i = 0; i < n; ++i) {
                    gc_four four = gc_four_at(table + GC_CELL(6, n, 0, i), n);
                    sum += k == 0 ? four.a : (k == 3 ? four.d : table[GC_CELL(6, n, k, i)]);
                }
                sums_out[6 * row + k] = GC_CELLS(6, n) < GC_CELL(6, n, k, n - 1) ? GC_F(-1.0) : sum;
            }
            GC_BARRIER();
            row += GC_GROUP_STEP(n_rows);
        } while (row < GC_GROUP_HI(n_rows));
}
