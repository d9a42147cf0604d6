"""b04_pairs: which pairs pass, whichever way they are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.broad_phase import pairs as pipeline
from gpu_collide.pipeline.broad_phase.trees import BodyTree
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.reference.broad_phase import ReferenceSearch
from gpu_collide.reference.broad_phase import b04_pairs as reference
from gpu_collide.reference.broad_phase.b01_bounds import bounds_of
from tests.broad_phase._scenes import at, moving, nearest_centres, radii_of

ONE = [1.0, 0, 0, 0]
TIMES = np.linspace(0, 1, 101)


def search(backend, bodies, precision="mixed", tree=None, broad_phase="hierarchy", **rules):
    rules = check_rules(len(bodies), **rules)
    run = Launcher(backend, precision, 1 << 30)
    return pipeline.search(run, bodies, rules, everything=broad_phase == "off", tree=tree)


def joined(found, limit=1 << 24):
    rows = np.concatenate([np.zeros((0, 2), np.int32), *found.blocks(limit)])
    assert rows.dtype == np.int32 and len(rows) == found.total
    return rows


def one_by_one(found):
    """The same decisions without the tree: every body's row through b04_row."""
    rows = [found.row(int(body)) for body in np.sort(found.tree.order_host)]
    return np.concatenate([np.zeros((0, 2), np.int32), *rows])


def all_pairs(n):
    return np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32)


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


# ---- the bound


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32), turn=st.sampled_from([1e-6, 0.1, 0.8, 1.6, 2.5, np.pi]),
    way=st.sampled_from([0.0, 0.3, 3.0, 20.0]), side=st.floats(1, 60), still=st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_no_meeting_of_balls_is_missed(seed, turn, way, side, still):
    """The true path of a centre, seen from the other body, against what may_meet says of moving bodies."""
    bodies = moving(seed, 60, side=side, turn=turn, way=way, still=still)
    rows = all_pairs(60)
    a, b = rows.T
    meet = nearest_centres(bodies, a, b, TIMES) <= radii_of(bodies)[a] + radii_of(bodies)[b]
    bounds = bounds_of(bodies)
    judged = ~(bounds.still[a] | bounds.still[b])
    judged &= np.maximum(bounds.angle[a], bounds.angle[b]) > 1e-9  # else their boxes must meet as well
    assert reference.may_meet(bounds, a, b)[meet & judged].all()


@pytest.mark.parametrize("alpha", [0.2, 1.0, 2.5])
def test_the_bound_is_met_by_true_motions(alpha):
    """Two bodies that turn alike in their places: half-way they are seen at cos(alpha/2) of their distance,
    which is what the bound allows when nothing turns between them."""
    turned = [np.cos(alpha / 2), 0, 0, np.sin(alpha / 2)]
    bodies = at(([0, 0, 0], ONE, [0, 0, 0], turned), ([7, 0, 0], ONE, [7, 0, 0], turned))
    near = nearest_centres(bodies, np.array([0]), np.array([1]), [0.5])[0]
    assert near == pytest.approx(7 * np.cos(alpha / 2), rel=1e-12)
    assert reference.reach(near, 0.0, alpha, 0.0) == pytest.approx(7, rel=1e-8)


def test_arc_leaves_its_chord_most_in_the_middle():
    """What the proof takes for granted: at equal times, by (1 - cos(theta/2)) radii."""
    s = np.linspace(-0.5, 0.5, 2001)
    for theta in np.linspace(0.01, np.pi, 50):
        sine, cosine = np.sin(theta / 2), np.cos(theta / 2)
        apart = np.hypot(np.sin(theta * s) - 2 * s * sine, np.cos(theta * s) - cosine)
        assert apart.max() <= (1 - cosine) * (1 + 1e-12)


def test_two_far_bodies_that_turn_half_round_meet(backend):
    """Each in its place, ten sizes apart: seen from one another they pass through each other half-way."""
    half = [0.0, 0, 0, 1]
    bodies = at(([0, 0, 0], ONE, [0, 0, 0], half), ([10, 0, 0], ONE, [10, 0, 0], half))
    assert nearest_centres(bodies, np.array([0]), np.array([1]), [0.5])[0] < 1e-9
    assert joined(search(backend, bodies)).tolist() == [[0, 1]]
    quarter = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    bodies = at(([0, 0, 0], ONE, [0, 0, 0], quarter), ([10, 0, 0], ONE, [10, 0, 0], quarter))
    assert len(joined(search(backend, bodies))) == 0


