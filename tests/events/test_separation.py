"""Steps that a direction keeps apart, against samples, and post-encroachment times with and without them."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.recordings.separation import Separations
from gpu_collide.recordings.tracks import Tracks
from tests.events.test_events import drive

SAMPLES = 41


def tracks_of(seed, vehicles=12, spread=12.0, upright=True):
    """A step or two of cars that turn and drive at random, also by large angles and not at all."""
    rng = np.random.default_rng(seed)
    frames = 3
    turn = rng.choice([0.0, 0.02, 0.3, 2.0], vehicles) * rng.normal(size=vehicles)
    yaw = rng.uniform(-np.pi, np.pi, vehicles) + turn * np.arange(frames)[:, None]
    way = rng.choice([0.0, 0.5, 3.0], vehicles)[:, None] * rng.normal(size=(vehicles, 3))
    place = rng.uniform(-0.5, 0.5, (vehicles, 3)) * spread + way * np.arange(frames)[:, None, None]
    if upright:
        place[..., 2] = 0.0
    poses = gc.Poses.from_yaw(place, yaw)
    if not upright:
        tilt = gc.Poses.from_euler(np.zeros((vehicles, 3)), "xy", rng.normal(0, 1, (vehicles, 2)))
        poses = poses @ tilt.broadcast_to((frames, vehicles))
    box = gc.shapes.box((4.0, 2.0, 1.5))
    off = gc.Mesh(
        gc.shapes.box((1.0, 2.0, 3.0)).vertices + [1.0, 0.5, 0.0], box.faces
    )  # not about its origin
    arrays = {"time": [0.0, 0.1, 0.25], "position": poses.position, "quat_wxyz": poses.quat_wxyz}
    recording = gc.Recording.from_arrays(arrays, meshes=[box, off], shape=rng.integers(0, 2, vehicles))
    return Tracks(recording, recording.collide(backend="cpu").skipped)


def queries(tracks, seed):
    rng, n = np.random.default_rng(seed), tracks.n
    a, b = np.triu_indices(n, 1)
    i, j = (rng.integers(0, 2, len(a)) for _ in range(2))
    late, lasts = tracks.times[j] - tracks.times[i], np.diff(tracks.times)
    low = late - lasts[i] + rng.uniform(0, 1, len(a)) * (lasts[i] + lasts[j])
    return a, i, b, j, low, low + rng.choice([0.0, 0.01, 0.1], len(a))


@pytest.mark.parametrize("upright", [True, False], ids=["upright", "tilted"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_to_be_apart_is_apart_at_all_samples(seed, upright):
    tracks = tracks_of(seed, upright=upright)
    a, i, b, j, low, high = queries(tracks, seed)
    apart = Separations(tracks, a, i, b, j).apart(np.arange(len(a)), low, high)
    assert 0.2 < apart.mean() < 0.98  # it says something, and not always
    rows = np.flatnonzero(apart)
    times, near = tracks.times, np.inf
    for shift in (low, 0.5 * (low + high), high):
        since = np.maximum(times[i], times[j] - shift)[rows]
        until = np.minimum(times[i + 1], times[j + 1] - shift)[rows]
        some = rows[until >= since]
        for share in np.linspace(0, 1, SAMPLES):
            t = (since + share * (until - since))[until >= since]
            places = []
            for body, step, at in ((a[some], i[some], t), (b[some], j[some], t + shift[some])):
                fraction = np.clip((at - times[step]) / (times[step + 1] - times[step]), 0, 1)
                places.append(tracks.at(body, step).toward(tracks.at(body, step + 1), fraction))
            both = gc.Poses.concatenate(places)
            bodies = gc.Bodies(tracks.meshes, tracks.shape[np.concatenate([a[some], b[some]])], both, both)
            pairs = np.arange(2 * len(some)).reshape(2, -1).T
            told = gc.clearance(bodies, pairs, at=0.0, backend="cpu")
            near = min(near, told.distance.min())
    assert near > 0.0  # least 0.40


def test_what_touches_is_never_apart_by_hand():
    """Whole numbers: cars that only touch side by side, end to end, and corner to corner."""
    for other in ((4.0, 0.0, 0.0), (0.0, 2.0, 0.0), (4.0, 2.0, 0.0), (0.0, 0.0, 0.0)):
        recording = drive((0, 0, 0.0, 0.0), (*other[:2], 0.0, 0.0), seconds=0.2)
        tracks = Tracks(recording, recording.collide(backend="cpu").skipped)
        one, step = np.zeros(1, int), np.zeros(1, int)
        for shift in (-0.1, 0.0, 0.05):
            shifts = np.full(1, shift)
            assert not Separations(tracks, one, step, one + 1, step).apart(one, shifts, shifts).any()


@pytest.mark.parametrize("gap", [-1e-3, 1e-3])
def test_cars_that_pass_a_millimetre_apart_are_told_from_those_that_touch(gap):
    recording = drive((0, 0, 0.0, 10.0), (10, 2.0 + gap, np.pi, 20.0), seconds=1.0)
    tracks = Tracks(recording, recording.collide(backend="cpu").skipped)
    steps, shifts = np.arange(10), np.zeros(10)
    car = np.zeros(10, int)
    apart = Separations(tracks, car, steps, car + 1, steps).apart(steps, shifts, shifts)
    beside = 30.0 * (steps + 1) / 10 >= 6.0  # they come from 10 m to 4 m at 30 m/s
    left = 30.0 * steps / 10 > 14.0
    assert apart.tolist() == (~beside | left | (gap > 0)).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_post_encroachment_times_do_not_depend_on_it(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    cars = [
        (*rng.uniform(-40, 40, 2), rng.uniform(-np.pi, np.pi), rng.uniform(2, 12), rng.normal(0, 0.2))
        for _ in range(20)
    ]
    recording = drive(*cars, seconds=4.0)
    with_it = gc.events(recording, backend="cpu", max_distance=4.0)
    assert np.isfinite(with_it.pet[~with_it.met]).sum() > 2
    monkeypatch.setattr(Separations, "apart", lambda self, which, low, high: np.zeros(len(which), bool))
    without = gc.events(recording, backend="cpu", max_distance=4.0)
    assert with_it.pet.tobytes() == without.pet.tobytes()
