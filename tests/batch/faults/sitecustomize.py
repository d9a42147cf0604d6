"""Faults of the machine, in every Python process that has this folder in its path: see `tests.batch.runs`.

``GPU_COLLIDE_TEST_FAULT`` says where a process is killed: "reading", "colliding" a recording, "marking" an
item whose files are written, or several of these; "lethal": whenever a recording of that name is read. With a
name in ``GPU_COLLIDE_TEST_FLAG`` each happens once only, and makes a file of that name and its own.
"""

import os
import signal
import sys


def kill(fault):
    flag = os.environ["GPU_COLLIDE_TEST_FLAG"]
    if flag:
        try:
            os.close(os.open(f"{flag}.{fault}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)


def before(call, fault, when):
    def called(*args, **kwargs):
        if when(*args):
            kill(fault)
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
    for fault in os.environ["GPU_COLLIDE_TEST_FAULT"].split(","):
        if fault == "colliding":
            item.Recording.collide = before(item.Recording.collide, fault, lambda *_: True)
        elif fault == "marking":
            item.files.write = before(item.files.write, fault, is_mark)
        else:
            item.load_recording = before(item.load_recording, fault, NAMED[fault])


NAMED = {"reading": lambda path: "r3" in path, "lethal": lambda path: "lethal" in path}


def is_mark(_, files):
    return next(iter(files)).startswith("done/")


if os.environ.get("GPU_COLLIDE_TEST_FAULT"):
    sys.meta_path.insert(0, Once())
