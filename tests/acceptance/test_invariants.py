"""What holds of every result: the check sees every fault that is put into a sound result."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.engine import Pipeline
from gpu_collide.results import invariants
from tests.acceptance import matrix


@pytest.fixture(scope="module")
def sound():
    """A result with contacts of every kind, lasting ones and first ones, of bodies that both move."""
    scene = matrix.make("random_cars", 60)
    bodies = scene.bodies()
    found = gc.collide(bodies, scene.pairs, backend="cpu", min_properness=-1.0)
    assert len(found) > 500 and len(np.unique(found.kind)) == 3
    assert not invariants.violations(found, bodies, min_properness=-1.0)
    return found, bodies


def row_of(found, kind):
    return int(np.flatnonzero((found.kind == kind) & (found.time > 0.01) & (found.time < 0.99))[3])


def put(name, value, kind=gc.Kind.FV, add=False):
    def change(found):
        array = getattr(found, name).copy()
        k = row_of(found, kind)
        array[k] = array[k] + value if add else value
        return {name: array}

    return change


def swapped(found):
    """Two contacts of one pair change places."""
    k = int(np.flatnonzero((np.diff(found.pair) == 0) & (np.diff(found.time) > 0))[0])
    order = np.arange(len(found))
    order[[k, k + 1]] = k + 1, k
    fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    names = [name for name, value in fields.items() if value is not None and len(value) == len(found)]
    return {n: getattr(found, n)[order] for n in names if n not in ("status", "toi", "pairs")}


def shifted(found):
    start = found.contact_start.copy()
    k = int(np.flatnonzero(np.diff(start))[0])
    start[k + 1] -= 1
    return {"contact_start": start}


def other_status(value):
    def change(found):
        status = found.status.copy()
        status[found.pair[0]] = value
        return {"status": status}

    return change


def late_toi(found):
    toi = found.toi.copy()
    toi[found.pair[0]] += 1e-16
    toi[found.pair[0]] = np.nextafter(toi[found.pair[0]], 2)
    return {"toi": toi}


def turned_normal(found):
    """A normal with its sign changed: from B to A."""
    normal = found.normal.copy()
    normal[row_of(found, gc.Kind.VF)] *= -1
    return {"normal": normal}


def ended(found):
    """Lasting until later, but not marked so."""
    end = found.time_end.copy()
    end[row_of(found, gc.Kind.FV)] += 1e-3
    return {"time_end": end}


FV, VF, EE = gc.Kind.FV, gc.Kind.VF, gc.Kind.EE
FAULTS = {
    "a normal": (put("normal", 1e-9, add=True), "no unit vector"),
    "a normal of half": (put("normal", [0.5, 0, 0], EE), "no unit vector"),
    "a turned normal": (turned_normal, "not that of its face"),
    "nan": (put("position", np.nan), "not finite"),
    "infinite": (put("normal_speed", np.inf), "not finite"),
    "a face that is none": (put("feature_a", 14), "no feature of its mesh"),
    "a negative vertex": (put("feature_b", -1), "no feature of its mesh"),
    "another face": (put("feature_a", 3, FV), "off its feature"),
    "another edge": (put("feature_b", 25, EE), "off its feature"),
    "a kind": (put("kind", 6), "kind that does not exist"),
    "properness": (put("properness", 1 + 1e-9), "outside [-1, 1]"),
    "ended": (ended, "does not last"),
    "position": (put("position", 1e-8, add=True), "position"),
    "local_a": (put("local_a", 1e-8, FV, add=True), "local_a"),
    "local_b of a vertex": (put("local_b", 1e-8, FV, add=True), "local_b"),
    "local_a of an edge": (put("local_a", 1e-8, EE, add=True), "local_"),
    "order": (swapped, "not ordered"),
    "start": (shifted, "pair and contact_start"),
    "miss": (other_status(gc.Status.MISS), "MISS with contacts"),
    "invalid": (other_status(gc.Status.INVALID_INPUT), "INVALID_INPUT with contacts"),
    "status 9": (other_status(9), "status that does not exist"),
    "toi": (late_toi, "toi"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_seen(fault, sound):
    found, bodies = sound
    change, sentence = FAULTS[fault]
    bad = invariants.violations(dataclasses.replace(found, **change(found)), bodies, min_properness=-1.0)
    assert any(sentence in line for line in bad), bad


def test_a_time_that_is_off_is_seen(sound):
    """A contact one millionth of the step late: its local points no longer meet."""
    found, bodies = sound
    time = found.time.copy()
    steep = np.abs(found.normal_speed) > 1
    time[steep] += 1e-6
    first = np.full(found.n_pairs, np.inf)
    np.minimum.at(first, found.pair, time)
    late = dataclasses.replace(found, time=time, time_end=np.maximum(time, found.time_end), toi=first)
    assert any("do not meet" in line for line in invariants.violations(late, bodies, min_properness=-1.0))


def test_a_contact_below_the_threshold_is_seen(sound):
    found, bodies = sound
    assert any("below the threshold" in x for x in invariants.violations(found, bodies, min_properness=0.0))


def test_first_times_only(sound):
    found, bodies = sound
    bad = invariants.violations(found, bodies, min_properness=-1.0, contacts="first")
    assert any("a later time" in line for line in bad)


def test_the_switch_checks_what_collide_returns(sound, monkeypatch):
    """With GPU_COLLIDE_CHECK=1 a broken result does not leave `collide`; with 0 nothing is looked at."""
    found, bodies = sound
    bent = dataclasses.replace(found, **put("normal", [2.0, 0, 0])(found))
    monkeypatch.setattr(Pipeline, "collide", lambda *args, **more: bent)
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "1")
    with pytest.raises(AssertionError, match="no unit vector.*"):
        gc.collide(bodies, found.pairs, backend="cpu", min_properness=-1.0)
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")
    assert len(gc.collide(bodies, found.pairs, backend="cpu", min_properness=-1.0)) == len(found)


def test_an_empty_result_is_sound():
    bodies = gc.Bodies(gc.shapes.box(), None, gc.Poses.identity(2), gc.Poses.identity(2))
    found = gc.collide(bodies, np.zeros((0, 2), int), backend="cpu")
    assert not invariants.violations(found, bodies)
