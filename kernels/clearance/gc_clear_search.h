/* gc_clear_search.h: branch and bound over a span of time and both trees of faces.
 * needs: clearance/gc_clear_features.h clearance/gc_clear_boxes.h
 *
 * Depth first, on a fixed stack: of a span and two nodes the greatest is divided, the span if B goes farther in it than the nodes are large.
 * Of both halves the one with the lower bound comes first: in the order of time the search would creep down where bodies come nearer.
 * Where they may meet the earlier span comes first. A leaf is two faces, with the features that they own; each two of these are followed
 * through halves of the span by themselves, in the order of time.
 */
#ifndef GC_CLEAR_SEARCH_H
#define GC_CLEAR_SEARCH_H

typedef struct {
    gc_real bound, way, first, last;
    int a, b;
} gc_clear_item;

/* two features at q's time, which is a half span h away from where they are bounded; kind: GC_FV, GC_VF, GC_EE */
GC_FN gc_real gc_clear_look(gc_clear *q, int kind, int a, int b, gc_real h, gc_real limit)
{
    gc_clear_near o;
    q->looks += 1;
    if (kind == GC_EE) gc_clear_edges(q, a, b, h, limit, &o);
    else if (kind == GC_FV) gc_clear_vertex_face(q, 0, a, b, h, limit, &o);
    else gc_clear_vertex_face(q, 1, b, a, h, limit, &o);
    gc_clear_take(q, o.distance, kind, a, b);
    return o.bound;
}

/* Two features from first to last, in halves as long as they cannot be told to stay away. */
GC_LARGE void gc_clear_follow(gc_clear *q, int kind, int a, int b, gc_real first, gc_real last)
{
    gc_real span = last - first, bound;
    gc_long k = 0;
    int level = 0;
    do {
        gc_real begin = first + (gc_real)k * span, h = GC_R(0.5) * span;
        int stops = 1;
        if (gc_clear_behind(q, begin)) return;
        gc_clear_to(q, begin + h);
        bound = gc_clear_look(q, kind, a, b, h, gc_clear_limit(q));
        if (bound >= gc_clear_limit(q)) gc_clear_stop(q, bound);
        else if (level >= GC_CLEAR_LEVELS || !(h > GC_R(0.0)) || q->looks > GC_CLEAR_LOOKS) gc_clear_stop(q, bound);
        else {
            k *= 2;
            level += 1;
            span *= GC_R(0.5);
            stops = 0;
        }
        if (stops) {
            k += 1;
            while (level > 0 && !(k & 1)) {
                k >>= 1;
                level -= 1;
                span *= GC_R(2.0);
            }
        }
    } while (level > 0);
}

/* The edges of one body's face that it owns, against a face of the other. */
GC_FN void gc_clear_cross(gc_clear *q, int side, int face, int other)
{
    const gc_mesh *m = side ? &q->a.mesh : &q->b.mesh;
    int j = q->t.topology[m->face_start + other], end = q->t.topology[m->face_start + other + 1];
    for (; j < end; ++j) {
        int e = q->t.topology[m->face_edges + j];
        if (gc_clear_owns_edge(q, m, other, e) && gc_clear_crosses(q, side, face, e))
            gc_clear_take(q, GC_R(0.0), GC_CLEAR_CROSSED, -1, -1);
    }
}

GC_LARGE void gc_clear_leaf(gc_clear *q, int a, int b, gc_real first, gc_real last)
{
    const gc_mesh *ma = &q->a.mesh, *mb = &q->b.mesh;
    int a0 = q->t.topology[ma->face_start + a], a1 = q->t.topology[ma->face_start + a + 1], i, j;
    int b0 = q->t.topology[mb->face_start + b], b1 = q->t.topology[mb->face_start + b + 1];
    for (j = b0; j < b0 + gc_clear_vertices(mb, b1 - b0) && !gc_is_thin(ma); ++j) {
        int v = q->t.topology[mb->face_vertices + j];
        if (gc_clear_owns_vertex(q, mb, b, v)) gc_clear_follow(q, GC_FV, a, v, first, last);
    }
    for (i = a0; i < a0 + gc_clear_vertices(ma, a1 - a0) && !gc_is_thin(mb); ++i) {
        int v = q->t.topology[ma->face_vertices + i];
        if (gc_clear_owns_vertex(q, ma, a, v)) gc_clear_follow(q, GC_VF, v, b, first, last);
    }
    for (i = a0; i < a0 + gc_clear_sides(ma, a1 - a0); ++i) {
        int e = q->t.topology[ma->face_edges + i];
        if (!gc_clear_owns_edge(q, ma, a, e)) continue;
        for (j = b0; j < b0 + gc_clear_sides(mb, b1 - b0); ++j) {
            int f = q->t.topology[mb->face_edges + j];
            if (gc_clear_owns_edge(q, mb, b, f)) gc_clear_follow(q, GC_EE, e, f, first, last);
        }
    }
    if (q->crossing) {
        gc_clear_cross(q, 0, a, b);
        gc_clear_cross(q, 1, b, a);
    }
}

