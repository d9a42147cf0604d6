"""`Poses` composed, inverted, repeated, joined, moved; `toward` is in test_view.py beside the pictures."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.poses import Poses

pytestmark = pytest.mark.smoke

UP = [1.0, 0, 0, 0]


def some(shape, seed=0):
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=(*shape, 4))
    position = rng.normal(size=(*shape, 3))
    return Poses.from_quat_wxyz(position, quat / np.linalg.norm(quat, axis=-1, keepdims=True))


def test_composed_poses_act_one_after_the_other():
    a, b, x = some((4, 5), 1), some((5,), 2), np.random.default_rng(3).normal(size=(4, 5, 3))
    np.testing.assert_allclose((a @ b).apply(x), a.apply(b.apply(x)), atol=1e-14)
    np.testing.assert_allclose((a @ b).to_matrix(), a.to_matrix() @ b.to_matrix(), atol=1e-14)
    one = Poses.from_quat_wxyz([1.0, 2, 3], UP)
    assert (one @ a).shape == (4, 5) and (one @ one).shape == ()
    with pytest.raises(ValueError, match="composed poses: expected leading shapes that can be broadcast"):
        some((3,)) @ some((4,))
    with pytest.raises(TypeError, match="@: expected Poses on the right, got ndarray; Poses.from_matrix"):
        a @ np.eye(4)


def test_the_inverse_leads_back():
    a = some((7,), 4)
    for back in (a.inverse() @ a, a @ a.inverse()):
        np.testing.assert_allclose(back.to_matrix(), np.broadcast_to(np.eye(4), (7, 4, 4)), atol=1e-14)


def test_rows_that_are_no_poses_stay_so():
    a = Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0]], [UP, UP])
    for made in (a @ some((2,)), some((2,)) @ a, a.inverse(), a.broadcast_to((3, 2)), a.moved([1, 0, 0])):
        assert made.valid[..., 0].all() and not made.valid[..., 1].any()
    assert Poses.concatenate([a, a]).valid.tolist() == [True, False] * 2


def test_poses_repeated_and_joined():
    a, b = some((2, 3), 1), some((4, 3), 2)
    joined = Poses.concatenate([a, b])
    np.testing.assert_array_equal(joined.position, np.concatenate([a.position, b.position]))
    np.testing.assert_array_equal(Poses.concatenate([a, a], axis=1).quat_wxyz[:, 3:], a.quat_wxyz)
    wide = a[0].broadcast_to((5, 3))
    np.testing.assert_array_equal(wide.position[4], a.position[0])
    assert a[0, 0].broadcast_to(6).shape == (6,)
    with pytest.raises(ValueError, match=r"shape: expected one that \(2, 3\) can be broadcast to, got"):
        a.broadcast_to(3)
    for parts, axis, error in (([], 0, ValueError), ([a, b[0]], 0, ValueError), ([a, b], 1, ValueError),
                               ([a], 2, ValueError), ([a, 3], 0, TypeError)):  # fmt: skip
        with pytest.raises(error, match="parts: expected"):
            Poses.concatenate(parts, axis)


def test_moved_by_velocity_and_spin():
    start = some((6,), 5)
    end = start.moved([1.0, 2, 3], seconds=0.5)
    np.testing.assert_allclose(end.position - start.position, [[0.5, 1, 1.5]] * 6, atol=1e-15)
    np.testing.assert_array_equal(end.unit_wxyz, start.unit_wxyz)
    spin = np.random.default_rng(6).normal(size=(6, 3))
    turned = start.moved([0, 0, 0], spin, 0.1)
    angle = 0.1 * np.linalg.norm(spin, axis=1)
    expected = Poses.from_screw(spin, start.position, angle, np.zeros(6), start)
    points = np.random.default_rng(7).normal(size=(6, 3))
    np.testing.assert_allclose(turned.apply(points), expected.apply(points), atol=1e-14)
    times = np.linspace(0, 1, 5)[:, None]
    assert start.moved([1.0, 0, 0], spin, times).shape == (5, 6), "a trajectory"
    with pytest.raises(ValueError, match="velocity, spin, seconds: expected leading shapes"):
        start.moved(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="velocity: expected shape"):
        start.moved([1.0, 0])


def test_bodies_that_move_by_their_velocities():
    start = Poses.from_quat_wxyz([[-3.0, 0.1, 0.2], [0, 0, 0]], [UP, UP])
    bodies = gc.Bodies(gc.shapes.box(), None, start, start.moved([[4.0, 0, 0], [0, 0, 0]], seconds=1.5))
    assert gc.collide(bodies, [[1, 0]], backend="cpu").toi[0] == pytest.approx(2 / 6)


def test_the_way_to_another_pose_needs_one():
    with pytest.raises(TypeError, match="end: expected Poses, got float"):
        some((2,)).toward(0.5, 0.5)
    with pytest.raises(ValueError, match="end, share: expected leading shapes"):
        some((2,)).toward(some((3,)), 0.5)
