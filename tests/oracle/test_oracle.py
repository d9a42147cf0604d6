"""The oracle against closed forms, other principles and its own invariants."""

import numpy as np
import pytest

from tests import oracle
from tests.oracle import scenes, shapes
from tests.oracle.judge import NOMINAL
from tests.oracle.matching import FIELDS
from tests.oracle.principles import arc_time, cut, exact_function, holds
from tests.oracle.roots import Items, Scene, find
from tests.oracle.solid import Solid, Twist, apply, relative, rotation_matrix

ALL = -2.0  # a threshold that keeps every contact


def as_found(expected):
    """The answer of a perfect collider: every contact that is one by the closed tests."""
    a = expected.atoms
    a = a[(a["state"] > 0) & (a["properness"] >= expected.min_properness)]
    a = a[np.lexsort((a["feature_b"], a["feature_a"], a["kind"], a["time"], a["pair"]))]
    found = {k: a[k].copy() for k in FIELDS}
    toi = np.full(expected.n_pairs, np.inf)
    np.minimum.at(toi, a["pair"], a["time"])
    start = np.searchsorted(a["pair"], np.arange(expected.n_pairs + 1))
    return dict(found, status=(toi < np.inf).astype(np.uint8), toi=toi, contact_start=start)


def without(found, row):
    """The same answer less one contact."""
    out = {k: (np.delete(v, row, 0) if k in FIELDS else v) for k, v in found.items()}
    n = len(found["toi"])
    toi = np.full(n, np.inf)
    np.minimum.at(toi, out["pair"], out["time"])
    start = np.searchsorted(out["pair"], np.arange(n + 1))
    return dict(out, toi=toi, status=(toi < np.inf).astype(np.uint8), contact_start=start)


@pytest.mark.parametrize(
    "mesh, volume",
    [
        (shapes.box((1, 2, 3)), 6.0),
        (shapes.l_block(), (2 * 0.8 + 1.2 * 0.8) * 0.9),
        (shapes.pit(), 4 - 4 * 0.5 / 3),
        (shapes.car(), None),
        (shapes.torus(), None),
        (shapes.star(np.random.default_rng(0)), None),
        (shapes.hull(np.random.default_rng(0), 10), None),
    ],
)
def test_shapes_are_closed_planar_and_wound_outwards(mesh, volume):
    solid = Solid(mesh)
    assert solid.vertex_closed.all()
    assert len(solid.v) - len(solid.edges) + len(solid.loops) in (2, 0)
    assert shapes.flatness(mesh) < 1e-12
    assert shapes.volume(mesh) > 0 if volume is None else abs(shapes.volume(mesh) - volume) < 1e-12


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-5, 0.3, 3.0, np.pi - 1e-9])
def test_screw_reaches_both_poses_and_is_a_flow(angle):
    rng = np.random.default_rng(3)
    n = 20
    q0 = scenes.random_quat(rng, n)
    dq = scenes.turn_quat(scenes.random_axis(rng, n), np.full(n, angle))
    q1, p0, p1 = scenes.unit4(scenes.quat_mul(dq, q0)), rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    m = Twist.between(q0, p0, q1, p1)
    i, x = np.arange(n), rng.normal(size=(n, 3))
    there = m.centre(i, np.ones(n)) + m.rotate(i, np.ones(n), apply(rotation_matrix(q0), x))
    assert np.abs(there - p1 - apply(rotation_matrix(q1), x)).max() < 1e-14
    assert np.abs(m.theta - angle).max() < 1e-15
    # velocity is the field at the point, all along
    t, h = np.full(n, 0.37), 1e-6
    path = [m.centre(i, s) + m.rotate(i, s, x) for s in (t - h, t, t + h)]
    assert np.abs((path[2] - path[0]) / (2 * h) - m.flow(i, path[1])).max() < 1e-8


def test_known_answers_closed_forms():
    """First times in closed form; the arc (tabled to 4 digits) by separating axes in the plane."""
    scene, first = scenes.known_answers()
    expected = oracle.expect(scene)
    atoms = expected.atoms[(expected.atoms["state"] > 0) & (expected.atoms["properness"] >= -0.1)]
    toi = np.full(len(first), np.inf)
    np.minimum.at(toi, atoms["pair"], atoms["time"])
    assert abs(toi[7] - first[7]) < 5e-5
    first[7] = arc_time(np.array([7.654, 1.522]), np.array([7.654, -18.478]), np.pi / 4)
    assert np.array_equal(toi == np.inf, first == np.inf)
    hit = first < np.inf
    assert np.abs(toi[hit] - first[hit]).max() < 1e-12


