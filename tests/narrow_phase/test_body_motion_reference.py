"""Reference with ``motion="body"``: closed forms, a judge of boxes that samples the step, symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.reference.broad_phase.b01_bounds import bounds_of
from tests.narrow_phase import _own_motions as own
from tests.narrow_phase._own_motions import BOX, FIELDS, IDENTITY, KINDS


# -- answers that are known ----------------------------------------------------------------------------------
def two(mesh_a, mesh_b, a, b):
    """One pair: each of a and b (position, quat, displacement, rotation, center)."""
    columns = [np.array(x, float) for x in zip(a, b, strict=True)]
    start = gc.Poses.from_quat_wxyz(*columns[:2])
    return gc.Bodies.from_velocities([mesh_a, mesh_b], [0, 1], start, *columns[2:4], center=columns[4])


def first_of(bodies, **options):
    found = own.collide(bodies, [[0, 1]], contacts="first", **options)
    return found, float(found.toi[0])


def about(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


def test_a_door_against_a_bar_that_slides():
    """A door, half its thickness 0.05, turns about its hinge at the origin from the x axis; a rod that stands
    at (1, 2) comes down its own line x = 1. Its lower edge meets the door's face where the angle phi has
    cos(phi) (2 - v t) - sin(phi) 1 = 0.05: by choice at phi = pi/6, t = 1/2."""
    phi = np.pi / 6
    reach = (0.05 + np.sin(phi)) / np.cos(phi)  # the edge's height then
    door, rod = gc.shapes.box((4, 0.1, 1)), gc.shapes.box((0.2, 0.2, 0.5))
    # the rod is turned by 45 degrees, so that an edge along z is lowest
    half = 0.1 * np.sqrt(2)
    start = 2.0
    way = 2 * (reach + half - start)
    bodies = two(
        door, rod,
        ((2, 0, 0), IDENTITY, (0, 0, 0), (0, 0, 2 * phi), (-2, 0, 0)),
        ((1, start, 0), about([0, 0, 1], np.pi / 4), (0, way, 0), (0, 0, 0), (0, 0, 0)),
    )  # fmt: skip
    found, toi = first_of(bodies)
    assert abs(toi - 0.5) < 1e-14
    assert np.abs(found.normal - [-np.sin(phi), np.cos(phi), 0]).max() < 1e-14
    assert np.abs(found.position[:, :2] - [1, reach]).max() < 1e-14
    # the edge comes down while the face goes up where it is
    speed = way * np.cos(phi) - 2 * phi * np.hypot(1, reach) * np.cos(np.arctan2(reach, 1) - phi)
    assert np.abs(found.normal_speed - speed).max() < 1e-13
    poses = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, bodies.end)
    assert first_of(poses)[1] == toi
    assert (
        abs(own.collide(poses, [[0, 1]], "relative").toi[0] - toi) > 1e-3
    )  # the hinge is another motion than the screw of the pair


def test_a_pendulum_and_a_lift():
    """A pendulum of length 2 on a pivot swings from -60 to 60 degrees, given by its two poses; a platform
    comes up. The lowest edge of the bob, a square on its corner, is at -2 cos(angle): the platform is there
    at -30 degrees."""
    bob, lift = gc.shapes.box((0.5, 0.5, 0.5)), gc.shapes.box((9, 1, 9))
    arm = 2 - 0.25 * np.sqrt(2)
    start = gc.Poses.from_quat_wxyz([[0, -arm, 0]], [about([0, 0, 1], np.pi / 4)])
    swing = [
        gc.Poses.from_screw([0, 0, 1], [0, 0, 0], angle, 0.0, start) for angle in (-np.pi / 3, np.pi / 3)
    ]
    speed = 0.8
    low = -2 * np.cos(np.pi / 6) - 0.5 - speed / 4
    lifts = [gc.Poses.from_quat_wxyz([[0, y, 0]], [IDENTITY]) for y in (low, low + speed)]
    bodies = gc.Bodies([lift, bob], [0, 1], *map(gc.Poses.concatenate, zip(lifts, swing, strict=True)))
    found, toi = first_of(bodies)
    assert abs(toi - 0.25) < 1e-14
    assert np.abs(found.position[:, :2] - [-1, -2 * np.cos(np.pi / 6)]).max() < 1e-14
    assert np.abs(found.normal - [0, 1, 0]).max() < 1e-15


def test_two_wheels_that_turn_into_each_other():
    """Two square wheels on fixed axles along z, B taller. A, side 1, spins by a quarter of a turn; B, at the
    distance 1.15, leans back by phi and spins the other way half as fast. A's edge (1/2, -1/2) is at
    -pi/4 + pi/2 t. It meets B's face where n(t) . (x - c) = 1/2: a scalar equation, solved by bisection."""
    tall, lean, apart = gc.shapes.box((1, 1, 3)), 0.3, 1.15

    def gap(t):
        edge = np.sqrt(0.5) * np.array(
            [np.cos(-np.pi / 4 + np.pi / 2 * t), np.sin(-np.pi / 4 + np.pi / 2 * t)]
        )
        n = -np.array([np.cos(lean - np.pi / 4 * t), np.sin(lean - np.pi / 4 * t)])
        return n @ (edge - [apart, 0]) - 0.5

    low, high = 0.0, 0.5
    assert gap(low) > 0 > gap(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) > 0 else (low, middle)
    bodies = two(
        BOX, tall,
        ((0, 0, 0), IDENTITY, (0, 0, 0), (0, 0, np.pi / 2), (0, 0, 0)),
        ((apart, 0, 0), about([0, 0, 1], lean), (0, 0, 0), (0, 0, -np.pi / 4), (0, 0, 0)),
    )  # fmt: skip
    found, toi = first_of(bodies)
    assert abs(toi - high) < 1e-14
    assert found.kind.tolist() == [gc.Kind.VF] * 2
    turned = lean - np.pi / 4 * high
    assert np.abs(found.normal - [np.cos(turned), np.sin(turned), 0]).max() < 1e-13


