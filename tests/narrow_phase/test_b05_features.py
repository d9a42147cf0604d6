"""Stage b05: the faces that come near are among those listed, whatever the motion; and few others."""

from functools import lru_cache

import numpy as np
import pytest

from gpu_collide.reference.narrow_phase import b05_features as reference
from tests.broad_phase import _near
from tests.broad_phase._near_launch import Near
from tests.narrow_phase._launch import C, cpu, sharing
from tests.oracle.scenes_base import IDENTITY, resting_world

SLACK = 1e-10  # of the size; the pads of double precision are 1e-9
INVALID = int(C["GC_PAIR_INVALID"])


@lru_cache(maxsize=64)
def scene(kind, n, seed, names=_near.SMALL, scale=1.0):
    return _near.slides(n, seed) if kind == "slides" else _near.scene(kind, n, seed, names, scale)


@lru_cache(maxsize=64)
def near_of(backend, args, precision="mixed"):
    return Near(backend, scene(*args), precision)


@lru_cache(maxsize=64)
def truth(args, least=reference.LEAST):
    """For each pair the faces of A and of B that come near, by the reference."""
    near = near_of(cpu(), args)
    answers = []
    for pair in range(near.n):
        screw = near.screw(pair)
        meshes = [near.bodies.meshes[k] for k in near.shapes[pair]]
        answers.append(reference.near_faces(*meshes, screw, SLACK * screw.size, least))
    return answers


def lost(near, listed, answers):
    """Faces that come near and are not listed: (pair, side, patch, bits); and how many come near at all."""
    missing, seen = [], 0
    for pair, sides in enumerate(answers):
        for side, faces in enumerate(sides):
            there = near.masks(listed, pair, side)
            for patch, bits in reference.patch_masks(near.order(int(near.shapes[pair, side])), faces).items():
                seen += bits.bit_count()
                if bits & ~there.get(patch, 0):
                    missing.append((pair, side, patch, bits & ~there.get(patch, 0)))
    return missing, seen


def count(near, listed, pair, side):
    return sum(bits.bit_count() for bits in near.masks(listed, pair, side).values())


@pytest.mark.parametrize("kind", [*_near.MOTIONS])
@pytest.mark.shared_bits("tests/narrow_phase/test_b05_features.py")
def test_near_faces_are_listed(backend, kind):
    args = kind, 2, 2
    answers = truth(args)
    for precision in ("mixed", "double", "single"):
        near = near_of(backend, args, precision)
        listed = near.features()
        assert not listed.need and not listed.spilled and listed.count == len(listed.rows)
        missing, _ = lost(near, listed, answers)
        assert not missing, precision


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.02, 1.0, 30.0])
@pytest.mark.parametrize("kind", [*_near.MOTIONS])
@pytest.mark.shared_bits("tests/narrow_phase/test_b05_features.py")
def test_near_faces_are_listed_more(backend, kind, scale):
    near_at_all = 0
    for seed in range(4):
        args = kind, 6, seed, _near.SMALL, scale
        answers = truth(args, 0.0)
        for precision in ("mixed", "double", "single"):
            near = near_of(backend, args, precision)
            missing, seen = lost(near, near.features(), answers)
            assert not missing, (precision, seed)
        near_at_all += seen
    assert near_at_all or kind in ("still", "passing", "copies")


def test_the_reference_knows_what_touches():
    """A unit box that comes down onto the middle of a sheet of 4 x 4 quads, and stops short or touches."""
    sheet, box = _near.mesh("sheets"), _near.mesh("box")
    for end, down in ((0.51, True), (0.52, False)):
        poses = [np.array([[0.25, 0.25, z]]) for z in (2.0, end)]
        q = IDENTITY[None]
        made = _near.scene_of("drop", [sheet, box], [0], [1], (poses[0], q, poses[1], q), resting_world(1))
        a, b = reference.near_faces(sheet, box, Near(cpu(), made).screw(0), 1e-9)
        top = sheet.face_planes[:, 2] > 0.5
        assert a[top].sum() == (9 if down else 0) and not a[~top].any()
        assert b.sum() == (5 if down else 0), "the bottom, and the sides by their lower edge"


def test_distance_of_triangles():
    """Against the least distance over a fine grid of points of both."""
    rng = np.random.default_rng(5)
    one, two = rng.normal(size=(2, 40, 3, 3))
    two += rng.uniform(0, 2, (40, 1, 1))
    u = np.array([(i, j, 30 - i - j) for i in range(31) for j in range(31 - i)]) / 30
    best = np.array(
        [
            np.linalg.norm((u @ a)[:, None] - (u @ b)[None], axis=2).min()
            for a, b in zip(one, two, strict=True)
        ]
    )
    got = reference.triangle_distance(one, two)
    assert (got <= best + 1e-12).all() and (best - got < 0.2).all()
    assert (got == 0).any() and (got > 0.1).any()


