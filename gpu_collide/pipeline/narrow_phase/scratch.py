"""Memory of each launch: scratch of a group, entries of lists, and first guesses.

Guesses are in no result. What is too small is found out by the launch, which is repeated with more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.backends import sources

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.pipeline.launch.launcher import Launcher
    from gpu_collide.pipeline.narrow_phase.plan import Plan

__all__ = [
    "CANDIDATES", "CUTS", "DEEP", "FIRST", "HITS", "JOINED", "LASTING", "MANY", "PATCHES", "PIECES",
    "ListKind", "apart", "group_bytes", "hulls", "near", "nodes_first", "pair_bytes", "plane", "screen",
    "walk",
]  # fmt: skip

_C = sources.constants()
_SEEN, _PAGE = sources.record("seen").stride, 8 * sources.record("seen").stride
_NEAR_INTS = int(_C["GC_NEAR_INTS"])
#: Entries of lists for which there is room at first: for each thing that writes to one, and in all.
FIRST = {"hulls": (2.0, 1024), "candidates": (12.0, 4096), "hits": (1.0, 1024), "patches": (16.0, 16384)}
FIRST["pieces"] = 1.5, 1024
FIRST |= {"deep": (8.0, 64), "cuts": (32.0, 64)}
#: Candidates that there is room for at first where pairs have large parts.
MANY = 1 << 21
#: Nodes that a set of b05 may hold at first, and more where groups are few and meshes have many faces; pairs
#: that need more walk again, with so many times as many.
NODES, MORE_NODES, ALL_NODES, GROWS = 256, 32768, 1 << 19, 4.0
#: Cells of the screen that long lists are sorted into.
_CELLS = 1 << int(_C["GC_TILE_SPLITS"])
#: Lists longer than this have chords of edges (gc_chords.h), of so many numbers.
TILED, _CHORD = int(_C["GC_TILED"]), sources.record("chord").stride
#: What joined meshes have of which there has to be room, with the numbers of type gc_raster that one takes;
#: of ``topology`` it is an int.
JOINED = {"vertices": 3, "edges": 1, "faces": 3, "topology": 0}


class ListKind(NamedTuple):
    """A list that launches add to in any order.

    Attributes
    ----------
    name : str
        Of its guess.
    counted : str
        Argument of the kernels that is the number of entries.
    columns : dict of str to (int, str)
        Numbers of an entry, and whether they are ``int``, ``real`` or ``raster``, by stems of arguments. The
        first tells an entry from none, which is below 0.
    per_pair : str
        Argument that is the number of entries of each pair, if they are counted.
    """

    name: str
    counted: str
    columns: dict[str, tuple[int, str]]
    per_pair: str = ""

    def nbytes(self, run: Launcher) -> int:
        """Of an entry."""
        return sum(width * self.dtype(run, kind).itemsize for width, kind in self.columns.values())

    @property
    def width(self) -> int:
        """By how many numbers an entry moves an index, at most."""
        return max(width for width, _ in self.columns.values())

    @staticmethod
    def dtype(run: Launcher, kind: str) -> np.dtype:
        """The type that a kind of numbers has in a run."""
        return {"int": np.dtype(np.int32), "real": run.real, "raster": run.raster}[kind]


CANDIDATES = ListKind("candidates", "n_candidates_out", {"candidates": (4, "int"), "brackets": (2, "raster")})
HITS = ListKind("hits", "n_hits_out", {"hit": (4, "int"), "value": (3, "real")}, "pair_hits_out")
LASTING = ListKind("lasting", "n_lasting_out", {"lasting": (1, "int")})
PIECES = ListKind(
    "pieces",
    "n_pieces_out",
    {
        "todo": (1, "int"),
        "piece": (1, "int"),
        "span": (2, "raster"),
        "pairs": (2, "int"),
        "items": (3, "int"),
        "screw": (int(sources.record("screw").stride), "real"),
        "state": (1, "int"),
        "row_height": (1, "real"),
    },
)
DEEP = ListKind(
    "deep",
    "n_deep_out",
    {"deep": (4, "int"), "place": (int(sources.record("deep").stride), "real")},
)
CUTS = ListKind(
    "cuts", "n_cuts_out", {"cut": (int(sources.record("passage").stride), "int"), "cut_at": (1, "real")}
)
PATCHES = ListKind("patches", "n_out", {"list": (3, "int")})


def group_bytes(run: Launcher, sizes: tuple[int, int]) -> int:
    """Bytes of scratch of so many numbers of type gc_raster and ints."""
    return sizes[0] * run.raster.itemsize + 4 * sizes[1]


def pair_bytes(run: Launcher) -> int:
    """Bytes of the screw of a pair, and of its state."""
    return int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + 64


def screen(largest: Array, rows: bool) -> tuple[int, int]:
    """Raster numbers and ints for an item of the largest parts; items that need more run again."""
    # beside the lists: hulls, what a group of many work-items notes, and bits of boxes (gc_box_overlap.h)
    nv, ne, nf = (int(x) + 16 for x in largest)
    lists = nv + ne + nf
    copies = 5 if lists < 4000 else 1
    reals = 2 * (5 * nv + 8 * nf + ne) + 12 * lists * (3 + copies) + 640
    ints = 2 * lists * (3 + copies) + 6 * 16 * 4 + 256 + 4112
    if max(ne, nf * copies) > TILED:  # long lists are sorted in it (gc_tiles.h)
        ints += 3 * _CELLS + 16 + 2 * max(ne, nf * copies)
    ints += 6 * 32 * min(-(-max(ne, nf * copies) // 128) * 4, 32)
    if ne > TILED:
        reals += _CHORD * ne * (1 + copies)
    if rows:
        reals, ints = reals + 8 * 12 * (ne + nf), ints + 8 * 6 * (ne + nf) + 4096
    return -(-reals // 16) * 16, -(-ints // 16) * 16


def plane(run: Launcher, plan: Plan) -> tuple[int, int]:
    """The same for a group of f03."""
    size = run.backend.group_size
    return 8 * int(plan.counts[:, 0].max()) + 2 * size, 2 * size


def hulls(run: Launcher) -> tuple[int, int]:
    """The same for a group of ``screen_hulls``."""
    room, met, counts = (int(_C[f"GC_SLAB_{x}"]) for x in ("ROOM", "MET", "COUNTS"))
    size = run.backend.group_size
    return 36 * room + 2 * size, counts + 6 * room + 4 * met + size


def apart(run: Launcher) -> tuple[int, int]:
    """The same for a group of ``hulls_apart``."""
    return 2 * run.backend.group_size, run.backend.group_size


def walk(run: Launcher, plan: Plan) -> tuple[int, int, int]:
    """The same for a group of ``screen_first``, and the pairs of nodes for which there is room."""
    limits, size = plan.limits, run.backend.group_size
    nodes = limits.walk_alone if size == 1 else limits.walk_each * size + limits.walk_spare
    kept = 0 if size > 1 else int(_C["GC_KEPT_PAGES"])
    return 2 * nodes + 2 * kept * _PAGE, 2 * nodes + 4 * kept + 16, nodes


def near(nodes: int) -> tuple[int, int]:
    """The same for a group of b05 with so many nodes a set."""
    return 2 * nodes * _SEEN, _NEAR_INTS * nodes + 8


def nodes_first(run: Launcher, plan: Plan, each: int, held: int) -> int:
    """Nodes of a set of b05, of `each` bytes, in the first launch."""
    faces = int(plan.counts[:, 2].max())
    most = max(NODES, min(MORE_NODES, ALL_NODES // run.backend.max_groups, faces // 2))
    return max(1, min(most, run.room.fits(each, held)))
