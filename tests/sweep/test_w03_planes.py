"""Stage w03: the planes that ellipsoids at rest are near."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.scenes_base import random_quat
from tests.oracle.sweep import Pass, Surface
from tests.oracle.sweep_casts import floor, prism_of, triangulated, whole_l

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BALL = [0.5, 0.5, 0.5]
FACE, EDGE, VERTEX = gc.sweep.Feature.FACE, gc.sweep.Feature.EDGE, gc.sweep.Feature.VERTEX


def world(*meshes, to=None, two_sided=False):
    loops = [
        [m.face_vertices[i:j].tolist() for i, j in zip(m.face_start, m.face_start[1:], strict=False)]
        for m in meshes
    ]
    made = [gc.Mesh(m.vertices, x, two_sided=two_sided) for m, x in zip(meshes, loops, strict=True)]
    n = len(made)
    still = np.tile([1.0, 0, 0, 0], (n, 1))
    here = gc.Poses.from_quat_wxyz(np.zeros((n, 3)), still)
    there = here if to is None else gc.Poses.from_quat_wxyz(np.asarray(to, float), still)
    return gc.Bodies(made, np.arange(n), here, there)


@pytest.mark.parametrize("polygons", [False, True])
def test_a_floor_in_triangles_is_one_plane(backend, polygons):
    """Wherever a ball stands: over a face, an edge, a corner. No edge beside it counts."""
    ground = world(floor(polygons=polygons))
    rng = np.random.default_rng(1)
    places = np.concatenate((rng.uniform(-1.4, 1.4, (40, 2)), rng.integers(-6, 7, (40, 2)) / 4))
    at = np.column_stack((places, np.full(80, 0.5 + 2.0**-10)))
    found = gc.sweep.planes(ground, at, BALL, 0.2, backend=backend.kind)
    normals = [found.normal[i:j] for i, j in zip(found.offsets, found.offsets[1:], strict=False)]
    assert all(len(n) and np.allclose(n, [0, 0, 1], atol=1e-12) for n in normals)
    assert np.allclose(found.gap, 2.0**-10, atol=1e-12)
    assert (found.status == gc.Status.HIT).all() and (np.bincount(found.query)[:40] == 1).all()


def test_known_places_about_a_box(backend):
    box = world(gc.shapes.box((2, 2, 2)))
    d = 1 + 0.55 / np.sqrt(2)
    e = 1 + 0.55 / np.sqrt(3)
    at = [[0.2, 0.1, 1.55], [d, 0.1, d], [e, e, e], [0, 0, 0], [5, 5, 5]]
    found = gc.sweep.planes(box, at, BALL, 0.1, backend=backend.kind)
    assert found.query.tolist() == [0, 1, 2] and found.feature.tolist() == [FACE, EDGE, VERTEX]
    assert np.allclose(found.gap, 0.05, atol=1e-12)
    expected = np.array([[0, 0, 1], np.array([1, 0, 1]) / np.sqrt(2), np.ones(3) / np.sqrt(3)])
    assert np.allclose(found.normal, expected, atol=1e-12)
    assert np.allclose(found.point, [[0.2, 0.1, 1], [1, 0.1, 1], [1, 1, 1]], atol=1e-12)
    assert found.status.tolist() == [1, 1, 1, 0, 0]


def test_a_corner_of_a_room_has_three_planes(backend):
    box = gc.shapes.box((4, 4, 4))
    room = gc.Mesh(box.vertices, [f[::-1] for f in box.face_vertices.reshape(-1, 4)])
    here = gc.Poses.identity(1)
    found = gc.sweep.planes(
        gc.Bodies(room, None, here, here), [1.45, 1.45, 1.45], BALL, 0.1, backend=backend.kind
    )
    assert sorted(found.normal.tolist()) == [[-1, 0, 0], [0, -1, 0], [0, 0, -1]]
    assert np.allclose(found.gap, 0.05, atol=1e-12) and (found.feature == FACE).all()


def test_a_flat_ellipsoid_has_the_plane_across_its_surface(backend):
    """Beside an edge: the normal is the ellipsoid's, not the way from the point to the centre."""
    radii, centre, corner = np.array([1.0, 1.0, 0.25]), np.array([1.5, 0, 1.1]), np.array([1.0, 0, 1.0])
    box = world(gc.shapes.box((2, 2, 2)))
    found = gc.sweep.planes(box, centre, radii, 1.0, backend=backend.kind)
    y = (centre - corner) / radii
    m = y / np.linalg.norm(y) / radii
    assert found.feature.tolist() == [EDGE]
    assert np.allclose(found.normal[0], m / np.linalg.norm(m), atol=1e-12)
    assert found.gap[0] == pytest.approx((np.linalg.norm(y) - 1) / np.linalg.norm(m), abs=1e-12)


