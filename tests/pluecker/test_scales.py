"""Scenes multiplied by a power of two: no bit of an answer changes, as far as the numbers reach."""

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

N = 80
TETRAHEDRON = [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]


def answer(backend, precision, power, turn):
    """Tetrahedra and boxes, carried or turned past boxes, one each."""
    rng = np.random.default_rng(2)
    scale = 2.0**power
    meshes = [gc.shapes.box(np.array([1.0, 0.7, 0.4]) * scale)]
    meshes.append(gc.Mesh(rng.normal(size=(4, 3)) * scale, TETRAHEDRON, two_sided=True))
    quat = rng.normal(size=(2, N, 4))
    quat /= np.linalg.norm(quat, axis=2)[..., None]
    place = rng.normal(size=(N, 3))
    place *= 2 / np.linalg.norm(place, axis=1)[:, None]
    start = gc.Poses.from_quat_wxyz(place * scale, quat[0])
    there = gc.Poses.from_quat_wxyz(np.zeros((N, 3)), quat[1])
    shape = np.arange(N) % 2
    movers, world = gc.Bodies(meshes, shape, start, start), gc.Bodies(meshes, 0 * shape, there, there)
    how = {"pairs": np.column_stack((np.arange(N),) * 2), "backend": backend, "precision": precision}
    if turn:
        about = (0.5 * place + 0.2 * rng.normal(size=(N, 3))) * scale
        axis = np.cross(place, rng.normal(size=(N, 3)))
        return gc.pluecker.rotate(movers, world, rng.uniform(-3, 3, N), axis, about, **how)
    return gc.pluecker.translate(movers, world, (rng.normal(size=(N, 3)) - 2 * place) * scale, **how)


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("precision, powers", [("mixed", (-40, 40)), ("single", (-24, -20, 15))])
def test_a_power_of_two_changes_no_bit(backend, precision, powers, turn):
    """Sides of two edges are three lengths, and roots have six of them: float32 lost them at sizes of 1e-6,
    and turns missed what they met."""
    one = answer(backend.kind, precision, 0, turn)
    assert 8 < (one.kind != 0).sum() < N - 4
    for power in powers:
        other = answer(backend.kind, precision, power, turn)
        for name in ("status", "kind", "feature_a", "feature_b", "fraction", "normal", "quat_wxyz"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), (power, name)
        assert np.array_equal(other.position, one.position * 2.0**power)


def test_what_float32_cannot_hold_is_not_moved(backend):
    for power in (21, -30):
        found = answer(backend.kind, "single", power, False)
        assert (found.status == gc.Status.UNRESOLVED).all() and (found.fraction == 0).all()
    found = answer(backend.kind, "single", -24, False)
    assert (found.status != gc.Status.UNRESOLVED).all()
