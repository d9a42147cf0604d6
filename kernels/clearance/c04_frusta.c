/* c04_frusta: places of pairs with a cylinder or a cone at a pose: all within a margin, and how deep they overlap.
 * needs: clearance/gc_frustum_leads.h
 *
 * in:  meshes as gc_patch.h and gc_frustum_near.h have them, poses, a margin for each pair
 * out: of each pair its places, in any order, and whether it overlaps without one
 * One work-item per pair, which has room of its own for its places; where one has too little, it is launched again with more. Source:
 * docs/decisions/0146.
 * Degenerate: what is parallel has no place of its own; its corners tell it.
 */

#define GC_FRUSTUM_MESH_ARGS \
    GC_GLOBAL const int *forms_in,      /* (n_meshes, GC_PATCH_MESH_STRIDE) */ \
        GC_GLOBAL const int *frusta_in, /* (n_meshes, GC_FRUSTUM_MESH_STRIDE) */ \
        GC_GLOBAL const int *flat_in, GC_GLOBAL const gc_real *flat_reals_in, \
        GC_GLOBAL const gc_real *radius_in, /* (n_meshes, 4): bounding radius, rounding, both ends (-1: none) */ \
        GC_GLOBAL const int *shape_in, GC_GLOBAL const gc_real *position_in, /* (n_bodies, 3) */ \
        GC_GLOBAL const gc_real *quat_in                                     /* (n_bodies, 4) */

GC_FN GC_GLOBAL int *gc_frustum_int(const gc_frustum_list *q, int i) { return q->ints + GC_FRUSTUM_INT_STRIDE * i; }
GC_FN GC_GLOBAL gc_real *gc_frustum_real(const gc_frustum_list *q, int i) { return q->reals + GC_FRUSTUM_REAL_STRIDE * i; }
GC_FN gc_real gc_frustum_gap(const gc_frustum_list *q, int i) { return gc_frustum_real(q, i)[GC_FRUSTUM_REAL_distance]; }
GC_FN gc_vec gc_frustum_normal(const gc_frustum_list *q, int i)
{
    return gc_load_vec(gc_frustum_real(q, i) + GC_FRUSTUM_REAL_normal, 0);
}

/* which feature of M a normal is of */
GC_FN int gc_frustum_what(const gc_frustum_list *q, int i, int *number)
{
    int kind = gc_frustum_int(q, i)[GC_FRUSTUM_INT_kind], m = gc_frustum_int(q, i)[GC_FRUSTUM_INT_m];
    *number = kind == GC_NO_PLACE ? m >> 2 : m;
    return kind == GC_NO_PLACE ? m & 3 : kind == GC_EV || kind == GC_EE ? GC_PATCH_EDGE : GC_PATCH_VERTEX;
}

/* Of normals of overlaps those stay that a smaller way along another does not settle; of a convex mesh the least. Returns 0, or 1 + one
 * that is left. */
