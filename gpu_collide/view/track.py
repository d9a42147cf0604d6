"""Picture of a recorded race: the track from above, the driven line, and the contacts on it (matplotlib)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from matplotlib.figure import Figure

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.recordings.recording import Recording
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

__all__ = ["plot_track", "up_axis"]

_INK, _LINE, _SKIPPED = "#22262b", "#3a76af", "#b3123f"
_LOW, _HIGH = np.array([0.78, 0.80, 0.83]), np.array([0.99, 0.985, 0.97])
_LIGHT = np.array([-0.45, 0.45, 0.77])  # from the upper left of the picture
_MARGIN = 0.06  # around the driven line, in sizes of the picture
_HALO = [withStroke(linewidth=3, foreground="white")]


def up_axis(static: Bodies | None, positions: Array) -> int:
    """The axis along which the scene is flattest: 0, 1 or 2.

    Parameters
    ----------
    static : Bodies or None
        What stands still; without it the driven line decides.
    positions : (t, n, 3) float
    """
    points = positions.reshape(-1, 3) if static is None else np.concatenate(list(_world_vertices(static)))
    points = points[np.isfinite(points).all(axis=1)]
    return int(np.argmin(np.ptp(points, axis=0))) if len(points) else 2


def plot_track(recording: Recording, found: TrajectoryContacts, *, up: int | None = None) -> Figure:
    """Draw a race from above.

    Parameters
    ----------
    recording : Recording
    found : TrajectoryContacts
        Its contacts.
    up : int, optional
        Axis that points up; default: see `up_axis`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    positions = recording.poses().position
    up = up_axis(recording.static, positions) if up is None else up
    flat = _Flat(positions, up, recording.static)
    low, high = flat.window
    size = high - low
    width = float(np.clip(7.2 * size[0] / size[1] + 1.6, 6.5, 13.0))
    figure, ax = plt.subplots(figsize=(width, float(np.clip((width - 1.6) * size[1] / size[0] + 0.9, 4, 10))),
                              layout="constrained")  # fmt: skip
    ax.set_aspect("equal")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    if recording.static is not None:
        _draw_ground(ax, recording.static, flat)
    _draw_line(ax, recording, positions, found, flat)
    _draw_contacts(figure, ax, found, flat)
    _scale_bar(ax, low, high)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("#c9ced4")
    return figure


class _Flat:
    """The plane of the picture: which axes, and what part of it is shown."""

    def __init__(self, positions: Array, up: int, static: Bodies | None = None) -> None:
        points = positions.reshape(-1, 3)
        points = points[np.isfinite(points).all(axis=1)]
        if static is not None and len(static) and (not len(points) or not np.ptp(points, axis=0).any()):
            points = np.concatenate([points, *_world_vertices(static)])  # nobody drives: the whole track
        if not len(points):
            points = np.zeros((1, 3))
        self.up = up
        right, top = (up + 1) % 3, (up + 2) % 3  # right x top = up: seen from above, not mirrored
        self.right, self.top = np.eye(3)[right], np.eye(3)[top]
        if np.ptp(points[:, top]) > np.ptp(points[:, right]):
            self.right, self.top = self.top, -self.right
        on = self(points)
        low, high = on.min(axis=0), on.max(axis=0)
        size = np.maximum(high - low, 0.25 * max((high - low).max(), 1e-9))
        half = (0.5 + _MARGIN) * size + 0.03 * size.max()
        self.window = 0.5 * (low + high) - half, 0.5 * (low + high) + half
        self.heights = points[:, up]

    def __call__(self, points: Array) -> Array:
        """Places (..., 2) in the picture of world points (..., 3)."""
        return np.stack([points @ self.right, points @ self.top], axis=-1)


def _world_vertices(static: Bodies) -> Iterator[Array]:
    for i, shape in enumerate(static.shape):
        yield static.start[i : i + 1].apply(static.meshes[shape].vertices)


