"""Stage w04: velocities clipped by planes, against the projection that tries everything."""

from itertools import combinations

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


def clip(backend, velocity, normals, push=None, **options):
    """Of one velocity with one list of planes."""
    normals = np.asarray(normals, float).reshape(-1, 3)
    found = gc.sweep.clip([velocity], normals, [0, len(normals)], push=push, backend=backend.kind, **options)
    return found.velocity[0], int(found.active_planes[0]), found.status[0]


def brute_force(v, normals, push):
    """The nearest velocity that satisfies all planes: every set of up to three of them is tried."""
    best = None
    for k in range(4):
        for some in map(list, combinations(range(len(normals)), k)):
            n = normals[some]
            if k and np.linalg.cond(n @ n.T) > 1e12:
                continue
            x = v + (n.T @ np.linalg.solve(n @ n.T, push[some] - n @ v) if k else 0.0)
            if (normals @ x >= push - 1e-10).all() and (best is None or _far(x, v) < _far(best, v)):
                best = x
    return best


def _far(a, b):
    return np.linalg.norm(a - b)


S = np.sqrt(0.5)
KNOWN = [
    ((1, 2, -3), [], (1, 2, -3), 0),
    ((1, 2, 3), [(0, 0, 1)], (1, 2, 3), 0),
    ((1, 2, -3), [(0, 0, 1)], (1, 2, 0), 1),
    ((1, 2, -3), [(0, 0, 1), (0, 0, 1), (0, 0, 1)], (1, 2, 0), 1),  # coplanar neighbours
    ((1, 2, -3), [(0, 0, 1), (-1, 0, 0)], (0, 2, 0), 2),  # a crease
    ((1, 2, -3), [(0, 0, 1), (-1, 0, 0), (0, -1, 0)], (0, 0, 0), 3),  # a corner
    ((1, 0, 0), [(-1, 0, 0), (1, 0, 0)], (0, 0, 0), 1),  # between two walls
    ((0, 0, -1), [(S, 0, S), (-S, 0, S)], (0, 0, 0), 2),  # a valley
    ((0, 1, -1), [(S, 0, S), (-S, 0, S)], (0, 1, 0), 2),
    ((-1, 0, -1), [(S, 0, S), (-S, 0, S)], (0, 0, 0), 2),
    # an acute crease: one wall after the other would slide back and forth
    ((0, 0, -1), [(np.cos(0.1), 0, np.sin(0.1)), (-np.cos(0.1), 0, np.sin(0.1))], (0, 0, 0), 2),
]


@pytest.mark.parametrize("velocity, planes, expected, active", KNOWN)
def test_known_answers(backend, velocity, planes, expected, active):
    found, lies, status = clip(backend, velocity, planes)
    assert np.allclose(found, expected, atol=1e-15)
    assert min(lies, 2) == min(active, 2) or expected == (0, 0, 0)
    assert (status == gc.Status.HIT) == (active > 0)


def test_moving_planes_push(backend):
    assert clip(backend, (1, 0, 0), [(0, 0, 1)], [0.5])[0].tolist() == [1, 0, 0.5]
    found, active, status = clip(backend, (0, 0, 0), [(0, 0, 1), (0, 0, -1)], [0.5, 0.5])
    assert active == -1 and status == gc.Status.UNRESOLVED and np.isfinite(found).all()
    # lifted into a corner
    found, active, _ = clip(backend, (0, 0, 0), [(0, 0, 1), (-S, 0, -S)], [0.5, 0])
    assert np.allclose(found, [-0.5, 0, 0.5]) and active == 2


