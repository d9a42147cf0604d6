"""A small kernel whose bits NumPy computes as well, since a device that is listed may be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from gpu_collide.backends import sources

if TYPE_CHECKING:
    from typing import Any

__all__ = ["kernel_text", "wrong_bits"]

_KERNEL = """
GC_KERNEL void gc_probe(int n, GC_GLOBAL const gc_real *a_in, GC_GLOBAL const gc_real *b_in,
                        GC_GLOBAL const gc_real *c_in, GC_GLOBAL gc_real *out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        out[i] = a_in[i] * b_in[i] - c_in[i];
        out[n + i] = GC_SQRT(a_in[i]) / b_in[i];
        out[2 * n + i] = GC_FLOOR(a_in[i] * 8) + GC_RINT(b_in[i] * 8) + GC_ABS(c_in[i]);
    }
}
"""


def kernel_text() -> str:
    """The text of the kernel ``gc_probe``, for `Backend.compile`."""
    return sources.joined("common/gc_platform.h") + _KERNEL


class Computing(Protocol):
    """What of a `Backend` is tried here."""

    has_float64: bool

    def to_device(self, *args: Any, **kw: Any) -> Any: ...
    def to_host(self, *args: Any, **kw: Any) -> Any: ...
    def empty(self, *args: Any, **kw: Any) -> Any: ...
    def fill(self, *args: Any, **kw: Any) -> Any: ...
    def compile(self, *args: Any, **kw: Any) -> Any: ...
    def launch_items(self, *args: Any, **kw: Any) -> Any: ...


def wrong_bits(backend: Computing) -> str | None:
    """The type of which `backend` computes other bits than NumPy; None if there is none."""
    n = 257
    rng = np.random.default_rng(1)
    for precision, real in (("mixed", "f8"), ("single", "f4"))[0 if backend.has_float64 else 1 :]:
        a, b, c = rng.uniform(0.5, 2, (3, n)).astype(real)
        out = backend.fill(backend.empty((3, n), real), -1)
        kernel = backend.compile(kernel_text(), precision).kernel("gc_probe")
        inputs = {"a_in": backend.to_device(a), "b_in": backend.to_device(b), "c_in": backend.to_device(c)}
        backend.launch_items(kernel, n, n=n, **inputs, out=out)
        with np.errstate(all="ignore"):
            expected = np.stack([a * b - c, np.sqrt(a) / b, np.floor(a * 8) + np.rint(b * 8) + np.abs(c)])
        if not np.array_equal(backend.to_host(out), expected):
            return real
    return None
