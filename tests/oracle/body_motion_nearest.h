/* What body_motion_first.c steps by: nearest points, a time before which nothing meets, and a heap of such times. */
#ifndef BODY_MOTION_NEAREST_H
#define BODY_MOTION_NEAREST_H

#include "body_motion.h"

static real clamp(real x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Nearest points of two segments; margin: how far the nearest points are from the nearer ends. */
static real between(vec a0, vec a1, vec b0, vec b1, vec *pa, vec *pb, real *margin)
{
    vec u = sub(a1, a0), v = sub(b1, b0), w = sub(a0, b0);
    real a = dot(u, u), b = dot(u, v), c = dot(v, v), d = dot(u, w), e = dot(v, w), det = a * c - b * b;
    real s = det > 1e-24L * a * c ? clamp((b * e - c * d) / det) : 0;
    real t = (b * s + e) / c;
    if (t < 0 || t > 1) {
        t = clamp(t);
        s = clamp((b * t - d) / a);
    }
    *pa = add(a0, mul(s, u));
    *pb = add(b0, mul(t, v));
    real best = len(sub(*pa, *pb));
    if (det < 1e-10L * a * c) {
        vec ends[4] = {a0, a1, b0, b1};
        for (int i = 0; i < 4; i++) {
            vec x = i < 2 ? add(b0, mul(clamp(dot(v, sub(ends[i], b0)) / c), v))
                          : add(a0, mul(clamp(dot(u, sub(ends[i], a0)) / a), u));
            real g = len(sub(x, ends[i]));
            if (g < best) {
                best = g;
                *pa = i < 2 ? ends[i] : x;
                *pb = i < 2 ? x : ends[i];
            }
        }
        *margin = 0;
        return best;
    }
    real ma = (s < 0.5L ? s : 1 - s) * sqrtl(a), mb = (t < 0.5L ? t : 1 - t) * sqrtl(c);
    *margin = ma < mb ? ma : mb;
    return best;
}

/* Time from now before which c + s t - m t^2 / 2 stays positive. */
static real no_sooner(real c, real s, real m)
{
    if (m <= 0) return s < 0 ? c / -s : 1e30L;
    real root = sqrtl(s * s + 2 * m * c);
    return s < 0 ? 2 * c / (root - s) : (s + root) / m;
}

static void rise(const real *key, int *heap, int i)
{
    for (; i > 0 && key[heap[i]] < key[heap[(i - 1) / 2]]; i = (i - 1) / 2) {
        int x = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = x;
    }
}

static void sift(const real *key, int *heap, int n, int i)
{
    for (;;) {
        int least = i, l = 2 * i + 1, r = l + 1;
        if (l < n && key[heap[l]] < key[heap[least]]) least = l;
        if (r < n && key[heap[r]] < key[heap[least]]) least = r;
        if (least == i) return;
        int x = heap[i];
        heap[i] = heap[least];
        heap[least] = x;
        i = least;
    }
}

#endif
