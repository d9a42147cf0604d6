"""Contacts of worlds of bodies: the broad phase, the filters and the near features leave out no contact.

The second opinion is ``broad_phase="off", filters="none", features="all"``: all pairs that the rules allow,
on whole meshes. Contacts are compared bit for bit, by the numbers of the bodies.
"""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.pipeline.narrow_phase.plan import FILTERS as ALL_FILTERS
from gpu_collide.scenes import worlds
from tests.support import worlds as w
from tests.support.tuning import keywords

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

EVERYTHING = {"tuning": gc.Tuning(broad_phase="off", filters="none", features="all")}
FILTERS = ("none", "auto", *((name,) for name in ALL_FILTERS), tuple(ALL_FILTERS)[::-1])


def scene(name, seed=0):
    """Bodies and rules."""
    if name == "cars":
        bodies, world = worlds(4, 12, seed)
        return bodies, {"world": world}
    made = {
        "drift": lambda: w.drift(seed, 60, meshes=w.SHAPES),
        "whirl": lambda: w.drift(seed, 40, turn=3.1, meshes=w.SHAPES),
        "half_turns": lambda: w.half_turns(seed, 30),
        "hills": lambda: w.with_terrain(w.drift(seed, 40, side=12.0, height=2.0, way=1.5, meshes=w.SHAPES)),
        "sheets": lambda: w.drift(seed, 50, meshes=(*w.SMALL, w.SHEET)),
    }
    bodies = made[name]()
    return bodies, w.some_rules(seed, len(bodies))


SCENES = ("cars", "drift", "whirl", "half_turns", "hills", "sheets")


@pytest.mark.parametrize("name", SCENES)
def test_nothing_left_out_is_a_contact(name, backend):
    """Every filter alone, all and none, near features and whole meshes, with and without the hierarchy."""
    for seed in range(2):
        bodies, rules = scene(name, seed)
        truth = gc.collide(bodies, backend="cpu", **EVERYTHING, **rules)
        assert np.array_equal(truth.pairs, w.allowed(bodies, **rules))
        assert len(truth) > 10, "the scene has to have contacts"
        for filters in FILTERS:
            for features in ("near", "all"):
                found = gc.collide(
                    bodies,
                    tuning=gc.Tuning(filters=filters, features=features),
                    backend=backend.kind,
                    **rules,
                ).to_numpy()
                w.same_contacts(found, truth)
                assert found.n_pairs < truth.n_pairs
        by_hand = gc.collide(
            bodies, gc.find_pairs(bodies, backend=backend.kind, **rules), backend=backend.kind
        ).to_numpy()
        assert np.array_equal(by_hand.pairs, found.pairs)
        w.same_contacts(by_hand, truth)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 24),
    turn=st.sampled_from([0.0, 1e-9, 0.4, 2.0, np.pi]),
    way=st.sampled_from([0.0, 0.3, 2.0, 20.0]),
    still=st.sampled_from([0.0, 0.5]),
    rules=st.booleans(),
    filters=st.sampled_from(FILTERS),
)
def test_nothing_left_out_is_a_contact_at_random(seed, n, turn, way, still, rules, filters, backend):
    bodies = w.drift(seed, n, turn=turn, way=way, still=still)
    rules = w.some_rules(seed, n) if rules else {}
    truth = gc.collide(bodies, backend=backend.kind, **EVERYTHING, **rules).to_numpy()
    w.same_contacts(
        gc.collide(
            bodies, tuning=gc.Tuning(filters=filters, features="near"), backend=backend.kind, **rules
        ).to_numpy(),
        truth,
    )


@pytest.mark.parametrize("options", [
    {"check_start": True}, {"contacts": "first"}, {"min_properness": -1.0}, {"precision": "double"},
    {"precision": "single"}, {"candidates": "raster"},
    {"candidates": "pairs"},
], ids=lambda o: "-".join(map(str, *o.items())))  # fmt: skip
def test_with_every_other_option(options, backend):
    """The hierarchy and the filters may be used with all that `collide` could do before."""
    bodies, rules = scene("cars", 5)
    all_of_it = keywords(broad_phase="off", filters="none", features="all", **options)
    truth = gc.collide(bodies, backend=backend.kind, **rules, **all_of_it).to_numpy()
    found = gc.collide(bodies, backend=backend.kind, **rules, **keywords(**options)).to_numpy()
    assert w.same_contacts(found, truth) > 10


