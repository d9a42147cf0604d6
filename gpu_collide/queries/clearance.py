"""`clearance`: how near the bodies of each pair come during a step, when, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._options import Options, Tuning
from gpu_collide._validate import (
    as_float_array,
    check_bool,
    check_callable,
    check_finite,
    check_pairs,
    lengths_of_pairs,
)
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies, check_bodies, check_motion
from gpu_collide.bodies.rules import check_rules
from gpu_collide.queries.collide import refuse_rules, warn_of_invalid_in
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.input_warnings import warn_of_bodies
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.results.clearance import Clearance

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, MotionName, Precision, Progress

__all__ = ["Asked", "clearance"]

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
        In the caller's units, perhaps inf.
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


@within_memory
def clearance(
    bodies: Bodies,
    pairs: ArrayLike | None = None,
    *,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    still_pairs: bool = False,
    max_distance: ArrayLike = np.inf,
    at: ArrayLike | None = None,
    regions: bool = False,
    tolerance: float = 1e-9,
    motion: MotionName = "relative",
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
    progress: Progress | None = None,
) -> Clearance:
    """How near the bodies of each pair come to each other during a step, when, and where.

    The least distance of their surfaces over the whole step, with a proof that they are never nearer: nothing
    is missed between samples, since there are none. Or, with `at`, the distance at some times.

    Parameters
    ----------
    bodies : Bodies
        Shapes and start and end poses.
    pairs : (p, 2) array_like of int, optional
        Rows (A, B) of body numbers; duplicates are fine. Default: with a finite `max_distance` the pairs that
        may come so near, as the broad phase finds them, else all pairs that the rules allow; A < B, in
        lexicographic order.
    world, group, mask, ignore, still_pairs
        Which pairs are made, as in `find_pairs`; not together with `pairs`.
    max_distance : float or (p,) array_like of float, optional
        Pairs that stay farther apart are told as such, as MISS without a place, which takes far less than
        their distance would: one length for all, or one for each of `pairs`. Unit of the poses. Within the
        tolerance of it either may be told.
    at : float or (k,) array_like of float, optional
        Fractions of the step in [0, 1]: the distance at these times instead of the least over the step, a
        row for each pair and time. Where bodies overlap then it is negative: how deep.
    regions : bool, optional
        With `at`, of pairs that overlap a row for each region of overlap, the deepest first, in place of one
        for the deepest.
    tolerance : float, optional
        How far `Clearance.lower_bound` may lie below `Clearance.distance`, in units of the size of the pair
        (the larger bounding radius); from 1e-13 to 0.1. Never finer than 4e-14 (``single``: 8e-6) of
        size and way, which is rounding.
    motion : {"relative", "body"}, optional
        How bodies move, as in `collide`: the pair along one screw, or each body on its own.
    precision : {"mixed", "double", "single"}, optional
        ``mixed`` and ``double`` are nearly the same here: float64, with boxes of faces in float32 or float64.
        ``single`` is float32 throughout.
    backend : {"auto", "cpu", "opencl", "cuda", "reference"}, optional
        As in `collide`. ``reference`` looks at all pairs of features: for meshes of few faces.
    max_bytes : int, optional
        Limit of the working memory; the batch is cut into pieces that fit, with the same result. Default 2
        GiB.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    Clearance
        Ordered by pair, then time; points and normals in the world frame.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed.
    MemoryLimitError
        A single pair does not fit `max_bytes`, or there are so many pairs that the machine has no memory for
        their result.
    BackendUnavailableError
        The backend is not available; the message says what to install.

    Warns
    -----
    RuntimeWarning
        Bodies of invalid pose: without `pairs` they are in none, pairs given with them become INVALID_INPUT.

    Notes
    -----
    Distance is that of surfaces: of faces, edges and vertices. Solids that overlap when the step begins, as
    `collide` understands it, have none, and are INITIAL_OVERLAP; with `at` their distance is less the depth
    of the overlap, if both are closed and not two-sided. A body inside another that is hollow, or open, has
    the distance of their surfaces. Surfaces that cross at the start without an overlap in that sense, such as
    sheets, are a HIT at time 0.

    A pair that meets is told with the first time at which the distance falls to 1e-11 of the size. `collide`
    has all contacts of such pairs.

    The depth of an overlap is how far B has to move along the normal, so that the surfaces only touch: of two
    convex bodies the least translation that takes them apart. Other bodies may overlap in several regions;
    each has the least depth of features that are past each other in it, and the pair that of its deepest
    region. To move B so is right to first order there; what else overlaps may get deeper by it. A region in
    which no two features are past each other has no features (`Kind.NONE`): it is as deep as it reaches, or
    where a body goes clean through another, as the whole bodies have to move (docs/decisions/0114).

    Branch and bound over times and over both trees of faces, with lower bounds of second order
    (docs/decisions/0112); so the cost grows with the logarithm of the tolerance.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 1.5, 0]], [[1, 0, 0, 0]] * 2)
    >>> end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 1.5, 0]], [[1, 0, 0, 0]] * 2)
    >>> passes = gc.Bodies(gc.shapes.box(), None, start, end)
    >>> found = gc.clearance(passes, [[0, 1]])
    >>> round(float(found.distance[0]), 9), found.normal[0].round(9).tolist()
    (0.5, [0.0, 1.0, 0.0])
    >>> gc.clearance(passes, [[0, 1]], at=[0, 0.5]).distance.round(9).tolist()
    [2.061552813, 0.5]
    >>> near = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.75, 0, 0]], [[1, 0, 0, 0]] * 2)
    >>> gc.clearance(gc.Bodies(gc.shapes.box(), None, near, near), [[0, 1]], at=0.0).distance.tolist()
    [-0.25]
    """
    check_bodies(bodies)
    rules: Any = None
    told = (bodies.world if world is None and pairs is None else world, group, mask, ignore)
    if pairs is None or still_pairs is not False or any(rule is not None for rule in told):
        rules = check_rules(len(bodies), *told, still_pairs)
    if pairs is not None:
        if rules is not None:
            refuse_rules(world=world, group=group, mask=mask, ignore=ignore,
                         still_pairs=rules.still_pairs or None)  # fmt: skip
        pairs = check_pairs(pairs, len(bodies))
    most = lengths_of_pairs(max_distance, "max_distance", None if pairs is None else len(pairs))
    asked = Asked(_tolerance(tolerance), most, _times(at), check_bool(regions, "regions"))
    if asked.regions and asked.at is None:
        raise ValueError("regions: expected times with it, got none; pass at=0.0 for the start of the step")
    if progress is not None:
        check_callable(progress, "progress")
    everything = pairs is None and most == np.inf
    options = Options.checked(
        motion=motion, precision=precision, backend=backend, max_bytes=max_bytes,
        tuning=Tuning(broad_phase="off") if everything else None,
    )  # fmt: skip
    check_motion(bodies, options.motion)
    engine = engine_on(get_backend(options.backend, options.precision, PROGRAMS), options)
    if pairs is None:
        margin = 0.0 if everything else asked.max_distance
        some = gathered(open_search(engine, bodies, rules, margin=margin))
    else:
        some = pairs
        warn_of_invalid_in(bodies, some)
    fields, timings = engine.clearance(bodies, some, asked, progress)
    found = Clearance(
        pairs=some,
        **fields,
        info={
            **engine.about(),
            "motion": options.motion,
            "tolerance": asked.tolerance,
            "max_distance": float(np.max(most, initial=0.0)),
            "at": None if asked.at is None else asked.at.tolist(),
            "regions": asked.regions,
            "timings": timings,
        },
    )
    if bodies.worlds is not None:
        found.info["worlds"] = bodies.worlds
    warn_of_bodies(bodies, found.pairs, found.status[np.searchsorted(found.pair, np.arange(len(some)))])
    return found


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    return float(value)


def _tolerance(value: Any) -> float:
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
