"""Meshes with a rounding radius: how they travel, and which queries and options do not take them."""

import pickle
import re

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.view.pair import plot_pair
from tests.support.round_scenes import BOX, CAPSULE, ONE, SPHERE, recorded, sheet, two


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
        (lambda b: gc.clearance(b, [[0, 1]]), "bodies"),
        (lambda b: gc.contacts_at(b), "bodies"),
        (lambda b: gc.collide(b, [[0, 1]], exit=True), "bodies"),
        (lambda b: gc.baselines.bisection(b, [[0, 1]]), "bodies"),
        (lambda b: gc.pluecker.translate(b, b, [[1, 0, 0]] * 2), "obstacles"),
        (lambda b: gc.pluecker.contacts(b, b.moved(b.start, b.start)), "obstacles"),
        (lambda b: gc.sweep.rays([[0, 0, 9]], [[0, 0, -9]], b.moved(b.start, b.start)), "obstacles"),
        (lambda b: gc.view.page(gc.collide(b, [[0, 1]]), b, "page.html"), "scene"),
        (lambda b: plot_pair(b, [0, 1]), "bodies"),
    ],
)  # fmt: skip
def test_queries_that_do_not_take_it_say_so(ask, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f"^{name}: {REFUSED}"):
        ask(two(SPHERE, BOX, (3, 0, 0), (0, 0, 0)))


def test_a_scene_and_a_recording_say_so_too():
    bodies = two(SPHERE, BOX, (3, 0, 0), (0, 0, 0))
    with gc.Scene(bodies.meshes, bodies.shape, bodies.start, backend="cpu") as scene:
        with pytest.raises(ValueError, match=f"^scene: {REFUSED}"):
            scene.clearance()
        with pytest.raises(ValueError, match=f"^obstacles: {REFUSED}"):
            gc.sweep.rays([[0, 0, 9]], [[0, 0, -9]], scene)
    poses = gc.Poses.from_quat_wxyz(np.zeros((2, 2, 3)), np.tile(ONE, (2, 2, 1)))
    recording = recorded(poses, list(bodies.meshes))
    for ask in (lambda: gc.clearance(recording, max_distance=1.0), lambda: gc.events(recording)):
        with pytest.raises(ValueError, match=f"^bodies: {REFUSED}"):
            ask()


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
