"""Dense shapes at any number of faces, and steps in which two of them run into each other, touch, or miss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes.turns import axis_angle, multiply

__all__ = ["PAIRS", "STEPS", "pairs_of", "steps_of"]

#: How a step ends.
STEPS = ("impact", "touch", "near miss")
#: How far behind the first contact a step that only touches ends, and how far before it one that just misses,
#: in radii of the larger body.
_BEYOND = 0.01
_PITCH, _DEPTH, _TURNS = 0.25, 0.1, 4.0  # of the thread; its outer radius is 1
_CLEARANCE = 0.03


def ball(faces: int) -> gc.Mesh:
    """The icosphere of the nearest number of faces."""
    return gc.shapes.icosphere(int(np.clip(np.rint(np.log(faces / 20.0) / np.log(4.0)), 0, 8)))


def bumpy(faces: int) -> gc.Mesh:
    """A torus of triangles with smooth bumps: saddles, pits and reflex edges everywhere."""
    around = max(int(np.sqrt(faces / 4.0)), 3)
    ring = gc.shapes.torus(n_major=2 * around, n_minor=around)
    x = ring.vertices
    lift = 1.0 + 0.06 * np.sin(7 * x[:, :1]) * np.cos(5 * x[:, 1:2] + 3 * x[:, 2:])
    quads = ring.face_vertices.reshape(-1, 4)
    return gc.Mesh(x * lift, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def scan(faces: int, lobes: float) -> gc.Mesh:
    """A rock as a scanner sees it: lobes of several sizes, and each vertex off its place by a twentieth of an
    edge; the noise of the fine mesh and of the coarse one have the same slopes."""
    one = ball(faces)
    x, rng = one.vertices, np.random.default_rng([faces, int(10 * lobes)])
    height = np.zeros(len(x))
    for octave in (1.0, 2.3, 5.1):
        way = rng.normal(size=(3, 3))
        phase = (lobes * octave) * (x @ way.T / np.linalg.norm(way, axis=1)) + rng.uniform(0, 6, 3)
        height += np.sin(phase).prod(axis=1) / octave
    noise = rng.normal(size=x.shape) * (0.05 * np.median(one.edge_lengths))
    return gc.Mesh(x * (1.0 + 0.25 * height)[:, None] + noise, one.faces)


def _thread(n: int, angle: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Radii (n + 1, angles) and heights of a thread with smooth flanks that runs out at both ends."""
    z = np.linspace(-0.5, 0.5, n + 1) * _TURNS * _PITCH
    wave = np.cos(2 * np.pi * z[:, None] / _PITCH - angle)
    return radius - 0.5 * _DEPTH * (1.0 - wave), z


