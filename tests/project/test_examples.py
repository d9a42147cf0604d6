"""Examples show what they say."""

import itertools
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def crowd():
    names = runpy.run_path(str(EXAMPLES / "crowd.py"))
    return names, *names["walk"](30, 250, backend="cpu")


def test_the_crowd_walks_rides_and_climbs(crowd):
    names, ways, stood = crowd
    feet = ways[..., 2] - names["RADII"][2]
    for body in ("STAIRS", "GALLERY", "LIFTED", "TURNED"):
        assert (stood == names[body]).any(axis=0).sum() >= 3, body
    lifted = np.where(stood == names["LIFTED"], feet, np.nan)
    assert np.nanmax(lifted) > names["HIGH"] - 0.1 and np.nanmin(lifted) < 0.1
    up = feet[stood == names["GALLERY"]]
    # the edge of the gallery holds who comes off it
    assert np.median(up) == pytest.approx(names["HIGH"] + 0.02, abs=0.03)


def test_nobody_leaves_the_ground(crowd):
    names, ways, stood = crowd
    assert np.abs(ways[..., :2]).max() < names["HALL"]
    assert (ways[..., 2] - names["RADII"][2]).min() > -0.95 and np.isfinite(ways).all()
    assert (stood[60:] >= 0).mean() > 0.9


def test_the_table_carries_along_its_arc(crowd):
    names, ways, stood = crowd
    on = (stood[:-1] == names["TURNED"]) & (stood[1:] == names["TURNED"])
    arm = ways[..., :2] - names["TABLE"]
    still = np.abs(np.linalg.norm(arm[1:], axis=-1) - np.linalg.norm(arm[:-1], axis=-1)) < 1e-9
    a, b = (x[on & still] for x in (arm[:-1], arm[1:]))
    turn = np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(1))
    assert len(turn) > 50 and np.median(np.abs(turn - names["TURN"])) < 1e-9


def test_cars_of_spheres_keep_to_the_road():
    """Who steers into a wall slides along it; nobody gets over it, through it, or into the road."""
    names = runpy.run_path(str(EXAMPLES / "car.py"))
    ways, scraped, _, mesh = names["drive"](8, 60)
    sections = mesh.vertices.reshape(240, 17, 3)
    line = sections[:, 8]
    near = np.linalg.norm(line - ways[:, :, None], axis=3).argmin(2)
    aside = np.linalg.norm((ways - line[near])[..., :2], axis=2)
    assert aside.max() < 6.0 - 0.3, "the walls stand 6 m from the middle"
    high = ways[20:, :, 2] - line[near][20:, :, 2]
    assert 0.3 < high.min() and high.max() < 1.0
    assert scraped.any(0).sum() >= 2
    assert np.linalg.norm(np.diff(ways, axis=0), axis=2).sum(0).min() > 20


def test_who_hits_whom_in_town_is_what_a_dense_look_finds():
    """Vehicles on circular arcs between their rows, boxes in the plane by separating axes, at 2,000 Hz: the
    same pairs, and each first meets within a millisecond of when that look does."""
    names = runpy.run_path(str(EXAMPLES / "traffic.py"))
    table = names["town"](60, 6.0, side=120.0, seed=3)
    recording, met = names["who_hits_whom"](table)
    t = np.arange(0, 5.9, 0.0005)
    step, share = np.divmod(t, 0.1)
    share = share / 0.1
    row, ids = np.rint(10 * table["time"]).astype(int), recording.ids
    place, size = np.full((61, len(ids)), np.nan + 0j), np.zeros((len(ids), 2))
    yaw, who = np.full((61, len(ids)), np.nan), np.searchsorted(ids, table["id"])
    place[row, who], yaw[row, who] = table["x"] + 1j * table["y"], table["yaw"]
    size[who] = np.stack([table["length"], table["width"]], axis=1) / 2
    k = step.astype(int)
    turn = yaw[k + 1] - yaw[k]
    with np.errstate(invalid="ignore"):  # of who is away
        along = (np.exp(1j * turn * share[:, None]) - 1) / (np.exp(1j * turn) - 1)
    z, ahead = place[k] + (place[k + 1] - place[k]) * along, np.exp(1j * (yaw[k] + turn * share[:, None]))
    seen = {}
    for a, b in itertools.combinations(range(len(ids)), 2):
        between, both = z[:, a] - z[:, b], (ahead[:, a], ahead[:, b])
        if not np.nanmin(np.append(abs(between), np.inf)) < abs(size[a] @ [1, 1j]) + abs(size[b] @ [1, 1j]):
            continue
        apart = np.full(len(t), -np.inf)
        for axis in (f * turned for f in both for turned in (1, 1j)):
            on = [f * axis.conj() for f in both]
            reach = sum(size[o] @ [abs(f.real), abs(f.imag)] for o, f in zip((a, b), on, strict=True))
            apart = np.maximum(apart, abs((between * axis.conj()).real) - reach)
        inside = np.flatnonzero(apart < 0)
        if len(inside):
            seen[ids[a], ids[b]] = t[inside[0]]
    told = {}
    for a, b, kind, time in zip(met.id_a, met.id_b, met.kind, met.first_time, strict=True):
        if kind != gc.EventKind.NEAR_MISS:
            told.setdefault((a, b), time)
    assert told.keys() == seen.keys() and len(told) > 10
    assert max(abs(told[pair] - seen[pair]) for pair in told) < 1e-3


