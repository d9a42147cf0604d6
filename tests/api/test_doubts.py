"""Warnings of what can hardly be meant: once, at the caller's line, with the remedy, never on sound data."""

import re
import warnings

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies import plausibility
from gpu_collide.checks import families
from gpu_collide.queries import scene as queries_scene
from gpu_collide.scenes import random_impacts, worlds

UNIT = [1.0, 0, 0, 0]


def doubted(call):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(w.filename == __file__ for w in caught), "at the caller's line"
    return [str(w.message) for w in caught]


def yaws(count=12, last=True, roll=0.0):
    """Quaternions of cars that drive in a circle, w last or first."""
    half = np.linspace(0.0, 3.0, count)
    quat = np.stack([roll * np.sin(9 * half), 0 * half, np.sin(half), np.cos(half)], axis=1)
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return quat if last else quat[:, [3, 0, 1, 2]]


def cars(quat, count=12):
    position = np.stack([9.0 * np.arange(count), 0 * np.arange(count), 0 * np.arange(count)], axis=1)
    start = gc.Poses.from_quat_wxyz(position, quat)
    return gc.Bodies(gc.shapes.car(), None, start, gc.Poses.from_quat_wxyz(position + [5.0, 1, 0], quat))


@pytest.mark.parametrize("roll", [0.0, 0.05])
def test_w_last_for_w_first(roll):
    bodies = cars(yaws(roll=roll))
    said = doubted(lambda: gc.collide(bodies, backend="cpu"))
    assert len(said) == 1 and re.search("is w their last number.*Poses.from_quat_xyzw", said[0])
    assert doubted(lambda: gc.collide(bodies, [[0, 1]], backend="cpu")) == [], "once for a mesh"
    assert doubted(lambda: gc.collide(cars(yaws(last=False, roll=roll)), backend="cpu")) == []


def test_no_turn_in_the_other_order():
    said = doubted(lambda: gc.collide(cars(np.tile([0.0, 0, 0, 1], (12, 1))), backend="cpu"))
    assert len(said) == 1 and "pass quaternions, which have w last, to Poses.from_quat_xyzw" in said[0]
    turned = gc.Poses.from_quat_xyzw(np.eye(3), np.tile(UNIT, (3, 1)))
    bodies = gc.Bodies(gc.shapes.box(), None, turned, turned)
    said = doubted(lambda: gc.collide(bodies, [[0, 1]], backend="cpu"))
    assert len(said) == 1 and "pass quaternions, which have w first, to Poses.from_quat_wxyz" in said[0]


def test_bodies_that_are_turned_half_round_are_not_doubted():
    """One that faces back, cars that drive along -x, and bodies on their heads among others."""
    half = [0.0, 0, 0, 1]
    for quat in ([half, UNIT], [[0.0, 1, 0, 0], [0, 0, 1, 0]]):
        here = gc.Poses.from_quat_wxyz([[0, 0, 0], [9, 0, 0]], quat)
        bodies = gc.Bodies(gc.shapes.box(), None, here, here)
        assert doubted(lambda bodies=bodies: gc.collide(bodies, [[0, 1]], backend="cpu")) == []
    position = np.array([[0.0, 0, 0], [30, 4, 0]])
    ends = [gc.Poses.from_quat_wxyz(position - [x, 0, 0], [half] * 2) for x in (0, 9)]
    assert doubted(lambda: gc.collide(gc.Bodies(gc.shapes.car(), None, *ends), [[0, 1]], backend="cpu")) == []
    one = gc.Poses.from_quat_wxyz(np.zeros((20, 1, 3)), np.tile(half, (20, 1, 1)))
    call = lambda: gc.collide_trajectories(gc.shapes.car(), None, one, np.arange(20), backend="cpu")  # noqa: E731
    assert doubted(call) == []


