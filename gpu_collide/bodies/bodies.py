"""`Bodies`: shapes, and where they are at the start and at the end of the step, or how they move over it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import (
    Frozen,
    as_float_array,
    as_int_array,
    as_parts,
    check_positive,
    how_many,
    owned,
)
from gpu_collide.bodies.compound import Compound, Expansion
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.spins import SPIN, Spins, per_body
from gpu_collide.geometry.io.files import load_mesh
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import ArrayLike, StrPath

__all__ = [
    "Bodies",
    "all_valid",
    "check_bodies",
    "refuse_compounds",
    "with_spins",
    "without",
]

MESHES = "Mesh(vertices, faces) makes one of arrays, load_mesh of a file"


class Bodies(Frozen):
    """Many rigid bodies, each with a shape and two poses: at the start and at the end of the step.

    `from_velocities` makes them of poses at the start and velocities, `concatenate` of several. Bodies never
    change: `shape` is copied, and other poses make other bodies.

    Parameters
    ----------
    meshes : Mesh or sequence of Mesh
        The different shapes. In place of a Mesh: a `Compound` of several; the name of a mesh file, read by
        `load_mesh`; or a ``trimesh.Trimesh``, taken as it is (of a ``trimesh.Scene`` all parts in one).
    shape : (n,) array_like of int or None
        Which mesh each body has; None if there is a single mesh.
    start, end : Poses of shape (n,) or (worlds, n)
        In rows, n bodies in each of many worlds: they are numbered world by world, body i of world w is
        ``w * n + i``, and meet only bodies of their own world, as if `world` below were given to the query.
        `shape` is (n,), the same in all worlds, or (worlds, n).

    Attributes
    ----------
    meshes : tuple of Mesh or Compound
        Of a compound whose parts all go into one mesh, that.
    shape : (n,) int32
    start, end : Poses
        Of shape (n,); of worlds one after the other.
    worlds : (int, int) or None
        Number of worlds and of bodies in each, if poses came in such rows.
    world : (n,) int64 or None
        World of each body then. Queries use it where nothing else is said; answers for each world are
        `Contacts.by_world`.
    named : bool
        Some mesh may have names of its parts.
    spins : Spins or None
        Of bodies given by velocities, how they move; None if all were given by two poses.
    valid : (n,) bool
        Both poses of the body are poses.
    on_device : bool
        All poses lie on a GPU.

    Raises
    ------
    TypeError, ValueError
        Wrong classes, lengths that differ, a mesh index out of range, or `shape` missing with several meshes.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> start = gc.Poses.identity(2)
    >>> end = gc.Poses.from_quat_wxyz([[1, 0, 0], [0, 0, 0]], [[1, 0, 0, 0], [1, 0, 0, 0]])
    >>> len(gc.Bodies(gc.shapes.box(), None, start, end))
    2
    """

    meshes: tuple[Mesh, ...]
    shape: NDArray[np.int32]
    start: Poses
    end: Poses
    worlds: tuple[int, int] | None
    named: bool
    spins: Spins | None = None
    #: Of rows (`expansion`), (n,) int32: the body of each.
    body: NDArray[np.int32] | None = None

    def __init__(
        self,
        meshes: Mesh | Compound | StrPath | Sequence[Mesh | Compound | StrPath],
        shape: ArrayLike | None,
        start: Poses,
        end: Poses,
    ) -> None:
        if not isinstance(meshes, (list, tuple)):
            if not _is_shape(meshes):
                raise TypeError(
                    f"meshes: expected a Mesh or a sequence of Mesh, got {type(meshes).__name__}; {MESHES}"
                )
            meshes = (meshes,)  # type: ignore[assignment]
        meshes = tuple(_as_mesh(mesh, k) for k, mesh in enumerate(meshes))  # type: ignore[arg-type]
        if not meshes:
            raise ValueError("meshes: expected at least one Mesh, got none")
        for name, poses in (("start", start), ("end", end)):
            if not isinstance(poses, Poses):
                raise _no_poses(name, poses)
            if len(poses.shape) not in (1, 2):
                raise ValueError(f"{name}: expected Poses of shape (n,) or (worlds, n), got {poses.shape}")
        worlds = None
        if len(start.shape) == 2 or len(end.shape) == 2:
            if start.shape != end.shape:
                raise ValueError(
                    f"end: expected poses of the shape of start, {start.shape}, got {end.shape}; "
                    "poses.broadcast_to repeats what is the same in all worlds"
                )
            worlds = start.shape
            shape = _in_worlds(shape, worlds)
            at_rest = start is end
            start = start.flat()
            end = start if at_rest else end.flat()
        if len(start) != len(end):
            raise ValueError(f"end: expected as many poses as start, {len(start)}, got {len(end)}")
        if shape is None:
            if len(meshes) != 1:
                raise ValueError(
                    f"shape: expected (n,) mesh indices for {len(meshes)} meshes, got None; pass which of "
                    "them each body has, such as [0, 1]"
                )
            shape = np.zeros(len(start), np.int32)
        shape = as_int_array(shape, "shape", shape=(None,), low=0, high=len(meshes), dtype=np.int32)
        if len(shape) != len(start):
            raise ValueError(f"shape: expected one mesh index per pose, {len(start)}, got {len(shape)}")
        named = any(isinstance(mesh, Compound) or mesh.parts is not None for mesh in meshes)  # type: ignore
        self.__dict__.update(
            meshes=meshes, shape=owned(shape), start=start, end=end, worlds=worlds, named=named
        )

    @classmethod
    def from_velocities(
        cls,
        meshes: Mesh | Compound | StrPath | Sequence[Mesh | Compound | StrPath],
        shape: ArrayLike | None,
        poses: Poses,
        linear_velocity: ArrayLike,
        angular_velocity: ArrayLike,
        duration: float = 1.0,
        *,
        center: ArrayLike | None = None,
    ) -> Bodies:
        """Bodies that keep their velocities over the step, as engines integrate them: a reference point of
        each moves straight on, and the body turns about it at a constant rate, by any angle.

        Parameters
        ----------
        meshes, shape
            As in `Bodies`.
        poses : Poses of shape (n,) or (worlds, n)
            At the start.
        linear_velocity : (n, 3) or (3,) array_like
            Of the reference points, in the world, length per unit of time.
        angular_velocity : (n, 3) or (3,) array_like
            In the world, radians per unit of time.
        duration : float, optional
            Of the step, in that unit. Times of contacts are shares of it, as ever.
        center : (n, 3) or (3,) array_like, optional
            The reference points, such as centers of mass, in body coordinates. Default: the origins.

        Returns
        -------
        Bodies
            Whose `end` is where they come to. A body with a velocity that is not finite has no valid pose
            there.

        Raises
        ------
        TypeError, ValueError
            As `Bodies`; numbers that are no velocities, or of another number of bodies.

        Examples
        --------
        >>> import numpy as np, gpu_collide as gc
        >>> box, start = gc.shapes.box(), gc.Poses.identity(1)
        >>> bodies = gc.Bodies.from_velocities(box, None, start, [1, 0, 0], [0, 9 * np.pi, 0], 2.0)
        >>> bodies.end.position.tolist(), bodies.spins.rotation.round(3).tolist()
        ([[2.0, 0.0, 0.0]], [[0.0, 56.549, 0.0]])
        """
        if not isinstance(poses, Poses):
            raise _no_poses("poses", poses)
        made = cls(meshes, shape, poses, poses)
        return made.spinning(poses, linear_velocity, angular_velocity, duration, center=center)

    def spinning(
        self,
        poses: Poses,
        linear_velocity: ArrayLike,
        angular_velocity: ArrayLike,
        duration: float = 1.0,
        *,
        center: ArrayLike | None = None,
    ) -> Bodies:
        """The same bodies starting at other poses, of shape (n,) or of these worlds, with velocities that
        they keep over the step; all else as in `from_velocities`."""
        if not isinstance(poses, Poses):
            raise _no_poses("poses", poses)
        duration = check_positive(duration, "duration")
        given = dict(linear_velocity=linear_velocity, angular_velocity=angular_velocity)
        displacement, rotation = (duration * per_body(v, name, poses.shape) for name, v in given.items())
        middle = per_body(np.zeros(3) if center is None else center, "center", poses.shape)
        spins = Spins(np.full(len(middle), SPIN), displacement, rotation, middle)
        start = poses.flat()
        with np.errstate(invalid="ignore", over="ignore"):
            end = spins.poses_at(start, np.ones(len(middle)))
            end = Poses.from_quat_wxyz(end.position, np.where(start.valid[:, None], end.quat_wxyz, np.nan))
        return with_spins(self.moved(start, end), spins)

    @classmethod
    def concatenate(cls, parts: Sequence[Bodies]) -> Bodies:
        """Bodies of several, one after the other: such as some given by two poses, some by velocities.

        Parameters
        ----------
        parts : sequence of Bodies
            At least one, none of them in worlds.

        Raises
        ------
        TypeError, ValueError
            Something else than bodies, none, or bodies in worlds.
        """
        parts = as_parts(parts, Bodies, "Bodies")
        if any(part.worlds is not None for part in parts):
            raise ValueError(
                "parts: expected bodies whose poses have the shape (n,), got some in worlds; give poses of "
                "that shape, and world to the query"
            )
        meshes: dict[int, Mesh] = {id(mesh): mesh for part in parts for mesh in part.meshes}
        number = {key: k for k, key in enumerate(meshes)}
        shapes = [np.array([number[id(mesh)] for mesh in part.meshes])[part.shape] for part in parts]
        start, end = (Poses.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end"))
        made = cls(list(meshes.values()), np.concatenate(shapes), start, end)
        if any(part.spins is not None for part in parts):
            spins = [Spins.none(len(part)) if part.spins is None else part.spins for part in parts]
            return with_spins(made, Spins.concatenate(spins))
        return made

    def poses_at(self, time: ArrayLike) -> Poses:
        """Where the bodies are during the step, each on its own motion: along the screw between its poses, or
        straight on and spinning.

        Parameters
        ----------
        time : float or (n,) array_like
            0 is the start of the step, 1 its end.

        Returns
        -------
        Poses of shape (n,)

        Raises
        ------
        TypeError, ValueError
            No numbers, or another number of them.
        """
        time = as_float_array(time, "time")
        if time.shape not in ((), (len(self),)):
            raise ValueError(f"time: expected a number or shape ({len(self)},), got {time.shape}")
        time = np.broadcast_to(time, (len(self),))
        if self.spins is None or not self.spins.spinning.any():
            return self.start.toward(self.end, time)
        spun, spins = self.spins.poses_at(self.start, time), self.spins.spinning[:, None]
        if spins.all():
            return Poses(spun.position, spun.quat_wxyz, self.valid)
        poses = self.start.toward(self.end, time)
        position = np.where(spins, spun.position, poses.position)
        return Poses(position, np.where(spins, spun.quat_wxyz, poses.quat_wxyz), poses.valid)

    def take(self, rows: Any) -> Bodies:
        """Some of these bodies, in no worlds."""
        start = self.start[rows]
        end = start if self.end is self.start else self.end[rows]
        some = Bodies(self.meshes, self.shape[rows], start, end)
        return some if self.spins is None else with_spins(some, self.spins.of(rows))

    def moved(self, start: Poses, end: Poses) -> Bodies:
        """The same bodies with other poses, `Poses` of shape (n,) or of these worlds; nothing is copied. They
        move from one pose to the other, however these did."""
        for name, poses in (("start", start), ("end", end)):
            if not isinstance(poses, Poses):
                raise _no_poses(name, poses)
            if poses.shape not in (self.shape.shape, self.worlds):
                raise ValueError(f"{name}: expected Poses of shape ({len(self)},), got {poses.shape}")
        if self.worlds is not None:
            at_rest = start is end
            start = start.flat()
            end = start if at_rest else end.flat()
        other = Bodies.__new__(Bodies)
        other.__dict__.update(
            meshes=self.meshes, shape=self.shape, start=start, end=end, worlds=self.worlds, named=self.named,
            body=self.body, _expansion=self.expansion,
        )  # fmt: skip
        return other

    def again(self, shape: NDArray[np.int32], start: Poses, end: Poses) -> Bodies:
        """Others of the same meshes, `shape` (n,) int32; nothing is copied or checked."""
        other = Bodies.__new__(Bodies)
        other.__dict__.update(
            meshes=self.meshes, shape=shape, start=start, end=end, worlds=None, named=self.named
        )
        return other

    @property
    def expansion(self) -> Expansion | None:
        """Of bodies with compounds, which rows they are for queries; else None."""
        if not self.named:
            return None
        if "_expansion" not in self.__dict__:
            some = any(isinstance(mesh, Compound) for mesh in self.meshes)
            self.__dict__["_expansion"] = Expansion.of(self.meshes, self.shape) if some else None
        found: Expansion | None = self.__dict__["_expansion"]
        return found

    @property
    def rows(self) -> Bodies:
        """The bodies that queries work with: one for each mesh of each, with the motion of its body. Without
        compounds these."""
        to = self.expansion
        if to is None:
            return self
        rows = self.__dict__.get("_rows")
        if rows is None:
            start = self.start[to.body]
            rows = Bodies.__new__(Bodies)
            rows.__dict__.update(
                meshes=to.meshes, shape=to.shape, start=start, worlds=None, named=False, body=to.body,
                end=start if self.end is self.start else self.end[to.body],
                spins=None if self.spins is None else self.spins.of(to.body),
            )  # fmt: skip
            self.__dict__["_rows"] = rows
        return rows

    @property
    def world(self) -> NDArray[np.int64] | None:
        """(n,) int64: world of each body, if poses came in rows, a row for each world."""
        if self.worlds is None:
            return None
        world = self.__dict__.get("_world")
        if world is None:
            world = self.__dict__["_world"] = owned(np.repeat(np.arange(self.worlds[0]), self.worlds[1]))
        return world

    @property
    def valid(self) -> NDArray[np.bool_]:
        """(n,) bool: both poses of the body are poses."""
        valid = self.__dict__.get("_valid")
        if valid is None:
            valid = self.start.valid
            if valid is not self.end.valid:
                valid = valid & self.end.valid
                valid.setflags(write=False)
            self.__dict__["_valid"] = valid
        return valid

    @property
    def on_device(self) -> bool:
        return self.start.on_device and self.end.on_device

    def __len__(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        bad = int((~self.valid).sum())
        many = "" if self.worlds is None else f" in {how_many(self.worlds[0], 'world')}"
        counts = (
            f"{how_many(len(self), 'body', 'bodies')}{many}, {how_many(len(self.meshes), 'mesh', 'meshes')}"
        )
        return f"Bodies({counts}" + (f", {bad} with invalid poses)" if bad else ")")


def with_spins(bodies: Bodies, spins: Spins) -> Bodies:
    """The same bodies, moving between their poses as `spins`, which fit these, say."""
    other = bodies.moved(bodies.start, bodies.end)
    other.__dict__.update(spins=spins)
    return other


def without(bodies: Bodies, gone: NDArray[np.bool_]) -> Bodies:
    """The same bodies, of which those `gone`, (n,) bool, have no valid poses; known the next time."""
    known = bodies.__dict__.get("_without")
    if known is None or known[0] is not gone:
        start, end = (Poses(x.position, x.quat_wxyz, x.valid & ~gone) for x in (bodies.start, bodies.end))
        rest = bodies.moved(start, start if bodies.end is bodies.start else end)
        rest = rest if bodies.spins is None else with_spins(rest, bodies.spins)
        known = bodies.__dict__["_without"] = gone, rest
    return known[1]


def all_valid(bodies: Bodies) -> bool:
    """Are all poses of `bodies` poses? Looked at once."""
    found = bodies.__dict__.get("_all_valid")
    if found is None:
        found = bodies.__dict__["_all_valid"] = b"\0" not in bodies.valid.tobytes()
    return found


def _is_shape(value: Any) -> bool:
    return isinstance(value, (Mesh, Compound, str, os.PathLike)) or (
        (hasattr(value, "vertices") and hasattr(value, "faces"))
        or (hasattr(value, "geometry") and hasattr(value, "dump"))
    )


def _in_worlds(shape: Any, worlds: tuple[int, ...]) -> Any:
    """Mesh of each body of all worlds, from those of one or of all."""
    if shape is None:
        return None
    given = as_int_array(shape, "shape")
    if given.shape not in (worlds, worlds[1:]):
        raise ValueError(
            f"shape: expected mesh indices of shape {worlds[1:]} or {worlds}, a mesh for each body of the "
            f"worlds, got {given.shape}"
        )
    return np.broadcast_to(given, worlds).reshape(-1)


def _as_mesh(value: Any, k: int) -> Mesh | Compound:
    """A mesh from what stands for one in a list of meshes."""
    if isinstance(value, Mesh):
        return value
    if isinstance(value, Compound):
        alone = value.meshes[0] if len(value.meshes) == 1 else None
        return value if alone is None or alone.thin else alone
    if isinstance(value, (str, os.PathLike)):
        return load_mesh(value)
    if not _is_shape(value):
        raise TypeError(f"meshes: expected Mesh, got {type(value).__name__} at index {k}; {MESHES}")
    return Mesh.from_trimesh(value)


def _no_poses(name: str, value: Any) -> TypeError:
    return TypeError(
        f"{name}: expected Poses, got {type(value).__name__}; Poses.from_quat_wxyz makes them from arrays"
    )


def check_bodies(value: Any) -> Bodies:
    """Raise ``TypeError`` unless the argument ``bodies`` is a `Bodies`, without compounds; returns it."""
    if isinstance(value, Bodies):
        refuse_compounds(value, "bodies", "this query")
        return value
    has = "; Bodies(mesh, None, start, end) makes them of a Mesh and Poses"
    if hasattr(value, "bodies"):
        has = "; pass its .bodies, or ask it by its own methods"
    raise TypeError(f"bodies: expected gpu_collide.Bodies, got {type(value).__name__}{has}")


def refuse_compounds(bodies: Any, name: str, what: str) -> None:
    """Raise ``ValueError`` if the argument `name` has compounds of several meshes, which `what` does not
    take."""
    if bodies.expansion is not None:
        raise ValueError(
            f"{name}: expected no compounds of several meshes, which {what} does not take, got some; make "
            "a polyhedron of each round part (Mesh.to_polyhedron), so that all parts go into one mesh, or "
            "make its parts bodies of their own"
        )
