"""What must not change the answer, and answers known in closed form."""

import numpy as np
import pytest

import gpu_collide as gc
from tests import oracle
from tests.acceptance import matrix
from tests.oracle import scenes, shapes
from tests.oracle.matching import FIELDS, as_arrays
from tests.oracle.solid import apply, rotation_matrix
from tests.support import mirror

ONE = np.array([[1.0, 0, 0, 0]])
FAMILIES = ("random_cars", "random_nonconvex", "lattice", "planar_driving", "axis_through_both", "to_180")

JUDGED = [20, pytest.param(60, marks=pytest.mark.slow)]  # pairs that the oracle looks at, of 60


def run(scene, backend, **more):
    return gc.collide(scene.bodies(), scene.pairs, backend=backend.kind, **more).to_numpy()


def pair_of(mesh_a, mesh_b, start_a, end_a, start_b, end_b):
    """A scene of one pair; poses are (position, quaternion) or a position alone."""

    def pose(*two):
        two = [x if len(x) == 2 else (x, ONE[0]) for x in two]
        return np.array([x for x, _ in two], float), np.array([q for _, q in two], float)

    return scenes.SceneData(
        "pair",
        [mesh_a, mesh_b],
        np.array([0, 1]),
        pose(start_a, start_b),
        pose(end_a, end_b),
        np.array([[0, 1]]),
    )


def sliced(found, pair):
    """Fields of one pair's contacts, as bytes."""
    f = as_arrays(found)
    rows = slice(f["contact_start"][pair], f["contact_start"][pair + 1])
    return [np.ascontiguousarray(f[k][rows]).tobytes() for k in FIELDS if k != "pair"]


def test_known_answers(backend):
    scene, first = scenes.known_answers()
    found = run(scene, backend)
    first[7] = found.toi[7]  # given to four digits; tests/oracle derives it by other means
    assert abs(found.toi[7] - 0.4276) < 5e-5
    assert np.array_equal(found.toi == np.inf, first == np.inf)
    hit = first < np.inf
    assert np.abs(found.toi[hit] - first[hit]).max() < 1e-12
    assert np.array_equal(found.status == gc.Status.HIT, hit)
    report = oracle.check(found, scene)
    assert report.ok, report


@pytest.mark.parametrize("family", FAMILIES)
def test_every_run_has_the_same_bits(family, backend):
    scene = matrix.make(family, 60)
    assert not matrix.same_bits(run(scene, backend), run(scene, backend))


@pytest.mark.parametrize("family", (*FAMILIES, "exact_axis", "resting", "half_turn", "far_away"))
def test_backends_have_the_same_bits(family, backend):
    scene = matrix.make(family, 100)
    cpu = gc.collide(scene.bodies(), scene.pairs, backend="cpu")
    assert not matrix.same_bits(cpu, run(scene, backend))


@pytest.mark.parametrize("max_bytes", [1 << 21, 3_000_000, 1 << 24])
@pytest.mark.parametrize("family", ["random_cars", "lattice", "random_small_tori"])
def test_chunks_have_the_same_bits(family, max_bytes, backend):
    scene = matrix.make(family, 120 if family != "random_small_tori" else 24)
    whole = run(scene, backend)
    try:
        pieces = run(scene, backend, max_bytes=max_bytes)
    except gc.errors.MemoryLimitError:
        pytest.skip("one pair alone needs more")
    assert not matrix.same_bits(whole, pieces)


@pytest.mark.parametrize("family", FAMILIES)
def test_permuted_and_repeated_pairs_keep_their_bits(family, backend):
    scene = matrix.make(family, 60)
    found = run(scene, backend)
    rng = np.random.default_rng(1)
    order = rng.integers(0, 60, 90)  # some left out, some twice
    again = run(scene.take(order), backend)
    for k, p in enumerate(order):
        assert sliced(found, p) == sliced(again, k)
    assert np.array_equal(again.status, found.status[order])
    assert again.toi.tobytes() == found.toi[order].tobytes()


@pytest.mark.parametrize("judged", JUDGED)
@pytest.mark.parametrize("family", FAMILIES)
def test_swapping_the_bodies_mirrors_the_contacts(family, judged, backend):
    scene = matrix.part(family, 60)
    turned = scene.take(np.arange(60))
    turned.pairs = scene.pairs[:, ::-1].copy()
    there, back = (as_arrays(run(s, backend)) for s in (scene, turned))
    coincident = family in ("lattice", "planar_driving")  # may be resolved to either body's vertex
    size = matrix.expected_of_part(family, 60).size
    bad = mirror.differences(there, back, size, coincident=coincident)
    assert not bad, bad
    if coincident:
        few = turned.take(np.arange(judged))
        report = oracle.check(as_arrays(run(few, backend)), few)
        assert report.ok, report


