"""Characters at random on a recorded race track, of which none may fall through:
`python -m tests.acceptance.sweep_race race_snowmountain.npz --characters 200 --steps 500`.

The file holds `track_vertices`, `track_faces` and `position` of a race. They begin above places of the race,
walk, fall, and now and then rush. The track is an open mesh, so that who walks off its border does fall, and
is put back. What decides is found by brute force over triangles in NumPy, which shares nothing with the
library:

- `through`: the straight line between two places of a centre goes through a triangle, with no border near
  that the character could have gone around;
- `lost`: it had a surface straight below, has none any more, and no border is near;
- `deep`: a triangle comes into the ellipsoid.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.acceptance.sweep_walk import to_triangle

SEED = 20261122
PAD = 1e-9
GRID = 512  # cells each way


@dataclass
class Tally:
    steps: int = 0  # of single characters
    through: int = 0  # what may not be
    lost: int = 0
    deep: int = 0
    bad: int = 0  # numbers that are not finite
    faster: int = 0
    around: int = 0  # lines through a triangle beside a border
    off: int = 0  # walked off the track, and put back
    unresolved: int = 0  # all slides used up
    caught: int = 0  # of these, and even if there were 64 of them
    grounded: int = 0
    walked: float = 0.0  # metres, of all
    deepest: float = -np.inf  # in radii; below 0: none ever touched

    @property
    def wrong(self):
        return self.through + self.lost + self.deep + self.bad + self.faster + self.caught


class Ground:
    """The triangles of a track, and the edges that only one of them has.

    Parameters
    ----------
    vertices, faces : (v, 3) and (t, 3) arrays
    up : int
        Axis.
    """

    def __init__(self, vertices, faces, up):
        vertices, faces = np.asarray(vertices, float), np.asarray(faces)
        places, which = np.unique(vertices, axis=0, return_inverse=True)
        faces = which.reshape(-1)[faces]
        t = places[faces]
        area = np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1)
        faces = faces[area > 0]  # the others are edges of their neighbours
        self.corners, self.up = places[faces], up
        self.low, self.high = self.corners.min(1), self.corners.max(1)
        sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        sides, times = np.unique(sides, axis=0, return_counts=True)
        ends = places[sides[times == 1]]
        self.border_low, self.border_high = ends.min(1), ends.max(1)
        # a grid seen from above: of each cell the triangles whose boxes reach into it
        self.level = [k for k in range(3) if k != up]
        self.least, most = self.low[:, self.level].min(0), self.high[:, self.level].max(0)
        self.cell = max((most - self.least).max() / GRID, 1e-300)
        rows, cells = self._cells(self.low, self.high)
        order = np.argsort(cells, kind="stable")
        self.listed = rows[order]
        self.begin = np.searchsorted(cells[order], np.arange((GRID + 1) ** 2 + 1))

    def _cells(self, low, high):
        """Rows of boxes and the cells that they reach into; what is beyond the border counts as at it."""
        first, last = (
            np.clip((x[:, self.level] - self.least) / self.cell, 0, GRID).astype(int) for x in (low, high)
        )
        wide = last - first + 1
        rows, k = _ranges(wide.prod(1))
        deep = wide[rows, 1]
        return rows, (first[rows, 0] + k // deep) * (GRID + 1) + first[rows, 1] + k % deep

    def _pairs(self, low, high):
        """Rows and triangles whose boxes meet, some of them more than once."""
        rows, cells = self._cells(low, high)
        some, k = _ranges(self.begin[cells + 1] - self.begin[cells])
        faces, rows = self.listed[self.begin[cells[some]] + k], rows[some]
        for axis in range(3):
            meet = (self.low[faces, axis] <= high[rows, axis]) & (self.high[faces, axis] >= low[rows, axis])
            rows, faces = rows[meet], faces[meet]
        return rows, faces

    def nearest(self, place, radii, most=2.0):
        """How near each ellipsoid is to a triangle, in its radii; (n,), no more than `most`."""
        rows, faces = self._pairs(place - most * radii, place + most * radii)
        best = np.full(len(place), most)
        t = (self.corners[faces] - place[rows, None]) / radii[rows, None]
        np.minimum.at(best, rows, to_triangle(t))
        return best

    def crossed(self, a, b):
        """Which lines from a to b go through a triangle, (n,) bool."""
        rows, faces = self._pairs(np.minimum(a, b), np.maximum(a, b))
        t, a, way = self.corners[faces], a[rows], (b - a)[rows]
        n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
        away, along = ((t[:, 0] - a) * n).sum(1), (way * n).sum(1)
        sides = np.stack(
            [(np.cross(t[:, k] - a, t[:, (k + 1) % 3] - a) * way).sum(1) for k in range(3)], axis=1
        )
        size = PAD * np.abs(sides).sum(1, keepdims=True)  # shared edges belong to both
        inside = (sides >= -size).all(1) | (sides <= size).all(1)
        hit = inside & (along != 0) & (away * along >= 0) & (np.abs(away) <= np.abs(along))
        found = np.zeros(int(rows.max(initial=-1)) + 1, bool)
        np.logical_or.at(found, rows, hit)
        return found

    def below(self, place):
        """Height of the highest triangle straight below each, (n,); -inf: there is none."""
        level = [k for k in range(3) if k != self.up]
        low, high = place.copy(), place.copy()
        low[:, self.up] = -np.inf
        rows, faces = self._pairs(low, high)
        t, at = self.corners[faces], place[rows]
        p = t[:, :, level] - at[:, None, level]
        w = np.stack([_turn(p[:, 1], p[:, 2]), _turn(p[:, 2], p[:, 0]), _turn(p[:, 0], p[:, 1])], axis=1)
        whole = w.sum(1)
        share = w / np.where(whole == 0, 1.0, whole)[:, None]
        height = (share * t[:, :, self.up]).sum(1)
        hit = (whole != 0) & (share >= -PAD).all(1) & (height <= at[:, self.up])
        best = np.full(len(place), -np.inf)
        np.maximum.at(best, rows[hit], height[hit])
        return best

    def beside_border(self, a, b, reach):
        """Which lines come so near to a border, by boxes, as long as what is below does not count."""
        low, high = np.minimum(a, b) - reach[:, None], np.maximum(a, b) + reach[:, None]
        return np.array([
            ((self.border_low <= h) & (self.border_high >= lo)).all(1).any()
            for lo, h in zip(low, high, strict=True)
        ], bool)  # fmt: skip


def _ranges(counts):
    """Rows that are there so many times, and which time each is."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]


