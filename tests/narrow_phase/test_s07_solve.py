"""s07_solve: candidates to hits; the roots of the contact equations."""

import re
from functools import lru_cache

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide.backends import sources
from tests.acceptance import matrix, stored_bits
from tests.narrow_phase._launch import (
    EE,
    FV,
    RASTER,
    C,
    Stages,
    cpu,
    new,
    probe,
    scene_of,
    screened,
    sharing,
    stages_of,
)
from tests.narrow_phase.test_s01_screw import ONE, about
from tests.narrow_phase.test_s05_vertex_face import corner_on_a_face
from tests.narrow_phase.test_s06_edge_edge import ridge_on_ridge
from tests.oracle.judge import REQUIRED

EDGE = 0.5 + 1e-9


# ---- roots of one curve


def value(c, s):
    """f and f' of curves (..., 7) at s (..., k), float64."""
    th, p0, p1, p2, p3, q1, q2 = (c[..., i, None] for i in range(7))
    sigma, nu = s * np.sinc(th * s / np.pi), 0.5 * (s * np.sinc(0.5 * th * s / np.pi)) ** 2
    q, cosine = q1 * sigma + q2 * nu, np.cos(th * s)
    f = p0 + p1 * sigma + p2 * nu + p3 * s + s * q
    return f, p1 * cosine + p2 * sigma + p3 + q + s * (q1 * cosine + q2 * sigma)


def roots(backend, curves, lo=-EDGE, hi=EDGE, touch=1e-11, room=8):
    n = len(curves)
    count, capped, out = new(backend, n, "i4"), new(backend, n, "i4"), new(backend, n * room, "f8")
    ranges = np.stack(np.broadcast_arrays(lo, hi, touch, np.zeros(n)), axis=1)[:, :3]
    backend.launch_items(
        probe(backend, "double", "probe_roots"),
        n,
        n=n,
        curve_in=backend.to_device(curves.astype(float).reshape(-1)),
        range_in=backend.to_device(np.ascontiguousarray(ranges).reshape(-1)),
        room=room,
        count_out=count,
        capped_out=capped,
        root_out=out,
    )
    out, count = backend.to_host(out).reshape(n, room), backend.to_host(count)
    assert (count <= room).all()
    assert np.array_equal(np.isnan(out), np.arange(room) >= count[:, None])
    return out, count, backend.to_host(capped)


