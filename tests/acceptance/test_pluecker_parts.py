"""Moves of two parts, and turns above pi, against the parts asked for one by one."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker_runs import library_bodies, library_mesh
from tests.oracle.passage_families import FAMILIES
from tests.oracle.scenes_base import turn_quat
from tests.oracle.solid import quat_mul

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

N = 120


def scene(family, seed=4):
    passages = FAMILIES[family](seed, N)
    meshes = [library_mesh(m) for m in passages.meshes]
    pairs = np.column_stack((np.arange(N),) * 2).astype(np.int32)
    return passages, meshes, library_bodies(meshes, passages.still), pairs


def moved(meshes, shape, trace):
    return library_bodies(meshes, (shape, trace.position, trace.quat_wxyz))


@pytest.mark.parametrize("family", ["random", "whole", "terrain"])
def test_a_move_is_its_translation_and_then_its_turn(backend, family):
    passages, meshes, world, pairs = scene(family)
    shape, position, quat = passages.mover
    rng = np.random.default_rng(2)
    axis, angle = rng.normal(size=(N, 3)), rng.uniform(0.1, 2.5, N)
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    end = gc.Poses.from_quat_wxyz(position + passages.vector, quat_mul(turn_quat(axis, angle), quat))
    start = gc.Poses.from_quat_wxyz(position, quat)
    how = {"pairs": pairs, "backend": backend.kind, "expel": 1e-9}
    whole = gc.pluecker.move(gc.Bodies(meshes, shape, start, end), world, **how)
    first = gc.pluecker.translate(gc.Bodies(meshes, shape, start, start), world, passages.vector, **how)
    free = first.kind == 0
    assert 20 < free.sum() < N - 20
    # what stops the translation stops the move, in the same place
    assert (whole.part[~free] == 0).all() and (whole.part[free] == 1).all()
    for name in ("kind", "body", "feature_a", "feature_b"):
        assert np.array_equal(getattr(whole, name)[~free], getattr(first, name)[~free])
    assert np.allclose(whole.fraction[~free], first.fraction[~free], rtol=0, atol=1e-12)
    second = gc.pluecker.rotate(moved(meshes, shape, first), world, angle, axis, first.position, **how)
    assert (second.kind[free] != 0).any()
    assert np.array_equal(whole.kind[free], second.kind[free])
    assert np.allclose(whole.fraction[free], second.fraction[free], rtol=0, atol=1e-8)
    stopped = free & (whole.kind == 0)
    assert np.array_equal(whole.position[stopped], end.position[stopped])


@pytest.mark.parametrize("family", ["random_turn", "half_turn", "room_turn"])
def test_a_turn_above_pi_is_two_of_its_half(backend, family):
    passages, meshes, world, pairs = scene(family)
    shape, position, quat = passages.mover
    angle = np.sign(passages.angle) * np.linspace(3.2, 2 * np.pi, N)
    how = {"pairs": pairs, "backend": backend.kind, "expel": 1e-9}
    movers = library_bodies(meshes, (shape, position, quat))
    whole = gc.pluecker.rotate(movers, world, angle, passages.axis, passages.origin, **how)
    half = angle / 2, passages.axis, passages.origin
    first = gc.pluecker.rotate(movers, world, *half, **how)
    second = gc.pluecker.rotate(moved(meshes, shape, first), world, *half, **how)
    free = first.kind == 0
    want = np.where(free, 0.5 + second.fraction / 2, first.fraction / 2)
    assert 0 < free.sum() < N
    assert np.allclose(whole.fraction, want, rtol=0, atol=1e-8)
    assert np.array_equal(whole.kind, np.where(free, second.kind, first.kind))
