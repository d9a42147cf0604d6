"""Types for annotations: arrays, array-like arguments, and the words that options take.

Annotations use them, so most modules import this one under ``TYPE_CHECKING``; `gpu_collide._options` takes
the choices of the options from here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy import typing as npt

__all__ = [
    "Array", "ArrayLike", "BackendName", "BoolArray", "BroadPhaseName", "Buffer", "Candidates",
    "ContactsWanted", "Features", "FilterName", "Filters", "FloatArray", "HitsWanted", "IntArray",
    "MotionName", "Precision", "Progress", "Refine", "ResultsOn", "ShapeLike", "StrPath",
    "SupportsCudaArray", "SupportsDLPack",
]  # fmt: skip


class SupportsDLPack(Protocol):
    """An array of any library that exchanges arrays by DLPack, on any device."""

    def __dlpack__(self) -> Any: ...


class SupportsCudaArray(Protocol):
    """An array on a CUDA device."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


Array: TypeAlias = "npt.NDArray[Any]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"
FloatArray: TypeAlias = "npt.NDArray[np.floating[Any]]"
IntArray: TypeAlias = "npt.NDArray[np.integer[Any]]"
ArrayLike: TypeAlias = "npt.ArrayLike | SupportsDLPack | SupportsCudaArray"
Buffer: TypeAlias = Any
"""Memory of a backend: each has a class of its own."""
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
StrPath: TypeAlias = "str | os.PathLike[str]"
Progress: TypeAlias = Callable[[int, int], object]
"""Called with what is done and what there is in all."""

BackendName: TypeAlias = Literal["auto", "cpu", "opencl", "cuda", "reference"]
BroadPhaseName: TypeAlias = Literal["hierarchy", "off"]
Candidates: TypeAlias = Literal["auto", "raster", "pairs"]
ContactsWanted: TypeAlias = Literal["all", "first"]
Features: TypeAlias = Literal["auto", "near", "all"]
MotionName: TypeAlias = Literal["relative", "body"]
FilterName: TypeAlias = Literal["spheres", "boxes", "plane"]
Filters: TypeAlias = Literal["auto", "none"] | Sequence[FilterName]
Precision: TypeAlias = Literal["mixed", "double", "single"]
Refine: TypeAlias = Literal["exact", "segments", "pixels"]
HitsWanted: TypeAlias = Literal["first", "any", "all"]
ResultsOn: TypeAlias = Literal["auto", "host", "device"]
