"""Meshes with a rounding radius: against closed forms, against the reference, and what is promised."""

import pickle
import re

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.view.pair import plot_pair, plot_screen
from tests.oracle.round_shapes import Passing, Round, Screw, distance, product
from tests.support.seeds import generator

ONE = [1.0, 0.0, 0.0, 0.0]
KINDS = [
    ("sphere", "sphere"), ("sphere", "capsule"), ("capsule", "capsule"), ("sphere", "box"), ("box", "sphere"),
    ("capsule", "box"), ("box", "capsule"),
]  # fmt: skip
FAMILIES = ("random", "whole", "concentric", "tiny", "huge", "speck", "rest")
SCALE = {"tiny": 1e-9, "huge": 1e9}
FIELDS = (
    "status", "toi", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b", "normal_speed", "sustained", "time_end",
)  # fmt: skip


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
    """Bodies two by two, and their judge. Whole numbers: parallel, many gaps exactly 0 at some time."""
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
    if motion == "body":
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
    judge = Passing(*sides, Screw.between(p[0], qa0, p[1], qa1), Screw.between(p[2], qb0, p[3], qb1))
    return bodies, np.arange(2 * n).reshape(-1, 2), judge, scale


def judged(found, judge, scale):
    """Status and first time by the judge; pairs within 1e-9 of touch are not judged. Worst seen: 5e-13 of
    the size in the gap at `toi` beside boxes, which is the judge's own error, else 1e-14."""
    toi, least, start = judge.first()
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


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_first_contacts_of_closed_form(backend, kinds, motion):
    if backend.kind == "reference":
        pytest.skip("it is judged by its kernels' contacts below")
    for family in ("random", "whole"):
        bodies, pairs, judge, scale = passes(kinds, 150, 11, motion, family)
        found = gc.collide(bodies, pairs, motion=motion, backend=backend.kind)
        assert judged(found, judge, scale).sum() > 20


@pytest.mark.slow
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_first_contacts_of_many(backend, kinds, motion, family):
    bodies, pairs, judge, scale = passes(kinds, 1000, 12, motion, family)
    judged(gc.collide(bodies, pairs, motion=motion, backend=backend.kind), judge, scale)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_points_lie_on_the_surfaces(backend, kinds):
    """Of all contacts: both points are one place, its body's radius off each core along the normal."""
    bodies, pairs, judge, _ = passes(kinds, 40, 13, "body", "random")
    if backend.kind == "reference":
        pairs = pairs[:10]
    found = gc.collide(bodies, pairs, motion="body", backend=backend.kind)
    assert len(found) > 5
    n = len(judge.a.radius)
    times = np.zeros((n, np.bincount(found.pair).max()))
    column = np.arange(len(found)) - found.contact_start[found.pair]
    times[found.pair, column] = found.time
    for side, (shape, motion, sign) in enumerate(
        ((judge.a, judge.motion_a, 1), (judge.b, judge.motion_b, -1))
    ):
        p, q = (x[found.pair, column] for x in motion.at(times))
        some = Round(shape.kind, shape.half[found.pair], shape.radius[found.pair])
        radius, still = some.radius, np.tile(ONE, (len(found), 1))
        point = Round("sphere", np.zeros(len(found)), np.zeros(len(found)))
        off = distance(point, some, found.position, still, p, q)
        np.testing.assert_allclose(off, radius, atol=1e-12)  # seen: 3e-13, of thirds beside boxes
        core = found.position - sign * radius[:, None] * found.normal
        # of what is nearest, and no point is nearer to the surface's point than the one across
        np.testing.assert_allclose(distance(point, some, core, still, p, q), 0.0, atol=1e-12)
        local = (found.local_a, found.local_b)[side]
        w, v = q[:, :1], q[:, 1:]
        t = 2 * np.cross(v, local)
        np.testing.assert_allclose(p + local + w * t + np.cross(v, t), found.position, atol=1e-13)


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/api/test_round_shapes.py")
def test_all_contacts_are_those_of_the_reference(backend, motion):
    """Worst seen: below 1e-12 in every field, and the same features."""
    meshes = [gc.shapes.sphere(0.3), gc.shapes.capsule(0.2, 0.7), gc.shapes.rounded_box((0.8, 0.6, 0.5), 0.1),
              gc.shapes.l_block().rounded(0.05), gc.shapes.box(0.7), sheet(0.1)]  # fmt: skip
    rng, n = generator(14, 1), 40
    shape = np.arange(n) % len(meshes)
    rng.shuffle(shape)
    p = rng.uniform(-1, 1, (2, n, 3)) * 1.2
    bodies = gc.Bodies(meshes, shape, *(gc.Poses.from_quat_wxyz(x, unit(rng, n, 4)) for x in p))
    if motion == "relative":
        bodies = bodies.moved(bodies.start, gc.Poses.from_quat_wxyz(p[1], bodies.start.quat_wxyz))
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))[:24]]
    given = dict(motion=motion, target_distance=np.resize([0.0, 0.1], len(pairs)))
    one = gc.collide(bodies, pairs, backend=backend.kind, **given)
    two = gc.collide(bodies, pairs, backend="reference", **given)
    assert len(one) > 8
    for name in ("status", "contact_start", "sustained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    order = [np.lexsort((x.feature_b, x.feature_a, x.kind, x.time.round(8), x.pair)) for x in (one, two)]
    for name in ("kind", "feature_a", "feature_b"):
        np.testing.assert_array_equal(getattr(one, name)[order[0]], getattr(two, name)[order[1]])
    for name in ("time", "position", "normal", "properness", "local_a", "local_b", "normal_speed"):
        np.testing.assert_allclose(getattr(one, name)[order[0]], getattr(two, name)[order[1]], atol=1e-9)


def sheet(radius):
    corners = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]
    return gc.Mesh(corners, [[0, 1, 2, 3]], two_sided=True, rounding=radius)


