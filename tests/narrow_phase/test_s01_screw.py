"""s01_screw: the motion of B seen from A as one screw record a pair."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.reference.narrow_phase import s01_screw as reference
from tests.narrow_phase._launch import STRIDE, C, Stages, cpu, scene_of, sharing, stages_of
from tests.oracle.solid import apply, quat_mul, rotation_matrix

ONE = np.array([1.0, 0, 0, 0])
SCREW = sources.record("screw")
FAMILIES = (
    "random_cars",
    "translations",
    "to_180",
    "half_turn",
    "tiny_angles",
    "far_away",
    "exact_axis",
    "passing",
    "scales",
    "lattice",
    "resting",
    "axis_through_both",
)


class Record:
    """Columns of screw records (n, STRIDE), rotations as matrices."""

    def __init__(self, rows):
        for name, width in SCREW.widths.items():
            column = rows[:, SCREW[name]]
            setattr(self, name, column.reshape(-1, 3, 3) if width == 9 else column)

    def flow(self, i, x, s):
        """Points (k, 3) of pair i carried to s."""
        th = self.theta[i]
        sigma, nu = s * np.sinc(th * s / np.pi), 0.5 * (s * np.sinc(0.5 * th * s / np.pi)) ** 2
        out, inward = self.w[i] + th * x[:, 2], th * x[:, 0]
        x0 = x[:, 0] + out * sigma - th * inward * nu
        return np.stack([x0, x[:, 1] + self.g[i] * s, x[:, 2] - inward * sigma - th * out * nu], axis=1)


def record(backend, mesh, start, end, precision="mixed"):
    """Record of B = `mesh` moving from one (position, quaternion) to another past the same mesh at rest."""
    poses = [
        gc.Poses.from_quat_wxyz(*map(np.array, zip((np.zeros(3), ONE), p, strict=True))) for p in (start, end)
    ]
    bodies = gc.Bodies(mesh, None, *poses)
    rows, state = Stages(backend, bodies, [[0, 1]], precision).s01()
    assert state.tolist() == [0]
    return Record(rows)


def about(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


# ---- known answers


def test_translation(backend):
    k = record(backend, gc.shapes.box(), ([-3, 0, 0], ONE), ([1, 3, 0], ONE))
    assert (k.theta[0], k.g[0], k.kappa[0]) == (0, 0, 0)
    assert k.w[0] * k.scale[0] == pytest.approx(5, abs=1e-15)
    assert np.allclose(k.ra[0, 0], [0.8, 0.6, 0], atol=1e-15)
    # the frame's origin is B's centre half-way
    assert np.allclose(k.ta[0] * k.scale[0], -k.ra[0] @ [-1, 1.5, 0], atol=1e-15)
    assert np.array_equal(k.tb[0], np.zeros(3))


def test_quarter_turn_about_a_far_axis(backend):
    """About z through (0, 10, 0): the centre goes round at radius 10, and the curvature is 1/10."""
    k = record(backend, gc.shapes.box(), ([0, 0, 0], ONE), ([10, 10, 0], about([0, 0, 1], np.pi / 2)))
    assert k.theta[0] == pytest.approx(np.pi / 2, abs=1e-15)
    assert k.scale[0] / k.kappa[0] == pytest.approx(10, abs=1e-13)
    assert k.w[0] * k.scale[0] == pytest.approx(5 * np.pi, abs=1e-13)
    assert abs(k.g[0]) < 1e-15
    axis_point = k.ra[0].T @ (np.array([0, 0, -1 / k.kappa[0]]) - k.ta[0]) * k.scale[0]
    assert np.allclose(axis_point[:2], [0, 10], atol=1e-13)
    assert np.allclose(k.ra[0, 1], [0, 0, 1], atol=1e-15)


def test_turn_in_place_keeps_the_centre_off_the_origin(backend):
    """Without travel the reference radius is the size, not zero: the frame stays off the axis."""
    mesh = gc.shapes.box()
    k = record(backend, mesh, ([2, 0, 0], ONE), ([2, 0, 0], about([0, 0, 1], 1.0)))
    assert k.w[0] == pytest.approx(k.theta[0] * k.size[0], rel=1e-15)
    assert k.kappa[0] * k.size[0] == pytest.approx(1, rel=1e-15)
    assert np.allclose(k.tb[0], [0, 0, -k.size[0]], atol=1e-15)


def test_screw_with_pitch(backend):
    k = record(backend, gc.shapes.box(), ([1, 0, 0], ONE), ([0, 1, 7], about([0, 0, 1], np.pi / 2)))
    assert k.g[0] * k.scale[0] == pytest.approx(7, abs=1e-14)
    assert k.theta[0] == pytest.approx(np.pi / 2, abs=1e-15)
    assert k.w[0] * k.scale[0] == pytest.approx(np.pi / 2, abs=1e-14)


@pytest.mark.parametrize("axis", [[1, 0, 0], [-1, 0, 0], [0, 0.6, -0.8], [0, -0.6, 0.8]])
def test_exact_half_turn_has_one_sign(backend, axis):
    """An axis and its opposite are the same half-turn: the first component that counts is positive."""
    q = np.concatenate([[0.0], axis])
    k = record(backend, gc.shapes.box(), ([0, 0, 0], ONE), ([0, 0, 0], q))
    assert k.theta[0] == pytest.approx(np.pi, abs=1e-15)
    lead = np.asarray(axis)[np.nonzero(axis)[0][0]]
    assert np.allclose(k.ra[0, 1], np.array(axis) * np.sign(lead), atol=1e-15)


def test_no_motion(backend):
    q = about([0.6, 0, 0.8], 0.7)
    k = record(backend, gc.shapes.box(), ([0.3, 0.1, 0], q), ([0.3, 0.1, 0], q))
    assert (k.theta[0], k.w[0], k.g[0], k.kappa[0], k.speed[0]) == (0, 0, 0, 0, 0)
    assert k.tau[0] == 1


@pytest.mark.parametrize("step", [1e-14, 1e-12])
def test_motion_below_the_rounding_of_poses_is_none(backend, step):
    mesh = gc.shapes.box()
    k = record(backend, mesh, ([3, 0, 0], ONE), ([3, step, 0], ONE))
    assert (k.speed[0] > 0) == (step > C["GC_NO_MOTION"] * mesh.radius)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_invalid_poses(backend, row):
    """A pair with an unusable pose is marked and gets no numbers; its neighbours do not notice."""
    position = np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]])
    quat = np.tile(ONE, (4, 1))
    broken_position, broken_quat = position.copy(), quat.copy()
    if row == 0:
        broken_position[1, 2] = np.nan
    elif row == 1:
        broken_quat[1] = 0
    else:
        broken_quat[1] = [1, np.inf, 0, 0]
    moved = position * 0.5
    bodies = gc.Bodies(
        gc.shapes.box(),
        None,
        gc.Poses.from_quat_wxyz(broken_position, broken_quat),
        gc.Poses.from_quat_wxyz(moved, quat),
    )
    rows, state = Stages(backend, bodies, [[0, 2], [0, 1], [1, 3], [2, 3]]).s01()
    assert state.tolist() == [0, C["GC_PAIR_INVALID"], C["GC_PAIR_INVALID"], 0]
    assert np.isnan(rows[1:3]).all()
    assert np.isfinite(rows[[0, 3], :35]).all()


# ---- invariants


def relative(scene, when, mesh_radius=None):
    """B's rotation and shift in A's body axes at the start or the end, in float64 from the poses."""
    position, quat = (scene.start, scene.end)[when]
    a, b = np.asarray(scene.pairs).T
    back = quat[a] * [1, -1, -1, -1]
    return rotation_matrix(quat_mul(back, quat[b])), apply(rotation_matrix(back), position[b] - position[a])


@pytest.mark.parametrize("family", FAMILIES)
def test_flow_takes_b_from_pose_to_pose(family, backend):
    """The record alone carries B's vertices to where the poses put them. Worst error seen, in shares of the
    reach (the coordinates that enter): 6e-16. Positions of 1e6 are subtracted first, so they cost nothing."""
    n = 120
    scene = scene_of(family, n)
    rows, state = stages_of(backend, family, n).s01()
    assert not state.any()
    k = Record(rows)
    meshes = scene.bodies().meshes
    worst = 0.0
    for when, s in ((0, -0.5), (1, 0.5)):
        turn, shift = relative(scene, when)
        for i, (a, b) in enumerate(np.asarray(scene.shape)[scene.pairs]):
            ma, mb = meshes[a], meshes[b]
            half = (mb.vertices - mb.center) * k.shrink[i] @ k.rb[i].T + k.tb[i]
            moved = (k.flow(i, half, s) - k.ta[i]) @ k.ra[i] * k.scale[i] + ma.center
            expected = mb.vertices @ turn[i].T + shift[i]
            # the record works from the middle of the way: its rounding is that of both ends and of the radius
            reach = np.abs(expected).max() + np.abs(k.ta[i]).max() * k.scale[i] + k.speed[i] * k.scale[i]
            reach += np.abs(mb.vertices).max()
            worst = max(worst, np.abs(moved - expected).max() / reach)
    assert worst < 2e-15


@pytest.mark.parametrize("family", FAMILIES)
def test_record_is_consistent(family, backend):
    rows, _ = stages_of(backend, family, 120).s01()
    k = Record(rows)
    assert np.isfinite(rows[:, : sum(SCREW.widths.values())]).all()
    assert np.isnan(rows[:, sum(SCREW.widths.values()) :]).all()  # the rest of the stride belongs to nobody
    for m in (k.ra, k.rb):
        assert np.abs(m @ m.transpose(0, 2, 1) - np.eye(3)).max() < 5e-15
        assert np.abs(np.linalg.det(m) - 1).max() < 5e-15
    assert ((k.theta >= 0) & (k.theta <= np.pi + 1e-15)).all()
    assert np.array_equal(np.frexp(k.scale)[0], np.full(len(rows), 0.5))
    assert np.array_equal(k.scale * k.shrink, np.ones(len(rows)))
    assert ((k.size > 0.5 - 1e-15) & (k.size <= 1)).all()
    assert np.array_equal(np.maximum(k.radius_a, k.radius_b), k.size)
    assert np.allclose(k.speed, np.hypot(k.w, k.g), rtol=1e-15)
    assert np.allclose(k.kappa * k.w, k.theta, rtol=1e-15)
    # the axis is never nearer to the frame's origin than the size
    assert (k.kappa * k.size <= 1 + 1e-15).all()
    assert (k.tb[:, :2] == 0).all() and (k.tb[:, 2] <= 1e-15).all()
    with np.errstate(divide="ignore"):
        tau = C["GC_TAU_TIME"] + C["GC_TAU_LENGTH"] * k.size / k.speed
    assert np.allclose(k.tau, np.minimum(tau, 1), rtol=1e-14)


# ---- parity


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("family", ["random_cars", "to_180", "tiny_angles", "axis_through_both", "passing"])
def test_parity_with_the_reference(family, precision, backend):
    """Numbers against NumPy, in shares of the lengths that enter, over the sine of the turn. Worst error
    seen: theta 9e-16, w 3e-16, g 3e-16, kappa 2e-16, frames 5e-17; single 5e-7, 1e-7, 2e-7, 1e-7, 3e-8."""
    n = 100
    scene = scene_of(family, n)
    rows, _ = stages_of(backend, family, n, precision).s01()
    k = Record(rows.astype(float))
    bodies = scene.bodies()
    (p0, q0, _), (p1, q1, _) = (reference.pose_arrays(x) for x in (bodies.start, bodies.end))
    # float32 knows a turn by its sine, with the rounding of both orientations
    tol = 5e-15 if precision == "mixed" else 2e-6
    for i, (a, b) in enumerate(scene.pairs):
        ma, mb = (bodies.meshes[bodies.shape[x]] for x in (a, b))
        r = reference.screw_of_pair(ma, mb, *((p[x], q[x]) for x in (a, b) for p, q in ((p0, q0), (p1, q1))))
        unit = k.scale[i]
        if precision == "single" and r.theta < 1e-4:
            continue
        way = np.abs(p0[[a, b]]).max() + np.abs(p1[[a, b]]).max() + r.size + r.speed
        assert abs(k.theta[i] - r.theta) < tol
        if r.theta > 1e-6:
            # the axis is as sure as its sine is long
            slack = tol * way / min(r.theta, np.pi / 2)
            assert abs(k.w[i] * unit - r.W) < slack and abs(k.g[i] * unit - r.g) < slack
            assert abs(k.kappa[i] / unit - r.kappa) * r.size < slack / max(r.W, r.size)
        assert k.size[i] * unit == pytest.approx(r.size, rel=tol)
        across = np.hypot(r.W, 0) / r.speed if r.speed else 1.0
        if r.theta * r.size < 0.999 * r.W and r.theta > 1e-6:
            slack = tol * way / (r.size * min(r.theta, 1.0) * across) + tol * way / max(
                r.W - r.theta * r.size, 1e-9
            )
            assert np.abs(k.ra[i] - r.axes).max() < slack


@pytest.mark.parametrize("groups", [1, 2, 7])
def test_groups_change_no_bits(groups, backend):
    stages = stages_of(backend, "random_cars", 120)
    assert stages.s01(groups)[0].tobytes() == stages.s01()[0].tobytes()


def far_goers():
    """B passes A at the start, half way, at the end, or not at all, on ways of 1 to 1e14 sizes."""
    ways = 10.0 ** np.arange(15)
    start = np.concatenate(
        [[[-k * w, beside, 0.0] for w in ways] for k in (0.0, 0.5, 1.0) for beside in (0.5, 20.0)]
    )
    end = start + np.tile(ways, 6)[:, None] * [1.0, 0, 0]
    zero, q = np.zeros_like(start), np.tile(ONE, (2 * len(start), 1))
    poses = [gc.Poses.from_quat_wxyz(np.concatenate([zero, x]), q) for x in (start, end)]
    pairs = np.stack([np.arange(len(start)), np.arange(len(start)) + len(start)], axis=1)
    return gc.Bodies(gc.shapes.box(), None, *poses), pairs


@pytest.mark.parametrize("precision", ["mixed", "single", "double"])
def test_ways_too_long_for_the_digits_are_asked_about_by_one_or_by_many(precision, backend):
    """Among many work-items by a launch of its own."""
    alone, many = (Stages(be, *far_goers(), precision).s01() for be in (cpu(), sharing(backend)))
    assert alone[0].tobytes() == many[0].tobytes() and alone[1].tobytes() == many[1].tobytes()
    assert set(many[1].tolist()) == {0, C["GC_PAIR_UNRESOLVED"]}
    assert not many[1].reshape(3, 2, -1)[:, :, :3].any() and many[1].reshape(3, 2, -1)[:, 0, -1].all()


@pytest.mark.parametrize("family", ["random_cars", "half_turn", "tiny_angles"])
def test_backends_have_the_same_bits(family, backend):
    mine, theirs = (stages_of(be, family, 120).s01()[0] for be in (backend, cpu()))
    assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 257])
def test_every_number_of_pairs(n, backend):
    """Sizes around a group's: no pair is left out, none written twice."""
    scene = scene_of("lattice", 260)
    rows, state = Stages(backend, scene.bodies(), scene.pairs[:n]).s01()
    assert rows.shape == (n, STRIDE) and not state.any()
    whole, _ = stages_of(backend, "lattice", 260).s01()
    assert rows.tobytes() == whole[:n].tobytes()
