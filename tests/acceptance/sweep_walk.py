"""Characters in a closed room that is not convex: `python -m tests.acceptance.sweep_walk`.

They walk at random, fall, climb stairs and slopes, and push into every corner. Each step is looked at: does
one leave the room, go into a wall, or become faster than it was; and at the end, when they stand still, does
one move? How near they are to the walls is decided by whole numbers for those that float64 has nearest.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from tests.oracle.sweep import Pass, Surface
from tests.oracle.sweep_casts import cube, inside_out, mesh_of, steps, triangulated, whole_l

SEED = 20261122
FALL = np.array([0, 0, -0.08])


def room():
    """Meshes and their places: an L-shaped room 6 x 6 x 4, stairs, a block and a ramp in it."""
    ramp = mesh_of(
        [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0], [2, 0, 0.8], [2, 1, 0.8]],
        [(0, 3, 2, 1), (0, 1, 4), (1, 2, 5, 4), (3, 5, 2), (0, 4, 5, 3)],
    )
    walls = inside_out(triangulated(whole_l()))
    places = np.array([[0.0, 0, 0], [2.3, 1.0, -2], [1.0, 4.0, -1.5], [0.1, 2.2, -2]])
    return [walls, steps(3, 0.2, 0.5, 1.2), cube(1), ramp], places


def library_world(meshes, places):
    import gpu_collide as gc
    from tests.acceptance.pluecker_runs import library_mesh

    poses = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (len(places), 1)))
    return gc.Bodies([library_mesh(m) for m in meshes], np.arange(len(meshes)), poses, poses)


class Walls:
    """The room's triangles, and how near ellipsoids are to them in units of their radii."""

    def __init__(self, meshes, places):
        self.parts = [(Surface(m), p) for m, p in zip(meshes, places, strict=True)]
        corners = []
        for surface, place in self.parts:
            v = np.array(surface.points, float) / 2.0**surface.shift + place
            corners.append(v[np.array(surface.triangles)])
        self.corners = np.concatenate(corners)

    def nearest(self, position, radii):
        """(n,) float64."""
        best = np.full(len(position), np.inf)
        for t in self.corners:
            best = np.minimum(best, to_triangle((t[None] - position[:, None]) / radii[:, None]))
        return best

    def exactly(self, position, radii):
        """Of one ellipsoid: how near, less 1."""
        gaps = []
        for surface, place in self.parts:
            p = Pass.of(surface, (place, (1.0, 0, 0, 0)), np.zeros(3), position, np.zeros(3), radii)
            gaps += [p.near(f, p.c, 1).away - 1 for f in p.faces_near(0.1)]
        return min(gaps, default=np.inf)


def to_triangle(t):
    """Distance of 0 to triangles (n, 3, 3)."""
    n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    plane = np.abs((n * t[:, 0]).sum(1))
    within, best = np.ones(len(t), bool), np.full(len(t), np.inf)
    for k in range(3):
        a, e = t[:, k], t[:, (k + 1) % 3] - t[:, k]
        within &= (np.cross(n, e) * a).sum(1) <= 0
        share = np.clip(-(a * e).sum(1) / (e * e).sum(1), 0, 1)
        best = np.minimum(best, np.linalg.norm(a + share[:, None] * e, axis=1))
    return np.where(within, plane, best)


@dataclass
class Tally:
    steps: int = 0  # of single characters
    out: int = 0  # centres that left the room
    deep: int = 0  # surfaces that went into a wall
    deepest: float = -np.inf  # in radii; below 0: none ever touched
    faster: int = 0
    unresolved: int = 0  # all slides used up
    caught: int = 0  # of these, and even if there were 64 of them
    grounded: int = 0
    moved: float = 0.0  # of those at rest, in the last steps
    bad: int = 0  # numbers that are not finite
    notes: list = field(default_factory=list)

    @property
    def wrong(self):
        return self.out + self.deep + self.faster + self.bad + self.caught + (self.moved > 0)


