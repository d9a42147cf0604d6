"""Movers in a still world (stages p02 to p04): what is launched, and with which buffers.

A work-group has a mover, and finds its own way through the trees. It is one of the backend's smaller groups:
all its work-items go the whole way, and at most places there is little to share out. All parts of a motion
are launched one after the other; nothing comes to the host in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.device_scene import DeviceScene
from gpu_collide.pipeline.launch.world_query import WorldQuery
from gpu_collide.pipeline.mesh_tables.mover_tables import mover_tables_for, point_tables

__all__ = ["MoverQuery", "MoverWorld"]

FOUND, FOUND_INT, MOVER, POINT, POINT_REAL = (
    sources.record(name) for name in ("found", "found_int", "mover", "point", "point_real")
)
#: Vertices of a mover that a group keeps as the obstacle sees them; others are carried there each time.
MOST_KEPT = 1024


class MoverWorld(NamedTuple):
    """A still world on a backend.

    Attributes
    ----------
    buffers : dict
        By the names of kernel arguments.
    counts : dict
        Numbers that go with them.
    shift : (3,) float64
        What positions count from.
    """

    buffers: dict
    counts: dict
    shift: np.ndarray


class _Launch:
    """Launches for some movers, one part of their motion after the other."""

    def __init__(self, run, n, kept, bound):
        self.run, self.n, self.kept, self.bound = run, n, kept, bound

    def translate(self, way):
        """Stage p02."""
        self.run.launch_small("p02_translate", self.n, *self.bound, n_movers=self.n, n_kept=self.kept,
                              way_in=self.run.to_device(way, self.run.real))  # fmt: skip

    def rotate(self, turn, part, movers, shift):
        """Stage p03, of those that turn."""
        run = self.run
        axis = run.to_device(turn.axis[part], run.real)
        ints = mover_ints(movers, part, turn.turns)
        run.launch_small(
            "p03_rotate", self.n, *self.bound, n_movers=self.n, n_kept=self.kept,
            about_itself=int(turn.pivot is None), mover_in=run.to_device(ints), axis_in=axis,
            pivot_in=axis if turn.pivot is None else run.to_device(turn.pivot[part] - shift, run.real),
            sine_in=run.to_device(turn.half[part], run.real),
        )  # fmt: skip


def mover_ints(movers, part, moves=True):
    """``mover_in`` of some movers, of which those move that do according to both."""
    ints = np.empty((part.stop - part.start, MOVER.stride), np.int32)
    for name in ("shape", "body", "own", "rank", "group", "mask"):
        ints[:, MOVER[name]] = getattr(movers, name)[part]
    ints[:, MOVER["skip"]] = ~(movers.moves & moves)[part]
    return ints


class MoverQuery(WorldQuery):
    """Launches on one backend; `gpu_collide.reference.pluecker.Reference` has the same verbs."""

    def world(self, bodies, rules, resident=None):
        """`World` of bodies at their start; of a scene, if `resident` is what it keeps."""
        run = self.run
        run.build("bvh")
        own = resident is None
        if own:
            resident = DeviceScene(self.backend, self.precision, bodies.meshes, bodies.shape)
        tree = resident.tree(bodies, rules)
        forms = mover_tables_for(bodies.meshes, self.backend, self.precision) if own else resident.forms
        stands = resident.stands(bodies, tree)
        held = resident.nbytes + (forms.nbytes if own else 0)
        self.leave_room_beside(held)
        ignored = run.to_device(rules.ignore if len(rules.ignore) else np.zeros(1, np.int64))
        buffers = {**forms.buffers, **stands, "leaves_in": tree.leaves, "leaf_ints_in": tree.leaf_ints,
                   "crowds_in": tree.nodes, "ignored_in": ignored}  # fmt: skip
        counts = {"n_leaves": tree.n, "n_bodies": len(bodies), "n_ignored": len(rules.ignore),
                  "top": tree.levels.top}  # fmt: skip
        return MoverWorld(buffers, counts | tree.origin_args(), tree.shift)

    def trace(self, world, movers, way, turns):
        """How far movers go: along `way`, then through the `turns`, until something stops them.

        Parameters
        ----------
        world : World
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
        found = _results(n)
        tables, vertices = self._tables(movers)
        fixed = self._checked_scratch(n, vertices)
        each = 64 + (30 + 8 * len(turns)) * self.run.real.itemsize
        size = min(max(1, self.run.room.fits(each, held=fixed)), 1 << 20)

        def some(at, stop):
            part = slice(at, stop)
            buffers, outputs = self._buffers(world, movers, part), self._outputs(world, movers, part)
            scratch, kept = self._scratch(stop - at, vertices)
            launch = _Launch(
                self.run, stop - at, kept, (buffers, outputs, scratch, tables, world.buffers, world.counts)
            )
            if way is not None:
                launch.translate(way[part])
            for turn in turns:
                launch.rotate(turn, part, movers, world.shift)
            self._read(world, outputs, part, found)

        self.run.room.pieces(n, size, some)
        return found

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
            in the order of the first five; of kind 0 bodies whose boxes come near.
        """
        n, found = len(movers.position), []
        tables, vertices = self._tables(movers)
        fixed = self._checked_scratch(n, vertices)
        size = min(max(1, self.run.room.fits(64 + 10 * self.run.real.itemsize, held=fixed, share=2)), 1 << 18)

        def some(at, stop):
            part = slice(at, stop)
            scratch, kept = self._scratch(stop - at, vertices)
            bound = (self._buffers(world, movers, part), scratch, tables, world.buffers, world.counts)
            found.append(self._points(bound, stop - at, kept, distance[part], at))

        self.run.room.pieces(n, size, some)
        return _in_order(found, world.shift)

    def _points(self, bound, n, kept, distance, first):
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
            run.launch_small("p04_contacts", n, *bound, n_movers=n, n_kept=kept, capacity=capacity,
                             distance_in=near, points_out=ints, places_out=reals,
                             count_out=count)  # fmt: skip
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
        """Buffers of the movers' meshes, and the most vertices of one."""
        if movers.meshes is None:
            forms = point_tables(self.backend, self.precision)
        else:
            forms = mover_tables_for(movers.meshes, self.backend, self.precision)
        return forms.of_movers(), forms.vertices

    def _scratch_bytes(self, vertices):
        """Bytes of what all groups together need for themselves."""
        groups, size = self.run.grid_of_small(self.backend.max_groups)
        each = 3 * min(vertices, MOST_KEPT) + FOUND.stride * size
        return groups * (each * self.run.real.itemsize + 4 * FOUND_INT.stride * size + 4)

    def _scratch(self, n, vertices):
        """Scratch for `n` movers, and how many vertices are kept in it."""
        be, real = self.backend, self.run.real
        groups, size = self.run.grid_of_small(n)
        kept = min(vertices, MOST_KEPT)
        return {
            "kept_scratch": be.empty(groups * kept * 3, real),
            "found_scratch": be.empty(groups * size * FOUND.stride, real),
            "found_ints_scratch": be.empty(groups * size * FOUND_INT.stride, np.int32),
            "bound_scratch": be.empty(groups, np.int32),
        }, kept

    def _buffers(self, world, movers, part):
        """What is known of some movers."""
        run = self.run
        return {
            "mover_in": run.to_device(mover_ints(movers, part)),
            "start_in": run.to_device(movers.position[part] - world.shift, run.real),
            "turned_in": run.to_device(movers.quat[part], run.real),
            "zone_in": run.to_device(np.column_stack((movers.zone, movers.doubt))[part], run.real),
        }

    def _outputs(self, world, movers, part):
        """What becomes of some movers: at first, nothing."""
        be, n, real = self.backend, part.stop - part.start, self.run.real
        return {
            "hit_out": be.fill(be.empty(n * FOUND_INT.stride, np.int32), 0),
            "fraction_out": be.zeros(n, real),
            "point_out": be.zeros(3 * n, real),
            "normal_out": be.zeros(3 * n, real),
            "reached_out": be.to_device((movers.position[part] - world.shift).astype(real).reshape(-1)),
            "turned_out": be.to_device(movers.quat[part].astype(real).reshape(-1)),
            "parts_out": be.zeros(n, np.int32),
        }

    def _read(self, world, outputs, some, found):
        """Results of some movers to the host."""
        host = {name: self.backend.to_host(buffer) for name, buffer in outputs.items()}
        hit = host["hit_out"].reshape(-1, FOUND_INT.stride)
        found["turns"][some] = host["parts_out"]
        found["quat"][some] = host["turned_out"].reshape(-1, 4)
        for name, column in (("kind", "kind"), ("feature_a", "a"), ("body", "body"), ("feature_b", "b")):
            found[name][some] = hit[:, FOUND_INT[column]]
        found["fraction"][some] = host["fraction_out"]
        for name, array in (("point", "point_out"), ("normal", "normal_out"), ("position", "reached_out")):
            found[name][some] = host[array].reshape(-1, 3)
        found["point"][some][found["kind"][some] > 0] += world.shift
        found["position"][some] += world.shift


