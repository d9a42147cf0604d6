"""A generated race: a closed track with barriers and a car that drives on it, as the arrays of a recording.

The track is a hilly circuit of road, kerbs and walls; the car keeps to it badly: it hops over the bumps,
scrapes along walls where it swerves too far, and is put back onto the road once, as racing games do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.shapes import car

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["demo_race", "tiled"]

_HALF_WIDTH = 6.0  # of the road
_WALL = (0.9, 0.4)  # height and thickness
_UP = np.array([0.0, 0.0, 1.0])


def demo_race(
    seed: int = 1, *, stations: int = 360, seconds: float = 60.0, rate: float = 9.0
) -> dict[str, Array]:
    """Arrays of a recorded race, as `Recording.from_arrays` takes them; z is up, unit metre.

    Parameters
    ----------
    seed : int
        Same seed, same race, on every machine with the same NumPy.
    stations : int
        Cross sections of the track; there are 32 triangles of track for each.
    seconds : float
        How long the race lasts; a lap takes about half a minute.
    rate : float
        Poses per second, on average.

    Returns
    -------
    dict of str to ndarray
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed: expected an integer, got {type(seed).__name__}")
    if seed < 0:
        raise ValueError(f"seed: expected an integer from 0 up, got {seed}")
    rng = np.random.default_rng(seed)
    shape = _Line(rng)
    vertices, faces = _track(shape, stations, rng)
    time = np.concatenate([[0.0], np.cumsum(rng.uniform(0.4, 1.6, max(int(seconds * rate), 1)) / rate)])
    position, matrix = _drive(shape, time, rng)
    body = car()
    loops = [loop[[0, k, k + 1]] for loop in body.faces for k in range(1, len(loop) - 1)]
    poses = Poses.from_matrix(matrix)
    return {
        "track_vertices": vertices,
        "track_faces": faces,
        "car_vertices": body.vertices.copy(),
        "car_faces": np.array(loops, np.int32),
        "time": time,
        "position": position,
        "quaternion_xyzw": poses.unit_wxyz[..., [1, 2, 3, 0]],
        "race_lengths": np.array([len(time)]),
    }


