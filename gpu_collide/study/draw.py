"""One figure of errors over cost: a panel per shape, a line per mode, a point per resolution."""

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
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator, NullFormatter

    shapes = list(dict.fromkeys(row["shape"] for row in done.rows))
    first = done.rows[0]
    rows = [r for r in done.rows if (r["precision"], r["backend"]) == (first["precision"], first["backend"])]
    width = max(1.5 + 3.6 * len(shapes), 6.6)  # of the title, at least
    figure, axes = plt.subplots(
        2, len(shapes), figsize=(width, 7.0), squeeze=False, sharex="col", sharey="row",
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
            top.plot(spent, median, "o-", color=color, markersize=4)
            top.plot(spent, most, ":", color=color)
            wrong = [r["false"] for r in line], [r["missed"] for r in line]
            low.plot(spent, wrong[0], "o-", color=color, markersize=4)
            low.plot(spent, wrong[1], ":", color=color)
            if mode != "exact":
                for r, y in zip(line, median, strict=True):
                    top.annotate(f"{r['resolution']:g}", (cost(r), y), (3, 4), fontsize=7,
                                 textcoords="offset points", color=color)  # fmt: skip
        pairs = next(r["pairs"] for r in rows if r["shape"] == shape)
        top.set(title=f"{shape} ({pairs:,} pairs)", xscale="log", yscale="log")
        low.set(xlabel=f"microseconds a pair, {clock}", xscale="log")
        low.set_yscale("symlog", linthresh=1e-3)
        low.set_ylim(0, 1)
        low.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        low.xaxis.set_major_formatter("{x:g}")
        low.xaxis.set_minor_formatter(NullFormatter())
        for axis in (top, low):
            axis.grid(True, which="major", alpha=0.3)
    axes[0, 0].set_ylabel(f"error in time, steps (0: at {FLOOR:g})")
    axes[1, 0].set_ylabel("share of contacts")
    for axis, words, place in (
        (axes[0, 0], ["median", "95th percentile"], (0.01, 0.1)),
        (axes[1, 0], ["false", "missed"], (0.01, 0.78)),
    ):
        lines = [Line2D([], [], color="0.3", ls=style) for style in ("-", ":")]
        axis.legend(lines, words, fontsize=8, framealpha=0.8, loc=place)
    shown = [mode for mode in COLORS if any(r["mode"] == mode for r in rows)]
    handles = [Line2D([], [], color=COLORS[mode], marker="o", markersize=4, label=mode) for mode in shown]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9)
    figure.suptitle(
        "Errors over cost: each point a resolution, numbers are rows per short edge\n"
        f"{first['backend']}, {first['device']}, {first['precision']}",
        fontsize=10,
    )
    return figure
