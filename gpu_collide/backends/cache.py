"""Built kernels on disk. They run in this process, so only what this user wrote is taken, and only whole.

A folder is trusted if it belongs to this user or to root and nobody else can write to it; a file in it by the
same rule, and by a checksum of its name and contents at its end. Both are looked at through open descriptors,
never by name twice, so that it does not matter who may rename the folders above. What is read is handed on as
bytes: a file that is damaged or cut short later harms nobody (docs/decisions/0017-trusted-cache.md).
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_collide._calls import warn_caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from typing_extensions import Self

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "build_folders", "cache_dir", "cached", "digest", "folders", "found", "keep", "private_file",
    "safe_by_name", "scratch_folder",
]  # fmt: skip

_MARK = b"\ngpu_collide/sha256\n"
_LARGEST = 1 << 30  # bytes of a cached file; what is larger is none of ours
_POSIX = os.name == "posix" and hasattr(os, "getuid")
TURN_SECONDS = 180  # that a process waits for another to build what both want
_private: dict[int, Path] = {}  # this process's own folder, by process number: a forked child makes another
_absolute: dict[str, Path] = {}  # GPU_COLLIDE_CACHE as first seen: a later chdir does not move it
_warned: set[str] = set()


def digest(*parts: str | bytes) -> str:
    """Key of a build: changes if any of `parts` does."""
    h = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:32]


# -- folders -------------------------------------------------------------------------------------------------
def _named_folders() -> list[Path]:
    """Where built kernels are kept, if the folders can be trusted: the one chosen, then one among the
    temporary files."""
    chosen = os.environ.get("GPU_COLLIDE_CACHE")
    user = os.getuid() if _POSIX else "user"
    others = [folder / f"gpu_collide-{user}" for folder in _temporary()]
    if chosen:
        return [_absolute.setdefault(chosen, Path(os.path.abspath(os.path.expanduser(chosen)))), *others]
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):  # a relative one is to be ignored, says the standard that names it
        return [Path(home) / "gpu_collide", *others]
    try:
        return [Path.home().absolute() / ".cache" / "gpu_collide", *others]
    except RuntimeError:  # no home directory
        return others


def _temporary() -> list[Path]:
    try:
        return [Path(tempfile.gettempdir()).absolute()]
    except OSError:  # no folder that takes even a few bytes
        return []


def _why_not(info: os.stat_result) -> str:
    """Why something of this owner and mode is not trusted; empty if it is."""
    if not _POSIX:
        return ""
    if info.st_uid not in (os.getuid(), 0):
        return f"it belongs to user {info.st_uid}"
    if stat.S_IMODE(info.st_mode) & 0o022:
        return f"others may write to it (mode {stat.S_IMODE(info.st_mode):o})"
    return ""


class _Folder:
    """A trusted folder, held open while it is used; raises OSError if it cannot be had or trusted."""

    def __init__(self, path: Path, make: bool = True) -> None:
        self.path = Path(os.path.realpath(path))
        if make:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd = None
        if _POSIX:
            self._fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            if why := _why_not(os.fstat(self._fd)):
                os.close(self._fd)
                _warn(f"nothing is loaded from {self.path}, because {why}")
                raise PermissionError(why)
        elif not self.path.is_dir():
            raise NotADirectoryError(str(self.path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def _open(self, name: str, flags: int, mode: int = 0o600) -> int:
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        if self._fd is None:
            return os.open(self.path / name, flags, mode)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode, dir_fd=self._fd)

    def read(self, name: str) -> bytes:
        """Contents of a file that this user or root wrote; OSError if it is another's."""
        fd = self._open(name, os.O_RDONLY)
        with os.fdopen(fd, "rb") as file:
            info = os.fstat(fd)
            why = "it is no file" if not stat.S_ISREG(info.st_mode) else _why_not(info)
            if why or info.st_size > _LARGEST:
                raise PermissionError(f"{self.path / name}: {why or 'too large'}")
            return file.read(_LARGEST)

    def write(self, name: str, data: bytes) -> None:
        """Write a file that appears whole or not at all, also if the machine stops meanwhile."""
        temporary = f".{uuid.uuid4().hex}-{name}"
        fd = self._open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(fd, "wb", buffering=0) as file:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                os.fsync(file.fileno())
            if self._fd is None:
                os.replace(self.path / temporary, self.path / name)
            else:
                os.replace(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(temporary)
            raise
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._fd)

    def lock(self, name: str, stack: contextlib.ExitStack) -> None:
        """Have a file called `name` locked, or `TURN_SECONDS` waited for it, until `stack` ends."""
        fd = self._open(name, os.O_RDWR | os.O_CREAT)
        stack.callback(os.close, fd)
        until = time.monotonic() + TURN_SECONDS
        while time.monotonic() < until:
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
                time.sleep(0.02)
            else:
                stack.callback(self.remove_if_there, name)
                return

    def remove_if_there(self, name: str) -> None:
        """Remove a file that another process may have removed."""
        with contextlib.suppress(OSError):
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        if self._fd is None:
            os.unlink(self.path / name)
        else:
            os.unlink(name, dir_fd=self._fd)


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warn_caller(f"{text}; chmod 700 it if it is yours, or set GPU_COLLIDE_CACHE to a folder of your own")


