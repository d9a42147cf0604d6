"""Near faces of pairs (b05, g05, b06) as steps of a sequence in which nobody looks how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.sequence import Scan
from gpu_collide.pipeline.lots import KINDS
from gpu_collide.pipeline.screen import REFINE
from gpu_collide.pipeline.stages import Stages

__all__ = ["JOINED", "Joining", "node_bytes"]

#: What joined meshes have of which there has to be room, with the numbers of type gc_raster that one takes;
#: of ``topology`` it is an int.
JOINED = {"vertices": 3, "edges": 1, "faces": 3, "topology": 0}
SEEN_STRIDE = sources.record("seen").stride
NEAR_INTS = int(sources.constants()["GC_NEAR_INTS"])
MESH_STRIDE, GATHER_STRIDE = (sources.record(name).stride for name in ("mesh", "gather"))


def node_bytes(run, nodes):
    """Bytes of the scratch in which a group of b05 has so many nodes a set."""
    return nodes * (2 * SEEN_STRIDE * run.raster.itemsize + 4 * NEAR_INTS) + 32


class Joining(Stages):
    """`Stages` of a chain, of which some pairs look at near faces only.

    Attributes
    ----------
    lots : gpu_collide.pipeline.lots.Lots
        Which pairs are for which screen.
    n_near, need_nodes, n_listed, joined : buffers
        Pairs that look at near faces; nodes that would have been needed; rows of the list of patches; sums of
        what joined meshes have.
    zeros, blanks : list of buffers
        To be filled with 0 and -1 before a run.
    """

    lots: Any
    zeros: list
    blanks: list

    def _lots(self, todo, n_todo, items):
        """What the screen works on, for `_screen`."""
        lots, screen = self.lots, self.tables.screen
        if len(lots.kinds) == 1 and not lots.near:
            return [(todo, n_todo, items, screen, self._group_size(self.tables.counts))]
        flags = {kind: self._empty(self.most, np.uint8) for kind in KINDS}
        told = {f"{kind}_out": made for kind, made in flags.items()}
        self._launch("g05_near", n_todo, self.most, todo_in=todo, items_in=items, near_in=lots.near_flags,
                     small_in=lots.small_flags, **told)  # fmt: skip
        chosen = {kind: self._select(todo, flags[kind], n_todo) for kind in KINDS if kind in lots.kinds}
        found = [
            (*chosen[kind], items, screen, self.run.backend.small_group_size if kind == "small" else None)
            for kind in ("small", "whole") if kind in chosen
        ]  # fmt: skip
        if lots.near:
            close, self.n_near = chosen["near"]
            found.append(self._joined(*self._ordered(close)))
        return found

    def _told(self):
        """What a run has to be asked for at its end, by name, for `told`."""
        sums = self.joined[self.most :: 2 * self.most]
        return {("nodes",): self.need_nodes, ("patches",): self.n_listed, ("pairs near", *JOINED): sums}

    def told(self, counts):
        """`counts` by name, where sums of what joined meshes have are no longer sums of all before."""
        before = 0
        for name in ("pairs near", *JOINED) if self.lots.near else ():
            counts[name], before = counts[name] - before, counts[name]
        return counts

    def _blank(self, *buffers):
        self.blanks += buffers
        return buffers

    def _zero(self, *buffers):
        self.zeros += buffers
        return buffers

    def _ordered(self, todo):
        """The list of b05 (rows), where each side begins in it, and its rows in order."""
        run, room, n = self.run, self.room, self.most
        most, nodes, groups = room["patches"], room["nodes"], room["node_groups"]
        (listed,) = self._blank(self._empty(3 * most, np.int32))
        self.need_nodes, self.n_listed, no_room, count, cursor = self._zero(
            *(self._empty(size, np.int32) for size in (1, 1, n, 2 * n, 2 * n))
        )
        self._launch(
            "b05_features", self.n_near, n, groups, todo_in=todo, room=nodes, gives_up=0, capacity=most,
            min_properness=self.options.min_properness, refine=REFINE[self.options.refine],
            scratch_reals=self._empty(groups * 2 * nodes * SEEN_STRIDE, run.raster),
            scratch_ints=self._empty(groups * (NEAR_INTS * nodes + 8), np.int32), need_out=self.need_nodes,
            no_room_out=no_room, whole_out=no_room, n_out=self.n_listed, list_out=listed,
        )  # fmt: skip
        start, order = self._empty(2 * n + 1, np.int64), self._empty(most, np.int32)
        part, faces, first = (self._empty(most, np.int32) for _ in range(3))
        unique = self._empty(most + 1, np.int64)
        self._launch("g05_count", self.n_listed, most, list_in=listed, count_out=count)
        self.steps.append(Scan(count, start))
        self._launch("g05_place", self.n_listed, most, list_in=listed, start_in=start, cursor=cursor,
                     order_out=order)  # fmt: skip
        self._launch("g05_order", most, most, n_sides=2 * n, list_in=listed, start_in=start, order_in=order,
                     part_out=part, faces_out=faces, first_out=first)  # fmt: skip
        self.steps.append(Scan(first, unique))
        return start, unique, part, faces

    def _joined(self, start, unique, part, faces):
        """Joined meshes of the sides, and the lot that they are."""
        run, n, room, raster = self.run, self.most, self.room, self.run.raster
        most, sizes, screen = room["patches"], self._part_sizes(), self.tables.screen
        entries, sums = self._empty(GATHER_STRIDE * most, np.int32), self._empty(9 * n, np.int32)
        self.joined = self._empty(9 * n + 1, np.int64)
        mesh, todo = self._blank(self._empty(most, np.int32), self._empty(n, np.int32))
        begin, side = (self._empty(size, np.int32) for size in (2 * n + 1, 2 * n))
        (items,) = self._zero(self._empty(3 * n, np.int32))  # the screen reads one even if it does none
        tables = {f"{name}_in": self._empty(max(width * room[of], 1), kind) for name, of, width, kind in (
            ("vertices", "vertices", 3, raster), ("normals", "faces", 3, raster),
            ("inverse_length", "edges", 1, raster), ("topology", "topology", 1, np.int32),
        )}  # fmt: skip
        tables["headers_in"], tables["edge0_in"] = (
            self._empty(k * n, np.int32) for k in (2 * MESH_STRIDE, 2)
        )
        (tables["reach_in"],) = self._zero(self._empty(2 * n, np.int32))
        self._launch("g05_measure", n, n, part_sizes_in=sizes, start_in=start, unique_in=unique, part_in=part,
                     faces_in=faces, entries_out=entries, sums_out=sums)  # fmt: skip
        self.steps.append(Scan(sums, self.joined))
        self._launch(
            "g05_headers", n, n, None, screen, part_sizes_in=sizes, start_in=start, unique_in=unique,
            entries_in=entries, sums_in=self.joined, headers_out=tables["headers_in"],
            edge0_out=tables["edge0_in"], side_out=side, mesh_start_out=begin, mesh_out=mesh,
            items_out=items, todo_out=todo, **{f"most_{name}": room[name] for name in JOINED},
        )  # fmt: skip
        made = ("topology_in", "vertices_in", "normals_in", "inverse_length_in", "reach_in")
        self._launch(
            "b06_gather", most, most, run.backend.max_groups, screen, entries_in=entries, mesh_in=mesh,
            mesh_start_in=begin, side_in=side, vertices_in=self.tables.buffers["vertices_in"],
            joined_headers_in=tables["headers_in"], joined_edge0_in=tables["edge0_in"],
            **{name.replace("_in", "_out"): tables[name] for name in made},
        )  # fmt: skip
        return todo, n, items, tables, None

    def _part_sizes(self):
        made, tables = self.tables.made, self.tables
        if "part_sizes" not in made:
            made["part_sizes"] = self.run.to_device(tables.part_sizes, np.int32)
        return made["part_sizes"]
