"""A built entry point, the checks of its arguments, and a launch that is checked once."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Bound", "Kernel", "KernelArg"]


class KernelArg(NamedTuple):
    """One argument: its name, exact dtype, whether it is a buffer, and whether the kernel only reads it."""

    name: str
    dtype: np.dtype
    pointer: bool
    const: bool


@dataclass
class Kernel:
    """One entry point, built.

    Attributes
    ----------
    name : str
    args : tuple of KernelArg
        In declared order.
    handle : object
        What the backend calls.
    plan : tuple
        Of each argument its name, what makes a Python number that the declared type holds out of what was
        passed (None for buffers), and the argument.
    numbers : dict
        Place and converter of each argument that is a number, by its name.
    counts : bool
        The first argument is a number: by custom it says how many items there are.
    """

    name: str
    args: tuple[KernelArg, ...]
    handle: Any
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self.plan = tuple((arg.name, None if arg.pointer else _converter(arg), arg) for arg in self.args)
        self.numbers = {name: (i, convert) for i, (name, convert, _) in enumerate(self.plan) if convert}
        self.counts = bool(self.args) and not self.args[0].pointer

    def complain(self, args: dict) -> None:
        """TypeError with the names that `args` lacks and those that it should not have."""
        declared = [arg.name for arg in self.args]
        missing = [name for name in declared if name not in args]
        unknown = [name for name in args if name not in declared]
        parts = [f"missing {', '.join(missing)}"] * bool(missing)
        parts += [f"unknown {', '.join(unknown)}"] * bool(unknown)
        raise TypeError(f"kernel {self.name}: {'; '.join(parts)}; it takes ({', '.join(declared)})")

    def checked(self, numbers: dict) -> dict[int, int | float]:
        """`numbers` by name as Python numbers by place."""
        found = {}
        for name, value in numbers.items():
            try:
                place, convert = self.numbers[name]
            except KeyError:
                raise TypeError(
                    f"kernel {self.name}: {name} is none of the numbers that a bound launch may change "
                    f"({', '.join(self.numbers) or 'it has none'}); for other arguments bind it anew"
                ) from None
            found[place] = convert(value)
        return found


def _converter(arg: KernelArg) -> Callable[[Any], Any]:
    """Function of one value: the Python number that the declared type holds, or an error that names it."""
    name, dtype = arg.name, arg.dtype
    single = dtype.type if dtype.itemsize == 4 else None

    def wrong(value: Any) -> Exception:
        got = type(value).__name__
        return TypeError(f"{name} must be a number that {dtype} holds, got {got} {value!r}")

    if dtype.kind == "f":

        def convert(value: Any) -> Any:
            if type(value) is not float:
                try:
                    value = value.__float__()
                except (TypeError, ValueError, AttributeError):
                    raise wrong(value) from None
                except OverflowError:
                    raise ValueError(f"{name} must fit {dtype}, got {value}") from None
            return value if single is None else single(value).item()

        return convert
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def convert(value: Any) -> Any:  # type: ignore[no-redef]
        if type(value) is not int:
            try:
                value = value.__index__()
            except (TypeError, ValueError, AttributeError):
                raise wrong(value) from None
        if not low <= value <= high:
            raise ValueError(f"{name} must fit {dtype}, got {value}")
        return value

    return convert


class Bound(ABC):
    """A kernel with its arguments, checked once, to be launched many times (`Backend.bind` makes it).

    It holds its buffers, and may be used by several threads. Numbers that are given to a launch by name take
    the places of those that were bound, in that launch alone. Errors are those of `Backend.launch`.
    """

    __slots__ = ("_backend", "_kernel", "_values")

    def __init__(self, backend: Any, kernel: Kernel, values: list) -> None:
        self._backend = backend
        self._kernel = kernel
        self._values = tuple(values)

    @property
    def kernel(self) -> Kernel:
        """The kernel that is launched."""
        return self._kernel

    def launch(self, groups: int, group_size: int | None = None, /, **numbers: Any) -> None:
        """`Backend.launch`, with the arguments that were bound."""
        groups, size = self._backend.grid(groups, group_size)
        new = self._kernel.checked(numbers) if numbers else None
        if groups:
            parts: Any = 1
            if self._kernel.counts:
                parts = new[0] if new and 0 in new else self._values[0]
            self._run(groups, size, parts, new)

    def launch_items(self, n: int, /, **numbers: Any) -> None:
        """`Backend.launch_items`, with the arguments that were bound."""
        new = self._kernel.checked(numbers) if numbers else None
        groups, size, parts = self._backend.grid_of_items(n)
        if groups:
            self._run(groups, size, parts, new)

    def launch_groups(self, n: int, group_size: int | None = None, /, **numbers: Any) -> None:
        """`Backend.launch_groups`, with the arguments that were bound."""
        new = self._kernel.checked(numbers) if numbers else None
        groups, size, parts = self._backend.grid_of_groups(n, group_size)
        if groups:
            self._run(groups, size, parts, new)

    @abstractmethod
    def _run(self, groups: int, size: int, parts: int, new: dict[int, int | float] | None) -> None:
        """One launch of at least one group, with `new` numbers by place."""
