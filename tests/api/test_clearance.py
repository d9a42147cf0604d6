"""gc.clearance as it is called: which pairs, what is refused and with which words, results and their
files."""

import warnings

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results.clearance import CLEARANCE_ROWS

pytestmark = pytest.mark.shared_bits("tests/clearance/test_c01_clearance.py")

ONE = [1.0, 0, 0, 0]


def row(n, gap, way=0.0):
    """Boxes side by side, gaps between them; the last moves along the row by `way`."""
    start = np.column_stack([np.arange(n) * (1.0 + gap), np.zeros(n), np.zeros(n)])
    end = start.copy()
    end[-1, 0] += way
    poses = (gc.Poses.from_quat_wxyz(p, [ONE] * n) for p in (start, end))
    return gc.Bodies(gc.shapes.box(), None, *poses)


def test_pairs_within_a_distance(backend):
    bodies = row(5, 0.25, way=-0.125)
    found = gc.clearance(bodies, max_distance=0.3, still_pairs=True, backend=backend.kind)
    near = np.isfinite(found.distance)
    assert found.pairs[found.pair[near]].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert found.distance[near] == pytest.approx([0.25, 0.25, 0.25, 0.125], abs=1e-14)
    assert len(found) < 10  # not all pairs
    assert (found.lower_bound[~near] > 0.3 - 1e-9).all()
    assert (found.time[~near] == np.inf).all() and (found.feature_a[~near] == -1).all()


def test_pairs_of_the_broad_phase_are_all_that_come_so_near(backend):
    """Bodies that turn, some by much, on either motion: as among all pairs."""
    rng = np.random.default_rng(4)
    n = 24
    q = rng.normal(size=(2, n, 4))
    p = rng.normal(size=(n, 3)) * 5.0
    poses = (
        gc.Poses.from_quat_wxyz(p + rng.normal(size=(n, 3)), each)
        for each in q / np.linalg.norm(q, axis=2)[..., None]
    )
    bodies = gc.Bodies([gc.shapes.box(), gc.shapes.l_block()], rng.integers(0, 2, n), *poses)
    for motion in ("relative", "body"):
        whole = gc.clearance(bodies, motion=motion, backend=backend.kind)
        assert len(whole) == n * (n - 1) // 2
        for limit in (0.0, 0.4, 2.0):
            some = gc.clearance(bodies, max_distance=limit, motion=motion, backend=backend.kind)
            near = whole.pairs[whole.distance < limit - 1e-8]
            told = some.pairs[some.pair[np.isfinite(some.distance)]]
            assert {*map(tuple, near.tolist())} <= {*map(tuple, told.tolist())}
            assert len(some) < len(whole)


def test_the_reference_finds_the_same_pairs(backend):
    bodies = row(6, 0.25, way=-0.125)
    asked = dict(max_distance=0.3, still_pairs=True)
    found = [gc.clearance(bodies, backend=name, **asked) for name in ("reference", backend.kind)]
    told = [one.pairs[one.pair[np.isfinite(one.distance)]].tolist() for one in found]
    assert told[0] == told[1] != []


def test_worlds_and_groups(backend):
    bodies = row(4, 0.5)
    asked = dict(still_pairs=True, backend=backend.kind)
    assert gc.clearance(bodies, world=[0, 0, 1, 1], **asked).pairs.tolist() == [[0, 1], [2, 3]]
    assert gc.clearance(bodies, ignore=[[0, 1]], max_distance=0.6, **asked).pairs.tolist() == [[1, 2], [2, 3]]
    assert len(gc.clearance(bodies, backend=backend.kind)) == 0  # all stand
    poses = gc.Poses.from_quat_wxyz(np.tile(bodies.start.position, (2, 1, 1)), [[ONE] * 4] * 2)
    worlds = gc.Bodies(gc.shapes.box(), None, poses, poses)
    found = gc.clearance(worlds, max_distance=0.6, **asked)
    assert len(found) == 6 and found.info["worlds"] == (2, 4)


def test_times_are_rows_of_a_pair(backend):
    bodies = row(3, 0.5, way=0.5)
    found = gc.clearance(bodies, [[0, 1], [1, 2]], at=[1.0, 0.25], backend=backend.kind)
    assert found.pair.tolist() == [0, 0, 1, 1] and found.time.tolist() == [1.0, 0.25, 1.0, 0.25]
    assert found.distance.reshape(2, 2) == pytest.approx(np.array([[0.5, 0.5], [1.0, 0.625]]), abs=1e-14)
    assert gc.clearance(bodies, [[1, 2]], at=0.5, backend=backend.kind).distance[0] == pytest.approx(
        0.75, abs=1e-14
    )
    inside = gc.clearance(row(2, -0.75, way=2.0), [[0, 1]], at=[0.0, 1.0], backend=backend.kind)
    assert inside.status.tolist() == [gc.Status.INITIAL_OVERLAP, gc.Status.MISS]
    assert inside.time.tolist() == [0.0, 1.0] and inside.distance[0] == -0.75