def test_a_fan_of_many_turns():
    """A blade spins ten times round; a box comes towards its hub, flat side first. When it is within the
    blade's reach the blade's tip sweeps past, twice a turn: contacts are as many as passes, nine out of ten
    of a turn apart and less."""
    blade, box = gc.shapes.box((2, 0.02, 0.3)), gc.shapes.box((1, 1, 1))
    bodies = two(
        blade, box,
        ((0, 0, 0), IDENTITY, (0, 0, 0), (0, 0, 20 * np.pi), (0, 0, 0)),
        ((2, 0, 0), IDENTITY, (-0.7, 0, 0), (0, 0, 0), (0, 0, 0)),
    )  # fmt: skip
    found = own.collide(bodies, [[0, 1]])
    # the face is at 1.5 - 0.7 t; within the tip's circle of radius hypot(1, 0.01) from t = 0.714 on
    reach = (1.5 - np.hypot(1, 0.01)) / 0.7
    first = own.collide(bodies, [[0, 1]], contacts="first").toi[0]
    assert reach <= first <= reach + 1 / 20
    passes = np.unique(np.round(found.time * 20 - 0.5))
    assert len(passes) == len(np.arange(np.ceil(reach * 20), 21))


def test_a_box_that_slides_on_a_turntable_stays_in_touch():
    """The table spins about z, the box goes straight over it: four corners in the plane all the while."""
    table, box = gc.shapes.box((6, 6, 1)), gc.shapes.box((1, 1, 1))
    bodies = two(
        table, box,
        ((0, 0, 0), IDENTITY, (0, 0, 0), (0, 0, 2.0), (0, 0, 0)),
        ((0.5, 0.2, 1), about([0, 0, 1], 0.4), (0.8, -0.5, 0), (0, 0, -0.7), (0, 0, 0)),
    )  # fmt: skip
    found = own.collide(bodies, [[0, 1]])
    assert found.sustained.all() and found.status[0] == gc.Status.HIT
    corners = found.kind == gc.Kind.FV
    assert corners.sum() == 4
    assert (found.time == 0).all() and (found.time_end == 1).all()
    assert np.abs(found.normal - [0, 0, 1]).max() < 1e-15
    assert np.abs(found.normal_speed).max() < 1e-14


