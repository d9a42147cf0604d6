"""First contacts beside a plane between two hulls: bit for bit the first of all."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.narrow_phase import plan, stages
from gpu_collide.scenes import fast_pass, random_impacts, spins, translations
from tests.broad_phase import _near
from tests.narrow_phase._first import THRESHOLDS, assert_first, same_bits, whole
from tests.support.seeds import generator

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Boxes, too, are looked at so."""
    monkeypatch.setattr(plan, "LIMITS", plan.LIMITS._replace(hulls_alone=0, hulls=0))


@pytest.fixture
def settled(monkeypatch):
    """Shares of the pairs that were settled, one for each look at pieces of pairs on the host."""
    shares, search = [], stages.between_hulls

    def counted(x, todo):
        left, found = search(x, todo)
        if x.reads:
            shares.append(1.0 - left.n / todo.n)
        return left, found

    monkeypatch.setattr(stages, "between_hulls", counted)
    return shares


def hull(n, seed, flat=1.0):
    points = generator(seed, n).normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return gc.shapes.convex_hull(points * [1.0, 1.0, flat])


#: By name, two shapes that run into each other: alike, flat, thin, tiny beside huge, dense, open, inside out.
SHAPES = {
    "hulls": lambda: (hull(40, 0), hull(100, 1)),
    "flat": lambda: (hull(40, 2, 1e-3), hull(40, 3, 0.05)),
    "tiny beside huge": lambda: (hull(30, 4).scaled(1e-4), hull(60, 5).scaled(50.0)),
    "boxes": lambda: (gc.shapes.box(), gc.shapes.box((3.0, 0.1, 0.02))),
    "dense": lambda: (_near.block(6), gc.shapes.icosphere(2)),
    "not convex": lambda: (gc.shapes.torus(), gc.shapes.l_block()),
    "open": lambda: (_near.terrain(5), hull(40, 6)),
    "sheet": lambda: (_near.terrain(5, two_sided=True), gc.shapes.box()),
    "inside out": lambda: (hull(40, 7).flip(), hull(40, 8)),
}


@pytest.mark.parametrize("shapes", SHAPES)
def test_first_of_all_of_shapes(shapes, backend):
    a, b = SHAPES[shapes]()
    for k, make in enumerate((random_impacts, translations, fast_pass, spins)):
        bodies, pairs = make(a, b, n=6, seed=k)
        assert_first(bodies, pairs, backend, min_properness=THRESHOLDS[k])
        assert_first(bodies, pairs, backend, min_properness=THRESHOLDS[1])


@pytest.mark.parametrize("kind", [*_near.MOTIONS])
def test_first_of_all_in_any_motion(kind, backend):
    for k, threshold in enumerate(THRESHOLDS):
        scene = _near.scene(kind, 4, 60 + k)
        assert_first(scene.bodies(), scene.pairs, backend, min_properness=threshold)


@pytest.mark.parametrize("make", [_near.slides, _near.wheels])
def test_first_of_all_that_slides_or_goes_round(make, backend):
    scene = make(5)
    for threshold in THRESHOLDS:
        assert_first(scene.bodies(), scene.pairs, backend, min_properness=threshold)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_first_of_all_in_whole_numbers(threshold, backend):
    assert assert_first(*whole(40, 3), backend, min_properness=threshold) > 0


@pytest.mark.parametrize("precision", ["double", "single"])
def test_first_of_all_in_other_precisions(precision, backend):
    assert assert_first(*whole(20, 14), backend, precision=precision)
    assert assert_first(*random_impacts(hull(60, 9), n=20, seed=1), backend, precision=precision)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_first_of_all_in_many_motions(threshold, precision, backend):
    asked = {"precision": precision, "min_properness": threshold}
    for seed in range(20, 26):
        for kind in _near.MOTIONS:
            scene = _near.scene(kind, 30, seed)
            assert_first(scene.bodies(), scene.pairs, backend, **asked)
        for make in (_near.slides, _near.wheels):
            scene = make(30, seed)
            assert_first(scene.bodies(), scene.pairs, backend, **asked)
        assert_first(*whole(100, seed), backend, **asked)
        for shapes in SHAPES.values():
            for make in (random_impacts, translations, fast_pass, spins):
                assert_first(*make(*shapes(), n=60, seed=seed), backend, **asked)


def test_convex_bodies_are_settled(backend, settled):
    """Nearly all, whether they hit or miss: without it nothing above would show anything."""
    bodies, pairs = random_impacts(hull(100, 10), n=60, seed=3)
    found = gc.collide(bodies, pairs, contacts="first", backend=backend.name)
    assert "screen_hulls" in found.info["timings"]
    assert 10 < len(found) < 60
    assert not settled or min(settled) > 0.9


