"""``motion="body"`` in everything that bodies move in: the same motion as in `collide`, and the same bits."""

import pickle
import re

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.test_trajectories import random_case
from tests.support.steps import moved, same, scene_of
from tests.support.worlds import SMALL, drift, some_rules

ONE = [1.0, 0, 0, 0]
EVERY = gc.Tuning(broad_phase="off")
SPINNING = "motion: expected 'body' for bodies that spin"


def tumbling(seed, n=40, turn=1.5):
    """Bodies close to each other, which all turn."""
    return drift(seed, n, turn=turn, still=0.1, meshes=SMALL)


def spinning(seed, n=40, turn=4.0):
    """The same, given by velocities, with reference points off their origins; every third by two poses."""
    rng = np.random.default_rng(seed)
    bodies = tumbling(seed, n)
    spun = bodies.spinning(
        bodies.start, rng.normal(size=(n, 3)), turn * rng.normal(size=(n, 3)), 0.7, center=[0.1, -0.2, 0.05]
    )
    poses = np.arange(n) % 3 == 0
    return gc.Bodies.concatenate([bodies.take(np.flatnonzero(poses)), spun.take(np.flatnonzero(~poses))])


MOVING = {"screws": tumbling, "spins": spinning}


def quiet(call, *args, **words):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return call(*args, **words)


# -- the broad phase ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_the_tree_leaves_out_no_pair_that_meets(backend, kind, seed):
    bodies, rules = MOVING[kind](seed), some_rules(seed, 40)
    words = {"motion": "body", "backend": backend.kind, **rules}
    near = gc.find_pairs(bodies, **words)
    every = gc.find_pairs(bodies, tuning=EVERY, **words)
    assert len(near) < len(every)
    found, whole = gc.collide(bodies, **words), gc.collide(bodies, tuning=EVERY, **words)
    assert np.array_equal(found.pairs, near) and np.array_equal(whole.pairs, every)
    assert len(found) == len(whole) > 0
    key = np.array([1000, 1])
    rows = np.isin(every @ key, near @ key)
    assert (whole.status[~rows] == gc.Status.MISS).all()
    assert whole.toi[rows].tobytes() == found.toi.tobytes()
    assert whole.time.tobytes() == found.time.tobytes()


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_the_tree_of_the_reference_and_of_the_kernels(backend, kind):
    bodies = MOVING[kind](3, 14)
    pairs = gc.find_pairs(bodies, motion="body", backend=backend.kind)
    truth = gc.find_pairs(bodies, motion="body", backend="reference")
    met = gc.collide(bodies, motion="body", backend="reference", tuning=EVERY)
    assert set(map(tuple, met.pairs[met.status != 0].tolist())) <= set(map(tuple, pairs.tolist()))
    assert set(map(tuple, truth.tolist())) <= set(map(tuple, pairs.tolist()))
    assert len(pairs) <= len(truth) + 2, "a box a little wider by its rounding"


def test_a_broad_phase_keeps_its_motion(backend):
    """From step to step, and in a copy of it."""
    phase = gc.BroadPhase(40, motion="body", backend=backend.kind)
    for k, bodies in enumerate([tumbling(5), spinning(5), tumbling(6)]):
        want = gc.find_pairs(bodies, motion="body", backend=backend.kind)
        assert np.array_equal(phase.find_pairs(bodies), want), k
        assert np.array_equal(pickle.loads(pickle.dumps(phase)).find_pairs(bodies), want), k


# -- chunks, pairs given -----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_small_pieces_and_given_pairs_have_the_same_bits(backend, kind):
    bodies = MOVING[kind](7)
    whole = gc.collide(bodies, motion="body", backend=backend.kind)
    small = gc.collide(bodies, motion="body", backend=backend.kind, max_bytes=3 << 19)
    same(small, whole)
    given = gc.collide(bodies, whole.pairs, motion="body", backend=backend.kind)
    for name in ("status", "toi", "time", "position", "local_a", "normal", "time_end"):
        assert getattr(given, name).tobytes() == getattr(whole, name).tobytes(), name


