"""Two-sided meshes: a sheet has no inside, so which way round its faces are wound must not matter.

Folds and dents of a sheet used to count as reflex edges and pits of a solid that is not there: a prism that
came down on a ridge was a HIT, and with the ridge's faces wound the other way a MISS.
"""

import functools

import numpy as np
import pytest

import gpu_collide as gc
from tests import oracle
from tests.oracle.scenes import SceneData
from tests.oracle.scenes_base import random_quat
from tests.support.shares import share

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

# largest difference of a time, place or properness between windings; worst seen 4.9e-15
SAME = 1e-7
WHOLE_TURNS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1], [1, 1, 0, 0]], float)


def strip(rng):
    """A band with random folds."""
    n = rng.integers(2, 5)
    x, z = np.cumsum(rng.uniform(0.3, 1, n + 1)), rng.normal(size=n + 1)
    points = np.array([[x[i], y, z[i]] for i in range(n + 1) for y in (-1, 1)])
    return points - points.mean(axis=0), [[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(n)]


def fan(rng):
    """A tent about one vertex, with folds both ways."""
    n = rng.integers(3, 8)
    angle, radius = np.sort(rng.uniform(0, 2 * np.pi, n)), rng.uniform(0.4, 1.2, n)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.6 * rng.normal(size=n) + 0.5], axis=1)
    return np.concatenate([[[0, 0, 0]], rim]), [[0, 1 + i, 1 + (i + 1) % n] for i in range(n)]


def triangle(rng):
    return rng.normal(size=(3, 3)), [[0, 1, 2]]


