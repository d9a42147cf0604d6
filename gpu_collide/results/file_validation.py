"""Properties that hold for every result, checked when one is read from a file: the first field that
violates one is named.

Each function takes the arrays by name and yields ``(field, what is wrong)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few, how_many
from gpu_collide.results.enums import CONTACT_KINDS, Feature, Kind, Status, Touch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array, BoolArray

__all__ = [
    "array_faults",
    "clearance_faults",
    "clipped_faults",
    "contact_faults",
    "csr_faults",
    "encounter_faults",
    "event_faults",
    "id_faults",
    "manifold_faults",
    "normal_faults",
    "part_faults",
    "planes_faults",
    "slides_faults",
    "touch_faults",
    "trace_faults",
    "trajectory_faults",
]

# Lengths of normals and properness in files: float32 leaves 2e-7, and no result is meant to be off by more.
UNIT_TOLERANCE = 1e-3
_ENDLESS = ("ttc", "ttc_time", "pet")  # of events: inf where there is none
SKIP_REASONS = ("invalid", "teleport", "turn")


def _rows(name: str, bad: BoolArray, expected: str) -> Iterator[tuple[str, str]]:
    """A fault if any row is bad."""
    if bad.any():
        rows = np.unique(np.argwhere(bad)[:, 0])
        got = f"other values in {how_many(len(rows), 'row')}, first: {first_few(rows)}"
        yield name, f"expected {expected}, got {got}"


def csr_faults(name: str, start: Array, count: int) -> Iterator[tuple[str, str]]:
    """Faults of the offsets `name` of `count` rows."""
    if start[0] != 0 or start[-1] != count or (np.diff(start) < 0).any():
        yield name, f"expected numbers that rise from 0 to the {count} rows"


def array_faults(
    a: Mapping[str, Array], finite: Sequence[str], starts: tuple[str, str] | None
) -> Iterator[tuple[str, str]]:
    """Faults of any result, by what its class declares: `finite` arrays, and the offsets of its rows with the
    array that names their owners."""
    if "status" in a:
        yield from _rows("status", a["status"] >= len(Status), f"statuses 0 to {len(Status) - 1}")
    for name in finite:
        yield from _rows(name, ~np.isfinite(a[name]), "finite numbers")
    if starts is not None:
        start, owner = (a[name] for name in starts)
        found = list(csr_faults(starts[0], start, len(owner)))
        yield from found
        if not found:
            expected = np.repeat(np.arange(len(start) - 1), np.diff(start))
            yield from _rows(starts[1], owner != expected, f"the numbers that {starts[0]} says")


def _each_contact_faults(a: Mapping[str, Array], fraction: str) -> Iterator[tuple[str, str]]:
    """Faults of what a contact is in both kinds of result; `fraction` names the time in [0, 1]."""
    yield from _rows("kind", a["kind"] > max(Kind), f"kinds 0 to {max(Kind)}")
    for name in ("feature_a", "feature_b"):
        yield from _rows(name, a[name] < 0, "numbers of features from 0 up")
    yield from _rows(fraction, ~((a[fraction] >= 0) & (a[fraction] <= 1)), "fractions of the step in [0, 1]")
    yield from _rows("properness", np.abs(a["properness"]) > 1 + UNIT_TOLERANCE, "numbers in [-1, 1]")
    yield from _rows("sustained", a["sustained"].view(np.uint8) > 1, "true or false")
    lasts = np.where(a["sustained"], a["time_end"] >= a["time"], a["time_end"] == a["time"])
    yield from _rows("time_end", ~lasts, "the time, or a later one where sustained")


def part_faults(a: Mapping[str, Array], names: object) -> Iterator[tuple[str, str]]:
    """Faults of the parts that contacts are on, whose names stand in the info."""
    if ("part_a" in a) != ("part_b" in a):
        yield "part_a" if "part_b" in a else "part_b", "expected it beside the other one"
    for name in ("part_a", "part_b"):
        if name in a:
            if not isinstance(names, (list, tuple)) or not all(isinstance(text, str) for text in names):
                yield "info", "expected the names of parts"
                return
            wrong = (a[name] < -1) | (a[name] >= len(names))
            yield from _rows(name, wrong, f"numbers of the {len(names)} names of parts, or -1")


def normal_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of normals as directions."""
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - 1) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1")


