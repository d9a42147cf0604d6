"""Groups, masks and `ignore` of casts and characters: each is as if alone with the bodies that it meets."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend
from tests.sweep._scenes import BOX, FIELDS, crowd, quaternions, still

ALL = 0xFFFFFFFF
#: Bits that are easily taken for something else: none, all, the sign, as int32 and as uint32.
BITS = [0, 1, 2, 3, 4, ALL, ALL, -1, -1, 1 << 31, -(1 << 31), 0x7FFFFFFF]
BODIES, N = 7, 48


def meets(group, mask, ignore, body_group, body_mask):
    """(n, bodies) bool, by Python's own integers."""
    found = np.zeros((len(group), len(body_group)), bool)
    for i, body in np.ndindex(found.shape):
        both = (int(group[i]) & ALL) & (int(body_mask[body]) & ALL)
        back = (int(mask[i]) & ALL) & (int(body_group[body]) & ALL)
        found[i, body] = bool(both) and bool(back) and body != ignore[i]
    return found


class Case:
    """Casts with rules of their own in a crowd with groups and masks."""

    def __init__(self, seed, n=N, spread=1.0):
        self.world, self.start, self.path, rng = crowd(seed, n, bodies=BODIES)
        self.start = self.start * spread
        self.rules = {"group": rng.choice(BITS, n), "mask": rng.choice(BITS, n)}
        self.rules["ignore"] = rng.integers(-1, BODIES, n)
        self.bits = {"group": rng.choice(BITS, BODIES), "mask": rng.choice(BITS, BODIES)}
        self.meets = meets(*self.rules.values(), *self.bits.values())
        assert 0.15 < self.meets.mean() < 0.6
        self.radii, self.quat = rng.uniform(0.2, 0.8, (n, 3)), quaternions(rng, n)
        clusters = [gc.sweep.Cluster(rng.normal(size=(k, 3)), rng.uniform(0.1, 0.6, k)) for k in (1, 3)]
        which = rng.integers(0, 2, n)
        self.forms = {
            "rays": lambda w, i, **k: gc.sweep.rays(self.start[i], self.path[i], w, **k),
            "spheres": lambda w, i, **k: gc.sweep.spheres(
                self.start[i], self.path[i], self.radii[i, 0], w, **k
            ),
            "ellipsoids": lambda w, i, **k: gc.sweep.ellipsoids(
                self.start[i], self.path[i], self.radii[i], w, orientation=self.quat[i], **k
            ),
            "clusters": lambda w, i, **k: gc.sweep.clusters(
                (clusters, which[i]), self.start[i], self.path[i], w, orientation=self.quat[i], **k
            ),
            "planes": lambda w, i, **k: gc.sweep.planes(
                w, self.start[i], self.radii[i], 0.3, orientation=self.quat[i], **k
            ),
            "slide": lambda w, i, **k: gc.sweep.slide(
                w, self.start[i], self.radii[i], self.path[i], gravity=[0, 0, -0.5],
                orientation=self.quat[i], **k
            ),
        }  # fmt: skip

    def scene(self, **options):
        world = self.world
        return gc.Scene(world.meshes, world.shape, world.start, world.end, **self.bits, **options)

    def asked(self, name, backend, **options):
        with self.scene(backend=backend.kind) as scene:
            return self.forms[name](scene, slice(None), **self.rules, **options)


def alone(case, name, i, backend, **options):
    """The answer to one of them among the bodies that it meets, and which these are."""
    which = np.flatnonzero(case.meets[i])
    return case.forms[name](case.world.take(which), slice(i, i + 1), backend=backend.kind, **options), which


def columns(result, names, i):
    """Rows of one query; bodies are left as they are."""
    begin, end = result.offsets[i : i + 2]
    return {name: getattr(result, name)[begin:end] for name in names}


@pytest.mark.backends("opencl", "cuda")
def test_backends_have_the_same_bits(backend):
    case = Case(5)
    for name in case.forms:
        for more in [{}] if name in ("planes", "slide") else [{"hits": h} for h in ("first", "all", "any")]:
            one, other = (case.asked(name, get_backend(b), **more) for b in ("cpu", backend.kind))
            for key, value in vars(one).items():
                if isinstance(value, np.ndarray):
                    assert value.tobytes() == getattr(other, key).tobytes(), (name, more, key)


@pytest.mark.parametrize("hits", ["first", "all"])
@pytest.mark.parametrize("name", ["rays", "spheres", "ellipsoids", "clusters"])
@pytest.mark.shared_bits("tests/sweep/test_cast_rules.py")
def test_casts_are_as_if_alone_with_what_they_meet(name, hits, backend):
    case = Case(5)
    found = case.asked(name, backend, hits=hits)
    names = [n for n in FIELDS if n not in ("offsets", "query", "body", "status")]
    hit = 0
    for i in range(N):
        one, which = alone(case, name, i, backend, hits=hits)
        mine = columns(found, (*names, "body"), i)
        for key, wanted in columns(one, names, 0).items():
            assert mine[key].tobytes() == wanted.tobytes(), (i, key)
        told = one.body >= 0
        assert mine["body"][told].tolist() == which[one.body[told]].tolist()
        assert case.meets[i, mine["body"][told]].all()
        hit += int(one.hit.any())
    assert 3 < hit < N


