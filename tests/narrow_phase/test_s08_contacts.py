"""s08_contacts: hits to contacts: what is one, what stays, in which order, and where it is in the world."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.narrow_phase._launch import EE, FV, VF, C, Hits, Stages, cpu, scene_of, screened, stages_of
from tests.narrow_phase.test_s01_screw import about
from tests.narrow_phase.test_s05_vertex_face import corner_on_a_face
from tests.narrow_phase.test_s06_edge_edge import ridge_on_ridge
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.support.reference import collide_reference

FAMILIES = ("random_cars", "random_nonconvex", "lattice", "planar_driving", "resting", "to_180", "two_sided")
MARGIN = int(C["GC_HIT_BORDER"]) | int(C["GC_HIT_A_END"]) | int(C["GC_HIT_B_END"])


def hits_of(backend, family, n=30):
    stages = stages_of(backend, family, n)
    return stages, stages.s07(screened(backend, family, n))


def by_hand(stages, rows, state=0):
    """Hits of pair 0 given as (kind and bits, feature of A, feature of B, s, s at the end, properness)."""
    table = np.array(rows, float)
    hit = np.column_stack([np.zeros(len(rows)), table[:, :3]]).astype(np.int32)
    states = np.full(stages.n, state, np.int32)
    return Hits(hit, table[:, 3:].copy(), np.bincount(hit[:, 0], minlength=stages.n), states)


def listed(got):
    return list(
        zip(
            got["kind"].tolist(),
            got["feature_a"].tolist(),
            got["feature_b"].tolist(),
            got["time"].tolist(),
            strict=True,
        )
    )


def same(one, two):
    return [k for k in one if one[k].tobytes() != two[k].tobytes()]


# ---- known answers


def test_one_contact_in_full(backend):
    """The corner above the face: place, normal and speed by hand."""
    stages, face, vertex, time = corner_on_a_face(backend)
    got = stages.s08(stages.s07(stages.everything()))
    assert got["status"].tolist() == [gc.Status.HIT] and got["contact_start"].tolist() == [0, 1]
    assert listed(got) == [(FV, face, vertex, got["toi"][0])] and got["toi"][0] == pytest.approx(
        time, abs=1e-15
    )
    assert np.allclose(got["position"], [[0.1, 0.2, 0.5]], atol=1e-15)
    assert np.allclose(got["normal"], [[0, 0, 1]], atol=1e-15)
    assert np.allclose(got["local_a"], [[0.1, 0.2, 0.5]], atol=1e-15)
    assert np.array_equal(got["local_b"], [[-0.5, -0.5, -0.5]])
    assert got["normal_speed"][0] == pytest.approx(-2, abs=1e-15)
    # the three edges leave the corner at the same height, 1/sqrt 3 each; given in steps of 2^-40
    assert got["properness"][0] == np.rint(2.0**40 / np.sqrt(3)) / 2.0**40
    assert not got["sustained"][0] and got["time_end"][0] == got["time"][0]


def test_ridges_in_full(backend):
    stages, edge_a, edge_b, time = ridge_on_ridge(backend)
    got = stages.s08(stages.s07(stages.everything()))
    assert [x[:3] for x in listed(got)] == [(EE, edge_a, edge_b)]
    assert got["time"][0] == pytest.approx(time, abs=1e-15)
    assert np.allclose(got["position"], [[0.1, 0, np.sqrt(0.5)]], atol=1e-15)
    assert np.allclose(got["normal"], [[0, 0, 1]], atol=1e-15)
    assert got["properness"][0] == np.rint(2.0**40 * np.sqrt(0.5)) / 2.0**40


def test_no_hits(backend):
    stages, *_ = corner_on_a_face(backend)
    empty = Hits(np.zeros((0, 4), np.int32), np.zeros((0, 3)), np.zeros(1, np.int64), np.zeros(1, np.int32))
    got = stages.s08(empty)
    assert got["status"].tolist() == [gc.Status.MISS] and got["contact_start"].tolist() == [0, 0]
    assert got["toi"].tolist() == [2]  # the pipeline makes it infinite


@pytest.mark.parametrize(
    "state, status",
    [
        (0, gc.Status.HIT),
        ("GC_PAIR_UNRESOLVED", gc.Status.UNRESOLVED),
        ("GC_PAIR_OVERLAP", gc.Status.INITIAL_OVERLAP),
        ("GC_PAIR_INVALID", gc.Status.INVALID_INPUT),
    ],
)
def test_status(state, status, backend):
    stages, face, vertex, _ = corner_on_a_face(backend)
    got = stages.s08(by_hand(stages, [(FV, face, vertex, 0.1, 0.1, 0.5)], int(C[state]) if state else 0))
    assert got["status"].tolist() == [status]


def test_equal_hits_are_one(backend):
    stages, face, vertex, _ = corner_on_a_face(backend)
    row = (FV, face, vertex, 0.1, 0.1, 0.5)
    assert listed(stages.s08(by_hand(stages, [row] * 5))) == [(FV, face, vertex, 0.6)]
    # the same features at another time are another contact
    later = (FV, face, vertex, 0.2, 0.2, 0.5)
    assert len(listed(stages.s08(by_hand(stages, [row, later, row, later])))) == 2


def test_order_is_time_kind_features(backend):
    stages, *_ = corner_on_a_face(backend)
    rows = [
        (EE, 3, 1, 0.1),
        (FV, 2, 7, 0.1),
        (VF, 0, 5, 0.1),
        (FV, 2, 1, 0.1),
        (EE, 3, 0, 0.1),
        (EE, 9, 9, 0.0),
        (FV, 1, 4, 0.1),
        (FV, 5, 5, 0.25),
    ]
    got = listed(stages.s08(by_hand(stages, [(*r, r[3], 0.5) for r in rows])))
    expected = sorted(((k, a, b, s + 0.5) for k, a, b, s in rows), key=lambda r: (r[3], *r[:3]))
    assert got == expected


def tip_on_a_ridge(backend):
    """B stands on a corner and comes down on the ridge of A, a box turned by an eighth: one meeting of a
    vertex with an edge. (stages, the first hits at any properness, B's vertex, A's ridge)"""
    mesh = gc.shapes.box()
    axis = np.cross([-1.0, -1, -1], [0.0, 0, -1])
    down = about(axis / np.linalg.norm(axis), np.arccos(1 / np.sqrt(3)))
    # so that one edge of the corner runs nearly along the ridge, the others reach below its sides
    down = quat_mul(about([0, 0, 1], np.pi / 12 + 0.02)[None], down[None])[0]
    position = np.array([[0.0, 0, 0], [0.1, 0, 3]]), np.array([[0.0, 0, 0], [0.1, 0, 1]])
    poses = [gc.Poses.from_quat_wxyz(x, np.array([about([1, 0, 0], np.pi / 4), down])) for x in position]
    stages = Stages(backend, gc.Bodies(mesh, None, *poses), [[0, 1]])
    hits = stages.s07(stages.everything(), min_properness=-1.0)
    first = np.nonzero(hits.value[:, 0] < hits.value[:, 0].min() + 1e-9)[0]
    hits = hits.take(first)
    vertex = int(np.argmin(mesh.vertices.sum(axis=1)))
    ridge = int(np.argmax(mesh.vertices[mesh.edges].mean(axis=1) @ [0, 1, 1]))
    return stages, hits, vertex, ridge


def test_a_tip_on_an_edge_is_told_once_and_at_its_properest(backend):
    """The vertex meets both sides of the roof, and each of its edges the ridge: five hits, one meeting. The
    vertex contacts used to go before the edges, whatever their properness: -0.086 was reported, and at a
    threshold of 0 two of the edges."""
    stages, hits, vertex, ridge = tip_on_a_ridge(backend)
    assert np.bincount(hits.hit[:, 1] & 3).tolist() == [2, 0, 3]
    assert (hits.hit[:, 1] & MARGIN != 0).all() and np.ptp(hits.value[:, 0]) < 1e-13  # seen: 6e-15
    best = hits.value[:, 2].max()
    got = stages.s08(hits)
    assert got["kind"].tolist() == [EE] and got["feature_a"].tolist() == [ridge]
    assert got["properness"].tolist() == [best] and best > 0 > hits.value[hits.hit[:, 1] & 3 == FV, 2].max()


def test_whichever_is_properest_is_told_then_vertices_then_lower_numbers(backend):
    """The same meeting with every properness by hand."""
    stages, hits, vertex, ridge = tip_on_a_ridge(backend)
    rows = np.column_stack([hits.hit[:, 1:], hits.value])
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0].astype(int) & 3))]
    names = [(int(r[0]) & 3, int(r[1]), int(r[2])) for r in rows]
    rng = np.random.default_rng(8)
    for winner in range(5):
        rows[:, 5] = 0.25
        rows[winner, 5] = 0.5
        result = stages.s08(by_hand(stages, rows[rng.permutation(5)]))
        assert [x[:3] for x in listed(result)] == [names[winner]]
        # equal from here on: the first in the order of kinds and numbers
        rows[winner:, 5] = 0.5
        result = stages.s08(by_hand(stages, rows[rng.permutation(5)]))
        assert [x[:3] for x in listed(result)] == [names[winner]]


def test_what_is_not_the_same_meeting_stays(backend):
    """Another time, another place, or clear of every border: two contacts."""
    stages, hits, vertex, ridge = tip_on_a_ridge(backend)
    rows = np.column_stack([hits.hit[:, 1:], hits.value])
    one, other = rows[rows[:, 0].astype(int) & 3 == FV]
    one[5], other[5] = 0.2, 0.7
    assert len(listed(stages.s08(by_hand(stages, [one, other])))) == 1
    later, elsewhere, clear = other.copy(), other.copy(), one.copy()
    later[3:5] += 1e-6
    elsewhere[2] = (vertex + 1) % 8
    clear[0] = FV
    for rows in ([one, later], [one, elsewhere], [clear, other]):
        assert len(listed(stages.s08(by_hand(stages, rows)))) == 2


def test_first_keeps_all_at_the_earliest_time(backend):
    stages, *_ = corner_on_a_face(backend)
    rows = [(EE, 3, 1, 0.1), (FV, 2, 7, 0.2), (VF, 0, 5, 0.1), (EE, 9, 9, 0.1 + 1e-9), (FV, 2, 7, 0.1)]
    got = stages.s08(by_hand(stages, [(*r, r[3], 0.5) for r in rows]), first_only=1)
    assert [x[:3] for x in listed(got)] == [(FV, 2, 7), (VF, 0, 5), (EE, 3, 1)]
    assert (got["time"] == got["toi"][0]).all()


# ---- invariants


@pytest.mark.parametrize("family", FAMILIES)
def test_contacts_are_ordered_and_finite(family, backend):
    stages, hits = hits_of(backend, family)
    got = stages.s08(hits)
    assert len(got["pair"]) > 5
    keys = list(
        zip(*(got[k].tolist() for k in ("pair", "time", "kind", "feature_a", "feature_b")), strict=True)
    )
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    assert ((got["time"] >= 0) & (got["time_end"] <= 1) & (got["time"] <= got["time_end"])).all()
    assert np.array_equal(got["contact_start"], np.searchsorted(got["pair"], np.arange(stages.n + 1)))
    assert np.allclose(np.linalg.norm(got["normal"], axis=1), 1, atol=1e-14)
    first = got["contact_start"][:-1]
    some = np.diff(got["contact_start"]) > 0
    assert np.array_equal(got["toi"][some], got["time"][first[some]]) and (got["toi"][~some] == 2).all()
    assert np.array_equal(got["status"] == gc.Status.HIT, some)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_and_number_of_hits_change_no_bit(family, backend):
    """Shuffled, doubled, with other numbers of groups: the same contacts."""
    stages, hits = hits_of(backend, family)
    rng = np.random.default_rng(8)
    whole = stages.s08(hits)
    n = len(hits.hit)
    for rows in (rng.permutation(n), np.repeat(rng.permutation(n), 2), rng.permutation(3 * n) % n):
        assert not same(whole, stages.s08(hits.take(rows)))
    for groups in (1, 2, 7):
        assert not same(whole, stages.s08(hits, groups=groups))


@pytest.mark.parametrize("family", FAMILIES)
def test_first_is_the_beginning_of_all(family, backend):
    stages, hits = hits_of(backend, family)
    whole, first = stages.s08(hits), stages.s08(hits, first_only=1)
    keep = whole["time"] == whole["toi"][whole["pair"]]
    for name in ("pair", "kind", "feature_a", "feature_b", "time", "position", "normal"):
        assert np.array_equal(first[name], whole[name][keep]), name
    assert np.array_equal(first["toi"], whole["toi"]) and np.array_equal(first["status"], whole["status"])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_contact_is_a_hit(family, backend):
    """Nothing is made up, and no pair with hits is left without a contact."""
    stages, hits = hits_of(backend, family)
    got = stages.s08(hits)
    times = hits.value[:, 0] + 0.5
    known = {(p, k & 3, a, b, t) for (p, k, a, b), t in zip(hits.hit.tolist(), times.tolist(), strict=True)}
    for row in zip(
        *(got[k].tolist() for k in ("pair", "kind", "feature_a", "feature_b", "time")), strict=True
    ):
        assert row in known
    assert set(hits.hit[:, 0].tolist()) == set(got["pair"].tolist())


def test_positions_at_the_ends_of_the_step(backend):
    """Contacts at t = 0 and t = 1 lie where A's poses put their points."""
    for family in ("lattice", "resting"):
        stages, hits = hits_of(backend, family)
        got, scene = stages.s08(hits), scene_of(family, 30)
        body = np.asarray(scene.pairs)[got["pair"], 0]
        for when, (position, quat) in ((0.0, scene.start), (1.0, scene.end)):
            rows = got["time"] == when
            if rows.any():
                expected = position[body[rows]] + apply(
                    rotation_matrix(quat[body[rows]]), got["local_a"][rows]
                )
                assert np.abs(got["position"][rows] - expected).max() < 1e-13


