"""A judge of bodies that each move on a motion of their own: first touches, all contacts, and fifty digits.

It shares nothing with the library. `first_touches` steps from one distance to the next so that nothing can
be missed, knows no
facing and no properness, and gives the time at which two surfaces that start apart touch first.
`all_contacts` takes every pair of
features, isolates the times at which its signed distance vanishes, and tells how far each decision is from
its border. Both are in C
with 64 bits of mantissa or more (body_motion_first.c, body_motion_contacts.c). `precise_pose` and
`precise_root` are what decides a
dispute: mpmath, with the exponential of the matrix of the motion.
"""

import ctypes
import functools
from dataclasses import dataclass, replace

import numpy as np

from tests.oracle import compiled
from tests.oracle.solid import Solid

MISSES, TOUCHES, OVERLAPS, GRAZES, TOUCHES_AT_START, GIVEN_UP = range(6)
ROOT, DOUBLE, LASTING, LOST = range(4)

BODY = np.dtype(
    [
        ("mesh", "i4"), ("spin", "i4"), ("place", "f8", 3), ("quat", "f8", 4), ("to", "f8", 3),
        ("turn", "f8", 4), ("reference", "f8", 3),
    ], align=True,
)  # fmt: skip
"""`spin` 0: (`to`, `turn`) is the pose at the end, quaternion w, x, y, z; 1: the velocities of `reference`
and of the turn, world."""

FIRST = np.dtype(
    [
        ("status", "i4"), ("kind", "i4"), ("feature_a", "i4"), ("feature_b", "i4"), ("time", "f8"),
        ("gap", "f8"), ("approach", "f8"), ("margin", "f8"), ("size", "f8"), ("speed", "f8"), ("depth", "f8"),
        ("least", "f8"), ("looks", "i4"), ("inside", "i4"),
    ], align=True,
)  # fmt: skip

CONTACT = np.dtype(
    [
        ("pair", "i4"), ("kind", "i4"), ("feature_a", "i4"), ("feature_b", "i4"), ("what", "i4"),
        ("doubtful", "i4"), ("time", "f8"), ("time_end", "f8"), ("inside", "f8"), ("facing", "f8"),
        ("properness", "f8"), ("slope", "f8"), ("sine", "f8"), ("normal_speed", "f8"), ("place", "f8", 3),
        ("normal", "f8", 3),
    ], align=True,
)  # fmt: skip

_INTS = ctypes.POINTER(ctypes.c_int)


class _Mesh(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("vertices", "edges", "faces", "two_sided", "closed")),
        ("vertex", ctypes.POINTER(ctypes.c_double)),
        *((name, _INTS) for name in (
            "edge", "face_start", "loop", "vertex_face_start", "vertex_face", "vertex_other_start",
            "vertex_other", "edge_face_start", "edge_face",
        )),
        ("reflex", ctypes.POINTER(ctypes.c_ubyte)),
        ("vertex_reflex", ctypes.POINTER(ctypes.c_ubyte)),
    ]  # fmt: skip


@dataclass
class Motions:
    """Bodies with a motion each, and pairs of them."""

    name: str
    meshes: list
    bodies: np.ndarray  # BODY
    pairs: np.ndarray

    def take(self, rows):
        return replace(self, pairs=self.pairs[rows])

    def __len__(self):
        return len(self.pairs)


def missing():
    """Why the judge cannot run here, or None."""
    if np.finfo(np.longdouble).nmant < 63:
        return "long double has fewer than 64 bits here"
    return compiled.missing()


@functools.cache
def _library():
    library = compiled.library("body_motion_first.c", "body_motion_contacts.c")
    library.all_contacts.restype = ctypes.c_long
    return library


def _lists(rows):
    start = np.concatenate(([0], np.cumsum([len(r) for r in rows])))
    return start.astype(np.int32), np.array([x for r in rows for x in r], np.int32)


