"""Who answers queries about movers: the kernels on a backend, or the reference. Both have the same verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide.queries.backend_choice import resolve_backend

if TYPE_CHECKING:
    from typing import Any

__all__ = ["engine_for"]


def engine_for(world: Any, precision: Any, backend: Any, max_bytes: Any) -> Any:
    """The engine for a world: where a `Scene` is kept, else according to the arguments (None: not given)."""
    options, where = resolve_backend(world, precision, backend, max_bytes)
    if where.kind == "reference":
        from gpu_collide.reference.pluecker import Reference

        return Reference()
    from gpu_collide.pipeline.movers.moves import MoverQuery

    return MoverQuery(where, options.precision, options.max_bytes)