def test_bodies_that_overlap_or_touch_at_the_start_are_left_to_the_screen(backend, settled):
    """... with the same status and contacts."""
    ball = hull(60, 11)
    at = np.array([[0.0, 0, 0], [0.2, 0.1, 0], [0, 0.3, 0.1], [0.1, 0.1, 0.1]])
    turn = np.tile([1.0, 0, 0, 0], (4, 1))
    bodies = gc.Bodies(
        [ball], np.zeros(4, np.int32), *(gc.Poses.from_quat_wxyz(p, turn) for p in (at, at * 2))
    )
    pairs = [[0, 1], [0, 2], [2, 3]]
    for check_start in (True, False):
        assert_first(bodies, pairs, backend, check_start=check_start)
    assert not settled or max(settled) == 0.0
    status = gc.collide(bodies, pairs, contacts="first", backend=backend.name, check_start=True).status
    assert (np.asarray(status) == gc.Status.INITIAL_OVERLAP).all()


def test_times_are_those_of_the_reference(backend):
    """Which knows nothing of planes."""
    for make in (random_impacts, translations):
        bodies, pairs = make(hull(20, 12), hull(16, 13), n=8, seed=5)
        mine = gc.collide(bodies, pairs, contacts="first", backend=backend.name).to_numpy()
        theirs = gc.collide(bodies, pairs, backend="reference")
        assert np.array_equal(mine.status, theirs.status)
        assert np.isfinite(mine.toi).any()
        assert np.allclose(mine.toi, theirs.toi, rtol=0.0, atol=1e-9)


def test_hulls_stay_apart_until_the_first_contact(backend):
    """By planes along faces and edges, of which some divides two hulls a moment before their first contact,
    and none a moment behind."""
    one, other = hull(30, 14), hull(24, 15)
    bodies, pairs = translations(one, other, n=12, seed=2)
    found = gc.collide(bodies, pairs, contacts="first", backend=backend.name, min_properness=-1.0).to_numpy()
    for (a, b), toi in zip(pairs, found.toi, strict=True):
        if not np.isfinite(toi):
            continue
        for time, apart in ((toi - 1e-6, True), (toi + 1e-4, False)):
            corners = [_corners(bodies, k, time) for k in (a, b)]
            assert _divided(*corners, [m.faces for m in (one, other)]) == apart


def _corners(bodies, k, time):
    """Vertices of a body that does not turn, at a time."""
    place = bodies.start.toward(bodies.end, np.full(len(bodies.start), time))
    x = bodies.meshes[bodies.shape[k]].vertices
    q = place.unit_wxyz[k]
    turn = 2.0 * np.cross(q[1:], x)
    return x + q[0] * turn + np.cross(q[1:], turn) + place.position[k]


def _divided(a, b, faces):
    """Is there a plane between two convex bodies: across a face of one, or along an edge of each?"""
    ways = []
    sides = []
    for x, f in ((a, faces[0]), (b, faces[1])):
        corners = x[np.asarray(f)]
        ways.append(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        sides.append((corners[:, [1, 2, 0]] - corners).reshape(-1, 3))
    ways.append(np.cross(sides[0][:, None], sides[1][None]).reshape(-1, 3))
    n = np.concatenate(ways)
    length = np.linalg.norm(n, axis=1)
    n = n[length > 1e-12] / length[length > 1e-12, None]
    n = np.concatenate([n, -n])
    return bool(((b @ n.T).min(axis=0) > (a @ n.T).max(axis=0)).any())


def test_kept_pairs_of_a_scene(backend):
    """The sequence of launches that is kept, again and again, for all and for first contacts in turns."""
    bodies, pairs = whole(24, 15)
    kept = gc.Scene(bodies.meshes, bodies.shape, backend=backend.name)
    kept.update(bodies.start, bodies.end)
    asked = {
        x: gc.collide(bodies, pairs, contacts=x, backend=backend.name).to_numpy() for x in ("first", "all")
    }
    for _ in range(3):
        for contacts, one in asked.items():
            same_bits(one, kept.collide(pairs, contacts=contacts).to_numpy())


def test_beside_pairs_that_go_down_their_trees(monkeypatch, backend):
    """Hulls first, then trees, then the screen: each has what those before left."""
    monkeypatch.setattr(plan, "LIMITS", plan.LIMITS._replace(walked=4096))
    bodies, pairs = whole(40, 16)
    assert assert_first(bodies, pairs, backend)


def test_worlds(backend):
    """Pairs that a query finds for itself, in worlds."""
    bodies, _ = whole(20, 17)
    world = np.arange(len(bodies)) % 3
    every, found = (
        gc.collide(bodies, world=world, contacts=x, backend=backend.name).to_numpy() for x in ("all", "first")
    )
    same_bits(every, found, np.asarray(every.time) == np.asarray(every.toi)[np.asarray(every.pair)])
    assert len(found)


def test_large_meshes_are_not_looked_at(monkeypatch, backend):
    monkeypatch.setattr(plan, "LIMITS", plan.LIMITS._replace(hull_vertices=20))
    ball = hull(40, 16)
    bodies, pairs = random_impacts(ball, n=4)
    asked = {"contacts": "first", "backend": backend.name, "report": True}
    timings = gc.collide(bodies, pairs, **asked).info["timings"]
    assert "screen_hulls" not in timings