GC_LARGE int gc_frustum_settle(gc_frustum_query *q, int only)
{
    gc_frustum_list *list = &q->list;
    gc_real shallow = -GC_OVERLAP_DEPTH * list->size, tol = GC_FRUSTUM_BESIDE * list->size;
    int n = GC_MIN(list->n, list->room), number, best = -1, apart = q->apart;
    for (int k = 0; k < n; ++k) apart |= gc_frustum_gap(list, k) >= shallow;
    for (int k = 0; k < n && only && apart; ++k) /* of two convex bodies a plane is between */
        if (gc_frustum_gap(list, k) < shallow) gc_frustum_int(list, k)[GC_FRUSTUM_INT_state] = GC_FRUSTUM_DROPPED;
    for (int i = 0; i < n; ++i) { /* the nearest first */
        int next = -1;
        for (int k = 0; k < n; ++k) {
            GC_GLOBAL int *state = &gc_frustum_int(list, k)[GC_FRUSTUM_INT_state];
            if (*state != GC_FRUSTUM_LEADS && *state != GC_FRUSTUM_ALONG) continue;
            if (gc_frustum_gap(list, k) >= shallow || gc_frustum_int(list, k)[GC_FRUSTUM_INT_k] < 0) continue;
            if (next < 0 || gc_frustum_gap(list, k) > gc_frustum_gap(list, next)) next = k;
        }
        if (next < 0) break;
        if (best >= 0 && only) gc_frustum_int(list, next)[GC_FRUSTUM_INT_state] = GC_FRUSTUM_DROPPED;
        else {
            int what = gc_frustum_what(list, next, &number),
                stays = only || gc_frustum_meets(q, &q->frustum.f, what, number, tol);
            for (int k = 0; k < n && stays && !only; ++k) {
                gc_vec other = gc_frustum_normal(list, k);
                gc_real way = -gc_frustum_gap(list, k), c = gc_dot(other, gc_frustum_normal(list, next));
                gc_frustum moved = q->frustum.f;
                if (gc_frustum_int(list, k)[GC_FRUSTUM_INT_k] >= 0 || c >= GC_PATCH_ALIGNED) continue;
                moved.low = gc_add(moved.low, gc_scale(other, way));
                stays = -gc_frustum_gap(list, next) - way * c > tol && gc_frustum_meets(q, &moved, what, number, tol);
            }
            if (stays) {
                best = next;
                gc_frustum_int(
                    list, next)[GC_FRUSTUM_INT_k] = -1 - gc_frustum_int(list, next)[GC_FRUSTUM_INT_k]; /* looked at */
            } else gc_frustum_int(list, next)[GC_FRUSTUM_INT_state] = GC_FRUSTUM_DROPPED;
        }
    }
    for (int k = 0; k < n; ++k) {
        GC_GLOBAL int *mark = &gc_frustum_int(list, k)[GC_FRUSTUM_INT_k];
        if (*mark < 0) *mark = -1 - *mark;
    }
    return best + 1;
}

/* Is a point inside of a solid? By the faces that a line from it goes through; what it meets exactly counts on one side, the same of each edge. */
GC_LARGE int gc_frustum_inside(const gc_frustum_query *q, gc_vec p)
{
    const gc_patch_body *b = q->body;
    gc_vec way = gc_make(GC_R(0.53728431), GC_R(0.61803399), GC_R(0.57411682)), axes[3];
    int inside = 0, faces = gc_frustum_faces(q);
    gc_patch_axes(gc_unit(way, way), axes);
    for (int face = 0; face < faces; ++face) {
        int begin = gc_flat_at(b, GC_PATCH_MESH_face_start, face), end = gc_flat_at(b, GC_PATCH_MESH_face_start, face + 1);
        int some = 0, others = 0;
        gc_vec n = gc_flat_normal(b, face), corner = gc_flat_vertex(b, gc_flat_at(b, GC_PATCH_MESH_corner, begin));
        for (int k = begin; k < end; ++k) {
            int one = gc_flat_at(b, GC_PATCH_MESH_corner, k),
                two = gc_flat_at(b, GC_PATCH_MESH_corner, k + 1 < end ? k + 1 : begin), turned = one > two, left;
            gc_vec u = gc_sub(gc_flat_vertex(b, turned ? two : one), p),
                   v = gc_sub(gc_flat_vertex(b, turned ? one : two), p);
            left = gc_dot(axes[0], u) * gc_dot(axes[1], v) - gc_dot(axes[1], u) * gc_dot(axes[0], v) >= GC_R(0.0);
            if (left != turned) some = 1;
            else others = 1;
        }
        if (some && others) continue;
        if ((gc_dot(n, gc_sub(corner, p)) > GC_R(0.0)) == (gc_dot(n, axes[2]) > GC_R(0.0))) inside = !inside;
    }
    return inside;
}

/* Do K and M meet by more than is touch? */
GC_LARGE int gc_frustum_hidden(gc_frustum_query *q)
{
    const gc_frustum *f = &q->frustum.f;
    gc_frustum_walk w = gc_frustum_walk_from();
    gc_real deep = GC_OVERLAP_DEPTH * q->list.size;
    if ((q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_CONVEX) == GC_FRUSTUM_CONVEX) {
        if (q->apart) return 0; /* a plane between both */
        for (int i = 0; i < GC_MIN(q->list.n, q->list.room); ++i)
            if (gc_frustum_gap(&q->list, i) >= -deep) return 0;
    }
    for (int face = gc_frustum_next(q, &w); face >= 0; face = gc_frustum_next(q, &w))
        if (gc_frustum_meets(q, f, GC_PATCH_FACE, face, deep)) return 1;
    if (!(q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_SOLID)) return 0;
    return gc_frustum_inside(q, gc_add(f->low, gc_scale(f->axis, GC_R(0.5) * f->length)));
}

