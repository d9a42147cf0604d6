"""CuPy's memory errors and pointers (`cupy.cuda.memory`)."""

from tests.ptx import device as simulated

__all__ = ["MemoryPointer", "OutOfMemoryError"]


class OutOfMemoryError(MemoryError):
    """As CuPy's: it could not have so many bytes."""


class MemoryPointer:
    """Where an array lies."""

    def __init__(self, ptr, device_id):
        self.ptr, self.device_id = ptr, device_id


def allocate(device_id, n):
    """A buffer on a device, errors as CuPy's."""
    try:
        return simulated.device(device_id).allocate(n)
    except simulated.OutOfMemory as error:
        raise OutOfMemoryError(str(error)) from None
