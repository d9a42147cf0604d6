"""`Parts`: the names of the parts of a mesh, and which parts each face belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import Frozen, owned
from gpu_collide.geometry.arrays.adjacency import gathered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["JOINT", "Parts", "as_parts"]

JOINT = " + "  # between the names of what belongs to several parts


class Parts(Frozen):
    """Names of the parts of a mesh, as its file or who made it calls them.

    Attributes
    ----------
    names : tuple of str
        In the order in which they come in the file.
    start, members : (nf + 1,), (k,) int64
        Face f belongs to the parts ``members[start[f]:start[f + 1]]``, rising: to one, to none, or to several
        if faces of several were merged.
    """

    names: tuple[str, ...]
    start: Array
    members: Array

    def __init__(self, names: Sequence[str], start: Array, members: Array) -> None:
        self.__dict__.update(names=tuple(names), start=owned(start), members=owned(members))

    def of_merged(self, start: Array, faces: Array) -> Parts:
        """Those of faces that were made of these, f of ``faces[start[f]:start[f + 1]]``."""
        at, members = gathered(self.start, self.members, faces)
        owner = np.repeat(np.arange(len(start) - 1), np.diff(start))[at]
        return Parts(self.names, *_rising(owner, members, len(start) - 1, len(self.names)))

    def labels(self, group: Array, faces: Array, n_groups: int) -> list[str]:
        """What groups of faces are called, face ``faces[k]`` being in ``group[k]``: several names joined by
        " + ", empty for none."""
        at, members = gathered(self.start, self.members, faces)
        start, members = _rising(group[at], members, n_groups, len(self.names))
        ends = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
        return [JOINT.join(self.names[k] for k in members[first:stop]) for first, stop in ends]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Parts({', '.join(self.names)})"


def as_parts(parts: Any, n_faces: int) -> Parts | None:
    """The argument ``parts`` of a mesh of `n_faces` faces: a name for each, empty for none; or `Parts`."""
    if parts is None:
        return None
    if isinstance(parts, Parts):
        count = len(parts.start) - 1
    else:
        if isinstance(parts, str) or not hasattr(parts, "__len__") or isinstance(parts, dict):
            raise TypeError(
                f"parts: expected a name for each face, got {type(parts).__name__}; pass a list of str"
            )
        count = len(parts)
    if count != n_faces:
        raise ValueError(f"parts: expected a name for each of {n_faces} faces, got {count}")
    if isinstance(parts, Parts):
        return parts
    number: dict[str, int] = {}
    codes = np.empty(count, np.int64)
    for k, name in enumerate(parts):
        if not isinstance(name, str):
            raise TypeError(f"parts: expected names, got {type(name).__name__} at face {k}; pass str")
        codes[k] = number.setdefault(str(name), len(number)) if name else -1
    if not number:
        return None
    start = np.concatenate([[0], np.cumsum(codes >= 0)])
    return Parts(list(number), start, codes[codes >= 0])


def _rising(owner: Array, values: Array, rows: int, most: int) -> tuple[Array, Array]:
    """CSR of values below `most` by owner, rising and each once."""
    keys = np.unique(owner * most + values)
    count = np.bincount(keys // max(most, 1), minlength=rows)
    return np.concatenate([[0], np.cumsum(count)]), keys % max(most, 1)
