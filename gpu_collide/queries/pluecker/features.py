"""Arguments of the primitives checked: points, polygons, edges, turns, and the zone that goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._options import Options
from gpu_collide._validate import as_float_array, check_finite, first_few, how_many
from gpu_collide.backends import sources

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, Precision

__all__ = [
    "check_broadcast", "default_expel", "normals", "polygons", "rows", "turn", "with_normals", "zone",
]  # fmt: skip


#: Half a turn, and what float32 makes of it.
HALF_ROUND = float(np.float32(np.pi))


def default_expel(size: Any, precision: Precision = "mixed") -> Any:
    """Default thickness of the zone around obstacles, which protects against rounding.

    Parameters
    ----------
    size : float or array_like
        The largest coordinate without sign that takes part: of positions, features, ways and the axis, in the
        frame in which they are given.
    precision : {"mixed", "double", "single"}, optional

    Returns
    -------
    float or ndarray
        256 roundings of `size`: 5.7e-14 of it, in single 3.1e-5.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> round(gc.pluecker.default_expel(1000.0) * 1e12)
    57
    """
    options = Options.checked(precision=precision)
    c = sources.constants(options.precision)
    most = check_finite(np.abs(as_float_array(size, "size", shape=(...,))), "size")
    zone = most * (float(c["GC_ZONE_DEFAULT"]) * float(c["GC_ROUNDING"]))
    return zone if zone.ndim else float(zone)


def rows(obj: Any, name: str, *tail: int) -> Array:
    return check_finite(as_float_array(obj, name, shape=(..., *tail)), name)


def polygons(obj: Any) -> Array:
    polygon = check_finite(as_float_array(obj, "polygon", shape=(..., None, 3)), "polygon")
    if polygon.shape[-2] < 3:
        raise ValueError(
            f"polygon: expected shape (..., corners, 3) with at least 3 corners, got {polygon.shape}"
        )
    return polygon


def check_broadcast(given: dict[str, Array]) -> None:
    """Shapes fit each other, without the axes that belong to one element."""
    leads = {
        name: array.shape[: -(1 + (name in ("polygon", "edge", "still")))] for name, array in given.items()
    }
    try:
        np.broadcast_shapes(*leads.values())
    except ValueError:
        raise ValueError(
            f"{', '.join(given)}: expected shapes that broadcast against each other, got "
            + ", ".join(str(given[name].shape) for name in given)
        ) from None


def turn(angle: Any, axis: Any, origin: Any) -> tuple[Array, Array, Array]:
    """Angles, unit axes and origins, of one shape."""
    angles = check_finite(as_float_array(angle, "angle", shape=(...,)), "angle")
    if (np.abs(angles) > HALF_ROUND).any():
        raise ValueError(
            f"angle: expected radians from -pi to pi, got {angles.flat[np.argmax(np.abs(angles))]}; split "
            "the turn in two"
        )
    angles = np.clip(angles, -np.pi, np.pi)
    axes, origins = _directions(axis, "axis"), rows(origin, "origin", 3)
    try:
        shape = np.broadcast_shapes(angles.shape, axes.shape[:-1], origins.shape[:-1])
    except ValueError:
        raise ValueError(
            "angle, axis, origin: expected shapes (...,), (..., 3), (..., 3) that broadcast against each "
            f"other, got {angles.shape}, {axes.shape}, {origins.shape}"
        ) from None
    return (
        np.broadcast_to(angles, shape),
        np.broadcast_to(axes, (*shape, 3)),
        np.array(np.broadcast_to(origins, (*shape, 3))),
    )


def _directions(obj: Any, name: str, *tail: Any) -> Array:
    """Unit vectors along those given."""
    rows = check_finite(as_float_array(obj, name, shape=(..., *tail, 3)), name)
    most = np.abs(rows).max(axis=-1, initial=0.0, keepdims=True)
    none = np.flatnonzero(most == 0)
    if none.size:
        raise ValueError(
            f"{name}: expected vectors with a length, got zero in {how_many(none.size, 'row')}, "
            f"first: {first_few(none)}"
        )
    rows = rows / most  # neither too large nor too small to be squared
    return rows / np.sqrt(np.sum(rows * rows, axis=-1, keepdims=True))


def normals(obj: Any, name: str) -> Array:
    if obj is None:
        return np.zeros((0, 3))
    normals = _directions(obj, name, None)
    if not 1 <= normals.shape[-2] <= 2:
        raise ValueError(f"{name}: expected shape (..., faces, 3) with 1 or 2 faces, got {normals.shape}")
    return normals


def with_normals(given: dict[str, Array], name: str, normals: Array) -> tuple[Array, Array]:
    """Ends and normals of edges, of one shape."""
    ends = given[name]
    try:
        shape = np.broadcast_shapes(ends.shape[:-2], normals.shape[:-2])
    except ValueError:
        raise ValueError(
            f"{name}_normals: expected a shape that broadcasts against that of {name}, {ends.shape}, got "
            f"{normals.shape}"
        ) from None
    return np.broadcast_to(ends, (*shape, 2, 3)), np.broadcast_to(normals, (*shape, *normals.shape[-2:]))


def zone(given: dict[str, Array], expel: Any, options: Options, turns: bool = False) -> tuple[float, float]:
    """Thickness of the zone and what counts beside a border; brings all lengths in `given` near one.

    Multiplied by a power of two, which changes no digit: the kernels multiply three of them. Where a turn
    meets a border is known up to rounding, which counts beside it whatever the zone is.
    """
    most = max(float(max(a.max(initial=0.0), -a.min(initial=0.0))) for a in given.values())
    least = float(default_expel(most, options.precision))
    zone = least if expel is None else _length(expel)
    power = int(np.frexp(most)[1]) if most else 0
    if abs(power) > (2 if options.precision == "single" else 30):
        for name, array in given.items():
            given[name] = np.ldexp(array, -power)
        zone, least = float(np.ldexp(zone, -power)), float(np.ldexp(least, -power))
    c = sources.constants(options.precision)
    real = np.float32 if options.precision == "single" else np.float64
    with np.errstate(over="ignore"):
        beside = max(zone, least) if turns else zone
        zones = real(zone), real(beside * float(c["GC_ZONE_LATERAL"]))
    if not np.isfinite(zones[0]):
        raise ValueError(f"expel: expected a length comparable to those of the features, got {expel}")
    return float(zones[0]), float(zones[1])


def _length(expel: Any) -> float:
    if isinstance(expel, (bool, np.bool_)) or not isinstance(expel, (int, float, np.integer, np.floating)):
        raise TypeError(f"expel: expected a number or None, got {type(expel).__name__}")
    try:
        length = float(expel)
    except OverflowError:  # an integer that no float holds
        length = np.inf
    if not (length >= 0 and np.isfinite(length)):
        raise ValueError(f"expel: expected a finite length, zero or more, got {expel}")
    return length