# -- scenes ------------------------------------------------------------------------------------------------
def test_a_scene_has_the_bits_of_collide(backend):
    _steps_of_a_scene(backend, "mixed")


@pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")
@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_scene_has_the_bits_of_collide_in_other_precisions(backend, precision):
    _steps_of_a_scene(backend, precision)


def _steps_of_a_scene(backend, precision):
    """Step after step: poses, then velocities, then poses again; all pairs, the same pairs again, some."""
    rng, place = np.random.default_rng(8), {"backend": backend.kind, "precision": precision}
    bodies = tumbling(8)
    words = {**place, "motion": "body"}
    scene = scene_of(bodies, **words)
    for k in range(4):
        for asked in ({}, {"contacts": "first"}, {"tuning": gc.Tuning(features="near", filters="none")}):
            same(quiet(scene.collide, **asked), quiet(gc.collide, scene.bodies, **words, **asked))
        pairs = scene.find_pairs()
        assert np.array_equal(pairs, gc.find_pairs(scene.bodies, **words))
        for _ in range(3):
            same(quiet(scene.collide, pairs[::2]), quiet(gc.collide, scene.bodies, pairs[::2], **words))
        if k == 1:
            velocity, spin = rng.normal(size=(40, 3)), 5 * rng.normal(size=(40, 3))
            start = scene.bodies.end
            scene.update_velocities(start, velocity, spin, 0.5, center=[0.1, 0, 0])
            want = gc.Bodies.from_velocities(
                bodies.meshes, bodies.shape, start, velocity, spin, 0.5, center=[0.1, 0, 0]
            )
            same(quiet(scene.collide), quiet(gc.collide, want, **words))
            copy = pickle.loads(pickle.dumps(scene))
            assert copy.options.motion == "body"
            same(quiet(copy.collide), quiet(gc.collide, want, **words))
        else:
            scene.step(moved(rng, scene.bodies.end))


def test_a_scene_of_worlds_with_velocities(backend):
    """(worlds, n) poses and velocities."""
    rng = np.random.default_rng(9)
    quat = rng.normal(size=(3, 4, 4))
    poses = gc.Poses.from_quat_wxyz(
        rng.normal(size=(3, 4, 3)), quat / np.linalg.norm(quat, axis=2)[..., None]
    )
    velocity, spin = rng.normal(size=(3, 4, 3)), 3 * rng.normal(size=(4, 3))
    scene = gc.Scene(gc.shapes.box(), [0] * 4, poses, motion="body", backend=backend.kind)
    scene.update_velocities(poses, velocity, spin)
    bodies = gc.Bodies.from_velocities(gc.shapes.box(), [0] * 4, poses, velocity, spin)
    assert scene.bodies.worlds == bodies.worlds == (3, 4)
    same(scene.collide(), gc.collide(bodies, motion="body", backend=backend.kind))


# -- recordings --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_trajectories_are_collide_step_by_step(backend, seed):
    """Also in batches, as a stream, through a file; the motion is told."""
    meshes, shape, poses, times, static = random_case(seed, n=5)
    recording = gc.Recording.from_arrays(
        {"time": times, "position": poses.position, "quat_wxyz": poses.quat_wxyz},
        meshes=meshes, shape=shape, static=static,
    )  # fmt: skip
    words = {"motion": "body", "backend": backend.kind}
    found = quiet(recording.collide, **words)
    assert found.info["motion"] == "body"
    for frames in (1, 3):
        for one, other in zip(
            quiet(lambda n=frames: list(recording.collide(stream=True, frames_per_batch=n, **words))),
            [found] if frames == 7 else [None] * 9,
            strict=False,
        ):
            assert one.info["motion"] == "body" and other is None
        again = quiet(recording.collide, frames_per_batch=frames, **words)
        assert again.time.tobytes() == found.time.tobytes() and again.pairs.tobytes() == found.pairs.tobytes()
    count = 0
    for step in range(len(times) - 1):
        bodies = recording.bodies(step)
        good = np.flatnonzero(bodies.valid)
        pairs = np.array([(a, b) for a in good for b in good if a < b and a < len(shape)])
        one = quiet(gc.collide, bodies, pairs, **words)
        here = found.step == step
        rows = np.flatnonzero(one.status != 0)
        told = found.pairs[found.pairs["step"] == step]
        met = {(int(a), int(b)): int(s) for (a, b), s in zip(pairs[rows], one.status[rows], strict=True)}
        assert {(int(r["body_a"]), int(r["body_b"])): int(r["status"]) for r in told} == met
        for name in ("kind", "feature_a", "feature_b", "position", "normal", "local_a", "local_b"):
            assert getattr(found, name)[here].tobytes() == getattr(one, name).tobytes(), name
        assert found.fraction[here].tobytes() == one.time.tobytes()
        count += len(one)
    assert count == len(found) > 0
    other = quiet(recording.collide, backend=backend.kind)
    assert other.info["motion"] == "relative" and other.time.tobytes() != found.time.tobytes()


