"""First contacts of two bodies that turn, by what Python can have of other libraries.

What each is given, from the best of what was tried:

- **parry**, through ``rapier3d``: ``cast_shape_nonlinear``, in single precision. Its body flies straight on
  and spins; the other one stands, since the binding takes one motion (parry itself takes two).
- **Bullet**, through ``panda3d``: ``sweep_test_closest``, a convex cast with rotation, in single precision,
  between two poses, straight on and spinning; a body of several convex parts is swept part by part. Its
  margin makes bodies larger (0.04 if nothing is said); below 0.01 it begins to miss. Both ends are told,
  ``bullet`` with 0.01 and ``bullet_bare`` with none.
- **python-fcl**: ``continuousCollide`` by conservative advancement, each body on a screw of its own.
  ``CCDM_LINEAR``, straight on and spinning, cannot be used: FCL leaves the point that goes straight unset
  (constructor of ``InterpMotion`` from two poses), so that answers are right or by half a size wrong from
  run to run.

Where both bodies turn, parry and Bullet get the straight and spinning motion between the poses of B as A
sees them: what anybody would do with them, and no motion of either body.

No continuous query of bodies that turn, so not here: coal 3.0 (that of FCL is gone), pybullet 3.2 (rays
only), py-parry3d 0.0.3.
"""

from __future__ import annotations

import numpy as np

from bench.relative import relative_poses


def peers(parts) -> dict:
    """Those that are installed, by name: functions of bodies and pairs that return times, inf where none."""
    found = {}
    for name, peer in {
        "parry": ParryPeer,
        "bullet": BulletPeer,
        "bullet_bare": lambda parts: BulletPeer(parts, margin=0.0),
        "fcl": FclScrewPeer,
    }.items():
        try:
            found[name] = peer(parts)
        except ImportError:
            continue
    return found


def rotation_vectors(quat0, quat1) -> np.ndarray:
    """Turns (n, 3) of at most half a revolution from the first orientations to the second, w x y z."""
    w0, v0, w1, v1 = quat0[:, :1], quat0[:, 1:], quat1[:, :1], quat1[:, 1:]
    v = w0 * v1 - w1 * v0 + np.cross(v0, v1)
    w = w0 * w1 + (v0 * v1).sum(axis=1, keepdims=True)
    v = np.where(w < 0, -v, v)
    sine = np.linalg.norm(v, axis=1, keepdims=True)
    return v * 2 * np.arctan2(sine, np.abs(w)) / np.where(sine > 0, sine, 1)


class ParryPeer:
    """A stands in a world of its own, B is cast."""

    def __init__(self, parts):
        import rapier3d as rapier

        self._rapier = rapier
        hulls = [rapier.SharedShape.convex_hull(part.vertices.tolist()) for part in parts]
        if len(parts) == 1 and parts[0].is_box and not np.abs(parts[0].centre).max() > 1e-12:
            self._shape = rapier.SharedShape.cuboid(*(0.5 * np.ptp(parts[0].vertices, axis=0)))
        elif len(parts) == 1:
            self._shape = hulls[0]
        else:
            self._shape = rapier.SharedShape.compound([(rapier.Isometry3.identity(), hull) for hull in hulls])
        bodies, colliders = rapier.RigidBodySet(), rapier.ColliderSet()
        colliders.insert(rapier.Collider.new(self._shape))
        broad, narrow = rapier.BroadPhaseBvh(), rapier.NarrowPhase()
        rapier.CollisionPipeline().step(0.0, rapier.IslandManager(), broad, narrow, bodies, colliders)
        self._kept = bodies, colliders, broad, narrow
        self._query = rapier.QueryPipeline(broad, narrow, bodies, colliders)

    def __call__(self, bodies, pairs):
        rapier, cast, shape = self._rapier, self._query.cast_shape_nonlinear, self._shape
        p0, q0, p1, q1 = relative_poses(bodies, pairs)
        spin = rotation_vectors(q0, q1)
        options = rapier.ShapeCastOptions.with_max_time_of_impact(1.0)
        toi = np.full(len(pairs), np.inf)
        rows = zip(p0.tolist(), q0[:, [1, 2, 3, 0]].tolist(), (p1 - p0).tolist(), spin.tolist(), strict=True)
        for k, (place, quat, way, turn) in enumerate(rows):
            motion = rapier.NonlinearRigidMotion(
                start=rapier.Isometry3(tuple(place), tuple(quat)),
                linvel=tuple(way),
                angvel=tuple(turn),
            )
            hit = cast(motion, shape, options, 0.0, 1.0)
            if hit is not None:
                toi[k] = hit[1].time_of_impact
        return toi


class BulletPeer:
    """A stands as a rigid body of its parts, each part of B is swept."""

    def __init__(self, parts, margin=0.01):
        from panda3d import bullet, core

        self._core, self._shapes = core, []
        for part in parts:
            shape = bullet.BulletConvexHullShape()
            for x in part.vertices.tolist():
                shape.add_point(core.Point3(*x))
            shape.margin = margin
            self._shapes.append(shape)
        node = bullet.BulletRigidBodyNode("a")
        for shape in self._shapes:
            node.add_shape(shape)
        self._world = bullet.BulletWorld()
        self._world.attach(node)

    def __call__(self, bodies, pairs):
        core, world, mask = self._core, self._world, self._core.BitMask32.all_on()
        p0, q0, p1, q1 = (x.tolist() for x in relative_poses(bodies, pairs))
        toi = np.full(len(pairs), np.inf)
        for k, (a, b, c, d) in enumerate(zip(p0, q0, p1, q1, strict=True)):
            ends = (
                core.TransformState.make_pos_quat_scale(core.Point3(*p), core.Quat(*q), core.Vec3(1))
                for p, q in ((a, b), (c, d))
            )
            before, after = ends
            for shape in self._shapes:
                hit = world.sweep_test_closest(shape, before, after, mask, 0.0)
                if hit.has_hit():
                    toi[k] = min(toi[k], hit.get_hit_fraction())
        return toi


class FclScrewPeer:
    """All parts of A against all of B, each body on its own motion."""

    def __init__(self, parts):
        import fcl

        self._fcl = fcl
        self._geometry = []
        for part in parts:
            flat = np.array([x for loop in part.faces for x in (len(loop), *loop)], np.int32)
            self._geometry.append(fcl.Convex(part.vertices.copy(), len(part.faces), flat))

    def __call__(self, bodies, pairs):
        fcl = self._fcl
        request = fcl.ContinuousCollisionRequest(
            ccd_motion_type=fcl.CCDMotionType.CCDM_SCREW,
            ccd_solver_type=fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT,
            gjk_solver_type=fcl.GJKSolverType.GST_LIBCCD,
        )
        start, end = (
            [fcl.Transform(q, p) for p, q in zip(poses.position, poses.quat_wxyz, strict=True)]
            for poses in (bodies.start, bodies.end)
        )
        toi = np.full(len(pairs), np.inf)
        for k, (a, b) in enumerate(pairs.tolist()):
            objects = [[fcl.CollisionObject(g, start[body]) for g in self._geometry] for body in (a, b)]
            for x in objects[0]:
                for y in objects[1]:
                    result = fcl.ContinuousCollisionResult()
                    fcl.continuousCollide(x, end[a], y, end[b], request, result)
                    if result.is_collide:
                        toi[k] = min(toi[k], result.time_of_contact)
        return toi
