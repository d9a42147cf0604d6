"""Scene families of small whole numbers: everything that can coincide does.

Positions are whole or half numbers, axes have components from -3 to 3, angles are multiples of pi/12, shapes
are boxes of whole sizes. What is left of a subtraction is zero or rounding here, never something between.
"""

import numpy as np

from tests.oracle.scenes_base import IDENTITY, SceneData, turn_quat, unit4
from tests.oracle.shapes import box, prism
from tests.oracle.solid import RawMesh, apply, norm, quat_mul, rotation_matrix
from tests.support.seeds import generator

BOXES = ((1, 1, 1), (2, 1, 1), (1, 2, 3), (2, 2, 1))


def whole_axis(rng, n, most=3):
    """Directions (n, 3) of whole components, not zero, and their lengths (n,)."""
    axis = rng.integers(-most, most + 1, (n, 3))
    zero = ~axis.any(1)
    axis[zero] = np.eye(3, dtype=int)[rng.integers(0, 3, zero.sum())]
    return axis.astype(float), norm(axis.astype(float))


def twelfths(rng, n, least=1, most=11):
    return np.pi / 12 * rng.integers(least, most + 1, n)


def whole_turn(rng, n, still=0.4):
    """Quaternions (n, 4): none, quarter turns about the coordinate axes, twelfths about whole axes."""
    axis, length = whole_axis(rng, n)
    q = turn_quat(axis / length[:, None], twelfths(rng, n))
    quarter = turn_quat(np.eye(3)[rng.integers(0, 3, n)], np.pi / 2 * rng.integers(1, 4, n))
    kind = rng.uniform(size=n)
    return np.where((kind < still)[:, None], IDENTITY, np.where((kind < 0.7)[:, None], quarter, q))


def half_numbers(rng, n, most=3):
    """Points (n, 3) of a grid of one half, most of them whole."""
    return np.where(rng.uniform(size=(n, 1)) < 0.7, 1.0, 0.5) * rng.integers(-most, most + 1, (n, 3))


def scene_of(name, meshes, sa, sb, a0, a1, b0, b1):
    """A scene of pairs (2i, 2i + 1); poses are (position (n, 3), quaternion (n, 4)) in the world."""
    n = len(a0[0])

    def both(one, two, width):
        return np.stack((one, two), 1).reshape(2 * n, width).astype(float)

    shape = both(np.broadcast_to(sa, n)[:, None], np.broadcast_to(sb, n)[:, None], 1)[:, 0].astype(np.int32)
    start, end = ((both(a[0], b[0], 3), unit4(both(a[1], b[1], 4))) for a, b in ((a0, b0), (a1, b1)))
    return SceneData(name, meshes, shape, start, end, np.arange(2 * n).reshape(n, 2))


def still(n):
    return np.zeros((n, 3)), np.tile(IDENTITY, (n, 1))


def boxes():
    return [box(s) for s in BOXES]


def screwed(pose, axis, point, angle, pitch):
    """A pose after a turn by `angle` about the line through `point` along unit `axis`, shifted along it."""
    dq = turn_quat(axis, angle)
    moved = point + apply(rotation_matrix(dq), pose[0] - point) + pitch[:, None] * axis
    return moved, quat_mul(dq, pose[1])


def whole_translation(seed, n):
    """Both bodies move between points of the grid without turning; A may stand turned by quarters."""
    rng = generator(seed, 101)
    sa, sb = rng.integers(0, len(BOXES), (2, n))
    q = turn_quat(np.eye(3)[rng.integers(0, 3, n)], np.pi / 2 * rng.integers(0, 4, n))
    a0, b0 = half_numbers(rng, n, 2), half_numbers(rng, n, 4)
    moves = rng.uniform(size=(n, 1)) < 0.5
    a1, b1 = np.where(moves, half_numbers(rng, n, 2), a0), half_numbers(rng, n, 4)
    return scene_of("whole_translation", boxes(), sa, sb, (a0, q), (a1, q), (b0, q), (b1, q))


def whole_motion(seed, n):
    """Whole poses at both ends, of both bodies."""
    rng = generator(seed, 102)
    sa, sb = rng.integers(0, len(BOXES), (2, n))
    at_rest = rng.uniform(size=(n, 1)) < 0.5
    a0 = half_numbers(rng, n, 1), whole_turn(rng, n)
    a1 = np.where(at_rest, a0[0], half_numbers(rng, n, 1)), np.where(at_rest, a0[1], whole_turn(rng, n))
    b0, b1 = (half_numbers(rng, n), whole_turn(rng, n)), (half_numbers(rng, n), whole_turn(rng, n))
    return scene_of("whole_motion", boxes(), sa, sb, a0, a1, b0, b1)


