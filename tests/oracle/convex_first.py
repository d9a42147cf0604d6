"""A judge of first contacts of convex bodies (convex_first.c): spheres, capsules, boxes and hulls with a ball
around each of their points, and cylinders, cones and frusta; on motions of its own."""

import copy
import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tests.oracle.compiled import library, missing
from tests.oracle.round_shapes import back, product, turn

__all__ = ["Convex", "Passages", "least_turn", "missing", "screw", "spin"]

#: Record of the C file.
BODY = np.dtype(
    [("first", "f8"), ("count", "f8"), ("ball", "f8"), ("disc", "f8", 2), ("p", "f8", 3), ("q", "f8", 4),
     ("go", "f8", 3), ("axis", "f8", 3), ("angle", "f8"), ("arm", "f8", 3)]
)  # fmt: skip


@dataclass
class Convex:
    """The hull of points (k, 3), with a ball around each, or of discs across both of two points."""

    points: np.ndarray
    ball: float = 0.0
    discs: tuple[float, float] | None = None

    @property
    def axis(self):
        """Of a shape of revolution that is no ball, else 0."""
        return _along(self.points[1] - self.points[0])[1] if len(self.points) == 2 else np.zeros(3)

    def top(self, n):
        """The points (m, 3) that are highest along directions n (m, 3)."""
        high, rim = n @ self.points.T, 0.0
        if self.discs is not None:
            across, rim = _along(n - (n @ self.axis)[:, None] * self.axis)
            high = high + across[:, None] * self.discs
            rim = np.take(self.discs, high.argmax(axis=1))[:, None] * rim
        return self.points[high.argmax(axis=1)] + rim + self.ball * n


def _along(x):
    """Lengths and directions; 0 and 0 for none."""
    length = np.linalg.norm(x, axis=-1)
    return length, x / np.where(length > 0, length, 1.0)[..., None]


def least_turn(shapes, shape, q0, p1, q1):
    """End poses (n) of bodies, of shapes of revolution turned from q0 (n, 4) as little as possible: their
    axis ends where it would, by a turn about a line across where it was and where it comes to."""
    axis = np.array([s.axis for s in shapes])[shape]
    center = np.array([s.points[0] for s in shapes])[shape]
    count = np.array([len(s.points) for s in shapes])[shape][:, None]
    a, b = turn(q0, axis), turn(q1, axis)
    r = np.concatenate([1 + (a * b).sum(-1, keepdims=True), np.cross(a, b)], axis=-1)
    length, r = _along(r)
    turned = np.where((length < 1e-6)[:, None], q1, product(r, q0))
    turned = np.where(count == 1, q0, np.where(count == 2, turned, q1))
    return p1 + turn(q1, center) - turn(turned, center), turned


def screw(p0, q0, p1, q1):
    """Motions (n) from poses to poses along screws, by no more than half a turn."""
    r = product(q1, back(q0))
    r = np.where(r[..., :1] < 0, -r, r)
    sine, axis = _along(r[..., 1:])
    angle = 2 * np.arctan2(sine, r[..., 0])
    none = angle < 1e-12
    angle, axis = np.where(none, 0.0, angle), np.where(none[..., None], 0.0, axis)
    way = p1 - p0
    along = (way * axis).sum(-1, keepdims=True) * axis
    across = way - along
    tangent = np.where(none, 1.0, np.tan(angle / 2))[..., None]
    arm = -across / 2 - np.cross(axis, across) / (2 * tangent)
    go = np.where(none[..., None], way, along)
    return {"p": p0, "q": q0, "go": go, "axis": axis, "angle": angle, "arm": arm * ~none[..., None]}


def spin(p0, q0, velocity, rotation, center):
    """Motions (n) of points `center` of the bodies straight on, with turns about them."""
    angle, axis = _along(rotation)
    return {"p": p0, "q": q0, "go": velocity, "axis": axis, "angle": angle, "arm": -turn(q0, center)}


class Passages:
    """n pairs: which of the shapes (n, 2) they are, and motions of the first and the second. Lengths are in
    parts of `scale`."""

    def __init__(self, shapes, shape, motions, scale=1.0):
        self._points = np.concatenate([s.points for s in shapes]) / scale
        count = np.array([len(s.points) for s in shapes])
        table = np.zeros(len(shapes), BODY)
        table["count"], table["first"] = count, np.cumsum(count) - count
        table["ball"] = [s.ball / scale for s in shapes]
        table["disc"] = [(-1, -1) if s.discs is None else np.divide(s.discs, scale) for s in shapes]
        self._bodies = np.ascontiguousarray(table[shape])
        for k, motion in enumerate(motions):
            for name, values in motion.items():
                lengths = name in ("p", "go", "arm")
                self._bodies[name][:, k] = values / scale if lengths else values

    def __len__(self):
        return len(self._bodies)

    def of(self, rows):
        """Of some pairs only."""
        some = copy.copy(self)
        some._bodies = np.ascontiguousarray(self._bodies[rows])
        return some

    def until(self, time, tolerance):
        """From the start to times (n,): up to when it is proved that the gap is never below -tolerance,
        `time` if all the while; the number of planes that took; lower and upper bounds of the distance at
        `time`, the lower one below 0 if no plane was found that parts them: they are as deep at most."""
        time, out = np.ascontiguousarray(time, float), np.zeros((len(self), 4))
        call = library("convex_first.c").first_contact
        cuts = np.linspace(0, len(self), 8 * (os.cpu_count() or 1) + 1).astype(int).tolist()
        bodies, points, until, to = (
            ctypes.c_void_p(x.ctypes.data) for x in (self._bodies, self._points, time, out)
        )
        with ThreadPoolExecutor() as pool:  # C lets go of the interpreter
            parts = [
                pool.submit(call, begin, end, bodies, points, until, ctypes.c_double(tolerance), to)
                for begin, end in zip(cuts[:-1], cuts[1:], strict=True)
            ]
            for part in parts:
                part.result()
        return tuple(out.T)
