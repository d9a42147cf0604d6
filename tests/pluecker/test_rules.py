"""Movers in a scene with rules: whom each may meet, against the same asked body by body."""

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

N, BODIES = 60, 24


def poses(rng, n, size):
    quat = rng.normal(size=(n, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    return gc.Poses.from_quat_wxyz(rng.uniform(-size, size, (n, 3)), quat)


class Case:
    """Boxes in several worlds at one place, with groups, masks and pairs to ignore."""

    def __init__(self, backend, seed=4, without=(), n=N):
        rng = np.random.default_rng(seed)
        self.still = poses(rng, BODIES, 2.5)
        ignore = rng.integers(0, BODIES, (30, 2))
        self.rules = {
            "world": rng.choice([-1, 0, 3, 5_000_000_000], BODIES, p=[0.1, 0.3, 0.3, 0.3]),
            "group": rng.integers(1, 4, BODIES),
            "mask": rng.integers(1, 4, BODIES),
            "ignore": ignore[np.ptp(ignore, axis=1) > 0],
        }
        rules = {name: value for name, value in self.rules.items() if name not in without}
        shape = np.zeros(BODIES, int)
        self.scene = gc.Scene(gc.shapes.box(), shape, self.still, backend=backend, **rules)
        start = poses(rng, n, 3.0)
        self.movers = gc.Bodies(gc.shapes.box((0.5, 0.4, 0.3)), None, start, start)
        self.way = rng.normal(size=(n, 3)) * 4
        self.own = np.where(rng.uniform(size=n) < 0.6, rng.integers(0, BODIES, n), -1)
        self.number = rng.choice([-1, 0, 3, 5_000_000_000, 7], n)

    def may(self, i, body, number, own):
        """May mover i meet this body?"""
        rules, mine = self.rules, own[i]
        if body == mine or (
            -1 not in (number[i], rules["world"][body]) and number[i] != rules["world"][body]
        ):
            return False
        if mine < 0:
            return True
        group, mask, never = rules["group"], rules["mask"], rules["ignore"].tolist()
        one = group[mine] & mask[body] and mask[mine] & group[body]
        return bool(one) and [mine, body] not in never and [body, mine] not in never

    def check(self, found, number, own, alone):
        """The first of what may be met, of all answers of bodies by themselves."""
        met, n = 0, len(self.movers)
        for i in range(n):
            rows = [i * BODIES + b for b in range(BODIES) if self.may(i, b, number, own)]
            hit = [r for r in rows if alone.kind[r]]
            best = min(hit, key=lambda r: (alone.fraction[r], alone.kind[r]), default=None)
            met += bool(hit)
            assert found.body[i] == (-1 if best is None else alone.body[best]), i
            assert found.fraction[i] == (1 if best is None else alone.fraction[best])
        assert n / 6 < met < n - n / 12


@pytest.mark.parametrize("kind", ["kernels", "reference"])
def test_movers_meet_what_the_rules_of_a_scene_let_them(backend, kind):
    if kind == "reference" and backend.kind != "cpu":
        pytest.skip("the reference is asked once")
    n = 36 if kind == "reference" else N
    case = Case("reference" if kind == "reference" else backend.kind, n=n)
    rows = np.stack(np.meshgrid(np.arange(n), np.arange(BODIES), indexing="ij"), -1).reshape(-1, 2)
    ask = case.movers, case.scene, case.way
    how = {"expel": 1e-9}
    alone = gc.pluecker.translate(*ask, pairs=rows, **how)
    # as bodies of the scene in another world than theirs, and in their own
    both = gc.pluecker.translate(*ask, exclude_body=case.own, world=case.number, **how)
    case.check(both, case.number, case.own, alone)
    own = np.where(case.own < 0, 3, case.own)
    number = case.rules["world"][own]
    case.check(gc.pluecker.translate(*ask, exclude_body=own, **how), number, own, alone)
    points = gc.pluecker.contacts(case.movers, case.scene, 0.5, exclude_body=own)
    met = {(int(i), int(b)) for i, b in zip(points.mover, points.body, strict=True)}
    assert met and all(case.may(i, b, number, own) for i, b in met)
    if kind == "reference":
        return
    inside = gc.pluecker.translate(*ask, exclude_body=own, check_start=True, **how).status
    begun = gc.pluecker.translate(*ask, pairs=rows, check_start=True, **how).status.reshape(N, BODIES)
    begun = begun == gc.Status.INITIAL_OVERLAP
    want = [any(begun[i, b] and case.may(i, b, number, own) for b in range(BODIES)) for i in range(N)]
    assert np.array_equal(inside == gc.Status.INITIAL_OVERLAP, want)
    assert 0 < sum(want) < begun.any(1).sum()


def test_one_number_is_for_all_and_a_world_without_rules_needs_none(backend):
    case = Case(backend.kind)
    ask = case.movers, case.scene, case.way
    each = gc.pluecker.translate(*ask, world=np.full(N, 3))
    assert np.array_equal(gc.pluecker.translate(*ask, world=3).fraction, each.fraction)
    everywhere = gc.pluecker.translate(*ask, world=-1)
    plain = gc.Bodies(gc.shapes.box(), np.zeros(BODIES, int), case.still, case.still)
    plain = gc.pluecker.translate(case.movers, plain, case.way, backend=backend.kind)
    assert np.array_equal(everywhere.fraction, plain.fraction) and (each.fraction > plain.fraction).any()


def test_bad_numbers_are_refused():
    case = Case("cpu")
    ask = case.movers, case.scene, case.way
    move = gc.pluecker.translate
    with pytest.raises(ValueError, match="world: expected the world's number of each mover.*pass world"):
        move(*ask)
    with pytest.raises(ValueError, match="world: expected the world's number"):
        gc.pluecker.contacts(case.movers, case.scene, exclude_body=case.own)
    for bad in (np.zeros(3, int), -2, np.full(N, -2)):
        with pytest.raises(ValueError, match="world"):
            move(*ask, world=bad)
    with pytest.raises(TypeError, match="world"):
        move(*ask, world="all")
    with pytest.raises(ValueError, match="world: expected nothing when pairs"):
        move(*ask, world=0, pairs=[[0, 0]])
    no_worlds = Case("cpu", without=("world",)).scene
    with pytest.raises(ValueError, match="world: expected nothing where"):
        move(case.movers, no_worlds, case.way, world=0)
    assert len(move(case.movers, no_worlds, case.way, exclude_body=case.own)) == N