def two(a, b, start, end, q0=ONE, q1=ONE):
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], x], [ONE, q]) for x, q in ((start, q0), (end, q1))]
    return gc.Bodies([a, b], [0, 1], *poses)


ALL_KINDS = {kind.name for kind in gc.Kind}
SPHERE, CAPSULE, BOX = gc.shapes.sphere(0.5), gc.shapes.capsule(0.5, 2.0), gc.shapes.rounded_box(2.0, 0.5)


@pytest.mark.parametrize(
    ("a", "b", "start", "end", "toi", "kinds", "place"),
    [
        (SPHERE, SPHERE, (3, 0, 0), (0, 0, 0), 2 / 3, {"VV"}, (0.5, 0, 0)),
        (SPHERE, SPHERE, (0, 3, 4), (0, 0, 0), 0.8, {"VV"}, (0, 0.3, 0.4)),
        (SPHERE, BOX, (3, 0, 0), (0, 0, 0), 0.5, {"VF"}, (0.5, 0, 0)),
        (BOX, SPHERE, (0, 0, 3), (0, 0, 0), 0.5, {"FV"}, (0, 0, 1.0)),
        (CAPSULE, SPHERE, (3, 0, 0.5), (0, 0, 0.5), 2 / 3, {"EV"}, (0.5, 0, 0.5)),
        (CAPSULE, SPHERE, (0, 0, 4), (0, 0, 0), 0.5, {"VV"}, (0, 0, 1.5)),
        # crossed, the sides' edges; parallel, the ends beside edges
        (CAPSULE, CAPSULE, (3, 0, 0.5), (0, 0, 0.5), 2 / 3, {"EV", "VE"}, None),
        (sheet(0.5), SPHERE, (0, 0, 3), (0, 0, 0), 2 / 3, {"FV"}, (0, 0, 0.5)),
        (sheet(0.5), SPHERE, (0, 0, -3), (0, 0, 0), 2 / 3, {"FV"}, (0, 0, -0.5)),
        (gc.shapes.box(), sheet(0.5), (0, 0, 3), (0, 0, 0), 2 / 3, ALL_KINDS, None),
        # in touch from the start, coming nearer, and sliding
        (SPHERE, SPHERE, (1, 0, 0), (0.5, 0, 0), 0.0, {"VV"}, (0.5, 0, 0)),
        (BOX, SPHERE, (-0.3, 0, 1.5), (0.3, 0, 1.5), 0.0, {"FV"}, (-0.3, 0, 1.0)),
    ],
)  # fmt: skip
def test_whole_numbers(backend, a, b, start, end, toi, kinds, place):
    for motion in ("relative", "body"):
        found = gc.collide(two(a, b, start, end), [[0, 1]], motion=motion, backend=backend.kind)
        assert found.status[0] == gc.Status.HIT
        assert found.toi[0] == pytest.approx(toi, abs=2e-15)
        assert {gc.Kind(k).name for k in found.kind[found.time == found.toi[0]]} <= kinds
        if place is not None:
            np.testing.assert_allclose(found.position[0], place, atol=1e-15)


