/* c03_manifolds: contacts at a pose to the few points of each region that a solver takes.
 * needs: clearance/gc_manifold.h
 *
 * in:  contacts of pairs, those of a pair nearest first; meshes as gc_patch.h has them; poses at the time of the contacts
 * out: at most `most` points of each region of each pair, the regions in the order of their nearest contacts
 * One work-item per pair, which has room of its own for its points; where one has too little, it is launched again with more. Source: docs/decisions/0135, 0145.
 * Contacts without a place (distance inf, or of no kind and not deep) are passed over.
 */

/* the contacts */
#define GC_TOLD_ARGS \
    GC_GLOBAL const int *start_in,         /* (pairs + 1,) */ \
        GC_GLOBAL const gc_uchar *kind_in, /* (n_told,) */ \
        GC_GLOBAL const int *feature_a_in, GC_GLOBAL const int *feature_b_in, GC_GLOBAL const gc_real *distance_in, \
        GC_GLOBAL const gc_real *point_a_in, /* (n_told, 3) in the world */ \
        GC_GLOBAL const gc_real *point_b_in, GC_GLOBAL const gc_real *normal_in

/* the kind of a contact; -1 is 255 there */
GC_FN int gc_told_kind(gc_uchar kind) { return kind == 255 ? GC_NO_PLACE : (int)kind; }

/* loops of a body that lie across a direction, at a feature */
typedef struct {
    const gc_patch_body *body;
    gc_vec out; /* outwards, in the body's axes */
    int what, feature, at, end, edges;
    int some; /* have there been faces? */
} gc_patch_walk;

/* what of A (side 0) or B a kind is of */
GC_FN int gc_patch_what(int kind, int side)
{
    if (kind == GC_EE) return GC_PATCH_EDGE;
    if (kind == GC_VV) return GC_PATCH_VERTEX;
    if (kind == GC_FV) return side ? GC_PATCH_VERTEX : GC_PATCH_FACE;
    if (kind == GC_VF) return side ? GC_PATCH_FACE : GC_PATCH_VERTEX;
    if (kind == GC_EV) return side ? GC_PATCH_VERTEX : GC_PATCH_EDGE;
    return side ? GC_PATCH_EDGE : GC_PATCH_VERTEX;
}

GC_FN void gc_patch_range(gc_patch_walk *w, int edges)
{
    int column = w->what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start
                                          : (edges ? GC_PATCH_MESH_spoke_start : GC_PATCH_MESH_fan_start);
    w->edges = edges;
    w->at = 0;
    w->end = w->what == GC_PATCH_FACE ? 1 - edges : 1;
    if (w->what == GC_PATCH_FACE || (w->what == GC_PATCH_EDGE && edges)) return;
    w->at = gc_flat_at(w->body, column, w->feature);
    w->end = gc_flat_at(w->body, column, w->feature + 1);
}

GC_FN gc_patch_walk gc_patch_walk_at(const gc_patch_body *b, gc_vec out, int what, int feature)
{
    gc_patch_walk w;
    w.body = b;
    w.out = out;
    w.what = what;
    w.feature = feature;
    w.some = 0;
    gc_patch_range(&w, 0);
    return w;
}

