"""s09_overlap beyond plain boxes: parts, cavities, sheets, what is thin or tiny, and an exact judge."""

import itertools

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.geometry.preparation.prepared import solids_of
from gpu_collide.reference.narrow_phase._tables import tables_of
from tests.acceptance import matrix
from tests.narrow_phase.test_s09_overlap import OVERLAP, by_reference

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

BOX = gc.shapes.box()
STILL = [1.0, 0, 0, 0]


def joined(*parts, **options):
    """One mesh of (mesh, shift) or (mesh, shift, turned inside out)."""
    vertices, faces, n = [], [], 0
    for mesh, shift, *turned in parts:
        vertices.append(mesh.vertices + np.asarray(shift, float))
        faces += [(loop[::-1] if turned and turned[0] else loop) + n for loop in mesh.faces]
        n += len(mesh.vertices)
    return gc.Mesh(np.concatenate(vertices), faces, **options)


def sized(mesh, size, **options):
    return gc.Mesh(mesh.vertices * np.asarray(size, float), mesh.faces, **options)


def sheet(size=1.0, up=(0, 0, 1), **options):
    """A square of side `size` about the origin, at right angles to an axis."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * 0.5 * size
    order = [1, 2, 0] if np.argmax(np.abs(up)) == 0 else [0, 1, 2]
    loop = [0, 1, 2, 3] if np.sum(up) > 0 else [3, 2, 1, 0]
    return gc.Mesh(corners[:, np.argsort(order)] if order != [0, 1, 2] else corners, [loop], **options)


def ask(cases, backend, **options):
    """Which of the pairs (mesh, mesh, place of the second[, its quaternion]) overlap, both ways round."""
    meshes, shape, places, turns = {}, [], [], []
    for a, b, place, *turn in cases:
        shape += [meshes.setdefault(id(m), (len(meshes), m))[0] for m in (a, b)]
        places += [(0, 0, 0), place]
        turns += [STILL, turn[0] if turn else STILL]
    n = len(shape)
    start = gc.Poses.from_quat_wxyz(np.array(places, float), np.array(turns, float))
    end = gc.Poses.from_quat_wxyz(
        np.array(places, float) + np.random.default_rng(1).normal(size=(n, 3)), turns
    )
    pairs = np.arange(n).reshape(-1, 2)
    bodies = gc.Bodies([m for _, m in meshes.values()], shape, start, end)
    if backend == "reference":
        return by_reference(bodies, pairs, np.full(len(pairs), -0.5)).tolist()  # both ways round by itself
    found = [
        gc.collide(bodies, p, backend=backend, **options).status == OVERLAP for p in (pairs, pairs[:, ::-1])
    ]
    assert np.array_equal(*found), "A and B say different things"
    return found[0].tolist()


def check(cases, backend):
    """The answers are those given, by whole meshes, by their trees, and by the reference."""
    expected = [deep for *_, deep in cases]
    cases = [case for *case, _ in cases]
    assert ask(cases, backend.kind) == expected
    assert ask(cases, backend.kind, tuning=gc.Tuning(features="near")) == expected
    assert ask(cases, "reference") == expected


def test_a_closed_mesh_turned_inside_out_is_a_solid_all_the_same(backend):
    """Shrinking it against its normals blew it up, so that what touched it was called an overlap."""
    turned = joined((BOX, (0, 0, 0), True))
    assert not solids_of(turned).insets[0, :3] @ turned.vertices[0] < 0
    check(
        [
            (turned, BOX, (1, 0, 0), False),
            (turned, BOX, (1, 1, 1), False),
            (turned, turned, (1, 0.3, 0.2), False),
            (turned, turned, (0, 0, 0), True),
            (turned, BOX, (0.99999, 0.3, 0.2), True),
            (turned, sized(BOX, 0.1), (0.2, 0.1, 0.1), True),
        ],
        backend,
    )


def test_cavities(backend):
    """A wall around a hollow: what lies within, or fills it to touch, does not overlap."""
    hollow = joined((BOX, (0, 0, 0)), (sized(BOX, 0.5), (0, 0, 0), True))
    turned = joined((BOX, (0, 0, 0), True), (sized(BOX, 0.5), (0, 0, 0)))
    for shell in (hollow, turned):
        check(
            [
                (shell, sized(BOX, 0.2), (0.1, 0.05, 0), False),
                (shell, sized(BOX, 0.5), (0, 0, 0), False),
                (shell, sized(BOX, 0.50001), (0, 0, 0), True),
                (shell, sized(BOX, 0.1), (0.4, 0, 0), True),
                (shell, sized(BOX, 0.1), (0.2, 0, 0), False),
                (shell, shell, (0, 0, 0), True),
                (shell, BOX, (1, 0, 0), False),
                (joined((shell, (0, 0, 0)), (sized(BOX, 0.3), (0, 0, 0))), sized(BOX, 0.2), (0, 0, 0), True),
            ],
            backend,
        )


def test_parts(backend):
    """Every part is looked at, each closed part has an inside, whatever else there is in the mesh."""
    small = sized(BOX, 0.2)
    two = joined((BOX, (0, 0, 0)), (BOX, (3, 0, 0)))
    flagged = joined(
        (BOX, (0, 0, 0)), (sheet(), (0, 0, 2))
    )  # not closed as a whole: once a MISS inside the box
    specks = joined((small, (-2, 0, 0)), (small, (2, 0, 0)))
    cube = [[1, 3, 2, 0], [6, 7, 5, 4], [4, 5, 1, 0], [3, 7, 6, 2], [2, 6, 4, 0], [5, 7, 3, 1]]
    places = np.array([*np.ndindex(3, 3, 2)])
    corners = np.array([*np.ndindex(2, 2, 2)])
    faces = []
    for shift in ((0, 0, 0), (1, 1, 0)):
        number = np.ravel_multi_index((corners + shift).T, (3, 3, 2))
        faces += [number[loop] for loop in cube]
    welded = gc.Mesh(places.astype(float), faces)
    assert not welded.closed and solids_of(welded).closed
    check(
        [
            (two, small, (3, 0.1, 0), True),
            (two, small, (1.5, 0.1, 0), False),
            (BOX, specks, (2.1, 0, 0), True),
            (BOX, specks, (-1.9, 0, 0), True),
            (BOX, specks, (0.1, 0, 0), False),
            (flagged, small, (0.1, 0.1, 0), True),
            (flagged, small, (0.1, 0.1, 2), True),
            (flagged, small, (0.1, 0.1, 1), False),
            (joined((BOX, (0, 0, 0)), (BOX, (0.5, 0, 0))), small, (0.25, 0, 0), True),  # winding number 2
            (welded, small, (0.5, 0.5, 0.5), True),  # two boxes that share an edge of four faces
            (welded, small, (0.5, 1.5, 0.5), False),
        ],
        backend,
    )


def test_sheets(backend):
    """A two-sided sheet has no side to be shrunk to. It was moved into what it lay on, by its winding."""
    ways = [(up, options) for up in ((0, 0, 1), (0, 0, -1)) for options in ({"two_sided": True},)]
    for up, options in ways:
        flat, small = sheet(1.0, up, **options), sheet(0.5, up, **options)
        upright = sheet(0.5, tuple(np.roll(up, 1)), **options)
        check(
            [
                (BOX, small, (0, 0, 0.5), False),  # lies on it
                (BOX, flat, (0, 0, 0.5), False),
                (BOX, flat, (0.3, 0.2, 0.5), False),
                (BOX, flat, (0.5, 0, 0.5), False),
                (BOX, small, (0, 0, 0.5 - 1e-5), True),  # lies within
                (BOX, small, (0, 0, 0.5 + 1e-5), False),
                (BOX, upright, (0, 0, 0.75), False),  # stands on it
                (BOX, upright, (0, 0, 0.75 - 1e-5), True),
                (BOX, upright, (0.5, 0, 0), False),  # flush with a side, and over its edges
                (BOX, upright, (0.5, 0.3, 0.3), False),
                (BOX, upright, (0.5 - 1e-5, 0.3, 0.3), True),
                (flat, flat, (0, 0, 0), False),
                (flat, flat, (0.2, 0.1, 0), False),
                (flat, upright, (0, 0, 0), True),  # they cross
                (flat, upright, (0, 0, 0.25), False),  # a T
                (flat, upright, (0, 0, 0.25 - 1e-5), True),
                (flat, upright, (0.5, 0.5, 0.3), False),
            ],
            backend,
        )


def test_open_meshes_interlocked(backend):
    """Rings with a gap, linked or crossing; half a ball, the back of whose faces is taken for solid."""
    ring = gc.shapes.torus(1.0, 0.2)
    gap = gc.Mesh(ring.vertices, ring.faces[:-12])
    upright = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    ball = gc.shapes.icosphere(2)
    low = gc.Mesh(ball.vertices, [f for f in ball.faces if ball.vertices[f, 2].max() <= 1e-9])
    assert not gap.closed and not low.closed
    check(
        [
            (gap, gap, (1, 0, 0), upright, False),
            (gap, gap, (1.7, 0, 0), upright, True),
            (gap, gap, (0.3, 0, 0), upright, True),
            (low, sized(ball, 0.5), (0, 0, 0), STILL, False),
            (low, sized(ball, 0.5), (0, 0, -0.7), STILL, True),
            (low, low, (0, 0, 0), STILL, False),
        ],
        backend,
    )


def test_equal_shapes_in_one_place(backend):
    shapes = [BOX, gc.shapes.car(), gc.shapes.l_block(), gc.shapes.star(), gc.shapes.torus(1.0, 0.3)]
    check([(shape, shape, (0, 0, 0), True) for shape in shapes], backend)


@pytest.mark.parametrize("thick", [1e-3, 1e-6, 1e-8, 1e-10, 1e-12])
def test_thin_plates_are_not_turned_inside_out(thick, backend):
    """Shrunk by 1e-7 through both faces a thinner plate came out on the other side, into what it touched."""
    plate = sized(BOX, (1, 1, thick))
    blade = sized(BOX, (thick, 1, 1))
    check(
        [
            (BOX, plate, (0, 0, 0.5 + 0.5 * thick), False),
            (BOX, plate, (0.3, 0.2, 0.5 + 0.5 * thick), False),
            (plate, plate, (0.2, 0.1, thick), False),
            (plate, plate, (0, 0, 1.5 * thick + 1e-9), False),
            (BOX, plate, (0, 0, 0.3), True),
            (BOX, sized(BOX, (0.5, 0.5, thick)), (0, 0, 0.3), True),
            (plate, blade, (0.1, 0.2, 0.3), True),
            (plate, blade, (0.1, 0.2, 0.5 + 0.5 * thick), False),
            (plate, sized(BOX, 0.1), (0, 0, 0.05 + 0.5 * thick), False),
        ],
        backend,
    )


@pytest.mark.parametrize("exponent", [-3, -8, -9, -12, -17])
def test_bodies_far_smaller_than_the_other(exponent, backend):
    """A body of 1e-8 and less of the other's size was an overlap wherever it came near, outside as well."""
    size = 10.0**exponent
    tiny, flat = sized(BOX, size), sized(sheet(), size, two_sided=True)
    turned, floor = joined((BOX, (0, 0, 0), True)), sheet(two_sided=True)
    cases = []
    for small in (tiny, flat):
        for at in ((0.1, 0.2), (0.5, 0.5)):
            gaps = (1e-3, 1e-6, 3 * size, 0.5 * size + 1e-15) if small is tiny else (1e-3, 1e-6, 3 * size)
            cases += [(BOX, small, (0.5 + gap, *at), False) for gap in gaps if gap > 0.5 * size]
        for inside in ((0, 0, 0), (0.499, 0.499, 0.499)):
            cases += [(BOX, small, inside, True), (turned, small, inside, True)]
        cases += [(floor, small, (0.1, 0.2, way * (size + 1e-3)), False) for way in (1, -1)]
    check(cases, backend)


