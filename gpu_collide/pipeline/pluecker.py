"""Movers in a still world (stages p02 to p04): what is launched, and with which buffers.

A work-group has a mover, or a pair of a mover and a body, and finds its own way through the trees. All parts of
a motion are launched one after the other; nothing comes to the host in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.forms import forms_for, point_forms
from gpu_collide.pipeline.resident import Resident
from gpu_collide.pipeline.run import Run

__all__ = ["Pluecker", "World"]

FOUND, FOUND_INT, MOVER = (sources.record(name) for name in ("found", "found_int", "mover"))
#: Vertices of a mover that a group keeps as the obstacle sees them; others are carried there each time.
MOST_KEPT = 1024


class World(NamedTuple):
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


class Pluecker:
    """Launches on one backend; `gpu_collide.reference.pluecker.Reference` has the same verbs.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    precision : str
    max_bytes : int
    """

    def __init__(self, backend, precision, max_bytes):
        self.run = Run(backend, precision, max_bytes)
        self.backend, self.precision = backend, precision
        self.max_bytes = max_bytes

    def about(self):
        """Backend, device, precision and seconds by stage, as ``info`` tells them."""
        return {
            "backend": self.backend.name,
            "device": self.backend.device,
            "precision": self.precision,
            "timings": {"compile": 0.0, **self.run.take_timings()},
        }

    def world(self, bodies, rules, resident=None):
        """`World` of bodies at their start; of a scene, if `resident` is what it keeps."""
        run = self.run
        run.build("bvh", "pluecker")
        own = resident is None
        if own:
            resident = Resident(self.backend, self.precision, bodies.meshes, bodies.shape)
        tree = resident.tree(bodies, rules)
        forms = forms_for(bodies.meshes, self.backend, self.precision) if own else resident.forms
        stands = resident.stands(bodies, tree)
        held = resident.nbytes + (forms.nbytes if own else 0)
        if held >= self.max_bytes:
            raise MemoryLimitError(
                f"max_bytes: expected room for the world, {held} bytes, and to work in, got {self.max_bytes}; pass "
                "a larger max_bytes"
            )
        run.room.max_bytes = self.max_bytes - held
        buffers = {**forms.buffers, **stands, "leaves_in": tree.leaves, "leaf_ints_in": tree.leaf_ints,
                   "crowds_in": tree.nodes}  # fmt: skip
        return World(buffers, {"n_leaves": tree.n, "top": tree.levels.top, **tree.origin_args()}, tree.shift)

    def trace(self, world, movers, way, turn):
        """How far movers go: along `way`, then round `turn`, if these are not None.

        Parameters
        ----------
        world : World
        movers : object
            ``meshes`` (None: points), ``shape``, ``position``, ``quat``, ``zone``, ``body``, ``own``, ``moves``: arrays
            of all movers, or given pairs.
        way : (n, 3) float64 or None
        turn : (axis, pivot or None, sine, cosine) or None
            Unit axis, a point of it (None: the body's origin, where it has come to), and sine and cosine of
            half the angle, in [0, pi]; arrays of all movers.

        Returns
        -------
        dict of str to ndarray
            ``kind``, ``body``, ``feature_a``, ``feature_b``, ``fraction``, ``part``, ``point``, ``normal``, ``position``,
            ``quat``.
        """
        n = len(movers.position)
        found = _results(n)
        real, fixed = self.run.real.itemsize, self._scratch_bytes(movers)
        if fixed >= self.run.room.max_bytes:
            raise MemoryLimitError(
                f"max_bytes: expected room for the work on one mover, {fixed} bytes, got {self.run.room.max_bytes} beside "
                "the world; pass a larger max_bytes"
            )
        size = min(max(1, self.run.room.fits(64 + 40 * real, held=fixed)), 1 << 20)
        tables, vertices = self._tables(movers)

        def some(at, stop):
            self._some(world, movers, tables, vertices, way, turn, slice(at, stop), found)

        self.run.room.pieces(n, size, some)
        return found

    def _tables(self, movers):
        """Buffers of the movers' meshes, and the most vertices of one."""
        if movers.meshes is None:
            forms = point_forms(self.backend, self.precision)
        else:
            forms = forms_for(movers.meshes, self.backend, self.precision)
        return forms.of_movers(), forms.vertices

    def _scratch_bytes(self, movers):
        most = 1 if movers.meshes is None else max(len(m.vertices) for m in movers.meshes)
        each = 3 * min(most, MOST_KEPT) + FOUND.stride * self.backend.group_size
        return self.backend.max_groups * (each * self.run.real.itemsize + 16 * self.backend.group_size + 4)

    def _scratch(self, n, vertices):
        """What groups need for themselves."""
        be, real = self.backend, self.run.real
        groups, size, _ = be.grid_of_groups(n)
        kept = min(vertices, MOST_KEPT)
        return {
            "kept_scratch": be.empty(groups * kept * 3, real),
            "found_scratch": be.empty(groups * size * FOUND.stride, real),
            "found_ints_scratch": be.empty(groups * size * FOUND_INT.stride, np.int32),
            "bound_scratch": be.empty(groups, np.int32),
        }, kept

    def _some(self, world, movers, tables, vertices, way, turn, some, found):
        """`trace` of some movers, into `found`."""
        run, be = self.run, self.backend
        n = some.stop - some.start
        scratch, kept = self._scratch(n, vertices)
        ints = np.zeros((n, MOVER.stride), np.int32)
        for name, column in (("shape", movers.shape), ("body", movers.body), ("own", movers.own)):
            ints[:, MOVER[name]] = column[some]
        ints[:, MOVER["skip"]] = ~movers.moves[some]

        def real(array):
            return run.to_device(array, run.real)

        with np.errstate(over="ignore"):
            buffers = {
                "mover_in": run.to_device(ints),
                "start_in": real(movers.position[some] - world.shift),
                "turned_in": real(movers.quat[some]),
                "zone_in": real(movers.zone[some]),
            }
        outputs = {
            "hit_out": be.zeros(n * FOUND_INT.stride, np.int32),
            "fraction_out": be.empty(n, run.real),
            "point_out": be.empty(3 * n, run.real),
            "normal_out": be.empty(3 * n, run.real),
            "reached_out": be.empty(3 * n, run.real),
        }
        bound = (buffers, scratch, outputs, tables, world.buffers, world.counts)
        if way is not None:
            run.launch_each("p02_translate", n, *bound, n_movers=n, n_kept=kept, way_in=real(way[some]))
        self._read(world, outputs, some, found)

    def _read(self, world, outputs, some, found):
        """Results of some movers to the host."""
        host = {name: self.backend.to_host(buffer) for name, buffer in outputs.items()}
        hit = host["hit_out"].reshape(-1, FOUND_INT.stride)
        for name, column in (("kind", "kind"), ("feature_a", "a"), ("body", "body"), ("feature_b", "b")):
            found[name][some] = hit[:, FOUND_INT[column]]
        found["fraction"][some] = host["fraction_out"]
        for name, array in (("point", "point_out"), ("normal", "normal_out"), ("position", "reached_out")):
            found[name][some] = host[array].reshape(-1, 3)
        shifted = found["kind"][some] > 0
        found["point"][some][shifted] += world.shift
        found["position"][some] += world.shift


def _results(n):
    """Arrays that are filled piece by piece."""
    return {
        "kind": np.zeros(n, np.uint8), "part": np.zeros(n, np.uint8), "fraction": np.ones(n),
        "body": np.full(n, -1, np.int32), "feature_a": np.full(n, -1, np.int32),
        "feature_b": np.full(n, -1, np.int32), "point": np.zeros((n, 3)), "normal": np.zeros((n, 3)),
        "position": np.zeros((n, 3)), "quat": np.zeros((n, 4)),
    }  # fmt: skip
