"""s06_edge_edge: edges that cross on the screen, as candidates and as answers."""

from collections import Counter

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import matrix
from tests.narrow_phase._launch import (
    EE,
    PAIRS,
    RASTER,
    C,
    Stages,
    screened,
    stages_of,
    time_errors,
    uncovered,
)
from tests.narrow_phase.test_s01_screw import ONE, about
from tests.narrow_phase.test_s05_vertex_face import FAMILIES, PIXELS, SEGMENTS
from tests.oracle.judge import REQUIRED


def ridge_on_ridge(backend, precision="mixed"):
    """Two boxes, each turned by an eighth about its own horizontal axis, meet ridge on ridge: (stages, edge
    of A, edge of B, time)."""
    mesh = gc.shapes.box()
    qa, qb = about([1, 0, 0], np.pi / 4), about([0, 1, 0], np.pi / 4)
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.1, 0.2, 3]]), np.array([qa, qb]))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.1, 0.2, 1]]), np.array([qa, qb]))
    stages = Stages(backend, gc.Bodies(mesh, None, start, end), [[0, 1]], precision)
    middle = mesh.vertices[mesh.edges].mean(axis=1)
    # A's top ridge is its edge between +y and +z, B's bottom ridge the one between -z and -x or +x
    edge_a = int(np.argmax(middle @ [0, 1, 1]))
    # turned about y by +45 degrees: x' = (x + z)/sqrt 2, z' = (z - x)/sqrt 2
    edge_b = int(np.argmin(middle @ [-1, 0, 1]))
    return stages, edge_a, edge_b, (3 - 2 * np.sqrt(0.5)) / 2


# ---- known answers


@pytest.mark.parametrize("kind", [PAIRS, RASTER])
def test_ridges_are_proposed(kind, backend):
    stages, edge_a, edge_b, time = ridge_on_ridge(backend)
    found = stages.screen(kind)
    rows = found.rows.tolist()
    assert [0, EE, edge_a, edge_b] in rows
    s0, s1 = found.brackets[rows.index([0, EE, edge_a, edge_b])]
    assert s0 + 0.5 <= time <= s1 + 0.5 and s1 - s0 < 1e-4


def test_ridges_are_answered_by_segments(backend):
    stages, edge_a, edge_b, time = ridge_on_ridge(backend)
    hits = stages.s07(stages.screen(RASTER, 12.0, refine=SEGMENTS), SEGMENTS)
    mine = (hits.hit[:, 1:] == [EE, edge_a, edge_b]).all(axis=1)
    assert mine.any() and np.abs(hits.value[mine, 0] + 0.5 - time).max() < 2e-6


def test_parallel_edges_are_no_candidates_that_hit(backend):
    """Boxes side by side meet with edges along edges: no edge-edge hit comes of parallel ones."""
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [-3, 0.25, 0.25]]), np.array([ONE, ONE]))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0, 0.25, 0.25]]), np.array([ONE, ONE]))
    mesh = gc.shapes.box()
    stages = Stages(backend, gc.Bodies(mesh, None, start, end), [[0, 1]])
    hits = stages.s07(stages.everything())
    along = mesh.vertices[mesh.edges[:, 1]] - mesh.vertices[mesh.edges[:, 0]]
    edges = hits.hit[(hits.hit[:, 1] & 3) == EE]
    assert len(edges) > 0
    assert (np.linalg.norm(np.cross(along[edges[:, 2]], along[edges[:, 3]]), axis=1) > 0.5).all()


# ---- invariants


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("kind", [PAIRS, RASTER])
@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_hold_every_contact(family, kind, precision, backend):
    n = FAMILIES[family]
    missing, _ = uncovered(screened(backend, family, n, precision, kind), family, n, (EE,))
    assert not missing


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_propose_what_boxes_propose_or_less(family, backend):
    n = FAMILIES[family]
    boxes, rows = screened(backend, family, n).set(), screened(backend, family, n, candidates=RASTER).set()
    assert {r for r in rows if r[1] == EE} <= {r for r in boxes if r[1] == EE}


@pytest.mark.parametrize("resolution", [2.0, 12.0])
def test_edges_that_share_many_rows_are_proposed_once(resolution, backend):
    """Once for each pair of branches: an edge has at most two, so at most four times, on whatever many rows.
    Where copies of A come in, once for each."""
    for family, most in (("random_cars", 4), ("translations", 1)):
        found = screened(backend, family, 70, candidates=RASTER, resolution=resolution)
        edges = found.rows[found.rows[:, 1] == EE]
        count = Counter(map(tuple, edges.tolist()))
        assert len(count) > 50 and max(count.values()) <= most


# ---- parity


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("refine", [SEGMENTS, PIXELS])
def test_screen_answers_are_near_the_exact_ones(refine, backend):
    """With 24 rows a short edge, of 50 scenes of boxes: most sure crossings are found, their times within
    rows."""
    n = FAMILIES["random_boxes"]
    atoms = matrix.expected_of_part("random_boxes", n).atoms
    atoms = atoms[(atoms["state"] == REQUIRED) & (atoms["kind"] == EE) & ~atoms["sustained"]]
    stages = stages_of(backend, "random_boxes", n)
    hits = stages.s07(stages.screen(RASTER, 24.0, refine=refine), refine)
    errors = time_errors(hits, atoms)
    assert len(atoms) > 10 and len(errors) > 0.8 * len(atoms)
    assert np.median(errors) < (2e-3 if refine == SEGMENTS else 2e-2)


def test_capacity_and_kinds_agree_with_the_constants(backend):
    assert (C["GC_FV"], C["GC_VF"], C["GC_EE"]) == (gc.Kind.FV, gc.Kind.VF, gc.Kind.EE)
