"""`MeshReport`: what the construction of a mesh found out about the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._validate import first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

__all__ = ["MeshReport"]


class MeshReport:
    """What was repaired, dropped or looks odd in a mesh: a sequence of ``(what, count, first_indices)``.

    Empty for a clean closed mesh. Indices are the caller's own (vertices and faces as given), except for
    edges, which are numbered as in ``mesh.edges``.
    """

    def __init__(self, entries: Iterable[tuple[str, int, tuple[int, ...]]] = ()) -> None:
        self._entries = tuple(entries)

    @classmethod
    def build(cls, findings: Iterable[tuple[str, Any]]) -> MeshReport:
        """From ``(what, indices)`` pairs; those without indices are left out."""
        return cls((what, len(idx), tuple(int(i) for i in idx[:8])) for what, idx in findings if len(idx))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        return iter(self._entries)

    def __getitem__(self, index: int) -> tuple[str, int, tuple[int, ...]]:
        return self._entries[index]

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and any(text in what for what, _, _ in self._entries)

    def __repr__(self) -> str:
        if not self._entries:
            return "MeshReport: nothing repaired, dropped or odd"
        lines = [
            f"  {count:>7}  {what} (first: {first_few(first, 8)})" for what, count, first in self._entries
        ]
        return "MeshReport:\n" + "\n".join(lines)