/* Two nodes in a span, with their boxes, if they are to be looked at; returns whether. */
GC_FN int gc_clear_put(
    gc_clear *q,
    int a,
    const gc_clear_box *box_a,
    int b,
    const gc_clear_box *box_b,
    gc_real first,
    gc_real last,
    gc_clear_item *to)
{
    gc_real h = GC_R(0.5) * (last - first), limit = gc_clear_limit(q);
    if (gc_clear_behind(q, first)) return 0;
    q->looks += 1;
    gc_clear_to(q, first + h);
    to->bound = gc_clear_boxes(q, box_a, box_b, h, limit, &to->way);
    to->first = first;
    to->last = last;
    to->a = a;
    to->b = b;
    if (to->bound < limit) return 1;
    gc_clear_stop(q, to->bound);
    return 0;
}

/* both halves of what is divided go onto the stack of n, the one to be looked at first on top; returns how many there are then */
GC_FN int gc_clear_divide(gc_clear *q, const gc_clear_item *o, gc_clear_item *stack, int n)
{
    int level_a = gc_node_level(o->a), level_b = gc_node_level(o->b), before = n, child, part;
    gc_clear_box a = gc_clear_box_of(q, &q->a, o->a), b = gc_clear_box_of(q, &q->b, o->b), inner;
    int in_time = o->way > GC_MAX(a.reach, b.reach) && o->last - o->first > GC_CLEAR_SPAN;
    gc_real middle = GC_R(0.5) * (o->first + o->last);
    if (in_time) {
        n += gc_clear_put(q, o->a, &a, o->b, &b, middle, o->last, stack + n);
        n += gc_clear_put(q, o->a, &a, o->b, &b, o->first, middle, stack + n);
    }
    for (child = in_time ? -1 : 1; child >= 0; --child) {
        if (level_b == 0 || (level_a > 0 && a.reach >= b.reach)) {
            part = 2 * gc_node_place(o->a) + child;
            if (part >= (q->a.faces + (1 << (level_a - 1)) - 1) >> (level_a - 1)) continue;
            part = gc_node_of(level_a - 1, part);
            inner = gc_clear_box_of(q, &q->a, part);
            n += gc_clear_put(q, part, &inner, o->b, &b, o->first, o->last, stack + n);
        } else {
            part = 2 * gc_node_place(o->b) + child;
            if (part >= (q->b.faces + (1 << (level_b - 1)) - 1) >> (level_b - 1)) continue;
            part = gc_node_of(level_b - 1, part);
            inner = gc_clear_box_of(q, &q->b, part);
            n += gc_clear_put(q, o->a, &a, part, &inner, o->first, o->last, stack + n);
        }
    }
    if (n - before == 2 && !(in_time && stack[before + 1].bound < GC_R(0.0))
        && stack[before].bound < stack[before + 1].bound) {
        gc_clear_item swapped = stack[before];
        stack[before] = stack[before + 1];
        stack[before + 1] = swapped;
    }
    return n;
}

/* all that is near in a span, which may be a moment */
GC_LARGE void gc_clear_search(gc_clear *q, gc_real first, gc_real last)
{
    gc_clear_item stack[GC_CLEAR_STACK];
    int a = gc_node_of(q->a.height, 0), b = gc_node_of(q->b.height, 0), n;
    gc_clear_box box_a = gc_clear_box_of(q, &q->a, a), box_b = gc_clear_box_of(q, &q->b, b);
    n = gc_clear_put(q, a, &box_a, b, &box_b, first, last, stack);
    while (n > 0) {
        gc_clear_item o = stack[--n];
        if (gc_clear_behind(q, o.first)) continue;
        if (o.bound >= gc_clear_limit(q) || q->looks > GC_CLEAR_LOOKS) {
            gc_clear_stop(q, o.bound);
            continue;
        }
        if (gc_node_level(o.a) > 0 || gc_node_level(o.b) > 0) n = gc_clear_divide(q, &o, stack, n);
        else
            gc_clear_leaf(
                q, gc_clear_face(q, &q->a, gc_node_place(o.a)), gc_clear_face(q, &q->b, gc_node_place(o.b)), o.first,
                o.last);
    }
}

#endif
