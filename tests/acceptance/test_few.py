"""The same few pairs again and again: the bits of `collide`, whatever was asked before."""

import gc as collector
import itertools
import threading
import warnings
import weakref

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide._options import Options
from gpu_collide._validate import owned
from gpu_collide.pipeline.device_scene import DeviceScene
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.narrow_phase import query
from gpu_collide.pipeline.narrow_phase.recorded_batch import RecordedBatch
from gpu_collide.results import invariants
from tests.support.seeds import generator
from tests.support.tuning import keywords

MESHES = (gc.shapes.box(), gc.shapes.l_block(), gc.shapes.car(), gc.shapes.torus(1.0, 0.4, 12, 8))


def few_pairs(backend, bodies, pairs, room=None, **options):
    options = Options.checked(backend=backend.kind, **keywords(**options))
    run = Launcher(backend, options.precision, options.max_bytes)
    prepared = query.prepare(run, bodies.meshes, options)
    return Kept(RecordedBatch(run, prepared, room), bodies, np.asarray(pairs, np.int32).reshape(-1, 2))


class Kept:
    """A batch that is asked about the same pairs again and again."""

    def __init__(self, batch, bodies, pairs):
        self.batch, self.pairs = batch, owned(pairs)
        batch._fitting(bodies, self.pairs)

    def __getattr__(self, name):
        return getattr(self.batch, name)

    def collide(self, bodies, pairs=None):
        return self.batch.collide(bodies, self.pairs)


def step(rng, n, spread=1.2, meshes=MESHES, shape=None):
    """Bodies near each other on random ways."""

    def poses():
        quat = rng.normal(size=(n, 4))
        return gc.Poses.from_quat_wxyz(
            rng.normal(size=(n, 3)) * spread, quat / np.linalg.norm(quat, axis=1)[:, None]
        )

    shape = np.arange(n) % len(meshes) if shape is None else shape
    return gc.Bodies(meshes, shape, poses(), poses())


def check(few, bodies, pairs, backend, **options):
    """Compare with `collide`, one launch after the other; its result, or None if they were refused."""
    backend.kept.pop("idle engines", None)  # what calls before have prepared
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of invalid poses
        wanted = gc.collide(bodies, pairs, backend=backend.kind, **keywords(**options)).to_numpy()
    fields = few.collide(bodies, pairs)
    if fields is None:
        return None
    made = gc.Contacts(**fields).to_numpy()
    for name, value in vars(wanted.to_numpy()).items():
        got = getattr(made, name)
        if value is None:  # meshes without names of parts
            assert got is None, name
        elif name != "info":
            assert got.dtype == value.dtype and got.shape == value.shape, name
            assert got.tobytes() == value.tobytes(), name
            if isinstance(fields[name], np.ndarray):  # `sealed` relies on it
                assert fields[name].dtype == value.dtype and fields[name].flags.c_contiguous, name
    told = {name: options[name] for name in ("min_properness", "precision", "contacts") if name in options}
    invariants.ensure(made, bodies, pairs, **{"min_properness": -0.1, **told}, refine="exact")
    return wanted


OPTIONS = {
    "filters": ("auto", "none", ("boxes",), ("plane", "spheres")),
    "candidates": ("auto", "raster", "pairs"),
    "contacts": ("all", "first"),
    "check_start": (True, False),
    "precision": ("mixed", "double"),
    "min_properness": (-0.1, -1.0, 0.3),
    "features": ("auto", "all"),
    "resolution": (None, 5.0),
}


def combinations():
    """Each value of each option beside a seeded choice of the others."""
    rng = np.random.default_rng(5)
    for name, values in OPTIONS.items():
        for value in values:
            yield {k: v[rng.integers(len(v))] for k, v in OPTIONS.items()} | {name: value}


