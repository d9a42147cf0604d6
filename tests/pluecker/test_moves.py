"""`gc.pluecker.move` and what all queries about movers share: arguments, worlds, statuses, long walks."""

from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.quaternion import conjugate, multiply
from gpu_collide.errors import MemoryLimitError
from gpu_collide.queries.pluecker import Touch, contacts, move, rotate, translate
from gpu_collide.scenes.track import demo_race
from tests.pluecker._crowds import BOX, CAR, TORUS, at, crowd, quaternions, same_bits, still
from tests.support.traces import REACHED

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

STATUS = gc.Status


def test_a_move_is_a_translation_and_then_a_rotation(backend):
    movers, world, way, _ = crowd(51, n=200, spread=2.5)
    rng = np.random.default_rng(51)
    near = at(movers.start.position + way * rng.uniform(0, 0.8, (200, 1)), movers.end.quat_wxyz)
    movers = movers.moved(movers.start, near)
    found = move(movers, world, backend=backend.kind)
    way = movers.end.position - movers.start.position
    first = translate(movers, world, way, expel=found.expel, backend=backend.kind)
    stopped = first.status == STATUS.HIT
    assert 20 < stopped.sum() < 180 and np.array_equal(found.part == 0, stopped)
    for name in REACHED:
        assert np.array_equal(getattr(found, name)[stopped], getattr(first, name)[stopped]), name
    turn = multiply(movers.end.unit_wxyz, conjugate(movers.start.unit_wxyz))
    turn = np.where(turn[:, :1] < 0, -turn, turn)
    angle = 2 * np.arctan2(np.linalg.norm(turn[:, 1:], axis=1), turn[:, 0])
    there = gc.Bodies(movers.meshes, movers.shape, first.poses, first.poses)
    second = rotate(there, world, angle, turn[:, 1:], first.position, backend=backend.kind)
    turned = ~stopped & (second.status == STATUS.HIT)
    assert turned.sum() > 8 and (found.status[turned] == STATUS.HIT).all()
    assert np.abs(found.fraction - second.fraction)[turned].max() < 1e-10
    free = ~stopped & ~turned
    assert np.array_equal(found.position[free], movers.end.position[free]), "to the bit where it was to go"
    assert np.array_equal(found.quat_wxyz[free], movers.end.unit_wxyz[free])


def test_end_and_the_end_of_the_bodies(backend):
    movers, world, _, _ = crowd(52, n=30)
    still_ = gc.Bodies(movers.meshes, movers.shape, movers.start, movers.start)
    a, b = move(movers, world, backend=backend.kind), move(still_, world, movers.end, backend=backend.kind)
    assert same_bits(a, b) == []
    assert (move(still_, world, backend=backend.kind).fraction == 1).all(), "nothing is to be done"


def test_a_scene_and_bodies_are_the_same_world(backend):
    movers, world, way, _ = crowd(53, n=40, movers=(TORUS, BOX), obstacles=(TORUS, BOX))
    loose = translate(movers, world, way, backend=backend.kind)
    with gc.Scene(world.meshes, world.shape, world.start, backend=backend.kind) as scene:
        before = scene.nbytes
        assert same_bits(loose, translate(movers, scene, way)) == []
        assert scene.nbytes > before, "what it keeps for movers counts"
        kept = scene.nbytes
        moved = gc.Poses.from_quat_wxyz(world.start.position + 0.3, world.start.quat_wxyz)
        scene.update(moved)
        there = gc.Bodies(world.meshes, world.shape, moved, moved)
        again = translate(movers, scene, way)
        assert same_bits(again, translate(movers, there, way, backend=backend.kind)) == []
        assert scene.nbytes == kept and not np.array_equal(again.fraction, loose.fraction)
        scene.step(world.start)
        assert not same_bits(translate(movers, scene, way), again) == [], "they move back meanwhile"
        with pytest.raises(ValueError, match="obstacles: expected a Scene at rest, got one that moves"):
            contacts(movers, scene)
        with pytest.raises(ValueError, match="precision: expected nothing with a Scene as world"):
            translate(movers, scene, way, precision="single")
    with pytest.raises(ValueError, match="expected an open Scene"):
        translate(movers, scene, way)


