"""Data that stay on the device: what crosses to it and back, how often the host waits, and the same bits."""

import dataclasses
import warnings

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide import _validate
from gpu_collide.backends.cuda import CudaBackend
from gpu_collide.errors import MemoryLimitError
from tests.ptx._staying import MESHES, Moved, lies, made, numbers, same


def test_nothing_goes_up_and_the_host_waits_once(cuda):
    """Poses and pairs on the device: after a first call, which uploads the meshes, none of their bytes."""
    position, quat, shape, pairs = numbers(400)
    bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    assert (wanted.status == gc.Status.HIT).sum() > 20
    gc.collide(bodies, there, backend="cuda")
    with Moved(cuda) as moved:
        found = gc.collide(bodies, there, backend="cuda")
    assert lies(found, cuda.ndarray)
    # down: the counts, 7 numbers of 8 bytes
    assert (moved.up, moved.down, moved.bytes_down, moved.waits) == (0, 1, 56, 1)
    # g01, g02, two of s01, f01, f02, screen, two of s09, three of s07 and of s08, and g03 behind both filters
    # and s09_near
    assert moved.launches == 18
    same(found, wanted)
    with Moved(cuda) as moved:
        found = gc.collide(bodies, there, backend="cuda", results="host")
    assert lies(found, np.ndarray) and (moved.up, moved.waits) == (0, 3)  # counts, contacts, pairs
    same(found, wanted)


def test_bytes_a_pair_from_the_host(cuda):
    position, quat, shape, pairs = numbers(400)
    bodies = made(position, quat, shape)
    wanted = gc.collide(bodies, pairs, backend="cuda", results="device")
    assert lies(wanted, cuda.ndarray)
    with Moved(cuda) as moved:
        found = gc.collide(bodies, pairs, backend="cuda")
    assert lies(found, np.ndarray) and moved.waits == 2
    assert moved.bytes_up == 400 * (2 * 7 * 8 + 4 + 1) + 200 * 8  # poses, shape and validity; pairs
    same(found, wanted)


USUAL = ({}, {"max_bytes": 250_000}, {"report": True})
REST = (
    {"precision": "single"},
    {"tuning": gc.Tuning(features="near")},
    {"refine": "segments"},
    {"precision": "double"},
)


@pytest.mark.parametrize(
    "options", [USUAL, pytest.param(REST, marks=pytest.mark.slow)], ids=["usual", "rest"]
)
@pytest.mark.parametrize("on", ["poses", "pairs", "both", "none"])
@pytest.mark.parametrize("results", ["auto", "host", "device"])
def test_one_rule_for_where_results_live(cuda, monkeypatch, on, results, options):
    """Whatever pieces, origins and size: by what was asked and what was given, and the same bits."""
    for most in ("MOST_PAIRS", "MOST_SENT"):  # two pieces
        monkeypatch.setattr(f"gpu_collide.pipeline.narrow_phase.device_batches.{most}", 4)
    position, quat, shape, pairs = numbers(12)
    bodies = made(position, quat, shape, cuda.asarray if on in ("poses", "both") else np.asarray)
    given = cuda.asarray(pairs) if on in ("pairs", "both") else pairs
    kind = cuda.ndarray if results == "device" or (results, on) == ("auto", "both") else np.ndarray
    host = made(position, quat, shape)
    for asked in options:
        for k in (6, 0):
            found = gc.collide(bodies, given[:k], backend="cuda", results=results, **asked)
            assert lies(found, kind), (asked, k)
            same(found, gc.collide(host, pairs[:k], backend="cpu", **asked))


def test_the_rule_with_the_broad_phase(cuda):
    position, quat, shape, _ = numbers(60)
    wanted = gc.collide(made(position, quat, shape), backend="cpu")
    for where, kind in ((np.asarray, np.ndarray), (cuda.asarray, cuda.ndarray)):
        found = gc.collide(made(position, quat, shape, where), backend="cuda")
        assert lies(found, kind) and len(found.pairs) > 20
        same(found, wanted)


