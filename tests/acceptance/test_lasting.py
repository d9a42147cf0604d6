"""Contacts that last are reported once: on cut faces, where corners leave, on twins and on equal shapes.

A corner that left a face used to be reported as lasting until then and once more at that moment, and two
faces cut 2 x 2 that slid on each other had 61 contacts (here 12), 40 of them edges whose vertex lasted as
long.
"""

import itertools

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.scenes_whole import WHOLE
from tests.oracle.shapes import box, l_block
from tests.support import structured
from tests.support.structured import bolt, cut_box, joined, loops

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

ONE = [1.0, 0, 0, 0]


def about_up(yaw):
    return [np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]


def sliding(a, b, start, end, yaw=0.0, turn=0.0):
    """B's bottom on A's top, from start to end in the plane, turned by yaw and during the step by turn."""
    high = a.vertices[:, 2].max() - b.vertices[:, 2].min()
    poses = [
        gc.Poses.from_quat_wxyz([[0, 0, 0], [*place, high]], [ONE, about_up(angle)])
        for place, angle in ((start, yaw), (end, yaw + turn))
    ]
    return gc.Bodies([gc.Mesh(m.vertices, loops(m)) for m in (a, b)], [0, 1], *poses)


def reported(bodies, backend, **options):
    c = gc.collide(bodies, [[0, 1]], backend=backend, **options).to_numpy()
    names = ("kind", "feature_a", "feature_b", "sustained", "time", "time_end", "properness")
    return sorted(zip(*(getattr(c, name).tolist() for name in names), strict=True))


def agree(mine, theirs):
    """Same features; times and properness by tolerance (worst seen: 4e-10 and 1e-12)."""
    return [x[:4] for x in mine] == [x[:4] for x in theirs] and all(
        max(abs(u - v) for u, v in zip(x[4:], y[4:], strict=True)) < 1e-8
        for x, y in zip(mine, theirs, strict=True)
    )


def place(bodies, contact, t):
    """Where a contact of a step without turn is at t, by its features alone."""
    a, b = bodies.meshes
    kind, of_a, of_b = contact[:3]
    x0, x1 = bodies.start.position[1], bodies.end.position[1]
    yaw = 2 * np.arctan2(*np.asarray(bodies.start.quat_wxyz[1])[[3, 0]])
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    corners = b.vertices @ turn.T + x0 + t * (x1 - x0)
    if kind == 0:
        return corners[of_b]
    if kind == 1:
        return a.vertices[of_a]
    (p, q), (u, v) = a.vertices[a.edges[of_a]], corners[b.edges[of_b]]
    along = np.linalg.lstsq(np.stack([q - p, u - v], axis=1), u - p, rcond=None)[0]
    return p + along[0] * (q - p)


def told_twice(bodies, contacts):
    """Pairs of contacts of which one is at the other's place for as long as it lasts and is no more
    proper."""
    found = []
    for x, y in itertools.permutations(contacts, 2):
        within = y[4] - 1e-8 <= x[4] and x[5] <= y[5] + 1e-8 and x[6] <= y[6]
        moments = x[4] + (x[5] - x[4]) * np.array([0.1, 0.35, 0.6, 0.9])
        if within and all(np.abs(place(bodies, x, t) - place(bodies, y, t)).max() < 1e-8 for t in moments):
            found.append((x, y))
    return found


SLIDES = [
    ((0, 0), (1, 0)), ((-3, 0), (3, 0)), ((0, 0.1), (1, 0.1)), ((0.1, 0), (1, 0)), ((0, 0), (1, 1)),
    ((-3, 1), (3, 1)), ((-3, 2), (3, 2)), ((-1, 0.1), (2.7, 0.1)),
]  # fmt: skip


SHAPES = [
    (cut_box(), cut_box(), 0.0), (cut_box(), cut_box((1, 1, 1)), np.pi / 4), (box(), box((2, 2, 1)), 0.3),
    (box((2, 2, 1)), bolt(), 0.0), (l_block(), cut_box((1, 1, 1)), np.pi / 2),
]  # fmt: skip


def test_sliding_faces_are_told_once(backend):
    for (start, end), (a, b, yaw) in itertools.product(SLIDES, SHAPES):
        bodies = sliding(a, b, start, end, yaw)
        mine = reported(bodies, backend.kind)
        assert not told_twice(bodies, mine), (start, end, yaw)


