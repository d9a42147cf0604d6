"""The interface of every backend: the same few verbs, and the checks they share."""

from __future__ import annotations

import operator
import threading
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gpu_collide.backends import sources
from gpu_collide.backends.buffers import Buffers
from gpu_collide.backends.builds import Builds
from gpu_collide.backends.declarations import PRECISIONS, parse
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.backends.host import thread_count
from gpu_collide.backends.kernel import Bound, Kernel, KernelArg
from gpu_collide.backends.self_test import wrong_bits
from gpu_collide.backends.sequence import Sequence
from gpu_collide.errors import BackendUnavailableError, PrecisionUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Backend", "Bound", "GpuUnusableError", "Kernel", "KernelArg", "Module"]


class GpuUnusableError(BackendUnavailableError):
    """There is a GPU, and its library sees it, but the kernels cannot be built or do not work there."""


SERIAL_ITEMS = 256  # of kernels with a work-item each: a group where a group is one work-item
PART_ITEMS = 64  # of kernels with a work-item each: a part of a launch, between two of which `cpu` can stop


class Module(Mapping):
    """The built kernel text in one precision: a mapping from kernel name to `Kernel`."""

    def __init__(self, precision: str, kernels: dict[str, Kernel]) -> None:
        self.precision = precision
        self._kernels = kernels
        self._seconds = 0.0

    def seconds(self) -> float:
        """How long it took to build, returned once: the first query after it pays for it."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def kernel(self, name: str) -> Kernel:
        """The kernel called `name`; ``KeyError`` lists the names there are."""
        try:
            return self._kernels[name]
        except KeyError:
            raise KeyError(
                f"no kernel named {name!r}; there are {', '.join(self._kernels) or 'none'}"
            ) from None

    __getitem__ = kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)


class Backend(Buffers):
    """A place where kernels run, on buffers that lie there (`Buffers`). Verbs may be called from any thread.

    Attributes
    ----------
    name, kind : str
        ``"cpu"``, ``"opencl"``, ``"cuda"`` or ``"reference"``.
    device : str
        The device in words.
    has_float64 : bool
        Without it only ``precision="single"`` is accepted.
    max_groups : int
        Groups that fill the device with some to spare for balance; more only costs scratch memory.
    group_size, item_group_size : int
        Work-items a group: for kernels of one group per item (pair), and for kernels of one work-item per
        item.
    small_group_size : int or None
        `group_size` where an item is little work for so many (a pair of small meshes, a mover); None: the
        same.
    serial_groups : bool
        A group is one work-item, and the kernels are built for that; `launch` refuses other sizes.
    max_buffer : int
        Bytes of the largest single buffer.
    kept : dict
        What others keep on this backend, by their own names; it goes with it.
    parallel_builds : bool
        Programs compile side by side.
    quick_sequences : bool
        A sequence costs less than its launches one by one.
    """

    name = kind = "none"
    device = ""
    has_float64 = True
    max_groups = 1
    group_size = 1
    item_group_size = 1
    small_group_size: int | None = None
    serial_groups = False
    max_buffer = 2**62
    parallel_builds = False
    quick_sequences = False

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self._modules: dict[tuple[tuple[str, ...], str], Module] = {}
        self._builds = Builds(self._compile, thread_count() if self.parallel_builds else 1)
        renew_after_fork(self)

    def _after_fork(self) -> None:
        self._builds.after_fork()
        for module in self._builds.made():
            for kernel in module.values():
                kernel.lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<{self.name}: {self.device}, {'float64' if self.has_float64 else 'float32 only'}>"

    @property
    def reserved_bytes(self) -> int:
        """Bytes that the kernels built so far take of the device beside their buffers, once for all calls."""
        return 0

    def module(self, programs: str | Iterable[str], precision: str = "mixed") -> Module:
        """The kernels of some of `sources.PROGRAMS`, built for `precision`.

        Each program is built once per process and, where the driver allows it, once per machine; several that
        are not built yet are built side by side where that pays.

        Parameters
        ----------
        programs : str or iterable of str
        precision : {"mixed", "double", "single"}

        Raises
        ------
        KeyError
            There is no such program.
        ValueError
            Unknown precision.
        PrecisionUnavailableError
            The device lacks float64 and `precision` needs it.
        KernelCompileError
            The compiler refused the text.
        """
        names = (programs,) if isinstance(programs, str) else tuple(programs)
        module = self._modules.get((names, precision))
        if module is None:
            self.check_precision(precision)
            begun = time.perf_counter()
            # the longest first: the others are built beside it
            texts = sorted({sources.program(name) for name in names}, key=len, reverse=True)
            keys = [(text, precision) for text in texts]
            missing = self._builds.missing(keys)
            built = self._builds.all(keys)
            module = Module(precision, {name: kernel for part in built for name, kernel in part.items()})
            module._seconds = time.perf_counter() - begun if missing else 0.0
            module = self._modules.setdefault((names, precision), module)
        return module

    def compile(self, text: str, precision: str = "mixed") -> Module:
        """The kernels of `text`, built for `precision` once per process; raises what `module` does."""
        self.check_precision(precision)
        return self._builds.get((text, precision))

    def check_precision(self, precision: str) -> None:
        """Raise what `module` raises for a precision that it cannot build."""
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        if not self.has_float64 and precision != "single":
            raise PrecisionUnavailableError(
                f"{self.name} device {self.device} has no float64, which precision={precision!r} needs; "
                "pass precision='single' or another backend"
            )

    def _compile(self, text: str, precision: str) -> Module:
        signatures = parse(text)
        handles = self._build(text, precision, signatures)
        kernels = {}
        for name, sig in signatures.items():
            args = (KernelArg(a.name, a.dtype(precision), a.pointer, a.const) for a in sig.args)
            kernels[name] = Kernel(name, tuple(args), handles[name])
        return Module(precision, kernels)

    @abstractmethod
    def _build(self, text: str, precision: str, signatures: dict) -> dict[str, Any]:
        """Compile `text`; handle of each kernel by name."""

    def launch(self, kernel: Kernel, groups: int, group_size: int | None = None, **args: Any) -> None:
        """Run `kernel` with `groups` groups of `group_size` work-items (default: the backend's for groups).

        Arguments go by keyword under the names in the kernel text: buffers of this backend with exactly the
        declared dtype, and numbers that the declared type holds exactly. Launches run in order; ``cpu``
        returns when the kernel has ended, the others may return before.

        Raises
        ------
        TypeError
            An argument is missing, unknown, of another dtype, or of another backend.
        ValueError
            A number does not fit its type, or `groups` is negative.
        """
        groups, size = self.grid(groups, group_size)
        values = self._values(kernel, args)
        if groups:
            self._launch(kernel, groups, size, values, int(values[0]) if kernel.counts else 1, args)

    def launch_items(self, kernel: Kernel, n: int, /, **args: Any) -> None:
        """`launch` a kernel of one work-item per item (``GC_ITEM_LO``), in as many groups as suit `n`."""
        groups, size, parts = self.grid_of_items(n)
        values = self._values(kernel, args)
        if groups:
            self._launch(kernel, groups, size, values, parts, args)

    def launch_groups(self, kernel: Kernel, n: int, group_size: int | None = None, /, **args: Any) -> None:
        """`launch` a kernel of one group per item (``GC_GROUP_LO``), in as many groups as suit `n`."""
        groups, size, parts = self.grid_of_groups(n, group_size)
        values = self._values(kernel, args)
        if groups:
            self._launch(kernel, groups, size, values, parts, args)

    @abstractmethod
    def bind(self, kernel: Kernel, **args: Any) -> Bound:
        """`kernel` with its arguments, checked now and not again, for many launches with the same buffers.

        Its `Bound.launch`, `Bound.launch_items` and `Bound.launch_groups` do what those of the backend do, in
        a few microseconds of the host's time::

            step = backend.bind(kernel, n=n, factor=2.0, x_in=x, y_out=y)
            step.launch_items(n)
            step.launch_items(m, n=m, factor=3.0)  # other numbers, this time

        Raises
        ------
        TypeError, ValueError
            As `launch`.
        """

    def sequence(self, steps: Any, *, looking: bool = True) -> Sequence:
        """`steps` (`gpu_collide.backends.sequence`), with their buffers and checked now, for many runs.

        Without `looking` nothing is read that a step wrote, where that would mean to wait (``cuda``):
        launches are made for as many items as there is room for, and all steps run, even if one has more to
        do than that. Their kernels have to pass over entries below 0; whoever runs it looks at the counts
        afterwards.
        """
        return Sequence(self, steps)

    def grid(self, groups: int, group_size: int | None) -> tuple[int, int]:
        """Groups and work-items a group of a launch that says so itself."""
        groups = int(groups)
        if groups < 0:
            raise ValueError(f"groups must not be negative, got {groups}")
        size = group_size or self.group_size
        if self.serial_groups and size != 1:
            raise ValueError(
                f"a group on {self.name} ({self.device}) has one work-item, got group_size={size}"
            )
        return groups, size

    def grid_of_items(self, n: int) -> tuple[int, int, int]:
        """Groups, work-items a group and parts of a launch with a work-item for each of `n` items."""
        n, size = _not_negative(n), self.item_group_size
        groups = -(-n // (size if size > 1 else SERIAL_ITEMS))
        return min(groups, self.max_groups), size, -(-n // PART_ITEMS)

    def grid_of_groups(self, n: int, group_size: int | None = None) -> tuple[int, int, int]:
        """Groups, work-items a group and parts of a launch with a group for each of `n` items."""
        n = _not_negative(n)
        groups, size = self.grid(min(n, self.max_groups), group_size)
        return groups, size, n

    def _values(self, kernel: Kernel, args: dict) -> list:
        """What was passed, checked, in declared order: buffers in the backend's form, Python numbers."""
        if len(args) != len(kernel.args):
            kernel.complain(args)
        values, buffer_arg = [], self._buffer_arg
        for name, convert, arg in kernel.plan:
            try:
                value = args[name]
            except KeyError:
                kernel.complain(args)
            values.append(buffer_arg(kernel, arg, value) if convert is None else convert(value))
        return values

    @abstractmethod
    def _launch(self, kernel: Kernel, groups: int, size: int, values: list, parts: int, args: dict) -> None:
        """Run a kernel with checked `values`, whose groups together have so many parts to do; `args` are what
        was passed."""

    @abstractmethod
    def _buffer_arg(self, kernel: Kernel, arg: KernelArg, value: Any) -> Any:
        """`value` in the form `_launch` wants, or TypeError."""

    def _wrong_buffer(self, kernel: Kernel, arg: KernelArg, value: Any) -> TypeError:
        kind = "contiguous" if arg.const else "contiguous, writeable"
        got = f"{type(value).__name__} of {value.dtype}" if hasattr(value, "dtype") else type(value).__name__
        return TypeError(
            f"kernel {kernel.name}: {arg.name} must be a {kind} {self.name} buffer of {arg.dtype}, got {got}"
        )

    def self_test(self) -> None:
        """Run a small kernel and compare its bits with NumPy's: a device that is listed may yet be broken.

        Raises
        ------
        BackendUnavailableError
            The bits are wrong.
        """
        real = wrong_bits(self)
        if real is not None:
            raise BackendUnavailableError(f"{self.device} runs a test kernel but computes wrong {real} bits")

    def synchronize(self) -> None:  # noqa: B027  cpu has nothing to wait for
        """Wait for all launches."""


def _not_negative(n: Any) -> int:
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    return n
