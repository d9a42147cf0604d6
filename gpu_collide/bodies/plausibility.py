"""Detection of implausible input: units of length, the order of quaternions, units of time.

Each function says in a sentence what can hardly be meant, with the remedy, or None. They are asked before the
work or behind it, never in its way: nothing here changes an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.quaternion import rotate

if TYPE_CHECKING:
    from gpu_collide._types import Array, FloatArray
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["NO_TURN", "order_doubt", "overlap_doubt", "scale_doubt", "time_doubt"]

UNITS = (
    "are all meshes and positions in one unit, not millimetres beside metres? mesh.scaled(0.001) makes metres"
)

MANY = 8  # bodies from which on it matters that each overlaps each other
NEARER = 100.0  # sizes of the smaller body of each pair in the distances of their middles
NO_TURN = 0.1  # |w| of what may be another component
FEW_ROWS, ROWS = 4, 8  # turns that say something, if all are the same, or about different axes
SPREAD = 0.02  # of axes: the second moment of their directions, at most 1/2
LATE = 1e11  # seconds since 1970 in the year 5138, milliseconds in March 1973
LONG_STEPS = 4.0, 200.0  # seconds from frame to frame that are milliseconds rather
SLOW = 0.25  # sizes a step: so finely nothing is sampled in steps of several seconds
TOO_LARGE = 10.0  # sizes of all that stands still, above which a moving body is no neighbour of it


def scale_doubt(radius: FloatArray, position: FloatArray, still_extent: float | None = None) -> str | None:
    """Why moving bodies of these sizes are hardly meant to be at these places, or None.

    Parameters
    ----------
    radius : (n,) float64
        Of the moving bodies.
    position : (..., 3) float64
        Where their middles are, over any number of times; rows that are not finite are passed over.
    still_extent : float, optional
        Radius of all that stands still together.

    Returns
    -------
    str or None
    """
    position = position.reshape(-1, 3)
    position = position[np.isfinite(position).all(axis=1)]
    if not len(position) or not len(radius):
        return None
    spread = 0.5 * float(np.linalg.norm(np.ptp(position, axis=0)))
    typical = float(np.median(radius))
    if len(radius) >= MANY and 0 < spread < typical:
        return (
            f"{len(radius)} moving bodies of radius {typical:.3g} are all within {spread:.3g} of one place, "
            f"so that each overlaps each other, which takes long and means little: {UNITS}"
        )
    largest = float(radius.max())
    if still_extent is not None and largest > TOO_LARGE * still_extent > 0:
        return (
            f"a moving body has the radius {largest:.3g}, while all that stands still has "
            f"{still_extent:.3g}: {UNITS}"
        )
    return None


def overlap_doubt(bodies: Bodies, pairs: Array) -> str | None:
    """Why bodies all pairs of which overlap are hardly meant to be so large, or None."""
    radius = np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape]
    middle = np.array([mesh.center for mesh in bodies.meshes])[bodies.shape]
    apart = 0.0
    for when in (bodies.start,) if bodies.start is bodies.end else (bodies.start, bodies.end):
        place = rotate(when.unit_wxyz, middle) + when.position
        apart = max(apart, float(np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1).max()))
    smaller = float(radius[pairs].min())
    if not 0 < NEARER * apart < smaller:
        return None
    return (
        f"all {len(pairs):,} pairs overlap, of bodies of radius {smaller:.3g} and more that are never "
        f"farther than {apart:.3g} from each other: {UNITS}"
    )


def order_doubt(unit: FloatArray, way: FloatArray) -> str | None:
    """Why quaternions, w first, hardly have w first, or None.

    Parameters
    ----------
    unit : (k, n, 4) float64
        Of n bodies at k times.
    way : (n, 3) float64
        How far each moves in all.
    """
    rows = unit.reshape(-1, 4)
    first = float(np.abs(rows[:, 0]).max(initial=0.0))
    if not first <= NO_TURN or len(rows) < FEW_ROWS:
        return None
    axes = rows[:, 1:]
    still = np.abs(axes[:, 1:]).max() == 0 or np.abs(axes[:, :2]).max() == 0  # all about x, or all about z
    if first == 0 and still and unit.shape[1] > 1:
        about_z = bool(axes[0, 2])
        x, y, z = way.sum(axis=0)
        if about_z and x < 0 and abs(x) >= max(abs(y), abs(z)):
            return None  # cars that drive along -x
        given, other = ("(0, 0, 0, 1)", "w last") if about_z else ("(0, 1, 0, 0)", "w first")
        name = "from_quat_xyzw" if about_z else "from_quat_wxyz"
        what = f"all bodies are turned half round, by {given} with w first"
        return f"{what}; is no turn meant? Then pass quaternions, which have {other}, to Poses.{name}"
    if len(rows) < ROWS:
        return None
    spread = float(np.linalg.eigvalsh(axes.T @ axes / len(rows))[1])
    if spread < SPREAD:
        return None
    return (
        f"all {len(rows):,} quaternions have a w of nearly 0, so that every body is turned half round at all "
        "times, each about another axis: is w their last number (SciPy, ROS, glTF)? Then make the poses by "
        "Poses.from_quat_xyzw (in recordings: the name quaternion_xyzw)"
    )


def time_doubt(times: FloatArray, middle: FloatArray, radius: FloatArray) -> str | None:
    """Why times are hardly seconds, or None.

    Parameters
    ----------
    times : (t,) float64
    middle : (t, n, 3) float64
        Where the middles of the bodies are then; not a number where there is none.
    radius : (n,) float64
    """
    if len(times) < 2:
        return None
    remedy = "contacts, speeds and max_speed are told in the unit of times; divide them by 1000"
    if times.max() > LATE:
        what = "milliseconds" if times.max() < 1e14 else "microseconds or nanoseconds"
        return f"times up to {times.max():.6g} look like {what} since 1970, not seconds: {remedy} or so"
    step = float(np.median(np.diff(times)))
    if len(times) < ROWS or not LONG_STEPS[0] <= step <= LONG_STEPS[1]:
        return None
    moved = np.linalg.norm(np.diff(middle, axis=0), axis=-1) / radius
    moved = moved[np.isfinite(moved) & (moved > 0)]
    if not len(moved) or np.median(moved) > SLOW:
        return None
    return (
        f"times rise by {step:.4g} a frame, in which bodies move by {np.median(moved):.2g} of their radius: "
        f"as seconds that is very slow; are they milliseconds? {remedy.capitalize()}"
    )