/* the next sheet of faces at the feature that lies across; if there is none, the next edge; -1: no more */
GC_FN int gc_patch_next(gc_patch_walk *w)
{
    const gc_patch_body *b = w->body;
    for (;;) {
        if (w->at == w->end) {
            if (w->edges || w->some) return -1;
            gc_patch_range(w, 1);
            if (w->at == w->end) return -1;
        }
        if (!w->edges) {
            int k = w->at++, face = w->feature;
            if (w->what == GC_PATCH_EDGE) face = gc_flat_at(b, GC_PATCH_MESH_edge_face, k);
            if (w->what == GC_PATCH_VERTEX) face = gc_flat_at(b, GC_PATCH_MESH_fan, k);
            if (!(gc_dot(gc_flat_normal(b, face), w->out) >= GC_PATCH_ALIGNED)) continue;
            w->some = 1;
            return gc_flat_at(b, GC_PATCH_MESH_sheet, face);
        } else {
            int k = w->at++, edge = w->what == GC_PATCH_EDGE ? w->feature : gc_flat_at(b, GC_PATCH_MESH_spoke, k);
            gc_vec way = gc_sub(
                gc_flat_vertex(b, gc_flat_at(b, GC_PATCH_MESH_ends, 2 * edge + 1)),
                gc_flat_vertex(b, gc_flat_at(b, GC_PATCH_MESH_ends, 2 * edge)));
            gc_real up = gc_dot(way, w->out);
            if (gc_flat_at(b, GC_PATCH_MESH_flat, edge)) continue;
            if (up * up <= (GC_R(1.0) - GC_PATCH_ALIGNED * GC_PATCH_ALIGNED) * gc_dot(way, way))
                return b->form[GC_PATCH_MESH_faces] + edge;
        }
    }
}

/* Does what surrounds a feature lie behind it, seen along a direction outwards? */
GC_FN int gc_patch_outermost(const gc_patch_body *b, gc_vec out, int what, int feature)
{
    int k, end;
    if (what == GC_PATCH_FACE) return 1;
    k = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_spoke_start, feature);
    end = gc_flat_at(b, what == GC_PATCH_EDGE ? GC_PATCH_MESH_edge_start : GC_PATCH_MESH_spoke_start, feature + 1);
    for (; k < end; ++k) {
        gc_vec way;
        gc_real up;
        if (what == GC_PATCH_EDGE) {
            gc_vec begin = gc_flat_vertex(b, gc_flat_at(b, GC_PATCH_MESH_ends, 2 * feature));
            gc_vec along = gc_sub(gc_flat_vertex(b, gc_flat_at(b, GC_PATCH_MESH_ends, 2 * feature + 1)), begin);
            way = gc_sub(gc_flat_middle(b, gc_flat_at(b, GC_PATCH_MESH_edge_face, k)), begin);
            way = gc_sub(way, gc_scale(along, gc_dot(way, along) / gc_dot(along, along)));
        } else {
            int edge = gc_flat_at(b, GC_PATCH_MESH_spoke, k), far = gc_flat_at(b, GC_PATCH_MESH_ends, 2 * edge);
            if (far == feature) far = gc_flat_at(b, GC_PATCH_MESH_ends, 2 * edge + 1);
            way = gc_sub(gc_flat_vertex(b, far), gc_flat_vertex(b, feature));
        }
        up = gc_dot(way, out);
        if (up > GC_R(0.0) && up * up > GC_PATCH_PARALLEL * GC_PATCH_PARALLEL * gc_dot(way, way)) return 0;
    }
    return 1;
}

GC_FN int gc_told_stands_out(const gc_manifold *m, gc_vec n, int kind, int a, int b)
{
    if (kind == GC_NO_PLACE) return 1;
    return gc_patch_outermost(&m->a, gc_patch_local(&m->a, n), gc_patch_what(kind, 0), a)
           && gc_patch_outermost(&m->b, gc_scale(gc_patch_local(&m->b, n), GC_R(-1.0)), gc_patch_what(kind, 1), b);
}

/* Which contacts count: region_out is 0 of those, and -2 of others. Of pairs that overlap, or touch where they stand out, contacts
 * apart are none that do not stand out: a box that is sunk in and stands over the side of the one below has corners before it. */
