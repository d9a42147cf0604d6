"""Near misses along recordings: against samples in time of every pair and step, and against what is known by
hand; and that no cut of the steps changes a bit."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.clearance import Passage

BITS = "tests/clearance/test_c01_clearance.py"
ONE = [1.0, 0.0, 0.0, 0.0]
MISS, HIT, OVERLAP = gc.Status.MISS, gc.Status.HIT, gc.Status.INITIAL_OVERLAP
BOX = gc.shapes.box()

pytestmark = pytest.mark.shared_bits(BITS)


def recording(position, quat=None, times=None, valid=None, meshes=BOX, **more):
    """Bodies at frames: position (t, n, 3)."""
    position = np.asarray(position, float)
    quat = np.broadcast_to(ONE, (*position.shape[:2], 4)) if quat is None else quat
    arrays = {"time": np.arange(len(position)) if times is None else times,
              "position": position, "quat_wxyz": quat}  # fmt: skip
    arrays |= {} if valid is None else {"valid": valid}
    arrays |= {name: more.pop(name) for name in ("id", "race_lengths") if name in more}
    return gc.Recording.from_arrays(arrays, meshes=meshes, **more)


def line(xs, y, z=0.0):
    """Places along x at frames, (t, 3)."""
    return np.column_stack([xs, np.full(len(xs), y), np.full(len(xs), z)])


def two(xs, y, **more):
    """A box at the origin, and one that is at xs at the frames, y beside it."""
    position = np.stack([np.zeros((len(xs), 3)), line(np.asarray(xs, float), y)], axis=1)
    return recording(position, **more)


def same(one, other):
    for name in (*one._rows, "since", "moved", "frames"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.skipped.tobytes() == other.skipped.tobytes()


# -- known by hand
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_a_pass_is_one_row(motion, backend):
    """Half a metre beside, over four steps: nearest in any of the two in which they are abreast."""
    found = gc.clearance(two([-6, -3, 0, 3, 6], 1.5), max_distance=2.0, motion=motion, backend=backend.kind)
    assert (found.body_a[0], found.body_b[0], len(found)) == (0, 1, 1)
    assert found.gap[0] == 0.5 and found.lower_bound[0] == pytest.approx(0.5, abs=2e-9)
    assert found.step[0] == 1 and 1 + 2 / 3 - 1e-9 <= found.time[0] <= 2.0  # the first of both
    assert (found.first_step[0], found.last_step[0]) == (1, 2) and found.status[0] == MISS
    assert found.normal[0].tolist() == [0, 1, 0] and found.closing_speed[0] == 0.0
    assert found.point_a[0, 1] == 0.5 and found.point_b[0, 1] == 1.0


def test_two_passes_are_two_rows(backend):
    """There, away, and back nearer."""
    position = np.stack(
        [np.zeros((5, 3)), [[-6, 1.5, 0], [0, 1.5, 0], [9, 9, 0], [0, 1.25, 0], [-6, 1.25, 0]]], 1
    )
    found = gc.clearance(recording(position), max_distance=0.75, backend=backend.kind)
    assert found.first_step.tolist() == [0, 2] and found.last_step.tolist() == [1, 3]
    assert found.gap.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_side_by_side_all_along(motion, backend):
    """Cars that drive side by side in whole numbers: the gap is the same in all steps, and the first is
    told."""
    xs = np.arange(0.0, 90.0, 3.0)
    position = np.stack([line(xs, 0.0), line(xs, 2.0)], axis=1)
    found = gc.clearance(recording(position), max_distance=3.0, motion=motion, backend=backend.kind)
    assert found.gap.tolist() == [1.0] and found.step.tolist() == [0]
    assert (found.first_step[0], found.last_step[0]) == (0, 28) and found.closing_speed[0] == 0.0


def test_a_gap_of_just_the_distance(backend):
    """What stays at the distance is told, within the tolerance; what is a millionth farther is not."""
    for y, count in ((3.0, 1), (3.000001, 0)):
        found = gc.clearance(two([-3, 0, 3], y), max_distance=2.0, backend=backend.kind)
        assert len(found) == count
    assert found.gap.shape == (0,) and found.point_a.shape == (0, 3) and "none" in repr(found)


def test_touching_and_overlapping(backend):
    """Meets, stays inside, leaves: one pass, of which the first touch is told. Overlapping all along: its
    start."""
    found = gc.clearance(two([-3, -1.5, -0.5, -2.5, -9], 0.0), max_distance=0.75, backend=backend.kind)
    assert found.status.tolist() == [HIT] and found.gap.tolist() == [0.0] and found.step.tolist() == [1]
    assert found.time[0] == pytest.approx(1.5, abs=1e-9)
    assert found.closing_speed[0] == pytest.approx(1.0, abs=1e-12)
    touch = gc.clearance(two([-3, 0, 3], 1.0), max_distance=0.5, backend=backend.kind)
    assert touch.status.tolist() == [HIT] and touch.gap.tolist() == [0.0]
    inside = gc.clearance(two([0.1, 0.2, 0.3], 0.1), max_distance=0.5, backend=backend.kind)
    assert inside.status.tolist() == [OVERLAP] and inside.time.tolist() == [0.0]
    assert inside.gap.tolist() == [0.0] and np.isnan(inside.closing_speed[0])
    assert (inside.first_step[0], inside.last_step[0]) == (0, 1)


def test_bodies_that_come_and_go(backend):
    """Away in the middle: two passes, each nearest where it is seen last or first."""
    valid = np.ones((6, 2), bool)
    valid[2:4, 1] = False
    found = gc.clearance(
        two([3, 2.5, 2, 0, 2.0, 3], 0.0, valid=valid), max_distance=2.0, backend=backend.kind
    )
    assert found.gap.tolist() == [1.5, 1.0] and found.step.tolist() == [0, 4]
    assert found.time.tolist() == [1.0, 4.0]
    assert found.closing_speed.tolist() == [0.5, -1.0]  # it is away before it comes nearer; and it leaves
    assert len(found.skipped) == 0


def test_one_frame_is_no_step(backend):
    found = gc.clearance(two([0.0], 1.5), max_distance=2.0, backend=backend.kind)
    assert len(found) == 0 and found.info["n_bodies"] == 2


def test_standing_still_interrupts_nothing(backend):
    """A car comes, waits for three steps beside one that is parked, and leaves: one pass. Two that are parked
    make none; one that is away meanwhile makes two."""
    xs = [-3, 0, 0, 0, 0, 3]
    found = gc.clearance(two(xs, 1.5), max_distance=1.0, backend=backend.kind)
    assert len(found) == 1 and (found.first_step[0], found.last_step[0]) == (0, 4)
    assert found.step[0] == 0 and found.gap[0] == 0.5
    assert len(gc.clearance(two([0, 0, 0], 1.5), max_distance=1.0, backend=backend.kind)) == 0
    valid = np.ones((6, 2), bool)
    valid[2, 1] = False
    parted = gc.clearance(two(xs, 1.5, valid=valid), max_distance=1.0, backend=backend.kind)
    assert parted.first_step.tolist() == [0, 4] and parted.last_step.tolist() == [0, 4]


def test_static_bodies_ids_and_tables(backend):
    wall = gc.Bodies(BOX, None, *(gc.Poses.from_quat_wxyz([[0, 2, 0]], [ONE]),) * 2)
    cars = np.stack([line([-3.0, 0, 3], 0.25), line([9.0, 9, 9], 9.0)], axis=1)
    found = gc.clearance(
        recording(cars, id=np.array(["ego", "van"]), static=wall, times=[10, 10.5, 11]),
        max_distance=1.0,
        backend=backend.kind,
    )
    assert found.id_a.tolist() == ["ego"] and found.id_b.tolist() == [None] and found.body_b.tolist() == [2]
    assert found.gap.tolist() == [0.75] and 10.3 < found.time[0] <= 10.5
    assert len(found.of_ids("ego")) == 1
    table = found.to_pandas()
    assert table["id_a"].tolist() == ["ego"] and table["gap"].tolist() == [0.75]
    assert {"point_a_x", "point_b_z", "closing_speed", "time", "lower_bound"} <= {*table.columns}
    assert "1 MISS" in repr(found) and "bodies ego and None" in repr(found)


def test_worlds_and_jumps(backend):
    """Nobody comes near in another world, and a body that jumps takes part in no pass of that step."""
    three = np.stack([line([0.0, 1, 2], 0), line([0.0, 1, 2], 2), line([0.0, 1, 80], 4)], axis=1)
    asked = dict(max_distance=1.5, backend=backend.kind)
    found = gc.clearance(recording(three), max_speed=10.0, **asked)
    assert found.body_a.tolist() == [0, 1] and found.last_step.tolist() == [1, 0]
    assert found.skipped.tolist() == [(1, 2, "teleport")]
    apart = gc.clearance(recording(three), world=[0, 1, 1], max_speed=10.0, **asked)
    assert list(zip(apart.body_a, apart.body_b, strict=True)) == [(1, 2)]


def test_races_do_not_run_into_each_other(backend):
    """The step from the last frame of a race to the first of the next does not exist."""
    whole = two([-3, 0, 3, -3, 0, 3], 1.5, race_lengths=[3, 3], times=[0, 1, 2, 0, 1, 2])
    found = gc.clearance(whole, max_distance=0.75, backend=backend.kind)
    assert found.first_step.tolist() == [0, 3] and found.last_step.tolist() == [1, 4]
    assert found.gap.tolist() == [0.5, 0.5] and found.time[0] == found.time[1]


# -- against samples, and cut anywhere
# ---------------------------------------------------------------------------


def traffic(seed, n=6, frames=9, whole=False, still=0.2):
    """Boxes that wander about among each other and a wall, perhaps on whole numbers; some are away at
    times."""
    rng = np.random.default_rng(seed)
    way = rng.integers(-2, 3, (frames, n, 3)) if whole else rng.normal(size=(frames, n, 3)) * 0.9
    way[0] = rng.integers(-4, 5, (n, 3)) if whole else rng.normal(size=(n, 3)) * 3
    way[rng.uniform(size=(frames, n)) < still] = 0
    quat = np.broadcast_to(ONE, (frames, n, 4))
    if not whole:
        turn = np.cumsum(rng.normal(size=(frames, n)) * 0.25, axis=0)
        quat = np.stack([np.cos(turn), 0 * turn, 0 * turn, np.sin(turn)], axis=-1)
    wall = gc.Bodies(
        gc.shapes.box((4.0, 0.5, 4.0)), None, *(gc.Poses.from_quat_wxyz([[0, -3, 0]], [ONE]),) * 2
    )
    return recording(
        np.cumsum(way, axis=0), quat, valid=rng.uniform(size=(frames, n)) < 0.95, static=wall,
        meshes=[BOX, gc.shapes.l_block()], shape=np.arange(n) % 2,
    )  # fmt: skip


FAR = 9.0


def judged(seed, motion, backend, whole, limit=1.5, samples=24, **more):
    """All passes against those of the least sampled distance of every pair and step."""
    given = traffic(seed, whole=whole, **more)
    found = gc.clearance(given, max_distance=limit, motion=motion, backend=backend.kind)
    there = given.there()
    expected, doubtful = {}, set()
    for step in range(given.n_steps):
        bodies = given.bodies(step)
        n, here = given.n_bodies, there[step] & there[step + 1]
        for a in range(n):
            for b in range(a + 1, len(bodies)):
                if not here[a] or (b < n and not here[b]):
                    continue
                ends = [poses.position[a] - poses.position[b] for poses in (bodies.start, bodies.end)]
                if min(map(np.linalg.norm, ends)) > FAR:  # steps and boxes are no larger than that allows
                    continue
                passage = Passage.of(bodies, a, b, motion)
                least, _ = passage.least(samples, 4)
                if abs(least - limit) < 1e-6:
                    doubtful.add((a, b))
                expected[a, b, step] = least
    rows = {}
    for r in found:
        for step in range(r["first_step"], r["last_step"] + 1):
            rows[r["body_a"], r["body_b"], step] = r
    still = gc.Status.INITIAL_OVERLAP
    overlaps = 0
    for (a, b, step), least in expected.items():
        row = rows.get((a, b, step))
        near = least <= limit
        if (a, b) in doubtful:
            continue
        if near and row is None:  # neither moves, or one is deep inside the other, where surfaces are apart
            bodies = given.bodies(step)
            for start, end in ((bodies.start.position, bodies.end.position),
                               (bodies.start.unit_wxyz, bodies.end.unit_wxyz)):  # fmt: skip
                assert np.array_equal(start[[a, b]], end[[a, b]]), (seed, a, b, step)
        if row is None:
            continue
        assert row["lower_bound"] <= least + 1e-9, (seed, a, b, step)
        assert row["gap"] <= least + 1e-8, (seed, a, b, step)
        overlaps += row["status"] == still
    for r in found:
        passage = Passage.of(given.bodies(r["step"]), r["body_a"], r["body_b"], motion)
        there_gap = passage.distance(r["fraction"])
        if r["status"] != still:  # the distance of surfaces then is what is told
            assert abs(there_gap - r["gap"]) < 1e-9, (seed, r)
        if r["status"] == MISS:
            e = 1e-5
            ends = [passage.distance(t) for t in (r["fraction"] - e, r["fraction"] + e)]
            if 2 * e < r["fraction"] < 1 - 2 * e:
                assert r["closing_speed"] < 0.05 and min(ends) > r["gap"] - 1e-9
            elif r["fraction"] == 1.0:
                assert (ends[0] - r["gap"]) / e == pytest.approx(r["closing_speed"], abs=2e-3)
    return len(found)


@pytest.mark.parametrize("motion, whole", [("relative", True), ("body", False)])
def test_against_samples_in_time(motion, whole, backend):
    assert judged(1, motion, backend, whole, samples=8, n=4, frames=4) > 2


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_many_against_samples_in_time(motion, whole, backend):
    for seed in range(2, 5):
        judged(seed, motion, backend, whole, n=5)


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_no_cut_of_the_steps_changes_a_bit(motion, backend):
    """Steps one by one, in threes and all at once, and in little memory."""
    for seed, whole in ((11, False), (12, True)):
        given = traffic(seed, n=12, frames=16, whole=whole)
        asked = dict(max_distance=2.0, motion=motion, backend=backend.kind)
        once = gc.clearance(given, **asked)
        assert (once.last_step > once.first_step).sum() > 20
        for cut in (dict(frames_per_batch=1), dict(frames_per_batch=3), dict(max_bytes=3 << 19)):
            same(gc.clearance(given, **asked, **cut), once)


def test_a_row_is_what_clearance_of_its_step_says(backend):
    given = traffic(3)
    found = gc.clearance(given, max_distance=1.0, backend=backend.kind)
    for r in found[found.status != OVERLAP]:
        pair = [[r["body_a"], r["body_b"]]]
        one = gc.clearance(given.bodies(r["step"]), pair, backend=backend.kind)
        assert one.distance[0] == pytest.approx(r["gap"], abs=2e-9)
    least = {}
    for step in range(given.n_steps):
        bodies = given.bodies(step)
        far = gc.clearance(bodies, np.array([(a, b) for a in range(6) for b in range(a + 1, 7)]),
                           backend=backend.kind)  # fmt: skip
        for k, (a, b) in enumerate(far.pairs.tolist()):
            least[a, b, step] = far.distance[k]
    for r in found:
        steps = range(r["first_step"], r["last_step"] + 1)
        told = [least[r["body_a"], r["body_b"], s] for s in steps]
        assert r["gap"] == pytest.approx(min(told), abs=2e-9)


def test_the_reference_finds_the_same(backend):
    given = traffic(5, n=4, frames=4)
    one, other = (gc.clearance(given, max_distance=1.0, backend=k) for k in (backend.kind, "reference"))
    for name in ("body_a", "body_b", "first_step", "last_step", "status"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.gap == pytest.approx(other.gap, abs=1e-8)


# -- as it is called
# ---------------------------------------------------------------------------------------------


def test_saved_selected_and_frozen(tmp_path):
    found = gc.clearance(traffic(1), max_distance=1.0, backend="cpu")
    found.save(tmp_path / "near")
    again = gc.NearMisses.load(tmp_path / "near")
    same(found, again)
    few = found[found.gap < 0.5]
    assert 0 < len(few) < len(found) and (few.gap < 0.5).all()
    with pytest.raises(ValueError, match="read-only"):
        found.gap[0] = 1.0
    found.save(tmp_path / "near.csv")
    assert (tmp_path / "near.csv").read_text().count("\n") == len(found) + 1


def test_progress_and_warnings(backend):
    told = []
    gc.clearance(
        two([-6, -3, 0, 3, 6], 1.5), max_distance=1.0, frames_per_batch=2, backend=backend.kind,
        progress=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    assert told == [(2, 4), (4, 4)]


@pytest.mark.parametrize(
    "asked, error, text",
    [
        (dict(), ValueError, "max_distance: expected a finite length with a Recording"),
        (dict(max_distance=-1.0), ValueError, "max_distance: expected a length from 0 up"),
        (dict(max_distance=1.0, pairs=[[0, 1]]), TypeError, "pairs: expected none with a Recording"),
        (dict(max_distance=1.0, at=0.5), TypeError, "at: expected none with a Recording"),
        (dict(max_distance=1.0, regions=True), TypeError, "regions: expected none with a Recording"),
        (dict(max_distance=1.0, still_pairs=True), TypeError, "still_pairs: expected none with a Recording"),
        (dict(max_distance=1.0, tolerance=0), ValueError, "tolerance"),
        (dict(max_distance=1.0, world=[0]), ValueError, "world"),
        (dict(max_distance=1.0, max_speed=-1), ValueError, "max_speed"),
        (dict(max_distance=1.0, motion="fast"), ValueError, "motion"),
        (dict(max_distance=1.0, progress=3), TypeError, "progress"),
    ],
)  # fmt: skip
def test_wrong_arguments(asked, error, text):
    with pytest.raises(error, match=text):
        gc.clearance(two([0, 1], 2.0), backend="cpu", **asked)


def test_options_of_recordings_are_refused_of_bodies():
    bodies = two([0, 1], 2.0).bodies(0)
    for name in ("max_speed", "max_turn", "frames_per_batch"):
        with pytest.raises(TypeError, match=f"{name}: expected none with Bodies"):
            gc.clearance(bodies, [[0, 1]], **{name: 1})
    with pytest.raises(TypeError, match="bodies"):
        gc.clearance("cars.csv", max_distance=1.0)