def test_a_scene_takes_poses_from_the_device(cuda):
    position, quat, shape, pairs = numbers(60)
    there = cuda.asarray(pairs)
    with gc.Scene(MESHES, shape, backend="cuda") as scene:
        for seed in range(2, 6):
            position, quat, *_ = numbers(60, seed)
            start, end = (
                gc.Poses.from_quat_wxyz(*map(cuda.asarray, p)) for p in zip(position, quat, strict=True)
            )
            scene.update(start, end)
            with Moved(cuda) as moved:
                found = scene.collide(there)
            if seed > 2:
                assert (moved.up, moved.waits) == (0, 1)
            wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
            assert lies(found, cuda.ndarray)
            same(found, wanted)
            same(scene.collide(pairs), wanted)


def test_a_scene_is_told_of_bodies_without_poses_from_here_and_there(cuda):
    """Which bodies have poses is written where poses were, from the host and on the device in turn."""
    position, quat, shape, _ = numbers(4)
    bad = position.copy()
    bad[0, 1] = np.nan
    pairs = np.array([[0, 1], [2, 3]])
    with gc.Scene(MESHES, shape, backend="cuda") as scene, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for where, given in ((0, position), (1, bad), (0, position), (0, bad), (1, position), (0, bad)):
            put = cuda.asarray if where else np.asarray
            scene.update(*((put(p), put(q)) for p, q in zip(given, quat, strict=True)))
            found = scene.collide(pairs, results="host")
            invalid = found.status == gc.Status.INVALID_INPUT
            assert invalid.tolist() == [given is bad, False], where


def test_the_same_few_pairs_from_the_host(cuda):
    """A scene that is asked the same again; `sustained` is bool on the device too."""
    position, quat, shape, pairs = numbers(20)
    still = np.stack([position[0], position[0]])
    turn = np.stack([quat[0], quat[0]])
    for results, kind in (("device", cuda.ndarray), ("auto", np.ndarray)):
        with gc.Scene(MESHES, shape, backend="cuda") as scene:
            for step in (position, position[::-1], still, position):
                turns = turn if step is still else quat
                scene.update((step[0], turns[0]), (step[1], turns[1]))
                found = scene.collide(pairs, results=results)
                assert lies(found, kind) and found.sustained.dtype == bool
                same(found, gc.collide(made(step, turns, shape), pairs, backend="cpu"))


@pytest.mark.parametrize("tiny", ["candidates", "hits", "reals", "ints"])
def test_what_overflows_comes_again(cuda, monkeypatch, tiny):
    """Lists that are too short: nothing indexes past them, the piece is repeated, the guess is kept."""
    position, quat, shape, pairs = numbers(80)
    bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    gc.collide(bodies, there, backend="cuda")
    (guess,) = backends.get_backend("cuda").kept["guesses"].values()
    before = dict(guess)
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.LEAST", 1)
    guess[tiny] = 0.3 * before[tiny] if tiny in ("candidates", "hits") else 40
    with Moved(cuda) as moved:
        found = gc.collide(bodies, there, backend="cuda")
    assert moved.waits == 2 and guess[tiny] >= 0.5 * min(before[tiny], 300)
    same(found, wanted)
    with Moved(cuda) as moved:
        gc.collide(bodies, there, backend="cuda")
    assert moved.waits == 1


def test_pieces(cuda):
    position, quat, shape, pairs = numbers(400)
    bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    done = []
    found = gc.collide(
        bodies, there, backend="cuda", max_bytes=250_000, progress=lambda k, n: done.append((k, n))
    )
    assert len(done) > 1 and done[-1] == (200, 200)
    same(found, wanted)
    with pytest.raises(MemoryLimitError, match="max_bytes: expected room for pair 0, which needs at least"):
        gc.collide(bodies, there, backend="cuda", max_bytes=1000)


@pytest.mark.parametrize("bad", [[[0, 60]], [[-1, 2]], [[3, 3]], [[0, 1], [2**40, 1]]])
def test_a_wrong_pair_on_the_device_is_told_as_one_on_the_host(cuda, bad):
    position, quat, shape, _ = numbers(60)
    with pytest.raises(ValueError) as wanted:
        _validate.check_pairs(np.array(bad), 60)
    for options in ({}, {"report": True}):
        with pytest.raises(ValueError) as found:
            gc.collide(made(position, quat, shape, cuda.asarray), cuda.array(bad), backend="cuda", **options)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("at", [0, 70])
