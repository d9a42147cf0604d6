"""Draw docs/images/worlds.png: one of many worlds of cars from above, and what its step holds.

    python docs/make_worlds.py [FILE]

The scene is that of ``python -m bench worlds``; of its worlds the one is drawn in which the most happens
between cars, barriers and walls. Needs matplotlib.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

import gpu_collide as gc
from gpu_collide.scenes import BARRIER, CAR, GROUND, WALL, worlds

PAGE = Path(__file__).resolve().parent / "images" / "worlds.png"
INK, BLUE, ORANGE, RED, GREEN = "#22262b", "#3a76af", "#e38b2c", "#b3123f", "#3c8d5a"
LIGHT = np.array([-0.45, 0.45, 0.77])
GHOSTS = 12  # poses between start and end that the swept area is drawn with


def main(path):
    bodies, world = worlds(1000, 32)
    everyone = gc.collide(bodies, world=world, report=True)
    number = liveliest(bodies, world, everyone)
    mine = np.flatnonzero((world == number) | (world == -1))
    bodies = gc.Bodies(bodies.meshes, bodies.shape[mine], bodies.start[mine], bodies.end[mine])
    contacts = gc.collide(bodies, world=world[mine])

    half = 0.5 * np.ptp(bodies.meshes[WALL].vertices[:, 0]) + 1.6
    figure, ax = plt.subplots(figsize=(9.9, 7.3), layout="constrained")
    ax.set(xlim=(-half, half), ylim=(-half, half), aspect="equal", xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(False)
    draw_ground(ax, bodies)
    for body in np.flatnonzero((bodies.shape == BARRIER) | (bodies.shape == WALL)):
        draw_body(
            ax, bodies, bodies.start, body, "#6f7780" if bodies.shape[body] == BARRIER else "#9aa2aa", 3
        )
    partners = contacts.pairs[(bodies.shape[contacts.pairs] != GROUND).all(axis=1)]
    for body in np.flatnonzero(bodies.shape == CAR):
        draw_car(ax, bodies, body, ORANGE if body in partners else BLUE)
    draw_pairs(ax, bodies, contacts)
    draw_contacts(ax, bodies, contacts)
    scale_bar(ax, half)
    explain(figure, ax, int(world.max()) + 1, everyone, contacts)
    figure.savefig(path, dpi=120, facecolor="white")
    print(f"written: {path} (world {number})")


def liveliest(bodies, world, contacts):
    """The world with the most pairs of cars that touch, and cars that touch barriers and walls as well."""
    hit = contacts.pairs[contacts.status == gc.Status.HIT]
    kind, of = bodies.shape[hit].max(axis=1), world[hit].max(axis=1)
    count = [np.bincount(of[kind == k], minlength=world.max() + 1) for k in (CAR, BARRIER, WALL)]
    return int(np.argmax(count[0] + 2 * np.minimum(count[1], 2) + np.minimum(count[2], 3)))


def draw_ground(ax, bodies):
    mesh = bodies.meshes[GROUND]
    light = mesh.face_planes[:, :3] @ LIGHT
    shade = np.clip(0.955 + 1.6 * (light - LIGHT[2]), 0.90, 1.0)[:, None] * [0.985, 0.985, 0.975]
    loops = mesh.vertices[mesh.face_vertices.reshape(-1, 3), :2]
    ax.add_collection(
        PolyCollection(loops, facecolors=shade, edgecolors=0.985 * shade, linewidths=0.4, zorder=0)
    )


def draw_body(ax, bodies, poses, body, color, order, alpha=1.0):
    """Faces that look up, the lower ones first, in the light."""
    mesh, pose = bodies.meshes[bodies.shape[body]], poses[body : body + 1]
    vertices = pose.apply(mesh.vertices)
    normals = pose.apply(mesh.face_planes[:, :3]) - pose.position
    up = np.flatnonzero(normals[:, 2] > 0.05)
    up = up[np.argsort([vertices[mesh.face(f), 2].mean() for f in up], kind="stable")]
    shade = np.clip(0.45 + 0.72 * normals[up] @ LIGHT, 0.3, 1.25)[:, None]
    color = np.clip(shade * matplotlib.colors.to_rgb(color), 0, 1)
    shapes = [vertices[mesh.face(f), :2] for f in up]
    ax.add_collection(
        PolyCollection(
            shapes, facecolors=color, edgecolors=0.6 * color, linewidths=0.4, alpha=alpha, zorder=order
        )
    )


def draw_car(ax, bodies, body, color):
    """Where it starts and ends, what it sweeps, and the box around that."""
    start, end = bodies.start.position[body], bodies.end.position[body]
    turn0, turn1 = bodies.start.unit_wxyz[body], bodies.end.unit_wxyz[body]
    turn1 = turn1 if turn0 @ turn1 > 0 else -turn1
    share = np.linspace(0, 1, GHOSTS)[:, None]
    # a chord in place of the arc: cars turn by so little that the two are a centimetre apart
    between = gc.Poses.from_quat_wxyz(start + share * (end - start), turn0 + share * (turn1 - turn0))
    sole = bodies.meshes[CAR].vertices[[0, 1, 9, 8]]
    places = between[:, None].apply(sole[None])[..., :2]
    ax.add_collection(PolyCollection(places, facecolors=color, edgecolors="none", alpha=0.055, zorder=2))
    low, high = places.reshape(-1, 2).min(axis=0), places.reshape(-1, 2).max(axis=0)
    ax.add_patch(Rectangle(low, *(high - low), fill=False, ec=color, lw=0.9, ls=(0, (3, 2)), zorder=4))
    draw_body(ax, bodies, bodies.start, body, color, 3, alpha=0.35)
    draw_body(ax, bodies, bodies.end, body, color, 5)


def draw_pairs(ax, bodies, contacts):
    """Pairs of cars that the broad phase found, middle to middle, unless they touch."""
    middle = 0.5 * (bodies.start.position + bodies.end.position)[:, :2]
    small = np.isin(bodies.shape[contacts.pairs], (CAR, BARRIER)).all(axis=1)
    for hit, color, order in ((False, INK, 6), (True, RED, 6)):
        chosen = contacts.pairs[small & ((contacts.status == gc.Status.HIT) == hit)]
        ax.add_collection(
            LineCollection(
                middle[chosen], colors=color, linewidths=1.2, linestyles="-" if hit else ":", zorder=order
            )
        )


def draw_contacts(ax, bodies, contacts):
    ground = (bodies.shape[contacts.pairs[contacts.pair]] == GROUND).any(axis=1)
    x, y = contacts.position[:, :2].T
    ax.scatter(x[ground], y[ground], s=13, c=GREEN, edgecolors="white", linewidths=0.5, zorder=7)
    ax.scatter(x[~ground], y[~ground], s=30, c=RED, edgecolors="white", linewidths=0.7, zorder=8)


def scale_bar(ax, half):
    x, y = -half + 3.0, -half + 2.9
    ax.add_patch(Rectangle((x, y), 10.0, 0.35, fc=INK, ec="white", lw=1.0, zorder=9))
    ax.text(x + 5.0, y + 0.6, "10 m", ha="center", va="bottom", fontsize=9, color=INK, zorder=9,
            path_effects=[withStroke(linewidth=3, foreground="white")])  # fmt: skip


def explain(figure, ax, n_worlds, everyone, contacts):
    keys = [
        Patch(fc=ORANGE, label="car at the end of the step,\npale at the start"),
        Patch(fc=BLUE, label="car that may meet the ground\nalone, or nothing"),
        Line2D([], [], color=INK, lw=0.9, ls=(0, (3, 2)), label="box around what it sweeps"),
        Line2D([], [], color=INK, lw=1.2, ls=":", label="pair that does not touch"),
        Line2D([], [], color=RED, lw=1.2, label="pair that touches"),
        Line2D([], [], color=RED, marker="o", ls="", mec="white", label="contact"),
        Line2D([], [], color=GREEN, marker="o", ls="", ms=4.5, mec="white", label="contact with the ground"),
        Patch(fc="#6f7780", label="barrier"),
    ]
    figure.legend(handles=keys, loc="outside right upper", frameon=False, fontsize=9.5, labelspacing=0.9)
    hits = int((contacts.status == gc.Status.HIT).sum())
    ax.set_title(
        f"One world of {n_worlds:,}: {contacts.n_pairs} pairs may meet in this step, {hits} do, in "
        f"{len(contacts)} contacts",
        fontsize=11.5, color=INK, loc="left",
    )  # fmt: skip
    rows = {row.name: row for row in everyone.report}
    left = [(rows["hierarchy"].got, "pairs of one world"), (rows["hierarchy"].passed, "may meet"),
            (rows["boxes"].passed, "after the filters"),
            ((everyone.status == gc.Status.HIT).sum(), "touch"), (len(everyone), "contacts")]  # fmt: skip
    lines = "\n".join(f"{count:>9,}  {what}" for count, what in left)
    figure.text(
        0.745, 0.06, f"All {n_worlds:,} worlds\n\n{lines}", family="monospace", fontsize=8.5, color=INK
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE)
