"""Cylinders and cones: contacts against a judge of convex distances, divided meshes and the reference, and
what is promised."""

import pickle

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.frustums import FINE, Features, Frustum, FrustumPassing, point_frustum, touching
from tests.oracle.round_shapes import Round, Screw, least_turned, product
from tests.support.round_scenes import FIELDS
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
    if family == "through":  # in and out, and in again
        start, end = (unit(rng, n, 3) * rng.uniform(0.2, 1.3, (n, 1)) for _ in range(2))
        angle = np.full(n, 2.9)
        qb1 = product(by(1.0), qb0)
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
    qa1, qb1 = least_turned(kind, qa0, qa1), least_turned("frustum", qb0, qb1)
    judge = FrustumPassing(a, b, Screw.between(p[0], qa0, p[1], qa1), Screw.between(p[2], qb0, p[3], qb1))
    return bodies, order, judge, scale


def features(kind, judge):
    """What of A the judge looks at, by the numbers of its mesh."""
    if kind in ("box", "rounded"):
        cube = gc.shapes.box(2.0)
        return Features(judge, cube.vertices, cube.edges, cube.face_planes[:, :3])
    signs = np.array([[0, 0, -1.0], [0, 0, 1]]) if kind == "capsule" else np.zeros((1, 3))
    return Features(judge, signs, np.array([[0, 1]])[: len(signs) - 1], np.zeros((0, 3)))


SORTS = {gc.Kind.FV: "F", gc.Kind.EE: "E", gc.Kind.EV: "E", gc.Kind.VE: "V", gc.Kind.VV: "V"}


def all_judged(kind, n, seed, motion, family, backend):
    """Every fall of a feature to touch that the judge is sure of is told, and all that is told is in touch
    and in its cone. How many, how many of them are later ones or of pairs that overlap at the start, and the
    worst difference in time."""
    bodies, pairs, judge, _ = passes(kind, n, seed, motion, family, swap=False)
    found = gc.collide(bodies, pairs, motion=motion, backend=backend)
    assert (found.status != gc.Status.UNRESOLVED).all()
    looks = features(kind, judge)
    rows, sorts, numbers, times, good = looks.falls(np.linspace(0, 1, 97))
    sort = np.array([SORTS[gc.Kind(int(k))] for k in found.kind], "<U1")
    number = np.where(sort == "F", 2 * found.feature_a + found.feature_b, found.feature_a)
    sure, worst = np.flatnonzero(good > 1e-4), 0.0
    for i in sure:
        same = (found.pair == rows[i]) & (sort == sorts[i]) & (number == numbers[i])
        worst = max(worst, np.abs(found.time[same] - times[i]).min(initial=np.inf))
    for one in set(sort):
        some = np.flatnonzero((sort == one) & ~found.sustained)
        given = one, found.pair[some], number[some]
        gap = looks.gaps(*given, found.time[some][:, None], FINE)[0]
        # 6e-12 of an edge, which is what thirds leave
        assert np.abs(gap).max() < 1e-10 and looks.good(*given, found.time[some]).min() > -1e-3
    late = times[sure] > found.toi[rows[sure]] + 1e-6
    return len(sure), (late | (found.status[rows[sure]] == gc.Status.INITIAL_OVERLAP)).sum(), worst


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


@pytest.mark.parametrize("kind", [*OTHERS, "frustum"])
@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/api/test_cylinders.py")
def test_first_contacts_are_those_of_the_judge(backend, kind, motion):
    """Worst seen of 12 families, 100 pairs and more each: a gap of 1.4e-13 of the size at `toi`; places of
    frusta that graze each other 1.4e-7, where a surface is as flat as that."""
    if backend.kind == "reference":
        pytest.skip("compared with the kernels below")
    for family in ("random", "aligned"):
        bodies, pairs, judge, scale = passes(kind, 24, 21, motion, family)
        found = gc.collide(bodies, pairs, motion=motion, backend=backend.kind, contacts="first")
        hit, off = judged(found, judge, scale, pairs[:, 0] > pairs[:, 1])
        assert hit.sum() > 5 and off.max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*OTHERS, "frustum"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_first_contacts_of_many(backend, kind, motion, family):
    bodies, pairs, judge, scale = passes(kind, 150, 7, motion, family)
    found = gc.collide(bodies, pairs, motion=motion, backend=backend.kind, contacts="first")
    hit, off = judged(found, judge, scale, pairs[:, 0] > pairs[:, 1])
    assert (off < (1e-6 if kind == "frustum" and family == "whole" else 1e-12)).all()


