"""s05_vertex_face: vertices inside faces on the screen, as candidates and as answers."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import matrix
from tests.narrow_phase._launch import (
    FV,
    PAIRS,
    RASTER,
    VF,
    C,
    Stages,
    screened,
    stages_of,
    time_errors,
    uncovered,
)
from tests.narrow_phase.test_s01_screw import ONE
from tests.oracle.judge import REQUIRED

FAMILIES = {
    "random_boxes": 60,
    "random_nonconvex": 50,
    "axis_through_a": 40,
    "axis_through_both": 30,
    "to_180": 40,
    "half_turn": 40,
    "tiny_angles": 40,
    "passing": 40,
    "lattice": 40,
    "planar_driving": 30,
    "resting": 30,
    "two_sided": 40,
    "open_meshes": 40,
    "far_away": 30,
    "tangent": 30,
}
SEGMENTS, PIXELS = int(C["GC_REFINE_SEGMENTS"]), int(C["GC_REFINE_PIXELS"])


def corner_on_a_face(backend):
    """B, turned to stand on a corner, comes down on A's face: (stages, A's face, B's vertex, time)."""
    mesh = gc.shapes.box()
    # the corner (-1, -1, -1)/2 of B straight below its centre
    axis = np.cross([-1.0, -1, -1], [0.0, 0, -1])
    axis /= np.linalg.norm(axis)
    angle = np.arccos(1 / np.sqrt(3))
    turn = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.1, 0.2, 3]]), np.array([ONE, turn]))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.1, 0.2, 1]]), np.array([ONE, turn]))
    stages = Stages(backend, gc.Bodies(mesh, None, start, end), [[0, 1]])
    vertex = int(np.argmin(mesh.vertices.sum(axis=1)))
    return stages, int(np.argmax(mesh.face_planes[:, 2])), vertex, (2.5 - np.sqrt(0.75)) / 2


# ---- known answers


@pytest.mark.parametrize("kind", [PAIRS, RASTER])
def test_a_corner_above_a_face_is_proposed(kind, backend):
    stages, face, vertex, time = corner_on_a_face(backend)
    found = stages.screen(kind)
    rows = found.rows.tolist()
    assert [0, FV, face, vertex] in rows
    s0, s1 = found.brackets[rows.index([0, FV, face, vertex])]
    # the box of one point and one flat face holds the time alone, but for the pads
    assert abs(s0 + 0.5 - time) < 1e-4 and abs(s1 + 0.5 - time) < 1e-4


@pytest.mark.parametrize("refine", [SEGMENTS, PIXELS])
def test_a_corner_above_a_face_is_answered(refine, backend):
    """On a plane face, met straight on, linear interpolation is exact but for float32. Worst error seen
    2e-7."""
    stages, face, vertex, time = corner_on_a_face(backend)
    found = stages.screen(RASTER, 12.0, refine=refine)
    hits = stages.s07(found, refine)
    mine = (hits.hit[:, 1:] == [FV, face, vertex]).all(axis=1)
    assert mine.sum() == 1
    assert abs(hits.value[mine][0, 0] + 0.5 - time) < (2e-6 if refine == SEGMENTS else 1e-12)


# ---- invariants


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("kind", [PAIRS, RASTER])
@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_hold_every_contact(family, kind, precision, backend):
    """No vertex-face contact of the brute force is without a candidate whose bracket holds its time."""
    n = FAMILIES[family]
    missing, _ = uncovered(screened(backend, family, n, precision, kind), family, n, (FV, VF))
    assert not missing


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_propose_what_boxes_propose_or_less(family, backend):
    n = FAMILIES[family]
    boxes, rows = screened(backend, family, n).set(), screened(backend, family, n, candidates=RASTER).set()
    if backend.group_size > 1:
        pytest.skip("many work-items look at boxes in another way, with bounds of their own")
    assert {r for r in rows if r[1] != C["GC_EE"]} <= {r for r in boxes if r[1] != C["GC_EE"]}


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_name_features_and_times_that_exist(family, backend):
    n = FAMILIES[family]
    stages = stages_of(backend, family, n)
    meshes, shape = stages.bodies.meshes, stages.bodies.shape
    for kind in (PAIRS, RASTER):
        found = screened(backend, family, n, candidates=kind)
        assert (found.brackets >= -0.5).all() and (found.brackets <= 0.5).all()
        assert (found.brackets[:, 0] <= found.brackets[:, 1]).all()
        assert np.isin(found.rows[:, 1], (FV, VF, C["GC_EE"])).all()
        for row in found.rows[:: max(1, len(found.rows) // 300)]:
            a, b = (meshes[shape[k]] for k in stages.pairs[row[0]])
            sizes = [(len(m.vertices), len(m.face_planes), len(m.edges)) for m in (a, b)]
            first, second = {FV: (1, 0), VF: (0, 1)}.get(int(row[1]), (2, 2))
            assert 0 <= row[2] < sizes[0][first] and 0 <= row[3] < sizes[1][second]


def test_few_candidates(backend):
    """Culling is worth its name: of all feature pairs of random cars, below one in a hundred remains."""
    stages = stages_of(backend, "random_cars", 50)
    everything = len(stages.everything()[0])
    boxes, rows = (
        screened(backend, "random_cars", 50),
        screened(backend, "random_cars", 50, candidates=RASTER),
    )
    assert rows.count < boxes.count < everything / 100


# ---- parity


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("family", ["random_boxes", "random_nonconvex"])
def test_screen_answers_are_near_the_exact_ones(family, backend):
    """With 24 rows a short edge, nearly all sure contacts are found by the screen. Seen: all of
    them, 23 and 32, and their times to 7e-16."""
    n = 2 * FAMILIES[family]
    atoms = matrix.expected_of_part(family, n).atoms
    atoms = atoms[(atoms["state"] == REQUIRED) & (atoms["kind"] != C["GC_EE"]) & ~atoms["sustained"]]
    stages = stages_of(backend, family, n)
    for refine in (SEGMENTS, PIXELS):
        hits = stages.s07(stages.screen(RASTER, 24.0, refine=refine), refine)
        errors = time_errors(hits, atoms)
        assert len(atoms) > 10 and len(errors) > 0.85 * len(atoms)
        assert np.median(errors) < (5e-3 if refine == SEGMENTS else 1e-9)
