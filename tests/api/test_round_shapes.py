"""Meshes with a rounding radius: whole numbers, touch, overlap, backends, the broad phase, scenes."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.support.round_scenes import (
    BOX,
    CAPSULE,
    FIELDS,
    KINDS,
    ONE,
    SPHERE,
    passes,
    recorded,
    sheet,
    two,
    unit,
)
from tests.support.seeds import generator

ALL_KINDS = {kind.name for kind in gc.Kind}


@pytest.mark.parametrize(
    ("a", "b", "start", "end", "toi", "kinds", "place"),
    [
        (SPHERE, SPHERE, (3, 0, 0), (0, 0, 0), 2 / 3, {"VV"}, (0.5, 0, 0)),
        (SPHERE, SPHERE, (0, 3, 4), (0, 0, 0), 0.8, {"VV"}, (0, 0.3, 0.4)),
        (SPHERE, BOX, (3, 0, 0), (0, 0, 0), 0.5, {"VF"}, (0.5, 0, 0)),
        (BOX, SPHERE, (0, 0, 3), (0, 0, 0), 0.5, {"FV"}, (0, 0, 1.0)),
        (CAPSULE, SPHERE, (3, 0, 0.5), (0, 0, 0.5), 2 / 3, {"EV"}, (0.5, 0, 0.5)),
        (CAPSULE, SPHERE, (0, 0, 4), (0, 0, 0), 0.5, {"VV"}, (0, 0, 1.5)),
        # crossed, the sides' edges; parallel, the ends beside edges
        (CAPSULE, CAPSULE, (3, 0, 0.5), (0, 0, 0.5), 2 / 3, {"EV", "VE"}, None),
        (sheet(0.5), SPHERE, (0, 0, 3), (0, 0, 0), 2 / 3, {"FV"}, (0, 0, 0.5)),
        (sheet(0.5), SPHERE, (0, 0, -3), (0, 0, 0), 2 / 3, {"FV"}, (0, 0, -0.5)),
        (gc.shapes.box(), sheet(0.5), (0, 0, 3), (0, 0, 0), 2 / 3, ALL_KINDS, None),
        # in touch from the start, coming nearer, and sliding
        (SPHERE, SPHERE, (1, 0, 0), (0.5, 0, 0), 0.0, {"VV"}, (0.5, 0, 0)),
        (BOX, SPHERE, (-0.3, 0, 1.5), (0.3, 0, 1.5), 0.0, {"FV"}, (-0.3, 0, 1.0)),
    ],
)  # fmt: skip
def test_whole_numbers(backend, a, b, start, end, toi, kinds, place):
    for motion in ("relative", "body"):
        found = gc.collide(two(a, b, start, end), [[0, 1]], motion=motion, backend=backend.kind)
        assert found.status[0] == gc.Status.HIT
        assert found.toi[0] == pytest.approx(toi, abs=2e-15)
        assert {gc.Kind(k).name for k in found.kind[found.time == found.toi[0]]} <= kinds
        if place is not None:
            np.testing.assert_allclose(found.position[0], place, atol=1e-15)


def test_a_graze(backend):
    """Exactly: it is a contact, where the gap is less than what is touch, which is long before and after."""
    found = gc.collide(two(SPHERE, SPHERE, (-3, 1, 0), (3, 1, 0)), [[0, 1]], backend=backend.kind)
    assert found.status[0] == gc.Status.HIT and found.toi[0] == pytest.approx(0.5, abs=1e-6)  # seen: 2.4e-7
    beside = gc.collide(two(SPHERE, SPHERE, (-3, 1 + 1e-9, 0), (3, 1, 0)), [[0, 1]], backend=backend.kind)
    assert beside.status[0] == gc.Status.MISS


@pytest.mark.parametrize(
    ("a", "b", "start", "end", "toi"),
    [
        (SPHERE, SPHERE, (1, 0, -1), (-2, 0, -1), 1 / 3),
        (SPHERE, SPHERE, (-1, -3, 3), (2, 1, -2), 0.6),
        (SPHERE, SPHERE, (0, 0, 1), (1, 1, 1), 0.0),
        (CAPSULE, SPHERE, (-3, 1, 0.5), (6, 1, 0.5), 1 / 3),
        (SPHERE, CAPSULE, (-2, 1, 0.5), (3, 1, 0.5), 0.4),
        (CAPSULE, CAPSULE, (-2, 0, 3), (3, 0, 3), 0.4),
    ],
)
def test_grazes_at_any_time(backend, a, b, start, end, toi):
    """Some were missed where the least gap lies before the middle of a piece of time: there bodies part."""
    for motion in ("relative", "body"):
        found = gc.collide(two(a, b, start, end), [[0, 1]], motion=motion, backend=backend.kind)
        assert found.status[0] == gc.Status.HIT
        assert found.toi[0] == pytest.approx(toi, abs=1e-6 if backend.kind == "reference" else 1e-8)


def test_crossed_capsules(backend):
    """Edge against edge, and properness 1: nothing but a line is there."""
    q = [0.5**0.5, 0.5**0.5, 0, 0]
    found = gc.collide(two(CAPSULE, CAPSULE, (3, 0, 0), (0, 0, 0), q, q), [[0, 1]], backend=backend.kind)
    assert found.kind.tolist() == [gc.Kind.EE] and found.properness[0] == 1.0
    np.testing.assert_allclose(found.toi, 2 / 3, atol=1e-15)
    np.testing.assert_allclose(found.normal, [[1, 0, 0]], atol=1e-15)


def test_what_rolls_stays_in_touch(backend):
    """A ball on a slab, straight on and spinning: one contact for the whole step, told once."""
    slab, ball = gc.shapes.box((20, 20, 1)), gc.shapes.sphere(0.5)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-2, 0, 1.0]], [ONE] * 2)
    way, spin = [[0, 0, 0], [3.0, 0, 0]], [[0, 0, 0], [0, 6.0, 0]]
    bodies = gc.Bodies.from_velocities([slab, ball], [0, 1], start, way, spin)
    found = gc.collide(bodies, [[0, 1]], motion="body", backend=backend.kind)
    assert found.kind.tolist() == [gc.Kind.FV] and found.sustained.all() and found.status[0] == gc.Status.HIT
    assert found.time[0] == 0.0 and found.time_end[0] == 1.0
    np.testing.assert_allclose(found.normal_speed, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "inside", "touch"),
    [
        (SPHERE, SPHERE, (0.999, 0, 0), (1, 0, 0)),
        (SPHERE, SPHERE, (0, 0, 0), (0, 0.6, 0.8)),
        (SPHERE, gc.shapes.box(4.0), (0.1, 0.2, 0.3), (2.5, 0, 0)),
        (CAPSULE, gc.shapes.box(8.0), (0.1, 0.2, 0.3), (0, 0, 5.5)),
        (CAPSULE, sheet(0.25), (0.1, 0.2, 0.3), (0, 0, 1.75)),
        (CAPSULE, CAPSULE, (0, 0, 0), (0, 0, 3)),
        (BOX, BOX, (1.9, 0.2, 0.3), (2, 0.2, 0.3)),
    ],
)
def test_overlap_at_the_start(backend, a, b, inside, touch):
    """Deep inside, where cores cross, and by a little; at exact touch and parting there is none, and no
    contact."""
    for motion in ("relative", "body"):
        for way in (0.0, 1e-3):
            bodies = two(a, b, inside, np.array(inside) + [0, way, 0])
            for pair in ([0, 1], [1, 0]):
                found = gc.collide(bodies, [pair], motion=motion, backend=backend.kind)
                assert found.status[0] == gc.Status.INITIAL_OVERLAP
        away = 3 * np.array(touch)
        found = gc.collide(two(a, b, touch, away), [[0, 1]], motion=motion, backend=backend.kind)
        assert found.status[0] == gc.Status.MISS and len(found) == 0
        back = gc.collide(two(a, b, away, touch), [[0, 1]], motion=motion, backend=backend.kind)
        assert back.status[0] == gc.Status.HIT and back.toi[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.backends("opencl")
def test_backends_have_the_same_bits(backend):
    for kinds in KINDS:
        bodies, pairs, _, _ = passes(kinds, 60, 15, "body", "random")
        for motion in ("relative", "body"):
            one = gc.collide(bodies, pairs, motion=motion, backend=backend.kind)
            other = gc.collide(bodies, pairs, motion=motion, backend="cpu")
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_the_radius_is_a_distance(backend):
    """Meshes of two radii have the contacts of those without at the sum as `target_distance`, with the points
    moved; and a distance adds to it."""
    rng, n = generator(16, 1), 30
    p, q = rng.uniform(-1.5, 1.5, (2, n, 3)), unit(rng, n, 4)
    poses = [gc.Poses.from_quat_wxyz(x, q) for x in p]
    plain = gc.Bodies(gc.shapes.l_block(), None, *poses)
    rounds = gc.Bodies(gc.shapes.l_block().rounded(0.125), None, *poses)
    pairs = np.arange(n).reshape(-1, 2)
    for extra in (0.0, 0.25):
        one = gc.collide(plain, pairs, target_distance=0.25 + extra, backend=backend.kind)
        two_ = gc.collide(rounds, pairs, target_distance=extra, backend=backend.kind)
        np.testing.assert_array_equal(one.status, two_.status)
        np.testing.assert_allclose(one.time, two_.time, atol=1e-12)  # the touch tolerance is of another size
        np.testing.assert_array_equal(one.feature_a, two_.feature_a)
        np.testing.assert_allclose(two_.position, one.position + 0.125 * one.normal, atol=1e-12)


@pytest.mark.backends("cpu", "opencl")
@pytest.mark.parametrize("contacts", ["first", "all"])
def test_plain_pairs_beside_round_ones(backend, contacts):
    """Pairs without a radius have the bits that they have alone, however they are asked for."""
    rng, n = generator(19, 1), 60
    meshes = [gc.shapes.box(0.7), gc.shapes.icosphere(2, 0.5), gc.shapes.l_block(), gc.shapes.sphere(0.3)]
    shape = np.arange(n) % 4
    poses = [gc.Poses.from_quat_wxyz(1.2 * rng.uniform(-1, 1, (n, 3)), unit(rng, n, 4)) for _ in range(2)]
    bodies = gc.Bodies(meshes, shape, *poses)
    plain = np.flatnonzero(shape < 3)
    alone = gc.Bodies(meshes[:3], shape[plain], *(pose[plain] for pose in poses))
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = pairs[rng.permutation(len(pairs))[:150]]
    some = (shape[pairs] < 3).all(axis=1)
    given = dict(contacts=contacts, backend=backend.kind)
    two_ = gc.collide(alone, np.searchsorted(plain, pairs[some]), **given)
    with gc.Scene(meshes, shape, *poses, backend=backend.kind) as scene:
        for one in (
            gc.collide(bodies, pairs, **given),
            *(scene.collide(pairs, contacts=contacts) for _ in "12"),
        ):
            assert (one.status[~some] > 0).any() and (one.status[some] > 0).sum() > 10
            rows = some[one.pair]
            for name in FIELDS:
                which = some if name in ("status", "toi") else rows
                np.testing.assert_array_equal(getattr(one, name)[which], getattr(two_, name), err_msg=name)


def test_the_broad_phase_knows_the_radius(backend):
    rng, n = generator(17, 1), 40
    meshes = [gc.shapes.sphere(0.3), gc.shapes.capsule(0.2, 0.5), gc.shapes.rounded_box(0.5, 0.2)]
    poses = [gc.Poses.from_quat_wxyz(3 * rng.uniform(-1, 1, (n, 3)), unit(rng, n, 4)) for _ in range(2)]
    bodies = gc.Bodies(meshes, np.arange(n) % 3, *poses)
    every = np.stack(np.triu_indices(n, 1), axis=1)
    for motion in ("relative", "body"):
        if backend.kind == "reference":
            every = every[:0]
        given = dict(motion=motion, backend=backend.kind)
        found, whole = gc.collide(bodies, **given), gc.collide(bodies, every, **given)
        some = whole.status > 0
        if backend.kind != "reference":
            assert some.sum() > 10
            np.testing.assert_array_equal(whole.pairs[some], found.pairs[found.status > 0])
            np.testing.assert_array_equal(whole.toi[some], found.toi[found.status > 0])


@pytest.mark.filterwarnings("ignore:all 1 pairs overlap")
def test_scenes_and_recordings(backend):
    """A ball falls on a slab: the same in a scene, whose calls are recorded, and in a recording."""
    slab, ball = gc.shapes.box((4, 4, 1)), gc.shapes.sphere(0.5)
    heights = [3.0, 2.0, 1.2, 0.9, 1.5]
    place = [[[0, 0, 0], [0.1, 0.2, z]] for z in heights]
    poses = gc.Poses.from_quat_wxyz(place, np.tile(ONE, (5, 2, 1)))
    told = gc.collide_trajectories([slab, ball], [0, 1], poses, np.arange(5.0), backend=backend.kind)
    assert told.pairs["step"].tolist() == [2, 3]
    assert told.pairs["status"].tolist() == [gc.Status.HIT, gc.Status.INITIAL_OVERLAP]
    assert told.pairs["toi"][0] == pytest.approx(2 + 2 / 3, abs=1e-12)
    recording = recorded(poses, [slab, ball])
    assert recording.collide(backend=backend.kind).position.tobytes() == told.position.tobytes()
    with gc.Scene([slab, ball], [0, 1], poses[0], poses[1], backend=backend.kind) as scene:
        for step in range(4):
            scene.update(poses[step], poses[step + 1])
            for pairs in (None, [[0, 1]]):
                one = gc.collide(scene.bodies, pairs, backend=backend.kind)
                for found in (scene.collide(pairs), scene.collide(pairs), scene.collide(pairs)):
                    np.testing.assert_array_equal(found.toi, one.toi)
                    np.testing.assert_array_equal(found.position, one.position)


def test_beside_a_large_mesh(backend):
    """Of 5,120 faces those that come near are found by trees, as of any two meshes."""
    if backend.kind == "reference":
        pytest.skip("too slow")
    ball, large = gc.shapes.sphere(0.25), gc.shapes.icosphere(4, 2.0)
    bodies = two(large, ball, (4, 0.1, 0.2), (1, 0.1, 0.2))
    for a, b in ((0, 1), (1, 0)):
        near = gc.collide(bodies, [[a, b]], backend=backend.kind)
        whole = gc.collide(bodies, [[a, b]], backend=backend.kind, tuning=gc.Tuning(features="all"))
        some = gc.collide(bodies, [[a, b]], backend=backend.kind, tuning=gc.Tuning(features="near"))
        for found in (near, some):
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)
        assert near.status[0] == gc.Status.HIT and abs(near.toi[0] - (4 - 2.25) / 3) < 0.01
