"""The C build with real groups: every work-item of a group is a thread, and a barrier is one.

What OpenCL and CUDA do on a device, without a driver in between: work-items that share a pair, in any order.
"""

from unittest.mock import patch

from gpu_collide.backends import drivers
from gpu_collide.backends.cpu import CpuBackend

SIZE = 8
_HEADER = """
#include <pthread.h>
#undef GC_LOCAL_ID
#undef GC_GROUP_SIZE
#undef GC_BARRIER
#undef GC_GROUP_ADD
#undef GC_GROUP_OR
#undef GC_LOCAL
#undef GC_LOCAL_ADD
#undef GC_SERIAL
#undef GC_ITEM_LO
#undef GC_ITEM_HI
#undef GC_ITEM_STEP
#undef GC_GROUP_LO
#undef GC_GROUP_HI
#undef GC_GROUP_STEP
static _Thread_local int gc_lane_ = 0;
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int here, round;
} gc_dedup_;
static _Thread_local gc_dedup_ *gc_dedup_of_lane_;
static void gc_barrier_(void)
{
    gc_dedup_ *m = gc_dedup_of_lane_;
    pthread_mutex_lock(&m->lock);
    int round = m->round;
    if (++m->here == LANES) {
        m->here = 0;
        m->round += 1;
        pthread_cond_broadcast(&m->all);
    }
    while (round == m->round) pthread_cond_wait(&m->all, &m->lock);
    pthread_mutex_unlock(&m->lock);
}
#define GC_SERIAL 0
#define GC_LOCAL_ID gc_lane_
#define GC_GROUP_SIZE LANES
#define GC_BARRIER() gc_barrier_()
#define GC_GROUP_ADD(p, v) GC_ATOMIC_ADD((p), (v))
#define GC_GROUP_OR(p, v) __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
/* one for all lanes, and so for all groups, which is why one group is at work at a time */
#define GC_LOCAL static
#define GC_LOCAL_ADD(p, v) GC_ATOMIC_ADD((p), (v))
static pthread_mutex_t gc_one_group_ = PTHREAD_MUTEX_INITIALIZER;
#define GC_ITEM_LO(n) (GC_GROUP_ID * GC_GROUP_SIZE + GC_LOCAL_ID)
#define GC_ITEM_HI(n) (n)
#define GC_ITEM_STEP(n) (GC_NUM_GROUPS * GC_GROUP_SIZE)
#define GC_GROUP_LO(n) (GC_GROUP_ID)
#define GC_GROUP_HI(n) (n)
#define GC_GROUP_STEP(n) (GC_NUM_GROUPS)
typedef struct {
    void *const *args;
    gc_dedup_ *meeting;
    int group, n_groups, lane;
} gc_seat_;
"""
_DRIVER = """
static void *gc_lane_NAME_(void *p)
{
    gc_seat_ *seat = p;
    void *const *args = seat->args;
    gc_lane_ = seat->lane;
    gc_dedup_of_lane_ = seat->meeting;
    gc_set_group(seat->group, seat->n_groups, 0, 1, 0);
    NAME(PASSED);
    return 0;
}
GC_KERNEL int gc_run_NAME(void *const *args, int *job, int *mine)
{
    const int n = job[2];
    int ran = 0, g, i;
    (void)mine;
    while ((g = __atomic_fetch_add(&job[0], 1, __ATOMIC_RELAXED)) < n) {
        pthread_t thread[LANES];
        gc_seat_ seat[LANES];
        gc_dedup_ meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
        pthread_mutex_lock(&gc_one_group_);
        for (i = 0; i < LANES; ++i) {
            gc_seat_ s = {args, &meeting, g, n, i};
            seat[i] = s;
            if (pthread_create(&thread[i], 0, gc_lane_NAME_, &seat[i])) __builtin_abort();
        }
        for (i = 0; i < LANES; ++i) pthread_join(thread[i], 0);
        pthread_mutex_unlock(&gc_one_group_);
        ++ran;
    }
    return ran > 0 && __atomic_add_fetch(&job[1], ran, __ATOMIC_ACQ_REL) == n;
}
"""


def text_with_lanes(text):
    """`text` with groups of `SIZE` threads behind gc_platform.h."""
    at = text.index("#line 1 ", 1)  # the second file
    return text[:at] + _HEADER.replace("LANES", str(SIZE)) + text[at:]


def _drivers(signatures):
    parts = []
    for sig in signatures.values():
        part = _DRIVER.replace("PASSED", drivers.passed_arguments(sig)).replace("NAME", sig.name)
        parts.append(part.replace("LANES", str(SIZE)))
    return "".join(parts)


class LanesBackend(CpuBackend):
    """`CpuBackend` with groups of `SIZE` work-items."""

    serial_groups = parallel_builds = False

    def __init__(self):
        super().__init__(flags=("-O1",))  # built in a hurry: the bits are the same
        self.group_size = self.item_group_size = SIZE

    def _build(self, text, precision, signatures):
        if "gc_probe" in signatures:  # the self test, which has no other files behind the platform's
            return super()._build(text, precision, signatures)
        with patch.object(drivers, "c_entry_points", _drivers):
            return super()._build(text_with_lanes(text), precision, signatures)
