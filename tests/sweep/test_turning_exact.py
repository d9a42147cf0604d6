"""Casts among bodies that turn, ``turning="exact"``: by hand, against the reference, and against a judge."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results.hits import Feature
from tests.oracle.turning_casts import first_touch, gap_at
from tests.sweep._scenes import BOX, FIELDS, moving, quaternions, same_bits, still, sweeps

EXACT = {"turning": "exact"}
HERE = gc.Poses.identity(1)
TETRA = gc.Mesh(
    [[0, 0, 0], [1.2, 0, 0], [0, 1, 0], [0, 0, 0.8]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
)
BAR = gc.shapes.box((4, 1, 1))


def spun(mesh, turn, way=(0, 0, 0), center=None, poses=HERE):
    """Bodies that spin, one for each pose."""
    return gc.Bodies.from_velocities(mesh, None, poses, way, turn, center=center)


def about(axis, angle):
    return [[np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis, float))]]


def crowd(seed, angle, spins, n):
    """Boxes and tetrahedra that move and turn, and paths among them."""
    rng = np.random.default_rng(seed)
    start = gc.Poses.from_quat_wxyz(0.7 * rng.normal(size=(2, 3)), quaternions(rng, 2))
    axis = rng.normal(size=(2, 3))
    turn = angle * axis / np.linalg.norm(axis, axis=1)[:, None]
    way, shape = rng.normal(size=(2, 3)) * [[1], [seed % 2]], rng.integers(0, 2, 2)
    center = rng.normal(size=3) * 0.3
    bodies = gc.Bodies.from_velocities([BOX, TETRA], shape, start, way, turn, center=center)
    if not spins:
        bodies = gc.Bodies([BOX, TETRA], shape, bodies.start, bodies.end)
    begin = rng.normal(size=(n, 3)) * 2
    return bodies, begin, -begin * rng.uniform(0.5, 2, (n, 1)) + rng.normal(size=(n, 3)) * 0.5, rng


# -- by hand ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("turn", [0.3, np.pi, 7.0, 900.0])
def test_along_the_axis_a_turn_changes_nothing(backend, turn):
    """The cast goes along the axis of the spin; face, time and place are those of a body at rest."""
    found = gc.sweep.spheres(
        [0, 0, 3], [0, 0, -4], 0.5, spun(BOX, [0, 0, turn]), backend=backend.kind, **EXACT
    )
    assert (
        abs(found.time[0] - 0.5) < 1e-15 and found.feature[0] == Feature.FACE and found.info["turning"] == 0
    )
    assert np.abs(found.point - [0, 0, 0.5]).max() < 1e-15 and np.abs(found.normal - [0, 0, 1]).max() < 1e-15
    ray = gc.sweep.rays([0.125, 0, 3], [0, 0, -4], spun(BOX, [0, 0, turn]), backend=backend.kind, **EXACT)
    assert abs(ray.time[0] - 0.625) < 1e-15 and np.abs(ray.point - [0.125, 0, 0.5]).max() < 1e-15


def test_a_bar_sweeps_a_sphere_that_stands(backend):
    """The bar's front is a height 1/2 over a line through the axis; a sphere at distance d is touched when
    d sin(angle - turn) = 1/2 + radius."""
    place, radius = np.array([1.5, 1.5, 0.0]), 0.25
    found = gc.sweep.spheres(place, [0, 0, 0], radius, spun(BAR, [0, 0, 2.0]), backend=backend.kind, **EXACT)
    angle = np.pi / 4 - np.arcsin(0.75 / np.hypot(1.5, 1.5))
    assert abs(found.time[0] - angle / 2) < 2e-16
    out = np.array([-np.sin(angle), np.cos(angle), 0])
    assert np.abs(found.normal[0] - out).max() < 1e-15
    assert np.abs(found.point[0] - (place - radius * out)).max() < 1e-15
    # from pose to pose the same, and a buffer is kept from the plane of contact
    turned = moving(BAR, [0, 0, 0], [0, 0, 0], turned=about([0, 0, 1], 2.0))
    again = gc.sweep.spheres(place, [0, 0, 0], radius, turned, backend=backend.kind, buffer=0.1, **EXACT)
    earlier = np.pi / 4 - np.arcsin(0.85 / np.hypot(1.5, 1.5))
    assert abs(again.time[0] - earlier / 2) < 2e-16 and np.abs(again.point - found.point).max() < 1e-15


def test_all_touches_of_a_spin(backend):
    """The bar spins ten times past a small sphere; each of its two ends meets it each time, at both sides."""
    place = [1.9, 0, 0]
    found = gc.sweep.rays([0, 1.9, 0], [0, 0, 0], spun(BAR, [0, 0, 20 * np.pi]), hits="all",
                          backend=backend.kind, **EXACT)  # fmt: skip
    angle = np.arcsin(0.5 / 1.9)  # of the face over the middle line
    times = (np.pi / 2 - angle + np.pi * np.arange(20)) / (20 * np.pi)
    assert len(found.time) == 20 and np.abs(found.time - times).max() < 1e-15
    assert np.linalg.norm(found.point - [0, 1.9, 0], axis=1).max() < 1e-13
    assert gc.sweep.rays(place, [0, 0, 0], spun(BAR, [0, 0, 0.1]), backend=backend.kind, **EXACT).hit[0] == 0


def test_what_lies_on_a_plane_that_tilts_towards_it(backend):
    """The distance begins to fall with the square, or the cube, of the time; a step long it is within the
    radius and never falls to it."""
    for mesh in (gc.shapes.box((8, 8, 1)), gc.shapes.box((8, 8, 2))):
        top = mesh.vertices[:, 2].max()
        world = spun(mesh, [0.5, 0, 0], center=[0, 0, top])
        found = gc.sweep.spheres([0, 0, top + 0.5], [0, 0, 0], 0.5, world, backend=backend.kind, **EXACT)
        assert found.time[0] < 1e-11 and found.feature[0] == Feature.FACE
        # the other way round it is left at once, and nothing is touched
        away = gc.sweep.spheres([0, 0, top + 0.5], [0, 0, 0.2], 0.5, world, backend=backend.kind, **EXACT)
        assert not away.hit[0]
    # who has sunk in, is left, and is come to again without having been left altogether
    door = spun(BAR, [0, 0, -3.0])
    found = gc.sweep.spheres([1, 0.9, 0], [0, -0.9, 0], 0.5, door, backend=backend.kind, **EXACT)
    assert found.hit[0] and found.time[0] > 0


@pytest.mark.parametrize("cells", [1, 4])
def test_a_ball_rolls_over_a_turntable(backend, cells):
    """Over all seams of its top, lying on it and sunk in by rounding, and off its rim, nothing stops it."""
    steps = np.linspace(-2, 2, cells + 1)
    x, y = (v.ravel() for v in np.meshgrid(steps, steps, indexing="ij"))
    i, j = (v.ravel() for v in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    a = i * (cells + 1) + j
    faces = np.concatenate([np.c_[a, a + cells + 1, a + cells + 2], np.c_[a, a + cells + 2, a + 1]])
    table = gc.Mesh(np.c_[x, y, 0 * x], faces)
    start, path = [[-1.5, 0.3, 0.25], [-1.5, 0.3, 0.25 - 1e-15], [-1.5, 0.3, 0.2]], [4.0, 0.1, 0]
    for turn in (1.0, 5.0):
        found = gc.sweep.spheres(start, path, 0.25, spun(table, [0, 0, turn]), hits="all",
                                 backend=backend.kind, **EXACT)  # fmt: skip
        assert len(found.time) == 0
    wall = spun(gc.shapes.box((0.2, 2, 2)), [0, 0, 1.0])
    both = gc.Bodies.concatenate([spun(table, [0, 0, 1.0]), wall])
    alone, met = (gc.sweep.spheres(start, path, 0.25, w, backend=backend.kind, **EXACT) for w in (wall, both))
    assert alone.hit.all() and (met.time == alone.time).all() and (met.body == 1).all()


def test_grazing_the_circle_of_a_corner(backend):
    """A corner at the distance sqrt(5)/2 of the axis; rays pass the circle that it describes."""
    circle = np.hypot(2, 0.5)
    for off, hit in ((1e-9, False), (-1e-6, True)):
        found = gc.sweep.rays([-9, circle + off, 0], [18, 0, 0], spun(BAR, [0, 0, 900.0]),
                              backend=backend.kind, **EXACT)  # fmt: skip
        # of a cap so thin the corner may come by beside it
        assert hit or not found.hit[0]
    touched = gc.sweep.spheres([0, circle + 0.5 - 1e-9, 0], [0, 0, 0], 0.5, spun(BAR, [0, 0, 900.0]),
                               backend=backend.kind, **EXACT)  # fmt: skip
    assert touched.hit[0] and touched.feature[0] == Feature.EDGE


def test_half_turns_take_one_way_round(backend):
    """Of a half turn the screw whose axis is positive in the body's own axes is taken."""
    for axis in ([0, 0, 1], [0, 0, -1]):
        world = moving(BAR, [0, 0, 0], [0, 0, 0], turned=about(axis, np.pi))
        found = gc.sweep.spheres([1.5, 1.5, 0], [0, 0, 0], 0.25, world, backend=backend.kind, **EXACT)
        angle = np.pi / 4 - np.arcsin(0.75 / np.hypot(1.5, 1.5))
        assert abs(found.time[0] - angle / np.pi) < 1e-15


