"""Filter 3: does a plane of the screen's coordinates divide the bodies during the whole step?

In (rho, psi, y) B only shifts, along (0, W, g), so two convex hulls decide: A's, and that of B over the step.
Faces are bent there; every corner stands for a small box that holds what the bend of its face can add. The
hulls' distance is found by Gilbert's method: walk from a point of their difference towards its farthest point
in the direction of the origin.
Source: Blow, "plane divides entities".
"""

import itertools

import numpy as np

from gpu_collide.reference.filters.f01_spheres import PAD

# In units of the size: nearer than this to the axis an azimuth is not trusted.
AXIS = 1e-3
STEPS = 400


def may_meet(screw, mesh_a, mesh_b):
    """False if a plane divides all of A from all of B, wherever B shifts."""
    if not hasattr(screw, "axes"):
        return True  # both bodies move each by itself: no screen to shift on
    a, b = cloud(screw, mesh_a, screw.from_a), cloud(screw, mesh_b, screw.from_b)
    if a is None or b is None:
        return True
    way = (0.5 + screw.tau) * np.array([0.0, screw.W, screw.g])
    turns = (-1, 0, 1) if screw.kappa > 0 else (0,)
    shifts = [[0.0, k * screw.period if k else 0.0, 0.0] for k in turns]
    return not all(apart(a + shift, b, way, PAD * screw.size) for shift in shifts)


def cloud(screw, mesh, place):
    """Points (m, 3) whose hull in (rho, psi, y) holds the mesh; None if it is near the axis."""
    kappa, x, centre = screw.kappa, place(mesh.vertices), place(np.asarray(mesh.center))
    out = np.array([kappa * centre[0], 1.0 + kappa * centre[2]])
    middle = np.linalg.norm(out)
    if middle <= AXIS * screw.size * kappa:
        return None
    sine, cosine = out / middle
    dx, dz = (x - centre)[:, 0], (x - centre)[:, 2]
    k = middle + kappa * (sine * dx + cosine * dz)  # kappa r, measured along the radius of the centre
    if k.min() <= AXIS * screw.size * kappa:
        return None
    psi = screw.cylinder(centre)[1] + screw.arc(cosine * dx - sine * dz, k)
    flat = np.stack([screw.cylinder(x)[0], psi, x[:, 1]], axis=-1)
    corners, start = mesh.face_vertices, np.asarray(mesh.face_start)[:-1]
    face = np.repeat(np.arange(len(start)), np.diff(mesh.face_start))
    middles = np.add.reduceat(x[corners], start, axis=0) / np.bincount(face)[:, None]
    square = np.maximum.reduceat(((x[corners] - middles[face]) ** 2).sum(axis=1), start)[face]
    least = np.minimum.reduceat(k[corners], start)[face]
    # Half the greatest second derivative (kappa/k for rho, kappa/k^2 for psi) times the mean square distance.
    bend = 0.5 * kappa * square / least
    boxes = []
    for down, side in itertools.product((0.0, -1.0), (-1.0, 1.0)):
        add = np.stack([down * bend, side * (bend + PAD * screw.size) / least, np.zeros(len(bend))], axis=-1)
        boxes.append(flat[corners] + add)
    return np.concatenate(boxes)


def apart(p, q, way, margin):
    """Whether the hulls of the points `p` and of the points `q`, shifted by anything from -way to way, are
    found to be more than `margin` apart."""
    x = q.mean(axis=0) - p.mean(axis=0)
    if way.any():
        x = x - np.clip((x @ way) / (way @ way), -1.0, 1.0) * way
    for _ in range(STEPS):
        length = np.linalg.norm(x)
        if length <= margin:
            return False
        far = q[np.argmin(q @ x)] - p[np.argmax(p @ x)] - np.sign(x @ way) * way
        if far @ x > margin * length:
            return True
        step = x - far
        x = x - np.clip((x @ step) / (step @ step), 0.0, 1.0) * step
    return False
