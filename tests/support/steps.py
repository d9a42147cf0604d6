"""Steps of a `gpu_collide.Scene`: poses a step later, and results to the bit."""

from dataclasses import fields

import numpy as np

import gpu_collide as gc


def same(got, want):
    """Bit by bit, and the same things in `info`."""
    for field in fields(gc.Contacts):
        if field.name != "info":
            one, two = getattr(got, field.name), getattr(want, field.name)
            if one is None and two is None:  # names of parts, which the meshes do not have
                continue
            assert one.dtype == two.dtype and one.tobytes() == two.tobytes(), field.name
    assert got.info.keys() == want.info.keys()
    for key in got.info.keys() - {"timings", "report"}:
        assert np.array_equal(got.info[key], want.info[key]), key


def moved(rng, poses, *, way=0.4, still=0.2, bad=0.0):
    """Poses a step later: a share of bodies stands still, and of a few the poses are none."""
    n = len(poses)
    position, quat = poses.position.copy(), poses.quat_wxyz.copy()
    goes = rng.uniform(size=n) >= still
    position[goes] += way * rng.normal(size=(goes.sum(), 3))
    quat[goes] += 0.1 * rng.normal(size=(goes.sum(), 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    position[~np.isfinite(position)] = 0.0
    position[rng.uniform(size=n) < bad] = np.nan
    return gc.Poses.from_quat_wxyz(position, quat)


def scene_of(bodies, backend, **options):
    """A scene of these bodies."""
    return gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.end, backend=backend, **options)
