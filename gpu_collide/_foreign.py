"""Arrays of other libraries on a GPU, read through whichever protocol they offer.

CuPy is imported only where such an array is given that has no reader of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["device_to_host", "on_device"]

_DLPACK_CUDA = 2  # kDLCUDA


def device_to_host(obj: Any) -> Array | None:
    """Copy an array from a device, by whatever road its own library offers; None if there is none."""
    if hasattr(obj, "__cuda_array_interface__"):
        if hasattr(obj, "get"):  # CuPy, PyCUDA
            return np.asarray(obj.get())
        if hasattr(obj, "copy_to_host"):  # Numba
            return np.asarray(obj.copy_to_host())
    if hasattr(obj, "detach") and hasattr(obj, "cpu"):  # PyTorch, on any device, with or without gradient
        return np.asarray(obj.detach().cpu())
    if hasattr(obj, "__dlpack__"):
        try:
            return np.from_dlpack(obj)
        except (BufferError, RuntimeError, TypeError, ValueError):
            pass
        try:
            return np.from_dlpack(obj, device="cpu", copy=True)  # asks the producer to copy (DLPack 2023)
        except (BufferError, RuntimeError, TypeError, ValueError):
            pass
    if hasattr(obj, "__cuda_array_interface__"):
        try:
            import cupy  # a bare interface: only a CUDA library can read it, and only then is one imported
        except ImportError:
            return None
        return cupy.asarray(obj).get()
    return None


def on_device(obj: Any) -> Any:
    """`obj` as a CuPy array where it lies, if it lies on a GPU and CuPy is there to read it; else None.

    Parameters
    ----------
    obj : object
        A CuPy array, or what has ``__cuda_array_interface__`` or, on a GPU, ``__dlpack__``.
    """
    if type(obj) is np.ndarray or obj is None or isinstance(obj, (list, tuple, float, int)):
        return None
    try:
        kind = obj.__dlpack_device__()[0] if hasattr(obj, "__dlpack_device__") else None
        there = hasattr(obj, "__cuda_array_interface__")
        if not there and kind != _DLPACK_CUDA:
            return None
        import cupy  # what lies on a GPU only a CUDA library can read

        if isinstance(obj, cupy.ndarray):
            return obj
        return cupy.asarray(obj) if there else cupy.from_dlpack(obj)
    except Exception:  # whatever a foreign library raises: `as_numpy` knows other roads, or says why not
        return None
