"""A long walk of many movers through a closed cave, and an exact test whether any of them ever touches it:
`python -m tests.acceptance.pluecker_walk --movers 1000 --moves 10000`.

The cave is an L-shaped hall seen from inside; a wall of pillars side by side (seams), a sharp wedge, a hill,
a star and loose boxes stand in it. A mover keeps its way for some moves, so that it is pressed into walls,
edges and corners, slides and turns in contact. Every path is looked at, from where the mover stood to where
it is stopped: for nearly all there is an axis that parts it from each convex piece of the cave on all of the
way (`tests/oracle/parting.py`, float64 with a bound on its error); what is left goes to the exact judge.
Since a path begins where the one before it put the mover, this looks at all poses too. Each further look is
at a mover where it stands: its float64 pose, and its distance, exactly.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tests.acceptance.pluecker_runs import library_bodies, library_mesh
from tests.oracle import passages as p
from tests.oracle.exact import Placed, Topology
from tests.oracle.exact_motion import Rotation, Translation, first
from tests.oracle.exact_pose import Couple, distance2, penetrating, touching
from tests.oracle.parting import Paths, Pieces, box_piece, convex_pieces, joined, unsure
from tests.oracle.scenes_base import random_axis, random_quat
from tests.oracle.shapes import prism
from tests.oracle.solid import apply, rotation_matrix

HALL = np.array([[0, 0], [8, 0], [8, 4], [4, 4], [4, 8], [0, 8.0]])
HEIGHT = 3.0
WIDEST = 32.0  # no coordinate of a path is larger
TOGETHER = 20  # steps whose paths are judged at once


def cave():
    """Meshes, and the still bodies (shape, position, quaternion) that stand in the cave."""
    rng = np.random.default_rng(11)
    hall = p.reversed_winding(prism(HALL, [(0, 1, 2, 3), (0, 3, 4, 5)], HEIGHT))
    meshes = [
        hall,
        p.box((0.5, 0.5, HEIGHT)),
        p.wedge(8),
        p.star(rng),
        p.box((0.8, 0.6, 0.4)),
        p.fan(7, 0.4, rng=rng),
    ]
    low = -HEIGHT / 2
    bodies = [
        (0, (0, 0, 0), None),
        *((1, (2.5 + 0.5 * k, 2.5, 0), None) for k in range(3)),  # a wall of pillars without a gap
        (2, (6, 2, low + 1.2), None),
        (3, (2, 6, 0), random_quat(rng, 1)[0]),
        (4, (6, 1, low + 0.2), None),
        (4, (6.3, 1.1, low + 0.6), (np.cos(0.2), 0, 0, np.sin(0.2))),  # stands on the one before
        (5, (1.2, 1.2, low), None),
    ]  # fmt: skip
    shape, position, quat = zip(*bodies, strict=True)
    quat = np.array([(1.0, 0, 0, 0) if q is None else q for q in quat])
    return meshes, (np.array(shape), np.array(position, float), quat)


def walkers(rng):
    return [
        p.box((0.3, 0.2, 0.15)),
        p.tip(0.2, 0.3),
        p.scaled(p.l_block(), 0.15),
        p.wedge(10, 0.3, 0.2),
        p.scaled(p.hull(rng, 7), 0.2),
    ]


def in_hall(x):
    """Whether places are within the hall."""
    out = (x[:, 0] > 0) & (x[:, 1] > 0) & (np.abs(x[:, 2]) < HEIGHT / 2)
    return out & (x[:, 0] < 8) & (x[:, 1] < 8) & ((x[:, 0] < 4) | (x[:, 1] < 4))


@dataclass
class Tally:
    moves: int = 0
    stops: int = 0
    looks: int = 0
    touching: int = 0  # what may not be
    paths: int = 0  # parted from everything on all of the way
    unsure: int = 0  # of them: not by an axis; given to the exact judge
    crossed: int = 0  # what may not be: a path that touches before its end
    outside: int = 0
    lost: int = 0  # no finite pose
    frozen: int = 0  # movers that have not moved by a thousandth of a unit in the last fifty moves
    nearest: float = np.inf
    notes: list = field(default_factory=list)

    @property
    def bad(self):
        return self.touching + self.crossed + self.outside + self.lost

    def __str__(self):
        parts = (f"{k} {v}" for k, v in vars(self).items() if k not in ("notes", "nearest"))
        return ", ".join(parts) + f", nearest {self.nearest:.3g}"


class Walk:
    """The state of a walk: poses of all movers, which begin clear of the cave."""

    def __init__(self, movers, seed=1, **options):
        import gpu_collide as gc

        self.gc, self.options = gc, options
        self.rng = np.random.default_rng(seed)
        self.meshes, self.still = cave()
        first_walker = len(self.meshes)
        own = walkers(np.random.default_rng(3))
        self.meshes = [*self.meshes, *own]
        self.topology = [Topology(m) for m in self.meshes]
        self.radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in self.meshes])
        self.corner = np.array([m.vertices[0] for m in self.meshes])
        self.placed = [Placed.at(self.topology[k], x, q) for k, x, q in zip(*self.still, strict=True)]
        self.library = [library_mesh(m) for m in self.meshes]
        self.world = library_bodies(self.library, self.still)
        self.shape = first_walker + np.arange(movers) % len(own)
        self.position, self.quat = np.empty((movers, 3)), random_quat(self.rng, movers)
        for i in range(movers):
            self.position[i] = self._free(i)
        self.way = random_axis(self.rng, movers)
        self._pieces()
        self.tally, self.waiting = Tally(), ([], [])  # ways, turns
        self.then = self.position.copy()

    def _free(self, i):
        while True:
            x = self.rng.uniform([0, 0, -HEIGHT / 2], [8, 8, HEIGHT / 2])
            mover = Placed.at(self.topology[self.shape[i]], x, self.quat[i])
            if not in_hall(x[None])[0]:
                continue
            near = self._near(x, self.radius[self.shape[i]])
            if not any(touching(mover, self.placed[k]) or penetrating(mover, self.placed[k]) for k in near):
                return x

    def _pieces(self):
        """Convex pieces of the movers and of the cave; of the hall, of what is around it."""
        wide, up = 20.0, HEIGHT / 2
        walls = [
            ((-wide, -wide, -wide), (0, wide, wide)), ((8, -wide, -wide), (wide, wide, wide)),
            ((-wide, -wide, -wide), (wide, 0, wide)), ((-wide, 8, -wide), (wide, wide, wide)),
            ((-wide, -wide, -wide), (wide, wide, -up)), ((-wide, -wide, up), (wide, wide, wide)),
            ((4, 4, -wide), (wide, wide, wide)),
        ]  # fmt: skip
        shape, position, quat = self.still
        pieces = [(0, box_piece(*wall)) for wall in walls]
        pieces += [(k, x) for k in range(1, len(shape)) for x in convex_pieces(self.meshes[shape[k]])]
        owner, parts = zip(*pieces, strict=True)
        self.around = Pieces(parts, owner).placed(position, quat)
        kinds = {k: convex_pieces(self.meshes[k]) for k in np.unique(self.shape)}
        own = [(i, x) for i, k in enumerate(self.shape) for x in kinds[k]]
        owner, parts = zip(*own, strict=True)
        self.own = Pieces(parts, owner)

    def _stand(self):
        """Whether the movers are clear where they stand at last, as ways of no length; all poses before this
        were the beginnings of ways."""
        none = np.zeros((len(self.shape), 3))
        own = self.own.placed(self.position, self.quat)
        for i, k in unsure(own, self.around, Paths(none), WIDEST):
            mover = Placed.at(self.topology[self.shape[i]], self.position[i], self.quat[i])
            if touching(mover, self.placed[k]) or penetrating(mover, self.placed[k]):
                self.tally.touching += 1
                self._note("stands in", i, k)

    def _near(self, x, reach):
        """Bodies that a mover at x may touch; the hall is always one."""
        shape, position, _ = self.still
        gap = np.linalg.norm(position - x, axis=1) - self.radius[shape] - reach
        return [0, *(np.flatnonzero(gap[1:] <= 0.1) + 1)]

    def step(self, looks):
        """One translation and one turn of every mover, and `looks` exact looks."""
        gc, rng, n = self.gc, self.rng, len(self.shape)
        turned = rng.uniform(size=n) < 0.1
        self.way[turned] = random_axis(rng, int(turned.sum()))
        grid = rng.uniform(size=n) < 0.02
        self.way[grid] = np.round(self.way[grid])  # along the walls
        vector = self.way * rng.choice([1e-9, 1e-4, 0.02, 0.3, 2.0], (n, 1))
        begin = self.position, self.quat
        movers = library_bodies(self.library, (self.shape, *begin))
        trace = gc.pluecker.translate(movers, self.world, vector, **self.options)
        self._take(trace)
        done = trace.fraction[:, None] * vector
        share = trace.fraction

        def straight(i, a, b):
            return Translation(a, b, vector[i]), share[i]

        self._paths(begin, Paths(done), straight)
        begin = self.position, self.quat
        angle = np.clip(rng.normal(size=n) * rng.choice([1e-9, 1e-3, 0.1, 1.5], n), -3, 3)
        movers = library_bodies(self.library, (self.shape, *begin))
        about = self.position + rng.normal(size=(n, 3)) * rng.choice([0, 0.3], (n, 1))
        axis = random_axis(rng, n)
        trace = gc.pluecker.rotate(movers, self.world, angle, axis, about, **self.options)
        self._take(trace)
        done = Paths(axis=axis, origin=about, angle=trace.fraction * angle)
        part = trace.fraction

        def turned(i, a, b):
            return Rotation(a, b, angle[i], axis[i], about[i]), part[i]

        self._paths(begin, done, turned)
        self._look(rng.integers(0, n, looks))

    def _take(self, trace):
        position, quat = trace.poses.position, trace.poses.quat_wxyz
        lost = ~(np.isfinite(position).all(1) & np.isfinite(quat).all(1))
        self.tally.lost += int(lost.sum())
        corner = apply(rotation_matrix(quat), self.corner[self.shape]) + position
        self.tally.outside += int((~in_hall(corner[~lost])).sum())
        self.tally.moves += len(position)
        self.tally.stops += int((trace.kind != 0).sum())
        self.position, self.quat = np.array(position), np.array(quat)

    def _look(self, rows):
        for i in rows:
            mover = Placed.at(self.topology[self.shape[i]], self.position[i], self.quat[i])
            for k in self._near(self.position[i], self.radius[self.shape[i]]):
                couple = Couple(mover, self.placed[k])
                square = distance2(couple, None)
                self.tally.nearest = min(self.tally.nearest, float(square) ** 0.5)
                if square == 0 or penetrating(couple, None):
                    self.tally.touching += 1
                    self._note("touches", i, k)
            self.tally.looks += 1

    def _paths(self, begin, paths, exactly):
        """All movers on their ways from `begin`; exactly(i, mover, still): the way of one, and its share.
        They are judged with those of the steps after it, since arrays of few cost as much."""
        waiting = self.waiting[paths.vector is None]
        waiting.append((self.tally.moves, begin, paths, exactly))
        if len(waiting) >= TOGETHER:
            self._judge(waiting)

    def _judge(self, waiting):
        """Judge the paths that wait, of one kind."""
        if not waiting:
            return
        n, steps = len(self.shape), len(waiting)
        moves, begin, paths, exactly = zip(*waiting, strict=True)
        position, quat = (np.concatenate(x) for x in zip(*begin, strict=True))
        own = self.own.repeated(steps, n).placed(position, quat)
        self.tally.paths += n * steps
        left = unsure(own, self.around, joined(paths), WIDEST)
        self.tally.unsure += len(left)
        for row, k in left:
            step, i = divmod(int(row), n)
            mover = Placed.at(self.topology[self.shape[i]], position[row], quat[row])
            motion, share = exactly[step](i, mover, self.placed[k])
            event = first(motion)
            if event is not None and event.time <= motion.time(Fraction(float(share))):
                self.tally.crossed += 1
                self._note("crosses", i, k, moves[step], (position[row], quat[row]))
        waiting.clear()

    def _note(self, what, i, k, moves=None, pose=None):
        at = [x.tolist() for x in pose or (self.position[i], self.quat[i])]
        moves = self.tally.moves if moves is None else moves
        self.tally.notes.append(f"{what}: move {moves}, mover {i}, body {k}, pose {at}")

    def go(self, moves, looks, progress=None):
        for k in range(moves):
            self.step(looks)
            if (k + 1) % 50 == 0:
                self.tally.frozen = int((np.abs(self.position - self.then).max(1) < 1e-3).sum())
                self.then = self.position.copy()
                if progress is not None:
                    progress(f"{k + 1}: {self.tally}")
        for waiting in self.waiting:
            self._judge(waiting)
        self._stand()
        return self.tally


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.pluecker_walk", description=__doc__)
    add = parser.add_argument
    add("--movers", type=int, default=1000)
    add(
        "--moves",
        type=int,
        default=10_000,
        help="of each mover: half of them ways, each with a turn after it",
    )
    add("--looks", type=int, default=2, help="movers that are looked at after each move")
    add("--backend", default="cpu")
    add("--precision", choices=("mixed", "single", "double"), default="mixed")
    add("--expel", type=float, default=None)
    add("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    begin = time.perf_counter()
    walk = Walk(
        options.movers,
        options.seed,
        backend=options.backend,
        precision=options.precision,
        expel=options.expel,
    )
    tally = walk.go(options.moves // 2, options.looks, lambda text: print(text, flush=True))
    print(f"{tally} ({time.perf_counter() - begin:.0f} s)", *tally.notes[:20], sep="\n")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
