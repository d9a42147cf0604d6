"""Characters in scenes and in empty worlds, of strange sizes, that start inside; and on edges of steps."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.sweep_casts import inside_out, steps
from tests.sweep._scenes import BOX, still
from tests.sweep.test_w03_planes import world

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

FIELDS = ("status", "position", "velocity", "fall_velocity", "ground_body", "ground_normal", "casts")
RADII = [0.3, 0.3, 0.6]
FALL = [0, 0, -0.2]


def ends(to=0.0):
    return gc.Poses.from_quat_wxyz([[0, 0, to], [3, 0, 0]], [[1.0, 0, 0, 0]] * 2)


def test_a_scene_has_the_same_bits_as_its_bodies(backend):
    rng = np.random.default_rng(1)
    place = np.column_stack((rng.uniform(-1, 4, (50, 2)) * [1, 0.3], rng.uniform(1.3, 2, 50)))
    way = rng.normal(size=(50, 3)) * 0.3
    box = gc.shapes.box((2, 2, 1))
    with gc.Scene(box, [0, 0], ends(), backend=backend.kind) as scene:
        for to in (0.3, 0.1):
            before = gc.Bodies(box, [0, 0], scene.bodies.end, ends(to))
            scene.step(ends(to))
            one = gc.sweep.slide(scene, place, RADII, way, gravity=FALL, step_height=0.2)
            two = gc.sweep.slide(
                before, place, RADII, way, gravity=FALL, step_height=0.2, backend=backend.kind
            )
            for name in FIELDS:
                assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
            near = [gc.sweep.planes(scene, place, RADII, 0.1, at=1.0), None]
            near[1] = gc.sweep.planes(before, place, RADII, 0.1, at=1.0, backend=backend.kind)
            assert near[0].gap.tobytes() == near[1].gap.tobytes() and len(near[0]) > 2
            place = one.position
        assert one.grounded.sum() > 5 and (one.ground_body >= 0).any()


def test_all_worlds_of_a_scene_are_met(backend):
    """World numbers are rules for pairs of its bodies; a character is none of them."""
    with gc.Scene(BOX, [0, 0], ends(), world=[0, 1], backend=backend.kind) as scene:
        found = gc.sweep.slide(scene, [[0, 0, 3.0], [3, 0, 3.0]], RADII, [0, 0, 0], gravity=[0, 0, -3.0])
    assert found.ground_body.tolist() == [0, 1]


def test_an_empty_world_holds_nobody(backend):
    none = gc.Poses.from_quat_wxyz(np.zeros((0, 3)), np.zeros((0, 4)))
    nothing = gc.Bodies(BOX, np.zeros(0, int), none, none)
    found = gc.sweep.slide(
        nothing, [[0, 0, 1.0]], RADII, [1, 0, 0], gravity=FALL, step_height=1.0, riding=[-1],
        turning="chord", backend=backend.kind,
    )  # fmt: skip
    assert found.position.tolist() == [[1, 0, 0.8]] and found.status[0] == gc.Status.MISS
    assert not found.grounded[0] and found.fall_velocity.tolist() == [FALL]
    assert len(gc.sweep.planes(nothing, [0, 0, 0], RADII, 1.0, backend=backend.kind)) == 0
    with pytest.raises(ValueError, match="riding: expected bodies"):
        gc.sweep.slide(nothing, [0, 0, 1.0], RADII, [1, 0, 0], riding=[0], backend=backend.kind)


def test_who_has_no_size_is_refused():
    for radii in ([0.3, 0.0, 0.3], [0, 0, 0], [-1, 1, 1]):
        with pytest.raises(ValueError, match="radii: expected lengths"):
            gc.sweep.slide(still(BOX, [0, 0, 0]), [0, 0, 3], radii, [0, 0, 0], backend="cpu")


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3, 1e6])
def test_sizes_far_from_that_of_the_mesh(backend, size):
    """It falls onto a box of 2, walks on it, and does not move at rest."""
    scene, radii = still(BOX, [0, 0, 0]), np.array([1.0, 1.0, 2.0]) * size
    top = BOX.vertices[:, 2].max()
    place, fall = np.array([[0.1, 0.2, top + 2.5 * size]]), np.zeros(3)
    for k in range(60):
        fall = fall + [0, 0, -0.05 * size]
        way = [[1e-3 * min(size, 1.0) * (k < 30), 0, 0]]
        found = gc.sweep.slide(
            scene, place, radii, way, gravity=fall, step_height=0.1 * size, backend=backend.kind
        )
        assert np.isfinite(found.position).all() and found.status[0] != gc.Status.UNRESOLVED
        rests = (found.position == place).all()
        place, fall = found.position, found.fall_velocity[0]
    assert rests and found.grounded[0]
    # rounding of coordinates of 1e6, or of 1 beside radii of 1e-6
    assert 0 < place[0, 2] - top - 2 * size <= 2.1e-3 * size
    assert place[0, 0] == pytest.approx(0.1 + 30 * 1e-3 * min(size, 1.0), rel=1e-6)


def test_who_starts_inside_may_leave_and_goes_no_deeper(backend):
    scene = still(BOX, [0, 0, 0])
    half = BOX.vertices[:, 2].max()
    place = [[0.1, 0.2, half + 0.5], [0.1, 0.2, half + 0.5], [0.1, 0.2, half + 0.5], [0.1, 0.2, 0.0]]
    way = [[0, 0, 0.5], [0.2, 0.1, 0], [0.2, 0, -0.3], [0.01, 0, 0]]
    found = gc.sweep.slide(scene, place, RADII, way, backend=backend.kind)
    assert found.position[0].tolist() == [0.1, 0.2, half + 1.0]
    # along what it is sunk into, none of its seams holds it
    assert found.position[1].tolist() == [0.1 + 0.2, 0.2 + 0.1, half + 0.5]
    assert found.position[2, 2] >= half + 0.5 - 1e-12 and found.position[2, 0] == pytest.approx(0.3)
    assert np.isfinite(found.position).all()
    room = still(gc.Mesh(BOX.vertices, [f[::-1] for f in _loops(BOX)]), [0, 0, 0])
    large = gc.sweep.slide(room, [0, 0, 0], [3, 3, 3], [0.1, 0, 0], gravity=FALL, backend=backend.kind)
    assert np.isfinite(large.position).all() and np.abs(large.position).max() <= 0.3


def _loops(mesh):
    return np.split(mesh.face_vertices, mesh.face_start[1:-1])


def test_who_climbs_a_step_stands_on_its_edge(backend):
    """As in games: whoever stands on a step's edge while stepping up counts as grounded, not as falling."""
    scene = world(inside_out_room(), steps(3, 0.2, 0.5, 1.2))
    place, fall, high, on = np.array([[-1.0, 0, 0.62]]), np.zeros(3), [], []
    for _ in range(115):
        fall = fall + [0, 0, -0.02]
        found = gc.sweep.slide(
            scene, place, RADII, [0.02, 0, 0], gravity=fall, step_height=0.3, backend=backend.kind
        )
        place, fall = found.position, found.fall_velocity[0]
        high.append(place[0, 2] - 0.6)
        on.append(bool(found.grounded[0]))
    high = np.array(high)
    assert all(on[5:]) and 0.6 < high.max() < 0.61
    climbing = (high > 0.01) & (high < 0.19)
    assert climbing.sum() > 2
    assert (np.diff(high[5:100]) > -1e-9).all()


