"""f03_plane: a plane in (rho, psi, y) between A and all that B shifts over: sees shapes, not boxes."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import scenes
from gpu_collide.reference.filters import f03_plane
from tests.filters import _cases
from tests.filters.test_f02_boxes import R2, X, Z, one
from tests.narrow_phase._lanes import LanesBackend
from tests.narrow_phase._launch import Stages, cpu
from tests.oracle.scenes_base import IDENTITY, SceneData

PRECISIONS = ("mixed", "double", "single")


def balls(start, end):
    """Two balls of radius 1 with many small faces."""
    place = [(np.array([np.zeros(3), x], float), np.tile(IDENTITY, (2, 1))) for x in (start, end)]
    return SceneData("balls", [_cases.ball()], np.zeros(2, int), *place, np.array([[0, 1]]))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "of, meets",
    [
        (one((-5, 0, 0), (5, 0, 0)), True),
        (one((-5, 1.001, 0), (5, 1.001, 0)), False),
        (one((-5, 0, 0), (-1.001, 0, 0)), False),  # stops short
        (one((-5, 0, 0), (-0.999, 0, 0)), True),
        (one((0, 1.001, 0), (0, 1.001, 0)), False),  # no motion
        (one((0, 0.999, 0), (0, 0.999, 0)), True),
        (one((-5, 0, 0.5 + 0.5 * R2 + 1e-3), (5, 0, 0.5 + 0.5 * R2 + 1e-3), X, np.pi / 4), False),
        (one((-5, 0, 0.5 + 0.5 * R2 - 1e-3), (5, 0, 0.5 + 0.5 * R2 - 1e-3), X, np.pi / 4), True),
        (one((-3, -1.0 - 1e-2, 0), (3, 5.0 - 1e-2, 0)), True),
        (one((-3, -1.0 + 1e-2, 0), (3, 5.0 + 1e-2, 0)), False),
        # the boxes of the balls meet at a corner, the balls do not
        (balls((-5, 1.45, 1.45), (5, 1.45, 1.45)), False),
        (balls((-5, 1.38, 1.38), (5, 1.38, 1.38)), True),
        (one((0, 1.2, 0), (0, 1.2, 0), Z, 0.0, 1.5, (0.2, 0.2, 0.2)), True),  # near the axis: left alone
    ],
)
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_known_answers(of, meets, precision, backend):
    assert _cases.keeps("plane", backend, of, precision).tolist() == [meets]


@pytest.mark.parametrize(
    "name, more",
    # share of the pairs that stay although the reference finds a plane; measured: 0, .007, 0, .014, .007, 0
    [
        ("translations", 0.0), ("stills", 0.01), ("passing", 0.0), ("misses", 0.02), ("swings", 0.01),
        ("drills", 0.0),
    ],
)  # fmt: skip
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_agrees_with_the_reference(name, more, backend):
    """The reference bends each face by itself and searches longer: it divides what the kernel divides."""
    n = 150
    exact = _cases.reference_keeps(f03_plane, name, n)
    for precision in ("mixed", "double"):
        kept = _cases.keeps("plane", backend, _cases.scene(name, n), precision)
        assert not (exact & ~kept).any()
        assert (kept & ~exact).mean() <= more


def test_sees_more_than_boxes_of_round_shapes(backend):
    bodies, pairs = scenes.random_impacts(gc.shapes.torus(), n=200, seed=3, max_turn=0.3)
    left = {}
    for names in (("boxes",), ("plane",)):
        found = gc.collide(
            bodies, pairs, tuning=gc.Tuning(filters=names), report=True, backend=backend.kind
        ).to_numpy()
        left[names[0]] = found.report[names[0]].passed
    assert left["plane"] < 0.8 * left["boxes"], left


def test_same_answers_whatever_the_groups_and_the_backend(backend):
    of = _cases.scene("misses", 300)
    expected = _cases.keeps("plane", cpu(), of)
    assert 30 < expected.sum() < 270
    stages = Stages(backend, of.bodies(), of.pairs)
    for groups in (None, 1, 3):
        assert np.array_equal(expected, _cases.keeps_of("plane", stages, groups))


def test_same_answers_with_real_groups():
    """Eight work-items a group, each a thread."""
    of = _cases.misses(11, 40)
    assert np.array_equal(
        _cases.keeps("plane", cpu(), of), _cases.keeps("plane", LanesBackend(), of, groups=2)
    )


def test_pairs_that_are_marked_stay(backend):
    of = _cases.scene("misses", 300)
    for bit in (1, 2):
        assert _cases.keeps("plane", backend, of, state=np.full(300, bit)).all()


def test_without_room_every_pair_stays(backend):
    of = _cases.scene("misses", 40)
    found = gc.collide(
        of.bodies(),
        of.pairs,
        tuning=gc.Tuning(filters=("plane",)),
        report=True,
        max_bytes=1 << 21,
        backend=backend.kind,
    ).to_numpy()
    plain = gc.collide(
        of.bodies(), of.pairs, tuning=gc.Tuning(filters="none"), backend=backend.kind
    ).to_numpy()
    assert found.toi.tobytes() == plain.toi.tobytes() and found.report["plane"].got == 40


@pytest.mark.parametrize(
    "old, new",
    [
        ("if (apart > GC_F(0.0)) return 1;", "if (apart > GC_F(-0.2)) return 1;"),
        ("gc_raster bend = GC_F(0.5) * w->kappa", "gc_raster bend = GC_F(0.0) * w->kappa"),
        ("int turn = w->wraps ? -1 : 0", "int turn = w->wraps ? 0 : 0"),
        ("way[1] = until * (gc_raster)k->w;", "way[1] = GC_F(0.4) * (gc_raster)k->w;"),
        ("nv = c->nv, at = -1, i;", "nv = c->nv - 1, at = -1, i;"),
        ("if (!(least_a > GC_F(2.0) * w->axis && least_b > GC_F(2.0) * w->axis)) return 1;", ""),
    ],
    ids=["reach", "bend", "copies", "window", "vertices", "axis"],
)
def test_the_tests_can_fail(old, new):
    """A filter that is a little too bold loses pairs that touch."""
    text = _cases.mutant("plane", old, new)
    names = ("swings", "drills", "misses", "translations")
    assert sum(len(_cases.lost("plane", cpu(), name, 2000, text=text)) for name in names) > 0
