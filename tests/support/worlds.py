"""Worlds of bodies for the acceptance tests: scenes, the rules written out, results compared bit by bit."""

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import ground
from tests.broad_phase._scenes import product, unit
from tests.support.seeds import generator

FIELDS = ("kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a", "local_b",
          "normal_speed", "sustained", "time_end")  # fmt: skip


def terrain(side=24.0, seed=0, bumps=0.3):
    """Hills of triangles, two for each 4 square units."""
    return ground(side, np.random.default_rng(seed), bumps)


#: Compact, long, hollow, with reflex edges, and one of 300 faces.
SMALL = (gc.shapes.box(), gc.shapes.box((3.0, 0.4, 0.3)), gc.shapes.l_block(1.5), gc.shapes.star())
SHAPES = (*SMALL, gc.shapes.torus(1.2, 0.4))


def drift(seed, n, *, side=None, turn=0.4, way=0.8, still=0.2, meshes=SMALL, height=None):
    """n bodies of random shapes in a box, or with `height` in a flat one; a share of them still.

    Returns
    -------
    Bodies
    """
    rng = np.random.default_rng(seed)
    side = 1.8 * n ** (1 / 3) if side is None else side
    place = rng.uniform(-0.5, 0.5, (n, 3)) * [side, side, side if height is None else height]
    start = gc.Poses.from_quat_wxyz(place, unit(rng, (n, 4)))
    half = 0.5 * rng.uniform(0.0, turn, (n, 1))
    dq = np.concatenate([np.cos(half), np.sin(half) * unit(rng, (n, 3))], axis=1)
    end_place, end_quat = place + way * rng.normal(size=(n, 3)), product(dq, start.unit_wxyz).copy()
    stays = rng.uniform(size=n) < still
    end_place[stays], end_quat[stays] = place[stays], start.quat_wxyz[stays]
    end = gc.Poses.from_quat_wxyz(end_place, end_quat)
    return gc.Bodies(meshes, rng.integers(0, len(meshes), n), start, end)


def with_terrain(bodies, side=24.0):
    """The bodies above hills of some thousand faces, which are the last body."""
    n, hills = len(bodies), terrain(side)
    shape = np.append(bodies.shape, len(bodies.meshes))
    position = [np.append(p.position, [[0, 0, -1.0]], axis=0) for p in (bodies.start, bodies.end)]
    quat = [np.append(p.quat_wxyz, [[1.0, 0, 0, 0]], axis=0) for p in (bodies.start, bodies.end)]
    assert len(position[0]) == n + 1
    poses = (gc.Poses.from_quat_wxyz(x, q) for x, q in zip(position, quat, strict=True))
    return gc.Bodies([*bodies.meshes, hills], shape, *poses)


def some_rules(seed, n):
    """Worlds, some bodies in all of them, bits that keep most pairs, and pairs to ignore."""
    rng = generator(seed, 7)
    bits = rng.integers(1, 16, (2, n))
    ignore = rng.integers(0, n, (3 * n, 2))
    return {
        "world": np.where(rng.uniform(size=n) < 0.2, -1, rng.integers(0, 3, n)),
        "group": bits[0],
        "mask": bits[1] | 0xFFFFFFF0,
        "ignore": ignore[ignore[:, 0] != ignore[:, 1]],
    }


def allowed(bodies, world=None, group=None, mask=None, ignore=None, still_pairs=False):
    """All pairs that the rules allow, by the words of their documentation, one after the other."""
    n = len(bodies)
    valid = bodies.start.valid & bodies.end.valid
    moves = (bodies.start.position != bodies.end.position).any(axis=1)
    moves |= np.abs((bodies.start.unit_wxyz * bodies.end.unit_wxyz).sum(axis=1)) < 1 - 1e-15
    never = set() if ignore is None else {frozenset(row) for row in np.asarray(ignore).tolist()}
    pairs = []
    for a in range(n):
        for b in range(a + 1, n):
            keep = valid[a] and valid[b] and frozenset((a, b)) not in never
            if world is not None:
                keep &= world[a] == world[b] or -1 in (world[a], world[b])
            group_a, group_b = (0xFFFFFFFF,) * 2 if group is None else (int(group[a]), int(group[b]))
            mask_a, mask_b = (0xFFFFFFFF,) * 2 if mask is None else (int(mask[a]), int(mask[b]))
            keep &= bool(group_a & mask_b) and bool(group_b & mask_a)
            keep &= bool(moves[a] or moves[b] or still_pairs)
            if keep:
                pairs.append((a, b))
    return np.array(pairs, np.int32).reshape(-1, 2)


