"""`Bodies.from_velocities`, `concatenate` and `poses_at`: what comes of arguments, good and bad."""

import pickle

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.rules import still_bodies

BOX = gc.shapes.box()
TWO = gc.Poses.from_quat_wxyz([[0.0, 0, 0], [3, 0, 0]], [[1.0, 0, 0, 0], [0.6, 0, 0.8, 0]])


def make(linear=(1, 0, 0), angular=(0, 0, 1), duration=1.0, poses=TWO, **more):
    return gc.Bodies.from_velocities(BOX, None, poses, linear, angular, duration, **more)


def test_velocities_become_displacements_and_rotations_of_the_step():
    bodies = make([[1, 2, 3], [0, 0, -1]], [[0, 0, 4], [5, 0, 0]], 0.5, center=[0.1, 0, 0])
    spins = bodies.spins
    assert spins.kind.dtype == np.uint8 and spins.kind.tolist() == [1, 1]
    assert np.array_equal(spins.displacement, [[0.5, 1, 1.5], [0, 0, -0.5]])
    assert np.array_equal(spins.rotation, [[0, 0, 2], [2.5, 0, 0]])
    assert np.array_equal(spins.center, [[0.1, 0, 0]] * 2)
    for array in (spins.kind, spins.displacement, spins.rotation, spins.center):
        assert not array.flags.writeable


def test_the_reference_point_goes_straight_at_constant_speed():
    center = np.array([0.3, -0.2, 0.5])
    bodies = make([2, -1, 0.5], [3, 4, 5], center=center)
    start = TWO.apply(center)
    for time in (0.0, 0.25, 0.8, 1.0):
        here = bodies.poses_at(time)
        assert np.abs(here.apply(center) - (start + time * np.array([2, -1, 0.5]))).max() < 1e-15
    assert np.abs(bodies.poses_at(1.0).position - bodies.end.position).max() == 0
    # about the origin it is what Poses.moved has
    plain, moved = make([2, -1, 0.5], [3, 4, 5]), TWO.moved([2, -1, 0.5], [3, 4, 5])
    assert np.abs(plain.end.position - moved.position).max() < 1e-15
    assert np.abs(plain.end.unit_wxyz - moved.unit_wxyz).max() < 1e-15


def test_poses_on_the_way_are_those_of_each_kind():
    screws = gc.Bodies(BOX, None, TWO, TWO.moved([0, 1, 0], [0, 1, 1]))
    both = gc.Bodies.concatenate([screws, make()])
    time = np.array([0.1, 0.5, 0.5, 0.9])
    here = both.poses_at(time)
    assert np.array_equal(here.position[:2], TWO.toward(screws.end, time[:2]).position)
    assert np.array_equal(here.position[2:], TWO.moved([1, 0, 0], None, time[2:]).position)
    for wrong in ([0.5], np.zeros((4, 1))):
        with pytest.raises(ValueError, match="time: expected a number or shape"):
            both.poses_at(wrong)


def test_bodies_of_both_kinds_are_joined():
    other = gc.shapes.box((1, 2, 3))
    screws = gc.Bodies([BOX, other], [1, 0], TWO, TWO.moved([0, 1, 0]))
    both = gc.Bodies.concatenate([screws, make()])
    assert len(both) == 4 and both.meshes == (BOX, other) and both.shape.tolist() == [1, 0, 0, 0]
    assert both.spins.kind.tolist() == [0, 0, 1, 1] and not both.spins.rotation[:2].any()
    assert gc.Bodies.concatenate([screws, screws]).spins is None
    with pytest.raises(TypeError, match="parts: expected Bodies, got Mesh"):
        gc.Bodies.concatenate([screws, BOX])
    with pytest.raises(ValueError, match="parts: expected at least one Bodies"):
        gc.Bodies.concatenate([])
    worlds = gc.Bodies(BOX, None, TWO.broadcast_to((3, 2)), TWO.broadcast_to((3, 2)))
    with pytest.raises(ValueError, match="parts: expected bodies whose poses have the shape"):
        gc.Bodies.concatenate([screws, worlds])


def test_worlds_keep_their_rows():
    bodies = make(np.arange(18.0).reshape(3, 2, 3), poses=TWO.broadcast_to((3, 2)))
    assert bodies.worlds == (3, 2) and bodies.world.tolist() == [0, 0, 1, 1, 2, 2]
    assert bodies.spins.displacement.tolist() == np.arange(18.0).reshape(6, 3).tolist()


def test_a_whole_turn_is_no_rest():
    turn = 2 * np.pi
    bodies = make([[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, turn]])
    assert still_bodies(bodies).tolist() == [True, False]
    assert gc.Bodies.from_velocities(BOX, None, TWO, [0, 0, 0], [0, 0, 0]).end.position.tolist() == [
        [0, 0, 0],
        [3, 0, 0],
    ]


def test_what_is_moved_elsewhere_moves_from_pose_to_pose():
    bodies = make()
    assert bodies.moved(TWO, TWO).spins is None
    again = pickle.loads(pickle.dumps(bodies))
    assert np.array_equal(again.spins.rotation, bodies.spins.rotation)
    assert not again.spins.rotation.flags.writeable


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["linear", "angular", "center"])
def test_velocities_that_are_not_finite_are_invalid_bodies(name, bad):
    bodies = make(**{name: [[0, 0, 0], [0, bad, 0]]})
    assert bodies.valid.tolist() == [True, False]
    with pytest.warns(RuntimeWarning, match="invalid pose"):
        found = gc.collide(bodies, [[0, 1]], motion="body", backend="reference")
    assert found.status[0] == gc.Status.INVALID_INPUT


@pytest.mark.parametrize("spin", [1001.0, 1e9])
def test_more_turns_than_can_be_searched_are_unresolved(spin):
    near, far = (
        gc.Bodies.from_velocities(
            BOX,
            None,
            gc.Poses.from_quat_wxyz([[0.0, 0, 0], [x, 0, 0]], [[1.0, 0, 0, 0]] * 2),
            [0, 0, 0],
            [[0, 0, 0], [0, 0, spin]],
        )  # fmt: skip
        for x in (1.3, 9.0)
    )
    one, other = (gc.collide(b, [[0, 1]], motion="body", backend="reference") for b in (near, far))
    assert one.status[0] == gc.Status.UNRESOLVED and other.status[0] == gc.Status.MISS


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(poses=([0, 0, 0], [1, 0, 0, 0])), TypeError, "poses: expected Poses"),
        (dict(linear=[1, 0]), ValueError, "linear_velocity: expected shape"),
        (dict(linear=np.zeros((3, 3))), ValueError, r"linear_velocity: expected shape \(3,\) or \(2, 3\)"),
        (dict(angular=[["a"] * 3]), TypeError, "angular_velocity: expected float32 or float64"),
        (dict(center=np.zeros((2, 2, 3))), ValueError, "center: expected shape"),
        (dict(duration=0), ValueError, "duration: expected a positive number"),
        (dict(duration=[1.0, 1.0]), TypeError, "duration: expected a positive number"),
    ],
)
def test_what_cannot_be_velocities(arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)


def test_what_takes_poses_alone_refuses_them():
    bodies = make()
    for ask, name in (
        (lambda: gc.sweep.rays([[-2.0, 0, 0]], [[9.0, 0, 0]], bodies), "obstacles"),
        (lambda: gc.pluecker.move(bodies, gc.Bodies(BOX, None, TWO, TWO)), "movers"),
    ):
        with pytest.raises(ValueError, match=f"{name}: expected bodies that move from pose to pose"):
            ask()