# ---- parity


@pytest.mark.parametrize("family", ["random_cars", "random_nonconvex", "to_180", "random_small_tori"])
def test_parity_with_the_reference(family, backend):
    """The same contacts as NumPy, field by field. Worst errors seen: time 1.6e-15, position 5e-15,
    normal 3e-15, properness 4e-15, local 7e-15, normal speed 6e-15."""
    n = 12 if family == "random_small_tori" else 25
    scene = scene_of(family, n)
    stages, hits = hits_of(backend, family, n)
    mine, theirs = stages.s08(hits), collide_reference(scene.bodies(), scene.pairs, check_start=False)
    for name in ("pair", "kind", "feature_a", "feature_b", "contact_start", "status"):
        assert np.array_equal(mine[name], getattr(theirs, name)), name
    limits = {
        "time": 1e-13,
        "time_end": 1e-13,
        "position": 1e-12,
        "normal": 1e-12,
        "properness": 1e-12,
        "local_a": 1e-12,
        "local_b": 1e-12,
        "normal_speed": 1e-12,
    }
    assert len(mine["pair"]) > 10
    for name, limit in limits.items():
        # times are as sure as the approach is steep
        steep = np.minimum(1, np.abs(theirs.normal_speed)) if name.startswith("time") else 1.0
        error = np.abs(mine[name] - getattr(theirs, name))
        assert (error * steep).max() < limit, name