def in_millimetres():
    """A cube drawn in millimetres, two of which stand metres apart."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0, 0]], [UNIT] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.5, 0, 0]], [UNIT] * 2)
    return gc.Bodies(gc.shapes.box((1000, 1000, 1000)), None, start, end)


def test_millimetres_for_metres():
    bodies = in_millimetres()
    said = doubted(lambda: gc.collide(bodies, [[0, 1]], backend="cpu"))
    assert len(said) == 1 and re.search("all 1 pairs overlap.*not millimetres beside metres", said[0])
    small = gc.Bodies(bodies.meshes[0].scaled(0.001), None, bodies.start, bodies.end)
    assert doubted(lambda: gc.collide(small, [[0, 1]], backend="cpu")) == []


def test_bodies_about_one_middle_are_not_doubted():
    """A shaft in its bearing, parts drawn where they stand, and two bodies in the same place."""
    inner, outer = gc.shapes.box((1, 1, 8)), gc.shapes.torus(2.0, 0.5)
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], [x, 0, 0]], [UNIT] * 2) for x in (1e-6, 3e-6)]
    assert (
        doubted(lambda: gc.collide(gc.Bodies([inner, outer], [0, 1], *poses), [[0, 1]], backend="cpu")) == []
    )
    drawn = [gc.Mesh(inner.vertices + [3.0 * k, 0, 0], inner.faces) for k in range(9)]
    frames = gc.Poses.from_quat_wxyz(
        1e-3 * np.random.default_rng(0).normal(size=(12, 9, 3)), np.broadcast_to(UNIT, (12, 9, 4))
    )
    call = lambda: gc.collide_trajectories(  # noqa: E731
        drawn, np.arange(9), frames, np.linspace(0, 1, 12), backend="cpu"
    )
    assert doubted(call) == []
    here = gc.Poses.identity(2)
    same = gc.Bodies(gc.shapes.box(), None, here, here)
    assert doubted(lambda: gc.collide(same, [[0, 1]], backend="cpu")) == []


def drive(times):
    """A car at 20 m/s, sampled 60 times a second."""
    x = np.arange(30) * 20.0 / 60.0
    position = np.stack([x, 0 * x, 0 * x], axis=1)[:, None]
    poses = gc.Poses.from_quat_wxyz(position, np.broadcast_to(UNIT, (30, 1, 4)))
    return doubted(
        lambda: gc.collide_trajectories(
            gc.shapes.car(), None, poses, times, static=gc.shapes.box(), backend="cpu"
        )
    )


def test_milliseconds_for_seconds():
    frames = np.arange(30)
    for times in (frames * 1000.0 / 60.0, 1.7e12 + frames * 16.0, 1.7e15 + frames * 16667.0):
        said = drive(times)
        assert len(said) == 1 and re.search("seconds.*divide them by 1000", said[0]), said
    for times in (frames / 60.0, 1.7e9 + frames / 60.0, frames, frames * 1.0):
        assert drive(times) == []


def test_slow_things_in_steps_of_seconds_are_not_doubted():
    """Ships that report every ten seconds, and what stands still."""
    t = 10.0 * np.arange(30)
    hull = gc.shapes.box((180, 30, 20))
    for speed in (8.0, 0.0):
        position = np.stack([speed * t, 0 * t, 0 * t], axis=1)[:, None]
        poses = gc.Poses.from_quat_wxyz(position, np.broadcast_to(UNIT, (30, 1, 4)))
        call = lambda poses=poses: gc.collide_trajectories(hull, None, poses, t, backend="cpu")  # noqa: E731
        assert doubted(call) == []


def test_sound_scenes_are_not_doubted():
    """What the package itself makes, all families of `verify`, worlds and races."""
    looked = 0
    for maker in (gc.shapes.box, gc.shapes.car, gc.shapes.torus):
        bodies, pairs = random_impacts(maker(), n=40, seed=3)
        assert doubted(lambda b=bodies, p=pairs: gc.collide(b, p, backend="cpu")) == []
    bodies, world = worlds(4, 6)
    assert doubted(lambda: gc.collide(bodies, world=world, backend="cpu")) == []
    for family in families.FAMILIES:
        if family.method != "collide":
            continue
        made = family.make(0, 20)
        asked = doubted(lambda made=made: gc.collide(made.bodies, **made.keywords, backend="cpu"))
        assert [text for text in asked if "invalid pose" not in text] == [], family.name
        looked += 1
    assert looked > 3


@pytest.mark.parametrize("seed", range(4))
def test_turns_drawn_at_random_are_not_doubted(seed):
    rng = np.random.default_rng(seed)
    for count in (1, 2, 3, 4, 8, 50):
        for _ in range(50):
            quat = rng.normal(size=(2, count, 4))
            quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
            assert plausibility.order_doubt(quat, rng.normal(size=(count, 3))) is None


def test_scenes_doubt_as_collide_does_and_once():
    quat = yaws()
    for made, text in (
        (cars(quat), "Poses.from_quat_xyzw"),
        (in_millimetres(), "not millimetres beside metres"),
    ):
        with gc.Scene(made.meshes, made.shape, made.start, made.end, backend="cpu") as scene:
            said = doubted(lambda scene=scene: [scene.collide(pairs) for pairs in ([[0, 1]], None, [[0, 1]])])
        assert len(said) == 1 and text in said[0]
    sound = cars(yaws(last=False))
    with gc.Scene(sound.meshes, None, sound.start, sound.end, backend="cpu") as scene:
        assert doubted(lambda: [scene.collide(), scene.collide([[0, 1]])]) == []


def test_a_scene_looks_in_its_first_questions_alone(monkeypatch):
    looked = []
    monkeypatch.setattr(queries_scene, "warn_of_bodies", lambda *_: looked.append(1))
    made = cars(yaws(last=False))
    with gc.Scene(made.meshes, None, made.start, made.end, backend="cpu") as scene:
        for _ in range(queries_scene.LOOKS + 5):
            scene.collide([[0, 1]])
    assert len(looked) == queries_scene.LOOKS
