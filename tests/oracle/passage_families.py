"""Hostile families of moves, by seed: `FAMILIES[name](seed, n)` gives n `Passages`.

Names that end in `_turn` are rotations, the others translations.
"""

import numpy as np

from tests.oracle.passage_grazes import flat_graze_turn
from tests.oracle.passage_shapes import (
    common,
    generator,
    off_origin,
    open_ones,
    plates,
    radii,
    rough,
    shaped,
    sharp,
    thin,
)
from tests.oracle.passages import (
    Passages,
    box,
    fan,
    hull,
    l_block,
    resting_at,
    reversed_winding,
    ridge,
    scaled,
    star,
    tip,
    wedge,
)
from tests.oracle.scenes_base import IDENTITY, random_axis, random_quat, turn_quat
from tests.oracle.scenes_whole import half_numbers, whole_turn
from tests.oracle.shapes import sheet
from tests.oracle.solid import RawMesh, apply, quat_mul, rotation_matrix

ZONE = 1e-6  # the thickness that families about the zone ask for
GAPS = [0, 2.0**-52, -(2.0**-52), 2.0**-50, 1e-14, 1e-12, 1e-9, 5e-7, 1e-6, 2e-6, -1e-12, -1e-9]


def whole_translation(seed, n):
    """Small whole numbers: faces, edges and corners meet exactly, or pass exactly."""
    rng = generator("whole", seed)
    meshes = [box(), box((2, 1, 1)), box((2, 2, 2)), tip(1, 1), scaled(fan(4, 0.5), 2)]
    one, two = rng.integers(0, len(meshes), (2, n))
    start = half_numbers(rng, n, 3) + 5 * np.eye(3)[rng.integers(0, 3, n)] * rng.choice([-1, 1], (n, 1))
    goal = half_numbers(rng, n, 2)
    mover = (one, start, whole_turn(rng, n))
    return Passages("whole", meshes, mover, (two, np.zeros((n, 3)), whole_turn(rng, n)), vector=goal - start)


def whole_rotation(seed, n):
    """The same for turns about whole axes through whole points, quarters among the angles."""
    rng = generator("whole_turn", seed)
    move = whole_translation(seed, n)
    axis = rng.integers(-1, 2, (n, 3)).astype(float)
    axis[~axis.any(1)] = [0, 0, 1]
    parts = rng.choice([0.25, 0.5, 1.0], n) * np.pi
    angle = np.where(rng.uniform(size=n) < 0.5, parts, rng.uniform(0.1, np.pi, n))
    shape, _, quat = move.mover
    position = half_numbers(rng, n, 0.5) + rng.choice([2, 2.5], (n, 1)) * np.eye(3)[rng.integers(0, 3, n)]
    return Passages(
        "whole_turn", move.meshes, (shape, position, quat), move.still, angle=angle * rng.choice([-1, 1], n),
        axis=axis, origin=half_numbers(rng, n, 2), start="any",
    )  # fmt: skip


def grazing(seed, n):
    """A corner, an edge or a face passes a corner, an edge or a face at a distance of a few ulps or zones."""
    rng = generator("grazing", seed)
    meshes = [box((2, 2, 2)), tip(1, 1), hull(rng, 7), wedge(20)]
    one = rng.integers(0, len(meshes), n)
    quat = np.where(rng.uniform(size=(n, 1)) < 0.4, IDENTITY, random_quat(rng, n))
    # the mover's lowest corner over the top face z = 1, over its border x = 1, or over the corner
    lowest = np.empty((n, 3))
    for i in range(n):
        v = apply(rotation_matrix(quat[i]), meshes[one[i]].vertices)
        lowest[i] = v[np.argmin(v[:, 2])]
    gap = rng.choice(GAPS, n)
    aim = rng.uniform(-1, 1, (n, 3))
    which = rng.integers(0, 3, n)
    aim[which >= 1, 0] = 1
    aim[which == 2, 1] = -1
    aim[:, 2] = 1 + gap
    way = random_axis(rng, n)
    way[which == 0, 2] = 0  # along the face
    way[which == 1] = np.column_stack((rng.normal(size=(n, 2)) * [1, 1], -rng.normal(size=n)))[which == 1]
    way[which == 1, 0] = np.abs(way[which == 1, 0])
    slope = which == 1  # down past the edge: over the border line at the given gap, 45 degrees
    way[slope, 2] = -way[slope, 0]
    start = aim - lowest - way * rng.uniform(3, 5, (n, 1))
    mover = (one, start, quat)
    vector = way * rng.uniform(6, 9, (n, 1))
    still = resting_at(np.zeros(n, int))
    return Passages("grazing", meshes, mover, still, vector=vector, expel=ZONE, start="any")