def random_curves(n, seed=1):
    rng = np.random.default_rng(seed)
    curves = rng.normal(size=(n, 7)) * 10.0 ** rng.uniform(-3, 1, (n, 7))
    curves[:, 0] = rng.choice([0, 1e-9, 1e-3, 0.5, 2, np.pi], n)
    curves[::2, 5:] = 0  # vertex-face
    # a value it takes inside, so that most have roots
    middle = value(curves, rng.uniform(-0.5, 0.5, (n, 1)))[0][:, 0]
    curves[: 3 * n // 4, 1] -= middle[: 3 * n // 4]
    return curves


def pieces(curve, lo=-EDGE, hi=EDGE):
    """Ends of the monotone pieces of a curve: the extrema, from sign changes of f' on 2000 cells,
    bisected."""
    s = np.linspace(lo, hi, 2001)
    d = value(curve, s)[1]
    k = np.nonzero(d[1:] * d[:-1] < 0)[0]
    a, b = s[k], s[k + 1]
    for _ in range(60):
        m = 0.5 * (a + b)
        same = value(curve, m)[1] * value(curve, a)[1] > 0
        a, b = np.where(same, m, a), np.where(same, b, m)
    return np.concatenate([[lo], a, [hi]])


@pytest.mark.parametrize(
    "curve, expected",
    [
        ([0, -0.25, 1, 0, 0, 0, 0], [0.25]),
        ([0, 0, 1, 0, 0, 0, 0], [0.0]),
        ([0, 0, -1, 0, 0, 0, 0], [0.0]),
        ([0, -0.5, 1, 0, 0, 0, 0], [0.5]),
        ([0, 0.5, 1, 0, 0, 0, 0], [-0.5]),
        ([0, -0.02, 0, 1, 0, 0, 0], [-0.2, 0.2]),
        ([0, 0, 0, 1, 0, 0, 0], [0.0]),
        ([0, 0.02, 0, 1, 0, 0, 0], []),
        ([np.pi, -0.25, 0, 0, 1, 0, 0], [0.25]),
        ([np.pi, -np.sin(0.6) / np.pi, 1, 0, 0, 0, 0], [0.6 / np.pi]),
        ([2.0, -(1 - np.cos(0.5)) / 4, 0, 1, 0, 0, 0], [-0.25, 0.25]),
        ([0, -0.09, 0, 0, 0, 1, 0], [-0.3, 0.3]),
    ],
)
def test_roots_by_hand(curve, expected, backend):
    found, count, capped = roots(backend, np.array([curve], float))
    assert count[0] == len(expected) and not capped[0]
    assert np.allclose(found[0, : count[0]], expected, atol=2e-6 if expected == [0.0] else 1e-15)


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
def test_roots_of_random_curves(backend):
    """Exactly as many as there are pieces, monotone between extrema, whose ends differ in sign. Worst error
    seen, as |f| over the sum of coefficients: 3e-16."""
    curves = random_curves(500)
    found, count, capped = roots(backend, curves)
    assert not capped.any()
    checked = 0
    for c, r, n in zip(curves, found, count, strict=True):
        ends = pieces(c)
        f = value(c, ends)[0]
        scale = np.abs(c[1:]).sum()
        if np.abs(f).min() < 1e-9 * scale:
            continue  # a touch, or a root at an end: the tests below
        k = np.nonzero(f[1:] * f[:-1] < 0)[0]
        assert n == len(k)
        assert ((ends[k] < r[:n]) & (r[:n] < ends[k + 1])).all()
        assert np.abs(value(c, r[:n])[0]).max(initial=0) < 3e-15 * scale
        checked += n
    assert checked > 300


@lru_cache(maxsize=1)
def with_extrema():
    """Curves whose extremum at `where` is zero, with their second derivative there."""
    curves = random_curves(250, 2)
    curves[:, 1:] /= np.abs(curves[:, 1:]).sum(axis=1)[:, None]
    kept, where, bends = [], [], []
    for c in curves:
        inner = pieces(c)[1:-1]
        inner = inner[np.abs(inner) < 0.45][:1]
        if len(inner) == 0:
            continue
        bend = (value(c, inner + 1e-4)[1] - value(c, inner - 1e-4)[1])[0] / 2e-4
        if abs(bend) >= 1e-2:
            c[1] -= value(c, inner)[0][0]
            kept.append(c)
            where.append(inner[0])
            bends.append(bend)
    return np.array(kept), np.array(where), np.array(bends)


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize("depth", [0.0, 1e-13, 5e-12, -1e-13, -5e-12, 1e-9, -1e-9, 1e-6, -1e-6])
def test_double_roots(depth, backend):
    """Curves moved so that an extremum is `depth` past zero: two roots, or none, or one touch within
    1e-11."""
    level, where, bends = with_extrema()
    kept = level.copy()
    kept[:, 1] -= depth * np.sign(bends)
    found, count, capped = roots(backend, kept)
    assert len(kept) > 20 and not capped.any()
    for at, bend, r, n in zip(where, np.abs(bends), found, count, strict=True):
        # depth > 0 has two roots at +- sqrt(2 depth / bend)
        apart = np.sqrt(2 * abs(depth) / bend) if depth else 0.0
        near = r[:n][np.abs(r[:n] - at) < 2 * apart + 2e-5]
        if abs(depth) <= 1e-11:
            assert 1 <= len(near) <= 2  # a touch, or the two roots it hides
        else:
            assert len(near) == (2 if depth > 0 else 0)
            assert np.allclose(near, [at - apart, at + apart][: len(near)], atol=20 * apart**2 + 1e-7)


def test_roots_come_in_order_and_never_more_than_there_can_be(backend):
    """A sum of sigma, nu and s with s sigma and s nu has at most five roots in a step."""
    found, count, _ = roots(backend, random_curves(3000, 3))
    with np.errstate(invalid="ignore"):
        assert (np.diff(found, axis=1)[np.arange(1, found.shape[1]) < count[:, None]] > 0).all()
    assert count.max() <= 5
    assert np.nanmax(np.abs(found)) <= EDGE


def test_roots_have_the_same_bits_on_every_backend(backend):
    curves = random_curves(1000, 4)
    mine, theirs = (roots(be, curves)[0].tobytes() for be in (backend, cpu()))
    assert mine == theirs


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
def test_nearly_straight_curves(backend):
    """Curvature of rounding size beside a slope: one root, not a heap of touches."""
    rng = np.random.default_rng(6)
    curves = np.zeros((200, 7))
    curves[:, 0] = 10.0 ** rng.uniform(-12, -6, 200)
    curves[:, 2] = 1.0
    curves[:, 3] = 10.0 ** rng.uniform(-18, -8, 200)
    curves[:, 1] = -rng.uniform(-0.5, 0.5, 200)
    found, count, capped = roots(backend, curves)
    assert (count == 1).all() and not capped.any()
    assert np.abs(found[:, 0] + curves[:, 1]).max() < 1e-8


# ---- known answers of the stage


def times_of(hits, kind, fa, fb):
    mine = (hits.hit[:, 1] & 3 == kind) & (hits.hit[:, 2] == fa) & (hits.hit[:, 3] == fb)
    return hits.value[mine, 0] + 0.5


def test_corner_and_ridges(backend):
    stages, face, vertex, time = corner_on_a_face(backend)
    assert np.abs(times_of(stages.s07(stages.everything()), FV, face, vertex) - time).max() < 1e-15
    stages, edge_a, edge_b, time = ridge_on_ridge(backend)
    assert np.abs(times_of(stages.s07(stages.everything()), EE, edge_a, edge_b) - time).max() < 1e-15


def wheel(backend, gap, text=None, precision="mixed"):
    """A box turns in place about z; its corner's circle of radius sqrt(1.25) comes to within `gap` of a
    wall."""
    wall, box = gc.shapes.box((1, 6, 3)), gc.shapes.box((2, 1, 0.5))
    reach, corner = np.hypot(1, 0.5), np.arctan2(0.5, 1)
    place = [-0.5 - reach - gap, 0.1, 0.2]
    up = [0, 0, 1]
    # the corner is level with the axis at t = 1/2
    q0, q1 = about(up, -corner - 0.4), about(up, -corner + 0.4)
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], place]), np.array([ONE, q0]))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], place]), np.array([ONE, q1]))
    bodies = gc.Bodies([wall, box], np.array([0, 1]), start, end)
    stages = Stages(backend, bodies, [[0, 1]], precision, text)
    face = int(np.argmin(wall.face_planes[:, 0]))
    vertex = int(np.argmax(box.vertices @ [10, 5, 1]))
    return stages, face, vertex, reach


