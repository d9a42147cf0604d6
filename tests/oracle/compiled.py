"""Judges that are written in C, built anew in each process by the machine's compiler."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["library", "missing"]


def missing():
    """Why there is no such judge on this machine, or None."""
    return None if shutil.which("cc") else "no C compiler"


@functools.cache
def library(name):
    """The functions of a C file of this folder, which know nothing of the kernels."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "judge.so"
        command = ["cc", "-std=gnu11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(built)]
        subprocess.run([*command, str(Path(__file__).with_name(name)), "-lm"], check=True)
        return ctypes.CDLL(str(built))
