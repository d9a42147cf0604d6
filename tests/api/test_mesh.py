"""`Mesh`: adjacency by hand, invariants on random shapes, and the answer to every bad input."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_collide.geometry import shapes
from gpu_collide.geometry.arrays import adjacency as adj
from gpu_collide.geometry.mesh.mesh import Mesh
from tests.api._meshes import SQUARE, check_invariants, grid

TETRA_V = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
TETRA_F = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
GENERATED = [shapes.box, shapes.car, shapes.torus, shapes.icosphere, shapes.l_block, shapes.star]


@pytest.mark.parametrize("make", GENERATED)
def test_invariants(make):
    mesh = make()
    check_invariants(mesh)
    assert mesh.closed and mesh.volume > 0 and len(mesh.report) == 0


def test_two_triangles_by_hand():
    mesh = Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert mesh.face_edges.tolist() == [0, 3, 1, 1, 4, 2]
    # 0-2 is walked high to low by face 0 and low to high by face 1; 0-3 high to low by face 1.
    assert mesh.edge_face_start.tolist() == [0, 1, 3, 4, 5, 6]
    assert mesh.edge_faces.tolist() == [0, 1, 2, 3, 0, 2]
    border, flat = adj.EDGE_BORDER, adj.EDGE_FLAT
    assert mesh.edge_flags.tolist() == [border, flat, border, border, border]
    assert mesh.face_planes.tolist() == [[0, 0, 1, 0], [0, 0, 1, 0]]
    assert mesh.center.tolist() == [0.5, 0.5, 0]
    assert mesh.radius == 0.5**0.5
    assert not mesh.closed
    assert mesh.report[0] == ("edges have one face (open border)", 4, (0, 2, 3, 4))
    check_invariants(mesh)


def test_tetrahedron():
    mesh = Mesh(TETRA_V, TETRA_F)
    assert mesh.closed and mesh.n_edges == 6 and mesh.volume == pytest.approx(1 / 6)
    assert mesh.edge_flags.tolist() == [0] * 6
    assert np.allclose(mesh.face_planes[3, :3], 3**-0.5)
    assert mesh.face(3).tolist() == [1, 2, 3]


def test_loops_of_any_length_and_every_spelling():
    wedge = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]]
    loops = [[0, 3, 2, 1], [0, 1, 5, 4], [2, 3, 4, 5], [0, 4, 3], [1, 2, 5]]
    mesh = Mesh(wedge, loops)
    check_invariants(mesh)
    assert mesh.closed and mesh.n_edges == 9
    again = Mesh(np.array(wedge, np.float32), tuple(np.array(loop, np.uint8) for loop in loops))
    assert [loop.tolist() for loop in again.faces] == loops
    for faces in (
        TETRA_F,
        tuple(map(tuple, TETRA_F)),
        np.array(TETRA_F, np.int32),
        np.array(TETRA_F, np.uint64),
    ):
        assert Mesh(TETRA_V, faces).face_vertices.tolist() == np.ravel(TETRA_F).tolist()


def test_reflex_edges_and_vertices():
    mesh = shapes.l_block()
    reflex = np.flatnonzero(mesh.edge_flags & adj.EDGE_REFLEX)
    assert mesh.edges[reflex].tolist() == [[3, 9]]
    assert np.flatnonzero(mesh.vertex_flags).tolist() == [3, 9]
    # The cuts through the two ends are flat.
    flat = mesh.edges[(mesh.edge_flags & adj.EDGE_FLAT) != 0]
    assert flat.tolist() == [[0, 3], [6, 9]]


def test_edges_nearly_flat_are_not_reflex():
    for dip, flag in ((1e-11, adj.EDGE_FLAT), (-1e-11, adj.EDGE_FLAT), (1e-7, adj.EDGE_REFLEX), (-1e-7, 0)):
        points = [[0, 0, -dip], [1, 0, -dip], [0, 1, dip], [1, 1, dip], [0, 2, -dip], [1, 2, -dip]]
        # Ridge (dip > 0 lifts the middle) seen from below is a valley.
        mesh = Mesh(points, [[0, 2, 3, 1], [2, 4, 5, 3]])
        edge = mesh.edges.tolist().index([2, 3])
        assert mesh.edge_flags[edge] == flag, dip


def test_non_manifold_edge():
    mesh = Mesh([*SQUARE, [0.5, 0.5, 1]], [[0, 1, 2], [0, 2, 3], [0, 2, 4]])
    many = mesh.edges[(mesh.edge_flags & adj.EDGE_MANY) != 0]
    assert many.tolist() == [[0, 2]] and not mesh.closed
    assert "non-manifold" in mesh.report
    check_invariants(mesh)


def test_mixed_winding_is_reported_not_repaired():
    mesh = Mesh(TETRA_V, TETRA_F[:3] + [TETRA_F[3][::-1]])
    entry = next(entry for entry in mesh.report if "mixed winding" in entry[0])
    assert entry[1] == 3 and not mesh.closed
    assert not (mesh.edge_flags & adj.EDGE_REFLEX).any()
    assert mesh.face(3).tolist() == TETRA_F[3][::-1]


def test_inside_out_is_reported():
    assert "inside out" in Mesh(TETRA_V, [loop[::-1] for loop in TETRA_F]).report
    assert "inside out" not in Mesh(TETRA_V, [loop[::-1] for loop in TETRA_F], two_sided=True).report


def test_repeated_corners_and_degenerate_faces_are_dropped_and_named():
    points = [*SQUARE, [0.25, 0, 0], [0, 0, 0]]
    faces = [[0, 1, 1, 2], [3, 3, 2], [0, 4, 1], [0, 2, 3], [0, 5, 2], [1, 1, 1]]
    mesh = Mesh(points, faces)
    assert [loop.tolist() for loop in mesh.faces] == [[0, 1, 2], [0, 2, 3]]
    assert mesh.source_face.tolist() == [0, 3] and mesh.source_faces.tolist() == [0, 3]
    found = {what.split(" (")[0]: first for what, _, first in mesh.report}
    assert found["faces lost repeated corners"] == (0,)
    assert found["faces dropped: fewer than three distinct corners"] == (1, 4, 5)
    assert found["faces dropped: no wider than a line"] == (2,)
    assert found["vertices repeat the coordinates of another"] == (5,)
    check_invariants(mesh)


def test_a_side_of_no_length_is_removed():
    """The pole of a sphere of quads: two corners in one place, with different numbers."""
    mesh = Mesh([[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]], [[0, 2, 3, 1]])
    assert len(mesh.face(0)) == 3
    assert (mesh.edge_lengths > 0).all()


def test_repeated_vertices_stay_unless_merged():
    b = shapes.box()
    soup = b.vertices[b.face_vertices]
    faces = np.arange(24).reshape(6, 4)
    apart = Mesh(soup, faces)
    assert apart.n_vertices == 24 and not apart.closed
    assert next(entry for entry in apart.report if "merge_vertices=True" in entry[0])[1] == 16
    welded = Mesh(soup, faces, merge_vertices=True)
    assert welded.closed and welded.n_vertices == 8
    assert np.array_equal(welded.vertices, soup[welded.source_vertex])
    assert (np.diff(welded.source_vertex) > 0).all()
    check_invariants(welded)


def test_negative_zero_is_the_same_place():
    assert (
        Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 0, 0]], [[0, 1, 2]], merge_vertices=True).n_vertices
        == 3
    )


def test_vertices_without_a_face_keep_their_numbers():
    mesh = Mesh([[9, 9, 9], *SQUARE], [[1, 2, 3, 4]])
    assert mesh.n_vertices == 5 and mesh.center[2] == 4.5
    assert next(entry for entry in mesh.report if "no face" in entry[0])[1:] == (1, (0,))
    check_invariants(mesh)


@pytest.mark.parametrize(
    "vertices, faces, error, text",
    [
        (
            [[0, 0, np.nan], [1, 0, 0], [0, 1, 0]],
            [[0, 1, 2]],
            ValueError,
            "vertices: expected finite.* first: 0",
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, np.inf, 0]],
            [[0, 1, 2]],
            ValueError,
            "vertices: expected finite.* first: 2",
        ),
        ([[0, 0, 0, 0]] * 3, [[0, 1, 2]], ValueError, r"vertices: expected shape \(n, 3\), got \(3, 4\)"),
        (np.zeros(9), [[0, 1, 2]], ValueError, "vertices: expected shape"),
        (
            np.array(SQUARE, complex),
            [[0, 1, 2]],
            TypeError,
            "vertices: expected float32 or float64, got complex128",
        ),
        (None, [[0, 1, 2]], TypeError, "vertices: expected an array"),
        (np.zeros((0, 3)), [[0, 1, 2]], ValueError, "vertices: expected at least three"),
        ([[0, 0, 0]], [[0, 0, 0]], ValueError, "in different places"),
        (
            [[1, 2, 3]] * 3,
            [[0, 1, 2]],
            ValueError,
            "vertices: expected points in different places, got all 3",
        ),
        (np.array(SQUARE) * 1e200, [[0, 1, 2]], ValueError, "vertices: expected coordinates between"),
        (np.array(SQUARE) * 1e-200, [[0, 1, 2]], ValueError, "vertices: expected coordinates between"),
        (SQUARE, [], ValueError, "faces: expected at least one face, got none"),
        (SQUARE, np.zeros((0, 3), int), ValueError, "faces: expected at least one face, got none"),
        (SQUARE, [[0, 1, 4]], ValueError, "faces: expected indices from 0 to 3, got 4"),
        (SQUARE, np.array([[0, 1, 2], [0, -1, 2]]), ValueError, "faces: .* got -1 .* first: 1"),
        (SQUARE, [[0.0, 1.0, 2.0]], TypeError, "faces: expected integers, got float64"),
        (SQUARE, np.zeros((1, 3)), TypeError, "faces: expected integers, got float64"),
        (SQUARE, np.ones((1, 3), bool), TypeError, "faces: expected integers, got bool"),
        (SQUARE, [[True, False, True]], TypeError, "faces: expected integers, got bool"),
        (SQUARE, np.array([[0, 1]]), ValueError, r"faces: expected shape \(m, k\) with k >= 3"),
        (SQUARE, np.array([0, 1, 2]), ValueError, r"faces: expected shape \(m, k\)"),
        (SQUARE, [0, 1, 2], TypeError, "faces: expected a sequence of loops"),
        (SQUARE, [[[0, 1, 2]]], ValueError, "faces: expected loops"),
        (SQUARE, ["abc"], TypeError, "faces"),
        (SQUARE, None, TypeError, "faces: expected an array"),
        (SQUARE, [[0, 1], [2]], ValueError, "only degenerate"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], ValueError, "only degenerate"),
    ],
)
def test_bad_input(vertices, faces, error, text):
    with pytest.raises(error, match=text):
        Mesh(vertices, faces)


@pytest.mark.parametrize("name", ["two_sided", "triangulate", "merge_vertices", "merge_coplanar"])
@pytest.mark.parametrize("bad", ["no", "", None, [True]])
def test_flags_are_bools(name, bad):
    with pytest.raises(TypeError, match=f"^{name}: expected a bool.* got {type(bad).__name__}; pass True"):
        Mesh(SQUARE, [[0, 1, 2, 3]], **{name: bad})
    Mesh(SQUARE, [[0, 1, 2, 3]], **{name: np.True_})
    Mesh(SQUARE, [[0, 1, 2, 3]], **{name: np.False_})


@pytest.mark.parametrize(
    "points, text",
    [
        ([[0, 0, 0], [1, 0, 0], [1, 1, 1e-3], [0, 1, 0]], "non-planar faces, first: 0 .*off the plane"),
        ([[0, 0, 0], [2, 0, 0], [0.5, 0.5, 0], [0, 2, 0]], "non-convex faces.*turns inward"),
        ([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], "cross themselves"),  # bow tie of no net area
        ([[0, 0, 0], [2, 1, 0], [2, 0, 0], [0, 3, 0]], "non-convex"),  # lopsided bow tie
    ],
)
def test_polygons_that_are_refused(points, text):
    with pytest.raises(ValueError, match=text + ".*triangulate=True"):
        Mesh(points, [list(range(len(points)))])


def test_more_polygons_that_are_refused():
    angle = 2 * np.pi * np.arange(5) / 5
    pentagon = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    Mesh(pentagon, [[0, 1, 2, 3, 4]])
    with pytest.raises(
        ValueError, match="non-convex"
    ):  # the pentagram turns left everywhere, but twice round
        Mesh(pentagon, [[0, 2, 4, 1, 3]])
    with pytest.raises(ValueError, match="visits a vertex twice"):
        Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 1, 0]], [[0, 1, 2, 4, 2, 3]])
    with pytest.raises(ValueError, match="1 non-planar faces, first: 1"):  # the caller's number, after a drop
        Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0.1], [0, 1, 0]], [[0, 0, 0], [0, 1, 2, 3]])


def test_small_departures_from_plane_and_convexity_pass():
    Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 5e-7], [0, 1, 0]], [[0, 1, 2, 3]])
    Mesh(
        [[0, 0, 0], [0.5, 1e-9, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3, 4]]
    )  # a nearly straight corner


def test_triangulate():
    rough = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]], [[0, 1, 2, 3]], triangulate=True)
    assert rough.n_faces == 2 and rough.source_face.tolist() == [0, 0]
    dart = Mesh([[0, 0, 0], [2, 0, 0], [0.5, 0.5, 0], [0, 2, 0]], [[0, 1, 2, 3]], triangulate=True)
    assert (dart.face_planes[:, 2] == 1).all() and [0, 2] in dart.edges.tolist()
    comb = [[0, 0], [6, 0], [6, 2], [5, 2], [5, 1], [4, 1], [4, 2], [3, 2], [3, 1], [2, 1], [2, 2], [0, 2]]
    points = np.column_stack([comb, np.zeros(12)])
    mesh = Mesh(points, [list(range(12))], triangulate=True)
    area = np.linalg.norm(adj.newell(mesh.vertices, mesh.face_start, mesh.face_vertices), axis=1).sum()
    assert mesh.n_faces == 10 and (mesh.face_planes[:, 2] > 0.999).all() and area == pytest.approx(10)
    check_invariants(mesh)
    with pytest.raises(ValueError, match="crosses itself"):
        Mesh([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2, 3]], triangulate=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 30), st.integers(1, 60))
def test_any_soup_of_triangles_is_a_mesh(seed, n_vertices, n_faces):
    """Random triangles, with repeats, mixed winding and non-manifold edges, satisfy the invariants."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_vertices, 3))
    faces = rng.integers(0, n_vertices, size=(n_faces, 3))
    distinct = [f for f, loop in enumerate(faces) if len(set(loop)) == 3]
    if not distinct:
        with pytest.raises(ValueError):
            Mesh(points, faces)
        return
    mesh = Mesh(points, faces)
    check_invariants(mesh)
    assert mesh.source_face.tolist() == distinct
    check_invariants(Mesh(points, faces, merge_vertices=True, merge_coplanar=True))


