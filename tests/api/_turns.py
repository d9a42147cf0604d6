"""What a user does wrong, as rows of two test files: what is done, and words of the remedy that is read."""

import contextlib
import io
import sys
import warnings

import gpu_collide as gc
from gpu_collide.errors import GpuCollideError

UNIT = [1.0, 0, 0, 0]


class Turns(dict):
    """Rows by name: a function of a folder and `monkeypatch`, and the remedy."""

    def turn(self, remedy):
        """One row: `remedy` is in what the user reads."""

        def add(does):
            assert does.__name__ not in self, does.__name__
            self[does.__name__] = (does, remedy)
            return does

        return add

    def file(self, does, name, content, remedy):
        """One row: a mesh file of this name and content."""

        def read(folder, monkeypatch):
            path = folder / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            gc.load_mesh(path)

        read.__name__ = does
        self.turn(remedy)(read)


def box():
    return gc.shapes.box()


def two(start=((0, 0, 0), (-3, 0.1, 0.2)), end=((0, 0, 0), (0, 0.1, 0.2))):
    start, end = (gc.Poses.from_quat_wxyz(where, [UNIT] * 2) for where in (start, end))
    return gc.Bodies(box(), None, start, end)


def hidden(monkeypatch, *packages):
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)  # importing it raises ImportError


def read(does, folder, monkeypatch):
    """What the user reads, and how it came: raised, warned or printed."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(printed):
        warnings.simplefilter("always")
        try:
            does(folder, monkeypatch)
        except (ValueError, TypeError, OSError, ImportError, GpuCollideError) as error:
            return f"{error}"
        except SystemExit:
            pass
    return "\n".join([*(str(w.message) for w in caught), printed.getvalue()])
