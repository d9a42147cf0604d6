"""What all methods launch with: a `Launcher` on one backend, and the `MemoryBudget` of its buffers.

Sizes are counted, scanned, then filled. Where a count is only known after a launch, the launch goes into a
buffer of guessed size, says how much it needed, and is repeated if that was more: nothing is dropped. What
the guesses were is in no result.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from gpu_collide.backends import declarations, sources
from gpu_collide.errors import MemoryLimitError

__all__ = ["MemoryBudget", "Launcher", "Scratch", "TooLarge"]

#: So much more than was needed is taken, where a launch is repeated and in the next call.
SPARE, SPARE_NEXT = 1.2, 1.1
#: Kernels index with int.
MOST_INDEX = 2**31 - 1


class TooLarge(Exception):
    """What is worked on at a time does not fit the room; `need` bytes would have been needed at least."""

    def __init__(self, need):
        super().__init__(need)
        self.need = int(need)


class Scratch(NamedTuple):
    """One size of the scratch that each group has for itself.

    Attributes
    ----------
    name : str
        Of the guess that is kept.
    first : int
        Taken where none is.
    each : int
        Bytes that one more costs.
    width : int
        By how many numbers one more moves an index.
    grows : float
        What runs again has so many times as much, if there is room: of work that does not know what it will
        need, and is done anew from its beginning.
    """

    name: str
    first: int
    each: int
    width: int = 1
    grows: float = 0.0


def _bytes(scratch, sizes):
    """Bytes of the scratch of one group."""
    return sum(size * s.each for size, s in zip(sizes, scratch, strict=True))


class MemoryBudget:
    """Bytes to stay within. All that is divided by the limit, guessed, and repeated with more is here.

    A guess is how much a thing (a pair, a candidate, a group) took in the calls so far. It makes repeats
    rare; it never makes anything refused that would fit without it.

    Parameters
    ----------
    max_bytes : int
        The buffers of one launch keep to it; results do not count.

    Attributes
    ----------
    max_bytes : int
        What there is for buffers.
    asked : int
        That, and what a device takes besides.
    guesses : dict of str to float
    """

    def __init__(self, max_bytes):
        self.limit(int(max_bytes))
        self.guesses = {}

    def limit(self, max_bytes, reserved=0):
        """Stay within `max_bytes`. In them `reserved` bytes are counted that a device takes beside all
        buffers, but never as more than half: it takes them once for all calls, and small limits have to
        remain possible."""
        self.asked, self._reserved = max_bytes, reserved
        self.max_bytes = max_bytes - min(reserved, max(max_bytes, 0) // 2)

    def told(self, need):
        """The limit that would leave `need` bytes for buffers."""
        return need + min(self._reserved, need)

    def fits(self, each, held=0, share=1):
        """How many things of `each` bytes fit beside `held` bytes in one of `share` equal shares, or 0."""
        return max(0, self.max_bytes // share - int(held)) // int(each)

    def check(self, need):
        """Raise `TooLarge` unless so many bytes fit."""
        if need > self.max_bytes:
            raise TooLarge(need)

    def filled(self, name, n, fill, *, each, first, least, width=1):
        """What `fill` makes in a buffer in which all that it writes has a place.

        Parameters
        ----------
        name : str
            Of the guess.
        n : int
            Things that write to the buffer.
        fill : callable
            ``fill(capacity)`` launches with a new buffer of so many entries, and returns how many entries
            there are, written or not (negative: more than an int counts), and what it made.
        each, width : int
            Bytes of an entry, and by how many numbers it moves an index.
        first : float
            Entries that a thing is taken to write where nothing is known.
        least : int
            Smallest buffer.

        Returns
        -------
        int, object
            Entries, and what `fill` made.

        Raises
        ------
        TooLarge
        """
        most = min(self.max_bytes // each, MOST_INDEX // width)
        capacity = max(least, int(n * first))
        if capacity > most:
            raise TooLarge(capacity * each)
        known = self.guesses.get(name, 0.0)
        capacity = min(max(capacity, int(n * known)), most)
        while True:
            found, made = fill(capacity)
            if 0 <= found <= capacity:
                self.guesses[name] = max(known, SPARE_NEXT * found / max(n, 1))
                return found, made
            wanted = found if found > 0 else 4 * capacity
            if wanted > most:
                raise TooLarge(wanted * each)
            capacity = min(int(wanted * SPARE), most)

    def worked_off(self, todo, scratch, launch, *, held, groups):
        """Have `launch` work off all of `todo`; those whose scratch was too small come again with more.

        Parameters
        ----------
        todo : (n,) int32 ndarray
            Numbers of items.
        scratch : sequence of Scratch
        launch : callable
            ``launch(todo, groups, sizes)`` launches so many groups with scratch of these sizes each, and
            returns which sizes were needed (0: no more than there was), and a callable that gives the items
            that have to come again, ascending.
        held : int
            Bytes that are taken besides.
        groups : int
            Most groups.

        Raises
        ------
        TooLarge
        """
        sizes = self._sizes(scratch)
        while len(todo):
            group = _bytes(scratch, sizes)
            if not self._holds(scratch, sizes):
                raise TooLarge(group + held)
            needed, again = launch(todo, min(groups, len(todo), max(1, self.fits(group, held))), sizes)
            if not any(needed):
                return
            # the need is known stage by stage; a second stage may find that it needs more again
            larger = [
                max(size, int(more * SPARE) + 64, int(size * s.grows) if more > size else 0)
                for s, size, more in zip(scratch, sizes, needed, strict=True)
            ]
            if not self._holds(scratch, larger):
                larger = [max(size, more) for size, more in zip(sizes, needed, strict=True)]
            sizes = larger
            self.guesses.update((s.name, size) for s, size in zip(scratch, sizes, strict=True))
            todo = again()

    def _sizes(self, scratch):
        """The sizes that were needed so far, if a group of those still fits; else the first ones."""
        sizes = [max(s.first, int(self.guesses.get(s.name, 0))) for s in scratch]
        return sizes if self._holds(scratch, sizes) else [s.first for s in scratch]

    def _holds(self, scratch, sizes):
        """Is there room for the scratch of one group, and does an int index it?"""
        narrow = all(size * s.width <= MOST_INDEX for size, s in zip(sizes, scratch, strict=True))
        return narrow and _bytes(scratch, sizes) <= self.max_bytes

    def pieces(self, n, size, work, cut=None, refusal=None, progress=None):
        """Have ``work(at, stop)`` do `n` things, at most `size` at a time, and half as many at a time from
        where they were too large for this room or for the machine.

        Parameters
        ----------
        n, size : int
        work : callable
            Does all of a piece, or raises and leaves nothing behind.
        cut : callable, optional
            ``cut(at)``: where a piece that begins at `at` has to end.
        refusal : callable, optional
            ``refusal(at, need)``: the text of the error if one thing alone is too large.
        progress : callable, optional
            ``progress(stop)`` is called behind each piece.

        Raises
        ------
        MemoryLimitError
        """
        at = 0
        while at < n:
            stop = min(at + size, n)
            if cut is not None:
                stop = max(at + 1, min(stop, int(cut(at))))
            try:
                work(at, stop)
            except (TooLarge, MemoryError) as error:
                if stop - at > 1:
                    size = max(1, (stop - at) // 2)
                    continue
                if isinstance(error, TooLarge) and refusal is not None:
                    raise MemoryLimitError(refusal(at, error.need)) from None
                raise
            at = stop
            if progress is not None:
                progress(at)


class Launcher:
    """Launches on one backend in one precision, and what they took.

    It knows no method, and keeps from call to call: what is prepared once and launched often keeps its run.
    Not to be used by two threads at once.

    Parameters
    ----------
    backend : Backend
    precision : str
    max_bytes : int

    Attributes
    ----------
    real, raster : numpy.dtype
        Of what is solved, and of what culls.
    c : dict
        The kernels' constants.
    room : Room
    timings : dict of str to float
        Seconds by stage since `take_timings`.
    """

    def __init__(self, backend, precision, max_bytes):
        self.backend, self.precision = backend, precision
        backend.check_precision(precision)
        self._kernels, self._built, self.kept = {}, set(), {}
        self.real, self.raster = declarations.dtypes(precision)
        self.c = sources.constants(precision)
        self.room = MemoryBudget(max_bytes)
        self.timings = {}
        self._marks = []  # of launches that nobody has waited for: stage, event before, event behind

    def build(self, *programs):
        """Have the kernels of some of `sources.PROGRAMS`: what is not built yet is built side by side.

        Kernels that are not asked for so are built, a program at a time, when they are first launched.

        Raises
        ------
        KernelCompileError
        """
        if programs in self._built:
            return
        module = self.backend.module(programs, self.precision)
        self._kernels.update(module)
        self._built.add(programs)
        if seconds := module.seconds():
            self.timings["compile"] = self.timings.get("compile", 0.0) + seconds

    def same_kernels(self, other):
        """Do both launch on one backend, in one precision?"""
        return self.backend is other.backend and self.precision == other.precision

    def kernel(self, name):
        """The kernel of this name."""
        if name not in self._kernels:
            self.build(sources.program_of(name))
        return self._kernels[name]

    def launch(self, name, n, /, *bound, **args):
        """Launch the kernel `name` with a work-item for each of `n` items.

        Arguments that are not in `args` are looked up in the mappings `bound`, one after the other.
        """
        self._launch(self.backend.launch_items, name, n, bound, args)

    def launch_ahead(self, name, n, /, *bound, **args):
        """`launch` without waiting for it; what it took is not told."""
        self._launch(self.backend.launch_items, name, n, bound, args, wait=False)

    def launch_noted(self, name, n, /, *bound, **args):
        """`launch`, not waited for on ``cuda``: what it took is told by `settle`, once somebody waited."""
        if self.backend.kind != "cuda":
            return self.launch(name, n, *bound, **args)
        before = self.backend.mark()
        self._launch(self.backend.launch_items, name, n, bound, args, wait=False)
        self._marks.append((name, before, self.backend.mark()))

    def settle(self):
        """Tell what launches took that `launch_noted` did not wait for, all of which have ended: seconds by
        stage, which go to `timings` as well."""
        found: dict[str, float] = {}
        marks, self._marks = self._marks, []
        for name, before, behind in marks:
            found[name] = found.get(name, 0.0) + self.backend.seconds_between(before, behind)
        for name, seconds in found.items():
            self.timings[name] = self.timings.get(name, 0.0) + seconds
        return found

    def launch_each(self, name, n, /, *bound, **args):
        """`launch` with a group for each of `n` items."""
        self._launch(self.backend.launch_groups, name, n, bound, args)

    def launch_small(self, name, n, /, *bound, **args):
        """`launch_each` with groups of the backend's smaller size, which `grid_of_small` tells."""
        self._launch(self._small_groups, name, n, bound, args)

    def _small_groups(self, kernel, n, /, **args):
        self.backend.launch_groups(kernel, n, self.backend.small_group_size, **args)

    def grid_of_small(self, n):
        """Groups, and work-items a group, of `launch_small`."""
        groups, size, _ = self.backend.grid_of_groups(n, self.backend.small_group_size)
        return groups, size

    def launch_groups(self, name, groups, /, *bound, group_size=None, **args):
        """`launch` with so many groups, of `group_size` work-items each if not the usual number, each with
        scratch of its own."""

        def verb(kernel, groups, **args):
            self.backend.launch(kernel, groups, group_size, **args)

        self._launch(verb, name, groups, bound, args)

    def _launch(self, verb, name, n, bound, args, wait=True):
        kernel = self.kernel(name)
        if bound:
            known = {}
            for buffers in reversed(bound):
                known.update(buffers)
            args = {key: known[key] for key, _, _ in kernel.plan if key in known} | args
        begun = time.perf_counter()
        verb(kernel, n, **args)
        if not wait:
            return
        self.backend.synchronize()
        self.spent(name, begun)

    def launch_bound(self, bound, name, n, small=False):
        """`launch_noted` with arguments that were bound before (`Backend.bind`) to the kernel `name`; with
        `small` as `launch_small`."""
        be = self.backend
        noted, begun = be.kind == "cuda", time.perf_counter()
        before = be.mark() if noted else None
        if small:
            bound.launch_groups(n, be.small_group_size)
        else:
            bound.launch_items(n)
        if noted:
            self._marks.append((name, before, be.mark()))
            return
        be.synchronize()
        self.spent(name, begun)

    def spent(self, stage, begun):
        """Add the seconds since `begun` to those of a stage."""
        self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - begun

    def take_timings(self):
        """The seconds by stage, which begin anew."""
        if self._marks:
            self.backend.synchronize()
            self.settle()
        timings, self.timings = self.timings, {}
        return timings

    def to_device(self, array, dtype=None):
        """Flat buffer with the contents of `array`, which nobody may write to while it is used."""
        return self.backend.to_device(np.ascontiguousarray(array, dtype).reshape(-1), copy=False)
