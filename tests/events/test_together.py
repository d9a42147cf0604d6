"""Events of many recordings at once are those of each alone, to the bit."""

import numpy as np
import pytest

import gpu_collide as gc
from examples.traffic import town
from gpu_collide.results.events import TrafficEvents
from tests.events.test_events import drive


def same(one, other):
    for name in TrafficEvents._rows:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name
    assert one.id_a.tolist() == other.id_a.tolist() and one.id_b.tolist() == other.id_b.tolist()
    told = [{name: value for name, value in of.info.items() if name != "timings"} for of in (one, other)]
    assert told[0] == told[1]


def recordings():
    wall = gc.Bodies(gc.shapes.box((60.0, 1.0, 3.0)), None, *[gc.Poses.identity(1)] * 2)
    made = [gc.Recording.from_table(town(24, 4.0, side=90.0, seed=k)) for k in range(5)]
    made[1] = gc.Recording.from_table(town(12, 3.0, side=60.0, seed=7))  # on another clock
    made[3] = gc.Recording.from_table(town(24, 4.0, side=90.0, seed=3), static=wall)
    return [*made, drive((0, 0, 0, 10), (16, 0, np.pi, 5))]


@pytest.mark.parametrize("at_once", [1, 4, 16])
def test_bits_of_each_alone(at_once, backend):
    many = recordings()
    alone = [gc.events(recording, backend=backend.name) for recording in many]
    assert sum(map(len, alone)) > 30
    found = list(gc.events_of(iter(many), at_once=at_once, backend=backend.name))
    assert len(found) == len(many)
    for one, other in zip(alone, found, strict=True):
        same(one, other)


def test_no_more_are_held_than_are_asked_for_at_once():
    taken = []

    def given():
        for k in range(10):
            taken.append(k)
            yield drive((0, 0, 0, 10), (16, k, np.pi, 5), seconds=1.0)

    answers = gc.events_of(given(), at_once=3, backend="cpu")
    assert not taken
    next(answers)
    assert taken == [0, 1, 2]
    assert len(list(answers)) == 9


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"at_once": 0}, ValueError, "at_once"), ({"world": [0, 1]}, TypeError, "world"),
        ({"max_ttc": -1.0}, ValueError, "max_ttc"), ({"nonsense": 1}, TypeError, "nonsense"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_the_call(options, error, text):
    with pytest.raises(error, match=text):
        gc.events_of([], **options)


def test_what_is_no_recording_is_said_when_it_comes():
    with pytest.raises(TypeError, match=r"expected Recordings, got int; Recording.from_table"):
        next(gc.events_of([3]))


def test_one_recording_is_refused():
    with pytest.raises(TypeError, match="recordings: expected several Recordings, got int; pass a list"):
        gc.events_of(3)


def test_vehicles_that_are_in_no_step_are_named():
    rows = {"id": ["a", "a", "b"], "time": [0, 0.1, 0.1], "x": [0, 1, 2.0], "y": [0.0] * 3, "yaw": [0.0] * 3}
    once = gc.Recording.from_table(rows, length=4.0, width=2.0)
    with pytest.warns(RuntimeWarning, match="1 vehicle of 2 in no step.*first: b"):
        assert len(gc.events(once, backend="cpu")) == 0
    with pytest.warns(RuntimeWarning, match="2 vehicles of 4 in no step.*first: b of recording 0"):
        assert list(map(len, gc.events_of([once, once], backend="cpu"))) == [0, 0]


def test_pieces_of_a_prediction_do_not_depend_on_other_vehicles():
    """A vehicle that spins cuts the horizon of its own pairs into pieces, not those of others."""
    cars = [(0, 0, 0, 10), (25, 0, np.pi, 5)]
    alone = gc.events(drive(*cars, seconds=0.5), backend="cpu", max_ttc=3.0)
    beside = gc.events(drive(*cars, (500, 0, 0, 0, 9.0), seconds=0.5), backend="cpu", max_ttc=3.0)
    assert len(alone) == len(beside) == 1
    assert alone.ttc.tobytes() == beside.ttc.tobytes() and alone.ttc[0] < 1.5
