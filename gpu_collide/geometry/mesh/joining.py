"""Parts joined into one mesh: those of a scene that trimesh read from a file, and meshes at their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["joined_meshes", "joined_parts"]


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


def joined_meshes(meshes: Sequence[Surface], names: Sequence[str]) -> tuple[list[Array], list[str]]:
    """Faces of meshes whose vertices stand one mesh after the other, and what the part of each is called."""
    first = np.cumsum([0, *(mesh.n_vertices for mesh in meshes[:-1])])
    faces, parts = [], []
    for k, mesh in enumerate(meshes):
        faces += np.split(mesh.face_vertices + first[k], mesh.face_start[1:-1])
        every = np.arange(mesh.n_faces)
        own = [""] * mesh.n_faces if mesh.parts is None else mesh.parts.labels(every, every, mesh.n_faces)
        parts += ["/".join(x for x in (names[k], label) if x) for label in own]
    return faces, parts