def hull(points):
    """The convex hull of whole-number points, or None where they lie in a plane."""
    flat = np.linalg.matrix_rank(points - points[0]) < 3
    return None if flat else gc.shapes.convex_hull(np.array(points, float))


def apart(a, b):
    """Do the insides of two convex solids with whole-number corners (n, 3) not meet? Exact: a plane along a
    face or along an edge of each separates them, decided in integers."""
    along = np.concatenate([[q - p for p, q in itertools.combinations(x, 2)] for x in (a, b)])
    axes = np.cross(along[:, None], along[None]).reshape(-1, 3)
    pa, pb = a @ axes.T, b @ axes.T
    divided = (pa.max(axis=0) <= pb.min(axis=0)) | (pb.max(axis=0) <= pa.min(axis=0))
    return bool((divided & axes.any(axis=1)).any())


def whole_number_pairs(seed, n):
    """Meshes of whole-number corners, places, and the exact answers; in half of them A has two parts."""
    rng = np.random.default_rng(seed)
    solids = [np.array([*itertools.product((0, 1), (0, 2), (0, 1))])]
    while len(solids) < 24:
        points = rng.integers(0, 4, (4, 3))
        if np.linalg.matrix_rank(points - points[0]) == 3:
            solids.append(points)
    cases = []
    for k in range(n):
        first, second, third = (solids[i] for i in rng.integers(0, len(solids), 3))
        place, shift = rng.integers(-1, 2, 3), rng.integers(-4, 5, 3)
        parts = [first] if k % 2 else [first, second + shift]
        deep = any(not apart(p, third + place) for p in parts)
        meshes = [(hull(p), (0, 0, 0), bool(rng.integers(2))) for p in parts]
        cases.append((joined(*meshes), joined((hull(third), (0, 0, 0), bool(rng.integers(2)))), place, deep))
    return cases


