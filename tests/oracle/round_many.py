"""The judge of round shapes (tests/oracle/round_shapes.py) for many pairs: the same formulas in C
(round_many.c), which runs on all cores."""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tests.oracle.compiled import library, missing

__all__ = ["Many", "missing"]

#: Kinds of shapes as the C file numbers them, and its record of a body and its motion.
KINDS = ("sphere", "capsule", "box")
BODY = np.dtype(
    [("kind", "f8"), ("half", "f8", 3), ("radius", "f8"), ("p", "f8", 3), ("q", "f8", 4), ("axis", "f8", 3),
     ("angle", "f8"), ("place", "f8", 3), ("along", "f8")]
)  # fmt: skip


class Many:
    """A `Passing`, with the same verbs."""

    def __init__(self, passing):
        self._bodies = np.zeros((len(passing.a.radius), 2), BODY)
        sides = ((passing.a, passing.motion_a), (passing.b, passing.motion_b))
        for k, (shape, motion) in enumerate(sides):
            to = self._bodies[:, k]
            to["kind"], to["radius"] = KINDS.index(shape.kind), shape.radius
            if shape.kind == "box":
                to["half"] = shape.half
            elif shape.kind == "capsule":
                to["half"][:, 2] = shape.half
            for name in ("p", "q", "axis", "angle", "place", "along"):
                to[name] = getattr(motion, name)

    def gap(self, t):
        """Of the surfaces at times (n,)."""
        t, out = np.ascontiguousarray(t, float), np.zeros(len(self._bodies))
        self._shared(library("round_many.c").round_gap, t, out)
        return out

    def first(self):
        """First time (n,) at which the gap falls to 0, inf for none; the least gap; the gap at the start."""
        out = np.zeros((len(self._bodies), 3))
        self._shared(library("round_many.c").round_first, out)
        return tuple(out.T)

    def _shared(self, call, *arrays):
        cuts = np.linspace(0, len(self._bodies), 8 * (os.cpu_count() or 1) + 1).astype(int).tolist()
        given = [ctypes.c_void_p(x.ctypes.data) for x in (self._bodies, *arrays)]
        with ThreadPoolExecutor() as pool:  # C lets go of the interpreter
            parts = [
                pool.submit(call, begin, end, *given) for begin, end in zip(cuts[:-1], cuts[1:], strict=True)
            ]
            for part in parts:
                part.result()
