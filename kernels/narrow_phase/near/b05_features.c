/* b05_features: which faces of two large meshes can meet during the step.
 * needs: narrow_phase/near/gc_node_distance.h
 *
 * in:  screw records (s01), the meshes' trees of faces
 * out: a list of (2 pair + side, patch, mask): faces of A (side 0) and of B (side 1) that come near the other body, as bits
 *      of the patch that they belong to
 * One group per pair. Both trees are walked down together by pairs of nodes that meet, from the roots to single faces, all pairs at
 * once: of each the larger node goes down three levels, and its children, a page of them, are held against the other. A group's
 * work-items share the pages and the pairs. Conservative for the whole arc (gc_node_distance.h, docs/decisions/0011, 0062). Where
 * pairs get many, a good part of both is near, and what is there is listed as it is. A pair whose pages or
 * pairs do not fit the scratch is marked in no_room_out and lists nothing; the need is in need_out and the host runs it again.
 * With gives_up a walk that would cost more than it saves ends, lists nothing and is marked in whole_out: the screen looks at whole
 * meshes (docs/decisions/0082).
 * The order of the list means nothing.
 */

/* a place's flags: its node is near; there is a page of its children */
#define GC_FRONT_NEAR 1
#define GC_FRONT_OPEN 2

/* one side: the nodes that were looked at, GC_PAGE to a page; a node's place is GC_PAGE page + lane */
typedef struct {
    GC_GLOBAL const int *tree;        /* (GC_TREE_STRIDE,) */
    GC_GLOBAL const gc_raster *nodes; /* of the tree */
    GC_GLOBAL gc_raster *pages;       /* (room / GC_PAGE, GC_PAGE_STRIDE) */
    GC_GLOBAL int *node;              /* (room,) number within its level, -1: none there */
    GC_GLOBAL int *level;             /* (room,) */
    GC_GLOBAL int *flags;             /* (room,) */
    GC_GLOBAL int *page;              /* (room,) of the children, where open */
    GC_GLOBAL int *parent;            /* (room / GC_PAGE,) place of the node whose children a page has */
    GC_GLOBAL int *count;             /* pages */
    int n, side;                      /* pages that are filled */
} gc_front;

/* pairs of nodes that meet: places on A's side and on B's, that which goes down as -1 - place */
typedef struct {
    GC_GLOBAL int *now, *next; /* (capacity, 2) */
    GC_GLOBAL int *count;      /* of next */
    int n, room, capacity;
    int fine; /* are there so many that single faces are worth being looked at? */
} gc_couples;

/* nodes of a level of a tree with n faces */
GC_FN int gc_level_size(int n, int level) { return (n + (1 << level) - 1) >> level; }

/* the nodes of a level */
GC_FN GC_GLOBAL const gc_raster *gc_front_nodes(const gc_front *f, int level)
{
    int at = 0, l;
    for (l = 0; l < level; ++l) at += gc_level_size(f->tree[GC_TREE_faces], l);
    return f->nodes + GC_NODE_STRIDE * at;
}

GC_FN gc_front gc_front_make(
    GC_GLOBAL const int *tree,
    GC_GLOBAL const gc_raster *nodes,
    GC_GLOBAL gc_raster *reals,
    GC_GLOBAL int *ints,
    int room,
    int side)
{
    gc_front f;
    f.tree = tree;
    f.nodes = nodes + (gc_long)GC_NODE_STRIDE * tree[GC_TREE_node];
    f.pages = reals + side * room * GC_SEEN_STRIDE;
    f.count = ints + side;
    f.node = ints + 8 + 5 * side * room;
    f.level = f.node + room;
    f.flags = f.level + room;
    f.page = f.flags + room;
    f.parent = f.page + room;
    f.n = 1;
    f.side = side;
    return f;
}

GC_FN gc_couples gc_couples_make(GC_GLOBAL int *ints, int room)
{
    gc_couples l;
    l.room = room;
    l.capacity = GC_NEAR_PAIRS * room;
    l.count = ints + 2;
    l.now = ints + 8 + 10 * room;
    l.next = l.now + 2 * l.capacity;
    l.n = 1;
    l.fine = 0;
    return l;
}

GC_FN GC_GLOBAL gc_raster *gc_front_page(const gc_front *f, int place)
{
    return f->pages + GC_PAGE_STRIDE * (place / GC_PAGE);
}

GC_FN void gc_front_node(const gc_front *f, int place, gc_seen *a)
{
    gc_lane_load(gc_front_page(f, place), place & (GC_PAGE - 1), a);
}