def test_pairs_and_own(backend):
    movers, world, way, _ = crowd(54, n=40)
    n, m = len(movers), len(world)
    every = np.array([(i, o) for i in range(n) for o in range(m)])
    each = translate(movers, world, way, pairs=every, backend=backend.kind)
    first = translate(movers, world, way, backend=backend.kind)
    assert len(each) == n * m
    best = each.fraction.reshape(n, m)
    assert np.array_equal(np.where(first.status == STATUS.HIT, best.min(axis=1), 1), first.fraction)
    hit = first.status == STATUS.HIT
    assert (each.status.reshape(n, m)[hit, first.body[hit]] == STATUS.HIT).all()
    assert (
        set(each.body) <= {-1, *range(m)}
        and (each.body[each.status == 1] == every[each.status == 1, 1]).all()
    )
    # a body of the world that moves itself
    itself = gc.Bodies(world.meshes, world.shape, world.start, world.start)
    alone = translate(itself, world, [0, 0, 1e-3], exclude_body=np.arange(m), backend=backend.kind)
    assert (alone.body != np.arange(m)).all()
    left_out = translate(movers, world, way, exclude_body=first.body, backend=backend.kind)
    others = np.where(every[:, 1] == np.repeat(first.body, m), 1.0, each.fraction).reshape(n, m)
    assert np.array_equal(left_out.fraction, others.min(axis=1))


def test_trouble_of_one_mover_is_its_status(backend):
    position = [[0, 0, 3], [np.nan, 0, 3], [0, 0, 3], [0, 0, 3], [0, 0, 3]]
    quat = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], float)
    way = [[0, 0, -3], [0, 0, -3], [0, 0, -3], [0, np.inf, 0], [0, 0, -1e300]]
    world = still(BOX, [0, 0, 0])
    found = translate(still(BOX, position, quat), world, way, backend=backend.kind)
    wanted = [STATUS.HIT, STATUS.INVALID_INPUT, STATUS.INVALID_INPUT, STATUS.INVALID_INPUT, STATUS.UNRESOLVED]
    assert found.status.tolist() == wanted
    assert found.fraction[1:].tolist() == [0] * 4 and (found.kind[1:] == Touch.NONE).all()
    assert np.array_equal(found.position[3:], [[0, 0, 3]] * 2)
    for name in ("fraction", "point", "normal", "position", "quat_wxyz", "expel"):
        assert np.isfinite(getattr(found, name)).all(), name
    axis = [[0, 0, 1], [0, 0, 0], [0, 0, 1], [0, np.nan, 1]]
    angle = [0.0, 1.0, np.nan, 1.0]
    turned = rotate(still(BOX, [[0, 0, 3]] * 4), world, angle, axis, [0, 0, 0], backend=backend.kind)
    assert turned.status.tolist() == [STATUS.MISS] + [STATUS.INVALID_INPUT] * 3
    assert turned.fraction.tolist() == [1, 0, 0, 0]
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, np.inf]], [[0, 0, 0, 0], [1, 0, 0, 0]])
    assert (move(still(BOX, [[0, 0, 3]] * 2), world, end, backend=backend.kind).status == 3).all()


def test_zero_ways_touch_nothing(backend):
    movers, world, _, _ = crowd(55, n=30, spread=1)
    for found in (
        translate(movers, world, [0, 0, 0], backend=backend.kind),
        rotate(movers, world, 0.0, [0, 0, 1], [0, 0, 0], backend=backend.kind),
        move(movers, world, movers.start, backend=backend.kind),
    ):
        assert (found.status == STATUS.MISS).all() and (found.fraction == 1).all()
        assert np.array_equal(found.position, movers.start.position)


