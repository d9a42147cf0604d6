"""Robots from URDF and SRDF files, which yourdfpy and the standard library read (extra `robot`)."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.errors import MissingExtraError
from gpu_collide.geometry.io.files import load_mesh
from gpu_collide.geometry.shapes import box, cylinder, sphere
from gpu_collide.robots.joints import Joint
from gpu_collide.robots.primitives import around_cylinder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import StrPath
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["disabled_pairs", "read_urdf"]


def read_urdf(
    path: StrPath, exact_cylinders: bool = False
) -> tuple[list[Joint], dict[str, list[tuple[Mesh, Any]]]]:
    """Joints of a URDF file, and of each link the collision shapes: a mesh, and where it is in the link's
    frame, (4, 4) or None."""
    path = _file(path, "path")
    try:
        import yourdfpy
    except ImportError as error:
        raise MissingExtraError("reading URDF files", "yourdfpy", "robot") from error
    try:
        urdf = yourdfpy.URDF.load(path, build_scene_graph=False, load_meshes=False)
    except Exception as error:  # whatever the parser trips over
        raise ValueError(f"path: cannot read a robot from {path!r}: {error}") from error
    joints = [_joint(joint) for joint in urdf.robot.joints]

    def found(name: str) -> str:  # relative names beside the file
        above = _above(name, path) or str(yourdfpy.filename_handler_magic(name, dir=os.path.dirname(path)))
        if above.startswith("package://"):
            package = name.removeprefix("package://").partition("/")[0]
            raise FileNotFoundError(
                f"path: there is no mesh {name!r}, which {path!r} names; expected a folder {package!r} that "
                "holds this file, or stands beside a folder that does"
            )
        return above

    shapes = {
        link.name: [_shape(one, f"link {link.name!r}", found, exact_cylinders) for one in link.collisions]
        for link in urdf.robot.links
    }
    return joints, shapes


def _above(name: str, path: str) -> str | None:
    """The file of a ``package://`` name, if the folder of its package holds the URDF file, or stands beside a
    folder that does."""
    package, slash, rest = name.removeprefix("package://").partition("/")
    if not slash or not name.startswith("package://"):
        return None
    for folder in Path(path).absolute().parents:
        for start in (folder, folder / package):
            if start.name == package and (start / rest).is_file():
                return str(start / rest)
    return None


def disabled_pairs(path: StrPath) -> list[tuple[str, str]]:
    """Pairs of links whose collisions an SRDF file disables."""
    path = _file(path, "srdf")
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"srdf: cannot read {path!r}: {error}") from error
    if root.find("link") is not None:
        raise ValueError(
            f"srdf: expected SRDF, got {path!r}, which has links of its own, as URDF; pass it as path"
        )
    found = [(one.get("link1"), one.get("link2")) for one in root.iter("disable_collisions")]
    for pair in found:
        if None in pair:
            raise ValueError(f"srdf: expected link1 and link2 in each disable_collisions of {path!r}")
    return found  # type: ignore[return-value]  # none is None


def _file(path: Any, name: str) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name}: expected the name of a file, got {type(path).__name__}")
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{name}: there is no file {path!r}")
    return str(path)


def _joint(joint: Any) -> Joint:
    mimic, limit = joint.mimic, joint.limit
    low, high = (None, None) if limit is None or joint.type == "continuous" else (limit.lower, limit.upper)
    return Joint(
        joint.name, joint.type, joint.parent, joint.child, joint.origin,
        (1.0, 0.0, 0.0) if joint.axis is None else joint.axis,
        (-np.inf if low is None else float(low), np.inf if high is None else float(high)),
        None if mimic is None else (mimic.joint, _number(mimic.multiplier, 1.0), _number(mimic.offset, 0.0)),
    )  # fmt: skip


def _number(value: Any, default: float) -> float:
    return default if value is None else float(value)


def _shape(collision: Any, name: str, found: Callable[[str], str], exact_cylinders: bool) -> tuple[Mesh, Any]:
    """The shape of a collision element, and where it is in the frame of its link."""
    shape = collision.geometry
    if shape is None:
        raise ValueError(f"{name}: expected a geometry in each collision element, got none")
    if shape.box is not None:
        mesh = box(shape.box.size)
    elif shape.cylinder is not None:
        made = cylinder if exact_cylinders else around_cylinder
        mesh = made(shape.cylinder.radius, shape.cylinder.length)
    elif shape.sphere is not None:
        mesh = sphere(shape.sphere.radius)
    elif shape.mesh is not None:
        mesh = _scaled(load_mesh(found(shape.mesh.filename)), shape.mesh.scale, name)
    else:
        raise ValueError(f"{name}: expected a box, cylinder, sphere or mesh, got none of them")
    return mesh, collision.origin


def _scaled(mesh: Mesh, scale: Any, name: str) -> Mesh:
    factors = np.ones(3) if scale is None else np.broadcast_to(np.asarray(scale, float), (3,))
    if (factors == 1).all():
        return mesh
    for factor in np.abs(factors):
        check_positive(float(factor), f"{name}: scale")
    made = mesh._again(mesh.vertices * factors, mesh.face_vertices)
    return made.flip() if factors.prod() < 0 else made
