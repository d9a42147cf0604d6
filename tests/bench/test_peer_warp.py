"""Warp as we use it: rays, and poses along the screw that the library means."""

import numpy as np
import pytest

import gpu_collide as gc
from bench.cases.sampled import agreement
from bench.relative import relative_poses
from bench.settings import BenchError
from gpu_collide import scenes

pytest.importorskip("warp", reason="Warp is not installed")
from bench.peer_warp import WarpPoses, WarpTrack, device_for  # noqa: E402

UPRIGHT = [1.0, 0.0, 0.0, 0.0]
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]]


def first(mesh, starts, ends, samples):
    """Times for bodies that go from `starts` to `ends`, position and quaternion, past one at the origin."""
    arrays = [np.array(column, float) for pose in (starts, ends) for column in zip(*pose, strict=True)]
    return WarpPoses(mesh, mesh).first_contacts(*arrays, samples)


def test_rays_and_spheres_at_a_square():
    track = WarpTrack(*map(np.array, SQUARE))
    start = np.array([[0.5, 0.25, 1.0], [0.5, 0.25, -1.0], [2.0, 0.25, 1.0]])
    way = np.array([[0.0, 0.0, -4.0], [0.0, 0.0, 2.0], [0.0, 0.0, -4.0]])
    assert np.abs(track.first_hits(start, way, 0.0) - [0.25, 0.5, 1.0]).max() < 1e-6
    assert np.abs(track.first_hits(start, way, 0.5) - [0.125, 0.25, 1.0]).max() < 1e-4


def test_the_first_pose_behind_the_contact():
    """Unit boxes head on, off centre: they touch after two thirds of the way; then one that stays away."""
    starts = [([-3, 0.1, 0.2], UPRIGHT), ([-3, 4, 0], UPRIGHT)]
    ends = [([0, 0.1, 0.2], UPRIGHT), ([0, 4, 0], UPRIGHT)]
    assert first(gc.shapes.box(), starts, ends, 64).tolist() == [43 / 64, np.inf]


def test_few_poses_miss_what_flies_through():
    ways = [([-9, 0.1, 0.2], UPRIGHT)], [([9, 0.1, 0.2], UPRIGHT)]
    assert first(gc.shapes.box(), *ways, 3).tolist() == [np.inf]
    assert first(gc.shapes.box(), *ways, 64).tolist() == [29 / 64]


@pytest.mark.parametrize("angle", [0.0, 1e-7, 1e-3, 1.5, 3.0])
def test_poses_lie_on_the_screw(angle):
    """A box whose corner comes round on a circle, or straight, into one at rest: as late as our time says."""
    turned = [np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]
    mesh = gc.shapes.box()
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [2.5, -1.5, 0.3]], [UPRIGHT] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.2, 0.1, 0.1]], [UPRIGHT, turned])
    bodies, pair = gc.Bodies(mesh, None, start, end), np.array([[0, 1]])
    found = gc.collide(bodies, pair, backend="cpu")
    times = WarpPoses(mesh, mesh).first_contacts(*relative_poses(bodies, pair), 1024)
    assert np.ceil(found.toi * 1024) <= times * 1024 <= np.ceil(found.toi * 1024) + 2


def test_agreement_counts_what_is_missed_and_refuses_what_is_early():
    mesh = gc.shapes.box()
    bodies, pairs = scenes.random_impacts(mesh, mesh, 200, seed=3)
    found = gc.collide(bodies, pairs, backend="cpu")
    times = WarpPoses(mesh, mesh).first_contacts(*relative_poses(bodies, pairs), 64)
    said = agreement("boxes", found, times, 64)
    assert said["false"] == 0 and 0 < said["late"] < said["late_most"] < 2 / 64
    blind = agreement("boxes", found, np.full(200, np.inf), 64)
    assert blind["missed"] == 1 and np.isnan(blind["late"])
    with pytest.raises(BenchError, match="before the first contact"):
        agreement("boxes", found, times - 0.1, 64)
    with pytest.raises(BenchError, match="have them apart"):
        agreement("boxes", found, np.ones(200), 64)


def test_device_is_the_processor_unless_cuda_is_asked_for():
    assert device_for("cpu") == device_for("opencl") == "cpu"
