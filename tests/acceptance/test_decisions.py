"""The decisions in docs/conventions.md, each with a named test, on every backend."""

import numpy as np
import pytest

import gpu_collide as gc
from tests import oracle
from tests.acceptance import matrix
from tests.acceptance.test_invariance import pair_of, run
from tests.oracle import scenes, shapes
from tests.oracle.solid import Solid, apply, cross, dot, rotation_matrix, unit

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = shapes.box()


def world_normal(scene, found, body, faces):
    """Outward normals in the world, at the time of contact, of `faces` of body 0 (A) or 1 (B) that do not
    turn."""
    i = scene.pairs[found.pair, body]
    normals = np.array([Solid(scene.meshes[scene.shape[k]]).normal[f] for k, f in zip(i, faces, strict=True)])
    assert np.array_equal(scene.start[1][i], scene.end[1][i])
    return apply(rotation_matrix(scene.start[1][i]), normals)


# --- kinds and normals


def test_fv_is_a_face_of_a_and_a_vertex_of_b_and_normals_point_from_a_to_b(backend):
    scene = matrix.make("translations", 120)
    found = run(scene, backend)
    fv, vf = found.kind == gc.Kind.FV, found.kind == gc.Kind.VF
    assert fv.sum() > 5 and vf.sum() > 5

    class Rows:
        def __init__(self, mask):
            self.pair = found.pair[mask]

    assert np.abs(world_normal(scene, Rows(fv), 0, found.feature_a[fv]) - found.normal[fv]).max() < 1e-12
    assert np.abs(world_normal(scene, Rows(vf), 1, found.feature_b[vf]) + found.normal[vf]).max() < 1e-12
    # the face of A is backward facing: it meets B
    assert (found.normal_speed[fv | vf] <= 1e-8).all()


def test_fv_vertex_is_exact_in_local_b_and_vf_vertex_in_local_a(backend):
    scene = matrix.make("random_cars", 120)
    found = run(scene, backend)
    fv, vf = found.kind == gc.Kind.FV, found.kind == gc.Kind.VF
    vertices = scene.meshes[0].vertices
    assert np.array_equal(found.local_b[fv], vertices[found.feature_b[fv]])
    assert np.abs(found.local_a[vf] - vertices[found.feature_a[vf]]).max() < 1e-14


def test_properness_of_vertex_and_face_uses_the_faces_own_outward_normal(backend):
    scene = matrix.make("translations", 120)
    found = run(scene, backend, min_properness=-1.0)
    checked, solids = 0, [Solid(mesh) for mesh in scene.meshes]
    for k in np.nonzero(found.kind != gc.Kind.EE)[0]:
        face_body = 0 if found.kind[k] == gc.Kind.FV else 1
        i, j = scene.pairs[found.pair[k]][[face_body, 1 - face_body]]
        face, vertex = (found.feature_a[k], found.feature_b[k])[:: 1 if face_body == 0 else -1]
        solid, other = solids[scene.shape[i]], solids[scene.shape[j]]
        n = rotation_matrix(scene.start[1][i]) @ solid.normal[face]
        spokes = other.vertex_spoke_dir[vertex][other.vertex_spoke[vertex] >= 0]
        value = (spokes @ rotation_matrix(scene.start[1][j]).T @ n).min()
        if not other.vertex_reflex[vertex]:
            assert abs(value - found.properness[k]) < 1e-12
            checked += 1
    assert checked > 50


def test_edge_edge_normal_with_tied_signs_is_the_approaching_one(backend):
    """An edge between two coplanar faces cannot distinguish above from below: n.omega < 0 decides."""
    plate = oracle.RawMesh(
        np.array([[-2, -2, 0], [0, -2, 0], [2, -2, 0], [2, 2, 0], [0, 2, 0], [-2, 2, 0]], float),
        [(0, 1, 4, 5), (1, 2, 3, 4)],
    )
    # an edge of the cube, turned by 45 degrees about x, comes down on the flat edge x = 0 with a slope
    quat = scenes.quat_mul(
        scenes.turn_quat(np.array([0, 1.0, 0]), np.array(0.4)),
        scenes.turn_quat(np.array([1.0, 0, 0]), np.array(np.pi / 4)),
    )
    scene = pair_of(plate, BOX, (0, 0, 0), (0, 0, 0), ((0.1, 0.2, 2), quat), ((0.1, 0.2, -1), quat))
    found = run(scene, backend, min_properness=-1.0)
    flat = Solid(plate)
    middle = [e for e, (i, j) in enumerate(flat.edges) if (i, j) == (1, 4)]
    mine = (found.kind == gc.Kind.EE) & np.isin(found.feature_a, middle)
    report = oracle.check(found, scene, min_properness=-1.0)
    assert report.ok, report
    tied = mine & (found.properness < 0)
    assert (found.normal_speed[tied] < 0).all()


# --- what is reported


