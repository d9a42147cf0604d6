"""Characters among bodies that turn: only those that one may come to cut its step, and no other shows."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.sweep.test_turning_platforms import about

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

NAMES = ("status", "position", "velocity", "fall_velocity", "ground_body", "ground_normal", "casts")
FLOOR, WHEEL = gc.shapes.box((20, 20, 1)), gc.shapes.box((0.3, 0.6, 0.6))
RADII, FALL = [0.3, 0.3, 0.9], [0, 0, -0.05]


def wheels(places, angle=0.5, rolls=0.1):
    """A floor, and wheels at places that roll along y."""
    places = np.reshape(places, (-1, 3))
    n = len(places)
    one = np.tile([1.0, 0, 0, 0], (n + 1, 1))
    start = gc.Poses.from_quat_wxyz(np.vstack(([0, 0, -0.5], places)), one)
    turned = np.vstack((one[:1], np.tile(about([1, 0, 0], angle), (n, 1))))
    end = gc.Poses.from_quat_wxyz(np.vstack(([0, 0, -0.5], places + [0, rolls, 0])), turned)
    return gc.Bodies([FLOOR, WHEEL], [0] + [1] * n, start, end)


def crowd(n=30):
    rng = np.random.default_rng(0)
    return np.c_[rng.uniform(-8, 8, (n, 2)), np.full(n, 0.95)], np.tile([0.05, 0.02, 0.0], (n, 1))


def same(one, two, rows=slice(None)):
    for name in NAMES:
        assert getattr(one, name)[rows].tobytes() == getattr(two, name)[rows].tobytes(), name


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("angle", [0.5, 3.0])
def test_a_wheel_far_away_changes_nothing(backend, precision, angle):
    """It cut the steps of all into 64 pieces, and the default skin was refused."""
    place, way = crowd()
    options = {"gravity": FALL, "backend": backend.kind, "precision": precision}
    alone = gc.sweep.slide(wheels([]), place, RADII, way, **options)
    far = wheels([[100 + k, 0, 0.3] for k in range(4)], angle)
    for more in ({}, {"skin": 0.02}):
        found = gc.sweep.slide(far, place, RADII, way, turning="chord", **more, **options)
        assert found.info["pieces"] == 1 and found.info["turning"] == 0
        if not more:
            same(found, alone)
    with gc.Scene(far.meshes, far.shape, far.start, backend=backend.kind, precision=precision) as scene:
        scene.update(far.start, far.end)
        same(gc.sweep.slide(scene, place, RADII, way, gravity=FALL, turning="chord"), alone)


def test_the_reference_leaves_them_out_too():
    place, way = crowd(4)
    options = {"gravity": FALL, "backend": "reference"}
    far = gc.sweep.slide(wheels([[100, 0, 0.3]], 3.0), place, RADII, way, turning="chord", **options)
    same(far, gc.sweep.slide(wheels([]), place, RADII, way, **options))


def test_each_step_is_cut_by_what_is_near_it(backend):
    """One beside a wheel, one beside a faster one, one far from both: each as if alone with its own."""
    place = np.array([[-7.0, 0, 0.94], [0.62, 0.2, 0.94], [7.62, 0.0, 0.94]])
    way = np.array([[0.05, 0.02, 0], [-0.1, 0, 0], [-0.1, 0, 0]])
    options = {"gravity": FALL, "backend": backend.kind, "turning": "chord", "skin": 0.1}

    def world(*which):
        both = wheels([[0, 0, 0.3], [7, 0, 0.3]])
        quat = np.array(both.end.quat_wxyz)
        quat[2] = about([1, 0, 0], 1.5)
        end = gc.Poses.from_quat_wxyz(both.end.position, quat)
        rows = [0, *which]
        poses = (gc.Poses.from_quat_wxyz(p.position[rows], p.quat_wxyz[rows]) for p in (both.start, end))
        return gc.Bodies(both.meshes, both.shape[rows], *poses)

    found = gc.sweep.slide(world(1, 2), place, RADII, way, **options)
    pieces = []
    for row, which in enumerate([(), (1,), (2,)]):
        some = slice(row, row + 1)
        alone = gc.sweep.slide(world(*which), place[some], RADII, way[some], **options)
        pieces.append(alone.info.get("pieces", 1))
        # speeds and widths of all are one bound for all, so that the pieces of who is alone are no more
        assert np.abs(found.position[row] - alone.position[0]).max() < 0.1
    assert pieces[0] == 1 < pieces[1] < pieces[2] <= found.info["pieces"]
    assert found.casts[0] < found.casts[1] < found.casts[2]
    same(found, gc.sweep.slide(world(1), place, RADII, way, **options), slice(0, 1))
    truth = gc.sweep.slide(world(1, 2), place, RADII, way, **options | {"backend": "reference"})
    assert (truth.status == found.status).all() and np.abs(truth.position - found.position).max() < 1e-6


def test_who_is_pushed_to_a_wheel_that_was_out_of_reach_goes_in_its_pieces(backend):
    """A block pushes it three lengths along, up to where a wheel spins."""
    block, start = gc.shapes.box((1, 2, 2)), np.array([[0, 0, -0.5], [-1.0, 0, 1], [4.5, 0, 0.9]])
    quat = np.tile([1.0, 0, 0, 0], (3, 1))
    turned = np.vstack((quat[:2], [about([1, 0, 0], 0.3)]))
    meshes = [FLOOR, block, gc.shapes.box((0.3, 1.5, 1.5))]
    begin = gc.Poses.from_quat_wxyz(start, quat)
    options = {"turning": "chord", "skin": 0.01, "backend": backend.kind}

    def push(length, bodies=(0, 1, 2)):
        rows = list(bodies)
        end = gc.Poses.from_quat_wxyz((start + [[0, 0, 0], [length, 0, 0], [0, 0, 0]])[rows], turned[rows])
        first = gc.Poses.from_quat_wxyz(begin.position[rows], quat[rows])
        world = gc.Bodies([meshes[i] for i in rows], range(len(rows)), first, end)
        return gc.sweep.slide(world, [0.0, 0, 0.95], RADII, [0.0, 0, 0], **options)

    little, far = push(0.5), push(4.0)
    assert little.info["pieces"] == 1 < far.info["pieces"]
    same(little, push(0.5, (0, 1)))
    assert far.position[0, 0] > 2.5
    assert far.position[0, 0] + 0.3 < 4.35 or far.status[0] == gc.Status.UNRESOLVED


def test_a_skin_that_is_too_small_names_the_bodies_in_reach():
    place, way = crowd(3)
    near = np.vstack(([[100, 0, 0.3]], place[1:2] + [0.5, 0, -0.6]))
    with pytest.raises(
        ValueError, match=r"skin: expected more than .* 64 pieces.*pass a larger skin"
    ) as told:
        gc.sweep.slide(wheels(near, 3.0), place, RADII, way, turning="chord", skin=1e-6, backend="cpu")
    assert "first that characters may come to: 2)" in str(told.value)
    found = gc.sweep.slide(
        wheels(near[:1], 3.0), place, RADII, way, turning="chord", skin=1e-6, backend="cpu"
    )
    assert found.info["pieces"] == 1


def test_nobody_and_those_who_are_no_input(backend):
    place, way = crowd(4)
    place[1] = np.nan
    way[2] = np.inf
    world = wheels([[0, 0, 0.3], [100, 0, 0.3]])
    options = {"turning": "chord", "skin": 0.02, "gravity": FALL, "backend": backend.kind}
    found = gc.sweep.slide(world, place, RADII, way, **options)
    assert (found.status == gc.Status.INVALID_INPUT).tolist() == [False, True, True, False]
    alone = gc.sweep.slide(world, place[[0, 3]], RADII, way[[0, 3]], **options)
    assert found.position[[0, 3]].tobytes() == alone.position.tobytes()
    assert len(gc.sweep.slide(world, np.zeros((0, 3)), RADII, np.zeros((0, 3)), **options)) == 0
