"""`Bodies`: shapes, and where they are at the start and at the end of the step, or how they move over it."""

from __future__ import annotations

from functools import cached_property
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
from gpu_collide.bodies.compound import Compound, Expansion, refuse_compounds
from gpu_collide.bodies.least_turn import least_turn, revolutions
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.shape_arguments import MESHES, as_mesh, in_worlds, is_shape, no_poses
from gpu_collide.bodies.spins import SPIN, Spins, per_body
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
    "on_screws",
    "with_spins",
    "without",
]


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
        Of shape (n,); of worlds one after the other. The end of a shape of revolution (sphere, capsule,
        cylinder, cone) is the one that takes the least turn, with the shape in the same place: see Notes.
    given_end : Poses
        As given.
    worlds : (int, int) or None
        Number of worlds and of bodies in each, if poses came in such rows.
    world : (n,) int64 or None
        World of each body then. Queries use it where nothing else is said; answers for each world are
        `Contacts.by_world`.
    named : bool
        Some mesh may have names of its parts.
    spins : Spins or None
        Of bodies given by velocities, how they move; None if all were given by two poses.
    revolved : (meshes, 7) float64 or None
        Which meshes are shapes of revolution, and about what, for our own use.
    keeps_spin : bool
        They move along the screws between the very poses given, for our own use.
    valid : (n,) bool
        Both poses of the body are poses.
    on_device : bool
        All poses lie on a GPU.

    Raises
    ------
    TypeError, ValueError
        Wrong classes, lengths that differ, a mesh index out of range, or `shape` missing with several meshes.

    Notes
    -----
    A spin about its own axis does not change a shape of revolution, so two poses do not say how often it
    turned; on the screw between them a rolling wheel would leave its line. Such a body moves by its center
    and axis alone: its spin is dropped from `end`, so that a ball goes straight on and a wheel that rolls
    moves along. `from_velocities` says how it spins, and keeps that, as compounds keep their motion. Local
    points of contacts are in the coordinates of the body as `poses_at` places it, without the spin.

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
    worlds: tuple[int, int] | None
    named: bool
    spins: Spins | None = None
    revolved: NDArray[np.float64] | None = None
    keeps_spin = False
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
            if not is_shape(meshes):
                raise TypeError(
                    f"meshes: expected a Mesh or a sequence of Mesh, got {type(meshes).__name__}; {MESHES}"
                )
            meshes = (meshes,)  # type: ignore[assignment]
        meshes = tuple(as_mesh(mesh, k) for k, mesh in enumerate(meshes))  # type: ignore[arg-type]
        if not meshes:
            raise ValueError("meshes: expected at least one Mesh, got none")
        for name, poses in (("start", start), ("end", end)):
            if not isinstance(poses, Poses):
                raise no_poses(name, poses)
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
            shape = in_worlds(shape, worlds)
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
            meshes=meshes, shape=owned(shape), start=start, worlds=worlds, named=named,
            revolved=revolutions(meshes),  # type: ignore[arg-type]
        )  # fmt: skip
        self._ends_at(end)

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
            raise no_poses("poses", poses)
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
            raise no_poses("poses", poses)
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
        keeps = any(part.keeps_spin for part in parts)
        names = ("start", "end" if keeps else "given_end")
        start, end = (Poses.concatenate([getattr(part, name) for part in parts]) for name in names)
        made = cls(list(meshes.values()), np.concatenate(shapes), start, end)
        made = on_screws(made) if keeps else made
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
        start, given = self.start[rows], self.given_end
        end = start if given is self.start else given[rows]
        some = self.again(owned(self.shape[rows]), start, end)
        return some if self.spins is None else with_spins(some, self.spins.of(rows))

    def moved(self, start: Poses, end: Poses) -> Bodies:
        """The same bodies with other poses, `Poses` of shape (n,) or of these worlds; nothing is copied. They
        move from one pose to the other, however these did."""
        for name, poses in (("start", start), ("end", end)):
            if not isinstance(poses, Poses):
                raise no_poses(name, poses)
            if poses.shape not in (self.shape.shape, self.worlds):
                raise ValueError(f"{name}: expected Poses of shape ({len(self)},), got {poses.shape}")
        if self.worlds is not None:
            at_rest = start is end
            start = start.flat()
            end = start if at_rest else end.flat()
        return self._like(self.shape, start, end, self.worlds)

    def again(self, shape: NDArray[np.int32], start: Poses, end: Poses) -> Bodies:
        """Others of the same meshes, `shape` (n,) int32; nothing is copied or checked."""
        return self._like(shape, start, end, None)

    def _like(self, shape: NDArray[np.int32], start: Poses, end: Poses, worlds: Any) -> Bodies:
        other = Bodies.__new__(Bodies)
        other.__dict__.update(
            meshes=self.meshes, shape=shape, start=start, worlds=worlds, named=self.named,
            revolved=self.revolved, keeps_spin=self.keeps_spin,
        )  # fmt: skip
        if shape is self.shape:
            other.__dict__.update(body=self.body, _expansion=self.expansion)
        other._ends_at(end)
        return other

    def _ends_at(self, end: Poses) -> None:
        """Take the end poses as given; of shapes of revolution `end` follows from them."""
        known = self.revolved is None or self.keeps_spin or end is self.start
        self.__dict__["end" if known else "_given"] = end

    @cached_property
    def end(self) -> Poses:
        revolved: Any = self.revolved
        rows, given = revolved[self.shape], self.given_end
        if self.spins is not None:
            rows = np.where(self.spins.spinning[:, None], 0.0, rows)
        return least_turn(self.start, given, rows)

    @property
    def given_end(self) -> Poses:
        """End poses as given, of shapes of revolution too."""
        given = self.__dict__.get("_given")
        return self.end if given is None else given

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
                end=start if self.end is self.start else self.end[to.body], keeps_spin=True,
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
            valid, last = self.start.valid, self.given_end.valid
            if valid is not last:
                valid = valid & last
                valid.setflags(write=False)
            self.__dict__["_valid"] = valid
        return valid

    @property
    def on_device(self) -> bool:
        return self.start.on_device and self.given_end.on_device

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
    other = bodies.moved(bodies.start, bodies.given_end)
    other.__dict__.update(spins=spins)
    return other


