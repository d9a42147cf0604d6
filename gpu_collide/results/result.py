"""What the results of all queries share: outcomes and kinds, frozen arrays, rows, tables and files."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import json
import operator
import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._calls import warn_renamed
from gpu_collide._validate import as_numpy, check_choice
from gpu_collide.geometry.arrays.parts import JOINT
from gpu_collide.results.enums import Kind, Status
from gpu_collide.results.file_format import ArrayField, Field, FileFormat, Group, array_fields_of
from gpu_collide.results.file_validation import array_faults, id_faults, normal_faults, part_faults
from gpu_collide.results.indexing import Rows, chosen, one_row, starts_of
from gpu_collide.results.npz import check_folder, read_result, save_name, write_result
from gpu_collide.results.part_names import PART_FIELDS, names_of
from gpu_collide.results.report import FilterReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    from typing_extensions import Self

    from gpu_collide._types import Array, ArrayLike

__all__ = [
    "Kind",
    "Result",
    "Status",
    "counted",
    "joined_info",
    "made_by",
    "overlap_words",
    "whole_number",
]


_RECORDS: dict[type, np.dtype[Any]] = {}  # of a class of results the dtype of a row


class Result:
    """Base of the frozen results of queries: dataclasses that declare each array by `array_field`.

    A subclass names the field that has its length (``rows="pair"``) and, if its rows have owners, the CSR
    offsets of these with the field that names them (``starts=``).
    """

    _format: ClassVar[FileFormat]
    _rows: ClassVar[Mapping[str, Field]]  # fields with an entry for each of len()
    _more: ClassVar[Mapping[str, Field]]  # the same that may be None
    _starts: ClassVar[tuple[str, str] | None]
    info: dict[str, Any]
    part_a: Array | None = None
    part_b: Array | None = None

    def __init_subclass__(cls, *, rows: str, starts: tuple[str, str] | None = None) -> None:
        arrays = array_fields_of(cls)
        if "part_a" in cls.__annotations__:
            arrays |= {name: ArrayField(field, rows, 0, True, False) for name, field in PART_FIELDS.items()}
        groups: dict[tuple[str, int], dict[str, Field]] = {}
        for name, (field, like, more, *_) in arrays.items():
            groups.setdefault((like or rows, more), {})[name] = field
        cls._format = dataclasses.replace(
            cls._format,
            groups=tuple(Group(fields, *length) for length, fields in groups.items()),
            optional=tuple(name for name, array in arrays.items() if array.optional),
            finite=tuple(name for name, array in arrays.items() if array.finite),
        )
        of_rows = groups[rows, 0]
        cls._more = {name: of_rows[name] for name in of_rows if arrays[name].optional}
        cls._rows = {name: of_rows[name] for name in of_rows if name not in cls._more}
        cls._starts = starts

    def __post_init__(self) -> None:
        """Check the shapes of all arrays, and put read-only ones of the right dtypes in their place."""
        made: dict[str, Any] = {"info": dict(self.info)}
        for like, more, fields in self._format.lengths:
            length = len(getattr(self, like)) + more
            for name, dtype, tail in fields:
                array = getattr(self, name)
                if array is not None or name not in self._format.optional:
                    made[name] = _canonical(name, array, dtype, (length, *tail))
        self.__dict__.update(made)

    if not TYPE_CHECKING:  # a checker should know old names no more

        def __getattr__(self, name: str) -> Any:
            new = self._format.renamed.get(name)
            if new is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            warn_renamed(f"{type(self).__name__}.{name}", new)
            return getattr(self, new)

    @classmethod
    def sealed(cls, info: dict[str, Any], **fields: Any) -> Self:
        """A result of arrays that were made for it: nothing is checked and nothing copied.

        Parameters
        ----------
        info : dict
            Belongs to the result.
        **fields
            All other fields, of their dtypes and shapes. They become read-only, and belong to the result.
        """
        for array in fields.values():
            if type(array) is np.ndarray:
                array.setflags(False)  # type: ignore[call-arg]  # a fifth of the price of ``flags.writeable``
        found = object.__new__(cls)
        found.__dict__.update(fields, info=info)
        return found

    @property
    def _columns(self) -> Mapping[str, Field]:
        """The fields with an entry for each row that this result has."""
        return {**self._rows, **{n: f for n, f in self._more.items() if getattr(self, n) is not None}}

    @property
    def report(self) -> FilterReport | None:
        """`FilterReport` of the tests and their cost, over all batches; None without ``report=True``."""
        data = self.info.get("report")
        return None if data is None else FilterReport.from_dict(data)

    def to_numpy(self) -> Self:
        """The same result with every array on the host (the object itself if they are there already)."""
        there: dict[str, Any] = {}
        for name in self._format.fields:
            array = getattr(self, name)
            if array is not None and not isinstance(array, np.ndarray):
                there[name] = as_numpy(array, name)
        return dataclasses.replace(self, **there) if there else self  # type: ignore[type-var]

    def __getitem__(self, index: Any) -> Any:
        """Some of the rows.

        Parameters
        ----------
        index : int, slice, (len,) array_like of bool, or array_like of int
            Negative numbers count from the end.

        Returns
        -------
        record or result
            For an integer, the row as a structured record. For anything else, a result of the same class on
            the host with these rows, each once and in their present order; all pairs, movers or queries are
            kept, and HIT becomes MISS for those that lose their last row.

        Raises
        ------
        TypeError, ValueError, IndexError
            Any other index, a mask of the wrong length, or rows that do not exist.
        """
        row = one_row(index, self.__len__())
        if row is not None:
            return self._records(slice(row, row + 1))[0]
        return self._selected(chosen(index, self.__len__()))

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self._rows))))

    def __iter__(self) -> Iterator[np.void]:
        return iter(self._records(slice(None)))

    def _records(self, rows: slice) -> Rows:
        """Rows as structured records."""
        dtype = _RECORDS.get(type(self))
        if dtype is None:
            columns = [(name, d, tail) for name, (d, tail) in self._rows.items()]
            dtype = _RECORDS[type(self)] = np.dtype(columns, align=True)
        told = self._told(rows)
        if told:
            columns = [(name, d, tail) for name, (d, tail) in self._rows.items()]
            columns += [(name, names.dtype, ()) for name, names in told.items()]
            dtype = np.dtype(columns, align=True)
        records = np.empty(len(range(*rows.indices(self.__len__()))), dtype)
        for name in self._rows:
            records[name] = as_numpy(getattr(self, name)[rows], name)
        for name, values in told.items():
            records[name] = values
        return records.view(Rows)

    def _told(self, rows: slice) -> dict[str, Array]:
        """What records of rows say beside the fields."""
        return {} if self.part_a is None else {name: self.part_names(name, rows) for name in PART_FIELDS}

    @property
    def parts(self) -> tuple[str, ...]:
        """The names that ``part_a`` and ``part_b`` index; empty where no mesh of the query has names."""
        if self.part_a is None:
            return ()
        return tuple(self.info.get("parts", ()))

    def part_names(self, field: str, rows: slice = slice(None)) -> Array:
        """Names of the parts in ``"part_a"`` or ``"part_b"``, (len,) of str, empty where there is none; for
        some rows, those of these rows."""
        check_choice(field, "field", tuple(PART_FIELDS))
        codes = getattr(self, field)
        if codes is None:
            return np.full(self.__len__(), "")[rows]
        return names_of(as_numpy(codes[rows], field), self.parts)

    def of_part(self, name: str) -> Self:
        """The rows of a part of A or of B: those of its faces, and of their edges and vertices.

        Raises
        ------
        ValueError
            No row has a part of this name.
        """
        known = sorted({part for label in self.parts for part in label.split(JOINT)})
        if name not in known:
            has = ", ".join(map(repr, known)) or "no names; meshes have them from files, or from Mesh(parts=)"
            raise ValueError(f"name: expected a part of this result, got {name!r}; it has {has}")
        mine = np.array([name in label.split(JOINT) for label in self.parts] + [False])
        codes = (as_numpy(getattr(self, field), field) for field in PART_FIELDS)
        return self[np.logical_or(*(mine[of] for of in codes))]

    def _selected(self, rows: Array) -> Self:
        """The result with some of its rows, given by rising numbers."""
        if self.to_numpy() is not self:
            return self.to_numpy()._selected(rows)
        changed: dict[str, Any] = {name: getattr(self, name)[rows] for name in self._columns}
        if self._starts is not None:
            start, owner = self._starts
            count = len(getattr(self, start)) - 1
            changed[start] = starts_of(changed[owner], count)
            status = np.array(getattr(self, "status"))  # noqa: B009  no class has both it and no rows
            status[(status == Status.HIT) & (np.diff(changed[start]) == 0)] = Status.MISS
            changed["status"] = status
        return dataclasses.replace(self, **changed)  # type: ignore[type-var]  # subclasses are dataclasses

    def to_pandas(self, table: str | None = None, *, world: ArrayLike | None = None) -> Any:
        """A table as a ``pandas.DataFrame``; docs/tables.md lists the columns with their units.

        Parameters
        ----------
        table : str, optional
            Which table, if the result has several: for contacts ``"contacts"`` (the default) or ``"pairs"``.
            Any other name raises, and the message lists them.
        world : (n,) array_like of int, optional
            World of each body, as passed to the query: adds the column ``world``.

        Returns
        -------
        pandas.DataFrame
            Vectors are three columns, kinds and outcomes are categories; units are in ``attrs["units"]``.

        Raises
        ------
        MissingExtraError
            pandas is not installed (extra ``data``).
        """
        from gpu_collide.results import tables

        return tables.to_pandas(self, table, world)

    def to_arrow(self, table: str | None = None, *, world: ArrayLike | None = None) -> Any:
        """A table as a ``pyarrow.Table``; the fields' metadata tell unit and meaning.

        Parameters
        ----------
        table, world
            As for `to_pandas`.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        MissingExtraError
            pyarrow is not installed (extra ``data``).
        """
        from gpu_collide.results import tables

        return tables.to_arrow(self, table, world)

    def _repr_html_(self) -> str:
        from gpu_collide.results import tables

        return tables.html_of(self)

    def save(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        table: str | None = None,
        world: ArrayLike | None = None,
    ) -> None:
        """Write the whole result to a compressed ``.npz`` file, or a table to CSV, JSON or Parquet.

        Parameters
        ----------
        path : str, path-like or binary file
            A name that ends in ``.npz``, or has no suffix: then ``.npz`` is added. Only these files are read
            by `load`. ``.json`` is a table schema, which ``pandas.read_json(path, orient="table")`` reads.
        table, world
            As for `to_pandas`; not for ``.npz``, which holds the whole result.

        Raises
        ------
        TypeError
            Not a name or a file.
        ValueError
            A name with another suffix, or of a folder; a table or worlds for ``.npz``.
        MissingExtraError
            ``.parquet`` without pyarrow (extra ``data``).
        """
        _check_path(path, "write")
        target = save_name(path) if isinstance(path, (str, os.PathLike)) else path
        if isinstance(target, str):
            check_folder(target)
        if isinstance(target, str) and not target.endswith(".npz"):
            from gpu_collide.results import tables

            return tables.write(self, target, table, world)
        for name, value in (("table", table), ("world", world)):
            if value is not None:
                raise ValueError(
                    f"{name}: expected none for .npz, which holds the whole result; leave it out, or save to "
                    ".csv, .json or .parquet"
                )
        form = self._format
        arrays = {}
        for name, (dtype, _) in form.fields.items():
            value = getattr(self, name)
            if value is not None:
                arrays[name] = np.asarray(as_numpy(value, name), dtype)
        write_result(
            target, arrays, form.version_of(self), json.dumps(self.info, default=_to_json), form.kind
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str] | BinaryIO) -> Self:
        """Read a file written by `save` (as there, the suffix ``.npz`` may be left out).

        Everything is checked: that no array was damaged or exchanged after saving (by checksums, which only
        files of the first versions lack), dtypes, shapes, and that the values are possible. Files of all
        earlier versions are read.

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
        arrays, info, reader, version = read_result(path, wanted, form)
        try:
            found = cls(**arrays, info=info)  # type: ignore[call-arg]  # its subclasses are dataclasses
        except ValueError as error:  # lengths that do not agree
            name, _, reason = str(error).partition(": ")
            raise reader.damaged(name, reason) from error
        normals = normal_faults(arrays) if version < form.first_with_checksums else ()
        for name, reason in itertools.chain(
            array_faults(arrays, form.finite, cls._starts),
            part_faults(arrays, info.get("parts", ())),
            id_faults(info, arrays),
            form.faults(arrays),
            normals,
        ):
            raise reader.damaged(name, reason)
        return found


