"""Reading and writing ``.npz`` files such that damage is detected and never loaded.

What zipfile, zlib and NumPy raise about a damaged file is one ``ValueError`` here that names the file and the
array. Every array is read to its end, so that the checksum of the archive is looked at, and a result carries
checksums of its own, which also notice arrays that were exchanged or replaced after it was saved.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends.host import host_memory_free, process_memory_free

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gpu_collide._types import Array, StrPath
    from gpu_collide.results.file_format import FileFormat

__all__ = ["NpzReader", "check_folder", "checksums", "open_npz", "read_result", "save_name", "write_result"]

_LARGE = 1 << 24  # bytes up to which nobody asks what memory is free, and that are read at once
_ZIP, _NPY = (b"PK\x03\x04", b"PK\x05\x06"), b"\x93NUMPY"


PLAIN = "Contacts"  # whose files say nothing of what they hold
SUFFIXES = (".npz", ".csv", ".json", ".parquet")  # of files that results are written to


def save_name(path: StrPath) -> str:
    """The file that a result named `path` goes to: ``.npz`` is added to a name without a suffix."""
    name = os.fsdecode(path)
    last = os.path.basename(name)
    taken = "\0" in name or (os.path.exists(name) and not os.path.isfile(name))  # a folder, a device
    if not last or taken:
        raise ValueError(f"path: expected a file name such as 'contacts.npz', got {name!r}")
    suffix = os.path.splitext(last)[1]
    if suffix not in ("", *SUFFIXES):
        raise ValueError(f"path: expected a name ending in {', '.join(SUFFIXES)}, got {name!r}")
    return name if suffix else name + ".npz"


def check_folder(name: str) -> None:
    """Raise ``FileNotFoundError`` if the folder that a file is to go to is not there."""
    folder = os.path.dirname(name)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"path: there is no folder {folder!r} for {name!r}; make it first")


class NpzReader:
    """An open ``.npz`` file; made by `open_npz`.

    Attributes
    ----------
    path : str or file
        For messages.
    names : tuple of str
        Its arrays.
    """

    def __init__(self, path: Any, archive: zipfile.ZipFile) -> None:
        self.path, self._archive = path, archive
        members = archive.namelist()
        self.names = tuple(name.removesuffix(".npy") for name in members)
        twice = {name for name in self.names if self.names.count(name) > 1} if len(members) < 1000 else ()
        if twice:
            raise self.damaged(min(twice), "it is there twice")

    def damaged(self, name: str, reason: object) -> ValueError:
        """The error that says that array `name` cannot be used."""
        return ValueError(f"path: {self.path} is damaged: {name}: {reason}")

    def check_names(self) -> None:
        """Raise ``ValueError`` if an array has another name in the archive's list than in its own place."""
        for name, member in zip(self.names, self._archive.infolist(), strict=True):
            try:
                self._archive.open(member).close()
            except Exception as error:
                raise self.damaged(name, error) from error

    def read(self, name: str) -> Array:
        """Array `name`; ``TypeError`` if it holds Python objects, ``ValueError`` if it is damaged, or holds
        more than the machine has memory for, of which nothing is read then."""
        try:
            info = self._archive.getinfo(name + ".npy")
            free = min(host_memory_free(), process_memory_free()) if info.file_size > _LARGE else _LARGE
            if info.file_size <= free:
                with self._archive.open(info) as file:
                    return _array_in(file, info.file_size)
        except (MemoryError, TypeError):
            raise
        except Exception as error:  # zipfile, zlib and NumPy's parser raise whatever they trip over
            reason = "the archive's list of it is wrong" if isinstance(error, KeyError) else error
            raise self.damaged(name, reason) from error
        raise ValueError(
            f"path: {self.path}: {name} takes {info.file_size / 1e9:.3g} GB in memory, and {free / 1e9:.3g} "
            "are free; read it on a larger machine, or have it written again if it should be small"
        )


