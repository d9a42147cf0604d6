"""Stage p04: all places where bodies at rest are near each other."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker import Touch, contacts, translate
from tests.pluecker._crowds import BOX, CAR, POINT_FIELDS, TORUS, at, crowd, same_bits, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


def test_a_box_on_a_box(backend):
    found = contacts(still(BOX, [0.2, 0.3, 1.001]), still(BOX, [0, 0, 0]), 0.01, backend=backend.kind)
    assert [Touch(k) for k in found.kind] == [Touch.VF, Touch.FV, Touch.EE, Touch.EE]
    assert np.allclose(found.distance, 0.001, atol=1e-12) and np.allclose(found.normal, [0, 0, 1], atol=1e-12)
    corners = {(-0.3, -0.2), (0.5, 0.5), (0.5, -0.2), (-0.3, 0.5)}
    assert {tuple(p) for p in found.point[:, :2].round(9).tolist()} == corners, (
        "where the two squares overlap"
    )
    assert contacts(still(BOX, [0.2, 0.3, 1.001]), still(BOX, [0, 0, 0]), backend=backend.kind).status[0] == 0


def test_what_stopped_is_in_contact(backend):
    movers, world, way, _ = crowd(41, n=60)
    stopped = translate(movers, world, way, backend=backend.kind)
    there = gc.Bodies(movers.meshes, movers.shape, stopped.poses, stopped.poses)
    found = contacts(there, world, expel=stopped.expel, backend=backend.kind)
    for i in np.flatnonzero(stopped.status == gc.Status.HIT):
        mine = slice(*found.point_start[i : i + 2])
        keys = zip(
            found.kind[mine], found.feature_a[mine], found.body[mine], found.feature_b[mine], strict=True
        )
        assert (stopped.kind[i], stopped.feature_a[i], stopped.body[i], stopped.feature_b[i]) in set(keys)
    # worst measured 1.0022 zones
    assert (found.distance <= 1.02 * stopped.expel[found.mover]).all() and (found.distance > 0).any()


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
@pytest.mark.parametrize("seed", [42, 43])
def test_against_the_reference(backend, seed):
    movers, world, way, _ = crowd(seed, n=30, bodies=4, spread=3)
    stopped = translate(movers, world, way, backend="cpu")
    there = gc.Bodies(movers.meshes, movers.shape, stopped.poses, stopped.poses)
    found, truth = (contacts(there, world, 0.1, backend=name) for name in (backend.kind, "reference"))
    assert (
        len(truth) > 25
        and {Touch.VF, Touch.FV, Touch.EE} <= set(found.kind.tolist())
        and (found.distance < -1e-3).any()  # depths are told as well
        and same_bits(found, truth, POINT_FIELDS[:7]) == []
    )
    for name in POINT_FIELDS[7:]:
        assert np.abs(getattr(found, name) - getattr(truth, name)).max() < 1e-12, name


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_the_same_bits_everywhere(backend, precision):
    movers, world, way, _ = crowd(44, n=24, movers=(TORUS, BOX), obstacles=(TORUS, CAR), spread=2)
    some = [
        contacts(movers, world, 0.05, precision=precision, backend=name) for name in (backend.kind, "cpu")
    ]
    assert len(some[0]) > 20 and same_bits(*some, POINT_FIELDS) == []


def test_more_points_than_there_is_room_for(backend):
    """The list is made again, larger; and in several pieces the same."""
    n = 40
    movers = still(TORUS, np.tile([0, 0, 0.0], (n, 1)) + np.linspace(0, 0.2, n)[:, None])
    world = still(TORUS, [0.3, 0, 0.2])
    found = contacts(movers, world, 0.2, backend=backend.kind)
    assert len(found) > 8 * n + 300
    again = contacts(movers, world, 0.2, backend=backend.kind)
    assert same_bits(found, again, POINT_FIELDS) == []
    one = contacts(still(TORUS, movers.start.position[7]), world, 0.2, backend=backend.kind)
    mine = slice(*found.point_start[7:9])
    assert np.array_equal(one.feature_a, found.feature_a[mine]) and np.array_equal(
        one.point, found.point[mine]
    )


def test_points_and_pairs(backend):
    world = still(BOX, [[0, 0, 0], [0, 0, 1.2]])
    points = [[0, 0, 0.55], [0, 0, 0.65], [0, 0, 9], [np.nan, 0, 0]]
    found = contacts(points, world, 0.1, backend=backend.kind)
    assert found.status.tolist() == [1, 1, 0, 3] and found.body.tolist() == [0, 1]
    assert np.allclose(found.distance, 0.05, atol=1e-12)
    found = contacts(points, world, 0.1, pairs=[[0, 1], [1, 1], [0, 0]], backend=backend.kind)
    assert found.mover.tolist() == [1, 2] and found.body.tolist() == [1, 0]
    with pytest.raises(ValueError, match="distance: expected lengths from 0 up, got -1.0 in row 0"):
        contacts(points, world, -1.0, backend=backend.kind)
    assert contacts(points, world, [0.1, np.inf, 0.1, 0.1], backend=backend.kind).status.tolist() == [
        1,
        3,
        0,
        3,
    ]
    assert len(contacts(at([[0, 0, 0]]).position[:0], world, 1.0, backend=backend.kind)) == 0
