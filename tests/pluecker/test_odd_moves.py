"""Moves that make no sense, or nearly none: each gets a clear answer."""

import warnings

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker import Touch, move, rotate, translate
from tests.pluecker._crowds import BOX, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FLAT = [[0, -1, -1], [0, 1, -1], [0, 0, 1]]
ROUND = 2 * np.pi


@pytest.fixture
def how(backend):
    return {"backend": backend.kind}


def names(trace):
    return [gc.Status(status).name for status in trace.status]


def test_turns_that_are_none(how):
    """A row without numbers, or without an axis, is told by its status, as a way without numbers is."""
    nan, inf, up, here = np.nan, np.inf, [0.0, 0, 1], [0.0, 0, 0]
    none = [
        (1, here, here), (0, here, here), (1, [0, inf, 1], here), (1, [nan, 0, 1], here), (nan, up, here),
        (inf, up, here), (-inf, up, here), (1, up, [0, nan, 0]), (1, up, [0, 0, inf]),
    ]  # fmt: skip
    rows = [*none, (1, up, [1e41, 0, 0]), (0.1, up, here)]
    movers = still(BOX, np.tile([3.0, 0, 0], (len(rows), 1)))
    found = rotate(movers, still(BOX, here), *map(np.array, zip(*rows, strict=True)), **how)
    assert names(found) == ["INVALID_INPUT"] * len(none) + ["UNRESOLVED", "MISS"]
    assert np.array_equal(found.position[:-1], movers.start.position[:-1]) and not found.fraction[:-1].any()


def test_a_whole_turn_and_what_float32_makes_of_it(how):
    mover, world = still(BOX, [3.0, 0, 0]), still(BOX, [0.0, -3, 0])
    turns = [rotate(mover, world, sign * a, [0, 0, 1], [0, 0, 0], **how)
             for sign in (1, -1) for a in (ROUND, np.float32(ROUND), np.nextafter(ROUND, 7))]  # fmt: skip
    assert all(t.fraction[0] == turns[0].fraction[0] for t in turns[:3]) and turns[0].fraction[0] > 0.6
    assert all(t.fraction[0] == turns[3].fraction[0] for t in turns[3:]) and turns[3].fraction[0] < 0.2
    with pytest.raises(ValueError, match="at most 2 pi, got 6.2832 "):
        rotate(mover, world, 6.2832, [0, 0, 1], [0, 0, 0], **how)
    free = rotate(mover, still(BOX, [9.0, 9, 9]), np.float32(ROUND), [0, 0, 1], [0, 0, 0], **how)
    assert np.abs(free.position - [3, 0, 0]).max() < 1e-14


@pytest.mark.parametrize("far", [1e9, 1e13, 1e15, 1e20, 1e39])
def test_ways_that_are_far_longer_than_anything_is_wide(how, far):
    """The zone is wider than the bodies, but nothing is gone through. It was, from 1e15 on: something may
    leave over a face that it is behind by rounding, and that was the rounding of the way's far end."""
    world = still(BOX, [0, 0, 0])
    start = [[3.0, 0.1, 0.2], [3, 0.7, 0.9], [0.7, 0.6, 0.6]]
    for movers in (still(BOX, start[:2]), np.array(start[:1]), still(gc.Mesh(FLAT, [[0, 1, 2]]), start[:2])):
        found = translate(movers, world, [-far, 0, 0], **how)
        assert np.all(found.status == gc.Status.HIT) and np.all(found.position[:, 0] > 0.4)


def test_nobody_and_nothing(how):
    none, world, pts = still(BOX, np.zeros((0, 3))), still(BOX, [0, 0, 0]), np.zeros((0, 3))
    for movers in (none, pts):
        for check in (False, True):
            assert len(translate(movers, world, [1, 0, 0], check_start=check, **how)) == 0
            assert len(rotate(movers, none, 1.0, [0, 0, 1], [0, 0, 0], check_start=check, **how)) == 0
    assert names(rotate(world, none, ROUND, [0, 0, 1], [0, 0, 0], check_start=True, **how)) == ["MISS"]
    assert names(move(world, none, check_start=True, **how)) == ["MISS"]


def test_who_is_not_there_is_told_of_once(how):
    nan = [np.nan, 0, 0]
    movers = still(BOX, [[3.0, 0, 0], [0.2, 0, 0], nan])
    for places, kinds in (([nan, [0, 0, 0]], [Touch.VF, 0, 0]), ([nan, nan], [0, 0, 0])):
        world = still(BOX, places)
        for own in (None, [-1, 0, 1]):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                found = translate(movers, world, [-4.0, 0, 0], exclude_body=own, check_start=True, **how)
            assert len([w for w in seen if "pose" in str(w.message)]) == 1
            inside = "INITIAL_OVERLAP" if kinds[0] else "MISS"
            assert names(found)[1:] == [inside, "INVALID_INPUT"]
            assert (found.kind[0] != 0) == (kinds[0] != 0)
    pairs = [[1, 0], [1, 1], [2, 1], [0, 1]]
    with pytest.warns(RuntimeWarning, match="is not there"):
        found = translate(
            movers, still(BOX, [nan, [0, 0, 0]]), [-4.0, 0, 0], pairs=pairs, check_start=True, **how
        )
    assert names(found) == ["INVALID_INPUT", "INITIAL_OVERLAP", "INVALID_INPUT", "HIT"]


