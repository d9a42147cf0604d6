"""`motion="body"` against a judge that shares nothing with it, and what one relative screw is off.

`python -m tests.acceptance.body_motion` does the same with more pairs, prints what is undecided, and the
tables.
"""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.body_motion import of_family, overlapping_scenes
from tests.acceptance.body_motion_runs import answer, chord_off, in_pieces, run, same_bits, scene_of_cubes
from tests.oracle import body_motion as bm
from tests.oracle.body_motion_families import FAMILIES
from tests.support import seeds

pytestmark = pytest.mark.skipif(bm.missing() is not None, reason=str(bm.missing()))

# All contacts of these are mostly in one plane: they cost the judge 5 to 30 ms a pair.
PLANAR = {"rolling", "rolling_spins", "cars_10hz", "cars_town", "cars_racing", "cars_2hz", "resting", "spins"}


@pytest.mark.scale("6,000 pairs, most of the time the judge's")
@pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_missed_nothing_invented(family, backend):
    first, every = of_family(family, 150, 17, backend.name, 15 if family in PLANAR else 80)
    assert first.faults() == 0, (first.counts, first.rows)
    assert every.faults() == 0, (every.counts, every.rows)
    # worst seen in 1,904,000 pairs: 3e-13 sizes; far ones 3e-12, fast ones, ways of 1e4 lengths: 6e-12
    assert max(first.worst.get("dt * pace / size", 0), every.worst.get("dt * slope / size", 0)) < 1e-11


@pytest.mark.backends("cpu", "opencl")
def test_rolling_wheels_that_pass_close_by_are_no_contacts(backend):
    """Three pairs that were once reported as contacts; the judge finds them apart."""
    scene = FAMILIES["rolling"]([1, 0], 1000).take(np.array([7, 537, 977]))
    assert set(bm.first_touches(scene)["status"]) == {bm.MISSES}
    found = run(scene, motion="body", backend=backend.name)
    assert found.status.tolist() == [int(gc.Status.MISS)] * 3


@pytest.mark.parametrize(
    "way, turn, status",
    [
        (9e7, 0.3, "HIT"),
        (1.1e8, 0.2, "UNRESOLVED"),
        (7e6, 4.0, "HIT"),
        (9e6, 4.0, "UNRESOLVED"),
        (1.0, 999.0, "HIT"),
        (1.0, 1001.0, "UNRESOLVED"),
    ],
)
@pytest.mark.backends("cpu", "opencl")
def test_own_motions_beyond_their_bounds_are_unresolved(way, turn, status, backend):
    """Cubes of radius 1; the first moves towards the other, or away from it: MISS. Both turn."""
    cube = gc.shapes.box(2 / np.sqrt([3, 3, 3]))
    for side, due in ((2.3, status), (-2.3, "MISS")):
        start = gc.Poses([[0, 0, 0], [side, 0.3, 0.2]], [[1, 0, 0, 0]] * 2)
        bodies = gc.Bodies.from_velocities(
            cube, [0, 0], start, [[way, 0, 0], [0, 0, 0]], [[0, 0, turn], [0.2, 0, 0]]
        )
        found = gc.collide(bodies, [[0, 1]], motion="body", backend=backend.name, contacts="first")
        assert gc.Status(int(found.status[0])).name == due


@pytest.mark.backends("cpu", "opencl")
def test_places_of_long_ways_are_in_doubt_by_their_rounding(backend):
    """Aligned cubes, of which one has turned by 6.5e-7 when their faces meet: corners stand out by 3.8e-7
    and were told as inside, since the speed with which A's axes sweep by was counted as theirs."""
    cube = gc.shapes.box(2 / np.sqrt([3, 3, 3]))
    start = gc.Poses([[0, 0, 0], [2.3, 0, 0]], [[1, 0, 0, 0]] * 2)
    bodies = gc.Bodies.from_velocities(
        cube, [0, 0], start, [[7e6, 0, 0], [0, 0, 0]], [[0, 0, 4.0], [0.2, 0, 0]]
    )
    found, wanted = (
        gc.collide(bodies, [[0, 1]], motion="body", backend=b, contacts="first")
        for b in (backend.name, "reference")
    )
    assert abs(found.toi[0] - wanted.toi[0]) * 7e6 < 1e-8  # 4e-9
    for name in ("kind", "feature_a", "feature_b"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name


@pytest.mark.parametrize("family", ["cubes", "spin_and_screw", "half_turns", "touching"])
def test_the_reference_too(family):
    first, every = of_family(family, 12, 18, "reference", 5)
    assert first.faults() == 0, (first.counts, first.rows)
    assert every.faults() == 0, (every.counts, every.rows)


@pytest.mark.backends("cpu", "opencl")
@pytest.mark.parametrize("family", ["one_still", "translating"])
def test_where_the_relative_screw_is_the_truth_it_is_the_same_bits(family, backend):
    assert same_bits(FAMILIES[family](19, 300), backend=backend.name) == []


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("turn", [0.1, 0.8, 3.1])
def test_no_pair_overlaps_at_the_first_contact_of_a_scene(turn, backend):
    """With relative screws it does in about half of the scenes."""
    scene, group = scene_of_cubes(seeds.generator(20, int(10 * turn)), 25, turn)
    started = np.isin(bm.first_touches(scene)["status"], (bm.OVERLAPS, bm.TOUCHES_AT_START))
    toi = answer(run(scene, motion="body", contacts="first", backend=backend.name))[1].copy()
    toi[np.isin(group, group[started])] = np.inf
    live, by_fcl, by_cuts, _ = overlapping_scenes(scene, group, toi, 1e-9)
    assert live > 15
    assert (by_fcl, by_cuts) == (0, 0)


@pytest.mark.backends("cpu")
def test_one_relative_screw_in_pieces_comes_to_the_same(backend):
    """The judge's own motions, by another way: a step in pieces is off by a quarter when these are twice
    as many."""
    scene = FAMILIES["cubes"](21, 150)
    first = bm.first_touches(scene)
    rows = np.flatnonzero((first["status"] == bm.TOUCHES) & (first["approach"] < -0.5))
    scene, due = scene.take(rows), first["time"][rows]
    off = []
    for pieces in (16, 32, 64):
        dt = np.abs(in_pieces(scene, pieces, backend=backend.name) - due)
        off.append(np.median(dt[np.isfinite(dt)]))
    assert off[0] / off[1] == pytest.approx(4, abs=0.8)
    assert off[1] / off[2] == pytest.approx(4, abs=0.8)


@pytest.mark.backends("cpu")
def test_how_far_one_relative_screw_is_off(backend):
    """Cars on arcs at 2 Hz: centimetres to decimetres; and it misses and invents collisions."""
    scene = FAMILIES["cars_2hz"](22, 600)
    first = bm.first_touches(scene)
    toi = answer(run(scene, motion="relative", contacts="first", backend=backend.name, check_start=False))[1]
    touch, miss = first["status"] == bm.TOUCHES, first["status"] == bm.MISSES
    assert 0.1 < np.median(chord_off(scene, np.flatnonzero(touch))) < 1
    assert (touch & np.isinf(toi)).sum() > 0
    assert (miss & np.isfinite(toi)).sum() > 0
