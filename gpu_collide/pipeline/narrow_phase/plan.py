"""The plan: all predicates and limits that choose how a pair is processed, from counts and options.

Nothing is launched here. A `Plan` is made once for the meshes, the options and the kind of device; stages
read it, and executors never choose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide import _options
from gpu_collide.backends import sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpu_collide._options import Options
    from gpu_collide._types import Array
    from gpu_collide.backends.base import Backend

__all__ = [
    "CANDIDATES", "FILTERS", "KINDS", "LIMITS", "REFINE", "Limits", "PairClasses", "Plan", "decide",
    "has_no_border",
    "near_bits", "near_pairs", "takes_trees",
]  # fmt: skip

_C = sources.constants()
#: What the kernels call the options (GC_REFINE_*, GC_CANDIDATES_* in gc_constants.h).
REFINE = {name: k for k, name in enumerate(_options.REFINE)}
CANDIDATES = {name: k for k, name in enumerate(_options.CANDIDATES)}
#: Name of each filter and its kernel.
FILTERS = {name: f"f{k:02d}_{name}" for k, name in enumerate(_options.FILTERS, start=1)}
#: Pairs of two small meshes, for `screen_small`; of other whole meshes; those that look at near faces only.
KINDS = ("small", "whole", "near")
#: Halvings of width that there are bits for.
_MOST_WIDTH = 63
_INT = int(np.iinfo(np.int32).max)
#: Bits of `near_bits`: a pair with this mesh looks at near faces only; it does beside one so much narrower;
#: one more halving of width.
_NEAR, _WIDE, _STEP = (int(_C[f"GC_LOOK_{name}"]) for name in ("NEAR", "WIDE", "STEP"))


class Limits(NamedTuple):
    """The thresholds. Those that kernels know as well are theirs (gc_constants.h).

    Attributes
    ----------
    walked : int
        First contacts of two meshes with a larger product of face counts are looked for down both trees.
    hulls_alone, hulls, hull_vertices : int
        Products of face counts from which a plane between the hulls is looked for, by a work-item alone and
        by many; meshes with more vertices have trees to go down.
    heavy : int
        An item of more faces than this, and than half a thread's part of all, is shared among threads.
    walk_alone, walk_each, walk_spare : int
        Pairs of nodes for which a group of the search for first contacts has room: one work-item alone has
        them in order, of many each its own.
    """

    walked: int = int(_C["GC_FIRST_FACE_PRODUCT"])
    hulls_alone: int = int(_C["GC_HULLS_ALONE_PRODUCT"])
    hulls: int = int(_C["GC_HULLS_FACE_PRODUCT"])
    hull_vertices: int = int(_C["GC_HULLS_VERTICES"])
    heavy: int = 4096
    walk_alone: int = 4096
    walk_each: int = 64
    walk_spare: int = 256


LIMITS = Limits()


class PairClasses(NamedTuple):
    """What tells pairs of the kinds apart, as ``g05_near`` reads it.

    Attributes
    ----------
    kinds : tuple of str
        Those of `KINDS` that two of the meshes may be.
    near, small : (meshes,) uint8
        Of each mesh the bits of `near_bits`, and whether it is small.
    """

    kinds: tuple[str, ...]
    near: Array
    small: Array


@dataclass(frozen=True, eq=False)
class Plan:
    """The decisions for pairs of some meshes.

    Attributes
    ----------
    options : Options
    limits : Limits
    counts : (meshes, 3) int64
        Vertices, edges and faces.
    radii : (meshes,) float64
    near, late : (meshes,) uint8
        `near_bits` for all pairs, and for those whose search for a first contact is given up.
    walked : bool
        May a pair be looked at down both trees, for its first contact alone?
    hulls : bool
        May one be looked at between hulls?
    trees : bool
        Are trees of faces wanted?
    serial : bool
        A group is one work-item.
    threads : int
        Among which a heavy item may be shared.
    small_size : int or None
        Work-items of a group for two small meshes, if it has fewer.
    closed : bool
        No edge of any mesh is a border.
    at_distance : bool
        May bodies be in contact where their meshes are at a distance?
    some_touch : bool
        ... and others, without a rounding radius, where they touch, each pair on one screw? These are not cut
        into pieces, and go on by the plan `of_touching`.
    gives_up : bool
        May a search for near faces be given up that costs more than it saves?
    """

    options: Options
    limits: Limits
    counts: Array
    radii: Array
    near: Array
    late: Array
    walked: bool
    hulls: bool
    trees: bool
    serial: bool
    threads: int
    small_size: int | None
    closed: bool
    gives_up: bool
    at_distance: bool = False
    some_touch: bool = False

    # -- kinds of pairs --------------------------------------------------------------------------------------
    @cached_property
    def classes(self) -> PairClasses:
        """Of all pairs."""
        return self._classes(self.near)

    @cached_property
    def late_classes(self) -> PairClasses:
        """Of those whose search for a first contact is given up."""
        return self._classes(self.late)

    def _classes(self, near: Array) -> PairClasses:
        """By pixels and by rows there is but one screen for whole meshes."""
        o = self.options
        apart = self.small_size is not None and o.refine != "pixels" and not self.rows
        small = self.small & apart
        return PairClasses(kinds_of(near, small), near, small.astype(np.uint8))

    @cached_property
    def small(self) -> Array:
        """Which meshes are small, (meshes,) bool."""
        most = np.array([int(_C[f"GC_SMALL_{x}"]) for x in ("VERTICES", "EDGES", "FACES")])
        return np.all(self.counts <= most, axis=1)

    @cached_property
    def group_size(self) -> int | None:
        """Work-items of a group for any pair; None: the usual number. Counted, a pair of cars takes half of
        the instructions in a small group."""
        return self.small_size if self.small.all() else None

    @cached_property
    def any_near(self) -> bool:
        """May a pair look at near faces only, by the first decision?"""
        return bool(self.near.any())

    @cached_property
    def largest(self) -> Array:
        """Most vertices, edges and faces (3,) of a mesh that the screen looks at whole: those in a pair that
        is not `walked`."""
        if not self.walked:
            return self.counts.max(axis=0)
        faces = self.counts[:, 2]
        some = faces * faces.min() <= self.limits.walked
        return self.counts[some].max(axis=0) if some.any() else np.zeros(3, np.int64)

    def walked_pairs(self, shapes: Array) -> Array:
        """Which pairs of the meshes `shapes` (n, 2) are looked at down both trees, (n,) bool; as
        ``gc_goes_down``."""
        faces = self.counts[:, 2]
        return (faces[shapes[:, 0]] * faces[shapes[:, 1]] > self.limits.walked) & self.walked

    @property
    def walk_limit(self) -> int:
        """What kernels are told of these pairs."""
        return self.limits.walked if self.walked else 0

    def given_up(self, looks: bool) -> int:
        """The most faces of a mesh whose walks are given up where they cost more than the screen: any number
        where somebody `looks` which pairs these are, and has near faces of the large ones joined."""
        return _INT if looks else int(_C["GC_AUTO_NEAR_LARGE"])

    @property
    def hull_limits(self) -> dict[str, int]:
        """What ``screen_hulls`` is told of which pairs it is for."""
        product = self.limits.hulls_alone if self.serial else self.limits.hulls
        return {"least_product": product, "most_vertices": self.limits.hull_vertices}

    def may_give_up(self, shapes: Array) -> Array:
        """For which pairs a search for near faces may be given up, (n,) bool: meshes of some size."""
        if not self.gives_up or self.options.features != "auto":
            return np.zeros(len(shapes), bool)
        some: Array = self.counts[shapes, 2].sum(axis=1) <= _C["GC_NEAR_WHOLE"]
        return some

    def heavy(self, faces: Array) -> Array:
        """Which items, by the sum of their faces, would keep one thread at work while others wait, (n,) bool:
        they are shared (docs/decisions/0083)."""
        if not self._shares or not len(faces):
            return np.zeros(len(faces), bool)
        heavy: Array = faces > max(self.limits.heavy, faces.sum() / (2 * self.threads))
        return heavy

    @property
    def _shares(self) -> bool:
        return self.threads > 1 and self.serial and not self.rows

    # -- who runs it -----------------------------------------------------------------------------------------
    def records(self, shapes: Array) -> bool:
        """Are these pairs for launches that are kept and look at nothing before the end? If they may be, and
        none is heavy enough to be shared among threads."""
        if not (self.may_record and self.may_share):
            return self.may_record
        faces = self.counts[shapes[~self.walked_pairs(shapes)], 2]
        return not self.heavy(faces.sum(axis=1)).any()

    @cached_property
    def may_share(self) -> bool:
        """May a pair be heavy enough to be shared among threads?"""
        return self._shares and 2 * int(self.counts[:, 2].max(initial=0)) > self.limits.heavy

    @cached_property
    def may_record(self) -> bool:
        """May pairs be recorded, as far as the options and the meshes say? Whole meshes, exact times,
        float64, and no report."""
        o = self.options
        exact = o.refine == "exact" and o.precision != "single" and not o.report
        return exact and not self.late.any()

    @property
    def pieces(self) -> bool:
        """Are pairs cut into pieces, since each body has its own motion, or since they meet at a distance?"""
        return self.options.motion == "body" or self.at_distance

    @cached_property
    def of_touching(self) -> Plan:
        """For the pairs of a call with rounded meshes that have none themselves."""
        near = np.zeros_like(self.near) if self.walked else self.near
        return replace(self, near=near, at_distance=False, some_touch=False)

    @cached_property
    def of_pieces(self) -> Plan:
        """For pieces, and the pairs that are cut into them."""
        return replace(self, walked=False, hulls=False, some_touch=False) if self.some_touch else self

    @cached_property
    def spheres(self) -> bool:
        """May both bodies of a pair be spheres: points with a radius, or at a distance?"""
        return self.at_distance and bool((self.counts[:, 0] == 1).any())

    @property
    def least_properness(self) -> float:
        """What culling may take for granted of contacts. At a distance any direction may be theirs."""
        return -1.0 if self.at_distance else self.options.min_properness

    def solver(self, kernel: str) -> str:
        """Name of a kernel that solves contact equations or looks at a contact."""
        return f"{kernel}_distance" if self.at_distance else f"{kernel}_body" if self.pieces else kernel

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """The programs (`sources.PROGRAMS`) whose kernels are launched."""
        o = self.options
        asked = {
            "screw": True, "screen": True,
            "screen_small": any("small" in plan.classes.kinds for plan in (self, self.of_touching)),
            "solve": not self.pieces, "bodies": self.pieces,
            "solve_body": self.pieces and not self.at_distance, "solve_distance": self.at_distance,
            "start_distance": self.at_distance and o.check_start, "spheres": self.spheres,
            "solve_raster": o.refine != "exact",
            "solve_split": o.refine == "exact" and not self.serial and not self.pieces,
            "overlap": o.check_start and (self.some_touch or not self.pieces),
            "overlap_body": o.check_start and self.pieces,
            "near_faces": self.late.any(), "join_near_faces": self.late.any(),
            "first_contact": self.walked, "hull_separation": self.hulls,
        }  # fmt: skip
        return tuple(name for name, wanted in asked.items() if wanted)

    def alternatives(self) -> Iterator[Plan]:
        """What is tried with a pair alone for which there is no room: whole meshes, and near faces however
        long the search for them is. Either may take less."""
        if self.options.features == "auto" and self.late.any():
            none = np.zeros(len(self.near), np.uint8)
            yield replace(self, near=none, late=none, walked=False, gives_up=False)
            yield replace(self, near=self.late, walked=False, gives_up=False)

    # -- rows ------------------------------------------------------------------------------------------------
    @property
    def rows(self) -> bool:
        """Are candidates looked for in rows?"""
        return self.options.candidates == "raster"

    @property
    def asks_heights(self) -> bool:
        """Has each pair a height of its rows?"""
        return self.rows or self.options.refine != "exact"

    def row_heights(self, shapes: Array, short_edges: Any) -> Array | None:
        """Row height of each pair in user units, or None if nothing asks for it; ``short_edges(shapes)``
        tells their short edges.

        No row is higher than the longest motion that is looked at: all that a pair reaches lies in one row or
        two then, and what is computed with the height stays within the numbers there are.
        """
        o = self.options
        if not self.asks_heights:
            return None
        most = sources.constants(o.precision)["GC_MAX_MOTION"] * self.radii[shapes].max(axis=1)
        if o.pixel_size is not None:
            return np.minimum(o.pixel_size, most)
        with np.errstate(over="ignore"):
            return np.minimum(short_edges(shapes) / o.resolution, most)


def decide(meshes: Sequence[Any], options: Options, backend: Backend) -> Plan:
    """The plan for pairs of `meshes` with these options on `backend`."""
    counts = np.array([(len(m.vertices), len(m.edges), len(m.face_planes)) for m in meshes], np.int64)
    counts = counts.reshape(-1, 3)
    limits, serial = LIMITS, backend.group_size == 1
    touching = np.array([mesh.rounding == 0.0 and not options.at_distance for mesh in meshes], bool)
    apart = not touching.all()
    near = late = near_bits(meshes, options, backend.kind != "cuda")
    first = options.first_only and options.refine == "exact" and options.motion == "relative"
    first = first and options.candidates == options.features == "auto"
    faces = counts[touching, 2]
    looking = faces[near[touching] & (_NEAR | _WIDE) > 0]
    # Only if all pairs that look at near faces by themselves are such: a small mesh beside a large one has
    # little to look at so, and all of it otherwise.
    beside = len(looking) and looking.min() * faces.min() <= limits.walked
    walked = first and not beside and bool(faces.max(initial=0) ** 2 > limits.walked)
    near = np.zeros(len(counts), np.uint8) if walked and not apart else near
    hulls = counts[touching & (counts[:, 0] <= limits.hull_vertices), 2].max(initial=0)
    between = first and len(faces) and hulls**2 >= (limits.hulls_alone if serial else limits.hulls)
    trees = walked or near.any() or (options.check_start and takes_trees(meshes))
    radii = np.array([m.radius for m in meshes], np.float64)
    return Plan(
        options, limits, counts, radii, near, late, walked, bool(between and hulls), bool(trees),
        backend.serial_groups, getattr(backend, "threads", 1), backend.small_group_size,
        apart and all(map(has_no_border, meshes)), True, apart,
        bool(apart and touching.any() and options.motion == "relative"),
    )  # fmt: skip


def has_no_border(mesh: Any) -> bool:
    """Has every edge of the mesh two faces?"""
    return bool((np.diff(mesh.edge_face_start) == 2).all())


def near_bits(meshes: Sequence[Any], options: Any, gives_up: bool = True) -> Array:
    """What says of each mesh whether a pair with it looks at near faces only, (meshes,) uint8 of GC_LOOK_*
    bits, to be asked by `near_pairs`; 0 if no pair does.

    None for rows, which whole meshes have; by themselves pairs of meshes for which it pays: where one
    has very many faces, or many and is far wider than the other, which comes near few of them.
    """
    if options.candidates == "raster" or options.features == "all":
        return np.zeros(len(meshes), np.uint8)
    if options.features == "near":
        return np.full(len(meshes), _NEAR, np.uint8)
    faces = np.array([len(m.face_planes) for m in meshes], np.int64)
    width = np.frexp([m.radius for m in meshes])[1]
    bits = np.minimum(width - min(width, default=0), _MOST_WIDTH)
    bits = bits.astype(np.uint8) * _STEP
    bits[faces > _C["GC_AUTO_NEAR_FACES"]] |= _WIDE
    # by pixels less is settled on the way down (docs/decisions/0079): twice as many faces before it pays
    very = _C["GC_AUTO_NEAR_ALWAYS" if gives_up else "GC_AUTO_NEAR_LARGE"]
    bits[faces > very << (options.refine == "pixels")] |= _NEAR
    return bits if (faces > _C["GC_AUTO_NEAR_FACES"]).any() else np.zeros(len(meshes), np.uint8)


def near_pairs(near: Array, shapes: Array) -> Array:
    """Which pairs of the meshes `shapes` (n, 2) look at near faces only, (n,) bool, by `near_bits`; as
    ``g05_looks_near``."""
    bits = np.asarray(near).astype(np.int64)[shapes]
    width, wider = bits // _STEP, _C["GC_AUTO_NEAR_WIDER"]
    wide = (bits & _WIDE > 0) & (width >= width[:, ::-1] + wider)
    return np.any((bits & _NEAR > 0) | wide, axis=1)


def kinds_of(near: Array, small: Array) -> tuple[str, ...]:
    """Of all pairs of meshes, which of `KINDS` there are, looking at meshes of one sort once."""
    sorts = np.unique(2 * near.astype(np.int64) + small)
    a, b = (x.reshape(-1) for x in np.meshgrid(sorts, sorts))
    looks = near_pairs(sorts // 2, np.column_stack((np.searchsorted(sorts, a), np.searchsorted(sorts, b))))
    both = (a & b & 1 > 0) & ~looks
    there = {"small": both.any(), "whole": (~both & ~looks).any(), "near": looks.any()}
    return tuple(kind for kind in KINDS if there[kind])


def takes_trees(meshes: Sequence[Any]) -> bool:
    """Does a query that looks for overlaps want trees of the faces? It does if a mesh is large."""
    return any(len(m.face_planes) > _C["GC_AUTO_NEAR_FACES"] for m in meshes)