# -- what else is the same -------------------------------------------------------------------------------
def test_without_turns_the_bits_are_those_of_straight_paths(backend):
    for query, args, options in sweeps(3, 80):
        if query is gc.sweep.ellipsoids:
            continue
        for hits in ("first", "any", "all"):
            plain = query(*args, hits=hits, backend=backend.kind, **options)
            assert same_bits(plain, query(*args, hits=hits, backend=backend.kind, **options, **EXACT))
            # and beside a body that turns, somewhere else
            *rest, bodies = args
            far = spun(BOX, [0, 0, 1.0], poses=gc.Poses.from_quat_wxyz([[50, 0, 0]], [[1, 0, 0, 0]]))
            more = query(*rest, gc.Bodies.concatenate([bodies, far]), hits=hits, backend=backend.kind,
                         **options, **EXACT)  # fmt: skip
            assert same_bits(plain, more)


def test_scenes_answer_as_bodies_do(backend):
    poses, (start, path) = (
        gc.Poses.from_quat_wxyz([[0, 0, 0], [2, 0, 0]], about([0, 0, 1], 0.3) * 2),
        crowd(1, 1, 1, 50)[1:3],
    )
    moves = [[0.2, 0, 0], [-0.5, 0, 0]], [[0, 0, 2.0], [1.0, 1.0, 0]]
    bodies = gc.Bodies.from_velocities(BAR, None, poses, *moves)
    found = gc.sweep.spheres(start, path, 0.2, bodies, backend=backend.kind, **EXACT)
    with gc.Scene(BAR, None, poses, backend=backend.kind, motion="body") as scene:
        scene.update_velocities(poses, *moves)
        assert found.hit.any() and same_bits(found, gc.sweep.spheres(start, path, 0.2, scene, **EXACT))
    with gc.Scene(bodies.meshes, bodies.shape, bodies.start, backend=backend.kind) as scene:
        scene.update(bodies.start, bodies.end)
        chord = gc.sweep.spheres(start, path, 0.2, scene, turning="chord")
        exact = gc.sweep.spheres(start, path, 0.2, scene, **EXACT)
        assert same_bits(chord, gc.sweep.spheres(start, path, 0.2, scene, turning="chord"))
        assert not same_bits(chord, exact)


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.backends("opencl", "cuda")
def test_all_backends_have_the_same_bits(backend, precision):
    for seed, angle in ((0, 1.0), (1, 12.0)):
        bodies, start, path, rng = crowd(seed, angle, True, 60)
        cluster = gc.sweep.Cluster(rng.normal(size=(3, 3)), rng.uniform(0.1, 0.4, 3))
        for hits in ("first", "any", "all"):
            for two_sided in (False, True):
                options = {"hits": hits, "two_sided": two_sided, "precision": precision, **EXACT}
                for query, args in (
                    (gc.sweep.rays, (start, path, bodies)),
                    (gc.sweep.spheres, (start, path, 0.3, bodies)),
                    (gc.sweep.clusters, (cluster, start, path, bodies)),
                ):
                    one, other = (query(*args, backend=name, **options) for name in (backend.kind, "cpu"))
                    for name in FIELDS:
                        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), (query, name)


