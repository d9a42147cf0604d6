"""A device made of this process's memory: buffers with shadows, and launches of translated kernels.

Its memory is one range of addresses, so that the shadow of an address is found by its distance from the
beginning: a byte of state for each byte, and records of the last uses for each four and, where they are used
alone, for each one.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import threading
import weakref
from collections import Counter, deque
from functools import cache
from typing import Any

import numpy as np

from gpu_collide.backends import sources
from tests.ptx import build

__all__ = ["ALLOWED", "Device", "Failure", "OutOfMemory", "device", "devices"]

SIZE = 2 << 30  # addresses, not memory: a page is had when it is first written to
GAP = 256  # between buffers, and what they are aligned to, as cudaMalloc's
UNWRITTEN, WRITTEN = 1, 3  # states; 0 is no buffer
GARBAGE = 0xE5  # of fresh buffers: large negative numbers, whole and with a point
SHARED = 48 << 10
KINDS = (
    "", "work-items wait at different barriers", "a work-item has ended while others wait at a barrier",
    "data race", "read of what was never written", "access outside every buffer", "misaligned address",
    "local memory that is not the work-item's own", "division of integers by zero", "the launch is refused",
)  # fmt: skip

# Failures that are known, and why they harm nobody: what, where (file and text of the line), why. None now.
ALLOWED: tuple[tuple[str, str, str, str], ...] = ()


class Failure(AssertionError):
    """A launch did what no kernel may; the text names kernel, source line and who."""


class OutOfMemory(MemoryError):
    """The device has no room for a buffer."""


_POINTERS = ("base", "size", "state", "words", "bytes", "shared", "shared_size", "seed")
CELL = 16  # bytes of a record


class _Struct(ctypes.Structure):  # struct device of shadow.h
    _fields_ = [(name, ctypes.c_uint64) for name in _POINTERS]
    _fields_ += [("allowed", ctypes.c_void_p), ("epoch", ctypes.c_uint32), ("pad", ctypes.c_uint32)]


class _Report(ctypes.Structure):  # struct report of shadow.h
    _fields_ = [
        (name, ctypes.c_int32) for name in ("kind", "site", "item", "group", "other_item", "other_site")
    ]
    _fields_ += [("at", ctypes.c_uint64)]
    _fields_ += [(name, ctypes.c_int64) for name in ("barriers", "reads", "writes", "allowed")]


class Buffer:
    """Some bytes of a device; given back when nobody holds it."""

    def __init__(self, owner: Device, at: int, n: int):
        self.device, self.at, self.n = owner, at, n
        self.bytes = owner.memory[at : at + n]
        self.uses: Any = None  # who used it last, for those who look
        weakref.finalize(self, owner.release, at, n)


def _map(size: int) -> tuple[mmap.mmap, np.ndarray]:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    pages = mmap.mmap(-1, size, flags=flags)
    return pages, np.frombuffer(pages, np.uint8)


class Device:
    """One simulated GPU.

    Attributes
    ----------
    capacity : int
        Bytes of buffers that it takes.
    totals : Counter
        What its launches did: (kernel, "launches"), (kernel, "barriers") and so on.
    """

    def __init__(self, number: int, capacity: int = 1 << 30):
        self.number, self.capacity, self.used = number, capacity, 0
        self._pages, self.memory = _map(SIZE)
        self._state_pages, self.state = _map(SIZE)
        self._word_pages, words = _map(SIZE // 4 * CELL)
        self._byte_pages, alone = _map(SIZE * CELL)
        self._free: dict[int, deque] = {}
        self._top = GAP
        self._lock = threading.RLock()
        self.totals: Counter = Counter()
        self.largest_stack = 0
        address = [a.__array_interface__["data"][0] for a in (self.memory, self.state, words, alone)]
        self._struct = _Struct(address[0], SIZE, *address[1:], 0, SHARED, 1)
        self.base = address[0]
        self._shared = self.allocate(SHARED)
        self._mark(self._shared.at, SHARED, 0)
        self._struct.shared = self.base + self._shared.at

    # -- memory ----------------------------------------------------------------------------------------------
    def allocate(self, n: int) -> Buffer:
        """A buffer of `n` bytes that hold garbage; `OutOfMemory` if there is no room."""
        room = _room(n)
        with self._lock:
            if self.used + n > self.capacity:
                raise OutOfMemory(
                    f"Out of memory allocating {n:,} bytes (allocated so far: {self.used:,} bytes)."
                )
            kept = self._free.get(room)
            # the buffer freed longest ago, and not at once: who still holds its address is then found out
            at = kept.popleft() if kept and len(kept) > 8 else self._top
            if at == self._top:
                if at + room + GAP > SIZE:
                    if not kept:
                        raise OutOfMemory(f"no addresses left for {n:,} bytes")
                    at = kept.popleft()
                else:
                    self._top += room + GAP
            self.used += n
        self._mark(at, n, UNWRITTEN)
        made = Buffer(self, at, n)
        made.bytes[:] = GARBAGE
        return made

    def release(self, at: int, n: int) -> None:
        with self._lock:
            self._mark(at, n, 0)
            self.used -= n
            self._free.setdefault(_room(n), deque()).append(at)
            first, last = -(-at // 4096) * 4096, (at + n) // 4096 * 4096
            if last - first >= 1 << 20:  # the pages go back, those of the records with them
                self._pages.madvise(mmap.MADV_DONTNEED, first, last - first)
                self._word_pages.madvise(mmap.MADV_DONTNEED, first * CELL // 4, (last - first) * CELL // 4)
                self._byte_pages.madvise(mmap.MADV_DONTNEED, first * CELL, (last - first) * CELL)

    def _mark(self, at: int, n: int, state: int) -> None:
        self.state[at : at + n] = state

    def written(self, view: np.ndarray) -> None:
        """Mark what a view of this device's memory covers as written."""
        if view.size:
            at = view.__array_interface__["data"][0] - self.base
            np.ndarray((*view.shape, view.itemsize), np.uint8, self.state, at, (*view.strides, 1))[...] = (
                WRITTEN
            )

    # -- launches --------------------------------------------------------------------------------------------
    def launch(
        self, library: build.Library, name: str, grid: int, block: int, arguments: list[np.ndarray]
    ) -> int:
        """Run a kernel of a translated module; `arguments` are arrays of one element with the bytes to pass.
        Returns at how many barriers groups met.

        Raises
        ------
        Failure
            It did what no kernel may.
        """
        run = getattr(library.built, f"ptx_run_{name}")
        slots = (ctypes.c_void_p * max(len(arguments), 1))(
            *(a.__array_interface__["data"][0] for a in arguments)
        )
        report = _Report()
        with self._lock:
            self._struct.allowed = _allowed(library).ctypes.data
            run(ctypes.byref(self._struct), slots, grid, block, ctypes.byref(report))
            counts = {"launches": 1, "work-items": grid * block, "barriers": report.barriers}
            counts |= {"reads": report.reads, "writes": report.writes, "allowed": report.allowed}
            counts |= {KINDS[report.kind]: 1} if report.kind else {}
            self.totals.update({(name, what): n for what, n in counts.items()})
        if report.kind:
            self._tell(library, name, block, arguments, report)
        return report.barriers

    def _tell(self, library, name, block, arguments, report) -> None:
        kind = KINDS[report.kind]
        sites = library.sites
        text = f"kernel {name}, {sites[report.site]}: {kind}"
        text += f"; work-item {report.item} of group {report.group}, {block} work-items a group"
        if report.other_item >= 0:
            who = {0xFFFF: "several work-items", 0xFFFE: "another group"}
            text += f"; the other is {who.get(report.other_item, f'work-item {report.other_item}')}"
            text += f" at {sites[report.other_site]}" if report.other_site else ""
        if report.at:
            text += "; " + self._whereabouts(report.at, arguments)
        raise Failure(text)

    def _whereabouts(self, address: int, arguments: list[np.ndarray]) -> str:
        """Which argument an address is nearest to, in words."""
        at = address - self.base
        starts = {int(a[0]) - self.base: i for i, a in enumerate(arguments) if a.dtype == np.uint64}
        near = [(start, i) for start, i in starts.items() if 0 <= start - GAP <= at < SIZE]
        if not near or not 0 <= at < SIZE:
            return f"address {address:#x} is none of the device's"
        start, i = max(near)
        size = int(np.argmin(self.state[start : start + (1 << 28)] != 0)) or 1 << 28
        return f"byte {at - start} of argument {i}, which has {size}"


