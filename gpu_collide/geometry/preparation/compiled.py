"""Order, patches, cones and nodes of large meshes by compiled code: the kernels of ``kernels/mesh/`` on this
machine's processor, whatever backend the query is for.

What they make belongs to the mesh, and is what `order.leaf_order`, `patches.cut`, `cones.face_cones` and
`nodes.node_table` make, bit for bit. Those serve small meshes, and machines without a C compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend, sources
from gpu_collide.errors import BackendUnavailableError, KernelCompileError
from gpu_collide.geometry.preparation.cones import ROUNDED, SLOPE
from gpu_collide.geometry.preparation.face_tree import PATCH_LEVEL
from gpu_collide.geometry.preparation.patches import PATCH_COLUMNS, Patches

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer
    from gpu_collide.backends.base import Backend
    from gpu_collide.geometry.arrays.surface import Surface
    from gpu_collide.geometry.preparation.face_tree import FaceTree

__all__ = ["FEW_FACES", "Kernels", "kernels_for"]

#: Up to so many faces NumPy takes a few hundredths of a second, and nothing is to be compiled.
FEW_FACES = 1 << 13
#: Beyond so many the kernels' indices, ints, might overflow.
MOST_FACES = 1 << 26
#: Nodes of so low a level are cut down to their leaves at once: they fit a processor's nearest memory.
_DEEP = 10
_NODE, _RISE = sources.record("node").stride, sources.record("rise").stride
_PART = sources.record("part")
_TILT = sources.record("tilt").stride
_LEAN, _SPIKE = sources.record("lean").stride, sources.record("spike").stride
#: What m01_count reads of a mesh, and what m01_fill reads besides.
_LOOPS = (
    "face_start",
    "face_vertices",
    "face_edges",
    "edge_face_start",
    "vertex_edge_start",
    "vertex_face_start",
)
_AROUND = ("edge_faces", "vertex_edges", "vertex_faces", "edge_flags", "vertex_flags", "edges")


def kernels_for(mesh: Surface, dtype: DTypeLike = np.float32) -> Kernels | None:
    """Kernels that write `dtype`, for a mesh that is worth it; None if it is not, or nothing builds them."""
    if not FEW_FACES < len(mesh.face_planes) <= MOST_FACES:
        return None
    try:
        return Kernels(get_backend("cpu"), dtype)
    except (BackendUnavailableError, KernelCompileError):
        return None


class Kernels:
    """The kernels of ``kernels/mesh/``, built for one backend.

    Parameters
    ----------
    backend : Backend
    dtype : dtype
        What nodes are written in. All is computed in float64.
    """

    def __init__(self, backend: Backend, dtype: DTypeLike = np.float32) -> None:
        self.backend, self.dtype = backend, np.dtype(dtype)
        self._module = backend.module("mesh", "double" if self.dtype == np.float64 else "mixed")

    def _launch(self, name: str, items: int, /, **args: Any) -> None:
        self.backend.launch_items(self._module[name], items, **args)

    def _of(self, mesh: Surface, names: Iterable[str]) -> dict[str, Buffer]:
        """Tables of a mesh as the kernels' arguments."""
        to_device = self.backend.to_device
        return {f"{name}_in": to_device(getattr(mesh, name).reshape(-1), copy=False) for name in names}

    def leaf_order(self, middles: Array) -> Array:
        """What `order.leaf_order` returns."""
        be, n = self.backend, len(middles)
        order = be.to_device(np.arange(n, dtype=np.int32))
        moved = be.to_device(np.ascontiguousarray(middles, np.float64).reshape(-1))
        for level in range((n - 1).bit_length(), 0, -1):
            deep = level <= _DEEP
            self._launch(
                "m04_order", -(-n >> level), n_nodes=-(-n >> level), level=level, deep=int(deep), n_faces=n,
                middles_out=moved, order_out=order,
            )  # fmt: skip
            if deep:
                break
        return be.to_host(order)

    def cut(self, mesh: Surface, order: Array, size: int = 1 << PATCH_LEVEL) -> Patches:
        """What `patches.cut` returns."""
        be, nf = self.backend, len(mesh.face_planes)
        firsts = np.arange(0, nf, size)
        n, corners = len(firsts), np.add.reduceat(np.diff(mesh.face_start)[order], firsts, dtype=np.int64)
        place = np.empty(nf, np.int32)
        place[order] = np.arange(nf, dtype=np.int32)
        sizes = {"n_patches": n, "n_faces": nf, "size": size}
        given = self._of(mesh, _LOOPS) | {
            "order_in": be.to_device(np.ascontiguousarray(order, np.int32), copy=False),
            "corner0_in": be.to_device((np.cumsum(corners) - corners).astype(np.int32), copy=False),
        }
        around = self._of(mesh, _AROUND) | {"place_in": be.to_device(place, copy=False)}
        homes = {}
        for what, shift, count in (("edge", 1, len(mesh.edges)), ("vertex", 0, len(mesh.vertices))):
            homes[what] = be.empty(count, np.int32)
            owner = given[f"{what}_owner_in"] = be.empty(count, np.int32)
            self._launch(
                "m01_owners", count, n=count, size=size, shift=shift, owner_out=owner,
                start_in=given[f"{what}_face_start_in"], entries_in=around[f"{what}_faces_in"],
                place_in=around["place_in"],
            )  # fmt: skip
        vertices, edges = (be.empty(len(mesh.face_vertices), np.int32) for _ in range(2))
        counted = be.empty(n * _PART.stride, np.int32)
        self._launch(
            "m01_count", n, vertices_out=vertices, edges_out=edges, parts_out=counted,
            vertex_home_out=homes["vertex"], edge_home_out=homes["edge"], **sizes, **given,
        )  # fmt: skip
        parts = be.to_host(counted).reshape(n, _PART.stride)
        counts = np.empty((n, 3), np.int64)
        counts[:, :2] = parts[:, [_PART["vertices"], _PART["edges"]]]
        counts[:, 2] = np.diff(np.append(firsts, nf))
        lengths = _lengths(counts, corners, parts.astype(np.int64))
        begins, totals = np.cumsum(lengths, axis=0) - lengths, lengths.sum(axis=0)
        table0, total = np.cumsum(totals) - totals, int(totals.sum())
        if total >= 2**31:
            raise ValueError(f"mesh: expected patches with fewer than 2**31 entries in all, got {total}")
        tables = be.empty(total, np.int32)
        self._launch(
            "m01_fill", n, part_vertices_in=vertices, part_edges_in=edges, parts_in=counted,
            vertex_home_in=homes["vertex"], edge_home_in=homes["edge"],
            cuts_in=be.to_device((begins + table0).astype(np.int32).reshape(-1), copy=False),
            tables_out=tables, **sizes, **given, **around,
        )  # fmt: skip
        split = np.split(be.to_host(tables), table0[1:])
        return Patches(counts, dict(zip(PATCH_COLUMNS, split, strict=True)), begins)

    def face_cones(self, mesh: Surface) -> Array:
        """What `cones.face_cones` returns."""
        return self.backend.to_host(self._cones(mesh)).reshape(2, -1)

    def _cones(self, mesh: Surface) -> Buffer:
        be, nf, corners = self.backend, len(mesh.face_planes), len(mesh.face_vertices)
        nv, ne = len(mesh.vertices), len(mesh.edges)
        given = self._of(mesh, ("face_start", "face_edges", "face_planes"))
        edges, loops = self._of(mesh, ("edges",)), self._of(mesh, ("face_vertices",))
        face_of = np.repeat(np.arange(nf, dtype=np.int32), np.diff(mesh.face_start))
        start, at = be.empty(nv + 1, np.int32), be.empty(corners, np.int32)
        self._launch(
            "m03_corners", 1, n_items=1, n_vertices=nv, n_corners=corners, start_out=start, corners_out=at,
            **loops,
        )  # fmt: skip
        lean, spike = be.empty(ne * _LEAN, np.float64), be.empty(nv * _SPIKE, np.float64)
        cones = be.empty(2 * nf, np.float64)
        self._launch(
            "m03_edges", ne, n_edges=ne, radius=mesh.radius, rise=SLOPE, rounded=ROUNDED, lean_out=lean,
            face_planes_in=given["face_planes_in"], **edges,
            **self._of(mesh, ("vertices", "edge_face_start", "edge_faces")),
        )  # fmt: skip
        self._launch(
            "m03_vertices", nv, n_vertices=nv, start_in=start, corners_in=at,
            face_of_in=be.to_device(face_of, copy=False), lean_in=lean, spike_out=spike, **given, **edges,
        )  # fmt: skip
        self._launch(
            "m03_faces", nf, n_faces=nf, two_sided=int(mesh.two_sided), lean_in=lean, spike_in=spike,
            cones_out=cones, **given, **loops,
        )  # fmt: skip
        return cones

    def node_table(
        self, mesh: Surface, tree: FaceTree, points: Array, begins: Array, stepped: Any = None
    ) -> Array:
        """What `nodes.node_table` returns."""
        be = self.backend
        starts, nf, counts = np.append(begins, len(points)).astype(np.int32), len(tree.order), tree.counts
        given = {
            "vertices_in": be.to_device((mesh.vertices - mesh.center).reshape(-1), copy=False),
            "point0_in": be.to_device(starts, copy=False),
            "points_in": be.to_device(points, copy=False),
            "nodes_out": be.empty(sum(counts) * _NODE, self.dtype),
            "rises_out": be.empty(len(begins) * _RISE, np.float64),
        }
        leaves = be.empty(nf * _TILT, np.float64)
        sizes = {"n_patches": len(begins), "n_faces": nf}
        self._launch(
            "m02_patches", len(begins), order_in=be.to_device(tree.order, copy=False), leaves_out=leaves,
            cones_in=self._cones(mesh), **sizes, **given,
            **self._of(mesh, ("face_start", "face_vertices", "face_planes")),
        )  # fmt: skip
        for level, n in enumerate(counts):
            if level > PATCH_LEVEL:
                first = sum(counts[:level])
                self._launch(
                    "m02_level", n, n_nodes=n, level=level, first=first, leaves_in=leaves, **sizes, **given
                )
            if stepped is not None:
                stepped()
        return be.to_host(given["nodes_out"]).reshape(-1, _NODE)


def _lengths(counts: Array, corners: Array, parts: Array) -> Array:
    """Entries of each patch in each of `PATCH_COLUMNS`; (patches, columns) int64."""
    nv, ne, nf = counts.T
    edge_faces, vertex_edges, vertex_faces = (parts[:, _PART[name]] for name in _AROUND[:3])
    lengths = {
        "face_start": nf + 1, "face_vertices": corners, "face_edges": corners, "edges": 2 * ne,
        "edge_face_start": ne + 1, "edge_faces": edge_faces, "vertex_edge_start": nv + 1,
        "vertex_edges": vertex_edges, "vertex_face_start": nv + 1, "vertex_faces": vertex_faces,
        "edge_flags": ne, "vertex_flags": nv, "source_vertices": nv, "source_edges": ne, "source_faces": nf,
        "edge_faces_away": edge_faces, "vertex_edges_away": vertex_edges, "vertex_faces_away": vertex_faces,
    }  # fmt: skip
    return np.stack([lengths[name] for name in PATCH_COLUMNS], axis=1)