def test_chords_come_to_it_as_steps_become_short(backend):
    """Halving the turn and the way divides what a chord is off by by four."""
    off = []
    for share in (1.0, 0.5, 0.25):
        start, path = np.array([1.5, 0.8 + 0.4 * share, 0]), np.array([0.3, -0.5, 0.1]) * share
        turned = moving(BAR, [0, 0, 0], [0.1 * share, 0, 0], turned=about([0, 0, 1], 0.4 * share))
        exact, chord = (gc.sweep.spheres(start, path, 0.3, turned, turning=how, backend=backend.kind)
                        for how in ("exact", "chord"))  # fmt: skip
        assert exact.hit[0] and chord.hit[0]
        off.append(abs(gap_at(turned, start, path, 0.3, chord.time[0])[0]))
        assert off[-1] <= chord.info["turning"]
        assert abs(gap_at(turned, start, path, 0.3, exact.time[0])[0]) < 1e-14
    assert 3 < off[0] / off[1] < 5 and 3 < off[1] / off[2] < 5


# -- reference and judge ---------------------------------------------------------------------------------
@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
@pytest.mark.parametrize("seed, angle, spins", [(0, 1.0, True), (1, 3.0, False), (2, 9.0, True)])
def test_against_the_reference(backend, seed, angle, spins):
    """Worst seen, of 600 queries, turns of up to 9 rad: times 2.1e-13, points 2.4e-13, normals 2.4e-12."""
    bodies, start, path, rng = crowd(seed, angle, spins, 10)
    for query, args in ((gc.sweep.rays, ()), (gc.sweep.spheres, (rng.uniform(0, 0.6, 10),))):
        for hits in ("first", "all"):
            options = {"hits": hits, "two_sided": bool(seed % 2), "buffer": 0.01 * (seed % 2), **EXACT}
            found, truth = (query(start, path, *args, bodies, backend=name, **options)
                            for name in (backend.kind, "reference"))  # fmt: skip
            for name in ("status", "offsets", "feature", "body", "face", "number", "sphere"):
                assert np.array_equal(getattr(found, name), getattr(truth, name)), (query, name)
            for name, most in (("time", 1e-11), ("point", 1e-11), ("normal", 1e-10)):
                assert np.abs(getattr(found, name) - getattr(truth, name)).max(initial=0) < most, (
                    query,
                    name,
                )


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("seed, angle, spins", [(4, 1.0, True), (5, 3.0, False), (6, 12.0, True)])
def test_first_touches_are_where_the_judge_finds_them(backend, seed, angle, spins):
    """Worst seen, of 591 spheres, of which 172 touch: the gap at the time that is told 3.9e-15, times 1e-15
    apart."""
    bodies, start, path, rng = crowd(seed, angle, spins, 25)
    radius = rng.uniform(0.05, 0.4, 25)
    open_ = np.array(
        [gap_at(bodies, s, p, r, 0.0)[0] > 1e-3 for s, p, r in zip(start, path, radius, strict=True)]
    )
    found = gc.sweep.spheres(start, path, radius, bodies, backend=backend.kind, **EXACT)
    assert found.hit[open_].sum() > 1
    for k in np.flatnonzero(open_):
        args = bodies, start[k], path[k], radius[k]
        truth = first_touch(*args, n=801)
        assert found.hit[k] == (truth <= 1), k
        if found.hit[k]:
            assert abs(gap_at(*args, found.time[k])[0]) < 1e-12, k
            assert abs(found.time[k] - truth) < 1e-9, k
            place = start[k] + found.time[k] * path[k]
            assert np.abs(place - radius[k] * found.normal[k] - found.point[k]).max() < 1e-12


