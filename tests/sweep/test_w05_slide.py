"""Stage w05: steps of characters."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.sweep_walk import library_world, room
from tests.oracle.scenes_base import random_quat
from tests.oracle.sweep_casts import cube, floor, inside_out, mesh_of, steps
from tests.sweep._scenes import BOX, still
from tests.sweep.test_w03_planes import world

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

RADII = np.array([0.3, 0.3, 0.6])
SKIN = 1e-3 * RADII.min()
FALL = [0, 0, -0.2]
FIELDS = ("status", "position", "velocity", "fall_velocity", "ground_body", "ground_normal", "casts")


def slide(backend, scene, position, velocity, radii=RADII, **options):
    return gc.sweep.slide(scene, position, radii, velocity, backend=backend.kind, **options)


def wall_at(x, lean=0.0):
    """A large square that faces -x, its foot at x, leaning away by degrees."""
    t = np.tan(np.radians(lean)) * 8
    return mesh_of([[x, -8, 0], [x, 8, 0], [x + t, 8, 8], [x + t, -8, 8]], [(0, 3, 2, 1)])


def ground(z=0.0):
    return mesh_of([[-8, -8, z], [8, -8, z], [8, 8, z], [-8, 8, z]], [(0, 1, 2, 3)])


def test_nothing_in_the_way(backend):
    found = slide(backend, world(ground()), [0, 0, 3], [1, 2, 0.5])
    assert found.position.tolist() == [[1, 2, 3.5]] and found.velocity.tolist() == [[1, 2, 0.5]]
    assert found.status[0] == gc.Status.MISS and not found.grounded[0] and found.casts[0] == 1


def test_it_falls_onto_the_ground_and_rests(backend):
    scene, place, fall = world(ground()), np.array([[0.1, 0.2, 3.0]]), np.zeros(3)
    for _ in range(60):
        fall = fall + [0, 0, -0.01]
        found = slide(backend, scene, place, [0, 0, 0], gravity=fall)
        assert found.position[0, 2] >= 0.6 + SKIN - 1e-12
        fall, still, place = found.fall_velocity[0], (found.position == place).all(), found.position
    assert still and found.grounded[0] and not found.fall_velocity.any()
    assert found.ground_normal.tolist() == [[0, 0, 1]] and found.ground_body[0] == 0
    assert place[0, 2] == pytest.approx(0.6 + SKIN, abs=1e-12)


def test_along_a_wall(backend):
    found = slide(backend, world(wall_at(2.0)), [0, 0, 3], [4, 3, 0])
    assert np.allclose(found.position, [[1.7 - SKIN, 3, 3]], atol=1e-12)
    assert np.allclose(found.velocity, [[0, 3, 0]], atol=1e-12) and found.status[0] == gc.Status.HIT


def test_into_a_crease_and_a_corner(backend):
    room = world(inside_out(cube(8)))
    found = slide(backend, room, [0, 0, 0], [9, 9, 2])
    assert np.allclose(found.position, [[3.7 - SKIN, 3.7 - SKIN, 2]], atol=1e-9)
    assert np.allclose(found.velocity, [[0, 0, 2]], atol=1e-12)
    found = slide(backend, room, [0, 0, 0], [9, 9, 9])
    assert np.allclose(found.position, [[3.7 - SKIN, 3.7 - SKIN, 3.4 - SKIN]], atol=1e-9)
    assert np.allclose(found.velocity, 0, atol=1e-12)


def test_an_acute_crease_ends_it(backend):
    """Between two walls that meet at 12 degrees; neither throws it through the other."""
    h = np.tan(np.radians(6)) * 8
    v = [[0, 0, -9], [0, 0, 9], [-8, h, -9], [-8, h, 9], [-8, -h, -9], [-8, -h, 9]]
    scene = world(mesh_of(v, [(0, 1, 3, 2), (0, 4, 5, 1)], two_sided=True), two_sided=True)
    found = slide(backend, scene, [-7, 0, 0], [9, 0, 0.5], [0.3, 0.3, 0.3])
    away = 0.3 / np.sin(np.radians(6))
    assert -away - 0.05 < found.position[0, 0] <= -away + 1e-9
    assert np.allclose(found.velocity[0, :2], 0, atol=1e-9)


@pytest.mark.parametrize("step", [0.01, 0.1, 0.5])
def test_a_floor_in_triangles_does_not_bump(backend, step):
    """Along it in any direction the height stays the same to the last bit, and nothing is lost of the way."""
    rng = np.random.default_rng(1)
    place = np.column_stack((rng.uniform(-0.5, 0.5, (20, 2)), np.full(20, 0.6 + SKIN)))
    scene, way = world(floor(8, 0.5)), rng.normal(size=(20, 3)) * [1, 1, 0]
    way *= step / np.linalg.norm(way, axis=1)[:, None]
    for _ in range(3):
        found = slide(backend, scene, place, way, gravity=FALL)
        assert np.allclose(found.position, place + way, atol=1e-12) and found.grounded.all()
        assert (found.position[:, 2] == place[:, 2]).all()
        place = found.position


@pytest.mark.parametrize("lean, holds", [(20, True), (44, True), (46, False), (70, False)])
def test_what_is_ground(backend, lean, holds):
    t = np.tan(np.radians(lean)) * 8
    slope = world(mesh_of([[-8, -8, -t], [8, -8, t], [8, 8, t], [-8, 8, -t]], [(0, 1, 2, 3)]))
    place = [0, 0, 0.05 + np.hypot(0.6, 0.3 * np.tan(np.radians(lean)))]
    first = slide(backend, slope, place, [0, 0, 0], gravity=FALL)
    then = slide(backend, slope, first.position, [0, 0, 0], gravity=FALL)
    assert first.grounded[0] == then.grounded[0] == holds
    if holds:
        assert np.allclose(then.position, first.position, atol=1e-12)
    else:
        assert (
            then.position[0, 0] < first.position[0, 0] - 0.01 and then.position[0, 2] < first.position[0, 2]
        )
        # it keeps what gravity gave it along the slope
        assert then.fall_velocity[0, 0] < 0 and np.linalg.norm(then.fall_velocity) < 0.2


def test_nobody_climbs_what_is_no_ground(backend):
    for lean, climbs in ((30, False), (60, True)):  # from upright
        scene = world(wall_at(2.0, lean), ground(0.0))
        place = [1.0, 0, 0.6 + SKIN]
        for _ in range(12):
            found = slide(backend, scene, place, [0.3, 0.05, 0], gravity=FALL)
            place = found.position
        assert (place[0, 2] > 0.8) == climbs
        assert place[0, 1] > 0.3  # along it, it goes on


def test_a_valley_of_two_steep_slopes_holds(backend):
    t = np.tan(np.radians(60)) * 4
    v = [[0, -4, 0], [0, 4, 0], [4, -4, t], [4, 4, t], [-4, -4, t], [-4, 4, t]]
    scene = world(mesh_of(v, [(0, 2, 3, 1), (0, 1, 5, 4)]))
    place = [0.1, 0, 2.0]
    for _ in range(20):
        found = slide(backend, scene, place, [0, 0, 0], gravity=FALL)
        before, place = place, found.position
    assert found.grounded[0] and np.allclose(place, before, atol=1e-9)


def _stairs():
    return world(steps(3, 0.25, 0.6, 4), ground(0.0))


def walk_up(backend, scene, count=40, radii=RADII, **options):
    place, heights = [-1.0, 0.0, radii[2] + SKIN], []
    for _ in range(count):
        found = slide(backend, scene, place, [0.08, 0, 0], radii, gravity=FALL, **options)
        place = found.position
        heights.append(place[0, 2])
    return place[0], np.array(heights)


def test_stairs_by_virtue_of_the_ellipsoid(backend):
    """The edge of a step is touched low on the ellipsoid, where it is hardly steeper than ground."""
    place, heights = walk_up(backend, _stairs(), radii=np.array([1.0, 1.0, 0.9]))
    assert 0.9 + 0.7 < heights.max() < 0.9 + 0.8


def test_stairs_by_step_height(backend):
    low = np.array([0.25, 0.25, 0.3])
    assert walk_up(backend, _stairs(), radii=low)[0][0] < -0.2  # the first step stops it
    assert walk_up(backend, _stairs(), radii=low, step_height=0.2)[0][0] < -0.2
    place, heights = walk_up(backend, _stairs(), radii=low, step_height=0.3)
    assert place[0] > 1.5 and heights.max() > 0.3 + 0.7 and (np.diff(heights) < 0.3).all()


def test_a_step_without_ground_on_top_is_not_climbed(backend):
    """A low fence: behind it there is nothing as high."""
    fence = mesh_of([[1, -4, 0], [1, 4, 0], [1, 4, 0.2], [1, -4, 0.2]], [(0, 3, 2, 1)])
    scene = world(fence, ground(0.0))
    place, heights = walk_up(backend, scene, radii=np.array([0.25, 0.25, 0.3]), step_height=0.1)
    assert place[0] < 0.8 and heights.max() < 0.3 + 0.01


def test_a_lift_takes_it_up_and_down(backend):
    def lift(z, by):
        start, end = np.array([[0.0, 0, z]]), np.array([[0.0, 0, z + by]])
        box = gc.shapes.box((4, 4, 1))
        return gc.Bodies(box, [0], *(gc.Poses.from_quat_wxyz(p, [[1, 0, 0, 0]]) for p in (start, end)))

    place, z = np.array([[0.1, 0.2, 0.5 + 0.6 + SKIN]]), 0.0
    for by in [0.1] * 5 + [-0.1] * 8 + [0.0] * 2:
        found = slide(backend, lift(z, by), place, [0, 0, 0], gravity=FALL)
        z, place = z + by, found.position
        assert found.grounded[0] and found.ground_body[0] == 0
        assert 0.5 + 0.6 + z - 1e-9 <= place[0, 2] <= 0.5 + 0.6 + z + 3 * SKIN
    assert np.allclose(place[0, :2], [0.1, 0.2], atol=1e-12)


def test_it_rides_on_what_it_stands_on(backend):
    box, still = gc.shapes.box((4, 4, 1)), [[1.0, 0, 0, 0]]
    place, x, riding = np.array([[0.1, 0.2, 0.5 + 0.6 + SKIN]]), 0.0, [-1]
    for _ in range(5):
        ends = (gc.Poses.from_quat_wxyz([[p, 0, 0]], still) for p in (x, x + 0.3))
        found = slide(backend, gc.Bodies(box, [0], *ends), place, [0, 0.1, 0], gravity=FALL, riding=riding)
        place, riding, x = found.position, found.ground_body, x + 0.3
    assert np.allclose(
        place[0, :2], [0.1 + 4 * 0.3, 0.2 + 5 * 0.1], atol=1e-9
    )  # the first step it stood still
    assert np.allclose(found.velocity, [[0, 0.1, 0]], atol=1e-12)


def test_a_wall_that_comes_pushes_it(backend):
    scene = world(wall_at(0.5), ground(0.0), to=[[-0.4, 0, 0], [0, 0, 0]])
    found = slide(backend, scene, [0, 0, 0.6 + SKIN], [0, 0.2, 0], gravity=FALL)
    assert found.position[0, 0] <= 0.1 - 0.3 + 1e-9 and found.position[0, 1] == pytest.approx(0.2)


def test_between_walls_that_come_together_it_stays_where_it_was_safe(backend):
    a, b = wall_at(0.5), inside_out(wall_at(-0.5))
    scene = world(a, b, to=[[-0.3, 0, 0], [0.3, 0, 0]])
    found = slide(backend, scene, [0, 0, 3], [0, 0, 0], [0.3, 0.3, 0.3])
    assert found.status[0] == gc.Status.UNRESOLVED
    assert np.isfinite(found.position).all() and abs(found.position[0, 0]) < 0.21


def test_too_few_slides_are_said(backend):
    room = world(inside_out(cube(8)))
    found = slide(backend, room, [0, 0, 0], [9, 8, 7], max_slides=1)
    assert found.status[0] == gc.Status.UNRESOLVED and found.casts[0] == 1
    assert slide(backend, room, [0, 0, 0], [9, 8, 7], max_slides=5).status[0] == gc.Status.HIT


def test_each_step_is_made_of_the_public_ones(backend):
    """Cast, planes, clip: by hand the same place to the last bit."""
    room, here, way = world(inside_out(cube(8))), np.array([[0.1, 0.2, 0.3]]), np.array([[9.0, 5, 2]])
    found = slide(backend, room, here, way)
    for _ in range(5):
        hit = gc.sweep.ellipsoids(here, way, RADII, room, buffer=SKIN, backend=backend.kind)
        here = here + hit.time[:, None] * way
        if not hit.hit[0]:
            break
        near = gc.sweep.planes(room, here, RADII, 2 * SKIN, backend=backend.kind)
        normal = np.concatenate((hit.normal, near.normal))
        left = (1 - hit.time[:, None]) * way
        way = gc.sweep.clip(left, normal, [0, len(normal)], backend=backend.kind).velocity
    assert np.allclose(here, found.position, atol=1e-14)


def _crowd(seed, n, moving):
    rng = np.random.default_rng(seed)
    stairs, block = steps(3, 0.2, 0.5, 1.2), cube(1)
    block.vertices = block.vertices + [3.0, 0.5, 0.2]
    scene = world(
        inside_out(cube(8)), stairs, block, to=rng.normal(size=(3, 3)) * 0.2 * moving if moving else None
    )
    place = rng.uniform(-3, 3, (n, 3))
    place[:, 2] = np.abs(place[:, 2]) * 0.5 + 1.5
    radii = rng.uniform(0.1, 0.5, (n, 3))
    way = rng.normal(size=(n, 3)) * rng.choice([0.1, 1, 5], n)[:, None]
    return scene, place, radii, way, random_quat(rng, n)


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("moving", [False, True])
def test_the_same_bits_as_cpu(backend, precision, moving):
    scene, place, radii, way, quat = _crowd(4, 60, moving)
    one, two = (
        gc.sweep.slide(
            scene, place, radii, way, gravity=[0, 0, -2.5], orientation=quat, step_height=0.3,
            precision=precision, backend=b,
        )
        for b in ("cpu", backend.kind)
    )  # fmt: skip
    for name in FIELDS:
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert (one.status == gc.Status.HIT).sum() > 15 and one.grounded.any()


@pytest.mark.backends("cpu")  # the others have its bits
@pytest.mark.parametrize("moving", [False, True])
def test_against_the_reference(backend, moving):
    scene, place, radii, way, quat = _crowd(5 + moving, 8, moving)
    one, two = (
        gc.sweep.slide(scene, place, radii, way, gravity=[0, 0, -2.5], orientation=quat, step_height=0.3,
                       precision="double", backend=b)
        for b in ("cpu", "reference")
    )  # fmt: skip
    for name in ("position", "velocity", "fall_velocity", "ground_normal"):
        assert np.abs(getattr(one, name) - getattr(two, name)).max() < 1e-9, name  # measured: 4e-14
    for name in ("status", "ground_body", "casts"):
        assert (getattr(one, name) == getattr(two, name)).all()


def test_rows_that_are_no_numbers(backend):
    place, way = [[0, 0, 3], [np.nan, 0, 1], [1, 0, 3], [1, 1, 3]], np.zeros((4, 3))
    way[2] = np.inf
    fall = np.tile(FALL, (4, 1))
    fall[3] = np.nan
    found = slide(backend, world(ground()), place, way, gravity=fall)
    assert found.status.tolist() == [0, 3, 3, 3]
    for name in ("position", "velocity", "fall_velocity", "ground_normal"):
        assert np.isfinite(getattr(found, name)).all()
    assert found.position[2:].tolist() == [[1, 0, 3], [1, 1, 3]] and not found.grounded[1:].any()
    assert len(slide(backend, world(ground()), np.zeros((0, 3)), np.zeros((0, 3)))) == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"max_slides": 0}, "max_slides: expected 1 to 64, got 0"),
        ({"max_slides": 2.5}, "max_slides: expected a whole number, got float"),
        ({"max_slope": 100}, "max_slope: expected degrees from 0 to 90, got 100"),
        ({"step_height": -1}, "step_height: expected a finite number, zero or more, got -1"),
        ({"skin": 0}, "skin"),
        ({"gravity": [1, 2]}, "gravity: expected shape"),
        ({"up": [0, 0, 0]}, "up: expected a direction"),
        ({"riding": [4]}, "riding: expected bodies 0 to 0, or -1"),
        ({"obstacles": 3}, "obstacles: expected gpu_collide.Scene or gpu_collide.Bodies, got int"),
    ],
)
def test_bad_arguments(change, message):
    args = {
        "obstacles": world(ground()),
        "position": [[0, 0, 3]],
        "radii": RADII,
        "velocity": [0, 0, 0],
    } | change
    with pytest.raises((TypeError, ValueError), match=message):
        gc.sweep.slide(**args, backend="cpu")


def test_bodies_that_turn_are_refused():
    turned = gc.Poses.from_quat_wxyz([[0, 0, 0]], [[0.8, 0, 0, 0.6]])
    scene = gc.Bodies(gc.shapes.box(), None, gc.Poses.identity(1), turned)
    with pytest.raises(ValueError, match="expected bodies that move without turning, got 1 that turn"):
        gc.sweep.slide(scene, [0, 0, 3], RADII, [0, 0, 0], backend="cpu")


def test_no_character_shows_in_another(backend):
    """The skin of each is a share of its own radius, whoever else is asked about."""
    scene = still(BOX, [0, 0, 0])
    place, radii = [[0, 0, 2.0], [3, 0, 2.0]], [[0.5] * 3, [0.01] * 3]
    way = [[0, 0, -3.0], [0, 0, 0.1]]
    both = gc.sweep.slide(scene, place, radii, way, backend=backend.kind)
    one = gc.sweep.slide(scene, place[:1], radii[:1], way[:1], backend=backend.kind)
    assert both.position[0].tobytes() == one.position[0].tobytes()
    assert abs(both.position[0, 2] - (1.0 + 5e-4)) < 1e-6


@pytest.mark.parametrize(
    "velocity", [(0.283494412, -0.068620249), (0.255611222, -0.061871081), (0.038486699, -0.009315763)]
)
def test_what_clipping_leaves_towards_a_wall_is_not_met_again(backend, velocity):
    """In single precision a wall's normal is not quite of length 1: what it left of the way led into the wall
    by seven roundings, nothing for the next clip and a touch for the next cast, until all slides were used
    up."""
    wall = mesh_of([[6, -2, -2], [6, -2, 2], [6, 2, 2], [6, 2, -2]], [(0, 1, 2, 3)])
    found = gc.sweep.slide(
        world(wall), [5.817240715, 0.606491327, -1.704513311], [0.182759314, 0.11748343, 0.295369211],
        [*velocity, 0.0], up=[0, 0, 1], precision="single", backend=backend.kind,
    )  # fmt: skip
    assert found.status[0] == gc.Status.HIT
    assert found.position[0, 1] == pytest.approx(0.606491327 + velocity[1], abs=1e-6)


def test_wedged_between_two_that_stand_still(backend):
    """A block and the edge of a ramp, as far apart as the character is wide with its skin: the planes are a
    thirtieth of a degree from facing each other, which single precision cannot tell. It stays."""
    scene = library_world(*room())
    place = [0.962933064, 3.349945247, -1.653673053]
    for velocity in ([0.089844283, -0.175770949, 0], [0.740895459, -2.808167868, 0]):
        found = gc.sweep.slide(
            scene, place, [0.153038532, 0.149904835, 0.346177016], velocity, gravity=[0, 0, -0.08],
            up=[0, 0, 1], precision="single", backend=backend.kind,
        )  # fmt: skip
        assert found.status[0] == gc.Status.HIT and found.grounded[0]
        assert np.abs(found.position[0] - place).max() < 1e-6
        assert np.abs(found.velocity).max() < 1e-6
