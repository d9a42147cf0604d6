/* runtime.h: what the C of a translated PTX module runs in.
 *
 * A launch plays its groups one after the other. The work-items of a group are fibres, each with a stack of its own;
 * between two barriers they run one after the other, in an order that is drawn anew each time. Every access to the
 * device's memory is looked up in its shadow: a state for each byte (no buffer, never written, written) and, for each
 * four bytes, who wrote and who read them last. The first failure ends the launch; its report has kind, site and who.
 *
 * Before this file stand N_SHARED (bytes of a group's shared memory) and N_BLOCKS (basic blocks that are counted).
 */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define ANY __attribute__((may_alias))
enum { MOST = 1024, STACK = 256 << 10 };
enum { NO_BUFFER = 0, UNWRITTEN = 1, WRITTEN = 3 };
enum { MANY = 0xFFFF, FOREIGN = 0xFFFE };
enum {
    FINE,
    DIVERGED,   /* work-items of a group wait at different barriers */
    ENDED,      /* some wait at a barrier, others have ended */
    RACE,       /* two work-items use the same bytes, one of them writes, and nothing orders them */
    UNSET,      /* read of what was never written */
    OUTSIDE,    /* no buffer there */
    MISALIGNED, /* the address is no multiple of the size */
    NO_LOCAL,   /* local memory that is not the work-item's own */
    DIVISOR,    /* division of integers by zero */
    BAD_LAUNCH
};

/* Who used a word, or a byte that is used alone, last. Epochs number the stretches between barriers, of all launches.
 * Bit 31 of the site says that it was by an atomic. */
struct use {
    uint32_t epoch, site;
};
struct cell {
    struct use write, read;
    uint16_t writer, reader;
};
struct device { /* as in device.py */
    uint64_t base, size;
    uint8_t *state;
    struct cell *words, *bytes; /* the same memory in fours; in ones, where it is used so */
    uint64_t shared;            /* room for the shared memory of a group, and how much */
    uint64_t shared_size;
    uint64_t seed;
    const uint8_t *allowed; /* for each site: races (1), reads of what was not written (2) that are known */
    uint32_t epoch, pad;
};
struct report { /* as in device.py */
    int32_t kind, site, item, group, other_item, other_site;
    uint64_t at;
    int64_t barriers, reads, writes, allowed;
};

struct item {
    uint32_t tid;
    int site, done;
    uint64_t local_low, local_high;
    jmp_buf here;
    ucontext_t begin;
    int begun;
#if N_BLOCKS
    uint32_t *count;
#endif
};
typedef void (*kernel)(struct item *, const char **);

static struct {
    struct device *device;
    struct report *report;
    kernel fn;
    const char **args;
    uint32_t block, grid, group;
    uint64_t shared;
    uint32_t launch_epoch, group_epoch, epoch;
    struct item *now;
    jmp_buf host, failed;
    char *stacks;
} run;
static struct item items[MOST];

static int in_fixed(uint64_t at, int n);

/* ---- failures --------------------------------------------------------------------------------------------- */
static __attribute__((noreturn, cold, noinline)) void fail(
    int kind,
    const struct item *w,
    int site,
    uint64_t at,
    int other,
    int other_site)
{
    struct report *r = run.report;
    r->kind = kind;
    r->site = site;
    r->item = w ? (int)w->tid : -1;
    r->group = (int)run.group;
    r->other_item = other;
    r->other_site = other_site;
    r->at = at;
    _longjmp(run.failed, 1);
}

/* Failures that are known, and harmless, are counted. */
static __attribute__((cold, noinline)) void doubt(
    int kind,
    const struct item *w,
    int site,
    uint64_t at,
    int other,
    int other_site)
{
    int of_kind = kind == RACE ? 1 : 2;
    if (!((run.device->allowed[site] | (kind == RACE ? run.device->allowed[other_site] : 0)) & of_kind))
        fail(kind, w, site, at, other, other_site);
    run.report->allowed += 1;
}

/* ---- shadow memory ---------------------------------------------------------------------------------------- */
#define SITE 0x7FFFFFFFu
#define BY_ATOMIC 0x80000000u

/* Whether the work-item runs after a use by `who` at `epoch` that is recorded: it was before this launch, or in this
 * group before its last barrier, or its own. */
static int after(const struct item *w, uint32_t epoch, int who)
{
    if (epoch < run.launch_epoch) return 1;
    if (who == FOREIGN || epoch < run.group_epoch) return 0;
    return epoch < run.epoch || who == (int)w->tid;
}

