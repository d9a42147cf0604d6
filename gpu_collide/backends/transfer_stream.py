"""Copies from the host to a GPU during its work: from pinned memory, on a stream of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array, Buffer

__all__ = ["TransferStream"]

#: Bytes of a pinned buffer, and what arrays begin at a multiple of in it.
PINNED, ALIGNED = 8 << 20, 16


class TransferStream:
    """Two pinned buffers, filled in turn, and the stream that copies from them. For one thread at a time.

    Arrays are copied by the host into a pinned buffer, since no copy from other memory goes beside the host's
    own work; the host waits only for the copy before the last, if that has not ended.

    Parameters
    ----------
    cupy : module
        Its current device is that of the lane.

    Attributes
    ----------
    nbytes : int
        What can be sent at a time, a little less than a buffer holds.
    """

    nbytes = PINNED - 1024

    def __init__(self, cupy: Any) -> None:
        self._cuda = cupy.cuda
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._pinned = [
            np.frombuffer(cupy.cuda.alloc_pinned_memory(PINNED), np.uint8, PINNED) for _ in range(2)
        ]
        self._copied: list[Any] = [None, None]
        self._turn = 0

    def begin(self) -> None:
        """What is sent from here on arrives behind all that the current stream has been given: memory that
        its work used before may be written to."""
        self._stream.wait_event(self._cuda.get_current_stream().record())

    def last(self) -> Any:
        """The event behind all that was sent; None if nothing was."""
        return self._copied[1 - self._turn]

    def send(self, arrays: Sequence[Array], buffers: Sequence[Buffer]) -> Any:
        """Copy each of `arrays`, C-contiguous, to the buffer of its size and dtype; the event behind that.

        The arrays may change as soon as this returns. Nobody may use the buffers without waiting for the
        event.
        """
        turn = self._turn
        self._turn = 1 - turn
        copied, at = self._copied[turn], 0
        if copied is not None and not copied.done:
            copied.synchronize()
        for array, buffer in zip(arrays, buffers, strict=True):
            if not array.size:
                continue
            pinned = self._pinned[turn][at : at + array.nbytes].view(array.dtype)
            np.copyto(pinned, array.reshape(-1))
            buffer.set(pinned, stream=self._stream)
            at += -(-array.nbytes // ALIGNED) * ALIGNED
        event = self._copied[turn] = self._stream.record()
        return event
