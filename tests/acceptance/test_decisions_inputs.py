"""Decisions on inputs (docs/conventions.md): pairs and their status, poses, meshes, resolution."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import matrix
from tests.acceptance.test_invariance import ONE, pair_of, run
from tests.oracle import shapes
from tests.oracle.solid import Solid

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = shapes.box()


# --- pairs and status


def test_pairs_index_bodies_duplicates_allowed_and_a_body_with_itself_raises(backend):
    scene = matrix.make("random_cars", 6)
    bodies = scene.bodies()
    twice = gc.collide(bodies, np.concatenate((scene.pairs, scene.pairs)), backend=backend.kind).to_numpy()
    assert np.array_equal(twice.toi[:6], twice.toi[6:])
    for bad in ([[0, 0]], [[0, 99]], [[-1, 0]]):
        with pytest.raises((ValueError, IndexError), match="pairs"):
            gc.collide(bodies, bad, backend=backend.kind)
    with pytest.raises((TypeError, ValueError), match="pairs"):
        gc.collide(bodies, [[0.5, 1.5]], backend=backend.kind)


def test_first_returns_all_contacts_at_exactly_the_toi(backend):
    for family in ("random_cars", "lattice", "planar_driving"):
        scene = matrix.make(family, 100)
        every, first = run(scene, backend), run(scene, backend, contacts="first")
        keep = every.time == every.toi[every.pair]
        for k in ("pair", "kind", "feature_a", "feature_b", "time", "normal"):
            assert np.array_equal(getattr(every, k)[keep], getattr(first, k)), k
        assert np.array_equal(every.toi, first.toi) and np.array_equal(every.status, first.status)


def test_only_improper_contacts_are_a_miss(backend):
    scene = matrix.make("random_cars", 150)
    alone = {"check_start": False}  # by their contacts; many of these overlap at the start
    every, some = run(scene, backend, min_properness=-1.0, **alone), run(scene, backend, **alone)
    gone = (every.status == gc.Status.HIT) & (some.status == gc.Status.MISS)
    assert gone.any() and (some.toi[gone] == np.inf).all()
    assert np.array_equal(some.status == gc.Status.HIT, np.diff(some.contact_start) > 0)


def invalid(change):
    """Three copies of a hit; the middle one gets a bad pose of B's end."""
    start_p = np.array([[0, 0, 0], [-3, 0.1, 0.2]] * 3, float)
    end_p = np.array([[0, 0, 0], [0, 0.1, 0.2]] * 3, float)
    quat = np.tile(ONE, (6, 1))
    end_q = quat.copy()
    change(end_p, end_q)
    mesh = gc.shapes.box()
    bodies = gc.Bodies(
        mesh, None, gc.Poses.from_quat_wxyz(start_p, quat), gc.Poses.from_quat_wxyz(end_p, end_q)
    )
    return bodies, np.arange(6).reshape(3, 2)


@pytest.mark.parametrize(
    "what", ["nan position", "inf position", "nan quaternion", "zero quaternion", "long quaternion"]
)
def test_a_bad_pose_is_the_status_of_its_pair_only(what, backend):
    def change(p, q):
        if "position" in what:
            p[3, 1] = np.nan if "nan" in what else np.inf
        else:
            q[3] = {"nan": np.nan, "zero": 0.0}.get(what.split()[0], q[3] * 1.002)

    bodies, pairs = invalid(change)
    found = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    assert found.status.tolist() == [gc.Status.HIT, gc.Status.INVALID_INPUT, gc.Status.HIT]
    assert found.toi[1] == np.inf and not (found.pair == 1).any()
    assert np.isfinite(found.position).all() and np.isfinite(found.time).all()
    assert abs(found.toi[0] - 2 / 3) < 1e-12


def test_a_quaternion_nearly_of_unit_length_is_normalised(backend):
    bodies, pairs = invalid(lambda p, q: q.__setitem__(3, q[3] * 1.0009))
    found = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    assert (found.status == gc.Status.HIT).all() and np.abs(found.toi - 2 / 3).max() < 1e-12


def test_a_matrix_must_be_rigid_within_a_millionth(backend):
    def poses(matrices):
        return gc.Poses.from_matrix(np.array(matrices, float))

    shear = np.eye(4)
    shear[0, 1] = 1e-5
    nearly = np.eye(4)
    nearly[0, 1] = 1e-7
    mirror = np.diag([1.0, 1, -1, 1])
    away = np.eye(4)
    away[0, 3] = -3
    for bad, status in (
        (shear, gc.Status.INVALID_INPUT),
        (mirror, gc.Status.INVALID_INPUT),
        (nearly, gc.Status.HIT),
    ):
        bodies = gc.Bodies(gc.shapes.box(), None, poses([np.eye(4), away]), poses([np.eye(4), bad]))
        found = gc.collide(bodies, [[0, 1]], backend=backend.kind).to_numpy()
        assert found.status[0] == status


def test_bad_vertices_raise_when_the_mesh_is_made():
    with pytest.raises(ValueError, match="vertices"):
        gc.Mesh([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]])