/* how large a node is: the square of half its diagonal */
GC_FN gc_raster gc_front_size(const gc_front *f, int place)
{
    GC_GLOBAL const gc_raster *at = gc_front_page(f, place) + (place & (GC_PAGE - 1));
    gc_raster x = at[GC_PAGE * GC_SEEN_hx], y = at[GC_PAGE * GC_SEEN_hy], z = at[GC_PAGE * GC_SEEN_hz];
    return x * x + y * y + z * z;
}

/* May a node go down, of so large a size, where it meets one of another? To single faces where pairs are many; otherwise only large nodes
 * beside small ones, which are worth being separated from their neighbours: the screen takes less for a few faces than looking at them
 * one by one. */
GC_FN int gc_front_may_open(const gc_front *f, const gc_couples *l, int at, gc_raster size, gc_raster other)
{
    int level = f->level[at];
    return level > 0 && (l->fine || level > GC_PATCH_LEVEL || size > GC_F(8.0) * other);
}

/* Two nodes meet: those that may not go down are near, of others the larger goes down. Where the list is full they are near as they are; either there are
 * too many pairs, or the walk begins anew with more room. */
GC_FN void gc_couples_add(const gc_front *f, const gc_front *o, const gc_couples *l, int at, int other)
{
    gc_raster one = gc_front_size(f, at), two = gc_front_size(o, other);
    int mine = gc_front_may_open(f, l, at, one, two), its = gc_front_may_open(o, l, other, two, one);
    int to = l->capacity, go, page;
    if (mine || its) {
        const gc_front *down = mine && (!its || one >= two) ? f : o;
        go = down == o ? other : at;
        to = GC_GROUP_ADD(l->count, 1);
        if (to < l->capacity) {
            l->next[2 * to + f->side] = at;
            l->next[2 * to + o->side] = other;
            l->next[2 * to + down->side] = -1 - go;
        }
        if (!(GC_GROUP_OR(down->flags + go, GC_FRONT_OPEN) & GC_FRONT_OPEN)) {
            page = GC_GROUP_ADD(down->count, 1);
            if (GC_PAGE * (page + 1) <= l->room) {
                down->page[go] = page;
                down->parent[page] = go;
            }
        }
    }
    if (to >= l->capacity) {
        GC_GROUP_OR(f->flags + at, GC_FRONT_NEAR);
        GC_GROUP_OR(o->flags + other, GC_FRONT_NEAR);
    }
}

/* The roots, and the pair of them if they meet; by one work-item. Both sides begin anew whatever becomes of either: what an earlier
 * pair left in the scratch is not near. */
GC_LARGE void gc_roots_begin(const gc_node_distance *p, const gc_front *a, const gc_front *b, const gc_couples *l)
{
    int side;
    gc_seen seen[2];
    gc_raster first, last;
    *l->count = 0;
    for (side = 0; side < 2; ++side) {
        const gc_front *f = side ? b : a;
        *f->count = 1;
        f->node[0] = 0;
        f->level[0] = f->tree[GC_TREE_height];
        f->flags[0] = 0;
        for (int i = 1; i < GC_PAGE; ++i) f->node[i] = -1;
    }
    for (side = 0; side < 2; ++side) {
        const gc_front *f = side ? b : a;
        if (!gc_seen_make(p, side, gc_front_nodes(f, f->level[0]), &seen[side])) return;
        gc_lane_store(&seen[side], f->pages, 0);
    }
    if (gc_seen_when(p, &seen[0], &seen[1], GC_F(0.5), &first, &last)) gc_couples_add(a, b, l, 0, 0);
}

/* Where a body can come in the other's whole box, from half way: the box in the axes of its own mesh, widened by the way that the
 * motion goes at the places of either body, whichever is less. A place keeps its speed along the flow, and what meets at s is as far apart half
 * way as either goes until then. */
typedef struct {
    gc_vec middle;
    gc_raster x, y, z;
} gc_realm;

/* no place of the box of a root is faster */
GC_FN gc_raster gc_front_fast(const gc_node_distance *p, const gc_seen *root)
{
    return GC_ABS_R(p->g) + GC_ABS_R(p->w + p->theta * root->z) + p->theta * (GC_ABS_R(root->x) + root->radius);
}

GC_FN gc_realm gc_realm_of(const gc_node_distance *p, const gc_seen *root, const gc_seen *other)
{
    gc_realm m;
    gc_raster far = GC_F(0.5001) * GC_MIN(gc_front_fast(p, root), gc_front_fast(p, other)) + GC_F(2.0) * p->slack;
    m.middle = gc_make((gc_real)root->x, (gc_real)root->y, (gc_real)root->z);
    m.x = root->hx + far;
    m.y = root->hy + far;
    m.z = root->hz + far;
    return m;
}

