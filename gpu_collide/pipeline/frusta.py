"""Launch order of the places of cylinders and cones at a pose (c04)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.preparation.face_tree import level_counts
from gpu_collide.geometry.preparation.prepared import is_convex, is_solid, kept_with, tree_of
from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.manifolds import AT_ONCE, MAX_BYTES, Reducer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["FrustumPlaces"]

_INT, _REAL, _MESH = (sources.record(name) for name in ("frustum_int", "frustum_real", "frustum_mesh"))
_KINDS = sources.constants("mixed", "clearance/gc_frustum_near.h")
#: Room for places of a pair at first: a cylinder that stands on a box has ten.
FIRST = 40
_BYTES = 4 * _INT.stride + 8 * _REAL.stride


class FrustumPlaces(Reducer):
    """Launches on one backend, with the meshes and buffers of the calls before. Not for two threads at once.

    Parameters
    ----------
    backend : Backend
        One with kernels and float64.
    """

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self.run.build("frusta")
        self._room = FIRST

    def places(self, bodies: Bodies, pairs: Array, margin: Array) -> dict[str, Array]:
        """Places of pairs of which one at least has `ends`, of bodies that stand.

        Parameters
        ----------
        bodies : Bodies
        pairs : (p, 2) int32
        margin : (p,) float64

        Returns
        -------
        dict of str to ndarray
            ``pair``, ``kind``, ``feature_a``, ``feature_b``, ``distance``, ``point_a``, ``point_b``,
            ``normal``, the pairs in order; ``hidden``: (p,) bool, overlaps that no place tells.
        """
        run, poses = self.run, bodies.start
        given = {
            **self._known(bodies.meshes),
            "pairs_in": run.to_device(pairs, np.int32),
            "margin_in": run.to_device(margin, np.float64),
            "shape_in": run.to_device(bodies.shape, np.int32),
            "position_in": run.to_device(poses.position, np.float64),
            "quat_in": run.to_device(poses.unit_wxyz, np.float64),
        }
        parts: list[tuple[Array, Array, Array, Array]] = []

        def piece(at: int, stop: int) -> None:
            ints, reals, counts, hidden = self._looked(given, at, stop)
            kept = np.arange(ints.shape[1]) < counts[:, None]
            pair = np.repeat(np.arange(at, stop), counts)
            parts.append((np.column_stack((pair, ints[kept])), reals[kept], hidden, pair))

        run.room.pieces(len(pairs), AT_ONCE, piece)
        ints = np.concatenate([np.zeros((0, 1 + _INT.stride), np.int64), *(part[0] for part in parts)])
        reals = np.concatenate([np.zeros((0, _REAL.stride)), *(part[1] for part in parts)])
        pair = ints[:, 0]
        origin = poses.position[pairs[pair, 0]]
        on = {name: reals[:, _REAL[column]] for name, column in (("point_a", "on_m"), ("point_b", "on_k"))}
        return {
            "pair": pair.astype(np.int32),
            "kind": ints[:, 1 + _INT["kind"]].astype(np.int8),
            "feature_a": ints[:, 1 + _INT["m"]].astype(np.int32),
            "feature_b": ints[:, 1 + _INT["k"]].astype(np.int32),
            "distance": reals[:, _REAL["distance"]],
            "normal": reals[:, _REAL["normal"]],
            **{name: column + origin for name, column in on.items()},
            "hidden": np.concatenate([np.zeros(0, bool), *(part[2] > 0 for part in parts)]),
        }

    def _looked(self, given: dict[str, Any], at: int, stop: int) -> tuple[Array, Array, Array, Array]:
        """c04_frusta: places of each of these pairs; where one has too little room all come again."""
        run, n = self.run, stop - at
        to_host = run.backend.to_host
        while True:
            room = self._room
            run.room.check(n * room * _BYTES)
            ints, reals, counts, hidden = (
                self._buffer(name, size, kind)
                for name, size, kind in (
                    ("ints", n * room * _INT.stride, np.int32),
                    ("reals", n * room * _REAL.stride, np.float64),
                    ("counts", n, np.int32),
                    ("hidden", n, np.int32),
                )
            )
            run.launch(
                "c04_frusta", n, given, n_pairs=n, first=at, room=room, place_ints_out=ints,
                place_reals_out=reals, count_out=counts, hidden_out=hidden,
            )  # fmt: skip
            count = to_host(counts)[:n]
            if count.min(initial=0) >= 0:
                shape = (n, room, -1)
                return (
                    to_host(ints)[: n * room * _INT.stride].reshape(shape),
                    to_host(reals)[: n * room * _REAL.stride].reshape(shape),
                    count,
                    to_host(hidden)[:n],
                )
            if n > 1 and -int(count.min()) * n * _BYTES > MAX_BYTES:
                raise TooLarge(n * room * _BYTES)  # fewer pairs at a time
            self._room = max(-int(count.min()), 2 * room)

    def _flat(self, meshes: Sequence[Mesh]) -> dict[str, Any]:
        """The meshes as c03 has them, and with what c04 needs besides."""
        forms, ints, reals, n_ints, n_reals = self._numbers(meshes)
        rows = np.zeros((len(meshes), _MESH.stride), np.int32)
        for form, mesh in zip(rows, meshes, strict=True):
            form[_MESH["kind"]], form[_MESH["edges"]] = _kind_of(mesh), len(mesh.edges)
            reflex = (mesh.edge_flags & 1).astype(np.int64)
            order, nodes = kept_with(mesh, "boxes of faces", partial(_boxes, mesh))
            form[_MESH["top"]] = max(len(order) - 1, 0).bit_length()
            for name, array in (("order", order), ("reflex", reflex)):
                form[_MESH[name]] = n_ints
                ints.append(array)
                n_ints += array.size
            form[_MESH["nodes"]] = n_reals
            reals.append(nodes.reshape(-1))
            n_reals += nodes.size
        radii = [
            (mesh.radius, mesh.rounding, *((-1.0, -1.0) if mesh.ends is None else mesh.ends))
            for mesh in meshes
        ]
        sent = self._sent_flat(forms, ints, reals)
        return sent | {
            "frusta_in": self.run.to_device(rows),
            "radius_in": self.run.to_device(radii, np.float64),
        }


def _kind_of(mesh: Mesh) -> int:
    if mesh.thin:
        return int(_KINDS["GC_FRUSTUM_CONVEX"]) | int(_KINDS["GC_FRUSTUM_THIN"])
    if mesh.two_sided:
        return int(_KINDS["GC_FRUSTUM_TWO_SIDED"])
    if is_convex(mesh):
        return int(_KINDS["GC_FRUSTUM_CONVEX"])
    return int(_KINDS["GC_FRUSTUM_SOLID"]) if is_solid(mesh) else 0


def _boxes(mesh: Mesh) -> tuple[Array, Array]:
    """Faces in the order of the leaves of their tree, and boxes of its nodes from the leaves up."""
    tree = tree_of(mesh)
    level = tree.boxes + np.tile(mesh.center, 2)
    # centring rounds
    level = level + 4e-16 * np.abs(level).max() * np.repeat([-1.0, 1.0], 3)
    nodes: list[Array] = []
    for count in level_counts(len(level)):
        if nodes:
            last = nodes[-1]
            pad = np.concatenate([last, last[-1:]])[: 2 * count].reshape(count, 2, 6)
            level = np.concatenate([pad[..., :3].min(axis=1), pad[..., 3:].max(axis=1)], axis=1)
        nodes.append(level)
    return tree.order.astype(np.int64), np.concatenate(nodes)
