/* p01_primitives: the tests of the Pluecker method on arrays, for a user to call and to check a device with.
 * needs: pluecker/gc_crossing.h
 *
 * in:  points, vectors, polygons and edges; any unit, all in one frame, best of a size about one
 * out: p01_lines: the six coordinates of lines; p01_sides: of two lines; p01_planes: areas of polygons along their
 *      normals and outermost corners; the others: the share of the motion after which the one must stop before the other, infinity
 *      if it need not
 *
 * One work-item per test. Test i is of row first_row + i / columns and of column i % columns; an input has a stride for rows
 * and one for columns, in its own elements (points, polygons, edges), either of which may be zero: so it is broadcast.
 * Degenerate: a polygon without area, parallel edges, no motion: never stopped. Source: seed 2.1 to 2.5, 3.1 to 3.4.
 */

#define GC_PAIRING(row, column, name) ((gc_long)(row) * name##_row + (gc_long)(column) * name##_column)

/* row and column of a test, and of the one so many further: a division only where a row ends */
typedef struct {
    int row, column;
} gc_pairing;

GC_FN gc_pairing gc_pairing_of(int i, int first_row, int columns)
{
    gc_pairing at;
    at.row = first_row + i / columns;
    at.column = i % columns;
    return at;
}

GC_FN void gc_pairing_move(gc_pairing *at, int step, int columns)
{
    at->column += step;
    if (at->column < columns) return;
    at->row += at->column / columns;
    at->column %= columns;
}

GC_KERNEL void p01_lines(
    int n,
    int first_row,
    int columns,
    int a_row,
    int a_column,
    int b_row,
    int b_column,
    GC_GLOBAL const gc_real *a_in, /* (.., 3) */
    GC_GLOBAL const gc_real *b_in, /* (.., 3) */
    GC_GLOBAL gc_real *lines_out)  /* (rows * columns, 6) */
{
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n), gc_pairing_move(&at, GC_ITEM_STEP(n), columns)) {
        int row = at.row, column = at.column;
        GC_GLOBAL gc_real *out = lines_out + 6 * ((gc_long)row * columns + column);
        gc_line p = gc_line_through(
            gc_load_vec(a_in, GC_PAIRING(row, column, a)), gc_load_vec(b_in, GC_PAIRING(row, column, b)));
        out[0] = p.p0;
        out[1] = p.p1;
        out[2] = p.p2;
        out[3] = p.p3;
        out[4] = p.p4;
        out[5] = p.p5;
    }
}

GC_FN gc_line gc_load_line(GC_GLOBAL const gc_real *from)
{
    gc_line p;
    p.p0 = from[0];
    p.p1 = from[1];
    p.p2 = from[2];
    p.p3 = from[3];
    p.p4 = from[4];
    p.p5 = from[5];
    return p;
}

GC_KERNEL void p01_sides(
    int n,
    int first_row,
    int columns,
    int p_row,
    int p_column,
    int q_row,
    int q_column,
    GC_GLOBAL const gc_real *p_in, /* (.., 6) */
    GC_GLOBAL const gc_real *q_in, /* (.., 6) */
    GC_GLOBAL gc_real *side_out)   /* (rows * columns,) */
{
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n), gc_pairing_move(&at, GC_ITEM_STEP(n), columns)) {
        int row = at.row, column = at.column;
        gc_line p = gc_load_line(p_in + 6 * GC_PAIRING(row, column, p));
        gc_line q = gc_load_line(q_in + 6 * GC_PAIRING(row, column, q));
        side_out[(gc_long)row * columns + column] = gc_line_side(p, q);
    }
}