GC_FN void gc_told_mark(
    const gc_manifold *m,
    int begin,
    int end,
    int alone, /* all that have a place */
    GC_GLOBAL const gc_uchar *kind,
    GC_GLOBAL const int *a,
    GC_GLOBAL const int *b,
    GC_GLOBAL const gc_real *distance,
    GC_GLOBAL const gc_real *normal,
    GC_GLOBAL int *region)
{
    gc_real touch = GC_PATCH_WITHIN * m->size, least = touch + touch, more = m->round_a + m->round_b;
    int meets;
    for (int k = begin; k < end; ++k) {
        int finite = distance[k] - distance[k] == GC_R(0.0);
        int place = finite && (gc_told_kind(kind[k]) != GC_NO_PLACE || distance[k] < GC_R(0.0))
                    && gc_most(gc_load_vec(normal, k)) > GC_R(0.0);
        region[k] = place ? 0 : -2;
        if (place) least = GC_MIN(least, distance[k] + more);
    }
    if (alone || !(least <= touch)) return;
    meets = least < GC_R(0.0);
    for (int k = begin; k < end; ++k) {
        if (region[k] < 0 || distance[k] + more < GC_R(0.0)) continue;
        if (!gc_told_stands_out(m, gc_load_vec(normal, k), gc_told_kind(kind[k]), a[k], b[k])) region[k] = -1;
        else if (distance[k] + more <= touch) meets = 1;
    }
    for (int k = begin; k < end; ++k)
        if (region[k] == -1) region[k] = meets ? -2 : 0;
}

/* The corners of the patch of contact k: are there any? `seeds`: pairs of sheets that were cut, and whether they have corners. */
GC_FN int gc_told_corners(gc_manifold *m, int kind, int a, int b, int (*seeds)[3], int *n_seeds)
{
    gc_vec out_b = gc_scale(m->view_b.z, GC_R(-1.0));
    gc_patch_walk of_a = gc_patch_walk_at(&m->a, m->view_a.z, gc_patch_what(kind, 0), a), of_b;
    int any = 0, loop_a = gc_patch_next(&of_a), loop_b;
    for (; loop_a >= 0; loop_a = gc_patch_next(&of_a)) {
        of_b = gc_patch_walk_at(&m->b, out_b, gc_patch_what(kind, 1), b);
        for (loop_b = gc_patch_next(&of_b); loop_b >= 0; loop_b = gc_patch_next(&of_b)) {
            int known = 0, has;
            if (loop_a >= m->a.form[GC_PATCH_MESH_faces] && loop_b >= m->b.form[GC_PATCH_MESH_faces]) continue;
            while (known < *n_seeds && (seeds[known][0] != loop_a || seeds[known][1] != loop_b)) known += 1;
            if (known < *n_seeds) {
                any |= seeds[known][2];
                continue;
            }
            has = gc_manifold_sheets(m, loop_a, loop_b);
            any |= has;
            if (known == GC_PATCH_SEEDS) continue;
            seeds[known][0] = loop_a;
            seeds[known][1] = loop_b;
            seeds[known][2] = has;
            *n_seeds += 1;
        }
    }
    return any;
}

/* a contact as a point of its own, moved onto the meshes, whose faces are cut */
GC_FN void gc_told_add(gc_manifold *m, int kind, int a, int b, gc_real distance, gc_vec on_a, gc_vec on_b, gc_vec n)
{
    gc_manifold_add(
        m, kind, a, b, distance + (m->round_a + m->round_b), gc_sub(on_a, gc_scale(n, m->round_a)),
        gc_add(on_b, gc_scale(n, m->round_b)), n, 1);
}

