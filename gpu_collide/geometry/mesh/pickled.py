"""Meshes in pickles: only what defines a mesh is pickled, and a process has each mesh once.

A pickle holds vertices, loops and what of the caller's they are from, some 25 bytes a triangle. All else is
made again and never read from a pickle: what kernels index by is the library's own. Out of a pickle comes the
mesh of that digest which the process already has, with all that was prepared for it; then the arrays in the
pickle are not even looked at.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from gpu_collide._validate import owned
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.geometry.arrays.adjacency import next_corner
from gpu_collide.geometry.arrays.measures import normalise, normalise_thin
from gpu_collide.geometry.arrays.parts import Parts
from gpu_collide.geometry.arrays.report import MeshReport
from gpu_collide.geometry.preparation import prepared

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["digest_of", "made_again", "reduced"]

#: Meshes out of pickles stay, the last ones used, while they have so many corners together (and the last one
#: of all): of a million triangles, with 170 MB of their own and 400 MB prepared.
MOST_CORNERS = 3 << 20
#: What travels, in this order. None stands for what is left out: all faces of as many corners, each face or
#: vertex from the caller's of the same number, no parts.
_TYPES = {
    "vertices": "<f8", "face_vertices": "<i4", "face_start": "<i4", "source_face": "<i8",
    "source_vertex": "<i8", "source_faces_start": "<i8", "source_faces": "<i8", "part_start": "<i8",
    "part_members": "<i8",
}  # fmt: skip


class _Meshes:
    """The meshes of this process by content: those that came out of a pickle last, and others while they
    live."""

    def __init__(self) -> None:
        self._living: WeakValueDictionary[Any, Surface] = WeakValueDictionary()
        self._last: OrderedDict[Any, Surface] = OrderedDict()
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def know(self, key: Any, mesh: Surface) -> Surface:
        """The first mesh of this content."""
        with self._lock:
            return self._living.setdefault(key, mesh)

    def last(self, key: Any, made: Surface | None = None) -> Surface | None:
        """The mesh that comes out of a pickle: the one of this content, or else the one just `made`."""
        with self._lock:
            mesh = self._living.get(key) if made is None else self._living.setdefault(key, made)
            if mesh is not None:
                self._last[key] = mesh
                self._last.move_to_end(key)
                corners = sum(len(m.face_vertices) for m in self._last.values())
                while corners > MOST_CORNERS and len(self._last) > 1:
                    corners -= len(self._last.popitem(last=False)[1].face_vertices)
            return mesh


_meshes = _Meshes()


def digest_of(mesh: Surface) -> str:
    """`Mesh.digest`."""
    return prepared.kept_with(mesh, "digest", lambda: _digest(*_content(mesh)))


def reduced(mesh: Surface, protocol: int) -> Any:
    """`made_again` and its arguments, for `pickle`."""
    key = digest_of(mesh), tuple(mesh.report)
    _meshes.know(key, mesh)
    head, arrays = _content(mesh)
    out_of_band: Any = pickle.PickleBuffer if protocol >= 5 else np.ndarray.tobytes
    return made_again, (type(mesh), key, head, tuple(None if a is None else out_of_band(a) for a in arrays))


def made_again(kind: type[Surface], key: Any, head: Any, buffers: Any) -> Surface:
    """The mesh, of the class `kind`, that `reduced` took apart.

    Raises
    ------
    ValueError
        It is not what was pickled, or no mesh.
    """
    known = _meshes.last(key)
    if known is not None:
        return known
    arrays = [
        None if b is None else owned(np.frombuffer(b, dtype))
        for b, dtype in zip(buffers, _TYPES.values(), strict=True)
    ]
    if _digest(head, arrays) != key[0]:
        _damaged("its digest differs")
    mesh = _connected(object.__new__(kind), head, *arrays)
    object.__setattr__(mesh, "report", MeshReport(key[1]))
    object.__setattr__(mesh, "_frozen", True)
    return _meshes.last(key, mesh) or mesh


def _content(mesh: Surface) -> tuple[Any, list[Array | None]]:
    """What makes a mesh: sides, corners of every face if those are as many, and names of parts; arrays as in
    `_TYPES`."""
    n_faces, sides = len(mesh.face_start) - 1, len(mesh.face_vertices) // (len(mesh.face_start) - 1)
    alike = bool((np.diff(mesh.face_start) == sides).all())
    parts = mesh.parts
    given: list[Any] = [
        mesh.vertices, mesh.face_vertices, None if alike else mesh.face_start,
        _unless_counted(mesh.source_face), _unless_counted(mesh.source_vertex),
        _unless_counted(mesh.source_faces_start),
        None if np.array_equal(mesh.source_faces, mesh.source_face) else mesh.source_faces,
        *((None, None) if parts is None else (parts.start, parts.members)),
    ]  # fmt: skip
    arrays = [
        None if a is None else np.ascontiguousarray(a, kind)
        for a, kind in zip(given, _TYPES.values(), strict=True)
    ]
    names = None if parts is None else tuple(parts.names)
    head = bool(mesh.two_sided), n_faces, sides if alike else None, names
    if mesh.ends is not None:
        return (*head, *mesh.ends), arrays
    return (*head, mesh.rounding) if mesh.rounding else head, arrays


def _unless_counted(array: Array) -> Array | None:
    return None if np.array_equal(array, np.arange(len(array))) else array


def _digest(head: Any, arrays: list[Array | None]) -> str:
    lengths = [None if a is None else len(a.reshape(-1)) for a in arrays]
    digest = hashlib.sha256(json.dumps(["gpu_collide.Mesh", 1, head, lengths]).encode())
    for array in arrays:
        if array is not None:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _damaged(what: str) -> NoReturn:
    raise ValueError(f"mesh: expected what was pickled, got another: {what}; pickle it again")


def _connected(mesh: Surface, head: Any, vertices: Any, corners: Any, start: Any, *more: Any) -> Surface:
    """A mesh without its report, of arrays that nobody has looked at: kernels index by what is made here."""
    two_sided, n_faces, sides, names, *rounding = head
    mesh.rounding = float(max(rounding, default=0.0))
    if len(rounding) == 2:
        mesh.ends = float(rounding[0]), float(rounding[1])
    source, source_vertex, members_start, members, part_start, part_members = more
    points = vertices.reshape(-1, 3)
    start = np.arange(n_faces + 1) * sides if start is None else start
    corners, start = corners.astype(np.int64), start.astype(np.int64)
    if not np.isfinite(points).all() or not _is_csr(start, n_faces, len(corners), 3):
        _damaged("no loops of finite points")
    thin = len(points) < 3 and mesh.rounding > 0.0
    same = (corners == corners[next_corner(start)]).any()
    if corners.min() < 0 or corners.max() >= len(points) or (same and not thin):
        _damaged("no loops of its vertices")
    source = np.arange(n_faces) if source is None else source
    source_vertex = np.arange(len(points)) if source_vertex is None else source_vertex
    members_start = np.arange(n_faces + 1) if members_start is None else members_start
    members = source if members is None else members
    if len(source) != n_faces or len(source_vertex) != len(points):
        _damaged("no source of each face and vertex")
    if not _is_csr(members_start, n_faces, len(members), 1):
        _damaged("no sources of each face")
    parts = None
    if names is not None:
        if not _is_csr(part_start, n_faces, len(part_members), 0):
            _damaged("no parts of each face")
        if len(part_members) and not (part_members.min() >= 0 and part_members.max() < len(names)):
            _damaged("no names of its parts")
        parts = Parts(names, part_start, part_members)
    mesh.vertices, mesh.two_sided = points, bool(two_sided)
    mesh.source_face, mesh.source_vertex = source, source_vertex
    mesh.source_faces_start, mesh.source_faces, mesh.parts = members_start, members, parts
    if thin:
        mesh.center, radius = normalise_thin(points)
        mesh.radius = radius + mesh.rounding
        mesh._connect_thin()
        return mesh
    mesh.center, radius, scaled = normalise(points)
    mesh.radius = radius + mesh.rounding
    mesh._connect(start, corners, scaled)
    return mesh


def _is_csr(start: Array, rows: int, values: int, least: int) -> bool:
    """True if `start` cuts that many values into that many rows, each of at least that many."""
    ends = len(start) == rows + 1 > 1 and start[0] == 0 and start[-1] == values
    return bool(ends and (np.diff(start) >= least).all())
