"""Clearance, contacts at a pose and exits of meshes with a rounding radius, against closed forms."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.round_shapes import Round, distance, signed
from tests.support.round_scenes import FAMILIES, KINDS, ONE, passes, sheet, two, unit
from tests.support.seeds import generator

TIMES = [0.0, 0.37, 1.0]
BOXES = [*KINDS, ("box", "box")]
SPHERE, CAPSULE = gc.shapes.sphere(0.3), gc.shapes.capsule(0.3, 1.0)
FLOOR = gc.shapes.box((10, 10, 1))
LYING, ACROSS = [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0], [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]


def check_steps(found, met, judge, scale):
    """Worst seen: distances 4e-15 of the size, and 4e-13 beside boxes, the judge's own; bounds never above
    them; the gap at the time of meeting 1e-11 of the size of a pair, which is touch."""
    toi, least, start = judge.first()
    sure = (np.abs(start) > 1e-9 * scale) & (np.abs(least) > 1e-9 * scale)
    np.testing.assert_array_equal(found.status[sure], met.status[sure])
    hit = (found.status == gc.Status.HIT) & (met.status == gc.Status.HIT)
    gap = judge.gap(np.where(hit, found.time, 0.0))[hit]
    assert (np.abs(gap) < 4e-11 * scale).all()  # sizes are up to 2
    assert not (found.time > met.toi + 1e-9)[hit].any()
    miss = found.status == gc.Status.MISS
    np.testing.assert_allclose(found.distance[miss], least[miss], rtol=0, atol=2e-12 * scale)
    assert (found.lower_bound[miss] <= least[miss] + 2e-12 * scale).all()
    assert (found.lower_bound[miss] >= found.distance[miss] - 1e-8 * scale).all()
    return sure & (miss | hit)


def check_poses(found, judge, scale, times=TIMES):
    """Worst seen: 5e-15 of the size, and 5e-13 of a segment beside a box, the judge's own."""
    n = len(found.pairs)
    told = {
        name: getattr(found, name).reshape(n, len(times), -1)
        for name in ("distance", "lower_bound", "normal", "point_a", "point_b", "status")
    }
    for k, t in enumerate(times):
        (pa, qa), (pb, qb) = (motion.at(np.full(n, t)) for motion in (judge.motion_a, judge.motion_b))
        core = signed(judge.a, judge.b, pa, qa, pb, qb)
        true, far = core - judge.a.radius - judge.b.radius, told["distance"][:, k, 0]
        np.testing.assert_allclose(far, true, rtol=0, atol=2e-12 * scale)
        assert (told["lower_bound"][:, k, 0] <= true + 2e-12 * scale).all()
        status, sure = told["status"][:, k, 0], np.abs(true) > 1e-9 * scale
        np.testing.assert_array_equal(status[sure] == gc.Status.INITIAL_OVERLAP, (true < 0)[sure])
        # B moved out along the normal only touches
        n_, a, b = (told[name][:, k] for name in ("normal", "point_a", "point_b"))
        np.testing.assert_allclose(np.linalg.norm(n_, axis=1), 1.0, atol=1e-12)
        deep = core > 1e-6 * scale
        np.testing.assert_allclose((b - a)[deep], (far[:, None] * n_)[deep], rtol=0, atol=1e-11 * scale)
        out = signed(judge.a, judge.b, pa, qa, pb - far[:, None] * n_, qb) - judge.a.radius - judge.b.radius
        np.testing.assert_allclose(out, 0.0, atol=1e-11 * scale)
        still, point = np.tile(ONE, (n, 1)), Round("sphere", np.zeros(n), np.zeros(n))
        for place, shape, p, q in ((a, judge.a, pa, qa), (b, judge.b, pb, qb)):
            off = np.abs(distance(point, shape, place, still, p, q)) - shape.radius
            assert (np.abs(off)[deep] < 1e-11 * scale).all()  # on both surfaces


