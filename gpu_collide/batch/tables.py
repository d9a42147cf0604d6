"""Tables of a run: those of single results, with the name of the recording before each row."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu_collide.results.encounters import Encounters
    from gpu_collide.results.events import TrafficEvents
    from gpu_collide.results.near_misses import NearMisses

    Seam = Encounters | NearMisses

__all__ = [
    "CONTACTS", "ERRORS", "NEAR_MISSES", "TABLES", "arrow", "errors_table", "events_table", "joined",
    "parquet_bytes", "seam", "seam_bytes", "table",
]  # fmt: skip

#: The questions that a run may ask of a recording.
CONTACTS, NEAR_MISSES = "contacts", "near_misses"


class _Table(NamedTuple):
    """A table that can be asked for.

    Attributes
    ----------
    asks : str
        The question whose answer it is of.
    name : str
        What the result calls it.
    seams : str or None
        Folder of what a stretch of a recording says of it, if its rows go on over the seams between two.
    order : tuple of str
        Columns by which rows of several shares of bodies are sorted.
    """

    asks: str
    name: str
    seams: str | None = None
    order: tuple[str, ...] = ()


TABLES: Mapping[str, _Table] = {
    "contacts": _Table(CONTACTS, "contacts"),
    "pairs": _Table(CONTACTS, "pairs"),
    "skipped": _Table(CONTACTS, "skipped"),
    "encounters": _Table(CONTACTS, "encounters", "seams", ("first_time", "body_a", "body_b", "first_step")),
    "near_misses": _Table(NEAR_MISSES, "passes", "near_seams", ("time", "body_a", "body_b", "step")),
}
"""What can be asked for."""

ERRORS = "errors"

_IDS = {"id", "id_a", "id_b"}

_ERROR_COLUMNS = {
    "recording": "its name", "path": "its file", "step": "first step of what was not done",
    "kind": "class of the error", "text": "what it says",
}  # fmt: skip


def arrow() -> Any:
    """pyarrow, or what to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("gpu_collide.batch", "pyarrow", "batch") from error
    return pyarrow


def table(found: Any, name: str, recording: str) -> Any:
    """Arrow table of the answer to its question, ``recording`` first."""
    of = found.encounters() if name == "encounters" else found
    return _named(of.to_arrow(TABLES[name].name), recording)


def _named(rows: Any, recording: str) -> Any:
    """Rows with the name of their recording; ids as texts, so that all recordings have them in one type."""
    pa = arrow()
    for name in _IDS & set(rows.column_names):
        at = rows.column_names.index(name)
        field = rows.schema.field(at).with_type(pa.string())
        rows = rows.set_column(at, field, rows.column(at).cast(pa.string()))
    names = pa.DictionaryArray.from_arrays(pa.array([0] * rows.num_rows, pa.int32()), pa.array([recording]))
    field = pa.field("recording", names.type, metadata={"unit": "", "says": "its name"})
    return rows.add_column(0, field, names)


def errors_table(rows: list[tuple[str, str, int, str, str]]) -> Any:
    pa = arrow()
    fields = [
        pa.field(name, pa.int64() if name == "step" else pa.string(), metadata={"unit": "", "says": what})
        for name, what in _ERROR_COLUMNS.items()
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def seam(name: str) -> type[Seam]:
    """The class of what the stretches of a recording say of a table whose rows go on over seams."""
    from gpu_collide.results.encounters import Encounters
    from gpu_collide.results.near_misses import NearMisses

    return Encounters if name == "encounters" else NearMisses


def joined(name: str, seams: list[list[Any]], recording: str) -> Any:
    """A table of a recording, sorted by time: rows of all stretches joined, of each share of bodies."""
    pa = arrow()
    shares = [seam(name).concatenate(blocks) for blocks in seams if blocks]
    rows = pa.concat_tables([share.to_arrow() for share in shares], promote_options="default")
    if len(shares) > 1:
        rows = rows.sort_by([(column, "ascending") for column in TABLES[name].order])
    return _named(rows, recording)


def seam_bytes(found: Any, name: str) -> bytes:
    """What a stretch says of a table, as its class reads it; nothing of when and where it was found."""
    of = found.encounters() if name == "encounters" else found
    kept = {key: value for key, value in of.info.items() if key in ("parts", "ids", "n_static")}
    file = io.BytesIO()
    dataclasses.replace(of, info=kept).save(file)
    return file.getvalue()


def events_table(found: TrafficEvents, recording: str) -> Any:
    """Arrow table of events, ``recording`` first."""
    return _named(found.to_arrow(), recording)


def parquet_bytes(rows: Any, about: Mapping[str, Any]) -> memoryview:
    """A Parquet file: the same rows and options give the same bytes."""
    pa = arrow()
    schema = dict(rows.schema.metadata or {})
    schema |= {b"gpu_collide." + k.encode(): json.dumps(v, sort_keys=True).encode() for k, v in about.items()}
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(
        rows.replace_schema_metadata(schema).unify_dictionaries(), sink, write_page_checksum=True
    )
    return memoryview(sink.getvalue())