@pytest.mark.shared_bits("tests/api/test_cylinders.py")
def test_all_contacts_are_those_of_the_judge(backend):
    """Worst seen of 16 combinations, 40 pairs each: 2.6e-13 of a step, of grazes."""
    if backend.kind == "reference":
        pytest.skip("compared with the kernels below")
    count, _, worst = all_judged("box", 3, 24, "body", "random", backend.kind)
    assert count and worst < 1e-11
    count, later, worst = all_judged("capsule", 40, 22, "body", "through", backend.kind)
    assert count > 5 and later and worst < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("family", ["random", "through"])
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_all_contacts_of_many(backend, kind, motion, family):
    count, _, worst = all_judged(kind, 40, 21, motion, family, backend.kind)
    assert count > 5 and worst < 1e-11


@pytest.mark.parametrize("kind", [*OTHERS, "frustum"])
@pytest.mark.shared_bits("tests/api/test_cylinders.py")
def test_first_contacts_are_the_earliest_of_all(backend, kind):
    if backend.kind == "reference":
        pytest.skip("the reference takes them from all")
    for family in ("through", "disc", "whole"):
        bodies, pairs, _, _ = passes(kind, 60, 13, "body", family)
        given = dict(motion="body", backend=backend.kind)
        every, first = (
            gc.collide(bodies, pairs, **given),
            gc.collide(bodies, pairs, contacts="first", **given),
        )
        assert first.toi.tolist() == every.toi.tolist() and first.status.tolist() == every.status.tolist()
        assert (every.status != gc.Status.UNRESOLVED).all()
        assert len(first) == (every.time == every.toi[every.pair]).sum()


@pytest.mark.backends("opencl")
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_backends_have_the_same_bits(backend, motion):
    for kind in ("sphere", "box", "frustum"):
        bodies, pairs, _, _ = passes(kind, 30, 9, motion, "through" if kind == "box" else "random")
        one, other = (
            gc.collide(bodies, pairs, motion=motion, backend=name) for name in (backend.kind, "cpu")
        )
        assert len(other) > 5
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("box", "frustum")]


@pytest.mark.parametrize("kind", ["sphere", "capsule", *SLOW])
@pytest.mark.shared_bits("tests/api/test_cylinders.py")
def test_all_contacts_are_those_of_the_reference(backend, kind):
    """Worst seen: times 3.3e-13 of a step; the reference takes directions a millionth of it earlier."""
    bodies, pairs, _, _ = passes(kind, 4, 3, "body", "random")
    one = gc.collide(bodies, pairs, motion="body", backend=backend.kind)
    two = gc.collide(bodies, pairs, motion="body", backend="reference")
    for name in ("status", "contact_start", "kind", "feature_a", "feature_b", "sustained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("position", "local_a", "local_b"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-7)
    for name in ("normal", "properness", "normal_speed"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-4)
    np.testing.assert_allclose(one.time, two.time, atol=1e-12)


def prism(half, radii, sides, outside):
    """The mesh inside a frustum, or around it."""
    angle = 2 * np.pi * (np.arange(sides) + 0.37) / sides
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    ring /= np.cos(np.pi / sides) if outside else 1.0
    ends = [
        r * ring + [0, 0, z] if r else np.array([[0, 0, z]])
        for r, z in zip(radii, (-half, half), strict=True)
    ]
    return gc.shapes.convex_hull(np.concatenate(ends))


def test_divided_meshes_come_to_it_from_both_sides(backend):
    """Prisms of 64 sides inside and around meet a box later and earlier, by what they are off."""
    if backend.kind != "cpu":
        pytest.skip("one backend has the bits of all")
    bodies, pairs, judge, _ = passes("box", 40, 31, "relative", "random", variants=3, swap=False)
    found = gc.collide(bodies, pairs, contacts="first", backend=backend.kind)
    shapes = [(m.vertices[1, 2], m.ends) if m.ends else None for m in bodies.meshes]
    times = []
    for outside in (True, False):
        meshes = [
            m if s is None else prism(*s, 64, outside) for m, s in zip(bodies.meshes, shapes, strict=True)
        ]
        times.append(
            gc.collide(
                gc.Bodies(meshes, bodies.shape, bodies.start, bodies.end),
                pairs,
                contacts="first",
                backend=backend.kind,
            )
        )
    hit = (found.status == gc.Status.HIT) & (times[0].status == gc.Status.HIT)
    assert hit.sum() > 10
    assert (times[0].toi[hit] <= found.toi[hit] + 1e-12).all() and (
        found.toi[hit] <= times[1].toi[hit] + 1e-12
    ).all()
    assert np.median(found.toi[hit] - times[0].toi[hit]) < 1e-3


def two(a, b, start, end, **options):
    """Contacts of a body a at rest at the origin and b from pose to pose, ((3,), (4,)) each."""
    q = [[ONE, start[1]], [ONE, end[1]]]
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], p[0]], x) for p, x in zip((start, end), q, strict=True)]
    return gc.collide(gc.Bodies([a, b], [0, 1], *poses), [[0, 1]], contacts="first", **options)


