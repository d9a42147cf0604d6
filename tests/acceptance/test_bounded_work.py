"""What a pair may cost: nearly parallel features on a long way with a tiny turn, and motions beyond all
digits.

Two cubes that slide past each other turned by 1e-7 rad were 10,000 times slower than usual, 0.7 s a
pair at a way of 1e4 sizes and 104 s at 1e14, where the pair was UNRESOLVED from the start and all its
candidates were solved all the same. The curvature of an equation was bounded over the whole step, term
by term, and the terms cancel.
"""

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

ONE = [1.0, 0, 0, 0]


def one_pair(start, end, turned=ONE, turned_end=ONE):
    """A cube at rest at the origin, and one that moves."""
    poses = [
        gc.Poses.from_quat_wxyz([[0, 0, 0], p], [ONE, q]) for p, q in ((start, turned), (end, turned_end))
    ]
    return gc.Bodies(gc.shapes.box(), None, *poses)


def slide(way, turn, offset=(0.0, 0.0, 0.0)):
    """Into the same place along z, turned by `turn` about a skew axis at the start and not at the end."""
    axis = np.array([1.9, 11, -6.7]) / np.linalg.norm([1.9, 11, -6.7])
    q = np.concatenate([[np.cos(turn / 2)], np.sin(turn / 2) * axis])
    return one_pair(np.array([0, 0, -way]) + offset, offset, q)


def seconds_of_solving(bodies, backend, pairs=20):
    found = gc.collide(bodies, [[0, 1]] * pairs, backend=backend.kind).to_numpy()
    assert (found.status == gc.Status.HIT).all()
    options = {"backend": backend.kind, "report": True}  # which tells launch by launch
    every = [gc.collide(bodies, [[0, 1]] * pairs, **options).info["timings"] for _ in range(6)]
    return min(sum(v for k, v in each.items() if k.startswith("s07_")) for each in every)


@pytest.mark.scale("times of the solver")
@pytest.mark.parametrize("turn", [1e-8, 1e-7, 1e-5])
@pytest.mark.parametrize("way, times", [(100.0, 50), (1e4, 50), (1e6, 200)])
def test_tiny_turns_on_long_ways_are_solved_in_bounded_time(turn, way, times, backend):
    """Once 1,000 to 100,000 times as long as the slide of a usual turn; 1.3 to 6.4 times were seen now,
    and at 1e6 sizes, where culling in float32 has no digits left, 12 to 30."""
    usual = seconds_of_solving(slide(2.0, 0.3), backend)
    assert seconds_of_solving(slide(way, turn), backend) < times * usual + 2e-3


@pytest.mark.parametrize("far", [1e13, 1e14, 1e18, 1e300])
def test_a_motion_beyond_all_digits_is_not_looked_into(far, backend):
    bodies = one_pair([0, 0, -far], [0, 0, far], [0.9999999999999916, 1.9e-08, 1.1e-07, -6.7e-08])
    for kind in (backend.kind, "reference"):
        for filters in ("auto", ()):
            found = gc.collide(
                bodies, [[0, 1]], backend=kind, tuning=gc.Tuning(filters=filters), min_properness=-1.0
            )
            assert found.status.tolist() == [gc.Status.UNRESOLVED] and len(found) == 0
            assert np.isinf(found.toi).all()


@pytest.mark.parametrize("kind", ["kernels", "reference"])
def test_nearly_parallel_edges_meet_at_the_right_time_on_a_long_way(kind, backend):
    """Edges at 5e-7 rad on a way of 341: each moment had a rounding of its own, beside a cross product
    of 5e-7, so the time was off by 4.9e-11, that is 7e-9 lengths. The right one was computed with 50
    digits."""
    bodies = one_pair(
        [1.0, -341.04835919869794, 0.5],
        [1.0, 0.30000000000001137, 0.5],
        turned_end=[
            0.9999999999999317,
            2.463433873470252e-07,
            -1.231716936735126e-07,
            -2.463433873470252e-07,
        ],
    )
    found = gc.collide(
        bodies, [[0, 1]], backend=backend.kind if kind == "kernels" else "reference"
    ).to_numpy()
    k = found.properness > 0.4  # the others meet elsewhere
    assert found.kind[k].tolist() == [gc.Kind.EE]
    # worst error seen: 2.1e-11 of the size
    error = np.abs(found.time[k] - 0.99619157275078166) * np.abs(found.normal_speed[k]) / np.sqrt(0.75)
    assert error[0] < 1e-10