@pytest.mark.parametrize("n", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", ["random_cars", "random_nonconvex", "to_180", "passing"])
def test_every_root_of_every_function_against_dense_sampling(family, n):
    """No facing test, no cull: all roots of all feature pairs that meet inside, by sampling and Brent's
    method."""
    brentq = pytest.importorskip("scipy.optimize").brentq
    scene = scenes.FAMILIES[family](5, n)
    for i, j in scene.pairs:
        a, b = (Solid(scene.meshes[scene.shape[k]]) for k in (i, j))
        poses = [(x[[k]], q[[k]]) for k in (i, j) for x, q in (scene.start, scene.end)]
        s = Scene(a, b, *relative(a, b, *poses))
        items = Items.make(s, *s.items())
        (item, root), touch, flat = find(items)
        assert len(touch[0]) == 0 and len(flat[0]) == 0
        grid = np.linspace(0, 1, 601)
        samples = np.array([items.value(np.full(len(items), t))[0] for t in grid])
        near = np.array([items.value(np.full(len(items), t))[2] for t in grid[::12]]).min(0)
        crossing = np.argwhere((samples[:-1] > 0) != (samples[1:] > 0))
        known = {}
        for k, t in zip(item, root, strict=True):
            if 0 <= t <= 1:
                known.setdefault(int(k), []).append(t)
        for c, k in crossing:
            if near[k] - 0.05 * items.pace[k] > items.reach[k] + 1e-6:
                continue  # the features never come near each other: the oracle may drop the root

            def f(t, k=k, items=items):
                return float(items[[k]].value(np.array([t]))[0][0])

            t = brentq(f, grid[c], grid[c + 1], xtol=1e-15, rtol=1e-14)
            w = items[[k]].value(np.array([t]))[2][0]
            if w <= items.reach[k]:
                assert min(abs(t - x) for x in known.get(int(k), [np.inf])) < 1e-11


@pytest.mark.parametrize("n", [12, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "family",
    [
        "random_nonconvex",
        "axis_through_both",
        *(pytest.param(f, marks=pytest.mark.slow) for f in ("random_hulls", "to_180")),
    ],
)
def test_surfaces_never_cut_each_other_before_the_first_contact(family, n):
    """Another principle: bodies clear of each other at the start that cut each other later have met in
    between."""
    scene = scenes.FAMILIES[family](8, n)
    expected = oracle.expect(scene, min_properness=ALL)
    first = np.full(len(scene.pairs), np.inf)
    np.minimum.at(first, expected.atoms["pair"], expected.atoms["time"])
    met = 0
    for p, (i, j) in enumerate(scene.pairs):
        a, b = (Solid(scene.meshes[scene.shape[k]]) for k in (i, j))
        poses = [(x[[k]], q[[k]]) for k in (i, j) for x, q in (scene.start, scene.end)]
        s = Scene(a, b, *relative(a, b, *poses))
        if cut(s, 0.0):
            continue
        before = np.linspace(0, min(first[p], 1.0), 24)[:-1]
        assert not any(cut(s, t) for t in before)
        mine = expected.atoms[expected.atoms["pair"] == p]
        if len(mine) and not holds(s, 0.0):
            met += 1
            # the first contact of solids that were apart is proper, and something is reported by default
            assert mine["properness"][mine["time"] <= first[p] + 1e-9].max() >= -1e-9
            assert cut(s, min(1.0, first[p] + 1e-6)) or first[p] > 1 - 1e-6
    assert met >= 3


def test_times_against_forty_digits():
    """Vertex-face times against the motion written with a point of the axis, in 40 digits."""
    mpmath = pytest.importorskip("mpmath")
    scene = scenes.FAMILIES["random_cars"](21, 8)
    expected = oracle.expect(scene, ALL)
    atoms = expected.atoms[expected.atoms["kind"] < 2][:10]
    assert len(atoms) == 10
    worst = 0.0
    with mpmath.workdps(40):
        for atom in atoms:
            i, j = scene.pairs[atom["pair"]]
            f = exact_function(mpmath, scene, i, j, atom)
            root = mpmath.findroot(f, mpmath.mpf(float(atom["time"])))
            worst = max(worst, abs(float(root - atom["time"])) * abs(atom["normal_speed"]))
    assert worst < 1e-14  # 9e-16 measured


def test_swapping_the_bodies_mirrors_the_atoms():
    scene = scenes.FAMILIES["to_180"](2, 20)
    there = oracle.expect(scene).atoms
    scene.pairs = scene.pairs[:, ::-1].copy()
    back = oracle.expect(scene).atoms
    mirrored = np.where(back["kind"] == 2, 2, 1 - back["kind"])
    order = np.lexsort(
        (back["feature_a"], back["feature_b"], mirrored, np.round(back["time"], 9), back["pair"])
    )
    back, mirrored = back[order], mirrored[order]
    order = np.lexsort(
        (there["feature_b"], there["feature_a"], there["kind"], np.round(there["time"], 9), there["pair"])
    )
    there = there[order]
    assert np.array_equal(there["kind"], mirrored)
    assert np.array_equal(there["feature_a"], back["feature_b"])
    for x, y in (
        ("local_a", "local_b"),
        ("local_b", "local_a"),
        ("time", "time"),
        ("properness", "properness"),
    ):
        assert np.abs(there[x] - back[y]).max() < 1e-9


def test_moving_the_world_moves_the_atoms():
    scene = scenes.FAMILIES["random_cars"](2, 30)
    rng = np.random.default_rng(0)
    shift, quat = rng.normal(size=3) * 10, scenes.random_quat(rng, 1)[0]
    one, two = oracle.expect(scene).atoms, oracle.expect(scene.moved(shift, quat)).atoms
    assert np.array_equal(one["feature_a"], two["feature_a"])
    assert np.abs(one["time"] - two["time"]).max() < 1e-11
    assert np.abs(apply(rotation_matrix(quat), one["position"]) + shift - two["position"]).max() < 1e-11


def test_resting_and_sliding_boxes_are_sustained():
    floor, cube = shapes.box((8, 8, 1)), shapes.box()
    one = np.array([[1.0, 0, 0, 0]])
    for step in ((0, 0, 0), (1.5, 0, 0), (0.3, 0.7, 0)):
        start, end = np.array([[0.2, 0.1, 1.0]]), np.array([[0.2, 0.1, 1.0]]) + step
        atoms, _ = oracle.contacts(floor, cube, ([0, 0, 0], one), ([0, 0, 0], one), (start, one), (end, one))
        corners = atoms[atoms["kind"] == oracle.FV]
        assert len(corners) == 4 and (corners["state"] == oracle.REQUIRED).all()
        assert (
            corners["sustained"].all() and (corners["time"] == 0).all() and (corners["time_end"] == 1).all()
        )
        assert np.abs(corners["normal"] - [0, 0, 1]).max() < 1e-15


def test_pit_and_reflex_are_never_proper():
    """A spike that goes into the dent of a block, tip on tip; and a cube's edge across the inner edge of an
    L."""
    block = shapes.pit()
    spike = oracle.RawMesh(
        [[0.02, 0.01, 0], [1.5, 1, 2], [-1, 1.2, 2], [-0.2, -1.4, 2]],
        [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)],
    )
    assert shapes.volume(spike) > 0
    one = np.array([[1.0, 0, 0, 0]])
    rest = (np.zeros((1, 3)), one)
    move = (np.array([[0, 0, 1.0]]), one), (np.array([[0, 0, -1.5]]), one)
    atoms, _ = oracle.contacts(block, spike, rest, rest, *move, min_properness=ALL)
    tip = atoms[(atoms["kind"] == oracle.VF) & (atoms["feature_a"] == 8)]
    assert len(tip) and (tip["properness"] < 0).all()
    solid = Solid(block)
    inner = [e for e, (i, j) in enumerate(solid.edges) if j == 8]
    assert solid.reflex[inner].all() and solid.reflex.sum() == 4
    at_inner = atoms[(atoms["kind"] == oracle.EE) & np.isin(atoms["feature_a"], inner)]
    assert len(at_inner) and (at_inner["properness"] < 0).all()
    first = atoms[atoms["time"].argmin()]
    assert first["properness"] >= 0


def test_pit_by_area_and_by_wedge_agree():
    """The area of the vertex figure against the wedge at the edge nearest to the plane."""
    rng = np.random.default_rng(4)
    checked = 0
    for mesh in (shapes.pit(), shapes.star(rng), shapes.star(rng, 3), shapes.l_block(), shapes.car()):
        solid = Solid(mesh)
        for vertex in np.nonzero(solid.vertex_reflex)[0]:
            spokes = solid.vertex_spoke[vertex] >= 0
            for n in scenes.random_axis(rng, 400):
                if (solid.vertex_spoke_dir[vertex, spokes] @ n).min() < 1e-3:
                    continue
                by_area = solid.is_pit(vertex, n)
                solid.vertex_closed[vertex] = False
                by_wedge = solid.is_pit(vertex, n)
                solid.vertex_closed[vertex] = True
                assert by_area == by_wedge
                checked += 1
    assert checked > 20


@pytest.mark.parametrize("family", ["random_cars", "lattice", "planar_driving", "resting", "exact_axis"])
def test_compare_accepts_the_perfect_answer_and_sees_every_fault(family):
    scene = scenes.FAMILIES[family](1, 12)
    expected = oracle.expect(scene)
    good = as_found(expected)
    report = oracle.compare(good, expected)
    assert report.ok and report.found > 3, report
    rng = np.random.default_rng(0)
    required = expected.atoms["state"] == oracle.REQUIRED
    keys = {tuple(a[k] for k in FIELDS[:4]) for a in expected.atoms[required]}
    rows = [k for k in range(len(good["pair"])) if tuple(good[f][k] for f in FIELDS[:4]) in keys]
    for row in rng.choice(rows, min(6, len(rows)), replace=False):
        assert oracle.compare(without(good, row), expected).missed
    for row in rng.choice(rows, min(6, len(rows)), replace=False):
        late = {k: v.copy() for k, v in good.items()}
        speed = max(abs(late["normal_speed"][row]), 1e-3)
        late["time"][row] += 3e-8 * expected.size[late["pair"][row]] / speed
        late["time_end"][row] = max(late["time"][row], late["time_end"][row])
        assert not oracle.compare(late, expected, structure=False).ok
    for field, fault in (("normal", 1e-8), ("position", 1e-6), ("properness", 1e-3), ("local_b", 1e-6)):
        bent = {k: v.copy() for k, v in good.items()}
        bent[field][rows[0]] += fault
        assert oracle.compare(bent, expected, structure=False).wrong
    double = {k: (np.concatenate((v, v[rows[:1]])) if k in FIELDS else v) for k, v in good.items()}
    assert oracle.compare(double, expected, structure=False).invented
    other = {k: v.copy() for k, v in good.items()}
    other["feature_a"][rows[0]] += 1
    assert oracle.compare(other, expected, structure=False).invented
    empty = {k: (v[:0] if k in FIELDS else v) for k, v in good.items()}
    report = oracle.compare(empty, expected, structure=False)
    assert len(report.missed) == report.required and len(report.missed_groups) == report.groups


def test_edges_that_slide_through_a_coincidence_tell_of_it():
    """A prism's corner reaches a sheet's corner at t = 1, its edge slides along the border from before."""
    scene = scenes.FAMILIES["whole_sheets"](20261120, 1000)
    expected = oracle.expect(scene, only=[839])
    atoms = expected.atoms
    good = as_found(expected)
    lasting = good["sustained"] & (good["kind"] == oracle.EE) & (good["time"] < 0.9)
    through = lasting & (good["feature_a"] == 6) & (good["feature_b"] == 7)
    elsewhere = lasting & (good["feature_a"] == 4) & (good["feature_b"] == 6)
    assert through.sum() == elsewhere.sum() == 1 and (good["time_end"][through | elsewhere] == 1).all()
    # without what is only at the corner, at the end of the step
    early = good["time"] < 0.9
    kept = {k: (v[early] if k in FIELDS else v) for k, v in good.items()}
    lost = {k: (v[early & ~through] if k in FIELDS else v) for k, v in good.items()}
    at_corner = [a["time"] for a in atoms if a["time"] > 0.9 and a["state"] == NOMINAL]
    assert at_corner

    def missing(found, **more):
        report = oracle.compare(found, expected, structure=False, **more)
        return [x for x in report.missed_groups if x["time"] > 0.9]

    assert missing(kept)
    assert not missing(kept, scene=scene)
    assert missing(lost, scene=scene)  # edges that meet elsewhere are no evidence
