"""`slide`, and the first of its three operations, `planes` (the others are `clip` and `ellipsoids`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._options import RESULTS
from gpu_collide._validate import (
    as_float_array,
    as_numpy,
    check_bool,
    check_choice,
    check_positive,
    first_few,
)
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.queries.engine_cache import remembered
from gpu_collide.queries.obstacles import Obstacles
from gpu_collide.queries.sweep import residency
from gpu_collide.queries.sweep.arguments import (
    OBSTACLES,
    check_turning,
    ellipsoid_casts,
    limit_of,
    within_digits,
)
from gpu_collide.queries.sweep.character_arguments import falls, length, ridden, slides, slope, upwards
from gpu_collide.queries.sweep.residency import CastRules
from gpu_collide.queries.sweep.substeps import substeps, substeps_device
from gpu_collide.queries.sweep.turning import turning_bodies
from gpu_collide.results.result import Status
from gpu_collide.results.slides import Planes, Slides

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, Precision, ResultsOn
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.casts import Casts
    from gpu_collide.queries.scene import Scene

__all__ = ["characters_on", "planes", "slide"]

#: The skin that is kept by default, as a share of a character's least radius.
SKIN = 1e-3


@renamed(world=OBSTACLES)
def planes(
    obstacles: Scene | Bodies,
    position: ArrayLike,
    radii: ArrayLike,
    reach: float,
    *,
    orientation: ArrayLike | None = None,
    at: float = 0.0,
    two_sided: bool = False,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Planes:
    """Contact planes around ellipsoids at rest, to clip velocities by.

    Of each face the place nearest to the centre counts, in the ellipsoid's measure; one that several faces
    share counts once. An edge counts only where no face at it comes nearer, so that a floor cut into
    triangles has one plane.

    Parameters
    ----------
    obstacles : Scene or Bodies
    position : (n, 3) or (3,) array_like
        Centres.
    radii : (3,) or (n, 3) array_like
        Along the ellipsoids' own axes, above zero.
    reach : float
        Planes up to so far from the ellipsoid's surface count, and all that it is sunk into.
    orientation : (4,) or (n, 4) array_like, optional
        Unit quaternions wxyz, from the ellipsoid's axes to the world's. Default: they are the same.
    at : float, optional
        The moment, from 0 (bodies where they start) to 1 (where they end).
    two_sided : bool, optional
        Faces count from behind as well.
    group, mask, ignore, world
        Which bodies count, as in `gpu_collide.sweep.rays`.
    precision, backend, max_bytes
        As in `gpu_collide.collide`. With a `Scene` as obstacles, those of the scene.
    results : {"auto", "host", "device"}, optional
        Where results are, as in `gpu_collide.sweep.rays`.

    Returns
    -------
    Planes

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed.
    MemoryLimitError, BackendUnavailableError
        As in `ellipsoids`.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box(), None, here, here)
    >>> near = gc.sweep.planes(still, [0, 0, 1.01], [0.5, 0.5, 0.5], 0.1)
    >>> near.normal.tolist(), near.gap.round(6).tolist()
    ([[0.0, 0.0, 1.0]], [0.01])
    """
    near, moment = length(reach, "reach"), length(at, "at")
    if moment > 1:
        raise ValueError(f"at: expected a moment from 0 to 1, got {at}")
    two_sided = check_bool(two_sided, "two_sided")
    check_choice(results, "results", RESULTS)
    given = CastRules(group, mask, ignore, world)
    casts = ellipsoid_casts(position, [0.0, 0.0, 0.0], radii, orientation, results, rules=given)
    with Obstacles(obstacles, characters_on, precision, backend, max_bytes, ("sweep",)) as among:
        bodies, engine, where = among.bodies, among.engine, among.where
        given, casts = given.among(among, casts)
        limit, stays = limit_of(bodies, engine.precision), residency.keeps_on_device(casts, where, results)

        def refuse() -> None:
            residency.fetched_casts(casts)
            given.checked(len(casts), len(bodies))

        landing = residency.device_queries(casts, where, stays, engine, among.world, limit, refuse)
        if landing is not None:
            rows = landing.planes(two_sided, near, moment)
            return Planes(**(rows if stays else residency.fetched(rows, where)), info=engine.about())
        meets = given.checked(len(casts), len(bodies))
        casts, good = _kept(replace(residency.fetched_casts(casts), rules=meets), limit)
        rows = engine.planes(among.world(), casts, two_sided, near, moment)
        info = engine.about()
    keep = good[rows["query"]]
    rows = {name: array[keep] for name, array in rows.items()}
    count = np.bincount(rows["query"], minlength=len(casts))
    status = np.where(count > 0, Status.HIT, Status.MISS)
    status[~good] = Status.INVALID_INPUT
    offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    found = Planes(status=status.astype(np.uint8), offsets=offsets, info=info, **rows)
    return residency.placed(found, where) if stays else found


@renamed(world=OBSTACLES)
def slide(
    obstacles: Scene | Bodies,
    position: ArrayLike,
    radii: ArrayLike,
    velocity: ArrayLike,
    *,
    gravity: ArrayLike | None = None,
    up: ArrayLike | None = None,
    max_slides: int = 5,
    max_slope: float = 45.0,
    step_height: float = 0.0,
    skin: float | None = None,
    riding: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    turning: Literal["refuse", "chord"] = "refuse",
    two_sided: bool = False,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Slides:
    """Move characters by one step: ellipsoids that walk, slide along obstacles, and fall.

    Each is cast along its velocity, stops before what it meets, gathers the planes that it is near, goes on
    with what these leave of its way, and again, up to `max_slides` times; then the same with gravity. All of
    it happens in one launch.

    Parameters
    ----------
    obstacles : Scene or Bodies
        Bodies may move between their start and their end while the characters walk; then they fall in the
        world as it is at the end. Of those that turn see `turning`.
    position : (n, 3) or (3,) array_like
        Centres.
    radii : (3,) or (n, 3) array_like
        Along the ellipsoids' own axes, above zero.
    velocity : (n, 3) or (3,) array_like
        The way that each would go in this step if nothing were there.
    gravity : (3,) or (n, 3) array_like, optional
        The way that each would fall in this step. Default: none falls, and none is grounded.
    up : (3,) array_like, optional
        Direction. Default: against the first gravity that is not zero, else z.
    max_slides : int, optional
        Casts of each of both passes at most; 1 to 64. When they are used up the character stays where it is
        then, which is safe, and its status says UNRESOLVED.
    max_slope : float, optional
        Degrees, 0 to 90: what is steeper is no ground. With gravity, who walks takes it for an upright wall,
        and who falls slides down along it. Ground holds: nobody slides down there.
    step_height : float, optional
        Steps up to this height are climbed by who walks against them, if there is ground on top. Low ones an
        ellipsoid climbs by its shape, as long as it touches their edge where it is no steeper than
        `max_slope`.
    skin : float, optional
        Distance that is kept from what is met. Default: 1e-3 of each character's least radius.
    riding : (n,) array_like of int, optional
        Body that each stands on, and is carried by, along the arc if it turns; -1: none.
        `Slides.ground_body` of the step before.
    orientation : (4,) or (n, 4) array_like, optional
        Unit quaternions wxyz, from the ellipsoid's axes to the world's. No character turns by being carried.
    turning : {"refuse", "chord"}, optional
        What to do with bodies that turn: refuse them, or cut the step of each character that may come to one
        into as many pieces, up to 64, as it takes for the paths that these bodies see to be off their chords
        by no more than half the skin. ``info["turning"]`` is by how much they may be, ``info["pieces"]`` how
        many there were at most.
    two_sided : bool, optional
        Faces count from behind as well.
    group, mask, ignore, world
        Which bodies each meets, as in `gpu_collide.sweep.rays`; it passes the others. `riding` carries it all
        the same.
    precision, backend, max_bytes
        As in `gpu_collide.collide`. With a `Scene` as obstacles, those of the scene.
    results : {"auto", "host", "device"}, optional
        Where results are, as in `gpu_collide.sweep.rays`.

    Returns
    -------
    Slides

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed; bodies that turn, with "refuse", or that turn so far
        within reach of a character that 64 pieces of its step are too few.
    MemoryLimitError, BackendUnavailableError
        As in `ellipsoids`.

    Notes
    -----
    No character is ever moved but along a cast, and never beyond what that found: it passes nothing that
    `ellipsoids` would not let it pass. Sliding is done in the world, along the world's tangent plane; in a
    world that stands still no velocity grows. Up to 17 planes count at a time, the nearest; the next cast
    meets what is beyond. ``docs/characters.md`` has the whole of it.

    References
    ----------
    .. [1] K. Fauerby, "Collision detection & Response", 2000.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box((9, 9, 1)), None, here, here)
    >>> found = gc.sweep.slide(still, [0, 0, 1.1], [0.3, 0.3, 0.6], [0.1, 0, 0], gravity=[0, 0, -0.2])
    >>> found.position.round(3).tolist(), found.grounded.tolist()
    ([[0.1, 0.0, 1.1]], [True])
    """
    rules = _rules(results, turning, two_sided, max_slides, max_slope, step_height, skin, gravity is not None)
    beside = ((gravity, 2), (riding, 1))
    meets = CastRules(group, mask, ignore, world)
    casts = ellipsoid_casts(position, velocity, radii, orientation, results, beside, meets)
    n = len(casts)
    fall = falls(gravity, n)
    rules = rules | dict(zip(("up_x", "up_y", "up_z"), upwards(up, fall).tolist(), strict=True))
    told = {"skin": "1e-3 of the least radius" if skin is None else rules["skin"]}
    with Obstacles(obstacles, characters_on, precision, backend, max_bytes, ("sweep",)) as among:
        bodies, engine, where = among.bodies, among.engine, among.where
        meets, casts = meets.among(among, casts)
        stays = residency.keeps_on_device(casts, where, results)
        turn = _turns(bodies, turning)

        def refuse() -> None:
            residency.fetched_casts(casts)
            ridden(riding, len(bodies), n)
            meets.checked(n, len(bodies))

        limit = limit_of(bodies, engine.precision)
        landing = residency.device_queries(casts, where, stays, engine, among.world, limit, refuse)
        if landing is not None:
            on = None if riding is None else residency.integers(riding, "riding", n)
            if turn:
                rows, more = substeps_device(among, landing, on, fall, rules)
                told |= more
            else:
                rows = landing.slide(fall, on, engine.motions(bodies), rules)
            return Slides(**(rows if stays else residency.fetched(rows, where)), info=engine.about() | told)
        casts = replace(residency.fetched_casts(casts), rules=meets.checked(n, len(bodies)))
        fall = np.broadcast_to(as_numpy(fall, "gravity"), (n, 3))
        casts = replace(casts, moves=casts.moves & np.isfinite(fall).all(axis=1), reach=np.inf)
        casts, good = _kept(casts, limit)
        on = np.where(good, ridden(riding, len(bodies), n), -1)
        fall = np.where(good[:, None], fall, 0.0)
        rows, more = substeps(among, casts, on, fall, rules)
        info = engine.about() | told | more
    status = rows.pop("status").astype(np.uint8)
    status[~good] = Status.INVALID_INPUT
    ground = rows.pop("ground").astype(np.int32)
    if not good.all():
        lost = ~good
        given_at = np.broadcast_to(as_float_array(position, "position"), (n, 3))
        rows["position"][lost] = np.nan_to_num(given_at[lost], posinf=0.0, neginf=0.0)
        ground[lost] = -1
    rows["ground_normal"][ground < 0] = 0.0
    rows |= {"status": status, "ground_body": ground, "info": info}
    if stays:
        return residency.placed(Slides(**rows), where)
    return Slides(**rows) if where.kind == "reference" else Slides.sealed(**rows)


@remembered
def _rules(
    results: Any, turning: Any, two_sided: Any, most: Any, steepest: Any, step: Any, skin: Any, falls: bool
) -> dict[str, Any]:
    """What is asked besides, checked, as the kernels read it."""
    check_choice(results, "results", RESULTS)
    check_turning(turning, "characters")
    return {
        "two_sided": int(check_bool(two_sided, "two_sided")),
        "most": slides(most),
        "falls": int(falls),
        "step": length(step, "step_height"),
        "ground": float(sine_cosine(np.radians(slope(steepest)))[1]),
        "skin": -SKIN if skin is None else check_positive(skin, "skin"),  # below 0: of each one's own
    }


def characters_on(where: Any, precision: Any, max_bytes: Any) -> Any:
    """Who answers: the kernels on a backend, or the reference, which has the same verbs."""
    if where.kind == "reference":
        from gpu_collide.reference import sweep

        return sweep.Walkers()
    from gpu_collide.pipeline.sweep.characters import CharacterQuery

    return CharacterQuery(where, precision, max_bytes)


def _kept(casts: Casts, limit: float) -> tuple[Casts, Array]:
    """Casts in which rows without an answer stand still, and which have one."""
    within = within_digits(casts, limit)
    good = casts.moves if within is None else casts.moves & within
    if good.all():
        return casts, good
    row = good[:, None]
    start, path = np.where(row, casts.start, 0.0), np.where(row, casts.path, 0.0)
    return replace(casts, start=start, path=path, moves=good, reach=np.inf), good


def _turns(bodies: Bodies, turns: str) -> bool:
    """Does a body turn? Raises if that is refused."""
    which = turning_bodies(bodies)
    if which.size and turns == "refuse":
        raise ValueError(
            f"obstacles: expected bodies that move without turning, got {which.size} that turn, first: "
            f"{first_few(which)}; pass turning='chord' to have the step cut into pieces"
        )
    return bool(which.size)
