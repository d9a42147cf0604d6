"""`Poses` and `Bodies`: conventions by hand, conversions both ways, and rows that are no poses."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry import shapes

pytestmark = pytest.mark.smoke

QUARTER_Z = np.array([0.5**0.5, 0, 0, 0.5**0.5])  # a quarter turn about z


def random_poses(n, seed=0):
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=(n, 4))
    return Poses.from_quat_wxyz(rng.normal(size=(n, 3)), quat / np.linalg.norm(quat, axis=1, keepdims=True))


def test_a_quarter_turn_in_every_spelling():
    matrix = np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], float)
    for poses in (
        Poses.from_quat_wxyz([[1, 2, 3]], [QUARTER_Z]),
        Poses.from_quat_xyzw([[1, 2, 3]], [QUARTER_Z[[1, 2, 3, 0]]]),
        Poses.from_matrix([matrix]),
        Poses.from_screw(
            [0, 0, 7], [0, 0, 0], np.pi / 2, 0, start=Poses.from_quat_wxyz([[2, -1, 3]], [[1, 0, 0, 0]])
        ),
    ):
        assert poses.valid.all() and len(poses) == 1
        assert np.allclose(poses.to_matrix()[0], matrix, atol=1e-15)
        assert np.allclose(poses.apply([[1, 0, 0]]), [[1, 3, 3]], atol=1e-15)
        assert np.allclose(poses.unit_wxyz, [QUARTER_Z], atol=1e-15)


def test_a_few_rows_have_the_bits_of_many():
    """Few are looked at by Python, many by NumPy; whatever they hold."""
    rng = np.random.default_rng(3)
    position, quat = rng.normal(size=(60, 3)), rng.normal(size=(60, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    quat[::7] *= rng.choice([0.0, -0.0, 0.9989999, 0.999, 1.001, 1.0010001, 1e-320, 1e200], (9, 1))
    odd = [np.nan, np.inf, -np.inf, 1e308, -0.0]
    quat[3::11, 1], position[5::11, 2] = rng.choice(odd, 6), rng.choice(odd, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = Poses(position, quat)
        assert 0 < many.valid.sum() < 60
        for n in (1, 2, 3, 4, 5):
            for at in range(0, 60, n):
                few = Poses.from_quat_wxyz(position[at : at + n], quat[at : at + n])
                for name in ("position", "quat_wxyz", "unit_wxyz", "valid"):
                    one, other = getattr(few, name), getattr(many, name)[at : at + n]
                    assert one.dtype == other.dtype and one.tobytes() == other.tobytes(), name
                    assert not one.flags.writeable and one.shape == other.shape


def test_what_marks_poses_is_checked():
    position, quat = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1))
    assert Poses(position, quat, valid=[True, False]).valid.tolist() == [True, False]
    for bad in ("yes", [1, 0], [1.0, 0.0]):
        with pytest.raises(TypeError, match="^valid: expected "):
            Poses(position, quat, valid=bad)
    for bad in ([True], True, [[True, False]], [True] * 3):
        with pytest.raises(ValueError, match=r"^valid: expected the leading shape of position, \(2,\), got "):
            Poses(position, quat, valid=bad)


def test_points_that_fit_no_pose_and_far_too_many_poses():
    with pytest.raises(ValueError, match=r"^points: expected a leading shape .* \(2,\), got \(3,\)"):
        Poses.identity(2).apply(np.zeros((3, 3)))
    for n in (10**18, (10**7, 10**7)):
        with pytest.raises(ValueError, match="^n: expected at most 1099511627776 poses, got "):
            Poses.identity(n)


def test_as_given_and_normalised():
    quat = QUARTER_Z * 1.0005
    poses = Poses.from_quat_wxyz(np.zeros((1, 3)), [quat])
    assert poses.valid.all()
    assert np.array_equal(poses.quat_wxyz, [quat])
    assert np.allclose(np.linalg.norm(poses.unit_wxyz, axis=1), 1, rtol=1e-15)


def test_single_precision_is_stored_as_double():
    poses = Poses.from_quat_wxyz(np.zeros((2, 3), np.float32), np.tile(QUARTER_Z, (2, 1)).astype(np.float32))
    assert poses.position.dtype == poses.quat_wxyz.dtype == np.float64 and poses.valid.all()


@pytest.mark.parametrize(
    "position, quat",
    [
        ([0, 0, 0], [0, 0, 0, 0]),
        ([0, 0, 0], [1.002, 0, 0, 0]),
        ([0, 0, 0], [0.998, 0, 0, 0]),
        ([0, 0, 0], [np.nan, 0, 0, 1]),
        ([0, 0, 0], [np.inf, 0, 0, 0]),
        ([0, 0, 0], [1e300, 1e300, 0, 0]),
        ([np.nan, 0, 0], [1, 0, 0, 0]),
        ([0, -np.inf, 0], [1, 0, 0, 0]),
    ],
)
def test_rows_that_are_no_poses_do_not_raise(position, quat):
    with np.errstate(all="raise"):
        poses = Poses.from_quat_wxyz([position, [0, 0, 0]], [quat, [1, 0, 0, 0]])
    assert poses.valid.tolist() == [False, True]
    assert poses.unit_wxyz.tolist() == [[1, 0, 0, 0]] * 2
    assert np.array_equal(poses.quat_wxyz[0], quat, equal_nan=True)
    assert np.isnan(poses.to_matrix()[0]).all()
    assert repr(poses) == "Poses(shape=(2,), 1 invalid)"


def bend(k):
    """Matrices that are not rigid, each in its own way."""
    matrix = np.eye(4)
    if k == "scale":
        matrix[:3, :3] *= 1 + 1e-5
    elif k == "shear":
        matrix[0, 1] = 1e-5
    elif k == "mirror":
        matrix[2, 2] = -1
    elif k == "last row":
        matrix[3, 0] = 1e-5
    elif k == "last entry":
        matrix[3, 3] = 2
    elif k == "nan":
        matrix[1, 1] = np.nan
    elif k == "inf":
        matrix[3, 2] = np.inf
    elif k == "zero":
        matrix[:] = 0
    elif k == "huge":
        matrix[:3, :3] *= 1e200
    elif k == "transposed":
        matrix[:3, 3], matrix[3, :3] = 0, [1, 2, 3]
    return matrix


@pytest.mark.parametrize(
    "how", ["scale", "shear", "mirror", "last row", "last entry", "nan", "inf", "zero", "huge", "transposed"]
)
def test_matrices_that_are_not_rigid(how):
    poses = Poses.from_matrix([bend(how), np.eye(4)])
    assert poses.valid.tolist() == [False, True]


def test_a_matrix_off_by_rounding_is_rigid():
    matrix = np.eye(4)
    matrix[0, 1] = 1e-7
    assert Poses.from_matrix([matrix.astype(np.float32)]).valid.all()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_matrix_and_back(seed):
    poses = random_poses(20, seed)
    back = Poses.from_matrix(poses.to_matrix())
    assert back.valid.all() and np.array_equal(back.position, poses.position)
    # Worst seen: 4e-16.
    assert np.abs(np.abs((back.unit_wxyz * poses.unit_wxyz).sum(axis=1)) - 1).max() < 2e-15
    assert np.abs(back.to_matrix() - poses.to_matrix()).max() < 4e-15


@pytest.mark.parametrize("axis", np.eye(3).tolist() + [[1, 1, 0], [1, 1, 1], [0, -1, 1]])
def test_half_turns_survive_a_matrix(axis):
    """The trace is -1 there: the quaternion must come from another component."""
    start = Poses.from_screw([axis], [[0, 0, 0]], [np.pi], [0])
    assert np.abs(Poses.from_matrix(start.to_matrix()).to_matrix() - start.to_matrix()).max() < 1e-15


def test_screw():
    # A third of a turn about the line x = 1, y = 0 with a rise of 6.
    moved = Poses.from_screw([0, 0, 1], [1, 0, 0], 2 * np.pi / 3, 6)
    assert moved.shape == ()
    assert np.allclose(moved.apply([1, 0, 0]), [1, 0, 6], atol=1e-15)
    assert np.allclose(moved.apply([2, 0, 0]), [0.5, 0.75**0.5, 6], atol=1e-15)
    translation = Poses.from_screw([0, 3, 4], [9, 9, 9], 0, 10)
    assert np.allclose(translation.position, [0, 6, 8]) and translation.unit_wxyz.tolist() == [1, 0, 0, 0]


def test_screw_broadcasts_and_marks_zero_axes():
    start = random_poses(3)
    moved = Poses.from_screw([[0, 0, 1], [0, 0, 0], [1e-200, 0, 0]], [1, 2, 3], 0.5, [1, 1, 1], start=start)
    assert moved.valid.tolist() == [True, False, True]
    bad = Poses.from_quat_wxyz(np.zeros((2, 3)), [[0, 0, 0, 0], [1, 0, 0, 0]])
    assert Poses.from_screw([0, 0, 1], [0, 0, 0], 1, 0, start=bad).valid.tolist() == [False, True]
    with pytest.raises(ValueError, match="leading shapes that broadcast"):
        Poses.from_screw([0, 0, 1], [0, 0, 0], [1, 2], 0, start=start)
    with pytest.raises(TypeError, match="start: expected Poses or None, got list"):
        Poses.from_screw([0, 0, 1], [0, 0, 0], 1, 0, start=[1])


def test_leading_shapes_slicing_and_len():
    poses = Poses.from_quat_wxyz(np.zeros((5, 4, 3)), np.broadcast_to(QUARTER_Z, (5, 4, 4)))
    assert poses.shape == (5, 4) and len(poses) == 5
    assert (
        poses[1:3].shape == (2, 4)
        and poses[0].shape == (4,)
        and poses[0, 0].shape == ()
        and poses[:, 1].shape == (5,)
    )
    some = random_poses(6)
    for index in (slice(1, 5, 2), [3, 0], np.array([True] + [False] * 5), -1):
        assert np.array_equal(some[index].position, some.position[index])
        assert np.array_equal(some[index].unit_wxyz, some.unit_wxyz[index])
    single = some[0]
    with pytest.raises(TypeError, match="single pose"):
        len(single)
    with pytest.raises(TypeError, match="single pose"):
        single[0]
    with pytest.raises(IndexError):
        some[6]


def test_slices_of_matrices_stay_invalid():
    """A mirror has a fine quaternion after the repair inside: only the flag knows."""
    poses = Poses.from_matrix([bend("mirror"), np.eye(4)])
    assert poses[:1].valid.tolist() == [False] and poses[1:].valid.tolist() == [True]


def test_identity_and_empty():
    assert Poses.identity(3).to_matrix().tolist() == [np.eye(4).tolist()] * 3
    for empty in (
        Poses.identity(0),
        Poses.from_matrix(np.zeros((0, 4, 4))),
        Poses.from_quat_xyzw(np.zeros((0, 3)), np.zeros((0, 4))),
        Poses.from_screw(np.zeros((0, 3)), [0, 0, 0], 1, 0),
    ):
        assert len(empty) == 0 and empty.to_matrix().shape == (0, 4, 4)


def test_poses_do_not_follow_the_callers_arrays():
    position, quat = np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]])
    poses = Poses.from_quat_wxyz(position, quat)
    position[:], quat[:] = 5, 5
    assert poses.position.tolist() == [[0, 0, 0]] and poses.valid.all()
    with pytest.raises(ValueError):
        poses.position[0] = 1


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: Poses.from_quat_wxyz([[0, 0]], [[1, 0, 0, 0]]),
            ValueError,
            r"position: expected shape \(..., 3\)",
        ),
        (
            lambda: Poses.from_quat_wxyz([[0, 0, 0]], [[1, 0, 0]]),
            ValueError,
            r"quat: expected shape \(..., 4\)",
        ),
        (
            lambda: Poses.from_quat_wxyz([[0, 0, 0]] * 2, [[1, 0, 0, 0]]),
            ValueError,
            r"quat: expected the leading",
        ),
        (
            lambda: Poses.from_quat_wxyz(None, [[1, 0, 0, 0]]),
            TypeError,
            "position: expected an array, got NoneType",
        ),
        (
            lambda: Poses.from_quat_xyzw([[0, 0, 0]], [[1j, 0, 0, 0]]),
            TypeError,
            "quat: expected float32 or float64",
        ),
        (
            lambda: Poses.from_matrix(np.eye(3)),
            ValueError,
            r"matrix: expected shape \(..., 4, 4\), got \(3, 3\)",
        ),
        (lambda: Poses.from_matrix("eye"), TypeError, "matrix"),
        (lambda: Poses.from_screw([0, 1], [0, 0, 0], 0, 0), ValueError, "axis: expected shape"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_bodies():
    box, car = shapes.box(), shapes.car()
    bodies = Bodies([box, car], [0, 1, 1], random_poses(3), random_poses(3, 1))
    assert len(bodies) == 3 and bodies.shape.dtype == np.int32 and bodies.meshes == (box, car)
    assert repr(bodies) == "Bodies(3 bodies, 2 meshes)"
    single = Bodies(box, None, Poses.identity(2), Poses.identity(2))
    assert single.shape.tolist() == [0, 0]
    assert len(Bodies(box, [], Poses.identity(0), Poses.identity(0))) == 0


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((1.5, None, 2, 2), TypeError, "meshes: expected a Mesh or a sequence of Mesh, got float"),
        (([1.5], None, 2, 2), TypeError, "meshes: expected Mesh, got float at index 0"),
        (([], None, 2, 2), ValueError, "meshes: expected at least one"),
        ((2, None, 2, 2), ValueError, r"shape: expected \(n,\) mesh indices for 2 meshes, got None"),
        ((2, [0, 2], 2, 2), ValueError, "shape: expected indices from 0 to 1, got 2"),
        ((2, [0, -1], 2, 2), ValueError, "shape: .* got -1"),
        ((2, [0, 1, 0], 2, 2), ValueError, "shape: expected one mesh index per pose, 2, got 3"),
        ((2, [0.0, 1.0], 2, 2), TypeError, "shape: expected integers"),
        ((1, [[0, 0]], 2, 2), ValueError, r"shape: expected shape \(n,\)"),
        ((1, None, 2, 3), ValueError, "end: expected as many poses as start, 2, got 3"),
        ((1, None, "x", 2), TypeError, "start: expected Poses, got str"),
        (
            (1, None, 2, (2, 2)),
            ValueError,
            r"end: expected poses of the shape of start, \(2,\), got \(2, 2\)",
        ),
        ((1, None, (), 2), ValueError, r"start: expected Poses of shape \(n,\) or \(worlds, n\), got \(\)"),
    ],
)
def test_bad_bodies(arguments, error, text):
    meshes, shape, start, end = arguments
    if isinstance(meshes, int):
        meshes = [shapes.box()] * meshes
    poses = [p if isinstance(p, str) else Poses.identity(p) for p in (start, end)]
    with pytest.raises(error, match=text):
        Bodies(meshes, shape, *poses)


def broken():
    """Six poses: one right, the others wrong in five ways; and what is said about each."""
    quat = np.tile([1.0, 0, 0, 0], (6, 1))
    position = np.zeros((6, 3))
    position[:, 0] = 3.0 * np.arange(6)
    quat[1] *= 1.01
    quat[2, 3] = np.nan
    position[3, 1] = np.inf
    quat[4] = 0
    scaled = np.eye(4) * [1.1, 1.1, 1.1, 1]
    said = ["", "quaternion has length 1.01, expected 1", "orientation is not finite"]
    said += ["position is not finite", "quaternion has length 0, expected 1"]
    return Poses.from_quat_wxyz(position, quat), Poses.from_matrix(scaled[None]), said


def test_bodies_that_cannot_be_used_are_told_with_the_reason():
    """`collide(bodies)` said which bodies, not why; `collide(bodies, pairs)` said nothing."""
    poses, scaled, said = broken()
    good = Poses.from_quat_wxyz(np.nan_to_num(poses.position, posinf=0.0), [[1.0, 0, 0, 0]] * 6)
    for name, ends in (("start", (poses, good)), ("end", (good, poses))):
        bodies = gc.Bodies(gc.shapes.box(), None, *ends)
        for k in range(1, 5):
            fate = "1 body has an invalid pose and its pairs are INVALID_INPUT"
            why = rf"first: {k} \(body {k} at its {name}: {said[k]}"
            with pytest.warns(RuntimeWarning, match=f"{fate}, {why}") as warned:
                found = gc.collide(bodies, [[0, k], [0, 5]], backend="cpu")
            assert found.status.tolist()[0] == gc.Status.INVALID_INPUT and warned[0].filename == __file__
        with pytest.warns(
            RuntimeWarning, match=f"4 bodies .* first: 1, 2, 3, 4 .body 1 at its {name}: {said[1]}"
        ):
            gc.collide(bodies, backend="cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collide(bodies, [[0, 5]], backend="cpu")
    pair = gc.Bodies(gc.shapes.box(), None, scaled[[0, 0]], scaled[[0, 0]])
    with pytest.warns(RuntimeWarning, match=r"matrix is not rigid \(a scale"):
        gc.collide(pair, [[0, 1]], backend="cpu")


@pytest.mark.parametrize("n", [2.5, "3", None, [2], (1, 0.5), True])
def test_identity_takes_whole_numbers(n):
    with pytest.raises(TypeError, match="^n: expected an integer or a tuple of them"):
        Poses.identity(n)


def test_identity_of_less_than_none():
    with pytest.raises(ValueError, match="^n: expected numbers of poses from 0 up, got -1"):
        Poses.identity(-1)