def test_initial_overlap_outranks_hit_keeps_contacts_and_touching_is_not_overlap(backend):
    # a cube that starts inside one arm of an L and moves on until it meets the other
    ell = shapes.l_block()
    arm, notch = (-0.4, 1.5, 0.1), (0.7, 0.4, 0.12)
    inside = pair_of(ell, BOX, (0, 0, 0), (0, 0, 0), arm, notch)
    found = run(inside, backend, min_properness=-1.0)  # check_start is on by default
    assert found.status[0] == gc.Status.INITIAL_OVERLAP
    plain = run(inside, backend, check_start=False, min_properness=-1.0)
    assert plain.status[0] in (gc.Status.HIT, gc.Status.MISS)
    assert found.time.tobytes() == plain.time.tobytes() and len(plain)
    touching = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (1, 0.1, 0.2), (-1, 0.1, 0.2))
    assert run(touching, backend, check_start=True).status[0] == gc.Status.HIT
    within = pair_of(shapes.box((4, 4, 4)), BOX, (0, 0, 0), (0, 0, 0), (0, 0.1, 0.2), (0.5, 0.1, 0.2))
    assert run(within, backend, check_start=True).status[0] == gc.Status.INITIAL_OVERLAP
    apart = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-3, 0.1, 0.2), (-2, 0.1, 0.2))
    assert run(apart, backend, check_start=True).status[0] == gc.Status.MISS
    deep = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (1 - 1e-5, 0.1, 0.2), (2, 0.1, 0.2))
    shallow = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (1 - 1e-9, 0.1, 0.2), (2, 0.1, 0.2))
    assert run(deep, backend, check_start=True).status[0] == gc.Status.INITIAL_OVERLAP
    assert run(shallow, backend, check_start=True).status[0] != gc.Status.INITIAL_OVERLAP


# --- meshes, resolution, tolerances


def test_feature_numbers_are_the_meshs_own_and_lead_back_to_the_input(backend):
    """A repeated corner and a face of no area are dropped; source_face and source_vertex name the caller's
    rows."""
    v = np.concatenate((BOX.vertices, [[9.0, 9, 9]]))
    faces = [BOX.face_vertices[4 * k : 4 * k + 4].tolist() for k in range(6)]
    faces = [[0, 0, 1], *faces]
    mesh = gc.Mesh(v, faces)
    assert str(mesh.report)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], np.tile(ONE, (2, 1)))
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0.1, 0.2]], np.tile(ONE, (2, 1)))
    found = gc.collide(gc.Bodies(mesh, None, start, end), [[0, 1]], backend=backend.kind).to_numpy()
    fv = found.kind == gc.Kind.FV
    assert fv.any()
    for f, vertex in zip(found.feature_a[fv], found.feature_b[fv], strict=True):
        source = [int(mesh.source_vertex[k]) for k in mesh.face(f)]
        assert sorted(source) == sorted(faces[mesh.source_face[f]])
        assert np.array_equal(mesh.vertices[vertex], v[mesh.source_vertex[vertex]])


def test_a_face_off_its_plane_raises_and_says_triangulate():
    v = BOX.vertices.copy()
    v[0, 0] += 1e-4
    faces = [BOX.face_vertices[4 * k : 4 * k + 4].tolist() for k in range(6)]
    with pytest.raises(ValueError, match="triangulate=True"):
        gc.Mesh(v, faces)
    assert gc.Mesh(v, faces, triangulate=True).closed
    v[0, 0] -= 1e-4 - 1e-8
    gc.Mesh(v, faces)


def test_default_resolution_is_two_rows_in_exact_mode_and_twelve_in_the_others(backend):
    scene = matrix.make("random_cars", 40)
    assert run(scene, backend).info["resolution"] == 2
    for refine in ("segments", "pixels"):
        one, two = run(scene, backend, refine=refine), run(scene, backend, refine=refine, resolution=12)
        assert not matrix.same_bits(one, two)


def test_resolution_counts_rows_on_the_tenth_percentile_of_both_bodies_edges(backend):
    """pixel_size given as that length over the resolution is the same screen."""
    scene = matrix.make("random_cars", 40)
    solid = Solid(scene.meshes[0])
    short = np.percentile(np.concatenate([2 * solid.edge_half] * 2), 10)
    one = run(scene, backend, refine="segments", resolution=8)
    two = run(scene, backend, refine="segments", pixel_size=short / 8)
    assert len(one) == len(two) and np.abs(one.time - two.time).max() < 1e-3


def test_tolerances_are_told_with_the_result(backend):
    found = run(matrix.make("random_cars", 2), backend)
    assert found.info["tolerances"]
    values = [v for v in found.info["tolerances"].values() if isinstance(v, float)]
    for documented in (1e-11, 1e-9, 1e-10):
        assert any(abs(v - documented) <= 1e-6 * documented for v in values), documented


@pytest.mark.parametrize("precision, far", [("mixed", 1e155), ("double", 1e20), ("single", 1e155)])
def test_a_motion_beyond_all_digits_is_unresolved_and_not_a_miss(precision, far, backend):
    still = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0, 0]], [[1, 0, 0, 0]] * 2)
    gone = gc.Poses.from_quat_wxyz([[0, 0, 0], [far, 0, 0]], [[1, 0, 0, 0]] * 2)
    found = gc.collide(
        gc.Bodies(gc.shapes.box(), None, still, gone), [[0, 1]], backend=backend.kind, precision=precision
    ).to_numpy()
    assert found.status[0] == gc.Status.UNRESOLVED
    assert np.isfinite(found.position).all()


def test_segments_report_a_crossing_on_the_border_of_two_rows_once(backend):
    """It is found in both rows; with float32 rounding at fine rows that gave 31 pairs of twins in 294."""
    from gpu_collide.scenes import random_impacts

    car = gc.shapes.car()
    bodies, pairs = random_impacts(car, car, 400, seed=2)
    exact = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    found = gc.collide(bodies, pairs, refine="segments", resolution=300, backend=backend.kind).to_numpy()
    rows = np.stack([found.pair, found.kind, found.feature_a, found.feature_b], axis=1)
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert abs(len(found) - len(exact)) <= 2
