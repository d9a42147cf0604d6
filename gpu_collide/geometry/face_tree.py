"""The tree of a mesh's faces: the order of its leaves, and their boxes.

The tree is implicit, as those of the broad phase: leaves in the order of a Morton curve, node j of level l
over leaves ``j << l`` to ``(j + 1) << l`` (``kernels/common/gc_types.h``). It is made on the host, since it
belongs to the mesh: whatever backend and precision ask, it is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry import morton
from gpu_collide.geometry.columns import blocks, columns, over_faces

if TYPE_CHECKING:
    from gpu_collide.geometry.surface import Surface

__all__ = ["PATCH_LEVEL", "FaceTree", "face_tree", "level_counts"]

_C = sources.constants()
#: A patch is one node of the tree on this level: 32 faces, so that a mask of them is an int.
PATCH_LEVEL = int(_C["GC_PATCH_LEVEL"])
_BITS = 21  # of a code on each axis: three fit a 64-bit number


@dataclass(frozen=True)
class FaceTree:
    """Order and boxes of a mesh's faces.

    Attributes
    ----------
    order : (faces,) int32
        Face of each leaf.
    boxes : (faces, 6) float64
        Least and greatest coordinates of each leaf, centred on the mesh.
    """

    order: np.ndarray
    boxes: np.ndarray

    @property
    def counts(self) -> list[int]:
        """Nodes of each level, from the leaves up; list of int."""
        return level_counts(len(self.order))


def level_counts(n: int) -> list[int]:
    """Nodes of each level of a tree of n leaves, from the leaves up."""
    return [-(-n >> level) for level in range((n - 1).bit_length() + 1)]


def face_tree(mesh: Surface) -> FaceTree:
    """`FaceTree` of a mesh."""
    points, start = columns(mesh.vertices - mesh.center), mesh.face_start
    sides = [np.empty(len(start) - 1) for _ in range(6)]
    for some in blocks(len(start) - 1):
        first, end = start[some.start], start[some.stop]
        at, begins = mesh.face_vertices[first:end], start[some] - first
        for k, x in enumerate(points):
            corners = x[at]
            sides[k][some] = over_faces(np.minimum, corners, begins)
            sides[k + 3][some] = over_faces(np.maximum, corners, begins)
    centres = [0.5 * a + 0.5 * b for a, b in zip(sides[:3], sides[3:], strict=True)]
    chosen = morton.sample(len(start) - 1)
    origin, side = morton.cube(np.stack([x[chosen] for x in centres], axis=1), _BITS)
    order = np.argsort(morton.codes(centres, _BITS, origin, side), kind="stable").astype(np.int32)
    return FaceTree(order, np.stack([x[order] for x in sides], axis=1))
