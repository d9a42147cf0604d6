"""A result is checked before it is timed."""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.settings import BenchError, Settings
from gpu_collide.study.accuracy import contact_keys, missed_share, nearest_meetings, rows_of


def hit_share(contacts) -> float:
    """Share of the pairs whose status is HIT."""
    return float(np.mean(np.asarray(contacts.status) == int(gc.Status.HIT)))


class ExactCheck:
    """Second opinions about an exact result, worked out once for a scene.

    Parameters
    ----------
    bodies, pairs : Bodies, (p, 2) int array
        The scene.
    settings : Settings
    sample : int
        So many of the first pairs once more through all feature pairs, in double precision: features and
        times must be the same bits.
    by_reference : int
        So many of the first pairs by the NumPy reference: features must agree, except for contacts on the
        edge of a decision, at most 2 in 1000 of them or one.
    """

    def __init__(self, bodies, pairs, settings: Settings, *, sample: int, by_reference: int):
        self.sample = min(sample, len(pairs))
        # The reference is a second opinion about float64, and none about itself.
        second = settings.backend != "reference" and settings.precision != "single"
        self.by_reference = min(by_reference, len(pairs)) if second else 0
        common = {"refine": "exact", "min_properness": settings.min_properness}
        self._pairs_path = gc.collide(
            bodies,
            pairs[: self.sample],
            tuning=gc.Tuning(candidates="pairs"),
            precision="single" if settings.precision == "single" else "double",
            backend=settings.backend,
            **common,
        ).to_numpy()
        self._reference = None
        if self.by_reference:
            first = pairs[: self.by_reference]
            self._reference = gc.collide(bodies, first, backend="reference", **common).to_numpy()

    def __call__(self, contacts) -> None:
        """Compare a result on all pairs of the scene.

        Raises
        ------
        BenchError
            With the first contact that only one of the two has.
        """
        head = contacts.contact_start[self.sample]
        found, expected = contact_keys(contacts)[:head], contact_keys(self._pairs_path)
        if not np.array_equal(found, expected):
            raise BenchError(_difference("candidates='pairs' in double precision", found, expected))
        if not np.array_equal(contacts.time[:head], self._pairs_path.time):
            raise BenchError(
                "contact times differ in bits from candidates='pairs' in double precision; not timed"
            )
        if self._reference is not None:
            found = contact_keys(contacts)[: contacts.contact_start[self.by_reference]]
            expected = contact_keys(self._reference)
            if len(rows_of(found) ^ rows_of(expected)) > max(1, 0.002 * len(expected)):
                raise BenchError(_difference("the reference", found, expected))


def compare_with_exact(approximate, everything, exact, *, pixel=None) -> dict[str, float]:
    """How an approximate result compares with the exact one on the same pairs.

    Parameters
    ----------
    approximate : Contacts
        Result of ``segments`` or ``pixels`` at some threshold of properness.
    everything : tuple of Contacts
        (approximate, exact) results with every contact, of any properness: contacts that only crossed the
        threshold are neither false nor missed.
    exact : Contacts
        Exact result at the threshold.
    pixel : float, optional
        Side of a pixel, world length, if `approximate` is of ``pixels``. Contacts that share the pixel of a
        vertex stand for each other there (docs/decisions/0015), so a neighbour is no miss.

    Returns
    -------
    dict
        ``false``: share of reported contacts whose features have no exact contact in the step; ``missed``:
        share of the exact contacts whose features were not reported, and with `pixel` no contact of the pair
        within three pixels on both bodies either. Of the errors of the others:
        ``time_median``, ``time_99`` (in steps), ``place_median``, ``place_99`` (world length), and
        ``vertex_time``, ``edge_time``: 90 % quantiles of the time errors of vertex-face and of edge-edge
        contacts, whose times are found in different ways.
    """
    all_approximate, all_exact = everything
    known, time_error, place_error = nearest_meetings(approximate, all_exact)
    edges = np.asarray(approximate.kind)[known] == int(gc.Kind.EE)
    return {
        "false": float(np.mean(~known)) if len(known) else 0.0,
        "missed": missed_share(all_approximate, exact, pixel),
        "time_median": _quantile(time_error, 0.5),
        "time_99": _quantile(time_error, 0.99),
        "place_median": _quantile(place_error, 0.5),
        "place_99": _quantile(place_error, 0.99),
        "vertex_time": _quantile(time_error[~edges], 0.9),
        "edge_time": _quantile(time_error[edges], 0.9),
    }


def _quantile(values, q):
    return float(np.quantile(values, q)) if len(values) else float("nan")


def _difference(other, found, expected):
    only = sorted(rows_of(found) ^ rows_of(expected))
    first = f"first at (pair, kind, feature_a, feature_b) = {only[0]}" if only else "other counts"
    return (
        f"the result differs from {other}: {len(found)} contacts against {len(expected)}, "
        f"{len(only)} feature pairs in only one of them, {first}; not timed"
    )
