"""precision="single" on whole scenes: the contacts of double, with the errors that the docs promise."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.scenes import random_impacts

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

ERROR = 1e-5  # the docstring of collide; worst seen here: times 2.3e-6, places 6.3e-6 sizes


@pytest.mark.parametrize("shape", ["car", "box"])
def test_single_finds_what_double_finds(backend, shape):
    mesh = getattr(gc.shapes, shape)()
    bodies, pairs = random_impacts(mesh, mesh, 1000, seed=5)
    double, single = (found(bodies, pairs, backend.kind, precision) for precision in ("double", "single"))
    for name in ("pair", "kind", "feature_a", "feature_b"):
        assert np.array_equal(double[name], single[name]), name
    for name, unit in (("time", 1.0), ("position", mesh.radius), ("local_b", mesh.radius), ("normal", 1.0)):
        assert np.abs(double[name] - single[name]).max() <= ERROR * unit, name


@pytest.mark.parametrize("size", [1.1e-18, 2e17])
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_all_sizes_that_a_mesh_may_have(backend, precision, size):
    """Once `Mesh` took 1e-100 to 1e100, and float32 lost every contact of bodies of 1e39 in silence."""
    counts = []
    for unit in (1.0, size):
        mesh = gc.Mesh(gc.shapes.car().vertices * unit, list(gc.shapes.car().faces))
        bodies, pairs = random_impacts(mesh, mesh, 200, seed=5)
        counts.append(len(gc.collide(bodies, pairs, precision=precision, backend=backend.kind)))
    assert counts[0] == counts[1] > 100
    with pytest.raises(ValueError, match=r"vertices: expected coordinates between 1e-18 and 1e\+18"):
        gc.Mesh(gc.shapes.car().vertices * size**3, list(gc.shapes.car().faces))


def found(bodies, pairs, backend, precision):
    """Contacts by name, ordered by features: times equal in one precision need not be in the other."""
    c = gc.collide(bodies, pairs, precision=precision, backend=backend).to_numpy()
    order = np.lexsort((c.time, c.feature_b, c.feature_a, c.kind, c.pair))
    names = ("pair", "kind", "feature_a", "feature_b", "time", "position", "local_b", "normal")
    return {name: getattr(c, name)[order] for name in names}