def kinds(found):
    return {(gc.Kind(int(k)).name, int(a), int(b)) for k, a, b in
            zip(found.kind, found.feature_a, found.feature_b, strict=True)}  # fmt: skip


def test_flat_ends(backend):
    can, table = gc.shapes.cylinder(0.5, 1), gc.shapes.box(2)
    down = ([0, 0, 3], ONE), ([0, 0, 1], ONE)
    found = two(table, can, *down, backend=backend.kind)
    assert found.toi[0] == 0.75 and kinds(found) == {("FV", 1, 0)}
    np.testing.assert_allclose(found.normal, [[0, 0, 1]], atol=1e-15)
    # a small box below the disc: its corners touch at once
    found = two(gc.shapes.box(0.5), can, ([0, 0, 3], ONE), ([0, 0, 0], ONE), backend=backend.kind)
    assert found.toi[0] == 0.75 and {("VV", v, 0) for v in (4, 5, 6, 7)} <= kinds(found)
    found = two(can, can, ([0.25, 0, 3], ONE), ([0.25, 0, 0], ONE), backend=backend.kind)
    np.testing.assert_allclose(found.toi, 2 / 3, atol=1e-15)
    assert kinds(found) == {("VV", 1, 0)}
    # nearer at the start, at a distance, inside, and around
    assert two(table, can, ([0, 0, 1.4], ONE), ([0, 0, 1], ONE), backend=backend.kind).status[0] == 2
    near = two(table, can, *down, target_distance=0.25, backend=backend.kind)
    np.testing.assert_allclose(near.toi, 0.625, atol=1e-15)
    for inner, outer in ((gc.shapes.cylinder(0.1, 0.1), table), (gc.shapes.box(0.1), can)):
        at = [0.2, 0.1, 0.1]
        assert two(outer, inner, (at, ONE), (at, ONE), backend=backend.kind).status[0] == 2


def test_a_vertex_that_meets_a_rim_in_whole_numbers(backend):
    """It is parted by some of the directions out of the rim, not by the middle one: it was missed."""
    points = [[-1, -2, 0], [-1, -2, 1], [-1, 2, -1], [0, -2, 0], [0, -2, 1], [0, 0, -1], [0, 0, 1],
              [0, 2, 0], [1, 0, -1], [1, 0, 1], [1, 2, 0]]  # fmt: skip
    hull, cone = (
        gc.shapes.convex_hull(np.array(points) / 2),
        gc.Mesh([[0, 0, -1], [0, 0, 1]], [], ends=[1, 0]),
    )
    lies = [0.5**0.5, 0, 0.5**0.5, 0]
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [1, 3, 0.0]], [ONE, lies])
    end = gc.Poses.from_quat_wxyz([[2, 0, 1], [3, -3, 2.0]], [ONE, lies])
    for motion in ("relative", "body"):
        found = gc.collide(
            gc.Bodies([hull, cone], [0, 1], start, end), [[0, 1]], motion=motion, contacts="first",
            backend=backend.kind,
        )  # fmt: skip
        np.testing.assert_allclose(found.toi, 0.169065874417891, atol=1e-13)


def test_an_edge_that_touches_a_side_all_along_and_tips_in(backend):
    """Where it is deepest the slope of the gap along it jumps; that was not searched to its digits."""
    can = gc.Mesh([[0, 0, -0.5], [0, 0, 0.5]], [], ends=[0.25, 0.25])
    bar = gc.Mesh([[-1, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 1, 2]], two_sided=True)
    lies = [0.5**0.5, 0, 0.5**0.5, 0]  # its axis along x
    tips = gc.Bodies.from_velocities(
        [can, bar],
        [0, 1],
        gc.Poses.from_quat_wxyz([[0.3, -0.25, 0], [0, 0, 0.0]], [lies, ONE]),
        linear_velocity=[[0, 0, 0], [0, 0, 0]],
        angular_velocity=[[0, 0, 0.5], [0, 0, 0]],
    )
    found = gc.collide(tips, [[0, 1]], motion="body", contacts="first", backend=backend.kind)
    assert found.status[0] == gc.Status.HIT and found.toi[0] < 1e-9


