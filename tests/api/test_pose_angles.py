"""`Poses.from_yaw` and `Poses.from_euler`: beside products of matrices, and SciPy."""

import itertools

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.smoke

AXES = [
    "".join(letters)
    for k in (1, 2, 3)
    for letters in itertools.product("xyz", repeat=k)
    if all(a != b for a, b in itertools.pairwise(letters))
]


def about(axis, angle):
    """Matrix of a turn about x, y or z, from its definition."""
    c, s, k = np.cos(angle), np.sin(angle), "xyz".index(axis)
    matrix, i, j = np.eye(3), (k + 1) % 3, (k + 2) % 3
    matrix[i, i] = matrix[j, j] = c
    matrix[j, i], matrix[i, j] = s, -s
    return matrix


@pytest.mark.parametrize("axes", [*AXES, *(a.upper() for a in AXES)])
def test_euler_angles_are_products_of_turns(axes):
    angles = np.random.default_rng(len(axes)).uniform(-7, 7, (20, len(axes)))
    poses = gc.Poses.from_euler(np.zeros((20, 3)), axes, angles)
    again = gc.Poses.from_euler(np.zeros((20, 3)), axes, np.degrees(angles), degrees=True)
    for k in range(20):
        product = np.eye(3)
        for letter, angle in zip(axes.lower(), angles[k], strict=True):
            turn = about(letter, angle)
            product = product @ turn if axes.isupper() else turn @ product
        for made in (poses, again):  # worst measured: 6.7e-16, of degrees 1.3e-15
            assert np.abs(made.to_matrix()[k, :3, :3] - product).max() < 5e-15


def test_names_are_those_of_scipy():
    rotation = pytest.importorskip("scipy.spatial.transform", reason="needs scipy").Rotation
    angles = np.random.default_rng(1).uniform(-7, 7, (20, 3))
    for axes in ("xyz", "ZYX", "zxz", "XZX"):
        theirs = rotation.from_euler(axes, angles).as_matrix()
        ours = gc.Poses.from_euler(np.zeros((20, 3)), axes, angles).to_matrix()[:, :3, :3]
        assert np.abs(ours - theirs).max() < 5e-15  # worst measured: 5.6e-16


def test_yaw_is_a_turn_about_z():
    yaw = np.array([[0.0, 1.0, -2.0], [3.2, 1e4, np.nan]])
    poses = gc.Poses.from_yaw(np.ones((2, 3, 3)), yaw)
    assert poses.shape == (2, 3) and poses.valid.tolist() == [[True] * 3, [True, True, False]]
    ahead = poses.apply([1.0, 0, 0]) - 1
    expected = np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], axis=-1)
    assert np.abs(ahead - expected)[poses.valid].max() < 1e-12
    same = gc.Poses.from_euler(np.ones((2, 3, 3)), "z", yaw[..., None])
    np.testing.assert_array_equal(same.quat_wxyz, poses.quat_wxyz)
    assert gc.Poses.from_yaw(np.zeros((4, 3)), 0.5).shape == (4,)


def test_degrees_lose_nothing_by_revolutions():
    """A thousand revolutions beside none."""
    for yaw in (90.0, -30.0, 179.0):
        one = gc.Poses.from_yaw([0, 0, 0], yaw, degrees=True)
        many = gc.Poses.from_yaw([0, 0, 0], yaw + 720 * 1000, degrees=True)
        assert np.abs(one.quat_wxyz - many.quat_wxyz).max() < 1e-15  # worst measured: 5.6e-17


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda p: p.from_yaw(np.zeros((2, 3)), [0.0, 1, 2]), ValueError, r"yaw: expected the leading shape"),
        (lambda p: p.from_yaw(np.zeros((2, 2)), 0.0), ValueError, r"position: expected shape"),
        (lambda p: p.from_yaw(np.zeros(3), "north"), TypeError, "yaw: expected an array"),
        (lambda p: p.from_yaw(np.zeros(3), 0.0, degrees=1), TypeError, "degrees: expected a bool"),
        (lambda p: p.from_euler(np.zeros(3), "xyw", np.zeros(3)), ValueError, "axes: expected one to three"),
        (lambda p: p.from_euler(np.zeros(3), "Xyz", np.zeros(3)), ValueError, "axes: expected one to three"),
        (lambda p: p.from_euler(np.zeros(3), "xxz", np.zeros(3)), ValueError, "no two neighbours alike"),
        (lambda p: p.from_euler(np.zeros(3), "", np.zeros(0)), ValueError, "axes: expected one to three"),
        (lambda p: p.from_euler(np.zeros(3), np.zeros(3), "xyz"), TypeError, "axes: expected a text"),
        (lambda p: p.from_euler(np.zeros(3), "xyz", 1.0), ValueError, r"angles: expected shape \(..., 3\)"),
        (
            lambda p: p.from_euler(np.zeros((2, 3)), "xyz", np.zeros(3)),
            ValueError,
            "quat: expected the leading",
        ),
    ],
)
def test_wrong_angles_are_named(call, kind, text):
    with pytest.raises(kind, match=text):
        call(gc.Poses)
