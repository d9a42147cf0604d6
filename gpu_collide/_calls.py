"""What stands around every call of the public interface: one error for refused memory, warnings at the
caller's line."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from typing import TYPE_CHECKING

from gpu_collide.errors import MemoryLimitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

__all__ = ["warn_caller", "within_memory"]

_HERE = os.path.dirname(__file__) + os.sep


def within_memory(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """`call`, with a `MemoryLimitError` where Python or NumPy raise `MemoryError`: who asks has one error to
    catch, wherever in a question the machine refuses."""

    @functools.wraps(call)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except MemoryError as error:
            if isinstance(error, MemoryLimitError):
                raise
            raise MemoryLimitError(
                f"this machine has no memory left ({str(error) or 'Python itself got none'}); ask for "
                "a share at a time"
            ) from error

    return asked


def warn_caller(text: str) -> None:
    """Warn (`RuntimeWarning`) at the line of the caller: the nearest that is not in this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_HERE, contextlib.__file__)):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, RuntimeWarning, stacklevel=level)
