"""Stage p02: the first touch on a straight way, by hand, against the reference and the screw method."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends.opencl import OpenclBackend
from gpu_collide.bodies.rules import check_rules
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.pipeline.movers.moves import MoverQuery
from gpu_collide.queries.pluecker import Touch, translate
from gpu_collide.queries.pluecker.movers import check_movers
from tests.pluecker._crowds import BOX, CAR, TORUS, at, crowd, quaternions, same_bits, still
from tests.support.seeds import everyday

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


def test_a_box_onto_a_box(backend):
    found = translate(still(BOX, [0.3, 0.2, 2]), still(BOX, [0, 0, 0]), [0, 0, -4], backend=backend.kind)
    assert found.status[0] == gc.Status.HIT and found.body[0] == 0
    gap = found.position[0, 2] - 1
    assert 0.9 * found.expel[0] < gap < 1.1 * found.expel[0], "it stands a zone above"
    assert abs(found.fraction[0] - 0.25) < 1e-12 and np.array_equal(found.normal[0], [0, 0, 1])


def test_two_edges_that_cross(backend):
    tilt = [[np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0], [np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0]]
    found = translate(still(BOX, [0, 0, 3], tilt[:1]), still(BOX, [0, 0, 0], tilt[1:]), [0, 0, -3],
                      backend=backend.kind)  # fmt: skip
    assert found.kind[0] == Touch.EE and np.allclose(found.normal[0], [0, 0, 1], atol=1e-12)
    assert np.allclose(found.point[0], [0, 0, np.sqrt(0.5)], atol=1e-12)
    assert abs(found.fraction[0] - (1 - np.sqrt(2) / 3)) < 1e-12


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
@pytest.mark.parametrize("seed", everyday(1, 4))
def test_against_the_reference(backend, seed):
    movers, world, way, _ = crowd(seed, movers=(CAR, BOX), obstacles=(BOX, CAR))
    found, truth = (translate(movers, world, way, backend=name) for name in (backend.kind, "reference"))
    assert 20 < (truth.status == gc.Status.HIT).sum()
    for name in ("status", "kind", "body", "feature_a", "feature_b"):
        assert np.array_equal(getattr(found, name), getattr(truth, name)), name
    assert np.abs(found.fraction - truth.fraction).max() < 1e-13
    assert (
        np.abs(found.point - truth.point).max() < 1e-11 and np.abs(found.normal - truth.normal).max() < 1e-11
    )


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
def test_whole_numbers_against_the_reference(backend):
    """Everything that can coincide does: boxes on a grid, ways along it."""
    rng = np.random.default_rng(5)
    block = gc.shapes.box((2, 2, 2))
    world = still(block, [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 0, 4]])
    position = rng.integers(-5, 6, (150, 3)).astype(float)
    way = rng.integers(-6, 7, (150, 3)).astype(float)
    found, truth = (
        translate(still(block, position), world, way, backend=k) for k in (backend.kind, "reference")
    )
    assert np.array_equal(found.status, truth.status) and 20 < (found.status == 1).sum() < 140
    assert np.abs(found.fraction - truth.fraction).max() < 1e-12


def test_agrees_with_collide():
    """Never later than the first contact of the screw method, and earlier by no more than the zone."""
    movers, world, way, _ = crowd(11, n=400)
    found = translate(movers, world, way, backend="cpu")
    n, m = len(movers), len(world)
    start = at(np.r_[world.start.position, movers.start.position],
               np.r_[world.start.quat_wxyz, movers.start.quat_wxyz])  # fmt: skip
    end = at(np.r_[world.start.position, movers.start.position + way], start.quat_wxyz)
    both = gc.Bodies([CAR, BOX], np.r_[1 - world.shape, movers.shape], start, end)
    pairs = np.array([(o, m + i) for i in range(n) for o in range(m)])
    screw = gc.collide(both, pairs, backend="cpu")
    clear = ~(screw.status.reshape(n, m) == gc.Status.INITIAL_OVERLAP).any(axis=1)
    toi = screw.toi.reshape(n, m).min(axis=1)
    assert clear.sum() > 300 and np.array_equal((found.status == 1)[clear], np.isfinite(toi)[clear])
    early = (np.minimum(toi, 1) - found.fraction) * np.linalg.norm(way, axis=1)
    assert early[clear].min() >= -1e-14
    hit = clear & (found.status == 1)
    slope = -np.einsum("ij,ij->i", found.normal, way / np.linalg.norm(way, axis=1, keepdims=True))
    assert (early * slope)[hit].max() < 1.01 * found.expel.max(), (
        "by the zone, along the normal of what it touches"
    )


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_the_same_bits_everywhere(backend, precision):
    movers, world, way, _ = crowd(7, movers=(CAR, BOX, TORUS), obstacles=(TORUS, BOX), n=45)
    found = translate(movers, world, way, precision=precision, backend=backend.kind)
    assert same_bits(found, translate(movers, world, way, precision=precision, backend="cpu")) == []
    if precision == "double":
        mixed = translate(movers, world, way, backend="cpu")
        assert same_bits(found, mixed) == [], "what culls is in no result"


@pytest.mark.slow
def test_the_same_bits_in_groups_of_any_size():
    """Compiling a kernel with barriers takes PoCL some twenty seconds."""
    try:
        grouped = MoverQuery(OpenclBackend(group_size=8), "mixed", 1 << 30)
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    movers, world, way, _ = crowd(7, movers=(CAR, BOX, TORUS), obstacles=(TORUS, BOX), n=45)
    alone = MoverQuery(gc.backends.get_backend("cpu"), "mixed", 1 << 30)
    answers = []
    for engine in (grouped, alone):
        rows = check_movers(movers, None, None, None, world, check_rules(len(world)))
        rows.zone[:] = 1e-12
        answers.append(engine.trace(engine.world(world, check_rules(len(world))), rows, way, ()))
    for name in answers[0]:
        assert np.array_equal(answers[0][name], answers[1][name]), name


def test_no_order_shows(backend):
    """Bodies of the world and faces of a mesh in another order: the same but for their numbers."""
    movers, world, way, _ = crowd(8, n=60, movers=(CAR,), obstacles=(TORUS,), bodies=5)
    rng = np.random.default_rng(1)
    turned, faces = rng.permutation(len(world)), rng.permutation(TORUS.n_faces)
    shuffled = gc.Mesh(TORUS.vertices, [TORUS.faces[k] for k in faces])
    other = still(shuffled, world.start.position[turned], world.start.quat_wxyz[turned])
    a, b = (translate(movers, w, way, backend=backend.kind) for w in (world, other))
    hit = a.status == gc.Status.HIT
    assert np.array_equal(a.fraction, b.fraction) and np.array_equal(a.kind, b.kind) and hit.sum() > 20
    assert np.array_equal(a.body[hit], turned[b.body[hit]])
    a_face, b_face = a.feature_b[a.kind == Touch.VF], b.feature_b[a.kind == Touch.VF]
    assert np.array_equal(a_face, faces[b_face])


def test_a_large_mover_and_a_small_obstacle(backend):
    """The mirrored problem: the mover's own tree is walked."""
    rng = np.random.default_rng(3)
    n = 40
    specks = still(gc.shapes.box((0.1, 0.1, 0.1)), rng.uniform(-2, 2, (n, 3)), quaternions(rng, n))
    position, quats, way = np.tile([0, 0, 6.0], (n, 1)), quaternions(rng, n), np.tile([0, 0, -12.0], (n, 1))
    pairs = np.c_[np.arange(n), np.arange(n)]
    found = translate(still(TORUS, position, quats), specks, way, pairs=pairs, backend=backend.kind)
    truth = translate(still(TORUS, position, quats), specks, way, pairs=pairs, backend="reference")
    assert np.array_equal(found.status, truth.status) and 3 < (found.status == 1).sum() < n
    assert np.abs(found.fraction - truth.fraction).max() < 1e-13