# the reference takes half a second for cut faces: all of them in the slow suite
FEW = [(SLIDES[7], SHAPES[1]), (SLIDES[2], SHAPES[2]), (SLIDES[0], SHAPES[3])]
REST = [x for x in itertools.product(SLIDES, SHAPES) if x not in FEW]


@pytest.mark.parametrize("slide, shapes", [*FEW, *(pytest.param(*x, marks=pytest.mark.slow) for x in REST)])
def test_sliding_faces_agree_with_the_reference(slide, shapes, backend):
    a, b, yaw = shapes
    bodies = sliding(a, b, *slide, yaw)
    assert agree(reported(bodies, backend.kind), reported(bodies, "reference"))


def test_faces_cut_two_by_two(backend):
    """Nine corners slide by half their faces: twelve corners are on a face, each reported while it is."""
    mine = reported(sliding(cut_box(), cut_box(), (0, 0), (1, 0)), backend.kind)
    assert len(mine) == 12 and all(x[0] != 2 for x in mine)
    # off by a tenth, cuts along the way cross cuts across it: those are meetings of their own
    mine = reported(sliding(cut_box(), cut_box(), (0, 0.1), (1, 0.1)), backend.kind)
    assert len(mine) == 16 and sum(x[0] == 2 for x in mine) == 8


@pytest.mark.parametrize("yaw, count", [(0.0, 8), (0.3, 11), (np.pi / 4, 16)])
def test_a_corner_that_leaves_is_told_once(yaw, count, backend):
    bodies = sliding(box(), box((2, 2, 1)), (-1, 0.1), (2, 0.1), yaw)
    mine = reported(bodies, backend.kind)
    assert len(mine) == count
    for x, y in itertools.permutations(mine, 2):
        assert x[:3] != y[:3] or abs(x[5] - y[4]) > 1e-6
    assert agree(mine, reported(bodies, "reference"))


@pytest.mark.parametrize("turn", [0.5, -1.0])
def test_faces_that_slide_and_turn(turn, backend):
    for a, b in ((bolt(), box()), (box((2, 2, 1)), l_block())):
        bodies = sliding(a, b, (-0.5, 0.25), (0.5, 0), 0.0, turn)
        assert agree(reported(bodies, backend.kind), reported(bodies, "reference"))


def test_corners_that_pass_for_a_moment(backend):
    """Two squares on edge slide past each other in their plane and touch corner on corner for a moment: the
    kernels looked between such moments only."""
    bodies = sliding(box(), box(), (-1, np.sqrt(0.5) + 0.5), (1, np.sqrt(0.5) + 0.5), np.pi / 4)
    mine = reported(bodies, backend.kind)
    assert len(mine) > 0 and agree(mine, reported(bodies, "reference"))


def twins():
    """Two boxes side by side, with corners of their own where they touch."""
    return joined((box(), [0, 0, 0]), (box(), [1, 0, 0]))


@pytest.mark.parametrize("slide", [*SLIDES[2:4], *(pytest.param(x, marks=pytest.mark.slow) for x in SLIDES)])
def test_parts_with_corners_at_the_same_place(slide, backend):
    for a, b in ((twins(), box()), (twins(), twins())):
        bodies = sliding(a, b, *slide)
        assert agree(reported(bodies, backend.kind), reported(bodies, "reference"))


def test_a_corner_on_the_seam_of_two_parts_is_told_once(backend):
    """It used to be reported for each part, whose corners have numbers of their own."""
    tip = structured.octahedron()
    for x in (0.5, 0.25):
        poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], [x, 0.1, z]], [ONE, ONE]) for z in (3, 1)]
        bodies = gc.Bodies([gc.Mesh(m.vertices, loops(m)) for m in (twins(), tip)], [0, 1], *poses)
        mine = [c for c in reported(bodies, backend.kind) if abs(c[4] - 0.75) < 1e-9]
        assert len(mine) == 1
        assert agree(mine, [c for c in reported(bodies, "reference") if abs(c[4] - 0.75) < 1e-9])


@pytest.mark.parametrize(
    "kind, n",
    [(1, 3), (3, 4), (4, 4), *(pytest.param(k, 60, marks=pytest.mark.slow) for k in (0, 1, 2, 4))],
)
def test_structured_scenes_agree_with_the_reference(kind, n, backend):
    scene = structured.scene(1, n, [kind])
    bodies = scene.bodies()
    mine, theirs = (gc.collide(bodies, scene.pairs, backend=x) for x in (backend.kind, "reference"))
    assert len(mine) == len(theirs) > 0
    for name in ("pair", "kind", "feature_a", "feature_b", "sustained"):
        order = [
            np.lexsort((c.feature_b, c.feature_a, c.kind, np.round(c.time, 8), c.pair))
            for c in (mine, theirs)
        ]
        assert np.array_equal(getattr(mine, name)[order[0]], getattr(theirs, name)[order[1]]), name


