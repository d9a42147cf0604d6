"""Points, spheres, ellipsoids and clusters on straight paths, judged by the reference and by brute force."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc
from gpu_collide.checks.motion import matrices
from gpu_collide.checks.verdicts import Verdicts

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Sweeps", "crossing", "distance"]

NEAR = 1e-8  # of the path
CLEAR = 1e-6  # of the radius: what sinks in by more has been missed
SAMPLES = 48


@dataclass
class Sweeps:
    """Paths (n, 3) from starts through closed bodies; `radii` (n, 3) of ellipsoids with their `turned`
    (n, 4), equal ones for spheres, None for points; or a cluster."""

    world: gc.Bodies
    start: Array
    path: Array
    radii: Array | None = None
    turned: Array | None = None
    cluster: gc.sweep.Cluster | None = None
    hits: str = "first"
    unit = "cast"
    ways: tuple = field(default=({"precision": "double"},))

    def ask(self, backend: str, **way: Any) -> gc.sweep.Hits:
        """What each touches first, or, of spheres with ``hits="all"``, everything."""
        words: Any = {"backend": backend, "hits": self.hits, **way}
        if self.cluster is not None:
            return gc.sweep.clusters(
                self.cluster, self.start, self.path, self.world, orientation=self.turned, **words
            )
        if self.radii is None:
            return gc.sweep.rays(self.start, self.path, self.world, **words)
        if self.turned is None:
            return gc.sweep.spheres(self.start, self.path, self.radii[:, 0], self.world, **words)
        return gc.sweep.ellipsoids(
            self.start, self.path, self.radii, self.world, orientation=self.turned, **words
        )

    def more(self, backend: str, found: Any) -> list[str]:
        """Nothing besides."""
        return []

    def judge(self, found: gc.sweep.Hits, truth: gc.sweep.Hits) -> Verdicts:
        """Against the reference and, the first touches of what has a size, brute force."""
        judged = Verdicts(asked=len(found.status), found=int((found.body >= 0).sum()))
        judged.note(
            np.flatnonzero(found.status != truth.status), "another status than the reference's", "cast"
        )
        if not np.array_equal(found.offsets, truth.offsets):
            differ = np.flatnonzero(np.diff(found.offsets) != np.diff(truth.offsets))
            judged.note(differ, "another number of touches than the reference's", "cast")
            return judged
        # a graze is as far off in time as the root of the rounding is: how deep it would be is compared
        along = np.maximum(np.abs((self.path[truth.query] * truth.normal).sum(1)), 0.0)
        length = np.linalg.norm(self.path[truth.query], axis=1)
        off = np.abs(found.time - truth.time) * along / length
        judged.within(found.query, off, NEAR, "another time than the reference's", "cast")
        judged.note(found.query[found.body != truth.body], "another body than the reference's", "cast")
        if self.hits == "first":
            triangles, body = self._triangles()
            drift = np.asarray(self.world.end.position) - np.asarray(self.world.start.position)
            for i in range(judged.asked):
                self._against_brute_force(judged, found, i, triangles, drift[body])
        return judged

    def _against_brute_force(
        self, judged: Verdicts, found: gc.sweep.Hits, i: int, triangles: Array, drift: Array
    ) -> None:
        """Until it stops it must be outside of everything, and there it must touch. What a moving body does
        in the step is taken off the path."""
        row, hit = np.array([i]), found.body[i] >= 0
        judged.sure += 1
        if self.radii is None and self.cluster is None:
            first = crossing(self.start[i], self.path[i] - drift, triangles)
            if first < found.time[i] - CLEAR:
                judged.note(row, f"it went through a face at {first:.6f} of its path", "cast")
            x = (self.start[i] + found.time[i] * (self.path[i] - drift))[None]
            if hit and not distance(x, triangles).min() < CLEAR:
                judged.note(row, "it stops where there is no face", "cast")
            return
        frame = np.eye(3) if self.turned is None else matrices(self.turned[i : i + 1])[0]
        if self.cluster is None:
            balls = [(np.zeros(3), self.radii[i])]  # type: ignore[index]
        else:
            c = self.cluster
            balls = [(frame @ x, np.full(3, r)) for x, r in zip(c.centers, c.radii, strict=True)]
        times = np.linspace(0.0, found.time[i], SAMPLES)
        nearest = np.inf
        for offset, radii in balls:  # in units of its radii each is a ball of 1
            x = self.start[i] + offset + times[:, None, None] * (self.path[i] - drift)
            near = distance(x @ frame / radii, triangles @ frame / radii).min(1)
            if near[:-1].min() < 1 - CLEAR:
                judged.note(row, f"it went in to {near.min():.6f} of its radius", "cast")
            nearest = min(nearest, near[-1])
        if hit and not abs(nearest - 1) < CLEAR:
            judged.note(row, f"it stops at {nearest:.6f} of its radius", "cast")

    def _triangles(self) -> tuple[Array, Array]:
        """All triangles (n, 3, 3) of the world at the start, and the body of each."""
        world, parts, body = self.world, [], []
        turn = matrices(np.asarray(world.start.quat_wxyz))
        for k, shape in enumerate(np.asarray(world.shape)):
            mesh = world.meshes[shape]
            start, corner = np.asarray(mesh.face_start), np.asarray(mesh.face_vertices)
            fans = [
                (corner[i], corner[j], corner[j + 1])
                for i, end in zip(start, start[1:], strict=False)
                for j in range(i + 1, end - 1)
            ]
            place = np.asarray(world.start.position)[k]
            parts.append(np.asarray(mesh.vertices)[np.array(fans)] @ turn[k].T + place)
            body += [k] * len(fans)
        return np.concatenate(parts), np.array(body)


def crossing(start: Array, path: Array, triangles: Array) -> float:
    """Share of its path at which a point clearly first goes through a triangle from the front; inf for never.

    `path` (n, 3) is that which each triangle sees.
    """
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    k = (path * normal).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ((a - start) * normal).sum(1) / k
        x = start + t[:, None] * path
        area = (normal * normal).sum(1)
        sides = [(np.cross(q - p, x - p) * normal).sum(1) / area for p, q in ((a, b), (b, c), (c, a))]
        clear = (k < 0) & (t >= 0) & (t <= 1) & (np.min(sides, axis=0) > CLEAR)
    return float(t[clear].min(initial=np.inf))


def distance(x: Array, triangles: Array) -> Array:
    """Of points (m, n, 3) from triangles (n, 3, 3), each from its own: (m, n)."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    inside = np.ones(x.shape[:2], bool)
    nearest = np.full(x.shape[:2], np.inf)
    for k in range(3):
        a, side = triangles[:, k], triangles[:, (k + 1) % 3] - triangles[:, k]
        w = x - a
        inside &= (w * np.cross(normal, side)).sum(-1) >= 0
        share = np.clip((w * side).sum(-1) / (side * side).sum(-1), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(w - share[..., None] * side, axis=-1))
    return np.where(inside, np.abs(((x - triangles[:, 0]) * normal).sum(-1)), nearest)