@pytest.mark.shared_bits("tests/sweep/test_cast_rules.py")
def test_any_hit_is_of_a_body_that_is_met(backend):
    case = Case(6, 200)
    found = case.asked("spheres", backend, hits="any")
    first = case.asked("spheres", backend)
    assert np.array_equal(found.hit, first.hit) and found.hit.any()
    rows = np.flatnonzero(found.hit)
    assert case.meets[rows, found.body[rows]].all()


@pytest.mark.shared_bits("tests/sweep/test_cast_rules.py")
def test_planes_are_of_bodies_that_are_met(backend):
    case = Case(7, spread=0.4)
    found = case.asked("planes", backend)
    names = ("feature", "face", "number", "normal", "gap", "point")
    for i in range(N):
        one, which = alone(case, "planes", i, backend)
        mine = columns(found, (*names, "body"), i)
        for key, wanted in columns(one, names, 0).items():
            assert mine[key].tobytes() == wanted.tobytes(), (i, key)
        assert mine["body"].tolist() == which[one.body].tolist()
    assert len(found.body) > 20


@pytest.mark.shared_bits("tests/sweep/test_cast_rules.py")
def test_characters_are_as_if_alone_with_what_they_meet(backend):
    case = Case(8)
    found = case.asked("slide", backend)
    names = ("status", "position", "velocity", "fall_velocity", "ground_normal", "casts")
    for i in range(N):
        one, which = alone(case, "slide", i, backend)
        for name in names:
            assert getattr(found, name)[i].tobytes() == getattr(one, name)[0].tobytes(), (i, name)
        ground = one.ground_body[0]
        assert found.ground_body[i] == (which[ground] if ground >= 0 else -1)
    assert (found.status == gc.Status.HIT).sum() > 5


@pytest.mark.parametrize("name", ["rays", "spheres", "ellipsoids", "clusters", "planes", "slide"])
@pytest.mark.shared_bits("tests/sweep/test_cast_rules.py")
def test_rules_are_those_of_the_reference(name, backend):
    case = Case(9, 12 if name == "slide" else 24, 0.8)
    found = case.asked(name, backend)
    with case.scene(backend="reference") as scene:
        wanted = case.forms[name](scene, slice(None), **case.rules)
    assert np.array_equal(found.status, wanted.status)
    whom = "ground_body" if name == "slide" else "body"
    assert np.array_equal(getattr(found, whom), getattr(wanted, whom))
    where = "position" if name == "slide" else "point"
    # worst seen 4e-14, of `slide`
    assert np.allclose(getattr(found, where), getattr(wanted, where), rtol=0, atol=1e-11)


def test_one_number_is_for_all_casts_and_bodies_in_no_scene_have_all_bits(backend):
    world = still(BOX, [[0, 0, 0], [0, 0, 4]])
    start, path = [[0, 0, 9], [0.25, 0, 9]], [0, 0, -18]

    def first(**rules):
        return gc.sweep.rays(start, path, world, backend=backend.kind, **rules).body.tolist()

    assert first() == [1, 1]
    assert first(group=1) == first(mask=1 << 31) == first(mask=-1) == first(group=ALL) == [1, 1]
    assert first(mask=0) == first(group=0) == first(group=[0, 0]) == [-1, -1]
    assert first(mask=[0, 1]) == [-1, 1]
    assert first(ignore=1) == first(ignore=np.array([1, 1], np.uint8)) == [0, 0]
    assert first(ignore=[-1, 1]) == [1, 0]
    assert first(group=[1, 1], mask=np.uint32(ALL), ignore=-1) == [1, 1]


def test_both_sides_must_agree(backend):
    """As in `find_pairs`, one direction is not enough."""
    here = gc.Poses.identity(1)
    table = [
        (1, 2, 2, 1, True),
        (1, 2, 2, 2, False),
        (1, 2, 1, 1, False),
        (3, 1, 1, 2, True),
        (0, ALL, ALL, ALL, False),
    ]
    for group, mask, body_group, body_mask, met in table:
        with gc.Scene(BOX, None, here, group=[body_group], mask=[body_mask], backend=backend.kind) as scene:
            found = gc.sweep.rays([0, 0, 3], [0, 0, -3], scene, group=group, mask=mask)
        assert bool(found.hit[0]) == met
        pair = gc.Bodies(BOX, None, *[gc.Poses.from_quat_wxyz(np.zeros((2, 3)), np.eye(4)[[0, 0]])] * 2)
        bits = {"group": [group, body_group], "mask": [mask, body_mask]}
        assert bool(len(gc.find_pairs(pair, still_pairs=True, backend=backend.kind, **bits))) == met


