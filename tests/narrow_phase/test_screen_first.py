"""First contacts of large meshes, for which both trees are walked down: bit for bit the first of all."""

import numpy as np
import pytest

import gpu_collide as gc
from bench import dense_shapes
from gpu_collide.backends import sources
from gpu_collide.pipeline.narrow_phase import first_contact, plan
from gpu_collide.scenes import random_impacts
from tests.broad_phase import _near
from tests.narrow_phase._first import THRESHOLDS, assert_first, same_bits, whole

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


@pytest.fixture(autouse=True)
def walked_early(monkeypatch):
    """Meshes of some dozen faces are large enough: those for which it pays take long to look at whole."""
    _limit(monkeypatch, walked=4096, **WITHOUT_HULLS)


#: They come before, and have tests of their own.
WITHOUT_HULLS = {"hulls_alone": 2**31 - 1, "hulls": 2**31 - 1}


def _limit(monkeypatch, **limits):
    monkeypatch.setattr(plan, "LIMITS", plan.LIMITS._replace(**limits))


def is_walked(bodies, pairs):
    faces = np.array([m.n_faces for m in bodies.meshes])[bodies.shape[pairs]]
    return faces.prod(axis=1) > plan.LIMITS.walked


#: Pairs with meshes of more faces look at near faces, whatever the other is.
ALWAYS = sources.constants()["GC_AUTO_NEAR_ALWAYS"]
#: Meshes of more than 64 faces: any two of them are walked down, if one has more.
LARGE = ("block", "ball", "torus", "terrain", "terrain2", "rubble", "huge", "book", "drum")


@pytest.mark.parametrize("kind", [*_near.MOTIONS])
def test_first_of_all_in_any_motion(kind, backend):
    for k, threshold in enumerate(THRESHOLDS):
        scene = _near.scene(kind, 4, 40 + k, LARGE)
        assert_first(scene.bodies(), scene.pairs, backend, min_properness=threshold)
        assert is_walked(scene.bodies(), scene.pairs).all()


@pytest.mark.parametrize("make", [_near.slides, _near.wheels])
def test_first_of_all_that_slides_or_goes_round(make, backend):
    scene = make(12)
    for threshold in THRESHOLDS:
        assert_first(scene.bodies(), scene.pairs, backend, min_properness=threshold)
    assert is_walked(scene.bodies(), scene.pairs).any()


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("kind", [*_near.MOTIONS, "slides", "wheels"])
def test_first_of_all_in_many_motions(kind, precision, backend):
    for seed in range(4):
        make = getattr(_near, kind, None)
        scene = make(40, seed) if make else _near.scene(kind, 40, seed, LARGE)
        for threshold in THRESHOLDS:
            assert_first(scene.bodies(), scene.pairs, backend, precision=precision, min_properness=threshold)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_first_of_all_in_whole_numbers(threshold, backend):
    bodies, pairs = whole(40, 3)
    assert is_walked(bodies, pairs).mean() > 0.3
    assert assert_first(bodies, pairs, backend, min_properness=threshold) > 0


@pytest.mark.parametrize("precision", ["double", "single"])
def test_first_of_all_in_other_precisions(precision, backend):
    assert assert_first(*whole(20, 4), backend, precision=precision)
    ball = gc.shapes.icosphere(2)
    assert assert_first(*random_impacts(ball, n=12, seed=1), backend, precision=precision)


def test_windows_shut(backend):
    """It is the walk that answers, without which nothing above would show anything."""
    ball = gc.shapes.icosphere(2)
    bodies, pairs = random_impacts(ball, n=30, seed=2)
    assert assert_first(bodies, pairs, backend) < len(gc.collide(bodies, pairs, backend=backend.name))
    asked = {"contacts": "first", "backend": backend.name, "report": True}
    timings = gc.collide(bodies, pairs, **asked).info["timings"]
    assert "screen_first" in timings


