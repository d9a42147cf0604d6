"""Names of the parts that faces, edges and vertices of a mesh belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.arrays.adjacency import gathered

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["FEATURES", "labels_of"]

FEATURES = ("face", "edge", "vertex")


def labels_of(mesh: Surface, feature: str, numbers: Array) -> list[str]:
    """What the parts are called that features of a mesh belong to; edges and vertices to those of their
    faces.

    Parameters
    ----------
    mesh : Surface
    feature : {"face", "edge", "vertex"}
    numbers : (k,) ndarray of int

    Returns
    -------
    list of str
        Several names joined by " + "; empty for none.
    """
    parts = mesh.parts
    if parts is None:
        return [""] * len(numbers)
    if feature == "face":
        rows, faces = np.arange(len(numbers)), numbers
    elif feature == "edge":
        rows, faces = gathered(mesh.edge_face_start, mesh.edge_faces >> 1, numbers)
    else:
        rows, faces = gathered(mesh.vertex_face_start, mesh.vertex_faces, numbers)
    return parts.labels(rows, faces, len(numbers))
