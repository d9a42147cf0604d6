/* gc_node_pairs.h: pairs of nodes still to be looked at, with their windows in time, the earliest first.
 * needs: common/gc_platform.h
 */
#ifndef GC_NODE_PAIRS_H
#define GC_NODE_PAIRS_H

/* Pairs of nodes and their windows. Alone they are a heap, the earliest on top; among many work-items a stack. */
typedef struct {
    GC_GLOBAL gc_raster *when; /* (room, 2) */
    GC_GLOBAL int *nodes;      /* (room, 2) */
    GC_GLOBAL int *count;
    int room;
} gc_node_pairs;

typedef struct {
    gc_raster first, last;
    int a, b;
} gc_node_pair;

GC_FN gc_node_pair gc_node_pair_at(const gc_node_pairs *q, int i)
{
    gc_node_pair p;
    p.first = q->when[2 * i];
    p.last = q->when[2 * i + 1];
    p.a = q->nodes[2 * i];
    p.b = q->nodes[2 * i + 1];
    return p;
}

GC_FN void gc_node_pair_put(const gc_node_pairs *q, int i, gc_node_pair p)
{
    q->when[2 * i] = p.first;
    q->when[2 * i + 1] = p.last;
    q->nodes[2 * i] = p.a;
    q->nodes[2 * i + 1] = p.b;
}

/* add one to the heap of n */
GC_FN void gc_heap_push(const gc_node_pairs *q, int n, gc_node_pair p)
{
    int i = n;
    while (i > 0 && q->when[2 * ((i - 1) >> 1)] > p.first) {
        gc_node_pair_put(q, i, gc_node_pair_at(q, (i - 1) >> 1));
        i = (i - 1) >> 1;
    }
    gc_node_pair_put(q, i, p);
}

/* take the earliest off the heap of n */
GC_FN gc_node_pair gc_heap_pop(const gc_node_pairs *q, int n)
{
    gc_node_pair top = gc_node_pair_at(q, 0), p = gc_node_pair_at(q, n - 1);
    int i = 0, j;
    for (j = 1; j < n - 1; j = 2 * i + 1) {
        if (j + 1 < n - 1 && q->when[2 * j + 2] < q->when[2 * j]) j += 1;
        if (q->when[2 * j] >= p.first) break;
        gc_node_pair_put(q, i, gc_node_pair_at(q, j));
        i = j;
    }
    gc_node_pair_put(q, i, p);
    return top;
}

#endif
