"""What the results of all queries share: outcomes and kinds, frozen arrays, and how files keep them."""

from __future__ import annotations

import dataclasses
import enum
import json
import operator
import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.faults import normal_faults
from gpu_collide.results.npz import read_result, save_name, write_result
from gpu_collide.results.report import FilterReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

    from typing_extensions import Self

__all__ = ["Field", "FileFormat", "Kind", "Result", "Status", "counted", "overlap_words", "whole_number"]


class Status(enum.IntEnum):
    """Outcome of a pair."""

    MISS = 0  #: no reported contact (perhaps some below ``min_properness``)
    HIT = 1  #: at least one reported contact
    INITIAL_OVERLAP = 2  #: the solids overlap at the start, unless ``check_start=False``; contacts are kept
    INVALID_INPUT = 3  #: a pose that is not finite or not rigid; no contacts
    UNRESOLVED = 4  #: a cap was hit, what was found is kept; or a motion beyond all digits, without contacts


class Kind(enum.IntEnum):
    """Which features meet."""

    FV = 0  #: a face of A and a vertex of B
    VF = 1  #: a vertex of A and a face of B
    EE = 2  #: an edge of A and an edge of B


Field = tuple[Any, tuple[int, ...]]
"""Of an array of a result: its dtype, and its shape behind the first axis."""


@dataclasses.dataclass(frozen=True)
class FileFormat:
    """How a class of results is kept in ``.npz`` files.

    Attributes
    ----------
    version, first_with_checksums : int
        The version that is written, and the first one that had checksums.
    fields : dict
        Name to dtype and shape, None in a shape for any length; in the order in which they are written.
    faults : callable
        From arrays by name, the number of statuses and that of kinds, what cannot be: (name, reason).
    optional : tuple of str
        Fields that older files lack.
    kind : str, optional
        What the file says that it holds; None where it says nothing.
    """

    version: int
    first_with_checksums: int
    fields: Mapping[str, tuple[Any, tuple[int | None, ...]]]
    faults: Callable[[Mapping[str, np.ndarray], int, int], Iterator[tuple[str, str]]]
    optional: tuple[str, ...] = ()
    kind: str | None = None


class Result:
    """Base of the frozen results of queries: dataclasses whose arrays are those of `_format`."""

    _format: ClassVar[FileFormat]
    info: dict[str, Any]

    def _freeze(self, fields: Mapping[str, Field], length: int) -> None:
        """Check the shapes of some fields, and put read-only arrays of the right dtypes in their place."""
        for name, (dtype, tail) in fields.items():
            array = _canonical(name, getattr(self, name), dtype, (length, *tail))
            object.__setattr__(self, name, array)

    @property
    def report(self) -> FilterReport | None:
        """`FilterReport` of the tests and what they cost, over all batches; None unless ``report=True`` was
        asked for."""
        data = self.info.get("report")
        return None if data is None else FilterReport.from_dict(data)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write everything to a compressed ``.npz`` file.

        Parameters
        ----------
        path : str, path-like or binary file
            A name that ends in ``.npz``, or has no suffix: then ``.npz`` is added.

        Raises
        ------
        TypeError
            Something else than a name or a file.
        ValueError
            A name with another suffix, or of a folder.
        """
        _check_path(path, "write")
        target = save_name(path) if isinstance(path, (str, os.PathLike)) else path
        form = self._format
        arrays = {}
        for name, (dtype, _) in form.fields.items():
            value = getattr(self, name)
            if value is not None:
                arrays[name] = np.asarray(as_numpy(value, name), dtype)
        write_result(target, arrays, form.version, json.dumps(self.info, default=_to_json), form.kind)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | BinaryIO) -> Self:
        """Read a file written by `save` (as there, the suffix ``.npz`` may be left out).

        Everything is checked: that no array was damaged or exchanged after it was saved (by checksums, which
        only files of the first versions lack), dtypes, shapes, and that the values can be a result. Files of
        all earlier versions are read.

        Parameters
        ----------
        path : str, path-like or binary file

        Raises
        ------
        OSError
            There is no such file, or it may not be read.
        ValueError
            The file is damaged, no result of this class, or of a newer version of the library; the message
            names the file and the array.
        """
        _check_path(path, "read")
        form = cls._format
        wanted = f"a .npz file written by {cls.__name__}.save"
        arrays, info, reader, version = read_result(
            path, wanted, form.fields, form.version, form.first_with_checksums, form.optional, form.kind
        )
        try:
            found = cls(**arrays, info=info)  # type: ignore[call-arg]  # its subclasses are dataclasses
        except ValueError as error:  # lengths that do not agree
            name, _, reason = str(error).partition(": ")
            raise reader.damaged(name, reason) from error
        for name, reason in form.faults(arrays, len(Status), len(Kind)):
            raise reader.damaged(name, reason)
        if version < form.first_with_checksums:
            for name, reason in normal_faults(arrays):
                raise reader.damaged(name, reason)
        return found


def counted(values: np.ndarray, names: type[enum.IntEnum]) -> str:
    """How many of each there are, in words; empty if there are none."""
    return ", ".join(f"{(values == n).sum()} {n.name}" for n in names if (values == n).any())


def overlap_words(count: int) -> str:
    """What INITIAL_OVERLAP says of so many pairs, in plain words."""
    return f"{count:,} {'pair is' if count == 1 else 'pairs are'} in each other already when the step begins"


def whole_number(value: Any, name: str, expected: str = "an integer", hint: str = "") -> int:
    """`value` as an int: nothing is rounded or read from text."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}{hint}") from None


def _canonical(name: str, array: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Check one field; host arrays are cast and made read-only, device arrays are left where they are."""
    if not isinstance(array, np.ndarray) and hasattr(array, "__cuda_array_interface__"):
        if tuple(array.shape) != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {tuple(array.shape)}")
        # kernels write bytes that are 0 or 1; as numbers they would index instead of choose
        return array.view(np.bool_) if dtype is np.bool_ and array.dtype == np.uint8 else array
    if type(array) is not np.ndarray:
        array = as_numpy(array, name)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if array.dtype == dtype and array.flags.c_contiguous:
        array = array.view()  # whoever made it may write to theirs
    else:
        array = np.ascontiguousarray(array, dtype=dtype).reshape(shape).view()
    array.flags.writeable = False
    return array


def _check_path(path: Any, verb: str) -> None:
    """Raise ``TypeError`` unless NumPy can `verb` ("read", "write") at `path`."""
    if not isinstance(path, (str, os.PathLike)) and not callable(getattr(path, verb, None)):
        raise TypeError(
            f"path: expected a str, path-like or binary file, got {type(path).__name__}; pass a file name "
            "such as 'contacts.npz'"
        )


def _to_json(value: Any) -> Any:
    """NumPy scalars and arrays in `info` as plain numbers and lists; anything else as text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)
