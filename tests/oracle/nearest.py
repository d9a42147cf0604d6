"""The judge of clearance (tests/oracle/clearance.py) for many pairs: the same formulas in C (nearest.c), with
motions that `Passage` makes of poses."""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tests.oracle.clearance import (
    _features,
    _integral,
    inverse,
    logarithm,
    matrix_of,
    times_pose,
)
from tests.oracle.compiled import library, missing

__all__ = ["Passages", "missing"]

MOTION = np.dtype(
    [("r", "f8", (3, 3)), ("p", "f8", 3), ("w", "f8", 3), ("v", "f8", 3), ("centre", "f8", 3), ("kind", "f8")]
)
_DOUBLES = ctypes.POINTER(ctypes.c_double)


class _Mesh(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("vertices", "edges", "triangles")),
        *((name, _DOUBLES) for name in ("vertex", "edge", "triangle")),
    ]


class Passages:
    """Pairs (n, 2) of bodies, with the motion of each: where B is as A sees it is what counts."""

    def __init__(self, bodies, pairs, motion="relative"):
        self._shape = np.ascontiguousarray(bodies.shape[pairs], np.int32)
        self._motion = np.zeros((len(pairs), 2), MOTION)
        ends = [
            list(zip(map(matrix_of, poses.quat_wxyz), poses.position, strict=True))
            for poses in (bodies.start, bodies.end)
        ]
        still = np.eye(3), np.zeros(3)
        for row, (a, b) in zip(self._motion, pairs.tolist(), strict=True):
            if motion == "relative":
                seen = [times_pose(inverse(end[a]), end[b]) for end in ends]
                row[0], row[1] = _screw(still, still), _screw(*seen)
                continue
            for k, body in enumerate((a, b)):
                row[k] = _own(bodies, body, *(end[body] for end in ends))
        self._kept, meshes = [], []
        for mesh in bodies.meshes:
            vertices, used, edges, triangles = _features(mesh)
            tables = [np.ascontiguousarray(vertices[of], float) for of in (used, edges, triangles)]
            self._kept.append(tables)
            pointers = [x.ctypes.data_as(_DOUBLES) for x in tables]
            meshes.append(_Mesh(*(len(x) for x in tables), *pointers))
        self._meshes = (_Mesh * len(meshes))(*meshes)

    def __len__(self):
        return len(self._motion)

    def distance(self, time):
        """(n,) distances at one time each; 0 where surfaces cross."""
        time = np.ascontiguousarray(time, float)
        return self._shared(library("nearest.c").nearest_at, ctypes.c_void_p(time.ctypes.data))

    def least(self, samples=64, refine=3):
        """(n,) least distances over the step, from above."""
        return self._shared(library("nearest.c").nearest_least, ctypes.c_int(samples), ctypes.c_int(refine))

    def _shared(self, call, *given):
        out = np.zeros(len(self))
        tables = [ctypes.c_void_p(x.ctypes.data) for x in (self._shape, self._motion)]
        result = ctypes.c_void_p(out.ctypes.data)
        cuts = np.linspace(0, len(self), 8 * (os.cpu_count() or 1) + 1).astype(int).tolist()
        with ThreadPoolExecutor() as pool:  # C lets go of the interpreter
            parts = [
                pool.submit(call, begin, end, self._meshes, *tables, *given, result)
                for begin, end in zip(cuts[:-1], cuts[1:], strict=True)
            ]
            for part in parts:
                part.result()
        return out


def _screw(first, last):
    """The screw from one pose (r, p) to another, as a row of `MOTION`."""
    (r0, p0), (r1, p1) = first, last
    turn = r1 @ r0.T
    w, v = logarithm(turn), p1 - p0
    if w.any():
        v = np.linalg.solve(_integral(w, 1.0), p1 - turn @ p0)
    return r0, p0, w, v, np.zeros(3), 0.0


def _own(bodies, body, first, last):
    spins = bodies.spins
    if spins is None or not spins.spinning[body]:
        return _screw(first, last)
    return *first, spins.rotation[body], spins.displacement[body], spins.center[body], 1.0
