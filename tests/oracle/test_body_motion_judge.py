"""The judge of bodies on motions of their own: answers in closed form, fifty digits, two principles that
agree, and wrong answers."""

import numpy as np
import pytest

from tests.oracle import body_motion as bm
from tests.oracle.body_motion import BODY
from tests.oracle.body_motion_digits import precise_pose, precise_root
from tests.oracle.body_motion_families import FAMILIES, bodies_of, paired, wheel
from tests.oracle.body_motion_verdicts import REQUIRED, judge_all, judge_first, states
from tests.oracle.scenes_base import IDENTITY, random_axis, turn_quat
from tests.oracle.shapes import box
from tests.oracle.solid import Solid, quat_mul

pytestmark = pytest.mark.skipif(bm.missing() is not None, reason=str(bm.missing()))
UP = np.array([[0.0, 0, 1]])


def one(a, b, meshes=None):
    return paired("one", meshes or [box()], a, b)


def spun(place, velocity, turn, shape=0, quat=IDENTITY):
    return bodies_of(
        [shape], np.array([place], float), quat, np.array([velocity], float), np.array([turn], float), 1
    )


def test_two_cubes_that_turn_against_each_other():
    """By symmetry both reach the plane between them: (cos + sin)/2 of the turn is half the distance."""
    apart = np.array([1.02, 1.1, 1.3, 1.41, 1.415])
    left, right = (
        np.concatenate([spun([d, 0, 0], [0, 0, 0], [0, 0, turn]) for d in places])
        for places, turn in ((0 * apart, 1.5), (apart, -1.5))
    )
    first = bm.first_touches(one(left, right))
    exact = (np.arcsin(apart[:4] / np.sqrt(2)) - np.pi / 4) / 1.5
    assert first["status"].tolist() == [bm.TOUCHES] * 4 + [bm.MISSES]
    assert np.abs(first["time"][:4] - exact).max() < 1e-14  # worst 1e-15; the last is nearly a graze


def test_the_same_by_two_poses_about_an_axis_elsewhere():
    """A cube whose poses lie on an arc about the origin: its corner at (3.5, 0.5) comes to x = 0 at a
    known angle."""
    angle = np.pi / 2
    place = np.array([[3.0, 0, 0]])
    end = np.array([[0.0, 3, 0]])
    arc = bodies_of([0], place, IDENTITY, end, turn_quat(UP, np.array([angle])))
    wall = bodies_of([1], [[-5.3, 0, 0]], IDENTITY, [[-5.3, 0, 0]], IDENTITY)
    first = bm.first_touches(one(arc, wall, [box(), box((10, 20, 20))]))
    # the corner (2.5, 0.5) turned by phi has x = 2.5 cos - 0.5 sin = -0.3
    exact = (np.arccos(-0.3 / np.hypot(2.5, 0.5)) - np.arctan2(0.5, 2.5)) / angle
    assert first["status"] == bm.TOUCHES
    assert abs(first["time"][0] - exact) < 1e-15


def test_treads_of_a_rolling_wheel_come_down_without_speed():
    radius, sides, turn = 0.5, 12, 2.0
    rim = wheel(sides, radius)
    ground = bodies_of([1], [[0, 0, -0.5]], IDENTITY, [[0, 0, 0.0]], np.zeros((1, 3)), 1)
    rolls = spun([0, 0, radius], [radius * turn, 0, 0], [0, turn, 0])
    found = bm.all_contacts(one(rolls, ground, [rim, box((9, 9, 1))]))
    found = found[(found["kind"] == 1) & (found["what"] == bm.DOUBLE)]
    v = rim.vertices
    lag = np.mod(np.arctan2(v[:, 0], -v[:, 2]), 2 * np.pi)  # how far each has to turn to the bottom
    due = np.flatnonzero((lag > 1e-9) & (lag < turn))
    assert sorted(set(found["feature_a"].tolist()) & set(due.tolist())) == due.tolist()
    for k in due:
        t = found["time"][found["feature_a"] == k]
        assert np.abs(t - lag[k] / turn).min() < 1e-6
    assert np.abs(found["facing"]).max() < 1e-6