@pytest.mark.backends("opencl")
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_backends_have_the_same_bits(backend, motion):
    for kinds in (("sphere", "sphere"), ("capsule", "box"), ("box", "box")):
        bodies, pairs, _, _ = passes(kinds, 40, 22, motion, "random")

        def told(name, bodies=bodies, pairs=pairs):
            how = dict(motion=motion, backend=name)
            yield gc.clearance(bodies, pairs, **how)
            yield gc.clearance(bodies, pairs, at=TIMES, **how)
            yield gc.contacts_at(bodies, pairs, margin=0.5, backend=name)

        for one, other in zip(told(backend.kind), told("cpu"), strict=True):
            assert len(one) == len(other) > 0
            for name in ("status", "time", "distance", "lower_bound", "kind", "feature_a", "feature_b",
                         "point_a", "point_b", "normal"):  # fmt: skip
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("kinds", BOXES, ids="-".join)
@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/clearance/test_round_clearance.py")
def test_closed_forms(backend, kinds, motion):
    n = 6 if backend.kind == "reference" else 60
    for family in ("random", "whole"):
        bodies, pairs, judge, scale = passes(kinds, n, 21, motion, family)
        how = dict(motion=motion, backend=backend.kind)
        check_poses(gc.clearance(bodies, pairs, at=TIMES, **how), judge, scale)
        if kinds != ("box", "box"):
            met = gc.collide(bodies, pairs, contacts="first", **how)
            assert check_steps(gc.clearance(bodies, pairs, **how), met, judge, scale).sum() > n / 6


