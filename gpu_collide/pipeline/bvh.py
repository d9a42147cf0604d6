"""The tree of the broad phase: stages b02 (order of the leaves) and b03 (boxes of the nodes).

`Tree` stands over plain boxes. The layout of its nodes, and how kernels walk over them, is in
``kernels/gc_bvh.h``.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Levels", "Tree", "leaf_order"]

SAMPLE = 4096  # centres that the cube of the codes is taken from
CORE = (2, 98)  # percentiles of the sample between which the codes have their cells
MOST_LEAVES = 1 << 29


class Levels:
    """Where the levels of a tree of `n` leaves lie in its node table, from level `low` up.

    Attributes
    ----------
    counts : list of int
        Nodes of level ``low + k``.
    starts : list of int
        Place of its first node.
    total : int
        Nodes in all.
    """

    def __init__(self, n, low=0):
        if n > MOST_LEAVES:
            raise ValueError(f"expected at most {MOST_LEAVES} leaves, got {n}")
        top = max(n - 1, 0).bit_length()
        self.n, self.low, self.top = n, low, top
        self.counts = [-(-n >> level) for level in range(low, max(top, low) + 1)] if n else []
        self.starts = [sum(self.counts[:k]) for k in range(len(self.counts))]
        self.total = sum(self.counts)


def leaf_order(backend, module, boxes, n, ranks=None, n_ranks=1):
    """Order in which boxes become leaves: by rank, then along a Morton curve.

    Parameters
    ----------
    boxes : buffer of gc_real, (n, 6)
        Least and greatest coordinates.
    ranks : buffer of int32, (n,), optional
        Segment of each box, ``0 .. n_ranks - 1``; boxes of one segment become neighbours.

    Returns
    -------
    buffer of int32, (n,)
    """
    real = next(arg.dtype for arg in module["b02_keys"].args if arg.name == "origin_x")
    bits = min(21, (63 - max(n_ranks - 1, 0).bit_length()) // 3)
    origin, per_length = _cube(backend, module, boxes, n, bits, real)
    keys = backend.empty(n, np.int64)
    backend.launch_items(
        module["b02_keys"], n, n=n, bits=bits, ranked=int(ranks is not None), origin_x=origin[0],
        origin_y=origin[1], origin_z=origin[2], per_length=per_length, boxes_in=boxes,
        rank_in=backend.empty(1, np.int32) if ranks is None else ranks, keys_out=keys,
    )  # fmt: skip
    return backend.argsort(keys)


def _cube(backend, module, boxes, n, bits, real):
    """Lower corner of the cube that the codes divide, and cells per unit of length."""
    k = min(n, SAMPLE)
    centres = backend.empty(3 * k, real)
    backend.launch_items(module["b02_sample"], k, n_sample=k, n=n, boxes_in=boxes, centres_out=centres)
    centres = backend.to_host(centres).reshape(k, 3).astype(np.float64)
    centres = centres[np.isfinite(centres).all(axis=1)]
    if not len(centres):
        return np.zeros(3), 1.0
    low, high = np.percentile(centres, CORE, axis=0)
    with np.errstate(over="ignore"):
        side = float((high - low).max()) * 1.25
        origin = 0.5 * low + 0.5 * high - 0.5 * side
    limit = float(np.finfo(real).max) / 4
    least = max(np.abs(centres).max() * 1e-30, float(np.finfo(real).tiny) * 2.0 ** (bits + 2))
    side = min(max(side, least), limit)
    return np.clip(origin, -limit, limit), 2.0**bits / side


class Tree:
    """An implicit binary tree over boxes; made by `build`.

    Attributes
    ----------
    n : int
        Leaves.
    order : buffer of int32, (n,)
        Box of each leaf.
    order_host : (n,) int32
        The same on the host.
    nodes : buffer of gc_real, (levels.total * 6,)
        Boxes of all nodes, level 0 (the leaves) first.
    levels : Levels
        Where each level begins.
    """

    def __init__(self, backend, module, order, n):
        self.backend, self.module, self.n = backend, module, n
        self.order, self.levels = order, Levels(n)
        self._order_host = None
        self.real = next(a.dtype for a in module["b03_leaves"].args if a.name == "nodes_out")
        self.nodes = backend.empty(max(self.levels.total, 1) * 6, self.real)

    @classmethod
    def build(cls, backend, module, boxes, ranks=None, n_ranks=1):
        """Tree over `boxes`.

        Parameters
        ----------
        backend : Backend
        module : Module
            Kernels of `backend` in the wanted precision.
        boxes : buffer of gc_real, (n, 6) or flat
            Least x, y, z and greatest x, y, z of each box.
        ranks : buffer of int32, (n,), optional
            Segments ``0 .. n_ranks - 1`` (worlds), each of which becomes a range of neighbouring leaves.

        Returns
        -------
        Tree
        """
        n = boxes.size // 6
        Levels(n)  # refuses what is too large before anything is sorted
        order = leaf_order(backend, module, boxes, n, ranks, n_ranks) if n else backend.empty(0, np.int32)
        return cls(backend, module, order, n).refit(boxes)

    @property
    def order_host(self):
        if self._order_host is None:
            self._order_host = self.backend.to_host(self.order)
        return self._order_host

    def refit(self, boxes):
        """New boxes in the same numbers, without sorting again; returns the tree."""
        if boxes.size != 6 * self.n:
            raise ValueError(f"boxes: expected {self.n} boxes, as the tree has, got {boxes.size // 6}")
        be, at = self.backend, self.levels
        if self.n:
            be.launch_items(self.module["b03_leaves"], self.n, n=self.n, order_in=self.order, boxes_in=boxes,
                            nodes_out=self.nodes)  # fmt: skip
        for k in range(1, len(at.counts)):
            be.launch_items(self.module["b03_level"], at.counts[k], n_nodes=at.counts[k],
                            n_children=at.counts[k - 1], start=at.starts[k], child_start=at.starts[k - 1],
                            nodes_out=self.nodes)  # fmt: skip
        return self