/* A use added to what is recorded. Uses by other groups of this launch stay known. */
static void record(struct use *u, uint16_t *who, const struct item *w, uint32_t atomic_, int site)
{
    if (u->epoch >= run.launch_epoch && (*who == FOREIGN || u->epoch < run.group_epoch)) {
        *who = FOREIGN;
        atomic_ &= u->site;
    } else if (u->epoch == run.epoch) {
        if (*who != w->tid) *who = MANY;
        atomic_ &= u->site;
    } else *who = (uint16_t)w->tid;
    u->epoch = run.epoch;
    u->site = (uint32_t)site | atomic_;
}

static void check_cell(struct item *w, struct cell *c, uint64_t at, int site, int writes, uint32_t atomic_)
{
    if (!(atomic_ & c->write.site) && !after(w, c->write.epoch, c->writer))
        doubt(RACE, w, site, at, c->writer, (int)(c->write.site & SITE));
    if (writes) {
        if (!after(w, c->read.epoch, c->reader)) doubt(RACE, w, site, at, c->reader, (int)(c->read.site & SITE));
        record(&c->write, &c->writer, w, atomic_, site);
    } else record(&c->read, &c->reader, w, 0, site);
}

static void check_cells(struct item *w, uint64_t at, int n, int site, int writes, uint32_t atomic_)
{
    uint64_t i = at - run.device->base;
    if (n < 4)
        for (; n > 0; --n) check_cell(w, run.device->bytes + i++, at, site, writes, atomic_);
    else
        for (i >>= 2; n > 0; n -= 4) check_cell(w, run.device->words + i++, at, site, writes, atomic_);
}

static int in_device(uint64_t at, int n)
{
    return at - run.device->base < run.device->size && at - run.device->base + n <= run.device->size;
}

/* A work-item's own stack. A generic address may lie there; another's is not seen from here. */
static int in_local(const struct item *w, uint64_t at, int n) { return at >= w->local_low && at + n <= w->local_high; }

static int all_are(const uint8_t *s, int n, uint8_t state)
{
    uint64_t all = state * 0x0101010101010101ull, have = all;
    if (n > 8) {
        memcpy(&have, s + 8, 8);
        if (have != all) return 0;
        n = 8;
    }
    memcpy(&have, s, n);
    return have == all;
}

static __attribute__((noinline)) void read_seen(struct item *w, uint64_t at, int n, uint32_t used, int site)
{
    const uint8_t *s;
    int i;
    if (at & (n - 1)) fail(MISALIGNED, w, site, at, -1, 0);
    if (in_local(w, at, n)) return;
    if (!in_device(at, n)) {
        if (in_fixed(at, n)) return;
        fail(OUTSIDE, w, site, at, -1, 0);
    }
    run.report->reads += 1;
    s = run.device->state + (at - run.device->base);
    if (!all_are(s, n, WRITTEN))
        for (i = 0; i < n; ++i) {
            if (s[i] == NO_BUFFER) fail(OUTSIDE, w, site, at, -1, 0);
            if (s[i] != WRITTEN && used >> i & 1) doubt(UNSET, w, site, at, -1, 0);
        }
    check_cells(w, at, n, site, 0, 0);
}

/* A read by way of the cache for what no launch writes while it runs: stale if it does, whatever orders the two. */
static __attribute__((noinline)) void unchanged_seen(struct item *w, uint64_t at, int n, uint32_t used, int site)
{
    uint64_t i = at - run.device->base;
    const struct cell *c = n < 4 ? run.device->bytes + i : run.device->words + (i >> 2);
    read_seen(w, at, n, used, site);
    if (in_device(at, n) && c->write.epoch >= run.launch_epoch)
        doubt(RACE, w, site, at, c->writer, (int)(c->write.site & SITE));
}

static void written(struct item *w, uint64_t at, int n, int site, uint32_t atomic_)
{
    uint8_t *s;
    int i;
    if (at & (n - 1)) fail(MISALIGNED, w, site, at, -1, 0);
    if (!in_device(at, n)) fail(OUTSIDE, w, site, at, -1, 0);
    run.report->writes += 1;
    s = run.device->state + (at - run.device->base);
    if (!all_are(s, n, WRITTEN)) {
        for (i = 0; i < n; ++i) {
            if (s[i] == NO_BUFFER) fail(OUTSIDE, w, site, at, -1, 0);
            if (atomic_ && s[i] != WRITTEN) doubt(UNSET, w, site, at, -1, 0);
        }
        memset(s, WRITTEN, n);
    }
    check_cells(w, at, n, site, 1, atomic_);
}

static __attribute__((noinline)) void write_seen(struct item *w, uint64_t at, int n, int site)
{
    if (!in_local(w, at, n)) written(w, at, n, site, 0);
    else if (at & (n - 1)) fail(MISALIGNED, w, site, at, -1, 0);
}