def test_a_bullet_leaves_its_shooter_in_whose_face_it_starts(backend):
    """Touching at the start, from a face, an edge, a corner and the middle: the shooter is passed, a twin at
    the same place is not."""
    world = still(BOX, [[0, 0, 0], [0, 0, 0], [5, 0, 0]])
    start = np.array([[0.5, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0.5], [0, 0, 0], [-0.5, 0, 0]])
    for radius in (0.0, 0.1, 0.5):
        found = gc.sweep.spheres(
            start, [9, 0, 0], radius, world, two_sided=True, ignore=0, backend=backend.kind
        )
        twin = gc.sweep.spheres(
            start, [9, 0, 0], radius, world.take([1, 2]), two_sided=True, backend=backend.kind
        )
        assert np.array_equal(found.body, np.where(twin.body < 0, -1, twin.body + 1))
        assert found.time.tobytes() == twin.time.tobytes()
    out = gc.sweep.rays(start[:4], [9, 0, 0], world.take([0, 2]), ignore=0, backend=backend.kind)
    assert out.body.tolist() == [1, 1, 1, 1] and (out.point[:, 0] == 4.5).all()


def test_who_is_carried_by_what_it_ignores_goes_along(backend):
    """`riding` is not a rule: also beside a body that turns, whose step it has cut."""
    half = 0.15
    quat = [[np.cos(half), 0, 0, np.sin(half)]]
    start, end = gc.Poses.identity(1), gc.Poses.from_quat_wxyz([[0.0, 0, 0.1]], quat)
    table = gc.Bodies(gc.shapes.box((6, 6, 1)), None, start, end)
    place, radii = [[2.0, 0, 1.2], [-2.0, 0.5, 3.0]], [0.3, 0.3, 0.6]
    how = {"turning": "chord", "skin": 0.01, "riding": [0, -1]}
    found = gc.sweep.slide(table, place, radii, [0, 0, 0], ignore=0, backend=backend.kind, **how)
    arc = [2 * np.cos(2 * half), 2 * np.sin(2 * half), 1.3]
    assert np.allclose(found.position[0], arc, atol=1e-12) and found.position[1].tolist() == place[1]
    assert not found.status.any()
    with gc.Scene(table.meshes, None, start, end, backend=backend.kind) as scene:
        free = gc.sweep.slide(scene, place, radii, [0, 0, 0], mask=[ALL, 0], **how)
    assert np.allclose(free.position[0], arc, atol=1e-3) and free.position[1].tolist() == place[1]


def test_what_is_not_met_cuts_no_step(backend):
    """A wheel that turns far, beside one who passes it: one piece, the bits of a world without it; and no
    error, however small the skin."""
    quat = [[1, 0, 0, 0], [np.cos(1.2), 0, 0, np.sin(1.2)]]
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [2, 0, 1.5]], [[1, 0, 0, 0]] * 2)
    end = gc.Poses.from_quat_wxyz(start.position, quat)
    world = gc.Bodies([gc.shapes.box((9, 9, 1)), BOX], [0, 1], start, end)
    how = {"gravity": [0, 0, -0.2], "turning": "chord", "backend": backend.kind}
    args = [0.0, 0, 1.2], [0.3, 0.3, 0.6], [1.0, 0, 0]
    with pytest.raises(ValueError, match="64 pieces"):
        gc.sweep.slide(world, *args, skin=1e-5, **how)
    found = gc.sweep.slide(world, *args, skin=1e-5, ignore=1, **how)
    bare = gc.sweep.slide(world.take([0]), *args, skin=1e-5, **how)
    assert found.info["pieces"] == 1
    for name in ("position", "velocity", "fall_velocity", "ground_normal", "ground_body", "casts", "status"):
        assert getattr(found, name).tobytes() == getattr(bare, name).tobytes()


@pytest.mark.parametrize(
    ("rules", "error", "text"),
    [
        ({"ignore": 2}, ValueError, "ignore: expected bodies from 0 to 1, or -1, got 2"),
        ({"ignore": [0, -2]}, ValueError, "ignore: expected bodies from 0 to 1, or -1, got -2"),
        ({"ignore": [[0, 1]]}, ValueError, r"ignore: expected a number, or shape \(2,\), got \(1, 2\)"),
        ({"ignore": [True, False]}, TypeError, "ignore: expected integers, got bool"),
        ({"group": [1, 2, 3]}, ValueError, r"group: expected a number, or shape \(2,\), got \(3,\)"),
        ({"group": 1.0}, TypeError, "group: expected integers, got float64"),
        ({"mask": 1 << 32}, ValueError, "mask: expected 32 bits a cast, a number from 0 to 4294967295"),
        ({"mask": [0, -(1 << 31) - 1]}, ValueError, "mask: expected 32 bits a cast"),
    ],
)
def test_what_are_no_rules_is_refused(rules, error, text, backend):
    world = still(BOX, [[0, 0, 0], [0, 0, 4]])
    start, way = np.zeros((2, 3)), [0, 0, 1.0]
    with pytest.raises(error, match=text):
        gc.sweep.rays(start, way, world, backend=backend.kind, **rules)
    with pytest.raises(error, match=text):
        gc.sweep.slide(world, start, [1, 1, 1], way, backend=backend.kind, **rules)
    with pytest.raises(error, match=text):
        gc.sweep.planes(world, start, [1, 1, 1], 0.1, backend=backend.kind, **rules)
