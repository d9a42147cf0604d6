"""`translate`, `rotate`, `move` and `contacts`: movers against a world that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.queries.pluecker.movers import check_expel, check_movers, open_world, per_mover
from gpu_collide.queries.scene import Scene
from gpu_collide.results.result import Status
from gpu_collide.results.trace import Trace

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, Precision
    from gpu_collide.bodies.poses import Bodies, Poses

__all__ = ["contacts", "move", "rotate", "translate"]


def translate(
    movers: Bodies | ArrayLike,
    world: Scene | Bodies,
    vector: ArrayLike,
    *,
    expel: ArrayLike | None = None,
    own: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Trace:
    """How far each mover may go along a straight way before it touches something, and what that is.

    Movers do not see each other: each goes through the world alone.

    Parameters
    ----------
    movers : Bodies, or (n, 3) array_like
        Bodies, whose end poses are not looked at; or points, whose ways are rays.
    world : Scene or Bodies
        What stands still: a `Scene` at rest, prepared once for many queries; or bodies, of which the start poses
        count. Rules of a scene do not apply to movers.
    vector : (n, 3) or (3,) array_like
        The way of each mover, or of all.
    expel : float or (n,) array_like, optional
        Thickness of the zone around obstacles that no mover enters; one that is in it may only go away.
        Default: the bound on the error of the numbers at hand; it may not be less. See Notes.
    own : (n,) array_like of int, optional
        Body of the world that each mover is itself, and does not meet; -1: none.
    pairs : (p, 2) array_like of int, optional
        Rows (mover, body of the world): then there is an answer for each of them, about this body alone.
    precision, backend, max_bytes
        As in `gpu_collide.collide`. With a `Scene` as world, those of the scene; they are not to be given then.

    Returns
    -------
    Trace
        A row for each mover, or each of `pairs`.

    Raises
    ------
    TypeError, ValueError
        Arguments of the wrong kind, before anything is computed.
    MemoryLimitError
        The world, or the work on one mover, does not fit `max_bytes`.
    BackendUnavailableError
        The backend asked for is not there.

    Warns
    -----
    RuntimeWarning
        Bodies of the world with invalid poses; they are not there.

    Notes
    -----
    A mover stops `expel` before the first thing that it would touch, measured along the normal, and never goes
    beyond, so that moves can follow each other for ever without anything sinking into anything. Faces are
    touched from their front only, unless the mesh is ``two_sided``: a mover that starts inside an obstacle may
    leave it. The default of `expel` is some 256 roundings of the largest coordinate involved (position, way, sizes).

    Examples
    --------
    >>> import gpu_collide as gc
    >>> box = gc.shapes.box()
    >>> at = gc.Poses.from_quat_wxyz([[0, 0, 2]], [[1, 0, 0, 0]])
    >>> ground = gc.Poses.identity(1)
    >>> found = gc.pluecker.translate(gc.Bodies(box, None, at, at), gc.Bodies(box, None, ground, ground), [0, 0, -4])
    >>> round(float(found.fraction[0]), 9), found.poses.position.round(9)
    (0.25, array([[0., 0., 1.]]))
    """

    def motion(movers, n, bodies):
        way = per_mover(vector, "vector", movers, n)
        return way, None, way

    return _trace(movers, world, motion, expel, own, pairs, precision, backend, max_bytes)


def rotate(
    movers: Bodies | ArrayLike,
    world: Scene | Bodies,
    angle: ArrayLike,
    axis: ArrayLike,
    origin: ArrayLike,
    *,
    expel: ArrayLike | None = None,
    own: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Trace:
    raise NotImplementedError


def move(*args: Any, **kw: Any) -> Trace:
    raise NotImplementedError


def contacts(*args: Any, **kw: Any) -> Any:
    raise NotImplementedError


def _trace(movers, world, motion, expel, own, pairs, precision, backend, max_bytes) -> Trace:
    """`Trace` of movers of which ``motion(movers, n, bodies)`` tells the way, the turn, and both for their sizes."""
    engine = _engine(world, precision, backend, max_bytes)
    with open_world(world) as (bodies, rules, resident):
        rows = check_movers(movers, own, pairs, bodies)
        n = len(movers)
        way, turn, reach = motion(rows, n, bodies)
        made = engine.world(bodies, rules, resident)
        finite = np.isfinite(reach).all(axis=1)
        rows = replace_moves(rows, finite)
        with np.errstate(invalid="ignore", over="ignore"):
            far = np.abs(rows.position - made.shift).max(axis=1, initial=0.0)
            far = far + np.where(finite, np.abs(reach).max(axis=1, initial=0.0), 0.0)
        rows = check_expel(expel, rows, n, far, bodies, engine.precision)
        way = None if way is None else np.where(rows.moves[:, None], way, 0.0)
        found = engine.trace(made, rows, way, turn)
    return _result(rows, finite, found, way, engine)


def replace_moves(rows, finite):
    from dataclasses import replace

    return replace(rows, moves=rows.moves & finite)


def _engine(world, precision, backend, max_bytes):
    if isinstance(world, Scene):
        for name, value in (("precision", precision), ("backend", backend), ("max_bytes", max_bytes)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected nothing with a Scene as world, which has its own, got {value!r}; give it to "
                    "the Scene"
                )
        options, where = world.options, world.backend
    else:
        options = Options.checked(
            precision="mixed" if precision is None else precision,
            backend="auto" if backend is None else backend, max_bytes=max_bytes,
        )  # fmt: skip
        where = get_backend(options.backend, options.precision)
    if where.kind == "reference":
        from gpu_collide.reference.pluecker import Reference

        return Reference()
    from gpu_collide.pipeline.pluecker import Pluecker

    return Pluecker(where, options.precision, options.max_bytes)


def _result(rows, finite, found, way, engine) -> Trace:
    moved = rows.moves
    hit = moved & (found["kind"] > 0)
    status = np.where(hit, Status.HIT, Status.MISS).astype(np.uint8)
    status[~moved] = Status.UNRESOLVED
    status[~(rows.valid & finite)] = Status.INVALID_INPUT
    fraction = np.where(moved, found["fraction"], 0.0)
    position = rows.position + way * fraction[:, None]
    return Trace(
        status=status, fraction=fraction, part=found["part"], kind=found["kind"], body=found["body"],
        feature_a=found["feature_a"], feature_b=found["feature_b"], point=found["point"],
        normal=found["normal"], position=position, quat_wxyz=rows.quat, expel=rows.zone, info=engine.about(),
    )  # fmt: skip