def test_a_graze(backend):
    """Exactly: it is a contact, where the gap is less than what is touch, which is long before and after."""
    found = gc.collide(two(SPHERE, SPHERE, (-3, 1, 0), (3, 1, 0)), [[0, 1]], backend=backend.kind)
    assert found.status[0] == gc.Status.HIT and found.toi[0] == pytest.approx(0.5, abs=1e-6)  # seen: 2.4e-7
    beside = gc.collide(two(SPHERE, SPHERE, (-3, 1 + 1e-9, 0), (3, 1, 0)), [[0, 1]], backend=backend.kind)
    assert beside.status[0] == gc.Status.MISS


def test_crossed_capsules(backend):
    """Edge against edge, and properness 1: nothing but a line is there."""
    q = [0.5**0.5, 0.5**0.5, 0, 0]
    found = gc.collide(two(CAPSULE, CAPSULE, (3, 0, 0), (0, 0, 0), q, q), [[0, 1]], backend=backend.kind)
    assert found.kind.tolist() == [gc.Kind.EE] and found.properness[0] == 1.0
    np.testing.assert_allclose(found.toi, 2 / 3, atol=1e-15)
    np.testing.assert_allclose(found.normal, [[1, 0, 0]], atol=1e-15)


def test_what_rolls_stays_in_touch(backend):
    """A ball on a slab, straight on and spinning: one contact for the whole step, told once."""
    slab, ball = gc.shapes.box((20, 20, 1)), gc.shapes.sphere(0.5)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-2, 0, 1.0]], [ONE] * 2)
    way, spin = [[0, 0, 0], [3.0, 0, 0]], [[0, 0, 0], [0, 6.0, 0]]
    bodies = gc.Bodies.from_velocities([slab, ball], [0, 1], start, way, spin)
    found = gc.collide(bodies, [[0, 1]], motion="body", backend=backend.kind)
    assert found.kind.tolist() == [gc.Kind.FV] and found.sustained.all() and found.status[0] == gc.Status.HIT
    assert found.time[0] == 0.0 and found.time_end[0] == 1.0
    np.testing.assert_allclose(found.normal_speed, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "inside", "touch"),
    [
        (SPHERE, SPHERE, (0.999, 0, 0), (1, 0, 0)),
        (SPHERE, SPHERE, (0, 0, 0), (0, 0.6, 0.8)),
        (SPHERE, gc.shapes.box(4.0), (0.1, 0.2, 0.3), (2.5, 0, 0)),
        (CAPSULE, gc.shapes.box(8.0), (0.1, 0.2, 0.3), (0, 0, 5.5)),
        (CAPSULE, sheet(0.25), (0.1, 0.2, 0.3), (0, 0, 1.75)),
        (CAPSULE, CAPSULE, (0, 0, 0), (0, 0, 3)),
        (BOX, BOX, (1.9, 0.2, 0.3), (2, 0.2, 0.3)),
    ],
)
def test_overlap_at_the_start(backend, a, b, inside, touch):
    """Deep inside, where cores cross, and by a little; at exact touch and parting there is none, and no
    contact."""
    for motion in ("relative", "body"):
        for way in (0.0, 1e-3):
            bodies = two(a, b, inside, np.array(inside) + [0, way, 0])
            for pair in ([0, 1], [1, 0]):
                found = gc.collide(bodies, [pair], motion=motion, backend=backend.kind)
                assert found.status[0] == gc.Status.INITIAL_OVERLAP
        away = 3 * np.array(touch)
        found = gc.collide(two(a, b, touch, away), [[0, 1]], motion=motion, backend=backend.kind)
        assert found.status[0] == gc.Status.MISS and len(found) == 0
        back = gc.collide(two(a, b, away, touch), [[0, 1]], motion=motion, backend=backend.kind)
        assert back.status[0] == gc.Status.HIT and back.toi[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.backends("cpu", "opencl")
def test_backends_have_the_same_bits(backend):
    bodies, pairs, _, _ = passes(("capsule", "box"), 60, 15, "body", "random")
    for motion in ("relative", "body"):
        one = gc.collide(bodies, pairs, motion=motion, backend=backend.kind)
        other = gc.collide(bodies, pairs, motion=motion, backend="cpu")
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_the_radius_is_a_distance(backend):
    """Meshes of two radii have the contacts of those without at the sum as `target_distance`, with the points
    moved; and a distance adds to it."""
    rng, n = generator(16, 1), 30
    p, q = rng.uniform(-1.5, 1.5, (2, n, 3)), unit(rng, n, 4)
    poses = [gc.Poses.from_quat_wxyz(x, q) for x in p]
    plain = gc.Bodies(gc.shapes.l_block(), None, *poses)
    rounds = gc.Bodies(gc.shapes.l_block().rounded(0.125), None, *poses)
    pairs = np.arange(n).reshape(-1, 2)
    for extra in (0.0, 0.25):
        one = gc.collide(plain, pairs, target_distance=0.25 + extra, backend=backend.kind)
        two_ = gc.collide(rounds, pairs, target_distance=extra, backend=backend.kind)
        np.testing.assert_array_equal(one.status, two_.status)
        np.testing.assert_allclose(one.time, two_.time, atol=1e-12)  # the touch tolerance is of another size
        np.testing.assert_array_equal(one.feature_a, two_.feature_a)
        np.testing.assert_allclose(two_.position, one.position + 0.125 * one.normal, atol=1e-12)


def test_the_broad_phase_knows_the_radius(backend):
    rng, n = generator(17, 1), 40
    meshes = [gc.shapes.sphere(0.3), gc.shapes.capsule(0.2, 0.5), gc.shapes.rounded_box(0.5, 0.2)]
    poses = [gc.Poses.from_quat_wxyz(3 * rng.uniform(-1, 1, (n, 3)), unit(rng, n, 4)) for _ in range(2)]
    bodies = gc.Bodies(meshes, np.arange(n) % 3, *poses)
    every = np.stack(np.triu_indices(n, 1), axis=1)
    for motion in ("relative", "body"):
        if backend.kind == "reference":
            every = every[:0]
        given = dict(motion=motion, backend=backend.kind)
        found, whole = gc.collide(bodies, **given), gc.collide(bodies, every, **given)
        some = whole.status > 0
        if backend.kind != "reference":
            assert some.sum() > 10
            np.testing.assert_array_equal(whole.pairs[some], found.pairs[found.status > 0])
            np.testing.assert_array_equal(whole.toi[some], found.toi[found.status > 0])


def recorded(poses, meshes):
    time = np.arange(float(len(poses)))
    arrays = {"time": time, "position": poses.position, "quat_wxyz": poses.quat_wxyz}
    return gc.Recording.from_arrays(arrays, meshes=meshes, shape=[0, 1])


@pytest.mark.filterwarnings("ignore:all 1 pairs overlap")
def test_scenes_and_recordings(backend):
    """A ball falls on a slab: the same in a scene, whose calls are recorded, and in a recording."""
    slab, ball = gc.shapes.box((4, 4, 1)), gc.shapes.sphere(0.5)
    heights = [3.0, 2.0, 1.2, 0.9, 1.5]
    place = [[[0, 0, 0], [0.1, 0.2, z]] for z in heights]
    poses = gc.Poses.from_quat_wxyz(place, np.tile(ONE, (5, 2, 1)))
    told = gc.collide_trajectories([slab, ball], [0, 1], poses, np.arange(5.0), backend=backend.kind)
    assert told.pairs["step"].tolist() == [2, 3]
    assert told.pairs["status"].tolist() == [gc.Status.HIT, gc.Status.INITIAL_OVERLAP]
    assert told.pairs["toi"][0] == pytest.approx(2 + 2 / 3, abs=1e-12)
    recording = recorded(poses, [slab, ball])
    assert recording.collide(backend=backend.kind).position.tobytes() == told.position.tobytes()
    with gc.Scene([slab, ball], [0, 1], poses[0], poses[1], backend=backend.kind) as scene:
        for step in range(4):
            scene.update(poses[step], poses[step + 1])
            for pairs in (None, [[0, 1]]):
                one = gc.collide(scene.bodies, pairs, backend=backend.kind)
                for found in (scene.collide(pairs), scene.collide(pairs), scene.collide(pairs)):
                    np.testing.assert_array_equal(found.toi, one.toi)
                    np.testing.assert_array_equal(found.position, one.position)


def test_beside_a_large_mesh(backend):
    """Of 5,120 faces those that come near are found by trees, as of any two meshes."""
    if backend.kind == "reference":
        pytest.skip("too slow")
    ball, large = gc.shapes.sphere(0.25), gc.shapes.icosphere(4, 2.0)
    bodies = two(large, ball, (4, 0.1, 0.2), (1, 0.1, 0.2))
    for a, b in ((0, 1), (1, 0)):
        near = gc.collide(bodies, [[a, b]], backend=backend.kind)
        whole = gc.collide(bodies, [[a, b]], backend=backend.kind, tuning=gc.Tuning(features="all"))
        some = gc.collide(bodies, [[a, b]], backend=backend.kind, tuning=gc.Tuning(features="near"))
        for found in (near, some):
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)
        assert near.status[0] == gc.Status.HIT and abs(near.toi[0] - (4 - 2.25) / 3) < 0.01


