"""Edges of an arm in joint space, proved free or found to collide, beside poses of the same edges in coal.

An arm like a Panda: seven links of 100 to 4,000 faces, with a waist, one above the other, joints that turn
about z, y, z, ..., edges of 1 rad among six boxes. `us_any` is what an edge takes with ``first=False``, as
planners ask, `us_first` with the time of the first collision, `us_self` with links against each other too,
`us_gap` with the least gap of free edges, up to a third of a link's length.
Poses prove nothing: `coal_16_missed` counts edges that collide, which 16 poses do not see. coal is asked
about the first thousand edges. It has both sides in trees of bodies, stops at an edge's first collision, and
is asked from Python; its frames are made beforehand and not counted. All is processor time, the least of the
rounds, taken in turns.
"""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings

NAME = "arms"
HELP = "edges of an arm in joint space, proved, beside 16, 32 and 64 poses of them in coal"

EDGES, COAL_EDGES, BOXES, SIDE, LENGTH, ROUNDS = 10_000, 1_000, 6, 0.24, 0.3, 2
FACES = ((10, 5), (14, 7), (20, 10), (28, 14), (36, 21), (40, 37), (50, 40))
"""Of each link around and along: 100 to 4,000 triangles."""
POSES = (16, 32, 64)


def shifted(z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[2, 3] = z
    return matrix


def link(around: int, along: int) -> gc.Mesh:
    """A closed surface of revolution about z, thinner in the middle: ``2 around along`` triangles."""
    angle = 2 * np.pi * np.arange(around) / around
    share = np.linspace(-1, 1, along)
    radius = 0.05 * (0.6 + 0.4 * share**2)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sides = np.concatenate(
        [np.c_[r * ring, np.full(around, z)] for r, z in zip(radius, LENGTH / 2 * share, strict=True)]
    )
    vertices = np.concatenate([sides, [[0, 0, -LENGTH / 2], [0, 0, LENGTH / 2]]])
    k, n = np.arange(around), around * along
    on = (k + 1) % around
    faces = [np.c_[on, k, np.full(around, n)], np.c_[n - around + k, n - around + on, np.full(around, n + 1)]]
    for row in range(along - 1):
        low, high = row * around, (row + 1) * around
        faces += [np.c_[low + k, low + on, high + on], np.c_[low + k, high + on, high + k]]
    return gc.Mesh(vertices, np.concatenate(faces))


def arm() -> gc.Robot:
    shapes = {f"link {k}": (link(*faces), shifted(LENGTH / 2)) for k, faces in enumerate(FACES)}
    joints = [
        gc.Joint(f"joint {k}", "continuous", f"link {k - 1}" if k else "base", f"link {k}",
                 shifted(LENGTH if k else 0.0), [0, 1, 0] if k % 2 else [0, 0, 1])
        for k in range(len(FACES))
    ]  # fmt: skip
    return gc.Robot(joints, shapes)


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    rng, n, links = np.random.default_rng(settings.seed), 50 if settings.quick else EDGES, len(FACES)
    robot, way = arm(), rng.normal(size=(n, links))
    q0 = rng.uniform(-1.3, 1.3, (n, links))
    q1 = q0 + way / np.linalg.norm(way, axis=1, keepdims=True)
    places = rng.uniform([-0.8, -0.8, 0.1], [0.8, 0.8, 1.5], (BOXES, 3))
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (BOXES, 1)))
    boxes = gc.Bodies(gc.shapes.box(SIDE), None, at, at)
    asked = {
        "us_any": {"first": False, "self_collisions": False},
        "us_first": {"self_collisions": False},
        "us_self": {"first": False},
        "us_gap": {"first": False, "self_collisions": False, "clearance": LENGTH / 3},
    }
    row: dict[str, float] = {}
    for k in range(1 + ROUNDS):
        for name, options in asked.items():
            begun = time.process_time()
            told = robot.edges(q0, q1, boxes, backend=settings.backend, **options)
            spent = 1e6 * (time.process_time() - begun) / n
            row[name] = min(row.get(name, np.inf), spent) if k else np.inf
            if name == "us_first":
                found = told
            elif name == "us_any":
                row["pieces"] = float(told.pieces.mean())
        for poses in POSES:
            some = slice(COAL_EDGES)
            seen, spent = beside_coal(robot, q0[some], q1[some], places, poses)
            if seen is None:
                continue
            if (seen & (found.status[some] == gc.Status.MISS)).any():
                raise BenchError(f"{poses} poses in coal collide on an edge that was proved free")
            row[f"coal_{poses}_us"] = min(row.get(f"coal_{poses}_us", np.inf), spent) if k else np.inf
            row[f"coal_{poses}_missed"] = int((np.isfinite(found.time[some]) & ~seen).sum())
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
    links = [coal.CollisionObject(_model(coal, link(*faces))) for faces in FACES]
    box = coal.Box(SIDE, SIDE, SIDE)
    boxes = [coal.CollisionObject(box, np.eye(3), place) for place in places]
    trees = coal.DynamicAABBTreeCollisionManager(), coal.DynamicAABBTreeCollisionManager()
    for tree, objects in zip(trees, (links, boxes), strict=True):
        for one in objects:
            tree.registerObject(one)
        tree.setup()
    share = np.linspace(0, 1, poses)[:, None]
    q = (q0[:, None] + share * (q1 - q0)[:, None]).reshape(-1, len(FACES))
    frames = robot.forward(q).to_matrix()[:, : len(FACES)] @ shifted(LENGTH / 2)
    frames = frames.reshape(len(q0), poses, len(FACES), 4, 4)
    seen, begun = np.zeros(len(q0), bool), time.process_time()
    for edge in range(len(q0)):
        for frame in frames[edge]:
            for one, matrix in zip(links, frame, strict=True):
                one.setTransform(coal.Transform3s(matrix[:3, :3], matrix[:3, 3]))
                one.computeAABB()
            trees[0].update()
            asked = coal.CollisionCallBackDefault()
            trees[0].collide(trees[1], asked)
            if asked.data.result.isCollision():
                seen[edge] = True
                break
    return seen, 1e6 * (time.process_time() - begun) / len(q0)


def _model(coal, mesh: gc.Mesh):
    """A mesh with coal's tree."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(0, 0)
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in mesh.vertices:
        vertices.append(vertex)
    for face in mesh.face_vertices.reshape(-1, 3):
        triangles.append(coal.Triangle(*map(int, face)))
    model.addSubModel(vertices, triangles)
    model.endModel()
    return model