def grazing_turn(seed, n):
    """A corner's circle passes an edge or a plane at a few ulps or zones."""
    rng = generator("grazing_turn", seed)
    meshes = [box((2, 2, 2)), tip(1, 1)]
    gap = rng.choice(GAPS, n)
    # the tip hangs below an axis along y over the top face, and swings through its lowest place
    arm = rng.choice([1.0, 0.5, 3.0], n)
    past = rng.uniform(size=n) < 0.5  # over the border x = 1 of the top
    origin = np.column_stack(
        (np.where(past, 1.0, rng.uniform(-0.5, 0.5, n)), rng.uniform(-0.5, 0.5, n), 1 + arm + gap)
    )
    axis = np.tile([0.0, 1, 0], (n, 1))
    swing = rng.uniform(0.8, 1.5, n)
    back = turn_quat(axis, -swing)
    start = origin + apply(rotation_matrix(back), np.array([0, 0, -1.0]) * arm[:, None])
    return Passages(
        "grazing_turn", meshes, (np.ones(n, int), start, back), resting_at(np.zeros(n, int)),
        angle=swing * rng.uniform(1, 2, n), axis=axis, origin=origin, expel=ZONE, start="any",
    )  # fmt: skip


def on_axis_turn(seed, n):
    """The axis goes through corners, along edges, or square to faces: a = b = c = 0, or nearly."""
    rng = generator("on_axis_turn", seed)
    meshes = [box((2, 2, 2)), tip(1, 1), l_block(), wedge(10)]
    one, two = rng.integers(0, len(meshes), n), rng.integers(0, 3, n)
    axis = np.eye(3)[rng.integers(0, 3, n)] * rng.choice([-1.0, 1.0], (n, 1))
    quat = np.where(rng.uniform(size=(n, 1)) < 0.5, IDENTITY, turn_quat(axis, rng.uniform(0, 6, n)))
    position = rng.choice([-1, -0.5, 0, 0.5, 1], (n, 3))
    position[np.arange(n), rng.integers(0, 3, n)] = rng.choice([2, 2.25, 2.5, -2.5], n)
    origin = position.copy()
    for i in range(n):
        v = apply(rotation_matrix(quat[i]), meshes[one[i]].vertices)
        origin[i] += v[rng.integers(0, len(v))]  # through a corner of the mover
    nudge = rng.choice([0, 0, 0, 1e-16, 1e-12, 1e-8], (n, 1))
    angle = rng.uniform(1, np.pi, n)
    return Passages(
        "on_axis_turn", meshes, (one, position, quat), resting_at(two), angle=angle, axis=axis,
        origin=origin + nudge * rng.normal(size=(n, 3)), start="any",
    )  # fmt: skip


def half_turn(seed, n):
    """Angles of pi, and a little more or less; the mover starts on the far side of the axis."""
    rng = generator("half_turn", seed)
    meshes = common(rng)
    one, two = rng.integers(0, len(meshes), (2, n))
    reach = radii(meshes, one) + radii(meshes, two)
    axis = random_axis(rng, n)
    side = np.cross(axis, random_axis(rng, n))
    side /= np.linalg.norm(side, axis=1)[:, None]
    arm = reach * rng.uniform(0.7, 2, n)
    turned = apply(rotation_matrix(turn_quat(axis, rng.choice([0, 0.1, -0.1], n))), side)
    origin = turned * arm[:, None]
    angle = np.pi - rng.choice([0, 0, 1e-15, 1e-12, 1e-6, 0.01], n)
    mover = (one, origin + side * arm[:, None], random_quat(rng, n))
    return Passages(
        "half_turn", meshes, mover, (two, np.zeros((n, 3)), random_quat(rng, n)),
        angle=angle * rng.choice([-1, 1], n), axis=axis, origin=origin,
    )  # fmt: skip


