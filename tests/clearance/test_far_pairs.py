"""Pairs that planes between hulls prove to stay farther apart than `max_distance`: c01_clearance has none of
them to look at (docs/decisions/0112)."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.pipeline import clearance
from gpu_collide.queries.clearance_arguments import Asked
from gpu_collide.queries.engine import engine_on
from gpu_collide.results.clearance import CLEARANCE_ROWS
from tests.broad_phase import _near
from tests.clearance._families import BOX, FAMILIES, ONE, TRAY, random, scene, spins
from tests.support.seeds import generator

EVERY = {**FAMILIES, "spins": spins}
MISS, HIT = gc.Status.MISS, gc.Status.HIT


@pytest.fixture
def near(monkeypatch):
    """Which pairs each look leaves for c01_clearance, (n,) bool."""
    looks, find = [], clearance.find_near

    def noted(x):
        looks.append(find(x))
        return looks[-1]

    monkeypatch.setattr(clearance, "find_near", noted)
    return looks


def sizes(bodies, pairs):
    return np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]].max(axis=1)


def both_motions(name):
    return ["body"] if name == "spins" else ["relative", "body"]


CASES = [(name, motion) for name in EVERY for motion in both_motions(name)]


@pytest.mark.parametrize("name, motion", CASES)
def test_what_is_proved_is_farther_by_the_search_too(name, motion, near):
    """Limits of each pair from its own distance down to a millionth of its size below, and above it."""
    rng = generator(list(EVERY).index(name), motion == "body")
    bodies, pairs = EVERY[name](rng, 60)
    whole, size = gc.clearance(bodies, pairs, motion=motion, backend="cpu"), sizes(bodies, pairs)
    off = size * 10.0 ** rng.uniform(-6.0, 1.0, len(pairs)) * rng.choice([-1.0, -1.0, -1.0, 1.0], len(pairs))
    limit = np.maximum(whole.distance + off, 0.0)
    limit[::7] = np.inf
    some = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend="cpu")
    apart = ~near[0]
    assert not apart[::7].any()
    assert (whole.lower_bound[apart] > limit[apart]).all()
    assert (some.lower_bound[apart] == limit[apart]).all()
    assert (some.status[apart] == MISS).all() and (some.time[apart] == np.inf).all()
    # nothing of the others has changed
    told = np.isfinite(some.distance)
    far = ~told & (some.status == MISS)
    assert (some.status[~far] == whole.status[~far]).all()
    assert (some.lower_bound[far] >= limit[far] - 1e-9 * size[far]).all()
    assert (
        np.abs(some.distance - whole.distance)[told] <= 1.1e-9 * size[told] * (name != "speck") + 1e-9
    ).all()


@pytest.mark.parametrize("name, motion", CASES)
def test_the_others_have_the_bits_of_the_search_alone(name, motion, near, monkeypatch):
    bodies, pairs = EVERY[name](generator(list(EVERY).index(name), motion == "body", 1), 30)
    limit = 0.3 * float(sizes(bodies, pairs).max())
    found = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend="cpu")
    with monkeypatch.context() as m:
        m.setattr(
            clearance, "find_near", lambda x: clearance.find_motion(x, True) and np.ones(x.pairs.n, bool)
        )
        alone = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend="cpu")
    for field in CLEARANCE_ROWS:
        one, other = (getattr(each, field) for each in (found, alone))
        if field == "lower_bound":  # the search stops within the tolerance of the limit
            one, other = one[near[0]], other[near[0]]
        assert one.tobytes() == other.tobytes(), field


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 3.0])
def test_bits_are_those_of_every_backend(share, motion, backend):
    """Where a plane is not found by one device, the bound is another one."""
    for k, meshes in enumerate(
        ([BOX, TRAY, gc.shapes.torus(), gc.shapes.icosphere(1)], [gc.shapes.car()], None)
    ):
        bodies, pairs = random(generator(k), 40, meshes)
        limit = share * sizes(bodies, pairs)
        limit[::5] = np.inf
        one = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend="cpu")
        other = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend=backend.kind)
        for field in CLEARANCE_ROWS:
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), field


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_planes_are_the_same_for_groups_of_many_work_items(motion, near):
    """Of equally low vertices, which boxes and spheres have many of, the first is taken."""
    try:
        get_backend("opencl")
        from gpu_collide.backends.opencl import OpenclBackend
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    bodies, pairs = random(generator(9), 60, [BOX, gc.shapes.torus(), gc.shapes.icosphere(2)], scale=2.0)
    whole = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
    asked = Asked(1e-9, whole.distance * 0.97, None)
    found = []
    for backend in (get_backend("cpu"), OpenclBackend(group_size=8)):
        engine = engine_on(backend, Options.checked(motion=motion, backend=backend.kind))
        near.clear()
        found.append((engine.clearance(bodies, pairs, asked)[0], near[0]))
    assert found[0][1].tolist() == found[1][1].tolist() and not found[0][1].all()
    for field in CLEARANCE_ROWS:
        assert found[0][0][field].tobytes() == found[1][0][field].tobytes(), field


def passing(gap, turn=None, mesh=BOX, other=BOX, scale=1.0, offset=0.0):
    """A body that goes past another along x, `gap` above it."""
    top, bottom = np.max(mesh.vertices[:, 2]), np.min(other.vertices[:, 2])
    p0 = scale * np.array([[0.0, 0, 0], [-3.0, 0.1, top - bottom + gap]]) + offset
    q = np.array([ONE, ONE if turn is None else turn])
    p1 = p0 + scale * np.array([[0.0, 0, 0], [6.0, 0, 0]])
    return scene([mesh.scaled(scale), other.scaled(scale)], [0, 1], p0, q, p1, q)


@pytest.mark.parametrize("motion", ["relative", "body"])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("gap", [0.5, 1.0, 3.0])
def test_parallel_faces_by_a_hair(gap, scale, motion, backend):
    """The gap stays what it is during the whole step; it is the limit, or a billionth or more beside it."""
    bodies, pairs = passing(gap, scale=scale)
    size = float(sizes(bodies, pairs)[0])
    for hair in (0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2):
        for side in (1.0, -1.0):
            limit = scale * gap * (1.0 + side * hair)
            found = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend=backend.kind)
            assert found.status[0] == MISS
            assert found.lower_bound[0] <= scale * gap * (1 + 1e-15)
            off = limit - scale * gap
            if off < -2e-9 * size:
                assert (found.distance[0], found.kind[0]) == (np.inf, gc.Kind.NONE)
                assert limit - 1e-9 * size <= found.lower_bound[0] <= limit
            elif off > 2e-9 * size:
                assert found.distance[0] == pytest.approx(scale * gap, abs=1e-13 * size)


@pytest.mark.parametrize("limit, told", [(0.99, False), (1.0, None), (1.01, True)])
def test_whole_numbers(limit, told, near, backend):
    """Boxes on a grid that go by whole numbers: gaps of exactly one."""
    place = np.array([[0, 0, 0], [2, -3, 0], [0, 0, 0], [2, 1, 1], [0, 0, 0], [-2, 0, 0]], float)
    way = np.array([[0, 0, 0], [0, 6, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]], float)
    turn = np.tile(ONE, (6, 1))
    bodies, pairs = scene([BOX], np.zeros(6, int), place, turn, place + way, turn)
    found = gc.clearance(bodies, pairs, max_distance=limit, backend=backend.kind)
    assert (found.lower_bound <= 1.0).all()
    if told is not None:
        assert np.isfinite(found.distance).tolist() == [told] * 3
        assert near[0].tolist() == [told] * 3
    if told:
        assert found.distance.tolist() == [1.0] * 3


SHAPES = {
    "boxes": (BOX, gc.shapes.box((3.0, 0.1, 0.02))),
    "open": (TRAY, _near.terrain(5)),
    "not convex": (gc.shapes.torus(), gc.shapes.l_block()),
    "tiny beside huge": (gc.shapes.icosphere(1).scaled(1e-3), gc.shapes.icosphere(2)),
    "thin": (gc.shapes.box((1.0, 1e-3, 1e-3)), gc.shapes.box((1.0, 1.0, 1e-6))),
}


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("shapes", SHAPES)
def test_shapes_that_pass_far_are_settled(shapes, scale, near, backend):
    """Whatever the meshes are, if they stay more than a little farther apart than the limit."""
    bodies, pairs = passing(0.5, None, *SHAPES[shapes], scale=scale)
    size = float(sizes(bodies, pairs)[0])
    for motion in ("relative", "body"):
        least = gc.clearance(bodies, pairs, motion=motion, backend=backend.kind).distance[0]
        for off in (-0.02, 0.02):
            near.clear()
            limit = least + off * size
            found = gc.clearance(bodies, pairs, max_distance=limit, motion=motion, backend=backend.kind)
            assert near[0].tolist() == [off > 0]
            if off > 0:
                assert found.distance[0] == pytest.approx(least, abs=1e-12 * size)
            else:
                assert (found.lower_bound[0], found.distance[0]) == (limit, np.inf)


def test_most_far_pairs_are_settled(near):
    for mesh in (BOX, gc.shapes.car(), gc.shapes.torus(), gc.shapes.icosphere(2)):
        bodies, pairs = random(generator(3), 300, [mesh], scale=2.0)
        for motion in ("relative", "body"):
            near.clear()
            found = gc.clearance(bodies, pairs, max_distance=0.1, motion=motion, backend="cpu")
            far = (found.status == MISS) & ~np.isfinite(found.distance)
            assert far.sum() > 50 and (~near[0]).sum() > 0.8 * far.sum()


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_motions_too_long_and_poses_that_are_none_keep_their_status(motion, backend):
    p0 = np.zeros((6, 3))
    p0[1::2] = [[3.0, 0, 0], [5.0, 0, 0], [np.nan, 0, 0]]
    p1 = p0.copy()
    p1[1] += [0.0, 1e12, 0.0]
    turn = np.tile(ONE, (6, 1))
    bodies, pairs = scene([BOX], np.zeros(6, int), p0, turn, p1, turn)
    with pytest.warns(RuntimeWarning):
        found = gc.clearance(bodies, pairs, max_distance=1.0, motion=motion, backend=backend.kind)
        whole = gc.clearance(bodies, pairs, motion=motion, backend=backend.kind)
    assert found.status.tolist() == [gc.Status.UNRESOLVED, MISS, gc.Status.INVALID_INPUT]
    assert found.status.tolist() == whole.status.tolist()
    assert found.lower_bound.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("name", ["meeting", "whole", "grazing", "resting", "sheets"])
def test_what_touches_is_found_with_no_distance_at_all(name, backend):
    """Once a limit of 0 left all that meet out, as MISS, and took a tenth of a second for a pair."""
    bodies, pairs = FAMILIES[name](generator(5), 20)
    for motion in ("relative", "body"):
        whole = gc.clearance(bodies, pairs, motion=motion, backend=backend.kind)
        found = gc.clearance(bodies, pairs, max_distance=0.0, motion=motion, backend=backend.kind)
        slow = gc.clearance(bodies, pairs[:2], max_distance=0.0, motion=motion, backend="reference")
        assert found.status.tolist() == whole.status.tolist()
        assert found.status[:2].tolist() == slow.status.tolist()
        assert (found.lower_bound == 0.0).all() and (slow.lower_bound == 0.0).all()


@pytest.mark.parametrize("precision", ["double", "single"])
def test_precisions(precision, near):
    for motion in ("relative", "body"):
        near.clear()
        bodies, pairs = random(generator(5), 60)
        whole = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
        limit = 0.9 * whole.distance
        found = gc.clearance(
            bodies, pairs, max_distance=limit, motion=motion, precision=precision, backend="cpu"
        )
        apart = ~near[0]
        assert apart.sum() > 10
        assert (found.lower_bound[apart] <= whole.distance[apart]).all()