GC_KERNEL void c03_manifolds(
    int n_pairs,
    int first, /* pair */
    GC_TOLD_ARGS,
    GC_GLOBAL const int *pairs_in, /* (pairs, 2) */
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *position_in, /* (n_bodies, 3) */
    GC_GLOBAL const gc_real *turn_in,     /* (n_bodies, 9) matrices that turn to the world */
    GC_GLOBAL const gc_real *radius_in,   /* of each mesh */
    GC_GLOBAL const gc_real *rounding_in, /* below 0: of cylinders and cones, whose contacts are told as they are */
    GC_GLOBAL const int *forms_in,        /* (n_meshes, GC_PATCH_MESH_STRIDE) */
    GC_GLOBAL const int *flat_in,
    GC_GLOBAL const gc_real *flat_reals_in,
    gc_real margin,
    int most,
    int room,                     /* for points of each pair */
    GC_GLOBAL int *region_out,    /* (n_told,) scratch */
    GC_GLOBAL int *point_out,     /* (n_pairs, room, GC_PATCH_POINT_STRIDE) */
    GC_GLOBAL gc_real *place_out, /* (n_pairs, room, GC_PATCH_PLACE_STRIDE) */
    GC_GLOBAL int *count_out,     /* (n_pairs,) points; below 0: less how many there is no room for */
    GC_GLOBAL int *regions_out)   /* (n_pairs,) */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int pair = first + i, begin = start_in[pair], end = start_in[pair + 1], short_of = 0, leader, alone;
        gc_manifold m;
        gc_vec origin, zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0));
        m.kept = m.n = m.region = 0;
        count_out[i] = regions_out[i] = 0;
        if (begin == end) continue;
        m.body_a = pairs_in[2 * pair];
        m.body_b = pairs_in[2 * pair + 1];
        m.shape_a = shape_in[m.body_a];
        m.shape_b = shape_in[m.body_b];
        m.size = GC_MAX(radius_in[m.shape_a], radius_in[m.shape_b]);
        alone = rounding_in[m.shape_a] < GC_R(0.0) || rounding_in[m.shape_b] < GC_R(0.0);
        m.round_a = GC_MAX(rounding_in[m.shape_a], GC_R(0.0));
        m.round_b = GC_MAX(rounding_in[m.shape_b], GC_R(0.0));
        m.margin = margin + (m.round_a + m.round_b);
        m.room = room;
        m.ints = point_out + GC_PATCH_POINT_STRIDE * ((gc_long)room * i);
        m.reals = place_out + GC_PATCH_PLACE_STRIDE * ((gc_long)room * i);
        origin = gc_load_vec(position_in, m.body_a);
        gc_patch_body_load(&m.a, forms_in, flat_in, flat_reals_in, turn_in + 9 * (gc_long)m.body_a, m.shape_a, zero);
        gc_patch_body_load(
            &m.b, forms_in, flat_in, flat_reals_in, turn_in + 9 * (gc_long)m.body_b, m.shape_b,
            gc_sub(gc_load_vec(position_in, m.body_b), origin));
        gc_told_mark(&m, begin, end, alone, kind_in, feature_a_in, feature_b_in, distance_in, normal_in, region_out);
        for (leader = begin; leader < end; ++leader) {
            int seeds[GC_PATCH_SEEDS][3], n_seeds = 0;
            gc_vec n = gc_load_vec(normal_in, leader);
            if (region_out[leader] != 0) continue;
            gc_patch_axes(n, m.axes);
            m.view_a = gc_patch_view_of(&m.a, m.axes);
            m.view_b = gc_patch_view_of(&m.b, m.axes);
            m.least = distance_in[leader] + (m.round_a + m.round_b) - GC_PATCH_TIE * m.size;
            for (int k = leader; k < end; ++k) {
                if (region_out[k] != 0 || (k != leader && !(gc_dot(gc_load_vec(normal_in, k), n) >= GC_PATCH_ALIGNED)))
                    continue;
                region_out[k] = 1; /* told by corners; 2: by itself */
                if (alone || gc_told_kind(kind_in[k]) == GC_NO_PLACE
                    || !gc_told_corners(&m, kind_in[k], feature_a_in[k], feature_b_in[k], seeds, &n_seeds) || k == leader)
                    region_out[k] = 2;
            }
            for (int k = end - 1; k >= leader; --k) { /* of several of the same features the first stays */
                if (region_out[k] == 2)
                    gc_told_add(
                        &m, gc_told_kind(kind_in[k]), feature_a_in[k], feature_b_in[k], distance_in[k],
                        gc_sub(gc_load_vec(point_a_in, k), origin), gc_sub(gc_load_vec(point_b_in, k), origin),
                        gc_load_vec(normal_in, k));
                if (region_out[k] > 0) region_out[k] = -2;
            }
            if (m.n > m.room) {
                short_of = m.n;
                break;
            }
            gc_manifold_choose(&m, most);
            m.region += 1;
        }
        count_out[i] = short_of ? -short_of : m.kept;
        regions_out[i] = m.region;
    }
}

