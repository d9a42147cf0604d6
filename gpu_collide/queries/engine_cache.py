"""Caches of a `Scene` and of calls without one, which make repeated queries cheap."""

from __future__ import annotations

import operator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._options import Options
from gpu_collide._validate import as_numpy, check_pairs, owned
from gpu_collide.pipeline.narrow_phase.recorded_batch import MOST_PAIRS
from gpu_collide.queries.engine import engine_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

__all__ = [
    "MOST_ENGINES", "CheckedPairs", "EngineCache", "IdleEngines", "ReentrancyGuard", "borrowed",
    "engines_of",    "options_of", "remembered",
]  # fmt: skip

#: Combinations of options for which an engine is kept, with what it has learnt of the room that it needs.
MOST_ENGINES = 16


class EngineCache:
    """An engine for each combination of options that was asked for, the last ones of them.

    Parameters
    ----------
    backend : Backend
    resident : Resident or None
        What the scene keeps there.
    fixed : dict
        Options that are those of the scene.
    """

    def __init__(self, backend: Any, resident: Any, fixed: dict[str, Any]) -> None:
        self._backend, self._resident, self._fixed = backend, resident, fixed
        self.forget()

    def forget(self) -> None:
        """Keep none."""
        self._engines: dict[Any, Any] = {}
        # the values of the call before, none if they are such that can change; and its engine
        self._last: tuple[tuple[Any, ...], Any] = (), None

    def __len__(self) -> int:
        return len(self._engines)

    def of(self, **options: Any) -> Any:
        """The engine for these options."""
        values = tuple(options.values())
        last, engine = self._last
        if len(values) == len(last) and all(map(operator.is_, values, last)):
            return engine
        key: Any = (*options.items(), *map(type, values))  # 1 is not True, though it equals it
        try:
            engine = self._engines.get(key)
        except TypeError:  # a list of filters
            engine, key, values = None, None, ()
        if engine is None:
            checked = Options.checked(**options, **self._fixed)
            key = key or checked
            engine = self._engines.get(key)
            if engine is None:
                engine = engine_on(self._backend, checked, self._resident)
                if len(self._engines) >= MOST_ENGINES:
                    self._engines.pop(next(iter(self._engines)))
                self._engines[key] = engine
        self._last = values, engine
        return engine


class IdleEngines:
    """Engines of calls outside of scenes that are at no work, one for each of the last kinds of calls: the
    same meshes, the same options. What an engine has prepared and learnt serves the next call of its kind.

    Any thread may call. An engine is one caller's from `take` to `give`; one whose call raises is not given
    back.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._idle: dict[Any, Any] = {}

    def take(self, meshes: Any, options: Options) -> Any:
        """An engine for these options, if there is one that of the last call about `meshes`."""
        return self._idle.pop((options, *map(id, meshes)), None) or engine_on(self._backend, options)

    def forget(self) -> None:
        """Keep none."""
        self._idle.clear()

    def give(self, meshes: Any, engine: Any) -> None:
        """Keep an engine for the next call of the kind."""
        key, engine.again = (engine.options, *map(id, meshes)), True
        self._idle[key] = engine
        if len(self._idle) > MOST_ENGINES:
            self._idle.pop(list(self._idle)[0], None)


def engines_of(backend: Any) -> IdleEngines:
    """The `IdleEngines` of a backend, with which they go."""
    engines = backend.kept.get("idle engines")
    return backend.kept.setdefault("idle engines", IdleEngines(backend)) if engines is None else engines


def remembered(check: Callable[_P, _R]) -> Callable[_P, _R]:
    """`check`, a function of values alone, remembered for the last values that never change."""
    kept = lru_cache(maxsize=64, typed=True)(check)  # 1 is not True, though it equals it

    @wraps(check)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            hash((args, *kwargs.values()))
        except TypeError:  # a list, an array
            return check(*args, **kwargs)
        return kept(*args, **kwargs)  # type: ignore[arg-type]

    return asked


options_of = remembered(Options.checked)


class CheckedPairs:
    """The pairs of the call before, as they came and as they were checked.

    Parameters
    ----------
    n_bodies : int
    """

    def __init__(self, n_bodies: int) -> None:
        self.n_bodies = n_bodies
        self._asked: Any = None
        self._checked: Any = None

    def of(self, pairs: Any) -> Any:
        """`pairs` as `check_pairs` has them, in an array that nobody can write to: that of the call before,
        if they are the same.

        Raises
        ------
        TypeError, ValueError
            As `check_pairs`.
        """
        array = pairs if type(pairs) is np.ndarray else as_numpy(pairs, "pairs")
        if not 0 < array.size <= 2 * MOST_PAIRS or array.dtype.kind not in "iu":
            return owned(check_pairs(pairs, self.n_bodies))
        asked = array.dtype, array.shape, array.tobytes()
        if asked != self._asked:
            dtype, shape, content = asked  # ours, whatever the caller writes to his
            self._checked = owned(check_pairs(np.frombuffer(content, dtype).reshape(shape), self.n_bodies))
            self._asked = asked
        return self._checked


class ReentrancyGuard:
    """A query at work: its buffers are the scene's."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken = False

    def __enter__(self) -> None:
        if self.taken:
            raise ValueError(
                "scene: expected no question while it works on another, got one from its progress callback; "
                "ask when collide has returned"
            )
        self.taken = True

    def __exit__(self, *_: object) -> None:
        self.taken = False


@contextmanager
def borrowed(backend: Any, make: type[_R]) -> Iterator[_R]:
    """A `make` of the backend that no other call has, kept for the next; its device is current meanwhile."""
    kept = backend.kept.setdefault(make.__name__, [])
    try:
        one = kept.pop()
    except IndexError:
        one = make(backend)  # type: ignore[call-arg]
    with backend.current():
        yield one
    kept.append(one)
