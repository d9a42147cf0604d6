"""c01_clearance: how near two bodies come. Against the reference, against a judge that shares nothing with
either, and against what is known by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.results.clearance import CLEARANCE_ROWS
from tests.clearance._families import BOX, FAMILIES, ONE, TRAY, TRIANGLE, random, scene, spins
from tests.oracle.clearance import Passage

BITS = "tests/clearance/test_c01_clearance.py"
MISS, HIT, OVERLAP = gc.Status.MISS, gc.Status.HIT, gc.Status.INITIAL_OVERLAP
EVERY = {**FAMILIES, "spins": spins}
#: In sizes: what bounds may lie below distances, and rounding of both (worst seen: 3e-14, `huge`, in 1,000
# pairs a family).
TOLERANCE, ROUNDING = 1e-9, 1e-12


def motion_of(name):
    return "body" if name == "spins" else "relative"


def sizes(bodies, pairs):
    return np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]].max(axis=1)


def boxes(p0, p1, mesh=BOX, **asked):
    """Clearance of a mesh, at rest at the origin, and a box that goes straight from p0 to p1."""
    turn = np.tile(ONE, (2, 1))
    bodies, pairs = scene(
        [mesh, BOX], [0, 1], np.array([[0, 0, 0], p0]), turn, np.array([[0, 0, 0], p1]), turn
    )
    return gc.clearance(bodies, pairs, **asked)


# -- against the judge and the reference
# ------------------------------------------------------------------------


def judged(name, n, seed, motion, backend, samples, refine=6):
    """Each of n pairs of a family against samples in time, in between by golden section."""
    bodies, pairs = EVERY[name](np.random.default_rng(seed), n)
    found = gc.clearance(bodies, pairs, motion=motion, backend=backend)
    size, told = sizes(bodies, pairs), found.status != OVERLAP
    assert np.isin(found.status, [MISS, HIT, OVERLAP]).all()
    margin = np.maximum(
        TOLERANCE * size, 1e-13 * np.linalg.norm(bodies.end.position - bodies.start.position, axis=1).max()
    )
    assert (found.distance - found.lower_bound <= margin).all()
    for k in np.flatnonzero(told):
        passage = Passage.of(bodies, *pairs[k], motion)
        least, _ = passage.least(samples, refine)
        assert found.distance[k] <= least + margin[k], (name, seed, k)
        assert found.lower_bound[k] <= least + ROUNDING * size[k], (name, seed, k)
        # a bar goes through a sheet between two samples, and the other way round: what is told is there
        there = passage.distance(found.time[k])
        assert abs(there - found.distance[k]) <= margin[k], (name, seed, k)


@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("name", EVERY)
def test_against_samples_in_time(name, backend):
    judged(name, 2, 1, motion_of(name), backend.kind, 24, 2)


@pytest.mark.slow
@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("name", EVERY)
def test_against_many_samples_in_time(name, motion, backend):
    if name == "spins" and motion == "relative":
        pytest.skip("bodies that spin have their own motion")
    for seed in range(2, 6):
        judged(name, 30, seed, motion, backend.kind, 160)


def same(name, motion, backend, n, seed, **asked):
    bodies, pairs = EVERY[name](np.random.default_rng(seed), n)
    found = gc.clearance(bodies, pairs, motion=motion, backend=backend, **asked)
    slow = gc.clearance(bodies, pairs, motion=motion, backend="reference", **asked)
    size = np.repeat(sizes(bodies, pairs), len(found) // len(pairs))
    assert found.status.tolist() == slow.status.tolist()
    told = np.isfinite(slow.distance)
    assert (told == np.isfinite(found.distance)).all()
    # both end where the nearest features are nearest (worst seen: 4e-14; `speck`, whose way is long: 1e-9)
    close = np.where(name == "speck", 2e-9, 1e-12) * size
    assert (np.abs(found.distance - slow.distance)[told] <= close[told]).all()
    for one, other in ((found, slow), (slow, found)):
        assert (one.lower_bound <= other.distance + ROUNDING * size).all()
    return found, slow


@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("name", EVERY)
def test_reference_and_kernel_agree(name, backend):
    same(name, motion_of(name), backend.kind, 2, 7)
    same(name, motion_of(name), backend.kind, 2, 8, at=[0.0, 0.3, 1.0])


@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_features_points_and_normals_are_the_reference_s(motion, backend):
    found, slow = same("random", motion, backend.kind, 8, 3)
    for name in ("kind", "feature_a", "feature_b"):
        assert getattr(found, name).tolist() == getattr(slow, name).tolist()
    told = found.kind != gc.Kind.NONE
    assert np.abs(found.time - slow.time)[told].max() < 1e-6  # a least is flat: 2e-8 seen
    for name in ("point_a", "point_b", "normal"):
        assert np.abs(getattr(found, name) - getattr(slow, name)).max() < 1e-5  # 1e-7 seen
    way = found.point_b - found.point_a
    assert np.abs(way - found.distance[:, None] * found.normal)[told].max() < 1e-9


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("name", EVERY)
def test_bits_are_those_of_every_backend(name, motion, backend):
    if name == "spins":
        motion = "body"
    bodies, pairs = EVERY[name](np.random.default_rng(11), 4 if name == "speck" else 12)
    for asked in ({}, {"max_distance": sizes(bodies, pairs).max()}, {"at": [0.0, 0.7]}):
        one = gc.clearance(bodies, pairs, motion=motion, backend="cpu", **asked)
        other = gc.clearance(bodies, pairs, motion=motion, backend=backend.kind, **asked)
        for field in CLEARANCE_ROWS:
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), field


# -- known by hand
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place, distance, kinds",
    [
        ((0.25, 0.25, 2.0), 1.0, "FV VF EE EV VE VV"),  # face above face: many pairs of features are as near
        ((1.5, 0.3, 1.5), np.sqrt(0.5), "EV VE"),  # edge beside edge, which are parallel
        ((2.0, 2.0, 2.0), np.sqrt(3.0), "VV"),
        ((1.0, 0.0, 0.0), 0.0, "FV VF EE EV VE VV"),
        ((1.0, 1.0, 0.2), 0.0, "FV VF EE EV VE VV"),
    ],
)
def test_boxes_at_rest(place, distance, kinds, backend):
    found = boxes(place, place, backend=backend.kind)
    assert found.distance[0] == pytest.approx(distance, abs=1e-14)
    assert found.lower_bound[0] >= distance - 1e-9
    assert found.status[0] == (HIT if distance == 0.0 else MISS)
    assert gc.Kind(found.kind[0]).name in kinds.split()
    if distance == 0.0:
        assert found.time[0] == 0.0
        assert found.normal[0] @ place > 0.5  # from A to B


def test_the_least_is_at_an_end_and_exactly_there(backend):
    away = boxes((2.0, 0.1, 0.2), (4.0, 0.1, 0.2), backend=backend.kind)
    assert (away.time[0], away.distance[0]) == (0.0, 1.0)
    nearer = boxes((4.0, 0.1, 0.2), (2.0, 0.1, 0.2), backend=backend.kind)
    assert (nearer.time[0], nearer.distance[0]) == (1.0, 1.0)


def test_a_corner_that_turns_past_a_face(backend):
    """A box turns by a quarter about its middle, which stays: its edge comes nearest when it points at
    the wall."""
    bodies, pairs = scene(
        [BOX, gc.shapes.box((1.0, 9.0, 9.0))], [0, 1],
        np.array([[0.0, 0, 0], [2.0, 0, 0]]), np.tile(ONE, (2, 1)),
        np.array([[0.0, 0, 0], [2.0, 0, 0]]), np.array([[np.sqrt(0.5), 0, 0, np.sqrt(0.5)], ONE]),
    )  # fmt: skip
    found = gc.clearance(bodies, pairs, backend=backend.kind)
    assert found.distance[0] == pytest.approx(1.5 - np.sqrt(0.5), abs=1e-14)
    assert found.time[0] == pytest.approx(0.5, abs=1e-7)
    assert found.normal[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def test_what_meets_is_told_with_the_time_of_its_first_contact(backend):
    bodies, pairs = FAMILIES["meeting"](np.random.default_rng(5), 60)
    for motion in ("relative", "body"):
        found = gc.clearance(bodies, pairs, motion=motion, backend=backend.kind)
        met = gc.collide(bodies, pairs, motion=motion, contacts="first", backend=backend.kind)
        assert found.status.tolist() == met.status.tolist()
        hit = found.status == HIT
        assert hit.any()
        assert np.abs(found.time - met.toi)[hit].max() < 1e-9  # 6e-12 seen
        assert (found.distance[hit] == 0.0).all()
        assert (np.linalg.norm(found.point_a - found.point_b, axis=1)[hit] < 1e-10).all()


def test_a_body_within_another(backend):
    inside = boxes((0.1, 0.2, 0.0), (0.2, 0.1, 0.0), mesh=gc.shapes.box((4, 4, 4)), backend=backend.kind)
    assert (inside.status[0], inside.distance[0], inside.kind[0]) == (OVERLAP, 0.0, gc.Kind.NONE)
    tray = gc.Mesh(4.0 * TRAY.vertices, TRAY.faces)
    within = boxes((0.1, 0.2, 0.0), (0.1, 0.3, 0.0), mesh=tray, backend=backend.kind)
    assert within.status[0] == MISS  # it is open
    assert within.distance[0] == pytest.approx(1.2, abs=1e-14)


def test_sheets_that_cross_at_the_start_are_a_hit_without_a_place(backend):
    """They have no inside, and the triangle ends in no face."""
    turn = np.array([ONE, [np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    place = np.array([[0.0, 0, 0], [0.1, 0.2, -0.5]])
    bodies, pairs = scene([TRIANGLE], [0, 0], place, turn, place + [[0, 0, 0], [0, 0, 3.0]], turn)
    found = gc.clearance(bodies, pairs, backend=backend.kind)
    if found.status[0] == HIT:
        assert (found.distance[0], found.time[0], found.kind[0]) == (0.0, 0.0, gc.Kind.NONE)
    else:
        assert found.status[0] == OVERLAP


def test_a_sheet_is_met_from_behind(backend):
    """Found by random pairs: `collide` sees no contact with the back of a one-sided sheet, the distance
    does."""
    found = boxes((0.3, 0.3, -3.0), (0.3, 0.3, 3.0), mesh=TRIANGLE, backend=backend.kind)
    assert found.status[0] == HIT
    assert found.time[0] == pytest.approx(2.5 / 6.0, abs=1e-11)


def test_a_gap_that_stays_takes_no_search(backend):
    """Found by `grazing`: a box that turns above another at a gap of 0.01; its points bend across the
    gap only, and ten thousand spans of every two features were looked at."""
    up = np.array(
        [
            [0.9887710779360422, 0.0, 0.0, 0.14943813247359922],
            [0.8775825618903726, 0.0, 0.0, 0.479425538604203],
        ]
    )
    place = np.array([[0, 0, 0], [-1.55751420950432, 0.6711384330005483, 1.01]])
    bodies, pairs = scene(
        [BOX], [0, 0], place, np.array([ONE, up[0]]), place * [-1, 1, 1], np.array([ONE, up[1]])
    )
    found = gc.clearance(bodies, pairs, backend=backend.kind)
    assert found.distance[0] == pytest.approx(0.01, abs=1e-15)
    assert found.lower_bound[0] > 0.01 - 1e-9


def test_two_specks_that_go_far(backend):
    """Found by `speck`: halves of the step in the order of time, of which each was a little nearer than all
    before; and what is as far as the least, within the rounding of a bound, was halved without end: both took
    seconds a pair."""
    bodies, pairs = FAMILIES["speck"](np.random.default_rng(101), 60)
    found = gc.clearance(bodies, pairs, backend=backend.kind)
    assert np.isin(found.status, [MISS, HIT, OVERLAP]).all()
    bodies, pairs = FAMILIES["whole"](np.random.default_rng(7), 4)
    assert gc.clearance(bodies, pairs[2:3], backend=backend.kind).time[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.shared_bits(BITS)
def test_slabs_of_b_reach_the_other_way(backend):
    """Found by `thin`, seed 5, pairs 2 and 22, while nodes got their slabs: B reaches against the
    direction."""
    bodies, pairs = FAMILIES["thin"](np.random.default_rng(5), 30)
    found = gc.clearance(bodies, pairs[[2, 22]], backend=backend.kind)
    slow = gc.clearance(bodies, pairs[[2, 22]], backend="reference")
    assert found.distance == pytest.approx(slow.distance, abs=1e-12)


# -- properties
# --------------------------------------------------------------------------------------------------

eighths = st.integers(-24, 24).map(lambda k: k / 8)
places = st.tuples(eighths, eighths, eighths)


@settings(max_examples=40, deadline=None)
@given(places, places, st.sampled_from([0.125, 1.0, 3.0]))
def test_boxes_that_go_straight(p0, p1, side):
    """The gap of two boxes along each axis is that of intervals; its length is convex in time."""
    found = boxes(p0, p1, mesh=gc.shapes.box((side, 1.0, 2.0)), backend="cpu")
    half = 0.5 * np.array([side + 1.0, 2.0, 3.0])

    def gap(t):
        return np.linalg.norm(np.maximum(np.abs((1 - t) * np.array(p0) + t * np.array(p1)) - half, 0.0))

    low, high = 0.0, 1.0
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if gap(a) <= gap(b) else (a, high)
    least = min(gap(0.0), gap(1.0), gap(0.5 * (low + high)))
    assert found.distance[0] == pytest.approx(
        least, abs=1e-8 * (1 + (least == 0))
    )  # thirds end in 1e-9 of a flat least
    assert found.lower_bound[0] <= least + 1e-12
    if found.status[0] == MISS:
        assert gap(found.time[0]) == pytest.approx(found.distance[0], abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["random", "whole", "planar", "thin"]))
def test_nothing_depends_on_who_is_a_or_on_the_way_of_time(seed, name):
    bodies, pairs = FAMILIES[name](np.random.default_rng(seed), 4)
    size = sizes(bodies, pairs)
    back = gc.Bodies(bodies.meshes, bodies.shape, bodies.end, bodies.start)
    found = gc.clearance(bodies, pairs, backend="cpu")
    swapped = gc.clearance(bodies, pairs[:, ::-1], backend="cpu")
    late = gc.clearance(back, pairs, backend="cpu")
    apart = found.status == MISS
    assert (swapped.status == found.status).all()
    assert np.abs(swapped.distance - found.distance).max() <= 1.1e-9 * size.max()
    assert (
        np.abs(late.distance - found.distance)[apart & (late.status == MISS)].max(initial=0.0)
        <= 1.1e-9 * size.max()
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_no_time_is_nearer_than_the_least(seed, times):
    bodies, pairs = random(np.random.default_rng(seed), 6)
    for motion in ("relative", "body"):
        least = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
        then = gc.clearance(bodies, pairs, at=times, motion=motion, backend="cpu")
        assert (np.maximum(then.distance, 0.0).reshape(6, -1) >= least.lower_bound[:, None] - 1e-12).all()
        known = np.flatnonzero(least.status == MISS)
        for k in known[:2]:
            there = gc.clearance(bodies, pairs[[k]], at=float(least.time[k]), motion=motion, backend="cpu")
            assert there.distance[0] == pytest.approx(least.distance[k], abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 4.0))
def test_max_distance_only_leaves_out(seed, limit):
    bodies, pairs = random(np.random.default_rng(seed), 8)
    whole = gc.clearance(bodies, pairs, backend="cpu")
    some = gc.clearance(bodies, pairs, max_distance=limit, backend="cpu")
    near = whole.distance < limit - 2e-9
    assert np.isfinite(some.distance[near]).all()
    assert (
        np.abs(some.distance - whole.distance)[near].max(initial=0.0) <= 1.1e-9 * sizes(bodies, pairs).max()
    )
    far = ~np.isfinite(some.distance)
    assert (some.kind[far] == gc.Kind.NONE).all() and (some.lower_bound[far] > limit - 2e-9).all()
    assert (some.lower_bound <= whole.distance + 1e-12).all()


@pytest.mark.shared_bits(BITS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
def test_a_bound_keeps_to_the_tolerance(tolerance, backend):
    bodies, pairs = random(np.random.default_rng(3), 40)
    found = gc.clearance(bodies, pairs, tolerance=tolerance, backend=backend.kind)
    fine = gc.clearance(bodies, pairs, backend=backend.kind)
    size = sizes(bodies, pairs)
    assert (found.distance - found.lower_bound <= (tolerance + 1e-13) * size).all()
    assert (found.lower_bound <= fine.distance + 1e-12).all()
    assert (found.distance >= fine.lower_bound - 1e-12).all()


@pytest.mark.parametrize(
    "precision, close", [pytest.param("double", 1e-12, marks=pytest.mark.slow), ("single", 2e-4)]
)
def test_precisions(precision, close, backend):
    """Worst seen: 4e-15, 2e-6."""
    bodies, pairs = random(np.random.default_rng(3), 30)
    for motion in ("relative", "body"):
        fine = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
        found = gc.clearance(bodies, pairs, motion=motion, precision=precision, backend=backend.kind)
        same = fine.status == found.status
        assert same.mean() > 0.9
        assert np.abs(fine.distance - found.distance)[same].max() < close
        assert (found.lower_bound <= fine.distance + close)[same].all()
