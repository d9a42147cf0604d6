"""Chords of edges (gc_chords.h) where they are worth least: a build that has them for the shortest lists
gives the bits of rows, which know nothing of them."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import backends
from gpu_collide.backends import sources
from gpu_collide.checks.bits import same_bits
from gpu_collide.pipeline.narrow_phase import scratch
from tests.oracle import scenes
from tests.support.axis_scenes import aimed

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

EDITS = (
    ("#define GC_TILED 192\n", "#define GC_TILED 0\n"),
    ("#define GC_CHORDED 300000\n", "#define GC_CHORDED 0\n"),
    # lists that are taken as they are do not know their copies
    ("!rows && !w->wraps && q->mesh_a.ne <=", "!rows && !q->chords_a && !w->wraps && q->mesh_a.ne <="),
)  # fmt: skip
FAMILIES = (
    "random_nonconvex", "random_small_tori", "to_180", "far_away", "two_sided", "axis_through_both",
    "exact_axis", "half_turn", "passing", "tiny_angles", "grazing", "resting", "scales", "tangent", "drill",
    "hinge", "exact_half_turn", "whole_sheets", "thin_and_tiny",
)  # fmt: skip
PRECISIONS = [
    "mixed",
    pytest.param("double", marks=pytest.mark.slow),
    pytest.param("single", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def chorded():
    """`collide` of a build in which every list of edges has chords."""
    opened, program = {}, sources.program

    def text(name):
        made = program(name)
        for old, new in EDITS if name == "screen" else ():
            assert made.count(old) == 1, f"the screen has {old!r} no more: choose another place"
            made = made.replace(old, new)
        return made

    def collide(*args, **asked):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backends, "_open", opened)
            patch.setattr(sources, "program", text)
            patch.setattr(scratch, "TILED", 0)
            return gc.collide(*args, **asked)

    return collide


def of_bodies(meshes, start, last, far=0.0):
    """Pairs of two meshes each: A at rest, B between two lists of (position, quaternion)."""
    n = len(meshes) // 2
    rest = np.zeros(3), np.array([1.0, 0, 0, 0])
    poses = []
    for ways in (start, last):
        both = [pose for way in ways for pose in (rest, way)]
        place, turn = (np.array([pose[k] for pose in both]) for k in (0, 1))
        poses.append(gc.Poses.from_quat_wxyz(place + far, turn))
    return gc.Bodies(meshes, np.arange(2 * n), *poses), np.arange(2 * n).reshape(-1, 2)


def turned(angle):
    """Quaternion of a turn about y."""
    return np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def sheets(points):
    """Triangles of two sides, three points each."""
    points = np.asarray(points).reshape(-1, 3)
    return gc.Mesh(points, np.arange(len(points)).reshape(-1, 3), two_sided=True)


def tip_and_edge(rng, theta, r=3.01e-3, length=1.5e-3):
    """B has a tip at the distance `r` of the axis, y, and A an edge that comes nearer to it by what
    pads are worth: they meet where the edge comes out again, by a tip's breadth."""
    depth, phi = 10 ** rng.uniform(-7.5, -5.5), rng.uniform(0, 2 * np.pi)
    nearest = r - 24e-6 * (1 + theta) * (1 + 10 ** rng.uniform(-3, 0))
    out, along = np.array([np.sin(phi), 0, np.cos(phi)]), np.array([np.cos(phi), 0, -np.sin(phi)])
    meet = nearest * out + rng.choice([-1, 1]) * np.sqrt((r + depth) ** 2 - nearest**2) * along
    first = nearest * out - rng.uniform(0, 1) * length * along
    a = [first, first + length * along, first + length * (0.5 * along + out + [0, rng.uniform(-1, 1), 0])]
    out = meet / np.linalg.norm(meet)
    steep = rng.choice([-1, 1]) * rng.uniform(0.01, 0.05)
    way = np.cos(steep) * out + [0, np.sin(steep), 0]
    tip = meet - way * depth * rng.uniform(0.2, 1)
    side = rng.normal(size=3)
    side -= side @ way * way
    other = way + side * rng.uniform(0.01, 0.05) / np.linalg.norm(side)
    b = np.array([0 * way, way, other])
    middle = 0.5 * (b.min(axis=0) + b.max(axis=0))
    # of size 1, so that the axis is where the distance of its tip says
    return a, tip + b / np.linalg.norm(b - middle, axis=1).max()


def tips(seed, n, theta):
    rng = np.random.default_rng(seed)
    meshes = [sheets(points) for _ in range(n) for points in tip_and_edge(rng, theta)]
    return of_bodies(meshes, [(np.zeros(3), turned(-theta / 2))] * n, [(np.zeros(3), turned(theta / 2))] * n)


