"""Reading meshes from files (with the package trimesh, extra ``mesh``)."""

import os

import numpy as np

from .errors import MissingExtraError
from .mesh import Mesh

__all__ = ["load_mesh", "MESH_SUFFIXES"]

MESH_SUFFIXES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf")

FILE_FLATNESS = 1.2e-7  # rounding of float32, relative to the size of the mesh


def load_mesh(path, *, merge_coplanar=True, merge_vertices=True, triangulate=True, two_sided=False):
    """Mesh of a file; all parts of a scene in one mesh, in the scene's coordinates.

    Parameters
    ----------
    path : str or path-like
        OBJ, STL, PLY, OFF, GLB or glTF, told by the suffix.
    merge_coplanar : bool or float, optional
        Join neighbouring triangles of one plane into convex polygons; see `Mesh`.  On by default, because
        files hold triangles whatever the shape was drawn with, and every needless diagonal costs time.  True
        stands for 1.2e-7 of the size, the rounding of float32, which is what files hold.
    merge_vertices : bool, optional
        Weld vertices of equal coordinates.  On by default, because these formats repeat vertices for every
        triangle (STL) or wherever a texture or a shading normal changes.
    triangulate : bool, optional
        Passed to `Mesh`; files of polygons may hold non-planar ones.
    two_sided : bool, optional
        Passed to `Mesh`.

    Returns
    -------
    Mesh
        ``mesh.source_face`` and ``mesh.source_faces`` (CSR, with ``source_faces_start``) lead back to the
        triangles and ``mesh.source_vertex`` to the vertices in the order trimesh reads them with
        ``process=False``, parts one after the other.

    Raises
    ------
    MissingExtraError
        trimesh is not installed; the message names the extra that brings it.
    FileNotFoundError
        There is no such file.
    ValueError
        The suffix is unknown, the file cannot be read, or it holds no triangles.
    """
    path = os.fspath(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in MESH_SUFFIXES:
        raise ValueError(f"path: expected a file ending in {', '.join(MESH_SUFFIXES)}, got {path!r}")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"path: there is no file {path!r}")
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("reading mesh files", "trimesh", "mesh") from error
    try:
        # process=False: welding and dropping are ours, so that the numbers lead back to the file.
        scene = trimesh.load_scene(path, process=False)
        parts = [part for part in scene.dump() if hasattr(part, "faces") and len(part.faces)]
    except Exception as error:  # trimesh's loaders raise whatever their format trips over
        raise ValueError(f"path: cannot read a mesh from {path!r}: {error}") from error
    if not parts:
        raise ValueError(f"path: {path!r} holds no triangles")
    offsets = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    vertices = np.concatenate([np.asarray(part.vertices, np.float64) for part in parts])
    faces = np.concatenate(
        [np.asarray(part.faces, np.int64) + first for part, first in zip(parts, offsets, strict=True)]
    )
    return Mesh(
        vertices,
        faces,
        two_sided=two_sided,
        triangulate=triangulate,
        merge_coplanar=FILE_FLATNESS if merge_coplanar is True else merge_coplanar,
        merge_vertices=merge_vertices,
    )
