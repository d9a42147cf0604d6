"""What callers may hand in: bad arguments, empty worlds, numbers that are none, files."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results.hits import Feature, Hits
from tests.sweep._scenes import BOX, moving, quaternions, same_bits, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

WORLD = still(BOX, [0, 0, 0])
UP, DOWN = [0, 0, 3.0], [0, 0, -4.0]


@pytest.mark.parametrize("change, error, text", [
    ({"start": [[0, 0]]}, ValueError, "start: expected shape"),
    ({"start": np.zeros((2, 3)), "displacement": np.zeros((3, 3))}, ValueError, "expected as many rows"),
    ({"displacement": "down"}, TypeError, "displacement"),
    ({"radius": -1.0}, ValueError, "radius: expected lengths, zero or more"),
    ({"radius": [1.0, 2.0]}, ValueError, "radius: expected shape"),
    ({"radius": np.nan}, ValueError, "radius: expected finite"),
    ({"obstacles": BOX}, TypeError, "obstacles: expected"),
    ({"hits": "last"}, ValueError, "hits"),
    ({"two_sided": 1}, TypeError, "two_sided"),
    ({"buffer": -0.1}, ValueError, "buffer"),
    ({"buffer": None}, TypeError, "buffer"),
    ({"turning": "yes"}, ValueError, "turning"),
    ({"results": "gpu"}, ValueError, "results"),
    ({"backend": "abacus"}, ValueError, "backend"),
    ({"precision": "half"}, ValueError, "precision"),
    ({"max_bytes": 0}, ValueError, "max_bytes"),
])  # fmt: skip
def test_bad_arguments_name_themselves(change, error, text):
    args = {"start": UP, "displacement": DOWN, "radius": 0.5, "obstacles": WORLD} | change
    with pytest.raises(error, match=text):
        gc.sweep.spheres(**args)


def test_bad_ellipsoids_and_clusters():
    with pytest.raises(ValueError, match="radii: expected lengths above zero"):
        gc.sweep.ellipsoids(UP, DOWN, [1, 0, 1], WORLD)
    with pytest.raises(ValueError, match="orientation: expected quaternions"):
        gc.sweep.ellipsoids(UP, DOWN, [1, 1, 1], WORLD, orientation=[1, 0, 0])
    with pytest.raises(ValueError, match="radii: expected a number or shape"):
        gc.sweep.Cluster([[0, 0, 0]], [1, 2])
    with pytest.raises(ValueError, match="centers: expected at least one"):
        gc.sweep.Cluster(np.zeros((0, 3)), 1.0)
    with pytest.raises(ValueError, match="radii: expected lengths, zero or more"):
        gc.sweep.Cluster([[0, 0, 0]], -1.0)
    ball = gc.sweep.Cluster([[0, 0, 0]], 1.0)
    with pytest.raises(TypeError, match="clusters: expected a Cluster"):
        gc.sweep.clusters("ball", UP, DOWN, WORLD)
    with pytest.raises(ValueError, match="clusters: expected numbers of clusters"):
        gc.sweep.clusters(([ball], [1]), UP, DOWN, WORLD)
    with pytest.raises(AttributeError):
        ball.radii = 2


def test_rows_that_are_no_numbers(backend):
    start = np.array([UP, [np.nan, 0, 3], UP, UP])
    path = np.array([DOWN, DOWN, [0, np.inf, 0], DOWN])
    found = gc.sweep.spheres(start, path, [0.5, 0.5, 0.5, np.nan], WORLD, backend=backend.kind)
    assert found.status.tolist() == [gc.Status.HIT] + [gc.Status.INVALID_INPUT] * 3
    assert found.time.tolist() == [0.5, 1, 1, 1]
    assert np.isfinite(found.point).all() and (found.feature[1:] == Feature.NONE).all()
    every = gc.sweep.spheres(start, path, [0.5, 0.5, 0.5, np.nan], WORLD, hits="all", backend=backend.kind)
    assert (every.status == found.status).all() and (np.diff(every.offsets)[1:] == 0).all()
    turned = [[1, 0, 0, 0], [0, 0, 0, 0], [np.nan, 0, 0, 0]]
    egg = gc.sweep.ellipsoids(
        UP, np.tile(DOWN, (3, 1)), [1, 1, 1], WORLD, orientation=turned, backend=backend.kind
    )
    assert egg.status.tolist() == [gc.Status.HIT] + [gc.Status.INVALID_INPUT] * 2


def test_lengths_beyond_all_digits_are_unresolved(backend):
    found = gc.sweep.spheres([[0, 0, 1e60], UP], [[0, 0, -2e60], DOWN], 0.5, WORLD, backend=backend.kind)
    assert found.status.tolist() == [gc.Status.UNRESOLVED, gc.Status.HIT]
    single = gc.sweep.spheres(
        [0, 0, 1e20], [0, 0, -2e20], 0.5, WORLD, backend=backend.kind, precision="single"
    )
    assert single.status[0] == gc.Status.UNRESOLVED


def test_no_queries_no_bodies_no_path(backend):
    none = np.zeros((0, 3))
    for hits in ("first", "any", "all"):
        found = gc.sweep.rays(none, none, WORLD, hits=hits, backend=backend.kind)
        assert len(found) == 0 and found.offsets.tolist() == [0]
        for radius in (0.0, 0.5, 100.0):
            empty = gc.sweep.spheres(UP, DOWN, radius, still(BOX, none), hits=hits, backend=backend.kind)
            assert empty.status.tolist() == [gc.Status.MISS]
        rest = gc.sweep.spheres([[0, 0, 0.9], UP], [0, 0, 0], 0.5, WORLD, hits=hits, backend=backend.kind)
        assert not rest.hit.any()


def test_bodies_that_are_not_there(backend):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 2]], [[1, 0, 0, 0], [0, 0, 0, 0]])
    with pytest.warns(RuntimeWarning, match="an invalid pose and is not there"):
        found = gc.sweep.rays(
            [0, 0, 5], [0, 0, -10], gc.Bodies(BOX, None, poses, poses), backend=backend.kind
        )
    assert found.body[0] == 0


def test_a_scene_is_the_same_world(backend):
    rng = np.random.default_rng(0)
    start = rng.normal(size=(200, 3)) * 4
    first, last = rng.normal(size=(2, 5, 3))
    turn = np.tile([1.0, 0, 0, 0], (5, 1))
    with gc.Scene(BOX, None, (first, turn), backend=backend.kind) as scene:
        a = gc.sweep.spheres(start, -start, 0.3, scene)
        assert same_bits(a, gc.sweep.spheres(start, -start, 0.3, still(BOX, first), backend=backend.kind))
        held = scene.nbytes
        scene.update((first, turn), (last, turn))
        b = gc.sweep.spheres(start, -start, 0.3, scene)
        assert same_bits(
            b, gc.sweep.spheres(start, -start, 0.3, moving(BOX, first, last), backend=backend.kind)
        )
        assert not same_bits(a, b) and scene.nbytes == held
        with pytest.raises(ValueError, match="precision: expected nothing with a Scene"):
            gc.sweep.rays(UP, DOWN, scene, precision="single")


def test_slivers_and_what_was_dropped(backend):
    """Triangles without area are not there, thin ones are; what lies behind them is met."""
    corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, 0, 0], [1, 1 + 1e-9, 0]]
    mesh = gc.Mesh(corners, [[0, 1, 2], [0, 2, 3], [0, 4, 2], [2, 5, 3]])
    found = gc.sweep.rays(
        [[0, 0, 1], [0.5, 0.2, 1]], [0, 0, -2], still(mesh, [0, 0, 0]), backend=backend.kind
    )
    assert found.hit.all() and np.abs(found.time - 0.5).max() < 1e-12


def test_slivers_thinner_than_rounding_are_touched_where_they_are(backend):
    """In float32 the sides of such a triangle lie on one line, and beyond its ends one was between them: a
    face was told of that was up to 0.4 away."""
    rng = np.random.default_rng(1)
    told, here = 0, gc.Poses.identity(1)
    for _ in range(25):
        a, b = rng.uniform(-1, 1, (2, 3))
        c = a + rng.uniform(0.2, 0.8, (12, 1)) * (b - a) + 3e-10 * rng.normal(size=(12, 3))
        corners = np.concatenate((np.tile([a, b], (12, 1)), c))
        mesh = gc.Mesh(corners, [[2 * k, 2 * k + 1, 24 + k] for k in range(12)], two_sided=True)
        way = rng.normal(size=(60, 3))
        way /= np.linalg.norm(way, axis=1)[:, None]
        start, radius = rng.uniform(-1, 1, (60, 3)) - 2 * way, rng.uniform(0.05, 0.5, 60)
        found = gc.sweep.spheres(
            start, 4 * way, radius, gc.Bodies(mesh, None, here, here),
            hits="all", precision="single", backend=backend.kind,
        )  # fmt: skip
        share = np.clip((found.point - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        away = np.linalg.norm(found.point - a - share[:, None] * (b - a), axis=1)
        assert away.max(initial=0) < 1e-5
        told += (found.feature == Feature.FACE).sum()
    assert told > 100


@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_what_is_touched_is_approached(backend, precision):
    """Along no normal that is told does the path lead away, of needles that have sunk in either."""
    rng = np.random.default_rng(4)
    world = still(gc.shapes.torus(1.0, 0.4, 7, 6), [0, 0, 0])
    start = rng.normal(size=(400, 3)) * 2
    path = -2 * start + rng.normal(size=(400, 3))
    radii = np.where(rng.random((400, 3)) < 0.5, 1e-3, 1.0) * rng.uniform(0.3, 1, (400, 3))
    turn = quaternions(rng, 400)
    found = gc.sweep.ellipsoids(
        start, path, radii, world, orientation=turn, hits="all", precision=precision, backend=backend.kind
    )
    way = path[found.query]
    along = (found.normal * way).sum(1) / np.linalg.norm(way, axis=1)
    assert len(along) > 2000 and along.max() < {"single": 1e-4, "mixed": 1e-12}[precision]


@pytest.mark.parametrize("hits", ["first", "all"])
def test_files(tmp_path, hits):
    found = gc.sweep.spheres([UP, [9, 9, 9]], DOWN, 0.5, WORLD, hits=hits)
    found.save(tmp_path / "hits.npz")
    back = Hits.load(tmp_path / "hits.npz")
    assert same_bits(found, back) and "Hits" in repr(back) and back.hit.tolist() == [True, False]
    with pytest.raises(ValueError):
        back.time[0] = 2


def test_what_is_smaller_than_rounding_leaves_through_an_edge_untouched(backend):
    """Of such a ball it is not known on which side of an edge it is: from inside it was told to touch it."""
    world = still(BOX, [0, 0, 0])
    for precision, radius in (("single", 2.0**-30), ("mixed", 2.0**-50), ("double", 2.0**-50)):
        found = gc.sweep.spheres(
            [0, 0.25, 0], [[2, 0, 2], [2, 0.25, 2], [2, 0, 0]], radius, world,
            precision=precision, backend=backend.kind, hits="all",
        )  # fmt: skip
        assert not found.hit.any() and not len(found)
        found = gc.sweep.spheres(
            [[1, 0.25, 1], [1, 1, 1]], [[-2, 0, -2], [-2, -2, -2]], radius, world,
            precision=precision, backend=backend.kind,
        )  # fmt: skip
        assert np.abs(found.time - 0.25).max() < 1e-6


@pytest.mark.parametrize("hits", ["first", "any", "all"])
def test_nothing_is_told_of_what_is_no_query_where_a_body_comes_by(backend, hits):
    """What is not swept stood at 0 without a way, and a body that moved through 0 was told of."""
    scene = moving(BOX, [0, 0, 3.0], [0, 0, -3.0])
    start = [[np.nan, 0, 0], [0, 0, 0], [1e300, 0, 0]]
    found = gc.sweep.spheres(start, [0, 0, 1.0], 0.1, scene, hits=hits, backend=backend.kind)
    assert found.status.tolist() == [gc.Status.INVALID_INPUT, gc.Status.HIT, gc.Status.UNRESOLVED]
    if hits == "all":
        assert np.diff(found.offsets)[[0, 2]].tolist() == [0, 0] and (found.query == 1).all()
        return
    for name, nothing in (("feature", 0), ("body", -1), ("face", -1), ("number", -1), ("time", 1)):
        assert getattr(found, name)[[0, 2]].tolist() == [nothing, nothing]
    assert not found.normal[[0, 2]].any() and not found.point[[0, 2]].any() and found.feature[1] > 0


def test_lengths_without_digits_do_not_count_for_how_far_chords_are_off(backend):
    quat = np.array([[np.cos(0.1), 0, 0, np.sin(0.1)]])
    scene = moving(BOX, [0, 0, 0.0], [0, 0, 0.1], turned=quat)
    args = {"turning": "chord", "backend": backend.kind}
    one = gc.sweep.rays([[3, 0, 0.0], [0, 0, 0]], [-5, 0, 0.0], scene, **args)
    two = gc.sweep.rays([[3, 0, 0.0], [1e300, 0, 0]], [-5, 0, 0.0], scene, **args)
    assert 0 < two.info["turning"] <= one.info["turning"] < 5