def shared_corner(seed, n):
    """A tip at, and by ulps beside, the corner or an edge that many triangles share."""
    rng = generator("shared_corner", seed)
    meshes = [tip(), fan(5, 0.3, rng=rng), fan(8, 0.05), fan(6, 0.0), fan(7, -0.3), ridge(rng=rng), ridge()]
    two = rng.integers(1, len(meshes), n)
    aim = np.zeros((n, 3))
    for i in range(n):
        m = meshes[two[i]]
        start = m.face_start
        f = rng.integers(0, 5)
        loop = m.face_vertices[start[f] : start[f + 1]]
        a, b = m.vertices[loop[rng.permutation(len(loop))[:2]]]
        aim[i] = a + rng.choice([0, 0.5, rng.uniform()]) * (b - a)
    aim += rng.choice([0, 2.0**-53, 2.0**-52, 2.0**-50, 1e-12], (n, 1)) * rng.normal(size=(n, 3))
    way = rng.normal(size=(n, 3)) * 0.5
    way[:, 2] = -1 - np.abs(way[:, 2])
    way[rng.uniform(size=n) < 0.4] = [0, 0, -1]
    away = rng.uniform(1, 3, (n, 1))
    mover = (np.zeros(n, int), aim - way * away, np.tile(IDENTITY, (n, 1)))
    return Passages("shared_corner", meshes, mover, resting_at(two), vector=way * away * 1.3)


def edge_over_corner(seed, n):
    """A long edge comes down on a corner or a ridge that several faces share, at it and beside it by ulps."""
    rng = generator("edge_over_corner", seed)
    meshes = [wedge(40, 6.0), fan(5, 0.3, rng=rng), fan(8, 0.05), ridge(rng=rng), ridge()]
    two = rng.integers(1, len(meshes), n)
    aim = np.zeros((n, 3))
    for i in range(n):
        m = meshes[two[i]]
        top = np.flatnonzero(m.vertices[:, 2] > 0)
        aim[i] = m.vertices[rng.choice(top)]
    aim += rng.choice([0, 2.0**-53, 2.0**-52, 2.0**-50, 1e-12], (n, 1)) * rng.normal(size=(n, 3))
    quat = turn_quat(np.array([1.0, 0, 0]), np.full(n, np.pi))  # the blade's edge down
    quat = quat_mul(turn_quat(np.array([0, 0, 1.0]), rng.choice([0, np.pi / 2, 1.0, 2.0], n)), quat)
    way = rng.normal(size=(n, 3)) * 0.2
    way[:, 2] = -1
    way[rng.uniform(size=n) < 0.4] = [0, 0, -1]
    mover = (np.zeros(n, int), aim - way * 2, quat)
    return Passages("edge_over_corner", meshes, mover, resting_at(two), vector=way * 2.5)


def seams(seed, n):
    """A floor of boxes side by side: tips come down on the seams and slide along them."""
    rng = generator("seams", seed)
    meshes = [box((1, 1, 1)), tip(), box((0.2, 0.2, 0.2))]
    grid = np.array([[x, y, -0.5] for x in range(-2, 3) for y in range(-2, 3)], float)
    one = rng.choice([1, 2], n)
    aim = rng.uniform(-1.4, 1.4, (n, 3))
    aim[:, 0] = np.round(aim[:, 0] - 0.5) + 0.5  # on a seam
    both = rng.uniform(size=n) < 0.5
    aim[both, 1] = np.round(aim[both, 1] - 0.5) + 0.5  # where four boxes meet
    aim[:, 2] = np.where(one == 2, 0.1, 0.0)
    aim[:, :2] += rng.choice([0, 2.0**-53, -(2.0**-53), 2.0**-52, 1e-12], (n, 2))
    way = rng.normal(size=(n, 3)) * 0.6
    way[:, 2] = -1
    way[rng.uniform(size=n) < 0.4] = [0, 0, -1]
    mover = (one, aim - way * 0.5, np.tile(IDENTITY, (n, 1)))
    still = resting_at(np.zeros(len(grid), int), grid)
    return Passages("seams", meshes, mover, still, vector=way * 0.9, each=False)