def test_bodies_are_where_they_are_at_the_moment(backend):
    lift = world(gc.shapes.box((2, 2, 2)), to=[[0, 0, 0.4]])
    for at in (0.0, 0.5, 1.0):
        found = gc.sweep.planes(lift, [0, 0, 1.9], BALL, 1.0, at=at, backend=backend.kind)
        assert found.gap[0] == pytest.approx(0.4 - 0.4 * at, abs=1e-12)
        assert found.body_displacement.tolist() == [[0, 0, 0.4]]


def test_back_faces_only_when_asked(backend):
    sheet = world(floor(polygons=True))
    below = [0.3, 0.2, -0.52]
    assert len(gc.sweep.planes(sheet, below, BALL, 0.1, backend=backend.kind)) == 0
    found = gc.sweep.planes(sheet, below, BALL, 0.1, two_sided=True, backend=backend.kind)
    assert found.normal.tolist() == [[0, 0, -1]]


def _crowd(seed, n):
    rng = np.random.default_rng(seed)
    l = whole_l()
    l.vertices = l.vertices / 3
    meshes = [triangulated(l), prism_of(7), l]
    scene = world(*meshes, to=rng.normal(size=(3, 3)) * 0.2)
    place = rng.uniform(-1.2, 2.2, (n, 3))
    return scene, meshes, place, rng.uniform(0.05, 0.6, (n, 3)), random_quat(rng, n)


def _rows(found):
    keys = zip(found.query, found.body, found.feature, found.number, strict=True)
    return {tuple(int(x) for x in k): i for i, k in enumerate(keys)}


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
def test_against_the_reference(backend):
    scene, _, place, radii, quat = _crowd(3, 40)
    args = (scene, place, radii, 0.4)
    one, two = (
        gc.sweep.planes(*args, orientation=quat, precision="double", backend=b) for b in ("cpu", "reference")
    )
    a, b = _rows(one), _rows(two)
    assert a.keys() == b.keys() and len(a) > 40
    order = [b[k] for k in a]
    for name in ("normal", "gap", "point", "face"):
        assert np.allclose(getattr(one, name), getattr(two, name)[order], atol=1e-11), name


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_the_same_bits_as_cpu(backend, precision):
    scene, _, place, radii, quat = _crowd(4, 40)
    one, two = (
        gc.sweep.planes(scene, place, radii, 0.1, orientation=quat, precision=precision, backend=b)
        for b in ("cpu", backend.kind)
    )
    for name in ("status", "offsets", "normal", "gap", "point", "body", "face", "number", "feature"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


@pytest.mark.backends("cpu")
def test_the_nearest_plane_is_as_near_as_whole_numbers_say(backend):
    """Of those in front of a face; over all faces, in the ellipsoid's measure."""
    scene, meshes, place, radii, quat = _crowd(5, 50)
    found = gc.sweep.planes(scene, place, radii, 0.4, orientation=quat, backend=backend.kind)
    surfaces, checked = [Surface(m) for m in meshes], 0
    for row in range(len(found)):
        i, body = found.query[row], found.body[row]
        zero = np.zeros(3)
        pose = (zero, (1.0, 0, 0, 0))
        p = Pass.of(surfaces[body], pose, zero, place[i], zero, radii[i], quat[i])
        near = p.near(int(found.face[row]), p.c, 1)
        if found.feature[row] == FACE:
            assert near.kind == "face"
        axes = np.array([gc_rotate(quat[i], e) for e in np.eye(3)]).T
        m = axes @ (near.toward / near.away / radii[i])
        gap = (near.away - 1) / np.linalg.norm(m)
        assert abs(gap - found.gap[row]) <= 1e-11
        assert np.allclose(m / np.linalg.norm(m), found.normal[row], atol=1e-9)
        checked += 1
    assert checked > 50


def gc_rotate(q, v):
    w, u = q[0], q[1:]
    return v + 2 * w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v))


def test_rows_that_are_no_numbers(backend):
    box = world(gc.shapes.box((2, 2, 2)))
    at = [[0, 0, 1.5], [np.nan, 0, 0], [np.inf, 0, 0]]
    found = gc.sweep.planes(box, at, BALL, 0.1, backend=backend.kind)
    assert found.status.tolist() == [1, 3, 3] and found.query.tolist() == [0]
    assert len(gc.sweep.planes(box, np.zeros((0, 3)), BALL, 0.1, backend=backend.kind)) == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"reach": -1}, "reach: expected a finite number, zero or more, got -1"),
        ({"reach": "far"}, "reach: expected a number, got str"),
        ({"at": 1.5}, "at: expected a moment from 0 to 1, got 1.5"),
        ({"radii": [1, 0, 1]}, "radii: expected lengths above zero"),
        ({"two_sided": 3}, "two_sided"),
    ],
)
def test_bad_arguments(change, message):
    args = {"position": [0, 0, 2], "radii": BALL, "reach": 0.1} | change
    with pytest.raises((TypeError, ValueError), match=message):
        gc.sweep.planes(world(gc.shapes.box((2, 2, 2))), **args, backend="cpu")