@functools.cache
def _table(meshes):
    """The meshes as C reads them, and the arrays that have to stay alive."""
    alive, out = [], (_Mesh * len(meshes))()

    def pointer(array, kind, dtype):
        array = np.ascontiguousarray(array, dtype)
        alive.append(array)
        return array.ctypes.data_as(ctypes.POINTER(kind))

    for m, mesh in zip(out, meshes, strict=True):
        s = Solid(mesh)
        if max(len(loop) for loop in s.loops) > 64:
            raise ValueError("faces of at most 64 corners")
        m.vertices, m.edges, m.faces, m.two_sided = len(s.v), len(s.edges), len(s.loops), s.two_sided
        m.closed = bool(s.vertex_closed.all()) and not s.two_sided
        m.vertex = pointer(mesh.vertices, ctypes.c_double, float)
        lists = {
            "face": s.loops,
            "vertex_face": [r[r >= 0] for r in s.vertex_face],
            "vertex_other": [[sum(s.edges[e]) - i for e in r[r >= 0]] for i, r in enumerate(s.vertex_spoke)],
            "edge_face": [r[k != 0] for r, k in zip(s.edge_face, s.edge_side, strict=True)],
        }
        m.edge = pointer(s.edges, ctypes.c_int, np.int32)
        for name, rows in lists.items():
            start, flat = _lists(rows)
            setattr(m, f"{name}_start", pointer(start, ctypes.c_int, np.int32))
            setattr(m, "loop" if name == "face" else name, pointer(flat, ctypes.c_int, np.int32))
        m.reflex = pointer(s.reflex, ctypes.c_ubyte, np.uint8)
        m.vertex_reflex = pointer(s.vertex_reflex, ctypes.c_ubyte, np.uint8)
    return out, alive


def _arguments(scene):
    bodies = np.ascontiguousarray(scene.bodies, BODY)
    pairs = np.ascontiguousarray(scene.pairs, np.int32).reshape(-1, 2)
    return _table(tuple(scene.meshes))[0], bodies, pairs


def _at(array):
    return ctypes.c_void_p(array.ctypes.data)


def first_touches(scene, most=20000):
    """FIRST of each pair.

    MISSES and TOUCHES are certain. GRAZES: nothing touches before `time`, and whether they do there is for
    others to say.
    OVERLAPS: at the start, by more than 1e-6 of the size. TOUCHES_AT_START: nearer than 1e-9 of the size,
    or a shallow overlap.
    """
    meshes, bodies, pairs = _arguments(scene)
    out = np.zeros(len(pairs), FIRST)
    _library().first_touches(meshes, _at(bodies), _at(pairs), len(pairs), most, _at(out))
    return out


def all_contacts(scene, most=4096):
    """CONTACT of all pairs of features that meet within a hair of [0, 1], also those that face away or are
    improper.

    `what`: ROOT; DOUBLE, one that may be two or none; LASTING, an interval; LOST, a search given up.
    """
    meshes, bodies, pairs = _arguments(scene)
    room = 64 * len(pairs) + 1024
    while True:
        out = np.zeros(room, CONTACT)
        n = _library().all_contacts(
            meshes, _at(bodies), _at(pairs), len(pairs), ctypes.c_long(most), ctypes.c_long(room), _at(out)
        )
        if n <= room:
            return out[:n]
        room = n


def cuts(scene, times):
    """How deep the surfaces of each pair cut each other at a time of each: 0 where they do not."""
    meshes, bodies, pairs = _arguments(scene)
    times, out = np.ascontiguousarray(np.broadcast_to(times, len(pairs)), float), np.zeros(len(pairs))
    _library().cuts(meshes, _at(bodies), _at(pairs), _at(times), len(pairs), _at(out))
    return out


def poses(bodies, times):
    """Places of the meshes' origins (n, 3) and axes (n, 3, 3) of bodies at times."""
    bodies = np.ascontiguousarray(bodies, BODY)
    times = np.ascontiguousarray(np.broadcast_to(times, len(bodies)), float)
    place, axes = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 3, 3))
    _library().poses(_at(bodies), _at(times), len(bodies), _at(place), _at(axes))
    return place, axes


def described(scene, pair, kind, feature_a, feature_b, time):
    """CONTACT of features at given times, and their signed distances then."""
    meshes, bodies, pairs = _arguments(scene)
    rows = np.zeros(len(pair), CONTACT)
    rows["pair"], rows["kind"], rows["feature_a"], rows["feature_b"] = pair, kind, feature_a, feature_b
    rows["time"] = rows["time_end"] = time
    distance = np.zeros(len(rows))
    _library().described(meshes, _at(bodies), _at(pairs), len(rows), _at(rows), _at(distance))
    return rows, distance
