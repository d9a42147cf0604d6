"""`Obstacles`: the world that a query asks, a `Scene` or bodies, with who answers, open while it works."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies, all_valid, without
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.refusals import refuse_ends, refuse_rounded, refuse_spins
from gpu_collide.bodies.rules import check_rules, still_bodies
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.engine_cache import options_of
from gpu_collide.queries.pairs import warn_of_invalid
from gpu_collide.queries.scene import Scene

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from gpu_collide.bodies.rules import Rules

__all__ = ["Obstacles"]

#: Engines that are kept on a backend, for calls outside of scenes.
MOST_ENGINES = 8


class Obstacles:
    """A world, in a ``with`` block: until its end nobody else asks a scene anything.

    Parameters
    ----------
    obstacles : Scene or Bodies
    method : callable
        ``method(backend, precision, max_bytes)`` makes the engine; it is kept from call to call, by the scene
        or by the backend.
    precision, backend, max_bytes
        Of bodies; None: not given.
    programs : tuple of str
        What ``backend="auto"`` has to be able to build, as `get_backend` takes it.
    still : bool
        It stands still: bodies are those at their start, a scene that moves is refused.
    spins : bool
        Bodies may be given by velocities, and move as they say.
    own : bool
        Each body moves on its own motion, be it a spin; if none does, it is a world that stands `still`.
    rounded : bool
        Meshes may have a rounding radius.
    compounds : bool
        Bodies may have compounds; the query is of their rows.

    Attributes
    ----------
    where : Backend
    max_bytes : int
    engine
    bodies : Bodies
    moving : (n,) bool ndarray or None
        Which bodies move, if some may, and any does.
    rules : Rules
    parted : bool
        Casts are in worlds.
    resident : DeviceScene or None
        What a scene keeps on the backend.
    """

    bodies: Bodies
    moving: Any = None
    rules: Any = None
    resident: Any = None
    engine: Any = None
    parted: bool = False

    def __init__(
        self,
        obstacles: Any,
        method: Any,
        precision: Any,
        backend: Any,
        max_bytes: Any,
        *programs: tuple[str, ...],
        still: bool = False,
        own: bool = False,
        spins: bool = False,
        rounded: bool = False,
        compounds: bool = False,
    ) -> None:
        if not compounds and isinstance(obstacles, (Scene, Bodies)):
            refuse_compounds(obstacles, "obstacles", "this query")
        self._of, self._method, self._still, self._own = obstacles, method, still, own
        self._spins, self._rounded = spins, rounded
        self.scene = isinstance(obstacles, Scene)
        if self.scene:
            for name, value in (("precision", precision), ("backend", backend), ("max_bytes", max_bytes)):
                if value is not None:
                    raise ValueError(
                        f"{name}: expected nothing with a Scene as world, which has its own, got {value!r}; "
                        "pass it to the Scene"
                    )
            self.where, self.max_bytes = obstacles.backend, obstacles.options.max_bytes
        else:
            self._options = options_of(
                precision="mixed" if precision is None else precision,
                backend="auto" if backend is None else backend,
                max_bytes=max_bytes,
            )
            self.where = get_backend(self._options.backend, self._options.precision, *programs)
            self.max_bytes = self._options.max_bytes
        self._current = self.where.current() if self.where.kind == "cuda" else nullcontext()

    def __enter__(self) -> Self:
        if self.scene:
            self.bodies, self.rules, kept = self._of.hold(self._still)
            try:
                rests = self.bodies.start is self.bodies.end
                self._look()
                self.resident = kept.resident if rests or not self._own else None
                self.engine = kept.method(self._method)
            except BaseException:
                self._of.let_loose()
                raise
        else:
            self.bodies, self.rules = self._given()
            self.engine = self._take()
        self._current.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._current.__exit__(None, None, None)
        if self.scene:
            self._of.let_loose()
        elif error[0] is None:
            kept = self.where.kept.setdefault("world engines", {})
            kept[self._key] = self.engine
            if len(kept) > MOST_ENGINES:
                kept.pop(next(iter(list(kept))), None)

    def world(self, exact: bool = False, bodies: Bodies | None = None, slack: float | None = None) -> Any:
        """What casts go through: these bodies, or others in their place, under the rules of the scene, and
        in worlds if casts are. `exact`: those that turn are seen on their own motions; `slack`: no chord is
        off by more."""
        bodies = self.bodies if bodies is None else bodies
        rules = self.worlds() if self.parted else self.rules
        return self.engine.world(bodies, self.resident, exact, rules, slack, self.parted)

    def worlds(self) -> Rules | None:
        """Rules with the worlds of the bodies; casts are in one each from now on."""
        self.parted = True
        if self.rules is None and self.bodies.world is not None:
            self.rules = check_rules(len(self.bodies), self.bodies.world)
        return self.rules

    def _take(self) -> Any:
        """An engine that no other call has."""
        options = self._options
        self._key = self._method, options.precision, options.max_bytes
        kept = self.where.kept.get("world engines", {}).pop(self._key, None)
        return kept or self._method(self.where, options.precision, options.max_bytes)

    def _look(self) -> None:
        """Which bodies move; those that all stand still are what they are at their start."""
        bodies = self.bodies
        refuse = refuse_ends if self._rounded else refuse_rounded
        refuse(bodies.meshes, "obstacles", "this query")
        if not self._own:
            if not self._spins:
                refuse_spins(bodies, "obstacles")
            if not self._still and self.rules is not None and self.rules.unmet is not None:
                self.bodies = bodies = without(bodies, self.rules.unmet)
        elif bodies.start is not bodies.end:
            moving = ~still_bodies(bodies) & bodies.start.valid
            self.moving = moving if moving.any() else None
        if (self._still or self._own) and self.moving is None and bodies.start is not bodies.end:
            known = bodies.__dict__.get("_at_rest")  # the same ones in the next call
            if known is None:
                known = bodies.__dict__["_at_rest"] = bodies.moved(bodies.start, bodies.start)
            self.bodies = known

    def _given(self) -> tuple[Bodies, Any]:
        """Bodies that are no scene's, and the rules that hold for them."""
        bodies = self._of
        if not isinstance(bodies, Bodies):
            raise _not_obstacles(bodies)
        self.bodies = bodies = bodies.rows
        self._look()
        if not all_valid(self.bodies):
            invalid = np.flatnonzero(~self.bodies.valid)
            warn_of_invalid(bodies, invalid, ("is not there", "are not there"))
        return self.bodies, check_rules(len(bodies)) if self._still or self._own else None


def _not_obstacles(value: Any) -> TypeError:
    """The error that says what a world can be."""
    remedy = "Bodies(mesh, None, start, end) makes bodies of a Mesh and Poses"
    if isinstance(value, Mesh):
        remedy = (
            "of a mesh that stands at the origin: here = Poses.identity(1); Bodies(mesh, None, here, here)"
        )
    return TypeError(
        f"obstacles: expected gpu_collide.Scene or gpu_collide.Bodies, got {type(value).__name__}; {remedy}"
    )
