"""The primitives against exact judges: whole numbers, turns in fifty digits, seams, sharp angles."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from tests.pluecker import _exact as judge
from tests.pluecker._scenes import crossing_edges, nearly, points, through, turned, turns, unit

pytestmark = pytest.mark.shared_bits("tests/pluecker/test_p01_primitives.py")

P = gc.pluecker
VT, VR = P.vertex_polygon_translation, P.vertex_polygon_rotation
ET, ER = P.edge_edge_translation, P.edge_edge_rotation
QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
LONG = pytest.mark.slow


@pytest.fixture
def one(backend):
    """Name of the backend that is judged; the others have its bits (`test_p01_primitives`)."""
    if backend.name != "cpu":
        pytest.skip("has the bits of cpu: test_p01_primitives")
    return backend.name


# ---- ways in whole numbers: the very fraction, rounded once


def whole(n):
    return st.lists(st.integers(-3, 3), min_size=n, max_size=n)


def check_ways(x, v, polygons, edges, still, backend):
    for got, want in zip(
        VT(x, v, polygons, backend=backend), map(judge.vertex_polygon, x, v, polygons), strict=True
    ):
        assert got == (np.inf if want is None else float(want))
    for got, want in zip(
        ET(edges, v, still, backend=backend), map(judge.edge_edge, edges, v, still), strict=True
    ):
        assert got == (np.inf if want is None else float(want))


@QUICK
@given(whole(3), whole(3), whole(9), whole(6), whole(6))
def test_ways_in_whole_numbers(one, x, v, polygon, edge, still):
    """Without a zone: the fraction of the exact solution, rounded, or none where there is none."""
    shapes = (1, 3), (1, 3), (1, 3, 3), (1, 2, 3), (1, 2, 3)
    numbers = [
        np.reshape(a, s).astype(float) for a, s in zip((x, v, polygon, edge, still), shapes, strict=True)
    ]
    check_ways(*numbers, one)


def test_random_ways_in_whole_numbers(one):
    rng = np.random.default_rng(11)
    check_ways(*(points(rng, True, 1000, *s, 3) for s in ((), (), (3,), (2,), (2,))), one)


@LONG
def test_many_ways_in_whole_numbers(one):
    rng = np.random.default_rng(1)
    n = 2000
    for _ in range(20):
        check_ways(*(points(rng, True, n, *s, 3) for s in ((), (), (3,), (2,), (2,))), one)


def test_edges_of_solids_in_whole_numbers(one):
    """With faces at both edges: only where neither body would reach into the other's faces."""
    rng = np.random.default_rng(2)
    n = 12000
    edges, still, v = points(rng, True, n, 2, 3), points(rng, True, n, 2, 3), points(rng, True, n, 3)
    normals = []
    for ends in (edges, still):
        normals.append(np.cross((ends[:, 1] - ends[:, 0])[:, None], points(rng, True, n, 2, 3)))
    good = np.all([(m != 0).any(axis=2).all(axis=1) for m in normals], axis=0)
    good &= np.isfinite(ET(edges, v, still, backend=one))  # they meet as rods
    edges, still, v, mine, theirs = (a[good] for a in (edges, still, v, *normals))
    got = ET(edges, v, still, edge_normals=mine, still_normals=theirs, backend=one)
    want = [judge.edge_edge(*row) for row in zip(edges, v, still, mine, theirs, strict=True)]
    assert sum(w is not None for w in want) > 20
    for g, w in zip(got, want, strict=True):
        assert g == (np.inf if w is None else float(w))


# ---- turns: never late, early by the zone at most, and nothing invented


def vertex_turns(rng, whole, n, expel, backend):
    """Checks n turns of vertices by fifty digits; returns how many were stopped."""
    x, polygons = points(rng, whole, n, 3), points(rng, whole, n, 3, 3)
    angle, axis, origin = turns(rng, whole, n)
    got = VR(x, angle, axis, origin, polygons, expel=expel, backend=backend)
    rounding = P.default_expel(4.0) / 16
    for k in range(n):
        turn = judge.VertexTurn(x[k], angle[k], axis[k], origin[k], polygons[k])
        if not any(turn.normal):
            assert got[k] == np.inf
            continue
        stop = mp.mpf(float(got[k])) * turn.angle
        meets = turn.swing.falls()
        if meets is not None and meets <= turn.angle and turn.distance(0) >= 0 and turn.inside(meets) >= 0:
            assert stop <= meets + rounding, k
        if np.isfinite(got[k]):
            assert turn.distance(stop) <= expel + rounding, k
            low = mp.atan2(turn.swing.sine, turn.swing.cosine) + mp.pi
            sinking = turn.swing.sine < rounding
            nearest = 0 if turn.distance(0) <= 0 and sinking else low if meets is None else meets
            assert turn.inside(nearest) > -(expel + rounding) - mp.sqrt(expel + rounding), k
            assert turn.distance(low) <= expel / 4 + rounding, k
    return np.isfinite(got).sum()


