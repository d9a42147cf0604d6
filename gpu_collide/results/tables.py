"""Results as tables: columns of plain arrays, pandas, Arrow, and files in CSV, JSON and Parquet."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_int_array
from gpu_collide.errors import MissingExtraError
from gpu_collide.results.table_schema import TABLES, WORLD, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike

__all__ = [
    "TABLE_SUFFIXES",
    "check_suffix",
    "columns_of",
    "html_of",
    "text_of",
    "to_arrow",
    "to_pandas",
    "world_of_bodies",
    "write",
]

TABLE_SUFFIXES = (".csv", ".json", ".parquet")


def columns_of(
    result: Any, table: str | None = None, world: ArrayLike | None = None
) -> list[tuple[str, Column, Array]]:
    """Columns of a table of a result.

    Parameters
    ----------
    result : Result
    table : str, optional
        Which of its tables; default: its first.
    world : (n,) array_like of int, optional
        World of each body, as the query was given: adds the column ``world``.

    Returns
    -------
    list of (name, Column, values)
        Values are one-dimensional, with numbers in place of words.

    Raises
    ------
    ValueError
        There is no such table, or it has no bodies that could be in worlds.
    """
    tables = TABLES[type(result).__name__]
    name = next(iter(tables)) if table is None else table
    if name not in tables:
        names = " or ".join(repr(known) for known in tables)
        raise ValueError(f"table: expected {names}, the tables of {type(result).__name__}, got {table!r}")
    found = []
    for column in tables[name]:
        if column.there is not None and not column.there(result):
            continue
        values = column.values(result)
        if not column.parts:
            found.append((column.name, column, values))
        else:
            found += [(part, column, values[:, k]) for k, part in enumerate(column.names)]
    if world is None and "worlds" in result.info and any(name == "body_a" for name, _, _ in found):
        world = world_of_bodies(result.info)
    if world is not None:
        found.insert(0, (WORLD.name, WORLD, _worlds({n: v for n, _, v in found}, world)))
    return found


def _worlds(columns: Mapping[str, Array], world: Any) -> Array:
    """World of each row: that of A, or of B where A is in all."""
    if "body_a" not in columns:
        raise ValueError("world: expected none, since this table has no column body_a; leave it out")
    world = as_int_array(world, "world", shape=(None,))
    bodies = columns["body_a"], columns["body_b"]
    most = max((int(body.max()) for body in bodies if len(body)), default=-1)
    if most >= len(world):
        raise ValueError(f"world: expected a number for each body, {most + 1} or more, got {len(world)}")
    of_a, of_b = (world[body] for body in bodies)
    return np.where(of_a >= 0, of_a, of_b)


def world_of_bodies(info: dict[str, Any]) -> Array:
    """World of each body of a query whose poses had the shape ``(worlds, n)``."""
    if "worlds" not in info:
        raise ValueError(
            "world: expected the world of each body, as the query was given, got None; only of bodies whose "
            "poses had the shape (worlds, n) the result knows it by itself"
        )
    worlds, count = info["worlds"]
    return np.repeat(np.arange(worlds), count)


def _words(column: Column, values: Array) -> list[Any]:
    """Plain Python values, with words in place of their numbers."""
    if column.words is None:
        return values.tolist()
    names = {member.value: member.name for member in column.words}
    return [names[value] for value in values.tolist()]


def _units(columns: Iterable[tuple[str, Column, Array]]) -> dict[str, str]:
    return {name: column.unit for name, column, _ in columns if column.unit}


def to_pandas(result: Any, table: str | None = None, world: ArrayLike | None = None) -> Any:
    """A ``pandas.DataFrame``; units are in its ``attrs["units"]``, by column."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("to_pandas()", "pandas", "data") from error
    columns = columns_of(result, table, world)
    data = {}
    for name, column, values in columns:
        if isinstance(values, np.ma.MaskedArray):
            whole = values.dtype.kind == "i"
            data[name] = pandas.array(values.tolist(), "Int64") if whole else values.tolist()
        elif column.words is None:
            data[name] = values.copy()
        else:
            members = list(column.words)
            number = {member.value: k for k, member in enumerate(members)}
            codes = np.array([number[v] for v in values.tolist()], np.int8)
            data[name] = pandas.Categorical.from_codes(codes, [member.name for member in members])
    frame = pandas.DataFrame(data)
    frame.attrs["units"] = _units(columns)
    return frame


