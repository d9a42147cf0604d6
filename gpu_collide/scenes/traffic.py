"""Many worlds of cars, for the demo, the bench and the tests: a step of traffic in which every car drives
its own way.

All worlds lie in the same place and share the ground and the walls around it, which are in world -1. So only
the numbers of the worlds keep their cars apart, as in a simulation of many copies of one scene.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry import shapes
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.scenes.turns import axis_angle, multiply, rotate

if TYPE_CHECKING:
    from gpu_collide._types import Array, ArrayLike

__all__ = ["GROUND", "ground", "worlds"]

#: Number of each mesh in the bodies of `worlds`.
CAR, BARRIER, WALL, GROUND = range(4)

_CELL = 6.0  # a car (4 x 1.5) that is turned and moved a little keeps to its own
_MOST_OFF = 0.8  # of a car from the middle of its cell
_TILE = 2.0
_BARRIER = (5.0, 0.5, 1.0)
_UP = np.array([0.0, 0.0, 1.0])


def worlds(
    n_worlds: int = 1000,
    n_cars: int = 32,
    seed: int = 0,
    *,
    n_barriers: int = 6,
    speed: tuple[float, float] = (30.0, 80.0),
    rate: float = 30.0,
    free: float = 0.5,
) -> tuple[Bodies, np.ndarray]:
    """A step of `n_worlds` worlds of cars that drive on the same ground; z is up, unit metre.

    Cars start clear of each other, of the barriers and of the ground, each in a cell of its own, and drive 1
    to 2.7 m in the step. They steer, nod and lean a little, and come down onto the ground, which is not even.

    Parameters
    ----------
    n_worlds, n_cars : int
    seed : int
        Same seed, same scene, on every machine with the same NumPy.
    n_barriers : int
        Boxes that stand in each world, in other places in each.
    speed : (low, high)
        Metres a second, evenly spread.
    rate : float
        Steps a second.
    free : float
        Share of the cells that stay empty, in [0, 1): the rest is as dense as traffic gets.

    Returns
    -------
    bodies : Bodies
        Cars, world by world; then the barriers, likewise; then four walls around the place; last the ground.
    world : (n,) int64 array
        For `collide`: -1 for walls and ground.
    """
    rng = np.random.default_rng(seed)
    each = n_cars + n_barriers
    side = max(math.ceil(math.sqrt(each / (1.0 - free))), 1)
    cells = rng.permuted(np.tile(np.arange(side * side), (n_worlds, 1)), axis=1)[:, :each]
    middle = (np.stack(np.divmod(cells, side), axis=-1) - 0.5 * (side - 1)) * _CELL
    cars = _cars(rng, middle[:, :n_cars].reshape(-1, 2), speed, rate)
    half = 0.5 * side * _CELL
    still = [_barriers(rng, middle[:, n_cars:].reshape(-1, 2)), _walls(half), (np.zeros((1, 3)), _yaw([0.0]))]
    stands = [np.concatenate(parts) for parts in zip(*still, strict=True)]
    start, end = (
        Poses.from_quat_wxyz(*(np.concatenate(parts) for parts in zip(pose, stands, strict=True)))
        for pose in cars
    )
    meshes = [
        shapes.car(),
        shapes.box(_BARRIER),
        shapes.box((2.0 * half + 1.0, 0.5, 1.2)),
        ground(2.0 * half + 2.0, rng),
    ]
    number = np.arange(n_worlds)
    shape = np.repeat([CAR, BARRIER, WALL, GROUND], [n_worlds * n_cars, n_worlds * n_barriers, 4, 1])
    world = np.concatenate([np.repeat(number, n_cars), np.repeat(number, n_barriers), np.full(5, -1)])
    return Bodies(meshes, shape.astype(np.int32), start, end), world


def ground(side: float, rng: np.random.Generator, bumps: float = 0.01) -> Mesh:
    """A square of triangles about the origin, of about `side`, its corners up or down by about `bumps`."""
    n = math.ceil(side / _TILE)
    at = (np.arange(n + 1) - 0.5 * n) * _TILE
    x, y = np.meshgrid(at, at, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), rng.normal(0.0, bumps, (n + 1) ** 2)], axis=1)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a, b = i * (n + 1) + j, (i + 1) * (n + 1) + j
    return Mesh(vertices, np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)]))


def _cars(
    rng: np.random.Generator, middle: Array, speed: tuple[float, float], rate: float
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Start and end, each positions (n, 3) and quaternions (n, 4)."""
    n = len(middle)
    heading, turn = rng.uniform(0.0, 2.0 * math.pi, n), rng.normal(0.0, 0.04, n)
    way = (rng.uniform(*speed, n) / rate)[:, None]
    ahead = np.stack([np.cos(heading + 0.5 * turn), np.sin(heading + 0.5 * turn)], axis=1)
    first = middle + rng.uniform(-_MOST_OFF, _MOST_OFF, (n, 2)) / math.sqrt(2.0)
    height = 0.72 + rng.uniform(0.0, 0.1, n)
    low = height - rng.uniform(0.0, 0.16, n)
    return (
        (np.column_stack([first, height]), _lean(rng, heading)),
        (np.column_stack([first + way * ahead, low]), _lean(rng, heading + turn)),
    )


def _lean(rng: np.random.Generator, heading: Array) -> Array:
    """Turned by the heading, after nodding about y and leaning about x by up to about a degree."""
    n = len(heading)
    nod = axis_angle(np.tile([0.0, 1.0, 0.0], (n, 1)), rng.normal(0.0, 0.006, n))
    lean = axis_angle(np.tile([1.0, 0.0, 0.0], (n, 1)), rng.normal(0.0, 0.012, n))
    return multiply(_yaw(heading), multiply(nod, lean))


def _barriers(rng: np.random.Generator, middle: Array) -> tuple[Array, Array]:
    place = np.column_stack([middle, np.full(len(middle), 0.5 * _BARRIER[2] + 0.05)])
    return place, _yaw(rng.uniform(0.0, math.pi, len(middle)))


def _walls(half: float) -> tuple[Array, Array]:
    """Around a square: right, behind, left and in front of it."""
    turn = _yaw(0.5 * math.pi * np.arange(4.0))
    return rotate(turn, np.array([0.0, -half - 0.25, 0.65])), turn


def _yaw(angle: ArrayLike) -> Array:
    angles = np.asarray(angle)
    return axis_angle(np.tile(_UP, (len(angles), 1)), angles)