def test_a_box_that_slides_off_a_turntable():
    """The corner of a box crosses the border of a table that spins: it stays in touch until then."""
    table, box = gc.shapes.box((2, 2, 1)), gc.shapes.box((0.2, 0.2, 1))
    bodies = two(
        table, box,
        ((0, 0, 0), IDENTITY, (0, 0, 0), (0, 0, np.pi / 2), (0, 0, 0)),
        ((0, 0, 1), about([0, 0, 1], np.pi / 4), (2, 0, 0), (0, 0, 0), (0, 0, 0)),
    )  # fmt: skip
    found = own.collide(bodies, [[0, 1]])
    tip = found.feature_b[(found.kind == gc.Kind.FV) & found.sustained]
    lead = 0.1 * np.sqrt(2)

    def outside(t, x):  # of the table's square, of a point on the x axis
        return x * max(abs(np.cos(np.pi / 2 * t)), abs(np.sin(np.pi / 2 * t))) - 1

    for start, leaves in ((lead, None), (-lead, None)):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if outside(middle, start + 2 * middle) < 0 else (low, middle)
        ends = found.time_end[found.sustained & (found.kind == gc.Kind.FV)]
        assert np.abs(ends - high).min() < 1e-9, (start, leaves, ends)
    assert len(np.unique(tip)) == 4


# -- boxes against a judge that samples ----------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind, turn",
    [("screw", 0.35), ("screw", 1.6), ("screw", 3.0), ("spin", 3.1), ("swing", 1.0), ("swing", 10.0)],
)
def test_first_contacts_of_boxes(kind, turn):
    bodies = own.tumbling(17, 16, turn, kind)
    found = own.collide(bodies, own.pairs_of(bodies), contacts="first", min_properness=-1)
    first, overlaps = own.first_overlaps(bodies)
    assert np.array_equal(found.status == gc.Status.INITIAL_OVERLAP, overlaps)
    clear = ~overlaps
    hits = clear & np.isfinite(first)
    assert hits.sum() > 3
    # what only grazes between two samples the judge does not see, and touches without going in
    assert (np.isfinite(found.toi) | ~hits)[clear].all()
    close = hits & (found.toi > first - 1.0 / 1500)
    assert np.abs(found.toi[close] - first[close]).max() < 1e-9
    only = clear & np.isfinite(found.toi) & ~close
    gaps = own.box_gaps(bodies, np.repeat(np.where(only, found.toi, 0.0), 2))
    assert np.abs(gaps[only]).max(initial=0) < 1e-9


# -- symmetries ----------------------------------------------------------------------------------------------
scenes = st.tuples(st.integers(0, 10**6), st.sampled_from([1e-5, 0.2, 0.9, 2.5]), st.sampled_from(KINDS))
few = settings(max_examples=8, deadline=None)


@few
@given(scenes)
def test_swapping_the_bodies_mirrors_the_result(scene):
    bodies = own.tumbling(scene[0], 2, scene[1], scene[2])
    one = own.collide(bodies, own.pairs_of(bodies), min_properness=-1)
    other = own.collide(bodies, own.pairs_of(bodies)[:, ::-1], min_properness=-1)
    i, j = own.same_contacts(one, other, swap=True)
    assert np.abs(one.normal[i] + other.normal[j]).max(initial=0) < 1e-6
    for mine, theirs in (("position", "position"), ("local_a", "local_b"), ("normal_speed", "normal_speed")):
        assert np.abs(getattr(one, mine)[i] - getattr(other, theirs)[j]).max(initial=0) < 1e-6


