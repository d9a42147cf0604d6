"""Boxes nearly face on face, and what they have in common, in another way: half-planes instead of corners."""

import itertools

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

import gpu_collide as gc


def stacked(rng, n, gap=(-0.02, 0.005), tilt=0.02):
    """n pairs of boxes, B on a face of A: sides (n, 2, 3), positions (n, 2, 3), quaternions (n, 2, 4)."""
    sides = rng.uniform(0.5, 2.0, (n, 2, 3))
    twist, lean = rng.uniform(-np.pi, np.pi, n), rng.normal(size=(n, 2)) * tilt
    q = gc.Poses.from_euler(np.zeros((n, 3)), "ZYX", np.column_stack([twist, lean])).quat_wxyz
    half = 0.5 * sides
    reach = half[:, 0, :2] + half[:, 1, :2].min(axis=1, keepdims=True)
    r = gc.Poses.from_quat_wxyz(np.zeros((n, 3)), q).to_matrix()[:, :3, :3]
    low = (np.abs(r[:, 2]) * half[:, 1]).sum(axis=1)
    at = np.zeros((n, 3))
    at[:, :2] = rng.uniform(-0.8, 0.8, (n, 2)) * reach
    at[:, 2] = half[:, 0, 2] + low + rng.uniform(*gap, n)
    whole = rng.normal(size=(n, 4))
    first = gc.Poses.from_quat_wxyz(
        rng.normal(size=(n, 3)) * 5, whole / np.linalg.norm(whole, axis=1)[:, None]
    )
    second = gc.Poses.from_quat_wxyz(at, q)
    world = first.to_matrix() @ second.to_matrix()
    return sides, first, gc.Poses.from_matrix(world)


def bodies_of(sides, first, second):
    """Bodies 2 k and 2 k + 1 are A and B of pair k."""
    meshes = [gc.shapes.box(tuple(s)) for s in sides.reshape(-1, 3)]
    both = gc.Poses.concatenate([first, second])[np.arange(2 * len(sides)).reshape(2, -1).T.reshape(-1)]
    return gc.Bodies(meshes, np.arange(len(meshes)), both, both), np.arange(len(meshes)).reshape(-1, 2)


def face_along(corners, turn, sides, way):
    """Of a box at a pose the face that lies most across a direction: its corners in their order."""
    axis = int(np.argmax(np.abs(turn.T @ way)))
    sign = np.sign(turn[:, axis] @ way)
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.5
    local = np.empty((4, 3))
    local[:, axis] = 0.5 * sign
    local[:, [k for k in range(3) if k != axis]] = square
    return local * sides @ turn.T + corners


def patch(face_a, face_b, normal):
    """Corners of what two faces have in common seen along a normal, (k, 2), and the gap between the two
    planes there; by the intersection of half-planes. None: nothing, or too thin to tell."""
    u = np.cross(normal, [0.3, 0.5, 0.81] if abs(normal[0]) > 0.5 else [0.9, 0.1, 0.4])
    u /= np.linalg.norm(u)
    axes = np.stack([u, np.cross(normal, u), normal])
    flat = [(face - face_a[0]) @ axes.T for face in (face_a, face_b)]
    planes = []
    for face in flat:
        middle = face[:, :2].mean(axis=0)
        for p, q in zip(face, np.roll(face, -1, axis=0), strict=True):
            n = np.array([q[1] - p[1], p[0] - q[0]]) / np.hypot(*(q - p)[:2])
            n = n if n @ (middle - p[:2]) < 0 else -n
            planes.append([*n, -n @ p[:2]])
    planes = np.array(planes)
    room = linprog([0, 0, -1], np.column_stack([planes[:, :2], np.ones(len(planes))]), -planes[:, 2],
                   bounds=[(None, None)] * 3)  # fmt: skip
    if room.status != 0 or room.x[2] < 1e-6:
        return None
    corners = HalfspaceIntersection(planes, room.x[:2]).intersections
    heights = []
    for face in flat:
        n = np.cross(face[1] - face[0], face[2] - face[0])
        heights.append(face[0, 2] - (corners - face[0, :2]) @ n[:2] / n[2])
    return corners, heights[1] - heights[0], axes, face_a[0]


def area(points):
    """Of the hull of points in a plane."""
    if len(points) < 3:
        return 0.0
    try:
        return ConvexHull(points).volume
    except QhullError:
        return 0.0


def best_four(points):
    """The largest area that four of these points span."""
    if len(points) <= 4:
        return area(points)
    hull = points[ConvexHull(points).vertices]
    return max(area(hull[list(four)]) for four in itertools.combinations(range(len(hull)), min(4, len(hull))))
