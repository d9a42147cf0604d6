"""Contact points of bodies at rest, by exact distances: none wrong; what stopped a mover is among them."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker_runs import library_bodies, library_mesh, run
from tests.oracle.exact_pose import (
    Couple,
    distance2,
    point_triangle2,
    segment_segment2,
)
from tests.oracle.passage_families import FAMILIES

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

N = 12


def exact_distance(couple, meshes, kind, a, b):
    """Of two features of the library's meshes, by the kind of their touch."""
    one, two = couple.a.points, couple.b.points
    touch = gc.pluecker.Touch
    if kind in (touch.EE, touch.VE, touch.EV, touch.VV):
        mine = [one[k] for k in meshes[0].edges[a]] if kind in (touch.EE, touch.EV) else [one[a]] * 2
        theirs = [two[k] for k in meshes[1].edges[b]] if kind in (touch.EE, touch.VE) else [two[b]] * 2
        return (float(segment_segment2(*mine, *theirs)) ** 0.5) / couple.scale
    point, corners, mesh, face = (one[a], two, meshes[1], b) if kind == 1 else (two[b], one, meshes[0], a)
    loop = mesh.face_vertices[mesh.face_start[face] : mesh.face_start[face + 1]]
    fans = ((loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1))
    square = min(point_triangle2(point, [corners[k] for k in fan]) for fan in fans)
    return (float(square) ** 0.5) / couple.scale


@pytest.mark.parametrize("family", ["random", "random_turn", "sharp", "whole", "terrain", "far"])
def test_points_are_where_they_are_said_to_be(backend, family):
    passages = FAMILIES[family](9, N)
    answer, trace = run(passages, backend=backend.kind)
    stopped = np.flatnonzero(answer.hit & (trace.fraction > 0))
    assert len(stopped) > 2
    passages = passages.take(stopped)
    passages.mover = passages.mover[0], trace.position[stopped], trace.quat_wxyz[stopped]
    meshes = [library_mesh(m) for m in passages.meshes]
    movers, world = (library_bodies(meshes, x) for x in (passages.mover, passages.still))
    pairs = np.column_stack((np.arange(len(stopped)),) * 2).astype(np.int32)
    size = max(float(np.abs(m.vertices).max()) for m in passages.meshes)
    how = {"pairs": pairs, "expel": trace.expel[stopped], "backend": backend.kind}
    touch = gc.pluecker.contacts(movers, world, 0.0, **how)  # what stands at the zone
    near = gc.pluecker.contacts(movers, world, 0.05 * size, **how)
    couples = [Couple(*(passages.placed(x, i) for x in ("mover", "still"))) for i in range(len(stopped))]
    for found, wide in ((touch, 0.0), (near, 0.05 * size)):
        for k, i in enumerate(found.mover):
            pair = meshes[passages.mover[0][i]], meshes[passages.still[0][i]]
            exact = exact_distance(couples[i], pair, found.kind[k], found.feature_a[k], found.feature_b[k])
            # a corner that stands within the lateral tolerance beside a face counts as over it
            assert abs(exact - found.distance[k]) <= 2 * trace.expel[stopped[i]]
            assert exact <= wide + 3 * trace.expel[stopped[i]]  # worst measured 2.1
            assert abs(np.linalg.norm(found.normal[k]) - 1) < 1e-12
    for i, row in enumerate(stopped):
        pair = meshes[passages.mover[0][i]], meshes[passages.still[0][i]]
        met = trace.kind[row], trace.feature_a[row], trace.feature_b[row]
        assert exact_distance(couples[i], pair, *met) < 3 * trace.expel[row]  # worst measured 2.1
        mine = touch.mover == i
        same = mine & (touch.kind == trace.kind[row]) & (touch.feature_a == trace.feature_a[row])
        assert (same & (touch.feature_b == trace.feature_b[row])).any(), (row, "is not among the points")
        nearest = float(distance2(couples[i], None)) ** 0.5
        assert near.distance[near.mover == i].min() <= nearest + 2 * trace.expel[row]
