"""Casts among bodies whose meshes have a rounding radius, against closed forms."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.round_shapes import Passing, Round, Screw
from tests.support.round_scenes import ONE, mesh_of, sheet, two, unit
from tests.support.seeds import generator


def scene(kind, n, seed):
    """Bodies of one kind that stand, a cast past each, and the judge of spheres of a radius that go there."""
    rng = generator(seed, n)
    half = rng.uniform(0.2, 0.6, (n, 3) if kind == "box" else n)
    radius = rng.choice([0.1, 0.25, 0.4], n)
    place, quat = 30.0 * np.arange(n)[:, None] * [1.0, 0, 0], unit(rng, n, 4)
    here = gc.Poses.from_quat_wxyz(place, quat)
    bodies = gc.Bodies([mesh_of(kind, half[k], radius[k]) for k in range(n)], np.arange(n), here, here)
    start = place + 3.0 * unit(rng, n, 3)
    way = 2.0 * (place + 0.5 * rng.normal(size=(n, 3)) - start)

    def judge(of_cast):
        still, turn = Screw.between(place, quat, place, quat), np.tile(ONE, (n, 1))
        ball = Round("sphere", np.zeros(n), np.full(n, of_cast))
        return Passing(Round(kind, half, radius), ball, still, Screw.between(start, turn, start + way, turn))

    return bodies, start, way, judge


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_spheres_and_rays(backend, kind):
    """Worst seen: 4e-13 in the gap at the touch; of coordinates of 1e5 1.2e-11, their rounding."""
    n = 12 if backend.kind == "reference" else 60
    bodies, start, way, judge = scene(kind, n, 31)
    for radius in (0.0, 0.3):
        if radius:
            found = gc.sweep.spheres(start, way, radius, bodies, backend=backend.kind)
        else:
            found = gc.sweep.rays(start, way, bodies, backend=backend.kind)
        passing = judge(radius)
        toi, least, _ = passing.first()
        hit, miss = least < -1e-9, least > 1e-9
        assert hit.sum() > n / 12 and (found.hit == hit)[hit | miss].all()
        assert (found.body[hit] == np.flatnonzero(hit)).all()
        assert (np.abs(passing.gap(found.time))[hit] < 1e-11).all()
        assert (np.abs(found.time - toi)[hit] < 1e-6).all()
        centre = start + found.time[:, None] * way
        np.testing.assert_allclose((found.point + radius * found.normal)[hit], centre[hit], atol=1e-12)
        every = gc.sweep.spheres(start, way, radius, bodies, hits="all", backend=backend.kind)
        first = every.offsets[:-1][hit]
        np.testing.assert_allclose(every.time[first], found.time[hit], atol=1e-12)


def test_clusters_and_bodies_that_move(backend):
    bodies, start, way, judge = scene("capsule", 30, 32)
    pair = gc.sweep.Cluster([[0, 0, 0], [0, 0, 0.5]], [0.1, 0.2])
    found = gc.sweep.clusters(pair, start, way, bodies, backend=backend.kind)
    alone = [gc.sweep.spheres(start + x, way, r, bodies, backend=backend.kind) for x, r in
             (([0, 0, 0], 0.1), ([0, 0, 0.5], 0.2))]  # fmt: skip
    np.testing.assert_allclose(found.time, np.minimum(*(x.time for x in alone)), atol=1e-12)
    moved = bodies.moved(
        bodies.start, gc.Poses.from_quat_wxyz(bodies.start.position + way, bodies.start.quat_wxyz)
    )
    for turning in ("refuse", "exact"):
        back = gc.sweep.spheres(start + way, np.zeros(3), 0.2, moved, turning=turning, backend=backend.kind)
        there = gc.sweep.spheres(start + way, -way, 0.2, bodies, backend=backend.kind)
        np.testing.assert_allclose(back.time, there.time, atol=1e-12)


def test_meshes_with_a_radius_and_without_stand_beside_each_other(backend):
    here = gc.Poses.from_quat_wxyz([[x, 0, 0] for x in (0, 3, 6, 9)], [ONE] * 4)
    meshes = [gc.shapes.sphere(0.5), gc.shapes.capsule(0.25, 1.0), sheet(0.125), gc.shapes.box(1.0)]
    bodies = gc.Bodies(meshes, [0, 1, 2, 3], here, here)
    found = gc.sweep.rays([[0, 0, 3], [3, 0, 3], [6, 0, -3], [9, 0, 3], [12, 0, 0], [0, 0, 9]],
                          [[0, 0, -4], [0, 0, -4], [0, 0, 4], [0, 0, -4], [-16, 0, 0], [0, 0, 1]],
                          bodies, backend=backend.kind)  # fmt: skip
    np.testing.assert_allclose(found.time, [0.625, 0.5625, 0.71875, 0.625, 0.15625, 1.0], atol=1e-15)
    assert found.body.tolist() == [0, 1, 2, 3, 3, -1]
    assert found.point[:4, 2].tolist() == [0.5, 0.75, -0.125, 0.5]
    with gc.Scene(meshes, [0, 1, 2, 3], here, backend=backend.kind) as scene:
        again = gc.sweep.rays([[12, 0, 0]], [[-16, 0, 0]], scene, hits="all", ignore=3)
    assert again.body[[0, -1]].tolist() == [2, 0]


def test_what_is_refused():
    bodies = two(gc.shapes.sphere(0.5), gc.shapes.box(), (3, 0, 0), (3, 0, 0))
    for ask in (
        lambda: gc.sweep.ellipsoids([0, 0, 9], [0, 0, -9], [1, 1, 2], bodies),
        lambda: gc.sweep.slide(bodies, [0, 0, 9], [1, 1, 2], [0, 0, -9]),
    ):
        with pytest.raises(ValueError, match="^obstacles: expected meshes without a rounding radius"):
            ask()
