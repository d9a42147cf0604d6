"""Spheres swept along straight paths through a still track, in Warp and in Bullet (by Panda3D).

Neither has such a query on arrays. Warp gets a kernel that goes as far as the nearest point of the mesh
lets it, again and again, which is what its queries are made for. Bullet has a sweep of a convex shape, a call
each; its shapes get no margin. Both see both sides of a face. PyBullet sweeps rays only.
"""

from __future__ import annotations

import numpy as np

_ROUNDS = 64  # that a sphere in Warp goes at most
_NEAR = 1e-4  # metres at which it has arrived


class WarpTrack:
    """Warp's mesh on its device ``cpu``, single precision."""

    def __init__(self, vertices, faces):
        import warp as wp

        wp.config.quiet = True
        wp.init()
        self._wp = wp
        with wp.ScopedDevice("cpu"):
            self._mesh = wp.Mesh(
                points=wp.array(np.asarray(vertices, np.float32), dtype=wp.vec3),
                indices=wp.array(np.asarray(faces, np.int32).reshape(-1), dtype=wp.int32),
            )
        self._kernel = _marching(wp)

    def first_hits(self, start, way, radius) -> np.ndarray:
        """Share of each way that is free, (n,)."""
        wp = self._wp
        with wp.ScopedDevice("cpu"):
            starts = wp.array(np.asarray(start, np.float32), dtype=wp.vec3)
            ways = wp.array(np.asarray(way, np.float32), dtype=wp.vec3)
            free = wp.empty(len(start), dtype=wp.float32)
            wp.launch(
                self._kernel,
                dim=len(start),
                inputs=[self._mesh.id, starts, ways, float(radius), _NEAR, _ROUNDS, free],
            )
            return free.numpy()


def _marching(wp):
    def march(
        mesh: wp.uint64, start: wp.array(dtype=wp.vec3), way: wp.array(dtype=wp.vec3), radius: float,
        near: float, rounds: int, free: wp.array(dtype=float),
    ):  # fmt: skip
        i = wp.tid()
        length = wp.length(way[i])
        at = float(0.0)  # noqa: UP018  # a variable, for Warp
        for _ in range(rounds):
            place = start[i] + way[i] * (at / length)
            found = wp.mesh_query_point_no_sign(mesh, place, length - at + radius)
            if not found.result:
                at = length
                break
            gap = wp.length(wp.mesh_eval_position(mesh, found.face, found.u, found.v) - place) - radius
            if gap < near:
                break
            at = at + gap
            if at >= length:
                break
        free[i] = wp.min(at / length, 1.0)

    # Warp reads the annotations as they are, not as the text that this file's future import makes of them
    march.__annotations__ = {
        "mesh": wp.uint64, "start": wp.array(dtype=wp.vec3), "way": wp.array(dtype=wp.vec3), "radius": float,
        "near": float, "rounds": int, "free": wp.array(dtype=float),
    }  # fmt: skip
    return wp.kernel(march)


class BulletTrack:
    """A triangle mesh in Bullet, as Panda3D has it."""

    def __init__(self, vertices, faces):
        from panda3d import bullet, core

        self._bullet, self._core = bullet, core
        mesh = bullet.BulletTriangleMesh()
        mesh.preallocate(len(vertices), len(faces))
        corners = [core.Point3(*map(float, x)) for x in vertices]
        for a, b, c in np.asarray(faces).tolist():
            mesh.add_triangle(corners[a], corners[b], corners[c])
        shape = bullet.BulletTriangleMeshShape(mesh, dynamic=False)
        shape.margin = 0.0
        node = bullet.BulletRigidBodyNode("track")
        node.add_shape(shape)
        self._world = bullet.BulletWorld()
        self._world.attach(node)

    def first_hits(self, start, way, radius) -> np.ndarray:
        """Share of each way that is free, (n,)."""
        core, world = self._core, self._world
        ball, mask = self._bullet.BulletSphereShape(float(radius)), core.BitMask32.all_on()
        free = np.ones(len(start))
        for i, (a, b) in enumerate(zip(start.tolist(), (start + way).tolist(), strict=True)):
            ends = (
                core.TransformState.make_pos(core.Point3(*a)),
                core.TransformState.make_pos(core.Point3(*b)),
            )
            found = world.sweep_test_closest(ball, *ends, mask, 0.0)
            if found.has_hit():
                free[i] = found.get_hit_fraction()
        return free
