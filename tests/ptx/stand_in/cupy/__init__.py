"""A stand-in for CuPy on the simulated device of tests/ptx: what gpu_collide and its tests use, as strict as
CuPy.

Arrays never become NumPy arrays by themselves and do not mix with them; a kernel takes scalars of exactly its
types, arrays of the current device, and runs on the current stream.
"""

from cupy import cuda
from cupy._array import (
    arange,
    array,
    array_equal,
    asarray,
    ascontiguousarray,
    asnumpy,
    concatenate,
    cumsum,
    empty,
    full,
    get_array_module,
    lexsort,
    ndarray,
    ones,
    stack,
    where,
    zeros,
)
from cupy._module import RawModule, get_default_memory_pool

__version__ = "14.0.0+ptx"
__all__ = [
    "RawModule", "arange", "array", "array_equal", "asarray", "ascontiguousarray", "asnumpy", "concatenate",
    "cuda", "cumsum", "empty", "full", "get_array_module", "get_default_memory_pool", "lexsort", "ndarray",
    "ones", "stack", "where", "zeros",
]  # fmt: skip
