"""Sequences of steps: the same whether C runs them or each is launched, and nothing runs past a buffer."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from gpu_collide.backends import cpu as cpu_module
from gpu_collide.backends import pool, sources
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.backends.sequence import Blank, Count, Launch, Scan, Select, Sequence, Zero
from gpu_collide.errors import BackendUnavailableError

TEXT = (
    sources.joined("common/gc_platform.h")
    + """
#line 1 "screw/s00_sequence.c"
GC_KERNEL void s00_odd(int n, GC_GLOBAL const int *x_in, GC_GLOBAL gc_uchar *odd_out, GC_GLOBAL int *left_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        odd_out[i] = (gc_uchar)(x_in[i] & 1);
        left_out[i] = x_in[i] & 3;
    }
}
GC_KERNEL void s00_add(int n, GC_GLOBAL const int *x_in, int add, GC_GLOBAL int *y_out)
{
    for (int g = GC_GROUP_LO(n); g < GC_GROUP_HI(n); g += GC_GROUP_STEP(n)) {
        for (int k = GC_LOCAL_ID; k < 1; k += GC_GROUP_SIZE) {
            y_out[g] += x_in[g] + add;
        }
    }
}
GC_KERNEL void s00_long(int n, int rounds, GC_GLOBAL gc_real *y_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        gc_real x = GC_R(1.0);
        for (int k = 0; k < rounds; ++k) x = GC_R(1.0) / (x + GC_R(1.0));
        y_out[i] = x;
    }
}
GC_KERNEL void s00_no_number(GC_GLOBAL int *y_out)
{
    for (int i = GC_ITEM_LO(1); i < GC_ITEM_HI(1); i += GC_ITEM_STEP(1)) {
        y_out[i] = 1;
    }
}
"""
)
ROOM = 1000


def open_cpu(threads=2):
    try:
        return CpuBackend(threads=threads)
    except BackendUnavailableError as error:
        pytest.skip(str(error))


class Chain:
    """The odd ones of some numbers, 10 added to each into zeros, and the sums of their lowest bits."""

    def __init__(self, backend, n, most=ROOM, plain=False):
        be, self.backend = backend, backend
        module = be.compile(TEXT, "double")
        self.x = np.random.default_rng(7).integers(0, 1000, ROOM).astype(np.int32)
        x = be.to_device(self.x)
        self.flags, self.low = be.zeros(ROOM, "u1"), be.zeros(ROOM, "i4")
        self.left, self.n_left = be.zeros(ROOM, "i4"), be.zeros(1, "i4")
        self.sum, self.sums = be.fill(be.empty(ROOM, "i4"), 7), be.zeros(ROOM + 1, "i8")
        odd = be.bind(module["s00_odd"], n=0, x_in=x, odd_out=self.flags, left_out=self.low)
        add = be.bind(module["s00_add"], n=0, x_in=self.left, add=10, y_out=self.sum)
        steps = [
            Zero(self.sum), Launch(odd, n, ROOM), Select(x, self.flags, n, self.left, self.n_left),
            Launch(add, self.n_left, most, 4), Scan(self.low, self.sums),
        ]  # fmt: skip
        self.sequence = Sequence(be, steps) if plain else be.sequence(steps)

    def found(self):
        return [self.backend.to_host(b).copy() for b in (self.left, self.n_left, self.sum, self.sums)]


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 999, 1000])
@pytest.mark.parametrize("plain", [False, True])
def test_steps_do_what_they_say(backend, n, plain):
    chain = Chain(backend, n, plain=plain)
    for _ in range(3):  # the same again
        assert chain.sequence.run() is True
        left, n_left, sums, scan = chain.found()
        odd = chain.x[:n][chain.x[:n] % 2 == 1]
        assert n_left[0] == len(odd) and np.array_equal(left[: len(odd)], odd)
        assert np.array_equal(sums, np.append(odd + 10, np.zeros(ROOM - len(odd), int)))
        low = np.append(chain.x[:n] & 3, np.zeros(ROOM - n, int))
        assert scan.dtype == np.int64 and np.array_equal(scan, np.append(0, np.cumsum(low)))


@pytest.mark.parametrize("plain", [False, True])
def test_a_count_is_said_before_each_run(backend, plain):
    count = Count()
    chain = Chain(backend, count, plain=plain)
    for n in (3, 1000, 0, 64, 3):
        count.value = n
        assert chain.sequence.run() is True and count.value == n
        left, n_left, sums, _ = chain.found()
        odd = chain.x[:n][chain.x[:n] % 2 == 1]
        assert n_left[0] == len(odd) and np.array_equal(left[: len(odd)], odd)
        assert np.array_equal(sums[: len(odd)], odd + 10)
    for n in (ROOM + 1, -1):
        count.value = n
        assert chain.sequence.run() is False


@pytest.mark.parametrize("plain", [False, True])
def test_it_ends_before_a_step_without_room(backend, plain):
    chain = Chain(backend, ROOM, most=3, plain=plain)
    backend.fill(chain.sums, -1)
    assert chain.sequence.run() is False
    left, n_left, sums, scan = chain.found()
    assert n_left[0] > 3 and not sums.any() and (scan == -1).all()
    fits = Chain(backend, ROOM, most=int(n_left[0]), plain=plain)
    assert fits.sequence.run() is True


@pytest.mark.parametrize("number", [-1, ROOM + 1])
def test_a_number_that_cannot_be_ends_it(backend, number):
    chain = Chain(backend, 10)
    n = backend.to_device(np.array([number], np.int32))
    launch, select = chain.sequence.steps[1:3]
    for step in (launch._replace(n=n), select._replace(n=n)):
        for sequence in (backend.sequence([launch, step]), Sequence(backend, [launch, step])):
            assert sequence.run() is False


def test_bad_steps(backend):
    chain, be = Chain(backend, 10), backend
    module, ints, longs = be.compile(TEXT, "double"), be.zeros(4, "i4"), be.zeros(5, "i8")
    bound = chain.sequence.steps[1].bound
    no_number = be.bind(module["s00_no_number"], y_out=ints)
    for step in (
        "step", Launch(no_number, 1, 4), Launch(bound, longs, 4), Scan(longs, longs), Scan(ints, ints),
        Select(ints, ints, 4, ints, ints), Select(ints, be.zeros(4, "u1"), 5, ints, ints), Blank(longs),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"^steps: expected .*, got "):
            be.sequence([step])
    for step in (
        Launch(bound, -1, 4), Launch(bound, 1, 4, 0), Scan(ints, be.zeros(9, "i8")),
        Select(ints, be.zeros(4, "u1"), 4, be.zeros(5, "i4"), ints),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^steps: expected .*, got "):
            be.sequence([step])


def test_what_is_for_unread_counts_is_left_out_where_they_are_read(backend):
    """A list is not filled where every launch knows how long it is."""
    rows = backend.to_device(np.arange(4, dtype=np.int32))
    sequence = backend.sequence([Blank(rows)])
    assert sequence.steps == () and sequence.run()
    assert backend.to_host(rows).tolist() == [0, 1, 2, 3]


def test_a_scan_into_a_buffer(backend):
    counts, out = backend.to_device(np.array([3, 0, 5], np.int32)), backend.fill(backend.empty(4, "i8"), 9)
    assert backend.exclusive_scan(counts, out=out) is out
    assert backend.to_host(out).tolist() == [0, 3, 3, 8]


def long_sequence(backend, n, rounds):
    out = backend.zeros(n, "f8")
    bound = backend.bind(backend.compile(TEXT, "double")["s00_long"], n=0, rounds=rounds, y_out=out)
    return backend.sequence([Launch(bound, n, n), Launch(bound, n, n)]), out


def test_a_long_one_is_gone_on_with(monkeypatch):
    """C comes back in between, and the rest is done nevertheless."""
    monkeypatch.setattr(pool, "TURN", 50)  # microseconds
    backend = open_cpu(1)
    sequence, out = long_sequence(backend, 64 * 40, 100)
    calls, call = [], sequence._function
    sequence._function = lambda *args: calls.append(call(*args)) or calls[-1]
    assert sequence.run() is True
    assert calls.count(pool.PAUSED) == len(calls) - 1 > 1
    assert (out == out[0]).all() and out[0] != 0


def test_a_long_one_gets_threads(monkeypatch):
    monkeypatch.setattr(cpu_module, "LONG_RUN", 3e-4)  # seconds
    backend = open_cpu(2)
    short, _ = long_sequence(backend, 100, 1)
    long, out = long_sequence(backend, 2000, 1000)
    runs, took = cpu_module.RUNS_BY_THREADS, []

    def run():
        begun = time.perf_counter()
        assert long.run() is True
        took.append(time.perf_counter() - begun)
        assert (out == out[0]).all() and out[0] != 0
        out[:] = 0
        return long._by_threads

    assert short.run() is True and short._by_threads == 0
    assert run() == 0, "it may have been the others on the machine"
    assert [run() for _ in range(runs)] == [runs - k for k in range(runs)]
    assert run() == runs, "it is known to be as long as it was"
    monkeypatch.setattr(cpu_module, "LONG_RUN", 100.0)
    assert [run() for _ in range(runs)][-1] == 0, "no run is long any more"
    call, alone = long._function, []
    long._function = lambda *args: alone.append(1) or call(*args)
    assert run() == 0 and alone


def test_what_is_mostly_steps_is_tried_alone_now_and_then():
    backend = open_cpu(2)
    sequence, _ = long_sequence(backend, 10, 1)
    assert sequence.run() is True
    sequence._by_threads, sequence._alone, sequence._together = 1, 100.0, 1e-9  # no run seems short
    runs = 0
    while sequence._by_threads and runs < 1000:
        assert sequence.run() is True
        runs += 1
    assert cpu_module.RUNS_BY_THREADS**2 <= runs < 2 * cpu_module.RUNS_BY_THREADS**2


@pytest.fixture
def interrupts():
    """Ctrl-C is heeded, which background processes of a shell do not do by themselves."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_it_can_be_interrupted(interrupts):
    backend = open_cpu(1)
    sequence, out = long_sequence(backend, 64 * 4000, 20_000)  # half a minute
    begun = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()  # in here: who is kept waiting for long before the run may not be interrupted elsewhere
        sequence.run()
    timer.join()
    assert time.monotonic() - begun < 5
    short, _ = long_sequence(backend, 10, 1)
    assert short.run() is True


def test_kernels_of_several_libraries():
    backend = open_cpu(1)
    chain, x = Chain(backend, 100), backend.zeros(100, "f4")
    other = backend.bind(backend.compile(TEXT, "single")["s00_long"], n=0, rounds=1, y_out=x)
    sequence = backend.sequence([*chain.sequence.steps, Launch(other, chain.n_left, 100)])
    assert sequence.run() is True
    n_left = chain.n_left[0]
    assert 0 < n_left < 100 and (x[:n_left] == 0.5).all() and not x[n_left:].any()