def pyramid(rng):
    points = np.array([[0, 0, 1.0], [-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return points, [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]


def closed_box(rng):
    box = gc.shapes.box((2, 2, 2))
    return box.vertices.copy(), [list(f) for f in box.faces]


def hills(rng):
    n = 3
    points = np.array([[i - 1.0, j - 1.0, 0.7 * rng.normal()] for i in range(n) for j in range(n)])
    squares = [(k, k + n, k + n + 1, k + 1) for k in (0, 1, n, n + 1)]
    return points, [f for a, b, c, d in squares for f in ([a, b, c], [a, c, d])]


SHAPES = (strip, fan, triangle, pyramid, closed_box, hills)


def sheets(rng, n, whole, mixed):
    """n sheets as (points, faces); `whole`: half-integer corners; `mixed`: some faces turned already."""
    made = []
    while len(made) < n:
        points, faces = SHAPES[rng.integers(len(SHAPES))](rng)
        points = np.round(2 * points) / 2 if whole else points
        faces = [f[::-1] if mixed and rng.random() < 0.5 else f for f in faces]
        try:
            mesh = gc.Mesh(points, faces, two_sided=True)
        except ValueError:  # rounding took a face's area or its plane
            continue
        if mesh.n_faces == len(faces):
            made.append((points, faces))
    return made


def poses(rng, n, whole):
    if not whole:
        return [(2 * rng.normal(size=(n, 3)), random_quat(rng, n)) for _ in range(2)]
    turns = WHOLE_TURNS / np.linalg.norm(WHOLE_TURNS, axis=1)[:, None]
    start = turns[rng.integers(len(turns), size=n)]
    end = np.where(rng.random((n, 1)) < 0.5, start, turns[rng.integers(len(turns), size=n)])
    return [(rng.integers(-3, 4, (n, 3)).astype(float), q) for q in (start, end)]


def collide(made, turned, start, end, backend, **options):
    """Pairs of successive sheets; `turned` says which faces of each are wound the other way round."""
    meshes = [
        gc.Mesh(p, [f[::-1] if t else f for f, t in zip(faces, turn, strict=True)], two_sided=True)
        for (p, faces), turn in zip(made, turned, strict=True)
    ]
    bodies = gc.Bodies(
        meshes, np.arange(len(made)), gc.Poses.from_quat_wxyz(*start), gc.Poses.from_quat_wxyz(*end)
    )
    return gc.collide(bodies, np.arange(len(made)).reshape(-1, 2), backend=backend, **options).to_numpy()


def assert_same_contacts(one, other):
    assert np.array_equal(one.status, other.status), np.flatnonzero(one.status != other.status)
    assert np.array_equal(one.contact_start, other.contact_start)
    for p in range(one.n_pairs):
        rows = slice(one.contact_start[p], one.contact_start[p + 1])
        x, y = (np.column_stack([c.time, c.time_end, c.properness, c.position])[rows] for c in (one, other))
        if len(x):
            apart = np.abs(x[:, None] - y[None]).max(axis=2)
            worst = max(apart.min(axis=0).max(), apart.min(axis=1).max())
            assert worst < SAME, (p, worst)


def windings_agree(rng, n, whole, how, backend, **options):
    made = sheets(rng, 2 * n, whole, mixed=how == "some")
    start, end = poses(rng, 2 * n, whole)
    turned = [
        np.full(len(f), how == "all" or (how == "first" and k % 2 == 0))
        | ((how == "some") & (rng.random(len(f)) < 0.5))
        for k, (_, f) in enumerate(made)
    ]
    as_given = [np.zeros(len(f), bool) for _, f in made]
    one, other = (collide(made, t, start, end, backend, **options) for t in (as_given, turned))
    assert len(one) > 0.1 * n  # 0.14 seen at least, at a threshold of 0.3
    assert_same_contacts(one, other)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("how", ["all", "first", "some"])
def test_winding_of_sheets_does_not_matter(how, whole, backend):
    windings_agree(np.random.default_rng(1), share(backend, 80), whole, how, backend.kind)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("how", ["all", "some"])
def test_winding_of_sheets_does_not_matter_to_the_reference(how, whole):
    windings_agree(np.random.default_rng(2), 20, whole, how, "reference")


@pytest.mark.slow
@pytest.mark.parametrize("min_properness", [-1.0, -0.1, 0.3])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("how", ["all", "first", "some"])
def test_winding_of_many_sheets_does_not_matter(how, whole, min_properness, backend):
    for seed in range(2):
        rng = np.random.default_rng(100 + seed)
        windings_agree(rng, 500, whole, how, backend.kind, min_properness=min_properness)


def test_the_start_of_crossing_sheets_does_not_depend_on_their_winding(backend):
    """A sheet was shrunk against its normals: on top of a box, wound downwards, it was said to overlap it."""
    box, floor = gc.shapes.box(), [[-3, -3, 0.5], [3, -3, 0.5], [3, 3, 0.5], [-3, 3, 0.5]]
    for lift, overlaps in ((0.0, False), (-0.1, True), (0.1, False)):
        poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.1, 0.05, lift]], [[1.0, 0, 0, 0]] * 2)
        for loop in ([0, 1, 2, 3], [3, 2, 1, 0]):
            for order in ([0, 1], [1, 0]):
                sheet = gc.Mesh(floor, [loop], two_sided=True)
                for kind in (backend.kind, "reference"):
                    found = gc.collide(
                        gc.Bodies([box, sheet], [0, 1], poses, poses), [order], backend=kind, check_start=True
                    )
                    said = found.status[0] == gc.Status.INITIAL_OVERLAP
                    assert said == overlaps, (lift, loop, order, kind)


def all_windings(n):
    return [[bool(k >> i & 1) for i in range(n)] for k in range(2**n)]


def drop(shape, faces, turned, start, end, tilt, backend, other, **options):
    """Status and first contact of `other`, which comes down on a sheet at rest."""
    sheet = gc.Mesh(shape, [f[::-1] if t else f for f, t in zip(faces, turned, strict=True)], two_sided=True)
    q = [[1, 0, 0, 0], tilt]
    bodies = gc.Bodies(
        [sheet, other], [0, 1],
        gc.Poses.from_quat_wxyz([[0, 0, 0], start], q), gc.Poses.from_quat_wxyz([[0, 0, 0], end], q),
    )  # fmt: skip
    return gc.collide(bodies, [[0, 1]], backend=backend, **options).to_numpy()


RIDGE = (
    [[-1, 0, 1.0], [1, 0, 1.0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]],
    [[0, 2, 3, 1], [0, 1, 5, 4]],
)


def prism():
    """A roof upside down, its ridge along y."""
    points = [[0, -1.1, 0], [0, 1.1, 0], [-0.5, -1.1, 1], [-0.5, 1.1, 1], [0.5, -1.1, 1], [0.5, 1.1, 1]]
    return gc.Mesh(points, [[0, 2, 3, 1], [0, 1, 5, 4], [2, 4, 5, 3], [0, 4, 2], [1, 3, 5]])


