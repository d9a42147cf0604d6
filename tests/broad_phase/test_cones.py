"""Double cones of contact normals: no proper contact lies outside, at no feature of any mesh, and near faces
that are culled by them give the bits of all faces."""

from functools import lru_cache

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.geometry.preparation.cones import face_cones
from gpu_collide.geometry.preparation.face_tree import face_tree
from gpu_collide.geometry.preparation.prepared import nodes_of
from gpu_collide.scenes import random_impacts
from tests.api._meshes import grid
from tests.broad_phase import _near
from tests.broad_phase._near_launch import Near

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

LIMIT = float(sources.constants()["GC_CONE_PROPERNESS"])
NODE = sources.record("node")


def bumpy(n_major=28, n_minor=14, depth=0.06):
    """A torus with bumps: saddles, pits and reflex edges everywhere, none of them sharp."""
    ring = gc.shapes.torus(n_major=n_major, n_minor=n_minor)
    x = ring.vertices
    return gc.Mesh(x * (1.0 + depth * np.sin(7 * x[:, :1]) * np.cos(5 * x[:, 1:2] + 3 * x[:, 2:])),
                   [f.tolist() for f in ring.faces], triangulate=True)  # fmt: skip


def pitted(subdivisions=3):
    """A ball with a smooth hollow."""
    ball = gc.shapes.icosphere(subdivisions)
    x = ball.vertices
    return gc.Mesh(x * (1.0 - 0.5 * np.exp(-6.0 * ((x - [0, 0, 1]) ** 2).sum(axis=1)))[:, None], ball.faces)


def waves(two_sided=False):
    """A sheet of waves, open at its borders."""
    points, faces = grid(16, lambda x, y: 0.08 * np.sin(3 * x) * np.cos(2 * y))
    return gc.Mesh(points, faces, two_sided=two_sided)


def turned_out(mesh):
    return gc.Mesh(mesh.vertices, [f[::-1].tolist() for f in mesh.faces])


def stretched():
    """A ball drawn long: slivers, and corners of all angles."""
    ball = gc.shapes.icosphere(2)
    return gc.Mesh(ball.vertices * [12.0, 1.0, 0.3], ball.faces)


SMOOTH = {
    "ball": lambda: gc.shapes.icosphere(3), "bumpy": bumpy, "pitted": pitted, "waves": waves,
    "waves2": lambda: waves(True), "inside_out": lambda: turned_out(pitted(2)), "stretched": stretched,
}  # fmt: skip


@lru_cache(maxsize=64)
def mesh(name):
    return SMOOTH[name]() if name in SMOOTH else _near.mesh(name)


def lines(rng, about, n):
    """Unit vectors near and far from some."""
    some = about[rng.integers(0, len(about), n)] + rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(
        -2.5, 0.5, (n, 1)
    )
    return some / np.linalg.norm(some, axis=1, keepdims=True)


def allowed_at_vertex(m, v, n):
    """Which normals (k, 3), of either sign, a vertex may have: every edge leaves to the near side."""
    edges = m.edges[m.vertex_edges[m.vertex_edge_start[v] : m.vertex_edge_start[v + 1]] >> 1]
    away = m.vertices[edges.sum(axis=1) - v] - m.vertices[v]
    rise = n @ (away / np.linalg.norm(away, axis=1, keepdims=True)).T
    return (rise.max(axis=1) <= -LIMIT) | (rise.min(axis=1) >= LIMIT)


def allowed_at_edge(m, e, n):
    """The same for an edge and what is across it in its faces."""
    ends = m.vertices[m.edges[e]]
    d = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    entries = m.edge_faces[m.edge_face_start[e] : m.edge_face_start[e + 1]]
    across = np.cross(m.face_planes[entries >> 1, :3], d) * np.where(entries & 1, -1.0, 1.0)[:, None]
    rise = n @ across.T
    return (rise.max(axis=1) <= -LIMIT) | (rise.min(axis=1) >= LIMIT)


@pytest.mark.parametrize("name", [*SMOOTH, *_near.SMALL])
def test_all_normals_of_proper_contacts_are_in_the_cones(name):
    m, rng = mesh(name), np.random.default_rng(4)
    cones, normals = face_cones(m)[0], m.face_planes[:, :3]
    narrow, seen = 0, 0
    for v in rng.permutation(len(m.vertices))[:60]:
        around = m.vertex_faces[m.vertex_face_start[v] : m.vertex_face_start[v + 1]]
        if not len(around):
            continue
        n = lines(rng, normals[around], 400)
        n = n[allowed_at_vertex(m, v, n)]
        off = np.abs(n @ normals[around].T)
        assert (off >= cones[around]).all(), ("vertex", v)
        seen, narrow = seen + len(n), narrow + (off < cones[around] + 0.05).sum()
    for e in rng.permutation(m.n_edges)[:60]:
        around = m.edge_faces[m.edge_face_start[e] : m.edge_face_start[e + 1]] >> 1
        n = lines(rng, normals[around], 200)
        d = m.vertices[m.edges[e, 1]] - m.vertices[m.edges[e, 0]]
        n -= (n @ d)[:, None] * d / (d @ d)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        n = n[allowed_at_edge(m, e, n)]
        assert (np.abs(n @ normals[around].T) >= cones[around]).all(), ("edge", e)
        seen += len(n)
    assert seen > 100
    if name in ("ball", "bumpy", "pitted"):
        assert narrow, "no normal near the rim: the cones are wider than they need be"
        assert np.median(cones) > 0.6


