"""What a forked child recreates: locks that another thread of the parent may have held, and devices."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from gpu_collide.errors import BackendUnavailableError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Driver", "LostByFork", "renew_after_fork"]

_owners: weakref.WeakSet = weakref.WeakSet()


def renew_after_fork(owner: Any) -> None:
    """Call ``owner._after_fork()`` in every child that is forked while `owner` lives."""
    _owners.add(owner)


class LostByFork(BackendUnavailableError):
    """A device was in use before this process was forked."""


class Driver:
    """A device driver. It keeps threads and handles that a forked child does not have: calls wait there for
    ever, or fail with whatever comes first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._used = self._lost = False
        renew_after_fork(self)

    def use(self) -> None:
        """To be called before the driver is: raises `LostByFork` in a child of a process that used it."""
        if self._lost:
            raise LostByFork(
                f"{self.name} was in use before this process was forked, and its driver does not work in the "
                "child; start processes by multiprocessing.set_start_method('spawn') or 'forkserver', or "
                "take backend='cpu'"
            )
        self._used = True

    def unused(self) -> None:
        """There is no such driver after all."""
        self._used = False

    def _after_fork(self) -> None:
        self._lost = self._lost or self._used


def _in_child() -> None:
    for owner in list(_owners):
        owner._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
