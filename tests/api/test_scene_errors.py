"""Every error of `gpu_collide.Scene`, and its options."""

import inspect
import re

import numpy as np
import pytest

import gpu_collide as gc
from tests.support.tuning import keywords

pytestmark = pytest.mark.smoke

STILL = [[1.0, 0, 0, 0]] * 2

POSES = gc.Poses.identity(2)


@pytest.mark.parametrize(
    "args, options, error, text",
    [
        ((gc.shapes.box(), None), {}, ValueError, "shape: expected (n,) mesh indices where no poses say"),
        ((gc.shapes.box(), None, None, POSES), {}, ValueError, "poses: expected the start poses where end"),
        ((gc.shapes.box(), [0, 0], POSES, gc.Poses.identity(3)), {}, ValueError, "end: expected as many"),
        ((gc.shapes.box(), [0], POSES), {}, ValueError, "shape: expected one mesh index per pose, 2, got 1"),
        ((gc.shapes.box(), [0, 1], POSES), {}, ValueError, "shape: expected indices from 0 to 0, got 1"),
        ((gc.shapes.box(), [0.5]), {}, TypeError, "shape: expected integers, got float64"),
        ((gc.shapes.box(), "ab"), {}, TypeError, "shape: expected an array, got str"),
        ((None, None, POSES), {}, TypeError, "meshes: expected a Mesh or a sequence of Mesh, got NoneType"),
        ((gc.shapes.box(), None, 3), {}, TypeError, "poses: expected gpu_collide.Poses or a pair"),
        ((gc.shapes.box(), None, POSES, (1, 2, 3)), {}, TypeError, "end: expected gpu_collide.Poses or a "
         "pair (position, quat_wxyz), got tuple of 3; Poses.from_matrix takes matrices"),
        ((gc.shapes.box(), None, [[0, 0, 0], [4, 0, 0]]), {}, ValueError, "poses: expected gpu_collide.Poses "
         "or a pair (position, quat_wxyz) of arrays (n, 3) and (n, 4), got a list of two others (quat: "
         "expected shape (..., 4), got (3,)); Poses.from_matrix takes matrices"),
        ((gc.shapes.box(), None, POSES, (STILL, STILL)), {}, ValueError, "end: expected gpu_collide.Poses or "
         "a pair (position, quat_wxyz) of arrays (n, 3) and (n, 4), got a tuple of two others (position: "),
        ((gc.shapes.box(), None, [POSES, POSES]), {}, TypeError, "poses: expected gpu_collide.Poses or a "
         "pair (position, quat_wxyz) of arrays (n, 3) and (n, 4), got a list of two others (position: "
         "expected an array, got Poses)"),
        ((gc.shapes.box(), POSES), {}, TypeError, "shape: expected an array, got Poses"),
        ((gc.shapes.box(), (k for k in "ab")), {}, TypeError, "shape: expected an array of numbers, got "
         "generator; pass a list or an array"),
        ((gc.shapes.box(), None, POSES), {"world": [1]}, ValueError, "world: expected one number per"),
        ((gc.shapes.box(), None, POSES), {"precision": "half"}, ValueError, "precision: expected one of"),
        ((gc.shapes.box(), None, POSES), {"backend": "tpu"}, ValueError, "backend: expected one of"),
        ((gc.shapes.box(), None, POSES), {"max_bytes": 0}, ValueError, "max_bytes: expected a positive"),
    ],
)  # fmt: skip
def test_bad_scenes(args, options, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        gc.Scene(*args, **options)


def test_bad_questions(backend):
    scene = gc.Scene(gc.shapes.box(), [0, 0], backend=backend.kind)
    late = [scene.collide, scene.find_pairs, lambda: scene.prepared, lambda: scene.step(POSES)]
    for act in late:
        with pytest.raises(ValueError, match=r"^poses: expected poses of the bodies .* got none; call up"):
            act()
    for name, act in (
        ("poses", scene.update), ("end", lambda p: scene.update(POSES, p)), ("poses", scene.step),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"^{name}: expected poses of the scene.* got \(3,\)"):
            act(gc.Poses.identity(3))
        with pytest.raises(ValueError, match=rf"^{name}: expected poses of the scene.* got \(\)"):
            act(gc.Poses.identity(()))
    with pytest.raises(TypeError, match="^poses: expected gpu_collide.Poses or a pair .* got None"):
        scene.update(None)
    scene.update(POSES, POSES)
    for bad, error, text in (
        ({"pairs": [[0, 2]]}, ValueError, "pairs: expected indices from 0 to 1"),
        ({"broad_phase": "no"}, ValueError, "broad_phase: expected one of"),
        ({"refine": "exact", "features": "some"}, ValueError, "features: expected one of"),
        ({"progress": 3}, TypeError, "progress: expected a callable or None, got int"),
        ({"filters": [[]]}, TypeError, "filters: expected 'auto', 'none' or a tuple"),
    ):
        with pytest.raises(error, match="^" + re.escape(text)):
            scene.collide(**keywords(**bad))
    with pytest.raises(ValueError, match="^broad_phase: expected one of"):
        scene.find_pairs(tuning=gc.Tuning(broad_phase="no"))
    assert len(scene.collide([[0, 1]]).pairs) == 1


def test_a_closed_scene_says_so(backend):
    scene = gc.Scene(gc.shapes.box(), None, POSES, backend=backend.kind)
    with scene as same_one:
        assert same_one is scene
    scene.close()
    acts = [
        scene.collide, scene.find_pairs, lambda: scene.prepared, lambda: scene.step(POSES),
        lambda: scene.update(POSES), scene.__enter__,
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(ValueError, match="^scene: expected an open Scene, got one that was closed; make"):
            act()
    assert repr(scene) == f"Scene(2 bodies, {backend.kind}, closed)" and scene.bodies is None


def test_invalid_bodies_are_warned_of_where_the_caller_asks(backend):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0]], STILL)
    scene = gc.Scene(gc.shapes.box(), None, poses, poses, backend=backend.kind, still_pairs=True)
    for act in (scene.find_pairs, scene.collide, lambda: scene.collide([[0, 1]])):
        with pytest.warns(RuntimeWarning, match="1 body has an invalid pose") as caught:
            act()
        assert len(caught) == 1 and caught[0].filename == __file__
    assert scene.collide([[0, 1]]).status.tolist() == [gc.Status.INVALID_INPUT]