# ---- the search against every pair


SCENES = {
    "few": dict(n=300), "turning": dict(n=150, turn=2.0), "any turn": dict(n=120, turn=np.pi, way=5.0),
    "straight": dict(n=400, turn=0.0, way=4.0), "fast": dict(n=300, turn=0.3, way=30.0),
    "still": dict(n=300, still=0.7), "dense": dict(n=120, side=2.0), "far": dict(n=200, far=1e7),
    "long row": dict(n=257, side=400.0, way=60.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")
def test_tree_and_row_by_row_agree(backend, name):
    """Bit for bit: the tree leaves out nothing that would pass. So does a tree of another step, refitted."""
    bodies = moving(11, **SCENES[name])
    for precision in ("mixed", "single"):
        found = search(backend, bodies, precision)
        rows = joined(found)
        assert np.array_equal(rows, one_by_one(found))
        other = moving(12, **SCENES[name])
        tree = BodyTree.build(Launcher(backend, precision, 1 << 30), other, check_rules(len(bodies)))
        old = tree.order_host.copy()
        again = search(backend, bodies, precision, tree=tree)
        assert again.report.refitted and np.array_equal(again.tree.order_host, old)
        assert np.array_equal(joined(again), rows)


@pytest.mark.parametrize("far", [0.0, 3e2, 1e6])
@pytest.mark.parametrize("approach", [0.0, 5.0])
@pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")
def test_nodes_pass_what_just_reaches(backend, far, approach):
    """Along an axis a node's box is no wider than its bodies' reach: two clusters, each in one place, that
    come just near enough (to 1e-9)."""
    turned = [np.cos(0.25), 0, 0, np.sin(0.25)]

    def clusters(gap):
        left = [([far, 0, 0], ONE, [far, 1e-3, 0], turned)] * 4
        return at(*left, *[([far + gap + approach, 0, 0], ONE, [far + gap, 1e-3, 0], ONE)] * 4)

    low, high = 0.1, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        meet = len(one_by_one(search(backend, clusters(middle)))) == 28
        low, high = (middle, high) if meet else (low, middle)
    for gap in (low, low * (1 - 1e-9), low * (1 - 1e-7)):
        assert len(joined(search(backend, clusters(gap)))) == 28
    assert len(joined(search(backend, clusters(high)))) < 28


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")
def test_against_the_reference(backend, name):
    """Rounding decides some pairs whose turns leave hardly any bound: at most 8 in 7,140 here."""
    bodies = moving(13, **SCENES[name])
    got = as_set(joined(search(backend, bodies)))
    want = as_set(joined(ReferenceSearch(bodies, check_rules(len(bodies)), "hierarchy")))
    assert len(got ^ want) <= (0 if SCENES[name].get("turn", 1) < 2 else 1e-3 * len(want) + 5)
    single = as_set(joined(search(backend, bodies, "single")))
    assert len(want - single) <= (0 if SCENES[name].get("turn", 1) < 2 else 3)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.backends("opencl", "cuda")
def test_same_bits_as_cpu(backend, name):
    from tests.narrow_phase._launch import cpu

    bodies = moving(14, **SCENES[name])
    for precision in ("mixed", "double", "single"):
        assert np.array_equal(
            joined(search(backend, bodies, precision)), joined(search(cpu(), bodies, precision))
        )


def test_any_group_size():
    """Processors run groups of one work-item; eight, as on a GPU, find the same."""
    from gpu_collide.backends import get_backend
    from gpu_collide.errors import BackendUnavailableError

    try:
        get_backend("opencl")
        from gpu_collide.backends.opencl import OpenclBackend
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    bodies = moving(15, 200, still=0.3)
    assert np.array_equal(
        joined(search(OpenclBackend(group_size=8), bodies)), joined(search(get_backend("opencl"), bodies))
    )


# ---- worlds and rules


def expected(bodies, everything=False, **given_rules):
    """By the rules alone (and the reference's bound), pair by pair in plain Python."""
    n, rows = len(bodies), all_pairs(len(bodies))
    bounds = bounds_of(bodies)
    world, group, mask = (given_rules.get(k) for k in ("world", "group", "mask"))
    ignore = {tuple(sorted(p)) for p in given_rules.get("ignore", ())}
    kept = []
    passes = np.ones(len(rows), bool) if everything else reference.may_meet(bounds, *rows.T)
    for (a, b), good in zip(rows.tolist(), passes, strict=True):
        if world is not None:
            good &= world[a] == world[b] or -1 in (world[a], world[b])
        if group is not None:
            good &= (group[a] & mask[b]) != 0 and (group[b] & mask[a]) != 0
        if not given_rules.get("still_pairs", False):
            good &= not (bounds.still[a] and bounds.still[b])
        if good and (a, b) not in ignore and bounds.valid[a] and bounds.valid[b]:
            kept.append((a, b))
    assert n < 200
    return kept


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.sampled_from([2, 3, 7, 8, 9, 31, 32, 33, 65, 100]), data=st.data())
def test_rules(backend, seed, n, data):
    rng = np.random.default_rng(seed)
    bodies = moving(seed, n, side=6.0, still=0.4)
    rules = {"still_pairs": data.draw(st.booleans())}
    if data.draw(st.booleans()):
        worlds = data.draw(st.sampled_from([[0, 1], [-1, 0, 1, 2], [-1], [5, 10**12, -1], [3, 40, 41]]))
        rules["world"] = rng.choice(worlds, n)
    if data.draw(st.booleans()):
        rules |= {"group": rng.integers(0, 8, n), "mask": rng.integers(0, 8, n)}
    if data.draw(st.booleans()):
        rules["ignore"] = [tuple(rng.permutation(n)[:2].tolist()) for _ in range(3 * n)]
    everything = data.draw(st.booleans())
    found = search(backend, bodies, broad_phase="off" if everything else "hierarchy", **rules)
    want = expected(bodies, everything, **rules)
    assert joined(found).tolist() == [list(p) for p in want]
    slow = ReferenceSearch(bodies, check_rules(n, **rules), "off" if everything else "hierarchy")
    assert joined(slow).tolist() == [list(p) for p in want]
    possible = {k: v for k, v in rules.items() if k in ("world", "still_pairs")}
    assert found.report.possible == slow.report.possible == len(expected(bodies, True, **possible))


@pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")
def test_4096_worlds_on_top_of_each_other(backend):
    """32 bodies a world, all worlds in the same place, and one still body in all of them: as one by one."""
    worlds, per = 4096, 32
    n = worlds * per + 1
    bodies = moving(16, n, side=8.0, still=0.1)
    world = np.random.default_rng(16).permutation(np.repeat(np.arange(worlds), per))
    world = np.append(world, -1)
    rows = joined(search(backend, bodies, world=world))
    assert np.array_equal(np.lexsort([rows[:, 1], rows[:, 0]]), np.arange(len(rows)))
    assert ((world[rows[:, 0]] == world[rows[:, 1]]) | (world[rows] == -1).any(axis=1)).all()
    bounds = bounds_of(bodies)
    of_world = [np.append(np.flatnonzero(world == w), n - 1) for w in range(0, worlds, 97)]
    for w, members in zip(range(0, worlds, 97), of_world, strict=True):
        a, b = members[all_pairs(per + 1)].T
        good = reference.may_meet(bounds, a, b) & ~(bounds.still[a] & bounds.still[b])
        which = world[rows[:, 0]] == w
        assert as_set(rows[which]) == set(zip(a[good].tolist(), b[good].tolist(), strict=True))


# ---- blocks


@pytest.mark.parametrize("limit", [1, 7, 100, 5000])
def test_blocks_of_any_size_join_to_the_same(backend, limit, monkeypatch):
    """Rows longer than a block are cut; rows beyond LONGEST go another way (made short here)."""
    bodies = moving(17, 150, side=6.0)
    found = search(backend, bodies)
    whole = joined(found)
    assert len(whole) > 500
    for longest in (3, 8192):
        monkeypatch.setattr(pipeline, "LONGEST", longest)
        blocks = list(found.blocks(limit))
        assert max(map(len, blocks)) <= limit and np.array_equal(np.concatenate(blocks), whole)
        assert np.array_equal(joined(found), whole)
    slow = ReferenceSearch(bodies, check_rules(150), "hierarchy")
    blocks = list(slow.blocks(limit))
    assert max(map(len, blocks)) <= limit and np.array_equal(np.concatenate(blocks), whole)


def test_count_stops_when_there_are_too_many(backend, monkeypatch):
    monkeypatch.setattr(pipeline, "FIRST_STEP", 16)
    bodies = moving(18, 500, side=1.0)
    rules = check_rules(500)
    found = pipeline.search(Launcher(backend, "mixed", 1 << 30), bodies, rules, most=1000)
    assert found.total > 1000
    if backend.kind != "cuda":  # a GPU counts so few at once
        assert not found.complete and found.total < 500 * 499 / 2
    found = pipeline.search(Launcher(backend, "mixed", 1 << 30), bodies, rules, most=10**6)
    assert found.complete and np.array_equal(joined(found), joined(search(backend, bodies)))


# ---- odd scenes


def check(backend, bodies, **rules):
    found = search(backend, bodies, **rules)
    rows = joined(found)
    assert np.array_equal(rows, one_by_one(found)) and (rows[:, 0] < rows[:, 1]).all()
    return rows


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_bodies(backend, n):
    bodies = at(*[([k, 0, 0], ONE, [k + 1, 0, 0], ONE) for k in range(max(n, 1))])
    if n == 0:
        import gpu_collide as gc

        bodies = gc.Bodies(bodies.meshes, None, bodies.start[:0], bodies.end[:0])
    assert check(backend, bodies).tolist() == [[0, 1]] * (n == 2)


def test_all_still(backend):
    bodies = moving(19, 100, side=3.0, still=1.1)
    assert len(check(backend, bodies)) == 0
    assert len(check(backend, bodies, still_pairs=True)) > 500


@pytest.mark.parametrize("n", [15, 16, 17, 127, 128, 129])
@pytest.mark.shared_bits("tests/broad_phase/test_b04_pairs.py")
def test_all_in_one_spot(backend, n):
    """Positions repeated to the bit."""
    bodies = at(*[([1, 2, 3], ONE, [1, 2, 3.5], ONE)] * n)
    assert np.array_equal(check(backend, bodies), all_pairs(n))


def test_one_huge_body_and_an_outlier(backend):

    small, huge = gc.shapes.box(), gc.shapes.box((1e5, 1e5, 1.0))
    rng = np.random.default_rng(20)
    n = 300
    position = rng.uniform(-100, 100, (n, 3))
    position[5], position[9] = 0.0, [1e9, 0, 0]
    start = gc.Poses.from_quat_wxyz(position, [ONE] * n)
    end = gc.Poses.from_quat_wxyz(position + rng.normal(size=(n, 3)), [ONE] * n)
    bodies = gc.Bodies((small, huge), (np.arange(n) == 5).astype(int), start, end)
    rows = check(backend, bodies)
    with_huge = np.delete(rows[(rows == 5).any(axis=1)].sum(axis=1) - 5, [])
    near = np.flatnonzero(np.abs(position[:, 2]) < 0.5)
    assert set(near.tolist()) - {5, 9} <= set(with_huge.tolist())
    assert 9 not in rows and len(rows) < 400


def test_invalid_and_wild_bodies(backend):
    """The first are in no pair, the second in every one that the rules allow."""

    bodies = moving(21, 40)
    p, q = bodies.start.position.copy(), bodies.start.quat_wxyz.copy()
    p[3], q[17], p[30] = np.nan, 3.0, [1e200, 0, 0]
    bodies = gc.Bodies(bodies.meshes, bodies.shape, gc.Poses.from_quat_wxyz(p, q), bodies.end)
    for precision in ("mixed", "single"):
        found = search(backend, bodies, precision)
        rows = joined(found)
        assert found.report.invalid_bodies.tolist() == [3, 17] and not np.isin(rows, [3, 17]).any()
        assert np.count_nonzero(rows == 30) == 37
        assert np.array_equal(rows, one_by_one(found))