@pytest.mark.parametrize("family", FAMILIES)
def test_backends_have_the_same_bits(family, backend):
    (mine, my_hits), (theirs, their_hits) = (hits_of(be, family) for be in (backend, cpu()))
    assert not same(mine.s08(my_hits), theirs.s08(their_hits))


@pytest.mark.parametrize("n", [1, 63, 64, 65])
def test_every_number_of_pairs(n, backend):
    """Stages s01 to s08 in one line, for sizes around a group's; what another pair does changes nothing."""
    scene = scene_of("lattice", 66)
    stages = Stages(backend, scene.bodies(), scene.pairs[:n])
    got = stages.s08(stages.s07(stages.screen()))
    whole = stages_of(backend, "lattice", 66)
    expected = whole.s08(whole.s07(screened(backend, "lattice", 66)))
    k = int(expected["contact_start"][n])
    assert got["contact_start"].tobytes() == expected["contact_start"][: n + 1].tobytes()
    assert all(
        got[f].tobytes() == expected[f][:k].tobytes() for f in ("time", "kind", "feature_a", "position")
    )


# ---- many hits: compared along A only


@pytest.mark.parametrize("family", FAMILIES)
def test_many_hits_are_settled_as_few(family, backend):
    """Each hit fifty times in its pair, so that the order along A is used: as if it were there once."""
    stages, hits = hits_of(backend, family)
    few = stages.s08(hits)
    times = int(C["GC_MANY_HITS"]) + 2
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(len(hits.hit)), times))
    assert len(few["time"]) > 0 and same(few, stages.s08(hits.take(rows))) == []


