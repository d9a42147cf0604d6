"""Stage c04: contacts at a pose of cylinders and cones, against closed forms, prisms around and inside them,
the reference, and what is promised."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend
from gpu_collide.pipeline import frusta
from tests.support.seeds import generator

ONE, UP = [1.0, 0.0, 0.0, 0.0], [0.5**0.5, 0.5**0.5, 0.0, 0.0]
CAN = gc.shapes.cylinder(0.5, 1.0)
FLOOR = gc.shapes.box((4, 4, 1))
OTHERS = {
    "box": gc.shapes.box((1.0, 0.6, 0.4)),
    "hull": gc.shapes.icosphere(0),
    "rounded": gc.shapes.rounded_box((1.0, 0.6, 0.4), 0.1),
    "sphere": gc.shapes.sphere(0.5),
    "capsule": gc.shapes.capsule(0.3, 1.0),
    "block": gc.shapes.l_block(),
    "sheet": gc.Mesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0.2]], [[0, 1, 2], [0, 2, 3]]),
}
CONVEX = ("box", "hull", "rounded", "sphere", "capsule", "can")

pytestmark = pytest.mark.shared_bits("tests/clearance/test_c04_frusta.py")


def unit(rng, n, k):
    x = rng.normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def cylinders_and_cones(rng, n=9):
    h, r = rng.uniform(0.1, 0.7, n), rng.uniform(0.1, 0.6, n)
    ends = [
        (x, x * (1.0, 0.0, y)[k % 3])
        for k, (x, y) in enumerate(zip(r, rng.uniform(0.2, 1.5, n), strict=True))
    ]
    return [gc.Mesh([[0, 0, -z], [0, 0, z]], [], ends=e) for z, e in zip(h, ends, strict=True)]


def scattered(kind, n, seed, whole=False):
    """Bodies two by two, B a cylinder or a cone, and their pairs, every other one turned."""
    rng = generator(seed, n)
    some = cylinders_and_cones(rng)
    others = some if kind == "can" else [OTHERS[kind]]
    at, q = np.zeros((2 * n, 3)), unit(rng, 2 * n, 4)
    at[1::2] = unit(rng, n, 3) * rng.uniform(0.4, 1.2, n)[:, None]
    if whole:
        at, q = np.round(4 * at) / 4, np.round(2 * q)
        q[~q.any(axis=1)] = ONE
        q /= np.linalg.norm(q, axis=1)[:, None]
    shape = np.empty(2 * n, int)
    shape[::2], shape[1::2] = rng.integers(0, len(others), n), len(others) + rng.integers(0, 9, n)
    pairs = np.arange(2 * n).reshape(n, 2)
    pairs[1::2] = pairs[1::2, ::-1]
    return [*others, *some], shape, gc.Poses.from_quat_wxyz(at, q), pairs


def prism(mesh, around, sides=32):
    if mesh.ends is None:
        return mesh
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) / (
        np.cos(np.pi / sides) if around else 1
    )
    ends = zip(mesh.vertices, mesh.ends, strict=True)
    return gc.shapes.convex_hull(np.concatenate([c + r * ring if r else c[None] for c, r in ends]))


def at(meshes, position, quat=None, margin=0.01, backend="cpu", **how):
    poses = gc.Poses.from_quat_wxyz(position, [ONE] * len(position) if quat is None else quat)
    bodies = gc.Bodies(meshes, list(range(len(meshes))), poses, poses)
    return gc.contacts_at(bodies, margin=margin, backend=backend, **how)


def engines(backend):
    return (backend.kind, "reference") if backend.kind == "cpu" else (backend.kind,)


def nearest(found, n):
    least = np.full(n, np.inf)
    np.minimum.at(least, found.pair, found.distance)
    return least


# -- closed forms --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("height", [0.501, 0.5, 0.499])
def test_a_can_that_stands_has_four_points_of_its_rim(backend, height):
    for engine in engines(backend):
        stands(at([FLOOR, CAN], [[0, 0, -0.5], [0.2, 0.1, height]], backend=engine), height)


def stands(found, height):
    points = found.manifolds()
    assert len(points) == 4 and np.abs(points.distance - (height - 0.5)).max() < 1e-15
    assert np.abs(points.normal - [0, 0, 1]).max() < 1e-15
    off = points.point_b[:, :2] - [0.2, 0.1]
    assert np.abs(np.linalg.norm(off, axis=1) - 0.5).max() < 1e-15
    assert np.allclose(np.sort(np.arctan2(off[:, 1], off[:, 0])), np.pi / 2 * np.arange(-1, 3))
    status = {0.501: gc.Status.MISS, 0.5: gc.Status.HIT, 0.499: gc.Status.INITIAL_OVERLAP}[height]
    assert (found.status == status).all()


def test_a_can_on_its_side_has_the_ends_of_its_line(backend):
    on = at([FLOOR, CAN], [[0, 0, -0.5], [0.2, 0.1, 0.499]], [ONE, UP], backend=backend.kind).manifolds()
    assert sorted(on.point_b.round(12).tolist()) == [[0.2, -0.4, -0.001], [0.2, 0.6, -0.001]]
    assert on.feature_b.tolist() in ([0, 1], [1, 0])
    # over the border of the box it ends there
    over = at([FLOOR, CAN], [[0, 0, -0.5], [0.2, 1.8, 0.499]], [ONE, UP], backend=backend.kind).manifolds()
    assert sorted(over.point_b.round(12).tolist()) == [[0.2, 1.3, -0.001], [0.2, 2.0, -0.001]]


def test_a_tilted_can_has_its_lowest_point_and_what_is_as_near_as_the_margin(backend):
    tilt = 0.05
    q = [np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0]
    low = 0.5 * np.cos(tilt) + 0.5 * np.sin(tilt)
    for margin, n in ((0.005, 1), (0.06, 4)):
        found = at([FLOOR, CAN], [[0, 0, -0.5], [0, 0, low - 1e-3]], [ONE, q], margin, backend.kind)
        points = found.manifolds()
        assert len(points) == n and abs(points.distance[0] + 1e-3) < 1e-15
        assert abs(points.point_b[0, 1] + np.cos(tilt) * 0.5 - np.sin(tilt) * 0.5) < 1e-15


def test_cans_on_each_other(backend):
    how = {"backend": backend.kind}
    on = at([CAN, CAN], [[0, 0, 0], [0.3, 0.4, 0.999]], **how).manifolds()
    assert len(on) == 4 and np.abs(on.distance + 1e-3).max() < 1e-15
    # all of what two circles half a unit apart have in common
    assert np.linalg.norm(on.point_a[:, :2], axis=1).max() < 0.5 + 1e-12
    assert np.linalg.norm(on.point_a[:, :2] - [0.3, 0.4], axis=1).max() < 0.5 + 1e-12
    beside = at([CAN, CAN], [[0, 0, 0], [0.6, 0.8, 0.3]], **how).manifolds()
    assert sorted(beside.point_a[:, 2].round(12)) == [-0.2, 0.5] and np.abs(beside.distance).max() < 1e-15
    across = at([CAN, CAN], [[0, 0, 0], [1.001, 0, 0]], [ONE, UP], **how).manifolds()
    assert len(across) == 1 and across.kind[0] == gc.Kind.EE
    assert np.allclose(across.point_a, [[0.5, 0, 0]]) and abs(across.distance[0] - 1e-3) < 1e-15


@pytest.mark.parametrize("ground", ["triangles", "closed", "two sided"])
def test_ground_of_many_triangles(backend, ground):
    """Flat edges make no points; a can that has sunk in is pushed out along the ground's normal."""
    x = np.linspace(-2, 2, 5)
    grid = np.stack(np.meshgrid(x, x, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    k = [5 * i + j for i in range(4) for j in range(4)]
    faces = [f for c in k for f in ([c, c + 5, c + 6], [c, c + 6, c + 1])]
    mesh = gc.Mesh(grid, faces, two_sided=ground == "two sided")
    if ground == "closed":
        mesh = gc.Mesh(FLOOR.vertices - [0, 0, 0.5], FLOOR.faces)
    for height, quat, n in ((0.499, ONE, 4), (0.501, ONE, 4), (0.499, UP, 2)):
        points = at(
            [mesh, CAN], [[0, 0, 0], [0.13, 0.1, height]], [ONE, quat], backend=backend.kind
        ).manifolds()
        assert len(points) == n and np.abs(points.distance - (height - 0.5)).max() < 1e-15
        assert np.abs(points.normal - [0, 0, 1]).max() < 1e-15


def test_a_groove_holds_a_can_at_both_walls(backend):
    """Of an L-shaped trough turned by 45 degrees: a region for each wall."""
    walls = gc.Mesh([[0, -2, 0], [2, -2, 2], [2, 2, 2], [0, 2, 0], [-2, -2, 2], [-2, 2, 2]],
                    [[0, 1, 2, 3], [0, 3, 5, 4]])  # fmt: skip
    points = at(
        [walls, CAN], [[0, 0, 0], [0, 0, 0.5 * 2**0.5 - 1e-3]], [ONE, UP], backend=backend.kind
    ).manifolds()
    assert len(points) == 4 and points.region.tolist() == [0, 0, 1, 1]
    assert np.abs(points.distance + 1e-3 * 0.5**0.5).max() < 1e-15


# -- judges --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", CONVEX)
@pytest.mark.parametrize("whole", [False, True])
def test_distances_lie_between_those_of_prisms(kind, whole):
    """Prisms of 32 sides inside and around, which know distance and depth of convex bodies. What is in each
    other by more than a third of its size is left out: there a way may be told that is not the least (1 of
    3,000, by 1e-3)."""
    meshes, shape, poses, pairs = scattered(kind, 40, 11, whole)
    bodies = gc.Bodies(meshes, shape, poses, poses)
    found = gc.contacts_at(bodies, pairs, margin=0.5, backend="cpu")
    least = nearest(found, len(pairs))
    low, high = (
        gc.clearance(
            gc.Bodies([prism(m, around) for m in meshes], shape, poses, poses), pairs, at=0.0, backend="cpu"
        ).distance
        for around in (True, False)
    )  # fmt: skip
    told = np.isfinite(least) & (low > -0.3)
    assert told.sum() >= 8
    assert (least[told] > low[told] - 1e-9).all() and (least[told] < high[told] + 1e-9).all()
    assert (low[~np.isfinite(least)] > 0.48).all()
    rows = np.isfinite(found.distance)
    off = found.point_b - found.point_a - np.where(rows, found.distance, 0.0)[:, None] * found.normal
    assert np.abs(off[rows]).max() < 1e-14  # worst seen 4.5e-16


@pytest.mark.parametrize("kind", [*OTHERS, "can"])
@pytest.mark.parametrize("whole", [False, True])
def test_places_are_those_of_the_reference(kind, whole):
    """Worst seen of 60 pairs each, at random and in whole numbers: distances 1.2e-9, where the reference has
    zoomed in on a direction, and 1e-15 else."""
    meshes, shape, poses, pairs = scattered(kind, 6, 5, whole)
    bodies = gc.Bodies(meshes, shape, poses, poses)
    found, want = (gc.contacts_at(bodies, pairs, margin=0.3, backend=b) for b in ("cpu", "reference"))
    order = [np.lexsort([x.feature_b, x.feature_a, x.kind, x.pair]) for x in (found, want)]
    for name in ("pair", "status", "kind", "feature_a", "feature_b"):
        assert np.array_equal(getattr(found, name)[order[0]], getattr(want, name)[order[1]]), name
    near = np.isfinite(found.distance[order[0]])
    for name, tol in (("distance", 1e-8), ("point_a", 1e-4), ("normal", 1e-4)):
        off = getattr(found, name)[order[0]][near] - getattr(want, name)[order[1]][near]
        assert np.abs(off).max(initial=0.0) < tol, name


@pytest.mark.parametrize("kind", ["box", "block", "can"])
def test_a_scene_turned_or_told_in_another_order_has_the_same_contacts(kind):
    meshes, shape, poses, pairs = scattered(kind, 40, 7)
    found = gc.contacts_at(gc.Bodies(meshes, shape, poses, poses), pairs, margin=0.2, backend="cpu")
    turn = gc.Poses.from_quat_wxyz([[3.0, -2.0, 1.0]], unit(generator(7, 1), 1, 4))
    moved = turn @ poses
    again = gc.contacts_at(gc.Bodies(meshes, shape, moved, moved), pairs, margin=0.2, backend="cpu")
    other = gc.contacts_at(gc.Bodies(meshes, shape, poses, poses), pairs[:, ::-1], margin=0.2, backend="cpu")
    assert np.allclose(nearest(again, len(pairs)), nearest(found, len(pairs)), rtol=0, atol=1e-12)
    assert len(other) == len(found)
    for name, pair in (("distance", "distance"), ("point_a", "point_b"), ("feature_a", "feature_b")):
        rows = [
            np.lexsort([x, y, found_.pair])
            for found_, x, y in (
                (found, found.feature_a, found.feature_b),
                (other, other.feature_b, other.feature_a),
            )
        ]
        a, b = getattr(found, name)[rows[0]], getattr(other, pair)[rows[1]]
        near = np.isfinite(found.distance[rows[0]])
        # positions are told from those of A; of two cylinders the first sees the other
        assert np.abs(a[near] - b[near]).max() < (1e-7 if kind == "can" else 1e-14), name


# -- what is promised ----------------------------------------------------------------------------------------
def test_all_backends_have_the_same_bits(backend):
    if backend.kind in ("reference", "cpu"):
        pytest.skip("others are compared with cpu")
    for kind in (*OTHERS, "can"):
        meshes, shape, poses, pairs = scattered(kind, 24, 3)
        bodies = gc.Bodies(meshes, shape, poses, poses)
        found, want = (gc.contacts_at(bodies, pairs, margin=0.3, backend=b) for b in (backend.kind, "cpu"))
        for name in ("pair", "kind", "feature_a", "feature_b", "distance", "point_a", "point_b", "normal"):
            assert np.array_equal(getattr(found, name), getattr(want, name)), (kind, name)


def test_neither_room_nor_pieces_change_places(monkeypatch):
    meshes, shape, poses, pairs = scattered("block", 30, 9)
    stand, margin = gc.Bodies(meshes, shape, poses, poses), np.full(30, 0.3)
    want = frusta.FrustumPlaces(get_backend("cpu", "mixed")).places(stand, pairs, margin)
    for name, value in (("FIRST", 1), ("AT_ONCE", 7), ("MAX_BYTES", 60_000)):
        with monkeypatch.context() as patch:
            patch.setattr(frusta, name, value)
            found = frusta.FrustumPlaces(get_backend("cpu", "mixed")).places(stand, pairs, margin)
        for field, column in want.items():
            assert np.array_equal(found[field], column), (name, field)


def test_points_of_a_wheel_that_rolls_are_known_from_step_to_step():
    before = None
    for k in range(12):
        turn = np.array([np.cos(0.1 * k), 0.0, 0.0, np.sin(0.1 * k)])  # about its axis
        q = [UP[0] * turn[0], UP[1] * turn[0], -UP[1] * turn[3], UP[0] * turn[3]]
        points = at([FLOOR, CAN], [[0, 0, -0.5], [0.1 * k, 0, 0.4999]], [ONE, q]).manifolds()
        assert len(points) == 2
        if before is not None:
            assert (points.match(before).before >= 0).all()
        before = points
    # one that stands keeps those that are fixed on it
    one, two = (at([FLOOR, CAN], [[0, 0, -0.5], [x, 0, 0.4999]]).manifolds() for x in (0.0, 0.01))
    assert (two.match(one).before >= 0).all()


def test_a_scene_has_the_contacts_of_its_bodies_and_clearance_of_the_others():
    meshes = [FLOOR, CAN, gc.shapes.box(), gc.shapes.sphere(0.5)]
    poses = gc.Poses.from_quat_wxyz(
        [[0, 0, -0.5], [0, 0, 0.499], [1.2, 0, 0.501], [-1.001, 0, 0.5]], [ONE] * 4
    )
    bodies = gc.Bodies(meshes, [0, 1, 2, 3], poses, poses)
    with gc.Scene(meshes, [0, 1, 2, 3], poses, backend="cpu") as scene:
        found, want = gc.contacts_at(scene, margin=0.01), gc.contacts_at(bodies, margin=0.01, backend="cpu")
        for name in ("pairs", "pair", "distance", "point_a", "feature_b"):
            assert np.array_equal(getattr(found, name), getattr(want, name)), name
        assert {tuple(x) for x in found.pairs[found.pair].tolist()} == {(0, 1), (0, 2), (0, 3), (1, 3)}
        assert abs(scene.clearance([[0, 2]]).distance[0] - 1e-3) < 1e-12
        with pytest.raises(
            ValueError, match="scene: expected pairs without cylinders and cones.*bodies 0 and 1"
        ):
            scene.clearance([[0, 2], [0, 1]])


def test_a_can_inside_of_a_solid_has_the_least_way_out(backend):
    for engine in engines(backend):
        found = at(
            [gc.shapes.box((4, 4, 4)), gc.shapes.cylinder(0.25, 0.5)],
            [[0, 0, 0], [0.1, 0.2, 1.0]],
            backend=engine,
        )
        assert (found.status == gc.Status.INITIAL_OVERLAP).all()
        assert abs(found.distance.min() + 1.25) < 1e-15 and np.abs(found.normal - [0, 0, 1]).max() < 1e-15


def test_a_line_along_the_axis_has_a_way_out():
    for mesh in (CAN, gc.shapes.cone(0.5, 1.0)):
        found = at([gc.shapes.capsule(0.3, 1.0), mesh], [[0, 0, 0], [0, 0, 0.0]])
        assert (found.status == gc.Status.INITIAL_OVERLAP).all() and found.distance.min() < -0.5


def test_bad_poses_and_long_margins_are_told():
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0], [0, 0, 1]], [ONE] * 3)
    with pytest.warns(RuntimeWarning):
        found = gc.contacts_at(gc.Bodies(CAN, None, poses, poses), [[0, 1], [0, 2]], margin=[0.1, 1e300],
                               backend="cpu")  # fmt: skip
    assert found.status.tolist() == [gc.Status.INVALID_INPUT, gc.Status.UNRESOLVED]
    with pytest.raises(ValueError, match="precision: expected 'mixed' or 'double'"):
        at([CAN, FLOOR], [[0, 0, 0], [0, 0, 1]], precision="single")