@pytest.mark.parametrize(
    "shape", [gc.shapes.cylinder(0.5, 1.0), gc.shapes.cone(0.5, 1.0)], ids=["cylinder", "cone"]
)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_one_whose_ends_lie_in_faces_around_it_is_inside(shape, motion, backend):
    """It was told as MISS: the middle of its end is in a face, neither inside nor outside."""
    box, way = gc.shapes.box((2, 2, 1)), [[0, 0, 0], [0.25, 0, 0], [3, 0, 0]]
    for start, inside in ((0.0, True), (1.0, False)):  # in it, on it
        at = gc.Poses.from_quat_wxyz([[0, 0, 0]] + [[0, 0, start]] * 3, [ONE] * 4)
        end = gc.Poses.from_quat_wxyz([[0, 0, 0], *np.add([0, 0, start], way)], [ONE] * 4)
        bodies = gc.Bodies([box, shape], [0, 1, 1, 1], at, end)
        for pairs in ([[0, 1], [0, 2], [0, 3]], [[1, 0], [2, 0], [3, 0]]):
            found = gc.collide(bodies, pairs, motion=motion, backend=backend.name, contacts="first")
            assert ((found.status == gc.Status.INITIAL_OVERLAP) == inside).all()


def test_a_can_that_slides_and_a_wheel_that_rolls(backend):
    """In contact for the whole step, told once; a wheel that spins in place moves nothing."""
    can, table = gc.shapes.cylinder(0.5, 1), gc.shapes.box((8, 8, 1))
    found = two(table, can, ([0, 0, 1], ONE), ([1, 0, 1], ONE), backend=backend.kind)
    assert (
        found.status[0] == 1 and found.toi[0] == 0 and found.sustained.all() and (found.time_end == 1).all()
    )
    lies = [0.5**0.5, 0.5**0.5, 0, 0]  # its axis along y
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-1, 0, 1.0]], [ONE, lies])
    rolls = gc.Bodies.from_velocities(
        [table, can],
        [0, 1],
        start,
        linear_velocity=[[0, 0, 0], [1.5, 0, 0]],
        angular_velocity=[[0, 0, 0], [0, 3, 0]],
    )
    found = gc.collide(rolls, [[0, 1]], motion="body", contacts="first", backend=backend.kind)
    assert found.status[0] == 1 and found.toi[0] == 0 and len(found) == 2
    assert (
        found.sustained.all() and (found.time_end == 1).all() and kinds(found) == {("FV", 1, 0), ("FV", 1, 1)}
    )
    # above the floor nothing comes nearer, however fast it spins
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-1, 0, 1.0 + 1e-6]], [ONE, lies])
    spins = gc.Bodies.from_velocities(
        [table, can],
        [0, 1],
        start,
        linear_velocity=np.zeros((2, 3)),
        angular_velocity=[[0, 0, 0], [0, 60, 0]],
    )
    found = gc.collide(spins, [[0, 1]], motion="body", contacts="first", backend=backend.kind)
    assert found.status[0] == gc.Status.MISS


def test_scenes_and_recordings_take_them(backend):
    wheel, table = gc.shapes.cylinder(0.5, 0.2), gc.shapes.box((8, 8, 1))
    n = 5
    position = np.zeros((n, 2, 3))
    position[:, 1, 2] = np.linspace(3, 0.5, n)
    poses = [gc.Poses.from_quat_wxyz(p, [ONE, ONE]) for p in position]
    found = gc.Scene([table, wheel], [0, 1], *poses[3:], backend=backend.kind).collide(contacts="first")
    assert found.status.tolist() == [1] and kinds(found) == {("FV", 1, 0)}
    found = gc.collide_trajectories(
        [table, wheel],
        [0, 1],
        gc.Poses.from_quat_wxyz(position, np.broadcast_to(ONE, (n, 2, 4))),
        np.arange(n),
        contacts="first",
        backend=backend.kind,
    )
    np.testing.assert_allclose(found.time, [2.4 / 0.625], atol=1e-14)


def recorded(can):
    """Two that come to touch in the first step and part in the second."""
    position = np.array([[[0.0, 0, 0], [0, 0, z]] for z in (3.0, 0.5, 3.0)])
    arrays = dict(time=np.arange(3.0), position=position, quat_wxyz=np.broadcast_to(ONE, (3, 2, 4)))
    return gc.Recording.from_arrays(arrays, meshes=[can, gc.shapes.sphere(0.5)], shape=[0, 1])