def _near_start(name, seed, n, turns):
    """Movers that stand 0 to two zones above a flat top, or beside an edge, and enter, slide or leave."""
    rng = generator(name, seed)
    meshes = [box((2, 2, 2)), box(), tip(1, 1), l_block(), wedge(15)]
    one, two = rng.integers(1, len(meshes), n), np.zeros(n, int)
    flat = rng.uniform(size=n) < 0.5
    spin = turn_quat(np.array([0, 0, 1.0]), rng.uniform(0, 6, n))
    quat = np.where(flat[:, None], spin, random_quat(rng, n))
    start = rng.uniform(-0.9, 0.9, (n, 3))
    share = rng.choice([0, 0.25, 0.5, 1 - 1e-9, 1, 1 + 1e-9, 2], n)
    plain = share == 0  # exactly on it
    quat[plain] = IDENTITY
    one[plain & (one == 3)] = 1
    for i in range(n):
        v = apply(rotation_matrix(quat[i]), meshes[one[i]].vertices)
        start[i, 2] = 1 + share[i] * ZONE - v[:, 2].min()
    turned = random_quat(rng, n)
    turned[plain | (rng.uniform(size=n) < 0.5)] = IDENTITY
    place = np.where((plain | (rng.uniform(size=n) < 0.5))[:, None], 0.0, rng.normal(size=(n, 3)) * 3)
    way = random_axis(rng, n) * rng.uniform(0.1, 2, (n, 1))
    what = rng.integers(0, 3, n)
    way[:, 2] = np.where(what == 0, -np.abs(way[:, 2]), np.where(what == 1, 0, np.abs(way[:, 2])))
    axis, origin = random_axis(rng, n), start + rng.normal(size=(n, 3))
    axis[what == 1] = [0, 0, 1]  # stays at its height
    matrix = rotation_matrix(turned)
    mover = (one, apply(matrix, start) + place, quat_mul(turned, quat))
    still = (two, place, turned)
    if turns:
        return Passages(
            name, meshes, mover, still, angle=rng.uniform(-2, 2, n), axis=apply(matrix, axis),
            origin=apply(matrix, origin) + place, expel=ZONE, start="zone",
        )  # fmt: skip
    return Passages(name, meshes, mover, still, vector=apply(matrix, way), expel=ZONE, start="zone")


def zone(seed, n):
    return _near_start("zone", seed, n, False)


def zone_turn(seed, n):
    return _near_start("zone_turn", seed, n, True)


def level(name, turns):
    """Boxes side by side on one floor, tilted or not: one goes along it, towards the other or past it."""

    def make(seed, n):
        rng = generator(name, seed)
        meshes = [box((1, 1, 0.25)), box((1, 0.25, 0.25)), box((0.5, 0.5, 0.25)), l_block()]
        one, two = rng.integers(0, 3, (2, n))
        tilt = np.where(rng.uniform(size=(n, 1)) < 0.2, IDENTITY, random_quat(rng, n))
        matrix = rotation_matrix(tilt)
        spin = turn_quat(np.array([0, 0, 1.0]), rng.choice([0, 0, np.pi / 2, 0.5], n))
        angle = rng.uniform(0, 2 * np.pi, n)
        place = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)) * rng.uniform(1.7, 3, (n, 1))
        way = (rng.uniform(-0.4, 0.4, (n, 3)) - place) * [1, 1, 0]
        mover = (one, apply(matrix, place), quat_mul(tilt, spin))
        still = (two, np.zeros((n, 3)), tilt)
        if not turns:
            return Passages(name, meshes, mover, still, vector=apply(matrix, way))
        origin = place + rng.normal(size=(n, 3)) * [1, 1, 0]
        turn = {"angle": rng.uniform(-3, 3, n), "axis": apply(matrix, np.tile([0, 0, 1.0], (n, 1)))}
        return Passages(name, meshes, mover, still, **turn, origin=apply(matrix, origin))

    make.__name__ = name
    return make


