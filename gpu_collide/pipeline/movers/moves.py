"""Movers in a still world (stages p02 to p04): what is launched, and with which buffers.

A work-group has a mover, and finds its own way through the trees. It is one of the backend's smaller groups:
all its work-items go the whole way, and at most places there is little to share out. All parts of a motion
are launched one after the other; nothing comes to the host in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.errors import MemoryLimitError
from gpu_collide.geometry.arrays.order import order_of, taken
from gpu_collide.pipeline.broad_phase.trees import BodyTree
from gpu_collide.pipeline.device_scene import DeviceScene
from gpu_collide.pipeline.launch.world_query import REAL, Stage, WorldQuery
from gpu_collide.pipeline.mesh_tables.mover_tables import mover_tables_for, of_movers, point_tables

__all__ = ["MoverQuery", "MoverWorld"]

FOUND, FOUND_INT, MOVER, POINT, POINT_REAL = (
    sources.record(name) for name in ("found", "found_int", "mover", "point", "point_real")
)
#: Vertices of a mover that a group keeps as the obstacle sees them; others are carried there each time.
MOST_KEPT = 1024


#: What becomes of a mover: at first, nothing.
MOVED = Stage("p02_translate", {
    "hit_out": (FOUND_INT.stride, np.int32), "fraction_out": (1, REAL), "point_out": (3, REAL),
    "normal_out": (3, REAL), "parts_out": (1, np.int32), "reached_out": (3, REAL), "turned_out": (4, REAL),
})  # fmt: skip
_MOVER = [(name, MOVER[name]) for name in ("shape", "body", "own", "rank", "group", "mask")]
_SKIP = MOVER["skip"]
#: Bits of a kind without what is added to it.
_KIND = int(sources.constants("mixed", "pluecker/gc_found.h")["GC_TOUCH_BEYOND"]) - 1
_FOUND = [(name, FOUND_INT[column]) for name, column in
          (("kind", "kind"), ("feature_a", "a"), ("body", "body"), ("feature_b", "b"))]  # fmt: skip


class MoverWorld(NamedTuple):
    """A still world on a backend.

    Attributes
    ----------
    buffers : dict
        By the names of kernel arguments, with numbers that go with them.
    shift : (3,) float64
        What positions count from.
    held : int
        Bytes that it takes, where no scene keeps it.
    tree : BodyTree
    """

    buffers: dict
    shift: np.ndarray
    held: int
    tree: Any


def mover_ints(movers, part, moves=True):
    """``mover_in`` of some movers, of which those move that do according to both."""
    ints = np.empty((part.stop - part.start, MOVER.stride), np.int32)
    for name, column in _MOVER:
        ints[:, column] = getattr(movers, name)[part]
    ints[:, _SKIP] = ~(movers.moves & moves)[part]
    return ints


class MoverQuery(WorldQuery):
    """Launches on one backend; `gpu_collide.reference.pluecker.Reference` has the same verbs."""

    def world(self, bodies, rules, resident=None, paired=False):
        """`MoverWorld` of bodies at their start; of a scene, if `resident` is what it keeps. `paired`: each
        mover is told which body it meets, and none walks through a tree."""
        last = self._world[1]
        tree = last and (last.tree if resident is None else resident.kept.tree)
        made = self._known(bodies, tree)
        if made is None:
            made = self._made(bodies, rules, resident, paired)
            made = made if paired else self._keep(bodies, made)
        self.leave_room_beside(made.held if resident is None else resident.nbytes)
        return made

    def _made(self, bodies, rules, resident, paired):
        run = self.run
        own = resident is None
        if own:
            resident = DeviceScene(self.backend, self.precision, bodies.meshes, bodies.shape)
        if paired:
            tree = BodyTree.without_leaves(run, bodies, rules)
        else:
            run.build("bvh")
            tree = resident.tree(bodies, rules)
        tables = mover_tables_for(bodies.meshes, self.backend, self.precision) if own else resident.forms
        stands = resident.stands(bodies, tree)
        ignored = run.to_device(rules.ignore if len(rules.ignore) else np.zeros(1, np.int64))
        buffers = {
            **tables.buffers, **stands, "leaves_in": tree.leaves, "leaf_ints_in": tree.leaf_ints,
            "crowds_in": tree.nodes, "ignored_in": ignored, "n_leaves": tree.n, "n_bodies": len(bodies),
            "n_ignored": len(rules.ignore), "top": tree.levels.top, **tree.origin_args(),
        }  # fmt: skip
        return MoverWorld(buffers, tree.shift, resident.nbytes + tables.nbytes, tree)

    def trace(self, world, movers, way, turns):
        """How far movers go: along `way`, then through the `turns`, until something stops them.

        Parameters
        ----------
        world : MoverWorld
        movers : Movers
        way : (n, 3) float64 or None
        turns : sequence of Turn
            One after the other.

        Returns
        -------
        dict of str to ndarray
            ``kind``, ``body``, ``feature_a``, ``feature_b``, ``point``, ``normal``, ``position``, ``quat``,
            ``fraction`` (of the last part that was begun), ``turns`` (how many were begun).
        """
        n = len(movers.position)
        self.run.build(*["translate"] * (way is not None), *["rotate"] * bool(turns))
        found = []
        tables = self._tables(movers)
        fixed = self._checked_scratch(n, tables.more)

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            given = self._given(world, movers, part)
            if way is not None:
                given["way_in"] = self._flat(way[part])
            piece = self.piece(MOVED, k, world.buffers, given, (way is None, id(tables)),
                               self._begin(given, k))  # fmt: skip
            if not piece.more:
                piece.tables, piece.more = tables, self._scratch(k, tables)
            if way is not None:
                piece.launch(MOVED.kernel, k, True, n_movers=k)
            for turn in turns:
                self._rotate(piece, turn, part, movers, world.shift)
            found.append(self._read(world, piece))

        each = 64 + (30 + 8 * len(turns)) * self.run.real.itemsize
        size = min(max(1, self.run.room.fits(each, held=fixed)), 1 << 20)
        self.run.room.pieces(n, size, some)
        if len(found) == 1:
            return found[0]
        if not found:
            found = [
                self._results(*self._begin(dict.fromkeys(("start_in", "turned_in"), np.zeros(0)), 0).values())
            ]
        return {name: np.concatenate([row[name] for row in found]) for name in found[0]}

    def _rotate(self, piece, turn, part, movers, shift):
        """Stage p03, of those that turn."""
        run, n = self.run, part.stop - part.start
        axis = run.to_device(turn.axis[part], run.real)
        run.launch_small(
            "p03_rotate", n, piece.given, piece.made, piece.more, piece.fixed, n_movers=n,
            about_itself=int(turn.pivot is None), axis_in=axis,
            mover_in=run.to_device(mover_ints(movers, part, turn.turns)),
            pivot_in=axis if turn.pivot is None else run.to_device(turn.pivot[part] - shift, run.real),
            sine_in=run.to_device(turn.half[part], run.real),
        )  # fmt: skip

    def contacts(self, world, movers, distance):
        """All places where movers at rest are near something.

        Parameters
        ----------
        distance : (n, 2) float64
            How far beyond the zone, and how deep behind a surface, a place counts. Those as far before a
            surface are told, too, with ``GC_TOUCH_BEYOND`` added to their kind.

        Returns
        -------
        dict of str to ndarray
            ``mover``, ``kind``, ``feature_a``, ``body``, ``feature_b``, ``point``, ``normal``, ``distance``,
            in the order of the first five, whatever is added to kinds; of kind 0 bodies whose boxes come
            near.
        """
        n, found, tables = len(movers.position), [], self._tables(movers)
        fixed = self._checked_scratch(n, tables.more)
        size = min(max(1, self.run.room.fits(64 + 10 * self.run.real.itemsize, held=fixed, share=2)), 1 << 18)

        def some(at, stop):
            part = slice(at, stop)
            given = {name: self.run.to_device(x) for name, x in self._given(world, movers, part).items()}
            bound = given, self._scratch(stop - at, tables), world.buffers
            found.append(self._points(bound, stop - at, distance[part], at))

        self.run.room.pieces(n, size, some)
        return _in_order(found, world.shift)

    def _points(self, bound, n, distance, first):
        """Stage p04 for `n` movers, of which the first one is number `first`: ints and reals of all
        points."""
        run, be = self.run, self.backend
        near = run.to_device(distance, run.real)

        def fill(capacity):
            ints, reals = (
                be.empty(capacity * POINT.stride, np.int32),
                be.empty(capacity * POINT_REAL.stride, run.real),
            )
            count = be.zeros(1, np.int32)
            run.launch_small("p04_contacts", n, *bound, n_movers=n, capacity=capacity, distance_in=near,
                             points_out=ints, places_out=reals, count_out=count)  # fmt: skip
            return int(be.to_host(count)[0]), (ints, reals)

        each = POINT.stride * 4 + POINT_REAL.stride * run.real.itemsize
        count, (ints, reals) = run.room.filled(
            "points", n, fill, each=each, first=8.0, least=256, width=POINT_REAL.stride
        )
        ints = be.to_host(ints).reshape(-1, POINT.stride)[:count].copy()
        ints[:, POINT["mover"]] += first
        return ints, be.to_host(reals).reshape(-1, POINT_REAL.stride)[:count].astype(np.float64)

    def _checked_scratch(self, n, vertices):
        """Bytes of scratch, if there is room for it."""
        fixed, room = self._scratch_bytes(vertices), self.run.room.max_bytes
        if n and fixed >= room:
            raise MemoryLimitError(
                f"max_bytes: expected room for the work on one mover, {fixed} bytes, got {max(room, 0)} "
                "beside the world; pass a larger max_bytes"
            )
        return fixed

    def _tables(self, movers):
        """Tables of the movers' meshes."""
        if movers.meshes is None:
            return point_tables(self.backend, self.precision)
        return mover_tables_for(movers.meshes, self.backend, self.precision)

    def _scratch_bytes(self, vertices):
        """Bytes of what all groups together need for themselves."""
        groups, size = self.run.grid_of_small(self.backend.max_groups)
        each = 3 * min(vertices, MOST_KEPT) + FOUND.stride * size
        return groups * (each * self.run.real.itemsize + 4 * FOUND_INT.stride * size + 4)

    def _scratch(self, n, tables):
        """Scratch for `n` movers, how many vertices are kept in it, and the tables of their meshes."""
        be, real = self.backend, self.run.real
        groups, size = self.run.grid_of_small(n)
        kept = min(tables.more, MOST_KEPT)
        return of_movers(tables) | {
            "n_kept": kept,
            "kept_scratch": be.empty(groups * kept * 3, real),
            "found_scratch": be.empty(groups * size * FOUND.stride, real),
            "found_ints_scratch": be.empty(groups * size * FOUND_INT.stride, np.int32),
            "bound_scratch": be.empty(groups, np.int32),
        }

    def _flat(self, array):
        return np.ascontiguousarray(array, self.run.real).reshape(-1)

    def _given(self, world, movers, part):
        """What is known of some movers, flat."""
        return {
            "mover_in": mover_ints(movers, part).reshape(-1),
            "start_in": self._flat(movers.position[part] - world.shift),
            "turned_in": self._flat(movers.quat[part]),
            "zone_in": self._flat(np.column_stack((movers.zone[part], movers.doubt[part]))),
        }

    def _begin(self, given, n):
        """What becomes of some movers before anything has: nothing."""
        real = self.run.real
        made = {name: np.zeros(n * width, real if of is REAL else of)
                for name, (width, of) in MOVED.outs.items()}  # fmt: skip
        return made | {"reached_out": given["start_in"], "turned_out": given["turned_in"]}

    def _read(self, world, piece):
        """Results of some movers on the host."""
        found = self._results(*self.backend.to_hosts(piece.made.values()))
        found["point"][found["kind"] > 0] += world.shift
        found["position"] += world.shift
        return found

    def _results(self, hit, fraction, point, normal, parts, reached, turned):
        """What launches wrote by the names of results, in arrays of their own."""
        hit = hit.reshape(-1, FOUND_INT.stride)
        found = {name: hit[:, column].copy() for name, column in _FOUND}
        found |= {"kind": found["kind"].astype(np.uint8), "turns": parts.copy()}
        reals = {"fraction": fraction, "point": point, "normal": normal, "position": reached, "quat": turned}
        for name, array in reals.items():
            found[name] = array.astype(np.float64)
        for name, width in (("point", 3), ("normal", 3), ("position", 3), ("quat", 4)):
            found[name] = found[name].reshape(-1, width)
        return found


def _in_order(found, shift):
    """Points of all pieces by mover, kind and features."""
    ints = np.concatenate([np.zeros((0, POINT.stride), np.int32), *(piece[0] for piece in found)])
    reals = np.concatenate([np.zeros((0, POINT_REAL.stride)), *(piece[1] for piece in found)])
    names = {"mover": "mover", "kind": "kind", "feature_a": "a", "body": "body", "feature_b": "b"}
    columns = {name: ints[:, POINT[column]] for name, column in names.items()}
    order = order_of(*(columns | {"kind": columns["kind"] & _KIND}).values())
    fields = taken(columns, order)
    reals = reals.take(order, axis=0)
    fields |= {name: reals[:, POINT_REAL[name]].copy() for name in ("point", "normal", "distance")}
    fields["point"] += shift
    return fields
