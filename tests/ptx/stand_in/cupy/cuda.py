"""Devices, streams and the runtime's errors."""

import threading
import time
from collections import Counter

from cupy import _memory as memory
from tests.ptx import device as simulated

__all__ = [
    "Device", "Event", "Stream", "driver", "get_current_stream", "get_elapsed_time",
    "memory", "moved", "runtime",
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
        moved["waits"] += 1
        check_pending()
        for stream in _streams.values():
            stream.seen = stream.clock

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


_streams = {}


class Stream:
    """A stream. What ran on another is in order with it only after a synchronisation or an event; the null
    stream is in order with all but those made with ``non_blocking``."""

    null = None

    def __init__(self, null=False, non_blocking=False, ptds=False):
        self.ptr = 0 if null else len(_streams) + 1
        self.non_blocking = non_blocking
        self.clock = self.seen = 0
        self.read = 0  # up to where a copy to the host waited; no program should count on it for order
        self.waited = {}
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
        moved["waits"] += 1
        check_pending()
        self.seen = self.clock

    def record(self, event=None):
        event = event or Event()
        event.at = (self, self.clock)
        return event

    def wait_event(self, event):
        stream, clock = event.at
        self.waited[stream] = max(self.waited.get(stream, 0), clock)

    def runs_after(self, stream, clock):
        """Whether what runs here next runs after what `stream` did at `clock`."""
        if stream is self or clock <= stream.seen or clock <= self.waited.get(stream, 0):
            return True
        return (self.ptr == 0 and not stream.non_blocking) or (stream.ptr == 0 and not self.non_blocking)


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.at = (Stream.null, 0)
        self.time = None

    def record(self, stream=None):
        (stream or get_current_stream()).record(self)
        self.time = time.perf_counter()

    def synchronize(self):
        moved["waits"] += 1
        check_pending()
        stream, clock = self.at
        stream.seen = max(stream.seen, clock)


Stream.null = Stream(null=True)


def get_elapsed_time(start, end):
    """Milliseconds between two events, both over."""
    for event in (start, end):
        stream, clock = event.at
        if clock > max(stream.seen, stream.read):
            raise CUDARuntimeError("cudaErrorNotReady: device not ready", 600)
    return 1e3 * (end.time - start.time)


def get_current_stream(device_id=None):
    return getattr(_here, "stream", Stream.null)


def use_on_stream(buffers):
    """One step of the current stream that uses `buffers`; raises if one is still used by another stream."""
    stream = get_current_stream()
    stream.clock += 1
    for buffer in buffers:
        if buffer.stream is not None and not stream.runs_after(buffer.stream, buffer.clock):
            raise simulated.Failure(
                f"a buffer of {buffer.n} bytes is used on stream {stream.ptr} while stream "
                f"{buffer.stream.ptr} may still use it: nothing orders the two"
            )
        buffer.stream, buffer.clock = stream, stream.clock