def test_meshes_that_travel():
    for mesh in (SPHERE, CAPSULE, BOX, sheet(0.25)):
        again = pickle.loads(pickle.dumps(mesh))
        assert again.rounding == mesh.rounding and again.digest == mesh.digest and again.radius == mesh.radius
        other = mesh.scaled(2.0)
        assert other.rounding == 2 * mesh.rounding and other.radius == pytest.approx(2 * mesh.radius)
        assert mesh.flip().rounding == mesh.rounding
    assert gc.shapes.box(1.0).digest != gc.shapes.box(1.0).rounded(0.1).digest
    assert SPHERE.radius == 0.5 and CAPSULE.radius == 1.5 and repr(SPHERE) == "Mesh(sphere, rounding 0.5)"
    assert np.ptp(BOX.vertices, axis=0).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: gc.Mesh([[0, 0, 0]], [], rounding=-1), "rounding: expected a length from 0 up, got -1"),
        (lambda: gc.Mesh([[0, 0, 0]], [], rounding=1e30), "rounding: expected 0 or a length between 1e-18"),
        (lambda: gc.Mesh([[0, 0, 0]], []), "faces: expected at least one"),
        (
            lambda: gc.Mesh([[0, 0, 0]] * 2, [], rounding=1),
            "vertices: expected two different places, got one",
        ),
        (lambda: gc.Mesh(np.eye(3), [], rounding=1), "faces: expected at least one"),
        (lambda: gc.shapes.sphere(0), "radius: expected a positive number, got 0"),
        (lambda: gc.shapes.rounded_box(1.0, 0.5), "radius: expected less than half of the shortest length"),
    ],
)
def test_what_is_no_round_shape(make, text):
    with pytest.raises(ValueError, match="^" + re.escape(text)):
        make()


