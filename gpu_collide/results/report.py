"""`FilterReport` and `PairReport`: how many pairs each test settled, and what the broad phase did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

__all__ = ["FilterReport", "FilterRow", "PairReport"]


@dataclass(frozen=True)
class FilterRow:
    """One test of the cascade.

    Attributes
    ----------
    name : str
        ``"hierarchy"``, ``"spheres"``, ``"boxes"``, ``"plane"``, ``"near features"`` or ``"narrow phase"``.
    got : int
        Pairs that came to the test.
    settled : int
        Pairs for which its answer was definitive: they cannot touch, or, for the narrow phase, all.
    seconds : float
        Wall time of the test.
    hits : int or None
        For the narrow phase, pairs with a contact.
    """

    name: str
    got: int
    settled: int
    seconds: float
    hits: int | None = None

    @property
    def passed(self) -> int:
        """Pairs left for the next test."""
        return self.got - self.settled

    @property
    def share(self) -> float:
        """Share of the pairs that were settled; 0 if none came."""
        return self.settled / self.got if self.got else 0.0

    @property
    def microseconds(self) -> float:
        """Average time of a test; 0 if none was made."""
        return 1e6 * self.seconds / self.got if self.got else 0.0

    def __add__(self, other: FilterRow) -> FilterRow:
        hits = None if self.hits is None and other.hits is None else (self.hits or 0) + (other.hits or 0)
        return FilterRow(
            self.name, self.got + other.got, self.settled + other.settled, self.seconds + other.seconds, hits
        )


class FilterReport:
    """What each test before the narrow phase settled and cost, in order.

    ``str()`` gives a table, ``+`` adds the rows of the same name, so that batches and steps can be summed.

    Parameters
    ----------
    rows : iterable of FilterRow, optional

    Examples
    --------
    >>> from gpu_collide.results.report import FilterReport, FilterRow
    >>> report = FilterReport([FilterRow("spheres", 1000, 600, 5e-5)])
    >>> (report + report)["spheres"].settled
    1200
    """

    def __init__(self, rows: Iterable[FilterRow] = ()) -> None:
        self._rows: dict[str, FilterRow] = {}
        for row in rows:
            if row.name in self._rows:
                raise ValueError(f"rows: expected each test once, got {row.name!r} twice")
            self._rows[row.name] = row

    @property
    def rows(self) -> tuple[FilterRow, ...]:
        """Tuple of `FilterRow`, in the order run."""
        return tuple(self._rows.values())

    def add(self, name: str, got: int, settled: int, seconds: float, hits: int | None = None) -> None:
        """Add to the row called `name`; a new one goes to the end."""
        hits = None if hits is None else int(hits)
        row = FilterRow(name, int(got), int(settled), float(seconds), hits)
        self._rows[name] = self._rows[name] + row if name in self._rows else row

    def __getitem__(self, name: str) -> FilterRow:
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[FilterRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self.rows == other.rows if isinstance(other, FilterReport) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: FilterReport) -> FilterReport:
        if not isinstance(other, FilterReport):
            return NotImplemented
        names = list(self._rows)
        at = 0
        for name in other._rows:  # what only the other one ran goes behind what it ran before
            if name not in self._rows:
                names.insert(at, name)
            at = names.index(name) + 1
        total = FilterReport()
        for name in names:
            there = [report._rows[name] for report in (self, other) if name in report._rows]
            total._rows[name] = there[0] if len(there) == 1 else there[0] + there[1]
        return total

    def __radd__(self, other: Any) -> FilterReport:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and numbers, fit for JSON; `from_dict` reads them."""
        names = ("name", "got", "settled", "seconds", "hits")
        return {"rows": [{name: getattr(row, name) for name in names} for row in self.rows]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FilterReport:
        """The report that `to_dict` wrote."""
        return cls(FilterRow(**row) for row in data["rows"])

    def __str__(self) -> str:
        head = ("test", "pairs got", "definitive answers", "share", "average time")
        lines = [head]
        for row in self.rows:
            lines.append(
                (row.name, f"{row.got:,}", f"{row.settled:,}", f"{100 * row.share:.1f} %", _time(row))
            )
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = [
            "  ".join(
                [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        hits = [row.hits for row in self.rows if row.hits is not None]
        total = sum(row.seconds for row in self.rows)
        text.append(f"in all {total:.3g} s" + (f", {sum(hits):,} pairs with contacts" if hits else ""))
        return "\n".join(text)

    def __repr__(self) -> str:
        return f"<FilterReport: {', '.join(f'{r.name} {r.settled}/{r.got}' for r in self.rows) or 'empty'}>"


def _time(row: FilterRow) -> str:
    return f"{row.microseconds:.3g} us" if row.got else "-"


@dataclass
class PairReport:
    """What a search did.

    Attributes
    ----------
    broad_phase : str
        ``"hierarchy"`` or ``"off"``.
    bodies : int
    invalid_bodies : (k,) int64
        Bodies with invalid poses; they are in no pair.
    possible : int
        Pairs of valid bodies that share a world, without those of two still bodies unless they are wanted;
        before `group`, `mask` and `ignore`.
    pairs : int
        Pairs that passed.
    tests : int
        Nodes and bodies that were visited.
    refitted : bool
        The tree was kept and only got new boxes.
    seconds_build, seconds_search : float
        For the tree, and for all searching so far.
    """

    broad_phase: str
    bodies: int
    invalid_bodies: np.ndarray
    possible: int
    pairs: int = 0
    tests: int = 0
    refitted: bool = False
    seconds_build: float = 0.0
    seconds_search: float = 0.0

    def filter_row(self) -> FilterRow:
        """The first row of the cascade's report."""
        name = "hierarchy" if self.broad_phase == "hierarchy" else "rules"
        seconds = self.seconds_build + self.seconds_search
        return FilterRow(name, self.possible, self.possible - self.pairs, seconds)
