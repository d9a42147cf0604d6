"""gc.find_pairs and gc.BroadPhase: every pair in contact is found, limits and errors say what is wrong."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from tests.broad_phase._scenes import MESHES, at, moving
from tests.support.tuning import keywords

pytestmark = pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")

ONE = [1.0, 0, 0, 0]


def every_pair(n):
    return np.stack(np.triu_indices(n, 1), axis=1)


def touched(bodies, backend, precision="mixed"):
    """Rows of all pairs that collide finds contacts for, whatever their properness."""
    rows = every_pair(len(bodies))
    found = gc.collide(
        bodies,
        rows,
        backend=backend.name,
        min_properness=-1.0,
        precision=precision,
        tuning=gc.Tuning(filters="none"),
    ).to_numpy()
    return set(map(tuple, rows[found.status == gc.Status.HIT].tolist()))


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


# ---- the truth


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32), turn=st.sampled_from([0.0, 1e-8, 0.3, 1.5, np.pi]),
    way=st.sampled_from([0.0, 1.0, 8.0]), still=st.sampled_from([0.0, 0.5]), far=st.sampled_from([0.0, 1e5]),
)  # fmt: skip
def test_all_contacts_are_among_the_pairs(backend, seed, turn, way, still, far):
    """Scenes of 40 bodies with turns up to half round and steps of many sizes, also far from the origin."""
    bodies = moving(seed, 40, side=12.0, turn=turn, way=way, still=still, far=far)
    hits = touched(bodies, backend)
    for precision in ("mixed", "single"):
        pairs = gc.find_pairs(bodies, backend=backend.name, precision=precision, still_pairs=True)
        assert hits <= as_set(pairs)
    assert hits <= as_set(gc.find_pairs(bodies, backend="reference", still_pairs=True))


def test_it_leaves_out_most_pairs(backend):
    """Of 79,800 pairs of boxes 243 pass and 110 touch with turns to 0.2, 413 and 113 with turns to 1."""
    for turn, most in ((0.0, 230), (0.2, 260), (1.0, 430)):
        bodies = moving(1, 400, turn=turn, way=0.5, meshes=MESHES[:1])
        assert len(gc.find_pairs(bodies, backend=backend.name)) < most


@pytest.mark.parametrize("axis", [[0, 0, 1], [0.6, 0.8, 0]])
def test_turns_near_half_round(backend, axis):
    """Where two screws fit, rounding chooses; both bodies turn, or one stands still."""
    rng = np.random.default_rng(5)
    for off in (0.0, 1e-12, 1e-8, 1e-4):
        half = 0.5 * (np.pi - off)
        q = [np.cos(half), *(np.sin(half) * np.array(axis, float))]
        place = rng.uniform(-2, 2, (24, 3))
        rows = [
            (p, ONE, p + rng.uniform(-3, 3, 3), q) if k % 3 else (p, ONE, p, ONE) for k, p in enumerate(place)
        ]
        bodies = at(*rows)
        assert touched(bodies, backend) <= as_set(
            gc.find_pairs(bodies, backend=backend.name, still_pairs=True)
        )


def test_flush_faces_touch(backend):
    """A row of unit boxes that slide along each other, face to face, at 1e7 from the origin and at 1e-12."""
    for where, size in ((0.0, 1.0), (1e7, 1.0), (0.0, 1e-12)):
        p = size * np.array([[k, 0, 0] for k in range(10)]) + [where, 0, 0]
        end = p + size * np.array([[0, 0.25 * (k % 2), 0] for k in range(10)])
        poses = [gc.Poses.from_quat_wxyz(x, [ONE] * 10) for x in (p, end)]
        pairs = gc.find_pairs(gc.Bodies(gc.shapes.box((size,) * 3), None, *poses), backend=backend.name)
        assert as_set(pairs) == {(k, k + 1) for k in range(9)}


# ---- arguments


def test_off_is_all_that_the_rules_allow(backend):
    bodies = moving(2, 30, still=0.5)
    still = (bodies.start.position == bodies.end.position).all(axis=1)
    rows = every_pair(30)
    both = still[rows].all(axis=1)
    assert np.array_equal(
        gc.find_pairs(bodies, tuning=gc.Tuning(broad_phase="off"), backend=backend.name), rows[~both]
    )
    got = gc.find_pairs(bodies, tuning=gc.Tuning(broad_phase="off"), still_pairs=True, backend=backend.name)
    assert got.dtype == np.int32 and np.array_equal(got, rows)


def test_masks_are_32_bits(backend):
    """The highest bit is a bit like others, and -1 is all of them."""
    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 3)
    for group, mask, want in (
        ([2**31] * 3, [2**31] * 3, 3), ([2**31, 1, 1], [-1, -1, -1], 3), ([1, 2, 4], [6, 1, 0], 1),
        ([0, 1, 1], [-1, -1, -1], 1), ([2**32 - 1] * 3, [1, 1, 0], 1),
    ):  # fmt: skip
        pairs = gc.find_pairs(bodies, group=group, mask=mask, backend=backend.name)
        assert len(pairs) == want and as_set(pairs) <= {(0, 1), (0, 2), (1, 2)}
    assert as_set(gc.find_pairs(bodies, group=[1, 2, 4], mask=[6, 1, 0], backend=backend.name)) == {(0, 1)}


def test_still_means_to_the_bit(backend):
    tilted = np.array([0.5, 0.5, -0.5, 0.5])
    bodies = at(
        ([0, 0, 0], tilted, [0, 0, 0], -tilted), ([0, 0, 0], ONE, [0, 0, 0], ONE),
        ([0, 0, 0], ONE, [1e-300, 0, 0], ONE),
    )  # fmt: skip
    assert gc.find_pairs(bodies, backend=backend.name).tolist() == [[0, 2], [1, 2]]
    assert len(gc.find_pairs(bodies, backend=backend.name, still_pairs=True)) == 3


BAD = [
    ("world", [0, 1], ValueError, "world: expected one number per body, 3, got 2"),
    ("world", [0, 1, -2], ValueError, r"world: expected -1 \(every world\) or a number from 0 on, .* got -2"),
    ("world", [0, 1, 2**62], ValueError, r"world: .* below 2\*\*62, got 4611686018427387904"),
    ("world", [True, False, True], TypeError, "world: .* got bool; .* worlds 0 and 1"),
    ("world", np.array([0, 1, None]), TypeError, "world: .* got object; pass numpy.asarray"),
    ("world", [0, 1, None], TypeError, "world: expected an array of numbers, got list .*; replace"),
    ("group", [1.0, 2.0, 4.0], TypeError, r"group: .* got float64; pass numpy.asarray\(group, dtype=int\)"),
    ("group", [True, False, True], TypeError, "group: .* got bool; .* lowest bit for True"),
    ("group", [1, 2, -(2**40)], ValueError, "group: expected 32 bits a body, .* 4294967295 .* got -"),
    ("ignore", np.eye(3, dtype=bool), TypeError, "ignore: .* got bool; numpy.argwhere"),
    ("world", [0.0, 1.0, 1.0], TypeError, "world: expected integers"),
    ("world", [[0, 1, 2]], ValueError, r"world: expected shape \(n,\)"),
    ("world", "all", TypeError, "world"),
    ("group", [1, 2], ValueError, "group: expected one number per body"),
    ("group", [1, 2, 2**32], ValueError, "group"),
    ("group", 1, ValueError, "group"),
    ("mask", [1, 2, -(2**31) - 1], ValueError, "mask"),
    ("mask", [True, False, True], TypeError, "mask: expected integers, got bool; .* of False in no pair"),
    ("ignore", [[0, 3]], ValueError, "ignore: .* got 3"),
    ("ignore", [[1, 1]], ValueError, "ignore: expected two different bodies"),
    ("ignore", [0, 1], ValueError, "ignore: expected shape"),
    ("ignore", np.zeros((2, 3), int), ValueError, "ignore: expected shape"),
    ("ignore", [[0.5, 1.0]], TypeError, "ignore: expected integers"),
    ("still_pairs", 1, TypeError, "still_pairs: expected a bool"),
    ("broad_phase", "grid", ValueError, "broad_phase: expected one of 'hierarchy', 'off'"),
    ("broad_phase", None, TypeError, "broad_phase"),
    ("precision", "half", ValueError, "precision"),
    ("backend", "gpu", ValueError, "backend"),
    ("max_bytes", 0, ValueError, "max_bytes"),
    ("max_bytes", 1.5, TypeError, "max_bytes"),
]


@pytest.mark.parametrize("name, value, error, match", BAD, ids=[f"{b[0]}-{k}" for k, b in enumerate(BAD)])
def test_bad_arguments(name, value, error, match):
    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 3)
    with pytest.raises(error, match=match):
        gc.find_pairs(bodies, **keywords(**{name: value}))
    with pytest.raises(error, match=match):
        gc.BroadPhase(3, **keywords(**{name: value}))


def test_bad_bodies():
    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 3)
    with pytest.raises(TypeError, match="bodies: expected gpu_collide.Bodies, got list"):
        gc.find_pairs([bodies])
    with pytest.raises(ValueError, match="bodies: expected 4 bodies, got 3"):
        gc.BroadPhase(4).find_pairs(bodies)
    with pytest.raises(TypeError, match="bodies"):
        gc.BroadPhase(3).find_pairs(None)
    for n, error in ((-1, ValueError), (2.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="n_bodies"):
            gc.BroadPhase(n)


def test_empty_lists_are_fine(backend):
    bodies = at(([0, 0, 0], ONE, [1, 0, 0], ONE))
    none = gc.Bodies(MESHES, [], bodies.start[:0], bodies.end[:0])
    got = gc.find_pairs(none, world=[], group=[], mask=[], ignore=[], backend=backend.name)
    assert got.shape == (0, 2) and got.dtype == np.int32
    assert gc.find_pairs(none, backend="reference").shape == (0, 2)
    assert gc.find_pairs(bodies, ignore=np.zeros((0, 2), int), backend=backend.name).shape == (0, 2)


# ---- trouble in the data


def test_invalid_bodies_are_named_once(backend):
    position = np.zeros((9, 3))
    position[[4, 7]] = np.inf
    poses = gc.Poses.from_quat_wxyz(position, [ONE] * 9)
    moved = gc.Poses.from_quat_wxyz(np.ones((9, 3)), [ONE] * 9)
    bodies = gc.Bodies(gc.shapes.box(), None, poses, moved)
    for name in (backend.name, "reference"):
        with pytest.warns(RuntimeWarning, match="2 bodies have an invalid pose .* first: 4, 7") as caught:
            pairs = gc.find_pairs(bodies, backend=name)
        assert len(caught) == 1 and caught[0].filename == __file__
        assert len(pairs) == 7 * 6 / 2 and not np.isin(pairs, [4, 7]).any()


def test_too_many_pairs_say_how_many_and_what_to_do(backend):
    n = 1500
    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * n)
    pairs = n * (n - 1) // 2
    got = pairs if backend.kind == "cuda" else "more than .*"  # a GPU counts so few at once
    with pytest.raises(gc.errors.MemoryLimitError, match=f"max_bytes: .* {got} pairs of 1500 bodies"):
        gc.find_pairs(bodies, backend=backend.name, max_bytes=4 << 20)
    with pytest.raises(gc.errors.MemoryLimitError, match=f" {pairs} pairs .* need .* bytes, got .*; pass"):
        gc.find_pairs(bodies, backend=backend.name, max_bytes=14 << 20)
    with pytest.raises(gc.errors.MemoryLimitError, match="the tree of 1500 bodies"):
        gc.find_pairs(bodies, backend=backend.name, max_bytes=1000)
    assert len(gc.find_pairs(bodies, backend=backend.name, max_bytes=64 << 20)) == pairs
    with pytest.raises(gc.errors.MemoryLimitError, match="pairs of 300 bodies"):
        gc.find_pairs(at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 300), backend="reference", max_bytes=1000)


def test_blocks_do_not_show(backend, monkeypatch):
    from gpu_collide.queries import pairs as pairs_module

    bodies = moving(3, 200, side=6.0)
    whole = gc.find_pairs(bodies, backend=backend.name)
    monkeypatch.setattr(pairs_module, "_BLOCK", 100)
    assert len(whole) > 1000 and np.array_equal(gc.find_pairs(bodies, backend=backend.name), whole)


# ---- BroadPhase


def steps(n, count, seed=0):
    """Bodies step by step, each step's start the end of the one before."""
    rng = np.random.default_rng(seed)
    poses = moving(seed, n, still=0.2).start
    for _ in range(count):
        end = gc.Poses.from_quat_wxyz(poses.position + rng.normal(size=(n, 3)), poses.quat_wxyz)
        yield gc.Bodies(MESHES[0], None, poses, end)
        poses = end


