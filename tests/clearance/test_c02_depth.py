"""c02_depth: how deep bodies are in each other. Against the Minkowski difference of convex bodies, the
separating axes of boxes, the reference, and what is known by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import gpu_collide as gc
from gpu_collide.bodies import quaternion
from tests.clearance._families import (
    BLOCK,
    BOX,
    NEEDLE,
    ONE,
    STAR,
    TRAY,
    about,
    legs,
    posed,
    quaternions,
    two,
)

BITS = "tests/clearance/test_c02_depth.py"
HIT, OVERLAP = gc.Status.HIT, gc.Status.INITIAL_OVERLAP
KIND = gc.Kind
# : Of depths, in sizes (worst seen in 1,538 pairs of hulls and boxes: 9e-16, of bodies that are not convex
# 2e-14), and of places.
ROUNDING = 1e-13
TORUS = gc.shapes.torus(8, 6)
ROUGH = [BLOCK, STAR, TORUS, gc.shapes.car(), BOX]


def many(rng, n, meshes, spread):
    shape = rng.integers(0, len(meshes), 2 * n)
    p = np.zeros((2 * n, 3))
    p[1::2] = rng.normal(size=(n, 3)) * rng.choice(spread, n)[:, None]
    return posed(meshes, shape, p, quaternions(rng, 2 * n))


def hulls(rng, count):
    made = []
    for _ in range(count):
        x = rng.normal(size=(rng.integers(4, 20), 3))
        made.append(gc.shapes.convex_hull(x / np.linalg.norm(x, axis=1)[:, None] * rng.uniform(0.2, 1.0, 3)))
    return made


def points_of(bodies, body):
    x = bodies.meshes[bodies.shape[body]].vertices
    return quaternion.rotate(bodies.start.quat_wxyz[body], x) + bodies.start.position[body]


def moved(bodies, pairs, found, share, more):
    """B moved along the normals by a share of the depth, and some more."""
    p = bodies.start.position.copy()
    p[pairs[:, 1]] += found.normal * (more - share * found.distance)[:, None]
    return gc.Bodies(bodies.meshes, bodies.shape, *[gc.Poses.from_quat_wxyz(p, bodies.start.quat_wxyz)] * 2)


# -- convex bodies -------------------------------------------------------------------------------------------


@pytest.mark.shared_bits(BITS)
def test_convex_bodies_against_the_facets_of_their_difference(backend):
    rng = np.random.default_rng(0)
    bodies, pairs = many(rng, 60, [*hulls(rng, 12), BOX, NEEDLE, gc.shapes.icosphere(1)], [0.05, 0.3, 0.5])
    found = gc.clearance(bodies, pairs, at=0.0, backend=backend.kind)
    assert (deep := found.status == OVERLAP).sum() > 40
    assert set(found.kind[deep]) == {KIND.FV, KIND.VF, KIND.EE}
    for k in np.flatnonzero(deep):
        a, b = (points_of(bodies, body) for body in pairs[k])
        depth = -ConvexHull((a[:, None] - b[None]).reshape(-1, 3)).equations[:, 3].max()
        assert abs(found.distance[k] + depth) < ROUNDING
        n = found.normal[k]
        assert abs((b @ n).min() - (a @ n).max() - found.distance[k]) < ROUNDING
        assert np.abs(found.point_b[k] - found.point_a[k] - found.distance[k] * n).max() < ROUNDING


def axes_depth(half, p, r):
    """Least overlap of two boxes along all separating axes."""
    axes = [*np.eye(3), *r.T, *(np.cross(x, y) for x in np.eye(3) for y in r.T)]
    least = np.inf
    for n in axes:
        if np.linalg.norm(n) > 1e-9:
            n = n / np.linalg.norm(n)
            least = min(least, half[0] @ np.abs(n) + half[1] @ np.abs(r.T @ n) - abs(p @ n))
    return least


@pytest.mark.parametrize("depth", [1e-6, 1e-3, 0.1, 0.3])
def test_boxes_against_their_separating_axes(depth):
    rng = np.random.default_rng(1)
    n = 12
    sides = rng.uniform(0.3, 2.0, (2 * n, 3))
    q, way = quaternions(rng, 2 * n), rng.normal(size=(n, 3))
    q[0::2] = ONE
    way /= np.linalg.norm(way, axis=1)[:, None]
    matrix = np.array([[quaternion.rotate(x, e) for e in np.eye(3)] for x in q[1::2]]).transpose(0, 2, 1)
    p = np.zeros((2 * n, 3))
    for k in range(n):  # along a way to where the depth is this
        low, high = 0.0, 8.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            far = axes_depth(0.5 * sides[2 * k : 2 * k + 2], middle * way[k], matrix[k]) > depth
            low, high = (middle, high) if far else (low, middle)
        p[2 * k + 1] = low * way[k]
    bodies, pairs = posed([gc.shapes.box(tuple(x)) for x in sides], np.arange(2 * n), p, q)
    found = gc.clearance(bodies, pairs, at=0.0)
    want = [axes_depth(0.5 * sides[2 * k : 2 * k + 2], p[2 * k + 1], matrix[k]) for k in range(n)]
    assert (found.status == OVERLAP).all()
    assert np.abs(found.distance + want).max() < ROUNDING


def test_convex_bodies_moved_by_their_depth_touch():
    rng = np.random.default_rng(2)
    bodies, pairs = many(rng, 100, hulls(rng, 8), [0.1, 0.3])
    found = gc.clearance(bodies, pairs, at=0.0)
    some = found.status == OVERLAP
    pairs, found = pairs[some], found[np.flatnonzero(some)]
    assert (gc.clearance(moved(bodies, pairs, found, 1.0, 1e-9), pairs, at=0.0).distance > 0.0).all()
    before = gc.clearance(moved(bodies, pairs, found, 1.0, -1e-3), pairs, at=0.0).distance
    assert np.abs(before[-found.distance > 1e-3] + 1e-3).max() < 1e-12


# -- all bodies ----------------------------------------------------------------------------------------------


def same(bodies, pairs, motion, backend, at):
    found, slow = (
        gc.clearance(bodies, pairs, at=at, motion=motion, backend=name) for name in (backend, "reference")
    )
    assert found.status.tolist() == slow.status.tolist()
    deep = slow.distance < 0.0
    assert np.abs(found.distance - slow.distance)[deep].max(initial=0.0) < ROUNDING * TORUS.radius
    # whatever is as deep may be told where rounding decides
    told = (
        deep
        & (found.kind == slow.kind)
        & (found.feature_a == slow.feature_a)
        & (found.feature_b == slow.feature_b)
    )
    told &= found.kind != KIND.NONE
    assert told.sum() >= 0.8 * deep.sum()
    for name in ("point_a", "point_b", "normal"):
        assert np.abs(getattr(found, name) - getattr(slow, name))[told].max(initial=0.0) < 1e-11
    return deep.sum()


@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_as_the_reference(motion, backend):
    rng = np.random.default_rng(3)
    start, pairs = many(rng, 6, [BLOCK, STAR, BOX, gc.shapes.car()], [0.3, 0.7])
    end = gc.Poses.from_quat_wxyz(start.start.position + 0.3, quaternions(rng, len(start)))
    bodies = gc.Bodies(start.meshes, start.shape, start.start, end)
    assert same(bodies, pairs, motion, backend.kind, [0.0, 0.4]) > 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_as_the_reference_often(seed):
    bodies, pairs = many(
        np.random.default_rng(10 + seed), 60, [*ROUGH, gc.shapes.icosphere(1)], [0.2, 0.6, 1.0]
    )
    same(bodies, pairs, "relative", "cpu", 0.0)


@pytest.mark.parametrize("way", [1e-5, 1e-3, 0.03])
@pytest.mark.parametrize("mesh", [BOX, BLOCK, gc.shapes.car(), TORUS], ids=["box", "block", "car", "torus"])
def test_no_deeper_than_the_way_since_they_touched(mesh, way):
    """B goes straight into A: what it can be deep is the way behind its first contact, and it is not
    nothing."""
    rng = np.random.default_rng(4)
    n, reach = 40, 4.0 * mesh.radius
    u = rng.normal(size=(n, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    p = np.zeros((2 * n, 3))
    p[1::2] = 0.4 * mesh.radius * rng.normal(size=(n, 3))
    ends = p.copy()
    p[1::2] += reach * u
    ends[1::2] -= reach * u
    q = quaternions(rng, 2 * n)
    bodies = gc.Bodies(mesh, None, gc.Poses.from_quat_wxyz(p, q), gc.Poses.from_quat_wxyz(ends, q))
    pairs = np.arange(2 * n).reshape(-1, 2)
    first = gc.collide(bodies, pairs, contacts="first")
    hit = np.flatnonzero(first.status == HIT)
    p[1::2][hit] += (ends - p)[1::2][hit] * (first.toi[hit] + way * mesh.radius / (2 * reach))[:, None]
    there, _ = posed([mesh], np.zeros(2 * n, int), p, q)
    found = gc.clearance(there, pairs[hit], at=0.0)
    deep = found.status == OVERLAP
    assert deep.sum() > 0.8 * len(hit) > 15
    assert (-found.distance[deep] <= way * mesh.radius * (1 + 1e-9) + 3e-8 * mesh.radius).all()
    assert np.median(-found.distance[deep]) > 0.3 * way * mesh.radius


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_swapped(seed):
    bodies, pairs = many(np.random.default_rng(seed), 8, ROUGH, [0.3, 0.8])
    found, other = (gc.clearance(bodies, x, at=0.0) for x in (pairs, pairs[:, ::-1]))
    assert found.status.tolist() == other.status.tolist()
    some = found.distance < 0.0
    # a reach is measured in bodies that are moved by 2.5e-8 of the size, one of them
    off = np.where(found.kind == KIND.NONE, 1e-6, ROUNDING) * TORUS.radius
    assert (np.abs(found.distance - other.distance)[some] <= off[some]).all()


def test_continuous_through_touch():
    """A box on its way into another, edge first: the distance falls by the way, through 0."""
    turn = np.array([np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)])
    reach = 0.5 + np.sqrt(0.5)
    for gap in (1e-3, 1e-6, 1e-8, 1e-10, 0.0, -1e-10, -1e-8, -1e-6, -1e-3):
        found = two(BOX, BOX, [reach + gap, 0.1, 0.05], turn)
        assert abs(found.distance[0] - gap) < 1.1e-11, gap
        assert found.status[0] == (gc.Status.MISS if gap > 1e-11 else HIT if gap > -1e-7 else OVERLAP)
        assert np.allclose(found.normal[0], [1, 0, 0], atol=1e-9)


# -- by hand -------------------------------------------------------------------------------------------------


def test_aligned_boxes():
    """Faces on faces: a vertex of B is at the border of A's face, which counts."""
    found = two(BOX, BOX, [0.75, 0.5, 0.25])
    assert found.distance.tolist() == found.lower_bound.tolist() == [-0.25]
    assert found.normal.tolist() == [[1, 0, 0]]
    assert found.kind[0] == KIND.FV