def tiled(mesh: Mesh, copies: int) -> Mesh:
    """`copies` copies of a mesh side by side in a square, as one mesh; the first one stays where it is."""
    size = np.ptp(mesh.vertices, axis=0)
    wide, deep = np.sort(np.argsort(size, kind="stable")[1:])  # not along the shortest side, which is up
    columns = int(np.ceil(np.sqrt(copies)))
    number = np.arange(copies)
    shift = np.zeros((copies, 1, 3))
    shift[:, 0, wide] = 1.05 * size[wide] * (number % columns)
    shift[:, 0, deep] = 1.05 * size[deep] * (number // columns)
    loops = (mesh.face_vertices + mesh.n_vertices * number[:, None]).reshape(-1)
    sides = np.tile(np.diff(mesh.face_start), copies)
    faces = (
        loops.reshape(-1, sides[0]) if (sides == sides[0]).all() else np.split(loops, np.cumsum(sides)[:-1])
    )
    return Mesh((mesh.vertices + shift).reshape(-1, 3), faces, two_sided=mesh.two_sided)


class _Line:
    """The middle of the road, a closed curve over the angle 0 to 2 pi, and the frame along it."""

    def __init__(self, rng: np.random.Generator) -> None:
        order = np.arange(2, 6)
        self.order, self.size = order, rng.uniform(0.4, 1.0, 4) * np.array([16.0, 14.0, 8.0, 4.0])
        self.phase = rng.uniform(0, 2 * np.pi, (2, 4))
        self.hill = rng.uniform(0.4, 1.0, 4) * np.array([3.0, 2.0, 1.2, 0.8])

    def at(self, angle: Array) -> tuple[Array, Array, Array]:
        """Places (n, 3), and unit vectors along the road and to its left."""
        angle = np.asarray(angle)[:, None]
        radius = 105.0 + (self.size * np.sin(self.order * angle + self.phase[0])).sum(axis=1)
        height = (self.hill * np.sin(self.order * angle + self.phase[1])).sum(axis=1)
        slope = (self.size * self.order * np.cos(self.order * angle + self.phase[0])).sum(axis=1)
        climb = (self.hill * self.order * np.cos(self.order * angle + self.phase[1])).sum(axis=1)
        out = np.stack([1.25 * np.cos(angle[:, 0]), 0.85 * np.sin(angle[:, 0]), 0 * angle[:, 0]], axis=1)
        turn = np.stack([-1.25 * np.sin(angle[:, 0]), 0.85 * np.cos(angle[:, 0]), 0 * angle[:, 0]], axis=1)
        place = radius[:, None] * out + height[:, None] * _UP
        along = slope[:, None] * out + radius[:, None] * turn + climb[:, None] * _UP
        left = np.cross(_UP, along)
        return place, _unit(along), _unit(left)

    def length(self) -> float:
        place = self.at(np.linspace(0, 2 * np.pi, 2001))[0]
        return np.linalg.norm(np.diff(place, axis=0), axis=1).sum()


def _track(line: _Line, stations: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Vertices and triangles: strips of quads along cross sections, closed to a ring."""
    place, _, left = line.at(2 * np.pi * np.arange(stations) / stations)
    height, thick = _WALL
    across = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, 9)
    outer = [_HALF_WIDTH, _HALF_WIDTH + thick, _HALF_WIDTH + thick, _HALF_WIDTH + 3.0]
    profile = np.concatenate([-np.array(outer[::-1]), across, outer])
    lift = np.concatenate([[-1.5, -0.5, height, height], np.zeros(9), [height, height, -0.5, -1.5]])
    vertices = place[:, None] + profile[:, None] * left[:, None] + lift[:, None] * _UP
    vertices[:, 4:13, 2] += rng.normal(0, 0.02, (stations, 9))  # the road is not even
    rows = profile.size
    i, j = np.meshgrid(np.arange(stations), np.arange(rows - 1), indexing="ij")
    a, b = i * rows + j, (i + 1) % stations * rows + j
    quads = np.stack([a, b, b + 1, a + 1], axis=-1).reshape(-1, 4)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return vertices.reshape(-1, 3), faces.astype(np.int32)


def _drive(line: _Line, time: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Places (t, 3) and matrices (t, 4, 4) of the car."""
    speed = line.length() / 32.0 * (1 + 0.15 * np.sin(0.7 * time + rng.uniform(0, 6)))
    gone = np.concatenate([[0.0], np.cumsum(speed[1:] * np.diff(time))])
    around = np.linspace(0, 2 * np.pi, 4001)
    mile = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line.at(around)[0], axis=0), axis=1))])
    jump = time > 0.55 * time[-1]
    gone = gone - 60.0 * jump  # put back onto the road, 60 m behind
    angle = np.interp(gone % mile[-1], mile, around)
    place, along, left = line.at(angle)
    phase = rng.uniform(0, 6, 2)
    side = 3.6 * np.sin(0.8 * time + phase[0]) + 2.2 * np.sin(0.33 * time + phase[1])
    drift = np.gradient(side, time) / speed
    hop = 0.63 + 0.12 * np.abs(np.sin(2.3 * time)) + rng.normal(0, 0.012, len(time))
    position = place + side[:, None] * left + hop[:, None] * _UP
    ahead = _unit(along + drift[:, None] * left)
    up = _unit(np.cross(ahead, left))
    lean = 0.04 * np.sin(1.1 * time)[:, None]
    up = _unit(up + lean * left)
    matrix = np.zeros((len(time), 4, 4))
    matrix[:, :3, 1] = _unit(np.cross(up, ahead))
    matrix[:, :3, 0], matrix[:, :3, 2] = np.cross(matrix[:, :3, 1], up), up
    matrix[:, :3, 3], matrix[:, 3, 3] = position, 1.0
    return position, matrix


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)
