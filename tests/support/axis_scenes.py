"""Pairs that meet next to the axis of their screw: it is aimed at a feature of A, where B's edge touches."""

import numpy as np

import gpu_collide as gc


def aimed(aim, n, seed, off=None, mesh=None):
    """`n` pairs of unit boxes (or of `mesh`).

    Parameters
    ----------
    aim : {"edge", "vertex", "face"}
        Feature of A with the point that one of B's edges touches during the step.
    off : float, optional
        Distance of the axis from that point. Default: drawn from 1e-6 to 3e-3 for each pair.

    Returns
    -------
    Bodies, (n, 2) int array
    """
    rng = np.random.default_rng(seed)
    mesh = gc.shapes.box() if mesh is None else mesh
    start, end = [], []
    for _ in range(n):
        point, other = _point(rng, mesh, aim), _point(rng, mesh, "edge")
        past = rng.normal(size=3)
        past *= (10 ** rng.uniform(-6, -2.5) if off is None else off) / np.linalg.norm(past)
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        theta, pitch, when = rng.uniform(0.3, 2.6), rng.uniform(-2, 2), rng.uniform(0.2, 0.8)
        turned = rng.normal(size=4)
        turned /= np.linalg.norm(turned)
        place, pivot = point - _rotate(turned, other), point + past
        for t, poses in ((-when, start), (1 - when, end)):
            q = np.concatenate([[np.cos(theta * t / 2)], np.sin(theta * t / 2) * axis])
            poses.append((np.zeros(3), np.array([1.0, 0, 0, 0])))
            poses.append((_rotate(q, place - pivot) + pivot + pitch * t * axis, _product(q, turned)))
    poses = [gc.Poses.from_quat_wxyz(*map(np.array, zip(*p, strict=True))) for p in (start, end)]
    return gc.Bodies(mesh, None, *poses), np.arange(2 * n).reshape(-1, 2)


def _point(rng, mesh, aim):
    if aim == "vertex":
        return mesh.vertices[rng.integers(len(mesh.vertices))]
    if aim == "edge":
        a, b = mesh.vertices[mesh.edges[rng.integers(len(mesh.edges))]]
        return a + rng.uniform(0.1, 0.9) * (b - a)
    f = rng.integers(len(mesh.face_planes))
    corners = mesh.vertices[mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]]
    return rng.dirichlet(np.ones(len(corners))) @ corners


def _rotate(q, x):
    return x + 2 * np.cross(q[1:], q[0] * x + np.cross(q[1:], x))


def _product(p, q):
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], vector])