def test_bits_for_all_options(backend):
    rng = np.random.default_rng(1)
    pairs = np.array([[0, 1], [2, 1], [3, 0], [2, 3], [1, 1], [0, 1]], np.int32)[[0, 1, 2, 3, 5]]
    seen = np.zeros(len(gc.Status), int)
    for options in combinations():
        first = step(rng, 4)
        few = few_pairs(backend, first, pairs, **options)
        for spread in (1.0, 0.4):
            found = check(few, step(rng, 4, spread), pairs, backend, **options)
            seen += np.bincount(found.status, minlength=len(seen))
        assert few.refusals == 0
    assert seen[[gc.Status.MISS, gc.Status.HIT, gc.Status.INITIAL_OVERLAP]].min() > 5


def test_poses_that_are_none_come_and_go(backend):
    rng = np.random.default_rng(2)
    pairs = [[0, 1], [2, 3], [1, 2]]
    few = few_pairs(backend, step(rng, 5), pairs)
    for bad in ([], [1], [1], [0, 3], [4], [], [0, 1, 2, 3], []):
        bodies = step(rng, 5)
        position = bodies.start.position.copy()
        position[bad] = np.nan
        start = gc.Poses.from_quat_wxyz(position, bodies.start.quat_wxyz)
        bodies = gc.Bodies(bodies.meshes, bodies.shape, start, bodies.end)
        found = check(few, bodies, np.array(pairs), backend)
        invalid = found.status == gc.Status.INVALID_INPUT
        assert np.array_equal(invalid, np.isin(pairs, bad).any(axis=1))


def test_motions_beyond_all_digits(backend):
    rng = np.random.default_rng(3)
    few = few_pairs(backend, step(rng, 2), [[0, 1]])
    near, far = step(rng, 2), step(rng, 2, 1e13)
    for bodies in (near, gc.Bodies(far.meshes, far.shape, near.start, far.end), near):
        check(few, bodies, np.array([[0, 1]]), backend)


@pytest.mark.parametrize("tiny", ["candidates", "hits", "reals", "ints"])
@pytest.mark.parametrize("candidates", ["auto", "raster"])
def test_more_room_is_taken(backend, tiny, candidates):
    rng = np.random.default_rng(4)
    pairs = np.stack(np.triu_indices(4, 1), axis=1)
    few = few_pairs(backend, step(rng, 4), pairs, {tiny: 1}, candidates=candidates)
    before = few.nbytes
    for spread in (9.0, 0.5, 0.3, 1.0):
        check(few, step(rng, 4, spread), pairs, backend, candidates=candidates)
    assert few.repeats > 0 and few.refusals == 0 and few.nbytes > before
    repeats = few.repeats
    check(few, step(np.random.default_rng(4), 4, 5.0), pairs, backend, candidates=candidates)
    assert few.repeats == repeats


def test_what_does_not_fit_goes_the_general_way(backend):
    """A limit of memory below what is kept, and one below what has to be taken."""
    rng = np.random.default_rng(6)
    pairs = np.array([[0, 1], [2, 3]])
    none = few_pairs(backend, step(rng, 4), pairs, max_bytes=400_000, features="all")
    check(none, step(rng, 4), pairs, backend, max_bytes=1 << 30)
    assert none.nbytes == 0 and none.refusals == 1
    room = {"candidates": 8, "hits": 8, "reals": 60_000, "ints": 60_000}
    some = few_pairs(backend, step(rng, 4), pairs, room)
    some.run.room.max_bytes = some.nbytes // 2  # no room for more
    refused = []
    for spread in (9.0, 0.5, 0.5, 9.0):
        check(some, step(rng, 4, spread), pairs, backend)
        refused.append(some.refusals)
    assert some.repeats == 0 and refused[0] == 0 and refused[-1] > 0 and some.nbytes > 0


def test_large_meshes_and_their_trees(backend):
    """More than 1,024 faces, looked at whole; overlaps are looked for in trees."""
    rng = np.random.default_rng(7)
    meshes = (gc.shapes.icosphere(3), gc.shapes.box())
    pairs = np.array([[0, 1]])
    few = few_pairs(backend, step(rng, 2, meshes=meshes), pairs, features="all")
    for spread in (0.2, 2.0):
        check(few, step(rng, 2, spread, meshes), pairs, backend, features="all")