def test_in_the_zone_only_away(backend):
    """It rests; it may leave, slide along, and not go deeper."""
    ground = still(BOX, [0, 0, 0])
    rest = translate(still(BOX, [0.3, 0.2, 2]), ground, [0, 0, -4], backend=backend.kind)
    ways = [[0, 0, -1], [0, 0, 1], [0.1, 0, 0], [0, -0.1, 0], [1, 1, 1], [-1e-3, 0, -1e-3]]
    box = gc.Bodies(BOX, np.zeros(6, int), *[at(np.tile(rest.position[0], (6, 1)))] * 2)
    found = translate(box, ground, ways, expel=2 * rest.expel[0], backend=backend.kind)
    assert found.fraction.tolist() == [0, 1, 1, 1, 1, 0]


def test_sheets_and_their_sides(backend):
    corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    one, both = gc.Mesh(corners, [[0, 1, 2, 3]]), gc.Mesh(corners, [[0, 1, 2, 3]], two_sided=True)
    for sheet, kinds in ((one, [Touch.VF, Touch.NONE]), (both, [Touch.VF, Touch.VF])):
        points = [[0.2, 0.3, 1], [0.2, 0.3, -1]]
        found = translate(points, still(sheet, [0, 0, 0]), [[0, 0, -2], [0, 0, 2]], backend=backend.kind)
        assert found.kind.tolist() == kinds
    assert found.normal.tolist() == [[0, 0, 1], [0, 0, -1]]
    # and as movers: what a sheet falls on, and what falls on a sheet
    found = translate(still(one, [0, 0, 2]), still(BOX, [0, 0, 0]), [0, 0, -2], backend=backend.kind)
    assert found.kind[0] == Touch.NONE, "its back is no surface, and no border comes to the box"
    found = translate(still(both, [0, 0, 2]), still(BOX, [0, 0, 0]), [0, 0, -2], backend=backend.kind)
    assert found.kind[0] == Touch.FV and abs(found.fraction[0] - 0.75) < 1e-12