@few
@given(scenes, st.sampled_from([1.0, 1e4]))
def test_moving_the_world_moves_the_result(scene, far):
    bodies = own.tumbling(scene[0], 2, scene[1], scene[2])
    rng = np.random.default_rng(scene[0])
    world = gc.Poses.from_quat_wxyz(far * rng.normal(size=3), own.unit(rng, 1, 4)[0])
    start, end = (world.broadcast_to(4) @ poses for poses in (bodies.start, bodies.end))
    if bodies.spins is None:
        moved = gc.Bodies(BOX, None, start, end)
    else:
        turn = gc.Poses.from_quat_wxyz(np.zeros(3), world.quat_wxyz)
        way, spin = (turn.apply(x) for x in (bodies.spins.displacement, bodies.spins.rotation))
        moved = gc.Bodies.from_velocities(BOX, None, start, way, spin, center=bodies.spins.center)
    one, other = (own.collide(b, own.pairs_of(b), min_properness=-1) for b in (bodies, moved))
    i, j = own.same_contacts(one, other, atol=1e-7)
    assert np.abs(world.apply(one.position[i]) - other.position[j]).max(initial=0) < 1e-6


@few
@given(scenes)
def test_running_backwards_meets_the_same_features(scene):
    """Of sheets, which are not culled: all meet again at 1 - t, with the opposite speed in space."""
    sheet = gc.Mesh(BOX.vertices, BOX.faces, two_sided=True)
    bodies = own.tumbling(scene[0], 2, scene[1], scene[2], sheet)
    if bodies.spins is None:
        reverse = gc.Bodies(sheet, None, bodies.end, bodies.start)
    else:
        s = bodies.spins
        reverse = gc.Bodies.from_velocities(
            sheet, None, bodies.end, -s.displacement, -s.rotation, center=s.center
        )
    one, other = (own.collide(b, own.pairs_of(b), min_properness=-1) for b in (bodies, reverse))
    table, back = own.rows(one)[0], own.rows(other)[0]
    assert table.shape == back.shape
    back[:, 4:6] = 1.0 - back[:, [5, 4]]
    back = back[np.lexsort((back[:, 4], back[:, 3], back[:, 2], back[:, 1], back[:, 0]))]
    assert np.array_equal(table[:, :4], back[:, :4])
    assert np.abs(table - back).max(initial=0) < 1e-8


@few
@given(scenes, st.sampled_from([0.5, 0.3]))
def test_a_step_cut_in_two_has_the_same_contacts(scene, cut):
    bodies = own.tumbling(scene[0], 2, scene[1], scene[2])
    middle = bodies.poses_at(cut)
    if bodies.spins is None:
        parts = [gc.Bodies(BOX, None, *p) for p in ((bodies.start, middle), (middle, bodies.end))]
    else:
        s = bodies.spins
        parts = [
            gc.Bodies.from_velocities(BOX, None, p, s.displacement, s.rotation, share, center=s.center)
            for p, share in ((bodies.start, cut), (middle, 1 - cut))
        ]
    whole = own.rows(own.collide(bodies, own.pairs_of(bodies), min_properness=-1))[0]
    tables = []
    for part, begin, share in zip(parts, (0.0, cut), (cut, 1 - cut), strict=True):
        table = own.rows(own.collide(part, own.pairs_of(part), min_properness=-1))[0]
        table[:, 4:6] = begin + share * table[:, 4:6]
        tables.append(table)
    joined = np.concatenate(tables)
    joined = joined[np.lexsort((joined[:, 4], joined[:, 3], joined[:, 2], joined[:, 1], joined[:, 0]))]
    assert whole.shape == joined.shape
    assert np.array_equal(whole[:, :4], joined[:, :4])
    assert np.abs(whole[:, 4] - joined[:, 4]).max(initial=0) < 1e-9