def outside(position):
    """Centres that are not in the room's L, by its own numbers."""
    x, y, z = position.T
    inside = (np.abs(z) < 2) & (x > 0) & (y > 0) & (((x < 6) & (y < 2)) | ((x < 2) & (y < 6)))
    block = (np.abs(x - 1) < 0.5) & (np.abs(y - 4) < 0.5) & (z < -1)
    return ~inside | block


def walk(characters, count, seed=SEED, looks=10, rest=60, **options):
    """`Tally` of so many characters over so many steps, then `rest` steps without any will."""
    import gpu_collide as gc

    rng = np.random.default_rng(seed)
    meshes, places = room()
    world, walls, tally = library_world(meshes, places), Walls(meshes, places), Tally()
    deep = 1e-4 if options.get("precision") == "single" else 1e-9
    n = characters
    radii = np.column_stack((*rng.uniform(0.1, 0.2, (2, n)), rng.uniform(0.15, 0.35, n)))
    position = np.column_stack((rng.uniform(0.4, 1.6, n), rng.uniform(0.4, 1.6, n), rng.uniform(0.0, 1.5, n)))
    angle, fall = rng.uniform(0, 2 * np.pi, n), np.zeros((n, 3))
    step_height = options.pop("step_height", 0.0)
    for k in range(count + rest):
        angle += rng.normal(size=n) * 0.3 * (rng.random(n) < 0.2)
        speed = rng.uniform(0, 0.3, n) * (k < count)
        if k % 17 == 5:
            speed *= 20  # much longer than the characters
        velocity = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)) * speed[:, None]
        fall = np.where(k < count, fall * 0.9, fall) + FALL
        found = gc.sweep.slide(
            world, position, radii, velocity, gravity=fall, up=[0, 0, 1], step_height=step_height, **options
        )
        before, fall_given, position, fall = position, fall, found.position, found.fall_velocity
        tally.steps += n
        tally.bad += int((~np.isfinite(position)).any(1).sum())
        tally.out += int(outside(position).sum())
        new, old = np.linalg.norm(found.velocity, axis=1), np.linalg.norm(velocity, axis=1)
        tally.faster += int((new > old * (1 + (1e-12 if deep < 1e-6 else 1e-5))).sum())
        short = np.flatnonzero(found.status == gc.Status.UNRESOLVED)
        tally.unresolved += len(short)
        if len(short):
            longer = gc.sweep.slide(
                world, before[short], radii[short], velocity[short], gravity=fall_given[short], up=[0, 0, 1],
                step_height=step_height, max_slides=64, **options,
            )  # fmt: skip
            tally.caught += int((longer.status == gc.Status.UNRESOLVED).sum())
        tally.grounded += int(found.grounded.sum())
        if k >= count + rest - 10:
            tally.moved = max(tally.moved, float(np.abs(position - before).max()))
        if k % looks == 0 or k == count + rest - 1:
            near = walls.nearest(position, radii)
            for i in np.argsort(near)[:3]:
                depth = -walls.exactly(position[i], radii[i])
                tally.deepest = max(tally.deepest, depth)
                tally.deep += depth > deep
                if depth > deep and len(tally.notes) < 5:
                    tally.notes.append(
                        (k, int(i), depth, before[i].tolist(), velocity[i].tolist(), radii[i].tolist())
                    )
    return tally


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_walk", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--characters", type=int, default=1000)
    add("--steps", type=int, default=500)
    add("--backend", default="cpu")
    add("--precision", choices=("mixed", "single", "double"), default="mixed")
    add("--step-height", type=float, default=0.0)
    add("--seed", type=int, default=SEED)
    o = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    begin = time.perf_counter()
    tally = walk(
        o.characters, o.steps, o.seed, backend=o.backend, precision=o.precision, step_height=o.step_height
    )
    for name, value in vars(tally).items():
        print(f"{name:12} {value}")
    print(f"{tally.wrong} wrong; {time.perf_counter() - begin:.0f} s")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
