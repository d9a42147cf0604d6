"""What is given on the device costs the host the same for few pairs and for many: no array of its own is as
long as the pairs."""

import functools
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.scenes import random_impacts
from tests.ptx._staying import lies

FEW, MANY = 32, 1024
LEAST = MANY - FEW  # bytes, if there were an array of one byte a pair
OURS, STAND_IN = "gpu_collide", "stand_in"  # folders
WAYS = (
    {},
    {"tuning": gc.Tuning(features="near")},
    {"tuning": gc.Tuning(candidates="raster"), "resolution": 2},
)


def asked(cuda, n):
    """Bodies and pairs on the device."""
    drawn, pairs = random_impacts(gc.shapes.box(), gc.shapes.box(), n, seed=1)
    poses = [
        gc.Poses.from_quat_wxyz(cuda.asarray(p.position), cuda.asarray(p.quat_wxyz))
        for p in (drawn.start, drawn.end)
    ]
    return gc.Bodies(drawn.meshes, drawn.shape, *poses), cuda.asarray(pairs)


@functools.cache
def whose(filename):
    """The folder, ours or the stand-in's, that a file of code lies in; asked at every call and return."""
    return next((name for name in (STAND_IN, OURS) if name in Path(filename).parts[-4:]), None)


class Taken:
    """By line of the package, the most bytes of the host that were taken at a time between two calls or
    returns there, NumPy's among them; what the stand-in takes in the place of a device is not the host's."""

    def __enter__(self):
        self.at = Counter()
        tracemalloc.start()
        self.before = tracemalloc.get_traced_memory()[0]
        sys.setprofile(self.look)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        tracemalloc.stop()

    def look(self, frame, event, what):
        now, peak = tracemalloc.get_traced_memory()
        while frame is not None and whose(frame.f_code.co_filename) is None:
            frame = frame.f_back
        if frame is not None and whose(frame.f_code.co_filename) == OURS:
            place = Path(frame.f_code.co_filename).name, frame.f_lineno
            self.at[place] = max(self.at[place], peak - self.before)
        tracemalloc.reset_peak()
        self.before = tracemalloc.get_traced_memory()[0]


def taken(cuda, n, **options):
    bodies, pairs = asked(cuda, n)
    gc.collide(bodies, pairs, backend="cuda", **options)  # keeps what later ones need
    with Taken() as seen:
        found = gc.collide(bodies, pairs, backend="cuda", **options)
    assert lies(found, np.ndarray) == (options.get("results") == "host")
    assert sum(name == "device_batches.py" for name, _ in seen.at) > 10, "the package's lines were seen"
    return seen.at


def grown(cuda, **options):
    """Lines that take at least a byte more for each pair more."""
    few, many = taken(cuda, FEW, **options), taken(cuda, MANY, **options)
    return {place: many[place] - few[place] for place in many if many[place] - few[place] >= LEAST}


@pytest.mark.parametrize("options", WAYS, ids=["all", "near", "rows"])
def test_no_array_of_the_host_is_as_long_as_the_pairs(cuda, options):
    assert grown(cuda, **options) == {}


def test_an_array_as_long_as_the_pairs_is_seen(cuda):
    assert grown(cuda, results="host")


def test_no_file_is_read_once_all_is_built(cuda, monkeypatch):
    """The text of a kernel was read and joined for each piece, 0.3 ms."""
    bodies, pairs = asked(cuda, 8)
    gc.collide(bodies, pairs, backend="cuda")
    read = []
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: read.append(self) or opened(self, *a, **k))
    gc.collide(bodies, pairs, backend="cuda")
    assert read == []