def test_nobody_in_the_arena_shoots_himself_or_walks_into_another(capsys):
    """And who is switched off is met by nobody until he is back; the same on every run."""
    names = runpy.run_path(str(EXAMPLES / "arena.py"))
    arena, nearest = names["main"](24, 60)
    assert len(arena.hits) > 10 and all(a != b for _, a, b in arena.hits)
    away = {}
    for step, _, victim in arena.hits:
        assert away.get(victim, -1) <= step
        away[victim] = step + 1  # bullets of one step may all hit him
    assert arena.entered and nearest >= 1.0
    again, same = names["main"](24, 60)
    assert again.hits == arena.hits and again.entered == arena.entered and same == nearest
    assert again.place.tobytes() == arena.place.tobytes()


@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.glob("*.py") if p.name != "quickstart.py"))
def test_examples_say_what_they_take(name, monkeypatch, capsys):
    """``--help`` is help and no file of that name, and what they do not understand ends in a sentence."""
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    said = capsys.readouterr().out
    assert left.value.code == 0 and f"usage: {name} [-h] [" in said and f"examples/{name}" in said
    monkeypatch.setattr(sys, "argv", [name, "many", "words", "too", "many"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert left.value.code == 2 and f"{name}: error: " in capsys.readouterr().err


def test_the_gap_of_a_pass_is_below_zero_while_the_cars_are_in_each_other(tmp_path):
    """And never below the least gap of those that stay apart."""
    names = runpy.run_path(str(EXAMPLES / "gap.py"))
    bodies = names["passes"]()
    near, met, times, gap = names["measured"](bodies)
    assert (gap >= near.lower_bound[:, None])[:2].all()
    assert np.isnan(met.exit[:2]).all() and near.distance[:2] == pytest.approx(gap[:2].min(axis=1), abs=0.01)
    inside = (met.toi[2] < times) & (times < met.exit[2])
    assert inside.sum() > 50 and (gap[2][inside] < 0).all() and (gap[2][~inside] > 0).all()
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    names["main"](tmp_path / "gap.png")
    assert (tmp_path / "gap.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def solver():
    return runpy.run_path(str(EXAMPLES / "stack.py"))


def test_a_stack_stands(solver):
    """Ten boxes, warm-started: they settle, and keep their points. Seen: depth 0.0050 and drift 0.026, which
    is what soft contacts give under the load; aside 2e-15; energy never above that of the start."""
    world = solver["stack"](backend="cpu")
    told = solver["run"](world, 120)
    assert told["depth"].max() < 0.006 and told["drift"].max() < 0.03
    assert np.abs(world.position[:, :2]).max() < 1e-12 and (np.diff(world.position[1:, 2]) > 0.99).all()
    assert told["energy"].max() <= 0 and (np.diff(told["energy"][60:]) < 1e-4).all()
    assert told["speed"][-1] < 0.02 and told["speed"][-1] < told["speed"][:30].max()
    assert np.nanmin(told["kept"]) >= 0.98 and len(world.points) == 40


def test_a_box_slides_down_a_ramp_as_friction_has_it(solver):
    world = solver["ramp"](backend="cpu")
    solver["run"](world, 30)
    before = world.velocity.copy()
    solver["run"](world, 30)
    down = np.array([np.cos(solver["SLOPE"]), 0, -np.sin(solver["SLOPE"])])
    gained = (world.velocity - before)[:, :3] @ down / 0.5
    want = solver["GRAVITY"] * (np.sin(solver["SLOPE"]) - 0.2 * np.cos(solver["SLOPE"]))
    assert abs(gained[1]) < 1e-3 and abs(gained[2] - want) < 1e-3  # worst seen 1e-6
    assert np.abs(world.velocity[1]).max() < 1e-3 and world.points.distance.min() > -1e-3


def test_stacks_rest_and_balls_and_cans_roll(solver):
    """Nothing sinks or gains energy, points stay the same, and balls and cans roll down as solid spheres and
    cylinders do: at 5/7 and 2/3 of what slides."""
    told = solver["run"](solver["stack"](n=4, backend="cpu"), 90)
    assert told["depth"].max() < 2e-3 and told["energy"].max() < 0.0 and told["drift"].max() < 5e-3
    assert told["speed"][-1] < 1e-4 and np.nanmin(told["kept"]) == 1.0
    for cans, share in ((0, 5 / 7), (2, 2 / 3)):
        world, steps = solver["balls"](n=2, cans=cans, backend="cpu"), 40
        began = world.position.copy()
        told = solver["run"](world, steps)
        down = (world.position - began)[-1] @ solver["DOWN"]
        free = 0.5 * solver["GRAVITY"] * np.sin(solver["SLOPE"]) * (steps * world.dt) ** 2
        steps_add = 1 + 1 / (steps * world.substeps)  # speeds come before positions
        assert down / free == pytest.approx(share * steps_add, rel=1e-8)  # off by 8e-15 and 8e-11
        assert told["energy"].max() < 0.0 and np.nanmin(told["kept"]) == 1.0


def test_a_cold_stack_does_not_lean(solver):
    """What is put aside by a hair comes back, also where no impulses are carried. With one pass of two a cold
    stack of ten grew by 1.6 % a step, and fell after 40 s."""
    world = solver["stack"](n=4, warm=False, backend="cpu")
    world.velocity[1:, 0] = 1e-7 * np.arange(4)
    solver["run"](world, 40)
    assert np.abs(world.position[:, 0]).max() < 1e-7 and np.abs(world.velocity[:, 0]).max() < 1e-8
    assert np.abs(world.position[:, 1]).max() < 1e-12
