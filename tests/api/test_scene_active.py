"""Bodies of a scene switched on and off: off, they are as if they were not there, whatever is asked."""

import copy
import pickle

import numpy as np
import pytest

import gpu_collide as gc

BOX = gc.shapes.box()
#: On a line, each overlaps the next.
PLACES = np.c_[0.75 * np.arange(6), np.zeros((6, 2))]
QUAT = np.tile([1.0, 0, 0, 0], (6, 1))


def scene(backend, **rules):
    return gc.Scene(BOX, None, (PLACES, QUAT), still_pairs=True, backend=backend.kind, **rules)


def numbered(rows, which):
    """Pairs or bodies of a scene of these bodies alone, by their numbers in the whole one."""
    return np.asarray(which)[rows].tolist()


@pytest.mark.parametrize("rules", [{}, {"group": [1, 2, 3, 1, 1, 1], "mask": [3, 3, 1, 1 << 31, -1, 1]}])
def test_what_is_off_is_not_there(rules, backend):
    start, way = np.c_[PLACES[:, 0], np.zeros(6), np.full(6, 3.0)], [0, 0, -6.0]
    with scene(backend, **rules) as whole:
        for on in ([0, 1, 2, 3, 4, 5], [0, 2, 3, 5], [4], [], [1, 2], [0, 1, 2, 3, 4, 5]):
            whole.set_active(np.arange(6), False)
            whole.set_active(on, True)
            assert np.flatnonzero(whole.active).tolist() == on
            kept = {name: np.asarray(bits)[on] for name, bits in rules.items()}
            poses = PLACES[on], QUAT[on]
            with gc.Scene(
                BOX, np.zeros(len(on), int), poses, still_pairs=True, backend=backend.kind, **kept
            ) as rest:
                assert whole.find_pairs().tolist() == numbered(rest.find_pairs(), on)
                a, b = whole.collide(), rest.collide()
                assert a.pairs.tolist() == numbered(b.pairs, on) and a.status.tolist() == b.status.tolist()
                a, b = (gc.sweep.spheres(start, way, 0.1, s) for s in (whole, rest))
                assert a.time.tobytes() == b.time.tobytes() and a.point.tobytes() == b.point.tobytes()
                assert a.body[a.hit].tolist() == numbered(b.body[b.hit], on)
                a, b = (
                    gc.sweep.slide(s, start, [0.2, 0.2, 0.2], way, gravity=[0, 0, -1]) for s in (whole, rest)
                )
                assert a.position.tobytes() == b.position.tobytes()
                a, b = (gc.pluecker.translate(start, s, way) for s in (whole, rest))
                assert a.fraction.tobytes() == b.fraction.tobytes()


def test_bodies_join_and_leave_from_step_to_step(backend):
    """The steps of a simulation, with new poses between; on again, it is where it has been moved to."""
    with scene(backend) as whole:
        assert len(whole.find_pairs()) == 5
        whole.set_active(2, False)
        whole.step((PLACES + [0, 0.25, 0], QUAT))
        assert whole.find_pairs().tolist() == [[0, 1], [3, 4], [4, 5]]
        whole.set_active([2, 5], [True, False])
        assert whole.find_pairs().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
        found = gc.sweep.rays([1.5, 0.5, 3], [0, 0, -9], whole, mask=1)
        assert found.body.tolist() == [2]
        assert len(whole.collide([[4, 5]])) == len(gc.collide(whole.bodies, [[4, 5]], backend=backend.kind))


def test_copies_know_what_is_off(backend):
    with scene(backend, mask=[1, 1, 1, 0, 1, 1]) as whole:
        whole.set_active([0, 3], False)
        for other in (copy.copy(whole), pickle.loads(pickle.dumps(whole))):
            with other:
                assert other.active.tolist() == whole.active.tolist()
                assert other.find_pairs().tolist() == whole.find_pairs().tolist()
                other.set_active([0, 3])
                assert other.rules.mask.tolist() == [1, 1, 1, 0, 1, 1]


def test_a_body_without_bits_turns_unseen(backend):
    """What meets nothing cuts nobody's step, and is no body that turns."""
    turned = gc.Poses.from_quat_wxyz([[0, 0, 0]], [[0, 0, 0, 1.0]])
    with gc.Scene(BOX, None, gc.Poses.identity(1), turned, mask=[0], backend=backend.kind) as whole:
        assert not gc.sweep.rays([0, 0, 3], [0, 0, -3], whole).hit[0]
    with gc.Scene(BOX, None, gc.Poses.identity(1), turned, backend=backend.kind) as whole:
        with pytest.raises(ValueError, match="turn"):
            gc.sweep.rays([0, 0, 3], [0, 0, -3], whole)
        whole.set_active(0, False)
        assert not gc.sweep.rays([0, 0, 3], [0, 0, -3], whole).hit[0]


@pytest.mark.parametrize(
    ("bodies", "active", "error", "text"),
    [
        (6, True, ValueError, "bodies: expected indices from 0 to 5, got 6"),
        ([[1, 2]], True, ValueError, r"bodies: expected a number or shape \(k,\), got \(1, 2\)"),
        ([True] * 6, True, TypeError, "bodies: expected integers, got bool"),
        ([1, 2], 1, TypeError, "active: expected bool, got int64"),
        ([1, 2], [True], ValueError, r"active: expected a bool or shape \(2,\), got \(1,\)"),
    ],
)
def test_what_is_no_switch_is_refused(bodies, active, error, text, backend):
    with scene(backend) as whole:
        with pytest.raises(error, match=text):
            whole.set_active(bodies, active)
        assert whole.active.all() and not whole.active.flags.writeable
    with pytest.raises(ValueError, match="closed"):
        whole.set_active(0)