def test_a_wrong_pair_on_the_device_leaves_nothing_behind(cuda, monkeypatch, at):
    """It raises at the one wait of its piece; what was found is dropped, nothing is learnt of it, and a pair
    that is none has indexed nothing (the runtime would tell)."""
    position, quat, shape, pairs = numbers(200)
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.MOST_PAIRS", 40)
    bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
    wanted = gc.collide(bodies, there, backend="cuda")
    (guess,) = backends.get_backend("cuda").kept["guesses"].values()
    wrong, told = pairs.copy(), []
    wrong[at] = 2**31 - 1, -(2**31)
    wrong, before = cuda.asarray(wrong), []

    def progress(done, n):
        told.append(done)
        before[:] = [dict(guess)]

    with Moved(cuda) as moved, pytest.raises(ValueError, match="pairs: expected indices from 0 to 199"):
        gc.collide(bodies, wrong, backend="cuda", progress=progress)
    assert told == list(range(40, at + 1, 40)) and moved.launches > 10
    assert moved.waits == len(told) + 2  # for each piece; and the pairs are copied, to say which is wrong
    assert not before or before == [guess]
    same(gc.collide(bodies, there, backend="cuda"), wanted)


@pytest.mark.parametrize(
    "bad", [lambda cp: cp.ones((3, 2)), lambda cp: cp.ones((3, 3), int), lambda cp: cp.ones(2, int)]
)
def test_what_is_wrong_without_a_look_raises_before_any_launch(cuda, bad):
    position, quat, shape, _ = numbers(60)
    bodies = made(position, quat, shape, cuda.asarray)
    with Moved(cuda) as moved, pytest.raises((TypeError, ValueError), match="pairs: expected"):
        gc.collide(bodies, bad(cuda), backend="cuda")
    assert moved.launches == 0


