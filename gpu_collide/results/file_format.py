"""The arrays of a class of results as it declares them: dtypes, shapes, which of them have one length, and
their files."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["ArrayField", "Field", "FileFormat", "Group", "array_field", "array_fields_of"]

Field = tuple[Any, tuple[int, ...]]
"""Of an array of a result: its dtype, and its shape behind the first axis."""


class Group(NamedTuple):
    """Arrays of a result that have one length: that of the field `like`, and `more`."""

    fields: Mapping[str, Field]
    like: str
    more: int = 0


class ArrayField(NamedTuple):
    """How a class of results declares one of its arrays."""

    field: Field
    like: str  # the field that has its length; empty: the rows
    more: int
    optional: bool
    finite: bool


def array_field(
    dtype: Any, *tail: int, like: str = "", more: int = 0, optional: bool = False, finite: bool = True
) -> Any:
    """An array of a class of results, as a field of its dataclass.

    Parameters
    ----------
    dtype : dtype
    *tail : int
        Its shape behind the first axis.
    like : str, optional
        The field that has its length; default: an entry for each row of the result.
    more : int, optional
        How much longer it is.
    optional : bool, optional
        Whether it may be None, its default then.
    finite : bool, optional
        Whether all its floating-point numbers have to be finite.
    """
    finite = finite and np.dtype(dtype).kind == "f" and not optional
    metadata = {"array": ArrayField((dtype, tail), like, more, optional, finite)}
    if optional:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def array_fields_of(cls: type) -> dict[str, ArrayField]:
    """The arrays that a class declares by `array_field`, in their order; before it becomes a dataclass."""
    fields = {name: cls.__dict__.get(name) for name in cls.__dict__.get("__annotations__", ())}
    return {
        name: value.metadata["array"]
        for name, value in fields.items()
        if isinstance(value, dataclasses.Field) and "array" in value.metadata
    }


@dataclasses.dataclass(frozen=True)
class FileFormat:
    """The arrays of a class of results, and how ``.npz`` files hold them.

    Attributes
    ----------
    version : int
        The newest version.
    faults : callable
        From arrays by name what cannot be, (name, reason), beside what `array_faults` says of any result.
    kind : str, optional
        The class that the file names; None where it names none.
    first_with_checksums : int
        The first version that had checksums.
    numbers : dict
        Fields that are a single number, and their dtypes.
    renamed : dict
        Old names of fields, in earlier versions of the library and of the files, and those of today.
    old_kind : str, optional
        The class's name in earlier versions.
    unnamed : int, optional
        The version that is written where no mesh has names of parts, which older readers know; default: the
        newest.
    groups : tuple of Group
        All arrays, in the order in which they are written; from the fields of the class.
    optional : tuple of str
        Fields that may be None, which older files lack; from the fields too.
    finite : tuple of str
        Fields of finite numbers; from the fields too.
    """

    version: int
    faults: Callable[[Mapping[str, np.ndarray]], Iterator[tuple[str, str]]]
    kind: str | None = None
    first_with_checksums: int = 1
    numbers: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    old_kind: str | None = None
    unnamed: int | None = None
    groups: tuple[Group, ...] = ()
    optional: tuple[str, ...] = ()
    finite: tuple[str, ...] = ()

    @functools.cached_property
    def lengths(self) -> list[tuple[str, int, list[tuple[str, Any, tuple[int, ...]]]]]:
        """Of each group the field that has its length, what is added, and its arrays with their dtypes."""
        return [
            (like, more, [(name, np.dtype(dtype), tail) for name, (dtype, tail) in fields.items()])
            for fields, like, more in self.groups
        ]

    @functools.cached_property
    def fields(self) -> dict[str, tuple[Any, tuple[int | None, ...]]]:
        """Name to dtype and shape, None in a shape for any length; in the order in which they are written."""
        arrays = [item for group in self.groups for item in group.fields.items()]
        found: dict[str, tuple[Any, tuple[int | None, ...]]] = {
            name: (dtype, (None, *tail)) for name, (dtype, tail) in arrays
        }
        return found | {name: (dtype, ()) for name, dtype in self.numbers.items()}

    def version_of(self, result: Any) -> int:
        """The version of the file of a result: the oldest that can hold it."""
        return self.version if self.unnamed is None or result.part_a is not None else self.unnamed
