"""Reading meshes from files; STL and glTF with the package trimesh, extra ``mesh``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import warn_caller
from gpu_collide._validate import check_choice, check_positive
from gpu_collide.errors import MissingExtraError
from gpu_collide.geometry.io.polygons import READERS, read_polygons
from gpu_collide.geometry.mesh.joining import joined_parts
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, StrPath

__all__ = ["load_mesh", "MESH_SUFFIXES"]

MESH_SUFFIXES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf")

FILE_FLATNESS = 1.2e-7  # rounding of float32, relative to the size of the mesh


def load_mesh(
    path: StrPath,
    *,
    merge_coplanar: bool | float = True,
    merge_vertices: bool = True,
    triangulate: bool = True,
    two_sided: bool = False,
    scale: float = 1.0,
    up: str | None = None,
) -> Mesh:
    """Read a mesh from a file; all parts of a scene become one mesh, in the scene's coordinates.

    Parameters
    ----------
    path : str or path-like
        OBJ, STL, PLY, OFF, GLB or glTF, recognised by the suffix.
    merge_coplanar : bool or float, optional
        Join neighbouring triangles of one plane into convex polygons; see `Mesh`. On by default, because
        most files hold triangles whatever the shape was drawn with, and needless diagonals cost time. True
        stands for 1.2e-7 of the size, the rounding of float32, which is what files hold.
    merge_vertices : bool, optional
        Weld vertices of equal coordinates. On by default, because these formats repeat vertices for every
        triangle (STL) or wherever a texture or a shading normal changes.
    triangulate : bool, optional
        Passed to `Mesh`: polygons of the file are cut into triangles, so that they may be non-convex or bent
        (then they are cut as they look along their mean normal, quads along the diagonal that leaves the
        better triangles). On by default; without it such polygons are refused.
    two_sided : bool, optional
        Passed to `Mesh`.
    scale : float, optional
        What the file's coordinates are multiplied by: 0.001 makes metres of millimetres.
    up : {"x", "y", "z"}, optional
        Axis of the file that points up; it points along z in the mesh (`Mesh.scaled`). Default: as it is.

    Returns
    -------
    Mesh
        ``mesh.source_face`` and ``mesh.source_faces`` (CSR, with ``source_faces_start``) lead back to the
        faces of the file and ``mesh.source_vertex`` to its vertices. OBJ, OFF and PLY: polygons and vertices
        in the order of the file. STL, GLB and glTF: triangles and vertices in the order trimesh reads them
        with ``process=False``, parts one after the other. ``mesh.parts`` has the names of the parts, and
        contacts tell them: objects and groups of OBJ ("car/wheel"), solids of STL, nodes of GLB and glTF, and
        of PLY the numbers in a property of faces called part, group, object or label.

    Warns
    -----
    RuntimeWarning
        The mesh is closed and inside out: nothing outside could touch it. ``mesh.flip()`` turns it.

    Raises
    ------
    MissingExtraError
        The file is STL, GLB or glTF and trimesh is not installed; the message names the extra that brings it.
    OSError
        There is no such file, or it may not be read.
    ValueError
        The suffix is unknown, the file is damaged, it holds no faces, or a polygon crosses itself.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a mesh file, got {type(path).__name__}")
    path = os.fspath(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in MESH_SUFFIXES:
        raise ValueError(
            f"path: expected a file ending in {', '.join(MESH_SUFFIXES)}, got {path!r}; export it as one of "
            "these"
        )
    if os.path.isdir(path):
        raise FileNotFoundError(f"path: expected a mesh file, got the folder {path!r}")
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"path: there is no file {path!r}; check the name (one without a folder counts from "
            f"{os.getcwd()!r})"
        )
    options: dict[str, Any] = {
        "two_sided": two_sided,
        "triangulate": triangulate,
        "merge_coplanar": FILE_FLATNESS if merge_coplanar is True else merge_coplanar,
        "merge_vertices": merge_vertices,
    }
    if suffix in READERS:
        try:
            vertices, start, corners, parts = read_polygons(path, suffix)
        except ValueError as error:
            raise ValueError(f"path: cannot read a mesh from {path!r}: {_mistaken(path) or error}") from error
        loops = np.split(corners, start[1:-1])
        alike = len(set(np.diff(start).tolist())) == 1 and len(loops[0]) > 2
        faces: Any = corners.reshape(len(loops), -1) if alike else loops
    else:
        vertices, faces, parts = _read_triangles(path, suffix)
    scale = check_positive(scale, "scale")
    if up is not None:
        k = "xyz".index(check_choice(up, "up", ("x", "y", "z")))
        vertices = vertices[:, [(k + 1) % 3, (k + 2) % 3, k]]
    try:
        mesh = Mesh(vertices if scale == 1 else scale * vertices, faces, parts=parts, **options)
    except ValueError as error:
        raise ValueError(f"path: no usable mesh in {path!r}: {error}") from error
    if "looks inside out" in mesh.report:
        warn_caller(
            f"{path}: the mesh looks inside out, so that nothing touches it from outside: its faces are seen "
            "clockwise from there. Remedy: mesh.flip()"
        )
    return mesh


