"""What the measurements are drawn as."""

from __future__ import annotations

from pathlib import Path

from bench.settings import BenchError


def cost_over_triangles(rows: list[dict], columns: dict[str, str], title: str, path: Path) -> None:
    """Microseconds a query over the triangles of the world, a line for each of `columns` (column: its label).

    Triangles are on a logarithmic axis and times on a linear one, so that a cost that grows with the depth
    of a tree is a straight line.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise BenchError("the figure needs matplotlib: python -m pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

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
