"""The machine's C compiler: which one it is, and running it with a time limit."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from gpu_collide._calls import warn_caller
from gpu_collide.backends.cache import build_folders, scratch_folder
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "INSTALL_HINT", "Abort", "Compiler", "abort_by", "compile_shared", "compilers", "extra_flags",
    "find_compiler",
]  # fmt: skip

INSTALL_HINT = (
    "install a C compiler (Debian/Ubuntu: apt install gcc; macOS: xcode-select --install; "
    "anywhere: pip install ziglang)"
)
VERSION_SECONDS = 20  # for a compiler to say its version
COMPILE_SECONDS = 600  # to compile the kernels, which takes some 20 on a usual machine
ROOM = 8 << 20  # bytes that a disk must take for a failed build to be the compiler's own fault


def find_compiler() -> tuple[list[str], str]:
    """Command of a C compiler and its version text.

    Tried in this order: ``$CC``, ``cc``, ``gcc``, ``clang``, the PyPI package ``ziglang``.

    Raises
    ------
    BackendUnavailableError
        None of them runs.
    """
    return _find_compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


class Compiler(NamedTuple):
    """One that is looked for: how it is called, its command, its version text; and if that is empty, why."""

    name: str
    command: list[str]
    version: str
    why_not: str


def compilers() -> Iterator[Compiler]:
    """The C compilers that are looked for, in their order; each is run when it is its turn."""
    if (cc := os.environ.get("CC", "")).strip():
        yield Compiler(f"$CC={cc}", *_chosen(cc))
    for name in ("cc", "gcc", "clang"):
        yield Compiler(name, [name], *(_version([name]) if shutil.which(name) else ("", "is not there")))
    command = [sys.executable, "-m", "ziglang", "cc"]
    yield Compiler("ziglang", command, *(_version(command) if _has_ziglang() else ("", "is not installed")))


@lru_cache(maxsize=8)
def _find_compiler(cc: str, _path: str) -> tuple[list[str], str]:
    why_not = ""
    for found in compilers():
        if found.version:
            return found.command, found.version
        if found.name.startswith("$CC"):
            why_not = f"the C compiler that $CC names, {cc!r}, {found.why_not}"
            warn_caller(f"{why_not}; trying cc, gcc, clang and ziglang")
    why_not = f" ({why_not})" if why_not else ""
    raise BackendUnavailableError(
        f"no C compiler found ($CC, cc, gcc, clang, ziglang); {INSTALL_HINT}{why_not}"
    )


def _chosen(cc: str) -> tuple[list[str], str, str]:
    """Command, version and what is wrong of the compiler that ``$CC`` names."""
    try:
        command = shlex.split(cc)
    except ValueError as error:
        return [], "", f"cannot be read as a command: {error}"
    if not shutil.which(command[0]):
        return command, "", "does not run: there is no such command"
    return command, *_version(command)


def _has_ziglang() -> bool:
    from importlib.util import find_spec

    return find_spec("ziglang") is not None


def _version(command: list[str]) -> tuple[str, str]:
    """What ``--version`` says, and if nothing, why."""
    try:
        code, out, err = run([*command, "--version"], VERSION_SECONDS)
    except subprocess.TimeoutExpired:
        return "", f"does not run: it said no version within {VERSION_SECONDS} s"
    except OSError as error:
        return "", f"does not run: {error}"
    if code == 0 and out.strip():
        return out, ""
    return "", f"does not run: --version ended with {code}: {(err or out).strip()[:200]}"


def extra_flags() -> list[str]:
    """Flags in ``GPU_COLLIDE_CFLAGS``, such as ``-fsanitize=address,undefined -g``."""
    text = os.environ.get("GPU_COLLIDE_CFLAGS")
    return list(_split_flags(text)) if text else []


@lru_cache(maxsize=4)
def _split_flags(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BackendUnavailableError(
            f"GPU_COLLIDE_CFLAGS cannot be read as flags: {error}, got {text!r}; correct it or unset it"
        ) from None


def compile_seconds() -> float:
    """Seconds that the compiler may take: ``GPU_COLLIDE_COMPILE_SECONDS``, else `COMPILE_SECONDS`."""
    text = os.environ.get("GPU_COLLIDE_COMPILE_SECONDS", "").strip()
    try:
        seconds = float(text or COMPILE_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise BackendUnavailableError(
            f"GPU_COLLIDE_COMPILE_SECONDS must be a number of seconds, got {text!r}"
        )
    return seconds


class Abort:
    """Ends the compilers of the threads that run under it (`abort_by`), once and for all."""

    def __init__(self) -> None:
        self.over = False
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()

    def now(self) -> None:
        """End what runs, and whatever begins later."""
        with self._lock:
            self.over = True
            for process in self._running:
                _end(process)

    def begins(self, process: subprocess.Popen) -> None:
        """`process` runs from now on."""
        with self._lock:
            self._running.add(process)
            if self.over:
                _end(process)

    def ended(self, process: subprocess.Popen) -> None:
        """`process` has ended."""
        with self._lock:
            self._running.discard(process)


_mine = threading.local()


@contextlib.contextmanager
def abort_by(abort: Abort) -> Iterator[None]:
    """What this thread compiles meanwhile is ended by ``abort.now()``."""
    _mine.abort = abort
    try:
        yield
    finally:
        _mine.abort = None


def _end(process: subprocess.Popen) -> None:
    """End a process and those it started."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _started(command: list[str], **options: Any) -> subprocess.Popen:
    """A running process, started by a thread of its own: Ctrl-C reaches the main thread, and there could come
    between the start and our knowing of it."""
    made: list[subprocess.Popen | BaseException] = []

    def start() -> None:
        try:
            with _spawning:
                made.append(subprocess.Popen(command, **options))
        except BaseException as error:
            made.append(error)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    interrupted: BaseException | None = None
    while not made:
        try:
            thread.join()
        except BaseException as error:
            interrupted = error
    process = made[0]
    if isinstance(process, BaseException):
        raise interrupted or process
    if interrupted:
        _end(process)
        process.wait()
        raise interrupted
    return process


