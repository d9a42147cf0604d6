"""Characters that are given on the device: whole loops of steps stay there, with the bits of the host."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from tests.ptx._landing import lies, same, slid, steps, turning_world, world_of
from tests.ptx._staying import Moved


def test_characters(cuda):
    world, given = world_of(), steps()
    rules = {"up": [0, 0, 1], "step_height": 0.2}
    wanted = slid(given, world, backend="cpu", **rules)
    assert {gc.Status.MISS, gc.Status.HIT, gc.Status.INVALID_INPUT} <= set(wanted.status.tolist())
    assert wanted.grounded.sum() >= 5
    there = {name: cuda.asarray(array) for name, array in given.items()}
    slid(there, world, lambda x: x, backend="cuda", **rules)
    with Moved(cuda) as moved:
        found = slid(there, world, lambda x: x, backend="cuda", **rules)
    assert lies(found, cuda.ndarray) and (moved.up, moved.down, moved.waits) == (0, 1, 1)
    assert moved.launches == 4
    same(found, wanted)
    same(slid(there, world, lambda x: x, backend="cuda", step_height=0.2), wanted)  # up is found there
    assert "grounded" in repr(found) and found.grounded.sum() == wanted.grounded.sum()


@pytest.mark.parametrize("moving", [False, True])
def test_a_loop_of_steps_stays_on_the_device(cuda, moving):
    """What one step leaves is given to the next: nothing goes up, and nothing comes down but a count."""
    world, given = world_of(moving=moving), steps(hostile=False)
    del given["riding"]

    def loop(put, backend, count=4):
        put_all = {name: put(array) for name, array in given.items()}
        place, way, radii, fall = put_all.values()
        ground, seen = None, []
        for _ in range(count):
            found = gc.sweep.slide(
                world, place, radii, way, gravity=fall, up=[0, 0, 1], riding=ground, backend=backend
            )
            place, fall, ground = found.position, found.fall_velocity + put_all["gravity"], found.ground_body
            seen.append(found)
        return seen

    loop(cuda.asarray, "cuda", 2)
    with Moved(cuda) as moved:
        found = loop(cuda.asarray, "cuda")
    assert moved.up == 4 and moved.waits == 4  # the arrays at the beginning; a wait a step
    for a, b in zip(found, loop(np.asarray, "cpu"), strict=True):
        same(a, b)


def test_the_loop_of_the_guide(cuda):
    """Line for line, and with `numpy` for `cupy`; no step of it uploads anything but the first."""
    page = (Path(__file__).parents[2] / "docs" / "characters.md").read_text(encoding="utf-8")
    text = textwrap.dedent(
        "    import cupy" + page.split("    import cupy", 1)[1].split("\nWithout a GPU", 1)[0]
    )
    found, ups, waits = [], [], []
    for count in (10, 14, 10):
        with Moved(cuda) as moved:
            exec(text.replace("range(10)", f"range({count})"), {"print": found.append})
        ups.append(moved.up)
        waits.append(moved.waits)
    assert ups[1] == ups[2] <= ups[0]  # the world, and places: no more for more steps
    assert waits[1] == waits[2] + 4
    exec(text.replace("cupy", "numpy").replace('backend="cuda"', 'backend="cpu"'), {"print": found.append})
    found = found[2:]
    assert lies(found[0], cuda.ndarray) and found[0].grounded.sum() == 20
    same(*found)


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_planes(cuda, at):
    world, given = world_of(), steps()
    given = {"position": given["position"], "radii": given["radii"]}
    wanted = gc.sweep.planes(world, **given, reach=0.5, at=at, backend="cpu")
    assert len(wanted) > 10 and (wanted.status == gc.Status.INVALID_INPUT).sum() == 3
    there = {name: cuda.asarray(array) for name, array in given.items()}
    for warm in (True, False):
        with Moved(cuda) as moved:
            found = gc.sweep.planes(world, **there, reach=0.5, at=at, backend="cuda")
        assert warm or (moved.up, moved.waits) == (0, 1)
    assert lies(found, cuda.ndarray)
    same(found, wanted)
    same(gc.sweep.planes(world, **given, reach=0.5, at=at, backend="cuda", results="device"), wanted)


def test_characters_that_ride_on_nothing(cuda):
    world, given = world_of(), steps(hostile=False)
    for wrong in (11, -2, 2**40):
        given["riding"][6] = wrong
        with pytest.raises(ValueError, match="riding: expected bodies 0 to 10, or -1") as wanted:
            slid(given, world, backend="cpu")
        with pytest.raises(ValueError) as found:
            slid(given, world, cuda.asarray, backend="cuda")
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("skin, pieces", [(0.2, 2), (0.05, 4), (5.0, 1)])
def test_characters_among_bodies_that_turn_stay_there(cuda, precision, skin, pieces):
    world, given = turning_world(), steps()
    given["riding"][12:30] = np.tile([0, 4, 10], 6)
    options = {"turning": "chord", "skin": skin, "up": [0, 0, 1], "step_height": 0.2, "precision": precision}
    wanted = slid(given, world, backend="cpu", **options)
    assert wanted.info["pieces"] >= pieces and (wanted.info["pieces"] == 1) == (pieces == 1)
    parts = sum(range(wanted.info["pieces"] + 1))  # those whose steps are cut alike go together
    there = {name: cuda.asarray(array) for name, array in given.items()}
    slid(there, world, lambda x: x, backend="cuda", **options)
    with Moved(cuda) as moved:
        found = slid(there, world, lambda x: x, backend="cuda", **options)
    assert lies(found, cuda.ndarray) and moved.waits <= 4 + parts
    assert moved.bytes_down < 300 + 8 * parts  # no character comes down
    for name in ("turning", "pieces"):
        assert found.info[name] == wanted.info[name] > 0
    same(found, wanted)
    assert len(set(wanted.status.tolist())) >= 3
    one = {name: array[0] if name in ("velocity", "gravity") else array for name, array in given.items()}
    same(
        slid(one, world, cuda.asarray, backend="cuda", **options), slid(one, world, backend="cpu", **options)
    )
    host = slid(there, world, lambda x: x, backend="cuda", results="host", **options)
    assert lies(host, np.ndarray)
    same(host, wanted)
    found = slid(given, world, backend="cuda", results="device", **options)  # given on the host
    assert lies(found, cuda.ndarray)
    same(found, wanted)
    alone = {"position": [0.0, 0, 2], "velocity": [0.1, 0, 0], "radii": [0.3] * 3, "gravity": [0, 0, -0.1]}
    found = slid(alone, world, cuda.asarray, backend="cuda", results="device", **options)
    same(found, slid(alone, world, backend="cpu", **options))


def test_pieces_of_the_queries_and_of_the_step(cuda, monkeypatch):
    """What all queries reach is the most of several launches, each of them in several parts."""
    monkeypatch.setattr("gpu_collide.pipeline.sweep.device_queries.PIECE", 150)
    world, given = turning_world(), steps(400)
    given["position"][399] = 12.0, 9.0, 3.0  # it is the last that reaches farthest
    options = {"turning": "chord", "skin": 0.2, "up": [0, 0, 1]}
    there = {name: cuda.asarray(array) for name, array in given.items()}
    found, wanted = (
        slid(x, world, lambda x: x, backend=b, **options) for x, b in ((there, "cuda"), (given, "cpu"))
    )
    assert found.info["turning"] == wanted.info["turning"]
    same(found, wanted)


def test_what_is_wrong_among_bodies_that_turn_is_told_as_on_the_host(cuda):
    world = turning_world()
    for name, row, value in (("radii", 4, -1.0), ("riding", 5, 11), ("riding", 6, -2)):
        given = steps()
        given[name][row] = value
        words = []
        for put, backend in ((np.asarray, "cpu"), (cuda.asarray, "cuda")):
            with pytest.raises(ValueError) as told:
                slid(given, world, put, backend=backend, turning="chord", skin=0.05)
            words.append(str(told.value))
        assert words[0] == words[1] and name in words[0]
    with pytest.raises(ValueError, match="skin: expected more than .* 64 pieces"):
        slid(steps(), world, cuda.asarray, backend="cuda", turning="chord", skin=1e-9)