@pytest.mark.filterwarnings("ignore:all 1 pairs overlap")
def test_equal_depths_go_to_the_first_features():
    """Cubes at the same place: all six ways out are as deep."""
    found = two(BOX, BOX, [0.0, 0.0, 0.0])
    assert found.distance.tolist() == [-1.0]
    assert (found.kind[0], found.feature_a[0]) == (KIND.FV, 0)
    assert found.normal[0].tolist() == BOX.face_planes[0, :3].tolist()
    again = two(BOX, BOX, [1e-13, 0.0, -1e-13])
    assert again.feature_a[0] == 0
    assert again.feature_b[0] == found.feature_b[0]


@pytest.mark.parametrize("where", ["cpu", "reference"])
@pytest.mark.parametrize("gap", [0.0, 1e-12, 5e-12, -1e-12])
def test_touch_is_nothing(gap, where):
    """Faces a hair apart touch: the way out is not another one, through the body."""
    found = two(BOX, BOX, [1.0 + gap, 0.3, 0.2], backend=where)
    assert found.status.tolist() == [HIT]
    assert abs(found.distance[0]) <= 1e-11


def test_needle():
    """A needle, point first in a cube: what is in there counts, not how thick it is."""
    point = gc.Mesh(
        [[0, 0, 0], [1, 0.01, 0], [1, -0.01, 0.01], [1, 0, -0.01]],
        [[0, 2, 1], [0, 3, 2], [0, 1, 3], [3, 1, 2]],
    )
    found = two(BOX, point, [0.4, 0.1, 0.2])
    assert found.distance == pytest.approx(-0.1, abs=ROUNDING)
    assert found.normal.tolist() == [[1, 0, 0]]
    assert found.kind[0] == KIND.FV