@pytest.mark.parametrize("kind", ["impact", "axis", "drill"])
def test_the_list_hangs_together(backend, kind):
    """Both sides or none, patches of the right mesh, no face twice."""
    near = Near(backend, _near.scene(kind, 16))
    listed = near.features()
    assert not listed.need and not listed.spilled and not len(listed.no_room)
    seen = {}
    for side, part, bits in listed.rows.tolist():
        tree = near.trees[near.shapes[side >> 1, side & 1]]
        assert tree[2] <= part < tree[2] - (-tree[0] // 32)
        bits &= 0xFFFFFFFF
        assert bits and not bits & seen.get((side, part), 0)
        seen[side, part] = bits | seen.get((side, part), 0)
    sides = {side for side, _ in seen}
    assert sides == {s ^ 1 for s in sides} and sides


def test_few_others(backend):
    """A small box on ground of ever more faces: what is listed stays what is near it."""
    counts = []
    for n in (8, 32, 64):
        ground, box = _near.terrain(n, steep=0.0), _near.block(2, (0.1, 0.1, 0.1))
        start, end = np.array([[0.3, 0.2, 0.5]]), np.array([[0.5, 0.1, 0.0]])
        q = IDENTITY[None]
        made = _near.scene_of("on", [ground, box], [0], [1], (start, q, end, q), resting_world(1))
        near = Near(backend, made)
        listed = near.features()
        counts.append(count(near, listed, 0, 0))
        assert 0 < counts[-1] <= max(128, 0.1 * ground.n_faces)
    assert counts[-1] <= 512, counts


@pytest.mark.parametrize("kind", ["impact", "drill"])
def test_too_little_room(backend, kind):
    """The need is reported, the pair is marked and lists nothing; with that room the list is the same."""
    near = Near(backend, _near.scene(kind, 12))
    whole = near.features()
    room, tries, rows, todo = 2, 0, [], np.arange(near.n)
    while len(todo):
        part = near.features(room=room, todo=todo)
        assert not part.spilled
        assert not set(part.rows[:, 0] >> 1) & set(part.no_room.tolist())
        assert (part.need > room) == bool(len(part.no_room))
        rows += part.table()
        todo, room, tries = part.no_room, part.need, tries + 1
    assert tries > 2 and sorted(rows) == whole.table()


def test_too_little_capacity(backend):
    """Everything is counted, nothing written beyond."""
    near = Near(backend, _near.scene("axis", 12))
    whole = near.features()
    for capacity in (0, 1, whole.count - 1, whole.count):
        some = near.features(capacity=capacity)
        assert some.count == whole.count and not some.spilled
        assert set(some.table()) <= set(whole.table()) and len(some.rows) == capacity


@pytest.mark.parametrize("groups", [1, 3])
def test_groups_of_any_number(backend, groups):
    near = Near(backend, _near.scene("impact", 12))
    assert near.features(groups=groups).table() == near.features().table()
    some = near.features(groups=groups, todo=[7, 2, 2])
    assert {int(r) >> 1 for r in some.rows[:, 0]} <= {2, 7}


@pytest.mark.parametrize("kind", ["impact", "axis", "copies"])
def test_groups_that_share_a_pair(backend, kind):
    """Work-items of a group, in any order, list the same."""
    args = kind, 4, 1, ("block", "terrain", "ribbon33")
    many = near_of(sharing(backend), args)
    listed = many.features()
    assert not listed.spilled
    assert listed.table() == near_of(cpu(), args).features().table()
    tight = many.features(room=8)
    assert not tight.spilled and set(tight.table()) <= set(listed.table())


def test_backends_list_the_same(backend):
    for kind in _near.MOTIONS:
        args = kind, 8, 3, tuple(_near.MESHES)
        for precision in ("mixed", "double", "single"):
            listed, wanted = (near_of(b, args, precision).features().table() for b in (backend, cpu()))
            assert listed == wanted, (kind, precision)


def test_invalid_pairs_list_nothing(backend):
    near = Near(backend, _near.scene("impact", 4))
    listed = near.features(state=[INVALID, 0, INVALID, 0])
    assert {int(r) >> 1 for r in listed.rows[:, 0]} <= {1, 3}
