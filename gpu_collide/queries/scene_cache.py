"""What a `Scene` keeps where it is asked: the tables, trees and buffers of its backend, and its engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide.pipeline.broad_phase.pairs import KeptTree
from gpu_collide.pipeline.device_scene import PreparedScene, scene_too_large
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.engine_cache import CheckedPairs, EngineCache, ReentrancyGuard
from gpu_collide.queries.pairs import open_search

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._options import Options
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.rules import Rules

__all__ = ["SceneCache"]


class SceneCache:
    """Not for two threads at once.

    Parameters
    ----------
    backend : Backend
    options : Options
        Motion, precision, backend and memory: those of the scene, whatever is asked.
    bodies : Bodies
        Their shapes stay; their poses are taken anew with each question.

    Attributes
    ----------
    resident : Resident or None
        None on the backend ``reference``.
    tree, grown : KeptTree
        Over the bodies as they are, and with a margin.
    engines : Engines
    pairs : CheckedPairs
    work : Turn
        To be entered by who uses what is kept.

    Raises
    ------
    MemoryLimitError
        The tree over so many bodies alone does not fit.
    """

    def __init__(self, backend: Any, options: Options, bodies: Bodies) -> None:
        self.backend, self.options = backend, options
        engine = engine_on(backend, options)
        tree_bytes = engine.tree_bytes(len(bodies))
        if tree_bytes >= options.max_bytes:
            raise scene_too_large(tree_bytes, options.max_bytes)
        self.resident = engine.hold(bodies.meshes, bodies.shape)
        self.tree = KeptTree() if self.resident is None else self.resident.kept
        self.grown = KeptTree() if self.resident is None else self.resident.grown
        self.engines = EngineCache(backend, self.resident, self.fixed)
        self.pairs = CheckedPairs(len(bodies))
        self.work = ReentrancyGuard()
        self._methods: dict[Any, Any] = {}

    def method(self, make: Any) -> Any:
        """The engine of another method, as `Obstacles` takes it; made when it is first asked for."""
        engine = self._methods.get(make)
        if engine is None:
            engine = make(self.backend, self.options.precision, self.options.max_bytes)
            self._methods[make] = engine
        return engine

    def search(self, engine: Any, bodies: Bodies, rules: Rules, margin: float = 0.0) -> Any:
        """The counted pairs that may come within `margin`; the tree is kept for the next step, one over
        bodies as they are and one over those that a margin makes larger."""
        kept = self.grown if margin > 0.0 else self.tree
        search = open_search(engine, bodies, rules, kept.take(), margin=margin)
        kept.keep(search)
        return search

    @property
    def fixed(self) -> dict[str, Any]:
        """The options that are the scene's, by their keywords."""
        names = ("motion", "precision", "backend", "max_bytes")
        return {name: getattr(self.options, name) for name in names}

    @property
    def nbytes(self) -> int:
        """Bytes of it on the backend."""
        return 0 if self.resident is None else self.resident.nbytes

    @property
    def beside_tree(self) -> int:
        """`nbytes` without the tree over the bodies."""
        tree = self.tree.tree
        return self.nbytes - (0 if tree is None else tree.nbytes)

    def prepared(self, bodies: Bodies, rules: Rules) -> PreparedScene:
        """All of it, made where it is not there yet.

        Raises
        ------
        MemoryLimitError
            It does not fit.
        """
        kept = self.resident
        if kept is None:
            return PreparedScene(self.backend, "double", bodies, None, None, None)
        tables, tree, placed = kept.tables(), kept.tree(bodies, rules), kept.place(bodies)
        if kept.nbytes >= self.options.max_bytes:
            raise scene_too_large(kept.nbytes, self.options.max_bytes)
        return PreparedScene(self.backend, self.options.precision, bodies, tables, tree, placed)

    def after_fork(self) -> None:
        """In a child: if another thread of the parent was in the middle of a query, what it left half done
        counts for nothing."""
        if self.work.taken:
            self.work = ReentrancyGuard()
            self.engines.forget()
            self._methods.clear()
            self.tree.take()
            self.grown.take()
            if self.resident is not None:
                self.resident.forget()

    def let_go(self) -> None:
        """Keep nothing any more."""
        self.resident, self.tree, self.grown = None, KeptTree(), KeptTree()
        self._methods.clear()
        self.engines, self.pairs = EngineCache(self.backend, None, {}), CheckedPairs(0)
