"""A heavy pair's screen, shared among threads: lists are made once, searched in shares; the bits of one."""

import numpy as np
import pytest

import gpu_collide as gc
from bench import dense_shapes
from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.narrow_phase import plan
from gpu_collide.scenes import random_impacts
from tests.broad_phase import _near
from tests.narrow_phase._first import THRESHOLDS, same_bits


@pytest.fixture
def shared(monkeypatch):
    """Counts of launches that make lists and of those that search them, with three threads."""
    backend, counts = get_backend("cpu"), {"lists": 0, "searched": 0, "no room": 0}
    monkeypatch.setattr(backend, "threads", 3)
    launch_groups = Launcher.launch_groups

    def counting(self, name, groups, *bound, **more):
        launch_groups(self, name, groups, *bound, **more)
        if more.get("shares"):
            counts["lists" if more["shares"] < 0 else "searched"] += 1
            counts["no room"] += int(np.any(next(x for x in bound if "no_room_out" in x)["no_room_out"]))

    monkeypatch.setattr(Launcher, "launch_groups", counting)
    return counts


def both(monkeypatch, bodies, pairs, **asked):
    """Contacts by one thread a pair, and with all pairs that are more than half a thread's part shared."""
    found = []
    for heavy in (1 << 60, 0):
        monkeypatch.setattr(plan, "LIMITS", plan.LIMITS._replace(heavy=heavy))
        found.append(gc.collide(bodies, pairs, backend="cpu", **asked).to_numpy())
    return found


SCENES = {
    "boxes": lambda: random_impacts(gc.shapes.box(), n=3, seed=1),
    "tori": lambda: random_impacts(gc.shapes.torus(), n=3, seed=2, max_turn=3.0),
    "balls": lambda: random_impacts(gc.shapes.icosphere(3), n=3, seed=1),
    "a box and a ball": lambda: random_impacts(gc.shapes.icosphere(4), gc.shapes.box(), n=3, seed=5),
    "sheets": lambda: taken(_near.slides(3, 2)),
    "wheels": lambda: taken(_near.wheels(3, 1)),
    "still": lambda: taken(_near.scene("still", 3, 3, ("ball", "block", "torus"))),
}


def taken(scene):
    return scene.bodies(), scene.pairs


@pytest.mark.parametrize("name", SCENES)
def test_shared_or_not_the_contacts_are_the_same(monkeypatch, shared, name):
    bodies, pairs = SCENES[name]()
    for k, threshold in enumerate(THRESHOLDS):
        features = ("all", "near", "auto", "all")[k]
        asked = {
            "min_properness": threshold,
            "tuning": gc.Tuning(features=features),
            "check_start": bool(k % 2),
        }
        same_bits(*both(monkeypatch, bodies, pairs, **asked))
    assert shared["lists"] >= 4 and shared["searched"] >= 4


@pytest.mark.parametrize("asked", [
    {"refine": "segments"}, {"refine": "pixels"}, {"precision": "single"}, {"precision": "double"},
    {"contacts": "first"}, {"tuning": gc.Tuning(candidates="pairs")},
    {"tuning": gc.Tuning(candidates="raster")},
], ids=lambda asked: "-".join(map(str, *asked.items())))  # fmt: skip
def test_in_every_way(monkeypatch, shared, asked):
    """Rows are made for an item as a whole: they are never shared."""
    bodies, pairs = random_impacts(gc.shapes.torus(), n=2, seed=6)
    same_bits(*both(monkeypatch, bodies, pairs, **asked))
    assert (shared["searched"] > 0) == (
        asked not in ({"contacts": "first"}, {"tuning": gc.Tuning(candidates="raster")})
    )


def test_a_bolt_in_its_nut_beside_boxes(monkeypatch, shared):
    """Long lists, sorted and with chords; their scratch is asked for twice. The boxes are not shared."""
    bolts = dense_shapes.bolt_and_nut(5000)
    one = dense_shapes.steps_of("bolt in nut", bolts, "impact", 1, 0)
    boxes, pairs = random_impacts(gc.shapes.box(), n=40, seed=3)
    start, end = (gc.Poses.concatenate([getattr(one, x), getattr(boxes, x)]) for x in ("start", "end"))
    shape = np.append(one.shape, boxes.shape + 2).astype(np.int32)
    bodies = gc.Bodies([*bolts, *boxes.meshes], shape, start, end)
    found = both(monkeypatch, bodies, np.concatenate([[[0, 1]], pairs + 2]))
    same_bits(*found)
    assert (np.asarray(found[0].pair) == 0).sum() > 500 < len(found[0].time)
    assert shared["no room"] > 0 and shared["searched"] >= shared["lists"] > 1


def test_only_what_keeps_others_waiting_is_shared(shared):
    def heavy(faces, candidates="auto"):
        options = Options.checked(tuning=gc.Tuning(candidates=candidates), backend="cpu")
        made = plan.decide([gc.shapes.box()], options, get_backend("cpu"))
        return np.flatnonzero(made.heavy(np.array(faces, np.int64))).tolist()

    assert heavy([9000]) == heavy([9000], "pairs") == [0]
    assert heavy([4096]) == heavy([]) == heavy([9000], "raster") == []
    assert heavy([9000, 100, 8000]) == [0, 2]
    assert heavy([5000] * 6) == [], "each thread has two of them"
    assert heavy([5000] * 5) == [0, 1, 2, 3, 4]
    assert heavy([5000, *[12] * 3000]) == []