@cache
def _allowed(library: build.Library) -> np.ndarray:
    """For each source line of a library the bits of what is `ALLOWED` there."""
    found = np.zeros(len(library.sites), np.uint8)
    for kind, file, pattern, _ in ALLOWED:
        lines = (sources.kernels_dir() / file).read_text(encoding="utf-8").splitlines()
        listed = {f"{file}:{n}" for n, line in enumerate(lines, 1) if re.search(pattern, line)}
        found[[place.split(" ")[0] in listed for place in library.sites]] |= {"race": 1, "read": 2}[kind]
    return found


def _room(n: int) -> int:
    """Bytes that a buffer of `n` takes: powers of two and one and a half of them."""
    room = GAP
    while room < n:
        if room * 3 // 2 >= n and room >= 2 * GAP:
            return room * 3 // 2
        room *= 2
    return room


devices: list[Device | None] = [None, None]
counted = None  # what launches are counted in, see counting.py


def device(number: int = 0) -> Device:
    """The simulated GPU of this number, made when first asked for."""
    if devices[number] is None:
        devices[number] = Device(number)
    return devices[number]


def write_totals(folder: str) -> None:
    """What all launches of this process did, for the long run's report."""
    totals = sum((d.totals for d in devices if d), Counter())
    if totals:
        rows = [[kernel, what, n] for (kernel, what), n in sorted(totals.items())]
        rows += [["", opcode, 1] for opcode in sorted(build.opcodes)]
        with open(os.path.join(folder, f"{os.getpid()}.json"), "w", encoding="ascii") as f:
            json.dump(rows, f)