def test_a_corner_that_dips_into_a_wall(backend):
    """Only its way in counts: when it comes out, the face looks the other way."""
    stages, face, vertex, reach = wheel(backend, -0.02)
    half = np.arccos((reach - 0.02) / reach)
    assert np.allclose(
        times_of(stages.s07(stages.everything()), FV, face, vertex), [0.5 - half / 0.8], atol=1e-14
    )


@pytest.mark.parametrize("gap", [0.0, 1e-12])
def test_a_corner_that_touches_a_wall(gap, backend):
    stages, face, vertex, _ = wheel(backend, gap)
    times = times_of(stages.s07(stages.everything()), FV, face, vertex)
    assert len(times) == 1 and abs(times[0] - 0.5) < 1e-5


def test_a_corner_that_misses_a_wall(backend):
    stages, face, vertex, _ = wheel(backend, 1e-9)
    hits = stages.s07(stages.everything())
    assert len(hits.hit) == 0 and not hits.state.any()


def slide(backend, end):
    """A small box slides on the top of a big one, from its middle by `end`."""
    big, small = gc.shapes.box((2, 2, 1)), gc.shapes.box((0.5, 0.5, 0.5))
    p0, p1 = np.array([0.1, 0.2, 0.75]), np.array([0.1, 0.2, 0.75]) + end
    start = gc.Poses.from_quat_wxyz(np.array([np.zeros(3), p0]), np.array([ONE, ONE]))
    stop = gc.Poses.from_quat_wxyz(np.array([np.zeros(3), p1]), np.array([ONE, ONE]))
    bodies = gc.Bodies([big, small], np.array([0, 1]), start, stop)
    return Stages(backend, bodies, [[0, 1]]), big, small