def test_empty_worlds_and_no_movers(backend):
    nobody = still(BOX, np.zeros((0, 3)))
    movers, world, way, turn = crowd(56, n=10)
    assert (translate(movers, nobody, way, backend=backend.kind).status == STATUS.MISS).all()
    assert (rotate(movers, nobody, *turn, backend=backend.kind).status == STATUS.MISS).all()
    assert len(contacts(movers, nobody, 1.0, backend=backend.kind)) == 0
    for found in (
        translate(nobody, world, [1, 0, 0], backend=backend.kind),
        move(nobody, world, backend=backend.kind),
    ):
        assert len(found) == 0 and found.position.shape == (0, 3)
    with pytest.warns(RuntimeWarning, match="2 bodies have an invalid pose and are not there"):
        gone = translate(movers, still(BOX, [[np.nan, 0, 0]] * 2), way, backend=backend.kind)
    assert (gone.status == STATUS.MISS).all()


def test_bad_arguments():
    movers, world, way, _ = crowd(57, n=4)
    for bad, error, text in (
        ({"movers": world.meshes[0]}, TypeError, "movers: expected gpu_collide.Bodies or points"),
        ({"movers": np.zeros((4, 2))}, ValueError, "movers: expected shape"),
        (
            {"obstacles": movers.start},
            TypeError,
            "obstacles: expected gpu_collide.Scene or gpu_collide.Bodies, got Poses",
        ),
        (
            {"displacement": [1, 2]},
            ValueError,
            r"displacement: .* \(3,\) or \(4, 3\), got \(2,\)",
        ),
        (
            {"displacement": [[1, 2, 3]] * 3},
            ValueError,
            r"displacement: .* \(3,\) or \(4, 3\), got \(3, 3\)",
        ),
        ({"displacement": ["a", "b", "c"]}, TypeError, "displacement: expected float"),
        ({"expel": 0.0}, ValueError, "expel: expected a finite length of at least .* for mover 0"),
        ({"expel": [1.0, 1.0, np.inf, 1.0]}, ValueError, "expel: expected a finite length"),
        (
            {"exclude_body": [0, 1, 2, 6]},
            ValueError,
            "exclude_body: expected bodies .* from 0 to 5, or -1, got 6",
        ),
        ({"exclude_body": [0.0] * 4}, TypeError, "exclude_body: expected integers"),
        ({"pairs": [[4, 0]]}, ValueError, "pairs: expected movers from 0 to 3 in column 0, got 4"),
        (
            {"pairs": [[0, 6]]},
            ValueError,
            "pairs: expected bodies of the world from 0 to 5 in column 1, got 6",
        ),
        (
            {"pairs": [[0, 1]], "exclude_body": [0] * 4},
            ValueError,
            "exclude_body: expected nothing when pairs",
        ),
        ({"precision": "half"}, ValueError, "precision: expected one of"),
        ({"backend": "gpu"}, ValueError, "backend: expected one of"),
        ({"max_bytes": 0}, ValueError, "max_bytes: expected a positive integer"),
        ({"max_bytes": 100}, MemoryLimitError, "max_bytes: expected room for the world"),
    ):
        with pytest.raises(error, match=text):
            translate(**{"movers": movers, "obstacles": world, "displacement": way, **bad})
    with pytest.raises(ValueError, match="angle: expected radians of at most 2 pi, got 7"):
        rotate(movers, world, 7.0, [0, 0, 1], [0, 0, 0])
    with pytest.raises(TypeError, match="movers: expected gpu_collide.Bodies, got list; points have no pose"):
        move([[0, 0, 0]], world)
    with pytest.raises(TypeError, match="end: expected gpu_collide.Poses, got tuple"):
        move(movers, world, (1, 2))
    with pytest.raises(ValueError, match=r"end: expected poses of the 4 movers, shape \(4,\), got \(6,\)"):
        move(movers, world, world.start)