@pytest.mark.slow
@pytest.mark.parametrize("kinds", BOXES, ids="-".join)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_closed_forms_of_many(kinds, family, motion):
    bodies, pairs, judge, scale = passes(kinds, 1000, 22, motion, family)
    check_poses(gc.clearance(bodies, pairs, at=TIMES, motion=motion), judge, scale)
    if kinds != ("box", "box"):
        met = gc.collide(bodies, pairs, contacts="first", motion=motion)
        check_steps(gc.clearance(bodies, pairs, motion=motion), met, judge, scale)


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/clearance/test_round_clearance.py")
def test_kernels_are_as_the_reference(backend, motion):
    """Of shapes that have no closed form as well. Worst seen: 2e-14 of the size, but of ties."""
    meshes = [gc.shapes.sphere(0.3), gc.shapes.capsule(0.2, 0.7), gc.shapes.rounded_box((0.8, 0.6, 0.5), 0.1),
              gc.shapes.l_block().rounded(0.05), gc.shapes.box(0.7), sheet(0.1),
              gc.shapes.l_block()]  # fmt: skip
    rng, n = generator(24, 1), 40
    shape = rng.permutation(np.arange(n) % len(meshes))
    p = rng.uniform(-1, 1, (2, n, 3)) * 0.9
    bodies = gc.Bodies(meshes, shape, *(gc.Poses.from_quat_wxyz(x, unit(rng, n, 4)) for x in p))
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))[:40]]
    for at in (None, [0.0, 1.0]):
        one, two_ = (
            gc.clearance(bodies, pairs, at=at, motion=motion, backend=kind)
            for kind in (backend.kind, "reference")
        )
        assert len(np.unique(one.status)) > 1
        np.testing.assert_array_equal(one.status, two_.status)
        np.testing.assert_allclose(one.distance, two_.distance, atol=1e-12)
        if at is not None:
            ties = (np.abs(one.normal - two_.normal) > 1e-6).any(axis=1)
            assert ties.mean() < 0.1
            for name in ("point_a", "point_b", "normal"):
                np.testing.assert_allclose(getattr(one, name)[~ties], getattr(two_, name)[~ties], atol=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.shared_bits("tests/clearance/test_round_clearance.py")
def test_points_and_lines_in_what_is_not_convex(backend, seed):
    """At whole numbers lines go along borders of faces and through corners, so that no test of solids sees
    them. Worst seen: 9e-16."""
    rng, n = generator(27, seed), 120
    meshes = [gc.shapes.sphere(0.2), gc.shapes.capsule(0.15, 1.2), gc.shapes.l_block(),
              gc.shapes.l_block().rounded(0.1), gc.shapes.star(), gc.shapes.box(0.7)]  # fmt: skip
    shape = np.concatenate([rng.integers(0, 2, n // 2), rng.integers(2, 6, n // 2)])
    quat = np.tile(ONE, (n, 1))
    quat[::3] = LYING
    poses = gc.Poses.from_quat_wxyz(rng.integers(-2, 3, (n, 3)) * 0.25, quat)
    bodies, pairs = gc.Bodies(meshes, shape, poses, poses), np.arange(n).reshape(2, -1).T
    one, other = (
        gc.clearance(bodies, pairs, at=0.0, regions=True, backend=kind)
        for kind in (backend.kind, "reference")
    )
    assert (one.distance < -0.2).sum() > 3
    for name in ("pair", "status"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-12)
    once = gc.clearance(bodies, pairs, at=0.0, backend=backend.kind)
    found = gc.contacts_at(bodies, pairs, margin=0.1, backend=backend.kind)
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, found.pair, found.distance)
    near = once.distance < 0.1 - 1e-9
    np.testing.assert_allclose(least[near], once.distance[near], atol=1e-12)


def stands(a, b, at, turn=ONE):
    return two(a, b, at, at, turn, turn)


SEEN = [
    # a ball on a floor, sunk in beyond its centre, and its centre in the floor's surface
    (stands(FLOOR, SPHERE, (0.2, 0.1, 0.79)), ["FV"], [-0.01], 1),
    (stands(FLOOR, SPHERE, (0.2, 0.1, 0.4)), ["FV"], [-0.4], 1),
    (stands(FLOOR, SPHERE, (0.2, 0.1, 0.5)), ["FV"], [-0.3], 1),
    # a capsule that lies there, that stands in it
    (stands(FLOOR, CAPSULE, (0.2, 0.1, 0.79), LYING), ["FV"] * 2, [-0.01] * 2, 2),
    (stands(FLOOR, CAPSULE, (0.2, 0.1, 0.4), LYING), ["FV"], [-0.4], 2),
    (stands(FLOOR, CAPSULE, (0.2, 0.1, 0.6)), ["FV"], [-0.7], 1),
    (stands(FLOOR, gc.shapes.rounded_box(1.0, 0.1), (0.2, 0.1, 0.99)), ["FV"] * 4, [-0.01] * 4, 4),
    (stands(FLOOR, gc.shapes.rounded_box(1.0, 0.125), (0.25, 0.5, 1.0)), ["FV"] * 4, [0.0] * 4, 4),
    (stands(FLOOR, gc.shapes.rounded_box(1.0, 0.1), (0.2, 0.1, 0.89)), ["FV"], [-0.11], 4),
    # capsules side by side, crossing, on one place, in line
    (stands(CAPSULE, gc.shapes.capsule(0.2, 1.0), (0.49, 0, 0.2)), ["EV", "VE"], [-0.01] * 2, 2),
    (stands(CAPSULE, gc.shapes.capsule(0.2, 1.0), (0.49, 0, 0), ACROSS), ["EE"], [-0.01], 1),
    (stands(CAPSULE, gc.shapes.capsule(0.2, 1.0), (0, 0, 0), ACROSS), ["EE"], [-0.5], 1),
    (stands(CAPSULE, gc.shapes.capsule(0.2, 1.0), (0, 0, 0)), ["VV"], [-0.5], 1),
    (stands(CAPSULE, gc.shapes.capsule(0.2, 1.0), (0, 0, 1.4)), ["VV"], [-0.1], 1),
    (stands(SPHERE, SPHERE, (0, 0.5, 0)), ["VV"], [-0.1], 1),
    (stands(SPHERE, SPHERE, (0, 0.6, 0)), ["VV"], [0.0], 1),
    (stands(SPHERE, SPHERE, (0, 0, 0)), ["VV"], [-0.6], 1),
    (stands(SPHERE, CAPSULE, (0, 0, 0.25)), ["VE"], [-0.6], 1),
    (stands(sheet(0.1), SPHERE, (0.2, 0.1, 0.39)), ["FV"], [-0.01], 1),
    (stands(gc.shapes.l_block(), SPHERE, (0.1, 0.05, 0)), ["FV", "FV"], [-0.25, -0.2], 2),
]  # fmt: skip


@pytest.mark.parametrize(("bodies", "kinds", "distances", "points"), SEEN)
def test_contacts_at_a_pose(backend, bodies, kinds, distances, points):
    found = gc.contacts_at(bodies, [[0, 1]], backend=backend.kind)
    assert [gc.Kind(kind).name for kind in found.kind] == kinds
    np.testing.assert_allclose(found.distance, distances, atol=1e-15)
    np.testing.assert_allclose(
        found.point_b - found.point_a, found.distance[:, None] * found.normal, atol=1e-15
    )
    once = gc.clearance(bodies, [[0, 1]], at=0.0, backend=backend.kind)
    np.testing.assert_allclose(found.distance.min(), once.distance[0], atol=1e-15)
    assert set(found.status) == set(once.status)
    manifold = found.manifolds()
    assert len(manifold) == points
    np.testing.assert_allclose(manifold.distance.min(), found.distance.min(), atol=1e-15)
    np.testing.assert_allclose(
        manifold.point_b - manifold.point_a, manifold.distance[:, None] * manifold.normal, atol=1e-15
    )
    assert (found.manifolds().match(manifold).before == np.arange(points)).all()


@pytest.mark.parametrize("kinds", BOXES, ids="-".join)
@pytest.mark.shared_bits("tests/clearance/test_round_clearance.py")
def test_nearest_contact_is_the_clearance(backend, kinds):
    """Nothing is nearer than the nearest of all places. Worst seen: 2e-15."""
    n = 10 if backend.kind == "reference" else 100
    for family in ("random", "whole", "concentric"):
        bodies, pairs, _, _ = passes(kinds, n, 25, "body", family)
        once = gc.clearance(bodies, pairs, at=0.0, motion="body", backend=backend.kind)
        found = gc.contacts_at(bodies, pairs, margin=0.8, backend=backend.kind)
        least = np.full(n, np.inf)
        np.minimum.at(least, found.pair, found.distance)
        near = once.distance < 0.8 - 1e-9
        assert near.any()
        np.testing.assert_allclose(least[near], once.distance[near], atol=1e-13)
        assert np.isinf(least[once.distance > 0.8 + 1e-9]).all()
        told = np.isfinite(found.distance)
        assert (found.distance[told] <= 0.8 + 1e-9).all()
        manifold = found.manifolds()
        deepest = np.full(n, np.inf)
        np.minimum.at(deepest, manifold.pair, manifold.distance)
        np.testing.assert_allclose(deepest[near], least[near], atol=1e-9)


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_exits_have_no_gap_before_and_one_behind(backend, motion):
    """Worst seen: 4e-12, where a slide ends."""
    n = 5 if backend.kind == "reference" else 60
    for kinds in (("sphere", "sphere"), ("capsule", "capsule"), ("capsule", "box")):
        bodies, pairs, judge, _ = passes(kinds, n, 26, motion, "random")
        found = gc.collide(bodies, pairs, exit=True, motion=motion, backend=backend.kind)
        some = np.flatnonzero(np.isfinite(found.exit))
        assert len(some) > n / 5
        at = np.where(np.isfinite(found.exit), found.exit, 0.0)
        assert (np.abs(judge.gap(at)[some]) < 1e-11).all()
        assert (judge.gap(np.minimum(at + 1e-6, 1.0))[some] >= 0.0).all()
        never = np.isinf(found.exit) & (found.status != gc.Status.MISS)
        assert (judge.gap(np.ones(n))[never] < 1e-9).all()


def test_a_fine_mesh_comes_to_a_sphere():
    """Polyhedra in a sphere are as much farther off as they are in it."""
    here = gc.Poses.from_quat_wxyz([[0, 0, 0], [-2, 0.9, 0.2]], [ONE, ONE])
    there = gc.Poses.from_quat_wxyz([[0, 0, 0], [2, 0.7, 0.3]], [ONE, [0.6, 0.8, 0, 0]])
    exact = gc.clearance(gc.Bodies([SPHERE, CAPSULE], [0, 1], here, there), [[0, 1]])
    off = []
    for level in (2, 4):
        ball = gc.shapes.icosphere(level)
        ball = gc.Mesh(0.3 * ball.vertices / np.abs(ball.vertices).max(), ball.faces)
        off.append(
            gc.clearance(gc.Bodies([ball, CAPSULE], [0, 1], here, there), [[0, 1]]).distance - exact.distance
        )
    assert 0.0 <= off[1][0] < 1e-3 and off[1] <= off[0] < 2e-2


def test_passes_along_a_recording():
    """Distance .5 of two spheres in the middle of a step; the second meets, by closed forms."""
    way = [[[0, 0, 0], [x, 1.5, 0], [x, 0, 0.5]] for x in (-3, -2, 3)]
    arrays = {"time": [10, 11, 12], "id": [7, 8, 9], "position": way, "quat_wxyz": [[ONE] * 3] * 3}
    recording = gc.Recording.from_arrays(arrays, meshes=gc.shapes.sphere(0.5))
    near = gc.clearance(recording, max_distance=0.6)
    some = (near.body_a == 0) & (near.body_b == 1)
    np.testing.assert_allclose(near.gap[some], [0.5], atol=1e-15)
    met = recording.encounters()
    some = (met.body_a == 0) & (met.body_b == 2)
    np.testing.assert_allclose(met.first_time[some], [11 + (2 - np.sqrt(0.75)) / 5], atol=1e-12)
    np.testing.assert_allclose(met.last_time[some], [11 + (2 + np.sqrt(0.75)) / 5], atol=1e-12)
    events = gc.events(recording, max_distance=0.6)
    assert len(events) == 3


def test_a_recording_has_depths_of_encounters():
    way = [[[0, 0, 0], [x, 0.5, 0]] for x in (-3, -0.5, 3)]
    arrays = {"time": [0, 1, 2], "id": [7, 8], "position": way, "quat_wxyz": [[ONE] * 2] * 3}
    recording = gc.Recording.from_arrays(
        arrays, meshes=[gc.shapes.capsule(0.5, 2.0), gc.shapes.sphere(0.4)], shape=[0, 1]
    )
    found = recording.encounters()
    np.testing.assert_allclose(found.depth, [0.9 - np.sqrt(0.5)], atol=1e-15)
    level = gc.events(
        gc.Recording.from_arrays(
            arrays | {"position": [[[0, 0, 0], [x, 0.1, 0.3]] for x in (-3, 0, 3)]},
            meshes=gc.shapes.sphere(0.5),
        )
    )
    np.testing.assert_allclose(level.depth, [0.9], atol=1e-12)


def test_motions_are_checked():
    """A rounded bar turns past a post: the gap is that of a segment and an axis."""

    def poses_at(motion, time):
        angle = time * np.array([0.5, 1.5])[motion]
        quat = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=-1)
        place = 0.5 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
        return gc.Poses.from_quat_wxyz(place[:, None], quat[:, None])

    at = gc.Poses.from_quat_wxyz([[0.5, 0.8, 0]], [ONE])
    post = gc.Bodies(gc.shapes.capsule(0.05, 1.0), None, at, at)
    bar = gc.Mesh([[-0.5, 0, 0], [0.5, 0, 0]], [], rounding=0.05)
    found = gc.check_motions(
        bar, None, poses_at, 2, max_acceleration=[[0.3], [2.5]], obstacles=post, clearance=np.inf
    )
    assert [gc.Status(status).name for status in found.status] == ["MISS", "HIT"]
    way = np.array([np.cos(0.5), np.sin(0.5)])
    gap = abs(way[0] * 0.8 - way[1] * 0.5) - 0.1
    np.testing.assert_allclose(found.gap[0], gap, atol=1e-12)
    assert gap - 0.01 < found.gap_bound[0] <= gap


def test_a_line_through_a_sheet_has_the_depth_of_the_roundings(tmp_path):
    bodies = stands(sheet(0.1), CAPSULE, (0.2, 0.1, 0))
    for found in (gc.clearance(bodies, [[0, 1]], at=0.0), gc.contacts_at(bodies, [[0, 1]])):
        assert found.distance.tolist() == [-0.4] and found.status[0] == gc.Status.INITIAL_OVERLAP
        assert found.kind[0] == gc.Kind.NONE and not found.normal.any()
        found.save(tmp_path / "crossed.npz")
        assert gc.Clearance.load(tmp_path / "crossed.npz").distance.tolist() == [-0.4]
    assert len(found.manifolds()) == 0


def test_what_is_refused():
    bodies = stands(FLOOR, SPHERE, (0, 0, 0.8))
    for ask in (gc.clearance, gc.contacts_at):
        with pytest.raises(
            ValueError, match="^precision: expected 'mixed' or 'double' with meshes that have"
        ):
            ask(bodies, [[0, 1]], precision="single")
    with pytest.raises(ValueError, match="^expel: expected None with meshes that have a rounding radius"):
        gc.pluecker.contacts(bodies, bodies, pairs=[[1, 0]], expel=1e-6)
