"""First contacts of a cylinder that flies and spins with a mesh that stands, beside Bullet and FCL:
``python -m bench.peer_cylinder [PAIRS] [ROUNDS] [FILE.csv]``.

`gc.collide` looks for the first contact of the true cylinder, each body on its own motion. Bullet (by
Panda3D) sweeps its cylinder through the triangles of a mesh, in single precision and with its own margin.
FCL has no conservative advancement of a mesh and a shape: it tells no contact at all. MuJoCo, Coal and
PyBullet have no such query. Times of others are compared with those of `collide`, which the tests judge.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

import gpu_collide as gc
from bench.relative import relative_poses

RADIUS, LENGTH = 0.3, 1.0


def scene(n: int, seed: int = 1) -> gc.Bodies:
    """Pairs of a torus that stands and a cylinder that flies past or into it and turns by up to a radian."""
    rng = np.random.default_rng(seed)
    meshes = [gc.shapes.torus(), gc.shapes.cylinder(RADIUS, LENGTH)]
    way, aside = rng.normal(size=(2, n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    aside -= (aside * way).sum(axis=1)[:, None] * way
    aside *= rng.uniform(0, 1, (n, 1)) / np.linalg.norm(aside, axis=1)[:, None]
    reach = 1.1 * (meshes[0].radius + meshes[1].radius)
    place, velocity, spin = np.zeros((3, 2 * n, 3))
    place[1::2] = reach * (way + 0.8 * aside)
    velocity[1::2], spin[1::2] = -2 * reach * way, rng.uniform(-0.6, 0.6, (n, 3))
    turn = np.tile([1.0, 0, 0, 0], (2 * n, 1))
    turn[1::2] = rng.normal(size=(n, 4))
    start = gc.Poses.from_quat_wxyz(place, turn / np.linalg.norm(turn, axis=1)[:, None])
    return gc.Bodies.from_velocities(meshes, np.arange(2 * n) % 2, start, velocity, spin)


def ours(bodies, pairs):
    found = gc.collide(bodies, pairs, motion="body", contacts="first", backend="cpu").to_numpy()
    return np.where(found.status == gc.Status.HIT, found.toi, np.inf)


def bullet_of(mesh):
    from panda3d import bullet, core

    track = bullet.BulletTriangleMesh()
    points = [core.Point3(*x) for x in mesh.vertices.tolist()]
    for face in mesh.faces:
        for k in range(1, len(face) - 1):
            track.add_triangle(points[face[0]], points[face[k]], points[face[k + 1]])
    shape = bullet.BulletTriangleMeshShape(track, dynamic=False)
    node = bullet.BulletRigidBodyNode("mesh")
    node.add_shape(shape)
    world = bullet.BulletWorld()
    world.attach(node)
    cylinder, mask = bullet.BulletCylinderShape(RADIUS, LENGTH, bullet.ZUp), core.BitMask32.all_on()

    def ask(bodies, pairs):
        p0, q0, p1, q1 = (x.tolist() for x in relative_poses(bodies, pairs))
        toi = np.full(len(pairs), np.inf)
        for k, (a, b, c, d) in enumerate(zip(p0, q0, p1, q1, strict=True)):
            before, after = (
                core.TransformState.make_pos_quat_scale(core.Point3(*p), core.Quat(*q), core.Vec3(1))
                for p, q in ((a, b), (c, d))
            )
            hit = world.sweep_test_closest(cylinder, before, after, mask, 0.0)
            if hit.has_hit():
                toi[k] = hit.get_hit_fraction()
        return toi

    return ask


def fcl_of(mesh):
    import fcl

    faces = [(f[0], f[k], f[k + 1]) for f in mesh.faces for k in range(1, len(f) - 1)]
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(faces))
    model.addSubModel(mesh.vertices.copy(), np.array(faces))
    model.endModel()
    cylinder = fcl.Cylinder(RADIUS, LENGTH)
    request = fcl.ContinuousCollisionRequest(
        ccd_motion_type=fcl.CCDMotionType.CCDM_SCREW,
        ccd_solver_type=fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT,
        gjk_solver_type=fcl.GJKSolverType.GST_LIBCCD,
    )

    def ask(bodies, pairs):
        start, end = (
            [fcl.Transform(q, p) for p, q in zip(poses.position, poses.quat_wxyz, strict=True)]
            for poses in (bodies.start, bodies.end)
        )
        toi = np.full(len(pairs), np.inf)
        for k, (a, b) in enumerate(pairs.tolist()):
            result = fcl.ContinuousCollisionResult()
            fcl.continuousCollide(
                fcl.CollisionObject(model, start[a]), end[a], fcl.CollisionObject(cylinder, start[b]), end[b],
                request, result,
            )  # fmt: skip
            toi[k] = result.time_of_contact if result.is_collide else np.inf
        return toi

    return ask


def main(n: int = 2000, rounds: int = 3, path: str | None = None) -> None:
    bodies, pairs = scene(n), np.arange(2 * n).reshape(-1, 2)
    tools, mesh = {"collide": ours}, gc.shapes.torus()
    for name, make in {"Bullet sweep": bullet_of, "FCL continuousCollide": fcl_of}.items():
        try:
            tools[name] = make(mesh)
        except ImportError:
            print(f"{name}: not installed")
    least, toi = dict.fromkeys(tools, np.inf), {}
    for _ in range(rounds + 1):  # the first builds
        for name, ask in tools.items():
            begun = time.process_time()
            toi[name] = ask(bodies, pairs)
            least[name] = min(least[name], time.process_time() - begun)
    rows, truth = [], toi["collide"]
    for name in tools:
        both = np.isfinite(truth) & np.isfinite(toi[name])
        missed = np.mean(np.isinf(toi[name][np.isfinite(truth)]))
        invented = np.mean(np.isfinite(toi[name][np.isinf(truth)]))
        off = np.median(np.abs(toi[name][both] - truth[both])) if both.any() else np.nan
        rows.append(
            f"{name},{n},{1e6 * least[name] / n:.2f},{100 * missed:.2f},{100 * invented:.2f},{off:.2g}"
        )
    head = [f"# least processor time of one core, load {os.getloadavg()[0]:.1f}; others against collide",
            "tool,pairs,us_per_pair,missed_percent,invented_percent,off_median"]  # fmt: skip
    print("\n".join(head + rows))
    if path is not None:
        Path(path).write_text("\n".join(head + rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*(kind(x) for kind, x in zip((int, int, str), sys.argv[1:], strict=False)))