/* Does the ball about a node of the other body come there? */
GC_FN int gc_realm_holds(const gc_node_distance *p, int side, const gc_realm *m, GC_GLOBAL const gc_raster *node)
{
    const gc_screw *k = &p->near.screw;
    const gc_real *rot = side ? k->rb : k->ra, *shift = side ? k->tb : k->ta, *axes = side ? k->ra : k->rb;
    GC_GLOBAL const gc_raster *low = node + GC_NODE_low, *high = node + GC_NODE_high;
    gc_real unit = GC_R(0.5) * k->shrink;
    gc_raster radius = node[GC_NODE_reach] * (gc_raster)k->shrink;
    gc_vec c = gc_make(
        unit * (gc_real)(low[0] + high[0]), unit * (gc_real)(low[1] + high[1]), unit * (gc_real)(low[2] + high[2]));
    c = gc_add(gc_rotate(rot, c), gc_make(shift[0], shift[1], shift[2]));
    c = gc_rotate_back(axes, gc_sub(c, m->middle));
    return GC_ABS_R((gc_raster)c.x) <= m->x + radius && GC_ABS_R((gc_raster)c.y) <= m->y + radius
           && GC_ABS_R((gc_raster)c.z) <= m->z + radius;
}

/* the children on pages that were opened */
GC_LARGE void gc_front_bear(const gc_node_distance *p, const gc_front *f, const gc_front *o)
{
    int i, end = GC_PAGE * *f->count;
    gc_seen root, other;
    gc_realm realm;
    if (GC_PAGE * f->n + GC_LOCAL_ID >= end) return;
    gc_front_node(f, 0, &root);
    gc_front_node(o, 0, &other);
    realm = gc_realm_of(p, &other, &root);
    for (i = GC_PAGE * f->n + GC_LOCAL_ID; i < end; i += GC_GROUP_SIZE) {
        int lane = i & (GC_PAGE - 1), over = f->parent[i / GC_PAGE], level = gc_level_below(f->level[over]);
        int up = f->level[over] - level, child = (f->node[over] << up) + lane;
        GC_GLOBAL gc_raster *page = gc_front_page(f, i);
        GC_GLOBAL const gc_raster *node;
        gc_seen a;
        f->node[i] = -1;
        f->level[i] = level;
        f->flags[i] = 0;
        if (GC_SERIAL && lane == 0) gc_page_clear(page);
        if (lane >= 1 << up || child >= gc_level_size(f->tree[GC_TREE_faces], level)) continue;
        node = gc_front_nodes(f, level) + GC_NODE_STRIDE * child;
        if (!gc_realm_holds(p, f->side, &realm, node) || !gc_seen_make(p, f->side, node, &a)) continue;
        if (GC_SERIAL) gc_page_put(&a, page, lane);
        else gc_lane_store(&a, page, lane);
        f->node[i] = child;
    }
}

/* Is a leaf on place `at` of f, and the leaf on place `other` of o, known to be near? Alone: others might be writing. */
GC_FN int gc_leaves_near(const gc_front *f, const gc_front *o, int at, int other)
{
    return f->level[at] == 0 && o->level[other] == 0 && (f->flags[at] & o->flags[other] & GC_FRONT_NEAR);
}

/* of all pairs the children of the one against the other */
GC_LARGE void gc_couples_descend(const gc_node_distance *p, const gc_front *a, const gc_front *b, const gc_couples *l)
{
    int i, j;
    gc_raster first[GC_PAGE], last[GC_PAGE];
    gc_seen one, child;
    /* alone a page at once, among many work-items one child each */
    for (i = GC_LOCAL_ID; i < (GC_SERIAL ? l->n : GC_PAGE * l->n); i += GC_GROUP_SIZE) {
        GC_GLOBAL const int *both = l->now + 2 * (GC_SERIAL ? i : i / GC_PAGE);
        const gc_front *f = both[0] < 0 ? a : b, *o = both[0] < 0 ? b : a;
        int other = both[o->side], at = GC_PAGE * f->page[-1 - both[f->side]];
        if (GC_SERIAL) {
            for (j = 0; j < GC_PAGE; ++j)
                if (f->node[at + j] >= 0 && !gc_leaves_near(f, o, at + j, other)) break;
            if (j == GC_PAGE) continue;
            gc_front_node(o, other, &one);
            gc_page_when(p, &one, gc_front_page(f, at), f->side, GC_F(0.5), first, last);
            for (j = 0; j < GC_PAGE; ++j)
                if (f->node[at + j] >= 0 && first[j] <= last[j]) gc_couples_add(f, o, l, at + j, other);
        } else {
            at += i & (GC_PAGE - 1);
            if (f->node[at] < 0) continue;
            gc_front_node(o, other, &one);
            gc_front_node(f, at, &child);
            if (gc_seen_when(p, f->side ? &one : &child, f->side ? &child : &one, GC_F(0.5), first, last))
                gc_couples_add(f, o, l, at, other);
        }
    }
}

