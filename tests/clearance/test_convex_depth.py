"""gc_deep_convex: the least depth of convex bodies of many shapes and sizes, against the facets of their
Minkowski difference."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import gpu_collide as gc
from tests.clearance._families import BOX, NEEDLE, ONE, about, quaternions
from tests.clearance.test_c02_depth import OVERLAP, points_of, posed

BITS = "tests/clearance/test_convex_depth.py"
PLATE = gc.shapes.box((1.0, 0.7, 0.001))
ROUND = gc.shapes.icosphere(1)
CONE = gc.shapes.convex_hull([[0, 0, 1], *([np.cos(t), np.sin(t), 0] for t in np.linspace(0, 6, 40))])
TETRAHEDRON = gc.shapes.convex_hull([[-0.3, -0.3, -0.3], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
PRISM = gc.shapes.convex_hull([[np.cos(t), np.sin(t), z] for t in np.arange(7) for z in (-0.4, 0.4)])
#: Of depths, in units of the scale; worst seen, on 270 pairs of these families: 1.0e-15.
ROUNDING = 1e-13


def families(rng):
    """Name, meshes, places of B seen from A, turns."""
    n = 8
    u = rng.normal(size=(n, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    whole = 0.25 * rng.integers(-3, 4, (n, 3))
    quarters = about(np.eye(3)[rng.integers(0, 3, 2 * n)], 0.5 * np.pi * rng.integers(0, 4, 2 * n))
    free, straight = quaternions(rng, 2 * n), np.tile(ONE, (2 * n, 1))
    yield "aligned cubes", [BOX, BOX], whole, quarters
    yield "equal, at one place", [CONE, CONE], 0 * u, straight
    yield "same centre, turned", [ROUND, ROUND], 0 * u, free
    yield "nested", [ROUND, BOX.scaled(0.1)], 0.5 * u, free
    yield "needles", [NEEDLE, NEEDLE], 0.002 * u, free
    yield "needle in a cube", [NEEDLE, BOX], 0.4 * u, free
    yield "plates", [PLATE, PLATE], 0.0004 * u, straight
    yield "plates across", [PLATE, PLATE], 0.2 * u, free
    yield "cones", [CONE, ROUND], 0.6 * u, free
    yield "shallow", [ROUND, CONE], 1.1 * u, free
    yield "few edges", [PRISM, TETRAHEDRON], 0.5 * u, free
    yield "few edges, aligned", [PRISM, BOX], whole, straight


@pytest.mark.filterwarnings("ignore:all 8 pairs overlap")
@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_least_translation_of_all_families(scale, backend):
    told = 0
    for name, meshes, places, turns in families(np.random.default_rng(7)):
        p = np.zeros((2 * len(places), 3))
        p[1::2] = scale * places
        bodies, pairs = posed([m.scaled(scale) for m in meshes], np.tile([0, 1], len(places)), p, turns)
        found = gc.clearance(bodies, pairs, at=0.0, backend=backend.kind)
        for k in np.flatnonzero(found.status == OVERLAP):
            a, b = (points_of(bodies, body) / scale for body in pairs[k])
            facets = ConvexHull((a[:, None] - b[None]).reshape(-1, 3)).equations
            depth = -facets[:, 3].max()
            assert abs(found.distance[k] / scale + depth) < ROUNDING, name
            n = found.normal[k]
            assert abs((b @ n).min() - (a @ n).max() - found.distance[k] / scale) < ROUNDING, name
            told += 1
    assert told > 50


@pytest.mark.filterwarnings("ignore:all .* pairs overlap")
def test_same_bits_of_all_families(backend):
    for name, meshes, places, turns in families(np.random.default_rng(8)):
        p = np.zeros((2 * len(places), 3))
        p[1::2] = places
        bodies, pairs = posed(meshes, np.tile([0, 1], len(places)), p, turns)
        one, other = (gc.clearance(bodies, pairs, at=0.0, backend=kind) for kind in ("cpu", backend.kind))
        for field in ("distance", "kind", "feature_a", "feature_b", "point_a", "point_b", "normal"):
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), (name, field)


@pytest.mark.filterwarnings("ignore:all 12 pairs overlap")
@pytest.mark.parametrize("far", [0.0, 0.3, 1.9])
def test_many_faces_against_their_difference(far):
    """Faces of which the search leaves most out."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=(60, 3))
    body = gc.shapes.convex_hull(x / np.linalg.norm(x, axis=1)[:, None])
    u = rng.normal(size=(12, 3))
    p = np.zeros((24, 3))
    p[1::2] = far * u / np.linalg.norm(u, axis=1)[:, None]
    bodies, pairs = posed([body], np.zeros(24, int), p, quaternions(rng, 24))
    found = gc.clearance(bodies, pairs, at=0.0)
    some = np.flatnonzero(found.status == OVERLAP)
    assert len(some) > 3
    for k in some:
        a, b = (points_of(bodies, each) for each in pairs[k])
        depth = -ConvexHull((a[:, None] - b[None]).reshape(-1, 3)).equations[:, 3].max()
        assert abs(found.distance[k] + depth) < ROUNDING


