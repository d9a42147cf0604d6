"""Judges that are written in C, built by the machine's compiler once and kept beside the built kernels."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["library", "missing"]

HERE = Path(__file__).parent
COMMAND = ["cc", "-std=gnu11", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]


def missing():
    """Why there is no such judge on this machine, or None."""
    return None if shutil.which("cc") else "no C compiler"


@functools.cache
def library(*names):
    """The functions of C files of this folder, which know nothing of the kernels."""
    from gpu_collide.backends.cache import cached, digest

    sources = [HERE / name for name in names]
    version = subprocess.run(["cc", "--version"], capture_output=True, check=True).stdout
    texts = [path.read_bytes() for path in (*sources, *sorted(HERE.glob("*.h")))]
    with tempfile.TemporaryDirectory() as folder:
        judge = Path(folder) / "judge.so"

        def build():
            subprocess.run([*COMMAND, "-o", str(judge), *map(str, sources), "-lm"], check=True)
            return judge.read_bytes()

        def load(data):
            judge.write_bytes(data)
            return ctypes.CDLL(str(judge))

        return cached(f"{digest(' '.join(COMMAND), version, *texts)}.judge", build, load)
