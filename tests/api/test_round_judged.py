"""Contacts of meshes with a rounding radius, against closed forms and against the reference."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle import round_many
from tests.oracle.round_many import Many
from tests.oracle.round_shapes import Round, distance
from tests.support.round_scenes import FAMILIES, KINDS, ONE, judged, passes, sheet, unit
from tests.support.seeds import generator


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/api/test_round_shapes.py")
def test_first_contacts_of_closed_form(backend, kinds, motion):
    if backend.kind == "reference":
        pytest.skip("it is judged by its kernels' contacts below")
    for family in ("random", "whole"):
        bodies, pairs, judge, scale = passes(kinds, 150, 11, motion, family)
        found = gc.collide(bodies, pairs, motion=motion, backend=backend.kind)
        assert judged(found, judge, scale).sum() > 20


@pytest.mark.slow
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("motion", ["relative", "body"])
def test_first_contacts_of_many(backend, kinds, motion, family):
    bodies, pairs, judge, scale = passes(kinds, 1000, 12, motion, family)
    judged(gc.collide(bodies, pairs, motion=motion, backend=backend.kind), judge, scale)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.shared_bits("tests/api/test_round_shapes.py")
def test_points_lie_on_the_surfaces(backend, kinds):
    """Of all contacts: both points are one place, its body's radius off each core along the normal."""
    bodies, pairs, judge, _ = passes(kinds, 40, 13, "body", "random")
    if backend.kind == "reference":
        pairs = pairs[:10]
    found = gc.collide(bodies, pairs, motion="body", backend=backend.kind)
    assert len(found) > 5
    n = len(judge.a.radius)
    times = np.zeros((n, np.bincount(found.pair).max()))
    column = np.arange(len(found)) - found.contact_start[found.pair]
    times[found.pair, column] = found.time
    for side, (shape, motion, sign) in enumerate(
        ((judge.a, judge.motion_a, 1), (judge.b, judge.motion_b, -1))
    ):
        p, q = (x[found.pair, column] for x in motion.at(times))
        some = Round(shape.kind, shape.half[found.pair], shape.radius[found.pair])
        radius, still = some.radius, np.tile(ONE, (len(found), 1))
        point = Round("sphere", np.zeros(len(found)), np.zeros(len(found)))
        off = distance(point, some, found.position, still, p, q)
        np.testing.assert_allclose(off, radius, atol=1e-12)  # seen: 3e-13, of thirds beside boxes
        core = found.position - sign * radius[:, None] * found.normal
        # of what is nearest, and no point is nearer to the surface's point than the one across
        np.testing.assert_allclose(distance(point, some, core, still, p, q), 0.0, atol=1e-12)
        local = (found.local_a, found.local_b)[side]
        w, v = q[:, :1], q[:, 1:]
        t = 2 * np.cross(v, local)
        np.testing.assert_allclose(p + local + w * t + np.cross(v, t), found.position, atol=1e-13)


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.shared_bits("tests/api/test_round_shapes.py")
def test_all_contacts_are_those_of_the_reference(backend, motion):
    """Worst seen: below 1e-12 in every field, and the same features."""
    meshes = [gc.shapes.sphere(0.3), gc.shapes.capsule(0.2, 0.7), gc.shapes.rounded_box((0.8, 0.6, 0.5), 0.1),
              gc.shapes.l_block().rounded(0.05), gc.shapes.box(0.7), sheet(0.1)]  # fmt: skip
    rng, n = generator(14, 1), 40
    shape = np.arange(n) % len(meshes)
    rng.shuffle(shape)
    p = rng.uniform(-1, 1, (2, n, 3)) * 1.2
    bodies = gc.Bodies(meshes, shape, *(gc.Poses.from_quat_wxyz(x, unit(rng, n, 4)) for x in p))
    if motion == "relative":
        bodies = bodies.moved(bodies.start, gc.Poses.from_quat_wxyz(p[1], bodies.start.quat_wxyz))
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))[:16]]
    given = dict(motion=motion, target_distance=np.resize([0.0, 0.1], len(pairs)))
    one = gc.collide(bodies, pairs, backend=backend.kind, **given)
    two = gc.collide(bodies, pairs, backend="reference", **given)
    assert len(one) > 5
    for name in ("status", "contact_start", "sustained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    order = [np.lexsort((x.feature_b, x.feature_a, x.kind, x.time.round(8), x.pair)) for x in (one, two)]
    for name in ("kind", "feature_a", "feature_b"):
        np.testing.assert_array_equal(getattr(one, name)[order[0]], getattr(two, name)[order[1]])
    for name in ("time", "position", "normal", "properness", "local_a", "local_b", "normal_speed"):
        np.testing.assert_allclose(getattr(one, name)[order[0]], getattr(two, name)[order[1]], atol=1e-9)


@pytest.mark.skipif(round_many.missing() is not None, reason=str(round_many.missing()))
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_the_judge_of_many_says_the_same(kinds):
    for family in ("random", "whole", "rest"):
        _, _, judge, _ = passes(kinds, 40, 18, "body", family)
        for one, other in zip(Many(judge).first(), judge.first(), strict=True):
            np.testing.assert_allclose(one, other, atol=3e-8)  # times of grazes; gaps agree to 1e-12


@pytest.mark.parametrize("turns", [2.0, 8.0])
@pytest.mark.shared_bits("tests/api/test_round_shapes.py")
def test_all_contacts_of_spheres_off_their_centres(backend, turns):
    """Points beside the place about which they turn, so that paths are curved and meet several times, against
    the reference. Worst seen: 3e-13 in speeds, 1e-13 elsewhere."""
    rng, n = generator(20, 1), 60
    meshes = [gc.Mesh([[x, 0, 0]], [], rounding=r) for x in (0.0, 0.4, 1.0) for r in (0.1, 0.3)]
    start = gc.Poses.from_quat_wxyz(rng.uniform(-0.6, 0.6, (n, 3)), unit(rng, n, 4))
    way, spin = rng.normal(size=(n, 3)), turns * rng.normal(size=(n, 3))
    bodies = gc.Bodies.from_velocities(meshes, rng.integers(0, 6, n), start, way, spin)
    pairs = rng.permutation(np.stack(np.triu_indices(n, 1), axis=1))[:60]
    one = gc.collide(bodies, pairs, motion="body", backend=backend.kind)
    two = gc.collide(bodies, pairs, motion="body", backend="reference")
    assert len(one) > 3 and not (one.status == gc.Status.UNRESOLVED).any()
    for name in ("status", "contact_start", "kind", "feature_a", "feature_b", "sustained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("time", "position", "normal", "properness", "local_a", "local_b", "normal_speed"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9)