def made_by(info: Mapping[str, Any], *more: str) -> list[str]:
    """A line of ``repr``: backend, device, precision and `more` of a query; none where nothing is known."""
    made = [str(info[key]) for key in ("backend", "device", "precision", *more) if info.get(key)]
    return ["  made by   " + ", ".join(made)] if made else []


def counted(values: np.ndarray, names: type[enum.IntEnum]) -> str:
    """How many of each there are, in words; empty if there are none."""
    values = as_numpy(values, "values")
    return ", ".join(f"{(values == n).sum()} {n.name}" for n in names if (values == n).any())


def joined_info(parts: Sequence[Result]) -> dict[str, Any]:
    """The first part's info, with the timings and the filter tables of all of them added up."""
    timings: dict[str, float] = {}
    for part in parts:
        for stage, seconds in part.info.get("timings", {}).items():
            timings[stage] = timings.get(stage, 0.0) + seconds
    sums: dict[str, Any] = {"timings": timings} if timings else {}
    reports = [part.report for part in parts if part.report is not None]
    if reports:
        sums["report"] = sum(reports[1:], reports[0]).to_dict()
    return {**parts[0].info, **sums}


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
        return array.view(np.bool_) if dtype == np.bool_ and array.dtype == np.uint8 else array
    if type(array) is not np.ndarray:
        array = as_numpy(array, name)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if array.dtype == dtype and array.flags.c_contiguous:
        array = array.view()  # whoever made it may write to theirs
    else:
        array = np.ascontiguousarray(array, dtype=dtype).reshape(shape).view()
    array.setflags(False)  # a fifth of the price of ``flags.writeable``
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
