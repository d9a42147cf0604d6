"""Contact at a distance: against bisection on the distance, against the reference, and what is promised."""

from functools import cache

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.gaps import Passage
from tests.support.seeds import generator

UNIT = (1.0, 0.0, 0.0, 0.0)
FIELDS = (
    "status", "toi", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b", "normal_speed", "sustained", "time_end",
)  # fmt: skip


def l_block():
    return gc.shapes.l_block()


def sheet():
    corners = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]
    return gc.Mesh(corners, [[0, 1, 2], [0, 2, 3]], two_sided=True)


def needle():
    return gc.shapes.box((1.0, 0.02, 0.02))


SHAPES = {"cube": gc.shapes.box, "block": l_block, "needle": needle, "sheet": sheet}


def product(p, q):
    (a, x), (b, y) = (p[0], p[1:]), (q[0], q[1:])
    return np.r_[a * b - x @ y, a * y + b * x + np.cross(x, y)]


def matrix(q):
    w, (x, y, z) = q[0], q[1:]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turned(axis, angle):
    return np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]


@cache
def passes(shape, distance, seed, n):
    """Bodies that go past still ones of their shape; and where they are at a time, with their speeds."""
    rng = generator(seed, n)
    mesh, starts, ends, judges = SHAPES[shape](), [], [], []

    def unit():
        x = rng.normal(size=3)
        return x / np.linalg.norm(x)

    for i in range(n):
        angle, axis, first = rng.choice([0.0, 0.35, 0.8]), unit(), rng.normal(size=4)
        first /= np.linalg.norm(first)
        if i % 3 == 0:  # edges and faces parallel, at all times
            axis, first = np.array([0.0, 0.0, 1.0]), np.array(UNIT)
        way = unit()
        aside = np.cross(way, unit())
        middle = aside / np.linalg.norm(aside) * rng.uniform(0, 1.2 + 1.1 * distance)
        c0, c1 = (middle + side * rng.uniform(1, 3) * way for side in (-1, 1))
        starts += [((0, 0, 0), UNIT), (c0, first)]
        ends += [((0, 0, 0), UNIT), (c1, product(turned(axis, angle), first))]
        judges.append(judge(mesh, axis, angle, first, c0, c1))
    start, end = (
        gc.Poses.from_quat_wxyz(*(np.array(x) for x in zip(*p, strict=True))) for p in (starts, ends)
    )
    return gc.Bodies(mesh, None, start, end), np.arange(2 * n).reshape(-1, 2), judges


def judge(mesh, axis, angle, first, c0, c1):
    turn = matrix(turned(axis, angle))
    way = c1 - turn @ c0
    if angle:
        along, point = way @ axis, way / 2 + np.cross(axis, way) / (2 * np.tan(angle / 2))

        def places(t):
            r = matrix(turned(axis, angle * t))
            return r @ matrix(first), point + r @ (c0 - point) + t * along * axis

        far = np.linalg.norm(np.cross(axis, c0 - point)) + mesh.radius
        return Passage(mesh, mesh, places, np.hypot(angle * far, along))
    return Passage(mesh, mesh, lambda t: (matrix(first), c0 + t * (c1 - c0)), np.linalg.norm(c1 - c0))


def same(one, two):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.parametrize(
    ("shape", "distance"), [("cube", 1.0), ("cube", 1e-6), ("block", 0.25), ("needle", 0.4), ("sheet", 0.1)]
)
@pytest.mark.shared_bits("tests/api/test_target_distance.py")
def test_first_time_nearer(backend, shape, distance):
    """Worst seen of 700 pairs, by bisection on the distance at dense times: 3.4e-15 in time."""
    bodies, pairs, judges = passes(shape, distance, 5, 6)
    found = gc.collide(bodies, pairs, target_distance=distance, backend=backend.kind)
    for i, passage in enumerate(judges):
        want = passage.nearer_from(distance, 1e-5)
        if want == 0.0:
            assert found.status[i] == gc.Status.INITIAL_OVERLAP
            continue
        assert found.status[i] == (gc.Status.HIT if np.isfinite(want) else gc.Status.MISS)
        if np.isfinite(want):
            assert abs(found.toi[i] - want) < 1e-13
            assert abs(passage.at(found.toi[i]) - distance) < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("distance", [1.0, 0.1, 1e-3, 1e-9])
def test_first_time_nearer_of_many(backend, shape, distance):
    bodies, pairs, judges = passes(shape, distance, 6, 100)
    found = gc.collide(bodies, pairs, target_distance=distance, backend=backend.kind, check_start=False)
    for i, passage in enumerate(judges):
        want = passage.nearer_from(distance, 1e-5)
        if want:
            assert found.toi[i] == want or abs(found.toi[i] - want) < 1e-13


