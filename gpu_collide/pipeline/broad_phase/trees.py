"""The trees of the broad phase: stages b01 (bounds), b02 (order of the leaves) and b03 (boxes of the
nodes).

The layout of the nodes, and how kernels walk over them, is in ``kernels/tree/gc_bvh.h``.
"""

from __future__ import annotations

import operator
import weakref

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies import quaternion
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.geometry.preparation import morton
from gpu_collide.pipeline.launch.poses import NAMES, pose_arrays, spin_buffers

__all__ = ["BodyTree", "Levels", "leaf_order", "mesh_bounds", "tree_constants"]

MOST_LEAVES = 1 << 26  # the kernels index 18 numbers a leaf with an int


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


def leaf_order(backend, module, boxes, n, ranks=None, n_ranks=1, centres=None):
    """Order in which boxes become leaves, by rank and then along a Morton curve, and the curve's middle.

    Parameters
    ----------
    boxes : buffer of gc_real, (n, 6)
        Least and greatest coordinates.
    ranks : buffer of int32, (n,), optional
        Segment of each box, ``0 .. n_ranks - 1``; boxes of one segment become neighbours.
    centres : (k, 3) float64, optional
        About where some of the boxes are, for the curve's cube. Default: a sample of them, for which the host
        waits.

    Returns
    -------
    order : buffer of int32, (n,)
    middle : (3,) float64
        Middle of the cube that the curve fills.
    """
    real = next(arg.dtype for arg in module["b02_keys"].args if arg.name == "origin_x")
    bits = min(21, (63 - max(n_ranks - 1, 0).bit_length()) // 3)
    centres = _sample(backend, module, boxes, n, real) if centres is None else centres
    origin, side = morton.cube(centres, bits, real)
    keys = backend.empty(n, np.int64)
    backend.launch_items(
        module["b02_keys"], n, n=n, bits=bits, ranked=int(ranks is not None), origin_x=origin[0],
        origin_y=origin[1], origin_z=origin[2], per_length=2.0**bits / side, boxes_in=boxes,
        rank_in=backend.empty(1, np.int32) if ranks is None else ranks, keys_out=keys,
    )  # fmt: skip
    return backend.argsort(keys), origin + 0.5 * side


def _sample(backend, module, boxes, n, real):
    """Centres of boxes here and there."""
    k = min(n, morton.SAMPLE)
    centres = backend.empty(3 * k, real)
    backend.launch_items(module["b02_sample"], k, n_sample=k, n=n, boxes_in=boxes, centres_out=centres)
    return backend.to_host(centres).reshape(k, 3).astype(np.float64)


def tree_constants(precision):
    """The numbers that ``gc_bvh.h`` defines."""
    return sources.constants(precision, "tree/gc_bvh.h")


_mesh_bounds: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def mesh_bounds(meshes, margin=0.0, shape=None):
    """(meshes, 7) float64: centre, radius, and half the sides of the bounding box of each mesh, grown by half
    a margin: what is nearer to each other than that meets then. With a margin for each body, (bodies,), a row
    for each, which has the mesh of this number in `shape`."""
    for mesh in meshes:
        if mesh not in _mesh_bounds:
            half = np.abs(mesh.vertices - mesh.center).max(axis=0) + mesh.rounding
            _mesh_bounds[mesh] = np.concatenate([mesh.center, [mesh.radius], half])
    bounds = np.array([_mesh_bounds[mesh] for mesh in meshes])
    if np.ndim(margin):
        bounds = bounds[shape]
    bounds[:, 3:] += 0.5 * np.reshape(margin, (-1, 1))
    return bounds


class BodyTree:
    """The tree over moving bodies, one leaf for each that has valid poses; made by `build`.

    Attributes
    ----------
    n : int
        Leaves.
    order, order_host : buffer and (n,) int32
        Body of each leaf.
    segments : buffer of int32
        First leaf of each world's rank.
    leaves, leaf_ints, nodes : buffers
        As in ``kernels/tree/gc_bvh.h``.
    origin : (3,) float64
        What the nodes' coordinates count from, in the frame of `shift`.
    valid, still : (bodies,) bool
    pairs_before : int or None
        That the last search found, for the next one.
    """

    def __init__(self, run, rules):
        self.run, self.rules = run, rules
        self._bodies, self._buffers, self._ints_of = None, {}, {}
        self._levels, self._levels_of, self.pairs_before = [], None, None
        c = tree_constants(run.precision)
        self.low, self.keep = int(c["GC_BVH_LOW"]), int(c["GC_BVH_KEEP"])
        strides = (sources.record(name).stride for name in ("leaf", "leaf_int", "crowd", "bound"))
        self.leaf_stride, self.leaf_width, self.node_width, self.bound_stride = strides
        self.wild = c["GC_BVH_WILD"]

    @classmethod
    def build(cls, run, bodies, rules, placed=None, margin=0.0):
        """Tree over `bodies` under `rules` (of which only the worlds decide the order).

        `placed`, if it is given, are buffers that hold the poses already (see `bind_poses`). Bodies count as
        larger by half of `margin`, one or one a body.
        """
        tree = cls(run, rules)
        tree.look(bodies)
        tree._sort(bodies, *tree.bound(bodies, placed, margin))
        tree._bodies = None if np.any(margin) else weakref.ref(bodies)
        return tree

    @classmethod
    def without_leaves(cls, run, bodies, rules):
        """What kernels are handed that walk through no tree: the frame of `bodies`, and no leaf."""
        tree = cls(run, rules)
        tree.n, tree.levels, tree.origin, tree.shift = 0, Levels(0), np.zeros(3), tree._shift_of(bodies)
        tree.leaves, tree.leaf_ints, tree.nodes = (
            run.backend.empty(1, kind) for kind in (run.real, np.int32, run.raster)
        )
        return tree

    def stands_over(self, bodies, rules):
        """Is it the tree over these very bodies, so that nothing is to be done?"""
        return self._bodies is not None and self._bodies() is bodies and rules is self.rules

    def serves(self, bodies, rules):
        """Could `refit` take these bodies?"""
        return rules.same_tree(self.rules) and np.array_equal(bodies.valid, self.valid)

    def refit(self, bodies, rules, placed=None, margin=0.0):
        """The same order of leaves with other poses, shapes, groups or masks; returns the tree.

        What a `Search` has not handed out yet is lost: the tree has its buffers again.
        """
        self.rules, self._bodies = rules, None
        self.look(bodies)
        self._fill(*self.bound(bodies, placed, margin))
        self._bodies = None if np.any(margin) else weakref.ref(bodies)
        return self

    @property
    def nbytes(self):
        """Bytes that it holds."""
        held = [
            *self._buffers.values(),
            *map(operator.itemgetter(1), self._ints_of.values()),
            self.valid,
            self.still,
        ]
        if self.n_bodies:
            held += [self.segments, self.order, self.ranks]
        return sum(map(operator.attrgetter("nbytes"), held))

    def buffer(self, name, size, dtype):
        """A buffer that is kept from step to step."""
        buffer = self._buffers.get(name)
        if buffer is None or buffer.size != size or buffer.dtype != dtype:
            buffer = self._buffers[name] = self.run.backend.empty(size, dtype)
        return buffer

    def _ints(self, name, key, make):
        """Buffer of the int32 array that ``make()`` gives, made anew when `key` is another object."""
        if name not in self._ints_of or self._ints_of[name][0] is not key:
            self._ints_of[name] = key, self.run.to_device(make(), np.int32)
        return self._ints_of[name][1]

    @staticmethod
    def bytes_needed(n, real=8, raster=4):
        """Bytes of the tree of `n` bodies, and of what making it and a search in it take."""
        return n * (real * (14 + 2 * (12 + 6)) + raster * 27 // 2 + 4 * (4 + 8 + 6) + 24) + (1 << 20)

    def look(self, bodies):
        """Which bodies have a leaf, which stand still, and what their positions are relative to."""
        self.valid, self.still = bodies.valid, still_bodies(bodies)
        self.n_bodies, self.n = len(bodies), int(self.valid.sum())
        self.levels, self.shift = Levels(self.n, self.low), self._shift_of(bodies)

    def _shift_of(self, bodies):
        if self.run.real != np.float32:
            return np.zeros(3)
        # digits that the distance from the world's origin would cost
        position = bodies.start.position[bodies.valid]
        near = position[np.abs(position).max(axis=1, initial=0.0) < self.wild]
        return np.median(near, axis=0) if len(near) else np.zeros(3)

    def bound(self, bodies, placed=None, margin=0.0):
        """Stage b01: bounds and swept boxes of all bodies."""
        run, n = self.run, self.n_bodies
        if placed is None:
            arrays = pose_arrays(bodies)
            with np.errstate(over="ignore", invalid="ignore"):
                for name in NAMES[:2]:
                    if self.shift.any():
                        arrays[name] = np.where(self.valid[:, None], arrays[name] - self.shift, 0.0)
                placed = {name: run.to_device(arrays[name], run.real) for name in NAMES}
            placed |= {name: run.to_device(arrays[name]) for name in ("shape_in", "valid_in")}
            placed["mesh_bounds_in"] = run.to_device(
                mesh_bounds(bodies.meshes, margin, bodies.shape), run.real
            )
            if np.ndim(margin):
                placed["shape_in"] = run.to_device(np.arange(n), np.int32)
        bounds = self.buffer("bounds", n * self.bound_stride, run.real)
        boxes = self.buffer("boxes", n * 6, run.real)
        run.launch_noted(
            "b01_bodies", n, self._spins(bodies), placed, n=n, bounds_out=bounds, boxes_out=boxes
        )
        return bounds, boxes

    def _spins(self, bodies):
        """What b01 is told of bodies that spin."""
        if bodies.spins is None:
            none = self.buffer("spins", 9, self.run.real)
            return {"spinning": 0, "spins_in": self.buffer("spinning", 1, np.uint8), "spin_in": none}
        return {"spinning": 1} | spin_buffers(self.run, bodies.spins)

    def _sort(self, bodies, bounds, boxes):
        """Stage b02, and what of b03 stays the same in a refit."""
        ranks, n_ranks = self.rules.ranks()
        self.ranks = np.ones(self.n_bodies, np.int32) if ranks is None else ranks
        counts = np.bincount(self.ranks[self.valid], minlength=n_ranks)
        self.segments = self.run.to_device(np.concatenate([[0], np.cumsum(counts)]), np.int32)
        if self.n < self.n_bodies:  # bodies without poses come last, behind the leaves
            ranks, n_ranks = np.where(self.valid, self.ranks, n_ranks).astype(np.int32), n_ranks + 1
        run = self.run
        args = {"ranks": None if ranks is None else run.to_device(ranks), "n_ranks": n_ranks}
        module = run.backend.module("bvh", run.precision)
        if run.backend.kind == "cuda":  # nothing is waited for
            args["centres"] = self._centres(bodies)
        order, centre = leaf_order(run.backend, module, boxes, self.n_bodies, **args)
        self.origin = centre.astype(run.real).astype(np.float64)
        if run.backend.kind == "cuda":
            self.order, self._order_host = order[: self.n], None
        else:
            self._order_host = run.backend.to_host(order)[: self.n]
            self.order = run.to_device(self._order_host)
        self._fill(bounds, boxes)

    def _centres(self, bodies):
        """About where the boxes of some bodies have their centres, (k, 3) float64, counted from `shift`: half
        way between where the middle of the mesh starts and ends."""
        some = np.flatnonzero(self.valid)
        some = some[morton.sample(len(some))]
        middle, found = mesh_bounds(bodies.meshes)[bodies.shape[some], :3], np.zeros((len(some), 3))
        with np.errstate(over="ignore", invalid="ignore"):
            for poses in (bodies.start, bodies.end):
                found += 0.5 * (poses.position[some] + quaternion.rotate(poses.unit_wxyz[some], middle))
            return found - self.shift

    @property
    def order_host(self):
        """Body of each leaf, (n,) int32: by world (those in every world first), then along a Morton curve."""
        if self._order_host is None:
            self._order_host = self.run.backend.to_host(self.order)
        return self._order_host

    def _fill(self, bounds, boxes):
        """Stage b03: leaves and nodes."""
        run, n, at = self.run, self.n, self.levels
        self.leaves = self.buffer("leaves", n * self.leaf_stride, run.real)
        self.leaf_ints = self.buffer("leaf_ints", n * self.leaf_width, np.int32)
        self.nodes = self.buffer("nodes", max(at.total, 1) * self.node_width, run.raster)
        if not n:
            return
        bits = {
            f"{name}_in": self._ints(name, which, lambda which=which: self._bits(which))
            for name, which in (("group", self.rules.group), ("mask", self.rules.mask))
        }
        rank = self.buffer("rank", self.n_bodies, np.int32)
        run.backend.write(rank, 2 * self.ranks + self.still)
        run.launch_noted("b03_bodies", n, bits, n=n, order_in=self.order, bounds_in=bounds, boxes_in=boxes,
                         rank_in=rank, leaves_out=self.leaves, leaf_ints_out=self.leaf_ints)  # fmt: skip
        run.launch_noted(
            "b03_body_nodes", at.counts[0], self.origin_args(), n_nodes=at.counts[0], n=n,
            leaves_in=self.leaves, leaf_ints_in=self.leaf_ints, nodes_out=self.nodes,
        )  # fmt: skip
        if self._levels_of is not self.nodes:  # they are many, and short
            self._levels, self._levels_of, kernel = [], self.nodes, run.kernel("b03_body_level")
            for k in range(1, len(at.counts)):
                bound = run.backend.bind(
                    kernel, n_nodes=at.counts[k], n_children=at.counts[k - 1], start=at.starts[k],
                    child_start=at.starts[k - 1], nodes_out=self.nodes,
                )  # fmt: skip
                self._levels.append((bound, at.counts[k]))
        for bound, count in self._levels:
            run.launch_bound(bound, "b03_body_level", count)

    def _bits(self, which):
        """Groups or masks of all bodies, all ones if there are none."""
        return np.full(self.n_bodies, -1, np.int32) if which is None else which.view(np.int32)

    def origin_args(self):
        """The origin as kernels take it."""
        return {f"origin_{axis}": self.origin[k] for k, axis in enumerate("xyz")}
