"""The least distance of passes, with its proof, beside distances at poses of the same pass: at 32 in
python-fcl, at 64 in MuJoCo (of convex shapes, if it is installed).

One of two bodies stands, the other goes past on a straight way and turns about a random axis: 0.4 to 1.5
radii sums beside it, 1 to 3 long. Poses prove nothing: `fcl_off` and `mujoco_off` are by how much of the size
the least of them is above the truth. `far` are the passes that stay farther apart than a tenth of a radius,
asked with that as `max_distance`; `first` is what `contacts="first"` takes for the same pairs. All is
processor time, the least of the rounds.
"""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings
from gpu_collide.geometry.preparation.prepared import is_convex

NAME = "clearance"
HELP = "the least distance of a pass, beside python-fcl and MuJoCo at poses of it, and first contacts"

POSES, MUJOCO_POSES, TURN, ROUNDS = 32, 64, 0.35, 5


def hull() -> gc.Mesh:
    """A hull of 102 points on a sphere: 200 faces."""
    points = np.random.default_rng(5).normal(size=(102, 3))
    return gc.shapes.convex_hull(points / np.linalg.norm(points, axis=1)[:, None])


SHAPES = {
    "cubes": (gc.shapes.box, 2000),
    "cars": (gc.shapes.car, 1000),
    "hulls of 200": (hull, 100),
    "tori": (gc.shapes.torus, 60),
    "icospheres of 1,280": (lambda: gc.shapes.icosphere(3), 30),
}


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    for name, (make, most) in SHAPES.items():
        mesh, n = make(), max(4, most // 20) if settings.quick else most
        bodies, pairs = passes(mesh, n, settings.seed)
        rounds = 2 if settings.quick else ROUNDS
        found, took = least(lambda b=bodies, p=pairs, **more: ask(settings, b, p, **more), rounds, n)
        check(found, mesh)
        limit = 0.1 * mesh.radius
        far = pairs[(found.lower_bound > limit)]
        _, beyond = least(
            lambda b=bodies, p=far, most=limit: ask(settings, b, p, max_distance=most), rounds, len(far)
        )
        _, first = least(lambda b=bodies, p=far: met(settings, b, p), rounds, len(far))
        row = {"us_per_pair": took, "far_us": beyond, "first_us": first, "far_ratio": beyond / first}
        some = min(n, 10 if mesh.n_faces > 100 else 50)
        row |= beside_fcl(bodies, pairs[:some], found, took, mesh)
        row |= beside_mujoco(bodies, pairs[:some], found, took, mesh)
        report.set_device(found)
        report.add(
            shape=name,
            faces=mesh.n_faces,
            pairs=n,
            hit_share=float(np.mean(found.status == gc.Status.HIT)),
            **row,
        )
    report.write()


def passes(mesh: gc.Mesh, n: int, seed: int) -> tuple[gc.Bodies, np.ndarray]:
    rng, size = np.random.default_rng(seed), 2.0 * mesh.radius
    along, beside = directions(rng, n), rng.normal(size=(n, 3))
    beside = np.cross(along, beside)
    beside *= rng.uniform(0.4, 1.5, (n, 1)) * size / np.linalg.norm(beside, axis=1, keepdims=True)
    half = 0.5 * rng.uniform(1.0, 3.0, (n, 1)) * size
    start, end = np.zeros((2 * n, 3)), np.zeros((2 * n, 3))
    start[1::2], end[1::2] = beside - half * along, beside + half * along
    first = rng.normal(size=(2 * n, 4))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    w, v = np.cos(0.5 * TURN), np.sin(0.5 * TURN) * directions(rng, n)
    w0, v0 = first[1::2, :1], first[1::2, 1:]
    last = first.copy()
    last[1::2, :1] = w * w0 - np.sum(v * v0, axis=1, keepdims=True)
    last[1::2, 1:] = w * v0 + w0 * v + np.cross(v, v0)
    poses = (gc.Poses.from_quat_wxyz(*each) for each in ((start, first), (end, last)))
    return gc.Bodies(mesh, None, *poses), np.arange(2 * n).reshape(-1, 2)


def directions(rng, n: int) -> np.ndarray:
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def ask(settings: Settings, bodies: gc.Bodies, pairs: np.ndarray, **more) -> gc.Clearance:
    return gc.clearance(bodies, pairs, backend=settings.backend, precision=settings.precision, **more)


def met(settings: Settings, bodies: gc.Bodies, pairs: np.ndarray) -> gc.Contacts:
    return gc.collide(bodies, pairs, contacts="first", backend=settings.backend, precision=settings.precision)


def least(call, rounds: int, n: int):
    """What a call returns, and the least microseconds of processor time a pair, behind a round that
    prepares."""
    best = np.inf
    for k in range(rounds + 1):
        begun = time.process_time()
        found = call()
        took = 1e6 * (time.process_time() - begun) / max(n, 1)
        best = min(best, took) if k else np.inf
    return found, best


def check(found: gc.Clearance, mesh: gc.Mesh) -> None:
    """Bounds keep to the tolerance."""
    slack = (found.distance - found.lower_bound).max(initial=0.0)
    if slack > 1e-8 * mesh.radius or (found.status == gc.Status.UNRESOLVED).any():
        raise BenchError(f"bounds are {slack:.3g} below distances, or a pair is unresolved")


def beside_fcl(
    bodies: gc.Bodies, pairs: np.ndarray, found: gc.Clearance, took: float, mesh: gc.Mesh
) -> dict[str, float]:
    """python-fcl's distance of triangle meshes at 32 poses, if it is there; where bodies meet it is not
    asked."""
    try:
        import fcl
    except ImportError:
        return {}
    fans = [
        (loop[0], loop[k], loop[k + 1])
        for loop in (
            mesh.face_vertices[a:b] for a, b in zip(mesh.face_start[:-1], mesh.face_start[1:], strict=True)
        )
        for k in range(1, len(loop) - 1)
    ]
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(fans))
    model.addSubModel(np.array(mesh.vertices), np.array(fans))
    model.endModel()
    apart = [k for k in range(len(pairs)) if found.status[k] == gc.Status.MISS]
    times = np.linspace(0.0, 1.0, POSES)
    spent, off = 0.0, []
    for k in apart:
        a, b = pairs[k]
        still = fcl.CollisionObject(model, fcl.Transform(bodies.start.quat_wxyz[a], bodies.start.position[a]))
        at = [bodies.poses_at(t) for t in times]  # one stands: this is the relative screw
        moves = [fcl.Transform(p.quat_wxyz[b], p.position[b]) for p in at]
        best, mover = np.inf, fcl.CollisionObject(model)
        begun = time.process_time()
        for move in moves:
            mover.setTransform(move)
            best = min(best, fcl.distance(still, mover, fcl.DistanceRequest(), fcl.DistanceResult()))
        spent += time.process_time() - begun
        off.append((best - found.distance[k]) / mesh.radius)
    fcl_us = 1e6 * spent / max(len(apart), 1)
    return {"fcl_32_us": fcl_us, "fcl_ratio": fcl_us / took, "fcl_off": float(np.max(off, initial=0.0))}


