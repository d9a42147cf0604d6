"""The installation on this machine: what was found, what was rejected and why, and what to do about it.

It looks with the same functions that the library itself chooses by, so that it cannot tell another story.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import warnings
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc
from gpu_collide import backends
from gpu_collide.backends import cache, compiler, nvidia, nvrtc, opencl, sources
from gpu_collide.checks.advice import advise
from gpu_collide.checks.self_test import Tried, self_test
from gpu_collide.errors import BackendUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Rows = Iterator[tuple[str, str, str, str]]

__all__ = ["Examination", "Finding", "examine"]

#: Packages that bring something, and what.
EXTRAS = (
    ("pyopencl", "opencl", "backend opencl"),
    ("cupy", "cuda12", "backend cuda"),
    ("trimesh", "mesh", "STL, GLB and glTF files"),
    ("matplotlib", "view", "pictures"),
    ("rich", "cli", "tables and progress bars in colour"),
    ("pyarrow", "data", "recordings in Parquet files"),
    ("zarr", "data", "recordings in Zarr folders"),
)
VARIABLES = (
    "GPU_COLLIDE_BACKEND", "GPU_COLLIDE_THREADS", "GPU_COLLIDE_OPENCL_DEVICE", "GPU_COLLIDE_CACHE",
    "GPU_COLLIDE_COMPILE_SECONDS", "GPU_COLLIDE_CFLAGS", "GPU_COLLIDE_CHECK", "CC", "CUDA_PATH", "CUDA_HOME",
    "POCL_CACHE_DIR", "OCL_ICD_VENDORS",
)  # fmt: skip

TAKEN, FOUND, ABSENT, REJECTED = "taken", "found", "absent", "rejected"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for.

    Attributes
    ----------
    area : str
        Such as ``"C compiler"``.
    name : str
    state : {"taken", "found", "absent", "rejected"}
        Used; there and not needed; not there; there and of no use.
    text : str
        Version or place; or why not.
    """

    area: str
    name: str
    state: str
    text: str


@dataclass(frozen=True)
class Examination:
    """What `examine` found.

    Attributes
    ----------
    findings : list of Finding
    tried : list of Tried
        The self-test of each usable backend; empty if it was not asked for.
    auto : str
        The backend that ``"auto"`` takes; empty if none can be had.
    needed, optional : list of str
        What to do, sentence by sentence: for what is wrong or slow, and for what else could be had.
    """

    findings: list[Finding]
    tried: list[Tried]
    auto: str
    needed: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """A backend with kernels is taken, nothing that is there is broken, and all self-tests are passed."""
        return not self.needed

    def as_dict(self) -> dict[str, Any]:
        """All of it as what JSON can hold."""
        return {"ok": self.ok, **asdict(self)}


