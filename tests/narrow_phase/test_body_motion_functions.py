"""Motions that two bodies each make: the state at a time, the functions and their bounds, pieces, and which
pairs are on one screw."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.narrow_phase import _body_functions, _one_screw, body_motion, s01_screw, s02_facing
from gpu_collide.reference.narrow_phase._tables import tables_of
from tests.narrow_phase import _own_motions as own
from tests.narrow_phase._own_motions import BOX, FIELDS, IDENTITY, KINDS


def motions(bodies, i):
    """`BodyMotion` and `Screw` of bodies i and i + 1."""
    meshes = [bodies.meshes[bodies.shape[k]] for k in (i, i + 1)]
    (p0, q0, _), (p1, q1, _) = (s01_screw.pose_arrays(poses) for poses in (bodies.start, bodies.end))
    poses = [(p[k], q[k]) for k in (i, i + 1) for p, q in ((p0, q0), (p1, q1))]
    both = [body_motion.body_of(bodies, k) for k in (i, i + 1)]
    return body_motion.motion_of_pair(*meshes, *both), s01_screw.screw_of_pair(*meshes, *poses)


# -- the state, functions, bounds ----------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", [1e-9, 1e-3, 0.8, 3.0])
def test_the_state_is_that_of_the_poses(kind, turn):
    mesh = gc.Mesh(BOX.vertices * [1, 2, 0.5] + [0.4, 0.1, -0.2], BOX.faces)
    bodies = own.tumbling(3, 10, turn, kind, mesh)
    for i in range(0, 20, 2):
        motion, _ = motions(bodies, i)
        for time in (0.0, 0.37, 1.0):
            poses = bodies.poses_at(time)
            x = poses[i + 1].apply(mesh.vertices)
            there = motion.to_a(motion.flow(motion.from_b(mesh.vertices), np.array(time - 0.5)))
            assert np.abs(poses[i].inverse().apply(x) - there).max() < 1e-14  # worst seen 3.6e-15
            world = motion.world_of_a(mesh.vertices, np.full(8, time))
            assert np.abs(poses[i].apply(mesh.vertices) - world).max() < 1e-14
            again = motion.carry(motion.carry(x, time - 0.5, -1.0), time - 0.5, 1.0)
            assert np.abs(again - x).max() < 1e-14
        h, y = 1e-6, motion.flow(motion.from_b(mesh.vertices), np.array(0.2))
        later, before = (motion.flow(motion.from_b(mesh.vertices), np.array(0.2 + d)) for d in (h, -h))
        assert np.abs((later - before) / (2 * h) - motion.field(y, np.array(0.2), -1.0)).max() < 1e-8


def every_function(motion):
    tables = tables_of(BOX)
    a, b = (s02_facing.side_of(motion, tables, body) for body in "ab")
    faces, vertices = np.repeat(np.arange(6), 8), np.tile(np.arange(8), 6)
    edges = np.repeat(np.arange(12), 12), np.tile(np.arange(12), 12)
    yield _body_functions.vertex_face_functions(motion, a, b, faces, vertices)
    yield _body_functions.vertex_face_functions(motion, b, a, faces, vertices)
    yield _body_functions.edge_edge_functions(motion, a, b, *edges)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", [1e-6, 0.3, 2.0])
def test_derivatives_and_their_bounds(kind, turn):
    bodies, rng = own.tumbling(5, 6, turn, kind), np.random.default_rng(1)
    for i in range(0, 12, 2):
        motion, _ = motions(bodies, i)
        for functions in every_function(motion):
            s, h = rng.uniform(-0.4, 0.4, len(functions)), 1e-4
            f, f1, f2, _ = functions.expanded(functions.places(s))
            (below, slope0, _), (above, slope1, _) = functions(s - h), functions(s + h)
            assert np.abs((above - below) / (2 * h) - f1).max() < 1e-6  # h^2/6 of f''' up to 60
            assert np.abs((slope1 - slope0) / (2 * h) - f2).max() < 1e-6
            arm = 0.1
            _, _, _, third = functions.expanded(functions.places(s), arm)
            for shift in np.linspace(-arm, arm, 9):
                bends = functions(s + shift + h)[2] - functions(s + shift - h)[2]
                assert (np.abs(bends) / (2 * h) <= third * (1 + 1e-6) + 1e-9).all()
            far = functions.apart(functions.places(s), np.full(len(s), arm))
            for shift in np.linspace(-arm, arm, 5):
                gap = np.linalg.norm(functions.places(s + shift).y, axis=1)
                assert (gap >= functions.reach)[far].all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", [0.01, 0.3, 1.0, 3.0, 9.0])
def test_how_far_the_screw_strays_is_bounded(kind, turn):
    bodies = own.tumbling(7, 40, turn if kind != "screw" else min(turn, 3.0), kind)
    s = np.linspace(-0.5, 0.5, 41)
    for i in range(0, 80, 2):
        motion, screw = motions(bodies, i)
        for x in BOX.vertices:
            true = motion.to_a(motion.flow(motion.from_b(x), s))
            drawn = screw.to_a(screw.flow(np.broadcast_to(screw.from_b(x), (41, 3)), s))
            apart = np.linalg.norm(true - drawn, axis=1).max()
            assert apart <= _one_screw.distance_bound(motion, screw) + 1e-14


# -- motions that are one screw ------------------------------------------------------------------------------
def one_screw_scene(name, seed, turn, way):
    rng, n = np.random.default_rng(seed), 24
    place = own.unit(rng, n) * rng.uniform(0.7, 1.3, n)[:, None]
    start = gc.Poses.from_quat_wxyz(place, own.unit(rng, n, 4))
    move, spin = -way * place, turn * own.unit(rng, n)
    if name == "A still":
        move[::2] = spin[::2] = 0
    elif name == "B still":
        move[1::2] = spin[1::2] = 0
    elif name == "both straight":
        spin[:] = 0
    else:
        axis, point = (np.repeat(x, 2, axis=0) for x in (own.unit(rng, n // 2), rng.normal(size=(n // 2, 3))))
        angle, pitch = turn * rng.uniform(-0.5, 0.5, n), way * rng.normal(size=n)
        if name == "together":
            angle, pitch = np.repeat(angle[::2], 2), np.repeat(pitch[::2], 2)
        return gc.Bodies(BOX, None, start, gc.Poses.from_screw(axis, point, angle, pitch, start))
    return gc.Bodies(BOX, None, start, start.moved(move, spin))


@pytest.mark.parametrize("name", ["A still", "B still", "both straight", "common axis", "together"])
@pytest.mark.parametrize("turn, way", [(0.3, 0.7), (2.5, 1.0), (1.0, 50.0)])
def test_motions_that_commute_have_the_bits_of_the_relative_screw(name, turn, way):
    bodies = one_screw_scene(name, 2, turn, way)
    one, other = (
        own.collide(bodies, own.pairs_of(bodies), m, min_properness=-1) for m in ("relative", "body")
    )
    assert name == "together" or np.isfinite(one.toi).sum() > 1
    for field in FIELDS:
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


@pytest.mark.parametrize("still", [0, 1])
def test_a_still_body_commutes_however_far_and_fast(still):
    rng = np.random.default_rng(4)
    for size, way, turn, offset in (
        (1, 0, 1e-12, 0),
        (1, 1e6, 3.1, 1e6),
        (1, 1e-9, 2, 1e9),
        (1e-6, 1, 1, 1e3),
    ):
        place = rng.normal(size=(60, 3)) * 2 + offset
        start = gc.Poses.from_quat_wxyz(place, own.unit(rng, 60, 4))
        move, spin = way * own.unit(rng, 60), turn * own.unit(rng, 60)
        move[still::2] = spin[still::2] = 0
        bodies = gc.Bodies(BOX.scaled(size), None, start, start.moved(move, spin))
        assert all(_one_screw.is_one_screw(*motions(bodies, i)) for i in range(0, 60, 2))


def test_of_a_half_turn_a_body_takes_its_own_in_every_pair():
    """B turns half round about z, whatever A is turned by: its own axis, by its own rule, in every pair."""
    upside = gc.Poses.from_quat_wxyz([[0.0, 0, 0]] * 2, [(0, 1.0, 0, 0), IDENTITY])
    b0, b1 = (
        gc.Poses.from_quat_wxyz([[4.0, s, 0]], [q]) for s, q in ((-2.0, IDENTITY), (2.0, (0, 0, 0, 1.0)))
    )
    bodies = gc.Bodies(BOX, None, gc.Poses.concatenate([upside, b0]), gc.Poses.concatenate([upside, b1]))
    middle = bodies.poses_at(0.5).position[2]
    assert np.abs(middle - [6, 0, 0]).max() < 1e-15
    for a in (0, 1):
        two = gc.Bodies(BOX, None, bodies.start[[a, 2]], bodies.end[[a, 2]])
        motion, screw = motions(two, 0)
        x = motion.world_of_a(motion.to_a(motion.flow(np.zeros((1, 3)), np.zeros(1))), np.full(1, 0.5))
        assert np.abs(x - middle).max() < 1e-14
        drawn = screw.world_of_a(
            screw.to_a(screw.flow(screw.from_b(np.zeros((1, 3))), np.zeros(1))), np.zeros(1)
        )
        assert _one_screw.is_one_screw(motion, screw) == bool(np.abs(drawn - middle).max() < 1e-9)
