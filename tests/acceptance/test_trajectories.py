"""Trajectories: against one call of `collide` per step, whatever the batches; what is skipped is listed."""

import dataclasses
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.queries.trajectory_batches import absolute

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = gc.shapes.box()
NOT_THERE = ("info", "part_a", "part_b")  # the latter only of meshes with names of parts
FIELDS = [f.name for f in dataclasses.fields(gc.TrajectoryContacts) if f.name not in NOT_THERE]


def identity_quats(*lead):
    return np.broadcast_to([1.0, 0, 0, 0], (*lead, 4))


def straight(position):
    """Poses (t, n) without any turn."""
    position = np.asarray(position, float)
    return gc.Poses.from_quat_wxyz(position, identity_quats(*position.shape[:2]))


def still(meshes, shape, position):
    poses = gc.Poses.from_quat_wxyz(np.asarray(position, float), identity_quats(len(position)))
    return gc.Bodies(meshes, shape, poses, poses)


def same_bits(found, expected):
    for name in FIELDS:
        a, b = getattr(found, name), getattr(expected, name)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), name


def random_case(seed, t=7, n=4, n_static=2):
    """A few bodies that cross a small place and now and then jump or stand still, and two static ones."""
    rng = np.random.default_rng(seed)
    position = rng.normal(0, 1.3, (t, n, 3))
    turn = np.cumsum(rng.normal(0, 0.5, (t, n, 4)), axis=0) + rng.normal(size=(1, n, 4))
    quat = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    for k, i in itertools.product(range(1, t), range(n)):
        if rng.random() < 0.15:
            position[k, i], quat[k, i] = position[k - 1, i], quat[k - 1, i]  # stands still
        elif rng.random() < 0.05:
            position[k, i] += 30.0
        elif rng.random() < 0.05:
            quat[k, i] *= 1.5  # no pose
    poses = gc.Poses.from_quat_wxyz(position, quat)
    static = still(
        [gc.shapes.l_block(2.5), BOX], rng.integers(0, 2, n_static), rng.normal(0, 0.7, (n_static, 3))
    )
    meshes, shape = [BOX, gc.shapes.star()], rng.integers(0, 2, n)
    return meshes, shape, poses, np.cumsum(rng.uniform(0.05, 2.0, t)) - 5.0, static