def test_a_recording_s_motion_stays_with_its_result(backend, tmp_path):
    meshes, shape, poses, times, static = random_case(3)
    found = quiet(
        gc.collide_trajectories,
        meshes,
        shape,
        poses,
        times,
        static=static,
        motion="body",
        backend=backend.kind,
    )
    found.save(tmp_path / "found.npz")
    assert gc.TrajectoryContacts.load(tmp_path / "found.npz").info["motion"] == "body"
    assert len(found.encounters()) > 0


# -- bisection ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_bisection_finds_the_contacts_of_the_same_motion(backend, kind):
    """Behind the exact time by what the depth of 1e-7 takes; the worst measured is 2e-5 of the step."""
    bodies, words = MOVING[kind](11), {"motion": "body", "backend": backend.kind}
    pairs = gc.find_pairs(bodies, **words)
    found = gc.collide(bodies, pairs, contacts="first", **words)
    sampled = gc.baselines.bisection(bodies, pairs, samples=64, **words)
    assert sampled.info["motion"] == "body"
    assert np.array_equal(sampled.start_overlap, found.status == gc.Status.INITIAL_OVERLAP)
    met = sampled.hit & ~sampled.start_overlap
    assert met.sum() > 5 and np.isfinite(found.toi[met]).all()
    late = sampled.time[met] - found.toi[met]
    assert late.min() > -1e-9
    first = late < 1.0 / 64  # what is overlooked between samples is met later
    assert first.mean() > 0.8 and late[first].max() < 1e-3
    single = gc.baselines.bisection(bodies, pairs, samples=64, precision="single", **words)
    assert (single.status == sampled.status).mean() > 0.97


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_bisection_of_the_reference(backend, kind):
    bodies = MOVING[kind](12, 12)
    pairs = gc.find_pairs(bodies, motion="body", backend=backend.kind)
    words = {"samples": 8, "iterations": 20, "motion": "body"}
    one = gc.baselines.bisection(bodies, pairs, backend=backend.kind, **words)
    truth = gc.baselines.bisection(bodies, pairs, backend="reference", **words)
    assert np.array_equal(one.status, truth.status) and one.tests == truth.tests
    np.testing.assert_array_equal(one.time, truth.time)


@pytest.mark.shared_bits("tests/api/test_motions.py")
def test_bisection_in_small_pieces(backend):
    bodies = spinning(13)
    pairs = gc.find_pairs(bodies, motion="body")
    words = {"motion": "body", "backend": backend.kind, "samples": 8}
    one = gc.baselines.bisection(bodies, pairs, **words)
    small = gc.baselines.bisection(bodies, pairs, max_bytes=1 << 20, **words)
    assert one.time.tobytes() == small.time.tobytes() and one.status.tobytes() == small.status.tobytes()


