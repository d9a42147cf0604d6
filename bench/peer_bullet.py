"""Spheres swept along straight paths through a still track, in Bullet (by Panda3D).

Bullet has a sweep of a convex shape, a call each; its shapes get no margin. It sees both sides of a face.
PyBullet sweeps rays only.
"""

from __future__ import annotations

import numpy as np


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
