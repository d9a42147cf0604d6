"""python-fcl and Embree on the same moves: bodies and rays past a still track of triangles.

What python-fcl is given, from the best of what was tried: on whole meshes its conservative advancement
crashes, and its sampling of poses (`FclTrack.sampled`) is only as good as they are close. Right answers come
from convex parts: the mover's prisms against each triangle whose box meets the box of the way (found by a k-d
tree), as prisms a thousandth thick (`FclTrack.first_contacts`). A move is two calls: the translation, and if
it is free the turn.
"""

from __future__ import annotations

import numpy as np

_THICK = 1e-3  # of a triangle's prism, below the track


class FclTrack:
    """A track in python-fcl, as one tree and as prisms that are made when they are first needed."""

    def __init__(self, vertices, faces, parts):
        import fcl
        from scipy.spatial import cKDTree

        self._fcl = fcl
        self._corners = np.asarray(vertices, float)[faces]
        self._low, self._high = self._corners.min(1), self._corners.max(1)
        centres = (self._low + self._high) / 2
        self._tree, self._reach = cKDTree(centres), float(np.linalg.norm(self._high - centres, axis=1).max())
        model = fcl.BVHModel()
        model.beginModel(len(vertices), len(faces))
        model.addSubModel(np.asarray(vertices, float), np.asarray(faces))
        model.endModel()
        self._track = fcl.CollisionObject(model, fcl.Transform())
        self._prisms: dict[int, object] = {}
        self._parts = [fcl.CollisionObject(self._convex(p.vertices, p.faces), fcl.Transform()) for p in parts]
        self._radius = max(float(np.linalg.norm(p.vertices, axis=1).max()) for p in parts)

    def _convex(self, vertices, faces):
        flat = [x for loop in faces for x in (len(loop), *loop)]
        return self._fcl.Convex(np.array(vertices, float), len(faces), np.array(flat, np.int32))

    def _prism(self, t):
        if t not in self._prisms:
            x = self._corners[t]
            normal = np.cross(x[1] - x[0], x[2] - x[0])
            below = x - _THICK * normal / np.linalg.norm(normal)
            faces = [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)]
            shape = self._convex(np.concatenate((x, below)), faces)
            self._prisms[t] = self._fcl.CollisionObject(shape, self._fcl.Transform())
        return self._prisms[t]

    def first_contacts(self, start, way, quat) -> np.ndarray:
        """Share of the translation and of the turn to `quat`, (n, 2), by conservative advancement."""
        fcl = self._fcl
        out = np.ones((len(start), 2))
        kinds = fcl.CCDMotionType.CCDM_TRANS, fcl.CCDMotionType.CCDM_SCREW
        solver = fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT
        requests = [fcl.ContinuousCollisionRequest(ccd_motion_type=k, ccd_solver_type=solver) for k in kinds]
        for k in range(len(start)):
            end = start[k] + way[k]
            legs = (start[k], start[k]), (end, end)
            poses = fcl.Transform(start[k]), fcl.Transform(end), fcl.Transform(quat[k], end)
            for leg, request in enumerate(requests):
                ends = np.array([start[k], end] if leg == 0 else legs[1])
                low, high = ends.min(0) - self._radius, ends.max(0) + self._radius
                for t in self._near(low, high):
                    for part in self._parts:
                        part.setTransform(poses[leg])
                        out[k, leg] = min(
                            out[k, leg], self._toi(part, poses[leg + 1], self._prism(t), request)
                        )
                if out[k, leg] < 1:
                    break
        return out

    def _near(self, low, high):
        rows = self._tree.query_ball_point((low + high) / 2, np.linalg.norm(high - low) / 2 + self._reach)
        rows = np.array(rows, int)
        return rows[(self._low[rows] <= high).all(1) & (self._high[rows] >= low).all(1)]

    def sampled(self, start, way, quat, samples) -> np.ndarray:
        """The same by looking at `samples` poses of each leg."""
        fcl = self._fcl
        out = np.ones((len(start), 2))
        kinds = fcl.CCDMotionType.CCDM_TRANS, fcl.CCDMotionType.CCDM_SCREW
        naive = fcl.CCDSolverType.CCDC_NAIVE
        requests = [
            fcl.ContinuousCollisionRequest(
                num_max_iterations=samples, ccd_motion_type=k, ccd_solver_type=naive
            )
            for k in kinds
        ]
        for k in range(len(start)):
            end = start[k] + way[k]
            poses = fcl.Transform(start[k]), fcl.Transform(end), fcl.Transform(quat[k], end)
            for leg, request in enumerate(requests):
                for part in self._parts:
                    part.setTransform(poses[leg])
                    out[k, leg] = min(out[k, leg], self._toi(part, poses[leg + 1], self._track, request))
                if out[k, leg] < 1:
                    break
        return out

    def _toi(self, body, end, other, request):
        result = self._fcl.ContinuousCollisionResult()
        time = self._fcl.continuousCollide(body, end, other, self._fcl.Transform(), request, result)
        return time if time >= 0 else 1.0


class EmbreeTrack:
    """Embree's nearest hits along rays, in single precision."""

    def __init__(self, vertices, faces):
        from embreex import rtcore_scene
        from embreex.mesh_construction import TriangleMesh

        self._scene = rtcore_scene.EmbreeScene()
        self._mesh = TriangleMesh(self._scene, np.asarray(vertices, np.float32)[faces])

    def first_hits(self, start, way) -> np.ndarray:
        """Share of each way that is free, (n,)."""
        length = np.linalg.norm(way, axis=1)
        rays = np.asarray(start, np.float32), np.asarray(way / length[:, None], np.float32)
        return np.minimum(self._scene.run(*rays, query="DISTANCE") / length, 1.0)