def _results(n):
    """Arrays that are filled piece by piece."""
    return {
        "kind": np.zeros(n, np.uint8), "turns": np.zeros(n, np.int32), "fraction": np.ones(n),
        "body": np.full(n, -1, np.int32), "feature_a": np.full(n, -1, np.int32),
        "feature_b": np.full(n, -1, np.int32), "point": np.zeros((n, 3)), "normal": np.zeros((n, 3)),
        "position": np.zeros((n, 3)), "quat": np.zeros((n, 4)),
    }  # fmt: skip


def _in_order(found, shift):
    """Points of all pieces by mover, kind and features."""
    ints = np.concatenate([np.zeros((0, POINT.stride), np.int32), *(piece[0] for piece in found)])
    reals = np.concatenate([np.zeros((0, POINT_REAL.stride)), *(piece[1] for piece in found)])
    names = {"mover": "mover", "kind": "kind", "feature_a": "a", "body": "body", "feature_b": "b"}
    columns = {name: ints[:, POINT[column]] for name, column in names.items()}
    order = np.lexsort(tuple(columns.values())[::-1])
    fields = {name: column[order] for name, column in columns.items()}
    fields |= {name: reals[order, POINT_REAL[name]] for name in ("point", "normal", "distance")}
    fields["point"] = fields["point"] + shift
    return fields
