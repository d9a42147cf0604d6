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


def joined_meshes(
    meshes: Sequence[Surface], poses: Any, names: Sequence[str] | None
) -> tuple[Array, list[Array], list[str]]:
    """Vertices, faces and names of parts of meshes that are placed in one frame: what `Mesh.join` takes."""
    n = len(meshes)
    if n == 0:
        raise ValueError("meshes: expected at least one Mesh, got none")
    for k, mesh in enumerate(meshes):
        if not hasattr(mesh, "face_start"):
            raise TypeError(f"meshes: expected Mesh, got {type(mesh).__name__} at place {k}")
        if mesh.thin:
            raise ValueError(
                f"meshes: expected meshes with faces, got {mesh!r} at place {k}; make it a body of "
                "its own, or a polyhedron (mesh.to_polyhedron)"
            )
        for name in ("rounding", "two_sided"):
            one, other = getattr(meshes[0], name), getattr(mesh, name)
            if one != other:
                raise ValueError(
                    f"meshes: expected one {name} for all parts of a body, got {one} at place 0 and {other} "
                    f"at place {k}; make bodies of their own of those that differ"
                )
    if names is not None:
        if isinstance(names, str) or len(names) != n:
            got = repr(names) if isinstance(names, str) else len(names)
            raise ValueError(f"names: expected a name for each of {n} meshes, got {got}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"names: expected str, got {type(name).__name__}")
    places = [mesh.vertices for mesh in meshes]
    if poses is not None:
        if not hasattr(poses, "to_matrix"):
            raise TypeError(f"poses: expected gpu_collide.Poses, got {type(poses).__name__}")
        if len(poses.flat()) != n or not poses.valid.all():
            raise ValueError(f"poses: expected a valid pose for each of {n} meshes, got shape {poses.shape}")
        matrix = poses.flat().to_matrix()
        places = [x @ m[:3, :3].T + m[:3, 3] for x, m in zip(places, matrix, strict=True)]
    first = np.cumsum([0, *(mesh.n_vertices for mesh in meshes[:-1])])
    faces, parts = [], []
    for k, mesh in enumerate(meshes):
        faces += np.split(mesh.face_vertices + first[k], mesh.face_start[1:-1])
        every = np.arange(mesh.n_faces)
        own = [""] * mesh.n_faces if mesh.parts is None else mesh.parts.labels(every, every, mesh.n_faces)
        name = "" if names is None else names[k]
        parts += ["/".join(x for x in (name, label) if x) for label in own]
    return np.concatenate(places), faces, parts