def test_whole_number_solids_by_an_exact_judge(backend):
    """Everything that can coincide does: corners in faces, edges in edges, faces in faces, parts in parts."""
    cases = whole_number_pairs(5, 100)
    expected = [deep for *_, deep in cases]
    assert 20 < sum(expected) < 60
    assert ask([case[:3] for case in cases], backend.kind) == expected
    assert ask([case[:3] for case in cases], backend.kind, tuning=gc.Tuning(features="near")) == expected
    assert ask([case[:3] for case in cases[:15]], "reference") == expected[:15]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_whole_number_solids(seed, backend):
    cases = whole_number_pairs(100 + seed, 2000)
    assert ask([case[:3] for case in cases], backend.kind) == [deep for *_, deep in cases]


@pytest.mark.parametrize("family", ["random_cars", "random_tori", "resting"])
def test_the_check_changes_no_contact(family, backend):
    scene = matrix.make(family, 60)
    on, off = (
        gc.collide(scene.bodies(), scene.pairs, backend=backend.kind, check_start=check).to_numpy()
        for check in (True, False)
    )
    for name in (
        "toi",
        "contact_start",
        "pair",
        "kind",
        "feature_a",
        "feature_b",
        "time",
        "position",
        "normal",
    ):
        assert getattr(on, name).tobytes() == getattr(off, name).tobytes(), name
    changed = on.status != off.status
    assert (on.status[changed] == OVERLAP).all() and not (off.status == OVERLAP).any()


