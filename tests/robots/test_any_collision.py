"""`edges(..., first=False)`: free edges are the same, and what collides does, at the time told. Joint values
in arrays of other libraries."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.motion_families import FAMILIES, block
from tests.acceptance.motion_proofs import as_robot, judged
from tests.robots.test_edges import boxes, names, planar, sliding
from tests.support.seeds import generator


@pytest.mark.parametrize("family", FAMILIES)
def test_free_edges_are_the_same_and_poses_agree(family, backend):
    """Beside the edges with their first collision, and 129 poses of each by separating axes."""
    rng = generator(7, list(FAMILIES).index(family))
    arm, places, half, special = block(family, rng, 24, 4)
    any_, first = (
        as_robot(arm).edges(arm.q0, arm.q1, boxes(places, 2 * half), first=first, backend=backend.name)
        for first in (False, True)
    )
    for found in (any_, first):
        assert judged(arm, places, half, found, 129, special, True) == 0
        assert (found.free_fraction <= found.time).all()
    free = gc.Status.MISS
    np.testing.assert_array_equal(any_.status == free, first.status == free)
    np.testing.assert_array_equal(np.isfinite(any_.time), np.isfinite(first.time))
    # the first collision lies behind what is proved free of either, and both times collide
    assert (any_.free_fraction <= first.time).all() and (first.free_fraction <= any_.time).all()
    assert any_.pieces.sum() <= first.pieces.sum()


@pytest.mark.parametrize("margin, wanted", [(0.0, "MISS HIT"), (0.25, "HIT HIT")])
def test_margins_and_both_ends(margin, wanted):
    """A cube slides to a gap of exactly 1/4 from another at its last pose, and to touch: with this margin
    both collide there, and nowhere before."""
    found = sliding().edges(
        [[-3.0], [-3.0]], [[-1.25], [-1.0]], boxes([[0, 0, 0]], 1.0), margin=margin, first=False
    )
    assert names(found) == wanted.split()
    told = found.time[np.isfinite(found.time)]
    assert told[-1] == 1.0 if margin == 0 else (told >= 0.87).all()


class Dlpack:
    """An array of another library: what it has is DLPack."""

    def __init__(self, values):
        self._values = np.asarray(values, np.float64)

    def __dlpack__(self, **given):
        return self._values.__dlpack__(**given)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class Unreadable(Dlpack):
    """One on a device that nothing here reads."""

    def __dlpack__(self, **given):
        raise BufferError("on another device")

    def __dlpack_device__(self):
        return (14, 0)


class OnGpu:
    """A CuPy array, as far as it is asked: `get` copies it to the host."""

    def __init__(self, values):
        self._values = np.asarray(values, np.float32)

    __cuda_array_interface__ = property(lambda self: self._values.__array_interface__)

    def get(self):
        return self._values


@pytest.mark.parametrize("made", [Dlpack, OnGpu])
def test_joint_values_of_other_libraries(made):
    robot, post = planar(2), boxes([[1.2, 1.1, 0]], 0.25)
    q0, q1 = [[0.0, 0.0], [0.0, 0.0]], [[1.25, -0.75], [0.5, 0.25]]
    found, plain = robot.edges(made(q0), made(q1), post), robot.edges(q0, q1, post)
    np.testing.assert_array_equal(found.time, plain.time)
    with pytest.raises(TypeError, match="q0: expected an array of numbers"):
        robot.edges(Unreadable(q0), q1, post)