def same_contacts(one, other, unresolved=False):
    """Are the contacts the same, bit for bit, by the numbers of the bodies? Asserts so; returns how many.

    Pairs without contact may be in one of the results alone, if their status is MISS; with `unresolved` the
    status is not looked at.
    """
    one, other = one.to_numpy(), other.to_numpy()
    assert np.array_equal(one.pairs[one.pair], other.pairs[other.pair])
    for name in FIELDS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert unresolved or outcomes(one) == outcomes(other)
    return len(one)


def outcomes(contacts):
    """Status and first time of each pair that is not simply clear, by the numbers of its bodies."""
    reported = np.flatnonzero(contacts.status != gc.Status.MISS)
    return {
        tuple(contacts.pairs[k].tolist()): (int(contacts.status[k]), float(contacts.toi[k])) for k in reported
    }


def rows_of(contacts):
    """Contacts as tuples (A, B, kind, feature_a, feature_b)."""
    columns = [contacts.pairs[contacts.pair], contacts.kind, contacts.feature_a, contacts.feature_b]
    return [tuple(row) for row in np.column_stack(columns).tolist()]


def only_of(contacts, wanted):
    """Contacts of the pairs in which a body of `wanted` is: rows of body numbers and the raw bits."""
    pairs = contacts.pairs[contacts.pair]
    mine = np.isin(pairs, wanted).any(axis=1)
    return [pairs[mine], *(np.asarray(getattr(contacts, name))[mine] for name in FIELDS)]


def partners(n, wanted, world=None):
    """Every pair of a body of `wanted` with another of its world, A < B, each once."""
    rows = []
    for body in wanted:
        others = np.delete(np.arange(n), body)
        if world is not None:
            others = others[(world[others] == world[body]) | (world[others] == -1) | (world[body] == -1)]
        rows.append(np.stack([np.minimum(body, others), np.maximum(body, others)], axis=1))
    return np.unique(np.concatenate(rows), axis=0)


def by_pair(contacts, numbers):
    """Contacts of each pair that has some, as records, by the pair's `numbers`."""
    reported = np.flatnonzero(np.diff(contacts.contact_start))
    return {tuple(numbers[k].tolist()): contacts.of_pair(k) for k in reported}


def keys(records, swap=False):
    """Sorted (kind, feature_a, feature_b), as they are if A and B change places."""
    return sorted(_key(row, swap) for row in records)


def ordered(records, swap=False):
    """The records by their `keys` and time."""
    return sorted(records, key=lambda row: (_key(row, swap), row["time"]))


def _key(row, swap):
    kind, a, b = int(row["kind"]), int(row["feature_a"]), int(row["feature_b"])
    return (kind if kind == gc.Kind.EE else 1 - kind, b, a) if swap else (kind, a, b)


def shifted(bodies, far):
    """The bodies elsewhere, in places that are whole in units of 2^-20 and so stay exact when far away."""
    whole = (np.round(p.position * 2.0**20) * 2.0**-20 + [far, -far, far] for p in (bodies.start, bodies.end))
    quat = (p.quat_wxyz for p in (bodies.start, bodies.end))
    poses = (gc.Poses.from_quat_wxyz(x, q) for x, q in zip(whole, quat, strict=True))
    return gc.Bodies(bodies.meshes, bodies.shape, *poses)


def half_turns(seed, n):
    """Bodies that turn by pi to within 1e-9, or exactly, and some that hardly turn."""
    rng = np.random.default_rng(seed)
    bodies = drift(seed, n, turn=0.0, still=0.1)
    angle = np.pi - rng.choice([0.0, 1e-12, 1e-9, 1e-3, np.pi], n)
    half = 0.5 * angle[:, None]
    dq = np.concatenate([np.cos(half), np.sin(half) * unit(rng, (n, 3))], axis=1)
    dq[::5] = np.eye(4)[1 + np.arange(len(dq[::5])) % 3]  # exactly half round, about an axis of the world
    end = gc.Poses.from_quat_wxyz(bodies.end.position, product(dq, bodies.start.unit_wxyz))
    return gc.Bodies(bodies.meshes, bodies.shape, bodies.start, end)


#: A square that can be hit from both sides.
SHEET = gc.Mesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2, 3]], two_sided=True)
