/* What body_motion_contacts.c asks about the sides of a feature: do its faces turn towards what comes, and do its neighbours lie
   behind a plane. */
#ifndef BODY_MOTION_SIDES_H
#define BODY_MOTION_SIDES_H

#include "body_motion.h"

static real facing_of(const Actor *x, const State *s, const int *faces, int n, vec flow, real sign)
{
    real best = -1e300L;
    for (int i = 0; i < n; i++) {
        real pace = sign * dot(turned(s->r, x->face_normal[faces[i]]), flow);
        if (x->mesh->two_sided) pace = fabsl(pace);
        if (pace > best) best = pace;
    }
    return best;
}

/* In the face, away from the edge, at right angles to it. */
static vec aside(const Actor *x, const State *s, int face, int edge)
{
    const int *e = x->mesh->edge + 2 * edge;
    vec n = x->face_normal[face], u = unit(sub(x->vertex[e[1]], x->vertex[e[0]])), q = cross(n, u);
    if (dot(q, sub(x->face_mid[face], x->vertex[e[0]])) < 0) q = mul(-1, q);
    return turned(s->r, q);
}

static real side_terms(const Actor *x, const State *s, int edge, vec n)
{
    real least = 1e300L;
    for (int i = x->mesh->edge_face_start[edge]; i < x->mesh->edge_face_start[edge + 1]; i++) {
        real d = dot(n, aside(x, s, x->mesh->edge_face[i], edge));
        if (d < least) least = d;
    }
    return least;
}

static real leaving(const Actor *x, const State *s, int vertex, vec n)
{
    real least = 1e300L;
    for (int i = x->mesh->vertex_other_start[vertex]; i < x->mesh->vertex_other_start[vertex + 1]; i++) {
        real d = dot(n, turned(s->r, unit(sub(x->vertex[x->mesh->vertex_other[i]], x->vertex[vertex]))));
        if (d < least) least = d;
    }
    return least;
}

#endif
