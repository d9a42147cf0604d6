"""Tables of vehicles that are refused: what is wrong is named, with the remedy."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.api._vehicles import rows, two_cars


@pytest.mark.parametrize(
    "change, options, kind, text",
    [
        ({}, {"id": "track"}, ValueError, "id: the table has no column 'track'; it has y, yaw, .* by id="),
        ({}, {"length": "l"}, ValueError, "length: .* say which by length= .or a number, for all"),
        ({}, {"x": 3}, TypeError, "x: expected the name of a column, got int"),
        ({"y": np.zeros(3)}, {}, ValueError, r"table: expected columns of one length.* y \(3,\)"),
        ({"time": np.array(["0"] * 4)}, {}, TypeError, "time: expected seconds as numbers, got <U1"),
        ({"time": np.array(["0"] * 4, object)}, {}, TypeError, "time: .* texts such as '0'"),
        (
            {"time": np.array(["2024-01-01"] * 4, "M8[ns]")}, {}, TypeError,
            r"time: expected seconds as numbers, got datetime64\[ns\]; with pandas: .*total_seconds",
        ),
        ({"time": [0, np.nan, 0, 0.2]}, {}, ValueError, "time: expected finite numbers.* first: 1"),
        ({"time": [0, 0, 0, 0.2]}, {}, ValueError, "one row of a body at a time.* first 'ego' at 0 s"),
        ({"id": np.array(["a", None, "b", "b"], object)}, {}, ValueError, "id: expected an id in each row"),
        ({"id": [1, np.nan, 2, 2]}, {}, ValueError, "id: expected an id in each row.* first: 1"),
        ({"id": np.array([1, "1", 2, 2], object)}, {}, ValueError, "id: expected ids that differ as text"),
        ({"id": [[1], [1], [2], [2]]}, {}, ValueError, "one row of a body at a time"),
        ({"width": [2.0, 2, 0, 2]}, {}, ValueError, "positive numbers.* first: 2 .4, 0, 1.5 of 'van'"),
        ({"width": [2.0, 2, np.nan, np.nan]}, {}, ValueError, "a size of each body.* 1 body.*'van'"),
        ({}, {"height": -1.0}, ValueError, "length, width, height: expected positive"),
        ({}, {"max_gap": 0.1}, ValueError, "max_gap: expected at least the 0.2 s.* got 0.1"),
        ({}, {"max_gap": 0}, ValueError, "max_gap: expected a positive number"),
        ({}, {"degrees": 1}, TypeError, "degrees: expected a bool"),
        ({}, {"shape": [0, 0]}, ValueError, "shape: expected None without meshes"),
        ({}, {"quat_wxyz": ["qw"]}, ValueError, "quat_wxyz: expected the names of four columns"),
        ({"ok": [0, 2, 1, 1]}, {"valid": "ok"}, TypeError, "valid: expected a column of True"),
        ({"yaw": np.array(["n"] * 4)}, {}, TypeError, "yaw: expected numbers, got <U1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_named(change, options, kind, text):
    with pytest.raises(kind, match="^(length, width, height: |table: )?(expected )?" + text):
        gc.Recording.from_table({**two_cars(), **change}, **options)


@pytest.mark.parametrize("wrong", [3, None, [1, 2], np.zeros(3)])
def test_a_table_is_asked_for(wrong):
    with pytest.raises(TypeError, match="^table: expected a table of pandas, pyarrow or polars"):
        gc.Recording.from_table(wrong)


def test_clocks_that_tell_nothing_ask_for_max_gap():
    """One body at 5 Hz beside one at 10 Hz; then a clock whose intervals have no measure."""
    fast, slow = 0.1 * np.arange(9), 0.2 * np.arange(5)
    table = rows(id=["a"] * 9 + ["b"] * 5, time=[*fast, *slow], x=np.zeros(14))
    with pytest.raises(
        ValueError, match="max_gap: .*1 body .first: 'b'. have a row every 0.2 s .* every 0.1 s"
    ):
        gc.Recording.from_table(table)
    assert gc.Recording.from_table(table, max_gap=0.25).there().all()
    times = np.cumsum(np.random.default_rng(1).exponential(0.1, 60))
    table = rows(id=["a"] * 60, time=times, x=np.zeros(60))
    with pytest.raises(ValueError, match="max_gap: .* too uneven to tell"):
        gc.Recording.from_table(table)
    assert gc.Recording.from_table(table, max_gap=10.0).there().all()
    even = np.cumsum(np.random.default_rng(1).uniform(0.09, 0.11, 60))
    assert gc.Recording.from_table(rows(id=["a"] * 60, time=even, x=np.zeros(60))).races == [(0, 60)]
