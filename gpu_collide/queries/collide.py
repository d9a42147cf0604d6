"""`collide`: every contact of many pairs of moving bodies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._options import OLD_TUNING, Distances
from gpu_collide._validate import as_numpy, check_callable, check_pairs, device_pairs, lengths_of_pairs
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies, all_valid, check_bodies
from gpu_collide.bodies.refusals import check_motion
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.narrow_phase.device_batches import Given
from gpu_collide.queries.compounds import for_compounds
from gpu_collide.queries.engine_cache import engines_of, options_of
from gpu_collide.queries.exits import check_exit, with_exits
from gpu_collide.queries.input_warnings import warn_of_bodies
from gpu_collide.queries.pairs import open_search, warn_of_invalid
from gpu_collide.results import invariants
from gpu_collide.results.report import FilterReport
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._options import Tuning
    from gpu_collide._types import (
        Array,
        ArrayLike,
        BackendName,
        ContactsWanted,
        MotionName,
        Precision,
        Progress,
        Refine,
        ResultsOn,
    )
    from gpu_collide.results.contacts import Contacts

__all__ = [
    "answer", "answer_pairs", "check_distances", "check_given", "collide", "refuse_rules",
    "warn_of_invalid_in",
]  # fmt: skip


@for_compounds
@renamed(**OLD_TUNING)
def collide(
    bodies: Bodies,
    pairs: ArrayLike | None = None,
    *,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    still_pairs: bool = False,
    tuning: Tuning | None = None,
    report: bool = False,
    motion: MotionName = "relative",
    target_distance: ArrayLike = 0.0,
    refine: Refine = "exact",
    resolution: float | None = None,
    pixel_size: float | None = None,
    min_properness: float = -0.1,
    contacts: ContactsWanted = "all",
    check_start: bool = True,
    exit: bool = False,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
    progress: Progress | None = None,
) -> Contacts:
    """Every contact between the bodies of each pair during a step.

    Both bodies move from their start to their end pose; B's motion seen from A is the screw motion between
    them (S. R. Buss, "Collision detection with relative screw motion", section 4), or what the own motions of
    both make it (`motion`). All meetings of vertices with faces and of edges with edges that face each other
    are found, not only the first.

    Parameters
    ----------
    bodies : Bodies
        Shapes and start and end poses.
    pairs : (p, 2) array_like of int, optional
        Rows (A, B) of body numbers; duplicates are fine. Default: the pairs of `find_pairs`, A < B, in
        lexicographic order, which the result holds as ``pairs``.
    world, group, mask, ignore, still_pairs
        Which pairs the broad phase makes, as in `find_pairs`; not together with `pairs`.
    tuning : Tuning, optional
        How the work is done: broad phase, filters, near faces, candidates. It never changes a result.
    report : bool, optional
        Count and time the tests: see `Contacts.report`.
    motion : {"relative", "body"}, optional
        ``relative``: a pair moves on the screw of its relative poses, which is neither body's own if both
        turn, nor the same in another pair: `motion_difference` tells how far apart the two are. ``body``:
        each body moves on its own motion, alike in every pair: along the screw between its two poses, or
        straight on and spinning if it was made by `Bodies.from_velocities`; `Bodies.poses_at` has where it
        is. Where both are the same, within rounding, so are the bits. ``body`` takes ``refine="exact"``, and
        1.7 to 3.3 times as long where both turn by 20 to 45 degrees.
    target_distance : float or (p,) array_like of float, optional
        Contact is where the gap between two bodies falls to this length, in units of the poses, or with
        `pairs` to that of the pair: all such
        places; at `toi` a pair is nearer than it for the first time. Vertices beside edges and beside
        vertices are contacts of their own then (EV, VE, VV), `local_a` and `local_b` are the closest points
        of both bodies, and `position` is A's. It takes ``refine="exact"``, and ``mixed`` or ``double``.
        Default 0: where bodies touch. See Notes, and docs/guide/distance.md.
    refine : {"exact", "segments", "pixels"}, optional
        ``exact`` solves for times to rounding and misses nothing, and is the fastest on a CPU. ``segments``
        takes edges for straight pieces between the rows of the screen and interpolates the times at which
        they cross; vertices against faces are solved. ``pixels`` is the paper's answer, to the pixel: edges
        that share pixels meet, once a pair of edges and at the earliest; of contacts that share the pixel of
        a vertex the one of highest properness is reported, which may be a neighbour of the exact one
        (docs/decisions/0015).
    resolution : float, optional
        Rows (pixels) per typical short edge, the 10th percentile of both bodies' edge lengths. Default 2 for
        ``exact``, where it changes speed only, 12 for the others. Rows are never thinner than eight times the
        rounding of the screen, which is about 6e-6 (``double``: 1e-9) of the size and of the way moved.
    pixel_size : float, optional
        The same as a length; not together with `resolution`.
    min_properness : float, optional
        Contacts below this properness, in [-1, 1], are not reported; -1 leaves out none. It is a filter: what
        is reported at one threshold is what is reported at a lower one and reaches it, bit for bit. Of
        features that meet at the same place and time only the contact of highest properness is reported.
    contacts : {"all", "first"}, optional
        ``first`` keeps the contacts at exactly the earliest time of each pair.
    check_start : bool, optional
        Also look for pairs whose solids overlap at the start, and mark them INITIAL_OVERLAP; their contacts
        are the same. Default True: two solids of which one is deep in the other need not have any contact
        while they stay so, and would be a plain MISS. It costs a few percent of the call. False leaves such
        pairs HIT or MISS by their contacts alone. See Notes for what overlap means.
    exit : bool, optional
        Also find out when the motion takes apart pairs that meet or overlap: `Contacts.exit`. Those pairs
        take about four times as long, and the result is on the host. With a `target_distance`: when they are
        farther apart than it. It takes ``refine="exact"``.
    precision : {"mixed", "double", "single"}, optional
        ``mixed`` culls in float32 and solves in float64, with the same results as ``double``; ``single`` is
        float32 throughout, for devices without float64, with errors of about 1e-5.
    backend : {"auto", "cpu", "opencl", "cuda", "reference"}, optional
        ``auto`` takes the first usable one of cuda, cpu, opencl and reference, or what the environment
        variable ``GPU_COLLIDE_BACKEND`` names. ``reference`` is slow, computes in float64 whatever
        `precision` says, and does not look at `max_bytes`.
    max_bytes : int, optional
        Limit of the working memory; the batch is cut into pieces that fit, with the same result. The result
        is not part of it. Default 2 GiB.
    results : {"auto", "host", "device"}, optional
        Where the arrays of the result are, all of them. ``host``: NumPy arrays. ``device``: on ``cuda`` CuPy
        arrays on the GPU, of which nothing is copied; other backends compute in the host's memory, and give
        NumPy arrays. ``auto`` is ``device`` if the backend is ``cuda`` and all poses, and `pairs` if given,
        came as arrays on the GPU; else ``host`` (docs/devices.md). `Contacts.to_numpy` copies to the host.
    progress : callable, optional
        Called as ``progress(pairs_done, pairs)``.

    Returns
    -------
    Contacts
        Ordered by (pair, time, kind, features); positions and normals in the world frame.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed; but wrong numbers in `pairs` that lie on a
        GPU behind it, when they are known (docs/devices.md).
    MemoryLimitError
        A single pair does not fit `max_bytes`, or the broad phase finds so many pairs that the machine has no
        memory for their result.
    BackendUnavailableError
        The backend is not available; the message says what to install.

    Warns
    -----
    RuntimeWarning
        Bodies of invalid pose, with the reason: the broad phase leaves them out, pairs given with them become
        INVALID_INPUT. More than 20 million pairs that the broad phase finds. Once for a mesh: quaternions
        that look as if w came last, and bodies a hundred times larger than their distances.

    Notes
    -----
    Without `pairs` those of the broad phase are taken block by block, so `max_bytes` does not bound how many
    there are, and neither is time bounded: 20,000 boxes in one place are 200 million pairs. The result grows
    beside the working memory, by 25 bytes a pair and 142 a contact. `find_pairs` says beforehand how many
    pairs there are, and refuses more than its own `max_bytes` holds.

    Trouble with one pair is its ``status``, not an exception: INVALID_INPUT for a pose that is not rigid or
    not finite, UNRESOLVED if an iteration cap was hit (what was found is kept), or if the motion is too long
    for the precision, or a body spins by more than 1,000 rad, and the bodies may meet on it (no
    contacts then; if they cannot meet, it is a MISS).

    Solids overlap if they go into each other by more than 1e-7 of the size of the pair, the larger bounding
    radius (``single``: 1e-4); less is touch. They do if a surface goes through the other, or if a part of one
    body lies inside a closed part of the other. Closed are parts whose edges all have as many faces on their
    left as on their right; a part turned inside out counts as one that is not, unless it is the wall of a
    cavity. Open parts have no inside: what lies within a box without a lid does not overlap it, nor do equal
    sheets in one place. On the back of an open part's faces its solid is taken to begin, unless the mesh is
    ``two_sided``. Parts thinner than 1e-5 of the size overlap from a hundredth of their thickness, and
    those too small for float64 to tell from a point once they are inside by the depth. INITIAL_OVERLAP
    outranks UNRESOLVED and HIT: ``np.isfinite(contacts.toi)`` says which pairs have contacts. Pairs that are
    UNRESOLVED for the length of their way are not looked at.

    How deep they are, and which way out is the shortest, says `clearance`:
    ``clearance(bodies, found.pairs[found.status == Status.INITIAL_OVERLAP], at=0.0)``, with ``regions=True``
    for each region of the overlap.

    With a `target_distance` above 0 contacts are closest points of the bodies whose gap falls to it, or
    stays at it. They lie inside both features, and `normal`, the direction between them, in the normal
    cones of both, closed within 1e-9; so properness is in [0, 1]. A graze within 1e-11 of the size is a
    contact, and what comes closer again is one again. Pairs nearer than it at the start are
    INITIAL_OVERLAP, unless ``check_start=False``, and have the contacts that come later; at the distance
    and coming nearer is a contact at time 0. There is none at a reflex edge, where no closest point lies,
    nor on the back of an open part's faces, unless the mesh is ``two_sided``. A distance of at most 1e-11
    of the size is touch.

    With ``exit=True`` a gap is one of more than 1e-11 of the size for more than 1e-9 of the step
    (``single``: 1e-5). Solids that overlap, or of which one is in
    the other, have none; open parts and sheets have one where their surfaces are apart, as in `clearance`
    (docs/decisions/0129).

    The modes ``segments`` and ``pixels`` may see contacts of bodies that do not meet. Broad phase and filters
    leave some of those out; of pairs that meet they leave out nothing in any mode.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    >>> end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    >>> found = gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]])
    >>> round(float(found.toi[0]), 12)
    0.666666666667
    """
    check_bodies(bodies)
    if world is None and pairs is None:
        world = bodies.world
    told = (world, group, mask, ignore)
    rules: Any = None
    if pairs is None or still_pairs is not False or any(rule is not None for rule in told):
        rules = check_rules(len(bodies), *told, still_pairs)
    given: Any = None if pairs is None else check_given(pairs, len(bodies))
    distance, distances = check_distances(target_distance, None if given is None else len(given))
    options = options_of(
        tuning=tuning, report=report, motion=motion, target_distance=distance, refine=refine,
        resolution=resolution, pixel_size=pixel_size,
        min_properness=min_properness, contacts=contacts, check_start=check_start, precision=precision,
        backend=backend, max_bytes=max_bytes, results=results,
    )  # fmt: skip
    if progress is not None:
        check_callable(progress, "progress")
    exit = check_exit(exit, options)
    if pairs is not None:
        if rules is not None:
            refuse_rules(world=world, group=group, mask=mask, ignore=ignore,
                          still_pairs=rules.still_pairs or None)  # fmt: skip
    check_motion(bodies, options.motion)
    options.check_meshes(bodies.meshes)
    engines = engines_of(get_backend(options.backend, options.precision))
    engine = engines.take(bodies.meshes, options)
    if pairs is None:
        search = open_search(engine, bodies, rules, margin=float(distance))
        found = answer(engine, bodies, search, progress)
    else:
        found = answer_pairs(engine, bodies, given, progress, distances)
    engines.give(bodies.meshes, engine)
    warn_of_bodies(bodies, found.pairs, found.status)
    return with_exits(found, bodies, options) if exit else found


def check_given(pairs: ArrayLike, n: int) -> Any:
    """`check_pairs`, but of pairs that lie on a GPU only a copy there."""
    there = None if type(pairs) is np.ndarray else device_pairs(pairs)
    return check_pairs(pairs, n) if there is None else there


def check_distances(target_distance: Any, n_pairs: int | None) -> tuple[Any, Array | None]:
    """What `Options` say of a target distance, and (n_pairs,) float64 if each given pair has its own."""
    if np.ndim(target_distance) == 0:
        return target_distance, None
    most = float(np.finfo(np.float64).max)
    return Distances.EACH, lengths_of_pairs(target_distance, "target_distance", n_pairs, most)


def answer_pairs(
    engine: Any, bodies: Bodies, pairs: Any, progress: Progress | None = None, distances: Array | None = None
) -> Contacts:
    """`answer` of pairs that went through `check_given`, with a warning of bodies whose poses are none:
    before the work, or behind it where they lie on a device and nobody has looked at them."""
    if not isinstance(pairs, np.ndarray):
        here = engine.kind == "cuda" and pairs.device.id == engine.backend.device_id
        pairs = Given(pairs) if here else check_pairs(pairs, len(bodies))
    late = isinstance(pairs, Given) or bodies.on_device
    if not late:
        warn_of_invalid_in(bodies, pairs)
    found = answer(engine, bodies, pairs, progress, distances)
    if late:
        invalid = engine.invalid
        if invalid is None:
            invalid = bool((found.status == Status.INVALID_INPUT).any())
        if invalid:
            warn_of_invalid_in(bodies, as_numpy(found.pairs, "pairs"))
    return found


def answer(
    engine: Any, bodies: Bodies, pairs: Any, progress: Progress | None = None, distances: Array | None = None
) -> Contacts:
    """`Contacts` of bodies and pairs that are checked already.

    Parameters
    ----------
    engine : Pipeline or Reference
    bodies : Bodies
    pairs : (p, 2) int32 ndarray, Given, or the search of `open_search`
    progress : callable, optional
    distances : (p,) float64 ndarray, optional
        If the options say that each pair has its own.
    """
    options = engine.options
    found = engine.collide(bodies, pairs, progress, distances)
    info = found.info  # of a result that nobody else has yet
    info.update(options.told, filters=list(options.filters))
    if distances is not None:
        info["target_distance"] = float(distances.max(initial=0.0))
    if bodies.worlds is not None:
        info["worlds"] = bodies.worlds
    if bodies.named:
        found = found.with_parts(bodies)
        info = found.info
    if not isinstance(pairs, (np.ndarray, Given)):
        info.update(broad_phase=options.broad_phase, invalid_bodies=pairs.report.invalid_bodies)
        if found.report is not None:
            info["report"] = FilterReport([pairs.report.filter_row(), *found.report]).to_dict()
    if "GPU_COLLIDE_CHECK" in os.environ and invariants.enabled():
        names = ("min_properness", "motion", "precision", "refine", "target_distance")
        asked = {name: getattr(options, name) for name in names}
        if distances is not None:
            asked["target_distance"] = distances
        here = found.to_numpy()
        invariants.ensure(here, bodies, here.pairs, contacts=options.contacts, **asked)
    return found


def refuse_rules(**named: Any) -> None:
    """Raise if anything was said of which pairs to make (what is not None), though the caller gives them."""
    given = [name for name, value in named.items() if value is not None]
    if given:
        raise ValueError(
            f"{given[0]}: expected nothing when pairs are given, since it says which pairs to make; leave "
            f"{given[0]} out, or pairs"
        )


def warn_of_invalid_in(bodies: Bodies, pairs: Array) -> None:
    """Warn of bodies in `pairs` whose poses are none."""
    if not all_valid(bodies):
        valid = bodies.valid
        invalid = np.unique(pairs[~valid[pairs]])
        fate = "its pairs are INVALID_INPUT", "their pairs are INVALID_INPUT"
        warn_of_invalid(bodies, invalid, fate)
