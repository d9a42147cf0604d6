"""Picture of one contact or encounter of a recording: the bodies near it, and the contacts (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

from gpu_collide._validate import how_many
from gpu_collide.view.space import (
    COLOR_A,
    COLOR_B,
    COLOR_INK,
    COLOR_NORMAL,
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
from gpu_collide.view.track import round_length, up_axis

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.figure import Figure

    from gpu_collide._types import Array, MotionName
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.recordings.recording import Recording

__all__ = ["clipped", "plot_event"]

_STILL = "#b9bec6"  # what stands still
_STEEPEST = 0.55  # how far the camera looks down, as a sine


def plot_event(
    recording: Recording,
    event: Any,
    contacts: Any = None,
    *,
    motion: MotionName = "relative",
    up: int | None = None,
) -> Figure:
    """Draw a contact or an encounter of a recording from nearby.

    Parameters
    ----------
    recording : Recording
    event : record
        A row of `Encounters`, ``found.encounters()[0]``: its hardest contact; or of `TrajectoryContacts`,
        ``found[0]``.
    contacts : structured ndarray, optional
        The contacts of its two bodies in its step, ``Contacts.of_pair``; found with the defaults of
        ``collide`` if left out.
    motion : {"relative", "body"}, optional
        How bodies move, as in `collide`, if `contacts` are left out.
    up : int, optional
        Axis that points up; default: the one along which the scene is flattest.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = getattr(getattr(event, "dtype", None), "names", None) or ()
    if "body_a" not in names or not {"step", "hardest_step"} & set(names):
        raise TypeError(
            "event: expected a row of Encounters or TrajectoryContacts, such as found.encounters()[0], got "
            f"{type(event).__name__}"
        )
    encounter = "hardest_step" in names
    step = int(event["hardest_step" if encounter else "step"])
    time = float(event["hardest_time" if encounter else "time"])
    pair = int(event["body_a"]), int(event["body_b"])
    if step < 0:
        raise ValueError("event: expected an encounter with contacts, got one of bodies that only overlap")
    bodies = recording.bodies(step)
    if contacts is None:
        contacts = contacts_of(bodies, pair, motion)
    span = recording.times[step + 1] - recording.times[step]
    share = float(np.clip((time - recording.times[step]) / span, 0.0, 1.0))
    if up is None:
        up = up_axis(recording.static, recording.poses(step, step + 2).position)
    return once(_figure(_Scene(bodies, pair, recording.n_bodies, share, up, event), contacts, step, time))


class _Scene:
    """The bodies about one contact, with the axis that points up as the last one.

    Attributes
    ----------
    at : (3,) ndarray
        The place of the contact: the origin of what is drawn.
    radius : float
        Of the smaller of the two bodies.
    """

    def __init__(self, bodies: Bodies, pair: Any, moving: int, share: float, up: int, event: Any) -> None:
        self.bodies, self.pair, self.moving, self.share = bodies, pair, moving, share
        self.turned = [(up + 1) % 3, (up + 2) % 3, up]
        self.at = np.asarray(event["position"], float)
        self.normal = np.asarray(event["normal"], float)[self.turned]
        self.radius = min(bodies.meshes[bodies.shape[i]].radius for i in pair)

    def seen(self, points: Array) -> Array:
        """World points (..., 3) in the picture."""
        return (points - self.at)[..., self.turned]

    def body(self, i: int, share: float, size: float) -> list[Array]:
        """Loops (k, 3) of the faces of a body at a fraction of the step, cut at a cube about the contact."""
        mesh = self.bodies.meshes[self.bodies.shape[i]]._seen()
        pose = self.bodies.start[i : i + 1].toward(self.bodies.end[i : i + 1], share)
        points = self.seen(pose.apply(mesh.vertices))
        corners = points[mesh.face_vertices]
        low = np.minimum.reduceat(corners, mesh.face_start[:-1])
        high = np.maximum.reduceat(corners, mesh.face_start[:-1])
        near = np.flatnonzero(((low < size) & (high > -size)).all(axis=1))
        loops = [clipped(points[mesh.face(f)], size) for f in near]
        return [loop for loop in loops if len(loop) > 2]


def clipped(loop: Array, size: float) -> Array:
    """A convex polygon (k, 3) cut at the cube from -size to size."""
    for axis in range(3):
        for sign in (1.0, -1.0):
            inside = size - sign * loop[:, axis]
            if (inside >= 0).all():
                continue
            kept = []
            for k in range(len(loop)):
                d0, d1 = inside[k - 1], inside[k]
                if (d0 >= 0) != (d1 >= 0):
                    kept.append(loop[k - 1] + d0 / (d0 - d1) * (loop[k] - loop[k - 1]))
                if d1 >= 0:
                    kept.append(loop[k])
            if len(kept) < 3:
                return np.zeros((0, 3))
            loop = np.array(kept)
    return loop


