"""Draw docs/images/batch.svg, how a batch run goes: ``python docs/make_batch.py [FILE]``."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, Rectangle

from gpu_collide.view.space import COLOR_A, COLOR_B, COLOR_INK

FILE = Path(__file__).resolve().parent / "images" / "batch.svg"
GREY, PALE = "#b9bec6", "#eef1f4"
ROWS = (8.1, 6.3, 4.5, 2.7)  # middle of each item

plt.rcParams.update(
    {"svg.hashsalt": "gpu_collide", "svg.fonttype": "path", "font.size": 9, "text.color": COLOR_INK}
)


def box(axes, x, y, width, height, text="", color=PALE, edge=GREY, **style):
    axes.add_patch(Rectangle((x, y - height / 2), width, height, facecolor=color, edgecolor=edge, lw=0.8))
    axes.text(x + width / 2, y, text, ha="center", va="center", **style)


def arrow(axes, start, end, **style):
    style = {"color": GREY, "lw": 1.2, "arrowstyle": "-|>", "mutation_scale": 9, **style}
    axes.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, **style))


def recordings(axes):
    """Small files in two bundles, and one long file cut at shared frames."""
    for row, first in zip(ROWS[:2], (0, 4), strict=True):
        for k in range(4):
            box(axes, 0.2 + 0.62 * k, row, 0.5, 0.8, f"r{first + k}", color="white", fontsize=7)
        arrow(axes, (2.75, row), (3.5, row))
    box(axes, 0.2, (ROWS[2] + ROWS[3]) / 2, 2.36, 3.2, "", color="white")
    axes.text(1.38, 4.45, "a long recording", ha="center", va="center", fontsize=8)
    axes.plot([0.2, 2.56], [3.6, 3.6], color=COLOR_B, lw=1.6, ls=(0, (3, 2)))
    axes.text(
        1.38, 2.95, "both have the\nframe at the seam", ha="center", va="center", fontsize=7, color=COLOR_B
    )
    for row in ROWS[2:]:
        arrow(axes, (2.62, row), (3.5, row))


def draw(file=FILE):
    figure, axes = plt.subplots(figsize=(8.6, 3.9))
    figure.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(0, 15.4), ylim=(0.3, 10.1))
    axes.set_axis_off()
    for x, text in (
        (1.4, "recordings"),
        (4.35, "items of plan.json"),
        (7.65, "an engine"),
        (11.0, "parts"),
        (13.9, "tables"),
    ):
        axes.text(x, 9.5, text, ha="center", weight="bold")
    recordings(axes)
    for k, row in enumerate(ROWS):
        box(axes, 3.55, row, 1.6, 0.9, f"item {k}")
        arrow(axes, (5.2, row), (6.3, row))
        arrow(axes, (9.05, row), (9.7, row))
        box(axes, 9.75, row, 1.5, 0.9, f"part-{k}.parquet", color="white", fontsize=6.5)
        box(axes, 11.4, row, 0.9, 0.9, "mark", color=COLOR_A, edge=COLOR_A, fontsize=7, weight="bold")
        arrow(axes, (12.35, row), (13.0, row))
    box(axes, 6.35, 5.4, 2.65, 6.6, "")
    for y, text in (
        (7.7, "this process"),
        (6.15, "processes"),
        (4.6, "a process\na GPU"),
        (3.05, "a Ray cluster"),
    ):
        box(axes, 6.6, y, 2.15, 1.1, text, color="white", fontsize=8)
    box(
        axes,
        13.05,
        5.4,
        1.75,
        6.6,
        "contacts\n\npairs\n\nskipped\n\nencounters\n\nerrors",
        color="white",
        fontsize=8,
    )
    box(
        axes,
        9.2,
        1.05,
        3.1,
        0.9,
        "item 4 joins encounters\nof parts 2 and 3",
        color="white",
        edge=COLOR_B,
        fontsize=7,
    )
    for x, y in ((9.45, 4.5), (10.4, 2.25)):
        arrow(axes, (x, y), (x, 1.52), color=COLOR_B)
    axes.plot([9.45, 9.72], [4.5, 4.5], color=COLOR_B, lw=1.2)
    axes.plot([12.3, 13.9], [1.05, 1.05], color=COLOR_B, lw=1.2)
    arrow(axes, (13.9, 1.05), (13.9, 2.08), color=COLOR_B)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(*sys.argv[1:])
