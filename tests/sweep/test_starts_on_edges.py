"""Centres that start on an edge or a vertex of a turned body: they leave untouched, and go into nothing.

Which way such a centre is off is up to rounding: so spheres that left a box were told to touch its edge, from
within, in four of ten cases, and one of four went out of a closed room.
"""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.quaternion import rotate
from gpu_collide.results.hits import Feature
from tests.sweep._scenes import quaternions

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = gc.shapes.box((2, 2, 2))
ROOM = gc.Mesh(BOX.vertices, [f[::-1] for f in np.split(BOX.face_vertices, BOX.face_start[1:-1])])
RADII = 0.5, [0.5, 0.25, 1.0]


def starts(seed, way, n=150):
    """A pose of a box or a room, and ways from places on an edge and a vertex of it; `way` 1 is outwards."""
    rng = np.random.default_rng(seed)
    quat, position = quaternions(rng, 1), rng.normal(size=(1, 3))
    place = np.column_stack((np.ones((n, 2)), rng.uniform(-1, 1, n)))
    path = np.column_stack((rng.uniform(0.1, 1, (n, 2)), rng.normal(size=n) * 0.5))
    place[::4, 2], path[::4, 2] = 1.0, np.abs(path[::4, 2])
    turn = np.broadcast_to(quat, (n, 4))
    return (position, quat), rotate(turn, place) + position, rotate(turn, way * path), quaternions(rng, n)


def asked(kind, mesh, seed, way, radii, precision, hits="first"):
    (position, quat), start, path, turn = starts(seed, way)
    here = gc.Poses.from_quat_wxyz(position, quat)
    world, options = gc.Bodies(mesh, None, here, here), {"backend": kind, "hits": hits}
    if kind != "reference":
        options["precision"] = precision
    if np.ndim(radii) == 0:
        return gc.sweep.spheres(start, path, radii, world, **options), path
    return gc.sweep.ellipsoids(start, path, radii, world, orientation=turn, **options), path


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("radii", RADII, ids=["spheres", "ellipsoids"])
def test_who_leaves_is_not_held(backend, radii, precision):
    for seed in range(4):
        for kind in (backend.kind, "reference"):
            found, _ = asked(kind, BOX, seed, 1, radii, precision, "all")
            assert not len(found), (kind, seed)


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("radii", RADII, ids=["spheres", "ellipsoids"])
@pytest.mark.parametrize("mesh, way", [(BOX, -1), (ROOM, 1)], ids=["into a box", "out of a room"])
def test_nobody_goes_in(backend, mesh, way, radii, precision):
    for seed in range(4):
        for kind in (backend.kind, "reference"):
            found, path = asked(kind, mesh, seed, way, radii, precision)
            assert (found.time == 0).all() and (found.feature == Feature.FACE).all(), (kind, seed)
            assert ((found.normal * path).sum(1) < 0).all()


@pytest.mark.backends("opencl", "cuda")
def test_every_backend_has_the_same_bits(backend):
    for mesh in (BOX, ROOM):
        for way in (-1, 1):
            one, two = (
                asked(kind, mesh, 9, way, RADII[1], "mixed", "all")[0] for kind in ("cpu", backend.kind)
            )
            for name in ("offsets", "time", "point", "normal", "feature", "number"):
                assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name


def test_a_plane_is_found_by_who_has_the_centre_on_it(backend):
    here = gc.Poses.identity(1)
    for kind in (backend.kind, "reference"):
        near = gc.sweep.planes(
            gc.Bodies(BOX, None, here, here), [0.1, 0.2, 1], [0.3, 0.3, 0.6], 0.1, backend=kind
        )
        assert near.gap.tolist() == [-0.6] and near.normal.tolist() == [[0, 0, 1]], kind


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("radius", [1e30, 1e39, 1e60, 1e300])
def test_no_length_makes_numpy_warn(backend, radius):
    """Lengths that float32 has not, or not the square of."""
    here = gc.Poses.identity(1)
    world = gc.Bodies(BOX, None, here, here)
    for kind, options in ((backend.kind, {"precision": "single"}), ("reference", {})):
        found = gc.sweep.spheres([0, 0, radius], [0, 0, -4], radius, world, backend=kind, **options)
        assert found.status[0] in (gc.Status.HIT, gc.Status.UNRESOLVED)
