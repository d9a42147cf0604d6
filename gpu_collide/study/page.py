"""The study as a page: its settings, the paper's table beside the measured one, all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_collide.study import paper
from gpu_collide.study.run import cost

if TYPE_CHECKING:
    from gpu_collide.study.run import Study

__all__ = ["page"]

COLUMNS = ("shape", "mode", "resolution", "false", "missed", "time_median", "time_95", "time_worst",
           "place_median", "place_95", "place_worst", "records_per_pair", "candidates_per_pair",
           "us_per_pair", "us_processor")  # fmt: skip


def page(done: Study, command: str, picture: str = "") -> str:
    """Markdown.

    Parameters
    ----------
    done : Study
    command : str
        What repeats it.
    picture : str, optional
        Name of the figure's file, if there is one.
    """
    devices = sorted({f"`{row['backend']}`: {row['device']}" for row in done.rows})
    settings = ", ".join(f"{name} {value}" for name, value in done.settings.items())
    lines = ["# Resolution, errors and cost", "", f"Made by `{command}`: {settings}.", ""]
    lines += [f"- {device}" for device in devices]
    if picture:
        lines += ["", f"![Errors in time over the cost of a pair]({picture})"]
    lines += [*_beside_the_paper(done), *_estimates(), *_all(done)]
    return "\n".join(lines) + "\n"


def _table(columns: Any, rows: Any) -> list[str]:
    heads = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return [*heads, *(f"| {' | '.join(row)} |" for row in rows)]


def _beside_the_paper(done: Study) -> list[str]:
    """Its table of section 9.1, on its machine, and ours on ours, for the shapes that both have."""
    first = done.rows[0]
    same = [r for r in done.rows if (r["precision"], r["backend"]) == (first["precision"], first["backend"])]
    costs = {(r["shape"], r["mode"], r["resolution"]): cost(r) for r in same}
    rows = []
    for shape, theirs in paper.TIMES.items():
        for mode in ("pixels", "segments", "exact"):
            ours = [costs.get((shape, mode, at)) for at in paper.RESOLUTIONS.values()]
            if None not in ours:
                both = zip(theirs, ours, strict=True)
                rows.append([shape, mode, *(f"{old:.0f} / {new:.1f}" for old, new in both)])
    if not rows:
        return []
    heads = [f"{name} ({at:g})" for name, at in paper.RESOLUTIONS.items()]
    return [
        "", "## Beside the paper", "",
        "Microseconds a pair, the paper's (section 9.1: a Pentium IV of 2.4 GHz, pixels) / ours, on the",
        "device above: of a processor one core's, of a GPU on the clock. `exact` finds its candidates by",
        "rows here; left to itself it takes what is faster.",
        "", *_table(["shape", "ours by", *heads], rows),
    ]  # fmt: skip


def _estimates() -> list[str]:
    rows = [
        [f"{degrees}", f"{ours:.3f}", f"{said:.3f}" + ("" if round(ours, 3) == said else " (misprinted)")]
        for degrees, ours, said in paper.estimates()
    ]
    return [
        "", "## How far a screw is from what bodies do", "",
        "Estimate of section 4.3, `gc.chord_error`: a share of the length of the path; the paper's column",
        "says percent.",
        "", *_table(["degrees a step", "estimate", "as printed"], rows),
    ]  # fmt: skip


def _all(done: Study) -> list[str]:
    more = [name for name in ("precision", "backend") if len({row[name] for row in done.rows}) > 1]
    rows = [[_cell(row[name]) for name in (*more, *COLUMNS)] for row in done.rows]
    return [
        "", "## All", "",
        "False and missed: shares of the contacts reported and of the exact ones. Errors in time are steps,",
        "in place bounding radii. Records and candidates: of the reference, the mean of the first pairs.",
        "", *_table([*more, *COLUMNS], rows),
    ]  # fmt: skip


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
