"""Edges whose lines cross during the whole turn, and a rise below rounding: what stops a turn is there."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker_places import stop_distance
from tests.acceptance.pluecker_shapes import SHAPES
from tests.oracle.solid import rotation_matrix

HALF = 0.5**0.5
QUARTER = [HALF, 0.0, HALF, 0.0]

#: Shapes, positions, quaternions, angle, axis, a point of it, and the fraction at which it stops. In all but
#: the last the side of two edges is zero from the start to the end, but for rounding.
CASES = {
    "slab over the corner of an angle": (
        ("slab", "angle"), ([-2, 0.5, -2], [0, 0, 0]), ([0, HALF, HALF, 0], [0.5] * 4),
        2.0936248461408757, [-1, 1, 2], [-2, -1.5, -2], 0.37026,
    ),
    "box over the corner of a box": (
        ("box", "box"), ([-2, -1, -3], [0, 0, 0]), ([0, 1, 0, 0], [0, HALF, 0, HALF]),
        2.6351873239132404, [2, -2, 2], [-2, 1, -2], 0.79478,
    ),
    "box over the corner of an angle": (
        ("box", "angle"), ([2, 3, -0.5], [0, 0, 0]), ([0, HALF, -HALF, 0], [HALF, 0, -HALF, 0]),
        -2.7105389710642176, [-2, 0, -1], [2, 3, -0.5], 0.62059,
    ),
    "octahedra": (
        ("octahedron", "octahedron"), ([0, 3.5, -2.5], [0, 0, 0]), ([HALF, 0, -HALF, 0], [0, 0, HALF, -HALF]),
        1.215642630847693, [-1, -1, 0], [-1, 3.5, -1.5], 0.72474,
    ),
    "box in touch elsewhere": (
        ("box", "angle"), ([2, 1, 0.5], [0, 0, 0]), ([0.5, 0.5, 0.5, -0.5], [0.5] * 4),
        -2.9990506239831713, [2, 1, -2], [3, 2, -0.5], 0.0,
    ),
    "angle that rises by less than a rounding": (
        ("angle", "octahedron"), ([1, 2, -1], [0, 0, 0]), (QUARTER, [0.5, -0.5, 0.5, -0.5]),
        2.931452849537238, [-2, 0, 0], [2, 0, -2], 0.80376,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_stops_a_turn_is_there_and_is_told(name, backend):
    shapes, position, quat, *turn, fraction = CASES[name]
    shapes = [SHAPES[k] for k in shapes]
    poses = [gc.Poses.from_quat_wxyz([np.array(p, float)], [q]) for p, q in zip(position, quat, strict=True)]
    mover, world = (gc.Bodies(s.mesh, None, p, p) for s, p in zip(shapes, poses, strict=True))
    for kind in (backend.kind, "reference"):
        trace = gc.pluecker.rotate(mover, world, *turn, backend=kind)
        assert trace.fraction[0] == pytest.approx(fraction, abs=1e-5), kind
        still = shapes[1].mesh.vertices @ rotation_matrix(np.array(quat[1])).T + position[1]
        there = SimpleNamespace(shapes=shapes, scale=1, places=[None, still[None]])
        # a zone before it, and up to 9/4 beside each border
        assert stop_distance(there, trace, np.array([0])) < 3.4 * trace.expel[0], kind
        stands = gc.Bodies(mover.meshes, mover.shape, trace.poses, trace.poses)
        found = gc.pluecker.contacts(stands, world, expel=trace.expel, backend=kind)
        told = set(zip(found.kind.tolist(), found.feature_a.tolist(), found.feature_b.tolist(), strict=True))
        assert (trace.kind[0], trace.feature_a[0], trace.feature_b[0]) in told, kind
