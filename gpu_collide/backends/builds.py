"""The builds of a backend: each text once per process, whoever asks first; several in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from gpu_collide.backends.compiler import Abort, abort_by

__all__ = ["Builds"]


class _Build:
    """One thing to be built; whoever comes while it is being built waits for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made: Any = None


class Builds:
    """What is built, by key.

    Parameters
    ----------
    make : callable
        ``make(*key)`` builds; what it raises, the next who asks meets anew.
    at_once : int
        Builds that may run side by side.
    """

    def __init__(self, make: Callable[..., Any], at_once: int = 1):
        self._make, self._at_once = make, at_once
        self._builds: dict[tuple, _Build] = {}
        self._lock = threading.Lock()

    def after_fork(self) -> None:
        """Locks that another thread of the parent may have held are made anew."""
        self._lock = threading.Lock()
        for build in self._builds.values():
            build.lock = threading.RLock()

    def clear(self) -> None:
        """Forget all."""
        self._builds.clear()

    def made(self) -> list:
        """All that is built."""
        return [build.made for build in list(self._builds.values()) if build.made is not None]

    def missing(self, keys: Sequence[tuple]) -> list[tuple]:
        """Those of `keys` that are not built."""
        return [key for key in keys if key not in self._builds or self._builds[key].made is None]

    def get(self, key: tuple) -> Any:
        """What `key` stands for, built now if it is not."""
        with self._lock:
            build = self._builds.setdefault(key, _Build())
        with build.lock:
            if build.made is None:
                build.made = self._make(*key)
            return build.made

    def all(self, keys: Sequence[tuple]) -> list:
        """What `keys` stand for, in their order; what is missing is built side by side, in the order given.

        The calling thread builds, too. If it is interrupted, the compilers of the others are ended, and
        nothing of them stays behind; an error of one of them is raised here when all have ended.
        """
        todo = self.missing(keys)
        if min(len(todo), self._at_once) > 1:
            self._side_by_side(todo)
        return [self.get(key) for key in keys]

    def _side_by_side(self, todo: list[tuple]) -> None:
        rest, abort = iter(todo), Abort()
        errors: list[Any] = []
        taking = threading.Lock()

        def work() -> None:
            while not (errors or abort.over):
                with taking:
                    key = next(rest, None)
                if key is None:
                    return
                try:
                    with abort_by(abort):
                        self.get(key)
                except Exception as error:  # raised by the thread that asked
                    errors.append(error)

        helpers = [
            threading.Thread(target=work, name="gpu_collide build", daemon=True)
            for _ in range(min(self._at_once, len(todo)) - 1)
        ]
        for helper in helpers:
            helper.start()
        try:
            work()
            for helper in helpers:
                helper.join()
        except BaseException:
            abort.now()
            for helper in helpers:
                helper.join()
            raise
        if errors:
            raise errors[0]
