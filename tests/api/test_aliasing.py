"""What kernels index by is ours: arrays that the caller changes later, or during a call, change nothing.

The story: int32 pairs went to the kernels as they were, and a thread, or a progress callback that reused its
buffer, made the kernels read outside their arrays.
"""

import copy
import pickle
import sys

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries import bisection

WILD = 2**30


class ByInterface:
    """An array of a foreign library that says where its memory is."""

    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


class ByDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


WAYS = {"numpy": lambda a: a, "interface": ByInterface, "dlpack": ByDlpack, "memory": memoryview}


def scene(n=12, seed=3):
    r = np.random.default_rng(seed)
    position, quat = r.normal(size=(2, n, 3)) * 2, r.normal(size=(2, n, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    return position, quat, np.zeros(n, np.int32)


def bodies_of(position, quat, shape):
    start, end = (gc.Poses.from_quat_wxyz(*both) for both in zip(position, quat, strict=True))
    return gc.Bodies((gc.shapes.box(),), shape, start, end)


def all_pairs(n=12):
    return np.ascontiguousarray(np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32))


def same(found, expected):
    assert np.array_equal(found.pairs, expected.pairs) and np.array_equal(found.status, expected.status)
    assert np.array_equal(found.time, expected.time) and np.array_equal(found.position, expected.position)


@pytest.fixture
def meanwhile(monkeypatch):
    """Calls what is put into it once all arguments are checked, before the first launch."""
    acts = []
    for module in (sys.modules["gpu_collide.queries." + name] for name in ("collide", "bisection", "pairs")):

        def opened(*args, real=module.get_backend):
            for act in acts:
                act()
            return real(*args)

        monkeypatch.setattr(module, "get_backend", opened)
    return acts


@pytest.mark.parametrize("way", WAYS)
def test_pairs_changed_during_the_call(backend, meanwhile, way):
    bodies, pairs = bodies_of(*scene()), all_pairs()
    expected = gc.collide(bodies, pairs.copy(), backend=backend.name).to_numpy()
    times = bisection.bisection(bodies, pairs.copy(), backend=backend.name).time
    given = WAYS[way](pairs)
    meanwhile.append(lambda: pairs.fill(WILD))
    same(gc.collide(bodies, given, backend=backend.name).to_numpy(), expected)
    pairs[:] = expected.pairs
    assert np.array_equal(bisection.bisection(bodies, given, backend=backend.name).time, times)


def test_pairs_changed_by_the_progress_callback(backend):
    bodies, pairs = bodies_of(*scene()), all_pairs()
    expected, reported = gc.collide(bodies, pairs.copy(), backend=backend.name).to_numpy(), []

    def progress(done, total):
        reported.append(done)
        pairs[:] = WILD

    few = 160_000 if backend.kind == "cuda" else 1 << 17  # of which a GPU's driver reserves up to half
    found = gc.collide(bodies, pairs, backend=backend.name, max_bytes=few, progress=progress).to_numpy()
    assert len(reported) > 1  # several pieces, or it shows nothing
    same(found, expected)


def test_rules_changed_during_the_call(backend, meanwhile):
    bodies = bodies_of(*scene())
    rules = {
        "world": np.arange(12) % 2, "group": np.full(12, 3, np.uint32), "mask": np.full(12, 1, np.uint32),
        "ignore": np.array([[0, 2], [5, 1]]),
    }  # fmt: skip
    expected = gc.collide(bodies, **copy.deepcopy(rules), backend=backend.name).to_numpy()
    meanwhile.append(lambda: [a.fill(WILD) for a in rules.values()])
    same(gc.collide(bodies, **rules, backend=backend.name).to_numpy(), expected)


def test_arrays_changed_after_poses_bodies_and_meshes_are_made(backend):
    position, quat, shape = scene()
    corners, faces = gc.shapes.box().vertices.copy(), np.array([f for f in gc.shapes.box().faces])
    start, end = (gc.Poses.from_quat_wxyz(*both) for both in zip(position, quat, strict=True))
    bodies = gc.Bodies(gc.Mesh(corners, faces), shape, start, end)
    expected = gc.collide(bodies_of(*scene()), all_pairs(), backend=backend.name).to_numpy()
    for array in (position, quat, shape, corners, faces):
        array.fill(WILD)
    same(gc.collide(bodies, all_pairs(), backend=backend.name).to_numpy(), expected)


def frozen_things():
    bodies = bodies_of(*scene())
    return {"bodies": bodies, "poses": bodies.start, "mesh": bodies.meshes[0]}


@pytest.mark.parametrize("name", ["bodies", "poses", "mesh"])
def test_never_changes(name):
    thing = frozen_things()[name]
    with pytest.raises(AttributeError, match="never changes"):
        thing.shape = [7]
    if name != "mesh":
        with pytest.raises(AttributeError, match="never changes"):
            del thing.shape
    for made in (thing, copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        for key, value in vars(thing).items():
            mine = vars(made)[key]
            if isinstance(value, np.ndarray):
                assert np.array_equal(mine, value) and not mine.flags.writeable
                with pytest.raises(ValueError):
                    mine[...] = 77


@pytest.mark.parametrize("name", ["bodies", "mesh"])
def test_indices_cannot_be_unlocked(name):
    """NumPy lets the owner of memory take a lock back; what kernels index by has no such owner."""
    for array in vars(frozen_things()[name]).values():
        if isinstance(array, np.ndarray) and array.dtype.kind == "i":
            with pytest.raises(ValueError):
                array.flags.writeable = True


def test_copies_and_pickles_give_the_same_contacts(backend):
    bodies = bodies_of(*scene())
    expected = gc.collide(bodies, all_pairs(), backend=backend.name).to_numpy()
    for made in (copy.deepcopy(bodies), pickle.loads(pickle.dumps(bodies))):
        same(gc.collide(made, all_pairs(), backend=backend.name).to_numpy(), expected)


def test_one_broad_phase_for_many_threads(backend):
    """A step refits the tree that another thread's step still walks over: they take turns."""
    from concurrent.futures import ThreadPoolExecutor

    scenes = [bodies_of(*scene(seed=k)) for k in range(4)]
    expected = [gc.find_pairs(b, backend=backend.name) for b in scenes]
    phase = gc.BroadPhase(12, backend=backend.name)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(10):
            found = list(threads.map(phase.find_pairs, scenes))
            assert all(map(np.array_equal, found, expected))
