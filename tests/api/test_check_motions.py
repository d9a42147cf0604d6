"""`check_motions`: what is proved free has no pose that collides; what collides does, at the time told."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.arm_of_boxes import Arm, overlaps

SIX = np.array(
    [
        [0.5, 0.2, 0.6],
        [-0.4, 0.5, 0.9],
        [0.1, -0.6, 0.5],
        [-0.5, -0.4, 1.2],
        [0.3, 0.5, 1.3],
        [0.6, -0.3, 0.2],
    ]
)
HALF = np.array([0.12, 0.12, 0.12])


def boxes(middles, half=HALF):
    at = gc.Poses.from_quat_wxyz(middles, np.tile([1.0, 0, 0, 0], (len(middles), 1)))
    return gc.Bodies(gc.shapes.box(2 * np.asarray(half)), None, at, at)


def poses_of(arm):
    def poses_at(motion, time):
        middle, axes = arm.at(motion, time)
        matrix = np.zeros((*middle.shape[:2], 4, 4))
        matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = axes, middle, 1.0
        return gc.Poses.from_matrix(matrix)

    return poses_at


def random_arm(seed, n, links, turn=1.0):
    rng = np.random.default_rng(seed)
    q0 = rng.uniform(-1.2, 1.2, (n, links))
    way = rng.normal(size=(n, links))
    return Arm(q0, q0 + turn * way / np.linalg.norm(way, axis=1, keepdims=True), 0.3, 0.06)


def gaps(arm, motion, time, link, at, half=HALF):
    """Signed gaps of a link and boxes that stand along the axes at `at`, (k,) each."""
    middle, axes = arm.at(motion, time)
    still = np.tile(np.eye(3), (len(motion), 1, 1))
    rows = np.arange(len(motion))
    return overlaps(middle[rows, link], axes[rows, link], arm.halves(), at, still, np.asarray(half))


def check(arm, backend="auto", **more):
    given = {"max_acceleration": arm.accelerations(), "obstacles": boxes(SIX)} | more
    link = gc.shapes.box(2 * arm.halves())
    return gc.check_motions(link, np.zeros(arm.links, int), poses_of(arm), arm.n, backend=backend, **given)


@pytest.mark.shared_bits("tests/clearance/test_c01_clearance.py")
def test_proofs_and_collisions_of_random_arms(backend):
    """No pose of 256 collides before the end of what is proved free; what collides does, at the time told."""
    arm = random_arm(1, 150, 4)
    found = check(arm, backend.name)
    assert np.bincount(found.status, minlength=5)[[0, 1, 2]].min() > 10
    times = np.linspace(0, 1, 257)
    for link in range(arm.links):
        for at in SIX:
            motion = np.repeat(np.arange(arm.n), len(times))
            gap = gaps(arm, motion, np.tile(times, arm.n), link, at).reshape(arm.n, -1)
            inside = times[None, :] < found.free_fraction[:, None]
            inside |= (found.status == gc.Status.MISS)[:, None]
            assert (gap[inside] > 0).all()
    met = np.flatnonzero(np.isfinite(found.time))
    assert not found.other_is_link[met].any()
    gap = gaps(arm, met, found.time[met], found.link[met], SIX[found.other[met]])
    assert (gap < 1e-11).all()
    assert (found.free_fraction[met] <= found.time[met]).all()
    assert (
        found.time[met] - found.free_fraction[met] <= 1 / 128
    ).mean() > 0.9  # brackets of the first collision


def test_backends_and_the_reference_agree(backend):
    arm = random_arm(2, 6, 2)
    one, two = (check(arm, name, max_pieces=32) for name in (backend.name, "reference"))
    for name in ("status", "free_fraction", "time", "link", "other", "pieces"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_rod_that_poses_miss():
    """Rods of 4 mm, one turning past another that stands: 65 poses step over it, the proof does not."""
    arm = Arm([[0.0, 0.0]], [[0.0, 3.0]], 0.5, 0.004)
    moment = 25.5 / 64
    middle, axes = arm.at(np.array([0]), np.array([moment]))
    rod = middle[0, 1] + axes[0, 1, :, 2] * 0.2
    half = np.array([0.002, 0.4, 0.002])
    sampled = np.linspace(0, 1, 65)
    assert (gaps(arm, np.zeros(65, int), sampled, 1, np.tile(rod, (65, 1)), half) > 0).all()
    found = check(arm, obstacles=boxes([rod], half), max_pieces=4096)
    assert found.status[0] == gc.Status.HIT and abs(found.time[0] - moment) < 5e-3
    short = check(arm, obstacles=boxes([rod], half), max_pieces=64)
    assert short.status[0] == gc.Status.UNRESOLVED and (short.link[0], short.other[0]) == (1, 0)
    assert moment - 0.05 < short.free_fraction[0] < moment


def test_links_against_each_other():
    """An arm that folds up at its last joint: the end of the last link comes to the last link but two."""
    arm = Arm([[0.0, 0, 0, 0], [0.0, 0, 0, 0]], [[0.0, 0.3, 0, 3.1], [0.0, 0.3, 0, 2.5]], 0.5, 0.05)
    found = check(arm, obstacles=None, link_pairs=[[3, 1]])
    assert found.status.tolist() == [gc.Status.HIT, gc.Status.MISS]
    assert (found.link[0], found.other[0], found.other_is_link[0]) == (3, 1, True)
    middle, axes = arm.at(np.zeros(1, int), found.time[:1])
    half = arm.halves()
    assert overlaps(middle[:, 3], axes[:, 3], half, middle[:, 1], axes[:, 1], half)[0] < 1e-11


def sliding(motion, time):
    """Unit cubes that go from x = -3 to x = 3, at y = 1.5, 1.25 and 1, exactly on screws."""
    y = np.array([1.5, 1.25, 1.0])[motion]
    place = np.stack([6 * time - 3, y, 0 * y], axis=-1)[:, None]
    return gc.Poses.from_quat_wxyz(place, np.tile([1.0, 0, 0, 0], (len(motion), 1, 1)))


@pytest.mark.parametrize(
    "margin, wanted", [(0.0, "MISS MISS HIT"), (0.25, "MISS HIT HIT"), (0.6, "HIT HIT HIT")]
)
def test_the_margin_of_cubes_that_slide_past(margin, wanted):
    """Gaps of 1/2, 1/4 and 0: a gap as great as the margin is within it. Screws, so that nothing deviates."""
    cube = gc.shapes.box()
    found = gc.check_motions(
        cube, None, sliding, 3, max_acceleration=0.0, obstacles=boxes([[0.0, 0, 0]], [0.5] * 3), margin=margin
    )
    assert [gc.Status(s).name for s in found.status] == wanted.split()
    assert (found.pieces[found.status == gc.Status.MISS] == 1).all()


def test_links_that_do_not_move():
    """A link that stands still is looked at as well: in an obstacle, within the margin of one, and free."""
    arm = Arm(*[np.zeros((1, 2))] * 2, 0.3, 0.06)
    told = [
        check(arm, max_acceleration=0.0, obstacles=boxes([[x, 0, 0.45]], [0.1, 0.1, 0.1]), margin=margin)
        for x, margin in ((0.0, 0.0), (0.2, 0.1), (0.2, 0.05))
    ]
    assert [found.status[0] for found in told] == [gc.Status.INITIAL_OVERLAP] * 2 + [gc.Status.MISS]
    assert [found.link[0] for found in told] == [1, 0, -1]


def test_deviations_bound_what_happens():
    """Points of an arm's links beside the screws between its poses: never farther than the bound. (It adds
    two accelerations that are nearly the same: 7 to 12 times the truth in the median.)"""
    from gpu_collide.queries.motion_pieces import Pieces, bound_by_acceleration

    arm = random_arm(3, 200, 3, 2.0)
    n, k = arm.links, arm.n
    link, at = gc.shapes.box(2 * arm.halves()), poses_of(arm)
    links = gc.Bodies(link, np.zeros(n, int), *[gc.Poses.identity(n)] * 2)
    rng = np.random.default_rng(4)
    begin = rng.uniform(0, 0.9, k)
    end = begin + rng.uniform(1e-3, 0.1, k)
    which = np.arange(k)
    pieces = Pieces(which, begin, end, at(which, begin), at(which, end))
    bound, worst = bound_by_acceleration(arm.accelerations(), links)(pieces), np.zeros((k, n))
    for share in np.linspace(0, 1, 17):
        true = at(which, begin + share * (end - begin))
        screw = pieces.first.toward(pieces.last, share)
        for corner in link.vertices:
            worst = np.maximum(worst, np.linalg.norm(true.apply(corner) - screw.apply(corner), axis=-1))
    assert (worst <= bound).all()


def test_places_are_told_when_asked_for():
    """The face of the cube at x = 1/2 is met where the other's face is, or within what they overlap."""
    cube, post = gc.shapes.box(), boxes([[0.0, 0, 0]], [0.5] * 3)
    found = gc.check_motions(
        cube, None, sliding, 3, max_acceleration=0.0, obstacles=post, margin=0.25, places=True
    )
    assert not found.point[0].any() and found.time[2] < 0.5
    assert np.abs(found.point[1:, 1] - [0.625, 0.5]).max() < 1e-12
    assert (np.abs(found.point[1:, [0, 2]]) <= [0.625, 0.5]).all()
    without = gc.check_motions(cube, None, sliding, 3, max_acceleration=0.0, obstacles=post, margin=0.25)
    assert not without.point.any()


