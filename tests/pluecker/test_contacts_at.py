"""`contacts_at`: all places of bodies at a pose, with the depth of what overlaps; and what agrees with it."""

import sys

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker.places import separated
from tests.clearance._families import quaternions

contacts = sys.modules["gpu_collide.queries.pluecker.contacts"]
ONE = [1.0, 0, 0, 0]
BOX, LARGE = gc.shapes.box(), gc.shapes.box((4, 4, 4))
MISS, HIT, OVERLAP, INVALID = (
    gc.Status.MISS,
    gc.Status.HIT,
    gc.Status.INITIAL_OVERLAP,
    gc.Status.INVALID_INPUT,
)
TABLE = [(1, 1, 0), (9, 1, 0), (1, 9, 0), (9, 9, 0)]

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


@pytest.fixture(params=["kernels", "reference"])
def engine(request, backend):
    """Each backend, and the reference once."""
    if request.param == "kernels":
        return backend.kind
    if backend.kind != "cpu":
        pytest.skip("the reference is asked once")
    return "reference"


def two(a, b, at, turn=ONE, **asked):
    """Mesh b at a place beside mesh a."""
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], at], [ONE, turn])
    return gc.contacts_at(gc.Bodies([a, b], [0, 1], poses, poses), [[0, 1]], **asked)


def kinds(found):
    return [gc.Kind(kind).name for kind in found.kind]


def test_a_corner_beside_a_corner(engine):
    """At a gap of 0.017 it was a MISS without a place."""
    found = two(BOX, BOX, [1.01, 1.01, 1.01], margin=0.02, backend=engine)
    assert kinds(found) == ["VV"] and found.status.tolist() == [MISS]
    assert abs(found.distance[0] - 0.01 * 3**0.5) < 1e-15  # worst seen 1.7e-17
    assert np.allclose(found.normal, 3**-0.5, atol=1e-13)
    assert np.allclose(found.point_a, 0.5) and np.allclose(found.point_b, 0.51)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_body_inside(engine, swapped):
    """It was a MISS, and then a row without a depth."""
    a, b = (BOX, LARGE) if swapped else (LARGE, BOX)
    found = two(a, b, [0.9, 0.1, 0.2], margin=0.1, backend=engine)
    assert found.status.tolist() == [OVERLAP] and kinds(found) == (["VF"] if swapped else ["FV"])
    assert np.allclose(found.distance, -1.6, atol=1e-14)
    assert np.allclose(found.normal, [1, 0, 0])
    assert np.allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-14)


def test_a_box_on_a_box_touches_one_side(backend):
    """And none of the faces beside it, in whose planes its own stand."""
    for at, gap in (([0, 0, 1.0], 0.0), ([0, 0.25, 1.0], 0.0), ([0, 0, 1.001], 0.001)):
        found = two(BOX, BOX, at, margin=0.01, backend=backend.kind)
        assert len(found) == 4 and np.allclose(found.normal, [0, 0, 1])
        assert np.allclose(found.distance, gap, atol=1e-15)
        assert (found.status == (HIT if gap == 0 else MISS)).all()


def test_legs_in_the_floor_and_above_it(backend):
    """A table that is tilted: each leg in the floor has its depth, the others their gap."""
    leg = gc.shapes.box((0.2, 0.2, 1.0))
    top = gc.shapes.box((10, 10, 0.2))
    corners = [leg.vertices + [x, y, -0.5] for x, y, _ in TABLE] + [top.vertices + [5, 5, 0.1]]
    faces = [f for k in range(5) for f in (np.asarray(leg.face_vertices).reshape(-1, 4) + 8 * k).tolist()]
    table = gc.Mesh(np.concatenate(corners), faces)
    tilt = 0.004
    floor = gc.shapes.box((40, 40, 2))
    q = [np.cos(tilt / 2), 0, np.sin(tilt / 2), 0]  # falls along x
    found = two(floor, table, [-5, -5, 2.01], q, margin=0.05, backend=backend.kind)
    x, deep = found.point_b[:, 0], found.distance < 0
    assert (found.status == OVERLAP).all() and deep.sum() == 2 and (x[deep] > 3).all()
    low = np.sort(found.distance[~deep])
    assert len(low) > 3 and (low > 0).all() and (low < 0.05).all() and (x[~deep] < -3).all()
    want = 0.01 - 9.1 * np.sin(tilt) + 1.0 - np.cos(tilt)
    assert np.allclose(found.distance[deep], want, atol=1e-14)  # worst seen 1.1e-16


