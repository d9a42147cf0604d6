"""Draw the figures of docs/guide/concepts.md: docs/images/concept_*.svg, all computed by gpu_collide itself.

    python docs/make_figures.py [FOLDER]

Needs matplotlib. The same versions write the same bytes: no dates, and ids from a fixed salt.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

import gpu_collide as gc
from gpu_collide.view.pair import place_b
from gpu_collide.view.screen import on_screen, rasterize, screw_of
from gpu_collide.view.space import COLOR_A, COLOR_B, COLOR_INK, COLOR_NORMAL

FOLDER = Path(__file__).resolve().parent / "images"
UNIT = [1.0, 0.0, 0.0, 0.0]
GREY = "#b9bec6"
BOX_EDGES = gc.shapes.box().edges
INSIDE = "#3c8d5a"

plt.rcParams.update(
    {
        "svg.hashsalt": "gpu_collide", "svg.fonttype": "path", "font.size": 9, "axes.titlesize": 9,
        "axes.spines.top": False, "axes.spines.right": False, "text.color": COLOR_INK,
    }
)  # fmt: skip


def pair(start_b, end_b, quat_b, size_a=(1, 1, 1), size_b=(1, 1, 1), start_quat=UNIT):
    """A box that stands at the origin and one that moves."""
    quat_b = np.asarray(quat_b, float) / np.linalg.norm(quat_b)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], start_b], [UNIT, start_quat])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], end_b], [UNIT, quat_b])
    return gc.Bodies([gc.shapes.box(size_a), gc.shapes.box(size_b)], [0, 1], start, end)


def from_above(axes, points, color, **style):
    """A box as its edges, seen along z."""
    axes.add_collection(LineCollection(points[BOX_EDGES][..., :2], colors=color, **style))


def screw_motion():
    """A box that goes along its screw, in space: the axis, and helices of its corners."""
    bodies = pair([1.6, 0, -1.2], [-1.4, 0.9, 1.2], [np.cos(1.3), 0, 0, np.sin(1.3)])
    screw = screw_of(bodies, (0, 1))
    mesh = bodies.meshes[1]
    figure = plt.figure(figsize=(5.4, 4.2))
    axes = figure.add_axes((0, 0, 1, 1), projection="3d")
    times = np.linspace(0, 1, 60)
    paths = np.stack([place_b(screw, mesh.vertices, t) for t in times])
    for k in range(len(mesh.vertices)):
        axes.plot(*paths[:, k].T, color=COLOR_B, lw=0.8, alpha=0.6)
    for t, alpha in ((0.0, 1.0), (0.5, 0.45), (1.0, 1.0)):
        for a, b in mesh.edges:
            ends = place_b(screw, mesh.vertices, t)[[a, b]]
            axes.plot(*ends.T, color=COLOR_B, lw=1.6, alpha=alpha)
        axes.text(*(place_b(screw, mesh.center[None], t)[0] + [0, 0, 1.0]), f"t = {t:g}", ha="center")
    motion = gc.screw_motion(bodies.start[:1], bodies.end[:1], bodies.start[1:], bodies.end[1:])
    point, axis = np.reshape(motion.point, (-1, 3))[0], np.reshape(motion.axis, (-1, 3))[0]
    line = point + np.array([-2.2, 2.4])[:, None] * axis
    axes.plot(*line.T, color=COLOR_INK, lw=1.4, ls="--")
    axes.text(*line[1], "axis", ha="left")
    seen = np.concatenate([paths.reshape(-1, 3), line])
    low, high = seen.min(axis=0), seen.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.25)
    axes.view_init(20, -60)
    axes.set_axis_off()
    return figure


def own_motions():
    """Two cars on arcs: their own motions collide, the screw of their relative poses passes by."""
    place = np.array([[-2.1, -0.2, 0], [3.1, -9.9, 0]]), np.array([[10.8, -6.0, 0], [0.9, -0.4, 0]])
    yaw = np.radians([-69.4, 72.8]), np.radians([20.6, 132.8])
    start, end = (
        gc.Poses.from_quat_wxyz(p, np.stack([np.cos(y / 2), 0 * y, 0 * y, np.sin(y / 2)], 1))
        for p, y in zip(place, yaw, strict=True)
    )
    bodies = gc.Bodies(gc.shapes.box((4.4, 1.8, 1.4)), None, start, end)
    toi = float(gc.collide(bodies, [[0, 1]], motion="body").toi[0])
    assert not np.isfinite(gc.collide(bodies, [[0, 1]]).toi[0]), "one screw has to miss"
    corners, screw = bodies.meshes[0].vertices, screw_of(bodies, (0, 1))
    times = np.linspace(0, 1, 80)
    moves = [bodies.poses_at(t) for t in times]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    for body, color in enumerate((COLOR_A, COLOR_B)):
        left.plot(*np.stack([m.position[body] for m in moves])[:, :2].T, color=color, lw=1.0)
        for t, alpha in ((0.0, 0.4), (toi, 1.0), (1.0, 0.4)):
            from_above(left, bodies.poses_at(t)[body].apply(corners), color, lw=1.4, alpha=alpha)
    left.set(title=f"each car on its own arc: they collide at {toi:.2f} of the step", aspect="equal")
    from_above(right, corners, COLOR_A, lw=1.4)
    seen = [m[0].inverse().apply(m[1].apply(corners)) for m in moves]
    true = np.stack([p.mean(axis=0) for p in seen])
    one = np.stack([place_b(screw, corners, t).mean(axis=0) for t in times])
    right.plot(*true[:, :2].T, color=COLOR_B, lw=1.0, label="B, as it moves")
    right.plot(*one[:, :2].T, color=COLOR_INK, lw=1.0, ls="--", label="B, on one screw")
    at = bodies.poses_at(toi)
    from_above(right, at[0].inverse().apply(at[1].apply(corners)), COLOR_B, lw=1.4)
    from_above(right, place_b(screw, corners, toi), COLOR_INK, lw=1.2, ls="--")
    for t in (0.0, 1.0):
        from_above(right, place_b(screw, corners, t), COLOR_B, lw=1.4, alpha=0.4)
    right.set(title="as A sees it: the relative screw passes by", aspect="equal")
    right.legend(frameon=False, fontsize=8, loc="best")
    for axes in (left, right):
        axes.autoscale_view()
        axes.set_axis_off()
    return figure


def screen():
    """Two points that meet share a place on the screen: from above along the axis, and the screen itself."""
    bodies = pair([2.0, -1.6, 0.1], [0.3, 0.7, 0.2], [np.cos(0.6), 0.1, 0, np.sin(0.6)])
    screw = screw_of(bodies, (0, 1))
    found = gc.collide(bodies, [[0, 1]], backend="cpu").of_pair(0)
    contact = found[int(np.argmax(found["properness"]))]
    drawn = rasterize(bodies, (0, 1), 4.0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.7), layout="constrained")
    from_above(left, bodies.meshes[0].vertices, COLOR_A, lw=1.4)
    for t, alpha in ((0.0, 0.35), (float(contact["time"]), 1.0), (1.0, 0.35)):
        from_above(left, place_b(screw, bodies.meshes[1].vertices, t), COLOR_B, lw=1.4, alpha=alpha)
    path = np.concatenate([place_b(screw, contact["local_b"][None], t) for t in np.linspace(0, 1, 50)])
    left.plot(*path[:, :2].T, color=COLOR_NORMAL, lw=1.2)
    left.plot(*contact["local_a"][:2], "o", color=COLOR_NORMAL)
    motion = gc.screw_motion(bodies.start[:1], bodies.end[:1], bodies.start[1:], bodies.end[1:])
    axis = np.reshape(motion.point, (-1, 3))[0]
    left.plot(*axis[:2], "+", color=COLOR_INK, ms=11, mew=1.6)
    left.annotate("axis", axis[:2], xytext=(6, 4), textcoords="offset points")
    around = np.hypot(*(contact["local_a"] - axis)[:2])
    left.add_patch(Circle(axis[:2], around, fill=False, ls=":", color=GREY))
    left.set(title="seen along the axis: B turns about it, up to A", aspect="equal")
    left.autoscale_view()
    left.set_axis_off()
    for curves, color in zip(drawn.curves, (COLOR_A, COLOR_B), strict=True):
        right.add_collection(LineCollection(curves, colors=color, lw=1.2))
    at = screw.from_a(contact["local_a"])
    h, r = on_screen(screw, at, screw.cylinder(at)[1])
    right.plot(h, r, "o", color=COLOR_NORMAL)
    right.axhline(r, color=GREY, ls=":", zorder=0)
    right.autoscale_view()
    right.set(xlabel="h, across the flow", ylabel="r, away from the axis",
              title="the screen: what can meet has one place here")  # fmt: skip
    handles = [Line2D([], [], color=c, label=w) for c, w in ((COLOR_A, "A"), (COLOR_B, "B"))]
    handles.append(Line2D([], [], marker="o", ls="", color=COLOR_NORMAL, label="a point of each that meet"))
    figure.legend(handles=handles, loc="outside lower right", frameon=False, ncols=3, fontsize=8)
    return figure


def doubling():
    """What lies around the axis has two copies on the screen, of which B meets one or the other."""
    first, turn = np.array([1.1, -0.75, -0.1]), np.radians(170)
    # About a place beside A's middle: about the middle itself rounding decides on which side A is.
    off = 0.1
    x, y = first[0], first[1] - off
    last = [x * np.cos(turn) - y * np.sin(turn), off + x * np.sin(turn) + y * np.cos(turn), 0.1]
    quat = [np.cos(turn / 2), 0, 0, np.sin(turn / 2)]
    bodies = pair(first, last, quat, (0.6, 3.0, 0.6), (0.5, 0.5, 0.5))
    screw = screw_of(bodies, (0, 1))
    drawn = rasterize(bodies, (0, 1), 4.0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.5), layout="constrained")
    motion = gc.screw_motion(bodies.start[:1], bodies.end[:1], bodies.start[1:], bodies.end[1:])
    axis = np.reshape(motion.point, (-1, 3))[0]
    from_above(left, bodies.meshes[0].vertices, COLOR_A, lw=1.4)
    for t, alpha in ((0.0, 1.0), (0.33, 0.35), (0.67, 0.35), (1.0, 0.7)):
        from_above(left, place_b(screw, bodies.meshes[1].vertices, t), COLOR_B, lw=1.4, alpha=alpha)
    path = np.concatenate([place_b(screw, bodies.meshes[1].center[None], t) for t in np.linspace(0, 1, 50)])
    left.plot(*path[:, :2].T, color=COLOR_B, lw=1.0)
    left.plot(*axis[:2], "+", color=COLOR_INK, ms=11, mew=1.6)
    left.annotate("axis", axis[:2], xytext=(6, 4), textcoords="offset points")
    left.set(title="along the axis: it goes through A, and B around it", aspect="equal")
    left.autoscale_view()
    left.set_axis_off()
    curves_a, curves_b = drawn.curves
    copies = next(
        m for m in (4, 3, 2, 1)
        if len(curves_a) % m == 0
        and all(np.allclose(c[..., 1], curves_a[: len(curves_a) // m, :, 1]) for c in np.split(curves_a, m))
    )  # fmt: skip
    assert copies > 1, "the scene is to have more than one copy"
    for k, part in enumerate(np.split(curves_a, copies)):
        right.add_collection(LineCollection(part, colors=COLOR_A, lw=1.2, ls=["-", "--", ":", "-."][k]))
    right.add_collection(LineCollection(curves_b, colors=COLOR_B, lw=1.2))
    right.autoscale_view()
    right.set(xlabel="h, across the flow", ylabel="r, away from the axis",
              title=f"the screen: {copies} copies of A, a turn apart")  # fmt: skip
    handles = [Line2D([], [], color=COLOR_A, ls=["-", "--", ":", "-."][k],
                      label=("A", "A once more")[min(k, 1)]) for k in range(copies)]  # fmt: skip
    handles.append(Line2D([], [], color=COLOR_B, label="B"))
    figure.legend(handles=handles, loc="outside lower right", frameon=False, ncols=4, fontsize=8)
    return figure


def properness():
    """One box goes down into another: each corner that comes to the surface, and how properly."""
    q = np.array([0.86, 0.28, 0.40, 0.12])
    q /= np.linalg.norm(q)
    bodies = pair([0.1, 0.03, 2.2], [0.1, 0.03, -2.2], q, size_a=(4, 4, 2.4), start_quat=q)
    found = gc.collide(bodies, [[0, 1]], min_properness=-1.0, backend="cpu").of_pair(0)
    found = found[np.argsort(found["time"])]
    top = [c for c in found if c["position"][2] > 1.1]
    shown = [top[0], top[1], top[-1]]
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 3.0), layout="constrained")
    for ax, contact in zip(axes, shown, strict=True):
        pose = bodies.start[1:].toward(bodies.end[1:], float(contact["time"]))
        points = pose.apply(bodies.meshes[1].vertices)
        ax.add_patch(Polygon([[-2, -0.4], [2, -0.4], [2, 1.2], [-2, 1.2]], color="#c9d9ea"))
        ax.plot([-2, 2], [1.2, 1.2], color=COLOR_A, lw=1.6)
        ax.add_collection(LineCollection(points[BOX_EDGES][..., [0, 2]], colors=COLOR_B, lw=1.4))
        ax.plot(contact["position"][0], contact["position"][2], "o", color=COLOR_NORMAL)
        ax.set(xlim=(-1.5, 1.7), ylim=(-0.4, 3.2), aspect="equal",
               title=f"t = {contact['time']:.2f}: properness {contact['properness']:+.2f}")  # fmt: skip
        ax.set_axis_off()
    return figure


def exact_and_raster():
    """Edges as pixels of the screen and as curves; contacts found by either."""
    bodies = pair([2.0, -1.6, 0.3], [0.3, 0.7, 0.2], [np.cos(0.6), 0.25, 0.1, np.sin(0.6)])
    drawn = rasterize(bodies, (0, 1), 12.0)
    asked = {"min_properness": -1.0, "backend": "cpu"}
    exact = gc.collide(bodies, [[0, 1]], **asked).of_pair(0)
    pixels = gc.collide(bodies, [[0, 1]], refine="pixels", resolution=12.0, **asked).of_pair(0)
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    rows, columns = np.nonzero(drawn.taken.any(axis=0))
    which = drawn.taken[0, rows, columns] + 2 * drawn.taken[1, rows, columns] - 1
    corner = np.stack([drawn.left + drawn.height * columns, drawn.bottom + drawn.height * rows], axis=1)
    squares = corner[:, None] + drawn.height * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    fills = np.array(["#bfd5ea", "#f7d9b5", "#cdb3d6"])[which]
    ax.add_collection(PolyCollection(squares, facecolors=fills, edgecolors="white", lw=0.4))
    for curves, color in zip(drawn.curves, (COLOR_A, COLOR_B), strict=True):
        ax.add_collection(LineCollection(curves, colors=color, lw=1.0))
    places = []
    for found, style in ((exact, {"marker": "o", "color": COLOR_NORMAL, "zorder": 8}),
                         (pixels, {"marker": "s", "facecolors": "none", "edgecolors": COLOR_INK,
                                   "zorder": 9, "s": 60})):  # fmt: skip
        at = drawn.screw.from_a(found["local_a"])
        place = on_screen(drawn.screw, at, drawn.screw.cylinder(at)[1])
        ax.scatter(*place.T, **style)
        places.append(place)
    middle = np.concatenate(places).mean(axis=0)
    wide = 11 * drawn.height
    ax.set(xlim=(middle[0] - 1.6 * wide, middle[0] + 1.6 * wide), ylim=(middle[1] - wide, middle[1] + wide),
           aspect="equal", xlabel="h, across the flow", ylabel="r, away from the axis")  # fmt: skip
    handles = [
        Line2D([], [], color=COLOR_A, label="edges of A"), Line2D([], [], color=COLOR_B, label="edges of B"),
        Line2D([], [], ls="", marker="o", color=COLOR_NORMAL, label="contact, exact"),
        Line2D([], [], ls="", marker="s", mfc="none", color=COLOR_INK, label='contact, refine="pixels"'),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", frameon=False, ncols=4, fontsize=8)
    return figure


def pluecker():
    """On which side of the three edges of a triangle a vertical line passes: where all agree, it hits."""
    corners = np.array([[0.0, 0.2, 0], [3.0, 0.6, 0.8], [1.1, 2.4, 0.3]])
    x, y = np.meshgrid(np.linspace(-0.6, 3.6, 36), np.linspace(-0.4, 3.0, 29), indexing="ij")
    feet = np.stack([x, y, np.full_like(x, -1.0)], axis=-1).reshape(-1, 3)
    lines = gc.pluecker.line(feet, feet + [0, 0, 1.0])
    signs = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = gc.pluecker.line(np.broadcast_to(a, feet.shape), np.broadcast_to(b, feet.shape))
        signs.append(np.sign(gc.pluecker.side(edge, lines)))
    agree = np.abs(np.sum(signs, axis=0)) == 3
    figure, ax = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
    ax.scatter(*feet[~agree, :2].T, s=6, color=GREY, label="sides differ: it misses")
    ax.scatter(*feet[agree, :2].T, s=10, color=INSIDE, label="all on one side: it hits")
    for k, (a, b) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        ax.annotate("", b[:2], a[:2], arrowprops={"arrowstyle": "-|>", "color": COLOR_A, "lw": 1.8})
        middle = 0.5 * (a + b)[:2]
        out = middle - corners[:, :2].mean(axis=0)
        at = middle + 0.4 * out / np.linalg.norm(out)
        ax.text(*at, f"edge {k}", ha="center", va="center", color=COLOR_A,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})  # fmt: skip
    ax.set(aspect="equal", title="lines seen end on, and the edges of a triangle")
    ax.set_axis_off()
    figure.legend(loc="outside lower center", frameon=False, ncols=2, fontsize=8)
    return figure


def clearance():
    """Two cars that pass: where they are nearest, and the gap over the step."""
    size, way = gc.shapes.box((4.4, 1.8, 1.4)), np.array([[0, 0, 0], [-9.0, 3.4, 0]])
    start = gc.Poses.from_yaw(way, [0, 0.1])
    bodies = gc.Bodies(size, None, start, gc.Poses.from_yaw([[0, 0, 0], [8.0, 3.9, 0]], [0, -0.9]))
    near = gc.clearance(bodies, [[0, 1]], motion="body", backend="cpu")
    times = np.linspace(0, 1, 201)
    gap = gc.clearance(bodies, [[0, 1]], at=times, motion="body", backend="cpu").distance
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    for t, alpha in ((0.0, 0.3), (float(near.time[0]), 1.0), (1.0, 0.3)):
        for body, color in enumerate((COLOR_A, COLOR_B)):
            from_above(left, bodies.poses_at(t)[body].apply(size.vertices), color, lw=1.4, alpha=alpha)
    ends = np.stack([near.point_a[0], near.point_b[0]])
    left.plot(*ends[:, :2].T, "o-", color=COLOR_NORMAL, ms=4, lw=1.6)
    left.set(title=f"nearest at {near.time[0]:.2f} of the step: {near.distance[0]:.2f} apart", aspect="equal")
    left.autoscale_view()
    left.set_axis_off()
    right.plot(times, gap, color=COLOR_INK, lw=1.2)
    right.plot(near.time, near.distance, "o", color=COLOR_NORMAL, ms=5)
    right.set(xlabel="share of the step", ylabel="gap", ylim=(0, None), title="the gap over the step")
    return figure


def sweeps():
    """Spheres on straight paths, up to the first touch of a box: on a face, an edge, not at all."""
    still = gc.Poses.from_quat_wxyz([[0, 0, 0]], [[np.cos(0.2), 0, 0, np.sin(0.2)]])
    world = gc.Bodies(gc.shapes.box((2.4, 1.4, 8)), None, still, still)
    start = np.array([[-3.2, y, 0.0] for y in (1.85, 1.0, 0.1, -1.1, -1.75)])
    way, radius = np.array([6.4, 0.0, 0.0]), 0.35
    hits = gc.sweep.spheres(start, way, radius, world, backend="cpu")
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    outline = still.apply(world.meshes[0].vertices)[:, :2]
    around = outline[np.argsort(np.arctan2(*outline.T[::-1]))]
    ax.add_patch(Polygon(around, closed=True, facecolor="#c9d9ea", edgecolor=COLOR_A, lw=1.6))
    for k in range(len(start)):
        at = start[k] + hits.time[k] * way
        ax.plot([start[k, 0], at[0]], [start[k, 1], at[1]], color=COLOR_B, lw=1.0)
        ax.add_patch(Circle(start[k, :2], radius, fill=False, ls=":", color=COLOR_B))
        ax.add_patch(Circle(at[:2], radius, fill=False, color=COLOR_B, lw=1.4))
        if hits.hit[k]:
            point, normal = hits.point[k], hits.normal[k]
            ax.plot(*point[:2], "o", ms=4, color=COLOR_NORMAL)
            ax.annotate("", (point + 0.8 * normal)[:2], point[:2],
                        arrowprops={"arrowstyle": "-|>", "color": COLOR_NORMAL})  # fmt: skip
            word = gc.sweep.Feature(hits.feature[k]).name.lower()
            ax.annotate(f"{word}, t = {hits.time[k]:.2f}", at[:2], xytext=(-16, 20),
                        textcoords="offset points", ha="right", fontsize=8)  # fmt: skip
    ax.set(xlim=(-4.3, 4), ylim=(-2.4, 2.5), aspect="equal")
    ax.set_axis_off()
    return figure


FIGURES = {
    "screw_motion": screw_motion, "own_motions": own_motions, "screen": screen, "doubling": doubling,
    "properness": properness, "exact_and_raster": exact_and_raster, "pluecker": pluecker, "sweeps": sweeps,
    "clearance": clearance,
}  # fmt: skip


def main(folder=FOLDER):
    for name, draw in FIGURES.items():
        figure = draw()
        figure.savefig(Path(folder) / f"concept_{name}.svg", metadata={"Date": None}, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
