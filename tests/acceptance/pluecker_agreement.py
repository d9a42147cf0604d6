"""Two methods about the same motion: `gpu_collide.pluecker` and the first contact of `gpu_collide.collide`,
for pure translations and pure turns on all families of the matrix:
`python -m tests.acceptance.pluecker_agreement --pairs 100000`.

Of each pair of a family B moves and A stands still: by the translation that its relative motion has, or by
the turn. The two methods agree where the stop is before the first contact, by at most some zones along the
normal, or both see nothing. Pairs that they do not agree on go to the exact judge, which says whether the
stop holds.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, field, fields

import numpy as np

from tests.acceptance.pluecker import judge
from tests.acceptance.pluecker_runs import run
from tests.oracle import scenes
from tests.oracle.passages import Passages
from tests.oracle.solid import apply, quat_conj, quat_mul, rotation_matrix

SEED = 20261120
NEAR = 1e-9  # of the size of the motion: contacts that differ by less agree


@dataclass
class Tally:
    pairs: int = 0
    overlap: int = 0  # at the start, as `collide` sees it: not compared
    both: int = 0
    neither: int = 0
    apart: int = 0  # the methods do not agree: given to the judge
    wrong: int = 0  # where the judge holds with `collide`
    worst: float = 0.0  # how late or early, of the size, where they agree
    notes: list = field(default_factory=list)

    def add(self, other):
        for f in fields(self):
            if f.name != "worst":
                setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))
        self.worst = max(self.worst, other.worst)

    def __str__(self):
        counts = ", ".join(f"{f.name} {getattr(self, f.name)}" for f in fields(self)[:6])
        return f"{counts}, worst {self.worst:.1e}"


def passages_of(scene, turn):
    """The pairs of a scene as moves of B past a still A; None where there is no such motion in the family."""
    i, j = np.asarray(scene.pairs).T
    (p0, q0), (p1, q1) = scene.start, scene.end
    matrix = rotation_matrix(q0[i])
    shape = np.asarray(scene.shape)
    mover, still = (shape[j], p0[j], q0[j]), (shape[i], p0[i], q0[i])
    place0 = apply(np.swapaxes(matrix, 1, 2), p0[j] - p0[i])
    place1 = apply(np.swapaxes(rotation_matrix(q1[i]), 1, 2), p1[j] - p1[i])
    if not turn:
        vector = apply(matrix, place1 - place0)
        return Passages(scene.name, scene.meshes, mover, still, vector=vector, start="any")
    change = quat_mul(quat_mul(quat_conj(q1[i]), q1[j]), quat_conj(quat_mul(quat_conj(q0[i]), q0[j])))
    change = np.where(change[:, :1] < 0, -change, change)
    sine = np.linalg.norm(change[:, 1:], axis=1)
    axis = np.where((sine > 1e-12)[:, None], change[:, 1:], [0.0, 0, 1])
    angle = 2 * np.arctan2(sine, change[:, 0])
    # the axis stands off by what the translation would have been: the turn carries B about as far
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    side = np.cross(axis, place1 - place0)
    origin = p0[j] + apply(matrix, side / np.maximum(angle, 0.2)[:, None])
    turn = {"angle": angle, "axis": apply(matrix, axis), "origin": origin}
    return Passages(scene.name, scene.meshes, mover, still, **turn, start="any")


def collided(passages, **options):
    """First contacts of the same motions by `gpu_collide.collide`."""
    import gpu_collide as gc
    from tests.acceptance.pluecker_runs import library_mesh, reached

    n = len(passages)
    end = reached(passages, np.ones(n))

    def both(one, two):
        return gc.Poses.from_quat_wxyz(*(np.concatenate(x) for x in zip(one, two, strict=True)))

    still = passages.still[1:]
    shape = np.concatenate((passages.still[0], passages.mover[0]))
    meshes = [library_mesh(m) for m in passages.meshes]
    bodies = gc.Bodies(meshes, shape, both(still, passages.mover[1:]), both(still, end))
    pairs = np.column_stack((np.arange(n), n + np.arange(n)))
    return gc.collide(bodies, pairs, **options)


def compare(family, n, turn, seed=SEED, judge_at_most=200, **options):
    """`Tally` of n pairs of a family."""
    import gpu_collide as gc

    passages = passages_of(scenes.FAMILIES[family](seed, n), turn)
    answer, trace = run(passages, **options)
    found = collided(passages, contacts="first", **options)
    tally = Tally(n)
    overlap = found.status == gc.Status.INITIAL_OVERLAP
    bad = (found.status == gc.Status.INVALID_INPUT) | (trace.status == gc.Status.INVALID_INPUT)
    tally.overlap = int((overlap | bad).sum())
    use = ~(overlap | bad)
    hit = np.isfinite(found.toi)
    tally.both, tally.neither = int((use & hit & answer.hit).sum()), int((use & ~hit & ~answer.hit).sum())
    size = np.array([np.abs(m.vertices).max() for m in passages.meshes])
    size = size[passages.mover[0]] + size[passages.still[0]]
    # along the normal of the stop: how far the mover would have gone on until the other method's contact
    with np.errstate(invalid="ignore"):
        left = (found.toi - trace.fraction) * _speed(passages, trace)
        allowed = np.maximum(NEAR * size, 3 * trace.expel)
        agree = np.where(hit & answer.hit, (left > -NEAR * size) & (left < allowed), hit == answer.hit)
    ok = use & hit & answer.hit & agree
    tally.worst = float(np.abs(left[ok] / size[ok]).max(initial=0.0))
    rows = np.flatnonzero(use & ~agree)
    tally.apart = len(rows)
    for k in rows[:judge_at_most]:
        verdict = judge(passages, k, answer)
        if not verdict.ok and not verdict.inside:
            tally.wrong += 1
            how = "turned" if turn else "carried"
            note = f"{family} {how} seed {seed} pair {k} of {n}: toi {found.toi[k]!r}"
            tally.notes.append(f"{note}, fraction {trace.fraction[k]!r}, {verdict}")
    return tally


def _speed(passages, trace):
    """Of the mover at the place of contact, along its normal, for each whole motion."""
    if not passages.turns:
        return np.abs((passages.vector * trace.normal).sum(1))
    way = np.cross(passages.axis, trace.point - passages.origin) * passages.angle[:, None]
    return np.abs((way * trace.normal).sum(1))


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_agreement", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(scenes.FAMILIES))
    add("--pairs", type=int, default=100_000, help="of each family and kind of motion")
    add("--block", type=int, default=5000)
    add("--judge", type=int, default=200, help="pairs of a block, of those apart, that are judged")
    add("--backend", default="cpu")
    add("--seed", type=int, default=SEED)
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    wrong, begin = 0, time.perf_counter()
    for family in options.family or scenes.FAMILIES:
        for turn in (False, True):
            tally = Tally()
            for k in range(0, options.pairs, options.block):
                n = min(options.block, options.pairs - k)
                tally.add(compare(family, n, turn, options.seed + k, options.judge, backend=options.backend))
            name = f"{family} {'turned' if turn else 'carried'}"
            print(f"{name}: {tally} ({time.perf_counter() - begin:.0f} s)", flush=True)
            print("".join(f"  {note}\n" for note in tally.notes[:3]), end="", flush=True)
            wrong += tally.wrong
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
