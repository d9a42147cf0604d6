/* gc_pierce.h: which shrunk edges of a solid pass through faces of another; and where one ends in a face, what the two share
 * there.
 * needs: narrow_phase/overlap/gc_solid.h
 *
 * A shrunk edge may end exactly in a plane of the other body, if shapes lie on one grid, or it may not be shrunk, as nothing
 * leads inwards from its end, and pass along a border. Such an edge decides nothing, and perhaps no other edge does. Then
 * the place itself is examined: the planes of all faces there divide its neighbourhood into cells, each wholly inside or
 * outside a body. One point of each cell that has room for the depth is tested against both.
 */
#ifndef GC_PIERCE_H
#define GC_PIERCE_H

/* edge e of s, shrunk, as the other body sees it; returns how far its ends must lie from a face that it goes through */
GC_FN gc_real gc_shrunk_edge(const gc_overlap *o, const gc_solid *s, int e, gc_vec *p, gc_vec *q)
{
    int v = o->t.topology[s->mesh->edges + 2 * e], w = o->t.topology[s->mesh->edges + 2 * e + 1];
    gc_real one = gc_through(o, s, v), two = gc_through(o, s, w);
    *p = gc_shrunk_over(o, s, v);
    *q = gc_shrunk_over(o, s, w);
    return GC_MAX(one, two);
}

/* is x within `far` of face f, both in the frame of s? */
GC_LARGE int gc_at_face(const gc_overlap *o, const gc_solid *s, int f, gc_vec x, gc_real far)
{
    int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1];
    gc_vec n = gc_normal(&o->t, s->mesh, f), u = gc_solid_corner(o, s, end - 1);
    if (GC_ABS(gc_dot(n, gc_sub(x, u))) > far) return 0;
    for (; j < end; ++j) {
        gc_vec v = gc_solid_corner(o, s, j), along = gc_sub(v, u);
        if (gc_dot(gc_cross(along, gc_sub(x, u)), n) < -far * gc_l1_norm(along)) return 0;
        u = v;
    }
    return 1;
}

/* ---- what two solids share at a place ---- */

/* the planes at a place, by their normals, in the frame of one of the bodies */
typedef struct {
    int n;
    gc_vec normals[GC_CORNER_PLANES];
} gc_cone;

GC_FN void gc_cone_add(gc_cone *c, gc_vec normal)
{
    int k;
    for (k = 0; k < c->n; ++k)
        if (gc_norm(gc_cross(c->normals[k], normal)) < GC_CORNER_PARALLEL) return;
    if (c->n < GC_CORNER_PLANES) c->normals[c->n++] = normal;
}

/* adds the planes of the faces of s within `far` of x; `turned`: in the other body's frame */
GC_LARGE void gc_cone_faces(const gc_overlap *o, const gc_solid *s, gc_vec x, gc_real far, int turned, gc_cone *c)
{
    int f, n = s->tree[GC_TREE_faces];
    gc_real pad = gc_node_pad(o, s) + far;
    gc_visit w;
    if (n == 0) {
        for (f = 0; f < s->mesh->nf; ++f)
            if (gc_at_face(o, s, f, x, far)) {
                gc_vec normal = gc_normal(&o->t, s->mesh, f);
                gc_cone_add(c, turned ? gc_rotate(s->rot, normal) : normal);
            }
        return;
    }
    w = gc_visit_begin(n, 0, 0, n);
    while (!gc_visit_done(&w)) {
        if (gc_meets_node(s->nodes + GC_NODE_STRIDE * (s->tree[GC_TREE_node] + gc_visit_node(&w)), x, x, o->shrink, pad)) {
            if (w.level > 0) {
                gc_visit_down(&w);
                continue;
            }
            f = gc_solid_leaf(o, s, w.node);
            if (gc_at_face(o, s, f, x, far)) {
                gc_vec normal = gc_normal(&o->t, s->mesh, f);
                gc_cone_add(c, turned ? gc_rotate(s->rot, normal) : normal);
            }
        }
        gc_visit_next(&w);
    }
}