def test_nothing_is_nearer_than_the_nearest(backend):
    """Against `clearance`, whose search shares nothing with it: random and whole poses, five shapes."""
    rng = np.random.default_rng(7)
    meshes = [BOX, gc.shapes.car(), gc.shapes.torus(), gc.shapes.box((3, 2, 0.05)), LARGE]
    n = 300
    shape = rng.integers(0, len(meshes), 2 * n)
    size = np.array([mesh.radius for mesh in meshes])[shape].reshape(n, 2).sum(axis=1)
    q, p = quaternions(rng, 2 * n), np.zeros((2 * n, 3))
    u = rng.normal(size=(n, 3))
    p[1::2] = (u.T / np.linalg.norm(u, axis=1) * size * rng.uniform(0.2, 1.2, n)).T
    whole = np.arange(n) < n // 3
    q[np.repeat(whole, 2)], p[1::2][whole] = ONE, np.round(2 * p[1::2][whole]) / 2
    poses = gc.Poses.from_quat_wxyz(p, q)
    bodies, pairs = gc.Bodies(meshes, shape, poses, poses), np.arange(2 * n).reshape(-1, 2)
    margin = rng.uniform(0, 0.5, n) * size
    found = gc.contacts_at(bodies, pairs, margin=margin, backend=backend.kind)
    want = gc.clearance(bodies, pairs, at=0.0, max_distance=margin, backend=backend.kind)
    first = np.searchsorted(found.pair, np.arange(n))
    least, near = found.distance[first], np.isfinite(want.distance)
    assert near.sum() > 150 and (want.status == OVERLAP).sum() > 50 and (want.status == MISS).sum() > 100
    assert (np.isfinite(least) == near).all()
    off = np.abs(least[near] - want.distance[near]).max()
    assert off < 1e-14 * size.max()  # worst seen 5.3e-16
    assert (found.status[first] == want.status).all()
    told = np.isfinite(found.distance)
    way = found.point_b - found.point_a - found.normal * np.where(told, found.distance, 0.0)[:, None]
    assert np.abs(way).max() < 1e-14  # worst seen 2.2e-16


def test_movers_and_scenes_are_told_the_same(backend):
    rng = np.random.default_rng(3)
    p = rng.normal(size=(12, 3))
    start = gc.Poses.from_quat_wxyz(p, quaternions(rng, 12))
    bodies = gc.Bodies(BOX, None, start, gc.Poses.from_quat_wxyz(p + 0.5, quaternions(rng, 12)))
    there = bodies.poses_at(0.25)
    ignore = [[0, 1], [2, 5]]
    found = gc.contacts_at(bodies, ignore=ignore, margin=0.2, at=0.25, backend=backend.kind)
    with gc.Scene(BOX, np.zeros(12, int), ignore=ignore, backend=backend.kind) as scene:
        scene.update(start, bodies.end)
        other = gc.contacts_at(scene, margin=0.2, at=0.25)
        with pytest.raises(ValueError, match="ignore: expected nothing with a Scene"):
            gc.contacts_at(scene, ignore=ignore)
    columns = ("pairs", "pair", "status", "distance", "kind", "feature_a", "feature_b", "point_a", "normal")
    for name in columns:
        assert np.array_equal(getattr(found, name), getattr(other, name)), name
    movers = bodies.moved(there, there)
    rows = np.arange(len(found.pairs))
    touch = gc.pluecker.contacts(
        movers.take(found.pairs[:, 1]), movers, 0.2, pairs=np.column_stack((rows, found.pairs[:, 0])),
        backend=backend.kind,
    )  # fmt: skip
    told = np.isfinite(found.distance)
    assert told.sum() > 20 and (found.distance < 0).sum() > 5
    assert np.array_equal(np.sort(touch.distance), np.sort(found.distance[told]))


FIELDS = (
    "pairs", "pair", "status", "time", "distance", "lower_bound", "kind", "feature_a", "feature_b", "point_a",
    "point_b", "normal",
)  # fmt: skip