def stacked(seed, n):
    """A body stands on one like it, corner over corner or side over side, 0 to 1 zones above; it slides,
    leaves or goes in."""
    rng = generator("stacked", seed)
    meshes = [box(), box((0.5, 1, 1)), box((2, 1, 1))]
    one, two = rng.integers(0, 3, (2, n))
    share = rng.choice([0, 0.125, 0.25, 0.5, 1 - 1e-9, 1], n)
    start = np.column_stack((rng.choice([0, 0.25, 0.5], n), rng.choice([0, 0, 0.5], n), 1 + share * ZONE))
    way = rng.uniform(-0.4, 0.4, (n, 3))
    way[rng.uniform(size=n) < 0.3, 1] = 0
    what = rng.integers(0, 3, n)
    way[:, 2] = np.where(what == 0, 0, np.where(what == 1, np.abs(way[:, 2]), -np.abs(way[:, 2])))
    mover = (one, start, np.tile(IDENTITY, (n, 1)))
    return Passages("stacked", meshes, mover, resting_at(two), vector=way, expel=ZONE, start="zone")


def inside(seed, n):
    """Movers that start in the body, through its surface, or behind a sheet: clear answers, no NaN."""
    rng = generator("inside", seed)
    meshes = [box((2, 2, 2)), box((0.5, 0.5, 0.5)), tip(1, 1), sheet()]
    one, two = rng.integers(1, 3, n), rng.choice([0, 3], n)
    mover = (one, rng.uniform(-0.8, 0.8, (n, 3)), random_quat(rng, n))
    return Passages("inside", meshes, mover, resting_at(two), vector=rng.normal(size=(n, 3)), start="inside")


def room(seed, n):
    """Movers inside a box whose winding is reversed: its inside is the free space."""
    rng = generator("room", seed)
    meshes = [reversed_winding(box((6, 6, 4))), box(), hull(rng, 7), l_block(), tip(1, 1)]
    meshes[0].vertices = np.array(meshes[0].vertices)
    one = rng.integers(1, len(meshes), n)
    mover = (one, rng.uniform(-0.3, 0.3, (n, 3)), random_quat(rng, n))
    still = resting_at(np.zeros(n, int), None, random_quat(rng, n))
    return Passages("room", meshes, mover, still, vector=random_axis(rng, n) * rng.uniform(0.5, 6, (n, 1)))


def room_turn(seed, n):
    rng = generator("room_turn", seed)
    move = room(seed, n)
    axis, angle = random_axis(rng, n), rng.uniform(-np.pi, np.pi, n)
    origin = rng.normal(size=(n, 3)) * 2
    return Passages("room_turn", move.meshes, move.mover, move.still, angle=angle, axis=axis, origin=origin)


def points(seed, n):
    """Points on their way to corners, edges and faces, at them and beside them by ulps: rays."""
    rng = generator("points", seed)
    targets = [*common(rng), *plates(rng), ridge(rng=rng), fan(6, 0.0)]
    meshes = [RawMesh([[0.0, 0, 0]], [(0,)]), *targets]
    two = rng.integers(1, len(meshes), n)
    still = (two, np.zeros((n, 3)), np.where(rng.uniform(size=(n, 1)) < 0.5, IDENTITY, random_quat(rng, n)))
    aim = np.empty((n, 3))
    for i in range(n):
        mesh = meshes[two[i]]
        f = rng.integers(0, len(mesh.face_start) - 1)
        v = mesh.vertices[mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]]
        shares = rng.dirichlet(np.ones(len(v))) if rng.uniform() < 0.3 else np.eye(len(v))[0]
        if rng.uniform() < 0.4:
            shares = 0.5 * (np.eye(len(v))[0] + np.eye(len(v))[1])
        aim[i] = rotation_matrix(still[2][i]) @ (shares @ v)
    aim += rng.choice([0, 2.0**-53, 2.0**-52, 2.0**-50, 1e-12, 0.1], (n, 1)) * rng.normal(size=(n, 3))
    way = random_axis(rng, n)
    way[rng.uniform(size=n) < 0.2] = [0, 0, -1]
    mover = (np.zeros(n, int), aim - way * 4, np.tile(IDENTITY, (n, 1)))
    return Passages("points", meshes, mover, still, vector=way * rng.uniform(3, 6, (n, 1)))


