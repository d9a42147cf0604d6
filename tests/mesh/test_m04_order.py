"""m04_order: the faces in the order of their tree's leaves, by kernels, NumPy, and plain sorting."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.backends import get_backend
from gpu_collide.geometry.preparation import compiled, prepared
from gpu_collide.geometry.preparation.face_tree import face_tree
from gpu_collide.geometry.preparation.order import leaf_order
from tests.mesh._meshes import meshes
from tests.mesh._pivots import killer


def slow(middles, faces=None):
    """By the definition, with lists: of a full node those low by place, then number, come first."""
    if faces is None:
        faces = list(range(len(middles)))
    if len(faces) < 2:
        return faces
    half = 1 << ((len(faces) - 1).bit_length() - 1)
    places = [[float(middles[f][k]) for f in faces] for k in range(3)]
    spread = [max(x) - min(x) for x in places]
    axis = spread.index(max(spread))
    ranked = sorted(faces, key=lambda f: (float(middles[f][axis]), f))
    return slow(middles, ranked[:half]) + slow(middles, ranked[half:])


def scenes():
    """Middles of faces: at random, of small whole numbers, in a line, at one place, in any order."""
    rng, n = np.random.default_rng(3), 700
    line = np.outer(np.arange(n), [1.0, 1.0, 1.0])
    zeros = np.where(rng.random((n, 3)) < 0.5, 0.0, -0.0)
    organ = np.minimum(np.arange(n), n - np.arange(n))[:, None] * [0.0, 1.0, 0.5]
    return {
        "random": rng.normal(size=(2048, 3)),
        "whole numbers": rng.integers(-2, 3, (n, 3)).astype(float),
        "a plane": rng.integers(0, 30, (n, 3)) * [1.0, 0.0, 1.0],
        "rising": line,
        "falling": line[::-1].copy(),
        "to and fro": organ,
        "bad pivots": np.outer(killer(3000)[0], [1.0, 0.0, 0.0]),
        "one place": np.full((n, 3), 0.25),
        "zeros of any sign": zeros,
        "tiny": rng.normal(size=(513, 3)) * 1e-310,
        "huge": rng.normal(size=(513, 3)) * 1e300,
    }


@pytest.mark.parametrize("name", list(scenes()))
def test_the_order_is_that_of_sorting(backend, name):
    middles = scenes()[name]
    expected, kept = slow(middles), middles.copy()
    assert leaf_order(middles).tolist() == expected
    assert compiled.Kernels(backend).leaf_order(middles).tolist() == expected
    assert middles.tobytes() == kept.tobytes(), "what was given is not moved"


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31, 32, 33, 64, 65, 257, 1023, 1024, 1025, 3000])
def test_any_number_of_faces(backend, n):
    middles = np.random.default_rng(n).integers(-9, 10, (n, 3)) / 4.0
    expected = slow(middles)
    assert leaf_order(middles).tolist() == expected
    assert compiled.Kernels(backend).leaf_order(middles).tolist() == expected


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=70))
def test_numpy_orders_as_sorting_does(places):
    middles = np.array(places, float)
    assert leaf_order(middles).tolist() == slow(middles)


def test_the_tree_of_a_mesh_has_it():
    for mesh in [*meshes(), gc.shapes.icosphere(5)]:
        tree = prepared.tree_of(mesh)
        corners = [mesh.vertices[mesh.face(f)] - mesh.center for f in range(mesh.n_faces)]
        boxes = np.array([[*x.min(axis=0), *x.max(axis=0)] for x in corners])
        assert np.array_equal(tree.boxes, boxes[tree.order])
        assert tree.order.tolist() == slow(0.5 * boxes[:, :3] + 0.5 * boxes[:, 3:])
        assert np.array_equal(tree.order, face_tree(mesh).order) and tree.order.dtype == np.int32


def test_nodes_are_compact():
    """Of a ball's 20,480 faces no node is thrice as long as the middle one of its level: what jumps from
    one side to the other meets everything on its way."""
    mesh = gc.shapes.icosphere(5)
    nodes, row = prepared.nodes_of(mesh, np.float64), 0
    for n in prepared.tree_of(mesh).counts[:12]:
        long = np.linalg.norm(nodes[row : row + n, 3:6] - nodes[row : row + n, :3], axis=1)
        assert long.max() < 3.0 * np.median(long)
        row += n


@pytest.mark.scale("meshes are ordered by the processor")
def test_a_mesh_made_against_the_order_takes_no_longer():
    """Its faces were looked at thousands of times each: 47 times as long for a million of them."""
    kernels, seconds = compiled.Kernels(get_backend("cpu")), {}
    places, looks = killer(1 << 17)
    assert looks > 1000
    for name, some in (("bad", places), ("random", np.random.default_rng(1).permutation(places))):
        middles = np.outer(some, [1.0, 0.0, 0.0])
        seconds[name] = np.inf
        for _ in range(4):
            begun = time.process_time()
            kernels.leaf_order(middles)
            seconds[name] = min(seconds[name], time.process_time() - begun)
    assert seconds["bad"] < 3 * seconds["random"]
