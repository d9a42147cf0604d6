"""Calls of a kind that was before, which take what is remembered: the bits are those of a first call."""

import gc as memory
import threading
import weakref

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries import obstacles as queries

BOX = gc.shapes.box()
RNG = np.random.default_rng(6)


def at(position, quat=None):
    position = np.asarray(position, float)
    quat = np.tile([1.0, 0, 0, 0], (len(position), 1)) if quat is None else quat
    return gc.Poses.from_quat_wxyz(position, quat)


PLACES = {
    "near": [[0, 0, 0], [0, 3, 0.5]],
    "elsewhere": [[0, 0, 1.0], [0.5, 0, -2.0]],
    "far": [[0, 0, 9e3], [0, 3, 0.5]],
}
STARTS = RNG.uniform(-1, 1, (70, 3)) + [0, 0, 4]
WAYS = RNG.uniform(-1, 1, (70, 3)) * [1, 1, 0] - [0, 0, 8]
RADII = RNG.uniform(0.1, 0.4, (70, 3))
BODIES = gc.Bodies([BOX, gc.shapes.icosphere()], RNG.integers(0, 2, 70), at(STARTS), at(STARTS))


def calls(world, n, **how):
    """Every query of the second and the third method, of `n` things."""
    start, way, radii = STARTS[:n], WAYS[:n], RADII[:n]
    movers = gc.Bodies(BODIES.meshes, BODIES.shape[:n], at(start), at(start + way))
    yield gc.sweep.rays(start, way, world, **how)
    yield gc.sweep.rays(start, way, world, hits="any", two_sided=True, **how)
    yield gc.sweep.rays(start, way, world, hits="all", buffer=0.01, **how)
    yield gc.sweep.spheres(start, way, radii[:, 0], world, **how)
    yield gc.sweep.spheres(start, way, 0.3, world, **how)
    yield gc.sweep.ellipsoids(start, way, radii, world, **how)
    yield gc.sweep.clusters(gc.sweep.Cluster([[0, 0, 0], [0.5, 0, 0]], [0.2, 0.3]), start, way, world, **how)
    yield gc.sweep.planes(world, start - [0, 0, 2.5], radii, 2.0, **how)
    yield gc.sweep.slide(world, start, radii, way, gravity=[0, 0, -1.0], **how)
    yield gc.sweep.slide(world, start, radii, way, max_slides=2, step_height=0.2, **how)
    yield gc.pluecker.translate(start, world, way, **how)
    yield gc.pluecker.translate(movers, world, way, **how)
    yield gc.pluecker.rotate(movers, world, 2.0, [0, 1, 0], [0, 0, 2.0], **how)
    yield gc.pluecker.move(movers, world, **how)
    yield gc.pluecker.contacts(movers, world, 3.0, **how)


def same(one, two):
    assert type(one) is type(two)
    for name in one._format.fields:
        a, b = (getattr(x, name) for x in (one, two))
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), name
        assert not a.flags.writeable


def forget(backend):
    backend.kept.pop("world engines", None)


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_worlds_and_sizes_by_turns(backend, precision):
    """Sizes of one, of a few, and of more than are kept; worlds that are asked about again."""
    if backend.kind == "reference":
        pytest.skip("it remembers nothing")
    how = {"backend": backend.kind, "precision": precision}
    worlds = {name: gc.Bodies(BOX, None, at(p), at(p)) for name, p in PLACES.items()}
    fresh = {}
    for name, world in worlds.items():
        for n in (1, 5, 70):
            forget(backend)
            fresh[name, n] = list(calls(world, n, **how))
    kept = [*fresh, *reversed(fresh), *fresh]
    for name, n in kept:
        for found, wanted in zip(calls(worlds[name], n, **how), fresh[name, n], strict=True):
            same(found, wanted)


def test_a_scene_that_moves_on(backend):
    """What is remembered of a scene is of its poses of now, whoever else asks it in between."""
    scene = gc.Scene(BOX, [0, 0], backend=backend.kind)
    for name in ("near", "elsewhere", "near", "far", "near"):
        scene.update(at(PLACES[name]))
        bodies = gc.Bodies(BOX, None, at(PLACES[name]), at(PLACES[name]))
        for _ in range(2):
            for found, wanted in zip(calls(scene, 3), calls(bodies, 3, backend=backend.kind), strict=True):
                same(found, wanted)
            scene.find_pairs()
            scene.collide([[0, 1]])


