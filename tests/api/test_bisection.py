"""`gc.baselines.bisection`: known answers, what it misses, and that it never finds what is not there.

An overlap counts from a depth of 1e-7 of the size, so a time lies behind the exact one by the time that this
depth takes, less at most the last bracket of the halving.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline import bisection
from gpu_collide.pipeline.bisection import sample_times
from gpu_collide.scenes import random_impacts

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = gc.shapes.box()
ONE = [1.0, 0, 0, 0]


def turned(axis, degrees):
    half = np.radians(degrees) / 2
    return [np.cos(half), *(np.sin(half) * np.asarray(axis, float))]


def pair(start, end, turn=ONE, meshes=BOX, shape=None, **options):
    """Body A at rest at the origin, B from `start` to `end`, turning by `turn`."""
    rest = np.zeros(3)
    bodies = gc.Bodies(
        meshes,
        shape,
        gc.Poses.from_quat_wxyz(np.array([rest, start], float), [ONE, ONE]),
        gc.Poses.from_quat_wxyz(np.array([rest, end], float), [ONE, turn]),
    )
    return gc.baselines.bisection(bodies, [[0, 1]], **options)


X45, Z45 = turned((1, 0, 0), 45), turned((0, 0, 1), 45)


def about(centre, start):
    """Where `start` gets to by 45 degrees about z through `centre`."""
    c = s = np.sqrt(0.5)
    x, y = np.subtract(start, centre)[:2]
    return (centre[0] + c * x - s * y, centre[1] + s * x + c * y, 0)


ARC = (7.654, 1.522, 0), (7.654, -18.478, 0)
CHORD = (7.071, 2.929, 0), (7.071, -17.071, 0)


# Worst seen beyond the depth: 3e-11 (the last bracket is 6e-11 at most).
@pytest.mark.parametrize(
    "start, end, turn, samples, time, tolerance",
    [
        ((-3, 0, 0), (0, 0, 0), ONE, 16, 2 / 3, 1e-7),
        ((-3, 0.1, 0.2), (0, 0.1, 0.2), ONE, 16, 2 / 3, 1e-7),
        ((-3, 0, 0), (0, 0, 0), X45, 16, 2 / 3, 1e-7),
        ((-1.15, 0, 0), (-1.15, 0, 0), Z45, 16, 1 - np.arccos(1.3 / np.sqrt(2)) * 4 / np.pi, 5e-7),
        ((-100, 0.1, 0), (100, 0.1, 0), X45, 101, 99 / 200, 1e-8),
        ((-3, 1.001, 0), (3, 1.001, 0), ONE, 64, np.inf, 0),
        ((-3, 0.999, 0), (3, 0.999, 0), ONE, 64, 1 / 3, 1e-7),
        (ARC[0], about(ARC[1], ARC[0]), Z45, 64, 0.4276, 5e-5),
        (CHORD[0], about(CHORD[1], CHORD[0]), Z45, 256, np.inf, 0),
    ],
)
def test_known_answers(start, end, turn, samples, time, tolerance, backend):
    found = pair(start, end, turn, samples=samples, backend=backend.kind)
    assert found.hit[0] == np.isfinite(time) and not found.start_overlap[0]
    assert found.status[0] == (gc.Status.HIT if np.isfinite(time) else gc.Status.MISS)
    assert found.time[0] == time or abs(found.time[0] - time) <= tolerance


def test_what_passes_between_samples_is_missed(backend):
    """The cubes overlap from 99/200 to 101/200 of the step."""
    fast = ((-100, 0.1, 0), (100, 0.1, 0), X45)
    found = {
        k: bool(pair(*fast, samples=k, backend=backend.kind).hit[0]) for k in (1, 2, 7, 15, 16, 99, 101, 301)
    }
    # even numbers look at the middle; 49/99 and 50/99 lie on both sides of the overlap
    assert found == {1: False, 2: True, 7: False, 15: False, 16: True, 99: False, 101: True, 301: True}


def test_a_later_overlap_hides_an_earlier_one(backend):
    """B passes through one prong of a fork between two samples and is found in the other."""
    prong = gc.shapes.box((0.2, 4.0, 4.0))
    corners = np.concatenate([prong.vertices + [-1.0, 0, 0], prong.vertices + [1.5, 0, 0]])
    sides = [list(side) for side in prong.faces]
    fork = gc.Mesh(corners, sides + [[v + len(prong.vertices) for v in side] for side in sides])
    # B overlaps the prongs for x in (-1.6, -0.4) and (0.9, 2.1): t in (0.1, 0.4) and from 0.725
    way = dict(start=(-2, 0, 0), end=(2, 0, 0), meshes=[fork, BOX], shape=[0, 1], backend=backend.kind)
    for samples, time in ((1, 0.725), (2, 0.725), (3, 0.1), (16, 0.1)):
        found = pair(samples=samples, iterations=40, **way)
        assert found.time[0] == pytest.approx(time, abs=1e-7)


@pytest.mark.parametrize("samples", [2, 5, 16])
def test_the_time_converges_to_the_exact_one(samples, backend):
    bodies, pairs = random_impacts(BOX, n=150, seed=5)
    exact = gc.collide(bodies, pairs, backend=backend.kind).toi
    wide = None
    for iterations in (1, 2, 5, 10, 20, 30):
        found = gc.baselines.bisection(
            bodies, pairs, samples=samples, iterations=iterations, backend=backend.kind
        )
        bracket = 2.0**-iterations / samples
        late = found.time[found.hit] - exact[found.hit]
        assert found.hit.sum() > 30 and (late >= -bracket).all()
        assert (late <= 1e-6).all()  # the time that the depth takes; seen: 1.3e-7
        assert wide is None or np.array_equal(found.hit, wide)
        wide = found.hit
    assert np.median(np.abs(late)) < 1e-7  # seen: 3.8e-8


def test_what_few_samples_miss_many_find(backend):
    """What `collide` says are first overlaps are overlaps: with enough samples none stays missing."""
    bodies, pairs = random_impacts(BOX, n=1500, seed=6)
    exact = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    enters = (exact.properness > 0) & (exact.normal_speed < 0)
    first = np.full(len(pairs), np.inf)
    np.minimum.at(first, exact.pair[enters], exact.time[enters])
    few = gc.baselines.bisection(bodies, pairs, samples=8, backend=backend.kind)
    assert not (few.hit & np.isinf(first)).any()
    missed = np.isfinite(first) & ~few.hit
    assert missed.sum() >= 10
    many = gc.baselines.bisection(bodies, pairs[missed], samples=5000, backend=backend.kind)
    assert np.abs(many.time - first[missed]).max() < 2e-6  # seen: 1.5e-7


def ball(seed):
    """Hull of random points on the unit sphere."""
    points = np.random.default_rng(seed).normal(size=(12, 3))
    return gc.shapes.convex_hull(points / np.linalg.norm(points, axis=1, keepdims=True))


HULLS = [BOX, gc.shapes.box((2.0, 0.3, 0.05)), ball(1), ball(5)]
numbers = st.floats(-1.0, 1.0, width=32)
vectors = st.tuples(numbers, numbers, numbers)
turns = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: np.linalg.norm(q) > 0.1)


def test_shrinking_the_hulls_moves_their_vertices_inwards():
    """Against each face, not only on average: at sharper tips a vertex that moves against the sum of its
    normals leaves through a face, and touch may count as overlap."""
    for mesh in HULLS:
        normals = np.asarray(mesh.face_planes)[:, :3]
        for first, last in zip(mesh.vertex_face_start[:-1], mesh.vertex_face_start[1:], strict=True):
            own = normals[mesh.vertex_faces[first:last]]
            assert (own @ own.sum(axis=0) > 0).all()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    places=st.tuples(vectors, vectors, vectors, vectors),
    rotations=st.tuples(turns, turns, turns, turns),
    reach=st.sampled_from([0.5, 2.0, 10.0]),
    samples=st.integers(1, 40),
    iterations=st.integers(1, 40),
)
def test_convex_bodies_are_never_found_early_nor_without_a_contact(
    backend, shape, places, rotations, reach, samples, iterations
):
    at, turn = reach * np.array(places), np.array(rotations)
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    bodies = gc.Bodies(
        HULLS, shape, gc.Poses.from_quat_wxyz(at[:2], turn[:2]), gc.Poses.from_quat_wxyz(at[2:], turn[2:])
    )
    exact = gc.collide(
        bodies, [[0, 1]], min_properness=-1.0, check_start=True, backend=backend.kind
    ).to_numpy()
    found = gc.baselines.bisection(
        bodies, [[0, 1]], samples=samples, iterations=iterations, backend=backend.kind
    )
    begins = exact.status[0] == gc.Status.INITIAL_OVERLAP
    assert found.start_overlap[0] == begins
    if begins:
        assert found.hit[0] and found.time[0] == 0.0 and found.tests == 1
    elif found.hit[0]:
        assert exact.status[0] == gc.Status.HIT
        bracket = 2.0**-iterations / samples
        # exact times are good to 1e-9
        assert found.time[0] >= exact.toi[0] - bracket - 1e-9
        # halvings end before `iterations` if no number is left between
        assert found.tests <= 1 + samples + iterations
    else:
        assert found.time[0] == np.inf and found.tests == 1 + samples


def test_all_backends_say_the_same(backend):
    meshes = [BOX, gc.shapes.car(), gc.shapes.l_block(), gc.shapes.star()]
    rng = np.random.default_rng(4)
    n = 60
    place, turn = rng.normal(size=(2, 2 * n, 3)) * 0.9, rng.normal(size=(2, 2 * n, 4))
    turn /= np.linalg.norm(turn, axis=2, keepdims=True)
    bodies = gc.Bodies(
        meshes,
        rng.integers(0, len(meshes), 2 * n),
        *(gc.Poses.from_quat_wxyz(p, q) for p, q in zip(place, turn, strict=True)),
    )
    pairs = rng.permutation(2 * n).reshape(-1, 2)
    here = gc.baselines.bisection(bodies, pairs, samples=6, iterations=12, backend=backend.kind)
    there = gc.baselines.bisection(bodies, pairs, samples=6, iterations=12, backend="reference")
    assert here.start_overlap.sum() > 3 and (here.hit & ~here.start_overlap).sum() > 8
    assert np.array_equal(here.status, there.status) and here.tests == there.tests
    # halving is exact: equal decisions give equal numbers but for the rounding of s = t - 1/2
    close = np.isfinite(there.time)
    assert np.abs(here.time[close] - there.time[close]).max() < 1e-15
    assert np.array_equal(here.time[~close], there.time[~close])


def test_the_number_of_tests_is_counted(backend):
    # B meets A at 2/3: the start, samples 1 to 4 of 6 (2/3 itself is touch), 5 overlaps; then ten halvings
    found = pair((-3, 0, 0), (0, 0, 0), samples=6, iterations=10, backend=backend.kind)
    assert found.tests == 1 + 5 + 10
    assert 2 / 3 - 2**-10 / 6 <= found.time[0] <= 2 / 3 + 1e-7
    assert pair((-3, 0, 0), (-2, 0, 0), samples=6, backend=backend.kind).tests == 7
    assert pair((0.5, 0, 0), (-2, 0, 0), samples=6, backend=backend.kind).tests == 1


def test_halvings_end_when_nothing_is_left_between(backend):
    """Of a billion halvings none is made that changes nothing, and none is missing."""
    way = ((-3, 0.1, 0.2), (0, 0.1, 0.2))
    few, many = (pair(*way, iterations=k, backend=backend.kind) for k in (200, 10**9))
    assert few.tests == many.tests < 12 + 60 and few.time[0] == many.time[0]
    most = pair(*way, iterations=2**80, backend=backend.kind)
    assert most.tests == many.tests


@pytest.mark.parametrize("start, tests", [((0.5, 0, 0), 1), ((np.nan, 0, 0), 0)])
def test_samples_end_when_all_pairs_are_settled(start, tests, backend, monkeypatch):
    """Nothing is left to look at after the first sample; the other 999,999 are not made."""
    asked = []
    times = sample_times(10**6)
    monkeypatch.setattr(bisection, "sample_times", lambda n: (asked.append(t) or t for t in times))
    found = pair(start, (3, 0, 0), samples=10**6, backend=backend.kind)
    assert found.tests == tests and 1 < len(asked) < 20


def test_sample_times_are_made_one_by_one():
    times = sample_times(10**15)
    assert next(times) == -0.5 and -0.5 < next(times) < -0.499
    assert list(sample_times(4)) == [-0.5, -0.25, 0.0, 0.25, 0.5]


def test_repr_is_short(backend):
    bodies, pairs = random_impacts(BOX, n=2000, seed=5)
    found = gc.baselines.bisection(bodies, pairs, samples=3, iterations=2, backend=backend.kind)
    text = repr(found).splitlines()
    assert text[0] == "BisectionResult" and len(text) == 5 and len(repr(found)) < 400
    assert text[1] == f"  pairs     2000: {(~found.hit).sum()} MISS, {found.hit.sum()} HIT"
    assert text[2].startswith(f"  earliest  t = {found.time.min():.9g} in pair ")
    assert text[3] == f"  tests     {found.tests}" and text[4].endswith("3 samples, 2 iterations")
    none = gc.baselines.bisection(bodies, [], backend=backend.kind)
    assert repr(none).splitlines()[1] == "  pairs     0: none"


def test_start_overlap_open_meshes_and_bodies_inside(backend):
    cube = gc.shapes.box((0.5, 0.5, 0.5))
    big = gc.shapes.box((2, 2, 2))
    lidless = gc.Mesh(big.vertices, big.faces[:-1])  # without the side x = 1
    inside = dict(meshes=[big, cube], shape=[0, 1], backend=backend.kind)
    found = pair((0, 0.1, 0.2), (3, 0.1, 0.2), **inside)
    assert found.start_overlap[0] and found.hit[0] and found.time[0] == 0.0
    assert found.status[0] == gc.Status.INITIAL_OVERLAP
    # an open mesh has no inside: out through the opening is free, through a wall is a hit at 0.75/3
    inside["meshes"] = [lidless, cube]
    assert not pair((0, 0.1, 0.2), (3, 0.1, 0.2), **inside).hit[0]
    found = pair((0, 0.1, 0.2), (-3, 0.1, 0.2), **inside)
    assert not found.start_overlap[0] and found.time[0] == pytest.approx(0.25, abs=1e-7)


def test_invalid_poses_and_motions_beyond_all_bounds(backend):
    start = np.array([[0, 0, 0], [-3, 0, 0], [np.nan, 0, 0], [0, 0, 1e300]])
    end = np.array([[0, 0, 0], [3, 0, 0], [0, 0, 0], [0, 0, -1e300]])
    turn = np.tile(ONE, (4, 1))
    bodies = gc.Bodies(BOX, None, gc.Poses.from_quat_wxyz(start, turn), gc.Poses.from_quat_wxyz(end, turn))
    found = gc.baselines.bisection(bodies, [[0, 1], [0, 2], [2, 1], [0, 3]], backend=backend.kind)
    assert found.status.tolist() == [
        gc.Status.HIT, gc.Status.INVALID_INPUT, gc.Status.INVALID_INPUT, gc.Status.UNRESOLVED
    ]  # fmt: skip
    assert found.hit.tolist() == [True, False, False, False]
    assert np.isfinite(found.time).tolist() == [True, False, False, False]
    assert found.tests == 1 + 6 + 30  # of the first pair alone
    assert found.status.dtype == np.uint8 and found.hit.dtype == bool and found.time.dtype == np.float64


def test_pieces_that_fit_the_memory_give_the_same(backend):
    bodies, pairs = random_impacts(gc.shapes.car(), n=70, seed=2)
    whole = gc.baselines.bisection(bodies, pairs, samples=8, backend=backend.kind)
    pieces = gc.baselines.bisection(bodies, pairs, samples=8, backend=backend.kind, max_bytes=5000)
    for name in ("status", "hit", "start_overlap", "time"):
        assert np.array_equal(getattr(whole, name), getattr(pieces, name))
    assert whole.tests == pieces.tests and 10 < whole.hit.sum() < 60
    with pytest.raises(MemoryLimitError, match="max_bytes: expected room for one pair"):
        gc.baselines.bisection(bodies, pairs, backend=backend.kind, max_bytes=100)
    with pytest.raises(
        MemoryLimitError, match="max_bytes: expected room for one pair"
    ):  # no room for a list of pieces
        gc.baselines.bisection(bodies, pairs, backend=backend.kind, max_bytes=1000, motion="body")


def test_no_pairs_duplicates_and_precisions(backend):
    bodies, pairs = random_impacts(BOX, n=60, seed=8)
    none = gc.baselines.bisection(bodies, [], backend=backend.kind)
    assert len(none) == 0 and none.tests == 0 and none.time.shape == none.hit.shape == (0,)
    mixed, double, single = (
        gc.baselines.bisection(bodies, pairs, backend=backend.kind, precision=p)
        for p in ("mixed", "double", "single")
    )
    assert np.array_equal(mixed.time, double.time)
    assert (mixed.hit == single.hit).mean() > 0.95
    both = mixed.hit & single.hit
    assert (
        np.median(np.abs(mixed.time[both] - single.time[both])) < 1e-4
    )  # single counts from a depth of 1e-4
    twice = gc.baselines.bisection(bodies, np.repeat(pairs, 2, axis=0), backend=backend.kind)
    assert np.array_equal(twice.time, np.repeat(mixed.time, 2)) and twice.tests == 2 * mixed.tests
    assert mixed.info["backend"] == backend.kind and mixed.info["samples"] == 16
    assert {"s01_screw", "s09_overlap", "s09_step"} <= set(mixed.info["timings"])
    with pytest.raises(ValueError, match="read-only"):
        mixed.time[0] = 0.0


@pytest.mark.parametrize(
    "change, error, text",
    [
        (dict(bodies=3), TypeError, "bodies: expected gpu_collide.Bodies, got int"),
        (dict(pairs=[[0, 0]]), ValueError, "pairs: expected two different bodies"),
        (dict(pairs=[[0, 7]]), ValueError, "pairs: expected indices from 0 to 1, got 7"),
        (dict(samples=0), ValueError, "samples: expected a positive integer, got 0"),
        (dict(samples=10**12), ValueError, "samples: expected at most 1000000, got 1000000000000.*collide"),
        (dict(samples=2**80), ValueError, "samples: expected at most 1000000"),
        (dict(samples=2.5), TypeError, "samples: expected a positive integer, got float"),
        (dict(iterations=-1), ValueError, "iterations: expected a positive integer, got -1"),
        (dict(precision="half"), ValueError, "precision: expected one of"),
        (dict(backend="gpu"), ValueError, "backend: expected one of"),
        (dict(max_bytes=0), ValueError, "max_bytes: expected a positive integer"),
    ],
)
def test_bad_arguments_are_named(change, error, text):
    at = gc.Poses.from_quat_wxyz(np.zeros((2, 3)), [ONE, ONE])
    given_ = {"bodies": gc.Bodies(BOX, None, at, at), "pairs": [[0, 1]], **change}
    with pytest.raises(error, match=text):
        gc.baselines.bisection(given_.pop("bodies"), given_.pop("pairs"), **given_)
