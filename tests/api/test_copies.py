"""Copies of what is public, by `copy` and by `pickle`: of equal content, independent where they change."""

import copy
import pickle
import threading

import numpy as np
import pytest

import gpu_collide as gc

BOX = gc.shapes.box()
STILL = [[1.0, 0, 0, 0]] * 3
START = gc.Poses.from_quat_wxyz([[0, 0, 0], [4, 0.1, 0.2], [9, 0, 0]], STILL)
END = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.5, 0.1, 0.2], [1, 0, 0]], STILL)
WAYS = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
RULES = {
    "none": {},
    "all": {
        "world": [0, -1, 0], "group": [1, 3, 0xFFFFFFFF], "mask": [3, 1, 0x80000001],
        "ignore": [[1, 2], [2, 0]], "still_pairs": True,
    },
}  # fmt: skip


def public():
    """One of each public class."""
    bodies = gc.Bodies([BOX, gc.shapes.l_block()], [0, 1, 0], START, END)
    frames = gc.Poses.from_quat_wxyz(
        [[[0, 0, 0], [4, 0, 0]], [[0, 0, 0], [0.5, 0, 0]]], [[[1.0, 0, 0, 0]] * 2] * 2
    )
    rest = bodies.moved(START, START)
    contacts = gc.collide(bodies, report=True)
    recording = {"time": [0.0, 1.0], "position": frames.position, "quat_wxyz": frames.quat_wxyz}
    return [
        BOX, START, bodies, contacts, contacts.report, gc.devices(), gc.Status.HIT, gc.Kind.EE,
        gc.collide_trajectories(BOX, None, frames, [0, 1]), gc.baselines.bisection(bodies, [[0, 1]]),
        gc.clearance(bodies, [[0, 1]]),
        gc.pluecker.translate([[4.0, 0, 0]], rest, [-9, 0, 0]),
        gc.pluecker.contacts([[0.5, 0, 0]], rest, 1),
        gc.Recording.from_arrays(recording, meshes=BOX), gc.BroadPhase(3),
        gc.Scene(BOX, None, START, END),
    ]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_everything_public_can_be_copied(way):
    for made in public():
        again = WAYS[way](made)
        assert type(again) is type(made)
        assert repr(again) == repr(made)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("way", WAYS)
def test_a_copied_scene_is_one_of_its_own(backend, way, rules):
    scene = gc.Scene(BOX, None, START, END, backend=backend.kind, max_bytes=1 << 28, **RULES[rules])
    scene.collide()
    again = WAYS[way](scene)
    assert again.options == scene.options and again.options.max_bytes == 1 << 28
    assert again.rules.arguments().keys() == RULES["all"].keys()
    pairs, found = scene.find_pairs(), scene.collide()
    assert np.array_equal(again.find_pairs(), pairs) and len(pairs)
    for name in ("toi", "feature_a", "position", "normal"):
        assert getattr(again.collide(), name).tobytes() == getattr(found, name).tobytes()
    again.update(START)
    assert np.array_equal(scene.find_pairs(), pairs), "the copy has poses of its own"
    again.close()
    assert np.array_equal(scene.collide().toi, found.toi), "and is closed alone"


def test_states_of_a_scene_outlast_a_pickle():
    no_poses = WAYS["pickle"](gc.Scene(BOX, [0, 0, 0]))
    assert no_poses.bodies is None
    at_rest = WAYS["pickle"](gc.Scene(BOX, None, START))
    assert at_rest.bodies.start is at_rest.bodies.end and at_rest.nbytes, "prepared for what may be asked"
    moving = WAYS["pickle"](gc.Scene(BOX, None, START, END))
    assert np.array_equal(moving.bodies.end.position, END.position)
    closed = gc.Scene(BOX, None, START)
    closed.close()
    for way in WAYS.values():
        with pytest.raises(ValueError, match="^scene: expected an open Scene, got one that was closed"):
            way(closed)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_broad_phase_starts_anew(backend, way):
    phase = gc.BroadPhase(3, backend=backend.kind, **RULES["all"])
    bodies = gc.Bodies(BOX, None, START, END)
    pairs = phase.find_pairs(bodies)
    again = WAYS[way](phase)
    assert again.report is None
    assert np.array_equal(again.find_pairs(bodies), pairs)
    assert again.report.pairs == phase.report.pairs and not again.report.refitted


def test_what_a_scene_works_with_cannot_be_exchanged():
    """Kernels index by the number of bodies that it was made with."""
    for made in (gc.Scene(BOX, None, START), gc.BroadPhase(3)):
        for name in ("bodies", "rules", "report"):
            if hasattr(made, name):
                with pytest.raises(AttributeError):
                    setattr(made, name, None)


def test_printing_a_scene_does_not_wait_for_its_work():
    scene = gc.Scene(BOX, None, START, backend="reference")
    begun, ended = threading.Event(), threading.Event()

    def work():
        scene.hold()
        begun.set()
        ended.wait(60)
        scene.let_loose()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert begun.wait(60)
        assert repr(scene) == "Scene(3 bodies, reference, at work)"
    finally:
        ended.set()
        worker.join()
    assert "at rest" in repr(scene)
