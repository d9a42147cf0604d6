"""Stage b06: joined meshes hold what the reference builds from the whole mesh, table by table."""

import numpy as np
import pytest

from gpu_collide._options import Options
from gpu_collide.reference.narrow_phase.b06_gather import joined
from tests.broad_phase import _near
from tests.broad_phase._near_launch import TABLES, Near, Parts
from tests.narrow_phase._launch import sharing

ROUNDING = {"mixed": 6e-8, "single": 6e-8, "double": 2e-15}


def patches_of(near, k):
    """First part and number of patches of mesh k."""
    return int(near.trees[k, 2]), -(-int(near.trees[k, 0]) // 32)


def compare(parts, part, mesh, answer):
    """Are all index tables of a part those of the answer?"""
    nv, ne, nf = (len(answer[f"source_{x}"]) for x in ("vertices", "edges", "faces"))
    assert parts.headers[part, :3].tolist() == [nv, ne, nf]
    assert parts.headers[part, 17:19].tolist() == [mesh.two_sided, mesh.closed]
    for name in TABLES:
        got = parts.table(part, name)
        assert got is not None and np.array_equal(got, answer[name]), name


@pytest.mark.parametrize("name", ["block", "terrain", "rubble", "huge", "book", "drum", "ribbon65", "one"])
def test_cut_into_patches(backend, name):
    """Every patch alone; entries that lead to other patches are looked at in the test of all of them."""
    near = Near(backend, _near.scene("still", 1, names=(name,)))
    mesh = near.bodies.meshes[0]
    first, n = patches_of(near, 0)
    order = near.order(0)
    assert sorted(order.tolist()) == list(range(mesh.n_faces))
    seen = {"vertices": [], "edges": []}
    for p in range(n):
        answer = joined(mesh, order, [p])
        part = first + p
        for table in set(TABLES) - {"near_faces", "edge_faces", "vertex_edges", "vertex_faces"}:
            assert np.array_equal(near.parts.table(part, table), answer[table]), table
        for what, start in (("vertices", "vertex_face_start"), ("edges", "edge_face_start")):
            owned = np.diff(near.parts.table(part, start)) > 0
            seen[what] += near.parts.table(part, f"source_{what}")[owned].tolist()
    assert sorted(seen["edges"]) == list(range(mesh.n_edges)), "each edge belongs to one patch"
    assert sorted(seen["vertices"]) == np.unique(mesh.face_vertices).tolist()


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("kind", ["impact", "axis", "copies", "half_turn", "slides"])
def test_joined_meshes(backend, kind, precision):
    scene = _near.slides(8) if kind == "slides" else _near.scene(kind, 8, seed=1)
    partial = check(Near(backend, scene, precision))
    assert partial or kind == "half_turn", "some patches of a mesh are left out"


def test_groups_that_share_an_entry(backend):
    check(Near(sharing(backend), _near.scene("axis", 3, names=("block", "terrain"))))


def check(near):
    """Items of all pairs against patches listed by a launch of b05 of its own; how many lack a patch."""
    listed = near.features(min_properness=Options().min_properness)  # that of the items
    items = near.items()
    be = near.backend
    rows = be.to_host(items.items).reshape(-1, 3)
    found = Parts.of(be, items.tables)
    pairs = sorted({int(r) >> 1 for r in listed.rows[:, 0]})
    assert rows[:, 0].tolist() == pairs and items.todo.n == len(pairs) > 0
    assert np.array_equal(np.sort(rows[:, 1:].reshape(-1)), np.arange(2 * len(pairs)))
    partial = 0
    for pair, *sides in rows.tolist():
        for side, part in enumerate(sides):
            k = int(near.shapes[pair, side])
            mesh = near.bodies.meshes[k]
            masks = near.masks(listed, pair, side)
            patches = sorted(masks)
            partial += len(patches) < patches_of(near, k)[1]
            answer = joined(mesh, near.order(k), patches, [masks[p] for p in patches])
            compare(found, part, mesh, answer)
            _rasters(near, found, part, answer)
    assert items.largest.tolist() == found.headers[:, :3].max(axis=0).tolist()
    return partial


def _rasters(near, found, part, answer):
    """Vertices up to one shift for all, normals and lengths to rounding."""
    vertices, normals, inverse = found.rasters(part)
    eps = ROUNDING[near.stages.precision]
    assert np.abs(normals - answer["normals"]).max() <= eps
    assert np.abs(inverse / answer["inverse_length"] - 1).max() <= 2 * eps
    shift = vertices.astype(float) - answer["vertices"]
    size = max(np.abs(vertices).max(), np.abs(answer["vertices"]).max())
    assert np.ptp(shift, axis=0).max() <= 4 * eps * size
