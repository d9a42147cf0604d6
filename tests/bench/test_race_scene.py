"""The race example on a small made-up track: pre-selection, shared patches, messages."""

import numpy as np
import pytest

import gpu_collide as gc
from examples import race as example


@pytest.fixture
def recording(tmp_path):
    """A box-shaped car hops over a flat 12 x 4 grid of track; two races of 6 poses."""
    x, z = np.meshgrid(np.arange(13.0), np.arange(5.0), indexing="ij")
    track = np.stack([x, 0.02 * np.sin(3.0 * x + z), z], axis=-1).reshape(-1, 3)
    quad = np.array([i * 5 + j for i in range(12) for j in range(4)])
    faces = np.concatenate(
        [np.stack([quad, quad + 1, quad + 6], axis=1), np.stack([quad, quad + 6, quad + 5], axis=1)]
    )
    box = gc.shapes.box((1.0, 0.4, 0.6))
    t = np.arange(6.0)
    position = np.stack([1.0 + 2.0 * t, 0.6 - 0.5 * (t % 2), 2.0 + 0.1 * t], axis=1)
    quat = np.stack([np.zeros(6), np.sin(0.1 * t), np.zeros(6), np.cos(0.1 * t)], axis=1)
    triangles = np.array([loop[[0, i, i + 1]] for loop in map(np.asarray, box.faces) for i in (1, 2)])
    path = tmp_path / "small.npz"
    np.savez(
        path,
        track_vertices=track.astype(np.float32),
        track_faces=faces.astype(np.int32),
        car_vertices=box.vertices.astype(np.float32),
        car_faces=triangles.astype(np.int32),
        time=np.concatenate([t, t]) * 0.1,
        position=np.concatenate([position, position]),
        quaternion_xyzw=np.concatenate([quat, quat]),
        race_lengths=np.array([6, 6]),
    )
    return path


def test_no_step_from_one_race_to_the_next(recording):
    race = example.load_race(recording)
    assert len(race.time) == 10
    assert race.duration == pytest.approx(np.full(10, 0.1))


def test_near_triangles_are_those_whose_boxes_meet(recording):
    race = example.load_race(recording)
    low, high = example.swept_boxes(race.car[0], race.start, race.end)
    corners = race.track[0][race.track[1]]
    found = example.near_triangles(*race.track, low, high)
    for k in range(len(low)):
        meets = ((corners.min(axis=1) <= high[k]) & (corners.max(axis=1) >= low[k])).all(axis=1)
        assert np.array_equal(found[k], np.flatnonzero(meets))
    assert any(len(near) for near in found)


def test_swept_boxes_hold_the_moving_vertices(recording):
    from bench.relative import rotate, screw_poses

    race = example.load_race(recording)
    low, high = example.swept_boxes(race.car[0], race.start, race.end)
    ends = (race.start.position, race.start.unit_wxyz, race.end.position, race.end.unit_wxyz)
    for t in np.linspace(0.0, 1.0, 21):
        position, quat = screw_poses(*ends, t)
        for vertex in race.car[0]:
            at = position + rotate(quat, vertex)
            assert (at >= low - 1e-12).all() and (at <= high + 1e-12).all()


def test_equal_patches_are_shared_and_lead_back_to_the_track(recording):
    race = example.load_race(recording)
    scene = example.build_scene(race)
    assert len(scene.pairs) == len(scene.step)
    assert len(scene.triangles) <= len(scene.pairs) // 2  # both races drive the same line
    assert len(scene.bodies.meshes) == len(scene.triangles) + 1
    for patch, found in enumerate(scene.triangles):
        mesh = scene.bodies.meshes[patch]
        corners = race.track[0][race.track[1][found[mesh.source_face]]]
        assert np.allclose(corners, [mesh.vertices[mesh.face(f)] for f in range(len(found))])


def test_a_missing_file_says_what_is_needed(tmp_path, capsys):
    assert example.main([str(tmp_path / "none.npz")]) == 2
    said = capsys.readouterr().err
    assert "track_vertices" in said and "quaternion_xyzw" in said


def test_a_missing_array_is_named(tmp_path):
    np.savez(tmp_path / "poor.npz", track_vertices=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="track_faces"):
        example.load_race(tmp_path / "poor.npz")


def test_the_whole_example(recording, tmp_path, capsys):
    out = tmp_path / "contacts.npz"
    assert example.main([str(recording), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "10 steps" in said and "steps with contact" in said
    contacts = gc.Contacts.load(out)
    assert len(contacts) > 0


def test_patches_give_the_contacts_of_the_whole_track(recording):
    """Cutting the track to the triangles near a step changes no contact: same faces, times and properness."""
    race = example.load_race(recording)
    scene = example.build_scene(race)
    found = gc.collide(scene.bodies, scene.pairs).to_numpy()
    track, car = gc.Mesh(*race.track), scene.bodies.meshes[-1]
    n = len(scene.step)
    still = gc.Poses.identity(1)
    start, end = (
        gc.Poses.from_quat_wxyz(
            np.concatenate([still.position, p.position[scene.step]]),
            np.concatenate([still.quat_wxyz, p.quat_wxyz[scene.step]]),
        )
        for p in (race.start, race.end)
    )
    bodies = gc.Bodies([track, car], np.r_[0, np.ones(n, int)], start, end)
    whole = gc.collide(bodies, np.stack([np.zeros(n, int), 1 + np.arange(n)], axis=1)).to_numpy()
    assert np.array_equal(found.contact_start, whole.contact_start)
    faces = found.kind == int(gc.Kind.FV)
    assert np.array_equal(scene.track_triangle(found)[faces], whole.feature_a[faces])
    # Worst difference seen: rounding of the other centre and size, 1e-15.
    assert np.abs(found.time - whole.time).max() < 1e-11
    assert np.abs(found.properness - whole.properness).max() < 1e-11
