"""Moving bodies for the tests of the broad phase, and the true motions to judge it by.

The true motions share no code with the broad phase: own screws come from ``Poses.from_screw``, relative ones
from matrices.
"""

import numpy as np

import gpu_collide as gc

MESHES = (
    gc.shapes.box(),
    gc.Mesh(gc.shapes.box().vertices * [4.0, 1.0, 0.2] + [0.7, -0.3, 2.0], [[0, 1, 3], [0, 3, 2], [4, 6, 7]]),
)


def unit(rng, shape):
    """Random directions or quaternions."""
    v = rng.normal(size=shape)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def moving(seed, n, *, side=None, turn=1.0, way=1.0, still=0.0, far=0.0, meshes=MESHES):
    """n bodies in a cube, their steps screw motions of any axis.

    Parameters
    ----------
    side : float
        Of the cube; default as many bodies as places of three units.
    turn : float
        Greatest angle of a body's own turn, at most pi.
    way : float
        Typical length of a step.
    still : float
        Share of bodies that stand still.
    far : float
        Distance of the scene from the origin.

    Returns
    -------
    Bodies
    """
    rng = np.random.default_rng(seed)
    side = 3.0 * n ** (1 / 3) if side is None else side
    position = rng.uniform(0, side, (n, 3)) + far * unit(rng, 3)
    start = gc.Poses.from_quat_wxyz(position, unit(rng, (n, 4)))
    angle = rng.uniform(0, turn, n)
    half = 0.5 * angle[:, None]
    dq = np.concatenate([np.cos(half), np.sin(half) * unit(rng, (n, 3))], axis=1)
    end_position = position + way * rng.normal(size=(n, 3)) * rng.uniform(0, 2, (n, 1))
    end_quat = product(dq, start.unit_wxyz).copy()
    stays = rng.uniform(size=n) < still
    end_position[stays], end_quat[stays] = position[stays], -start.quat_wxyz[stays]
    end = gc.Poses.from_quat_wxyz(end_position, end_quat)
    return gc.Bodies(meshes, rng.integers(0, len(meshes), n), start, end)


def product(p, q):
    """Quaternion product, row by row."""
    matrix = gc.Poses.from_quat_wxyz(np.zeros((len(p), 3)), p).to_matrix()[:, :3, :3]
    other = gc.Poses.from_quat_wxyz(np.zeros((len(q), 3)), q).to_matrix()[:, :3, :3]
    joined = np.zeros((len(p), 4, 4))
    joined[:, :3, :3], joined[:, 3, 3] = matrix @ other, 1
    return gc.Poses.from_matrix(joined).unit_wxyz


def at(*bodies_of):
    """Bodies from rows of (start position, start quaternion, end position, end quaternion), of unit boxes."""
    p0, q0, p1, q1 = (np.array(column, float) for column in zip(*bodies_of, strict=True))
    return gc.Bodies(MESHES[0], None, gc.Poses.from_quat_wxyz(p0, q0), gc.Poses.from_quat_wxyz(p1, q1))


def nearest_centres(bodies, a, b, times):
    """Least distance of the centres of pairs a, b (k,) over `times`, B moving by the screw seen from A."""
    inverse_a0, inverse_a1 = (np.linalg.inv(p.to_matrix()[a]) for p in (bodies.start, bodies.end))
    m0, m1 = inverse_a0 @ bodies.start.to_matrix()[b], inverse_a1 @ bodies.end.to_matrix()[b]
    rotation, centre_a, centre_b = m1[:, :3, :3] @ m0[:, :3, :3].swapaxes(1, 2), *centres_of(bodies, a, b)
    c0 = np.einsum("nij,nj->ni", m0[:, :3, :3], centre_b) + m0[:, :3, 3]
    c1 = np.einsum("nij,nj->ni", m1[:, :3, :3], centre_b) + m1[:, :3, 3]
    axis, angle = axis_angle(rotation)
    chord = c1 - c0
    along = np.sum(chord * axis, axis=1, keepdims=True) * axis
    across = chord - along
    with np.errstate(divide="ignore", invalid="ignore"):
        hub = 0.5 * (c0 + c1 - along) + 0.5 * np.cross(axis, across) / np.tan(angle / 2)[:, None]
    straight = angle < 1e-7
    hub[straight] = c0[straight]
    least = np.full(len(c0), np.inf)
    arm = c0 - hub
    side = np.cross(axis, arm)
    for t in times:
        turned = np.cos(angle * t)[:, None] * arm + np.sin(angle * t)[:, None] * side
        place = np.where(straight[:, None], c0 + t * chord, hub + turned + t * along)
        least = np.minimum(least, np.linalg.norm(place - centre_a, axis=1))
    return least


def centres_of(bodies, *which):
    centre = np.array([m.center for m in bodies.meshes])[bodies.shape]
    return [centre[k] for k in which]


def radii_of(bodies):
    return np.array([m.radius for m in bodies.meshes])[bodies.shape]


def axis_angle(rotation):
    """Axes (n, 3) and angles (n,) in [0, pi] of rotation matrices; any axis where nothing turns."""
    poses = np.zeros((len(rotation), 4, 4))
    poses[:, :3, :3], poses[:, 3, 3] = rotation, 1
    q = gc.Poses.from_matrix(poses).unit_wxyz
    q = np.where(q[:, :1] < 0, -q, q)
    sine = np.linalg.norm(q[:, 1:], axis=1)
    axis = np.where(sine[:, None] > 1e-12, q[:, 1:] / np.maximum(sine, 1e-300)[:, None], [0.0, 0.0, 1.0])
    return axis, 2 * np.arctan2(sine, q[:, 0])
