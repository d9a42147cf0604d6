"""Warnings of what can hardly be meant, at the caller's line. `gpu_collide/bodies/plausibility.py` says
what that
is, this file when it is looked at."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import warn_caller
from gpu_collide.bodies import plausibility
from gpu_collide.bodies.quaternion import rotate
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, FloatArray
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["warn_of_bodies", "warn_of_recording"]

_SAID: weakref.WeakKeyDictionary[Mesh, set[str]] = weakref.WeakKeyDictionary()


def _warn_once(mesh: Mesh, kind: str, doubt: str | None) -> None:
    """Warn of a doubt, unless that was done before with this mesh: a loop is not to repeat it."""
    if doubt is None:
        return
    said = _SAID.setdefault(mesh, set())
    if kind not in said:
        said.add(kind)
        warn_caller(doubt)


def warn_of_bodies(bodies: Bodies, pairs: Any, status: Any) -> None:
    """Warn of bodies that can hardly be meant so.

    The first row tells that nearly nothing is in doubt: that takes less than a microsecond. What lies on a
    device is not copied for it.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) array
    status : (p,) array
        Their outcomes.
    """
    start, end = bodies.start, bodies.end
    if not (start.on_device or end.on_device) and len(bodies):
        if -plausibility.NO_TURN <= start.unit_wxyz.item(0) <= plausibility.NO_TURN:
            good = bodies.valid
            unit = np.stack([start.unit_wxyz[good], end.unit_wxyz[good]])
            doubt = plausibility.order_doubt(unit, end.position[good] - start.position[good])
            _warn_once(bodies.meshes[0], "order", doubt)
        if type(status) is np.ndarray and len(status) and status.item(0) == Status.INITIAL_OVERLAP:
            if (status == Status.INITIAL_OVERLAP).all():
                _warn_once(bodies.meshes[0], "scale", plausibility.overlap_doubt(bodies, pairs))


def warn_of_recording(movers: Bodies, static: Bodies | None, window: Any, times: FloatArray) -> None:
    """Warn of a recording that can hardly be meant so, before the work.

    Parameters
    ----------
    movers : Bodies
        Of which the poses do not count.
    static : Bodies, optional
    window : tuple of arrays
        The first frames: positions (t, n, 3), quaternions, unit quaternions (t, n, 4), and which are valid.
    times : (k,) float64
        Of all frames.
    """
    position, _, unit, valid = window
    radius = np.array([mesh.radius for mesh in movers.meshes])[movers.shape]
    center = np.array([mesh.center for mesh in movers.meshes])[movers.shape]
    middle: Array = rotate(unit, np.broadcast_to(center, position.shape)) + position
    middle = np.where(valid[..., None], middle, np.nan)
    found = [
        plausibility.scale_doubt(radius, middle, _extent(static)),
        plausibility.time_doubt(times, middle, radius),
    ]
    good = valid.all(axis=0)
    if good.any() and len(position) > 1:
        found.append(plausibility.order_doubt(unit[:, good], (position[-1] - position[0])[good]))
    for doubt in found:
        if doubt is not None:
            warn_caller(doubt)


def _extent(static: Bodies | None) -> float | None:
    """Radius of all that stands still together."""
    if static is None or not len(static):
        return None
    size = np.array([mesh.radius for mesh in static.meshes])[static.shape]
    middle = static.start.apply(np.array([mesh.center for mesh in static.meshes])[static.shape])
    center = 0.5 * (middle.min(axis=0) + middle.max(axis=0))
    return float((np.linalg.norm(middle - center, axis=1) + size).max())