@pytest.mark.parametrize("lean", [50, 60, 75])
def test_what_is_steep_and_rises_pushes_aside(backend, lean):
    """A slope that is no ground comes up under who hangs on it: its plane was taken level and its way was
    not, so that it came into the character, which stayed where it was."""
    slope = gc.shapes.box((20, 20, 1))
    half = np.radians(lean) / 2
    quat = [[np.cos(half), 0, np.sin(half), 0]]
    out = np.array([np.sin(2 * half), 0, np.cos(2 * half)])
    place, rise, fall = np.array([(0.5 + 0.31) * out]), 0.0, np.zeros(3)
    for _ in range(12):
        start, end = (gc.Poses.from_quat_wxyz([[0, 0, z]], quat) for z in (rise, rise + 0.1))
        fall = fall + [0, 0, -0.02]
        found = gc.sweep.slide(
            gc.Bodies(slope, None, start, end), place, [0.3] * 3, [0, 0.01, 0], gravity=fall,
            backend=backend.kind,
        )  # fmt: skip
        place, fall, rise = found.position, found.fall_velocity[0], rise + 0.1
        assert found.status[0] != gc.Status.UNRESOLVED and not found.grounded[0]
        assert (place[0] - [0, 0, rise]) @ out - 0.5 >= 0.3 - 1e-9  # a radius from the slope
    assert place[0, 0] > 0.7 and place[0, 1] == pytest.approx(0.12)
    one = gc.sweep.slide(gc.Bodies(slope, None, start, end), place - [0, 0, 0.1], [0.3] * 3, [0, 0.01, 0],
                         gravity=[0, 0, -0.1], backend=backend.kind)  # fmt: skip
    two = gc.sweep.slide(gc.Bodies(slope, None, start, end), place - [0, 0, 0.1], [0.3] * 3, [0, 0.01, 0],
                         gravity=[0, 0, -0.1], backend="reference")  # fmt: skip
    assert np.abs(one.position - two.position).max() < 1e-9


def inside_out_room():
    from tests.oracle.sweep_casts import cube

    room = inside_out(cube(8))
    room.vertices = room.vertices + [0, 0, 4.0]
    return room