def test_only_backward_faces_of_a_and_forward_faces_of_b_are_reported(backend):
    """A cube flies through another: contacts on the way in, none for its exit, even at threshold -1."""
    scene = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-3, 0.1, 0.2), (3, 0.15, 0.22))
    found = run(scene, backend, min_properness=-1.0)
    flow = np.array([6, 0.05, 0.02])
    a = Solid(BOX)
    fv, vf = found.kind == gc.Kind.FV, found.kind == gc.Kind.VF
    assert (a.normal[found.feature_a[fv]] @ flow <= 1e-9 * 6).all()
    assert (a.normal[found.feature_b[vf]] @ flow >= -1e-9 * 6).all()
    assert oracle.check(found, scene, min_properness=-1.0).ok


def test_threshold_keeps_exactly_what_is_proper_enough(backend):
    scene = matrix.make("random_cars", 100)
    every = run(scene, backend, min_properness=-1.0)
    for threshold in (-0.5, -0.1, 0.0, 0.3):
        some = run(scene, backend, min_properness=threshold)
        keep = every.properness >= threshold
        for k in ("pair", "kind", "feature_a", "feature_b", "time", "properness", "position"):
            assert np.array_equal(getattr(every, k)[keep], getattr(some, k)), (k, threshold)


def test_default_threshold_is_minus_a_tenth(backend):
    scene = matrix.make("random_cars", 60)
    assert not matrix.same_bits(run(scene, backend), run(scene, backend, min_properness=-0.1))


def test_times_are_closed_at_both_ends_of_the_step(backend):
    touch_at_end = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-3, 0.1, 0.2), (-1, 0.1, 0.2))
    touch_at_start = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-1, 0.1, 0.2), (0, 0.1, 0.2))
    short = pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-3, 0.1, 0.2), (-1 - 1e-6, 0.1, 0.2))
    assert run(touch_at_end, backend).toi[0] == 1.0
    assert run(touch_at_start, backend).toi[0] == 0.0
    assert run(short, backend).status[0] == gc.Status.MISS


def test_normal_speed_is_negative_approaching_zero_sliding(backend):
    found = run(pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (-3, 0.1, 0.2), (0, 0.1, 0.2)), backend)
    assert np.abs(found.normal_speed + 3).max() < 1e-12
    slide = run(pair_of(shapes.box((8, 8, 1)), BOX, (0, 0, 0), (0, 0, 0), (0, 0, 1), (1, 0, 1)), backend)
    assert np.abs(slide.normal_speed).max() < 1e-12 and len(slide) >= 4


# --- coincidences, edges, two-sided


def test_coincidences_are_reported_at_least_once_and_a_vertex_on_a_border_once(backend):
    scene = matrix.make("lattice", 150)
    found = run(scene, backend)
    report = oracle.check(found, scene)
    assert report.ok and report.groups > 50, report
    single = ~found.sustained
    for kind, vertex in ((gc.Kind.FV, found.feature_b), (gc.Kind.VF, found.feature_a)):
        rows = np.nonzero(single & (found.kind == kind))[0]
        keys = [(found.pair[k], vertex[k], round(found.time[k], 8)) for k in rows]
        assert len(keys) == len(set(keys))


def test_vertex_on_vertex_is_one_contact(backend):
    """Corner on corner, edges crossed: one meeting, one contact, of the greatest properness."""
    down = scenes.quat_mul(
        scenes.turn_quat(np.array([0, 1.0, 0]), np.array(np.arctan(np.sqrt(0.5)))),
        scenes.turn_quat(np.array([1.0, 0, 0]), np.array(np.pi / 4)),
    )
    corners = apply(rotation_matrix(down), BOX.vertices)
    low = corners[corners[:, 2].argmin()]
    target = np.array([0.5, 0.5, 0.5])
    start, end = target - low + [0, 0, 2], target - low - [0, 0, 1]
    found = run(pair_of(BOX, BOX, (0, 0, 0), (0, 0, 0), (start, down), (end, down)), backend)
    first = np.abs(found.time - 2 / 3) < 1e-8
    assert first.sum() == 1 and found.kind[first][0] != gc.Kind.EE
    assert abs(found.toi[0] - 2 / 3) < 1e-12


def test_border_edges_leave_their_missing_terms_out(backend):
    """An edge of one face: an open sheet's border meets a cube's edge, with the terms that there are."""
    scene = matrix.make("open_meshes", 150)
    found = run(scene, backend, min_properness=-1.0)
    assert oracle.check(found, scene, min_properness=-1.0).ok
    solids = [Solid(m) for m in scene.meshes]
    border = [np.count_nonzero(s.edge_side, axis=1) == 1 for s in solids]
    shape_a = scene.shape[scene.pairs[found.pair, 0]]
    edges = found.kind == gc.Kind.EE
    at_border = np.array([border[s][f] for s, f in zip(shape_a[edges], found.feature_a[edges], strict=True)])
    assert at_border.sum() > 5