@pytest.mark.parametrize("judged", JUDGED)
@pytest.mark.parametrize("family", FAMILIES)
def test_moving_the_world_moves_the_contacts(family, judged, backend):
    scene = matrix.make(family, 60)
    rng = np.random.default_rng(5)
    shift, quat = rng.normal(size=3) * 30, scenes.random_quat(rng, 1)[0]
    moved = scene.moved(shift, quat)
    one, two = (as_arrays(run(s, backend)) for s in (scene, moved))
    few = moved.take(np.arange(judged))
    report = oracle.check(as_arrays(run(few, backend)), few)
    assert report.ok, report
    assert np.array_equal(one["status"], two["status"])
    if family in ("lattice", "planar_driving"):
        return  # rounding of the moved poses may resolve a coincidence otherwise
    assert np.array_equal(one["feature_a"], two["feature_a"])
    steep = np.abs(one["normal_speed"]) > 1e-3
    matrix_ = rotation_matrix(quat)
    assert np.abs(apply(matrix_, one["position"]) + shift - two["position"])[steep].max() < 1e-9
    assert np.abs(apply(matrix_, one["normal"]) - two["normal"])[steep].max() < 1e-9


def test_a_million_away_costs_no_digits(backend):
    """A translation by a power of two is exact: the relative poses, and so times and local points, keep
    their bits."""
    scene = matrix.make("random_cars", 80)
    start, end = ((np.round(x * 2**20) / 2**20, q) for x, q in (scene.start, scene.end))
    near = scenes.SceneData("near", scene.meshes, scene.shape, start, end, scene.pairs)
    shift = np.array([2.0**20, -(2.0**20), 2.0**19])
    far = scenes.SceneData(
        "far", scene.meshes, scene.shape, *((x + shift, q) for x, q in (start, end)), scene.pairs
    )
    one, two = (as_arrays(run(s, backend)) for s in (near, far))
    for k in ("pair", "kind", "feature_a", "feature_b", "time", "local_a", "local_b", "properness", "normal"):
        assert one[k].tobytes() == two[k].tobytes(), k


def test_resting_and_sliding_boxes_get_their_lasting_contacts(backend):
    floor, cube = shapes.box((8, 8, 1)), shapes.box()
    for step in ((0, 0, 0), (1.5, 0, 0), (0.3, 0.7, 0), (1e-6, 0, 0)):
        start = np.array([0.2, 0.1, 1.0])
        scene = pair_of(floor, cube, (0, 0, 0), (0, 0, 0), start, start + step)
        found = run(scene, backend)
        corners = found.kind == gc.Kind.FV
        assert corners.sum() == 4, step
        assert found.sustained[corners].all() and (found.time[corners] == 0).all()
        assert (found.time_end[corners] == 1).all()
        assert np.abs(found.normal[corners] - [0, 0, 1]).max() < 1e-12
        assert found.status[0] == gc.Status.HIT and found.toi[0] == 0


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3])
def test_resting_box_that_hardly_turns(angle, backend):
    """The corners stay in contact through any angle about the vertical; no jump at the smallest."""
    turn = scenes.turn_quat(np.array([0, 0, 1.0]), np.array(angle))
    start = (0.2, 0.1, 1.0)
    scene = pair_of(shapes.box((8, 8, 1)), shapes.box(), (0, 0, 0), (0, 0, 0), start, (start, turn))
    found = run(scene, backend)
    assert ((found.kind == gc.Kind.FV) & found.sustained).sum() == 4


def test_resting_on_a_moving_platform(backend):
    """Both bodies carried by one random motion: rounding is all that moves, and the box still stands."""
    rng = np.random.default_rng(2)
    base = pair_of(
        shapes.box((8, 8, 1)), shapes.box(), (0, 0, 0), (0, 0, 0), (0.2, 0.1, 1.0), (0.2, 0.1, 1.0)
    )
    for _ in range(10):
        end = base.moved(rng.normal(size=3), scenes.random_quat(rng, 1)[0])
        scene = scenes.SceneData("carried", base.meshes, base.shape, base.start, end.end, base.pairs)
        found = run(scene, backend)
        assert ((found.kind == gc.Kind.FV) & found.sustained).sum() == 4
        assert found.toi[0] == 0


