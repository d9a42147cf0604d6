"""`Room` and `Run`: buffers grow until they hold everything, keep to the limit, and show in no result."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide._options import Options
from gpu_collide.backends.buffers import DeviceMemoryError
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.engine import Pipeline
from gpu_collide.pipeline.launch.launcher import MOST_INDEX, Launcher, MemoryBudget, Scratch, TooLarge
from tests.acceptance import matrix
from tests.broad_phase import _near


def test_what_fits():
    room = MemoryBudget(1000)
    assert [room.fits(100), room.fits(100, held=1), room.fits(100, share=4), room.fits(1001)] == [10, 9, 2, 0]
    assert room.fits(1, held=2000) == 0
    room.check(1000)
    with pytest.raises(TooLarge) as caught:
        room.check(1001)
    assert caught.value.need == 1001


# ---- a buffer that all write to


def written(room, items, n=10, each=8, **more):
    """What `filled` makes of a launch that writes `items`, as a kernel does: those that have a place."""
    tried = []

    def fill(capacity):
        tried.append(capacity)
        return len(items), items[:capacity]

    kept = {"first": 2.0, "least": 4} | more
    return *room.filled("items", n, fill, each=each, **kept), tried


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3000)), min_size=1, max_size=6))
def test_nothing_is_lost_whatever_came_before(calls):
    room = MemoryBudget(8 * 3000)
    for n, count in calls:
        items = list(range(count))
        found, made, _ = written(room, items, n, first=0.5)
        assert found == count and made == items


def test_guesses_grow_and_are_kept():
    room, items = MemoryBudget(1 << 20), list(range(100))
    assert written(room, items)[2] == [20, 120]
    assert written(room, items)[2] == [110], "what the first call took, and a little more"
    assert written(room, items[:5])[2] == [110], "fewer forget nothing"
    assert written(room, items, n=1000)[2] == [11000]


def test_the_limit_is_met_and_not_passed():
    for count, fits in ((100, True), (101, False)):
        room = MemoryBudget(8 * 100)
        if fits:
            found, made, tried = written(room, list(range(count)))
            assert found == len(made) == 100 and tried == [20, 100]
        else:
            with pytest.raises(TooLarge) as caught:
                written(room, list(range(count)))
            assert caught.value.need == 8 * 101
    with pytest.raises(TooLarge) as caught:
        written(MemoryBudget(8 * 19), [])
    assert caught.value.need == 8 * 20, "the first guess does not fit"


def test_a_guess_refuses_nothing():
    room = MemoryBudget(8 * 100)
    room.guesses["items"] = 1e9
    found, made, tried = written(room, list(range(60)))
    assert found == len(made) == 60 and tried == [100]


def test_kernels_index_with_int():
    room = MemoryBudget(1 << 60)
    with pytest.raises(TooLarge):
        room.filled("items", 1, lambda capacity: (MOST_INDEX, None), each=1, first=1.0, least=1, width=4)
    tried = []

    def fill(capacity):
        tried.append(capacity)
        return (-5 if len(tried) < 3 else 7), None  # the count ran over

    assert room.filled("more", 1, fill, each=1, first=1.0, least=10)[0] == 7
    assert tried == [10, 48, 230]


# ---- scratch of groups


def worked(room, needs, first=10, held=0, groups=4, width=1):
    """Each item once it has the scratch it needs, in the launches that `worked_off` makes."""
    done, launches = [], []

    def launch(todo, count, sizes):
        launches.append((len(todo), count, sizes[0]))
        short = [k for k in todo if needs[k] > sizes[0]]
        done.extend(k for k in todo if needs[k] <= sizes[0])
        return [max((needs[k] for k in short), default=0)], lambda: np.array(short, np.int32)

    todo = np.arange(len(needs), dtype=np.int32)
    room.worked_off(todo, [Scratch("size", first, 8, width)], launch, held=held, groups=groups)
    return done, launches


@given(st.lists(st.integers(0, 5000), max_size=40))
def test_every_item_is_worked_off_once(needs):
    done, launches = worked(MemoryBudget(8 * 5000), needs)
    assert sorted(done) == list(range(len(needs)))
    assert all(count >= 1 and count * 8 * size <= max(8 * size, 8 * 5000) for _, count, size in launches)


def test_only_the_short_come_again_and_the_size_is_kept():
    room = MemoryBudget(1 << 20)
    assert worked(room, [1, 200, 5, 100])[1] == [(4, 4, 10), (2, 2, 304)]
    assert worked(room, [1, 200, 5, 100])[1] == [(4, 4, 304)]
    room.guesses["size"] = 1 << 40
    assert worked(room, [1])[1] == [(1, 1, 10)], "a guess refuses nothing"


def test_scratch_keeps_to_the_limit():
    assert worked(MemoryBudget(8 * 200), [1, 200])[1] == [(2, 2, 10), (1, 1, 200)], (
        "no spare where there is no room"
    )
    assert [count for _, count, _ in worked(MemoryBudget(8 * 100), [1] * 9, held=8 * 75)[1]] == [2]
    for room, needs, width in (
        (MemoryBudget(8 * 200), [201], 1),
        (MemoryBudget(1 << 50), [1000], MOST_INDEX // 500),
    ):
        with pytest.raises(TooLarge) as caught:
            worked(room, needs, held=30, width=width)
        assert caught.value.need == 8 * needs[0] + 30


# ---- pieces


def test_pieces_are_halved_where_they_are_too_large():
    done, told = [], []

    def work(at, stop):
        if stop - at > (3 if at < 8 else 1):
            raise TooLarge(stop - at) if at % 2 else MemoryError
        done.append((at, stop))

    MemoryBudget(1).pieces(10, 8, work, progress=told.append)
    assert done == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 9), (9, 10)] and told == [stop for _, stop in done]


def test_pieces_end_where_they_have_to():
    done = []
    MemoryBudget(1).pieces(10, 4, lambda at, stop: done.append((at, stop)), cut=lambda at: 5 if at < 5 else 0)
    assert done == [(0, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10)]


def test_one_that_is_too_large_is_refused_by_name():
    def work(at, stop):
        if at <= 5 < stop:
            raise TooLarge(77)

    with pytest.raises(MemoryLimitError, match="^number 5 needs 77$"):
        MemoryBudget(1).pieces(9, 9, work, refusal=lambda at, need: f"number {at} needs {need}")

    def broken(at, stop):
        raise DeviceMemoryError("the device is full")

    with pytest.raises(DeviceMemoryError, match="is full"):
        MemoryBudget(1).pieces(9, 9, broken, refusal=lambda at, need: "no")


# ---- on a backend


class Tight(MemoryBudget):
    """Begins with the smallest buffers there can be, so that every launch has to be repeated."""

    def filled(self, name, n, fill, *, each, first, least, width=1):
        self.repeats = getattr(self, "repeats", 0)

        def counted(capacity):
            self.repeats += 1
            return fill(capacity)

        return super().filled(name, n, counted, each=each, first=0.0, least=1, width=width)

    def worked_off(self, todo, scratch, launch, *, held, groups):
        super().worked_off(todo, [s._replace(first=1) for s in scratch], launch, held=held, groups=groups)


@pytest.mark.parametrize("features", ["all", "near"])
def test_the_same_bits_whatever_the_room_was_like(backend, features):
    """In buffers that begin with one place, in those of a first call, of later ones and of another scene."""
    scene, other = _near.scene("impact", 10), _near.scene("axis", 24)
    engine = Pipeline(backend, Options.checked(tuning=gc.Tuning(features=features, filters="none")))
    pairs = scene.pairs.astype(np.int32)
    first = engine.collide(scene.bodies(), pairs)
    assert len(first)
    if backend.kind == "cuda":
        pytest.skip("learns by other means: tests/ptx/test_staying.py, test_chains.py")
    kept = dict(engine.run.room.guesses)
    assert {"candidates", "hits"} <= set(kept) and ("patches" in kept) == (features == "near")
    engine.collide(other.bodies(), other.pairs.astype(np.int32))
    assert not matrix.same_bits(first, engine.collide(scene.bodies(), pairs))
    engine.run.room = Tight(1 << 30)
    assert not matrix.same_bits(first, engine.collide(scene.bodies(), pairs))
    assert engine.run.room.repeats > (3 if features == "near" else 2), "nothing had to be repeated"


def test_arguments_come_from_what_is_bound_in_order(backend):
    run = Launcher(backend, "mixed", 1 << 20)
    hits = {"hit_in": backend.to_device(np.array([1, 0, 0, 0], np.int32)), "n_hits": 1}
    start, later = (backend.to_device(np.array(a, np.int64)) for a in ([0, 0, 1], [9, 9, 9]))
    out = {"cursor": backend.zeros(2, np.int32), "order_out": backend.zeros(1, np.int32)}
    run.launch("s08_place", 1, hits, {"hit_start_in": start}, out, {"hit_start_in": later, "unused": start})
    assert backend.to_host(out["cursor"]).tolist() == [0, 1]
    with pytest.raises(TypeError, match="kernel s08_place: missing hit_start_in"):
        run.launch("s08_place", 1, hits, out)
    with pytest.raises(TypeError, match="unknown nothing"):
        run.launch("s08_place", 1, hits, out, hit_start_in=start, nothing=1)
    taken = run.take_timings()
    assert set(taken) - {"compile"} == {"s08_place"} and taken["s08_place"] > 0 and not run.timings


def test_types_are_those_of_the_kernels(backend):
    for precision in ("mixed", "double", "single"):
        if precision == "single" or backend.has_float64:
            run = Launcher(backend, precision, 1)
            of = {arg.name: arg.dtype for arg in run.kernel("screen").args}
            assert of["row_height_in"] == run.real and of["scratch_reals"] == run.raster


def test_an_engine_keeps_its_run_from_batch_to_batch(backend, monkeypatch):
    made = []
    init = Launcher.__init__
    monkeypatch.setattr(Launcher, "__init__", lambda self, *args: (made.append(self), init(self, *args))[1])
    poses = gc.Poses.from_quat_wxyz(
        [[[0.4 * k, 0, 0], [2.0, 0, 0]] for k in range(6)], [[[1, 0, 0, 0]] * 2] * 6
    )
    found = gc.collide_trajectories(
        gc.shapes.box(), None, poses, range(6), frames_per_batch=1, backend=backend.kind
    )
    assert len(found) and len(made) == 1
    assert found.info["timings"]["s01_screw"] > 0 and found.info["timings"]["b04_count"] > 0