def test_kept_tree_answers_like_a_new_one(backend):
    world = np.random.default_rng(4).integers(-1, 3, 300)
    phase = gc.BroadPhase(300, world=world, backend=backend.name)
    assert phase.report is None
    refitted = []
    for bodies in steps(300, 6):
        got = phase.find_pairs(bodies)
        assert np.array_equal(got, gc.find_pairs(bodies, world=world, backend=backend.name))
        refitted.append(phase.report.refitted)
        assert phase.report.pairs == len(got) and phase.report.bodies == 300 and phase.report.tests > 0
    assert not refitted[0] and refitted[1]


def test_worn_tree_is_built_anew(backend):
    """When all bodies have changed places, searching the old order is slow: the step after builds again."""
    phase = gc.BroadPhase(500, backend=backend.name)
    first, second = moving(6, 500), moving(7, 500)
    phase.find_pairs(first)
    fresh = phase.report.tests
    phase.find_pairs(second)
    assert phase.report.refitted and phase.report.tests > 1.5 * fresh
    assert np.array_equal(phase.find_pairs(second), gc.find_pairs(second, backend=backend.name))
    assert not phase.report.refitted and phase.report.tests < 1.5 * fresh


def test_tree_is_built_anew_when_other_bodies_are_valid(backend):
    bodies = moving(8, 50)
    p = bodies.start.position.copy()
    p[11] = np.nan
    broken = gc.Bodies(
        bodies.meshes, bodies.shape, gc.Poses.from_quat_wxyz(p, bodies.start.quat_wxyz), bodies.end
    )
    phase = gc.BroadPhase(50, backend=backend.name)
    for step in (bodies, broken, broken, bodies):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            got, want = phase.find_pairs(step), gc.find_pairs(step, backend=backend.name)
        assert np.array_equal(got, want)
    assert not phase.report.refitted


