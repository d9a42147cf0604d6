"""Round shapes in flight: scenes by kinds of shapes, motion and family, and what their judge says of them."""

import numpy as np

import gpu_collide as gc
from tests.oracle.round_many import Many, missing
from tests.oracle.round_shapes import Passing, Round, Screw, back, product, turn
from tests.support.seeds import generator

ONE = [1.0, 0.0, 0.0, 0.0]
KINDS = [
    ("sphere", "sphere"), ("sphere", "capsule"), ("capsule", "capsule"), ("sphere", "box"), ("box", "sphere"),
    ("capsule", "box"), ("box", "capsule"),
]  # fmt: skip
FAMILIES = ("random", "seen", "whole", "concentric", "tiny", "huge", "speck", "rest")
SCALE = {"tiny": 1e-9, "huge": 1e9}
FIELDS = (
    "status", "toi", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b", "normal_speed", "sustained", "time_end",
)  # fmt: skip
SPHERE, CAPSULE, BOX = gc.shapes.sphere(0.5), gc.shapes.capsule(0.5, 2.0), gc.shapes.rounded_box(2.0, 0.5)


def mesh_of(kind, half, radius):
    if kind == "sphere":
        return gc.shapes.sphere(radius)
    return (
        gc.shapes.capsule(radius, 2 * half) if kind == "capsule" else gc.shapes.box(2 * half).rounded(radius)
    )


def unit(rng, n, k):
    x = rng.normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def passes(kinds, n, seed, motion, family, variants=6):
    """Bodies two by two, and their judge. Whole numbers: parallel, many gaps exactly 0 at some time; seen:
    both move, by the relative motion as well."""
    rng, scale = generator(seed, n), SCALE.get(family, 1.0)
    meshes, sides, shape = [], [], []
    for kind in kinds:
        size = (variants, 3) if kind == "box" else variants
        half, radius = rng.uniform(0.1, 0.7, size), rng.uniform(0.1, 0.6, variants)
        if family == "whole":
            half, radius = rng.integers(1, 3, size) / 2, rng.integers(1, 3, variants) / 2
        half, radius = half * scale, radius * (1e-4 if family == "speck" else 1.0) * scale
        pick = rng.integers(0, variants, n)
        shape.append(len(meshes) + pick)
        meshes += [mesh_of(kind, half[i], radius[i]) for i in range(variants)]
        sides.append(Round(kind, half[pick], radius[pick]))
    start = unit(rng, n, 3) * rng.uniform(0.5, 3.5, n)[:, None]
    end = -start * rng.uniform(0, 1, n)[:, None] + 0.9 * rng.normal(size=(n, 3))
    angle, axis = rng.choice([0.0, 0.3, 0.8, 2.0], n), unit(rng, n, 3)

    def by(share):
        half = share * angle[:, None] / 2
        return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)

    qa0, qb0, pa0 = unit(rng, n, 4), unit(rng, n, 4), rng.normal(size=(n, 3))
    pa1, qa1, qb1 = pa0, qa0, product(by(1.0), qb0)
    if motion == "body" or family == "seen":
        pa1, qa1 = pa0 + rng.normal(size=(n, 3)), product(by(-0.7), qa0)
    if family == "whole":
        qa0 = qa1 = qb0 = qb1 = np.tile(ONE, (n, 1))
        pa0 = pa1 = np.zeros((n, 3))
        start, end = rng.integers(-3, 4, (2, n, 3)).astype(float)
    if family == "concentric":
        start = 1e-3 * start
    if family == "rest":
        end, pa1, qa1, qb1 = start, pa0, qa0, qb0
    p = [scale * x for x in (pa0, pa1, pa0 + start, pa1 + end)]
    poses = [
        gc.Poses.from_quat_wxyz(*(np.stack(x, axis=1).reshape(2 * n, -1) for x in ((p[k], p[k + 2]), q)))
        for k, q in ((0, (qa0, qb0)), (1, (qa1, qb1)))
    ]
    bodies = gc.Bodies(meshes, np.stack(shape, axis=1).reshape(-1), *poses)
    ends = ((p[0], qa0, p[1], qa1), (p[2], qb0, p[3], qb1))
    if motion == "relative" and family == "seen":
        still, ones = np.zeros((n, 3)), np.tile(ONE, (n, 1))
        seen = zip(*map(_halves, ends), strict=True)
        start, end = ((turn(back(q), x - o), product(back(q), r)) for (o, q), (x, r) in seen)
        ends = ((still, ones, still, ones), (*start, *end))
    judge = Passing(*sides, *(Screw.between(*each) for each in ends))
    return bodies, np.arange(2 * n).reshape(-1, 2), judge, scale


def _halves(ends):
    return ends[:2], ends[2:]


def judged(found, judge, scale):
    """Status and first time by the judge; pairs within 1e-9 of touch are not judged. Worst seen: 5e-13 of
    the size in the gap at `toi` beside boxes, which is the judge's own error, else 1e-14. First times are
    those of the judge in C where there is a compiler; a test holds it beside the one in NumPy."""
    toi, least, start = (judge if missing() else Many(judge)).first()
    tol = 1e-9 * scale
    inside, sure = start < -tol, np.abs(start) > tol
    overlap = found.status == gc.Status.INITIAL_OVERLAP
    assert not (sure & (inside != overlap)).any()
    hit, miss = sure & ~inside & (least < -tol), sure & (least > tol)
    assert (found.status[hit] == gc.Status.HIT).all() and (found.status[miss] == gc.Status.MISS).all()
    at = np.where(np.isfinite(found.toi), found.toi, 0.0)
    gap = judge.gap(at)
    assert (np.abs(gap[hit]) < 1e-11 * scale).all()
    with np.errstate(invalid="ignore"):
        assert not (found.toi > toi + 1e-6)[hit].any()  # later than the first time by what a graze is worth
    return hit


def sheet(radius):
    corners = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]
    return gc.Mesh(corners, [[0, 1, 2, 3]], two_sided=True, rounding=radius)


def two(a, b, start, end, q0=ONE, q1=ONE):
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], x], [ONE, q]) for x, q in ((start, q0), (end, q1))]
    return gc.Bodies([a, b], [0, 1], *poses)


def recorded(poses, meshes):
    time = np.arange(float(len(poses)))
    arrays = {"time": time, "position": poses.position, "quat_wxyz": poses.quat_wxyz}
    return gc.Recording.from_arrays(arrays, meshes=meshes, shape=[0, 1])
