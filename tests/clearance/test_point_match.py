"""Which contact points are those of the step before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.results.point_identity import keys_of, numbered_apart

ONE = [1.0, 0, 0, 0]
BOX = gc.shapes.box()


def at(*places, bodies=None, margin=0.01, quat=None):
    """Boxes at places."""
    poses = gc.Poses.from_quat_wxyz(places, [ONE] * len(places) if quat is None else quat)
    return gc.contacts_at(gc.Bodies(BOX, None, poses, poses), margin=margin, backend="cpu").manifolds()


def points(bodies, key, local_a, local_b=None):
    """Manifolds of nothing but what `match` reads."""
    n, zero = len(key), np.zeros((len(key), 3))
    pairs, pair = np.unique(np.asarray(bodies), axis=0, return_inverse=True)
    order = np.argsort(pair.reshape(-1), kind="stable")
    local_a = np.asarray(local_a, float)[order]
    return gc.Manifolds(
        pairs=pairs, pair=pair.reshape(-1)[order], region=pair.reshape(-1)[order], key=np.asarray(key)[order],
        distance=np.zeros(n), kind=np.zeros(n), feature_a=np.zeros(n), feature_b=np.zeros(n), point_a=zero,
        point_b=zero, normal=np.tile([0.0, 0, 1], (n, 1)), local_a=local_a,
        local_b=local_a if local_b is None else np.asarray(local_b, float)[order],
    )  # fmt: skip


def test_what_stays_is_kept_whatever_else_comes_and_goes():
    before = at([0, 0, 0], [0.3, 0.2, 0.999], [9, 0, 0], [9.2, 0.1, 0.999])
    now = at([0, 0, 0], [0.31, 0.2, 1.001], [9, 0, 0], [9.2, 0.1, 1.2])
    match = now.match(before)
    assert match.new.tolist() == [] and match.kept.tolist() == [0, 1, 2, 3]
    assert match.broken.tolist() == [4, 5, 6, 7]
    assert np.array_equal(now.key, before.key[match.before])
    impulse = np.arange(16.0).reshape(8, 2)
    assert np.array_equal(match.carry(impulse), impulse[match.before])
    back = before.match(now)
    assert back.new.tolist() == [4, 5, 6, 7] and not back.carry(np.ones(4))[4:].any()


def test_the_key_is_that_of_bodies_shapes_and_features():
    one = at([0, 0, 0], [0.3, 0.2, 0.999])
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.3, 0.2, 0.999]], [ONE] * 2)
    for meshes, shape in (([BOX, gc.shapes.box()], [0, 1]), ([gc.shapes.box(), BOX], [1, 0])):
        found = gc.contacts_at(gc.Bodies(meshes, shape, poses, poses), backend="cpu").manifolds()
        assert not np.isin(found.key, one.key).any()
    swapped = gc.contacts_at(gc.Bodies(BOX, None, poses, poses), [[1, 0]], backend="cpu").manifolds()
    assert set(swapped.key) == set(one.key)
    moved = at([0, 0, 0], [5, 0, 0], [0.3, 0.2, 0.999])
    assert len(moved) == 4 and not np.isin(moved.key, one.key).any()


def test_keys_differ():
    """All of many neighbouring numbers; and equal ones become others, the first excepted."""
    n = 2 * 10**5
    k = np.arange(n)
    bodies = np.stack([k % 100, 100 + k // 100 % 100], axis=1)
    features = k // 10**4
    key = keys_of(bodies, bodies * 0, np.full(n, 2), features % 10, features // 10)
    assert len(np.unique(key)) == n
    same = np.array([7, 3, 7, 7, 3], np.uint64)
    apart = numbered_apart(same)
    assert apart[:2].tolist() == [7, 3] and len(set(apart.tolist())) == 5
    assert np.array_equal(numbered_apart(key), key)


def test_by_distance_where_features_flicker():
    """A corner that leaves the edge of the body below is another pair of features at the same place."""
    before, now = at([0, 0, 0], [1e-6, 1e-6, 0.999]), at([0, 0, 0], [-1e-6, 2e-6, 0.999])
    strict, near = now.match(before, tolerance=0.0), now.match(before, tolerance=1e-4)
    assert len(strict.kept) < 4 and len(near.kept) == 4 and len(near.new) == len(near.broken) == 0
    away = np.linalg.norm(now.point_a - before.point_a[near.before], axis=1)
    assert away.max() < 1e-5
    assert len(now.match(before, tolerance=1e-9).kept) == len(strict.kept)
    touching = at([0, 0, 0], [-1e-6, 2e-6, 0.999], margin=0.0)  # the margin is the tolerance
    assert len(now.match(before).kept) == 4 and len(touching.match(before).kept) == len(strict.kept)
    with pytest.raises(ValueError, match="tolerance: expected a length from 0 up, got -1"):
        now.match(before, tolerance=-1)
    with pytest.raises(TypeError, match="previous: expected Manifolds, got Clearance"):
        now.match(gc.contacts_at(gc.Bodies(BOX, None, gc.Poses.identity(1), gc.Poses.identity(1))))


def slowly(now, before, tolerance):
    """One point after the other."""
    found, free = [-1] * len(now), set(range(len(before)))
    for i, key in enumerate(now.key):
        for j in list(free):
            if before.key[j] == key:
                found[i] = j
                free.discard(j)
    ways = []
    for i in (i for i, j in enumerate(found) if j < 0):
        for j in free:
            (a, b), (c, d) = now.bodies[i], before.bodies[j]
            one = (now.local_a[i], now.local_b[i])[:: 1 if a < b else -1]
            other = (before.local_a[j], before.local_b[j])[:: 1 if c < d else -1]
            away = max(np.linalg.norm(p - q) for p, q in zip(one, other, strict=True))
            if {a, b} == {c, d} and away <= tolerance:
                ways.append((away, now.key[i], before.key[j], i, j))
    for _, _, _, i, j in sorted(ways):
        if found[i] < 0 and j in free:
            found[i] = j
            free.discard(j)
    return found


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from([0.3, 0.6, 2.0]))
def test_against_one_point_after_the_other(seed, tolerance):
    rng = np.random.default_rng(seed)
    both = []
    for _ in range(2):
        n = int(rng.integers(0, 12))
        bodies = np.array([[0, 1], [1, 0], [1, 2], [2, 3]])[rng.integers(0, 4, n)].reshape(n, 2)
        key = rng.permutation(20)[:n].astype(np.uint64)
        both.append(points(bodies, key, rng.integers(0, 3, (n, 3)) * 0.5, rng.integers(0, 3, (n, 3)) * 0.5))
    now, before = both
    match = now.match(before, tolerance=tolerance)
    assert match.before.tolist() == slowly(now, before, tolerance)
    assert sorted([*match.new, *match.kept]) == list(range(len(now)))
    kept = match.before[match.kept]
    assert sorted([*kept, *match.broken]) == list(range(len(before)))


def test_files_and_tables(tmp_path):
    found = at([0, 0, 0], [0.3, 0.2, 0.999], [9, 0, 0])
    found.save(tmp_path / "points")
    again = gc.Manifolds.load(tmp_path / "points")
    for name in found._format.fields:
        assert np.array_equal(getattr(found, name), getattr(again, name)), name
    assert again.match(found).before.tolist() == [0, 1, 2, 3] and again.info["max_points"] == 4
    assert "points    4 of 1 regions" in repr(found) and "least     -0.001, bodies 0 and 1" in repr(found)
    rows = found.to_pandas()
    assert rows["body_b"].tolist() == [1] * 4 and rows["key"].tolist() == found.key.tolist()
    assert len(found[found.distance < -1]) == 0 and found[[2]].key[0] == found.key[2]
    worse = {name: np.array(getattr(found, name)) for name in found._format.fields}
    worse["normal"][1] = 0
    gc.Manifolds(**worse).save(tmp_path / "bad")
    with pytest.raises(ValueError, match="normal"):
        gc.Manifolds.load(tmp_path / "bad")


def test_contacts_of_files_need_their_bodies(tmp_path):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.3, 0.2, 0.999]], [ONE] * 2)
    bodies = gc.Bodies(BOX, None, poses, poses)
    contacts = gc.contacts_at(bodies, backend="cpu")
    want = contacts.manifolds()
    assert np.array_equal(contacts[[0]].manifolds().key, want.key)
    contacts.save(tmp_path / "contacts")
    again = gc.Clearance.load(tmp_path / "contacts")
    with pytest.raises(ValueError, match="bodies: expected the bodies of the query"):
        again.manifolds()
    assert np.array_equal(again.manifolds(bodies=bodies).point_a, want.point_a)
    with pytest.raises(ValueError, match="expected contacts of contacts_at"):
        gc.clearance(bodies, [[0, 1]], backend="cpu").manifolds()
    for wrong, error in ((0, ValueError), (5, ValueError), (2.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="max_points"):
            contacts.manifolds(wrong)