GC_KERNEL void p01_planes(
    int n,
    int corners,
    GC_GLOBAL const gc_real *polygons_in, /* (n, corners, 3) counter-clockwise seen from the front */
    GC_GLOBAL gc_real *planes_out)        /* (n, 8) twice the area along the normal; its length; outermost corner; 0 */
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        GC_GLOBAL const gc_real *polygon = polygons_in + 3 * corners * (gc_long)i;
        gc_vec c = gc_load_vec(polygon, 0), normal, outermost = c;
        gc_two_vec area = gc_two_vec_of(gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)));
        GC_GLOBAL gc_real *plane = planes_out + 8 * (gc_long)i;
        for (int k = 2; k < corners; ++k) {
            gc_two_vec before = gc_two_from_to(c, gc_load_vec(polygon, k - 1));
            area = gc_two_vec_sum(area, gc_two_cross(before, gc_two_from_to(c, gc_load_vec(polygon, k))));
        }
        normal = gc_two_rounded(area);
        for (int k = 1; k < corners; ++k) outermost = gc_outermost(normal, outermost, gc_load_vec(polygon, k));
        gc_store_vec(plane, 0, normal);
        plane[3] = gc_length(normal);
        gc_store_vec(plane + 4, 0, outermost);
        plane[7] = GC_R(0.0);
    }
}

/* the fraction at which x, moved by v, is before a polygon; infinity if nothing stops it */
GC_FN gc_real gc_polygon_stops(
    gc_vec x,
    gc_vec v,
    GC_GLOBAL const gc_real *polygon,
    int corners,
    GC_GLOBAL const gc_real *plane,
    gc_real expel,
    gc_real lateral)
{
    gc_passing passing = gc_passing_whole();
    gc_vec c, n = gc_load_vec(plane, 0);
    gc_real fraction;
    /* distances come times the area, and so does the zone: whole numbers stay what they are */
    if (!gc_vertex_plane_translation(
            x, v, n, gc_load_vec(plane + 4, 0), expel * plane[3], expel * plane[3], GC_R(1.0), &fraction))
        return gc_infinity();
    c = gc_load_vec(polygon, corners - 1);
    for (int k = 0; k < corners; ++k) {
        gc_vec d = gc_load_vec(polygon, k);
        if (!gc_swept_volume_within(x, v, c, d, GC_R(1.0), lateral)) return gc_infinity();
        gc_passing_cut(&passing, x, v, n, c, d, GC_R(1.0), expel, lateral);
        c = d;
    }
    return gc_passing_stop(&passing, &fraction) && fraction <= GC_R(1.0) ? fraction : gc_infinity();
}

/* polygons whose planes are looked at side by side */
#define GC_PLANES_RUN 16

/* gc_polygon_stops of one vertex and neighbouring polygons, at most GC_PLANES_RUN: few are left by a look at all planes, in one
 * loop that vectorises and lets no other test go than gc_vertex_plane_translation does */
GC_FN void gc_polygons_stop(
    gc_vec x,
    gc_vec v,
    GC_GLOBAL const gc_real *polygon,
    int corners,
    GC_GLOBAL const gc_real *plane,
    int n,
    gc_real expel,
    gc_real lateral,
    GC_GLOBAL gc_real *fraction)
{
    int comes[GC_PLANES_RUN];
    GC_INDEPENDENT
    for (int k = 0; k < n; ++k) {
        GC_GLOBAL const gc_real *p = plane + 8 * k;
        gc_real rate = -(p[0] * v.x + p[1] * v.y + p[2] * v.z), zone = expel * p[3];
        gc_real distance = p[0] * (x.x - p[4]) + p[1] * (x.y - p[5]) + p[2] * (x.z - p[6]);
        comes[k] = (rate > GC_R(0.0)) & (distance >= -zone) & (distance - zone <= rate * GC_R(1.000001));
        fraction[k] = gc_infinity();
    }
    for (int k = 0; k < n; ++k)
        if (comes[k])
            fraction[k] = gc_polygon_stops(x, v, polygon + 3 * corners * k, corners, plane + 8 * k, expel, lateral);
}

