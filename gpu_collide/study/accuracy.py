"""How an approximate result compares with the exact one on the same pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.pipeline.mesh_tables.tables import short_edges

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.results.contacts import Contacts

__all__ = ["contact_keys", "far_from", "missed_share", "nearest_meetings", "pixel_side", "rows_of"]


def contact_keys(contacts: Contacts) -> Array:
    """One integer row (pair, kind, feature_a, feature_b) per contact, (c, 4) int64."""
    names = ("pair", "kind", "feature_a", "feature_b")
    return np.stack([np.asarray(getattr(contacts, name)).astype(np.int64) for name in names], axis=1)


def pixel_side(bodies: Any, pairs: Array, resolution: float) -> float:
    """Side of a pixel, world length: of the first pair, since the pairs of a scene are of one size here."""
    return short_edges(bodies.meshes, *bodies.shape[pairs[:1]].T)[0] / resolution


def missed_share(found: Contacts, exact: Contacts, pixel: float | None = None) -> float:
    """Share of the feature pairs of `exact` that `found` lacks; with `pixel`, neighbours of theirs too."""
    reported, keys = rows_of(contact_keys(found)), contact_keys(exact)
    lacking = np.array([tuple(key) not in reported for key in keys.tolist()], bool)
    if pixel is not None:
        lacking[lacking] = far_from(found, exact, 3.0 * pixel, lacking)
    return len(rows_of(keys[lacking])) / max(len(rows_of(keys)), 1)


def nearest_meetings(found: Contacts, exact: Contacts) -> tuple[Array, Array, Array]:
    """Each found contact against the nearest exact meeting of the same features.

    Features can meet more than once: of their exact meetings the nearest in time is taken.

    Returns
    -------
    known : (n,) bool
        Whether the features have an exact contact in the step.
    time_error, place_error : (m,) float64
        Of those that have: in steps, and as a world length.
    """
    truth = _where(exact)
    times, places = np.asarray(found.time), np.asarray(found.position)
    exact_times, exact_places = np.asarray(exact.time), np.asarray(exact.position)
    known, apart, away = np.zeros(len(times), bool), [], []
    for i, key in enumerate(contact_keys(found).tolist()):
        candidates = truth.get(tuple(key))
        if candidates is None:
            continue
        known[i] = True
        j = candidates[int(np.argmin(np.abs(exact_times[candidates] - times[i])))]
        apart.append(abs(exact_times[j] - times[i]))
        away.append(float(np.linalg.norm(exact_places[j] - places[i])))
    return known, np.array(apart), np.array(away)


def far_from(found: Contacts, exact: Contacts, reach: float, chosen: Any = slice(None)) -> Array:
    """Which chosen contacts of `exact` have no found one of their pair within `reach` on both bodies."""
    pair = np.asarray(found.pair)
    far = []
    for i in np.arange(len(exact.pair))[chosen]:
        rows = slice(*np.searchsorted(pair, [exact.pair[i], exact.pair[i] + 1]))
        apart = [
            np.linalg.norm(np.asarray(getattr(found, k))[rows] - np.asarray(getattr(exact, k))[i], axis=1)
            for k in ("local_a", "local_b")
        ]
        far.append(np.maximum(*apart).min(initial=np.inf) > reach)
    return np.array(far, bool)


def rows_of(keys: Array) -> set[tuple]:
    """The rows of keys, as a set."""
    return {tuple(row) for row in keys.tolist()}


def _where(contacts: Contacts) -> dict[tuple, list[int]]:
    where: dict[tuple, list[int]] = {}
    for i, key in enumerate(contact_keys(contacts).tolist()):
        where.setdefault(tuple(key), []).append(i)
    return where