def test_a_mesh_never_changes():
    mesh = shapes.box()
    with pytest.raises(AttributeError, match="never changes"):
        mesh.radius = 3.0
    with pytest.raises(ValueError):
        mesh.vertices[0] = 0
    given = np.array(TETRA_V, float)
    mesh = Mesh(given, TETRA_F)
    assert given.flags.writeable
    given[0] = 7
    assert mesh.vertices[0].tolist() == [0, 0, 0]


def test_far_from_its_origin_is_mentioned():
    assert "far from its own origin" in Mesh(np.array(TETRA_V) + 1e6, TETRA_F).report


def test_from_trimesh_is_duck_typed():
    class Other:
        vertices, faces = np.array(TETRA_V, float), np.array(TETRA_F)

    assert Mesh.from_trimesh(Other(), two_sided=True).two_sided
    with pytest.raises(TypeError, match="trimesh_mesh: .*got int without vertices"):
        Mesh.from_trimesh(3)


def test_faces_by_number():
    mesh = shapes.box()
    assert mesh.face(-1).tolist() == mesh.face(5).tolist() and len(mesh.face(-1)) == 4
    assert mesh.face(np.int64(0)).tolist() == mesh.face(-6).tolist()
    for far in (6, -7, 10**30):
        with pytest.raises(IndexError, match=f"^index: expected one of the mesh's 6 faces, got {far}"):
            mesh.face(far)
    for bad in (1.0, "0", None, [0], slice(2)):
        with pytest.raises(TypeError, match="^index: expected an integer, got "):
            mesh.face(bad)


def test_repr():
    assert repr(shapes.box()) == "Mesh(8 vertices, 12 edges, 6 faces, closed)"
    sheet = Mesh(SQUARE, [[0, 1, 2, 3]], two_sided=True)
    assert repr(sheet) == "Mesh(4 vertices, 4 edges, 1 face, open, two-sided, 1 remark in .report)"
    assert "open border" in repr(sheet.report)
    assert "nothing" in repr(shapes.box().report)


def test_a_track_of_100000_triangles_builds_fast():
    """About 0.4 s on two cores of 2026; the limit allows for a loaded machine."""
    points, faces = grid(225, lambda x, y: np.sin(x * 0.1) * np.cos(y * 0.13))
    begin = time.perf_counter()
    assert Mesh(points, faces).n_faces == len(faces) > 100_000
    assert time.perf_counter() - begin < 5


def test_a_set_is_no_loop():
    with pytest.raises(TypeError, match="faces: expected loops whose vertices have an order, got a set"):
        Mesh(np.eye(3), [{0, 1, 2}])