GC_KERNEL void p01_vertex_translation(
    int n,
    int first_row,
    int columns,
    int vertex_row,
    int vertex_column,
    int vector_row,
    int vector_column,
    int polygon_row,
    int polygon_column,
    int corners,
    gc_real expel,
    gc_real lateral,
    GC_GLOBAL const gc_real *vertex_in,  /* (.., 3) */
    GC_GLOBAL const gc_real *vector_in,  /* (.., 3) */
    GC_GLOBAL const gc_real *polygon_in, /* (.., corners, 3) */
    GC_GLOBAL const gc_real *plane_in,   /* (.., 8) of p01_planes, as the polygons */
    GC_GLOBAL gc_real *fraction_out)     /* (rows * columns,) */
{
    int in_a_row = GC_SERIAL && vertex_column == 0 && vector_column == 0 && polygon_column == 1;
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    int i = GC_ITEM_LO(n);
    while (i < GC_ITEM_HI(n)) {
        int row = at.row, column = at.column, step = GC_ITEM_STEP(n);
        gc_long which = GC_PAIRING(row, column, polygon);
        GC_GLOBAL const gc_real *polygon = polygon_in + 3 * corners * which, *plane = plane_in + 8 * which;
        GC_GLOBAL gc_real *fraction = fraction_out + ((gc_long)row * columns + column);
        gc_vec x = gc_load_vec(vertex_in, GC_PAIRING(row, column, vertex));
        gc_vec v = gc_load_vec(vector_in, GC_PAIRING(row, column, vector));
        if (in_a_row) {
            step = GC_MIN(GC_PLANES_RUN, GC_MIN(GC_ITEM_HI(n) - i, columns - column));
            gc_polygons_stop(x, v, polygon, corners, plane, step, expel, lateral, fraction);
        } else *fraction = gc_polygon_stops(x, v, polygon, corners, plane, expel, lateral);
        i += step;
        gc_pairing_move(&at, step, columns);
    }
}

/* a pivot and the half-angle tangent of its whole turn, from axes of any length and angles of either sign up to half a turn */
GC_FN gc_pivot
gc_load_pivot(GC_GLOBAL const gc_real *axis, GC_GLOBAL const gc_real *origin, GC_GLOBAL const gc_real *angle, gc_real *most)
{
    gc_vec none = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    gc_pivot pivot;
    pivot.axis = gc_direction(gc_load_vec(axis, 0), none);
    if (*angle < GC_R(0.0)) pivot.axis = gc_sub(none, pivot.axis);
    pivot.origin = gc_load_vec(origin, 0);
    *most = gc_half_tangent(GC_ABS(*angle));
    return pivot;
}

/* From r on, when is x over the polygon, or beside it by no more than `beside`? 0: never within half a turn. */
GC_FN int gc_polygon_comes(
    const gc_pivot *pivot,
    gc_vec x,
    GC_GLOBAL const gc_real *polygon,
    int corners,
    gc_vec n,
    gc_real beside,
    gc_real slack,
    gc_real *r)
{
    int waits;
    do {
        gc_vec c = gc_load_vec(polygon, corners - 1);
        waits = 0;
        for (int k = 0; k < corners; ++k) {
            gc_vec d = gc_load_vec(polygon, k);
            int how = gc_border_awaits(pivot, x, n, c, d, GC_R(1.0), beside, slack, r);
            if (!how) return 0;
            waits |= how == 2;
            c = d;
        }
    } while (waits);
    return 1;
}

/* A stop at r, no earlier than x is near the polygon; 0 if it never is, or only behind it. */
GC_FN int gc_polygon_awaits(
    const gc_pivot *pivot,
    gc_vec x,
    GC_GLOBAL const gc_real *polygon,
    int corners,
    GC_GLOBAL const gc_real *plane,
    gc_real expel,
    gc_real lateral,
    gc_real most,
    gc_real *r)
{
    gc_vec n = gc_load_vec(plane, 0);
    gc_real stop = *r, over, slack = GC_R(0.5) * lateral;
    if (!gc_polygon_comes(pivot, x, polygon, corners, n, GC_ZONE_BESIDE * expel, slack, r) || !(*r <= most)) return 0;
    if (*r > stop && gc_swing_at(gc_vertex_swing(pivot, x, n, gc_load_vec(plane + 4, 0)), *r) < -expel * plane[3]) return 0;
    over = *r;
    return gc_polygon_comes(pivot, x, polygon, corners, n, lateral, slack, &over);
}

