"""Devices, streams and the runtime's errors."""

import gc
import threading
import time
import weakref
from collections import Counter
from typing import NamedTuple

import numpy as np

try:
    from numpy.lib.array_utils import byte_bounds
except ImportError:  # NumPy 1
    from numpy import byte_bounds

from cupy import _memory as memory
from tests.ptx import device as simulated

__all__ = [
    "Device", "Event", "Step", "Stream", "alloc_pinned_memory", "driver", "get_current_stream",
    "get_elapsed_time", "memory", "moved", "record", "runtime",
]  # fmt: skip

_here = threading.local()
moved: Counter = Counter()
"""Not CuPy's: copies "up" and "down" between host and device, "bytes up", "bytes down", and how often the
host "waits" for a stream."""


class CUDARuntimeError(RuntimeError):
    def __init__(self, text, status=700):
        self.status = status
        super().__init__(text)


class driver:  # noqa: N801  CuPy's name
    """What loads modules and launches, whose errors are of another class than the runtime's."""

    class CUDADriverError(RuntimeError):
        def __init__(self, text, status):
            self.status = status
            super().__init__(text)


class runtime:  # noqa: N801  CuPy's name
    """What the CUDA runtime tells of the devices. `pending` is an error that the next synchronisation
    raises."""

    CUDARuntimeError = CUDARuntimeError
    pending = None
    count = 1
    properties = {
        "name": b"PTX on this processor",
        "multiProcessorCount": 1,
        "maxThreadsPerMultiProcessor": 2048,
    }

    @staticmethod
    def getDeviceCount():  # noqa: N802
        return runtime.count

    @staticmethod
    def getDeviceProperties(number):  # noqa: N802
        _known(number)
        return dict(runtime.properties)

    @staticmethod
    def getDevice():  # noqa: N802
        return Device().id

    @staticmethod
    def runtimeGetVersion():  # noqa: N802
        return 12090

    @staticmethod
    def memGetInfo():  # noqa: N802
        own = simulated.device(Device().id)
        return own.capacity - own.used, own.capacity


def check_pending():
    """Raise what an earlier launch left, as any call of the runtime does after an asynchronous error."""
    error, runtime.pending = runtime.pending, None
    if error is not None:
        raise error


def _known(number):
    if not 0 <= number < runtime.count:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal", 101)


class Device:
    """A device; ``with Device(1):`` makes it the current one."""

    def __init__(self, device=None):
        self.id = getattr(_here, "device", 0) if device is None else int(device)
        self._before = []
        _known(self.id)

    compute_capability = "91"  # one that NVRTC does not know: gpu_collide asks it for PTX then

    def __enter__(self):
        self._before.append(getattr(_here, "device", 0))
        self.use()
        return self

    def __exit__(self, *_):
        _here.device = self._before.pop()

    def use(self):
        _here.device = self.id

    def synchronize(self):
        check_pending()
        _host_waits({stream.ptr: stream.clock for stream in _streams.values()}, 0)

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


_streams = {}
_host = {"seen": {}, "read": {}}
"""Up to which of its steps the host has waited for a stream: by synchronising; and by copies to the host as
well, which no program should count on for order."""
record: list | None = None
"""Not CuPy's: every `Step` since somebody put a list here."""
_late: list = []  # failures found where nothing can be raised


class Step(NamedTuple):
    """A launch ("launch"), copy ("up", "down") or wait of the host ("wait"). It runs behind those steps that
    are in `behind`: up to which, by the number of their stream."""

    what: str
    name: str
    stream: int
    clock: int
    behind: dict

    def beside(self, other):
        """May both run at the same time?"""
        return (
            other.behind.get(self.stream, 0) < self.clock and self.behind.get(other.stream, 0) < other.clock
        )


def _merge(into, more):
    for stream, clock in more.items():
        into[stream] = max(into.get(stream, 0), clock)


def _host_waits(known, stream, how="seen"):
    """The host has waited for these steps: what was copied from pinned memory by then was not to change."""
    moved["waits"] += 1
    _merge(_host[how], known)
    if how == "seen":
        _merge(_host["read"], known)
    for other in _streams.values():
        other.settle(_host["read"].get(other.ptr, 0))
    if record is not None:
        record.append(Step("wait", how, stream, known.get(stream, 0), dict(known)))


