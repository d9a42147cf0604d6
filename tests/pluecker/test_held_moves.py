"""Moves that are stopped although they end in nothing: those that the promises ask for, or allow."""

from fractions import Fraction

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker import judge
from tests.acceptance.pluecker_runs import run
from tests.oracle.passages import Passages, box
from tests.oracle.scenes_base import IDENTITY

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

ZONE = 1e-6
PILLAR = (0.5, 1, 1)


def over_the_edge(heights, ways):
    """Pillars beside a pillar, their lower edges over its upper one; they go out and down."""
    n = len(ways)
    start = np.column_stack((np.full(n, 0.5), np.zeros(n), 1 + np.asarray(heights) * ZONE))
    one = (np.zeros(n, int), start, np.tile(IDENTITY, (n, 1)))
    still = (np.zeros(n, int), np.zeros((n, 3)), one[2])
    return Passages("pillars", [box(PILLAR)], one, still, vector=ways, expel=ZONE, start="zone")


def nearest_pass(passages, i):
    """Squared, in zones: how near the lower edge's line comes to the upper one's, by whole numbers."""
    out, _, up = (Fraction(float(x)) for x in passages.vector[i])
    height = Fraction(float(passages.mover[1][i, 2])) - 1
    return (height * out) ** 2 / (out**2 + up**2) / Fraction(ZONE) ** 2


@pytest.mark.parametrize(
    "height, way",
    [
        (0.125, (0.34275748068587497, -0.35583406898936043, -0.28637294252815104)),
        (0.25, (0.32942195503653937, -0.07146607083410056, -0.09186722623844357)),
        (0.5, (0.45, 0, -((1 - 0.45**2) ** 0.5))),
    ],
)
def test_what_would_pass_a_border_within_a_quarter_of_the_zone_is_stopped(backend, height, way):
    """Found in a crowd of stacked boxes, and called held: nothing is ever touched. But the edges would pass
    each other at less than `expel / 4`, and what is not stopped stays as far away (docs/pluecker.md)."""
    passages = over_the_edge([height], np.array([way]))
    assert nearest_pass(passages, 0) < Fraction(1, 16)
    for kind in (backend.kind, "reference"):
        answer, trace = run(passages, backend=kind)
        assert trace.kind[0] and answer.fraction[0] < 1
        verdict = judge(passages, 0, answer)
        assert verdict.touch is None and verdict.ok, verdict


def test_what_passes_a_border_further_off_goes_on(backend):
    way = np.array([[0.55, 0, -((1 - 0.55**2) ** 0.5)], [0.3, 0, 0], [0.3, 0.1, 0.2]])
    passages = over_the_edge([0.5, 0.125, 0.125], way)
    assert nearest_pass(passages, 0) > Fraction(1, 16)
    for kind in (backend.kind, "reference"):
        assert (run(passages, backend=kind)[0].fraction == 1).all()


def test_a_corner_on_a_corner_that_turns_over_the_top_of_its_circle_is_not_let_in(backend):
    """Two cubes, one on the other, turn in the plane between them: a corner stands at the lowest place of its
    circle about the axis, at a corner of the other, and leaves over a face there. In single precision it is
    held, since it first rises, by a rounding, from the face that it goes behind; in double it goes. That is
    allowed (docs/pluecker.md, "What it does not do"), and told: it began in touch."""
    turned = np.array([[0.7071067811865476, 0, 0, 0.7071067811865475]])
    cubes, none = [box((2, 2, 2))], np.zeros(1, int)
    mover, still = (none, np.array([[0.0, 0, 2]]), turned), (none, np.zeros((1, 3)), np.array([IDENTITY]))
    turn = {"angle": np.array([-np.pi / 4]), "axis": np.eye(3)[2:], "origin": np.array([[1, 0.5, 0]])}
    passages = Passages("cubes", cubes, mover, still, **turn, start="any")
    for precision in ("mixed", "single"):
        answer, trace = run(passages, backend=backend.kind, precision=precision)
        verdict = judge(passages, 0, answer)
        assert verdict.began and (verdict.ok or verdict.stuck and trace.kind[0] == gc.pluecker.Touch.FV)
        assert not (verdict.late or verdict.overlap or verdict.invented or verdict.bad)
    assert run(passages, backend=backend.kind)[0].fraction[0] > 0.5