GC_KERNEL void p01_vertex_rotation(
    int n,
    int first_row,
    int columns,
    int vertex_row,
    int vertex_column,
    int turn_row,
    int turn_column,
    int polygon_row,
    int polygon_column,
    int corners,
    gc_real expel,
    gc_real lateral,
    GC_GLOBAL const gc_real *vertex_in,  /* (.., 3) */
    GC_GLOBAL const gc_real *angle_in,   /* (..,) radians, right-handed, at most half a turn */
    GC_GLOBAL const gc_real *axis_in,    /* (.., 3) any length */
    GC_GLOBAL const gc_real *origin_in,  /* (.., 3) a point on the axis */
    GC_GLOBAL const gc_real *polygon_in, /* (.., corners, 3) */
    GC_GLOBAL const gc_real *plane_in,   /* (.., 8) of p01_planes, as the polygons */
    GC_GLOBAL gc_real *fraction_out)     /* (rows * columns,) */
{
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n), gc_pairing_move(&at, GC_ITEM_STEP(n), columns)) {
        int row = at.row, column = at.column;
        gc_long which = GC_PAIRING(row, column, polygon), turn = GC_PAIRING(row, column, turn);
        GC_GLOBAL const gc_real *polygon = polygon_in + 3 * corners * which, *plane = plane_in + 8 * which;
        gc_vec x = gc_load_vec(vertex_in, GC_PAIRING(row, column, vertex)), c;
        gc_real most, r;
        gc_pivot pivot = gc_load_pivot(axis_in + 3 * turn, origin_in + 3 * turn, angle_in + turn, &most);
        gc_arrival arrival;
        int within = most > GC_R(0.0)
                     && gc_vertex_area_rotation(
                         &pivot, x, gc_load_vec(plane, 0), plane[3], gc_load_vec(plane + 4, 0), expel, expel, lateral, most,
                         &r, &arrival);
        if (within) {
            c = gc_load_vec(polygon, corners - 1);
            for (int k = 0; within && k < corners; ++k) {
                gc_vec d = gc_load_vec(polygon, k);
                within = gc_arrival_within(&arrival, c, d, lateral);
                c = d;
            }
        }
        if (within && expel > GC_R(0.0))
            within = gc_polygon_awaits(&pivot, x, polygon, corners, plane, expel, lateral, most, &r);
        fraction_out[(gc_long)row * columns + column] = within ? gc_turn_fraction(r, GC_ABS(angle_in[turn])) : gc_infinity();
    }
}

GC_FN gc_wedge gc_load_wedge(int faces, GC_GLOBAL const gc_real *normals, gc_long which)
{
    gc_wedge wedge;
    wedge.faces = faces;
    wedge.first = faces > 0 ? gc_load_vec(normals, faces * which) : gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
    wedge.second = faces > 1 ? gc_load_vec(normals, faces * which + 1) : wedge.first;
    return wedge;
}

/* all numbers are exact: nothing is known of where they come from */
GC_FN gc_zone gc_zone_of(gc_real expel, gc_real lateral)
{
    gc_zone zone;
    zone.expel = zone.behind = expel;
    zone.lateral = lateral;
    zone.doubt = GC_R(0.0);
    return zone;
}

