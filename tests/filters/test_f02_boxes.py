"""f02_boxes: swept boxes. Exact up to the pads for a translation, with strays for what a turn bends."""

import numpy as np
import pytest

from gpu_collide.reference.filters import f02_boxes
from tests.filters import _cases
from tests.narrow_phase._launch import Stages, cpu
from tests.oracle import shapes
from tests.oracle.scenes_base import IDENTITY, SceneData, turn_quat

PRECISIONS = ("mixed", "double", "single")
X, Z = (1.0, 0, 0), (0, 0, 1.0)
R2, R3 = np.sqrt(2.0), np.sqrt(3.0)


def one(start, end, axis=X, tilt=0.0, turn=0.0, sides=(1, 1, 1)):
    """A cube A at the origin and a box B, tilted and turned about one axis."""
    q0 = turn_quat(np.asarray(axis, float), np.array(tilt))
    q1 = turn_quat(np.asarray(axis, float), np.array(tilt + turn))
    place = [np.array([np.zeros(3), x], float) for x in (start, end)]
    poses = [(p, np.array([IDENTITY, q])) for p, q in zip(place, (q0, q1), strict=True)]
    return SceneData("one", [shapes.box(), shapes.box(sides)], np.array([0, 1]), *poses, np.array([[0, 1]]))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "of, meets",
    [
        (one((-5, 0, 0), (5, 0, 0)), True),
        (one((-5, 0.999, 0.999), (5, 0.999, 0.999)), True),  # past along a corner
        (one((-5, 1.001, 0), (5, 1.001, 0)), False),
        (one((-5, 0, 0), (-1.001, 0, 0)), False),  # stops short
        (one((-5, 0, 0), (-0.999, 0, 0)), True),
        (one((1.001, 0, 0), (9, 0, 0)), False),  # moves off
        (one((0, 1.001, 0), (0, 1.001, 0)), False),  # no motion
        (one((0, 0.999, 0), (0, 0.999, 0)), True),
        # B stands on an edge, its lowest part at half of root 2; the balls overlap
        (one((-5, 0, 0.5 + 0.5 * R2 + 1e-3), (5, 0, 0.5 + 0.5 * R2 + 1e-3), X, np.pi / 4), False),
        (one((-5, 0, 0.5 + 0.5 * R2 - 1e-3), (5, 0, 0.5 + 0.5 * R2 - 1e-3), X, np.pi / 4), True),
        # edge past edge: no normal of a face divides them, only one across the motion and an edge
        (one((-3, -3 + 1.0 + R2 + 1e-2, 0), (3, 3 + 1.0 + R2 + 1e-2, 0)), False),
        (one((-3, -3 + 2.0 - 1e-2, 0), (3, 3 + 2.0 - 1e-2, 0)), True),
        (one((-3, -3 + 2.0 + 1e-2, 0), (3, 3 + 2.0 + 1e-2, 0)), False),
        # turns on the spot: a long box sweeps over A with its end, a short one does not
        (one((0, 1.2, 0), (0, 1.2, 0), Z, 0.0, 1.5, (0.2, 0.2, 0.2)), False),
        (one((0, 1.2, 0), (0, 1.2, 0), Z, -0.7, 1.5, (3, 0.2, 0.2)), True),
        (one((0, 1.2, 0), (0, 1.2, 0), Z, -0.2, 0.4, (1, 0.2, 0.2)), False),
    ],
)
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_known_answers(of, meets, precision, backend):
    assert _cases.keeps("boxes", backend, of, precision).tolist() == [meets]


@pytest.mark.parametrize(
    "name, more",
    # share of the pairs that stay although the boxes do not meet; measured: 0, 0, 0, 0.13, 0.24, 0.19
    [
        ("translations", 0.0), ("stills", 0.0), ("passing", 0.01), ("misses", 0.16), ("swings", 0.28),
        ("drills", 0.22),
    ],
)  # fmt: skip
@pytest.mark.shared_bits("tests/filters/test_filters.py")
def test_agrees_with_the_reference(name, more, backend):
    """Where the reference, which is exact, sees the boxes meet, the kernel does; how far it falls short of it
    is what the bend of a turn costs."""
    n = 150
    exact = _cases.reference_keeps(f02_boxes, name, n)
    for precision in ("mixed", "double"):
        kept = _cases.keeps("boxes", backend, _cases.scene(name, n), precision)
        assert not (exact & ~kept).any()
        assert (kept & ~exact).mean() <= more


def test_settles_more_than_spheres_where_boxes_are_long(backend):
    of = _cases.misses(3, 400, turn=0.3, spread=1.0)
    settled = {name: (~_cases.keeps(name, backend, of)).mean() for name in ("spheres", "boxes")}
    assert settled["boxes"] > settled["spheres"] + 0.08, settled


def test_same_answers_whatever_the_groups_and_the_backend(backend):
    of = _cases.scene("swings", 300)
    expected = _cases.keeps("boxes", cpu(), of)
    assert 30 < expected.sum() < 270
    stages = Stages(backend, of.bodies(), of.pairs)
    for groups in (None, 1, 3):
        assert np.array_equal(expected, _cases.keeps_of("boxes", stages, groups))


def test_pairs_that_are_marked_stay(backend):
    of = _cases.scene("misses", 300)
    for bit in (1, 2):
        assert _cases.keeps("boxes", backend, of, state=np.full(300, bit)).all()


@pytest.mark.parametrize(
    "old, new",
    [
        ("gc_real h = sides[i] * shrink;", "gc_real h = GC_R(0.9) * sides[i] * shrink;"),
        ("b->stray_rho = GC_F(0.25)", "b->stray_rho = GC_F(0.0)"),
        ("b->stray_psi = kappa", "b->stray_psi = GC_F(0.0) * kappa"),
        ("int copies = 0, turn, reach = w->wraps ? 1 : 0;", "int copies = 0, turn, reach = 0;"),
        ("g[6][1] = way_w;", "g[6][1] = GC_F(0.8) * way_w;"),
        ("b->r1 = gc_rho(kappa, far_x, far_z);", "b->r1 = b->rho;"),
        ("> sp + way_w) continue", "> sp) continue"),
        ("b->full = !(b->least > GC_F(2.0) * w->axis);", "b->full = 0;"),
    ],
    ids=["sides", "stray of rho", "stray of psi", "copies", "window", "farthest", "range", "axis"],
)
def test_the_tests_can_fail(old, new):
    """A filter that is a little too bold loses pairs that touch."""
    text = _cases.mutant("boxes", old, new)
    names = ("swings", "drills", "translations")
    assert sum(len(_cases.lost("boxes", cpu(), name, 2000, text=text)) for name in names) > 0