@pytest.mark.backends("cpu")
def test_nothing_gets_through_a_closed_box_that_turns(backend):
    """Rays at its edges and corners, exactly, from outside to its middle."""
    rng = np.random.default_rng(0)
    box = spun(BOX, [0.7, -0.4, 1.1], way=[0.3, 0.1, -0.2])
    corners, n = BOX.vertices, 400
    t = rng.uniform(0.2, 0.8, n)
    i, j = rng.integers(0, 8, n), rng.integers(0, 8, n)
    mix = rng.choice([0.0, 0.5, 0.25], n)[:, None]
    aim = (1 - mix) * corners[i] + mix * corners[j]
    target = np.empty((n, 3))
    for k in range(n):
        pose = box.poses_at(t[k])
        target[k] = pose.apply(aim[k])[0] if hasattr(pose, "apply") else _applied(pose, aim[k])
    middle = np.array([[0.3, 0.1, -0.2]]) * 1.0
    way = (middle - target) / (1 - t)[:, None]
    start = target - t[:, None] * way
    outside = np.abs(start).max(axis=1) > 0.55
    for radius in (0.0, 1e-14, 1e-6):
        found = gc.sweep.spheres(start, way, radius, box, backend=backend.kind, **EXACT)
        assert found.hit[outside].all(), radius