def _order_faults(name: str, keys: Sequence[Array]) -> Iterator[tuple[str, str]]:
    """A fault if rows are not in the lexicographic order of `keys`."""
    behind = np.zeros(max(len(keys[0]) - 1, 0), bool)
    equal = ~behind
    for key in keys:
        behind |= equal & (key[1:] < key[:-1])
        equal &= key[1:] == key[:-1]
    yield from _rows(name, np.append(False, behind)[: len(keys[0])], "rows in the order of the result")


def _toi_faults(name: str, toi: Array, time: Array, start: Array) -> Iterator[tuple[str, str]]:
    """Faults of the earliest time of each pair."""
    expected = np.full(len(toi), np.inf)
    np.minimum.at(expected, np.repeat(np.arange(len(toi)), np.diff(start)), time)
    yield from _rows(name, toi != expected, "the time of the pair's earliest contact")


def contact_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Contacts`."""
    start, time = a["contact_start"], a["time"]
    yield from _each_contact_faults(a, "time")
    yield from _rows("time_end", a["time_end"] > 1, "fractions of the step in [0, 1]")
    yield from _toi_faults("toi", a["toi"], time, start)
    yield from _order_faults("time", [a[n] for n in ("pair", "time", "kind", "feature_a", "feature_b")])
    if "exit" in a:
        yield from _rows("exit", (a["exit"] < 0) | ((a["exit"] > 1) & (a["exit"] < np.inf)), "times or inf")
    if "pairs" in a:
        pairs = a["pairs"]
        yield from _rows(
            "pairs", (pairs < 0).any(axis=1) | (pairs[:, 0] == pairs[:, 1]), "two different bodies"
        )


def trajectory_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `TrajectoryContacts`."""
    start, pairs, first = a["contact_start"], a["pairs"], int(a["first_step"])
    stop = first + len(a["step_pairs"])
    if first < 0:
        yield "first_step", f"expected a number from 0 up, got {first}"
    yield from _rows("step_pairs", a["step_pairs"] < 0, "numbers from 0 up")
    if "step_start" in a:
        yield from _rows("step_start", np.isinf(a["step_start"]), "times, or not a number")
    yield from _rows("pairs", pairs["status"] >= len(Status), f"statuses 0 to {len(Status) - 1}")
    yield from csr_faults("contact_start", start, len(a["time"]))
    owner = np.repeat(np.arange(len(pairs)), np.diff(start))
    for name in ("step", "body_a", "body_b"):
        yield from _rows(name, a[name] != pairs[name][owner], "those of pairs")
    for name, steps in (("pairs", pairs["step"]), ("skipped", a["skipped"]["step"])):
        yield from _rows(name, (steps < first) | (steps >= stop), f"steps from {first} to {stop - 1}")
    yield from _rows("pairs", (pairs["body_a"] < 0) | (pairs["body_b"] <= pairs["body_a"]), "body_a < body_b")
    yield from _order_faults("pairs", [pairs[n] for n in ("step", "body_a", "body_b")])
    yield from _skipped_faults(a["skipped"])
    yield from _each_contact_faults(a, "fraction")
    yield from _toi_faults("pairs", pairs["toi"], a["time"], start)
    if "exit" in a:
        early = (pairs["status"] == Status.HIT) & (a["exit"] < pairs["toi"])
        yield from _rows("exit", early | np.isneginf(a["exit"]), "times from toi on, inf, or not a number")
    keys = [owner, *(a[n] for n in ("fraction", "kind", "feature_a", "feature_b"))]
    yield from _order_faults("fraction", keys)


def _skipped_faults(skipped: Array) -> Iterator[tuple[str, str]]:
    """Faults of who was left out of a step."""
    yield from _rows("skipped", skipped["body"] < 0, "bodies from 0 up")
    reasons = np.isin(skipped["reason"], SKIP_REASONS)
    yield from _rows("skipped", ~reasons, f"the reasons {', '.join(SKIP_REASONS)}")


def encounter_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of an `Encounters`."""
    yield from _rows("body_b", (a["body_a"] < 0) | (a["body_b"] <= a["body_a"]), "body_a < body_b")
    yield from _rows("contacts", a["contacts"] < 0, "numbers of contacts")
    yield from _rows("last_step", a["last_step"] < a["first_step"], "the first step or a later one")
    touched = a["contacts"] > 0
    yield from _rows("hardest", (a["hardest"] >= 0) != touched, "rows of contacts, -1 where there is none")
    off = (a["hardest_step"] < a["first_step"]) | (a["hardest_step"] > a["last_step"])
    off = np.where(touched, off, a["hardest_step"] != -1)
    yield from _rows("hardest_step", off, "steps from the first to the last, -1 without a contact")
    for name, none in (("hardest_time", np.inf), ("approach", -np.inf)):
        off = np.where(touched, ~np.isfinite(a[name]), a[name] != none)
        yield from _rows(name, off, f"finite numbers, {none} without a contact")
    late = (a["hardest_time"] < a["first_time"]) | (a["last_time"] < a["hardest_time"])
    yield from _rows("hardest_time", late & touched, "times from the first to the last")
    yield from _rows("last_time", a["last_time"] < a["first_time"], "the first time or a later one")
    yield from _rows("in_touch", a["in_touch"].view(np.uint8) > 1, "true or false")
    if "depth" in a:
        yield from _rows("depth", ~((a["depth"] >= 0) & (a["depth"] < np.inf)), "lengths from 0 up")
        late = (a["depth_time"] < a["first_time"]) | (a["last_time"] < a["depth_time"])
        yield from _rows("depth_time", late, "times from the first to the last, or not a number")
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - touched) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1, zero without a contact")
    yield from _order_faults("first_time", [a[n] for n in ("first_time", "body_a", "body_b", "first_step")])


def event_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `TrafficEvents`."""
    yield from _rows("body_b", (a["body_a"] < 0) | (a["body_b"] <= a["body_a"]), "body_a < body_b")
    for name, most in (("kind", 2), ("clock_a", 12), ("clock_b", 12), ("side_a", 6), ("side_b", 6)):
        yield from _rows(name, a[name] > most, f"numbers from 0 to {most}")
    for name in _ENDLESS:
        yield from _rows(name, np.isnan(a[name]), "numbers")
    for name in (*_ENDLESS, "gap", "depth", "overlap_frames"):
        yield from _rows(name, a[name] < 0, "0 or more") if name != "ttc_time" else ()
    yield from _rows("last_step", a["last_step"] < a["first_step"], "the first step or a later one")
    yield from _rows("last_time", a["last_time"] < a["first_time"], "the first time or a later one")
    yield from _order_faults("time", [a[name] for name in ("time", "body_a", "body_b", "step")])


def id_faults(info: Mapping[str, Any], a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of the ids that stand in ``info``, of results with the bodies `a`."""
    ids = info.get("ids", [])
    if not isinstance(ids, list) or not all(isinstance(value, (str, int, float)) for value in ids):
        yield "info", "expected a list of numbers and texts for ids"
        return
    most = max((int(a[name].max(initial=-1)) for name in ("body_a", "body_b") if name in a), default=-1)
    still = info.get("n_static", 0)
    if "ids" in info and not (isinstance(still, int) and most < len(ids) + still):
        yield "info", f"expected an id for each of {most + 1} bodies, got {len(ids)}"


def trace_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Trace`, whose kinds have one more for none."""
    hit = a["kind"] > 0
    off = ((a["status"] == 1) != hit) & (a["status"] != 2)
    yield from _rows("status", off, "HIT or INITIAL_OVERLAP where something is touched, and HIT nowhere else")
    yield from _rows("kind", a["kind"] > len(CONTACT_KINDS), f"kinds 0 to {len(CONTACT_KINDS)}")
    yield from _rows("fraction", ~((a["fraction"] >= 0) & (a["fraction"] <= 1)), "shares in [0, 1]")
    yield from _rows("part", a["part"] > 1, "0 or 1")
    for name in ("body", "feature_a", "feature_b"):
        yield from _rows(
            name, np.where(hit, a[name] < 0, a[name] != -1), "numbers where something is touched, else -1"
        )
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - hit) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1 where something is touched, else zero")


def touch_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `TouchPoints`."""
    last = max(Touch)
    yield from _rows("kind", (a["kind"] < 1) | (a["kind"] > last), f"kinds 1 to {last}")
    into = a["kind"] == Touch.OVERLAP
    yield from _rows("body", a["body"] < 0, "numbers from 0 up")
    for name in ("feature_a", "feature_b"):
        yield from _rows(name, np.where(into, a[name] != -1, a[name] < 0), "numbers from 0 up, -1 of OVERLAP")
    told = ~into | (a["distance"] < 0.0)
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - told) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1, of OVERLAP without a depth zero")
    yield from _order_faults("kind", [a[n] for n in ("mover", "kind", "feature_a", "body", "feature_b")])