def test_what_has_no_distance(backend):
    bodies = row(3, 0.5)
    position = bodies.start.position.copy()
    position[1] = np.nan
    lost = gc.Bodies(gc.shapes.box(), None, gc.Poses.from_quat_wxyz(position, [ONE] * 3), bodies.end)
    with pytest.warns(RuntimeWarning, match="INVALID_INPUT"):
        found = gc.clearance(lost, [[0, 1], [0, 2]], backend=backend.kind)
    assert found.status.tolist() == [gc.Status.INVALID_INPUT, gc.Status.MISS]
    assert (found.distance[0], found.lower_bound[0], found.time[0]) == (np.inf, 0.0, np.inf)
    far = row(2, 0.5, way=1e14)
    long = gc.clearance(far, [[0, 1]], backend=backend.kind)
    assert (long.status[0], long.distance[0], long.lower_bound[0]) == (gc.Status.UNRESOLVED, np.inf, 0.0)
    away = gc.Bodies(
        gc.shapes.box(),
        None,
        *(gc.Poses.from_quat_wxyz([[0, 0, 0], p], [ONE] * 2) for p in ([9, 9, 9], [9, 9, 1e14])),
    )
    for motion in ("relative", "body"):  # too long for the digits, though they cannot meet
        assert (
            gc.clearance(away, [[0, 1]], motion=motion, backend=backend.kind).status[0]
            == gc.Status.UNRESOLVED
        )


@pytest.mark.parametrize(
    "asked, error, text",
    [
        (dict(tolerance=0.0), ValueError, "tolerance: expected a share of the size of a pair from 1e-13"),
        (dict(tolerance="fine"), TypeError, "tolerance: expected a number, got str"),
        (dict(max_distance=-1), ValueError, "max_distance: expected a length from 0 up, or inf, got -1.0"),
        (dict(max_distance=np.nan), ValueError, "max_distance: expected a length"),
        (dict(max_distance=True), TypeError, "max_distance: expected a number, got bool"),
        (dict(at=1.5), ValueError, "at: expected fractions of the step in .0, 1., got 1.5"),
        (dict(at=[]), ValueError, "at: expected at least one time, got none"),
        (dict(at=[np.nan]), ValueError, "at"),
        (dict(at="noon"), (TypeError, ValueError), "at"),
        (dict(motion="fast"), ValueError, "motion"),
        (dict(pairs=[[0, 9]]), ValueError, "pairs"),
        (dict(pairs=[[0, 1]], world=[0, 0, 0]), ValueError, "world: expected nothing when pairs are given"),
        (dict(progress=3), TypeError, "progress"),
        (dict(max_bytes=100, pairs=[[0, 1]]), gc.errors.MemoryLimitError, "max_bytes: expected room"),
    ],
)  # fmt: skip
def test_wrong_arguments(asked, error, text):
    with pytest.raises(error, match=text):
        gc.clearance(row(3, 0.5), backend="cpu", **asked)


def test_spinning_bodies_need_their_own_motion():
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0, 0]], [ONE] * 2)
    bodies = gc.Bodies.from_velocities(
        gc.shapes.box(), None, start, np.zeros((2, 3)), [[0, 0, 0], [0, 0, 20]]
    )
    with pytest.raises(ValueError, match="motion"):
        gc.clearance(bodies, [[0, 1]], backend="cpu")
    found = gc.clearance(bodies, [[0, 1]], motion="body", backend="cpu")
    assert found.distance[0] == pytest.approx(2.5 - np.sqrt(0.5), abs=1e-14)


def test_pieces_and_progress(backend):
    bodies = row(40, 0.5, way=1.0)
    pairs = np.stack(np.triu_indices(40, 1), axis=1)
    whole = gc.clearance(bodies, pairs, at=[0.0, 1.0], backend=backend.kind)
    told = []
    parts = gc.clearance(
        bodies, pairs, at=[0.0, 1.0], backend=backend.kind, max_bytes=1 << 16,
        progress=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    assert told[-1] == (1560, 1560) and len(told) > 1
    for name in CLEARANCE_ROWS:
        assert getattr(parts, name).tobytes() == getattr(whole, name).tobytes()


def test_none_at_all(backend):
    found = gc.clearance(row(2, 1.0), np.zeros((0, 2), int), at=[0.0, 1.0], backend=backend.kind)
    assert len(found) == 0 and found.point_a.shape == (0, 3)
    assert "rows      0" in repr(found)


def test_results_are_frozen_saved_and_told(tmp_path):
    bodies = row(3, 0.5, way=-0.25)
    found = gc.clearance(bodies, [[0, 1], [1, 2], [0, 2]], max_distance=1.0, backend="cpu")
    with pytest.raises(ValueError, match="read-only"):
        found.distance[0] = 1.0
    text = repr(found)
    assert "3 MISS" in text and "least     0.25" in text and "bodies 1 and 2" in text
    found.save(tmp_path / "near")
    again = gc.Clearance.load(tmp_path / "near")
    for name in ("pairs", "pair", *CLEARANCE_ROWS):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes()
    assert again.info["tolerance"] == 1e-9
    assert again[found.distance < 0.3].pairs.tolist() == found.pairs.tolist()
    assert again[1]["distance"] == 0.25
    with pytest.raises(ValueError, match="lower_bound"):
        worse = {name: getattr(found, name) for name in ("pairs", "pair", *CLEARANCE_ROWS)} | {
            "lower_bound": found.distance + 1
        }
        gc.Clearance(**worse, info={}).save(tmp_path / "bad")
        gc.Clearance.load(tmp_path / "bad")


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.clearance(row(3, 0.5, way=0.1), backend="cpu")
        gc.clearance(row(3, 0.5, way=0.1), backend="reference", at=[0.0, 1.0])
