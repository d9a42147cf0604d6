"""Rays that go along a face of a turned body, as far as float64 can say; specks far smaller than rounding."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.quaternion import rotate
from tests.acceptance import sweep_turned
from tests.sweep._scenes import BOX, quaternions, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("family", sweep_turned.FAMILIES)
def test_hits_are_on_the_face_that_they_name_and_nothing_slips_through(backend, family, precision):
    tally = sweep_turned.run_family(family, 2000, 5, backend=backend.kind, precision=precision)
    assert not tally.wrong and tally.hits > 100, tally


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("family", sweep_turned.FAMILIES)
def test_the_reference_has_places_on_faces_too(backend, family):
    tally = sweep_turned.run_family(family, 1000, 6, backend="reference")
    assert not tally.wrong and tally.hits > 50, tally


PLATE, HALVES = sweep_turned.solids()[3]


@pytest.mark.backends("cpu")
def test_a_point_that_is_hardly_a_sphere_does_not_slip_between_an_edge_and_its_faces(backend):
    """A sphere of 1e-15 comes at an edge: beside both faces by a rounding, beside the edge by 2e-15. The
    reference let it in, as 4 of 100,000; to faces it is a point, as to the kernels."""
    corners = np.array([
        [3.0653008146945804, 1.6507627733861303, 0.9388360780430586],
        [3.0765700137773844, 1.6806938562807305, 0.8440883317437998],
        [-0.5276418980296979, 3.4042555758687523, 1.06542855302931],
        [-0.5163726989468939, 3.4341866587633523, 0.9706808067300511],
    ])  # fmt: skip
    world = still(gc.Mesh([*corners, *-corners[::-1]], HALVES, merge_coplanar=False), [0, 0, 0])
    way = (
        [0.7107178131695541, -3.66918483088819, -0.7576211739144517],
        [0.9472397204626052, 2.890944552320257, 0.4878649653009715],
    )
    first, other = (
        gc.sweep.spheres(*way, 1e-15, world, two_sided=True, backend=k) for k in (backend.kind, "reference")
    )
    assert first.hit[0] and other.hit[0] and abs(other.time[0] - first.time[0]) < 1e-14


@pytest.mark.backends("cpu")
def test_a_ray_passes_the_sharp_corner_of_a_triangle(backend):
    """It goes along an edge 1.4e-12 off. At a corner of 0.017 rad a place within a rounding of both lines is
    sixty roundings off the corner, and the reference told it."""
    place = [0.8225164711074148, 0.8121335794752729, 1.1949382354645695]
    quat = [0.7306543122228645, 0.10020888474597849, -0.28787751772965114, 0.6109247009525105]
    world = still(gc.Mesh(PLATE, HALVES, merge_coplanar=False), place, [quat])
    way = (
        [-0.25294329311112906, 3.62618890114113, 2.565786755826698],
        [-2.739836947150523, 0.6321263865629444, -0.5290107402261311],
    )
    for kind in (backend.kind, "reference"):
        assert not gc.sweep.rays(*way, world, two_sided=True, backend=kind).hit[0]


@pytest.mark.slow
@pytest.mark.parametrize("family", sweep_turned.FAMILIES)
def test_a_hundred_thousand_along_faces(backend, family):
    assert not sweep_turned.run_family(family, 100_000, backend=backend.kind).wrong


def test_the_judge_would_see_a_place_off_the_face_and_one_that_gets_in(monkeypatch):
    """Times that are moved along the path, and hits that are taken away."""
    spheres = gc.sweep.spheres

    def told(change):
        def swept(*args, **keywords):
            return change(spheres(*args, **keywords))

        monkeypatch.setattr(gc.sweep, "spheres", swept)
        return sweep_turned.run_family("through_edges", 1000, backend="cpu")

    def moved(found):
        rows = {name: getattr(found, name) for name in vars(found)}
        return gc.sweep.Hits(**rows | {"point": found.point + [1e-9, 0, 0]})

    def taken(found):
        rows = {name: getattr(found, name) for name in vars(found)}
        return gc.sweep.Hits(**rows | {"status": np.zeros_like(found.status)})

    assert told(moved).off > 100
    assert told(taken).through > 100


def test_a_ray_in_the_plane_of_a_triangle_was_told_where_a_corner_is_level(backend):
    """It is level with the plane at a time that is rounding; the nearest corner was so 0.5 before the
    face begins."""
    rng, told = np.random.default_rng(1), 0
    for quat in quaternions(rng, 30):
        mesh = gc.Mesh(rotate(np.tile(quat, (3, 1)), np.array(TRIANGLE)), [[0, 1, 2]])
        a, b, c, d = rng.uniform(-2, 3, (4, 60, 1))
        x, u, v = mesh.vertices[0], mesh.vertices[1] - mesh.vertices[0], mesh.vertices[2] - mesh.vertices[0]
        start, end = x + a * u + b * v, x + c * u + d * v
        found = gc.sweep.rays(
            start, end - start, still(mesh, [0, 0, 0]), two_sided=True, backend=backend.kind
        )
        place = (found.point - x) @ np.linalg.pinv(np.array([u, v]))
        inside = np.minimum(place.min(axis=1), 1 - place.sum(axis=1))
        assert (inside[found.hit] > -1e-12).all()
        told += int(found.hit.sum())
    assert told > 30


def test_a_point_that_is_hardly_a_sphere_is_told_no_place_before_the_face(backend):
    """Its touch comes before its centre's by the radius over the steepness, which is long along a face."""
    sheet = still(gc.Mesh([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], [[0, 1, 2, 3]]), [0, 0, 0])
    for steep in (1e-14, 1e-12, 1e-6, 0.05, 0.5):
        start, path = [-3.0, 1, 4 * steep], [8.0, 0, -8 * steep]
        for radius in (0.0, 1e-15, 5e-15):
            found = gc.sweep.spheres(start, path, radius, sheet, backend=backend.kind)
            assert found.hit[0] and 0 <= found.point[0, 0] <= 2


@pytest.mark.parametrize("form", ["rays", "spheres", "ellipsoids"])
def test_specks_are_touched_by_nothing_that_passes_them(backend, form):
    """Bodies smaller than the rounding of coordinates; the reference took their sides from corners as queries
    see them, where they have no length."""
    rng = np.random.default_rng(4)
    start, path = rng.normal(size=(2, 60, 3)) * 5
    for size in (1e-17, 1e-16, 3e-16, 1e-14, 1e-12):
        place = rng.normal(size=3) * 3
        share = np.clip(((place - start) * path).sum(1) / (path * path).sum(1), 0, 1)
        passes = np.linalg.norm(start + share[:, None] * path - place, axis=1) > 0.1
        world = still(gc.Mesh(BOX.vertices * size, BOX.faces), place, quaternions(rng, 1))
        for kind in (backend.kind, "reference"):
            more = {"two_sided": True, "backend": kind}
            if form == "rays":
                found = gc.sweep.rays(start, path, world, **more)
            elif form == "spheres":
                found = gc.sweep.spheres(start, path, 0.006, world, **more)
            else:
                found = gc.sweep.ellipsoids(start, path, [0.006, 0.003, 0.004], world, **more)
            assert not found.hit[passes].any() and passes.sum() > 50
            # who goes at it with a radius touches it where it is
            if form == "spheres":
                aimed = gc.sweep.spheres(start, 2 * (place - start), 0.006, world, **more)
                length = 2 * np.linalg.norm(place - start, axis=1)
                assert aimed.hit.all() and np.abs((0.5 - aimed.time) * length - 0.006).max() < 1e-12