/* the nodes of all pairs that are left are near as they are */
GC_FN void gc_couples_stop(const gc_front *a, const gc_front *b, const gc_couples *l)
{
    for (int i = GC_LOCAL_ID; i < GC_MIN(l->n, l->capacity); i += GC_GROUP_SIZE) {
        int pa = l->now[2 * i], pb = l->now[2 * i + 1];
        GC_GROUP_OR(a->flags + (pa < 0 ? -1 - pa : pa), GC_FRONT_NEAR);
        GC_GROUP_OR(b->flags + (pb < 0 ? -1 - pb : pb), GC_FRONT_NEAR);
    }
}

/* pages on the way from the root of a tree to a face */
GC_FN int gc_front_steps(const gc_front *f) { return (f->tree[GC_TREE_height] + 2) / 3; }

/* Is what is left of the walk too much: these pairs and, if they are not the last, those that come of them? `before`: pairs of the last
 * step; as they grew they will grow. */
GC_FN int gc_couples_too_many(const gc_front *a, const gc_front *b, int n, int before, int left)
{
    gc_raster faces = (gc_raster)a->tree[GC_TREE_faces] + (gc_raster)b->tree[GC_TREE_faces], sum = (gc_raster)n;
    if (left > 0) sum += (gc_raster)n * (gc_raster)n / (gc_raster)GC_MAX(before, 1);
    return sum > GC_NEAR_LOOKS * faces;
}

/* Walk down to the leaves, or until nearly everything meets everything. Returns how much room it takes, above l->room it ended
 * early; or -1 if it was given up, which it may be if gives_up. */
GC_LARGE int gc_couples_walk(const gc_node_distance *p, gc_front *a, gc_front *b, gc_couples *l, int gives_up)
{
    int most = GC_PAGE, going = 1, before = 1, left = gc_front_steps(a) + gc_front_steps(b);
    if (most > l->room) return most;
    if (GC_LOCAL_ID == 0) gc_roots_begin(p, a, b, l);
    GC_BARRIER();
    do {
        GC_GLOBAL int *other = l->now;
        int n = GC_MAX(*a->count, *b->count), more;
        l->n = *l->count;
        l->now = l->next;
        l->next = other;
        GC_BARRIER(); /* all have read it */
        l->fine = l->n > GC_NEAR_FINE;
        left -= 1;
        if (gives_up && gc_couples_too_many(a, b, l->n, before, left)) return -1;
        before = l->n;
        more = l->n > GC_MAX(GC_NEAR_MEETS, a->tree[GC_TREE_faces] / 2 + b->tree[GC_TREE_faces] / 2);
        if (more) gc_couples_stop(a, b, l);
        else most = GC_MAX(GC_MAX(GC_PAGE * n, (l->n + GC_NEAR_PAIRS - 1) / GC_NEAR_PAIRS), most);
        going = !more && l->n > 0 && most <= l->room;
        if (going) {
            if (GC_LOCAL_ID == 0) *l->count = 0;
            gc_front_bear(p, a, b);
            gc_front_bear(p, b, a);
            a->n = *a->count;
            b->n = *b->count;
            GC_BARRIER();
            gc_couples_descend(p, a, b, l);
        }
        GC_BARRIER();
    } while (going);
    return most;
}

