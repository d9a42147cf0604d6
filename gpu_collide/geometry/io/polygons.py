"""Polygons as OBJ, OFF and PLY files hold them, before any triangulation.

Each reader returns the vertices (n, 3) of the file and its faces as loops of vertex numbers, both in the
order of the file: CSR ``start`` (m + 1,) and ``corners`` (L,), int64; and what the part of each face is
called, or None. A damaged file raises ``ValueError``
with the line or element that is wrong. Colours, normals,
textures and materials are passed over.
"""

from __future__ import annotations

import itertools
import re
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, StrPath

__all__ = ["read_polygons", "READERS"]


def read_polygons(path: StrPath, suffix: str) -> tuple[Array, Array, Array, list[str] | None]:
    """Vertices, start, corners and names of the file `path`, whose format is that of `suffix`, a key of
    `READERS`."""
    with open(path, "rb") as file:
        raw = file.read()
    vertices, start, corners, names = READERS[suffix](raw)
    if len(start) == 1:
        raise ValueError("it holds no faces; export it with its surface")
    wrong = np.flatnonzero((corners < 0) | (corners >= len(vertices)))
    if len(wrong):
        face = int(np.searchsorted(start, wrong[0], side="right")) - 1
        counted = ""
        if corners.min() == 1 and corners.max() == len(vertices):
            counted = (
                f"; are its faces counted from 1? {suffix[1:].upper()} counts from 0: subtract 1 from them"
            )
        raise ValueError(
            f"face {face} names a vertex that is not among the {len(vertices)} of the file{counted}"
        )
    if corners.dtype.kind not in "iu":
        raise ValueError("expected whole numbers of vertices in its faces")
    return vertices, start, corners.astype(np.int64), names


def _read_obj(raw: bytes) -> tuple[Array, Array, Array, list[str] | None]:
    """Wavefront OBJ: ``v`` and ``f`` lines; numbers from 1, or negative and counted back from the line. Parts
    are objects (``o``) and groups (``g``)."""
    text = raw.decode("utf-8", errors="replace").replace("\\\r\n", " ").replace("\\\n", " ")
    places, loops, names = [], [], []
    object_name = group = name = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if words and words[0] in ("o", "g"):
            said = " ".join(words[1:])
            if words[0] == "o":
                object_name, group = said, ""
            else:
                group = "" if said == "default" else said
            name = "/".join(filter(None, (object_name, group)))
        if not words or words[0] not in ("v", "f", "fo"):
            continue
        try:
            if words[0] == "v":
                x, y, z = words[1:4]
                places.append((float(x), float(y), float(z)))
            else:
                loop = [int(word.split("/", 1)[0]) for word in words[1:]]
                if 0 in loop:
                    raise ValueError
                loops.append([k - 1 if k > 0 else len(places) + k for k in loop])
                names.append(name)
        except ValueError:
            form = "three numbers" if words[0] == "v" else "vertex numbers that are not 0"
            if "," in line:
                form += " without commas (decimals stand behind a point)"
            raise ValueError(f"line {number}: expected {form}, got {line.strip()[:60]!r}") from None
    return np.array(places, np.float64).reshape(-1, 3), *_csr(loops), names


def _read_off(raw: bytes) -> tuple[Array, Array, Array, None]:
    """OFF, also with colours (COFF), normals (NOFF) and texture coordinates (STOFF): a row a line."""
    lines = [line.split(b"#", 1)[0].split() for line in raw.splitlines()]
    rows = [line for line in lines if line]
    head = re.fullmatch(rb"(ST)?C?N?OFF", rows[0][0].upper()) if rows else None
    if head is None or rows[0][1:2] == [b"BINARY"]:
        raise ValueError("expected a text file that begins with OFF")
    rows[0] = rows[0][1:]  # counts may stand beside the header
    rows = rows if rows[0] else rows[1:]
    try:
        n_vertices, n_faces = (int(word) for word in rows[0][:2])
    except (IndexError, ValueError):
        raise ValueError("expected the numbers of vertices and faces below OFF") from None
    if n_vertices < 0 or n_faces < 0 or len(rows) < 1 + n_vertices + n_faces:
        raise ValueError(
            f"expected {n_vertices} vertices and {n_faces} faces in lines of their own, got "
            f"{len(rows) - 1} lines"
        )
    vertices, faces = rows[1 : 1 + n_vertices], rows[1 + n_vertices : 1 + n_vertices + n_faces]
    places = [_numbers(row[:3], 3, float, f"vertex {k}") for k, row in enumerate(vertices)]
    loops = []
    for k, row in enumerate(faces):
        (count,) = _numbers(row[:1], 1, int, f"face {k}")
        loops.append(_numbers(row[1 : 1 + count] if count >= 0 else [], count, int, f"face {k}"))
    return np.array(places, np.float64).reshape(-1, 3), *_csr(loops), None