def slow(meshes, shape, poses, times, static, backend, *, world=None, group=None, mask=None, ignore=(),
         still_pairs=False, max_speed=np.inf, max_turn=np.inf, **options):  # fmt: skip
    """The same by one call of `collide` for every step and pair; returns rows and skipped rows."""
    n, m = len(shape), len(static)
    meshes = [*meshes, *static.meshes]
    shape = np.concatenate([shape, static.shape + len(meshes) - len(static.meshes)])
    world = [0] * n + [-1] * m if world is None else list(world) + [-1] * (n + m - len(world))
    group = [0xFFFFFFFF] * (n + m) if group is None else list(group) + [0xFFFFFFFF] * (n + m - len(group))
    mask = [0xFFFFFFFF] * (n + m) if mask is None else list(mask) + [0xFFFFFFFF] * (n + m - len(mask))
    contacts, pairs, skipped, tested = [], [], [], []
    for k in range(len(times) - 1):
        ends = []
        for frame, fixed in ((k, static.start), (k + 1, static.end)):
            position = np.concatenate([poses.position[frame], fixed.position])
            quat = np.concatenate([poses.quat_wxyz[frame], fixed.quat_wxyz])
            ends.append(gc.Poses.from_quat_wxyz(position, quat))
        bodies = gc.Bodies(meshes, shape, *ends)
        out = {}
        for i in range(n):
            moved = np.linalg.norm(ends[1].position[i] - ends[0].position[i])
            cosine = min(1.0, abs(ends[0].unit_wxyz[i] @ ends[1].unit_wxyz[i]))
            if not (ends[0].valid[i] and ends[1].valid[i]):
                out[i] = "invalid"
            elif moved > max_speed * (times[k + 1] - times[k]):
                out[i] = "teleport"
            elif 2 * np.arccos(cosine) > max_turn:
                out[i] = "turn"
        skipped += [(k, i, why) for i, why in out.items()]
        rests = [
            i >= n or (ends[0].position[i] == ends[1].position[i]).all()
            and (ends[0].unit_wxyz[i] == ends[1].unit_wxyz[i]).all()
            for i in range(n + m)
        ]  # fmt: skip
        wanted = [
            (a, b)
            for a, b in itertools.combinations(range(n + m), 2)
            if a < n and a not in out and b not in out
            and (world[a] == world[b] or -1 in (world[a], world[b]))
            and group[a] & mask[b] and group[b] & mask[a]
            and not {(a, b), (b, a)} & {tuple(row) for row in ignore}
        ]  # fmt: skip
        # of two that rest only an overlap is told
        overlaps = {(a, b) for a, b in wanted if not still_pairs and rests[a] and rests[b]}
        tested.append([pair for pair in wanted if pair not in overlaps])
        found = gc.collide(bodies, np.array(wanted).reshape(-1, 2), backend=backend, **options).to_numpy()
        seconds = times[k + 1] - times[k]
        for row, (a, b) in enumerate(wanted):
            if (a, b) in overlaps:
                if found.status[row] == gc.Status.INITIAL_OVERLAP:
                    pairs.append((k, a, b, int(found.status[row]), np.inf))
                continue
            if found.status[row]:
                pairs.append((k, a, b, int(found.status[row]), times[k] + found.toi[row] * seconds))
            for c in range(found.contact_start[row], found.contact_start[row + 1]):
                values = [found.time[c], *found.position[c], *found.normal[c], *found.local_a[c],
                          *found.local_b[c], found.properness[c], found.normal_speed[c] / seconds,
                          times[k] + found.time[c] * seconds, times[k] + found.time_end[c] * seconds,
                          found.sustained[c]]  # fmt: skip
                key = (k, a, b, int(found.kind[c]), int(found.feature_a[c]), int(found.feature_b[c]))
                contacts.append((key, np.array(values, float)))
    return contacts, pairs, skipped, tested


def agrees(found, expected):
    """Features, statuses and skipped rows equal; numbers the same, up to the rounding of absolute times."""
    contacts, pairs, skipped, _ = expected
    names = ("step", "body_a", "body_b", "kind", "feature_a", "feature_b")
    keys = list(zip(*(getattr(found, n).tolist() for n in names), strict=True))
    assert keys == [key for key, _ in contacts]
    vectors = [getattr(found, n) for n in ("position", "normal", "local_a", "local_b")]
    columns = [found.fraction, *(v.T[i] for v in vectors for i in range(3)), found.properness]
    columns += [found.normal_speed, found.time, found.time_end, found.sustained]
    if contacts:
        values = np.array([v for _, v in contacts])
        np.testing.assert_array_equal(np.stack(columns, axis=1)[:, :14], values[:, :14])
        # Worst seen: one unit in the last place of times near 10.
        np.testing.assert_allclose(np.stack(columns, axis=1)[:, 14:], values[:, 14:], rtol=1e-14, atol=1e-14)
    assert [tuple(row)[:4] for row in found.pairs.tolist()] == [row[:4] for row in pairs]
    np.testing.assert_allclose(found.pairs["toi"], [row[4] for row in pairs], rtol=1e-14, atol=1e-14)
    assert [tuple(row) for row in found.skipped.tolist()] == skipped
    begin = found.contact_start
    for i, row in enumerate(found.pairs):
        of = slice(begin[i], begin[i + 1])
        assert (found.step[of] == row["step"]).all() and (found.body_b[of] == row["body_b"]).all()
    assert begin[-1] == len(found)