def _random(seed, n, most=9, moving=False):
    rng = np.random.default_rng(seed)
    count = rng.integers(0, most, n)
    offsets = np.concatenate([[0], np.cumsum(count)])
    normal = rng.normal(size=(offsets[-1], 3))
    some = rng.random(len(normal)) < 0.3
    normal[some] = rng.integers(-1, 2, (some.sum(), 3)) + 1e-30
    normal[(np.abs(normal) < 1e-20).all(1)] = [0, 0, 1]
    normal[:, 2] = np.where(rng.random(len(normal)) < 0.7, np.abs(normal[:, 2]), normal[:, 2])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    push = rng.normal(size=len(normal)) * 0.2 * moving
    return rng.normal(size=(n, 3)), normal, offsets, push


@pytest.mark.parametrize("moving", [False, True])
def test_against_brute_force(backend, moving):
    velocity, normal, offsets, push = _random(5 + moving, 150, moving=moving)
    found = gc.sweep.clip(velocity, normal, offsets, push=push, backend=backend.kind)
    active = none = 0
    for i, v in enumerate(velocity):
        n, p = normal[offsets[i] : offsets[i + 1]], push[offsets[i] : offsets[i + 1]]
        expected = brute_force(v, n, p)
        if expected is None:
            none += 1
            assert found.status[i] == gc.Status.UNRESOLVED
            continue
        assert _far(found.velocity[i], expected) < 1e-9, i  # measured: 3e-14
        active += found.active_planes[i] > 1
    assert active > 20 and (none > 0) == moving


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_never_faster_never_into_a_plane(backend, precision):
    velocity, normal, offsets, _ = _random(8, 3000, most=17)
    found = gc.sweep.clip(velocity, normal, offsets, precision=precision, backend=backend.kind)
    eps = 1e-13 if precision == "mixed" else 1e-5
    speed = np.linalg.norm(velocity, axis=1)
    assert (np.linalg.norm(found.velocity, axis=1) <= speed * (1 + eps)).all()
    into = -(normal * np.repeat(found.velocity, np.diff(offsets), axis=0)).sum(1)
    if precision == "mixed":
        # a crease of planes that are nearly one, or nearly face each other, is as exact as its sine
        assert into.max() < 1e-8
    if backend.kind != "cpu":
        same = gc.sweep.clip(velocity, normal, offsets, precision=precision, backend="cpu")
        assert same.velocity.tobytes() == found.velocity.tobytes()
        assert same.active_planes.tobytes() == found.active_planes.tobytes()


@pytest.mark.backends("cpu")
def test_against_the_reference(backend):
    velocity, normal, offsets, push = _random(9, 60, moving=True)
    one, two = (
        gc.sweep.clip(velocity, normal, offsets, push=push, backend=b, precision="double")
        for b in ("cpu", "reference")
    )
    assert (one.status == two.status).all()
    good = one.status != gc.Status.UNRESOLVED
    assert np.abs(one.velocity - two.velocity)[good].max() < 1e-9


def test_rows_that_are_no_numbers(backend):
    found = gc.sweep.clip(
        [[np.nan, 0, 0], [0, 0, -1], [0, 0, -1]], [[0, 0, 1.0]] * 3, [0, 1, 2, 3], push=[0, np.inf, 0],
        backend=backend.kind,
    )  # fmt: skip
    assert found.status.tolist() == [3, 3, 1] and not found.velocity.any()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"normal": [[0, 0, 2.0]]}, "normal: expected directions of length 1, got 2.0"),
        ({"normal": [[0, 0, np.nan]]}, "normal: expected directions of length 1"),
        ({"offsets": [0, 2]}, "offsets"),
        ({"offsets": [0, 0]}, "offsets: expected numbers that rise from 0 to the 1 planes"),
        ({"push": [1, 2]}, "push"),
        ({"velocity": [1, 2, 3]}, "velocity"),
    ],
)
def test_bad_arguments(change, message):
    args = {"velocity": [[0, 0, -1.0]], "normal": [[0, 0, 1.0]], "offsets": [0, 1]} | change
    with pytest.raises((TypeError, ValueError), match=message):
        gc.sweep.clip(**args, backend="cpu")
