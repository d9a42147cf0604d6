"""`clip`: velocities that lead into no plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._validate import as_float_array, as_int_array, first_few
from gpu_collide.backends import get_backend
from gpu_collide.queries.engine_cache import options_of
from gpu_collide.queries.sweep.characters import characters_on
from gpu_collide.results.result import Status
from gpu_collide.results.slides import ClippedVelocities

if TYPE_CHECKING:
    from gpu_collide._types import ArrayLike, BackendName, Precision

__all__ = ["clip"]


@within_memory
def clip(
    velocity: ArrayLike,
    normal: ArrayLike,
    offsets: ArrayLike,
    *,
    push: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
) -> ClippedVelocities:
    """Velocities clipped by planes: for each, the nearest one that leads into none of its planes.

    Along one plane it slides, along the crease of two, and in a corner of three it stops. It is exact, not
    iterated; and where planes stand still it is never longer than what was given.

    Parameters
    ----------
    velocity : (n, 3) array_like
    normal : (m, 3) array_like
        Unit, towards the side that is free: `Planes.normal`.
    offsets : (n + 1,) array_like of int
        Planes ``offsets[i]:offsets[i + 1]`` are those of velocity i: `Planes.offsets`.
    push : (m,) array_like, optional
        How fast each plane moves along its own normal: the least component of a velocity along it. For planes
        of moving bodies ``(planes.normal * planes.body_displacement).sum(1)``. Default: they stand still.
    precision, backend
        As in `gpu_collide.collide`.

    Returns
    -------
    ClippedVelocities

    Raises
    ------
    TypeError, ValueError
        Arguments of the wrong kind; normals that are not of length 1 within 1e-3.
    BackendUnavailableError
        The backend is not available.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> found = gc.sweep.clip([[1.0, 0, -2]], [[0, 0, 1.0], [-1, 0, 0]], [0, 2])
    >>> found.velocity.tolist(), found.active_planes.tolist()
    ([[0.0, 0.0, 0.0]], [2])
    """
    ways = as_float_array(velocity, "velocity", shape=(None, 3))
    walls = as_float_array(normal, "normal", shape=(None, 3))
    begin = as_int_array(
        offsets, "offsets", shape=(len(ways) + 1,), low=0, high=len(walls) + 1, dtype=np.int32,
        expected=f"numbers that rise from 0 to the {len(walls)} planes",
    )  # fmt: skip
    if begin[0] != 0 or begin[-1] != len(walls) or (np.diff(begin) < 0).any():
        raise ValueError(
            f"offsets: expected numbers that rise from 0 to the {len(walls)} planes, got {begin.tolist()[:5]}"
        )
    pushes = np.zeros(len(walls)) if push is None else as_float_array(push, "push", shape=(len(walls),))
    length = np.linalg.norm(walls, axis=1)
    bad = np.flatnonzero(~(np.abs(length - 1) <= 1e-3))
    if bad.size:
        raise ValueError(
            f"normal: expected directions of length 1, got {length[bad[0]]} ({bad.size} rows, first: "
            f"{first_few(bad)})"
        )
    options = options_of(precision="mixed" if precision is None else precision,
                         backend="auto" if backend is None else backend)  # fmt: skip
    where = get_backend(options.backend, options.precision, ("sweep",))
    engine = characters_on(where, options.precision, options.max_bytes)
    good = np.asarray(np.isfinite(ways).all(axis=1))
    some = np.repeat(np.arange(len(ways)), np.diff(begin))
    np.logical_and.at(good, some, np.isfinite(pushes))
    tables = np.column_stack((walls / length[:, None], np.where(np.isfinite(pushes), pushes, 0.0)))
    found, active = engine.clip(np.where(good[:, None], ways, 0.0), begin, tables)
    found[~good] = 0.0
    status = np.where(active > 0, Status.HIT, np.where(active < 0, Status.UNRESOLVED, Status.MISS))
    status[~good] = Status.INVALID_INPUT
    active = np.where(good, active, 0).astype(np.int32)
    status = status.astype(np.uint8)
    return ClippedVelocities(status=status, velocity=found, active_planes=active, info=engine.about())