@pytest.mark.parametrize("refine", ["segments", "pixels"])
def test_approximate_modes_only_lose_what_is_false(refine, backend):
    """They see contacts of bodies that only come near; of bodies with an exact one, all are kept."""
    bodies, rules = scene("cars", 5)
    options = {"refine": refine, "backend": backend.kind}
    everything = gc.collide(bodies, **options, **EVERYTHING, **rules)
    found = gc.collide(bodies, **options, **rules)
    exact = gc.collide(bodies, backend=backend.kind, **rules).to_numpy()
    all_of, mine = w.by_pair(everything, everything.pairs), w.by_pair(found, found.pairs)
    assert len(found) > 10 and set(mine) <= set(all_of)
    assert set(w.by_pair(exact, exact.pairs)) & set(all_of) <= set(mine)
    assert all(np.array_equal(rows[f], all_of[pair][f]) for pair, rows in mine.items() for f in w.FIELDS)


def test_the_reference_makes_the_same_contacts():
    bodies, world = worlds(2, 4, 8, n_barriers=2)
    mine = gc.collide(bodies, world=world, backend="cpu")
    expected = gc.collide(bodies, world=world, backend="reference")
    assert len(mine) > 4
    assert sorted(w.rows_of(mine)) == sorted(w.rows_of(expected))


@pytest.mark.parametrize("rule", ["world", "group", "mask", "ignore", "still_pairs"])
def test_each_rule_alone_keeps_the_contacts_of_its_pairs(rule, backend):
    """With a rule there are the contacts without it, less those of the pairs that it forbids."""
    bodies = w.drift(11, 60, still=0.4)
    rules = {"still_pairs": True} if rule == "still_pairs" else {rule: w.some_rules(11, 60)[rule]}
    if rule in ("group", "mask"):  # one means nothing without the other
        rules = {"group": np.arange(60) % 3 + 1, "mask": np.full(60, 2), "still_pairs": rule == "mask"}
    pairs = np.stack(np.triu_indices(60, 1), axis=1)
    everyone = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    found = gc.collide(bodies, backend=backend.kind, **rules).to_numpy()
    allowed = {tuple(row) for row in w.allowed(bodies, **rules).tolist()}
    kept = [k for k, row in enumerate(everyone.pairs[everyone.pair].tolist()) if tuple(row) in allowed]
    if rule == "still_pairs":
        assert len(kept) == len(everyone)
    else:
        assert 0 < len(kept) < len(everyone)
    assert np.array_equal(found.pairs[found.pair], everyone.pairs[everyone.pair][kept])
    for name in w.FIELDS:
        assert np.array_equal(getattr(found, name), getattr(everyone, name)[kept])


def test_worlds_in_one_place_are_as_good_as_alone(backend):
    """Each world's contacts are those that it has when it is computed by itself."""
    bodies, world = worlds(5, 10, 3)
    together = gc.collide(bodies, world=world, backend=backend.kind).to_numpy()
    for k in range(5):
        mine = np.flatnonzero((world == k) | (world == -1))
        part = gc.Bodies(bodies.meshes, bodies.shape[mine], bodies.start[mine], bodies.end[mine])
        alone = gc.collide(part, world=world[mine], backend=backend.kind).to_numpy()
        rows = np.flatnonzero((world[together.pairs[together.pair]] == k).any(axis=1))
        assert np.array_equal(mine[alone.pairs[alone.pair]], together.pairs[together.pair][rows])
        for name in w.FIELDS:
            assert np.array_equal(getattr(alone, name), getattr(together, name)[rows])


def test_worlds_may_have_any_numbers(backend):
    """Only which are the same counts; and all in every world are one world."""
    bodies, world = worlds(4, 10, 4)
    pairs = gc.find_pairs(bodies, world=world, backend=backend.kind)
    for number in ([3, 2, 1, 0], [0, 10**6, 10**15, 2**61], [7, 5, 200, 6]):
        renamed = np.where(world < 0, -1, np.array(number)[world])
        assert np.array_equal(gc.find_pairs(bodies, world=renamed, backend=backend.kind), pairs)
    alone = np.full(len(bodies), -1)
    together = gc.find_pairs(bodies, backend=backend.kind)
    assert np.array_equal(gc.find_pairs(bodies, world=alone, backend=backend.kind), together)
    assert len(together) > len(pairs)


def permuted(bodies, order):
    return gc.Bodies(bodies.meshes, bodies.shape[order], bodies.start[order], bodies.end[order])


