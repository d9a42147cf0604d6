"""`gc.pluecker` among bodies that move: a judge of dense times and separating axes, and answers by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.bodies.quaternion import rotate as turn_by
from gpu_collide.queries.pluecker import Touch, contacts, move, rotate, translate
from gpu_collide.view.page.write import QueryArguments, page_scene
from tests.pluecker._crowds import BOX, CAR, at, same_bits, still
from tests.pluecker._moving import SIZES, ask, crowd, gaps, goes_through, judge
from tests.support.traces import FIELDS

STATUS = gc.Status
FAMILIES = {
    "random": dict(),
    "turns": dict(turns=True),
    "whole numbers": dict(whole=True),
    "whole turns": dict(whole=True, turns=True),
    "from pose to pose": dict(screws=True),
    "turns, from pose to pose": dict(screws=True, turns=True),
    "spinning": dict(turn=9.0, turns=True),
    "thin": dict(sizes=np.array([[1, 1, 1e-3], [2, 0.01, 1], [0.7, 0.7, 1e-6]])),
    "slow": dict(speed=0.01, turn=0.01),
    "fast": dict(speed=30.0),
}  # fmt: skip


def spinning(mesh, position, velocity, rotation=(0, 0, 0), **center):
    return gc.Bodies.from_velocities(mesh, None, at(position), velocity, rotation, **center)


def going(mesh, start, end):
    return gc.Bodies(mesh, None, at(start), at(end))


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_is_passed_through_and_nothing_stops_without_a_reason(name):
    """Gaps before the stops from 0 (whole numbers) and 5.2e-8 (others) up, from 1.0156 to 1.0157 zones at the
    stop; in whole numbers, where much is met at once, 0.59 to 1.12."""
    options = FAMILIES[name]
    turns = options.get("turns", False)
    made = crowd(np.random.default_rng(3), n=80, **options)
    found, others = ask(gc.pluecker, made, turns, backend="cpu")
    verdict = judge(made, found, others)
    assert verdict.unresolved == 0 and verdict.hits > 10
    if not options.get("whole"):
        assert len(verdict.stops) > 8 and 1 < verdict.stops.min() and verdict.stops.max() < 1.02
        assert verdict.held == 0


@pytest.mark.parametrize(("steps", "whole"), [(8, False), (8, True), *(pytest.param(40, whole, marks=
                         pytest.mark.slow) for whole in (False, True))])  # fmt: skip
def test_walks_among_bodies_that_move(steps, whole):
    """Step after step from where the last one led, obstacles too: 40 movers, each among three. The least gap
    in random ones is the zone, 5.2e-8; in whole ones -7e-16, where they begin in touch."""
    rng = np.random.default_rng(8)
    made, n = crowd(rng, n=40, k=3, whole=whole), 40
    of, size, sizes = made.of, 0.5 * made.size, 0.5 * made.sizes
    clear = made.gaps(np.zeros(n)) > -1e-11
    hits = unresolved = 0
    for step in range(steps):
        turns = step % 2 == 1
        new = crowd(rng, n=40, k=3, whole=whole, turns=turns)
        for m, fresh in ((made.movers, new.movers), (made.others, new.others)):
            m.way, m.rotation = fresh.way, fresh.rotation
            m.arm = (
                np.rint(2 * rng.normal(0, 0.5, m.place.shape)) / 2
                if turns and m is made.movers
                else 0 * m.way
            )
        made.others.way += made.movers.place[of] - made.others.place  # towards their mover
        found, others = ask(gc.pluecker, made, turns, backend="cpu")
        hits += (found.status == STATUS.HIT).sum()
        unresolved += (found.status == STATUS.UNRESOLVED).sum()
        for share in (0.3, 0.7, 0.95, 1.0):
            least = made.gaps(share * found.fraction)[clear].min()
            assert least > -1e-11, (step, share, least)
        there = others.poses_at(found.fraction[of])
        made.others.place, made.others.quat = there.position.copy(), there.quat_wxyz.copy()
        made.movers.place, made.movers.quat = found.position.copy(), found.quat_wxyz.copy()
        now = gaps(
            size[of], (found.position[of], found.quat_wxyz[of]), sizes, (there.position, there.quat_wxyz)
        )
        assert now[clear].min() > -1e-11
    # boxes that begin face on face, and turn and slide on each other, are more than `collide` finds out
    assert hits > 20 * steps and unresolved <= (steps if whole else 0)  # a third of that seen


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32), turns=st.booleans(), screws=st.booleans(),
    turn=st.sampled_from([0, 1e-6, 1, 20]), speed=st.sampled_from([0, 1e-6, 1, 100]),
)  # fmt: skip
def test_any_motions(seed, turns, screws, turn, speed):
    made = crowd(np.random.default_rng(seed), n=8, turns=turns, screws=screws, turn=turn, speed=speed)
    found, others = ask(gc.pluecker, made, turns, backend="cpu")
    judge(made, found, others, samples=32)


def test_open_meshes_pass_through_nothing():
    """Sheets and folds of sheets, with two sides, among their like and boxes: no edge of one goes through a
    face of another at any of six times in each of 120 moves (and of 2,400 where it was tried)."""
    rng, n, k = np.random.default_rng(1), 20, 3
    quad, fold = [[0, 1, 2, 3]], [[0, 1, 2, 3], [1, 0, 5, 4]]
    sheet = gc.Mesh([[-1, -0.5, 0], [1, -0.5, 0], [1, 0.5, 0], [-1, 0.5, 0]], quad, two_sided=True)
    folded = [[-1, 0, 0], [1, 0, 0], [1, 0.8, 0.4], [-1, 0.8, 0.4], [1, -0.8, 0.4], [-1, -0.8, 0.4]]
    folds = gc.Mesh(folded, fold, two_sided=True)
    meshes, made = [sheet, folds, BOX], crowd(rng, n=n, k=k)
    shape, shapes, of = rng.integers(0, 3, n), rng.integers(0, 3, n * k), made.of
    apart, hits = np.ones(n * k, bool), 0
    for step in range(6):
        fresh, m, o = crowd(rng, n=n, k=k), made.movers, made.others
        start, start_of = (gc.Poses.from_quat_wxyz(x.place, x.quat) for x in (m, o))
        way = fresh.movers.way
        towards = fresh.others.way + 0.4 * (m.place[of] - o.place)
        others = gc.Bodies.from_velocities(meshes, shapes, start_of, towards, fresh.others.rotation)
        found = translate(gc.Bodies(meshes, shape, start, start), others, way, backend="cpu")
        hits += (found.status == STATUS.HIT).sum()
        for share in np.linspace(0, 1, 6):
            there = others.poses_at(share * found.fraction[of])
            moved = gc.Poses.from_quat_wxyz(m.place + way * (share * found.fraction)[:, None], m.quat)
            for j in np.flatnonzero(apart):
                one = meshes[shape[of[j]]], moved[of[j]].apply(meshes[shape[of[j]]].vertices)
                two = meshes[shapes[j]], there[j].apply(meshes[shapes[j]].vertices)
                crossed = goes_through(*one, *two) or goes_through(*two, *one)
                assert not crossed or (step, share) == (0, 0), (step, share, j)
                apart[j] = not crossed
        m.place, o.place, o.quat = found.position.copy(), there.position.copy(), there.quat_wxyz.copy()
    assert hits > 50 and apart.sum() > 30


def test_both_go_and_meet(backend):
    on = dict(backend=backend.kind)
    found = translate(still(BOX, [0, 0, 3]), going(BOX, [0, 0, 0], [0, 0, 1]), [0, 0, -3], **on)
    e = found.expel[0]
    assert found.status[0] == STATUS.HIT and 0 < e < 1e-7
    assert abs(found.fraction[0] - (0.5 - e / 4)) < e / 100  # a gap of 2, closing by 4 a step
    assert (found.kind[0], found.body[0]) == (Touch.VF, 0)
    np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(found.position[0], [0, 0, 1.5 + 3 * e / 4], atol=e / 50)
    np.testing.assert_allclose(found.point[0, 2], 1 + 3 * e / 4, atol=e / 50)


def test_an_obstacle_runs_into_who_stands_and_overtakes_who_goes(backend):
    on = dict(backend=backend.kind)
    stands = translate(still(BOX, [0, 0, 3]), going(BOX, [0, 0, 0], [0, 0, 2.5]), [0, 0, 0], **on)
    assert stands.status[0] == STATUS.HIT and abs(stands.fraction[0] - 0.8) < 1e-7
    assert np.array_equal(stands.position[0], [0, 0, 3])
    chased = translate(still(BOX, [3, 0, 0]), spinning(BOX, [0, 0, 0], [10, 0, 0]), [2, 0, 0], **on)
    assert abs(chased.fraction[0] - 0.25) < 1e-7 and abs(chased.position[0, 0] - 3.5) < 1e-7
    np.testing.assert_allclose(chased.normal[0], [1, 0, 0], atol=1e-15)
    slower = translate(still(BOX, [3, 0, 0]), spinning(BOX, [0, 0, 0], [10, 0, 0]), [9, 0, 0], **on)
    assert slower.status[0] == STATUS.MISS and slower.position[0, 0] == 12


def test_a_wheel_rolls_towards_who_stands(backend):
    """A hexagonal wheel, two flats wide, that rolls on by 3: its rim meets the wall of the box at the time at
    which the farthest corner is as far."""
    angle = np.arange(6) * np.pi / 3
    rim = np.array([[np.cos(a), y, np.sin(a)] for y in (-0.2, 0.2) for a in angle])
    wheel = gc.Mesh(rim, [[0, 1, 2, 3, 4, 5], [11, 10, 9, 8, 7, 6],
                          *([i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6] for i in range(6))])  # fmt: skip
    assert wheel.closed and wheel.volume > 0
    found = translate(still(BOX, [3.5, 0, 0]), spinning(wheel, [0, 0, 0], [3, 0, 0], [0, 3.0, 0]), [0, 0, 0],
                      backend=backend.kind)  # fmt: skip

    times = np.linspace(0, 1, 200001)[:, None]
    turned = angle - 3.0 * times
    level = np.abs(np.sin(turned)) <= 0.5 + 1e-9  # corners that are no higher than the box
    reach = 3 * times[:, 0] + np.where(level, np.cos(turned), -1).max(axis=1)
    first = times[np.argmax(reach >= 3.0), 0]
    assert found.status[0] == STATUS.HIT and found.fraction[0] == pytest.approx(first, abs=1e-5)


@pytest.mark.parametrize("kind", ["translate", "rotate"])
def test_who_moves_alike_never_touches(kind, backend):
    """At rest relative to each other: in touch, a zone apart, and all turned askew."""
    for height in (1.0, 1.0 + 1e-13, 1.0 + 2.6e-8, 1.1):
        stands = still(BOX, [0.3, 0.1, height])
        if kind == "translate":
            other = spinning(BOX, [0, 0, 0], [2, 1, -3])
            found = translate(stands, other, [2, 1, -3], backend=backend.kind)
        else:
            other = spinning(BOX, [0, 0, 0], [0, 0, 0], [1, 2, 3])
            found = rotate(stands, other, np.sqrt(14), [1, 2, 3], [0, 0, 0], backend=backend.kind)
        assert found.status[0] == STATUS.MISS and found.fraction[0] == 1, height


def test_starts_in_touch(backend):
    """What touches and parts is free, and stopped by what comes later; what slides slides; what goes in is
    held."""
    on, top = dict(backend=backend.kind), still(BOX, [0, 0, 1])
    lift = spinning(BOX, [0, 0, 0], [0, 0, -1])
    assert translate(top, lift, [0, 0, 0.5], **on).status[0] == STATUS.MISS
    assert translate(top, lift, [3, 0, -1], **on).status[0] == STATUS.MISS
    assert translate(top, lift, [0, 0, -1.001], **on).fraction[0] == 0
    turntable = spinning(gc.shapes.box((4, 4, 1)), [0, 0, 0], [0, 0, 0], [0, 0, 2])
    assert translate(top, turntable, [0.2, 0, 0], **on).status[0] == STATUS.MISS
    assert translate(top, turntable, [0, 0, -0.1], **on).fraction[0] == 0
    # edges that part hide what comes later: another part of the same body
    ladder = gc.Mesh(
        np.concatenate([BOX.vertices, BOX.vertices + [0, 0, 2.5]]),
        [*_faces(BOX), *([v + 8 for v in face] for face in _faces(BOX))],
    )
    found = translate(top, spinning(ladder, [0, 0, 0], [0, 0, -1]), [0, 0, 0], **on)
    assert found.status[0] == STATUS.HIT and abs(found.fraction[0] - 0.5) < 1e-6
    np.testing.assert_allclose(found.normal[0], [0, 0, -1], atol=1e-15)


def _faces(mesh):
    return [
        mesh.face_vertices[a:b].tolist()
        for a, b in zip(mesh.face_start[:-1], mesh.face_start[1:], strict=True)
    ]


def test_grazing(backend):
    """By as little as floats tell: faces that slide on each other do not stop, what is hit by a hair does."""
    on = dict(backend=backend.kind)
    passing = spinning(BOX, [-3, 0, 0], [6, 0, 0])
    for height, stops in ((1.0, False), (1 + 1e-9, False), (1 - 1e-6, True)):
        found = translate(still(BOX, [0, 0, height]), passing, [0, 0, 0], **on)
        assert (found.status[0] == STATUS.HIT) == stops, height
        if stops:
            assert abs(found.fraction[0] - 1 / 3) < 1e-7


def test_huge_spins(backend):
    bar = gc.shapes.box((4, 0.1, 0.1))
    for rate in (900.0, 3000.0):  # beyond 1,000 radians in parts of the step
        spins = spinning(bar, [0, 0, 0], [0, 0, 0], [0, 0, rate])
        found = translate(still(BOX, [3, 0, 0]), spins, [-3, 0, 0], backend=backend.kind)
        assert found.status[0] == STATUS.HIT
        # the tip is 2 from the centre and comes by every half turn; the wall of the box is there from 1/6 on
        assert 0.1664 < found.fraction[0] < 1 / 6 + 2 * np.pi / rate


def test_a_move_takes_half_the_step_for_each_part(backend):
    on = dict(backend=backend.kind)
    end = gc.Poses.from_quat_wxyz([[2, 0, 1.1]], [[0.8, 0, 0, 0.6]])
    first = move(still(BOX, [0, 0, 1.1]), going(BOX, [5, 0, 0.5], [5, 0, 0.5 + 1e-3]), end, **on)
    assert first.status[0] == STATUS.MISS and np.array_equal(first.position, end.position)
    assert np.array_equal(first.quat_wxyz, end.unit_wxyz) and first.part[0] == 1
    wall = going(BOX, [0.5, 0, 0], [-2.5, 0, 0])
    away = move(still(BOX, [3, 0, 0]), wall, gc.Poses.from_quat_wxyz([[1, 0, 0]], [[0.8, 0, 0, 0.6]]), **on)
    # a gap of 1.5 closes by 2 * 2 a step while the mover comes, and opens by 3: it is 1 at half the step, and
    # the rest opens it
    assert away.status[0] == STATUS.MISS and away.position[0, 0] == 1
    late = move(still(BOX, [0, 0, 1.1]), going(BOX, [5, 0, 0.5], [2.5, 0, 0.5]), end, **on)
    assert (late.status[0], late.part[0]) == (STATUS.HIT, 1) and np.array_equal(late.position, end.position)
    time = 0.5 * (1 + late.fraction[0])  # of the step
    angle = 2 * np.arctan2(0.6, 0.8) * late.fraction[0]
    wide = 0.5 * (np.cos(angle) + np.sin(angle))
    assert 2 + wide == pytest.approx(5 - 2.5 * time - 0.5, abs=1e-6)


def test_still_bodies_beside_those_that_move(backend):
    """They stop movers as they do alone, by the same code; who is first counts."""
    on = dict(backend=backend.kind)
    world = gc.Bodies.concatenate([still(BOX, [0, 0, -1]), going(BOX, [5, 0, 1], [1, 0, 1])])
    down = translate(still(BOX, [0, 0, 1]), world, [0, 0, -2], **on)
    assert (down.body[0], down.status[0]) == (0, STATUS.HIT) and abs(down.fraction[0] - 0.5) < 1e-7
    alone = translate(still(BOX, [0, 0, 1]), still(BOX, [0, 0, -1]), [0, 0, -2], expel=down.expel, **on)
    assert same_bits(down, alone) == []
    side = translate(still(BOX, [0, 0, 1]), world, [0, 0, -0.5], **on)
    assert side.body[0] == 1 and abs(side.fraction[0] - 1) < 1e-7


def test_a_world_that_stands_still_has_the_bits_it_had(backend):
    """However it is said: one pose, two equal ones, no velocities, the other sign of a quaternion."""
    movers, on = still(BOX, [[0, 0, 3], [4, 0, 3]]), dict(backend=backend.kind)
    start = at([[0, 0, 0], [4, 0.2, 0]])
    once = translate(movers, gc.Bodies(BOX, None, start, start), [0, 0, -5], **on)
    other = gc.Poses.from_quat_wxyz(start.position, -start.quat_wxyz)
    for world in (
        gc.Bodies(BOX, None, start, at(start.position)), gc.Bodies(BOX, None, start, other),
        gc.Bodies.from_velocities(BOX, None, start, [0, 0, 0], [0, 0, 0]),
    ):  # fmt: skip
        assert same_bits(once, translate(movers, world, [0, 0, -5], **on)) == []
    with gc.Scene(BOX, np.zeros(2, int), backend=backend.kind) as scene:
        scene.update(start, other)
        assert same_bits(once, translate(movers, scene, [0, 0, -5])) == []


def test_scenes_worlds_rules_and_pairs(backend):
    """A scene whose bodies move answers as its bodies do; worlds, masks, own bodies and pairs count."""
    made = crowd(np.random.default_rng(5), n=24, k=2)
    movers, others = made.bodies()
    loose = translate(movers, others, made.movers.way, backend=backend.kind)
    v = made.others
    with gc.Scene(others.meshes, others.shape, motion="body", world=made.of, backend=backend.kind) as scene:
        scene.update_velocities(others.start, v.way, v.rotation)
        every = translate(movers, scene, made.movers.way, world=-1)
        assert same_bits(loose, every) == []
        own = translate(movers, scene, made.movers.way, world=np.arange(24))
        none = translate(movers, scene, made.movers.way, world=np.arange(24) + 100)
    n = np.arange(24)
    pairs = np.concatenate([np.column_stack((n, 2 * n + k)) for k in range(2)])
    each = translate(movers, others, made.movers.way, pairs=pairs, backend=backend.kind)
    assert np.array_equal(own.fraction, each.fraction.reshape(2, -1).min(axis=0))
    assert (none.status == STATUS.MISS).all() and (own.status == STATUS.HIT).sum() > 5
    assert (made.of[own.body[own.body >= 0]] == n[own.body >= 0]).all()
    # a body that is a mover does not meet itself, nor what its mask leaves out
    lifts = gc.Bodies.from_velocities(
        BOX, None, at([[0, 0, 0], [0, 0, 3]]), [[0, 0, 1], [0, 0, 1]], [0, 0, 0]
    )
    me = lifts.take([1])
    me = me.moved(me.start, me.start)
    free = translate(me, lifts, [0, 0, -2], exclude_body=[1], backend=backend.kind)
    assert free.body[0] == 0 and abs(free.fraction[0] - 2 / 3) < 1e-7


def test_zones_that_are_given(backend):
    on = dict(backend=backend.kind)
    meet = dict(
        movers=still(BOX, [0, 0, 3]), obstacles=going(BOX, [0, 0, 0], [0, 0, 1]), displacement=[0, 0, -3]
    )
    for expel in (1e-3, 0.1):
        found = translate(**meet, expel=expel, **on)
        assert found.expel[0] == expel and found.fraction[0] == pytest.approx(
            (2 - expel) / 4, abs=expel / 200
        )
    thin = translate(**meet, expel=1e-12, **on)
    assert thin.expel[0] == translate(**meet, **on).expel[0], "no thinner than what is told from a touch"
    within = translate(
        still(BOX, [0, 0, 1.05]), spinning(BOX, [0, 0, 0], [0, 0, 1]), [0, 0, 0], expel=0.1, **on
    )
    assert within.fraction[0] == 0, "in its zone, and nearer only"
    with pytest.raises(ValueError, match="expel: expected a finite length of at least"):
        translate(**meet, expel=0.0, **on)


def test_start_inside_and_contacts_where_a_mover_stopped(backend):
    on = dict(backend=backend.kind)
    inside = translate(
        still(BOX, [0, 0, 0.5]), spinning(BOX, [0, 0, 0], [0, 0, -2]), [0, 0, 0], check_start=True, **on
    )
    assert inside.status[0] == STATUS.INITIAL_OVERLAP and inside.fraction[0] == 1
    other = spinning(BOX, [0, 0, 0], [0, 0, 1], [0, 0, 1])
    found = translate(still(BOX, [0.1, 0, 3]), other, [0, 0, -3], **on)
    there = other.poses_at(found.fraction[0])
    stands = gc.Bodies(BOX, None, found.poses, found.poses)
    near = contacts(stands, other.moved(there, there), expel=found.expel, **on)
    assert len(near) and np.abs(near.distance - found.expel[0]).max() < 0.02 * found.expel[0]
    assert found.kind[0] in near.kind


def test_what_is_refused():
    other = spinning(BOX, [0, 0, 0], [0, 0, 1])
    with pytest.raises(
        TypeError, match="movers: expected gpu_collide.Bodies where obstacles move, got points"
    ):
        translate([[0, 0, 3]], other, [0, 0, -3])
    with pytest.raises(ValueError, match="precision: expected 'mixed' or 'double' where obstacles move"):
        translate(still(BOX, [0, 0, 3]), other, [0, 0, -3], precision="single")
    found = translate(still(BOX, [0, 0, 3]), other, [0, 0, -3], backend="cpu")
    with pytest.raises(
        ValueError, match="scene: expected bodies that stand still, .*, got 1 body that moves"
    ):
        page_scene(found, other, QueryArguments(movers=still(BOX, [0, 0, 3]), displacement=[0, 0, -3]))
    with pytest.raises(ValueError, match="obstacles: expected bodies that move from pose to pose"):
        contacts(still(BOX, [0, 0, 3]), other)
    bad = gc.Bodies(BOX, None, at([[0, 0, 0], [0, 0, 0]]), at([[0, 0, 1], [np.nan, 0, 0]]))
    with pytest.warns(RuntimeWarning, match="is not there"):
        found = translate(still(BOX, [0, 0, 3]), bad, [0, 0, -3], backend="cpu")
    assert found.body[0] == 0
    with pytest.warns(RuntimeWarning, match="is not there"):
        found = translate(still(BOX, [0, 0, 3]), bad, [0, 0, -3], pairs=[[0, 0], [0, 1]], backend="cpu")
    assert found.status.tolist() == [STATUS.HIT, STATUS.INVALID_INPUT]
    far = translate(still(BOX, [0, 0, 3]), going(BOX, [0, 0, 0], [0, 0, 1e12]), [0, 1, -3], backend="cpu")
    assert far.status[0] in (STATUS.HIT, STATUS.UNRESOLVED)


@pytest.mark.parametrize("turns", [False, True])
def test_the_same_bits_and_the_reference(turns, backend):
    """Of `cpu` and each backend; and the reference tells the same, to 1e-12 of a step (worst seen 9e-16)."""
    made = crowd(np.random.default_rng(11), n=30, turns=turns)
    ours, _ = ask(gc.pluecker, made, turns, backend=backend.kind)
    assert same_bits(ours, ask(gc.pluecker, made, turns, backend="cpu")[0], FIELDS) == []
    if backend.kind == "opencl":  # which has the bits of `cpu`
        return
    few = crowd(np.random.default_rng(12), n=6, k=1, turns=turns)
    ours, _ = ask(gc.pluecker, few, turns, backend=backend.kind)
    slow, _ = ask(gc.pluecker, few, turns, backend="reference")
    assert np.array_equal(ours.status, slow.status) and (ours.status == STATUS.HIT).sum() > 1
    assert np.abs(ours.fraction - slow.fraction).max() < 1e-12


def test_nothing_and_nobody(backend):
    on = dict(backend=backend.kind)
    nobody = translate(still(BOX, np.zeros((0, 3))), spinning(BOX, [0, 0, 0], [0, 0, 1]), [0, 0, 1], **on)
    assert len(nobody) == 0
    mesh = still(CAR, [[0, 0, 9]])
    free = rotate(mesh, spinning(BOX, [0, 0, 0], [0, 0, 1]), 1.5 * np.pi, [0, 0, 1], [1, 0, 9], **on)
    assert free.status[0] == STATUS.MISS and free.part[0] == 1
    expected = np.array([1.0, 0, 9]) + turn_by(np.array([np.cos(0.75 * np.pi), 0, 0, np.sin(0.75 * np.pi)]),
                                               np.array([-1.0, 0, 0]))  # fmt: skip
    np.testing.assert_allclose(free.position[0], expected, atol=1e-14)
    assert SIZES.shape == (3, 3)