/* The same of a convex M, first by a feature of which a normal is. */
GC_LARGE int gc_frustum_overlaps(gc_frustum_query *q, int lead)
{
    gc_real deep = GC_OVERLAP_DEPTH * q->list.size;
    int number, what = gc_frustum_what(&q->list, lead, &number);
    if (gc_frustum_meets(q, &q->frustum.f, what, number, deep)) return 1;
    if (gc_frustum_faces(q)) return gc_frustum_hidden(q);
    for (int k = 0; k < q->form[GC_FRUSTUM_MESH_edges]; ++k)
        if (gc_frustum_meets(q, &q->frustum.f, GC_PATCH_EDGE, k, deep)) return 1;
    return 0;
}

/* Corners of all that lies across a normal that counts */
GC_LARGE void gc_frustum_corners(gc_frustum_query *q)
{
    gc_frustum_list *list = &q->list;
    int n = GC_MIN(list->n, list->room), number, face;
    gc_real tie = GC_PATCH_TIE * list->size;
    gc_frustum_walk w = gc_frustum_walk_from();
    for (face = gc_frustum_next(q, &w); face >= 0; face = gc_frustum_next(q, &w))
        for (int side = 0; side < (q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_TWO_SIDED ? 2 : 1); ++side) {
            gc_vec out = gc_flat_normal(q->body, face);
            gc_real deepest = GC_FRUSTUM_FAR;
            gc_patch_view view;
            gc_patch_loop l;
            gc_frustum_view v;
            if (side) out = gc_opposite(out);
            for (int k = 0; k < n; ++k) {
                int state = gc_frustum_int(list, k)[GC_FRUSTUM_INT_state];
                if ((state == GC_FRUSTUM_LEADS || state == GC_FRUSTUM_ALONG)
                    && gc_dot(out, gc_frustum_normal(list, k)) >= GC_PATCH_ALIGNED)
                    deepest = GC_MIN(deepest, gc_frustum_gap(list, k) - tie);
            }
            if (!(deepest <= list->margin)) continue;
            gc_frustum_look(list, out);
            gc_frustum_loop(q, face, &view, &l);
            v = gc_frustum_view_of(list, &q->frustum, GC_R(1.0));
            list->floor = deepest;
            gc_frustum_face(list, &v, &l, q->within);
        }
    for (int k = 0; k < n; ++k) {
        int state = gc_frustum_int(list, k)[GC_FRUSTUM_INT_state], edge, across = 0;
        gc_vec out = gc_frustum_normal(list, k);
        gc_patch_view view;
        gc_patch_loop l;
        gc_frustum_view v;
        if ((state != GC_FRUSTUM_LEADS && state != GC_FRUSTUM_ALONG) || gc_frustum_what(list, k, &edge) != GC_PATCH_EDGE)
            continue;
        number = gc_flat_at(q->body, GC_PATCH_MESH_edge_start, edge + 1);
        for (int i = gc_flat_at(q->body, GC_PATCH_MESH_edge_start, edge); i < number; ++i)
            across |= gc_dot(out, gc_flat_normal(q->body, gc_flat_at(q->body, GC_PATCH_MESH_edge_face, i)))
                      >= GC_PATCH_ALIGNED;
        if (across && state == GC_FRUSTUM_LEADS) continue;
        gc_frustum_look(list, out);
        gc_frustum_loop(q, q->body->form[GC_PATCH_MESH_faces] + edge, &view, &l);
        v = gc_frustum_view_of(list, &q->frustum, GC_R(1.0));
        list->floor = gc_frustum_gap(list, k) - tie;
        gc_frustum_edge(list, &v, &l, q->within);
    }
}

