"""Ways that begin in touch, many: `python -m tests.acceptance.pluecker_touching --moves 100000`.

Tetrahedra, hulls and boxes of whole numbers, most often corner on corner. They are convex, and all that is
asked of them is a sign of whole numbers: if a plane separates two that touch, and the way leads up from it,
the one leaves, and never meets the other; if it goes along the best of these planes, it slides; if there is
none, it enters at once. What leaves or slides is `held` if it is stopped at the start. What slides may be
stopped later, by what it comes to at no distance (`came_to`; docs/pluecker.md, "What it does not do").
"""

import argparse
import sys
from collections import Counter

import numpy as np

from tests.acceptance.pluecker_runs import run
from tests.oracle.passage_touching import loops, solids_touching

SCALE = 4  # places are in quarters


def planes_of(one, two):
    """Normals of the planes that can separate two convex meshes of whole numbers, out of the second."""
    normals, edges = [], []
    for sign, mesh in ((-1, one), (1, two)):
        v = np.rint(SCALE * mesh.vertices).astype(np.int64)
        assert (v == SCALE * mesh.vertices).all()
        faces = loops(mesh)
        normals += [sign * np.cross(v[f[1]] - v[f[0]], v[f[2]] - v[f[0]]) for f in faces]
        edges.append(np.unique([v[f[k]] - v[f[k - 1]] for f in faces for k in range(len(f))], axis=0))
    across = np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)
    planes = np.unique(np.concatenate([normals, across, -across]), axis=0)
    return planes[planes.any(axis=1)]


def goes(one, two, planes, start, corner, way):
    """What a mesh at `start` does, which touches another at `corner`, on its way: leave, slide or enter."""
    p, q = (
        np.rint(SCALE * (mesh.vertices + at)).astype(np.int64) @ planes.T
        for mesh, at in ((one, start), (two, corner))
    )
    gap = p.min(axis=0) - q.max(axis=0)
    if gap.max() != 0:
        raise AssertionError("they do not touch")
    rise = (planes @ way.astype(np.int64))[gap == 0].max()
    return "leave" if rise > 0 else "enter" if rise < 0 else "slide"


def tally(seed, n, **options):
    """Counts of what ways do, and of what is wrong; and rows of these."""
    moves = solids_touching(seed, n)
    answer, _ = run(moves, **options)
    counts, wrong, planes = Counter(), [], {}
    for i in range(n):
        shapes = moves.mover[0][i], moves.still[0][i]
        one, two = (moves.meshes[k] for k in shapes)
        if shapes not in planes:
            planes[shapes] = planes_of(one, two)
        does = goes(one, two, planes[shapes], moves.mover[1][i], moves.still[1][i], moves.vector[i])
        counts[does] += 1
        share, what = answer.fraction[i], None
        if does == "enter":
            what = "entered" if share else None
        elif share < 1:
            what = "held" if share == 0 else "came_to" if does == "slide" else "late"
        if what:
            counts[what] += 1
            wrong += [(what, i)] if what != "came_to" else []
    return counts, wrong


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_touching", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--moves", type=int, default=2000)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--precision", choices=("mixed", "single", "double"), default="mixed")
    parser.add_argument("--seed", type=int, default=20261124)
    options = parser.parse_args(argv)
    counts, block = Counter(), 1000
    for k in range(-(-options.moves // block)):
        n = min(block, options.moves - k * block)
        found, wrong = tally([options.seed, k], n, backend=options.backend, precision=options.precision)
        counts += found
        for what, i in wrong[:3]:
            print(what, "block", k, "move", i, flush=True)
    print(f"{options.moves} ways in {options.precision} on {options.backend}:", dict(counts))
    return 1 if counts["entered"] or counts["late"] else 0


if __name__ == "__main__":
    sys.exit(main())