def test_known_answers(backend):
    """A box falls onto a box, stands on it, and is lifted: an absolute time, and speeds per second."""
    poses = straight([[[0, 0, 3.0]], [[0, 0, 2.0]], [[0, 0, 0.5]], [[0, 0, 0.5]], [[0, 0, 3.0]]])
    ground = still(BOX, None, [[0, 0, 0]])
    times = [10.0, 11.0, 13.0, 14.0, 14.5]
    found = gc.collide_trajectories(BOX, None, poses, times, static=ground, backend=backend.kind)
    first = found.of_step(1)
    assert (found.body_a == 0).all() and (found.body_b == 1).all()
    assert len(found.step) and set(found.step.tolist()) <= {1, 3}
    # 2 to 0.5 in two seconds, touching at 1: two thirds of the step
    assert np.abs(found.fraction[first] - 2 / 3).max() < 1e-12
    assert np.abs(found.time[first] - (11 + 4 / 3)).max() < 1e-11
    assert np.abs(found.normal_speed[first] + 0.75).max() < 1e-11
    assert found.pairs["step"].tolist()[0] == 1
    assert abs(found.pairs["toi"][0] - (11 + 4 / 3)) < 1e-11
    # in the third step neither moves: no pair is tested
    assert found.step_pairs[2] == 0
    assert len(found.skipped) == 0 and found.n_steps == 4


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), plain=st.booleans(), size=st.integers(1, 7))
def test_like_one_call_per_step(seed, plain, size):
    case = random_case(seed)
    rng = np.random.default_rng(seed)
    options = {}
    if not plain:
        options = {
            "world": rng.integers(-1, 2, rng.choice([4, 6])),
            "group": rng.integers(1, 8, 4), "mask": rng.integers(1, 8, 6),
            "ignore": [rng.permutation(6)[:2] for _ in range(2)], "still_pairs": bool(rng.integers(2)),
            "max_speed": 20.0, "max_turn": 1.0,
        }  # fmt: skip
    found = gc.collide_trajectories(*case[:4], static=case[4], backend="cpu", **options)
    expected = slow(*case, "cpu", **options)
    agrees(found, expected)
    assert (found.step_pairs <= [len(pairs) for pairs in expected[3]]).all()
    options["frames_per_batch"] = size
    same_bits(gc.collide_trajectories(*case[:4], static=case[4], backend="cpu", **options), found)