def _draw_ground(ax: Any, static: Bodies, flat: _Flat) -> None:
    """Faces in the window, shaded by height and slope, the lower ones first."""
    low, high = flat.window
    for i, vertices in enumerate(_world_vertices(static)):
        mesh = static.meshes[static.shape[i]]
        places = flat(vertices)
        corners, first = places[mesh.face_vertices], mesh.face_start[:-1]
        meets = np.minimum.reduceat(corners, first) <= high
        meets &= np.maximum.reduceat(corners, first) >= low
        shown = np.flatnonzero(meets.all(axis=1))
        if not len(shown):
            continue
        loops = [mesh.face(f) for f in shown]
        height = np.array([vertices[loop, flat.up].mean() for loop in loops])
        normal = static.start[i : i + 1].apply(mesh.face_planes[shown, :3]) - static.start.position[i]
        normal *= np.sign(normal[:, flat.up] + 1e-300)[:, None]
        light = normal @ np.stack([flat.right, flat.top, np.eye(3)[flat.up]], axis=1) @ _LIGHT
        # Heights count where the race is driven: a mountain behind takes no part of the scale.
        bottom, top = np.quantile(flat.heights, [0.0, 1.0])
        share = np.clip((height - bottom) / max(top - bottom, 1e-9), 0, 1)[:, None]
        color = (_LOW + share * (_HIGH - _LOW)) * np.clip(0.62 + 0.5 * light, 0, 1)[:, None]
        order = np.argsort(height, kind="stable")
        ax.add_collection(
            PolyCollection(
                [places[loops[k]] for k in order],
                facecolors=np.clip(color[order], 0, 1),
                edgecolors=np.clip(0.9 * color[order], 0, 1),
                linewidths=0.15,
                zorder=1,
            )
        )


def _draw_line(
    ax: Any, recording: Recording, positions: Array, found: TrajectoryContacts, flat: _Flat
) -> None:
    """Driven lines, one for each body and race, with gaps where a step was skipped."""
    skipped = set(zip(found.skipped["step"].tolist(), found.skipped["body"].tolist(), strict=True))
    good: list[Array] = []
    jumps: list[Array] = []
    places = flat(positions)
    for first, stop in recording.races:
        for body in range(places.shape[1]):
            for k in range(first, stop - 1):
                (jumps if (k, body) in skipped else good).append(places[k : k + 2, body])
            if stop > first:
                ax.plot(*places[first, body], marker="o", ms=7, mfc="white", mec=_INK, mew=1.4, zorder=6)
    ax.add_collection(LineCollection(good, colors=_LINE, linewidths=1.1, alpha=0.9, zorder=4))
    ax.add_collection(
        LineCollection(jumps, colors=_SKIPPED, linewidths=1.3, linestyles=(0, (2, 1.5)), zorder=5)
    )
    keys = [
        Line2D([], [], color=_LINE, lw=1.5, label="driven"),
        Line2D([], [], marker="o", ls="", mfc="white", mec=_INK, ms=6, label="start"),
    ]
    if jumps:
        label = f"skipped: {', '.join(np.unique(found.skipped['reason']))}"
        keys.append(Line2D([], [], color=_SKIPPED, lw=1.5, ls=(0, (2, 1.5)), label=label))
    ax.legend(handles=keys, loc="upper left", frameon=True, framealpha=0.85, edgecolor="none", fontsize=9)


def _draw_contacts(figure: Any, ax: Any, found: TrajectoryContacts, flat: _Flat) -> None:
    """One mark for each pair with contact and step: its fastest contact, by colour."""
    if not len(found):
        return
    closing = -found.normal_speed
    fastest = np.maximum.reduceat(closing, found.contact_start[:-1][np.diff(found.contact_start) > 0])
    rows = np.repeat(np.arange(len(fastest)), np.diff(found.contact_start)[np.diff(found.contact_start) > 0])
    best = np.unique(rows[closing == fastest[rows]], return_index=True)[1]
    place = np.flatnonzero(closing == fastest[rows])[best]
    at, speed = flat(found.position[place]), np.maximum(closing[place], 0.0)
    order = np.argsort(speed, kind="stable")  # the hard ones on top
    norm = Normalize(0.0, max(float(speed.max()), 1e-9))
    marks = ax.scatter(*at[order].T, c=speed[order], cmap="YlOrRd", norm=norm, s=44, edgecolors=_INK,
                       linewidths=0.7, zorder=8)  # fmt: skip
    bar = figure.colorbar(marks, ax=ax, shrink=0.5, aspect=26, pad=0.01)
    bar.set_label("contacts: approach along the normal, length per second", fontsize=9)
    bar.outline.set_visible(False)


def _scale_bar(ax: Any, low: Array, high: Array) -> None:
    """A bar of a round length, about a fifth of the picture, at the lower left."""
    wanted = 0.2 * (high[0] - low[0])
    power = 10.0 ** math.floor(math.log10(wanted))
    length = max(step * power for step in (1, 2, 5) if step * power <= wanted)
    x, y = low + 0.03 * (high - low)
    thick = 0.006 * (high[1] - low[1])
    ax.add_patch(Rectangle((x, y), length, thick, fc=_INK, ec="white", lw=1.0, zorder=9))
    ax.text(x + 0.5 * length, y + 1.8 * thick, f"{length:g}", ha="center", va="bottom", color=_INK,
            fontsize=10, path_effects=_HALO, zorder=9)  # fmt: skip
