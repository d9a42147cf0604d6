"""`contacts`: what movers at rest touch, or nearly do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._options import Options
from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.order import taken
from gpu_collide.queries.obstacles import Obstacles
from gpu_collide.queries.pluecker.initial_overlap import overlaps
from gpu_collide.queries.pluecker.movers import (
    MOST,
    OLD,
    check_expel,
    check_movers,
    movers_on,
    per_mover,
    reach_of,
)
from gpu_collide.queries.pluecker.places import (
    ASIDE,
    BEYOND,
    ON_MOVER,
    behind_nothing,
    beside,
    separated,
    sorted_rows,
    told_before,
)
from gpu_collide.results.enums import Touch
from gpu_collide.results.result import Status
from gpu_collide.results.trace import TouchPoints

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, Precision
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.movers import Movers
    from gpu_collide.queries.scene import Scene

__all__ = ["contacts"]


@renamed(**OLD)
def contacts(
    movers: Bodies | ArrayLike,
    obstacles: Scene | Bodies,
    distance: ArrayLike = 0.0,
    *,
    expel: ArrayLike | None = None,
    exclude_body: ArrayLike | None = None,
    world: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> TouchPoints:
    """All places where movers at rest touch something, or nearly do, from all around.

    A place is a pair of features that face each other: a vertex before a face, two edges that cross; where
    neither is, a vertex beside an edge or before a vertex, if it is what the two bodies have nearest to each
    other there. Nothing is nearer than the nearest place told.

    Parameters
    ----------
    movers
        As in `translate`.
    obstacles : Scene or Bodies
        A `Scene` at rest, or bodies, of which the start poses count: of some that move at a time of the step
        ask ``there = bodies.poses_at(time)`` and ``bodies.moved(there, there)``.
    distance : (n,) array_like or float, optional
        How far from the zone around an obstacle still counts; a sixteenth of the zone is added for the
        rounding of poses. What `translate`, `rotate` or `move` stopped at is listed with 0, if
        ``expel=trace.expel`` says what their zone was: left out, it is that of a mover that stands, which is
        thinner.
    expel, exclude_body, world, pairs, precision, backend, max_bytes
        As in `translate`.

    Returns
    -------
    TouchPoints
        ``distance`` there is measured from the obstacle, not from its zone. A mover that goes into a body by
        more than its zone has the status INITIAL_OVERLAP, and for each region of the overlap a row whose
        distance is below 0: the depth, as `gpu_collide.clearance` with ``regions=True`` has it. The kind of a
        row without features is ``Touch.OVERLAP``; its distance is 0 where there is no depth, since a body is
        open or two-sided. What goes in by no more than `collide` takes for touch (1e-7 of the sizes) has
        all its places instead. With `pairs`, a mover is a row of them.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As `translate`; a distance below zero.

    Notes
    -----
    Parallel edges have places at their ends, as have faces side by side at their corners and where
    borders cross. Of a place that several pairs of features tell, such as a corner on a corner, the first is
    told, by kind, then numbers; with `expel` given, in the zone, each of them: any could have stopped the
    mover. Without it, a vertex that touches a face at its border while its edges lead behind it is left out,
    if the bodies touch elsewhere: a box on a box touches its upper side, and none of those beside its own.
    Meshes may have a rounding radius, without `expel`: distances are less by the radii of both.
    Faces count from their front, unless the mesh is ``two_sided``.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> box = gc.shapes.box()
    >>> at = gc.Poses.from_quat_wxyz([[0.2, 0.3, 1.001]], [[1, 0, 0, 0]])
    >>> ground = gc.Poses.identity(1)
    >>> movers, still = gc.Bodies(box, None, at, at), gc.Bodies(box, None, ground, ground)
    >>> found = gc.pluecker.contacts(movers, still, 0.01)
    >>> [gc.pluecker.Touch(kind).name for kind in found.kind], found.distance.round(6)
    (['VF', 'FV', 'EE', 'EE'], array([0.001, 0.001, 0.001, 0.001]))
    """
    with Obstacles(obstacles, movers_on, precision, backend, max_bytes, still=True, rounded=True) as among:
        bodies, rules, engine = among.bodies, among.rules, among.engine
        rows = check_movers(movers, exclude_body, world, pairs, bodies, rules, rounded=True)
        Options(precision="double" if engine.precision == "reference" else engine.precision).check_meshes(
            (*bodies.meshes, *(rows.meshes or ()))
        )
        near = per_mover(distance, "distance", rows, rows.count, None)
        if (near < 0.0).any():
            row = int(np.flatnonzero(near < 0.0)[0])
            raise ValueError(f"distance: expected lengths from 0 up, got {near[row]} in row {row}")
        rounding = Rounding.of(rows, bodies)
        if expel is not None and rounding.most.any():
            raise ValueError(
                "expel: expected None with meshes that have a rounding radius, got "
                f"{type(expel).__name__}; leave it out"
            )
        finite = np.isfinite(near)
        most = MOST["mixed" if engine.precision == "reference" else engine.precision]
        rows = replace(rows, moves=rows.moves & finite & (near <= most))
        made = engine.world(bodies, rules, among.resident, pairs is not None)
        with np.errstate(invalid="ignore", over="ignore"):
            place = np.abs(rows.position - made.shift).max(axis=1, initial=0.0)
        rows = check_expel(expel, rows, (place, place), False, bodies, engine.precision)
        near = np.where(rows.moves, near, 0.0)
        deep = touch_depth(rows, bodies, engine.precision)
        found = engine.contacts(made, rows, np.column_stack((near + rounding.most, np.full(len(near), deep))))
        info = engine.about()
        found, inside = _told(
            found, rows, bodies, (near, expel is not None, rounding), engine.precision, info, max_bytes
        )
    counts = np.bincount(found["mover"], minlength=len(near))
    status = np.where(counts > 0, Status.HIT, np.where(rows.moves, Status.MISS, Status.UNRESOLVED)).astype(
        np.uint8
    )
    status[inside] = Status.INITIAL_OVERLAP
    status[~(rows.valid & finite)] = Status.INVALID_INPUT
    start = np.concatenate([[0], np.cumsum(counts)])
    return TouchPoints(status=status, point_start=start, **found, info=info)


def touch_depth(rows: Movers, bodies: Bodies, precision: str) -> float:
    """How deep what `collide` takes for touch may be, with room to spare."""
    c = sources.constants("mixed" if precision == "reference" else precision)
    return 2.0 * float(c["GC_OVERLAP_DEPTH"]) * reach_of(rows, bodies)


def _told(
    found: dict[str, Any],
    rows: Movers,
    bodies: Bodies,
    asked: tuple[Array, bool, Rounding],
    precision: str,
    info: dict[str, Any],
    max_bytes: int | None,
) -> tuple[dict[str, Any], Array]:
    """Of what an engine found the places that are told, once each, with the bodies that movers overlap; and
    which movers are inside something. `asked`: the distances, whether the zones were given (then all that is
    in one is told), and the rounding radii. Places are those of the meshes until these are looked at."""
    near, zones, rounding = asked
    told_to, near = near, near + rounding.most
    c = sources.constants("mixed" if precision == "reference" else precision)
    stands = float(c["GC_ZONE_STANDS"]) * rows.zone
    # four times what counts beside a border, which a corner may be beside several of
    rough = rows.doubt / c["GC_ZONE_SURE"] + c["GC_ZONE_DEFAULT"] * c["GC_ROUNDING"] * near
    close = found["kind"] == Touch.NONE  # bodies whose boxes come near
    mover, body = found["mover"][close], found["body"][close]
    places = _without(close, found)
    places["flags"] = places["kind"] & (BEYOND | ASIDE)
    places["kind"] = places["kind"] - places["flags"]
    drop = (places["flags"] == BEYOND) | behind_nothing(places, stands[places["mover"]], rows, bodies)
    if (
        not zones
    ):  # what stands beside a border counts no farther, and what two edges tell their ends tell, too
        beyond = places["distance"] > (near + stands)[places["mover"]]
        drop |= (places["flags"] == ASIDE) & (beyond | (places["kind"] == Touch.EE))
    places = _without(drop, places)
    of = places["mover"]
    far = (places.pop("flags") == 0) & (places["distance"] > stands[of]) | (not zones)
    drop = told_before(places, far, rough[of])
    places = _without(drop, places)
    deeper = places["distance"] < -stands[places["mover"]]
    inside = np.zeros(len(near), bool)
    inside[places["mover"][deeper]] = True
    places["surface"] = np.zeros(len(places["mover"]), bool)  # are rounding radii in it already?
    apart = separated(places, (mover, body), 4.0 * stands, rows, bodies)
    mover, body = mover[~apart], body[~apart]
    if len(mover):
        more = overlaps(rows, mover, body, bodies, info, max_bytes)
        if rounding.most.any():
            drop = rounding.only_touch(more, stands)
            if drop.any():
                drop &= _of_pairs(more, places, len(bodies))
            more = _without(drop, more)
    if len(mover) and len(more["mover"]):
        inside[more["mover"]] = True
        more["surface"] = np.ones(len(more["mover"]), bool)
        both = {name: np.concatenate([places[name], more[name]]) for name in places}
        # a depth within what counts as touch is among the places already
        both["more"] = np.arange(len(both["mover"])) >= len(places["mover"])
        places = sorted_rows(both)
        again = places.pop("more") & (places["kind"] != Touch.OVERLAP)
        again[:1] = False
        for name in ("mover", "kind", "feature_a", "body", "feature_b"):
            again[1:] &= places[name][1:] == places[name][:-1]
        places = _without(again, places)
    if not zones:  # a face beside the vertex that touches it is no stop
        drop = beside(places, stands[places["mover"]], rows, bodies)
        places = _without(drop, places)
    if rounding.most.any():
        places = rounding.surfaces(places)
        of, distance = places["mover"], places["distance"]
        inside[of[distance < -stands[of]]] = True
        kept = distance <= (told_to + stands)[of]
        places = {name: column[kept] for name, column in places.items()}
    del places["surface"]
    return places, inside


def _without(drop: Array, rows: dict[str, Any]) -> dict[str, Any]:
    """Rows without those to be dropped, (c,) bool."""
    return taken(rows, np.flatnonzero(~drop)) if drop.any() else rows


def _of_pairs(rows: dict[str, Array], places: dict[str, Array], n: int) -> Array:
    """Which rows are of a mover and a body that have places."""
    keys, there = (x["mover"].astype(np.int64) * n + x["body"] for x in (rows, places))
    return np.isin(keys, there)


class Rounding(NamedTuple):
    """Rounding radii.

    Attributes
    ----------
    mover : (k,) float64
        Of each mover.
    body : (n,) float64
        Of each obstacle.
    most : (k,) float64
        That of a mover with the largest that it may meet.
    """

    mover: Array
    body: Array
    most: Array

    @classmethod
    def of(cls, rows: Movers, bodies: Bodies) -> Rounding:
        """Those of movers and obstacles."""
        meshes = np.array([mesh.rounding for mesh in rows.meshes or ()] or [0.0])
        body = np.array([mesh.rounding for mesh in bodies.meshes])[bodies.shape]
        mover = meshes[rows.shape]
        most = np.where(rows.body >= 0, body[rows.body], body.max(initial=0.0)) if len(body) else 0.0
        return cls(mover, body, mover + most)

    def only_touch(self, deep: dict[str, Array], stands: Array) -> Array:
        """Which overlaps are of meshes that only touch: no deeper than both radii."""
        both = self.mover[deep["mover"]] + self.body[deep["body"]]
        return (both > 0.0) & (deep["distance"] >= -both - stands[deep["mover"]])

    def surfaces(self, places: dict[str, Array]) -> dict[str, Array]:
        """Places on the surfaces of rounded bodies, of those on their meshes."""
        mover, body = self.mover[places["mover"]], self.body[places["body"]]
        mover, body = (np.where(places["surface"], 0.0, radius) for radius in (mover, body))
        on_mover = ON_MOVER[places["kind"]]
        moved = np.where(on_mover, -mover, body)[:, None] * places["normal"]
        return places | {"point": places["point"] + moved, "distance": places["distance"] - (mover + body)}