def _turn(a, b):
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


class Race:
    """Characters on a track.

    Parameters
    ----------
    data : mapping
        ``track_vertices``, ``track_faces``, ``position``.
    up : int
        Axis.
    without : sequence of int
        Faces that the world lacks and the judge has.
    """

    def __init__(self, data, characters, up=1, seed=SEED, without=(), step_height=0.2, **options):
        import gpu_collide as gc

        self.gc, self.options, self.up = gc, options | {"step_height": step_height}, np.eye(3)[up]
        self.rng = rng = np.random.default_rng(seed)
        self.ground = Ground(data["track_vertices"], data["track_faces"], up)
        faces = np.delete(np.asarray(data["track_faces"]), list(without), axis=0)
        mesh = gc.Mesh(data["track_vertices"], faces, two_sided=True, merge_vertices=True)
        self.world = gc.Scene(
            mesh, None, gc.Poses.identity(1),
            **{name: self.options.pop(name) for name in ("backend", "precision") if name in options},
        )  # fmt: skip
        self.exact = 1e-4 if options.get("precision") == "single" else 1e-9
        radii = rng.uniform(0.2, 0.4, (4 * characters, 3))
        radii[:, up] = rng.uniform(0.4, 0.9, 4 * characters)
        rows = rng.integers(0, len(data["position"]), 4 * characters)
        place = np.asarray(data["position"], float)[rows] + rng.uniform(1.5, 3, (len(rows), 1)) * self.up
        free = np.flatnonzero(
            (self.ground.nearest(place, radii) > 1.01) & (self.ground.below(place) > -np.inf)
        )
        free = free[:characters]
        self.place, self.radii, self.begin = place[free], radii[free], place[free].copy()
        self.angle = rng.uniform(0, 2 * np.pi, len(free))
        self.fall = np.zeros((len(free), 3))
        self.under = self.ground.below(self.place)
        self.tally, self.steps = Tally(), 0

    def _will(self):
        """Where they want to go."""
        rng, n, level = self.rng, len(self.place), [k for k in range(3) if not self.up[k]]
        self.angle += rng.normal(size=n) * 0.4 * (rng.random(n) < 0.2)
        speed = rng.uniform(0, 0.3, n) * np.where(rng.random(n) < 0.02, 20, 1)
        way = np.zeros((n, 3))
        way[:, level[0]], way[:, level[1]] = np.cos(self.angle) * speed, np.sin(self.angle) * speed
        return way

    def step(self):
        way, before, gc, tally = self._will(), self.place, self.gc, self.tally
        self.fall = self.fall - 0.05 * self.up
        found = gc.sweep.slide(
            self.world, before, self.radii, way, gravity=self.fall, up=self.up, **self.options
        )
        after = np.array(found.position)
        tally.steps += len(after)
        tally.bad += int((~np.isfinite(after)).any(1).sum())
        short = np.flatnonzero(found.status == gc.Status.UNRESOLVED)
        tally.unresolved += len(short)
        if len(short):
            longer = gc.sweep.slide(
                self.world, before[short], self.radii[short], way[short], gravity=self.fall[short],
                up=self.up, max_slides=64, **self.options,
            )  # fmt: skip
            tally.caught += int((longer.status == gc.Status.UNRESOLVED).sum())
        tally.grounded += int(found.grounded.sum())
        tally.walked += float(np.linalg.norm(after - before, axis=1).sum())
        speed = [np.linalg.norm(x, axis=1) for x in (found.velocity, way)]
        tally.faster += int((speed[0] > speed[1] * (1 + (1e-12 if self.exact < 1e-6 else 1e-5))).sum())
        reach = sum(np.linalg.norm(x, axis=1) for x in (way, self.fall)) + self.options["step_height"]
        self._judge(before, after, reach + self.radii.max(1))
        self.fall = np.array(found.fall_velocity)
        self._put_back(after)

    def _judge(self, before, after, reach):
        tally, ground = self.tally, self.ground
        near = ground.nearest(after, self.radii, 1.05)
        tally.deepest = max(tally.deepest, float(1 - near.min()))
        tally.deep += int((near < 1 - self.exact).sum())
        through = np.zeros(len(after), bool)
        found = ground.crossed(before, after)
        through[: len(found)] = found
        under = ground.below(after)
        lost = np.isfinite(self.under) & ~np.isfinite(under)
        beside = np.zeros(len(after), bool)
        some = np.flatnonzero(through | lost)
        if some.size:
            beside[some] = ground.beside_border(before[some], after[some], reach[some])
            if lost[some].any():  # a border far below counts for what is straight below
                beside[some] |= self._leaves(before[some], after[some], reach[some]) & lost[some]
        tally.through += int((through & ~beside).sum())
        tally.around += int((through & beside).sum())
        tally.lost += int((lost & ~beside & ~through).sum())
        self.under = under

    def _leaves(self, before, after, reach):
        """Which come over a border, seen from above."""
        level = np.where(self.up > 0, np.inf, 0.0)
        low, high = (np.minimum(before, after) - reach[:, None], np.maximum(before, after) + reach[:, None])
        g = self.ground
        return np.array([
            ((g.border_low <= h + level) & (g.border_high >= lo - level)).all(1).any()
            for lo, h in zip(low, high, strict=True)
        ], bool)  # fmt: skip

    def _put_back(self, after):
        gone = ~np.isfinite(self.under) & ((self.begin - after) @ self.up > 5)
        self.tally.off += int(gone.sum())
        after[gone], self.fall[gone] = self.begin[gone], 0.0
        self.place = after
        if gone.any():
            self.under[gone] = self.ground.below(after[gone])


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_race", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("file", type=Path)
    add("--characters", type=int, default=200)
    add("--steps", type=int, default=500)
    add("--backend", default="cpu")
    add("--precision", choices=("mixed", "single", "double"), default="mixed")
    add("--seed", type=int, default=SEED)
    o = parser.parse_args(argv)
    if not o.file.is_file():
        parser.error(f"{o.file}: no such file; expected an .npz with a track and a race")
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    begin = time.perf_counter()
    with np.load(o.file) as data:
        race = Race(data, o.characters, seed=o.seed, backend=o.backend, precision=o.precision)
    for k in range(o.steps):
        race.step()
        if (k + 1) % 100 == 0 or k + 1 == o.steps:
            print(f"{k + 1}: {race.tally} ({time.perf_counter() - begin:.0f} s)", flush=True)
    print(f"{race.tally.wrong} wrong")
    return 1 if race.tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
