"""Stage p01: known answers, the same bits on every backend, and the reference."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.movers.primitives import layout
from tests.pluecker._scenes import points, turns, unit

pytestmark = pytest.mark.shared_bits("tests/pluecker/test_p01_primitives.py")

P = gc.pluecker
VT, VR = P.vertex_polygon_translation, P.vertex_polygon_rotation
ET, ER = P.edge_edge_translation, P.edge_edge_rotation
SQUARE = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
WALL = np.array([[0.0, -3, -3], [0, 3, -3], [0, 3, 3], [0, -3, 3]])  # its front looks along +x
X, Y, Z = np.eye(3)
ZONE = 0.25


# ---- known answers


def test_lines_and_sides_by_hand(backend):
    """The source's tuple, and the determinant that its inner product is."""
    p = P.line([1, 2, 3], [4, 6, 9], backend=backend.name)
    assert p.tolist() == [1 * 6 - 4 * 2, 1 * 9 - 4 * 3, 1 - 4, 2 * 9 - 6 * 3, 3 - 9, 6 - 2]
    assert p[0] * p[4] + p[1] * p[5] + p[2] * p[3] == 0
    rng = np.random.default_rng(1)
    four = points(rng, True, 500, 4, 3)
    a, b, c, d = (four[:, k] for k in range(4))
    p, q = P.line(a, b, backend=backend.name), P.line(c, d, backend=backend.name)
    side = P.side(p, q, backend=backend.name)
    rows = np.concatenate([four, np.ones((500, 4, 1))], axis=2)
    assert np.allclose(side, np.linalg.det(rows), rtol=0, atol=1e-11)  # worst seen: 6e-14, of the determinant
    assert np.array_equal(side, P.side(q, p, backend=backend.name))
    assert np.array_equal(-side, P.side(P.line(b, a, backend=backend.name), q, backend=backend.name))


@pytest.mark.parametrize(
    "height, vector, fraction",
    [
        (2, -4, (2 - ZONE) / 4),  # from outside to the surface of the zone
        (2, -1, np.inf),  # not so far
        (2, -2 + ZONE, 1.0),  # just so far
        (2, 4, np.inf),  # away
        (0.1, -1, 0.0),  # in the zone: not deeper
        (0.1, 1, np.inf),  # but out
        (-0.1, -1, 0.0),  # poked through by less than the zone is thick
        (-0.1, 1, np.inf),
        (-0.5, -1, np.inf),  # behind: not this polygon's front
        (0, 0, np.inf),  # no motion at all
    ],
)
def test_a_vertex_comes_to_a_polygon(height, vector, fraction, backend):
    got = VT([0.5, 0, height], [0, 0, vector], SQUARE, expel=ZONE, backend=backend.name)
    assert got == fraction


def test_beside_a_border(backend):
    """Within a quarter of the zone beside it the polygon still stops; a path along it does not."""
    for out, stops in ((0.0, True), (0.0624, True), (0.0626, False)):
        got = VT([1 + out, 0, 1], -Z, SQUARE, expel=ZONE, backend=backend.name)
        assert np.isfinite(got) == stops
    slide = VT([-2, 0.3, ZONE], [3, 0, -1e-9], SQUARE, expel=ZONE, backend=backend.name)
    assert slide == np.inf


def degrees(cosine):
    return np.degrees(np.arccos(cosine))


@pytest.mark.parametrize(
    "middle, start, stop",
    [
        (0.5, degrees(-0.4), 0),  # figure 2: in the zone, going deeper
        (-0.9, -40, 40),  # figure 3: never comes out, and only as far out as it goes
        (-0.6, -60, 60 + degrees(0.85)),  # figure 4: comes out, and then to the surface
        (-0.8, 0, 0),  # in the zone, at the top of its circle
        (1.1, 180, None),  # in the zone, at the bottom
        (1.3, 100, None),  # never in the zone
        (1.1, 100, None),  # in the zone, but no nearer than a quarter of it
        (1.05, 100, degrees(-0.8) - 100),  # nearer than that
        (3, 0, None),
        (-3, 0, None),  # behind all the way
        (-0.5, 130, None),  # behind by more than the zone is thick, and going on
        (-0.5, -130, 130 + degrees(0.75)),  # from behind: only falling counts
        (0, 0, degrees(0.25)),
    ],
)
@pytest.mark.parametrize("way", [1, -1])
def test_the_figures_of_the_source(middle, start, stop, way, backend):
    """Section 3.3: the distance from the wall is middle + cos(start + angle), either way round."""
    at = np.radians(start)
    vertex = [middle + np.cos(at), way * np.sin(at), 0]
    got = VR(vertex, way * np.pi, Z, [middle, 0, 0], WALL, expel=ZONE, backend=backend.name)
    assert got == np.inf if stop is None else got * 180 == pytest.approx(stop, abs=1e-12)


