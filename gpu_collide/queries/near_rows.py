"""The nearest of many steps of a pair, with as few distances as that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.queries.clearance_arguments import Asked
from gpu_collide.results.clearance import CLEARANCE_ROWS
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["NearRows"]

#: What a bound of a distance may be below it beside the tolerance, over sizes and ways: 4e-14, and 8e-6 in
#: float32, as `clearance` says, with room.
ROUNDING = {"mixed": 1e-13, "double": 1e-13, "single": 2e-5}


class NearRows:
    """Pairs of bodies that come within a limit, and the nearest of each group of them.

    The nearest of a group is the row of the least distance, of equal ones the earliest: each as `clearance`
    has it for that pair alone. So it depends neither on which rows are looked at together nor on their order.
    A row is left out only if it is proved to be farther away than another of its group, by more than all
    tolerances.

    Parameters
    ----------
    engine : Pipeline or Reference
    bodies : Bodies
    pairs : (p, 2) int32 ndarray
    tolerance, limit : float
        As `Asked` has them; a pair that comes within the limit, or within the tolerance of it, is near.
    """

    def __init__(self, engine: Any, bodies: Bodies, pairs: Array, tolerance: float, limit: float) -> None:
        self.engine, self.bodies, self.pairs = engine, bodies, pairs
        self.asked = Asked(tolerance, np.inf, None)
        radius = np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]]
        ways = sum(
            np.linalg.norm(poses.position[pairs[:, 0]] - poses.position[pairs[:, 1]], axis=1)
            for poses in (bodies.start, bodies.end)
        )
        size = radius.max(axis=1, initial=0.0)
        self.slack = tolerance * size + ROUNDING[engine.options.precision] * 8.0 * (radius.sum(axis=1) + ways)
        self.limit = limit + 4.0 * self.slack
        self.timings: dict[str, float] = {}

    def _ask(self, rows: Array, limit: Array, enough: Any = -1.0, at: Any = None) -> dict[str, Array]:
        asked = self.asked._replace(max_distance=limit, enough=enough, at=at)
        found, timings = self.engine.clearance(self.bodies, self.pairs[rows], asked)
        for stage, seconds in timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds
        return found

    def near(self) -> tuple[Array, Array, Array]:
        """Which pairs come within the limit, or may, (k,) int64; a distance that each has at some time; and
        which are near at the start of the step already, as far as that is seen."""
        rows = np.arange(len(self.pairs))
        found = self._ask(rows, self.limit, self.limit)
        near = _may_be_near(found)
        return rows[near], found["distance"][near], found["time"][near] == 0.0

    def near_at_start(self, rows: Array) -> Array:
        """Which of these pairs are within the limit at the start of the step, or may be."""
        limit = self.limit[rows]
        return _may_be_near(self._ask(rows, limit, limit, at=np.zeros(1)))

    def nearest(self, rows: Array, upper: Array, group: Array) -> tuple[dict[str, Array], Array]:
        """The nearest row of each group.

        Parameters
        ----------
        rows, upper : (k,) ndarray
            As `near` has them.
        group : (k,) int ndarray
            Of each row, from 0; within a group rows are in the order of time.

        Returns
        -------
        fields : dict of str to (g, ...) ndarray
            Of each group `CLEARANCE_ROWS` of its nearest row; but the lower bound and UNRESOLVED are those of
            all of its rows.
        which : (g,) int64 ndarray
            Place of that row in `rows`.

        Notes
        -----
        Rounds: the rows that seem nearest are solved, one of each group and twice as many in each round. The
        others are asked whether they come nearer, which takes far less than their distance, and tell some
        distance of theirs if they do.
        """
        count = int(group[-1]) + 1 if len(group) else 0
        every = np.arange(len(rows))
        fields = {name: np.zeros((len(rows), *tail), dtype) for name, (dtype, tail) in CLEARANCE_ROWS.items()}
        fields["lower_bound"][:] = fields["distance"][:] = np.inf
        slack, upper = self.slack[rows], upper.copy()
        best = np.full(count, np.inf)
        left, share = every, 1
        while len(left):
            order = left[np.lexsort([left, upper[left], group[left]])]
            chosen = np.sort(order[_rank(group[order]) < share])
            found = self._ask(rows[chosen], self.limit[rows[chosen]] + 4.0 * slack[chosen])
            for name, values in fields.items():
                values[chosen] = found[name]
            np.minimum.at(best, group[chosen], found["distance"])
            left = np.setdiff1d(left, chosen, assume_unique=True)
            met = np.full(count, len(rows))  # behind a row that meets no other counts
            zero = every[fields["distance"] == 0.0]
            np.minimum.at(met, group[zero], zero)
            left = left[left < met[group[left]]]
            if len(left) == 0:
                break
            limit = np.minimum(best[group[left]], self.limit[rows[left]]) + 4.0 * slack[left]
            found = self._ask(rows[left], limit, limit)
            far = (found["status"] == Status.MISS) & ~np.isfinite(found["distance"])
            far &= found["lower_bound"] > best[group[left]] + 2.0 * slack[left]
            upper[left] = found["distance"]
            left, share = left[~far], 2 * share
        return _of_groups(fields, group, count, best)


def _may_be_near(found: dict[str, Array]) -> Array:
    return np.isfinite(found["distance"]) | (found["status"] == Status.UNRESOLVED)


def _rank(group: Array) -> Array:
    """Of each entry of ascending numbers how many of the same are before it."""
    return np.arange(len(group)) - np.searchsorted(group, group)


def _of_groups(
    fields: dict[str, Array], group: Array, count: int, best: Array
) -> tuple[dict[str, Array], Array]:
    """Of the rows of each group the nearest, with what holds of all."""
    order = np.lexsort([np.arange(len(group)), fields["distance"], group])
    which = order[np.searchsorted(group[order], np.arange(count))]
    told = {name: values[which] for name, values in fields.items()}
    bound = np.full(count, np.inf)
    np.minimum.at(bound, group, fields["lower_bound"])
    doubt = np.zeros(count, bool)
    unknown = (fields["status"] == Status.UNRESOLVED) & (fields["lower_bound"] < best[group])
    doubt[group[unknown]] = True
    told["lower_bound"] = bound
    told["status"][doubt & (best > 0.0)] = Status.UNRESOLVED
    return told, which