def test_a_graze_that_stays_within_the_touch_is_not_told_in_a_train(backend):
    """Pieces of the step were cut by a bound a million times too large, and each reported its own touch:
    492 contacts too many in 300 such pairs. They must not be nearer in time than what cannot be distinguished
    apart."""
    rng = np.random.default_rng(3)
    n = 200
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    turn, way = 10.0 ** rng.uniform(-9, -6, n), 10.0 ** rng.uniform(0, 3, n)
    q = np.concatenate([np.cos(turn / 2)[:, None], np.sin(turn / 2)[:, None] * axis], axis=1)
    offset = rng.choice([0.0, 0.5, 1.0, 0.3], (n, 3))
    start = offset - np.eye(3)[rng.integers(0, 3, n)] * way[:, None]
    still = np.zeros((n, 3)), np.tile(ONE, (n, 1))
    poses = [
        gc.Poses.from_quat_wxyz(np.concatenate([still[0], p]), np.concatenate([still[1], o]))
        for p, o in ((start, still[1]), (offset, q))
    ]
    pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
    found = gc.collide(
        gc.Bodies(gc.shapes.box(), None, *poses), pairs, backend=backend.kind, min_properness=-1.0
    ).to_numpy()
    rows = np.stack([found.pair, found.kind, found.feature_a, found.feature_b], axis=1)
    _, counts = np.unique(rows, axis=0, return_counts=True)
    # a feature pair can meet up to 4 times
    assert counts.max() <= 4


@pytest.mark.scale("times of the solver")
def test_pixels_of_a_row_that_holds_the_axis_are_answered_at_once(backend):
    """A turn takes next to no time in such a row, and a million copies round the axis were tried: 4 s a
    pair of drills at a row for each short edge, 2,000 times as long as at two."""
    axis = np.array([-9.0, -3, -6]) / np.linalg.norm([9, 3, 6])
    turned = np.concatenate([[np.cos(0.6)], np.sin(0.6) * axis])
    bodies = one_pair([9, 3, 6], [-9, -3, -6], turned_end=turned)

    def seconds(rows):
        options = {"backend": backend.kind, "refine": "pixels", "resolution": rows, "report": True}
        found = [gc.collide(bodies, [[0, 1]], **options).info["timings"] for _ in range(4)]
        return min(sum(v for k, v in t.items() if k.startswith("s07")) for t in found)

    assert seconds(1.0) < 50 * seconds(2.0) + 2e-3


def test_a_speck_beside_a_large_body_asks_the_reference_for_no_rows_without_end():
    """Rows of a share of the speck's edges over the large body: 1e12 of them, each with arrays of its own."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [ONE, ONE])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0.1, 0.2]], [ONE, ONE])
    bodies = gc.Bodies([gc.shapes.box(), gc.shapes.box((1e-10, 1e-10, 1e-10))], [0, 1], start, end)
    options = {"backend": "reference", "tuning": gc.Tuning(candidates="raster")}
    found = gc.collide(bodies, [[0, 1]], resolution=24, **options)
    assert found.status.tolist() == [gc.Status.HIT]
    # worst error of the time seen: 2e-16
    assert abs(found.toi[0] - (3 - 0.5 - 5e-11) / 6) < 1e-13
    two = gc.Bodies(gc.shapes.box(), None, start, end)
    with pytest.raises(gc.errors.MemoryLimitError, match="coarser resolution"):
        gc.collide(two, [[0, 1]], refine="segments", pixel_size=1e-8, **options)