@pytest.mark.parametrize("start, stop", [(0, degrees(0.25)), (-40, 40 + degrees(0.25)), (120, None)])
def test_an_edge_turns_to_an_edge(start, stop, backend):
    """A post that goes round comes to a bar as a vertex comes to a wall; a rod also from behind."""
    at = np.radians(start)
    foot = np.array([np.cos(at), np.sin(at), 0])
    turn = [foot - Z, foot + Z], np.pi, Z, [0, 0, 0], [[0, -3, 0], [0, 3, 0]]
    ridge = [unit(X + Z), unit(X - Z)]  # the bar goes along y: the face to its left is the upper one
    got = ER(*turn, still_normals=ridge, expel=ZONE, backend=backend.name)
    assert got == np.inf if stop is None else got * 180 == pytest.approx(stop, abs=1e-12)
    rod = ER(*turn, expel=ZONE, backend=backend.name)
    behind = 360 - degrees(-ZONE) - start
    assert rod * 180 == pytest.approx(behind if stop is None else stop, abs=1e-12)


def test_an_edge_comes_to_an_edge(backend):
    """Along the normal of both, whatever else the motion does; and the zone as for vertices."""
    bar, post = np.array([[-1.0, 0, 0], [1, 0, 0]]), np.array([[0.0, -1, 0], [0, 1, 0]])

    def come(height, vector, **options):
        return ET(post + [0, 0, height], vector, bar, expel=ZONE, backend=backend.name, **options)

    roof = unit(np.array([[0.0, -1, 1], [0, 1, 1]]))[::-1]  # the bar as the ridge of a roof, from -x to +x
    floor = unit(np.array([[1.0, 0, -1], [-1, 0, -1]]))  # the post as the keel of a boat, from -y to +y
    wedges = {"still_normals": roof, "edge_normals": floor}
    assert come(2, [0.1, 0, -4]) == (2 - ZONE) / 4
    assert come(2, [0, 0, -4], **wedges) == (2 - ZONE) / 4
    assert come(0.1, [0, 0, -1], **wedges) == 0
    assert come(0.1, [0.5, 0, 1], **wedges) == np.inf
    assert come(-0.1, [0, 0, 1], **wedges) == np.inf  # poked through, and leaves
    assert come(-2, [0, 0, 4], **wedges) == np.inf  # out of the solid
    assert come(-2, [0, 0, 4]) == (2 - ZONE) / 4  # rods have no inside
    assert come(0.1, [0, 0, 1]) == come(-0.1, [0, 0, -1]) == np.inf  # so they part from either side
    assert come(0.1, [0, 0, -1]) == come(-0.1, [0, 0, 1]) == 0
    assert come(2, [3, 0, -4]) == np.inf  # past the end
    assert come(2, [0, 3, 0]) == np.inf  # along it


def test_which_side_of_an_edge_is_free(backend):
    """A wedge is hit where the normal leads away from its faces, a border from beyond it."""
    post = np.array([[0.0, 0, -1], [0, 0, 1]])
    bar = np.array([[-1.0, 0, 0], [1, 0, 0]])

    def come(from_y, normals):
        edge = post + [0, from_y, 0.5]
        return np.isfinite(ET(edge, [0, -2 * from_y, 0], bar, still_normals=normals,
                                                   backend=backend.name))  # fmt: skip

    lid = [Z]  # the face lies to the left of the bar, at y > 0
    assert come(-1.0, lid) and not come(1.0, lid)
    box = [Z, -Y]
    assert come(-1.0, box) and not come(1.0, box)
    assert come(-1.0, None) and come(1.0, None)


def test_a_flat_path_is_stopped_where_it_comes_to_the_polygon(backend):
    """In the plane of a polygon that is far ahead: it had been stopped at once, in the zone of the plane."""
    start, name = [-9, 0.3, 0.01], {"backend": backend.name}
    for down in (1e-9, 1e-4):
        got = VT(start, [10, 0, -down], SQUARE, expel=ZONE, **name)
        assert got * 10 == pytest.approx(8 - 2 * ZONE, abs=1e-12)  # two zones beside the border
    assert VT(start, [7, 0, -1e-4], SQUARE, expel=ZONE, **name) == np.inf
    assert VT([0.3, 0, 0.01], [10, 0, -1e-4], SQUARE, expel=ZONE, **name) == 0  # it is there
    # the same of edges, whose plane of contact it is
    post = np.array([[-9, 0.3, 0.01], [-9, 1.3, 0.01]])
    bar = [[0, 0, 0], [1, 1, 0]]
    got = ET(post, [10, 0, -1e-4], bar, expel=ZONE, **name)
    assert 0.85 < got < 0.93
    steep = VT([-0.3, 0, 2], [1, 0, -4], SQUARE, expel=ZONE, **name)
    assert steep == (2 - ZONE) / 4  # before it is over the polygon, but nearer than that