@pytest.mark.parametrize("name", ["cars", "drift", "whirl", "hills"])
def test_other_numbers_of_the_bodies_change_nothing_but_the_numbers(name, backend):
    """Exactly: which pairs there are, and all of the pairs whose A stays A. Where A and B change places, the
    same features meet, at times and places on the bodies that differ by rounding. (Places in the world are
    where A's own screw takes them, so they are other ones.)"""
    bodies, rules = scene(name, 2)
    order = np.random.default_rng(4).permutation(len(bodies))
    number = np.argsort(order)
    moved = {k: number[v] if k == "ignore" else v[order] for k, v in rules.items()}
    here, there = (
        gc.collide(b, backend=backend.kind, **r).to_numpy()
        for b, r in ((bodies, rules), (permuted(bodies, order), moved))
    )
    back = order[there.pairs]
    turned = back[:, 0] > back[:, 1]
    assert 0.2 < turned.mean() < 0.8
    assert {tuple(sorted(row)) for row in back.tolist()} == {tuple(row) for row in here.pairs.tolist()}
    mine, theirs = w.by_pair(here, here.pairs), w.by_pair(there, back)
    worst = []
    for (a, b), rows in mine.items():
        if (a, b) in theirs:
            assert all(np.array_equal(rows[f], theirs[a, b][f]) for f in w.FIELDS)
            continue
        assert w.keys(rows) == w.keys(theirs[b, a], swap=True)
        for x, y in zip(w.ordered(rows), w.ordered(theirs[b, a], swap=True), strict=True):
            names = (("time", "time"), ("local_a", "local_b"), ("local_b", "local_a"))
            worst.append([np.abs(x[one] - y[other]).max() for one, other in names])
    assert sum(len(rows) for rows in theirs.values()) == len(here)
    assert len(worst) > 2
    # measured: 3e-14 of the step, 6e-14 of the unit of length
    assert (np.max(worst, axis=0) < [1e-12, 1e-11, 1e-11]).all(), np.max(worst, axis=0)


@pytest.mark.parametrize("name", ["cars", "drift", "whirl"])
def test_far_from_the_origin(name, backend):
    """On places that float64 holds exactly, far away too, the screws are the same and so is the answer."""
    bodies, rules = scene(name, 6)
    bodies = w.shifted(bodies, 0.0)
    here = gc.collide(bodies, backend=backend.kind, **rules).to_numpy()
    for far in (2.0**10, 2.0**20):
        there = gc.collide(w.shifted(bodies, far), backend=backend.kind, **rules).to_numpy()
        assert np.array_equal(here.pairs[here.pair], there.pairs[there.pair])
        for field in ("kind", "feature_a", "feature_b", "sustained"):
            assert np.array_equal(getattr(here, field), getattr(there, field))
        # measured: 0 of times, 2e-10 of places at 2^20, whose own rounding is 1e-10
        assert np.abs(here.time - there.time).max() <= 1e-12
        assert np.abs(here.position + [far, -far, far] - there.position).max() <= 1e-15 * far + 1e-12
        truth = gc.collide(w.shifted(bodies, far), backend=backend.kind, **EVERYTHING, **rules).to_numpy()
        w.same_contacts(there, truth)


def test_invalid_poses_are_told_and_disturb_nobody(backend):
    bodies, rules = scene("cars", 7)
    bad = [3, 11, 40]
    start, end = (p.position.copy() for p in (bodies.start, bodies.end))
    start[3], end[11, 2], end[40] = np.nan, np.inf, -np.inf
    poses = (gc.Poses.from_quat_wxyz(x, p.quat_wxyz) for x, p in ((start, bodies.start), (end, bodies.end)))
    broken = gc.Bodies(bodies.meshes, bodies.shape, *poses)
    with pytest.warns(RuntimeWarning, match=r"3 bodies have an invalid pose.*3, 11, 40") as warned:
        found = gc.collide(broken, backend=backend.kind, **rules).to_numpy()
    assert len(warned) == 1
    assert np.array_equal(found.info["invalid_bodies"], bad)
    assert not np.isin(found.pairs, bad).any() and (found.status != gc.Status.INVALID_INPUT).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = gc.collide(bodies, backend=backend.kind, **rules).to_numpy()
    assert len(whole.info["invalid_bodies"]) == 0
    others = ~np.isin(whole.pairs[whole.pair], bad).any(axis=1)
    assert np.array_equal(found.time, whole.time[others])
    assert np.array_equal(found.pairs[found.pair], whole.pairs[whole.pair][others])


def test_a_step_in_which_nobody_moves(backend):
    bodies, rules = scene("drift", 9)
    parked = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, bodies.start)
    assert gc.find_pairs(parked, backend=backend.kind).shape == (0, 2)
    none = gc.collide(parked, backend=backend.kind, report=True).to_numpy()
    assert none.n_pairs == 0 and len(none) == 0 and none.pairs.shape == (0, 2)
    assert str(none.report)
    options = {"check_start": True, "backend": backend.kind}
    truth = gc.collide(parked, np.stack(np.triu_indices(len(parked), 1), axis=1), **options)
    found = gc.collide(parked, still_pairs=True, **options)
    assert (found.status == gc.Status.INITIAL_OVERLAP).sum() > 5
    w.same_contacts(found, truth)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_bodies(n, backend):
    bodies = w.drift(1, n, still=0.0)
    for kind in ("hierarchy", "off"):
        found = gc.collide(
            bodies,
            backend=backend.kind,
            tuning=gc.Tuning(broad_phase=kind),
            world=np.zeros(n, int),
            report=True,
        ).to_numpy()
        assert found.n_pairs <= n * (n - 1) // 2 and found.pairs.dtype == np.int32
        assert gc.find_pairs(bodies, backend=backend.kind, tuning=gc.Tuning(broad_phase=kind)).shape == (
            found.n_pairs,
            2,
        )


