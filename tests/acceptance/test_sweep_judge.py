"""The judge of casts lets a right answer pass, and catches each kind of wrong one."""

from copy import deepcopy

import numpy as np
import pytest

from tests.acceptance.sweep import Judge
from tests.acceptance.sweep_runs import stand_in
from tests.oracle.sweep_casts import Casts, cube, floor, placed
from tests.oracle.sweep_families import FAMILIES

LATE = 1e-6
JUDGES = {}  # by casts that several tests judge wrong answers to


@pytest.fixture(scope="module", params=["spheres", "ellipsoids", "moving", "seams"])
def case(request):
    casts = FAMILIES[request.param]([3, 1], 24)
    answer = stand_in(casts)
    assert answer.hit.sum() > 5
    JUDGES[id(casts)] = Judge(casts)
    yield casts, answer
    del JUDGES[id(casts)]


def verdicts(casts, answer, rows=None, hits="first"):
    judge = JUDGES.get(id(casts)) or Judge(casts)
    return [judge.verdict(i, answer, hits) for i in (range(len(casts)) if rows is None else rows)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_right_answer_passes(family):
    casts = FAMILIES[family]([4, 1], 4)
    found = verdicts(casts, stand_in(casts))
    assert all(v.ok for v in found), [v for v in found if not v.ok]


def test_what_is_missed_is_caught(case):
    casts, answer = case[0], deepcopy(case[1])
    due = np.flatnonzero([v.due for v in verdicts(*case)])
    answer.hit[:] = False
    assert len(due) > 5 and all(v.missed for v in verdicts(casts, answer, due))


def _inner(case):
    """Casts that go straight into a face for a while after the touch."""
    casts, answer = case
    length = np.linalg.norm(casts.path, axis=1)
    steep = np.abs((casts.path * answer.normal).sum(1)) > 0.3 * length
    return np.flatnonzero(answer.hit & (answer.time < 0.9) & (answer.time > 0.01) & steep)


def test_a_time_late_by_a_millionth_is_caught(case):
    casts, answer = case[0], deepcopy(case[1])
    rows = _inner(case)
    answer.time += LATE
    found = verdicts(casts, answer, rows)
    if casts.carried is None:
        assert all(v.late > 0 or v.invented for v in found)
    assert len(rows) > 2 and sum(v.late > 0 for v in found) > len(rows) / 2


def test_a_time_early_by_a_millionth_is_caught(case):
    casts, answer = case[0], deepcopy(case[1])
    rows = _inner(case)
    answer.time -= LATE
    found = verdicts(casts, answer, rows)
    assert sum(v.invented == "apart" for v in found) > len(rows) / 2


def test_a_turned_normal_and_a_moved_point_are_caught(case):
    casts, answer = case[0], deepcopy(case[1])
    rows = np.flatnonzero(answer.hit & (answer.time > 0))
    if casts.radius.ndim == 1:
        rows = rows[casts.radius[rows] > 1e-3]
    answer.normal = -answer.normal
    assert all(v.wrong for v in verdicts(casts, answer, rows))
    answer = deepcopy(case[1])
    answer.normal += 1e-5 * np.array([0.5, -0.6, 0.7])
    answer.normal /= np.linalg.norm(answer.normal, axis=1)[:, None]
    assert all(v.wrong for v in verdicts(casts, answer, rows))
    answer = deepcopy(case[1])
    answer.point += 1e-5
    assert all(v.wrong for v in verdicts(casts, answer, rows))


def test_what_is_not_finite_or_no_index_is_caught(case):
    casts, answer = case[0], deepcopy(case[1])
    row = np.flatnonzero(answer.hit)[0]
    answer.point[row, 1] = np.nan
    assert "not finite" in verdicts(casts, answer, [row])[0].wrong
    answer = deepcopy(case[1])
    answer.face[row] = 10**6
    assert "index" in verdicts(casts, answer, [row])[0].wrong


def one(start, path, radius, mesh, **more):
    return Casts("one", [mesh], placed([mesh]), [start], [path], np.array([radius]), **more)


def told(casts, **fields):
    """The right answer with some fields changed."""
    answer = stand_in(casts)
    for name, value in fields.items():
        getattr(answer, name)[0] = value
    return verdicts(casts, answer)[0]


# a ball that comes over the edge of a cube: the face's plane is met beyond the face
EDGE = {"start": (-3, 0, 1.5), "path": (4, 0, 0), "radius": 1, "mesh": cube(2)}


def test_an_edge_that_is_missed_is_caught():
    casts = one(**EDGE)
    right = told(casts)
    assert right.ok and right.due
    assert 0.25 < right.time < 0.3  # (2 - sqrt(3)/2) / 4
    assert told(casts, hit=False).missed
    # the edge's hit at the time at which the plane of the side is met
    assert told(casts, time=0.25).invented == "apart"
    assert told(casts, feature=1).wrong and told(casts, feature=3).wrong


def test_a_back_side_is_caught():
    mesh = floor(2)
    casts = one((0.3, 0.2, -2), (0, 0, 4), 0.5, mesh)
    nothing = told(casts)
    assert nothing.ok and not nothing.due and not nothing.hit
    hit = {"hit": True, "time": 0.375, "body": 0, "face": 4, "feature": 1, "point": (0.3, 0.2, 0)}
    for face in range(8):
        v = told(casts, **{**hit, "face": face, "normal": (0, 0, -1)})
        assert v.invented == ("behind" if _covers(mesh, face, (0.3, 0.2)) else "apart")
    casts.two_sided = True
    assert told(casts).ok and told(casts).due
    face = next(f for f in range(8) if _covers(mesh, f, (0.3, 0.2)))
    assert told(casts, **{**hit, "face": face, "normal": (0, 0, -1)}).ok


def _covers(mesh, face, place):
    a, b, c = mesh.vertices[mesh.face_vertices[3 * face : 3 * face + 3]][:, :2]
    p = np.asarray(place)
    sides = [np.linalg.det(np.stack((q - o, p - o))) for o, q in ((a, b), (b, c), (c, a))]
    return min(sides) > 0


def test_a_ball_that_leaves_or_slides_must_go_on():
    rests = {"hit": True, "time": 0, "body": 0, "feature": 1, "normal": (0, 0, 1), "point": (0.3, 0.2, 0)}
    mesh = floor(2, polygons=True)
    for path, wrong in (((0, 0, 1), "leaves"), ((0.3, 0, 0), "held"), ((0, 0, -1), "")):
        casts = one((0.3, 0.2, 0.5), path, 0.5, mesh)
        assert told(casts).ok and told(casts).hit == (not wrong)
        v = told(casts, face=3, **rests)
        assert (v.invented or ("held" if v.held else "")) == wrong


def test_a_start_within_is_a_hit_at_once():
    casts = one((0.3, 0.2, 0.25), (0, 0, -2), 0.5, floor(2, polygons=True))
    assert told(casts).ok and told(casts).due and stand_in(casts).time[0] == 0
    assert told(casts, time=1e-6).late
    assert told(casts, hit=False).missed and told(casts, hit=False).passed


def test_a_later_hit_in_place_of_the_first_is_caught():
    casts = one((0.3, 0.2, 5), (0, 0, -20), 0.25, cube(2), two_sided=True)
    far = {"time": (5 - 0.25 + 1) / 20, "face": 2, "normal": (0, 0, 1), "point": (0.3, 0.2, -1)}
    assert told(casts).ok
    v = told(casts, **far)
    assert v.late > 1 and v.passed


@pytest.mark.parametrize("radius", [0.0, 0.25])
def test_all_hits_are_asked_for_one_by_one(radius):
    casts = one((0.3, 0.2, 5), (0, 0, -20), radius, cube(2), two_sided=True)
    first = stand_in(casts)
    v = verdicts(casts, _rows(first, 1), hits="all")[0]
    assert v.missed and not v.invented and not v.wrong
    if radius:
        return  # sides and edges are met as well
    both = _rows(first, 2)
    both.time[1], both.face[1] = 6 / 20, 2 + int(first.face[0] == 2)
    both.point[1], both.normal[1] = (0.3, 0.2, -1), (0, 0, 1)
    found = {}
    for face in range(6):
        both.face[1] = face
        found[face] = verdicts(casts, both, hits="all")[0]
    assert sum(v.ok for v in found.values()) == 1
    both.time[:] = both.time[::-1].copy()
    assert not verdicts(casts, both, hits="all")[0].ok


def _rows(answer, k):
    out = deepcopy(answer)
    for name, value in vars(answer).items():
        if value is not None:
            setattr(out, name, np.repeat(value, k, axis=0))
    out.query = np.zeros(k, int)
    return out


def test_a_seam_that_holds_what_has_sunk_in_is_caught():
    casts = one((-0.7, 0.1, 0.5 - 1e-3), (2, 0, 0), 0.5, floor(2, polygons=True))
    assert told(casts).ok and not told(casts).due
    # at the border x = 0, when that comes within the radius
    time = (0.7 - np.sqrt(0.25 - 0.499**2)) / 2
    seam = {"hit": True, "time": time, "body": 0, "feature": 2, "point": (0, 0.1, 0)}
    normal = np.array([-0.7 + 2 * time, 0, 0.499]) / 0.5
    found = [told(casts, **seam, face=face, normal=normal) for face in range(4)]
    assert any(v.wrong == ["seam"] for v in found) and not any(v.ok for v in found)


def test_a_slope_that_is_rolled_onto_sunk_in_is_due():
    mesh = floor(2, polygons=True)
    mesh.vertices[mesh.vertices[:, 0] > 0, 2] = 0.02
    casts = one((-0.7, 0.1, 0.5 - 1e-3), (2, 0, 0), 0.5, mesh)
    v = told(casts, hit=False)
    assert v.due and v.missed and 0.3 < v.time < 0.36


@pytest.mark.parametrize("family", ["far_away", "spheres"])
def test_in_single_precision_a_late_answer_is_caught_wherever_the_world_is(family):
    """Tolerances count from the middle of the world. From the origin, that of `far_away` was 40 times the
    world, and nothing that was told there was late."""
    casts = FAMILIES[family]([51, 1], 16)
    answer, judge = stand_in(casts), Judge(casts, "single")
    found = [judge.verdict(i, answer) for i in range(len(casts))]
    assert all(v.ok for v in found) and sum(v.due for v in found) > 4
    answer.time += 1e-3
    late = [judge.verdict(i, answer) for i in np.flatnonzero(answer.hit & (answer.time < 1))]
    assert sum(not v.ok for v in late) > 3
