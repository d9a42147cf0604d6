"""Who answers queries about movers: the kernels on a backend, or the reference. Both have the same verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.queries.scene import Scene

if TYPE_CHECKING:
    from typing import Any

__all__ = ["engine_for"]


def engine_for(world: Any, precision: Any, backend: Any, max_bytes: Any) -> Any:
    """The engine for a world: where a `Scene` is kept, else according to the arguments (None: not given)."""
    if isinstance(world, Scene):
        for name, value in (("precision", precision), ("backend", backend), ("max_bytes", max_bytes)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected nothing with a Scene as world, which has its own, got {value!r}; pass "
                    "it to the Scene"
                )
        options, where = world.options, world.backend
    else:
        options = Options.checked(
            precision="mixed" if precision is None else precision,
            backend="auto" if backend is None else backend,
            max_bytes=max_bytes,
        )
        where = get_backend(options.backend, options.precision)
    if where.kind == "reference":
        from gpu_collide.reference.pluecker import Reference

        return Reference()
    from gpu_collide.pipeline.pluecker import Pluecker

    return Pluecker(where, options.precision, options.max_bytes)
