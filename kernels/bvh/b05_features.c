/* b05_features: which faces of two large meshes can meet during the step.
 * needs: bvh/gc_near.h
 *
 * in:  screw records (s01), the meshes' trees of faces
 * out: a list of (2 pair + side, patch, mask): faces of A (side 0) and of B (side 1) that come near the other body, as bits
 *      of the patch that they belong to
 * One group per pair. Both trees are walked down together, level by level: from the set of nodes on each side that still
 * meet one on the other, the side with the larger nodes goes down, and each set keeps what meets the other. A group's
 * work-items share the nodes. Below the level of patches a side goes down only while it has few nodes, and far larger ones
 * than the other. Conservative for the whole arc (gc_near.h, docs/decisions/0011). A pair whose sets do not fit the scratch
 * is marked in no_room_out and lists nothing; the need is in need_out and the host runs it again. The order of the list
 * means nothing.
 */

/* one side: the nodes of one level that are still in question */
typedef struct {
    GC_GLOBAL const int *tree;          /* (GC_TREE_STRIDE,) */
    GC_GLOBAL gc_raster *field, *spare; /* (room, GC_NEAR_STRIDE) now, and for the next set */
    GC_GLOBAL int *node, *spare_node;   /* (room,) numbers within the level */
    GC_GLOBAL int *count, *spare_count;
    GC_GLOBAL const gc_raster *nodes; /* of the level */
    int level, side;
} gc_front;

/* nodes of a level of a tree with n faces */
GC_FN int gc_level_size(int n, int level) { return (n + (1 << level) - 1) >> level; }

GC_FN gc_front gc_front_make(
    GC_GLOBAL const int *tree,
    GC_GLOBAL const gc_raster *nodes,
    GC_GLOBAL gc_raster *reals,
    GC_GLOBAL int *ints,
    int room,
    int side)
{
    gc_front f;
    int at = tree[GC_TREE_node], l;
    for (l = 0; l < tree[GC_TREE_height]; ++l) at += gc_level_size(tree[GC_TREE_faces], l);
    f.nodes = nodes + GC_NODE_STRIDE * at;
    f.tree = tree;
    f.field = reals;
    f.spare = reals + GC_NEAR_STRIDE * room;
    f.node = ints;
    f.spare_node = ints + room;
    f.count = ints + 2 * room;
    f.spare_count = f.count + 1;
    f.level = tree[GC_TREE_height];
    f.side = side;
    return f;
}

GC_FN void gc_front_swap(gc_front *f)
{
    GC_GLOBAL gc_raster *field = f->field;
    GC_GLOBAL int *node = f->node, *count = f->count;
    f->field = f->spare;
    f->spare = field;
    f->node = f->spare_node;
    f->spare_node = node;
    f->count = f->spare_count;
    f->spare_count = count;
}

/* down to the next level; the sets are those of the caller */
GC_FN void gc_front_lower(gc_front *f)
{
    f->level -= 1;
    f->nodes -= GC_NODE_STRIDE * gc_level_size(f->tree[GC_TREE_faces], f->level);
}

/* node as the other body sees it; whether it faces the right way somewhere */
GC_FN int gc_front_near(const gc_near_pair *p, const gc_front *f, GC_GLOBAL const gc_raster *node, gc_near *a)
{
    return gc_near_make(
        p, f->side ? p->screw.rb : p->screw.ra, f->side ? p->screw.tb : p->screw.ta, f->side ? p->screw.ra : p->screw.rb,
        f->side ? GC_F(1.0) : GC_F(-1.0), node, a);
}

/* does node a of f's side meet any node of the other side's set? */
GC_LARGE int gc_front_meets(const gc_near_pair *p, const gc_front *f, const gc_near *a, const gc_front *other)
{
    int n = *other->count, i;
    gc_near b;
    for (i = 0; i < n; ++i) {
        gc_near_load(other->field + GC_NEAR_STRIDE * i, &b);
        if (f->side ? gc_near_meet(p, &b, a) : gc_near_meet(p, a, &b)) return 1;
    }
    return 0;
}

