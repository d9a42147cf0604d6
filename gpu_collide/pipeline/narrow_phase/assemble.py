"""Contacts of all batches, assembled into the arrays of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.pipeline.narrow_phase.contacts import FIELDS, Written

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.launch.launcher import Launcher

__all__ = ["Assembler"]


class Assembler:
    """Blocks of pairs, and what s08 wrote of their pieces."""

    def __init__(self) -> None:
        self.pairs = 0
        self._blocks: list[Any] = []
        self._origins: list[Array] = []
        self._pieces: list[Written | None] = []

    def add_block(self, pairs: Any, origin: Array | None) -> int:
        """Add pairs, and what their positions are relative to, if anything; returns how many were before."""
        before = self.pairs
        self._blocks.append(pairs)
        self.pairs += len(pairs)
        if origin is not None:
            self._origins.append(origin)
        return before

    def add_piece(self, written: Written) -> None:
        """Add what was written of the next pairs."""
        self._pieces.append(written)

    def fields(self, run: Launcher, stay: bool = False) -> dict[str, Any]:
        """Whole arrays: all on the host, or, to `stay`, all where they were computed.

        What is joined is let go at once: the result is large, and should not be there twice.
        """
        be = run.backend
        xp, get = (be.arrays, _itself) if stay else (np, be.to_host)
        starts, before = [xp.zeros(1, np.int64)], 0
        fields: dict[str, list[Any]] = {name: [] for name in FIELDS}
        status, toi = [], []
        for k, piece in enumerate(self._pieces):
            self._pieces[k] = None
            assert piece is not None
            status.append(get(piece.status))
            toi.append(get(piece.toi).astype(np.float64, copy=False))
            starts.append(get(piece.start)[1:] + before)
            before += piece.total
            for name in FIELDS:
                fields[name].append(get(piece.out[name])[: piece.total])
        result = {name: _join(xp, fields.pop(name), *FIELDS[name], run.real) for name in FIELDS}
        result["status"] = _join(xp, status, "u1", 1)
        result["contact_start"] = _join(xp, starts, "i8", 1)
        blocks, self._blocks = self._blocks, []
        blocks = [xp.asarray(block if isinstance(block, np.ndarray) else get(block)) for block in blocks]
        result["pairs"] = _join(xp, blocks, "i4", 2)
        times = _join(xp, toi, "f8", 1)
        result["toi"] = xp.where(times > 1.5, np.inf, times)
        result["sustained"] = result["sustained"].view(np.bool_)
        if self._origins and len(result["pair"]):
            origins = xp.asarray(np.concatenate(self._origins))
            result["position"] = result["position"] + origins[result["pair"]]
        return result


def _itself(buffer: Buffer) -> Buffer:
    return buffer


def _join(xp: Any, parts: list[Any], dtype: str | None, width: int, real: Any = None) -> Any:
    """One array of the parts, whose list is empty afterwards."""
    empty = xp.zeros((0, width) if width > 1 else 0, np.dtype(dtype or real))
    whole = parts[0] if len(parts) == 1 else xp.concatenate(parts) if parts else empty
    parts.clear()
    return whole
