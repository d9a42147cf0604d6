/* gc_select.h: hulls of lists of boxes, and the entries of a list that overlap the other body's hull (second half of s02).
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * in:  the lists of all features that face the right way
 * out: those of them, and of their copies around the axis, that may meet the other body during the step
 */
#ifndef GC_SELECT_H
#define GC_SELECT_H

/* hull of a list's boxes widened by a pixel */
GC_FN void gc_hull_widen(const gc_view *w, GC_GLOBAL gc_raster *hull)
{
    gc_raster rim = gc_pixel_rim(w, hull[GC_HULL_r0] - w->pixel);
    gc_raster way = gc_pixel_way(w, hull[GC_HULL_r0] - w->pixel, hull[GC_HULL_r1] + w->pixel);
    hull[GC_HULL_r0] -= w->pixel;
    hull[GC_HULL_r1] += w->pixel;
    hull[GC_HULL_h0] -= rim;
    hull[GC_HULL_h1] += rim;
    hull[GC_HULL_l0] -= way;
    hull[GC_HULL_l1] += way;
}

/* Hulls of the boxes of three lists, of their first `ranges` ranges (all four, or those without psi); an empty list gives an
 * empty hull. Features without an azimuth do not count for psi: their boxes hold every copy already. A work-item takes one
 * range of one list, or a part of it, and leaves its bounds in parts_out; all work-items of the group take part. */
#define GC_HULL_RANGES 12
GC_LARGE void s02_hulls(
    const gc_view *w,
    const gc_list *v,
    const gc_list *e,
    const gc_list *f,
    int ranges,
    GC_GLOBAL gc_raster *parts_out, /* (parts, 3, GC_HULL_STRIDE) */
    GC_GLOBAL gc_raster *hulls_out) /* (3, GC_HULL_STRIDE) */
{
    int parts = GC_SERIAL ? 1 : GC_MAX(GC_GROUP_SIZE / GC_HULL_RANGES, 1), task, i;
    GC_GLOBAL gc_raster *out = parts > 1 ? parts_out : hulls_out;
    for (task = GC_LOCAL_ID; task < GC_HULL_RANGES * parts; task += GC_GROUP_SIZE) {
        int part = task / GC_HULL_RANGES, which = task - GC_HULL_RANGES * part, field = 2 * (which & 3);
        const gc_list *l = which < 4 ? v : (which < 8 ? e : f);
        GC_GLOBAL const gc_raster *lo = l->box + GC_CELL(GC_LIST_STRIDE, l->room, field, 0);
        GC_GLOBAL const gc_raster *hi = l->box + GC_CELL(GC_LIST_STRIDE, l->room, field + 1, 0);
        gc_raster least = GC_CULL_FAR, most = -GC_CULL_FAR;
        int n = *l->count;
        if ((which & 3) >= ranges) continue;
        for (i = part; i < n; i += parts) {
            int at = GC_CELL(GC_LIST_STRIDE, l->room, 0, i);
            if (field == GC_LIST_p0 && hi[at] - lo[at] > GC_F(2.0) * w->period) continue;
            least = lo[at] < least ? lo[at] : least;
            most = hi[at] > most ? hi[at] : most;
        }
        out[2 * task] = least;
        out[2 * task + 1] = most;
    }
    if (parts > 1) {
        GC_BARRIER();
        for (task = GC_LOCAL_ID; task < GC_HULL_RANGES; task += GC_GROUP_SIZE) {
            gc_raster least, most;
            if ((task & 3) >= ranges) continue;
            least = parts_out[2 * task];
            most = parts_out[2 * task + 1];
            for (i = 1; i < parts; ++i) {
                GC_GLOBAL const gc_raster *other = parts_out + 2 * (GC_HULL_RANGES * i + task);
                least = GC_MIN(other[0], least);
                most = GC_MAX(other[1], most);
            }
            hulls_out[2 * task] = least;
            hulls_out[2 * task + 1] = most;
        }
    }
    if (w->pixel > GC_F(0.0)) {
        GC_BARRIER();
        for (i = GC_LOCAL_ID; i < 3; i += GC_GROUP_SIZE) gc_hull_widen(w, hulls_out + GC_HULL_STRIDE * i);
    }
}

/* Copy into `to` what of `from` meets the hull of the other body's features during the step; `doppel` also adds the
 * copies of A shifted by whole turns that come into B's window (Buss, section 8). Rows need all fields that a list
 * has, tests of all pairs only the first six. */
GC_LARGE void s02_select(
    const gc_view *w,
    const gc_list *from,
    GC_GLOBAL const gc_raster *hull,
    const gc_list *to,
    int doppel,
    int fields)
{
    int n = *from->count, i, k;
    gc_raster reach = w->wn * w->speed * GC_F(0.5) + w->window;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_four place = gc_entry_place(from, i), time = gc_entry_time(from, i);
        gc_raster r0 = place.a, r1 = place.b, h0 = place.c, h1 = place.d;
        gc_raster l0 = time.a, l1 = time.b, p0 = time.c, p1 = time.d;
        int first = 0, last = 0;
        if (r0 > hull[GC_HULL_r1] || r1 < hull[GC_HULL_r0]) continue;
        if (doppel && w->wraps && p1 - p0 <= GC_F(2.0) * w->period && hull[GC_HULL_p0] <= hull[GC_HULL_p1]) {
            gc_raster low = GC_FLOOR_R((hull[GC_HULL_p0] - reach - p1) / w->period);
            gc_raster high = GC_FLOOR_R((hull[GC_HULL_p1] + reach - p0) / w->period) + GC_F(1.0);
            /* Copy 0 stays in any case: features of B that take every azimuth meet it, and are not in the hull. Clamped
             * before they are ints, which may not hold them. */
            first = (int)GC_MAX(GC_MIN(low, GC_F(0.0)), GC_F(-2.0));
            last = (int)GC_MAX(GC_MIN(high, GC_F(2.0)), GC_F(0.0));
        }
        for (k = first; k <= last; ++k) {
            gc_raster turn = doppel ? (gc_raster)k * w->period : GC_F(0.0);
            gc_raster dh = -w->gn * turn, dl = w->wn * turn;
            int j;
            if (k == 0) {
                dh = GC_F(0.0);
                dl = GC_F(0.0);
                turn = GC_F(0.0);
            }
            if (h0 + dh > hull[GC_HULL_h1] || h1 + dh < hull[GC_HULL_h0]) continue;
            if (l0 + dl > hull[GC_HULL_l1] + w->window || l1 + dl < hull[GC_HULL_l0] - w->window) continue;
            j = GC_GROUP_ADD(to->count, 1);
            gc_four_put(&GC_OF_ENTRY(to, r0, j), to->room, r0, r1, h0 + dh, h1 + dh);
            if (!GC_SERIAL || fields > GC_LIST_p0) {
                gc_four_put(&GC_OF_ENTRY(to, l0, j), to->room, l0 + dl, l1 + dl, p0 + turn, p1 + turn);
            } else {
                GC_OF_ENTRY(to, l0, j) = l0 + dl;
                GC_OF_ENTRY(to, l1, j) = l1 + dl;
            }
            if (fields > GC_LIST_u0) {
                GC_OF_ENTRY(to, u0, j) = GC_OF_ENTRY(from, u0, i);
                GC_OF_ENTRY(to, u1, j) = GC_OF_ENTRY(from, u1, i);
            }
            to->id[j] = from->id[i];
            to->copy[j] = k;
        }
    }
}

#endif
