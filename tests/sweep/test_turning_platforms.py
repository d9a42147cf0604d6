"""Characters among bodies that turn: a turntable carries them, a door pushes them, chords are as told."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.quaternion import conjugate, rotate
from tests.oracle.sweep_casts import cube, inside_out
from tests.sweep.test_w03_planes import world

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

RADII = np.array([0.3, 0.3, 0.6])
FALL = [0, 0, -0.2]


def about(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def table(angle, to, rise=0.0, size=(6, 6, 1), axis=(0, 0, 1)):
    """A plate whose top is at z = 0.5, turned from one angle to another about an axis while it rises."""
    quat = [about(axis, angle)], [about(axis, to)]
    start = gc.Poses.from_quat_wxyz([[0, 0, 0]], quat[0])
    return gc.Bodies(gc.shapes.box(size), None, start, gc.Poses.from_quat_wxyz([[0, 0, rise]], quat[1]))


def test_a_turntable_and_lift_carries_who_stands_on_it(backend):
    place = np.array([[2.0, 0, 1.2], [0.5, -1.0, 1.2], [0, 0, 1.2]])
    riding, turn, rise = None, 0.05, 0.01
    mesh, upright = table(0, 0).meshes, [0, 0, 1]
    for k in range(40):
        ends = (gc.Poses.from_quat_wxyz([[0, 0, i * rise]], [about(upright, i * turn)]) for i in (k, k + 1))
        found = gc.sweep.slide(
            gc.Bodies(mesh, None, *ends), place, RADII, np.zeros((3, 3)), gravity=FALL, riding=riding,
            turning="chord", backend=backend.kind,
        )  # fmt: skip
        if riding is None:
            arms = found.position
            first = k + 1
        place, riding = found.position, found.ground_body
        assert found.grounded.all() and (found.ground_normal[:, 2] > 1 - 1e-9).all()
        assert 0 < found.info["turning"] <= 0.5 * 1e-3 * 0.3 and 1 < found.info["pieces"] <= 64
        assert not found.velocity.any()
    angle = (40 - first) * turn
    turned = arms @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)], [0, 0]])
    assert np.abs(place[:, :2] - turned).max() < 1e-6
    assert np.abs(place[:, 2] - (0.5 + 40 * rise + 0.6)).max() < 2 * 3e-4 + 1e-9


def test_a_door_pushes_and_does_not_pass(backend):
    """A door that turns about z by 90 degrees in 30 steps, and characters in its way."""
    leaf = gc.shapes.box((4, 0.2, 4))
    place = np.array([[1.2, 1.0, 0], [0.6, 0.7, 0], [1.0, -1.0, 0]])
    for k in range(30):
        quat = [about([0, 0, 1], (k + i) * np.pi / 60) for i in (0, 1)]
        ends = (gc.Poses.from_quat_wxyz([[0, 0, 0]], [q]) for q in quat)
        scene = gc.Bodies(leaf, None, *ends)
        found = gc.sweep.slide(
            scene, place, [0.3, 0.3, 0.3], np.zeros((3, 3)), turning="chord", skin=0.01, backend=backend.kind
        )
        place = found.position
        assert (found.status != gc.Status.UNRESOLVED).all()
        local = place @ np.array(
            [[np.cos(a := (k + 1) * np.pi / 60), -np.sin(a)], [np.sin(a), np.cos(a)], [0, 0]]
        )
        # out of the leaf, on the side where it was: half a skin at least is kept
        away = np.linalg.norm(np.maximum(np.abs(local) - [2, 0.1], 0), axis=1)
        assert (np.sign(local[:, 1]) == [1, 1, -1]).all() and (away >= 0.3 + 0.005).all()
    assert (place[:2, 0] < -0.4).all() and place[2].tolist() == [1.0, -1.0, 0]


@pytest.mark.backends("cpu", "opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_the_same_bits_as_cpu_and_nearly_the_reference(backend, precision):
    rng = np.random.default_rng(3)
    n = 40 if backend.kind != "cpu" else 8
    scene = world(inside_out(cube(8)), cube(1), cube(1))
    quat = np.array([[1.0, 0, 0, 0], about([0, 0, 1], 0.02), about([1, 2, 3], 0.03)])
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.5, 0.5, 0], [-1, 0, 0.2]], np.tile([1.0, 0, 0, 0], (3, 1)))
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.6, 0.5, 0], [-1, 0.1, 0.3]], quat)
    scene = gc.Bodies(scene.meshes, scene.shape, start, end)
    place = rng.normal(size=(n, 3)) * 0.4 + np.array([0, 0, 2.0])
    way = rng.normal(size=(n, 3)) * 0.5
    args = {"gravity": [0, 0, -1.5], "turning": "chord", "skin": 0.02, "step_height": 0.2}
    one = gc.sweep.slide(scene, place, [0.3] * 3, way, backend="cpu", precision=precision, **args)
    two = gc.sweep.slide(scene, place, [0.3] * 3, way, backend=backend.kind, precision=precision, **args)
    for name in ("status", "position", "velocity", "fall_velocity", "ground_body", "ground_normal", "casts"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert (one.ground_body > 0).any() and one.info["turning"] <= 0.01
    if backend.kind == "cpu" and precision == "mixed":
        truth = gc.sweep.slide(scene, place, [0.3] * 3, way, backend="reference", **args)
        assert (one.status == truth.status).all() and (one.ground_body == truth.ground_body).all()
        # between the ends of a piece orientations are means here, turned evenly there
        assert np.abs(one.position - truth.position).max() < 1e-6
    near = [
        gc.sweep.planes(scene, place - [0, 0, 1], [0.3] * 3, 0.5, at=at, backend=b)
        for at in (0.0, 1.0)
        for b in (backend.kind, "reference")
    ]
    for a, b in (near[:2], near[2:]):
        assert len(a) == len(b) > 2
        assert (
            np.abs(a.gap - b.gap).max() < 1e-12
            and np.abs(a.body_displacement - b.body_displacement).max() < 1e-12
        )


def test_what_turns_too_far_is_refused():
    scene = table(0.0, 3.0)
    with pytest.raises(ValueError, match="pass turning='chord'"):
        gc.sweep.slide(scene, [0, 0, 3], RADII, [0, 0, 0], backend="cpu")
    with pytest.raises(ValueError, match="skin: expected more than .* 64 pieces, got 0.0003"):
        gc.sweep.slide(scene, [0, 0, 3], RADII, [0, 0, 0], turning="chord", backend="cpu")
    found = gc.sweep.slide(scene, [0, 0, 3], RADII, [0, 0, 0], turning="chord", skin=0.1, backend="cpu")
    assert found.info["pieces"] == 12
    # about its own axis an ellipsoid of two equal radii leans by nothing, about another it does
    flat, tilted = (
        gc.sweep.ellipsoids([0, 0, 1.5], [0, 0, -0.3], RADII, table(0, 0.1, axis=axis), turning="chord",
                            backend="cpu").info["turning"]
        for axis in ([0, 0, 1], [1, 0, 0])
    )  # fmt: skip
    assert tilted > flat + 0.02


@pytest.mark.backends("cpu")
def test_chords_are_off_by_no_more_than_is_told(backend):
    """Where a ball is said to touch a plate that turns, it is its radius away from it, within the bound."""
    rng = np.random.default_rng(6)
    start = rng.uniform(-3, 3, (40, 3)) + [0, 0, 3.2]
    path = np.column_stack((rng.normal(size=(40, 2)), np.full(40, -3.0)))
    for turn in (0.1, 0.4):
        scene = table(0.0, turn, axis=(0.3, 1, 0))
        found = gc.sweep.spheres(start, path, 0.3, scene, turning="chord", backend="cpu")
        on = np.flatnonzero(found.hit & (found.time > 0))
        for i in on:
            t = found.time[i]
            away = _away(start[i] + t * path[i], about((0.3, 1, 0), t * turn))
            assert abs(away - 0.3) <= found.info["turning"] < 2 * turn
        assert len(on) > 8


@pytest.mark.slow
@pytest.mark.backends("cpu")
def test_a_crowd_about_a_lift_that_turns_and_a_door(backend):
    """None is sunk into, none is stuck: the lift's rim comes up under some who hang on it."""
    rng, n, sizes = np.random.default_rng(0), 60, [(30, 30, 1), (6, 6, 1), (4, 0.3, 4)]

    def pose(t):
        place = [[0, 0, -0.5], [0, 0, 0.1 - 0.5 * np.cos(t)], [8, 0, 2]]
        quat = [[1.0, 0, 0, 0], about([0, 0, 1], t), about([0, 0, 1], 2 * t)]
        return gc.Poses.from_quat_wxyz(place, quat)

    place = np.column_stack((rng.uniform(-10, 10, (n, 2)), rng.uniform(1.5, 3, n)))
    radii, fall, riding, angle = np.array([0.3, 0.3, 0.5]), np.zeros((n, 3)), None, rng.uniform(0, 6.28, n)
    rode = 0
    with gc.Scene([gc.shapes.box(size) for size in sizes], [0, 1, 2], pose(0), backend="cpu") as scene:
        for k in range(300):
            scene.update(pose(0.05 * k), pose(0.05 * (k + 1)))
            angle += rng.normal(size=n) * 0.3
            way = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)) * rng.uniform(0, 0.12, (n, 1))
            fall = fall + [0, 0, -0.02]
            found = gc.sweep.slide(scene, place, radii, way, gravity=fall, riding=riding, turning="chord",
                                   step_height=0.3, skin=0.01)  # fmt: skip
            place, fall, riding = found.position, found.fall_velocity, found.ground_body
            on = np.abs(place[:, :2]).max(axis=1) < 14.5  # who walked off the floor falls
            rode += (riding == 1).sum()
            assert (found.status[on] != gc.Status.UNRESOLVED).all() and (place[on, 2] > 0.45).all(), k
            for body, size in enumerate(sizes):
                end = pose(0.05 * (k + 1))
                back = np.broadcast_to(conjugate(end.unit_wxyz[body]), (n, 4))
                local, half = rotate(back, place - end.position[body]), np.array(size) / 2
                apart = local - np.clip(local, -half, half)
                assert (np.linalg.norm(apart / radii, axis=1)[on] > 1).all(), (k, body)
    assert rode > 300


def _away(centre, quat):
    w, v = quat[0], -quat[1:]
    x = centre + 2 * np.cross(v, np.cross(v, centre) + w * centre)
    out = np.maximum(np.abs(x) - [3, 3, 0.5], 0.0)
    return np.linalg.norm(out)
