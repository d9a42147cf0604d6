"""`target_distance` and `clearance` where bodies are kept or recorded: a `Scene`, and trajectories."""

import numpy as np
import pytest

import gpu_collide as gc

ONE = [1.0, 0.0, 0.0, 0.0]


def crowd(n=20, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, n, 4))
    p = rng.normal(size=(n, 3)) * 2.0
    return [
        gc.Poses.from_quat_wxyz(
            p + 0.5 * rng.normal(size=(n, 3)), each / np.linalg.norm(each, axis=1)[:, None]
        )
        for each in q
    ]


def same(one, other):
    assert one.pairs.tobytes() == other.pairs.tobytes()
    for name in one._rows:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_a_scene_has_the_bits_of_calls(motion, backend):
    """In any order of questions: searches with and without a margin, pairs given, times, and contact."""
    n, asked = 20, dict(motion=motion, backend=backend.kind)
    with gc.Scene([gc.shapes.box(), gc.shapes.l_block()], np.arange(n) % 2, *crowd(n), **asked) as scene:
        for seed in (0, 1):
            scene.update(*crowd(n, seed))
            bodies = scene.bodies
            touch = gc.collide(bodies, **asked)
            near = gc.collide(bodies, target_distance=0.4, **asked)
            assert len(near) > 0 and len(near.pairs) > len(touch.pairs)
            for _ in range(3):
                same(scene.collide(target_distance=0.4), near)
                same(scene.collide(), touch)
                for more in (
                    dict(max_distance=0.4),
                    dict(max_distance=0.0),
                    dict(at=[0.0, 0.5], max_distance=1.0),
                ):
                    same(scene.clearance(**more), gc.clearance(bodies, **more, **asked))
            some = near.pairs[:7]
            same(
                scene.collide(some, target_distance=0.4),
                gc.collide(bodies, some, target_distance=0.4, **asked),
            )
            same(scene.clearance(some), gc.clearance(bodies, some, **asked))
        assert len(scene.clearance()) == n * (n - 1) // 2


def test_the_rules_of_a_scene(backend):
    still = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.5, 0, 0], [3, 0, 0]], [ONE] * 3)
    moved = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.25, 0, 0], [3, 0, 0]], [ONE] * 3)
    with gc.Scene(gc.shapes.box(), None, still, moved, world=[0, 0, 1], backend=backend.kind) as scene:
        found = scene.clearance(max_distance=2.0)
        assert found.pairs.tolist() == [[0, 1]] and found.distance.tolist() == [0.25]
        assert scene.report.pairs == 1
        assert scene.clearance([[1, 2]]).distance.tolist() == [0.5]
        with pytest.raises(ValueError, match="max_distance: expected a length from 0 up"):
            scene.clearance(max_distance=-1)
        with pytest.raises(ValueError, match="regions: expected times with it"):
            scene.clearance(regions=True)
        with pytest.raises(ValueError, match="refine: expected 'exact' with target_distance"):
            scene.collide(target_distance=0.1, refine="pixels")
    with pytest.raises(ValueError, match="closed"):
        scene.clearance()


def test_a_scene_counts_what_it_keeps(backend):
    if backend.kind == "reference":
        pytest.skip("it keeps nothing")
    with gc.Scene(gc.shapes.box(), None, crowd(4)[0], backend=backend.kind, max_bytes=1 << 21) as scene:
        scene.update(*crowd(4))
        assert len(scene.clearance()) == 6  # fits beside what is kept


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_trajectories_at_a_distance(motion, backend):
    """A box comes within half a metre of one at rest in the second step, and stays there: HIT, and then
    nearer at the start. Also while neither moves."""
    xs = [4.0, 2.0, 1.25, 1.25, 4.0]
    position = np.stack([np.zeros((5, 3)), np.column_stack([xs, np.zeros(5), np.zeros(5)])], axis=1)
    poses = gc.Poses.from_quat_wxyz(position, np.broadcast_to(ONE, (5, 2, 4)))
    asked = dict(motion=motion, backend=backend.kind)
    found = gc.collide_trajectories(
        gc.shapes.box(), None, poses, np.arange(5.0), target_distance=0.5, **asked
    )
    assert found.pairs["step"].tolist() == [1, 2, 3]
    inside = gc.Status.INITIAL_OVERLAP
    assert found.pairs["status"].tolist() == [gc.Status.HIT, inside, inside]
    assert found.pairs["toi"][0] == pytest.approx(1 + 2 / 3, abs=1e-12)
    assert found.info["target_distance"] == 0.5 and found.encounters().first_step.tolist() == [1]
    for size in (1, 3):
        cut = gc.collide_trajectories(gc.shapes.box(), None, poses, np.arange(5.0), target_distance=0.5,
                                      frames_per_batch=size, **asked)  # fmt: skip
        assert cut.pairs.tobytes() == found.pairs.tobytes() and cut.time.tobytes() == found.time.tobytes()
    for step in range(4):
        one = gc.collide(gc.Bodies(gc.shapes.box(), None, poses[step], poses[step + 1]), [[0, 1]],
                         target_distance=0.5, **asked)  # fmt: skip
        assert one.position.tobytes() == found.position[found.of_step(step)].tobytes()


def test_after_touch_of_the_same_bodies(backend):
    """What a backend has learnt of contacts of touch is not what those at a distance need."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    for distance, toi in ((0.0, 1 / 3), (0.5, 0.25)):
        found = gc.collide(bodies, [[0, 1]], target_distance=distance, backend=backend.kind)
        assert found.toi[0] == pytest.approx(toi, abs=1e-15)
