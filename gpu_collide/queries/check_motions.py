"""`check_motions`: proofs that motions known within a bound are free of collisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._options import Options
from gpu_collide._validate import (
    as_float_array,
    as_int_array,
    check_bool,
    check_callable,
    check_distance,
    check_finite,
    check_pairs,
    check_positive,
    first_few,
    how_many,
)
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.refusals import refuse_ends
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.queries.clearance_arguments import PROGRAMS
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.motion_gaps import find_gaps
from gpu_collide.queries.motion_pieces import (
    Motions,
    Pieces,
    Problem,
    bound_by_acceleration,
    bound_by_function,
)
from gpu_collide.queries.motion_refinement import Answers, refine, tell_places
from gpu_collide.results.motion_checks import MotionChecks
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, StrPath
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.queries.motion_pieces import Deviation, PosesAt

__all__ = ["check_motions", "prove"]

#: So many poses of links are looked at in a call.
BLOCK = 1 << 16


@within_memory
def check_motions(
    meshes: Mesh | StrPath | Sequence[Mesh | StrPath],
    shape: ArrayLike | None,
    poses_at: PosesAt,
    n_motions: int,
    *,
    deviation: Deviation | None = None,
    max_acceleration: ArrayLike | None = None,
    obstacles: Bodies | None = None,
    link_pairs: ArrayLike | None = None,
    margin: float = 0.0,
    max_pieces: int = 256,
    first: bool = True,
    places: bool = False,
    clearance: float | None = None,
    backend: BackendName = "auto",
    max_bytes: int | None = None,
) -> MotionChecks:
    """Which motions are free of collisions, proved; where the others collide, or how far the proof goes.

    For motions that are no screws, such as those of a robot's links along a straight line in joint space, a
    spline, or samples between which a largest acceleration is known. Each motion is divided into pieces; on
    a piece every link moves along the screw between its two poses, up to a `deviation`. The piece is free if
    the links' least distance (`clearance`) proves to be greater than the deviation and the margin. Pieces
    without a proof are halved, and no others.

    Parameters
    ----------
    meshes, shape
        Of the links, as in `Bodies`: all motions have the same links.
    poses_at : callable
        Called as ``poses_at(motion, time)`` with two arrays (k,): numbers of motions from 0 to ``n_motions -
        1``, int64, and times in [0, 1], float64. Returns `Poses` of shape (k, links), in the world.
    n_motions : int
    deviation : callable, optional
        Called as ``deviation(motion, begin, end)`` with three arrays (k,). Returns lengths, (k, links) or
        (k,): no point of a link is farther than that, at any time from ``begin`` to ``end``, from where the
        screw by less than half a turn between its two poses has it. The proof rests on it.
    max_acceleration : array_like, broadcast to (n_motions, links), optional
        In place of `deviation`: no point of the link is accelerated more, in lengths per square of the
        whole motion's time.
    obstacles : Bodies, optional
        What the links must not touch. They stand still: their start poses count, and end poses must be equal.
    link_pairs : (p, 2) array_like of int, optional
        Pairs of links that must not touch each other. Default: none.
    margin : float, optional
        Free means that everything is farther apart than this. Unit of the poses.
    max_pieces : int, optional
        No piece is shorter than one over this (rounded up to a power of two) of the motion. A motion that is
        neither proved free nor found to collide by then is UNRESOLVED.
    first : bool, optional
        Find where a motion collides first, up to the shortest pieces. False: it is left once a pose of it
        collides, at whatever time, which takes less.
    places : bool, optional
        Tell `MotionChecks.point`, where bodies collide; it takes a query of depth for each motion that does.
    clearance : float, optional
        Tell how near free motions come to something, as far as that is nearer than this, which may be inf:
        `MotionChecks.gap` and a bound that is proved, to a hundredth of the largest link's radius. Default:
        do not, which takes less.
    backend, max_bytes
        As in `clearance`.

    Returns
    -------
    MotionChecks
        A row for each motion.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, or a function that returns something else than it should.
    MemoryLimitError, BackendUnavailableError
        As in `clearance`.

    Notes
    -----
    Two paths with equal ends differ by an eighth of the square of the time times the largest difference of
    their accelerations, at most (docs/decisions/0116). So with `max_acceleration` the deviation falls to a
    quarter when a piece is halved. The idea of adaptive pieces is that of Schwarzer, Saha and Latombe,
    "Adaptive dynamic collision checking" (2005), with distances of a moving pair in place of those at poses.

    A motion collides if it does at a pose that was looked at: the ends of pieces. What collides between them
    only shows when pieces get short.

    Examples
    --------
    A bar turns about its end, past a post:

    >>> import numpy as np, gpu_collide as gc
    >>> def poses_at(motion, time):
    ...     angle = time * np.array([0.5, 1.5])[motion]
    ...     quat = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=-1)
    ...     place = 0.5 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    ...     return gc.Poses.from_quat_wxyz(place[:, None], quat[:, None])
    >>> at = gc.Poses.from_quat_wxyz([[0.5, 0.8, 0]], [[1, 0, 0, 0]])
    >>> post = gc.Bodies(gc.shapes.box((0.1, 0.1, 1.0)), None, at, at)
    >>> bar = gc.shapes.box((1.0, 0.1, 0.1))
    >>> found = gc.check_motions(bar, None, poses_at, 2, max_acceleration=[[0.3], [2.5]], obstacles=post)
    >>> [gc.Status(s).name for s in found.status]
    ['MISS', 'HIT']
    """
    if not isinstance(n_motions, (int, np.integer)) or isinstance(n_motions, bool) or n_motions != 0:
        n_motions = check_positive(n_motions, "n_motions", integer=True)
    for name, value in (("poses_at", poses_at), ("deviation", deviation)):
        check_callable(value, name)
    if (deviation is None) == (max_acceleration is None):
        raise TypeError(
            "deviation: expected either this or max_acceleration; they bound how far links are from the "
            "screws between their poses, and without a bound nothing is proved"
        )
    links = _links(meshes, shape)
    if deviation is not None:
        bound = bound_by_function(deviation, len(links))
    else:
        bound = bound_by_acceleration(_accelerations(max_acceleration, (n_motions, len(links))), links)
    motions = Motions(poses_at, bound, len(links))
    return prove(
        links, n_motions, lambda _: motions, obstacles, link_pairs, margin=margin, max_pieces=max_pieces,
        first=first, places=places, clearance=clearance, backend=backend, max_bytes=max_bytes,
    )  # fmt: skip


def prove(
    links: Bodies, n_motions: int, motions_on: Callable[[Any], Motions], obstacles: Any, link_pairs: Any, *,
    margin: Any, max_pieces: Any, first: Any, places: Any, clearance: Any,
    backend: Any, max_bytes: Any,
) -> MotionChecks:  # fmt: skip
    """`check_motions` of what ``motions_on(engine)`` knows; of `links` only the shapes count."""
    options = Options.checked(motion="body", backend=backend, max_bytes=max_bytes)
    first, places = check_bool(first, "first"), check_bool(places, "places")
    deepest = int(check_positive(max_pieces, "max_pieces", integer=True) - 1).bit_length()
    if obstacles is None and link_pairs is None:
        raise TypeError("obstacles: expected Bodies, or link_pairs, got neither: there is nothing to hit")
    if obstacles is not None:
        if not isinstance(obstacles, Bodies):
            raise TypeError(f"obstacles: expected gpu_collide.Bodies, got {type(obstacles).__name__}")
        wrong = np.flatnonzero(~(still_bodies(obstacles) & obstacles.valid))
        if len(wrong):
            raise ValueError(
                "obstacles: expected bodies that stand still, with poses that are valid, got "
                f"{how_many(len(wrong), 'other')}, first: {first_few(wrong)}; what moves can be a link"
            )
        obstacles = obstacles.rows
        refuse_ends(obstacles.meshes, "obstacles", "this query")
    refuse_compounds(links, "meshes", "this query")
    refuse_ends(links.meshes, "meshes", "this query")
    n = len(links)
    pairs = np.zeros((0, 2), np.int32) if link_pairs is None else check_pairs(link_pairs, n, "link_pairs")
    engine = engine_on(get_backend(options.backend, options.precision, PROGRAMS), options)
    margin = check_distance(margin, "margin")
    if clearance is not None and clearance != np.inf:
        clearance = check_distance(clearance, "clearance")
    shortest = 0.5**deepest
    problem = Problem(
        links.meshes, links.shape, motions_on(engine), obstacles, pairs, margin, engine, shortest
    )
    found = Answers(n_motions)
    step = max(1, BLOCK // n)
    for begin in range(0, n_motions, step):
        some = np.arange(begin, min(begin + step, n_motions))
        zeros, ones = np.zeros(len(some)), np.ones(len(some))
        whole = Pieces(some, zeros, ones, *(problem.motions.poses(some, time) for time in (zeros, ones)))
        refine(problem, whole, found, first)
        if clearance is not None:
            find_gaps(problem, some[found.status[some] == Status.MISS], found, clearance)
    if places:
        tell_places(problem, found)
    if obstacles is not None and obstacles.body is not None:  # rows of compounds
        body = np.append(obstacles.body, np.int32(-1))
        found.other = np.where(found.other_is_link, found.other, body[found.other])
        found.gap_other = np.where(found.gap_other_is_link, found.gap_other, body[found.gap_other])
    info = {**engine.about(), "max_pieces": 1 << deepest, "margin": margin, "first": first}
    return MotionChecks(**vars(found), info=info)


def _links(meshes: Any, shape: Any) -> Bodies:
    n = 1 if shape is None else len(as_int_array(shape, "shape", shape=(None,)))
    links = Bodies(meshes, shape, *[Poses.identity(n)] * 2)
    if n == 0:
        raise ValueError("shape: expected at least one link, got none")
    return links


def _accelerations(given: Any, wanted: tuple[int, int]) -> Array:
    array = check_finite(as_float_array(given, "max_acceleration"), "max_acceleration")
    if (array < 0).any():
        raise ValueError(f"max_acceleration: expected numbers from 0 up, got {array.min()}")
    try:
        return np.broadcast_to(array, wanted)
    except ValueError:
        raise ValueError(
            f"max_acceleration: expected a shape that broadcasts to (n_motions, links) = {wanted}, got "
            f"{array.shape}"
        ) from None