@pytest.mark.parametrize("expel", [0.0, ZONE, None])
def test_where_there_is_nothing_to_solve(expel, backend):
    """a = b = c = 0, parallel edges, polygons without area, no motion: never stopped, and no NaN."""
    name = {"expel": expel, "backend": backend.name}
    flat = SQUARE + [0, 0, 5]
    assert VT([0, 0, 5], X, flat, **name) == np.inf  # in the plane
    assert VT([0, 0, 5], [0, 0, 0], flat, **name) == np.inf
    assert VT([0, 0, 1], -Z, [[0, 0, 0], [1, 0, 0], [2, 0, 0]], **name) == np.inf
    assert VT([0, 0, 1], -Z, [[1, 1, 0]] * 3, **name) == np.inf
    assert VR([1, 0, 5], np.pi, Z, [0, 0, 0], flat, **name) == np.inf  # circle in it
    assert VR([3, 0, 5], np.pi, X, [0, 0, 5], flat, **name) == np.inf  # on the axis
    assert VR([3, 0, 5], 0.0, Y, [0, 0, 5], flat, **name) == np.inf
    along = [[-1, 0, 0], [1, 0, 0]]
    assert ET(along, [0, 0, 2], [[-1, 0, 1], [1, 0, 1]], **name) == np.inf
    assert ET(along, [0, 0, 2], [[0, 0, 1], [0, 0, 1]], **name) == np.inf
    turn = (np.pi, Z, [0, 0, 0])
    assert ER([[1, 0, 0], [1, 0, 1]], *turn, [[0, 1, 0], [0, 1, 1]], **name) == np.inf
    assert ER([[1, 0, 0], [2, 0, 0]], *turn, [[0, 1, 0], [0, 2, 0]], **name) == np.inf
    assert ER([[0, 0, 1], [2, 0, 3]], *turn, [[0, 0, 1], [0, 2, 3]], **name) == np.inf
    # all of it on the axis, where signs of rounding decide nothing
    axis = unit(np.array([1.0, 2, 3]))
    corner = np.array([[0.0, 0, 0], [2, -1, 0], [1, 0, 1]]) + 2 * axis
    assert VR(2 * axis, 3.0, [1, 2, 3], [0, 0, 0], corner, **name) == np.inf


# ---- everywhere the same


CASES = [(whole, expel) for whole in (False, True) for expel in (0.0, 0.01, None)]


def all_tests(rng, whole, n, expel, backend, precision="mixed"):
    """Every kind of test, with and without faces at the edges, by name."""
    how = {"expel": expel, "precision": precision, "backend": backend}
    x, v, polygons = points(rng, whole, n, 3), points(rng, whole, n, 3), points(rng, whole, n, 4, 3)
    edges, still = points(rng, whole, n, 2, 3), points(rng, whole, n, 2, 3)
    turn = turns(rng, whole, n)
    u, w = edges[:, 1] - edges[:, 0], still[:, 1] - still[:, 0]
    normals = []
    for edge in (u, w):  # any two faces at each edge
        sides = np.cross(edge[:, None], points(rng, whole, n, 2, 3))
        none = (sides == 0).all(axis=-1)
        sides[none] = np.eye(3)[rng.integers(0, 3, none.sum())]
        normals.append(sides)
    faces = {"edge_normals": normals[0], "still_normals": normals[1]}
    return {
        "vertex, way": VT(x, v, polygons[:, :3], **how),
        "vertex, turn": VR(x, *turn, polygons[:, :3], **how),
        "rods, way": ET(edges, v, still, **how),
        "rods, turn": ER(edges, *turn, still, **how),
        "edges, way": ET(edges, v, still, **faces, **how),
        "edges, turn": ER(edges, *turn, still, **faces, **how),
        "border, way": ET(edges, v, still, still_normals=normals[1][:, :1], **how),
    }


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("whole, expel", CASES)
def test_same_bits_as_cpu(whole, expel, precision, backend):
    n = 200 if backend.name == "cuda" else 1000
    got = all_tests(np.random.default_rng(4), whole, n, expel, backend.name, precision)
    want = all_tests(np.random.default_rng(4), whole, n, expel, "cpu", precision)
    for name in want:
        assert np.array_equal(got[name], want[name]), name
        assert not np.isnan(want[name]).any()
        assert n < 1000 or np.isfinite(want[name]).any(), name