def test_options_are_those_of_collide():
    """A keyword of `collide` is fixed by the scene or asked in its `collide`, with the same default."""
    whole, own, made = (inspect.signature(f).parameters for f in (gc.collide, gc.Scene.collide, gc.Scene))
    fixed = {"world", "group", "mask", "ignore", "still_pairs", "precision", "backend", "max_bytes", "motion"}
    other = {"bodies"}
    assert set(whole) - other == (set(own) - {"self"}) | fixed and fixed < set(made)
    for name, parameter in whole.items():
        if name not in other:
            assert (made if name in fixed else own)[name].default == parameter.default, name


def test_counts_of_one_are_said_in_the_singular():
    one = gc.Poses.identity(1)
    bodies = gc.Bodies(gc.shapes.box(), None, one, one)
    assert repr(bodies) == "Bodies(1 body, 1 mesh)"
    assert repr(gc.Scene(gc.shapes.box(), [0], backend="reference")).startswith("Scene(1 body, 1 mesh, ")
    assert repr(gc.BroadPhase(1, backend="reference")).startswith("BroadPhase(1 body, ")
    two = gc.Bodies([gc.shapes.box()] * 2, [0, 1], POSES, POSES)
    assert repr(two) == "Bodies(2 bodies, 2 meshes)"


@pytest.mark.parametrize("ask", [gc.collide, gc.find_pairs, lambda s: gc.baselines.bisection(s, [[0, 1]])])
def test_a_scene_in_place_of_bodies(ask):
    scene = gc.Scene(gc.shapes.box(), None, POSES, backend="reference")
    with pytest.raises(TypeError, match="^bodies: expected gpu_collide.Bodies, got Scene; pass its .bodies"):
        ask(scene)
    with pytest.raises(TypeError, match="^bodies: expected gpu_collide.Bodies, got Poses; Bodies"):
        ask(POSES)