# -- options -------------------------------------------------------------------------------------------------
def test_thresholds_are_filters_and_first_is_the_first():
    bodies = own.tumbling(23, 12, 0.9, "swing")
    pairs = own.pairs_of(bodies)
    every = own.collide(bodies, pairs, min_properness=-1)
    for threshold in (-0.5, -0.1, 0.2):
        some, kept = own.collide(bodies, pairs, min_properness=threshold), every.properness >= threshold
        for field in FIELDS[2:]:
            assert np.array_equal(getattr(some, field), getattr(every, field)[kept])
    first = own.collide(bodies, pairs, min_properness=-1, contacts="first")
    assert np.array_equal(first.toi, every.toi)
    assert np.array_equal(first.time, every.time[every.time == every.toi[every.pair]])
    plain = own.collide(bodies, pairs, min_properness=-1, check_start=False)
    assert (plain.status != gc.Status.INITIAL_OVERLAP).all() and np.array_equal(plain.time, every.time)
    for filters in ("none", ("spheres", "boxes", "plane")):
        assert np.array_equal(own.collide(bodies, pairs, min_properness=-1, filters=filters).time, every.time)


@pytest.mark.parametrize("kind, turn", [("screw", 2.0), ("swing", 0.7), ("swing", 30.0)])
def test_the_broad_phase_finds_all_that_meet(kind, turn):
    bodies = own.tumbling(29, 4, turn, kind, line=1.2)
    pairs = np.array([(a, b) for a in range(8) for b in range(a + 1, 8)])
    every, found = (own.collide(bodies, p, check_start=False) for p in (pairs, None))
    met = {tuple(p) for p in pairs[np.isfinite(every.toi)]}
    assert met and met <= {tuple(p) for p in found.pairs} and len(found.pairs) < len(pairs)
    assert np.array_equal(every.time, found.time)
    assert np.array_equal(gc.find_pairs(bodies, motion="body", backend="reference"), found.pairs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", [0.0, 0.05, 1.0, 3.0, 40.0])
def test_boxes_hold_all_that_bodies_sweep(kind, turn):
    mesh = gc.Mesh(BOX.vertices * [1, 2, 0.5] + [0.4, 0.1, -0.2], BOX.faces)
    bodies = own.tumbling(31, 30, turn if kind != "screw" else min(turn, 3.0), kind, mesh)
    bounds = bounds_of(bodies)
    for time in np.linspace(0, 1, 101):
        poses = bodies.poses_at(time)
        for x in mesh.vertices:
            place = poses.apply(x)
            assert (place >= bounds.low).all() and (place <= bounds.high).all()
    if kind != "screw" and turn <= 0.05:  # and are no larger than need be
        ends = [np.array([poses.apply(x) for x in mesh.vertices]) for poses in (bodies.start, bodies.end)]
        low, high = np.min(ends, axis=(0, 1)), np.max(ends, axis=(0, 1))
        assert (low - bounds.low).max() < 2e-3 and (bounds.high - high).max() < 2e-3


# -- what only knows poses refuses ---------------------------------------------------------------------------
SPINNING = gc.Bodies.from_velocities(BOX, None, gc.Poses.identity(2), [1, 0, 0], [0, 0, 7.0])


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: gc.collide(SPINNING, [[0, 1]]), "motion: expected 'body' for bodies that spin"),
        (lambda: gc.collide(SPINNING, motion="both"), "motion: expected one of 'relative', 'body'"),
        (lambda: gc.find_pairs(SPINNING), "motion: expected 'body' for bodies that spin"),
        (lambda: gc.BroadPhase(2).find_pairs(SPINNING), "motion: expected 'body' for bodies that spin"),
        (lambda: own.collide(SPINNING, None, refine="pixels"), "refine: expected 'exact' with motion='body'"),
        (lambda: own.collide(SPINNING, None, candidates="raster"), "candidates: expected 'auto' or 'pairs'"),
    ],
)
def test_what_does_not_go_with_own_motions(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
