"""b01_bounds: the box of what a body sweeps by its own screw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.broad_phase.trees import BodyTree
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.reference.broad_phase import b01_bounds as reference
from tests.broad_phase._scenes import MESHES, at, moving, unit

TIMES = np.linspace(0, 1, 65)
ONE = [1.0, 0, 0, 0]
BOUND = sources.record("bound")


def bounds(backend, bodies, precision="mixed"):
    """Rows of `BodyTree`'s bounds and boxes, float64, in the world's frame."""
    tree = BodyTree(Launcher(backend, precision, 1 << 30), check_rules(len(bodies)))
    tree.look(bodies)
    rows, boxes = (backend.to_host(buf) for buf in tree.bound(bodies))
    rows, boxes = rows.reshape(len(bodies), -1).astype(float), boxes.reshape(-1, 6).astype(float)
    for end in ("start", "end"):
        rows[:, BOUND[end]] += tree.shift
    return rows, boxes + np.tile(tree.shift, 2)


def screws(seed, n, turn, way, size=3.0):
    """Bodies that move by known screws, and a function from a time to their poses then."""
    rng = np.random.default_rng(seed)
    start = gc.Poses.from_quat_wxyz(size * rng.normal(size=(n, 3)), unit(rng, (n, 4)))
    axis, point = unit(rng, (n, 3)), size * rng.normal(size=(n, 3))
    angle, pitch = rng.uniform(0, turn, n), way * rng.normal(size=n)

    def poses(t):
        return gc.Poses.from_screw(axis, point, t * angle, t * pitch, start)

    return gc.Bodies(MESHES, rng.integers(0, 2, n), start, poses(1.0)), poses


def swept(bodies, poses, times=TIMES):
    """Boxes (n, 6) of the vertices at the sampled times."""
    low, high = np.full((len(bodies), 3), np.inf), np.full((len(bodies), 3), -np.inf)
    for t in times:
        matrices = poses(t).to_matrix()
        for k, mesh in enumerate(bodies.meshes):
            which = bodies.shape == k
            points = np.einsum("nij,vj->nvi", matrices[which, :3, :3], mesh.vertices)
            points += matrices[which, None, :3, 3]
            low[which] = np.minimum(low[which], points.min(axis=1))
            high[which] = np.maximum(high[which], points.max(axis=1))
    return np.concatenate([low, high], axis=1)


# A body's path is rebuilt from its two poses: within 1e-3 of half a turn its axis is known to 1e-12 or so.
@pytest.mark.shared_bits("tests/broad_phase/test_b01_bounds.py")
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), turn=st.sampled_from([0, 1e-9, 0.05, 0.5, 2, 3.14]), way=st.floats(0, 30))
def test_box_holds_the_whole_sweep(backend, seed, turn, way):
    bodies, poses = screws(seed, 40, turn, way)
    inside = swept(bodies, poses)
    for precision in ("mixed", "single"):
        box = bounds(backend, bodies, precision)[1]
        assert (box[:, :3] <= inside[:, :3]).all() and (box[:, 3:] >= inside[:, 3:]).all()


def test_box_is_tight(backend):
    """Sides against those of sampled boxes, in the mean: 1.000, 1.017, 1.034, 1.033; the second mesh does not
    fill its own box."""
    for turn, most in ((0.0, 1.00001), (0.3, 1.025), (1.0, 1.045), (3.1, 1.045)):
        bodies, poses = screws(7, 400, turn, 2.0)
        inside, box = swept(bodies, poses), bounds(backend, bodies)[1]
        ratio = (box[:, 3:] - box[:, :3]) / (inside[:, 3:] - inside[:, :3])
        assert ratio.min() >= 1 and ratio.mean() < most, (turn, ratio.mean())


@pytest.mark.parametrize("off", [0.0, 1e-13, 1e-9, 1e-7, 1e-5])
def test_near_half_a_turn_either_way_round_is_held(backend, off):
    """Which way it goes hangs on the last bit of a quaternion; from 1e-5 off on it does not."""
    rng = np.random.default_rng(3)
    n = 200
    start = gc.Poses.from_quat_wxyz(rng.normal(size=(n, 3)), unit(rng, (n, 4)))
    axis, point, pitch = unit(rng, (n, 3)), rng.normal(size=(n, 3)), rng.normal(size=n)
    end = gc.Poses.from_screw(axis, point, np.full(n, np.pi - off), pitch, start)
    bodies = gc.Bodies(MESHES, rng.integers(0, 2, n), start, end)
    box = bounds(backend, bodies)[1]
    ways = [np.pi - off] if off >= 1e-5 else [np.pi - off, -np.pi - off]
    for angle in ways:

        def poses(t, angle=angle):
            return gc.Poses.from_screw(axis, point, np.full(n, t * angle), t * pitch, start)

        inside = swept(bodies, poses)
        assert (box[:, :3] <= inside[:, :3] + 1e-12).all() and (box[:, 3:] >= inside[:, 3:] - 1e-12).all()


def test_known_boxes(backend):
    """At rest, straight, and a quarter turn about z: corners reach sqrt(1/2) between the ends."""
    quarter = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    bodies = at(
        ([1, 2, 3], ONE, [1, 2, 3], ONE),
        ([0, 0, 0], ONE, [5, 0, 0], ONE),
        ([0, 0, 0], ONE, [0, 0, 0], quarter),
    )
    rows, box = bounds(backend, bodies)
    assert np.allclose(box[0], [0.5, 1.5, 2.5, 1.5, 2.5, 3.5], atol=1e-6)
    assert np.allclose(box[1], [-0.5, -0.5, -0.5, 5.5, 0.5, 0.5], atol=2e-6)
    reach = np.sqrt(0.5)
    assert np.allclose(box[2], [-reach, -reach, -0.5, reach, reach, 0.5], atol=0.03 * reach)
    assert (box[2] * [-1, -1, -1, 1, 1, 1] >= [reach, reach, 0.5] * 2).all()
    assert np.allclose(rows[:, BOUND["angle"]], [0, 0, np.pi / 2], atol=1e-14)
    assert np.allclose(rows[:, BOUND["radius"]], np.sqrt(0.75), atol=1e-6)


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_same_as_the_reference(backend, precision):
    """Worst difference seen: 1.1e-14 of the size in double, 4e-6 in single (without its wider pads)."""
    bodies = moving(5, 500, turn=np.pi, way=3.0, still=0.2)
    rows, box = bounds(backend, bodies, precision)
    want = reference.bounds_of(bodies)
    tolerance = 2e-3 if precision == "single" else 1e-12
    assert np.allclose(rows[:, :3], want.start, rtol=0, atol=tolerance)
    assert np.allclose(rows[:, BOUND["end"]], want.end, rtol=0, atol=tolerance)
    assert np.allclose(rows[:, BOUND["radius"]], want.radius, rtol=0, atol=tolerance)
    assert np.allclose(rows[:, BOUND["angle"]], want.angle, rtol=0, atol=tolerance)
    assert np.allclose(np.abs(np.sum(rows[:, BOUND["turn"]] * want.turn, axis=1)), 1, rtol=0, atol=1e-6)
    assert np.allclose(box, np.concatenate([want.low, want.high], axis=1), rtol=0, atol=tolerance)


def test_same_bits_as_cpu(backend):
    from tests.narrow_phase._launch import cpu

    bodies = moving(6, 300, turn=np.pi, way=3.0, far=1e5)
    for precision in ("mixed", "single"):
        for got, want in zip(
            bounds(backend, bodies, precision), bounds(cpu(), bodies, precision), strict=True
        ):
            assert np.array_equal(got, want)


@pytest.mark.filterwarnings("ignore:overflow")
def test_invalid_and_wild_bodies(backend):
    """No pose: nowhere. Coordinates that cannot be squared: everywhere."""
    bodies = at(
        ([0, 0, 0], ONE, [1, 0, 0], ONE), ([np.nan, 0, 0], ONE, [1, 0, 0], ONE),
        ([0, 0, 0], [2, 0, 0, 0], [1, 0, 0], ONE), ([1e200, 0, 0], ONE, [0, 0, 0], ONE),
        ([1e308, 1e308, 0], ONE, [-1e308, 1e308, 0], ONE),
    )  # fmt: skip
    for precision in ("mixed", "single"):
        box = bounds(backend, bodies, precision)[1]
        assert np.isfinite(box[0]).all() and (box[0, 3:] - box[0, :3] < 4).all()
        assert (box[1:3, :3] > box[1:3, 3:]).all()
        assert (box[3:, :3] < -1e37).all() and (box[3:, 3:] > 1e37).all()
