"""Puts the stand-in for CuPy where ``import cupy`` finds it, in this process and in those it starts."""

import atexit
import os
import re
import sys
from pathlib import Path

__all__ = ["install", "wanted"]

VARIABLE = "GPU_COLLIDE_CUDA"
REPORT = "GPU_COLLIDE_PTX_REPORT"
_HERE = Path(__file__).resolve().parent


def wanted() -> bool:
    """Whether ``GPU_COLLIDE_CUDA=ptx`` asks for the backend `cuda` on the stand-in; ``ptx:256`` also says how many
    work-items a group has."""
    value = os.environ.get(VARIABLE, "")
    if not re.fullmatch(r"(ptx(:\d+)?)?", value):
        raise ValueError(f"{VARIABLE} must be 'ptx', 'ptx:' and a group size, or not set, got {value!r}")
    return value != ""


def install() -> None:
    """Make ``import cupy`` find the stand-in, and let NVRTC tell source lines."""
    folders = [str(_HERE / "stand_in"), str(_HERE.parents[1])]
    for folder in folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    before = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p not in folders]
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *before])

    from gpu_collide.backends import cuda
    from tests.ptx import device

    if "--generate-line-info" not in cuda.FLAGS:
        cuda.FLAGS = (*cuda.FLAGS, "--generate-line-info")
    if size := os.environ.get(VARIABLE, "").partition(":")[2]:
        cuda.CudaBackend.group_size = cuda.CudaBackend.item_group_size = int(size)
    if folder := os.environ.get(REPORT):
        atexit.register(device.write_totals, folder)