def _numbers(words: Any, count: int, kind: Any, what: str) -> list[Any]:
    try:
        numbers = [kind(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise ValueError(f"{what}: expected {count} numbers, got {b' '.join(words).decode('latin-1')[:60]!r}")
    return numbers


_PLY_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
_PLY_ORDERS = {"ascii": None, "binary_little_endian": "<", "binary_big_endian": ">"}
_PLY_PARTS = ("part", "group", "object", "label")
_PLY_LOOPS = ("vertex_indices", "vertex_index")


def _read_ply(raw: bytes) -> tuple[Array, Array, Array, list[str] | None]:
    """PLY, as text or binary of either byte order: the elements ``vertex`` and ``face``. Parts are the whole
    numbers in a property of faces of one of the usual names."""
    order, elements, begin = _ply_header(raw)
    body = raw[begin:].split() if order is None else memoryview(raw)[begin:]
    at, found = 0, {}
    for name, count, properties in elements:
        if not properties:
            continue
        read = _ply_text if order is None else _ply_binary
        columns, at = read(body, at, name, count, properties, order)
        found[name] = columns
        if {"vertex", "face"} <= found.keys():
            break
    if "face" not in found:
        what = " but triangle strips; save it with faces" if "tristrips" in found else ""
        raise ValueError("it holds no faces" + (what or "; export it with its surface"))
    missing = [axis for axis in "xyz" if axis not in found.get("vertex", ())]
    if missing:
        raise ValueError(
            f"its vertices have no property {missing[0]!r}; export it with x, y and z of each vertex"
        )
    loops = next((found["face"][name] for name in _PLY_LOOPS if name in found["face"]), None)
    if loops is None:
        raise ValueError(f"its faces have no list {_PLY_LOOPS[0]!r}")
    vertices = np.stack([np.asarray(found["vertex"][axis], np.float64) for axis in "xyz"], axis=1)
    names = None
    for column in _PLY_PARTS:
        numbers = found["face"].get(column, ())
        if names is None and not isinstance(numbers, tuple) and np.asarray(numbers).dtype.kind in "iu":
            names = [f"{column} {number}" for number in np.asarray(numbers).tolist()]
    return vertices, *loops, names


def _ply_header(raw: bytes) -> Any:
    """Byte order (None: text), elements ``(name, count, [(property, type, type of the count or None)])`` and
    where the data begins."""
    end = re.search(rb"^end_header[ \t]*(\r\n|\n|\r)", raw, re.M)
    if not raw.startswith(b"ply") or end is None:
        raise ValueError("expected a header from 'ply' to 'end_header'")
    order: str | None = ""
    elements: list[Any] = []
    for line in raw[: end.start()].decode("ascii", errors="replace").splitlines()[1:]:
        words = line.split()
        try:
            if words and words[0] == "format":
                order = _PLY_ORDERS[words[1]]
            elif words and words[0] == "element":
                elements.append((words[1], int(words[2]), []))
                if elements[-1][1] < 0:
                    raise ValueError
            elif words and words[0] == "property":
                listed = words[1] == "list"
                name, kind = words[4 if listed else 2], _PLY_TYPES[words[3 if listed else 1]]
                elements[-1][2].append((name, kind, _PLY_TYPES[words[2]] if listed else None))
                if listed and "f" in elements[-1][2][-1][2]:
                    raise ValueError
        except (IndexError, KeyError, ValueError):
            raise ValueError(f"cannot read the line {line.strip()[:60]!r} of its header") from None
    if order == "":
        raise ValueError("its header does not say the format")
    return order, elements, end.end()


def _ply_binary(body: Any, at: int, name: str, count: int, properties: Any, order: str) -> tuple[Any, int]:
    """Columns of an element of a binary file, and where the next begins.

    A list becomes ``(start, values)``. If all rows have as long lists as the first one, they are read at
    once; the others row by row.
    """
    lengths: list[int] = []
    try:
        if count:
            _, lengths = _ply_row(body, at, properties, order)
        fields: list[Any] = []
        for k, (_, kind, counted) in enumerate(properties):
            length = lengths[k] if counted and count else 0
            fields += [(f"n{k}", order + counted)] if counted else []
            fields.append((f"v{k}", order + kind, (length,) if counted else ()))
        rows = np.frombuffer(body, np.dtype(fields), count, at)
        if all((rows[f"n{k}"] == lengths[k]).all() for k, p in enumerate(properties) if p[2] and count):
            columns = {
                p[0]: _rectangle(rows[f"v{k}"]) if p[2] else rows[f"v{k}"] for k, p in enumerate(properties)
            }
            return columns, at + rows.nbytes
    except ValueError:
        pass  # cut short, or shorter rows than the first one: the loop below finds which
    table = []
    for k in range(count):
        try:
            values, lengths = _ply_row(body, at, properties, order)
        except ValueError:
            raise ValueError(f"it ends within {name} {k} of {count}: it is damaged or cut short") from None
        table.append(values)
        at += sum(
            np.dtype(kind).itemsize * (n if counted else 1) + (np.dtype(counted).itemsize if counted else 0)
            for n, (_, kind, counted) in zip(lengths, properties, strict=True)
        )
    return _ply_columns(table, properties), at


def _ply_row(body: bytes, at: int, properties: Any, order: str) -> tuple[list[Any], list[int]]:
    """Values of one row, and the lengths of its lists (1 for a single number)."""
    values, lengths = [], []
    for _, kind, counted in properties:
        length = 1
        if counted:
            length = int(np.frombuffer(body, order + counted, 1, at)[0])
            at += np.dtype(counted).itemsize
        if not 0 <= length <= len(body):
            raise ValueError
        value = np.frombuffer(body, order + kind, length, at) if length else np.zeros(0, kind)
        at += value.nbytes
        values.append(value if counted else value[0])
        lengths.append(length)
    return values, lengths


def _ply_text(words: Any, at: int, name: str, count: int, properties: Any, order: str) -> tuple[Any, int]:
    """Columns of an element of a text file, as `_ply_binary` gives them."""
    stop = at + count * len(properties)
    if not any(counted for _, _, counted in properties) and stop <= len(words):
        try:
            numbers = np.array(words[at:stop], np.float64).reshape(count, len(properties))
            return {p[0]: numbers[:, k] for k, p in enumerate(properties)}, stop
        except ValueError:
            pass  # the loop below finds which is wrong
    table = []
    for k in range(count):
        row = []
        try:
            for _, kind, counted in properties:
                length = 1
                if counted:
                    length, at = int(words[at]), at + 1
                if length < 0 or at + length > len(words):
                    raise IndexError
                number = float if kind[0] == "f" else int
                values = [number(word) for word in words[at : at + length]]
                at += length
                row.append(values if counted else values[0])
        except (IndexError, ValueError):
            raise ValueError(
                f"expected numbers for {name} {k} of {count}: it is damaged or cut short"
            ) from None
        table.append(row)
    return _ply_columns(table, properties), at


def _ply_columns(table: Any, properties: Any) -> dict[str, Any]:
    columns = {}
    for k, (name, _, counted) in enumerate(properties):
        column = [row[k] for row in table]
        columns[name] = _csr(column) if counted else column
    return columns


def _rectangle(rows: Array) -> tuple[Array, Array]:
    """CSR of loops that all have one length."""
    start = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return start, rows.reshape(-1)


def _csr(loops: Any) -> tuple[Array, Array]:
    """CSR of a list of loops."""
    counts = np.fromiter((len(loop) for loop in loops), np.int64, len(loops))
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    corners = list(itertools.chain.from_iterable(loops))
    if corners and max(map(abs, corners)) > sys.maxsize:
        raise ValueError("a face names a vertex number beyond 64 bits")
    return start, np.array(corners) if corners else np.zeros(0, np.int64)


READERS = {".obj": _read_obj, ".off": _read_off, ".ply": _read_ply}
