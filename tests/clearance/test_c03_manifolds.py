"""Stage c03 against its reference: points of manifolds of any shapes, and the same bits on all backends."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend
from gpu_collide.pipeline import manifolds
from gpu_collide.reference.clearance.c03_manifolds import manifolds_reference

BOX = gc.shapes.box()
TRIANGLES = gc.Mesh(BOX.vertices, [[f[k] for k in tri] for f in BOX.faces for tri in ((0, 1, 2), (0, 2, 3))])
SOLIDS = [BOX, TRIANGLES, gc.shapes.icosphere(1), gc.shapes.car(), gc.shapes.torus(), gc.shapes.star(),
          gc.shapes.l_block()]  # fmt: skip
ROUND = [BOX, gc.shapes.sphere(0.5), gc.shapes.capsule(0.3, 1.0), gc.shapes.rounded_box((1, 1, 1), 0.1),
         gc.shapes.star().rounded(0.05)]  # fmt: skip
FIELDS = ("distance", "point_a", "point_b", "normal", "local_a", "local_b")

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


def crowd(meshes, whole, seed=2, n=160):
    """Bodies at random, or at halves and turned by whole steps, so that faces lie on each other."""
    rng = np.random.default_rng(seed)
    q, at = rng.normal(size=(n, 4)), 2.2 * rng.normal(size=(n, 3))
    if whole:
        q, at = np.round(q), np.round(2 * at) / 2
        q[~q.any(axis=1)] = [1, 0, 0, 0]
    poses = gc.Poses.from_quat_wxyz(at, q / np.linalg.norm(q, axis=1)[:, None])
    return gc.Bodies(meshes, rng.integers(0, len(meshes), n), poses, poses)


def columns(contacts, backend, most=4):
    return manifolds.Reducer(backend).columns(contacts, contacts._bodies, most)


@pytest.mark.parametrize("most", [4, 1])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("meshes", [SOLIDS, ROUND], ids=["solids", "round"])
def test_points_are_those_of_the_reference(backend, meshes, whole, most):
    if backend.kind == "reference":
        pytest.skip("the reference is what it is compared with")
    contacts = gc.contacts_at(crowd(meshes, whole), margin=0.11, backend="cpu")
    found, want = columns(contacts, backend, most), manifolds_reference(contacts, contacts._bodies, most)
    assert len(want["pair"]) > 200
    for name in ("pair", "region", "kind", "feature_a", "feature_b", "key"):
        assert np.array_equal(found[name], want[name]), name
    for name in FIELDS:
        assert np.abs(found[name] - want[name]).max() < 1e-13, (
            name
        )  # worst seen 5.4e-15, at 14 from the origin


def test_all_backends_have_the_same_bits(backend):
    if backend.kind in ("reference", "cpu"):
        pytest.skip("others are compared with cpu")
    contacts = gc.contacts_at(crowd(SOLIDS, False), margin=0.11, backend="cpu")
    found, want = columns(contacts, backend), columns(contacts, get_backend("cpu", "mixed"))
    for name, column in want.items():
        assert np.array_equal(found[name], column), name


def test_neither_room_nor_pieces_nor_order_change_points(monkeypatch):
    """Where a pair has too little room, or all are too many, they are launched again."""
    contacts = gc.contacts_at(crowd(SOLIDS, True), margin=0.11, backend="cpu")
    cpu = get_backend("cpu", "mixed")
    want = columns(contacts, cpu)
    turned = contacts[np.arange(len(contacts))[::-1]]
    for name, value in (("FIRST", 1), ("AT_ONCE", 7), ("MAX_BYTES", 40_000), (None, None)):
        with monkeypatch.context() as patch:
            if name:
                patch.setattr(manifolds, name, value)
            found = columns(contacts if name else turned, cpu)
        for field in ("pair", "region", "key"):
            assert np.array_equal(found[field], want[field]), (name, field)


def test_what_is_kept_serves_the_next_call():
    cpu = get_backend("cpu", "mixed")
    reducer = manifolds.Reducer(cpu)
    contacts = [gc.contacts_at(crowd(SOLIDS, True, seed), margin=0.11, backend="cpu") for seed in (2, 3)]
    for some in (*contacts, contacts[0]):
        found, want = reducer.columns(some, some._bodies, 4), columns(some, cpu)
        for name, column in want.items():
            assert np.array_equal(found[name], column), name


def test_three_points_stay_three():
    """Once a triangle was exchanged for points of another region, and had a corner twice."""
    prism = gc.shapes.convex_hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    at = [[0, 0, -0.5], [5, 0, -0.5], [0.1, 0.1, 0.001], [5.2, 0.1, 0.001]]
    poses = gc.Poses.from_quat_wxyz(at, [[1.0, 0, 0, 0]] * 4)
    floor = gc.shapes.box((4, 4, 1))
    for backend in ("cpu", "reference"):
        bodies = gc.Bodies([floor, prism], [0, 0, 1, 1], poses, poses)
        found = gc.contacts_at(bodies, [[0, 2], [1, 3]], margin=0.01, backend=backend).manifolds()
        assert found.pair.tolist() == [0] * 3 + [1] * 3
        assert len({tuple(x) for x in found.local_b[:3].round(9).tolist()}) == 3