def test_large_meshes(backend):
    """Through the trees of both sides, and one ray for each part."""
    ball, ring = gc.shapes.icosphere(4), gc.shapes.torus(1.0, 0.3, 64, 24)
    assert len(ball.faces) > 2048 and len(ring.faces) > 1024
    upright = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    small, shell = sized(ball, 0.25), joined((ball, (0, 0, 0)), (sized(ball, 0.9), (0, 0, 0), True))
    open_ball = gc.Mesh(ball.vertices, ball.faces[40:])
    cases = [
        (ring, ring, (1.0, 0, 0), upright, False), (ring, ring, (1.5, 0, 0), upright, True),
        (ring, small, (0, 0, 0), STILL, False), (ring, small, (1.0, 0, 0), STILL, True),
        (ring, small, (0.5, 0, 0), STILL, True), (ball, small, (0.1, 0.2, 0.3), STILL, True),
        (shell, small, (0.1, 0.2, 0.3), STILL, False), (shell, sized(ball, 0.04), (0, 0, 0.95), STILL, True),
        (open_ball, small, (0.1, 0.2, 0.3), STILL, False), (ball, ball, (0, 0, 0), STILL, True),
        (ball, open_ball, (0, 0, 3), STILL, False), (ball, open_ball, (0, 0.3, 0), STILL, True),
    ]  # fmt: skip
    expected = [deep for *_, deep in cases]
    assert ask([case[:4] for case in cases], backend.kind) == expected


def test_components_of_kernels_and_reference():
    """Which vertices hang together, what is closed and how thick, which way is out."""
    ball = gc.shapes.icosphere(1)
    for mesh in (
        BOX, gc.shapes.star(), joined((BOX, (0, 0, 0), True), (ball, (5, 0, 0)), (sheet(), (0, 5, 0))),
        joined((sheet(two_sided=True), (0, 0, 0)), (sheet(), (0, 0, 1)), two_sided=True),
        joined((BOX, (0, 0, 0)), (sized(BOX, 0.5), (0, 0, 0), True), (BOX, (3, 0, 0), True)),
    ):  # fmt: skip
        here, there = solids_of(mesh), tables_of(mesh).components
        owner = there.of_vertex[here.witness]
        assert sorted(owner) == list(range(there.of_vertex.max() + 1))
        named = here.codes // 2 - 1
        assert np.array_equal(np.sort(named[named >= 0]), np.sort(here.witness))
        assert all(v in mesh.face(f) for f, v in enumerate(named) if v >= 0)
        assert np.array_equal(here.codes % 2 == 1, there.closed[there.of_face])
        most = 0.01 * there.thickness * np.where(there.closed, 1, -1)
        assert np.allclose(here.insets[:, 3], most[there.of_vertex], rtol=1e-12, atol=0)  # seen: 4e-16
        assert np.abs(here.insets[:, :3] - there.outward).max() < 1e-12  # seen: 3e-16


def test_what_was_found_is_told_in_plain_words(backend):
    still = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.2, 0.1, 0], [5, 0, 0], [5.1, 0, 0]], [STILL] * 4)
    found = gc.collide(gc.Bodies(BOX, None, still, still), [[0, 1], [0, 2]], backend=backend.kind).to_numpy()
    assert "1 INITIAL_OVERLAP" in repr(found) and "1 pair is in each other already" in repr(found)
    found = gc.collide(gc.Bodies(BOX, None, still, still), [[0, 1], [2, 3]], backend=backend.kind).to_numpy()
    assert "2 pairs are in each other already when the step begins" in repr(found)
    found = gc.collide(
        gc.Bodies(BOX, None, still, still), [[0, 1]], backend=backend.kind, check_start=False
    ).to_numpy()
    assert "INITIAL_OVERLAP" not in repr(found) and "in each other" not in repr(found)
