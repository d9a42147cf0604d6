"""The judge of moves lets a right answer pass, and catches each kind of wrong one."""

import numpy as np
import pytest

from tests.acceptance.pluecker import judge
from tests.acceptance.pluecker_runs import reached, stand_in
from tests.oracle.passage_families import FAMILIES
from tests.oracle.passages import Passages, box
from tests.oracle.scenes_base import IDENTITY
from tests.oracle.solid import apply, rotation_matrix

E = 1e-6


def judged(passages, answer):
    return [judge(passages, i, answer) for i in range(len(passages))]


@pytest.fixture(scope="module", params=["random", "random_turn", "seams"])
def case(request):
    passages = FAMILIES[request.param](5, 12)
    answer = stand_in(passages, E)
    assert answer.hit.sum() > 4
    return passages, answer


def changed(case, which, fraction=None, hit=None):
    passages, answer = case
    rows = np.flatnonzero(which)
    out = type(answer)(answer.fraction.copy(), answer.hit.copy(), answer.expel)
    if fraction is not None:
        out.fraction[rows] = fraction[rows]
    if hit is not None:
        out.hit[rows] = hit
    out.pose = reached(passages, out.fraction)
    return [judge(passages, i, out) for i in rows]


def test_a_right_answer_passes(case):
    verdicts = judged(*case)
    assert all(v.ok for v in verdicts), [v for v in verdicts if not v.ok]


def test_what_is_missed_is_caught(case):
    hit = case[1].hit
    assert all(v.missed and v.late > 0 for v in changed(case, hit, np.ones(len(hit)), False))


def test_what_is_late_is_caught_by_its_depth(case):
    passages, answer = case
    length = np.array([next(iter(passages.motions(i)))[1].length for i in range(len(passages))])
    late = np.minimum(answer.fraction + 20 * E / length, 1)
    verdicts = changed(case, answer.hit, late)
    deep = [v.late for v in verdicts if v.late]
    assert len(deep) > len(verdicts) / 2 and max(deep) < 20 * E
    # those that are not late came nearly along the surface
    assert all(v.late or (v.gap is not None and v.gap < E) for v in verdicts)


def test_what_is_invented_is_caught(case):
    passages, answer = case
    assert all(v.invented for v in changed(case, answer.hit, answer.fraction * 0.98))
    free = ~answer.hit
    assert all(v.invented or v.stuck for v in changed(case, free, np.full(len(free), 0.5), True))
    assert all(v.bad for v in changed(case, free, np.full(len(free), 0.5)))


def test_a_pose_that_goes_in_is_caught(case):
    passages, answer = case
    position, quat = (x.copy() for x in answer.pose)
    rows = np.flatnonzero(answer.hit)
    for i in rows:
        motion = next(iter(passages.motions(i)))[1]
        way = motion.velocity(np.zeros(3)) if not passages.turns else np.zeros(3)
        position[i] += 1e-3 * way
    answer = type(answer)(answer.fraction, answer.hit, answer.expel, (position, quat))
    if not passages.turns:
        assert all(judge(passages, i, answer).overlap for i in rows)
    answer.pose[0][rows[0]] = np.nan
    assert judge(passages, rows[0], answer).bad


def test_a_mover_that_is_held_though_it_leaves_is_caught():
    passages = FAMILIES["zone"](3, 60)
    up = np.flatnonzero([_leaves(passages, i) for i in range(len(passages))])
    n = len(passages)
    held = stand_in(passages, E)
    held.fraction[:], held.hit[:] = 0.0, True
    held.pose = reached(passages, held.fraction)
    assert len(up) > 5 and n > len(up)
    verdicts = [judge(passages, i, held) for i in up]
    assert all(v.stuck or v.invented for v in verdicts) and sum(v.stuck for v in verdicts) > 5


def _leaves(passages, i):
    """Whether mover i stands in the zone and goes away from every place of it."""
    _, motion = next(iter(passages.motions(i)))
    up = apply(rotation_matrix(passages.still[2][i]), np.array([0, 0, 1.0]))
    height = (motion.couple.fa @ up).min() - (motion.couple.fb @ up).max()
    return 1e-9 < height < 1.5 * E and passages.vector[i] @ up > 0


def test_what_sinks_into_what_it_touches_is_held_rightly():
    """A corner that turns through the lowest point of its circle, 1e-8 ahead: it sinks by 3e-17, on less of a
    way than the judge takes to look whether anything comes nearer. With that point behind it, it rises."""
    cubes = [box((2, 2, 2))]
    start = (np.zeros(2, int), np.tile([1.0, 2, -0.5], (2, 1)), np.tile(IDENTITY, (2, 1)))
    still = (np.zeros(2, int), np.zeros((2, 3)), start[2])
    origin = [[2.0**-26, 3, -1.5], [-(2.0**-26), 3, -1.5]]
    turns = {"angle": np.ones(2), "axis": np.tile([0.0, 0, 1], (2, 1)), "origin": np.array(origin)}
    passages = Passages("cubes", cubes, start, still, **turns, start="any")
    held = stand_in(passages, 1e-3)
    held.fraction[:], held.hit[:] = 0.0, True
    held.pose = reached(passages, held.fraction)
    assert [v.stuck for v in judged(passages, held)] == [False, True]


def test_what_would_pass_within_a_quarter_of_the_zone_is_stopped_rightly():
    """Pillars beside a pillar, edge over edge, all of them stopped at once: the first would go by the other
    edge at less than a quarter of the zone; the second further off; the third stays as near as it is, the
    last leaves."""
    way = np.array([[0.34, 0, -0.28], [0.9, 0, -0.2], [0.3, 0, 0], [0.3, 0, 0.1]])
    start = np.tile([0.5, 0, 1 + E / 8], (4, 1))
    start[1, 2] = 1 + E / 2
    bodies = (np.zeros(4, int), start, np.tile(IDENTITY, (4, 1)))
    still = (np.zeros(4, int), np.zeros((4, 3)), bodies[2])
    passages = Passages("pillars", [box((0.5, 1, 1))], bodies, still, vector=way, expel=E, start="zone")
    held = stand_in(passages, E)
    held.fraction[:], held.hit[:] = 0.0, True
    held.pose = reached(passages, held.fraction)
    assert [v.stuck for v in judged(passages, held)] == [False, True, True, True]
