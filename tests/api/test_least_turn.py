"""Shapes of revolution that are given by two poses move by center and axis, turned as little as possible."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.bodies import on_screws
from gpu_collide.bodies.quaternion import multiply, turned_by

ONE = [1.0, 0.0, 0.0, 0.0]
LIES = [0.5**0.5, -(0.5**0.5), 0, 0]  # the axis z of a shape along the world's y
TABLE, BALL, WHEEL = gc.shapes.box((40, 40, 1)), gc.shapes.sphere(0.5), gc.shapes.cylinder(0.5, 0.2)


def rolling(mesh, angle, height=0.0, lies=LIES, arm=(0, 0, 0)):
    """A table, and a body above it that rolls along x by an angle about its middle, which is at `arm`."""
    q = multiply(turned_by(np.array([0.0, angle, 0.0])), np.array(lies))
    start, end = (gc.Poses.from_quat_wxyz([[0, 0, 0]], [x]) for x in (lies, q))
    places = [-1, 0, 1 + height], [-1 + 0.5 * angle, 0, 1 + height]
    ways = [np.array(at) - pose.apply(arm)[0] for at, pose in zip(places, (start, end), strict=True)]
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], p], [ONE, x]) for p, x in zip(ways, (lies, q), strict=True)]
    return gc.Bodies([TABLE, mesh], [0, 1], *poses)


@pytest.mark.parametrize("mesh", [BALL, WHEEL, gc.shapes.capsule(0.5, 1.0)], ids=["ball", "wheel", "capsule"])
@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("angle", [0.35, 3.0, 6.0])
def test_rolling_without_slip_is_one_lasting_contact(backend, mesh, motion, angle):
    bodies = rolling(mesh, angle)
    assert bodies.end.unit_wxyz[1].tolist() == bodies.start.unit_wxyz[1].tolist()
    assert bodies.end.position.tolist() == bodies.given_end.position.tolist()
    found = gc.collide(bodies, [[0, 1]], motion=motion, contacts="first", backend=backend.kind)
    assert found.status[0] == gc.Status.HIT and found.toi[0] == 0
    assert len(found) == len(mesh.vertices)  # one for each end
    if backend.kind != "reference" or mesh.ends is None:
        assert found.sustained.all() and (found.time_end == 1).all()
    # nothing sinks in or lifts: a little higher it never touches
    above = rolling(mesh, angle, height=1e-6)
    found = gc.collide(above, [[0, 1]], motion=motion, contacts="first", backend=backend.kind)
    assert found.status[0] == gc.Status.MISS


def test_an_axis_beside_the_origin(backend):
    """The place of the shape at the end is what counts, wherever the body has its origin."""
    mesh = gc.Mesh([[3, 4, 1], [3, 4, 2]], [], ends=[0.5, 0.5])
    bodies = rolling(mesh, 2.0, arm=(3, 4, 1.5))
    for vertex in mesh.vertices:
        off = bodies.end.apply(vertex) - bodies.given_end.apply(vertex)
        assert np.abs(off).max() < 2e-15  # 8.9e-16
    for motion in ("relative", "body"):
        above = rolling(mesh, 2.0, height=1e-9, arm=(3, 4, 1.5))
        found = gc.collide(above, [[0, 1]], motion=motion, contacts="first", backend=backend.kind)
        assert found.status[0] == gc.Status.MISS


def test_whole_numbers_stay_exact():
    turns = [ONE, [0, 0, 0, 1], [0, 1, 0, 0], [0.5, 0.5, 0.5, 0.5], [-0.5, 0.5, 0.5, -0.5], [-1, 0, 0, 0]]
    n = len(turns)
    first = gc.Poses.from_quat_wxyz(np.zeros((n, 3)), [ONE] * n)
    last = gc.Poses.from_quat_wxyz(np.arange(3.0 * n).reshape(n, 3), turns)
    for mesh in (BALL, WHEEL, gc.shapes.box()):
        bodies = gc.Bodies(mesh, None, first, last)
        assert bodies.end.position.tolist() == last.position.tolist()
        if mesh is BALL:
            assert (bodies.end.unit_wxyz == ONE).all()
    end = gc.Bodies(WHEEL, None, first, last).end.unit_wxyz.tolist()
    assert end[0] == ONE and end[1] == ONE  # a half turn about the axis
    assert end[2] == [0, 1, 0, 0]  # the axis turned over: a half turn, as given
    np.testing.assert_allclose(end[3], [0.5**0.5, 0.0, 0.5**0.5, 0], atol=1e-15)
    same = gc.Bodies(WHEEL, None, last, last)
    assert same.end is last


def test_parts_of_a_motion_are_those_of_the_whole():
    """What is least stays so, to the bit: of the way back, of halves, and of what was saved."""
    rng = np.random.default_rng(5)
    q = rng.normal(size=(2, 50, 4))
    poses = [
        gc.Poses.from_quat_wxyz(rng.normal(size=(50, 3)), x / np.linalg.norm(x, axis=1)[:, None]) for x in q
    ]
    for mesh in (BALL, WHEEL):
        bodies = gc.Bodies(mesh, None, *poses)
        assert bodies.moved(bodies.start, bodies.end).end is bodies.end
        assert bodies.moved(bodies.end, bodies.start).end is bodies.start
        middle = bodies.poses_at(0.5)
        part = bodies.moved(middle, bodies.end).end
        assert np.abs(part.unit_wxyz - bodies.end.unit_wxyz).max() < 1e-15  # 3e-16
        assert part.position.tolist() == bodies.end.position.tolist()
        assert bodies.take(slice(3, 9)).end.unit_wxyz.tolist() == bodies.end.unit_wxyz[3:9].tolist()
        assert on_screws(bodies).end is poses[1] and on_screws(bodies).take([1]).keeps_spin
    both = gc.Bodies.concatenate([gc.Bodies(gc.shapes.box(), None, *poses), gc.Bodies(WHEEL, None, *poses)])
    assert both.end.unit_wxyz[:50].tolist() == poses[1].unit_wxyz.tolist()
    assert both.end.unit_wxyz[50:].tolist() == bodies.end.unit_wxyz.tolist()


def test_bodies_that_spin_by_velocities_keep_it():
    start = gc.Poses.from_quat_wxyz([[0, 0, 0]], [LIES])
    bodies = gc.Bodies.from_velocities(WHEEL, None, start, [1, 0, 0], [0, 2, 0])
    assert abs(bodies.end.unit_wxyz[0] - bodies.start.unit_wxyz[0]).max() > 0.1
    assert bodies.end is bodies.given_end
    back = bodies.moved(bodies.start, bodies.end)  # from pose to pose: as all do
    assert back.end.unit_wxyz.tolist() == start.unit_wxyz.tolist()


def test_a_scene_steps_from_the_poses_given(backend):
    """Local points of a step count from the pose that the caller gave at its start."""
    bodies = rolling(WHEEL, 0.7)
    further = rolling(WHEEL, 1.4).given_end
    scene = gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.given_end, backend=backend.kind)
    scene.step(further)
    found = scene.collide([[0, 1]], contacts="first")
    plain = gc.Bodies(bodies.meshes, bodies.shape, bodies.given_end, further)
    wanted = gc.collide(plain, [[0, 1]], contacts="first", backend=backend.kind)
    assert len(found) == 2 and found.local_b.tolist() == wanted.local_b.tolist()
    at = plain.poses_at(found.time[0])
    np.testing.assert_allclose(at[1:].apply(found.local_b), found.position, atol=1e-15)


def test_a_recording_of_a_rolling_wheel_is_one_encounter(backend):
    if backend.kind == "reference":
        pytest.skip("the reference tells first times of cylinders alone")
    steps = [rolling(gc.shapes.capsule(0.5, 1.0), a) for a in np.linspace(0, 5, 6)]
    position = np.stack([b.given_end.position for b in steps])
    quat = np.stack([b.given_end.quat_wxyz for b in steps])
    poses = gc.Poses.from_quat_wxyz(position, quat)
    found = gc.collide_trajectories(
        steps[0].meshes, [0, 1], poses, np.arange(6.0), motion="body", backend=backend.kind
    )
    assert found.sustained.all() and len(found) == 10


def test_proofs_keep_the_screws_that_deviations_are_from():
    """A bar that turns about a line askew to itself sweeps a cone, not the plane of the least turn."""
    bar, post = gc.shapes.capsule(0.01, 2.0), gc.shapes.sphere(0.05)
    tilt = turned_by(np.array([0.0, np.pi / 4, 0.0]))

    def poses_at(motion, time):
        turn = turned_by(np.stack([0 * time, 0 * time, 0.9 * np.pi * time], axis=-1))
        quat = multiply(turn, np.broadcast_to(tilt, turn.shape))
        return gc.Poses.from_quat_wxyz(np.zeros((len(time), 1, 3)), quat[:, None])

    half = poses_at(np.zeros(1, int), np.array([0.5]))[0].apply([0, 0, 0.9])[0]
    here = gc.Poses.from_quat_wxyz([half], [ONE])
    found = gc.check_motions(
        bar, None, poses_at, 1, deviation=lambda m, b, e: 0.0 * b,
        obstacles=gc.Bodies(post, None, here, here), backend="cpu",
    )  # fmt: skip
    assert found.status[0] != gc.Status.MISS


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_exits_are_those_of_the_motion(motion):
    """A capsule that passes a box and turns: at the exit the gap is 0, on the motion that `poses_at` has."""
    capsule, box = gc.shapes.capsule(0.3, 1.0), gc.shapes.box()
    rng = np.random.default_rng(8)
    q = rng.normal(size=(6, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    q, p = (q, multiply(turned_by(rng.normal(size=(6, 3))), q)), rng.normal(size=(6, 3))
    p /= np.linalg.norm(p, axis=1)[:, None]
    zero, ones = np.zeros((6, 3)), np.tile(ONE, (6, 1))
    start = gc.Poses.from_quat_wxyz(np.concatenate([zero, 3 * p]), np.concatenate([ones, q[0]]))
    end = gc.Poses.from_quat_wxyz(np.concatenate([zero, -3 * p]), np.concatenate([ones, q[1]]))
    bodies = gc.Bodies([box, capsule], np.repeat([0, 1], 6), start, end)
    pairs = np.arange(12).reshape(2, 6).T
    found = gc.collide(bodies, pairs, motion=motion, exit=True)
    out = np.flatnonzero(np.isfinite(found.exit))
    assert len(out) > 2
    for k in out:
        gap = gc.clearance(bodies, pairs[k : k + 1], at=float(found.exit[k]), motion="body")
        assert abs(gap.distance[0]) < 1e-9
