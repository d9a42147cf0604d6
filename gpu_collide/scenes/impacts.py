"""Seeded batches of moving pairs, for the demo, the bench and the tests.

Every scene is made the same way: the motion of B is drawn in A's frame, then A is given a motion of its own
and carries B along, so that both bodies move and turn in the world while the relative motion stays as drawn.
All scenes return ``(bodies, pairs)``: A is body ``i``, B is body ``n + i`` of pair ``i``.

How the hit share is set: a body that passes far through hits iff the point where its path crosses the plane
through A's centre lies in the shadow of the Minkowski sum A + (-B). The mean area of that shadow over all
orientations is measured from the meshes (`mean_shadow_area`), and the offsets are drawn evenly from a disc of
`shadow / touch_share`. What remains is a factor near 1 for steps that end half way in (`_DISC_FACTOR`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.scenes.turns import axis_angle, multiply, rotate

if TYPE_CHECKING:
    from gpu_collide._types import Array, FloatArray

__all__ = ["fast_pass", "mean_shadow_area", "random_impacts", "spins", "translations"]

#: Where a step starts, in sums of the bounding radii: the spheres are apart, the start is certainly clear.
_START_RANGE = (1.05, 1.5)

#: Where the step ends along the line of approach, in the same unit: from nearly inside to half way out again.
#: Most bodies of any shape have met by then if they are to meet at all, so one calibration serves all shapes.
_END_RANGE = (-0.25, 0.5)

#: Radius of the disc of offsets over that of a disc with area shadow / touch_share: what is lost to steps
#: that end early, and to hollows of the shapes. Measured with python-fcl and with 65 sampled poses a step at
#: touch_share 0.47: 0.486 of unit cubes, 0.454 of cars, 0.492 of tori touch (20,000, 15,000 and 6,000 pairs).
_DISC_FACTOR = 0.965

_SHADOW_DIRECTIONS = 48
_SHADOW_ANGLES = 96


def random_impacts(
    mesh_a: Mesh,
    mesh_b: Mesh | None = None,
    n: int = 1000,
    seed: int = 0,
    *,
    max_turn: float = math.pi / 4,
    touch_share: float = 0.47,
) -> tuple[Bodies, np.ndarray]:
    """Pairs that are clear at the start and of which about half touch during the step.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
        Shapes of A and B; `mesh_b` is `mesh_a` if left out.
    n : int
        Number of pairs.
    seed : int
        Same seed, same scene, on every machine with the same NumPy.
    max_turn : float
        The relative turn of the step is uniform in [0, max_turn], radians, about an axis of any direction.
    touch_share : float
        Wanted share of pairs that touch, in (0, 1). Exact to about 0.03 for compact shapes at 0.3 to 0.6;
        long thin ones touch more often than asked when the disc of offsets gets smaller than their length.

    Returns
    -------
    bodies : Bodies
        2 n bodies: all A, then all B.
    pairs : (n, 2) int64 array
        ``[i, n + i]``.
    """
    mesh_b = mesh_a if mesh_b is None else mesh_b
    if not 0.0 < touch_share < 1.0:
        raise ValueError(f"touch_share must lie in (0, 1), got {touch_share!r}")
    rng = np.random.default_rng(seed)
    reach = mesh_a.radius + mesh_b.radius
    disc = _DISC_FACTOR * math.sqrt(mean_shadow_area(mesh_a, mesh_b) / (math.pi * touch_share))
    ahead, right, up = _frames(rng, n)
    radius = disc * np.sqrt(rng.random(n))
    angle = rng.uniform(0.0, 2.0 * math.pi, n)
    offset = (radius * np.cos(angle))[:, None] * right + (radius * np.sin(angle))[:, None] * up
    start = offset - (reach * rng.uniform(*_START_RANGE, n))[:, None] * ahead
    end = offset + (reach * rng.uniform(*_END_RANGE, n))[:, None] * ahead
    return _build(mesh_a, mesh_b, rng, start, end, rng.uniform(0.0, max_turn, n), max_turn)


def translations(
    mesh_a: Mesh, mesh_b: Mesh | None = None, n: int = 1000, seed: int = 0, *, touch_share: float = 0.47
) -> tuple[Bodies, np.ndarray]:
    """`random_impacts` without any turn: the relative motion is straight."""
    return random_impacts(mesh_a, mesh_b, n, seed=seed, max_turn=0.0, touch_share=touch_share)


def fast_pass(
    mesh_a: Mesh,
    mesh_b: Mesh | None = None,
    n: int = 1000,
    seed: int = 0,
    *,
    lengths: float = 200.0,
    max_turn: float = math.pi / 4,
) -> tuple[Bodies, np.ndarray]:
    """Pairs that pass straight through each other, `lengths` body lengths (diameters of A) in one step.

    The chord runs through A near its centre, so a method that samples poses misses nearly all of them; with a
    turn the path is an arc, whose height over the chord (up to 0.1 of its length) takes many past A again.
    """
    mesh_b = mesh_a if mesh_b is None else mesh_b
    rng = np.random.default_rng(seed)
    ahead, right, up = _frames(rng, n)
    spread = 0.25 * (mesh_a.radius + mesh_b.radius)
    offset = rng.normal(0.0, spread, n)[:, None] * right + rng.normal(0.0, spread, n)[:, None] * up
    half = lengths * mesh_a.radius * ahead
    return _build(mesh_a, mesh_b, rng, offset - half, offset + half, rng.uniform(0.0, max_turn, n), max_turn)


def spins(
    mesh_a: Mesh,
    mesh_b: Mesh | None = None,
    n: int = 1000,
    seed: int = 0,
    *,
    max_turn: float = math.pi / 4,
    gap: float = 0.0,
) -> tuple[Bodies, np.ndarray]:
    """Pairs side by side with overlapping bounding spheres, B turning in place: the axis goes through B.

    Starts are not checked: some pairs overlap from the beginning. `gap` (in sums of the radii) moves them
    apart.
    """
    mesh_b = mesh_a if mesh_b is None else mesh_b
    rng = np.random.default_rng(seed)
    ahead, _, _ = _frames(rng, n)
    place = ((mesh_a.radius + mesh_b.radius) * (gap + rng.uniform(0.5, 1.0, n)))[:, None] * ahead
    return _build(mesh_a, mesh_b, rng, place, place, rng.uniform(0.0, max_turn, n), max_turn)


def mean_shadow_area(mesh_a: Mesh, mesh_b: Mesh) -> float:
    """Mean area of the shadow of A + (-B) over all orientations of both, for the hulls of the two meshes.

    For plane convex figures K and L turned at random, ``area(K + L) = area K + area L + |dK| |dL| / (2 pi)``
    on average; means over the directions of view give the rest. Unit: mesh length squared; accurate to about
    1 %.
    """
    (area_a, girth_a), (area_b, girth_b) = (
        _mean_shadow((np.asarray(m.vertices) - np.asarray(m.center)).tobytes()) for m in (mesh_a, mesh_b)
    )
    return area_a + area_b + girth_a * girth_b / (2.0 * math.pi)


@lru_cache(maxsize=16)  # batches of the same shapes are drawn again and again
def _mean_shadow(offsets: bytes) -> tuple[float, float]:
    """Mean area and perimeter of the hull's projection, from support points in evenly spread directions.

    `offsets`: (nv, 3) float64, the vertices from the mesh's center.
    """
    points = np.frombuffer(offsets).reshape(-1, 3)
    turn = (np.arange(_SHADOW_ANGLES) + 0.5) * (2.0 * math.pi / _SHADOW_ANGLES)
    step = 2.0 * math.pi / _SHADOW_ANGLES
    area = girth = 0.0
    for k in range(_SHADOW_DIRECTIONS):
        # Fibonacci lattice on the sphere: even, and the same on every machine.
        z = 1.0 - (2.0 * k + 1.0) / _SHADOW_DIRECTIONS
        phi = k * math.pi * (3.0 - math.sqrt(5.0))
        s = math.sqrt(1.0 - z * z)
        first = np.array([-math.sin(phi), math.cos(phi), 0.0])
        second = np.array([-z * math.cos(phi), -z * math.sin(phi), s])
        flat = points @ np.stack([first, second], axis=1)  # (nv, 2)
        out = np.stack([np.cos(turn), np.sin(turn)])  # (2, angles)
        height = flat @ out
        best = height.argmax(axis=0)
        support = height[best, np.arange(_SHADOW_ANGLES)]
        slope = -flat[best, 0] * out[1] + flat[best, 1] * out[0]  # derivative of the support function
        girth += support.sum() * step
        area += 0.5 * (support**2 - slope**2).sum() * step
    return area / _SHADOW_DIRECTIONS, girth / _SHADOW_DIRECTIONS


def _build(
    mesh_a: Mesh,
    mesh_b: Mesh,
    rng: np.random.Generator,
    start: FloatArray,
    end: FloatArray,
    turn: FloatArray,
    max_turn: float,
) -> tuple[Bodies, np.ndarray]:
    """Bodies from B's centre (n, 3) in A's frame at start and end, and the relative turn (n,), radians."""
    n = len(start)
    q_rel0 = _random_quats(rng, n)
    q_rel1 = multiply(axis_angle(_random_units(rng, n), turn), q_rel0)

    # A's own motion: as far and as much turned as is usual in the scene, so that neither body is special.
    reach = mesh_a.radius + mesh_b.radius
    centre_a0 = rng.uniform(-20.0, 20.0, (n, 3)) * reach
    centre_a1 = centre_a0 + rng.normal(0.0, 0.5, (n, 3)) * reach
    q_a0 = _random_quats(rng, n)
    q_a1 = multiply(axis_angle(_random_units(rng, n), rng.uniform(0.0, 1.0, n) * max_turn), q_a0)

    q_b0, q_b1 = multiply(q_a0, q_rel0), multiply(q_a1, q_rel1)
    centre_b0 = centre_a0 + rotate(q_a0, start)
    centre_b1 = centre_a1 + rotate(q_a1, end)

    c_a, c_b = np.asarray(mesh_a.center), np.asarray(mesh_b.center)
    first = np.concatenate([centre_a0 - rotate(q_a0, c_a), centre_b0 - rotate(q_b0, c_b)])
    last = np.concatenate([centre_a1 - rotate(q_a1, c_a), centre_b1 - rotate(q_b1, c_b)])
    meshes = [mesh_a] if mesh_b is mesh_a else [mesh_a, mesh_b]
    shape = np.repeat(np.array([0, len(meshes) - 1], np.int32), n)
    bodies = Bodies(
        meshes,
        shape,
        Poses.from_quat_wxyz(first, np.concatenate([q_a0, q_b0])),
        Poses.from_quat_wxyz(last, np.concatenate([q_a1, q_b1])),
    )
    index = np.arange(n, dtype=np.int64)
    return bodies, np.stack([index, index + n], axis=1)


def _frames(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Three orthonormal vectors (n, 3) each, of random orientation: ahead, right, up."""
    q = _random_quats(rng, n)
    ahead, right, up = (rotate(q, axis) for axis in np.eye(3))
    return ahead, right, up


def _random_units(rng: np.random.Generator, n: int) -> Array:
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def _random_quats(rng: np.random.Generator, n: int) -> Array:
    """Uniform on the rotations, (n, 4), w x y z."""
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)