/* Places of a mesh and K; returns whether they overlap without a place that says so. */
GC_LARGE int gc_frustum_mesh(gc_frustum_query *q)
{
    gc_frustum_list *list = &q->list;
    int convex = (q->form[GC_FRUSTUM_MESH_kind] & GC_FRUSTUM_CONVEX) == GC_FRUSTUM_CONVEX, hidden, settled;
    gc_frustum_find(q, GC_FRUSTUM_FAR);
    if (list->n > list->room) return 0;
    settled = gc_frustum_settle(q, convex);
    hidden = settled ? convex : gc_frustum_faces(q) > 0;
    if (hidden) hidden = settled ? gc_frustum_overlaps(q, settled - 1) : gc_frustum_hidden(q);
    if (settled && convex && !hidden) { /* what is nearest is not near, and the bodies are apart */
        list->n = 0;
        return 0;
    }
    if (hidden && !(settled && -gc_frustum_gap(list, settled - 1) <= q->slack)) {
        /* features as far as the least way that is known may have a lesser one */
        gc_real far = settled ? -gc_frustum_gap(list, settled - 1) : GC_R(0.0);
        q->box[0] = gc_sub(q->box[0], gc_make(far, far, far));
        q->box[1] = gc_add(q->box[1], gc_make(far, far, far));
        q->all = !settled;
        q->fine = 1;
        list->n = 0;
        gc_frustum_find(q, GC_FRUSTUM_FAR);
        if (list->n > list->room) return 0;
        settled = gc_frustum_settle(q, 1);
    }
    hidden = hidden && !settled;
    gc_frustum_corners(q);
    return hidden;
}

/* ---- two of them ----------------------------------------------------------------------------------------------------------------- */

/* The greatest gap of E and F: as gc_frusta_apart, and of those that are deep in each other from more directions. */
GC_LARGE gc_real gc_frustum_apart(const gc_frusta *p, gc_vec *n)
{
    gc_vec zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), way, seeds[6];
    gc_real most = gc_frusta_apart(p, zero, n);
    if (most >= GC_R(0.0)) return most;
    way = gc_sub(
        gc_frustum_along(p->f->low, gc_frustum_end(p->f, 1), GC_R(0.5)),
        gc_frustum_along(p->e->low, gc_frustum_end(p->e, 1), GC_R(0.5)));
    seeds[0] = gc_unit(gc_cross(p->e->axis, p->f->axis), gc_across(p->e->axis));
    seeds[1] = gc_unit(gc_cross(p->e->axis, seeds[0]), seeds[0]);
    seeds[2] = gc_unit(gc_cross(p->f->axis, seeds[0]), seeds[0]);
    seeds[3] = gc_unit(way, seeds[0]);
    seeds[4] = gc_unit(gc_sub(way, gc_scale(p->e->axis, gc_dot(way, p->e->axis))), seeds[0]);
    seeds[5] = gc_unit(gc_sub(way, gc_scale(p->f->axis, gc_dot(way, p->f->axis))), seeds[0]);
    for (int k = 0; k < 6; ++k)
        for (int side = 0; side < 2; ++side) {
            gc_vec from = side ? gc_opposite(seeds[k]) : seeds[k], found;
            gc_real gap = gc_frusta_apart(p, from, &found);
            if (gap > most + gc_frusta_rounding(p)) {
                most = gap;
                *n = found;
            }
        }
    return most;
}

/* places of two */
GC_LARGE void gc_frustum_both(gc_frustum_query *q, const gc_posed_frustum *e)
{
    gc_frusta p;
    gc_vec n, on_e, on_f;
    gc_frustum_view ve, vf;
    int part_e, part_f, side_e, side_f, parallel;
    gc_real gap;
    p.e = &e->f;
    p.f = &q->frustum.f;
    gap = gc_frustum_apart(&p, &n);
    if (!(gap <= q->list.margin)) return;
    gc_frustum_look(&q->list, n);
    ve = gc_frustum_view_of(&q->list, e, GC_R(-1.0));
    vf = gc_frustum_view_of(&q->list, &q->frustum, GC_R(1.0));
    q->list.floor = gap - GC_PATCH_TIE * q->list.size;
    gc_frustum_pair(&q->list, &ve, &vf, q->within);
    /* what lies flat is told by its corners */
    gc_frusta_place(&p, n, gap, &on_e, &on_f, &part_e, &part_f);
    side_e = part_e == GC_PART_SIDE;
    side_f = part_f == GC_PART_SIDE;
    parallel = !(gc_norm(gc_cross(e->f.axis, q->frustum.f.axis)) > GC_PATCH_PARALLEL);
    if (q->list.n && parallel && side_e == side_f) return;
    gc_frustum_store(
        &q->list, GC_FRUSTUM_LEADS,
        side_e   ? side_f ? GC_EE : GC_EV
        : side_f ? GC_VE
                 : GC_VV,
        side_e ? 0 : part_e, side_f ? 0 : part_f, gap, on_e, on_f, n);
}

