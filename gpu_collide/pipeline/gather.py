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

    def fields(self, run, stay=False):
        """Whole arrays: all on the host, or, to `stay`, all where they were computed.

        What is joined is let go at once: the result is large, and should not be there twice.
        """
        be = run.backend
        xp, get = (be.arrays, lambda x: x) if stay else (np, be.to_host)
        starts, before = [xp.zeros(1, np.int64)], 0
        fields: dict[str, list[Any]] = {name: [] for name in FIELDS}
        status, toi = [], []
        for k, (piece_status, piece_toi, start, total, out) in enumerate(self.pieces):
            self.pieces[k] = None
            status.append(get(piece_status))
            toi.append(get(piece_toi).astype(np.float64, copy=False))
            starts.append(get(start)[1:] + before)
            before += total
            for name, (_, width) in FIELDS.items():
                flat = get(out[name])[: total * width]
                fields[name].append(flat.reshape(total, width) if width > 1 else flat)
        result = {name: _join(xp, fields.pop(name), *FIELDS[name], run.real) for name in FIELDS}
        result["status"] = _join(xp, status, "u1", 1)
        result["contact_start"] = _join(xp, starts, "i8", 1)
        blocks, self.blocks = self.blocks, []
        blocks = [xp.asarray(block if isinstance(block, np.ndarray) else get(block)) for block in blocks]
        result["pairs"] = _join(xp, blocks, "i4", 2)
        times = _join(xp, toi, "f8", 1)
        result["toi"] = xp.where(times > 1.5, np.inf, times)
        result["sustained"] = result["sustained"].view(np.bool_)
        if self.origins and len(result["pair"]):
            origins = xp.asarray(np.concatenate(self.origins))
            result["position"] = result["position"] + origins[result["pair"]]
        return result


def _join(xp, parts, dtype, width, real=None):
    """One array of the parts, whose list is empty afterwards."""
    empty = xp.zeros((0, width) if width > 1 else 0, np.dtype(dtype) if dtype else real)
    whole = parts[0] if len(parts) == 1 else xp.concatenate(parts) if parts else empty
    parts.clear()
    return whole
