"""Contacts of pairs, on screws or on their own motions, judged by the reference and by brute force."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc
from gpu_collide.checks.brute import Shape, features_at, sure_contacts
from gpu_collide.checks.motion import Motion, OwnMotions
from gpu_collide.checks.verdicts import Verdicts
from gpu_collide.results.enums import CONTACT_KINDS

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Pairs"]

THRESHOLD = -0.1
NEAR = 1e-8  # of the size: measured worst 3e-10, where edges cross at a sine of 1e-3
FIELD = 1e-7  # of the size: places and directions, where times are off by rounding
SAME = 1e-6  # of a step: two meetings of the same features are farther apart
EDGE = 1e-9  # of the step, of properness: what is nearer to a decision may fall on either side of it
#: Ways to the same answer: none of its bits may be another.
ROWS = ({"tuning": gc.Tuning(candidates="raster"), "resolution": 2.0},)
WAYS = (
    *ROWS,
    {"precision": "double"},
    {"tuning": gc.Tuning(candidates="pairs")},
    {"tuning": gc.Tuning(features="near", filters="none")},
)


@dataclass
class Pairs:
    """Bodies and the keywords of a query. `plain`: no features meet in one place, of which but one contact
    would be reported, and none lasts: what brute force is sure of must be there."""

    bodies: gc.Bodies
    keywords: dict[str, Any] = field(default_factory=dict)
    plain: bool = True
    unit = "pair"

    @property
    def own(self) -> bool:
        """Does each body move by itself?"""
        return self.keywords.get("motion") == "body"

    @property
    def ways(self) -> tuple[dict[str, Any], ...]:
        """Those of `WAYS` that there are: bodies on their own motions have no rows."""
        return tuple(way for way in WAYS if not (self.own and way in ROWS))

    def ask(self, backend: Any, **way: Any) -> gc.Contacts:
        """All contacts, however improper."""
        words = {"min_properness": -1.0, **self.keywords, **way}
        return gc.collide(self.bodies, backend=backend, **words).to_numpy()

    def judge(self, found: gc.Contacts, truth: gc.Contacts) -> Verdicts:
        """Against the reference and brute force."""
        judged = Verdicts(asked=found.n_pairs, found=len(found))
        if not np.array_equal(np.asarray(found.pairs), np.asarray(truth.pairs)):
            judged.note(np.arange(1), "the pairs are not those of the reference", "row")
            return judged
        judged.note(np.flatnonzero(found.status != truth.status), "another status than the reference's")
        self._against_reference(judged, found, truth)
        self._against_brute_force(judged, found)
        return judged

    def more(self, backend: str, found: gc.Contacts) -> list[str]:
        """A threshold is a filter: the contacts at the usual one are those of `found` that reach it."""
        usual = self.ask(backend, min_properness=THRESHOLD)
        keep = found.properness >= THRESHOLD
        same = all(
            np.array_equal(getattr(usual, name), getattr(found, name)[keep])
            for name in ("pair", "kind", "feature_a", "feature_b", "time", "properness")
        )
        return [] if same else [f"at min_properness={THRESHOLD} other contacts than those that reach it"]

    def _sizes(self) -> Array:
        radius = np.array([mesh.radius for mesh in self.bodies.meshes])
        return radius[np.asarray(self.bodies.shape)]

    def _against_reference(self, judged: Verdicts, found: gc.Contacts, truth: gc.Contacts) -> None:
        i, j = _matched(found, truth)
        for one, used, text in (
            (found, i, "a contact that the reference has not"),
            (truth, j, "a contact of the reference is missing"),
        ):
            alone = np.setdiff1d(np.arange(len(one)), used)
            clear = (one.time[alone] > EDGE) & (one.time[alone] < 1 - EDGE) & ~one.sustained[alone]
            judged.note(one.pair[alone[clear]], text)
        size = self._sizes()[found.pairs].max(axis=1)[found.pair[i]]
        rows = found.pair[i]
        # what lasts begins where rounding says that it does: by how much it moves across is compared
        across = np.abs(found.time[i] - truth.time[j]) * np.abs(truth.normal_speed[j]) / size
        judged.within(rows, across, NEAR, "another time than the reference's")
        lasting = found.sustained[i] | truth.sustained[j]
        speed = np.maximum(np.abs(truth.normal_speed[j]), size)
        reach = size + 1e-7 * np.linalg.norm(truth.position[j], axis=1)  # far away, places have fewer digits
        units = {"local_a": size, "local_b": size, "position": reach, "normal_speed": speed}
        for name in ("local_a", "local_b", "position", "normal", "normal_speed", "properness"):
            off = np.abs(getattr(found, name)[i] - getattr(truth, name)[j])
            off = off.max(axis=1, initial=0.0) if off.ndim == 2 else off
            off = off / units.get(name, np.ones(len(off)))
            judged.within(rows[~lasting], off[~lasting], FIELD, f"another {name} than the reference's")
        ends = np.abs(found.time_end[i] - truth.time_end[j])
        judged.within(
            rows, ends * np.abs(truth.normal_speed[j]) / size, NEAR, "another end than the reference's"
        )

    def _against_brute_force(self, judged: Verdicts, found: gc.Contacts) -> None:
        shape = np.asarray(self.bodies.shape)[found.pairs]
        shapes = {k: Shape(self.bodies.meshes[k]) for k in np.unique(shape)}
        kind: Any = OwnMotions if self.own else Motion
        motion = kind.between(self.bodies, np.asarray(found.pairs))
        for a, b in np.unique(shape, axis=0):
            rows = np.flatnonzero((shape == (a, b)).all(axis=1))
            one, two = shapes[a], shapes[b]
            mine = np.flatnonzero(np.isin(found.pair, rows))
            if self.plain:
                sure = sure_contacts(one, two, motion.take(rows))
                judged.sure += len(sure.time)
                keys = np.column_stack((rows[sure.row], sure.kind, sure.feature_a, sure.feature_b))
                lost = _without(keys, sure.time, _keys(found)[mine], found.time[mine])
                judged.note(rows[sure.row[lost]], "brute force is sure of a contact that is missing")
            size = max(one.size, two.size)
            for kind in CONTACT_KINDS:
                k = mine[found.kind[mine] == kind]
                m = motion.take(found.pair[k])
                where, gap, inside, sine = features_at(
                    one, two, m, kind, found.feature_a[k], found.feature_b[k], found.time[k]
                )
                bad = np.maximum(gap, -inside) / size * np.minimum(sine, 1.0)
                judged.within(found.pair[k], bad, NEAR, "the features do not touch at that time")
                off = np.abs(where - found.local_a[k]).max(axis=1, initial=0.0) / size * np.minimum(sine, 1.0)
                judged.within(found.pair[k], off, NEAR, "the features touch elsewhere")


def _keys(found: gc.Contacts) -> Array:
    return np.column_stack((found.pair, found.kind, found.feature_a, found.feature_b)).astype(np.int64)


def _matched(one: gc.Contacts, other: gc.Contacts) -> tuple[Array, Array]:
    """Rows of contacts of the same features, the k-th meeting of one with the k-th of the other."""

    def named(found: gc.Contacts) -> dict[tuple, int]:
        seen: dict[tuple, int] = {}
        rows = {}
        for k, key in enumerate(map(tuple, _keys(found).tolist())):  # in order of time
            seen[key] = seen.get(key, -1) + 1
            rows[key + (seen[key],)] = k
        return rows

    first, second = named(one), named(other)
    both = [key for key in first if key in second]
    return (
        np.array([first[key] for key in both], np.int64),
        np.array([second[key] for key in both], np.int64),
    )


def _without(keys: Array, time: Array, all_keys: Array, all_time: Array) -> Array:
    """Rows of `keys` for which there is nothing of that key and time."""
    times: dict[tuple, list[float]] = {}
    for key, t in zip(map(tuple, all_keys.tolist()), all_time.tolist(), strict=True):
        times.setdefault(key, []).append(t)
    return np.array([
        k for k, (key, t) in enumerate(zip(map(tuple, keys.tolist()), time.tolist(), strict=True))
        if not any(abs(t - other) <= SAME for other in times.get(key, ()))
    ], np.int64)  # fmt: skip
