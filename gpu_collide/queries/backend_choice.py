"""Where questions about a world are answered, whether it is a `Scene` or bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.scene import Scene

if TYPE_CHECKING:
    from typing import Any

__all__ = ["not_obstacles", "resolve_backend"]


def resolve_backend(
    world: Any, precision: Any, backend: Any, max_bytes: Any, *programs: tuple[str, ...]
) -> tuple[Options, Any]:
    """Options and backend: those of a `Scene`, else what the arguments say (None: not given).

    `programs`: what ``backend="auto"`` has to be able to build, as `get_backend` takes it.
    """
    if isinstance(world, Scene):
        for name, value in (("precision", precision), ("backend", backend), ("max_bytes", max_bytes)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected nothing with a Scene as world, which has its own, got {value!r}; pass "
                    "it to the Scene"
                )
        return world.options, world.backend
    options = Options.checked(
        precision="mixed" if precision is None else precision,
        backend="auto" if backend is None else backend,
        max_bytes=max_bytes,
    )
    return options, get_backend(options.backend, options.precision, *programs)


def not_obstacles(value: Any) -> TypeError:
    """The error that says what a world can be."""
    remedy = "Bodies(mesh, None, start, end) makes bodies of a Mesh and Poses"
    if isinstance(value, Mesh):
        remedy = (
            "of a mesh that stands at the origin: here = Poses.identity(1); Bodies(mesh, None, here, here)"
        )
    return TypeError(
        f"obstacles: expected gpu_collide.Scene or gpu_collide.Bodies, got {type(value).__name__}; {remedy}"
    )