def run(command: list[str], seconds: float, text: str = "", **options: Any) -> tuple[int, str, str]:
    """Exit code, output and errors of a command that reads `text`.

    Whatever goes wrong, nothing of it stays behind: it gets a process group of its own, which is ended if the
    time is over or the user presses Ctrl-C. It reads and writes files without a name, not pipes: a child that
    is forked meanwhile has copies of those, and they do not end before the child does.
    """
    if os.name == "posix":
        options |= {"start_new_session": True, "umask": 0o077}
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(_nameless_file(options.get("cwd"))) for _ in range(3))
        given.write(text.encode())
        given.seek(0)
        abort = getattr(_mine, "abort", None)
        process = _started(command, stdin=given, stdout=out, stderr=err, **options)
        try:
            if abort:
                abort.begins(process)
            process.wait(timeout=seconds)
        except BaseException:
            _end(process)
            process.wait()
            raise
        finally:
            if abort:
                abort.ended(process)
        return process.returncode, _whole(out), _whole(err)


# The pipe through which Popen learns that its command runs must not get into a forked child either, which may
# wait for what this command builds: while one is there, forks wait.
_spawning = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_spawning.acquire, after_in_parent=_spawning.release, after_in_child=_spawning.release
    )


def _nameless_file(folder: str | os.PathLike[str] | None) -> BinaryIO:
    """In memory where the system has that, so that a full disk does not matter; else in `folder`."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("gpu_collide"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile(dir=folder))


def _whole(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def compile_shared(command: list[str], flags: tuple[str, ...], text: str, name: str) -> bytes:
    """The shared library `name` of `text`, as bytes.

    Raises
    ------
    KernelCompileError
        The compiler refused the text.
    BackendUnavailableError
        It did not end in time, or no disk has room for what it writes.
    """
    limit, full = compile_seconds(), []
    for parent in build_folders():
        try:
            with scratch_folder(parent) as folder:
                ran = [*command, *flags, "-x", "c", "-", "-o", str(folder.path / name)]
                ran += [] if os.name == "nt" else ["-lm"]
                temporary = {**os.environ, "TMPDIR": str(folder.path)}
                try:
                    code, out, err = run(ran, limit, text, cwd=folder.path, env=temporary)
                except OSError as error:
                    raise KernelCompileError(f"{' '.join(command)} does not run: {error}") from None
                if code == 0:
                    with contextlib.suppress(FileNotFoundError):
                        return folder.read(name)
                    err = f"it ended well and wrote nothing\n{err}"
                folder.write("room", bytes(ROOM))  # OSError: no wonder
        except subprocess.TimeoutExpired:
            raise BackendUnavailableError(
                f"{' '.join(command)} did not compile the kernels within {limit:g} s; "
                "GPU_COLLIDE_COMPILE_SECONDS gives it longer, CC names another compiler"
            ) from None
        except OSError as error:
            full.append(f"{parent}: {error.strerror or error}")
            continue
        raise KernelCompileError(f"{' '.join(ran)} failed:\n{err.strip()}")
    raise BackendUnavailableError(
        f"no folder to compile the kernels in ({', '.join(full)}); make room, or set GPU_COLLIDE_CACHE or "
        "TMPDIR to a folder that has some"
    )
