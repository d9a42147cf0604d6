"""A target distance for each pair: it has the bits of a call with that distance for all, and 0 is contact."""

import re

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.engine_cache import MOST_ENGINES

ONE = [1.0, 0.0, 0.0, 0.0]
DISTANCES = (0.0, 1e-13, 0.05, 0.3, 1.0)


def crowd(n=24, seed=3, size=1.2):
    """Boxes and L-blocks, some of which stand still, slide, or fly farther than can be solved."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, n, 4))
    p = size * rng.normal(size=(2, n, 3))
    q[:, :6], p[:, :6] = ONE, np.round(p[:, :6])
    p[1, 6:8], q[1, 6:8] = p[0, 6:8], q[0, 6:8]
    p[1, 8] += 1e12
    p[:, 9] = [[1e15, 0, 0], [-1e15, 0, 0]]
    return [
        gc.Poses.from_quat_wxyz(a, b / np.linalg.norm(b, axis=1)[:, None]) for a, b in zip(p, q, strict=True)
    ]


def bodies_of(n=24, **more):
    return gc.Bodies([gc.shapes.box(), gc.shapes.l_block()], np.arange(n) % 2, *crowd(n, **more))


def asked(n=24):
    pairs = np.stack(np.triu_indices(n, 1), axis=1)[::3]
    return pairs, np.resize(DISTANCES, len(pairs))


def rows_of(found, pairs):
    """What a result says of some of its pairs."""
    kept = np.isin(found.pair, pairs)
    names = ("kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
             "local_b", "normal_speed", "sustained", "time_end")  # fmt: skip
    told = {name: getattr(found, name)[kept] for name in names}
    return told | {
        "status": found.status[pairs],
        "toi": found.toi[pairs],
        "of": np.diff(found.contact_start)[pairs],
    }


def same(one, other):
    for name, values in one.items():
        assert values.tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("contacts", ["all", "first"])
def test_each_pair_has_the_bits_of_its_distance(backend, motion, contacts):
    """At 0, and at what is touch, those of contact without any distance, found by another program."""
    bodies = bodies_of()
    pairs, distances = asked()
    given = dict(motion=motion, contacts=contacts, backend=backend.kind)
    if backend.kind == "reference":
        pairs, distances = pairs[:20], distances[:20]
    found = gc.collide(bodies, pairs, target_distance=distances, **given)
    assert set(found.status.tolist()) >= {0, 1, 2} and found.info["target_distance"] == 1.0
    for distance in DISTANCES:
        some = np.flatnonzero(distances == distance)
        more = {"target_distance": distance} if distance else {}
        same(rows_of(found, some), rows_of(gc.collide(bodies, pairs, **more, **given), some))


def test_long_motions_are_said_to_be_unresolved_alike(backend):
    """Bodies 8 and 9 move too far; what may meet them depends on the motion, as without any distance."""
    bodies, n = bodies_of(), 24
    if backend.kind == "reference":
        n = 12
    pairs = np.array([[0, 1], *([k, m] for k in (8, 9) for m in range(n) if m not in (8, 9))])
    for motion in ("relative", "body"):
        given = dict(motion=motion, backend=backend.kind)
        plain = gc.collide(bodies, pairs, **given)
        each = gc.collide(bodies, pairs, target_distance=np.zeros(len(pairs)), **given)
        assert gc.Status.UNRESOLVED in plain.status
        np.testing.assert_array_equal(plain.status, each.status)


def test_first_contacts_of_dense_shapes(backend):
    """Without a distance they are found down both trees."""
    if backend.kind == "reference":
        pytest.skip("too slow")
    ball = gc.shapes.icosphere(3)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [4.0, 0.3, 0.2]], [ONE] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.0, 0.3, 0.2]], [ONE, [0.8, 0.6, 0, 0]])
    bodies, pairs = gc.Bodies(ball, None, start, end), [[0, 1], [0, 1], [1, 0]]
    given = dict(contacts="first", backend=backend.kind)
    found = gc.collide(bodies, pairs, target_distance=[0.0, 0.01, 0.0], **given)
    plain = gc.collide(bodies, pairs, **given)
    same(rows_of(found, [0, 2]), rows_of(plain, [0, 2]))
    assert found.toi[1] < found.toi[0]


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_a_scene_asks_anew_without_new_engines(backend, motion):
    bodies = bodies_of()
    pairs, distances = asked()
    pairs, distances = pairs[:12], distances[:12]
    with gc.Scene(
        bodies.meshes, bodies.shape, bodies.start, bodies.end, motion=motion, backend=backend.kind
    ) as scene:
        for k in range(MOST_ENGINES + 2):
            some = np.roll(distances, k) * (1 + 0.1 * k)
            found = scene.collide(pairs, target_distance=some)
            if k in (0, 1, 5, MOST_ENGINES + 1):
                plain = gc.collide(bodies, pairs, target_distance=some, motion=motion, backend=backend.kind)
                same(rows_of(found, np.arange(12)), rows_of(plain, np.arange(12)))
        assert len(scene._kept.engines) == 1
        np.testing.assert_array_equal(
            scene.collide(pairs).toi, scene.collide(pairs, target_distance=np.zeros(12)).toi
        )


def test_pieces_of_a_batch_take_their_own(backend):
    """Pairs are worked on in pieces: each takes its part of the distances."""
    bodies = bodies_of()
    pairs, distances = asked()
    if backend.kind == "reference":
        pytest.skip("it has none")
    many, each = np.tile(pairs, (40, 1)), np.resize(distances, 40 * len(pairs))
    whole = gc.collide(bodies, many, target_distance=each, backend=backend.kind)
    small = gc.collide(bodies, many, target_distance=each, backend=backend.kind, max_bytes=12 << 20)
    np.testing.assert_array_equal(whole.toi, small.toi)
    np.testing.assert_array_equal(whole.time, small.time)
    np.testing.assert_array_equal(whole.toi[: len(pairs)], whole.toi[-len(pairs) :])


def test_none_and_one(backend):
    bodies = bodies_of()
    none = gc.collide(bodies, np.zeros((0, 2), int), target_distance=[], backend=backend.kind)
    assert none.n_pairs == 0 and none.info["target_distance"] == 0.0
    one = gc.collide(bodies, [[0, 1]], target_distance=[0.3], backend=backend.kind)
    same(
        rows_of(one, [0]),
        rows_of(gc.collide(bodies, [[0, 1]], target_distance=0.3, backend=backend.kind), [0]),
    )


@pytest.mark.parametrize(
    ("pairs", "value", "text"),
    [
        ([[0, 1]], [0.1, 0.2], "target_distance: expected a length, or shape (1,) for the pairs, got (2,)"),
        ([[0, 1]], [-1.0], "target_distance: expected a length from 0 up, got -1.0"),
        ([[0, 1]], [np.nan], "target_distance: expected a length from 0 up, got nan"),
        ([[0, 1]], [np.inf], "target_distance: expected a length from 0 up, got inf"),
        (
            None,
            [0.1],
            "target_distance: expected one length where the pairs are found, got shape (1,); pass pairs",
        ),
    ],
)
def test_what_is_refused(pairs, value, text):
    bodies = bodies_of()
    with pytest.raises(ValueError, match="^" + re.escape(text)):
        gc.collide(bodies, pairs, target_distance=value)
    with gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.end, backend="cpu") as scene:
        with pytest.raises(ValueError, match="^" + re.escape(text)):
            scene.collide(pairs, target_distance=value)


def test_with_an_array_the_same_is_refused_as_with_a_number():
    with pytest.raises(ValueError, match="^refine: expected 'exact' with target_distance above 0"):
        gc.collide(bodies_of(), [[0, 1]], target_distance=[0.0], refine="pixels")
    with pytest.raises(ValueError, match="^target_distance: expected one length with exit=True, got one for"):
        gc.collide(bodies_of(), [[0, 1]], target_distance=[0.0], exit=True)
