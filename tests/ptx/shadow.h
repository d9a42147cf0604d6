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
 * The highest bit of the site says that it was by an atomic. */
struct use {
    uint32_t epoch;
    uint16_t who, site;
};
struct cell {
    struct use write, read;
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
    uint64_t base, size; /* of the device, where each access looks them up, with the shadow */
    uint8_t *state;
    struct cell *words, *bytes;
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
#define SITE 0x7FFFu
#define BY_ATOMIC 0x8000u
#define INLINE static inline __attribute__((always_inline))
#define RARE(x) __builtin_expect(!!(x), 0)

/* Whether the work-item runs after a use that is recorded: it was before this launch, or in this group before its last
 * barrier, or its own. */
INLINE int after(const struct item *w, struct use u)
{
    if (u.epoch < run.launch_epoch) return 1;
    if (u.who == FOREIGN || u.epoch < run.group_epoch) return 0;
    return u.epoch < run.epoch || u.who == w->tid;
}

/* A use added to what is recorded. Uses by other groups of this launch stay known. */
INLINE void record(struct use *u, const struct item *w, uint32_t atomic_, int site)
{
    struct use now = {run.epoch, (uint16_t)w->tid, 0};
    if (u->epoch >= run.launch_epoch) {
        if (u->who == FOREIGN || u->epoch < run.group_epoch) {
            now.who = FOREIGN;
            atomic_ &= u->site;
        } else if (u->epoch == run.epoch) {
            if (u->who != w->tid) now.who = MANY;
            atomic_ &= u->site;
        }
    }
    now.site = (uint16_t)((uint32_t)site | atomic_);
    *u = now;
}

/* What a work-item has done itself since the last barrier need not be looked at again: whoever had come between would
 * have been found then. */
INLINE int again(const struct item *w, struct use u) { return u.epoch == run.epoch && u.who == w->tid; }

INLINE void check_read(struct item *w, struct cell *c, uint64_t at, int site)
{
    if (again(w, c->read)) return;
    if (RARE(!after(w, c->write))) doubt(RACE, w, site, at, c->write.who, (int)(c->write.site & SITE));
    record(&c->read, w, 0, site);
}

INLINE void check_write(struct item *w, struct cell *c, uint64_t at, int site, uint32_t atomic_)
{
    if (again(w, c->write) && (c->write.site & BY_ATOMIC) == atomic_) return;
    if (RARE(!(atomic_ & c->write.site) && !after(w, c->write)))
        doubt(RACE, w, site, at, c->write.who, (int)(c->write.site & SITE));
    if (RARE(!after(w, c->read))) doubt(RACE, w, site, at, c->read.who, (int)(c->read.site & SITE));
    record(&c->write, w, atomic_, site);
}

/* A work-item's own stack. A generic address may lie there; another's is not seen from here. */
INLINE int in_local(const struct item *w, uint64_t at, int n) { return at >= w->local_low && at + n <= w->local_high; }

/* Whether n bytes of state are all WRITTEN; n is 1, 2, 4, 8 or 16. */
INLINE int all_written(const uint8_t *s, int n)
{
    uint64_t all = WRITTEN * 0x0101010101010101ull, low = all, high = all;
    memcpy(&low, s, n < 8 ? n : 8);
    if (n > 8) memcpy(&high, s + 8, 8);
    return low == all && high == all;
}

/* Bytes that are not all written: `used` has a bit for each that the kernel goes on to use. */
static __attribute__((cold, noinline)) void look_at_bytes(
    const struct item *w,
    const uint8_t *s,
    uint64_t at,
    int n,
    uint32_t used,
    int site)
{
    int i;
    for (i = 0; i < n; ++i) {
        if (s[i] == NO_BUFFER) fail(OUTSIDE, w, site, at, -1, 0);
        if (s[i] != WRITTEN && used >> i & 1) doubt(UNSET, w, site, at, -1, 0);
    }
}

/* Reads and writes by their sizes, so that each is a function without loops. */
INLINE int seen_reading(struct item *w, uint64_t at, int n, uint32_t used, int site)
{
    uint64_t i = at - run.base;
    int k;
    if (RARE(at & (n - 1))) fail(MISALIGNED, w, site, at, -1, 0);
    if (i >= run.size || i + n > run.size) {
        if (in_local(w, at, n) || in_fixed(at, n)) return 0;
        fail(OUTSIDE, w, site, at, -1, 0);
    }
    run.report->reads += 1;
    if (RARE(!all_written(run.state + i, n))) look_at_bytes(w, run.state + i, at, n, used, site);
    if (n < 4)
        for (k = 0; k < n; ++k) check_read(w, run.bytes + i + k, at, site);
    else
        for (k = 0; k < n / 4; ++k) check_read(w, run.words + i / 4 + k, at, site);
    return 1;
}

INLINE void seen_writing(struct item *w, uint64_t at, int n, int site, uint32_t atomic_)
{
    uint64_t i = at - run.base;
    int k;
    if (RARE(at & (n - 1))) fail(MISALIGNED, w, site, at, -1, 0);
    if (i >= run.size || i + n > run.size) {
        if (!atomic_ && in_local(w, at, n)) return;
        fail(OUTSIDE, w, site, at, -1, 0);
    }
    run.report->writes += 1;
    if (!all_written(run.state + i, n)) {
        look_at_bytes(w, run.state + i, at, n, atomic_ ? ~0u : 0, site);
        memset(run.state + i, WRITTEN, n);
    }
    if (n < 4)
        for (k = 0; k < n; ++k) check_write(w, run.bytes + i + k, at, site, atomic_);
    else
        for (k = 0; k < n / 4; ++k) check_write(w, run.words + i / 4 + k, at, site, atomic_);
}

static void yield(struct item *w);

/* unchanged_: a read by way of the cache for what no launch writes while it runs: stale if it does, whatever orders the
 * two. atomic_: those of a warp take turns where they are counted. */
#define SEEN(n) \
    static __attribute__((noinline)) void read_##n(struct item *w, uint64_t at, uint32_t used, int site) \
    { \
        seen_reading(w, at, n, used, site); \
    } \
    static __attribute__((noinline)) void unchanged_##n(struct item *w, uint64_t at, uint32_t used, int site) \
    { \
        const struct cell *c = n < 4 ? run.bytes + (at - run.base) : run.words + (at - run.base) / 4; \
        int k; \
        if (!seen_reading(w, at, n, used, site)) return; \
        for (k = 0; k < (n < 4 ? n : n / 4); ++k) \
            if (RARE(c[k].write.epoch >= run.launch_epoch)) \
                doubt(RACE, w, site, at, c[k].write.who, (int)(c[k].write.site & SITE)); \
    } \
    static __attribute__((noinline)) void write_##n(struct item *w, uint64_t at, int site) \
    { \
        seen_writing(w, at, n, site, 0); \
    }
SEEN(1)
SEEN(2)
SEEN(4)
SEEN(8)
SEEN(16)

static __attribute__((noinline)) void atomic_4(struct item *w, uint64_t at, int site)
{
    if (N_BLOCKS) yield(w);
    seen_writing(w, at, 4, site, BY_ATOMIC);
}

static inline void local_seen(struct item *w, uint64_t at, int n, int site)
{
    if ((at & (n - 1)) || !in_local(w, at, n)) fail(NO_LOCAL, w, site, at, -1, 0);
}
