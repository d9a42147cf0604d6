"""Edges that begin a turn on one line: they cross as they part, and no end of theirs tells.

Two boxes stand edge along edge, and one turns about an axis through (2, 0, 0) or near it. A place z of their
edges, (1, 1, z), begins to move by (tilt z - drop, -drop - tilt z, ..): into the other box about z = 0, out
over its faces at the ends. These were missed: distance and sine of the edges vanish together.
"""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker import rotate
from tests.acceptance.pluecker import judge
from tests.acceptance.pluecker_runs import run
from tests.oracle.passages import Passages, box
from tests.oracle.scenes_base import IDENTITY, random_quat
from tests.oracle.solid import apply, rotation_matrix
from tests.pluecker._crowds import still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

TILT = 3.0
EDGE = np.array([[1.0, 1, -1], [1, 1, 1]])
CUBE = gc.shapes.box((2, 2, 2))
# of the faces at the edge: left of it as seen from outside, and right
OF_STILL = [[1.0, 0, 0], [0, 1, 0]]
OF_MOVER = [[-1.0, 0, 0], [0, -1, 0]]


def boxes(drop, gap=0.0, frame=IDENTITY, angle=1.0):
    """Moves of boxes that drop by so much, (n,), and stand off by `gap`, (n, 3), in turned frames."""
    n = len(drop)
    frame = np.broadcast_to(frame, (n, 4))
    matrix = rotation_matrix(frame)
    axis = apply(matrix, np.tile([TILT, TILT, 1.0], (n, 1)))
    origin = apply(matrix, np.array([1.0, 1, 0]) + gap + np.outer(drop, [1, -1, 0]))
    shape = np.zeros(n, int)
    return Passages(
        "boxes", [box((2, 2, 2))], (shape, apply(matrix, np.tile([2.0, 2, 0], (n, 1)) + gap), frame),
        (shape, np.zeros((n, 3)), frame), angle=np.full(n, angle), axis=axis, origin=origin, start="any",
    )  # fmt: skip


def verdicts(passages, **options):
    answer, trace = run(passages, **options)
    return [judge(passages, i, answer) for i in range(len(passages))], trace


@pytest.mark.parametrize("angle", [3.0, 1.0, 1e-3, 1e-9])
def test_they_stop_at_once(backend, angle):
    """However short the turn is, as long as it is not rounding."""
    passages = boxes([1.0, 0.1, 1e-3], angle=angle)
    _, trace = run(passages, backend=backend.kind)
    assert np.array_equal(trace.fraction, np.zeros(3)) and np.all(trace.kind == 3)
    assert np.array_equal(trace.position, passages.mover[1])
    out = trace.normal @ np.array([1.0, 1, 0])
    assert np.all(out > 0.2), "the normal leads out of the box that is hit"


def test_they_leave_the_other_way(backend):
    _, trace = run(boxes([1.0, 0.1], angle=-0.2), backend=backend.kind)
    assert np.array_equal(trace.kind, [0, 0])


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_slow_and_beside_and_turned(backend, precision):
    """Drops down to a 1e-7, gaps up to half a zone, in frames where nothing is exact."""
    rng = np.random.default_rng(4)
    eps = 2.0 ** (-23 if precision == "single" else -52)
    n = 24
    drop = rng.choice([1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-7], n)
    gap = rng.choice([0, 0, eps, 8 * eps, 100 * eps], (n, 1)) * np.abs(rng.normal(size=(n, 3)))
    frame = np.where(rng.uniform(size=(n, 1)) < 0.3, IDENTITY, random_quat(rng, n))
    some, trace = verdicts(boxes(drop, gap, frame), backend=backend.kind, precision=precision)
    assert all(v.ok or v.inside for v in some), some
    assert sum(v.touch is not None for v in some) > n / 2 and (trace.kind == 3).sum() > n / 2


def test_an_axis_along_the_edges_lets_them_go(backend):
    """They stay on one line, or parallel: what they hit, their ends hit."""
    for origin in ([1.0, 1, 0], [0.0, 3, 0], [0.0, 3, 9]):
        trace = rotate(
            still(CUBE, [2, 2, 0]), still(CUBE, [0, 0, 0]), 0.3, [0, 0, 1.0], origin, backend=backend.kind
        )
        assert trace.kind[0] == 0, origin


def primitive(backend, angle, mover=OF_MOVER, other=OF_STILL, expel=None, tilt=TILT):
    axis, origin = [tilt, tilt, 1.0], [2.0, 0, 0]
    return gc.pluecker.edge_edge_rotation(
        EDGE, angle, axis, origin, EDGE, edge_normals=mover, still_normals=other, expel=expel,
        backend=backend.kind,
    )  # fmt: skip


@pytest.mark.parametrize("expel", [0.0, None, 1e-6])
def test_the_primitive(backend, expel):
    found = primitive(backend, [1.0, -1.0, 1e-6], expel=expel)
    assert found[0] == 0 and found[2] == 0 and found[1] > 0
    # rods have no inside: past each other they part
    assert primitive(backend, 1.0, None, None, expel)[()] > 0
    # the other wedge is where the mover is: no normal leads out of both
    assert primitive(backend, 1.0, OF_MOVER, OF_MOVER, expel)[()] > 0


def test_edges_nearly_across_the_axis(backend):
    """Across it nothing changes along their normal, and they are let go without a look; what leans by as much
    as counts is looked at all the way."""
    angles = np.array([3.0, 1.0, 0.1, 1e-3])
    tilts = 10.0 ** np.arange(0, 17, 0.5)
    found = np.stack([primitive(backend, angles, tilt=tilt) for tilt in tilts])
    assert (found[:25] == 0).all(), "with tilts up to 1e12 they go in by more than a zone"
    assert np.isinf(found[30:]).all(), "from 1e15 on that is less than rounding"
    assert (np.diff((found == 0).astype(int), axis=0) <= 0).all()