def edge(rng, kind, wide):
    """Two ends of an edge that is hostile to screens about the axis y."""
    phi, y = rng.choice([rng.uniform(-np.pi, np.pi), 0.0, np.pi / 2, np.pi]), rng.uniform(-1, 1) * wide
    out, along = np.array([np.sin(phi), 0, np.cos(phi)]), np.array([np.cos(phi), 0, -np.sin(phi)])
    r, up = wide * rng.uniform(0.2, 1), np.array([0.0, 1, 0])
    if kind == "axial":
        return r * out + (y - r) * up, r * out + (y + r) * up
    if kind == "level":  # ends at the same distance, across the cut of the angle if phi is that
        return r * out - r * along + y * up, r * out + r * along + y * up
    if kind == "spoke":
        return 10 ** rng.uniform(-9, -2) * wide * along + y * up, r * out + y * up
    if kind == "across":
        near = rng.choice([0.0, 10 ** rng.uniform(-9, -1.5) * wide])
        return near * along - r * out + y * up, near * along + r * out + (y + rng.choice([0, wide])) * up
    if kind == "speck":
        return r * out + y * up, r * out + y * up + rng.normal(size=3) * 1e-6 * wide
    return rng.normal(size=3) * wide, rng.normal(size=3) * wide


KINDS = ("axial", "level", "spoke", "across", "speck", "any")


def soup(rng, wide, n=10):
    points = []
    for kind in rng.choice(KINDS, n):
        a, b = edge(rng, kind, wide * rng.choice([1, 1, 1, 0.1, 1e-6]))
        points += [a, b, 0.5 * (a + b) + rng.normal(size=3) * rng.choice([1.0, 1e-2, 1e-5]) * wide]
    return sheets(points)


def soups(seed, n, far=0.0, wide=(1.0, 1.0)):
    """Triangles about an axis, y: all turns from none to half a one, all pitches, near and far."""
    rng = np.random.default_rng(seed)
    meshes, start, last = [], [], []
    for _ in range(n):
        meshes += [soup(rng, wide[0]), soup(rng, wide[1])]
        theta = rng.choice([0.0, 1e-12, 1e-6, 0.03, 1.0, np.pi / 2, np.pi])
        pitch = max(wide) * rng.choice([0.0, 1e-9, 0.3, 3.0, 100.0])
        radius = max(wide) * rng.choice([0.0, 0.0, 1.0, 1e3, 1e8 if theta < 1e-5 else 10.0])
        for end, ways in ((-0.5, start), (0.5, last)):
            angle = theta * end
            # the axis stands at -radius on z
            place = np.array([radius * np.sin(angle), pitch * end, -2 * radius * np.sin(angle / 2) ** 2])
            ways.append((place, turned(angle)))
    return of_bodies(meshes, start, last, far)


def family(name, seed, n):
    scene = scenes.FAMILIES[name](seed, n)
    return scene.bodies(), scene.pairs


SCENES = {
    **{name: lambda name=name: family(name, 3, 40) for name in FAMILIES},
    **{
        f"axis at {what}, {off:g} away": lambda what=what, off=off: aimed(what, 30, 4, off, gc.shapes.star())
        for what in ("edge", "vertex")
        for off in (0.0, 1e-6, 3.1e-3, 0.1)
    },
    "tips": lambda: tips(0, 200, 0.01),
    "soups": lambda: soups(1, 150),
    "soups far away": lambda: soups(2, 50, far=1e8),
    "small against large": lambda: soups(3, 100, wide=(1.0, 1e-3)),
    "large against small": lambda: soups(4, 100, wide=(1e-6, 1.0)),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", SCENES)
def test_nothing_is_lost(name, precision, backend, chorded):
    bodies, pairs = SCENES[name]()
    asked = {"min_properness": -1.0, "check_start": False, "precision": precision, "backend": backend.kind}
    rows = gc.collide(bodies, pairs, tuning=gc.Tuning(features="all", candidates="raster"), **asked)
    assert rows.time.size > 5
    assert not same_bits(
        chorded(bodies, pairs, tuning=gc.Tuning(features="all", candidates="pairs"), **asked), rows
    )


def test_a_tip_beside_the_axis_of_a_dense_shape(backend):
    """The only contact of the step was lost: the edge was cut where it leaves the circle of B's tip, by
    rounding a little too far out, and there the tip meets it."""
    a = np.array([
        [-0.001441131971, 0.0, 0.002629571529],
        [-5.9181669e-05, 0.0, 0.003212849646],
        [-0.001333434937, -0.000528080441, 0.00430316089],
    ])  # fmt: skip
    b = np.array([
        [-0.000778516352, 7.61e-09, 0.002908745095],
        [-0.516469417208, -0.032913240341, 1.929667732262],
        [-0.49929483622, 0.025844530095, 1.935268165051],
    ])  # fmt: skip
    theta, n = 0.003, 270
    specks = (
        np.linspace(0, 1, n)[:, None, None] * np.ones(3),
        1e-5 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]]),
    )
    meshes = []
    for points, middle, wide in ((a, a[2] + [0, 3e-3, 0], 5e-4), (b, 0.5 * b[0] + 0.5 * b[1], 1e-4)):
        meshes.append(sheets(np.vstack([points, (middle + wide * specks[0] + specks[1]).reshape(-1, 3)])))
    bodies, pairs = of_bodies(meshes, [(np.zeros(3), turned(-theta / 2))], [(np.zeros(3), turned(theta / 2))])
    asked = {
        "min_properness": -1.0,
        "check_start": False,
        "backend": backend.kind,
    }
    found = [
        gc.collide(bodies, pairs, tuning=gc.Tuning(candidates=way, features="all"), **asked)
        for way in ("pairs", "raster")
    ]
    assert found[0].time.size == 1 and not same_bits(*found)
