"""Whether an OpenCL driver survives its first kernel: tried in another process, since some drivers crash.

PoCL builds the last of a kernel when it is first launched, with the machine's linker, and ends the process if
that fails: without one on the path, with a broken one, or where nothing can be written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

from gpu_collide.backends import cache, compiler
from gpu_collide.errors import BackendUnavailableError

__all__ = ["LOOK_SECONDS", "look"]

LOOK_SECONDS = 180  # for one small kernel, built by a driver that has never built one
_POCL = "Portable Computing Language"
_PYTHON = ("python", "pypy")  # how files of interpreters are called; an embedding program is none
#: Launches a kernel that no cache has, on the device whose platform, version and name are given. A comment
#: would not make it new: PoCL's cache goes by the preprocessed text.
_CODE = """
import sys
wanted, sys.path[:] = sys.argv[1:4], sys.argv[4:]
import uuid
import pyopencl as cl
devices = [d for p in cl.get_platforms() for d in p.get_devices() if [p.name, p.version, d.name] == wanted]
context = cl.Context(devices[:1])
queue, out = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
name = "look_" + uuid.uuid4().hex
text = "__kernel void " + name + "(__global int *out) { out[get_global_id(0)] = 1; }"
getattr(cl.Program(context, text).build(cache_dir=False), name)(queue, (1,), (1,), out)
queue.finish()
"""
_known: dict[str, str] = {}  # how it ended in this process; empty if well, or if nobody knows


def look(device: Any) -> None:
    """Raise ``BackendUnavailableError`` if the driver of a device ends a process that launches a kernel.

    That it does not is kept in the cache, by driver, device, path and linker; that it does is looked at again
    by every process.
    """
    program = os.path.basename(sys.executable or "").lower()
    if device.platform.name != _POCL or not program.startswith(_PYTHON):
        return
    name = f"survived-{cache.digest(*_what(device))}"
    if name not in _known:
        _known[name] = "" if cache.found(name, bytes)[0] else _tried(device, name)
    if why := _known[name]:
        remedy = (
            "" if shutil.which("ld") else "; put the linker ld on PATH (Debian/Ubuntu: apt install binutils)"
        )
        raise BackendUnavailableError(f"its driver ends the process at the first kernel: {why}{remedy}")


def _what(device: Any) -> list[str]:
    """All that the outcome depends on and that changes by itself."""
    linker = shutil.which("ld")
    about = os.stat(linker) if linker else None
    seen = f"{os.path.realpath(linker)} {about.st_size} {about.st_mtime_ns}" if linker and about else ""
    return [*_named(device), device.driver_version, os.environ.get("PATH", ""), seen]


def _named(device: Any) -> list[str]:
    return [device.platform.name, device.platform.version, device.name]


def _tried(device: Any, name: str) -> str:
    """What is wrong; empty if nothing is, which is kept under `name`, or if it could not be tried."""
    command = [sys.executable, "-c", _CODE, *_named(device), *(path or os.getcwd() for path in sys.path)]
    try:
        code, _, err = compiler.run(command, LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return f"it came to no end within {LOOK_SECONDS} s"
    except OSError:  # no other process can be had
        return ""
    if code == 0:
        cache.keep(name, b"survived")
    if code in (0, 1):  # Python's own errors are met here as well
        return ""
    return next((line.strip() for line in err.splitlines() if "error" in line.lower()), f"exit code {code}")