GC_FN void gc_front_put(const gc_front *f, const gc_near *a, int j, int room)
{
    int i = GC_GROUP_ADD(f->spare_count, 1);
    if (i >= room) return;
    gc_near_store(a, f->spare + GC_NEAR_STRIDE * i);
    f->spare_node[i] = j;
}

/* the children of f's nodes that meet the other set, into the spare set */
GC_LARGE void gc_front_descend(const gc_near_pair *p, const gc_front *f, const gc_front *other, int room)
{
    int n = *f->count, last = gc_level_size(f->tree[GC_TREE_faces], f->level - 1), i;
    GC_GLOBAL const gc_raster *below = f->nodes - GC_NODE_STRIDE * last;
    for (i = GC_LOCAL_ID; i < 2 * n; i += GC_GROUP_SIZE) {
        int j = 2 * f->node[i >> 1] + (i & 1);
        gc_near a;
        if (j >= last) continue;
        if (gc_front_near(p, f, below + GC_NODE_STRIDE * j, &a) && gc_front_meets(p, f, &a, other))
            gc_front_put(f, &a, j, room);
    }
}

/* f's nodes that still meet the other set, into the spare set */
GC_LARGE void gc_front_thin(const gc_near_pair *p, const gc_front *f, const gc_front *other, int room)
{
    int n = *f->count, i;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        gc_near a;
        gc_near_load(f->field + GC_NEAR_STRIDE * i, &a);
        if (gc_front_meets(p, f, &a, other)) gc_front_put(f, &a, f->node[i], room);
    }
}

/* mean squared diagonal of a set's nodes */
GC_FN gc_raster gc_front_size(const gc_front *f)
{
    int n = *f->count, i;
    gc_raster sum = GC_F(0.0);
    for (i = 0; i < n; ++i) {
        GC_GLOBAL const gc_raster *node = f->nodes + GC_NODE_STRIDE * f->node[i];
        GC_GLOBAL const gc_raster *low = node + GC_NODE_low, *high = node + GC_NODE_high;
        gc_raster x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
        sum += x * x + y * y + z * z;
    }
    return sum / (gc_raster)n;
}

GC_FN void gc_front_root(const gc_near_pair *p, const gc_front *f)
{
    gc_near a;
    if (GC_LOCAL_ID != 0) return;
    gc_front_near(p, f, f->nodes, &a);
    gc_near_store(&a, f->field);
    f->node[0] = 0;
    *f->count = 1;
    *f->spare_count = 0;
}

/* May f go down a level? Below the patches only while it has few nodes, and far larger ones than the other side: large faces
 * beside small patches are worth being separated from their neighbours, but looking at many small faces one by one costs more
 * than the screen takes for them. */
GC_FN int gc_front_may_descend(const gc_front *f, int n, gc_raster size, gc_raster other)
{
    return f->level > GC_PATCH_LEVEL || (f->level > 0 && n <= GC_NEAR_NODES && size > GC_F(8.0) * other);
}

/* Walk down; returns how many nodes a set had at most, above `room` if it gave up for want of room. At the end the sets
 * hold the leaves that are near, or nothing. */
GC_LARGE int gc_fronts_descend(const gc_near_pair *p, gc_front *a, gc_front *b, int room)
{
    int most = 1, going, lower_a, na, nb;
    gc_front_root(p, a);
    gc_front_root(p, b);
    GC_BARRIER();
    gc_front_thin(p, a, b, room);
    GC_BARRIER();
    if (*a->spare_count == 0) return 0;
    do {
        int may_a, may_b;
        gc_raster size_a, size_b;
        na = *a->count;
        nb = *b->count;
        size_a = gc_front_size(a);
        size_b = gc_front_size(b);
        may_a = gc_front_may_descend(a, na, size_a, size_b);
        may_b = gc_front_may_descend(b, nb, size_b, size_a);
        going = may_a || may_b;
        lower_a = may_a && (!may_b || size_a >= size_b);
        GC_BARRIER(); /* all have read the sets */
        if (going) {
            gc_front *f = lower_a ? a : b, *o = lower_a ? b : a;
            if (GC_LOCAL_ID == 0) *f->spare_count = 0;
            GC_BARRIER();
            gc_front_descend(p, f, o, room);
            GC_BARRIER();
            most = GC_MAX(*f->spare_count, most);
            gc_front_swap(f);
            gc_front_lower(f);
            /* a single node is met by whatever is left */
            if (most <= room && *o->count > 1) {
                if (GC_LOCAL_ID == 0) *o->spare_count = 0;
                GC_BARRIER();
                gc_front_thin(p, o, f, room);
                GC_BARRIER();
                gc_front_swap(o);
            }
        }
        na = *a->count;
        nb = *b->count;
    } while (going && most <= room && na > 0 && nb > 0);
    return most > room ? most : (na > 0 && nb > 0 ? most : 0);
}

