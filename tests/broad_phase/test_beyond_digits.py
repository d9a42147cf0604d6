"""Motions too long for float64: answered alike with and without the broad phase, and by near faces.

Pairs beyond 1e12 sizes were UNRESOLVED with ``broad_phase="off"``, and left out by the tree if their sweeps
were apart; and contacts were looked for among numbers that meant nothing, found by `all` and not by `near`.
"""

import numpy as np
import pytest

import gpu_collide as gc
from tests.support.shares import share

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FIELDS = ("status", "toi", "pair", "kind", "feature_a", "feature_b", "time", "position", "properness")


def far_flung(rng, n, most):
    """Boxes of all sizes that jump and turn over up to 10**most; some stand still, fly through the middle, or
    do not turn."""
    size = 10.0 ** rng.uniform(-3, 1, n)
    meshes = [gc.shapes.box((s, s * rng.uniform(0.5, 1), s)) for s in size]
    far = 10.0 ** rng.uniform(-1, most, (2, n, 1))
    start, end = rng.normal(size=(2, n, 3)) * far
    end = np.where(rng.random((n, 1)) < 0.3, start, np.where(rng.random((n, 1)) < 0.2, -start, end))
    start_quat, end_quat = rng.normal(size=(2, n, 4))
    kept = rng.random((n, 1)) < 0.5
    end_quat = np.where(kept, start_quat, end_quat)
    poses = [
        gc.Poses.from_quat_wxyz(p, q / np.linalg.norm(q, axis=1)[:, None])
        for p, q in ((start, start_quat), (end, end_quat))
    ]
    return gc.Bodies(meshes, np.arange(n), *poses)


def answers(found):
    """Status of every pair that is no MISS."""
    return {tuple(p): int(s) for p, s in zip(np.asarray(found.pairs), found.status, strict=True) if s}


def agrees_without_tree(bodies, **options):
    on, off = (gc.collide(bodies, tuning=gc.Tuning(broad_phase=x), **options) for x in ("hierarchy", "off"))
    assert answers(on) == answers(off)
    whole = {tuple(p): int(s) for p, s in zip(np.asarray(off.pairs), off.status, strict=True)}
    for pair, status in zip(np.asarray(on.pairs), on.status, strict=True):
        assert whole[tuple(pair)] == status
    assert len(on) == len(off)
    for name in FIELDS[3:]:
        assert np.array_equal(getattr(on, name), getattr(off, name)), name
    lost = off.status == gc.Status.UNRESOLVED
    assert not np.isin(off.pair, np.flatnonzero(lost)).any()  # nothing is found among lost digits
    return off, lost.sum()


@pytest.mark.parametrize(
    "precision, most", [("mixed", 13), ("mixed", 60), ("double", 16), ("single", 8), ("single", 30)]
)
def test_broad_phase_and_near_faces_agree_on_motions_beyond_all_digits(precision, most, backend):
    count, seeds = 0, share(backend, 3, of=3)
    for seed in range(seeds):
        bodies = far_flung(np.random.default_rng(seed), 30, most)
        off, lost = agrees_without_tree(bodies, backend=backend.kind, precision=precision)
        near = gc.collide(
            bodies,
            np.asarray(off.pairs),
            backend=backend.kind,
            precision=precision,
            tuning=gc.Tuning(features="near"),
        ).to_numpy()
        for name in FIELDS:
            assert np.array_equal(getattr(near, name), getattr(off, name)), name
        count += lost
    assert count > 8 * seeds  # seen at least: 35 times as many


def test_the_reference_says_the_same():
    for seed, most in ((0, 13), (1, 60)):
        bodies = far_flung(np.random.default_rng(seed), 20, most)
        off, lost = agrees_without_tree(bodies, backend="reference")
        kernels = gc.collide(bodies, np.asarray(off.pairs), backend="cpu")
        # each has bounds of its own that may show that sweeps are apart; else they agree
        lost_to_one = (off.status == gc.Status.UNRESOLVED) ^ (kernels.status == gc.Status.UNRESOLVED)
        assert np.array_equal(off.status[~lost_to_one], kernels.status[~lost_to_one]) and lost > 5
        assert (np.maximum(off.status, kernels.status)[lost_to_one] == gc.Status.UNRESOLVED).all()
        assert (np.minimum(off.status, kernels.status)[lost_to_one] == gc.Status.MISS).all()
        assert lost_to_one.mean() < 0.15  # seen: 0.07


def test_bodies_that_fly_apart_beyond_all_digits_miss(backend):
    """However long its way, a body that goes away does not come back."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0, 0]], [[1, 0, 0, 0]] * 2)
    for far, status in ((-1e20, gc.Status.MISS), (1e20, gc.Status.UNRESOLVED)):
        end = gc.Poses.from_quat_wxyz([[0, 0, 0], [far, 0, 0]], [[1, 0, 0, 0]] * 2)
        for kind in (backend.kind, "reference"):
            found = gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]], backend=kind)
            assert found.status[0] == status and len(found) == 0
