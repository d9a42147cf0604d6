"""The oracle's answers, kept on disk: a question is answered once, however many backends, workers and runs
ask it."""

import hashlib
import os
import pickle
import tempfile
import time
from functools import cache, lru_cache, wraps
from pathlib import Path

import numpy as np

from tests.oracle.query import Expected, expect

try:
    import fcntl
except ImportError:  # two workers may then answer the same
    fcntl = None

_ANSWERS = ("query", "judge", "roots", "features", "solid")  # where answers come from, not only what is asked
WORTH_KEEPING = 0.05  # seconds of work; what takes less is answered again


def folder():
    """$GPU_COLLIDE_ORACLE_CACHE, else a folder of the user's temporary files."""
    named = os.environ.get("GPU_COLLIDE_ORACLE_CACHE")
    return Path(named) if named else Path(tempfile.gettempdir()) / "gpu_collide_oracle"


@lru_cache(maxsize=1)
def _of_sources():
    """Of the sources that an answer comes from: it is valid only for the oracle that gave it."""
    digest = hashlib.sha256(np.__version__.encode())
    for stem in _ANSWERS:
        digest.update(Path(__file__).with_name(f"{stem}.py").read_bytes())
    return digest


def _name(scene, *options):
    """Hash of all that an answer depends on."""
    digest = _of_sources().copy()
    arrays = [scene.shape, *scene.start, *scene.end, scene.pairs, *options]
    for mesh in scene.meshes:
        arrays += [mesh.vertices, mesh.face_vertices, mesh.face_start, mesh.two_sided]
    for array in arrays:
        array = np.asarray(np.nan if array is None else array)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def kept(scene, min_properness=-0.1, only=None, flip=None):
    """What `oracle.expect` says."""
    path = folder() / f"{_name(scene, float(min_properness), only, flip)}.npz"
    if path.exists():
        return Expected.load(path)
    folder().mkdir(parents=True, exist_ok=True)
    lock = path.with_suffix(".lock")
    with open(lock, "w", encoding="ascii") as file:
        if fcntl is not None:
            fcntl.lockf(file, fcntl.LOCK_EX)  # another worker may be at it
        if path.exists():
            return Expected.load(path)
        begun = time.process_time()
        answer = expect(scene, min_properness, only, flip)
        if time.process_time() - begun > WORTH_KEEPING:
            part = path.with_name(f"{path.stem}.{os.getpid()}.npz")
            answer.save(part)
            part.replace(path)
        lock.unlink(missing_ok=True)
    return answer


def remembered(*sources):
    """Keeps what a slow judge says beside the built kernels, as long as these files of this folder and the
    pickled arguments are the same: backends, workers and runs share it."""

    @cache
    def texts():
        return [Path(__file__).with_name(name).read_bytes() for name in sources]

    def keeping(judge):
        @wraps(judge)
        def asked(*args):
            from gpu_collide.backends.cache import cached, digest

            key = digest(judge.__qualname__, np.__version__, pickle.dumps(args), *texts())
            return cached(f"{key}.answer", lambda: pickle.dumps(judge(*args)), pickle.loads)

        return asked

    return keeping