@pytest.mark.parametrize("family", ["tumbling", "spin_and_screw", "cars_2hz", "drills"])
def test_places_are_those_of_fifty_digits(family):
    """Worst seen: 5e-16 of lengths up to 6."""
    bodies = FAMILIES[family](3, 6).bodies
    for t in (0.0, 0.31, 1.0):
        place, axes = bm.poses(bodies, t)
        for k, body in enumerate(bodies):
            turn, at = precise_pose(body, t)
            off = [abs(float(at[i] - place[k, i])) for i in range(3)]
            off += [abs(float(turn[i, j] - axes[k, i, j])) for i in range(3) for j in range(3)]
            assert max(off) < 2e-15


def test_small_turns_lose_no_digits():
    """Turns of 1e-12 to 1e-3: the ends are the given poses, the middle that of fifty digits. Worst seen:
    4e-16."""
    angle = 10.0 ** np.arange(-12, -2)
    axis = random_axis(np.random.default_rng(2), len(angle))
    b = bodies_of(
        np.zeros(10), np.full((10, 3), 0.3), IDENTITY, np.full((10, 3), 1.7), turn_quat(axis, angle)
    )
    assert np.abs(bm.poses(b, 1.0)[0] - 1.7).max() < 1e-15
    place, _ = bm.poses(b, 0.5)
    for k in range(10):
        at = precise_pose(b[k], 0.5)[1]
        assert max(abs(float(at[i] - place[k, i])) for i in range(3)) < 2e-15


def test_times_are_those_of_fifty_digits():
    scene = FAMILIES["tumbling"](5, 8)
    found = bm.all_contacts(scene)
    state, _ = states(scene, found)
    edges = [Solid(m).edges for m in scene.meshes]
    for c in found[state == REQUIRED][:6]:
        bodies = scene.bodies[scene.pairs[c["pair"]]]
        both = [edges[b["mesh"]] for b in bodies]
        at = (c["pair"], c["kind"], c["feature_a"], c["feature_b"])
        exact = precise_root(scene, *at, both, c["time"] - 1e-6, c["time"] + 1e-6)
        assert exact is not None
        assert abs(float(exact - float(c["time"]))) < 1e-15  # worst seen: 1e-16


@pytest.mark.parametrize(
    "family", ["tumbling", "spins", "cars_2hz", "thin", "half_turns", "drills", "rolling"]
)
def test_distances_and_features_agree_on_the_first(family):
    """Two principles: the first touch by distance is the first contact that faces and is proper."""
    scene = FAMILIES[family](7, 40)
    first = bm.first_touches(scene)
    found = bm.all_contacts(scene)
    state, _ = states(scene, found)
    early = np.full(len(scene), np.inf)
    np.minimum.at(early, found["pair"][state >= 0], found["time"][state >= 0])
    touch, miss = first["status"] == bm.TOUCHES, first["status"] == bm.MISSES
    assert touch.sum() >= 8
    assert np.abs(early[touch] - first["time"][touch]).max() < 1e-9
    assert np.isinf(early[miss & (first["least"] > 1e-8)]).all()


def test_python_fcl_agrees_before_and_after():
    fcl = pytest.importorskip("fcl")
    scene = FAMILIES["cubes"](9, 100)
    first = bm.first_touches(scene)
    shape = fcl.Box(1, 1, 1)

    def meets(pair, t):
        place, axes = bm.poses(scene.bodies[pair], t)
        one, two = (fcl.CollisionObject(shape, fcl.Transform(r, p)) for p, r in zip(place, axes, strict=True))
        return fcl.collide(one, two, fcl.CollisionRequest(), fcl.CollisionResult()) > 0

    for pair, row in zip(scene.pairs, first, strict=True):
        if row["status"] == bm.OVERLAPS:
            assert meets(pair, 0.0)
        elif row["status"] == bm.TOUCHES and row["time"] < 0.99:
            assert not meets(pair, row["time"] - 1e-7)
            assert all(not meets(pair, t) for t in np.linspace(0, row["time"] - 1e-7, 20))
            assert meets(pair, row["time"] + 1e-5)


