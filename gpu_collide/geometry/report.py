"""`MeshReport`: what making a mesh found out about the input."""

from gpu_collide._validate import first_few

__all__ = ["MeshReport"]


class MeshReport:
    """What was repaired, dropped or looks odd in a mesh: a sequence of ``(what, count, first_indices)``.

    Empty for a clean closed mesh. Indices are the caller's own (vertices and faces as given), except for
    edges, which are numbered as in ``mesh.edges``.
    """

    def __init__(self, entries=()):
        self._entries = tuple(entries)

    @classmethod
    def build(cls, findings):
        """From ``(what, indices)`` pairs; those without indices are left out."""
        return cls((what, len(idx), tuple(int(i) for i in idx[:8])) for what, idx in findings if len(idx))

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(self._entries)

    def __getitem__(self, index):
        return self._entries[index]

    def __contains__(self, text):
        return any(text in what for what, _, _ in self._entries)

    def __repr__(self):
        if not self._entries:
            return "MeshReport: nothing repaired, dropped or odd"
        lines = [
            f"  {count:>7}  {what} (first: {first_few(first, 8)})" for what, count, first in self._entries
        ]
        return "MeshReport:\n" + "\n".join(lines)