def test_poses_that_are_none_and_no_motions():
    arm = random_arm(5, 4, 2)
    good = poses_of(arm)

    def bad(motion, time):
        poses = good(motion, time)
        position = np.array(poses.position)
        position[(motion == 2) & (time == 0.5)] = np.nan
        return gc.Poses.from_quat_wxyz(position, poses.quat_wxyz)

    near = boxes(arm.at(np.arange(4), np.full(4, 0.5))[0][:, 1])
    link = gc.shapes.box(2 * arm.halves())
    found = gc.check_motions(link, [0, 0], bad, 4, max_acceleration=arm.accelerations(), obstacles=near)
    assert found.status[2] == gc.Status.INVALID_INPUT and found.free_fraction[2] == 0
    assert (found.status[[0, 1, 3]] != gc.Status.INVALID_INPUT).all()
    none = gc.check_motions(link, [0, 0], bad, 0, max_acceleration=1.0, obstacles=near)
    assert len(none) == 0


def test_results_are_kept(tmp_path):
    found = check(random_arm(6, 5, 2))
    found.save(tmp_path / "found.npz")
    again = gc.MotionChecks.load(tmp_path / "found.npz")
    np.testing.assert_array_equal(again.free_fraction, found.free_fraction)
    assert "5" in repr(found)


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"max_acceleration": None}, TypeError, "deviation: expected either this or max_acceleration"),
        ({"deviation": lambda m, a, b: 0 * a}, TypeError, "deviation: expected either"),
        ({"max_acceleration": -1.0}, ValueError, "max_acceleration: expected numbers from 0 up"),
        (
            {"max_acceleration": [1.0, 2.0, 3.0]},
            ValueError,
            "max_acceleration: expected a shape that broadcasts",
        ),
        ({"obstacles": None}, TypeError, "nothing to hit"),
        ({"obstacles": "boxes"}, TypeError, "obstacles: expected gpu_collide.Bodies"),
        ({"link_pairs": [[0, 2]]}, ValueError, "link_pairs"),
        ({"link_pairs": [[1, 1]]}, ValueError, "link_pairs: expected two different"),
        ({"margin": -1.0}, ValueError, "margin"),
        ({"max_pieces": 0}, ValueError, "max_pieces"),
        ({"max_acceleration": None, "deviation": lambda m, a, b: -1 - a}, ValueError, "lengths from 0 up"),
        (
            {"max_acceleration": None, "deviation": lambda m, a, b: 0.0},
            ValueError,
            "deviation: expected to return",
        ),
    ],
)
def test_wrong_arguments(change, error, text):
    with pytest.raises(error, match=text):
        check(random_arm(7, 2, 2), **change)


