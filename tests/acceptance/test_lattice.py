"""A sample of `python -m tests.acceptance.lattice`: whole-number shapes, judged by whole numbers."""

import dataclasses

import mpmath as mp
import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import lattice
from tests.acceptance import lattice_scenes as scenes
from tests.oracle import lattice_compare, lattice_shifts
from tests.oracle import lattice_shapes as shapes
from tests.oracle.extended import DIGITS, logarithm, pose

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tuning": gc.Tuning(features="near")},
        {"tuning": gc.Tuning(candidates="raster"), "precision": "double"},
    ],
)
@pytest.mark.parametrize("block", range(2))
def test_translations_have_the_contacts_of_whole_numbers(block, options, backend):
    contacts = 0
    for seed in range(3 * block, 3 * block + 3):
        some, bad = lattice.judged_shifts(seed, 12, backend.kind, **options)
        assert not bad, bad[:3]
        contacts += some
    assert contacts > 100


@pytest.mark.backends("cpu")
def test_screws_have_the_contacts_of_the_brute_force(backend):
    contacts, notes = lattice.judged_screws(3, 15, backend.kind)
    assert not notes, notes
    assert contacts > 10


@pytest.mark.parametrize("seed", [1, 2])
def test_dense_shapes_have_the_same_bits_in_every_way(seed, backend):
    contacts, bad = lattice.judged_dense(seed, 5, backend.kind, width=3)
    assert not bad, bad
    assert contacts > 30


@pytest.mark.parametrize("seed", [0, 1])  # of one size, and of sizes from 2^-30 to 2^30
@pytest.mark.backends("cpu")
def test_crowds_have_the_same_contacts_in_every_way(seed, backend):
    contacts, bad = lattice.judged_crowd(seed, 15, backend.kind)
    assert not bad, bad
    assert contacts > 20


@pytest.mark.parametrize("seed", [0, 4, 3, 7, 19, 23])
def test_cells_that_touch_do_not_overlap(seed, backend):
    """Where cells meet in an edge or a corner no vertex can be moved inwards: one in a hundred pairs that
    only touched there was told to overlap. Where all edges of one ended in planes of the other, one in 300
    that overlapped was not: in the blocks 3, 19 and 23."""
    deep, bad = lattice.judged_overlaps(seed, 40 if backend.kind == "reference" else 300, backend.kind)
    assert not bad, bad
    assert deep > (3 if backend.kind == "reference" else 20)


@pytest.mark.parametrize("a, b, place, deep", [
    ([(0, 1, 1)], [(0, 1, 0), (1, 0, 0)], (-2, 0, 1), False),  # an edge of four faces lies along an edge
    ([(0, 0, 1), (1, 0, 0)], [(1, 0, 1), (1, 1, 0)], (-2, 1, -2), False),
    ([(1, 0, 0), (1, 1, 1)], [(0, 1, 0), (1, 0, 0)], (1, -2, 2), False),
    # one of two cells that hang together by a corner is one of the other's
    ([(0, 0, 0), (1, 1, 1)], [(0, 1, 1), (1, 0, 0), (1, 1, 1)], (0, 2, 2), True),
    ([(0, 0, 0), (0, 1, 1), (1, 1, 0)], [(1, 0, 0), (1, 1, 0)], (-2, 0, 2), True),
    ([(0, 0, 0), (1, 1, 0)], [(0, 0, 0)], (2, 2, 0), True),
    ([(0, 0, 0), (1, 1, 0)], [(0, 0, 0)], (2, 0, 0), False),
    # all edges of each end in planes of the other, and the corners that speak are outside
    ([(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)], [(0, 0, 0), (0, 0, 1), (1, 1, 0)], (2, 2, 2), True),
    ([(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)], [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0)],
     (2, 0, -2), True),
    ([(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)], [(0, 0, 0), (0, 0, 1), (1, 1, 0)], (2, 2, 4), False),
])  # fmt: skip
def test_solids_that_meet_in_an_edge_or_a_corner(a, b, place, deep, backend):
    """Parts of one component that only such an edge or corner holds together are asked one by one."""
    meshes = [shapes.quads("cells", shapes.cell_squares(cells)).mesh() for cells in (a, b)]
    for scale in (1.0, 2.0**-30, 0.1):
        rest = gc.Poses.from_quat_wxyz(np.array([[0, 0, 0], place]) * scale, [[1, 0, 0, 0]] * 2)
        bodies = gc.Bodies([m.scaled(scale) for m in meshes], [0, 1], rest, rest)
        for pair in ([0, 1], [1, 0]):
            status = gc.collide(bodies, [pair], backend=backend.kind).to_numpy().status[0]
            assert (status == gc.Status.INITIAL_OVERLAP) == deep, (scale, pair)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family, pairs",
    [("shifts", 20_000), ("screws", 1000), ("dense", 500), ("crowds", 500), ("overlaps", 20_000)],
)
@pytest.mark.backends("cpu")
def test_many(family, pairs, backend):
    assert not lattice.main(["--family", family, "--pairs", str(pairs), "--seed", "1000"])