@pytest.mark.shared_bits("tests/api/test_target_distance.py")
def test_all_contacts_are_those_of_the_reference(backend):
    agrees(backend, "sheet", "relative", 2)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_all_contacts_of_many_are_those_of_the_reference(backend, shape, motion):
    agrees(backend, shape, motion, 12)


def agrees(backend, shape, motion, n):
    """Worst seen of 160 pairs: below 1e-9 in every field, and the same features."""
    bodies, pairs, _ = passes(shape, 0.3, 8, n)
    if motion == "body":  # both turn
        q = np.array([product(turned(np.eye(3)[i % 3], 0.3), q) for i, q in enumerate(bodies.end.unit_wxyz)])
        bodies = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, gc.Poses.from_quat_wxyz(
            bodies.end.position, q))  # fmt: skip
    given = {"target_distance": 0.3, "motion": motion}
    one = gc.collide(bodies, pairs, backend=backend.kind, **given)
    two = gc.collide(bodies, pairs, backend="reference", **given)
    for name in ("status", "contact_start", "sustained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    order = [np.lexsort((x.feature_b, x.feature_a, x.kind, x.time.round(8), x.pair)) for x in (one, two)]
    for name in ("kind", "feature_a", "feature_b"):
        np.testing.assert_array_equal(getattr(one, name)[order[0]], getattr(two, name)[order[1]])
    for name in ("time", "position", "normal", "properness", "local_a", "local_b", "normal_speed"):
        np.testing.assert_allclose(getattr(one, name)[order[0]], getattr(two, name)[order[1]], atol=1e-9)


@pytest.mark.backends("cpu", "opencl")
def test_backends_have_the_same_bits(backend):
    bodies, pairs, _ = passes("block", 0.25, 5, 6)
    for motion in ("relative", "body"):
        given = {"target_distance": 0.25, "motion": motion}
        same(
            gc.collide(bodies, pairs, backend=backend.kind, **given),
            gc.collide(bodies, pairs, backend="cpu", **given),
        )


def test_at_no_distance_it_is_contact(backend):
    bodies, pairs, _ = passes("cube", 0.3, 5, 6)
    for motion in ("relative", "body"):
        touch = gc.collide(bodies, pairs, backend=backend.kind, motion=motion)
        same(touch, gc.collide(bodies, pairs, backend=backend.kind, motion=motion, target_distance=0))
    # what is below the touch tolerance is none either
    same(touch, gc.collide(bodies, pairs, backend=backend.kind, motion=motion, target_distance=1e-13))


def test_how_it_is_found_changes_no_bit(backend):
    bodies, pairs, _ = passes("block", 0.25, 5, 6)
    given = {"target_distance": 0.25, "backend": backend.kind}
    found = gc.collide(bodies, pairs, **given)
    if backend.kind == "cpu":  # kernels that others would build for this alone
        same(found, gc.collide(bodies, pairs, precision="double", **given))
    for tuning in (gc.Tuning(features="near"), gc.Tuning(filters=["plane"]), gc.Tuning(filters="none")):
        same(found, gc.collide(bodies, pairs, tuning=tuning, **given))
    first = gc.collide(bodies, pairs, contacts="first", **given)
    np.testing.assert_array_equal(first.toi, found.toi)
    assert len(first) == np.sum(found.time == found.toi[found.pair])


def test_swapped_bodies_mirror_it(backend):
    bodies, pairs, _ = passes("cube", 1.0, 5, 12)
    one = gc.collide(bodies, pairs, target_distance=1.0, backend=backend.kind)
    two = gc.collide(bodies, pairs[:, ::-1], target_distance=1.0, backend=backend.kind)
    np.testing.assert_array_equal(one.status, two.status)
    there = np.isfinite(one.toi)
    np.testing.assert_allclose(one.toi[there], two.toi[there], atol=1e-14)  # seen: 5e-15
    mirrored = np.array([1, 0, 2, 4, 3, 5])[two.kind]
    np.testing.assert_array_equal(np.bincount(one.kind, minlength=6), np.bincount(mirrored, minlength=6))


def test_the_broad_phase_looks_so_far(backend):
    rng = np.random.default_rng(2)
    n = 24
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    place = rng.uniform(-3, 3, (n, 3))
    start = gc.Poses.from_quat_wxyz(place, q)
    end = gc.Poses.from_quat_wxyz(place + rng.normal(size=(n, 3)), q)
    bodies = gc.Bodies(gc.shapes.box((0.5, 0.4, 0.3)), None, start, end)
    every = np.stack(np.triu_indices(n, 1), axis=1)
    for motion in ("relative", "body"):
        given = {"target_distance": 0.7, "motion": motion, "backend": backend.kind}
        all_pairs, found = gc.collide(bodies, every, **given), gc.collide(bodies, **given)
        some = all_pairs.status > 0
        assert some.sum() > 8
        np.testing.assert_array_equal(all_pairs.pairs[some], found.pairs[found.status > 0])
        np.testing.assert_array_equal(all_pairs.toi[some], found.toi[found.status > 0])


def pair(start, end, q0=UNIT, q1=UNIT):
    both = [gc.Poses.from_quat_wxyz([[0, 0, 0], x], [UNIT, q]) for x, q in ((start, q0), (end, q1))]
    return gc.Bodies(gc.shapes.box(), None, *both)


@pytest.mark.parametrize(
    ("start", "end", "distance", "toi", "kinds"),
    [
        # a corner straight at a corner, along the diagonal: 2 sqrt(3) away from 0.5
        ((3, 3, 3), (0, 0, 0), 0.5, 1 - (1 + 0.5 / 3**0.5) / 3, {"VV"}),
        # parallel edges that come within 0.5 of each other, 0.3 and 0.4 apart: the ends of both tell
        ((-3, 1.3, 0.25), (0, 1.3, 0.25), 0.5, 1.6 / 3, {"EV", "VE"}),
        ((-3, 0, 0), (0, 0, 0), 0.5, 0.5, {"FV"}),
        ((-3, 0.1, 0.2), (0, 0.1, 0.2), 0.25, 7 / 12, {"FV", "VF", "EE"}),
        # at the distance, and coming nearer; resting there; sliding there
        ((1.25, 0.1, 0.2), (1.1, 0.1, 0.2), 0.25, 0.0, {"FV", "VF", "EE"}),
        ((0.3, 0.2, 1.25), (0.3, 0.2, 1.25), 0.25, 0.0, {"FV", "VF", "EE"}),
        ((-0.3, 0.2, 1.25), (0.5, 0.2, 1.25), 0.25, 0.0, {"FV", "VF", "EE"}),
        # a distance of ten sizes
        ((30, 0.3, 0.2), (5, 0.3, 0.2), 10.0, 19 / 25, {"FV", "VF", "EE"}),
    ],
)
def test_whole_numbers(backend, start, end, distance, toi, kinds):
    found = gc.collide(pair(start, end), [[0, 1]], target_distance=distance, backend=backend.kind)
    assert found.status[0] == gc.Status.HIT
    assert found.toi[0] == pytest.approx(toi, abs=2e-15)
    assert {gc.Kind(k).name for k in found.kind[found.time == found.toi[0]]} <= kinds
    gaps = np.linalg.norm(found.position + distance * found.normal - found.position, axis=1)
    np.testing.assert_allclose(gaps, distance)


def test_what_stays_at_the_distance_lasts(backend):
    found = gc.collide(
        pair((0.3, 0.2, 1.25), (0.3, 0.2, 1.25)), [[0, 1]], target_distance=0.25, backend=backend.kind
    )
    assert found.sustained.all() and (found.time_end == 1.0).all() and len(found) == 4


def test_nearer_at_the_start(backend):
    bodies = pair((1.2, 0.1, 0.2), (3, 0.1, 0.2))
    for check, status in ((True, gc.Status.INITIAL_OVERLAP), (False, gc.Status.MISS)):
        found = gc.collide(bodies, [[0, 1]], target_distance=0.25, check_start=check, backend=backend.kind)
        assert found.status[0] == status and len(found) == 0
    leaving = gc.collide(pair((1.25, 0, 0), (3, 0, 0)), [[0, 1]], target_distance=0.25, backend=backend.kind)
    assert leaving.status[0] == gc.Status.MISS


def test_edges_that_are_parallel_for_a_moment(backend):
    """The walk over a gap of edges that are parallel in its middle once took more than its cap of visits; and
    where they slide at the distance it is 0 until then, and not behind."""
    turn = np.array([np.cos(0.2), 0, 0, np.sin(0.2)])
    back = turn * [1, 1, 1, -1]
    bodies = pair((-2, 0.3, 1.59), (2, 0.3, 1.59), back, turn)
    for distance in (0.6, 0.59, 0.58):
        found = gc.collide(bodies, [[0, 1]], target_distance=distance, backend=backend.kind)
        assert found.status[0] in (gc.Status.HIT, gc.Status.MISS)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"target_distance": -1}, ValueError, "target_distance: expected a length from 0 up, got -1"),
        ({"target_distance": np.inf}, ValueError, "target_distance: expected a length from 0 up, got inf"),
        ({"target_distance": "far"}, TypeError, "target_distance: expected a length from 0 up, got str"),
        ({"target_distance": 1, "refine": "pixels"}, ValueError, "refine: expected 'exact' with target_dist"),
        (
            {"target_distance": 1, "precision": "single"},
            ValueError,
            "precision: expected 'mixed' or 'double'",
        ),
        (
            {"target_distance": 1, "tuning": gc.Tuning(candidates="raster")},
            ValueError,
            "candidates: expected",
        ),
    ],
)
def test_what_is_refused(given, error, text):
    with pytest.raises(error, match=text):
        gc.collide(pair((3, 0, 0), (0, 0, 0)), [[0, 1]], **given)
