"""`motion_difference`: how far the relative screw of a pair is from the bodies' own motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_pairs
from gpu_collide.bodies.bodies import Bodies, check_bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import rotate
from gpu_collide.geometry.arrays.angles import angle_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array, ArrayLike

__all__ = ["motion_difference"]

SAMPLES = 32  # for each half revolution that both bodies turn by together
MOST_SAMPLES = 1 << 12
_BLOCK = 1 << 13  # pairs looked at together


def motion_difference(bodies: Bodies, pairs: ArrayLike) -> NDArray[np.float64]:
    """How far ``motion="relative"`` leads from ``motion="body"``: the greatest distance, over the step,
    between the two places of a point of B as A sees it.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) array_like of int
        Rows (A, B) of body numbers.

    Returns
    -------
    (p,) float64 ndarray
        In units of length. Where both motions are one it is rounding: with one body still, unless the other
        makes a half turn, or both turning about one axis. Not a number where a pose is none.

    Raises
    ------
    TypeError, ValueError
        No bodies, or no pairs of them.

    Notes
    -----
    The points are the corners of the box about B's mesh, along the axes of the mesh: no point of B differs by
    more. The times are samples, 32 for each half revolution that both bodies turn by together, 4,096 at most:
    up to 64 revolutions a step the maximum over all times is not missed by more than half a percent.

    Both motions agree where the step begins and ends, of bodies that spin up to whole turns; between, the
    difference falls to a quarter when steps are halved.

    Examples
    --------
    >>> import numpy as np, gpu_collide as gc
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0], [4, 0, 0], [8, 0, 0]], [[1, 0, 0, 0]] * 3)
    >>> turned = gc.Poses.from_screw([0, 0, 1], [0, -30, 0], 0.1, 0.0, start)  # two cars in one bend
    >>> end = gc.Poses.concatenate([turned[:2], start[2:].moved([3, 0, 0])])  # and one straight on
    >>> bodies = gc.Bodies(gc.shapes.car(), None, start, end)
    >>> gc.motion_difference(bodies, [[0, 1], [0, 2]]).round(3).tolist()
    [0.0, 0.038]
    """
    check_bodies(bodies)
    rows = check_pairs(pairs, len(bodies))
    found = np.full(len(rows), np.nan)
    known = np.flatnonzero(bodies.valid[rows].all(axis=1))
    count = _samples(bodies, rows[known])
    for n in np.unique(count):
        alike = known[count == n]
        for at in range(0, len(alike), _BLOCK):
            some = alike[at : at + _BLOCK]
            found[some] = _furthest(bodies, rows[some], int(n))
    return found


def _samples(bodies: Bodies, pairs: Array) -> Array:
    """How many times are looked at for each pair, a power of two."""
    first, last = bodies.start.unit_wxyz, bodies.end.unit_wxyz
    flip = np.where((first * last).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    apart, together = (np.linalg.norm(first - s * last, axis=1) for s in (flip, -flip))
    turn = 4 * angle_of(apart, together)
    if bodies.spins is not None:
        spun = np.linalg.norm(bodies.spins.rotation, axis=1)
        turn = np.where(bodies.spins.spinning, spun, turn)
    halves = np.maximum(turn[pairs].sum(axis=1) / np.pi, 1.0)
    with np.errstate(over="ignore"):
        return np.minimum(SAMPLES * 2.0 ** np.ceil(np.log2(halves)), MOST_SAMPLES).astype(np.int64)


def _furthest(bodies: Bodies, pairs: Array, samples: int) -> Array:
    corners = _corners(bodies)[bodies.shape[pairs[:, 1]]]
    a, b = (bodies.take(column) for column in pairs.T)
    before = a.start.inverse() @ b.start
    # of a half turn, which two screws fit, the one that is told in A's axes: the way from a pose that is none
    whole = (a.end.inverse() @ b.end) @ before.inverse()
    rest = Poses.identity(len(pairs))
    furthest = np.zeros(len(pairs))
    for k in range(samples + 1):
        own = a.poses_at(k / samples).inverse() @ b.poses_at(k / samples)
        screw = rest.toward(whole, k / samples) @ before
        apart = _placed(own, corners) - _placed(screw, corners)
        furthest = np.maximum(furthest, np.sqrt((apart**2).sum(axis=-1)).max(axis=1))
    return furthest


def _placed(poses: Poses, points: Array) -> Array:
    return rotate(poses.unit_wxyz[:, None], points) + poses.position[:, None]


def _corners(bodies: Bodies) -> Array:
    """(meshes, 8, 3): corners of the box about each mesh."""
    low, high = (np.array([f(mesh.vertices, axis=0) for mesh in bodies.meshes]) for f in (np.min, np.max))
    bits = np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8)])
    return np.where(bits, high[:, None], low[:, None])
