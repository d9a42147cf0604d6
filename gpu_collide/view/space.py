"""What the pictures share: colours, shaded faces in space, contacts by time, and figures that are displayed
once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d import proj3d

from gpu_collide.results.contacts import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from gpu_collide._types import Array, MotionName, StrPath
    from gpu_collide.bodies.bodies import Bodies

__all__ = [
    "COLOR_A", "COLOR_B", "COLOR_INK", "COLOR_NORMAL", "HALO", "arrow_key", "best_camera",
    "contacts_of", "frame", "kind_keys", "once", "save", "scatter_by_time", "shaded", "time_bar",
]  # fmt: skip

COLOR_A, COLOR_B, COLOR_INK, COLOR_NORMAL = "#3a76af", "#e38b2c", "#22262b", "#b3123f"
MARKERS = {Kind.FV: "^", Kind.VF: "v", Kind.EE: "o", Kind.EV: ">", Kind.VE: "<", Kind.VV: "D"}
LABELS = {
    Kind.FV: "FV: face of A, vertex of B",
    Kind.VF: "VF: vertex of A, face of B",
    Kind.EE: "EE: edge of A, edge of B",
    Kind.EV: "EV: edge of A, vertex of B",
    Kind.VE: "VE: vertex of A, edge of B",
    Kind.VV: "VV: vertex of A, vertex of B",
}
HALO = [withStroke(linewidth=3, foreground="white")]
_LIGHT = np.array([0.35, -0.45, 0.82])


def save(figure: Figure, path: StrPath, dpi: float = 160) -> None:
    """Write a figure to a file and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        As returned by `plot_screen` or `plot_contacts`.
    path : str
        File to write; its ending says the type (png, svg, pdf).
    dpi : int
        Pixels per inch, for png.

    Raises
    ------
    ValueError
        If matplotlib does not know the type.
    """
    try:
        figure.savefig(path, dpi=dpi, facecolor="white")
    finally:
        plt.close(figure)


def contacts_of(bodies: Bodies, pair: Sequence[int], motion: MotionName = "relative") -> Array:
    """Contacts of a pair; the first ones alone where there are cylinders and cones."""
    from gpu_collide.queries.collide import collide

    first = any(mesh.ends is not None for mesh in bodies.meshes)
    found = collide(bodies, np.array([pair]), contacts="first" if first else "all", motion=motion)
    return found.to_numpy().of_pair(0)


def once(figure: Figure) -> Figure:
    """The figure, which a notebook shows as what a cell returns, and not a second time as an open one."""
    if "inline" in matplotlib.get_backend().lower():
        plt.close(figure)
    return figure


def shaded(loops: Sequence[Array], color: Any, alpha: float) -> tuple[Any, Any]:
    """Fill colours and line colours (RGBA) of faces given as loops (k, 3), shaded by their normals."""
    normals = np.array([np.cross(p[1] - p[0], p[2] - p[1]) for p in loops]).reshape(-1, 3)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    light = normals @ (_LIGHT / np.linalg.norm(_LIGHT))
    rgb = np.array(to_rgb(color))
    light = light[:, None]
    lit = np.where(light > 0, rgb + 0.4 * light * (1 - rgb), rgb * (1 + 0.35 * light))
    # Many small faces: fainter lines, or the shape drowns in ink.
    line_alpha = (0.3 if len(loops) > 100 else 0.8) * min(1.0, 0.25 + alpha)
    return [(*c, alpha) for c in lit], [(*(0.35 * rgb), line_alpha)] * len(loops)


def scatter_by_time(ax: Any, contacts: Any, places: Array, **options: Any) -> Any:
    """Contacts at places (n, 2) or (n, 3): marker by kind, colour by time; None if there are none."""
    drawn = None
    for kind, marker in MARKERS.items():
        mine = contacts["kind"] == kind
        if mine.any():
            drawn = ax.scatter(
                *places[mine].T, c=contacts["time"][mine], vmin=0, vmax=1, cmap="viridis", edgecolors="white",
                linewidths=1.2, marker=marker, s=100 if len(contacts) < 20 else 45, zorder=30, **options,
            )  # fmt: skip
    return drawn


def kind_keys(contacts: Any) -> list[Any]:
    """Entries of a legend for the kinds that occur."""
    kinds = [kind for kind in MARKERS if (contacts["kind"] == kind).any()]
    return [
        Line2D([], [], ls="", marker=MARKERS[kind], color=COLOR_INK, label=LABELS[kind]) for kind in kinds
    ]


def time_bar(figure: Figure, colors: Any, label: str = "time of contact") -> None:
    """The bar at the right that tells the colours of contacts."""
    bar = figure.colorbar(colors, cax=figure.add_axes((0.935, 0.3, 0.012, 0.45)), label=label)
    bar.outline.set_visible(False)


def best_camera(
    elevations: Sequence[float], way: Array, facing: Callable[[Array], float], across: float = 1.0
) -> tuple[float, float]:
    """Elevation and azimuth, degrees, of the best view, all around at each of the elevations.

    Parameters
    ----------
    way : (3,) ndarray
        What moves goes along it, and is seen from the side rather than along it.
    facing : callable
        Of a direction to the camera, (3,): how well what matters is seen from there.
    across : float
        How much being across the way counts beside that.
    """
    way = way / max(float(np.linalg.norm(way)), 1e-300)
    best, best_score = (25.0, -60.0), -np.inf
    for elevation in elevations:
        for azimuth in np.arange(-180.0, 180.0, 15.0):
            e, a = np.radians(elevation), np.radians(azimuth)
            to_camera = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
            score = facing(to_camera) - across * float(way @ to_camera) ** 2 - 0.003 * abs(elevation - 25.0)
            if score > best_score:
                best, best_score = (elevation, azimuth), score
    return best


def arrow_key(label: str = "normal, from A to B") -> Line2D:
    """Entry of a legend for the arrows."""
    return Line2D([], [], ls="", marker=r"$\longrightarrow$", ms=16, color=COLOR_NORMAL, label=label)


def frame(
    ax: Any, points: Array, camera: tuple[float, float], area: tuple[float, float, float, float]
) -> None:
    """Equal scales, no axes; the points (n, 3) fill the ``area`` (left, bottom, width, height)."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.02 * (high - low).max())
    for set_limits, m, h in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, half, strict=True):
        set_limits(m - h, m + h)
    ax.set_box_aspect(half)
    ax.set_proj_type("persp", focal_length=1.8)
    ax.view_init(*camera)
    ax.set_axis_off()
    ax.patch.set_visible(False)
    # The points as they appear in the axes, when these are a square; then move and stretch the square.
    width, height = ax.figure.get_size_inches()
    ax.set_position([0, 0, 1, width / height])
    x, y, _ = proj3d.proj_transform(*points.T, ax.get_proj())
    seen = ax.transAxes.inverted().transform(ax.transData.transform(np.stack([x, y], axis=1)))
    (left, bottom), (right, top) = seen.min(axis=0), seen.max(axis=0)
    side = min(area[2] / (right - left), area[3] * height / width / (top - bottom))  # in widths of the figure
    x0 = area[0] + 0.5 * area[2] - 0.5 * side * (left + right)
    y0 = area[1] + 0.5 * area[3] - 0.5 * side * (bottom + top) * width / height
    ax.set_position([x0, y0, side, side * width / height])
    for artist in (*ax.collections, *ax.texts):
        artist.set_clip_on(False)