REFUSED = "expected meshes without a rounding radius, which"


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda b: gc.baselines.bisection(b, [[0, 1]]), "bodies"),
        (lambda b: gc.pluecker.translate(b, b, [[1, 0, 0]] * 2), "obstacles"),
        (lambda b: gc.sweep.slide(b.moved(b.start, b.start), [0, 0, 9], [1, 1, 1], [0, 0, -9]), "obstacles"),
        (lambda b: plot_screen(b, [0, 1]), "bodies"),
    ],
)  # fmt: skip
def test_queries_that_do_not_take_it_say_so(ask, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f"^{name}: {REFUSED}"):
        ask(two(SPHERE, BOX, (3, 0, 0), (0, 0, 0)))


def test_pages_and_pictures_show_them(tmp_path):
    bodies = two(SPHERE, BOX, (3, 0, 0), (0, 0, 0))
    gc.view.page(gc.collide(bodies, [[0, 1]]), bodies, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000
    assert plot_pair(bodies, [0, 1]).axes


@pytest.mark.parametrize(
    "mesh",
    [
        SPHERE, CAPSULE, BOX, gc.shapes.l_block().rounded(0.05),
        gc.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]], two_sided=True, rounding=0.05),
    ],
)  # fmt: skip
@pytest.mark.parametrize("share", [0.3, 0.02])
def test_a_polyhedron_is_around_it_within_its_tolerance(mesh, share):
    """By clearance: its vertices are off the rounded mesh by no more, and nothing of this is outside."""
    tolerance = share * mesh.rounding
    around = mesh.to_polyhedron(tolerance)
    assert around.closed and not around.rounding and around.volume > 0
    n = around.n_vertices
    here, there = gc.Poses.identity(1), gc.Poses(around.vertices, np.tile(ONE, (n, 1)))
    speck = 1e-9 * mesh.radius
    points = gc.Bodies(
        [mesh, gc.shapes.sphere(speck)], [0] + [1] * n, *[gc.Poses(
            np.concatenate([here.position, there.position]), np.concatenate([here.quat_wxyz, there.quat_wxyz])
        )] * 2
    )  # fmt: skip
    told = gc.clearance(points, np.column_stack([np.zeros(n, int), 1 + np.arange(n)]), at=0.0)
    assert told.distance.max() <= tolerance
    if around.n_faces < 2000 and mesh.n_faces < 7:  # convex: no face comes nearer than the surface
        flat = around.face_planes
        height = mesh.vertices @ flat[:, :3].T + (flat[:, 3] - (flat[:, :3] * around.center).sum(axis=1))
        assert (height.max(axis=0) <= -mesh.rounding).all()


