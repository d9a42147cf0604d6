/* shadow.h: a launch of translated PTX, what counts as a failure, and the shadow in which accesses are looked up.
 *
 * Every access to the device's memory is looked up in its shadow: a state for each byte (no buffer, never written,
 * written) and, for each four bytes, who wrote and who read them last. The first failure ends the launch; its report has
 * kind, site and who.
 *
 * Before this file stand N_SHARED (bytes of a group's shared memory) and N_BLOCKS: how many basic blocks are counted, 0 if
 * none are.
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
    int site, done, waits, yields;
    uint64_t local_low, local_high;
    jmp_buf here;
    ucontext_t begin;
    int begun;
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

static void yield(struct item *w);

static __attribute__((noinline)) void atomic_seen(struct item *w, uint64_t at, int n, int site)
{
    if (N_BLOCKS) yield(w);
    written(w, at, n, site, BY_ATOMIC);
}

static inline void local_seen(struct item *w, uint64_t at, int n, int site)
{
    if ((at & (n - 1)) || !in_local(w, at, n)) fail(NO_LOCAL, w, site, at, -1, 0);
}
