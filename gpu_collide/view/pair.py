"""Pictures of one pair: on the collision screen, and in space (matplotlib).

Both show the motion as A sees it, in A's own coordinates: A stands still, and B moves, on the collision
screen by the relative screw, in space by whatever motion the pair has.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

from gpu_collide._validate import as_int_array, how_many
from gpu_collide.bodies.bodies import check_bodies
from gpu_collide.bodies.refusals import check_motion, refuse_rounded
from gpu_collide.view.screen import Screen, on_screen, own_motion_of, rasterize, screw_of
from gpu_collide.view.space import (
    COLOR_A,
    COLOR_B,
    COLOR_INK,
    COLOR_NORMAL,
    HALO,
    arrow_key,
    best_camera,
    contacts_of,
    frame,
    kind_keys,
    once,
    scatter_by_time,
    shaded,
    time_bar,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from gpu_collide._types import Array, MotionName
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["plot_pair", "plot_screen"]

_PIXELS = ("#9fbfdd", "#f3bf86", "#a583b4")  # A, B, both
_BAND = "#e9ecf0"


def plot_screen(
    bodies: Bodies, pair: Sequence[int], contacts: Any = None, *, resolution: float = 6.0
) -> Figure:
    """Draw a pair on the collision screen, in the manner of Figure 14 of the paper.

    Each edge that faces the other body is drawn as the pixels that it takes in the rows of the screen, joined
    by its curve. Rows are made only where both bodies are; dotted curves are virtual edges, along which a
    face turns away. Points of A and B that can meet share a place here; contacts are marked where they are.

    Parameters
    ----------
    bodies : gpu_collide.Bodies
    pair : sequence of two int
        The bodies A and B.
    contacts : structured ndarray, optional
        The contacts of this pair (``Contacts.of_pair``); found with the defaults of ``collide`` if left out.
    resolution : float
        Rows of the screen per typical short edge (10th percentile of the edges of both bodies); the paper's
        resolutions are 6, 12 and 24.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If a pose of the pair is invalid, or if the bodies do not move relative to each other: then there is
        no screen.
    """
    _check_pair(bodies, pair)
    refuse_rounded(bodies.meshes, "bodies", "the collision screen")
    screen = rasterize(bodies, pair, resolution)
    contacts = contacts_of(bodies, pair) if contacts is None else contacts
    places = np.concatenate([curves.reshape(-1, 2) for curves in screen.curves])
    wide, high = np.ptp(places, axis=0) if len(places) else (0.0, 0.0)  # no face may face the other body
    # Square pixels, in a figure of the shape of the screen, unless that left a sliver of a picture.
    square = 0.3 * high < wide < 5 * high
    width = np.clip(5.4 * wide / high + 2.4, 7.0, 12.0) if square else 11.0
    figure, ax = plt.subplots(figsize=(width, 6.8), layout="constrained")
    ax.set_aspect("equal" if square else "auto")
    _draw_pixels(ax, screen)
    for curves, outlines, color in zip(screen.curves, screen.outlines, (COLOR_A, COLOR_B), strict=True):
        style = dict(colors=[0.75 * np.array(to_rgb(color))], linewidths=0.8 if len(curves) < 1000 else 0.4)
        ax.add_collection(LineCollection(curves, zorder=10, **style))
        ax.add_collection(LineCollection(outlines, linestyles=":", zorder=10, **style))
    at = screen.screw.from_b(contacts["local_b"])
    places = on_screen(screen.screw, at, screen.screw.cylinder(at)[1])
    drawn = scatter_by_time(ax, contacts, places)
    if drawn is not None:
        bar = figure.colorbar(drawn, ax=ax, shrink=0.6, aspect=30, pad=0.01, label="time of contact")
        bar.outline.set_visible(False)
    keys: list[Artist] = [
        Patch(color=c, label=t) for c, t in zip(_PIXELS, ("A", "B", "A and B"), strict=True)
    ]
    keys.append(Patch(color=_BAND, label="rows that both reach"))
    if any(len(outlines) for outlines in screen.outlines):
        keys.append(Line2D([], [], color=COLOR_INK, ls=":", lw=1.2, label="where a face turns away"))
    columns = 4 if width > 10 else 3
    figure.legend(
        handles=keys + kind_keys(contacts),
        loc="outside lower center",
        frameon=False,
        ncols=columns,
        fontsize=9,
    )
    ax.autoscale_view()
    ax.set_xlabel("h, across the flow")
    ax.set_ylabel("r - R0, away from the axis")
    rows, columns = screen.taken.shape[1:]
    turn = np.degrees(screen.screw.theta)
    title = f"{columns} x {rows} pixels, relative turn {turn:.1f} degrees; {_title(contacts)}\n"
    title += "points of A and B that can meet share a place here;\na contact is where both are at one time"
    figure.suptitle(title, fontsize=11, color=COLOR_INK)
    for edge in ("top", "right"):
        ax.spines[edge].set_visible(False)
    return once(figure)


def _draw_pixels(ax: Any, screen: Screen) -> None:
    """Squares with a little room between them; a band behind the rows that both bodies reach."""
    rows, columns = screen.taken.shape[1:]
    row, column = np.nonzero(screen.taken.any(axis=0))
    which = screen.taken[0, row, column] + 2 * screen.taken[1, row, column] - 1
    corner = np.stack([screen.left + screen.height * column, screen.bottom + screen.height * row], axis=1)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * 0.88 + 0.06
    squares = corner[:, None] + screen.height * square
    ax.add_collection(PolyCollection(list(squares), facecolors=[_PIXELS[i] for i in which], zorder=5))
    ax.axhspan(screen.bottom, screen.bottom + rows * screen.height, color=_BAND, zorder=0, lw=0)


def _check_pair(bodies: Any, pair: Any, motion: str = "relative") -> None:
    """Raise unless these are bodies that can move so and two of their numbers."""
    check_motion(check_bodies(bodies), motion)
    if np.shape(pair) != (2,):
        raise ValueError(f"pair: expected the numbers of two bodies, such as contacts.pairs[0], got {pair!r}")
    as_int_array(pair, "pair", low=0, high=len(bodies))


def plot_pair(
    bodies: Bodies, pair: Sequence[int], contacts: Any = None, *, motion: MotionName = "relative"
) -> Figure:
    """Draw a pair in space: the whole step, and its contacts from nearby.

    On the left B stands at the start, at the first contact and at the end of the step; thin curves are the
    paths of up to eight of its vertices, those nearest to the corners of its bounding box. On the right all
    contacts lie on A, coloured by their time, with arrows for the normals, which point from A to B; there B
    stands at the first contact.

    Parameters
    ----------
    bodies : gpu_collide.Bodies
    pair : sequence of two int
        The bodies A and B.
    contacts : structured ndarray, optional
        The contacts of this pair (``Contacts.of_pair``); found with the defaults of ``collide`` if left out.
    motion : {"relative", "body"}, optional
        How the two move, as in `collide`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If a pose of the pair is invalid, or bodies that spin are to move from pose to pose.
    """
    _check_pair(bodies, pair, motion)
    mesh_a, mesh_b = (bodies.meshes[bodies.shape[i]]._seen() for i in pair)
    screw = screw_of(bodies, pair) if motion == "relative" else own_motion_of(bodies, pair)
    contacts = contacts_of(bodies, pair, motion) if contacts is None else contacts
    first = float(contacts["time"].min()) if len(contacts) else 0.5
    normals = np.array([seen_by_a(screw, c["normal"], c["time"]) for c in contacts]).reshape(-1, 3)
    camera = _camera(screw, mesh_b, normals)

    figure = plt.figure(figsize=(11, 5.6))
    whole = figure.add_subplot(projection="3d", computed_zorder=False)
    low, high = mesh_b.vertices.min(axis=0), mesh_b.vertices.max(axis=0)
    corners = low + (high - low) * np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
    nearest = [np.argmin(np.sum((mesh_b.vertices - c) ** 2, axis=1)) for c in corners]
    corners = mesh_b.vertices[np.unique(nearest)]
    # Corner by corner, (corners, times, 3).
    paths = np.stack([place_b(screw, corners, t) for t in np.linspace(0.0, 1.0, 33)], axis=1)
    whole.add_collection3d(Line3DCollection(paths, colors=COLOR_INK, linewidths=0.7, alpha=0.3, zorder=0))
    at_times = [(0.0, 0.14), (first, 0.75), (1.0, 0.14)]
    _add_bodies(whole, screw, mesh_a, mesh_b, 1.0, at_times)
    for text, t in (("start", 0.0), ("end", 1.0)):
        place = place_b(screw, mesh_b.center[None], t)[0]
        whole.text(*place, text, color=COLOR_INK, ha="center", va="center", zorder=40, path_effects=HALO)
    if len(contacts):
        whole.scatter(*contacts["local_a"].T, color=COLOR_NORMAL, s=14, depthshade=False, zorder=30)
    frame(whole, np.concatenate([mesh_a.vertices, paths.reshape(-1, 3)]), camera, (0.02, 0.07, 0.48, 0.83))
    figure.text(0.26, 0.94, "the step, as A sees it", ha="center", fontsize=11, color=COLOR_INK)

    length = 0.45 * min(mesh_a.radius, mesh_b.radius)
    near = figure.add_subplot(projection="3d", computed_zorder=False)
    _add_bodies(near, screw, mesh_a, mesh_b, 0.9, [(first, 0.3)])
    if len(contacts):
        drawn = _add_contacts(near, contacts, normals, length)
        time_bar(figure, drawn)
        figure.legend(
            handles=[*kind_keys(contacts), arrow_key()], loc="lower right", frameon=False, fontsize=9, ncols=4
        )
    shown = [mesh_a.vertices, place_b(screw, mesh_b.vertices, first), contacts["local_a"] + length * normals]
    frame(near, np.concatenate(shown), camera, (0.56, 0.12, 0.36, 0.76))
    figure.text(0.735, 0.94, _title(contacts), ha="center", fontsize=11, color=COLOR_INK)
    body_keys = [Patch(color=COLOR_A, label="A"), Patch(color=COLOR_B, label="B")]
    figure.legend(handles=body_keys, loc="lower left", frameon=False, fontsize=9, ncols=2)
    return once(figure)


def _title(contacts: Any) -> str:
    if not len(contacts):
        return "no contact"
    return f"{how_many(len(contacts), 'contact')}, first at t = {contacts['time'].min():.4f}"


def _add_bodies(ax: Any, screw: Any, mesh_a: Mesh, mesh_b: Mesh, alpha_a: float, at_times: Any) -> None:
    """A, and B at several times: one collection, so that the faces of all are sorted by depth."""
    parts = [_faces(mesh_a, mesh_a.vertices, COLOR_A, alpha_a)]
    parts += [_faces(mesh_b, place_b(screw, mesh_b.vertices, t), COLOR_B, alpha) for t, alpha in at_times]
    loops, faces, lines = (list(chain(*columns)) for columns in zip(*parts, strict=True))
    ax.add_collection3d(Poly3DCollection(loops, facecolors=faces, edgecolors=lines, lw=0.7, zorder=10))


def _faces(mesh: Mesh, points: Array, color: Any, alpha: float) -> Any:
    """Loops (k, 3), fill colours and line colours of the faces of a body."""
    loops = [points[loop] for loop in mesh.faces]
    return loops, *shaded(loops, color, alpha)


def _add_contacts(ax: Any, contacts: Any, normals: Array, length: float) -> Any:
    """Contacts on A with their normals, in space."""
    at, width = contacts["local_a"], 1.8 if len(contacts) < 20 else 1.0
    ax.quiver(*at.T, *(length * normals).T, color=COLOR_NORMAL, lw=width, arrow_length_ratio=0.25, zorder=20)
    return scatter_by_time(ax, contacts, at, depthshade=False)


def _camera(screw: Any, mesh_b: Mesh, normals: Array) -> tuple[float, float]:
    """Elevation and azimuth, degrees, that show the motion from the side and the contacts from outside."""
    centre = mesh_b.center[None]
    way = place_b(screw, centre, 1.0)[0] - place_b(screw, centre, 0.0)[0]

    # Where A is touched should be in view, but an arrow straight at the eye is only a dot.
    def facing(to_camera: Array) -> float:
        return float(np.mean(1.0 - np.abs(normals @ to_camera - 0.35))) if len(normals) else 0.0

    return best_camera((-35.0, -15.0, 15.0, 25.0, 40.0), way, facing)


def place_b(screw: Any, points: Array, t: float) -> Array:
    """Points (..., 3) of B's mesh at time t, in A's mesh coordinates: as A sees them."""
    return screw.to_a(screw.flow(screw.from_b(points), t - 0.5))


def seen_by_a(screw: Any, direction: Array, t: float) -> Array:
    """A direction (3,) of the world at time t, in A's axes."""
    return screw.world_direction_of_a(np.eye(3), t) @ direction
