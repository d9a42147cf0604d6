"""`translate`, `rotate` and `move`: movers among bodies that stand still, or move meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._validate import first_few, how_many
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.movers import Motion, Turn
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import conjugate, multiply
from gpu_collide.bodies.refusals import refuse_spins
from gpu_collide.geometry.arrays.soa import length
from gpu_collide.queries.pluecker.motions import checked_end, trace, turned
from gpu_collide.queries.pluecker.movers import OLD, per_mover

if TYPE_CHECKING:
    from gpu_collide._types import ArrayLike, BackendName, Precision
    from gpu_collide.bodies.movers import Movers
    from gpu_collide.queries.scene import Scene
    from gpu_collide.results.trace import Trace

__all__ = ["move", "rotate", "translate"]

#: A whole turn, and what float32 makes of it.
ROUND = float(np.float32(2.0 * np.pi))


@renamed(vector="displacement", **OLD)
def translate(
    movers: Bodies | ArrayLike,
    obstacles: Scene | Bodies,
    displacement: ArrayLike,
    *,
    expel: ArrayLike | None = None,
    exclude_body: ArrayLike | None = None,
    world: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    check_start: bool = False,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Trace:
    """How far each mover can be translated before it touches something, and what it touches.

    Movers ignore each other: each moves through the world alone.

    Parameters
    ----------
    movers : Bodies, or (n, 3) array_like
        Bodies, whose end poses are ignored; or points, which move along rays.
    obstacles : Scene or Bodies
        What may be in the way: a `Scene`, prepared once for many queries, or bodies. Those with two different
        poses, or with velocities (`Bodies.from_velocities`), move during the same step, each on its own
        motion, as in `collide` with ``motion="body"``; a fraction is then a time. See Notes.
    displacement : (n, 3) or (3,) array_like
        Displacement of each mover, or of all.
    expel : float or (n,) array_like, optional
        Thickness of the zone around obstacles that no mover enters; one that is in it may only go away. Where
        it is less than the bound on the error of the numbers at hand, which is the default, this bound
        is taken: ``expel=trace.expel`` goes on with the zone of a `Trace`, wherever that leads. Where
        obstacles move, 1e-8 of the sizes is the least. See Notes.
    exclude_body : (n,) array_like of int, optional
        Body of the obstacles that each mover is itself, and does not meet; -1: none. The rules of a scene
        hold for it as they do for this body: its world, its group and mask, and the pairs to ignore.
    world : (n,) array_like of int, or int, optional
        Number of the world of each mover, as the bodies of a scene have them: it meets those of this world,
        and those in every world; -1: all. Default: that of the body that it is. A scene with world numbers
        wants it of every mover that is none of its bodies. What is no body has no group, and meets all.
    pairs : (p, 2) array_like of int, optional
        Rows (mover, body of the obstacles): then there is an answer for each of them, about this body alone,
        whatever the rules.
    check_start : bool, optional
        Also look for movers that begin inside something, by `gpu_collide.collide` of bodies at rest, and mark
        them INITIAL_OVERLAP; all else about them is the same. What only touches, within 1e-7 of its size, is
        not inside; a point on a surface may be either. Default False: it costs about a third more.
    precision, backend, max_bytes
        As in `gpu_collide.collide`. With a `Scene` as obstacles, those of the scene; they are not to be given
        then.

    Returns
    -------
    Trace
        A row for each mover, or for each of `pairs`.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed.
    MemoryLimitError
        The obstacles, or the work on one mover, does not fit `max_bytes`.
    BackendUnavailableError
        The backend is not available.

    Warns
    -----
    RuntimeWarning
        Obstacles with invalid poses; they are not there.

    Notes
    -----
    A mover stops `expel` before the first thing that it would touch, measured along the normal, and never
    goes beyond, so that moves can follow each other for ever without anything sinking into anything. Faces
    are touched from their front only, unless the mesh is ``two_sided``: a mover that starts inside an
    obstacle may leave it; `check_start` tells.
    The default of `expel` is some 256 roundings of the largest coordinate involved
    (position, displacement, sizes).

    Among obstacles that move, mover and obstacles start together, and the mover goes evenly: at the time t of
    the step it has gone t of its way. What it is told is when it must stop, and where it stands then, while
    each obstacle is at ``obstacles.poses_at(fraction)``; what goes on after that runs into it. It touches
    nothing until then, and stops `expel`, or up to a 64th more, before what stops it, along the normal.
    Other features that it would meet later may be nearer, and are not touched. Movers of which `collide`
    cannot tell this are UNRESOLVED, and stay where they are. Points, and ``precision="single"``, are refused
    there. Bodies that stand still stop movers as they do alone, with the thicker zone.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> box = gc.shapes.box()
    >>> at = gc.Poses.from_quat_wxyz([[0, 0, 2]], [[1, 0, 0, 0]])
    >>> ground = gc.Poses.identity(1)
    >>> movers, still = gc.Bodies(box, None, at, at), gc.Bodies(box, None, ground, ground)
    >>> found = gc.pluecker.translate(movers, still, [0, 0, -4])
    >>> round(float(found.fraction[0]), 9), found.poses.position.round(9)
    (0.25, array([[0., 0., 1.]]))

    A lift that comes up meanwhile:

    >>> lift = gc.Bodies.from_velocities(box, None, ground, [0, 0, 1], [0, 0, 0])
    >>> found = gc.pluecker.translate(movers, lift, [0, 0, -4])
    >>> round(float(found.fraction[0]), 6), found.poses.position.round(6)
    (0.2, array([[0. , 0. , 1.2]]))
    """

    def motion(rows: Movers, n: int) -> Motion:
        return Motion(per_mover(displacement, "displacement", rows, n), (), None, None)

    return trace(movers, obstacles, motion, expel, exclude_body, world, pairs, precision, backend, max_bytes,
                 check_start)  # fmt: skip


@renamed(**OLD)
def rotate(
    movers: Bodies | ArrayLike,
    obstacles: Scene | Bodies,
    angle: ArrayLike,
    axis: ArrayLike,
    origin: ArrayLike,
    *,
    expel: ArrayLike | None = None,
    exclude_body: ArrayLike | None = None,
    world: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    check_start: bool = False,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Trace:
    """How far each mover can rotate about an axis before it touches something, and what it touches.

    Parameters
    ----------
    movers, obstacles
        As in `translate`.
    angle : (n,) array_like or float
        Radians, right-handed about `axis`, of either sign, at most 2 pi (or what float32 makes of that): more
        than a half turn is made as two turns of half the angle.
    axis : (n, 3) or (3,) array_like
        Direction in the world, of any length but zero.
    origin : (n, 3) or (3,) array_like
        A point of the axis, in the world.
    expel, exclude_body, world, pairs, check_start, precision, backend, max_bytes
        As in `translate`.

    Returns
    -------
    Trace
        A row for each mover, or each of `pairs`; ``fraction`` is that of the angle.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As `translate`; `angle` beyond 2 pi.

    Examples
    --------
    A plank that swings about its left end comes to rest on a box.

    >>> import numpy as np
    >>> import gpu_collide as gc
    >>> plank, box = gc.shapes.box((2, 0.1, 0.1)), gc.shapes.box((1, 1, 1))
    >>> at = gc.Poses.from_quat_wxyz([[1.0, 0, 1.05]], [[1, 0, 0, 0]])
    >>> block = gc.Poses.from_quat_wxyz([[1.5, 0, 0]], [[1, 0, 0, 0]])
    >>> movers, still = gc.Bodies(plank, None, at, at), gc.Bodies(box, None, block, block)
    >>> found = gc.pluecker.rotate(movers, still, np.pi / 2, [0, 1, 0], [0, 0, 1.05])
    >>> round(float(found.fraction[0] * 90), 6), gc.pluecker.Touch(found.kind[0]).name
    (14.524799, 'VF')
    """

    def motion(rows: Movers, n: int) -> Motion:
        turn = per_mover(angle, "angle", rows, n, None)
        far = np.flatnonzero((np.abs(turn) > ROUND) & np.isfinite(turn))
        if far.size:
            raise ValueError(
                f"angle: expected radians of at most 2 pi, got {turn[far[0]]:.15g} "
                f"({how_many(far.size, 'row')}, first: {first_few(far)}); pass the rest as a second turn"
            )
        turn = np.where(np.isfinite(turn), np.clip(turn, -2.0 * np.pi, 2.0 * np.pi), turn)
        return turned(turn, per_mover(axis, "axis", rows, n), per_mover(origin, "origin", rows, n))

    return trace(movers, obstacles, motion, expel, exclude_body, world, pairs, precision, backend, max_bytes,
                 check_start)  # fmt: skip


@renamed(**OLD)
def move(
    movers: Bodies,
    obstacles: Scene | Bodies,
    end: Poses | None = None,
    *,
    expel: ArrayLike | None = None,
    exclude_body: ArrayLike | None = None,
    world: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    check_start: bool = False,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Trace:
    """Each mover on its way to another pose: first it is shifted there, then turned about its own origin; it
    stays where it first touches something. Among obstacles that move, the shift takes the first half of the
    step, and the turn the second one, even where a mover has nothing to do in one of them.

    Parameters
    ----------
    movers : Bodies
        Where they start; where they go to, too, if `end` is not given.
    obstacles : Scene or Bodies
        As in `translate`.
    end : Poses of shape (n,), optional
        Where they go to. The turn is the shorter one.
    expel, exclude_body, world, pairs, check_start, precision, backend, max_bytes
        As in `translate`.

    Returns
    -------
    Trace
        A row for each mover, or each of `pairs`. ``part`` says in which part it ended, ``fraction`` how much
        of that is done: obstacles are at ``poses_at((part + fraction) / 2)`` then; ``poses`` are where the
        movers are now.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As `translate`.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0.5]], [[1, 0, 0, 0]])
    >>> end = gc.Poses.from_screw([0, 0, 1], [0, 0, 0], 1.2, 0.0, start)  # a turn on the spot
    >>> wall = gc.Poses.from_quat_wxyz([[0, 1.1, 0]], [[1, 0, 0, 0]])
    >>> box = gc.shapes.box()
    >>> found = gc.pluecker.move(gc.Bodies(box, None, start, end), gc.Bodies(box, None, wall, wall))
    >>> found.part, (found.fraction * 1.2).round(6)
    (array([1], dtype=uint8), array([0.227799]))
    """
    if not isinstance(movers, Bodies):
        raise TypeError(
            f"movers: expected gpu_collide.Bodies, got {type(movers).__name__}; points have no pose"
        )
    if end is not None:
        movers = movers.moved(movers.start, checked_end(end, len(movers)))
    refuse_spins(movers, "movers")

    def motion(rows: Movers, n: int) -> Motion:
        first, last = movers.start, movers.given_end
        goes = (first.valid & last.valid)[rows.mover]
        way = np.where(goes[:, None], last.position[rows.mover], np.nan) - rows.position
        relative = multiply(last.unit_wxyz[rows.mover], conjugate(rows.quat))
        relative = np.where(relative[:, :1] < 0.0, -relative, relative)
        sine = length(relative[:, 1:].T)
        turn = Turn(
            np.where(sine[:, None] > 0.0, relative[:, 1:] / np.where(sine > 0.0, sine, 1.0)[:, None], [1.0,
            0.0, 0.0]), None, np.column_stack([sine, relative[:, 0]]), sine > 0.0,
        )  # fmt: skip
        return Motion(way, (turn,), None, last[rows.mover])

    return trace(movers, obstacles, motion, expel, exclude_body, world, pairs, precision, backend, max_bytes,
                 check_start)  # fmt: skip