@pytest.mark.parametrize("expel", [0.0, 0.01, None])
def test_agrees_with_the_reference(expel, backend):
    """Worst difference seen: 3.6e-14 of the motion, on 12 times 20,000 tests of each kind."""
    got = all_tests(np.random.default_rng(5), False, 4000, expel, backend.name)
    want = all_tests(np.random.default_rng(5), False, 4000, expel, "reference")
    for name in want:
        assert np.array_equal(np.isfinite(got[name]), np.isfinite(want[name])), name
        hit = np.isfinite(want[name])
        assert np.allclose(got[name][hit], want[name][hit], rtol=0, atol=1e-11), name


def test_single_agrees_within_its_rounding(backend):
    """Hits differ only beside a border. Worst seen: 5.3e-6 of the motion, none so, in 8 times 1,200."""
    got = all_tests(np.random.default_rng(6), False, 4000, 0.01, backend.name, "single")
    want = all_tests(np.random.default_rng(6), False, 4000, 0.01, backend.name, "double")
    both = alone = 0
    for name in want:
        a, b = np.isfinite(got[name]), np.isfinite(want[name])
        alone, both = alone + (a != b).sum(), both + (a & b).sum()
        assert np.allclose(got[name][a & b], want[name][a & b], rtol=0, atol=1e-4), name
    assert alone <= both / 200


# ---- arrays


def test_inputs_are_broadcast(backend):
    """Each against each is what one by one gives, in any arrangement, with the same bits."""
    rng = np.random.default_rng(7)
    x, v, polygons = (
        rng.uniform(-1, 1, (6, 1, 3)),
        rng.uniform(-1, 1, (6, 1, 3)),
        rng.uniform(-1, 1, (5, 3, 3)),
    )
    many = VT(x, v, polygons, backend=backend.name)
    assert many.shape == (6, 5)
    one = [[VT(x[i, 0], v[i, 0], p, backend=backend.name) for p in polygons]
           for i in range(6)]  # fmt: skip
    assert np.array_equal(many, one)
    mixed = VT(
        x[:, :, None], v[:2, :1, None][[0, 1, 0, 1, 0, 1]], polygons[None, :, None], backend=backend.name
    )
    assert mixed.shape == (6, 5, 1)
    odd = VT(x, np.swapaxes(v, 0, 1)[:, :5], polygons, backend=backend.name)
    assert odd.shape == (6, 5)
    assert odd[3, 2] == VT(x[3, 0], v[2, 0], polygons[2], backend=backend.name)
    assert VT(x[:0], v[:0], polygons, backend=backend.name).shape == (0, 5)
    assert P.line(np.zeros((0, 3)), np.zeros((0, 3)), backend=backend.name).shape == (0, 6)
    assert P.line(x, np.zeros((4, 3)), backend=backend.name).shape == (6, 4, 6)


@pytest.mark.parametrize(
    "shapes",
    [[(), ()], [(4,), (4,)], [(4,), ()], [(3, 1), (5,)], [(3, 5), (5,)], [(3, 5), (3, 1)],
     [(2, 1, 4), (3, 1)],
     [(2, 3, 1), (1, 3, 4), (4,)], [(0, 1), (5,)], [(1, 1), (1,)]],
)  # fmt: skip
def test_strides_are_those_of_numpy(shapes):
    arrays = [np.arange(np.prod(s, dtype=int)).reshape(s) for s in shapes]
    shape, rows, columns, strides = layout(shapes)
    assert rows * columns == np.prod(shape, dtype=int)
    for array, stride in zip(arrays, strides, strict=True):
        if stride is None:
            assert array.ndim > 1
            continue
        at = np.add.outer(np.arange(rows) * stride[0], np.arange(columns) * stride[1])
        want = np.broadcast_to(array, shape).reshape(rows, columns)
        assert np.array_equal(array.reshape(-1)[at] if at.size else want, want)


def test_many_launches_are_one(backend, monkeypatch):
    from gpu_collide.pipeline.movers import primitives

    want = all_tests(np.random.default_rng(8), False, 300, 0.01, backend.name)
    monkeypatch.setattr(primitives, "MOST_TESTS", 7)
    got = all_tests(np.random.default_rng(8), False, 300, 0.01, backend.name)
    for name in want:
        assert np.array_equal(got[name], want[name]), name


