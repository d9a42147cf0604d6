/* runtime.h: plays a launch. Needs shadow.h before it.
 *
 * Groups are played one after the other. The work-items of a group are fibres, each with a stack of its own; between two
 * barriers they run one after the other, in an order that is drawn anew each time. What is counted (N_BLOCKS) does not
 * depend on chance: work-items then run in the order of their numbers, and those that may meet at barriers from one atomic
 * to the next in turn, so that lists are filled in the order in which warps fill them.
 */
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

/* Let the others come this far. */
static void yield(struct item *w)
{
    if (!w->begun) return; /* not a fibre */
    w->yields = 1;
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
    for (i = N_BLOCKS ? 0 : n; i > 1; --i) {
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
        int yield;
        shuffle(order, run.block);
        do {
            yield = 0;
            for (k = 0; k < run.block; ++k) {
                struct item *w = items + order[k];
                if (w->done || w->waits) continue;
                w->yields = 0;
                go_on(w);
                yield |= w->yields;
                if (w->yields) continue;
                if (w->done) {
                    ended = w;
                    --left;
                    continue;
                }
                w->waits = 1;
                if (!waits) waits = w;
                else if (waits->site != w->site) fail(DIVERGED, w, w->site, 0, (int)waits->tid, waits->site);
            }
        } while (yield);
        for (k = 0; k < run.block; ++k) items[k].waits = 0;
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

/* ---- counts: lockstep.h has them ------------------------------------------------------------------------------ */
#if N_BLOCKS
static void count_group(void);
static void forget_traces(void);
#else
#define ENTERED(w, b) ((void)0)
#define USED(w, at) ((void)0)
static void count_group(void) {}
static void forget_traces(void) {}
#endif

/* ---- a launch --------------------------------------------------------------------------------------------- */
static void begin_group(uint32_t g, int waits)
{
    uint32_t i;
    run.group = g;
    next_epoch();
    run.group_epoch = run.epoch;
    if (N_SHARED) { /* another group's memory: nothing is written in it, nobody has used it */
        uint64_t at = run.shared - run.base;
        memset(run.state + at, UNWRITTEN, N_SHARED);
        memset(run.words + at / 4, 0, N_SHARED / 4 * sizeof(struct cell));
        memset(run.bytes + at, 0, N_SHARED * sizeof(struct cell));
    }
    for (i = 0; i < run.block; ++i) {
        struct item *w = items + i;
        w->tid = i;
        w->done = w->site = w->waits = 0;
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
    run.base = device->base;
    run.size = device->size;
    run.state = device->state;
    run.words = device->words;
    run.bytes = device->bytes;
    if (block < 1 || block > MOST || grid < 1 || N_SHARED > device->shared_size) {
        report->kind = BAD_LAUNCH;
        return 1;
    }
    if (waits && !run.stacks && !(run.stacks = malloc((size_t)MOST * STACK))) abort();
    /* after a launch of plain work-items, or one that failed, a fibre begins anew */
    for (i = 0; i < MOST; ++i) items[i].begun = 0;
    for (i = 0; i < run.block; ++i) order[i] = (uint16_t)i;
    forget_traces();
    if (_setjmp(run.failed)) return 1;
    next_epoch();
    run.launch_epoch = run.epoch;
    for (g = 0; g < run.grid; ++g) {
        begin_group(g, waits);
        if (waits) play_fibres(order);
        else play_plain(order, &top);
        count_group();
    }
    return 0;
}
