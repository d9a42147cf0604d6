"""What stands by what, by hand: inside, corners and edges, thin plates, sheets, and zones that go on."""

from itertools import product

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker import Touch, contacts, move, rotate, translate
from tests.acceptance.pluecker_places import judge_poses, places, slants
from tests.pluecker._crowds import BOX, at, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FLOOR = still(gc.shapes.box((9, 9, 1)), [0, 0, -0.5])
SQUARE = [[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
STANDS = 1.0625  # zones


@pytest.fixture(params=["kernels", "reference"])
def engine(request, backend):
    """Each backend, and the reference once."""
    if request.param == "kernels":
        return backend.kind
    if backend.kind != "cpu":
        pytest.skip("the reference is asked once")
    return "reference"


def kinds(found):
    return [Touch(k).name for k in found.kind]


def keys(found):
    columns = (found.mover, found.kind, found.feature_a, found.body, found.feature_b)
    return set(zip(*(c.tolist() for c in columns), strict=True))


# ---- zones ----


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_the_zone_of_a_trace_is_good_for_what_follows(backend, precision):
    """Contacts within any distance, and the same zone along any further way, or turn, from where a short one
    ended: what comes is thicker where the numbers need it, and says so."""
    rng = np.random.default_rng(5)
    n = 40
    high = np.column_stack((rng.uniform(-2, 2, (n, 2)), 0.5 + 10.0 ** rng.uniform(-3, 0, n)))
    end = at(high - [0, 0, 1e-3], np.tile([1.0, 0, 0, 1e-4], (n, 1)))
    movers = gc.Bodies(BOX, None, at(high), end)
    how = {"precision": precision, "backend": backend.kind}
    far = np.array([1e3, 0, 5])
    first = (
        translate(movers, FLOOR, [0, 0, -1e-4], **how),
        rotate(movers, FLOOR, 1e-3, [0, 1, 0], high, **how),
        rotate(movers, FLOOR, 1e-3, [1, 1, 0], high + [30, 30, 0], **how),
        move(movers, FLOOR, **how),
    )
    for trace in first:
        stands = gc.Bodies(BOX, None, trace.poses, trace.poses)
        for distance in (0.0, 0.01, 100.0):
            contacts(stands, FLOOR, distance, expel=trace.expel, **how)
        for then in (
            translate(stands, FLOOR, far, expel=trace.expel, **how),
            rotate(stands, FLOOR, 0.1, [1, 0, 0], far, expel=trace.expel, **how),
            move(gc.Bodies(BOX, None, trace.poses, at(far + high)), FLOOR, expel=trace.expel, **how),
        ):
            assert (then.expel > trace.expel).all(), "the way is longer, and so the error of its numbers"
    with pytest.raises(ValueError, match="expel: expected a finite length of at least .* for mover 0, half"):
        contacts(movers, FLOOR, expel=0.4 * gc.pluecker.default_expel(1.0, precision), **how)


def test_what_stops_edge_on_edge_at_a_slant_is_among_the_places(engine):
    """Whole numbers: boxes stop beside the face, or the edge's ends, that they are told to touch."""
    ways = [v for v in product((-2, -1, 0, 1, 2), repeat=3) if any(v)]
    to = [t for t in product((-1, -0.5, 0, 0.5, 1), repeat=3) if max(map(abs, t)) == 1]
    pairs = [(v, t) for v in ways for t in to if max(abs(a - b) for a, b in zip(t, v, strict=True)) > 1]
    pairs = pairs[:: 97 if engine == "reference" else 5]
    way = np.array([v for v, _ in pairs], float)
    movers, world = still(BOX, np.array([t for _, t in pairs]) - way), still(BOX, [0, 0, 0])
    trace = translate(movers, world, 2 * way, backend=engine)
    found = contacts(gc.Bodies(BOX, None, trace.poses, trace.poses), world, expel=trace.expel, backend=engine)
    stopped = np.flatnonzero(trace.kind)
    have = keys(found)
    assert len(stopped) > 40 and (trace.fraction > 0).all()
    for i in stopped:
        assert (i, trace.kind[i], trace.feature_a[i], 0, trace.feature_b[i]) in have, i
    assert (found.distance <= 3.2 * trace.expel[found.mover]).all(), "2.25 beside two borders at right angles"


def test_what_stops_edges_along_each_other_is_among_the_places(engine):
    """Edges on one line at the start of a turn that leads the one over a face of the other."""
    cube = gc.shapes.box((2, 2, 2))
    movers, world = still(cube, [2.0, 2, 0]), still(cube, [0.0, 0, 0])
    trace = rotate(movers, world, 1.0, [3, 3, 1], [2, 0, 0], backend=engine)
    assert trace.kind[0] == Touch.EE and trace.fraction[0] == 0
    found = contacts(movers, world, expel=trace.expel, backend=engine)
    assert (0, Touch.EE, trace.feature_a[0], 0, trace.feature_b[0]) in keys(found)


# ---- inside ----


@pytest.mark.parametrize("z", [0.4999, 0.3, -0.5])
def test_what_is_inside_is_told(engine, z):
    """A box 1e-4 deep in the floor, farther, and wholly inside: once it was a MISS."""
    big = still(gc.shapes.box((9, 9, 5)), [0, 0, -2.5])
    found = contacts(still(BOX, [[0, 0, z], [0, 0, 3]]), big, 0.02, backend=engine)
    assert found.status.tolist() == [gc.Status.INITIAL_OVERLAP, gc.Status.MISS]
    inside = found.distance < 0
    assert inside.sum() == 1 and found.body[inside] == 0 and found.kind[inside] == Touch.VF
    assert found.normal[inside].tolist() == [[0, 0, 1]]
    assert np.abs(found.distance[inside] - (z - 0.5)).max() < 1e-14


def test_a_point_inside_and_a_body_around(engine):
    world = still(gc.shapes.box((2, 2, 2)), [[0, 0, 0], [5, 0, 0]])
    found = contacts([[0.2, 0.1, 0.3], [5, 0, 1.05]], world, 0.1, backend=engine)
    assert found.status.tolist() == [2, 1] and kinds(found) == ["VF", "VF"]
    assert found.body.tolist() == [0, 1] and np.allclose(found.distance, [-0.7, 0.05], atol=1e-14)
    around = contacts(still(gc.shapes.box((8, 8, 8)), [0, 0, 0]), world, backend=engine)
    assert around.status[0] == gc.Status.INITIAL_OVERLAP
    assert around.body[np.argmin(around.distance)] == 0 and abs(around.distance.min() + 5) < 1e-14


def test_what_is_in_by_no_more_than_touch_is_told_how_deep(engine):
    """Deeper than the zone, but less than solids count: 1e-7 of their sizes."""
    for depth in (1e-10, 1e-8, 1e-7):
        found = contacts(still(BOX, [0, 0, 0.5 - depth]), FLOOR, backend=engine)
        assert found.status[0] == gc.Status.INITIAL_OVERLAP
        low = found.kind == Touch.VF
        assert low.sum() == 4 and np.allclose(found.distance[low], -depth, rtol=0, atol=1e-14)
        assert np.allclose(found.normal[low], [0, 0, 1])


def test_what_is_before_a_thin_plate_is_not_behind_it(engine):
    """A plate thinner than what counts as touch: a vertex is behind its far side and before the near one."""
    plate = still(gc.shapes.box((4, 4, 1e-7)), [0, 0, 0])
    for gap in (1e-12, 1e-8, 1e-6):
        found = contacts(still(BOX, [0, 0, 0.5 + 0.5e-7 + gap]), plate, 2 * gap, backend=engine)
        assert found.status[0] == gc.Status.HIT and len(found) == 4
        assert np.allclose(found.distance, gap, rtol=1e-3, atol=1e-15) and (found.normal[:, 2] > 0.99).all()


# ---- corners and edges ----


def test_a_corner_before_a_corner(engine):
    found = contacts(still(BOX, [1.01, 1.01, 1.01]), still(BOX, [0, 0, 0]), 0.05, backend=engine)
    assert kinds(found) == ["VV"]
    assert abs(found.distance[0] - 0.01 * 3**0.5) < 1e-14 and np.allclose(found.normal, 3**-0.5)
    assert np.allclose(found.point, 0.51), "the mover's corner"
    assert not len(contacts(still(BOX, [1.01, 1.01, 1.01]), still(BOX, [0, 0, 0]), 0.017, backend=engine))


def test_an_edge_beside_an_edge(engine):
    """Parallel: at both ends of what they share, each told once."""
    world = still(BOX, [0, 0, 0])
    level = contacts(still(BOX, [1.01, 1.01, 0]), world, 0.05, backend=engine)
    assert kinds(level) == ["VE", "VE"] and sorted(level.point[:, 2].round(9)) == [-0.5, 0.5]
    shifted = contacts(still(BOX, [1.01, 1.01, 0.3]), world, 0.05, backend=engine)
    assert kinds(shifted) == ["VE", "EV"] and np.allclose(sorted(shifted.point[:, 2]), [-0.2, 0.5])
    for found in (level, shifted):
        assert np.allclose(found.distance, 0.01 * 2**0.5, atol=1e-14)
        assert np.allclose(found.normal, [2**-0.5, 2**-0.5, 0])


def test_a_place_is_told_once(engine):
    """Boxes flush on each other: corner over corner, edge over edge, at each of four corners. With the zone
    given and in it, each pair of features that could have stopped the mover is told."""
    found = contacts(still(BOX, [0, 0, 1.01]), still(BOX, [0, 0, 0]), 0.05, backend=engine)
    assert kinds(found) == ["VF"] * 4 and len(np.unique(found.point.round(9), axis=0)) == 4
    down = translate(still(BOX, [0, 0, 1.01]), still(BOX, [0, 0, 0]), [0, 0, -1], backend=engine)
    stands = gc.Bodies(BOX, None, down.poses, down.poses)
    once = contacts(stands, still(BOX, [0, 0, 0]), 1e-12, backend=engine)
    every = contacts(stands, still(BOX, [0, 0, 0]), 1e-12, expel=down.expel, backend=engine)
    assert kinds(once) == ["VF"] * 4 and keys(once) < keys(every)
    assert np.allclose(every.normal, [0, 0, 1], atol=1e-3), "the shortest way, also from beside a side"


def test_a_reflex_corner_and_what_stands_in_it(engine):
    """About an angle with an inner corner: of each point the least distance to the mesh, and no more."""
    mesh = gc.shapes.l_block()
    world = still(mesh, [0, 0, 0])
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    rng = np.random.default_rng(2)
    points = rng.uniform(low - 0.1, high + 0.1, (400, 3))
    found = contacts(points, world, 0.1, backend=engine)
    real = found.kind != Touch.OVERLAP
    assert set(np.unique(found.kind[real])) <= {Touch.VF, Touch.VE, Touch.VV}
    # by all triangles: the least distance of each point that is outside
    best = np.full(len(points), np.inf)
    for face in mesh.faces:
        for k in range(1, len(face) - 1):
            t = mesh.vertices[[face[0], face[k], face[k + 1]]]
            best = np.minimum(best, triangle_distance(points, t))
    out = found.status != gc.Status.INITIAL_OVERLAP
    near = np.full(len(points), np.inf)
    np.minimum.at(near, found.mover[real], found.distance[real])
    assert ((best <= 0.1) & out).sum() > 60 and (~out).sum() > 60
    assert np.allclose(near[(best <= 0.1) & out], best[(best <= 0.1) & out], atol=1e-13)
    assert np.isinf(near[(best > 0.1 + 1e-12) & out]).all()


def triangle_distance(points, t):
    from tests.acceptance.pluecker_places import point_triangle

    return point_triangle(points, t[None])


# ---- sheets, polygons, points ----


def test_sheets_have_a_front_and_borders(engine):
    """From behind, a sheet is no surface, unless it has two sides; its borders are there from all around."""
    one, two = (still(gc.Mesh(SQUARE, [[0, 1, 2, 3]], two_sided=k), [0, 0, 0]) for k in (False, True))
    points = [[0, 0, 0.05], [0, 0, -0.05], [1.03, 0, -0.04], [1.03, 1.04, 0], [0.5, 0.5, 0.2]]
    for sheet, behind in ((one, 0), (two, 1)):
        found = contacts(points, sheet, 0.1, backend=engine)
        assert found.status.tolist() == [1, behind, 1, 1, 0]
        last = found.mover >= 2
        assert kinds(found)[-2:] == ["VE", "VV"] and np.allclose(found.distance[last], 0.05)
        assert np.allclose(found.normal[last], [[0.6, 0, -0.8], [0.6, 0.8, 0]])


def test_a_polygon_stands_beside_a_box(engine):
    """One polygon as a mover: flat above a box's edge, and its corner before the box's."""
    sheet = gc.Mesh(SQUARE, [[0, 1, 2, 3]], two_sided=True)
    found = contacts(
        still(sheet, [[0, 0, 0.52], [1.52, 1.52, 0.52]]), still(BOX, [0, 0, 0]), 0.1, backend=engine
    )
    assert kinds(found) == ["FV"] * 4 + ["VV"]
    assert np.allclose(found.distance, [0.02] * 4 + [0.02 * 3**0.5])


# ---- families ----


@pytest.mark.parametrize("kind", ["random", "whole"])
def test_a_sample_of_the_poses(engine, kind):
    n = 72 if engine in ("reference", "cuda") else 700
    wrong, seen = places(kind, n, 7, backend=engine)
    assert not +wrong, wrong
    assert seen["near"] > n // 8 and seen["inside"] > n // 8 and seen["places"] > n // 2


@pytest.mark.parametrize("turns", [False, True])
def test_a_sample_of_the_slants(engine, turns):
    n = 72 if engine in ("reference", "cuda") else 700
    wrong, seen = slants(n, 7, turns=turns, backend=engine)
    assert not +wrong, wrong
    assert seen["stopped"] > n // 6 and seen["by edges"] > n // 30


def test_the_judge_notices(backend):
    """A place left out, one put too near, one inside unsaid, one told twice."""
    if backend.kind != "cpu":
        pytest.skip("it is the judge that is judged")
    from tests.acceptance.pluecker_places import Poses, pairs_of_shapes

    poses = Poses(*pairs_of_shapes()[0], np.random.default_rng(1), 60, True)
    rows = np.arange(poses.n, dtype=np.int32)
    found = contacts(
        poses.bodies(0), poses.bodies(1), poses.distance, pairs=np.column_stack((rows, rows)), backend="cpu"
    )
    assert not +judge_poses(poses, found)[0]
    names = ("mover", "kind", "body", "feature_a", "feature_b", "point", "normal", "distance")

    def with_rows(rows, status=found.status, **other):
        columns = {name: getattr(found, name)[rows] for name in names} | other
        start = np.concatenate([[0], np.cumsum(np.bincount(columns["mover"], minlength=poses.n))])
        return gc.pluecker.TouchPoints(status=status, point_start=start, **columns)

    every = np.arange(len(found))
    none = judge_poses(poses, with_rows(every[:0]))[0]
    assert none["missed"] > 5
    nearer = judge_poses(poses, with_rows(every, distance=found.distance * 0.99))[0]
    assert nearer["not as far as said"] > 5 and nearer["not the nearest"] > 5
    assert judge_poses(poses, with_rows(every, status=np.zeros_like(found.status)))[0]["inside, not told"] > 2
    assert judge_poses(poses, with_rows(np.sort(np.r_[every, every])))[0]["told twice"] > 5