def edge_turns(rng, whole, n, expel, backend):
    """The same for edges, as rods."""
    edges, still = points(rng, whole, n, 2, 3), points(rng, whole, n, 2, 3)
    angle, axis, origin = turns(rng, whole, n)
    got = ER(edges, angle, axis, origin, still, expel=expel, backend=backend)
    rounding = P.default_expel(4.0) / 16
    for k in range(n):
        turn = judge.EdgeTurn(edges[k], angle[k], axis[k], origin[k], still[k])
        stop = mp.mpf(float(got[k])) * turn.angle
        for sign in (1, -1):
            meets = turn.swing.falls(sign)
            if meets is None or meets > turn.angle or sign * turn.side(0) < 0:
                continue
            if turn.look(meets)[1] >= 0:
                assert stop <= meets + rounding, k
        if np.isfinite(got[k]):
            assert abs(turn.look(stop)[0]) <= expel + rounding, k
    return np.isfinite(got).sum()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("check, n", [(vertex_turns, 120), (edge_turns, 50)])
def test_turns_in_fifty_digits(check, n, whole, one):
    with mp.workdps(judge.DIGITS):
        for expel in (P.default_expel(4.0), 0.01):
            assert check(np.random.default_rng(3), whole, n, expel, one) > 0


@LONG
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("check", [vertex_turns, edge_turns])
def test_many_turns_in_fifty_digits(check, whole, one):
    with mp.workdps(judge.DIGITS):
        for seed in range(3):
            for expel in (P.default_expel(4.0), 1e-6, 0.01):
                assert check(np.random.default_rng(100 + seed), whole, 1000, expel, one) > 5


# ---- seams: nothing slips between two neighbours


def fan(rng, n, sides):
    """Triangles about an apex that a vertex can come to from above: (n, sides, 3, 3), and the apex."""
    at = np.sort(rng.uniform(0, 1, (n, sides)) + np.arange(sides), axis=1) * (2 * np.pi / sides)
    rim = np.stack([np.cos(at), np.sin(at), rng.uniform(-0.3, 0.3, (n, sides))], axis=-1)
    apex = rng.uniform(-0.1, 0.1, (n, 3))
    return np.stack([np.broadcast_to(apex[:, None], rim.shape), rim, np.roll(rim, -1, axis=1)], axis=2), apex


def aims(rng, triangles, apex):
    """Points on a fan's spokes and on its apex, within a few units in the last place of them."""
    part = rng.uniform(0, 0.9, len(apex)) * rng.integers(0, 2, len(apex))
    spoke = triangles[:, 0, 1]
    return nearly(rng, apex + part[:, None] * (spoke - apex))


def seams_of_ways(seed, n, expel, backend):
    rng = np.random.default_rng(seed)
    triangles, apex = fan(rng, n, 5)
    down = np.concatenate([rng.uniform(-0.5, 0.5, (n, 2)), rng.uniform(-2, -1, (n, 1))], axis=1)
    front = np.cross(triangles[..., 1, :] - triangles[..., 0, :], triangles[..., 2, :] - triangles[..., 0, :])
    good = (np.einsum("nki,ni->nk", front, down) < -0.05).all(axis=1)  # all of the fan faces the path
    triangles, down, apex = triangles[good], down[good], apex[good]
    x = aims(rng, triangles, apex) - down * rng.uniform(0.3, 0.7, (len(apex), 1))
    hit = np.isfinite(VT(x[:, None], down[:, None], triangles, expel=expel, backend=backend))
    assert len(hit) > n / 4 and hit.any(axis=1).all()
    return hit


@pytest.mark.parametrize("expel", [0.0, None, 1e-3])
def test_no_vertex_slips_between_polygons(expel, one):
    """On the seam between two polygons and where five meet; without a zone, mostly one is hit."""
    hit = seams_of_ways(5, 20000, expel, one)
    assert expel == 1e-3 or hit.sum(axis=1).max() <= 5
    if expel == 0:
        assert (hit.sum(axis=1) == 1).mean() > 0.5


@LONG
@pytest.mark.parametrize("expel", [0.0, None])
def test_no_vertex_slips_between_polygons_in_millions(expel, one):
    for seed in range(20):
        seams_of_ways(seed, 100_000, expel, one)


