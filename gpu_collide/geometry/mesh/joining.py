"""The parts of a scene that trimesh read from a file, joined into one mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["joined_parts"]


def joined_parts(parts: Iterable[Any], unnamed: str = "") -> tuple[Array, Array, list[str]]:
    """Vertices and triangles of objects of trimesh as one, and what the part of each triangle is called.

    Parameters
    ----------
    parts : iterable of trimesh.Trimesh
        Others (paths, points) are passed over.
    unnamed : str
        A name that is none, such as that of the file.
    """
    solid = [part for part in parts if hasattr(part, "faces") and len(part.faces)]
    if not solid:
        raise ValueError("it holds no triangles; export it with its surface")
    offsets = np.cumsum([0, *(len(part.vertices) for part in solid[:-1])])
    vertices = np.concatenate([np.asarray(part.vertices, np.float64) for part in solid])
    faces = np.concatenate(
        [np.asarray(part.faces, np.int64) + first for part, first in zip(solid, offsets, strict=True)]
    )
    names: list[str] = []
    for part in solid:
        about = getattr(part, "metadata", None) or {}
        name = str(about.get("node") or about.get("name") or "")
        names += ["" if name == unnamed else name] * len(part.faces)
    return vertices, faces, names
