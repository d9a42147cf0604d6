"""The scene of many worlds, its bench case and the example."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from bench import run
from bench.cases import worlds as case
from bench.settings import BenchError
from examples import worlds as example
from gpu_collide.scenes import BARRIER, CAR, GROUND, WALL, worlds


@pytest.fixture(scope="module")
def scene():
    return worlds(20, 32, 3)


def test_the_scene_is_what_it_says(scene):
    bodies, world = scene
    assert np.array_equal(np.bincount(bodies.shape), [20 * 32, 20 * 6, 4, 1])
    assert (world[bodies.shape == WALL] == -1).all() and (world[bodies.shape == GROUND] == -1).all()
    for kind, each in ((CAR, 32), (BARRIER, 6)):
        assert np.array_equal(world[bodies.shape == kind], np.repeat(np.arange(20), each))
    way = np.linalg.norm(bodies.end.position - bodies.start.position, axis=1)
    assert (way[bodies.shape != CAR] == 0).all()
    drives = way[bodies.shape == CAR]
    assert drives.min() > 0.95 and drives.max() < 2.75, "30 to 80 m/s for a thirtieth of a second"


def test_same_seed_same_bits_other_seed_other_scene():
    one, again, other = (worlds(3, 5, seed=s)[0] for s in (1, 1, 2))
    assert np.array_equal(one.end.position, again.end.position)
    assert np.array_equal(one.meshes[GROUND].vertices, again.meshes[GROUND].vertices)
    assert not np.array_equal(one.end.position, other.end.position)


def test_everybody_starts_clear_and_something_happens(scene):
    bodies, world = scene
    found = gc.collide(bodies, world=world, check_start=True, backend="cpu")
    assert not (found.status == gc.Status.INITIAL_OVERLAP).any()
    kinds = bodies.shape[found.pairs].max(axis=1)
    hit = found.status == gc.Status.HIT
    # measured: 20, 5, 74 and 64 of these pairs
    assert [int(hit[kinds == k].sum()) > 2 for k in range(4)] == [True] * 4
    assert (found.toi[hit] > 0).all()
    assert 0.3 < hit.mean() < 0.7


@pytest.mark.parametrize(
    "sizes", [{"n_worlds": 1, "n_cars": 1}, {"n_worlds": 2, "n_cars": 3, "n_barriers": 0}]
)
def test_small_scenes(sizes):
    bodies, world = worlds(**sizes)
    assert len(bodies) == len(world) == sizes["n_worlds"] * (sizes["n_cars"] + sizes.get("n_barriers", 6)) + 5
    gc.collide(bodies, world=world, backend="cpu")


def test_pairs_by_numpy_have_all_contacts(scene):
    bodies, world = scene
    pairs = case.numpy_pairs(bodies, world)
    assert (pairs[:, 0] < pairs[:, 1]).all() and len(np.unique(pairs, axis=0)) == len(pairs)
    mine, theirs = gc.collide(bodies, world=world, backend="cpu"), gc.collide(bodies, pairs, backend="cpu")
    case.same_contacts(mine, theirs, "numpy")
    with pytest.raises(BenchError, match="other pairs have contacts"):
        case.same_contacts(mine, gc.collide(bodies, pairs[::2], backend="cpu"), "numpy")


def test_the_check_sees_a_changed_contact(scene):
    bodies, world = scene
    options = {"backend": "cpu"}
    result = gc.collide(bodies, world=world, **options)
    assert case.check_worlds(bodies, world, result, options, 0) == case.SAMPLE
    moved = dataclasses.replace(result, position=result.position + 1e-12)
    with pytest.raises(BenchError, match="position differs"):
        case.check_worlds(bodies, world, moved, options, 0)


def test_the_whole_case(tmp_path, capsys):
    words = ["worlds", "--pairs", "20", "--repeat", "1", "--backend", "cpu", "--results", str(tmp_path)]
    assert run.main(words) == 0
    said = capsys.readouterr().out
    assert "definitive answers" in said and "world_steps_per_s" in said
    rows = next(tmp_path.glob("*/worlds.csv")).read_text().splitlines()
    rows = [line.split(",") for line in rows if line[:2] in ("20", "2,", "1,")]
    ways = ["hierarchy", "off", "numpy"]
    assert [row[0] + row[2] for row in rows] == [
        "20hierarchy",
        *("2" + w for w in ways),
        *("1" + w for w in ways),
    ]
    assert all(len({row[6] for row in rows[k : k + 3]}) == 1 for k in (1, 4)), "as many contacts either way"


def test_the_example(capsys):
    example.main(["3"])
    said = capsys.readouterr().out
    assert f"{3 * 38 + 5} bodies in 3 worlds" in said
    assert "definitive answers" in said and said.count(" at t = ") == 8