def test_crossed_bars():
    """Edge on edge, 0.05 deep."""
    bar = gc.shapes.box((4.0, 0.5, 0.5))
    c, s = np.cos(np.pi / 8), np.sin(np.pi / 8)
    lying, across = (
        np.array([c, s, 0, 0]),
        quaternion.multiply(np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), np.array([c, s, 0, 0])),
    )
    bodies, pairs = posed(
        [bar], [0, 0], np.array([[0, 0, 0], [0.1, 0.2, np.sqrt(0.5) - 0.05]]), np.array([lying, across])
    )
    found = gc.clearance(bodies, pairs, at=0.0)
    assert found.distance == pytest.approx(-0.05, abs=ROUNDING)
    assert found.kind[0] == KIND.EE
    assert np.allclose(found.normal, [[0, 0, 1]], atol=ROUNDING)


def test_nested():
    inner = gc.shapes.box((0.1, 0.1, 0.1))
    assert two(BOX, inner, [0.3, 0.1, 0.0]).distance == pytest.approx(-0.25, abs=ROUNDING)
    assert two(inner, BOX, [0.3, 0.1, 0.0]).distance == pytest.approx(-0.25, abs=ROUNDING)
    # in a body that is not convex: out through the nearest face
    deep = two(STAR, gc.shapes.box((0.02, 0.02, 0.02)), [0.0, 0.0, 0.0])
    assert deep.status[0] == OVERLAP
    assert -deep.distance[0] > 0.02


