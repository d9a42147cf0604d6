"""Frames of joints and links: of the kernel those of the reference, bit for bit; of both, plain matrices'."""

import numpy as np
import pytest

from gpu_collide._options import Options
from gpu_collide.bodies.poses import Poses
from gpu_collide.queries.engine import engine_on
from gpu_collide.reference.robots import ChainMotions
from gpu_collide.robots.curves import Curves
from tests.robots.chains import Plain


def frames(backend, chain, q0, q1, time):
    """Of the kernel and of the reference, an edge a row."""
    curves, which = Curves.between(q0, q1), np.arange(len(q0))
    engine = engine_on(backend, Options.checked(motion="body"))
    return [
        motions.frames(which, time)
        for motions in (engine.chain_motions(chain, curves), ChainMotions(chain, curves))
    ]


@pytest.mark.parametrize("prismatic, tree", [(0.0, False), (0.4, False), (0.2, True)])
def test_frames_are_those_of_plain_matrices(backend, prismatic, tree):
    """Worst error measured: 1.0e-15."""
    rng = np.random.default_rng(1)
    plain = Plain(rng, 7, prismatic, tree)
    q = rng.uniform(-7, 7, (50, 7))
    got, reference = frames(backend, plain.chain(), q, q, np.zeros(50))
    for one, other in zip(got, reference, strict=True):
        np.testing.assert_array_equal(one, other)
    matrices = Poses.from_quat_wxyz(*got).to_matrix()
    assert np.abs(matrices - plain.at(q)).max() < 1e-14 * (1 + np.abs(q).max())


def test_whole_quarters_zeros_and_large_angles(backend):
    """At times in between, of a base that stands elsewhere; 1e6 rad is 1e-10 from what plain matrices have,
    since NumPy's sine of it is."""
    plain = Plain(np.random.default_rng(2), 3)
    chain = plain.chain()
    object.__setattr__(chain, "base", (np.array([1.0, -2.0, 3.0]), np.array([0.0, 0.0, 1.0, 0.0])))
    q = np.array([[0.0, -0.0, np.pi / 2], [np.pi, -np.pi, 1.5 * np.pi], [1e6, 2.0**-1060, -1e6]])
    got, reference = frames(backend, chain, q, q[::-1], np.array([0.0, 0.5, 1.0]))
    for one, other in zip(got, reference, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.isfinite(got.position).all()
    half_turn = np.diag([-1.0, 1.0, -1.0])
    values = np.stack([q[0], (q[1] + q[1]) / 2, q[0]])
    wanted = plain.at(values)[..., :3, 3] @ half_turn.T + [1.0, -2.0, 3.0]
    assert np.abs(got.position - wanted).max() < 1e-13


def test_no_edges_and_angles_without_digits(backend):
    plain = Plain(np.random.default_rng(3), 2)
    none = np.zeros((0, 2))
    got, _ = frames(backend, plain.chain(), none, none, np.zeros(0))
    assert got.position.shape == (0, 2, 3) and got.quat.shape == (0, 2, 4)
    far = np.array([[1e7, 0.0]])
    engine = engine_on(backend, Options.checked(motion="body"))
    got = engine.chain_motions(plain.chain(), Curves.between(far, far)).frames(np.array([0]), np.zeros(1))
    assert np.isnan(got.quat).any()