def examine(tests: bool = True, progress: Callable[[str], Any] = lambda what: None) -> Examination:
    """Look at everything the library can use here.

    Parameters
    ----------
    tests : bool, optional
        Also let each usable backend answer a query, which builds its kernels if no cache has them.
    progress : callable, optional
        Called with what is done next, in words.

    Returns
    -------
    Examination
    """
    findings: list[Finding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is told here
        for look in (_python, _variables, _compilers, _opencl, _nvidia, _packages, _caches, _backends):
            progress(f"looking for: {look.__name__.strip('_')}")
            try:
                findings += [Finding(*row) for row in look()]
            except Exception as error:  # a variable that cannot be read, say: the others are looked at
                text = str(error) or type(error).__name__
                findings.append(Finding("system", look.__name__.strip("_"), REJECTED, text))
        usable = [f.name for f in findings if f.area == "backend" and f.state in (TAKEN, FOUND)]
        tried = self_test(usable, progress) if tests else []
    auto = next((f.name for f in findings if f.area == "backend" and f.state == TAKEN), "")
    needed, optional = advise(findings, tried, auto)
    return Examination(findings, tried, auto, needed, optional)


def _python() -> Rows:
    yield "system", "Python", TAKEN, f"{platform.python_version()} ({sys.executable})"
    yield "system", "machine", TAKEN, f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "system", "NumPy", TAKEN, np.__version__
    yield "system", "gpu_collide", TAKEN, f"{gc.__version__} ({Path(gc.__file__).parent})"
    try:
        yield "system", "kernels", TAKEN, f"{len(sources.kernel_files())} files in {sources.kernels_dir()}"
    except FileNotFoundError as error:
        yield "system", "kernels", ABSENT, str(error)


def _variables() -> Rows:
    for name in VARIABLES:
        if os.environ.get(name):
            yield "environment", name, TAKEN, os.environ[name]


def _compilers() -> Rows:
    taken = False
    for one in compiler.compilers():
        if one.version:
            yield "C compiler", one.name, FOUND if taken else TAKEN, one.version.splitlines()[0]
            taken = True
        else:
            gone = one.why_not in ("is not there", "is not installed")
            yield "C compiler", one.name, ABSENT if gone else REJECTED, one.why_not


def _opencl() -> Rows:
    try:
        platforms = opencl.find_platforms()
    except BackendUnavailableError as error:
        yield "OpenCL", "platforms", ABSENT, str(error)
        return
    for place, devices, why_not in platforms:
        version = f"{place.name}, {place.version.strip()}"
        yield "OpenCL", "platform", FOUND if devices else REJECTED, f"{version}{why_not and ': ' + why_not}"
        for device in devices:
            name = opencl.describe(device)
            if opencl.wanted(device):
                text = f"{name}{'' if opencl.has_float64(device) else ', without float64'}"
                yield "OpenCL", "device", FOUND, text
            else:
                yield "OpenCL", "device", REJECTED, f"{name}: GPU_COLLIDE_OPENCL_DEVICE leaves it out"


def _nvidia() -> Rows:
    count, served = nvidia.gpus(), nvidia.driver()
    yield "NVIDIA", "GPU", FOUND if count else ABSENT, f"{count} listed by the system" if count else ""
    text = f"serves CUDA up to {served[0]}.{served[1]}" if served else "libcuda cannot be loaded"
    yield "NVIDIA", "driver", FOUND if served else ABSENT, text
    taken = False
    for path, library, why_not in nvrtc.libraries():
        if library is not None:
            yield "NVIDIA", "NVRTC", FOUND if taken else TAKEN, path
            taken = True
        elif os.path.isabs(path):
            yield "NVIDIA", "NVRTC", REJECTED, f"{path}: {why_not}"
    if not taken:
        yield "NVIDIA", "NVRTC", ABSENT, nvrtc.INSTALL_HINT


def _packages() -> Rows:
    for name, extra, what in EXTRAS:
        wanted = f"pip install 'gpu-collide[{extra}]' ({what})"
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name == name
            yield "package", name, ABSENT if missing else REJECTED, wanted if missing else str(error)
        except Exception as error:  # there, and broken: whatever it raises
            yield "package", name, REJECTED, f"{type(error).__name__}: {error}; reinstall it: {wanted}"
        else:
            version = getattr(module, "VERSION_TEXT", None) or getattr(module, "__version__", "")
            yield "package", name, FOUND, f"{version} ({what})"
    found = [name for name in ("cupy-cuda12x", "cupy-cuda13x", "cupy") if _distributed(name)]
    if len(found) > 1:
        text = "more than one is installed, and they overwrite each other: pip uninstall all, install one"
        yield "package", " and ".join(found), REJECTED, text


def _distributed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _caches() -> Rows:
    taken = False
    for path, why_not in cache.folders():
        if why_not:
            yield "cache of kernels", str(path), REJECTED, why_not
            continue
        kept = [
            file.stat().st_size for file in path.iterdir() if file.suffix in (".so", ".dll", ".cubin", ".ptx")
        ]
        text = f"writable, {len(kept)} kept, {sum(kept) / 1e6:.0f} MB"
        yield "cache of kernels", str(path), FOUND if taken else TAKEN, text
        taken = True
    if folder := os.environ.get("POCL_CACHE_DIR"):
        writable = os.access(folder, os.W_OK) or not Path(folder).exists()
        text = "writable" if writable else "cannot be written to: PoCL offers no device then"
        yield "cache of PoCL", folder, TAKEN if writable else REJECTED, text


def _backends() -> Rows:
    try:
        auto: Any = backends.get_backend()
        name, device = auto.name, auto.device
    except (BackendUnavailableError, ValueError) as error:
        yield "environment", "GPU_COLLIDE_BACKEND", REJECTED, str(error).splitlines()[0]
        name = device = ""
    for one in backends.devices():
        if one.usable:
            state = TAKEN if (one.backend, one.device) == (name, device) else FOUND
            yield "backend", one.backend, state, f"{one.device} ({', '.join(one.precision)})"
        else:
            broken = _is_broken(one)
            text = f"{one.device}: {one.why_not}" if one.device else one.why_not
            yield "backend", one.backend, REJECTED if broken else ABSENT, text


def _is_broken(device: backends.Device) -> bool:
    """Is there something to compute on, which yet cannot be used? Else it is only not installed."""
    if device.backend == "cuda":
        return nvidia.driver() is not None and nvidia.gpus() > 0
    if device.backend == "cpu":
        return any(one.version for one in compiler.compilers())
    return bool(device.device) or "no OpenCL device works" in device.why_not
