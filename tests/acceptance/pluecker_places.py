"""Places of bodies at rest, and what stopped a mover: `python -m tests.acceptance.pluecker_places`, one page.

Poses, random and of whole numbers, judged by distances of triangles and by axes that part convex bodies, in
whole numbers where the poses are; nothing of it is the library's. Each place told must be as far as its two
features are, and within what was asked; the nearest place must be as near as the two bodies; what is inside
must be told, with its depth where both are convex, and nothing twice. And what stopped movers of whole
numbers, a third of them edge on edge at a slant, must be among the places of where they stand.
"""

import argparse
import os
import sys
import time
from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np

import gpu_collide as gc
from tests.acceptance.pluecker_shapes import SHAPES, Shape
from tests.oracle.whole_turns import TURNS
from tests.support.seeds import generator

SEED = 20261124
BLOCK = 2000
#: Zones between a place and what it is said to be: up to 9/4 beside each border at a corner.
ZONES = 4.0


class Poses:
    """Pairs of a mover and a body: `places` of the vertices of each, (n, nv, 3), over `scale`."""

    def __init__(self, a: Shape, b: Shape, rng, n, whole):
        self.shapes, self.n, self.whole = (a, b), n, whole
        if whole:
            turn = rng.integers(0, len(TURNS), (2, n))
            at = rng.integers(-4, 5, (n, 3))
            matrix, scale, quat = (np.array([t[k] for t in TURNS]) for k in range(3))
            self.scale = np.lcm.reduce(scale)
            self.quat = quat[turn]
            turned = [matrix[turn[k]] * (self.scale // scale[turn[k]])[:, None, None] for k in (0, 1)]
            self.position = np.stack([at, np.zeros_like(at)]).astype(float)
            self.places = [
                np.einsum("nij,vj->nvi", turned[k], s.vertices)
                + (at if k == 0 else 0 * at)[:, None] * self.scale
                for k, s in enumerate(self.shapes)
            ]
            self.distance = rng.integers(0, 3, n) + rng.choice([0.0, 0.5, 2.0**0.5 - 1], n)
        else:
            self.scale, self.quat = 1, rng.normal(size=(2, n, 4))
            self.quat /= np.linalg.norm(self.quat, axis=2, keepdims=True)
            self.distance = rng.uniform(0, 1.0, n) ** 2
            mine, theirs = (
                np.einsum("nij,vj->nvi", _matrices(self.quat[k]), s.vertices)
                for k, s in enumerate(self.shapes)
            )
            way = rng.normal(size=(n, 3))
            way /= np.linalg.norm(way, axis=1, keepdims=True)
            gap = np.einsum("nvi,ni->nv", theirs, way).max(1) - np.einsum("nvi,ni->nv", mine, way).min(1)
            gap += self.distance * rng.choice([-1.0, 0.0, 1.0], n) * rng.uniform(0, 1, n)
            gap *= np.where(rng.integers(0, 4, n), 1.0, rng.uniform(0, 1, n))
            self.position = np.stack([gap[:, None] * way, np.zeros_like(way)])
            self.places = [mine + self.position[0][:, None], theirs]

    def bodies(self, side):
        poses = gc.Poses.from_quat_wxyz(self.position[side], self.quat[side])
        return gc.Bodies(self.shapes[side].mesh, None, poses, poses)


def _matrices(q):
    w, x, y, z = q.T
    return np.stack(
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
         2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
         2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1,
    ).reshape(-1, 3, 3)  # fmt: skip


# ---- the judge ----


def dot(a, b):
    return (a * b).sum(-1)


def point_segment(x, c, d):
    """Distances of points and segments."""
    w = d - c
    k = np.clip(dot(x - c, w) / dot(w, w), 0, 1)
    return np.linalg.norm(x - c - k[..., None] * w, axis=-1)


def point_triangle(x, t):
    """Distances of points and triangles (..., 3, 3)."""
    a, b, c = (t[..., k, :] for k in range(3))
    n = np.cross(b - a, c - a)
    over = np.ones(np.broadcast_shapes(x.shape[:-1], n.shape[:-1]), bool)
    beside = np.full(over.shape, np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        over &= dot(np.cross(q - p, x - p), n) >= 0
        beside = np.minimum(beside, point_segment(x, p, q))
    return np.where(over, np.abs(dot(x - a, n)) / np.linalg.norm(n, axis=-1), beside)


def segment_segment(a, b, c, d):
    """Distances of segments a-b and c-d."""
    u, w, r = b - a, d - c, a - c
    uu, uw, ww, ur, wr = dot(u, u), dot(u, w), dot(w, w), dot(u, r), dot(w, r)
    det = uu * ww - uw * uw
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uw * wr - ww * ur) / det, (uu * wr - uw * ur) / det
        inner = (det > 0) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
        across = np.linalg.norm(r + s[..., None] * u - t[..., None] * w, axis=-1)
    ends = np.minimum.reduce(
        [point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b)]
    )
    return np.where(inner, np.minimum(np.where(inner, across, np.inf), ends), ends)


def surface_distance(poses, some):
    """Distance of the two surfaces that do not cross, (k,), of some poses."""
    one, two = [p[some] / poses.scale for p in poses.places]
    a, b = poses.shapes
    least = np.full(len(one), np.inf)
    for x, t, shape in ((one, two, b), (two, one, a)):
        far = point_triangle(x[:, :, None], t[:, shape.triangles][:, None])
        least = np.minimum(least, far.min(axis=(1, 2)))
    ends = one[:, a.edges][:, :, None], two[:, b.edges][:, None]
    far = segment_segment(ends[0][..., 0, :], ends[0][..., 1, :], ends[1][..., 0, :], ends[1][..., 1, :])
    return np.minimum(least, far.min(axis=(1, 2)))


def parted(p, q, one, two):
    """The most that an axis parts two convex parts by, p and q their vertices (n, k, 3); and its sign, exact
    for whole numbers: above 0 apart, 0 in touch, below 0 one in the other."""
    best, sign = np.full(len(p), -np.inf), np.full(len(p), -1)
    axes = [n for part, x in ((one, p), (two, q)) for n in part.normals(x)]
    axes += [np.cross(u, w) for u, w in product(one.ways(p), two.ways(q))]
    for axis in axes:
        along = [np.einsum("nkj,nj->nk", x, axis) for x in (p, q)]
        gap = np.maximum(along[0].min(1) - along[1].max(1), along[1].min(1) - along[0].max(1))
        length = np.linalg.norm(axis.astype(float), axis=1)
        some = length > 1e-9 * np.abs(p).max() ** 2
        sign = np.where(some & (np.sign(gap) > sign), np.sign(gap), sign)
        best = np.maximum(best, np.where(some, gap / np.where(some, length, 1.0), -np.inf))
    return best, sign


def inside(poses):
    """How far the two solids are in each other at least, (n,), below 0 where they are apart; and whether they
    are at all, (n,) bool, exact for whole numbers."""
    depth, into = np.full(poses.n, -np.inf), np.zeros(poses.n, bool)
    for one, two in product(poses.shapes[0].parts, poses.shapes[1].parts):
        p, q = poses.places[0][:, one.vertices], poses.places[1][:, two.vertices]
        gap, sign = parted(p, q, one, two)
        depth = np.maximum(depth, -gap / poses.scale)
        into |= sign < 0
    return depth, into


def named_distance(poses, found):
    """Distance of the two features that each place names, (c,)."""
    far = np.full(len(found.kind), np.nan)
    touch = gc.pluecker.Touch
    kinds = {touch.VF: "vf", touch.FV: "fv", touch.EE: "ee", touch.VE: "ve", touch.EV: "ev", touch.VV: "vv"}
    for kind, what in kinds.items():
        rows = np.flatnonzero(found.kind == kind)
        if not len(rows):
            continue
        x = [poses.places[k][found.mover[rows]] / poses.scale for k in (0, 1)]
        names, each = (found.feature_a[rows], found.feature_b[rows]), np.arange(len(rows))
        if what in ("vf", "fv"):
            k = what.index("f")
            point = x[1 - k][each, names[1 - k]]
            fan = poses.shapes[k].fans[names[k]]
            far[rows] = point_triangle(point[:, None], x[k][each[:, None, None], fan]).min(axis=1)
            continue
        ends = [
            x[k][each[:, None], poses.shapes[k].mesh.edges[names[k]]] if what[k] == "e"
            else x[k][each, names[k]][:, None].repeat(2, axis=1)
            for k in (0, 1)
        ]  # fmt: skip
        if what == "vv":
            far[rows] = np.linalg.norm(ends[0][:, 0] - ends[1][:, 0], axis=1)
        elif what == "ee":
            far[rows] = segment_segment(ends[0][:, 0], ends[0][:, 1], ends[1][:, 0], ends[1][:, 1])
        else:
            k = what.index("e")
            far[rows] = point_segment(ends[1 - k][:, 0], ends[k][:, 0], ends[k][:, 1])
    return far


def judge_poses(poses, found, precision="mixed"):
    """What is wrong with the places told of poses: counts by name, and how many poses were near or inside."""
    touch, status = gc.pluecker.Touch, gc.Status
    size = max(np.abs(p).max() / poses.scale for p in poses.places) + poses.distance
    zone = gc.pluecker.default_expel(size * 10.0, precision)  # more than the library's own
    depth, into = inside(poses)
    sure = 1e-6 if precision != "single" else 1e-3
    deep = into if poses.whole else depth > sure * size
    shallow = np.zeros(poses.n, bool) if poses.whole else (depth > -1e-9 * size) & ~deep
    apart = np.flatnonzero(~deep & ~shallow)
    distance = np.full(poses.n, np.nan)
    distance[apart] = surface_distance(poses, apart)
    real = found.kind != touch.OVERLAP
    nearest = np.full(poses.n, np.inf)
    np.minimum.at(nearest, found.mover[real], found.distance[real])
    deepest = np.full(poses.n, np.inf)
    np.minimum.at(deepest, found.mover, found.distance)
    convex = all(len(shape.parts) == 1 for shape in poses.shapes)
    far = named_distance(poses, found)
    of, wrong = found.mover, Counter()
    wrong["places"] = len(found)
    wrong["near"] = int((distance <= poses.distance).sum())
    wrong["inside"] = int(deep.sum())
    # a whole number is as far as it says to a rounding, and the zone has many
    must = distance <= poses.distance + 1e-14 * size
    off = ZONES * zone + 1e-9 * size * (precision != "single" and not poses.whole)
    said = {
        "missed": (must & ~np.isfinite(nearest)).sum(),
        "not the nearest": (must & np.isfinite(nearest) & ~(np.abs(nearest - distance) <= off)).sum(),
        "too far": (real & (found.distance >= 0) & ~(far <= (poses.distance + ZONES * zone)[of])).sum(),
        "not as far as said": (real & ~(np.abs(far - np.abs(found.distance)) <= (ZONES * zone)[of])).sum(),
        "inside, not told": (deep & (found.status != status.INITIAL_OVERLAP)).sum(),
        "not as deep": (deep & convex & ~(np.abs(deepest + depth) <= off)).sum(),
        "told inside": (~deep & ~shallow & (found.status == status.INITIAL_OVERLAP)).sum(),
        "told twice": told_twice(found, ZONES * zone),
    }
    return Counter({name: int(n) for name, n in said.items()}), wrong


def told_twice(found, zone):
    """How many pairs of features are told again, and how many places that are out of the zone."""
    keys = np.stack([found.mover, found.kind, found.feature_a, found.body, found.feature_b], axis=1)
    touch = gc.pluecker.Touch
    named = keys[found.kind != touch.OVERLAP]  # of a body there may be several regions without features
    again = len(named) - len(np.unique(named, axis=0))
    out = found.distance > zone[found.mover]
    on_mover = np.isin(found.kind, (touch.VF, touch.VE, touch.VV))[:, None]
    foot = found.point - np.where(on_mover, found.normal * found.distance[:, None], 0.0)
    ends = np.column_stack((found.mover, foot, found.normal * found.distance[:, None]))[out]
    return again + len(ends) - len(np.unique(ends.round(6) + 0.0, axis=0))


# ---- the families ----


def pairs_of_shapes():
    return list(product(SHAPES.values(), repeat=2))


def places(kind, n, seed, **options):
    """Counts of `n` poses of a family, ``"random"`` or ``"whole"``."""
    wrong, seen = Counter(), Counter()
    both = pairs_of_shapes()
    each = max(1, min(BLOCK, -(-n // len(both))))
    for k in range(-(-n // each)):
        rng = generator(seed, k)
        poses = Poses(*both[k % len(both)], rng, min(each, n - k * each), kind == "whole")
        rows = np.arange(poses.n, dtype=np.int32)
        found = gc.pluecker.contacts(
            poses.bodies(0), poses.bodies(1), poses.distance, pairs=np.column_stack((rows, rows)), **options
        )
        bad, told = judge_poses(poses, found, options.get("precision", "mixed"))
        wrong += bad
        seen += told
    return wrong, seen


def slants(n, seed, turns=False, **options):
    """What stopped movers of whole numbers, sent so that an edge comes on an edge: counts."""
    wrong, seen = Counter(), Counter()
    both = pairs_of_shapes()
    each = max(1, min(BLOCK, -(-n // len(both))))
    for k in range(-(-n // each)):
        rng = generator(seed, k, 1)
        poses = Poses(*both[k % len(both)], rng, min(each, n - k * each), True)
        rows = np.arange(poses.n, dtype=np.int32)
        pairs = np.column_stack((rows, rows))
        # an edge of each, and a point on either that come to the same place
        spots = []
        for side in (0, 1):
            ends = poses.places[side][:, poses.shapes[side].mesh.edges]
            one = ends[rows, rng.integers(0, ends.shape[1], poses.n)] / poses.scale
            share = rng.choice([0.25, 0.5, 0.75], poses.n)[:, None]
            spots.append(one[:, 0] * (1 - share) + one[:, 1] * share)
        way = rng.integers(-3, 4, (poses.n, 3)).astype(float)
        poses.position[0] += spots[1] - spots[0] - way
        movers, world = poses.bodies(0), poses.bodies(1)
        if turns:
            axis = rng.integers(-2, 3, (poses.n, 3)).astype(float)
            axis[(axis == 0).all(axis=1)] = 1.0
            about = rng.uniform(-3, 3, poses.n), axis, poses.position[0] + rng.integers(-2, 3, (poses.n, 3))
            trace = gc.pluecker.rotate(movers, world, *about, pairs=pairs, **options)
        else:
            trace = gc.pluecker.translate(movers, world, 2 * way, pairs=pairs, **options)
        stands = gc.Bodies(movers.meshes, movers.shape, trace.poses, trace.poses)
        found = gc.pluecker.contacts(stands, world, pairs=pairs, expel=trace.expel, **options)
        have = set(
            zip(
                *(getattr(found, x).tolist() for x in ("mover", "kind", "feature_a", "feature_b")),
                strict=True,
            )
        )
        stopped = np.flatnonzero(trace.kind)
        off = stop_distance(poses, trace, stopped) > 1e-6
        seen["stopped"] += len(stopped)
        seen["by edges"] += int((trace.kind == gc.pluecker.Touch.EE).sum())
        # a turn that grazes may stop where nothing is: that is the turn's fault
        (seen if turns else wrong)["stopped by nothing"] += int(off.sum())
        for i in stopped[~off]:
            key = int(i), int(trace.kind[i]), int(trace.feature_a[i]), int(trace.feature_b[i])
            wrong["stopper not among the places"] += key not in have
        free = (trace.kind == 0) & (trace.status == gc.Status.MISS)
        seen["free"] += int(free.sum())
    return wrong, seen


def stop_distance(poses, trace, stopped):
    """How far what stopped movers is from them where they stand, (k,)."""
    a, b = poses.shapes
    pose = _matrices(trace.quat_wxyz[stopped]), trace.position[stopped]
    mine = np.einsum("nij,vj->nvi", pose[0], a.mesh.vertices) + pose[1][:, None]
    there = SimpleNamespace(shapes=(a, b), scale=1, places=[mine, poses.places[1][stopped] / poses.scale])
    names = ("kind", "feature_a", "feature_b")
    found = {name: getattr(trace, name)[stopped] for name in names} | {"mover": np.arange(len(stopped))}
    return named_distance(there, SimpleNamespace(**found))


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_places", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--poses", type=int, default=100_000, help="of each family")
    parser.add_argument("--backend", action="append", help="default: cpu")
    parser.add_argument("--precision", choices=("mixed", "single", "double"), default="mixed")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    failed = 0
    for backend in asked.backend or ["cpu"]:
        how = {"backend": backend, "precision": asked.precision}
        for name, run in (
            ("random", lambda how=how: places("random", asked.poses, asked.seed, **how)),
            ("whole numbers", lambda how=how: places("whole", asked.poses, asked.seed, **how)),
            ("slants", lambda how=how: slants(asked.poses, asked.seed, **how)),
            ("slants, turns", lambda how=how: slants(asked.poses, asked.seed, turns=True, **how)),
        ):
            begin = time.perf_counter()
            wrong, seen = run()
            failed += sum(wrong.values())
            print(f"{name}, {backend}: {dict(seen)}; wrong: {dict(+wrong) or 'nothing'}; "
                  f"{time.perf_counter() - begin:.0f} s", flush=True)  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
