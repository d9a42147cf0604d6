"""Reference, exact mode: closed forms, resting and sliding, coincidences, options. Answers are worked out by
hand."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.narrow_phase import screw_motion
from tests.support.reference import collide_reference

ORIGIN = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0)
EIGHTH = np.pi / 4


def turn(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, dtype=float)])


def one_pair(mesh_a, mesh_b, b_from, b_to, q_from=IDENTITY, q_to=IDENTITY, **options):
    """Result for A at rest at the origin and B going from one pose to another."""
    start = gc.Poses.from_quat_wxyz(np.array([ORIGIN, b_from]), np.array([IDENTITY, q_from]))
    end = gc.Poses.from_quat_wxyz(np.array([ORIGIN, b_to]), np.array([IDENTITY, q_to]))
    return collide_reference(gc.Bodies([mesh_a, mesh_b], [0, 1], start, end), [[0, 1]], **options)


def arc(start, axis_point):
    """Start and end of 45 degrees about z through a point: position and quaternion."""
    start, point = np.array(start), np.array(axis_point)
    c, s = np.cos(EIGHTH), np.sin(EIGHTH)
    d = start - point
    return point + [c * d[0] - s * d[1], s * d[0] + c * d[1], d[2]], turn([0, 0, 1], EIGHTH)


def arc_closed_form():
    """A wide arc: A's vertical edge through (0.5, 0.5) meets B's face x = -0.5. Seen from
    the axis it is at d, and the face turned by alpha is the plane d . (cos alpha, sin alpha) = -0.5."""
    d = np.array([0.5 - 7.654, 0.5 + 18.478])
    return (np.arctan2(d[1], d[0]) - np.arccos(-0.5 / np.hypot(*d))) / EIGHTH


@pytest.mark.parametrize("candidates", ["pairs", "raster"])
@pytest.mark.parametrize(
    "b_from, b_to, q_to, first",
    [
        ((-3, 0, 0), ORIGIN, IDENTITY, 2 / 3),
        ((-3, 0.1, 0.2), (0, 0.1, 0.2), IDENTITY, 2 / 3),
        ((-3, 0, 0), ORIGIN, turn([1, 0, 0], EIGHTH), 2 / 3),
        (
            (-1.15, 0, 0),
            (-1.15, 0, 0),
            turn([0, 0, 1], EIGHTH),
            (np.arcsin(1.3 / np.sqrt(2)) - EIGHTH) / EIGHTH,
        ),
        ((-100, 0.1, 0), (100, 0.1, 0), turn([1, 0, 0], EIGHTH), 99 / 200),
        ((-3, 1.001, 0), (3, 1.001, 0), IDENTITY, np.inf),
        ((-3, 0.999, 0), (3, 0.999, 0), IDENTITY, 1 / 3),
    ],
)
def test_closed_forms(b_from, b_to, q_to, first, candidates):
    # Worst error seen: 4e-16.
    box = gc.shapes.box()
    found = one_pair(box, box, b_from, b_to, q_to=q_to, candidates=candidates)
    if np.isinf(first):
        assert np.isinf(found.toi[0]) and found.status[0] == gc.Status.MISS
    else:
        assert abs(found.toi[0] - first) < 1e-12 and found.status[0] == gc.Status.HIT


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-10, 1e-8, 1e-3])
def test_a_box_at_rest_stays_there_however_little_it_turns(angle):
    """A motion shorter than the tolerance of touching has no two distinct times, and still lasts."""
    place = (0.2, 0.1, 1.0)
    found = one_pair(gc.shapes.box((8, 8, 1)), gc.shapes.box(), place, place, q_to=turn([0, 0, 1], angle))
    corners = found.kind == gc.Kind.FV
    assert corners.sum() == 4 and found.sustained[corners].all()
    assert (found.time[corners] == 0).all() and (found.time_end[corners] == 1).all()


def test_wide_arcs():
    box = gc.shapes.box()
    end, q = arc((7.654, 1.522, 0.0), (7.654, -18.478, 0.0))
    hit = one_pair(box, box, (7.654, 1.522, 0.0), end, q_to=q)
    assert abs(hit.toi[0] - arc_closed_form()) < 1e-12 and round(hit.toi[0], 4) == 0.4276
    # Both bodies' corners at the time of contact, from the local points: the same place in the world.
    angle = EIGHTH * hit.time
    c, s = np.cos(angle), np.sin(angle)
    d = hit.local_b + [7.654, 1.522, 0.0] - np.array([7.654, -18.478, 0.0])
    carried = np.stack(
        [c * d[:, 0] - s * d[:, 1] + 7.654, s * d[:, 0] + c * d[:, 1] - 18.478, d[:, 2]], axis=-1
    )
    assert np.abs(carried - hit.local_a).max() < 1e-12
    end, q = arc((7.071, 2.929, 0.0), (7.071, -17.071, 0.0))
    assert one_pair(box, box, (7.071, 2.929, 0.0), end, q_to=q).status[0] == gc.Status.MISS


def test_fields_of_a_head_on_hit():
    box = gc.shapes.box()
    found = one_pair(box, box, (-3, 0.1, 0.2), (0, 0.1, 0.2))
    assert np.abs(found.normal - [-1, 0, 0]).max() < 1e-15
    assert np.abs(found.normal_speed + 3).max() < 1e-14
    assert np.abs(found.properness).max() < 1e-15
    assert np.abs(found.position[:, 0] + 0.5).max() < 1e-15
    assert np.abs(found.position - found.local_a).max() < 1e-15
    assert np.abs(found.local_b + [-1, 0.1, 0.2] - found.local_a).max() < 1e-12
    # Of the rectangle both faces share, every corner is one contact: a vertex in a face twice, crossed edges
    # twice.
    assert sorted(found.kind) == [gc.Kind.FV, gc.Kind.VF, gc.Kind.EE, gc.Kind.EE]
    assert not found.sustained.any() and np.array_equal(found.time, found.time_end)


def test_resting_and_sliding_boxes():
    floor, box = gc.shapes.box((10, 10, 1)), gc.shapes.box()
    for b_to, q_to in (((0, 0, 1), IDENTITY), ((1, 0.3, 1), IDENTITY), ((0, 0, 1), turn([0, 0, 1], 0.6))):
        found = one_pair(floor, box, (0, 0, 1), b_to, q_to=q_to)
        assert found.sustained.all() and len(found) == 4
        assert np.array_equal(found.time, np.zeros(4)) and np.array_equal(found.time_end, np.ones(4))
        assert np.abs(found.normal - [0, 0, 1]).max() < 1e-15


def test_sliding_over_a_border():
    # Front corners leave the floor after 1/2 of 3 units, rear corners after 3/2; between, two edges cross its
    # border.
    floor, box = gc.shapes.box((10, 10, 1)), gc.shapes.box()
    found = one_pair(floor, box, (4, 0, 1), (7, 0, 1))
    vertices = found.kind == gc.Kind.FV
    assert found.sustained.all() and vertices.sum() == 4 and (found.kind == gc.Kind.EE).sum() == 2
    assert np.abs(np.sort(found.time_end[vertices]) - [1 / 6, 1 / 6, 1 / 2, 1 / 2]).max() < 1e-12
    assert np.abs(found.time[~vertices] - 1 / 6).max() < 1e-12
    assert np.abs(found.time_end[~vertices] - 1 / 2).max() < 1e-12


def test_vertex_meets_vertex_once():
    box = gc.shapes.box()
    found = one_pair(box, box, (-3, 0, 0), ORIGIN)
    assert len(found) == 4 and np.all(found.kind == gc.Kind.FV)


def test_sharp_edge_under_a_flat_corner_is_not_lost():
    """A corner that comes down exactly on a sharp ridge: no vertex contact is proper there, only edge
    contacts are, and they lie at the end of an edge. One of them has to stay."""
    ridge = gc.Mesh(
        [[-3, 0, 0], [3, 0, 0], [-3, 1, -4], [3, 1, -4], [-3, -1, -4], [3, -1, -4]],
        [[0, 1, 3, 2], [0, 4, 5, 1], [2, 3, 5, 4], [0, 2, 4], [1, 5, 3]],
    )
    corner = gc.Mesh(
        [[0, 0, 0], [0.2, 2, 0.2], [1, -1, 0.2], [-1, -1, 0.2], [0, 0, 2]],
        [[0, 1, 2], [0, 2, 3], [0, 3, 1], [4, 2, 1], [4, 3, 2], [4, 1, 3]],
    )
    assert ridge.closed and corner.closed
    found = one_pair(ridge, corner, (0, 0, 1), (0, 0, -1))
    assert found.status[0] == gc.Status.HIT and abs(found.toi[0] - 0.5) < 1e-12


def test_reflex_and_pit_are_never_proper():
    rng = np.random.default_rng(5)
    block, star = gc.shapes.l_block(), gc.shapes.star()
    for mesh in (block, star):
        reflex = np.nonzero(mesh.edge_flags & 1)[0]
        assert len(reflex)
        for _ in range(20):
            way = rng.normal(size=3)
            way *= 4 / np.linalg.norm(way)
            found = one_pair(
                mesh, gc.shapes.box(0.3), -way, way, q_to=turn([0, 0, 1], 0.4), min_properness=-2.0
            )
            at_reflex = (found.kind == gc.Kind.EE) & np.isin(found.feature_a, reflex)
            assert np.all(found.properness[at_reflex] <= 0)


def test_first_keeps_only_the_earliest():
    box = gc.shapes.box()
    everything = one_pair(
        box, box, (-3, 0.1, 0.2), (3, 0.3, 0.2), q_to=turn([1, 2, 3] / np.sqrt(14), 0.5), min_properness=-2.0
    )
    first = one_pair(
        box,
        box,
        (-3, 0.1, 0.2),
        (3, 0.3, 0.2),
        q_to=turn([1, 2, 3] / np.sqrt(14), 0.5),
        min_properness=-2.0,
        contacts="first",
    )
    assert len(everything) > len(first) >= 1
    assert np.all(first.time == everything.toi[0])


@pytest.mark.parametrize(
    "b_at, q, overlap",
    [
        ((1, 0, 0), IDENTITY, False),
        ((1 - 1e-6, 0, 0), IDENTITY, True),
        ((1 - 1e-9, 0.2, 0), IDENTITY, False),
        (ORIGIN, IDENTITY, True),
        (((1 + np.sqrt(2)) / 2, 0, 0), turn([0, 0, 1], EIGHTH), False),
        (((1 + np.sqrt(2)) / 2 - 1e-6, 0, 0), turn([0, 0, 1], EIGHTH), True),
    ],
)
def test_initial_overlap(b_at, q, overlap):
    box = gc.shapes.box()
    found = one_pair(box, box, b_at, np.add(b_at, [0.3, 0.2, 5.0]), q_from=q, q_to=q, check_start=True)
    assert (found.status[0] == gc.Status.INITIAL_OVERLAP) == overlap


def test_initial_overlap_of_nested_and_linked_solids():
    torus, small = gc.shapes.torus(), gc.shapes.box(0.1)
    for a, b, place, overlap in (
        (torus, small, ORIGIN, False),
        (torus, small, (1, 0, 0), True),
        (small, torus, (1, 0, 0), True),
        (gc.shapes.box(), small, ORIGIN, True),
    ):
        found = one_pair(a, b, place, np.add(place, [0, 0, 5.0]), check_start=True)
        assert (found.status[0] == gc.Status.INITIAL_OVERLAP) == overlap
    linked = one_pair(
        torus,
        torus,
        (1, 0, 0),
        (1, 0, 5.0),
        q_from=turn([1, 0, 0], np.pi / 2),
        q_to=turn([1, 0, 0], np.pi / 2),
        check_start=True,
    )
    assert linked.status[0] != gc.Status.INITIAL_OVERLAP


def test_invalid_poses_and_empty_batches():
    box = gc.shapes.box()
    found = one_pair(box, box, (np.nan, 0, 0), ORIGIN)
    assert found.status[0] == gc.Status.INVALID_INPUT and len(found) == 0 and np.isinf(found.toi[0])
    poses = gc.Poses.identity(2)
    empty = collide_reference(gc.Bodies(box, None, poses, poses), np.zeros((0, 2), dtype=int))
    assert len(empty) == 0 and empty.contact_start.tolist() == [0]


def test_screw_motion_reproduces_the_end_pose():
    rng = np.random.default_rng(2)
    n = 50

    def poses():
        q = rng.normal(size=(n, 4))
        return gc.Poses.from_quat_wxyz(rng.normal(size=(n, 3)), q / np.linalg.norm(q, axis=1)[:, None])

    start_a, end_a, start_b, end_b = (poses() for _ in range(4))
    motion = screw_motion(start_a, end_a, start_b, end_b)
    assert np.array_equal(motion.pitch, motion.translation)
    assert np.abs(np.linalg.norm(motion.axis, axis=1) - 1).max() < 1e-14
    # Omega in A's frame at the start, applied to B's points there, against B's points in A's frame at the
    # end.
    omega = gc.Poses.from_screw(motion.axis, motion.point, motion.angle, motion.pitch)
    a0, a1, b0, b1, w = (p.to_matrix() for p in (start_a, end_a, start_b, end_b, omega))
    assert np.abs(w @ np.linalg.inv(a0) @ b0 - np.linalg.inv(a1) @ b1).max() < 1e-12
    # The point is the one nearest to A's origin.
    assert np.abs(np.sum(motion.point * motion.axis, axis=1)).max() < 1e-12


def test_screw_motion_without_a_turn():
    still = gc.Poses.identity(2)
    moved = gc.Poses.from_quat_wxyz(np.array([[0, 3.0, 4.0], [0, 0, 0]]), np.tile(IDENTITY, (2, 1)))
    motion = screw_motion(still, still, still, moved)
    assert np.allclose(motion.axis, [[0, 0.6, 0.8], [0, 0, 1]]) and np.array_equal(motion.angle, [0, 0])
    assert np.allclose(motion.pitch, [5, 0]) and np.array_equal(motion.point, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="equal lengths"):
        screw_motion(still, still, still, gc.Poses.identity(3))
    with pytest.raises(TypeError, match="end_b: expected gpu_collide.Poses, got int"):
        screw_motion(still, still, still, 3)