@pytest.mark.parametrize("size", [1, 2, 3, 6, 100])
def test_batches_do_not_show(size, backend):
    *case, static = random_case(5)
    options = {"static": static, "max_speed": 20.0, "backend": backend.kind, "world": [0, 0, 1, 1]}
    whole = gc.collide_trajectories(*case, **options)
    assert len(whole) > 20 and len(whole.skipped) > 0 and len(np.unique(whole.step)) > 3
    same_bits(gc.collide_trajectories(*case, frames_per_batch=size, **options), whole)
    parts = list(gc.collide_trajectories(*case, frames_per_batch=size, stream=True, **options))
    assert len(parts) == -(-6 // size)
    assert [p.first_step for p in parts] == list(range(0, 6, size))
    assert all((p.step >= p.first_step).all() for p in parts)
    same_bits(gc.TrajectoryContacts.concatenate(parts), whole)


@pytest.mark.parametrize("blocks", [[7], [1] * 7, [3, 4], [0, 2, 5, 0]])
@pytest.mark.parametrize("size", [None, 2])
def test_blocks_of_frames_do_not_show(blocks, size):
    meshes, shape, poses, times, static = random_case(11)
    options = {"static": static, "backend": "cpu"}
    whole = gc.collide_trajectories(meshes, shape, poses, times, **options)
    cuts = np.cumsum([0, *blocks])
    parts = (poses[a:b] for a, b in itertools.pairwise(cuts))
    found = gc.collide_trajectories(meshes, shape, parts, times, frames_per_batch=size, **options)
    assert len(whole) > 10
    same_bits(found, whole)


def test_stream_takes_blocks_as_it_goes():
    """Of a generator no more is taken than the batch that is being yielded needs."""
    poses = straight(np.arange(10.0)[:, None, None] * [[0.1, 0, 0]])
    taken = []

    def frames():
        for k in range(10):
            taken.append(k)
            yield poses[k : k + 1]

    parts = gc.collide_trajectories(BOX, None, frames(), np.arange(10.0), frames_per_batch=3, stream=True,
                                    backend="cpu")  # fmt: skip
    next(parts)
    assert taken == [0, 1, 2, 3]
    next(parts)
    assert taken == list(range(7))


def test_skipped_bodies_are_listed_and_meet_nothing():
    """Body 0 drives through the wall in each step, but jumps in one, spins in one and is lost in two."""
    position = np.zeros((6, 2, 3))
    position[:, 0, 0] = [-1.5, 1.5, -1.5, 1.5, -40.0, 1.5]
    position[:, 1] = [0, 20, 0]
    quat = identity_quats(6, 2).copy()
    quat[2, 0] = [np.cos(0.5), 0, 0, np.sin(0.5)]  # turned by 1 rad, about where it stands
    quat[5, 1, 0] = np.nan
    poses = gc.Poses.from_quat_wxyz(position, quat)
    wall = still(gc.shapes.box((0.2, 4, 4)), None, [[0, 0, 0]])
    times = np.arange(6.0) * 0.1
    options = {"static": wall, "backend": "cpu"}
    found = gc.collide_trajectories(BOX, None, poses, times, **options)
    assert [tuple(row) for row in found.skipped.tolist()] == [(4, 1, "invalid")]
    assert set(found.step.tolist()) == {0, 1, 2, 3, 4}
    found = gc.collide_trajectories(BOX, None, poses, times, max_speed=35.0, max_turn=0.9, **options)
    assert [tuple(row) for row in found.skipped.tolist()] == [
        (1, 0, "turn"), (2, 0, "turn"), (3, 0, "teleport"), (4, 0, "teleport"), (4, 1, "invalid")
    ]  # fmt: skip
    assert set(found.step.tolist()) == {0}
    # a limit that is just met is no reason
    found = gc.collide_trajectories(BOX, None, poses, times, max_turn=1.0 + 1e-9, **options)
    assert found.skipped["reason"].tolist() == ["invalid"]


def test_quaternions_of_either_sign_are_one_turn():
    quat = np.array([[[1.0, 0, 0, 0]], [[-1.0, 0, 0, 0]]])
    poses = gc.Poses.from_quat_wxyz(np.zeros((2, 1, 3)), quat)
    assert len(gc.collide_trajectories(BOX, None, poses, [0, 1], max_turn=1e-6, backend="cpu").skipped) == 0


def test_static_bodies_keep_their_numbers_and_never_pair_among_themselves():
    poses = straight([[[-5.0, 0, 0], [0, 9, 0]], [[5.0, 0, 0], [0, 9, 0]]])
    posts = still([gc.shapes.box(0.5), BOX], [0, 1, 1], [[0, 0, 0], [3, 0, 0], [3.2, 0, 0]])
    found = gc.collide_trajectories(BOX, None, poses, [0, 1], static=posts, still_pairs=True, backend="cpu")
    assert set(found.body_a.tolist()) == {0}
    assert set(found.body_b.tolist()) == {2, 3, 4}
    half = {2: 0.75, 3: 1.0, 4: 1.0}  # sum of half widths
    for row in found.pairs:
        at = posts.start.position[row["body_b"] - 2, 0]
        assert row["toi"] == pytest.approx((at - half[int(row["body_b"])] + 5) / 10, abs=1e-12)


@pytest.mark.parametrize(
    "world",
    [
        [0, 0, 7, 7, -1, 7],  # a body in both worlds, a post in the second
        [0, 0, 7, 7, 7, 7],  # the post in one of them
        [0, 0, 7, 7, 7, -1],
        [0, 7, 7, 0, 9],  # the post in all, as it is not mentioned
        [-1, -1, -1, -1, -1, 3],
        [3, 3, -1, 3, 3, 3],
        [-1] * 6,
    ],
)
def test_worlds_do_not_meet(world):
    """Five boxes nearly at one place, and a post among them, over two steps."""
    position = np.zeros((3, 5, 3))
    position[:, :, 0] = np.arange(3)[:, None] * 0.1 + np.arange(5) * 0.03
    posts = still(BOX, None, [[0.5, 0.1, 0.1]])
    poses, times = straight(position), np.arange(3.0)
    options = {"world": world, "min_properness": -1}
    expected = slow([BOX], np.zeros(5, int), poses, times, posts, "cpu", **options)
    assert len(expected[0]) > 3
    of_all = [*world, *[-1] * (6 - len(world))]
    met = {(a, b) for (_, a, b, *_), _ in expected[0]}
    assert all(of_all[a] == of_all[b] or -1 in (of_all[a], of_all[b]) for a, b in met)
    for size in (None, 2):
        found = gc.collide_trajectories(
            BOX, None, poses, times, static=posts, frames_per_batch=size, backend="cpu", **options
        )
        agrees(found, expected)


def test_pairs_of_any_trouble_are_listed():
    """Boxes that overlap from the start and slide on: no contact within the step, but no plain miss."""
    poses = straight([[[0, 0, 0.0], [0.1, 0.1, 0.1], [9, 0, 0]], [[0, 0, 0.0], [0.1, 0.1, 0.2], [9.5, 0, 0]]])
    found = gc.collide_trajectories(BOX, None, poses, [2.0, 4.0], check_start=True, backend="cpu")
    assert len(found) == 0 and found.contact_start.tolist() == [0, 0]
    assert found.pairs.tolist() == [(0, 0, 1, int(gc.Status.INITIAL_OVERLAP), np.inf)]
    assert "1 INITIAL_OVERLAP" in repr(found)


def test_nothing_to_do():
    ground = still(BOX, None, [[0, 0, 0]])
    for t, n in itertools.product((0, 1, 3), (0, 2)):
        for static in (None, ground):
            poses = straight(np.arange(t * n * 3.0).reshape(t, n, 3) * 9)
            found = gc.collide_trajectories(BOX, None, poses, np.arange(t), static=static, backend="cpu")
            assert len(found) == 0 and len(found.pairs) == 0 and found.contact_start.tolist() == [0]
            assert found.n_steps == max(t - 1, 0)
            assert "no contact" in repr(found)
            same_bits(gc.TrajectoryContacts.concatenate([found]), found)


def test_all_bodies_lost():
    poses = straight(np.full((4, 2, 3), np.nan))
    found = gc.collide_trajectories(BOX, None, poses, np.arange(4), backend="cpu")
    assert len(found.skipped) == 6 and found.step_pairs.tolist() == [0, 0, 0]


def test_a_lasting_contact_is_told_in_each_step():
    """A box slides along a floor for three steps, at rest on it within rounding."""
    poses = straight(np.arange(4.0)[:, None, None] * [[0.25, 0, 0]] + [[[0, 0, 1.0]]])
    floor = still(gc.shapes.box((20, 20, 1.0)), None, [[0, 0, 0]])
    found = gc.collide_trajectories(BOX, None, poses, [0, 1, 2, 3], static=floor, backend="cpu",
                                    min_properness=-1)  # fmt: skip
    lasting = found.sustained
    assert set(found.step[lasting].tolist()) == {0, 1, 2}
    assert np.abs(found.time[lasting] - found.step[lasting]).max() < 1e-9
    assert np.abs(found.time_end[lasting] - found.step[lasting] - 1).max() < 1e-9


def test_times_never_leave_their_step():
    """Absolute times keep to their step however the step's bounds round."""
    t0 = 1e9 + 1 / 3
    times = t0 + np.arange(4) * 0.1
    poses = straight([[[-3.0, 0, 0]], [[-1.0, 0, 0]], [[1.0, 0, 0]], [[0.0, 0, 0]]])
    found = gc.collide_trajectories(BOX, None, poses, times, static=still(BOX, None, [[0, 0, 0]]),
                                    backend="cpu")  # fmt: skip
    assert len(found)
    for name in ("time", "time_end"):
        value = getattr(found, name)
        assert (value >= times[found.step]).all() and (value <= times[found.step + 1]).all()
    assert found.fraction.min() >= 0 and found.fraction.max() <= 1


def test_absolute_times_of_many_steps():
    rng = np.random.default_rng(1)
    start, end = np.sort(rng.normal(0, 1, (2, 1000)), axis=0)
    assert (start + (end - start) > end).any(), "rounding would leave the step"
    assert (absolute(np.ones(1000), start, end) <= end).all()
    assert np.array_equal(absolute(np.zeros(1000), start, end), start)
    assert absolute(np.array([np.inf]), start[:1], end[:1]) == np.inf


def test_progress_counts_steps():
    *case, static = random_case(3)
    seen = []
    gc.collide_trajectories(*case, static=static, frames_per_batch=4, backend="cpu",
                            progress=lambda done, steps: seen.append((done, steps)))  # fmt: skip
    done = [d for d, _ in seen]
    assert {s for _, s in seen} == {6} and done == sorted(set(done)) and done[-1] == 6 and 4 in done


def test_options_reach_collide(backend):
    *case, static = random_case(8)
    everything = gc.collide_trajectories(*case, static=static, backend=backend.kind, min_properness=-1)
    first = gc.collide_trajectories(*case, static=static, backend=backend.kind, min_properness=-1,
                                    contacts="first", max_bytes=1 << 24)  # fmt: skip
    assert 0 < len(first) < len(everything)
    assert first.info["contacts"] == "first" and first.info["backend"] == backend.name
    same = np.searchsorted(everything.contact_start, np.arange(len(everything)), side="right") - 1
    assert np.array_equal(first.pairs, everything.pairs)
    assert len(first) == np.sum(everything.time == everything.pairs["toi"][same])


def test_reports_of_batches_add_up(backend):
    """The pairs that came to each test are those of all batches, and the broad phase sees all of them."""
    *case, static = random_case(14, t=9)
    options = {
        "static": static,
        "backend": backend.kind,
        "report": True,
        "tuning": gc.Tuning(filters=("spheres", "boxes")),
    }
    whole = gc.collide_trajectories(*case, **options)
    parts = list(gc.collide_trajectories(*case, frames_per_batch=3, stream=True, **options))
    joined = gc.TrajectoryContacts.concatenate(parts)
    for found in (whole, joined):
        rows = {row.name: row for row in found.report}
        assert rows["narrow phase"].hits == np.isfinite(found.pairs["toi"]).sum()
        assert rows["hierarchy"].passed == found.step_pairs.sum()
    for name in ("spheres", "boxes", "narrow phase"):
        assert whole.report[name].got == joined.report[name].got > 0
    assert gc.collide_trajectories(*case, static=static, backend=backend.kind).report is None


@pytest.mark.backends("opencl", "cuda")
def test_bits_are_those_of_every_backend(backend):
    *case, static = random_case(21)
    found = gc.collide_trajectories(*case, static=static, backend=backend.kind)
    same_bits(found, gc.collide_trajectories(*case, static=static, backend="cpu"))


def test_millimetres_beside_metres_are_doubted_before_the_work():
    """Cars of four kilometres on a track of 200 m: all in contact with all, and 100 s without a word."""
    count = 12
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    place = np.stack([50 * np.cos(angle), 50 * np.sin(angle), 0 * angle + 2], axis=1)
    poses = gc.Poses.from_quat_wxyz(np.stack([place, place + 0.1]), np.tile([1.0, 0, 0, 0], (2, count, 1)))
    car = gc.shapes.car()
    large = gc.Mesh(1000 * car.vertices, car.faces)
    ground = gc.shapes.box((200, 200, 1))
    with pytest.warns(
        RuntimeWarning, match="12 moving bodies of radius .* one unit, not millimetres"
    ) as warned:
        gc.collide_trajectories(large, None, poses, [0, 1], static=ground, backend="cpu")
    assert len(warned) == 1
    with pytest.warns(RuntimeWarning, match="a moving body has the radius .* one unit"):
        gc.collide_trajectories(large, None, poses[:, :1], [0, 1], static=ground, backend="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collide_trajectories(car, None, poses, [0, 1], static=ground, backend="cpu")