def seams_of_turns(seed, n, expel, backend):
    rng = np.random.default_rng(seed)
    triangles, apex = fan(rng, n, 5)
    aim = aims(rng, triangles, apex)
    axis = unit(np.concatenate([rng.normal(size=(n, 2)), rng.normal(size=(n, 1)) * 0.3], axis=1))
    down = unit(np.concatenate([rng.uniform(-0.3, 0.3, (n, 2)), -np.ones((n, 1))], axis=1))
    # about a point from which it goes down to the aim
    origin = aim - np.cross(down, axis) * rng.uniform(0.5, 2, (n, 1)) + axis * rng.uniform(-1, 1, (n, 1))
    back = rng.uniform(0.1, 0.6, n)
    x = turned(aim[:, None], -back, axis, origin)[:, 0]
    moving = np.cross(axis, aim - origin)
    front = np.cross(triangles[..., 1, :] - triangles[..., 0, :], triangles[..., 2, :] - triangles[..., 0, :])
    good = (np.einsum("nki,ni->nk", front, moving) < -0.05).all(axis=1)
    angle = 1.3 * back
    hit = np.isfinite(
        VR(x[good, None], angle[good, None], axis[good, None], origin[good, None], triangles[good],
           expel=expel, backend=backend)
    )  # fmt: skip
    assert len(hit) > n / 8 and hit.any(axis=1).all()


@pytest.mark.parametrize("expel", [0.0, None, 1e-3])
def test_no_turning_vertex_slips_between_polygons(expel, one):
    seams_of_turns(6, 20000, expel, one)


def bend(rng, n):
    """Two edges that share a point, both across the way of an edge that comes down to it."""
    joint = rng.uniform(-0.1, 0.1, (n, 3))
    ends = [
        np.stack([side * rng.uniform(0.3, 1, n), *rng.uniform(-0.2, 0.2, (2, n))], axis=1) for side in (-1, 1)
    ]
    still = np.stack([np.stack([joint + ends[0], joint], 1), np.stack([joint, joint + ends[1]], 1)], axis=1)
    u = unit(np.stack([rng.uniform(-0.2, 0.2, n), np.ones(n), rng.uniform(-0.2, 0.2, n)], axis=1))
    return still, joint, u


@pytest.mark.parametrize("expel", [0.0, None, 1e-3])
def test_no_edge_slips_past_a_shared_vertex(expel, one):
    rng = np.random.default_rng(7)
    n = 20000
    still, joint, u = bend(rng, n)
    edges = through(rng, nearly(rng, joint), u)
    down = np.concatenate([rng.uniform(-0.2, 0.2, (n, 2)), -np.ones((n, 1))], axis=1)
    start = edges - (down * rng.uniform(0.2, 0.8, (n, 1)))[:, None]
    hit = np.isfinite(ET(start[:, None], down[:, None], still, expel=expel, backend=one))
    assert hit.any(axis=1).all()
    if expel == 0:
        assert (hit.sum(axis=1) == 1).mean() > 0.5
    axis = unit(np.stack([np.ones(n), rng.uniform(-0.3, 0.3, n), rng.uniform(-0.3, 0.3, n)], axis=1))
    origin = joint + [0, 2, 0] * rng.choice([-1.0, 1.0], (n, 1)) * rng.uniform(0.6, 1, (n, 1))
    back = rng.uniform(0.1, 0.5, n) * np.sign(origin[:, 1] - joint[:, 1])  # so that it comes down
    start = turned(edges, -back, axis, origin)
    hit = np.isfinite(
        ER(start[:, None], 1.3 * back[:, None], axis[:, None], origin[:, None], still, expel=expel,
           backend=one)
    )  # fmt: skip
    assert hit.any(axis=1).all()


# ---- how exact a distance is, down to edges that are all but parallel


@pytest.mark.parametrize("sine", [1, 1e-2, 1e-5, 1e-8, 1e-11])
def test_the_zone_of_edges_on_a_way(sine, one):
    """Distance along the normal at the stop, against the zone. Worst error seen: 0.0026 of the default zone,
    on 300 pairs of each of ten sines from 1 to 1e-14."""
    rng = np.random.default_rng(8)
    n = 25
    u, w, normal = crossing_edges(rng, n, sine)
    x = rng.uniform(-1, 1, (n, 3))
    v = normal * rng.uniform(0.2, 1, (n, 1)) + u * rng.uniform(-0.1, 0.1, (n, 1))
    edges, still = through(rng, x, u), through(rng, x + v * rng.uniform(0.1, 0.9, (n, 1)), w)
    zone = P.default_expel(max(np.abs(a).max() for a in (edges, still, v)))
    for expel in (0.0, zone):
        got = ET(edges, v, still, expel=expel, backend=one)
        assert np.isfinite(got).all()
        for f, edge, way, bar in zip(got, edges, v, still, strict=True):
            (a, b), (c, d) = judge.exact(edge), judge.exact(bar)
            out = judge.cross(judge.sub(b, a), judge.sub(d, c))
            gap = judge.sub(c, judge.along(a, judge.exact(way), judge.exact(f)))
            square = judge.dot(gap, out) ** 2 / judge.dot(out, out)
            assert abs(float(square) ** 0.5 - expel) <= zone / 64


