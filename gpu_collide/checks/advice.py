"""Sentences that tell the user what to do, from what was found on the machine."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from gpu_collide.checks.self_test import Tried

__all__ = ["advise", "how_to_install"]

#: Newest first: the CUDA version from which on the driver serves an extra.
CUDA_EXTRAS = (((13, 0), "cuda13"), ((12, 0), "cuda12"))
#: By family of distributions: installing a C compiler, and OpenCL for processors.
SYSTEM = {
    "debian": ("apt install gcc", "apt install pocl-opencl-icd"),
    "fedora": ("dnf install gcc", "dnf install pocl"),
    "arch": ("pacman -S gcc", "pacman -S pocl"),
    "suse": ("zypper install gcc", "pip install 'pyopencl[pocl]'"),
    "alpine": ("apk add gcc musl-dev", "apk add pocl"),
    "Darwin": ("xcode-select --install", "pip install 'pyopencl[pocl]'"),
    "Windows": ("pip install ziglang", "pip install 'pyopencl[pocl]'"),
}
ANYWHERE = ("pip install ziglang", "pip install 'pyopencl[pocl]'")


class Found(Protocol):
    """What of a `Finding` is read here."""

    @property
    def area(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def text(self) -> str: ...


def how_to_install(system: str = "", release: Path = Path("/etc/os-release")) -> tuple[str, str]:
    """Commands that install a C compiler, and OpenCL for processors, on this machine."""
    system = system or platform.system()
    if system in SYSTEM:
        return SYSTEM[system]
    try:
        lines = release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ANYWHERE
    known = dict(line.split("=", 1) for line in lines if "=" in line)
    words = f"{known.get('ID', '')} {known.get('ID_LIKE', '')}".replace('"', "").split()
    family = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "opensuse": "suse", "sles": "suse"}
    return next((SYSTEM[f] for f in (family.get(w, w) for w in words) if f in SYSTEM), ANYWHERE)


def advise(findings: Iterable[Found], tried: Iterable[Tried], auto: str) -> tuple[list[str], list[str]]:
    """What to do: for what is wrong or slow, and for what else could be had.

    Parameters
    ----------
    findings : iterable of Finding
    tried : iterable of Tried
    auto : str
        The backend that is taken; empty for none.
    """
    found = list(findings)
    needed: list[str] = []
    optional: list[str] = []
    compiler, processor = how_to_install()
    has_compiler = any(f.area == "C compiler" and f.state == "taken" for f in found)
    if not has_compiler:
        where = needed if auto in ("", "reference") else optional
        where.append(
            f"no C compiler: {compiler}" + ("" if compiler == ANYWHERE[0] else f", or {ANYWHERE[0]}")
        )
    needed += [_wrong(f, auto) for f in found if f.state == "rejected" and _matters(f, auto)]
    needed += [f"the self-test of backend {t.backend} failed: {t.why_not}" for t in tried if not t.right]
    if auto == "reference" and has_compiler and not needed:
        needed.append('"auto" takes the slow reference: unset GPU_COLLIDE_BACKEND')
    needed += [f"{f.text}" for f in found if f.area == "system" and f.state == "absent"]
    _cuda(found, needed, optional)
    by_name = {(f.area, f.name): f for f in found}
    if (f := by_name.get(("OpenCL", "platforms"))) and f.state == "absent":
        extra = (
            ""
            if by_name["package", "pyopencl"].state == "found"
            else "pip install 'gpu-collide[opencl]', and "
        )
        optional.append(f"no OpenCL: {extra}a driver (for processors: {processor})")
    missing = [f for f in found if f.area == "package" and f.state == "absent"]
    optional += [
        f"{f.name} is not installed: {f.text}" for f in missing if f.name not in ("pyopencl", "cupy")
    ]
    return needed, optional


def _matters(f: Found, auto: str) -> bool:
    """Is something that was rejected a defect? What a variable leaves out is wanted so, a folder that cannot
    be used has a next one, and of libraries of NVRTC one is enough."""
    if f.area in ("OpenCL", "NVIDIA", "cache of kernels"):
        return False
    if f.area == "C compiler":
        return f.name.startswith("$CC")
    return True


def _wrong(f: Found, auto: str) -> str:
    lines = f.text.splitlines()
    return f"{f.area} {f.name}: {lines[0] if lines else f.state}"


def _cuda(found: list[Found], needed: list[str], optional: list[str]) -> None:
    """A GPU of NVIDIA's that is there and not used is the first thing that its owner wants to know."""
    state = {f.name: f for f in found if f.area == "NVIDIA"}
    cupy = next(f for f in found if f.area == "package" and f.name == "cupy")
    if state["GPU"].state == "absent":
        return
    if state["driver"].state == "absent":
        optional.append("there is a GPU of NVIDIA's without its driver: install that (nvidia.com/drivers)")
    elif cupy.state == "absent":
        words = state["driver"].text.rsplit(" ", 1)[-1].split(".")
        served = int(words[0]), int(words[1])
        extra = next((name for least, name in CUDA_EXTRAS if served >= least), "")
        what = f"pip install 'gpu-collide[{extra}]'" if extra else "a newer driver, for CUDA 12 at least"
        optional.append(f"there is a GPU of NVIDIA's that is not used: {what} ({sys.executable} -m pip)")
