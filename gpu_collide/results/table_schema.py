"""The columns of every result as a table: names, units, meanings; the one place that defines them.

`docs/tables.md` is made from it. A field of several components becomes a column for each: ``position_x``,
``position_y``, ``position_z``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.enums import EventKind, Feature, Kind, Side, Status, Touch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["TABLES", "Column", "WORLD"]

LENGTH = "length"  # the unit of the meshes and poses


@dataclass(frozen=True)
class Column:
    """A column of a table, or several: one for each component of a field.

    Attributes
    ----------
    name : str
    unit : str
        Empty for numbers without one.
    what : str
        What it says, in a line.
    take : callable, optional
        From a result its values, a row each; default: its field of this name.
    words : enum, optional
        Numbers that the table tells by name.
    parts : tuple of str
        Endings of the names of components.
    there : callable, optional
        Whether a result has it; default: every one.
    """

    name: str
    unit: str
    what: str
    take: Callable[[Any], Array] | None = None
    words: type[enum.IntEnum] | None = None
    parts: tuple[str, ...] = ()
    there: Callable[[Any], bool] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{part}" for part in self.parts) or (self.name,)

    def values(self, result: Any) -> Array:
        """Rows, with numbers in place of words; masked where a row has none."""
        values = getattr(result, self.name) if self.take is None else self.take(result)
        return values if isinstance(values, np.ma.MaskedArray) else as_numpy(values, self.name)


XYZ, WXYZ = ("x", "y", "z"), ("w", "x", "y", "z")


def _vector(name: str, unit: str, what: str, take: Any = None) -> Column:
    return Column(name, unit, what, take, None, XYZ)


def _status(what: str, take: Any = None) -> Column:
    return Column("status", "", what, take, Status)


def _counter(name: str, what: str) -> Column:
    """The number of the row."""
    return Column(name, "", what, lambda r: np.arange(len(r.status)))


def _owned(name: str, start: str, what: str) -> Column:
    """How many rows of another table belong to each."""
    return Column(name, "", what, lambda r: np.diff(as_numpy(getattr(r, start), start)))


def _body(column: int) -> Any:
    """Body A or B of each contact; -1 where a result of an old file does not know."""

    def take(result: Any) -> Array:
        if result.pairs is None:
            return np.full(len(result), -1, np.int32)
        return as_numpy(result.pairs, "pairs")[as_numpy(result.pair, "pair"), column]

    return take


def _paired(column: int) -> Any:
    def take(result: Any) -> Array:
        if result.pairs is None:
            return np.full(result.n_pairs, -1, np.int32)
        return as_numpy(result.pairs, "pairs")[:, column]

    return take


def _finite(name: str, values: Any) -> Any:
    """Numbers, with what is infinite, since nothing happens, as not a number."""

    def take(result: Any) -> Array:
        told = as_numpy(values(result), name)
        return np.where(np.isfinite(told), told, np.nan)

    return take


def _ids(of: Any) -> tuple[Column, ...]:
    """Ids of both bodies, where the recording has them; `of` gives the bodies of a side."""
    return tuple(
        Column(
            f"id_{side}", "",
            f"what the recording calls body {side.upper()}; none: it stands still; only where it has ids",
            partial(_ids_of, partial(of, side)), there=_has_ids,
        )
        for side in "ab"
    )  # fmt: skip


def _ids_of(of: Any, result: Any) -> Any:
    return result._table_ids(of(result))


def _has_ids(result: Any) -> bool:
    return "ids" in result.info


def _features(a: str, b: str) -> tuple[Column, ...]:
    return (
        Column("feature_a", "", f"number of the face, edge or vertex in {a} Mesh"),
        Column("feature_b", "", f"number of the face, edge or vertex in {b} Mesh"),
    )


def _part_names(field: str, result: Any) -> Any:
    return result.part_names(field)


def _named(of: str) -> tuple[Column, ...]:
    """Names of the parts, where meshes have them."""
    return tuple(
        Column(
            f"part_{side}", "", f"name of the part of {side.upper()}{of}; only where meshes have names",
            partial(_part_names, f"part_{side}"), there=lambda r: r.part_a is not None,
        )
        for side in "ab"
    )  # fmt: skip


def _contact(speed: str) -> tuple[Column, ...]:
    """What a contact is in both kinds of result, behind its time."""
    return (
        Column("kind", "", "features of A and of B: F face, E edge, V vertex", words=Kind),
        *_features("A's", "B's"),
        _vector("position", LENGTH, "world position"),
        _vector("normal", "", "unit normal in the world, from A to B"),
        Column(
            "properness",
            "",
            "how properly the surfaces face each other, -1 to 1; 0 where an edge or face lies flat",
        ),
        Column("normal_speed", speed, "along the normal: negative approaches, positive separates"),
        Column("sustained", "", "whether it lasts"),
        _vector("local_a", LENGTH, "the place in the coordinates of A's Mesh"),
        _vector("local_b", LENGTH, "the place in the coordinates of B's Mesh"),
        *_named(" that meets"),
    )


def _has_depths(result: Any) -> bool:
    return result.depth is not None


_CONTACTS = (
    Column("pair", "", "row of the pairs"),
    Column("body_a", "", "body A", _body(0)),
    Column("body_b", "", "body B", _body(1)),
    Column("time", "step", "fraction of the step, 0 its start and 1 its end"),
    Column("time_end", "step", "end of a sustained contact, else the time"),
    *_contact("length/step"),
)
_PAIRS = (
    _counter("pair", "row of the pairs"),
    Column("body_a", "", "body A", _paired(0)),
    Column("body_b", "", "body B", _paired(1)),
    _status("outcome of the pair"),
    Column(
        "toi", "step", "time of its earliest contact; none: not a number", _finite("toi", lambda r: r.toi)
    ),
    Column(
        "exit",
        "step",
        "when the motion takes it apart; not at all: not a number; only if asked for",
        _finite("exit", lambda r: r.exit),
        there=lambda r: r.exit is not None,
    ),
    _owned("contacts", "contact_start", "how many contacts it has"),
)
_TRAJECTORY = (
    Column("step", "", "from frame number step to the next one"),
    Column("body_a", "", "body A; the moving ones are counted first"),
    Column("body_b", "", "body B"),
    *_ids(lambda side, r: getattr(r, f"body_{side}")),
    Column("time", "s", "absolute, in the unit of the recording's times"),
    Column("time_end", "s", "end of a sustained contact in its step, else the time"),
    Column("fraction", "step", "the time as a fraction of its step"),
    *_contact("length/s"),
)


def _of_pairs(name: str) -> Any:
    return lambda r: r.pairs[name]


_TRAJECTORY_PAIRS = (
    Column("step", "", "from frame number step to the next one", _of_pairs("step")),
    Column("body_a", "", "body A", _of_pairs("body_a")),
    Column("body_b", "", "body B", _of_pairs("body_b")),
    *_ids(lambda side, r: r.pairs[f"body_{side}"]),
    _status("outcome of the pair in this step", _of_pairs("status")),
    Column("toi", "s", "time of its earliest contact; none: not a number", _finite("toi", _of_pairs("toi"))),
    Column(
        "exit", "s", "when the motion takes it apart; not in this step: not a number; only if asked for",
        _finite("exit", lambda r: r.exit), there=lambda r: r.exit is not None,
    ),
    _owned("contacts", "contact_start", "how many contacts it has in this step"),
)  # fmt: skip
_SKIPPED = (
    Column("step", "", "from frame number step to the next one", lambda r: r.skipped["step"]),
    Column("body", "", "the body that was left out", lambda r: r.skipped["body"]),
    Column(
        "id", "", "what the recording calls it; only where it has ids",
        partial(_ids_of, lambda r: r.skipped["body"]), there=_has_ids,
    ),
    Column("reason", "", "invalid, teleport or turn", lambda r: r.skipped["reason"]),
)  # fmt: skip
_ENCOUNTERS = (
    Column("body_a", "", "body A; the moving ones are counted first"),
    Column("body_b", "", "body B"),
    *_ids(lambda side, r: getattr(r, f"body_{side}")),
    Column("first_time", "s", "of its first contact, or when they are first seen in each other"),
    Column("last_time", "s", "of its last contact, or when they are last seen in each other"),
    Column("first_step", "", "first step in which they are together"),
    Column("last_step", "", "last step in which they are together"),
    Column("contacts", "", "how many contacts it has; 0: they overlap all the time"),
    Column("in_touch", "", "whether the two were in touch already when it begins"),
    Column(
        "approach",
        "length/s",
        "speed at which its hardest contact closes; negative where all only separate; none: not a number",
        _finite("approach", lambda r: r.approach),
    ),
    Column("hardest_step", "", "step of its hardest contact; -1: none"),
    Column(
        "hardest_time",
        "s",
        "of its hardest contact; none: not a number",
        _finite("hardest_time", lambda r: r.hardest_time),
    ),
    _vector("position", LENGTH, "world position of its hardest contact; zero: none"),
    _vector("normal", "", "unit normal of its hardest contact, from A to B; zero: none"),
    *_named(" in its hardest contact"),
    Column(
        "depth", LENGTH, "deepest overlap at its frames; 0: none; only of `Recording.encounters`",
        there=_has_depths,
    ),
    Column("depth_time", "s", "of that frame; none: not a number", there=_has_depths),
)  # fmt: skip
_EVENTS = (
    Column("body_a", "", "body A; the moving ones are counted first"),
    Column("body_b", "", "body B"),
    *_ids(lambda side, r: getattr(r, f"body_{side}")),
    Column("kind", "", "what it is", words=EventKind),
    Column("time", "s", "of the first contact, or of the least gap; the columns without times are of then"),
    Column("step", "", "the step that has this time"),
    Column("first_time", "s", "when they touch or overlap first; of a near miss its begin"),
    Column("last_time", "s", "when they touch or overlap last; of a near miss its end"),
    Column("first_step", "", "first step of it"),
    Column("last_step", "", "last step of it"),
    _vector("position", LENGTH, "place in the world"),
    _vector("normal", "", "unit, from A to B in the world; zero: not known"),
    _vector("normal_in_a", "", "unit, out of A, in the axes of A"),
    _vector("normal_in_b", "", "unit, out of B, in the axes of B"),
    Column("clock_a", "", "where on A: 12 ahead, 3 right, 6 behind, 9 left; 0: not known"),
    Column("clock_b", "", "where on B"),
    Column("side_a", "", "side of A that the normal points out of", words=Side),
    Column("side_b", "", "side of B", words=Side),
    Column("closing_speed", "length/s", "how fast they approach along the normal; negative: they separate"),
    _vector("relative_velocity", "length/s", "velocity of B there less that of A, in the world"),
    Column("speed_a", "length/s", "of A's origin"),
    Column("speed_b", "length/s", "of B's origin"),
    Column("heading_difference", "rad", "heading of B less that of A: 0 the same way, pi head-on"),
    Column("gap", LENGTH, "least distance; 0 of those that touch"),
    Column("depth", LENGTH, "deepest overlap at the frames; 0: none"),
    Column("overlap_frames", "", "frames at which they overlap; 0 of a meeting: a test of frames misses it"),
    Column("ttc", "s", "least time to collision; none: not a number", _finite("ttc", lambda r: r.ttc)),
    Column("ttc_time", "s", "when; none: not a number", _finite("ttc_time", lambda r: r.ttc_time)),
    Column("pet", "s", "post-encroachment time; none: not a number", _finite("pet", lambda r: r.pet)),
)
_TOUCHED = (
    Column("body", "", "body of the world that is touched; -1: none"),
    *_features("the mover's", "the obstacle's"),
)
_TRACE = (
    _counter("mover", "row of the movers, or of the pairs given"),
    _status("MISS: nothing in the way; HIT: something is"),
    Column("fraction", "motion", "how much of the motion is free"),
    Column("part", "", "0 if it ended in a translation, 1 if in a rotation"),
    Column("kind", "", "which features touch, the mover's first", words=Touch),
    *_TOUCHED,
    _vector("point", LENGTH, "where they touch, in the world; zero where nothing is touched"),
    _vector("normal", "", "unit, from the obstacle to the mover; zero where nothing is touched"),
    _vector("position", LENGTH, "where the mover ends"),
    Column("quat", "", "how it is turned there, w first", lambda r: r.quat_wxyz, None, WXYZ),
    Column("expel", LENGTH, "thickness of the zone around obstacles that it does not enter"),
)
_TOUCH_POINTS = (
    Column("mover", "", "row of the movers"),
    Column("kind", "", "which features are near each other, the mover's first", words=Touch),
    Column("body", "", "body of the world that is near"),
    *_features("the mover's", "the obstacle's"),
    _vector("point", LENGTH, "where they are near, in the world; zero of OVERLAP without a depth, as normal"),
    _vector("normal", "", "unit, from the obstacle to the mover"),
    Column("distance", LENGTH, "along the normal; below 0 behind a surface, or how deep"),
)
_CLEARANCE = (
    Column("pair", "", "row of the pairs"),
    Column("body_a", "", "body A", _body(0)),
    Column("body_b", "", "body B", _body(1)),
    _status("MISS: apart; HIT: they meet; INITIAL_OVERLAP: in each other at the start, or at the time asked"),
    Column("time", "step", "when they are nearest; none: not a number", _finite("time", lambda r: r.time)),
    Column(
        "distance",
        LENGTH,
        "then, below 0 in each other; farther apart than max_distance: not a number",
        _finite("distance", lambda r: r.distance),
    ),
    Column("lower_bound", LENGTH, "proved: they are never nearer than that"),
    Column("kind", "", "which features are nearest to each other, those of A first", words=Kind),
    *_features("A's", "B's"),
    _vector("point_a", LENGTH, "nearest point of A, in the world at that time; zero: none"),
    _vector("point_b", LENGTH, "nearest point of B"),
    _vector("normal", "", "unit, from A to B; zero: none"),
)
_MANIFOLDS = (
    Column("pair", "", "row of the pairs"),
    Column("body_a", "", "body A", _body(0)),
    Column("body_b", "", "body B", _body(1)),
    Column("region", "", "region of contact, from 0"),
    Column("key", "", "identity of the point: of its bodies, shapes and features"),
    Column("distance", LENGTH, "between both points along the normal; below 0: how deep"),
    Column("kind", "", "which features hold the points, those of A first", words=Kind),
    *_features("A's", "B's"),
    _vector("point_a", LENGTH, "on A, in the world"),
    _vector("point_b", LENGTH, "on B"),
    _vector("normal", "", "unit, from A to B"),
    _vector("local_a", LENGTH, "the point of A in A's frame"),
    _vector("local_b", LENGTH, "the point of B in B's frame"),
)
_NEAR_MISSES = (
    Column("body_a", "", "body A; the moving ones are counted first"),
    Column("body_b", "", "body B"),
    *_ids(lambda side, r: getattr(r, f"body_{side}")),
    Column(
        "time", "s", "when they are nearest; nothing known: not a number", _finite("time", lambda r: r.time)
    ),
    Column(
        "gap",
        LENGTH,
        "then, the least of the pass; 0: they meet; nothing known: not a number",
        _finite("gap", lambda r: r.gap),
    ),
    Column("closing_speed", "length/s", "how fast the gap falls then; no place: not a number"),
    _status("MISS: apart; HIT: they meet; INITIAL_OVERLAP: in each other when the step begins"),
    Column("lower_bound", LENGTH, "proved: they are never nearer during the pass"),
    Column("step", "", "from frame number step to the next one: when they are nearest"),
    Column(
        "fraction",
        "step",
        "the time as a fraction of its step; nothing known: not a number",
        _finite("fraction", lambda r: r.fraction),
    ),
    Column("first_step", "", "first step of the pass"),
    Column("last_step", "", "last step of the pass"),
    Column("kind", "", "which features are nearest to each other, those of A first", words=Kind),
    *_features("A's", "B's"),
    _vector("point_a", LENGTH, "nearest point of A, in the world at that time; zero: none"),
    _vector("point_b", LENGTH, "nearest point of B"),
    _vector("normal", "", "unit, from A to B; zero: none"),
)
_MOTION_CHECKS = (
    _status("MISS: proved free; HIT, INITIAL_OVERLAP: a pose collides; UNRESOLVED: neither"),
    Column("free_fraction", "motion", "proved free up to this time"),
    Column("time", "motion", "a pose that collides; none: not a number", _finite("time", lambda r: r.time)),
    Column("link", "", "the link that collides, or for which the proof fails; -1: none"),
    Column("other", "", "the obstacle, or other link; -1: none"),
    Column("other_is_link", "", "`other` is a link"),
    _vector("point", LENGTH, "where they collide, if asked for; zero: none"),
    Column("pieces", "", "pieces of the motion that were looked at"),
    Column("gap", LENGTH, "how near a free motion comes to something, if asked for; none: not a number",
           _finite("gap", lambda r: r.gap)),
    Column("gap_bound", LENGTH, "it never comes nearer than this; 0: nothing is known",
           _finite("gap_bound", lambda r: r.gap_bound)),
    Column("gap_time", "motion", "when it is nearest; none: not a number",
           _finite("gap_time", lambda r: r.gap_time)),
    Column("gap_link", "", "the link that comes nearest; -1: none"),
    Column("gap_other", "", "the obstacle, or other link; -1: none"),
    Column("gap_other_is_link", "", "`gap_other` is a link"),
)  # fmt: skip
_HITS = (
    Column("query", "", "row of what is swept"),
    Column("time", "displacement", "fraction of the displacement at which it is touched; 1 where nothing is"),
    Column("feature", "", "what is touched", words=Feature),
    Column("body", "", "body of the world; -1: none"),
    Column("face", "", "face of the body's Mesh"),
    Column("number", "", "number of the face, edge or vertex in the body's Mesh"),
    Column("sphere", "", "of a cluster: which of its spheres"),
    _vector("point", LENGTH, "where it is touched, in the world; zero where nothing is"),
    _vector("normal", "", "unit, towards the centre; zero where nothing is touched"),
)
_SLIDES = (
    _counter("character", "row of the characters"),
    _status("MISS: nothing was in its way; HIT: something was; UNRESOLVED: it was not done"),
    _vector("position", LENGTH, "of the centre, in the world"),
    _vector("velocity", "length/step", "what is left of the velocity given"),
    _vector("fall_velocity", "length/step", "what is left of gravity"),
    Column("ground_body", "", "body that it stands on; -1: none"),
    _vector("ground_normal", "", "unit; zero where there is no ground"),
    Column("casts", "", "how many casts it took"),
)
_PLANES = (
    Column("query", "", "row of the ellipsoids"),
    Column("feature", "", "on which the point lies", words=Feature),
    Column("body", "", "body of the world"),
    Column("face", "", "face of the body's Mesh"),
    Column("number", "", "number of the face, edge or vertex in the body's Mesh"),
    Column("gap", LENGTH, "along the normal; below 0 where the surface is within"),
    _vector("normal", "", "unit, in the world, towards the ellipsoid's centre"),
    _vector("point", LENGTH, "of the surface, the nearest in the ellipsoid's measure"),
    _vector("body_displacement", LENGTH, "how far the body goes there, over its whole step"),
)
_CLIPPED = (
    _counter("velocity_of", "row of the velocities"),
    _status("MISS: nothing is in the way; HIT: it was clipped; UNRESOLVED: none is allowed"),
    _vector("velocity", "length/step", "of those allowed the one nearest to what was given"),
    Column("active_planes", "", "in how many of its planes it lies; -1 if it is UNRESOLVED"),
)

TABLES: Mapping[str, Mapping[str, tuple[Column, ...]]] = {
    "Contacts": {"contacts": _CONTACTS, "pairs": _PAIRS},
    "TrajectoryContacts": {"contacts": _TRAJECTORY, "pairs": _TRAJECTORY_PAIRS, "skipped": _SKIPPED},
    "Encounters": {"encounters": _ENCOUNTERS},
    "TrafficEvents": {"events": _EVENTS},
    "Clearance": {"rows": _CLEARANCE},
    "NearMisses": {"passes": _NEAR_MISSES, "skipped": _SKIPPED},
    "Manifolds": {"points": _MANIFOLDS},
    "MotionChecks": {"motions": _MOTION_CHECKS},
    "Trace": {"movers": _TRACE},
    "TouchPoints": {"points": _TOUCH_POINTS},
    "Hits": {
        "hits": _HITS,
        "queries": (
            _counter("query", "row of what is swept"),
            _status("MISS: nothing is touched; HIT: something is"),
            _owned("rows", "offsets", "how many rows of hits it has"),
        ),
    },
    "Slides": {"characters": _SLIDES},
    "Planes": {"planes": _PLANES},
    "ClippedVelocities": {"velocities": _CLIPPED},
}
"""For each class of results its tables by name, the one that is meant if none is named first."""

WORLD = Column("world", "", "world of the pair, where the numbers of the bodies' worlds are given")
