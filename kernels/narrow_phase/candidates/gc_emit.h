/* gc_emit.h: the last tests before a pair of features becomes a candidate (first half of s07).
 * needs: narrow_phase/candidates/gc_scratch.h
 *
 * in:  two list entries whose boxes overlap
 * out: a candidate (pair, kind, feature of A, feature of B, earliest and latest s) appended to the launch's list
 * The properness bound is sound over the candidate's time bracket: the terms of formula (7), multiplied by the sine of the
 * angle, and e_i . n are sums of products of a fixed direction with one that rotates by at most theta in a step, so they
 * change by at most theta times the bracket's half width (docs/decisions/0005).
 */
#ifndef GC_EMIT_H
#define GC_EMIT_H

/* lists of no more edges are not sorted out: testing all of their boxes takes a few vector instructions */
#define GC_BLOCK 64
/* ranges of one box, the window in time and a pixel included */
typedef struct {
    gc_raster r0, r1, h0, h1, l0, l1;
} gc_range;

GC_FN gc_range gc_range_of(const gc_view *w, const gc_list *l, int i)
{
    gc_range r;
    gc_four place = gc_entry_place(l, i), time = gc_entry_time(l, i);
    gc_raster rim = GC_F(0.0), way = w->window;
    if (w->pixel > GC_F(0.0)) {
        rim = gc_pixel_rim(w, place.a);
        way = w->window + gc_pixel_way(w, place.a, place.b);
    }
    r.r0 = place.a - w->pixel;
    r.r1 = place.b + w->pixel;
    r.h0 = place.c - rim;
    r.h1 = place.d + rim;
    r.l0 = time.a - way;
    r.l1 = time.b + way;
    return r;
}

/* Everything the search knows about its pair. */
typedef struct {
    gc_view view;
    gc_mesh mesh_a, mesh_b;
    gc_body a, b;
    gc_list va, ea, fa, vb, eb, fb;                         /* what can meet */
    gc_list all_va, all_ea, all_fa, all_vb, all_eb, all_fb; /* what faces the right way */
    GC_GLOBAL gc_raster *hulls, *hull_parts;                /* of the six lists in this order; see s02_hulls */
    gc_rows rows;
    gc_records ra, rb, sa, sb, da, db;        /* in rows: A's and B's edges, spans of their faces, dots of their vertices */
    GC_GLOBAL int *row_counts;                /* (4,) records of the edges, spans of the faces */
    GC_GLOBAL int *met, *n_met;               /* entries whose boxes meet, of a group of many; (3,): gc_box_overlap.h */
    GC_GLOBAL gc_uint *masks;                 /* of a list's boxes, see gc_box_overlap.h */
    GC_GLOBAL gc_raster *bounds;              /* hulls of what many work-items look at: gc_cull.h */
    GC_GLOBAL gc_raster *chords_a, *chords_b; /* of long lists of edges, or none: gc_chords.h */
    GC_GLOBAL int *cells;                     /* where long lists are sorted: gc_tiles.h */
    int lists, share, shares;                 /* alone: are lists made, and which share of so many is searched? gc_tiles.h */
    GC_GLOBAL int *kept;                      /* has_hulls, for those who read the lists of others */
    int exact;                                /* answers, not those of segments or pixels */
    int has_hulls;                            /* the lists have been selected by hulls */
    GC_GLOBAL const int *topology;
    GC_GLOBAL const gc_raster *inverse_length_a, *inverse_length_b; /* (ne,) of each mesh, scaled */
    gc_raster scale; /* of the pair: times inverse_length gives 1 / scaled length */
    /* the launch's candidates */
    GC_GLOBAL int *candidates;     /* (capacity, GC_CANDIDATE_STRIDE) */
    GC_GLOBAL gc_raster *brackets; /* (capacity, GC_BRACKET_STRIDE) */
    GC_GLOBAL int *n_candidates;   /* may pass the capacity: then the launch is repeated with more room */
    int capacity, pair;
} gc_search;

/* a direction in culling precision */
typedef struct {
    gc_raster x, y, z;
} gc_dir;

