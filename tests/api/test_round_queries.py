"""Meshes with a rounding radius: how they travel, and which queries and options do not take them."""

import pickle
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.view.pair import plot_pair, plot_screen
from tests.support.round_scenes import BOX, CAPSULE, ONE, SPHERE, sheet, two


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
    figure = plot_pair(bodies, [0, 1])
    assert figure.axes
    plt.close(figure)


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
