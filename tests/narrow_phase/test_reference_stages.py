"""Reference, stage by stage: screw frame, facing clip, records, order, roots. Known answers and
invariants."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.narrow_phase import _quaternion as quat
from gpu_collide.reference.narrow_phase import _roots, _screen, s02_facing, s03_project, s04_sort, s07_solve
from gpu_collide.reference.narrow_phase._properness import vertex_properness
from gpu_collide.reference.narrow_phase._tables import padded, tables_of
from gpu_collide.reference.narrow_phase.s01_screw import screw_of_pair

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def random_pair(rng, mesh_a, mesh_b, angle, travel=1.0):
    """Screw and both sides for random poses; B passes near A."""
    reach = mesh_a.radius + mesh_b.radius
    axis = rng.normal(size=3)
    dq = quat.from_axis_angle(axis / np.linalg.norm(axis), np.array(angle))
    q0 = quat.normalised(rng.normal(size=4))
    way = rng.normal(size=3) * reach * travel
    p0 = rng.normal(size=3) * reach * 0.25 - way * rng.random()
    rest = (np.zeros(3), IDENTITY)
    b0, b1 = (p0, q0), (p0 + way, quat.multiply(dq, q0))
    screw = screw_of_pair(mesh_a, mesh_b, rest, rest, b0, b1)
    a, b = (s02_facing.side_of(screw, tables_of(m), name) for m, name in ((mesh_a, "a"), (mesh_b, "b")))
    return screw, a, b, b0, b1


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.3, 2.0, np.pi])
def test_flow_goes_through_both_poses(angle):
    # Worst error seen: 1e-14 of a reach of 5.
    rng = np.random.default_rng(1)
    car = gc.shapes.car()
    for _ in range(10):
        screw, a, b, (p0, q0), (p1, q1) = random_pair(rng, car, car, angle)
        for s, p, q in ((-0.5, p0, q0), (0.5, p1, q1)):
            assert (
                np.abs(screw.to_a(screw.flow(b.points, s)) - quat.rotate(q, car.vertices) - p).max() < 1e-13
            )
        assert np.abs(screw.to_b(b.points) - car.vertices).max() < 1e-13
        assert np.abs(screw.to_a(a.points) - car.vertices).max() < 1e-13
        # omega is the velocity of the flow, and n . omega does not change along it.
        h = 1e-6
        velocity = (screw.flow(b.points, h) - screw.flow(b.points, -h)) / (2 * h)
        assert np.abs(velocity - screw.omega(b.points)).max() < 1e-7
        n = b.normals[0]
        before = screw.omega(b.points) @ n
        after = np.sum(screw.omega(screw.flow(b.points, 0.4)) * screw.turn(n, 0.4), axis=-1)
        assert np.abs(before - after).max() < 1e-13 * screw.speed + 1e-13


def test_cylinder_coordinates_move_alike():
    """rho stays and (psi, y) moves by (W, g) for points at every radius."""
    rng = np.random.default_rng(2)
    for angle in (0.0, 1e-9, 1e-4, 0.5, 3.0):
        screw, a, b, _, _ = random_pair(rng, gc.shapes.box(), gc.shapes.box(), angle)
        rho, psi = screw.cylinder(b.points)
        moved = screw.flow(b.points, 0.3)
        rho_after, psi_after = screw.cylinder(moved)
        change = psi_after - psi - 0.3 * screw.W
        if np.isfinite(screw.period):
            change -= screw.period * np.round(change / screw.period)
        assert np.abs(rho_after - rho).max() < 1e-13 and np.abs(change).max() < 1e-12
        assert np.abs(moved[:, 1] - b.points[:, 1] - 0.3 * screw.g).max() < 1e-14


def test_padded_rows():
    assert padded([0, 2, 2, 3], [7, 8, 9]).tolist() == [[7, 8], [-1, -1], [9, -1]]
    assert padded([0, 0], []).tolist() == [[-1]]


def test_facing_clip_of_a_spinning_square():
    """Figure 4 of the paper: a box that turns about its own axis shows half of each of its four sides."""
    box = gc.shapes.box()
    turned = quat.from_axis_angle(np.array([0.0, 0, 1]), np.array(0.5))
    rest = (np.zeros(3), IDENTITY)
    screw = screw_of_pair(box, box, rest, rest, rest, (np.zeros(3), turned))
    for name in "ab":
        side = s02_facing.side_of(screw, tables_of(box), name)
        boundary = s02_facing.face_boundaries(screw, side)
        virtual = boundary.edge < 0
        assert virtual.sum() == 4
        # The silhouette goes through the middle of the side, along the axis.
        middle = 0.5 * (boundary.p0 + boundary.p1)[virtual]
        assert np.abs(np.hypot(middle[:, 0], middle[:, 2] + 1 / screw.kappa) - 0.5).max() < 1e-6
        length = np.linalg.norm((boundary.p1 - boundary.p0), axis=1)
        assert np.abs(length[virtual] - 1).max() < 1e-12
        top_and_bottom = np.isin(boundary.owner, np.nonzero(np.abs(box.face_planes[:, 2]) > 0.5)[0])
        assert np.abs(length[top_and_bottom] - 1).max() < 1e-12


@pytest.mark.parametrize("angle", [0.0, 1e-5, 0.6, 3.0])
def test_records_cover_their_edges(angle):
    """Every point of a facing edge lies in a record of its row, within its ranges of h and t."""
    rng = np.random.default_rng(3)
    star = gc.shapes.star()
    for _ in range(4):
        screw, a, b, _, _ = random_pair(rng, star, star, angle, 0.3)
        for side in (a, b):
            body = _screen.Body(screw, side)
            rows = s03_project.rows_of(screw, 0.11, body.boxes, body.boxes, 1e-7)
            far = s02_facing.far_ends(screw, body.parts.p0, body.parts.p1)
            records = s03_project.project(screw, rows, body.parts, far, 1e-7)
            assert records.row.min() >= 0 and records.row.max() < rows.count
            assert np.all(records.h_min <= records.h_max) and np.all(records.t_min <= records.t_max)
            for u in rng.random(30):
                x = body.parts.p0 + u * (body.parts.p1 - body.parts.p0)
                rho, _ = screw.cylinder(x)
                row = rows.of(rho)
                h, t = s03_project.screen(screw, rows, row, s02_facing.azimuth_from(screw, far, x), x[:, 1])
                for i in range(len(x)):
                    fits = (records.owner == body.parts.owner[i]) & (records.row == row[i])
                    fits &= (records.h_min <= h[i]) & (h[i] <= records.h_max)
                    assert np.any(fits & (records.t_min <= t[i]) & (t[i] <= records.t_max))


def test_overlaps_are_those_of_all_pairs():
    rng = np.random.default_rng(4)

    def records(n):
        low, early = rng.random(n), rng.random(n)
        return s03_project.Spans(
            np.arange(n), rng.integers(0, 5, n), low, low + 0.2 * rng.random(n), early, early + 0.1
        )

    a, start_a = s04_sort.by_row(records(80), 6)
    b, start_b = s04_sort.by_row(records(60), 6)
    assert start_a[0] == 0 and start_a[-1] == 80 and np.all(np.diff(a.row) >= 0)
    assert all(np.all(np.diff(a.h_min[start_a[k] : start_a[k + 1]]) >= 0) for k in range(6))
    dh, dt = rng.normal(size=6) * 0.1, rng.normal(size=6) * 0.1
    pairs = s04_sort.overlaps(a, start_a, b, start_b, dh, dt, 0.4)
    expected = [
        (i, j)
        for i in range(80)
        for j in range(60)
        if a.row[i] == b.row[j]
        and a.h_min[i] + dh[a.row[i]] <= b.h_max[j]
        and b.h_min[j] <= a.h_max[i] + dh[a.row[i]]
        and a.t_min[i] + dt[a.row[i]] - b.t_max[j] <= 0.4
        and a.t_max[i] + dt[a.row[i]] - b.t_min[j] >= -0.4
    ]
    assert sorted(map(tuple, pairs.tolist())) == expected


def test_roots_known_answers():
    # Translation: a line, a parabola that touches, one that misses by more than the tolerance, a constant.
    p = np.array([[-0.1, 0.4, 0, 0], [0.0625, -0.5, 2, 0], [0.0625 + 1e-9, -0.5, 2, 0], [1.0, 0, 0, 0]])
    item, s, touch = _roots.find_roots(_roots.ScrewFunctions(0.0, p), -0.5, 0.5, np.full(4, 1e-11))
    assert item.tolist() == [0, 1] and np.abs(s - 0.25).max() < 1e-7 and abs(s[0] - 0.25) < 1e-15
    # cos(theta s) = cos(theta / 4) in the form with nu: two roots at +-1/4; with the swaying term three at 0
    # and +-.
    theta = 2.0
    p = np.array([[-(1 - np.cos(theta / 4)) / theta**2, 0, 1, 0]])
    item, s, touch = _roots.find_roots(_roots.ScrewFunctions(theta, p), -0.5, 0.5, np.full(1, 1e-11))
    assert np.abs(s - [-0.25, 0.25]).max() < 1e-15 and not touch.any()


def test_every_change_of_sign_has_a_root():
    rng = np.random.default_rng(6)
    grid = np.linspace(-0.5, 0.5, 401)
    for angle in (0.0, 1e-3, 1.0, np.pi):
        p, q = rng.normal(size=(300, 4)), rng.normal(size=(300, 2))
        q[:100] = 0
        functions = _roots.ScrewFunctions(angle, p, q)
        values = np.stack([functions(np.full(300, s))[0] for s in grid])
        changes = (values[1:] >= 0) != (values[:-1] >= 0)
        item, s, _ = _roots.find_roots(functions, -0.5, 0.5, np.full(300, 1e-12))
        counts = np.zeros_like(changes, dtype=int)
        np.add.at(counts, (np.clip(((s + 0.5) * 400).astype(int), 0, 399), item), 1)
        assert np.all(counts[changes] % 2 == 1) and np.all(counts[~changes] % 2 == 0)
        assert np.abs(functions.take(item)(s)[0]).max() < 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.5, 2.5])
def test_functions_are_distances_and_volumes(angle):
    # Worst error seen: 1e-14.
    rng = np.random.default_rng(7)
    car = gc.shapes.car()
    screw, a, b, _, _ = random_pair(rng, car, car, angle)
    ea, eb, fa, vb = (rng.integers(0, n, 40) for n in (26, 26, 12, 16))
    for s in (-0.5, 0.1, 0.37):
        at = np.full(40, s)
        x, d = screw.flow(b.points[b.tables.edges[eb, 0]], at), screw.turn(b.unit[eb], at)
        volume = np.sum((x - a.points[a.tables.edges[ea, 0]]) * np.cross(a.unit[ea], d), axis=1)
        assert np.abs(s07_solve.edge_edge_functions(screw, a, b, ea, eb)(at)[0] - volume).max() < 1e-13
        for faces, vertices, way in ((a, b, 1.0), (b, a, -1.0)):
            x = screw.flow(vertices.points[vb], way * at)
            distance = np.sum(faces.normals[fa] * (x - faces.points[faces.tables.loops[fa, 0]]), axis=1)
            function = s07_solve.vertex_face_functions(screw, faces, vertices, fa, vb)
            assert np.abs(function(at)[0] - distance).max() < 1e-13


def test_properness_bound_is_a_bound():
    rng = np.random.default_rng(8)
    star = gc.shapes.star()
    for angle in (0.0, 0.4, 3.0):
        screw, a, b, _, _ = random_pair(rng, star, star, angle)
        faces, vertices = rng.integers(0, star.n_faces, 200), rng.integers(0, star.n_vertices, 200)
        for one, other in ((a, b), (b, a)):
            bound = s07_solve.properness_bound(screw, one, other, faces, vertices)
            for s in np.linspace(-0.5, 0.5, 9):
                value = vertex_properness(screw, one, other, vertices, one.normals[faces], np.full(200, s))
                assert np.all(value <= bound + 1e-14)