@pytest.mark.parametrize("n", [0, 1, 300])
def test_number_of_pairs(backend, n):
    rng = np.random.default_rng(8)
    bodies = step(rng, 40, 2.0, MESHES[:2])
    pairs = rng.integers(0, 20, (n, 2))
    pairs[:, 1] += 20
    few = few_pairs(backend, bodies, pairs)
    for _ in range(2):
        check(few, step(rng, 40, 2.0, MESHES[:2]), pairs.reshape(-1, 2), backend)


def test_any_pairs_of_bodies_whose_poses_are_placed(backend):
    """As many as there are, in arrays that others may have and in some that nobody can write to."""
    rng = np.random.default_rng(11)
    bodies = step(rng, 30, 2.0)
    options = Options.checked(backend=backend.kind)
    run = Launcher(backend, options.precision, options.max_bytes)
    resident = DeviceScene(backend, options.precision, bodies.meshes, bodies.shape)
    few = RecordedBatch(run, resident.prepare(run, bodies, options))
    kept = owned(np.array([[0, 1], [5, 2], [7, 3]], np.int32))
    for n in (3, 0, 40, None, None, 17, 200, None, 1):
        pairs = kept
        if n is not None:
            pairs = np.sort(rng.integers(0, 15, (n, 2)) * 2 + [0, 1], axis=1).astype(np.int32)
        position = rng.normal(size=(30, 3)) * 2.0
        position[rng.uniform(size=30) < 0.1 * (n == 40)] = np.inf
        bodies = bodies.moved(gc.Poses(position, bodies.end.quat_wxyz), bodies.start)
        resident.place(bodies)
        assert check(few, bodies, pairs, backend) is not None
    assert few.refusals == 0
    held = few.nbytes
    few.let_go()
    assert few.nbytes == 0 < held
    check(few, bodies, kept, backend)
    assert 0 < few.nbytes < held


def test_whom_it_serves(backend):
    rng = np.random.default_rng(9)
    bodies = step(rng, 2, meshes=(gc.shapes.icosphere(3),))
    for options, serves in (
        ({"features": "all"}, True), ({}, False), ({"features": "all", "report": True}, False),
        ({"features": "all", "refine": "segments"}, False), ({"features": "all", "refine": "pixels"}, False),
        ({"features": "all", "precision": "single"}, False),
    ):  # fmt: skip
        checked = Options.checked(backend=backend.kind, **keywords(**options))
        run = Launcher(backend, checked.precision, checked.max_bytes)
        prepared = query.prepare(run, bodies.meshes, checked)
        assert prepared.plan.may_record is serves
        if not serves:
            with pytest.raises(ValueError, match="may be recorded"):
                RecordedBatch(run, prepared)


def test_results_are_the_callers_own(backend):
    """A later call changes neither an earlier result nor what was handed in, and shares no memory with it."""
    rng = np.random.default_rng(10)
    pairs = np.array([[0, 1], [2, 3], [1, 2]], np.int32)
    few = few_pairs(backend, step(rng, 4), pairs)
    pairs[:] = 0
    a, b = step(rng, 4, 0.5), step(rng, 4, 0.5)
    one = few.collide(a)
    kept = {name: gc.Contacts(**one).to_numpy().__dict__[name].copy() for name in one}
    two = few.collide(b)
    assert len(one["pair"]) and one["pairs"].tolist() == [[0, 1], [2, 3], [1, 2]]
    again = vars(gc.Contacts(**one).to_numpy())
    assert all(again[name].tobytes() == kept[name].tobytes() for name in one)
    host = [x for x in (*one.items(), *two.items()) if isinstance(x[1], np.ndarray) and x[0] != "pairs"]
    for (_, x), (_, y) in itertools.combinations(host, 2):
        assert not np.may_share_memory(x, y)
    made = few._kept.written
    buffers = [*few._kept.buffers.values(), *made.out.values(), made.status, made.start]
    for (name, x), buffer in itertools.product(host, buffers):
        assert not isinstance(buffer, np.ndarray) or not np.may_share_memory(x, buffer), name
    with pytest.raises(ValueError, match="WRITEABLE"):
        two["pairs"].flags.writeable = True
    found = gc.Contacts.sealed({}, **two)
    assert isinstance(found, gc.Contacts) and len(found) == len(two["pair"])
    for name, array in two.items():
        if isinstance(array, np.ndarray):
            assert getattr(found, name) is array and not array.flags.writeable


