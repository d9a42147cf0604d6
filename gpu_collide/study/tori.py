"""Figures 13 and 14 of the paper: one torus passes through another, with three proper contacts, and the
screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc

if TYPE_CHECKING:
    from typing import Any

__all__ = ["draw_passage", "draw_screen", "passage"]

#: Rows per short edge of the picture of the screen: about as many in all as in the paper's, 28 by 50.
SCREEN = 4.0
COLORS = ("tab:blue", "tab:orange")
CAMERA = {"elev": 22.0, "azim": -68.0}


def passage() -> tuple[gc.Bodies, np.ndarray]:
    """A, the first body, goes up and away from the viewer, all the way through B, which stands; the pair."""
    start = [[0.33, -0.55, -2.2], [0.0, 0.0, 0.0]]
    end = [[0.79, 1.19, 2.2], [0.0, 0.0, 0.0]]
    still = [1.0, 0.0, 0.0, 0.0]
    turns = [0.807, -0.025, 0.439, -0.393], [0.782, 0.372, 0.277, -0.416]
    first, last = (np.array([np.array(q) / np.linalg.norm(q), still]) for q in turns)
    poses = gc.Poses.from_quat_wxyz(start, first), gc.Poses.from_quat_wxyz(end, last)
    return gc.Bodies(gc.shapes.torus(), None, *poses), np.array([[0, 1]])


def draw_passage() -> Any:
    """A matplotlib figure with both tori at the start, at each proper contact, and at the end."""
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    bodies, pairs = passage()
    found = gc.collide(bodies, pairs, min_properness=0.0).to_numpy()
    times = [0.0, *found.time.tolist(), 1.0]
    mesh = bodies.meshes[0]
    loops = np.split(np.asarray(mesh.face_vertices), np.asarray(mesh.face_start)[1:-1])
    figure = plt.figure(figsize=(2.8 * len(times), 4.4), layout="constrained")
    for k, time in enumerate(times):
        axis: Any = figure.add_subplot(1, len(times), k + 1, projection="3d")
        place = bodies.start.toward(bodies.end, time)
        for body, color in enumerate(COLORS):
            points = _placed(np.asarray(mesh.vertices), place, body)
            faces = [points[loop] for loop in loops]
            axis.add_collection3d(Poly3DCollection(faces, facecolors=color, edgecolors="0.3", linewidth=0.2,
                                                   alpha=0.55, shade=True))  # fmt: skip
        if 0 < k < len(times) - 1:
            axis.plot(*found.position[k - 1][:, None], "o", color="red", markersize=6, zorder=10)
        what = "start" if k == 0 else "end" if k == len(times) - 1 else f"contact {k}"
        axis.set_title(f"({'abcdefgh'[k]}) {what}, t = {time:.3f}", fontsize=9)
        axis.set(xlim=(-2, 2), ylim=(-2, 2), zlim=(-3.6, 3.6))
        axis.set_box_aspect((4, 4, 7.2), zoom=1.15)
        axis.view_init(**CAMERA)
        axis.set_axis_off()
    figure.suptitle("A (blue) goes up and away through B, which stands: all proper contacts", fontsize=10)
    return figure


def _placed(points: np.ndarray, poses: gc.Poses, body: int) -> np.ndarray:
    """Points of a mesh where a body is."""
    from gpu_collide.bodies.quaternion import rotate

    quat = np.asarray(poses.unit_wxyz)[body]
    return rotate(np.tile(quat, (len(points), 1)), points) + np.asarray(poses.position)[body]


def draw_screen() -> Any:
    """A matplotlib figure: the same two on the rasterized collision screen, and their contacts there."""
    from gpu_collide import view

    bodies, pairs = passage()
    found = gc.collide(bodies, pairs, min_properness=0.0).to_numpy()
    return view.plot_screen(bodies, pairs[0], found.of_pair(0), resolution=SCREEN)
