"""Files that are there whole or not at all, whoever is killed, and the marks of items that are done."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = [
    "DONE", "PLAN", "crumbs", "done", "drop_crumb", "locked", "mark_of", "part",
    "read_crumb", "sha256", "there", "tried", "write",
]  # fmt: skip

PLAN = "plan.json"
DONE = "done"  # the marks
_WORK = ".work"  # files on their way; on the file system of the results, so that renaming them is one step


def part(table: str, item: int) -> str:
    """Name of what an item writes of a table, within the folder of the run."""
    suffix = ".json" if table == DONE else ".npz" if table.endswith("seams") else ".parquet"
    return f"{table}/part-{item:06d}{suffix}"


def there(out: Path) -> list[str]:
    """All files in the folder of a run but those on their way, by name."""
    names = (path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.startswith(_WORK + "/"))


def sha256(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def write(out: Path, files: Mapping[str, Any]) -> None:
    """Write files (name to bytes) so that each is there whole or not at all, and stays after a power cut."""
    ready = []
    try:
        for name, data in files.items():
            passing = out / _WORK / uuid.uuid4().hex
            ready.append((passing, out / name))
            with open(passing, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for passing, path in ready:
            os.replace(passing, path)
    finally:
        for passing, _ in ready:
            passing.unlink(missing_ok=True)
    for folder in {path.parent for _, path in ready}:
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def mark_of(item: int, tables: Mapping[str, tuple[int, Any]], failed: int) -> dict[str, Any]:
    """The mark of an item: of each table its rows, bytes and SHA-256."""
    files = {
        name: {"rows": rows, "bytes": len(data), "sha256": sha256(data)}
        for name, (rows, data) in tables.items()
    }
    return {"item": item, "failed": failed, "tables": files}


def done(out: Path) -> dict[int, dict[str, Any]]:
    """Marks by item; one whose files are missing or of another size is none."""
    found = {}
    for path in sorted((out / DONE).glob("part-*.json")):
        try:
            mark = json.loads(path.read_bytes())
            sizes = [
                (out / part(table, mark["item"])).stat().st_size == said["bytes"]
                for table, said in mark["tables"].items()
            ]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if all(sizes):
            found[mark["item"]] = mark
    return found


@contextlib.contextmanager
def crumbs(out: Path, item: int) -> Iterator[Callable[[int], None]]:
    """Function that notes which recording an item is at: what is read if its worker does not come back."""
    path = out / _WORK / f"at-{item}"
    with open(path, "wb", buffering=0) as file:

        def note(recording: int) -> None:
            file.seek(0)
            file.write(b"%12d" % recording)

        yield note
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def tried(out: Path, item: int) -> Iterator[bool]:
    """Whether this item was begun before and did not end, as if its process had."""
    path = out / _WORK / f"tried-{item}"
    before = path.exists()
    path.touch()
    yield before
    path.unlink(missing_ok=True)


def read_crumb(out: Path, item: int) -> int | None:
    """The recording that an item was at when it ended; None: at none."""
    try:
        return int((out / _WORK / f"at-{item}").read_text("ascii"))
    except (OSError, ValueError):
        return None


def drop_crumb(out: Path, item: int) -> None:
    """Forget what an earlier try of an item has noted."""
    (out / _WORK / f"at-{item}").unlink(missing_ok=True)


@contextlib.contextmanager
def locked(out: Path, folders: Any) -> Iterator[None]:
    """The folder of a run made, and kept from other runs until this one ends, even if it is killed."""
    for folder in (_WORK, DONE, *folders):
        (out / folder).mkdir(parents=True, exist_ok=True)
    with open(out / _WORK / "lock", "w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(
                f"out: another run is writing to {str(out)!r}; wait for it or stop it first"
            ) from None
        except (ImportError, OSError):  # Windows, and file systems without locks
            pass
        try:
            yield
        finally:
            shutil.rmtree(out / _WORK, ignore_errors=True)
