"""`gpu_collide.Scene`: the bits of `collide`, step by step."""

import warnings

import numpy as np
import pytest

import gpu_collide as gc
from tests.support.steps import moved, same, scene_of
from tests.support.worlds import SHAPES, drift

STILL = [[1.0, 0, 0, 0]] * 2


ASKED = [
    {}, {"contacts": "first"}, {"report": True}, {"tuning": gc.Tuning(features="near")},
    {"tuning": gc.Tuning(filters=["plane"])},
    {"refine": "segments", "resolution": 4}, {"refine": "pixels"}, {"tuning": gc.Tuning(candidates="raster")},
    {"check_start": False, "min_properness": 0.2}, {"tuning": gc.Tuning(broad_phase="off", filters="none")},
]  # fmt: skip


def test_steps_have_the_bits_of_collide(backend):
    """With worlds, groups, masks, ignored pairs, still bodies and poses that are none; asked in many ways."""
    steps_like_calls(backend, "mixed")


@pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")
@pytest.mark.parametrize("precision", ["double", "single"])
def test_steps_have_the_bits_of_collide_in_other_precisions(backend, precision):
    steps_like_calls(backend, precision)


def steps_like_calls(backend, precision):
    rng = np.random.default_rng(1)
    bodies = drift(1, 50, meshes=SHAPES)
    rules = {
        "world": rng.integers(-1, 2, 50), "group": rng.integers(1, 4, 50), "mask": rng.integers(1, 4, 50),
        "ignore": rng.integers(0, 25, (20, 2)) + [0, 25], "still_pairs": True,
    }  # fmt: skip
    place = {"backend": backend.kind, "precision": precision}
    scene, refitted = scene_of(bodies, **place, **rules), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for k, asked in enumerate(ASKED if precision == "mixed" else ASKED[::3]):
            want = gc.collide(scene.bodies, **place, **rules, **asked)
            got = scene.collide(**asked)
            same(got, want)
            refitted.append(scene.report.refitted)
            same(
                scene.collide(want.pairs[::-1], **asked | {"tuning": gc.Tuning(broad_phase="hierarchy")}),
                gc.collide(
                    scene.bodies,
                    want.pairs[::-1],
                    **place,
                    **asked | {"tuning": gc.Tuning(broad_phase="hierarchy")},
                ),
            )
            bare = gc.find_pairs(scene.bodies, **place, **rules)
            assert np.array_equal(scene.find_pairs(), bare)
            assert scene.report.refitted, "the tree stands already"
            scene.step(moved(rng, scene.bodies.end, bad=0.05 * (k == 2)))
    assert refitted[:3] == [False, True, True], "while the same bodies have valid poses"
    assert not refitted[3]


def test_the_same_pairs_again_and_again(backend):
    """What is kept for them has the bits of `collide`, also when other pairs are asked about in between."""
    rng, scene = np.random.default_rng(21), scene_of(drift(21, 40), backend.kind)
    some, others, held = scene.find_pairs(), [[3, 1], [1, 3], [3, 1]], []
    asked = [some, some, others, others, others, None, some.tolist(), some[::-1], [], others, others, some]
    for k, pairs in enumerate(asked):
        if k == 7:
            some[0] = some[1]  # what was asked about is a copy
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of bodies without poses
            same(scene.collide(pairs), gc.collide(scene.bodies, pairs, backend=backend.kind))
        held.append(scene.nbytes)
        scene.step(moved(rng, scene.bodies.end, bad=0.1 * (k == 3)))
    if backend.kind == "cuda":
        assert len(set(held[:4])) == 1, "all pairs go through one chain, and nothing is kept for some"
    else:
        assert held[0] < held[1] == held[2], "kept from the second call on, for whatever pairs"
        assert held[3] > held[2], "besides for the same ones, which are of few bodies"
    told = []
    scene.collide(some, progress=lambda done, total: told.append((done, total)))
    assert told == [(len(some), len(some))]


def test_reference_answers_too():
    rng = np.random.default_rng(2)
    bodies = drift(2, 8)
    scene = scene_of(bodies, "reference")
    assert scene.nbytes == 0 and scene.prepared.tree is None
    for _ in range(2):
        want = gc.collide(scene.bodies, backend="reference")
        same(scene.collide(), want)
        same(scene.collide(want.pairs), gc.collide(scene.bodies, want.pairs, backend="reference"))
        assert np.array_equal(scene.find_pairs(), want.pairs)
        scene.step(moved(rng, scene.bodies.end))


def test_poses_as_arrays_and_updates(backend):
    """At rest, moving, at rest again; what `update` gives is what `Bodies` would have."""
    bodies = drift(3, 20)
    one, two = (bodies.start.position, bodies.start.quat_wxyz), (bodies.end.position, bodies.end.quat_wxyz)
    scene = gc.Scene(bodies.meshes, bodies.shape, backend=backend.kind, still_pairs=True)
    assert scene.bodies is None and len(scene) == 20
    for start, end in ((one, two), (one, None), (bodies.end, one)):
        scene.update(start, end)
        want = gc.Bodies(
            bodies.meshes,
            bodies.shape,
            *(gc.Poses(*p) if isinstance(p, tuple) else p for p in (start, end or start)),
        )
        same(scene.collide(), gc.collide(want, backend=backend.kind, still_pairs=True).to_numpy())
    scene.step(two)
    assert np.array_equal(scene.bodies.start.position, one[0])
    assert np.array_equal(scene.bodies.end.position, two[0])


def test_first_steps_from_rest(backend):
    """Two boxes: one comes down onto the other, which stands."""
    with gc.Scene(gc.shapes.box(), None, ([[0, 0, 0], [0.1, 0.2, 3]], STILL), backend=backend.kind) as scene:
        assert len(scene.collide()) == 0
        scene.step(([[0, 0, 0], [0.1, 0.2, 2]], STILL))
        assert np.isinf(scene.collide().toi).all()
        scene.step(([[0, 0, 0], [0.1, 0.2, 0]], STILL))
        assert scene.collide().toi == pytest.approx([0.5])


def test_results_outlast_later_steps(backend):
    """No buffer of a result is written to by what comes after."""
    rng = np.random.default_rng(4)
    scene = scene_of(drift(4, 40), backend.kind)
    found, pairs = scene.collide(), scene.find_pairs()
    want, want_pairs = gc.collide(scene.bodies, backend=backend.kind).to_numpy(), pairs.copy()
    for _ in range(3):
        scene.step(moved(rng, scene.bodies.end))
        scene.collide()
        scene.find_pairs()
    scene.close()
    same(found, want)
    assert np.array_equal(pairs, want_pairs)


def test_nothing_and_one_body(backend):
    for n in (0, 1):
        scene = gc.Scene(gc.shapes.box(), None, gc.Poses.identity(n), backend=backend.kind)
        scene.step(gc.Poses.identity(n))
        assert len(scene.collide().pairs) == 0 and scene.find_pairs().shape == (0, 2) and len(scene) == n