@pytest.mark.parametrize("name", [*SMOOTH, *_near.SMALL])
def test_rings_hold_the_normals_of_neighbours(name):
    m = mesh(name)
    rings, normals = face_cones(m)[1], m.face_planes[:, :3]
    assert not m.two_sided or not rings.any()
    for v in range(len(m.vertices)):
        around = m.vertex_faces[m.vertex_face_start[v] : m.vertex_face_start[v + 1]]
        rim = np.where(rings[around] > 0.0, rings[around] - 1e-12, -2.0)  # 0: all
        assert (normals[around] @ normals[around].T >= rim[:, None]).all()


@pytest.mark.parametrize("name", ["ball", "bumpy", "waves", "rubble", "terrain"])
def test_nodes_hold_the_cones_of_their_faces(name):
    """Each line of a face's cone, on its rim, is in that of every node over it."""
    m, rng = mesh(name), np.random.default_rng(2)
    tables, cones = nodes_of(m, np.float32).astype(float), face_cones(m)
    tree, at = face_tree(m), 0
    for level, count in enumerate(tree.counts):
        for j in rng.permutation(count)[:6]:
            node = tables[at + j]
            for f in tree.order[j << level : (j + 1) << level][:8]:
                for k in range(2):
                    cosine = cones[k, f]
                    if cosine == 0.0:
                        assert node[NODE["cone"] + k] == 0.0
                    if node[NODE["cone"] + k] == 0.0:  # everything
                        continue
                    axis = m.face_planes[f, :3]
                    side = np.cross(axis, rng.normal(size=(20, 3)))
                    side /= np.linalg.norm(side, axis=1, keepdims=True)
                    rim = cosine * axis + np.sqrt(1 - cosine**2) * side
                    assert (rim @ node[NODE["normal"]] >= node[NODE["cone"] + k]).all()
        at += count


FIELDS = ("pair", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "time_end")


def same(one, other):
    assert np.array_equal(one.status, other.status)
    for name in FIELDS:
        assert np.array_equal(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))), name


def scenes():
    for k, (a, b) in enumerate([("ball", "bumpy"), ("pitted", "ball"), ("bumpy", "bumpy"), ("waves", "ball"),
                                ("waves2", "pitted"), ("inside_out", "stretched"),
                                ("spikes", "car"), ("ball", "can")]):  # fmt: skip
        yield random_impacts(mesh(a), mesh(b), n=4, seed=k, max_turn=[0.0, 0.8, 3.0][k % 3])


def tip():
    """A needle that comes down on a ball of many faces, and turns: contacts of great properness."""
    turn = 2 * np.pi * np.arange(40) / 40
    ring = np.column_stack([0.3 * np.cos(turn), 0.3 * np.sin(turn), 0 * turn])
    sides = [[40, (k + 1) % 40, k] for k in range(40)]
    needle = gc.Mesh(np.concatenate([ring, [[0.0, 0.0, -1.0]]]), [*sides, list(range(40))])
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.02, 0.01, 2.5]], [[1, 0, 0, 0], [1, 0, 0, 0]])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.02, 0.01, 1.6]], [[1, 0, 0, 0], [0.8, 0, 0, 0.6]])
    return gc.Bodies([mesh("ball"), needle], np.array([0, 1], np.int32), start, end), np.array([[0, 1]])


@pytest.mark.parametrize("threshold", [-0.1, 0.0, 0.5])
def test_near_faces_give_the_bits_of_all(backend, threshold):
    found = 0
    args = {"backend": backend.name, "min_properness": threshold, "check_start": False}
    for bodies, pairs in (*scenes(), tip()):
        near = gc.collide(bodies, pairs, tuning=gc.Tuning(features="near"), **args)
        # rows share neither the culling of nodes nor the search through hulls of blocks
        same(near, gc.collide(bodies, pairs, tuning=gc.Tuning(features="all", candidates="raster"), **args))
        found += len(near.time)
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("kind", [*_near.MOTIONS])
def test_near_faces_give_the_bits_of_all_in_any_motion(backend, kind, precision):
    args = {"backend": backend.name, "precision": precision, "check_start": False}
    for seed in range(3):
        scene = _near.scene(kind, 24, seed)
        for threshold in (-1.0, -0.1, 0.0, 0.5):
            asked = scene.bodies(), scene.pairs
            near = gc.collide(*asked, tuning=gc.Tuning(features="near"), min_properness=threshold, **args)
            whole = gc.collide(
                *asked, tuning=gc.Tuning(features="all", candidates="pairs"), min_properness=threshold, **args
            )
            same(near, whole)


def test_cones_leave_faces_out(backend):
    """Otherwise nothing above would show anything."""

    class Scene:
        def __init__(self, bodies, pairs):
            self.bodies, self.pairs = lambda: bodies, pairs

    near = Near(backend, Scene(*random_impacts(mesh("ball"), n=6, seed=1)))
    left = []  # faces: a row may be one, or a node of many
    for q in (-1.0, -0.11, LIMIT):
        rows = near.features(min_properness=q).rows
        left.append(sum((int(bits) & 0xFFFFFFFF).bit_count() for bits in rows[:, 2]))
    assert left[0] == left[1] > 1.1 * left[2] > 0