def test_edges_with_more_than_two_faces_take_the_least_over_their_faces(backend):
    """Three sheets on one edge, like an open book with a page standing; a cube comes down across the back."""
    book = oracle.RawMesh(
        np.array(
            [
                [0, -1, 0],
                [0, 1, 0],
                [1, -1, -0.5],
                [1, 1, -0.5],
                [-1, -1, -0.5],
                [-1, 1, -0.5],
                [0.2, -1, -1],
                [0.2, 1, -1],
            ],
            float,
        ),
        [(0, 2, 3, 1), (0, 1, 5, 4), (0, 6, 7, 1)],
    )
    tilt = scenes.turn_quat(np.array([1.0, 0, 0]), np.array(np.pi / 4))
    for two_sided in (False, True):
        book.two_sided = two_sided
        scene = pair_of(book, BOX, (0, 0, 0), (0, 0, 0), ((0.1, 0.2, 2), tilt), ((0.15, 0.2, -1), tilt))
        found = run(scene, backend, min_properness=-1.0)
        back = [e for e, (i, j) in enumerate(Solid(book).edges) if (i, j) == (0, 1)][0]
        assert ((found.kind == gc.Kind.EE) & (found.feature_a == back)).any()
        report = oracle.check(found, scene, min_properness=-1.0)
        assert report.ok, (two_sided, str(report))


def test_two_sided_meshes_are_not_culled_and_their_normal_is_against_the_approach(backend):
    sheet = shapes.sheet()
    for z, approach in ((2.0, -1), (-2.0, 1)):
        args = (BOX, (0, 0, 0), (0, 0, 0), (0.1, 0.05, z), (0.1, 0.05, -z))
        one = run(pair_of(sheet, *args), backend)
        both = run(pair_of(shapes.sheet(two_sided=True), *args), backend)
        assert (one.status[0] == gc.Status.HIT) == (z > 0)  # from behind only a two-sided sheet is there
        assert both.status[0] == gc.Status.HIT
        assert (both.normal_speed <= 1e-9).all()
        assert (both.normal[:, 2] * approach < 0).all()


def test_no_relative_motion_reports_what_touches_at_zero_as_lasting(backend):
    found = run(pair_of(BOX, BOX, (0, 0, 0), (5, 6, 7), (1, 0.1, 0.2), (6, 6.1, 7.2)), backend)
    assert len(found) and found.sustained.all() and (found.time == 0).all() and (found.time_end == 1).all()
    assert (
        run(pair_of(BOX, BOX, (0, 0, 0), (5, 6, 7), (1.1, 0, 0), (6.1, 6, 7)), backend).status[0]
        == gc.Status.MISS
    )


def test_world_positions_follow_as_own_screw(backend):
    """A flies an arc; positions are local_a carried by A's own screw, found here from the matrix
    logarithm's flow."""
    scene = matrix.make("random_cars", 80)
    found = run(scene, backend)
    i = scene.pairs[found.pair, 0]
    for k in range(0, len(found), 7):
        p0, q0, p1, q1 = scene.start[0][i[k]], scene.start[1][i[k]], scene.end[0][i[k]], scene.end[1][i[k]]
        t = found.time[k]
        dq = scenes.quat_mul(q1[None], q0[None] * [1, -1, -1, -1])[0]
        dq = dq * (1 if dq[0] >= 0 else -1)
        angle = 2 * np.arctan2(np.sqrt(dq[1:] @ dq[1:]), dq[0])
        axis = unit(dq[None, 1:])[0]
        # A point of the axis, for the motion x -> R x + (p1 - R p0) in the world
        tau = (p1 - p0) - (axis @ (p1 - p0)) * axis
        point = p0 + tau / 2 + cross(axis[None], tau[None])[0] / (2 * np.tan(angle / 2))
        turn = rotation_matrix(scenes.turn_quat(axis, np.array(angle * t)))
        body = rotation_matrix(q0) @ found.local_a[k] + p0
        world = point + turn @ (body - point) + t * (axis @ (p1 - p0)) * axis
        assert np.abs(world - found.position[k]).max() < 1e-11


def test_a_half_turn_takes_the_axis_whose_first_component_is_positive(backend):
    """B turns by exactly 180 degrees about -z: as about +z, so it sweeps the side of positive rotation."""
    half = np.array([0.0, 0, 0, -1.0])
    for quat in (half, -half):
        # B starts on +x outside a bar on +y; turning about +z it meets the bar, about -z it would not
        scene = pair_of(shapes.box((0.5, 2, 1)), BOX, (0, 3, 0), (0, 3, 0), (3, 0, 0), ((-3, 0, 0), quat))
        found = run(scene, backend)
        assert found.status[0] == gc.Status.HIT
        scene = pair_of(shapes.box((0.5, 2, 1)), BOX, (0, -3, 0), (0, -3, 0), (3, 0, 0), ((-3, 0, 0), quat))
        assert run(scene, backend).status[0] == gc.Status.MISS


def test_normals_are_unit_and_in_the_world_frame_at_the_contact(backend):
    scene = matrix.make("random_nonconvex", 100)
    found = run(scene, backend)
    assert np.abs(dot(found.normal, found.normal) - 1).max() < 1e-14
    report = oracle.check(found, scene)
    assert report.ok and report.worst["normal"] < 1, report
