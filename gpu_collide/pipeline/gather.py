"""Contacts of pieces, gathered into the arrays of a result."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FIELDS", "Gathered"]

#: Contact fields in the order of the result: dtype (None = the solver's type) and width.
FIELDS = {
    "pair": ("i4", 1), "kind": ("u1", 1), "feature_a": ("i4", 1), "feature_b": ("i4", 1), "time": (None, 1),
    "position": (None, 3), "normal": (None, 3), "properness": (None, 1), "local_a": (None, 3),
    "local_b": (None, 3), "normal_speed": (None, 1), "sustained": ("u1", 1), "time_end": (None, 1),
}  # fmt: skip


class Gathered:
    """Blocks of pairs, and what s08 wrote of their pieces."""

    def __init__(self):
        self.blocks, self.origins, self.pieces, self.pairs = [], [], [], 0

    def add_block(self, pairs, origin):
        """Add pairs, and what their positions are relative to, if anything; returns how many were before."""
        before = self.pairs
        self.blocks.append(pairs)
        self.pairs += len(pairs)
        if origin is not None:
            self.origins.append(origin)
        return before

    def add_piece(self, status, toi, start, total, out):
        """Add the buffers of a piece: status and time of its pairs, where their contacts begin, the number of
        contacts, and their fields."""
        self.pieces.append((status, toi, start, total, out))

    def fields(self, run):
        """Whole arrays, on the host; those of a single piece on a GPU stay there.

        What is joined is let go at once: the result is large, and should not be there twice.
        """
        be = run.backend
        keep = be.kind == "cuda" and len(self.pieces) == 1 and not self.origins
        get = (lambda x: x) if keep else be.to_host
        starts, before = [np.zeros(1, np.int64)], 0
        fields: dict[str, list[Any]] = {name: [] for name in FIELDS}
        status, toi = [], []
        for k, (piece_status, piece_toi, start, total, out) in enumerate(self.pieces):
            self.pieces[k] = None
            status.append(be.to_host(piece_status))
            toi.append(be.to_host(piece_toi).astype(np.float64, copy=False))
            starts.append(be.to_host(start)[1:] + before)
            before += total
            for name, (_, width) in FIELDS.items():
                flat = get(out[name])[: total * width]
                fields[name].append(flat.reshape(total, width) if width > 1 else flat)
        result = {name: _join(fields.pop(name), *FIELDS[name], run.real) for name in FIELDS}
        result["status"] = _join(status, "u1", 1)
        result["contact_start"] = _join(starts, "i8", 1)
        result["pairs"] = _join(self.blocks, "i4", 2)
        times = _join(toi, "f8", 1)
        result["toi"] = np.where(times > 1.5, np.inf, times)
        if not keep:
            result["sustained"] = result["sustained"].astype(bool)
        if self.origins and len(result["pair"]):
            result["position"] = result["position"] + np.concatenate(self.origins)[result["pair"]]
        return result


def _join(parts, dtype, width, real=None):
    """One array of the parts, whose list is empty afterwards."""
    empty = np.zeros((0, width) if width > 1 else 0, np.dtype(dtype) if dtype else real)
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else empty
    parts.clear()
    return whole
