"""Which contact point is which: keys of features, and points that two results have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from gpu_collide.results.enums import Kind

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["keys_of", "matched", "numbered_apart"]

#: Kinds with both sides exchanged; NONE is the last entry.
_EXCHANGED = np.array([Kind.VF, Kind.FV, Kind.EE, Kind.VE, Kind.EV, Kind.VV, Kind.NONE], np.int64)


class Points(Protocol):
    """What is read of `Manifolds`."""

    @property
    def key(self) -> Array: ...
    @property
    def bodies(self) -> Array: ...
    @property
    def local_a(self) -> Array: ...
    @property
    def local_b(self) -> Array: ...
    def __len__(self) -> int: ...


def keys_of(bodies: Array, shapes: Array, kind: Array, feature_a: Array, feature_b: Array) -> Array:
    """Keys of points, (m,) uint64: the same whichever body is A.

    Parameters
    ----------
    bodies, shapes : (m, 2) int ndarray
    kind, feature_a, feature_b : (m,) int ndarray
    """
    turned = bodies[:, 0] > bodies[:, 1]
    kind = np.where(turned, _EXCHANGED[kind], kind)
    features = np.column_stack([feature_a, feature_b])
    key = np.zeros(len(kind), np.uint64)
    for two in (bodies, shapes, features):
        low, high = np.where(turned[:, None], two[:, ::-1], two).astype(np.uint32).astype(np.uint64).T
        key = _mixed(key ^ (low | high << np.uint64(32)))
    return _mixed(key ^ kind.astype(np.uint8).astype(np.uint64))


def _mixed(x: Array) -> Array:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014), which is one-to-one."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def numbered_apart(key: Array) -> Array:
    """Keys of which the second and later ones of several equal ones, in their order, are others."""
    ranked = np.sort(key)
    if not (ranked[1:] == ranked[:-1]).any():
        return key
    order, rank = np.argsort(key, kind="stable"), np.arange(len(key)) - np.searchsorted(ranked, ranked)
    apart = key.copy()
    again = rank > 0
    apart[order[again]] = _mixed(ranked[again] ^ rank[again].astype(np.uint64))
    return apart


def matched(now: Points, before: Points, tolerance: float) -> Array:
    """Of each point its row among those before, (m,) int64; -1: none."""
    order = np.argsort(before.key)
    place = np.searchsorted(before.key[order], now.key)
    place[place == len(order)] = 0
    found = np.full(len(now), -1, np.int64)
    if len(order):
        same = before.key[order[place]] == now.key
        found[same] = order[place[same]]
    if tolerance == 0.0:
        return found
    free = np.ones(len(before), bool)
    free[found[found >= 0]] = False
    new, old = _near(now, before, np.flatnonzero(found < 0), np.flatnonzero(free), tolerance)
    while len(new):  # those that are nearest to each other first
        first = np.zeros(len(new), bool)
        first[np.unique(new, return_index=True)[1]] = True
        mutual = np.zeros(len(new), bool)
        mutual[np.unique(old, return_index=True)[1]] = True
        mutual &= first
        found[new[mutual]] = old[mutual]
        left = ~(np.isin(new, new[mutual]) | np.isin(old, old[mutual]))
        new, old = new[left], old[left]
    return found


def _near(now: Points, before: Points, new: Array, old: Array, tolerance: float) -> tuple[Array, Array]:
    """Points of the same two bodies within the tolerance on both, the nearest first."""
    sides = []
    for points, rows in ((now, new), (before, old)):
        bodies = points.bodies[rows].astype(np.int64)
        turned = bodies[:, 0] > bodies[:, 1]
        low, high = np.where(turned[:, None], bodies[:, ::-1], bodies).T
        places = np.stack([points.local_a[rows], points.local_b[rows]], axis=1)
        places[turned] = places[turned, ::-1]
        sides.append((low << 32 | high, places))
    (of_new, at_new), (of_old, at_old) = sides
    order = np.argsort(of_old, kind="stable")
    begin, end = (np.searchsorted(of_old[order], of_new, side=side) for side in ("left", "right"))
    i = np.repeat(np.arange(len(new)), end - begin)
    j = order[np.arange(len(i)) - np.repeat(np.cumsum(end - begin) - end, end - begin)]
    away = np.sqrt(((at_new[i] - at_old[j]) ** 2).sum(axis=2)).max(axis=1)
    near = np.flatnonzero(away <= tolerance)
    near = near[np.lexsort([before.key[old[j[near]]], now.key[new[i[near]]], away[near]])]
    return new[i[near]], old[j[near]]