FAULTS = {  # what is done to a sound result, and what is said of it
    "a contact is lost": ("missed", lambda f, k: {n: np.delete(v, k, 0) for n, v in f.items()}),
    "one is told twice": ("told twice", lambda f, k: {n: np.insert(v, k, v[k], 0) for n, v in f.items()}),
    "a late one": ("invented", lambda f, k: changed(f, "time", k, lambda x: x + 1e-8)),
    "one that lasts too long": ("invented", lambda f, k: changed(f, "time_end", k, lambda x: x + 1e-6)),
    "another feature": ("missed", lambda f, k: changed(f, "feature_a", k, lambda x: x + 1)),
    "another kind": ("missed", lambda f, k: changed(f, "kind", k, lambda x: (x + 1) % 3)),
    "less proper": ("properness", lambda f, k: changed(f, "properness", k, lambda x: x - 1e-6)),
    "elsewhere": ("place", lambda f, k: changed(f, "local_a", k, lambda x: x + 1e-6)),
    "faster": ("normal speed", lambda f, k: changed(f, "normal_speed", k, lambda x: x + 1e-3)),
}


def changed(fields, name, k, change):
    column = fields[name].copy()
    column[k] = change(column[k])
    return {**fields, name: column}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.backends("cpu")
def test_the_judge_notices(fault, backend):
    word, spoil = FAULTS[fault]
    s = scenes.shifts(1, 15)
    atoms = lattice_shifts.contacts(s.a, s.b, s.turn, s.p, s.d)
    found = gc.collide(s.bodies, s.pairs, min_properness=-1.0, backend="cpu").to_numpy()
    fields = {k: getattr(found, k) for k in (*lattice.LOCAL, "pair")}
    assert not lattice_compare.differences(dataclasses.make_dataclass("Found", fields)(**fields), atoms)
    sure = [k for k in range(len(found)) if not found.sustained[k]]
    for k in (sure[0], sure[len(sure) // 2]):
        spoilt = spoil(fields, k)
        bad = lattice_compare.differences(dataclasses.make_dataclass("Found", spoilt)(**spoilt), atoms)
        assert any(word in text for _, text in bad), bad


@pytest.mark.parametrize("short", [1e-2, 1e-4, 1e-6, 1e-12])
def test_fifty_digits_hold_up_to_a_half_turn(short):
    """mpmath's logarithm loses pi near a half turn: pi - 1e-6 was judged as a turn by -1e-6."""
    half = (np.pi - short) / 2
    with mp.workdps(DIGITS):
        motion = pose([1.0, -2.0, 3.0], [np.cos(half), 0.6 * np.sin(half), 0.0, 0.8 * np.sin(half)])
        log = logarithm(motion)
        assert mp.mnorm(mp.expm(log) - motion) < 1e-40
        assert abs(float(mp.sqrt(log[2, 1] ** 2 + log[0, 2] ** 2 + log[1, 0] ** 2)) - 2 * half) < 1e-12