def test_memory_cuts_but_changes_nothing(backend):
    movers, world, way, _ = crowd(58, n=300)
    whole = translate(movers, world, way, backend=backend.kind)
    least = None
    for size in range(14, 26):
        try:
            part = translate(movers, world, way, max_bytes=1 << size, backend=backend.kind)
        except MemoryLimitError:
            continue
        least = least or size
        assert same_bits(whole, part) == []
    assert least is not None and least < 24


def test_a_trace_is_kept(backend, tmp_path):
    movers, world, way, _ = crowd(59, n=40)
    found = translate(movers, world, way, backend=backend.kind)
    assert f"{(found.status == 1).sum()} HIT" in repr(found) and "made by" in repr(found)
    found.save(tmp_path / "trace")
    assert same_bits(found, gc.pluecker.Trace.load(tmp_path / "trace")) == []
    points = contacts(movers, world, 0.5, backend=backend.kind)
    assert f"points    {len(points)}" in repr(points)
    points.save(tmp_path / "points")
    again = gc.pluecker.TouchPoints.load(tmp_path / "points")
    assert np.array_equal(points.point, again.point) and np.array_equal(points.point_start, again.point_start)
    with pytest.raises(ValueError, match="Trace"):
        gc.pluecker.Trace.load(tmp_path / "points")
    with pytest.raises(ValueError, match="read-only"):
        found.fraction[0] = 1


def apart(a, b, poses):
    """Greatest gap between boxes of sides a and b along 15 axes, of pairs of poses: above 0: apart."""
    (ta, ra), (tb, rb) = ((p.position, p.to_matrix()[:, :3, :3]) for p in poses)
    axes = [ra[:, :, k] for k in range(3)] + [rb[:, :, k] for k in range(3)]
    axes += [np.cross(ra[:, :, j], rb[:, :, k]) for j in range(3) for k in range(3)]
    gaps = []
    for axis in axes:
        length = np.linalg.norm(axis, axis=1)
        axis = axis / np.where(length > 1e-6, length, 1)[:, None]
        reach = sum(0.5 * s * np.abs(np.einsum("ij,ij->i", r[:, :, k], axis))
                    for sides, r in ((a, ra), (b, rb)) for k, s in enumerate(sides))  # fmt: skip
        gaps.append(np.where(length > 1e-6, np.abs(np.einsum("ij,ij->i", tb - ta, axis)) - reach, -np.inf))
    return np.max(gaps, axis=0)


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_a_walk_never_goes_into_anything(backend, precision):
    """Boxes among boxes, pushed about at random: every one of them stays out of every other."""
    rng = np.random.default_rng(60)
    sides, n, m = (0.6, 0.4, 0.3), 40, 12
    box, block = gc.shapes.box(sides), gc.shapes.box((1.0, 0.8, 0.6))
    world = still(block, rng.uniform(-1.5, 1.5, (m, 3)), quaternions(rng, m))
    poses = at(rng.uniform(2.2, 3.0, (n, 3)) * rng.choice([-1, 1], (n, 3)), quaternions(rng, n))
    hits = 0
    with gc.Scene(block, None, world.start, precision=precision, backend=backend.kind) as scene:
        for _ in range(60):
            pull = -0.25 * poses.position + rng.normal(0, 0.3, (n, 3))
            end = at(poses.position + pull, poses.quat_wxyz + rng.normal(0, 0.2, (n, 4)))
            length = np.linalg.norm(end.quat_wxyz, axis=1, keepdims=True)
            end = at(end.position, end.quat_wxyz / length)
            found = move(gc.Bodies(box, None, poses, end), scene)
            hits += int((found.status == STATUS.HIT).sum())
            poses = found.poses
            rows, columns = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
            gap = apart(sides, (1.0, 0.8, 0.6), (poses[rows], world.start[columns]))
            assert gap.min() > 0
    assert hits > 500


