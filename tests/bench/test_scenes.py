"""Seeded scenes: clear at the start, half of them touching, the turn as asked for, the same on every run."""

import math

import numpy as np
import pytest

import gpu_collide as gc
from bench.relative import relative_poses, rotate
from gpu_collide import scenes

SHAPES = {"box": gc.shapes.box, "car": gc.shapes.car, "torus": gc.shapes.torus, "l_block": gc.shapes.l_block}


def centres_and_turn(bodies, pairs, mesh_a, mesh_b):
    """B's centre seen from A's at start and end (p, 3), and the relative turn (p,)."""
    p0, q0, p1, q1 = relative_poses(bodies, pairs)
    first = p0 + rotate(q0, mesh_b.center) - mesh_a.center
    last = p1 + rotate(q1, mesh_b.center) - mesh_a.center
    return first, last, 2.0 * np.arccos(np.abs((q0 * q1).sum(axis=1)).clip(0.0, 1.0))


@pytest.mark.parametrize("name", SHAPES)
def test_random_impacts_start_clear_and_turn_up_to_the_limit(name):
    mesh = SHAPES[name]()
    bodies, pairs = scenes.random_impacts(mesh, mesh, 500, seed=3)
    assert len(bodies) == 1000 and pairs.shape == (500, 2)
    assert bodies.start.valid.all() and bodies.end.valid.all()
    first, last, turn = centres_and_turn(bodies, pairs, mesh, mesh)
    assert (np.linalg.norm(first, axis=1) > 2.0 * mesh.radius).all()
    assert (turn <= math.pi / 4 + 1e-7).all() and turn.max() > 0.9 * math.pi / 4
    # Both bodies move: A's own displacement is of the order of its size.
    moved = np.linalg.norm(bodies.end.position[:500] - bodies.start.position[:500], axis=1)
    assert np.median(moved) > 0.5 * mesh.radius


def test_two_different_shapes():
    box, car = gc.shapes.box(), gc.shapes.car()
    bodies, pairs = scenes.random_impacts(box, car, 50)
    assert bodies.meshes == (box, car)
    assert (bodies.shape[pairs[:, 0]] == 0).all() and (bodies.shape[pairs[:, 1]] == 1).all()
    first, _, _ = centres_and_turn(bodies, pairs, box, car)
    assert (np.linalg.norm(first, axis=1) > box.radius + car.radius).all()


def test_same_seed_same_bits_other_seed_other_scene():
    box = gc.shapes.box()
    one, again, other = (scenes.random_impacts(box, box, 20, seed=s)[0] for s in (1, 1, 2))
    assert np.array_equal(one.end.position, again.end.position)
    assert not np.array_equal(one.end.position, other.end.position)


def test_shadow_of_a_box_and_of_a_ball_in_closed_form():
    box = gc.shapes.box((1.0, 1.0, 1.0))
    # Surface 6, mean width 3/2: 6/4 + 6/4 + pi/2 (3/2)^2.
    assert scenes.mean_shadow_area(box, box) == pytest.approx(3.0 + math.pi * 2.25 / 2.0, rel=0.01)
    ball = gc.shapes.icosphere(3)
    assert scenes.mean_shadow_area(ball, ball) == pytest.approx(4.0 * math.pi, rel=0.02)


def test_translations_do_not_turn():
    box = gc.shapes.box()
    _, _, turn = centres_and_turn(*scenes.translations(box, box, 50), box, box)
    assert (turn < 1e-7).all()


def test_fast_pass_goes_as_far_as_it_says():
    box = gc.shapes.box()
    first, last, _ = centres_and_turn(*scenes.fast_pass(box, box, 50, lengths=200.0), box, box)
    assert np.linalg.norm(last - first, axis=1) == pytest.approx(400.0 * box.radius)


def test_spins_stay_in_place():
    box = gc.shapes.box()
    first, last, turn = centres_and_turn(*scenes.spins(box, box, 50), box, box)
    assert np.abs(last - first).max() < 1e-12 * 50 and turn.max() > 0.1


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_impossible_share_is_refused(share):
    box = gc.shapes.box()
    with pytest.raises(ValueError, match="touch_share"):
        scenes.random_impacts(box, box, 5, touch_share=share)
