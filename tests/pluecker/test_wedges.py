"""What may touch of a mesh: internal edges and vertices, owners, the tree."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.collidable_features import LEAF_LEVEL
from tests.pluecker._crowds import BOX, CAR, TORUS


def step():
    """Two boxes as one solid, like a stair: one edge folds inwards, those between coplanar faces are flat."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    low, high = np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    tops = [[6, 7, 8, 9], [6, 9, 10, 11]]
    floors = [[3, 2, 1, 0], [5, 4, 3, 0]]
    return gc.Mesh(np.r_[low, high], sides + tops + floors)


def test_a_stair():
    mesh = step()
    w = prepared.collidable_features_of(mesh)
    inner = {tuple(sorted(e)) for e in mesh.edges.tolist()} - {
        tuple(sorted(e)) for e in w.edges[:, :2].tolist()
    }
    assert inner == {(3, 9), (0, 3), (6, 9)}, "the fold, and the seams of floor and top"
    assert gc.pluecker.internal(mesh) == (3, 0)


def test_a_vertex_of_folds_only():
    """The bottom of a pit with four sloping sides: all its edges fold inwards."""
    rim = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]
    pit = gc.Mesh([*rim, [1, 1, -1]], [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    w = prepared.collidable_features_of(pit)
    assert gc.pluecker.internal(pit) == (4, 1) and 4 not in w.vertices
    assert (w.edges[:, 3] == 1).all(), "the rim is a border"
    turned = gc.Mesh([*rim, [1, 1, -1]], [[1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]])
    assert prepared.collidable_features_of(turned).internal_edges == 0, "from below it is a tip"
    both = gc.Mesh([*rim, [1, 1, -1]], [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], two_sided=True)
    assert prepared.collidable_features_of(both).internal_edges == 0, (
        "a sheet stands out on one side or the other"
    )


def test_only_meshes_have_internal_edges():
    with pytest.raises(TypeError, match="mesh: expected gpu_collide.Mesh, got int"):
        gc.pluecker.internal(3)


def test_every_feature_has_one_owner():
    for mesh in (BOX, CAR, TORUS, step()):
        w = prepared.collidable_features_of(mesh)
        assert np.array_equal(np.sort(w.source), np.arange(mesh.n_faces))
        assert len(set(w.edges[:, 2])) == len(w.edges) and len(set(w.vertices)) == len(w.vertices)
        assert (np.diff(w.faces, axis=0) >= 0).all()
        assert w.faces[-1].tolist() == [len(w.corners), len(w.edges), len(w.vertices), 0]
        assert len(w.edges) + w.internal_edges == mesh.n_edges
        for k, face in enumerate(w.source):
            (c0, e0, v0), (c1, e1, v1) = w.faces[k, :3], w.faces[k + 1, :3]
            loop = mesh.faces[face].tolist()
            mine = w.corners[c0:c1].tolist()
            assert (
                sorted(mine) == sorted(loop)
                and mine == loop[loop.index(mine[0]) :] + loop[: loop.index(mine[0])]
            )
            assert set(w.vertices[v0:v1]) <= set(loop)
            assert all(set(ends) <= set(loop) for ends in w.edges[e0:e1, :2].tolist())


def test_normals_lie_to_the_left_and_right():
    for mesh in (BOX, CAR, TORUS):
        w = prepared.collidable_features_of(mesh)
        along = mesh.vertices[w.edges[:, 1]] - mesh.vertices[w.edges[:, 0]]
        bend = np.einsum("ij,ij->i", np.cross(w.normals[:, :3], w.normals[:, 3:]), along)
        assert (bend > 0).all(), "all of them stand out"


def test_nodes_hold_what_is_below():
    for mesh in (BOX, CAR, TORUS):
        w = prepared.collidable_features_of(mesh)
        centred = mesh.vertices - mesh.center
        for leaf in range(1 << w.height):
            first = leaf << LEAF_LEVEL
            last = min(first + (1 << LEAF_LEVEL), mesh.n_faces)
            box = w.nodes[(1 << w.height) + leaf]
            if first >= last:
                assert (box[:3] > box[3:]).all(), "nothing is in it"
                continue
            corners = centred[w.corners[w.faces[first, 0] : w.faces[last, 0]]]
            assert np.array_equal(box, np.r_[corners.min(axis=0), corners.max(axis=0)])
        for node in range(1, 1 << w.height):
            a, b = w.nodes[2 * node], w.nodes[2 * node + 1]
            assert np.array_equal(w.nodes[node], np.r_[np.minimum(a, b)[:3], np.maximum(a, b)[3:]])


def test_faces_across_borders():
    """The planes behind borders at which faces bend outwards have all of the face on their back."""
    for mesh in (BOX, CAR, TORUS, step()):
        w, some = prepared.collidable_features_of(mesh), 0
        centred = mesh.vertices - mesh.center
        for k in range(mesh.n_faces):
            loop = w.corners[w.faces[k, 0] : w.faces[k + 1, 0]]
            for c, d, code in zip(loop, np.roll(loop, -1), w.across[w.faces[k, 0] :], strict=False):
                assert code >= 0, "nothing is seen from the back"
                edge = np.flatnonzero((np.sort(w.edges[:, :2], axis=1) == sorted((c, d))).all(axis=1))
                assert bool(code) == (len(edge) == 1), "all but folds and seams"
                if code:
                    other = w.corners[w.faces[code - 1, 0] : w.faces[code, 0]]
                    assert {c, d} <= set(other)
                    assert ((centred[loop] - centred[c]) @ w.planes[code - 1] < 1e-14).all()
                    some += 1
        assert some > 10 and len(w.borders) == 0


def test_borders_and_folds_of_sheets():
    rim = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, -1]]
    faces = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    one, both = gc.Mesh(rim, faces), gc.Mesh(rim, faces, two_sided=True)
    for mesh in (one, both):
        w = prepared.collidable_features_of(mesh)
        assert (w.edges[w.borders, 3] == 1).all() and len(w.borders) == 4 == w.faces[-1, 3]
        for k in range(4):
            for row in w.borders[w.faces[k, 3] : w.faces[k + 1, 3]]:
                assert set(w.edges[row, :2]) <= set(w.corners[w.faces[k, 0] : w.faces[k + 1, 0]])
    assert (prepared.collidable_features_of(one).across == 0).all(), "a pit folds inwards"
    across = prepared.collidable_features_of(both).across
    assert (across <= 0).all() and (across < 0).sum() == 8, "and outwards, seen from below"
