"""Cylinders and cones: first contacts against a judge of convex distances, against divided meshes and the
reference, and what is promised."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.frustums import FINE, Frustum, FrustumPassing, touching
from tests.oracle.round_shapes import Round, Screw, product
from tests.support.seeds import generator

ONE = [1.0, 0.0, 0.0, 0.0]
OTHERS = ("box", "rounded", "sphere", "capsule")
FAMILIES = ("random", "whole", "aligned", "needle", "disc", "concentric", "tiny", "huge", "rest", "grazing")
SCALE = {"tiny": 1e-9, "huge": 1e9}


def unit(rng, n, k):
    x = rng.normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def frusta(rng, count, family, scale):
    """Cylinders and cones by turns: meshes, half lengths, radii."""
    half, radii = rng.uniform(0.1, 0.7, count), rng.uniform(0.1, 0.6, (count, 1)) * [1, 1]
    if family == "whole":
        half, radii = rng.integers(1, 3, count) / 2, rng.integers(1, 3, (count, 1)) / 2 * [1, 1]
    if family == "needle":
        radii = radii * 1e-2
    if family == "disc":
        half = half * 1e-2
    radii[1::3, 1] = 0.0
    radii[2::3, 1] *= 0.5 if family == "whole" else rng.uniform(0.2, 1.5)
    half, radii = half * scale, radii * scale
    meshes = [gc.Mesh([[0, 0, -h], [0, 0, h]], [], ends=r) for h, r in zip(half, radii, strict=True)]
    return meshes, half, radii


def others(rng, kind, count, family, scale):
    half, radius = rng.uniform(0.1, 0.7, (count, 3)), rng.uniform(0.1, 0.6, count) * (kind != "box")
    if family == "whole":
        half, radius = rng.integers(1, 3, (count, 3)) / 2, rng.integers(1, 3, count) / 2 * (kind != "box")
    half, radius = half * scale, radius * scale
    if kind == "sphere":
        meshes = [gc.shapes.sphere(r) for r in radius]
    elif kind == "capsule":
        half = half[:, 0]
        meshes = [gc.shapes.capsule(r, 2 * h) for h, r in zip(half, radius, strict=True)]
    else:
        meshes = [gc.shapes.box(2 * h).rounded(r) for h, r in zip(half, radius, strict=True)]
    return meshes, half, radius


def passes(kind, n, seed, motion, family, variants=9, swap=True):
    """Bodies two by two, half of them with the frustum first, and their judge."""
    rng, scale = generator(seed, n), SCALE.get(family, 1.0)
    pick = rng.integers(0, variants, (2, n))
    if kind == "frustum":
        meshes, half, radii = frusta(rng, variants, family, scale)
        a = Frustum(half[pick[0]], radii[pick[0]])
    else:
        meshes, half, radius = others(rng, kind, variants, family, scale)
        a = Round("box" if kind == "rounded" else kind, half[pick[0]], radius[pick[0]])
    more, half, radii = frusta(rng, variants, family, scale)
    b = Frustum(half[pick[1]], radii[pick[1]])
    start = unit(rng, n, 3) * rng.uniform(0.5, 3.5, n)[:, None]
    end = -start * rng.uniform(0, 1, n)[:, None] + 0.9 * rng.normal(size=(n, 3))
    angle, axis = rng.choice([0.0, 0.3, 0.8, 2.0], n), unit(rng, n, 3)
    qa0, qb0, pa0 = unit(rng, n, 4), unit(rng, n, 4), rng.normal(size=(n, 3))
    if family in ("whole", "aligned"):
        quarter = np.array([ONE, [0.5**0.5, 0.5**0.5, 0, 0], [0.5**0.5, 0, 0.5**0.5, 0]])
        qa0, qb0 = (quarter[rng.integers(0, 3, n)] for _ in range(2))
        axis = np.eye(3)[rng.integers(0, 3, n)]

    def by(share):
        turned = share * angle[:, None] / 2
        return np.concatenate([np.cos(turned), np.sin(turned) * axis], axis=1)

    pa1, qa1, qb1 = pa0, qa0, product(by(1.0), qb0)
    if motion == "body":
        pa1, qa1 = pa0 + rng.normal(size=(n, 3)), product(by(-0.7), qa0)
    if family == "whole":
        qa1, qb1, pa0, pa1 = qa0, qb0, np.zeros((n, 3)), np.zeros((n, 3))
        start, end = rng.integers(-3, 4, (2, n, 3)).astype(float)
    if family == "concentric":
        start = 1e-3 * start
    if family == "rest":
        end, pa1, qa1, qb1 = start, pa0, qa0, qb0
    if family == "grazing":
        end = -start + 0.6 * rng.normal(size=(n, 3))
        start, end = start * 3, end * 3
    p = [scale * x for x in (pa0, pa1, pa0 + start, pa1 + end)]
    order = np.arange(2 * n).reshape(n, 2)
    if swap:
        order[1::2] = order[1::2, ::-1]
    shape = np.stack([pick[0], len(meshes) + pick[1]], axis=1).reshape(-1)
    poses = [
        gc.Poses.from_quat_wxyz(*(np.stack(x, axis=1).reshape(2 * n, -1) for x in ((p[k], p[k + 2]), q)))
        for k, q in ((0, (qa0, qb0)), (1, (qa1, qb1)))
    ]
    bodies = gc.Bodies(meshes + more, shape, *poses)
    judge = FrustumPassing(a, b, Screw.between(p[0], qa0, p[1], qa1), Screw.between(p[2], qb0, p[3], qb1))
    return bodies, order, judge, scale


def judged(found, judge, scale, swapped):
    """Status, and that the gap is 0 at `toi` and above it before. Worst gap at `toi`: see the test."""
    n = len(judge.b.half)
    times = np.broadcast_to(np.linspace(0, 1, 97), (n, 97))
    judge.fine = 24
    gap = judge.gap(times)
    judge.fine = FINE
    start = judge.gap(np.zeros((n, 1)))[:, 0]
    tol = 1e-9 * scale
    overlap = found.status == gc.Status.INITIAL_OVERLAP
    wrong = (np.abs(start) > tol) & ((start < 0) != overlap)
    assert not wrong.any(), np.flatnonzero(wrong)
    free = start > tol
    assert (found.status != gc.Status.UNRESOLVED).all()
    hit, miss = free & (found.status == gc.Status.HIT), free & (found.status == gc.Status.MISS)
    assert not (miss & (gap < -1e-3 * scale).any(axis=1)).any()
    early = times < np.where(hit, found.toi, 1.0)[:, None] - 1e-6
    deep = (gap < -1e-6 * scale) & early & (hit | miss)[:, None]
    assert not deep.any(), np.flatnonzero(deep.any(axis=1))
    at = np.where(hit, found.toi, 0.0)
    if judge.a.kind == "frustum":
        first = found.contact_start[:-1][hit]
        poses = [x[hit] for m in (judge.motion_a, judge.motion_b) for x in m.at(at)]
        some = [Frustum(f.half[hit], f.radii[hit]) for f in (judge.a, judge.b)]
        n = found.normal[first] * np.where(swapped[hit], -1.0, 1.0)[:, None]
        off = touching(some[0], *poses[:2], some[1], *poses[2:], found.position[first], n)
        return hit, np.maximum(*off) / scale
    off = np.where(hit, np.abs(judge.gap(at[:, None])[:, 0]), 0.0) / scale
    return hit, off


if __name__ == "__main__":
    import sys
    import time

    for family in sys.argv[2:] or FAMILIES:
        for kind in sys.argv[1].split(","):
            for motion in ("relative", "body"):
                bodies, pairs, judge, scale = passes(kind, int(__import__("os").environ.get("N", 150)), 7, motion, family)
                t = time.process_time()
                found = gc.collide(bodies, pairs, motion=motion, backend="cpu", contacts="first")
                t = time.process_time() - t
                try:
                    hit, off = judged(found, judge, scale, pairs[:, 0] > pairs[:, 1])
                    print(family, kind, motion, hit.sum(), off.max(initial=0), np.bincount(found.status), np.bincount(found.kind, minlength=6), f"{t:.3f} s", flush=True)
                except AssertionError as e:
                    print(family, kind, motion, "FAILED", str(e)[:300], flush=True)