def assert_equal(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def crowd(rng, n=10):
    """Meshes, some round and some not convex, and which of them bodies have."""
    round_box = gc.Mesh(BOX.vertices, BOX.faces, rounding=0.1)
    return [BOX, round_box, gc.shapes.sphere(0.6), gc.shapes.torus()], rng.integers(0, 4, n)


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_a_scene_is_told_the_same_step_after_step(backend, motion):
    """Its tree of bodies with a margin is kept, whatever margins and other questions come between."""
    rng = np.random.default_rng(7)
    meshes, shape = crowd(rng)
    place, quat = rng.uniform(-1.3, 1.3, (10, 3)), quaternions(rng, 10)
    scene = gc.Scene(meshes, shape, backend=backend.kind, motion=motion, group=np.arange(10) % 3 + 1)
    for step, margin in enumerate((0.05, 0.3, 0.0, 0.1, 0.1)):
        start, end = (gc.Poses.from_quat_wxyz(place + 0.1 * k, quat) for k in (step, step + rng.random()))
        moves = step % 2 == 1
        scene.update(start, end if moves else None)
        alone = gc.Bodies(meshes, shape, start, end if moves else start)
        rules = {"group": np.arange(10) % 3 + 1, "backend": backend.kind}
        assert_equal(
            gc.contacts_at(scene, margin=margin, at=0.25),
            gc.contacts_at(alone, margin=margin, at=0.25, **rules),
        )
        if step == 2:
            scene.find_pairs()
            scene.clearance(max_distance=0.2)
        place = place + rng.normal(0.0, 0.05, (10, 3))


def test_a_plane_between_bodies_changes_nothing(backend, monkeypatch):
    rng = np.random.default_rng(11)
    meshes, shape = crowd(rng)
    said = []

    def listening(*asked):
        said.append(separated(*asked))
        return said[-1]

    def silent(found, pairs, least, rows, bodies):
        return np.zeros(len(pairs[0]), bool)

    for size in (1.2, 1.6, 2.2):
        place = rng.uniform(-size, size, (10, 3))
        poses = gc.Poses.from_quat_wxyz(place, quaternions(rng, 10))
        bodies = gc.Bodies(meshes, shape, poses, poses)
        monkeypatch.setattr(contacts, "separated", listening)
        one = gc.contacts_at(bodies, margin=0.2, backend=backend.kind)
        monkeypatch.setattr(contacts, "separated", silent)
        assert_equal(one, gc.contacts_at(bodies, margin=0.2, backend=backend.kind))
    said = np.concatenate(said)
    assert 0 < said.sum() < len(said)


def test_points_have_a_depth(backend):
    here = gc.Poses.identity(1)
    points = [[0, 0, 0.4], [0, 0, 0.6], [0.1, -0.3, 0.05]]
    found = gc.pluecker.contacts(points, gc.Bodies(BOX, None, here, here), 0.2, backend=backend.kind)
    assert found.status.tolist() == [OVERLAP, HIT, OVERLAP]
    assert np.allclose(found.distance, [-0.1, 0.1, -0.2], atol=1e-15)
    assert np.allclose(found.point, points) and found.normal.tolist() == [[0, 0, 1], [0, 0, 1], [0, -1, 0]]


def test_open_bodies_overlap_without_a_depth(backend, tmp_path):
    tray = gc.Mesh(BOX.vertices, np.asarray(BOX.face_vertices).reshape(-1, 4)[:5])
    found = two(tray, BOX, [0.3, 0.2, 0.1], backend=backend.kind)
    assert found.status.tolist() == [OVERLAP] and kinds(found) == ["NONE"]
    assert found.distance.tolist() == [0] and not found.normal.any()
    found.save(tmp_path / "found")
    assert np.array_equal(gc.Clearance.load(tmp_path / "found").distance, found.distance)


@pytest.mark.filterwarnings("ignore:1 body has an invalid pose")
def test_arguments(backend):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [9, 0, 0], [np.nan, 0, 0]], [ONE] * 3)
    bodies = gc.Bodies(BOX, None, poses, poses)
    found = gc.contacts_at(bodies, [[0, 1], [1, 2]], margin=[1, 2], backend=backend.kind)
    assert found.status.tolist() == [MISS, INVALID] and found.lower_bound.tolist() == [1, 0]
    assert np.isinf(found.distance).all()
    assert len(gc.contacts_at(bodies, margin=1.0, backend=backend.kind)) == 0
    for wrong, error, message in (
        (dict(margin=-1), ValueError, "margin: expected a length from 0 up, got -1.0"),
        (dict(margin=np.inf), ValueError, "margin: expected a length from 0 up, got inf"),
        (dict(margin=[1.0, 2, 3]), ValueError, "margin: expected one length where the pairs are found"),
        (dict(pairs=[[0, 1]], margin=[1.0, 2]), ValueError, r"margin: expected a length, or shape \(1,\)"),
        (dict(at=1.5), ValueError, r"at: expected a fraction of the step in \[0, 1\], got 1.5"),
        (dict(at=[0.5]), TypeError, "at: expected a number, got list"),
        (dict(pairs=[[0, 1]], world=[0, 0, 0]), ValueError, "world: expected nothing when pairs are given"),
    ):
        with pytest.raises(error, match=message):
            gc.contacts_at(bodies, **wrong)
    with pytest.raises(ValueError, match="max_distance: expected one length where the pairs are found"):
        gc.clearance(bodies, max_distance=[1.0, 2.0])