def test_a_scene_asked_again_and_again(backend):
    """The sequence of launches that is kept, with large pairs and small ones in it."""
    bodies, pairs = whole(24, 5)
    kept = gc.Scene(bodies.meshes, bodies.shape, backend=backend.name)
    kept.update(bodies.start, bodies.end)
    one = gc.collide(bodies, pairs, contacts="first", backend=backend.name).to_numpy()
    for _ in range(3):
        same_bits(one, kept.collide(pairs, contacts="first").to_numpy())


@pytest.mark.parametrize("faces", [1400, 5000])
def test_walks_that_are_given_up(monkeypatch, backend, faces):
    """A bolt in its nut goes to the screen, in one call and in launches that are kept: the first of all. So
    does a large one, with the faces that come near."""
    meshes, pairs = dense_shapes.bolt_and_nut(faces), dense_shapes.pairs_of(2)
    bodies = dense_shapes.steps_of("bolt in nut", meshes, "impact", 2)
    looked, gone = first_contact._given_up, []

    def launch(*args, **more):
        found = looked(*args, **more)
        gone.append(found)
        return found

    monkeypatch.setattr(first_contact, "_given_up", launch)
    for threshold in (-1.0, 0.0):
        gone.clear()
        assert_first(bodies, pairs, backend, min_properness=threshold)
        if backend.kind != "cuda":  # there launches follow each other without a look
            assert len(gone[0]) == len(pairs)
            assert all(len(x) == 0 for x in gone[1:])  # where room for hits grew, nobody walks in vain
            asked = {"contacts": "first", "backend": backend.name, "report": True}
            timings = gc.collide(bodies, pairs, **asked).info["timings"]
            assert ("b05_features" in timings) == (faces > ALWAYS)
    kept = gc.Scene(bodies.meshes, bodies.shape, backend=backend.name)
    kept.update(bodies.start, bodies.end)
    one = gc.collide(bodies, pairs, contacts="first", backend=backend.name).to_numpy()
    for _ in range(2):
        same_bits(one, kept.collide(pairs, contacts="first").to_numpy())


def test_little_room(monkeypatch, backend):
    """Few pairs of nodes in order, the rest one below the other: the same contacts."""
    ball = gc.shapes.icosphere(3)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.4, 0.3, 0.2]], [[1, 0, 0, 0], [1, 0, 0, 0]])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.5, 0.1, 0.2]], [[1, 0, 0, 0], [0.8, 0, 0.6, 0]])
    deep = gc.Bodies([ball], np.zeros(2, np.int32), start, end)
    for nodes in (plan.LIMITS.walk_alone, 180):
        _limit(monkeypatch, walk_alone=nodes)
        assert_first(deep, [[0, 1]], backend, min_properness=0.5)


def test_small_meshes_beside_a_large_one_look_at_near_faces(monkeypatch, backend):
    """Cars on a track: walked down, the large mesh would be looked at whole for each of them, which took
    fifteen times as long."""
    monkeypatch.undo()
    _limit(monkeypatch, **WITHOUT_HULLS)
    ball, car = gc.shapes.icosphere(4, 20.0), gc.shapes.car()
    at = np.array([[0, 0, 0], [0, 0, 22.0], [22.0, 0, 0]])
    turn = [[1, 0, 0, 0]] * 3
    start, end = (gc.Poses.from_quat_wxyz(at * far, turn) for far in (1.0, 0.9))
    bodies = gc.Bodies([ball, car], [0, 1, 1], start, end)
    large = gc.Bodies([ball], [0, 0], start[:2], end[:2])
    assert assert_first(bodies, [[0, 1], [0, 2]], backend)
    for asked, walked in ((bodies, False), (large, True)):
        options = {"contacts": "first", "backend": backend.name, "report": True}
        timings = gc.collide(asked, [[0, 1]], **options).info["timings"]
        assert ("screen_first" in timings) == walked and ("b05_features" in timings) != walked, timings
