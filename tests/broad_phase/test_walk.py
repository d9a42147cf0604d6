"""Stage b05 by pairs of nodes: no face of a contact is lost, at any threshold, whatever meets whatever."""

from functools import lru_cache

import numpy as np
import pytest

import gpu_collide as gc
from bench import dense_shapes
from gpu_collide.backends import sources
from gpu_collide.scenes import random_impacts
from tests.broad_phase import _near, test_cones
from tests.broad_phase._near_launch import NEAR_INTS, SEEN_STRIDE, TREE, Near
from tests.narrow_phase._first import same_bits
from tests.narrow_phase._launch import C, cpu
from tests.narrow_phase.test_b05_features import INVALID
from tests.oracle.scenes_base import IDENTITY, resting_world

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

THRESHOLDS = (-1.0, -0.1, 0.0, 0.5)


class Scene:
    """What `Near` asks for."""

    def __init__(self, bodies, pairs):
        self.bodies, self.pairs = lambda: bodies, pairs


def impacts(a, b, turn, seed):
    return Scene(*random_impacts(test_cones.mesh(a), test_cones.mesh(b), n=5, seed=seed, max_turn=turn))


@lru_cache(maxsize=8)
def sheet(k, two_sided=False):
    """2 k^2 triangles on a grid of whole numbers."""
    u = np.arange(k + 1.0)
    x, y = np.meshgrid(u, u, indexing="ij")
    quads = _near.grid(k, k)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return gc.Mesh(np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3), faces, two_sided=two_sided)


def along(mesh, ways, turned=False):
    """A copy of a mesh that goes from the first place to the second, for each of `ways`."""
    start, end = np.array(ways, float).transpose(1, 0, 2)
    q = np.tile([0.0, 1.0, 0.0, 0.0] if turned else IDENTITY, (len(start), 1))
    n = np.zeros(len(start), int)
    return _near.scene_of("along", [mesh, mesh], n, n + 1, (start, q, end, q), resting_world(len(start)))


SCENES = {
    "balls": lambda: impacts("ball", "ball", 0.8, 1),
    "bumps and pits": lambda: impacts("bumpy", "pitted", 0.4, 2),
    "open": lambda: impacts("waves", "ball", 0.0, 5),
    "two-sided": lambda: impacts("waves2", "bumpy", 3.0, 4),
    "slivers": lambda: impacts("stretched", "inside_out", 0.8, 6),
    "slides": lambda: _near.slides(6, 2),
    "book": lambda: _near.scene("turns", 6, 3, ("book", "terrain2", "huge")),
    "still": lambda: _near.scene("still", 6, 3, ("ball", "block", "torus")),
    "equal faces": lambda: along(
        sheet(6, True), [[[0, 0, 2], [0, 0, -2]], [[3, 0, 1], [3, 0, 0]], [[-9, 0, 0], [9, 1, 0]]]
    ),
    "blocks": lambda: along(
        _near.block(8, (8.0, 8.0, 8.0)),
        [[[0, 0, 12], [0, 0, 8]], [[16, 2, 8], [-16, 2, 8]], [[4, 4, 9], [4, 4, 7]]],
    ),
    "whole turns": lambda: _near.wheels(6, 1),
}  # fmt: skip


@lru_cache(maxsize=16)
def near_of(backend, name, precision="mixed", fine=False):
    """`fine`: the walk goes to single faces however few pairs of nodes there are."""
    return Near(backend, SCENES[name](), precision, fine_text() if fine else None)


@lru_cache(maxsize=1)
def fine_text():
    usual, always = f"#define GC_NEAR_FINE {C['GC_NEAR_FINE']}\n", "#define GC_NEAR_FINE 0\n"
    text = sources.joined("narrow_phase/near/b05_features.c")
    assert text.count(usual) == 1
    return text.replace(usual, always)


@lru_cache(maxsize=64)
def contacts(name, threshold):
    """Of whole meshes, found without trees or near faces: all edges against all edges, all vertices against
    all faces."""
    scene = SCENES[name]()
    return gc.collide(
        scene.bodies(),
        scene.pairs,
        backend="cpu",
        tuning=gc.Tuning(features="all", candidates="pairs", filters="none"),
        min_properness=threshold,
        check_start=False,
    )


def around(mesh, what, feature):
    """Faces around a feature: 0 a vertex, 1 an edge, 2 a face."""
    if what == 2:
        return np.array([feature])
    if what == 1:
        return mesh.edge_faces[mesh.edge_face_start[feature] : mesh.edge_face_start[feature + 1]] >> 1
    return mesh.vertex_faces[mesh.vertex_face_start[feature] : mesh.vertex_face_start[feature + 1]]


#: What the features of A and of B are.
SIDES = {gc.Kind.VF: (0, 2), gc.Kind.FV: (2, 0), gc.Kind.EE: (1, 1)}


