"""`Poses`: positions and orientations of many bodies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._foreign import on_device
from gpu_collide._validate import as_device_floats, as_float_array, as_numpy
from gpu_collide.bodies.euler import quat_of_euler, quat_of_yaw, radians_of
from gpu_collide.bodies.motion import PoseMotions
from gpu_collide.bodies.quaternion import multiply, rotate
from gpu_collide.bodies.units import FEW, UNIT_TOLERANCE, quat_of_matrix, units, units_of_few
from gpu_collide.geometry.arrays.angles import sine_cosine

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, ArrayLike, FloatArray, ShapeLike

__all__ = ["UNIT_TOLERANCE", "Poses", "as_poses", "what_is_wrong"]

MOST = 1 << 40  # poses that are asked for by mistake
RIGID_TOLERANCE = 1e-6  # largest entry by which R^T R may miss the identity


def what_is_wrong(poses: Poses, row: int) -> str | None:
    """Why row `row` of `poses` is no pose, with the remedy; None if it is one."""
    if poses.valid[row]:
        return None
    if not np.isfinite(poses.position[row]).all():
        return "position is not finite; mend it, or leave the body out"
    quat = poses.quat_wxyz[row]
    if not np.isfinite(quat).all():
        return "orientation is not finite; mend it, or leave the body out"
    length = float(np.linalg.norm(quat))
    if abs(length - 1) > UNIT_TOLERANCE:
        return (
            f"quaternion has length {length:.6g}, expected 1 within {UNIT_TOLERANCE:g}; divide "
            "quaternions by their length"
        )
    return (
        "matrix is not rigid (a scale, shear, mirror, or a last row other than 0, 0, 0, 1); scales belong to "
        "meshes: mesh.scaled, and of matrices with the place in the last row pass "
        "numpy.swapaxes(matrix, -1, -2)"
    )


def _shapes_differ(position: Any, quat: Any, name: str) -> ValueError:
    wanted, got = position.shape[:-1], quat.shape[:-1]
    remedy = f"; numpy.broadcast_to({name}, {(*wanted, 4)}) repeats one for all" if wanted and not got else ""
    return ValueError(f"{name}: expected the leading shape of position, {wanted}, got {got}{remedy}")


def _as_quats(quat: Any) -> FloatArray:
    """The argument ``quat``, with a word on angles where it cannot be quaternions."""
    try:
        return as_float_array(quat, "quat", shape=(..., 4))
    except ValueError as error:
        if np.ndim(quat) > 1 and np.shape(quat)[-1] == 3:
            raise ValueError(
                f"{error}; Poses.from_euler takes three angles, and of a turn vector SciPy makes quaternions "
                "with w last: Poses.from_quat_xyzw(position, Rotation.from_rotvec(turn).as_quat())"
            ) from None
        raise


class Poses(PoseMotions):
    """Positions and orientations in the world; make them with one of the ``from_`` methods.

    A pose takes a point x of the body's own frame to ``R(q) x + position`` in the world. A row that is no
    pose (not finite, quaternion off unit length by more than 1e-3, matrix not rigid within 1e-6) does not
    raise: it is marked in `valid`, and pairs that use it get the status INVALID_INPUT.  Poses never change:
    the caller's arrays are copied, and those below are read-only.

    Positions and quaternions that both lie on a GPU are copied there, and taken from there by the backend
    ``cuda``; the attributes below are made when somebody asks for them (docs/devices.md).

    Attributes
    ----------
    position : (..., 3) float64
        World position of the body's origin, as given.
    quat_wxyz : (..., 4) float64
        Orientation as given, w first.
    unit_wxyz : (..., 4) float64
        The same divided by its length; (1, 0, 0, 0) in rows that are not valid.
    valid : (...) bool
    shape : tuple
        Leading shape, () for a single pose.
    on_device : bool
        They lie on a GPU.
    """

    position: NDArray[np.float64]
    quat_wxyz: NDArray[np.float64]
    unit_wxyz: NDArray[np.float64]
    valid: NDArray[np.bool_]
    on_device = False

    def __init__(self, position: ArrayLike, quat_wxyz: ArrayLike, valid: ArrayLike | None = None) -> None:
        if valid is None and self._take(position, quat_wxyz, "quat_wxyz"):
            return
        position = as_float_array(position, "position", shape=(..., 3))
        quat = as_float_array(quat_wxyz, "quat_wxyz", shape=(..., 4))
        if valid is not None:
            valid = as_numpy(valid, "valid")
            if valid.dtype != bool:
                raise TypeError(f"valid: expected bool, got {valid.dtype}")
            if valid.shape != position.shape[:-1]:
                raise ValueError(
                    f"valid: expected the leading shape of position, {position.shape[:-1]}, got {valid.shape}"
                )
        self._fill(position, quat, "quat_wxyz", valid)

    def _take(self, position: Any, quat: Any, name: str) -> bool:
        """Copy what lies on a GPU there; False if not all does."""
        there = on_device(position)
        turn = None if there is None else on_device(quat)
        if there is None or turn is None or there.device != turn.device:
            return False
        there = as_device_floats(there, "position", shape=(..., 3))
        turn = as_device_floats(turn, name, shape=(..., 4))
        if there.shape[:-1] != turn.shape[:-1]:
            raise _shapes_differ(there, turn, name)
        self.__dict__.update(_there=(there, turn), on_device=True)
        return True

    def _fill(self, position: Array, quat: Array, name: str, valid: ArrayLike | None = None) -> None:
        """Attributes from arrays that nobody else holds."""
        if position.shape[:-1] != quat.shape[:-1]:
            raise _shapes_differ(position, quat, name)
        if valid is None and quat.ndim == 2 and 0 < len(quat) <= FEW:
            unit, good = units_of_few(position, quat)
        else:
            unit, good = units(position, quat, valid)
        for array in (position, quat, unit, good):  # which nobody else holds
            array.setflags(False)  # type: ignore[call-arg]  # a fifth of the price of ``flags.writeable``
        self.__dict__.update(position=position, quat_wxyz=quat, unit_wxyz=unit, valid=good)

    @classmethod
    def from_quat_wxyz(cls, position: ArrayLike, quat: ArrayLike) -> Poses:
        """Poses from positions (..., 3) and quaternions (..., 4), scalar part first.

        float32 and float64 are accepted. Quaternions within 1e-3 of unit length are normalised.

        Raises
        ------
        TypeError, ValueError
            Wrong dtype or shape, or leading shapes that differ.
        """
        poses = cls.__new__(cls)
        if type(position) is np.ndarray or not poses._take(position, quat, "quat"):
            position = as_float_array(position, "position", shape=(..., 3))
            poses._fill(position, _as_quats(quat), "quat")
        return poses

    @classmethod
    def from_quat_xyzw(cls, position: ArrayLike, quat: ArrayLike) -> Poses:
        """Poses from positions (..., 3) and quaternions (..., 4), scalar part last (SciPy, ROS, glTF)."""
        there = on_device(quat)
        if there is None or on_device(position) is None:
            turn = _as_quats(quat)[..., [3, 0, 1, 2]]
        else:
            turn = as_device_floats(there, "quat", shape=(..., 4))
            with turn.device:
                for to, k in enumerate((3, 0, 1, 2)):
                    turn[..., to] = there[..., k]
        return cls.from_quat_wxyz(position, turn)

    @classmethod
    def from_yaw(cls, position: ArrayLike, yaw: ArrayLike, *, degrees: bool = False) -> Poses:
        """Poses of bodies that stand upright: positions (..., 3), and turns about the world's z axis.

        Parameters
        ----------
        position : (..., 3) array_like
        yaw : (...) array_like
            From x towards y, of any size; of the leading shape of `position`, or broadcast to it. A body
            whose length is along its own x axis heads that way.
        degrees : bool, optional
            Degrees instead of radians.

        Raises
        ------
        TypeError, ValueError
            Wrong dtype or shape.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> gc.Poses.from_yaw([[0, 0, 0]], 90, degrees=True).apply([1, 0, 0]).round(12).tolist()
        [[0.0, 1.0, 0.0]]
        """
        angle = radians_of(yaw, "yaw", degrees)
        position = as_float_array(position, "position", shape=(..., 3))
        try:
            angle = np.broadcast_to(angle, position.shape[:-1])
        except ValueError:
            raise ValueError(
                f"yaw: expected the leading shape of position, {position.shape[:-1]}, or one that can be "
                f"broadcast to it, got {angle.shape}"
            ) from None
        return cls.from_quat_wxyz(position, quat_of_yaw(angle))

    @classmethod
    def from_euler(cls, position: ArrayLike, axes: str, angles: ArrayLike, *, degrees: bool = False) -> Poses:
        """Poses from positions (..., 3) and Euler angles, whose axes are named as SciPy names them.

        Parameters
        ----------
        position : (..., 3) array_like
        axes : str
            One to three axes in the order of the turns: ``"xyz"`` about axes that stand still, ``"ZYX"``
            about those of the body as it is turned so far. Yaw, pitch and roll of vehicles (ISO 8855) are
            ``"ZYX"``.
        angles : (..., k) array_like
            One for each letter, of the leading shape of `position`.
        degrees : bool, optional
            Degrees instead of radians.

        Raises
        ------
        TypeError, ValueError
            Wrong dtype or shape, or axes that are none.
        """
        return cls.from_quat_wxyz(position, quat_of_euler(axes, angles, degrees))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Poses:
        """Poses from homogeneous matrices (..., 4, 4) that act on columns; last row (0, 0, 0, 1).

        A matrix with a scale, a shear, a mirror or another last row (off by more than 1e-6) gives an invalid
        row.
        """
        try:
            matrix = as_float_array(matrix, "matrix", shape=(..., 4, 4))
        except ValueError as error:
            given: Any = matrix
            shape = given.shape if hasattr(given, "shape") else np.shape(given)
            if tuple(shape[-2:]) not in ((3, 3), (3, 4)):
                raise
            raise ValueError(
                f"{error}; of smaller ones: whole = numpy.tile(numpy.eye(4), (n, 1, 1)), then "
                f"whole[:, :3, :{shape[-1]}] = matrix"
            ) from None
        rotation, position = matrix[..., :3, :3], np.ascontiguousarray(matrix[..., :3, 3])
        finite = np.asarray(np.isfinite(matrix).all(axis=(-1, -2)))
        safe = np.where(finite[..., None, None], rotation, np.eye(3))
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(np.swapaxes(safe, -1, -2) @ safe - np.eye(3)).max(axis=(-1, -2))
            rigid = np.asarray(finite & (off <= RIGID_TOLERANCE))
        safe = np.where(rigid[..., None, None], safe, np.eye(3))
        rigid &= np.linalg.det(safe) > 0
        last = np.where(finite[..., None], matrix[..., 3, :], np.inf)
        rigid &= np.abs(last - [0, 0, 0, 1]).max(axis=-1) <= RIGID_TOLERANCE
        safe = np.where(rigid[..., None, None], safe, np.eye(3))
        return cls(position, quat_of_matrix(safe), valid=rigid)

    @classmethod
    def from_screw(
        cls, axis: ArrayLike, point: ArrayLike, angle: ArrayLike, pitch: ArrayLike, start: Poses | None = None
    ) -> Poses:
        """Poses reached from `start` by a screw motion: a turn about a line and a slide along it.

        Parameters
        ----------
        axis : (..., 3) array_like
            Direction of the line, of any length but zero (a zero axis gives an invalid row).
        point : (..., 3) array_like
            A point of the line, world frame.
        angle : (...) array_like
            Turn in radians, right-handed about `axis`.
        pitch : (...) array_like
            Length of the slide along `axis` during the whole motion (not per turn), so that a pure
            translation is ``angle=0``.
        start : Poses, optional
            Default: the identity.

        Returns
        -------
        Poses
            Of the broadcast leading shape of all arguments.
        """
        axis = as_float_array(axis, "axis", shape=(..., 3))
        point = as_float_array(point, "point", shape=(..., 3))
        angle, pitch = as_float_array(angle, "angle"), as_float_array(pitch, "pitch")
        if start is not None and not isinstance(start, Poses):
            raise TypeError(f"start: expected Poses or None, got {type(start).__name__}")
        start = cls.identity(()) if start is None else start
        shapes = [axis.shape[:-1], point.shape[:-1], angle.shape, pitch.shape, start.shape]
        try:
            lead = np.broadcast_shapes(*shapes)
        except ValueError:
            names = "axis, point, angle, pitch, start"
            raise ValueError(f"{names}: expected leading shapes that broadcast, got {shapes}") from None
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            largest = np.abs(axis).max(axis=-1, keepdims=True)
            unit = axis / largest
            unit = unit / np.sqrt((unit**2).sum(axis=-1, keepdims=True))
            sine, cosine = (x[..., None] for x in sine_cosine(angle / 2))
            parts = np.broadcast_to(cosine, lead + (1,)), np.broadcast_to(sine * unit, lead + (3,))
            turn = np.concatenate(parts, axis=-1)
            moved = rotate(turn, start.position - point) + point + pitch[..., None] * unit
            quat = multiply(turn, start.unit_wxyz)
        good = np.broadcast_to(start.valid, lead)
        return cls(np.broadcast_to(moved, lead + (3,)), quat, valid=good)

    @classmethod
    def identity(cls, n: ShapeLike) -> Poses:
        """`n` poses at the origin without rotation; `n` an integer or a leading shape."""
        lead = n if isinstance(n, tuple) else (n,)
        whole = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in lead)
        if not whole:
            raise TypeError(f"n: expected an integer or a tuple of them, got {n!r}")
        if min(lead, default=0) < 0:
            raise ValueError(f"n: expected numbers of poses from 0 up, got {n!r}")
        if math.prod(map(int, lead)) > MOST:
            raise ValueError(f"n: expected at most {MOST} poses, got {n!r}")
        quat = np.zeros(lead + (4,))
        quat[..., 0] = 1
        return cls(np.zeros(lead + (3,)), quat)

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape."""
        return self.__dict__["_there"][1].shape[:-1] if self.on_device else self.valid.shape

    def given_on(self, device: int) -> Any:
        """Positions and quaternions as given, if they are CuPy arrays on this device; else None."""
        there = self.__dict__.get("_there")
        return there if there is not None and there[0].device.id == device else None

    def __getattr__(self, name: str) -> Any:
        # of what lies on a GPU, what the host asks for
        there = self.__dict__.get("_there")
        if there is None or name not in Poses.__annotations__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        position, quat = (np.ascontiguousarray(as_numpy(array, name)) for array in there)
        self._fill(position, quat, "quat_wxyz")
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Poses.__annotations__}

    def flat(self) -> Poses:
        """The same poses one after the other, of shape (k,): of ``(worlds, n)`` world by world."""
        other = Poses.__new__(Poses)
        there = self.__dict__.get("_there")
        if there is not None:
            position, quat = there
            with position.device:
                other.__dict__.update(_there=(position.reshape(-1, 3), quat.reshape(-1, 4)), on_device=True)
        else:
            other.__dict__.update(
                position=self.position.reshape(-1, 3), quat_wxyz=self.quat_wxyz.reshape(-1, 4),
                unit_wxyz=self.unit_wxyz.reshape(-1, 4), valid=self.valid.reshape(-1),
            )  # fmt: skip
        return other

    def to_matrix(self) -> NDArray[np.float64]:
        """Homogeneous matrices (..., 4, 4) float64; rows that are not valid are NaN."""
        matrix = np.zeros(self.shape + (4, 4))
        w, x, y, z = (self.unit_wxyz[..., k] for k in range(4))
        x2, y2, z2 = 2 * x, 2 * y, 2 * z  # as `rotate` turns the axes
        matrix[..., 0, 0] = 1 - (y * y2 + z * z2)
        matrix[..., 1, 1] = 1 - (x * x2 + z * z2)
        matrix[..., 2, 2] = 1 - (x * x2 + y * y2)
        for i, j, one, other in ((1, 0, w * z2, x * y2), (0, 2, w * y2, x * z2), (2, 1, w * x2, y * z2)):
            matrix[..., i, j], matrix[..., j, i] = 0.0 + one + other, 0.0 - one + other
        matrix[..., :3, 3] = self.position
        matrix[..., 3, 3] = 1
        matrix[~self.valid] = np.nan
        return matrix

    def apply(self, points: ArrayLike) -> NDArray[np.float64]:
        """World positions (..., 3) of points (..., 3) of the body frames; the leading shapes broadcast."""
        points = as_float_array(points, "points", shape=(..., 3))
        try:
            np.broadcast_shapes(points.shape[:-1], self.shape)
        except ValueError:
            raise ValueError(
                f"points: expected a leading shape that broadcasts with that of the poses, {self.shape}, got "
                f"{points.shape[:-1]}"
            ) from None
        return rotate(self.unit_wxyz, points) + self.position

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single pose has no len()")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Poses:
        if not self.shape:
            raise TypeError("a single pose cannot be indexed")
        rows = np.arange(self.valid.size).reshape(self.shape)[index]
        part = Poses.__new__(Poses)
        for name in Poses.__annotations__:
            array = getattr(self, name)
            array = np.asarray(array.reshape(-1, *array.shape[len(self.shape) :]).take(rows, axis=0))
            array.setflags(write=False)
            part.__dict__[name] = array
        return part

    def __repr__(self) -> str:
        bad = int((~self.valid).sum())
        return f"Poses(shape={self.shape}" + (f", {bad} invalid)" if bad else ")")


def as_poses(poses: Any, name: str) -> Poses:
    """The argument `name` as poses, from `Poses` or from a pair of positions and quaternions.

    Raises
    ------
    TypeError, ValueError
        It is neither; says how poses are given.
    """
    if isinstance(poses, Poses):
        return poses
    expected = f"{name}: expected gpu_collide.Poses or a pair (position, quat_wxyz)"
    if isinstance(poses, (tuple, list)) and len(poses) == 2:
        try:
            return Poses.from_quat_wxyz(*poses)
        except (TypeError, ValueError) as error:
            kind = type(error) if type(error) in (TypeError, ValueError) else ValueError
            raise kind(
                f"{expected} of arrays (n, 3) and (n, 4), got a {type(poses).__name__} of two others "
                f"({error}); Poses.from_matrix takes matrices"
            ) from None
    got = "None" if poses is None else type(poses).__name__
    if isinstance(poses, (tuple, list)):
        got += f" of {len(poses)}"
    raise TypeError(f"{expected}, got {got}; Poses.from_matrix takes matrices")
