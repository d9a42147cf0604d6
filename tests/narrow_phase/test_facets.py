"""What the facet of a triangle says of it (gc_facets.h) holds of each of its points: none is culled, and
each is there when the facet says."""

import numpy as np
import pytest

from gpu_collide.backends import sources
from tests.narrow_phase._launch import probe, types
from tests.narrow_phase.test_chords_bounds import MOTIONS
from tests.narrow_phase.test_chords_hostile import KINDS, edge

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

SCREW = sources.record("screw")
#: Shares of the corners: corners, sides, middles, next to them.
SHARES = np.array([
    (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (1 / 3, 1 / 3, 1 / 3),
    (1e-6, 0.5, 0.499999), (0.999998, 1e-6, 1e-6), (0.147, 0.853, 0),
])  # fmt: skip


def found(backend, precision, motion, corners, points):
    """Of triangles (n, 3, 3) and a point each: has it a facet, is the point on it, and by how much more than
    the rounding of the point it is behind the first lambda and before the last."""
    real, raster = types(precision)
    theta, kappa, pitch = motion
    n, w = len(corners), theta / kappa if kappa else 1.0
    speed = np.hypot(w, pitch)
    screw = np.zeros(SCREW.stride, real)
    given = {"theta": theta, "w": w, "g": pitch, "kappa": kappa, "speed": speed, "size": 1.0}
    for name, value in given.items():
        screw[SCREW[name]] = value
    given = np.concatenate([corners.reshape(n, 9), points], axis=1).astype(raster)
    out = backend.zeros(4 * n, raster)
    backend.launch_items(
        probe(backend, precision, "probe_facets"),
        n,
        n=n,
        screw_in=backend.to_device(screw),
        corners_in=backend.to_device(given.reshape(-1)),
        topology_in=backend.to_device(np.array([0, 3, 0, 1, 2], np.int32)),
        id=backend.to_device(np.tile(np.array([0, 0, 1], np.int32), n)),
        box=backend.zeros(n * sources.record("list").stride, raster),
        placed=backend.zeros(16 * n, raster),
        rho=backend.zeros(4 * n, raster),
        found_out=out,
    )
    return backend.to_host(out).reshape(n, 4)


def triangles(rng, kappa, n):
    """Triangles about the origin and, if it is near, about the axis, of any shape and thin."""
    made = []
    for kind in rng.choice(KINDS, n):
        size = 10 ** rng.choice([0.0, -0.5, -1.0, -2.0])
        a, b = (0.5 * np.clip(x, -1, 1) for x in edge(rng, kind, size))
        c = a + rng.normal(size=3) * size * rng.choice([0.5, 1e-3])
        if rng.random() < 0.2:  # along a line
            c = a + rng.uniform(-1, 2) * (b - a)
        shift = np.array([0, 0, -1 / kappa if kappa > 0.5 and rng.random() < 0.5 else 0.0])
        made.append(np.stack([a, b, np.clip(c, -1, 1)]) + shift)
    return np.array(made)


@pytest.mark.backends("cpu", "opencl")
@pytest.mark.parametrize("motion", MOTIONS, ids=lambda m: "turn {:g} kappa {:g} pitch {:g}".format(*m))
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_points_of_a_triangle_are_on_its_facet(precision, motion, backend):
    rng = np.random.default_rng(8)
    corners = np.repeat(triangles(rng, motion[1], 2000), len(SHARES), axis=0)
    corners = corners.astype(types(precision)[1]).astype(float)
    shares = np.tile(SHARES, (len(corners) // len(SHARES), 1))
    points = (shares[:, :, None] * corners).sum(axis=1)
    have, meets, behind, before = found(backend, precision, motion, corners, points).T
    have = have > 0
    assert have.mean() > 0.3
    assert (meets[have] == 1).all()
    assert (behind[have] >= 0).all()
    assert (before[have] >= 0).all()


@pytest.mark.backends("cpu")
def test_points_beside_a_triangle_are_not(backend):
    """Half of a box that a small triangle has, and more where it lies across the box."""
    rng = np.random.default_rng(9)
    n = 4000
    corners = 0.02 * rng.normal(size=(n, 3, 3)) + rng.uniform(-0.2, 0.2, (n, 1, 3))
    shares = rng.uniform(0.2, 1.0, (n, 3))
    shares[:, 0] = 1 - shares[:, 1] - shares[:, 2]  # beyond a side where this is below 0
    points = (shares[:, :, None] * corners).sum(axis=1)
    outside = shares[:, 0] < -0.2
    have, meets, *_ = found(backend, "mixed", (1.0, 0.7, 0.3), corners, points).T
    assert have.all()
    assert meets[shares[:, 0] >= 0].all()
    assert meets[outside].mean() < 0.2