def missed(near, listed, found):
    """Faces around the features of contacts that are not listed: (pair, side, face)."""
    out = []
    for kind, sides in SIDES.items():
        some = found.kind == kind
        for side, what in enumerate(sides):
            features = (found.feature_b if side else found.feature_a)[some]
            for pair in np.unique(found.pair[some]):
                k = int(near.shapes[pair, side])
                order, there = near.order(k), near.masks(listed, int(pair), side)
                bits = [there.get(p, 0) for p in range(-(-len(order) // 32))]
                left = {int(face) for i, face in enumerate(order) if not bits[i // 32] >> (i % 32) & 1}
                for feature in np.unique(features[found.pair[some] == pair]):
                    hers = around(near.bodies.meshes[k], what, int(feature)).tolist()
                    out += [(int(pair), side, face) for face in left.intersection(hers)]
    return out


@pytest.mark.parametrize("fine", [False, True], ids=["as usual", "single faces"])
@pytest.mark.parametrize("name", SCENES)
def test_all_faces_of_all_contacts_are_listed(backend, name, fine):
    for threshold in THRESHOLDS:
        found = contacts(name, threshold)
        for precision in ("mixed", "double"):
            near = near_of(backend, name, precision, fine)
            listed = near.features(room=1 << 14, min_properness=threshold)
            assert not listed.need and not listed.spilled
            assert not missed(near, listed, found), (threshold, precision)
    assert len(contacts(name, -1.0)) or name == "still"


def test_faces_are_missed_where_they_are_missing():
    """Otherwise nothing above would show anything."""
    near, found = near_of(cpu(), "balls"), contacts("balls", -0.1)
    listed = near.features(min_properness=-0.1)
    assert len(missed(near, near.features(min_properness=-0.1, state=[INVALID] * 5), found))
    listed.rows = listed.rows[::2]
    assert missed(near, listed, found)


def test_single_faces_are_listed(backend):
    """Of smooth bodies that run into each other few faces are near, and patches are not listed whole; where
    pairs are few, groups of up to eight faces."""
    usual = near_of(backend, "balls").features(min_properness=-0.1)
    assert all((int(row[2]) & 0xFFFFFFFF).bit_count() in (1, 2, 4, 8) for row in usual.rows)
    near = near_of(backend, "balls", fine=True)
    listed = near.features(min_properness=-0.1)
    bits = [int(row[2]) & 0xFFFFFFFF for row in listed.rows]
    assert all(b.bit_count() == 1 for b in bits)
    assert len(bits) <= 0.35 * sum(near.trees[near.shapes.reshape(-1), TREE["faces"]]), len(bits)


@pytest.mark.parametrize("k", [16, 48])
def test_everything_that_meets_everything_costs_little_room(backend, k):
    """A sheet that goes far along its equal: pairs of faces are as many as faces times a side of the sheet.
    The walk stops where they get too many, lists what it has come to, and needs no more room than a few times
    the nodes."""
    made = along(sheet(k, True), [[[-40.0 * k, 0, 0], [40.0 * k, 0.25, 0]]])
    near, room, tries = Near(backend, made), 256, 0
    listed = near.features(room=room, capacity=1 << 15)
    while len(listed.no_room):
        assert room < listed.need
        room, tries = listed.need, tries + 1
        listed = near.features(room=room, capacity=1 << 15)
        assert not listed.spilled and tries < 12
    faces = 2 * k * k
    assert room <= 8 * faces + 256, room
    if k == 48:
        assert any(int(row[2]).bit_count() > 1 for row in listed.rows), "it did not stop before single faces"
    assert all(sum(b.bit_count() for b in near.masks(listed, 0, s).values()) == faces for s in (0, 1))


def test_what_scratch_is(backend):
    """The host gives as much as kernels read: a record of two sides, and ints for places and pairs."""
    assert NEAR_INTS >= 10 + 4 * C["GC_NEAR_PAIRS"] and SEEN_STRIDE % 4 == 0


def given_up(backend, name, faces, step, n=3):
    """What b05 lists of the pairs of a bench's scene, to the end and where it may give up."""
    meshes = dense_shapes.PAIRS[name](faces)
    bodies = dense_shapes.steps_of(name, meshes, step, n, 1)
    near = Near(backend, Scene(bodies, dense_shapes.pairs_of(n)))
    return [near.features(min_properness=-0.1, gives_up=k, room=1 << 15, capacity=1 << 19) for k in (0, 1)]


def test_walks_that_do_not_pay_are_given_up(backend):
    """A bolt in its nut lists nothing and says so; of balls that touch all that is near is listed."""
    whole, ended = given_up(backend, "bolt in nut", 1280, "impact")
    assert len(whole.whole) == 0 and len(np.unique(whole.rows[:, 0])) == 6
    assert ended.whole.tolist() == [0, 1, 2] and ended.count == 0 and len(ended.no_room) == 0
    whole, ended = given_up(backend, "icospheres", 1280, "touch")
    assert len(ended.whole) == len(whole.whole) == 0
    assert ended.count > 0 and ended.table() == whole.table()


@pytest.mark.parametrize("refine", ["exact", "segments"])
def test_given_up_or_not_the_contacts_are_the_same(backend, refine):
    """Pairs that are given up, pairs that are not and pairs that never meet, in one call."""
    ball, bolts = gc.shapes.icosphere(4), dense_shapes.bolt_and_nut(5000)
    screwed = dense_shapes.steps_of("bolt in nut", bolts, "impact", 2, 3)
    hits = dense_shapes.steps_of("icospheres", (ball, ball), "impact", 2, 3)
    start, end = (
        gc.Poses.concatenate([getattr(x, when) for x in (screwed, hits)]) for when in ("start", "end")
    )
    bodies = gc.Bodies([*bolts, ball], np.append(screwed.shape, [2, 2, 2]).astype(np.int32), start, end)
    pairs = np.array([[0, 1], [3, 4], [0, 2], [3, 5], [4, 5]])
    asked = dict(backend=backend.name, check_start=False, report=True, refine=refine)
    found = {
        name: gc.collide(bodies, pairs, tuning=gc.Tuning(features=name, filters=()), **asked)
        for name in ("auto", "near", "all")
    }
    for name in ("near", "all"):
        same_bits(found["auto"].to_numpy(), found[name].to_numpy())
    assert len(found["auto"].time) > 500 and set(np.asarray(found["auto"].pair)) >= {0, 1, 2, 3}
    if backend.kind != "cuda":  # there nobody waits for what b05 finds
        rows = [found[name].report["near features"] for name in ("auto", "near")]
        assert [row.got for row in rows] == [5, 5]
        assert rows[0].settled == rows[1].settled