def _applied(poses, x):
    w, *v = poses.unit_wxyz[0]
    v = np.array(v)
    return poses.position[0] + x + 2 * np.cross(v, np.cross(v, x) + w * x)


# -- what is refused -------------------------------------------------------------------------------------
def test_what_exact_does_not_know_names_the_remedy():
    turned = spun(BOX, [0, 0, 1.0])
    poses = moving(BOX, [0, 0, 0], [0, 0, 0], turned=about([0, 0, 1], 1.0))
    for call in (
        lambda: gc.sweep.ellipsoids([0, 0, 3], [0, 0, -4], [1, 1, 1], poses, **EXACT),
        lambda: gc.sweep.slide(poses, [0, 0, 3], [1, 1, 1], [0, 0, 0], **EXACT),
    ):
        with pytest.raises(ValueError, match=r"turning: .*pass turning='chord'"):
            call()
    for how in ("refuse", "chord"):
        with pytest.raises(ValueError, match="with turning='exact'"):
            gc.sweep.rays([0, 0, 3], [0, 0, -4], turned, turning=how)
    with pytest.raises(ValueError, match="pass turning='exact'"):
        gc.sweep.rays([0, 0, 3], [0, 0, -4], poses)
    with pytest.raises(ValueError, match="at most 1000 rad.*shorter steps"):
        gc.sweep.rays([0, 0, 3], [0, 0, -4], spun(BOX, [0, 0, 1001.0]), **EXACT)
    with pytest.raises(ValueError, match="stay within 1e.08 of the origin"):
        gc.sweep.rays([0, 0, 3], [0, 0, -4], spun(BOX, [0, 0, 1.0], way=[1e9, 0, 0]), **EXACT)


def test_lengths_without_digits_are_unresolved(backend):
    start, world = [[0, 0, 3], [0, 0, 1e10], [np.nan, 0, 0]], spun(BOX, [0, 0, 1.0])
    found = gc.sweep.spheres(start, [0, 0, -4], 0.5, world, backend=backend.kind, **EXACT)
    assert found.status.tolist() == [gc.Status.HIT, gc.Status.UNRESOLVED, gc.Status.INVALID_INPUT]


def test_a_spin_by_no_angle_is_a_straight_path(backend):
    """A full turn is one; and no turn leaves the bits of a body that only moves."""
    full = spun(BAR, [0, 0, 2 * np.pi])
    assert gc.sweep.rays([0, 1.9, 0], [0, 0, 0], full, backend=backend.kind, **EXACT).hit[0]
    moves = moving(BAR, [0, 0, 0], [0.5, 0, 0])
    plain = gc.sweep.spheres([0, 0, 3], [0, 0, -4], 0.3, moves, backend=backend.kind)
    slid = spun(BAR, [0, 0, 0], way=[0.5, 0, 0])
    assert same_bits(plain, gc.sweep.spheres([0, 0, 3], [0, 0, -4], 0.3, slid, backend=backend.kind, **EXACT))
    assert not gc.sweep.rays(
        [0, 1.9, 0], [0, 0, 0], still(BAR, [0, 0, 0]), backend=backend.kind, **EXACT
    ).hit[0]
