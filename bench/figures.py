"""What the measurements are drawn as."""

from __future__ import annotations

from pathlib import Path

from bench.settings import BenchError


def cost_over_triangles(rows: list[dict], columns: dict[str, str], title: str, path: Path) -> None:
    """Microseconds a query over the triangles of the world, a line for each of `columns` (column: its label).

    Triangles are on a logarithmic axis and times on a linear one, so that a cost that grows with the depth
    of a tree is a straight line.
    """
    plt = _pyplot()
    figure, axis = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
    triangles = [row["triangles"] for row in rows]
    for number, (column, label) in enumerate(columns.items()):
        values = [row[column] for row in rows]
        axis.plot(triangles, values, color=f"C{number}", marker="o", markersize=4, label=label)
    axis.set_xscale("log")
    axis.set_ylim(bottom=0.0)
    axis.set_xlabel("triangles of the world")
    axis.set_ylabel("microseconds a query")
    axis.set_title(title, fontsize=10)
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def cost_over_faces(rows: list[dict], columns: dict[str, str], title: str, path: Path) -> None:
    """Microseconds a pair over the faces of a body, both logarithmic: a panel for each shape and step, a line
    for each of `columns` (column: its label); what is not a number is left out."""
    plt = _pyplot()
    shapes, steps = (list(dict.fromkeys(row[key] for row in rows)) for key in ("shape", "step"))
    size = (3.4 * len(steps), 2.8 * len(shapes))
    figure, axes = plt.subplots(
        len(shapes), len(steps), figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axis, shape, step in ((axes[i, j], a, b) for i, a in enumerate(shapes) for j, b in enumerate(steps)):
        some = [row for row in rows if row["shape"] == shape and row["step"] == step]
        for number, (column, label) in enumerate(columns.items()):
            values = [row[column] for row in some]
            faces = [row["faces"] for row in some]
            axis.plot(faces, values, color=f"C{number}", marker="o", markersize=3, label=label)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{shape}, {step}", fontsize=9)
        axis.grid(True, alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("faces of a body")
    for axis in axes[:, 0]:
        axis.set_ylabel("microseconds a pair")
    axes[0, 0].legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def ratio_over_turn(rows: list[dict], path: Path) -> None:
    """How many times as long `motion="body"` takes, over the largest turn of a body in the step."""
    plt = _pyplot()
    figure, axis = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
    for number, shape in enumerate(dict.fromkeys(row["shape"] for row in rows)):
        for axes, line in (("any", "-"), ("vertical", "--")):
            some = [row for row in rows if row["shape"] == shape and row["axes"] == axes]
            turns, ratios = ([row[key] for row in some] for key in ("turn", "ratio"))
            label = f"{shape}, {axes} axes"
            axis.plot(turns, ratios, line, color=f"C{number}", marker="o", markersize=4, label=label)
    axis.set_ylim(bottom=0.0)
    axis.axhline(1.0, color="0.6", linewidth=0.8)
    axis.set_xlabel("largest turn of a body in the step, degrees")
    axis.set_ylabel("processor time, motion='body' over 'relative'")
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _pyplot():
    try:
        import matplotlib
    except ImportError as error:
        raise BenchError("the figure needs matplotlib: python -m pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