def drill(seed, n):
    """A body turns about its own centre line while it moves along it: B, A, or both.

    Half of the pairs are unit boxes that meet head on, from -3 a to 3 a. The others start off the line,
    turned or of other sizes.
    """
    rng = generator(seed, 103)
    plain = rng.uniform(size=n) < 0.5
    sa, sb = np.where(plain, 0, rng.integers(0, len(BOXES), (2, n)))
    who = np.where(plain, 0, rng.integers(0, 3, n))  # 0 B drills, 1 A, 2 both

    def drilled(position, quat):
        """Unit axes, poses at the start and at the end of bodies that drill past `position`."""
        axis, length = whole_axis(rng, n)
        reach = np.where(
            rng.uniform(size=n) < 0.5, 3.0, 3.0 / length
        )  # 3 unit vectors, or 3 of whole numbers
        unit_axis = axis / length[:, None]
        q1 = quat_mul(turn_quat(unit_axis, twelfths(rng, n)), quat)
        sense = rng.choice([-1.0, 1.0], n)
        way = (reach * sense * length)[:, None] * unit_axis
        return (position - way, quat), (position + way, q1)

    off = np.where(plain[:, None], 0.0, half_numbers(rng, n, 1) * (rng.uniform(size=(n, 1)) < 0.5))
    qa, qb = (np.where(plain[:, None], IDENTITY, whole_turn(rng, n)) for _ in range(2))
    zero = np.zeros((n, 3))
    rest_a, rest_b = (zero, qa), (off, qb)
    a0, a1 = drilled(zero, qa)
    b0, b1 = drilled(off, qb)

    def choose(drills, moved, rest):
        return tuple(np.where(drills[:, None], x, y) for x, y in zip(moved, rest, strict=True))

    a, b = who != 0, who != 1
    return scene_of(
        "drill", boxes(), sa, sb, choose(a, a0, rest_a), choose(a, a1, rest_a), choose(b, b0, rest_b),
        choose(b, b1, rest_b),
    )  # fmt: skip


def hinge(seed, n):
    """B turns about a line through a vertex, along an edge or along a face's normal, of A or of itself."""
    rng = generator(seed, 104)
    sa, sb = rng.integers(0, len(BOXES), (2, n))
    size = np.array(BOXES, float)
    start = (half_numbers(rng, n, 3), whole_turn(rng, n, still=0.7))
    own = rng.uniform(size=n) < 0.5
    half = np.where(own[:, None], size[sb], size[sa]) / 2
    kind = rng.integers(0, 3, n)  # through a vertex, along an edge, along a face's normal
    corner = half * rng.choice([-1.0, 1.0], (n, 3))
    main = np.eye(3)[rng.integers(0, 3, n)]
    axis, length = whole_axis(rng, n)
    local = np.where((kind == 2)[:, None], 0.0, corner)
    along = np.where((kind == 0)[:, None], axis / length[:, None], main)
    turned = rotation_matrix(start[1])
    point = np.where(own[:, None], start[0] + apply(turned, local), local)
    along = np.where(own[:, None], apply(turned, along), along)
    pitch = rng.choice([0.0, 0.0, 0.0, 1.0, -1.0], n)
    end = screwed(start, along, point, twelfths(rng, n) * rng.choice([-1, 1], n), pitch)
    return scene_of("hinge", boxes(), sa, sb, still(n), still(n), start, end)


def exact_half_turn(seed, n):
    """Turns by pi, w exactly 0, about coordinate axes and whole ones; A stands, or moves without turning."""
    rng = generator(seed, 105)
    sa, sb = rng.integers(0, len(BOXES), (2, n))
    axis, length = whole_axis(rng, n)
    axis = np.where(rng.uniform(size=(n, 1)) < 0.5, np.eye(3)[rng.integers(0, 3, n)], axis / length[:, None])
    turn = np.concatenate((np.zeros((n, 1)), axis), 1)
    a0 = half_numbers(rng, n, 1)
    a1 = np.where(rng.uniform(size=(n, 1)) < 0.7, a0, half_numbers(rng, n, 1))
    one = np.tile(IDENTITY, (n, 1))
    b0, b1 = half_numbers(rng, n), half_numbers(rng, n)
    return scene_of("exact_half_turn", boxes(), sa, sb, (a0, one), (a1, one), (b0, one), (b1, turn))


