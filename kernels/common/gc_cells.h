/* gc_cells.h: tables of records of numbers, in the scratch of one group.
 * needs: common/gc_platform.h
 *
 * One record for each of many items. A work-item alone stores them column by column, `room` numbers long, so that loops
 * vectorise. Among many work-items each record is contiguous, padded to a multiple of four: one address leads to all of it,
 * and a lane reads or writes four numbers at once.
 */
#ifndef GC_CELLS_H
#define GC_CELLS_H

#define GC_IN_FOURS(stride) (((stride) + 3) & ~3)
/* number `place` of record i */
#define GC_CELL(stride, room, place, i) (GC_SERIAL ? (place) * (room) + (i) : GC_IN_FOURS(stride) * (i) + (place))
/* numbers that a table takes */
#define GC_CELLS(stride, room) ((GC_SERIAL ? (stride) : GC_IN_FOURS(stride)) * (room))

typedef struct GC_ALIGNED {
    gc_raster a, b, c, d;
} gc_four;

/* four numbers of a record, of which the first stands at p, its place a multiple of four */
GC_INLINE gc_four gc_four_at(GC_GLOBAL const gc_raster *p, int room)
{
    gc_four r;
    if (!GC_SERIAL) return *(GC_GLOBAL const gc_four *)p;
    r.a = p[0];
    r.b = p[room];
    r.c = p[2 * room];
    r.d = p[3 * room];
    return r;
}

GC_INLINE void gc_four_put(GC_GLOBAL gc_raster *p, int room, gc_raster a, gc_raster b, gc_raster c, gc_raster d)
{
    if (GC_SERIAL) {
        p[0] = a;
        p[room] = b;
        p[2 * room] = c;
        p[3 * room] = d;
    } else {
        gc_four r;
        r.a = a;
        r.b = b;
        r.c = c;
        r.d = d;
        *(GC_GLOBAL gc_four *)p = r;
    }
}

/* three of them; what is padding among many is nothing alone */
GC_INLINE void gc_three_put(GC_GLOBAL gc_raster *p, int room, gc_raster a, gc_raster b, gc_raster c)
{
    if (GC_SERIAL) {
        p[0] = a;
        p[room] = b;
        p[2 * room] = c;
    } else {
        gc_four_put(p, room, a, b, c, GC_F(0.0));
    }
}

#endif