def lid(n, off, rng):
    """A box whose top is a grid of triangles, the heights of its corners off by so much; its sides are
    polygons with straight corners."""
    x = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, n)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    top = np.column_stack([x, 0.5 + off * rng.uniform(size=len(x))])
    low = [[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, 0.5, -0.5]]
    at, c = np.arange(n * n).reshape(n, n), n * n + np.arange(4)
    quads = zip(at[:-1, :-1].flat, at[1:, :-1].flat, at[1:, 1:].flat, at[:-1, 1:].flat, strict=True)
    faces = [f for a, b, d, e in quads for f in ((a, b, d), (a, d, e))] + [c[::-1]]
    rims = at[::-1, 0], at[-1, ::-1], at[:, -1], at[0]
    faces += [[c[k], c[(k + 1) % 4], *rim] for k, rim in enumerate(rims)]
    return gc.Mesh(np.concatenate([top, low]), faces)


@pytest.mark.filterwarnings("ignore:all .* pairs overlap")
@pytest.mark.parametrize("off", [0.0, 1e-12, 5e-11])
def test_corners_within_faces_and_edges(off, backend):
    """Found by random bodies: a corner within a face, all of whose edges are level, was taken for one that
    leads into the solid, and one within an edge, of which no edge goes down, as well; so boxes that are
    divided finely and stand level were 0 deep in each other. Where no pair of features is proper, since
    surfaces are convex within rounding only, it is the least translation along a face."""
    rng, n = np.random.default_rng(4), 300
    meshes = [lid(9, off, rng), BOX, gc.shapes.icosphere(2)]
    shape = np.column_stack([np.zeros(n, int), rng.integers(0, 3, n)]).reshape(-1)
    p = np.zeros((2 * n, 3))
    p[1::2] = rng.integers(-2, 3, (n, 3)) * 0.25
    slopes = rng.uniform(size=n) < 0.7
    p[1::2, 2] = np.where(slopes, rng.uniform(0.5, 1.2, n), p[1::2, 2])
    turns = ONE + 1e-9 * rng.normal(size=(2 * n, 4)) * np.repeat(slopes, 2)[:, None]
    bodies, pairs = posed(meshes, shape, p, turns)
    found = gc.clearance(bodies, pairs, at=0.0, backend=backend.kind)
    some = np.flatnonzero(found.status == OVERLAP)
    bare = some[found.kind[some] == gc.Kind.NONE]
    assert len(some) > 250 and (len(bare) > 0) == (off > 1e-11)
    for k in np.concatenate([some[::8], bare]):
        a, b = (points_of(bodies, each) for each in pairs[k])
        depth = -ConvexHull((a[:, None] - b[None]).reshape(-1, 3)).equations[:, 3].max()
        assert abs(found.distance[k] + depth) < ROUNDING + 30 * off, k  # normals are off by eight times that
    few = np.concatenate([some[:2], bare[:1]])
    slow = gc.clearance(bodies, pairs[few], at=0.0, backend="reference")
    assert np.abs(slow.distance - found.distance[few]).max() < ROUNDING + 30 * off