static __attribute__((noinline)) void atomic_seen(struct item *w, uint64_t at, int n, int site)
{
    written(w, at, n, site, BY_ATOMIC);
}

static inline void local_seen(struct item *w, uint64_t at, int n, int site)
{
    if ((at & (n - 1)) || !in_local(w, at, n)) fail(NO_LOCAL, w, site, at, -1, 0);
}

/* ---- fibres ----------------------------------------------------------------------------------------------- */
static void begin_item(void)
{
    for (;;) { /* a fibre is used again by the next group */
        run.fn(run.now, run.args);
        run.now->done = 1;
        if (!_setjmp(run.now->here)) _longjmp(run.host, 1);
    }
}

static void go_on(struct item *w)
{
    run.now = w;
    if (_setjmp(run.host)) return;
    if (w->begun) _longjmp(w->here, 1);
    w->begun = 1;
    setcontext(&w->begin);
}

static __attribute__((noinline)) void barrier(struct item *w, int site)
{
    w->site = site;
    if (!_setjmp(w->here)) _longjmp(run.host, 1);
}

static uint32_t draw(uint32_t below)
{
    uint64_t *s = &run.device->seed;
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((*s >> 32) * below >> 32);
}

static void shuffle(uint16_t *order, uint32_t n)
{
    uint32_t i;
    for (i = n; i > 1; --i) {
        uint32_t k = draw(i);
        uint16_t t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

static void next_epoch(void)
{
    run.epoch = ++run.device->epoch;
    if (run.epoch == 0) fail(BAD_LAUNCH, 0, 0, 0, -1, 0);
}

/* One group whose work-items meet at barriers. */
static void play_fibres(uint16_t *order)
{
    uint32_t left = run.block, k;
    while (left > 0) {
        struct item *waits = 0, *ended = 0;
        shuffle(order, run.block);
        for (k = 0; k < run.block; ++k) {
            struct item *w = items + order[k];
            if (w->done) continue;
            go_on(w);
            if (w->done) {
                ended = w;
                --left;
            } else if (!waits) waits = w;
            else if (waits->site != w->site) fail(DIVERGED, w, w->site, 0, (int)waits->tid, waits->site);
        }
        if (waits && ended) fail(ENDED, waits, waits->site, 0, (int)ended->tid, 0);
        run.report->barriers += waits != 0;
        next_epoch();
    }
}

static void play_plain(uint16_t *order, char *top)
{
    uint32_t k;
    shuffle(order, run.block);
    for (k = 0; k < run.block; ++k) {
        struct item *w = items + order[k];
        w->local_high = (uint64_t)(uintptr_t)top;
        w->local_low = w->local_high - STACK;
        run.fn(w, run.args);
    }
}

/* ---- counts of basic blocks: of lanes, and of the largest lane of each warp ---------------------------------- */
#if N_BLOCKS
static uint32_t counts[MOST][N_BLOCKS];
double ptx_of_warps[N_BLOCKS], ptx_of_lanes[N_BLOCKS];
#define COUNT(w, b) ((w)->count[b]++)
static void add_counts(void)
{
    uint32_t warp, i, b;
    for (warp = 0; warp < run.block; warp += 32)
        for (b = 0; b < N_BLOCKS; ++b) {
            uint32_t most = 0;
            for (i = warp; i < warp + 32 && i < run.block; ++i) {
                ptx_of_lanes[b] += counts[i][b];
                if (counts[i][b] > most) most = counts[i][b];
            }
            ptx_of_warps[b] += most;
        }
}
#else
#define COUNT(w, b) ((void)0)
static void add_counts(void) {}
#endif
const int ptx_n_blocks = N_BLOCKS;

/* ---- a launch --------------------------------------------------------------------------------------------- */
static void begin_group(uint32_t g, int waits)
{
    uint32_t i;
    run.group = g;
    next_epoch();
    run.group_epoch = run.epoch;
    if (N_SHARED) memset(run.device->state + (run.shared - run.device->base), UNWRITTEN, N_SHARED);
    for (i = 0; i < run.block; ++i) {
        struct item *w = items + i;
        w->tid = i;
        w->done = w->site = 0;
#if N_BLOCKS
        w->count = counts[i];
        memset(w->count, 0, sizeof counts[i]);
#endif
        if (waits && !w->begun) {
            char *stack = run.stacks + (size_t)i * STACK;
            w->local_low = (uint64_t)(uintptr_t)stack;
            w->local_high = w->local_low + STACK;
            getcontext(&w->begin);
            w->begin.uc_stack.ss_sp = stack;
            w->begin.uc_stack.ss_size = STACK;
            w->begin.uc_link = 0;
            makecontext(&w->begin, begin_item, 0);
        }
    }
}

static int ptx_run(
    struct device *device,
    kernel fn,
    const char **args,
    int grid,
    int block,
    int waits,
    struct report *report)
{
    static uint16_t order[MOST];
    volatile uint32_t g;
    uint32_t i;
    char top = 0;
    memset(report, 0, sizeof *report);
    run.device = device;
    run.report = report;
    run.fn = fn;
    run.args = args;
    run.grid = (uint32_t)grid;
    run.block = (uint32_t)block;
    run.shared = device->shared;
    if (block < 1 || block > MOST || grid < 1 || N_SHARED > device->shared_size) {
        report->kind = BAD_LAUNCH;
        return 1;
    }
    if (waits && !run.stacks && !(run.stacks = malloc((size_t)MOST * STACK))) abort();
    /* after a launch of plain work-items, or one that failed, a fibre begins anew */
    for (i = 0; i < MOST; ++i) items[i].begun = 0;
    for (i = 0; i < run.block; ++i) order[i] = (uint16_t)i;
    if (_setjmp(run.failed)) return 1;
    next_epoch();
    run.launch_epoch = run.epoch;
    for (g = 0; g < run.grid; ++g) {
        begin_group(g, waits);
        if (waits) play_fibres(order);
        else play_plain(order, &top);
        add_counts();
    }
    return 0;
}

/* ---- arithmetic that C has no operator for -------------------------------------------------------------------- */
#define BITS(t, c, u) \
    static inline c bits_##t(u x) \
    { \
        c f; \
        memcpy(&f, &x, sizeof f); \
        return f; \
    } \
    static inline u bits_of_##t(c f) \
    { \
        u x; \
        memcpy(&x, &f, sizeof x); \
        return x; \
    }
BITS(f32, float, uint32_t)
BITS(f64, double, uint64_t)

/* A NaN loses; -0 is less than +0. */
#define LEAST_AND_MOST(t, c) \
    static inline c min_##t(c a, c b) { return a != a ? b : b != b ? a : a < b ? a : b < a ? b : signbit(a) ? a : b; } \
    static inline c max_##t(c a, c b) { return a != a ? b : b != b ? a : a > b ? a : b > a ? b : signbit(a) ? b : a; }
LEAST_AND_MOST(f32, float)
LEAST_AND_MOST(f64, double)

/* Towards zero, to the nearest that the type holds. Of a NaN: zero, but with a type of 64 bits on either side the
 * number whose highest bit alone is set. */
#define WHOLE(to, c, of, f, low, high, nan) \
    static inline c rzi_##to##_##of(f x) \
    { \
        return x != x ? (c)(nan) : x <= (f)(low) ? (c)(low) : x >= (f)(high) ? (c)(high) : (c)x; \
    }
#define WHOLES(of, f, nan32) \
    WHOLE(s32, int32_t, of, f, INT32_MIN, INT32_MAX, (nan32) ? INT32_MIN : 0) \
    WHOLE(u32, uint32_t, of, f, 0, UINT32_MAX, (nan32) ? 0x80000000u : 0) \
    WHOLE(s64, int64_t, of, f, INT64_MIN, INT64_MAX, INT64_MIN) \
    WHOLE(u64, uint64_t, of, f, 0, UINT64_MAX, 0x8000000000000000u)
WHOLES(f32, float, 0)
WHOLES(f64, double, 1)

#define DIVIDE(a, sign, b, site) ((b) == 0 ? (fail(DIVISOR, w, site, 0, -1, 0), (a)) : (a)sign(b))

static inline uint32_t bfi_b32(uint32_t a, uint32_t b, uint32_t at, uint32_t n)
{
    uint32_t mask;
    at &= 255;
    n &= 255;
    if (at > 31 || n == 0) return b;
    mask = (n > 31 ? ~0u : (1u << n) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}
static inline uint32_t bfe_u32(uint32_t a, uint32_t at, uint32_t n)
{
    at &= 255;
    n &= 255;
    return at > 31 ? 0 : a >> at & (n > 31 ? ~0u : (1u << n) - 1);
}

/* Groups run one after the other, so an atomic is a plain operation. */
#define ATOMIC(op, t, c, value) \
    static inline c atomic_##op##_##t(uint64_t at, c b) \
    { \
        c ANY *p = (c ANY *)at; \
        c a = *p; \
        *p = (value); \
        return a; \
    }
ATOMIC(add, u32, uint32_t, a + b)
ATOMIC(max, s32, int32_t, a > b ? a : b)
ATOMIC(max, u32, uint32_t, a > b ? a : b)
ATOMIC(min, s32, int32_t, a < b ? a : b)
ATOMIC(min, u32, uint32_t, a < b ? a : b)
ATOMIC(or, b32, uint32_t, a | b)