def test_obstacles_that_move_are_refused():
    start = gc.Poses.identity(1)
    with pytest.raises(ValueError, match="obstacles: expected bodies that stand still"):
        check(
            random_arm(7, 2, 2), obstacles=gc.Bodies(gc.shapes.box(), None, start, start.moved([[1.0, 0, 0]]))
        )


def test_poses_of_the_wrong_shape_are_refused():
    def flat(motion, time):
        return gc.Poses.identity(len(motion))

    with pytest.raises(ValueError, match="poses_at: expected to return Poses of shape"):
        gc.check_motions(gc.shapes.box(), None, flat, 2, max_acceleration=1.0, obstacles=boxes(SIX))


@pytest.mark.shared_bits("tests/clearance/test_c01_clearance.py")
def test_a_rod_that_is_free_at_the_start_and_turns_into_a_ball(backend):
    """It was told to overlap at the start: the search ends at whatever time is near enough, and there the rod
    is within the ball's rounding."""
    n, rng = 300, np.random.default_rng(3)
    position, way = rng.normal(size=(n, 3)) * 0.4, rng.normal(size=(n, 3)) * 0.3
    first = rng.normal(size=(n, 4))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    axis = first[::-1, 1:] / np.linalg.norm(first[::-1, 1:], axis=1, keepdims=True)
    turn = rng.uniform(0.2, 2.5, n)

    def poses_at(motion, time):
        half = 0.5 * turn[motion] * time
        w, v = np.cos(half), np.sin(half)[:, None] * axis[motion]
        p, q = first[motion, 0], first[motion, 1:]
        u = p[:, None] * v + w[:, None] * q + np.cross(v, q)
        quat = np.column_stack([w * p - (v * q).sum(axis=1), u])
        return gc.Poses.from_quat_wxyz(
            (position[motion] + way[motion] * time[:, None])[:, None], quat[:, None]
        )

    here = gc.Poses.identity(1)
    ball = gc.Bodies(gc.shapes.sphere(0.2), None, here, here)
    rod = gc.shapes.capsule(0.01, 2.0)
    bound = 1.02 * turn[:, None] ** 2
    found = gc.check_motions(
        rod, None, poses_at, n, max_acceleration=bound, obstacles=ball, backend=backend.name
    )
    start = poses_at(np.arange(n), np.zeros(n)).to_matrix().reshape(n, 4, 4)
    along = np.clip(-(start[:, :3, 2] * start[:, :3, 3]).sum(axis=1), -1.0, 1.0)
    gap = np.linalg.norm(start[:, :3, 3] + along[:, None] * start[:, :3, 2], axis=1) - 0.21
    assert np.array_equal(found.status == gc.Status.INITIAL_OVERLAP, gap <= 0.0)
    assert (found.status == gc.Status.HIT).sum() > 30