def _read_triangles(path: str, suffix: str) -> tuple[Array, Array, list[str]]:
    """Vertices and triangles of all parts of a file that trimesh reads, and of each the name of its part."""
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("reading STL, GLB and glTF files", "trimesh", "mesh") from error
    if suffix == ".stl" and not _mistaken(path):
        _check_stl(path)
    try:
        # process=False: welding and dropping are ours, so that the numbers lead back to the file.
        scene = trimesh.load_scene(path, process=False)
        parts: list[Any] = scene.dump()
    except PermissionError:
        raise
    except ImportError as error:  # trimesh reaches for other packages when it cannot make sense of a file
        raise ValueError(
            f"path: cannot read a mesh from {path!r}: the file is damaged, or needs the package "
            f"{error.name!r}"
        ) from error
    except Exception as error:  # trimesh's loaders raise whatever their format trips over
        why = _mistaken(path) or f"the file is damaged: {error}; export it anew"
        raise ValueError(f"path: cannot read a mesh from {path!r}: {why}") from error
    try:
        return joined_parts(parts, os.path.basename(path))
    except ValueError as error:
        raise ValueError(f"path: cannot read a mesh from {path!r}: {_mistaken(path) or error}") from None


def _mistaken(path: str) -> str | None:
    """What a file is that is no mesh, by how it begins, with the remedy; None if that says nothing."""
    with open(path, "rb") as file:
        head = file.read(64)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "it is text in UTF-16; save it as UTF-8"
    begins = head.lstrip().lower()
    if begins.startswith((b"<!doctype", b"<html")):
        return "it is a web page, where a mesh was to be downloaded; download the file itself"
    if begins.startswith(b"version https://git-lfs"):
        return "it is a pointer of Git LFS and not the mesh; run: git lfs pull"
    if begins.startswith((b"pk\x03\x04", b"\x1f\x8b")):
        return "it is a compressed archive; unpack it first"
    return None


def _check_stl(path: str) -> None:
    """Raise ``ValueError`` if an STL file is cut short: by its length, or by a text that does not end."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(84)
        file.seek(max(size - 1024, 0))
        tail = file.read()
    if len(head) == 84:
        count = int.from_bytes(head[80:], "little")
        if size == 84 + 50 * count:
            return
    begins = head.lstrip().lower().startswith(b"solid")
    if begins and b"\0" not in head + tail:
        if b"endsolid" not in tail.lower():
            raise ValueError(
                f"path: cannot read a mesh from {path!r}: it has no endsolid, so it is cut "
                "short: export or copy it anew"
            )
    elif len(head) < 84:
        raise ValueError(
            f"path: cannot read a mesh from {path!r}: an STL file has 84 bytes or more, not {size}"
        )
    else:
        raise ValueError(
            f"path: cannot read a mesh from {path!r}: a binary STL file of {count:,} triangles has "
            f"{84 + 50 * count:,} bytes, this one has {size:,}; it is damaged or cut short: export or copy "
            "it anew"
        )
