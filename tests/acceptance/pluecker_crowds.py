"""Crowds of points and tips that go straight at the corners and edges that polygons share, at them and beside
them by ulps: none may slip through. `python -m tests.acceptance.pluecker_crowds --movers 1000000`.

The targets are convex hills whose corners are whole multiples of 2^-10, so a point's height over the hill is
known in closed form: the largest of its heights over the planes, in extended precision.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from tests.oracle.passages import tip
from tests.oracle.scenes_base import turn_quat
from tests.oracle.solid import RawMesh, apply, rotation_matrix
from tests.support.seeds import generator

SEED = 20261123


def hill(sides=7, seed=3):
    """A hill of `sides` triangles about one corner, over a block; rounded to multiples of 2^-10."""
    rng = generator(seed, sides)
    angle = 2 * np.pi * (np.arange(sides) + rng.uniform(-0.2, 0.2, sides)) / sides
    rim = np.round(np.column_stack((np.cos(angle), np.sin(angle))) * 1024) / 1024
    v = [[*a, 0] for a in rim] + [[*a, -1] for a in rim] + [[0, 0, 0.25]]
    n = sides
    faces = [(i, (i + 1) % n, 2 * n) for i in range(n)]
    faces += [(n + i, n + (i + 1) % n, (i + 1) % n, i) for i in range(n)]
    return RawMesh(v, [*faces, tuple(range(2 * n - 1, n - 1, -1))])


def heights(mesh, x):
    """The largest height of places (m, 3) over the planes of the hill's triangles, in long double."""
    n = (len(mesh.vertices) - 1) // 2
    top = mesh.vertices[2 * n].astype(np.longdouble)
    best = np.full(len(x), -np.inf, np.longdouble)
    for i in range(n):
        a, b = mesh.vertices[i].astype(np.longdouble), mesh.vertices[(i + 1) % n].astype(np.longdouble)
        normal = np.cross(a - top, b - top)
        best = np.maximum(best, (x.astype(np.longdouble) - top) @ (normal / np.sqrt(normal @ normal)))
    return best


@dataclass
class Tally:
    movers: int = 0
    slipped: int = 0  # through, or with a part of them below the surface
    deepest: float = np.inf  # the lowest place of a stopped mover over the hill, in zones
    highest: float = 0.0
    early: float = 0.0  # how far carried points would still have gone along the normal, in zones


def aims(rng, mesh, n):
    """Places on shared edges and corners of the hill, and beside them by ulps."""
    count = (len(mesh.vertices) - 1) // 2
    top, rim = mesh.vertices[2 * count], mesh.vertices[rng.integers(0, count, n)]
    share = rng.choice([0, 0, 0.5, 0.25, 0.75], n) + rng.choice([0, 1], n) * rng.uniform(0, 0.24, n)
    x = top + share[:, None] * (rim - top)
    ulps = rng.integers(-3, 4, (n, 3))
    for _ in range(3):
        x = np.where(ulps > 0, np.nextafter(x, 9), np.where(ulps < 0, np.nextafter(x, -9), x))
        ulps = ulps - np.sign(ulps)
    return x


def crowd(n, seed=SEED, turn=False, tips=False, sides=7, **options):
    """Tally of n movers at one hill. They go down to 0.3 below their aim."""
    import gpu_collide as gc
    from tests.acceptance.pluecker_runs import library_bodies, library_mesh

    rng = generator(seed, turn, tips, sides)
    mesh = hill(sides)
    aim = aims(rng, mesh, n)
    way = rng.normal(size=(n, 3)) * 0.3
    way[:, 2] = -1
    way[rng.uniform(size=n) < 0.5] = [0, 0, -1]
    quat = np.tile([1.0, 0, 0, 0], (n, 1))
    meshes = [library_mesh(mesh), library_mesh(tip(0.05, 0.2))]
    world = library_bodies(meshes, (np.zeros(1, int), np.zeros((1, 3)), quat[:1]))
    if turn:
        axis = np.cross(way, rng.normal(size=(n, 3)))
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        arm = np.cross(way, axis)
        origin = aim + arm * (rng.uniform(0.5, 2, n) / np.linalg.norm(arm, axis=1))[:, None]
        back = turn_quat(axis, np.full(n, -0.4) * np.sign(((np.cross(axis, aim - origin)) * way).sum(1)))
        start = origin + apply(rotation_matrix(back), aim - origin)
        angle = 0.5 * np.sign(((np.cross(axis, aim - origin)) * way).sum(1))
        motion = angle, axis, origin
    else:
        start, motion = aim - way, (way * 1.3,)
    if tips:
        movers = library_bodies(meshes, (np.ones(n, int), start, quat))
    else:
        movers = start
    ask = gc.pluecker.rotate if turn else gc.pluecker.translate
    trace = ask(movers, world, *motion, **options)
    above = heights(mesh, trace.position)
    tally = Tally(n)
    clear = heights(mesh, start) > trace.expel  # starts that are not clear say nothing
    stopped = (trace.kind != 0) & clear
    tally.slipped = int((clear & ((trace.kind == 0) | (above <= 0))).sum())
    zones = (above / trace.expel)[stopped].astype(float)
    if len(zones):
        tally.deepest, tally.highest = zones.min(), zones.max()
    if not (turn or tips):
        speed = np.abs((trace.normal * motion[0]).sum(1))
        early = (1 / 1.3 - trace.fraction) * speed / trace.expel
        tally.early = early[stopped].max(initial=0.0)
    return tally


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_crowds", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--movers", type=int, default=1_000_000, help="of each of four kinds")
    parser.add_argument("--block", type=int, default=100_000)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--precision", choices=("mixed", "single", "double"), default="mixed")
    options = parser.parse_args(argv)
    bad, begin = 0, time.perf_counter()
    for turn in (False, True):
        for tips in (False, True):
            for k in range(0, options.movers, options.block):
                n = min(options.block, options.movers - k)
                how = {"backend": options.backend, "precision": options.precision}
                tally = crowd(n, [SEED, k], turn, tips, 3 + k // options.block % 9, **how)
                bad += tally.slipped
                name = ("turned " if turn else "carried ") + ("tips" if tips else "points")
                print(f"{name}: {tally} ({time.perf_counter() - begin:.0f} s)", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
