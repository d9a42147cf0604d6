"""Results about the rows that bodies with compounds are for queries, as results about the bodies: the
first contacts, the least distances, and features by their numbers in the compound."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.results.enums import Feature, Kind, Status
from gpu_collide.results.indexing import starts_of

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.compound import Expansion
    from gpu_collide.results.clearance import Clearance
    from gpu_collide.results.contacts import Contacts
    from gpu_collide.results.hits import Hits
    from gpu_collide.results.manifolds import Manifolds

__all__ = ["clearance_of_bodies", "contacts_of_bodies", "hits_of_bodies", "manifolds_of_bodies"]

#: Outcomes, the one that counts for a pair of bodies last.
_ORDER = np.array(
    [Status.MISS, Status.HIT, Status.UNRESOLVED, Status.INITIAL_OVERLAP, Status.INVALID_INPUT], np.uint8
)
_RANK = np.argsort(_ORDER)
_FACE, _EDGE, _VERTEX, _NONE = range(4)  # columns of `Expansion.offset`
#: By `Kind`, of which NONE is the last entry: the columns of A's feature and of B's.
_COLUMNS = np.full((len(Kind), 2), _NONE)
_COLUMNS[[Kind.FV, Kind.VF, Kind.EE, Kind.EV, Kind.VE, Kind.VV]] = [
    (_FACE, _VERTEX), (_VERTEX, _FACE), (_EDGE, _EDGE), (_EDGE, _VERTEX), (_VERTEX, _EDGE), (_VERTEX, _VERTEX)
]  # fmt: skip
_TOUCHED = np.full(len(Feature), _NONE)  # by `Feature`
_TOUCHED[[Feature.FACE, Feature.EDGE, Feature.VERTEX]] = _FACE, _EDGE, _VERTEX


def _worst(status: Array, owner: Array, n: int) -> Array:
    worst = np.zeros(n, np.intp)
    np.maximum.at(worst, owner, _RANK[status])
    return _ORDER[worst]


def _least(values: Array, owner: Array, n: int) -> Array:
    least = np.full(n, np.inf)
    np.minimum.at(least, owner, values)
    return least


def _features(found: Contacts | Clearance | Manifolds, to: Expansion) -> dict[str, Array]:
    """``feature_a`` and ``feature_b`` in the numbers of the bodies."""
    rows, columns = found.pairs[found.pair], _COLUMNS[found.kind]  # type: ignore[index]
    return {
        name: to.numbers(rows[:, side], columns[:, side], getattr(found, name))
        for side, name in enumerate(("feature_a", "feature_b"))
    }


def contacts_of_bodies(
    found: Contacts, to: Expansion, bodies: Bodies, pairs: Array, owner: Array, first: bool
) -> Contacts:
    """`Contacts` of the pairs of bodies.

    Parameters
    ----------
    found : Contacts
        On the host, of pairs of rows.
    pairs, owner : (p, 2), (k,) ndarray of int
        Pairs of bodies, and which one each pair of rows is of.
    first : bool
        Only contacts at the earliest time of each pair of bodies.
    """
    toi, pair = _least(found.toi, owner, len(pairs)), owner[found.pair]
    columns = {name: getattr(found, name) for name in found._rows}
    columns |= _features(found, to) | {"pair": pair.astype(np.int32)}
    order = np.lexsort([columns[name] for name in ("feature_b", "feature_a", "kind", "time", "pair")])
    if first:
        order = order[found.time[order] == toi[pair[order]]]
    columns = {name: column[order] for name, column in columns.items()}
    told = dataclasses.replace(
        found,
        **columns,
        status=_worst(found.status, owner, len(pairs)),
        toi=toi,
        contact_start=starts_of(columns["pair"], len(pairs)),
        pairs=pairs,
    )
    return told.with_parts(bodies)


def clearance_of_bodies(
    found: Clearance, to: Expansion, pairs: Array, owner: Array, times: int | None, every: bool
) -> Clearance:
    """`Clearance` of the pairs of bodies: of each pair, or each pair and time, the row of the least distance.

    Parameters
    ----------
    found : Clearance
        Of pairs of rows.
    pairs, owner : (p, 2), (k,) ndarray of int
        As in `contacts_of_bodies`.
    times : int or None
        How many times were asked for; None: contacts at a pose, of which all rows are kept.
    every : bool
        Of overlaps all rows are kept, the deepest first.
    """
    many = 1 if times is None else times
    group = owner[found.pair] * many
    if many > 1:  # the times of a pair are one behind the other, of one time perhaps several regions
        new = np.append(True, found.pair[1:] != found.pair[:-1])[: len(group)]
        later = new | (np.append(0.0, found.time[:-1])[: len(group)] != found.time) | np.isinf(found.time)
        count = np.cumsum(later if every else np.ones_like(new))
        group = group + count - np.maximum.accumulate(np.where(new, count, 0))
    n = len(pairs) * many
    features = _features(found, to)
    order = np.lexsort([features["feature_b"], features["feature_a"], found.kind, found.time,
                        found.distance, group])  # fmt: skip
    keep = np.append(True, group[order][1:] != group[order][:-1])[: len(order)]
    if times is None:
        keep |= np.isfinite(found.distance[order])
    elif every:
        keep |= found.distance[order] < 0.0
    rows = order[keep]
    mine = group[rows]
    bound = _least(found.lower_bound, group, n)[mine]
    if times is None:  # the nearest place of the pair, or the depth
        least = np.maximum(_least(found.distance, group, n), 0.0)[mine]
        places = np.isfinite(found.distance[rows])
        bound = np.where(places, np.minimum(found.distance[rows], least), bound)
    elif every:
        bound = np.where(found.distance[rows] < 0.0, found.lower_bound[rows], bound)
    columns = {name: getattr(found, name)[rows] for name in found._rows}
    columns |= {name: column[rows] for name, column in features.items()}
    columns |= {
        "pair": (mine // many).astype(np.int32),
        "status": _worst(found.status, group, n)[mine],
        "lower_bound": bound,
    }
    return dataclasses.replace(found, pairs=pairs, **columns)._of(found._bodies, (found, rows, to, owner))


def manifolds_of_bodies(found: Manifolds, to: Expansion, pairs: Array, owner: Array) -> Manifolds:
    """`Manifolds` of the pairs of bodies; keys are those of rows, whose numbers hold as long as shapes do."""
    pair = owner[found.pair]
    order = np.argsort(pair, kind="stable")
    columns = {name: getattr(found, name) for name in found._rows} | _features(found, to)
    columns = {name: column[order] for name, column in columns.items()}
    columns["pair"] = pair[order].astype(np.int32)
    columns["region"] = np.cumsum(np.append(False, np.diff(columns["region"]) != 0))[: len(order)]
    return dataclasses.replace(found, pairs=pairs, **columns)


def hits_of_bodies(found: Hits, to: Expansion) -> Hits:
    """`Hits` of the bodies."""
    found, hit = found.to_numpy(), found.to_numpy().body >= 0
    row = np.where(hit, found.body, 0)
    face = np.where(hit, _FACE, _NONE)
    return dataclasses.replace(
        found,
        body=np.where(hit, to.body[row], -1),
        face=to.numbers(row, face, found.face),
        number=to.numbers(row, _TOUCHED[found.feature], found.number),
    )
