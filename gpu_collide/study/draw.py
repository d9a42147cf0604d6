"""One figure: errors over what they cost, a panel a shape, a line a mode, a point a resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide.study.run import cost

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.study.run import Study

__all__ = ["draw"]

COLORS = {"exact": "C2", "segments": "C0", "pixels": "C1"}
FLOOR = 1e-9  # of a step: exact times differ by their rounding, which needs no decades of paper


def draw(done: Study) -> Any:
    """A matplotlib figure: above the median and 95th percentile of the error in time, below what is false or
    missed."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    shapes = list(dict.fromkeys(row["shape"] for row in done.rows))
    first = done.rows[0]
    rows = [r for r in done.rows if (r["precision"], r["backend"]) == (first["precision"], first["backend"])]
    figure, axes = plt.subplots(
        2, len(shapes), figsize=(1.5 + 3.6 * len(shapes), 7.0), squeeze=False, sharex="col", sharey="row",
        layout="constrained",
    )  # fmt: skip
    clock = "of one core" if first["backend"] in ("cpu", "reference") else "on the clock"
    for column, shape in enumerate(shapes):
        top, low = axes[:, column]
        for mode, color in COLORS.items():
            line = [r for r in rows if (r["shape"], r["mode"]) == (shape, mode)]
            if not line:
                continue
            spent = [cost(r) for r in line]
            median, most = ([max(r[name], FLOOR) for r in line] for name in ("time_median", "time_95"))
            top.plot(spent, median, "o-", color=color, markersize=4, label=f"{mode}: error in time, median")
            top.plot(spent, most, ":", color=color, label=f"{mode}: 95th percentile")
            wrong = [r["false"] for r in line], [r["missed"] for r in line]
            low.plot(spent, wrong[0], "o-", color=color, markersize=4, label=f"{mode}: false")
            low.plot(spent, wrong[1], ":", color=color, label=f"{mode}: missed")
            if mode != "exact":
                for r, y in zip(line, median, strict=True):
                    top.annotate(f"{r['resolution']:g}", (cost(r), y), (3, 4), fontsize=7,
                                 textcoords="offset points", color=color)  # fmt: skip
        pairs = next(r["pairs"] for r in rows if r["shape"] == shape)
        top.set(title=f"{shape} ({pairs:,} pairs)", xscale="log", yscale="log")
        low.set(xlabel=f"microseconds a pair, {clock}", xscale="log")
        low.set_yscale("symlog", linthresh=1e-3)
        low.set_ylim(bottom=0)
        low.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        low.xaxis.set_major_formatter("{x:g}")
        low.xaxis.set_minor_formatter(NullFormatter())
        for axis in (top, low):
            axis.grid(True, which="major", alpha=0.3)
    axes[0, 0].set_ylabel(f"error in time, steps (0: at {FLOOR:g})")
    axes[1, 0].set_ylabel("share of contacts")
    handles = [h for axis in axes[:, 0] for h in axis.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(
        "Errors over cost: each point a resolution, numbers are rows per short edge\n"
        f"{first['backend']}, {first['device']}, {first['precision']}",
        fontsize=10,
    )
    return figure