def test_lasting_contacts_begin_and_end_where_they_should(backend):
    """Corners at x = -0.15 and 0.35 leave a top that ends at x = 1 on their way of 2: from t = 0 to 0.575,
    0.325."""
    stages, big, small = slide(backend, [2.0, 0, 0])
    hits = stages.s07(stages.everything())
    top = int(np.argmax(big.face_planes[:, 2]))
    low = np.nonzero(small.vertices[:, 2] < 0)[0]
    mine = (hits.hit[:, 1] & 3 == FV) & (hits.hit[:, 2] == top) & np.isin(hits.hit[:, 3], low)
    assert mine.sum() == 4
    assert (hits.hit[mine, 1] & int(C["GC_HIT_SUSTAINED"]) != 0).all()
    assert np.array_equal(hits.value[mine, 0], np.full(4, -0.5))
    expected = np.where(small.vertices[hits.hit[mine, 3], 0] > 0, 0.325, 0.575)
    # the border is closed within 1e-11 of the size
    assert np.abs(hits.value[mine, 1] + 0.5 - expected).max() < 1e-10


def test_resting_lasts_the_whole_step(backend):
    stages, big, small = slide(backend, [0.0, 0, 0])
    hits = stages.s07(stages.everything())
    assert len(hits.hit) >= 4
    assert (hits.value[:, 0] == -0.5).all() and (hits.value[:, 1] == 0.5).all()
    assert (hits.hit[:, 1] & int(C["GC_HIT_SUSTAINED"]) != 0).all()


# ---- caps


def with_cap(name, most):
    kernels = sources.joined("narrow_phase/solve/s07_solve.c", "narrow_phase/solve/s07_find.c")
    text, count = re.subn(rf"#define {name} \d+", f"#define {name} {most}", kernels)
    assert count == 1
    return text


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize(
    "name, most, gap", [("GC_MAX_LEVEL", 3, 0.0), ("GC_MAX_NEWTON", 1, -0.02), ("GC_MAX_VISITS", 5, 0.0)]
)
def test_a_cap_that_is_reached_is_reported(name, most, gap, backend):
    """With caps of a few steps the pair is UNRESOLVED, and what was found stays; with the real ones it is
    not."""
    stages, *_ = wheel(backend, gap, with_cap(name, most))
    hits = stages.s07(stages.everything())
    assert hits.state.tolist() == [C["GC_PAIR_UNRESOLVED"]]
    assert stages.s08(hits)["status"].tolist() == [gc.Status.UNRESOLVED]
    stages, *_ = wheel(backend, gap)
    assert stages.s07(stages.everything()).state.tolist() == [0]


# ---- invariants


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize(
    "family", ["random_boxes", "random_nonconvex", "lattice", "to_180", "resting", "tangent", "two_sided"]
)
def test_candidates_change_no_hit(family, backend):
    """All feature pairs over the whole step give the hits of the screen's candidates, bit for bit: culling
    drops nothing, and brackets decide nothing."""
    n = 15 if family == "random_nonconvex" else 30
    stages = stages_of(backend, family, n)
    whole = stages.s07(stages.everything()).table()
    assert len(whole) > 5
    for kind in (int(C["GC_CANDIDATES_PAIRS"]), RASTER):
        assert stages.s07(screened(backend, family, n, candidates=kind)).table().tobytes() == whole.tobytes()


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
def test_hits_are_in_the_step_and_proper(backend):
    for family in ("random_nonconvex", "lattice", "resting"):
        stages = stages_of(backend, family, 30)
        for threshold in (-1.0, -0.1, 0.3):
            hits = stages.s07(stages.screen(min_properness=threshold), min_properness=threshold)
            assert ((hits.value[:, :2] >= -0.5) & (hits.value[:, :2] <= 0.5)).all()
            assert (hits.value[:, 0] <= hits.value[:, 1]).all()
            assert (hits.value[:, 2] >= threshold).all() and (hits.value[:, 2] <= 1 + 1e-12).all()
            assert np.array_equal(hits.pair_hits, np.bincount(hits.hit[:, 0], minlength=30))


@pytest.mark.parametrize("groups", [1, 2, 7])
def test_groups_change_no_hit(groups, backend):
    stages = stages_of(backend, "random_cars", 50)
    found = screened(backend, "random_cars", 50)
    assert stages.s07(found, groups=groups).table().tobytes() == stages.s07(found).table().tobytes()