/* append the set's faces to the list */
GC_FN void gc_front_list(const gc_front *f, int pair, int capacity, GC_GLOBAL int *n_out, GC_GLOBAL int *list_out)
{
    int n = *f->count, up = GC_PATCH_LEVEL - f->level, i;
    gc_uint ones = f->level == GC_PATCH_LEVEL ? 0xffffffffu : (1u << (1 << f->level)) - 1u;
    for (i = GC_LOCAL_ID; i < n; i += GC_GROUP_SIZE) {
        int at = GC_ATOMIC_ADD(n_out, 1), j = f->node[i];
        if (at < 0 || at >= capacity) continue;
        list_out[GC_LISTED_STRIDE * at + GC_LISTED_side] = 2 * pair + f->side;
        list_out[GC_LISTED_STRIDE * at + GC_LISTED_patch] = f->tree[GC_TREE_patch] + (j >> up);
        list_out[GC_LISTED_STRIDE * at + GC_LISTED_faces] = (int)(ones << ((j & ((1 << up) - 1)) << f->level));
    }
}

GC_KERNEL void b05_features(
    int n_todo,
    GC_GLOBAL const int *todo_in,        /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *pairs_in,       /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,       /* (bodies,) */
    GC_GLOBAL const gc_real *screw_in,   /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,       /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL const int *trees_in,       /* (meshes, GC_TREE_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in, /* (nodes, GC_NODE_STRIDE) */
    gc_real min_properness,
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, 4 room GC_NEAR_STRIDE) */
    GC_GLOBAL int *scratch_ints,        /* (groups, 4 room + 4) */
    int room,                           /* nodes that a set holds */
    int capacity,
    GC_GLOBAL int *need_out,    /* (1,) room that would have been needed */
    GC_GLOBAL int *no_room_out, /* (n_pairs,) set to 1 where a set did not fit */
    GC_GLOBAL int *n_out,       /* (1,) may pass the capacity */
    GC_GLOBAL int *list_out)    /* (capacity, GC_LISTED_STRIDE) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[g], most;
            GC_GLOBAL gc_raster *reals = scratch_reals + (gc_long)GC_GROUP_ID * 4 * room * GC_NEAR_STRIDE;
            GC_GLOBAL int *ints = scratch_ints + (gc_long)GC_GROUP_ID * (4 * room + 4);
            GC_SHARED gc_near_pair p;
            if (pair >= 0 && !state_in[pair]) {
                gc_front a = gc_front_make(
                    trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair]], nodes_in, reals, ints, room, 0);
                gc_front b = gc_front_make(
                    trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair + 1]], nodes_in,
                    reals + 2 * room * GC_NEAR_STRIDE, ints + 2 * room + 2, room, 1);
                if (GC_FILLS) gc_near_pair_make(screw_in + GC_SCREW_STRIDE * pair, min_properness, &p);
                GC_BARRIER();
                most = gc_fronts_descend(&p, &a, &b, room);
                if (most > room) {
                    if (GC_LOCAL_ID == 0) {
                        GC_ATOMIC_MAX(need_out, most);
                        no_room_out[pair] = 1;
                    }
                } else if (most > 0) {
                    gc_front_list(&a, pair, capacity, n_out, list_out);
                    gc_front_list(&b, pair, capacity, n_out, list_out);
                }
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
