"""A body that turns about its own centre line while it moves along it: a drill, a bullet, a rolling car.

What is left of the chord across the axis is rounding. It was normalised to the tangent of the screw
frame, and for many axes of whole numbers pointed along the axis: 78 to 96 of 342 pairs of cubes that fly
through each other were a MISS, or had normals of length 1.24 to 1.41. Random scenes never drew one.
Kernels and reference shared it.
"""

import itertools

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.narrow_phase import s01_screw as reference
from tests.narrow_phase._launch import Stages
from tests.narrow_phase.test_s01_screw import Record
from tests.oracle.solid import quat_mul

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

AXES = np.array([a for a in itertools.product(range(-3, 4), repeat=3) if any(a)], float)
ANGLES = (0.3, np.pi / 2, 3.0)
ONE = np.array([1.0, 0, 0, 0])


def about(axes, angle):
    """Quaternions (n, 4) of a turn by `angle` about each of the axes (n, 3)."""
    axes = axes / np.linalg.norm(axes, axis=1)[:, None]
    return np.concatenate([np.full((len(axes), 1), np.cos(angle / 2)), np.sin(angle / 2) * axes], axis=1)


def side_by_side(still, moving, shape=None):
    """Bodies 0..n-1 and n..2n-1 with poses ((start, quat), (end, quat)), each for n bodies."""
    poses = [
        gc.Poses.from_quat_wxyz(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]))
        for a, b in zip(still, moving, strict=True)
    ]
    return gc.Bodies(shape or gc.shapes.box(), None, *poses)


def pairs_of(n):
    return np.stack([np.arange(n), n + np.arange(n)], axis=1)


def drills(angle, orientation=ONE, offset=(0.0, 0.0, 0.0)):
    """B from -3 a to 3 a turning about a, past a cube at rest, for all axes a of small whole numbers."""
    n = len(AXES)
    rest = np.tile(np.asarray(offset), (n, 1)), np.tile(ONE, (n, 1))
    after = quat_mul(about(AXES, angle), np.tile(orientation, (n, 1)))
    start = rest[0] - 3 * AXES, np.tile(orientation, (n, 1))
    return side_by_side((rest, rest), (start, (rest[0] + 3 * AXES, after)))


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("orientation", [ONE, np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.8, 0, 0.6, 0])])
def test_cubes_that_drill_through_each_other_touch(angle, orientation, backend):
    found = gc.collide(drills(angle, orientation), pairs_of(len(AXES)), backend=backend.kind).to_numpy()
    assert (found.status == gc.Status.HIT).all()
    # worst error of a normal's length: 4e-16
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1).max() < 1e-14
    # B's nearest point is at most its radius ahead of its centre, A's at most its own: they touch before the
    # centres meet, and not before the bounding spheres do (corner on corner: with them)
    reach = np.sqrt(0.75) / (3 * np.linalg.norm(AXES, axis=1))
    assert (found.toi < 0.5).all() and (found.toi > 0.5 - reach - 1e-13).all()


@pytest.mark.parametrize("offset", [(0, 0, 0), (1e3, -7e4, 5.0)])
@pytest.mark.parametrize("angle", ANGLES + (1e-9, 1e-15, np.pi))
def test_frames_of_drills_are_orthonormal(angle, offset, backend):
    rows, state = Stages(backend, drills(angle, offset=offset), pairs_of(len(AXES)), "mixed").s01()
    k = Record(rows)
    assert (state == 0).all() and np.isfinite(rows[:, :35]).all()
    for frame in (k.ra, k.rb):
        # worst: 4.5e-16
        assert np.abs(frame @ np.swapaxes(frame, 1, 2) - np.eye(3)).max() < 4e-15
        assert np.abs(np.linalg.det(frame) - 1).max() < 4e-15


def test_a_drill_of_its_own_carries_contacts_through_the_world(backend):
    """Times were right, but positions and normals went through A's own screw, whose frame was degenerate."""
    n, rng = len(AXES), np.random.default_rng(5)
    unit = AXES / np.linalg.norm(AXES, axis=1)[:, None]
    across = np.cross(unit, rng.normal(size=(n, 3)))
    meets = 2 * unit + 0.4 * across
    for angle in ANGLES + (np.pi,):
        still = np.zeros((n, 3)), np.tile(ONE, (n, 1))
        on = 4 * unit, about(AXES, angle)
        bodies = side_by_side((still, on), ((meets, still[1]), (meets + 0.3 * across, still[1])))
        found = gc.collide(bodies, pairs_of(n), backend=backend.kind).to_numpy()
        assert (np.diff(found.contact_start) > 0).mean() > 0.9
        axis, t = unit[found.pair], found.time
        if angle == np.pi:  # either way round is a half-turn: the one whose axis leads with a positive number
            lead = np.take_along_axis(axis, (axis != 0).argmax(axis=1)[:, None], axis=1)
            turn = np.pi * t[:, None] * np.sign(lead)
        else:
            turn = angle * t[:, None]
        x = found.local_a
        along = axis * np.sum(axis * x, axis=1)[:, None]
        want = along + np.cos(turn) * (x - along) + np.sin(turn) * np.cross(axis, x) + 4 * t[:, None] * axis
        # worst: 1.8e-15
        assert np.abs(found.position - want).max() < 1e-13
        assert np.abs(np.linalg.norm(found.normal, axis=1) - 1).max() < 1e-14


def test_a_drill_and_its_mirror_agree(backend):
    """(A, B) and (B, A): the same times, with features and normals exchanged."""
    bodies, pairs = drills(1.1), pairs_of(len(AXES))
    there = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    back = gc.collide(bodies, pairs[:, ::-1], backend=backend.kind).to_numpy()
    assert np.array_equal(there.status, back.status)
    # worst difference of a first time: 3e-16
    assert np.abs(there.toi - back.toi).max() < 1e-13


@pytest.mark.parametrize("angle", ANGLES)
def test_the_reference_sees_drills_as_well(angle):
    """It failed on other axes than the kernels."""
    some = np.random.default_rng(int(10 * angle)).permutation(len(AXES))[:24]
    bodies, pairs = drills(angle), pairs_of(len(AXES))[some]
    found = gc.collide(bodies, pairs, backend="reference")
    assert (found.status == gc.Status.HIT).all()
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1).max() < 1e-14
    quick = gc.collide(bodies, pairs, backend="cpu")
    # worst difference of a first time: 6e-16
    assert np.abs(found.toi - quick.toi).max() < 1e-13


def test_frames_of_the_reference_are_orthonormal():
    bodies = drills(0.7, offset=(1e3, -7e4, 5.0))
    mesh = bodies.meshes[0]
    for a, b in pairs_of(len(AXES)):
        poses = [(p.position[i], p.unit_wxyz[i]) for i in (a, b) for p in (bodies.start, bodies.end)]
        axes = reference.screw_of_pair(mesh, mesh, *poses).axes
        assert np.abs(axes @ axes.T - np.eye(3)).max() < 4e-15  # worst: 7e-16
