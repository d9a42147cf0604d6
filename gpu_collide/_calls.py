"""Wrappers around every call of the public interface: one error for refused memory, warnings at the
caller's line, names of earlier versions."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from typing import TYPE_CHECKING

from gpu_collide.errors import MemoryLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")
    _Rule = str | tuple[str, tuple[type, ...] | type]

__all__ = ["old_names", "renamed", "warn_caller", "warn_renamed", "within_memory"]

_HERE = os.path.dirname(__file__) + os.sep


def within_memory(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """`call`, with a `MemoryLimitError` where Python or NumPy raise `MemoryError`: who asks has one error to
    catch, wherever in a question the machine refuses."""

    @functools.wraps(call)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except MemoryError as error:
            raise _refused(error) from error

    return asked


def _refused(error: MemoryError) -> MemoryLimitError:
    if isinstance(error, MemoryLimitError):
        raise error
    return MemoryLimitError(
        f"this machine has no memory left ({str(error) or 'Python itself got none'}); ask for "
        "a share at a time"
    )


def renamed(**names: _Rule) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator, `within_memory` as well: keywords of earlier versions still work, with a warning that
    names those of today.

    `names` has for each old keyword the new one; or the new one and types, where the old keyword means
    something else today: then only values of these types are taken for what it meant; or the new one and
    a class, which has the old keyword as one of its fields.
    """

    def decorated(call: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(call)
        def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if kwargs and not names.keys().isdisjoint(kwargs):
                _rename(call.__qualname__.removesuffix(".__init__"), names, kwargs)
            try:
                return call(*args, **kwargs)
            except MemoryError as error:
                raise _refused(error) from error

        return asked

    return decorated


def _rename(of: str, names: Mapping[str, _Rule], kwargs: dict[str, Any]) -> None:
    parts: dict[str, Any] = {}
    for old, rule in names.items():
        new, types = (rule, (object,)) if isinstance(rule, str) else rule
        if old not in kwargs:
            continue
        if isinstance(types, type):  # parts of one value
            if new in kwargs:
                raise TypeError(
                    f"{new}: expected all in one {types.__name__}, got {old} beside it; pass "
                    f"{new}=gc.{types.__name__}({old}=...)"
                )
            warn_renamed(f"{of}({old}=)", f"{new}=gc.{types.__name__}({old}=)")
            parts.setdefault(new, (types, {}))[1][old] = kwargs.pop(old)
        elif isinstance(kwargs[old], types):
            if new in kwargs:
                raise TypeError(f"{new}: expected once, got {old} (its old name) as well; leave {old} out")
            warn_renamed(f"{of}({old}=)", f"{new}=")
            kwargs[new] = kwargs.pop(old)
    kwargs.update((new, made(**given)) for new, (made, given) in parts.items())


def warn_renamed(old: str, new: str) -> None:
    """Warn (`FutureWarning`) that a name will go, at the caller's line."""
    warn_caller(f"{old} is now called {new}; the old name works in this version only", FutureWarning)


def old_names(module: str, names: Mapping[str, object]) -> Callable[[str], Any]:
    """``__getattr__`` of a module: names of earlier versions are what they are called today, and warn."""

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_renamed(f"{module}.{name}", getattr(names[name], "__name__", ""))
        return names[name]

    return get


def warn_caller(text: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line of the caller: the nearest that is not in this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_HERE, contextlib.__file__)):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)