@pytest.mark.parametrize("power", [-900, -60, 3, 700])
@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_units_are_the_users(power, precision, backend):
    """Lengths times a power of two: the same bits, however large it is."""
    rng = np.random.default_rng(9)
    x, v, polygons = (
        rng.uniform(-1, 1, (400, 3)),
        rng.uniform(-1, 1, (400, 3)),
        rng.uniform(-1, 1, (400, 3, 3)),
    )
    edges, still = rng.uniform(-1, 1, (400, 2, 3)), rng.uniform(-1, 1, (400, 2, 3))
    turn, f = turns(rng, False, 400), 2.0**power

    def fractions(f, expel):
        how = {"expel": expel, "precision": precision, "backend": backend.name}
        about = (turn[0], turn[1], turn[2] * f)
        return [
            VT(x * f, v * f, polygons * f, **how),
            VR(x * f, *about, polygons * f, **how),
            ET(edges * f, v * f, still * f, **how),
            ER(edges * f, *about, still * f, **how),
        ]

    for expel in (0.0, 2.0**-7):
        for a, b in zip(fractions(f, expel * f), fractions(1.0, expel), strict=True):
            assert np.array_equal(a, b) and np.isfinite(a).any()


# ---- bad input


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: VT([0, 0], [0, 0, 1], SQUARE), ValueError, "vertex: expected shape"),
        (lambda: VT([0, 0, np.nan], X, SQUARE), ValueError, "vertex: expected finite"),
        (lambda: VT(X, [np.inf, 0, 0], SQUARE), ValueError, "displacement: expected finite"),
        (lambda: VT(X, X, SQUARE[:2]), ValueError, "at least 3 corners, got .2, 3."),
        (lambda: VT(X, X, "square"), TypeError, "polygon: expected an array"),
        (lambda: VT(np.zeros((2, 3)), np.zeros((3, 3)), SQUARE), ValueError,
         "vertex, displacement, polygon: expected shapes that broadcast"),
        (lambda: VT(X, X, SQUARE, expel=-1), ValueError, "expel: expected a finite"),
        (lambda: VT(X, X, SQUARE, expel=np.nan), ValueError, "expel: expected a finite"),
        (lambda: VT(X, X, SQUARE, expel="no"), TypeError, "expel: expected a number"),
        (lambda: VT(X, X, SQUARE, expel=10**400), ValueError, "expel: expected a finite .* got 1000"),
        (lambda: VT(X, X, SQUARE, expel=1e300, precision="single"), ValueError,
         "expel: expected a length comparable"),
        (lambda: VT(X, X, SQUARE, backend="gpu"), ValueError, "backend: expected one"),
        (lambda: VR(X, 3.2, Z, [0, 0, 0], SQUARE), ValueError, "split the turn in two"),
        (lambda: VR(X, np.nan, Z, [0, 0, 0], SQUARE), ValueError, "angle: expected finite"),
        (lambda: VR(X, 1, 0 * Z, [0, 0, 0], SQUARE), ValueError, "axis: expected vectors"),
        (lambda: VR(X, [1, 2], np.eye(3), [0, 0, 0], SQUARE), ValueError,
         "angle, axis, origin: expected shapes"),
        (lambda: ET(SQUARE[:2], X, SQUARE[:3]), ValueError, "still: expected shape"),
        (lambda: ET(SQUARE[:2], X, SQUARE[2:], still_normals=np.eye(3)), ValueError,
         "still_normals: expected shape .* with 1 or 2 faces"),
        (lambda: ET(SQUARE[:2], X, SQUARE[2:], edge_normals=[[0, 0, 0]]), ValueError,
         "edge_normals: expected vectors with a length"),
        (lambda: ET(np.zeros((4, 2, 3)), X, SQUARE[2:], edge_normals=np.ones((3, 1, 3))),
         ValueError, "edge_normals: expected a shape that broadcasts"),
        (lambda: P.side(np.zeros(6), np.zeros(5)), ValueError, "q: expected shape"),
        (lambda: P.line([0, 0, 0], [0, 0, 1j]), TypeError, "b: expected float32 or float64"),
        (lambda: P.default_expel(np.inf), ValueError, "size: expected finite"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_default_zone():
    """It grows with the size, is wider in single, and is what None means."""
    assert P.default_expel(2.0) == 2 * P.default_expel(1.0) == 512 * 2.0**-52
    assert P.default_expel([1.0, -4.0]).tolist() == [2.0**-44, 2.0**-42]
    assert 3e-5 < P.default_expel(1.0, "single") < 3.1e-5
    far = VT([0, 0, 1024], [0, 0, -2048], SQUARE, expel=None)
    assert far == (1024 - P.default_expel(2048)) / 2048