def test_a_bar_through_a_plate():
    plate = gc.shapes.box((4.0, 4.0, 0.2))
    bar = gc.shapes.box((0.2, 0.2, 3.0))
    found = two(plate, bar, [0.3, 0.1, 0.4])
    # both are convex: half of the bar, half of the plate, less what it is off
    assert found.distance == pytest.approx(-(1.5 + 0.1 - 0.4), abs=ROUNDING)
    # in the leg of a table there is no pair of features that belongs to the place: whole bodies
    found = two(plate, legs(3.0), [0.0, 0.0, 0.4])
    assert found.kind[0] == KIND.NONE
    assert found.feature_a[0] == found.feature_b[0] == -1
    assert np.linalg.norm(found.normal[0]) == pytest.approx(1.0)
    bodies, pairs = posed(
        [plate, legs(3.0)], [0, 1], np.array([[0.0, 0, 0], [0, 0, 0.4]]), np.tile(ONE, (2, 1))
    )
    assert gc.clearance(moved(bodies, pairs, found, 1.0, 1e-6), pairs, at=0.0).distance[0] > 0.0


def test_a_thin_sheet_is_as_deep_as_it_is_thick():
    sheet = gc.shapes.box((2.0, 2.0, 0.01))
    for z, depth in ((0.5025, 0.0025), (0.5, 0.005), (0.4975, 0.0075)):
        assert two(BOX, sheet, [0.0, 0.0, z]).distance == pytest.approx(-depth, abs=ROUNDING)


def test_open_and_two_sided_bodies_have_no_depth():
    for mesh in (TRAY, gc.Mesh(BOX.vertices, BOX.faces, two_sided=True)):
        found = two(mesh, BOX, [0.3, 0.1, 0.2])
        assert found.distance.tolist() == [0.0]
        assert found.kind.tolist() == [KIND.NONE]
        assert found.normal.tolist() == [[0, 0, 0]]
        assert not found.status[0] == gc.Status.MISS


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e6, 1e12])
def test_tiny_and_huge(scale):
    for mesh in (BOX, BLOCK):
        at = np.array([0.3, 0.2, 0.4])
        base = two(mesh, mesh, at)
        found = two(mesh.scaled(scale), mesh.scaled(scale), scale * at)
        assert found.distance == pytest.approx(scale * base.distance, rel=1e-11)
        assert np.allclose(found.normal, base.normal, atol=1e-11)


