"""`clearance`: how near the bodies of each pair come during a step, or along a recording, when, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._options import Options, Tuning
from gpu_collide._validate import check_bool, check_pairs, lengths_of_pairs
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies, check_bodies
from gpu_collide.bodies.refusals import check_motion, refuse_ends_in
from gpu_collide.bodies.rules import check_rules
from gpu_collide.queries.clearance_arguments import (
    PROGRAMS,
    check_tolerance,
    checked,
    measured,
)
from gpu_collide.queries.collide import refuse_rules, warn_of_invalid_in
from gpu_collide.queries.compounds import for_compounds
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.near_misses import Recorded, near_misses
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.results.near_misses import NearMisses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_collide._types import ArrayLike, BackendName, MotionName, Precision, Progress
    from gpu_collide.results.clearance import Clearance

__all__ = ["clearance"]


@overload
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
) -> Clearance: ...


@overload
def clearance(
    bodies: Recorded,
    *,
    max_distance: float,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    tolerance: float = 1e-9,
    motion: MotionName = "relative",
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
    progress: Progress | None = None,
    max_speed: float | None = None,
    max_turn: float | None = None,
    frames_per_batch: int | None = None,
    stream: Literal[False] = False,
) -> NearMisses: ...


@overload
def clearance(
    bodies: Recorded,
    *,
    max_distance: float,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    tolerance: float = 1e-9,
    motion: MotionName = "relative",
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
    progress: Progress | None = None,
    max_speed: float | None = None,
    max_turn: float | None = None,
    frames_per_batch: int | None = None,
    stream: Literal[True],
) -> Iterator[NearMisses]: ...


@for_compounds
@within_memory
def clearance(
    bodies: Bodies | Recorded,
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
    max_speed: float | None = None,
    max_turn: float | None = None,
    frames_per_batch: int | None = None,
    stream: bool = False,
) -> Clearance | NearMisses | Iterator[NearMisses]:
    """How near the bodies of each pair come to each other during a step, or a recording, when, and where.

    The least distance of their surfaces over the whole step, with a proof that they are never nearer: nothing
    is missed between samples, since there are none. Or, with `at`, the distance at some times. Of a recording
    all near misses: the least gap of each pass of two bodies.

    Parameters
    ----------
    bodies : Bodies or Recording
        Shapes and start and end poses; or bodies at many times. With a recording `max_distance` has to be
        finite, and there are no `pairs`, `still_pairs`, `at` or `regions`.
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
        Called as ``progress(rows_done, rows)``; of a recording as ``progress(steps_done, steps)``.
    max_speed, max_turn, frames_per_batch
        Of a recording only, as in `collide_trajectories`: who has jumped, and how many steps are looked at
        together, which does not change the result.
    stream : bool, optional
        Of a recording only: return an iterator of results, one for each so many steps, which
        `NearMisses.concatenate` joins.

    Returns
    -------
    Clearance
        Ordered by pair, then time; points and normals in the world frame. Of a recording `NearMisses`, or an
        iterator of them.

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

    Of meshes with a rounding radius it is that of the rounded surfaces: the distance of the meshes, less both
    radii. With `at` it is below 0 where rounded surfaces overlap, and exact; where the meshes do as well, the
    depth is that of the meshes and both radii (docs/decisions/0139).

    A pair that meets is told with the first time at which the distance falls to 1e-11 of the size. `collide`
    has all contacts of such pairs.

    The depth of an overlap is how far B has to move along the normal, so that the surfaces only touch: of two
    convex bodies the least translation that takes them apart. Other bodies may overlap in several regions;
    each has the least depth of features that are past each other in it, and the pair that of its deepest
    region. To move B so is right to first order there; what else overlaps may get deeper by it. A region in
    which no two features are past each other has no features (`Kind.NONE`): it is as deep as it reaches, or
    where a body goes clean through another, as the whole bodies have to move (docs/decisions/0114).

    Along a recording a pass is a run of steps in each of which two bodies come within `max_distance`, and
    between which, at the frames, they are; steps in which neither moves do not interrupt it, and make none.
    Its row is that of its nearest step, the earliest of equal ones, as `clearance` of that step has it
    (docs/decisions/0119).

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

    Along a recording, a box passes another:

    >>> way = [[[0, 0, 0], [x, 1.5, 0]] for x in (-3, -2, 3)]
    >>> passing = {"time": [10, 11, 12], "id": [7, 8], "position": way, "quat_wxyz": [[[1, 0, 0, 0]] * 2] * 3}
    >>> found = gc.clearance(gc.Recording.from_arrays(passing, meshes=gc.shapes.box()), max_distance=1.0)
    >>> found.id_a.tolist(), found.id_b.tolist(), found.gap.round(9).tolist(), found.step.tolist()
    ([7], [8], [0.5], [1])
    """
    steps = {"max_speed": max_speed, "max_turn": max_turn, "frames_per_batch": frames_per_batch}
    if isinstance(bodies, Recorded):
        _refuse("a Recording", pairs=pairs, at=at, regions=regions or None, still_pairs=still_pairs or None)
        tolerance, limit = check_tolerance(tolerance), lengths_of_pairs(max_distance, "max_distance", None)
        if limit == np.inf:
            raise ValueError(
                "max_distance: expected a finite length with a Recording, got inf; pass how near counts"
            )
        told_of = {
            "motion": motion, "precision": precision, "backend": backend, "max_bytes": max_bytes,
            "world": world, "group": group, "mask": mask, "ignore": ignore, **steps,
        }  # fmt: skip
        parts = near_misses(bodies, tolerance, limit, progress, told_of)
        return parts if check_bool(stream, "stream") else NearMisses.concatenate(parts)
    _refuse("Bodies, which have one step", **steps, stream=stream or None)
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
    asked = checked(max_distance, at, regions, tolerance, progress, None if pairs is None else len(pairs))
    everything = pairs is None and asked.max_distance == np.inf
    options = Options.checked(
        motion=motion, precision=precision, backend=backend, max_bytes=max_bytes,
        tuning=Tuning(broad_phase="off") if everything else None,
    )  # fmt: skip
    check_motion(bodies, options.motion)
    options.check_meshes(bodies.meshes, of_step=False)
    engine = engine_on(get_backend(options.backend, options.precision, PROGRAMS), options)
    if pairs is None:
        margin = 0.0 if everything else asked.max_distance
        some = gathered(open_search(engine, bodies, rules, margin=margin))
    else:
        some = pairs
        warn_of_invalid_in(bodies, some)
    refuse_ends_in(bodies, some, "bodies", "clearance")
    return measured(engine, bodies, some, asked, progress)


def _refuse(given: str, **options: Any) -> None:
    """Raise `TypeError` if an option was given that goes with the other kind of bodies only."""
    for name, value in options.items():
        if value is not None:
            raise TypeError(f"{name}: expected none with {given}, got {value!r}; leave it out")