def _private_folder() -> Path:
    """A folder of this process alone, removed when it ends."""
    pid = os.getpid()
    if pid not in _private or not _private[pid].is_dir():
        for parent in [*_temporary(), *_named_folders()]:
            with contextlib.suppress(OSError):
                path = Path(tempfile.mkdtemp(prefix="gpu_collide-", dir=parent))  # mode 0700
                atexit.register(_remove_private, pid, path)
                if safe_by_name(path):
                    _private[pid] = path
                    break
        else:
            raise PermissionError("there is no folder for temporary files that others cannot write to")
    return _private[pid]


def _remove_private(pid: int, path: Path) -> None:
    if os.getpid() == pid:
        shutil.rmtree(path, ignore_errors=True)


def cache_dir() -> Path:
    """A trusted folder that can be written, for what other libraries keep.

    ``GPU_COLLIDE_CACHE``, else ``~/.cache/gpu_collide`` (``XDG_CACHE_HOME`` is heeded), else a folder of this
    user's own under the temporary directory, else a new temporary one for this process.
    """
    for path in _named_folders():
        if not _refused(path) and safe_by_name(real := Path(os.path.realpath(path))):
            return real
    return _private_folder()


def _refused(path: Path) -> str:
    """Why a folder cannot be trusted or written to; empty if it can."""
    try:
        with _Folder(path) as folder:
            probe = f".probe-{uuid.uuid4().hex}"
            folder.write(probe, b"")
            folder.remove(probe)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def folders() -> list[tuple[Path, str]]:
    """Where built kernels are kept, in the order in which that is tried, and why not; empty if they are."""
    return [(path, _refused(path)) for path in _named_folders()]


def safe_by_name(path: Path) -> bool:
    """Whether a folder, made if it is not there, can be trusted by those who look at its name alone: nobody
    else can write to it, nor rename it or any folder above."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        real = Path(os.path.realpath(path))
        if _why_not(real.stat()):
            return False
        return all(not _why_not(s) or s.st_uid == 0 and s.st_mode & stat.S_ISVTX
                   for s in (parent.stat() for parent in real.parents))  # fmt: skip
    except OSError:
        return False


def build_folders() -> list[Path]:
    """Folders to build in, on different disks as far as may be: the next is for when one is full."""
    found = []
    for path in _named_folders():
        with contextlib.suppress(OSError), _Folder(path) as folder:
            found.append(folder.path)
    return found + _temporary() + [path for path in (Path("/dev/shm"),) if path.is_dir()]


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[_Folder]:
    """A fresh folder of this user alone in `parent`, as a `_Folder`; removed afterwards."""
    path = tempfile.mkdtemp(prefix=".build-", dir=parent)
    try:
        with _Folder(Path(path), make=False) as folder:
            yield folder
    finally:
        shutil.rmtree(path, ignore_errors=True)


# -- files ---------------------------------------------------------------------------------------------------
def _seal(name: str, data: bytes) -> bytes:
    return _MARK + hashlib.sha256(name.encode() + b"\0" + data).digest()


def _load(path: Path, name: str) -> bytes | None:
    """Contents of the cached file `name`, or None if it is not there, not whole, or another's."""
    try:
        with _Folder(path, make=False) as folder:
            whole = folder.read(name)
    except OSError:
        return None
    cut = len(whole) - len(_MARK) - 32
    data = whole[: max(cut, 0)]
    return data if data and whole[cut:] == _seal(name, data) else None


def keep(name: str, data: bytes) -> None:
    """Write `data` where a later process looks for it, if there is such a place and room in it."""
    for path in _named_folders():
        try:
            with _Folder(path) as folder:
                folder.write(name, data + _seal(name, data))
                return
        except OSError:
            continue


def cached(name: str, make: Callable[[], bytes], use: Callable[[bytes], Any]) -> Any:
    """What ``use(data)`` returns for the bytes called `name`, which ``make()`` builds if no cache has them.

    What is found but not whole, or refused by `use`, is built anew; what `use` refuses is never kept. Where
    several processes want the same at the same time, one builds it and the others wait. Without any folder to
    keep it in, it is built in every process.
    """
    there, used = found(name, use)
    if there:
        return used
    with _turn(name):
        there, used = found(name, use)  # another process may have built it meanwhile
        if not there:
            data = make()
            used = use(data)
            keep(name, data)
        return used


def found(name: str, use: Callable[[bytes], Any]) -> tuple[bool, Any]:
    """Whether a cache has the bytes called `name` that `use` does not refuse, and what it makes of them."""
    for path in _named_folders():
        data = _load(path, name)
        if data is not None:
            try:
                return True, use(data)
            except Exception:  # from a machine or a compiler that is no more
                continue
    return False, None


@contextlib.contextmanager
def _turn(name: str) -> Iterator[None]:
    """To be held by the process that builds `name`.

    It only spares work: where no folder has the lock, or it takes longer than `TURN_SECONDS`, one goes on
    without. It is a record lock, which ends with its process and which a forked child does not inherit.
    """
    with contextlib.ExitStack() as stack:
        for path in _named_folders() if fcntl else []:
            with contextlib.suppress(OSError):
                folder = stack.enter_context(_Folder(path))
                folder.lock(f".lock-{name}", stack)
                break
        yield


def private_file(name: str, data: bytes) -> Path:
    """Path of a file with `data`, for libraries that load by name alone, until this process ends."""
    path = _private_folder() / f"{uuid.uuid4().hex}-{name}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    return path
