"""A kart's box on a recorded race track, by recorded and by random moves, looked at exactly:
`python -m tests.acceptance.pluecker_race race_snowmountain.npz --karts 100 --moves 300`.

The file holds `track_vertices`, `track_faces`, `car_vertices`, `position` and `quaternion_xyzw` of a race.
Karts begin above the track along the race; half of them go after its next recorded poses, the others at
random. The track is two-sided, so that no box may ever touch a triangle of it.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from tests.acceptance.pluecker_runs import library_mesh
from tests.oracle.exact import Placed, Topology
from tests.oracle.exact_motion import Translation, first
from tests.oracle.exact_pose import touching
from tests.oracle.passages import box
from tests.oracle.scenes_base import random_axis, turn_quat
from tests.oracle.solid import RawMesh, quat_mul


@dataclass
class Tally:
    moves: int = 0
    stops: int = 0
    looks: int = 0
    touching: int = 0  # what may not be
    paths: int = 0
    crossed: int = 0  # what may not be
    lost: int = 0
    driven: float = 0.0  # metres, of all karts

    @property
    def bad(self):
        return self.touching + self.crossed + self.lost


class Track:
    """The triangles of the track, and those of them that are near a place."""

    def __init__(self, vertices, faces):
        self.v, self.f = np.asarray(vertices, float), np.asarray(faces)
        corners = self.v[self.f]
        self.low, self.high = corners.min(1), corners.max(1)

    def near(self, low, high):
        """An exact body of the triangles whose boxes meet a box; None if there are none."""
        rows = np.flatnonzero((self.low <= high).all(1) & (self.high >= low).all(1))
        if len(rows) == 0:
            return None
        used, index = np.unique(self.f[rows], return_inverse=True)
        mesh = RawMesh(self.v[used], index.reshape(-1, 3), two_sided=True)
        return Placed.at(Topology(mesh), (0.0, 0, 0))


class Race:
    def __init__(self, path, karts, seed=1, **options):
        import gpu_collide as gc

        self.gc, self.options = gc, options
        self.rng = np.random.default_rng(seed)
        with np.load(path) as data:
            self.track = Track(data["track_vertices"], data["track_faces"])
            car, position, quat = data["car_vertices"], data["position"], data["quaternion_xyzw"]
        # rounded to 2^-10, so that the box is a box exactly
        size = np.ceil((car.max(0) - car.min(0)) * 1024) / 1024
        self.kart = box(size)
        self.topology = Topology(self.kart)
        self.lift = float(size[1])  # the recorded box is partly in the track
        self.pose = np.asarray(position, float) + [0, self.lift, 0], np.asarray(quat, float)[:, [3, 0, 1, 2]]
        self.pose[1][:] /= np.linalg.norm(self.pose[1], axis=1)[:, None]
        mesh = RawMesh(self.track.v, self.track.f, two_sided=True)
        self.world = gc.Scene(library_mesh(mesh), None, gc.Poses.identity(1), **options)
        self.mesh = [library_mesh(self.kart)]
        self.radius = float(np.linalg.norm(size)) / 2
        rows = np.linspace(0, len(position) - 2, 4 * karts).astype(int)
        clear = [r for r in rows if not self._touches(self.pose[0][r], self.pose[1][r])]
        self.at = np.array(clear)[np.linspace(0, len(clear) - 1, karts).astype(int)]
        self.now = self.pose[0][self.at].copy(), self.pose[1][self.at].copy()
        self.tally = Tally()

    def _touches(self, position, quat):
        near = self.track.near(position - self.radius, position + self.radius)
        return near is not None and touching(Placed.at(self.topology, position, quat), near)

    def _goals(self):
        rng, n = self.rng, len(self.at)
        self.at = (self.at + 1) % len(self.pose[0])
        place, quat = self.pose[0][self.at] - [0, self.lift * 1.2, 0], self.pose[1][self.at]
        wild = np.arange(n) % 2 == 1
        shift = random_axis(rng, n) * rng.choice([1e-6, 0.05, 1.0, 4.0], (n, 1)) - [0, 0.2, 0]
        spin = turn_quat(random_axis(rng, n), rng.normal(size=n) * rng.choice([1e-6, 0.05, 1.0], n))
        place = np.where(wild[:, None], self.now[0] + shift, place)
        return place, np.where(wild[:, None], quat_mul(spin, self.now[1]), quat)

    def step(self, looks):
        gc, n = self.gc, len(self.at)
        begin, goal = self.now, self._goals()
        poses = [gc.Poses.from_quat_wxyz(*x) for x in (begin, goal)]
        trace = gc.pluecker.move(gc.Bodies(self.mesh, np.zeros(n, np.int32), *poses), self.world)
        self.now = np.array(trace.position), np.array(trace.quat_wxyz)
        tally = self.tally
        tally.moves += n
        tally.stops += int((trace.kind != 0).sum())
        tally.lost += int((~np.isfinite(trace.position)).sum())
        tally.driven += float(np.linalg.norm(self.now[0] - begin[0], axis=1).sum())
        for i in self.rng.integers(0, n, looks):
            tally.looks += 1
            tally.touching += self._touches(self.now[0][i], self.now[1][i])
            self._path(begin, goal, trace, i)

    def _path(self, begin, goal, trace, i):
        """The translation, which comes first, is looked at as a whole."""
        way = goal[0][i] - begin[0][i]
        share = Fraction(float(trace.fraction[i])) if trace.part[i] == 0 else Fraction(1)
        ends = np.stack((begin[0][i], begin[0][i] + way))
        near = self.track.near(ends.min(0) - self.radius, ends.max(0) + self.radius)
        self.tally.paths += 1
        if near is not None:
            event = first(Translation(Placed.at(self.topology, begin[0][i], begin[1][i]), near, way))
            self.tally.crossed += event is not None and event.time < share


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_race", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("file", type=Path)
    add("--karts", type=int, default=100)
    add("--moves", type=int, default=300)
    add("--looks", type=int, default=5)
    add("--backend", default="cpu")
    add("--precision", choices=("mixed", "single", "double"), default="mixed")
    options = parser.parse_args(argv)
    if not options.file.is_file():
        parser.error(f"{options.file}: no such file; expected an .npz with a track, a kart and a race")
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    begin = time.perf_counter()
    race = Race(options.file, options.karts, backend=options.backend, precision=options.precision)
    for k in range(options.moves):
        race.step(options.looks)
        if (k + 1) % 50 == 0 or k + 1 == options.moves:
            print(f"{k + 1}: {race.tally} ({time.perf_counter() - begin:.0f} s)", flush=True)
    return 1 if race.tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
