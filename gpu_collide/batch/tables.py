"""Tables of a run: those of single results, with the name of the recording before each row."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING

from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gpu_collide.results.encounters import Encounters
    from gpu_collide.results.events import TrafficEvents
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

__all__ = [
    "ERRORS",
    "TABLES",
    "arrow",
    "errors_table",
    "events_table",
    "joined",
    "parquet_bytes",
    "seam_bytes",
    "table",
]

TABLES: Mapping[str, Callable[[TrajectoryContacts], Any]] = {
    "contacts": lambda found: found,
    "pairs": lambda found: found,
    "skipped": lambda found: found,
    "encounters": lambda found: found.encounters(),
}
"""What can be asked for, and of which result each is a table."""

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


def table(found: TrajectoryContacts, name: str, recording: str) -> Any:
    """Arrow table of what was found, ``recording`` first."""
    return _named(TABLES[name](found).to_arrow(name), recording)


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


def joined(seams: list[list[Encounters]], recording: str) -> Any:
    """Encounters of a recording, sorted by time: those of all stretches joined, of each share of bodies."""
    from gpu_collide.results.encounters import Encounters

    pa = arrow()
    shares = [Encounters.concatenate(blocks) for blocks in seams if blocks]
    rows = pa.concat_tables([share.to_arrow() for share in shares])
    if len(shares) > 1:
        rows = rows.sort_by(
            [(name, "ascending") for name in ("first_time", "body_a", "body_b", "first_step")]
        )
    return _named(rows, recording)


def seam_bytes(found: TrajectoryContacts) -> bytes:
    """Encounters of a stretch, as `Encounters.load` reads them; nothing of when and where they were found."""
    met = found.encounters()
    kept = {name: value for name, value in met.info.items() if name in ("parts", "ids", "n_static")}
    file = io.BytesIO()
    dataclasses.replace(met, info=kept).save(file)
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
