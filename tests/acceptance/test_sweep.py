"""Hostile casts against the exact judge, crowds at closed walls, characters in a room: samples of runs."""

import numpy as np
import pytest

from gpu_collide.scenes import demo_race
from tests.acceptance import sweep_crowds, sweep_race, sweep_report, sweep_walk
from tests.acceptance.sweep_runs import run
from tests.oracle.sweep_families import FAMILIES

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FIELDS = ("status", "time", "point", "normal", "body", "face", "feature", "number", "sphere")


@pytest.mark.parametrize("family", FAMILIES)
def test_casts_hold_exactly(backend, family):
    """Nothing missed, late, passed or invented, on `cpu`; the others have its bits."""
    if backend.kind == "cpu":
        tally = sweep_report.run_family(family, 6, ["cpu"], seed=5)["cpu", "mixed"]
        assert tally.casts == 6 and not tally.wrong, tally.rows
        return
    casts = FAMILIES[family]([5, 0], 20)
    one, two = (run(casts, backend=kind)[1] for kind in ("cpu", backend.kind))
    assert all(getattr(one, name).tobytes() == getattr(two, name).tobytes() for name in FIELDS)


@pytest.mark.slow
@pytest.mark.parametrize("hits", ["first", "any", "all"])
@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("family", FAMILIES)
def test_many_casts_hold_exactly(backend, family, precision, hits):
    tallies = sweep_report.run_family(family, 200, [backend.kind], [precision], seed=6, hits=hits)
    tally = tallies[backend.kind, precision]
    assert not tally.wrong, tally.rows[:3]


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("hits", ["any", "all"])
@pytest.mark.parametrize("family", ["rays_two_sided", "spheres", "whole_spheres", "rooms"])
def test_any_and_all_hits_hold_exactly(backend, family, hits):
    tally = sweep_report.run_family(family, 6, ["cpu"], seed=7, hits=hits)["cpu", "mixed"]
    assert not tally.wrong, tally.rows


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("family", FAMILIES)
def test_any_hit_is_there_where_a_first_one_is_and_is_one_of_all(backend, family, precision):
    casts = FAMILIES[family](11, 120)
    options = {"backend": backend.kind, "precision": precision}
    first, some, every = (run(casts, hits=hits, **options)[1] for hits in ("first", "any", "all"))
    assert (some.status == first.status).all() and (every.status == first.status).all()
    assert (some.time >= first.time).all()
    names = ("time", "point", "normal", "body", "face", "feature", "number", "sphere")
    rows = np.column_stack([getattr(every, name).reshape(len(every), -1) for name in names])
    for i in np.flatnonzero(some.hit):
        one = np.concatenate([np.atleast_1d(getattr(some, name)[i]) for name in names])
        assert (rows[every.offsets[i] : every.offsets[i + 1]] == one).all(axis=1).any(), i


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("kind", sweep_crowds.KINDS)
def test_nothing_gets_through_a_closed_wall(backend, kind, precision):
    tally = sweep_crowds.crowd(kind, 5000, 1, block=5000, backend=backend.kind, precision=precision)
    assert tally.through == 0 and tally.casts >= 5000 and tally.hits > 500, tally


@pytest.mark.slow
@pytest.mark.parametrize("kind", sweep_crowds.KINDS)
def test_ten_million_do_not_get_through_a_closed_wall(kind):
    assert sweep_crowds.crowd(kind, 10_000_000, 2, backend="cpu").through == 0


def test_the_crowds_would_see_one_that_gets_through():
    """Hits that are taken away: the centres are seen inside."""
    casts, normals, out = sweep_crowds.casts_of("seams", np.random.default_rng(3), 2000, False)
    deep = sweep_crowds.depth(casts, normals, out, np.ones(len(casts)), False)
    assert (deep > 0.1).sum() > 200
    casts, normals, out = sweep_crowds.casts_of("seams", np.random.default_rng(3), 2000, True)
    deep = sweep_crowds.depth(casts, normals, out, np.ones(len(casts)), True)
    assert (deep > 0.1).sum() > 500


