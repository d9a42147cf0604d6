"""Properties that hold for every result, checked without any formula of the narrow phase.

`collide` calls `ensure` when the environment variable GPU_COLLIDE_CHECK is 1; the tests turn it on. It reads
the result, the meshes and the poses, and nothing else: not the kernels, not the reference, not their frame.
docs/guarantees.md lists what is checked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.results.contacts import Kind, Status
from gpu_collide.results.invariants_motion import BodyMotions, Motion, Tables, carry

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ContactsWanted, MotionName, Precision, Refine
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.contacts import Contacts

__all__ = ["enabled", "ensure", "violations"]

FLOATS = (
    "time", "position", "normal", "properness", "local_a", "local_b", "normal_speed", "time_end",
)  # fmt: skip


@dataclass(frozen=True)
class _Slack:
    """What rounding may do, by precision. Worst values seen over the matrix stand beside them."""

    unit: float  # length of normals
    place: float  # local points off their features and off each other, of the size
    reach: float  # the same, of the way between the bodies and of their motion: rounding of poses
    outside: float  # how long before or after the step a time may be that was clamped to its ends
    turn: float  # normals off those of their faces
    half_turn: float  # real part of a turn below which two screws fit within rounding
    grain: float  # rounding of an equation, of size and speed
    doubt: float  # the most that a slow meeting's place may be off for it, of size and speed


# Seen at worst over the families of the matrix, float64: unit 2e-15, place 1e-11 (the touch tolerance), reach
# and turn below 1e-15; float32: 1.3e-6, below 1e-5, 1e-7 and 1e-5. A contact may be clamped from as far
# outside as roots are looked for, GC_TAU_TIME + GC_TAU_LENGTH size/speed.
_SLACK = {
    "double": _Slack(1e-14, 2e-11, 1e-14, 1e-9, 1e-12, 1e-9, 4e-15, 1e-9),
    "single": _Slack(5e-6, 1e-4, 1e-5, 1e-5, 1e-4, 1e-4, 1e-6, 1e-5),
}


def enabled() -> bool:
    """Whether GPU_COLLIDE_CHECK asks for the check of every result."""
    return os.environ.get("GPU_COLLIDE_CHECK", "").strip() not in ("", "0")


def ensure(found: Contacts, bodies: Bodies, pairs: Array, **options: Any) -> None:
    """Raise AssertionError if the result breaks a promise; arguments as for `violations`."""
    bad = violations(found, bodies, pairs, **options)
    if bad:
        raise AssertionError(
            "a result of gpu_collide breaks what holds of every result (GPU_COLLIDE_CHECK=1); this is a "
            "defect of the library, please report it:\n  " + "\n  ".join(bad)
        )


def violations(
    found: Contacts,
    bodies: Bodies,
    pairs: Array | None = None,
    *,
    min_properness: float = -0.1,
    precision: Precision = "mixed",
    refine: Refine = "exact",
    contacts: ContactsWanted = "all",
    motion: MotionName = "relative",
    target_distance: Any = 0.0,
) -> list[str]:
    """Sentences about every promise that the result breaks; none if it is sound.

    Parameters
    ----------
    found : Contacts
    bodies : Bodies
    pairs : (p, 2) array_like of int, optional
        Default: the pairs that the result holds.
    min_properness, precision, refine, contacts, motion, target_distance
        As the query was asked; of distances one, or (p,) of the pairs. Places are checked in exact mode only;
        the others are off by pixels.
    """
    found = found.to_numpy()
    pairs = np.asarray(found.pairs if pairs is None else pairs).reshape(-1, 2)
    slack = _SLACK["single" if precision == "single" else "double"]
    bad = _form(found, pairs) + _status(found, bodies, pairs, contacts)
    if bad or len(found) == 0:  # nothing can be indexed by what is broken
        return bad
    bad = _features(found, bodies, pairs) + _numbers(found, min_properness, slack)
    if not bad and len(found) and refine == "exact":
        kind = BodyMotions if motion == "body" else Motion
        distance = np.broadcast_to(target_distance, len(pairs))[found.pair]
        bad = _places(found, bodies, pairs, slack, kind, distance)
    return bad


def _tell(found: Contacts, wrong: Array, what: str, value: Array | None = None) -> list[str]:
    """One sentence about the rows of `wrong`, with the worst or the first of them."""
    rows = np.flatnonzero(wrong)
    if len(rows) == 0:
        return []
    k = rows[np.argmax(value[rows])] if value is not None else rows[0]
    kind = int(found.kind[k])
    name = Kind(kind).name if kind in list(Kind) else kind
    text = f"{what} in {len(rows)} of {len(found)} contacts, such as contact {k} of pair {found.pair[k]} ("
    text += f"{name} {found.feature_a[k]}, {found.feature_b[k]} at {found.time[k]:.17g}"
    return [text + (f": {value[k]:.3g})" if value is not None else ")")]


def _form(found: Contacts, pairs: Array) -> list[str]:
    """Counts, ranges of contacts, order."""
    bad: list[str] = []
    n = len(found)
    if len(pairs) != found.n_pairs:
        bad.append(f"{found.n_pairs} statuses for {len(pairs)} pairs")
    start = found.contact_start
    if start[0] != 0 or start[-1] != n or (np.diff(start) < 0).any():
        return [*bad, "contact_start does not rise from 0 to the number of contacts"]
    if not np.array_equal(found.pair, np.repeat(np.arange(found.n_pairs), np.diff(start))):
        bad.append("pair and contact_start disagree")
    if not np.isin(found.status, list(Status)).all():
        bad.append("a status that does not exist")
    bad += _tell(found, found.kind > max(Kind), "a kind that does not exist")
    keys = (found.feature_b, found.feature_a, found.kind, found.time, found.pair)
    if not np.array_equal(np.lexsort(keys), np.arange(n)):
        bad.append("contacts are not ordered by pair, time, kind, features")
    same = np.ones(max(n - 1, 0), bool)
    for key in keys:
        same &= key[1:] == key[:-1]
    return bad + _tell(found, np.append(False, same), "the same contact twice")


def _status(found: Contacts, bodies: Bodies, pairs: Array, contacts: ContactsWanted) -> list[str]:
    """Status, first times and contacts say the same."""
    bad: list[str] = []
    first = np.full(found.n_pairs, np.inf)
    np.minimum.at(first, found.pair, found.time)
    if not np.array_equal(first, found.toi):
        bad.append("toi is not the first time of the pair's contacts")
    if contacts == "first":
        bad += _tell(found, found.time != found.toi[found.pair], "contacts='first', but a later time")
    some, status = np.diff(found.contact_start) > 0, found.status
    for wrong, what in (
        ((status == Status.HIT) & ~some, "HIT without a contact"),
        ((status == Status.MISS) & some, "MISS with contacts"),
        ((status == Status.INVALID_INPUT) & some, "INVALID_INPUT with contacts"),
    ):
        if wrong.any():
            bad.append(f"{what} in {wrong.sum()} pairs, first: pair {np.argmax(wrong)}")
    invalid = ~bodies.valid[pairs].all(axis=1)
    unsaid = invalid & (status != Status.INVALID_INPUT)
    if unsaid.any():
        bad.append(
            f"an invalid pose without INVALID_INPUT in {unsaid.sum()} pairs, first: {np.argmax(unsaid)}"
        )
    return bad


def _sorts(side: int) -> list[str]:
    """Of each kind what it is of A (`side` 0) or B: F, V or E."""
    return [Kind(number).name[side] for number in range(max(Kind) + 1)]


def _features(found: Contacts, bodies: Bodies, pairs: Array) -> list[str]:
    """Feature numbers within their meshes."""
    bad: list[str] = []
    count = np.array([(m.n_faces, m.n_vertices, m.n_edges) for m in bodies.meshes])
    for side, name in enumerate(("feature_a", "feature_b")):
        number, column = getattr(found, name), np.array(["FVE".index(sort) for sort in _sorts(side)])
        most = count[bodies.shape[pairs[found.pair, side]], column[found.kind]]
        bad += _tell(found, (number < 0) | (number >= most), f"{name} is no feature of its mesh")
    return bad


def _numbers(found: Contacts, min_properness: float, slack: _Slack) -> list[str]:
    """Finite values, unit normals, times in the step, properness in its range."""
    bad: list[str] = []
    for name in FLOATS:
        value = getattr(found, name).reshape(len(found), -1)
        bad += _tell(found, ~np.isfinite(value).all(axis=1), f"{name} is not finite")
    if bad:
        return bad
    off = np.abs(np.sqrt((found.normal**2).sum(axis=1)) - 1)
    bad += _tell(found, off > slack.unit, "normal is no unit vector: off", off)
    time, end, lasts = found.time, found.time_end, found.sustained
    bad += _tell(found, (time < 0) | (time > 1), "time outside [0, 1]")
    bad += _tell(found, (end < time) | (end > 1), "time_end before time or after the step")
    bad += _tell(found, ~lasts & (end != time), "time_end differs from time in a contact that does not last")
    proper = found.properness
    bad += _tell(found, np.abs(proper) > 1 + slack.unit, "properness outside [-1, 1]")
    return bad + _tell(found, proper < min_properness, "properness below the threshold")


def _places(
    found: Contacts, bodies: Bodies, pairs: Array, slack: _Slack, kind: type[Motion], distance: Array
) -> list[str]:
    """Local points lie on their features, meet at the time of the contact, or are as far apart then as was
    asked for, and are where the world says."""
    table = Tables(bodies.meshes)
    a, b = pairs[found.pair].T
    motion = kind.of_pairs(bodies, table, a, b)
    sure = motion.real > slack.half_turn
    size, time = motion.size, found.time
    room = slack.place * size + slack.reach * motion.way
    # what was clamped to the ends of the step may lie outside it by tau
    clamped = (time <= 0) | (time >= 1) | (found.time_end >= 1)
    drift = slack.outside * (motion.speed + 0.1 * size)
    room = room + np.where(clamped, drift, 0.0)
    sine = np.maximum(motion.sine(table, found), 1e-12)
    soft = room / sine
    # a slow meeting's time is in doubt, and with it its place at a border (decision 0016)
    unit = size + motion.speed
    with np.errstate(over="ignore"):  # next to no speed: in as much doubt as there may be
        late = motion.speed / np.maximum(np.abs(found.normal_speed), 1e-300)
    border = soft + np.minimum(slack.grain * unit / sine * (1 + late), slack.doubt * unit)

    bad: list[str] = []
    shape_a, shape_b = bodies.shape[a], bodies.shape[b]
    sort_a, sort_b = (np.array(_sorts(side))[found.kind] for side in (0, 1))
    off_a = table.off_feature(shape_a, sort_a, found.feature_a, found.local_a)
    off_b = table.off_feature(shape_b, sort_b, found.feature_b, found.local_b)
    bad += _tell(found, off_a > border, "local_a is off its feature by", off_a)
    bad += _tell(found, off_b > border, "local_b is off its feature by", off_b)

    apart = motion.b_in_a(time, found.local_b) - found.local_a
    # what is not above the touch tolerance is no distance
    wide = np.where(distance > slack.place * size, distance, 0.0)
    off = np.abs(np.sqrt((apart**2).sum(axis=1)) - wide)
    bad += _tell(
        found,
        sure & (distance > 0) & (off > soft),
        "local_a and local_b are not at the distance: off by",
        off,
    )
    apart = np.abs(apart).max(axis=1)
    meet = sure & (distance == 0) & (apart > soft)
    bad += _tell(found, meet, "local_a and local_b do not meet: apart by", apart)

    world, turned, far, real = carry(bodies, a, time, found.local_a, motion.face_normal(table, found))
    sure_world = real > slack.half_turn
    off = np.abs(world - found.position).max(axis=1)
    allowed = soft + slack.reach * (far + np.abs(found.position).max(axis=1))
    bad += _tell(found, sure_world & (off > allowed), "position is not A's point in the world: off by", off)
    face = np.isin(found.kind, (Kind.FV, Kind.VF)) & sure & sure_world
    # from A to B: out of a face of A, into a face of B; only a sheet has two sides to choose from
    turned = np.where((found.kind == Kind.VF)[:, None], -turned, turned)
    sheet = np.array([m.two_sided for m in bodies.meshes])[np.where(found.kind == Kind.VF, shape_b, shape_a)]
    turned = np.where((sheet & ((turned * found.normal).sum(axis=1) < 0))[:, None], -turned, turned)
    tilt = np.abs(turned - found.normal).max(axis=1)
    return bad + _tell(found, face & (tilt > slack.turn), "normal is not that of its face: off by", tilt)