GC_KERNEL void c03_write(
    int n_pairs,
    int first,
    GC_GLOBAL const int *pairs_in, /* as above */
    GC_GLOBAL const int *shape_in,
    GC_GLOBAL const gc_real *position_in,
    GC_GLOBAL const gc_real *turn_in,
    GC_GLOBAL const gc_real *rounding_in,
    int room,
    GC_GLOBAL const int *point_in, /* (n_pairs, room, GC_PATCH_POINT_STRIDE) */
    GC_GLOBAL const gc_real *place_in,
    GC_GLOBAL const int *count_in,        /* (n_pairs,) */
    GC_GLOBAL const int *point_start_in,  /* (n_pairs,) */
    GC_GLOBAL const int *region_start_in, /* (n_pairs,) */
    GC_GLOBAL int *pair_out,              /* (n_points,) from here on */
    GC_GLOBAL int *region_out,
    GC_GLOBAL gc_uchar *kind_out,
    GC_GLOBAL int *feature_a_out,
    GC_GLOBAL int *feature_b_out,
    GC_GLOBAL int *key_out, /* (n_points, 2) */
    GC_GLOBAL gc_real *distance_out,
    GC_GLOBAL gc_real *point_a_out, /* (n_points, 3) in the world */
    GC_GLOBAL gc_real *point_b_out,
    GC_GLOBAL gc_real *normal_out,
    GC_GLOBAL gc_real *local_a_out, /* in the frames of the bodies */
    GC_GLOBAL gc_real *local_b_out)
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int pair = first + i, a = pairs_in[2 * pair], b = pairs_in[2 * pair + 1], to = point_start_in[i];
        gc_vec origin = gc_load_vec(position_in, a), offset = gc_sub(gc_load_vec(position_in, b), origin);
        gc_real round_a = GC_MAX(rounding_in[shape_in[a]], GC_R(0.0)), round_b = GC_MAX(rounding_in[shape_in[b]], GC_R(0.0));
        gc_patch_body turn_a, turn_b;
        for (int k = 0; k < 3; ++k) {
            turn_a.rows[k] = gc_load_vec(turn_in + 9 * (gc_long)a, k);
            turn_b.rows[k] = gc_load_vec(turn_in + 9 * (gc_long)b, k);
        }
        for (int k = 0; k < count_in[i]; ++k, ++to) {
            GC_GLOBAL const int *p = point_in + GC_PATCH_POINT_STRIDE * ((gc_long)room * i + k);
            GC_GLOBAL const gc_real *r = place_in + GC_PATCH_PLACE_STRIDE * ((gc_long)room * i + k);
            gc_vec on_a = gc_load_vec(r + GC_PATCH_PLACE_on_a, 0), on_b = gc_load_vec(r + GC_PATCH_PLACE_on_b, 0);
            gc_vec n = gc_load_vec(r + GC_PATCH_PLACE_normal, 0);
            on_a = gc_add(on_a, gc_scale(n, round_a));
            on_b = gc_sub(on_b, gc_scale(n, round_b));
            pair_out[to] = pair;
            region_out[to] = region_start_in[i] + p[GC_PATCH_POINT_region];
            kind_out[to] = (gc_uchar)(p[GC_PATCH_POINT_kind] & 255);
            feature_a_out[to] = p[GC_PATCH_POINT_a];
            feature_b_out[to] = p[GC_PATCH_POINT_b];
            key_out[2 * to] = p[GC_PATCH_POINT_low];
            key_out[2 * to + 1] = p[GC_PATCH_POINT_high];
            distance_out[to] = r[GC_PATCH_PLACE_distance] - (round_a + round_b);
            gc_store_vec(point_a_out, to, gc_add(on_a, origin));
            gc_store_vec(point_b_out, to, gc_add(on_b, origin));
            gc_store_vec(normal_out, to, n);
            gc_store_vec(local_a_out, to, gc_patch_local(&turn_a, on_a));
            gc_store_vec(local_b_out, to, gc_patch_local(&turn_b, gc_sub(on_b, offset)));
        }
    }
}