GC_FN gc_dir gc_dir_make(gc_raster x, gc_raster y, gc_raster z)
{
    gc_dir d;
    d.x = x;
    d.y = y;
    d.z = z;
    return d;
}

GC_FN gc_raster gc_dir_dot(gc_dir a, gc_dir b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* a direction turned by theta s for culling, |theta s| <= pi/2; worst error of sine and 1 - cosine seen: 2.3e-7 */
GC_FN void gc_turn_dir(gc_raster angle, gc_dir *d)
{
    gc_raster u = angle * angle;
    gc_raster s = angle
                  * (GC_F(1.0)
                     + u
                           * (GC_F(-0.16666667)
                              + u
                                    * (GC_F(8.3333333e-3)
                                       + u * (GC_F(-1.98412698e-4) + u * (GC_F(2.75573192e-6) - u * GC_F(2.5052108e-8))))));
    gc_raster v = u
                  * (GC_F(0.5)
                     + u
                           * (GC_F(-4.1666667e-2)
                              + u
                                    * (GC_F(1.38888889e-3)
                                       + u * (GC_F(-2.48015873e-5) + u * (GC_F(2.75573192e-7) - u * GC_F(2.08767570e-9))))));
    gc_raster x = d->x, z = d->z;
    d->x = x + z * s - x * v;
    d->z = z - x * s - z * v;
}

GC_FN gc_dir gc_body_normal(const gc_body *b, int f)
{
    gc_four n = gc_turned_normal(b, f);
    return gc_dir_make(n.a, n.b, n.c);
}

GC_FN gc_dir gc_body_edge(const gc_search *q, const gc_body *b, const gc_mesh *m, GC_GLOBAL const gc_raster *inverse, int e)
{
    int v0 = q->topology[m->edges + 2 * e], v1 = q->topology[m->edges + 2 * e + 1];
    gc_raster f = inverse[e] * q->scale;
    gc_four x0 = gc_vertex_of(b, v0), x1 = gc_vertex_of(b, v1);
    return gc_dir_make((x1.a - x0.a) * f, (x1.b - x0.b) * f, (x1.c - x0.c) * f);
}

/* the term of one face, of a left one where entry is even */
GC_FN void gc_proper_term(const gc_body *b, int entry, gc_dir other, gc_raster *least, gc_raster *most)
{
    gc_raster value = gc_dir_dot(other, gc_body_normal(b, entry >> 1));
    if (entry & 1) value = -value;
    *least = GC_MIN(value, *least);
    *most = GC_MAX(value, *most);
}

/* Terms of formula (7) times the sine, for n = +eA x eB: a left face of A's edge gives eB . nF, a right one its
 * negative; B's edge gives +eA . nF for a left face, negative for a right one. Least and most of them. */
GC_FN void gc_proper_terms(
    const gc_search *q,
    const gc_body *b,
    const gc_mesh *m,
    int e,
    gc_dir other,
    gc_raster *least,
    gc_raster *most)
{
    int i = q->topology[m->edge_face_start + e], end = q->topology[m->edge_face_start + e + 1], last = end - 1;
    if (!GC_SERIAL && i < end) {
        /* nearly every edge has two faces; of one it is looked at twice */
        gc_proper_term(b, q->topology[m->edge_faces + i], other, least, most);
        gc_proper_term(b, q->topology[m->edge_faces + last], other, least, most);
        i += 1;
        end = last;
    }
    GC_ROLLED
    for (; i < end; ++i) gc_proper_term(b, q->topology[m->edge_faces + i], other, least, most);
}

/* can the edge pair reach the properness threshold while theta s is within angle +- spread? */
GC_LARGE int gc_edges_may_be_proper(const gc_search *q, int ea, int eb, gc_raster angle, gc_raster spread)
{
    gc_raster least = GC_F(2.0), most = GC_F(-2.0), best, sine, limit, threshold = q->view.min_properness;
    gc_dir da = gc_body_edge(q, &q->a, &q->mesh_a, q->inverse_length_a, ea);
    gc_dir db = gc_body_edge(q, &q->b, &q->mesh_b, q->inverse_length_b, eb), da_back = da, db_turned = db;
    gc_raster cx, cy, cz;
    int reflex = (q->topology[q->mesh_a.edge_flags + ea] | q->topology[q->mesh_b.edge_flags + eb]) & GC_EDGE_REFLEX;
    /* directions are differences of rounded places: the shorter the edge, the less they are worth */
    spread += q->view.pad * q->scale * (q->inverse_length_a[ea] + q->inverse_length_b[eb]);
    gc_turn_dir(angle, &db_turned);
    gc_turn_dir(-angle, &da_back);
    gc_proper_terms(q, &q->a, &q->mesh_a, ea, db_turned, &least, &most);
    gc_proper_terms(q, &q->b, &q->mesh_b, eb, da_back, &least, &most);
    best = GC_MAX(least, -most) + spread + GC_F(2.0) * GC_CULL_PROPERNESS;
    cx = da.y * db_turned.z - da.z * db_turned.y;
    cy = da.z * db_turned.x - da.x * db_turned.z;
    cz = da.x * db_turned.y - da.y * db_turned.x;
    sine = GC_SQRT_R(cx * cx + cy * cy + cz * cz);
    if (reflex && threshold > GC_F(0.0)) return 0;
    /* the threshold times the sine, at its least demanding within the bracket */
    limit = threshold < GC_F(0.0) ? GC_MIN(sine + spread, GC_F(1.0)) : GC_MAX(sine - spread, GC_F(0.0));
    return best >= threshold * limit;
}

/* the same for a vertex of body v against face f of body o; way: +1 the vertex is B's */
GC_LARGE int gc_vertex_may_be_proper(
    const gc_search *q,
    const gc_body *o,
    int f,
    const gc_body *b,
    const gc_mesh *m,
    GC_GLOBAL const gc_raster *inverse,
    int v,
    gc_raster angle,
    gc_raster spread)
{
    int i = q->topology[m->vertex_edge_start + v], end = q->topology[m->vertex_edge_start + v + 1];
    gc_dir n = gc_body_normal(o, f);
    gc_four x = gc_vertex_of(b, v);
    gc_raster limit = q->view.min_properness - spread - GC_CULL_PROPERNESS, height;
    gc_turn_dir(angle, &n);
    height = gc_dir_dot(gc_dir_make(x.a, x.b, x.c), n) - q->view.pad;
    for (; i < end; ++i) {
        int entry = q->topology[m->vertex_edges + i], e = entry >> 1;
        int other = q->topology[m->edges + 2 * e + 1 - (entry & 1)];
        gc_four to = gc_vertex_of(b, other);
        if ((gc_dir_dot(gc_dir_make(to.a, to.b, to.c), n) - height) * inverse[e] * q->scale < limit) return 0;
    }
    return 1;
}

/* the mesh's number of feature f of a part: source is one of its tables that lead back, or -1 */
GC_FN int gc_source(const gc_search *q, int source, int f) { return source < 0 ? f : q->topology[source + f]; }

GC_FN void gc_append(const gc_search *q, int kind, int fa, int fb, gc_raster s0, gc_raster s1)
{
    const gc_mesh *a = &q->mesh_a, *b = &q->mesh_b;
    GC_GLOBAL int *candidate;
    int i = GC_ATOMIC_ADD(q->n_candidates, 1);
    if (i >= q->capacity || i < 0) return;
    fa = gc_source(q, kind == GC_FV ? a->source_faces : (kind == GC_VF ? a->source_vertices : a->source_edges), fa);
    fb = gc_source(q, kind == GC_VF ? b->source_faces : (kind == GC_FV ? b->source_vertices : b->source_edges), fb);
    candidate = q->candidates + GC_CANDIDATE_STRIDE * i;
    candidate[GC_CANDIDATE_pair] = q->pair;
    candidate[GC_CANDIDATE_kind] = kind;
    candidate[GC_CANDIDATE_a] = fa;
    candidate[GC_CANDIDATE_b] = fb;
    q->brackets[GC_BRACKET_STRIDE * i + GC_BRACKET_first] = s0;
    q->brackets[GC_BRACKET_STRIDE * i + GC_BRACKET_last] = s1;
}

/* features of times from a0 to a1 and from b0 to b1, whose boxes meet: the bracket in time, of steps */
GC_FN void gc_bracket(const gc_view *w, gc_raster a0, gc_raster a1, gc_raster b0, gc_raster b1, gc_raster *s0, gc_raster *s1)
{
    *s0 = GC_F(-0.5);
    *s1 = GC_F(0.5);
    if (!(w->speed > GC_F(0.0))) return;
    a0 = (a0 - b1) * w->inv_speed;
    a1 = (a1 - b0) * w->inv_speed;
    *s0 = a0 > GC_F(-0.5) ? GC_MIN(a0, GC_F(0.5)) : GC_F(-0.5);
    *s1 = a1 < GC_F(0.5) ? GC_MAX(a1, GC_F(-0.5)) : GC_F(0.5);
}

/* can they be proper enough between s0 and s1? */
GC_FN int gc_may_be_proper(const gc_search *q, int kind, int fa, int fb, gc_raster s0, gc_raster s1)
{
    gc_raster turn = GC_F(0.5) * q->view.theta, angle = (s0 + s1) * turn,
              spread = (s1 - s0) * turn + (GC_CULL_PROPERNESS + q->view.tilt);
    if (!q->view.cull_properness) return 1;
    /* by pixels a vertex has the time of a face's plane, which may be any of the step where the plane leads off the face */
    if (kind != GC_EE && q->view.pixel > GC_F(0.0)) {
        angle = GC_F(0.0);
        spread = turn + (GC_CULL_PROPERNESS + q->view.tilt);
    }
    if (kind == GC_EE) return gc_edges_may_be_proper(q, fa, fb, angle, spread);
    if (kind == GC_FV && !q->mesh_a.two_sided)
        return gc_vertex_may_be_proper(q, &q->a, fa, &q->b, &q->mesh_b, q->inverse_length_b, fb, -angle, spread);
    if (kind == GC_VF && !q->mesh_b.two_sided)
        return gc_vertex_may_be_proper(q, &q->b, fb, &q->a, &q->mesh_a, q->inverse_length_a, fa, angle, spread);
    return 1;
}

/* entries i of A's list and j of B's, of times from a0 to a1 and from b0 to b1, whose boxes meet: bracket in time, properness */
GC_FN void gc_emit_meeting(
    const gc_search *q,
    int kind,
    int fa,
    int fb,
    gc_raster a0,
    gc_raster a1,
    gc_raster b0,
    gc_raster b1)
{
    gc_raster s0, s1;
    gc_bracket(&q->view, a0, a1, b0, b1, &s0, &s1);
    if (gc_may_be_proper(q, kind, fa, fb, s0, s1)) gc_append(q, kind, fa, fb, s0, s1);
}

/* entries i of A's list and j of B's: whole boxes, and what follows if they meet */
GC_LARGE void gc_emit(const gc_search *q, int kind, const gc_list *la, int i, const gc_list *lb, int j)
{
    const gc_view *w = &q->view;
    gc_four place = gc_entry_place(lb, j), time = gc_entry_time(la, i);
    gc_raster a0 = time.a, a1 = time.b, b0, b1;
    gc_range a = gc_range_of(w, la, i);
    time = gc_entry_time(lb, j);
    b0 = time.a;
    b1 = time.b;
    if (a.r0 > place.b || a.r1 < place.a) return;
    if (a.h0 > place.d || a.h1 < place.c) return;
    if (a.l0 > b1 || a.l1 < b0) return;
    if (w->pixel > GC_F(0.0)) {
        a0 = a.l0 + w->window;
        a1 = a.l1 - w->window;
    }
    gc_emit_meeting(q, kind, la->id[i], lb->id[j], a0, a1, b0, b1);
}

#endif
