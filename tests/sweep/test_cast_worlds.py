"""Casts and characters in worlds: what each finds is what it finds in its world alone, to the bit."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.support.seeds import generator

WORLDS, BODIES, EACH = 9, 7, 6
SHAPES = [gc.shapes.box((0.6, 0.5, 0.4)), gc.shapes.l_block(), gc.shapes.box((8.0, 8.0, 0.5))]


class Rooms:
    """Worlds at one place with a floor that all share, the last body; and casts, some of them in a world that
    no other body has."""

    def __init__(self, seed, move=0.3, turn=0.0):
        rng = generator(seed, 0)
        start = rng.uniform(-3, 3, (WORLDS * BODIES, 3))
        quat = rng.normal(size=(WORLDS * BODIES, 4))
        quat /= np.linalg.norm(quat, axis=1, keepdims=True)
        end = start + move * rng.normal(size=start.shape)
        last = quat.copy()
        last[::5] = turned(last[::5], turn)
        floor = [[0.0, 0.0, -4.0]], [[1.0, 0.0, 0.0, 0.0]]
        self.poses = [
            gc.Poses.from_quat_wxyz(np.concatenate([at, floor[0]]), np.concatenate([q, floor[1]]))
            for at, q in ((start, quat), (end, last))
        ]
        self.shape = np.append(np.arange(WORLDS * BODIES) % 2, 2)
        self.world = np.append(np.repeat(7 * np.arange(WORLDS), BODIES), -1)
        n = EACH * (WORLDS + 1)
        self.own = rng.permutation(np.repeat(7 * np.arange(WORLDS + 1), EACH))
        self.at = rng.uniform(-4, 4, (n, 3))
        self.way = rng.uniform(-4, 4, (n, 3)) - self.at

    def scene(self, some=slice(None), world=None, **options):
        """Of some bodies."""
        first, last = (poses[some] for poses in self.poses)
        scene = gc.Scene(SHAPES, self.shape[some], first, world=world, **options)
        scene.update(first, last)
        return scene


def turned(quat, angle):
    """Turned farther about x."""
    c, s = np.cos(angle / 2), np.sin(angle / 2)
    w, x, y, z = quat.T
    return np.stack([c * w - s * x, c * x + s * w, c * y - s * z, c * z + s * y], axis=1)


QUERIES = {
    "rays": lambda at, way, scene, **more: gc.sweep.rays(at, way, scene, **more),
    "spheres": lambda at, way, scene, **more: gc.sweep.spheres(at, way, 0.2, scene, **more),
    "all": lambda at, way, scene, **more: gc.sweep.spheres(at, way, 0.1, scene, hits="all", **more),
    "any": lambda at, way, scene, **more: gc.sweep.rays(at, way, scene, hits="any", **more).hit,
    "ellipsoids": lambda at, way, scene, **more: gc.sweep.ellipsoids(
        at, way, [0.2, 0.3, 0.25], scene, **more
    ),
    "clusters": lambda at, way, scene, **more: gc.sweep.clusters(
        gc.sweep.Cluster([[0, 0, 0], [0.3, 0, 0]], [0.1, 0.2]), at, way, scene, **more
    ),
    "planes": lambda at, way, scene, **more: gc.sweep.planes(scene, at, [0.5, 0.4, 0.6], 0.2, **more),
    "slide": lambda at, way, scene, **more: gc.sweep.slide(
        scene, at, [0.2, 0.2, 0.3], 0.3 * way, gravity=[0, 0, -0.5], step_height=0.1, **more
    ),
}


def rows(found, names):
    """Arrays of a result a query, bodies by the numbers that they have in `names`."""
    if isinstance(found, np.ndarray):
        return {"hit": [found[[k]] for k in range(len(found))]}
    own = {
        name: np.where(value >= 0, names[np.maximum(value, 0)], -1)
        if name in ("body", "ground_body")
        else value
        for name, value in vars(found).items()
        if isinstance(value, np.ndarray) and name not in ("query", "offsets")
    }
    each = np.arange(len(found.status) + 1)
    begin = getattr(found, "offsets", each)
    return {
        name: [value[a:b] for a, b in zip(at[:-1], at[1:], strict=True)]
        for name, value in own.items()
        for at in [each if name == "status" else begin]
    }


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("move", [0.0, 0.3])
@pytest.mark.shared_bits("tests/sweep/test_cast_worlds.py")
def test_in_its_world_alone(backend, query, move):
    rooms, ask = Rooms(1, move), QUERIES[query]
    with rooms.scene(world=rooms.world, backend=backend.name) as scene:
        got = rows(ask(rooms.at, rooms.way, scene, world=rooms.own), np.arange(len(rooms.shape)))
    for world in np.unique(rooms.own):
        bodies = np.flatnonzero((rooms.world == world) | (rooms.world == -1))
        casts = np.flatnonzero(rooms.own == world)
        with rooms.scene(bodies, backend=backend.name) as alone:
            wanted = rows(ask(rooms.at[casts], rooms.way[casts], alone), bodies)
        for name, values in wanted.items():
            for k, value in zip(casts, values, strict=True):
                np.testing.assert_array_equal(got[name][k], value, err_msg=name)


@pytest.mark.backends("opencl", "cuda")
def test_backends_have_the_same_bits(backend):
    for move, turn, queries in ((0.0, 0.0, QUERIES), (0.3, 0.0, QUERIES), (0.3, 0.2, ("slide",))):
        rooms, more = Rooms(1, move, turn), {"turning": "chord", "skin": 0.01} if turn else {}
        for query in queries:
            told = []
            for name in ("cpu", backend.name):
                with rooms.scene(world=rooms.world, backend=name) as scene:
                    found = QUERIES[query](rooms.at, rooms.way, scene, world=rooms.own, **more)
                    told.append(rows(found, np.arange(len(rooms.shape))))
            for name, values in told[0].items():
                for one, other in zip(values, told[1][name], strict=True):
                    assert one.tobytes() == other.tobytes(), (query, name)


@pytest.mark.shared_bits("tests/sweep/test_cast_worlds.py")
def test_kernels_and_reference_agree(backend):
    rooms = Rooms(2)
    for query, some in (("spheres", slice(None)), ("slide", slice(None, None, 4))):  # slow by the reference
        told = []
        for name in (backend.name, "reference"):
            with rooms.scene(world=rooms.world, backend=name) as scene:
                told.append(QUERIES[query](rooms.at[some], rooms.way[some], scene, world=rooms.own[some]))
        np.testing.assert_array_equal(told[0].status, told[1].status)
        places = [one.position if query == "slide" else one.point for one in told]
        np.testing.assert_allclose(*places, atol=1e-9)


@pytest.mark.shared_bits("tests/sweep/test_cast_worlds.py")
def test_characters_beside_wheels(backend):
    """Who may come to a body that turns has its step cut; those of other worlds have not."""
    rooms, more = Rooms(3, turn=0.2), {"turning": "chord", "skin": 0.01}
    with rooms.scene(world=rooms.world, backend=backend.name) as scene:
        got = QUERIES["slide"](rooms.at, 0.3 * rooms.way, scene, world=rooms.own, **more)
    for world in np.unique(rooms.own):
        bodies = np.flatnonzero((rooms.world == world) | (rooms.world == -1))
        casts = np.flatnonzero(rooms.own == world)
        with rooms.scene(bodies, backend=backend.name) as alone:
            wanted = QUERIES["slide"](rooms.at[casts], 0.3 * rooms.way[casts], alone, **more)
        # chords are cut by all bodies that turn within reach, here and there
        np.testing.assert_allclose(got.position[casts], wanted.position, atol=0.02)


def test_poses_in_rows_are_worlds(backend):
    """Two worlds of a box each, at different heights; a cast that is in none meets both."""
    at = gc.Poses.from_quat_wxyz([[[0, 0, 0.0]], [[0, 0, -2.0]]], np.tile([1.0, 0, 0, 0], (2, 1, 1)))
    bodies = gc.Bodies(gc.shapes.box(), None, at, at)
    found = gc.sweep.rays(
        np.tile([0, 0, 4.5], (3, 1)), [0, 0, -8], bodies, world=[0, 1, 5], backend=backend.name
    )
    assert found.time.tolist() == [0.5, 0.75, 1.0] and found.body.tolist() == [0, 1, -1]
    for world, time in ((1, 0.75), (None, 0.5)):
        found = gc.sweep.rays([0, 0, 4.5], [[0, 0, -8]], bodies, world=world, backend=backend.name)
        assert found.time.tolist() == [time]


def test_worlds_far_apart_and_one_alone(backend):
    """One body; worlds whose bodies are 1e6 apart; casts that begin far outside of what their world has."""
    one = gc.Poses.from_quat_wxyz([[0, 0, 0.0]], [[1, 0, 0, 0]])
    with gc.Scene(gc.shapes.box(), None, one, world=[3], backend=backend.name) as scene:
        found = gc.sweep.rays(np.tile([0, 0, 3.5], (2, 1)), [0, 0, -4], scene, world=[3, 0])
        assert found.time.tolist() == [0.75, 1.0]
    with gc.Scene(gc.shapes.box(), None, one, world=[-1], backend=backend.name) as scene:
        for world in (0, 1, 900):
            assert gc.sweep.rays([0, 0, 3.5], [[0, 0, -4]], scene, hits="all", world=world).time.tolist() == [
                0.75
            ]
    far = gc.Poses.from_quat_wxyz([[0, 0, 0.0], [1e6, 0, 0], [0, 1e6, 0]], np.tile([1.0, 0, 0, 0], (3, 1)))
    with gc.Scene(gc.shapes.box(), None, far, world=[0, 1, 1], backend=backend.name) as scene:
        start = [[-3e6, 0, 0], [-3e6, 0, 0], [0, -3e6, 0]]
        found = gc.sweep.rays(start, [[4e6, 0, 0], [4e6 + 1, 0, 0], [0, 4e6 + 1, 0]], scene, world=[0, 1, 1])
        assert found.body.tolist() == [0, 1, 2]


def test_what_is_refused():
    still = gc.Poses.from_quat_wxyz([[0, 0, 0.0]], [[1, 0, 0, 0]])
    bodies = gc.Bodies(gc.shapes.box(), None, still, still)
    with pytest.raises(ValueError, match="world: expected obstacles in worlds, got some without; give"):
        gc.sweep.rays([0, 0, 3], [[0, 0, -4]], bodies, world=0)
    with gc.Scene(gc.shapes.box(), None, still, world=[0]) as scene:
        with pytest.raises(ValueError, match=r"world: expected a number, or shape \(1,\), got \(2,\)"):
            gc.sweep.rays([0, 0, 3], [[0, 0, -4]], scene, world=[0, 1])
        with pytest.raises(ValueError, match="world: expected one world for all casts or one"):
            gc.sweep.slide(scene, [0, 0, 3], [1, 1, 1], [0, 0, 1], world=-1)
    with pytest.warns(FutureWarning, match="obstacles="):
        assert gc.sweep.rays([0, 0, 3], [[0, 0, -5]], world=bodies).hit.all()