def on_screws(bodies: Bodies) -> Bodies:
    """The same bodies on the screws between the very poses given, of shapes of revolution too."""
    other = bodies._like(bodies.shape, bodies.start, bodies.start, bodies.worlds)
    other.__dict__.update(keeps_spin=True, end=bodies.given_end)
    return other if bodies.spins is None else with_spins(other, bodies.spins)


def without(bodies: Bodies, gone: NDArray[np.bool_]) -> Bodies:
    """The same bodies, of which those `gone`, (n,) bool, have no valid poses; known the next time."""
    known = bodies.__dict__.get("_without")
    if known is None or known[0] is not gone:
        ends = bodies.start, bodies.given_end
        start, end = (Poses(x.position, x.quat_wxyz, x.valid & ~gone) for x in ends)
        rest = bodies.moved(start, start if ends[1] is ends[0] else end)
        rest = rest if bodies.spins is None else with_spins(rest, bodies.spins)
        known = bodies.__dict__["_without"] = gone, rest
    return known[1]


def all_valid(bodies: Bodies) -> bool:
    """Are all poses of `bodies` poses? Looked at once."""
    found = bodies.__dict__.get("_all_valid")
    if found is None:
        found = bodies.__dict__["_all_valid"] = b"\0" not in bodies.valid.tobytes()
    return found


def check_bodies(value: Any) -> Bodies:
    """Raise ``TypeError`` unless the argument ``bodies`` is a `Bodies`, without compounds; returns it."""
    if isinstance(value, Bodies):
        refuse_compounds(value, "bodies", "this query")
        return value
    has = "; Bodies(mesh, None, start, end) makes them of a Mesh and Poses"
    if hasattr(value, "bodies"):
        has = "; pass its .bodies, or ask it by its own methods"
    raise TypeError(f"bodies: expected gpu_collide.Bodies, got {type(value).__name__}{has}")
