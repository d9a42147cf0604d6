"""Arguments of `clearance`, checked, and what is made of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import as_float_array, check_bool, check_callable, check_finite, lengths_of_pairs
from gpu_collide.queries.input_warnings import warn_of_bodies
from gpu_collide.results.clearance import Clearance

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["Asked", "FINEST", "PROGRAMS", "check_tolerance", "checked", "measured"]

#: Shares of the size that may be asked for as a tolerance.
FINEST, COARSEST = 1e-13, 1e-1
PROGRAMS = ("screw", "bodies", "overlap", "clearance")


class Asked(NamedTuple):
    """What a query for clearance wants, checked.

    Attributes
    ----------
    tolerance : float
        In units of the size of a pair.
    max_distance : float or (p,) float64 ndarray
        In the caller's units, perhaps inf. Negative: whether a pair overlaps and how deep, nothing else; one
        that does not is a MISS.
    at : (k,) float64 ndarray or None
        Fractions of the step, none for the least over the step.
    regions : bool
        A row for each region of overlap.
    enough : float or (p,) float64 ndarray
        Of a pair as near as this nobody asks how near, or how deep: then the lower bound is 0. Negative:
        of none.
    """

    tolerance: float
    max_distance: Any
    at: Array | None
    regions: bool = False
    enough: Any = -1.0


def checked(
    max_distance: Any, at: Any, regions: Any, tolerance: Any, progress: Any, n_pairs: int | None
) -> Asked:
    """What a query wants, from a caller's keywords, with `n_pairs` given pairs or None."""
    asked = Asked(
        check_tolerance(tolerance),
        lengths_of_pairs(max_distance, "max_distance", n_pairs),
        _times(at),
        check_bool(regions, "regions"),
    )
    if asked.regions and asked.at is None:
        raise ValueError("regions: expected times with it, got none; pass at=0.0 for the start of the step")
    if progress is not None:
        check_callable(progress, "progress")
    return asked


def measured(engine: Any, bodies: Bodies, pairs: Array, asked: Asked, progress: Any) -> Clearance:
    """`Clearance` of pairs."""
    fields, timings = engine.clearance(bodies, pairs, asked, progress)
    found = Clearance(
        pairs=pairs,
        **fields,
        info={
            **engine.about(),
            "motion": engine.options.motion,
            "tolerance": asked.tolerance,
            "max_distance": float(np.max(asked.max_distance, initial=0.0)),
            "at": None if asked.at is None else asked.at.tolist(),
            "regions": asked.regions,
            "timings": timings,
        },
    )
    if bodies.worlds is not None:
        found.info["worlds"] = bodies.worlds
    warn_of_bodies(bodies, found.pairs, found.status[np.searchsorted(found.pair, np.arange(len(pairs)))])
    return found


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    return float(value)


def check_tolerance(value: Any) -> float:
    value = _number(value, "tolerance")
    if not FINEST <= value <= COARSEST:
        raise ValueError(
            f"tolerance: expected a share of the size of a pair from {FINEST} to {COARSEST}, got {value}"
        )
    return value


def _times(at: Any) -> Array | None:
    """The times asked for, (k,) float64, or None."""
    if at is None:
        return None
    if isinstance(at, (int, float, np.number)) and not isinstance(at, (bool, np.bool_)):
        at = [at]
    times = check_finite(as_float_array(at, "at", shape=(None,)), "at")
    if len(times) == 0:
        raise ValueError("at: expected at least one time, got none; leave it out for the least over the step")
    outside = (times < 0.0) | (times > 1.0)
    if outside.any():
        raise ValueError(f"at: expected fractions of the step in [0, 1], got {times[outside][0]}")
    return times