/* append the faces of what is near to the list */
GC_FN void gc_front_list(const gc_front *f, int pair, int capacity, GC_GLOBAL int *n_out, GC_GLOBAL int *list_out)
{
    int i, k, last = gc_level_size(f->tree[GC_TREE_faces], GC_PATCH_LEVEL);
    for (i = GC_LOCAL_ID; i < GC_PAGE * f->n; i += GC_GROUP_SIZE) {
        int j = f->node[i], up, from, to, faces = -1;
        if (j < 0 || !(f->flags[i] & GC_FRONT_NEAR)) continue;
        /* a node over it may be listed whole */
        for (k = i; k >= GC_PAGE;) {
            k = f->parent[k / GC_PAGE];
            if (f->flags[k] & GC_FRONT_NEAR) break;
        }
        if (k != i && (f->flags[k] & GC_FRONT_NEAR)) continue;
        up = GC_PATCH_LEVEL - f->level[i];
        from = up >= 0 ? j >> up : j << -up;
        to = up >= 0 ? from + 1 : GC_MIN((j + 1) << -up, last);
        if (up > 0) faces = (int)(((1u << (1 << f->level[i])) - 1u) << ((j & ((1 << up) - 1)) << f->level[i]));
        for (k = from; k < to; ++k) {
            int at = GC_ATOMIC_ADD(n_out, 1);
            if (at < 0 || at >= capacity) continue;
            list_out[GC_LISTED_STRIDE * at + GC_LISTED_side] = 2 * pair + f->side;
            list_out[GC_LISTED_STRIDE * at + GC_LISTED_patch] = f->tree[GC_TREE_patch] + k;
            list_out[GC_LISTED_STRIDE * at + GC_LISTED_faces] = faces;
        }
    }
}

GC_KERNEL void b05_features(
    int n_todo,
    GC_GLOBAL const int *todo_in,           /* (n_todo,) pair numbers, below 0: none */
    GC_GLOBAL const int *pairs_in,          /* (n_pairs, 2) */
    GC_GLOBAL const int *shape_in,          /* (bodies,) */
    GC_GLOBAL const gc_real *screw_in,      /* (n_pairs, GC_SCREW_STRIDE) */
    GC_GLOBAL const int *state_in,          /* (n_pairs,) GC_PAIR_* bits */
    GC_GLOBAL const int *trees_in,          /* (meshes, GC_TREE_STRIDE) */
    GC_GLOBAL const gc_raster *nodes_in,    /* (nodes, GC_NODE_STRIDE) */
    GC_GLOBAL const gc_real *row_height_in, /* (n_pairs,) user units; read where refine is not exact */
    gc_real min_properness,
    int refine,
    GC_GLOBAL gc_raster *scratch_reals, /* (groups, 2 room GC_SEEN_STRIDE) */
    GC_GLOBAL int *scratch_ints,        /* (groups, GC_NEAR_INTS room + 8) */
    int room,                           /* nodes that a side holds */
    int gives_up,                       /* may a pair be left to whole meshes? */
    int capacity,
    GC_GLOBAL int *need_out,    /* (1,) room that would have been needed */
    GC_GLOBAL int *no_room_out, /* (n_pairs,) set to 1 where a set did not fit */
    GC_GLOBAL int *whole_out,   /* (n_pairs,) set to 1 where the walk was given up */
    GC_GLOBAL int *n_out,       /* (1,) may pass the capacity */
    GC_GLOBAL int *list_out)    /* (capacity, GC_LISTED_STRIDE) */
{
    int g = GC_GROUP_LO(n_todo);
    if (g < GC_GROUP_HI(n_todo)) do {
            int pair = todo_in[g], most;
            GC_GLOBAL gc_raster *reals = scratch_reals + (gc_long)GC_SCRATCH_ID * 2 * room * GC_SEEN_STRIDE;
            GC_GLOBAL int *ints = scratch_ints + (gc_long)GC_SCRATCH_ID * (GC_NEAR_INTS * room + 8);
            GC_SHARED gc_node_distance p;
            if (pair >= 0 && !state_in[pair]) {
                GC_GLOBAL const gc_real *screw = screw_in + GC_SCREW_STRIDE * pair;
                gc_front a = gc_front_make(
                    trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair]], nodes_in, reals, ints, room, 0);
                gc_front b = gc_front_make(
                    trees_in + GC_TREE_STRIDE * shape_in[pairs_in[2 * pair + 1]], nodes_in, reals, ints, room, 1);
                gc_couples l = gc_couples_make(ints, room);
                if (GC_FILLS) gc_node_distance_make(screw, min_properness, refine, row_height_in[pair], &p);
                GC_BARRIER();
                most = gc_couples_walk(&p, &a, &b, &l, gives_up);
                if (most < 0) {
                    if (GC_LOCAL_ID == 0) whole_out[pair] = 1;
                } else if (most > room) {
                    if (GC_LOCAL_ID == 0) {
                        GC_ATOMIC_MAX(need_out, most);
                        no_room_out[pair] = 1;
                    }
                } else {
                    gc_front_list(&a, pair, capacity, n_out, list_out);
                    gc_front_list(&b, pair, capacity, n_out, list_out);
                }
            }
            GC_BARRIER();
            g += GC_GROUP_STEP(n_todo);
        } while (g < GC_GROUP_HI(n_todo));
}
