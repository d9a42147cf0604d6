"""Rays along the faces and through the edges of turned bodies: `python -m tests.acceptance.sweep_turned`.

Such a ray is within a face's plane as far as float64 can say, or off it by up to 1e-12 rad: when it is level
with the plane is rounding. Judged in extended precision by the bodies' corners alone, which are convex: a hit
is at a place on the face that it names, on the path, not from behind; and along the part of a path that an
answer leaves free no centre that starts outside gets into the body.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

from tests.support.seeds import generator

SEED = 20261124
FAMILIES = ("in_plane", "on_seams", "along_edges", "through_edges")
ANGLES = (0.0, 0.0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12)  # off the plane, or off the edge
RADII = (0.0, 0.0, 0.0, 1e-15, 1e-14)  # points, and spheres that are hardly more
BLOCK = 1000
LONG = np.longdouble
# Lengths, of coordinates up to 10: the worst that was seen are 2e-14 (double) and 9e-6 (single).
NOTHING = {"mixed": 1e-12, "double": 1e-12, "single": 1e-4}


@dataclass
class Tally:
    casts: int = 0
    hits: int = 0
    off: int = 0  # told of a face at a place off it, or off the path
    behind: int = 0  # told of a face that it leaves
    through: int = 0  # got into the body
    worst: float = 0.0  # length, of all three
    example: str = ""

    @property
    def wrong(self):
        return self.off + self.behind + self.through

    def merge(self, other):
        for name in ("casts", "hits", "off", "behind", "through"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.worst, self.example = max(self.worst, other.worst), self.example or other.example


def solids():
    """(corners, faces) of convex bodies about 0."""
    tetrahedron = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    cube = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    halves = [t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))]
    flat = cube * [3.0, 2.0, 0.05]
    return [
        (tetrahedron, [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]),
        (cube, squares), (cube, halves), (flat, halves),
    ]  # fmt: skip


def turn(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def matrix(q):
    """Of a quaternion, in extended precision."""
    w, x, y, z = np.asarray(q, LONG) / np.sqrt((np.asarray(q, LONG) ** 2).sum())
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def scene(rng):
    """A body's corners in its own frame, its faces, its pose, and its corners in the world: it is turned by
    its pose, or its mesh is."""
    corners, faces = solids()[rng.integers(4)]
    if rng.random() < 0.5:
        place, quat = rng.normal(size=3), turn(rng)
        return corners, faces, place, quat, corners.astype(LONG) @ matrix(quat).T + place
    corners = (corners.astype(LONG) @ matrix(turn(rng)).T).astype(float)
    return corners, faces, np.zeros(3), np.array([1.0, 0, 0, 0]), corners.astype(LONG)


def ways(family, rng, n, world, faces):
    """Starts and paths of n rays."""
    f = rng.integers(len(faces), size=n)
    three = np.array([[world[k] for k in face[:3]] for face in faces])[f]
    x, u, v = three[:, 0], three[:, 1] - three[:, 0], three[:, 2] - three[:, 0]
    normal = np.cross(u, v)
    normal /= np.linalg.norm(normal.astype(float), axis=1)[:, None]
    if family == "through_edges":  # at a place of an edge, from any side
        target = x + rng.choice([0.0, 1.0, 0.25, 0.5, rng.random()], n)[:, None] * u
        way = rng.normal(size=(n, 3)).astype(LONG)
    else:
        a, b = rng.uniform(-1.5, 2.5, (2, n, 1)).astype(LONG)
        target = x + a * u + b * v
        c, d = rng.uniform(-2, 3, (2, n, 1)).astype(LONG)
        way = target - (x + c * u + d * v)
        if family == "on_seams":
            target = x + rng.choice([0.0, 0.5, 1.0, 0.3], n)[:, None] * u
        elif family == "along_edges":
            target, way = x + a * u, u * rng.choice([-1, 1, 3], n)[:, None]
    length = np.sqrt((way * way).sum(1))[:, None]
    off = rng.choice(ANGLES, n) * rng.choice([-1, 1], n)
    way = way / length * rng.uniform(1, 4, n)[:, None]
    way = way + off[:, None] * normal * np.sqrt((way * way).sum(1))[:, None]
    start = (target - way * rng.uniform(0.2, 1.2, n)[:, None]).astype(float)
    return start, way.astype(float) * rng.choice([1.0, 2.0], n)[:, None]


def off_face(corners, p):
    """How far places (n, 3) are from a convex polygon (k, 3), in extended precision."""
    n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    n = n / np.sqrt((n * n).sum())
    away, inside = np.full(len(p), np.inf, LONG), np.ones(len(p), bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        e = b - a
        share = np.clip((p - a) @ e / (e @ e), 0, 1)[:, None]
        gap = p - a - share * e
        away = np.minimum(away, np.sqrt((gap * gap).sum(1)))
        inside &= (p - a) @ np.cross(n, e) >= 0
    return np.where(inside, np.abs((p - corners[0]) @ n), away)


def deepest(world, faces, start, path, free):
    """How deep centres get into the body while their paths are free; 0 of those that start in it."""
    n, out = [], []
    for face in faces:
        a, b, c = (world[k] for k in face[:3])
        normal = np.cross(b - a, c - a)
        n.append(normal / np.sqrt((normal * normal).sum()))
        out.append(n[-1] @ a)
    n = np.array(n)
    ahead, rate = start.astype(LONG) @ n.T - np.array(out), path.astype(LONG) @ n.T
    # when behind each plane by a rounding; a row is looked at more closely if that is so of all at once
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (-1e-15 - ahead) / rate
    low = np.where(rate < 0, at, np.where((rate == 0) & (ahead >= -1e-15), np.inf, 0)).max(1)
    high = np.minimum(np.where(rate > 0, at, 1).min(1), free)
    rows = np.flatnonzero((np.maximum(low, 0) < high) & (ahead.max(1) > 1e-9))
    ahead, rate, low, high = ahead[rows], rate[rows], np.maximum(low[rows], 0), high[rows]
    deep, least = np.zeros(len(start)), np.zeros(len(rows), LONG)
    for i in range(
        len(n)
    ):  # the largest of the distances is least where two of them are the same, or at an end
        for j in range(i + 1):
            with np.errstate(divide="ignore", invalid="ignore"):
                t = (ahead[:, j] - ahead[:, i]) / (rate[:, i] - rate[:, j]) if j < i else high
            t = np.clip(np.where(np.isfinite(t), t, low), low, high)[:, None]
            least = np.minimum(least, (ahead + t * rate).max(1))
    deep[rows] = -least
    return deep


def judge(family, rng, n, precision="mixed", two_sided=False, **options):
    """`Tally` of n rays against one body."""
    import gpu_collide as gc

    corners, faces, place, quat, world = scene(rng)
    start, path = ways(family, rng, n, world, faces)
    radius = rng.choice(RADII, n)
    poses = gc.Poses.from_quat_wxyz([place], [quat])
    mesh = gc.Mesh(corners, faces, merge_coplanar=False)
    found = gc.sweep.spheres(
        start, path, radius, gc.Bodies(mesh, None, poses, poses), two_sided=two_sided, precision=precision,
        **options,
    )  # fmt: skip
    nothing, tally = NOTHING[precision], Tally(n, int(found.hit.sum()))
    where = start.astype(LONG) + found.time[:, None] * path.astype(LONG)
    aside = np.sqrt(((found.point - where) ** 2).sum(1)).astype(float) - radius
    leaves = np.zeros(n)
    for k, face in enumerate(faces):
        rows = np.flatnonzero(found.hit & (found.feature == int(gc.sweep.Feature.FACE)) & (found.face == k))
        flat = np.array([world[i] for i in face])
        aside[rows] = np.maximum(aside[rows], off_face(flat, found.point[rows].astype(LONG)).astype(float))
        normal = np.cross(flat[1] - flat[0], flat[2] - flat[0])
        leaves[rows] = (path[rows] @ (normal / np.sqrt((normal * normal).sum()))).astype(float)
    deep = deepest(world, faces, start, path, np.where(found.hit, found.time, 1.0))
    aside, leaves = np.where(found.hit, aside, 0.0), np.where(found.hit & ~np.bool_(two_sided), leaves, 0.0)
    tally.off, tally.behind, tally.through = (int((x > nothing).sum()) for x in (aside, leaves, deep))
    tally.worst = float(np.max([aside, leaves, deep], initial=0.0))
    bad = np.flatnonzero(np.max([aside, leaves, deep], axis=0) > nothing)
    if len(bad):
        i = bad[0]
        what = (
            start[i].tolist(),
            path[i].tolist(),
            float(radius[i]),
            corners.tolist(),
            place.tolist(),
            quat.tolist(),
        )
        tally.example = f"{what}: off {aside[i]:.3g}, leaves {leaves[i]:.3g}, deep {deep[i]:.3g}"
    return tally


def run_family(family, casts, seed=SEED, **options):
    """`Tally` of a family, one body a block; two-sided every third."""
    tally, k = Tally(), 0
    while tally.casts < casts:
        rng = generator(seed, FAMILIES.index(family), k)
        tally.merge(judge(family, rng, min(BLOCK, casts - tally.casts), two_sided=k % 3 == 2, **options))
        k += 1
    return tally


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_turned", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--casts", type=int, default=100_000, help="of each family")
    add("--family", action="append", choices=FAMILIES)
    add("--backend", action="append", help="default: cpu, opencl and reference")
    add("--precision", action="append", choices=tuple(NOTHING), help="default: mixed, single")
    add("--seed", type=int, default=SEED)
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    wrong, begin = 0, time.perf_counter()
    print("| family | backend | precision | casts | hits | off | behind | through | worst |\n|" + "---|" * 9)
    for family in options.family or FAMILIES:
        for backend in options.backend or ("cpu", "opencl", "reference"):
            for precision in options.precision or ("mixed", "single"):
                if backend == "reference" and precision != "mixed":
                    continue
                t = run_family(family, options.casts, options.seed, backend=backend, precision=precision)
                cells = (
                    family,
                    backend,
                    precision,
                    t.casts,
                    t.hits,
                    t.off,
                    t.behind,
                    t.through,
                    f"{t.worst:.2g}",
                )
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                if t.example:
                    print(t.example)
                wrong += t.wrong
    print(f"\n{wrong} wrong; {time.perf_counter() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