def hits_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Hits`, whose features are as many as the kinds, and none."""
    hit = a["feature"] > 0
    touched = np.zeros(len(a["status"]), bool)
    touched[a["query"][hit]] = True
    yield from _rows("status", (a["status"] == Status.HIT) != touched, "HIT where something is touched, only")
    yield from _rows("feature", a["feature"] > max(Feature), f"features 0 to {max(Feature)}")
    yield from _rows("time", ~((a["time"] >= 0) & (a["time"] <= 1)), "shares in [0, 1]")
    for name in ("body", "face", "number", "sphere"):
        yield from _rows(
            name, np.where(hit, a[name] < 0, a[name] != -1), "numbers where something is touched, else -1"
        )
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - hit) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1 where something is touched, else zero")


def clearance_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Clearance`, which has kinds beyond those of contacts."""
    yield from _rows("pair", (a["pair"] < 0) | (a["pair"] >= len(a["pairs"])), "rows of pairs")
    yield from _rows("pairs", a["pairs"] < 0, "numbers of bodies from 0 up")
    yield from _nearest_faults(a, "time", "distance")


def manifold_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of `Manifolds`."""
    yield from _rows("pair", (a["pair"] < 0) | (a["pair"] >= len(a["pairs"])), "rows of pairs")
    yield from _rows("pairs", a["pairs"] < 0, "numbers of bodies from 0 up")
    yield from _rows("kind", (a["kind"] < -1) | (a["kind"] > max(Kind)), f"kinds -1 to {max(Kind)}")
    for name in ("feature_a", "feature_b"):
        yield from _rows(name, (a["kind"] >= 0) != (a[name] >= 0), "numbers where a kind is told, else -1")
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - 1.0) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1")
    yield from _order_faults("region", [a["pair"], a["region"]])