@pytest.mark.parametrize("kind", ["kernels", "reference"])
def test_an_edge_meets_a_ridge_from_above_and_a_valley_from_below(kind, backend):
    """The side of the approach decides: on the ridge the prism's edge is proper, in the valley it is not."""
    kind = backend.kind if kind == "kernels" else kind
    tilt = [np.cos(0.02), np.sin(0.02), 0, 0]
    points, faces = RIDGE
    for turned in all_windings(2):
        found = drop(points, faces, turned, [0.1, 0, 2.0], [0.1, 0, 0.7], tilt, kind, prism())
        assert found.status[0] == gc.Status.HIT and found.kind[0] == gc.Kind.EE
        assert abs(found.toi[0] - 10 / 13) < 1e-12 and abs(found.properness[0] - 0.678) < 1e-3
        # the same edge in the fold as seen from the other side: the walls beside the fold are met first
        valley = np.array(points) * [1, 1, -1]
        found = drop(
            valley, faces, turned, [0.1, 0, 2.0], [0.1, 0, -1.3], tilt, kind, prism(), min_properness=-1.0
        )
        fold = (found.kind == gc.Kind.EE) & np.isin(found.feature_a, [0])
        assert fold.any() and (found.properness[fold] < -0.5).all()


def star_tent(n=8):
    """A tent that stands on its tip, every second rib pushed inwards: half of its folds go the other way."""
    angle = np.arange(n) * 2 * np.pi / n
    radius = np.where(np.arange(n) % 2, 1.0, 0.35)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.ones(n)], axis=1)
    return np.concatenate([[[0, 0, 0]], rim]), [[0, 1 + (i + 1) % n, 1 + i] for i in range(n)]


def test_the_tip_of_a_tent_with_folds_both_ways_meets_the_floor(backend):
    points, faces = star_tent()
    floor = gc.shapes.box((4, 4, 1))
    for turned in [w for w in all_windings(8) if sum(w) in (0, 1, 4, 8)][::9] + [[True] * 8]:
        for kind in (backend.kind, "reference") if sum(turned) in (0, 8) else (backend.kind,):
            # the floor comes from below: the tent is A, at rest
            found = drop(points, faces, turned, [0.1, 0.2, -1.5], [0.1, 0.2, -0.3], [1, 0, 0, 0], kind, floor)
            assert found.status[0] == gc.Status.HIT and len(found) == 1 and found.kind[0] == gc.Kind.VF
            assert abs(found.toi[0] - 1 / 1.2) < 1e-12 and found.properness[0] > 0.5


@pytest.mark.parametrize("kind", ["kernels", "reference"])
def test_a_box_that_slides_on_a_sheet_is_above_it_however_it_is_wound(kind, backend):
    """Nothing approaches: the more proper normal, else the one towards the box. Wound downwards the corners'
    contacts had the normal of the underside, and their properness was -1."""
    kind = backend.kind if kind == "kernels" else kind
    floor = [[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]
    for turned in all_windings(1):
        for end in ([0.4, 0.3, 0.5], [0.1, 0.2, 0.5]):  # slides, rests
            found = drop(
                floor, [[0, 1, 2, 3]], turned, [0.1, 0.2, 0.5], end, [1, 0, 0, 0], kind, gc.shapes.box()
            )
            assert len(found) == 4 and found.sustained.all() and (found.kind == gc.Kind.FV).all()
            assert np.abs(found.normal - [0, 0, 1]).max() < 1e-15
            assert np.abs(found.properness).max() < 1e-12


@functools.cache
def judged_sheets():
    """Scenes of sheets, and the oracle's answers."""
    rng, both = np.random.default_rng(3), []
    for whole in (False, True):
        made = sheets(rng, 80, whole, mixed=False)
        meshes = [oracle.RawMesh(p, [tuple(x) for x in f], True) for p, f in made]
        start, end = poses(rng, len(made), whole)
        number = np.arange(len(made))
        scene = SceneData("sheets", meshes, number, start, end, number.reshape(-1, 2))
        both.append((scene, oracle.expect(scene)))
    return both


def test_sheets_agree_with_the_oracle(backend):
    for scene, expected in judged_sheets():
        found = gc.collide(scene.bodies(), scene.pairs, backend=backend.kind).to_numpy()
        report = oracle.check(found, scene, expected=expected)
        assert report.ok, report
