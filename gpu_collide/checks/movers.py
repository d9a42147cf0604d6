"""Movers in a still world, judged by the reference and by brute force: none enters an obstacle, and none
stops too early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc
from gpu_collide.checks.brute import Shape, features_at, sure_contacts
from gpu_collide.checks.motion import Motion, matrices
from gpu_collide.checks.verdicts import Verdicts

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Moves"]

NEAR = 1e-8  # of the size
#: Of the mover's and the obstacle's features, to those of an obstacle A and a mover B.
KINDS = {gc.pluecker.Touch.VF: gc.Kind.FV, gc.pluecker.Touch.FV: gc.Kind.VF, gc.pluecker.Touch.EE: gc.Kind.EE}


@dataclass
class Moves:
    """Movers, what stands, and a way (n, 3), or an angle (n,) with axis and origin (n, 3)."""

    movers: gc.Bodies
    world: gc.Bodies
    way: Array | None = None
    turn: tuple[Array, Array, Array] | None = None
    unit = "mover"
    ways = ({"precision": "double"},)

    def ask(self, backend: Any, **way: Any) -> gc.pluecker.Trace:
        """How far they may go."""
        if self.way is not None:
            return gc.pluecker.translate(self.movers, self.world, self.way, backend=backend, **way)
        assert self.turn is not None
        return gc.pluecker.rotate(self.movers, self.world, *self.turn, backend=backend, **way)

    def more(self, backend: str, found: Any) -> list[str]:
        """Nothing besides."""
        return []

    def judge(self, found: gc.pluecker.Trace, truth: gc.pluecker.Trace) -> Verdicts:
        """Against the reference and brute force."""
        judged = Verdicts(asked=len(found.status), found=int((found.status == gc.Status.HIT).sum()))
        rows = np.arange(judged.asked)
        judged.note(
            np.flatnonzero(found.status != truth.status), "another status than the reference's", "mover"
        )
        off = np.abs(found.fraction - truth.fraction) * self._speed() / self._size()
        judged.within(rows, off, NEAR, "another fraction than the reference's", "mover")
        first = np.full(judged.asked, np.inf)
        for k in range(len(self.world.shape)):
            self._obstacle(judged, found, k, first)
        late = (found.fraction - first) * self._speed() / self._size()
        judged.within(rows[np.isfinite(first)], np.maximum(late, 0.0)[np.isfinite(first)], NEAR,
                      "it went into what brute force is sure of", "mover")  # fmt: skip
        return judged

    def _size(self) -> float:
        return float(max(mesh.radius for mesh in (*self.movers.meshes, *self.world.meshes)))

    def _speed(self) -> Array:
        """Of the fastest point, a whole motion."""
        if self.way is not None:
            return np.linalg.norm(self.way, axis=1)
        assert self.turn is not None
        away = np.linalg.norm(np.asarray(self.movers.start.position) - self.turn[2], axis=1)
        return np.abs(self.turn[0]) * (away + self._size())

    def _motion(self, k: int) -> Motion:
        """The movers as body k of the world sees them."""
        n = len(self.movers.shape)
        still = np.tile([[k, 0]], (n, 1)) + np.column_stack((np.zeros(n, int), np.arange(n)))
        a, b = self.world.start, self.movers.start
        turn = matrices(np.asarray(a.quat_wxyz)[still[:, 0]])
        origin = np.asarray(a.position)[still[:, 0]]

        def seen(x: Array) -> Array:
            return np.einsum("nji,nj->ni", turn, x)

        start = np.einsum("nji,njk->nik", turn, matrices(np.asarray(b.quat_wxyz)))
        place = seen(np.asarray(b.position) - origin)
        zero = np.zeros((n, 3))
        if self.way is not None:
            return Motion(np.tile([0.0, 0, 1], (n, 1)), zero, np.zeros(n), seen(self.way), start, place)
        assert self.turn is not None
        angle, axis, point = self.turn
        return Motion(seen(axis), seen(point - origin), angle, zero, start, place)

    def _obstacle(self, judged: Verdicts, found: gc.pluecker.Trace, k: int, first: Array) -> None:
        """What brute force says of one body of the world; `first` is written to."""
        motion = self._motion(k)
        a = Shape(self.world.meshes[np.asarray(self.world.shape)[k]])
        for s, mesh in enumerate(self.movers.meshes):
            rows = np.flatnonzero(np.asarray(self.movers.shape) == s)
            b = Shape(mesh)
            sure = sure_contacts(a, b, motion.take(rows))
            judged.sure += len(sure.time)
            np.minimum.at(first, rows[sure.row], sure.time)
            for touch, kind in KINDS.items():
                i = rows[(found.kind[rows] == touch) & (found.body[rows] == k)]
                where = features_at(
                    a, b, motion.take(i), kind, found.feature_b[i], found.feature_a[i], found.fraction[i]
                )
                zone = 4 * found.expel[i] / self._size()
                bad = np.maximum(where[1], -where[2]) / self._size() * where[3] - zone
                judged.within(i, np.maximum(bad, 0.0), NEAR, "it stops at what it does not touch", "mover")