class Stream:
    """A stream. What ran on another is in order with it only after a synchronisation or an event; the null
    stream is in order with all but those made with ``non_blocking``."""

    null = None

    def __init__(self, null=False, non_blocking=False, ptds=False):
        self.ptr = 0 if null else len(_streams) + 1
        self.non_blocking = non_blocking
        self.clock = 0
        self.known = {}  # up to which of their steps others precede what runs here next
        self._pending = []  # copies from pinned memory: clock, memory, what it held
        self._before = []
        self.device_id = Device().id
        _streams[self.ptr] = self

    def use(self):
        _here.stream = self
        return self

    def __enter__(self):
        self._before.append(get_current_stream())
        return self.use()

    def __exit__(self, *_):
        _here.stream = self._before.pop()

    def synchronize(self):
        check_pending()
        _host_waits(self.past(), self.ptr)

    def record(self, event=None):
        event = event or Event()
        event.at = (self, self.clock, self.past())
        return event

    def wait_event(self, event):
        _merge(self.known, event.at[2])

    def is_read(self):
        """The host has waited for a copy of what this stream made."""
        _host_waits(self.past(), self.ptr, "read")

    def past(self):
        """All steps that precede what runs here next."""
        found = {**self.known, self.ptr: self.clock}
        _merge(found, _host["seen"])
        for other in _streams.values():
            if (self.ptr == 0 and not other.non_blocking) or (other.ptr == 0 and not self.non_blocking):
                _merge(found, {other.ptr: other.clock})
        return found

    def step(self, what, name=""):
        """Count a step; what precedes it."""
        if _late:
            raise simulated.Failure(_late.pop())
        behind = self.past()
        self.known = {k: n for k, n in behind.items() if k != self.ptr}
        self.clock += 1
        if record is not None and what:
            record.append(Step(what, name, self.ptr, self.clock, behind))
        return behind

    def copies(self, memory):
        """The step that was counted last copies from pinned memory."""
        self._pending.append((self.clock, memory, memory.tobytes()))

    def settle(self, clock):
        """The host knows that this stream has come so far."""
        ended = [copy for copy in self._pending if copy[0] <= clock]
        self._pending = self._pending[len(ended) :]
        for _, pinned, held in ended:
            if pinned.tobytes() != held:
                raise simulated.Failure(
                    f"{len(held)} bytes of pinned memory were written to before their copy on stream "
                    f"{self.ptr} had ended"
                )


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.at = (Stream.null, 0, {})
        self.time = None

    def record(self, stream=None):
        (stream or get_current_stream()).record(self)
        self.time = time.perf_counter()

    @property
    def done(self):
        """Here only what the host has waited for has ended: a GPU may be as slow as it likes."""
        stream, clock, _ = self.at
        return clock <= _host["read"].get(stream.ptr, 0)

    def synchronize(self):
        check_pending()
        _host_waits(self.at[2], self.at[0].ptr)


Stream.null = Stream(null=True)


def get_elapsed_time(start, end):
    """Milliseconds between two events, both over."""
    for event in (start, end):
        if not event.done:
            raise CUDARuntimeError("cudaErrorNotReady: device not ready", 600)
    return 1e3 * (end.time - start.time)


def get_current_stream(device_id=None):
    return getattr(_here, "stream", Stream.null)


class Uses(list):
    """The last uses of a buffer's bytes: first, end, stream, clock of each."""

    def __init__(self, buffer, owner):
        super().__init__([(0, buffer.n, owner, owner.clock)])
        weakref.finalize(buffer, self._freed, owner).atexit = False

    def _freed(self, owner):
        # the pool gives it to whatever the stream on which it was had asks for next
        past = owner.past()
        for _, _, stream, clock in self:
            if clock > past.get(stream.ptr, 0):
                _late.append(
                    f"a buffer was given back to the pool of stream {owner.ptr} while stream {stream.ptr} "
                    "may still use it: nothing orders the two"
                )

    def add(self, lo, hi, stream, behind, n):
        """A use by the step of `stream` that was counted last."""
        for begin, end, other, clock in self:
            if begin < hi and lo < end and other is not stream and clock > behind.get(other.ptr, 0):
                raise simulated.Failure(
                    f"a buffer of {n} bytes is used on stream {stream.ptr} while stream {other.ptr} may "
                    "still use it: nothing orders the two"
                )
        self[:] = [u for u in self if not (lo <= u[0] and u[1] <= hi)] + [(lo, hi, stream, stream.clock)]


def use_on_stream(arrays, what="", name=""):
    """One step of the current stream that uses `arrays`; raises if another stream still uses any of their
    bytes. A use is as good as another: two streams that only read are taken for a fault, too."""
    stream = get_current_stream()
    behind = stream.step(what, name)
    for array in arrays:
        buffer = array.buffer
        base = buffer.bytes.__array_interface__["data"][0]
        lo, hi = byte_bounds(array.view_) if array.size else (base, base)
        buffer.uses.add(lo - base, hi - base, stream, behind, buffer.n)
    return stream


def forget():
    """Not CuPy's: everything has ended, and what was wrong before is no fault of what follows."""
    for stream in _streams.values():
        stream._pending.clear()
    Device().synchronize()
    gc.collect()
    _late.clear()


class PinnedMemory(bytearray):
    """Memory of the host from which a GPU copies by itself."""


_pinned: dict = {}  # where it lies, and its end


def alloc_pinned_memory(n):
    made = PinnedMemory(b"\xe5" * n)
    at = np.frombuffer(made, np.uint8).__array_interface__["data"][0]
    _pinned[at] = at + n
    weakref.finalize(made, _pinned.pop, at)
    return made


def is_pinned(array):
    lo, hi = byte_bounds(array)
    return any(at <= lo and hi <= end for at, end in _pinned.items())