def test_tiny_angles_without_a_jump(backend):
    """One impact with ever smaller turns: times approach that of the translation."""
    cube = shapes.box()
    axis = scenes.random_axis(np.random.default_rng(0), 1)[0]
    angles = np.array([0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
    tilt = scenes.random_quat(np.random.default_rng(1), 1)[0]
    toi, features = [], []
    for angle in angles:
        q1 = scenes.quat_mul(scenes.turn_quat(axis, np.array(angle)), tilt)
        found = run(
            pair_of(cube, cube, (0, 0, 0), (0, 0, 0), ((-3, 0.1, 0.2), tilt), ((0, 0.1, 0.2), q1)), backend
        )
        toi.append(found.toi[0])
        features.append(list(zip(found.kind, found.feature_a, found.feature_b, strict=True)))
    assert np.all(np.abs(np.array(toi) - toi[0]) <= angles + 2e-15)
    assert all(f == features[0] for f in features[:10])


def test_passing_through_at_200_body_lengths(backend):
    scene = pair_of(shapes.box(), shapes.box(), (0, 0, 0), (0, 0, 0), (-100, 0.1, 0.2), (100, 0.1, 0.2))
    found = run(scene, backend)
    assert abs(found.toi[0] - 99 / 200) < 1e-12


@pytest.mark.parametrize("gap", [1e-6, -1e-6, 1e-9, -1e-9])
def test_grazing(gap, backend):
    """A tilted box passes another with a gap or an overlap."""
    q = scenes.random_quat(np.random.default_rng(4), 1)[0]
    low = apply(rotation_matrix(q), shapes.box().vertices).min(0)[1]
    y = 0.5 - low + gap
    found = run(
        pair_of(shapes.box(), shapes.box(), (0, 0, 0), (0, 0, 0), ((-3, y, 0), q), ((3, y, 0), q)), backend
    )
    assert (found.status[0] == gc.Status.HIT) == (gap < 0)


def test_a_pit_and_a_reflex_edge_are_never_proper(backend):
    """A spike driven into the dent of a block: its tip passes the dent's tip and inner edges inside the
    solid."""
    spike = oracle.RawMesh(
        [[0.02, 0.01, 0], [1.5, 1, 2], [-1, 1.2, 2], [-0.2, -1.4, 2]],
        [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)],
    )
    block = shapes.pit()
    scene = pair_of(block, spike, (0, 0, 0), (0, 0, 0), (0, 0, 1.0), (0, 0, -1.5))
    found = run(scene, backend, min_properness=-1.0)
    report = oracle.check(found, scene, min_properness=-1.0)
    assert report.ok, report
    tip = (found.kind == gc.Kind.VF) & (found.feature_a == 8)
    reflex = np.nonzero(oracle.Solid(block).reflex)[0]
    inner = (found.kind == gc.Kind.EE) & np.isin(found.feature_a, reflex)
    assert tip.any() and inner.any()
    assert (found.properness[tip | inner] < 0).all()


@pytest.mark.parametrize("family", ["random_nonconvex", "to_180"])
def test_reflex_edges_are_never_proper_in_random_scenes(family, backend):
    scene = matrix.make(family, 100)
    found = run(scene, backend, min_properness=-1.0)
    solids = [oracle.Solid(m) for m in scene.meshes]
    edges = found.kind == gc.Kind.EE
    for side, feature in ((0, found.feature_a), (1, found.feature_b)):
        shape = scene.shape[scene.pairs[found.pair, side]]
        for k, solid in enumerate(solids):
            mine = edges & (shape == k)
            at_reflex = solid.reflex[feature[mine]]
            assert (found.properness[mine][at_reflex] <= 0).all()


def test_first_contact_of_bodies_that_were_apart_is_proper(backend):
    """Whatever the shapes, what touches first faces each other: nothing improper comes before."""
    scene = matrix.make("random_nonconvex", 150)
    found = as_arrays(run(scene, backend, min_properness=-1.0, check_start=True))
    clear = np.nonzero(found["status"] == gc.Status.HIT)[0]
    assert len(clear) > 20
    for p in clear:
        rows = slice(found["contact_start"][p], found["contact_start"][p + 1])
        first = found["time"][rows] <= found["toi"][p] + 1e-9
        assert found["properness"][rows][first].max() >= -1e-9


def test_empty_batch_and_single_pair(backend):
    scene = matrix.make("random_cars", 5)
    none = gc.collide(scene.bodies(), np.zeros((0, 2), int), backend=backend.kind).to_numpy()
    assert len(none) == 0 and len(none.status) == 0 and none.contact_start.tolist() == [0]
    whole = run(scene, backend)
    for p in range(5):
        assert sliced(whole, p) == sliced(run(scene.take([p]), backend), 0)
