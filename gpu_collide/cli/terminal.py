"""Tables, messages and progress on the terminal: rich where it is installed, plain text where it is not.

Results go to stdout, everything about the work in progress to stderr, so that output can be piped. Nothing
else in the package imports rich.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


WIDE = 120  # columns of tables that go into a file or a pipe


class Terminal:
    """Where a command writes.

    Parameters
    ----------
    quiet : bool
        No progress and no notes; results and errors are still printed.
    plain : bool
        Do without rich even where it is installed.
    """

    def __init__(self, quiet: bool = False, plain: bool = False) -> None:
        self.quiet = quiet
        self._rich = None
        if not plain:
            try:
                import rich.console

                self._rich = rich.console.Console(
                    highlight=False, width=None if sys.stdout.isatty() else WIDE
                )
                self._rich_err = rich.console.Console(stderr=True, highlight=False)
            except ImportError:
                pass

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        print(text)

    def note(self, text: str) -> None:
        """Say what is going on (stderr; not when quiet)."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """Say what the user should know even when quiet (stderr)."""
        print(f"gpu-collide: warning: {text}", file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        """Say what went wrong (stderr)."""
        if self._rich and self._rich_err.is_terminal:
            import rich.text

            label = rich.text.Text("gpu-collide: error: ", style="bold red")
            self._rich_err.print(label + rich.text.Text(str(text)), soft_wrap=True)
        else:
            print(f"gpu-collide: error: {text}", file=sys.stderr)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Print a table; columns of numbers after the first are aligned to the right.

        Parameters
        ----------
        title : str
        columns : sequence of str
        rows : sequence of sequences of str
        """
        rows = [[str(cell) for cell in row] for row in rows]
        number = [i > 0 and all(_looks_like_number(row[i]) for row in rows) for i in range(len(columns))]
        if self._rich:
            import rich.box
            import rich.markup
            import rich.table

            table = rich.table.Table(
                title=title,
                title_justify="left",
                title_style="bold",
                box=rich.box.SIMPLE_HEAD,
                show_header=any(columns),
            )
            for name, right in zip(columns, number, strict=True):
                table.add_column(name, justify="right" if right else "left", overflow="fold")
            for row in rows:
                table.add_row(*(rich.markup.escape(cell) for cell in row))
            self._rich.print(table)
            return
        width = [max([len(name)] + [len(row[i]) for row in rows]) for i, name in enumerate(columns)]

        def line(cells: Sequence[str]) -> str:
            padded = (
                c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, width, number, strict=True)
            )
            return "  " + "  ".join(padded).rstrip()

        print(f"\n{title}")
        if any(columns):
            print(line(columns))
        print("  " + "  ".join("-" * w for w in width))
        for row in rows:
            print(line(row))
        print()

    @contextlib.contextmanager
    def progress(self, label: str, unit: str = "pairs") -> Any:
        """A progress bar around long work, counted in `unit`.

        Yields
        ------
        update : callable (done, total, note="") -> None
            To be called with counts of the unit, and what else is to be said; any number of times.
        """
        if self.quiet or not sys.stderr.isatty():
            yield lambda done, total, note="": None
        elif self._rich:
            import rich.progress as rp

            columns = (
                rp.TextColumn("{task.description}"), rp.BarColumn(), rp.TextColumn("{task.fields[count]}"),
                rp.TimeRemainingColumn(),
            )  # fmt: skip
            with rp.Progress(*columns, console=self._rich_err, transient=True) as bar:
                # Without a total the bar pulses: nothing is known before the first report.
                task = bar.add_task(label, total=None, count="")
                yield lambda done, total, note="": bar.update(
                    task, completed=done, total=max(total, 1), count=_count(done, total, unit, note)
                )
        else:
            yield _PlainProgress(label, unit)
            print("\r" + " " * WIDE + "\r", end="", file=sys.stderr, flush=True)


class _PlainProgress:
    """One line that rewrites itself at most ten times a second."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit, self._last = label, unit, 0.0

    def __call__(self, done: int, total: int, note: str = "") -> None:
        now = time.perf_counter()
        if now - self._last < 0.1 and done < total:
            return
        self._last = now
        share = done / max(total, 1)
        bar = "#" * round(20 * share)
        count = _count(done, total, self._unit, note)
        print(f"\r{self._label} [{bar:<20}] {count}", end="", file=sys.stderr, flush=True)


def _count(done: int, total: int, unit: str, note: str) -> str:
    return f"{done:,} of {total:,} {unit}" + (f": {note}" if note else "")


def _looks_like_number(text: str) -> bool:
    return text == "" or text.lstrip("-.")[:1].isdigit()