def test_a_point_is_a_ray(backend):
    """Against the formula of a ray and a plane, for the faces of a convex body."""
    rng = np.random.default_rng(4)
    n = 300
    start = rng.normal(size=(n, 3))
    start *= 3 / np.linalg.norm(start, axis=1, keepdims=True)
    way = -start + rng.normal(0, 0.6, (n, 3))
    found = translate(start, still(CAR, [0, 0, 0]), way, backend=backend.kind)
    normal, offset = CAR.face_planes[:, :3], CAR.face_planes[:, 3] - CAR.face_planes[:, :3] @ CAR.center
    hull = gc.Mesh(CAR.vertices, CAR.faces)
    height, fall = start @ normal.T + offset, -way @ normal.T
    inside = translate(start, still(hull, [0, 0, 0]), way, backend="reference")
    assert np.array_equal(found.status, inside.status) and (found.kind[found.status == 1] == Touch.VF).all()
    row = np.flatnonzero(found.status == 1)
    face = found.feature_b[row]
    expected = height[row, face] / fall[row, face]
    assert len(row) > 50 and np.abs(found.fraction[row] - expected).max() < 1e-11


def test_nothing_slips_through_seams(backend):
    """Points and corners that fall exactly onto shared edges and vertices of a bumpy floor."""
    rng = np.random.default_rng(6)
    n = 7
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    corners = np.c_[x.ravel(), y.ravel(), rng.normal(0, 0.3, (n + 1) ** 2)]
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    floor = gc.Mesh(corners, np.r_[np.c_[a, a + n + 1, a + n + 2], np.c_[a, a + n + 2, a + 1]])
    ends = floor.vertices[floor.edges]
    t = rng.uniform(0, 1, (len(ends), 20, 1))
    onto = (ends[:, None, 0] * (1 - t) + ends[:, None, 1] * t).reshape(-1, 3)
    onto = np.r_[onto, floor.vertices]
    inside = ((onto[:, :2] > 0.01) & (onto[:, :2] < n - 0.01)).all(axis=1)
    onto = onto[inside]
    slant = rng.normal(0, 0.4, onto.shape) * [1, 1, 0] + [0, 0, 3]
    found = translate(onto + slant, still(floor, [0, 0, 0]), -2 * slant, backend=backend.kind)
    assert len(onto) > 1500 and (found.status == gc.Status.HIT).all()
    assert (found.fraction <= 0.5).all()