def _array_in(file: Any, size: int) -> Array:
    """The array in an open ``.npy`` file of so many bytes, which takes its own memory and little besides."""
    version = np.lib.format.read_magic(file)
    readers: dict[tuple[int, ...], Any] = {
        (1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0,
    }  # fmt: skip
    read_header = readers.get(tuple(version))
    if read_header is None:
        raise ValueError(f"unknown version {version} of the .npy format")
    try:
        shape, fortran, dtype = read_header(file)
    except TypeError as error:
        raise ValueError(error) from error
    if dtype.hasobject:
        raise TypeError("Python objects")
    nbytes, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min(shape, default=0) < 0 or there != nbytes:
        raise ValueError(f"expected {nbytes} bytes for shape {shape}, got {there}")
    raw, at = np.empty(nbytes, np.uint8), 0
    while part := file.read(_LARGE):  # to the end, where its checksum is looked at
        raw[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    if at != nbytes:
        raise ValueError(f"expected {nbytes} bytes for shape {shape}, got {at}")
    raw.flags.writeable = False
    array = raw.view(dtype) if nbytes else np.zeros(math.prod(shape), dtype)
    return array.reshape(shape, order="F" if fortran else "C")


@contextlib.contextmanager
def open_npz(path: Any, wanted: str) -> Iterator[NpzReader]:
    """`NpzReader` of a path or binary file; `wanted` says in messages what was expected.

    What the operating system says about the path (``FileNotFoundError``, ``PermissionError``, ...) is left as
    it is.
    """
    wrong = f"path: expected {wanted}, got {path}"
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(path, "rb")) if isinstance(path, (str, os.PathLike)) else path
        try:
            begin = file.tell()
            head = file.read(6)
            file.seek(begin)
        except (AttributeError, io.UnsupportedOperation) as error:
            raise ValueError(
                f"{wrong}: an open file that cannot be searched; read it into io.BytesIO"
            ) from error
        if not isinstance(head, bytes):
            raise ValueError(f"{wrong}: a file opened as text; open it with mode 'rb'")
        if head == _NPY:
            raise ValueError(f"{wrong}: a single array")
        if head[:4] not in _ZIP:
            raise ValueError(f"{wrong}: not a NumPy file")
        try:
            archive = stack.enter_context(zipfile.ZipFile(file))
        except Exception as error:
            raise ValueError(f"{wrong}: damaged or cut short: {error}") from error
        yield NpzReader(path, archive)


def checksums(arrays: Mapping[str, Array]) -> str:
    """Text with a checksum of every array's dtype, shape and bytes, by name."""
    sums = {}
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest = hashlib.blake2b(f"{array.dtype.descr} {array.shape}".encode(), digest_size=16)
        digest.update(array.tobytes() if array.dtype.names else array.reshape(-1).view(np.uint8).data)
        sums[name] = digest.hexdigest()
    return json.dumps(sums)


def write_result(
    path: Any, arrays: Mapping[str, Array], version: int, info: str, kind: str | None = None
) -> None:
    """Write what `read_result` reads; `path` is a name as `save_name` gives it, or a binary file."""
    head = {"format_version": np.int64(version), "info": np.array(info)}
    if kind is not None:
        head["format_kind"] = np.array(kind)
    arrays = {**head, **arrays}
    named: dict[str, Any] = {"checksums": np.array(checksums(arrays)), **arrays}
    np.savez_compressed(path, **named)


def read_result(
    path: Any, wanted: str, form: FileFormat
) -> tuple[dict[str, Array], dict[str, Any], NpzReader, int]:
    """Arrays of a result and its info, with every dtype, shape and checksum as it was saved.

    Parameters
    ----------
    path : str, path-like or binary file
    wanted : str
        What was expected, for messages.
    form : FileFormat

    Returns
    -------
    arrays : dict
        By the names of today.
    info : dict
    reader : NpzReader
        For errors about values.
    found : int
        The version of the file.
    """
    if isinstance(path, (str, os.PathLike)):
        path = os.fsdecode(path)
        if not os.path.exists(path) and not path.endswith(".npz"):
            path += ".npz"
        if not os.path.exists(path):
            raise FileNotFoundError(f"path: there is no file {path!r}")
    with open_npz(path, wanted) as reader:
        heads = ["format_version", *(["format_kind"] if form.kind else []), "info"]
        of = _kind_in(reader)
        if of not in (None, form.kind or PLAIN, form.old_kind):
            raise ValueError(f"path: {path} was not written by {wanted.split()[-1]}: read it by {of}.load")
        old = {new: name for name, new in form.renamed.items() if new not in reader.names}
        wants = (*heads, *form.fields)
        missing = [n for n in wants if old.get(n, n) not in reader.names and n not in form.optional]
        if missing:
            raise ValueError(
                f"path: {path} was not written by {wanted.split()[-1]}: it lacks {', '.join(missing)}"
            )
        found = _typed(reader, "format_version", np.dtype(np.int64), ())
        if not 1 <= found <= form.version:
            raise ValueError(
                f"path: {path} has format {found}, this version reads 1 to {form.version}; a newer "
                "gpu_collide reads newer files"
            )
        arrays = {
            name: _typed(reader, there, *form.fields[name])
            for name in form.fields
            if (there := old.get(name, name)) in reader.names
        }
        text = _text(reader, "info")
        if found >= form.first_with_checksums:
            here = {name: reader.read(name) for name in heads}
            _check_sums(reader, here | {old.get(name, name): array for name, array in arrays.items()})
        try:
            info = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise reader.damaged("info", f"expected JSON, got {error}") from error
        if not isinstance(info, dict):
            raise reader.damaged("info", f"expected a JSON object, got {type(info).__name__}")
    return arrays, info, reader, int(found)


def _kind_in(reader: NpzReader) -> str | None:
    """The class whose result a file holds; None where it does not look like one."""
    if "format_kind" in reader.names:
        return _text(reader, "format_kind")
    return PLAIN if "contact_start" in reader.names and "status" in reader.names else None


def _typed(reader: NpzReader, name: str, dtype: Any, shape: tuple[int | None, ...]) -> Array:
    try:
        array = reader.read(name)
    except TypeError as error:
        raise reader.damaged(name, f"expected {dtype}, got {error}") from error
    if array.dtype.newbyteorder("=") != np.dtype(dtype):
        raise reader.damaged(name, f"expected {np.dtype(dtype)}, got {array.dtype}")
    fits = len(array.shape) == len(shape) and all(
        w is None or n == w for n, w in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = str(shape).replace("None", "n")
        raise reader.damaged(name, f"expected shape {wanted}, got {array.shape}")
    return array[()]


def _text(reader: NpzReader, name: str) -> str:
    array = reader.read(name)
    if array.dtype.kind != "U" or array.shape != ():
        raise reader.damaged(name, f"expected a text, got {array.dtype} of shape {array.shape}")
    try:
        return str(array)
    except ValueError as error:
        raise reader.damaged(name, error) from error


def _check_sums(reader: NpzReader, arrays: Mapping[str, Array]) -> None:
    if "checksums" not in reader.names:
        raise reader.damaged("checksums", "it is missing")
    try:
        saved = json.loads(_text(reader, "checksums"))
    except (ValueError, RecursionError) as error:
        raise reader.damaged("checksums", f"expected JSON, got {error}") from error
    now = json.loads(checksums(arrays))
    if not isinstance(saved, dict) or saved.keys() != now.keys():
        raise reader.damaged("checksums", "expected one of every array")
    for name, value in now.items():
        if saved[name] != value:
            raise reader.damaged(name, "it is not what was saved: its checksum differs")