def test_a_polyhedron_of_what_has_no_radius_or_no_tolerance():
    assert gc.shapes.box().to_polyhedron() is not None and SPHERE.to_polyhedron().n_faces == 320
    with pytest.raises(ValueError, match="^tolerance: expected at least 0.000285 of the rounding radius 0.5"):
        SPHERE.to_polyhedron(1e-5)


def test_options_that_do_not_go_with_it():
    bodies = two(SPHERE, BOX, (3, 0, 0), (0, 0, 0))
    for given, text in (
        ({"refine": "pixels"}, "refine: expected 'exact' with meshes that have a rounding radius"),
        ({"precision": "single"}, "precision: expected 'mixed' or 'double' with meshes that have"),
        ({"tuning": gc.Tuning(candidates="raster")}, "candidates: expected 'auto' or 'pairs' with meshes"),
    ):
        with pytest.raises(ValueError, match="^" + re.escape(text)):
            gc.collide(bodies, [[0, 1]], **given)


def test_a_result_file_keeps_it(tmp_path):
    bodies = two(SPHERE, BOX, (3, 0, 0), (0, 0, 0))
    found = gc.collide(bodies, [[0, 1]])
    gc.view.save_result(found, bodies, tmp_path / "round.npz")
    meshes = gc.view.load_result(tmp_path / "round.npz")[1].meshes
    assert [mesh.rounding for mesh in meshes] == [0.5, 0.5] and [mesh.n_vertices for mesh in meshes] == [1, 8]
