"""Nothing that is not finite leaves for finite input: meshes of 1e-18 to 1e18, places and ways up to 1e300.

In single precision boxes of 1e17 on ways of 1e18 gave NaN positions in HIT pairs: A's own way was squared in
the user's units. A moving by 1e-162 (single: 1e-22) gave normals off by 3 %, since its square is denormal.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from tests.dialect.test_sanitizers import gcc  # noqa: F401 (a fixture)

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FLOATS = ("time", "time_end", "position", "normal", "properness", "local_a", "local_b", "normal_speed")
UNIT = {"mixed": 1e-12, "double": 1e-12, "single": 1e-5}  # of normals; worst seen 6e-16, 6e-16, 4e-7


def wild_scene(seed, n=60, extreme=True):
    """Pairs of boxes and sheets of all sizes, near each other at start and end, anywhere, after ways of any
    length, own and common."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** (rng.uniform(-17.5, 17.5, n) if extreme else rng.choice([-17.0, 0.0, 17.5], n))
    meshes = [
        gc.shapes.box((s, s, s))
        if rng.random() < 0.7
        else gc.Mesh(s * rng.normal(size=(3, 3)), [[0, 1, 2]], two_sided=True)
        for s in sizes
    ]
    a, b = rng.integers(n, size=(2, 2 * n))
    shape = np.stack([a, np.where(rng.random(2 * n) < 0.7, a, b)], axis=1).reshape(-1)
    unit = np.repeat(sizes[shape].reshape(-1, 2).max(axis=1), 2)[:, None]

    def both(low, high):
        far = 10.0 ** rng.uniform(low, high, (2 * n, 1)) * (rng.random((2 * n, 1)) < 0.4)
        return np.repeat(rng.normal(size=(2 * n, 3)) * far, 2, axis=0)

    most = 300 if extreme else 30
    place, way = both(-30, most), both(-300, most)
    start = place + 1.5 * unit * rng.normal(size=(4 * n, 3))
    end = place + way + 1.5 * unit * rng.normal(size=(4 * n, 3))
    tiny = 10.0 ** rng.uniform(-300, 0, (4 * n, 1)) * unit * rng.normal(size=(4 * n, 3))
    end = np.where(rng.random((4 * n, 1)) < 0.1, start + tiny, end)
    quats = rng.normal(size=(2, 4 * n, 4))
    quats /= np.linalg.norm(quats, axis=2)[..., None]
    quats[1] = np.where(rng.random((4 * n, 1)) < 0.4, quats[0], quats[1])
    poses = [gc.Poses.from_quat_wxyz(p, q) for p, q in zip((start, end), quats, strict=True)]
    return gc.Bodies(meshes, shape, *poses), np.arange(4 * n).reshape(-1, 2)


def assert_finite(found, unit):
    for name in FLOATS:
        assert np.isfinite(getattr(found, name)).all(), name
    assert ((found.time >= 0) & (found.time <= 1)).all() and not np.isnan(found.toi).any()
    assert len(found) == 0 or np.abs(np.linalg.norm(found.normal, axis=1) - 1).max() < unit


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_nothing_but_finite_numbers_comes_out(precision, extreme, backend):
    for seed in (1, 6):  # both gave NaN in single
        bodies, pairs = wild_scene(seed, extreme=extreme)
        found = gc.collide(
            bodies, pairs, backend=backend.kind, precision=precision, min_properness=-1.0
        ).to_numpy()
        assert len(found) > 100  # 245 seen at least
        assert_finite(found, UNIT[precision])


def test_nothing_but_finite_numbers_comes_out_of_the_reference():
    for extreme in (False, True):
        bodies, pairs = wild_scene(1, n=20, extreme=extreme)
        assert_finite(gc.collide(bodies, pairs, backend="reference", min_properness=-1.0), 1e-12)


@pytest.mark.parametrize("size, way", [(5e17, 1.5e18), (1e17, 1e20), (1e14, 1e18), (1, 1e4), (1e-17, 1e-13)])
def test_sizes_do_not_show_in_single_precision(size, way, backend):
    """The scene of one unit, scaled: as many contacts, up to those that rounding decides."""
    rng = np.random.default_rng(0)
    n = 400
    quats = rng.normal(size=(2, 2 * n, 4))
    quats /= np.linalg.norm(quats, axis=2)[..., None]
    start, end = rng.normal(size=(2, 2 * n, 3)) * way / size
    start[n:] = start[:n] + rng.normal(size=(n, 3))
    counts = []
    for scale in (1.0, size):
        poses = [gc.Poses.from_quat_wxyz(p * scale, q) for p, q in zip((start, end), quats, strict=True)]
        bodies = gc.Bodies(gc.shapes.box((scale,) * 3), None, *poses)
        pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
        found = gc.collide(bodies, pairs, precision="single", backend=backend.kind).to_numpy()
        assert_finite(found, UNIT["single"])
        counts.append(len(found))
    assert counts[0] > 40 and abs(counts[0] - counts[1]) <= 0.1 * counts[0]  # worst seen: see the scales


@pytest.mark.parametrize("turn", [0.0, 0.3])
@pytest.mark.parametrize(
    "precision, ways", [("mixed", (1e-162, 1e-160, 1e-158, 1e-310)), ("single", (3e-23, 1e-22, 1e-19))]
)
def test_a_body_that_moves_by_less_than_its_square_can_hold(precision, ways, turn, backend):
    half = turn / 2
    turned = [np.cos(half), 0.6 * np.sin(half), 0.8 * np.sin(half), 0]
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [[1.0, 0, 0, 0]] * 2)

    def after(way, kind):
        end = gc.Poses.from_quat_wxyz(
            [[way, 0.3 * way, -0.7 * way], [0, 0.1, 0.2]], [turned, [0.8, 0, 0, 0.6]]
        )
        more = {} if kind == "reference" else {"precision": precision}
        return gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]], backend=kind, **more)

    for kind in (backend.kind, "reference"):
        still = after(0.0, kind)
        assert len(still)
        for way in ways:
            found = after(way, kind)
            assert len(found) == len(still)
            assert_finite(found, UNIT[precision])
            slack = UNIT[precision]
            assert np.abs(found.position - still.position).max() < slack  # worst seen 2e-16, single 1e-7
            assert np.abs(found.normal - still.normal).max() < slack


UNDEFINED = """
import numpy as np, gpu_collide as gc
from tests.test_ranges import wild_scene
for extreme in (False, True):
    for precision in ("mixed", "single"):
        for seed in range(3):
            bodies, pairs = wild_scene(seed, n=30, extreme=extreme)
            for features in ("all", "near"):
                gc.collide(bodies, pairs, backend="cpu", precision=precision, features=features)
            gc.find_pairs(bodies, backend="cpu", precision=precision)
print("all done")
"""


@pytest.mark.slow
def test_wild_scenes_are_defined_behaviour(gcc):  # noqa: F811
    """s02_facing took floats of 1e84 and NaN for ints before it clamped them."""
    done = subprocess.run(
        [sys.executable, "-c", UNDEFINED], env=gcc, capture_output=True, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.strip() == "all done", done.stderr[-3000:]