def near_miss_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `NearMisses`."""
    yield from _rows("body_b", (a["body_a"] < 0) | (a["body_b"] <= a["body_a"]), "body_a < body_b")
    off = (a["first_step"] < 0) | (a["step"] < a["first_step"]) | (a["last_step"] < a["step"])
    yield from _rows("step", off, "steps from the first to the last")
    yield from _rows("gap", a["gap"] < 0, "lengths from 0 up")
    if "since" in a:
        yield from _rows("since", a["since"] > a["first_step"], "steps up to the first one")
    frames = a["frames"].tolist() if "frames" in a else [-1, -1]
    if len(frames) != 2 or (frames != [-1, -1] and not 0 <= frames[0] <= frames[1]):
        yield "frames", f"expected the first frame and the last, or -1 for both, got {frames}"
    elif frames[1] >= 0:
        off = (a["first_step"] < frames[0]) | (a["last_step"] >= frames[1])
        yield from _rows("first_step", off, f"steps of the frames {frames[0]} to {frames[1]}")
    yield from _nearest_faults(a, "fraction", "gap")
    yield from _order_faults("time", [a[n] for n in ("time", "body_a", "body_b", "step")])
    yield from _skipped_faults(a["skipped"])


def _nearest_faults(a: Mapping[str, Array], time: str, distance: str) -> Iterator[tuple[str, str]]:
    """Faults of what is told of nearest points; `time` and `distance` are the names of these fields."""
    told = a["kind"] >= 0
    yield from _rows("kind", (a["kind"] < -1) | (a["kind"] > max(Kind)), f"kinds -1 to {max(Kind)}")
    for name in ("feature_a", "feature_b"):
        yield from _rows(
            name, np.where(told, a[name] < 0, a[name] != -1), "numbers of features where there is a place"
        )
    yield from _rows(time, told & ~((a[time] >= 0) & (a[time] <= 1)), "fractions of the step in [0, 1]")
    yield from _rows(distance, np.isnan(a[distance]), "numbers")
    yield from _rows("lower_bound", ~(a["lower_bound"] <= a[distance]), f"numbers up to the {distance}")
    apart = a[distance] >= 0
    yield from _rows(
        "lower_bound", apart & ~(a["lower_bound"] >= 0), "numbers from 0 up where there is no depth"
    )
    length = np.linalg.norm(a["normal"], axis=1)
    off = np.abs(length - (told | ((a[distance] < 0) & (length > 0)))) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1 where there is a place or a depth, else zero")


def motion_checks_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of `MotionChecks`."""
    share = a["free_fraction"]
    yield from _rows("free_fraction", ~((share >= 0) & (share <= 1)), "fractions in [0, 1]")
    yield from _rows("time", ~(a["time"] >= share), "times from free_fraction on, or inf")
    for name in ("link", "other"):
        yield from _rows(name, a[name] < -1, "numbers from 0 up, or -1 for none")
    yield from _rows("pieces", a["pieces"] < 0, "numbers from 0 up")
    yield from _rows("gap_bound", ~(a["gap_bound"] >= 0), "lengths from 0 up")
    yield from _rows("gap", ~(a["gap"] >= a["gap_bound"]), "lengths from gap_bound on, or inf")
    yield from _rows("gap_time", ~(a["gap_time"] >= 0), "times from 0 on, or inf")
    for name in ("gap_link", "gap_other"):
        yield from _rows(name, a[name] < -1, "numbers from 0 up, or -1 for none")


def slides_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Slides`."""
    stands = a["ground_body"] >= 0
    yield from _rows("ground_body", a["ground_body"] < -1, "numbers of bodies, or -1")
    off = np.abs(np.linalg.norm(a["ground_normal"], axis=1) - stands) > UNIT_TOLERANCE
    yield from _rows("ground_normal", off, "directions of length 1 where there is ground, else zero")
    yield from _rows("casts", a["casts"] < 0, "numbers of casts")


def planes_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `Planes`."""
    most = max(Feature)
    yield from _rows("feature", (a["feature"] < 1) | (a["feature"] > most), f"features 1 to {most}")
    for name in ("body", "face", "number"):
        yield from _rows(name, a[name] < 0, "numbers, 0 or more")
    off = np.abs(np.linalg.norm(a["normal"], axis=1) - 1) > UNIT_TOLERANCE
    yield from _rows("normal", off, "directions of length 1")
    keys = [a[n] for n in ("query", "gap", "feature", "body", "number")]
    yield from _order_faults("gap", keys)


def clipped_faults(a: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Faults of a `ClippedVelocities`."""
    yield from _rows(
        "active_planes", (a["active_planes"] < -1) | (a["active_planes"] > 3), "numbers from -1 to 3"
    )