/* Is x, in the frame of s, inside both, and what is around it by `depth`? */
GC_LARGE int gc_inside_both(const gc_overlap *o, const gc_solid *s, const gc_solid *other, gc_vec x, gc_real depth)
{
    gc_real none = GC_R(0.0);
    int j;
    for (j = -1; j < 6; ++j) {
        gc_real step = j < 0 ? none : (j & 1 ? depth : -depth);
        gc_vec y = gc_add(x, gc_make(j < 2 ? step : none, j / 2 == 1 ? step : none, j > 3 ? step : none));
        if (!gc_inside_solid(o, s, y) || !gc_inside_solid(o, other, gc_solid_over(s, y))) return 0;
    }
    return 1;
}

/* Do the solids share a cell at x, a place in the frame of s where planes are up to `far` off?
 *
 * Each cell has an edge, in which two planes meet. Beside it, towards the middle of its angle there, is a point that no
 * plane divides from the cell, as long as it stays nearer to the edge than the others are. */
GC_LARGE int gc_cone_shared(
    const gc_overlap *o,
    const gc_solid *s,
    const gc_solid *other,
    gc_vec x,
    gc_real far,
    gc_real depth)
{
    gc_cone c;
    int i, j, k, way;
    c.n = 0;
    gc_cone_faces(o, s, x, far, 0, &c);
    gc_cone_faces(o, other, gc_solid_over(s, x), far, 1, &c);
    for (i = 1; i < c.n; ++i)
        for (j = 0; j < i; ++j) {
            gc_vec line = gc_cross(c.normals[i], c.normals[j]), a, b;
            gc_real room = GC_R(1.0);
            line = gc_scale(line, GC_R(1.0) / gc_norm(line));
            a = gc_cross(c.normals[i], line);
            b = gc_cross(c.normals[j], line);
            for (k = 0; k < c.n; ++k) {
                gc_real along = GC_ABS(gc_dot(c.normals[k], line));
                if (along > GC_CORNER_PARALLEL) room = GC_MIN(room, along);
            }
            for (way = 0; way < 8; ++way) {
                gc_vec to = gc_add(
                    gc_scale(a, way & 1 ? GC_R(1.0) : GC_R(-1.0)), gc_scale(b, way & 2 ? GC_R(1.0) : GC_R(-1.0)));
                gc_real least = GC_R(1.0);
                to = gc_scale(to, GC_R(0.5) * room / gc_norm(to));
                to = way & 4 ? gc_add(to, line) : gc_sub(to, line);
                for (k = 0; k < c.n; ++k) least = GC_MIN(least, GC_ABS(gc_dot(c.normals[k], to)));
                if (least < GC_CORNER_ROOM) continue; /* a sliver, or on a third plane: the next ones have it */
                to = gc_scale(to, (far + GC_R(2.0) * depth) / least);
                if (gc_inside_both(o, s, other, gc_add(x, to), depth)) return 1;
            }
        }
    return 0;
}

/* ---- through a face ---- */

/* Does an edge of the other body pass through face f of s, both in the frame of s? Its ends lie on both sides by more than
 * `through` (gc_through). For what was shrunk, faces are wider by rounding, so that nothing slips through between two of them;
 * for what was not, they are narrower, so that passing along a border is touch. 2: it may end in the face, or pass along its
 * border. */
GC_LARGE int gc_pierces(const gc_overlap *o, const gc_solid *s, int f, gc_vec p, gc_vec q, gc_real through)
{
    int j = o->t.topology[s->mesh->face_start + f], end = o->t.topology[s->mesh->face_start + f + 1];
    gc_vec n = gc_normal(&o->t, s->mesh, f), u = gc_solid_corner(o, s, end - 1), x;
    gc_real dp = gc_dot(n, gc_sub(p, u)), dq = gc_dot(n, gc_sub(q, u)), wider = through > o->rough ? -through : through;
    if ((dp > through && dq > through) || (dp < -through && dq < -through)) return 0;
    if (GC_MIN(GC_ABS(dp), GC_ABS(dq)) <= through) return 2;
    x = gc_add(p, gc_scale(gc_sub(q, p), dp / (dp - dq)));
    for (; j < end; ++j) {
        gc_vec v = gc_solid_corner(o, s, j), along = gc_sub(v, u);
        if (gc_dot(gc_cross(along, gc_sub(x, u)), n) < -wider * gc_l1_norm(along)) return wider < through ? 2 : 0;
        u = v;
    }
    return 1;
}

