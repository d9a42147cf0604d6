"""Picture of a recorded race: the track from above, the driven lines, contacts on them (matplotlib)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize, hsv_to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from gpu_collide.recordings.recording import Recording
from gpu_collide.results.trajectory_contacts import TrajectoryContacts
from gpu_collide.view.space import once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from matplotlib.figure import Figure

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.encounters import Encounters

__all__ = ["plot_track", "round_length", "up_axis"]

_INK, _SKIPPED = "#22262b", "#b3123f"
_MANY = 30_000  # faces of a track that are drawn without lines between them
_NAMED = 8  # bodies that the legend names
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

    Each body has a line of its own colour. Marks are encounters, at their hardest contact: dots with what
    stands still, stars between two moving bodies; their colour is how hard it was. Encounters without a
    contact, of bodies that only overlap, have none.

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
    if not isinstance(recording, Recording) or not isinstance(found, TrajectoryContacts):
        raise TypeError(
            "recording, found: expected a Recording and its TrajectoryContacts, got "
            f"{type(recording).__name__} and {type(found).__name__}; plot_contacts draws a pair of bodies"
        )
    positions = recording.poses().position
    up = up_axis(recording.static, positions) if up is None else up
    flat = _Flat(positions, up, recording.static)
    low, high = flat.window
    size = high - low
    width = float(np.clip(7.2 * size[0] / size[1] + 1.6, 6.5, 13.0))
    height = float(np.clip((width - 1.2) * size[1] / size[0] + 0.2, 4, 10))
    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.set_aspect("equal")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    if recording.static is not None:
        _draw_ground(ax, recording.static, flat)
    keys = _draw_lines(ax, recording, positions, found, flat)
    met = found.encounters()
    keys += _draw_contacts(figure, ax, met[met.contacts > 0], recording.n_bodies, flat)
    ax.legend(handles=keys, loc="upper left", frameon=True, framealpha=0.85, edgecolor="none", fontsize=9)
    _scale_bar(ax, low, high)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("#c9ced4")
    return once(figure)


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
        loops, face = _triangles(mesh, shown)
        height = vertices[loops, flat.up].mean(axis=1)
        normal = static.start[i : i + 1].apply(mesh.face_planes[face, :3]) - static.start.position[i]
        normal *= np.sign(normal[:, flat.up] + 1e-300)[:, None]
        light = normal @ np.stack([flat.right, flat.top, np.eye(3)[flat.up]], axis=1) @ _LIGHT
        # Heights count where the race is driven: a mountain behind takes no part of the scale.
        bottom, top = np.quantile(flat.heights, [0.0, 1.0])
        share = np.clip((height - bottom) / max(top - bottom, 1e-9), 0, 1)[:, None]
        color = (_LOW + share * (_HIGH - _LOW)) * np.clip(0.62 + 0.5 * light, 0, 1)[:, None]
        order = np.argsort(height, kind="stable")
        lines = 0.9 if len(order) < _MANY else 1.0
        ax.add_collection(
            PolyCollection(
                places[loops[order]],  # type: ignore[arg-type]  # one array: much faster than a list
                facecolors=np.clip(color[order], 0, 1),
                edgecolors=np.clip(lines * color[order], 0, 1),
                linewidths=0.15,
                zorder=1,
            )
        )


def _triangles(mesh: Mesh, faces: Array) -> tuple[Array, Array]:
    """Convex faces as triangles (n, 3) of vertices, and the face of each."""
    sides = np.diff(mesh.face_start)[faces]
    face = np.repeat(faces, sides - 2)
    first = mesh.face_start[:-1][face]
    number = np.arange(len(face)) - np.repeat(np.cumsum(sides - 2) - (sides - 2), sides - 2)
    corners = mesh.face_vertices
    loops = np.stack([corners[first], corners[first + number + 1], corners[first + number + 2]], axis=1)
    return loops, face


def _draw_lines(
    ax: Any, recording: Recording, positions: Array, found: TrajectoryContacts, flat: _Flat
) -> list[Any]:
    """Driven lines, one for each body and race, with gaps where a step was skipped; what the legend says."""
    skipped = np.zeros(positions.shape[:2], bool)
    inside = found.skipped["step"] < len(skipped)
    skipped[found.skipped["step"][inside], found.skipped["body"][inside]] = True
    places = flat(positions)
    colors = body_colors(places.shape[1])
    jumps: list[Array] = []
    for first, stop in recording.races:
        if stop <= first:
            continue
        for body, color in enumerate(colors):
            steps = np.flatnonzero(skipped[first : stop - 1, body]) + first
            jumps += [places[k : k + 2, body] for k in steps]
            pieces = np.split(places[first:stop, body], steps + 1 - first)
            ax.add_collection(LineCollection(pieces, colors=[color], linewidths=1.1, alpha=0.9, zorder=4))
        ax.plot(*places[first].T, marker="o", ls="", ms=6, mfc="white", mec=_INK, mew=1.2, zorder=6)
    ax.add_collection(
        LineCollection(jumps, colors=_SKIPPED, linewidths=1.3, linestyles=(0, (2, 1.5)), zorder=5)
    )
    few = len(colors) if len(colors) <= _NAMED else 0
    keys = [Line2D([], [], color=colors[k], lw=1.5, label=f"body {k}") for k in range(few)]
    if not few:
        label = f"{len(colors)} bodies, each in a colour"
        keys = [Line2D([], [], color=colors[0], lw=1.5, label=label)] if len(colors) else []
    keys.append(Line2D([], [], marker="o", ls="", mfc="white", mec=_INK, ms=6, label="start"))
    if jumps:
        label = f"skipped: {', '.join(np.unique(found.skipped['reason']))}"
        keys.append(Line2D([], [], color=_SKIPPED, lw=1.5, ls=(0, (2, 1.5)), label=label))
    return keys


def body_colors(count: int) -> list[tuple[float, float, float]]:
    """A colour for each body: as far apart as they can be, and none that looks like a contact."""
    hues = 0.35 + (0.22 + 0.5 * 0.618034 * np.arange(count)) % 0.5  # from green to violet
    light = 0.65 + 0.15 * (np.arange(count) % 3 - 1)
    return [tuple(hsv_to_rgb((h, 0.8, v))) for h, v in zip(hues, light, strict=True)]


def _draw_contacts(figure: Any, ax: Any, met: Encounters, moving: int, flat: _Flat) -> list[Any]:
    """A mark for each encounter, its colour the hardest approach; what the legend says."""
    if not len(met):
        return []
    speed = np.maximum(met.approach, 0.0)
    norm = Normalize(0.0, max(float(speed.max()), 1e-9))
    between = met.body_b < moving
    at, keys = flat(met.position), []
    for mine, marker, size, label in (
        (~between, "o", 44, "contact with what stands still"),
        (between, "*", 150, "contact of two bodies"),
    ):
        if not mine.any():
            continue
        order = np.flatnonzero(mine)[np.argsort(speed[mine], kind="stable")]  # the hard ones on top
        marks = ax.scatter(*at[order].T, c=speed[order], cmap="YlOrRd", norm=norm, s=size, marker=marker,
                           edgecolors=_INK, linewidths=0.7, zorder=8)  # fmt: skip
        keys.append(Line2D([], [], marker=marker, ls="", mfc="#fd8d3c", mec=_INK, ms=size**0.5, label=label))
    bar = figure.colorbar(marks, ax=ax, shrink=0.5, aspect=26, pad=0.01)
    bar.set_label("encounters: hardest approach along the normal, length per second", fontsize=9)
    bar.outline.set_visible(False)
    return keys


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)


def _scale_bar(ax: Any, low: Array, high: Array) -> None:
    """A bar of a round length, about a fifth of the picture, at the lower left."""
    length = round_length(0.2 * (high[0] - low[0]))
    x, y = low + 0.03 * (high - low)
    thick = 0.006 * (high[1] - low[1])
    ax.add_patch(Rectangle((x, y), length, thick, fc=_INK, ec="white", lw=1.0, zorder=9))
    ax.text(x + 0.5 * length, y + 1.8 * thick, f"{length:g}", ha="center", va="bottom", color=_INK,
            fontsize=10, path_effects=_HALO, zorder=9)  # fmt: skip