def test_wind_up_cars_on_a_track(backend):
    """A car that is pushed about on the demo's track never goes through the road: its corners stay above."""
    track = demo_race(stations=60, seconds=10)
    road = gc.Mesh(track["track_vertices"], track["track_faces"])
    rng = np.random.default_rng(61)
    pick = rng.integers(0, len(track["position"]), 30)
    quat = track["quaternion_xyzw"][pick][:, [3, 0, 1, 2]]
    poses = at(track["position"][pick] + [0, 0, 1.5], quat)
    inside = []
    with gc.Scene(road, None, at([0, 0, 0]), backend=backend.kind) as scene:
        for _ in range(20):
            end = at(poses.position + rng.normal(0, 0.4, (30, 3)) - [0, 0, 0.5], poses.quat_wxyz)
            poses = move(gc.Bodies(CAR, None, poses, end), scene).poses
        corners = np.concatenate([poses.apply(v[None]) for v in CAR.vertices])
        up = translate(corners, scene, [0, 0, -50.0])
        inside = up.status != STATUS.HIT
    assert not inside.any(), "there is road below every corner"


def test_the_pile_of_the_examples_stays_apart(monkeypatch):
    """The toy world: thousands of tries, and a gap between any two bodies all the time."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "examples"))
    import pile

    boxes = pile.Pile(5)
    for k in range(24):
        boxes.round(np.array([0.2 * (k > 16), 0, 0]))
        assert boxes.gaps().min() > 0
    assert boxes.moves > 1500 and boxes.position[:5, 2].max() < 3, "all have come down"
    assert (boxes.gaps() < 1e-6).sum() >= 4, "and some touch"


def test_what_starts_inside_is_told(backend):
    """Bodies and points, with and without `pairs` and `exclude_body`, and of a scene; all else is equal."""
    at_start = at([[0, 0, 3], [0.2, 0.1, 0.3], [0, 0, 1], [0.9, 0, 0], [5, 0, 0], [5.1, 0, 0]])
    movers, world = gc.Bodies(BOX, None, at_start, at_start), still(BOX, [[0, 0, 0], [5, 0, 0]])
    own = [-1, -1, -1, -1, 1, -1]
    plain = translate(movers, world, [0, 0, -4.0], exclude_body=own, backend=backend.kind)
    told = translate(movers, world, [0, 0, -4.0], exclude_body=own, check_start=True, backend=backend.kind)
    assert same_bits(plain, told) == ["status"] and (plain.status != STATUS.INITIAL_OVERLAP).all()
    inside = [False, True, False, True, False, True]
    assert ((told.status == STATUS.INITIAL_OVERLAP) == inside).all()
    assert np.array_equal(told.status[[0, 2, 4]], plain.status[[0, 2, 4]])
    few = [[0, 0], [1, 0], [4, 1], [4, 0], [5, 1]]
    told = translate(movers, world, [0, 0, -4.0], pairs=few, check_start=True, backend=backend.kind)
    assert (told.status == STATUS.INITIAL_OVERLAP).tolist() == [False, True, True, False, True]
    with gc.Scene(BOX, None, world.start, backend=backend.kind) as scene:
        turned = rotate(movers, scene, 0.3, [0, 0, 1], [0, 0, 0], check_start=True)
        moved = move(movers, scene, check_start=True)
    for found in (turned, moved):
        assert (found.status == STATUS.INITIAL_OVERLAP).tolist() == [*inside[:4], True, True]
    points = [[0, 0, 2], [0.1, 0.2, 0.3], [0, 0, 0.4999], [np.nan, 0, 0]]
    told = translate(points, world, [0, 0, -4.0], check_start=True, backend=backend.kind)
    assert told.status.tolist() == [STATUS.HIT, *[STATUS.INITIAL_OVERLAP] * 2, STATUS.INVALID_INPUT]
    assert "2 INITIAL_OVERLAP" in repr(told)
    with pytest.raises(TypeError, match="check_start: expected"):
        translate(movers, world, [0, 0, 1], check_start=1)
    assert len(translate(movers, still(BOX, np.zeros((0, 3))), [0, 0, 1], check_start=True)) == 6