def test_a_thread_each(backend):
    scenes = [[step(generator(k, i), 4, 0.7) for i in range(15)] for k in range(4)]
    pairs = np.array([[0, 1], [2, 3]])
    wanted = [[gc.collide(b, pairs, backend=backend.kind).to_numpy() for b in row] for row in scenes]
    wrong, done = [], []

    def work(k):
        few = few_pairs(backend, scenes[k][0], pairs)
        for bodies, right in zip(scenes[k], wanted[k], strict=True):
            found = gc.Contacts(**few.collide(bodies)).to_numpy()
            wrong.extend(name for name, value in vars(right).items() if isinstance(value, np.ndarray) and
                         getattr(found, name).tobytes() != value.tobytes())  # fmt: skip
            done.append(len(right))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong
    assert len(done) == 60 and sum(done) > 0


def differing(one, other):
    """Names of fields that differ by a bit."""
    one, other = one.to_numpy(), other.to_numpy()
    fields = [name for name, value in vars(one).items() if isinstance(value, np.ndarray)]
    return [name for name in fields if getattr(one, name).tobytes() != getattr(other, name).tobytes()]


def test_calls_of_a_kind_without_a_scene(backend):
    """The same meshes and options again, with other poses, shapes and pairs: launches that are kept, and the
    bits of a first call."""
    rng, kept = np.random.default_rng(21), 0
    for options in combinations():
        for n in (1, 3, 70, 2, 1):
            bodies = step(rng, 4, 0.7, shape=rng.integers(0, 4, 4))
            pairs = rng.integers(0, 4, (n, 1)) + [0, 1]
            pairs %= 4
            again = gc.collide(bodies, pairs, backend=backend.kind, **keywords(**options))
            kept += "sequence" in again.info["timings"]
            idle = backend.kept.pop("idle engines")
            first = gc.collide(bodies, pairs, backend=backend.kind, **keywords(**options))
            assert "sequence" not in first.info["timings"]
            backend.kept["idle engines"] = idle
            assert not differing(first, again), (options, n)
    assert kept > 50 or not backend.quick_sequences
    everyone = [gc.collide(bodies, backend=backend.kind) for _ in range(3)]
    assert not differing(everyone[0], everyone[2]) and everyone[2].info.keys() == everyone[0].info.keys()


def test_calls_of_a_kind_by_threads(backend):
    scenes = [step(generator(9, i), 4, 0.7) for i in range(24)]
    pairs = [[0, 1], [2, 3]]
    wanted = [gc.collide(bodies, pairs, backend=backend.kind) for bodies in scenes]
    wrong = []

    def work():
        for bodies, right in zip(scenes, wanted, strict=True):
            wrong.extend(differing(right, gc.collide(bodies, pairs, backend=backend.kind)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_a_call_keeps_no_mesh(backend):
    """What is prepared goes with the meshes, and is not taken for that of others in their place."""
    rng = np.random.default_rng(23)
    for size in (1.0, 2.0, 1.0):
        box = gc.Mesh(gc.shapes.box(size).vertices, gc.shapes.box().faces)
        bodies = step(rng, 2, 0.3, meshes=(box,))
        for _ in range(3):
            found = gc.collide(bodies, [[0, 1]], backend=backend.kind)
        assert len(found.status) == 1
        gone = weakref.ref(box)
        del box, bodies, found
        collector.collect()
        assert gone() is None
