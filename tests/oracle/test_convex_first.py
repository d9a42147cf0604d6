"""The judge of first contacts by planes: its distances are those of closed forms, what it proves is so at any
time, and what is told wrongly it finds."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.frusta import BEFORE, GAP, faults
from tests.oracle import convex_first
from tests.oracle.frustums import Frustum, point_frustum
from tests.oracle.round_shapes import back, turn
from tests.support.frustum_scenes import FAMILIES, KINDS, ONE, passes, unit
from tests.support.seeds import everyday, generator

pytestmark = pytest.mark.skipif(convex_first.missing() is not None, reason=str(convex_first.missing()))


def test_distances_of_balls_are_those_of_the_polygon():
    """Worst seen: 3e-15 of the lower bound, 4e-14 of the upper one."""
    rng, n = generator(1), 300
    half, radii = rng.uniform(0.1, 1.0, n), rng.uniform(0.0, 1.0, (n, 2)) * (rng.random((n, 2)) < 0.8)
    shapes = [
        convex_first.Convex(np.array([[0, 0, -h], [0, 0, h]]), 0.0, r)
        for h, r in zip(half, radii, strict=True)
    ]
    shapes.append(convex_first.Convex(np.zeros((1, 3)), 0.1))
    p, q, x = rng.normal(size=(n, 3)), unit(rng, n, 4), rng.normal(size=(n, 3)) * 1.5
    one = np.tile(ONE, (n, 1))
    still = [convex_first.screw(p, q, p, q), convex_first.screw(x, one, x, one)]
    judge = convex_first.Passages(shapes, np.stack([np.arange(n), np.full(n, n)], axis=1), still)
    _, _, low, high = judge.until(np.zeros(n), BEFORE)
    want = point_frustum(turn(back(q), x - p), Frustum(half, radii)) - 0.1
    np.testing.assert_allclose(np.maximum(high, 0.0), np.maximum(want, 0.0), atol=1e-12)
    deep = want < -0.1  # the middle of the ball is inside: no plane found needs to be the best
    assert (np.abs(low - want)[~deep] < 1e-13).all() and (low[deep] <= want[deep] + 1e-13).all()


@pytest.mark.parametrize("k", everyday(1, len(KINDS)))
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_first_contacts_are_proved_and_what_is_wrong_is_found(k, motion):
    kinds = KINDS[(7 * k) % len(KINDS)]
    for family in ("random", "flat", "spin"):
        bodies, pairs, judge, _ = passes(kinds, 9, (2, FAMILIES.index(family)), motion, family)
        found = gc.collide(bodies, pairs, motion=motion, contacts="first", backend="cpu")
        bad, worst = faults(found, judge)
        assert not bad and worst[1] < GAP
        hit, miss = found.status == gc.Status.HIT, found.status == gc.Status.MISS
        assert hit.any() and miss.any()
        until = np.where(hit, found.toi, np.where(miss, 1.0, 0.0))
        low = judge.until(generator(3).random(len(until)) * until, BEFORE)[2]
        assert (low[hit | miss] >= -BEFORE).all()  # by a search of its own at a time between
        head_on = hit.copy()
        head_on[hit] = found.normal_speed[found.contact_start[:-1][hit]] < -0.01
        for status, toi, wrong in (
            (gc.Status.MISS, np.inf, head_on),
            (gc.Status.HIT, found.toi - 1e-7, head_on),
            (gc.Status.HIT, found.toi + 1e-7, head_on),
            (gc.Status.HIT, 0.5, miss),
            (gc.Status.INITIAL_OVERLAP, np.inf, miss),
            (gc.Status.UNRESOLVED, found.toi, hit),
        ):
            told = dataclasses.replace(found, status=np.where(wrong, status, found.status).astype(np.uint8))
            told = dataclasses.replace(told, toi=np.where(wrong, toi, found.toi))
            assert {row for row, _ in faults(told, judge)[0]} == set(np.flatnonzero(wrong).tolist())


@pytest.mark.parametrize("kinds", [("cylinder", "sphere"), ("frustum", "capsule")], ids="-".join)
def test_what_begins_in_touch_is_told_if_it_goes_in(kinds):
    """Bodies that were through each other by less than touch, and came nearer, were told as MISS."""
    for motion in ("relative", "body"):
        bodies, pairs, judge, _ = passes(kinds, 40, (0, FAMILIES.index("touch")), motion, "touch")
        found = gc.collide(bodies, pairs, motion=motion, contacts="first", backend="cpu")
        assert not faults(found, judge)[0] and (found.toi == 0).any()


#: Pairs that were told wrongly: what of it, kinds, motion, family, seed, pairs, the pair.
WRONG = {
    "a level disc that tips in seemed to part": ("cylinder-box", "relative", "touch", 0, 67, 42),
    "an edge that a disc tips onto seemed to part": ("cylinder-box", "body", "touch", 2, 800, 746),
    "a level disc whose middle is not over the face": ("cylinder-box", "body", "touch", 1, 800, 707),
    "a bound that stood across a turning disc": ("cylinder-hull", "body", "graze", 0, 67, 10),
    "a bound that stood across two turning sides": ("cylinder-cone", "body", "spin", 0, 67, 30),
    "what slides 1e-6 above a face, or a little below": ("cylinder-box", "relative", "graze", 1, 800, 81),
    "an edge that slides along a side": ("cylinder-box", "body", "graze", 1, 800, 170),
    "a first step out of touch that ended within": ("cylinder-capsule", "body", "touch", 1, 4000, 2375),
    "the same of two cylinders": ("cylinder-cylinder", "body", "touch", 1, 4000, 2924),
    "told over a face 1e-11 before it was there": ("cone-hull", "relative", "whole", 0, 67, 60),
    "told beside a face 1e-11 before it was there": ("cylinder-box", "relative", "graze", 0, 67, 40),
}


@pytest.mark.parametrize("what", WRONG)
def test_pairs_that_were_told_wrongly(what):
    kinds, motion, family, seed, n, k = WRONG[what]
    bodies, pairs, judge, _ = passes(
        tuple(kinds.split("-")), n, (seed, 0, FAMILIES.index(family)), motion, family
    )
    found = gc.collide(bodies, pairs[[k]], motion=motion, contacts="first", backend="cpu")
    assert not faults(found, judge.of([k]))[0]