def tiles(n, height):
    """A box of n x n x height unit cubes, whose sides are squares cut in two."""
    cells = np.stack(np.meshgrid(np.arange(n), np.arange(n), np.arange(height), indexing="ij"), -1).reshape(
        -1, 3
    )
    corners, faces = {}, []
    for axis in range(3):
        u, v = np.eye(3, dtype=int)[(np.array([1, 2]) + axis) % 3]
        for side in (0, 1):
            out = cells[cells[:, axis] == (0, (n, n, height)[axis] - 1)[side]]
            for cell in out + side * np.eye(3, dtype=int)[axis]:
                loop = [cell, cell + u, cell + u + v, cell + v][:: 1 if side else -1]
                numbers = [corners.setdefault(tuple(x), len(corners)) for x in loop]
                faces += [[numbers[0], numbers[1], numbers[2]], [numbers[0], numbers[2], numbers[3]]]
    return gc.Mesh(np.array(list(corners), float) - [n / 2, n / 2, 0], faces)


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize("n, m", [(12, 6), (14, 6), (13, 6), (24, 12)])
def test_a_tiled_box_comes_down_flush_on_a_tiled_floor(n, m, backend):
    """Each corner of the box meets one of the floor, or half a tile apart a middle; diagonals cross."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 3]], [[1, 0, 0, 0]] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 1.5]], [[1, 0, 0, 0]] * 2)
    found = gc.collide(
        gc.Bodies([tiles(n, 2), tiles(m, 2)], [0, 1], start, end), [[0, 1]], backend=backend.kind
    )
    found = found.to_numpy()
    half = (n - m) % 2 == 1
    assert len(found) == ((2 * m + 1) ** 2 if half else (m + 1) ** 2 + m**2)
    assert np.unique(np.round(found.position[:, :2] * 4), axis=0).shape == (len(found), 2)
    assert np.ptp(found.time) < 1e-12 and abs(found.time[0] - 2 / 3) < 1e-12 and (found.properness >= 0).all()


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_a_tiled_box_slides_and_spins_flush_on_a_tiled_floor(turn, backend):
    """What lasts: as the reference has it, which compares each with each."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.25, 0, 2]], [[1, 0, 0, 0]] * 2)
    turned = [np.cos(turn / 2), 0, 0, np.sin(turn / 2)]
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.75, 0.25, 2]], [[1, 0, 0, 0], turned])
    bodies = gc.Bodies([tiles(7, 2), tiles(4, 2)], [0, 1], start, end)
    found = gc.collide(bodies, [[0, 1]], backend=backend.kind, check_start=False).to_numpy()
    judged = collide_reference(bodies, [[0, 1]], check_start=False)
    assert len(found) > 2 * C["GC_MANY_HITS"] and found.sustained.any()
    rows = []
    for x in (found, judged):
        times = np.round(x.time, 9), np.round(x.time_end, 9)
        rows.append(sorted(zip(x.kind, x.feature_a, x.feature_b, *times, strict=True)))
    assert rows[0] == rows[1]
