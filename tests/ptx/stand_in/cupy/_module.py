"""Modules of PTX and their kernels."""

import types
from pathlib import Path

import numpy as np

from cupy import cuda
from cupy._array import ndarray
from tests.ptx import build, translate
from tests.ptx import device as simulated

__all__ = ["RawModule", "get_default_memory_pool"]


class RawModule:
    """A module loaded from a file of PTX; a cubin is for a real device."""

    def __init__(self, code=None, *, path=None, options=(), backend="nvrtc", translate_cucache=None, **_):
        if code is not None or path is None:
            raise NotImplementedError("the stand-in takes a path to PTX")
        data = Path(path).read_bytes()
        if data.startswith(b"\x7fELF"):
            raise cuda.driver.CUDADriverError(
                "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available", 209
            )
        self._ptx, self._device = data, cuda.Device().id

    def get_function(self, name):
        if not any(f.entry and f.name == name for f in build.module(self._ptx).functions):
            raise cuda.driver.CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found", 500)
        return RawKernel(self._ptx, name, self._device)


class RawKernel:
    def __init__(self, ptx, name, device_id):
        self.name, self._ptx, self._device = name, ptx, device_id
        self._sizes = translate.argument_sizes(build.module(ptx), name)
        self.local_size_bytes = translate.stack_bytes(build.module(ptx), name)
        self.attributes = {"local_size_bytes": self.local_size_bytes}

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        cuda.check_pending()
        if len(args) != len(self._sizes):
            raise ValueError(f"{self.name} takes {len(self._sizes)} arguments, got {len(args)}")
        here = cuda.Device().id
        if self._device != here:
            raise cuda.driver.CUDADriverError(
                "CUDA_ERROR_INVALID_HANDLE: the kernel belongs to another device", 400
            )
        passed = [self._passed(i, arg, here) for i, arg in enumerate(args)]
        cuda.use_on_stream([a for a in args if isinstance(a, ndarray)], "launch", self.name)
        counted = simulated.counted
        library = build.library(self._ptx, self.name, count=counted is not None)
        barriers = simulated.device(here).launch(library, self.name, _one(grid), _one(block), passed)
        if counted is not None:
            counted.add(self._ptx, self.name, library, _one(block), barriers)

    def _passed(self, i, arg, here):
        """The bytes of an argument, as an array of one element."""
        if isinstance(arg, ndarray):
            if arg.device.id != here:
                raise ValueError(
                    f"{self.name}: argument {i} is on device {arg.device.id}, the current one is {here}"
                )
            value = np.array([arg.data.ptr], np.uint64)
        elif isinstance(arg, np.generic):
            value = np.array([arg])
        elif isinstance(arg, (bool, int, float)):  # as CuPy passes them, right or wrong
            value = np.array(
                [arg], np.bool_ if isinstance(arg, bool) else np.int64 if isinstance(arg, int) else "f8"
            )
        else:
            raise TypeError(f"Unsupported type {type(arg)}")
        if value.itemsize != self._sizes[i]:
            raise simulated.Failure(
                f"kernel {self.name}: argument {i} takes {self._sizes[i]} bytes, "
                f"{type(arg).__name__} has {value.itemsize}"
            )
        return value


def _one(sizes):
    first, *rest = sizes
    if any(r != 1 for r in rest):
        raise NotImplementedError("groups of one axis")
    if not isinstance(first, int):
        raise TypeError(f"grid and block are of int, got {type(first)}")
    return first


def get_default_memory_pool():
    own = simulated.device(cuda.Device().id)
    return types.SimpleNamespace(
        free_bytes=lambda: 0,
        used_bytes=lambda: own.used,
        total_bytes=lambda: own.used,
        free_all_blocks=lambda: None,
    )