GC_KERNEL void p01_edge_translation(
    int n,
    int first_row,
    int columns,
    int edge_row,
    int edge_column,
    int vector_row,
    int vector_column,
    int still_row,
    int still_column,
    int edge_faces, /* of an edge: 0, 1 or 2, for all edges alike */
    int still_faces,
    gc_real expel,
    gc_real lateral,
    GC_GLOBAL const gc_real *edge_in,         /* (.., 2, 3) ends of the moving edge */
    GC_GLOBAL const gc_real *edge_normal_in,  /* (.., edge_faces, 3) unit; at least one number */
    GC_GLOBAL const gc_real *vector_in,       /* (.., 3) */
    GC_GLOBAL const gc_real *still_in,        /* (.., 2, 3) */
    GC_GLOBAL const gc_real *still_normal_in, /* (.., still_faces, 3) */
    GC_GLOBAL gc_real *fraction_out)          /* (rows * columns,) */
{
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n), gc_pairing_move(&at, GC_ITEM_STEP(n), columns)) {
        int row = at.row, column = at.column;
        gc_long edge = GC_PAIRING(row, column, edge), still = GC_PAIRING(row, column, still);
        gc_wedge of_mover = gc_load_wedge(edge_faces, edge_normal_in, edge);
        gc_wedge of_still = gc_load_wedge(still_faces, still_normal_in, still);
        gc_real fraction;
        gc_vec normal;
        gc_zone zone = gc_zone_of(expel, lateral);
        int hit = gc_edge_edge_translation(
            gc_load_vec(edge_in, 2 * edge), gc_load_vec(edge_in, 2 * edge + 1),
            gc_load_vec(vector_in, GC_PAIRING(row, column, vector)), gc_load_vec(still_in, 2 * still),
            gc_load_vec(still_in, 2 * still + 1), &of_mover, &of_still, &zone, GC_R(1.0), &fraction, &normal);
        fraction_out[(gc_long)row * columns + column] = hit ? fraction : gc_infinity();
    }
}

GC_KERNEL void p01_edge_rotation(
    int n,
    int first_row,
    int columns,
    int edge_row,
    int edge_column,
    int turn_row,
    int turn_column,
    int still_row,
    int still_column,
    int edge_faces,
    int still_faces,
    gc_real expel,
    gc_real lateral,
    GC_GLOBAL const gc_real *edge_in,        /* (.., 2, 3) ends of the turning edge */
    GC_GLOBAL const gc_real *edge_normal_in, /* (.., edge_faces, 3) unit; at least one number */
    GC_GLOBAL const gc_real *angle_in,       /* (..,) radians, right-handed, at most half a turn */
    GC_GLOBAL const gc_real *axis_in,        /* (.., 3) any length */
    GC_GLOBAL const gc_real *origin_in,      /* (.., 3) a point on the axis */
    GC_GLOBAL const gc_real *still_in,       /* (.., 2, 3) */
    GC_GLOBAL const gc_real *still_normal_in,
    GC_GLOBAL gc_real *fraction_out) /* (rows * columns,) */
{
    gc_pairing at = gc_pairing_of(GC_ITEM_LO(n), first_row, columns);
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n), gc_pairing_move(&at, GC_ITEM_STEP(n), columns)) {
        int row = at.row, column = at.column;
        gc_long edge = GC_PAIRING(row, column, edge), still = GC_PAIRING(row, column, still);
        gc_long turn = GC_PAIRING(row, column, turn);
        gc_wedge of_mover = gc_load_wedge(edge_faces, edge_normal_in, edge);
        gc_wedge of_still = gc_load_wedge(still_faces, still_normal_in, still);
        gc_real most, r;
        gc_pivot pivot = gc_load_pivot(axis_in + 3 * turn, origin_in + 3 * turn, angle_in + turn, &most);
        gc_arrival arrival;
        gc_zone zone = gc_zone_of(expel, lateral);
        int hit = most > GC_R(0.0)
                  && gc_edge_edge_rotation(
                      &pivot, gc_load_vec(edge_in, 2 * edge), gc_load_vec(edge_in, 2 * edge + 1),
                      gc_load_vec(still_in, 2 * still), gc_load_vec(still_in, 2 * still + 1), &of_mover, &of_still, &zone,
                      most, &r, &arrival);
        fraction_out[(gc_long)row * columns + column] = hit ? gc_turn_fraction(r, GC_ABS(angle_in[turn])) : gc_infinity();
    }
}