/* ---- launched --------------------------------------------------------------------------------------------------------------------- */

/* a frustum in coordinates of its own, or, with rows and a shift, as another body sees it */
GC_FN gc_posed_frustum gc_frustum_load(const gc_patch_body *b, GC_GLOBAL const gc_real *radii)
{
    gc_posed_frustum c;
    gc_vec way;
    c.f.low = gc_flat_vertex(b, 0);
    way = gc_sub(gc_flat_vertex(b, 1), c.f.low);
    c.f.length = gc_norm(way);
    c.f.axis = gc_scale(way, GC_R(1.0) / c.f.length);
    c.f.radius[0] = radii[2];
    c.f.radius[1] = radii[3];
    c.marks[0] = gc_across(c.f.axis);
    c.marks[1] = gc_cross(c.f.axis, c.marks[0]);
    return c;
}

GC_FN gc_vec gc_frustum_turn(const gc_patch_body *b, gc_vec v)
{
    return gc_make(gc_dot(b->rows[0], v), gc_dot(b->rows[1], v), gc_dot(b->rows[2], v));
}

GC_FN void gc_frustum_seen_from(gc_posed_frustum *c, const gc_patch_body *own, const gc_patch_body *other)
{
    c->f.low = gc_patch_local(other, gc_add(gc_frustum_turn(own, c->f.low), gc_sub(own->at, other->at)));
    c->f.axis = gc_patch_local(other, gc_frustum_turn(own, c->f.axis));
    for (int k = 0; k < 2; ++k) c->marks[k] = gc_patch_local(other, gc_frustum_turn(own, c->marks[k]));
}

GC_FN int gc_frustum_kind(int kind, int turned)
{
    if (!turned) return kind;
    return kind == GC_FV ? GC_VF : kind == GC_VF ? GC_FV : kind == GC_EV ? GC_VE : kind == GC_VE ? GC_EV : kind;
}

/* places that are told come first, as A and B have them, relative to A's position; how many */
GC_FN int gc_frustum_write(gc_frustum_list *q, const gc_patch_body *m, int turned, gc_real round)
{
    int kept = 0;
    for (int i = 0; i < q->n; ++i) {
        GC_GLOBAL int *p = gc_frustum_int(q, i), *to = gc_frustum_int(q, kept);
        GC_GLOBAL gc_real *r = gc_frustum_real(q, i), *real = gc_frustum_real(q, kept);
        int kind = p[GC_FRUSTUM_INT_kind], a = p[GC_FRUSTUM_INT_m], b = p[GC_FRUSTUM_INT_k], state = p[GC_FRUSTUM_INT_state];
        gc_real gap = r[GC_FRUSTUM_REAL_distance];
        gc_vec n = gc_frustum_normal(q, i), on_m = gc_load_vec(r + GC_FRUSTUM_REAL_on_m, 0),
               on_k = gc_load_vec(r + GC_FRUSTUM_REAL_on_k, 0);
        if (state == GC_FRUSTUM_DROPPED || state == GC_FRUSTUM_ALONG) continue;
        on_m = gc_add(m->at, gc_frustum_turn(m, gc_add(on_m, gc_scale(n, round))));
        on_k = gc_add(m->at, gc_frustum_turn(m, on_k));
        n = gc_frustum_turn(m, n);
        to[GC_FRUSTUM_INT_kind] = gc_frustum_kind(kind, turned);
        to[GC_FRUSTUM_INT_m] = turned ? b : a;
        to[GC_FRUSTUM_INT_k] = turned ? a : b;
        real[GC_FRUSTUM_REAL_distance] = gap - round;
        gc_store_vec(real + GC_FRUSTUM_REAL_on_m, 0, turned ? on_k : on_m);
        gc_store_vec(real + GC_FRUSTUM_REAL_on_k, 0, turned ? on_m : on_k);
        gc_store_vec(real + GC_FRUSTUM_REAL_normal, 0, turned ? gc_opposite(n) : n);
        kept += 1;
    }
    return kept;
}

