"""Two edges that pass each other on a turn, just as a face at the one comes flat onto the other: from then on
the normal leads out of its wedge no more, but by then the two may be within a quarter of the zone."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker_report import judged
from tests.acceptance.pluecker_runs import run
from tests.oracle.passage_grazes import flat_graze_turn
from tests.pluecker._crowds import still
from tests.support.seeds import everyday

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

CUBE = gc.Mesh(
    [[x, y, z] for x in (1, 2) for y in (0, 1) for z in (0, 1)],
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]],
)
TETRAHEDRON = gc.Mesh(
    [[-3, 0, -1], [-3, 3, 1], [0, 3, -4], [2, -5, 2]], [[1, 3, 2], [0, 3, 1], [0, 1, 2], [0, 2, 3]]
)
PLACE, START = np.array([-4, -2, 3]), np.array([-9.0, 0, 5])
AXIS, ORIGIN = np.array([-1.0, -1, 0]), np.array([-6.0, 1, 5])
FLAT = np.arccos(-1 / 3)  # the angle at which the cube's face is flat on the edge, and the two edges touch
# Of the zone; seen: 1.0000 from 1e-10 to 1e-4, and 0.97 and more in 3,000 moves of the family.
LEAST = 0.95


def turned(x, angle, about):
    z = AXIS / np.sqrt(2)
    from_ = x - about
    ahead = np.cross(z, from_)
    return about + from_ + ahead * np.sin(angle) + np.cross(z, ahead) * 2 * np.sin(angle / 2) ** 2


def gap(start, angle):
    """Of the lines along the cube's edge and the tetrahedron's, after a turn of the cube."""
    a, b = turned(np.array([[1, 1, 0], [2, 1, 0]]) + start, angle, ORIGIN)
    c, d = TETRAHEDRON.vertices[[1, 3]] + PLACE
    n = np.cross(b - a, d - c)
    return abs(n @ (c - a)) / np.linalg.norm(n)


@pytest.mark.parametrize("zone", [1e-10, 1e-6, 1e-4])
def test_edges_that_pass_within_a_quarter_of_the_zone_stop_at_the_zone(backend, zone):
    """They stopped where they are nearest, which is 0.01 to 0.24 zones off, as their neighbours meet."""
    a, b = turned(np.array([[1, 1, 0], [2, 1, 0]]) + START, FLAT, ORIGIN)
    n = np.cross(b - a, TETRAHEDRON.vertices[3] - TETRAHEDRON.vertices[1])
    lift = turned(n / np.linalg.norm(n), -FLAT, np.zeros(3)) * zone
    shares = np.array([-0.1, 0, 0.0005, 0.01, 0.05, 0.1, 0.2, 0.24])
    starts = START - shares[:, None] * lift
    for kind in (backend.kind, "reference"):
        found = gc.pluecker.rotate(
            still(CUBE, starts), still(TETRAHEDRON, PLACE), 2 * np.pi, AXIS, ORIGIN, expel=zone, backend=kind
        )
        assert (found.kind == gc.pluecker.Touch.EE).all()
        gaps = [gap(start, 2 * np.pi * f) / zone for start, f in zip(starts, found.fraction, strict=True)]
        assert min(gaps) > LEAST and max(gaps) < 1.01, gaps  # measured: 0.9999 to 1.0003


@pytest.mark.parametrize("seed", everyday(1, 3))
def test_faces_of_either_body_that_come_flat(backend, seed):
    """Of the first 100 moves 14 stopped nearer than a quarter of the zone."""
    moves = flat_graze_turn([1, seed], 40)
    for kind in (backend.kind, "reference"):
        tally = judged(moves, run(moves, backend=kind)[0])
        assert not tally.wrong and tally.hits > 10 and tally.narrowest > LEAST, tally
