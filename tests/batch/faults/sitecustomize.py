"""Faults of the machine, in every Python process that has this folder in its path: see `tests.batch.runs`.

``GPU_COLLIDE_TEST_FAULT`` says where the process is killed: "reading", "colliding" a recording, or "marking"
an item whose files are written; "lethal": whenever a recording of that name is read. With the file
``GPU_COLLIDE_TEST_FLAG`` it happens once only.
"""

import os
import signal
import sys


def kill():
    flag = os.environ["GPU_COLLIDE_TEST_FLAG"]
    if flag:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)


def before(call, when):
    def called(*args, **kwargs):
        if when(*args):
            kill()
        return call(*args, **kwargs)

    return called


class Once:
    """Finder that waits until `gpu_collide.batch.item` is imported, and puts the fault into it then."""

    def find_spec(self, name, path=None, target=None):
        if name != "gpu_collide.batch.item":
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def loaded(module):
            load(module)
            spoil(module)

        spec.loader.exec_module = loaded
        return spec


def spoil(item):
    fault = os.environ["GPU_COLLIDE_TEST_FAULT"]
    if fault in ("reading", "lethal"):
        wanted = "lethal" if fault == "lethal" else "r3"
        item.load_recording = before(item.load_recording, lambda path, *_: wanted in os.path.basename(path))
    elif fault == "colliding":
        item.Recording.collide = before(item.Recording.collide, lambda *_: True)
    elif fault == "marking":
        item.files.write = before(item.files.write, lambda _, files: next(iter(files)).startswith("done/"))


if os.environ.get("GPU_COLLIDE_TEST_FAULT"):
    sys.meta_path.insert(0, Once())