def test_files_and_pictures_of_recordings(tmp_path):
    """Kinds of vertices beside edges and vertices are read again, and pictures ask for first contacts."""
    plt = pytest.importorskip("matplotlib.pyplot")
    recording = recorded(gc.shapes.cylinder())
    found = recording.collide(contacts="first")
    assert len(found.kind) and (found.kind > gc.Kind.EE).all()
    found.save(tmp_path / "found.npz")
    again = gc.TrajectoryContacts.load(tmp_path / "found.npz")
    np.testing.assert_array_equal(again.kind, found.kind)
    assert gc.view.plot_contacts(recording, found[0]).axes
    assert gc.view.plot_contacts(recording.bodies(0), [0, 1]).axes
    plt.close("all")


@pytest.mark.parametrize("pair", [[0, 1], [1, 0]])
def test_what_begins_nearer_tells_when_it_comes_back(pair, backend):
    """A box whose edge begins within the distance, leaves and comes back, in either order of the bodies."""
    start = [[-0.175, 0.44, -0.201], [-0.473, 1.103, -0.076]]
    end = [[0.519, -0.563, -0.033], [-0.564, 1.23, -0.402]]
    turns = np.array(
        [
            [[-0.863, -0.229, 0.049, -0.448], [-0.597, 0.553, -0.545, 0.202]],
            [[0.807, 0.429, -0.134, 0.384], [0.186, 0.11, 0.965, -0.145]],
        ]
    )
    turns /= np.linalg.norm(turns, axis=2)[..., None]
    poses = [gc.Poses.from_quat_wxyz(p, q) for p, q in zip((start, end), turns, strict=True)]
    bodies = gc.Bodies([gc.shapes.cylinder(0.4, 0.9), gc.shapes.box(0.5)], [0, 1], *poses)
    found = gc.collide(
        bodies, [pair], contacts="first", motion="body", target_distance=0.07, backend=backend.kind
    )
    assert found.status[0] == gc.Status.INITIAL_OVERLAP
    np.testing.assert_allclose(found.time, [0.13936238], atol=1e-8)
    assert found.kind.tolist() == [gc.Kind.EE]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, b: gc.collide(b, contacts="first", precision="single"), "precision"),
        (lambda c, b: gc.clearance(b, [[0, 1]]), "bodies: expected pairs without cylinders and cones"),
        (lambda c, b: gc.collide(b, contacts="first", refine="pixels"), "with cylinders and cones"),
        (lambda c, b: gc.sweep.rays([[0, 0, 4]], [0, 0, -9], b), "which this query does not take"),
        (lambda c, b: gc.events(recorded(c)), "recording: expected no cylinders or cones"),
        (lambda c, b: recorded(c).encounters(), "or cones, which encounters does not take"),
        (lambda c, b: gc.shapes.cone(top=-1.0), "top: expected a length from 0 up"),
        (
            lambda c, b: gc.collide(
                b.moved(*[gc.Poses.identity(2)] * 2), [[0, 1]], contacts="first", exit=True
            ),
            "which exit=True does not take",
        ),
        (lambda c, b: c.rounded(0.1), "radius: expected a mesh that is no cylinder or cone"),
        (lambda c, b: gc.Mesh([[0, 0, 0], [0, 0, 1]], [], ends=(0, 0)), "ends: expected two radii from 0 up"),
        (lambda c, b: gc.Mesh([[0, 0, 0]], [], ends=(1, 0)), "ends: expected two vertices"),
        (lambda c, b: c.to_polyhedron(1e-12), "tolerance: expected one that takes"),
    ],
)
def test_what_is_refused_says_so(call, message):
    can = gc.shapes.cylinder()
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0, 0]], [ONE, ONE])
    with pytest.raises(ValueError, match=message):
        call(can, gc.Bodies(can, None, poses, poses))


@pytest.mark.parametrize(
    "mesh", [gc.shapes.cylinder(0.5, 2), gc.shapes.cone(1, 0.5), gc.shapes.cone(1, 1, top=0.25)]
)
def test_shapes(mesh):
    again = pickle.loads(pickle.dumps(mesh))
    assert again.ends == mesh.ends and again.digest == mesh.digest != gc.shapes.capsule(0.5, 2).digest
    twice = mesh.scaled(2, up="x")
    assert twice.ends == tuple(2 * r for r in mesh.ends) and twice.radius == pytest.approx(2 * mesh.radius)
    around = mesh.to_polyhedron(0.01)
    f = Frustum(mesh.vertices[1:, 2], np.array([mesh.ends]))
    off = point_frustum(around.vertices[None], f)[0]
    assert around.closed and off.min() > -1e-12 and off.max() <= 0.01 + 1e-12
    assert (
        around.volume
        >= np.pi * 2 * f.half[0] * (mesh.ends[0] ** 2 + mesh.ends[0] * mesh.ends[1] + mesh.ends[1] ** 2) / 3
    )