def to_arrow(result: Any, table: str | None = None, world: ArrayLike | None = None) -> Any:
    """A ``pyarrow.Table``; each field's metadata have its ``unit`` and what it ``says``."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("to_arrow()", "pyarrow", "data") from error
    fields, arrays = [], []
    for name, column, values in columns_of(result, table, world):
        if column.words is not None:
            array = pyarrow.array(_words(column, values), pyarrow.string()).dictionary_encode()
        elif values.dtype.kind == "U":
            array = pyarrow.array(values.tolist(), pyarrow.string())  # also where there are none
        elif isinstance(values, np.ma.MaskedArray):
            array = pyarrow.array(values.tolist(), pyarrow.from_numpy_dtype(values.dtype))
        else:
            array = pyarrow.array(np.ascontiguousarray(values))
        about = {"unit": column.unit, "says": column.what}
        fields.append(pyarrow.field(name, array.type, metadata=about))
        arrays.append(array)
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


def check_suffix(path: str) -> bool:
    """True if the name is that of a table, False if it is none; raises if what writes it is not installed."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("writing .parquet files", "pyarrow", "data") from error
    return suffix in TABLE_SUFFIXES


def write(result: Any, path: str, table: str | None = None, world: ArrayLike | None = None) -> None:
    """Write a table to a file, of the type that its suffix says."""
    check_suffix(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(to_arrow(result, table, world), path, write_page_checksum=True)
        return
    columns = columns_of(result, table, world)
    lists = [_words(column, values) for _, column, values in columns]
    with open(path, "w", encoding="utf-8", newline="") as file:
        if suffix == ".csv":
            file.write(",".join(name for name, _, _ in columns) + "\n")
            texts = [map(_csv, values) for values in lists]
            file.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))
        else:
            _write_json(file, columns, lists)


def _csv(value: Any) -> str:
    """A number that reads back as the same; nothing for what is not a number, or is not there."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else repr(value)
    if isinstance(value, str) and any(mark in value for mark in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


_JSON_TYPES = {"f": "number", "i": "integer", "u": "integer", "b": "boolean", "U": "string"}


def _write_json(file: Any, columns: Sequence[tuple[str, Column, Array]], lists: Sequence[list[Any]]) -> None:
    """A Table Schema with the rows behind it, as ``pandas.read_json(path, orient="table")`` takes it."""
    fields = []
    for name, column, values in columns:
        kind = "string" if column.words is not None else _JSON_TYPES[values.dtype.kind]
        fields.append({"name": name, "type": kind, "unit": column.unit, "description": column.what})
    names = [json.dumps(name) for name, _, _ in columns]
    file.write('{"schema": ' + json.dumps({"fields": fields}) + ',\n"data": [')
    for k, row in enumerate(zip(*lists, strict=True)):
        cells = ("null" if v != v else json.dumps(v) for v in row)
        file.write(
            (",\n" if k else "\n") + "{" + ", ".join(map(": ".join, zip(names, cells, strict=True))) + "}"
        )
    file.write("\n]}\n")


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _shown(columns: Sequence[tuple[str, Column, Array]], rows: int) -> tuple[list[str], list[list[str]]]:
    """Names and the first cells of columns."""
    return [name for name, _, _ in columns], [
        [_cell(v) for v in _words(column, values[:rows])] for _, column, values in columns
    ]


def text_of(columns: Sequence[tuple[str, Column, Array]], rows: int = 20) -> str:
    """Columns as lines of text, numbers to the right; of many rows the first."""
    names, cells = _shown(columns, rows)
    width = [max(map(len, [name, *column])) for name, column in zip(names, cells, strict=True)]
    lines = [
        "  ".join(text.rjust(w) for text, w in zip(row, width, strict=True))
        for row in (names, *zip(*cells, strict=True))
    ]
    count = len(columns[0][2])
    return "\n".join(lines + ([f"... {count - rows:,} more"] if count > rows else []))


def html_of(result: Any, rows: int = 10) -> str:
    """What notebooks show: the words of ``repr``, and the first rows of the first table."""
    text = f"<pre>{html.escape(repr(result))}</pre>"
    columns = columns_of(result)
    count = len(columns[0][2])
    if not count:
        return text
    names, cells = _shown(columns, rows)
    units = _units(columns)
    heads = "".join(
        f'<th title="{html.escape(column.what)}">{html.escape(name)}'
        + (f"<br><small>{html.escape(units[name])}</small></th>" if name in units else "</th>")
        for name, column, _ in columns
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*cells, strict=True)
    )
    more = f"<p>{count - rows:,} more rows: <code>to_pandas()</code></p>" if count > rows else ""
    return f"{text}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"
