"""Stage p03: the first touch in a turn, by hand, against the reference and against the screw method."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.queries.pluecker import Touch, rotate
from tests.pluecker._crowds import BOX, CAR, TORUS, at, crowd, same_bits, still
from tests.support.seeds import everyday

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")


def test_a_plank_comes_down_on_an_edge(backend):
    """A corner of its lower side goes down a circle onto the ground; the angle is known."""
    plank, ground = gc.shapes.box((2, 0.2, 0.2)), gc.shapes.box((10, 10, 1))
    found = rotate(still(plank, [1, 0, 1]), still(ground, [0, 0, -0.5]), np.pi / 2, [0, 1, 0], [0, 0, 1],
                   backend=backend.kind)  # fmt: skip
    # the corner (2, -0.1): depth below the axis 2 sin a + 0.1 cos a = 1
    angle = np.arcsin(1 / np.hypot(2, 0.1)) - np.arctan2(0.1, 2)
    assert found.kind[0] == Touch.VF and abs(found.fraction[0] * np.pi / 2 - angle) < 1e-11
    assert np.array_equal(found.normal[0], [0, 0, 1]) and abs(found.point[0, 2]) < 1e-11
    pose = found.poses.apply(plank.vertices[:, None])[:, 0]
    assert 0 < pose[:, 2].min() < 1.01 * found.expel[0], "it stands a zone above"


@pytest.mark.backends("cpu")  # the others have its bits, as another test shows
@pytest.mark.parametrize("seed", everyday(1, 4))
def test_against_the_reference(backend, seed):
    movers, world, _, turn = crowd(20 + seed, n=36, spread=2.5)
    found, truth = (rotate(movers, world, *turn, backend=name) for name in (backend.kind, "reference"))
    assert 8 < (truth.status == gc.Status.HIT).sum()
    for name in ("status", "kind", "body", "feature_a", "feature_b"):
        assert np.array_equal(getattr(found, name), getattr(truth, name)), name
    assert np.abs(found.fraction - truth.fraction).max() < 1e-12
    assert (
        np.abs(found.point - truth.point).max() < 1e-10 and np.abs(found.normal - truth.normal).max() < 1e-10
    )
    assert np.abs(found.position - truth.position).max() < 1e-11
    assert np.abs(found.quat_wxyz - truth.quat_wxyz).max() < 1e-12


def test_agrees_with_collide():
    movers, world, _, (angle, axis, origin) = crowd(31, n=400, spread=2.5)
    found = rotate(movers, world, angle, axis, origin, backend="cpu")
    n, m = len(movers), len(world)
    ends = gc.Poses.from_screw(axis, origin, angle, np.zeros(n), movers.start)
    start = at(np.r_[world.start.position, movers.start.position],
               np.r_[world.start.quat_wxyz, movers.start.quat_wxyz])  # fmt: skip
    end = at(np.r_[world.start.position, ends.position], np.r_[world.start.quat_wxyz, ends.quat_wxyz])
    both = gc.Bodies([CAR, BOX], np.r_[1 - world.shape, movers.shape], start, end)
    pairs = np.array([(o, m + i) for i in range(n) for o in range(m)])
    screw = gc.collide(both, pairs, backend="cpu")
    clear = ~(screw.status.reshape(n, m) == gc.Status.INITIAL_OVERLAP).any(axis=1)
    toi = screw.toi.reshape(n, m).min(axis=1)
    assert clear.sum() > 250 and np.array_equal((found.status == 1)[clear], np.isfinite(toi)[clear])
    early = (np.minimum(toi, 1) - found.fraction) * np.abs(angle)
    assert early[clear].min() >= -1e-13 and early[clear].max() < 1e-9


def test_a_free_turn_ends_where_it_should(backend):
    movers, _, _, turn = crowd(3, n=50)
    far = still(BOX, [1e3, 0, 0])
    found = rotate(movers, far, *turn, backend=backend.kind)
    angle, axis, origin = turn
    end = gc.Poses.from_screw(axis, origin, angle, np.zeros(50), movers.start)
    assert (found.status == gc.Status.MISS).all() and (found.fraction == 1).all()
    assert np.abs(found.position - end.position).max() < 1e-12
    assert np.abs(np.abs(np.sum(found.quat_wxyz * end.unit_wxyz, axis=1)) - 1).max() < 1e-14


def test_more_than_half_a_turn(backend):
    """In two turns: the same angle as in one that is shorter, and what only the second one meets."""
    movers, world, _, (angle, axis, origin) = crowd(24, n=200, spread=2.5)
    once = rotate(movers, world, angle, axis, origin, backend=backend.kind)
    more = rotate(movers, world, 1.999 * angle, axis, origin, backend=backend.kind)
    hit = once.status == gc.Status.HIT
    assert hit.sum() > 40 and (more.status[hit] == gc.Status.HIT).all()
    assert np.abs(1.999 * more.fraction - once.fraction)[hit].max() < 1e-10
    later = (more.status == gc.Status.HIT) & ~hit
    assert later.sum() > 5 and (more.fraction[later] * 1.999 >= 1).all()
    back = rotate(movers, world, -angle, -axis, origin, backend=backend.kind)
    assert same_bits(once, back) == [], "the other way about the other axis"


def test_half_a_turn_and_a_whole_one(backend):
    """A stick sweeps round a pole that it can only meet at the very end."""
    stick, post = gc.shapes.box((2, 0.1, 0.1)), gc.shapes.box((0.2, 0.2, 0.2))
    world = still(post, [-1.5, -0.3, 0])
    for angle, hit in ((np.pi, False), (2 * np.pi, True), (-np.pi, True)):
        found = rotate(still(stick, [1, 0, 0]), world, angle, [0, 0, 1], [0, 0, 0], backend=backend.kind)
        assert (found.status[0] == gc.Status.HIT) == hit
        assert not hit or np.pi - 0.4 < abs(angle) * found.fraction[0] < np.pi + 0.4


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_the_same_bits_everywhere(backend, precision):
    movers, world, _, turn = crowd(27, movers=(CAR, BOX, TORUS), obstacles=(TORUS, BOX), n=30, spread=3)
    found = rotate(movers, world, *turn, precision=precision, backend=backend.kind)
    assert same_bits(found, rotate(movers, world, *turn, precision=precision, backend="cpu")) == []
    if precision == "double":
        assert same_bits(found, rotate(movers, world, *turn, backend="cpu")) == []


def test_single_is_near_and_never_late():
    movers, world, _, turn = crowd(28, n=200, spread=2.5)
    rough, fine = (rotate(movers, world, *turn, precision=p, backend="cpu") for p in ("single", "mixed"))
    both = (rough.status == fine.status) & (fine.status == gc.Status.HIT)
    assert both.sum() > 40 and (rough.status[fine.status == gc.Status.HIT] == gc.Status.HIT).all()
    assert (rough.fraction[both] <= fine.fraction[both]).all()


def test_no_turn_touches_nothing(backend):
    """Resting in the zone, by an angle of zero, and about an axis through a corner that rests."""
    ground = still(gc.shapes.box((4, 4, 1)), [0, 0, -0.5])
    rest = gc.pluecker.translate(still(BOX, [0, 0, 2]), ground, [0, 0, -3], backend=backend.kind)
    box = gc.Bodies(BOX, None, rest.poses, rest.poses)
    zone = 2 * rest.expel
    assert rotate(box, ground, 0.0, [0, 1, 0], [0, 0, 0], expel=zone, backend=backend.kind).fraction[0] == 1
    spun = rotate(box, ground, 1.0, [0, 0, 1], [0.3, 0.1, 0], expel=zone, backend=backend.kind)
    assert spun.status[0] == gc.Status.MISS, "about its own normal it slides"
    tipped = rotate(box, ground, 1.0, [0, 1, 0], [0.5, 0, 0], expel=zone, backend=backend.kind)
    assert tipped.status[0] == gc.Status.HIT and tipped.fraction[0] < 1e-6, (
        "the far edge would go through the ground"
    )


def test_a_sheet_is_met_from_the_side_that_a_turn_comes_to(backend):
    """A point that goes through the plane of a sheet beside it, and comes back where the sheet is."""
    sheet = gc.Mesh([[2, -1, 1], [4, -1, 1], [4, 1, 1], [2, 1, 1]], [[0, 1, 2, 3]], two_sided=True)
    turn = np.pi - np.arcsin(1 / np.hypot(2.7, 0.9)) - np.arctan(0.9 / 2.7)
    for name in (backend.kind, "reference"):
        found = rotate([[-2.7, 0, 0.9]], still(sheet, [0, 0, 0]), 3.1, [0, 1, 0], [0, 0, 0], backend=name)
        assert found.kind[0] == Touch.VF and abs(found.fraction[0] * 3.1 - turn) < 1e-9
        assert np.array_equal(found.normal[0], [0, 0, 1]), "it comes from above, where it did not start"