def _figure(scene: _Scene, contacts: Any, step: int, time: float) -> Figure:
    a, b = scene.pair
    figure = plt.figure(figsize=(11.5, 6.0))
    camera = _camera(scene)
    reach = 2.1 * scene.radius
    spread = np.abs(scene.seen(contacts["position"])).max() if len(contacts) else 0.0
    near = float(np.clip(1.5 * spread, 0.4 * scene.radius, reach))
    many = how_many(len(contacts), "contact")
    for size, area, title, ways in (
        (reach, (0.01, 0.06, 0.48, 0.84), "the bodies at the contact, and before and after", True),
        (near, (0.51, 0.06, 0.40, 0.84), f"{many} in this step, from nearby", False),
    ):
        ax = figure.add_subplot(projection="3d", computed_zorder=False)
        shown = _draw(ax, scene, size, ways)
        shown += [_mark(ax, scene, contacts, size), _scale_bar(ax, camera, size)]
        frame(ax, np.concatenate(shown), camera, area)
        figure.text(area[0] + 0.5 * area[2], 0.915, title, ha="center", fontsize=11, color=COLOR_INK)
    if len(contacts):
        colors = ScalarMappable(Normalize(0.0, 1.0), "viridis")
        time_bar(figure, colors, "time of contact, fraction of the step")
    kinds = [f"body {i}" + ("" if i < scene.moving else ", stands still") for i in scene.pair]
    keys: list[Any] = [
        Patch(color=color, label=f"{name}: {kind}")
        for name, kind, color in zip("AB", kinds, (COLOR_A, _color_of(scene, b)), strict=True)
    ]
    keys.append(Line2D([], [], color=COLOR_INK, lw=1, alpha=0.5, label="its way in the step"))
    keys += [*kind_keys(contacts), arrow_key()]
    figure.legend(handles=keys, loc="lower center", frameon=False, fontsize=9, ncols=len(keys))
    head = f"bodies {a} and {b} at {time:.4g} s, in step {step}"
    figure.text(0.5, 0.985, head, ha="center", va="top", fontsize=12, color=COLOR_INK)
    return figure


def _color_of(scene: _Scene, body: int) -> str:
    return COLOR_B if body < scene.moving else _STILL


def _draw(ax: Any, scene: _Scene, size: float, ways: bool) -> list[Array]:
    """What is near, B first: the camera looks from A's side. Where the bodies were and will be is faint.
    Returns the points that were drawn."""
    drawn = []
    for k, i in enumerate((scene.pair[1], scene.pair[0])):
        color = COLOR_A if k else _color_of(scene, i)
        at = [(scene.share, 0.8 if k else 0.95)]
        if ways and i < scene.moving:
            at = [(0.0, 0.1), (1.0, 0.1), *at]
        for share, alpha in at:
            loops = scene.body(i, share, size)
            if loops:
                drawn += loops
                faces, lines = shaded(loops, color, alpha)
                ax.add_collection3d(
                    Poly3DCollection(loops, facecolors=faces, edgecolors=lines, lw=0.3, zorder=5 + 5 * k)
                )
        if i < scene.moving:
            shares = np.linspace(0, 1, 33)
            poses = scene.bodies.start[i : i + 1].toward(scene.bodies.end[i : i + 1], shares)
            way = scene.seen(poses.apply(scene.bodies.meshes[scene.bodies.shape[i]].center))
            way = way[(np.abs(way) <= size).all(axis=1)]
            ax.add_collection3d(Line3DCollection([way], colors=COLOR_INK, lw=1.2, alpha=0.5, zorder=20))
    return drawn


def _mark(ax: Any, scene: _Scene, contacts: Any, size: float) -> Array:
    """The contacts that are near, with their normals; returns where the arrows end."""
    near = contacts[(np.abs(scene.seen(contacts["position"])) <= size).all(axis=1)]
    at, arrows = scene.seen(near["position"]), 0.35 * size * near["normal"][:, scene.turned]
    ax.quiver(*at.T, *arrows.T, color=COLOR_NORMAL, lw=1.5, arrow_length_ratio=0.2, zorder=25)
    scatter_by_time(ax, near, at, depthshade=False)
    return at + arrows


def _scale_bar(ax: Any, camera: tuple[float, float], size: float) -> Array:
    """A bar of a round length across the view, at the lower left; returns its ends."""
    e, z = np.radians(camera)
    right = np.array([-np.sin(z), np.cos(z), 0.0])
    above = np.array([-np.sin(e) * np.cos(z), -np.sin(e) * np.sin(z), np.cos(e)])
    length = round_length(0.5 * size)
    begin = -size * right - 1.15 * size * above
    bar = np.stack([begin, begin + length * right])
    ax.plot(*bar.T, color=COLOR_INK, lw=3, solid_capstyle="butt", zorder=30)
    over = bar.mean(axis=0) + 0.04 * size * above
    ax.text(*over, f"{length:g}", color=COLOR_INK, ha="center", va="bottom", fontsize=10, zorder=31)
    return bar


def _camera(scene: _Scene) -> tuple[float, float]:
    """Elevation and azimuth, degrees: from A's side, across the way, and from above unless A is below."""
    a = scene.pair[0]
    way = (scene.bodies.end.position[a] - scene.bodies.start.position[a])[scene.turned]
    # B is drawn behind A; an arrow straight from the eye is only a dot.
    return best_camera(
        (15.0, 25.0, 40.0), way, lambda to: min(float(-scene.normal @ to), _STEEPEST), across=0.5
    )
