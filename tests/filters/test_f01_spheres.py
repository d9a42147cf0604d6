"""f01_spheres: swept bounding balls. Exact up to the pads for a translation, a lower bound for a turn."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.filters import f01_spheres
from tests.filters import _cases
from tests.narrow_phase._launch import Stages, cpu
from tests.oracle import shapes
from tests.oracle.scenes_base import IDENTITY, SceneData, turn_quat

ROOT3 = np.sqrt(3.0)  # twice the bounding radius of the unit cube
PRECISIONS = ("mixed", "double", "single")


def cubes(*moves):
    """One pair per (start, end, axis, angle) of a cube B; A, the same, rests at the origin."""
    n = len(moves)
    start, end = np.zeros((2, 2 * n, 3))
    q0, q1 = np.tile(IDENTITY, (2, 2 * n, 1))
    for k, (p0, p1, axis, angle) in enumerate(moves):
        start[2 * k + 1], end[2 * k + 1] = p0, p1
        q1[2 * k + 1] = turn_quat(np.asarray(axis, float), np.array(angle))
    pairs = np.arange(2 * n).reshape(n, 2)
    return SceneData("cubes", [shapes.box()], np.zeros(2 * n, int), (start, q0), (end, q1), pairs)


X, Z = (1.0, 0, 0), (0, 0, 1.0)


def swing(radius, angle, at, height=0.0):
    """A turn of B about the vertical through (0, -at, 0) at the given radius, B's middle crossing x = 0."""
    ends = [(radius * np.sin(a), radius * np.cos(a) - at, height) for a in (-0.5 * angle, 0.5 * angle)]
    return ends[0], ends[1], (0, 0, -1.0), angle


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "move, meets",
    [
        (((-5, 0, 0), (5, 0, 0), X, 0.0), True),
        (((-5, ROOT3 - 1e-3, 0), (5, ROOT3 - 1e-3, 0), X, 0.0), True),  # past at just the reach
        (((-5, ROOT3 + 1e-3, 0), (5, ROOT3 + 1e-3, 0), X, 0.0), False),
        (((-5, 1.3, 1.3), (5, 1.3, 1.3), X, 0.0), False),  # each less than the reach, but not both
        (((-5, 1.2, 1.2), (5, 1.2, 1.2), X, 0.0), True),
        (((-5, 0, 0), (-ROOT3 - 1e-3, 0, 0), X, 0.0), False),  # stops short
        (((-5, 0, 0), (-ROOT3 + 1e-3, 0, 0), X, 0.0), True),
        (((ROOT3 + 1e-3, 0, 0), (9, 0, 0), X, 0.0), False),  # moves off
        (((0, 2, 0), (0, 2, 0), X, 0.0), False),  # no motion
        (((0, 1.7, 0), (0, 1.7, 0), X, 0.0), True),
        (((0, 2, 0), (0, 2, 0), X, 3.0), False),  # turns on the spot
        (((0, 1.7, 0), (0, 1.7, 0), X, 3.0), True),
        (swing(4.0, 3.0, 4.0), True),  # through the middle of A on an arc
        (swing(4.0, 3.0, 4.0 + ROOT3 + 0.02), False),  # inside of A
        (swing(4.0, 3.0, 4.0 - ROOT3 - 0.02), False),  # outside of A
        (swing(4.0, 3.0, 4.0 + ROOT3 - 0.02), True),
        (swing(4.0, 3.0, -4.0), False),  # across the circle from A
        (swing(4.0, 3.1, -4.0), False),
        (swing(0.9, 3.1, -0.9), True),  # the same on a small circle: from either end round to A
        (swing(4.0, 3.0, 4.0, ROOT3 + 1e-2), False),
    ],
)
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_known_answers(move, meets, precision, backend):
    assert _cases.keeps("spheres", backend, cubes(move), precision).tolist() == [meets]


@pytest.mark.parametrize(
    "name", ["misses", "swings", "drills", "stills", "translations", "passing", "grazing"]
)
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_agrees_with_the_reference(name, backend):
    """Where the reference, which is exact, sees the balls meet, the kernel does; the other way round, the
    bound for a turn is worth nothing near the axis and loses what lies between a sine and its chord."""
    n = 200
    exact = _cases.reference_keeps(f01_spheres, name, n)
    for precision in ("mixed", "double"):
        kept = _cases.keeps("spheres", backend, _cases.scene(name, n), precision)
        assert not (exact & ~kept).any()
        # measured: 0.03 of drills, 0.005 of swings, none of the others
        assert (kept & ~exact).mean() <= {"drills": 0.05, "swings": 0.01}.get(name, 0.0)


def test_same_answers_whatever_the_groups_and_the_backend(backend):
    of = _cases.scene("swings", 300)
    expected = _cases.keeps("spheres", cpu(), of)
    assert 30 < expected.sum() < 270
    stages = Stages(backend, of.bodies(), of.pairs)
    for groups in (None, 1, 3):
        assert np.array_equal(expected, _cases.keeps_of("spheres", stages, groups))


def test_pairs_that_are_marked_stay(backend):
    of = _cases.scene("misses", 300)
    for bit in (1, 2):
        assert _cases.keeps("spheres", backend, of, state=np.full(300, bit)).all()


def test_numbers_that_overflow_stay(backend):
    """A pair too far apart for float32 settles or stays, but does not disturb the others."""
    start = np.array([[0, 0, 0], [1e30, 1e30, 0], [0, 0, 0], [0, 1.5, 0]])
    still = np.tile(IDENTITY, (4, 1))
    poses = gc.Poses.from_quat_wxyz(start, still)
    found = gc.collide(
        gc.Bodies(gc.shapes.box(), None, poses, poses), [[0, 1], [2, 3]], backend=backend.kind, report=True
    ).to_numpy()
    assert found.status[1] == gc.Status.MISS and found.report["spheres"].settled <= 1


@pytest.mark.parametrize(
    "old, new",
    [
        (
            "limit = both * both - d * d;\n    /* near",
            "limit = GC_F(0.7) * both * both - d * d;\n    /* near",
        ),
        ("u = GC_SQRT_R(product) * (m >", "u = GC_F(1.5) * GC_SQRT_R(product) * (m >"),
        ("for (turn = -1; turn <= 1; turn += 2)", "for (turn = 3; turn <= 1; turn += 2)"),
        ("gc_raster until = GC_F(0.5) + (gc_raster)k->tau, product", "gc_raster until = GC_F(0.3), product"),
    ],
    ids=["reach", "chord", "copies", "window"],
)
def test_the_tests_can_fail(old, new):
    """A filter that is a little too bold disagrees with the full test or with the reference."""
    text, caught = _cases.mutant("spheres", old, new), 0
    for name in ("misses", "swings", "drills"):
        exact = _cases.reference_keeps(f01_spheres, name, 200)
        caught += (exact & ~_cases.keeps("spheres", cpu(), _cases.scene(name, 200), text=text)).sum()
        caught += len(_cases.lost("spheres", cpu(), name, 2000, text=text))
    assert caught > 0
