"""CommonRoad scenarios (with the package commonroad-io, extra ``traffic``) as tables of vehicles."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, FloatArray

__all__ = ["read_commonroad"]


def read_commonroad(path: str) -> dict[str, Array]:
    """Columns of a table, as `Recording.from_table` takes them, of all obstacles of a scenario.

    Static obstacles have a row at every time of the scenario. What is no rectangle counts as the box around
    it that heads as the obstacle does. Roads, and obstacles of the environment such as buildings, are not
    read.

    Raises
    ------
    MissingExtraError
        commonroad-io is not installed.
    ValueError
        The file is no scenario, or has an obstacle whose place is a set.
    """
    try:
        from commonroad.common.file_reader import CommonRoadFileReader
    except ImportError as error:
        raise MissingExtraError("reading CommonRoad scenarios", "commonroad-io", "traffic") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about roads, and versions of the format
            scenario, _ = CommonRoadFileReader(path).open()
    except Exception as error:
        raise ValueError(f"path: cannot read a CommonRoad scenario from {path!r}: {error!r}") from error
    moving = {obstacle.obstacle_id: _steps(obstacle) for obstacle in scenario.dynamic_obstacles}
    ends = [(steps.start, steps.stop) for steps in moving.values()] or [(0, 2)]
    every = range(min(first for first, _ in ends), max(stop for _, stop in ends))
    rows = [
        (obstacle.obstacle_id, step * scenario.dt, *_box(obstacle, step, path))
        for obstacle in (*scenario.dynamic_obstacles, *scenario.static_obstacles)
        for step in moving.get(obstacle.obstacle_id, every)
    ]
    names = ("id", "time", "x", "y", "yaw", "length", "width")
    columns = [np.array(values) for values in zip(*rows, strict=True)] or [np.zeros(0)] * len(names)
    return dict(zip(names, columns, strict=True))


def _steps(obstacle: Any) -> range:
    """Numbers of the times at which a dynamic obstacle is there."""
    first = obstacle.initial_state.time_step
    prediction = obstacle.prediction
    return range(first, 1 + (first if prediction is None else prediction.final_time_step))


def _box(obstacle: Any, step: int, path: str) -> tuple[float, ...]:
    """x, y, yaw, length and width of an obstacle at a time."""
    state: Any = None
    if not type(getattr(obstacle, "prediction", None)).__name__.startswith("SetBased"):
        state = obstacle.state_at_time(step)
    place = np.asarray(getattr(state, "position", None))
    if place.shape != (2,) or not np.isscalar(getattr(state, "orientation", None)):
        raise ValueError(
            f"path: {path} has obstacle {obstacle.obstacle_id} at step {step}, of which it tells a set of "
            "places or none; only states that are known can be read"
        )
    occupied = obstacle.occupancy_at_time(step)
    shape = getattr(occupied, "shape", occupied)  # until 2025 it was a part of an occupancy
    yaw = float(getattr(shape, "orientation", state.orientation))
    corners = _corners(shape.shapely_object)
    ahead = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    own = (corners - place) @ ahead
    low, high = own.min(axis=0), own.max(axis=0)
    x, y = place + ahead @ (0.5 * (low + high))
    size = high - low
    if hasattr(shape, "radius"):
        size = np.full(2, 2.0 * shape.radius)
    elif hasattr(shape, "length") and hasattr(shape, "width"):
        size = np.array([shape.length, shape.width])
    return float(x), float(y), yaw, float(size[0]), float(size[1])


def _corners(geometry: Any) -> FloatArray:
    """Corners (k, 2) of a geometry of shapely, or of all its parts."""
    import shapely

    return np.asarray(shapely.get_coordinates(geometry), np.float64)
