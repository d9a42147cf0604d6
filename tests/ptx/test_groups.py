"""How many work-items a group has on a GPU: 64, and half of them where an item is little work."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.backends.cuda import CudaBackend
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.narrow_phase import query
from gpu_collide.pipeline.narrow_phase.recorded_batch import RecordedBatch
from gpu_collide.scenes import random_impacts
from tests.pluecker._crowds import BOX, CAR, POINT_FIELDS, at, crowd, same_bits
from tests.ptx._staying import MESHES, made, numbers, same

ROUND = (gc.shapes.icosphere(2), gc.shapes.torus(1.0, 0.4, 24, 8))


@pytest.fixture
def sizes(cuda, monkeypatch):
    """Work-items of the groups of each kernel that was launched, with the numbers a GPU has."""
    monkeypatch.setattr(CudaBackend, "group_size", 64)
    real, seen = CudaBackend.enqueue, {}

    def enqueue(self, kernel, groups, size, typed):
        seen.setdefault(kernel.name, set()).add(size)
        real(self, kernel, groups, size, typed)

    monkeypatch.setattr(CudaBackend, "enqueue", enqueue)
    return seen


SMALL, ROUND_ONES = {"screen_small": 32}, {"screen": 64}


@pytest.mark.parametrize(
    "meshes, screens",
    [(MESHES, SMALL), (ROUND, ROUND_ONES), (MESHES + ROUND, SMALL | ROUND_ONES)],
    ids=["small", "round", "both"],
)
def test_pairs(sizes, meshes, screens):
    """Half as many work-items to a pair of cars as to one with a larger mesh, and a screen of their own."""
    position, quat, shape, pairs = numbers(16, 2, meshes=meshes)
    shape = np.arange(16) // 2 % len(meshes)
    bodies = made(position, quat, shape, meshes=meshes)
    same(gc.collide(bodies, pairs, backend="cuda"), gc.collide(bodies, pairs, backend="cpu"))
    assert {name: sizes[name] for name in sizes if "screen" in name} == {k: {n} for k, n in screens.items()}
    assert sizes["s09_overlap"] == {max(screens.values())}
    assert sizes["s01_screw"] == {CudaBackend.item_group_size}


def test_small_pairs_beside_some_that_look_at_near_faces(sizes):
    """As cars on a ground: three lists, of which each pair is in one."""
    ground = gc.shapes.torus(4.0, 1.6, 40, 27)
    meshes = (ground, *MESHES, gc.shapes.torus())
    position, quat, shape, pairs = numbers(24, 3, meshes=meshes)
    shape = np.array([0, 1, 2, 0, 1, 2, 3, 4] + 8 * [1, 2])
    bodies = made(position, quat, shape, meshes=meshes)
    found, wanted = (gc.collide(bodies, pairs, backend=name, report=True) for name in ("cuda", "cpu"))
    same(found, wanted)
    assert 0 < wanted.report["near features"].got < wanted.report["narrow phase"].got
    assert sizes["screen_small"] == {32} and sizes["screen"] == sizes["b05_features"] == {64}


def test_few_pairs(sizes):
    bodies, pairs = random_impacts(gc.shapes.car(), n=8, seed=3)
    fields = [few_pairs(get_backend(name), bodies).collide(bodies, pairs) for name in ("cuda", "cpu")]
    assert fields[1]["contact_start"][-1] > 3 and sizes["screen_small"] == {32}
    for name, wanted in fields[1].items():
        assert np.array_equal(getattr(fields[0][name], "get", lambda x=fields[0][name]: x)(), wanted), name


def few_pairs(backend, bodies):
    """`RecordedBatch` as a scene keeps them."""
    run, options = Launcher(backend, "mixed", 1 << 30), Options()
    return RecordedBatch(run, query.prepare(run, bodies.meshes, options))


@pytest.mark.slow  # it builds all kernels of movers; in .ci/run
def test_movers(sizes):
    """Counted, a mover takes half of the instructions in a group of 32; the same bits, in room for 32."""
    movers, world, way, _ = crowd(7, movers=(CAR, BOX), obstacles=(BOX,), n=6)
    quat = np.tile([0.8, 0.36, 0.48, 0.0], (6, 1))
    begin = movers.start
    moved = gc.Bodies(movers.meshes, movers.shape, begin, at(begin.position + way, quat))
    found, wanted = (gc.pluecker.move(moved, world, backend=name) for name in ("cuda", "cpu"))
    assert same_bits(found, wanted) == [] and (wanted.status == gc.Status.HIT).any()
    there = gc.Bodies(movers.meshes, movers.shape, wanted.poses, wanted.poses)
    close, also = (gc.pluecker.contacts(there, world, 0.1, backend=name) for name in ("cuda", "cpu"))
    assert len(also) and same_bits(close, also, POINT_FIELDS) == []
    assert [sizes[name] for name in ("p02_translate", "p03_rotate", "p04_contacts")] == 3 * [{32}]