def right_answer(scene):
    found = bm.all_contacts(scene)
    state, _ = states(scene, found)
    kept = found[state == REQUIRED]
    first = bm.first_touches(scene)
    toi = np.full(len(scene), np.inf)
    np.minimum.at(toi, kept["pair"], kept["time"])
    told = {k: kept[k].astype(int) for k in ("pair", "kind", "feature_a", "feature_b")} | {
        "time": kept["time"].copy()
    }
    return first["status"] == bm.OVERLAPS, toi, told


def test_a_right_answer_passes_and_wrong_ones_are_caught():
    scene = FAMILIES["tumbling"](11, 60)
    overlap, toi, told = right_answer(scene)
    assert judge_first(scene, overlap, toi)[0].faults() == 0
    assert judge_all(scene, told)[0].faults() == 0
    touch = np.flatnonzero(bm.first_touches(scene)["status"] == bm.TOUCHES)

    def first(change):
        o, t = overlap.copy(), toi.copy()
        change(o, t)
        return {
            k: n
            for k, n in judge_first(scene, o, t)[0].counts.items()
            if n and k[:3] in ("mis", "inv", "lat", "ear", "sta")
        }

    k = touch[:3]
    assert first(lambda o, t: t.__setitem__(k, np.inf)) == {"missed: no contact": 3}
    assert first(lambda o, t: t.__setitem__(k, t[k] + 1e-6)) == {"late: a first touch was passed": 3}
    assert first(lambda o, t: t.__setitem__(k, t[k] - 1e-6)) == {"early: before the first touch": 3}
    assert first(lambda o, t: o.__setitem__(k, True)) == {"status: overlap invented": 3}
    assert first(lambda o, t: o.__setitem__(overlap, False)) == {"status: overlap not told": overlap.sum()}

    def every(change):
        t = {k: x.copy() for k, x in told.items()}
        t = change(t) or t
        return {k: n for k, n in judge_all(scene, t)[0].counts.items() if n and k[:3] in ("mis", "inv")}

    assert every(lambda t: {k: x[2:] for k, x in t.items()}) == {"missed": 2}
    found = every(lambda t: t["time"].__setitem__(slice(0, 4), t["time"][:4] + 1e-6))
    assert found == {"missed": 4, "invented: apart": 4}
    contacts = bm.all_contacts(scene)
    _, reason = states(scene, contacts)
    for why in ("faces away", "improper"):
        extra = contacts[reason == why][:3]
        wrong = {k: np.concatenate((told[k], extra[k])) for k in told}
        assert every(lambda t, w=wrong: w) == {f"invented: {why}": 3}


def test_records_have_the_size_that_c_reads():
    """`one(...)` of two bodies and a mesh each: numbers come back where they belong."""
    scene = one(spun([0, 0, 0], [0, 0, 0], [0, 0, 0]), spun([2, 0, 0], [-2, 0, 0], [0, 0, 0]))
    first = bm.first_touches(scene)
    assert scene.bodies.dtype == BODY
    assert (first["status"][0], first["time"][0], first["approach"][0]) == (bm.TOUCHES, 0.5, -2.0)


@pytest.mark.parametrize("angle", [0.3, 1.0, np.pi / 2])
def test_edges_are_as_deep_as_they_have_to_be_moved(angle):
    """Two edges across each other: one goes through a face farther from the other than it is deep."""
    depth, turned = 1e-6, np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0])  # an edge upwards
    across = quat_mul(np.array([[np.cos(angle / 2), 0, 0, np.sin(angle / 2)]]), turned[None])[0]
    height = np.sqrt(2) - depth
    place, quat = np.array([[0, 0, 0], [0, 0, height]]), np.stack((turned, across))
    b = bodies_of(np.zeros(2, int), place, quat, place, quat)
    assert bm.cuts(bm.Motions("edges", [box()], b, np.array([[0, 1]])), 0.0)[0] == pytest.approx(
        depth, rel=1e-9
    )