def test_poses_that_are_none(cuda):
    """They are warned of behind the work, in the words used before it."""
    position, quat, shape, pairs = numbers(60)
    position[0, 4], quat[1, 7] = np.nan, 2.0
    for where in (np.asarray, cuda.asarray):
        with pytest.warns(RuntimeWarning, match="2 bodies have an invalid pose.*first: 4, 7") as caught:
            found = gc.collide(made(position, quat, shape, where), where(pairs), backend="cuda")
        assert len(caught) == 1 and caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(found, gc.collide(made(position, quat, shape), pairs, backend="cpu"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collide(made(position, quat, shape, where), where(pairs[4:]), backend="cuda")


def test_poses_on_the_device(cuda):
    """Copied there; attributes are made on the host when somebody asks, and then are the host's."""
    import pickle

    position, quat, *_ = numbers(8)
    here = gc.Poses.from_quat_wxyz(position[0], quat[0])
    p, q = cuda.asarray(position[0]), cuda.asarray(quat[0])
    with Moved(cuda) as moved:
        there = gc.Poses.from_quat_wxyz(p, q)
        turned = gc.Poses.from_quat_xyzw(p, cuda.asarray(quat[0][:, [1, 2, 3, 0]]))
        assert there.shape == (8,) and len(there) == 8 and there.on_device and not here.on_device
    assert (moved.down, moved.waits) == (0, 0)
    p[0] = 99.0
    for poses in (there, turned, pickle.loads(pickle.dumps(there))):
        for name in ("position", "quat_wxyz", "unit_wxyz", "valid"):
            a, b = getattr(poses, name), getattr(here, name)
            assert a.tobytes() == b.tobytes() and not a.flags.writeable, name
    assert not pickle.loads(pickle.dumps(there)).on_device
    assert not gc.Poses.from_quat_wxyz(position[0], q).on_device
    with pytest.raises(TypeError, match="position: expected float32 or float64, got complex128"):
        gc.Poses.from_quat_wxyz(cuda.asarray(position[0] + 1j), q)
    with pytest.raises(ValueError, match="quat: expected the leading shape of position"):
        gc.Poses.from_quat_wxyz(p, q[:3])
    with pytest.raises(ValueError, match="quat: expected shape"):
        gc.Poses.from_quat_xyzw(p, p)
    with pytest.raises(AttributeError, match="no attribute 'speed'"):
        _ = there.speed


def test_other_backends_take_what_lies_on_a_gpu(cuda):
    position, quat, shape, pairs = numbers(60)
    bodies = made(position, quat, shape, cuda.asarray)
    for results in ("auto", "device"):
        found = gc.collide(bodies, cuda.asarray(pairs), backend="cpu", results=results)
        assert lies(found, np.ndarray)
        same(found, gc.collide(made(position, quat, shape), pairs, backend="cpu"))


def test_results_on_the_device_are_checked_like_others(cuda, monkeypatch):
    position, quat, shape, pairs = numbers(12)
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "1")
    found = gc.collide(made(position, quat, shape, cuda.asarray), cuda.asarray(pairs), backend="cuda")
    assert lies(found, cuda.ndarray)
    real = gc.Contacts.to_numpy
    monkeypatch.setattr(
        gc.Contacts, "to_numpy", lambda self: dataclasses.replace(real(self), toi=real(self).toi + 1)
    )
    with pytest.raises(AssertionError, match="breaks what holds of every result"):
        gc.collide(made(position, quat, shape, cuda.asarray), cuda.asarray(pairs), backend="cuda")


def test_the_callers_stream(cuda):
    """All of a call is on the stream that is current: nothing else orders it behind what made its input."""
    position, quat, shape, pairs = numbers(60)
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    with cuda.cuda.Stream(non_blocking=True):
        bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
        for _ in range(2):
            found = gc.collide(bodies, there, backend="cuda")
        same(found, wanted)


@pytest.fixture
def two(cuda, monkeypatch):
    """Two devices."""
    monkeypatch.setattr(cuda.cuda.runtime, "count", 2)
    return cuda


def test_each_device_has_a_backend_of_its_own(two):
    """Tables and buffers are on the device that was current when a backend was taken."""
    position, quat, shape, pairs = numbers(60)
    wanted = gc.collide(made(position, quat, shape), pairs, backend="cpu")
    scene = gc.Scene(MESHES, shape, backend="cuda")
    scene.update(*(tuple(p) for p in zip(position, quat, strict=True)))
    for k in (0, 1, 0):
        with two.cuda.Device(k):
            assert backends.get_backend("cuda").device_id == k
            bodies, there = made(position, quat, shape, two.asarray), two.asarray(pairs)
            found = gc.collide(bodies, there, backend="cuda")
            assert found.time.device.id == found.pairs.device.id == k
            same(found, wanted)
            # what lies on another device than the current one goes by way of the host
            with two.cuda.Device(1 - k):
                found = gc.collide(bodies, there, backend="cuda")
                assert lies(found, np.ndarray)
                same(found, wanted)
            found = scene.collide(pairs, results="device")
            assert found.time.device.id == 0
            same(found, wanted)
    assert backends.get_backend("cuda") is not backends._open["cuda:1"]


def test_what_the_driver_reserves_is_in_max_bytes(cuda, monkeypatch):
    """The stack of each work-item that can be at work at once, which no buffer shows."""
    position, quat, shape, pairs = numbers(400)
    bodies = made(position, quat, shape)
    be = backends.get_backend("cuda")
    handle = be.module(("screw", "screen", "solve"))["screen"].handle
    assert be.reserved_bytes >= 2048 * handle.local_size_bytes > 0

    def pieces(reserved, **options):
        done = []
        monkeypatch.setattr(CudaBackend, "reserved_bytes", reserved)
        be.kept.pop("guesses", None)
        gc.collide(bodies, pairs, backend="cuda", progress=lambda k, n: done.append(k), **options)
        return len(done)

    assert (
        pieces(0, max_bytes=700_000) < pieces(300_000, max_bytes=700_000) < pieces(300_000, max_bytes=350_000)
    )
    # never more than half, so that a small limit remains one that can be kept to
    assert pieces(10**9, max_bytes=700_000) == pieces(0, max_bytes=350_000)
    with pytest.raises(MemoryLimitError, match="needs at least .* bytes, got 2000") as raised:
        gc.collide(bodies, pairs, backend="cuda", max_bytes=2000)
    need = int(str(raised.value).split("at least ")[1].split()[0])
    with pytest.raises(MemoryLimitError):
        gc.collide(bodies, pairs[:1], backend="cuda", max_bytes=need // 2)
    gc.collide(bodies, pairs[:1], backend="cuda", max_bytes=need)
