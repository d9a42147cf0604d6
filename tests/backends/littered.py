"""A `cpu` whose scratch and fresh buffers hold litter before every launch.

A group works off many items in the same scratch: what it reads there and did not write for the item at
hand is an earlier item's. Here each item has a scratch of its own if there are no more than `groups`, and
what lies in it is what does most harm: small numbers that pass for places, counts and flags.
"""

import itertools

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.cpu import CpuBackend, _CpuBound
from gpu_collide.backends.declarations import parse
from gpu_collide.backends.sequence import Sequence
from tests.support.seeds import generator

#: what litter may be: whole numbers below, numbers with a point between
SMALL, REALS = (-2, 3, 9, 64), (0.0, -1.0, 1.0, 1e-3, 3.0, np.inf, -np.inf, np.nan)


def is_scratch(name):
    """Is an argument of this name scratch?"""
    return "scratch" in name


class _Bound(_CpuBound):
    __slots__ = ()

    def _run(self, groups, size, parts, new):
        self._backend.litter(self._kernel, self._args)
        super()._run(groups, size, parts, new)


class Littered(CpuBackend):
    """See the module. `littered` has the names of the scratch that was filled: kernel and argument."""

    quick_sequences = False

    def __init__(self, seed=0, groups=4096):
        self._rng, self.littered = generator(seed, 31), set()
        super().__init__(threads=2)
        self.max_groups = groups

    def _noise(self, n, dtype):
        """Litter in pieces of one size: a few patterns repeated, as there can be much of it."""
        kind = np.dtype(dtype).kind
        few = min(n, 4099)
        if kind == "f":
            piece = self._rng.choice(REALS, few).astype(dtype)
        elif kind in "iu":
            piece = self._rng.integers(0, self._rng.choice(SMALL[1:]), few).astype(dtype)
            piece[self._rng.uniform(size=few) < 0.05] = SMALL[0] if kind == "i" else 1
        else:
            piece = self._rng.integers(0, 2, few).astype(dtype)
        return np.resize(piece, n)

    def _spoil(self, buffer):
        flat = buffer.reshape(-1)
        flat[...] = self._noise(flat.size, flat.dtype)

    def litter(self, kernel, args):
        """Fill the scratch among the arguments."""
        for name, value in args.items():
            if is_scratch(name) and value.size:
                self._spoil(value)
                self.littered.add(f"{kernel.name}.{name}")

    def empty(self, shape, dtype):
        buffer = super().empty(shape, dtype)
        if buffer.size and buffer.dtype.kind in "fiu":
            self._spoil(buffer)
        return buffer

    def bind(self, kernel, **args):
        return _Bound(self, kernel, self._values(kernel, args), args)

    def sequence(self, steps, *, looking=True):
        return Sequence(self, steps)

    def _launch(self, kernel, groups, size, values, parts, args):
        self.litter(kernel, args)
        super()._launch(kernel, groups, size, values, parts, args)


def all_scratch():
    """Names of the scratch of all kernels, as in `Littered.littered`."""
    kernels = itertools.chain.from_iterable(
        parse(sources.program(name)).values() for name in sources.PROGRAMS
    )
    return {f"{kernel.name}.{arg.name}" for kernel in kernels for arg in kernel.args if is_scratch(arg.name)}