# -- backends ----------------------------------------------------------------------------------------------
@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("kind", MOVING)
def test_the_bits_of_cpu(backend, kind):
    bodies = MOVING[kind](14)
    a, b = (gc.collide(bodies, motion="body", backend=name) for name in ("cpu", backend.kind))
    for name in ("pairs", "status", "toi", "time", "position", "normal", "local_a", "local_b", "time_end"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    one, two = (
        gc.baselines.bisection(bodies, a.pairs, samples=8, motion="body", backend=name)
        for name in ("cpu", backend.kind)
    )
    assert one.time.tobytes() == two.time.tobytes()
    meshes, shape, poses, times, static = random_case(4)
    r, s = (
        quiet(
            gc.collide_trajectories, meshes, shape, poses, times, static=static, motion="body", backend=name
        )
        for name in ("cpu", backend.kind)
    )
    assert r.time.tobytes() == s.time.tobytes() and r.pairs.tobytes() == s.pairs.tobytes()


# -- wrong arguments ---------------------------------------------------------------------------------------
def calls(bodies, motion):
    """Every call that has the option."""
    meshes, shape, poses, times, static = random_case(0)
    yield lambda: gc.collide(bodies, motion=motion)
    yield lambda: gc.find_pairs(bodies, motion=motion)
    yield lambda: gc.BroadPhase(len(bodies), motion=motion).find_pairs(bodies)
    yield lambda: gc.baselines.bisection(bodies, [[0, 1]], motion=motion)
    yield lambda: gc.Scene(bodies.meshes, bodies.shape, bodies.start, motion=motion).update_velocities(
        bodies.start, [0, 0, 0], [0, 0, 1]
    )
    yield lambda: gc.view.plot_contacts(bodies, (0, 1), motion=motion)
    if bodies.spins is None:
        yield lambda: gc.collide_trajectories(meshes, shape, poses, times, motion=motion)


@pytest.mark.parametrize("call", range(7))
def test_a_motion_that_is_none(call):
    with pytest.raises(ValueError, match=re.escape("motion: expected one of 'relative', 'body', got 'own'")):
        list(calls(tumbling(0, 4), "own"))[call]()


@pytest.mark.parametrize("call", range(6))
def test_bodies_that_spin_do_not_move_from_pose_to_pose(call):
    with pytest.raises(ValueError, match=SPINNING):
        list(calls(spinning(0, 4), "relative"))[call]()


@pytest.mark.parametrize("words, text", [
    ({"refine": "segments"}, "refine: expected 'exact' with motion='body'"),
    ({"refine": "pixels"}, "refine: expected 'exact' with motion='body'"),
    ({"tuning": gc.Tuning(candidates="raster")}, "candidates: expected 'auto' or 'pairs' with motion='body'"),
])  # fmt: skip
def test_what_needs_one_screw(words, text):
    meshes, shape, poses, times, static = random_case(0)
    bodies = tumbling(0, 4)
    with pytest.raises(ValueError, match=text):
        gc.collide(bodies, motion="body", **words)
    with pytest.raises(ValueError, match=text):
        gc.collide_trajectories(meshes, shape, poses, times, motion="body", **words)
    scene = gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.end, motion="body")
    with pytest.raises(ValueError, match=text):
        scene.collide(**words)


def test_what_knows_nothing_of_spins():
    bodies = spinning(0, 4)
    sphere = {"start": [[9.0, 0, 0]], "displacement": [[-9.0, 0, 0]], "radius": 1.0}
    with pytest.raises(
        ValueError, match=r"obstacles: expected bodies that move from pose to pose.*motion='body'"
    ):
        gc.sweep.spheres(sphere["start"], sphere["displacement"], sphere["radius"], bodies)
    with pytest.raises(ValueError, match="movers: expected bodies that move from pose to pose"):
        gc.pluecker.move(bodies, bodies)
    turned = gc.Bodies.from_velocities(
        gc.shapes.box(), None, gc.Poses.identity(1), [0, 0, 0], [0, 0, 2 * np.pi]
    )
    poses = gc.Poses.from_quat_wxyz(np.zeros((2, 1, 3)) + [5.0, 0, 0], np.tile(ONE, (2, 1, 1)))
    with pytest.raises(ValueError, match="static: expected bodies whose end pose equals their start pose"):
        gc.collide_trajectories(gc.shapes.box(), None, poses, [0, 1], static=turned)


