"""`collide(exit=True)`: when the motion takes bodies apart, by arithmetic and by judges that share nothing
with it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.bodies import quaternion
from tests.clearance import _families as families
from tests.clearance._families import BLOCK, BOX, ONE, STAR, TRAY, TRIANGLE, about, scene
from tests.oracle.exits import apart_boxes, apart_surfaces, judged

pytestmark = [
    pytest.mark.shared_bits("tests/clearance/test_c01_clearance.py"),
    pytest.mark.filterwarnings("ignore:all .* pairs overlap"),
]

MISS, HIT, OVERLAP = gc.Status.MISS, gc.Status.HIT, gc.Status.INITIAL_OVERLAP
MOTIONS = ("relative", "body")
RING = gc.shapes.torus(1.0, 0.3, 8, 6)
#: Of the step. Worst seen, over 3,600 pairs of the families below: 2e-14, of whole numbers 9e-16, of sheets
#: by whole numbers 3e-12.
CLOSE, CLOSE_SHEETS = 1e-12, 1e-10


def moved(way, at, turn=ONE, a=BOX, b=BOX, **asked):
    """B from `at` by `way`, seen from A that stands; status, toi and exit."""
    start = gc.Poses.from_quat_wxyz([[0.0, 0, 0], at], [ONE, ONE])
    end = gc.Poses.from_quat_wxyz([[0.0, 0, 0], np.add(at, way)], [ONE, turn])
    found = gc.collide(gc.Bodies([a, b], [0, 1], start, end), [[0, 1]], exit=True, **asked)
    return found.status[0], found.toi[0], found.exit[0]


# -- by arithmetic


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(
    "way, at, status, exit",
    [
        ([2, 0, 0], [0.5, 0.1, 0.2], OVERLAP, 0.25),
        ([2, 0, 0], [0, 0, 0], OVERLAP, 0.5),  # equal bodies in one place
        ([0.25, 0, 0], [0.5, 0.1, 0.2], OVERLAP, np.inf),
        ([0.5, 0, 0], [0.5, 0.1, 0.2], OVERLAP, np.inf),  # in touch when the step ends
        ([0, 0, 0], [0.5, 0.1, 0.2], OVERLAP, np.inf),
        ([8, 0, 0], [-4, 0.5, 0], HIT, 0.625),  # through
        ([8, 0, 0], [-4, 1, 0], HIT, 0.625),  # along the face
        ([8, 8, 0], [-4, -3, 0], HIT, 0.5),
        ([2, -2, 0], [0, 2, 0], HIT, 0.5),  # two edges that pass each other
        ([2, 0, 0], [1, 0, 0], HIT, 0.0),  # apart at once
        ([0, 0, 2], [1, 0, 0], HIT, 0.5),  # slides off
        ([0, 0, 0.5], [1, 0, 0], HIT, np.inf),
        ([0, 0, 0], [1, 0, 0], HIT, np.inf),
        ([-2, 0, 0], [3, 0, 0], HIT, np.inf),  # touches as the step ends
        ([-1, 0, 0], [3, 0, 0], MISS, np.nan),
    ],
)  # fmt: skip
def test_boxes_in_whole_numbers(way, at, status, exit, motion, backend):
    told, _, when = moved(way, at, motion=motion, backend=backend.kind)
    assert told == status
    assert when == pytest.approx(exit, abs=1e-15, nan_ok=True)  # worst seen: 0


@pytest.mark.parametrize("motion", MOTIONS)
def test_what_comes_in_again_was_apart(motion, backend):
    """A box between the legs of a table leaves one leg, and goes into the other: it is apart in between."""
    table = families.legs(1.0)
    small = gc.shapes.box((0.2, 0.1, 0.2))
    told = moved([1.8, 0, 0], [-0.9, 0, -0.5], a=table, b=small, motion=motion, backend=backend.kind)
    assert told[0] == OVERLAP and told[2] == pytest.approx(0.2 / 1.8, abs=1e-15)
    # in one leg and in the top, it leaves the leg first
    told = moved([1.0, 0, -1.0], [-0.9, 0, 0.0], a=table, b=small, motion=motion, backend=backend.kind)
    assert told[0] == OVERLAP and told[2] == pytest.approx(0.2, abs=1e-15)


@pytest.mark.parametrize("motion", MOTIONS)
def test_deep_inside(motion, backend):
    """A small box within a large one: no surface meets another until it leaves."""
    big, small = gc.shapes.box((4, 4, 4)), gc.shapes.box((1, 1, 1))
    assert moved([1, 0, 0], [0, 0, 0], a=big, b=small, motion=motion, backend=backend.kind)[::2] == (
        OVERLAP, np.inf,
    )  # fmt: skip
    assert moved([4, 0, 0], [0, 0, 0], a=big, b=small, motion=motion, backend=backend.kind)[::2] == (
        OVERLAP, 0.625,
    )  # fmt: skip


@pytest.mark.parametrize("motion", MOTIONS)
def test_open_bodies_are_apart_where_their_surfaces_are(motion, backend):
    """Through a sheet from its front and from its back, out of a tray, and to its middle."""
    sheet = gc.Mesh([[-2, -2, 0], [2, -2, 0], [0, 2, 0]], [[0, 1, 2]])
    asked = {"motion": motion, "backend": backend.kind}
    assert moved([0, 0, -4], [0, 0, 1.5], a=sheet, **asked) == (HIT, 0.25, 0.5)
    assert moved([0, 0, -4], [0, 0, 0.5], a=sheet, **asked)[2] == 0.25  # touches it at the start
    both = gc.Mesh(sheet.vertices, sheet.faces, two_sided=True)
    assert moved([0, 0, 4], [0, 0, -1.5], a=both, **asked) == (HIT, 0.25, 0.5)
    small = gc.shapes.box((0.2, 0.2, 0.2))
    status, _, exit = moved([0.5, 0, 0], [-0.5, 0, 0], a=TRAY, b=small, **asked)
    assert status == OVERLAP and exit == pytest.approx(0.2, abs=1e-15)  # inside, and not in it


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("turn", [[0, 0, 0, 1], [0, 0, 0, -1], [1e-14, 0.6, 0, -0.8], [-1e-14, 0, -0.6, 0.8]])
def test_half_a_turn_leads_back_on_its_way(turn, motion, backend):
    """Both ways round are as short; the motion run backwards is still that of the step. The plank sweeps away
    from a box on one side only."""
    plank = gc.shapes.box((4.0, 0.2, 0.2))
    start = gc.Poses.from_quat_wxyz([[1.5, 0.1, 0], [0, 0, 0]], [ONE, ONE])
    end = gc.Poses.from_quat_wxyz([[1.5, 0.1, 0], [0.3, 0.2, 0]], [ONE, turn])
    bodies = gc.Bodies([gc.shapes.box((0.5, 0.5, 0.5)), plank], [0, 1], start, end)
    found = gc.collide(bodies, [[0, 1]], motion=motion, exit=True, backend=backend.kind)
    exit = found.exit[0]
    assert found.status[0] == OVERLAP and 0.01 < exit < 0.5
    near = gc.clearance(bodies, [[0, 1]], at=[exit - 1e-6, exit + 1e-6], motion=motion)
    assert near.status.tolist() == [OVERLAP, MISS]


def test_spins_of_many_turns(backend):
    """A plank that turns four times beside a box, and goes away from it."""
    plank = gc.shapes.box((4.0, 0.2, 0.2))
    poses = gc.Poses.from_quat_wxyz([[0, 1.0, 0], [0, 0, 0]], [ONE, ONE])
    bodies = gc.Bodies.from_velocities(
        [BOX, plank], [0, 1], poses, [[0, 0, 0], [0, -3, 0]], [[0, 0, 0], [0, 0, 8 * np.pi]]
    )
    found = gc.collide(bodies, [[0, 1]], motion="body", exit=True, backend=backend.kind)
    assert found.status[0] == HIT and found.toi[0] < found.exit[0] < 1.0
    error = judged(bodies, (0, 1), "body", found.toi[0], found.exit[0], apart_boxes, samples=400)
    assert error < CLOSE


def test_half_a_turn_beside_a_spin(backend):
    """A box that spins three times, out of a plank that makes half a turn."""
    one = gc.Poses.from_quat_wxyz([[0, 0, 0]], [ONE])
    spins = gc.Bodies.from_velocities(BOX, None, one, [[3, 0, 0]], [[0, 0, 20]])
    start = gc.Poses.from_quat_wxyz([[0.3, 0.2, 0]], [ONE])
    end = gc.Poses.from_quat_wxyz([[0.5, 0, 0]], [[0, 0, 0, 1]])
    bodies = gc.Bodies.concatenate([spins, gc.Bodies(gc.shapes.box((3, 0.2, 0.2)), None, start, end)])
    found = gc.collide(bodies, [[0, 1]], motion="body", exit=True, backend=backend.kind)
    exit = found.exit[0]
    near = gc.clearance(bodies, [[0, 1]], at=[0.5 * exit, exit - 1e-6, exit + 1e-6], motion="body")
    assert 0.1 < exit < 0.9 and near.status.tolist() == [OVERLAP, OVERLAP, MISS]


def test_worlds_of_the_broad_phase(backend):
    start, end = np.zeros((2, 3, 2, 3))
    start[:, 1, 0], end[:, 1, 0] = [0.5, 0.6, -4.0], [2.5, 2.6, 4.0]
    poses = (gc.Poses.from_quat_wxyz(p, np.tile(ONE, (3, 2, 1))) for p in (start, end))
    found = gc.collide(gc.Bodies(BOX, None, *poses), exit=True, backend=backend.kind)
    assert found.pairs.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert found.exit == pytest.approx([0.25, 0.2, 0.625], abs=1e-15)  # worst seen: 0


@pytest.mark.parametrize("motion", MOTIONS)
def test_at_a_distance(motion, backend):
    """Apart is what is farther than the distance then."""
    asked = {"motion": motion, "backend": backend.kind, "target_distance": 0.5}
    assert moved([8, 0, 0], [-4, 0.5, 0], **asked) == (HIT, 0.3125, 0.6875)
    assert moved([2, 0, 0], [0.5, 0, 0], **asked)[::2] == (OVERLAP, 0.5)
    assert moved([2, 0, 0], [1.25, 0, 0], **asked)[::2] == (OVERLAP, 0.125)
    assert moved([0.5, 0, 0], [0.5, 0, 0], **asked)[::2] == (OVERLAP, np.inf)
    told = moved([0, 0, 8], [1.5, 0, -4], **asked)  # it stays at the distance until it is past
    assert told[0] == HIT and told[2] == pytest.approx(0.625, abs=1e-8)


# -- by judges


def passing(rng, n, meshes):
    """B goes through A, or out of it, or away, and turns."""
    p0, p1 = np.zeros((2 * n, 3)), np.zeros((2 * n, 3))
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    side = 0.5 * rng.normal(size=(n, 3))
    p0[1::2] = side - way * rng.choice([0, 0, 0.3, 2.0], n)[:, None]
    p1[1::2] = side + way * rng.uniform(0.5, 3.0, n)[:, None]
    q0 = families.quaternions(rng, 2 * n)
    q1 = q0.copy()
    q1[1::2] = quaternion.multiply(families.turns(rng, n, [0.0, 0.35, 0.8, 2.5, 3.0]), q0[1::2])
    return scene(meshes, rng.integers(0, len(meshes), 2 * n), p0, q0, p1, q1)


def whole(rng, n, meshes):
    """By whole numbers and quarters of a turn: everything is parallel and in touch."""
    p0, p1 = np.zeros((2 * n, 3)), np.zeros((2 * n, 3))
    p0[1::2] = rng.integers(-1, 2, (n, 3))
    p1[1::2] = p0[1::2] + rng.integers(-3, 4, (n, 3))
    axes = np.eye(3)[rng.integers(0, 3, 2 * n)]
    q0 = about(axes, 0.5 * np.pi * rng.integers(0, 4, 2 * n))
    q1 = q0.copy()
    quarter = about(np.eye(3)[rng.integers(0, 3, n)], 0.5 * np.pi * rng.integers(0, 2, n))
    q1[1::2] = quaternion.multiply(quarter, q0[1::2])
    return scene(meshes, rng.integers(0, len(meshes), 2 * n), p0, q0, p1, q1)


def judge(bodies, pairs, found, motion, apart=apart_surfaces, samples=32):
    """Worst error, and how many exits there are."""
    worst, ends = 0.0, 0
    together = np.isin(found.status, (HIT, OVERLAP))
    assert np.isnan(found.exit[~together]).all() and not np.isnan(found.exit[together]).any()
    for k in np.flatnonzero(together):
        begin = found.toi[k] if found.status[k] == HIT else 0.0
        size = max(bodies.meshes[bodies.shape[body]].radius for body in pairs[k])
        error = judged(bodies, pairs[k], motion, begin, found.exit[k], apart, samples, least=1e-7 * size)
        worst = max(worst, 0.0 if np.isnan(error) else error)
        ends += bool(np.isfinite(found.exit[k]))
    return worst, ends


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(
    "make, meshes, apart",
    [
        (passing, [BOX, gc.shapes.box((2.0, 1.0, 0.3))], apart_boxes),
        (whole, [BOX, gc.shapes.box((2.0, 1.0, 1.0))], apart_boxes),
        (passing, [BOX, BLOCK, STAR, RING], apart_surfaces),
        (whole, [BOX, BLOCK], apart_surfaces),
        (passing, [TRAY, TRIANGLE, BOX], apart_surfaces),
        (whole, [TRAY, TRIANGLE, BOX], apart_surfaces),
    ],
    ids=["boxes", "boxes-whole", "closed", "closed-whole", "open", "open-whole"],
)
def test_exits_against_judges(make, meshes, apart, motion, backend):
    bodies, pairs = make(np.random.default_rng(11), 40, meshes)
    found = gc.collide(bodies, pairs, motion=motion, exit=True, backend=backend.kind)
    worst, ends = judge(bodies, pairs, found, motion, apart)
    assert worst < (CLOSE_SHEETS if TRAY in meshes else CLOSE)
    assert ends > 10
    assert make is whole or (found.exit == np.inf).sum() > 2


@pytest.mark.parametrize("name", ["grazing", "resting", "nested", "thin", "huge", "tiny", "sheets", "alike"])
def test_exits_of_hard_families(name, backend):
    bodies, pairs = families.FAMILIES[name](np.random.default_rng(2), 40)
    for motion in MOTIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = gc.collide(bodies, pairs, motion=motion, exit=True, backend=backend.kind)
        assert judge(bodies, pairs, found, motion, samples=24)[0] < CLOSE


eighths = st.integers(-16, 16).map(lambda k: k / 8.0)


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[eighths] * 3), st.tuples(*[eighths] * 3), st.sampled_from(MOTIONS))
def test_boxes_that_slide_along_themselves(at, way, motion):
    """Of boxes that stay parallel the exit is that of the intervals along the axes."""
    status, _, exit = moved(way, at, motion=motion)
    begin, end = 0.0, np.inf
    for x, v in zip(at, way, strict=True):
        if v == 0.0:
            if abs(x) > 1.0:
                begin, end = np.inf, -np.inf
        else:
            low, high = sorted(((-1.0 - x) / v, (1.0 - x) / v))
            begin, end = max(begin, low), min(end, high)
    if end == 0.0 or begin == 1.0:  # a touch at an end of the step may be no contact
        assert status == MISS or exit == pytest.approx(0.0 if end == 0.0 else np.inf, abs=1e-14)
    elif begin > end or begin > 1.0:
        assert status == MISS and np.isnan(exit)
    else:
        assert status in (HIT, OVERLAP)
        assert exit == pytest.approx(end if end < 1.0 else np.inf, abs=1e-14)  # worst seen: 9e-16


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(MOTIONS))
def test_swapped_bodies_part_at_the_same_time(seed, motion):
    """And so do they if A and B move together besides, on the relative screw."""
    bodies, pairs = passing(np.random.default_rng(seed), 4, [BOX, BLOCK])
    found = gc.collide(bodies, pairs, motion=motion, exit=True)
    other = gc.collide(bodies, pairs[:, ::-1], motion=motion, exit=True)
    assert np.array_equal(found.status, other.status)
    assert other.exit == pytest.approx(found.exit, abs=1e-12, nan_ok=True)  # worst seen: 3e-15


# -- the query


def test_the_bits_are_those_of_cpu_and_of_a_scene(backend):
    bodies, pairs = passing(np.random.default_rng(5), 30, [BOX, BLOCK, TRAY])
    for motion in MOTIONS:
        one = gc.collide(bodies, pairs, motion=motion, exit=True, backend="cpu")
        other = gc.collide(bodies, pairs, motion=motion, exit=True, backend=backend.kind)
        with gc.Scene(
            bodies.meshes, bodies.shape, bodies.start, bodies.end, motion=motion, backend=backend.kind
        ) as kept:
            third = kept.collide(pairs, exit=True)
            found, asked = kept.collide(exit=True), kept.collide()
        assert one.exit.tobytes() == other.exit.tobytes() == third.exit.tobytes()
        alone = gc.collide(bodies, pairs[7:8], motion=motion, exit=True, backend=backend.kind)
        assert alone.exit.tobytes() == one.exit[7:8].tobytes()
        assert asked.exit is None and found.time.tobytes() == asked.time.tobytes()


def test_the_reference_finds_the_same():
    bodies, pairs = passing(np.random.default_rng(6), 12, [BOX, BLOCK])
    one, other = (gc.collide(bodies, pairs, exit=True, backend=kind) for kind in ("cpu", "reference"))
    assert other.exit == pytest.approx(one.exit, abs=1e-12, nan_ok=True)  # worst seen: 1e-15


@pytest.mark.parametrize("motion", MOTIONS)
def test_long_ways(motion):
    """A million sizes long: times of one contact that differ by rounding are no gap."""
    bodies, pairs = passing(np.random.default_rng(12), 40, [BOX, BLOCK])
    p0, p1, q = bodies.start.position, bodies.end.position, bodies.start.quat_wxyz
    way = 1e6 * (p1 - p0)
    far, _ = scene(bodies.meshes, bodies.shape, p0 - 0.4 * way, q, p0 + 0.6 * way, q)
    near, _ = scene(bodies.meshes, bodies.shape, p0 - 4e-6 * way, q, p0 + 6e-6 * way, q)
    one, other = (gc.collide(each, pairs, motion=motion, exit=True) for each in (near, far))
    assert np.array_equal(one.status, other.status)
    assert (other.exit - 0.4) * 1e5 == pytest.approx(
        one.exit - 0.4, abs=5e-9, nan_ok=True
    )  # worst seen: 4e-10


def test_single_precision(backend):
    """The same bodies come apart. Once 6 of 200 pairs were apart at their first contact, since two times of
    it differed by a rounding."""
    bodies, pairs = passing(np.random.default_rng(1), 100, [BOX, BLOCK])
    one, other = (
        gc.collide(bodies, pairs, exit=True, precision=each, backend=backend.kind)
        for each in ("mixed", "single")
    )
    assert other.exit == pytest.approx(one.exit, abs=2e-5, nan_ok=True)  # worst seen: 1.3e-6


def test_other_options_change_nothing():
    """Which contacts are told has no say in it."""
    bodies, pairs = passing(np.random.default_rng(8), 30, [BOX, BLOCK])
    whole_way = gc.collide(bodies, pairs, exit=True)
    first = gc.collide(bodies, pairs, exit=True, contacts="first")
    small = gc.collide(bodies, pairs, exit=True, max_bytes=1 << 20)
    for other in (first, small):
        assert other.exit.tobytes() == whole_way.exit.tobytes()


def test_saved_and_loaded(tmp_path):
    bodies, pairs = passing(np.random.default_rng(9), 6, [BOX])
    found = gc.collide(bodies, pairs, exit=True)
    found.save(tmp_path / "found.npz")
    again = gc.Contacts.load(tmp_path / "found.npz")
    assert again.exit.tobytes() == found.exit.tobytes()
    assert found[found.kind == gc.Kind.EE].exit.tobytes() == found.exit.tobytes()
    assert "exit" in found.to_pandas("pairs").columns
    assert "exit" not in gc.collide(bodies, pairs).to_pandas("pairs").columns
    damaged = dict(np.load(tmp_path / "found.npz"))
    damaged["exit"] = np.full(len(pairs), -1.0)
    np.savez(tmp_path / "damaged.npz", **damaged)
    with pytest.raises(ValueError, match="exit"):
        gc.Contacts.load(tmp_path / "damaged.npz")


def test_nothing_to_ask_about():
    none = gc.Poses.identity(0)
    assert gc.collide(gc.Bodies(BOX, None, none, none), exit=True).exit.shape == (0,)
    wrong = gc.Poses([[0, 0, 0], [np.nan, 0, 0]], [ONE, ONE])
    with pytest.warns(RuntimeWarning, match="invalid"):
        found = gc.collide(gc.Bodies(BOX, None, wrong, wrong), [[0, 1]], exit=True)
    assert found.status[0] == gc.Status.INVALID_INPUT and np.isnan(found.exit[0])


def test_refused():
    bodies, pairs = passing(np.random.default_rng(0), 1, [BOX])
    with pytest.raises(ValueError, match="refine: expected 'exact' with exit=True, got 'pixels'"):
        gc.collide(bodies, pairs, exit=True, refine="pixels")
    with pytest.raises(TypeError, match="exit: expected"):
        gc.collide(bodies, pairs, exit=1)