def points_turn(seed, n):
    """The same on circles."""
    rng = generator("points_turn", seed)
    move = points(seed, n)
    aim = move.mover[1] + move.vector * 4 / np.linalg.norm(move.vector, axis=1)[:, None]
    axis = random_axis(rng, n)
    origin = aim + np.cross(axis, random_axis(rng, n)) * rng.uniform(1, 4, (n, 1))
    back = rng.uniform(0.8, 1.5, n)
    start = origin + apply(rotation_matrix(turn_quat(axis, -back)), aim - origin)
    mover = (move.mover[0], start, move.mover[2])
    angle = back * rng.uniform(0.9, 1.5, n)
    return Passages("points_turn", move.meshes, mover, move.still, angle=angle, axis=axis, origin=origin)


def forest(name, turns):
    """A world of 300 bodies: movers go past many of them to the first that is in the way."""

    def make(seed, n):
        rng = generator(name, seed)
        meshes = [box(), box((0.4, 0.4, 2)), hull(rng, 7), tip(1, 1), l_block(), star(rng), wedge(12)]
        count = 300
        place = rng.uniform(-14, 14, (count, 3)) * [1, 1, 0.3]
        quat = np.where(rng.uniform(size=(count, 1)) < 0.3, IDENTITY, random_quat(rng, count))
        still = (rng.integers(0, len(meshes), count), place, quat)
        start = rng.uniform(-14, 14, (n, 3)) * [1, 1, 0.4]
        mover = (rng.integers(0, len(meshes), n), start, random_quat(rng, n))
        if turns:
            origin = start + rng.normal(size=(n, 3)) * 4
            turn = {"angle": rng.uniform(-1, 1, n), "axis": random_axis(rng, n), "origin": origin}
            return Passages(name, meshes, mover, still, **turn, start="any", each=False)
        vector = random_axis(rng, n) * rng.uniform(1, 8, (n, 1))
        return Passages(name, meshes, mover, still, vector=vector, start="any", each=False)

    make.__name__ = name
    return make


def far_axis_turn(seed, n):
    """Turns by tiny angles about axes that are far away: nearly translations."""
    move = FAMILIES["random"](seed, n)
    rng = generator("far_axis_turn", seed)
    length = np.linalg.norm(move.vector, axis=1)
    side = np.cross(move.vector, random_axis(rng, n))
    side /= np.linalg.norm(side, axis=1)[:, None]
    away = 10.0 ** rng.uniform(2, 6, n)
    axis = np.cross(side, move.vector)
    turn = {"angle": length / away, "axis": axis, "origin": move.mover[1] - side * away[:, None]}
    return Passages("far_axis_turn", move.meshes, move.mover, move.still, **turn, start="any")


FAMILIES = {
    f.__name__: f
    for f in (
        shaped("random", common, False), shaped("random_turn", common, True),
        shaped("sharp", sharp, False), shaped("sharp_turn", sharp, True),
        shaped("thin", thin, False), shaped("thin_turn", thin, True),
        shaped("tiny", common, False, 1e-9), shaped("tiny_turn", common, True, 1e-9),
        shaped("huge", common, False, 1e9), shaped("huge_turn", common, True, 1e9),
        shaped("far", common, False, far=1e6), shaped("far_turn", common, True, far=1e6),
        shaped("open", open_ones, False, mover=((0, 1, 2), (3, 4, 5, 6))),
        shaped("open_turn", open_ones, True, mover=((0, 1, 2), (3, 4, 5, 6))),
        shaped("open_mover", open_ones, False, mover=((3, 4), (0, 1, 2, 3, 4))),
        shaped("open_mover_turn", open_ones, True, mover=((3, 4), (0, 1, 2, 3, 4))),
        grazing, grazing_turn, on_axis_turn, half_turn, shared_corner, edge_over_corner, seams, zone,
        zone_turn, inside, room, room_turn, points, points_turn,
        shaped("terrain", rough, False, mover=((1, 2, 3, 4, 5), (0,))),
        shaped("terrain_turn", rough, True, mover=((1, 2, 3, 4, 5), (0,))),
        shaped("terrain_mover", rough, False, mover=((0, 5), (1, 2, 3, 4))),
        forest("forest", False), forest("forest_turn", True),
        level("level", False), level("level_turn", True), stacked,
        off_origin("odd", False), off_origin("odd_turn", True), far_axis_turn, flat_graze_turn,
        shaped("plates", plates, False), shaped("plates_turn", plates, True),
    )
}  # fmt: skip
FAMILIES |= {"whole": whole_translation, "whole_turn": whole_rotation}