def test_far_from_the_origin():
    """Positions are subtracted first: only what the caller's numbers lost is lost."""
    rng = np.random.default_rng(5)
    bodies, pairs = many(rng, 40, [BOX, BLOCK, STAR], [0.4])
    base = gc.clearance(bodies, pairs, at=0.0)
    far = bodies.start.position + 2.0**20
    rounded, _ = posed(bodies.meshes, bodies.shape, far - 2.0**20, bodies.start.quat_wxyz)
    want = gc.clearance(rounded, pairs, at=0.0)
    found = gc.clearance(posed(bodies.meshes, bodies.shape, far, bodies.start.quat_wxyz)[0], pairs, at=0.0)
    assert found.status.tolist() == want.status.tolist()
    assert np.abs(found.distance - want.distance)[found.status == OVERLAP].max() < 1e-12
    assert (
        np.abs(found.distance - base.distance)[(found.status == OVERLAP) & (base.status == OVERLAP)].max()
        < 1e-9
    )


def test_single_precision():
    bodies, pairs = many(np.random.default_rng(6), 60, [BOX, BLOCK], [0.3])
    found, exact = (gc.clearance(bodies, pairs, at=0.0, precision=p) for p in ("single", "double"))
    both = (found.status == OVERLAP) & (exact.status == OVERLAP)
    assert both.sum() > 30
    off = np.abs(found.distance - exact.distance)[both]
    assert np.sort(off)[: int(0.95 * len(off))].max() < 2e-5


def test_chunks_have_the_same_bits():
    bodies, pairs = many(np.random.default_rng(7), 200, ROUGH, [0.4])
    found = gc.clearance(bodies, pairs, at=[0.0, 1.0])
    small = gc.clearance(bodies, pairs, at=[0.0, 1.0], max_bytes=1 << 20)
    for name in ("distance", "kind", "feature_a", "feature_b", "point_a", "point_b", "normal"):
        assert np.array_equal(getattr(found, name), getattr(small, name))


def test_saved_and_loaded(tmp_path):
    found = two(gc.shapes.box((4.0, 4.0, 0.2)), legs(3.0), [0.0, 0.0, 0.4])
    found.save(tmp_path / "deep.npz")
    again = gc.Clearance.load(tmp_path / "deep.npz")
    assert again.distance.tolist() == found.distance.tolist()
    assert found.to_rows() if hasattr(found, "to_rows") else True


def test_pairs_that_overlap_when_the_step_begins():
    """The line of the guide: of a collision query's pairs those that overlap, and how deep."""
    bodies, pairs = many(np.random.default_rng(8), 30, [BOX, BLOCK], [0.5])
    contacts = gc.collide(bodies, pairs)
    deep = gc.clearance(bodies, contacts.pairs[contacts.status == OVERLAP], at=0.0)
    assert len(deep) > 10
    assert (deep.status == OVERLAP).all()
    assert (deep.distance < 0.0).all()


def test_whole_numbers():
    """Blocks, tables and boxes on a grid, all faces parallel, many in each other's planes: what only touches
    is no depth."""
    rng = np.random.default_rng(1)
    n = 60
    meshes = [BOX, BLOCK, legs(1.0), legs(0.5, 0.75), gc.shapes.box((2.0, 0.5, 0.25))]
    p = np.zeros((2 * n, 3))
    p[1::2] = 0.25 * rng.integers(-4, 5, (n, 3))
    quarters = about(np.eye(3)[rng.integers(0, 3, 2 * n)], 0.5 * np.pi * rng.integers(0, 4, 2 * n))
    bodies, pairs = posed(meshes, rng.integers(0, 5, 2 * n), p, quarters)
    found, slow = (gc.clearance(bodies, pairs, at=0.0, backend=name) for name in ("cpu", "reference"))
    deep = found.status == OVERLAP
    assert deep.sum() > 8
    assert found.status.tolist() == slow.status.tolist()
    assert np.abs(found.distance - slow.distance)[deep].max() < ROUNDING
    assert (found.distance[deep] < -0.01).all()
