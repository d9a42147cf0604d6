"""What comes from the host is copied from pinned memory on a stream of its own, while the piece before is
worked on; nothing is used before its event. The stand-in keeps a record of all steps and what orders them."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends.cuda import CudaBackend
from gpu_collide.backends.transfer_stream import TransferStream
from tests.ptx._staying import Moved, made, numbers, same
from tests.ptx.device import Failure

PIECE = 20  # pairs
CHUNK = 3000  # bytes of a pinned buffer: 25 bodies


@pytest.fixture
def small(cuda, monkeypatch):
    """Small pieces and pinned buffers; what is looked at is what a call does after the first one."""
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.MOST_SENT", PIECE)
    monkeypatch.setattr("gpu_collide.backends.transfer_stream.PINNED", CHUNK + 1024)
    monkeypatch.setattr(TransferStream, "nbytes", CHUNK)
    yield cuda
    cuda.cuda.forget()


def asked(n=120):
    position, quat, shape, pairs = numbers(n)
    return made(position, quat, shape), pairs


@pytest.fixture
def record(small, monkeypatch):
    """``record()`` asks once more; the steps of that call, and what it found."""

    def play(bodies, pairs, **options):
        gc.collide(bodies, pairs, backend="cuda", **options)
        steps = []
        monkeypatch.setattr(small.cuda, "record", steps)
        found = gc.collide(bodies, pairs, backend="cuda", **options)
        monkeypatch.setattr(small.cuda, "record", None)
        return steps, found

    return play


SINGLE = pytest.param({"precision": "single"}, marks=pytest.mark.slow)


@pytest.mark.parametrize("options", [{}, SINGLE], ids=["mixed", "single"])
def test_copies_go_beside_the_piece_before(record, options):
    bodies, pairs = asked()
    steps, found = record(bodies, pairs, **options)
    same(found, gc.collide(bodies, pairs, backend="cpu", **options))
    copies = [step for step in steps if step.what == "up"]
    screens = [step for step in steps if step.name == "screen_small"]
    assert len(screens) == len(pairs) // PIECE and {step.stream for step in screens} == {0}
    assert len({step.stream for step in copies}) == 1 and copies[0].stream > 0
    place = {id(step): k for k, step in enumerate(steps)}
    waits = [k for k, step in enumerate(steps) if step.what == "wait" and step.stream == 0]
    for screen, following in zip(screens, screens[1:], strict=False):
        # sent behind the launches of this piece, and before the host waited for its counts
        end = next(k for k in waits if k > place[id(screen)])
        sent = [step for step in copies if place[id(screen)] < place[id(step)] < end]
        assert len(sent) > 1 and all(step.beside(screen) for step in sent)
        # and the next piece waits for all of them
        assert following.behind[sent[-1].stream] >= sent[-1].clock


def test_bytes_are_what_the_arrays_have(small):
    bodies, pairs = asked()
    gc.collide(bodies, pairs, backend="cuda")
    with Moved(small) as moved:
        gc.collide(bodies, pairs, backend="cuda", results="device")
    assert moved.bytes_up == 117 * len(bodies) + 8 * len(pairs)


def test_only_what_the_pairs_need_is_sent(small):
    bodies, pairs = asked()
    gc.collide(bodies, pairs, backend="cuda")
    with Moved(small) as moved:
        gc.collide(bodies, pairs[:30], backend="cuda", results="device")
    assert moved.bytes_up == 117 * 60 + 8 * 30


@pytest.mark.parametrize("order", ["backwards", "shuffled"])
def test_pairs_in_any_order(small, order):
    bodies, pairs = asked()
    pairs = pairs[::-1] if order == "backwards" else np.random.default_rng(1).permutation(pairs)
    same(gc.collide(bodies, pairs, backend="cuda"), gc.collide(bodies, pairs, backend="cpu"))


@pytest.mark.parametrize("there", ["poses", "pairs"])
def test_some_is_there_already(small, there):
    position, quat, shape, pairs = numbers(200)
    bodies = made(position, quat, shape, small.asarray if there == "poses" else np.asarray)
    given = small.asarray(pairs) if there == "pairs" else pairs
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    same(gc.collide(bodies, given, backend="cuda"), wanted)


def test_on_the_callers_stream(small):
    """Which is not the null stream, that others wait for."""
    bodies, pairs = asked()
    wanted = gc.collide(bodies, pairs, backend="cpu")
    with small.cuda.Stream(non_blocking=True):
        for _ in range(2):
            same(gc.collide(bodies, pairs, backend="cuda"), wanted)


def test_a_piece_that_has_to_be_halved(small, monkeypatch):
    """What was sent ahead is there, and the rest comes."""
    bodies, pairs = asked()
    wanted, real, tried = gc.collide(bodies, pairs, backend="cpu"), CudaBackend.sequence, []

    def sequence(self, *args, **keywords):
        tried.append(1)
        if len(tried) in (2, 5):
            raise MemoryError("no room")
        return real(self, *args, **keywords)

    monkeypatch.setattr(CudaBackend, "sequence", sequence)
    same(gc.collide(bodies, pairs, backend="cuda"), wanted)
    assert len(tried) > 6


def test_an_error_on_the_way_leaves_nothing_behind(small, monkeypatch):
    """Copies that are still under way come before all that the next call does with that memory."""
    bodies, pairs = asked()
    wanted = gc.collide(bodies, pairs, backend="cpu")

    def stop(done, n):
        if done > 30:
            raise KeyError("enough")

    for _ in range(3):
        with pytest.raises(KeyError, match="enough"):
            gc.collide(bodies, pairs, backend="cuda", progress=stop)
        same(gc.collide(bodies, pairs, backend="cuda"), wanted)


# -- the stand-in notices ------------------------------------------------------------------------------------
def test_use_before_the_event(small, monkeypatch):
    bodies, pairs = asked()
    monkeypatch.setattr(CudaBackend, "behind", lambda self, event: None)
    with pytest.raises(Failure, match="is used on stream 0 while stream .* may still use it"):
        gc.collide(bodies, pairs, backend="cuda")


def test_memory_that_earlier_work_may_still_use(small, monkeypatch):
    bodies, pairs = asked()
    monkeypatch.setattr(CudaBackend, "begin", lambda self, lane: None)
    with pytest.raises(Failure, match="while stream 0 may still use it"):
        gc.collide(bodies, pairs, backend="cuda")


def test_pinned_memory_that_is_written_to_too_early(small, monkeypatch):
    bodies, pairs = asked()
    real = small.cuda.Event.done
    monkeypatch.setattr(small.cuda.Event, "done", True)
    with pytest.raises(Failure, match="bytes of pinned memory were written to before their copy"):
        gc.collide(bodies, pairs, backend="cuda")
    monkeypatch.setattr(small.cuda.Event, "done", real)


def test_memory_given_back_while_a_copy_writes_to_it(small):
    be, source = CudaBackend(), np.ones(100)
    lane, buffer = be.lane(), be.empty(100, "f8")
    be.begin(lane)
    be.send(lane, [source], [buffer])
    del buffer
    with pytest.raises(Failure, match="given back to the pool of stream 0 while stream"):
        be.zeros(1, "f8")


def test_pageable_memory_is_no_asynchronous_copy(small):
    there = small.zeros(100)
    small.cuda.Device().synchronize()
    stream = small.cuda.Stream(non_blocking=True)
    with pytest.raises(Failure, match="800 bytes of pageable memory are copied on stream"):
        there.set(np.ones(100), stream=stream)
    pinned = np.frombuffer(small.cuda.alloc_pinned_memory(800))
    there.set(pinned, stream=stream)
    event = stream.record()
    assert not event.done
    event.synchronize()
    assert event.done and there.get().tobytes() == pinned.tobytes()