GC_KERNEL void c04_frusta(
    int n_pairs,
    int first, /* pair */
    GC_FRUSTUM_MESH_ARGS,
    GC_GLOBAL const int *pairs_in,      /* (pairs, 2) */
    GC_GLOBAL const gc_real *margin_in, /* (pairs,) */
    int room,                           /* for places of each pair */
    GC_GLOBAL int *place_ints_out,      /* (n_pairs, room, GC_FRUSTUM_INT_STRIDE), of A and B */
    GC_GLOBAL gc_real *place_reals_out, /* (n_pairs, room, GC_FRUSTUM_REAL_STRIDE), relative to A's position */
    GC_GLOBAL int *count_out,           /* (n_pairs,) places; below 0: less how many there is no room for */
    GC_GLOBAL int *hidden_out)          /* (n_pairs,) does it overlap without a place? */
{
    for (int i = GC_ITEM_LO(n_pairs); i < GC_ITEM_HI(n_pairs); i += GC_ITEM_STEP(n_pairs)) {
        int pair = first + i, a = pairs_in[2 * pair], b = pairs_in[2 * pair + 1], ka = shape_in[a], kb = shape_in[b];
        int both = radius_in[4 * ka + 2] >= GC_R(0.0) && radius_in[4 * kb + 2] >= GC_R(0.0);
        int turned = !both && radius_in[4 * ka + 2] >= GC_R(0.0); /* A is K */
        gc_vec origin = gc_load_vec(position_in, a), zero = gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)), reach, middle;
        gc_vec offset = gc_sub(gc_load_vec(position_in, b), origin), own, other;
        gc_real round = GC_R(0.0), near;
        gc_patch_body m, k;
        gc_frustum_query q;
        own = turned ? offset : zero;
        other = turned ? zero : offset;
        gc_patch_body_load(
            &m, forms_in, flat_in, flat_reals_in, quat_in + 4 * (gc_long)(turned ? b : a), turned ? kb : ka, own);
        gc_patch_body_load(
            &k, forms_in, flat_in, flat_reals_in, quat_in + 4 * (gc_long)(turned ? a : b), turned ? ka : kb, other);
        if (!both) round = radius_in[4 * (turned ? kb : ka) + 1];
        q.body = &m;
        q.form = frusta_in + GC_FRUSTUM_MESH_STRIDE * (turned ? kb : ka);
        q.all = q.apart = q.fine = 0;
        q.frustum = gc_frustum_load(&k, radius_in + 4 * (turned ? ka : kb));
        gc_frustum_seen_from(&q.frustum, &k, &m);
        q.list.size = GC_MAX(radius_in[4 * ka], radius_in[4 * kb]);
        q.within = GC_PATCH_WITHIN * q.list.size;
        q.list.margin = margin_in[pair] + round + q.within;
        q.list.ints = place_ints_out + GC_FRUSTUM_INT_STRIDE * ((gc_long)room * i);
        q.list.reals = place_reals_out + GC_FRUSTUM_REAL_STRIDE * ((gc_long)room * i);
        q.list.room = room;
        q.list.n = q.list.dry = 0;
        q.list.least = GC_R(0.0);
        q.list.floor = -GC_FRUSTUM_FAR;
        q.slack = q.list.margin + GC_FRUSTUM_SLACK * (q.frustum.f.length + q.frustum.f.radius[0] + q.frustum.f.radius[1]);
        near = q.slack + q.within + GC_PATCH_TIE * q.list.size;
        middle = gc_frustum_along(q.frustum.f.low, gc_frustum_end(&q.frustum.f, 1), GC_R(0.5));
        reach = gc_scale(q.frustum.f.axis, GC_R(0.5) * q.frustum.f.length);
        near += GC_MAX(q.frustum.f.radius[0], q.frustum.f.radius[1]);
        reach = gc_make(GC_ABS(reach.x) + near, GC_ABS(reach.y) + near, GC_ABS(reach.z) + near);
        q.box[0] = gc_sub(middle, reach);
        q.box[1] = gc_add(middle, reach);
        hidden_out[i] = 0;
        if (both) {
            gc_posed_frustum e = gc_frustum_load(&m, radius_in + 4 * ka);
            gc_frustum_both(&q, &e);
        } else hidden_out[i] = gc_frustum_mesh(&q);
        if (q.list.n > room) count_out[i] = -q.list.n;
        else count_out[i] = gc_frustum_write(&q.list, &m, turned, round);
    }
}
