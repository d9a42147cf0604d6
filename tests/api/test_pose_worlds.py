"""Poses of shape (worlds, n): many worlds of the same bodies, without world numbers of one's own."""

import pickle

import numpy as np
import pytest

import gpu_collide as gc

UNIT = [1.0, 0, 0, 0]


def worlds(count=7, n=3):
    """Poses (count, n): in each world boxes that fly at one another from places drawn at random."""
    rng = np.random.default_rng(5)
    side = np.linspace(-4, 4, n)[None, :, None] * [1.0, 0, 0]
    quat = np.broadcast_to(UNIT, (count, n, 4))
    start = side + 0.8 * rng.normal(size=(count, n, 3))
    return gc.Poses.from_quat_wxyz(start, quat), gc.Poses.from_quat_wxyz(-0.5 * start, quat)


def test_worlds_of_poses_are_those_given_by_number(backend):
    (start, end), shape = worlds(), [0, 1, 0]
    meshes = [gc.shapes.box(), gc.shapes.box((2, 1, 1))]
    bodies = gc.Bodies(meshes, shape, start, end)
    flat = gc.Bodies(meshes, np.tile(shape, 7), start.flat(), end.flat())
    number = np.repeat(np.arange(7), 3)
    assert bodies.worlds == (7, 3) and flat.worlds is None and flat.world is None
    assert (bodies.world == number).all() and (bodies.shape == flat.shape).all() and len(bodies) == 21
    found = gc.collide(bodies, backend=backend.kind)
    wanted = gc.collide(flat, world=number, backend=backend.kind)
    assert len(found) and found.pairs.tobytes() == wanted.pairs.tobytes()
    assert found.time.tobytes() == wanted.time.tobytes()
    for mine, theirs in zip(found.by_world(), wanted.by_world(number), strict=True):
        assert mine.shape == (7,) and mine.tobytes() == theirs.tobytes()
    assert gc.find_pairs(bodies, backend=backend.kind).tobytes() == found.pairs.tobytes()
    with gc.Scene(meshes, shape, start, end, backend=backend.kind) as scene:
        assert scene.collide().time.tobytes() == wanted.time.tobytes()
        assert scene.collide().by_world()[1].tobytes() == wanted.by_world(number)[1].tobytes()
        again = pickle.loads(pickle.dumps(scene))
        assert again.collide().by_world()[1].tobytes() == wanted.by_world(number)[1].tobytes()
        scene.step(start)
        scene.update(start, end)
        assert scene.collide().time.tobytes() == wanted.time.tobytes()


def test_one_world_per_row_knows_worlds_without_contacts(tmp_path):
    start, end = worlds()
    far = gc.Poses.from_quat_wxyz(start.position + 100.0 * np.arange(3)[:, None], start.quat_wxyz)
    bodies = gc.Bodies(gc.shapes.box(), None, far, far)
    found = gc.collide(bodies, backend="cpu")
    first, count = found.by_world()
    assert np.isinf(first).all() and count.tolist() == [0] * 7
    moving = gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), backend="cpu")
    moving.save(tmp_path / "worlds.npz")
    loaded = gc.Contacts.load(tmp_path / "worlds.npz")
    assert loaded.by_world()[1].tolist() == moving.by_world()[1].tolist()
    pandas = pytest.importorskip("pandas")
    assert isinstance(moving.to_pandas(), pandas.DataFrame)
    assert (moving.to_pandas()["world"] == moving.to_pandas()["body_a"] // 3).all()


def test_numbers_of_the_callers_own_go_first():
    start, end = worlds()
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    together = gc.collide(bodies, world=np.zeros(21, int), backend="cpu")
    assert together.n_pairs > gc.collide(bodies, backend="cpu").n_pairs
    pairs = gc.collide(bodies, [[0, 20]], backend="cpu")
    assert pairs.n_pairs == 1
    with pytest.raises(ValueError, match="world: expected the worlds of the bodies.*world=bodies.world"):
        gc.BroadPhase(21, backend="cpu").find_pairs(bodies)
    phase = gc.BroadPhase(21, world=bodies.world, backend="cpu")
    assert len(phase.find_pairs(bodies)) == len(gc.find_pairs(bodies, backend="cpu"))


def test_shapes_that_do_not_agree():
    start, end = worlds()
    box = gc.shapes.box()
    with pytest.raises(
        ValueError, match=r"start: expected Poses of shape \(n,\) or \(worlds, n\), got \(1, 7, 3\)"
    ):
        gc.Bodies(box, None, start[None], end[None])
    with pytest.raises(ValueError, match=r"end: .* shape of start, \(7, 3\), got \(3,\); .*broadcast_to"):
        gc.Bodies(box, None, start, end[0])
    with pytest.raises(
        ValueError, match=r"shape: expected mesh indices of shape \(3,\) or \(7, 3\).*got \(7,\)"
    ):
        gc.Bodies([box, box], [0] * 7, start, end)
    found = gc.collide(gc.Bodies(box, None, start[0], end[0]), backend="cpu")
    with pytest.raises(ValueError, match="world: expected the world of each body, as the query was given"):
        found.by_world()
    rows = gc.Bodies([box, box], np.arange(21).reshape(7, 3) % 2, start, start.broadcast_to((7, 3)))
    assert rows.shape.tolist() == [k % 2 for k in range(21)] and "21 bodies in 7 worlds" in repr(rows)
    moved = rows.moved(end, end)
    assert moved.worlds == (7, 3) and moved.start is moved.end and moved.start.shape == (21,)


def test_a_page_lets_one_of_the_worlds_be_chosen(tmp_path):
    start, end = worlds()
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    gc.view.page(gc.collide(bodies, backend="cpu"), bodies, tmp_path / "page.html")
    assert "world 3: " in (tmp_path / "page.html").read_text()