def beside_mujoco(
    bodies: gc.Bodies, pairs: np.ndarray, found: gc.Clearance, took: float, mesh: gc.Mesh
) -> dict[str, float]:
    """MuJoCo's distance of two geoms at 64 poses, if it is there, which takes meshes for convex; where bodies
    meet it is not asked."""
    try:
        import mujoco
    except ImportError:
        return {}
    if not is_convex(mesh):
        return dict.fromkeys(("mujoco_64_us", "mujoco_ratio", "mujoco_off"), np.nan)
    corners = " ".join(map(str, mesh.vertices.ravel()))
    geom = '<body mocap="true"><geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body>'
    asset = f'<asset><mesh name="m" vertex="{corners}"/></asset>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{asset}<worldbody>{geom}{geom}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    apart = [k for k in range(len(pairs)) if found.status[k] == gc.Status.MISS]
    at = [bodies.poses_at(t) for t in np.linspace(0.0, 1.0, MUJOCO_POSES)]
    spent, off = 0.0, []
    for k in apart:
        places = [(p.position[pairs[k]], p.quat_wxyz[pairs[k]]) for p in at]
        best, begun = np.inf, time.process_time()
        for place, turn in places:
            data.mocap_pos[:], data.mocap_quat[:] = place, turn
            mujoco.mj_kinematics(model, data)
            best = min(best, mujoco.mj_geomDistance(model, data, 0, 1, 1e3 * mesh.radius, None))
        spent += time.process_time() - begun
        off.append((best - found.distance[k]) / mesh.radius)
    us = 1e6 * spent / max(len(apart), 1)
    return {"mujoco_64_us": us, "mujoco_ratio": us / took, "mujoco_off": float(np.max(off, initial=0.0))}
