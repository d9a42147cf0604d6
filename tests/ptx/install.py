"""Puts the stand-in for CuPy where ``import cupy`` finds it, in this process and in those it starts."""

import atexit
import contextlib
import importlib
import os
import re
import sys
from functools import lru_cache
from pathlib import Path

from gpu_collide.backends import cuda
from tests.ptx import device

__all__ = ["REPORT", "VARIABLE", "install", "temporarily", "wanted"]

VARIABLE = "GPU_COLLIDE_CUDA"
REPORT = "GPU_COLLIDE_PTX_REPORT"
_FOLDERS = [str(Path(__file__).resolve().parent / "stand_in"), str(Path(__file__).resolve().parents[2])]


def wanted() -> bool:
    """Whether ``GPU_COLLIDE_CUDA=ptx`` asks for the backend `cuda` on the stand-in; ``ptx:256`` also says how
    many work-items a group has."""
    value = os.environ.get(VARIABLE, "")
    if not re.fullmatch(r"(ptx(:\d+)?)?", value):
        raise ValueError(f"{VARIABLE} must be 'ptx', 'ptx:' and a group size, or not set, got {value!r}")
    return value != ""


def install() -> None:
    """Make ``import cupy`` find the stand-in for good, and let NVRTC tell source lines."""
    before = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p not in _FOLDERS]
    os.environ["PYTHONPATH"] = os.pathsep.join([*_FOLDERS, *before])
    sys.modules.update(_modules())
    _tell_lines()
    if size := os.environ.get(VARIABLE, "").partition(":")[2]:
        own = cuda.CudaBackend
        own.group_size = own.small_group_size = own.item_group_size = int(size)
    if folder := os.environ.get(REPORT):
        atexit.register(device.write_totals, folder)


@contextlib.contextmanager
def temporarily():
    """The stand-in as ``cupy`` within a block; yields it."""
    own = _modules()
    others = {name: sys.modules.get(name) for name in own}
    flags = cuda.FLAGS
    sys.modules.update(own)
    _tell_lines()
    try:
        yield own["cupy"]
    finally:
        cuda.FLAGS = flags
        for name, module in others.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _tell_lines() -> None:
    if "--generate-line-info" not in cuda.FLAGS:
        cuda.FLAGS = (*cuda.FLAGS, "--generate-line-info")


@lru_cache(maxsize=1)
def _modules() -> dict:
    """The stand-in's modules by name, imported once; what was there under these names stays there."""
    others = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "cupy"}
    sys.path[:0] = [folder for folder in _FOLDERS if folder not in sys.path]
    importlib.import_module("cupy")
    own = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "cupy"}
    for name in own:
        del sys.modules[name]
    sys.modules.update(others)
    return own