def test_steps_through_one_tree_are_as_fresh_searches(backend):
    """Refitted, then built anew as the bodies mix, with steps in which nobody moves and bodies are lost."""
    n, rng = 200, np.random.default_rng(2)
    first = w.drift(2, n, still=0.0)
    rules = w.some_rules(2, n)
    phase = gc.BroadPhase(n, backend=backend.kind, **rules)
    poses, refitted = first.start, []
    for step in range(16):
        place = poses.position + rng.normal(0, 0.1 if step < 10 else 3.0, (n, 3)) * (step % 5 != 3)
        place[::9] = np.nan if step == 7 else rng.uniform(-5, 5, (len(place[::9]), 3))
        after = gc.Poses.from_quat_wxyz(place, poses.quat_wxyz)
        bodies = gc.Bodies(first.meshes, first.shape, poses, after)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            pairs = phase.find_pairs(bodies)
            assert np.array_equal(pairs, gc.find_pairs(bodies, backend=backend.kind, **rules))
            truth = gc.collide(bodies, backend=backend.kind, **EVERYTHING, **rules).to_numpy()
        w.same_contacts(gc.collide(bodies, pairs, backend=backend.kind).to_numpy(), truth)
        refitted.append(phase.report.refitted)
        poses = after
    assert not refitted[0] and sum(refitted) > 8 and not all(refitted[1:])


@pytest.mark.parametrize("arguments, error, words", [
    ({"pairs": [[0, 1]], "world": [0, 0, 0]}, ValueError, "world: expected nothing when pairs are given"),
    ({"pairs": [[0, 1]], "group": [1, 1, 1]}, ValueError, "group: expected nothing when pairs are given"),
    ({"pairs": [[0, 1]], "mask": [1, 1, 1]}, ValueError, "mask: expected nothing when pairs are given"),
    ({"pairs": [[0, 1]], "ignore": [[0, 1]]}, ValueError, "ignore: expected nothing when pairs are given"),
    ({"pairs": [[0, 1]], "still_pairs": True}, ValueError, "still_pairs: expected nothing when pairs"),
    ({"world": [0, 0]}, ValueError, "world: expected one number per body, 3, got 2"),
    ({"world": [0, 0, -2]}, ValueError, "world"),
    ({"world": [0.0, 0.5, 1.0]}, TypeError, "world"),
    ({"world": [[0, 0, 0]]}, ValueError, "world"),
    ({"group": [1, 1]}, ValueError, "group: expected one number per body, 3, got 2"),
    ({"group": [1, 1, 1 << 32]}, ValueError, "group"),
    ({"mask": ["1", "1", "1"]}, TypeError, "mask"),
    ({"ignore": [[0, 3]]}, ValueError, "ignore"),
    ({"ignore": [[1, 1]]}, ValueError, "ignore: expected two different bodies"),
    ({"ignore": [0, 1]}, ValueError, "ignore"),
    ({"still_pairs": 1}, TypeError, "still_pairs: expected a bool, got int"),
    ({"broad_phase": "tree"}, ValueError, "broad_phase"),
    ({"broad_phase": None}, (TypeError, ValueError), "broad_phase"),
    ({"filters": "spheres"}, ValueError, r"filters.*one filter is \('spheres',\)"),
    ({"filters": ("spheres", "cones")}, ValueError, "filters.*cones"),
    ({"filters": ("boxes", "boxes")}, ValueError, "filters: expected each once, got 'boxes' twice"),
    ({"filters": 3}, TypeError, "filters"),
    ({"features": "far"}, ValueError, "features"),
    (
        {"features": "near", "candidates": "raster"},
        ValueError,
        "features: expected 'auto' or 'all' with candidates",
    ),
    ({"report": 1}, TypeError, "report: expected a bool, got int"),
])  # fmt: skip
def test_bad_arguments(arguments, error, words):
    bodies = w.drift(0, 3)
    with pytest.raises(error, match=words):
        gc.collide(bodies, **keywords(**arguments))


def test_the_pairs_of_a_result_are_its_own():
    bodies = w.drift(0, 3)
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    found = gc.collide(bodies, pairs, backend="cpu")
    pairs[:] = 0
    assert found.pairs.tolist() == [[0, 1], [1, 2]]
