"""What `Bodies` takes for shapes, and what it says of anything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_int_array
from gpu_collide.bodies.compound import Compound
from gpu_collide.geometry.io.files import load_mesh
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from typing import Any

__all__ = ["MESHES", "as_mesh", "in_worlds", "is_shape", "no_poses"]

MESHES = "Mesh(vertices, faces) makes one of arrays, load_mesh of a file"


def is_shape(value: Any) -> bool:
    return isinstance(value, (Mesh, Compound, str, os.PathLike)) or (
        (hasattr(value, "vertices") and hasattr(value, "faces"))
        or (hasattr(value, "geometry") and hasattr(value, "dump"))
    )


def as_mesh(value: Any, k: int) -> Mesh | Compound:
    """A mesh from what stands for one in a list of meshes."""
    if isinstance(value, Mesh):
        return value
    if isinstance(value, Compound):
        alone = value.meshes[0] if len(value.meshes) == 1 else None
        return value if alone is None or alone.thin else alone
    if isinstance(value, (str, os.PathLike)):
        return load_mesh(value)
    if not is_shape(value):
        raise TypeError(f"meshes: expected Mesh, got {type(value).__name__} at index {k}; {MESHES}")
    return Mesh.from_trimesh(value)


def in_worlds(shape: Any, worlds: tuple[int, ...]) -> Any:
    """Mesh of each body of all worlds, from those of one or of all."""
    if shape is None:
        return None
    given = as_int_array(shape, "shape")
    if given.shape not in (worlds, worlds[1:]):
        raise ValueError(
            f"shape: expected mesh indices of shape {worlds[1:]} or {worlds}, a mesh for each body of the "
            f"worlds, got {given.shape}"
        )
    return np.broadcast_to(given, worlds).reshape(-1)


def no_poses(name: str, value: Any) -> TypeError:
    return TypeError(
        f"{name}: expected Poses, got {type(value).__name__}; Poses.from_quat_wxyz makes them from arrays"
    )