def test_points_and_polygons(how):
    """A one-sided polygon stops what comes at its front, one with two sides whatever comes."""
    for two_sided in (False, True):
        plate = still(gc.Mesh(FLAT, [[0, 1, 2]], two_sided=two_sided), [0, 0, 0])
        points, ways = [[3.0, 0, 0], [-3, 0, 0], [np.nan, 0, 0]], [[-4.0, 0, 0], [4, 0, 0], [1, 0, 0]]
        found = translate(points, plate, ways, check_start=True, **how)
        assert names(found) == ["HIT", "HIT" if two_sided else "MISS", "INVALID_INPUT"]
        assert found.kind[0] == Touch.VF and abs(found.fraction[0] - 0.75) < 1e-9
        turned = rotate(points, plate, np.pi, [0, 0, 1], [1.5, 0, 0], check_start=True, **how)
        assert names(turned)[0] == "HIT" and names(turned)[2] == "INVALID_INPUT"
        flying = still(plate.meshes[0], [[3.0, 0, 0]])
        for found in (translate(flying, still(BOX, [0, 0, 0]), [-4.0, 0, 0], **how),
                      translate(flying, plate, [-4.0, 0, 0], **how)):  # fmt: skip
            assert names(found) == ["HIT"] and 0.6 < found.fraction[0] <= 0.75
    with pytest.raises(TypeError, match="points have no pose"):
        move(np.zeros((2, 3)), plate, **how)


@pytest.mark.parametrize("precision", ["mixed", "single", "double"])
def test_every_precision_answers_alike(how, precision):
    """Polygons that go and turn, starts inside, no axis, more than half a turn, no world, no numbers."""
    how |= {"precision": precision}
    cube, nobody, here = still(BOX, [0.0, 0, 0]), still(BOX, np.zeros((0, 3))), [0.0, 0, 0]
    sheet = still(gc.Mesh(FLAT, [[0, 1, 2]]), [[3.0, 0, 0], [-3, 0, 0]])
    ways = [[-4.0, 0, 0], [4, 0, 0]]

    def stops(trace, *fractions):
        off = (
            1e-3 if precision == "single" else 1e-8
        )  # measured: 1.2e-4 (its zone), and 4e-10 of those written here
        assert np.all(np.abs(trace.fraction - fractions) < off), trace.fraction
        return names(trace)

    assert stops(translate(sheet, cube, ways, **how), 0.625, 0.625) == ["HIT"] * 2
    assert stops(translate(cube, sheet, [[4.0, 0, 0]], **how), 0.625) == ["HIT"]
    swung = rotate(sheet, cube, 1.5 * np.pi, [0, 0, 1], [[1.5, 0, 0], [-9, 9, 9]], **how)
    assert stops(swung, 0.504032902, 1) == ["HIT", "MISS"]
    both = rotate(still(BOX, [3.0, 0, 0]), still(BOX, [0, -3.0, 0]), [1.5 * np.pi], [0, 0, 1], here, **how)
    assert stops(both, 0.916222722) == ["HIT"]
    inside = still(BOX, [[0.2, 0, 0], [np.nan, 0, 0], [3, 0, 0]])
    free = translate(inside, cube, [1.0, 0, 0], check_start=True, **how)
    assert stops(free, 1, 0, 1) == ["INITIAL_OVERLAP", "INVALID_INPUT", "MISS"]
    assert names(rotate(inside, cube, 1.0, here, here, **how)) == ["INVALID_INPUT"] * 3
    assert names(rotate(inside, nobody, 1.0, [0, 1, 0], here, **how)) == ["MISS", "INVALID_INPUT", "MISS"]
    pairs = [[1, 0], [0, 0], [0, 0]]
    assert stops(translate(sheet, cube, ways, pairs=pairs, **how), 0.625, 0.625, 0.625) == ["HIT"] * 3
    assert len(translate(sheet, cube, ways, pairs=np.zeros((0, 2), int), **how)) == 0
    near = gc.pluecker.contacts(
        still(BOX, [[1.0, 0, 0], [3, 0, 0]]), cube, 0.01, pairs=[[1, 0], [0, 0]], **how
    )
    assert names(near) == ["MISS", "HIT"]
