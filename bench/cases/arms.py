"""Edges of an arm in joint space, proved free or found to collide, beside poses of the same edges in coal.

Seven links of 320 faces (ellipsoids), joints that turn about z, y, z, ..., edges of 1 rad among six boxes.
Poses prove nothing: `coal_16_missed` counts edges that collide, which 16 poses do not see. coal has
both sides in trees of bodies, stops at an edge's first collision, and is asked from Python; its frames are
made beforehand and not counted. All is processor time, the least of the rounds.
"""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings

NAME = "arms"
HELP = "edges of an arm in joint space, proved, beside 16 and 64 poses of them in coal"

EDGES, LINKS, BOXES, SIDE, LENGTH, ROUNDS = 1000, 7, 6, 0.24, 0.3, 3


def shifted(z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[2, 3] = z
    return matrix


def arm() -> gc.Robot:
    ball = gc.shapes.icosphere(2)
    link = gc.Mesh(ball.vertices * [0.05, 0.05, LENGTH / 2], ball.face_vertices.reshape(-1, 3))
    joints = [
        gc.Joint(f"joint {k}", "continuous", f"link {k - 1}" if k else "base", f"link {k}",
                 shifted(LENGTH if k else 0.0), [0, 1, 0] if k % 2 else [0, 0, 1])
        for k in range(LINKS)
    ]  # fmt: skip
    return gc.Robot(joints, {f"link {k}": (link, shifted(LENGTH / 2)) for k in range(LINKS)})


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    rng, n = np.random.default_rng(settings.seed), 50 if settings.quick else EDGES
    robot, way = arm(), rng.normal(size=(n, LINKS))
    q0 = rng.uniform(-1.3, 1.3, (n, LINKS))
    q1 = q0 + way / np.linalg.norm(way, axis=1, keepdims=True)
    places = rng.uniform([-0.8, -0.8, 0.1], [0.8, 0.8, 1.5], (BOXES, 3))
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (BOXES, 1)))
    boxes = gc.Bodies(gc.shapes.box(SIDE), None, at, at)
    took = np.inf
    for k in range(1 + ROUNDS):
        begun = time.process_time()
        found = robot.edges(q0, q1, boxes, self_collisions=False, backend=settings.backend)
        took = min(took, 1e6 * (time.process_time() - begun) / n) if k else np.inf
    row = {"us_per_edge": took, "pieces": float(found.pieces.mean())}
    for poses in (16, 64):
        seen, spent = beside_coal(robot, q0, q1, places, poses)
        if seen is None:
            continue
        if (seen & (found.status == gc.Status.MISS)).any():
            raise BenchError(f"{poses} poses in coal collide on an edge that was proved free")
        row |= {
            f"coal_{poses}_us": spent,
            f"coal_{poses}_missed": int((np.isfinite(found.time) & ~seen).sum()),
        }
    report.set_device(found)
    free = float(np.mean(found.status == gc.Status.MISS))
    report.add(edges=n, free_share=free, unresolved=int((found.status == gc.Status.UNRESOLVED).sum()), **row)
    report.write()


def beside_coal(robot: gc.Robot, q0: np.ndarray, q1: np.ndarray, places: np.ndarray, poses: int):
    """Which edges collide at a pose, and the microseconds an edge; None if coal is not there."""
    try:
        import coal
    except ImportError:
        return None, 0.0
    mesh = robot.recording(q0[:1]).meshes[0]
    model = coal.BVHModelOBBRSS()
    model.beginModel(0, 0)
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in mesh.vertices:
        vertices.append(vertex)
    for face in mesh.face_vertices.reshape(-1, 3):
        triangles.append(coal.Triangle(*map(int, face)))
    model.addSubModel(vertices, triangles)
    model.endModel()
    links = [coal.CollisionObject(model) for _ in range(LINKS)]
    box = coal.Box(SIDE, SIDE, SIDE)
    boxes = [coal.CollisionObject(box, np.eye(3), place) for place in places]
    trees = coal.DynamicAABBTreeCollisionManager(), coal.DynamicAABBTreeCollisionManager()
    for tree, objects in zip(trees, (links, boxes), strict=True):
        for one in objects:
            tree.registerObject(one)
        tree.setup()
    share = np.linspace(0, 1, poses)[:, None]
    q = (q0[:, None] + share * (q1 - q0)[:, None]).reshape(-1, LINKS)
    frames = robot.forward(q).to_matrix()[:, :LINKS] @ shifted(LENGTH / 2)
    frames = frames.reshape(len(q0), poses, LINKS, 4, 4)
    seen, begun = np.zeros(len(q0), bool), time.process_time()
    for edge in range(len(q0)):
        for frame in frames[edge]:
            for link, matrix in zip(links, frame, strict=True):
                link.setTransform(coal.Transform3s(matrix[:3, :3], matrix[:3, 3]))
                link.computeAABB()
            trees[0].update()
            asked = coal.CollisionCallBackDefault()
            trees[0].collide(trees[1], asked)
            if asked.data.result.isCollision():
                seen[edge] = True
                break
    return seen, 1e6 * (time.process_time() - begun) / len(q0)