def at_margin(bodies, pairs, c, k):
    """Whether contact k is on the border of its face, or at an end of an edge, by half of what kernels
    allow."""
    meshes = [bodies.meshes[bodies.shape[body]] for body in pairs[c.pair[k]]]
    near = 5e-12 * max(mesh.radius for mesh in meshes)
    places = c.local_a[k], c.local_b[k]
    if c.kind[k] == 2:
        ends = [
            mesh.vertices[mesh.edges[feature]]
            for mesh, feature in zip(meshes, (c.feature_a[k], c.feature_b[k]), strict=True)
        ]
        return any(np.linalg.norm(e - x, axis=1).min() <= near for e, x in zip(ends, places, strict=True))
    side = int(c.kind[k])  # FV: the face is A's
    mesh, face, x = meshes[side], (c.feature_a, c.feature_b)[side][k], places[side]
    loop = mesh.vertices[mesh.face_vertices[mesh.face_start[face] : mesh.face_start[face + 1]]]
    along = np.roll(loop, -1, axis=0) - loop
    across = np.cross(mesh.face_planes[face, :3], along) / np.linalg.norm(along, axis=1)[:, None]
    return np.einsum("ij,ij->i", across, x - loop).min() <= near


@pytest.mark.parametrize("kind", range(5))
def test_no_meeting_of_a_moment_is_told_twice(kind, backend):
    """At one time, at one place of either body, on borders or at ends: one contact."""
    scene = structured.scene(6, 150, [kind])
    bodies, close = scene.bodies(), 0
    c = gc.collide(bodies, scene.pairs, min_properness=-1.0, backend=backend.kind).to_numpy()
    for p in range(len(scene.pairs)):
        rows = np.arange(*c.contact_start[p : p + 2])
        rows = [k for k in rows[~c.sustained[rows]] if at_margin(bodies, scene.pairs, c, k)]
        for k, m in itertools.combinations(rows, 2):
            close += abs(c.time[k] - c.time[m]) < 1e-9
            same = (
                abs(c.time[k] - c.time[m]) < 1e-12
                and np.abs(c.local_a[k] - c.local_a[m]).max() < 1e-12
                and np.abs(c.local_b[k] - c.local_b[m]).max() < 1e-12
            )
            assert not same, (p, k, m)
    assert close > 10  # in slides most meetings last


@pytest.mark.parametrize(
    "family, seed, pair, count",
    [("hinge", 27, 1766, 0), ("same_place", 40, 451, 5), ("same_place", 49, 989, 5)],
)
def test_edges_that_turn_out_of_one_line(family, seed, pair, count, backend):
    """Where they are nearly parallel, rounding moves their crossing by 1e-16 over the sine. A border that it
    only touches had two roots by the rounding of places, where the curve's own coefficients are smaller: a
    contact from 3.8e-9 to 1e-7 of the step was invented. And one that lasts from when they cease to be
    parallel began where rounding put the crossing inside first, up to 1e-8 of a step too late."""
    scene = WHOLE[family]([20261122, seed], 2000)

    def slides(kind):
        c = gc.collide(scene.bodies(), scene.pairs[[pair]], backend=kind).to_numpy()
        which = np.flatnonzero((c.kind == 2) & c.sustained)
        times = {(c.feature_a[k], c.feature_b[k]): (c.time[k], c.time_end[k]) for k in which}
        return sorted(times), np.array([times[key] for key in sorted(times)])

    features, times = slides(backend.kind)
    same, expected = slides("reference")
    assert features == same and len(features) == count
    assert np.abs(times - expected).max(initial=0.0) < 1e-9  # 3.2e-10 measured: when they are parallel


@pytest.mark.parametrize("yaw", [2e-5, 5e-6, 1e-7, 1e-8])
def test_boxes_that_slide_at_a_small_angle_agree_with_the_reference(yaw, backend):
    """The reference took every border of edges below a sine of 1e-5 for rounding, also of edges that never
    become parallel: four of twelve contacts were lost."""
    bodies = sliding(box((2, 2, 1)), box((1, 1, 1)), (-2.3, 0.2), (2.4, 0.31), yaw=yaw)
    mine = reported(bodies, backend.kind)
    assert len(mine) == 12
    assert agree(mine, reported(bodies, "reference"))