@pytest.mark.parametrize("sine", [1, 1e-3, 1e-6, 1e-9])
def test_the_zone_of_edges_on_a_turn(sine, one):
    """The same on a large turn that ends with this sine between the edges. Worst error seen: 0.0035 of the
    default zone from 1 to 1e-8, 0.025 at 1e-10, where the normal itself turns on so short a way; on 150 pairs
    of each of seven sines."""
    rng = np.random.default_rng(9)
    n = 12
    u, w, _ = crossing_edges(rng, n, sine)
    x = rng.uniform(-1, 1, (n, 3))
    still = through(rng, x, w)
    origin, axis = x + np.cross(rng.normal(size=(n, 3)), u), unit(rng.normal(size=(n, 3)))
    back = rng.uniform(0.1, 2.4, n)
    with mp.workdps(judge.DIGITS):
        edges = np.array([
            [[float(t) for t in judge.turned(*map(judge.number, (q, k, o)), -mp.mpf(angle))] for q in e]
            for e, k, o, angle in zip(through(rng, x, u), axis, origin, back, strict=True)
        ])  # fmt: skip
        zone = P.default_expel(max(np.abs(a).max() for a in (edges, still, origin)))
        for expel in (0.0, zone):
            got = ER(edges, 1.3 * back, axis, origin, still, expel=expel, backend=one)
            assert np.isfinite(got).mean() > 0.7  # two roots so near each other may not be there at all
            for k in np.flatnonzero(np.isfinite(got)):
                turn = judge.EdgeTurn(edges[k], 1.3 * back[k], axis[k], origin[k], still[k])
                distance, _ = turn.look(mp.mpf(float(got[k])) * turn.angle)
                assert abs(abs(distance) - expel) <= zone / 32


def vertex_errors(rng, n, precision, sliver, backend):
    """Errors of the distance from the plane where vertices stop, in default zones: on ways, on turns."""
    corners = rng.uniform(-1, 1, (n, 3))
    triangles = np.stack([corners, corners, corners], axis=1)
    long, wide, normal = crossing_edges(rng, n, 1.0)
    wide = unit(np.cross(normal, long))
    triangles[:, 1] += long
    triangles[:, 2] += long * 0.5 + wide * sliver
    aim = triangles.mean(axis=1)
    v = -unit(normal) + rng.uniform(-1, 1, (n, 3)) * 0.9
    x = aim - v * rng.uniform(0.2, 0.8, (n, 1))
    axis = unit(np.cross(v, rng.normal(size=(n, 3))))
    origin = aim - np.cross(unit(v), axis) * rng.uniform(0.5, 1, (n, 1))
    back = rng.uniform(0.1, 1, n)
    y = turned(aim[:, None], -back, axis, origin)[:, 0]
    if precision == "single":
        x, v, y, triangles, axis, origin = (
            a.astype("f4").astype("f8") for a in (x, v, y, triangles, axis, origin)
        )
    zone = P.default_expel(max(np.abs(a).max() for a in (x, v, y, triangles, origin)), precision)
    ways = VT(x, v, triangles, expel=zone, precision=precision, backend=backend)
    angles = VR(y, 1.2 * back, axis, origin, triangles, expel=zone, precision=precision, backend=backend)
    worst = [0.0, 0.0]
    for k in range(n):
        turn = judge.VertexTurn(y[k], 1.2 * back[k], axis[k], origin[k], triangles[k])
        if 0 < ways[k] < np.inf:
            at = judge.along(judge.number(x[k]), judge.number(v[k]), mp.mpf(float(ways[k])))
            distance = judge.dot(turn.normal, judge.sub(at, turn.polygon[0]))
            worst[0] = max(worst[0], float(abs(distance - zone) / zone))
        if 0 < angles[k] < np.inf:
            error = abs(turn.distance(mp.mpf(float(angles[k])) * turn.angle) - zone)
            worst[1] = max(worst[1], float(error / zone))
    assert np.isfinite(ways).mean() > 0.5 and np.isfinite(angles).mean() > 0.5
    return worst


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("sliver", [1.0, 1e-4])
def test_the_zone_of_vertices(precision, sliver, one):
    """Worst error seen: 0.0039 of the default zone on ways, 0.0046 on turns, of 600 of each kind."""
    with mp.workdps(judge.DIGITS):
        worst = vertex_errors(np.random.default_rng(10), 40, precision, sliver, one)
    assert max(worst) <= 1 / 16