def test_report_of_possible_pairs(backend):
    world = [0, 0, 0, 1, 1, -1]
    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 6)
    phase = gc.BroadPhase(6, world=world, backend=backend.name)
    assert len(phase.find_pairs(bodies)) == phase.report.possible == 3 + 1 + 5
    assert phase.report.seconds_build > 0 and phase.report.seconds_search > 0


def test_more_bytes_than_any_machine_has(backend):
    bodies = moving(9, 20, side=4.0)
    want = gc.find_pairs(bodies, backend=backend.name)
    for huge in (2**63, 2**80, 2**200):
        assert np.array_equal(gc.find_pairs(bodies, backend=backend.name, max_bytes=huge), want)
        found = gc.collide(
            bodies, backend=backend.name, max_bytes=huge, tuning=gc.Tuning(features="near")
        ).to_numpy()
        assert np.array_equal(found.pairs, want)


def test_collide_warns_once_of_very_many_pairs(backend, monkeypatch):
    from gpu_collide.queries import pairs as pairs_module

    bodies = at(*[([0, 0, 0], ONE, [1, 0, 0], ONE)] * 4)
    for name in (backend.name, "reference"):
        monkeypatch.setattr(pairs_module, "MANY_PAIRS", 5)
        with pytest.warns(RuntimeWarning, match="found 6 pairs of 4 bodies.* 150 bytes.*world") as caught:
            found = gc.collide(bodies, backend=name, tuning=gc.Tuning(filters="none"), max_bytes=2 << 20)
        assert len(caught) == 1 and caught[0].filename == __file__ and found.n_pairs == 6
        monkeypatch.setattr(pairs_module, "MANY_PAIRS", 6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collide(bodies, backend=name, tuning=gc.Tuning(filters="none"))
            gc.find_pairs(bodies, backend=name)


def test_repr_of_a_broad_phase(backend):
    phase = gc.BroadPhase(20, backend=backend.name)
    assert repr(phase) == f"BroadPhase(20 bodies, 'hierarchy', {backend.kind}, no step yet)"
    bodies = moving(9, 20, side=4.0)
    found = len(phase.find_pairs(bodies))
    assert repr(phase).endswith(f", last step: {found} of 190 pairs)")
    phase.find_pairs(bodies)
    assert repr(phase).endswith(" of 190 pairs, tree refitted)")


def test_report_has_the_attributes_that_are_documented(backend):
    from dataclasses import fields

    from gpu_collide.queries.pairs import PairReport

    phase = gc.BroadPhase(20, backend=backend.name)
    phase.find_pairs(moving(9, 20))
    assert isinstance(phase.report, PairReport)
    assert all(f"`{field.name}`" in gc.BroadPhase.__doc__ for field in fields(PairReport))


@pytest.mark.parametrize("backend_name", ["auto", "reference"])
def test_more_bodies_than_a_tree_holds(backend_name):
    for n in (2**26 + 1, 2**40, 2**80):
        with pytest.raises(ValueError, match=f"n_bodies: expected at most 67108864 bodies, .* got {n}; part"):
            gc.BroadPhase(n, backend=backend_name)
    assert gc.BroadPhase(2**26, backend=backend_name).rules.n == 2**26