def tent(fold, wound_down):
    """A two-sided sheet of two quads that meet in a ridge along x."""
    v = [[-1, 0, fold], [1, 0, fold], [-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]]
    faces = [(0, 2, 3, 1), (0, 1, 5, 4)]
    return RawMesh(v, [f[::-1] for f in faces] if wound_down else faces, two_sided=True)


def whole_sheets(seed, n):
    """Flat and folded two-sided sheets, in both windings, against boxes, roofs and each other."""
    rng = generator(seed, 106)
    roof = prism(np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]), [(0, 1, 2)], 2)
    sheets = [tent(fold, down) for fold in (0.0, 1.0, -1.0) for down in (False, True)]
    meshes = [*sheets, box(), box((2, 1, 1)), roof]
    sa, sb = rng.integers(0, 6, n), rng.integers(0, len(meshes), n)
    swap = rng.uniform(size=n) < 0.5
    sa, sb = np.where(swap, sb, sa), np.where(swap, sa, sb)
    a, b0 = (np.zeros((n, 3)), whole_turn(rng, n, 0.6)), (half_numbers(rng, n, 3), whole_turn(rng, n, 0.6))
    turns = rng.uniform(size=(n, 1)) < 0.4
    b1 = half_numbers(rng, n, 2), np.where(turns, whole_turn(rng, n), b0[1])
    return scene_of("whole_sheets", meshes, sa, sb, a, a, b0, b1)


def thin_and_tiny(seed, n):
    """Slivers of 1e-5 and bodies of 1e-6 beside unit boxes, on whole motions."""
    rng = generator(seed, 107)
    sliver = RawMesh(
        [[0, 0, 0], [1, 0, 0], [0.5, 1e-5, 0], [0.5, 0, 1]], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    )
    meshes = [box(), box((1, 1, 1e-5)), box((1, 1e-5, 1e-5)), sliver, box((1e-6, 1e-6, 1e-6))]
    sa, sb = rng.integers(0, 4, n), rng.integers(0, len(meshes), n)
    swap = rng.uniform(size=n) < 0.5
    sa, sb = np.where(swap, sb, sa), np.where(swap, sa, sb)
    a = np.zeros((n, 3)), whole_turn(rng, n)
    b0 = half_numbers(rng, n, 2), whole_turn(rng, n)
    turns = rng.uniform(size=(n, 1)) < 0.5
    b1 = (
        -b0[0] + half_numbers(rng, n, 1) * rng.integers(0, 2, (n, 1)),
        np.where(turns, whole_turn(rng, n), b0[1]),
    )
    return scene_of("thin_and_tiny", meshes, sa, sb, a, a, b0, b1)


def same_place(seed, n):
    """Equal or touching boxes at the start or at the end, parallel; still, sliding, turning, or apart."""
    rng = generator(seed, 108)
    sa = rng.integers(0, len(BOXES), n)
    sb = np.where(rng.uniform(size=n) < 0.7, sa, rng.integers(0, len(BOXES), n))
    size = np.array(BOXES, float)
    touch = (size[sa] + size[sb]) / 2 * rng.integers(-1, 2, (n, 3))  # equal, face on face, edge on edge, ...
    q = whole_turn(rng, n)
    place = half_numbers(rng, n, 1)
    there = (place + apply(rotation_matrix(q), touch), q)
    step = half_numbers(rng, n, 2) * (rng.uniform(size=(n, 1)) < 0.8)
    step = np.where(rng.uniform(size=(n, 1)) < 0.5, apply(rotation_matrix(q), step), step)
    turned = np.where(rng.uniform(size=(n, 1)) < 0.3, quat_mul(whole_turn(rng, n, 0), q), q)
    away = (there[0] + step, turned)
    back = rng.uniform(size=(n, 1)) < 0.5
    b0, b1 = (
        tuple(np.where(back, x, y) for x, y in zip(one, two, strict=True))
        for one, two in ((away, there), (there, away))
    )
    a = (place, q)
    return scene_of("same_place", boxes(), sa, sb, a, a, b0, b1)


WHOLE = {
    f.__name__: f
    for f in (
        whole_translation, whole_motion, drill, hinge, exact_half_turn, whole_sheets, thin_and_tiny,
        same_place,
    )
}  # fmt: skip
