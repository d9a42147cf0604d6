"""`WorldQuery`: base of the methods that ask a world, and the `Piece` that their launches are bound to."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.launch.launcher import Launcher

__all__ = ["REAL", "Piece", "Stage", "WorldQuery"]

#: In a `Stage`: the dtype of what is solved.
REAL = None
#: Pieces of so few items serve later calls, so many of them.
FEW, MOST_PIECES = 64, 8


@dataclass(frozen=True, eq=False)
class Stage:
    """A launch with a work-item, or a group, for each of some items.

    Attributes
    ----------
    kernel : str
    outs : dict
        Arguments that it writes: numbers for each item, and their dtype (`REAL`: that of what is solved).
    """

    kernel: str
    outs: dict[str, tuple[int, Any]]

    @cache  # noqa: B019  they are constants
    def nbytes(self, real):
        """Bytes of what it writes for an item."""
        return sum(width * np.dtype(real if of is REAL else of).itemsize for width, of in self.outs.values())

    def made(self, backend, real, n):
        """Buffers for what it writes for `n` items."""
        return {name: backend.empty(n * width, real if of is REAL else of)
                for name, (width, of) in self.outs.items()}  # fmt: skip


class Piece:
    """Buffers of some items of a query, and launches bound to them.

    Parameters
    ----------
    run : Launcher
    fixed : dict
        Arguments of its launches that are the same for every call: those of the world.
    given : dict of str to ndarray
        Arguments that come from the host.
    made : dict
        Buffers that launches write to.
    keep : bool
        It is to serve later calls.

    Attributes
    ----------
    more : dict
        Further arguments.
    """

    def __init__(self, run, fixed, given, made, keep):
        self.run, self.fixed, self.made = run, fixed, made
        self.given = {name: run.backend.to_device(array, copy=keep) for name, array in given.items()}
        self.more, self._bound = {}, {}

    def put(self, given, begin):
        """Other numbers in the place of those given, of the same shapes; what launches write to begins with
        these."""
        writes = [*zip(self.given.values(), given.values(), strict=True)]
        if begin is not None:
            writes += zip(self.made.values(), begin.values(), strict=True)
        self.run.backend.write_all(writes)

    def launch(self, name, n, small=False, /, **numbers):
        """The kernel `name` for all `n` items; with `small` in groups of the backend's smaller size."""
        key = name, *numbers.values()
        bound = self._bound.get(key)
        if bound is None:
            kernel, found = self.run.kernel(name), (numbers, self.given, self.made, self.more, self.fixed)
            args = {key: next(x[key] for x in found if key in x) for key, *_ in kernel.args}
            bound = self._bound[key] = self.run.backend.bind(kernel, **args)
        self.run.launch_bound(bound, name, n, small)


class WorldQuery:
    """What the methods that ask a world have in common. Not for two threads at once.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    precision : str
    max_bytes : int
        Of the world and the buffers of a launch together.
    """

    def __init__(self, backend, precision, max_bytes):
        self.run = Launcher(backend, precision, max_bytes)
        self.backend, self.precision = backend, precision
        self.max_bytes = max_bytes
        self._about = {"backend": backend.name, "device": backend.device, "precision": precision}
        self._world: Any = (lambda: None), None
        self._pieces: dict = {}

    def about(self):
        """Backend, device, precision and seconds by stage, as ``info`` tells them."""
        return {**self._about, "timings": {"compile": 0.0, **self.run.take_timings()}}

    def _known(self, bodies, tree=None):
        """The world of these bodies, if it was the last one asked about, over the same tree."""
        made = self._world[1] if self._world[0]() is bodies else None
        return None if made is None or made.tree is not tree else made

    def _keep(self, bodies, made):
        """`made` is the world of these bodies as long as they live, and nobody asks about others."""
        self._pieces.clear()
        self._world = weakref.ref(bodies, self._lose), made
        return made

    def _lose(self, of):
        if self._world[0] is of:
            self._world = (lambda: None), None
            self._pieces.clear()

    def piece(self, stage, n, fixed, given, form=None, begin=None):
        """`Piece` of `n` items; that of the call before, if all its buffers have these sizes.

        Parameters
        ----------
        stage : Stage
        fixed : dict
        given : dict of str to ndarray
            Flat, of the dtypes of the kernels.
        form : int or None
            Pieces of one form have the same arguments besides.
        begin : dict, optional
            What launches write to, in the order of the stage, as it is before.
        """
        key = (stage.kernel, n, form, id(fixed), *map(len, given.values()))
        piece = self._pieces.get(key)
        if piece is not None:
            piece.put(given, begin)
            return piece
        if begin is None:
            made = stage.made(self.backend, self.run.real, n)
        else:
            made = {name: self.backend.to_device(array) for name, array in begin.items()}
        piece = Piece(self.run, fixed, given, made, n <= FEW)
        if n > FEW:
            return piece
        while len(self._pieces) >= MOST_PIECES:
            self._pieces.pop(next(iter(self._pieces)))
        self._pieces[key] = piece
        return piece

    def leave_room_beside(self, held):
        """Let launches have what a world of `held` bytes leaves of the limit.

        Raises
        ------
        MemoryLimitError
            If it leaves nothing.
        """
        if held >= self.max_bytes:
            raise MemoryLimitError(
                f"max_bytes: expected room for the world, {held} bytes, and to work in, got "
                f"{self.max_bytes}; pass a larger max_bytes"
            )
        self.run.room.max_bytes = self.max_bytes - held
