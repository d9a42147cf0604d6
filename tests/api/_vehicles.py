"""Tables of vehicles for tests: dicts of columns."""

import math

import numpy as np

CAR = {"length": 4.0, "width": 2.0, "height": 1.5}


def rows(**columns):
    """A table as a dict, sizes of a car where none are given."""
    table = {name: np.asarray(values) for name, values in columns.items()}
    n = len(table["x"])
    return {"y": np.zeros(n), "yaw": np.zeros(n), **{name: np.full(n, v) for name, v in CAR.items()}, **table}


def two_cars(ids=("ego", "van"), start=0.0):
    """Car one drives into car two, which stands across, 0.12 s after the start."""
    return rows(
        id=np.array([ids[0], ids[0], ids[1], ids[1]], object), time=start + np.array([0, 0.2, 0, 0.2]),
        x=[0, 5.0, 6, 6], yaw=[0, 0, math.pi / 2, math.pi / 2],
    )  # fmt: skip
