"""Launch order of the points that a solver takes of contacts at a pose (c03): chosen, then written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.adjacency import EDGE_FLAT, flat_sheets
from gpu_collide.pipeline.launch.launcher import Launcher, TooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.clearance import Clearance

__all__ = ["Reducer"]

_POINT, _PLACE, _FLAT = (sources.record(name) for name in ("patch_point", "patch_place", "patch_mesh"))
#: Room for points of a pair at first: two rectangles and their contacts have at most as many.
FIRST = 24
#: Pairs that are looked at together, and bytes that their points may take.
AT_ONCE, MAX_BYTES = 1 << 16, 1 << 30
#: Meshes of so many calls are kept.
MOST_MESHES = 4
_COLUMNS = {
    "pair": (np.int32, 1), "region": (np.int32, 1), "kind": (np.uint8, 1), "feature_a": (np.int32, 1),
    "feature_b": (np.int32, 1), "key": (np.int32, 2), "distance": (np.float64, 1), "point_a": (np.float64, 3),
    "point_b": (np.float64, 3), "normal": (np.float64, 3), "local_a": (np.float64, 3),
    "local_b": (np.float64, 3),
}  # fmt: skip


class Reducer:
    """Launches on one backend, with the meshes and buffers of the calls before. Not for two threads at once.

    Parameters
    ----------
    backend : Backend
        One with kernels and float64.
    """

    def __init__(self, backend: Any) -> None:
        self.run = Launcher(backend, "mixed", MAX_BYTES)
        self.run.build("manifolds")
        self._meshes: dict[tuple[Mesh, ...], dict[str, Any]] = {}
        self._room, self._buffers = FIRST, {}  # type: int, dict[str, Any]

    def columns(self, contacts: Clearance, bodies: Bodies, most: int) -> dict[str, Array]:
        """Columns of `Manifolds` beside its pairs, of bodies at the time that the contacts are of. Several
        keys may be the same."""
        run, n = self.run, len(contacts.pairs)
        poses = bodies.start if bodies.start is bodies.end else bodies.poses_at(contacts.info["at"])
        given = {
            **self._told(contacts),
            **self._known(bodies.meshes),
            "pairs_in": run.to_device(contacts.pairs, np.int32),
            "shape_in": run.to_device(bodies.shape, np.int32),
            "position_in": run.to_device(poses.position, np.float64),
            "turn_in": run.to_device(poses.to_matrix()[:, :3, :3], np.float64),
            "radius_in": run.to_device([mesh.radius for mesh in bodies.meshes], np.float64),
            # a cylinder or a cone is not rounded, and its contacts are points already
            "rounding_in": run.to_device(
                [mesh.rounding if mesh.ends is None else -1.0 for mesh in bodies.meshes], np.float64
            ),
        }
        parts = [{name: np.zeros((0, width), kind) for name, (kind, width) in _COLUMNS.items()}]

        before = 0  # regions

        def piece(at: int, stop: int) -> None:
            nonlocal before
            counts, regions = self._cut(given, contacts.info["margin"], most, at, stop)
            parts.append(self._written(given, at, counts, before + np.cumsum(regions) - regions))
            before += int(regions.sum())

        run.room.pieces(n, AT_ONCE, piece)
        parts = [part for part in parts if len(part["pair"])] or parts[:1]
        found = {
            name: parts[0][name] if len(parts) == 1 else np.concatenate([part[name] for part in parts])
            for name in _COLUMNS
        }
        found = {name: column if column.shape[1] > 1 else column[:, 0] for name, column in found.items()}
        found["kind"], found["key"] = found["kind"].view(np.int8), found["key"].view(np.uint64)[:, 0]
        return found

    def _told(self, contacts: Clearance) -> dict[str, Any]:
        """The contacts, as arguments, those of a pair nearest first."""
        pair, distance = contacts.pair, contacts.distance
        rises = (pair[1:] > pair[:-1]) | ((pair[1:] == pair[:-1]) & (distance[1:] >= distance[:-1]))
        order: Any = slice(None)
        if not rises.all():
            order = np.lexsort((distance, pair))
        names = ("kind", "feature_a", "feature_b", "distance", "point_a", "point_b", "normal")
        sent = {name: getattr(contacts, name)[order] for name in names}
        sent["kind"] = sent["kind"].view(np.uint8)
        start = np.searchsorted(pair[order], np.arange(len(contacts.pairs) + 1)).astype(np.int32)
        return {f"{name}_in": self._sent(array) for name, array in (sent | {"start": start}).items()}

    def _sent(self, array: Array) -> Any:
        """A buffer of at least one number: kernels are not handed empty ones."""
        return self.run.to_device(array if array.size else np.zeros(1, array.dtype))

    def _known(self, meshes: tuple[Mesh, ...]) -> dict[str, Any]:
        """The meshes, as arguments."""
        known = self._meshes.pop(meshes, None) or self._flat(meshes)
        self._meshes[meshes] = known
        if len(self._meshes) > MOST_MESHES:
            del self._meshes[next(iter(self._meshes))]
        return known

    def _flat(self, meshes: Sequence[Mesh]) -> dict[str, Any]:
        return self._sent_flat(*self._numbers(meshes)[:3])

    def _sent_flat(self, forms: Array, ints: list[Array], reals: list[Array]) -> dict[str, Any]:
        return {
            "forms_in": self.run.to_device(forms),
            "flat_in": self.run.to_device(np.concatenate(ints), np.int32),
            "flat_reals_in": self.run.to_device(np.concatenate(reals), np.float64),
        }

    def _numbers(self, meshes: Sequence[Mesh]) -> tuple[Array, list[Array], list[Array], int, int]:
        """Records of the meshes, their arrays of ints and of reals, and how many numbers these are."""
        forms = np.zeros((len(meshes), _FLAT.stride), np.int32)
        ints: list[Array] = []
        reals: list[Array] = []
        n_ints, n_reals = 0, 0
        for form, mesh in zip(forms, meshes, strict=True):
            form[_FLAT["faces"]], form[_FLAT["vertices"]] = mesh.n_faces, mesh.n_vertices
            for name, array in _flat_mesh(mesh).items():
                form[_FLAT[name]] = n_ints
                ints.append(array.reshape(-1))
                n_ints += array.size
            start, corner = mesh.face_start, mesh.vertices[mesh.face_vertices]
            middle = np.add.reduceat(corner, start[:-1]) / np.diff(start)[:, None]
            for name, array in (
                ("vertex", mesh.vertices),
                ("normal", np.column_stack([mesh.face_planes[:, :3], middle])),
            ):
                form[_FLAT[name]] = n_reals
                reals.append(array.reshape(-1))
                n_reals += array.size
        return forms, ints, reals, n_ints, n_reals

    def _cut(
        self, given: dict[str, Any], margin: float, most: int, at: int, stop: int
    ) -> tuple[Array, Array]:
        """c03_manifolds: points and regions of each of these pairs; where one has too little room all come
        again."""
        run, n, end = self.run, stop - at, int(given["start_in"].size)
        while True:
            room = self._room
            need = n * room * (4 * _POINT.stride + 8 * _PLACE.stride)
            run.room.check(need)
            buffers = {
                "point_out": self._buffer("point", n * room * _POINT.stride, np.int32),
                "place_out": self._buffer("place", n * room * _PLACE.stride, np.float64),
                "count_out": self._buffer("count", n, np.int32),
                "regions_out": self._buffer("regions", n, np.int32),
                "region_out": self._buffer("region", max(int(given["distance_in"].size), end), np.int32),
            }
            run.launch(
                "c03_manifolds", n, buffers, given, n_pairs=n, first=at, margin=margin, most=most, room=room
            )
            counts = run.backend.to_host(buffers["count_out"])[:n]
            if counts.min(initial=0) >= 0:
                return counts, run.backend.to_host(buffers["regions_out"])[:n]
            if n > 1 and -int(counts.min()) * n * (4 * _POINT.stride + 8 * _PLACE.stride) > MAX_BYTES:
                raise TooLarge(need)  # fewer pairs at a time
            self._room = max(-int(counts.min()), 2 * room)

    def _written(self, given: dict[str, Any], at: int, counts: Array, regions: Array) -> dict[str, Array]:
        """c03_write: the columns of these pairs, (n, width) each, whose region numbers begin at `regions`."""
        run, ends = self.run, np.cumsum(counts)
        n = int(ends[-1]) if len(ends) else 0
        out = {name: run.backend.empty(max(n, 1) * width, kind) for name, (kind, width) in _COLUMNS.items()}
        run.launch(
            "c03_write", len(counts), {f"{name}_out": buffer for name, buffer in out.items()}, given,
            n_pairs=len(counts), first=at, room=self._room, point_in=self._buffers["point"],
            place_in=self._buffers["place"], count_in=run.to_device(counts, np.int32),
            point_start_in=run.to_device(ends - counts, np.int32),
            region_start_in=run.to_device(regions, np.int32),
        )  # fmt: skip
        return {
            name: run.backend.to_host(out[name])[: n * width].reshape(n, width)
            for name, (_, width) in _COLUMNS.items()
        }

    def _buffer(self, name: str, size: int, kind: Any) -> Any:
        """A buffer of at least this size, that of the call before if it is."""
        known = self._buffers.get(name)
        if known is None or known.size < size:
            known = self._buffers[name] = self.run.backend.empty(max(size, 1), kind)
        return known


def _flat_mesh(mesh: Mesh) -> dict[str, Array]:
    """The arrays of numbers of a mesh, by the columns of the record ``patch_mesh``."""
    start, faces = mesh.edge_face_start, mesh.edge_faces >> 1
    flat = (mesh.edge_flags & EDGE_FLAT) > 0
    sheet = flat_sheets(mesh.n_faces, faces[start[:-1][flat]], faces[start[:-1][flat] + 1])
    member = np.argsort(sheet, kind="stable")
    return {
        "face_start": mesh.face_start, "corner": mesh.face_vertices, "side": mesh.face_edges,
        "ends": mesh.edges, "flat": flat, "edge_start": start, "edge_face": faces,
        "fan_start": mesh.vertex_face_start, "fan": mesh.vertex_faces,
        "spoke_start": mesh.vertex_edge_start, "spoke": mesh.vertex_edges >> 1, "sheet": sheet,
        "member_start": np.searchsorted(sheet[member], np.arange(mesh.n_faces + 1)), "member": member,
    }  # fmt: skip