@pytest.mark.parametrize("precision, step", [("mixed", 0.0), ("mixed", 0.25), ("single", 0.25)])
def test_characters_stay_in_their_room(backend, precision, step):
    """None leaves, none goes into a wall, none becomes faster; at rest none moves by a bit."""
    tally = sweep_walk.walk(
        40, 25, rest=50, looks=15, backend=backend.kind, precision=precision, step_height=step
    )
    assert not tally.wrong, tally
    assert tally.grounded > 0.7 * tally.steps and tally.deepest < 0


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_a_thousand_characters_stay_in_their_room(precision):
    tally = sweep_walk.walk(1000, 500, seed=4, backend="cpu", precision=precision, step_height=0.2)
    assert not tally.wrong, tally


def test_the_walk_would_see_one_that_leaves_or_sinks():
    meshes, places = sweep_walk.room()
    walls = sweep_walk.Walls(meshes, places)
    radii = np.full((3, 3), 0.2)
    place = np.array([[1.0, 1.0, 0.0], [0.15, 1.0, 0.0], [3.0, 3.0, 0.0]])
    assert sweep_walk.outside(place).tolist() == [False, False, True]
    near = walls.nearest(place, radii) - 1
    assert near[0] > 1 and near[1] == pytest.approx(-0.25)
    assert walls.exactly(place[1], radii[1]) == pytest.approx(-0.25)


@pytest.fixture(scope="module")
def race():
    return demo_race(3, stations=120, seconds=10.0)


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_none_falls_through_an_open_track(backend, race, precision):
    """Those who walk off its border fall, and no others."""
    walk = sweep_race.Race(race, 12, up=2, backend=backend.kind, precision=precision)
    for _ in range(35):
        walk.step()
    tally = walk.tally
    assert not tally.wrong and tally.steps == 420, tally
    assert tally.grounded > 150 and tally.walked > 40


@pytest.mark.backends("cpu")
def test_the_race_would_see_one_that_falls_through(backend, race):
    """Faces far from the border that the world lacks and the judge has."""
    road = np.flatnonzero(np.arange(len(race["track_faces"])) % 16 // 2 == 4)
    whole = sweep_race.Race(race, 15, up=2, backend="cpu")
    walk = sweep_race.Race(race, 15, up=2, without=road, backend="cpu")
    for k in (whole, walk):
        for _ in range(25):
            k.step()
    assert not whole.tally.wrong
    assert walk.tally.through > 0 and walk.tally.deep > 0, walk.tally


def test_the_judge_of_the_race_by_hand():
    """A square of two triangles at height 0, up y."""
    vertices = np.array([[0.0, 0, 0], [10, 0, 0], [10, 0, 10], [0, 0, 10]])
    ground = sweep_race.Ground(vertices, [[0, 2, 1], [0, 3, 2]], 1)
    place = np.array([[5.0, 1, 5], [5, -1, 5], [5, 3, 2], [11, 1, 5]])
    assert ground.below(place).tolist() == [0, -np.inf, 0, -np.inf]
    radii = np.full((4, 3), 0.8)
    assert ground.nearest(place, radii).tolist() == [1.25, 1.25, 2.0, pytest.approx(np.sqrt(2) / 0.8)]
    down = place - [0, 2, 0]
    assert ground.crossed(place, down).tolist()[:1] == [True] and ground.crossed(place, down).sum() == 1
    assert ground.crossed(place[:1], place[:1] - [0, 0.9, 0]).sum() == 0
    edge = np.array([[9.5, 1, 5.0]])
    assert ground.crossed(edge, edge - [0, 2, 0]).all()
    assert ground.beside_border(edge, edge - [0, 2, 0], np.ones(1)).all()
    assert not ground.beside_border(place[:1], down[:1], np.ones(1)).any()


@pytest.mark.slow
def test_many_walk_on_the_track(race):
    walk = sweep_race.Race(demo_race(4, seconds=20.0), 100, up=2, backend="cpu")
    for _ in range(600):
        walk.step()
    assert not walk.tally.wrong and walk.tally.off > 0, walk.tally