/* ... if edge e of the other may: do the solids share volume where it does? Only closed bodies have an inside, and what is too
 * thin is left out. */
GC_RARE int gc_shared_at(const gc_overlap *o, const gc_solid *s, const gc_solid *other, int f, int e)
{
    int corner = o->t.topology[s->mesh->face_start + f], j;
    gc_vec n = gc_normal(&o->t, s->mesh, f), u = gc_solid_corner(o, s, corner), p, q, at[3];
    gc_real through = gc_shrunk_edge(o, other, e, &p, &q), dp = gc_dot(n, gc_sub(p, u)), dq = gc_dot(n, gc_sub(q, u));
    gc_real mine = gc_solid_depth(o, other, o->t.topology[other->mesh->edges + 2 * e]);
    gc_real depth = GC_MIN(mine, gc_solid_depth(o, s, o->t.topology[s->mesh->face_vertices + corner]));
    int in_p = GC_ABS(dp) <= through, in_q = GC_ABS(dq) <= through;
    if (!s->closed || !other->closed || depth <= GC_OVERLAP_SPECK * o->rough) return 0;
    at[0] = p;
    at[1] = q;
    at[2] = in_p || in_q ? p : gc_add(p, gc_scale(gc_sub(q, p), dp / (dp - dq)));
    for (j = 0; j < 3; ++j)
        if ((j == 0 ? in_p : (j == 1 ? in_q : !in_p && !in_q)) && gc_at_face(o, s, f, at[j], through)
            && gc_cone_shared(o, s, other, at[j], GC_R(2.0) * mine, depth))
            return 1;
    return 0;
}

/* Does edge e of the other, shrunk, pass through face f? If it ends in the face, or passes along its border, what is there
 * decides. */
GC_FN int gc_passes(
    const gc_overlap *o,
    const gc_solid *s,
    const gc_solid *other,
    int f,
    int e,
    gc_vec p,
    gc_vec q,
    gc_real through)
{
    int answer = gc_pierces(o, s, f, p, q, through);
    return answer < 2 ? answer : gc_shared_at(o, s, other, f, e);
}

/* does edge e of the other, shrunk, pass through any face of s? With a tree only the faces whose boxes it meets are looked at. */
GC_LARGE int gc_pierces_any(
    const gc_overlap *o,
    const gc_solid *s,
    const gc_solid *other,
    int e,
    gc_vec p,
    gc_vec q,
    gc_real through)
{
    int f, n = s->tree[GC_TREE_faces];
    gc_real pad = gc_node_pad(o, s);
    gc_vec low = gc_make(GC_MIN(p.x, q.x), GC_MIN(p.y, q.y), GC_MIN(p.z, q.z));
    gc_vec high = gc_make(GC_MAX(p.x, q.x), GC_MAX(p.y, q.y), GC_MAX(p.z, q.z));
    gc_visit w;
    if (n == 0) {
        for (f = 0; f < s->mesh->nf; ++f)
            if (gc_passes(o, s, other, f, e, p, q, through)) return 1;
        return 0;
    }
    w = gc_visit_begin(n, 0, 0, n);
    while (!gc_visit_done(&w)) {
        if (gc_meets_node(
                s->nodes + GC_NODE_STRIDE * (s->tree[GC_TREE_node] + gc_visit_node(&w)), low, high, o->shrink, pad)) {
            if (w.level > 0) {
                gc_visit_down(&w);
                continue;
            }
            if (gc_passes(o, s, other, gc_solid_leaf(o, s, w.node), e, p, q, through)) return 1;
        }
        gc_visit_next(&w);
    }
    return 0;
}

#endif
