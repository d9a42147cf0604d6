"""Built kernels on disk: a folder, a key, a file that appears whole or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import uuid
from pathlib import Path

__all__ = ["cache_dir", "cached", "digest"]

_fallback: dict[str, Path] = {}  # a private folder made by this process, by the folder it stands in for


def digest(*parts: str | bytes) -> str:
    """Key of a build: changes if any of `parts` does."""
    h = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:32]


def _writable(folder: Path, private: bool) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if private and hasattr(os, "getuid"):
            # Shared libraries are loaded from here: never from a folder that someone else could have filled.
            info = folder.lstat()
            if (
                info.st_uid != os.getuid()
                or stat.S_IMODE(info.st_mode) & 0o022
                or not stat.S_ISDIR(info.st_mode)
            ):
                return False
        probe = folder / f".probe-{uuid.uuid4().hex}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def cache_dir() -> Path:
    """Writable folder for built kernels.

    ``GPU_COLLIDE_CACHE``, else ``~/.cache/gpu_collide`` (``XDG_CACHE_HOME`` is heeded), else a folder of this
    user's own under the temporary directory, else a new temporary one for this process.
    """
    chosen = os.environ.get("GPU_COLLIDE_CACHE")
    if chosen:
        first = Path(chosen)
    else:
        try:
            first = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu_collide"
        except RuntimeError:  # no home directory
            first = Path(tempfile.gettempdir()) / "gpu_collide"
    if str(first) in _fallback:
        return _fallback[str(first)]
    if _writable(first, private=False):
        return first
    user = os.getuid() if hasattr(os, "getuid") else "user"
    second = Path(tempfile.gettempdir()) / f"gpu_collide-{user}"
    if not _writable(second, private=True):
        second = Path(tempfile.mkdtemp(prefix="gpu_collide-"))
    _fallback[str(first)] = second
    return second


def cached(name: str, make) -> Path:
    """Path of the cached file `name`; if it is not there ``make(path)`` writes it.

    ``make`` gets a path of its own, which is then moved into place in one step: processes that build at once
    each see either nothing or a whole file.
    """
    target = cache_dir() / name
    if target.is_file() and target.stat().st_size > 0:
        return target
    temporary = target.with_name(f".{uuid.uuid4().hex}-{target.name}")
    try:
        make(temporary)
        try:
            os.replace(temporary, target)
        except OSError:
            # Windows keeps a loaded library in place; another process then built the same thing first.
            if not target.is_file():
                raise
    finally:
        temporary.unlink(missing_ok=True)
    return target