def test_results_keep_what_they_say():
    """A later call writes to buffers of its own, or to those that were read."""
    world = gc.Bodies(BOX, None, at(PLACES["near"]), at(PLACES["near"]))
    first = list(calls(world, 2, backend="cpu"))
    before = [{name: getattr(x, name).copy() for name in x._format.fields} for x in first]
    for _ in calls(world, 70, backend="cpu"):
        pass
    gc.sweep.rays(STARTS[:2] + 1, -WAYS[:2], world, backend="cpu")
    gc.pluecker.translate(STARTS[:2] + 1, world, -WAYS[:2], backend="cpu")
    gc.sweep.slide(world, STARTS[:2] + 1, RADII[:2], -WAYS[:2], backend="cpu")
    for found, known in zip(first, before, strict=True):
        for name, array in known.items():
            assert getattr(found, name).tobytes() == array.tobytes(), name


def test_arguments_are_not_kept():
    """Arrays that a caller writes to later change nothing that is remembered."""
    world = gc.Bodies(BOX, None, at(PLACES["near"]), at(PLACES["near"]))
    start, way = np.array([[0.0, 0.0, 4.0]]), np.array([[0.0, 0.0, -8.0]])
    hit = gc.sweep.rays(start, way, world, backend="cpu")
    start += 50.0
    miss = gc.sweep.rays(start, way, world, backend="cpu")
    start -= 50.0
    same(gc.sweep.rays(start, way, world, backend="cpu"), hit)
    assert hit.hit.all() and not miss.hit.any()


def test_options_that_are_equal_and_not_the_same():
    """1 is not True: an option is remembered with its type."""
    world = gc.Bodies(BOX, None, at(PLACES["near"]), at(PLACES["near"]))
    gc.sweep.rays(STARTS[:1], WAYS[:1], world, two_sided=True, backend="cpu")
    with pytest.raises(TypeError, match="two_sided: expected a bool, got int"):
        gc.sweep.rays(STARTS[:1], WAYS[:1], world, two_sided=1, backend="cpu")
    with pytest.raises(TypeError, match="buffer: expected a number"):
        gc.sweep.rays(STARTS[:1], WAYS[:1], world, buffer=[0.0], backend="cpu")
    with pytest.raises(TypeError, match="max_slides: expected a whole number"):
        gc.sweep.slide(world, STARTS[:1], RADII[:1], WAYS[:1], max_slides=5.0, backend="cpu")


def test_a_world_that_is_gone_is_not_kept():
    cpu = gc.backends.get_backend("cpu")
    world = gc.Bodies(BOX, None, at(PLACES["near"]), at(PLACES["near"]))
    for _ in calls(world, 2, backend="cpu"):
        pass
    engines = [*cpu.kept["world engines"].values()]
    assert engines and all(engine._world[1] is not None for engine in engines[-1:])
    gone = weakref.ref(world)
    del world
    memory.collect()
    assert gone() is None
    assert all(engine._world[1] is None and not engine._pieces for engine in engines)
    assert len(cpu.kept["world engines"]) <= queries.MOST_ENGINES


def test_threads_have_engines_of_their_own():
    world = gc.Bodies(BOX, None, at(PLACES["near"]), at(PLACES["near"]))
    wanted = [gc.sweep.rays(STARTS[k : k + 1], WAYS[k : k + 1], world, backend="cpu") for k in range(8)]
    faults = []

    def ask(k):
        try:
            for _ in range(60):
                same(gc.sweep.rays(STARTS[k : k + 1], WAYS[k : k + 1], world, backend="cpu"), wanted[k])
        except AssertionError as error:
            faults.append(error)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_call_that_raises_leaves_nothing_behind(monkeypatch):
    """The engine that it had is not given back, and a scene is open again."""
    scene = gc.Scene(BOX, [0, 0], at(PLACES["near"]), backend="cpu")
    wanted = gc.sweep.rays(STARTS[:1], WAYS[:1], scene)
    from gpu_collide.pipeline.launch.world_query import Piece

    with monkeypatch.context() as patched:
        patched.setattr(Piece, "launch", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        for world, how in ((scene, {}), (scene.bodies, {"backend": "cpu"})):
            with pytest.raises(KeyboardInterrupt):
                gc.sweep.rays(STARTS[:1], WAYS[:1], world, **how)
    for world, how in ((scene, {}), (scene.bodies, {"backend": "cpu"})):
        same(gc.sweep.rays(STARTS[:1], WAYS[:1], world, **how), wanted)
    assert len(scene.collide([[0, 1]]).status) == 1