# -- how far apart the motions are -------------------------------------------------------------------------
def dense(bodies, pair, times=300):
    """The greatest distance of places of B's corners, as A sees them: on the relative screw, written out, and
    where the bodies are."""
    a, b = pair
    mesh = bodies.meshes[bodies.shape[b]]
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    corners = low + (high - low) * np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    s = [gc.Poses.from_quat_wxyz(p.position[[i]], p.quat_wxyz[[i]])
         for i in pair for p in (bodies.start, bodies.end)]  # fmt: skip
    screw = gc.screw_motion(*s)
    axis, point, angle, shift = screw.axis[0], screw.point[0], screw.angle[0], screw.translation[0]
    begin = s[0].inverse().apply(s[2].apply(corners))
    worst = 0.0
    for t in np.linspace(0, 1, times + 1):
        x, c, n = begin - point, np.cos(angle * t), np.sin(angle * t)
        turned = x * c + np.cross(axis, x) * n + np.outer(x @ axis, axis) * (1 - c)
        seen = point + turned + shift * t * axis
        now = bodies.poses_at(t)
        true = now[a : a + 1].inverse().apply(now[b : b + 1].apply(corners))
        worst = max(worst, np.linalg.norm(seen - true, axis=1).max())
    return worst


@pytest.mark.parametrize("kind", MOVING)
def test_the_difference_of_both_motions(kind):
    """Sampled 32 times a half revolution: no more than 0.5 % is missing, the worst measured is 0.12 %."""
    bodies = MOVING[kind](21, 8)
    pairs = np.arange(8).reshape(-1, 2)
    got = gc.motion_difference(bodies, pairs)
    for value, pair in zip(got, pairs, strict=True):
        truth = dense(bodies, pair)
        assert 0.995 * truth - 1e-12 <= value <= truth * (1 + 1e-9) + 1e-12


def test_where_both_motions_are_one_there_is_no_difference():
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [4.0, 0, 0], [8, 1, 0], [0, 0, 3]], [ONE] * 4)
    bend = gc.Poses.from_screw([0, 0, 1], [0, -30.0, 0], 0.4, 0.0, start)
    end = gc.Poses.concatenate([bend[:2], start[2:3], start[3:].moved([1.0, 2, 3])])
    bodies = gc.Bodies(gc.shapes.car(), None, start, end)
    same_screw = [[0, 1], [1, 0], [0, 2], [2, 0], [2, 3]]  # in one bend, beside one still, straight
    assert gc.motion_difference(bodies, same_screw).max() < 1e-13
    assert gc.motion_difference(bodies, [[0, 3], [3, 0]]).min() > 0.1


def test_the_difference_falls_by_four_when_steps_are_halved():
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [4.0, 0, 0]], [ONE] * 2)
    both = []
    for part in (1.0, 0.5):
        end = start.moved([[3.0, 0, 0], [0, 3.0, 0]], [[0, 0, 0.2], [0.1, 0.1, -0.2]], part)
        both.append(gc.motion_difference(gc.Bodies(gc.shapes.car(), None, start, end), [[0, 1]])[0])
    assert both[0] / both[1] == pytest.approx(4.0, rel=0.1)


def test_a_spin_of_many_turns_is_sampled_often_enough():
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [4.0, 0, 0]], [ONE] * 2)
    turn = [[0, 0, 0], [0, 0, 40 * np.pi]]
    spun = gc.Bodies.from_velocities(gc.shapes.box(), None, start, np.zeros((2, 3)), turn)
    # the poses do not change, so that the relative screw is rest; a corner of the box goes to the other side
    assert gc.motion_difference(spun, [[0, 1]])[0] == pytest.approx(np.sqrt(2), rel=0.005)


def test_a_difference_of_what_has_no_poses():
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0], [1, 0, 0]], [ONE] * 3)
    bodies = gc.Bodies(gc.shapes.box(), None, poses, poses)
    got = gc.motion_difference(bodies, [[0, 1], [0, 2]])
    assert np.isnan(got[0]) and got[1] == 0.0
    assert gc.motion_difference(bodies, np.zeros((0, 2), int)).shape == (0,)
    with pytest.raises(ValueError, match="pairs: expected"):
        gc.motion_difference(bodies, [[0, 3]])
    with pytest.raises(TypeError, match="bodies: expected gpu_collide.Bodies"):
        gc.motion_difference(poses, [[0, 1]])