@pytest.mark.parametrize("precision", ["mixed", "single", "double"])
@pytest.mark.parametrize("family", ["random_boxes", "lattice", "resting", "exact_axis", "two_sided"])
def test_three_launches_are_one(family, precision, backend):
    """The hits, their number, and what could not be resolved, bit for bit; with all feature pairs most times
    are no hits, and some families are at rest."""
    stages = stages_of(sharing(backend), family, 20, precision)
    for found in (stages.everything(), screened(backend, family, 20, precision)):
        one, three = (stages.s07(found, min_properness=-1.0, apart=apart) for apart in (False, True))
        assert one.table().tobytes() == three.table().tobytes() and len(one.hit) == len(three.hit) > 5
        assert np.array_equal(one.pair_hits, three.pair_hits) and np.array_equal(one.state, three.state)
        if family == "resting":
            assert (three.hit[:, 1] & int(C["GC_HIT_SUSTAINED"])).any()


@pytest.mark.parametrize("capacity", [0, 1, 5])
def test_times_without_room_are_counted_and_written_nowhere(capacity, backend):
    be = sharing(backend)
    stages = stages_of(be, "random_boxes", 20)
    stages.common()  # the screws
    rows, brackets = stages.everything()
    hit, value = new(be, 4 * 64, "i4"), new(be, 3 * 64, stages.real)
    count, lasting, n_lasting = be.zeros(1, "i4"), new(be, len(rows), "i4"), be.zeros(1, "i4")
    given = {
        "candidates_in": be.to_device(rows.reshape(-1)), "state_out": be.to_device(stages.state),
        "brackets_in": be.to_device(brackets.astype(stages.raster).reshape(-1)),
        "capacity": capacity, "hit_out": hit, "value_out": value, "n_hits_out": count,
        "lasting_out": lasting, "n_lasting_out": n_lasting, **stages.common(), **stages.solver(),
    }  # fmt: skip
    stages.some("s07_find", len(rows), None, given)
    hit, value = be.to_host(hit).reshape(-1, 4), be.to_host(value).reshape(-1, 3)
    assert be.item(count, 0) > 64
    assert (hit[:capacity, 1] & int(C["GC_HIT_UNTESTED"]) != 0).all() and (hit[:capacity, 0] >= 0).all()
    assert (hit[capacity:] == -1).all() and np.isnan(value[capacity:]).all()


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("family", ["random_boxes", "lattice", "resting", "two_sided"])
@pytest.mark.backends("cpu")
def test_queries_among_many_work_items_have_the_same_bits(family, few, backend, monkeypatch):
    """Of all pairs, in the general way; of a few, in launches that are kept, called twice; both with too
    little room at first."""
    scene = scene_of(family, 20)
    pairs = scene.pairs[:4] if few else np.tile(scene.pairs, (20, 1))
    expected = stored_bits.of_contacts(gc.collide(scene.bodies(), pairs, backend="cpu"))
    lanes = sharing(backend)
    monkeypatch.setitem(backends._open, "cpu", lanes)
    launched, launch = set(), type(lanes)._launch

    def noted(self, kernel, *rest):
        launched.add(kernel.name)
        return launch(self, kernel, *rest)

    monkeypatch.setattr(type(lanes), "_launch", noted)
    for _ in range(2):
        assert stored_bits.of_contacts(gc.collide(scene.bodies(), pairs, backend="cpu")) == expected
    then = "s07_last" if family == "resting" else "s07_test"
    assert few or launched >= {"s07_find", then} and "s07_solve" not in launched


# ---- parity


@pytest.mark.shared_bits("tests/narrow_phase/test_s08_contacts.py")
@pytest.mark.parametrize("family", ["random_boxes", "random_nonconvex", "to_180", "tiny_angles", "far_away"])
def test_parity_with_the_brute_force(family, backend):
    """Every sure contact is hit at its time. Worst error seen, |dt| times the normal speed over the
    size: 2.3e-15, far from the origin too."""
    n = 30
    expected = matrix.expected_of_part(family, n)
    atoms = expected.atoms[(expected.atoms["state"] == REQUIRED) & ~expected.atoms["sustained"]]
    atoms = atoms[atoms["properness"] > -0.1]
    hits = stages_of(backend, family, n).s07(screened(backend, family, n))
    times = {}
    for row, s in zip(hits.hit.tolist(), hits.value[:, 0] + 0.5, strict=True):
        times.setdefault((row[0], row[1] & 3, *row[2:]), []).append(s)
    worst = 0.0
    for a in atoms:
        key = tuple(int(a[k]) for k in ("pair", "kind", "feature_a", "feature_b"))
        assert key in times, key
        error = min(abs(t - a["time"]) for t in times[key])
        worst = max(worst, error * abs(a["normal_speed"]) / expected.size[a["pair"]])
    assert len(atoms) > 10 and worst < 1e-12
