/* lockstep.h: what each work-item ran, put together to what its warp executed.
 *
 * Each work-item leaves a trace: the numbers of the basic blocks that it entered, GONE where it returned from a
 * function, and the addresses that it used. Lanes of a warp that part go on as parts, one after the other, until each
 * has come to where all their ways join again, the immediate postdominator of the branch (Fung and others, Dynamic Warp
 * Formation, MICRO 2007): an instruction counts once for all lanes that are at it together.
 *
 * Before this file stand N_BLOCKS and the tables joins, callees, accesses_from and access_bytes.
 */
enum { WARP = 32, SECTOR = 32, GONE = 0x7FFFFFFF };

struct trace {
    uint32_t *blocks;
    uint64_t *used;
    size_t n_blocks, n_used, room_blocks, room_used;
    size_t at_block, at_used;
};
static struct trace traces[MOST];

/* of each block: how often a warp entered it, with how many lanes in all, and how often its busiest lane, which is how
 * often the warp would have if lanes never had to wait for each other; bytes that lanes read or wrote in their local
 * memory, in shared and in global memory; sectors of 32 bytes of global memory, each once for the lanes that use it
 * together */
enum { WARPS, LANES, BUSIEST, LOCAL_BYTES, SHARED_BYTES, GLOBAL_BYTES, SECTORS, N_COUNTS };
double ptx_counts[N_BLOCKS][N_COUNTS];
static uint32_t entries[WARP][N_BLOCKS]; /* of the warp that is counted */

static __attribute__((noinline)) void *grown(void *p, size_t *room, size_t each)
{
    *room = *room ? 2 * *room : 1024;
    if (!(p = realloc(p, *room * each))) abort();
    return p;
}

static inline void entered(const struct item *w, uint32_t block)
{
    struct trace *t = traces + w->tid;
    if (t->n_blocks == t->room_blocks) t->blocks = grown(t->blocks, &t->room_blocks, sizeof *t->blocks);
    t->blocks[t->n_blocks++] = block;
}

static inline void used(const struct item *w, uint64_t at)
{
    struct trace *t = traces + w->tid;
    if (t->n_used == t->room_used) t->used = grown(t->used, &t->room_used, sizeof *t->used);
    t->used[t->n_used++] = at;
}
#define ENTERED(w, b) entered(w, b)
#define USED(w, at) used(w, at)

/* One access by the lanes of a warp that are together; 0 is the address of a lane whose guard kept it from it. */
static void count_access(double *c, const uint64_t *at, const uint32_t *lane, int n, uint32_t bytes)
{
    uint64_t seen[2 * WARP];
    int i, k, many = 0;
    for (i = 0; i < n; ++i) {
        uint64_t sector;
        if (!at[i] || in_fixed(at[i], 1)) continue;
        if (in_local(items + lane[i], at[i], 1)) {
            c[LOCAL_BYTES] += bytes;
            continue;
        }
        if (at[i] - run.shared < N_SHARED) {
            c[SHARED_BYTES] += bytes;
            continue;
        }
        c[GLOBAL_BYTES] += bytes;
        for (sector = at[i] / SECTOR; sector <= (at[i] + bytes - 1) / SECTOR; ++sector) {
            for (k = many - 1; k >= 0 && seen[k] != sector; --k) {
            }
            if (k < 0) seen[many++] = sector;
        }
    }
    c[SECTORS] += many;
}

static uint32_t ahead(uint32_t lane) { return traces[lane].blocks[traces[lane].at_block]; }

/* Lanes whose next is block b enter it. */
static void count_block(const uint32_t *lane, int n, uint32_t b)
{
    double *c = ptx_counts[b];
    uint64_t at[WARP];
    uint32_t k;
    int i;
    c[WARPS] += 1;
    c[LANES] += n;
    for (i = 0; i < n; ++i) {
        traces[lane[i]].at_block += 1;
        entries[lane[i] % WARP][b] += 1;
    }
    for (k = accesses_from[b]; k < accesses_from[b + 1]; ++k) {
        for (i = 0; i < n; ++i) at[i] = traces[lane[i]].used[traces[lane[i]].at_used++];
        count_access(c, at, lane, n, access_bytes[k]);
    }
}

/* Lanes that are at one block run until each is at `join`. */
static void run_together(const uint32_t *lane, int n, uint32_t join)
{
    uint32_t part[WARP];
    while (ahead(lane[0]) != join) {
        uint32_t b = ahead(lane[0]), done = 0;
        int i, k;
        count_block(lane, n, b);
        if (callees[b] != GONE) {
            run_together(lane, n, GONE);
            for (i = 0; i < n; ++i) traces[lane[i]].at_block += 1;
        }
        for (i = 1; i < n && ahead(lane[i]) == ahead(lane[0]); ++i) {
        }
        if (i == n) continue;
        for (i = 0; i < n; ++i) {
            int m = 0;
            if (done >> i & 1) continue;
            for (k = i; k < n; ++k)
                if (!(done >> k & 1) && (k == i || ahead(lane[k]) == ahead(part[0]))) {
                    part[m++] = lane[k];
                    done |= 1u << k;
                    if (k == i && ahead(lane[k]) == joins[b]) break; /* is there already */
                }
            if (ahead(part[0]) != joins[b]) run_together(part, m, joins[b]);
        }
    }
}

static void count_busiest(void)
{
    uint32_t b, i;
    for (b = 0; b < N_BLOCKS; ++b) {
        uint32_t most = 0;
        for (i = 0; i < WARP; ++i)
            if (entries[i][b] > most) most = entries[i][b];
        ptx_counts[b][BUSIEST] += most;
    }
}

static void forget_traces(void)
{
    uint32_t i;
    for (i = 0; i < MOST; ++i) {
        struct trace *t = traces + i;
        t->n_blocks = t->n_used = t->at_block = t->at_used = 0;
    }
}

/* What the group did that has just ended. */
static void count_group(void)
{
    uint32_t first, i;
    for (first = 0; first < run.block; first += WARP) {
        uint32_t lane[WARP];
        int n = 0;
        for (i = first; i < first + WARP && i < run.block; ++i) lane[n++] = i;
        memset(entries, 0, sizeof entries);
        run_together(lane, n, GONE);
        count_busiest();
    }
    for (i = 0; i < run.block; ++i) {
        struct trace *t = traces + i;
        if (t->at_block + 1 != t->n_blocks || t->at_used != t->n_used) abort(); /* not all of it was counted */
    }
    forget_traces();
}