def _grid(rows: int, around: int, first: int = 0) -> np.ndarray:
    """Triangles of rows of rings, outwards if the rings run counter-clockwise and the rows upwards."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(rows), np.arange(around), indexing="ij"))
    k = (j + 1) % around
    a, b, c, d = i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j
    return first + np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def bolt_and_nut(faces: int) -> tuple[gc.Mesh, gc.Mesh]:
    """A threaded bar of about so many faces in a ring with the same thread, wider by a clearance; about z.

    With fewer than some 700 faces the chords of the thread reach through the clearance.
    """
    around = max(int(np.sqrt(faces / 2.0 / 1.5)), 6)
    n = max(int(1.5 * around), 6)
    angle = 2 * np.pi * np.arange(around) / around
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def rings(radius, z):
        flat = radius[..., None] * turn
        return np.concatenate([flat, np.broadcast_to(z[:, None, None], (*flat.shape[:2], 1))], axis=-1)

    radius, z = _thread(n, angle, 1.0)
    side = rings(radius, z).reshape(-1, 3)
    ends = [[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]]
    j = np.arange(around)
    k, top, middle = (j + 1) % around, n * around, len(side)
    caps = [np.stack([k, j, 0 * j + middle], 1), np.stack([top + j, top + k, 0 * j + middle + 1], 1)]
    bolt = gc.Mesh(np.concatenate([side, ends]), np.concatenate([_grid(n, around), *caps]))
    half = max(n // 2, 3)
    radius, z = _thread(n, angle, 1.0 + _CLEARANCE)
    inner = rings(radius, z)[(n - half) // 2 :][: half + 1]
    outer = rings(np.full((2, around), 1.5), inner[[0, -1], 0, 2])
    # once round: up the outside, in over the top, down the inside, out below
    loop = np.concatenate([outer, inner[::-1], outer[:1]])
    rows = _grid(len(loop) - 1, around)
    nut = gc.Mesh(loop.reshape(-1, 3), rows, merge_vertices=True)
    return bolt, nut


def _same(make: Callable[[int], gc.Mesh]) -> Callable[[int], tuple[gc.Mesh, gc.Mesh]]:
    def two(faces: int) -> tuple[gc.Mesh, gc.Mesh]:
        one = make(faces)
        return one, one

    return two


#: By name, two bodies of about so many faces each.
PAIRS: dict[str, Callable[[int], tuple[gc.Mesh, gc.Mesh]]] = {
    "icospheres": _same(ball),
    "bumpy tori": _same(bumpy),
    "bolt in nut": bolt_and_nut,
    "scans": lambda faces: (scan(faces, 1.7), scan(faces, 2.6)),
}


def steps_of(name: str, meshes: tuple[gc.Mesh, gc.Mesh], step: str, n: int, seed: int = 0) -> gc.Bodies:
    """A body at rest and `n` others, each during a step that ends as `step` says.

    They come from 1.2 sums of the radii away to 0.3, and turn by half a radian. A bolt turns by about one in
    its nut, along the thread; it runs into it because it goes forth by more than the thread does.
    """
    rng = np.random.default_rng([seed, 62])
    ones = np.ones((n, 1))
    if name == "bolt in nut":
        turn = rng.uniform(0.8, 1.0, n)
        first = gc.Poses.from_quat_wxyz(np.zeros((n, 3)), ones * [1.0, 0.0, 0.0, 0.0])
        more = 0.0 if step == "near miss" else 3.0 * _CLEARANCE
        forth = _PITCH / (2 * np.pi) * turn + more
        last = gc.Poses.from_quat_wxyz(
            forth[:, None] * [0.0, 0.0, 1.0], axis_angle(ones * [0.0, 0.0, 1.0], turn)
        )
        beyond = 0.1 * _CLEARANCE
    else:
        size = sum(m.radius for m in meshes)
        way, side, spin = (_unit(x) for x in rng.normal(size=(3, n, 3)))
        side -= (side * way).sum(axis=1, keepdims=True) * way
        quat = _unit(rng.normal(size=(n, 4)))
        first = gc.Poses.from_quat_wxyz(size * (1.2 * way + 0.1 * side), quat)
        turned = multiply(axis_angle(spin, np.full(n, 0.5)), quat)
        last = gc.Poses.from_quat_wxyz(size * (0.3 * way + 0.1 * side), turned)
        beyond = _BEYOND * max(m.radius for m in meshes)
    bodies = _bodies(meshes, first, last)
    if step == "impact" or (name == "bolt in nut" and step == "near miss"):
        return bodies
    touch = gc.collide(bodies, pairs_of(n), contacts="first", backend="cpu", check_start=False)
    way = np.linalg.norm(last.position - first.position, axis=1)
    share = touch.toi + np.where(step == "touch", 1.0, -1.0) * beyond / way
    return _bodies(meshes, first, first.toward(last, np.minimum(share, 1.0)))


def pairs_of(n: int) -> np.ndarray:
    """The body at rest with each of the `n` others."""
    return np.stack([np.zeros(n, np.int64), 1 + np.arange(n)], axis=1)


def _bodies(meshes, first, last):
    still = gc.Poses.identity(1)
    poses = (gc.Poses.concatenate([still, x]) for x in (first, last))
    return gc.Bodies(list(meshes), np.append(0, np.ones(len(first), np.int32)).astype(np.int32), *poses)


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)
